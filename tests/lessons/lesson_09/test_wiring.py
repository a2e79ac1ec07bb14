"""What a look at a wrong answer says of it, where no mistake of the catalogue does the same."""

from __future__ import annotations

import inspect
from functools import cache
from typing import Any

import numpy as np
import pytest

from cellcheck.checking.judge import Judge
from cellcheck.syllabus import find_lesson
from transformer_course.lessons.lesson_09.patients import FINE, function, start
from transformer_course.lessons.watching import AS_ASKED
from transformer_course.numpy_transformer import attention, blocks, functions, layers, model, optimisers

from ..marks import judge_of, seen_of

MODULES = (layers, attention, blocks, functions, model, optimisers)


@cache
def judge(symbol: str) -> Judge:
    """It keeps what the catalogue's mistakes do, which is asked for each answer; none of these has two of them."""
    return judge_of(find_lesson("09")[1], symbol, 0, combinations=0)


def edited(symbol: str, *edits: tuple[str, str]) -> Any:
    """The library's answer with edits, none of which fits twice."""
    module = next(
        module for module in MODULES if getattr(getattr(module, symbol, None), "__module__", "") == module.__name__
    )
    source = inspect.getsource(getattr(module, symbol))
    for old, new in edits:
        assert source.count(old) == 1
        source = source.replace(old, new)
    names = dict(vars(module))
    exec("from __future__ import annotations\n" + source, names)
    return names[symbol]


def said_of(symbol: str, *edits: tuple[str, str]) -> str:
    verdict = judge(symbol).verdict(seen_of(edited(symbol, *edits), judge(symbol)))
    assert verdict.score < verdict.max_score
    return verdict.message


@pytest.mark.parametrize(
    ("symbol", "edit", "words"),
    [
        ("DecoderBlock", ("gradient + self.norm3", "gradient - self.norm3"), "minus what norm3 sends back"),
        ("DecoderBlock", ("n, n, n, self_mask", "n, n, x, self_mask"), "self_attention gets x as its values"),
        ("DecoderBlock", ("return gradient + self.norm1", "return 2 * gradient + self.norm1"), "twice"),
        (
            "TransformerBlock",
            ("self.feed_forward.backward(gradient))\n", "self.feed_forward.backward(gradient)) / 4\n"),
            "0.25 times what norm2 sends back",
        ),
        ("TransformerBlock", ("self.norm2.forward(x))\n", "self.norm2.forward(n))\n"), "norm2 gets what norm1 returns"),
        ("MultiHeadAttention", ("merge_heads(weights @ v)", "merge_heads(weights @ v) + queries"), "plus queries"),
        ("MultiHeadAttention", ("merge_heads(weights @ v)", "(weights @ v).reshape(queries.shape)"), "by reshape"),
        ("MultiHeadAttention", ("self.seen, heads)", "self.seen, heads + 1)"), "up to what output sends back"),
        ("Linear", ("rows.T @ row_gradients", "rows[::2].T @ row_gradients[::2]"), "Some rows leave no trace"),
        ("Linear", ("rows.T @ row_gradients", "rows.T @ row_gradients / len(rows)"), "it is a mean over the rows"),
        ("Linear", ("gradient @ self.weight.T", "gradient @ self.weight_grad.T"), "changes with x"),
        ("Linear", ("self.x = x", "self.x = getattr(self, 'late', x); self.late = x"), "the input of an earlier call"),
        ("LayerNorm", ("by_variance) / self.root", "by_variance) / self.root**2"), "multiplied by 0.25"),
        ("LayerNorm", ("- by_mean", "- 2 * by_mean"), "must add up to 0 along each row"),
        ("LayerNorm", ("- by_variance)", "- 2 * by_variance)"), "A row that is stretched"),
        ("LayerNorm", ("g = gradient * self.weight", "g = gradient * self.weight.mean()"), "own entry of weight"),
        ("LayerNorm", ("result: np.ndarray = self.normalised * self.weight + self.bias",
                       "result = self.normalised * self.weight"), "makes nothing of bias"),
        ("LayerNorm", ("self.root = np.sqrt(", "self.root = ("), "With x twice as large, your output is 0.5 times"),
        ("LayerNorm", ("(g - by_mean - by_variance) / self.root", "g.size * (g - by_mean - by_variance) / self.root"),
         "times what it should be"),
        ("Linear", ("self.bias_grad = row_gradients.sum(axis=0)", "self.grad = row_gradients.sum(axis=0)"),
         "has no bias_grad"),
        ("Linear", ("result: np.ndarray = gradient @ self.weight.T", "result = None"), "returns nothing"),
        ("Embedding", ("self.tokens, gradient)", "self.tokens, gradient / len(gradient))"), "1 / 3 of what it should"),
        ("Embedding", ("self.tokens, gradient)", "self.tokens, gradient > 0)"), "no larger when the incoming gradient"),
        ("MultiHeadAttention", ("self.query, self.key = Linear(d_model, d_model), Linear(d_model, d_model)",
                                "self.query = self.key = Linear(d_model, d_model)"), "one and the same part"),
        ("MultiHeadAttention", ("softmax(scores) if", "softmax(scores, 1) if"), "add up to 1 over the heads"),
        ("Transformer", ("x = x + self.target_positions", "x = x * 3 + self.target_positions"), "does a token enter"),
        ("Transformer", ("self.target_positions.backward(gradient.sum", "self.target_positions.backward(gradient.mean"),
         "target_positions is 1 / 3 of what it should be"),
        ("cross_entropy", ("chosen[counts].sum() / number", "chosen[counts].sum()"), "once for each position"),
        ("cross_entropy", ("- one_hot)", "- 2 * one_hot)"), "so its gradient adds up to 0"),
        ("Adam", ("(gradient**2 - v)", "(10 * gradient**2 - v)"), "Your step number 1 is 0.316 times that"),
        ("Adam", ("self.learning_rate * corrected_m", "0.01 * corrected_m"), "With twice the learning rate"),
        ("attention_backward", ("weights.mT @ gradient", "weights.mT @ gradient / 2"), "all values move"),
        ("attention_backward", ("(weights, weights_gradient)", "(weights, weights_gradient) - 1"), "all keys move"),
        (
            "gradient_check",
            ("below[place] -= h\n        measured[place] = (f(above)[0] - f(below)[0]) / (2 * h)",
             "above[place] += h\n        measured[place] = (f(above)[0] - f(below)[0]) / (2 * h)"),
            "above x alone",
        ),
    ],
)  # fmt: skip
def test_what_is_joined_otherwise_is_said(symbol: str, edit: tuple[str, str], words: str) -> None:
    assert words in said_of(symbol, edit)


