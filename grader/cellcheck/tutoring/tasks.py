"""The benchmark's tasks: each known mistake as a learner's code, with what a tutor may know about it.

A task doesn't say which mistake it is. Its id is a hash, so that nobody reads the answer off it.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from cellcheck.authoring.catalogue import RIGHT, WrittenMistake
from cellcheck.authoring.spec import Exercise
from cellcheck.checking.judge import PUBLIC_SEED, Judge, Verdict
from cellcheck.checking.quiet import quiet
from cellcheck.learning.offers import released
from cellcheck.syllabus import load_lesson, load_probes, usable_lessons
from cellcheck.syntax import syntax_tree
from cellcheck.tutoring.desk import cell_of, told_case

QUESTION = "My {symbol} does not pass its check. What should I look at?"


@dataclass(frozen=True)
class Task:
    """One learner, stuck with one mistake."""

    exercise: Exercise
    mistake: WrittenMistake
    lesson: str

    @property
    def symbol(self) -> str:
        """What the learner is writing."""
        return self.exercise.symbol

    @cached_property
    def id(self) -> str:
        """What the task is called: it tells nothing."""
        return hashlib.sha256(f"{self.lesson}/{self.symbol}/{self.mistake.name}".encode()).hexdigest()[:12]

    @cached_property
    def code(self) -> str:
        """What the learner has written."""
        shared = [block.text for block in self.mistake.catalogue.shared] if self.mistake.entry.blocks else []
        text = "\n\n".join([*shared, self.mistake.catalogue.text_of(self.mistake.entry)])
        return "\n".join(line for line in text.splitlines() if "### " not in line)

    @property
    def stands_alone(self) -> bool:
        """Whether the code does without the right answer, which is at hand for catalogues and not for learners."""
        tree = list(ast.walk(syntax_tree(self.code)))
        names = [node for node in tree if isinstance(node, ast.Name) and node.id == RIGHT]
        given = any(isinstance(node, ast.arg) and node.arg == RIGHT for node in tree)
        return given or not names or any(isinstance(node.ctx, ast.Store) for node in names)

    @cached_property
    def stub(self) -> str:
        """The cell as it was released: the signature, and the docstring that says what is asked for."""
        return cell_of(released()[self.lesson].read_bytes(), self.symbol)

    def to_json(self, verdict: Verdict) -> dict[str, Any]:
        """What a tutor gets."""
        return {
            "id": self.id,
            "lesson": self.lesson,
            "symbol": self.symbol,
            "exercise": self.stub,
            "code": self.code,
            "failing_case": told_case(verdict.evidence) if verdict.evidence else None,
            "question": QUESTION.format(symbol=self.symbol),
        }


def all_tasks(lessons: Iterable[str] | None = None) -> Iterator[Task]:
    """One for each known mistake that a learner can write, of these lessons or of all that can be used here."""
    names = list(usable_lessons()[0]) if lessons is None else [load_lesson(name).name for name in lessons]
    for name in names:
        for exercise in load_lesson(name).exercises:
            for mistake in exercise.mistakes:
                if isinstance(mistake, WrittenMistake) and (task := Task(exercise, mistake, name)).stands_alone:
                    yield task


def sample(tasks: Sequence[Task], size: int, seed: int) -> list[Task]:
    """So many of them, each as likely as any other, in their own order."""
    places = random.Random(seed).sample(range(len(tasks)), min(size, len(tasks)))
    return [tasks[place] for place in sorted(places)]


class Verdicts:
    """What the check says of each task. It runs the course's own mistakes, in this process."""

    def __init__(self) -> None:
        self._judge: tuple[tuple[str, str], Judge] | None = None

    def of(self, task: Task) -> Verdict:
        """The verdict on the learner's code."""
        key = (task.lesson, task.symbol)
        if self._judge is None or self._judge[0] != key:
            self._judge = key, Judge(task.exercise, load_probes(task.lesson)[task.symbol], PUBLIC_SEED)
        judge = self._judge[1]
        with quiet():
            return judge.verdict(judge.observe(task.mistake.implementation))


def right_answers(exercise: Exercise) -> Iterator[str]:
    """The texts of answers that are known to pass: the library's, and those written differently."""
    mistake = next((each for each in exercise.mistakes if isinstance(each, WrittenMistake)), None)
    yield inspect.getsource(exercise.references[0])
    if mistake is not None:
        for section in ("Other references", "Right answers", "Held back, right"):
            yield from (mistake.catalogue.text_of(entry) for entry in mistake.catalogue.entries(section))
