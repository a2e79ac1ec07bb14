"""The same mistakes in other people's words: written to try the matcher out, with nothing tuned on them."""

PARAPHRASES = [
    (
        "05",
        "causal_mask",
        "future_kept",
        "You have the mirror image of what you want: tokens can see what comes later.",
    ),
    ("05", "causal_mask", "own_position_hidden", "Row 0 of your matrix is all False. Shouldn't a token see itself?"),
    ("05", "causal_mask", "one_step_too_far", "Your triangle is off by one: token 2 can look at token 3."),
    ("05", "causal_mask", "floats", "Your entries are 0.0 and 1.0. Which dtype holds yes and no?"),
    ("05", "causal_mask", "lists", "What you return is a nested Python list. How do you make a tensor of it?"),
    ("05", "causal_mask", "everything_allowed", "The whole matrix is True. Nothing hides the future yet."),
    ("05", "decoder_mask", "padding_alone", "The padded columns are fine, but a token can still look ahead."),
    ("05", "decoder_mask", "causal_alone", "You take care of the future, but queries still attend to padding."),
    ("05", "decoder_mask", "either_is_enough", "You join both conditions with or. Must one hold, or both?"),
    ("05", "decoder_mask", "pad_id_is_zero", "Try pad_id=3: your code compares with the id 0 all the same."),
    ("05", "decoder_mask", "head_axis_missing", "Your result has three axes. The heads need one to broadcast over."),
    ("09", "softmax", "overflows", "What happens for an input of 1000? Its exp is infinity, and you get NaN."),
    ("09", "softmax", "axis_ignored", "Call it with axis=0: you sum along the last axis whatever the argument says."),
    ("09", "softmax", "not_divided", "You stop at exp. How do you get shares, so that they total 1?"),
    ("09", "softmax", "changed_in_place", "Print x before and after the call: the caller's array is modified by -=."),
    ("09", "softmax", "in_float64", "Give it float32 and you get float64 back."),
    ("07", "top_p_filter", "not_sorted", "Accumulate from the most likely token down, not in vocabulary order."),
    ("07", "top_p_filter", "no_softmax", "p is a probability, and what you add up are raw logits."),
    (
        "07",
        "top_p_filter",
        "p_as_a_threshold",
        "You compare each probability with p by itself. It's their running sum that counts.",
    ),
    ("07", "top_p_filter", "empty_for_tiny_p", "With p of zero you remove every token, so there is nothing to sample."),
    (
        "03",
        "masked_softmax",
        "mask_inverted",
        "True means that a key may be looked at, and those are the ones you hide.",
    ),
    (
        "03",
        "masked_softmax",
        "masked_after_softmax",
        "After zeroing, each row adds up to less than 1. Mask before softmax.",
    ),
    ("03", "masked_softmax", "axis_before_the_last", "Check the sums: columns give 1, and rows don't."),
    ("03", "masked_softmax", "mask_ignored", "Your output is the same with and without the mask. Where do you use it?"),
]
"""Lesson, exercise, mistake, and how somebody might put it."""
