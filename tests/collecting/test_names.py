"""What a name says about its owner, and what becomes of a name as a folder."""

import unicodedata
from pathlib import PurePosixPath

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cellcheck.collecting.file_names import DEVICES, inner_parts
from cellcheck.collecting.names import (
    CANVAS,
    FILE,
    GRADESCOPE,
    MAX_NAME,
    MOODLE,
    TYPED,
    Owner,
    folder_name,
    label,
    plain_label,
)
from cellcheck.plain import draws_nothing

LESSON = "01_pytorch_basics"
people = st.text(st.characters(categories=["L", "M", "N"], include_characters=" -'."), min_size=1, max_size=30)
numbers = st.integers(1, 10**9).map(str)
files = st.from_regex(r"[a-z][a-z0-9_ ]{0,15}\.(ipynb|py)", fullmatch=True)


@given(people, numbers, files, st.booleans())
def test_moodle(name: str, number: str, file: str, own_folder: bool) -> None:
    assume(name.strip())
    start = f"{name}_{number}_assignsubmission_file_"
    where = label((start, file) if own_folder else (f"{start}{file}",))
    assert where.owner == Owner(MOODLE, unicodedata.normalize("NFC", name).strip(), number)
    assert (where.inside, where.rank, where.late, where.kind) == ((file,), (), False, FILE)


@given(st.from_regex(r"[a-zà-ö]{1,20}", fullmatch=True), numbers, numbers, files, st.booleans(), st.integers(0, 99))
def test_canvas(name: str, user: str, file_id: str, file: str, late: bool, again: int) -> None:
    stem, _, ending = file.rpartition(".")
    given_name = f"{name}{'_LATE' if late else ''}_{user}_{file_id}_{stem}{f'-{again}' if again else ''}.{ending}"
    where = label((given_name,))
    assert where.owner == Owner(CANVAS, unicodedata.normalize("NFC", name), user)
    assert (where.inside, where.rank, where.late) == ((file,), (int(file_id),), late)


@pytest.mark.parametrize(
    ("parts", "owner", "inside"),
    [
        (("Ada_1_assignsubmission_file", "b.ipynb"), Owner(MOODLE, "Ada", "1"), ("b.ipynb",)),
        (("all", "Participant_77_assignsubmission_file_b.ipynb"), Owner(MOODLE, "Participant", "77"), ("b.ipynb",)),
        (("Ada_1_assignsubmission_file_hw.zip", "in", "b.ipynb"), Owner(MOODLE, "Ada", "1"), ("in", "b.ipynb")),
        (("x_export", "submission_9", "b.ipynb"), Owner(GRADESCOPE, "", "9"), ("b.ipynb",)),
        (("adal_11_22_hw.zip", "in", "b.ipynb"), Owner(CANVAS, "adal", "11"), ("in", "b.ipynb")),
        (("adal_late_11_22_b.ipynb",), Owner(CANVAS, "adal", "11"), ("b.ipynb",)),
    ],
)
def test_places(parts: tuple[str, ...], owner: Owner, inside: tuple[str, ...]) -> None:
    where = label(parts)
    assert (where.owner, where.inside) == (owner, inside)


@pytest.mark.parametrize(
    "parts", [("ada", "b.ipynb"), (f"{LESSON}.ipynb",), ("submission_9",), ("lesson_2_final.ipynb",)]
)
def test_names_that_no_platform_gave(parts: tuple[str, ...]) -> None:
    assert label(parts) is None


def test_text_that_was_typed_is_no_file() -> None:
    where = label(("Ada_1_assignsubmission_onlinetext_", "onlinetext.ipynb"))
    assert where.kind == TYPED


