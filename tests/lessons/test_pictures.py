"""The pictures in the lessons' prose: each draws, on a solid light card, the same each time."""

import inspect
from types import ModuleType

import matplotlib as mpl
import pytest
import torch
from matplotlib.figure import Figure

from cellcheck.syllabus import find_lesson, lesson_names
from transformer_course import plots
from transformer_course.plots.style import CARD

MODULES = {name: find_lesson(name)[0].part(name, "pictures") for name in lesson_names()}


@pytest.mark.parametrize(
    ("module", "name"),
    [(module, name) for module in MODULES.values() for name in module.__all__],
    ids=[f"{lesson[:2]}-{name}" for lesson, module in MODULES.items() for name in module.__all__],
)
def test_each_picture_draws(module: ModuleType, name: str) -> None:
    figure = getattr(module, name)()
    assert isinstance(figure, Figure)
    assert mpl.colors.same_color(figure.get_facecolor(), CARD)
    assert inspect.getdoc(getattr(module, name))


@pytest.mark.parametrize("lesson", MODULES)
def test_a_picture_is_the_same_each_time_and_disturbs_no_random_numbers(lesson: str) -> None:
    draw = getattr(MODULES[lesson], MODULES[lesson].__all__[0])
    torch.manual_seed(5)
    before = torch.get_rng_state()
    first = plots.Picture(draw(), "").png()
    assert torch.equal(before, torch.get_rng_state())
    assert plots.Picture(draw(), "").png() == first
