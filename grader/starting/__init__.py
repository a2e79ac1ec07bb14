"""`grader new`: a course or a lesson to start from, small and working. What it writes stands in `templates/`."""

from grader.starting.new import Made, new_course, new_lesson

__all__ = ["Made", "new_course", "new_lesson"]
