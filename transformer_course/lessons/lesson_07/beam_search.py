"""`beam_search`: how it is tried.

Cases are drawn until each wrong way goes wrong where it should, and all sensible ways agree.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import combinations, permutations

import numpy as np
import torch

from cellcheck.authoring.aspects import main, shape, special
from cellcheck.authoring.spec import Aspect, Case, Trial
from transformer_course.lessons.lesson_07.drawing import OF_IDS, SAID, Task, draw_task, in_full_width
from transformer_course.lessons.lesson_07.searching import CUT_TOO, WRONG, Ways, searcher
from transformer_course.lessons.lesson_07.trees import Ids, Tree, trees

Wanted = Callable[[Tree, Ids], bool]
LONGEST = 4  # tokens, in all of the toy answers

BEST = main(
    "the best of several prefixes",
    meaning="The best answer in the beam is returned, even where greedy decoding would miss it.",
)
NARROW = special(
    "exactly beam_width prefixes", "", 20.0, "No more than beam_width prefixes are kept at each step, all together."
)
PENALTY = special(
    "the length penalty", "", 10.0, "length_penalty decides between short answers and long ones as the docstring says."
)
CUT = special("answers that are cut off compete", meaning="An answer that is cut off at max_length can win too.")
SMALL = special(
    "a batch of one, a wide beam",
    meaning="A batch of one, max_length = 1 and a beam wider than the vocabulary give the right answer too.",
)


def _on(tree: Tree, name: str, width: int, penalty: float) -> Ids:
    """What a wrong way would find, without calling the model; after an end, nothing follows."""
    places = {ids: place for place, ids in enumerate(tree.follows)}
    with_nothing = torch.cat([tree.logits, torch.zeros_like(tree.logits[:1])])

    def logits_of(beginnings: list[list[int]]) -> torch.Tensor:
        return with_nothing[[places.get(tuple(ids), -1) for ids in beginnings]]

    return tuple(WRONG[name].run(logits_of, tree.end_id, tree.max_length, width, penalty))


def _shows(name: str, task: Task, width: int, penalty: float) -> bool:
    """Whether a wrong way that goes on after an end finds something else: that needs the model itself."""
    late, right = (
        searcher(ways)(task.model(), task.source, task.start_id, task.end_id, task.max_length, width, penalty)
        for ways in (WRONG[name], Ways())
    )
    return not torch.equal(late, right)


@dataclass(frozen=True)
class Plan:
    """A case to be drawn: sources on which all sensible kinds of beam search find an answer that is `wanted`.

    Each way in `shows` goes wrong for at least one of them, in `apart` two ways go wrong differently. So does the way
    `after_an_end`, which asks the model what follows an end. There are up to `most` sources, with different answers.
    """

    label: str
    about: Aspect
    wanted: Wanted
    width: int
    shows: tuple[str, ...] = ()
    apart: tuple[tuple[str, str], ...] = ()
    max_length: int = LONGEST
    penalty: float | None = None
    most: int = 9
    after_an_end: str = ""

    def fill(self, pool: Task, forest: list[Tree]) -> Case | None:
        """The case, if these sources will do."""
        power = self.penalty or 0.0
        rows: dict[Ids, int] = {}
        scores: dict[int, float] = {}
        missing: set[str | tuple[str, str]] = {*self.shows, *self.apart}
        for row, longer in enumerate(forest):
            tree = replace(longer, max_length=self.max_length)
            answer, clear = tree.search(self.width, power)
            if clear < 0.02 or answer in rows or not self.wanted(tree, answer):
                continue
            if not tree.agreed(answer, self.width, power):
                continue
            seen = {way for way in missing if self._differ(way, tree, answer)}
            if seen or len(rows) < min(3, self.most):
                rows[answer] = row
                scores[row] = tree.answers()[answer] / float(len(answer) ** power)
                missing -= seen
            if len(rows) == self.most:
                break
        if missing or len(rows) < min(3, self.most):
            return None
        # The best score comes second: whoever lets it compete for the next sources too finds nothing else there.
        ranked = sorted(scores, key=scores.__getitem__, reverse=True)
        task = replace(pool, source=pool.source[[*ranked[1:2], ranked[0], *ranked[2:]]])
        task = replace(task, max_length=self.max_length)
        more = {} if self.penalty is None else {"length_penalty": self.penalty}
        if self.after_an_end and not _shows(self.after_an_end, task, self.width, power):
            return None
        return Case.of(self.label, self.about, **task.inputs(beam_width=self.width, **more))

    def _differ(self, way: str | tuple[str, str], tree: Tree, answer: Ids) -> bool:
        """Whether a wrong way finds another answer, or two wrong ways find two."""
        one, other = way if isinstance(way, tuple) else (way, None)
        power = self.penalty or 0.0
        return _on(tree, one, self.width, power) != (_on(tree, other, self.width, power) if other else answer)


RANKING = ("last_token_alone", "raw_logits_added", "probabilities_added")
ALWAYS = ("greedy", "branches_once", "worst_kept", *RANKING, "first_to_end", "worst_of_all")


def cases(generator: np.random.Generator) -> list[Case]:
    penalty = round(float(generator.uniform(1.3, 1.5)), 2)

    def better(tree: Tree, answer: Ids) -> bool:
        return answer == tree.best() and answer != tree.greedy() and answer[-1] == tree.end_id

    def greedy_ends(tree: Tree, answer: Ids) -> bool:
        return answer[-1] == tree.end_id and answer != tree.best() and len(answer) < tree.max_length

    def beam_misses_the_best(tree: Tree, answer: Ids) -> bool:
        spared = (CUT_TOO, "ended_answers_forgotten", "goes_on_for_one_step")
        if answer == tree.best() or answer[-1] == tree.end_id:  # to look a step further is wrong here for certain
            return False
        return all(_on(tree, way, 2, 0.0) == answer for way in spared)

    def ends_at_once(tree: Tree, answer: Ids) -> bool:
        return answer == (tree.end_id,)

    def best_of_all(tree: Tree, answer: Ids) -> bool:
        return answer == tree.best()

    def best_score_of_all(tree: Tree, answer: Ids) -> bool:
        return answer == tree.best(lambda ids, total: total / float(len(ids) ** penalty))

    of_length = ("penalty_ignored", "end_not_counted", "start_counted", "penalty_without_a_power")
    ended = ("ends_not_seen", "ended_answers_forgotten")
    narrow = ("never_pruned", "one_more_kept", "ends_not_seen")
    wider = (("never_pruned", "one_more_kept"),)
    of_penalty = (
        *of_length,
        "penalty_multiplied",
        "stops_with_the_best_so_far",
        "stops_with_the_best_score_so_far",
    )
    grows = ("never_pruned", "so_many_of_each")
    long = (*ALWAYS, *ended, "cut_answers_forgotten", *of_penalty)
    cut = (*ALWAYS, *ended, "cut_answers_forgotten")
    rankings = tuple(combinations(RANKING, 2))
    of_score = (*of_length, "penalty_multiplied")
    apart = (
        *combinations(of_penalty, 2),
        *((f"{one}, {CUT_TOO}", other) for one, other in permutations(of_score, 2)),  # two slips are no third one
    )
    small = "on a batch of one with max_length = 1, a beam wider than the vocabulary, and length penalty 0"
    extended, longer = "ended_answers_extended", f"with a length penalty of {penalty}"
    plans = [
        Plan("with beam_width = 2", BEST, better, 2, (*ALWAYS, *ended), rankings, after_an_end=extended),
        Plan("with beam_width = 3", BEST, better, 3, (*ALWAYS, *ended), rankings, after_an_end=extended),
        Plan("with beam_width = 1", NARROW, greedy_ends, 1, narrow, wider),
        Plan(
            "with beam_width = 2, where a third prefix would lead to another answer",
            NARROW,
            beam_misses_the_best,
            2,
            grows,
            most=1,
        ),
        Plan(longer, PENALTY, best_score_of_all, 12, long, apart, penalty=penalty, after_an_end="goes_on_for_one_step"),
        Plan("where the best answer is cut off at max_length", CUT, best_of_all, 3, cut, max_length=3),
        Plan(small, SMALL, ends_at_once, 50, max_length=1, penalty=0.0, most=1),
    ]
    filled: dict[str, Case] = {}
    while len(filled) < len(plans):
        pool = draw_task(generator, 60, LONGEST, letters=3, sharpness=0.9)
        forest = trees(pool)
        for plan in plans:
            if plan.label not in filled and (case := plan.fill(pool, forest)):
                filled[plan.label] = case
    return list(filled.values())


TRIAL = Trial(
    module="transformer_course.beam",
    points=4,
    cases=cases,
    canonical=in_full_width,
    called=SAID,
    aspects=(shape(), BEST, NARROW, PENALTY, CUT, SMALL, *OF_IDS),
)
