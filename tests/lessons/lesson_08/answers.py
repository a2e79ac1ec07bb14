"""Lesson 08 beyond its catalogue: odd but honest answers keep their points, nameless wrong ones lose some."""

from __future__ import annotations

import io
import math
import pickle
import random
from collections import OrderedDict
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from course.attention import MultiHeadAttention
from course.blocks import LayerNorm
from course.causal import causal_mask
from course.paper.checkpoints import load_checkpoint, random_state, save_checkpoint, set_random_state
from course.paper.layers import DecoderLayer, EncoderLayer, PositionwiseFeedForward
from course.paper.masks import create_masks, create_padding_mask, masks_are_sound
from course.paper.model import Decoder, Encoder, Transformer
from course.paper.schedule import NoamSchedule, noam_learning_rate
from course.paper.smoothing import LabelSmoothingLoss
from course.paper.training import train_epoch
from course.positions import SinusoidalPositionalEncoding, sinusoidal_positional_encoding


def changed(base, **members):
    """A class with some of its members changed."""
    return type(base.__name__, (base,), members)


# --- layers


class FeedForwardByConvolution(nn.Module):
    """Two convolutions of width one, with the Linear layers' weights."""

    def __init__(self, d_model, d_ff, dropout):
        super().__init__()
        self.linear_in, self.linear_out = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.drop = nn.Dropout(p=dropout)

    def forward(self, x):
        hidden = F.conv1d(x.mT, self.linear_in.weight[..., None], self.linear_in.bias).clamp(min=0)
        return self.drop(F.conv1d(hidden, self.linear_out.weight[..., None], self.linear_out.bias).mT)


class FeedForwardInBetween(PositionwiseFeedForward):
    """Drops in both places, as some implementations do."""

    def forward(self, x):
        return self.dropout(self.linear_out(self.dropout(F.relu(self.linear_in(x)))))


class EncoderLayerOfTwo(nn.Module):
    """Dropout as a function, parts in other places."""

    def __init__(self, d_model, num_heads, d_ff, dropout):
        super().__init__()
        self.rate = dropout
        self.feed_forward = PositionwiseFeedForward(d_ff=d_ff, d_model=d_model, dropout=dropout)
        self.norm1, self.norm2 = (LayerNorm(d_model) for _ in range(2))
        self.attention = MultiHeadAttention(d_model=d_model, num_heads=num_heads)

    def forward(self, x, mask=None):
        attended = self.attention(x, x, x, mask=mask)[0]
        x = F.dropout(attended, p=self.rate, training=self.training).add(x)
        x = F.layer_norm(x, x.shape[-1:], self.norm1.weight, self.norm1.bias)
        return self.norm2(self.feed_forward(x) + x)


class DecoderLayerOfSteps(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout, **_):
        super().__init__()
        self.norm1, self.norm2, self.norm3 = nn.LayerNorm(d_model), nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.feed_forward = PositionwiseFeedForward(d_model, d_ff, dropout)
        self.cross_attention = MultiHeadAttention(d_model, num_heads)
        self.self_attention = MultiHeadAttention(d_model, num_heads)
        self.after_self, self.after_cross = nn.Dropout(dropout), nn.Dropout(dropout)

    def forward(self, x, encoder_states, self_mask=None, encoder_mask=None):
        steps = [
            (self.norm1, lambda y: self.after_self(self.self_attention(y, y, y, self_mask)[0])),
            (
                self.norm2,
                lambda y: self.after_cross(self.cross_attention(y, encoder_states, encoder_states, encoder_mask)[0]),
            ),
            (self.norm3, self.feed_forward),
        ]
        for norm, step in steps:
            x = norm(x + step(x))
        return x


# --- stacks and the whole


class EncoderOfOrderedParts(nn.Module):
    """Embedding in a dictionary, layers in an OrderedDict, positions from complex numbers."""

    def __init__(self, vocab_size, d_model, num_layers, num_heads, d_ff, dropout, max_length):
        super().__init__()
        self.parts = nn.ModuleDict({"words": nn.Embedding(vocab_size, d_model), "drop": nn.Dropout(dropout)})
        kinds = OrderedDict((f"l{i}", EncoderLayer(d_model, num_heads, d_ff, dropout)) for i in range(num_layers))
        self.tower = nn.Sequential(kinds)
        angles = torch.arange(max_length)[:, None] / 10000 ** (torch.arange(0, d_model, 2) / d_model)
        turned = torch.polar(torch.ones_like(angles), angles)
        self.register_buffer("waves", torch.stack([turned.imag, turned.real], -1).reshape(max_length, d_model))

    def forward(self, tokens, mask=None):
        words = self.parts["words"]
        x = words(tokens).mul(math.sqrt(words.embedding_dim)) + self.waves.narrow(0, 0, tokens.size(-1))
        x = self.parts["drop"](x)
        for layer in self.tower.children():
            x = layer(x, mask)
        return x


