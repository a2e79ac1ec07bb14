"""The aspects that many exercises share.

One slip should cost one aspect. The cases with the tag "usual" decide about shape and values; a case with a
tag of its own ("one", "float64", ...) decides about an aspect of its own. Where a call stopped with an error,
nothing is known about gradients and arguments, so nothing is deducted for them.

Each aspect has a `meaning`, one sentence for learners: cards show it on hover, and in text where the aspect fails.
Names that mean the same in every course, such as "a batch of one", bring theirs along: see `MEANINGS`.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from cellcheck.authoring.spec import USUAL, Aspect, tagged
from cellcheck.authoring.traces import CHANGED

__all__ = [
    "BATCH_OF_ONE",
    "CONTENT",
    "FLOAT64",
    "KNOWN",
    "LAYOUT",
    "LENGTH_ONE",
    "SETTINGS_UNTOUCHED",
    "USUAL",
    "also",
    "any_numbers",
    "central",
    "dtype",
    "gradients",
    "main",
    "modes",
    "named_parts",
    "of_function",
    "of_module",
    "of_tensors",
    "parts",
    "refused",
    "right_kind",
    "shape",
    "special",
    "spoken",
    "tells_apart",
    "untouched",
    "values",
    "with_words",
    "worded",
]

CONTENT = frozenset({"error", "type", "shape", "nan", "mask", "values"})
KNOWN = CONTENT - {"error"} | {"dtype"}

MEANINGS: Mapping[str, str] = {
    "a batch of one": "A batch of a single example gives the right result too.",
    "axes of length one": "The result is also right when some axes have length one.",
    "float32": "With float32 arguments, the result is right too.",
    "float64": "With float64 arguments, the result is accurate to float64 precision.",
    "any layout in memory": "The result is also right for tensors that aren't contiguous in memory, such as a "
    "transpose or a slice.",
}
"""What a special case with one of these names means, unless its author says something else."""

SETTINGS_UNTOUCHED = Aspect(
    "settings untouched",
    (CHANGED,),
    frozenset({"values"}),
    meaning="After the call, the settings of PyTorch, NumPy and Python are what they were before.",
)
"""Every exercise has it where an answer fails in it, and no author needs to write it down."""


def of_function(**special_cases: str) -> tuple[Aspect, ...]:
    """What matters about a plain function: the kind of result, the result itself, special cases, its arguments.

    `of_function(empty="an empty list")` has one more aspect, called "an empty list", which looks at the cases with the
    tag "empty".
    """
    return (
        right_kind(),
        values(),
        *(special(name, tag) for tag, name in special_cases.items()),
        untouched(),
    )


def of_tensors(*special_cases: Aspect, returned: Sequence[Aspect] = (), layout: float = 1.0) -> tuple[Aspect, ...]:
    """What matters about a function of tensors through which gradients flow.

    `returned` are aspects of what it returns besides; the layout in memory has a weight of its own.
    """
    followed = (*returned, gradients(), *special_cases)
    return (shape(), values(), *followed, *any_numbers(layout), untouched())


def of_module(
    *special_cases: Aspect,
    begins: Sequence[Aspect] = (),
    returned: Sequence[Aspect] = (),
    parts_weight: float = 1.0,
    values_weight: float = 4.0,
) -> tuple[Aspect, ...]:
    """What matters about an `nn.Module` that `modules.followed` looks at.

    `begins` are aspects of a module just made, and `returned` of what it returns besides.
    """
    followed = (shape(), values(values_weight), *returned, gradients(), *special_cases)
    return (parts(parts_weight), *begins, *followed, *any_numbers(0.5), modes(), untouched())


def right_kind(name: str = "the right kind of result", meaning: str = "", *keys: str) -> Aspect:
    """What the docstring promises to return, whatever is in it: its type, shape and dtype."""
    meaning = meaning or (
        "The function returns what its docstring promises: say, a number, a string, or a list of the right length."
    )
    kinds = frozenset({"error", "type", "shape", "dtype"})
    return Aspect(name, keys or ("output",), kinds, tags=USUAL, meaning=meaning)


def shape(name: str = "shape", meaning: str = "") -> Aspect:
    """The right kind of thing, of the right shape."""
    return Aspect(
        name,
        kinds=frozenset({"error", "type", "shape"}),
        tags=USUAL,
        meaning=meaning or "The result has the right type, and the shape that the docstring gives.",
    )


def values(weight: float = 4.0) -> Aspect:
    """The right numbers: what the exercise is about."""
    return main("values", weight, meaning="Each entry of the result should be right, not only its shape.")


def special(
    name: str, tag: str = "", weight: float = 1.0, meaning: str = "", keys: tuple[str, ...] = ("output",)
) -> Aspect:
    """The right result in some special cases: `Case.of("on an empty list", EMPTY, numbers=[])` is one for `EMPTY`.

    A case may name the tag instead, which is the aspect's name unless given. A name in `MEANINGS` needs no `meaning`.
    """
    return Aspect(name, keys, CONTENT, weight, tags=tagged(tag or name), meaning=meaning or MEANINGS.get(name, ""))


def dtype(name: str = "dtype kept", weight: float = 1.0, meaning: str = "") -> Aspect:
    """float32 in, float32 out; float64 in, float64 out."""
    return Aspect(
        name,
        kinds=frozenset({"dtype"}),
        weight=weight,
        meaning=meaning
        or "The result keeps the dtype of the arguments: float32 stays float32, and float64 stays float64.",
    )


def also(name: str, *keys: str, weight: float = 1.0, meaning: str = "") -> Aspect:
    """What a probe saw besides the result, in all cases. A call that stopped with an error loses nothing here."""
    return Aspect(name, keys, KNOWN, weight, meaning=meaning)


def spoken(name: str, *keys: str, tag: str = "", meaning: str = "") -> Aspect:
    """What an answer that is wrong anyway is told, in the probe's words: nothing hangs on it, and it has no box."""
    return Aspect(name, keys, CONTENT, 0.0, tags=tagged(tag) if tag else frozenset(), meaning=meaning)


