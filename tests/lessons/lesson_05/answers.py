"""Lesson 05 beyond its catalogue: odd but honest answers keep their points, nameless wrong ones lose some."""

from __future__ import annotations

import torch
from torch import nn

from course.attention import padding_mask
from course.blocks import EncoderBlock, LayerNorm, LearnedPositionalEmbedding
from course.causal import CausalSeq2SeqTransformer, causal_mask, decoder_mask, future_leak
from course.seq2seq import DecoderBlock, Seq2SeqTransformer

# --- future_leak


def leak_by_batches(model, source, target_input):
    """One call for all changed copies."""
    rows, length = target_input.shape
    highest = int(max(target_input.max(), source.max()))
    copies = target_input.repeat(length, 1, 1)
    places = torch.arange(length)
    copies[places, :, places] = copies[places, :, places] % highest + 1
    answers = model(source.repeat(length, 1), copies.reshape(-1, length)).detach().unflatten(0, (length, rows))
    moved = (answers - model(source, target_input).detach()).abs().amax(dim=(1, 3))
    return torch.where(places[:, None] > places, moved, torch.zeros(())).sum()


def leak_row_by_row(model, source, target_input):
    largest = 0.0
    for asked, shown in zip(source.split(1), target_input.split(1), strict=True):
        before = model(asked, shown).detach()
        for place in range(shown.size(1) - 1, 0, -1):
            changed = shown.clone()
            changed[0, place] = 1 if shown[0, place] != 1 else 2
            after = model(asked, changed).detach()
            largest = max(largest, torch.linalg.norm((after - before)[0, :place], ord=1).item())
    return largest


def leak_of_the_future_at_once(model, source, target_input):
    total = 0
    for cut in range(1, target_input.shape[1]):
        later = target_input[:, cut:]
        changed = torch.cat([target_input[:, :cut], torch.where(later == 1, 2, 1)], dim=1)
        moved = model(source, changed)[:, :cut] - model(source, target_input)[:, :cut]
        total += int((moved != 0).any())
    return total


def leak_backwards(model, source, target_input):
    logits, found = model(source, target_input), 0.0
    for place in range(target_input.shape[1] - 1):
        changed = target_input.clone()
        changed[:, place] = target_input[:, place] % int(target_input.max()) + 1
        found = max(found, (model(source, changed) - logits)[:, place + 1 :].abs().max().item())
    return found


def leak_of_reversed_rows(model, source, target_input):
    moved = model(source, target_input.flip(1)) - model(source, target_input)
    return moved[:, :1].abs().max().item()


def leak_of_the_first_logit(model, source, target_input):
    logits, found = model(source, target_input), 0.0
    for place in range(1, target_input.shape[1]):
        changed = target_input.clone()
        changed[:, place] = target_input[:, place] % int(target_input.max()) + 1
        found = max(found, (model(source, changed) - logits)[:, :place, 0].abs().max().item())
    return found


def leak_always(model, source, target_input):
    return 0.5


def leak_never(model, source, target_input):
    return 0.0


def leak_turned_round(model, source, target_input):
    return float(future_leak(model, source, target_input) == 0)


def leak_everywhere(model, source, target_input):
    """Changes all target tokens at once."""
    changed = target_input % int(target_input.max()) + 1
    return (model(source, changed) - model(source, target_input)).abs().max().item()


def leak_in_the_middle(model, source, target_input):
    middle = target_input.shape[1] // 2
    changed = target_input.clone()
    changed[:, middle:] = target_input[:, middle:] % int(target_input.max()) + 1
    moved = (model(source, changed) - model(source, target_input))[:, :middle]
    return moved.abs().max().item() if middle else 0.0


def leak_with(constant):
    """Every token becomes the same id."""

    def leak_by_one_id(model, source, target_input):
        logits, found = model(source, target_input), 0.0
        for place in range(1, target_input.shape[1]):
            changed = target_input.clone()
            changed[:, place] = constant if constant else target_input.max()
            found = max(found, (model(source, changed) - logits)[:, :place].abs().max().item())
        return found

    return leak_by_one_id


