"""Lesson 11's experiments: nothing is lost in ids, every token is counted once, and a book is found or replaced."""

import math
import string
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import nn

from transformer_course.language_model.gpt import DecoderOnlyTransformer
from transformer_course.language_model.modern import ModernLanguageModel
from transformer_course.lessons.lesson_11 import experiments as lab
from transformer_course.lessons.lesson_11.experiments import plays

TEXT = "To be — or not to be,\nthat is the question: Whether 'tis nobler in the mind.\n\n" * 3


def test_no_character_is_lost_in_either_kind_of_tokens() -> None:
    for corpus in (lab.in_characters("test", TEXT, TEXT), lab.in_byte_pairs("test", TEXT, TEXT, num_merges=20)):
        assert corpus.decode(corpus.encode(TEXT)) == TEXT
        assert corpus.train.max() < corpus.vocab_size


def test_a_piece_that_ends_within_a_character_is_read_up_to_there() -> None:
    corpus = lab.in_byte_pairs("test", "abc " * 50, "", num_merges=2)
    ids = corpus.encode("a — b")
    assert len(ids) == 7  # the dash takes three bytes
    assert [corpus.decode(ids[:n]) for n in (2, 3, 4, 5)] == ["a ", "a ", "a ", "a —"]


class Same(nn.Module):
    """Finds all tokens equally likely, and notes how much it gets to read."""

    def __init__(self, vocab_size: int) -> None:
        super().__init__()
        self.vocab_size, self.widest = vocab_size, 0

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        self.widest = max(self.widest, tokens.shape[1])
        return torch.zeros(*tokens.shape, self.vocab_size)


@pytest.mark.parametrize("length", [4, 6, 10])
def test_whoever_guesses_needs_the_logarithm(length: int) -> None:
    corpus, model = lab.in_characters("test", TEXT, TEXT), Same(32)
    assert lab.bits(model, corpus, length) == pytest.approx(5.0)
    assert model.widest == length


def test_each_token_is_counted_once_and_with_enough_before_it() -> None:
    torch.manual_seed(0)
    model, ids = ModernLanguageModel(20, 16, 2, 1, 24, 1), torch.randint(20, (33,))
    losses = lab.losses_of(model, ids, 8)
    with torch.no_grad():
        for place in range(len(losses)):
            start = 0 if place < 8 else (place - 4) // 4 * 4
            logits = model(ids[None, start : place + 1])[0, -1]
            assert losses[place].item() == pytest.approx(-logits.log_softmax(-1)[ids[place + 1]].item(), abs=1e-4)


def test_the_context_grows_and_the_targets_stay() -> None:
    torch.manual_seed(0)
    model, ids = ModernLanguageModel(20, 16, 2, 1, 24, 1), torch.randint(20, (23,))
    corpus = lab.Corpus("test", 20, ids, ids, lambda text: ids, lambda ids: "")
    losses = lab.context_losses(model, corpus, 5)
    assert losses.shape == (14, 5)
    with torch.no_grad():
        for row, target in enumerate(range(5, 19)):
            for read in range(1, 6):
                logits = model(ids[None, target - read : target])[0, -1]
                assert losses[row, read - 1].item() == pytest.approx(
                    -logits.log_softmax(-1)[ids[target]].item(), abs=1e-4
                )
    table = lab.by_position(model, corpus, 5)
    assert table["bits per token"].iloc[-1] == pytest.approx(losses[:, -1].mean().item() / math.log(2), abs=1e-5)


def test_six_samplers_get_the_same_distribution() -> None:
    corpus = lab.in_characters("test", TEXT, TEXT)
    chances, tokens = lab.next_chances(Same(corpus.vocab_size), corpus, "To be", shown=4)
    assert len(chances) == 6
    assert len(tokens) == 4
    assert chances["temperature 2"] == pytest.approx([1 / corpus.vocab_size] * 4)


def test_other_beginnings_change_what_they_say_and_nothing_else() -> None:
    corpus = lab.in_characters("test", TEXT, TEXT)

    def new() -> nn.Module:
        torch.manual_seed(0)
        return lab.new_gpt(corpus, lab.PAIRS)

    before, scaled = new().state_dict(), lab.scaled_residuals(new()).state_dict()
    changed = {name for name in before if not torch.equal(before[name], scaled[name])}
    assert {name.split(".", 2)[2] for name in changed} == {"attention.output.weight", "feed_forward.linear_out.weight"}
    assert all(torch.allclose(scaled[name], before[name] / 2) for name in changed)
    model = new()
    larger = lab.with_tables_of_one(model, model.embedding).state_dict()  # type: ignore[arg-type]
    assert [name for name in before if not torch.equal(before[name], larger[name])] == ["embedding.weight"]
    assert larger["embedding.weight"].std().item() == pytest.approx(1, abs=0.1)


def test_a_model_of_names_is_the_learners_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plays, "NAMES", replace(lab.NAMES, steps=3))
    corpus = lab.in_characters("test", TEXT, TEXT)

    class Mine(DecoderOnlyTransformer):
        pass

    def look(step: int, model: nn.Module) -> dict[str, float]:
        return {"mine": isinstance(model, Mine)}

    run = lab.read_names(corpus, Mine, look=look, look_at=(0, 2, 3))
    assert run.curve[["step", "mine"]].to_numpy().tolist() == [[0, True], [2, True], [3, True]]


def test_without_the_plays_another_book_is_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COURSE_MIRROR", str(tmp_path))
    book = lab.book()
    assert book.title == "Moby-Dick"
    assert "Until then, the model reads Moby-Dick" in capsys.readouterr().out
    assert lab.other_style(book).title == "first names"
    assert lab.other_style(lab.Book("Shakespeare", "")).title == "Moby-Dick"


def test_the_longest_copy_is_the_longest() -> None:
    assert lab.longest_copy("xxthe questionxx or not to", TEXT) == "the question"
    assert lab.longest_copy("ZZZ", TEXT) == ""


def test_ways_to_choose_read_no_more_than_the_context() -> None:
    corpus = lab.in_characters("test", TEXT, string.ascii_letters)
    model = Same(corpus.vocab_size)
    table = lab.choices(model, corpus, lab.Book("test", TEXT), context=6, tokens=8)
    assert len(table) == 9
    assert model.widest == 6
    assert table["words in the book"].between(0, 1).all()
