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
# # Lesson 1 · Points in, curve out
#
# COLAB_BADGE
#
# Here are 24 noisy points. Some curve made them, and nobody tells you which one. How would a machine find it?
#
# ![24 black points scattered around a wave. A solid blue line, the network's, follows them. A dashed orange line, the true curve, runs near it. Both go up and down twice between x = -2 and x = 2, and end rising.](picture:curve_from_points)
#
# A network found the blue line. You will write that network today, and train it three times.
# First by hand, where nothing is hidden. Then with PyTorch doing more and more of the work.
#
# **What you will be able to do**
#
# - read the shape of a tensor, and say what an operation does to it
# - write a small network and its loss, in NumPy and in PyTorch
# - train it by hand, with automatic gradients, and with an optimiser
# - tell learning from memorising, with baselines and a test set
# - catch a shape bug that raises no error
#
# **Time.** Two sittings, about 110 and 80 minutes. The place for the break is marked.
#
# **How to check.** Replace the line `raise NotImplementedError()` by your own code, and run the cell.
# Then run the `check` cell below it. It says what is right and what is not, as often as you ask.
#
# **How to submit.** Save the notebook and hand it in the way your class does.
# Nobody to hand it in to? The checks are all you need.

# %% [markdown]
# ## A two-minute test
#
# This lesson builds on Python and a little NumPy. Try these three without running anything.
#
# **1.** What is `np.array([[1, 2], [3, 4]]) @ np.array([1, 10])`?
#
# <details><summary>Answer</summary>
#
# `[21, 43]`. Each row meets the vector: 1·1 + 2·10 = 21, and 3·1 + 4·10 = 43.
# To read up: [numpy.matmul](https://numpy.org/doc/stable/reference/generated/numpy.matmul.html).
# </details>
#
# **2.** Which shape has `np.zeros((5, 3)).sum(axis=0)`?
#
# <details><summary>Answer</summary>
#
# `(3,)`. The axis that is summed, the first one, is gone.
# To read up: [axes in NumPy](https://numpy.org/doc/stable/user/absolute_beginners.html).
# </details>
#
# **3.** With `pairs = [("a", 1), ("b", 2)]`, what is `[number for _, number in pairs[:-1]]`?
#
# <details><summary>Answer</summary>
#
# `[1]`. The slice leaves out the last pair, and the loop takes each pair apart.
# To read up: [list comprehensions](https://docs.python.org/3/tutorial/datastructures.html#list-comprehensions).
# </details>
#
# Two of three? Go on. Fewer? Read the linked pages first, and come back.
#
# The next cell brings the tools. Run it first. `plots` draws, and `lab` runs the longer experiments.
# Both belong to the course and can be read, in `course/plots` and `lessons/lesson_01/experiments.py`.
# Under each figure, *In words* unfolds to the same thing as text. Everything here runs on the CPU.

# %% setup=true
import math
import warnings
from collections.abc import Callable
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch
import torch.nn.functional as F
from IPython.display import display
from torch import nn

from course import plots
from lessons.lesson_01 import experiments as lab
from course.progress import Progress
from course.tasks.curve import baseline_losses, grid, noisy_curve, shared_inputs, true_curve
from course.timing import median_seconds, try_to_compile

torch.set_num_threads(1)  # one thread: on a machine that others use too, two can be ten times slower

# %% [markdown]
# ## Part 1 · Shapes are puzzles
#
# A tensor is a block of numbers with a shape. Attention, the heart of this course, moves shapes about.
# So we begin with four small puzzles. Each of them comes back in a later lesson.
#
# ### Puzzle 1: a column meets a row
#
# A column of shape `(3, 1)` is added to a row of shape `(4,)`. **Which shape has the sum, or is it an error?**
#
# Type your guess into the next cell, then run it.

# %%
guess_shape = None  # a tuple, such as (2, 5), or "error"

column = torch.tensor([[0], [10], [20]])  # (3, 1)
row = torch.tensor([1, 2, 3, 4])  # (4,)
total = column + row
print("your guess:", guess_shape)
print("it is:     ", tuple(total.shape))
plots.heatmap(total, title="column + row")

# %% [markdown]
# Every number of the column met every number of the row. This is called **broadcasting**.
#
# ![A column with the numbers 0, 10, 20 plus a row with 1, 2, 3, 4 gives a table of 3 rows and 4 columns. 10 and 3 are framed on the left, and their sum 13 on the right.](picture:broadcasting)
#
# PyTorch lines two shapes up from the right. Where one of them has a 1, or nothing, it is repeated until it fits.
#
# | | | |
# |---|---|---|
# | column | 3 | 1 |
# | row | | 4 |
# | **sum** | **3** | **4** |
#
# **Now a harder one.** Which shape has a `(3, 1)` tensor *minus* a `(3,)` tensor?
#
# <details><summary>Answer</summary>
#
# `(3, 3)`. Lined up from the right, the 3 stands over the 1. So nine differences come out, not three.
# Keep this one in mind. It will cost us a whole network at the end of the lesson.
# </details>
#
# To read up: [broadcasting in PyTorch](https://pytorch.org/docs/stable/notes/broadcasting.html).

# %% [markdown]
# ### Puzzle 2: two ways to (3, 2)
#
# `x` is the numbers 0 to 5 in shape `(2, 3)`. Both `x.view(3, 2)` and `x.T` have shape `(3, 2)`.
# **Do they hold the same numbers in the same places?** Guess yes or no.

# %%
guess_same = None  # "yes" or "no"

x = torch.arange(6).view(2, 3)
viewed, transposed = x.view(3, 2), x.T
print("your guess:", guess_same)
print("x.view(3, 2):", viewed.tolist())
print("x.T:         ", transposed.tolist())

# %% [markdown]
# ![Three grids. x holds 0, 1, 2 above 3, 4, 5. The view holds 0, 1 above 2, 3 above 4, 5. The transpose holds 0, 3 above 1, 4 above 2, 5. The number 1 is framed in all three: it stays in the first row of the view, and moves to the second row of the transpose.](picture:view_against_transpose)
#
# `view` keeps the reading order and breaks the lines elsewhere. `T` swaps rows with columns.
# The shapes agree, the contents don't, and no error tells you.
#
# In lesson 3 we cut every word's vector into pieces, one for each attention head. A `view` where a transpose
# belongs mixes up the words there. You will know what to look for.
#
# To read up: [view](https://pytorch.org/docs/stable/generated/torch.Tensor.view.html) ·
# [transpose](https://pytorch.org/docs/stable/generated/torch.transpose.html).

# %% [markdown]
# ### Puzzle 3: letters for axes
#
# There is a way to multiply tensors that names every axis. It is called `einsum`, and it has two rules.
#
# 1. Give each axis a letter. The same letter twice means: these two axes walk together.
# 2. A letter that is missing on the right of the arrow is summed away.
#
# Take question 1 of the test, `[[1, 2], [3, 4]]` times `[1, 10]`. In letters it is `"ij,j->i"`.
# The letter j occurs twice and is missing on the right. So row i becomes the sum over j: 1·1 + 2·10 = 21.
#
# **What does `"ij,ij->i"` compute from two matrices?** And `"ij->ji"`, from one? Guess, then run.

# %%
left = torch.tensor([[1, 2], [3, 4]])
right = torch.tensor([[1, 10], [0, 1]])
print("ij,j->i  :", torch.einsum("ij,j->i", left, torch.tensor([1, 10])).tolist())
print("ij,ij->i :", torch.einsum("ij,ij->i", left, right).tolist(), "(each row with its partner)")
print("ij->ji   :", torch.einsum("ij->ji", left).tolist(), "(the transpose)")

