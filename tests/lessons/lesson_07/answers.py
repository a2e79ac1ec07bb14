"""Lesson 07 beyond its catalogue: odd but honest answers keep their points, nameless wrong ones lose some."""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np
import torch
from torch.nn.utils.rnn import pad_sequence

from course.attention import MultiHeadAttention, merge_heads, split_heads
from course.beam import beam_search
from course.caching import KeyValueCache, cached_greedy_decode, decode_one_step
from course.decoding import ends_each_sequence, greedy_decode
from course.sampling import best_of_n, generate, sample_with_temperature, top_k_filter, top_p_filter

# --- greedy


def greedy_recursive(model, source, start_id, end_id, max_length):
    def go_on(written, ended):
        if written.shape[1] > max_length or bool(ended.all()):
            return written[:, 1:]
        token = model(source, written)[:, -1].argmax(1)
        token = torch.where(ended, torch.zeros_like(token), token)
        return go_on(torch.column_stack([written, token]), ended.logical_or(token.eq(end_id)))

    with torch.no_grad():
        return go_on(source.new_full((len(source), 1), start_id), torch.zeros(len(source), dtype=torch.bool))


def greedy_width_of_the_longest(model, source, start_id, end_id, max_length):
    ids = greedy_recursive(model, source, start_id, end_id, max_length)
    return ids[:, : int((ids != 0).sum(1).max())]


def greedy_by_softmax(model, source, start_id, end_id, max_length):
    lists = [[start_id] for _ in source]
    for _ in range(max_length):
        shares = torch.softmax(model(source, torch.tensor(lists))[:, -1], dim=-1)
        for ids, row in zip(lists, shares, strict=True):
            ids.append(0 if end_id in ids[1:] else int(torch.topk(row, 1).indices))
    return torch.tensor([ids[1:] for ids in lists])


def greedy_beam_like(model, source, start_id, end_id, max_length):
    return beam_search(model, source, start_id, end_id, max_length, 3)


def greedy_padded_left(model, source, start_id, end_id, max_length):
    ids = greedy_decode(model, source, start_id, end_id, max_length)
    return torch.stack([torch.cat([row[row == 0], row[row != 0]]) for row in ids])


def greedy_sampled(model, source, start_id, end_id, max_length):
    return best_of_n(model, source, start_id, end_id, max_length, 1, torch.Generator().manual_seed(1))


# --- sampling


def sample_by_bisection(logits, temperature, generator):
    if temperature == 0:
        return logits.argmax(-1)
    heights = (logits / temperature).softmax(-1).double().cumsum(-1)
    line = torch.rand(len(logits), 1, generator=generator, dtype=torch.float64) * heights[:, -1:]
    return (heights <= line).sum(-1)


def sample_each_row(logits, temperature, generator):
    tokens = []
    for row in logits:
        if temperature == 0:
            tokens.append(row.argmax())
        else:
            weights = torch.exp((row - row.max()) / temperature)
            tokens.append(torch.multinomial(weights, 1, generator=generator)[0])
    return torch.stack(tokens)


def sample_by_numpy(logits, temperature, generator):
    """NumPy's chance, seeded from the generator that was handed in."""
    if temperature == 0:
        return torch.from_numpy(logits.numpy().argmax(axis=1))
    random = np.random.default_rng(int(torch.randint(2**62, (1,), generator=generator)))
    noise = random.gumbel(size=tuple(logits.shape))
    return torch.from_numpy((logits.double().numpy() / temperature + noise).argmax(axis=1))


def sample_nearly_cold(logits, temperature, generator):
    """Temperature 0 as the limit: so cold that only the likeliest is left."""
    cold = (logits.double() - logits.double().amax(-1, keepdim=True)) / max(temperature, 1e-12)
    return torch.multinomial(cold.softmax(-1), 1, generator=generator).flatten()


def sample_cold_by_half(logits, temperature, generator):
    """Below temperature 1 always the likeliest."""
    return sample_with_temperature(logits, temperature if temperature >= 1 else 0.0, generator)


