"""Label smoothing: the target isn't quite certain, and padding gets no share.

Source: Szegedy et al., "Rethinking the Inception Architecture for Computer Vision", CVPR 2016, section 7; Vaswani et
al., "Attention Is All You Need", NIPS 2017, section 5.4.
"""

import torch
from torch import nn


class LabelSmoothingLoss(nn.Module):
    """Cross-entropy against softened targets: 1 - smoothing for the right symbol, the
    rest shared by the others.

    Each other symbol gets smoothing / (vocab_size - 2): padding, `pad_id`, gets
    nothing, neither as one of the others nor as a target.
    `forward(logits, targets)`: logits are (batch, length, vocab_size) or
    (tokens, vocab_size), the targets are ids (batch, length) or (tokens,). Returns a
    tensor of shape (): the mean over all tokens that aren't padding, in nats. It is right
    for logits of any size.

    >>> loss = LabelSmoothingLoss(vocab_size=4, smoothing=0.2, pad_id=0)  # 0.8 and, twice, 0.1
    >>> loss(torch.tensor([[0.0, 0.8, 0.1, 0.1]]).log(), torch.tensor([1]))  # -0.8 log 0.8 - 0.2 log 0.1
    tensor(0.6390)

    Raises:
        ValueError: if every target is padding.
    """

    def __init__(self, vocab_size: int, smoothing: float, pad_id: int) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        self.smoothing = smoothing
        self.pad_id = pad_id
        self.share = smoothing / (vocab_size - 2)  # for each symbol except the target and padding
        ### END SOLUTION

    def forward(self, logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        ### BEGIN SOLUTION
        real = targets != self.pad_id
        if not real.any():
            raise ValueError("every target is padding: there is no token to average over")
        log_probabilities = torch.log_softmax(logits[real], dim=-1)  # (real tokens, vocab_size)
        of_target = log_probabilities.gather(-1, targets[real].unsqueeze(-1)).squeeze(-1)  # (real tokens,)
        columns = torch.arange(logits.shape[-1], device=logits.device)
        of_all = log_probabilities.masked_fill(columns == self.pad_id, 0.0).sum(dim=-1)  # all except padding
        return -((1 - self.smoothing) * of_target + self.share * (of_all - of_target)).mean()
        ### END SOLUTION
