"""Which known mistakes an answer makes, told by what it does: alone, or along with a second slip.

A mistake that does the same in every case is recognised at once. Otherwise the core of the exercise decides: a mistake
is recognised when the answer agrees with it there, and every disagreement lies in aspects that the answer gets wrong in
its own way. A mistake that leaves the core alone is recognised by the aspects that it spoils. Where that gives no two
names, mistakes that are edits of the right answer are made together: two that then do the same in every case are it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import chain, islice

import numpy as np

from cellcheck.authoring.arrays import as_tensor, is_array, is_tensor, numbers
from cellcheck.authoring.spec import Aspect, Case, Combination, Exercise, Mistake, Observation, Surprise, Value
from cellcheck.checking.compare import Comparing, Difference, compare, concerns
from cellcheck.checking.words import reads_alike, reports

SURVEYED = 3
"""How many cases say which two mistakes are tried first."""
MOST_COMBINATIONS = 50
"""So many pairs of mistakes are tried, the least surprising first, and as many mistakes in another right answer. By a
clock, one learner would be told what another isn't."""


@dataclass(frozen=True)
class KnownMistakes:
    """The mistakes of an exercise, and what they do in its cases."""

    exercise: Exercise
    cases: Sequence[Case]
    seen_of: Callable[[Mistake, int], Observation]
    """What a mistake does in the case at that place. It is expensive: most mistakes differ from an answer at once."""
    combinations: int = MOST_COMBINATIONS
    """How many of each kind are tried."""
    comparing: Comparing = field(default_factory=Comparing)
    """Compares mistakes with right answers."""


@dataclass(frozen=True)
class Diagnosis:
    """The mistakes that were recognised, the main one first: none, one, or two at once."""

    mistakes: tuple[Mistake, ...] = ()
    recast: bool = False
    """Whether the first was only recognised in another kind of container: a NumPy array where a tensor should be."""
    unexplained: frozenset[str] = frozenset()
    """The names of the aspects in which the answer is wrong, and the one mistake that was recognised, if any, isn't."""


def diagnose(
    catalogue: KnownMistakes, expected: list[Observation], got: list[Observation], comparing: Comparing | None = None
) -> Diagnosis:
    """What an answer that is not right has got wrong, as far as the catalogue knows it.

    `comparing` may remember how parts of this answer differ from what else there is.
    """
    return _Search(catalogue, expected, got, comparing or Comparing()).diagnosis()


def core_keys(exercise: Exercise) -> tuple[str, ...]:
    """The names of the observations that the core of an exercise looks at."""
    return tuple(dict.fromkeys(key for aspect in exercise.aspects if aspect.core for key in aspect.keys))


def says_little(keys: Sequence[str], expected: Sequence[Observation]) -> bool:
    """Whether all that comes out is one of two words, such as True and False. Wrong answers look alike then."""
    values = [seen[key] for seen in expected if "error" not in seen for key in keys if key in seen]
    return all(isinstance(value, bool | str) for value in values) and len(set(values)) <= 2


