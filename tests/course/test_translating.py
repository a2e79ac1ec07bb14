"""Sub-words go there and back, and the scores are those of sacrebleu."""

import builtins
from collections.abc import Callable
from typing import Any

import pytest

from transformer_course.scoring import NoSacrebleu, sentence_chrf, translation_score
from transformer_course.subwords import LibrarySubwords, MergedSubwords, NoTokenizers, Subwords, as_examples

SENTENCES = ["Ein Mann schläft in einem grünen Raum.", "A man sleeps in a green room.", "Two men run.", "Ein Hund."]


def library() -> Subwords:
    pytest.importorskip("tokenizers")
    return LibrarySubwords.learn(SENTENCES, vocab_size=290)


def merged() -> Subwords:
    return MergedSubwords.learn(SENTENCES, merges=30)


@pytest.mark.parametrize("learn", [library, merged])
def test_every_text_comes_back(learn: Callable[[], Subwords]) -> None:
    subwords = learn()
    for text in [*SENTENCES, "größer: naïve façade, 東京!", "x"]:
        ids = subwords.encode(text)
        assert all(2 < one < subwords.size for one in ids)
        assert subwords.decode([1, *ids, 2, 7, 0]) == text
        assert len(subwords.pieces(ids)) == len(ids)
    assert "".join(subwords.pieces(subwords.encode("A man"))).strip() == "A man"
    half = subwords.encode("ß")[:-1]  # a model may write half a character
    assert isinstance(subwords.decode(half), str)
    assert len(subwords.encode(SENTENCES[1])) < 20  # merged, not spelt out


def test_examples_have_start_and_end_and_long_ones_are_left_out() -> None:
    subwords = MergedSubwords(())
    ((source, target),) = as_examples(subwords, [("ab", "c"), ("far too long", "c")], max_length=6)
    assert subwords.decode(source) == "ab"
    assert (target[0], subwords.decode(target), target[-1]) == (1, "c", 2)


def test_scores_come_with_their_signatures() -> None:
    sacrebleu = pytest.importorskip("sacrebleu")
    sentences, wanted = ["Ein Mann schläft .", "Zwei Männer"], ["Ein Mann schläft.", "Zwei Männer rennen."]
    score = translation_score(sentences, wanted)
    assert score.bleu == sacrebleu.corpus_bleu(sentences, [wanted]).score
    assert score.chrf == sacrebleu.corpus_chrf(sentences, [wanted]).score
    assert "tok:13a" in score.bleu_signature
    assert f"version:{sacrebleu.__version__}" in score.chrf_signature
    assert score.bleu_signature in str(score)
    assert translation_score(wanted, wanted).bleu == pytest.approx(100)
    assert sentence_chrf("Zwei", "Zwei") == pytest.approx(100)


def test_without_the_libraries_it_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name in ("tokenizers", "sacrebleu"):
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(NoTokenizers, match="pip install tokenizers"):
        LibrarySubwords.learn(SENTENCES, 300)
    with pytest.raises(NoSacrebleu, match="pip install sacrebleu"):
        translation_score([], [])
