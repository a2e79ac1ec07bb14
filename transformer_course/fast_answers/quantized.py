"""Weights in few bits: whole numbers, and a scale for each group of them.

Sources: Dettmers et al., "LLM.int8()", NeurIPS 2022, section 2.1 (absmax); Dettmers and Zettlemoyer, "The case for
4-bit precision", ICML 2023 (groups, and bits per weight against bits of surprise).
"""

import torch


def quantize(weights: torch.Tensor, bits: int, group: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Whole numbers in place of weights: (codes, scales).

    `weights` is (rows, columns), where columns is a multiple of `group`. Each row is cut
    into groups of `group` neighbouring columns. A group's scale is its largest absolute
    value, divided by the largest code, 2 ** (bits - 1) - 1. A weight's code is the
    weight divided by its group's scale, rounded to the nearest whole number. In a group
    of zeros, the scale is 1.

    `codes` is (rows, columns), int8. `scales` is (rows, columns / group), with the dtype
    of the weights. `bits` is from 2 to 8.

    >>> codes, scales = quantize(torch.tensor([[0.9, -2.0, 70.0, 20.0]]), bits=4, group=2)
    >>> codes, scales
    (tensor([[ 3, -7,  7,  2]], dtype=torch.int8), tensor([[ 0.2857, 10.0000]]))

    Source: Dettmers et al. 2022, section 2.1.
    """
    ### BEGIN SOLUTION
    grouped = weights.reshape(len(weights), -1, group)  # (rows, groups, group)
    largest = grouped.abs().amax(dim=-1, keepdim=True)  # (rows, groups, 1)
    scales = torch.where(largest > 0, largest / (2 ** (bits - 1) - 1), 1.0)
    codes = torch.round(grouped / scales).to(torch.int8)
    return codes.reshape(weights.shape), scales.squeeze(-1).to(weights.dtype)
    ### END SOLUTION


def dequantize(codes: torch.Tensor, scales: torch.Tensor) -> torch.Tensor:
    """The weights that codes stand for: each code times its group's scale,
    (rows, columns).

    >>> dequantize(torch.tensor([[4, -7, 7, 2]], dtype=torch.int8), torch.tensor([[0.5, 10.0]]))
    tensor([[ 2.0000, -3.5000, 70.0000, 20.0000]])
    """
    group = codes.shape[1] // scales.shape[1]
    return codes.to(scales.dtype) * scales.repeat_interleave(group, dim=1)


def bits_per_weight(bits: int, group: int, bits_of_a_scale: int = 16) -> float:
    """What a weight takes, its share of the group's scale included.

    >>> bits_per_weight(bits=4, group=32)
    4.5
    """
    return bits + bits_of_a_scale / group


def pack_int4(codes: torch.Tensor) -> torch.Tensor:
    """Two codes in each byte: (rows, columns) int8 -> (rows, columns / 2) uint8.

    Codes are from -8 to 7, and the number of columns is even. A code takes 4 bits: those
    of the code itself if it is 0 or more, and those of code + 16 if it is negative. Of
    two neighbouring codes, the first is in the lower 4 bits of the byte, the second in
    the upper 4 bits.

    >>> pack_int4(torch.tensor([[1, 2, -1, 0]], dtype=torch.int8))  # 1 + 16 * 2, 15 + 16 * 0
    tensor([[33, 15]], dtype=torch.uint8)
    """
    ### BEGIN SOLUTION
    halves = torch.where(codes < 0, codes.int() + 16, codes.int())  # (rows, columns), from 0 to 15
    return (halves[:, 0::2] + 16 * halves[:, 1::2]).to(torch.uint8)
    ### END SOLUTION


def unpack_int4(packed: torch.Tensor) -> torch.Tensor:
    """The codes in these bytes: (rows, columns / 2) uint8 -> (rows, columns) int8.

    >>> unpack_int4(torch.tensor([[33, 15]], dtype=torch.uint8))
    tensor([[ 1,  2, -1,  0]], dtype=torch.int8)
    """
    halves = torch.stack([packed % 16, packed // 16], dim=-1).flatten(1).to(torch.int8)
    return torch.where(halves > 7, halves - 16, halves)
