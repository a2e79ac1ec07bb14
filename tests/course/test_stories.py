"""The fairy tales from beginning to end: well-formed, each different, and what they say early holds until the end."""

import math
import re
from collections.abc import Sequence
from itertools import islice
from typing import TypeVar

import pytest

from transformer_course.tasks import stories
from transformer_course.tasks.stories import PARTS, PLOTS, Storyteller, Told, hero_names

T = TypeVar("T")


def some(count: int, seed: int = 0) -> list[Told]:
    teller = Storyteller(seed)
    return [teller.story() for _ in range(count)]


def test_the_same_seed_tells_the_same_stories_and_no_story_twice() -> None:
    first, again, other = some(300), some(300), some(300, seed=1)
    assert [story.text for story in first] == [story.text for story in again]
    assert len({story.text for story in (*first, *other)}) == 600


def test_stories_are_well_formed() -> None:
    for story in some(500):
        assert not set("{}[]|/") & set(story.text)
        assert "  " not in story.text
        assert not re.search(r"\ba [aeiou]|\ban (?!hour)[^aeiou]| \n|\n | [.,?]", story.text)
        assert story.text.count('"') % 2 == 0
        assert story.text.endswith((".", "still."))
        assert len(story.text) < 1600


@pytest.mark.parametrize("what", ["Name", "noun", "animal"])
def test_what_a_story_is_about_comes_up_in_its_first_and_last_paragraphs(what: str) -> None:
    for story in some(200):
        *_, last = story.text.split("\n")
        assert story.about[what] in last
        assert story.text.count(story.about[what]) > 2


def test_every_part_belongs_to_a_plot() -> None:
    assert {part for plot in PLOTS.values() for part in plot.split()} - {"/"} == set(PARTS)


def test_new_names_are_in_no_story_to_learn_from() -> None:
    for they in ("she", "he"):
        known, new = hero_names()[they], hero_names(new=True)[they]
        assert len(known) > 8 * len(new) > 2000
        assert not set(known) & set(new)
    assert not set(hero_names()["she"]) & set(hero_names()["he"])
    teller = Storyteller(0, hero_names(new=True))
    for _ in range(50):
        about = teller.story().about
        assert about["Name"] in hero_names(new=True)[about["they"]]


class Counting(Storyteller):
    """Notes each draw."""

    def _draw(self, choices: Sequence[T]) -> T:
        self.drawn: list[int]
        self.drawn.append(len(choices))
        return super()._draw(choices)


def test_the_surprise_is_that_of_all_draws() -> None:
    teller = Counting(3)
    for _ in range(20):
        teller.drawn = []
        story = teller.story()
        assert story.bits == pytest.approx(sum(map(math.log2, teller.drawn)))
        assert len(teller.drawn) > 20


def test_the_surprise_is_that_of_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a world so small that a story has a handful of texts, each text comes up as often as its bits say."""
    monkeypatch.setattr(stories, "PLOTS", {"dropped": "opening ending"})
    for name in ("CHARACTERS", "HOMES", "LOOKS", "FAMILY", "ANIMALS"):
        monkeypatch.setattr(stories, name, getattr(stories, name)[:1])
    monkeypatch.setattr(stories, "TREASURES", dict(islice(stories.TREASURES.items(), 1)))
    monkeypatch.setattr(stories, "CALLS", dict(islice(stories.CALLS.items(), 1)))
    monkeypatch.setattr(stories, "HEROES", {"she": ("girl",)})
    teller = Storyteller(0, {"she": ["Ada", "Eve"]})
    told = [teller.story() for _ in range(6000)]
    counts: dict[str, int] = {}
    for story in told:
        counts[story.text] = counts.get(story.text, 0) + 1
    assert len(counts) == 2 * 3 * 3 * 3
    assert all(story.bits == pytest.approx(math.log2(54)) for story in told)
    assert all(0.5 < count / (6000 / 54) < 1.6 for count in counts.values())
