"""What the README and the pages that it leads to show is what the programs say."""

import re
from pathlib import Path

import pytest
from PIL import Image

from cellcheck.audit.audit import FLOORS, LESSON_FLOORS
from cellcheck.building.frame import in_colab
from cellcheck.checking.cards import plain
from cellcheck.checking.check import Checker
from cellcheck.learning.offers import offers
from cellcheck.repository import Repository
from cellcheck.syllabus import lesson_names, load_lesson
from environment import pictures

ROOT = Path(__file__).parents[1]
REPOSITORY = Repository.find(ROOT)
README = (ROOT / "README.md").read_text("utf-8")
LEARNERS, AUDIT = ((ROOT / "docs" / f"{name}.md").read_text("utf-8") for name in ("learners", "audit"))
MAIN = f"{REPOSITORY.address}/blob/main/"
RAW = f"{REPOSITORY.address}/raw/main/"


def test_it_is_short_and_says_what_there_is() -> None:
    assert len(README.split()) <= 700
    lessons = offers()
    hours = round(sum(offer.head.minutes for offer in lessons) / 60)
    for counted in (
        f"{len(lessons)} notebooks",
        f"{sum(len(o.exercises) for o in lessons)} exercises",
        f"{hours} hours",
    ):
        assert counted in " ".join(README.split())
    for offer in lessons:
        link = f"{MAIN}notebooks/{offer.name}/{offer.name}.ipynb"
        assert f"\n{offer.number}. [{offer.title}]({link}): {offer.head.topic}\n" in README
    assert f"]({in_colab(REPOSITORY, lessons[0].name)})" in README


def test_it_says_what_the_wild_set_says() -> None:
    """Of the half that nobody tuned for, the line of all lessons."""
    wild = (ROOT / "docs" / "wild.md").read_text("utf-8").partition("**The half that was kept aside**")[2]
    line = next(line for line in wild.splitlines() if line.startswith("| all |"))
    _, (caught, of), (named, _), _ = re.findall(r"(\d+) of (\d+)", line)
    told = " ".join(re.sub(r"\]\(\S+\)", "]", README).split())
    sentence = "Of {} wrong answers that [people really gave] and nobody tuned for, {} are caught and {} named."
    assert sentence.format(of, caught, named) in told


def test_its_links_lead_somewhere_from_the_package_index_too() -> None:
    links = re.findall(r"\]\(([^)\s]+)\)", README)
    assert len(links) > 30
    for link in links:
        assert link.startswith("https://")
        for base in (MAIN, RAW):
            assert not link.startswith(base) or (ROOT / link.removeprefix(base)).is_file(), link


@pytest.mark.parametrize("path", [pictures.README, pictures.PREVIEW], ids=lambda path: path.name)
def test_its_picture_is_of_a_real_card(path: Path) -> None:
    assert path.stat().st_size < 60_000
    with Image.open(path) as picture:
        assert picture.info[pictures.KEPT] == pictures.said(), "run: make pictures"
    assert pictures.CLAIM in (ROOT / "site" / "index.md").read_text("utf-8")


def test_the_picture_of_a_class_is_of_one_that_was_checked() -> None:
    assert pictures.CLASS.stat().st_size < 60_000
    with Image.open(pictures.CLASS) as picture:
        assert picture.info[pictures.KEPT] == pictures.said_of_the_class(), "run: make pictures"
    assert f"]({pictures.CLASS.name})" in (ROOT / "docs" / "instructors.md").read_text("utf-8")


def test_the_check_that_learners_are_shown_is_a_real_one() -> None:
    check = Checker("01")
    (mistake,) = [m for m in check.lesson["mse_loss"].mistakes if m.name == "sum_not_mean"]
    assert plain(check.verdict("mse_loss", mistake.implementation)) in LEARNERS


@pytest.mark.parametrize("name", lesson_names())
def test_every_lesson_and_its_audit_stand_in_the_docs(name: str) -> None:
    assert f"](../notebooks/{name}/{name}.ipynb)" in LEARNERS
    mistakes = sum(len(exercise.mistakes) for exercise in load_lesson(name).exercises)
    variants = sum(len(exercise.variants) for exercise in load_lesson(name).exercises)
    row = next(line for line in AUDIT.splitlines() if line.startswith(f"| {name} |"))
    caught, diagnosed, second_slip, misnamed, accepted, mutants = (cell.strip() for cell in row.split("|")[2:8])
    assert (caught, diagnosed, accepted) == (f"{mistakes} / {mistakes}",) * 2 + (f"{variants} / {variants}",)
    for cell, floor in ((second_slip, LESSON_FLOORS["second_slip"]), (mutants, FLOORS["mutants"])):
        hit, total = map(int, cell.split(" / "))
        assert hit >= floor * total > 0
    false, total = map(int, misnamed.split(" / "))
    assert false <= (1 - LESSON_FLOORS["not_misnamed"]) * total
