"""`recovered`: how it is tried."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from itertools import product
from typing import Any

import numpy as np
import torch

from cellcheck.authoring import Case, Trial, aspects
from cellcheck.authoring.draw import normal, strided
from transformer_course.lessons.watching import asked, first_said
from transformer_course.lessons.wordings import usually_in_words, without_the_wish

BEYOND = aspects.special(
    "below 0 and above 1", weight=3.0, meaning="A patch may make things worse, or better than in the clean run."
)
LARGE = aspects.special("large logits", meaning="The result is right however large the logits are.")
SMALLEST = aspects.special("a batch of one", meaning="A single row gives the right result too.")


@usually_in_words
def cases(generator: np.random.Generator) -> list[Case]:
    def drawn(batch: int, vocab: int, share: float, dtype: Any = torch.float32, size: float = 1.0) -> dict[str, Any]:
        """The clean run prefers the right answer, the corrupted one the wrong one, each row by an amount of its own."""
        right = torch.from_numpy(generator.integers(0, vocab, batch))
        wrong = (right + torch.from_numpy(generator.integers(1, vocab, batch))) % vocab
        rows = torch.arange(batch)
        clean, corrupted = normal(generator, batch, vocab, dtype=dtype), normal(generator, batch, vocab, dtype=dtype)
        spread = torch.linspace(2, 9, batch, dtype=dtype) if batch > 1 else torch.tensor([4.0], dtype=dtype)
        clean[rows, right] += spread + 4
        corrupted[rows, wrong] += spread.flip(0) + 4
        shares = share + torch.linspace(-0.4, 0.4, batch, dtype=dtype).unsqueeze(1) if batch > 1 else share
        patched = corrupted + shares * (clean - corrupted)
        patched = patched + 2 * normal(generator, batch, 1, dtype=dtype)  # a logit more for all changes nothing
        return {
            "patched": patched * size,
            "corrupted": corrupted * size,
            "clean": clean * size,
            "right": right,
            "wrong": wrong,
        }

    gaps, turned = drawn(4, 7, 0.6), drawn(5, 7, 0.4)
    turned["right"], turned["wrong"] = turned["wrong"], turned["right"]
    return [
        Case.of("on several rows", **drawn(4, 7, 0.7)),
        Case.of("on more rows than symbols", **drawn(8, 5, 0.3)),
        Case.of("on as many rows as symbols", **drawn(6, 6, 0.5)),
        Case.of("where the clean run has the lower difference", **turned),
        Case.of("where a patch makes it worse", BEYOND, **drawn(4, 6, -0.7)),
        Case.of("where a patch does more than the clean run", BEYOND, **drawn(4, 6, 1.8)),
        Case.of("with large logits", LARGE, **drawn(4, 6, 0.4, size=60.0)),
        Case.of("on a single row", SMALLEST, **drawn(1, 6, 0.6)),
        Case.of("with float64", aspects.FLOAT64, **drawn(4, 6, 0.6, torch.float64)),
        Case.of(
            "with tensors that are not contiguous", aspects.LAYOUT, **{name: strided(one) for name, one in gaps.items()}
        ),
    ]


def probe(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """A tensor that holds one number is compared as that number; that it isn't a float is noted."""
    inputs, in_words = without_the_wish(inputs)
    arguments = list(inputs.values())
    result = symbol(*arguments)
    number = result.item() if isinstance(result, torch.Tensor) and result.numel() == 1 else result
    kind = "a float" if isinstance(result, float) else type(result).__name__
    words = (
        {"ends": first_said(lambda: _ends(symbol), lambda: _on_the_way(symbol), as_asked=AS_ASKED)} if in_words else {}
    )
    return {**words, "output": number, "kind": kind, "arguments": arguments}


AS_ASKED = "0 without a patch, 1 with the clean run, 0.5 half way"