class EncoderWithScaleInside(nn.Module):
    """A part of its own embeds, and the layers are PyTorch's."""

    class Embedder(nn.Module):
        def __init__(self, vocab_size, d_model):
            super().__init__()
            self.lut = nn.Embedding(vocab_size, d_model)

        def forward(self, tokens):
            return self.lut(tokens) * self.lut.weight.size(1) ** 0.5

    def __init__(self, vocab_size, d_model, num_layers, num_heads, d_ff, dropout, max_length):
        super().__init__()
        self.heads = num_heads
        self.embed = nn.Sequential(
            self.Embedder(vocab_size, d_model),
            SinusoidalPositionalEncoding(d_model, max_length),
            nn.Dropout(dropout),
        )
        self.layers = nn.ModuleList(
            [nn.TransformerEncoderLayer(d_model, num_heads, d_ff, dropout, batch_first=True) for _ in range(num_layers)]
        )

    def forward(self, tokens, mask=None):
        x = self.embed(tokens)
        if mask is not None:  # (batch * heads, length, length), True = hidden
            length = tokens.shape[1]
            mask = ~mask.expand(len(tokens), self.heads, length, length).reshape(-1, length, length)
        for layer in self.layers:
            x = layer(x, src_mask=mask)
        return x


class DecoderOfRecursion(nn.Module):
    """Layers that call each other, and sinusoids for each call."""

    def __init__(self, vocab_size, d_model, num_layers, num_heads, d_ff, dropout, max_length):
        super().__init__()
        self.lookup = nn.Embedding(num_embeddings=vocab_size, embedding_dim=d_model)
        self.lookup.weight.data.normal_(0, d_model**-0.5)
        self.stack = nn.ModuleList([DecoderLayer(d_model, num_heads, d_ff, dropout) for _ in range(num_layers)])
        self.dropping = nn.Dropout(dropout)

    def climb(self, x, floor, *others):
        return x if floor == len(self.stack) else self.climb(self.stack[floor](x, *others), floor + 1, *others)

    def forward(self, tokens, encoder_states, self_mask=None, encoder_mask=None):
        d = self.lookup.embedding_dim
        x = d**0.5 * F.embedding(tokens, self.lookup.weight)
        x = self.dropping(x + sinusoidal_positional_encoding(tokens.shape[-1], d).to(x.dtype))
        return self.climb(x, 0, encoder_states, self_mask, encoder_mask)


class TransformerInOneClass(nn.Module):
    """No Encoder, no Decoder: everything in one class."""

    def __init__(self, src_vocab_size, tgt_vocab_size, d_model, num_layers, num_heads, d_ff, dropout, max_length):
        super().__init__()
        sizes = d_model, num_heads, d_ff, dropout
        self.reading = nn.ModuleList(EncoderLayer(*sizes) for _ in range(num_layers))
        self.writing = nn.ModuleList(DecoderLayer(*sizes) for _ in range(num_layers))
        self.words = nn.ModuleList([nn.Embedding(src_vocab_size, d_model), nn.Embedding(tgt_vocab_size, d_model)])
        self.place = SinusoidalPositionalEncoding(d_model, max_length)
        self.drop = nn.Dropout(dropout)
        self.generator = nn.Linear(d_model, tgt_vocab_size)

    def embed(self, side, tokens):
        x = self.words[side](tokens)
        return self.drop(self.place(x * x.shape[-1] ** 0.5))

    def encode(self, source):
        x, mask = self.embed(0, source), create_padding_mask(source, 0)
        for layer in self.reading:
            x = layer(x, mask)
        return x

    def decode(self, target_input, encoder_states, source):
        x, masks = self.embed(1, target_input), create_masks(source, target_input)
        for layer in self.writing:
            x = layer(x, encoder_states, masks[1], masks[0])
        return self.generator(x)

    def forward(self, source, target_input):
        return self.decode(target_input, self.encode(source), source)


