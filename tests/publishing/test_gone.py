"""A page whose lesson or guide is gone leaves the site with the next build."""

from pathlib import Path

import pytest
from sphinx.application import Sphinx

from cellcheck.publishing.gone import remove_gone


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::PendingDeprecationWarning")
def test_a_page_that_is_gone(tmp_path: Path) -> None:
    source, site = tmp_path / "source", tmp_path / "html"
    (source / "guides").mkdir(parents=True)
    for page in ("index", "guides/old"):
        (source / f"{page}.rst").write_text(":orphan:\n\nA title\n=======\n", "utf-8")

    def build() -> set[str]:
        app = Sphinx(source, None, site, site / ".doctrees", "html", confoverrides={}, status=None, warning=None)
        app.connect("build-finished", remove_gone)
        app.build()
        return {path.relative_to(site).as_posix() for path in site.rglob("*.html")} - {"genindex.html", "search.html"}

    assert build() == {"index.html", "guides/old.html"}
    (site / "lab").mkdir()
    (site / "lab" / "index.html").write_text("JupyterLite's", "utf-8")
    (source / "guides" / "old.rst").rename(source / "guides" / "new.rst")
    assert build() == {"index.html", "guides/new.html", "lab/index.html"}
