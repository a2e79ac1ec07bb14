# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#       format_version: '1.3'
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Lesson 6 · Where a token stands
#
# COLAB_BADGE
#
# Attention mixes values, and a mixture has no order. So how can a Transformer know which digit came first?
#
# ![The rows 4, 7, 9 and 9, 4, 7 lead into one bag that holds 4, 7 and 9 in any order. Out of the bag come max: 9 and min: 4. First stays a question mark: the first digit is 4 in one row and 9 in the other.](picture:bag_of_digits)
#
# It can't, unless somebody tells it. Today you tell it in two ways: with waves that are added to the tokens, and with a turn of
# queries and keys. And you find out what no position gives you, whatever you may read elsewhere.
#
# **What you will be able to do**
#
# - show which questions a model without positions can answer, and prove why it fails at the others
# - build the sinusoidal encoding, read it as a clock, and shift all positions with one matrix
# - build rotary embeddings, and attention scores that know distances only
# - compare learned, sinusoidal and rotary positions fairly, inside and beyond the lengths of the training
# - catch a model whose positions get lost on the way
#
# **Time.** Two sittings, about 80 and 80 minutes. The place for the break is marked.
#
# **How to check.** Replace the line `raise NotImplementedError()` by your own code, and run the cell.
# Then run the `check` cell below it. It says what is right and what is not, as often as you ask.
#
# **How to submit.** Save the notebook and hand it in the way your class does.
# Nobody to hand it in to? The checks are all you need.

# %% [markdown]
# ## A two-minute test
#
# This lesson builds on [lesson 1](../01_pytorch_basics/01_pytorch_basics.ipynb),
# [lesson 3](../03_classification_transformer/03_classification_transformer.ipynb) and
# [lesson 5](../05_causal_masks/05_causal_masks.ipynb). Try these three without running anything.
#
# **1.** Which shape has a `(5, 1)` tensor times a `(3,)` tensor?
#
# <details><summary>Answer</summary>
#
# `(5, 3)`: each of the five meets each of the three. You will need this for positions times frequencies.
# To read up: puzzle 1 of [lesson 1](../01_pytorch_basics/01_pytorch_basics.ipynb).
# </details>
#
# **2.** You shuffle the rows of `keys` and `values` in the same way. What happens to the output of an attention layer without a mask?
#
# <details><summary>Answer</summary>
#
# Nothing. Each query still finds the same values with the same weights, and a sum does not care about order.
# To read up: `CrossAttention` in [lesson 4](../04_seq2seq_cross_attention/04_seq2seq_cross_attention.ipynb).
# </details>
#
# **3.** How many rows has the table of a `LearnedPositionalEmbedding(max_length=10, d_model=8)`, and which of them are trained by rows of 6 tokens?
#
# <details><summary>Answer</summary>
#
# Ten rows, and only the first six of them get a gradient. The others stay as random as they began.
# To read up: `LearnedPositionalEmbedding` in [lesson 3](../03_classification_transformer/03_classification_transformer.ipynb).
# </details>
#
# Two of three? Go on. Fewer? Read the linked pages first, and come back.
#
# The next cell brings the tools. Run it first. `plots` draws, and `lab` runs the longer experiments.
# Both belong to the course and can be read, in `course/plots` and `lessons/lesson_06/experiments.py`.

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

from course import plots
from course.blocks import LearnedPositionalEmbedding
from lessons.tables import measured
from lessons.lesson_06 import experiments as lab
from course.lengths import TRAINED, lines_of
from course.tasks import addition, digit_operations, reversal

torch.set_num_threads(1)  # one thread: on a machine that others use too, two can be ten times slower

# %% [markdown]
# ## Part 1 · Why order must be told
#
# ### The data
#
# An operation and three digits go in, one digit comes out. `first 4 7 9` is 4, and `max 4 7 9` is 9.
# There are 5 operations and 1,000 triples, so 5,000 inputs in all. We learn from 4,000 and test on the other 1,000.

# %%
data = digit_operations.digit_operations(seed=0)
display(
    pd.DataFrame(
        [(operation, *digits, digit_operations.answer((operation, digits))) for operation, digits in data.train[:6]],
        columns=["operation", "", "", "", "answer"],
    )
)
print("inputs in both halves:", len(set(data.train) & set(data.test)))
baselines = digit_operations.baseline_accuracies(data.train, data.test)
pd.DataFrame(baselines).T.round(2)

# %% [markdown]
# Two rules to beat. Saying the commonest answer is poor. Naming any of the three digits blindly is right in about 40 %:
# a third, and some more because digits repeat.
#
# ### A model without positions
#
# `lab.Reader` is built of your blocks from lesson 3: embedding, encoder blocks, a mean over all tokens, a score for each digit.
# It has a place for positions. We leave it empty: `nn.Identity` gives back what it gets.
#
# **How many of the five operations will it learn to more than 90 %?** Type a number, then run.

# %%
guess_learnt = None  # a number from 0 to 5

bag = lab.seeded(lambda: lab.Reader(nn.Identity()), seed=0)
without = lab.by_operation(bag, data, steps=400, name="no positions")
learnt = sum(share > 0.9 for share in without.values())
print(f"your guess: {guess_learnt}, it is: {learnt}")
plots.bars(
    without | {"any of the three, blindly": sum(baselines["any of the three"].values()) / 5},
    title="A model without positions",
    x_label="right on about 200 test inputs each",
)

# %% [markdown]
# **What you should see**
#
# - Max and Min come out right on more than 97 % of the test inputs. <!-- claim: bag_finds_max_and_min -->
# - First, Second and Last stay below 45 % each. <!-- claim: bag_misses_first -->
#
# Which digit is the largest does not depend on the order. Which one is first depends on nothing else. Without positions all the model
# gets is the bag, and from a bag nobody can tell.
#
# This is no matter of training. Here is the proof: we shuffle the digits, and look at what the logits do.