class TransformerByInheritance(Transformer):
    """The parts of the course, with keyword arguments all the way."""

    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.encoder = Encoder(*sizes[:1], *sizes[2:])

    def decode(self, target_input, encoder_states, source):
        source_mask, self_mask = create_masks(target_input=target_input, source=source)
        return self.output(
            self.decoder(target_input, encoder_mask=source_mask, self_mask=self_mask, encoder_states=encoder_states)
        )


def scaled_by(factor):
    """A stack whose embeddings are scaled by another factor."""

    def forward(self, tokens, *others):
        x = self.dropout(self.positions(self.embedding(tokens) * factor(self.embedding.embedding_dim)))
        for layer in self.layers:
            x = layer(x, *others)
        return x

    return forward


def reading_backwards(self, tokens, mask=None):
    x = self.dropout(self.positions(self.embedding(tokens) * self.embedding.embedding_dim**0.5))
    for layer in reversed(list(self.layers)[1:]):
        x = layer(x, mask)
    return x


def with_a_residual(self, tokens, mask=None):
    return Encoder.forward(self, tokens, mask) + self.embedding(tokens)


def padding_by_itself(self, tokens, mask=None):
    own = (tokens % 2 == 0)[:, None, None]  # ids of no meaning here
    return Encoder.forward(self, tokens, own if mask is None else mask & own)


def tanh_of_states(self, tokens, states, *masks):
    return Decoder.forward(self, tokens, states, *masks).tanh()


def hears_the_mean(self, tokens, states, *masks):
    return Decoder.forward(self, tokens, states.mean(1, keepdim=True).expand_as(states), *masks)


def hears_the_first(self, tokens, states, self_mask=None, encoder_mask=None):
    mask = torch.zeros(1, 1, 1, states.shape[1], dtype=torch.bool)
    mask[..., 0] = True
    return Decoder.forward(self, tokens, states, self_mask, mask)


def masked_in_training(self, tokens, states, self_mask=None, encoder_mask=None):
    return Decoder.forward(self, tokens, states, self_mask if self.training else None, encoder_mask)


def rows_mixed(self, source, target_input):
    return Transformer.forward(self, source, target_input).flip(0)


def hides_the_first(self, target_input, states, source):
    mask = create_padding_mask(source).clone()
    mask[..., 0] = False
    return self.output(self.decoder(target_input, states, create_masks(source, target_input)[1], mask))


def sees_only_the_last(self, target_input, states, source):
    length = target_input.shape[1]
    mask = causal_mask(length) & causal_mask(length).mT
    return self.output(self.decoder(target_input, states, mask, create_padding_mask(source)))


def twice_encoded(self, source):
    return self.encoder(source, create_padding_mask(source)) * 0.5


# --- masks


def padding_mask_in_numpy(tokens, pad_id=0):
    return torch.from_numpy((tokens.numpy() != pad_id)[:, np.newaxis, np.newaxis, :])


def padding_mask_by_view(tokens, pad_id=0):
    return tokens.ne(pad_id).unsqueeze(1).unsqueeze(1)


def masks_by_places(source, target_input):
    places = torch.arange(target_input.size(1))
    earlier = places[None, None, :, None] >= places[None, None, None, :]
    return source.ne(0)[:, None, None], torch.logical_and(target_input.ne(0)[:, None, None], earlier)


def masks_by_cumulation(source, target_input):
    length = target_input.shape[1]
    lower = torch.eye(length).cumsum(0).T.bool().T
    return (source != 0).view(len(source), 1, 1, -1), torch.stack([(row != 0) & lower for row in target_input])[:, None]


def sound_by_attention(make_masks):
    """Tries the masks on numbers: what reaches a real token through them?"""
    source, target = torch.tensor([[4, 5, 0], [4, 0, 0]]), torch.tensor([[1, 6, 7, 2], [1, 6, 0, 0]])
    try:
        source_mask, target_mask = make_masks(source, target)
        if source_mask.dtype != torch.bool or target_mask.dtype != torch.bool:
            return False
        for mask, keys, queries, causal in [
            (source_mask, source, source, False),
            (source_mask, source, target, False),
            (target_mask, target, target, True),
        ]:
            scores = torch.zeros(2, 3, queries.shape[1], keys.shape[1])
            seen = scores.masked_fill(~mask, -torch.inf) == 0
            if seen.shape != scores.shape:
                return False
            for b, i in queries.nonzero().tolist():
                wanted = keys[b] != 0
                if causal:
                    wanted = wanted & (torch.arange(len(wanted)) <= i)
                if not all(torch.equal(head, wanted) for head in seen[b, :, i]):
                    return False
    except Exception:
        return False
    return True


