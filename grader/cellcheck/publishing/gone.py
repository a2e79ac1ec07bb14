"""Pages that are gone. Sphinx writes pages and removes none, so the page of a lesson that was renamed would stay."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_LIST = "pages.txt"
"""Which pages the last build wrote, a line each. It lies where Sphinx keeps what it has read."""


def remove_gone(app: Sphinx, failed: Exception | None) -> None:
    """Removes the pages that the last build wrote and this one would not; what others put beside them stays."""
    if app.builder.name != "html" or failed:
        return
    site, record = Path(app.outdir), Path(app.doctreedir, _LIST)
    now = {app.builder.get_target_uri(name) for name in app.env.found_docs}
    before = record.read_text("utf-8").splitlines() if record.is_file() else []
    for page in set(before) - now:
        (site / page).unlink(missing_ok=True)
    record.write_text("".join(f"{page}\n" for page in sorted(now)), "utf-8")
