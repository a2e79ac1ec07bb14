"""The figures of the wild set: what is caught of it, what is named, and what others make of the tasks that they share.

    make wild                                            judges all of it and prints the tables; minutes
    .venv/bin/python -m tests.wild.figures --lesson 08   one lesson's
    .venv/bin/python -m tests.wild.figures --into docs/wild.md
    .venv/bin/python -m tests.wild.figures --list        also prints what isn't as it should be, one by one

An answer is caught when it gets less than all points, and named when the grader names a mistake that its file lists as
true. A name that it doesn't list misleads. The intervals are those of Wilson, for 95 %. The cases are drawn from one
fixed seed, so that two runs give the same tables.
"""

from __future__ import annotations

import argparse
import math
import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

from rich.console import Console
from rich.progress import track

from cellcheck.syllabus import find_lesson
from tests.wild.answers import ASIDE, TUNED, WildAnswer, wild_answers
from tests.wild.judges import ROOT, AnswerJudge, Cellcheck, Elsewhere, Judgement, install

JOBS = 2
OTHERS = {"TorchCode": "torch_judge", "TorchLeet": "torchleet"}
VERSIONS = ["torch-judge==0.1.1", "torchleet==0.1.0"]
Z = 1.959964
Judged = Mapping[WildAnswer, Judgement]

_BETWEEN = re.compile(r"(<!-- wild: begin -->\n).*?(<!-- wild: end -->)", re.DOTALL)


def interval(hits: int, total: int) -> tuple[float, float]:
    """Wilson's interval for a share, at 95 %."""
    if not total:
        return 0.0, 1.0
    share, scale = hits / total, 1 + Z**2 / total
    middle = (share + Z**2 / (2 * total)) / scale
    half = Z * math.sqrt(share * (1 - share) / total + Z**2 / (4 * total**2)) / scale
    return max(0.0, middle - half), min(1.0, middle + half)


def cell(hits: int, total: int) -> str:
    """A share as the tables show it."""
    if not total:
        return ""
    low, high = interval(hits, total)
    return f"{hits} of {total} ({100 * low:.0f}-{100 * high:.0f} %)"


def judged_by(judge: AnswerJudge, answers: Sequence[WildAnswer], what: str) -> dict[WildAnswer, Judgement]:
    """What a judge says of those answers for which it has a task. Progress is shown."""
    with ThreadPoolExecutor(JOBS) as pool:
        judgements = pool.map(judge.judge, answers)
        shown = track(judgements, description=what, total=len(answers), console=Console(stderr=True))
        return {answer: one for answer, one in zip(answers, shown, strict=True) if one is not None}


def misleads(answer: WildAnswer, judgement: Judgement) -> bool:
    """Whether an answer gets a name that doesn't fit it."""
    return bool(judgement.name) and judgement.name not in answer.named


def row(title: str, judged: Judged) -> str:
    """A line of the first table."""
    right = [judgement for answer, judgement in judged.items() if answer.right]
    wrong = {answer: judgement for answer, judgement in judged.items() if not answer.right}
    counts: Mapping[str, Callable[[WildAnswer, Judgement], bool]] = {
        "caught": lambda answer, judgement: not judgement.accepted,
        "named": lambda answer, judgement: judgement.name in answer.named,
        "misleading": misleads,
    }
    shares = [cell(sum(counts[name](*pair) for pair in wrong.items()), len(wrong)) for name in counts]
    return " | ".join((f"| {title}", cell(sum(judgement.accepted for judgement in right), len(right)), *shares)) + " |"


def table(judged: Judged, half: str) -> list[str]:
    """The table of one half of the set."""
    of_half = {answer: judgement for answer, judgement in judged.items() if answer.half == half}
    if not of_half:
        return []
    parts = {"all": of_half}
    parts["with a public source"] = {answer: judgement for answer, judgement in of_half.items() if answer.public}
    parts["variants of those"] = {answer: judgement for answer, judgement in of_half.items() if not answer.public}
    for lesson in sorted({answer.lesson for answer in of_half}):
        parts[lesson[:2]] = {answer: judgement for answer, judgement in of_half.items() if answer.lesson == lesson}
    heading = "The half that was kept aside" if half == ASIDE else "The half that checks were tuned with"
    lines = [
        f"**{heading}**",
        "",
        "| | right accepted | wrong caught | named rightly | named wrongly |",
        "|---|---|---|---|---|",
    ]
    return [*lines, *(row(title, part) for title, part in parts.items()), ""]