# %% [markdown]
# ### Exercise: `batched_dot` · core · difficulty 2 · 10 minutes
#
# Attention lets every word ask every other word: how well do we match? The answer is a dot product.
# So every row of one matrix meets every row of another. And a whole batch of sentences comes at once.
#
# ![Matrix a with rows (1, 2) and (3, 4); matrix b with rows (1, 0), (0, 1) and (1, 1). The result has 2 rows and 3 columns. The second row of a and the third row of b are framed, and so is their entry: 3 times 1 plus 4 times 1 is 7.](picture:every_row_with_every_row)
#
# $$\text{result}[i, j, k] = \sum_{d} a[i, j, d] \cdot b[i, k, d]$$
#
# The picture shows one entry i of the batch. Different entries never mix: sentence 1 asks nothing of sentence 2.
#
# <details><summary>Hint 1</summary>
#
# Three axes survive and one is summed away. Which one?
# </details>
# <details><summary>Hint 2</summary>
#
# Four letters are enough: one for the batch, one for the rows of a, one for the rows of b, one for d.
# </details>
# <details><summary>Hint 3</summary>
#
# One line, of the form `torch.einsum("b??,b??->b??", a, b)`, with a letter for each question mark.
# </details>
#
# Docs: [torch.einsum](https://pytorch.org/docs/stable/generated/torch.einsum.html) ·
# [torch.matmul](https://pytorch.org/docs/stable/generated/torch.matmul.html), if you prefer `@`.

# %% exercise="batched_dot"

# %% [markdown]
# **What you made.** Two sentences of three words each. Every word is a vector of two numbers, made up by us:
# how much animal, how much vehicle. Your function asks who matches whom, in both sentences at once.

# %%
words = {"cat": [1.0, 0.0], "dog": [0.9, 0.2], "car": [0.0, 1.0], "bus": [0.1, 0.9]}
sentences = [["cat", "car", "dog"], ["bus", "dog", "car"]]
vectors = torch.tensor([[words[word] for word in sentence] for sentence in sentences])  # (2, 3, 2)
matches = batched_dot(vectors, vectors)  # (2, 3, 3)
for sentence, match in zip(sentences, matches, strict=True):
    display(plots.heatmap(match, sentence, sentence, title="who matches whom: " + " ".join(sentence), low=0, high=1))

# %% [markdown]
# Animals match animals, and vehicles match vehicles. This table is the first step of attention.
# In lesson 3 the vectors are learnt, and the table decides which words look at which.

# %% [markdown]
# ### Puzzle 4: one entry from each row
#
# A quiz has three questions with four possible answers each. A table of shape `(3, 4)` holds a score for each answer.
# The right answers are numbers 2, 0 and 3. We want the three scores that the right answers got.
#
# **Is `values[:, index]` what we want?** Guess its shape first.

# %%
guess_columns = None  # a tuple

values = torch.tensor([[5, 1, 8, 2], [7, 3, 0, 6], [4, 9, 1, 2]])  # (3, 4)
index = torch.tensor([2, 0, 3])  # (3,)
print("your guess:", guess_columns)
print("it is:     ", tuple(values[:, index].shape))
print(values[:, index])

# %% [markdown]
# That was three whole columns, for every row: nine numbers where three were wanted.
#
# ### Exercise: `pick` · core · difficulty 2 · 10 minutes
#
# The same move reads off, in lesson 4, how likely a model thought the right word was. The loss is made from that.
#
# ![A table of 3 rows and 4 columns. In row 0 column 2 is framed, in row 1 column 0, in row 2 column 3. The index 2, 0, 3 stands beside it, and the picked entries are 8, 7 and 2.](picture:one_entry_a_row)
#
# $$\text{result}[i] = \text{values}[i, \text{index}[i]]$$
#
# In numbers: row 0 gives entry 2, which is 8. Row 1 gives entry 0, which is 7. Row 2 gives entry 3, which is 2.
#
# <details><summary>Hint 1</summary>
#
# `values[:, index]` walks over all rows. Which row should go with which index?
# </details>
# <details><summary>Hint 2</summary>
#
# `gather` takes entries along one axis. Its index needs as many axes as the values: `(n,)` becomes `(n, 1)`.
# </details>
# <details><summary>Hint 3</summary>
#
# `unsqueeze` the index, `gather` along axis 1, and `squeeze` axis 1 away again.
# </details>
#
# Docs: [torch.gather](https://pytorch.org/docs/stable/generated/torch.gather.html) ·
# [unsqueeze](https://pytorch.org/docs/stable/generated/torch.unsqueeze.html) ·
# [squeeze](https://pytorch.org/docs/stable/generated/torch.squeeze.html).

# %% exercise="pick"

# %% [markdown]
# **What you made.** The scores of the right answers are framed. Where is a wrong answer ahead of the right one?

# %%
picked = pick(values, index)  # (3,)
best = values.max(dim=1).values  # (3,)
print("right answers' scores:", picked.tolist())
print("best scores:          ", best.tolist())
plots.heatmap(
    values,
    ["question 0", "question 1", "question 2"],
    outline=[(row, int(place)) for row, place in enumerate(index)],
    columns="answer",
    title="Framed: the right answer's score",
)

# %% [markdown]
# In question 2 the right answer got 2, and a wrong one got 9. A good loss would complain about that row.
#
# ## Part 2 · One network, two libraries
#
# ### The data
#
# The 24 points are our **training** data. For **testing** we draw 500 more points of the same curve.
# The network learns from the 24 and is scored on the 500, which it never learns from.
#
# Before any network: what does a predictor score that always says the mean? Or one that draws a straight line?
# Such a simple rival is called a **baseline**. Without one, no loss means anything.

# %%
data = noisy_curve(seed=0)
for name, tensor in [("training inputs", data.train_inputs), ("test inputs", data.test_inputs)]:
    print(f"{name}: {tuple(tensor.shape)}, {tensor.dtype}")
print("test inputs that also stand in the training data:", shared_inputs(data))

baselines = baseline_losses(data)
display(plots.fits({"training points": data.train, "test points": data.test}, title="What we have"))
plots.bars(baselines, title="Mean squared error on the test points", x_label="test loss")

# %% [markdown]
# **What you should see**
#
# - Always saying the mean costs between 0.55 and 0.85, and the best straight line between 0.5 and 0.7. <!-- claim: baselines_cost -->
# - Even the true curve costs between 0.12 and 0.2, which is noise that nobody can learn. <!-- claim: noise_remains -->
# - No test input stands in the training data: the overlap is 0 of 500. <!-- claim: no_overlap -->
#
# So a network should land well below the straight line. Below the true curve would be luck, or cheating.

# %% [markdown]
# ### A network is made of bends
#
# How can multiplying and adding make a curve? It can't: a line of a line is a line. One small step changes that.
# **ReLU** replaces every negative number by 0. It puts one bend into a line, and bends add up.
#
# ![Three panels. h1 = relu(x) is 0 up to x = 0, then rises to 2 at x = 2. h2 = relu(x - 1) is 0 up to x = 1, then rises to 1 at x = 2. h1 minus twice h2 is a tent: 0 at x = 0, 1 at x = 1, 0 at x = 2.](picture:tent_from_two_bends)
#
# Follow one input, x = 2, through this tent. The first layer has two units, the second layer one.
#
# | step | numbers at x = 2 |
# |---|---|
# | times W, plus b: weights 1 and 1, biases 0 and -1 | (2, 1) |
# | ReLU: nothing is negative | (2, 1) |
# | times W, plus b: weights 1 and -2, bias 0 | 1·2 - 2·1 = **0** |
#
# **Your turn, on paper: what comes out at x = 1, and at x = -1?**
#
# <details><summary>Answer</summary>
#
# At x = 1: (1, 0), ReLU (1, 0), so 1·1 - 2·0 = **1**. At x = -1: (-1, -2), ReLU (0, 0), so **0**.
# </details>
#
# A network with one or more such hidden layers is a **multi-layer perceptron**, MLP for short. We write it as
# a list of pairs, `params = [(W, b), (W, b), ...]`, one pair a layer. These are the shapes on the way:
#
# ![Four boxes in a row: inputs (n, 1), hidden (n, 32), hidden (n, 32), predictions (n, 1). Arrows between them say: times W plus b and ReLU, with W of shape (1, 32), then (32, 32). The last arrow, with W (32, 1), says: no ReLU.](picture:network_shapes)
#
# ### Exercise: `mlp_predict_numpy` · core · difficulty 2 · 10 minutes
#
# For every layer but the last, and then for the last one:
#
# $$x \leftarrow \text{relu}(x W + b) \qquad\qquad \text{predictions} = x W + b$$
#
# Why no ReLU at the end? A prediction may be negative, and ReLU would forbid it.
#
# <details><summary>Hint 1</summary>
#
# Which layers get a ReLU? How do you say "all but the last" with a slice?
# </details>
# <details><summary>Hint 2</summary>
#
# Carry one array through a loop over the pairs. Each round: multiply by W, add b, cut off at 0.
# </details>
# <details><summary>Hint 3</summary>
#
# `@` multiplies matrices, `np.maximum(..., 0)` is ReLU. `for W, b in params[:-1]`, then one line for `params[-1]`.
# </details>
#
# Docs: [numpy.matmul](https://numpy.org/doc/stable/reference/generated/numpy.matmul.html) ·
# [numpy.maximum](https://numpy.org/doc/stable/reference/generated/numpy.maximum.html).

