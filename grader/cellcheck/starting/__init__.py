"""`cellcheck new`: a course or a lesson to start from, small and working. What it writes stands in `templates/`."""

from cellcheck.starting.new import NewLesson, new_course, new_lesson

__all__ = ["NewLesson", "new_course", "new_lesson"]
