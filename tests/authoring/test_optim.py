"""The optimisers for probes: they do what PyTorch's do, and import no compiler."""

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
import torch

from cellcheck.authoring import optim

KINDS: dict[str, Callable[[Any, Any], torch.optim.Optimizer]] = {
    "momentum": lambda package, parameters: package.SGD(parameters, lr=0.1, momentum=0.9),
    "climbing": lambda package, parameters: package.SGD(parameters, lr=0.1, maximize=True),
    "Adam": lambda package, parameters: package.Adam(parameters, lr=0.1, weight_decay=0.01),
}
_COMPILED = """
import sys
import torch
from cellcheck.authoring import optim
w = torch.ones(3, requires_grad=True)
for kind in (optim.SGD, optim.Adam):
    optimizer = kind([w], lr=0.1)
    optimizer.zero_grad()
    w.sum().backward()
    optimizer.step()
    optimizer.load_state_dict(optimizer.state_dict())
print("torch._dynamo" in sys.modules)
torch.optim.SGD([w])
print("torch._dynamo" in sys.modules)
"""


def trained(package: Any, kind: str) -> tuple[torch.Tensor, str, dict[str, Any], list[int]]:
    """What comes of a few steps: the weights, how the optimiser prints, its state, and which hooks were called."""
    weights = torch.arange(1.0, 4.0).requires_grad_()
    optimizer = KINDS[kind](package, [weights])
    optimizer.add_param_group({"params": [torch.ones(1, requires_grad=True)], "lr": 0.5})
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 / (step + 1))
    calls: list[int] = []
    optimizer.register_step_post_hook(lambda *_: calls.append(1))

    def loss() -> float:
        optimizer.zero_grad()
        result = (weights**3).sum()
        result.backward()  # type: ignore[no-untyped-call]
        return result.item()

    for _ in range(3):
        loss()
        optimizer.step()
        schedule.step()
    other = KINDS[kind](package, [weights])
    other.add_param_group({"params": [torch.ones(1, requires_grad=True)], "lr": 0.5})
    other.load_state_dict(optimizer.state_dict())
    other.step(loss)
    return weights.detach().clone(), repr(other), other.state_dict(), calls


@pytest.mark.parametrize("kind", KINDS)
def test_they_do_what_pytorchs_do(kind: str) -> None:
    weights, printed, state, calls = trained(optim, kind)
    theirs, printed_by_theirs, their_state, their_calls = trained(torch.optim, kind)
    assert torch.equal(weights, theirs)
    assert (printed, calls) == (printed_by_theirs, their_calls)
    assert str(state) == str(their_state)
    assert isinstance(KINDS[kind](optim, [weights]), torch.optim.SGD | torch.optim.Adam)


def test_they_import_no_compiler() -> None:
    """Should PyTorch's no longer import it either, these are needed no more."""
    done = subprocess.run([sys.executable, "-c", _COMPILED], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]