@dataclass(frozen=True)
class _Search:
    catalogue: KnownMistakes
    expected: list[Observation]
    got: list[Observation]
    comparing: Comparing

    def diagnosis(self) -> Diagnosis:
        for mistake in self.exercise.mistakes:
            if self._same_everywhere(mistake):
                return Diagnosis((mistake,))
        diagnosis = self._by_aspects()
        if len(diagnosis.mistakes) > 1:
            return diagnosis
        if combined := self._combined(diagnosis.mistakes):
            return combined
        spoilt = (self._spoilt_in(mistake, place) for mistake in diagnosis.mistakes for place in self.places)
        return replace(diagnosis, unexplained=self.failing.difference(*spoilt))

    def _combined(self, known: tuple[Mistake, ...]) -> Diagnosis | None:
        """Mistakes that together do the same in every case, the one that is known first; few are looked at."""
        if self._says_one_word(self.got) or not self.catalogue.combinations:  # many pairs end in True, always
            return None
        kinds = self.exercise.combinations(self._surprise(known))  # of one mistake, in another right answer, and of two
        few = chain.from_iterable(islice(kind, self.catalogue.combinations) for kind in kinds)
        for combination in few:
            if self._same_everywhere(combination.answer) and self._each_shows(combination):
                return Diagnosis(tuple(sorted(combination.mistakes, key=lambda mistake: mistake not in known)))
        return None

    def _surprise(self, known: tuple[Mistake, ...]) -> Surprise:
        """In how many observations the answer is wrong where none of the mistakes is, or the reverse.

        To try what two mistakes do together is expensive, and most pairs can be ruled out: where neither of them shows,
        the answer is right, and where only one of them does, the answer does the same. Pairs of one that is known come
        first, and of one whose sentence the answer's words hold.
        """
        surveyed = self.places if self.says_little else self.places[:SURVEYED]  # of one word, a few cases tell nothing
        wrong = [_keys(self.comparing(self.expected[place], self.got[place])) for place in surveyed]
        most = sum(map(len, self.expected))  # no sum of surprises is larger

        @cache
        def spoilt(mistake: Mistake) -> list[set[str]]:
            return [_keys(self._spoilt_at(mistake, place)) for place in surveyed]

        @cache
        def unlike(mistake: Mistake) -> list[set[str]]:
            return [_keys(self._apart(mistake, place)) for place in surveyed]

        @cache
        def likely(mistake: Mistake) -> bool:
            return mistake in known or any(self._says_so(mistake, place) for place in surveyed)

        def surprise(mistakes: tuple[Mistake, ...]) -> int | None:
            if len(mistakes) == 1:  # in another right answer it may look otherwise, but not quite
                (own,) = map(spoilt, mistakes)
                shows = any(got & keys for got, keys in zip(wrong, own, strict=True))
                return sum(len(got ^ keys) for got, keys in zip(wrong, own, strict=True)) if shows else None
            one, other = mistakes
            sum_of_both = 0
            for at, got in enumerate(wrong):
                first, second = spoilt(one)[at], spoilt(other)[at]
                if got - first - second or (first - second) & unlike(one)[at] or (second - first) & unlike(other)[at]:
                    return None
                sum_of_both += len(got ^ (first | second))
            return sum_of_both + most * sum(not likely(mistake) for mistake in mistakes)

        return surprise

    def _says_so(self, mistake: Mistake, place: int) -> bool:
        """Whether a probe says the same of both in one case, or of one a part of what it says of the other."""
        seen = self.catalogue.seen_of(mistake, place)
        told = [each for each in self.comparing(self.expected[place], self.got[place]) if reports(each)]
        both = [(each.got, seen.get(each.key), each.expected) for each in told]
        return any(
            isinstance(its, str)
            and " " in its
            and its != (right if isinstance(right, str) else "")
            and (its in words or words in its)
            for words, its, right in both
        )

    def _each_shows(self, combination: Combination) -> bool:
        """Whether each of two mistakes shows, wherever it would by itself, and the answer is wrong somewhere, in a way
        that tells, as the other is not.

        Two mistakes often leave little of an answer: the same for every row, say. Unless one of them does that by
        itself, other ways lead there, too.
        """
        mistakes = combination.mistakes
        if len(mistakes) == 1:
            return True
        if any(self._is_spared(mistake, place) for mistake in mistakes for place in self.places):
            return False
        alone = [[self.catalogue.seen_of(mistake, place) for place in range(len(self.got))] for mistake in mistakes]
        if any(self._says_one_word(seen) for seen in alone):  # this answer doesn't
            return False
        telling = [
            place
            for place in self.places
            if self.comparing(self.expected[place], self.got[place])
            and self._tells(combination.answer, place)
            and (not self._says_nothing(self.got, place) or any(self._says_nothing(seen, place) for seen in alone))
        ]
        return all(any(self._apart(mistake, place) for place in telling) for mistake in mistakes)

    def _is_spared(self, mistake: Mistake, place: int) -> bool:
        """Whether an answer is right in one case under a name under which this mistake is wrong.

        A second mistake may make up for the first there. But then nobody made the two: this form of a slip does some
        harm that the answer's doesn't.
        """
        wrong = {difference.key for difference in self.comparing(self.expected[place], self.got[place])}
        return "error" not in wrong and bool(_keys(self._spoilt_at(mistake, place)) - wrong)

    def _by_aspects(self) -> Diagnosis:
        first = self._of_the_core()
        recast = first is None and not self.says_little
        if recast:
            first = self._of_the_core(recast=True)
        left = self.failing - (self._alike_in(first, recast) if first else frozenset())
        if first is None and any(aspect.name in left for aspect in self.core):
            if not (recast and self._right_but_for_the_container):
                return Diagnosis()
            left -= {aspect.name for aspect in self.core}
        names = [first] if first else []
        while len(names) < 2 and left and (other := self._beside_the_core(left, names, recast)):
            names.append(other)
            left -= self._alike_in(other, recast)
        elsewhere = recast and any(aspect.name in self.failing for aspect in self.core)
        return Diagnosis(tuple(names), elsewhere and bool(names))

    @property
    def exercise(self) -> Exercise:
        return self.catalogue.exercise

    @cached_property
    def core(self) -> tuple[Aspect, ...]:
        return tuple(aspect for aspect in self.exercise.aspects if aspect.core)

    @cached_property
    def core_keys(self) -> tuple[str, ...]:
        return core_keys(self.exercise)

    @cached_property
    def says_little(self) -> bool:
        return says_little(self.core_keys, self.expected)

    def _says_one_word(self, seen: Sequence[Observation]) -> bool:
        """Whether one of two words is asked for, True or False, say, and these never give both."""
        if not self.says_little:  # nobody writes large answers out to find that
            return False
        right, words = ({repr(one.get(key)) for one in of for key in self.core_keys} for of in (self.expected, seen))
        return not right <= words

    @cached_property
    def failing(self) -> frozenset[str]:
        """The names of the aspects in which the answer is wrong."""
        return frozenset(
            name
            for place, (e, g) in enumerate(zip(self.expected, self.got, strict=True))
            for name in self._concerned(place, self.comparing(e, g))
        )

    @cached_property
    def places(self) -> list[int]:
        """The cases, those of the core first, and among these the ones in which the answer is wrong: they tell most."""
        return sorted(
            range(len(self.expected)),
            key=lambda place: (
                not self._is_core(place),
                not self.comparing(self.expected[place], self.got[place], self.core_keys),
            ),
        )

    @cached_property
    def _right_but_for_the_container(self) -> bool:
        return not any(
            self._wrong_in_the_core(place, compare(self._core_of(e), _as_in(e, g, self.core_keys)))
            for place, (e, g) in enumerate(zip(self.expected, self.got, strict=True))
        )

    def _core_of(self, seen: Observation) -> Observation:
        return {key: seen[key] for key in (*self.core_keys, "error") if key in seen}

    def _is_core(self, place: int) -> bool:
        return any(aspect.tags <= self.catalogue.cases[place].tags for aspect in self.core)

    def _concerned(self, place: int, differences: list[Difference]) -> set[str]:
        case = self.catalogue.cases[place]
        return {a.name for a in self.exercise.aspects for d in differences if concerns(a, case, d)}

    def _wrong_in_the_core(self, place: int, differences: list[Difference]) -> bool:
        return any(concerns(a, self.catalogue.cases[place], d) for d in differences for a in self.core)

    def _spoilt_at(self, mistake: Mistake, place: int) -> list[Difference]:
        """How a mistake differs from the right answer in one case."""
        return self.catalogue.comparing(self.expected[place], self.catalogue.seen_of(mistake, place))

    def _apart(
        self, mistake: Mistake, place: int, keys: tuple[str, ...] = (), recast: bool = False
    ) -> list[Difference]:
        """How the answer differs from a mistake in one case, under `keys` only if given."""
        expected, seen, got = self.expected[place], self.catalogue.seen_of(mistake, place), self.got[place]
        if "error" in seen and "error" in got:
            # Where the contract is to refuse, one error is as good as another.
            same = "error" in expected or seen["error"]["type"] == got["error"]["type"]
            return [] if same else [Difference("error", "error", seen["error"], got["error"])]
        if recast:
            return compare(_as_in(expected, seen, keys), _as_in(expected, got, keys))
        return [difference for difference in self.comparing(seen, got, keys) if not reads_alike(difference)]

    def _same_everywhere(self, mistake: Mistake, keys: tuple[str, ...] = ()) -> bool:
        """Whether it does the same in every case, under these keys if given, and is wrong somewhere."""
        for asked in dict.fromkeys((self.core_keys, keys)):  # what lies under the core's keys is soon compared
            if any(self._apart(mistake, place, asked) for place in self.places):
                return False
        return any(
            self._tells(mistake, place) and (not keys or difference.key in (*keys, "error"))
            for place in self.places
            for difference in self._spoilt_at(mistake, place)
        )

    def _tells(self, mistake: Mistake, place: int) -> bool:
        """Whether what a mistake and the answer have in common in one case is more than the type of an error.

        Many an answer stops with a TypeError. Only what Python says of it tells one from the other, unless the answer
        raises its error itself, in words of its own.
        """
        seen, got = (one.get("error") for one in (self.catalogue.seen_of(mistake, place), self.got[place]))
        if seen is None or got is None:
            return True
        return _says_the_same(seen, got) or str(got.get("line", "")).startswith("raise ")

    def _says_nothing(self, seen: Sequence[Observation], place: int) -> bool:
        """Whether all that is wrong in one case is idle: nothing, no number, or the same for all rows or cases."""
        wrong = {difference.key for difference in self.comparing(self.expected[place], seen[place])}
        return bool(wrong) and "error" not in wrong and all(self._is_idle(key, seen, place) for key in wrong)

    def _is_idle(self, key: str, seen: Sequence[Observation], place: int) -> bool:
        expected, got = (_parts(one[place].get(key)) for one in (self.expected, seen))
        if not expected:  # a single value: what do the other cases say?
            expected, got = ([one[key] for one in cases if key in one] for cases in (self.expected, seen))
            if len(got) == 1:
                return False
        if any(isinstance(part, str | bool) for part in got):
            return False
        return _different(got) < 2 <= _different(expected)

    def _of_the_core(self, recast: bool = False) -> Mistake | None:
        """The mistake that agrees with the answer in the core and is wrong there; of several, the closest elsewhere.

        Where that leaves several, it is the one from which the answer differs in the fewest places.
        """
        if self.says_little:
            return next((m for m in self.exercise.mistakes if self._same_everywhere(m, self.core_keys)), None)
        candidates = []
        for mistake in self.exercise.mistakes:
            if not self._agrees_in_the_core(mistake, recast):
                continue
            apart = set().union(*(self._unaccounted(mistake, place, recast) for place in self.places))
            if apart <= self.failing:
                candidates.append((len(apart), mistake))
        fewest = min((count for count, _ in candidates), default=0)
        closest = [mistake for count, mistake in candidates if count == fewest]
        if len(closest) < 2:
            return closest[0] if closest else None
        return min(closest, key=lambda mistake: sum(len(self._apart(mistake, place)) for place in self.places))

    def _unaccounted(self, mistake: Mistake, place: int, recast: bool) -> set[str]:
        """The aspects in which answer and mistake disagree in one case, other than where the answer is wrong anyway."""
        wrong = {difference.key for difference in self.comparing(self.expected[place], self.got[place])}
        if "error" in wrong:
            return set()
        aspects = self._apart(mistake, place, recast=recast)
        return self._concerned(place, [difference for difference in aspects if difference.key not in wrong])

    def _agrees_in_the_core(self, mistake: Mistake, recast: bool) -> bool:
        wrong = False
        for place in filter(self._is_core, self.places):
            if self._wrong_in_the_core(place, self._apart(mistake, place, self.core_keys, recast)):
                return False
            seen, expected = self.catalogue.seen_of(mistake, place), self.expected[place]
            differences = (
                compare(self._core_of(expected), _as_in(expected, seen, self.core_keys))
                if recast and "error" not in seen
                else self._spoilt_at(mistake, place)
            )
            if self._wrong_in_the_core(place, differences):
                # In the core an error has to say the same. A result that is not there tells nothing at all.
                if "error" in seen:
                    wrong |= _says_the_same(seen["error"], self.got[place]["error"])
                else:
                    wrong |= any(key in seen for key in self.core_keys)
        return wrong

    def _beside_the_core(self, left: frozenset[str], but: list[Mistake], recast: bool) -> Mistake | None:
        """The mistake that is wrong only where the answer is, leaves the core alone, and explains most of what is left.

        The answer must do the same in most of the aspects in which the mistake is wrong; in all of them, where only
        words come out. None where two mistakes explain it equally well: to go on where an error is asked for looks
        alike whatever the reason.
        """
        scored = []
        for mistake in self.exercise.mistakes:
            own = self._spoilt(mistake)
            if not own & left or mistake in but or (not but and not self._alike_where_refused(mistake)):
                continue
            alike = own & self._alike_in(mistake, recast)
            shown = [p for p in self.places if alike & self._spoilt_in(mistake, p) and self._tells(mistake, p)]
            if not shown or (but and all(self._says_nothing(self.got, place) for place in shown)):
                continue
            if alike & left and (alike == own or (2 * len(alike) > len(own) and not self.says_little)):
                scored.append((len(own - alike), -len(alike & left), mistake))
        best = min((one[:2] for one in scored), default=None)
        candidates = [mistake for *score, mistake in scored if tuple(score) == best]
        return candidates[0] if candidates and (len(candidates) == 1 or not but) else None

    def _alike_where_refused(self, mistake: Mistake) -> bool:
        """Whether the answer does what the mistake does where both go on although an error is asked for."""
        refused = [place for place in self.places if "error" in self.expected[place]]
        return not any(
            self._apart(mistake, place)
            for place in refused
            if "error" not in self.got[place] and "error" not in self.catalogue.seen_of(mistake, place)
        )

    def _spoilt(self, mistake: Mistake) -> frozenset[str]:
        """The aspects in which a mistake is wrong; none where the answer is right in one, or where one is the core."""
        allowed = self.failing - {aspect.name for aspect in self.core}
        spoilt: set[str] = set()
        for place in self.places:
            spoilt |= self._spoilt_in(mistake, place)
            if spoilt - allowed or (self.says_little and self._told_by_the_answer(spoilt)):
                return frozenset()
        return frozenset(spoilt)

    def _spoilt_in(self, mistake: Mistake, place: int) -> set[str]:
        return self._concerned(place, self._spoilt_at(mistake, place))

    def _told_by_the_answer(self, names: set[str]) -> bool:
        return any(a.name in names and set(a.keys) & set(self.core_keys) for a in self.exercise.aspects)

    def _alike_in(self, mistake: Mistake, recast: bool = False) -> frozenset[str]:
        """The aspects in which the answer does what the mistake does."""
        apart = {
            name for place in self.places for name in self._concerned(place, self._apart(mistake, place, recast=recast))
        }
        return frozenset(a.name for a in self.exercise.aspects) - apart


