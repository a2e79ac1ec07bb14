# ---
# title: Where a token stands
# topic: positional encodings
# group: Attention and the model
# picture: 64 positions
# sittings: [100, 100]
# builds_on: [01_pytorch_basics, 03_classification_transformer, 05_causal_masks]
# gives:
#   - show which questions a model without positions can answer, and prove why it fails at the others
#   - say when attention needs to be told about order, and when it doesn't
#   - build the sinusoidal encoding, read it as a clock, and shift every position with one matrix
#   - build rotary embeddings, in either of the two layouts that you will meet in other people's code
#   - compare learned, sinusoidal and rotary positions fairly, on the lengths they were trained on and beyond
#   - catch a model that loses its positions along the way
# ---

# %% [markdown]
# TITLE
#
# Attention takes a weighted average of values, and an average has no order. So how can a Transformer know which digit came first?
#
# ![The rows 4, 7, 9 and 9, 4, 7 both lead into one bag that holds 4, 7 and 9 in no particular order. Out of the bag come max: 9 and min: 4. First stays a question mark: the first digit is 4 in one row and 9 in the other.](picture:bag_of_digits)
#
# Without a mask, it can't, unless somebody tells it. In this lesson you tell it in two ways: first with waves that you add to the
# tokens, then by rotating queries and keys. Does a mask change anything? Keep that question in mind.
#
# GIVES
#
# SITTINGS
#
# **How to check.** Replace the line `raise NotImplementedError()` with your own code, and run the cell.
# Then run the `check` cell below it, as often as you like. It tells you what is right and what isn't.
# One exercise should not keep you from the rest of the lesson: below its last hint is a line that lets you go on with our version.
#
# **How to submit.** Save the notebook and hand it in the way your class does.
# Working on your own? The checks are all you need.

# %% [markdown]
# ## A two-minute test
#
# BUILDS_ON Try these three without running anything.
#
# **1.** What shape is the product of a `(5, 1)` tensor and a `(3,)` tensor?
#
# <details><summary>Answer</summary>
#
# `(5, 3)`: every one of the five is multiplied by every one of the three. You'll need this for positions times
# frequencies.
# See puzzle 1 of [lesson 1](../01_pytorch_basics/01_pytorch_basics.ipynb).
# </details>
#
# **2.** You shuffle the rows of `keys` and the rows of `values` in the same way. What happens to the output of an attention layer without a mask?
#
# <details><summary>Answer</summary>
#
# Nothing. Each query still finds the same values with the same weights, and a sum doesn't depend on the order of its
# terms.
# See `CrossAttention` in [lesson 4](../04_seq2seq_cross_attention/04_seq2seq_cross_attention.ipynb).
# </details>
#
# **3.** How many rows does the table of `LearnedPositionalEmbedding(max_length=10, d_model=8)` have? Which of them are trained if every row of data has 6 tokens?
#
# <details><summary>Answer</summary>
#
# Ten rows, and only the first six ever get a gradient. The other four stay as random as they started.
# See `LearnedPositionalEmbedding` in [lesson 3](../03_classification_transformer/03_classification_transformer.ipynb).
# </details>
#
# Two out of three? Go on. Fewer? Read the linked pages first, then come back.
#
# Run the next cell first: it loads the tools. `plots` draws, and `lab` runs the longer experiments.
# Both are part of the course, and you can read them in `transformer_course/plots` and `transformer_course/lessons/lesson_06/experiments.py`.

# %% setup=true
import copy
import math
from itertools import combinations

import numpy as np
import pandas as pd
import torch
import torch.nn.functional as F
from IPython.display import display
from torch import nn

from transformer_course import guesses, plots
from transformer_course.blocks import LearnedPositionalEmbedding
from transformer_course.lessons.tables import measured
from transformer_course.lessons.lesson_06 import experiments as lab
from transformer_course.lengths import TRAINED, lines_of
from transformer_course.tasks import addition, digit_operations, reversal

torch.set_num_threads(1)  # one thread: on a machine that others use too, two can be ten times slower

# %% [markdown]
# ## Part 1 · Who needs to be told about order?
#
# ### The data
#
# An operation and three digits go in; one digit comes out. `first 4 7 9` is 4, and `max 4 7 9` is 9.
# There are 5 operations and 1,000 triples, so 5,000 inputs in all. We train on 4,000 of them and test on the other 1,000.

# %%
data = digit_operations.digit_operations(seed=0)
examples = [(*example, digit_operations.answer(example)) for example in data.train[:6]]
display(pd.DataFrame(examples, columns=["operation", "digits", "answer"]))
print("inputs in both halves:", len(set(data.train) & set(data.test)))
baselines = digit_operations.baseline_accuracies(data.train, data.test)
pd.DataFrame(baselines).T.round(2)

# %% [markdown]
# Two baselines to beat. Always giving the most common answer does badly. Picking one of the three digits at random is
# right about 40% of the time: a third of the time by luck, and a little more because digits repeat.
#
# ### A model without positions
#
# `lab.Reader` is built from your blocks of lesson 3: an embedding, encoder blocks, a mean over all tokens, and a score for each digit.
# It has a slot for positions. We leave the slot empty: `nn.Identity` returns whatever it is given.
#
# **What share of the `second` questions will it get right?** Type a percentage, from 0 to 100, then run the cell.

# %%
guess_second = None  # a percentage, from 0 to 100

bag = lab.seeded(lambda: lab.Reader(nn.Identity()), seed=0)
without = lab.by_operation(bag, data, steps=400, name="no positions")
print(f"your guess: {guess_second}%, measured: {without['second']:.0%}")
at_random = sum(baselines["any of the three"].values()) / 5
plots.bars(
    without | {"one of the three, at random": at_random},
    title="A model without positions",
    x_label="accuracy, on about 200 test inputs each",
)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - Max and Min are right on more than 97% of the test inputs. <!-- claim: bag_finds_max_and_min -->
# - First, Second and Last are right on 24 to 42%: at best about as often as with one of the three digits picked at random, and often less. <!-- claim: bag_misses_first -->
# - Other orders of the same three digits are in the training half, with other answers: the most common of these is right on less than a fifth. <!-- claim: other_orders_mislead -->
#
# How can it do *worse* than chance? A bag can't tell those other orders from the one in the test. So what it remembers of
# them pulls it away from the right digit.
#
# Which digit is the largest doesn't depend on the order. Which digit is first depends on nothing else. This model gets a bag
# of digits, and a bag has no first one.
# </details>
#
# Would more training change anything? We shuffle the digits and look at the logits.

