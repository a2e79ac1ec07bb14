"""Lesson 3's data and models: the test sets are what they are called, and a recipe is what is built."""

import torch

from transformer_course.attention import MultiHeadAttention, padding_mask
from transformer_course.blocks import FeedForward, LayerNorm, LearnedPositionalEmbedding
from transformer_course.classifier import TransformerClassifier
from transformer_course.lessons.lesson_03 import experiments as lab
from transformer_course.tasks.difference import operands

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
