"""Faults in an exercise that take a run to be found, each as one sentence with the file, the line, and what to do.

A rehearsal on the notebook's own cases: of the course's answer, the examples in its docstring, the right answers
written differently, and as much of each mistake as shows that it runs. How well mistakes are told apart is the audit's
question.
"""

import doctest
import inspect
import re
import sys
import warnings
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from cellcheck.authoring.calls import Probe
from cellcheck.authoring.spec import Case, Exercise, Lesson, Mistake, Observation
from cellcheck.authoring.traces import changed, process_put_back, settings_put_back
from cellcheck.checking.cards import out_of
from cellcheck.checking.judge import PUBLIC_SEED, Judge
from cellcheck.checking.quiet import quiet
from cellcheck.checking.shown import shown
from cellcheck.errors import GraderError
from cellcheck.lines import beginning, is_a_probe, last_line, line_of, said, says_how, told, written
from cellcheck.syllabus import Syllabus

# Python says of these that the code itself is at fault, and not what it was given.
_SLIPS = (NameError, ImportError, SyntaxError)
_WRONG_CALL = re.compile(r"\(\) (takes|missing|got an unexpected|got multiple)")


def rehearse(lesson: Lesson, probes: Mapping[str, Probe], syllabus: Syllabus) -> None:
    """Tries every exercise of a lesson out.

    Raises:
        GraderError: for the first fault.
    """
    with process_put_back(), quiet(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # mistakes divide by zero, say
        for exercise in lesson.exercises:
            _Rehearsal(exercise, probes[exercise.symbol], syllabus.root, syllabus.place(lesson.name)).go()


class _Rehearsal:
    """One exercise, and the error with which its probe stopped last."""

    def __init__(self, exercise: Exercise, probe: Probe, root: Path, folder: Path) -> None:
        self.exercise = exercise
        self.symbol = exercise.symbol
        self.root = root
        self.folder = folder
        self.probe = probe
        self.error: BaseException | None = None
        with self._told("cases"):
            self.judge = Judge(exercise, self._listening, PUBLIC_SEED)

    def go(self) -> None:
        self._reference()
        self._blank()
        self._examples()
        for name, variant in self.exercise.variants.items():
            self._variant(name, variant)
        for mistake in self.exercise.mistakes:
            self._mistake(mistake)

    def _listening(self, symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """The probe, overheard."""
        try:
            seen = self.probe(symbol, inputs)
            if not isinstance(seen, Mapping):
                raise GraderError(
                    f"The probe of {self.symbol}, in {beginning(self.probe)}, returns an object of type "
                    f'{type(seen).__name__}: let it return a dict, such as {{"output": ...}}.'
                )
        except BaseException as error:
            self.error = error
            raise
        return seen

    def _seen(self, symbol: Any, case: Case) -> Observation:
        self.error = None
        with self._told(f"case {case.label!r}"):
            observation = self.judge.observe_one(symbol, case)
        if isinstance(self.error, GraderError):
            raise self.error
        return observation

    # --- what is right ------------------------------------------------------------------------------------------

    def _reference(self) -> None:
        reference, cases = self.exercise.references[0], self.judge.cases
        seen = [self._of_the_reference(reference, case) for case in cases]
        for case, observation in zip(cases, seen, strict=True):
            with self._told("canonical"):
                reduced = observation if "error" in observation else self.exercise.canonical(observation, case)
                if not isinstance(reduced, Mapping):
                    raise GraderError(
                        f"{self.symbol}: its canonical form, in {beginning(self.exercise.canonical)}, returns an "
                        f'object of type {type(reduced).__name__}: let it return a dict, such as {{"output": ...}}.'
                    )
            with self._told("shown"):
                shown(self.exercise, case)
        observations = self.judge.keep(seen)
        for aspect in self.exercise.aspects:
            keys = {
                key for one, case in zip(observations, cases, strict=True) if aspect.tags <= case.tags for key in one
            }
            if aspect.kinds != {"error"} and not keys & set(aspect.keys):
                raise GraderError(
                    f"{self.symbol}: the aspect {aspect.name!r}{self._at(aspect.name)} looks at "
                    f"{_listed(aspect.keys)}, and what is seen there is {_listed(sorted(keys))}. "
                    "Let the probe give that, or take the aspect out."
                )

    def _of_the_reference(self, reference: Any, case: Case) -> Observation:
        """What the course's own answer does in one case. It may only stop itself, and where an aspect asks for it."""
        observation = self._seen(reference, case)
        if settings := changed(observation):
            raise GraderError(
                f"The course's own {self.symbol} leaves {settings[0]} changed {case.label}{self._at(case.label)}, and "
                "an answer that does so loses points. Put it back there, or in the probe."
            )
        if "error" not in observation:
            return observation
        asked = any(aspect.kinds == {"error"} and aspect.tags <= case.tags for aspect in self.exercise.aspects)
        home = Path(inspect.getsourcefile(reference) or "")
        if asked and self.error is not None and last_line(self.error, home) is not None:
            return observation
        advice = "Correct the probe, or the inputs of that case."
        if not asked:
            advice += " If the docstring asks for an error, let the case name an aspects.refused."
        raise GraderError(
            f"The course's own {self.symbol} stops {case.label} with {said(self.error)}, in "
            f"{self._where(case.label)}. {advice}"
        )

    def _blank(self) -> None:
        """A probe that takes errors for results would give points to everybody."""
        verdict = self.judge.verdict([self._seen(_stops, case) for case in self.judge.cases])
        if verdict.score:
            raise GraderError(
                f"{self.symbol}: an answer that always stops with an error gets "
                f"{out_of(verdict.score, verdict.max_score)}. Let its probe, in {beginning(self.probe)}, call "
                "the learner's symbol and catch no errors."
            )

    def _examples(self) -> None:
        """Runs the examples of the docstring, which is all that learners are told."""
        reference = self.exercise.references[0]
        module = sys.modules[reference.__module__]
        try:
            tests = doctest.DocTestFinder().find(reference, self.symbol, module, vars(module))
        except ValueError as error:
            raise GraderError(
                f"The examples of {self.symbol} can't be read: {error}. Correct its docstring, in "
                f"{inspect.getsourcefile(reference)}."
            ) from error
        for test in tests:
            runner = _Runner()
            with settings_put_back():
                runner.run(test, out=lambda text: None)
            for example, outcome in runner.faults[:1]:
                raise GraderError(
                    f"The docstring of {self.symbol} says that {example.source.strip()} gives "
                    f"{example.want.strip() or 'nothing'}, and it {outcome}: correct it in {test.filename}, line "
                    f"{(test.lineno or 0) + example.lineno + 1}."
                )

    def _variant(self, name: str, variant: Any) -> None:
        verdict = self.judge.verdict([self._seen(variant, case) for case in self.judge.cases])
        if verdict.score < verdict.max_score:
            raise GraderError(
                f"{self.symbol}: the right answer {name!r}{self._at(name)} gets "
                f"{out_of(verdict.score, verdict.max_score)}. {verdict.message} Correct it, or let the check accept it."
            )

    # --- what is wrong ------------------------------------------------------------------------------------------

    def _mistake(self, mistake: Mistake) -> None:
        """One that never runs, because of a slip of its author's, would be found in many an answer that stops.

        And one that nothing tells from a right answer shows that the cases, or the probe, see too little.
        """
        seen: list[Observation] = []
        slips = 0
        for case in self.judge.cases:
            seen.append(self._seen(mistake.implementation, case))
            if "error" in seen[-1] and self._is_a_slip():
                slips += 1
            elif not self.judge.right_in(len(seen) - 1, seen[-1]):
                return
        if slips == len(seen):
            raise GraderError(
                f"{self.symbol}: the mistake {mistake.name!r} stops in every case with {said(self.error)}, in "
                f"{self._where(mistake.name)}. Correct it there."
            )
        if self.judge.right_so_far(seen):
            raise GraderError(
                f"{self.symbol}: the mistake {mistake.name!r}{self._at(mistake.name)} gets full marks. "
                f"{self._what_to_add(seen)}"
            )

    def _what_to_add(self, seen: list[Observation]) -> str:
        """What shows that a mistake is one. A call may stop by itself where the course's own answer refuses it."""
        for case, right, observation in zip(self.judge.cases, self.judge.references[0], seen, strict=True):
            if "error" in observation and observation["error"]["type"] != right["error"]["type"]:
                return (
                    f"It stops {case.label} with {observation['error']['type']}, and any error counts where one is "
                    "asked for. Add a case in which it returns something, or take the mistake out."
                )
        return (
            "Add a case in which it goes wrong; or does the probe, or the canonical form, leave out what it gets wrong?"
        )

    def _is_a_slip(self) -> bool:
        """Whether it comes from how a mistake is written down, and not from what it gets wrong.

        An attribute that is missing in a line of the mistake's own is a slip: what a mistake returns may well lack one
        that the probe asks for.
        """
        error = self.error
        if isinstance(error, AttributeError):
            place = last_line(error, self.root)
            return place is not None and self._describes(place[0])
        return isinstance(error, _SLIPS) or (isinstance(error, TypeError) and bool(_WRONG_CALL.search(str(error))))

    def _describes(self, path: Path) -> bool:
        """Whether a file is part of the lesson, and says nothing of how symbols are called."""
        path, folder = path.resolve(), self.folder.resolve()
        return path.is_relative_to(folder) and not is_a_probe(path, folder) and not says_how(path)

    # --- where it stands ----------------------------------------------------------------------------------------

    def _at(self, text: str) -> str:
        place = line_of(text, self.folder)
        return f" ({written(place, '')})" if place else ""

    def _where(self, text: str) -> str:
        """The course's last line before the error; else where this text stands in the lesson."""
        place = last_line(self.error, self.root) if self.error is not None else None
        return written(place or line_of(text, self.folder), beginning(self.exercise.cases))

    def _told(self, what: str) -> AbstractContextManager[None]:
        return told(self.symbol, what, self.root, beginning(self.exercise.cases))


def _stops(*_: Any, **__: Any) -> None:
    raise NotImplementedError


class _Runner(doctest.DocTestRunner):
    """Keeps the examples that fail, and how, in place of a report."""

    def __init__(self) -> None:
        super().__init__(verbose=False)
        self.faults: list[tuple[doctest.Example, str]] = []

    def report_failure(self, out: object, test: object, example: doctest.Example, got: str) -> None:
        self.faults.append((example, f"gives {got.strip() or 'nothing'}"))

    def report_unexpected_exception(self, out: object, test: object, example: doctest.Example, exc_info: Any) -> None:
        self.faults.append((example, f"stops with {said(exc_info[1])}"))


def _listed(names: Any) -> str:
    return " and ".join(map(repr, names)) or "nothing"
