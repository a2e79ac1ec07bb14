"""Text, one token at a time: the most likely token is written, then read, and each row stops at its own end."""

from collections.abc import Callable

import torch


def greedy_decode(
    model: Callable[[torch.Tensor, torch.Tensor], torch.Tensor],
    source: torch.Tensor,
    start_id: int,
    end_id: int,
    max_length: int,
) -> torch.Tensor:
    """Write an answer to each source, always with the most likely next token.

    `source` is (batch, source_length). `model(source, target_input)` returns logits
    (batch, target_length, vocab_size); those at the last position of `target_input` are
    about the next token. Each row starts with `start_id`, which the model reads but
    which is not returned. Returns ids (batch, columns) with at most `max_length`
    columns. A row stops at its first `end_id`, which is kept. After that it holds
    padding (id 0) while the other rows go on. A row that never ends is cut off after
    `max_length` tokens. The model stays in the mode it is in, training or eval, and
    `source` stays as it is.

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
            written = torch.cat([written, next_ids.unsqueeze(1)], dim=1)  # one more column
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
    """Does every source get the same answer in the batch as it does on its own?

    `decode(model, sources)` returns ids (batch, columns), padded on the right with id
    0; `sources` is (batch, source_length). The result is True when each source, decoded
    in a batch of its own, gets the same ids as it does among the others. Padding is
    ignored: the number of columns may differ. `sources` stays as it is.

    >>> def stops_too_soon(model, sources):  # the whole batch stops at its shortest row
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