# %%
orders = [("first", (4, 7, 9)), ("first", (9, 4, 7)), ("first", (7, 9, 4))]
shuffled, _ = digit_operations.tensors(orders)
with torch.no_grad():
    bag_logits = bag.eval().cpu()(shuffled)  # (3, 10)
bag_moves = (bag_logits - bag_logits[0]).abs().max().item()
print(f"three orders of the same digits: the logits differ by at most {bag_moves:.1e}")

# %% [markdown]
# **What you should see**
#
# - All three orders give the same ten logits, up to rounding (the largest difference is below 0.0001). <!-- claim: orders_give_the_same_logits -->
#
# The three questions have three different answers, and the model can't give different answers to inputs that it can't tell apart.
# That is a proof, not a measurement: it holds for any weights, so more training won't help.
#
# ### The same model with a causal mask
#
# Now we change one thing. No positions, as before, but each token may attend only to itself and to the tokens before it.
# That is `causal_mask` from lesson 5, and `lab.CausalReader` has it built in.
#
# **How many of the five operations will it get right more than 90% of the time?** Type a number, then run the cell.

# %%
guess_causal = None  # a number from 0 to 5

causal = lab.seeded(lambda: lab.CausalReader(nn.Identity()), seed=0)
with torch.no_grad():
    untrained = causal.eval()(shuffled)  # (3, 10)
early = (untrained - untrained[0]).abs().max().item()
print(f"three orders, before training: the logits differ by up to {early:.2f}")
with_mask = lab.by_operation(causal, data, steps=800, name="causal mask, no positions")
learnt_causal = sum(share > 0.9 for share in with_mask.values())
print(f"your guess: {guess_causal}, measured: {learnt_causal}")
lab.accuracy_map({"no mask, no positions": without, "causal mask, no positions": with_mask})

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - With the mask on, every operation is right on more than 98% of the test inputs, with no positions at all. <!-- claim: a_causal_mask_shows_order -->
#
# </details>
#
# <details><summary>How can that be?</summary>
#
# Follow one token. The first one can attend only to itself, the second to two tokens, the third to three. So the 4 of `4 7 9` and the 4
# of `9 4 7` go through different averages and come out as different vectors. The mask has told the model something about order, although
# nobody added a position. You can see it in the cell above: the logits differ before the first training step.
#
# This is well known for language models. Haviv and others (2022) trained causal models without positional encodings that came close to
# those with them, and could read a token's position from the layers inside. They suspect that such a model counts how many
# tokens it can attend to. Kazemnejad and others (2023) proved that the layers of a causal model *can* compute positions and distances, and found
# that models without positions often did better on longer inputs than models with them.
# </details>
#
# So the rule is: **without a mask, attention can't see order unless somebody tells it.** The encoders of lessons 3 to 5 have no causal mask,
# and neither has our first reader. They need positions. What would you add?
#
# ### Three first ideas
#
# ![Positions 0 to 8 in three ways. The index 0, 1, 2 and so on up to a framed 8: it grows without limit. The normalised index of a row of 5 tokens, 0, .25, .5, .75, 1, above that of a row of 9 tokens: the framed .25 is position 1 in one and position 2 in the other, so the same number means different positions. Binary digits: from position 3 to 4 all three digits flip, 011 to 100.](picture:naive_ways)
#
# | idea | what is wrong with it |
# |---|---|
# | add the index itself | it grows without limit, and soon it drowns out the token |
# | divide the index by the last one | the same number means a different position in a longer row |
# | binary digits | some neighbours differ in one digit, others in all of them |
#
# Let's measure the last point. How far apart are the binary digits of each position and the next one?
# **Between 0 and 31, where is the longest step?** Type the position where it starts.

# %%
guess_step = None  # a position from 0 to 30

binary = lab.naive_encodings(32)["binary digits"]  # (32, 5)
binary_steps = (binary[1:] - binary[:-1]).norm(dim=1)  # (31,)
print("your guess:", guess_step, " measured:", int(binary_steps.argmax()))
lab.draw_steps({"binary digits": binary_steps})

# %% [markdown]
# <details><summary>Why there?</summary>
#
# 15 is 01111 and 16 is 10000, so all five digits flip at once. A uniform code would take equal steps.
# </details>
#
# Still, there is a good idea in binary digits. The last digit flips at every step, the one before it at every second step, the next at every
# fourth. A few fast switches and a few slow ones are enough to give every position its own name. What if the switches turned *smoothly*?
#
# ## Part 2 · Waves

# %% [markdown] exercise="sinusoidal_positional_encoding" kind="core" difficulty=3 minutes=20
# Imagine a clock with many hands. At position 0 they all point up. At every position, the first hand turns by one radian, about a sixth of a
# circle. The next hand is slower, and the last one hardly moves. Two positions look the same only if *all* the hands agree.
#
# ![Five rows of four clocks with one hand each: positions 0, 1, 2, 3 and 10. At position 0 all hands point up. The hand of pair 0 turns by 1 radian a step and points somewhere else in every row. Pair 1 turns by 0.1: at position 10 it points where pair 0 pointed at position 1. Pair 2 turns by 0.01 and pair 3 by 0.001: they hardly move.](picture:clock_hands)
#
# A network needs numbers. So for each hand we write down how far to the right its tip is, and how far up: a sine and a cosine.
#
# ![Two clocks for position 1 with d_model 4: pair 0 has turned by 1, pair 1 by 0.01. An arrow leads to the row of position 1: 0.84, 0.54, 0.01, 1.00, which are sin 1, cos 1, sin .01 and cos .01 in columns 0 to 3.](picture:one_row_of_waves)
#
# $$\text{encoding}[p, 2i] = \sin(p\,w_i) \qquad \text{encoding}[p, 2i+1] = \cos(p\,w_i) \qquad w_i = \text{base}^{-2i/d_{\text{model}}}$$
#
# In numbers, with `d_model` 4: $w_0 = 1$ and $w_1 = 10000^{-2/4} = 0.01$. Position 1 has the angles 1 and 0.01, so its row is
# 0.84, 0.54, 0.01, 1.00. The row of position 0 is always 0, 1, 0, 1.
#
# <details><summary>Hint 1</summary>
#
# Every position is multiplied by every frequency. Which two shapes give you a `(length, d_model / 2)` table of angles?
# </details>
# <details><summary>Hint 2</summary>
#
# `torch.arange(0, d_model, 2)` holds the numbers 2i. Make the angles first, then their sines and cosines, and let the two alternate as columns.
# </details>
# <details><summary>Hint 3</summary>
#
# `torch.stack([?, ?], dim=-1).flatten(1)` makes them alternate. Or fill `[:, 0::2]` and `[:, 1::2]` of a table of zeros.
# </details>
#
# Docs: [torch.arange](https://pytorch.org/docs/stable/generated/torch.arange.html) ·
# [torch.stack](https://pytorch.org/docs/stable/generated/torch.stack.html) ·
# [torch.flatten](https://pytorch.org/docs/stable/generated/torch.flatten.html).