def sample_top_two(logits, temperature, generator):
    if temperature == 0:
        return logits.argmax(-1)
    return sample_with_temperature(top_k_filter(logits, 2), temperature, generator)


def sample_with_uniform_noise(logits, temperature, generator):
    if temperature == 0:
        return logits.argmax(-1)
    return (logits / temperature + torch.rand(logits.shape, generator=generator)).argmax(-1)


def sample_softmax_twice(logits, temperature, generator):
    if temperature == 0:
        return logits.argmax(-1)
    shares = torch.softmax(logits / temperature, -1)
    return torch.multinomial(torch.softmax(shares, -1), 1, generator=generator)[:, 0]


def sample_evenly(logits, temperature, generator):
    if temperature == 0:
        return logits.argmax(-1)
    return torch.randint(logits.shape[-1], (len(logits),), generator=generator)


def sample_too_warm(logits, temperature, generator):
    return sample_with_temperature(logits, temperature * 1.3, generator)


def sample_into_a_column(logits, temperature, generator):
    """Only what is drawn keeps the axis that multinomial makes."""
    if temperature == 0:
        return logits.argmax(-1)
    return torch.multinomial(torch.softmax(logits / temperature, dim=-1), 1, generator=generator)


# --- filters


def k_by_sort(logits, k):
    values, places = torch.sort(logits, dim=1, descending=True, stable=True)
    values = torch.cat([values[:, :k], torch.full_like(values[:, k:], -torch.inf)], dim=1)
    return torch.gather(values, 1, places.argsort(1))


def p_by_threshold(logits, p):
    """The probability of the last token in is a threshold for all."""
    shares = torch.softmax(logits, dim=-1)
    ordered = shares.sort(dim=-1, descending=True).values
    before = ordered.cumsum(-1) - ordered
    count = (before < p).sum(-1, keepdim=True).clamp(min=1)
    least = ordered.gather(-1, count - 1)
    return torch.where(shares >= least, logits, -torch.inf)


def p_by_numpy(logits, p):
    array = logits.double().numpy()
    result = array.copy()
    for row, kept in zip(array, result, strict=True):
        shares = [2.718281828459045**x for x in row - row.max()]
        total, mass, full = sum(shares), 0.0, False
        for token in sorted(range(len(row)), key=lambda i: shares[i], reverse=True):
            if full:
                kept[token] = float("-inf")
            mass += shares[token] / total
            full = mass >= p and p < 1
    return torch.from_numpy(result).to(logits.dtype)


# --- the loop with all three controls


def generate_with_lists(model, source, start_id, end_id, max_length, temperature, k, p, generator):
    """Row ids as lists; temperature 0 goes through the sampler, which knows it."""
    lists = [[start_id] for _ in source]
    for _ in range(max_length):
        logits = model(source, torch.tensor(lists))[:, -1].detach()
        if temperature:
            logits = top_p_filter(top_k_filter(logits.div(temperature), k), p)
        chosen = sample_with_temperature(logits, float(temperature != 0), generator).tolist()
        for ids, token in zip(lists, chosen, strict=True):
            ids.append(0 if end_id in ids[1:] else token)
    return torch.tensor([ids[1:] for ids in lists])


def generate_by_wrapping(model, source, start_id, end_id, max_length, temperature, k, p, generator):
    """`best_of_n` with one sample, of a model whose logits are filtered already."""
    if temperature == 0:
        return greedy_decode(model, source, start_id, end_id, max_length)

    def filtered(source, written):
        last = model(source, written)[:, -1] / temperature
        return top_p_filter(top_k_filter(last, k), p).unsqueeze(1)

    return best_of_n(filtered, source, start_id, end_id, max_length, 1, generator)