# %% exercise="mlp_predict_numpy"

# %% [markdown]
# **What you made.** First the tent, drawn by your function. Then three networks with random weights.

# %%
tent = [(np.array([[1.0, 1.0]]), np.array([0.0, -1.0])), (np.array([[1.0], [-2.0]]), np.array([0.0]))]
x = grid().numpy()  # (200, 1), from -2 to 2
shapes = {"the tent": (x, mlp_predict_numpy(tent, x))}
for seed in range(3):
    random_network = [(W.numpy(), b.numpy()) for W, b in lab.random_params([1, 32, 32, 1], seed)]
    shapes[f"random network {seed}"] = (x, mlp_predict_numpy(random_network, x))
plots.fits({"training points": data.train}, shapes, title="Curves made of bends")

# %% [markdown]
# None of them is near the points. Random weights know nothing. To improve them, we first need to say how bad they are.
#
# ### Exercise: `mse_loss_numpy` · core · difficulty 1 · 5 minutes
#
# The **loss** is one number for the whole network: the mean of the squared errors.
#
# ![A line of predictions 2x and two targets. At x = 1 the target 2 lies on the line: error 0. At x = 2 the target is 7 and the prediction 4: error -3, squared 9. The mean of 0 and 9 is 4.5.](picture:squared_errors)
#
# $$\text{loss} = \text{mean over all entries of } (\text{prediction} - \text{target})^2$$
#
# In numbers: predictions 2 and 4, targets 2 and 7. The errors are 0 and -3, the squares 0 and 9, the mean 4.5.
#
# <details><summary>Hint 1</summary>
#
# Which function of yours turns inputs into predictions?
# </details>
# <details><summary>Hint 2</summary>
#
# Take the batch apart, predict, subtract, square, average. Everything is averaged, every row and every column.
# </details>
# <details><summary>Hint 3</summary>
#
# `inputs, targets = batch` first. Then `np.mean(...)` without an axis.
# </details>
#
# Docs: [numpy.mean](https://numpy.org/doc/stable/reference/generated/numpy.mean.html).

# %% exercise="mse_loss_numpy"

# %% [markdown]
# **What you made.** A number to make small. We take random network 0 and turn one knob: the last bias,
# which moves the whole curve up or down. **Will the loss have one valley, several, or none?**

# %%
start = lab.random_params([1, 32, 32, 1], seed=0)  # tensors, from here on our starting point
start_numpy = [(W.numpy(), b.numpy()) for W, b in start]
train_numpy = (data.train_inputs.numpy(), data.train_targets.numpy())

knob = np.linspace(-3, 3, 61, dtype=np.float32)
W, b = start_numpy[-1]
losses = [mse_loss_numpy([*start_numpy[:-1], (W, b + turn)], train_numpy) for turn in knob]
print(f"loss without turning: {mse_loss_numpy(start_numpy, train_numpy):.3f}")
print(f"lowest loss: {min(losses):.3f}, after turning by {knob[int(np.argmin(losses))]:.1f}")
plots.curves({"loss": losses}, x=knob, title="Turning one knob", x_label="change of the last bias")

# %% [markdown]
# One valley. But this network has 1,153 knobs, and we can't try them all.
# We need to know which way is down, for every knob at once. That is what PyTorch is for.
#
# ### From arrays to tensors
#
# A tensor is an array that can also remember how it was computed. Most names stay the same.
#
# | NumPy | PyTorch | |
# |---|---|---|
# | `np.array([1.0])` | `torch.tensor([1.0])` | float64 there, float32 here |
# | `a @ b` | `a @ b` | |
# | `np.maximum(a, 0)` | `torch.relu(a)` | |
# | `np.mean(a)`, `a.mean()` | `torch.mean(a)`, `a.mean()` | |
# | `axis=0` | `dim=0` | |
# | `a.shape` | `a.shape` | |
#
# ### Exercise: `mlp_predict` · core · difficulty 1 · 5 minutes
#
# The same network, the same shapes, the same tent: (2, 1) at x = 2, and 1·2 - 2·1 = 0. One word changes. Which one?
#
# ![Two rows of three boxes. NumPy: x @ W, then + b, then np.maximum(., 0). PyTorch: x @ W, then + b, then torch.relu(.). The last boxes are framed: they are the only ones that differ.](picture:two_dialects)
#
# <details><summary>Hint 1</summary>
#
# Which line of your NumPy version does PyTorch not know?
# </details>
# <details><summary>Hint 2</summary>
#
# Your loop can stay. Only ReLU has another name.
# </details>
# <details><summary>Hint 3</summary>
#
# Copy your function and look at the third row of the table above.
# </details>
#
# Docs: [torch.relu](https://pytorch.org/docs/stable/generated/torch.relu.html) ·
# [Tensor.relu](https://pytorch.org/docs/stable/generated/torch.Tensor.relu.html).

# %% exercise="mlp_predict"

# %% [markdown]
# **What you made.** Two functions that should agree. How closely? Both compute in float32, which keeps about seven digits.

# %%
many = grid(1000)  # (1000, 1)
ours = mlp_predict(start, many)
theirs = torch.from_numpy(mlp_predict_numpy(start_numpy, many.numpy()))
print("shapes:", tuple(ours.shape), tuple(theirs.shape), "dtypes:", ours.dtype, theirs.dtype)
print(f"largest difference: {(ours - theirs).abs().max():.1e}")

# %% [markdown]
# ### Which one is fastest?
#
# There is a third way to run it. `torch.compile` reads your function and writes a faster program for it.
# **Which is fastest for 1,000 points: NumPy, PyTorch, or PyTorch compiled?** Keep your guess in the next cell.
#
# A fair race has rules. All three do the same work, on the same numbers, in float32.
# The first call is not timed, because the compiler works then. We take the median of 100 calls.
#
# *(The compiler may need half a minute. If your machine has none, a sentence says so and the race has two runners.)*

# %%
guess_fastest = None  # "NumPy", "PyTorch" or "compiled"

many_numpy = many.numpy()
compiled_predict, compile_seconds, problem = try_to_compile(mlp_predict, start, many)

microseconds = {
    "NumPy": 1e6 * median_seconds(mlp_predict_numpy, start_numpy, many_numpy),
    "PyTorch": 1e6 * median_seconds(mlp_predict, start, many),
}
if compiled_predict is None:
    print(problem)
else:
    microseconds["compiled"] = 1e6 * median_seconds(compiled_predict, start, many)
    difference = (compiled_predict(start, many) - ours).abs().max()
    print(f"compiling took {compile_seconds:.1f} s; largest difference to your function: {difference:.1e}")
    saved = (microseconds["PyTorch"] - microseconds["compiled"]) / 1e6
    if saved > 0:
        print(f"at the seconds it saves a call, compiling pays after {compile_seconds / saved:,.0f} calls")
    else:
        print("compiling saves nothing here")