# %%
tokens, _ = digit_operations.tensors([("first", (4, 7, 9)), ("first", (9, 4, 7)), ("first", (7, 9, 4))])
with torch.no_grad():
    bag_logits = bag.eval().cpu()(tokens)  # (3, 10)
bag_moves = (bag_logits - bag_logits[0]).abs().max().item()
print(f"three orders of one bag: the logits differ by {bag_moves:.1e} at most")

# %% [markdown]
# **What you should see**
#
# - The three orders give the same ten logits, to within 0.0001. <!-- claim: orders_give_the_same_logits -->
#
# So each row needs something that says where it stands. What would you add?
#
# ### Three first ideas
#
# ![Positions 0 to 8 in three ways. The index 0, 1, 2 and so on up to a framed 8: it grows without end. The normalised index of a row of 5 tokens, 0, .25, .5, .75, 1, above that of a row of 9 tokens: the framed .25 stands at position 1 in one and at position 2 in the other, the same number for another position. Binary digits: from position 3 to 4 all three digits flip, 011 to 100.](picture:naive_ways)
#
# | idea | what is wrong with it |
# |---|---|
# | add the index itself | it grows without end, and soon it drowns the token |
# | divide it by the last index | the same number means another position in a longer row |
# | binary digits | neighbours differ by one digit here, by all digits there |
#
# Let us measure the last point. How far apart are the binary digits of each position and the next?
# **Between 0 and 31, where is the longest step?** Type the position from which it starts.

# %%
guess_step = None  # a position from 0 to 30

binary = lab.naive_encodings(32)["binary digits"]  # (32, 5)
binary_steps = (binary[1:] - binary[:-1]).norm(dim=1)  # (31,)
print("your guess:", guess_step, " it is:", int(binary_steps.argmax()))
plots.curves(
    {"binary digits": binary_steps},
    title="From each position to the next",
    x_label="position",
    y_label="distance",
    y_limits=(0, 2.5),
)

# %% [markdown]
# From 15 to 16 all five digits flip: 01111 becomes 10000. A smooth code would take equal steps.
#
# Yet binary digits have a good idea inside. The last digit flips at each step, the one before at each second, then at each fourth.
# Fast and slow switches together name every position. What if the switches turned *smoothly*?
#
# ## Part 2 · Waves
#
# ### Exercise: `sinusoidal_positional_encoding` · core · difficulty 3 · 20 minutes
#
# Think of a clock with many hands. All point up at position 0. With each position the first hand turns by one radian, about a sixth of the
# circle. The next one is slower, the last one hardly moves. Two positions look alike only when *all* hands agree.
#
# ![Five rows of four clocks with one hand each: positions 0, 1, 2, 3 and 10. At position 0 all hands point up. The hand of pair 0 turns by 1 radian a step and stands somewhere else in every row. Pair 1 turns by 0.1: at position 10 it stands where pair 0 stood at position 1. Pair 2 turns by 0.01, pair 3 by 0.001: they hardly move.](picture:clock_hands)
#
# A network wants numbers. So we write down for each hand how far right its tip is, and how far up: a sine and a cosine.
#
# ![Two clocks for position 1 with d_model 4: pair 0 is turned by 1, pair 1 by 0.01. An arrow leads to the row of position 1: 0.84, 0.54, 0.01, 1.00, which are sin 1, cos 1, sin .01 and cos .01 in columns 0 to 3.](picture:one_row_of_waves)
#
# $$\text{encoding}[p, 2i] = \sin(p\,w_i) \qquad \text{encoding}[p, 2i+1] = \cos(p\,w_i) \qquad w_i = \text{base}^{-2i/d_{\text{model}}}$$
#
# In numbers, with `d_model` 4: $w_0 = 1$ and $w_1 = 10000^{-2/4} = 0.01$. Position 1 has the angles 1 and 0.01, and so the row
# 0.84, 0.54, 0.01, 1.00. Position 0 always has the row 0, 1, 0, 1.
#
# <details><summary>Hint 1</summary>
#
# Every position meets every frequency. Which shapes give a `(length, d_model / 2)` table of angles?
# </details>
# <details><summary>Hint 2</summary>
#
# `torch.arange(0, d_model, 2)` holds the numbers 2i. Make the angles first, then sines and cosines, and let the two take turns as columns.
# </details>
# <details><summary>Hint 3</summary>
#
# `torch.stack([?, ?], dim=-1).flatten(1)` makes them take turns. Filling `[:, 0::2]` and `[:, 1::2]` of a table of zeros
# does it too.
# </details>
#
# Docs: [torch.arange](https://pytorch.org/docs/stable/generated/torch.arange.html) ·
# [torch.stack](https://pytorch.org/docs/stable/generated/torch.stack.html) ·
# [torch.flatten](https://pytorch.org/docs/stable/generated/torch.flatten.html).

# %% exercise="sinusoidal_positional_encoding"

# %% [markdown]
# **What you made.** The most famous picture of this field. Each row is a position, each column a wave: fast ones on the left, slow
# ones on the right.

# %%
waves = sinusoidal_positional_encoding(64, 32)  # (64, 32)
display(plots.heatmap(waves, title="64 positions, 32 columns", rows="position", columns="column"))
plots.curves(
    {f"column {column}": waves[:, column] for column in (0, 4, 8, 12)},
    title="Four of the columns",
    x_label="position",
    y_label="value",
)

# %% [markdown]
# Now the steps again, as for the binary digits. And one more question: is a position's row closer to its neighbours' rows than to far ones?
# We take the dot product of the rows of two positions, a distance apart, from three starting points.