CLEAN = torch.tensor([[5.0, 1.0, 2.0, 0.0], [0.5, 4.0, 1.0, 0.2], [1.0, 0.3, 2.0, 6.5]])
CORRUPTED = torch.tensor([[1.0, 3.0, 2.0, 0.4], [2.0, 1.0, 5.0, 0.1], [3.4, 0.2, 1.0, 2.0]])
PATCHES = [
    CORRUPTED + torch.tensor(shares).unsqueeze(1) * (CLEAN - CORRUPTED)
    for shares in ([0.9, 0.3, 0.0], [0.1, 0.2, 0.0], [0.8, 0.6, 0.4])  # D is below 0 in the second
]
RIGHT, WRONG = torch.tensor([0, 1, 3]), torch.tensor([1, 2, 0])


def _ends(symbol: Any) -> str:
    """What comes out where everybody knows it: without a patch, with the clean run itself, and half way."""
    for words, patched, wanted in (
        ("is the corrupted run itself, nothing is", CORRUPTED, 0.0),
        ("is the clean run itself, all of it is", CLEAN, 1.0),
        ("lies half way between the two, half of it is", (CLEAN + CORRUPTED) / 2, 0.5),
    ):
        share = _share(symbol, patched)
        if not abs(share - wanted) < 1e-4:
            return (
                f"Where the patched run {words} brought back, so the result should be {wanted:g}. Yours "
                f"is {share:.4g}. {_made_of(symbol)}What do you measure from, and what do you divide by?"
            )
    return AS_ASKED


def _on_the_way(symbol: Any) -> str:
    """Where nothing is 0: an answer may divide by what is, at the ends."""
    share = _share(symbol, PATCHES[0])
    wanted = SHARES[""](*(float(_apart(one).mean()) for one in (PATCHES[0], CORRUPTED, CLEAN)))
    if abs(share - wanted) < 1e-4:
        return AS_ASKED
    return (
        "Where the patched run is 0.9, 0.3 and 0 of the way back to the clean one in three rows, the result should be "
        f"{wanted:.4g}. Yours is {share:.4g}. {_made_of(symbol)}What do you measure from, and what do you divide by?"
    )


def _share(symbol: Any, patched: torch.Tensor) -> float:
    arguments = [one.clone() for one in (patched, CORRUPTED, CLEAN, RIGHT, WRONG)]
    share: float = asked(lambda: float(symbol(*arguments)))
    return share


