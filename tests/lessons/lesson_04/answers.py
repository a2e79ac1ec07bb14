"""Lesson 04 beyond its catalogue: odd but honest answers keep their points, nameless wrong ones lose some."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from course.attention import MultiHeadAttention, merge_heads, padding_mask, scaled_dot_product_attention, split_heads
from course.blocks import EncoderBlock, FeedForward, LayerNorm, LearnedPositionalEmbedding
from course.seq2seq import CrossAttention, DecoderBlock, Seq2SeqTransformer, encoder_influence
from course.sequences import exact_match, perplexity, sequence_cross_entropy, token_accuracy

# --- shift_right


def shifted_by_index(targets, start_id):
    places = torch.arange(targets.shape[1]) - 1
    moved = targets[:, places.clamp(min=0)]
    return torch.where(places < 0, start_id, moved)


def shifted_by_deque(targets, start_id):
    rows = []
    for row in targets.tolist():
        row.insert(0, start_id)
        row.pop()
        rows.append(row)
    return torch.LongTensor(rows)


def shifted_by_gather(targets, start_id):
    longer = torch.cat((torch.tensor([start_id]).repeat(targets.size(0), 1), targets), dim=-1)
    return longer.narrow(1, 0, targets.size(1))


def shifted_twice(targets, start_id):
    return F.pad(targets, (2, 0), value=start_id)[:, : targets.shape[1]]


def shifted_without_last_row(targets, start_id):
    return F.pad(targets, (1, 0), value=start_id)[:-1, :-1]


def shifted_where_real(targets, start_id):
    moved = F.pad(targets, (1, 0), value=start_id)[:, :-1]
    return torch.where(moved == 0, start_id, moved)


def shifted_from_a_view(targets, start_id):
    moved = targets.clone()
    moved[:, 0] = start_id
    return moved


def shifted_as_a_list(targets, start_id):
    return [[start_id, *row[:-1]] for row in targets.tolist()]


# --- sequence_cross_entropy


def loss_by_distribution(logits, targets, pad_id=0):
    real = targets != pad_id
    if real.sum() == 0:
        raise RuntimeError("no tokens")
    distribution = torch.distributions.Categorical(logits=logits)
    return -distribution.log_prob(targets)[real].mean()


def loss_by_weights(logits, targets, pad_id=0):
    assert (targets != pad_id).any(), "nothing but padding"
    weight = torch.ones(logits.size(-1), dtype=logits.dtype)
    weight[pad_id] = 0
    return F.cross_entropy(logits.permute(0, 2, 1), targets, weight=weight)


def loss_checked_by_nan(logits, targets, pad_id=0):
    loss = F.cross_entropy(logits.flatten(end_dim=1), targets.flatten(), ignore_index=pad_id)
    if loss.isnan():
        raise ValueError("there is nothing to average")
    return loss


def loss_row_by_row(logits, targets, pad_id=0):
    total, count = 0, 0
    for row, ids in zip(logits, targets, strict=True):
        keep = ids != pad_id
        total = total + F.cross_entropy(row[keep], ids[keep], reduction="sum")
        count += int(keep.sum())
    if not count:
        raise ValueError("only padding")
    return total / count


def loss_smoothed(logits, targets, pad_id=0):
    return F.cross_entropy(logits.mT, targets, ignore_index=pad_id, label_smoothing=0.1)


def loss_first_row(logits, targets, pad_id=0):
    return sequence_cross_entropy(logits[:1], targets[:1], pad_id)


def loss_of_the_last(logits, targets, pad_id=0):
    return sequence_cross_entropy(logits[:, -1:], targets[:, -1:], pad_id)


def loss_squared(logits, targets, pad_id=0):
    return ((logits.softmax(-1) - F.one_hot(targets, logits.shape[-1])) ** 2)[targets != pad_id].mean()


def loss_clamped(logits, targets, pad_id=0):
    return sequence_cross_entropy(logits.clamp(-20, 20), targets, pad_id)


def loss_median(logits, targets, pad_id=0):
    each = F.cross_entropy(logits.mT, targets, reduction="none")
    return each[targets != pad_id].median()


def loss_in_float32(logits, targets, pad_id=0):
    return sequence_cross_entropy(logits.float(), targets, pad_id).to(logits.dtype)


def loss_detached_padding_counted(logits, targets, pad_id=0):
    loss = sequence_cross_entropy(logits, targets, pad_id)
    return loss + 0.01 * F.cross_entropy(logits.mT, targets)


# --- perplexity


def perplexity_in_numpy(logits, targets, pad_id=0):
    return np.exp(float(sequence_cross_entropy(logits, targets, pad_id).double()))


def perplexity_as_a_power(logits, targets, pad_id=0):
    return torch.pow(math.e, sequence_cross_entropy(logits, targets, pad_id))


def perplexity_of_log_softmax(logits, targets, pad_id=0):
    return sequence_cross_entropy(F.log_softmax(logits, -1), targets, pad_id).exp()


def perplexity_minus_one(logits, targets, pad_id=0):
    return torch.expm1(sequence_cross_entropy(logits, targets, pad_id))


def perplexity_squared(logits, targets, pad_id=0):
    return perplexity(logits, targets, pad_id) ** 2


def perplexity_capped(logits, targets, pad_id=0):
    return perplexity(logits, targets, pad_id).clamp(max=logits.shape[-1])


def perplexity_of_entropy(logits, targets, pad_id=0):
    p = logits.softmax(-1)
    return -(p * p.log()).sum(-1)[targets != pad_id].mean().exp()


# --- token_accuracy


def accuracy_with_double(logits, targets, pad_id=0):
    real = targets.ne(pad_id)
    if not real.any():
        raise ValueError("padding")
    return logits.max(-1).indices.eq(targets).double().mul(real).sum().div(real.sum())


def accuracy_in_numpy(logits, targets, pad_id=0):
    said, wanted = logits.numpy().argmax(-1), targets.numpy()
    real = wanted != pad_id
    if not real.any():
        raise ValueError("padding")
    return (said[real] == wanted[real]).mean()


def accuracy_by_fraction(logits, targets, pad_id=0):
    real = targets != pad_id
    return ((logits.argmax(2) == targets) & real).sum().item() / real.sum().item()


def accuracy_by_bincount(logits, targets, pad_id=0):
    real = targets != pad_id
    if int(real.sum()) == 0:
        raise ValueError("padding")
    hits = torch.bincount((logits.argmax(-1) == targets)[real].long(), minlength=2)
    return hits[1] / hits.sum()


def accuracy_where_said_right(logits, targets, pad_id=0):
    return 1 - token_accuracy(-logits, targets, pad_id)


def accuracy_of_top_two(logits, targets, pad_id=0):
    top = logits.topk(2).indices
    return (top == targets[..., None]).any(-1)[targets != pad_id].float().mean()


def accuracy_of_the_first_token(logits, targets, pad_id=0):
    return token_accuracy(logits[:, :1], targets[:, :1], pad_id)


def accuracy_of_the_absolute(logits, targets, pad_id=0):
    return token_accuracy(logits.abs(), targets, pad_id)


def accuracy_as_bits(logits, targets, pad_id=0):
    return token_accuracy(logits, targets, pad_id) > 0.5


def accuracy_until_the_first_mistake(logits, targets, pad_id=0):
    right = (logits.argmax(-1) == targets).long().cumprod(1)
    return right[targets != pad_id].float().mean()


# --- exact_match


def match_by_texts(predictions, targets, pad_id=0):
    right = 0
    for said, wanted in zip(predictions.tolist(), targets.tolist(), strict=True):
        places = [i for i, token in enumerate(wanted) if token != pad_id]
        right += all(i < len(said) and said[i] == wanted[i] for i in places)
    return right / len(targets)


def match_by_masked_fill(predictions, targets, pad_id=0):
    missing = targets.size(1) - predictions.size(1)
    said = F.pad(predictions, (0, missing), value=pad_id)  # a negative number cuts
    said = said.masked_fill(targets == pad_id, pad_id)
    return (said != targets).sum(1).eq(0).float().mean().item()


def match_by_minimum(predictions, targets, pad_id=0):
    length = targets.shape[1]
    extra = torch.full((len(targets), length), pad_id)
    said = torch.cat([predictions, extra], 1)[:, :length]
    return torch.where(targets == pad_id, torch.ones_like(targets), (said == targets).long()).amin(1).double().mean()


def match_until_the_end(predictions, targets, pad_id=0):
    return exact_match(predictions, targets[:, :-1], pad_id) if targets.shape[1] > 1 else torch.tensor(1.0)


def match_filled_with_anything(predictions, targets, pad_id=0):
    if predictions.shape[1] < targets.shape[1]:
        predictions = torch.cat([predictions, targets[:, predictions.shape[1] :]], dim=1)
    return exact_match(predictions, targets, pad_id)


def match_of_counts(predictions, targets, pad_id=0):
    width = min(predictions.shape[1], targets.shape[1])
    real = targets[:, :width] != pad_id
    return ((predictions[:, :width] == targets[:, :width]) & real).sum(1).eq(real.sum(1)).float().mean()


def match_of_the_whole(predictions, targets, pad_id=0):
    return float(torch.equal(predictions, targets))


def match_padded_by_the_last(predictions, targets, pad_id=0):
    missing = max(targets.shape[1] - predictions.shape[1], 0)
    said = torch.cat([predictions, predictions[:, -1:].expand(-1, missing)], 1)[:, : targets.shape[1]]
    return exact_match(said, targets, 0)


# --- CrossAttention


class CrossWithPair(nn.Module):
    """Two layers and a helper that holds nothing of its own."""

    def __init__(self, d_model, num_heads):
        super().__init__()
        self.heads = num_heads
        for name in ("query", "key", "value", "output"):
            self.add_module(name, nn.Linear(d_model, d_model))

    def forward(self, decoder_states, encoder_states, encoder_mask=None):
        q = split_heads(self.query(decoder_states), self.heads)
        k = split_heads(self.key(encoder_states), self.heads)
        v = split_heads(self.value(encoder_states), self.heads)
        mixed, weights = scaled_dot_product_attention(q, k, v, encoder_mask)
        return self.output(merge_heads(mixed)), weights


class CrossDeepInside(nn.Module):
    """The layer sits two levels down."""

    def __init__(self, d_model, num_heads):
        super().__init__()
        self.holder = nn.ModuleDict({"cross": MultiHeadAttention(d_model, num_heads)})

    def forward(self, decoder_states, encoder_states, encoder_mask=None):
        return self.holder["cross"](decoder_states, encoder_states, encoder_states, encoder_mask)


class CrossNamedTuple(MultiHeadAttention):
    """Adds a default of its own, and multiplies instead of dividing."""

    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__(d_model, num_heads)
        self.dropout = nn.Dropout(dropout)

    def forward(self, decoder_states, encoder_states, encoder_mask=None):
        output, weights = super().forward(decoder_states, encoder_states, encoder_states, encoder_mask)
        return self.dropout(output), weights


class CrossOfTheFirstToken(CrossAttention):
    def forward(self, decoder_states, encoder_states, encoder_mask=None):
        return super().forward(decoder_states[:, :1].expand_as(decoder_states), encoder_states, encoder_mask)


class CrossWithoutBatch(CrossAttention):
    def forward(self, decoder_states, encoder_states, encoder_mask=None):
        output, weights = super().forward(decoder_states, encoder_states[:1].expand_as(encoder_states), encoder_mask)
        return output, weights


class CrossSquareMask(CrossAttention):
    def forward(self, decoder_states, encoder_states, encoder_mask=None):
        if encoder_mask is not None and encoder_mask.shape[-1] == encoder_mask.shape[-2]:
            encoder_mask = encoder_mask.mT
        return super().forward(decoder_states, encoder_states, encoder_mask)


class CrossDetachedWeights(CrossAttention):
    def forward(self, decoder_states, encoder_states, encoder_mask=None):
        output, weights = super().forward(decoder_states.detach(), encoder_states, encoder_mask)
        return output, weights


class CrossMaskOfTwoAxes(CrossAttention):
    def forward(self, decoder_states, encoder_states, encoder_mask=None):
        if encoder_mask is not None and encoder_mask.dim() == 2:
            encoder_mask = None
        return super().forward(decoder_states, encoder_states, encoder_mask)


class CrossTwice(CrossAttention):
    def forward(self, decoder_states, encoder_states, encoder_mask=None):
        output, weights = super().forward(decoder_states, encoder_states, encoder_mask)
        return super().forward(output, encoder_states, encoder_mask)[0], weights


# --- DecoderBlock


class BlockOfLists(nn.Module):
    """Goes through its steps in a loop."""

    def __init__(self, d_model, num_heads, d_ff):
        super().__init__()
        self.feed_forward = FeedForward(d_model, d_ff)
        self.self_attention = MultiHeadAttention(d_model, num_heads)
        self.cross_attention = CrossAttention(d_model, num_heads)
        self.norm1, self.norm2, self.norm3 = LayerNorm(d_model), nn.LayerNorm(d_model), LayerNorm(d_model)

    def forward(self, x, encoder_states, self_mask=None, encoder_mask=None):
        steps = (
            (self.norm1, lambda y: self.self_attention(y, y, y, self_mask)[0]),
            (self.norm2, lambda y: self.cross_attention(y, encoder_states, encoder_mask)[0]),
            (self.norm3, self.feed_forward),
        )
        for norm, step in steps:
            x = torch.add(x, step(norm(x)))
        return x


class BlockOverEncoderBlock(nn.Module):
    """Borrows an encoder block for its parts."""

    def __init__(self, d_model, num_heads, d_ff):
        super().__init__()
        borrowed = EncoderBlock(d_model, num_heads, d_ff)
        self.self_attention, self.norm1 = borrowed.attention, borrowed.norm1
        self.cross_attention, self.norm2 = CrossNamedTuple(d_model, num_heads), borrowed.norm2
        self.feed_forward, self.norm3 = borrowed.feed_forward, LayerNorm(d_model)

    def forward(self, x, encoder_states, self_mask=None, encoder_mask=None):
        y = self.norm1(x)
        own, _ = self.self_attention(y, y, y, self_mask)
        x = x + own
        cross, _weights = self.cross_attention(self.norm2(x), encoder_states, encoder_mask)
        x = x + cross
        return x + self.feed_forward(self.norm3(x))


class OutputAlone(nn.Module):
    """A cross-attention that keeps its weights to itself."""

    def __init__(self, d_model, num_heads):
        super().__init__()
        self.look = MultiHeadAttention(d_model, num_heads)

    def forward(self, decoder_states, encoder_states, encoder_mask=None):
        return self.look(decoder_states, encoder_states, encoder_states, encoder_mask)[0]


class BlockWithoutWeights(BlockOfLists):
    """Its cross-attention returns nothing but the output."""

    def __init__(self, d_model, num_heads, d_ff):
        super().__init__(d_model, num_heads, d_ff)
        self.cross_attention = OutputAlone(d_model, num_heads)

    def forward(self, x, encoder_states, self_mask=None, encoder_mask=None):
        y = self.norm1(x)
        x = x + self.self_attention(y, y, y, self_mask)[0]
        x = x + self.cross_attention(self.norm2(x), encoder_states, encoder_mask)
        return x + self.feed_forward(self.norm3(x))


def block(**members):
    return type("DecoderBlock", (DecoderBlock,), members)


def block_doubled(self, x, encoder_states, self_mask=None, encoder_mask=None):
    x = DecoderBlock.forward(self, x, encoder_states, self_mask, encoder_mask)
    return DecoderBlock.forward(self, x, encoder_states, self_mask, encoder_mask)


def block_residual_of_the_norm(self, x, encoder_states, self_mask=None, encoder_mask=None):
    y = self.norm1(x)
    x = x + self.self_attention(y, y, y, self_mask)[0]
    y = self.norm2(x)
    x = y + self.cross_attention(y, encoder_states, encoder_mask)[0]
    return x + self.feed_forward(self.norm3(x))


def block_values_not_normed(self, x, encoder_states, self_mask=None, encoder_mask=None):
    y = self.norm1(x)
    x = x + self.self_attention(y, y, x, self_mask)[0]
    x = x + self.cross_attention(self.norm2(x), encoder_states, encoder_mask)[0]
    return x + self.feed_forward(self.norm3(x))


def block_masks_joined(self, x, encoder_states, self_mask=None, encoder_mask=None):
    if self_mask is not None and encoder_mask is not None and self_mask.shape[-1] == encoder_mask.shape[-1]:
        encoder_mask = encoder_mask & self_mask
    return DecoderBlock.forward(self, x, encoder_states, self_mask, encoder_mask)


def block_halved(self, x, encoder_states, self_mask=None, encoder_mask=None):
    return (x + DecoderBlock.forward(self, x, encoder_states, self_mask, encoder_mask)) / 2


# --- Seq2SeqTransformer


def seq2seq(**members):
    return type("Seq2SeqTransformer", (Seq2SeqTransformer,), members)


class CompactModel(nn.Module):
    """Embeds by a matrix product, keeps both stacks in one dict."""

    def __init__(self, vocab_size, max_length, d_model, num_heads, d_ff, num_layers, share=False):
        super().__init__()
        self.vocab_size = vocab_size
        self.words = nn.Linear(vocab_size, d_model, bias=False)
        self.where = nn.ModuleList(LearnedPositionalEmbedding(max_length, d_model) for _ in range(2))
        self.stacks = nn.ModuleDict(
            {
                "in": nn.ModuleList(EncoderBlock(d_model, num_heads, d_ff) for _ in range(num_layers)),
                "out": nn.ModuleList(DecoderBlock(d_model, num_heads, d_ff) for _ in range(num_layers)),
            }
        )
        self.encoder_norm, self.decoder_norm = LayerNorm(d_model), nn.LayerNorm(d_model)
        self.classify = nn.Linear(d_model, vocab_size, bias=False)

    def embed(self, ids, side):
        one_hot = F.one_hot(ids, self.vocab_size).to(self.words.weight.dtype)
        return self.where[side](self.words(one_hot))

    def encode(self, source):
        x = self.embed(source, 0)
        for layer in self.stacks["in"]:
            x = layer(x, mask=padding_mask(source))
        return self.encoder_norm(x)

    def decode(self, target_input, encoder_states, source, target_mask=None):
        x = self.embed(target_input, 1)
        seen = (source != 0)[:, None, None]
        for layer in self.stacks["out"]:
            x = layer(x, encoder_states, self_mask=target_mask, encoder_mask=seen)
        return self.classify(self.decoder_norm(x))

    def forward(self, source, target_input, target_mask=None):
        return self.decode(target_input, self.encode(source), source, target_mask=target_mask)


class OneTableOfPositions(Seq2SeqTransformer):
    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.target_positions = self.source_positions


class TiedModel(Seq2SeqTransformer):
    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.head.weight = self.embedding.weight


class OtherArguments(Seq2SeqTransformer):
    """The same six sizes and three inputs under other names."""

    def __init__(self, vocabulary, longest, width, heads, hidden, depth):
        super().__init__(vocabulary, longest, width, heads, hidden, depth)

    def forward(self, source_ids, shown, mask=None):
        return super().forward(source_ids, shown, mask)


def decode_with_shrunk_states(self, target_input, encoder_states, source, target_mask=None):
    first = encoder_states[:, :1].expand_as(encoder_states)
    return Seq2SeqTransformer.decode(self, target_input, first, source, target_mask)


def encode_with_causal_mask(self, source):
    x = self.source_positions(self.embedding(source))
    length = source.shape[1]
    mask = padding_mask(source) & torch.ones(length, length, dtype=torch.bool).tril()
    for each in self.encoder:
        x = each(x, mask)
    return self.encoder_norm(x)


def decode_by_targets_padding(self, target_input, encoder_states, source, target_mask=None):
    x = self.target_positions(self.embedding(target_input))
    for each in self.decoder:
        x = each(x, encoder_states, target_mask, padding_mask(target_input))
    return self.head(self.decoder_norm(x))


def decode_with_one_mask(self, target_input, encoder_states, source, target_mask=None):
    x = self.target_positions(self.embedding(target_input))
    mask = padding_mask(source)
    for each in self.decoder:
        x = each(x, encoder_states, target_mask, mask if target_mask is None else None)
    return self.head(self.decoder_norm(x))


def encode_shifted(self, source):
    x = self.source_positions(self.embedding(source)).roll(1, dims=0)
    for each in self.encoder:
        x = each(x, padding_mask(source))
    return self.encoder_norm(x)


class ExtraLayer(Seq2SeqTransformer):
    def __init__(self, vocab_size, max_length, d_model, num_heads, d_ff, num_layers):
        super().__init__(vocab_size, max_length, d_model, num_heads, d_ff, num_layers)
        self.unused = MultiHeadAttention(d_model, num_heads)


class TooShortTable(Seq2SeqTransformer):
    def __init__(self, vocab_size, max_length, *sizes):
        super().__init__(vocab_size, max_length - 1, *sizes)


# --- encoder_influence


def influence_by_vocabulary(model, source, target_input):
    logits = model(source, target_input)
    vocab_size = logits.shape[-1]
    found = []
    for offset in range(1, 4):
        other = torch.where(source > 0, (source - 1 + offset) % (vocab_size - 1) + 1, source)
        found.append(float((model(other, target_input) - logits).detach().abs().sum()))
    return max(found)


def influence_row_by_row(model, source, target_input):
    largest = torch.tensor(0.0)
    with torch.inference_mode():
        for row, shown in zip(source, target_input, strict=True):
            before = model(row[None], shown[None])
            for place in range(len(row)):
                for token in set(source.flatten().tolist()) - {int(row[place]), 0}:
                    changed = row.clone()
                    changed[place] = token
                    after = model(changed[None], shown[None])
                    largest = max(largest, (after - before).abs().max().float())
    return largest


def influence_of_a_mean_square(model, source, target_input):
    changed = source.max() + 1 - source
    changed = torch.where(source == 0, source, changed.clamp(min=1))
    changed = torch.where(changed == source, source % int(source.max()) + 1, changed)
    return F.mse_loss(model(changed, target_input).double(), model(source, target_input).double()).item() ** 0.5


def influence_of_ones(model, source, target_input):
    return (model(torch.where(source == 0, 0, 1), target_input) - model(source, target_input)).abs().sum().item()


def influence_of_flips(model, source, target_input):
    return (model(source.flip(1), target_input) - model(source, target_input)).abs().max().item()


def influence_of_one_logit(model, source, target_input):
    changed = source % int(source.max()) + 1
    return (model(changed, target_input) - model(source, target_input))[..., 0].abs().max().item()


def influence_always(model, source, target_input):
    return 1.0


def influence_never(model, source, target_input):
    return 0.0


def influence_of_probabilities(model, source, target_input):
    return (1 - encoder_influence(model, source, target_input)) ** 2


def influence_thresholded(model, source, target_input):
    found = encoder_influence(model, source, target_input)
    return found if found > 0.1 else 0.0


HONEST = {
    "shift_right": [shifted_by_index, shifted_by_deque, shifted_by_gather],
    "sequence_cross_entropy": [
        loss_by_distribution,
        loss_by_weights,
        loss_checked_by_nan,
        loss_row_by_row,
    ],
    "perplexity": [perplexity_in_numpy, perplexity_as_a_power, perplexity_of_log_softmax],
    "token_accuracy": [accuracy_with_double, accuracy_in_numpy, accuracy_by_fraction, accuracy_by_bincount],
    "exact_match": [match_by_texts, match_by_masked_fill, match_by_minimum],
    "CrossAttention": [CrossWithPair, CrossDeepInside, CrossNamedTuple],
    "DecoderBlock": [BlockOfLists, BlockOverEncoderBlock, BlockWithoutWeights],
    "Seq2SeqTransformer": [CompactModel, OneTableOfPositions, TiedModel, OtherArguments],
    "encoder_influence": [
        influence_by_vocabulary,
        influence_row_by_row,
        influence_of_a_mean_square,
    ],
}
WRONG = {
    "shift_right": [
        shifted_twice,
        shifted_without_last_row,
        shifted_where_real,
        shifted_from_a_view,
        shifted_as_a_list,
    ],
    "sequence_cross_entropy": [
        loss_smoothed,
        loss_first_row,
        loss_of_the_last,
        loss_squared,
        loss_clamped,
        loss_median,
        loss_in_float32,
        loss_detached_padding_counted,
    ],
    "perplexity": [perplexity_minus_one, perplexity_squared, perplexity_capped, perplexity_of_entropy],
    "token_accuracy": [
        accuracy_where_said_right,
        accuracy_of_top_two,
        accuracy_of_the_first_token,
        accuracy_of_the_absolute,
        accuracy_as_bits,
        accuracy_until_the_first_mistake,
    ],
    "exact_match": [
        match_until_the_end,
        match_filled_with_anything,
        match_of_counts,
        match_of_the_whole,
        match_padded_by_the_last,
    ],
    "CrossAttention": [
        CrossOfTheFirstToken,
        CrossWithoutBatch,
        CrossSquareMask,
        CrossDetachedWeights,
        CrossMaskOfTwoAxes,
        CrossTwice,
    ],
    "DecoderBlock": [
        block(forward=block_doubled),
        block(forward=block_residual_of_the_norm),
        block(forward=block_values_not_normed),
        block(forward=block_masks_joined),
        block(forward=block_halved),
    ],
    "Seq2SeqTransformer": [
        seq2seq(decode=decode_with_shrunk_states),
        seq2seq(encode=encode_with_causal_mask),
        seq2seq(decode=decode_by_targets_padding),
        seq2seq(decode=decode_with_one_mask),
        seq2seq(encode=encode_shifted),
        ExtraLayer,
        TooShortTable,
    ],
    "encoder_influence": [
        influence_of_flips,
        influence_of_ones,
        influence_of_one_logit,
        influence_always,
        influence_never,
        influence_of_probabilities,
        influence_thresholded,
    ],
}
