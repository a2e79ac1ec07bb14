"""Lesson 02 beyond its catalogue: odd but honest answers keep their points, nameless wrong ones lose some."""

from __future__ import annotations

import re
from collections import Counter
from functools import reduce
from itertools import chain, pairwise
from typing import Any

import torch

from course.byte_pairs import (
    apply_merges,
    byte_pair_ids,
    byte_pair_merges,
    byte_pair_vocabulary,
    ids_to_text,
    merge_pair,
)
from course.vocabulary import build_vocabulary, encode, pad_sequences, prepare_example


def merges_by_regex(words, num_merges):
    """Sennrich's own way: words as texts with spaces, a guarded pattern."""
    table = {" ".join(word): count for word, count in Counter(words).items()}
    merges = []
    for _ in range(num_merges):
        pairs = Counter()
        for text, count in table.items():
            for pair in pairwise(text.split()):
                pairs[pair] += count
        if not pairs:
            break
        best = max(pairs, key=lambda pair: (pairs[pair], pair))
        merges.append(best)
        pattern = re.compile(r"(?<!\S)" + re.escape(" ".join(best)) + r"(?!\S)")
        table = {pattern.sub("".join(best), text): count for text, count in table.items()}
    return merges


def survives(encode, decode, text):
    try:
        assert decode(encode(text)) == text
    except BaseException:
        return False
    return True


HONEST: dict[str, list[Any]] = {
    "build_vocabulary": [
        lambda corpus: {s: i + 1 for i, (s, _) in enumerate(Counter(s for text in corpus for s in text).most_common())},
        lambda corpus: Counter(build_vocabulary(tuple(corpus))),
    ],
    "encode": [
        lambda text, vocabulary: [dict(vocabulary)[text[i]] for i in range(len(text))],
        lambda text, vocabulary: [*map(vocabulary.__getitem__, list(text))],
    ],
    "decode": [
        lambda ids, vocabulary: "".join({**{i: s for s, i in vocabulary.items()}, 0: ""}[i] for i in ids),
        lambda ids, vocabulary: "".join(sorted(vocabulary, key=vocabulary.get)[i - 1] for i in ids if i > 0),
    ],
    "pad_sequences": [
        lambda s, m, pad_id=0: torch.LongTensor([[*x, *[pad_id] * (m - len(x))] for x in s]).reshape(len(s), m),
        lambda s, m, pad_id=0: torch.stack([pad_sequences([x], m, pad_id)[0] for x in s]),
    ],
    "prepare_example": [
        lambda t, y, v, m, c: (pad_sequences([[*encode(t, v), *[0] * (m - 1 - len(t)), c]], m)[0], y),
        lambda t, y, v, m, c: list(prepare_example(t, y, v, m, c)),
    ],
    "byte_pair_merges": [merges_by_regex, lambda words, num_merges: byte_pair_merges(sorted(words), num_merges)],
    "apply_merges": [
        lambda word, merges: reduce(merge_pair, merges, list(word)),
        lambda word, merges: reduce(lambda tokens, pair: merge_pair(tokens, pair), merges, [*word]),
    ],
    "byte_pair_decode": [lambda tokens: reduce(str.__add__, tokens, ""), lambda tokens: "".join(tuple(tokens))],
    "byte_pair_vocabulary": [
        lambda merges: {t: i for i, t in enumerate(dict.fromkeys(map("".join, merges)), 257)},
        lambda merges: dict(zip(list(dict.fromkeys(a + b for a, b in merges)), range(257, 10_000), strict=False)),
    ],
    "byte_pair_ids": [
        lambda text, merges, table: [
            table[t] if t in table else b + 1
            for t in apply_merges(text, merges)
            for b in t.encode()[: 1 if t in table else None]
        ],
        lambda text, merges, table: [
            *chain.from_iterable(
                [table[t]] if t in table else (b + 1 for b in bytes(t, "utf-8")) for t in apply_merges(text, merges)
            )
        ],
    ],
    "ids_to_text": [
        lambda ids, table: b"".join(
            {i: t.encode() for t, i in table.items()}[i] if i > 256 else bytes([i - 1]) for i in ids if i
        ).decode("utf-8"),
        lambda ids, table: str(
            b"".join(({i: t.encode() for t, i in table.items()} | {0: b""}).get(i) or bytes([i - 1]) for i in ids if i),
            "utf-8",
        ),
    ],
    "round_trips": [survives, lambda e, d, text: survives(e, d, str(text)) is True],
}

