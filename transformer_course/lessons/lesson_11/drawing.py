"""Drawing the weights of a DecoderOnlyBlock, by dotted name. The name of a module may be empty."""

import numpy as np
import torch

from transformer_course.lessons import drawing


def classic_weights(
    generator: np.random.Generator, name: str, d_model: int, d_ff: int, dtype: torch.dtype = torch.float32
) -> dict[str, torch.Tensor]:
    """Weights of a DecoderOnlyBlock."""
    dot = f"{name}." if name else ""
    return {
        **drawing.attention(generator, f"{dot}attention", d_model, dtype),
        **drawing.feed_forward(generator, f"{dot}feed_forward", d_model, d_ff, dtype),
        **drawing.norm(generator, f"{dot}norm1", d_model, dtype),
        **drawing.norm(generator, f"{dot}norm2", d_model, dtype),
    }
