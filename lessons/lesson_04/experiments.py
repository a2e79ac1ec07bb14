"""Lesson 4's experiments: a shortcut to beat, one sample walked through, and what the decoder looks at."""

import math
from collections.abc import Callable

import pandas as pd
import torch
from torch import nn

from course.tasks.alphabet import Alphabet

Model = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def toy_logits() -> torch.Tensor:
    """The picture's chances as logits: (1, 3, 4), the symbols being padding, 2, 4 and the end mark.

    >>> toy_logits().softmax(dim=-1)[0, 0]
    tensor([0.2500, 0.5000, 0.1250, 0.1250])
    """
    chances = [[1 / 4, 1 / 2, 1 / 8, 1 / 8], [1 / 4, 1 / 4, 1 / 4, 1 / 4], [1 / 8, 1 / 8, 1 / 4, 1 / 2]]
    return torch.tensor(chances).log().unsqueeze(0)


def sure_of(ids: torch.Tensor, vocab_size: int) -> torch.Tensor:
    """Logits that say these ids and are sure of it: (batch, length) -> (batch, length, vocab_size).

    >>> sure_of(torch.tensor([[2, 0]]), 3).argmax(dim=-1)
    tensor([[2, 0]])
    """
    return 10.0 * nn.functional.one_hot(ids, vocab_size).float()


def commonest_by_place(train_target: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """The shortcut that reads no source: at each place, the training data's commonest token. Ids like `target`.

    Padding is not counted among the tokens.

    >>> commonest_by_place(torch.tensor([[5, 7], [5, 0], [6, 7]]), torch.tensor([[6, 7]]))
    tensor([[5, 7]])
    """
    columns = [column[column != 0] for column in train_target.T]
    return torch.stack([column.mode().values for column in columns]).expand_as(target)


def share_of_padding(target: torch.Tensor) -> float:
    """How much of a target tensor is padding.

    >>> share_of_padding(torch.tensor([[5, 7, 0, 0]]))
    0.5
    """
    return (target == 0).float().mean().item()


def answers_table(
    alphabet: Alphabet, source: torch.Tensor, target: torch.Tensor, predicted: torch.Tensor
) -> pd.DataFrame:
    """Source, wanted and predicted answer, row by row, as texts; what is predicted over padding is left out."""
    rows = []
    for asked, wanted, said in zip(source, target, predicted, strict=True):
        length = int((wanted != 0).sum())
        right = bool((said[:length] == wanted[:length]).all())
        rows.append(
            {
                "source": alphabet.text(asked).rstrip("_"),
                "wanted": alphabet.text(wanted[:length]),
                "predicted": alphabet.text(said[:length]),
                "": "right" if right else "wrong",
            }
        )
    return pd.DataFrame(rows)


def attention_of(
    model: nn.Module, kind: type[nn.Module], source: torch.Tensor, target_input: torch.Tensor
) -> list[torch.Tensor]:
    """The weights of all layers of this kind, in the order in which they run: each (batch, heads, rows, columns)."""
    seen: list[torch.Tensor] = []

    def keep(_layer: nn.Module, _inputs: object, result: tuple[torch.Tensor, torch.Tensor]) -> None:
        seen.append(result[1].detach().cpu())

    hooks = [layer.register_forward_hook(keep) for layer in model.modules() if isinstance(layer, kind)]
    device = next(model.parameters()).device
    try:
        with torch.no_grad():
            model(source.to(device), target_input.to(device))
    finally:
        for hook in hooks:
            hook.remove()
    return seen


def parameters_of(model: nn.Module) -> int:
    """How many numbers a model learns."""
    return sum(math.prod(parameter.shape) for parameter in model.parameters())


def target_influence(
    encoder_influence: Callable[[Model, torch.Tensor, torch.Tensor], float],
    model: Model,
    source: torch.Tensor,
    target_input: torch.Tensor,
) -> float:
    """The learner's measure with the roles exchanged: how far the answers move when the *target input* changes."""
    return encoder_influence(lambda written, asked: model(asked, written), target_input, source)
