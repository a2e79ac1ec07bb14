"""For a forge's runner (GitHub, Forgejo, GitLab): what somebody pushed in, a card in Markdown out.

docs/forge.md has the workflow that starts it. The seed of the hidden cases is in the environment variable
`CELLCHECK_SEED`, which a forge keeps as a secret; it is neither printed nor handed on. The card goes to `--card FILE`,
to the run's summary where the forge has one (`GITHUB_STEP_SUMMARY`), and into the log.

What learners wrote is quoted on the card, so all of it stands in a block of code: no link, picture or name in it works.

Exit code 0: graded, whatever the marks; 1: there is nothing to grade, and the card says why; 2: the fault isn't the
learner's.
"""

import argparse
import os
import sys
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

from cellcheck.api import grade_notebook
from cellcheck.checking.cards import out_of, plain, points
from cellcheck.checking.judge import MISSING, PASSED
from cellcheck.errors import GraderError, MissingProtection
from cellcheck.packing.gradescope import graded
from cellcheck.plain import visible_lines
from cellcheck.running.intake import Unreadable
from cellcheck.running.result import Result

SEED = "CELLCHECK_SEED"
SUMMARY = "GITHUB_STEP_SUMMARY"
MAX_CARD = 60_000
"""Characters: a comment on GitHub takes 65,536."""


def card(result: Result | str) -> str:
    """What came of a push, in Markdown."""
    if isinstance(result, str):
        return f"### Not graded\n\n{_quoted(result)}\n"
    rows = "".join(
        f"| {_in_a_cell(name)} | {points(score)} / {points(most)} | {status} |\n"
        for name, score, most, status in (
            *((v.symbol, v.score, v.max_score, v.status) for v in result.verdicts),
            *((t.title, t.score, t.max_score, t.status) for t in result.own_tests),
        )
    )
    messages = [
        *result.repairs,
        *(plain(v) for v in result.verdicts if v.status not in (PASSED, MISSING)),
        *(f"{t.title}: {t.message}" for t in result.own_tests if t.status not in (PASSED, MISSING)),
    ]
    head = f"### {out_of(result.score, result.max_score)}\n\n| | points | |\n|---|---|---|\n{rows}"
    return f"{head}\n{_quoted(chr(10).join(messages))}\n" if messages else head


def _quoted(text: str) -> str:
    """A block of code, which the text can't end."""
    shown = visible_lines(text).replace("```", "'''")
    if len(shown) > MAX_CARD:
        shown = f"{shown[:MAX_CARD]}\n..."
    return f"```text\n{shown}\n```"


def _in_a_cell(text: str) -> str:
    """A name in a table. Names of cells are an instructor's, and of exercises an author's."""
    return f"`{visible_lines(text).replace('|', '/').replace('`', '')}`"


def seed_in(environment: Mapping[str, str]) -> int:
    """The seed.

    Raises:
        GraderError: when it isn't there, or isn't a number.
    """
    text = environment.get(SEED, "").strip()
    if not text:
        raise GraderError(
            f"There is no {SEED}: store a number as a secret of that name, and hand it to this step (docs/forge.md)."
        )
    if not (text.isascii() and text.isdigit()):
        raise GraderError(f"{SEED} isn't a number: store digits only.")
    return int(text)


def result_of(submission: Path, name: str, course: Path | None, environment: Mapping[str, str]) -> Result | str:
    """What came of a folder: of a lesson's notebook in it, or of an assignment of a course's own.

    Raises:
        GraderError: when nothing can be graded here.
    """
    if course is None:
        return graded(submission, name, seed_in(environment))
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", MissingProtection)
            result = grade_notebook(submission, lesson=name, course=course)
    except Unreadable as error:
        return str(error)
    for warning in caught:
        print(warning.message)
    return result


def main(arguments: Sequence[str]) -> int:
    """Grades, and puts the card where it belongs."""
    parser = argparse.ArgumentParser(prog="python -m cellcheck.packing.forge")
    parser.add_argument("submission", type=Path, help="the folder that was pushed")
    parser.add_argument("name", help="the lesson, or with --course the assignment")
    parser.add_argument("--course", type=Path, help="the folder of the nbgrader course that the assignment is in")
    parser.add_argument("--card", type=Path, help="write the card to this file")
    asked = parser.parse_args(arguments)
    if not asked.submission.is_dir():
        raise GraderError(f"There is no folder {asked.submission}: check the repository out first.")
    result = result_of(asked.submission, asked.name, asked.course, os.environ)
    text = card(result)
    print(text)
    try:
        if asked.card is not None:
            asked.card.write_text(text, "utf-8")
        if summary := os.environ.get(SUMMARY):
            with Path(summary).open("a", encoding="utf-8") as file:
                file.write(text)
    except OSError as error:
        raise GraderError(f"{error.filename} can't be written: {error.strerror}.") from error
    return int(isinstance(result, str))


if __name__ == "__main__":
    try:
        raise SystemExit(main(sys.argv[1:]))
    except GraderError as error:
        print(error, file=sys.stderr)
        raise SystemExit(2) from None
