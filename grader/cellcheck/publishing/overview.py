"""The two pages that list the course: the lessons at a glance, and the table of all exercises, by part."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from cellcheck.checking.cards import worth
from cellcheck.learning.offers import Offer, OfferedExercise
from cellcheck.publishing.exercises import ExerciseAddress, Map

LESSONS = """\
---
template: front.html
myst:
  html_meta:
    description: "{description}"
---

# The lessons

{words} Each exercise is in [the list of all exercises](exercises.md), and each word in the [glossary](glossary.md).

```{{toctree}}
:hidden:

{names}
```

## What leads to what

```{{course-map}}
```

## One by one

```{{lesson-cards}}
:full:
```
"""
EXERCISES = """\
# All exercises

{words} What an exercise needs are the earlier ones that our own solution uses. You may skip any of them: the library
has every answer, and *Use our version*, below each exercise's hints, puts it into your notebook.
"""


def lessons_page(offers: Sequence[Offer]) -> str:
    """The lessons at a glance; the page's cards and its map are made where it is read."""
    count = sum(len(offer.exercises) for offer in offers)
    hours = round(sum(offer.head.minutes for offer in offers) / 60)
    words = f"{len(offers)} lessons with {count} exercises, about {hours} hours. Begin with lesson {offers[0].number}."
    amount = f"{len(offers)} lessons, {count} exercises, about {hours} hours"
    return LESSONS.format(
        description=f"{amount}: what each is about, and what leads to what.",
        words=words,
        names="\n".join(map(_in_side_bar, offers)),
    )


def _in_side_bar(offer: Offer) -> str:
    """Without the word "Lesson": there is no room to waste."""
    return f"{offer.heading.removeprefix('Lesson ')} <{offer.name}>"


def exercises_page(offers: Sequence[Offer], course_map: Map) -> str:
    """Every exercise, below its lesson and its part: what it does, what it takes, and what it needs."""
    count = sum(len(offer.exercises) for offer in offers)
    points = sum(offer.points for offer in offers)
    parts = [EXERCISES.format(words=f"There are {count} exercises, worth {worth(points)}.")]
    for offer in offers:
        parts.append(f"## [{offer.heading}]({offer.name}.ipynb)")
        for heading, exercises in groupby(offer.exercises, key=lambda exercise: exercise.part):
            parts += [f"### {heading}"] if heading else []
            parts += _entries(offer, exercises, course_map)
    return "\n\n".join(parts) + "\n"


def _entries(offer: Offer, exercises: Iterator[OfferedExercise], course_map: Map) -> Iterator[str]:
    for exercise in exercises:
        place = ExerciseAddress(offer.name, exercise.symbol)
        needs = ", ".join(need.link for need in course_map.needs(place))
        facts = f"{exercise.kind} · difficulty {exercise.difficulty} of 5 · {exercise.minutes} minutes"
        facts += f" · {worth(exercise.points)}"
        lines = [place.link, f": {course_map.does(place)}", "", "  {.costs}", f"  {facts}"]
        lines += ["", "  {.costs}", f"  Needs {needs}"] if needs else []
        yield "\n".join(lines)
