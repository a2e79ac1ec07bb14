"""Old parts and new ones: the processor time of a training step, all in one run. The plays are downloaded."""

from tests.lessons.tables import write
from transformer_course.lessons.lesson_12 import experiments as lab
from transformer_course.tasks.shakespeare import shakespeare


def test_12_times() -> None:
    plays = lab.Book("Shakespeare", shakespeare())
    corpus = lab.in_byte_pairs(plays.title, plays.to_learn, plays.to_examine)
    write("12_times", lab.step_times(corpus))
