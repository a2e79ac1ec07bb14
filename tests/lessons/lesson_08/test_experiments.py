"""What lesson 8 lays around the learner's parts: a GRU, the ladder's rungs, and the tables they make."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import torch
from torch import nn

from transformer_course import downloads
from transformer_course.lessons.lesson_08 import experiments as lab
from transformer_course.lessons.lesson_08.experiments import telling, translating
from transformer_course.paper.checkpoints import load_checkpoint
from transformer_course.paper.fitting import Parts, Run
from transformer_course.paper.masks import create_masks
from transformer_course.paper.model import Transformer, count_parameters
from transformer_course.paper.recipes import Recipe
from transformer_course.paper.training import train_epoch
from transformer_course.subwords import MergedSubwords
from transformer_course.tasks.spelling import spelling_task

SMALL = Recipe(16, 1, 2, 16, 0.0, 40, steps=3, warmup_steps=10, max_tokens=400)
PAIRS = [
    ("A dog runs.", "Ein Hund rennt."),
    ("A cat sleeps.", "Eine Katze schläft."),
    ("Two dogs sleep.", "Zwei Hunde schlafen."),
] * 3


@pytest.mark.parametrize("kind", [lab.GruTranslator, lab.GruWithAttention])
def test_the_gru_reads_to_the_last_real_token_and_writes_without_looking_ahead(kind: type[nn.Module]) -> None:
    torch.manual_seed(0)
    model = kind(13, 11, 16, 2, 4, 32, 0.1, 9).eval()
    source, target = torch.tensor([[5, 3, 8], [4, 0, 0]]), torch.tensor([[1, 6, 4], [1, 7, 2]])
    logits = model(source, target)
    assert logits.shape == (2, 3, 11)
    assert torch.allclose(model(nn.functional.pad(source, (0, 2)), target), logits, atol=1e-6)
    assert torch.allclose(model(source[1:, :1], target[1:]), logits[1:], atol=1e-6)
    changed = target.clone()
    changed[:, 2] = 9
    assert torch.equal(model(source, changed)[:, :2], logits[:, :2])


def test_a_gru_with_attention_looks_at_every_source_token_when_it_writes() -> None:
    torch.manual_seed(0)
    model = lab.GruWithAttention(13, 11, 16, 1, 4, 32, 0.0, 9).eval()
    source, target = torch.tensor([[5, 3, 8]]), torch.tensor([[1, 6]])
    states = model.encode(source)
    logits = model.decode(target, states, source)
    for place in range(3):  # the last state, from which it starts, stays as it is
        changed = states.clone()
        changed[:, place] += 1.0
        assert not torch.allclose(model.decode(target, changed, source), logits)


def test_pieces_take_the_places_of_ours() -> None:
    class Marked(nn.Identity):
        """Anything that can stand for a piece."""

        def __init__(self, *sizes: object) -> None:
            super().__init__()
            self.sizes = sizes

    sizes = (13, 11, 16, 2, 4, 32, 0.1, 9)
    network = lab.Pieces(feed_forward=Marked).build(*sizes)
    parts = [part for part in network.modules() if isinstance(part, Marked)]
    assert [part.sizes for part in parts] == [(16, 32, 0.1)] * 4
    layers = lab.Pieces(feed_forward=Marked, encoder_layer=Marked).build(*sizes)
    sizes_of_layers = [part.sizes for part in layers.get_submodule("encoder.layers").children()]
    assert sizes_of_layers == [(16, 4, 32, 0.1)] * 2
    whole = lab.Pieces(decoder=Marked).build(*sizes)
    assert whole.get_submodule("decoder").sizes == (11, 16, 2, 4, 32, 0.1, 9)


def test_masks_that_are_put_in_are_used() -> None:
    asked: list[tuple[int, ...]] = []

    def mine(source: torch.Tensor, target_input: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        asked.append((source.shape[1], target_input.shape[1]))
        return create_masks(source, target_input)

    model = lab.Pieces(create_masks=mine).build(13, 11, 16, 1, 4, 32, 0.0, 9)
    model(torch.tensor([[4, 7, 5]]), torch.tensor([[1, 6]]))
    assert asked == [(3, 3), (3, 2)]


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


def test_models_are_compared_by_their_rows_and_their_size() -> None:
    model = lab.REVERSAL.build(13, 13)
    curve = pd.DataFrame({"step": [0, 2], "tokens": [0.2, 0.9], "rows": [0.0, 0.5]})
    written = pd.DataFrame({"source": ["ab", "cd"], "wanted": ["ba", "dc"], "written": ["ba", "cd"]})
    learnt = lab.Learnt(model, Run(), written, curve)
    table = lab.rows_table({"one": learnt, "another": learnt})
    assert list(table.index) == ["one", "another"]
    assert list(table["rows right"]) == [0.5, 0.5]
    assert table["parameters"]["one"] == count_parameters(model)
    assert "another: 0 at 0, 0.5 at 2" in lab.rows_chart({"one": learnt, "another": learnt}).text
    assert "tokens: 0.2 at 0, 0.9 at 2" in lab.reversal_chart(learnt).text


def test_a_run_that_is_stopped_goes_on_by_the_learners_load() -> None:
    steps: list[int] = []

    def mine(*run: Any) -> int:
        steps.append(load_checkpoint(*run))
        return steps[-1]

    losses = lab.twenty_losses(parts=Parts(load=mine), stopped_after=10)
    assert steps == [10]
    assert len(losses) == 20


def test_spelling_tables_and_attention() -> None:
    data = spelling_task(0, train=400, test=40)
    model, run = lab.train_speller(data, recipe=replace(SMALL, max_length=18))
    assert len(run.losses) == 3
    pronunciations = lab.say_all(model, [*data.test, "Ö'Brien"], data.sounds)
    table = lab.spelling_scores({**lab.baselines(data), "the model": pronunciations}, data)
    assert list(table["said by"]) == ["one letter at a time", "with both neighbours", "the model"]
    assert len(lab.some_words(pronunciations, data)) == 8
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


def test_paths_and_costs() -> None:
    table = lab.complexity_table(n=10, d=100)
    assert list(table["as the paper counts"]) == [10_000, 100_000, 100_000, 300_000]
    assert list(table["all multiplications"]) == [420_000, 200_000, 600_000, 300_000]
    distances = lab.influence_by_distance([1, 20])
    assert distances["recurrent (GRU)"][1] < 0.1 * distances["recurrent (GRU)"][0]
    assert distances["self-attention"][1] > 0.5 * distances["self-attention"][0]
    seconds = lab.layer_seconds([4, 8], d_model=8, repeats=2)
    assert isinstance(seconds, pd.DataFrame)
    assert list(seconds["length"]) == [4, 8]


def test_the_trained_weights_go_into_the_learners_model_by_the_learners_load() -> None:
    calls: list[str] = []

    class Mine(Transformer):
        """The learner's own."""

    def load(*run: Any) -> int:
        calls.append("mine")
        return load_checkpoint(*run)

    model, _ = lab.teller(Mine, load)
    assert isinstance(model, Mine)
    assert calls == ["mine"]
    assert not model.training
    shared = model.get_parameter("output.weight")
    assert model.get_parameter("encoder.embedding.weight") is shared
    assert shared.dtype == torch.float32