def gradients(weight: float = 2.0) -> Aspect:
    """Gradients flow back, and they are the right ones."""
    meaning = "Autograd can follow the computation backwards, and the gradients it finds are right."
    return also("gradients flow", "gradients", weight=weight, meaning=meaning)


def untouched(name: str = "arguments untouched", weight: float = 1.0, meaning: str = "") -> Aspect:
    """The arguments are afterwards what they were before."""
    meaning = meaning or "After the call, the arguments are just as they were before."
    return also(name, "arguments", weight=weight, meaning=meaning)


def main(
    name: str, weight: float = 4.0, keys: tuple[str, ...] = ("output",), meaning: str = "", tag: str = "usual"
) -> Aspect:
    """What the exercise is about, on the usual cases, or on those with another tag."""
    return Aspect(name, keys, CONTENT, weight, core=True, tags=tagged(tag), meaning=meaning)


def worded(aspect: Aspect, words: str) -> Aspect:
    """The aspect, which looks first at what the observation says in words under this name."""
    return replace(aspect, keys=(words, *aspect.keys))


def with_words(aspects: Iterable[Aspect], words: str, *names: str) -> tuple[Aspect, ...]:
    """The aspects, of which those with these names ("values" unless given) look first at words."""
    return tuple(worded(one, words) if one.name in (names or ("values",)) else one for one in aspects)


def central(aspect: Aspect) -> Aspect:
    """The same, as one without which the exercise is half done at most, whatever its weight."""
    return replace(aspect, central=True)


def refused(name: str, tag: str = "", weight: float = 1.0) -> Aspect:
    """A clear error where the contract asks for one. The tag is the aspect's name unless given."""
    return Aspect(
        name,
        kinds=frozenset({"error"}),
        weight=weight,
        tags=tagged(tag or name),
        meaning="Where the docstring asks for an error, one is raised.",
    )


def any_numbers(layout: float = 1.0) -> tuple[Aspect, ...]:
    """What holds for whatever numbers come in: the dtype is kept, float64 is right too, and so is any layout."""
    return (dtype(), FLOAT64, replace(LAYOUT, weight=layout))


BATCH_OF_ONE = special("a batch of one", "one")
LENGTH_ONE = special("axes of length one", "thin")
FLOAT64 = special("float64", "float64")
LAYOUT = special("any layout in memory", "strided")
"""These four look at what `cellcheck.authoring.battery` draws; `replace(LAYOUT, weight=0.5)` counts half."""


def parts(weight: float = 1.0) -> Aspect:
    """A module's parts have the names and shapes of the docstring, and all of them are trained."""
    meaning = "The module's parts have the names and shapes that the docstring gives, and all of them are used."
    return replace(also("named parts, all in use", "parts", "unused", weight=weight, meaning=meaning), formal=True)


def named_parts(meaning: str, weight: float = 1.0) -> Aspect:
    """The same where nobody looks at whether they are trained."""
    return replace(also("named parts", "parts", weight=weight, meaning=meaning), formal=True)


def modes(name: str = "train and eval mode untouched", weight: float = 0.5, meaning: str = "") -> Aspect:
    """A module is afterwards in the mode in which it was before."""
    meaning = meaning or "After the call, the module is in the same mode as before: training or eval."
    return also(name, "training_mode", weight=weight, meaning=meaning)


def tells_apart(
    meanings: Mapping[str, str] | None = None, central: Collection[str] = (), **names: str
) -> tuple[Aspect, ...]:
    """What a learner's test is for: the right answer in the cases with each of these tags, under the name given to it.

    `tells_apart(sound="sound models pass", broken="leaks are found")`. A test that always says the same earns nothing,
    since each of these aspects is core. `meanings` may explain the names, by tag, and those with a tag in `central` are
    central: a test that misses that is half a test.
    """
    tested = {tag: main(name, 3.0, meaning=(meanings or {}).get(tag, ""), tag=tag) for tag, name in names.items()}
    return tuple(replace(aspect, central=tag in central) for tag, aspect in tested.items())
