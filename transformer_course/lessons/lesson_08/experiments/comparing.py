"""The learner's model beside the paper's, and beside PyTorch's own.

An answer may name its parts in its own way, and may lack the options: where that stands in the way of a comparison, the
course's Transformer takes its place.
"""

from collections.abc import Callable
from dataclasses import replace

from torch import nn

from transformer_course.paper.built_in import BuiltInTransformer
from transformer_course.paper.model import Transformer
from transformer_course.paper.recipes import BASE, Recipe

SUBWORDS = 37_000
"""The size of the paper's vocabulary (section 5.1)."""


def base_model(build: Callable[..., nn.Module] = Transformer, *, share_embeddings: bool) -> nn.Module:
    """The paper's base model, with one matrix for both embeddings and the output layer, or with three."""
    recipe = replace(BASE, share_embeddings=share_embeddings)
    try:
        return recipe.build(SUBWORDS, SUBWORDS, build=build)
    except TypeError:
        if not share_embeddings:
            raise
        print("Your Transformer has no option share_embeddings, so the course's is counted instead.")
        return recipe.build(SUBWORDS, SUBWORDS)  # this class has no such option


def side_by_side(
    model: nn.Module, recipe: Recipe, src_vocab_size: int, tgt_vocab_size: int
) -> tuple[nn.Module, BuiltInTransformer]:
    """A Transformer of these sizes and `torch.nn.Transformer` with its weights, both in evaluation mode.

    The first is `model`, if its weights have the names of the docstrings.
    """
    ours = recipe.build(src_vocab_size, tgt_vocab_size, build=Transformer)
    assert isinstance(ours, Transformer)
    try:
        ours.load_state_dict(model.state_dict())
    except RuntimeError:
        print("Your model's parts have names of their own, so the course's model is compared instead.")
        model = ours
    device = next(model.parameters()).device
    return model.eval(), BuiltInTransformer(ours).to(device).eval()
