"""`MultiHeadAttention`: cases, mistakes and variants."""

from __future__ import annotations

from typing import Any

import numpy as np

from course.numpy_transformer.attention import MultiHeadAttention, merge_heads, split_heads
from course.numpy_transformer.functions import attention_backward, softmax, softmax_backward
from course.numpy_transformer.layers import Linear
from grader.authoring.aspects import refused
from grader.authoring.spec import Case, Exercise, Mistake, Observation
from lessons.lesson_09.exercises import drawing
from lessons.lesson_09.exercises.attention_steps import Steps
from lessons.lesson_09.exercises.drawing import CALLED, Inputs, case, normal, of_layer, one, without_rounding

D, HEADS = 6, 2


def _layers(generator: np.random.Generator) -> list[Case]:
    batch, m, n = (int(size) for size in generator.choice([2, 3, 4, 5], 3, replace=False))

    def draw(
        b: int, m: int, n: int, mask: np.ndarray | None = None, kind: Any = np.float64, heads: int = HEADS
    ) -> Inputs:
        def three() -> list[Any]:
            keys, values = normal(generator, b, n, D, dtype=kind), normal(generator, b, n, D, dtype=kind)
            return [normal(generator, b, m, D, dtype=kind), keys, values, *([] if mask is None else [mask])]

        return {
            "sizes": [D, heads],
            "weights": drawing.attention(generator, "", D, kind),
            "arguments": three(),
            "gradient": normal(generator, b, m, D, dtype=kind),
            "other_arguments": three(),
            "other_gradient": normal(generator, b, m, D, dtype=kind),
            "any_beginning": True,
        }

    padding = (np.arange(n) < np.array([max(1, n - 1), n] * batch)[:batch, None])[:, None, None, :]
    padding[0, ..., 0], padding[0, ..., -1] = True, False
    causal = np.tri(m, dtype=bool)
    empty = np.ones((batch, 1, m, n), dtype=bool)
    empty[-1, :, 0] = False
    lost = draw(batch, m, n, empty)
    lost["gradient"][-1, 0] = lost["other_gradient"][-1, 0] = (
        0.0  # what comes out there is open, and so is its way back
    )
    return [
        Case.of("on queries and keys of different lengths", **draw(batch, m, n)),
        Case.of("with three heads", **draw(batch, m, n, heads=3)),
        Case.of("with a causal mask", "masked", **draw(batch, m, m, causal)),
        Case.of("with hidden padding", "masked", **draw(batch, m, n, padding)),
        Case.of("where a query has no allowed key", "empty", **lost, lost=True),
        Case.of("on a batch of one, a single position", "one", **draw(1, 1, 1)),
        Case.of("with float32", "float32", **draw(batch, m, n, kind=np.float32)),
        Case.of(
            "with heads that don't divide d_model", "refused", sizes=[D, 4], weights={}, arguments=[], gradient=None
        ),
    ]


def _open_rows_aside(observation: Observation, case: Case) -> Observation:
    """What comes out where nothing may be attended to is open, as long as it is finite."""
    observation = without_rounding(observation)
    if "error" in observation or not case.inputs.get("lost"):
        return observation
    pair = observation.get("output")
    if not isinstance(pair, list | tuple) or len(pair) != 2:
        return observation
    kept = []
    for each, place in zip(pair, ((-1, 0), (-1, slice(None), 0)), strict=True):
        if isinstance(each, np.ndarray) and each.ndim in (3, 4):
            each = each.copy()
            if np.isfinite(each[place]).all():
                each[place] = 0.0
        kept.append(each)
    return {**observation, "output": kept}