WRONG: dict[str, list[Any]] = {
    "build_vocabulary": [
        lambda corpus: {s: i + 2 for i, s in enumerate(build_vocabulary(corpus))},
        lambda corpus: dict(list(build_vocabulary(corpus).items())[:-1]),
        lambda corpus: {s: str(i) for s, i in build_vocabulary(corpus).items()},
    ],
    "encode": [
        lambda text, vocabulary: [vocabulary.get(s, -1) for s in text],
        lambda text, vocabulary: [[vocabulary[s]] for s in text],
        lambda text, vocabulary: encode(text[:-1], vocabulary),
    ],
    "decode": [
        lambda ids, vocabulary: "".join({i: s for s, i in vocabulary.items()}[i] for i in ids[:-1] if i),
        lambda ids, vocabulary: "".join(next(iter(vocabulary)) for i in ids if i),
        lambda ids, vocabulary: "".join({i: s for s, i in vocabulary.items()}.get(i, "#") for i in ids),
    ],
    "pad_sequences": [
        lambda s, m, pad_id=0: pad_sequences(s, m + 1, pad_id),
        lambda s, m, pad_id=0: pad_sequences([sorted(x) for x in s], m, pad_id),
        lambda s, m, pad_id=0: pad_sequences(s[::-1], m, pad_id),
    ],
    "prepare_example": [
        lambda t, y, v, m, c: (prepare_example(t, y, v, m, c)[0].float(), y),
        lambda t, y, v, m, c: prepare_example(t[::-1], y, v, m, c),
        lambda t, y, v, m, c: (prepare_example(t, y, v, m, c)[0], str(y)),
    ],
    "byte_pair_merges": [
        lambda words, num_merges: byte_pair_merges(words[: len(words) // 2], num_merges),
        lambda words, num_merges: byte_pair_merges(words, num_merges)[::-1],
        lambda words, num_merges: [(b, a) for a, b in byte_pair_merges(words, num_merges)],
    ],
    "apply_merges": [
        lambda word, merges: apply_merges(word, merges[:-1]),
        lambda word, merges: apply_merges(word, merges)[::-1],
        lambda word, merges: [*apply_merges(word, merges), "</w>"],
    ],
    "byte_pair_decode": [
        lambda tokens: "".join(tokens[1:]),
        lambda tokens: "".join(tokens).upper(),
        lambda tokens: "-".join(tokens),
    ],
    "byte_pair_vocabulary": [
        lambda merges: {token: str(i) for token, i in byte_pair_vocabulary(merges).items()},
        lambda merges: byte_pair_vocabulary(merges[:-1]),
        lambda merges: {b + a: i for i, (a, b) in enumerate(merges, 257)},
    ],
    "byte_pair_ids": [
        lambda text, merges, table: byte_pair_ids(text.lower(), merges, table),
        lambda text, merges, table: byte_pair_ids(text, merges, table)[::-1],
        lambda text, merges, table: byte_pair_ids(text, merges[:1], table),
    ],
    "ids_to_text": [
        lambda ids, table: ids_to_text(ids, table).strip(),
        lambda ids, table: ids_to_text(ids, table)[::-1],
        lambda ids, table: ids_to_text(list(dict.fromkeys(ids)), table),
    ],
    "round_trips": [
        lambda e, d, text: len(e(text)) > 0,
        lambda e, d, text: survives(e, d, text[:3]),
        lambda e, d, text: str(survives(e, d, text)),
    ],
}