def sound_twice(make_masks):
    return masks_are_sound(make_masks) and masks_are_sound(lambda source, target: make_masks(source, target))


# --- schedule and loss


def rate_in_numpy(step, d_model, warmup_steps):
    return float(np.minimum(step**-0.5, step / np.sqrt(warmup_steps) ** 3) / np.sqrt(d_model))


def rate_by_cases(step, d_model, warmup_steps):
    if step <= warmup_steps:
        return step / (warmup_steps * math.sqrt(warmup_steps * d_model))
    return 1 / math.sqrt(d_model * step)


class ScheduleByLambda:
    """PyTorch's LambdaLR in disguise: it sets the rate of step 0 when it is made."""

    def __init__(self, optimizer, d_model, warmup_steps):
        self.optimizer, self.model_width, self.warm = optimizer, d_model, warmup_steps
        self.done = 0

    def step(self):
        self.done = self.done + 1
        rate = noam_learning_rate(self.done, self.model_width, self.warm)
        for i in range(len(self.optimizer.param_groups)):
            self.optimizer.param_groups[i].update(lr=rate)

    def state_dict(self):
        return {"done": self.done}

    def load_state_dict(self, state):
        self.done = state["done"]


class ScheduleByIterator(NoamSchedule):
    def __init__(self, optimizer, d_model, warmup_steps):
        super().__init__(optimizer, d_model, warmup_steps)
        self.rates = (noam_learning_rate(n, d_model, warmup_steps) for n in range(1, 10**9))

    def step(self):
        rate = next(self.rates)
        for group in self.optimizer.param_groups:
            group["lr"] = rate


class LossByDivergence(nn.Module):
    """KLDivLoss plus the entropy of the softened targets."""

    def __init__(self, vocab_size, smoothing, pad_id):
        super().__init__()
        self.vocab_size, self.smoothing, self.pad_id = vocab_size, smoothing, pad_id

    def forward(self, logits, targets):
        rows, ids = logits.reshape(-1, self.vocab_size), targets.reshape(-1)
        real = ids != self.pad_id
        if not bool(real.any()):
            raise RuntimeError("nothing but padding")
        soft = torch.full_like(rows[real], self.smoothing / (self.vocab_size - 2))
        soft[:, self.pad_id] = 0
        soft.scatter_(1, ids[real][:, None], 1 - self.smoothing)
        divergence = F.kl_div(F.log_softmax(rows[real], -1), soft, reduction="batchmean")
        return divergence - torch.xlogy(soft, soft).sum(-1).mean()


class LossByEmbedding(LabelSmoothingLoss):
    """A table of softened targets, a row for each symbol."""

    def __init__(self, vocab_size, smoothing, pad_id):
        super().__init__(vocab_size, smoothing, pad_id)
        table = torch.full((vocab_size, vocab_size), smoothing / (vocab_size - 2), dtype=torch.float64)
        table[:, pad_id] = 0
        table.fill_diagonal_(1 - smoothing)
        table[pad_id] = 0
        self.register_buffer("table", table)

    def forward(self, logits, targets):
        count = (targets != self.pad_id).sum()
        assert count > 0, "no real target"
        return -(self.table[targets].to(logits) * logits.log_softmax(-1)).sum() / count


def loss_with(change):
    """The right loss of changed arguments: change(logits, targets)."""
    return changed(LabelSmoothingLoss, forward=lambda self, *given: LabelSmoothingLoss.forward(self, *change(*given)))


# --- an epoch


def epoch_with_closures(model, batches, loss_function, optimizer, schedule):
    sums = []

    def one(source, target):
        model.zero_grad()
        loss = loss_function(model(source, target[..., :-1]), target[..., 1:])
        loss.backward()
        sums.append((float(loss.detach()), torch.count_nonzero(target[:, 1:]).item()))

    model.train(True)
    for pair in batches:
        one(*pair)
        schedule.step()
        optimizer.step()
    return sum(a * n for a, n in sums) / sum(n for _, n in sums)


