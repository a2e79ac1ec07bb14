"""What a lesson is made of. An author needs nothing else of the grader.

- `Lesson`, `Exercise`, `Case`, `Aspect`, `Mistake`: the description of an exercise (`grader.authoring.spec`)
- `aspects`: the aspects that many exercises share (`shape()`, `values()`, `gradients()`, ...)
- `draw`: inputs drawn from a seed, every dimension different
- `calls`, `modules`: how a probe calls a function, or builds a learner's `nn.Module` and hands weights in by name
- `patients`: what a learner's test is tried on. It stays with the case, and the learner's process can only ask it

A probe module may import `calls`, `modules` and `patients`. It travels to the learner's process: no answers in it.
"""

from __future__ import annotations

from grader.authoring.spec import Aspect, Case, Exercise, Lesson, Mistake, Observation, Value

__all__ = ["Aspect", "Case", "Exercise", "Lesson", "Mistake", "Observation", "Value"]