def comparison(judged: Judged, others: Mapping[str, Judged]) -> list[str]:
    """The table of other judges, each beside this course's grader on the same answers."""
    lines = ["**The same answers elsewhere**", ""]
    lines += [
        "| on the tasks shared with | judge | right accepted | wrong with a public source caught | named rightly |"
    ]
    lines += ["|---|---|---|---|---|"]
    for name, theirs in others.items():
        shared = [answer for answer in theirs if answer.right or answer.public]
        for judge, judgements in ((name, theirs), ("cellcheck", judged)):
            right = [judgements[answer].accepted for answer in shared if answer.right]
            wrong = [answer for answer in shared if not answer.right]
            caught = cell(sum(not judgements[answer].accepted for answer in wrong), len(wrong))
            named = cell(sum(judgements[answer].name in answer.named for answer in wrong), len(wrong))
            lines.append(f"| {name} | {judge} | {cell(sum(right), len(right))} | {caught} | {named} |")
    return [*lines, ""]


def exceptions(judged: Judged) -> Iterator[str]:
    """A line for each answer that isn't judged as it should be."""
    for answer, judgement in judged.items():
        if answer.right and not judgement.accepted:
            yield f"right, and refused: {answer}: {judgement.card}"
        elif not answer.right and judgement.accepted:
            yield f"wrong, and accepted: {answer}: {answer.slip}"
        elif misleads(answer, judgement):
            yield f"called {judgement.name}: {answer}: {answer.slip} The card: {judgement.card}"


def asked_elsewhere(answers: Sequence[WildAnswer]) -> dict[str, Judged]:
    """What the others say; where they can't be fetched, a sentence says so, and they are left out."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            install(VERSIONS, Path(folder))
        except OSError as error:
            print(f"Without the other judges: {error}", file=sys.stderr)
            return {}
        judged: dict[str, Judged] = {}
        for name, package in OTHERS.items():
            with closing(Elsewhere(package, Path(folder))) as judge:
                judged[name] = judged_by(judge, answers, name)
        return judged


def write_into(file: Path, lines: Iterable[str]) -> None:
    """Replaces what stands between the page's two marks.

    Raises:
        ValueError: when the marks are missing.
    """
    text = "\n".join(lines).rstrip() + "\n"
    changed, count = _BETWEEN.subn(lambda match: match[1] + text + match[2], file.read_text("utf-8"))
    if count != 1:
        raise ValueError(f"{file} needs the marks <!-- wild: begin --> and <!-- wild: end -->, once each.")
    file.write_text(changed, encoding="utf-8")


def last_edit() -> float:
    """When a file of the engine or of the course was last written, in seconds."""
    folders = (ROOT / "grader" / "cellcheck", ROOT / "transformer_course")
    return max(
        file.stat().st_mtime for folder in folders for file in folder.rglob("*") if file.suffix in {".py", ".md"}
    )


def main() -> None:
    """Judges the set and prints its tables."""
    parser = argparse.ArgumentParser(prog="python -m tests.wild.figures")
    parser.add_argument("--lesson", action="append", help="only this lesson, such as 08; may be given several times")
    parser.add_argument("--half", choices=(TUNED, ASIDE), help="only this half")
    parser.add_argument("--into", type=Path, help="a page with marks to write the tables between")
    parser.add_argument("--list", action="store_true", help="print what isn't judged as it should be")
    parser.add_argument("--without-others", action="store_true", help="leave out the judges of other projects")
    given = parser.parse_args()
    lessons = {find_lesson(name)[1] for name in given.lesson or ()}
    answers = [
        answer
        for answer in wild_answers()
        if (not lessons or answer.lesson in lessons) and given.half in (None, answer.half)
    ]
    before = last_edit()
    judged = judged_by(Cellcheck(JOBS), answers, "cellcheck")
    if last_edit() != before:
        # Half an engine refuses whatever it is given, and would seem to catch every mistake.
        sys.exit("The engine or a lesson was edited meanwhile: these verdicts are worth nothing. Judge again.")
    lines = [*table(judged, ASIDE), *table(judged, TUNED)]
    if not given.without_others and (others := asked_elsewhere(answers)):
        lines += comparison(judged, others)
    print("\n".join(lines))
    if given.list:
        print("\n".join(exceptions(judged)))
    if given.into:
        write_into(given.into, lines)


if __name__ == "__main__":
    main()