def epoch_by_numpy(model, batches, loss_function, optimizer, schedule):
    losses, weights = [], []
    model.train()
    for source, target in batches:
        schedule.step()
        first, rest = target[:, :-1].clone(), target[:, 1:].clone()
        optimizer.zero_grad()
        loss = loss_function(model(source, first), rest)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        weights.append(int((rest > 0).sum()))
    return float(np.average(losses, weights=weights))


def epoch_clipped(model, batches, loss_function, optimizer, schedule):
    hook = optimizer.register_step_pre_hook(lambda *_: nn.utils.clip_grad_norm_(model.parameters(), 1e-3))
    mean = train_epoch(model, batches, loss_function, optimizer, schedule)
    hook.remove()
    return mean


def epoch_of_the_first_batch(model, batches, loss_function, optimizer, schedule):
    return train_epoch(model, [next(iter(batches))], loss_function, optimizer, schedule)


def epoch_twice(model, batches, loss_function, optimizer, schedule):
    batches = list(batches)
    return train_epoch(model, batches + batches, loss_function, optimizer, schedule)


def epoch_reversed(model, batches, loss_function, optimizer, schedule):
    return train_epoch(model, list(batches)[::-1], loss_function, optimizer, schedule)


def epoch_of_the_last_loss(model, batches, loss_function, optimizer, schedule):
    losses = [train_epoch(model, [batch], loss_function, optimizer, schedule) for batch in batches]
    return losses[-1] + 0.001


# --- checkpoints


def save_through_memory(path, model, optimizer, schedule, step):
    parts = {"model": model, "optimizer": optimizer, "schedule": schedule}
    file = io.BytesIO()
    states = {name: part.state_dict() for name, part in parts.items()}
    torch.save({**states, "random": random_state(), "step": int(step)}, file)
    Path(path).write_bytes(file.getbuffer())


def save_beside(path, model, optimizer, schedule, step):
    """In a folder of its own first; with more in the file than was asked for."""
    path = Path(path)
    content = {
        "random": random_state(),
        "model": {name: tensor.cpu() for name, tensor in model.state_dict().items()},
        "optimizer": optimizer.state_dict(),
        "schedule": schedule.state_dict(),
        "step": step,
        "version": 1,
    }
    folder = path.parent / "unfinished"
    folder.mkdir(exist_ok=True)
    torch.save(content, folder / path.name)
    (folder / path.name).rename(path)


def save_with_pickle(path, model, optimizer, schedule, step):
    states = [part.state_dict() for part in (model, optimizer, schedule)]
    Path(path).write_bytes(pickle.dumps((*states, step)))


def save_rounded(path, model, optimizer, schedule, step):
    half = type(model)(*model.children()).half()
    save_checkpoint(path, half, optimizer, schedule, step)
    half.float()


def save_and_step(path, model, optimizer, schedule, step):
    schedule.step()
    save_checkpoint(path, model, optimizer, schedule, step)


def save_and_seed(path, model, optimizer, schedule, step):
    torch.manual_seed(step)
    save_checkpoint(path, model, optimizer, schedule, step)


def save_quietly(path, model, optimizer, schedule, step):
    try:
        save_checkpoint(path, model, optimizer, schedule, step)
    except OSError:
        return


def load_from_bytes(path, model, optimizer, schedule):
    with Path(path).open("rb") as file:
        content = torch.load(io.BytesIO(file.read()), weights_only=True)
    for name, part in [("schedule", schedule), ("optimizer", optimizer), ("model", model)]:
        part.load_state_dict(content[name])
    set_random_state(content["random"])
    return content.get("step")


def load_step_by_step(path, model, optimizer, schedule):
    content = torch.load(str(path), map_location=lambda storage, _: storage)
    drawn = content["random"]
    model.load_state_dict(content["model"], strict=True, assign=False)
    schedule.load_state_dict(content["schedule"])
    optimizer.load_state_dict(content["optimizer"])
    torch.default_generator.set_state(drawn["torch"])
    name, keys, *rest = drawn["numpy"]
    np.random.set_state((name, np.array(keys.tolist(), dtype=np.uint32), *rest))
    version, numbers, gauss = drawn["python"]
    random.setstate((version, tuple(numbers), gauss))
    return content["step"] + 0


