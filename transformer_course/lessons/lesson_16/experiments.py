"""What the longer cells of lesson 16 run: a model that is shown a few sums, and then only told whether it is right."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field

import pandas as pd
import torch
from torch import nn

from transformer_course import plots
from transformer_course.fitting import evaluating
from transformer_course.language_model.gpt import DecoderOnlyTransformer
from transformer_course.plots.picture import Picture
from transformer_course.progress import Progress
from transformer_course.rewards.groups import group_advantages, pass_at_k
from transformer_course.rewards.judging import exact_reward
from transformer_course.rewards.leash import kl_estimate
from transformer_course.rewards.policy import answer_log_probs, policy_gradient_loss, sample_answers
from transformer_course.rewards.sums import ANSWER, PROMPT, SYMBOLS, as_text
from transformer_course.training_well.gradients import clip_gradients

SHOWN, SHOWN_STEPS = 200, 100
"""How many sums a model is shown with their answers, and for how many steps."""
BATCH, QUESTIONS, SAMPLES = 64, 32, 16
RATE, REWARD_RATE, MAX_NORM = 2e-3, 1e-3, 1.0
EVERY = 25
Reward = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


@dataclass(frozen=True)
class Tools:
    """What a reader has built; by default, the course's own."""

    sample_answers: Callable[..., torch.Tensor] = sample_answers
    answer_log_probs: Callable[..., torch.Tensor] = answer_log_probs
    group_advantages: Callable[..., torch.Tensor] = group_advantages
    policy_gradient_loss: Callable[..., torch.Tensor] = policy_gradient_loss
    kl_estimate: Callable[..., torch.Tensor] = kl_estimate


@dataclass
class Run:
    """What was seen of a model while it learnt."""

    seen: list[dict[str, float]] = field(default_factory=list)

    @property
    def table(self) -> pd.DataFrame:
        """A row each time that somebody looked: step, processor seconds, and shares."""
        return pd.DataFrame(self.seen)

    @property
    def last(self) -> Mapping[str, float]:
        return self.seen[-1]

    def curves(self, title: str) -> Picture:
        """The share of right answers while it learns from rewards: on the test, and among those that it samples.

        >>> Run([{"step": 0, "right": 0.0, "reward": 0.25}, {"step": 50, "right": 1.0, "reward": 0.5}]).curves("Right")
        Right (share by update)
        greedy, on the test: 0 at 0, 1 at 50
        sampled, in training: 0.25 at 0, 0.5 at 50
        """
        columns = {"greedy, on the test": "right", "sampled, in training": "reward"}
        return _over_updates({name: self.table[["step", what]] for name, what in columns.items()}, title, "share")


def new_model(seed: int = 0) -> DecoderOnlyTransformer:
    """The GPT of lesson 11, of 12 symbols and nine positions."""
    with _seeded(seed):
        return DecoderOnlyTransformer(len(SYMBOLS), PROMPT + ANSWER, d_model=64, num_heads=4, d_ff=256, num_layers=2)