# %%
steps = (waves[1:] - waves[:-1]).norm(dim=1)  # (63,)
lengths = waves.norm(dim=1)  # (64,)
alike = {f"from position {start}": waves[start : start + 40] @ waves[start] for start in (0, 10, 20)}
display(
    plots.curves(
        {"binary digits": binary_steps, "waves": steps[:31]},
        title="From each position to the next",
        x_label="position",
        y_label="distance",
        y_limits=(0, 2.5),
    )
)
print(f"length of the rows: {lengths.min():.4f} to {lengths.max():.4f}; the square root of 32 / 2 is 4")
plots.curves(alike, title="How alike are two positions?", x_label="distance", y_label="dot product")

# %% [markdown]
# **What you should see**
#
# - All steps are equally long, to within 0.0001, and so are all rows. <!-- claim: equal_steps -->
# - The three curves are one: the dot product depends on the distance alone, to within 0.0001. <!-- claim: dot_products_know_distance -->
# - It is largest at distance 0, and falls at each of the first three steps. <!-- claim: neighbours_are_alike -->
#
# None of our three ideas could do that. A position is now a place on a circle, many circles at once, and every step is the same turn.
#
# ### Exercise: `shift_matrix` · core · difficulty 4 · 25 minutes
#
# Why two numbers for each hand? The sine alone says how far right the tip is. Half to the right, and it may be going up or
# coming down. **Knowing only sines, can you say what comes one position later?**
#
# ![Two clocks. On the left the hand stands at p = 1 and, dashed, at p + 3 = 4. On the right it stands at p = 5 and at p + 3 = 8. The arc between the two hands is the same: a turn by 3w. As a matrix for one pair: cos, sin in the first row, minus sin, cos in the second, each of the angle 3w. p does not occur in it.](picture:shift_as_turn)
#
# With both numbers you can. To go on by k positions, every hand turns by k times its own speed, wherever it stands. And a turn is a matrix:
#
# $$\begin{pmatrix} \sin((p+k)w) \\ \cos((p+k)w) \end{pmatrix} = \begin{pmatrix} \cos(kw) & \sin(kw) \\ -\sin(kw) & \cos(kw) \end{pmatrix} \begin{pmatrix} \sin(pw) \\ \cos(pw) \end{pmatrix}$$
#
# These are the addition theorems from school: $\sin(a + b) = \sin a \cos b + \cos a \sin b$, and $\cos(a + b) = \cos a \cos b - \sin a \sin b$.
# The position p does not occur in the matrix. So one matrix moves *all* positions by k.
#
# In numbers: with k = 1 and w = 1 the matrix is 0.54, 0.84 above -0.84, 0.54. Position 0 has sine 0 and cosine 1. The first row
# gives 0.54 · 0 + 0.84 · 1 = 0.84, which is sin 1. The second gives 0.54, which is cos 1.
#
# For the whole encoding put one such block for each pair on the diagonal, and zeros elsewhere.
#
# <details><summary>Hint 1</summary>
#
# Which rows and columns of the big matrix belong to pair i? How many numbers of it are not 0?
# </details>
# <details><summary>Hint 2</summary>
#
# Make the angles k·w, one a pair. Fill a `(d_model, d_model)` table of zeros: cosines on the diagonal, and sines beside it with two
# different signs.
# </details>
# <details><summary>Hint 3</summary>
#
# If `even` holds the numbers 0, 2, 4 and so on, then `matrix[even, even + 1] = angles.sin()` fills one of the four places of every block.
# </details>
#
# Docs: [torch.zeros](https://pytorch.org/docs/stable/generated/torch.zeros.html) ·
# [torch.block_diag](https://pytorch.org/docs/stable/generated/torch.block_diag.html) ·
# [indexing with tensors](https://pytorch.org/docs/stable/tensors.html).

# %% exercise="shift_matrix"

# %% [markdown]
# **What you made.** A time machine for positions. One matrix, and every row of the encoding moves by three.

# %%
by_three = shift_matrix(3, 32)
moved = waves[:-3] @ by_three.T  # (61, 32): each row p, moved
shift_misses = (moved - waves[3:]).abs().max().item()
print(f"61 positions moved by one matrix: the largest error is {shift_misses:.1e}")
twice = (by_three @ by_three - shift_matrix(6, 32)).abs().max().item()
print(f"moved by 3, and again by 3, it is moved by 6: error {twice:.1e}")
plots.heatmap(shift_matrix(3, 8), title="shift_matrix(3, 8)", rows="to column", columns="from column")

# %% [markdown]
# Now to the question above. We let least squares search for the *best* matrix that moves a code by 3: for sines with cosines, for
# sines alone, and for binary digits. An error of 1 would be no use at all.

# %%
candidates = {
    "sines and cosines": sinusoidal_positional_encoding(200, 64),
    "sines alone": sinusoidal_positional_encoding(200, 64)[:, 0::2],
    "binary digits": lab.naive_encodings(200)["binary digits"],
}
shift_errors = {name: lab.shift_error(code, 3) for name, code in candidates.items()}
plots.bars(shift_errors, title="The best matrix that moves by 3", x_label="relative error")

