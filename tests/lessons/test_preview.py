"""What the start page shows of the finished course is what lesson 5's model really writes, in lesson 1's opening."""

from cellcheck.syllabus import find_lesson
from transformer_course.lessons.lesson_01 import experiments as lab


def test_the_preview_is_what_lesson_1_opens_with() -> None:
    preview = find_lesson("01")[0].preview
    assert preview is not None
    _, (head, *rows) = preview
    words = [row[0] for row in rows]
    assert [row[-1] for row in rows] == [word[::-1] for word in words]
    _, written, _ = lab.learn_to_reverse(words)
    assert head[1:] == list(written.columns)
    # On another processor a letter may differ, above all in the middle of the training.
    right = [now == then[-1] for now, then in zip(written.iloc[:, -1], rows, strict=True)]
    assert sum(right) >= len(rows) - 1
    assert list(written.index) == words