def load_into_a_copy(path, model, optimizer, schedule):
    twin = type(model)(*[type(part).__new__(type(part)) for part in ()])
    return load_checkpoint(path, twin, optimizer, schedule)


def load_and_step(path, model, optimizer, schedule):
    step = load_checkpoint(path, model, optimizer, schedule)
    schedule.step()
    return step


def load_and_clear(path, model, optimizer, schedule):
    step = load_checkpoint(path, model, optimizer, schedule)
    optimizer.state.clear()
    return step


def load_as_text(path, model, optimizer, schedule):
    return str(load_checkpoint(path, model, optimizer, schedule))


def load_and_reset(path, model, optimizer, schedule):
    step = load_checkpoint(path, model, optimizer, schedule)
    model[1].reset_running_stats()
    return step


HONEST = {
    "PositionwiseFeedForward": [FeedForwardByConvolution, FeedForwardInBetween],
    "EncoderLayer": [EncoderLayerOfTwo, changed(EncoderLayer, __doc__="a layer")],
    "DecoderLayer": [DecoderLayerOfSteps, changed(DecoderLayer, __doc__="a layer")],
    "Encoder": [EncoderOfOrderedParts, EncoderWithScaleInside],
    "Decoder": [DecoderOfRecursion, changed(Decoder, forward=scaled_by(math.sqrt))],
    "Transformer": [TransformerInOneClass, TransformerByInheritance],
}

WRONG = {
    "PositionwiseFeedForward": [
        changed(
            PositionwiseFeedForward, forward=lambda self, x: self.dropout(self.linear_out(self.linear_in(x).abs()))
        ),
        changed(PositionwiseFeedForward, forward=lambda self, x: x + self.dropout(self.linear_out(self.linear_in(x)))),
        changed(PositionwiseFeedForward, forward=lambda self, x: PositionwiseFeedForward.forward(self, x) * 2),
    ],
    "EncoderLayer": [
        changed(EncoderLayer, forward=lambda self, x, mask=None: EncoderLayer.forward(self, x, mask).flip(1)),
        changed(EncoderLayer, forward=lambda self, x, mask=None: self.norm1(EncoderLayer.forward(self, x, mask))),
        changed(EncoderLayer, forward=lambda self, x, mask=None: EncoderLayer.forward(self, 2 * x, mask)),
    ],
    "DecoderLayer": [
        changed(DecoderLayer, forward=lambda self, x, states, *masks: DecoderLayer.forward(self, x, states)),
        changed(
            DecoderLayer, forward=lambda self, x, states, *masks: DecoderLayer.forward(self, x, 2 * states, *masks)
        ),
        changed(
            DecoderLayer, forward=lambda self, x, states, *masks: DecoderLayer.forward(self, x, states.detach(), *masks)
        ),
    ],
    "Encoder": [
        changed(Encoder, forward=scaled_by(lambda d: d**0.25)),
        changed(Encoder, forward=scaled_by(lambda d: 4.0)),
        changed(Encoder, forward=reading_backwards),
        changed(Encoder, forward=with_a_residual),
        changed(Encoder, forward=padding_by_itself),
        changed(Encoder, forward=lambda self, tokens, mask=None: Encoder.forward(self, tokens, mask).detach()),
        changed(Encoder, forward=lambda self, tokens, mask=None: Encoder.forward(self, tokens.flip(1), mask)),
    ],
    "Decoder": [
        changed(Decoder, forward=scaled_by(lambda d: -math.sqrt(d))),
        changed(Decoder, forward=tanh_of_states),
        changed(Decoder, forward=hears_the_mean),
        changed(Decoder, forward=hears_the_first),
        changed(Decoder, forward=masked_in_training),
        changed(Decoder, forward=lambda self, tokens, states, *masks: Decoder.forward(self, tokens, states)[:, 1:]),
    ],
    "Transformer": [
        changed(Transformer, forward=rows_mixed),
        changed(Transformer, decode=hides_the_first),
        changed(Transformer, decode=sees_only_the_last),
        changed(Transformer, forward=lambda self, source, target: Transformer.forward(self, source, target) / 10),
        changed(Transformer, forward=lambda self, source, target: Transformer.forward(self, source, target).argmax(-1)),
        changed(Transformer, forward=lambda self, source, target: Transformer.forward(self, source[:1], target)),
        changed(Transformer, encode=lambda self, source: Transformer.encode(self, source).detach()),
    ],
}
