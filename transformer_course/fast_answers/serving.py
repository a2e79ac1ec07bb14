"""Many readers at once: texts that join a batch when there is room, and leave when they have ended.

Sources: Yu et al., "Orca: A Distributed Serving System for Transformer-Based Generative Models", OSDI 2022, section 3
(scheduling token by token); Kwon et al., "Efficient Memory Management for Large Language Model Serving with
PagedAttention", SOSP 2023, section 4 (blocks).
"""

from collections.abc import Callable, Hashable

import torch


def serve(
    step: Callable[[list[list[int]]], list[int]], prompts: list[list[int]], slots: int, end_id: int, max_new: int
) -> list[list[int]]:
    """Answer all the prompts, with at most `slots` texts in the model at a time.

    `step(texts)` is one pass of the model: it takes the texts so far, each a list of
    ids that begins with its prompt, and returns the next id for each, in that order.
    Prompts wait in line, in their order. Before each call, the first in line take the
    slots that are free, so that as many texts as possible are in each call. A text has
    ended when it gets `end_id`, or when it has `max_new` new ids. It is in no later
    call, and its slot is free.

    Returns the answers, in the order of the prompts: the new ids alone, `end_id`
    included. `max_new` and `slots` are at least 1. `step` is never called without a
    text, and the prompts stay as they are.

    >>> calls = []
    >>> def count_down(texts):
    ...     calls.append(len(texts))
    ...     return [text[-1] - 1 for text in texts]
    >>> serve(count_down, [[2], [3], [1]], slots=2, end_id=0, max_new=9), calls
    ([[1, 0], [2, 1, 0], [0]], [2, 2, 2])

    Source: Yu et al. 2022, section 3.
    """
    ### BEGIN SOLUTION
    answers: list[list[int]] = [[] for _ in prompts]
    waiting = list(range(len(prompts)))
    running: list[int] = []
    while waiting or running:
        while waiting and len(running) < slots:
            running.append(waiting.pop(0))
        tokens = step([prompts[number] + answers[number] for number in running])
        for number, token in zip(running, tokens, strict=True):
            answers[number].append(token)
        running = [number for number in running if answers[number][-1] != end_id and len(answers[number]) < max_new]
    return answers
    ### END SOLUTION


class BlockCache:
    """Keys and values of many texts, in blocks that are handed out as the texts grow.

    `BlockCache(num_blocks, block_size, d)` has room for num_blocks * block_size tokens,
    each with a key and a value of d numbers, float32. A block belongs to one text at a
    time, or is free. A text is known by a name: any number or string.

    - `append(text, key, value)` adds a token after those that the text has. `key` and
      `value` are (d,). Where the text's last block is full, or it has none, it takes a
      free block first. If there is none, a MemoryError is raised, and nothing changes.
    - `read(text)` returns (keys, values), (length, d) each, oldest first. For a text
      that has nothing, the length is 0.
    - `truncate(text, length)` forgets all but the first `length` tokens of a text. The
      blocks that it no longer needs are free again. A text that isn't longer stays as
      it is.
    - `free()` says how many blocks are free.

    What was read, or appended, may be changed by others; the cache keeps its own.

    >>> cache = BlockCache(num_blocks=2, block_size=2, d=1)
    >>> for number in (1.0, 2.0, 3.0):
    ...     cache.append("a", torch.tensor([number]), torch.tensor([-number]))
    >>> cache.free()
    0
    >>> cache.truncate("a", 2)
    >>> cache.free(), cache.read("a")[1].flatten()
    (1, tensor([-1., -2.]))

    Source: Kwon et al. 2023, section 4.
    """

    def __init__(self, num_blocks: int, block_size: int, d: int) -> None:
        ### BEGIN SOLUTION
        self.pool = torch.zeros(num_blocks, block_size, 2, d)
        self.size = block_size
        self.unused = list(range(num_blocks))
        self.blocks: dict[Hashable, list[int]] = {}
        self.lengths: dict[Hashable, int] = {}
        ### END SOLUTION

    def append(self, text: Hashable, key: torch.Tensor, value: torch.Tensor) -> None:
        ### BEGIN SOLUTION
        length, blocks = self.lengths.get(text, 0), self.blocks.setdefault(text, [])
        if length == len(blocks) * self.size:
            if not self.unused:
                raise MemoryError("no block is free")
            blocks.append(self.unused.pop())
        self.pool[blocks[-1], length % self.size, 0] = key
        self.pool[blocks[-1], length % self.size, 1] = value
        self.lengths[text] = length + 1
        ### END SOLUTION

    def read(self, text: Hashable) -> tuple[torch.Tensor, torch.Tensor]:
        ### BEGIN SOLUTION
        both = self.pool[self.blocks.get(text, [])].flatten(0, 1)  # (room of its blocks, 2, d), a copy
        both = both[: self.lengths.get(text, 0)]
        return both[:, 0], both[:, 1]
        ### END SOLUTION

    def truncate(self, text: Hashable, length: int) -> None:
        ### BEGIN SOLUTION
        if length < self.lengths.get(text, 0):
            needed = -(-length // self.size)  # rounded up
            self.unused += self.blocks[text][needed:]
            self.blocks[text] = self.blocks[text][:needed]
            self.lengths[text] = length
        ### END SOLUTION

    def free(self) -> int:
        ### BEGIN SOLUTION
        return len(self.unused)
        ### END SOLUTION
