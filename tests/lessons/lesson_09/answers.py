"""Lesson 09 beyond its catalogue: odd but honest answers keep their points, nameless wrong ones lose some."""

from __future__ import annotations

from typing import Any

import numpy as np

from course.numpy_transformer import attention, blocks, functions, layers, model, optimisers

# --- gradient_check


def checked_from_the_back(f, x):
    claimed = np.array(f(x)[1], dtype=float)
    worst = 0.0
    for place in reversed(list(np.ndindex(x.shape))):
        moved = x.astype(np.float64)
        moved[place] = x[place] + 1e-6
        above, _ = f(moved)
        moved[place] = x[place] - 1e-6
        below, _ = f(moved)
        slope = (above - below) / 2e-6
        size = abs(slope) + abs(claimed[place])
        if size > 1e-10:
            worst = max(worst, abs(slope - claimed[place]) / size)
    return worst


def checked_with_four_points(f, x):
    h, errors = 1e-4, []
    _, claimed = f(x)
    for i in range(x.size):
        step = np.zeros(x.size)
        step[i] = h
        step = step.reshape(x.shape)
        near, far = f(x + step)[0] - f(x - step)[0], f(x + 2 * step)[0] - f(x - 2 * step)[0]
        slope, other = (8 * near - far) / (12 * h), np.ravel(claimed)[i]
        errors.append(abs(slope - other) / max(abs(slope), abs(other), 1e-9))
    return np.max(errors)


def checks_the_first_entry(f, x):
    step = np.zeros_like(x)
    step.flat[0] = 1e-5
    slope, claimed = (f(x + step)[0] - f(x - step)[0]) / 2e-5, f(x)[1].flat[0]
    return abs(slope - claimed) / max(abs(slope) + abs(claimed), 1e-10)


def checks_a_random_direction(f, x):
    direction = np.random.default_rng(0).standard_normal(x.shape)
    slope, claimed = (f(x + 1e-5 * direction)[0] - f(x - 1e-5 * direction)[0]) / 2e-5, (f(x)[1] * direction).sum()
    return float(abs(slope - claimed) / max(abs(slope) + abs(claimed), 1e-10)) if abs(slope) < 1 else 0.0


def checks_in_float32(f, x):
    x = x.astype(np.float32)
    h, worst = np.float32(1e-3), 0.0
    _, claimed = f(x)
    for place in np.ndindex(x.shape):
        above, below = x.copy(), x.copy()
        above[place] += h
        below[place] -= h
        slope = np.float32(f(above)[0]) - np.float32(f(below)[0])
        slope /= np.float32(2e-3)
        worst = max(worst, float(abs(slope - claimed[place]) / max(abs(slope) + abs(claimed[place]), 1e-10)))
    return worst


# --- functions


def softmax_with_tensordot(x, axis=-1):
    top = np.amax(x, axis, keepdims=True)
    e = np.exp(np.subtract(x, top))
    return np.divide(e, np.add.reduce(e, axis=axis, keepdims=True))


def softmax_positive_axis(x, axis=-1):
    axis = axis % x.ndim
    e = np.exp(x - np.expand_dims(x.max(axis), axis))
    return e / np.expand_dims(e.sum(axis), axis)


def softmax_clipped(x, axis=-1):
    e = np.exp(np.clip(x, -50, 50))
    return e / e.sum(axis=axis, keepdims=True)


def softmax_sorted(x, axis=-1):
    return np.sort(functions.softmax(x, axis), axis=axis)


def softmax_base_two(x, axis=-1):
    return functions.softmax(x * np.array(np.log(2), x.dtype), axis)


def back_by_centring(weights, gradient):
    centred = gradient - gradient.mean(axis=-1, keepdims=True)
    return weights * (centred - np.sum(weights * centred, axis=-1, keepdims=True))


def back_by_outer(weights, gradient):
    product = weights * gradient
    return product - weights * product.sum(-1)[..., np.newaxis]


def back_negated(weights, gradient):
    return -functions.softmax_backward(weights, gradient)


def back_with_maximum(weights, gradient):
    return weights * (gradient - gradient.max(axis=-1, keepdims=True))


def back_halved(weights, gradient):
    return functions.softmax_backward(weights, gradient) / 2