# %% [markdown]
# **What you've built.** One of the best-known pictures in this field. Each row is a position and each column a wave: fast waves on the left,
# slow ones on the right.

# %%
waves = sinusoidal_positional_encoding(64, 32)  # (64, 32)
display(plots.heatmap(waves, title="64 positions", rows="position", columns="column"))
plots.curves(
    {f"column {column}": waves[:, column] for column in (0, 4, 8, 12)},
    title="Four of the columns",
    x_label="position",
    y_label="value",
)

# %% [markdown]
# Now the steps again, as we measured them for binary digits.

# %%
steps = (waves[1:] - waves[:-1]).norm(dim=1)  # (63,)
lengths = waves.norm(dim=1)  # (64,)
print(f"length of the rows: {lengths.min():.4f} to {lengths.max():.4f}; sqrt(32 / 2) is 4")
lab.draw_steps({"binary digits": binary_steps, "waves": steps[:31]})

# %% [markdown]
# And another question: does a position's row resemble its neighbours' rows more than
# distant ones? We take dot products of rows that are some distance apart, from three starting points.

# %%
alike = {
    f"from position {start}": waves[start : start + 40] @ waves[start]
    for start in (0, 10, 20)  # and 40 positions on from there
}
plots.curves(
    alike,
    title="How alike are two positions?",
    x_label="distance",
    y_label="dot product",
    legend=True,
)

# %% [markdown]
# **What you should see**
#
# - All steps are the same length, and so are all rows (to within 0.0001). <!-- claim: equal_steps -->
# - The three curves lie on top of each other: the dot product depends only on the distance (to within 0.0001). <!-- claim: dot_products_know_distance -->
# - The dot product is largest at distance 0 and falls over the first three steps. <!-- claim: neighbours_are_alike -->
#
# None of our three ideas has all of this: the plain index takes equal steps too, but its dot products don't know distances. A position is now a point on many circles at once, and every step turns each circle by the same angle.

# %% [markdown] exercise="shift_matrix" kind="core" difficulty=4 minutes=25
# Why two numbers for each hand? The sine alone says how far to the right the tip is. If it is halfway to the right, the hand may be on its way up
# or on its way down. **If you know only the sines, can you tell what comes one position later?**
#
# ![Two clocks. On the left the hand is drawn at p = 1 and, dashed, at p + 3 = 4. On the right it is drawn at p = 5 and at p + 3 = 8. The arc between the two hands is the same: a turn by 3w. As a matrix for one pair: cos, sin in the first row, minus sin, cos in the second, each of the angle 3w. p does not appear in it.](picture:shift_as_turn)
#
# With both numbers you can. To move on by k positions, every hand turns by k times its own speed, wherever it is. And a turn is a matrix:
#
# $$\begin{pmatrix} \sin((p+k)w) \\ \cos((p+k)w) \end{pmatrix} = \begin{pmatrix} \cos(kw) & \sin(kw) \\ -\sin(kw) & \cos(kw) \end{pmatrix} \begin{pmatrix} \sin(pw) \\ \cos(pw) \end{pmatrix}$$
#
# These are the angle addition formulas from school: $\sin(a + b) = \sin a \cos b + \cos a \sin b$, and $\cos(a + b) = \cos a \cos b - \sin a \sin b$.
# The position p doesn't appear in the matrix, so one matrix moves *every* position by k.
#
# For example: with k = 1 and w = 1 the matrix has the rows (0.54, 0.84) and (-0.84, 0.54). Position 0 has sine 0 and cosine 1. The first row
# gives 0.54 · 0 + 0.84 · 1 = 0.84, which is sin 1. The second gives 0.54, which is cos 1.
#
# For the whole encoding, put one such block per pair on the diagonal, and zeros everywhere else.
#
# <details><summary>Hint 1</summary>
#
# Which rows and columns of the big matrix belong to pair i? How many of its entries aren't zero?
# </details>
# <details><summary>Hint 2</summary>
#
# Compute the angles k·w, one per pair. Fill a `(d_model, d_model)` table of zeros: cosines on the diagonal, and sines next to it, with opposite
# signs on the two sides.
# </details>
# <details><summary>Hint 3</summary>
#
# If `even` holds the numbers 0, 2, 4 and so on, then `matrix[even, even + 1] = angles.sin()` fills one of the four entries of every block.
# </details>
#
# Docs: [torch.zeros](https://pytorch.org/docs/stable/generated/torch.zeros.html) ·
# [torch.block_diag](https://pytorch.org/docs/stable/generated/torch.block_diag.html) ·
# [indexing with tensors](https://pytorch.org/docs/stable/tensors.html).

# %% [markdown]
# **What you've built.** One matrix that moves every row of the encoding on by three.

# %%
by_three = shift_matrix(3, 32)
moved = waves[:-3] @ by_three.T  # (61, 32): each row p, moved on
shift_misses = (moved - waves[3:]).abs().max().item()
print(f"61 positions moved by one matrix: the largest error is {shift_misses:.1e}")
twice = (by_three @ by_three - shift_matrix(6, 32)).abs().max().item()
print(f"moving by 3 twice is moving by 6: error {twice:.1e}")
plots.heatmap(
    shift_matrix(3, 8),
    title="shift_matrix(3, 8)",
    rows="to column",
    columns="from column",
)

# %% [markdown]
# Back to the question above. We let least squares find the *best* matrix that moves a code by 3: once for sines with cosines, once for
# sines alone, once for binary digits. An error of 1 would mean that the matrix is useless.

# %%
candidates = {
    "sines and cosines": sinusoidal_positional_encoding(200, 64),
    "sines alone": sinusoidal_positional_encoding(200, 64)[:, 0::2],
    "binary digits": lab.naive_encodings(200)["binary digits"],
}
shift_errors = {name: lab.shift_error(code, 3) for name, code in candidates.items()}
plots.bars(shift_errors, title="The best matrix for 3 steps", x_label="relative error")