@pytest.mark.parametrize(
    "symbol",
    ["Linear", "LayerNorm", "Embedding", "MultiHeadAttention", "TransformerBlock", "DecoderBlock", "Transformer"],
)
def test_nothing_is_said_of_a_right_answer(symbol: str) -> None:
    seen = seen_of(edited(symbol), judge(symbol))
    words = {one[key] for one in seen for key in ("wiring", "way_back", "returned", "gathered") if key in one}
    assert words == {AS_ASKED}


def test_nothing_is_said_of_a_layer_that_does_without_its_parts() -> None:
    """It goes back through the first norm by hand, which is right for what it returns."""
    by_hand = (
        "gradient + self.norm1.backward(by_query + by_key + by_value)",
        "gradient + self.by_hand(self.norm1, by_query + by_key + by_value)",
    )
    answer = edited("TransformerBlock", by_hand)
    answer.by_hand = lambda self, norm, gradient: layers.LayerNorm.backward(norm, gradient)
    block = judge("TransformerBlock")
    assert block.verdict(seen_of(answer, block)).status == "passed"


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        ((1e-5, -1e-5), FINE),
        ((1e-4, -1e-4, 2e-4, -2e-4), FINE),
        ((1e-5,), "above x alone"),
        ((-1e-5,), "below x alone"),
        ((1e-5, -2e-5), "aren't as far below x as above"),
        ((1e-8, -1e-8), "rounding shows"),
        ((0.01, -0.01), "slopes change on the way"),
        ((), "at x alone"),
    ],
)
def test_where_a_function_is_asked(steps: tuple[float, ...], words: str) -> None:
    numbers = (1.0, 1.5)
    patient = function("squares", numbers, (2,))
    for place in range(2):
        for step in (0.0, *steps):
            x = start(np.array(numbers))
            x[place] += step
            patient.reply("f", [x])
    assert words in patient.noted()["asked_at"]


def test_a_look_is_taken_once_for_all_cases_of_one_form() -> None:
    """It takes most of the time, and at other weights it would say the same."""
    built: list[tuple[int, ...]] = []

    class Block(blocks.DecoderBlock):
        def __init__(self, *sizes: int) -> None:
            built.append(sizes)
            super().__init__(*sizes)

    times = []
    for case in judge("DecoderBlock").cases:
        if case.inputs["in_words"] and case.inputs["gradient"] is not None:
            built.clear()
            judge("DecoderBlock").observe_one(Block, case)
            times.append(len(built))
    assert times[0] > 5 * max(times[1:])
