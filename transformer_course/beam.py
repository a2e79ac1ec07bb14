"""Beam search: several prefixes are kept, because the best first token may not start the best answer."""

from collections.abc import Callable

import torch


def beam_search(
    model: Callable[[torch.Tensor, torch.Tensor], torch.Tensor],
    source: torch.Tensor,
    start_id: int,
    end_id: int,
    max_length: int,
    beam_width: int,
    length_penalty: float = 0.0,
) -> torch.Tensor:
    """Write an answer to each source, keeping the `beam_width` best prefixes at every
    step.

    In each step, every prefix is extended by every token, and only the `beam_width`
    extensions with the largest sum of log-probabilities are kept; those that end are
    set aside as finished. When nothing is left to extend, or after `max_length` tokens,
    all finished answers and all that were cut off compete. The winner has the largest

        sum of log-probabilities / length ** length_penalty

    where the length is counted in tokens, including the end. `model`, `source` and the
    result are as in `greedy_decode`: the end is kept, padding (id 0) follows it, and
    there are at most `max_length` columns. With beam_width = 1 and no penalty this is
    `greedy_decode`.

    >>> def tempting(source, target_input):  # 3 looks best at first, but nothing good can follow it; 1 is the end
    ...     after = {9: [0, 0, 0.4, 0.6], 3: [0, 0.3, 0.4, 0.3], 2: [0, 1, 0, 0]}
    ...     return torch.tensor([[after.get(i, [0, 1, 0, 0]) for i in row] for row in target_input.tolist()]).log()
    >>> beam_search(tempting, torch.tensor([[5]]), 9, 1, max_length=3, beam_width=1)
    tensor([[3, 2, 1]])
    >>> beam_search(tempting, torch.tensor([[5]]), 9, 1, max_length=3, beam_width=2)  # 0.4 * 1 beats 0.6 * 0.4
    tensor([[2, 1]])

    Source: Wu et al., "Google's Neural Machine Translation System", 2016, section 7,
    with a simpler length penalty.
    """
    ### BEGIN SOLUTION
    answers = []
    for row in source:
        alive = [([start_id], 0.0)]  # ids, and the sum of their log-probabilities
        finished = []
        for _ in range(max_length):
            written = torch.tensor([ids for ids, _ in alive], device=source.device)  # (alive, length so far)
            with torch.no_grad():
                logits = model(row.expand(len(alive), -1), written)[:, -1]  # (alive, vocab_size)
            so_far = torch.tensor([total for _, total in alive], device=source.device).unsqueeze(1)
            totals = so_far + torch.log_softmax(logits, dim=-1)  # (alive, vocab_size): every extension
            best = totals.flatten().topk(min(beam_width, totals.numel()))
            extended = []
            for total, place in zip(best.values.tolist(), best.indices.tolist(), strict=True):
                prefix, token = divmod(place, totals.shape[1])
                extended.append(([*alive[prefix][0], token], total))
            finished += [(ids, total) for ids, total in extended if ids[-1] == end_id]
            alive = [(ids, total) for ids, total in extended if ids[-1] != end_id]
            if not alive:
                break
        ids, _ = max(finished + alive, key=lambda answer: answer[1] / (len(answer[0]) - 1) ** length_penalty)
        answers.append(torch.tensor(ids[1:], device=source.device))
    return torch.nn.utils.rnn.pad_sequence(answers, batch_first=True)  # (batch, columns)
    ### END SOLUTION
