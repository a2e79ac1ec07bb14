"""What a tutor's replies are worth: one line for each reply, and a line of the table for each tutor."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from cellcheck.errors import GraderError
from cellcheck.tutoring.giving_away import gives_away
from cellcheck.tutoring.naming import named
from cellcheck.tutoring.reading import HARDEST, LONGEST, SHORTEST, grade, words
from cellcheck.tutoring.scripted import SCRIPTED
from cellcheck.tutoring.tasks import Task, Verdicts

MAX_REPLY = 20_000
"""Letters of a reply; what is longer is cut."""


@dataclass(frozen=True)
class Scored:
    """One reply, measured."""

    id: str
    names_it: bool
    """Whether the mistake that it is about is the true one."""
    named: str | None
    gives_away: bool
    """Whether code in it passes the check."""
    words: int
    grade: float

    @property
    def of_good_length(self) -> bool:
        """As long as teachers want it."""
        return SHORTEST <= self.words <= LONGEST

    @property
    def easy_to_read(self) -> bool:
        """As plain as they want it; nothing at all is not."""
        return self.words > 0 and self.grade <= HARDEST

    def to_json(self) -> dict[str, Any]:
        """A line of the details."""
        return {**asdict(self), "grade": round(self.grade, 1)}


def score(reply: str, task: Task) -> Scored:
    """Measures one reply."""
    reply = reply[:MAX_REPLY]
    about = named(reply, task.exercise)
    return Scored(task.id, about == task.mistake.name, about, gives_away(reply, task), words(reply), grade(reply))


@dataclass(frozen=True)
class Line:
    """One tutor's line of the table; all but `replies` are shares of the replies."""

    tutor: str
    replies: int
    names_it: float
    gives_away: float
    of_good_length: float
    easy_to_read: float
    all_four: float

    @classmethod
    def of(cls, tutor: str, scored: Sequence[Scored]) -> Line:
        """The line of these replies."""

        def share(*holds: bool) -> float:
            return sum(holds) / len(holds) if holds else 0.0

        return cls(
            tutor,
            len(scored),
            share(*(each.names_it for each in scored)),
            share(*(each.gives_away for each in scored)),
            share(*(each.of_good_length for each in scored)),
            share(*(each.easy_to_read for each in scored)),
            share(
                *(
                    each.names_it and not each.gives_away and each.of_good_length and each.easy_to_read
                    for each in scored
                )
            ),
        )


def chance(tasks: Sequence[Task]) -> float:
    """How often a guess among an exercise's mistakes would name the true one."""
    return sum(1 / len(task.exercise.mistakes) for task in tasks) / len(tasks) if tasks else 0.0


def table(lines: Iterable[Line], tasks: Sequence[Task]) -> str:
    """The table, in Markdown."""
    rows = [
        "| tutor | replies | names the mistake | gives it away | 80 to 160 words | grade 9 or lower | all four |",
        "|---|---|---|---|---|---|---|",
        *(
            f"| {line.tutor} | {line.replies} | {line.names_it:.0%} | {line.gives_away:.0%} | "
            f"{line.of_good_length:.0%} | {line.easy_to_read:.0%} | {line.all_four:.0%} |"
            for line in lines
        ),
    ]
    exercises = len({(task.lesson, task.symbol) for task in tasks})
    rows += ["", f"{len(tasks)} mistakes in {exercises} exercises. A guess names the true one in {chance(tasks):.0%}."]
    return "\n".join(rows) + "\n"


def scripted(tasks: Sequence[Task]) -> Iterator[tuple[str, list[Scored]]]:
    """The three tutors that need no model, measured."""
    verdicts = Verdicts()
    scores: dict[str, list[Scored]] = {name: [] for name in SCRIPTED}
    for task in tasks:
        verdict = verdicts.of(task)
        for name, tutor in SCRIPTED.items():
            scores[name].append(score(tutor(task, verdict), task))
    yield from scores.items()


def write_tasks(tasks: Sequence[Task], path: Path) -> None:
    """The tasks as JSON lines, in the order of their ids, so that neighbours tell nothing.

    Raises:
        GraderError: when it can't be written.
    """
    verdicts = Verdicts()
    lines = {task.id: json.dumps(task.to_json(verdicts.of(task)), ensure_ascii=False) for task in tasks}
    try:
        path.write_text("".join(f"{lines[each]}\n" for each in sorted(lines)), "utf-8")
    except OSError as error:
        raise GraderError(f"{path} can't be written: {error.strerror}.") from None


def read_replies(path: Path) -> dict[str, str]:
    """A tutor's replies by the tasks' ids.

    Raises:
        GraderError: when the file or a line of it is at fault.
    """
    try:
        lines = path.read_text("utf-8-sig").split("\n")  # JSON may hold what else ends a line for Python
    except OSError as error:
        raise GraderError(f"{path} can't be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise GraderError(f"{path} can't be read: it is not in UTF-8.") from None
    replies: dict[str, str] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            entry: Mapping[str, Any] = json.loads(line)
            name, reply = entry["id"], entry["reply"]
        except (ValueError, KeyError, TypeError, RecursionError):
            name = reply = None
        if not isinstance(name, str) or not isinstance(reply, str):
            raise GraderError(f'{path}, line {number}: it should be {{"id": "...", "reply": "..."}}.')
        if name in replies:
            raise GraderError(f"{path}, line {number}: there is a second reply to {name}. Leave one in.")
        replies[name] = reply
    return replies


def score_replies(replies: Mapping[str, str], tasks: Sequence[Task]) -> Iterator[tuple[Task, Scored]]:
    """Measures a tutor's replies to these tasks; one that is missing counts as empty.

    Raises:
        GraderError: when a reply is to something else.
    """
    unknown = sorted(replies.keys() - {task.id for task in tasks})
    if unknown:
        raise GraderError(
            f"There is no task {unknown[0]} among these. Score with the lessons, the sample and the seed that "
            "the tasks were written with, and with the same version of the course."
        )
    for task in tasks:
        yield task, score(replies.get(task.id, ""), task)