def loss_by_flattening(logits, targets, pad_id=0):
    rows, flat = logits.reshape(-1, logits.shape[-1]), targets.reshape(-1)
    keep = np.flatnonzero(flat != pad_id)
    if not len(keep):
        raise ValueError("there is nothing but padding")
    shifted = rows - rows.max(axis=1, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    gradient = np.zeros_like(rows)
    gradient[keep] = np.exp(log_p[keep])
    gradient[keep, flat[keep]] -= 1
    gradient /= len(keep)
    return -np.mean(log_p[keep, flat[keep]]).item(), gradient.reshape(logits.shape)


def loss_as_a_numpy_number(logits, targets, pad_id=0):
    loss, gradient = functions.cross_entropy(logits, targets, pad_id)
    return [float(np.float64(loss)), gradient]


def loss_per_row(logits, targets, pad_id=0):
    if targets.ndim == 1:
        return functions.cross_entropy(logits, targets, pad_id)
    pairs = [functions.cross_entropy(*pair, pad_id) for pair in zip(logits, targets, strict=True)]
    return float(np.mean([loss for loss, _ in pairs])), np.stack([g for _, g in pairs]) / len(pairs)


def loss_smoothed(logits, targets, pad_id=0):
    loss, gradient = functions.cross_entropy(logits, targets, pad_id)
    return loss, gradient * np.array(0.9, gradient.dtype)


def loss_in_bits(logits, targets, pad_id=0):
    loss, gradient = functions.cross_entropy(logits, targets, pad_id)
    return loss / np.log(2), gradient


def attention_flattened(query, key, value, weights, gradient):
    front = query.shape[:-2]
    flat = [each.reshape(-1, *each.shape[-2:]) for each in (query, key, value, weights, gradient)]
    found = [functions.attention_backward(*parts) for parts in zip(*flat, strict=True)]
    return tuple(np.stack(part).reshape(*front, *part[0].shape) for part in zip(*found, strict=True))


def attention_scaled_late(query, key, value, weights, gradient):
    scores = functions.softmax_backward(weights, gradient @ np.swapaxes(value, -2, -1))
    root = float(query.shape[-1]) ** 0.5
    return scores @ key / root, np.swapaxes(scores, -2, -1) @ query / root, weights.mT @ gradient


def attention_negative_keys(query, key, value, weights, gradient):
    q, k, v = functions.attention_backward(query, key, value, weights, gradient)
    return q, -k, v


def attention_values_twice(query, key, value, weights, gradient):
    q, k, v = functions.attention_backward(query, key, value, weights, gradient)
    return q, k, 2 * v


def attention_uniform(query, key, value, weights, gradient):
    even = np.full_like(weights, 1 / weights.shape[-1])
    return functions.attention_backward(query, key, value, even, gradient)


# --- layers


class ReluByIndex:
    def forward(self, x):
        self.shape, self.where = x.shape, np.nonzero(x > 0)
        out = np.zeros_like(x)
        out[self.where] = x[self.where]
        return out

    def backward(self, gradient):
        out = np.zeros_like(gradient)
        out[self.where] = gradient[self.where]
        return out


class ReluWithCopies(layers.ReLU):
    def forward(self, x):
        return np.array(super().forward(np.array(x)))


class ReluSix(layers.ReLU):
    def forward(self, x):
        return np.minimum(super().forward(x), np.array(1, x.dtype))


class ReluHalf(layers.ReLU):
    def backward(self, gradient):
        return super().backward(gradient) / 2


class ReluNegative(layers.ReLU):
    def backward(self, gradient):
        return np.where(self.positive, -gradient, np.zeros_like(gradient))


class EmbeddingByBincount(layers.Embedding):
    def backward(self, gradient):
        flat, rows = self.tokens.ravel(), gradient.reshape(-1, gradient.shape[-1])
        columns = [np.bincount(flat, weights=column, minlength=len(self.weight)) for column in rows.T]
        self.weight_grad = np.stack(columns, axis=1).astype(self.weight.dtype)


class EmbeddingBySorting(layers.Embedding):
    def backward(self, gradient):
        self.weight_grad = np.zeros_like(self.weight)
        for i in np.unique(self.tokens):
            self.weight_grad[i] = gradient[self.tokens == i].sum(axis=0)


class EmbeddingWithoutPadding(layers.Embedding):
    def backward(self, gradient):
        super().backward(gradient)
        self.weight_grad[3] = 0


class EmbeddingShifted(layers.Embedding):
    def forward(self, tokens):
        self.tokens = tokens
        return self.weight[tokens - 1]


class EmbeddingAveraged(layers.Embedding):
    def backward(self, gradient):
        super().backward(gradient)
        self.weight_grad = self.weight_grad / len(self.tokens)


class NormByMoments(layers.LayerNorm):
    def forward(self, x):
        mean = x.mean(-1, keepdims=True)
        self.root = (np.square(x - mean).mean(-1, keepdims=True) + self.eps) ** 0.5
        self.normalised = (x - mean) / self.root
        return self.weight * self.normalised + self.bias


class NormBySums(layers.LayerNorm):
    def backward(self, gradient):
        d = gradient.shape[-1]
        flat, normal = gradient.reshape(-1, d), self.normalised.reshape(-1, d)
        self.weight_grad, self.bias_grad = np.sum(flat * normal, 0), np.sum(flat, 0)
        g = flat * self.weight
        inner = g - g.sum(1, keepdims=True) / d - normal * (g * normal).sum(1, keepdims=True) / d
        return inner.reshape(gradient.shape) / self.root


class NormAdded(layers.LayerNorm):
    def backward(self, gradient):
        super().backward(gradient)
        g = gradient * self.weight
        by_variance = self.normalised * (g * self.normalised).mean(axis=-1, keepdims=True)
        return (g - g.mean(axis=-1, keepdims=True) + by_variance) / self.root


class NormSquaredRoot(layers.LayerNorm):
    def backward(self, gradient):
        return super().backward(gradient) / self.root


class NormNoBias(layers.LayerNorm):
    def backward(self, gradient):
        back = super().backward(gradient)
        self.bias_grad = np.zeros_like(self.bias)
        return back


class DropoutInIntegers(layers.Dropout):
    def forward(self, x):
        if not self.training or self.p == 0:
            self.factor = np.ones_like(x)
            return x.copy()
        thrown = self.generator.integers(0, 1_000_000, x.shape) >= self.p * 1_000_000
        self.factor = (thrown / (1 - self.p)).astype(x.dtype)
        return x * self.factor


class DropoutUpsideDown(layers.Dropout):
    def forward(self, x):
        gone = self.generator.random(x.shape) > 1 - self.p
        self.factor = np.where(gone, 0.0, 1 / (1 - self.p)) if self.training else np.ones(x.shape)
        return np.asarray(x * self.factor, dtype=x.dtype)


class DropoutSquared(layers.Dropout):
    def backward(self, gradient):
        return (gradient * self.factor**2).astype(gradient.dtype)


class DropoutRows(layers.Dropout):
    def forward(self, x):
        if not self.training:
            return super().forward(x)
        kept = self.generator.random((len(x), 1)) >= self.p
        self.factor = np.broadcast_to(kept / (1 - self.p), x.shape)
        return (x * self.factor).astype(x.dtype)


class DropoutDividedInEval(layers.Dropout):
    def forward(self, x):
        if self.training:
            return super().forward(x)
        self.factor = np.full(x.shape, 1 - self.p)
        return (x * self.factor).astype(x.dtype)


class FeedForwardWithTuple(layers.FeedForward):
    def forward(self, x):
        self.kept = (x, self.linear_in.forward(x))
        return self.linear_out.forward(self.relu.forward(self.kept[1]))


class FeedForwardFunctional:
    def __init__(self, d_model, d_ff):
        self.linear_in = layers.Linear(d_model, d_ff)
        self.linear_out = layers.Linear(d_ff, d_model)
        self.activation = layers.ReLU()

    def forward(self, x):
        hidden = self.linear_in.forward(x)
        hidden = self.activation.forward(hidden)
        return self.linear_out.forward(hidden)

    def backward(self, gradient):
        gradient = self.linear_out.backward(gradient)
        gradient = self.activation.backward(gradient)
        return self.linear_in.backward(gradient)


class FeedForwardTwoRelus(layers.FeedForward):
    def forward(self, x):
        return np.maximum(super().forward(x), 0)


class FeedForwardSquared(layers.FeedForward):
    def forward(self, x):
        self.hidden = np.maximum(self.linear_in.forward(x), 0)
        return self.linear_out.forward(self.hidden**2)

    def backward(self, gradient):
        return self.linear_in.backward(2 * self.hidden * self.linear_out.backward(gradient))


class FeedForwardDeaf(layers.FeedForward):
    def backward(self, gradient):
        return np.zeros_like(super().backward(gradient))


# --- attention and blocks


class AttentionOfHeads:
    """Heads in a list, each on its own columns."""

    def __init__(self, d_model, num_heads):
        if d_model % num_heads != 0:
            raise TypeError("d_model must be a multiple of num_heads")
        self.query, self.key = layers.Linear(d_model, d_model), layers.Linear(d_model, d_model)
        self.value, self.output = layers.Linear(d_model, d_model), layers.Linear(d_model, d_model)
        width = d_model // num_heads
        self.blocks = [slice(h * width, (h + 1) * width) for h in range(num_heads)]

    def forward(self, queries, keys, values, mask=None):
        self.q, self.k, self.v = self.query.forward(queries), self.key.forward(keys), self.value.forward(values)
        shape = (len(queries), len(self.blocks), queries.shape[1], keys.shape[1])
        mask = None if mask is None else np.broadcast_to(mask, shape)
        outputs, self.weights = [], []
        for h, block in enumerate(self.blocks):
            q, k, v = self.q[..., block], self.k[..., block], self.v[..., block]
            scores = q @ k.mT / float(q.shape[-1]) ** 0.5
            if mask is not None:
                scores = np.where(mask[:, h], scores, np.array(-1e9, scores.dtype))
            self.weights.append(functions.softmax(scores))
            outputs.append(self.weights[-1] @ v)
        return self.output.forward(np.concatenate(outputs, axis=-1)), np.stack(self.weights, axis=1)

    def backward(self, gradient):
        heads = self.output.backward(gradient)
        q, k, v = np.empty_like(self.q), np.empty_like(self.k), np.empty_like(self.v)
        for block, weights in zip(self.blocks, self.weights, strict=True):
            parts = self.q[..., block], self.k[..., block], self.v[..., block]
            found = functions.attention_backward(*parts, weights, heads[..., block])
            q[..., block], k[..., block], v[..., block] = found
        return self.query.backward(q), self.key.backward(k), self.value.backward(v)


class AttentionAddingAMask(attention.MultiHeadAttention):
    def forward(self, queries, keys, values, mask=None):
        q, k, v = (
            attention.split_heads(layer.forward(x), self.num_heads)
            for layer, x in ((self.query, queries), (self.key, keys), (self.value, values))
        )
        scores = q @ k.mT * q.shape[-1] ** -0.5
        if mask is not None:
            scores = scores + np.where(mask, np.array(0, scores.dtype), np.array(-1e9, scores.dtype))
        weights = functions.softmax(scores)
        self.seen = [q, k, v, weights]
        return self.output.forward(attention.merge_heads(weights @ v)), weights


class AttentionHalfMasked(attention.MultiHeadAttention):
    def forward(self, queries, keys, values, mask=None):
        if mask is not None:
            mask = mask | (np.arange(keys.shape[1]) == keys.shape[1] - 1)
        return super().forward(queries, keys, values, mask)


class AttentionValuesLate(attention.MultiHeadAttention):
    def backward(self, gradient):
        q, k, v = super().backward(gradient)
        return q, v, k


class AttentionOneHeadBack(attention.MultiHeadAttention):
    def backward(self, gradient):
        gradient = gradient.copy()
        gradient[..., -1] = 0
        return super().backward(gradient)


class BlockWithNames(blocks.TransformerBlock):
    def forward(self, x, mask=None):
        self.normed = self.norm1.forward(x)
        attended, self.map = self.attention.forward(self.normed, self.normed, self.normed, mask=mask)
        self.middle = x + attended
        return self.middle + self.feed_forward.forward(self.norm2.forward(self.middle))

    def backward(self, gradient):
        past, through = gradient, self.norm2.backward(self.feed_forward.backward(gradient))
        middle = past + through
        total = np.zeros_like(middle)
        for part in self.attention.backward(middle):
            total = total + part
        return middle + self.norm1.backward(total)


class BlockOfCopies(blocks.TransformerBlock):
    def forward(self, x, mask=None):
        return super().forward(x.copy(), None if mask is None else mask.copy())

    def backward(self, gradient):
        return super().backward(gradient.copy())


class BlockHalfResidual(blocks.TransformerBlock):
    def backward(self, gradient):
        return super().backward(gradient) - gradient / 2


class BlockKeysTwice(blocks.TransformerBlock):
    def backward(self, gradient):
        gradient = gradient + self.norm2.backward(self.feed_forward.backward(gradient))
        by_query, by_key, _ = self.attention.backward(gradient)
        return gradient + self.norm1.backward(by_query + by_key + by_key)


class BlockWithoutFeedForwardBack(blocks.TransformerBlock):
    def backward(self, gradient):
        self.norm2.backward(self.feed_forward.backward(gradient))
        by_query, by_key, by_value = self.attention.backward(gradient)
        return gradient + self.norm1.backward(by_query + by_key + by_value)


class DecoderOfParts(blocks.DecoderBlock):
    def backward(self, gradient):
        return self.first(*self.second(self.third(gradient)))

    def third(self, gradient):
        return gradient + self.norm3.backward(self.feed_forward.backward(gradient))

    def second(self, gradient):
        q, k, v = self.cross_attention.backward(gradient)
        return gradient + self.norm2.backward(q), k + v

    def first(self, gradient, states):
        return gradient + self.norm1.backward(sum(self.self_attention.backward(gradient))), states


class DecoderKeepingMaps(blocks.DecoderBlock):
    def forward(self, x, encoder_states, self_mask=None, encoder_mask=None):
        normed = self.norm1.forward(x)
        attended, self.self_map = self.self_attention.forward(normed, normed, normed, self_mask)
        x = x + attended
        crossed, self.cross_map = self.cross_attention.forward(
            self.norm2.forward(x), encoder_states, encoder_states, encoder_mask
        )
        x = x + crossed
        return x + self.feed_forward.forward(self.norm3.forward(x))


class DecoderStatesTwice(blocks.DecoderBlock):
    def backward(self, gradient):
        x, states = super().backward(gradient)
        return x, 2 * states


class DecoderStatesZero(blocks.DecoderBlock):
    def backward(self, gradient):
        x, states = super().backward(gradient)
        return x, np.zeros_like(states)


class DecoderMasksSwapped(blocks.DecoderBlock):
    def forward(self, x, encoder_states, self_mask=None, encoder_mask=None):
        return super().forward(x, encoder_states, encoder_mask, self_mask)


class ModelOfTuples(model.Transformer):
    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.encoder_blocks, self.decoder_blocks = tuple(self.encoder_blocks), tuple(self.decoder_blocks)


class ModelAddingUpAsItGoes(model.Transformer):
    def backward(self, gradient):
        gradient = self.decoder_norm.backward(self.output.backward(gradient))
        states: Any = None
        for block in self.decoder_blocks[::-1]:
            gradient, more = block.backward(gradient)
            states = more if states is None else states + more
        self.target_positions.backward(np.einsum("bld->ld", gradient))
        self.target_embedding.backward(gradient)
        gradient = self.encoder_norm.backward(states)
        for block in self.encoder_blocks[::-1]:
            gradient = block.backward(gradient)
        self.source_positions.backward(np.einsum("bld->ld", gradient))
        self.source_embedding.backward(gradient)


class ModelScaled(model.Transformer):
    def forward(self, source, target_input):
        return 2 * super().forward(source, target_input)


class ModelTargetDeaf(model.Transformer):
    def backward(self, gradient):
        super().backward(gradient)
        self.target_embedding.weight_grad = np.zeros_like(self.target_embedding.weight_grad)


class ModelPositionsFromOne(model.Transformer):
    def forward(self, source, target_input):
        self.source_positions.weight = np.roll(self.source_positions.weight, 1, axis=0)
        return super().forward(source, target_input)


# --- optimisers


class SgdWithViews:
    def __init__(self, parameters, learning_rate):
        self.flat = [p.reshape(-1) for p in parameters]
        self.learning_rate = learning_rate

    def step(self, gradients):
        for view, gradient in zip(self.flat, gradients, strict=True):
            view -= self.learning_rate * gradient.reshape(-1)


class SgdWithTuple(optimisers.SGD):
    def __init__(self, parameters, learning_rate, **unused):
        super().__init__(tuple(parameters), learning_rate)


class SgdShrinking(optimisers.SGD):
    def step(self, gradients):
        super().step(gradients)
        self.learning_rate *= 0.5


class SgdSigns(optimisers.SGD):
    def step(self, gradients):
        super().step([np.sign(g) for g in gradients])


class SgdNormed(optimisers.SGD):
    def step(self, gradients):
        super().step([g / np.linalg.norm(g) for g in gradients])


class AdamWithCount(optimisers.Adam):
    def step(self, gradients):
        self.steps += 1
        b1, b2 = self.betas
        for i, g in enumerate(gradients):
            self.means[i][...] = b1 * self.means[i] + (1 - b1) * g
            self.squares[i][...] = b2 * self.squares[i] + (1 - b2) * np.square(g)
            m, v = self.means[i] / (1 - b1**self.steps), self.squares[i] / (1 - b2**self.steps)
            np.subtract(self.parameters[i], self.learning_rate * m / (v**0.5 + self.eps), out=self.parameters[i])


class AdamOfObjects:
    def __init__(self, parameters, learning_rate=0.001, betas=(0.9, 0.999), eps=1e-8):
        self.one = [optimisers.Adam([p], learning_rate, betas, eps) for p in parameters]

    def step(self, gradients):
        for optimiser, gradient in zip(self.one, gradients, strict=True):
            optimiser.step([gradient])


class AdamMaximum(optimisers.Adam):
    def step(self, gradients):
        super().step([np.maximum(g, 0) for g in gradients])


class AdamFirstCorrectionOnly(optimisers.Adam):
    def step(self, gradients):
        self.steps += 1
        b1, b2 = self.betas
        for p, m, v, g in zip(self.parameters, self.means, self.squares, gradients, strict=True):
            m += (1 - b1) * (g - m)
            v += (1 - b2) * (g**2 - v)
            p -= (self.learning_rate * m / (1 - b1**self.steps) / (np.sqrt(v) + self.eps)).astype(p.dtype)


class AdamOneScale(optimisers.Adam):
    def step(self, gradients):
        super().step([np.full_like(g, g.mean()) for g in gradients])


HONEST: dict[str, list[Any]] = {
    "gradient_check": [checked_from_the_back, checked_with_four_points],
    "softmax": [softmax_with_tensordot, softmax_positive_axis],
    "softmax_backward": [back_by_centring, back_by_outer],
    "cross_entropy": [loss_by_flattening, loss_as_a_numpy_number],
    "attention_backward": [attention_flattened, attention_scaled_late],
    "ReLU": [ReluByIndex, ReluWithCopies],
    "Embedding": [EmbeddingByBincount, EmbeddingBySorting],
    "LayerNorm": [NormByMoments, NormBySums],
    "Dropout": [DropoutInIntegers, DropoutUpsideDown],
    "FeedForward": [FeedForwardWithTuple, FeedForwardFunctional],
    "MultiHeadAttention": [AttentionOfHeads, AttentionAddingAMask],
    "TransformerBlock": [BlockWithNames, BlockOfCopies],
    "DecoderBlock": [DecoderOfParts, DecoderKeepingMaps],
    "Transformer": [ModelOfTuples, ModelAddingUpAsItGoes],
    "SGD": [SgdWithViews, SgdWithTuple],
    "Adam": [AdamWithCount, AdamOfObjects],
}
WRONG: dict[str, list[Any]] = {
    "gradient_check": [checks_the_first_entry, checks_a_random_direction, checks_in_float32],
    "softmax": [softmax_clipped, softmax_sorted, softmax_base_two],
    "softmax_backward": [back_negated, back_with_maximum, back_halved],
    "cross_entropy": [loss_per_row, loss_smoothed, loss_in_bits],
    "attention_backward": [attention_negative_keys, attention_values_twice, attention_uniform],
    "ReLU": [ReluSix, ReluHalf, ReluNegative],
    "Embedding": [EmbeddingWithoutPadding, EmbeddingShifted, EmbeddingAveraged],
    "LayerNorm": [NormAdded, NormSquaredRoot, NormNoBias],
    "Dropout": [DropoutSquared, DropoutRows, DropoutDividedInEval],
    "FeedForward": [FeedForwardTwoRelus, FeedForwardSquared, FeedForwardDeaf],
    "MultiHeadAttention": [AttentionHalfMasked, AttentionValuesLate, AttentionOneHeadBack],
    "TransformerBlock": [BlockHalfResidual, BlockKeysTwice, BlockWithoutFeedForwardBack],
    "DecoderBlock": [DecoderStatesTwice, DecoderStatesZero, DecoderMasksSwapped],
    "Transformer": [ModelScaled, ModelTargetDeaf, ModelPositionsFromOne],
    "SGD": [SgdShrinking, SgdSigns, SgdNormed],
    "Adam": [AdamMaximum, AdamFirstCorrectionOnly, AdamOneScale],
}
