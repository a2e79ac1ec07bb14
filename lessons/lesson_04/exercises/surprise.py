"""`perplexity`: mistakes and variants; its cases are those of the loss."""

from __future__ import annotations

import numpy as np
import torch
from torch.nn import functional as F

from course.sequences import perplexity, sequence_cross_entropy
from grader.authoring.aspects import any_numbers, refused, shape, untouched, values
from grader.authoring.spec import Case, Exercise, Mistake, Observation
from lessons.aspects import special
from lessons.lesson_04.exercises.loss import averaging, ignored, mean_of_means, refusing, scored_cases, scoring


def _as_tensor(observation: Observation, case: Case) -> Observation:
    """A Python float will do for a measure; a tensor has to keep the dtype."""
    output = observation["output"]
    if isinstance(output, int | float) and not isinstance(output, bool):
        output = torch.tensor(output, dtype=case.inputs["logits"].dtype)
    return {**observation, "output": output}


def _product(logits: torch.Tensor, targets: torch.Tensor, pad_id: int) -> torch.Tensor:
    real = targets != pad_id
    chosen = logits.softmax(-1).gather(-1, targets.unsqueeze(-1)).squeeze(-1)[real]
    return torch.prod(chosen) ** (-1 / len(chosen))


def _float_of_the_loss(logits: torch.Tensor, targets: torch.Tensor, pad_id: int = 0) -> float:
    return float(np.exp(sequence_cross_entropy(logits, targets, pad_id).detach().numpy()))


PERPLEXITY = Exercise(
    symbol="perplexity",
    points=1,
    cases=scored_cases,
    references=(perplexity,),
    canonical=_as_tensor,
    aspects=(
        shape(),
        values(),
        special("padding counts nowhere", "padding", 3.0),
        special("padding anywhere in a row", "anywhere"),
        special("another pad_id", "pad_id"),
        special("a batch of one, a row of one", "one"),
        special("logits of any size", "extreme"),
        *any_numbers(),
        refused("nothing but padding is refused", "nothing"),
        untouched(),
    ),
    mistakes=(
        Mistake(
            "loss_returned",
            refusing(ignored),
            "You return the loss itself. With k equally likely symbols that is log(k): what turns it into k?",
            central=True,
        ),
        Mistake(
            "mean_of_exps",
            averaging(lambda each, real: each[real].exp().mean()),
            "You took exp of each token's surprise and then the mean, so one surprising token outweighs all the "
            "others. Which of the two comes first?",
            central=True,
        ),
        Mistake(
            "mean_of_row_perplexities",
            averaging(lambda each, real: ((each * real).sum(1)[real.any(1)] / real.sum(1)[real.any(1)]).exp().mean()),
            "You took the perplexity of each row and then the mean of those. What should the mean run over, before "
            "exp?",
        ),
        Mistake(
            "exp_of_mean_of_sequence_means",
            averaging(lambda each, real: mean_of_means(each, real).exp()),
            "Each row's mean has the same weight in your result, however short the row is. What if all the real "
            "tokens went into one mean?",
            central=True,
        ),
        Mistake(
            "power_of_two",
            averaging(lambda each, real: 2 ** each[real].mean()),
            "You raise 2 to a loss measured in nats. Which base was the logarithm taken to?",
        ),
        Mistake(
            "sign_turned_round",
            averaging(lambda each, real: (-each[real].mean()).exp()),
            "Your number is below 1: it is one divided by the perplexity. Which sign does the loss already have?",
        ),
        Mistake(
            "exp_of_the_sum",
            averaging(lambda each, real: each[real].sum().clamp(max=80).exp()),
            "You took exp of the sum of all surprises, so a longer text is always worse. What makes it a number per "
            "token?",
        ),
        Mistake(
            "one_over_mean_probability",
            averaging(lambda each, real: 1 / (-each[real]).exp().mean()),
            "Your result is one divided by the mean probability. It is the surprises that are averaged: on which "
            "scale are they measured?",
        ),
        Mistake(
            "product_of_probabilities",
            refusing(_product),
            "The formula is right, but a product of many probabilities becomes too small for a float. What turns a "
            "product into a sum?",
        ),
        Mistake(
            "padding_counted",
            averaging(lambda each, real: each.mean().exp()),
            "Your mean runs over every position, padding included. Where may a model say whatever it likes?",
        ),
        Mistake(
            "divided_by_all_places",
            averaging(lambda each, real: ((each * real).sum() / real.numel()).exp()),
            "You left padding out of the sum, but you divide by batch times length. How many tokens did you add up?",
        ),
        Mistake(
            "pad_id_not_passed_on",
            lambda logits, targets, pad_id=0: sequence_cross_entropy(logits, targets).exp(),
            "Your result is right only for pad_id 0. How does the loss get to know which id is padding?",
        ),
        Mistake(
            "softmax_twice",
            refusing(lambda logits, targets, pad_id: ignored(logits.softmax(-1), targets, pad_id).exp()),
            "You applied softmax before a function that applies softmax itself. What does it expect as its input?",
        ),
        Mistake(
            "logarithm_of_softmax",
            lambda *arguments: scoring(lambda logits: logits.softmax(-1).log())(*arguments).exp(),
            "One very unlikely token makes your result infinite: its probability becomes 0 before the logarithm. "
            "Which function does both in one step?",
        ),
        Mistake(
            "nan_for_padding_alone",
            lambda logits, targets, pad_id=0: ignored(logits, targets, pad_id).exp(),
            "When every target is padding, your result is NaN. The docstring promises the caller something clearer: "
            "what?",
        ),
    ),
    variants={
        "torch.exp": lambda *arguments: torch.exp(sequence_cross_entropy(*arguments)),
        "a Python float": _float_of_the_loss,
        "ignore_index": refusing(lambda *arguments: ignored(*arguments).exp()),
        "from the surprises": averaging(lambda each, real: torch.exp((each * real).sum() / real.sum())),
        "through bits": averaging(lambda each, real: 2 ** (each[real].mean() / np.log(2))),
        "a power of e": averaging(lambda each, real: np.e ** each[real].mean()),
        "without gradients": torch.no_grad()(
            refusing(
                lambda logits, targets, pad_id: F.cross_entropy(
                    logits[targets != pad_id], targets[targets != pad_id]
                ).exp()
            )
        ),
        "geometric mean": averaging(lambda each, real: torch.prod((each[real] / real.sum()).exp())),
    },
)