def generate_with_sorted_probabilities(model, source, start_id, end_id, max_length, temperature, k, p, generator):
    """Works with probabilities, sorted once; what is dropped gets 0."""
    written = torch.full((len(source), 1), start_id)
    ended = torch.zeros(len(source), dtype=torch.bool)
    for _ in range(max_length):
        logits = model(source, written)[:, -1].detach().double()
        if temperature == 0:
            token = logits.argmax(-1)
        else:
            shares, places = (logits / temperature).softmax(-1).sort(dim=-1, descending=True)
            shares[:, k:] = 0
            shares = shares / shares.sum(-1, keepdim=True)
            gone = shares.cumsum(-1) - shares >= p
            gone[:, 0] = False
            picked = torch.multinomial(shares.masked_fill(gone, 0), 1, generator=generator)
            token = places.gather(1, picked).squeeze(1)
        token = torch.where(ended, 0, token)
        written = torch.column_stack([written, token])
        ended |= token == end_id
    return written[:, 1:]


# --- the clinic


def ends_by_counting(decode, model, sources):
    whole = decode(model, sources)
    wrong = 0
    for i in range(sources.shape[0]):
        one = decode(model, sources[[i]]).flatten()
        one, other = one[one.ne(0)], whole[i][whole[i].ne(0)]
        wrong += int(len(one) != len(other) or bool((one != other).any()))
    return wrong == 0


def ends_by_strings(decode, model, sources):
    def text(ids):
        return " ".join(str(int(i)) for i in ids).replace(" 0", "")

    together = [text(row) for row in decode(model, sources)]
    alone = [text(decode(model, source[None, :])[0]) for source in sources]
    return all(map(str.__eq__, together, alone))


# --- searching


def beam_by_heap(model, source, start_id, end_id, max_length, beam_width, length_penalty=0.0):
    answers = []
    with torch.no_grad():
        for i in range(len(source)):
            alive, done = [(0.0, (start_id,))], []
            for step in range(1, max_length + 1):
                grown = []
                for total, ids in alive:
                    logs = model(source[i : i + 1], torch.tensor([ids]))[0, -1].double().log_softmax(0)
                    grown += [(total + float(log), (*ids, token)) for token, log in enumerate(logs)]
                alive = []
                for total, ids in heapq.nlargest(beam_width, grown):
                    if ids[-1] == end_id or step == max_length:
                        done.append((total / step**length_penalty, ids))
                    else:
                        alive.append((total, ids))
            answers.append(torch.tensor(max(done)[1][1:]))
    return pad_sequence(answers, batch_first=True, padding_value=0)


def beam_refilled(model, source, start_id, end_id, max_length, beam_width, length_penalty=0.0):
    """Answers that end leave their place to others: the beam stays full."""
    rows = []
    for i in range(source.shape[0]):
        alive, done = [([], 0.0)], []
        for _ in range(max_length):
            read = torch.tensor([[start_id, *ids] for ids, _ in alive])
            with torch.inference_mode():
                logs = torch.log_softmax(model(source[[i] * len(read)], read)[:, -1, :], dim=-1).tolist()
            grown = [
                ([*ids, token], total + log)
                for (ids, total), line in zip(alive, logs, strict=True)
                for token, log in enumerate(line)
            ]
            grown.sort(key=lambda pair: -pair[1])
            done += [pair for pair in grown[: 2 * beam_width] if pair[0][-1] == end_id]
            alive = [pair for pair in grown if pair[0][-1] != end_id][:beam_width]
        best = sorted(done + alive, key=lambda pair: -pair[1] / len(pair[0]) ** length_penalty)[0][0]
        rows.append(best + [0] * (max_length - len(best)))
    return torch.tensor(rows)


def beam_from_equal_beginnings(model, source, start, end, longest, width, length_penalty=0.0):
    """All beginnings are the same at first, so all of them stay the same: greedy, several times."""
    return beam_search(model, source, start, end, longest, 1, length_penalty)


def beam_that_stops_when_full(model, source, start_id, end_id, max_length, beam_width, length_penalty=0.0):
    """As soon as beam_width answers have ended, nobody looks for better ones."""
    rows = []
    for i in range(len(source)):
        alive, done = [([], 0.0)], []
        for _ in range(max_length):
            read = torch.tensor([[start_id, *ids] for ids, _ in alive])
            with torch.no_grad():
                logs = model(source[[i] * len(read)], read)[:, -1].log_softmax(-1).tolist()
            grown = [
                ([*ids, token], total + log)
                for (ids, total), line in zip(alive, logs, strict=True)
                for token, log in enumerate(line)
            ]
            grown = sorted(grown, key=lambda pair: -pair[1])[:beam_width]
            done += [pair for pair in grown if pair[0][-1] == end_id]
            alive = [pair for pair in grown if pair[0][-1] != end_id]
            if len(done) >= beam_width or not alive:
                break
        best = max(done or alive, key=lambda pair: pair[1] / len(pair[0]) ** length_penalty)[0]
        rows.append(torch.tensor(best))
    return pad_sequence(rows, batch_first=True)


