"""What a NAME.md says never reaches a learner's process; a NAME.py with a probe does."""

from pathlib import Path

import pytest

from cellcheck.audit.audit import MUTANT_LIMITS
from cellcheck.errors import GraderError
from cellcheck.running.session import Session
from cellcheck.running.setting import setting_of
from cellcheck.syllabus import find_lesson, load_lesson
from tests.authors.test_new import edit, lesson_folder, root  # noqa: F401 (root is a fixture)

LESSON, SYMBOL = "14_length_generalization", "random_offset_positions"
# Looks at every text that anything in memory holds. The texts are turned around: this one would find itself.
LOOK = """
import gc, sys
def everywhere(turned):
    text, known, waiting = turned[::-1], set(), gc.get_objects()
    while waiting:
        thing = waiting.pop()
        if id(thing) in known or thing is known or thing is waiting:
            continue
        known.add(id(thing))
        if isinstance(thing, str) and text in thing and thing is not text:
            return True
        waiting += gc.get_referents(thing)
    return False
raise ValueError(str([
    [everywhere(turned) for turned in {turned}],
    [name for name in sys.modules if name.endswith("catalogue")],
]))
"""


def test_no_answer_is_in_the_learners_process() -> None:
    exercise = load_lesson(LESSON)[SYMBOL]
    wrong = "The upper end of a test"  # of no file
    probe = "What many draws have in common, and which offsets they have."
    texts = [probe, wrong, *(mistake.advice for mistake in exercise.mistakes[:2])]
    setting = setting_of(LESSON)
    assert f"transformer_course.lessons.lesson_14.{SYMBOL}" in setting.probes
    with Session(setting, MUTANT_LIMITS) as session:
        error = session.run(LOOK.replace("{turned}", repr([text[::-1] for text in texts])))
    assert error["message"] == str([[True, False, False, False], []])


def test_every_answer_of_the_course_stands_beside_how_it_is_tried() -> None:
    """The ending is the rule: a file of answers lies in a lesson's folder, which is out of sight."""
    syllabus, _ = find_lesson(LESSON)
    folder = syllabus.place(LESSON)
    for exercise in load_lesson(LESSON).exercises:
        assert {path.name for path in folder.glob(f"{exercise.symbol}.*")} == {
            f"{exercise.symbol}.py",
            f"{exercise.symbol}.md",
        }


def test_code_that_travels_names_no_file_of_answers(root: Path) -> None:  # noqa: F811
    lesson = lesson_folder(root)
    (lesson / "probes.py").write_text('from pathlib import Path\nTEXT = Path("initials.md")\nPROBES = {}\n', "utf-8")
    with pytest.raises(
        GraderError, match=r"probes\.py travels to the learner's process, and it names a file with .*md"
    ):
        setting_of("01_first_steps")
