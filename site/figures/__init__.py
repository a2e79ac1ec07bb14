"""The course's figures to touch, and where each stands in the lessons. Their scripts are in `_static/figures/`.

Each module has `numbers`, what the course's own functions compute for it, and `html`, what a page shows of them. The
scripts compute the same for what somebody sets, and the tests hold them to the course's functions.
"""

from cellcheck.publishing.figures import Figure
from figures import attention, beams, clocks, masks, sampling

FIGURES = (
    Figure("attention", "03_classification_transformer", "masked_softmax", attention.html, above=True),
    Figure("masks", "05_causal_masks", "causal_mask", masks.html, above=True),
    Figure("clocks", "06_positional_encodings", "shift_matrix", clocks.html),
    Figure("sampling", "07_autoregressive_sampling", "top_p_filter", sampling.html),
    Figure("beams", "07_autoregressive_sampling", "beam_search", beams.html),
)
