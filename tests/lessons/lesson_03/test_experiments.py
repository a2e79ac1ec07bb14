"""Lesson 3's data and models: the test sets are what they are called, and a recipe is what is built."""

import torch
from torch import nn

from course.attention import MultiHeadAttention, padding_mask
from course.blocks import FeedForward, LayerNorm, LearnedPositionalEmbedding
from course.classifier import TransformerClassifier
from course.tasks.difference import operands
from lessons.lesson_03 import experiments as lab

PARTS = lab.Parts(MultiHeadAttention, FeedForward, LearnedPositionalEmbedding, LayerNorm, padding_mask)
TOKENS = lab.prepared([("21-4", 1), ("4-321", 0), ("57-12", 1)])[0]


def test_no_test_text_is_learnt_from_in_either_training_set() -> None:
    for equal_lengths in (False, True):
        sets = lab.draw_sets(1, train=3000, test=200, equal_lengths=equal_lengths)
        learnt = {text for text, _ in sets.train}
        assert len(learnt) == 3000
        assert not learnt & {text for examples in sets.tests.values() for text, _ in examples}


def test_both_training_sets_share_their_tests_when_as_many_texts_are_drawn() -> None:
    plain, equal = (lab.draw_sets(1, train=3000, test=200, equal_lengths=flag) for flag in (False, True))
    assert plain.tests == equal.tests
    assert all(len(first) == len(second) for first, second in (operands(text) for text, _ in equal.train))


def test_each_test_takes_a_shortcut_away() -> None:
    tests = lab.draw_sets(0, train=3000, test=200).tests
    assert {len(examples) for examples in tests.values()} == {200}
    for name in ("equal lengths", "same first digit"):
        assert all(len(first) == len(second) for first, second in (operands(text) for text, _ in tests[name]))
    assert all(lab.same_start(text) for text, _ in tests["same first digit"])


def test_the_complete_recipe_is_the_lessons_classifier() -> None:
    ours = lab.Variant(PARTS, lab.Recipe())
    theirs = TransformerClassifier(**lab.SIZES)
    theirs.load_state_dict(ours.state_dict())
    assert torch.allclose(ours(TOKENS), theirs(TOKENS), atol=1e-6)


def test_each_variant_gives_logits_and_lacks_what_it_lacks() -> None:
    for name, recipe in (lab.VARIANTS | lab.SIX_LAYERS).items():
        model = lab.Variant(PARTS, recipe)
        assert model(TOKENS).shape == (3, 2), name
        kinds = [type(module) for module in model.modules()]
        assert (FeedForward in kinds) == recipe.feed_forward
        assert (LayerNorm in kinds) == (recipe.norm != "none")
        assert (LearnedPositionalEmbedding in kinds) == recipe.positions
        assert kinds.count(MultiHeadAttention) == recipe.num_layers


def test_post_norm_ends_in_a_norm_and_pre_norm_does_not() -> None:
    x, mask = torch.randn(2, 8, 32), torch.ones(1, 1, 1, 8, dtype=torch.bool)
    for norm, is_normed in (("post", True), ("pre", False)):
        out = lab.VariantBlock(PARTS, lab.Recipe(norm=norm))(x, mask)
        assert torch.allclose(out.mean(dim=-1), torch.zeros(2, 8), atol=1e-5) == is_normed


def test_focus_shares_sum_to_one() -> None:
    weights = torch.softmax(torch.randn(3, 2, 8, 8), dim=-1)
    table = lab.focus([weights], TOKENS)
    assert list(table.index) == ["L0 h0", "L0 h1"]
    assert torch.allclose(torch.tensor(table.sum(axis=1).to_numpy()), torch.ones(2, dtype=torch.float64))


def test_a_sound_mean_does_not_see_padding() -> None:
    block = lab.VariantBlock(PARTS, lab.Recipe())
    positions = LearnedPositionalEmbedding(12, 32)
    model = lab.MeanClassifier([block], positions, nn.Identity(), 32, lambda t: t != 0)
    short, long = (lab.padded_right([("21-4", 1)], length)[0] for length in (4, 12))
    assert torch.allclose(model(short), model(long), atol=1e-5)
