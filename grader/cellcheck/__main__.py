"""`python -m cellcheck` is `cellcheck`."""

import contextlib
import sys
from collections.abc import Sequence


def main() -> None:
    """The command, where what it needs is installed: a learner's notebook does without."""
    if _is_grading(sys.argv[1:]):
        with contextlib.suppress(ModuleNotFoundError):
            _warm_up()
    try:
        from cellcheck.cli import main as run
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("cellcheck"):
            raise
        sys.stderr.write(f'The command needs {error.name}, which is not installed: pip install "cellcheck[nbgrader]"\n')
        raise SystemExit(2) from None
    run()


def _is_grading(arguments: Sequence[str]) -> bool:
    """Whether the command is going to grade on this machine."""
    elsewhere = any(argument == "--help" or argument.startswith("--cluster") for argument in arguments)
    return arguments[:1] in (["grade"], ["autograde"]) and not elsewhere


def _warm_up() -> None:
    """Starts what grading waits for longest, before anything else is imported."""
    from cellcheck.running.warming import start_ahead

    start_ahead()


if __name__ == "__main__":
    main()