# %% [markdown]
# **What you should see**
#
# - With sines and cosines the error is nothing but rounding (below 0.00001). <!-- claim: a_shift_is_a_matrix -->
# - With sines alone the best matrix is still off by about 42%, and with binary digits by about 56%. <!-- claim: sines_alone_cannot_shift -->
#
# Why does this matter? The layers of a network multiply by matrices. So an attention head has a simple way to ask for "three places before
# me", with the same weights at every position.

# %% [markdown] exercise="SinusoidalPositionalEncoding" kind="core" difficulty=2 minutes=15
# Now the waves become part of a model. The table is made once, and its first rows are added to the tokens.
#
# ![Three tokens with the columns 7 8, 1 0 and 2 2, plus an encoding of five rows whose first three are framed, 0.0 1.0, 0.8 0.5 and 0.9 -0.4, give 7.0 9.0, 1.8 0.5 and 2.9 1.6. The two rows below are kept for longer inputs.](picture:added_to_tokens)
#
# $$\text{forward}(x)[b, p] = x[b, p] + \text{encoding}[p]$$
#
# For example: a token (1, 0) at position 1 becomes (1 + 0.84, 0 + 0.54) = (1.84, 0.54).
#
# The table is not a parameter, because there is nothing in it to learn. But it has to travel with the model, to a GPU or to another
# dtype. PyTorch has a word for that: a **buffer**.
#
# <details><summary>Hint 1</summary>
#
# What would happen to a plain attribute `self.encoding = ...` when the model moves to a GPU? What would an optimiser do to an `nn.Parameter`?
# </details>
# <details><summary>Hint 2</summary>
#
# Make the table in `__init__`, with your function, and register it. In `forward`, take as many of its rows as x has tokens.
# </details>
# <details><summary>Hint 3</summary>
#
# `self.register_buffer("encoding", ...)` creates `self.encoding`. Then `x + self.encoding[: ?]`, which broadcasts over the batch.
# </details>
#
# Docs: [register_buffer](https://pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.register_buffer).

# %% [markdown]
# **What you've built.** Positions for any model. Next to them we put the learned ones of lesson 3: how many numbers does each kind learn?

# %%
kinds = {
    "learned": lambda: LearnedPositionalEmbedding(max_length=4, d_model=64),
    "sinusoidal": lambda: SinusoidalPositionalEncoding(64, 4),
}
for name, positions in kinds.items():
    count = sum(p.numel() for p in lab.seeded(positions, seed=0).parameters())
    print(f"{name:10} parameters in its positions: {count}")

# %% [markdown]
# We put each kind into the reader's empty slot, and train.
# **How many operations will your waves get right more than 90% of the time?**

# %%
guess_waves = None  # a number from 0 to 5

with_positions = {"none": without}
for name, positions in kinds.items():
    reader = lab.seeded(lambda make=positions: lab.Reader(make()), seed=0)
    with_positions[name] = lab.by_operation(reader, data, steps=400, name=name)
found = sum(share > 0.9 for share in with_positions["sinusoidal"].values())
print(f"your guess: {guess_waves}, measured: {found}")
lab.accuracy_map(with_positions)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - With waves, all five operations are right on more than 95% of the test inputs, and with learned positions too. <!-- claim: positions_find_first -->
#
# </details>
#
# The waves have no parameters, and a trained table has 256. On this task we can't tell which is better.
#
# ### How large should positions be?
#
# Tokens and positions are *added*, so they compete. What if one of them is much larger than the other?
#
# PyTorch draws an embedding's numbers from a normal distribution with standard deviation 1, so a token of 64 numbers has a length of about 8.
# Our waves have the length $\sqrt{64 / 2} = 5.7$. The two are of similar size. The paper of 2017 multiplies its embeddings by
# $\sqrt{d_{\text{model}}}$ (section 3.4). In its authors' code the embeddings start out smaller by that factor, so the product has the usual size.
#
# We multiply the waves by a factor, and train for 300 steps each time. **Which factor gives the worst result on Max and Min?**

# %%
guess_scale = None  # 0.01, 0.1, 1, 10 or 100

factors = [0.01, 0.1, 1, 10, 100]
by_scale = lab.by_scale(kinds["sinusoidal"], factors, data)
worst = min(factors, key=lambda factor: by_scale[factor]["max, min"])
print("your guess:", guess_scale, " measured:", worst)
lab.draw_scales(by_scale)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - At a factor of 0.01, Max and Min are right on more than 95% on average, and First, Second and Last on less than half: the positions make little difference. <!-- claim: too_quiet -->
# - At a factor of 1, both averages are above 95%. <!-- claim: as_loud_as_tokens -->
# - At a factor of 100, both averages fall below 80%: now even questions that need no positions suffer. <!-- claim: too_loud -->
#
# </details>
#
# ## Time for a break
#
# You have told a model where its tokens are, and it finds out what comes first. After the break, positions move out of the tokens and into attention.
#
# Before you go, here is something to think about. "The word before this one" is the same question at position 5 and at position 500.
# Do the numbers 5 and 500 matter at all?

# %% [markdown]
# ## Part 3 · Rotating queries and keys

# %% [markdown] exercise="rotary_embedding" kind="core" difficulty=3 minutes=20
# Adding has a price: content and position share the same numbers. There is another way in. Attention compares queries with keys by dot products.
# What if we *rotate* each query and each key by an angle that says where it is, and leave everything else alone?
#
# This is the **rotary position embedding**, or **RoPE** (Su and others, 2021). The Llama models use it, for example (Touvron and others, 2023, section 2.2).
#
# ![A circle with the pair (1, 0) at four positions, with w = 1. Position 0: (1.00, 0.00). Position 1: (0.54, 0.84). Position 2: (-0.42, 0.91). Position 3: (-0.99, 0.14). The arrow turns on and keeps its length.](picture:pair_that_turns)
#
# Take the columns in pairs, 0 with 1 and 2 with 3, as before. Pair i of a vector at position p is rotated by the angle $p\,w_i$:
#
# $$x'_{2i} = x_{2i} \cos(p\,w_i) - x_{2i+1} \sin(p\,w_i) \qquad x'_{2i+1} = x_{2i} \sin(p\,w_i) + x_{2i+1} \cos(p\,w_i)$$
#
# For example: the pair (1, 0) at position 1 with w = 1 becomes (1 · 0.54 - 0 · 0.84, 1 · 0.84 + 0 · 0.54) = (0.54, 0.84).
# The frequencies are those of the waves, with the width of x in place of `d_model`.
#
# In shapes: x is `(..., length, d)`, often `(batch, heads, length, d_head)`. The angles are `(length, d / 2)` and broadcast over the other axes.
# Positions are whole numbers of any size. Negative ones rotate the other way.
#
# <details><summary>Hint 1</summary>
#
# Which part of your waves can you use again? And what replaces `torch.arange(length)`?
# </details>
# <details><summary>Hint 2</summary>
#
# Split x into `x[..., 0::2]` and `x[..., 1::2]`, both `(..., length, d / 2)`. Compute the two new parts from *both* old ones, then let them alternate.
# </details>
# <details><summary>Hint 3</summary>
#
# The angles are `positions.unsqueeze(-1)` times the frequencies, which have the dtype and device of x. At the end, `torch.stack([?, ?], dim=-1).flatten(-2)`.
# </details>
#
# Docs: [torch.stack](https://pytorch.org/docs/stable/generated/torch.stack.html) ·
# [torch.unsqueeze](https://pytorch.org/docs/stable/generated/torch.unsqueeze.html) ·
# [indexing](https://pytorch.org/docs/stable/tensors.html).

