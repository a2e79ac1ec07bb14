"""Lesson 12's experiments, one module for each of its three domains."""

from lessons.lesson_12.experiments import forecasting, reading, seeing

__all__ = ["forecasting", "reading", "seeing"]
