"""Lesson 12's experiments: a layer with a correction is still a layer, and the storyteller is what it says it is."""

from pathlib import Path

import pytest
import torch
from torch import nn

from transformer_course.data import data_file
from transformer_course.language_model import storyteller
from transformer_course.language_model.adapting import LoRALinear
from transformer_course.language_model.modern import (
    GroupedQueryAttention,
    ModernBlock,
    ModernLanguageModel,
    RMSNorm,
    SwiGLU,
)
from transformer_course.language_model.words import Words
from transformer_course.lessons.lesson_12 import experiments as lab
from transformer_course.lessons.lesson_12.experiments import stories, telling


class ByWeight(LoRALinear):
    """Has a bias of its own, which nobody must touch."""

    def __init__(self, linear: nn.Linear, rank: int, alpha: float) -> None:
        super().__init__(linear, rank, alpha)
        self.bias = torch.ones(3)


def test_a_layer_with_lora_still_has_a_weight() -> None:
    torch.manual_seed(0)
    model = lab.with_lora(ModernLanguageModel(20, 16, 2, 1, 24, 1), 2, 4.0, ByWeight)
    layer = model.get_submodule("blocks.0.attention.query")
    with torch.no_grad():
        layer.up.normal_()  # type: ignore[operator]
    x = torch.randn(3, 16)
    assert torch.allclose(x @ layer.weight.T, layer(x), atol=1e-5)  # type: ignore[operator]
    assert torch.equal(layer.bias, torch.ones(3))  # type: ignore[arg-type]


def test_a_block_of_other_parts_begins_as_the_courses() -> None:
    torch.manual_seed(0)
    ours = ModernBlock(16, 4, 2, 24)
    torch.manual_seed(0)
    theirs = lab.block_of(GroupedQueryAttention, SwiGLU, RMSNorm)(16, 4, 2, 24)
    x = torch.randn(2, 5, 16)
    assert torch.equal(ours(x), theirs(x))


def test_the_libraries_read_the_storytellers_folder() -> None:
    """The sizes, the weights and the byte pairs, each as they are published for anybody."""
    transformers, tokenizers = pytest.importorskip("transformers"), pytest.importorskip("tokenizers")
    folder = data_file("storyteller/config.json").parent
    assert sum(path.stat().st_size for path in folder.iterdir()) < 4_000_000
    theirs, (ours, words) = transformers.LlamaForCausalLM.from_pretrained(folder).float(), lab.story_teller()
    tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    for story in lab.some_stories(5, new_names=True):
        ids = words.encode(story.text)
        assert tokenizer.encode(story.text).ids == ids.tolist()
        assert tokenizer.decode(ids.tolist()) == words.decode(ids) == story.text
        with torch.no_grad():
            assert (theirs(ids[None]).logits - ours(ids[None])).abs().max() < 1e-4


def test_any_text_has_ids() -> None:
    words = lab.story_teller()[1]
    text = "\u00dcberm\u00e4\u00dfig! \u2014 3 mice;\n\n  two"
    assert words.decode(words.encode(text)) == text
    assert words.decode(words.encode("\u2014")[:-1]) == "??"


def test_a_model_with_other_names_is_replaced_and_told(capsys: pytest.CaptureFixture[str]) -> None:
    class Other(ModernLanguageModel):
        def __init__(self, *sizes: int) -> None:
            super().__init__(*sizes)
            self.head, self.output = self.output, None  # type: ignore[assignment]

    model, _ = lab.story_teller(Other)
    assert type(model) is ModernLanguageModel
    assert "output.weight" in capsys.readouterr().out


def test_stories_are_written_with_the_cache_as_without() -> None:
    """Several beginnings of different lengths, side by side."""
    model, words = lab.story_teller()
    begun = lab.beginnings(3, seed=5)
    assert len({len(words.encode(text)) for text in begun}) > 1
    for text, told in zip(begun, lab.told(model, words, begun, temperature=0), strict=True):
        ids = storyteller.story_ids(words, text)[:-1]
        with torch.no_grad():
            while len(ids) < 60:
                ids = torch.cat([ids, model(ids[None])[0, -1:].argmax(-1)])
        assert told.startswith(words.decode(ids[1:]))


def test_what_is_kept_is_seen() -> None:
    for story in lab.some_stories(200):
        assert lab.kept(story.text) == dict.fromkeys(stories.ABOUT, True)
        *_, last = story.text.split("\n")
        name, animal = story.about["Name"], story.about["animal"]
        for what, old, new in (
            ("the name", f"{name} and the", "Nobody and the"),
            ("the animal", f"and the {animal} ", "and the elephant "),
        ):
            changed = story.text.replace(last, last.replace(old, new))
            assert [each for each, is_kept in lab.kept(changed).items() if not is_kept] == [what]
        assert not lab.kept(story.text.replace(story.about["called"], "whistled twice"))["the call"]
    assert not any(lab.kept("Once upon a time there was nothing.").values())


def test_counts_need_fewer_bits_the_more_they_see_and_never_fewer_than_the_draws() -> None:
    words = Words(lab.story_teller()[1].merges)
    told, learnt = lab.some_stories(20), lab.some_stories(60, seed=2)
    bits = [stories.counted_surprise(words, learnt, told, before) for before in (0, 1, 3)]
    assert bits[0] > bits[1] > bits[2] > stories.least_surprise(told)


def test_the_script_writes_what_the_lesson_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(telling, "LEARNT_FROM", 3)
    monkeypatch.setattr(telling, "MERGES", 30)
    monkeypatch.setattr(telling, "WIDTH", 16)
    words = telling.learnt()
    telling.publish(tmp_path / "storyteller", telling.trained(words, steps=2).model, words)
    monkeypatch.setattr(storyteller, "data_file", lambda name: tmp_path / name)
    model, read = lab.story_teller()
    assert read.merges == words.merges
    assert model.get_parameter("embedding.weight").shape == (words.size, 16)