def leak_returned_in_the_loop(model, source, target_input):
    logits = model(source, target_input)
    for place in range(1, target_input.shape[1]):
        changed = target_input.clone()
        changed[:, place] = target_input[:, place] % int(target_input.max()) + 1
        return (model(source, changed) - logits)[:, :place].abs().max().item()
    return 0.0


# --- causal_mask


def mask_by_meshgrid(length):
    i, j = torch.meshgrid(torch.arange(length), torch.arange(length), indexing="ij")
    return (i - j).ge(0)


def mask_by_growing_rows(length):
    return torch.stack([torch.arange(length).lt(i + 1) for i in range(length)])


def mask_by_module(length):
    additive = nn.Transformer.generate_square_subsequent_mask(length)
    return additive == 0


def mask_inverted_additive(length):
    return nn.Transformer.generate_square_subsequent_mask(length)


def mask_from_the_other_corner(length):
    return torch.ones(length, length, dtype=torch.bool).tril().flip(1)


def mask_of_three(length):
    return torch.ones(3, 3, dtype=torch.bool).tril()


def mask_too_wide(length):
    return torch.ones(length, length + 1, dtype=torch.bool).tril()


def mask_uint8(length):
    return torch.ones(length, length, dtype=torch.uint8).tril()


# --- decoder_mask


def decoder_mask_einsum(targets, pad_id=0):
    real = (targets != pad_id).int()
    lower = causal_mask(targets.shape[1]).int()
    return torch.einsum("bj,ij->bij", real, lower).bool()[:, None]


def decoder_mask_by_stack(targets, pad_id=0):
    return torch.stack([causal_mask(len(row)) & row.ne(pad_id) for row in targets]).unsqueeze(1)


def decoder_mask_by_difference(targets, pad_id=0):
    hidden = (targets == pad_id)[:, None, None] | ~causal_mask(targets.size(-1))
    return hidden.logical_not()


def decoder_mask_of_the_first(targets, pad_id=0):
    return decoder_mask(targets[:1], pad_id).expand(len(targets), -1, -1, -1)


def decoder_mask_with_diagonal(targets, pad_id=0):
    return decoder_mask(targets, pad_id) | torch.eye(targets.shape[1], dtype=torch.bool)


def decoder_mask_summed(targets, pad_id=0):
    return padding_mask(targets, pad_id) + causal_mask(targets.shape[1])


def decoder_mask_of_heads(targets, pad_id=0):
    return decoder_mask(targets, pad_id).expand(-1, 2, -1, -1)


def decoder_mask_of_positive_ids(targets, pad_id=0):
    return (targets > pad_id)[:, None, None, :] & causal_mask(targets.shape[1])


# --- CausalSeq2SeqTransformer


class WholeModel(nn.Module):
    """Written from nothing, for this lesson alone."""

    def __init__(self, vocab_size, max_length, d_model, num_heads, d_ff, num_layers):
        super().__init__()
        self.embed = nn.ModuleList(nn.Embedding(vocab_size, d_model, padding_idx=0) for _ in range(2))
        self.place = nn.ModuleList(LearnedPositionalEmbedding(max_length, d_model) for _ in range(2))
        self.blocks_in = nn.ModuleList([EncoderBlock(d_model, num_heads, d_ff) for _ in range(num_layers)])
        self.blocks_out = nn.ModuleList([DecoderBlock(d_model, num_heads, d_ff) for _ in range(num_layers)])
        self.encoder_norm, self.decoder_norm = LayerNorm(d_model), LayerNorm(d_model)
        self.logits = nn.Linear(d_model, vocab_size)

    def encode(self, source):
        x = self.place[0](self.embed[0](source))
        for block in self.blocks_in:
            x = block(x, padding_mask(source))
        return self.encoder_norm(x)

    def decode(self, target_input, encoder_states, source, target_mask=None):
        own = causal_mask(target_input.shape[1]) & padding_mask(target_input)
        if target_mask is not None:
            own = own.logical_and(target_mask)
        x = self.place[1](self.embed[1](target_input))
        for block in self.blocks_out:
            x = block(x, encoder_states, own, padding_mask(source))
        return self.logits(self.decoder_norm(x))

    def forward(self, source, target_input, target_mask=None):
        return self.decode(target_input, self.encode(source), source, target_mask)