# %% [markdown]
# **What you should see**
#
# - Sines with cosines can be moved with an error below 0.00001. <!-- claim: a_shift_is_a_matrix -->
# - For sines alone, and for binary digits, the best matrix is off by more than 30 %. <!-- claim: sines_alone_cannot_shift -->
#
# Why does it matter? A layer of a network multiplies by matrices. So "three places before me" is a question that one
# attention head can ask, at every position with the same weights.
#
# ### Exercise: `SinusoidalPositionalEncoding` · core · difficulty 2 · 15 minutes
#
# Now the waves become part of a model. The table is made once, and its first rows are added to the tokens.
#
# ![Three tokens with the columns 7 8, 1 0 and 2 2, plus an encoding of five rows of which the first three are framed, 0.0 1.0, 0.8 0.5 and 0.9 -0.4, is 7.0 9.0, 1.8 0.5 and 2.9 1.6. The two rows below are kept for longer rows.](picture:added_to_tokens)
#
# $$\text{forward}(x)[b, p] = x[b, p] + \text{encoding}[p]$$
#
# In numbers: a token (1, 0) at position 1 becomes (1 + 0.84, 0 + 0.54) = (1.84, 0.54).
#
# The table is no parameter: nothing in it is to be learnt. But it must travel with the model, to a GPU or to another
# dtype. PyTorch has a word for that: a **buffer**.
#
# <details><summary>Hint 1</summary>
#
# What would happen to a plain attribute `self.encoding = ...` when the model moves to a GPU? What would an optimiser do to an `nn.Parameter`?
# </details>
# <details><summary>Hint 2</summary>
#
# Make the table with your function in `__init__`, and register it. In `forward`, take as many of its rows as x has tokens.
# </details>
# <details><summary>Hint 3</summary>
#
# `self.register_buffer("encoding", ...)` makes `self.encoding`. Then `x + self.encoding[: ?]`, which broadcasts over the batch.
# </details>
#
# Docs: [register_buffer](https://pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.register_buffer).

# %% exercise="SinusoidalPositionalEncoding"

# %% [markdown]
# **What you made.** Positions for any model. We put them into the empty place of the reader, and the learned ones of lesson 3 into another.
# **How many operations will your waves get above 90 %?**

# %%
guess_waves = None  # a number from 0 to 5

kinds = {
    "learned": lambda: LearnedPositionalEmbedding(max_length=4, d_model=64),
    "sinusoidal": lambda: SinusoidalPositionalEncoding(d_model=64, max_length=4),
}
readers = {name: lab.seeded(lambda make=make: lab.Reader(make()), seed=0) for name, make in kinds.items()}
with_positions = {"none": without}
for name, reader in readers.items():
    with_positions[name] = lab.by_operation(reader, data, steps=400, name=name)
for name, reader in readers.items():
    print(f"{name:10} parameters of its positions: {sum(p.numel() for p in reader.positions.parameters())}")
found = sum(share > 0.9 for share in with_positions["sinusoidal"].values())
print(f"your guess: {guess_waves}, it is: {found}")
plots.heatmap(
    [list(shares.values()) for shares in with_positions.values()],
    list(with_positions),
    list(digit_operations.OPERATIONS),
    title="Test accuracy",
    low=0,
    high=1,
)

# %% [markdown]
# **What you should see**
#
# - With waves all five operations are right on more than 95 % of the test inputs, and with learned positions too. <!-- claim: positions_find_first -->
#
# The waves have no parameter, and do as well as a table that was trained. On this task neither is better.
#
# ### How loud should positions be?
#
# Tokens and positions are *added*, so they compete. What if one of them shouts?
#
# PyTorch starts an embedding with numbers of size 1, so a token of 64 numbers has length 8 or so. Our waves have length $\sqrt{64 / 2} = 5.7$.
# The two are about equally loud. The paper of 2017 multiplies its embeddings by $\sqrt{d_{\text{model}}}$. In its authors'
# code they begin that much smaller, and would drown in the waves otherwise.
#
# We multiply the waves by a factor, and train 300 steps each. **Which factor gets the worst result on Max and Min?**

# %%
guess_scale = None  # 0.01, 0.1, 1, 10 or 100

factors = [0.01, 0.1, 1, 10, 100]
by_scale = lab.by_scale(kinds["sinusoidal"], factors, data)
worst = min(factors, key=lambda factor: by_scale[factor]["max, min"])
print("your guess:", guess_scale, " it is:", worst)
plots.curves(
    {name: [by_scale[factor][name] for factor in factors] for name in by_scale[1]},
    x_names=[str(factor) for factor in factors],
    title="Waves, quieter and louder",
    x_label="factor",
    y_label="accuracy",
    y_limits=(0, 1.05),
)

# %% [markdown]
# **What you should see**
#
# - At a factor of 0.01 Max and Min are above 95 %, and First, Second, Last below 50 %: the positions are not heard. <!-- claim: too_quiet -->
# - At a factor of 1 all are above 95 %. <!-- claim: as_loud_as_tokens -->
# - At a factor of 100 both fall below 80 %: now the tokens are not heard. <!-- claim: too_loud -->
#
# ### Two layouts, one encoding
#
# Some programs write all sines first and then all cosines. Yours takes turns. **Is that another encoding?**
#
# 1. Yes, it knows other things.
# 2. No, its columns stand in another order.
# 3. It depends on the length.

# %%
guess_layout = None  # 1, 2 or 3

order = torch.cat([torch.arange(0, 32, 2), torch.arange(1, 32, 2)])  # even columns first, then odd ones
other_layout = lab.concatenated(waves)
torch.manual_seed(0)
layer, same_layer = nn.Linear(32, 5), nn.Linear(32, 5)
with torch.no_grad():
    same_layer.weight.copy_(layer.weight[:, order])  # the same weights, their columns in the other order
    same_layer.bias.copy_(layer.bias)
    layouts_differ = (layer(waves) - same_layer(other_layout)).abs().max().item()
print("the same columns in another order:", torch.equal(waves[:, order], other_layout))
print("your guess:", guess_layout, f" it is: 2. After a layer with its weights in that order: {layouts_differ:.1e}")