# %% [markdown]
# **What you've built.** A rotation that keeps every vector's length. Here is one vector at positions 0 to 23.

# %%
same = torch.tensor([[1.0, 0.0] * 8]).expand(24, 16)  # one vector, 24 times
plots.heatmap(
    rotary_embedding(same, torch.arange(24)),  # (24, 16)
    title="The same vector at positions 0 to 23",
    rows="position",
    columns="column",
)

# %% [markdown]
# You have built it before, too, under another name.
# **`rotary_embedding` at position 7 does the same to a vector as which `shift_matrix`?** Guess the offset.

# %%
guess_offset = None  # a whole number

torch.manual_seed(0)
vectors = torch.randn(1, 20, 32)  # 20 random vectors
turned = rotary_embedding(vectors, torch.full((20,), 7))  # all of them at position 7
shifted = {offset: vectors @ shift_matrix(offset, 32).T for offset in range(-9, 10)}
apart = {offset: (turned - other).abs().max().item() for offset, other in shifted.items()}
same_offset = min(apart, key=apart.get)
print(f"your guess: {guess_offset}, measured: {same_offset}")
print(f"the two differ by at most {apart[same_offset]:.1e}")
length_change = (turned.norm(dim=-1) - vectors.norm(dim=-1)).abs().max().item()
print(f"the vectors' lengths change by at most {length_change:.1e}")

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - The rotation at position 7 is the shift by -7 (to within 0.00001). <!-- claim: rotary_is_a_shift -->
# - No vector gets longer or shorter (by more than 0.00001). <!-- claim: turns_keep_lengths -->
#
# The two papers measure the angle in opposite directions, which explains the minus. It is the same rotation.
# </details>
#
# ### Two layouts of the same rotation
#
# Look for RoPE in other people's code and you'll find it written in two ways.
#
# ![Eight columns, each labelled with the pair it belongs to. Interleaved: a a b b c c d d, so columns 0 and 1 form pair a. Half-split: a b c d a b c d, so columns 0 and 4 form pair a.](picture:two_layouts)
#
# | layout | the pairs are columns | where you meet it |
# |---|---|---|
# | **interleaved** | 2i and 2i + 1 | the RoFormer paper, Meta's code for Llama, your function |
# | **half-split**, or concatenated | i and i + d / 2 | GPT-NeoX, Hugging Face's `transformers` (`rotate_half`) |
#
# Here are six words, and the weights of a model that was trained with the interleaved layout. They give these attention scores.

# %%
torch.manual_seed(0)
words = torch.randn(6, 16)  # six words
to_query, to_key = torch.randn(2, 16, 16) / 4  # the "trained" weights


def scores_with(rotary, to_query, to_key):
    """The attention scores of the six words, at positions 0 to 5."""
    here = torch.arange(6)
    return rotary(words @ to_query.T, here) @ rotary(words @ to_key.T, here).T


interleaved = scores_with(rotary_embedding, to_query, to_key)  # (6, 6)
plots.heatmap(interleaved, title="Scores, interleaved", rows="query", columns="key")

# %% [markdown]
# You load the same weights into code that uses the half-split layout. **What will the attention scores be?**
#
# 1. Right, just as they are.
# 2. Wrong, until you reorder the rows of the query and key weights.
# 3. Wrong, whatever you do to the weights.

# %%
guess_halves = None  # 1, 2 or 3

order = torch.cat([torch.arange(0, 16, 2), torch.arange(1, 16, 2)])  # even, then odd
as_loaded = scores_with(lab.rotary_halves, to_query, to_key)
reordered = scores_with(lab.rotary_halves, to_query[order], to_key[order])
loaded_off = (as_loaded - interleaved).abs().max().item()
reordered_off = (reordered - interleaved).abs().max().item()
halves_answer = 1 if loaded_off < 1e-3 else 2 if reordered_off < 1e-3 else 3
print("your guess:", guess_halves, " measured:", halves_answer)
print(f"as loaded, the scores are off by up to {loaded_off:.2f}")
print(f"with reordered rows, by up to {reordered_off:.1e}")

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - With reordered weights the scores are the same (to within 0.0001); without, some are off by more than 1. <!-- claim: rotary_layouts_are_permutations -->
#
# Put the even columns first and the odd ones second, and a pair (2i, 2i + 1) becomes a pair (i, i + d / 2). Queries and keys are reordered in the same
# way, and a dot product doesn't depend on the order of its terms. So the two layouts are the same **up to a permutation**.
# Scripts that convert weights between the two kinds of code do just this, within each head.
# </details>
#
# A mix of the two layouts raises no error. If you write or load RoPE, compare the scores with those of code that you trust.

# %% [markdown] exercise="relative_attention_scores" kind="core" difficulty=2 minutes=15
# Now for the reward. Two arrows are rotated, each by its own position. The angle *between* them changes only by the difference of the two.
#
# ![Two circles. On the left a query at position 0 and a key at position 3, with the angle 3w between them. On the right both are two positions further on, at 2 and 5: both have turned, and the angle between them is 3w again.](picture:same_distance_same_angle)
#
# $$\text{scores}[i, j] = \text{rotary}(q_i, p_i) \cdot \text{rotary}(k_j, p_j) \quad \text{depends only on } q_i,\ k_j \text{ and } p_i - p_j$$
#
# For example: query and key are both (1, 0), at positions 5 and 7. Rotated, they are (cos 5, sin 5) and (cos 7, sin 7). Their dot product is
# cos 5 cos 7 + sin 5 sin 7 = cos 2 = -0.42. At positions 105 and 107 it is cos 2 as well.
#
# Here we want plain dot products: no scaling, no softmax.
#
# <details><summary>Hint 1</summary>
#
# What gets rotated, and what is compared with what?
# </details>
# <details><summary>Hint 2</summary>
#
# Rotate both with your function, at the same positions. Then compare every query with every key, as in lesson 3.
# </details>
# <details><summary>Hint 3</summary>
#
# `?.transpose(-2, -1)` turns `(..., length, d)` into `(..., d, length)`, and `@` does the rest.
# </details>
#
# Docs: [torch.matmul](https://pytorch.org/docs/stable/generated/torch.matmul.html).

