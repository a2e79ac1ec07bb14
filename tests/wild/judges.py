"""Who judges the wild set: this course's grader, and judges of others on the tasks that they share with it.

Whoever has a judge of their own gives it the one method of `AnswerJudge`, and a line in `tests/wild/figures.py`.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Protocol

from cellcheck.api import get_ready
from cellcheck.demo.learners import Learner
from cellcheck.repository import Repository
from cellcheck.running.grade import grade, prepare
from tests.wild.answers import WildAnswer
from tests.wild.elsewhere import asks_for

ROOT = Repository.find(Path(__file__).parent).root
SEED = 20_001


@dataclass(frozen=True)
class Judgement:
    """What a judge says of an answer."""

    accepted: bool
    """Whether it counts as right, in full."""
    name: str = ""
    """The name of the mistake that it is taken for, where the judge knows mistakes by name."""
    card: str = ""
    """What the learner reads."""


class AnswerJudge(Protocol):
    """Somebody who judges answers. It is asked by several threads."""

    def judge(self, answer: WildAnswer) -> Judgement | None:
        """What it says of an answer, or None where it has no such task."""
        ...


class Cellcheck:
    """What `cellcheck grade` says of a notebook in which nothing but this exercise is answered."""

    def __init__(self, jobs: int = 1) -> None:
        get_ready(jobs)

    def judge(self, answer: WildAnswer) -> Judgement:
        released = (ROOT / "notebooks" / answer.lesson / f"{answer.lesson}.ipynb").read_text("utf-8")
        learner = Learner("wild", answer.lesson, begins=0, types={answer.symbol: answer.code})
        prepare(answer.lesson, SEED)
        result = grade(learner.hand_in(released).encode(), SEED)
        verdict = next(verdict for verdict in result.verdicts if verdict.symbol == answer.symbol)
        return Judgement(verdict.score == verdict.max_score, verdict.diagnosis or "", verdict.message)


class Elsewhere:
    """A judge of others, as it is in the Python index, in a process of its own: see `elsewhere`."""

    def __init__(self, package: str, folder: Path) -> None:
        self.package = package
        self._turn = Lock()
        self._asked = subprocess.Popen(
            [sys.executable, "-m", "tests.wild.elsewhere", package],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            # They write down in the home folder what was solved.
            env={"PATH": "", "HOME": str(folder), "PYTHONPATH": str(folder), "OMP_NUM_THREADS": "1"},
        )

    def judge(self, answer: WildAnswer) -> Judgement | None:
        if not asks_for(self.package, answer.lesson, answer.symbol, answer.name):
            return None
        assert self._asked.stdin is not None
        assert self._asked.stdout is not None
        with self._turn:
            print(json.dumps([answer.lesson, answer.symbol, answer.code]), file=self._asked.stdin, flush=True)
            failed: list[str] = json.loads(self._asked.stdout.readline())
        return Judgement(not failed, card=" ".join(failed))

    def close(self) -> None:
        """Ends the process."""
        self._asked.communicate()


def install(requirements: list[str], folder: Path) -> None:
    """Puts packages into a folder of their own, without what they need: PyTorch is here.

    Raises:
        OSError: when there is no network, or no such package.
    """
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(folder), *requirements]
    done = subprocess.run(pip, capture_output=True, text=True)
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["pip says nothing"]
        raise OSError(f"{' and '.join(requirements)} can't be installed: {lines[-1]}")
