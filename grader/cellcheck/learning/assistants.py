"""What a learner's folder says to the learner's assistant: a file of the name that such programs look for."""

from contextlib import suppress
from pathlib import Path

from cellcheck.files import write_whole

FILE = "AGENTS.md"
_TEXT = Path(__file__).with_name("assistants.md")


def greet(folder: Path) -> Path | None:
    """Puts the file into a learner's folder; one that is there, the class's or the learner's own, stays as it is.

    Returns:
        Where it is; None where it can't be written. A learner is never kept from learning by that.
    """
    target = folder / FILE
    with suppress(OSError):
        if not target.exists() and not target.is_symlink():
            write_whole(target, _TEXT.read_text("utf-8"))
        return target
    return None
