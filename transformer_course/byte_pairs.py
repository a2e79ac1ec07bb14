"""Byte-pair encoding: learn which neighbours to merge, cut words with those merges, and give the tokens ids."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise


def merge_pair(tokens: Sequence[str], pair: tuple[str, str]) -> list[str]:
    """Merge each `pair` of neighbours into one token, from left to right; no token is
    used twice.

    >>> merge_pair(["w", "h", "a", "l", "e"], ("a", "l"))
    ['w', 'h', 'al', 'e']
    >>> merge_pair(["a", "a", "a"], ("a", "a"))
    ['aa', 'a']
    """
    tokens, (first, second) = list(tokens), pair
    if first not in tokens or second not in tokens:  # most words have no such pair: this saves most of the time
        return tokens
    merged, place = [], 0
    while place < len(tokens):
        if tokens[place] == first and tokens[place + 1 : place + 2] == [second]:
            merged.append(first + second)
            place += 2  # both are used up
        else:
            merged.append(tokens[place])
            place += 1
    return merged


def byte_pair_merges(words: list[str], num_merges: int) -> list[tuple[str, str]]:
    """Learn which pairs of neighbouring tokens to merge, the most frequent first.

    `words` is a list of strings, which is left unchanged; a word that occurs often is
    in the list that often. At first each character is a token. Then, `num_merges`
    times: count all pairs of neighbours, take the most frequent one, and merge it in
    every word, from left to right. A pair never spans two words. "aaa" contains two
    pairs. If several pairs are equally frequent, take the lexicographically largest, as
    Python compares tuples: `("b", "a") > ("a", "z")`. Returns the pairs in the order
    learnt; fewer than `num_merges` if no pair is left.

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
    """Cut a word into tokens, using merges learnt before.

    At first each character is a token. Then each pair in `merges`, in the order learnt,
    is merged wherever it occurs in the word, from left to right. Characters that are in
    no merge, spaces included, stay tokens of their own. `merges` stays as it is.

    >>> apply_merges("whales", [("a", "l"), ("w", "h"), ("wh", "al")])
    ['whal', 'e', 's']
    """
    ### BEGIN SOLUTION
    tokens = list(word)
    for pair in merges:
        tokens = merge_pair(tokens, pair)
    return tokens
    ### END SOLUTION


def byte_pair_vocabulary(merges: list[tuple[str, str]]) -> dict[str, int]:
    """Give each merged token its id.

    Ids 0 to 256 are taken: 0 is padding, and byte b (0 to 255) has id b + 1. So the
    token made by the first merge gets id 257, the next one 258, and so on, in the order
    learnt. Two merges may make the same token: it keeps its first id, and no id is left
    out. Returns {merged token: id}; the bytes are not in it. `merges` stays as it is.

    >>> byte_pair_vocabulary([("t", "h"), ("th", "e"), ("i", "n")])
    {'th': 257, 'the': 258, 'in': 259}
    """
    ### BEGIN SOLUTION
    vocabulary: dict[str, int] = {}
    for first, second in merges:
        vocabulary.setdefault(first + second, 257 + len(vocabulary))
    return vocabulary
    ### END SOLUTION


def byte_pair_ids(text: str, merges: list[tuple[str, str]], vocabulary: dict[str, int]) -> list[int]:
    """Turn any text into ids: merged tokens where there are some, bytes everywhere
    else.

    First `merges` cut the text into tokens. A token in `vocabulary` becomes its id. Any
    other token becomes its UTF-8 bytes, with id b + 1 for each byte b. No text is
    refused. `merges` and `vocabulary` stay as they are.

    >>> byte_pair_ids("the ï", [("t", "h"), ("th", "e")], {"th": 257, "the": 258})
    [258, 33, 196, 176]
    """
    ### BEGIN SOLUTION
    ids: list[int] = []
    for token in apply_merges(text, merges):
        if token in vocabulary:
            ids.append(vocabulary[token])
        else:
            ids += [byte + 1 for byte in token.encode()]  # one to four bytes for each character
    return ids
    ### END SOLUTION


def ids_to_text(ids: Sequence[int], vocabulary: dict[str, int]) -> str:
    """Turn byte-pair ids back into text.

    Id 0 is padding and becomes nothing, wherever it is. Ids 1 to 256 are the bytes 0 to
    255; larger ids are the tokens of `vocabulary`. All bytes are put together first,
    and then decoded as UTF-8, since one character may take several. An id that stands
    for nothing is an error. `vocabulary` stays as it is.

    >>> ids_to_text([258, 33, 196, 176, 0, 0], {"th": 257, "the": 258})
    'the ï'
    """
    ### BEGIN SOLUTION
    pieces = {place: token.encode() for token, place in vocabulary.items()}
    pieces |= {byte + 1: bytes([byte]) for byte in range(256)}
    pieces[0] = b""
    return b"".join(pieces[place] for place in ids).decode()  # a KeyError if an id stands for nothing
    ### END SOLUTION