class WithKeywords(Seq2SeqTransformer):
    def decode(self, target_input, encoder_states, source, target_mask=None):
        masks = [decoder_mask(target_input)] + ([target_mask] if target_mask is not None else [])
        joined = masks[0]
        for mask in masks[1:]:
            joined = joined & mask
        return super().decode(target_input, encoder_states, source=source, target_mask=joined)


def causal(decode):
    return type("CausalSeq2SeqTransformer", (Seq2SeqTransformer,), {"decode": decode})


def masked_by_the_source(self, target_input, encoder_states, source, target_mask=None):
    mask = causal_mask(target_input.shape[1])
    if source.shape == target_input.shape:
        mask = mask & padding_mask(source)
    return Seq2SeqTransformer.decode(self, target_input, encoder_states, source, mask)


def masked_when_training(self, target_input, encoder_states, source, target_mask=None):
    mask = decoder_mask(target_input) if self.training else target_mask
    return Seq2SeqTransformer.decode(self, target_input, encoder_states, source, mask)


def masked_one_too_far(self, target_input, encoder_states, source, target_mask=None):
    length = target_input.shape[1]
    mask = padding_mask(target_input) & torch.ones(length, length, dtype=torch.bool).tril(1)
    return Seq2SeqTransformer.decode(self, target_input, encoder_states, source, mask)


def masked_with_square_masks_only(self, target_input, encoder_states, source, target_mask=None):
    mask = decoder_mask(target_input)
    if target_mask is not None and target_mask.dim() == 2:
        mask = mask & target_mask
    return Seq2SeqTransformer.decode(self, target_input, encoder_states, source, mask)


def masked_with_a_window(self, target_input, encoder_states, source, target_mask=None):
    mask = decoder_mask(target_input).triu(-1)
    mask = mask if target_mask is None else mask & target_mask
    return Seq2SeqTransformer.decode(self, target_input, encoder_states, source, mask)


def masked_and_deaf(self, target_input, encoder_states, source, target_mask=None):
    mask = decoder_mask(target_input) if target_mask is None else decoder_mask(target_input) & target_mask
    return Seq2SeqTransformer.decode(self, target_input, 0 * encoder_states, source, mask)


HONEST = {
    "future_leak": [leak_by_batches, leak_row_by_row, leak_of_the_future_at_once],
    "causal_mask": [mask_by_meshgrid, mask_by_growing_rows, mask_by_module],
    "decoder_mask": [decoder_mask_einsum, decoder_mask_by_stack, decoder_mask_by_difference],
    "CausalSeq2SeqTransformer": [WholeModel, WithKeywords, CausalSeq2SeqTransformer],
}
WRONG = {
    "future_leak": [
        leak_backwards,
        leak_of_reversed_rows,
        leak_of_the_first_logit,
        leak_always,
        leak_never,
        leak_turned_round,
        leak_everywhere,
        leak_in_the_middle,
        leak_with(2),
        leak_with(None),
        leak_returned_in_the_loop,
    ],
    "causal_mask": [
        mask_inverted_additive,
        mask_from_the_other_corner,
        mask_of_three,
        mask_too_wide,
        mask_uint8,
    ],
    "decoder_mask": [
        decoder_mask_of_the_first,
        decoder_mask_with_diagonal,
        decoder_mask_summed,
        decoder_mask_of_heads,
        decoder_mask_of_positive_ids,
    ],
    "CausalSeq2SeqTransformer": [
        causal(masked_by_the_source),
        causal(masked_when_training),
        causal(masked_one_too_far),
        causal(masked_with_square_masks_only),
        causal(masked_with_a_window),
        causal(masked_and_deaf),
    ],
}
