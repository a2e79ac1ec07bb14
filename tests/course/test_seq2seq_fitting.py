"""The loop that trains with teacher forcing, and the generator that lets a model write."""

import torch
from torch import nn

from transformer_course.causal import CausalSeq2SeqTransformer
from transformer_course.seq2seq_fitting import best_device, fit, generate, predict
from transformer_course.tasks import reversal

START, END = reversal.START_ID, reversal.END_ID


def small(seed: int = 0) -> CausalSeq2SeqTransformer:
    torch.manual_seed(seed)
    return CausalSeq2SeqTransformer(reversal.VOCAB_SIZE, max_length=8, d_model=16, num_heads=2, d_ff=32, num_layers=1)


def test_it_learns_and_the_same_seed_gives_the_same_losses() -> None:
    source, target = reversal.tensors(reversal.draw_rows(0, 200, 3))
    runs = [fit(small(), source, target, start_id=START, steps=60, learning_rate=0.01, seed=s) for s in (4, 4, 5)]
    assert runs[0] == runs[1] != runs[2]
    assert runs[0][-1] < runs[0][0] / 2


def test_every_example_comes_once_before_any_comes_again() -> None:
    seen: list[int] = []

    class Notes(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.zeros(20))

        def forward(self, source: torch.Tensor, target_input: torch.Tensor) -> torch.Tensor:
            seen.extend(source[:, 0].tolist())
            return self.weight.expand(*target_input.shape, -1)

    rows = torch.arange(1, 11)[:, None]  # (10, 1)
    fit(Notes(), rows, rows, start_id=11, steps=5, batch_size=4)
    assert sorted(seen[:10]) == sorted(seen[10:20]) == list(range(1, 11))
    assert fit(Notes(), rows, rows, start_id=11, steps=1, batch_size=64)


def test_watching_changes_nothing_in_the_training() -> None:
    source, target = reversal.tensors(reversal.draw_rows(0, 50, 3))
    steps: list[int] = []
    model = small()

    def watch(step: int) -> None:
        steps.append(step)
        predict(model, source, target, start_id=START)

    watched = fit(model, source, target, start_id=START, steps=7, watch=watch, watch_every=3)
    assert steps == [0, 3, 6, 7]
    assert watched == fit(small(), source, target, start_id=START, steps=7)


def test_predictions_are_those_of_the_model_in_the_order_of_the_rows() -> None:
    source, target = reversal.tensors(reversal.draw_rows(0, 30, 4))
    model = small()
    logits = predict(model, source, target, start_id=START, batch_size=7)
    shown = torch.cat([torch.full((30, 1), START), target[:, :-1]], dim=1)
    assert torch.allclose(logits, model(source, shown), atol=1e-5)


def test_generating_stops_behind_each_end_and_reads_what_it_wrote() -> None:
    def counts(source: torch.Tensor, target_input: torch.Tensor) -> torch.Tensor:
        """Says 1, 2, 3, ... and the end after as many tokens as the source's first id says."""
        ids = torch.arange(1, target_input.shape[1] + 1).expand_as(target_input)
        assert target_input[:, 1:].le(END).all()
        return nn.functional.one_hot(torch.where(ids > source[:, :1], END, ids), reversal.VOCAB_SIZE).float()

    class Model(nn.Module):
        def forward(self, source: torch.Tensor, target_input: torch.Tensor) -> torch.Tensor:
            return counts(source, target_input)

    written = generate(Model(), torch.tensor([[3], [1], [9]]), start_id=START, end_id=END, max_length=5, batch_size=2)
    assert written.tolist() == [[1, 2, 3, END, 0], [1, END, 0, 0, 0], [1, 2, 3, 4, 5]]


def test_the_device_is_one_that_is_there() -> None:
    torch.zeros(1, device=best_device())