@pytest.mark.parametrize(
    ("parts", "holder", "name"),
    [
        (("ada", LESSON, f"{LESSON}.ipynb"), "", "ada"),
        (("ada", "x.ipynb"), "class", "ada"),
        (("ada.zip", "x.ipynb"), "class", "ada"),
        (("all", "ada", "x.ipynb"), "", "ada"),
        (("ada.ipynb",), "class", "ada"),
        ((f"ada_{LESSON}.ipynb",), "", "ada"),
        ((f"{LESSON}.ipynb",), "ada", "ada"),
        ((f"{LESSON}.ipynb",), f"{LESSON}.submission", None),
        ((f"{LESSON} (1).ipynb",), "", None),
        ((f"{LESSON}-copy.ipynb",), "", None),
        (("__.ipynb",), "", None),
    ],
)
def test_without_a_platform_the_folder_tells(parts: tuple[str, ...], holder: str, name: str | None) -> None:
    owner = plain_label(parts, holder, [LESSON]).owner
    assert (owner.name if owner else None) == name


@given(st.text(max_size=200))
def test_a_folder_name_is_safe_everywhere(text: str) -> None:
    name = folder_name(text)
    assert folder_name(name) == name
    assert unicodedata.is_normalized("NFC", name)
    assert len(name) <= MAX_NAME + 1
    assert len(name.encode()) <= 2 * MAX_NAME + 1
    if name:
        assert PurePosixPath(name).parts == (name,)
        assert name[0] not in "-_.@+="
        assert name[-1] not in ".@+- "
        assert not set(name) & set("/\\:*?\"<>|'`$&;()[]{}!#~%^ \t\r\n\0")
        assert name.split(".")[0].lower() not in DEVICES


@given(st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=20))
def test_letters_and_digits_of_every_script_stay(text: str) -> None:
    text = unicodedata.normalize("NFC", text)
    assume(text.lower() not in DEVICES and not any(map(draws_nothing, text)))
    assert folder_name(text) == text


@given(st.lists(st.one_of(st.text(max_size=5), st.sampled_from(["..", ".", "", "con", "C:", "a\\..\\b", "nul.txt"]))))
def test_an_entrys_name_stays_in_its_folder_or_is_refused(parts: list[str]) -> None:
    try:
        inner = inner_parts("/".join(parts))
    except ValueError:
        return
    assert inner
    for part in inner:
        assert part.strip(" .")
        assert not set(part) & set("/\\\0\n")
        assert part.split(".")[0].strip().lower() not in DEVICES
    assert ":" not in inner[0]


@pytest.mark.parametrize(
    "name",
    [
        *("/etc/passwd", "..", "a/../../b", "a//b", "", "a/con.txt", "a\0b", "a/ ./b"),
        *("..\\b", "\\\\host\\b", "C:\\b", "c:b"),
    ],
)
def test_names_that_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match=r"^[a-z]"):
        inner_parts(name)


@pytest.mark.parametrize(
    ("name", "platform", "owner"),
    [
        ("hw_eve_attempt_2026-01-31-20-30-10_x_bob_attempt_2099-01-01-00-00-00_one.ipynb", "Blackboard", "eve"),
        ("lovelaceada_12345_67890_x_bob_attempt_2099-01-01-00-00-00_one.ipynb", "Canvas", "lovelaceada"),
    ],
)
def test_nobody_becomes_somebody_else_by_a_name_that_looks_like_blackboards(
    name: str, platform: str, owner: str
) -> None:
    where = label((name,))
    assert where is not None
    assert where.owner is not None
    assert (where.owner.platform, where.owner.name) == (platform, owner)


def test_two_of_blackboards_learners_whose_names_end_alike_are_two() -> None:
    times = ("2026-01-31-20-30-10", "2026-02-01-20-30-10")
    labels = [label((f"hw_{name}_lovelace_attempt_{time}_one.ipynb",)) for name in "ab" for time in times]
    keys = [one.owner.key for one in labels if one is not None and one.owner is not None]
    assert len(keys) == 4
    assert len({*keys[:2]}) == len({*keys[2:]}) == 1
    assert keys[0] != keys[2]
