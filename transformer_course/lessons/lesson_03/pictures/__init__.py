"""Lesson 3's pictures: those of the first sitting, about attention, and of the second, about blocks."""

from transformer_course.lessons.lesson_03.pictures import attention, blocks
from transformer_course.lessons.lesson_03.pictures.attention import *  # noqa: F403
from transformer_course.lessons.lesson_03.pictures.blocks import *  # noqa: F403

__all__ = [*attention.__all__, *blocks.__all__]
