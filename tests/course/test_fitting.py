"""The common training loop: it learns, repeats itself with the same seed, and hides no work."""

import torch
from torch import nn

from transformer_course.fitting import accuracy, device_of, evaluating, fit, predict


class Votes(nn.Module):
    """Each token votes for a class."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(5, 2)
        self.dropout = nn.Dropout(0.5)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        votes: torch.Tensor = self.dropout(self.embedding(tokens)).sum(dim=1)
        return votes


def fresh() -> Votes:
    torch.manual_seed(0)
    return Votes()


TOKENS = torch.randint(1, 5, (64, 3), generator=torch.Generator().manual_seed(0))
LABELS = (TOKENS[:, 0] == TOKENS.max(dim=1).values).long()


def test_it_learns_and_returns_a_loss_for_each_step() -> None:
    model = nn.Sequential(nn.Embedding(5, 16), nn.Flatten(), nn.Linear(48, 32), nn.ReLU(), nn.Linear(32, 2))
    losses = fit(model, TOKENS, LABELS, steps=150, batch_size=32, learning_rate=0.01)
    assert len(losses) == 150
    assert all(isinstance(loss, float) for loss in losses)
    assert losses[-1] < losses[0] / 2
    assert accuracy(model, TOKENS, LABELS) > 0.9


def test_the_same_seed_gives_the_same_run_and_another_seed_another() -> None:
    runs = []
    for seed in (3, 3, 4):
        model = fresh().eval()
        model.dropout.p = 0.0
        runs.append(fit(model, TOKENS, LABELS, steps=5, batch_size=4, seed=seed))
    assert runs[0] == runs[1] != runs[2]


def test_the_batches_do_not_touch_the_global_random_numbers() -> None:
    model = nn.Sequential(nn.Embedding(5, 2), nn.Flatten(), nn.Linear(6, 2))
    before = torch.get_rng_state()
    fit(model, TOKENS, LABELS, steps=3)
    assert torch.equal(before, torch.get_rng_state())


def test_look_is_called_now_and_then_and_at_the_end() -> None:
    seen: list[int] = []
    fit(fresh(), TOKENS, LABELS, steps=7, look=seen.append, every=3)
    assert seen == [0, 3, 6, 7]


def test_what_look_does_leaves_the_run_as_it_is() -> None:
    def losses(looking: bool) -> list[float]:
        model = fresh()
        model.dropout.p = 0.0
        look = (lambda step: print(end="") or accuracy(model, TOKENS, LABELS)) if looking else None
        return fit(model, TOKENS, LABELS, steps=6, look=look, every=2)  # type: ignore[arg-type]

    assert losses(True) == losses(False)


def test_predicting_needs_no_gradients_no_dropout_and_no_one_batch() -> None:
    model = fresh().train()
    logits = predict(model, TOKENS, batch_size=10)
    assert logits.shape == (64, 2)
    assert not logits.requires_grad
    assert torch.equal(logits, predict(model, TOKENS))
    assert model.training
    assert model.dropout.training


def test_evaluating_restores_each_part_even_after_an_error() -> None:
    model = fresh().train()
    model.dropout.eval()
    try:
        with evaluating(model):
            assert not model.training
            raise KeyError
    except KeyError:
        pass
    assert model.training
    assert not model.dropout.training
    assert torch.is_grad_enabled()


def test_a_model_without_parameters_lies_on_the_cpu() -> None:
    assert device_of(nn.ReLU()) == torch.device("cpu")
