"""Assignments of other graders, made into nbgrader's."""
