"""How some symbols of lesson 16 are called: where one argument alone may learn, and where chance decides."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import torch

from cellcheck.authoring.calls import Probe, plain_bool
from transformer_course.lessons.lesson_11.randomness import source_of_randomness

Inputs = Mapping[str, Any]


def first_learns(symbol: Any, inputs: Inputs) -> dict[str, Any]:
    """Calls a function of two tensors, and looks at which of them a gradient flows into."""
    one, two = inputs.values()
    before = [one.clone(), two.clone()]
    output = symbol(one, two)
    leaf, other = (part.detach().clone().requires_grad_() for part in before)
    seen = {"output": output, "arguments": [[*before], [one, two]]}
    try:
        result = symbol(leaf, other)
        weights = torch.linspace(0.5, 1.5, result.numel(), dtype=result.dtype).view_as(result)
        (result * weights).sum().backward()
    except Exception as error:
        return {**seen, "gradients": f"stopped with {type(error).__name__}: {error}", "held": "unknown"}
    flows = other.grad is not None and bool(other.grad.abs().sum() > 0)
    return {**seen, "gradients": leaf.grad, "held": "a gradient" if flows else "no gradient"}


class Toy(torch.nn.Module):
    """Logits by the last token, and some by the first. Notes what it is given."""

    def __init__(self, last: torch.Tensor, first: torch.Tensor) -> None:
        super().__init__()
        self.last, self.first = torch.nn.Parameter(last), first
        self.longest, self.recorded = 0, False

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Logits (rows, n, vocab_size)."""
        if tokens.dim() != 2:
            raise ValueError(f"a model wants tokens of shape (rows, n), and these are {tuple(tokens.shape)}")
        self.longest = max(self.longest, tokens.shape[1])
        self.recorded |= torch.is_grad_enabled()
        return self.last[tokens] + self.first[tokens[:, :1]]


def sampled(symbol: Any, inputs: Inputs) -> dict[str, Any]:
    """What comes of a toy model, or how often something comes of it."""
    prompts, samples, length = inputs["prompts"], inputs["samples"], inputs["length"]
    model = Toy(inputs["last"], inputs["first"])

    def drawn(generator: torch.Generator) -> Any:
        return symbol(model, prompts.clone(), samples, length, generator).tolist()

    if inputs.get("chance"):
        return {"chance": source_of_randomness(drawn, inputs["seed"])}
    before = prompts.clone()
    output = symbol(model, prompts, samples, length, torch.Generator().manual_seed(inputs["seed"]))
    seen = {"arguments": [before, prompts], "recorded": "recorded" if model.recorded else "not recorded"}
    look = inputs.get("look")
    if look is None:
        return {**seen, "output": output}
    if not isinstance(output, torch.Tensor) or output.shape != (len(prompts) * samples, prompts.shape[1] + length):
        return {**seen, look: "not so many rows"}
    written = output[:, prompts.shape[1] :]
    if look == "share":
        if _different(written[:samples]) == 1:  # a few draws, copied: how often is up to chance
            return {**seen, look: "all answers to a prompt are the same"}
        return {**seen, look: _how_often(written == inputs["rare"])}
    return {**seen, look: _together(written[:samples], written[samples:])}


def _different(rows: torch.Tensor) -> int:
    """How many different rows there are."""
    return len({tuple(row) for row in rows.tolist()})


def _how_often(drawn: torch.Tensor) -> str:
    """How often a token is drawn that has probability 1/16, and at which positions it never is.

    Of 20,000 draws, so many that chance never changes the words: the limits are almost six standard deviations away.
    """
    share = drawn.double().mean().item()
    if share < 0.003:
        return "never"
    words = "about one time in sixteen"
    if not 0.0525 < share < 0.0725:
        words = f"{'less' if share < 1 / 16 else 'more'} than one time in sixteen"
    if share > 0.6:
        words = "most of the time"
    never = [str(column + 1) for column, ever in enumerate(drawn.any(dim=0).tolist()) if not ever]
    return f"{words}, never as token {' or '.join(never)}" if never else words


def _together(one: torch.Tensor, other: torch.Tensor) -> str:
    """Whether rows are alike that should be drawn one by one: the answers to two prompts that ask for the same."""
    different = _different(one)
    if different == 1:
        return "all rows the same, whatever the prompt" if torch.equal(one, other) else "all rows the same"
    if different < len(one) // 5:
        return "rows that are much alike"
    return "the same answers to each prompt" if torch.equal(one, other) else "rows that differ"


def asked(symbol: Any, inputs: Inputs) -> dict[str, Any]:
    """A learner's test of a reward that isn't here: each question goes to the patient."""
    ask = inputs["patient"]
    tried: dict[tuple[int, ...], set[tuple[int, ...]]] = {}  # the answers to each truth
    most_truths = 0

    def reward(answers: Any, truth: Any) -> Any:
        nonlocal most_truths
        with suppress(Exception):  # what isn't rows of ids is for the reward to refuse
            rows = list(zip(truth.tolist(), answers.tolist(), strict=True))
            for one, answer in rows:
                tried.setdefault(tuple(one), set()).add(tuple(answer))
            most_truths = max(most_truths, len({tuple(one) for one, _ in rows}))
        return ask("reward", answers, truth)

    return {"output": plain_bool(symbol(reward)), "tried": _tried(tried, most_truths)}


def _tried(tried: Mapping[tuple[int, ...], set[tuple[int, ...]]], most_truths: int) -> str:
    """What a test has not handed in, in a sentence."""
    telling = [answers for truth, answers in tried.items() if len(set(truth)) == 3]
    most = max(map(len, telling), default=0)
    if not tried:
        return "You never ask the reward about anything. Which answers would you like to see marked?"
    if most < 12**3:
        return (
            f"To no truth whose digits all differ do you hand in more than {most} different answers, and there are "
            "1,728. Which of those that you leave out might a broken reward pay for?"
        )
    if most_truths < 2:
        return (
            "In none of your batches do rows have different truths. What if a reward looks at one row's truth for "
            "another row?"
        )
    return ""


PROBES: dict[str, Probe] = {
    "policy_gradient_loss": first_learns,
    "kl_estimate": first_learns,
    "sample_answers": sampled,
    "reward_is_sound": asked,
}
