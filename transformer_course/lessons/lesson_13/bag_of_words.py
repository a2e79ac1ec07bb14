"""`bag_of_words`: how it is tried."""

from dataclasses import replace

import numpy as np
import torch
import torch.nn.functional as F

from cellcheck.authoring import draw
from cellcheck.authoring.aspects import LAYOUT, shape, untouched, values
from cellcheck.authoring.spec import Case, Observation, Trial
from transformer_course.lessons.aspects import special

ANYWHERE = special("padding anywhere", meaning="Padding isn't counted, wherever it is and however much.")
PAD_ID = special("another pad_id", weight=2.0)
LARGEST = special("the largest id", meaning="Ids go up to vocab_size - 1.")
SMALLEST = special("a batch of one, a single token", meaning="A batch of one and rows of a single token work too.")


def cases(generator: np.random.Generator) -> list[Case]:
    b, n, v = (int(generator.integers(low, low + 3)) for low in (2, 6, 10))

    def tokens(batch: int, length: int, vocab_size: int, pad_id: int = 0) -> torch.Tensor:
        """Rows with a word that occurs three times, padding on the right in all but the first, neither of the two
        largest ids. In the first row that word doesn't come first, so it makes a difference which token is lost."""
        ids = draw.integers(generator, 1, vocab_size - 2, batch, length)
        ids[ids == pad_id] = vocab_size - 3
        ids[:, 0] = ids[:, 2] = ids[:, 3] = 1 if pad_id != 1 else 2
        ids[0, 0], ids[0, 1] = vocab_size - 4 if pad_id != vocab_size - 4 else vocab_size - 5, ids[0, 2]
        for row in range(1, batch):
            ids[row, length - 1 - row % (length - 4) :] = pad_id
        return ids

    pad_id = int(generator.integers(3, 6))
    scattered = tokens(b, n, v)
    scattered[:, 1] = 0
    blank = tokens(b, n, v)
    blank[0] = 0
    with_zeros = tokens(b, n, v, pad_id)
    with_zeros[:, 1] = 0  # an ordinary token here
    largest = tokens(b, n, v)
    largest[:, 0] = v - 1
    return [
        Case.of("with padding on the right", tokens=tokens(b, n, v), vocab_size=v),
        Case.of("with more rows than tokens", tokens=tokens(n + 2, n, v + 1), vocab_size=v + 1),
        Case.of("with a large vocabulary", tokens=tokens(b, n, 4 * v), vocab_size=4 * v),
        Case.of("with padding anywhere in a row", ANYWHERE, tokens=scattered, vocab_size=v),
        Case.of("with a row that is all padding", ANYWHERE, tokens=blank, vocab_size=v),
        Case.of("with another pad_id", PAD_ID, tokens=with_zeros, vocab_size=v, pad_id=pad_id),
        Case.of("with the largest id", LARGEST, tokens=largest, vocab_size=v),
        Case.of("on a batch of one", SMALLEST, tokens=tokens(1, n, v), vocab_size=v),
        Case.of("with a single token", SMALLEST, tokens=draw.integers(generator, 1, v - 1, b, 1), vocab_size=v),
        Case.of("with tokens that are not contiguous", LAYOUT, tokens=draw.strided(tokens(b, n, v)), vocab_size=v),
    ]


ONCE = "A word counts once in a row, however often it comes. How much does each token add?"
AS_ASKED = "each word, wherever it is"


def numbers(observation: Observation, case: Case) -> Observation:
    """Whole numbers or floating-point ones: the contract leaves the choice."""
    output = observation.get("output")
    if "output" in observation:
        observation = {"counted": AS_ASKED, **observation}
    if isinstance(output, torch.Tensor) and output.dtype != torch.bool and not output.is_complex():
        output = output.detach().double()
        return {**observation, "counted": _counted(output, **case.inputs) or AS_ASKED, "output": output}
    return observation


def _counted(output: torch.Tensor, tokens: torch.Tensor, vocab_size: int, pad_id: int = 0) -> str:
    """What is to be said of counts that aren't those asked for, padding aside; nothing where nothing can be."""

    def bag(ids: torch.Tensor, counts: torch.Tensor | None = None) -> torch.Tensor:
        return (F.one_hot(ids, vocab_size) * (1 if counts is None else counts.unsqueeze(-1))).sum(dim=1).double()

    wanted, no_padding = bag(tokens), torch.arange(vocab_size) != pad_id
    if output.shape != wanted.shape:
        return ""
    if torch.equal(output[:, no_padding], wanted[:, no_padding]):
        if output[:, pad_id].any():
            return "All counts are right but that of pad_id, which isn't 0. What should be in its column?"
        return ""
    begins = torch.ones_like(tokens)
    begins[:, 1:] = tokens[:, 1:] != tokens[:, :-1]
    others = {
        "Every count is one column too far to the left. Which column belongs to id 0?": wanted.roll(-1, dims=1),
        "Every count is one column too far to the right. Which column belongs to id 0?": wanted.roll(1, dims=1),
        "The first token of a row isn't counted. Where does your loop begin?": bag(tokens[:, 1:]),
        "The last token of a row isn't counted. Where does your loop end?": bag(tokens[:, :-1]),
        "Each count is one too high. Which number does a count begin at?": wanted + 1,
        "Each count is one too low. Which number does a count begin at?": wanted - 1,
        "You return logarithms of counts. Which numbers does the docstring ask for?": wanted.log1p(),
        "Each word is counted twice. How much does one token add?": 2 * wanted,
        "A word that comes several times in a row counts once. How much does each token add?": bag(tokens, begins),
        ONCE: wanted > 0,
        "You count the rows in which a word occurs. Whose words belong to a row?": (wanted > 0)
        .sum(0)
        .expand_as(wanted),
    }
    certain = (
        no_padding & no_padding.roll(1) & no_padding.roll(-1)
    )  # the column of padding may be empty before or after it is moved

    def fitting(counts: dict[str, torch.Tensor]) -> list[str]:
        return [
            words for words, other in counts.items() if torch.allclose(output[:, certain], other[:, certain].double())
        ]

    fits = fitting(others) or fitting(
        {
            f"{ONCE} And the first token of a row isn't counted at all: where does your loop begin?": (
                bag(tokens[:, 1:]) > 0
            ),
            f"{ONCE} And the last token of a row isn't counted at all: where does your loop end?": (
                bag(tokens[:, :-1]) > 0
            ),
        }
    )
    return fits[0] if len(fits) == 1 else ""


TRIAL = Trial(
    module="transformer_course.beyond.words",
    points=2,
    cases=cases,
    canonical=numbers,
    called={"counted": "what is counted"},
    aspects=(
        shape("shape (batch, vocab_size)", "The result has one row for each text, and one column for each word."),
        replace(values(8.0), keys=("counted", "output")),
        ANYWHERE,
        PAD_ID,
        LARGEST,
        SMALLEST,
        replace(LAYOUT, weight=0.5),
        untouched(weight=0.5),
    ),
)