class _ReshapedOnly(Steps):
    def split(self, x: np.ndarray) -> Any:
        batch, length, d = x.shape
        return x.reshape(batch, self.num_heads, length, d // self.num_heads)

    def merge(self, heads: np.ndarray) -> Any:
        batch, number, length, d = heads.shape
        return heads.reshape(batch, length, number * d)


class _Interleaved(Steps):
    def split(self, x: np.ndarray) -> Any:
        batch, length, d = x.shape
        return x.reshape(batch, length, d // self.num_heads, self.num_heads).transpose(0, 3, 1, 2)

    def merge(self, heads: np.ndarray) -> Any:
        batch, number, length, d = heads.shape
        return heads.transpose(0, 2, 3, 1).reshape(batch, length, number * d)


class _Unscaled(Steps):
    def scale(self, d_head: int) -> float:
        return 1.0


class _ScaledByModel(Steps):
    def scale(self, d_head: int) -> float:
        return float((d_head * self.num_heads) ** -0.5)


class _MaskIgnored(Steps):
    def masked(self, scores: np.ndarray, mask: np.ndarray) -> Any:
        return scores


class _MaskTurned(Steps):
    def masked(self, scores: np.ndarray, mask: np.ndarray) -> Any:
        return np.where(mask, np.array(-1e9, dtype=scores.dtype), scores)


class _MaskTimesScores(Steps):
    def masked(self, scores: np.ndarray, mask: np.ndarray) -> Any:
        return scores * mask


class _MaskAfterSoftmax(Steps):
    def weigh(self, scores: np.ndarray, mask: np.ndarray | None) -> Any:
        weights = softmax(scores)
        return weights if mask is None else weights * mask


class _MinusInfinity(Steps):
    def masked(self, scores: np.ndarray, mask: np.ndarray) -> Any:
        return np.where(mask, scores, np.array(-np.inf, dtype=scores.dtype))

    def weigh(self, scores: np.ndarray, mask: np.ndarray | None) -> Any:
        with np.errstate(all="ignore"):
            return super().weigh(scores, mask)


class _NoOutputLayer(Steps):
    def forward(self, queries: Any, keys: Any, values: Any, mask: np.ndarray | None = None) -> Any:
        _, weights = super().forward(queries, keys, values, mask)
        return merge_heads(weights @ self.seen[2]), weights


class _OutputOnly(Steps):
    def forward(self, queries: Any, keys: Any, values: Any, mask: np.ndarray | None = None) -> Any:
        return super().forward(queries, keys, values, mask)[0]


class _AddedUp(Steps):
    def backward(self, gradient: np.ndarray) -> Any:
        back = super().backward(gradient)
        if len({each.shape for each in back}) == 1:
            return back[0] + back[1] + back[2]
        raise ValueError("operands could not be broadcast together")


class _OutputLayerSkipped(Steps):
    def backward(self, gradient: np.ndarray) -> Any:
        self.output.backward(gradient)
        parts = self.heads_back(split_heads(gradient, self.num_heads))
        layers = self.query, self.key, self.value
        return tuple(layer.backward(merge_heads(part)) for layer, part in zip(layers, parts, strict=True))


class _ProjectionsSkipped(Steps):
    def backward(self, gradient: np.ndarray) -> Any:
        parts = self.heads_back(split_heads(self.output.backward(gradient), self.num_heads))
        merged = [merge_heads(part) for part in parts]
        for layer, part in zip((self.query, self.key, self.value), merged, strict=True):
            layer.backward(part)
        return tuple(merged)


class _NoJacobian(Steps):
    def heads_back(self, gradient: np.ndarray) -> Any:
        q, k, v, w = self.seen
        s = w * (gradient @ v.mT) * q.shape[-1] ** -0.5
        return s @ k, s.mT @ q, w.mT @ gradient


class _ScaleForgottenBack(Steps):
    def heads_back(self, gradient: np.ndarray) -> Any:
        q, k, v = super().heads_back(gradient)
        root = self.seen[0].shape[-1] ** 0.5
        return q * root, k * root, v


class _KeysForValues(Steps):
    def forward(self, queries: Any, keys: Any, values: Any, mask: np.ndarray | None = None) -> Any:
        return super().forward(queries, keys, keys, mask)


class _AnyHeads(Steps):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__(d_model, num_heads if d_model % num_heads == 0 else 1)


class _ByEinsum:
    def __init__(self, d_model: int, num_heads: int) -> None:
        assert d_model % num_heads == 0, "the heads must divide d_model"
        self.heads, self.width = num_heads, d_model // num_heads
        self.query, self.key, self.value, self.output = (Linear(d_model, d_model) for _ in range(4))

    def _cut(self, x: np.ndarray) -> Any:
        return x.reshape(*x.shape[:2], self.heads, self.width)  # (batch, length, heads, d_head)

    def forward(self, queries: Any, keys: Any, values: Any, mask: Any = None) -> Any:
        self.q, self.k = self._cut(self.query.forward(queries)), self._cut(self.key.forward(keys))
        self.v = self._cut(self.value.forward(values))
        scores = np.einsum("bqhd,bkhd->bhqk", self.q, self.k) / float(np.sqrt(self.width))
        if mask is not None:
            scores = np.where(mask, scores, np.finfo(scores.dtype).min)
        self.w = softmax(scores)
        mixed = np.einsum("bhqk,bkhd->bqhd", self.w, self.v)
        return self.output.forward(mixed.reshape(*mixed.shape[:2], -1)), self.w

    def backward(self, gradient: np.ndarray) -> Any:
        mixed = self._cut(self.output.backward(gradient))
        s = softmax_backward(self.w, np.einsum("bqhd,bkhd->bhqk", mixed, self.v)) / float(np.sqrt(self.width))
        found = (
            (self.query, np.einsum("bhqk,bkhd->bqhd", s, self.k)),
            (self.key, np.einsum("bhqk,bqhd->bkhd", s, self.q)),
            (self.value, np.einsum("bhqk,bqhd->bkhd", self.w, mixed)),
        )
        return [layer.backward(part.reshape(*part.shape[:2], -1)) for layer, part in found]


class _ZeroWeights(Steps):
    """Weights 0 in a row with nothing allowed."""

    def weigh(self, scores: np.ndarray, mask: np.ndarray | None) -> Any:
        weights = super().weigh(scores, mask)
        return weights if mask is None else weights * mask


class _HeadByHead(Steps):
    def heads_back(self, gradient: np.ndarray) -> Any:
        q, k, v, w = self.seen
        per_head = [
            attention_backward(q[:, h], k[:, h], v[:, h], w[:, h], gradient[:, h]) for h in range(self.num_heads)
        ]
        return [np.stack([each[part] for each in per_head], axis=1) for part in range(3)]


MULTI_HEAD_ATTENTION = Exercise(
    symbol="MultiHeadAttention",
    points=4,
    cases=_layers,
    references=(MultiHeadAttention,),
    canonical=_open_rows_aside,
    called=CALLED,
    aspects=of_layer(
        case("masks", "masked", 2.0, "What the mask hides gets no weight, and the other weights add up to 1."),
        case("a row with nothing allowed", "empty", 0.5, "A query without any allowed key gives finite numbers."),
        one("a batch of one, a single position", meaning="A batch of one and rows of a single position are right too."),
        one("float32", "float32"),
        refused("heads that don't divide d_model", "refused", 0.5),
    ),
    mistakes=(
        Mistake(
            "split_without_swapping",
            _ReshapedOnly,
            "Your heads mix the numbers of different positions. After cutting the columns into blocks, which two axes "
            "have to trade places?",
            central=True,
        ),
        Mistake(
            "every_second_column",
            _Interleaved,
            "Your heads take every second or third column. Which columns make up the h-th block?",
            central=True,
        ),
        Mistake(
            "unscaled",
            _Unscaled,
            "The scores are not divided. By the root of what?",
            central=True,
        ),
        Mistake(
            "scaled_by_d_model",
            _ScaledByModel,
            "You divide the scores by the root of d_model. How long are the vectors that meet inside one head?",
            central=True,
        ),
        Mistake("mask_ignored", _MaskIgnored, "The mask has no effect. What should become of hidden scores?"),
        Mistake(
            "mask_turned_round",
            _MaskTurned,
            "You hide what the mask allows. In this course, what does True stand for?",
        ),
        Mistake(
            "scores_times_mask",
            _MaskTimesScores,
            "Hidden scores become 0, and exp(0) is 1: they still get a weight. Which score gets the weight 0?",
        ),
        Mistake(
            "mask_after_the_softmax",
            _MaskAfterSoftmax,
            "You hide weights after the softmax, so the others no longer add up to 1. Where must the mask come in?",
        ),
        Mistake(
            "minus_infinity",
            _MinusInfinity,
            "Where a query has no allowed key, you get NaN: minus infinity less minus infinity. Which number is low "
            "enough, and finite?",
        ),
        Mistake(
            "no_output_layer",
            _NoOutputLayer,
            "The heads are merged, and returned as they are. Which of the four layers is still waiting?",
            central=True,
        ),
        Mistake(
            "output_alone",
            _OutputOnly,
            "You return the output alone. What else does the docstring promise?",
            central=True,
        ),
        Mistake(
            "three_gradients_added",
            _AddedUp,
            "You add up the three gradients. They may belong to different inputs: who knows whether to add them?",
            central=True,
        ),
        Mistake(
            "output_layer_skipped_on_the_way_back",
            _OutputLayerSkipped,
            "The gradient reaches the heads without passing the output layer. What was forward's last step?",
            central=True,
        ),
        Mistake(
            "projections_skipped_on_the_way_back",
            _ProjectionsSkipped,
            "The weights get their gradients, but you return those of the projected vectors. What still lies between "
            "them and the inputs?",
            central=True,
        ),
        Mistake(
            "no_jacobian",
            _NoJacobian,
            "The gradient passes the softmax entry by entry. When one weight grows, what happens to the others?",
            central=True,
        ),
        Mistake(
            "scale_forgotten_on_the_way_back",
            _ScaleForgottenBack,
            "On the way back, queries and keys get gradients that are too large. What divided the scores on the way "
            "forward?",
            central=True,
        ),
        Mistake(
            "keys_for_values",
            _KeysForValues,
            "The values that come in are never read. What does forward make its values from?",
            central=True,
        ),
        Mistake(
            "any_number_of_heads",
            _AnyHeads,
            "Four heads can't share six columns, and nobody is told. What does the docstring ask for?",
        ),
    ),
    variants={"einsum": _ByEinsum, "zero weights where all is hidden": _ZeroWeights, "head by head": _HeadByHead},
)