# %% [markdown]
# **What you should see**
#
# - A linear layer whose weights are in the other order gives the same output for the other layout, to within 0.00001. <!-- claim: layouts_are_permutations -->
#
# A network that is trained from scratch does not care. But weights that were trained with one layout are useless with the other.
# When you load somebody's model and it speaks nonsense, look here.
#
# ## Time for a break
#
# You have told a model where its tokens stand, and it finds what comes first. After the break the positions move: out of the tokens, into attention.
#
# Before you go, one thing to carry around. "The word before this one" is the same question at position 5 and at position 500.
# Do the numbers 5 and 500 matter at all?

# %% [markdown]
# ## Part 3 · Turning queries and keys
#
# ### Exercise: `rotary_embedding` · core · difficulty 3 · 20 minutes
#
# Adding has a price: content and position share the same numbers. There is another way in. Attention compares queries with keys by dot products.
# What if we *turn* each query and each key by an angle that says where it stands, and leave everything else alone?
#
# This is the **rotary** embedding. Many language models of today use it.
#
# ![A circle with the pair (1, 0) at four positions, with w = 1. Position 0: (1.00, 0.00). Position 1: (0.54, 0.84). Position 2: (-0.42, 0.91). Position 3: (-0.99, 0.14). The arrow turns on and keeps its length.](picture:pair_that_turns)
#
# Take the columns in pairs, 0 with 1, 2 with 3, as before. Pair i of a vector at position p is turned by the angle $p\,w_i$:
#
# $$x'_{2i} = x_{2i} \cos(p\,w_i) - x_{2i+1} \sin(p\,w_i) \qquad x'_{2i+1} = x_{2i} \sin(p\,w_i) + x_{2i+1} \cos(p\,w_i)$$
#
# In numbers: the pair (1, 0) at position 1 with w = 1 becomes (1 · 0.54 - 0 · 0.84, 1 · 0.84 + 0 · 0.54) = (0.54, 0.84).
# The frequencies are those of the waves, with the width of x in the place of `d_model`.
#
# In shapes: x is `(..., length, d)`, often `(batch, heads, length, d_head)`. The angles are `(length, d / 2)` and broadcast over the rest.
#
# <details><summary>Hint 1</summary>
#
# Which part of your waves can you use again? And what comes in the place of `torch.arange(length)`?
# </details>
# <details><summary>Hint 2</summary>
#
# Split x into `x[..., 0::2]` and `x[..., 1::2]`, both `(..., length, d / 2)`. Compute the two new halves from *both* old ones, then let them take turns.
# </details>
# <details><summary>Hint 3</summary>
#
# The angles are `positions.unsqueeze(-1)` times the frequencies, which have the dtype and the device of x. At the end `torch.stack([?, ?], dim=-1).flatten(-2)`.
# </details>
#
# Docs: [torch.stack](https://pytorch.org/docs/stable/generated/torch.stack.html) ·
# [torch.unsqueeze](https://pytorch.org/docs/stable/generated/torch.unsqueeze.html) ·
# [indexing](https://pytorch.org/docs/stable/tensors.html).

# %% exercise="rotary_embedding"

# %% [markdown]
# **What you made.** A turn that keeps every length. And an old friend: you have built this turn before.
# **`rotary_embedding` at position 7 does the same to a vector as which `shift_matrix`?** Guess the offset.

# %%
guess_offset = None  # a whole number

torch.manual_seed(0)
vectors = torch.randn(1, 20, 32)  # 20 random vectors
turned = rotary_embedding(vectors, torch.full((20,), 7))  # all of them at position 7
apart = {offset: (turned - vectors @ shift_matrix(offset, 32).T).abs().max().item() for offset in range(-9, 10)}
same_offset = min(apart, key=apart.get)
print(f"your guess: {guess_offset}, it is: {same_offset}, with an error of {apart[same_offset]:.1e}")
length_change = (turned.norm(dim=-1) - vectors.norm(dim=-1)).abs().max().item()
print(f"the vectors' lengths change by {length_change:.1e} at most")
plots.heatmap(
    rotary_embedding(torch.tensor([[1.0, 0.0] * 8]).expand(24, 16), torch.arange(24)),
    title="The same vector at positions 0 to 23",
    rows="position",
    columns="column",
)

# %% [markdown]
# **What you should see**
#
# - A turn at position 7 is the shift by -7, to within 0.00001. <!-- claim: rotary_is_a_shift -->
# - No vector becomes longer or shorter by more than 0.00001. <!-- claim: turns_keep_lengths -->
#
# The two papers count the angle in opposite directions, hence the minus. It is the same rotation.
#
# ### Exercise: `relative_attention_scores` · core · difficulty 2 · 15 minutes
#
# Now the reward. Two arrows are turned, each by its own position. The angle *between* them changes by the difference only.
#
# ![Two circles. On the left a query at position 0 and a key at position 3, with the angle 3w between them. On the right both stand two positions further, at 2 and 5: both have turned, and the angle between them is 3w again.](picture:same_distance_same_angle)
#
# $$\text{scores}[i, j] = \text{rotary}(q_i, p_i) \cdot \text{rotary}(k_j, p_j) \quad \text{depends on } q_i,\ k_j \text{ and } p_i - p_j \text{ alone}$$
#
# In numbers: query and key are both (1, 0), at positions 5 and 7. After the turns they are (cos 5, sin 5) and (cos 7, sin 7). Their dot product is
# cos 5 cos 7 + sin 5 sin 7 = cos 2 = -0.42. At positions 105 and 107 it is cos 2 as well.
#
# Here we want plain dot products: no scaling, no softmax.
#
# <details><summary>Hint 1</summary>
#
# What is turned, and what is compared with what?
# </details>
# <details><summary>Hint 2</summary>
#
# Turn both with your function, at the same positions. Then every query meets every key, as in lesson 3.
# </details>
# <details><summary>Hint 3</summary>
#
# `?.transpose(-2, -1)` turns `(..., length, d)` into `(..., d, length)`, and `@` does the rest.
# </details>
#
# Docs: [torch.matmul](https://pytorch.org/docs/stable/generated/torch.matmul.html).

