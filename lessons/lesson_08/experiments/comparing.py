"""The same weights in PyTorch's own layers."""

from torch import nn

from course.paper.built_in import BuiltInTransformer
from course.paper.model import Transformer
from course.paper.recipes import Recipe


def built_in(model: nn.Module, recipe: Recipe, src_vocab_size: int, tgt_vocab_size: int) -> BuiltInTransformer:
    """`torch.nn.Transformer` with the weights of `model`, a Transformer of these sizes; in evaluation mode.

    Only names of weights are asked of `model`, so that whatever its class calls its other parts, it can be compared.
    """
    ours = recipe.build(src_vocab_size, tgt_vocab_size, build=Transformer)
    assert isinstance(ours, Transformer)
    ours.load_state_dict(model.state_dict())
    return BuiltInTransformer(ours).to(next(model.parameters()).device).eval()
