"""Changing a model on its way: heads taken out, heads put in from another run, and what that does.

Sources: Meng et al., "Locating and Editing Factual Associations in GPT", NeurIPS 2022, section 2 (causal tracing); Wang
et al., "Interpretability in the Wild", ICLR 2023 (patching, logit difference).
"""

from collections.abc import Callable, Sequence

import torch

from transformer_course.circuits.model import Edit


def without_heads(which: Sequence[tuple[int, int]]) -> Edit:
    """An edit that takes heads out: their results become zeros.

    `which` holds pairs, (layer, head), counted from 0. Returns a function `edit(layer,
    heads)`: `layer` is the number of the layer that asks, and `heads` are the results of
    its heads, (batch, heads, length, d_head). It returns what the layer is to go on with,
    of the same shape: zeros for each head of this layer that is in `which`, at all
    positions of all rows, and all other heads as they are. `heads` itself stays as it
    is, and so does `which`.

    >>> edit = without_heads([(1, 0)])
    >>> heads = torch.ones(1, 2, 3, 1)
    >>> edit(0, heads).sum().item(), edit(1, heads).sum().item()  # nothing is taken out of layer 0
    (6.0, 3.0)
    """

    ### BEGIN SOLUTION
    def edit(layer: int, heads: torch.Tensor) -> torch.Tensor:
        edited = heads.clone()
        for of_layer, head in which:
            if of_layer == layer:
                edited[:, head] = 0
        return edited

    return edit
    ### END SOLUTION


def patch_heads(
    clean: Sequence[torch.Tensor], which: Sequence[tuple[int, int]], positions: Sequence[int] | None = None
) -> Edit:
    """An edit that puts in what heads did in another run.

    `clean` holds, for each layer, the results of its heads in that run, (batch, heads,
    length, d_head). `which` holds pairs, (layer, head). Returns a function `edit(layer,
    heads)` as `without_heads` does: for each head of this layer that is in `which`, it
    puts in the result of the other run, at the positions in `positions`, or at all of
    them where that is None. Everything else stays as it is in `heads`. Nothing that is
    passed in changes.

    >>> clean = [torch.ones(1, 2, 3, 1), torch.ones(1, 2, 3, 1)]
    >>> edit = patch_heads(clean, [(0, 1)], positions=[2])
    >>> edit(0, torch.zeros(1, 2, 3, 1)).squeeze(-1).tolist()
    [[[0.0, 0.0, 0.0], [0.0, 0.0, 1.0]]]
    """

    ### BEGIN SOLUTION
    def edit(layer: int, heads: torch.Tensor) -> torch.Tensor:
        edited = heads.clone()
        places = range(heads.shape[2]) if positions is None else positions
        for of_layer, head in which:
            if of_layer == layer:
                for place in places:
                    edited[:, head, place] = clean[layer][:, head, place]
        return edited

    return edit
    ### END SOLUTION


def recovered(
    patched: torch.Tensor, corrupted: torch.Tensor, clean: torch.Tensor, right: torch.Tensor, wrong: torch.Tensor
) -> float:
    """How much of the clean answer does a patch bring back? 1: all of it, 0: nothing.

    The first three are logits at the position in question, (batch, vocab_size): of the
    patched run, of the corrupted one without a patch, and of the clean one. `right` and
    `wrong` are ids, (batch,): the answer of the clean run and that of the corrupted one.
    A row's logit difference is its logit of `right` minus its logit of `wrong`; D is the
    mean of that over all rows. Returns (D of patched - D of corrupted) / (D of clean - D
    of corrupted), as a float. It may be below 0 or above 1.

    >>> clean, corrupted, patched = torch.tensor([[4.0, 0.0]]), torch.tensor([[0.0, 4.0]]), torch.tensor([[3.0, 1.0]])
    >>> recovered(patched, corrupted, clean, torch.tensor([0]), torch.tensor([1]))
    0.75

    Source: Wang et al. 2022 (logit difference).
    """

    ### BEGIN SOLUTION
    def difference(logits: torch.Tensor) -> torch.Tensor:
        rows = torch.arange(len(logits), device=logits.device)
        return (logits[rows, right] - logits[rows, wrong]).mean()

    floor = difference(corrupted)
    return ((difference(patched) - floor) / (difference(clean) - floor)).item()
    ### END SOLUTION


def ablation_is_sound(
    run: Callable[[torch.Tensor, list[tuple[int, int]]], Sequence[torch.Tensor]],
    tokens: torch.Tensor,
    layer: int,
    head: int,
) -> bool:
    """Does somebody's code take out this head, and nothing else?

    `run(tokens, which)` runs a model on `tokens`, (batch, length), without the heads in
    `which`, a list of pairs (layer, head). It returns a tensor for each layer, (batch,
    heads, length, d_model): what each head wrote into the residual stream. With an empty
    list, nothing is taken out. Returns True when, without this head,

    - what it writes is zero, at every position of every row
    - what the other heads of its layer write, and what all heads of earlier layers
      write, is what it was
    - what each later layer writes is different: it reads a stream that has changed. (If
      there are no later layers, there is nothing to ask.)
    - and afterwards, with an empty list, everything is what it was before.

    Two numbers are the same when they differ by 0.00001 at most. Returns a bool. `tokens`
    stays as it is.

    >>> def run(tokens, which):
    ...     written = torch.ones(1, 2, 3, 4)  # one layer, two heads
    ...     for _, head in which:
    ...         written[:, head] = 0
    ...     return [written]
    >>> ablation_is_sound(run, torch.tensor([[5, 6, 7]]), layer=0, head=1)
    True
    """

    ### BEGIN SOLUTION
    def same(one: torch.Tensor, other: torch.Tensor) -> bool:
        return bool((one - other).abs().max() <= 1e-5)

    before = [written.clone() for written in run(tokens, [])]
    ablated = [written.clone() for written in run(tokens, [(layer, head)])]
    after = run(tokens, [])
    wanted = before[layer].clone()
    wanted[:, head] = 0
    earlier = all(same(one, other) for one, other in zip(before[:layer], ablated[:layer], strict=True))
    later = all(not same(one, other) for one, other in zip(before[layer + 1 :], ablated[layer + 1 :], strict=True))
    undone = all(same(one, other) for one, other in zip(before, after, strict=True))
    return same(ablated[layer], wanted) and earlier and later and undone
    ### END SOLUTION
