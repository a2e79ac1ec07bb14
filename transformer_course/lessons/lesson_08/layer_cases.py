"""What the paper's layers are looked at for, beyond what the blocks of lessons 3 and 4 are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cellcheck.authoring import modules
from cellcheck.authoring.aspects import CONTENT, KNOWN
from cellcheck.authoring.spec import Aspect, Case, tagged

WHAT_IS_DROPPED = {"in_training": "what is dropped in training", "in_evaluation": "what is dropped in evaluation mode"}

VALUES = Aspect(
    "post-norm",
    keys=("wiring", "masks", "output"),
    kinds=CONTENT,
    weight=8.0,
    core=True,
    tags=tagged("usual"),
    meaning="By default each sum of x and a sub-layer's result is normalised, as in the paper.",
)
PRE_NORM = Aspect(
    "pre-norm as an option",
    keys=("wiring_with_norm_first", "pre_norm", "pre_norm_gradients"),
    kinds=KNOWN | CONTENT,
    tags=tagged("norm_first"),
    weight=18.0,
    central=True,
    meaning="With norm_first=True, what goes into each sub-layer is normalised, and the sums aren't.",
)
STARTS = Aspect(
    "random numbers of its own",
    keys=("starts",),
    tags=tagged("repeating"),
    weight=0.5,
    meaning="Each new module starts with other random numbers.",
)
LATER_CALLS = Aspect(
    "later calls",
    keys=("later_calls", "later_calls_with_norm_first"),
    tags=tagged("repeating"),
    weight=3.0,
    meaning="Each call is by itself: nothing is kept of the masks and the lengths of earlier ones.",
)
CALLED = {
    "wiring": "how the parts are put together",
    "masks": "which masks the parts are given",
    "wiring_with_norm_first": "how the parts are put together with norm_first=True",
    "pre_norm": "the result with norm_first=True",
    "pre_norm_gradients": "the gradients with norm_first=True",
    "later_calls": "what a later call returns",
    "later_calls_with_norm_first": "what a later call returns with norm_first=True",
    "starts": "how two new modules start",
    "missing": "what is not there",
}


def dropping(*parts: str) -> tuple[tuple[Aspect, ...], dict[str, str]]:
    """The aspects of where dropout acts, in both orders of norms, and what the observations are called."""
    called = {
        **{part: f"what dropout does to the result of {part}" for part in parts},
        "x": "what dropout does to x, along the residual connections",
        "evaluation": "evaluation mode",
        "read": "what the sub-layers read in training",
    }
    called |= {f"norm_first: {key}": f"with norm_first=True, {words}" for key, words in called.items()}
    both = ("", "norm_first: ")
    return (
        Aspect(
            "dropout on each sub-layer's result",
            keys=tuple(f"{order}{part}" for order in both for part in (*parts, "missing")),
            tags=tagged("dropping"),
            weight=8.0,
            meaning="In training mode, what each sub-layer returns is dropped once, at the rate given.",
        ),
        Aspect(
            "dropout nowhere else",
            keys=tuple(f"{order}{key}" for order in both for key in ("x", "read", "evaluation")),
            tags=tagged("dropping"),
            weight=3.0,
            meaning="x itself is never dropped, and in evaluation mode nothing is.",
        ),
    ), called


def in_pre_norm(cases: Sequence[Case]) -> list[Case]:
    """The same cases with norm_first=True."""
    return [
        replace(
            case,
            label=f"with norm_first=True, {case.label}",
            inputs={**case.inputs, "look": "norm_first"},
            tags=tagged("norm_first"),
        )
        for case in cases
    ]


def with_gradients(cases: Sequence[Case]) -> list[Case]:
    """The cases of an earlier lesson, all followed backwards: which of them tell something is another question here."""
    return [
        replace(case, inputs={name: value for name, value in case.inputs.items() if name != "forward_only"})
        for case in cases
    ]


def forward_only(cases: Sequence[Case], *followed: frozenset[str]) -> list[Case]:
    """The cases without gradients and wiring: the usual ones tell all that there is to tell of these.

    Those with one of these sets of tags are left as they are, and so are the usual ones.
    """
    full = (VALUES.tags, *followed)
    return [case if case.tags in full else modules.forward_only(case) for case in cases]


def looks(case: Case) -> list[Case]:
    """The looks at dropout, and at what is kept from call to call."""
    return [
        replace(case, label="with dropout", inputs={**case.inputs, "look": "dropping"}, tags=tagged("dropping")),
        replace(case, label="called again", inputs={**case.inputs, "look": "repeating"}, tags=tagged("repeating")),
    ]
