"""Lesson 1's experiments: a glimpse of the end, learning rates, minibatches, depth, weight decay, a broken loss."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import pandas as pd
import torch
from torch import nn

from transformer_course import plots
from transformer_course.causal import CausalSeq2SeqTransformer
from transformer_course.lessons.lesson_04.experiments import attention_of
from transformer_course.progress import Progress
from transformer_course.seq2seq import CrossAttention
from transformer_course.seq2seq_fitting import fit, generate
from transformer_course.sequences import exact_match
from transformer_course.tasks import reversal
from transformer_course.tasks.curve import CurveData, noisy_curve

Params = list[tuple[torch.Tensor, torch.Tensor]]
LONGEST = 6  # letters in a row of the opening's task


def learn_to_reverse(
    rows: Sequence[str], seed: int = 0, steps: int = 200
) -> tuple[CausalSeq2SeqTransformer, pd.DataFrame, float]:
    """Train lesson 5's model to write rows of letters backwards.

    Returns the model, a table of what it wrote for `rows` while it learnt, and the share of 300 rows it got right
    that it had never seen.
    """
    data = reversal.reversal_task(seed, 4000, 300, LONGEST)
    shown = reversal.tensors(rows, LONGEST, LONGEST + 1)[0]  # (rows, LONGEST)
    torch.manual_seed(seed)
    model = CausalSeq2SeqTransformer(
        vocab_size=reversal.VOCAB_SIZE, max_length=LONGEST + 1, d_model=32, num_heads=4, d_ff=128, num_layers=1
    )
    written: dict[str, list[str]] = {}

    def written_for(source: torch.Tensor) -> torch.Tensor:
        ends = {"start_id": reversal.START_ID, "end_id": reversal.END_ID}
        return generate(model, source, **ends, max_length=LONGEST + 1)

    def watch(step: int) -> None:
        if step in (0, steps // 20, steps // 10, steps // 5, steps):
            written[f"after {step} steps"] = [reversal.ALPHABET.answer(ids) for ids in written_for(shown)]

    source, target = reversal.tensors(data.train, LONGEST, LONGEST + 1)
    fit(
        model,
        source,
        target,
        start_id=reversal.START_ID,
        steps=steps,
        learning_rate=8e-3,
        seed=seed,
        watch=watch,
        watch_every=steps // 20,
    )
    test_source, test_target = reversal.tensors(data.test, LONGEST, LONGEST + 1)
    share = float(exact_match(written_for(test_source), test_target))
    return model, pd.DataFrame(written, index=list(rows)), share


def attention_on(model: CausalSeq2SeqTransformer, row: str) -> torch.Tensor:
    """How much the model looks at each letter of `row` for each one that it writes: (written, read).

    This is the decoder's cross-attention, the mean of its heads.
    """
    source, target = reversal.tensors([row])
    start = torch.tensor([[reversal.START_ID]])
    (weights,) = attention_of(model, CrossAttention, source, torch.cat([start, target[:, :-1]], dim=1))
    return weights[0].mean(dim=0)[: len(row)]  # (heads, written, read) -> (written, read)


def where_it_looks(model: CausalSeq2SeqTransformer, row: str) -> plots.Picture:
    """A heat map of `attention_on`."""
    return plots.heatmap(
        attention_on(model, row).round(decimals=2),
        [f"writes {letter}" for letter in reversed(row)],
        list(row),
        columns="the letter that it reads",
        title="Where the model looks",
        low=0,
        high=1,
    )


def random_params(sizes: list[int], seed: int) -> Params:
    """Random [(W, b), ...] for a network of these sizes, drawn as `nn.Linear` draws its own.

    >>> [(tuple(W.shape), tuple(b.shape)) for W, b in random_params([1, 8, 2], seed=0)]
    [((1, 8), (8,)), ((8, 2), (2,))]
    """
    generator = torch.Generator().manual_seed(seed)
    params = []
    for d_in, d_out in pairwise(sizes):
        reach = d_in**-0.5  # many inputs add up, so each gets a smaller weight
        W = reach * (2 * torch.rand(d_in, d_out, generator=generator) - 1)
        b = reach * (2 * torch.rand(d_out, generator=generator) - 1)
        params.append((W, b))
    return params


def slopes_by_nudging(
    loss: Callable[[Params], torch.Tensor], params: Params, places: Iterable[tuple[int, tuple[int, int]]]
) -> list[float]:
    """The slope of `loss` for some weights, without calculus: nudge one by a millionth, and divide.

    A place is (layer, (row, column)) of a W. Hand in float64: in float32 a millionth would be lost.
    """
    slopes = []
    for layer, place in places:
        nudged = [(W.clone(), b) for W, b in params]
        nudged[layer][0][place] += 1e-6
        slopes.append((loss(nudged) - loss(params)).item() / 1e-6)
    return slopes


def detached(params: Iterable[Sequence[torch.Tensor]]) -> Params:
    """The same pairs without a history, so that no graph grows from step to step, however a step was written."""
    return [(W.detach(), b.detach()) for W, b in params]


def silent_units(params: Params, inputs: torch.Tensor) -> list[int]:
    """How many units of each hidden layer are 0 on all inputs."""
    x, silent = inputs, []
    for W, b in params[:-1]:
        x = torch.relu(x @ W + b)
        silent.append(int((x == 0).all(dim=0).sum()))
    return silent


def copy_into(model: Any, params: Params) -> None:
    """Give `model` (an `MLP`) the weights of `params`. A Linear stores (d_out, d_in), hence the transpose."""
    with torch.no_grad():
        for layer, (W, b) in zip(model.layers, params, strict=True):
            layer.weight.copy_(W.T)
            layer.bias.copy_(b)


def descend(
    mse_loss: Callable[..., torch.Tensor],
    loss_gradients: Callable[..., Params],
    sgd_step: Callable[..., Params],
    params: Params,
    batch: tuple[torch.Tensor, torch.Tensor],
    learning_rate: float,
    steps: int,
) -> tuple[Params, list[float]]:
    """Gradient descent with the learner's three functions: the last parameters and all losses."""
    losses = []
    for _ in (bar := Progress(range(steps), desc=f"rate {learning_rate}")):
        losses.append(float(mse_loss(params, batch)))
        bar.show_loss(losses[-1])
        params = detached(sgd_step(params, detached(loss_gradients(params, batch)), learning_rate))
    return params, losses


