"""`sample_answers`: how it is tried."""

from typing import Any

import numpy as np
import torch

from cellcheck.authoring import Aspect, Case, Trial, aspects
from cellcheck.authoring.aspects import CONTENT
from cellcheck.authoring.draw import integers
from cellcheck.authoring.spec import tagged
from transformer_course.lessons.lesson_16.probes import sampled


def looks(name: str, *keys: str, weight: float, meaning: str) -> Aspect:
    return Aspect(name, keys, CONTENT, weight, tags=tagged(name), meaning=meaning)


ONE_SAMPLE = aspects.special("one answer each", meaning="With samples = 1, each prompt has one answer.")
ONE_TOKEN = aspects.special("an answer of one token", meaning="With length = 1, one token follows each prompt.")
ONE_PROMPT = aspects.special("a single prompt", meaning="A batch of one prompt gives the right result too.")
SHARE = looks(
    "drawn from softmax(logits)",
    "share",
    weight=7.0,
    meaning="Each token is as likely as softmax(logits) says: temperature 1, and no favourites.",
)
TOGETHER = looks(
    "each row drawn by itself", "together", weight=6.0, meaning="Answers to the same prompt are drawn one by one."
)
CHANCE = looks(
    "randomness from the generator alone",
    "chance",
    weight=2.0,
    meaning="The same seed gives the same answers, another seed others, and no other randomness is used.",
)


def cases(generator: np.random.Generator) -> list[Case]:
    def toy(
        label: str, *about: Aspect, batch: int = 3, n: int = 4, samples: int = 2, length: int = 3, vocab: int = 9
    ) -> Case:
        """A model that is certain. Tokens are of two kinds, and each kind goes round in a ring of its own. A text that
        begins with one kind goes on with the other, with which its prompt ends."""
        order = torch.from_numpy(generator.permutation(vocab).copy())
        one, other = order[: vocab // 2], order[vocab // 2 :]
        last, first = torch.zeros(vocab, vocab), torch.zeros(vocab, vocab)
        for ring, score in ((one, 100.0), (other, 50.0)):
            follower = ring[integers(generator, 0, len(ring), vocab)]
            follower[ring] = ring.roll(1)
            last[torch.arange(vocab), follower] = score
        first[one.unsqueeze(1), other] = 100.0
        prompts = integers(generator, 0, vocab, batch, n)
        prompts[:, 0] = torch.from_numpy(generator.permutation(vocab)[:batch].copy())
        begins = torch.isin(prompts[:, 0], one)
        of_one, of_other = (kind[integers(generator, 0, len(kind), batch)] for kind in (one, other))
        prompts[:, -1] = torch.where(begins, of_other, of_one)
        return Case.of(
            label, *about, prompts=prompts, samples=samples, length=length, last=last, first=first, seed=_seed()
        )

    def _seed() -> int:
        return int(generator.integers(1, 10**6))

    def dice(label: str, *about: Aspect, samples: int, length: int, **others: Any) -> Case:
        """Whatever the last token is: five tokens come with 1/2, 1/4, 1/8, 1/16 and 1/16."""
        order = torch.from_numpy(generator.permutation(5).copy())
        last = (torch.tensor([1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 16])[order].log() + 3.0).expand(5, 5).clone()
        rare = int((order == 4).nonzero()[0])
        prompts = integers(generator, 0, 5, 2, 3)
        return Case.of(
            label,
            *about,
            prompts=prompts,
            samples=samples,
            length=length,
            last=last,
            first=torch.zeros(5, 5),
            rare=rare,
            seed=_seed(),
            **others,
        )

    return [
        toy("with a model that is certain"),
        toy("with more answers to fewer prompts", batch=2, samples=4, length=2),
        toy("with long answers to short prompts", batch=4, n=2, samples=3, length=5),
        toy("with one answer to each prompt", ONE_SAMPLE, samples=1),
        toy("with answers of one token", ONE_TOKEN, length=1),
        toy("with a single prompt", ONE_PROMPT, batch=1, samples=3),
        dice("with a model that is unsure", SHARE, samples=2500, length=4, look="share"),
        dice("with many answers to the same prompts", TOGETHER, samples=60, length=12, look="together"),
        dice("with the same generator, and with others", CHANCE, samples=12, length=4, chance=True),
    ]


TRIAL = Trial(
    module="transformer_course.rewards.policy",
    points=3,
    cases=cases,
    probe=sampled,
    called={
        "share": "how often a token with probability 1/16 is drawn",
        "together": "the answers to the same prompts",
        "chance": "what the result hangs on",
        "recorded": "gradients",
    },
    aspects=(
        aspects.right_kind("shape (batch * samples, prompt_length + length)"),
        aspects.values(5.0),
        SHARE,
        TOGETHER,
        CHANCE,
        ONE_SAMPLE,
        ONE_TOKEN,
        ONE_PROMPT,
        aspects.also("no gradients", "recorded", meaning="The model is asked without recording gradients."),
        aspects.untouched(),
    ),
)
