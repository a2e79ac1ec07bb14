"""Lesson 4's experiments: a shortcut to beat, one batch followed through the model, a diary of the training."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd
import torch
from torch import nn

from transformer_course import plots
from transformer_course.attention import MultiHeadAttention, padding_mask
from transformer_course.blocks import FeedForward, LayerNorm
from transformer_course.plots import Picture
from transformer_course.seq2seq_fitting import generate, predict
from transformer_course.tasks.alphabet import Alphabet

Model = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
Measure = Callable[[torch.Tensor, torch.Tensor], Any]
Influence = Callable[[Model, torch.Tensor, torch.Tensor], Any]


def toy_logits() -> torch.Tensor:
    """The picture's probabilities as logits: (1, 3, 4); the symbols are padding, 2, 4 and the end mark.

    >>> toy_logits().softmax(dim=-1)[0, 0]
    tensor([0.2500, 0.5000, 0.1250, 0.1250])
    """
    chances = [[1 / 4, 1 / 2, 1 / 8, 1 / 8], [1 / 4, 1 / 4, 1 / 4, 1 / 4], [1 / 8, 1 / 8, 1 / 4, 1 / 2]]
    return torch.tensor(chances).log().unsqueeze(0)


def sure_of(ids: torch.Tensor, vocab_size: int) -> torch.Tensor:
    """Logits that predict these ids with confidence: (batch, length) -> (batch, length, vocab_size).

    >>> sure_of(torch.tensor([[2, 0]]), 3).argmax(dim=-1)
    tensor([[2, 0]])
    """
    return 10.0 * nn.functional.one_hot(ids, vocab_size).float()


def commonest_by_place(train_target: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """The shortcut that reads no source: at each position, the training data's most common token. Ids like `target`.

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


def draw_lazy(flattered: float, honest: float, chance: float) -> Picture:
    """What a model that predicts nothing but padding earns, with padding counted and without."""
    return plots.bars(
        {"padding counted": flattered, "your token_accuracy": honest},
        title="A model that predicts nothing but padding",
        x_label="share of positions right",
        levels={"chance": chance},
    )