# %% exercise="relative_attention_scores"

# %% [markdown]
# **What you made.** Eight tokens with the same query and the same key, so that only positions speak. Once at 0 to 7, once at 100 to 107.

# %%
torch.manual_seed(0)
one_query, one_key = torch.randn(16).expand(8, 16), torch.randn(16).expand(8, 16)
near, far = torch.arange(8), torch.arange(100, 108)
scores = {
    "positions 0 to 7": relative_attention_scores(one_query, one_key, near),
    "positions 100 to 107": relative_attention_scores(one_query, one_key, far),
}
scores_differ = (scores["positions 0 to 7"] - scores["positions 100 to 107"]).abs().max().item()
print(f"the two tables differ by {scores_differ:.1e} at most")
plots.heatmaps(scores, rows="query", columns="key")

# %% [markdown]
# **What you should see**
#
# - Moved by 100, the scores stay the same, to within 0.001. <!-- claim: scores_know_distance -->
#
# Follow a diagonal: it holds one number. "Three before me" has one score, wherever "me" is. And no table limits the length.
#
# ### Which position is best?
#
# Time for a fair comparison. The task is reversal, with the model of lesson 5: two blocks on each side, the mask in place, writing on its own.
# Only the positions change: none, learned, sinusoidal, rotary. All are trained on rows of 1 to 10 letters, and tested on rows of 4 to 14.
#
# You may have read that sinusoids extrapolate to longer rows. **How many of the four get more than half of the rows with 14 letters right?**

# %%
guess_far = None  # a number from 0 to 4

by_kind = lines_of(measured("06_lengths"))
far_enough = sum(line[14] > 0.5 for line in by_kind.values())
print(f"your guess: {guess_far}, it is: {far_enough}")
so_far = {"lesson 4, no mask": lines_of(measured("04_lengths"))["no mask, on its own"]}
plots.by_length(so_far | by_kind, trained=TRAINED, x_label="letters", title="Reversal by position, writing on its own")

# %% [markdown]
# This is the plot that grows from lesson 4 to lesson 7. Its lines were measured beforehand, on two seeds, by `make claims`; it shows the mean.
# Training them takes some minutes.
#
# **What you should see**
#
# - Inside the trained lengths learned and sinusoidal positions get more than 95 % right, rotary more than 90 %. Without positions it is below 20 %. <!-- claim: all_but_none_learn -->
# - One letter beyond, learned positions fall below 5 % and sinusoidal ones below 50 %; rotary keeps more than half. <!-- claim: one_letter_beyond -->
# - From 13 letters on none of the four gets 10 % right. <!-- claim: nobody_reaches_thirteen -->
#
# So "sinusoids extrapolate" is not true here: at 12 letters they are as lost as learned positions. Rotary goes a step further before it falls. It knows distances only, and a row of
# 11 letters has few that were never seen. It pays for that: on short rows it is a little behind, since this task asks for places, not for distances.
#
# Now with *your* module, here. One block on each side and 600 steps: a smaller and quicker model.

# %%
letters = reversal.reversal_task(seed=0)
yours = lab.seeded(lambda: lab.writer(lambda: SinusoidalPositionalEncoding(d_model=64, max_length=32)), seed=0)
lab.train_writer(yours, letters, steps=600, name="your waves")
your_line = lab.reversed_by_length(yours, letters)
plots.by_length(
    {"your waves": your_line, "no positions": by_kind["none"]},
    trained=TRAINED,
    x_label="letters",
    title="Your encoding, writing on its own",
)

# %% [markdown]
# **What you should see**
#
# - Your waves get at least 90 % of the rows with 5 letters right, and fewer than 5 % of those with 12. <!-- claim: your_waves -->
#
# The waves *have* a row for position 12. You could draw it. But the network has never met it. It learnt what to do with ten rows of that
# table, and nothing tells it that the eleventh should be treated alike. That a formula goes on does not mean that a network does.
#
# ### The door to lesson 12
#
# Is longer than trained hopeless, then? Not if the positions say what *matters*.
#
# For a sum it does not matter whether a digit is the seventh token. It matters whether it counts ones, tens or hundreds. So let us
# turn each query and each key by the **place** of its digit. And to write one digit of the answer, only nearby places matter: let us hide
# all that are more than two away.
#
# ![Three rows of digits under the places 0 to 3. First number 5, 4, 3, second number 8, 7, 6, answer 3, 2, 0, 1: 345 + 678 = 1023, all with the ones first. The answer's digit at place 2 is framed, and so are the digits at places 1 and 2 of both numbers: to write place 2, look at place 2 and at the places beside it.](picture:digits_by_place)
#
# We train with your `rotary_embedding` on sums of numbers with *five* digits, nothing else. **What is the largest width at which
# it gets at least 90 % of the sums right?** Half a minute.

# %%
guess_width = None  # 5, 6, 7, 8, 10, 20 or 50

learnt_sums = addition.draw_pairs(0, 20_000, 5, min_digits=5)
adder = lab.seeded(lambda: lab.place_adder(rotary_embedding, window=2), seed=0)
lab.train_adder(adder, learnt_sums, steps=1500)
widths = [5, 6, 7, 8, 10, 20, 50]
your_sums = {}
for width in widths:
    new_sums = addition.draw_pairs(1000, 100, width, min_digits=width, exclude=learnt_sums)
    your_sums[width] = lab.sums_right(adder, new_sums, width)
