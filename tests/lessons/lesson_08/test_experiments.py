"""What lesson 8 lays around the learner's parts: a GRU, the ladder's rungs, and the tables they make."""

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
import torch
from torch import nn

from course import downloads
from course.paper.fitting import Parts
from course.paper.layers import PositionwiseFeedForward
from course.paper.recipes import Recipe
from course.paper.training import train_epoch
from course.subwords import MergedSubwords
from course.tasks.spelling import spelling_task
from lessons.lesson_08 import experiments as lab
from lessons.lesson_08.experiments import translating

SMALL = Recipe(16, 1, 2, 16, 0.0, 40, steps=3, warmup_steps=10, max_tokens=400)
PAIRS = [
    ("A dog runs.", "Ein Hund rennt."),
    ("A cat sleeps.", "Eine Katze schläft."),
    ("Two dogs sleep.", "Zwei Hunde schlafen."),
] * 3


def test_the_gru_reads_to_the_last_real_token_and_writes_without_looking_ahead() -> None:
    torch.manual_seed(0)
    model = lab.GruTranslator(13, 11, 16, 2, 4, 32, 0.1, 9).eval()
    source, target = torch.tensor([[5, 3, 8], [4, 0, 0]]), torch.tensor([[1, 6, 4], [1, 7, 2]])
    logits = model(source, target)
    assert logits.shape == (2, 3, 11)
    assert torch.allclose(model(nn.functional.pad(source, (0, 2)), target), logits, atol=1e-6)
    assert torch.allclose(model(source[1:, :1], target[1:]), logits[1:], atol=1e-6)
    changed = target.clone()
    changed[:, 2] = 9
    assert torch.equal(model(source, changed)[:, :2], logits[:, :2])


def test_ten_pairs_are_learnt_by_heart_with_the_learners_parts() -> None:
    calls: list[int] = []

    def mine(*everything: object) -> float:
        calls.append(1)
        return train_epoch(*everything)  # type: ignore[arg-type]

    learnt = lab.overfit_ten_pairs(parts=Parts(train_epoch=mine))
    assert calls
    assert learnt.exact == 1.0
    assert learnt.run.losses[-1] < 0.1 < learnt.run.losses[0]


def test_a_rung_reports_tokens_and_rows() -> None:
    learnt = lab.reverse_letters(recipe=replace(SMALL, max_length=12), train=300, watch_every=2)
    assert list(learnt.curve["step"]) == [0, 3]
    assert set(learnt.before_averaging) == {"tokens", "rows"}
    assert list(learnt.written.columns) == ["source", "wanted", "written"]
    assert learnt.curve["rows"].iloc[-1] == learnt.exact
    assert lab.letter_scores(["ba", "c"], ["ba", "dc"]) == {"tokens": 0.5, "rows": 0.5}


def test_spelling_tables_and_attention() -> None:
    data = spelling_task(0, train=400, test=40)
    model, run = lab.train_speller(data, recipe=replace(SMALL, max_length=18))
    assert len(run.losses) == 3
    said = lab.say_all(model, [*data.test, "Ö'Brien"], data.sounds)
    table = lab.spelling_scores({**lab.baselines(data), "the model": said}, data)
    assert list(table["said by"]) == ["one letter at a time", "with both neighbours", "the model"]
    assert len(lab.some_words(said, data)) == 8
    heads, sounds = lab.letters_looked_at(model, "whale", data.sounds)
    for weights in heads.values():
        assert weights.shape == (len(sounds), 5)
        assert torch.allclose(weights.sum(dim=-1), torch.ones(len(sounds)), atol=1e-5)


@pytest.fixture
def data() -> lab.Corpus:
    sentences = [sentence for pair in PAIRS for sentence in pair]
    return lab.Corpus(PAIRS, PAIRS[:2], PAIRS[:3], MergedSubwords.learn(sentences, 40))


def test_translation_from_batches_to_scores(data: lab.Corpus, tmp_path: Path) -> None:
    pytest.importorskip("sacrebleu")
    path = tmp_path / "run.pt"
    model, _, curve = lab.train_translator(data, recipe=SMALL, checkpoint=path, watch_every=2)
    assert path.exists()
    assert list(curve["step"]) == [0, 2, 3]
    assert curve["validation loss"].iloc[-1] < curve["validation loss"].iloc[0]
    english = [one for one, _ in data.test]
    translations = {
        **lab.baseline_translations(data, data.test),
        "the model": lab.translate(model, english, data.subwords),
    }
    table, last = lab.score_table(translations, data.test)
    assert list(table["translated by"]) == ["copy", "word by word", "the model"]
    assert table["BLEU"][1] > table["BLEU"][0]
    assert "version" in last.bleu_signature
    worst = lab.hardest(translations["copy"], data.test, count=2)
    assert len(worst) == 2
    assert worst["chrF"].is_monotonic_increasing
    heads, written, source = lab.words_looked_at(model, english[0], data.subwords)
    assert all(weights.shape == (len(written), len(source)) for weights in heads.values())


def test_facts_about_the_corpus(data: lab.Corpus) -> None:
    assert lab.seen_before(data) == 1.0
    assert lab.seen_before(replace(data, test=[("Snow.", "Schnee.")])) == 0.0
    shares = lab.padding_shares(data, SMALL)
    assert set(shares) == {"similar lengths together", "all lengths mixed"}


def test_without_the_files_it_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(downloads.MIRROR, str(tmp_path))
    with pytest.raises(downloads.NotAvailable, match="put it there"):
        translating.corpus()


def test_a_feed_forward_network_is_two_convolutions() -> None:
    torch.manual_seed(0)
    feed_forward, x = PositionwiseFeedForward(8, 32, 0.1).eval(), torch.randn(2, 5, 8)
    as_images = lab.as_convolutions(feed_forward)(x.transpose(1, 2)).transpose(1, 2)
    assert torch.allclose(as_images, feed_forward(x), atol=1e-6)


def test_paths_and_costs() -> None:
    table = lab.complexity_table(n=10, d=100)
    assert list(table["multiplications"]) == [10_000, 100_000, 300_000]
    distances = lab.influence_by_distance([1, 20])
    assert distances["recurrent (GRU)"][1] < 0.1 * distances["recurrent (GRU)"][0]
    assert distances["self-attention"][1] > 0.1 * distances["self-attention"][0]
    seconds = lab.layer_seconds([4, 8], d_model=8, repeats=2)
    assert isinstance(seconds, pd.DataFrame)
    assert list(seconds["length"]) == [4, 8]
