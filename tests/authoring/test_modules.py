"""What is seen of a module, forward and backward, or forward alone; and a module that stands in for a patient."""

import torch
from torch import nn

from cellcheck.authoring import Case
from cellcheck.authoring.modules import StandIn, followed, forward_only


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