widest = max((width for width in widths if your_sums[width] >= 0.9), default=None)
print(f"your guess: {guess_width}, it is: {widest}")

by_place = lines_of(measured("06_by_place"))
plots.curves(
    {"yours": [your_sums[width] for width in widths]}
    | {name: [line[width] for width in widths] for name, line in by_place.items()},
    x_names=[str(width) for width in widths],
    title="Sums right, trained on five digits",
    x_label="digits of the numbers",
    y_label="exact match",
    y_limits=(-0.04, 1.06),
)

# %%
width = 50
long_sum = addition.draw_pairs(7, 1, width, min_digits=width)[0]
source, target = lab.width_writing(width).tensors([long_sum])
said = lab.answers(adder, source, target.shape[1])[0]
answer = lab.width_writing(width).number(said)
print(f"{long_sum[0]:>52}\n+{long_sum[1]:>51}\n={answer or 0:>51}")
print("right" if answer == sum(long_sum) else "wrong")

# %% [markdown]
# The other lines were measured beforehand, on two seeds, by `make claims`.
#
# **What you should see**
#
# - By place and with the window, more than 95 % of the sums are right up to 20 digits, and more than 90 % with 50. <!-- claim: fifty_digits -->
# - It is no luck of easy sums: where one carry runs through three places or more, it is right on more than 95 % as well. <!-- claim: long_carries_too -->
# - Without the window, or with the usual positions, sums of 5 digits are right too, and from 7 digits on fewer than 5 %. <!-- claim: the_window_matters -->
#
# This is no miracle, and no general cleverness. We *told* the model that digits of one place belong together, and that far places
# don't matter. Such knowledge, put in by hand, is called an **inductive bias**. It is right for sums, and useless for reversal.
# Lesson 12 asks how much of it one can leave out.

# %% [markdown]
# ## The bug clinic
#
# A colleague compares learned and sinusoidal positions. The code is short. Read it. Is anything wrong?


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
# It trains without an error, and the loss falls. The colleague reports: "Sinusoidal positions are clearly worse than learned ones."
# **What does it score on First?**
#
# 1. Above 90 %.
# 2. Between 50 and 90 %.
# 3. Below 50 %.

# %%
guess_bug = None  # 1, 2 or 3

sick = lab.seeded(lambda: ColleaguesReader(SinusoidalPositionalEncoding(d_model=64, max_length=4)), seed=0)
sick_shares = lab.by_operation(sick, data, steps=400, name="the colleague's")
print("your guess:", guess_bug)
plots.heatmap(
    [list(shares.values()) for shares in [*with_positions.values(), sick_shares]],
    [*with_positions, "the colleague's"],
    list(digit_operations.OPERATIONS),
    title="Test accuracy",
    low=0,
    high=1,
)

# %% [markdown]
# **What you should see**
#
# - The colleague's model is below 45 % on First, Second and Last, and above 97 % on Max and Min, like the bag. <!-- claim: lost_positions_look_like_none -->
#
# The fingerprint is that of a model without positions. Look at `encoded`: it is computed, and never used. No error, a
# reasonable loss, and a wrong sentence in a report. Published course material has this very bug.
#
# ### Exercise: `sees_order` · core · difficulty 3 · 20 minutes
#
# Write the test that would have caught it. It is handed a model and some rows of tokens. Does the order matter to this model?
#
# ![The row F, 4, 7, 9 goes through a model to logits. Below, two of its tokens have changed places: F, 9, 7, 4 goes through the same model. Are the logits equal? If they always are, the model has no idea of the order.](picture:swapped_tokens)
#
# | model | answer |
# |---|---|
# | a bag that counts tokens | False: no reordering moves a logit |
# | your reader with waves | True |
# | the colleague's | False |
# | one that only knows which token is *last* | True: some reorderings move its logits |
#
# Rounding moves logits a little, so ask for more than that. And a model with dropout answers differently each time, whatever the order.
# Switch it off while you look, and leave the model as you found it.
#
# <details><summary>Hint 1</summary>
#
# Would one swap be enough for the last model of the table? And what if the two tokens that you swap are equal?
# </details>
# <details><summary>Hint 2</summary>
#
# Try every pair of places, swapped, and some shuffles. One of them is enough to say True. Each row is reordered in itself, never mixed with another row.
# </details>
# <details><summary>Hint 3</summary>
#
# `copy.deepcopy(model).eval()` may be examined without harm. `combinations(range(length), 2)` gives the pairs, `tokens[:, order]` reorders,
# and `torch.allclose(..., rtol=1e-4, atol=1e-5)` allows for rounding.
# </details>
#
# Docs: [torch.allclose](https://pytorch.org/docs/stable/generated/torch.allclose.html) ·
# [itertools.combinations](https://docs.python.org/3/library/itertools.html#itertools.combinations) ·
# [torch.randperm](https://pytorch.org/docs/stable/generated/torch.randperm.html).

# %% exercise="sees_order"

# %% [markdown]
# **What you made.** A doctor for positions. Five patients, all of them untrained: the test needs no training at all.


# %%
def rotary_reader():
    """The reader without added positions, its attention turned by your rotary_embedding."""
    reader = lab.Reader(nn.Identity())
    for block in reader.blocks:
        block.attention = lab.RotaryAttention(64, 4, rotary_embedding)
    return reader


patients = {
    "no positions": lambda: lab.Reader(nn.Identity()),
    "learned": lambda: lab.Reader(kinds["learned"]()),
    "your waves": lambda: lab.Reader(kinds["sinusoidal"]()),
    "your rotation": rotary_reader,
    "the colleague's": lambda: ColleaguesReader(kinds["sinusoidal"]()),
}
rows, _ = digit_operations.tensors(data.test[:8])
verdicts = {name: sees_order(lab.seeded(build, seed=0), rows) for name, build in patients.items()}
pd.DataFrame({"sees order?": ["yes" if verdict else "no" for verdict in verdicts.values()]}, index=list(verdicts))

