"""The static pictures that stand in the lessons' prose: functions that return a matplotlib figure.

A lesson writes `![what one sees](picture:broadcasting)`, and the build draws `pictures.broadcasting()`.
"""

from course.plots.pictures.lesson_01 import *  # noqa: F403
from course.plots.pictures.lesson_02 import *  # noqa: F403
from course.plots.pictures.lesson_03 import *  # noqa: F403
from course.plots.pictures.lesson_03_blocks import *  # noqa: F403
from course.plots.pictures.lesson_04 import *  # noqa: F403
from course.plots.pictures.lesson_05 import *  # noqa: F403
from course.plots.pictures.lesson_06 import *  # noqa: F403
from course.plots.pictures.lesson_07 import *  # noqa: F403
