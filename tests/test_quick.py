"""What `make quick` chooses."""

from tests import quick


def test_tests_that_import_what_changed_come_nearest_first() -> None:
    nearest = quick.nearest(["grader/cellcheck/checking/cards.py", "tests/test_files.py"])
    assert nearest[0] == "tests/test_files.py"
    assert nearest[1].startswith("tests/checking/")
    assert quick.ALWAYS not in nearest
    assert len(nearest) == len({*nearest})


def test_both_forms_of_an_import_are_seen() -> None:
    direct, from_the_package = quick._imports("a.b"), quick._imports("a.b")
    assert direct.search("x = 1\nfrom a.b import c\n")
    assert direct.search("import a.b\n")
    assert from_the_package.search("from a import c, b\n")
    assert not direct.search("from a.bc import d\n# import a.b\n")


def test_a_changed_exercise_brings_its_marks() -> None:
    lessons = "transformer_course/lessons"
    changed = [
        f"{lessons}/lesson_03/padding_mask.md",
        f"{lessons}/lesson_03/padding_mask.py",
        f"{lessons}/lesson_03/experiments.py",  # no exercise
        "README.md",
    ]
    assert quick.exercises(changed) == {"03": ["padding_mask"]}
