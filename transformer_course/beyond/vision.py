"""The encoder looks at pictures: each patch is a token."""

import torch
from torch import nn

from transformer_course.blocks import EncoderBlock, LayerNorm, LearnedPositionalEmbedding


def patchify(images: torch.Tensor, patch_size: int) -> torch.Tensor:
    """Cut images into square patches, and lay the numbers of each patch in a row.

    `images` is (batch, channels, height, width). Returns (batch, patches, channels *
    patch_size ** 2). The patches come row by row, from the top left; the numbers of a
    patch come channel by channel, each channel row by row. A height or width that
    `patch_size` doesn't divide raises a ValueError that says so.

    >>> image = torch.arange(16).reshape(1, 1, 4, 4)
    >>> patchify(image, patch_size=2)[0].tolist()
    [[0, 1, 4, 5], [2, 3, 6, 7], [8, 9, 12, 13], [10, 11, 14, 15]]

    Source: Dosovitskiy et al., "An Image is Worth 16x16 Words", ICLR 2021, section 3.1.
    """
    ### BEGIN SOLUTION
    batch, channels, height, width = images.shape
    if height % patch_size or width % patch_size:
        raise ValueError(f"patches of {patch_size} don't fit into images of {height} by {width}")
    rows, columns = height // patch_size, width // patch_size
    cut = images.reshape(batch, channels, rows, patch_size, columns, patch_size)
    cut = cut.permute(0, 2, 4, 1, 3, 5)  # (batch, rows, columns, channels, patch_size, patch_size)
    return cut.reshape(batch, rows * columns, channels * patch_size**2)
    ### END SOLUTION


class VisionTransformer(nn.Module):
    """Images in, one score for each class out.

    `patchify` cuts the image into tokens, and a Linear layer turns each into d_model
    numbers. Then come learned positions, `num_layers` encoder blocks, a final norm, and
    a Linear layer that reads the mean of all patches (or a CLS token of your own).
    Images are square: `image_size` is their height and width. Use the `EncoderBlock` of
    lesson 3; name the parts as you like.
    `forward(images)`: (batch, channels, image_size, image_size) -> logits (batch,
    num_classes).

    >>> model = VisionTransformer(
    ...     image_size=8, patch_size=2, channels=1, d_model=16, num_heads=2, d_ff=32, num_layers=1, num_classes=10
    ... )
    >>> model(torch.randn(5, 1, 8, 8)).shape
    torch.Size([5, 10])

    Source: Dosovitskiy et al., "An Image is Worth 16x16 Words", ICLR 2021, section 3.1.
    """

    def __init__(
        self,
        image_size: int,
        patch_size: int,
        channels: int,
        d_model: int,
        num_heads: int,
        d_ff: int,
        num_layers: int,
        num_classes: int,
    ) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        self.patch_size = patch_size
        self.embedding = nn.Linear(channels * patch_size**2, d_model)
        self.positions = LearnedPositionalEmbedding((image_size // patch_size) ** 2, d_model)
        self.blocks = nn.ModuleList(EncoderBlock(d_model, num_heads, d_ff) for _ in range(num_layers))
        self.final_norm = LayerNorm(d_model)
        self.head = nn.Linear(d_model, num_classes)
        ### END SOLUTION

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        ### BEGIN SOLUTION
        x = self.embedding(patchify(images, self.patch_size))  # (batch, patches, d_model)
        x = self.positions(x)
        for block in self.blocks:
            x = block(x)
        logits: torch.Tensor = self.head(self.final_norm(x).mean(dim=1))  # (batch, num_classes)
        return logits
        ### END SOLUTION