plots.bars(microseconds, title="One prediction for 1,000 points", x_label="microseconds", guess=guess_fastest)

# %% [markdown]
# **What you should see**
#
# - NumPy and PyTorch differ by less than 0.00001 anywhere on the curve. <!-- claim: numpy_and_torch_agree -->
# - The compiled function differs from yours by less than 0.00001 as well. <!-- claim: compiled_agrees -->
#
# The order of the bars depends on your machine, so there is no right answer to hand out.
# Our network is tiny: starting an operation costs about as much as its arithmetic.
# A compiler melts small steps into one. But calling its program has a price too, because PyTorch first checks
# that the inputs still fit it. And the compiling itself must be repaid: count the calls.
# In lesson 10 we race again, with a larger model.

# %% [markdown]
# ### Exercise: `mse_loss` · core · difficulty 1 · 5 minutes
#
# The same loss in tensors. But now the result is more than a number. It remembers where it came from.
#
# ![Five boxes in a row: weights, predict, minus target, square, mean. Solid arrows lead from left to right: w = 1, prediction 2, difference -4, square 16, mean 16. Dashed arrows lead back from the mean to the weights.](picture:loss_as_a_chain)
#
# In numbers: the network predicts 2·w for the input 2. With w = 1 that is 2, the target is 6, and the loss 16.
# For the way back, the chain must stay whole. So hand back a tensor, not a Python number.
#
# <details><summary>Hint 1</summary>
#
# Which calls turn a tensor into a Python number, and lose the chain?
# </details>
# <details><summary>Hint 2</summary>
#
# The four steps are those of the NumPy version: take apart, predict, subtract and square, average.
# </details>
# <details><summary>Hint 3</summary>
#
# A tensor has a method `mean()`. Leave out `float(...)` and `.item()`.
# </details>
#
# Docs: [torch.mean](https://pytorch.org/docs/stable/generated/torch.mean.html).

# %% exercise="mse_loss"

# %% [markdown]
# **What you made.** The same number as before, with a memory. We ask the loss how it was made, last step first.

# %%
batch = data.train  # (inputs, targets)
tracked = [(W.clone().requires_grad_(), b.clone().requires_grad_()) for W, b in start]
loss = mse_loss(tracked, batch)
print(f"NumPy says {mse_loss_numpy(start_numpy, train_numpy):.6f}, PyTorch says {loss.item():.6f}")

node, chain = loss.grad_fn, []
while node is not None and len(chain) < 12:
    chain.append(node.name().removesuffix("Backward0"))
    node = node.next_functions[0][0] if node.next_functions else None
print("made by:", " <- ".join(chain))

# %% [markdown]
# Read it from the left: a mean of a square of a difference. Then come the layers: add b, multiply by W (`Mm`), ReLU.
# PyTorch can walk this chain backwards and tell every weight its share. That walk is called **autograd**.
#
# ### Exercise: `loss_gradients` · core · difficulty 3 · 15 minutes
#
# The **gradient** of a weight is a slope. It says how the loss changes when this weight grows a little.
#
# ![The loss (2w - 6) squared is a bowl with its bottom at w = 3. At w = 1 the loss is 16, and a dashed tangent falls steeply there: its slope is -16.](picture:slope_of_a_loss)
#
# Small numbers first. The network is one weight: prediction 2·w, target 6, so the loss is $(2w - 6)^2$.
#
# $$\text{slope} = 2 \cdot (\text{error}) \cdot (\text{input}) = 2 \cdot (2w - 6) \cdot 2 = -16 \quad\text{at } w = 1$$
#
# Does that mean the loss falls when w grows? Yes: the slope is negative, and steep.
#
# Your function asks autograd for all slopes at once, for every W and every b. The caller's tensors must stay
# as they were. They may not even want gradients, so ask on your own copies.
#
# <details><summary>Hint 1</summary>
#
# A tensor takes part only if it has `requires_grad`. How do you get one without touching the caller's?
# </details>
# <details><summary>Hint 2</summary>
#
# `W.detach()` has the same numbers and no history. Switch `requires_grad_()` on for that one, compute the loss
# from these new pairs, and ask for the gradients.
# </details>
# <details><summary>Hint 3</summary>
#
# `torch.autograd.grad(loss, tensors)` takes a flat list W, b, W, b, ... and answers in the same order.
# Then pair the answers up again: every second one is a dW.
# </details>
#
# Docs: [torch.autograd.grad](https://pytorch.org/docs/stable/generated/torch.autograd.grad.html) ·
# [detach](https://pytorch.org/docs/stable/generated/torch.Tensor.detach.html) ·
# [requires_grad_](https://pytorch.org/docs/stable/generated/torch.Tensor.requires_grad_.html).

# %% exercise="loss_gradients"

# %% [markdown]
# **What you made.** 1,153 slopes in one call. Are they right? A slope can be checked without any calculus.
# Nudge one weight by a millionth, see how far the loss moves, and divide. In float64, so that a millionth is not lost.

# %%
exact = [(W.double(), b.double()) for W, b in start]
exact_batch = (batch[0].double(), batch[1].double())
slopes = loss_gradients(exact, exact_batch)

rows = []
for layer, place in [(0, (0, 3)), (1, (5, 7)), (2, (5, 0))]:
    nudged = [(W.clone(), b) for W, b in exact]
    nudged[layer][0][place] += 1e-6
    moved = mse_loss(nudged, exact_batch) - mse_loss(exact, exact_batch)
    rows.append(
        {
            "weight": f"layer {layer}, W{list(place)}",
            "by autograd": slopes[layer][0][place].item(),
            "by nudging": moved.item() / 1e-6,
        }
    )
display(pd.DataFrame(rows).round(6))
middle = slopes[1][0]  # (32, 32)
silent = (middle == 0).all(dim=1).sum().item(), (middle == 0).all(dim=0).sum().item()
print(f"units silent on all 24 points: {silent[0]} in the first hidden layer, {silent[1]} in the second")
plots.heatmap(middle, title="Slopes of the middle layer's W", rows="from unit", columns="to unit")

# %% [markdown]
# **What you should see**
#
# - The two columns of slopes agree to within 0.0001. <!-- claim: slopes_agree -->
#
# A pale cell is a small slope. Some rows and columns are zero throughout: they belong to the silent units
# that the cell counts. ReLU makes them 0 on all 24 points, and a unit that is always 0 has no slope.
#
# ### Exercise: `sgd_step` · core · difficulty 2 · 10 minutes
#
# We know which way is down. Now we take a step: every weight moves *against* its slope.
#
# ![The same bowl. From w = 1 a step with rate 0.1 lands at w = 2.6, where the loss is 0.64. A step with rate 0.3 flies across the valley to w = 5.8, where the loss is 31.36.](picture:steps_downhill)
#
# $$W \leftarrow W - \text{learning\_rate} \cdot dW \qquad b \leftarrow b - \text{learning\_rate} \cdot db$$
#
# In numbers: w = 1, slope -16, rate 0.1. So w becomes 1 + 1.6 = 2.6, and the loss falls from 16 to 0.64.
# **And with rate 0.3?** The slope is the same. Look at the picture for what happens.
#
# The letters SGD stand for *stochastic gradient descent*. Stochastic means: on a random part of the data.
# We have 24 points, so we take all of them every time.
#
# <details><summary>Hint 1</summary>
#
# Against the slope: is that plus or minus?
# </details>
# <details><summary>Hint 2</summary>
#
# Walk over parameters and gradients together, and build a new list. Changing tensors in place would change the caller's.
# </details>
# <details><summary>Hint 3</summary>
#
# `for (W, b), (dW, db) in zip(params, gradients)`, inside `with torch.no_grad():`, so that no chain grows.
# </details>
#
# Docs: [torch.no_grad](https://pytorch.org/docs/stable/generated/torch.no_grad.html) ·
# [zip](https://docs.python.org/3/library/functions.html#zip).

