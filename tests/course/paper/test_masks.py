"""Masks, and the test that tells sound ones from broken ones."""

from collections.abc import Callable

import pytest
import torch

from transformer_course.causal import causal_mask, decoder_mask
from transformer_course.paper.masks import create_masks, create_padding_mask, masks_are_sound

Make = Callable[[torch.Tensor, torch.Tensor], tuple[torch.Tensor, torch.Tensor]]


def test_shapes_and_values() -> None:
    source, target = torch.tensor([[3, 0, 4], [0, 0, 0]]), torch.tensor([[1, 5], [1, 0]])
    source_mask, target_mask = create_masks(source, target)
    assert source_mask.tolist() == [[[[True, False, True]]], [[[False] * 3]]]
    assert target_mask.tolist() == [[[[True, False], [True, True]]], [[[True, False], [True, False]]]]
    assert create_padding_mask(source, pad_id=3)[0].tolist() == [[[False, True, True]]]


SOUND: dict[str, Make] = {
    "ours": create_masks,
    "for each query": lambda s, t: (create_padding_mask(s), decoder_mask(t) | (t == 0)[:, None, :, None]),
    "the future alone, since padding comes last": lambda s, t: (create_padding_mask(s), causal_mask(t.shape[1])),
    "for each head": lambda s, t: (create_padding_mask(s).expand(-1, 2, -1, -1), decoder_mask(t)),
}
BROKEN: dict[str, Make] = {
    "inverted": lambda s, t: (~create_padding_mask(s), ~decoder_mask(t)),
    "no future hidden": lambda s, t: (create_padding_mask(s), create_padding_mask(t)),
    "the past hidden": lambda s, t: (create_padding_mask(s), decoder_mask(t).transpose(-1, -2)),
    "without itself": lambda s, t: (create_padding_mask(s), decoder_mask(t) & ~torch.eye(t.shape[1]).bool()),
    "one token ahead": lambda s, t: (create_padding_mask(s), torch.ones(t.shape[1], t.shape[1]).bool().tril(1)),
    "another pad id": lambda s, t: (create_padding_mask(s, pad_id=1), decoder_mask(t)),
    "source padding seen": lambda s, t: (torch.ones_like(create_padding_mask(s)), decoder_mask(t)),
    "the target's mask on the source": lambda s, t: (create_padding_mask(t), decoder_mask(t)),
    "numbers": lambda s, t: (create_padding_mask(s).float(), decoder_mask(t).float()),
    "an axis missing": lambda s, t: (create_padding_mask(s)[:, 0], decoder_mask(t)[:, 0]),
    "only for queries as long as the source": lambda s, t: (
        create_padding_mask(s).expand(-1, 1, s.shape[1], -1),
        decoder_mask(t),
    ),
    "swapped": lambda s, t: create_masks(s, t)[::-1],
    "one row's padding for all": lambda s, t: (create_padding_mask(s[:1]), decoder_mask(t)),
    "an error": lambda s, t: create_masks(s[:, :2] + t[:, :3], t),
    "nothing": lambda s, t: None,  # type: ignore[return-value,arg-type]
}


@pytest.mark.parametrize("name", SOUND)
def test_sound_masks_pass(name: str) -> None:
    assert masks_are_sound(SOUND[name]) is True


@pytest.mark.parametrize("name", BROKEN)
def test_broken_masks_fail(name: str) -> None:
    assert masks_are_sound(BROKEN[name]) is False