def _keys(differences: Sequence[Difference]) -> set[str]:
    """Where there are differences, but for sentences beside the result: of two mistakes they may tell one."""
    return {
        each.key
        for each in differences
        if not (reports(each) and (each.expected is None or isinstance(each.expected, str)))
    }


def _parts(value: Value) -> list[Value]:
    """The rows, entries or items of a value; of a single row its entries. A single value has none."""
    if is_array(value):
        value = numbers(value).tolist()
    if isinstance(value, dict):
        value = list(value.values())
    if not isinstance(value, list | tuple):
        return []
    return _parts(value[0]) or list(value) if len(value) == 1 else list(value)


def _different(parts: Sequence[Value]) -> int:
    """How many of them differ. What is not there, and what is not a number, are no parts at all."""
    return len({repr(part) for part in parts} - {"None", "nan", "inf", "-inf"})


def _says_the_same(one: Value, other: Value) -> bool:
    return bool(one.get("message") == other.get("message"))


def _as_in(expected: Observation, seen: Observation, keys: tuple[str, ...]) -> Observation:
    """What was seen, under `keys` only if given, in the containers that were expected: tensors, arrays, numbers."""
    if "error" in seen:
        return seen
    return {key: _recast(expected.get(key), seen[key]) for key in keys or seen if key in seen}


def _recast(expected: Value, value: Value) -> Value:
    if isinstance(value, bool | str | dict) or value is None or type(expected) is type(value):
        return value
    try:
        if is_tensor(expected):
            return as_tensor(value, None if isinstance(value, np.ndarray) else expected.dtype)
        if isinstance(expected, np.ndarray):
            return np.asarray(value, dtype=None if is_tensor(value) else expected.dtype)
        if isinstance(expected, float):
            return float(value)
    except (TypeError, ValueError, RuntimeError):
        pass
    return value
