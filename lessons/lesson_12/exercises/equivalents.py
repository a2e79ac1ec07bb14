"""Mutants of the references that are as right as they are, and why. See `grader.audit`."""

from __future__ import annotations

_REFUSED_ANYWAY = "reshape refuses such a size as well, with an error of its own"
_ANY_CHANGE = "how far the future is moved is free, as long as it is moved up once and down once"
_CHANGES = "for change in (100 * later, -100 * later): -> for change in {}:"
_UNUSED_ROWS = "a longer table works just as well: the rows at its end are never read"
_PLACES = "self.positions = LearnedPositionalEmbedding((image_size // patch_size) ** 2, d_model)"
_READ = "logits: torch.Tensor = self.head(self.final_norm(x).{}(dim=1))"
_CHECK = "if height % patch_size or width % patch_size:"

EQUIVALENTS: dict[str, dict[str, str]] = {
    "looks_ahead": {
        _CHANGES.format("(100 + later, -100 * later)"): _ANY_CHANGE,
        _CHANGES.format("(101 * later, -100 * later)"): _ANY_CHANGE,
        _CHANGES.format("(100 * later, -100 + later)"): _ANY_CHANGE,
        _CHANGES.format("(100 * later, -101 * later)"): _ANY_CHANGE,
        "other[cut:] += change -> other[cut:] -= change": _ANY_CHANGE,
    },
    "patchify": {
        f"{_CHECK} -> (dropped)": _REFUSED_ANYWAY,
        f"{_CHECK} -> if height % patch_size and width % patch_size:": _REFUSED_ANYWAY,
        'raise ValueError(f"patches of {patch_size} don\'t fit into images of {height} by {width}") -> (dropped)': (
            _REFUSED_ANYWAY
        ),
    },
    "VisionTransformer": {
        f"{_PLACES} -> {_PLACES.replace('//', '*')}": _UNUSED_ROWS,
        f"{_PLACES} -> {_PLACES.replace('** 2', '** 3')}": _UNUSED_ROWS,
        f"{_READ.format('mean')} -> {_READ.format('sum')}": (
            "a sum is a mean times the number of patches, which is always the same; the last layer can make up for it"
        ),
    },
}