def beam_with_positional_penalty(model, source, start, end, longest, width, length_penalty=0.0):
    ids = beam_by_heap(model, source, start, end, longest, width, length_penalty)
    return torch.nn.functional.pad(ids, (0, longest - ids.shape[1]))


def beam_over_the_batch(model, source, start, end, longest, width, length_penalty=0.0):
    """The rows of a batch compete: each gets the best answer to the first source."""
    return beam_search(model, source[:1], start, end, longest, width, length_penalty).repeat(len(source), 1)


def best_by_resampling(model, source, *rest):
    """n calls with one sample each; likelihoods measured with the model afterwards."""
    samples, totals = _samples_and_totals(model, source, *rest)
    return samples[totals.argmax(0), torch.arange(len(source))]


def best_by_perplexity(model, source, start_id, end_id, max_length, n, generator):
    return best_of_n(model, source, start_id, end_id, max_length, n + 7, generator)


def best_of_cold_samples(model, source, start_id, end_id, max_length, n, generator):
    return best_of_n(lambda s, t: 3 * model(s, t), source, start_id, end_id, max_length, n, generator)


def _samples_and_totals(model, source, start_id, end_id, max_length, n, generator):
    """n samples of each source, and their log-likelihoods: (n, batch, max_length) and (n, batch)."""
    samples = [best_of_n(model, source, start_id, end_id, max_length, 1, generator) for _ in range(n)]
    samples = torch.stack([torch.nn.functional.pad(ids, (0, max_length - ids.shape[1])) for ids in samples])
    totals = []
    for ids in samples:
        read = torch.cat([torch.full_like(source[:, :1], start_id), ids[:, :-1]], 1)
        logs = model(source, read).log_softmax(-1).gather(-1, ids[..., None]).squeeze(-1)
        totals.append((logs * (ids != 0)).sum(1))
    return samples, torch.stack(totals)


def best_choice_of_row_0(model, source, *rest):
    samples, totals = _samples_and_totals(model, source, *rest)
    return samples[totals[:, 0].argmax()]


def best_for_the_batch(model, source, *rest):
    """One number for all rows: the draw that is best on average."""
    samples, totals = _samples_and_totals(model, source, *rest)
    return samples[totals.sum(1).argmax()]


def best_by_vote(model, source, *rest):
    """The answer that was drawn most often, not the likeliest one."""
    samples, _ = _samples_and_totals(model, source, *rest)
    winners = []
    for row in range(len(source)):
        answers = [tuple(ids) for ids in samples[:, row].tolist()]
        winners.append(max(dict.fromkeys(answers), key=answers.count))
    return torch.tensor(winners)


def best_by_adding_probabilities(model, source, start_id, end_id, max_length, n, generator):
    samples = [best_of_n(model, source, start_id, end_id, max_length, 1, generator) for _ in range(n)]
    samples = torch.stack([torch.nn.functional.pad(ids, (0, max_length - ids.shape[1])) for ids in samples])
    return samples[(samples != 0).sum(-1).argmax(0), torch.arange(len(source))]


# --- caches


class PairsCache:
    def __init__(self):
        self.memory = []

    def append(self, layer, keys, values):
        self.memory.append((layer, keys, values))
        mine = [(k, v) for number, k, v in self.memory if number == layer]
        return tuple(torch.cat(part, dim=-2) for part in zip(*mine, strict=True))


class CacheOfTheClass:
    layers: dict[int, Any] = {}  # noqa: RUF012

    def append(self, layer, keys, values):
        if layer in self.layers:
            keys, values = (torch.cat(pair, 2) for pair in zip(self.layers[layer], (keys, values), strict=True))
        self.layers[layer] = keys, values
        return keys, values


