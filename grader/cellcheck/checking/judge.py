"""The verdict on one exercise: which aspects hold, how many points they earn, and which mistake it is.

Observations come in, a verdict goes out. Where submissions are graded, learners' code is in another process, and this
one is disposable: see `cellcheck.running.judging`. In a notebook `Judge.observe` calls the learner's own symbol.
"""

import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import Any, Final, Literal, Self

import numpy as np

from cellcheck.authoring.arrays import is_array, numbers, size_of
from cellcheck.authoring.aspects import SETTINGS_UNTOUCHED
from cellcheck.authoring.calls import Probe
from cellcheck.authoring.observe import Opaque, observe
from cellcheck.authoring.patients import asked_here
from cellcheck.authoring.spec import Aspect, Case, Exercise, Mistake, Observation, Value
from cellcheck.authoring.traces import CHANGED
from cellcheck.checking.compare import Comparing, Difference, compare, concerns
from cellcheck.checking.diagnose import MOST_COMBINATIONS, Diagnosis, KnownMistakes, diagnose
from cellcheck.checking.misjudged import misjudged
from cellcheck.checking.shown import in_short, shown
from cellcheck.checking.words import names_a_missing_part, place, reports, say, speaks_for_itself

Status = Literal["passed", "partial", "failed", "missing", "error", "timeout", "memory", "crashed"]
PASSED: Final = "passed"
PARTIAL: Final = "partial"
FAILED: Final = "failed"
MISSING: Final = "missing"
ERROR: Final = "error"
TIMEOUT: Final = "timeout"
MEMORY: Final = "memory"
CRASHED: Final = "crashed"
# An answer that is this much larger than any right one is not looked at.
_TIMES_AS_LARGE = 16
_ROOM = 2**12
_PRAISE = re.compile(
    r"(?P<subject>(?:The|Your) [^,.:?]*?) (?:is|are) (?:all )?right,? but (?:(?P<pronoun>it|they) |(?!in|as|after))"
)
_SECOND = "There seems to be a second mistake, too. "
_PERHAPS = "This may come of the same slip, or of another: "
_EACH_ALONE = "(Each of the two is described as if it were the only one.)"
_PARAGRAPH = re.compile(f" (?={'|'.join(map(re.escape, (_SECOND, _PERHAPS, _EACH_ALONE)))})")
_ONLY_GRADIENTS = (
    "All else is right there: is a part of the way back cut off, by detach, .item(), .data or no_grad, or does a "
    "second call work out something else? "
)
MOST_WITHOUT_A_CENTRAL_ASPECT = 1 / 2
"""The share of the points that an answer may earn that fails a central aspect."""
PUBLIC_SEED = 0  # what the notebook's own check draws its cases from


@dataclass(frozen=True)
class AspectResult:
    """Whether one aspect of an exercise ("shape", "values", "gradients flow") holds."""

    name: str
    passed: bool
    meaning: str = ""
    """One sentence that explains the name, if its author wrote one. Not part of the JSON."""
    core: bool = False
    """Whether it belongs to what the exercise is about. Not part of the JSON."""
    seen: bool = True
    """Whether the answer got so far, in some case, that this could be looked at: where a result isn't there, or has
    another shape, nothing is deducted for its dtype, but nobody knows whether that is right. Not part of the JSON."""
    central: bool = False
    """Whether half of the points depend on it. Not part of the JSON."""
    told: bool = False
    """Whether it is what the message speaks of: the type, the shape, the dtype, or a module's parts. Not part of the
    JSON."""


@dataclass(frozen=True)
class Evidence:
    """The smallest of the notebook's own cases that goes wrong: expected beside got."""

    label: str
    """Finishes the sentence "It goes wrong ..."."""
    path: str
    """Which part of the answer differs."""
    expected: Any
    """A tensor, an array or a plain value."""
    got: Any
    called: str = ""
    """What the part that differs is called; the place itself unless given."""
    beside: Mapping[str, Value] = field(default_factory=dict)
    """Inputs of the case that help to read the two, by name."""


