"""The usual battery of cases: what may go wrong with any tensors, whatever the exercise is about.

    def cases(generator):
        b, n, d = dims(generator, 3)

        def drawn(b, n, d, dtype=None):
            return {"x": normal(generator, b, n, d, dtype=dtype), "scale": normal(generator, d, dtype=dtype)}

        return [*battery(drawn, b=b, n=n, d=d), Case.of("with very large numbers", LARGE, **large)]

    TRIAL = Trial(..., aspects=(shape(), values(), *LOOKED_AT, LARGE))

A case and the aspect that looks at it are one thing: each case below names its aspect, and `LOOKED_AT` has them all. An
exercise that needs other words or another order takes the cases one by one, in the order in which they should be drawn:
`cases = Battery(drawn, b=b, n=n, d=d)`, then `cases.different("on a batch of rows")`, `cases.float64()` and so on.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from cellcheck.authoring.aspects import BATCH_OF_ONE, FLOAT64, LAYOUT, LENGTH_ONE
from cellcheck.authoring.draw import with_gaps
from cellcheck.authoring.spec import Aspect, Case, Value

Drawn = Callable[..., dict[str, Value]]
"""Draws the inputs of a case, by name: takes sizes by name, and for float64 a `dtype`."""
LOOKED_AT: tuple[Aspect, ...] = (BATCH_OF_ONE, LENGTH_ONE, FLOAT64, LAYOUT)
"""The aspects that look at the special cases of the battery."""
SIDE = 3


@dataclass(frozen=True, init=False)
class Battery:
    """The usual cases of inputs with these sizes, the first of which is the batch."""

    drawn: Drawn
    sizes: dict[str, int]

    def __init__(self, drawn: Drawn, /, **sizes: int) -> None:
        object.__setattr__(self, "drawn", drawn)
        object.__setattr__(self, "sizes", sizes)

    def different(self, label: str = "where all sizes differ") -> Case:
        """The sizes as they are: let them differ, since equal ones hide swapped axes."""
        return self._case(label)

    def equal(self, side: int = SIDE, label: str = "where all sizes are equal") -> Case:
        """All sizes alike: where they differ, an error tells somebody who swaps axes."""
        return self._case(label, **dict.fromkeys(self.sizes, side))

    def batch_of_one(self, label: str = "on a batch of one") -> Case:
        """A batch with a single example: what squeezes loses an axis."""
        return self._case(label, BATCH_OF_ONE, **{next(iter(self.sizes)): 1})

    def length_one(self, *axes: str, label: str = "with axes of length one") -> Case:
        """Length one along these axes, or along all but the batch."""
        return self._case(label, LENGTH_ONE, **dict.fromkeys(axes or list(self.sizes)[1:], 1))

    def float64(self, label: str = "with float64") -> Case:
        """Numbers with more digits: what goes through float32 on its way loses them."""
        import torch

        return self._case(label, FLOAT64, dtype=torch.float64)

    def not_contiguous(self, label: str = "with tensors that are not contiguous") -> Case:
        """Every tensor with gaps in memory: what reads memory as it lies gets other numbers."""
        return Case.of(label, LAYOUT, **with_gaps(self.drawn(**self.sizes)))

    def _case(self, label: str, *about: Aspect, **changes: Any) -> Case:
        return Case.of(label, *about, **self.drawn(**{**self.sizes, **changes}))


def battery(drawn: Drawn, /, **sizes: int) -> list[Case]:
    """All of the usual cases, in this order: with these sizes, all equal, length one, float64, not contiguous."""
    usual = Battery(drawn, **sizes)
    alone = [usual.length_one()] if len(sizes) > 1 else []
    return [usual.different(), usual.equal(), usual.batch_of_one(), *alone, usual.float64(), usual.not_contiguous()]
