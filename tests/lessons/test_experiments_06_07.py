"""What lessons 6 and 7 lay around the learner's parts: rotary attention, windows, counting, and pictures that move."""

import io

import pytest
import torch
from PIL import Image
from torch import nn

from transformer_course import plots
from transformer_course.attention import MultiHeadAttention
from transformer_course.causal import CausalSeq2SeqTransformer
from transformer_course.lessons.lesson_06 import experiments as lesson_06
from transformer_course.lessons.lesson_07 import experiments as lesson_07
from transformer_course.positions import rotary_embedding
from transformer_course.tasks import reversal


def test_rotary_attention_knows_distances_alone() -> None:
    torch.manual_seed(0)
    x = torch.randn(2, 5, 16)
    near = lesson_06.RotaryAttention(16, 2, rotary_embedding)
    far = lesson_06.RotaryAttention(16, 2, rotary_embedding, *[lambda length: torch.arange(40, 40 + length)] * 2)
    far.load_state_dict(near.state_dict())
    assert torch.allclose(near(x, x, x)[0], far(x, x, x)[0], atol=1e-4)


def test_at_one_place_rotary_attention_is_the_usual_one() -> None:
    torch.manual_seed(0)
    x = torch.randn(2, 5, 16)
    usual = MultiHeadAttention(16, 2)
    still = lesson_06.RotaryAttention(16, 2, rotary_embedding, *[lambda length: torch.zeros(length)] * 2)
    still.load_state_dict(usual.state_dict())
    assert torch.allclose(usual(x, x, x)[0], still(x, x, x)[0], atol=1e-6)


def test_a_window_hides_what_is_far() -> None:
    x = torch.randn(1, 6, 16)
    weights = lesson_06.RotaryAttention(16, 2, rotary_embedding, window=1)(x, x, x)[1]
    places = torch.arange(6)
    far = (places.unsqueeze(1) - places).abs() > 1
    assert (weights[..., far] == 0).all()
    assert torch.allclose(weights.sum(-1), torch.ones(1, 2, 6))


def test_the_plus_sign_is_near_to_no_digit() -> None:
    places = lesson_06.place_values(11)
    assert places[:5].equal(places[6:])
    assert (places[5] - places[:5]).abs().min() > 90


def test_the_same_seed_gives_the_same_model_and_disturbs_nobody() -> None:
    before = torch.get_rng_state()
    one, other = (lesson_06.seeded(lambda: lesson_06.Reader(nn.Identity()), 3) for _ in range(2))
    assert torch.equal(before, torch.get_rng_state())
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), other.parameters(), strict=True))


def test_the_gap_is_no_gap_for_answers_that_are_right() -> None:
    source, target = lesson_07.tensors(["abc", "ba"])
    assert lesson_07.scores(target[:, :4], target) == {"tokens": 1.0, "rows": 1.0}
    assert source.shape == (2, 10)


def test_likelihood_counts_no_padding() -> None:
    torch.manual_seed(0)
    model = CausalSeq2SeqTransformer(reversal.VOCAB_SIZE, 16, 16, 2, 32, 1).eval()
    source, target = lesson_07.tensors(["abc"])
    short = lesson_07.log_likelihood(model, source, target[:, :4])
    assert torch.allclose(short, lesson_07.log_likelihood(model, source, target))


def test_without_anybody_there_the_sliders_are_a_sentence(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    lesson_07.sliders(print, temperature=(0.1, 3.0, 1.0))
    assert "JupyterLab" in capsys.readouterr().out


def test_with_somebody_there_the_sliders_call_the_function(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ipywidgets")
    monkeypatch.setenv("JPY_SESSION_NAME", "here")
    seen = []
    lesson_07.sliders(lambda temperature, k: seen.append((temperature, k)), temperature=(0.1, 3.0, 1.0), k=(1, 9, 4))
    assert seen == [(1.0, 4)]


def test_an_animation_is_a_gif_with_a_frame_a_step_that_runs_once() -> None:
    moving = plots.decoding_steps(["ab", "c"], ["ba.", "c._"])
    image = Image.open(io.BytesIO(moving.gif()))
    assert image.format == "GIF"
    assert getattr(image, "n_frames") == 4  # noqa: B009  PIL's stubs don't know it
    assert "loop" not in image.info
    assert repr(moving) == moving.twin.text
    assert moving.twin.text.splitlines()[1] == "ab: b a . (ends at step 3)"


def test_an_answer_that_is_cut_off_says_so() -> None:
    assert "is cut off" in plots.decoding_steps(["ab"], ["bab"]).twin.text


def test_chances_name_what_is_left() -> None:
    picture = plots.chances({"all": torch.tensor([0.5, 0.5]), "top 1": torch.tensor([1.0, 0.0])}, ["a", "b"])
    assert picture.text.splitlines() == ["all: a 0.5, b 0.5", "top 1: a 1, b none"]
    assert picture.png()