class InPlace(KeyValueCache):
    def append(self, layer, keys, values):
        found = super().append(layer, keys, values)
        keys.zero_()
        return tuple(t.clone() for t in found)


class Detaches64(KeyValueCache):
    def append(self, layer, keys, values):
        return super().append(layer, keys.float(), values.float())


class ForgetsAfterFour(KeyValueCache):
    def append(self, layer, keys, values):
        return tuple(t[:, :, -3:] for t in super().append(layer, keys, values))


def step_by_subclass(model, tokens, position, encoder_states, encoder_mask, cache):
    """The keys and values are slipped in between the parts of the attention."""
    x = model.embedding(tokens) + model.target_positions.embedding(torch.tensor([position]))
    for number, block in enumerate(model.decoder):
        attention: MultiHeadAttention = block.self_attention
        y = block.norm1(x)
        q, k, v = (
            split_heads(part(y), attention.num_heads) for part in (attention.query, attention.key, attention.value)
        )
        k, v = cache.append(number, k, v)
        weights = torch.softmax((q @ k.mT) * q.shape[-1] ** -0.5, dim=-1)
        x = x + attention.output(merge_heads(weights @ v))
        x = x + block.cross_attention(block.norm2(x), encoder_states, encoder_mask=encoder_mask)[0]
        x = x + block.feed_forward(block.norm3(x))
    return model.head(model.decoder_norm(x))


def step_with_names(model, tokens, position, encoder_states, encoder_mask, cache):
    """Another order of numbers in the cache."""

    class Renamed:
        def append(self, layer, keys, values):
            return cache.append(7 - layer, keys, values)

    return decode_one_step(model, tokens, position, encoder_states, encoder_mask, Renamed())


def step_from_position_1(model, tokens, position, encoder_states, encoder_mask, cache):
    return decode_one_step(model, tokens, (position + 1) % 9, encoder_states, encoder_mask, cache)


def step_that_forgets(model, tokens, position, encoder_states, encoder_mask, cache):
    return decode_one_step(model, tokens, position, encoder_states, encoder_mask, KeyValueCache())


def cached_with_dicts(model, source, start_id, end_id, max_length):
    memory = KeyValueCache()
    states = model.encode(source)
    ids = [torch.full((len(source),), start_id)]
    done = torch.zeros(len(source), dtype=torch.bool)
    for _ in range(max_length):
        logits = model.decode_step(ids[-1].unsqueeze(1), states, memory).squeeze(1)
        chosen = logits.argmax(1)
        chosen[done] = 0
        ids.append(chosen)
        done |= chosen == end_id
    return torch.stack(ids[1:], dim=1)


def cached_and_checked(model, source, start_id, end_id, max_length):
    ids = cached_greedy_decode(model, source, start_id, end_id, max_length)
    assert torch.equal(ids, greedy_decode(model, source, start_id, end_id, max_length))
    return ids


def cached_warm(model, source, start_id, end_id, max_length):
    """Reads the first token twice."""
    cache, states = KeyValueCache(), model.encode(source)
    model.decode_step(torch.full_like(source[:, :1], start_id), states, cache)
    tokens, columns = torch.full_like(source[:, :1], start_id), []
    for _ in range(max_length):
        tokens = model.decode_step(tokens, states, cache).argmax(-1)
        columns.append(tokens)
    return torch.cat(columns, 1)


def cached_trims(model, source, start_id, end_id, max_length):
    return cached_greedy_decode(model, source, start_id, end_id, max_length)[:, :2]


