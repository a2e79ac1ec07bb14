"""Sub-words for two languages at once: one vocabulary of byte pairs, learnt from the training sentences.

Ids are 0 for padding, 1 for the start, 2 for the end, then the sub-words.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any, ClassVar, Protocol

from transformer_course.byte_pairs import byte_pair_ids, byte_pair_merges, byte_pair_vocabulary, ids_to_text


class NoTokenizers(ImportError):
    """The library `tokenizers` is missing. The message says in one sentence what to do."""


class Subwords(Protocol):
    """Text to ids and back."""

    start_id: ClassVar[int]
    end_id: ClassVar[int]

    @property
    def size(self) -> int: ...

    def encode(self, text: str) -> list[int]: ...

    def decode(self, ids: Iterable[int]) -> str: ...

    def pieces(self, ids: Iterable[int]) -> list[str]: ...


@dataclass(frozen=True)
class LibrarySubwords:
    """Byte pairs learnt by the library `tokenizers`. Every text has ids, since rare
    characters fall back on their bytes.
    """

    tokenizer: Any

    start_id: ClassVar[int] = 1
    end_id: ClassVar[int] = 2

    @classmethod
    def learn(cls, sentences: Iterable[str], vocab_size: int) -> "LibrarySubwords":
        """Learn a vocabulary of at most `vocab_size` ids; a few seconds for 58,000
        sentences.

        Raises:
            NoTokenizers: when the library isn't installed.
        """
        try:
            from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
        except ImportError:
            raise NoTokenizers(
                "Sub-words are learnt by the library tokenizers, which is not installed here: pip install tokenizers"
            ) from None
        tokenizer = Tokenizer(models.BPE())
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)  # a word is one with its space
        tokenizer.decoder = decoders.ByteLevel()
        trainer = trainers.BpeTrainer(
            vocab_size=vocab_size,
            special_tokens=["[PAD]", "[START]", "[END]"],
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        )
        tokenizer.train_from_iterator(sentences, trainer)
        return cls(tokenizer)

    @property
    def size(self) -> int:
        """How many ids there are."""
        return int(self.tokenizer.get_vocab_size())

    def encode(self, text: str) -> list[int]:
        """The ids of a text, without start and end."""
        return list(self.tokenizer.encode(text, add_special_tokens=False).ids)

    def decode(self, ids: Iterable[int]) -> str:
        """The text up to the end."""
        return str(self.tokenizer.decode(_up_to_end(ids))).strip()

    def pieces(self, ids: Iterable[int]) -> list[str]:
        """Each sub-word as text; a space stands before the first one of a word."""
        return [str(self.tokenizer.decode([one])) for one in _up_to_end(ids)]


@dataclass(frozen=True)
class MergedSubwords:
    """The learner's own byte pairs from lesson 02: slower to learn, but the same idea.

    >>> subwords = MergedSubwords.learn(["the cat", "the hat"], merges=3)
    >>> subwords.decode(subwords.encode("the bat"))
    'the bat'
    """

    merges: tuple[tuple[str, str], ...]

    start_id: ClassVar[int] = 1
    end_id: ClassVar[int] = 2

    @classmethod
    def learn(cls, sentences: Iterable[str], merges: int, words: int = 200_000) -> "MergedSubwords":
        """Learn `merges` merges from the first `words` words; a space is part of the
        word that it precedes.
        """
        every = (f" {word}" for sentence in sentences for word in sentence.split())
        return cls(tuple(byte_pair_merges(list(islice(every, words)), merges)))

    @cached_property
    def _vocabulary(self) -> dict[str, int]:
        return byte_pair_vocabulary(list(self.merges))

    @cached_property
    def _known(self) -> dict[str, list[int]]:
        return {}

    @property
    def size(self) -> int:
        """How many ids there are: three, the bytes, and a token for each merge."""
        return 3 + 256 + len(self._vocabulary)

    def encode(self, text: str) -> list[int]:
        """The ids of a text, without start and end. Runs of spaces become one."""
        ids: list[int] = []
        for word in text.split():
            if word not in self._known:
                pairs = byte_pair_ids(f" {word}", list(self.merges), self._vocabulary)
                self._known[word] = [one + 2 for one in pairs]  # bytes begin at 1 there, and at 3 here
            ids += self._known[word]
        return ids

    def decode(self, ids: Iterable[int]) -> str:
        """The text up to the end; bytes that are no text become a question mark."""
        content = _up_to_end(ids)
        try:
            return ids_to_text([one - 2 for one in content], self._vocabulary).strip()
        except UnicodeDecodeError:  # a model may write half a character
            return "".join(self.pieces(content)).strip()

    def pieces(self, ids: Iterable[int]) -> list[str]:
        """Each sub-word as text."""
        texts = []
        for one in _up_to_end(ids):
            try:
                texts.append(ids_to_text([one - 2], self._vocabulary))
            except UnicodeDecodeError:  # one byte of a longer character
                texts.append("?")
        return texts


def _up_to_end(ids: Iterable[int]) -> list[int]:
    content = []
    for one in map(int, ids):
        if one == 2:
            break
        if one > 2:
            content.append(one)
    return content


def as_examples(
    subwords: Subwords, pairs: Sequence[tuple[str, str]], max_length: int
) -> list[tuple[list[int], list[int]]]:
    """Pairs of sentences as ids; a pair with more than `max_length` ids on either side
    is left out.

    >>> as_examples(MergedSubwords(()), [("a", "b"), ("a", "much longer than that")], max_length=6)
    [([35, 100], [1, 35, 101, 2])]
    """
    examples = []
    for source, target in pairs:
        ids = subwords.encode(source), [subwords.start_id, *subwords.encode(target), subwords.end_id]
        if max(map(len, ids)) <= max_length:
            examples.append(ids)
    return examples
