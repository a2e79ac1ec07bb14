"""What is seen of a module, forward and backward, or forward alone; and a module that stands in for a patient."""

import pytest
import torch
from torch import nn

from cellcheck.authoring import Case
from cellcheck.authoring.modules import StandIn, built, followed, forward_only


class Careless(nn.Module):
    """A module that isn't one yet when it gets its first part."""

    def __init__(self, width: int) -> None:
        self.scale = nn.Parameter(torch.ones(width))


class Unlucky(nn.Module):
    """A module whose `__init__` stops for a reason of its own."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.scale = width.there_is_no_such_thing  # type: ignore[attr-defined]


def test_a_forgotten_super_is_named_and_any_other_error_passes() -> None:
    with pytest.raises(TypeError, match=r"Careless .* super\(\).__init__\(\)"):
        built(Careless, 3)
    with pytest.raises(AttributeError, match="there_is_no_such_thing"):
        built(Unlucky, 3)


def test_a_case_may_do_without_gradients() -> None:
    case = forward_only(Case.of("on a row", "one", x=torch.ones(1, 3)))
    assert (case.label, case.tags, case.inputs["forward_only"]) == ("on a row", frozenset({"one"}), True)
    weights = {"weight": torch.eye(3), "bias": torch.zeros(3)}
    both, forward = (
        followed(nn.Linear(3, 3), weights, [torch.ones(1, 3)], forward_only=only) for only in (False, True)
    )
    assert torch.equal(both["output"], forward["output"])
    assert both["parts"] == forward["parts"]
    assert both.keys() - forward.keys() == {"gradients", "unused"}


def test_what_a_stand_in_returns_hangs_on_its_parameters_only_where_gradients_are_recorded() -> None:
    model = StandIn(lambda way, *arguments: torch.ones(2), {"weight": torch.ones(3)})
    assert model(torch.ones(1)).requires_grad
    with torch.no_grad():
        assert not model(torch.ones(1)).requires_grad


def test_a_dropout_that_nobody_asked_for_is_told_in_words_wherever_it_is() -> None:
    class Dropping(nn.Linear):
        def forward(self, input: torch.Tensor) -> torch.Tensor:
            return super().forward(nn.functional.dropout(input, 0.1, self.training))

    seen = followed(Dropping(3, 3), {"weight": torch.eye(3)}, [torch.ones(1, 3)])
    assert seen["output"].startswith("Your module draws random numbers")


def test_a_dropout_written_by_hand_may_draw_numbers_where_it_drops_nothing() -> None:
    class Own(nn.Linear):
        rate = 0.0

        def forward(self, input: torch.Tensor) -> torch.Tensor:
            return super().forward(input * (torch.rand_like(input) >= self.rate) / (1 - self.rate))

    seen = followed(Own(3, 3), {"weight": torch.eye(3)}, [torch.ones(1, 3)])
    assert isinstance(seen["output"], torch.Tensor)
