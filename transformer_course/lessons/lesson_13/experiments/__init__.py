"""Lesson 13's experiments, one module for each of its three domains."""

from transformer_course.lessons.lesson_13.experiments import forecasting, reading, seeing

__all__ = ["forecasting", "reading", "seeing"]
