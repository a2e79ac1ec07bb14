"""Byte-pair encoding: learn which neighbours to glue together, and cut new words with what was learnt."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise


def merge_pair(tokens: Sequence[str], pair: tuple[str, str]) -> list[str]:
    """Glue each `pair` of neighbours into one token, from left to right; a token is used once.

    >>> merge_pair(["w", "h", "a", "l", "e"], ("a", "l"))
    ['w', 'h', 'al', 'e']
    >>> merge_pair(["a", "a", "a"], ("a", "a"))
    ['aa', 'a']
    """
    merged, place = [], 0
    while place < len(tokens):
        if tuple(tokens[place : place + 2]) == tuple(pair):
            merged.append(pair[0] + pair[1])
            place += 2  # both are used up
        else:
            merged.append(tokens[place])
            place += 1
    return merged


def byte_pair_merges(words: list[str], num_merges: int) -> list[tuple[str, str]]:
    """Learn which pairs of neighbouring tokens to merge, most frequent first.

    `words` is a list of strings, and a word that occurs often stands there often. At first each character is a
    token. Then, `num_merges` times: count all pairs of neighbours, take the most frequent one, and merge it in
    every word, from left to right. Pairs never reach from one word into the next. "aaa" holds two pairs.
    Of equally frequent pairs take the lexicographically larger: `("b", "a") > ("a", "z")`, as Python compares.
    Returns the pairs in the order learnt; fewer than `num_merges` when no pair is left.

    >>> byte_pair_merges(["aba", "aba", "bab"], num_merges=2)
    [('b', 'a'), ('a', 'ba')]
    """
    ### BEGIN SOLUTION
    counts = Counter(words)  # each different word is handled once, however often it occurs
    pieces = {word: list(word) for word in counts}
    merges: list[tuple[str, str]] = []
    for _ in range(num_merges):
        pairs: Counter[tuple[str, str]] = Counter()
        for word, tokens in pieces.items():
            for pair in pairwise(tokens):
                pairs[pair] += counts[word]
        if not pairs:
            break
        best = max(pairs, key=lambda pair: (pairs[pair], pair))
        merges.append(best)
        pieces = {word: merge_pair(tokens, best) for word, tokens in pieces.items()}
    return merges
    ### END SOLUTION


def apply_merges(word: str, merges: list[tuple[str, str]]) -> list[str]:
    """Cut a word into tokens with merges that were learnt before.

    At first each character is a token. Then each pair of `merges` in turn, in the order learnt, is merged
    wherever it stands in the word, from left to right. Characters that no merge knows stay single tokens.

    >>> apply_merges("whales", [("a", "l"), ("w", "h"), ("wh", "al")])
    ['whal', 'e', 's']
    """
    ### BEGIN SOLUTION
    tokens = list(word)
    for pair in merges:
        tokens = merge_pair(tokens, pair)
    return tokens
    ### END SOLUTION


def byte_pair_decode(tokens: list[str]) -> str:
    """Put the tokens of one word together again.

    >>> byte_pair_decode(["whal", "e", "s"])
    'whales'
    """
    ### BEGIN SOLUTION
    return "".join(tokens)
    ### END SOLUTION