HONEST: dict[str, list[Any]] = {
    "greedy_decode": [greedy_recursive, greedy_width_of_the_longest, greedy_by_softmax],
    "sample_with_temperature": [sample_by_bisection, sample_each_row, sample_by_numpy, sample_nearly_cold],
    "top_k_filter": [k_by_sort, lambda logits, k: top_k_filter(logits.clone(), min(k, 10**6)).contiguous()],
    "top_p_filter": [p_by_threshold, p_by_numpy],
    "generate": [generate_with_lists, generate_by_wrapping, generate_with_sorted_probabilities],
    "ends_each_sequence": [ends_by_counting, ends_by_strings],
    "beam_search": [beam_by_heap, beam_with_positional_penalty, beam_refilled],
    "best_of_n": [
        best_by_resampling,
        lambda model, source, *rest: torch.cat(
            [
                torch.nn.functional.pad(ids, (0, rest[2] - ids.shape[1]))
                for part in source.split(100)
                for ids in [best_of_n(model, part, *rest)]
            ]
        ),
    ],
    "KeyValueCache": [PairsCache, lambda: KeyValueCache()],
    "decode_one_step": [step_by_subclass, step_with_names],
    "cached_greedy_decode": [
        cached_with_dicts,
        lambda model, source, start_id, end_id, max_length: cached_with_dicts(
            model, source.clone(), start_id, end_id, max_length
        ).to(torch.int32),
    ],
}