# %% [markdown]
# **What you've built.** Eight tokens with the same query and the same key, so that only their positions matter: first at 0 to 7, then at 100 to 107.

# %%
torch.manual_seed(0)
one_query, one_key = torch.randn(16).expand(8, 16), torch.randn(16).expand(8, 16)
near, far = torch.arange(8), torch.arange(100, 108)
here = relative_attention_scores(one_query, one_key, near)
there = relative_attention_scores(one_query, one_key, far)
scores_differ = (here - there).abs().max().item()
print(f"the two tables differ by at most {scores_differ:.1e}")
plots.heatmaps(
    {"positions 0 to 7": here, "positions 100 to 107": there},
    rows="query",
    columns="key",
)

# %% [markdown]
# **What you should see**
#
# - Moving everything by 100 leaves the scores as they were (to within 0.001). <!-- claim: scores_know_distance -->
#
# Follow a diagonal: it holds a single number. "Three before me" has one score, wherever "me" is. "Three after me" has another: the
# distance counts with its sign. And no table limits the length.
#
# ### A third way: ALiBi
#
# If distance is what matters, why not subtract it? **ALiBi**, attention with linear biases (Press, Smith and Lewis, 2022, section 3), has no positions
# in the tokens and no rotation. It takes the plain scores and subtracts a slope times the distance of query and key:
#
# $$\text{scores}[i, j] = q_i \cdot k_j - m_h\,|i - j|$$
#
# Each head h has its own fixed slope $m_h$. With 8 heads the slopes are 1/2, 1/4 and so on down to 1/256. For example: a score of 3 at distance 4 becomes
# 3 - 4/2 = 1 in the first head, and 3 - 4/256 = 2.98 in the last one.

# %%
biases = lab.alibi_bias(6, num_heads=8)  # (8, 6, 6)
plots.heatmaps(
    {"head 1, slope 1/2": biases[0], "head 3, slope 1/8": biases[2]},
    rows="query",
    columns="key",
)

# %% [markdown]
# So the first head sees little but its neighbours, and the last one sees far. The authors use ALiBi with a causal mask, where only the
# lower triangle counts, and report that language models with it do well on texts longer than those they were trained on.
# We won't train one here, but you can: it is in "Things to try".
#
# ### Which positions are best?
#
# Time for a fair comparison. The task is reversal, and the model is like lesson 5's, with two blocks on each side instead of one, and trained for 1,500 steps instead of 600: the mask in place, writing on its own.
# Only the positions differ: none, learned, sinusoidal, rotary. (We rotate in all three attentions, cross-attention included, although "three places apart" means
# little between an answer and its source. Language models rotate in self-attention only: they have no other.) All four train on rows of 1 to 10 letters, and are tested on rows of 4 to 14.
#
# The paper of 2017 hoped that sinusoids might let a model handle longer rows than it was trained on (section 3.5).
# **How many of the four get more than half of the rows with 14 letters right?**

# %%
guess_far = None  # a number from 0 to 4

by_kind = lines_of(measured("06_lengths"))
far_enough = sum(line[14] > 0.5 for line in by_kind.values())
print(f"your guess: {guess_far}, measured: {far_enough}")
so_far = {"lesson 4, no mask": lines_of(measured("04_lengths"))["no mask, on its own"]}
plots.by_length(
    so_far | by_kind,
    trained=TRAINED,
    x_label="letters",
    title="Reversal by position, writing on its own",
    legend=True,
)

# %% [markdown]
# This is the plot that grows from lesson 4 to lesson 7. We measured its lines beforehand, on two seeds. It shows
# their mean; the text below gives both (`make claims` measures them again, in a few minutes).
#
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - On the trained lengths (4 to 10 letters), learned and sinusoidal positions get every row right, and rotary ones 94 to 100%. Without positions it is 11% at best. <!-- claim: all_but_none_learn -->
# - One letter more, and learned positions get nothing right, sinusoidal ones 27 to 29%, rotary ones 71 to 88%. <!-- claim: one_letter_beyond -->
# - From 13 letters on, none of the four gets more than 3% right. <!-- claim: nobody_reaches_thirteen -->
#
# So in these runs the sinusoids don't extrapolate: at 12 letters they are as lost as learned positions. Rotary positions go a little
# further before they fail. It is tempting to say why: they know only distances, and a row of 11 letters has few distances that never
# came up in training. We haven't tested that. "Things to try" has a way to.
#
# Why does the model without positions fail, although its decoder has a causal mask? The letters are read by the *encoder*, which has none. To the
# encoder a row is a bag, and a bag can't be reversed.
# </details>
#
# Now your own module. This model is smaller and quicker to train: one block on each side, 600 steps.

# %%
letters = reversal.reversal_task(seed=0)
yours = lab.seeded(lambda: lab.writer(lambda: SinusoidalPositionalEncoding(64, 32)), seed=0)
lab.train_writer(yours, letters, steps=600, name="your waves")
your_line = lab.reversed_by_length(yours, letters)
plots.by_length(
    {"your waves": your_line, "no positions": by_kind["none"]},
    trained=TRAINED,
    x_label="letters",
    title="Your encoding, writing on its own",
    legend=True,
)

# %% [markdown]
# **What you should see**
#
# - With your waves, at least 90% of the rows with 5 letters are right, and none or almost none of those with 12. <!-- claim: your_waves -->
#
# The waves *have* a row for position 12, and you could draw it. But no training step ever showed the network what to do with it.
# A formula that goes on for ever doesn't make a network that does.
#
# ### The door to lesson 14
#
# Is it hopeless, then, to go beyond the trained lengths? Not if the positions say what *matters*.
#
# In a sum it doesn't matter whether a digit is the seventh token. What matters is whether it counts ones, tens or hundreds. So we
# rotate each query and each key by the **place** of its digit. And to write one digit of the answer, only nearby places matter, so we hide
# everything that is more than two places away.
#
# ![Three rows of digits under the places 0 to 3. First number 5, 4, 3, second number 8, 7, 6, answer 3, 2, 0, 1: 345 + 678 = 1023, all with the ones first. The answer's digit at place 2 is framed, and so are the digits at places 1 and 2 of both numbers: to write place 2, look at place 2 and at the places next to it.](picture:digits_by_place)
#
# The frames show what it needs of the two numbers. The window is a little wider: it reaches two places to either side.
#
# We train with your `rotary_embedding` on sums of *five*-digit numbers, and on nothing else. It takes about half a minute. **What is the largest
# width at which it still gets at least 90% of the sums right?**