@pytest.mark.parametrize("option", [True, False])
def test_a_model_with_names_of_its_own_is_replaced_in_a_sentence(
    option: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    class Named(nn.Module):
        """Another way to name things; without the option, there is not even a model."""

        def __init__(self, *sizes: Any, **options: Any) -> None:
            if not option and options:
                raise TypeError("Named() got an unexpected keyword argument 'share_embeddings'")
            super().__init__()
            self.emb = nn.Embedding(sizes[0], sizes[2])

    model, subwords = lab.teller(Named)
    assert isinstance(model, Transformer)
    assert "the course's Transformer takes its place" in capsys.readouterr().out
    translations = lab.translate(model, ["The witch found a key and lost it."], subwords)
    assert translations == ["Die Hexe hat einen Schlüssel gefunden und ihn verloren."]


def test_a_checkpoint_of_tales_comes_back_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    subwords = MergedSubwords.learn(["the cat", "the hat"], 3)
    model = telling.TALES.build(subwords.size, subwords.size)
    telling.save(tmp_path / "fairy_tales.pt", model, subwords, steps=7)
    monkeypatch.setattr(telling, "data_file", lambda name: tmp_path / name)
    read, merges = lab.teller()
    assert merges == subwords
    for one, other in zip(read.parameters(), model.parameters(), strict=True):
        assert torch.allclose(one, other, atol=1e-3)


def test_words_of_the_tales() -> None:
    words = lab.tale_words()
    assert {"witch", "teachers", "belong", "tomorrow"} <= set(words)
    assert words == sorted(words)


def test_letters_mirrored_are_those_of_the_row() -> None:
    model = lab.REVERSAL.build(13, 13)
    heads, written = lab.letters_mirrored(model, "abc")
    assert written == ["c", "b", "a", "(end)"]
    assert [tuple(weights.shape) for weights in heads.values()] == [(4, 3)] * 4