def show(
    model: nn.Module,
    rows: torch.Tensor,
    steps: int = SHOWN_STEPS,
    *,
    test: torch.Tensor | None = None,
    seed: int = 0,
    name: str = "showing answers",
) -> Run:
    """Supervised training on sums with their answers, 64 at a time: the usual cross-entropy."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE)
    generator = torch.Generator().manual_seed(seed)
    run, clock = Run(), 0.0
    for step in (bar := Progress(range(steps + 1), desc=name)):
        if test is not None and (step % (2 * EVERY) == 0 or step == steps):
            run.seen.append({"step": step, "seconds": clock, "right": share_right(model, test)})
        if step == steps:
            break
        start = time.process_time()
        tokens = rows[torch.randint(len(rows), (BATCH,), generator=generator)]
        logits = model(tokens[:, :-1])[:, -ANSWER:]
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, -ANSWER:].flatten())
        _step(model, optimizer, loss)
        clock += time.process_time() - start
        bar.show_loss(loss.item())
    return run


def reinforce(
    model: nn.Module,
    rows: torch.Tensor,
    updates: int,
    *,
    test: torch.Tensor,
    reward: Reward = exact_reward,
    beta: float = 0.0,
    tools: Tools | None = None,
    seed: int = 0,
    name: str = "rewards alone",
) -> Run:
    """Rewards alone: the answers in `rows` are seen by `reward`, and by nobody else.

    Each update asks 32 questions, and has 16 answers written to each. With `beta`, the model is on a leash to what it
    was when this began. Where `tools` has other advantages, these are used.
    """
    tools = tools or Tools()
    reference = deepcopy(model) if beta else None
    optimizer = torch.optim.AdamW(model.parameters(), lr=REWARD_RATE)
    generator = torch.Generator().manual_seed(seed)
    run, clock, earned, signs = Run(), 0.0, [0.0], [0.0]
    for update in (bar := Progress(range(updates + 1), desc=name)):
        if update % EVERY == 0 or update == updates:
            if update == 0:
                tokens, truth = _asked(model, rows, tools, generator)
                earned, signs = _noted(reward, tokens, truth)
            shares = {"right": share_right(model, test), "reward": _mean(earned), "signs": _mean(signs)}
            run.seen.append({"step": update, "seconds": clock, **shares})
            earned, signs = [], []
        if update == updates:
            break
        start = time.process_time()
        tokens, truth = _asked(model, rows, tools, generator)
        rewards = reward(tokens[:, -ANSWER:], truth)
        advantages = tools.group_advantages(rewards.view(QUESTIONS, SAMPLES)).flatten()
        log_probs = tools.answer_log_probs(model(tokens), tokens, ANSWER)
        loss = tools.policy_gradient_loss(log_probs, advantages)
        if reference is not None:
            with torch.no_grad():
                before = tools.answer_log_probs(reference(tokens), tokens, ANSWER)
            loss = loss + beta * tools.kl_estimate(log_probs, before).mean()
        _step(model, optimizer, loss)
        clock += time.process_time() - start
        earned.append(rewards.mean().item())
        signs.append(_share_of_signs(tokens))
        bar.set_postfix_str(f"reward {earned[-1]:.2f}", refresh=False)
    return run


def share_right(model: nn.Module, test: torch.Tensor) -> float:
    """The share of sums that are answered correctly when the most likely token is always taken."""
    with evaluating(model):
        tokens = test[:, :PROMPT]
        for _ in range(ANSWER):
            tokens = torch.cat([tokens, model(tokens)[:, -1].argmax(dim=-1, keepdim=True)], dim=1)
    return exact_reward(tokens[:, PROMPT:], test[:, PROMPT:]).mean().item()


def right_of_sixteen(model: nn.Module, test: torch.Tensor, count: int = 200, seed: int = 0) -> list[int]:
    """Of sixteen sampled answers to each of the first `count` test sums: how many are right."""
    asked = test[:count]
    tokens = sample_answers(model, asked[:, :PROMPT], SAMPLES, ANSWER, torch.Generator().manual_seed(seed))
    truth = asked[:, PROMPT:].repeat_interleave(SAMPLES, dim=0)
    return exact_reward(tokens[:, PROMPT:], truth).view(count, SAMPLES).sum(dim=1).int().tolist()


def chances(right: Sequence[int], tries: Sequence[int] = (1, 2, 4, 8, 16)) -> list[float]:
    """The mean of pass@k over all questions, for each number of tries."""
    return [sum(pass_at_k(SAMPLES, each, k) for each in right) / len(right) for k in tries]


def on_paper(model: nn.Module, rows: torch.Tensor, seed: int = 0) -> str:
    """One sampled answer to each row, beside the truth, the largest place first, as people write."""
    tokens = sample_answers(model, rows[:, :PROMPT], 1, ANSWER, torch.Generator().manual_seed(seed))
    lines = []
    for mine, row in zip(tokens, rows, strict=True):
        text, truth = as_text(mine), as_text(row)
        question = f"{text[1::-1]} + {text[4:2:-1]}"
        mark = "right" if text == truth else f"wrong, {truth[:5:-1]}"
        lines.append(f"{question} = {text[:5:-1]}   {mark}")
    return "\n".join(lines)


def estimates(pays: torch.Tensor, baseline: float, count: int = 10_000, seed: int = 0) -> torch.Tensor:
    """Estimates of the gradient of the expected reward, one from each draw, where all buttons are equally likely."""
    n = len(pays)
    drawn = torch.randint(n, (count,), generator=torch.Generator().manual_seed(seed))
    towards = nn.functional.one_hot(drawn, n) - 1 / n  # the gradient of log p, for a softmax
    return (pays[drawn] - baseline).unsqueeze(1) * towards


def typical_error(estimates: torch.Tensor, exact: torch.Tensor) -> float:
    """The root of the mean squared distance of an estimate from the exact gradient."""
    return (estimates - exact).square().sum(dim=1).mean().sqrt().item()


def final(table: pd.DataFrame, lines: Sequence[str]) -> str:
    """Where each line of the long table ends, one seed and the other."""
    words = [f"{'':24}{'updates':>8}{'seconds':>8}   right, by seed"]
    for line in lines:
        ends = [run.iloc[-1] for _, run in table[table["line"] == line].groupby("seed")]
        seconds = _mean([end["seconds"] for end in ends])
        shares = ", ".join(f"{end['right']:.1%}" for end in ends)
        words.append(f"{line:24}{int(ends[0]['step']):8}{seconds:8.0f}   {shares}")
    return "\n".join(words)


def best(table: pd.DataFrame, lines: Sequence[str]) -> str:
    """The line that ends highest."""
    return max(lines, key=lambda line: float(of_line(table, line)["right"].iloc[-1]))


def by_seconds(table: pd.DataFrame, lines: Sequence[str], title: str) -> Picture:
    """Lines over the processor time that they took, the mean of both seeds."""
    runs = {line: of_line(table, line) for line in lines}
    return plots.fits(
        {},
        {line: (run["seconds"].tolist(), run["right"].tolist()) for line, run in runs.items()},
        title=title,
        x_label="processor seconds",
        y_label="share of the test that is right",
        y_limits=(0, 1.02),
    )


def by_step(table: pd.DataFrame, lines: Sequence[str], what: str, title: str, legend: bool = False) -> Picture:
    """One column of the long table, "right" or "signs", over the updates: a curve a line, the mean of both seeds."""
    y_label = {"right": "share of the test that is right", "signs": "share of samples"}[what]
    return _over_updates({line: of_line(table, line)[["step", what]] for line in lines}, title, y_label, legend)


def of_line(table: pd.DataFrame, line: str) -> pd.DataFrame:
    """A line of the long table, the mean of both seeds."""
    return table[table["line"] == line].groupby("step", as_index=False).mean(numeric_only=True)


def _over_updates(runs: Mapping[str, pd.DataFrame], title: str, y_label: str, legend: bool = False) -> Picture:
    """Shares over updates: each run has two columns, its steps and what is drawn."""
    steps = max((run["step"].tolist() for run in runs.values()), key=len)
    series = {name: run.iloc[:, 1].tolist() for name, run in runs.items()}
    limits = (0, 1.02)
    return plots.curves(series, x=steps, title=title, x_label="update", y_label=y_label, y_limits=limits, legend=legend)


def _asked(
    model: nn.Module, rows: torch.Tensor, tools: Tools, generator: torch.Generator
) -> tuple[torch.Tensor, torch.Tensor]:
    """Answers to questions drawn from the rows, and the truth for each."""
    asked = rows[torch.randint(len(rows), (QUESTIONS,), generator=generator)]
    tokens = tools.sample_answers(model, asked[:, :PROMPT], SAMPLES, ANSWER, generator)
    return tokens, asked[:, PROMPT:].repeat_interleave(SAMPLES, dim=0)


def _noted(reward: Reward, tokens: torch.Tensor, truth: torch.Tensor) -> tuple[list[float], list[float]]:
    return [reward(tokens[:, -ANSWER:], truth).mean().item()], [_share_of_signs(tokens)]


def _share_of_signs(tokens: torch.Tensor) -> float:
    """The share of answers with a plus or an equals sign in them."""
    return (tokens[:, -ANSWER:] > 9).any(dim=1).float().mean().item()


def _mean(numbers: Sequence[float]) -> float:
    return sum(numbers) / len(numbers)


def _step(model: nn.Module, optimizer: torch.optim.Optimizer, loss: torch.Tensor) -> None:
    optimizer.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    clip_gradients(model.parameters(), MAX_NORM)
    optimizer.step()


@contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """Meanwhile PyTorch's own randomness begins at `seed`; afterwards it goes on as if nothing had been."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield
