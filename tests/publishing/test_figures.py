"""The figures to touch show what the course computes, in words too, and weigh little."""

import json
import re
import sys
from pathlib import Path

import lxml.html
import pytest
import torch

from cellcheck.publishing.figures import Figure, standing
from cellcheck.syllabus import load_lesson

SITE = Path(__file__).parents[2] / "site"
sys.path.insert(0, str(SITE))

from figures import FIGURES, attention, beams, clocks, masks, sampling  # noqa: E402

HEAVIEST = 20_000


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.name)
def test_each_is_light_and_stands_at_an_exercise(figure: Figure) -> None:
    script = SITE / "_static" / "figures" / f"{figure.name}.js"
    assert len(figure.html().encode()) + script.stat().st_size < HEAVIEST
    assert load_lesson(figure.lesson)[figure.symbol]
    assert standing(FIGURES, figure.lesson, figure.symbol, figure.above)
    assert not standing(FIGURES, figure.lesson, figure.symbol, not figure.above)


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.name)
def test_each_says_the_same_without_a_script(figure: Figure) -> None:
    tree = lxml.html.fromstring(f"<figure>{figure.html()}</figure>")
    (table,) = tree.iter("table")
    rows = [[cell.text_content().strip() for cell in row] for row in table.iter("tr")]
    assert len(rows) > 3
    assert all(row[0] for row in rows[1:])
    assert table.findtext("caption")
    assert tree.xpath("//*[@class='says'][@aria-live='polite']")[0].text_content()
    assert not [svg for svg in tree.iter("svg") if not svg.get("role") and not svg.xpath("ancestor::*[@aria-hidden]")]


def test_the_numbers_of_attention_are_those_of_the_lesson() -> None:
    known = attention.numbers()
    assert known["weights"][attention.ASKS] == pytest.approx([0.665, 0.245, 0.090], abs=1e-3)
    assert known["outputs"][attention.ASKS] == pytest.approx([7.55, 3.35], abs=1e-2)


def test_the_masks_are_the_graders_own_mistakes() -> None:
    known = masks.numbers()
    assert known["right"] == "1000110011101111"
    assert set(masks.PRESETS) <= set(known["known"])
    assert known["known"]["one_step_too_far"]["mask"] == "1100111011111111"
    assert known["right"] not in [each["mask"] for each in known["known"].values()]


def test_the_hands_of_the_clocks_are_turned_by_the_courses_matrices() -> None:
    known = clocks.numbers()
    for k, blocks in known["shifts"].items():
        for p in range(clocks.FARTHEST, clocks.LENGTH - clocks.FARTHEST):
            for pair, (cosine, sine) in enumerate(blocks):
                (x, y), there = (known["encoding"][at][2 * pair : 2 * pair + 2] for at in (p, p + k))
                assert [cosine * x + sine * y, cosine * y - sine * x] == pytest.approx(there, abs=1e-3)


def test_the_words_that_follow_are_counted_in_the_book() -> None:
    known = sampling.numbers()
    assert len(known["words"]) == sampling.SHOWN
    assert known["counts"] == tuple(sorted(known["counts"], reverse=True))
    assert torch.tensor(known["logits"]).exp().tolist() == pytest.approx(known["counts"], rel=1e-3)


def test_the_beams_are_those_of_the_lesson() -> None:
    """Its table of steps, for two beams, and what greedy finds."""
    known = beams.numbers()["widths"]
    assert [step["kept"] for step in known[2]["steps"]] == [["a", "b"], ["b.", "aa"], ["aa."]]
    assert {width: each["answer"] for width, each in known.items()} == {1: "aa.", 2: "b.", 3: "b."}


def test_numbers_that_close_a_script_do_no_harm() -> None:
    from figures.writing import framed

    html = framed("A title", "words", "", {"text": "</script>"})
    assert html.count("</script>") == 1
    (text,) = re.findall(r"json\">(.*)</script>", html)
    assert json.loads(text) == {"text": "</script>"}
