"""The Transformer in NumPy: its gradients against autograd, its tasks, and that nothing in it needs torch."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from transformer_course.numpy_transformer import functions, layers, optimisers, tasks
from transformer_course.numpy_transformer.attention import MultiHeadAttention
from transformer_course.numpy_transformer.blocks import DecoderBlock, TransformerBlock
from transformer_course.numpy_transformer.fitting import fit, greedy, sequence_scores
from transformer_course.numpy_transformer.looking import attention_maps, reading
from transformer_course.numpy_transformer.model import Transformer
from transformer_course.numpy_transformer.reader import Reader
from transformer_course.numpy_transformer.tape import Tape, Variable
from transformer_course.numpy_transformer.walking import copied, gradients_of, load, prepared, restore, save, weights_of

GENERATOR = np.random.default_rng(0)


def normal(*shape: int) -> np.ndarray:
    return GENERATOR.standard_normal(shape)


def follow(*arrays: np.ndarray) -> list[torch.Tensor]:
    return [torch.from_numpy(array.copy()).requires_grad_() for array in arrays]


def alike(mine: np.ndarray | None, theirs: torch.Tensor | None) -> None:
    assert mine is not None
    assert theirs is not None
    np.testing.assert_allclose(mine, theirs.detach().numpy(), rtol=1e-9, atol=1e-12)


def slopes_agree(model: Any, inputs: tuple[np.ndarray, ...], gradient: np.ndarray) -> None:
    """All weights of a model: its gradients against measured slopes."""
    for name, array in weights_of(model).items():

        def f(x: np.ndarray, array: np.ndarray = array, name: str = name) -> tuple[float, np.ndarray]:
            array[...] = x
            output = model.forward(*inputs)
            model.backward(gradient)
            return float((output * gradient).sum()), gradients_of(model)[name]

        before = array.copy()
        some = functions.gradient_check(lambda x: f(x), before)
        array[...] = before
        assert some < 1e-4, name


def test_softmax_and_its_way_back() -> None:
    x, gradient = normal(2, 3, 4), normal(2, 3, 4)
    (tracked,) = follow(x)
    expected = torch.softmax(tracked, -1)
    expected.backward(torch.from_numpy(gradient))
    alike(functions.softmax(x), expected)
    alike(functions.softmax_backward(functions.softmax(x), gradient), tracked.grad)
    alike(functions.softmax(x, axis=1), torch.softmax(torch.from_numpy(x), 1))


def test_cross_entropy_and_its_gradient() -> None:
    logits, targets = normal(2, 3, 5), np.array([[1, 4, 0], [2, 0, 0]])
    (tracked,) = follow(logits)
    expected = F.cross_entropy(tracked.flatten(0, 1), torch.from_numpy(targets).flatten(), ignore_index=0)
    expected.backward()
    loss, gradient = functions.cross_entropy(logits, targets)
    assert loss == pytest.approx(expected.item(), rel=1e-12)
    alike(gradient, tracked.grad)
    with pytest.raises(ValueError, match="padding"):
        functions.cross_entropy(logits, np.zeros((2, 3), dtype=int))


def test_layer_norm() -> None:
    norm = layers.LayerNorm(5)
    norm.weight, norm.bias = normal(5), normal(5)
    x, gradient = normal(2, 3, 5), normal(2, 3, 5)
    tracked, weight, bias = follow(x, norm.weight, norm.bias)
    expected = F.layer_norm(tracked, (5,), weight, bias)
    expected.backward(torch.from_numpy(gradient))
    alike(norm.forward(x), expected)
    alike(norm.backward(gradient), tracked.grad)
    alike(norm.weight_grad, weight.grad)
    alike(norm.bias_grad, bias.grad)


def test_linear_relu_and_embedding() -> None:
    linear, relu, table = layers.Linear(4, 3), layers.ReLU(), layers.Embedding(6, 4)
    tokens, gradient = np.array([[1, 5, 1], [0, 1, 2]]), normal(2, 3, 3)
    embedded, weight, bias = follow(table.weight, linear.weight, linear.bias)
    expected = torch.relu(F.embedding(torch.from_numpy(tokens), embedded) @ weight + bias)
    expected.backward(torch.from_numpy(gradient))
    alike(relu.forward(linear.forward(table.forward(tokens))), expected)
    table.backward(linear.backward(relu.backward(gradient)))
    for mine, theirs in ((table.weight_grad, embedded), (linear.weight_grad, weight), (linear.bias_grad, bias)):
        alike(mine, theirs.grad)


@pytest.mark.parametrize("masked", [False, True])
def test_multi_head_attention(masked: bool) -> None:
    layer = MultiHeadAttention(6, 3)
    inputs, gradient = [normal(2, 4, 6), normal(2, 5, 6), normal(2, 5, 6)], normal(2, 4, 6)
    mask = np.arange(5) < np.array([3, 5])[:, None, None, None] if masked else None
    tracked = follow(*inputs, *weights_of(layer).values())
    q, k, v, wq, bq, wk, bk, wv, bv, wo, bo = tracked
    heads = [(x @ w + b).unflatten(-1, (3, 2)).transpose(1, 2) for x, w, b in ((q, wq, bq), (k, wk, bk), (v, wv, bv))]
    allowed = None if mask is None else torch.from_numpy(mask)
    expected = F.scaled_dot_product_attention(*heads, allowed).transpose(1, 2).flatten(2) @ wo + bo
    expected.backward(torch.from_numpy(gradient))
    output, weights = layer.forward(*inputs, mask)
    alike(output, expected)
    assert weights.shape == (2, 3, 4, 5)
    for mine, theirs in zip([*layer.backward(gradient), *gradients_of(layer).values()], tracked, strict=True):
        np.testing.assert_allclose(mine, theirs.grad.numpy(), rtol=1e-8, atol=1e-12)  # type: ignore[union-attr]


def test_a_row_without_a_key_is_finite_and_changes_no_other_gradient() -> None:
    layer, x, gradient = MultiHeadAttention(4, 2), normal(2, 3, 4), normal(2, 3, 4)
    mask = np.ones((2, 1, 3, 3), dtype=bool)
    mask[1, :, 0] = False
    gradient[1, 0] = 0.0
    assert np.isfinite(layer.forward(x, x, x, mask)[0]).all()
    assert all(np.isfinite(each).all() for each in layer.backward(gradient))


def test_blocks_and_models_have_the_slopes_they_claim() -> None:
    x, states = normal(2, 3, 4), normal(2, 2, 4)
    slopes_agree(TransformerBlock(4, 2, 6), (x,), normal(2, 3, 4))
    slopes_agree(DecoderBlock(4, 2, 6), (x, states, np.tri(3, dtype=bool)), normal(2, 3, 4))
    source, target_input = np.array([[1, 2, 0], [3, 3, 1]]), np.array([[4, 2], [4, 1]])
    slopes_agree(Transformer(5, 4, 4, 2, 6, 2), (source, target_input), normal(2, 2, 5))
    slopes_agree(Reader(5, 4, 4, 2, 6, 2), (source,), normal(2, 5))


def test_inputs_of_blocks() -> None:
    block, x, states, gradient = DecoderBlock(4, 2, 6), normal(1, 3, 4), normal(1, 2, 4), normal(1, 3, 4)

    def f(place: int) -> Any:
        def run(changed: np.ndarray) -> tuple[float, np.ndarray]:
            output = block.forward(*(changed, states) if place == 0 else (x, changed))
            return float((output * gradient).sum()), block.backward(gradient)[place]

        return run

    assert functions.gradient_check(f(0), x) < 1e-6
    assert functions.gradient_check(f(1), states) < 1e-6


def test_optimisers_step_as_those_of_torch() -> None:
    start, gradients = normal(3, 2), [normal(3, 2) for _ in range(4)]
    for mine, theirs in (
        (lambda p: optimisers.SGD(p, 0.1), lambda p: torch.optim.SGD(p, 0.1)),
        (lambda p: optimisers.Adam(p, 0.1, (0.8, 0.9), 0.01), lambda p: torch.optim.Adam(p, 0.1, (0.8, 0.9), 0.01)),
    ):
        array, (tensor,) = start.copy(), follow(start)
        one, other = mine([array]), theirs([tensor])  # type: ignore[no-untyped-call]
        for gradient in gradients:
            one.step([gradient])
            tensor.grad = torch.from_numpy(gradient)
            other.step()
        alike(array, tensor)


def test_dropout_drops_the_same_on_the_way_back() -> None:
    layer, x, gradient = layers.Dropout(0.25, np.random.default_rng(0)), normal(100, 100), normal(100, 100)
    output = layer.forward(x)
    np.testing.assert_allclose(layer.backward(gradient), gradient * output / x)
    assert 0.23 < (output == 0).mean() < 0.27
    layer.training = False
    assert np.array_equal(layer.forward(x), x)
    assert np.array_equal(layer.backward(gradient), gradient)


def test_a_checkpoint_brings_the_weights_back(tmp_path: Any) -> None:
    model = prepared(Reader(5, 4, 4, 2, 6, 1), seed=1)
    saved, tokens = copied(model), np.array([[1, 2, 3]])
    logits = model.forward(tokens)
    save(tmp_path / "model.npz", model)
    for array in weights_of(model).values():
        array += 1.0
    assert not np.allclose(model.forward(tokens), logits)
    restore(model, saved)
    assert np.array_equal(model.forward(tokens), logits)
    other = prepared(Reader(5, 4, 4, 2, 6, 1), seed=2)
    load(tmp_path / "model.npz", other)
    assert np.array_equal(other.forward(tokens), logits)
    with pytest.raises(ValueError, match="other layers"):
        restore(Reader(5, 4, 4, 2, 7, 1), saved)


def test_training_stays_in_float32_and_learns() -> None:
    questions = tasks.questions(0).train[:200]
    tokens, answers = tasks.as_arrays(questions)
    model = prepared(Reader(16, 4, 8, 2, 16, 1), seed=0)
    adam = optimisers.Adam(list(weights_of(model).values()), 0.01)
    losses = fit(model, (tokens,), answers, loss_function=functions.cross_entropy, optimizer=adam, epochs=15)
    assert losses[-1] < losses[0] / 2
    assert {array.dtype for array in weights_of(model).values()} == {np.dtype("float32")}
    assert {array.dtype for array in gradients_of(model).values()} == {np.dtype("float32")}


def test_nested_questions_are_answered_from_the_inside_out() -> None:
    tokens, answers = tasks.nested_questions(seed=3, count=200)
    assert len({tuple(row) for row in tokens.tolist()}) == 200
    for row, answer in zip(tokens, answers, strict=True):
        text = " ".join(tasks.SYMBOLS[token] for token in row)
        for name in tasks.NAMES:
            text = text.replace(name, f"tasks.OPERATIONS['{name}']")
        text = text.replace("( ", "([").replace(" )", "])").replace("'] ", "']")
        written = ""
        for before, sign in zip(" " + text, text, strict=False):
            written += "," if sign == " " and before not in "[" else sign
        assert str(eval(written.replace("],)", "])"))) == tasks.SYMBOLS[answer]


def test_no_row_of_letters_comes_twice() -> None:
    sources, targets = tasks.reversal(seed=1, train=300, test=50, max_length=5)
    assert len({tuple(row) for row in sources.tolist()}) == 350
    for source, target in zip(sources, targets, strict=True):
        assert tasks.letters(target) == tasks.letters(source)[::-1]


def test_an_untrained_model_writes_and_is_scored() -> None:
    sources, targets = tasks.reversal(seed=1, train=1, test=20, max_length=5)
    model = prepared(Transformer(tasks.LETTER_VOCAB, 6, 8, 2, 16, 1), seed=0)
    written = greedy(model, sources, tasks.LETTER_START, tasks.LETTER_END, 6)
    assert written.shape == targets.shape
    for row in written.tolist():
        if tasks.LETTER_END in row:
            assert not any(row[row.index(tasks.LETTER_END) + 1 :])
    scores = sequence_scores(model, sources, tasks.shifted(targets, tasks.LETTER_START), targets, tasks.LETTER_END)
    assert scores.exact <= scores.tokens < 0.5


def test_attention_maps_are_what_the_layers_computed() -> None:
    model = prepared(Reader(16, 4, 8, 2, 16, 2), seed=0)
    tokens, _ = tasks.as_arrays(tasks.questions(0).test[:5])
    expected = model.forward(tokens)
    maps = attention_maps(model, tokens)
    assert list(maps) == ["blocks.0.attention", "blocks.1.attention"]
    assert all(each.shape == (5, 2, 4, 4) and np.allclose(each.sum(-1), 1) for each in maps.values())
    assert np.array_equal(model.forward(tokens), expected)
    assert not any("forward" in vars(block.attention) for block in model.blocks)


def test_the_reading_of_a_head_follows_from_its_weights() -> None:
    uniform = np.full((3, 4, 4), 0.25)
    other = np.tile(np.eye(4)[[2, 0, 3, 1]], (3, 1, 1))
    assert [reading(each) for each in (uniform, other)] == ["spread", "focused"]
    assert reading(0.5 * other + 0.5 * uniform) == "spread"  # the largest is 0.625
    assert reading(0.7 * other + 0.3 * uniform) == "focused"
    assert reading(other[:, :1]) == "focused"


def test_a_row_with_nothing_allowed_sends_nothing_back() -> None:
    layer, mask = MultiHeadAttention(4, 2), np.ones((3, 3), dtype=bool)
    mask[1] = False
    x, gradient = normal(2, 3, 4), normal(2, 3, 4)
    _, weights = layer.forward(x, x, x, mask)
    assert not weights[:, :, 1].any()

    def f(changed: np.ndarray) -> tuple[float, np.ndarray]:
        value = float((layer.forward(changed, changed, changed, mask)[0] * gradient).sum())
        return value, np.add.reduce(layer.backward(gradient))

    assert functions.gradient_check(f, x) < 1e-5


def test_a_tape_finds_the_gradients_of_layers_and_autograd() -> None:
    q, k, v, toward = normal(2, 3, 4), normal(2, 5, 4), normal(2, 5, 6), normal(2, 3, 6)
    tape = Tape()
    exponentials = (Variable(q, tape) @ Variable(k, tape).mT * 4**-0.5).exp()
    weights = exponentials / exponentials.sum()
    output = weights @ Variable(v, tape)
    by_tape = tape.gradients(output.array, toward, [q, k, v])
    by_hand = functions.attention_backward(q, k, v, weights.array, toward)
    tracked = follow(q, k, v)
    expected = F.scaled_dot_product_attention(*tracked)
    expected.backward(torch.from_numpy(toward))
    alike(output.array, expected)
    for mine, hand, theirs in zip(by_tape, by_hand, tracked, strict=True):
        alike(mine, theirs.grad)
        np.testing.assert_allclose(mine, hand, rtol=1e-9, atol=1e-12)

    x, gradient, norm, tape = normal(4, 6), normal(4, 6), layers.LayerNorm(6), Tape()
    row = Variable(x, tape)
    centred = row - row.sum() / 6
    normalised = centred / ((centred * centred).sum() / 6 + 1e-5) ** 0.5
    np.testing.assert_allclose(normalised.array, norm.forward(x), rtol=1e-9)
    np.testing.assert_allclose(tape.gradients(normalised.array, gradient, [x])[0], norm.backward(gradient), atol=1e-12)


def test_nothing_here_imports_torch() -> None:
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "from transformer_course.numpy_transformer import fitting, looking, model, optimisers, reader, tasks, walking"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