WRONG: dict[str, list[Any]] = {
    "greedy_decode": [
        greedy_beam_like,
        greedy_padded_left,
        greedy_sampled,
        lambda model, source, start, end, longest: greedy_decode(model, source, start, end, 50)[:, : longest + 1],
        lambda model, source, start, end, longest: greedy_decode(model, source, end, start, longest),
        lambda model, source, start, end, longest: greedy_decode(model, source, start, 2, longest),
        lambda model, source, start, end, longest: greedy_decode(model, source.flip(0), start, end, longest),
        lambda model, source, start, end, longest: greedy_decode(model, source, start, end, longest)[:1],
        lambda model, source, start, end, longest: greedy_decode(model, source, start, end, longest) - 1,
        lambda model, source, start, end, longest: (
            model.train(False) and greedy_decode(model, source, start, end, longest)
        ),
        lambda model, source, start, end, longest: torch.full((len(source), longest), end),
    ],
    "sample_with_temperature": [
        sample_top_two,
        sample_cold_by_half,
        sample_with_uniform_noise,
        sample_softmax_twice,
        sample_evenly,
        sample_too_warm,
        sample_into_a_column,
        lambda logits, temperature, generator: logits.argmax(-1),
        lambda logits, temperature, generator: sample_with_temperature(-logits, temperature, generator),
        lambda logits, temperature, generator: sample_with_temperature(logits, temperature, generator).tolist(),
        lambda logits, temperature, generator: sample_with_temperature(logits, max(temperature, 1), generator),
        lambda logits, temperature, generator: sample_with_temperature(logits, temperature, generator) * 0,
        lambda logits, temperature, generator: sample_with_temperature(logits.clamp(min=-20), temperature, generator),
    ],
    "top_k_filter": [
        lambda logits, k: logits.clone(),
        lambda logits, k: top_k_filter(logits, 2),
        lambda logits, k: top_k_filter(logits, k).nan_to_num(neginf=-1e30),
        lambda logits, k: top_k_filter(logits, k) > -torch.inf,
        lambda logits, k: top_k_filter(logits, k).log_softmax(-1),
        lambda logits, k: torch.topk(logits, k),
        lambda logits, k: top_k_filter(logits.abs(), k),
        lambda logits, k: top_k_filter(logits, k).squeeze(),
        lambda logits, k: top_k_filter(logits, max(k, 2)),
    ],
    "top_p_filter": [
        lambda logits, p: logits.clone(),
        lambda logits, p: top_p_filter(logits, 1 - p),
        lambda logits, p: top_p_filter(logits, p / 2),
        lambda logits, p: top_p_filter(logits, 0.7),
        lambda logits, p: top_p_filter(logits, max(p, 0.3)),
        lambda logits, p: top_p_filter(logits, min(p, 0.9)),
        lambda logits, p: top_p_filter(logits / 2, p) * 2,
        lambda logits, p: top_p_filter(logits, p).log_softmax(-1),
        lambda logits, p: top_k_filter(logits, 2),
        lambda logits, p: top_p_filter(logits, p).nan_to_num(neginf=-1e30),
    ],
    "generate": [
        lambda m, s, a, e, longest, t, k, p, g: generate(m, s, a, e, longest, t, k + 1, p, g),
        lambda m, s, a, e, longest, t, k, p, g: generate(m, s, a, e, longest, t, k, p**2, g),
        lambda m, s, a, e, longest, t, k, p, g: generate(m, s, a, e, longest, t**2, k, p, g),
        lambda m, s, a, e, longest, t, k, p, g: generate(m, s, e, a, longest, t, k, p, g),
        lambda m, s, a, e, longest, t, k, p, g: generate(m, s, a, e, longest, t, k, p, g).float(),
        lambda m, s, a, e, longest, t, k, p, g: generate(m, s, a, e, longest, t, k, p, g.manual_seed(3)),
        lambda m, s, a, e, longest, t, k, p, g: greedy_decode(m, s, a, e, longest),
    ],
    "ends_each_sequence": [
        lambda decode, model, sources: True,
        lambda decode, model, sources: False,
        lambda decode, model, sources: ends_each_sequence(decode, model, sources[:2]),
        lambda decode, model, sources: ends_each_sequence(decode, model, sources[1:]),
        lambda decode, model, sources: str(ends_each_sequence(decode, model, sources)),
        lambda decode, model, sources: ends_each_sequence(decode, model, sources.flip(0)[:-1]),
        lambda decode, model, sources: bool((decode(model, sources)[:, -1] == 0).any()),
    ],
    "beam_search": [
        beam_over_the_batch,
        beam_from_equal_beginnings,
        beam_that_stops_when_full,
        lambda m, s, a, e, longest, width, penalty=0.0: beam_search(m, s, a, e, longest, 2, penalty),
        lambda m, s, a, e, longest, width, penalty=0.0: beam_search(m, s, a, e, longest, width + 1, penalty),
        lambda m, s, a, e, longest, width, penalty=0.0: beam_search(m, s, a, e, longest, width, 1.0),
        lambda m, s, a, e, longest, width, penalty=0.0: beam_search(m, s, a, e, longest, width, -penalty),
        lambda m, s, a, e, longest, width, penalty=0.0: beam_search(m, s, a, e, longest + 1, width, penalty),
        lambda m, s, a, e, longest, width, penalty=0.0: beam_search(m, s, a, e, longest, width, penalty).float(),
        lambda m, s, a, e, longest, width, penalty=0.0: beam_search(m, s, e, a, longest, width, penalty),
    ],
    "best_of_n": [
        best_by_perplexity,
        best_of_cold_samples,
        best_choice_of_row_0,
        best_for_the_batch,
        best_by_vote,
        best_by_adding_probabilities,
        lambda m, s, a, e, longest, n, g: best_of_n(m, s, a, e, longest, 5, g),
        lambda m, s, a, e, longest, n, g: best_of_n(m, s, a, e, longest, n, g).flip(1),
        lambda m, s, a, e, longest, n, g: best_of_n(m, s, a, e, longest, n, g.manual_seed(1)),
        lambda m, s, a, e, longest, n, g: best_of_n(m, s[:1].expand_as(s), a, e, longest, n, g),
    ],
    "KeyValueCache": [
        CacheOfTheClass,
        InPlace,
        Detaches64,
        ForgetsAfterFour,
        dict,
        lambda: None,
    ],
    "decode_one_step": [
        step_from_position_1,
        step_that_forgets,
        lambda model, tokens, position, states, mask, cache: decode_one_step(
            model, tokens, position, states, mask, cache
        ).softmax(-1),
        lambda model, tokens, position, states, mask, cache: decode_one_step(
            model, tokens, position, states.flip(1), mask, cache
        ),
    ],
    "cached_greedy_decode": [
        cached_and_checked,
        cached_warm,
        cached_trims,
        lambda model, source, start, end, longest: cached_greedy_decode(model, source, end, start, longest),
        lambda model, source, start, end, longest: cached_greedy_decode(model, source.flip(1), start, end, longest),
        lambda model, source, start, end, longest: cached_greedy_decode(model, source, start, end, longest)[:, 1:],
    ],
}
