"""The front page and the list of lessons show the real thing, and nothing on them is empty."""

import html
import re
from itertools import pairwise
from pathlib import Path

import lxml.html
import nbformat
import pytest

from cellcheck.checking.cards import card
from cellcheck.checking.check import Checker
from cellcheck.errors import GraderError
from cellcheck.learning.offers import Offer, offers
from cellcheck.lesson_text import Head
from cellcheck.publishing import course_map, shown
from cellcheck.publishing.front import OTHERS, Slip, groups, page, time
from cellcheck.repository import Repository
from cellcheck.syllabus import lesson_names

REPOSITORY = Repository.find(Path(__file__).parent)
TRANSLATION, NAMES = "08_attention_is_all_you_need", "11_language_model"


def offer(number: int, *builds_on: int, group: str = "") -> Offer:
    names = tuple(f"{other:02}_x" for other in builds_on)
    return Offer(
        f"{number:02}_x", Head(f"Title {number}", (60,), names, (), topic=f"topic & {number}", group=group), ()
    )


def test_a_slip_is_a_mistake_of_the_catalogue_and_its_card_is_the_graders() -> None:
    slip = Slip.of("05_causal_masks", "causal_mask", "one_step_too_far")
    check = Checker("05_causal_masks")
    (mistake,) = [m for m in check.lesson["causal_mask"].mistakes if m.name == "one_step_too_far"]
    assert slip.card == card(check.verdict("causal_mask", mistake.implementation))
    assert "tril(1)" in slip.wrong
    assert "SOLUTION" not in slip.wrong
    (marked,) = re.findall(r'<mark class="slipped">(.*?)</mark>', slip.code)
    assert html.unescape(re.sub(r"<[^>]*>", "", marked)).strip() == slip.wrong.splitlines()[1].strip()


@pytest.mark.parametrize("name", ["no_such_mistake", "the_formula_as_it_stands"])
def test_a_slip_that_is_none_is_refused(name: str) -> None:
    """The second is written out in full: nobody could say where it slips."""
    with pytest.raises(GraderError, match=f"no mistake called {name} that is an edit"):
        Slip.of("03_classification_transformer", "masked_softmax", name)


@pytest.mark.parametrize("name", lesson_names())
def test_every_lesson_has_what_its_card_shows(name: str) -> None:
    (offer,) = [each for each in offers() if each.name == name]
    assert offer.head.topic
    assert offer.head.topic[0].islower()  # it follows a colon
    assert offer.head.group
    assert offer.exercises
    drawn = shown.picture(REPOSITORY, name, offer.head.picture)
    assert drawn.name.startswith(offer.head.picture)
    assert len(drawn.alt) > 5
    assert drawn.content.startswith(b"\x89PNG")
    assert all(exercise.part for exercise in offer.exercises)


def test_pictures_become_small(tmp_path: Path) -> None:
    drawn = shown.picture(REPOSITORY, "14_length_generalization", "Where the decoder looks")
    address, width, height = drawn.small(tmp_path)
    file = tmp_path / shown.FOLDER / Path(address).relative_to("_static")
    assert file.stat().st_size < 20_000 < len(drawn.content)
    assert width <= shown.WIDTH
    assert height <= shown.HEIGHT


def test_what_a_solution_printed_and_its_tables() -> None:
    solution = nbformat.read(REPOSITORY.solution(NAMES), as_version=4)
    printed = shown.printed(REPOSITORY, NAMES, "ROMEO:")
    assert any(printed in str(o.get("text", "")) for cell in solution.cells for o in cell.get("outputs", ()))
    row = shown.row(REPOSITORY, TRANSLATION, "The witch found a key and lost it.")
    assert [head for head, _ in row] == ["English", "German"]
    assert all(entry for _, entry in row)


def test_what_a_solution_does_not_show_is_an_error() -> None:
    with pytest.raises(GraderError, match=r"No picture of .* is called 'no such'"):
        shown.picture(REPOSITORY, NAMES, "no such")
    with pytest.raises(GraderError, match=r"No cell of .* printed 'no such'"):
        shown.printed(REPOSITORY, NAMES, "no such")
    with pytest.raises(GraderError, match=r"No table of .* has a row with 'no such'"):
        shown.row(REPOSITORY, NAMES, "no such")


def test_lessons_of_a_group_stand_together() -> None:
    lessons = [offer(1, group="A"), offer(2, group="A"), offer(3), offer(4, group="B")]
    assert [(heading, len(together)) for heading, together in groups(lessons)] == [("A", 2), (OTHERS, 1), ("B", 1)]
    assert sum(len(together) for _, together in groups(offers())) == len(offers())
    headings = [heading for heading, _ in groups(offers())]
    assert len(set(headings)) == len(headings)


def test_arrows_that_follow_from_others_are_left_out() -> None:
    lessons = [offer(1), offer(2, 1), offer(3, 1, 2), offer(4, 2), offer(5, 1, 4)]
    assert course_map.steps(lessons) == {"01_x": 0, "02_x": 1, "03_x": 2, "04_x": 2, "05_x": 3}
    assert course_map.arrows(lessons) == [("01_x", "02_x"), ("02_x", "03_x"), ("02_x", "04_x"), ("04_x", "05_x")]


@pytest.mark.parametrize(
    "lessons", [[offer(1)], [offer(1), offer(2, 1), offer(3, 2), offer(4, 1, 3)], offers()], ids=len
)
def test_the_map_has_each_lesson_once_and_no_box_on_another(lessons: list[Offer]) -> None:
    drawings = lxml.html.fragment_fromstring(course_map.drawn(lessons, lambda name: f"{name}.html"), create_parent=True)
    assert len(drawings.xpath("./svg")) == 2
    for drawing in drawings.xpath("./svg"):
        assert [link.get("href") for link in drawing.iter("a")] == [f"{one.name}.html" for one in lessons]
        assert len(drawing.xpath(".//g/path")) == len(course_map.arrows(lessons))
        boxes = [tuple(float(box.get(side)) for side in ("x", "y", "width", "height")) for box in drawing.iter("rect")]
        for number, (x, y, width, height) in enumerate(boxes):
            for left, top, wide, tall in boxes[number + 1 :]:
                assert x + width <= left or left + wide <= x or y + height <= top or top + tall <= y
        for link, one in zip(drawing.iter("a"), lessons, strict=True):
            words = " ".join(text.text_content() for text in link.iter("text"))
            assert words == f"{one.number} {one.head.topic}"
            (box,) = link.iter("rect")
            top, bottom = float(box.get("y")), float(box.get("y")) + float(box.get("height"))
            assert all(top + 10 < float(text.get("y")) < bottom - 5 for text in link.iter("text"))
            assert link.get("aria-label").startswith(f"Lesson {one.number}: {one.head.topic}")


def test_arrows_go_forward() -> None:
    lessons = offers()
    behind = course_map.steps(lessons)
    assert all(behind[start] < behind[end] for start, end in course_map.arrows(lessons))
    numbers = [one.number for one in lessons]
    assert all(before < after for before, after in pairwise(numbers))


def test_addresses_and_times() -> None:
    assert page("lessons/05_x", "index") == "lessons/05_x.html"
    assert page("lessons/05_x", "lessons/index") == "05_x.html"
    assert time(60) == "1 h"
    assert time(65) == "1 h 05"