def largest_gap(*runs: Sequence[float]) -> float:
    """How far apart runs of one length are where they differ most.

    >>> largest_gap([4.0, 1.0], [4.0, 1.5], [4.0, 1.25])
    0.5
    """
    gap: float = max(max(losses) - min(losses) for losses in zip(*runs, strict=True))
    return gap


def rates_chart(by_rate: Mapping[float, Sequence[float]], levels: Mapping[str, float]) -> plots.Picture:
    """The training loss with each learning rate."""
    return plots.curves(
        {f"rate {rate}": losses for rate, losses in by_rate.items()},
        title="Training loss",
        log_y=True,
        y_limits=(0.05, 200),
        levels=levels,
    )


def last_losses_chart(by_rate: Mapping[float, Sequence[float]], guess: float | None) -> plots.Picture:
    """Where each learning rate ended."""
    return plots.bars(
        {f"rate {rate}": losses[-1] for rate, losses in by_rate.items()},
        title="Training loss after 1,000 steps",
        x_label="loss, on a logarithmic scale",
        guess=f"rate {guess}",
        log_x=True,
    )


def loss_on_test(model: Callable[[torch.Tensor], torch.Tensor], data: CurveData) -> float:
    """Mean squared error on the test points. No graph is recorded, since nobody needs a gradient here."""
    with torch.no_grad():
        return float(((model(data.test_inputs) - data.test_targets) ** 2).mean())


def average_losses(
    train: Callable[..., list[float]],
    build: Callable[[], tuple[nn.Module, torch.optim.Optimizer]],
    seeds: Iterable[int],
    steps: int,
) -> tuple[float, float]:
    """Training and test loss of one recipe, averaged over several data sets, so that luck evens out.

    `build` makes a fresh model with its optimiser; each seed draws its own data and its own start.
    """
    train_losses, test_losses = [], []
    for seed in seeds:
        data = noisy_curve(seed)
        torch.manual_seed(seed)
        model, optimizer = build()
        train_losses.append(train(model, data.train_inputs, data.train_targets, optimizer, steps)[-1])
        test_losses.append(loss_on_test(model, data))
    return sum(train_losses) / len(train_losses), sum(test_losses) / len(test_losses)


def minibatches(
    inputs: torch.Tensor, targets: torch.Tensor, batch_size: int
) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """One epoch, as the lesson's text has it: every example once, in a new order, `batch_size` at a time."""
    order = torch.randperm(len(inputs))
    for rows in torch.split(order, batch_size):
        yield inputs[rows], targets[rows]


def by_epochs(
    model: nn.Module, data: CurveData, batch_size: int, epochs: int, learning_rate: float = 0.05, seed: int = 0
) -> tuple[list[float], int]:
    """Plain SGD on minibatches: the test loss after each epoch, and how many steps were taken in all."""
    torch.manual_seed(seed)
    optimizer = torch.optim.SGD(model.parameters(), lr=learning_rate)
    losses, steps = [], 0
    for _ in (bar := Progress(range(epochs), desc=f"epochs, {batch_size} at a time")):
        for inputs, targets in minibatches(*data.train, batch_size):
            optimizer.zero_grad()
            ((model(inputs) - targets) ** 2).mean().backward()
            optimizer.step()
            steps += 1
        losses.append(loss_on_test(model, data))
        bar.show_loss(losses[-1])
    return losses, steps


