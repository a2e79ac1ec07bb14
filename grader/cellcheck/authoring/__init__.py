"""What a lesson is made of. An author needs nothing else of the grader; docs/authors.md leads from nothing to a lesson.

- `Trial`, `Case`, `Aspect`: how an exercise is tried, in its NAME.py (`cellcheck.authoring.spec`)
- `catalogue`: what its NAME.md is made of, which holds everything that knows answers
- `Lesson`, `Exercise`, `Mistake`: both of these together, as the grader has them
- `aspects`: the aspects that many exercises share; `of_function()` has those of a plain function
- `battery`: the usual cases of tensors, and the aspects that look at them
- `draw`: inputs drawn from a seed: numbers, words, and tensors whose dimensions all differ
- `calls`, `modules`: how a probe calls a function, or builds a learner's `nn.Module` and hands weights in by name
- `patients`: what a learner's test is tried on. It stays with the case, and the learner's process can only ask it
- `contest`: an open task for which learners hand in models, and a table of them

Only `modules` imports PyTorch. The tensors of `draw` do so when one is drawn: a lesson without tensors needs none.

A plain function needs no probe: it is called with a case's inputs, in their order. A probe module may import `calls`,
`modules` and `patients`; it travels to the learner's process, so it holds no answers.

What an author's tests ask is in `cellcheck.testing`.
"""

from cellcheck.authoring.spec import Aspect, Case, Exercise, Lesson, Mistake, Observation, Trial, Value

__all__ = ["Aspect", "Case", "Exercise", "Lesson", "Mistake", "Observation", "Trial", "Value"]