# %%
guess_width = None  # 5, 6, 7, 8, 10, 20 or 50

learnt_sums = addition.draw_pairs(0, 20_000, 5, min_digits=5)
adder = lab.seeded(lambda: lab.place_adder(rotary_embedding, window=2), seed=0)
lab.train_adder(adder, learnt_sums, steps=1500)
your_sums = lab.sums_by_width(adder, learnt_sums)
widest = max((width for width, share in your_sums.items() if share >= 0.9), default=None)
print(f"your guess: {guess_width}, measured: {widest}")
lab.draw_widths({"yours": your_sums} | lines_of(measured("06_by_place")))

# %%
print(lab.one_long_sum(adder, width=50))

# %% [markdown]
# The other lines were measured beforehand, on two seeds.
#
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - By place and with the window, 99 to 100% of the sums are right up to 20 digits, and 98 to 99.5% at 50. <!-- claim: fifty_digits -->
# - That isn't because the sums are easy: where a carry runs across three places or more, 98.5 to 100% are right. <!-- claim: long_carries_too -->
# - Without the window, or with the usual positions, every sum of 5 digits is right too, but none from 7 digits on. <!-- claim: the_window_matters -->
#
# This is neither a miracle nor general intelligence. We *told* the model that digits of the same place belong together,
# and that distant places don't matter. Knowledge that you build in by hand is called an **inductive bias**. This one
# suits sums. For reversal, where the first letter depends on the last, a window of two hides the answer. Lesson 14 asks
# how much of the bias you can leave out.
# </details>

# %% [markdown]
# ## The bug clinic
#
# A colleague compares learned and sinusoidal positions. The code is short. Read it: is anything wrong?


# %%
class ColleaguesReader(lab.Reader):
    """The reader, with sinusoidal positions."""

    def forward(self, tokens):
        x = self.embedding(tokens)
        encoded = self.positions(x)
        for block in self.blocks:
            x = block(x)
        return self.head(self.final_norm(x).mean(dim=1))


# %% [markdown]
# It trains without an error, and the loss falls. Your colleague reports: "Sinusoidal positions are clearly worse than learned ones."
# **What does this model score on First?**
#
# 1. Above 90%.
# 2. Between 50 and 90%.
# 3. Below 50%.

# %%
guess_bug = None  # 1, 2 or 3

sick = lab.seeded(lambda: ColleaguesReader(SinusoidalPositionalEncoding(64, 4)), seed=0)
sick_shares = lab.by_operation(sick, data, steps=400, name="the colleague's")
bug_answer = 1 if sick_shares["first"] > 0.9 else 2 if sick_shares["first"] >= 0.5 else 3
print("your guess:", guess_bug, " measured:", bug_answer)
lab.accuracy_map(with_positions | {"the colleague's": sick_shares})

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - The colleague's model gets less than 45% of First, Second and Last right, and more than 97% of Max and Min, just like the bag. <!-- claim: lost_positions_look_like_none -->
#
# These are the symptoms of a model without positions. Look at `encoded`: it is computed and never used. There is no error, the loss looks
# reasonable, and the report draws the wrong conclusion.
# </details>

# %% [markdown] exercise="sees_order" kind="core" difficulty=3 minutes=20
# Write the test that would have caught it. It is given a model and some rows of tokens. Does their order matter to this model?
#
# ![The row F, 4, 7, 9 goes through a model to logits. Below it, two of its tokens have changed places: F, 9, 7, 4 goes through the same model. Are the logits equal? If they always are, the model can't see order.](picture:swapped_tokens)
#
# | model | answer |
# |---|---|
# | a bag that counts tokens | False: no reordering changes a logit |
# | your reader with waves | True |
# | the reader with a causal mask | True, even without positions |
# | the colleague's reader | False |
# | a model that only knows which token is *last* | True: some reorderings change its logits |
#
# Rounding changes logits a little, so a difference has to be larger than that to count. And a model with dropout answers differently every time, whatever the order.
# Turn dropout off while you look, and leave the model as you found it.
#
# <details><summary>Hint 1</summary>
#
# Would a single swap be enough for the last model in the table? And what if the two tokens you swap are equal?
# </details>
# <details><summary>Hint 2</summary>
#
# Try swapping every pair of places. One swap that changes something is enough to answer True. Reorder the tokens within each row, never across rows.
# </details>
# <details><summary>Hint 3</summary>
#
# You can do what you like to `copy.deepcopy(model).eval()`. `combinations(range(length), 2)` gives the pairs, `tokens[:, order]` reorders,
# and `torch.allclose(..., rtol=1e-4, atol=1e-5)` allows for rounding.
# </details>
#
# Docs: [torch.allclose](https://pytorch.org/docs/stable/generated/torch.allclose.html) ·
# [itertools.combinations](https://docs.python.org/3/library/itertools.html#itertools.combinations) ·
# [torch.randperm](https://pytorch.org/docs/stable/generated/torch.randperm.html).

# %% [markdown]
# **What you've built.** A test that finds lost positions. Here are six patients, none of them trained: the test doesn't need training.
# **Which of the six can't see order?** Make up your mind, then run the cell.

# %%
patients = {
    "no positions": lambda: lab.Reader(nn.Identity()),
    "no positions, causal mask": lambda: lab.CausalReader(nn.Identity()),
    "learned": lambda: lab.Reader(kinds["learned"]()),
    "your waves": lambda: lab.Reader(kinds["sinusoidal"]()),
    "your rotation": lambda: lab.rotary_reader(rotary_embedding),
    "the colleague's": lambda: ColleaguesReader(kinds["sinusoidal"]()),
}
some_rows, _ = digit_operations.tensors(data.test[:8])  # (8, 4)
models = {name: lab.seeded(build, seed=0) for name, build in patients.items()}
verdicts = ["yes" if sees_order(model, some_rows) else "no" for model in models.values()]
pd.DataFrame({"sees order?": verdicts}, index=list(models))

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - Two of the six can't see order: the reader without positions, and the colleague's. <!-- claim: who_sees_order -->
#
# </details>
#
# Run a test like this before you train, not after. It takes less than a second.
#
# The cure is one word: the line must say `x = self.positions(x)`.