DIFFERENCES: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "": lambda x: _apart(x).mean(),
    "You take the sizes of the differences, without their signs.": lambda x: _apart(x).abs().mean(),
    "You take the size of each mean, without its sign.": lambda x: _apart(x).mean().abs(),
    "You look at the logits of `right` alone.": lambda x: _picked(x, RIGHT).mean(),
    "You look at the logits of `wrong` alone.": lambda x: _picked(x, WRONG).mean(),
    "You add up the two logits of a row.": lambda x: (_picked(x, RIGHT) + _picked(x, WRONG)).mean(),
    "You compare probabilities, not logits.": lambda x: _apart(x.softmax(dim=-1)).mean(),
    "You take the median over the rows.": lambda x: _apart(x).median(),
    "You take the largest of the rows' differences.": lambda x: _apart(x).max(),
    "You look at the first row alone.": lambda x: _apart(x)[0],
    "You look at the last row alone.": lambda x: _apart(x)[-1],
    "You square the differences.": lambda x: _apart(x).square().mean(),
    "You take the logits of every row's answers in every row.": lambda x: (x[:, RIGHT] - x[:, WRONG]).mean(),
    "You take the largest logit for that of `right`.": lambda x: (x.amax(dim=-1) - _picked(x, WRONG)).mean(),
    "You compare `right` with the mean of all logits.": lambda x: (_picked(x, RIGHT) - x.mean(dim=-1)).mean(),
}
SHARES: dict[str, Callable[[float, float, float], float]] = {
    "": lambda patched, corrupted, clean: (patched - corrupted) / (clean - corrupted),
    "You divide by D of the clean run alone.": lambda patched, corrupted, clean: (patched - corrupted) / clean,
    "You divide by D of the corrupted run alone.": lambda patched, corrupted, clean: (patched - corrupted) / corrupted,
    "Above, nothing is subtracted.": lambda patched, corrupted, clean: patched / (clean - corrupted),
    "Neither above nor below is anything subtracted.": lambda patched, corrupted, clean: patched / clean,
    "You divide by D of the corrupted run, and subtract nothing.": lambda patched, corrupted, clean: (
        patched / corrupted
    ),
    "Above, you subtract D of the clean run.": lambda patched, corrupted, clean: (
        (patched - clean) / (clean - corrupted)
    ),
    "You measure what is still missing.": lambda patched, corrupted, clean: (clean - patched) / (clean - corrupted),
    "Below, you subtract the wrong way round.": lambda patched, corrupted, clean: (
        (patched - corrupted) / (corrupted - clean)
    ),
    "Your fraction is upside down.": lambda patched, corrupted, clean: (clean - corrupted) / (patched - corrupted),
    "The patched and the corrupted run have changed places.": lambda patched, corrupted, clean: (
        (corrupted - patched) / (clean - patched)
    ),
    "You divide by the distance from patched to clean.": lambda patched, corrupted, clean: (
        (patched - corrupted) / (clean - patched)
    ),
    "Below, you add where you should subtract.": lambda patched, corrupted, clean: (
        (patched - corrupted) / (clean + corrupted)
    ),
    "Above, you add where you should subtract.": lambda patched, corrupted, clean: (
        (patched + corrupted) / (clean - corrupted)
    ),
    "Only what you subtract above is divided.": lambda patched, corrupted, clean: (
        patched - corrupted / (clean - corrupted)
    ),
    "Only the first of the two below divides.": lambda patched, corrupted, clean: (
        (patched - corrupted) / clean - corrupted
    ),
    "You round.": lambda patched, corrupted, clean: round((patched - corrupted) / (clean - corrupted), 2),
    "In the corrupted run, you subtract the wrong way round.": lambda patched, corrupted, clean: (
        (patched + corrupted) / (clean + corrupted)
    ),
    "In the patched run, you subtract the wrong way round.": lambda patched, corrupted, clean: (
        (-patched - corrupted) / (clean - corrupted)
    ),
    "In the clean run, you subtract the wrong way round.": lambda patched, corrupted, clean: (
        (patched - corrupted) / (-clean - corrupted)
    ),
    "You don't divide.": lambda patched, corrupted, clean: patched - corrupted,
    "Your result is in percent.": lambda patched, corrupted, clean: 100 * (patched - corrupted) / (clean - corrupted),
}


def _picked(logits: torch.Tensor, ids: torch.Tensor) -> torch.Tensor:
    return logits[torch.arange(len(ids)), ids]


def _apart(logits: torch.Tensor) -> torch.Tensor:
    return _picked(logits, RIGHT) - _picked(logits, WRONG)


def _made_of(symbol: Any) -> str:
    """Which D and which fraction of them it is, told by patches of which none is half or all of it."""
    results = [_share(symbol, patched) for patched in PATCHES]
    for (what, difference), (how, share) in sorted(product(DIFFERENCES.items(), SHARES.items()), key=_slips):
        corrupted, clean = (float(difference(one)) for one in (CORRUPTED, CLEAN))
        with suppress(ZeroDivisionError):
            expected = [share(float(difference(patched)), corrupted, clean) for patched in PATCHES]
            if all(abs(one - other) < 1e-3 * (1 + abs(other)) for one, other in zip(results, expected, strict=True)):
                return f"{what} {how} ".lstrip().replace("  ", " ")
    return ""


def _slips(pair: tuple[tuple[str, Any], tuple[str, Any]]) -> int:
    (what, _), (how, _) = pair
    return bool(what) + bool(how)


TRIAL = Trial(
    module="transformer_course.circuits.intervening",
    points=1,
    cases=cases,
    probe=probe,
    called={"ends": "the result without a patch, or with all of one", "kind": "the type of the result"},
    aspects=(
        aspects.also("a float", "kind", meaning="The result is a float, not a tensor."),
        aspects.worded(aspects.values(8.0), "ends"),
        BEYOND,
        LARGE,
        SMALLEST,
        aspects.FLOAT64,
        aspects.LAYOUT,
        aspects.untouched(weight=0.5),
    ),
)
