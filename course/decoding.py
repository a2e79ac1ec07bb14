"""Text, one token at a time: the likeliest token is written down and read again, and each row ends by itself."""

from collections.abc import Callable

import torch


def greedy_decode(
    model: Callable[[torch.Tensor, torch.Tensor], torch.Tensor],
    source: torch.Tensor,
    start_id: int,
    end_id: int,
    max_length: int,
) -> torch.Tensor:
    """Writes an answer to each source: always the likeliest next token, until the end token or max_length tokens.

    `source` is (batch, source_length). `model(source, target_input)` returns logits (batch, target_length,
    vocab_size); the logits at the last place of `target_input` are about the next token. Each row begins with
    `start_id`, which the model reads and which is not returned.
    Returns ids (batch, columns) with at most `max_length` columns. A row ends with its `end_id`, which is kept;
    behind it stands padding, id 0, however long the other rows go on. A row without an end is cut at `max_length`.

    >>> def count_down(source, target_input):  # writes source, source - 1, ...; 1 is the end, 9 the start
    ...     following = torch.where(target_input == 9, source, target_input - 1)
    ...     return torch.nn.functional.one_hot(following.clamp(min=0), 10).float()
    >>> greedy_decode(count_down, torch.tensor([[4], [2]]), start_id=9, end_id=1, max_length=6)
    tensor([[4, 3, 2, 1],
            [2, 1, 0, 0]])
    """
    ### BEGIN SOLUTION
    written = torch.full_like(source[:, :1], start_id)  # (batch, 1)
    ended = torch.zeros(len(source), dtype=torch.bool, device=source.device)
    with torch.no_grad():
        for _ in range(max_length):
            logits = model(source, written)[:, -1]  # (batch, vocab_size): what comes next
            next_ids = logits.argmax(dim=-1).masked_fill(ended, 0)  # padding where the row has ended
            written = torch.cat([written, next_ids.unsqueeze(1)], dim=1)  # one column more
            ended = ended | (next_ids == end_id)
            if ended.all():
                break
    return written[:, 1:]
    ### END SOLUTION


def ends_each_sequence(
    decode: Callable[[Callable[..., torch.Tensor], torch.Tensor], torch.Tensor],
    model: Callable[..., torch.Tensor],
    sources: torch.Tensor,
) -> bool:
    """Does each source get the same answer in the batch as alone?

    `decode(model, sources)` returns ids (batch, columns), padded on the right with id 0; `sources` is (batch,
    source_length). True when each source, decoded in a batch of its own, gives the ids that it gets among the
    others. Padding does not count: neither how much there is, nor how many columns.

    >>> def stops_too_soon(model, sources):  # the whole batch stops with its shortest row
    ...     answers = model(sources)
    ...     return answers[:, : (answers != 0).sum(dim=1).min()]
    >>> def echo(sources):
    ...     return sources
    >>> ends_each_sequence(stops_too_soon, echo, torch.tensor([[7, 1, 0], [5, 6, 1]]))
    False
    """
    ### BEGIN SOLUTION
    together = decode(model, sources)
    for row, source in zip(together, sources, strict=True):
        alone = decode(model, source.unsqueeze(0))[0]
        if row[row != 0].tolist() != alone[alone != 0].tolist():
            return False
    return True
    ### END SOLUTION
