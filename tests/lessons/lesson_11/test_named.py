"""Wrong answers written in a way of their own: each is named for what it does, whatever the seed."""

from typing import Any

import pytest
import torch
from torch import nn

from tests.lessons.marks import judge_of
from tests.nightly import both_seeds
from transformer_course.attention import MultiHeadAttention
from transformer_course.blocks import FeedForward, LayerNorm
from transformer_course.sampling import sample_with_temperature, top_p_filter

LESSON = "11_language_model"


def square_of_the_temperature(
    model: Any, prompt: torch.Tensor, new: int, temperature: float, top_p: float, generator: torch.Generator
) -> torch.Tensor:
    tokens = prompt.unsqueeze(0)
    for _ in range(new):
        with torch.no_grad():
            logits = model(tokens[:, -getattr(model, "max_length", 10**6) :])[:, -1, :]
        if temperature == 0:
            best = logits.argmax(-1, keepdim=True)
        else:
            ordered, places = torch.sort(logits / temperature**2, descending=True)
            before = ordered.softmax(-1).cumsum(-1) - ordered.softmax(-1)
            ordered[before >= top_p] = float("-inf")
            best = places.gather(1, torch.multinomial(ordered.softmax(-1), 1, generator=generator))
        tokens = torch.cat((tokens, best), dim=1)
    return tokens.squeeze(0)


def first_token_and_end(
    model: Any, prompt: torch.Tensor, new: int, temperature: float, top_p: float, generator: torch.Generator
) -> torch.Tensor:
    ids, window = prompt.tolist(), getattr(model, "max_length", 10**6)
    for _ in range(new):
        read = ids if len(ids) <= window else [ids[0], *ids[len(ids) - window + 1 :]]
        with torch.no_grad():
            logits = model(torch.tensor([read]))[:, -1]
        if temperature > 0:
            logits = top_p_filter(logits / temperature, top_p)
        ids.append(int(sample_with_temperature(logits, 1.0 if temperature else 0.0, generator)))
    return torch.tensor(ids)


@both_seeds
@pytest.mark.parametrize(
    ("answer", "name"),
    [(square_of_the_temperature, "temperature_squared"), (first_token_and_end, "the_first_token_stays")],
)
def test_what_writes_on_is_named(answer: Any, name: str, seed: int) -> None:
    judge = judge_of(LESSON, "continue_text", seed)
    verdict = judge.verdict(judge.observe(answer))
    assert verdict.diagnosis == name
    assert verdict.score < 3


class Behind(nn.Module):
    """Norms behind each sum, as in the first paper, and no mask."""

    def __init__(self, d_model: int, num_heads: int, d_ff: int) -> None:
        super().__init__()
        self.attention, self.feed_forward = MultiHeadAttention(d_model, num_heads), FeedForward(d_model, d_ff)
        self.norm1, self.norm2 = LayerNorm(d_model), LayerNorm(d_model)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.norm1(x + self.attention(x, x, x)[0])
        return torch.as_tensor(self.norm2(x + self.feed_forward(x)))


class Between(Behind):
    """Norms behind each layer, before its result is added, and no mask."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.norm1(self.attention(x, x, x)[0])
        return torch.as_tensor(x + self.norm2(self.feed_forward(x)))


@both_seeds
@pytest.mark.parametrize(
    ("answer", "words"), [(Behind, "that is post-norm"), (Between, "what comes out of each layer")]
)
def test_norms_in_another_place_and_no_mask_are_both_named(answer: Any, words: str, seed: int) -> None:
    judge = judge_of(LESSON, "DecoderOnlyBlock", seed)
    message = judge.verdict(judge.observe(answer)).message
    assert words in message
    assert "Every token sees the whole row" in message