# %% exercise="sgd_step"

# %% [markdown]
# **What you made.** Everything that learning needs. Here is the first way to train: 2,000 steps by hand, with your functions.

# %%
params, losses_by_hand = start, []
for _ in (bar := Progress(range(2000), desc="training by hand")):
    losses_by_hand.append(mse_loss(params, batch).item())
    bar.show_loss(losses_by_hand[-1])
    params = sgd_step(params, loss_gradients(params, batch), 0.05)

mean_on_training = data.train_targets.var(unbiased=False).item()  # the loss of always saying the mean
display(plots.curves({"by hand": losses_by_hand}, title="Training loss", levels={"always the mean": mean_on_training}))
display(
    plots.fits(
        {"training points": batch},
        {"before": (grid(), mlp_predict(start, grid())), "after": (grid(), mlp_predict(params, grid()))},
        title="Random weights, 2,000 steps later",
    )
)
scores = baselines | {"your network": mse_loss(params, data.test).item()}
plots.bars(scores, title="Mean squared error on the test points", x_label="test loss")

# %% [markdown]
# **What you should see**
#
# - Your network's test loss is below two thirds of the straight line's. <!-- claim: by_hand_beats_the_line -->
#
# No part of this knew about waves. It followed slopes downhill, 2,000 times.

# %% [markdown]
# ### Experiment: how long a step?
#
# We took rate 0.05. **Which of the rates 0.001, 0.01, 0.1 and 1 has the lowest training loss after 1,000 steps?**
# And which would you not trust with your network? Type your guess before you run the cell.

# %%
guess_rate = None  # 0.001, 0.01, 0.1 or 1

by_rate = {}
for rate in (0.001, 0.01, 0.1, 1):
    _, by_rate[rate] = lab.descend(mse_loss, loss_gradients, sgd_step, start, batch, rate, steps=1000)

display(
    plots.curves(
        {f"rate {rate}": losses for rate, losses in by_rate.items()},
        title="Training loss",
        log_y=True,
        y_limits=(0.05, 200),
        levels={"always the mean": mean_on_training},
    )
)
ends = {f"rate {rate}": losses[-1] for rate, losses in by_rate.items()}
plots.bars(
    ends,
    title="Training loss after 1,000 steps",
    x_label="loss, on a logarithmic scale",
    guess=f"rate {guess_rate}",
    log_x=True,
)

# %% [markdown]
# **What you should see**
#
# - Rate 0.1 ends below 0.25. <!-- claim: right_rate -->
# - Rate 0.001 points the right way, but its steps are too short: it ends at more than twice the loss of rate 0.1. <!-- claim: small_rate -->
# - Rate 1 ends above "always the mean", or as no number at all. <!-- claim: large_rate -->
#
# Rate 1 is the flight across the valley. Each landing is higher up than the last, so the next step is longer still.
# Why does its curve then go flat? The flight has thrown the weights so far that ReLU silences every unit of a layer.
# Silent units have no slope, so the network never comes back.

# %% [markdown]
# ---
# ## Time for a break
#
# You have written a network, its loss, its gradients and its training. Save the notebook, and stand up for a while.
#
# *(When you come back: run all cells above once, then go on here.)*
#
# ---

# %% [markdown]
# ## Part 3 · Let PyTorch do the work
#
# Welcome back. Where were we? `params` is a list of pairs. `mse_loss` says how bad they are,
# `loss_gradients` says which way is down, and `sgd_step` goes there.
#
# ### Is a lower loss always better?
#
# Look at two numbers side by side: your network's loss on the training points, and the true curve's.

# %%
true_loss = ((true_curve(data.train_inputs) - data.train_targets) ** 2).mean().item()
pd.DataFrame(
    {
        "24 training points": [losses_by_hand[-1], true_loss],
        "500 test points": [scores["your network"], scores["true curve"]],
    },
    index=["your network", "true curve"],
).round(3)

# %% [markdown]
# **What you should see**
#
# - Your network beats the true curve by more than 10 % on the training points, and loses to it by more than 10 % on the test points. <!-- claim: it_memorises -->
#
# Better than the truth? On 24 points, yes: it has learnt part of their noise by heart. On new points the noise is another one.
# This is **over-fitting**. A low training loss alone proves nothing.
#
# Learning noise needs sharp bends, and sharp bends need large weights. So we could charge a price for large weights.
#
# ### Exercise: `l2_penalty` · core · difficulty 1 · 5 minutes
#
# The usual price is the sum of the squared weights. Biases go free: they shift a curve and sharpen nothing.
#
# ![The parabola of squares. Weight -2 costs 4, weight 0 costs 0, weight 1 costs 1 and weight 3 costs 9. The title says: 1 + 4 + 9 + 0 = 14.](picture:squares_of_weights)
#
# $$\text{penalty} = \sum_{\text{layers}} \sum_{i,j} W_{ij}^2$$
#
# In numbers: weights 1 and -2 in the first layer, 3 and 0 in the second. The penalty is 1 + 4 + 9 + 0 = 14.
#
# <details><summary>Hint 1</summary>
#
# Of each pair (W, b), which half counts?
# </details>
# <details><summary>Hint 2</summary>
#
# Square and sum each W on its own, then add up the layers. Gradients must flow, so stay with tensors.
# </details>
# <details><summary>Hint 3</summary>
#
# A list comprehension over the pairs gives one number a layer. `torch.stack(...)` makes a tensor of them.
# </details>
#
# Docs: [torch.stack](https://pytorch.org/docs/stable/generated/torch.stack.html) ·
# [Tensor.sum](https://pytorch.org/docs/stable/generated/torch.sum.html).

# %% exercise="l2_penalty"

# %% [markdown]
# **What you made.** A ruler for weights. **Did yours grow or shrink in the 2,000 steps?** Guess, then measure.

# %%
guess_growth = None  # "grow" or "shrink"

before, after = l2_penalty(start).item(), l2_penalty(params).item()
print("your guess:", guess_growth)
plots.bars({"before training": before, "after training": after}, title="Sum of squared weights")

# %% [markdown]
# **What you should see**
#
# - Training makes the sum of squared weights grow by more than a fifth. <!-- claim: weights_grow -->
#
# Soon we will charge for that. First, a better place to keep the weights.

# %% [markdown]
# ### A module knows its parameters
#
# Lists of pairs get tedious: who draws the random weights, who hands them all to the optimiser?
# PyTorch's answer is `nn.Module`. A module keeps its parameters, and lists them when asked.
# Here is the smallest one. It is a straight line.


# %%
class Line(nn.Module):
    def __init__(self):
        super().__init__()  # sets up the book-keeping; always first
        self.linear = nn.Linear(1, 1)  # a weight and a bias, drawn at random

    def forward(self, inputs):
        return self.linear(inputs)