@dataclass(frozen=True)
class Verdict:
    """What a learner is told about one exercise, and what it earns."""

    symbol: str
    """The function or class that the exercise asks for."""
    score: float
    """Points, from 0 to `max_score`."""
    max_score: float
    status: Status
    """`passed` means full points, `partial` some of them; all others earn none."""
    message: str
    """One line for the learner. It gives no hidden case away."""
    aspects: tuple[AspectResult, ...] = ()
    diagnosis: str | None = None
    """The name of the known mistake that the answer matches."""
    evidence: Evidence | None = None
    """Not part of the JSON."""
    advice: str = ""
    """What the known mistakes' authors say to those who make them: part of the message. Not part of the JSON."""
    reported_in: str = ""
    """The project in which somebody made the known mistake in public. Not part of the JSON."""
    patients: str = ""
    """Which patients a learner's test misjudges, by their labels: part of the message. Not part of the JSON."""
    printed: str = ""
    """What the learner's code printed, where a notebook's own `check` ran it. Not part of the JSON."""

    def to_json(self) -> dict[str, Any]:
        """The exercise's entry in the JSON contract."""
        return {
            "symbol": self.symbol,
            "score": self.score,
            "max_score": self.max_score,
            "status": self.status,
            "aspects": [{"name": a.name, "passed": a.passed} for a in self.aspects],
            "diagnosis": self.diagnosis,
            "message": self.message,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The verdict that `to_json` wrote, without evidence and what was printed; keys it does not know are left."""
        return cls(
            symbol=data["symbol"],
            score=data["score"],
            max_score=data["max_score"],
            status=data["status"],
            message=data["message"],
            aspects=tuple(AspectResult(aspect["name"], aspect["passed"]) for aspect in data["aspects"]),
            diagnosis=data["diagnosis"],
        )


def without_score(exercise: Exercise, status: Status, message: str) -> Verdict:
    """A verdict of zero that needed no observation: blank, missing, refused, stopped."""
    aspects = (AspectResult(one.name, False, one.meaning, one.core) for one in exercise.aspects if one.counts)
    return Verdict(exercise.symbol, 0.0, exercise.points, status, message, tuple(aspects))


def drawn(exercise: Exercise, seed: int) -> list[Case]:
    """The cases that a seed gives, the smallest first."""
    generator = np.random.default_rng([seed, zlib.crc32(exercise.symbol.encode())])
    return sorted(exercise.cases(generator), key=_size)


@dataclass(frozen=True)
class Memory:
    """What a judge has observed of the course's own code, in canonical form."""

    references: list[list[Observation]]
    right_sizes: list[int]
    mistakes: dict[tuple[str, int], Observation]
    """By the mistake's name and the case's place."""


class Judge:
    """Holds one exercise's cases for one seed, with what references and mistakes do on them.

    Drawing and observing happens once; after that each verdict only compares.
    """

    def __init__(self, exercise: Exercise, probe: Probe, seed: int, combinations: int = MOST_COMBINATIONS) -> None:
        """`combinations` says how many are tried of what mistakes can make together; see `MOST_COMBINATIONS`."""
        self.exercise = exercise
        self.probe = probe
        self.cases = drawn(exercise, seed)
        self._seen: dict[tuple[str, int], Observation] = {}
        self._catalogue = KnownMistakes(exercise, self.cases, self._seen_of, combinations)

    def without(self, mistake: Mistake) -> Self:
        """The same judge, who has never heard of this mistake."""
        other = copy(self)
        exercise = replace(
            self.exercise,
            mistakes=tuple(m for m in self.exercise.mistakes if m is not mistake),
            combinations=lambda surprise: (
                (c for c in kind if mistake not in c.mistakes) for kind in self.exercise.combinations(surprise)
            ),
        )
        other.exercise, other._catalogue = exercise, replace(self._catalogue, exercise=exercise)
        return other

    def observe(self, symbol: Any) -> list[Observation]:
        """What the probe sees of `symbol` on every case. Runs `symbol` in this process."""
        return [self.observe_one(symbol, case) for case in self.cases]

    def observe_one(self, symbol: Any, case: Case) -> Observation:
        """The same on one of its cases."""
        if case.patient is None:
            return observe(self.probe, symbol, case.inputs)
        patient = case.patient()
        seen = observe(self.probe, symbol, {**case.inputs, "patient": asked_here(patient)})
        return seen if "error" in seen else {**seen, **patient.noted()}

    def keep(self, observations: Sequence[Observation]) -> list[Observation]:
        """Each observation in its canonical form; one that has not even the form to be reduced stays as it is."""
        return self._kept(observations)

    def _kept(self, observations: Sequence[Observation]) -> list[Observation]:
        return [self._kept_at(place, observation) for place, observation in enumerate(observations)]

    def _kept_at(self, place: int, observation: Observation) -> Observation:
        if _size_of(observation) > _ROOM + _TIMES_AS_LARGE * self.right_sizes[place]:
            return _too_large(self.references[0][place])
        reduced = self._reduced(observation, self.cases[place])
        return self._unreduced(observation, place) if reduced is None else reduced

    def _unreduced(self, observation: Observation, place: int) -> Observation:
        """An answer that has no canonical form: it may show what is wrong with it.

        What only a canonical form says ("the model learns") is not taken from whoever writes it down instead.
        """
        shown = self._unsaid(observation, place) | observation
        for reference, right in zip(self.exercise.references, self.references, strict=True):
            for key in observation.keys() & right[place].keys():
                its = {key: observation[key]}
                if not compare({key: right[place][key]}, its):
                    raw = self.observe_one(reference, self.cases[place])
                    if key not in raw or compare({key: raw[key]}, its):
                        shown[key] = Opaque("nothing like a right answer")
        return shown

    def _canonical(self, observation: Observation, place: int) -> Observation:
        reduced = self._reduced(observation, self.cases[place])
        return self._unsaid(observation, place) | observation if reduced is None else reduced

    def _unsaid(self, observation: Observation, place: int) -> Observation:
        """The words that only a canonical form has, as they are where there is nothing to say: it has said nothing.

        Those alone that stand beside something else to look at, which is seen: no aspect holds for want of words.
        """
        right = self.references[0][place]
        looks = [aspect.keys for aspect in self.exercise.aspects if aspect.counts]
        return {
            key: right[key]
            for key in right.keys() - observation.keys()
            if isinstance(right[key], str) and all(set(keys) & observation.keys() for keys in looks if key in keys)
        }

    def _reduced(self, observation: Observation, case: Case) -> Observation | None:
        """The canonical form; None where there is none: it expects arrays, and a learner may return anything."""
        if "error" in observation:
            return observation
        left = {key: value for key, value in observation.items() if key == CHANGED}
        try:
            reduced = self.exercise.canonical({k: v for k, v in observation.items() if k not in left}, case)
        except Exception:
            return None
        return {**reduced, **left}

    @cached_property
    def _right(self) -> list[list[Observation]]:
        return [self.observe(reference) for reference in self.exercise.references]

    @cached_property
    def references(self) -> list[list[Observation]]:
        """Per reference, its canonical observations."""
        return [
            [
                seen if (form := self._reduced(seen, case)) is None else form
                for seen, case in zip(right, self.cases, strict=True)
            ]
            for right in self._right
        ]

    @cached_property
    def right_sizes(self) -> list[int]:
        """Per case, how much there is in the largest right answer: nobody puts much larger ones into canonical form."""
        return [max(map(_size_of, answers)) for answers in zip(*self._right, strict=True)]

    def _seen_of(self, mistake: Mistake, place: int) -> Observation:
        """What a mistake does on one case. Observed when asked for: most differ from an answer on the first case."""
        key = (mistake.name, place)
        if key not in self._seen:
            case = self.cases[place]
            self._seen[key] = self._canonical(self.observe_one(mistake.implementation, case), place)
        return self._seen[key]

    @property
    def looked_up(self) -> frozenset[tuple[str, int]]:
        """The mistakes, by name, and the places of the cases in which it is known what they do."""
        names = {mistake.name for mistake in self.exercise.mistakes}
        return frozenset((name, place) for name, place in self._seen if name in names)

    def look_up(self, mistake: str, place: int) -> None:
        """Finds out what the mistake of that name does in the case at that place, if there are such."""
        matches = [each for each in self.exercise.mistakes if each.name == mistake]
        if matches and 0 <= place < len(self.cases):
            self._seen_of(matches[0], place)

    def memory(self) -> Memory:
        """What references and mistakes do, as far as it is known."""
        return Memory(self.references, self.right_sizes, dict(self._seen))

    def recall(self, memory: Memory) -> None:
        """Takes over what another judge of the same exercise and seed has found out."""
        self.references, self.right_sizes = memory.references, memory.right_sizes
        self._seen |= memory.mistakes

    def verdict(self, observations: Sequence[Observation]) -> Verdict:
        """The best verdict that any of the references allows."""
        return self.judged(self.keep(observations))

    def right_so_far(self, observations: Sequence[Observation]) -> bool:
        """Whether what was seen in the first cases may still earn full marks: all of them, or those asked so far."""
        got = self._kept(observations)
        return any(all(map(self._is_right, self.cases, expected, got)) for expected in self.references)

    def right_in(self, place: int, observation: Observation) -> bool:
        """Whether what was seen in the case at that place is right by itself, as one of the references has it."""
        case = self.cases[place]
        got = self._canonical(observation, place)
        return any(self._is_right(case, expected[place], got) for expected in self.references)

    def _is_right(self, case: Case, expected: Observation, got: Observation) -> bool:
        aspects = (*(aspect for aspect in self.exercise.aspects if aspect.counts), SETTINGS_UNTOUCHED)
        return not any(concerns(aspect, case, d) for d in compare(expected, got) for aspect in aspects)

    def judged(self, got: list[Observation], comparing: Comparing | None = None) -> Verdict:
        """The same for observations in their canonical form. `comparing` remembers parts that come again."""
        if all(seen.get("error", {}).get("type") == "NotImplementedError" for seen in got):
            return without_score(self.exercise, MISSING, blank_message(self.exercise.symbol))
        comparing = comparing or Comparing()
        verdicts: list[Verdict] = []
        for expected in self.references:
            verdicts.append(self._against(expected, got, comparing))
            if verdicts[-1].status == PASSED:  # what is right needs no diagnosis beside the other references
                return verdicts[-1]
        return max(verdicts, key=lambda verdict: verdict.score)

    def _against(self, expected: list[Observation], got: list[Observation], comparing: Comparing) -> Verdict:
        exercise = self.exercise
        differences = [comparing(e, g) for e, g in zip(expected, got, strict=True)]
        changed = next((d for diagnosis in differences for d in diagnosis if d.key == CHANGED), None)
        counting = [aspect for aspect in exercise.aspects if aspect.counts]
        aspects = (*counting, *([SETTINGS_UNTOUCHED] if changed else []))
        results = tuple(self._aspect(aspect, expected, differences) for aspect in aspects)
        earned = sum(a.weight for a, r in zip(aspects, results, strict=True) if r.passed)
        total = sum(aspect.weight for aspect in aspects)
        if all(result.passed for result in results):
            message = f"{exercise.symbol} is right."
            return Verdict(exercise.symbol, exercise.points, exercise.points, PASSED, message, results)
        worked = all(self._holds_somewhere(a, differences) for a in exercise.aspects if a.core)
        half_done = any(result.central and not result.passed for result in results)
        share = min(earned / total, MOST_WITHOUT_A_CENTRAL_ASPECT) if half_done else earned / total
        score = round(exercise.points * share, 2) if worked else 0.0
        status: Status = PARTIAL if score else FAILED
        if not score and all("error" in seen for seen in got):
            status = ERROR
        first = self._first(differences)
        results = tuple(
            replace(result, told=first is not None and self._is_about_the_kind(aspect, *first))
            for aspect, result in zip(aspects, results, strict=True)
        )
        diagnosis = diagnose(self._catalogue, expected, got, comparing)
        advice = _advice(diagnosis)
        patients = misjudged(exercise, self.cases, expected, got)
        told = first
        if first and not diagnosis.recast and (advice or (patients and first[1].kind == "values")):
            told = None
        another = self._another(diagnosis, told, differences)
        if another:
            advice = without_praise(advice)
        sentences = [advice] if advice else []
        if told:
            sentences.append(self._say(*told, differences))
        if another:
            sentences.append((_PERHAPS if sentences else "") + self._say(*another, differences))
        if patients:
            sentences.append(patients)
        if changed and (first or not advice):  # where nothing else is wrong, the advice says it
            sentences.append(say(changed))
        return Verdict(
            exercise.symbol,
            score,
            exercise.points,
            status,
            " ".join(sentences),
            results,
            diagnosis.mistakes[0].name if diagnosis.mistakes else None,
            self._evidence(*seen, expected, got)
            if first and (seen := self._to_be_shown(*first, differences))
            else None,
            advice,
            diagnosis.mistakes[0].reported_in.partition("#")[0] if diagnosis.mistakes else "",
            patients,
        )

    def _another(
        self, diagnosis: Diagnosis, told: tuple[int, Difference] | None, differences: list[list[Difference]]
    ) -> tuple[int, Difference] | None:
        """What goes wrong besides what is told of the answer anyway, if that can be told in a sentence of its own.

        Of two slips often one only has a name, or none, and the other is known by what it does. It does it where the
        one that has a name does no harm: in aspects in which that mistake is right.
        """
        if diagnosis.recast:
            return None
        if told and told[1].kind == "nan" and is_array(told[1].got) and bool(np.isnan(numbers(told[1].got)).all()):
            return None  # whatever is worked out of NaN is wrong as well
        key, sentence = (told[1].key, told[1].got if reports(told[1]) else "") if told else ("", "")
        for aspect in self.exercise.aspects:
            if aspect.name not in diagnosis.unexplained:
                continue
            for index, (case, in_case) in enumerate(zip(self.cases, differences, strict=True)):
                for difference in in_case:
                    if not concerns(aspect, case, difference) or not speaks_for_itself(difference):
                        continue
                    if diagnosis.mistakes:
                        is_news = case.patient is None or difference.kind != "error"
                    else:
                        is_news = reports(difference) and difference.key != key and difference.got != sentence
                    if is_news:
                        return index, difference
        return None

    def _say(self, index: int, first: Difference, differences: list[list[Difference]]) -> str:
        """What is wrong in a case, and what the case is."""
        case = self.cases[index]
        inputs = [f"{name} {text}" for name, value in shown(self.exercise, case).items() if (text := in_short(value))]
        where = f"Seen {case.label}" + (f" ({', '.join(inputs)})." if inputs else ".")
        alone = (
            first.key == "gradients" and first.kind == "values" and {d.key for d in differences[index]} == {first.key}
        )
        return f"{say(first, self.exercise.called)} {_ONLY_GRADIENTS if alone else ''}{where}"

    def _to_be_shown(
        self, index: int, first: Difference, differences: list[list[Difference]]
    ) -> tuple[int, Difference] | None:
        """What is put beside what was expected, in the case that is told of.

        An error is nothing to look at, and neither is a probe's own sentence. What that speaks of may be, unless it
        stands in place of a result.
        """
        if first.kind == "error" or (is_array(first.expected) and reports(first)):
            return None
        if not reports(first):
            return index, first
        case = self.cases[index]
        looked_at = (d for d in differences[index] for a in self.exercise.aspects if concerns(a, case, d))
        to_look_at = sorted((d for d in looked_at if not reports(d)), key=lambda d: not is_array(d.got))
        return (index, to_look_at[0]) if to_look_at else None

    def _evidence(self, index: int, first: Difference, expected: list[Observation], got: list[Observation]) -> Evidence:
        """The array that differs; where a list, a text or a dict differs somewhere, all of it."""
        case, whole = self.cases[index], expected[index].get(first.key)
        path, pair = first.path, (first.expected, first.got)
        if isinstance(whole, str | list | tuple | dict) and not is_array(first.expected):
            path, pair = first.key, (whole, got[index].get(first.key))
        beside = shown(self.exercise, case) if self.exercise.shown else {}
        return Evidence(case.label, path, *pair, place(path, self.exercise.called), beside)

    def _aspect(self, aspect: Aspect, expected: list[Observation], differences: list[list[Difference]]) -> AspectResult:
        fails = any(
            concerns(aspect, case, difference)
            for case, in_case in zip(self.cases, differences, strict=True)
            for difference in in_case
        )
        seen = fails or any(
            aspect.tags <= case.tags and _shows(aspect, right, in_case)
            for case, right, in_case in zip(self.cases, expected, differences, strict=True)
        )
        return AspectResult(aspect.name, not fails, aspect.meaning, aspect.core, seen, aspect.central)

    def _holds_somewhere(self, aspect: Aspect, differences: list[list[Difference]]) -> bool:
        return any(
            aspect.tags <= case.tags and not any(concerns(aspect, case, d) for d in in_case)
            for case, in_case in zip(self.cases, differences, strict=True)
        )

    def _is_about_the_kind(self, aspect: Aspect, index: int, difference: Difference) -> bool:
        """Whether an aspect is one of form, and this difference concerns it: one of shape is told as one."""
        formal = aspect.formal or (difference.kind != "error" and "values" not in aspect.kinds)
        return formal and concerns(aspect, self.cases[index], difference)

    def _first(self, differences: list[list[Difference]]) -> tuple[int, Difference] | None:
        """The place of the smallest failing case, and what is to be said first about it; None where none fails."""
        for aspect in sorted(self.exercise.aspects, key=lambda aspect: not aspect.core):
            for index, in_case in enumerate(differences):
                for difference in in_case:
                    if concerns(aspect, self.cases[index], difference):
                        return index, _cause(difference, in_case)
        return None


def _cause(difference: Difference, in_case: list[Difference]) -> Difference:
    """What says most of all that differs in a case: numbers or a shape are what comes of it.

    Numbers differ where a module has no bias; that it has none says more. So does a probe's own sentence.
    """
    if difference.kind not in ("shape", "mask", "values") or reports(difference):
        return difference
    missing = filter(names_a_missing_part, in_case if difference.kind == "values" else ())
    return next(chain(missing, filter(reports, in_case)), difference)


def _shows(aspect: Aspect, expected: Observation, differences: list[Difference]) -> bool:
    """Whether something can be seen of an aspect in a case: a result is there, and of a form that can be compared."""
    shapeless = {d.key for d in differences if d.kind in ("error", "type", "shape")}
    return "error" not in shapeless and any(key in expected and key not in shapeless for key in (*aspect.keys, "error"))


def blank_message(symbol: str) -> str:
    """Said of an exercise that nobody has begun."""
    return f"{symbol} is still blank: write it in its cell, run that cell, then check again."


def ours_message(symbol: str) -> str:
    """Said to somebody who goes on with the course's own answer."""
    return (
        f"This is the course's own {symbol}. It earns no points, but every cell below works with it. "
        "Write your own whenever you like."
    )


def is_ours(verdict: Verdict) -> bool:
    """Whether that was said of it."""
    return verdict.status == MISSING and verdict.message == ours_message(verdict.symbol)


def _advice(diagnosis: Diagnosis) -> str:
    """What to tell somebody who made these mistakes.

    Each author thought of one mistake: what a result is with it, it need not be with another one.
    """
    if len(diagnosis.mistakes) == 1:
        return diagnosis.mistakes[0].advice
    each = [without_praise(mistake.advice) for mistake in diagnosis.mistakes]
    return f"{f' {_SECOND}'.join(each)} {_EACH_ALONE}" if each else ""


def paragraphs(message: str) -> list[str]:
    """A verdict's message, with what is said of a second mistake by itself.

    >>> paragraphs("You add. There seems to be a second mistake, too. You round.")
    ['You add.', 'There seems to be a second mistake, too. You round.']
    """
    return _PARAGRAPH.split(message)


def without_praise(advice: str) -> str:
    """Advice whose author thought of one mistake: "The order is right, but your ids ..." isn't true of two."""
    praise = _PRAISE.match(advice)
    if praise is None:
        return advice
    rest = advice[praise.end() :]
    return f"{praise['subject']} {rest}" if praise["pronoun"] else rest[0].upper() + rest[1:]


def _too_large(right: Observation) -> Observation:
    """Stands for an answer that nobody puts into canonical form."""
    return dict.fromkeys(right.keys() - {"error"}, Opaque("something far larger than any right answer"))


def _size(case: Case) -> int:
    """How many numbers and words there are in a case."""
    return sum(_amount(value, size_of) for value in case.inputs.values())


def _size_of(answer: Value) -> int:
    """How much there is to go through in an answer; rows that hold no numbers count too."""
    return _amount(answer, lambda array: max(size_of(array), *array.shape, 0))


def _amount(value: Value, in_array: Callable[[Any], int]) -> int:
    if is_array(value):
        return in_array(value)
    if isinstance(value, dict):
        return sum(_amount(item, in_array) for item in value.values())
    if isinstance(value, list | tuple):
        return sum(_amount(item, in_array) for item in value)
    return 1