def right_now_and_then(share: float, rows: int, length: int, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    """Predictions and targets, both (rows, length): each token is right with probability `share`, independently.

    >>> said, wanted = right_now_and_then(0.9, rows=2000, length=5)
    >>> 0.88 < (said == wanted).float().mean() < 0.92
    tensor(True)
    """
    generator = torch.Generator().manual_seed(seed)
    wanted = torch.ones(rows, length, dtype=torch.long)
    return wanted + (torch.rand(rows, length, generator=generator) >= share).long(), wanted  # 2 is a wrong token


def draw_by_row_length(shares: Mapping[str, Sequence[float]], title: str) -> Picture:
    """Shares for rows of one token, of two, and so on."""
    lengths = range(1, 1 + max(map(len, shares.values())))
    return plots.curves(shares, x=lengths, title=title, x_label="tokens in a row", y_label="share", y_limits=(0, 1))


def shown_and_wanted(
    alphabet: Alphabet, source: torch.Tensor, target_input: torch.Tensor, target: torch.Tensor
) -> pd.DataFrame:
    """One row per problem: at each position, what the decoder is shown and what it should say."""
    table = [
        [f"{alphabet.text([shown])} → {alphabet.text([wanted])}" for shown, wanted in zip(*pair, strict=True)]
        for pair in zip(target_input, target, strict=True)
    ]
    return pd.DataFrame(table, index=[alphabet.text(row).rstrip("_") for row in source])


def answers_table(
    alphabet: Alphabet, source: torch.Tensor, target: torch.Tensor, predicted: torch.Tensor
) -> pd.DataFrame:
    """Source, correct answer and predicted answer, row by row, as texts; predictions over padding are left out."""
    rows = []
    for asked, wanted, answer in zip(source, target, predicted, strict=True):
        length = int((wanted != 0).sum())
        right = bool((answer[:length] == wanted[:length]).all())
        rows.append(
            {
                "source": alphabet.text(asked).rstrip("_"),
                "wanted": alphabet.text(wanted[:length]),
                "predicted": alphabet.text(answer[:length]),
                "": "right" if right else "wrong",
            }
        )
    return pd.DataFrame(rows)


def wrong_ones_first(table: pd.DataFrame, wrong: int = 4, right: int = 8) -> pd.DataFrame:
    """A few rows of an `answers_table`: the wrong answers, then the right ones."""
    return pd.concat([table[table[""] == "wrong"].head(wrong), table[table[""] == "right"].head(right)])


def attention_of(
    model: nn.Module, kind: type[nn.Module], source: torch.Tensor, target_input: torch.Tensor
) -> list[torch.Tensor]:
    """The weights of all layers of this kind, in the order in which they run: each (batch, heads, rows, columns)."""
    return _returned_weights(model, source, target_input, lambda layer: isinstance(layer, kind))


def cross_attention_weights(model: nn.Module, source: torch.Tensor, target_input: torch.Tensor) -> torch.Tensor | None:
    """The first cross-attention's weights, (batch, heads, target_length, source_length), whatever its class is called.

    They are known by their shape, so the two lengths must differ. None if no part of the model returns such weights.
    """
    looks = _returned_weights(model, source, target_input, lambda layer: True)
    shape = (target_input.shape[1], source.shape[1])
    return next((weights for weights in looks if weights.dim() == 4 and weights.shape[-2:] == shape), None)


def _returned_weights(
    model: nn.Module, source: torch.Tensor, target_input: torch.Tensor, wanted: Callable[[nn.Module], bool]
) -> list[torch.Tensor]:
    """What the wanted parts of a model return beside their output."""
    seen: list[torch.Tensor] = []

    def keep(_layer: nn.Module, _inputs: object, result: object) -> None:
        if isinstance(result, tuple | list) and len(result) == 2 and isinstance(result[1], torch.Tensor):
            seen.append(result[1].detach().cpu())

    hooks = [layer.register_forward_hook(keep) for layer in model.modules() if wanted(layer)]
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


def walk_through(
    model: Any,
    alphabet: Alphabet,
    source: torch.Tensor,
    target: torch.Tensor,
    target_input: torch.Tensor,
    loss_function: Measure,
) -> pd.DataFrame:
    """One batch on its way through an encoder-decoder: each tensor, its shape, and what it says about each problem."""
    with torch.no_grad():
        states = model.encode(source)
        logits = model.decode(target_input, states, source)
    weights = cross_attention_weights(model, source, target_input)
    mask = padding_mask(source)

    def texts(ids: torch.Tensor) -> list[str]:
        return [alphabet.text(row) for row in ids]

    steps: list[tuple[str, Any, list[str]]] = [
        ("source", source, texts(source)),
        ("padding_mask(source)", mask, ["".join("01"[int(x)] for x in row.flatten()) for row in mask]),
        ("encoder states", states, ["a vector for each source token"] * len(source)),
        ("target", target, texts(target)),
        ("target input", target_input, texts(target_input)),
        ("self mask", None, ["none: the target tokens see each other"] * len(source)),
        ("cross-attention weights", weights, ["a table for each head"] * len(source)),
        ("logits", logits, ["a score for each symbol, at each place"] * len(source)),
        ("what the model says", logits.argmax(-1), texts(logits.argmax(-1))),
        (
            "loss",
            loss_function(logits, target),
            [f"{float(loss_function(*pair)):.2f}" for pair in zip(logits[:, None], target[:, None], strict=True)],
        ),
    ]
    return pd.DataFrame(
        [(name, "" if tensor is None else str(tuple(tensor.shape)), *words) for name, tensor, words in steps],
        columns=["", "shape", *(text.rstrip("_") for text in texts(source))],
    )


class Diary:
    """How a model does on test data while it trains: hand it to `fit` as `watch`.

    On the first `count` rows it notes the loss, the share of rows that are right with a teacher, the same share when
    the model writes on its own, and what the model says to the first few problems.
    """

    def __init__(
        self,
        model: nn.Module,
        alphabet: Alphabet,
        source: torch.Tensor,
        target: torch.Tensor,
        *,
        shift: Callable[[torch.Tensor, int], torch.Tensor],
        loss_function: Measure,
        exact_match: Measure,
        count: int = 100,
    ) -> None:
        self.model, self.alphabet, self.source, self.target = model, alphabet, source[:count], target[:count]
        self._shift, self._loss_function, self._exact_match = shift, loss_function, exact_match
        self.steps: list[int] = []
        self.losses: list[float] = []
        self.taught: list[float] = []
        self.alone: list[float] = []
        self._said: dict[str, list[torch.Tensor]] = {"taught": [], "alone": []}

    def __call__(self, step: int) -> None:
        """Note how the model does after `step` steps."""
        start, end = self.alphabet.start_id, self.alphabet.end_id
        logits = predict(self.model, self.source, self.target, start_id=start, shift=self._shift)
        answers = logits.argmax(-1)
        written = generate(self.model, self.source, start_id=start, end_id=end, max_length=self.target.shape[1])
        self.steps.append(step)
        self.losses.append(float(self._loss_function(logits, self.target)))
        self.taught.append(float(self._exact_match(answers, self.target)))
        self.alone.append(float(self._exact_match(written, self.target)))
        self._said["taught"].append(answers[:5])
        self._said["alone"].append(written[:5])

    def draw_losses(self, training: Sequence[float], title: str, levels: Mapping[str, float]) -> Picture:
        """The training loss of each step and the test loss, at the steps that were noted."""
        lines = {"training": training[:: self.steps[1] - self.steps[0]], "test": self.losses}
        return plots.curves(lines, x=self.steps, title=title, log_y=True, levels=levels)

    def samples(self, of: str, steps: Sequence[int]) -> pd.DataFrame:
        """What the model said to the first problems after those of `steps` that were noted; the last row is right.

        `of` is "taught" or "alone".
        """
        texts = self.alphabet.text
        wanted = self.target[:5]
        lengths = (wanted != 0).sum(dim=1).tolist()
        table = {
            f"step {step}": [
                texts(row[:n]) for row, n in zip(self._said[of][self.steps.index(step)], lengths, strict=True)
            ]
            for step in steps
            if step in self.steps
        }
        table["right answer"] = [texts(row[:n]) for row, n in zip(wanted, lengths, strict=True)]
        return pd.DataFrame(table, index=[texts(row).rstrip("_") for row in self.source[:5]]).T


class BlockParts(nn.Module):
    """The parts of a decoder block; what it does with them is up to the subclass.

    Both attentions are MultiHeadAttentions: `self.self_attention` and `self.cross_attention`.
    """

    def __init__(self, d_model: int, num_heads: int, d_ff: int) -> None:
        super().__init__()
        self.self_attention, self.cross_attention = (MultiHeadAttention(d_model, num_heads) for _ in range(2))
        self.feed_forward = FeedForward(d_model, d_ff)
        self.norm1, self.norm2, self.norm3 = (LayerNorm(d_model) for _ in range(3))


def with_blocks(block: type[nn.Module], vocab_size: int, sizes: Mapping[str, int], seed: int = 0) -> nn.Module:
    """The course's encoder-decoder with decoder blocks of another class, called as `block(d_model, num_heads, d_ff)`.

    `sizes` are max_length, d_model, num_heads, d_ff and num_layers.
    """
    from transformer_course.seq2seq import Seq2SeqTransformer

    torch.manual_seed(seed)
    model = Seq2SeqTransformer(vocab_size, **sizes)
    model.decoder = nn.ModuleList(
        block(sizes["d_model"], sizes["num_heads"], sizes["d_ff"]) for _ in range(sizes["num_layers"])
    )
    return model


class Frozen(nn.Module):
    """A model whose encoder the decoder listens to, but which never learns: its states are detached."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, source: torch.Tensor, target_input: torch.Tensor) -> torch.Tensor:
        inner: Any = self.inner
        logits: torch.Tensor = inner.decode(target_input, inner.encode(source).detach(), source)
        return logits


def hearing_table(
    models: Mapping[str, nn.Module],
    encoder_influence: Influence,
    loss_function: Measure,
    source: torch.Tensor,
    target_input: torch.Tensor,
    target: torch.Tensor,
) -> pd.DataFrame:
    """For each model its encoder influence, and how many of its parameters get no gradient from the loss."""
    rows = []
    for name, model in models.items():
        model.zero_grad()
        loss_function(model(source, target_input), target).backward()
        silent = sum(parameter.grad is None for parameter in model.parameters())
        model.zero_grad()
        influence = float(encoder_influence(model, source, target_input))
        rows.append((name, influence, "yes" if influence > 0 else "no", silent))
    columns = ["model", "encoder influence", "does it listen?", "parameters without a gradient"]
    return pd.DataFrame(rows, columns=columns).round(3)


def first_tokens_right(predicted: torch.Tensor, target: torch.Tensor) -> float:
    """The share of rows whose first token is right.

    >>> first_tokens_right(torch.tensor([[5, 7], [6, 7]]), torch.tensor([[5, 9], [5, 7]]))
    0.5
    """
    return (predicted[:, 0] == target[:, 0]).float().mean().item()


def draw_cliff(**models: tuple[float, float]) -> Picture:
    """Exact match of each model, with a teacher and on its own.

    >>> draw_cliff(sums=(1.0, 0.0))
    The same models, the same test data (exact match)
    sums, with a teacher: 1
    sums, on its own: 0
    """
    bars = {
        f"{name}, {way}": score
        for name, scores in models.items()
        for way, score in zip(("with a teacher", "on its own"), scores, strict=True)
    }
    return plots.bars(bars, title="The same models, the same test data", x_label="exact match")


def target_influence(
    encoder_influence: Influence, model: Model, source: torch.Tensor, target_input: torch.Tensor
) -> float:
    """The learner's measure with the roles swapped: how far the logits move when the *target input* changes."""

    def swapped(source: torch.Tensor, target_input: torch.Tensor) -> torch.Tensor:
        return model(target_input, source)

    return float(encoder_influence(swapped, target_input, source))