class Forgetful(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = [nn.Linear(1, 1), nn.Linear(1, 1)]


print("line(inputs) calls forward:", tuple(Line()(torch.zeros(5, 1)).shape))
print("Line has     ", len(list(Line().parameters())), "parameters: a weight and a bias")

# %% [markdown]
# **`Forgetful` holds two layers in a Python list. How many parameters does it report?** Guess, then run.

# %%
guess_forgetful = None  # a number

print("your guess:", guess_forgetful)
print("it is:     ", len(list(Forgetful().parameters())))

# %% [markdown]
# None. PyTorch looks inside modules, and a Python list is no module. An optimiser would train nothing, without an error.
# There is a list that is a module: `nn.ModuleList`.
#
# ### Exercise: `MLP` · core · difficulty 3 · 15 minutes
#
# Our network as a module. You write both methods: `__init__` makes the layers, `forward` runs the inputs through them.
#
# ![A tree. At the top MLP([1, 32, 32, 1]), below it layers, an nn.ModuleList. It holds three nn.Linear layers: layers[0] with weight (32, 1) and bias (32,), layers[1] with weight (32, 32) and bias (32,), layers[2] with weight (1, 32) and bias (1,).](picture:module_tree)
#
# In numbers: the sizes 1, 32, 32, 1 make three layers: from 1 to 32, from 32 to 32, from 32 to 1.
# Note the shapes in the picture. `nn.Linear` stores its weight as (out, in), the other way round from our W.
#
# <details><summary>Hint 1</summary>
#
# Which pairs of neighbours are there in [1, 32, 32, 1]? And how many layers get a ReLU?
# </details>
# <details><summary>Hint 2</summary>
#
# `pairwise([1, 32, 32, 1])` walks over (1, 32), (32, 32), (32, 1). One `nn.Linear` for each of them,
# and all of them into an `nn.ModuleList` with the name `self.layers`.
# </details>
# <details><summary>Hint 3</summary>
#
# `forward` has the form of your `mlp_predict`: a loop over `self.layers[:-1]`, then the last one.
# A layer is called like a function, and brings its own W and b.
# </details>
#
# Docs: [nn.Module](https://pytorch.org/docs/stable/generated/torch.nn.Module.html) ·
# [nn.Linear](https://pytorch.org/docs/stable/generated/torch.nn.Linear.html) ·
# [nn.ModuleList](https://pytorch.org/docs/stable/generated/torch.nn.ModuleList.html) ·
# [pairwise](https://docs.python.org/3/library/itertools.html#itertools.pairwise).

# %% exercise="MLP"

# %% [markdown]
# **What you made.** A network that knows its own weights. We ask for the list, and then give it the weights of `start`.
# Transposed, since a Linear stores them the other way round. Does it agree with your function?


# %%
def fresh_model():
    """An MLP with the very weights of `start`."""
    model = MLP([1, 32, 32, 1])
    with torch.no_grad():
        for layer, (W, b) in zip(model.layers, start, strict=True):
            layer.weight.copy_(W.T)  # (d_in, d_out) -> (d_out, d_in)
            layer.bias.copy_(b)
    return model


model = fresh_model()
table = [
    {"name": name, "shape": tuple(values.shape), "numbers": values.numel()} for name, values in model.named_parameters()
]
display(pd.DataFrame(table))
print("numbers in all:", sum(row["numbers"] for row in table))
print(f"largest difference to mlp_predict: {(model(many) - mlp_predict(start, many)).abs().max().item():.1e}")

# %% [markdown]
# ### The second way to train
#
# With a module, `loss.backward()` walks the chain and leaves every slope in `.grad`, beside its parameter.
# Then each parameter takes its step. Read this loop slowly. **What would happen without the line `model.zero_grad()`?**

# %%
model = fresh_model()
losses_by_backward = []
for _ in range(200):
    error = F.mse_loss(model(data.train_inputs), data.train_targets)
    model.zero_grad()  # empty every .grad
    error.backward()  # fill every .grad
    with torch.no_grad():
        for parameter in model.parameters():
            parameter -= 0.05 * parameter.grad
    losses_by_backward.append(error.item())

print(f"loss before: {losses_by_backward[0]:.3f}, after 200 steps: {losses_by_backward[-1]:.3f}")

# %% [markdown]
# <details><summary>Answer</summary>
#
# `backward` *adds* to `.grad`. Without emptying it, each step would follow the sum of all slopes so far.
# That is no longer downhill from here, and there is no error message.
# </details>
#
# ### Exercise: `train` · core · difficulty 2 · 10 minutes
#
# The third way leaves the step to an **optimiser**. It holds the parameters, and knows how to move them.
# Every later lesson has a loop of this form.
#
# ![Four boxes in a circle: 1 forget the old gradients, 2 predict and measure the loss, 3 loss.backward() for fresh gradients, 4 the optimiser moves the weights. In the middle: again and again.](picture:training_loop)
#
# In numbers: a line with w = 0 and b = 0, input 1, target 2, rate 0.25. It predicts 0, so the loss is 4.
# Both slopes are 2 · (0 - 2) · 1 = -4. Both parameters become 1, and the next prediction is 2. The loss is 0.
#
# Note which losses come back: each one is measured *before* its step. Three steps give 4, 0, 0.
#
# <details><summary>Hint 1</summary>
#
# The picture has four boxes. Which object does each of them: the model, the loss, or the optimiser?
# </details>
# <details><summary>Hint 2</summary>
#
# `zero_grad` and `step` belong to the optimiser, `backward` to the loss. Keep plain numbers, not tensors:
# a stored tensor would keep its whole chain in memory.
# </details>
# <details><summary>Hint 3</summary>
#
# Four lines inside `for _ in range(steps)`, and a fifth that appends `.item()` of the loss.
# </details>
#
# Docs: [torch.optim](https://pytorch.org/docs/stable/optim.html) ·
# [backward](https://pytorch.org/docs/stable/generated/torch.Tensor.backward.html) ·
# [item](https://pytorch.org/docs/stable/generated/torch.Tensor.item.html).

# %% exercise="train"

# %% [markdown]
# **What you made.** Three ways to train, from the same start, with the same rate. **Will the curves differ?**
# And a fourth runner: the optimiser Adam, which gives every weight a step length of its own.

# %%
guess_adam = None  # after 300 steps, which has the lower training loss: "SGD" or "Adam"?

model = fresh_model()
losses_by_sgd = train(model, *batch, torch.optim.SGD(model.parameters(), lr=0.05), 300)
model = fresh_model()
losses_by_adam = train(model, *batch, torch.optim.Adam(model.parameters(), lr=0.01), 300)

three_ways = zip(losses_by_hand[:200], losses_by_backward, losses_by_sgd[:200], strict=True)
gap = max(max(losses) - min(losses) for losses in three_ways)
print(f"largest gap between the three ways, over 200 steps: {gap:.1e}")
display(
    plots.curves(
        {
            "by hand": losses_by_hand[:300],
            "by backward": losses_by_backward,
            "SGD": losses_by_sgd,
            "Adam": losses_by_adam,
        },
        title="Training loss, three ways and Adam",
        levels={"always the mean": mean_on_training},
    )
)
plots.bars(
    {"SGD": losses_by_sgd[-1], "Adam": losses_by_adam[-1]},
    title="Training loss after 300 steps",
    guess=guess_adam,
)

# %% [markdown]
# **What you should see**
#
# - Over 200 steps the three ways differ by less than 0.001. <!-- claim: three_ways_agree -->
# - After 300 steps Adam's training loss is below 60 % of SGD's. <!-- claim: adam_is_ahead -->
#
# The three ways are one and the same computation. Adam is another one.
# Whether Adam's curve is also better on *new* points is another question. You know by now how to ask it.

# %% [markdown]
# ### Experiment: how deep?
#
# More layers can bend more often. We train networks with 0, 1, 2, 4 and 8 hidden layers, 32 units each.
# **Which depth has the lowest *test* loss?** And which the lowest training loss?
#
# One data set could fool us by luck. So each depth is trained on five data sets, and we look at the mean.

# %%
guess_depth = None  # 0, 1, 2, 4 or 8

depths = [0, 1, 2, 4, 8]
by_depth = lab.by_depth(MLP, train, depths, seeds=range(5))
train_losses, test_losses = zip(*by_depth.values(), strict=True)
names = [str(depth) for depth in depths]
display(
    plots.curves(
        {"training loss": train_losses, "test loss": test_losses},
        x_names=names,
        title="Mean of five data sets",
        x_label="hidden layers",
        levels={"noise": data.noise**2},
    )
)
plots.bars(
    dict(zip(names, test_losses, strict=True)),
    title="Test loss by number of hidden layers",
    guess=str(guess_depth),
)

# %% [markdown]
# **What you should see**
#
# - With no hidden layer the network is a straight line, and its test loss is within 5 % of the line's. <!-- claim: depth_zero_is_a_line -->
# - One hidden layer cuts the test loss to less than 60 % of that. <!-- claim: one_layer_helps -->
# - From 1 to 8 hidden layers the training loss falls to less than a third, and yet the test loss rises. <!-- claim: depth_memorises -->
#
# Depth is not better or worse in itself. With 24 points, deep networks have room to learn the noise by heart.
# With more points there is less to memorise. Try 240 of them: it is the first of the things to try, at the end.

# %% [markdown]
# ### Experiment: a price for large weights
#
# Now we charge the penalty, so we minimise *error + price · l2_penalty*. What does that do to one weight w?
#
# $$\text{slope of } \text{price} \cdot w^2 = 2 \cdot \text{price} \cdot w$$
#
# So each step pulls every weight a little towards 0. In numbers: price 0.01 and w = 3 add 0.06 to the slope.
#
# PyTorch's optimisers have this built in. `weight_decay` adds *weight_decay · w* to the slope, without the 2.
# **Which `weight_decay` equals a price of 0.01?** The next cell trains with the price, and with two candidates.

# %%
price = 0.01
runs = {"price 0.01": lab.penalised_losses(fresh_model(), l2_penalty, batch, price, learning_rate=0.05, steps=300)}
for decay in (0.01, 0.02):
    model = fresh_model()
    runs[f"weight_decay {decay}"] = train(model, *batch, lab.decayed_sgd(model, decay, learning_rate=0.05), 300)
for name, losses in runs.items():
    apart = max(abs(a - b) for a, b in zip(losses, runs["price 0.01"], strict=True))
    print(f"{name:17} error after 300 steps {losses[-1]:.4f}, largest gap to the price {apart:.1e}")

# %% [markdown]
# **What you should see**
#
# - A price equals a `weight_decay` of twice the price: the two differ by less than 0.0001 over 300 steps. <!-- claim: factor_two -->
#
# Two footnotes, so that you can trust this. Given plainly, `weight_decay` also pulls at biases; our helper `decayed_sgd` spares them.
# And the equality holds where decay is added to the slope, as in SGD. The optimiser AdamW shrinks the weights
# apart from the slope, so there a price and a decay are two different things (see the papers below).
#
# **How much decay is best for new points?** We take a network with three hidden layers of 64 units, which can
# learn 24 points by heart. It is trained on five data sets again. The optimiser has *momentum*: it keeps 0.9 of its
# last step and adds the new one, which gets it there sooner.

# %%
guess_decay = None  # 0, 0.003, 0.01, 0.03, 0.1 or 0.3

decays = [0, 0.003, 0.01, 0.03, 0.1, 0.3]
by_decay = lab.by_weight_decay(MLP, train, decays, seeds=range(5))
train_losses, test_losses = zip(*by_decay.values(), strict=True)
names = [str(decay) for decay in decays]
display(
    plots.curves(
        {"training loss": train_losses, "test loss": test_losses},
        x_names=names,
        title="Mean of five data sets",
        x_label="weight decay",
        levels={"noise": data.noise**2, "always the mean": baselines["mean"]},
    )
)
plots.bars(dict(zip(names, test_losses, strict=True)), title="Test loss by weight decay", guess=str(guess_decay))

# %% [markdown]
# **What you should see**
#
# - From decay 0 to 0.01 the training loss rises, and the test loss falls by at least 4 %. <!-- claim: decay_helps -->
# - With decay 0.3 the test loss is within 10 % of "always the mean": a flat line is the cheapest network of all. <!-- claim: too_much_decay -->
#
# A worse training loss, and better predictions. That is the trade, and only a test set shows it.

# %% [markdown]
# ## The bug clinic
#
# Here is a loss that a colleague wrote. Read it. Is anything wrong?


# %%
def suspicious_loss(predictions, targets):
    """Mean squared error."""
    return ((predictions - targets) ** 2).mean()


# %% [markdown]
# The formula is right. The targets come out of a data file as a plain row of 24 numbers, shape `(24,)`.
# The model predicts `(24, 1)`, as always. **What happens when we train with this?**
#
# 1. An error message.
# 2. It learns as before.
# 3. The loss falls a little, and the network learns nothing.
# 4. The loss explodes.

# %%
guess_bug = None  # 1, 2, 3 or 4

flat_targets = data.train_targets.squeeze(1)  # (24, 1) -> (24,), as from a file
sick_model = fresh_model()
sick_losses = lab.fit_with(suspicious_loss, sick_model, data.train_inputs, flat_targets)

with torch.no_grad():
    sick_curve, sick_predictions = sick_model(grid()), sick_model(data.train_inputs)
print("your guess:", guess_bug)
print(f"loss: {sick_losses[0]:.4f} at first, {sick_losses[100]:.4f} after 100 steps, {sick_losses[-1]:.4f} at the end")
print(f"spread of the predictions: {sick_predictions.std():.4f}, of the targets: {flat_targets.std():.4f}")
display(
    plots.curves(
        {"suspicious loss": sick_losses[:200]},
        title="The first 200 of 1,000 steps",
        levels={"always the mean": mean_on_training},
    )
)
plots.fits({"training points": batch}, {"the network": (grid(), sick_curve)}, title="What it learnt")

# %% [markdown]
# **What you should see**
#
# - The loss ends within 1 % of "always the mean". <!-- claim: broken_loss_ends_at_the_mean -->
# - The predictions spread by less than 0.05, though the targets spread by more than 0.6. <!-- claim: broken_predictions_are_flat -->
#
# The answer is 3. No error, a falling loss, a flat line. Think back to puzzle 1: a column met a row.
#
# ![Predictions 1 and 3 against targets 1 and 3. What we meant: two differences, both 0, mean square 0. What we got: a table of four differences, 0, -2, 2, 0, mean square 2. The two that were meant stand on the diagonal.](picture:broadcast_pairs)
#
# In numbers: predictions 1 and 3 are perfect for targets 1 and 3. The loss should be 0. But each prediction
# meets *both* targets, so there are four differences, and the loss is (0 + 4 + 4 + 0) / 4 = 2.
#
# So every prediction is pulled towards all targets at once. What pleases all of them best is their mean.
#
# ### Exercise: `loss_is_sound` · core · difficulty 3 · 15 minutes
#
# Write the test that would have caught it. It is handed a loss function and says whether it can be trusted.
# Choose predictions and targets of your own, shape `(n,)`. A sound loss gives the same number for the predictions as `(n, 1)`.
#
# | predictions | targets | sound loss | suspicious loss |
# |---|---|---|---|
# | `(2,)`: 1, 3 | `(2,)`: 1, 3 | 0 | 0 |
# | `(2, 1)`: 1, 3 | `(2,)`: 1, 3 | 0, or an error | 2 |
#
# A loss that refuses a column with an error is never wrong in silence. Your test may say what it likes about it.
#
# <details><summary>Hint 1</summary>
#
# Would n = 1 show the bug? Would predictions that are all equal? Try both on paper.
# </details>
# <details><summary>Hint 2</summary>
#
# Call the loss twice with the same targets: once with the flat predictions, once with the column. Compare the two numbers,
# with a little room for rounding. Some losses take logarithms, so numbers between 0 and 1 are a kind choice.
# </details>
# <details><summary>Hint 3</summary>
#
# `predictions.unsqueeze(1)` is the column. `float(...)` makes a number of either result, and
# `try:` / `except` catches a loss that refuses.
# </details>
#
# Docs: [unsqueeze](https://pytorch.org/docs/stable/generated/torch.unsqueeze.html) ·
# [torch.allclose](https://pytorch.org/docs/stable/generated/torch.allclose.html) ·
# [math.isclose](https://docs.python.org/3/library/math.html#math.isclose).

# %% exercise="loss_is_sound"

# %% [markdown]
# **What you made.** A doctor. Here are five patients, one of them PyTorch's own. **Whom do you trust?**


# %%
def repaired_loss(predictions, targets):
    return ((predictions.reshape(targets.shape) - targets) ** 2).mean()


def strict_loss(predictions, targets):
    if predictions.shape != targets.shape:
        raise ValueError("predictions and targets need the same shape")
    return ((predictions - targets) ** 2).mean()


def absolute_loss(predictions, targets):
    return (predictions - targets).abs().mean()


patients = {
    "suspicious_loss": suspicious_loss,
    "repaired_loss": repaired_loss,
    "strict_loss": strict_loss,
    "absolute_loss": absolute_loss,
    "F.mse_loss": F.mse_loss,
}
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # F.mse_loss warns about the shapes, and goes on all the same
    verdicts = {name: loss_is_sound(patient) for name, patient in patients.items()}
pd.DataFrame({"sound?": ["yes" if verdict else "no" for verdict in verdicts.values()]}, index=list(verdicts))

# %% [markdown]
# PyTorch's own loss broadcasts too. It prints a warning once, somewhere among your output, and goes on.
# `strict_loss` refuses the column, so it can't be wrong in silence; either answer is fine for it.
#
# Now the cure: the same model, the same flat targets, the repaired loss.

# %%
healthy_model = fresh_model()
healthy_losses = lab.fit_with(repaired_loss, healthy_model, data.train_inputs, flat_targets)
with torch.no_grad():
    healthy_curve = healthy_model(grid())
display(
    plots.curves(
        {"suspicious loss": sick_losses, "repaired loss": healthy_losses},
        title="Before and after",
        levels={"always the mean": mean_on_training},
    )
)
plots.fits(
    {"training points": batch},
    {"suspicious": (grid(), sick_curve), "repaired": (grid(), healthy_curve)},
    title="What each network learnt",
)

# %% [markdown]
# **What you should see**
#
# - The repaired loss ends below half of the suspicious one. <!-- claim: the_repair_works -->
#
# From now on, be wary of a loss that settles exactly where "always the mean" is. It is a fingerprint.

# %% [markdown]
# ## Explain it
#
# A friend writes: "My network's loss fell for a while and then stopped. It equals the variance of my targets.
# I tried more layers and more steps, and nothing helps."
#
# Answer in four or five sentences, in your own words. What may have happened, why does the loss stop at that
# very number, and what would you ask your friend to print?

# %% [markdown] explain=true
# The variance of the targets is the loss of always predicting their mean, so the network has probably learnt
# a flat line. One cause is a shape bug: predictions of shape (n, 1) against targets of shape (n,) broadcast to
# n times n differences. Then every prediction is compared with every target, and the number that is closest to
# all of them is the mean, whatever the input. More layers can't help, because the loss itself asks for the mean.
# I would ask for the shapes of the predictions and the targets, for the shape of their difference, and for a plot of
# the predictions; then I would run the loss on (n, 1) and on (n,) and see whether the number changes.

# %% [markdown]
# ## How good were your guesses?
#
# Here are your predictions beside what happened. A wrong guess is worth more than none: it shows where to look.

# %%
fastest = min(microseconds, key=microseconds.get)
best_rate = min(by_rate, key=lambda rate: by_rate[rate][-1] if np.isfinite(by_rate[rate][-1]) else np.inf)
best_depth = min(by_depth, key=lambda depth: by_depth[depth][1])
best_decay = min(by_decay, key=lambda decay: by_decay[decay][1])
board = [
    ("shape of column + row", guess_shape, tuple(total.shape)),
    ("view the same as transpose?", guess_same, "no"),
    ("shape of values[:, index]", guess_columns, tuple(values[:, index].shape)),
    ("fastest prediction", guess_fastest, fastest),
    ("learning rate with the lowest loss", guess_rate, best_rate),
    ("weights grow or shrink?", guess_growth, "grow" if after > before else "shrink"),
    ("parameters of Forgetful", guess_forgetful, 0),
    ("lower after 300 steps", guess_adam, "Adam" if losses_by_adam[-1] < losses_by_sgd[-1] else "SGD"),
    ("depth with the lowest test loss", guess_depth, best_depth),
    ("decay with the lowest test loss", guess_decay, best_decay),
    ("what the suspicious loss does", guess_bug, 3),
]
pd.DataFrame(
    [
        (question, "-" if guess is None else guess, answer, "yes" if guess == answer else "")
        for question, guess, answer in board
    ],
    columns=["question", "your guess", "what happened", "right?"],
)

# %% [markdown]
# ## To recall
#
# Answer from memory, then unfold.
#
# **1.** When do two shapes broadcast, and when is that dangerous?
#
# <details><summary>Answer</summary>
#
# Lined up from the right, each pair of sizes must be equal, or one of them 1 or missing. It is dangerous when it
# happens unasked: `(n, 1)` minus `(n,)` gives `(n, n)` without an error.
# </details>
#
# **2.** What are the four moves of a training step, and why is the first one needed?
#
# <details><summary>Answer</summary>
#
# Forget the old gradients, predict and measure the loss, go backward, step. `backward` adds to `.grad`,
# so without the first move the slopes of earlier steps would pile up.
# </details>
#
# **3.** The training loss fell by half. What must you look at before you are pleased?
#
# <details><summary>Answer</summary>
#
# The loss on test data that shares nothing with the training data, and a baseline such as the mean. The network
# may have learnt noise by heart, or be no better than a predictor that has learnt nothing.
# </details>
#
# ## Things to try
#
# - Draw 240 training points with `noisy_curve(seed=0, points=240)`. Which depth is best now?
# - Give `suspicious_loss` targets of shape `(1, 24)`. Does anything change? Think of the picture first.
# - Replace ReLU by `torch.tanh` in `mlp_predict`. What do random networks look like then?
# - Write `batched_dot` with `@` and a transpose. Time both with `median_seconds`.
# - Draw the network's curve outside its data, from -4 to 4. What does it do where it has seen nothing? Why?
#
# ## Glossary
#
# | word | meaning |
# |---|---|
# | autograd | PyTorch's walk back through a computation, which gives every slope |
# | axis, dimension | one direction of a tensor; shape `(3, 4)` has two |
# | baseline | a simple rival that any model must beat |
# | batch | several examples handled at once; here also the pair (inputs, targets) |
# | broadcasting | repeating an axis of size 1, or a missing one, until two shapes fit |
# | float32, float64 | numbers with about 7 or about 16 digits |
# | gradient | the slopes of the loss, one for each parameter |
# | learning rate | how far a step goes along its slope |
# | loss | one number that says how wrong the predictions are |
# | MLP | multi-layer perceptron: linear layers with ReLU between them |
# | optimiser | the object that moves the parameters, such as SGD or Adam |
# | over-fitting | learning the noise of the training data by heart |
# | ReLU | replaces negative numbers by 0 |
# | tensor | a block of numbers with a shape, which can remember how it was computed |
# | test data | examples that no training step has seen |
# | weight decay | pulling every weight a little towards 0 at each step |
#
# ## Papers and books
#
# - Goodfellow, Bengio, Courville, [*Deep Learning*](https://www.deeplearningbook.org), MIT Press 2016: sections 4.3 (following slopes), 5.2 (over-fitting), 6.3.1 (ReLU), 6.5 (back-propagation), 7.1.1 (the squared penalty).
# - Rumelhart, Hinton, Williams, "Learning representations by back-propagating errors", *Nature* 323, 1986: four pages, all readable.
# - Krogh, Hertz, "A Simple Weight Decay Can Improve Generalization", NIPS 1991: why decay suppresses what the data don't ask for.
# - Kingma, Ba, [Adam](https://arxiv.org/abs/1412.6980), ICLR 2015: section 2 is the algorithm.
# - Loshchilov, Hutter, [Decoupled Weight Decay Regularization](https://arxiv.org/abs/1711.05101), ICLR 2019: section 2, why decay and penalty are not the same in Adam.
# - Harris and others, "Array programming with NumPy", *Nature* 585, 2020: figure 1 draws indexing, broadcasting and reduction.
# - Paszke and others, [PyTorch](https://arxiv.org/abs/1912.01703), NeurIPS 2019: section 4.3, automatic differentiation.
# - Ansel and others, "PyTorch 2", ASPLOS 2024: sections 3 and 4, how `torch.compile` reads and rewrites your function.
#
# In lesson 2 we turn text into numbers, so that there is something to attend to.