# %% [markdown]
# ## Explain it
#
# A friend built a model that says whether a sentence is a question. It has no mask, and positions were forgotten, yet it gets 93% of the test sentences right.
# "So positions aren't needed," says the friend.
#
# Answer in four or five sentences, in your own words. How can a model without positions do that well, which sentences is it bound to
# confuse, and which test would you run?

# %% [markdown] explain=true
# Without positions and without a mask, the model sees which words are in a sentence, but not in which order. A word such as "who" or "why", or a question mark,
# gives most questions away, so a bag of words goes a long way. But "you are right" and "are you right" are the same bag. The model has to give both the same answer,
# so it gets one of them wrong, however long it trains. I would run sees_order on it, which should say False, and build a test set
# of such pairs, with the same words and different labels. There it can't be right on more than half.

# %% [markdown]
# ## How good were your guesses?
#
# Here are your guesses next to what happened. A wrong guess is worth more than none: it shows you where to look.

# %%
board = [
    ("Second without positions or mask, in %", guess_second, round(100 * without["second"]), 6),
    ("operations learnt with a causal mask", guess_causal, learnt_causal),
    ("start of the longest binary step", guess_step, int(binary_steps.argmax()), 0),
    ("operations learnt with waves", guess_waves, found),
    ("worst factor for Max and Min", guess_scale, worst),
    ("the shift that equals the rotation at 7", guess_offset, same_offset),
    ("scores with the other layout of RoPE", guess_halves, halves_answer),
    ("kinds of positions that reach 14 letters", guess_far, far_enough),
    ("widest sums with 90% right", guess_width, widest),
    ("the colleague's score on First", guess_bug, bug_answer),
]
guesses.board(board)

# %% [markdown]
# ## Recap
#
# Answer from memory, then check.
#
# **1.** When does attention need positions to see order, and when doesn't it?
#
# <details><summary>Answer</summary>
#
# Without a mask it needs them: shuffle the tokens, and all it can do is shuffle its outputs. With a causal mask it can do without, because each
# token attends to a different number of tokens before it.
# </details>
#
# **2.** Why does each hand of the clock need two numbers?
#
# <details><summary>Answer</summary>
#
# A sine alone doesn't say whether the hand is on its way up or down, so it doesn't tell you what comes next. With sine and cosine, one
# matrix moves every position on by k.
# </details>
#
# **3.** What does a rotary embedding rotate, what does it leave alone, and what follows for the scores?
#
# <details><summary>Answer</summary>
#
# It rotates queries and keys by their positions, and leaves the values and the tokens alone. So a score depends on the
# query, the key and the distance between them.
# </details>
#
# **4.** The waves have a row for every position. Why does the model still fail beyond the trained lengths?
#
# <details><summary>Answer</summary>
#
# The row exists, but no training step has shown the network what to do with it.
# </details>
#
# ## Things to try
#
# - Give `sinusoidal_positional_encoding` a base of 10, then of a million. For which base do two of 64 positions become almost the same?
# - Train `lab.CausalReader` with a single layer (`num_layers=1`), or for 400 steps. Which operation suffers most?
# - Add `lab.alibi_bias` to the scores of `lab.Reader`'s attention. Can it tell First from Last? Distances are the same in both directions.
# - Is it the unseen distances that stop rotary positions at 12 letters? Train with positions that are ten sorted random numbers from 0 to 20, so that larger distances do come up.
# - Rotate the values too, in `RotaryAttention`. Does `sees_order` change its mind? Does training suffer?
# - Train the adder by place with a window of 1, or of 4. How many digits does it reach?
# - Use the adder by place on numbers with their *largest* digit first. What breaks, and why?
#
# ## Glossary
#
# | word | meaning |
# |---|---|
# | ALiBi | attention with linear biases: scores minus a slope times the distance |
# | base | the number, usually 10000, that spreads the frequencies from fast to slow |
# | buffer | a tensor that belongs to a module and moves with it, but isn't learnt |
# | extrapolate | to be right beyond what was seen in training |
# | frequency | how many radians a hand turns per position |
# | half-split, interleaved | the two layouts of RoPE: pairs (i, i + d / 2), or pairs (2i, 2i + 1) |
# | inductive bias | knowledge about the task that is built into a model by hand |
# | learned positions | a table with a trained vector for each position |
# | pair | two columns that belong to one hand of the clock |
# | radian | a unit for angles; a full turn is 2π of them, about 6.28 |
# | rotary embedding, RoPE | rotating queries and keys by their positions |
# | sinusoidal encoding | sines and cosines of many frequencies, added to the tokens |
# | window | how far away a key may be and still be seen |
#
# ## Papers
#
# - Vaswani and others, [Attention Is All You Need](https://arxiv.org/abs/1706.03762), NeurIPS 2017: section 3.5, the waves, and the sentence about fixed offsets that `shift_matrix` makes true; section 3.4, the factor $\sqrt{d_{\text{model}}}$.
# - Gehring and others, [Convolutional Sequence to Sequence Learning](https://arxiv.org/abs/1705.03122), ICML 2017: section 3.1, learned positions.
# - Shaw, Uszkoreit, Vaswani, [Self-Attention with Relative Position Representations](https://arxiv.org/abs/1803.02155), NAACL 2018: section 3, distances instead of positions.
# - Su and others, [RoFormer](https://arxiv.org/abs/2104.09864), 2021: section 3.2, rotary embeddings; section 3.4.3, the long-term decay.
# - Press, Smith, Lewis, [Train Short, Test Long](https://arxiv.org/abs/2108.12409), ICLR 2022: section 2, sinusoids, rotary and others beyond the trained length, on text; section 3, ALiBi.
# - Haviv, Ram, Press, Izsak, Levy, [Transformer Language Models without Positional Encodings Still Learn Positional Information](https://arxiv.org/abs/2203.16634), Findings of EMNLP 2022: causal language models that are never told about positions, and what can be read out of their layers.
# - Kazemnejad and others, [The Impact of Positional Encoding on Length Generalization in Transformers](https://arxiv.org/abs/2305.19466), NeurIPS 2023: sections 4 and 5, positions and no positions on small tasks like ours, and the proof that causal layers can work positions out.
# - Touvron and others, [LLaMA](https://arxiv.org/abs/2302.13971), 2023: section 2.2, a language model with rotary embeddings.
#
# In lesson 7 the model writes, and you decide how.
