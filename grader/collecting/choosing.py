"""Which of a learner's notebooks counts, and which lesson a download is about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from grader.collecting.names import CLAIM, PLAIN
from grader.collecting.reading import Doubt
from grader.collecting.sorting import Submission

Ask = Callable[[str], bool]
"""A person who answers a question with yes or no."""


def counting(submissions: Sequence[Submission]) -> tuple[list[Submission], list[Doubt]]:
    """Of each learner and lesson the submission that counts, and what nobody but a person can decide."""
    groups: dict[tuple[str, str, str], list[Submission]] = {}
    for made in submissions:
        groups.setdefault((made.lesson, made.student.casefold(), made.title), []).append(made)
    found: list[Submission] = []
    doubts: list[Doubt] = []
    for _, group in sorted(groups.items()):
        known = [made for made in group if made.owner.platform != CLAIM]
        if known and len(known) < len(group):
            doubts += [
                Doubt(made.shown, f"It says that it is {made.student}'s, who handed in another one: whose is it?")
                for made in group
                if made not in known
            ]
        one, why = choose(known or group)
        if one is not None:
            found.append(one)
        else:
            doubts += [Doubt(made.shown, why) for made in group]
    return whole(found), doubts


def whole(found: Sequence[Submission]) -> list[Submission]:
    """The same, with all notebooks of one learner for a plain assignment in one submission."""
    groups: dict[tuple[str, str], list[Submission]] = {}
    for made in found:
        groups.setdefault((made.lesson, made.student), []).append(made)
    return [group[0] if len(group) == 1 else _joined(group) for group in groups.values()]


def _joined(group: Sequence[Submission]) -> Submission:
    first, *rest = group
    others = {name: file for made in group for name, file in made.others.items()}
    times = [made.time for made in group if made.time is not None]
    return replace(
        first,
        digest=" ".join(made.digest for made in group),
        blank=all(made.blank for made in group),
        rank=max(made.rank for made in group),
        time=max(times, default=None),
        late=any(made.late for made in group),
        others=others | {f"{made.title}.ipynb": made.file for made in rest},
        notes=tuple(dict.fromkeys(note for made in group for note in made.notes)),
    )


def choose(group: Sequence[Submission]) -> tuple[Submission | None, str]:
    """The submission that counts of one learner's for one lesson; or None, and why nobody can tell."""
    people = {made.owner.key: made for made in group}
    if len(people) > 1 and not all(made.sure for made in group):
        who = " and ".join(_in_full(made) for made in people.values())
        return None, f"Two learners would get the folder {group[0].student} ({who}): tell them apart with --roster."
    different = list({made.digest: made for made in group}.values())
    begun = [made for made in different if not made.blank] or different
    passed_over = "a blank one was ignored" if len(begun) < len(different) else ""
    if len(begun) == 1:
        return (replace(begun[0], notes=(*begun[0].notes, passed_over)) if passed_over else begun[0]), ""
    ranked = len({made.owner.platform for made in begun}) == 1 and all(made.rank for made in begun)
    order = sorted(begun, key=lambda made: made.rank if ranked else (made.file.modified,))
    newest, before = order[-1], order[-2]
    if (newest.rank == before.rank) if ranked else (newest.file.modified == before.file.modified):
        return None, "There are two different notebooks of this learner, and nothing says which is newer."
    note = f"{len(begun)} notebooks; the newest counts, {newest.shown}"
    return replace(newest, notes=(*newest.notes, note, *([passed_over] if passed_over else []))), ""


def of_the_usual_lesson(found: Sequence[Submission], ask: Ask | None) -> tuple[list[Submission], list[Doubt]]:
    """The submissions without those whose lesson is not that of the rest of their download, unless `ask` says yes.

    A download of several lessons is none of that: a lesson is unusual when only one learner in it handed it in, or one
    in ten of those who handed in another.
    """
    counts: dict[int, Counter[str]] = {}
    for made in found:
        counts.setdefault(made.download, Counter())[made.lesson] += 1
    kept: list[Submission] = []
    doubts: list[Doubt] = []
    for made in found:
        (usual, most), *_ = counts[made.download].most_common(1)
        of_this = counts[made.download][made.lesson]
        if made.lesson == usual or most < 2 or (of_this > 1 and of_this * 10 > most):
            kept.append(made)
            continue
        why = f"It is a notebook of {made.lesson}, and the rest ({most}) are of {usual}."
        if ask is not None and ask(f"{made.shown}: {why} Collect it?"):
            kept.append(made)
        else:
            doubts.append(Doubt(made.shown, f"{why} If it should count, collect again with --lesson {made.lesson}."))
    return kept, doubts


def _in_full(made: Submission) -> str:
    return made.owner.place if made.owner.platform == PLAIN else made.owner.shown
