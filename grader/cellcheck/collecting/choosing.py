"""Which of a learner's notebooks counts, and which lesson a download is about."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from cellcheck.collecting.downloads import Doubt
from cellcheck.collecting.names import CLAIM, MOODLE, PLAIN
from cellcheck.collecting.sorting import Submission

Ask = Callable[[str], bool]
"""A person who answers a question with yes or no."""


def counting(submissions: Sequence[Submission]) -> tuple[list[Submission], list[Doubt]]:
    """Of each learner and lesson the submission that counts, and what nobody but a person can decide."""
    groups: dict[tuple[str, str, str], list[Submission]] = {}
    for submission in submissions:
        groups.setdefault((submission.lesson, submission.student.casefold(), submission.title), []).append(submission)
    counted: list[Submission] = []
    doubts: list[Doubt] = []
    for _, group in sorted(groups.items()):
        known = [submission for submission in group if submission.owner.platform != CLAIM]
        if known and len(known) < len(group):
            doubts += [
                Doubt(
                    submission.shown,
                    f"It says that it is {submission.student}'s, who handed in another one: whose is it?",
                )
                for submission in group
                if submission not in known
            ]
        one, why = choose(known or group)
        if one is not None:
            counted.append(one)
        else:
            doubts += [Doubt(submission.shown, why, (submission.student,)) for submission in group]
    return whole(counted), doubts


def whole(submissions: Sequence[Submission]) -> list[Submission]:
    """The same, with all notebooks of one learner for a plain assignment in one submission."""
    groups: dict[tuple[str, str], list[Submission]] = {}
    for submission in submissions:
        groups.setdefault((submission.lesson, submission.student), []).append(submission)
    return [group[0] if len(group) == 1 else _joined(group) for group in groups.values()]


def _joined(group: Sequence[Submission]) -> Submission:
    first, *rest = group
    others = {name: file for submission in group for name, file in submission.others.items()}
    times = [submission.time for submission in group if submission.time is not None]
    clocks = [submission.clock for submission in group if submission.clock is not None]
    return replace(
        first,
        digest=" ".join(submission.digest for submission in group),
        blank=all(submission.blank for submission in group),
        rank=max(submission.rank for submission in group),
        time=max(times, default=None),
        clock=max(clocks, default=None),
        late=max((submission.late for submission in group if submission.late is not None), default=None),
        others=others | {f"{submission.title}.ipynb": submission.file for submission in rest},
        notes=tuple(dict.fromkeys(note for submission in group for note in submission.notes)),
    )


def choose(group: Sequence[Submission]) -> tuple[Submission | None, str]:
    """The submission that counts of one learner's for one lesson; or None, and why nobody can tell."""
    people = {submission.owner.key: submission for submission in group}
    if len(people) > 1 and not all(submission.sure for submission in group):
        who = " and ".join(_in_full(submission) for submission in people.values())
        return None, f"Two learners would get the folder {group[0].student} ({who}): tell them apart with --roster."
    different = list({submission.digest: submission for submission in group}.values())
    begun = [submission for submission in different if not submission.blank] or different
    passed_over = "a blank one was ignored" if len(begun) < len(different) else ""
    if len(begun) == 1:
        return (replace(begun[0], notes=(*begun[0].notes, passed_over)) if passed_over else begun[0]), ""
    by_age = sorted(zip(_ages(begun), begun, strict=True), key=lambda pair: pair[0])
    (age_before, _), (age, newest) = by_age[-2:]
    if age == age_before:
        who = group[0].owner.shown or group[0].student
        return None, f"There are two different notebooks of {who}, and nothing says which is newer."
    note = f"{len(begun)} notebooks; the newest counts, {newest.shown}"
    return replace(newest, notes=(*newest.notes, note, *([passed_over] if passed_over else []))), ""


def _ages(group: Sequence[Submission]) -> list[tuple[float, ...]]:
    """By what a learner's notebooks can be put in order, the newest last; the same for all where nothing tells."""
    platforms = {submission.owner.platform for submission in group}
    if platforms == {MOODLE} and len({submission.download for submission in group}) == 1:
        # There, all files have the time of the download.
        all_noted = all(submission.clock is not None for submission in group)
        return [(s.clock.timestamp() if all_noted and s.clock is not None else 0.0,) for s in group]
    if len(platforms) == 1 and all(submission.rank for submission in group):
        return [submission.rank for submission in group]
    return [(submission.file.modified,) for submission in group]


def of_the_usual_lesson(submissions: Sequence[Submission], ask: Ask | None) -> tuple[list[Submission], list[Doubt]]:
    """The submissions without those whose lesson is not that of the rest of their download, unless `ask` says yes.

    A download of several lessons is none of that: a lesson is unusual when only one learner in it handed it in, or one
    in ten of those who handed in another.
    """
    counts: dict[int, Counter[str]] = {}
    for submission in submissions:
        counts.setdefault(submission.download, Counter())[submission.lesson] += 1
    ordinary: list[Submission] = []
    doubts: list[Doubt] = []
    for submission in submissions:
        (usual, most), *_ = counts[submission.download].most_common(1)
        of_this = counts[submission.download][submission.lesson]
        if submission.lesson == usual or most < 2 or (of_this > 1 and of_this * 10 > most):
            ordinary.append(submission)
            continue
        why = f"It is a notebook of {submission.lesson}, and the rest ({most}) are of {usual}."
        if ask is not None and ask(f"{submission.shown}: {why} Collect it?"):
            ordinary.append(submission)
        else:
            doubts.append(
                Doubt(submission.shown, f"{why} If it should count, collect again with --lesson {submission.lesson}.")
            )
    return ordinary, doubts


def _in_full(submission: Submission) -> str:
    return submission.owner.place if submission.owner.platform == PLAIN else submission.owner.shown
