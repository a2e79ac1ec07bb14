"""Grading one submission: the learner's code in a process of its own, the verdict in this one."""