# %% [markdown]
# **What you should see**
#
# - Learned, sinusoidal and rotary positions are seen; without positions, and in the colleague's model, the order is not. <!-- claim: who_sees_order -->
#
# Run such a test before you train, not after. It takes less than a second, and a wrong comparison costs weeks.
#
# The cure is one word: the line must say `x = self.positions(x)`.

# %% [markdown]
# ## Explain it
#
# A friend built a model that says whether a sentence is a question. Positions were forgotten, and yet it gets 93 % of the test sentences right.
# "So positions are not needed," says the friend.
#
# Answer in four or five sentences, in your own words. How can a model without positions do that well, which sentences must it
# confuse, and which test would you run?

# %% [markdown] explain=true
# Without positions the model sees which words a sentence holds, not where they stand. Words such as "who", "why" or a question mark
# give most questions away, so a bag of words goes a long way. But "you are right" and "are you right" are the same bag, so it must give both the same answer,
# and one of the two is wrong, however long it is trained. I would run sees_order on it, which must say False, and I would make a test set
# of such pairs, in which both sentences have the same words and different labels. There it can't be right on more than half.

# %% [markdown]
# ## How good were your guesses?
#
# Here are your predictions beside what happened. A wrong guess is worth more than none: it shows where to look.

# %%
board = [
    ("operations learnt without positions", guess_learnt, learnt),
    ("longest step of binary digits starts at", guess_step, int(binary_steps.argmax())),
    ("operations learnt with waves", guess_waves, found),
    ("factor that is worst for Max and Min", guess_scale, worst),
    ("is the other layout another encoding?", guess_layout, 2),
    ("offset of the turn at position 7", guess_offset, same_offset),
    ("positions that reach 14 letters", guess_far, far_enough),
    ("widest sums with 90 % right", guess_width, widest),
    ("the colleague's score on First", guess_bug, 3 if sick_shares["first"] < 0.5 else 2),
]
pd.DataFrame(
    [
        (question, "-" if guess is None else str(guess), str(answer), "yes" if guess == answer else "")
        for question, guess, answer in board
    ],
    columns=["question", "your guess", "what happened", "right?"],
)

# %% [markdown]
# ## To recall
#
# Answer from memory, then unfold.
#
# **1.** Why does every hand of the clock need two numbers?
#
# <details><summary>Answer</summary>
#
# A sine alone does not say whether the hand goes up or down, so nothing tells what comes next. With sine and cosine, one
# matrix moves every position on by k.
# </details>
#
# **2.** What does rotary embedding turn, what does it leave alone, and what follows for the scores?
#
# <details><summary>Answer</summary>
#
# It turns queries and keys by their positions, and leaves the values and the tokens themselves alone. So a score depends on the
# query, the key and the distance of the two.
# </details>
#
# **3.** The waves have a row for every position. Why does the model fail beyond the trained lengths all the same?
#
# <details><summary>Answer</summary>
#
# The row exists, but no training step has shown the network what to do with it. A formula that goes on is not a network that generalises.
# </details>
#
# ## Things to try
#
# - Give `sinusoidal_positional_encoding` a base of 10 or of a million. At which base do two of 64 positions become almost alike?
# - Turn the values too, in `RotaryAttention`. Does `sees_order` change its mind? Does the training?
# - Train the adder by place with a window of 1, or of 4. How many digits does it reach?
# - Use the adder by place on numbers with their *largest* digit first. What breaks, and why?
# - Add your waves to the tokens only in the first block, or before every block. Is there a difference?
#
# ## Glossary
#
# | word | meaning |
# |---|---|
# | base | the number, 10000 as a rule, that spreads the frequencies from fast to slow |
# | buffer | a tensor that belongs to a module and travels with it, and is not learnt |
# | extrapolate | to be right beyond what was seen in training |
# | frequency | by how many radians a hand turns with each position |
# | inductive bias | knowledge about the task that is built into a model by hand |
# | learned positions | a table with a trained vector for each position |
# | pair | two neighbouring columns: one hand of the clock |
# | radian | an angle; a full turn has 2π, about 6.28 of them |
# | rotary embedding | turning queries and keys by their positions |
# | sinusoidal encoding | sines and cosines of many frequencies, added to the tokens |
# | window | how far away a key may be and still be seen |
#
# ## Papers
#
# - Vaswani and others, [Attention Is All You Need](https://arxiv.org/abs/1706.03762), NeurIPS 2017: section 3.5, the waves, and the sentence about fixed offsets that `shift_matrix` makes true; section 3.4, the factor $\sqrt{d_{\text{model}}}$.
# - Gehring and others, [Convolutional Sequence to Sequence Learning](https://arxiv.org/abs/1705.03122), ICML 2017: section 3.1, learned positions.
# - Su and others, [RoFormer](https://arxiv.org/abs/2104.09864), 2021: section 3.2, rotary embeddings; section 3.4.3, the long decay.
# - Shaw, Uszkoreit, Vaswani, [Self-Attention with Relative Position Representations](https://arxiv.org/abs/1803.02155), NAACL 2018: section 3, distances instead of positions.
# - Press, Smith, Lewis, [Train Short, Test Long](https://arxiv.org/abs/2108.12409), ICLR 2022: section 2, sinusoids, rotary and others beyond the trained length, on text.
# - Kazemnejad and others, [The Impact of Positional Encoding on Length Generalization in Transformers](https://arxiv.org/abs/2305.19466), NeurIPS 2023: sections 4 and 5, on small tasks like ours.
#
# In lesson 7 the model writes, and you decide how.
