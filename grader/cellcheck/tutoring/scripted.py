"""Three tutors without a model: what a benchmark should tell apart."""

import inspect
from collections.abc import Callable

from cellcheck.checking.judge import Verdict
from cellcheck.tutoring.desk import told_case
from cellcheck.tutoring.tasks import Task

Reply = Callable[[Task, Verdict], str]


def from_the_catalogue(task: Task, verdict: Verdict) -> str:
    """Ours: what the mistake's author says to those who make it, as the check finds it, and what to do next."""
    where = f" You can see it {verdict.evidence.label}." if verdict.evidence else ""
    return (
        f"Let's look at your `{task.symbol}` one step at a time. {verdict.advice or verdict.message}{where}\n\n"
        "Don't change your code yet. First, take the example in the docstring, and work it out on paper. Then run your "
        "own code on the same input, and put the two side by side. Where do they first part ways? Once you have found "
        "that spot, change one line there, and no more. Then run the check again. If it is still red, read the next "
        "hint above the exercise.\n\n"
        "Before you type: what do you think the first wrong number should be, and why?"
    )


def the_failing_case(task: Task, verdict: Verdict) -> str:
    """One that shows the case that goes wrong, as a test does, and says nothing about it."""
    if verdict.evidence is None:
        return f"A test of {task.symbol} fails: it stops with an error."
    case = told_case(verdict.evidence)
    return f"A test of {task.symbol} fails {case['where']}.\n\nExpected: {case['expected']}\n\nGot: {case['got']}"


def the_whole_answer(task: Task, verdict: Verdict) -> str:
    """One that blurts it out."""
    source = inspect.getsource(task.exercise.references[0])
    answer = "\n".join(line for line in source.splitlines() if "### " not in line)
    return f"There is a mistake in your code. Here is a version that works:\n\n```python\n{answer}\n```"


SCRIPTED: dict[str, Reply] = {
    "from the catalogue": from_the_catalogue,
    "the failing case": the_failing_case,
    "the whole answer": the_whole_answer,
}