def epochs_chart(mini_losses: Sequence[float], full_losses: Sequence[float], noise: float) -> plots.Picture:
    """The test loss after each of ten epochs, and the noise that nobody can predict."""
    return plots.curves(
        {"minibatches of 24": mini_losses, "full batch": full_losses},
        x=range(1, 11),
        title="Ten epochs on 2,400 points",
        x_label="epoch",
        y_label="test loss",
        levels={"noise": noise**2},
    )


def by_depth(
    MLP: Callable[[list[int]], nn.Module],
    train: Callable[..., list[float]],
    depths: Iterable[int],
    seeds: Iterable[int],
    width: int = 32,
    steps: int = 800,
) -> dict[int, tuple[float, float]]:
    """{number of hidden layers: (training loss, test loss)}, each trained with Adam for `steps` steps."""
    losses = {}
    for depth in (bar := Progress(list(depths), desc="hidden layers")):

        def build(depth: int = depth) -> tuple[nn.Module, torch.optim.Optimizer]:
            model = MLP([1] + [width] * depth + [1])
            return model, torch.optim.Adam(model.parameters(), lr=0.005)

        losses[depth] = average_losses(train, build, seeds, steps)
        bar.show_loss(losses[depth][1])
    return losses


def decayed_sgd(model: Any, weight_decay: float, learning_rate: float, momentum: float = 0.0) -> torch.optim.SGD:
    """SGD with weight decay for the weights and none for the biases."""
    weights = [layer.weight for layer in model.layers]
    biases = [layer.bias for layer in model.layers]
    groups: list[dict[str, Any]] = [
        {"params": weights, "weight_decay": weight_decay},
        {"params": biases, "weight_decay": 0.0},
    ]
    return torch.optim.SGD(groups, lr=learning_rate, momentum=momentum)


def by_weight_decay(
    MLP: Callable[[list[int]], nn.Module],
    train: Callable[..., list[float]],
    decays: Iterable[float],
    seeds: Iterable[int],
    sizes: Iterable[int] = (1, 64, 64, 64, 1),
    steps: int = 1000,
) -> dict[float, tuple[float, float]]:
    """{weight decay: (training loss, test loss)} of a network that is large for 24 points."""
    losses = {}
    for decay in (bar := Progress(list(decays), desc="weight decay")):

        def build(decay: float = decay) -> tuple[nn.Module, torch.optim.Optimizer]:
            model = MLP(list(sizes))
            return model, decayed_sgd(model, decay, learning_rate=0.05, momentum=0.9)

        losses[decay] = average_losses(train, build, seeds, steps)
        bar.show_loss(losses[decay][1])
    return losses


def both_losses_chart(
    losses: Mapping[Any, tuple[float, float]], x_label: str, levels: Mapping[str, float]
) -> plots.Picture:
    """What `by_depth` or `by_weight_decay` measured: training and test loss."""
    train_losses, test_losses = zip(*losses.values(), strict=True)
    return plots.curves(
        {"training loss": train_losses, "test loss": test_losses},
        x_names=[str(setting) for setting in losses],
        title="Mean of five data sets",
        x_label=x_label,
        levels=levels,
    )


def bars_of_test_losses(losses: Mapping[Any, tuple[float, float]], by: str, guess: float | None) -> plots.Picture:
    """The test losses alone, with their numbers."""
    return plots.bars(
        {str(setting): test_loss for setting, (_, test_loss) in losses.items()},
        title=f"Test loss by {by}",
        guess=str(guess),
    )


def fit_with(
    loss_function: Callable[[torch.Tensor, torch.Tensor], torch.Tensor],
    model: nn.Module,
    inputs: torch.Tensor,
    targets: torch.Tensor,
    steps: int = 1000,
) -> list[float]:
    """Train `model` with any loss function: the loss before each step."""
    descent = torch.optim.SGD(model.parameters(), lr=0.05)
    losses = []
    for _ in (bar := Progress(range(steps), desc="training")):
        loss = loss_function(model(inputs), targets)
        descent.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        descent.step()
        losses.append(loss.item())
        bar.show_loss(losses[-1])
    return losses


def examine(
    loss_is_sound: Callable[..., Any], patients: Mapping[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]]
) -> pd.DataFrame:
    """What the learner's test says of each loss; an error on the way is an answer too.

    A test may try whole numbers or NumPy arrays, which says nothing about the loss, so all losses get float64 tensors.
    """

    def verdict(loss: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]) -> str:
        def asked(predictions: Any, targets: Any) -> torch.Tensor:
            return loss(torch.as_tensor(predictions).double(), torch.as_tensor(targets).double())

        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # F.mse_loss warns about the shapes, and carries on
                return "yes" if loss_is_sound(asked) else "no"
        except Exception as error:  # a loss may refuse a shape, and a test need not catch that
            return f"stopped: {type(error).__name__}"

    return pd.DataFrame({"sound?": [verdict(patient) for patient in patients.values()]}, index=list(patients))
