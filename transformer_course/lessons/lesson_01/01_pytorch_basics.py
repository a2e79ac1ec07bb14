# ---
# title: Points in, curve out
# topic: tensors, gradients and training
# group: Foundations
# picture: Random weights, 2,000 steps later
# sittings: [105, 75, 105]
# builds_on: [some Python and a little NumPy]
# gives:
#   - read the shape of a tensor, and say what an operation does to it
#   - write a small network and its loss, in NumPy and in PyTorch
#   - work out a gradient by hand, and check any gradient without calculus
#   - train a network step by step, with autograd, with an optimiser, and in minibatches
#   - tell learning from memorising, with baselines and a test set
#   - catch a shape bug that raises no error
# ---

# %% [markdown]
# TITLE
#
# Here are 24 noisy points. Some curve made them, but nobody tells you which one. How would a machine find it?
#
# ![24 black points scattered around a wave. A solid blue line, the network's, follows them. A dashed orange line, the true curve, runs close to it. Both go up and down twice between x = -2 and x = 2, and rise at the end.](picture:curve_from_points)
#
# A network found the blue line. You will write that network today, and you will train it yourself.
# You start in NumPy, with a gradient worked out by hand, so that nothing is hidden.
# Then PyTorch takes over more and more of the work.
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
# BUILDS_ON You should know functions, lists, loops, and what a **class** is. Try these three without running anything.
#
# **1.** What is `np.array([[1, 2], [3, 4]]) @ np.array([1, 10])`? And what shape is `np.zeros((5, 3)).sum(axis=0)`?
#
# <details><summary>Answer</summary>
#
# `[21, 43]`: each row is multiplied with the vector, so 1·1 + 2·10 = 21 and 3·1 + 4·10 = 43.
# The shape is `(3,)`: the axis you sum over, the first one, disappears.
# See [NumPy for absolute beginners](https://numpy.org/doc/stable/user/absolute_beginners.html).
# </details>
#
# **2.** With `pairs = [("a", 1), ("b", 2)]`, what is `[number for _, number in pairs[:-1]]`?
#
# <details><summary>Answer</summary>
#
# `[1]`. The slice leaves out the last pair, and the loop takes each pair apart.
# See [list comprehensions](https://docs.python.org/3/tutorial/datastructures.html#list-comprehensions).
# </details>
#
# **3.** What does this print?
#
# ```python
# class Counter:
#     def __init__(self, start):
#         self.count = start
#
#     def add(self, number):
#         self.count += number
#
# counter = Counter(10)
# counter.add(5)
# print(counter.count)
# ```
#
# <details><summary>Answer</summary>
#
# `15`. `Counter(10)` makes an object and calls `__init__` with it; the object is called `self` there. It keeps
# its own `count`, and `add` changes that. Networks in PyTorch are objects like this one.
# See [classes](https://docs.python.org/3/tutorial/classes.html#a-first-look-at-classes).
# </details>
#
# Two out of three? Go on. Fewer? Read the linked pages first, then come back.
#
# Run the next cell first: it loads the tools. `plots` draws, and `lab` runs the longer experiments. Both come
# with the course, and you can read them: `transformer_course/plots` and `transformer_course/lessons/lesson_01/experiments.py`.
# Below each figure, open *In words* for a description. Everything here runs on the CPU.

# %% setup=true
import math
from collections.abc import Callable
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch
import torch.nn.functional as F
from IPython.display import display
from torch import nn

from transformer_course import guesses, plots
from transformer_course.lessons.lesson_01 import experiments as lab
from transformer_course.progress import Progress
from transformer_course.tasks.curve import baseline_losses, grid, noisy_curve, shared_inputs, true_curve

torch.set_num_threads(1)  # one thread: on a machine that others use too, two can be ten times slower

# %% [markdown]
# ### Where this is going
#
# Before you begin, meet something that you will have written by lesson 5: a small Transformer.
# It reads a row of letters and writes them backwards. Nobody programs the rule. It sees 4,000 examples, and learns.
# The next cell trains it while you watch, which takes 10 to 30 seconds on most machines.

# %%
words = ["face", "badge", "decade", "high"]
reverser, written, share = lab.learn_to_reverse(words)
print(f"right on {share:.0%} of 300 rows of letters that it never saw in training")
display(written)
lab.where_it_looks(reverser, "badge")

# %% [markdown]
# **What you should see**
#
# - After 200 steps it reverses more than 95% of the rows it has never seen. <!-- claim: reverses_new_rows -->
# - For each letter that it writes, it looks mostly at the same letter in the word it reads. <!-- claim: it_looks_back -->
#
# This is as small as a Transformer gets, and reversing is an easy task. Translation, text and long sums need more of
# everything, but little that's new. You will build models for all three: one that translates in lesson 8, one that
# invents names in lesson 11, and in lesson 14 one that adds numbers of a hundred digits, although it has only ever
# practised with five.
#
# The table of who looks at whom is called *attention*.
# By lesson 5 you will have written every part of this model, and today you write the part that makes it learn.

# %% [markdown]
# ## Part 1 · Shapes are puzzles
#
# A tensor is a block of numbers with a shape. Attention, the heart of this course, is largely a matter of shapes.
# So we begin with four small puzzles. Each of them comes back in a later lesson.
#
# ### Puzzle 1: a column meets a row
#
# You add a column of shape `(3, 1)` to a row of shape `(4,)`. **What shape is the sum, or is it an error?**
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
# <details><summary>Open this once you have run the cell</summary>
#
# Every number in the column met every number in the row. This is called **broadcasting**.
#
# ![A column with the numbers 0, 10, 20 plus a row with 1, 2, 3, 4 gives a table of 3 rows and 4 columns. 10 and 3 are framed on the left, and their sum 13 on the right.](picture:broadcasting)
#
# PyTorch lines the two shapes up from the right. Where one of them has a 1, or nothing, it is repeated until it fits.
#
# | | | |
# |---|---|---|
# | column | 3 | 1 |
# | row | | 4 |
# | **sum** | **3** | **4** |
# </details>
#
# **Now a harder one.** What shape is a `(3, 1)` tensor *minus* a `(3,)` tensor?
#
# <details><summary>Answer</summary>
#
# `(3, 3)`. Lined up from the right, the 3 sits over the 1. So you get nine differences, not three.
# Keep this one in mind. It will cost us a whole network at the end of the lesson.
# </details>
#
# See [broadcasting in PyTorch](https://pytorch.org/docs/stable/notes/broadcasting.html).

# %% [markdown]
# ### Puzzle 2: two ways to (3, 2)
#
# `x` holds the numbers 0 to 5 in shape `(2, 3)`. Both `x.view(3, 2)` and `x.T` have shape `(3, 2)`.
# **Do they hold the same numbers in the same places?** Guess yes or no.

# %%
guess_same = None  # "yes" or "no"

x = torch.arange(6).view(2, 3)
viewed, transposed = x.view(3, 2), x.T
print("your guess:", guess_same)
print("x.view(3, 2):", viewed.tolist())
print("x.T:         ", transposed.tolist())

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# ![Three grids. x holds 0, 1, 2 above 3, 4, 5. The view holds 0, 1 above 2, 3 above 4, 5. The transpose holds 0, 3 above 1, 4 above 2, 5. The number 1 is framed in all three: it stays in the first row of the view, and moves to the second row of the transpose.](picture:view_against_transpose)
#
# `view` keeps the reading order and breaks the lines in different places. `T` swaps rows and columns.
# The shapes agree, the contents don't, and no error tells you.
#
# In lesson 3 you will cut every word's vector into pieces, one for each attention head. Use a `view` there where
# a transpose belongs, and the words get mixed up. You will know what to look for.
# </details>
#
# See [view](https://pytorch.org/docs/stable/generated/torch.Tensor.view.html) ·
# [transpose](https://pytorch.org/docs/stable/generated/torch.transpose.html).

# %% [markdown]
# ### Puzzle 3: letters for axes
#
# There is a way to multiply tensors that names every axis. It is called `einsum`, and it has two rules.
#
# 1. Give each axis a letter. The same letter twice means that these two axes run in step.
# 2. A letter that is missing to the right of the arrow is summed over.
#
# Take question 1 of the test, `[[1, 2], [3, 4]]` times `[1, 10]`. In letters it is `"ij,j->i"`.
# The letter j occurs twice and is missing on the right. So row i becomes the sum over j: 1·1 + 2·10 = 21.
#
# **What does `"ij,ij->i"` do with two matrices?** And `"ij->ji"`, with one? Work them out on paper, then run the cell.

# %%
left = torch.tensor([[1, 2], [3, 4]])
right = torch.tensor([[1, 10], [0, 1]])
print("ij,j->i  :", torch.einsum("ij,j->i", left, torch.tensor([1, 10])).tolist())
print("ij,ij->i :", torch.einsum("ij,ij->i", left, right).tolist())
print("ij->ji   :", torch.einsum("ij->ji", left).tolist())

# %% [markdown]
# <details><summary>What are they?</summary>
#
# `"ij,ij->i"` is the dot product of each row with its partner: 1·1 + 2·10 = 21, and 3·0 + 4·1 = 4.
# `"ij->ji"` is the transpose.
# </details>

# %% [markdown] exercise="batched_dot" kind="core" difficulty=2 minutes=10
# Attention lets every word ask every other word: how well do we match? The answer is a dot product.
# So you need the dot product of every row of one matrix with every row of another. And a whole batch of sentences comes at once.
#
# ![Matrix a with rows (1, 2) and (3, 4); matrix b with rows (1, 0), (0, 1) and (1, 1). The result has 2 rows and 3 columns. The second row of a and the third row of b are framed, and so is their entry: 3 times 1 plus 4 times 1 is 7.](picture:every_row_with_every_row)
#
# $$\text{result}[i, j, k] = \sum_{d} a[i, j, d] \cdot b[i, k, d]$$
#
# The picture shows one example i of the batch. Examples never mix: sentence 1 asks nothing of sentence 2.
#
# <details><summary>Hint 1</summary>
#
# Three axes survive and one is summed over. Which one?
# </details>
# <details><summary>Hint 2</summary>
#
# Four letters are enough: one for the batch, one for the rows of a, one for the rows of b, one for d.
# </details>
# <details><summary>Hint 3</summary>
#
# One line of the form `torch.einsum("b??,b??->b??", a, b)`, with a letter for each question mark.
# </details>
#
# Docs: [torch.einsum](https://pytorch.org/docs/stable/generated/torch.einsum.html) ·
# [torch.matmul](https://pytorch.org/docs/stable/generated/torch.matmul.html), if you prefer `@`.

# %% [markdown]
# **What you've built.** Here are two sentences of three words each. Every word is a vector of two numbers that we made up:
# how much animal, how much vehicle. Your function asks who matches whom, in both sentences at once.

# %%
words = {"cat": [1.0, 0.0], "dog": [0.9, 0.2], "car": [0.0, 1.0], "bus": [0.1, 0.9]}
sentences = [["cat", "car", "dog"], ["bus", "dog", "car"]]
vectors = torch.tensor([[words[word] for word in sentence] for sentence in sentences])
matches = batched_dot(vectors, vectors)  # (2, 3, 2) and (2, 3, 2) -> (2, 3, 3)
for sentence, match in zip(sentences, matches, strict=True):
    title = "who matches whom: " + " ".join(sentence)
    display(plots.heatmap(match, sentence, sentence, title=title, low=0, high=1))

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

values = torch.tensor([[5, 1, 8, 2], [7, 3, 0, 6], [4, 9, 1, 2]]).float()  # (3, 4)
index = torch.tensor([2, 0, 3])  # (3,)
print("your guess:", guess_columns)
print("it is:     ", tuple(values[:, index].shape))
print(values[:, index])

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# You got three whole columns, each with all the rows: nine numbers where we wanted three.
# </details>

# %% [markdown] exercise="pick" kind="core" difficulty=2 minutes=10
# In lessons 3 and 4 the same step reads off how likely a model thought the right answer was. The loss is made from that.
#
# ![A table of 3 rows and 4 columns. In row 0 column 2 is framed, in row 1 column 0, in row 2 column 3. The index 2, 0, 3 is next to it, and the picked entries are 8, 7 and 2.](picture:one_entry_a_row)
#
# $$\text{result}[i] = \text{values}[i, \text{index}[i]]$$
#
# For example: row 0 gives entry 2, which is 8. Row 1 gives entry 0, which is 7. Row 2 gives entry 3, which is 2.
#
# <details><summary>Hint 1</summary>
#
# `values[:, index]` goes through all rows for each index. Which row should go with which index?
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

# %% [markdown]
# **What you've built.** The scores of the right answers are framed. In which question does a wrong answer score higher?

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
# ## Part 2 · One network, and one gradient by hand
#
# ### The data
#
# The 24 points are our **training** data. For **testing** we draw 500 more points from the same curve.
# The network learns from the 24 and is scored on the 500, which it never trains on.
#
# Before any network: what does a predictor score that always answers with the mean? Or one that draws a straight line?
# Such a simple rival is called a **baseline**. Without one, a loss means nothing.

# %%
data = noisy_curve(seed=0)
print("training inputs:", tuple(data.train_inputs.shape), data.train_inputs.dtype)
print("test inputs:    ", tuple(data.test_inputs.shape), data.test_inputs.dtype)
print("test inputs that also appear in the training data:", shared_inputs(data))

baselines = baseline_losses(data)
points = {"training points": data.train, "test points": data.test}
display(plots.fits(points, title="What we have"))
plots.bars(baselines, title="Mean squared error on the test points", x_label="test loss")

# %% [markdown]
# **What you should see**
#
# - Always answering with the mean costs about 0.68, and the best straight line about 0.61. (In this lesson, "about" means give or take 0.03, with the notebook's own seeds.) <!-- claim: baselines_cost -->
# - The true curve itself costs about 0.18. That is noise, and nobody can learn it. <!-- claim: noise_remains -->
# - No test input appears in the training data: the overlap is 0 of 500. <!-- claim: no_overlap -->
#
# So a network should end well below the straight line. Below the true curve would be luck, or cheating.

# %% [markdown]
# ### A network is made of bends
#
# How can multiplying and adding make a curve? They can't: a line of a line is still a line. One small step changes
# that. **ReLU** replaces every negative number by 0. It puts one bend into a line, and bends add up.
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
# At x = 1: (1, 0), after ReLU (1, 0), so 1·1 - 2·0 = **1**. At x = -1: (-1, -2), after ReLU (0, 0), so **0**.
# </details>
#
# A network with one or more hidden layers like this is a **multi-layer perceptron**, or MLP. We write it as a list
# of pairs, `params = [(W, b), (W, b), ...]`, one pair per layer. These are the shapes along the way:
#
# ![Four boxes in a row: inputs (n, 1), hidden (n, 32), hidden (n, 32), predictions (n, 1). Arrows between them say: times W plus b and ReLU, with W of shape (1, 32), then (32, 32). The last arrow, with W (32, 1), says: no ReLU.](picture:network_shapes)

# %% [markdown] exercise="mlp_predict_numpy" kind="core" difficulty=2 minutes=10
# For every layer except the last, and then for the last one:
#
# $$x \leftarrow \text{relu}(x W + b) \qquad\qquad \text{predictions} = x W + b$$
#
# Why is there no ReLU at the end? Because a prediction may be negative, and ReLU would rule that out.
#
# <details><summary>Hint 1</summary>
#
# Which layers get a ReLU? How do you say "all but the last" with a slice?
# </details>
# <details><summary>Hint 2</summary>
#
# Carry one array through a loop over the pairs. Each time: multiply by W, add b, replace what is negative by 0.
# </details>
# <details><summary>Hint 3</summary>
#
# `@` multiplies matrices, `np.maximum(..., 0)` is ReLU. `for W, b in params[:-1]`, then one line for `params[-1]`.
# </details>
#
# Docs: [numpy.matmul](https://numpy.org/doc/stable/reference/generated/numpy.matmul.html) ·
# [numpy.maximum](https://numpy.org/doc/stable/reference/generated/numpy.maximum.html).

# %% [markdown]
# **What you've built.** First the tent, drawn by your function. Then three networks with random weights.

# %%
first = (np.array([[1.0, 1.0]]), np.array([0.0, -1.0]))
second = (np.array([[1.0], [-2.0]]), np.array([0.0]))
x = grid().numpy()  # (200, 1), from -2 to 2
shapes = {"the tent": (x, mlp_predict_numpy([first, second], x))}
for seed in range(3):
    drawn = lab.random_params([1, 32, 32, 1], seed)
    drawn_numpy = [(W.numpy(), b.numpy()) for W, b in drawn]
    shapes[f"random network {seed}"] = (x, mlp_predict_numpy(drawn_numpy, x))
plots.fits({"training points": data.train}, shapes, title="Curves made of bends")

# %% [markdown]
# None of them is anywhere near the points. Random weights know nothing.
# To improve them, we first need to say how bad they are.

# %% [markdown] exercise="mse_loss_numpy" kind="core" difficulty=1 minutes=5
# The **loss** is one number for the whole network. Ours is the mean of the squared errors.
#
# ![A line of predictions 2x and two targets. At x = 1 the target 2 is on the line: error 0. At x = 2 the target is 7 and the prediction 4: error -3, squared 9. The mean of 0 and 9 is 4.5.](picture:squared_errors)
#
# $$\text{loss} = \text{mean over all entries of } (\text{prediction} - \text{target})^2$$
#
# For example: predictions 2 and 4, targets 2 and 7. The errors are 0 and -3, the squares 0 and 9, the mean 4.5.
#
# <details><summary>Hint 1</summary>
#
# Which function of yours turns inputs into predictions?
# </details>
# <details><summary>Hint 2</summary>
#
# Take the batch apart, predict, subtract, square, average. The average is over everything, all rows and all columns.
# </details>
# <details><summary>Hint 3</summary>
#
# `inputs, targets = batch` first. Then `np.mean(...)` without an axis.
# </details>
#
# Docs: [numpy.mean](https://numpy.org/doc/stable/reference/generated/numpy.mean.html).

# %% [markdown]
# **What you've built.** A number to make smaller. We take random network 0 and turn one knob: the last bias,
# which moves the whole curve up or down. **Will the loss have one valley, several, or none?**

# %%
start = lab.random_params([1, 32, 32, 1], seed=0)  # tensors; our starting point from here on
start_numpy = [(W.numpy(), b.numpy()) for W, b in start]
train_numpy = (data.train_inputs.numpy(), data.train_targets.numpy())
print(f"loss before turning: {float(mse_loss_numpy(start_numpy, train_numpy)):.3f}")

# %% [markdown]
# Now we turn it, from 3 below its value to 3 above, and measure the loss at 61 positions.

# %%
knob = np.linspace(-3, 3, 61, dtype=np.float32)
W, b = start_numpy[-1]
losses = []
for turn in knob:
    turned = [*start_numpy[:-1], (W, b + turn)]
    losses.append(float(mse_loss_numpy(turned, train_numpy)))
best = int(np.argmin(losses))
print(f"lowest loss: {losses[best]:.3f}, after turning by {knob[best]:.1f}")
plots.curves({"loss": losses}, x=knob, title="Turning one knob", x_label="change of the last bias")

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# One valley: with only this bias to turn, the loss is a parabola.
# </details>
#
# This network has 1,153 knobs, and we can't try every setting of them all.
# What we want to know is which way is down, for every knob at once.
#
# ### Which way is down?
#
# The **gradient** of a weight is a slope. It says how fast the loss changes when this weight grows a little.
#
# ![The loss (2w - 6) squared is a bowl with its bottom at w = 3. At w = 1 the loss is 16, and a dashed tangent falls steeply there: its slope is -16.](picture:slope_of_a_loss)
#
# Start with a single weight w. The input is 2 and the target is 6, so the prediction is 2·w and the loss is $(2w - 6)^2$.
# At w = 1 the error is 2 - 6 = -4. Let w grow by a tiny step and follow the change:
#
# | what | changes | because |
# |---|---|---|
# | the prediction 2·w | 2 times as much as w | the input is 2 |
# | the error | just as much | the target stays where it is |
# | the squared error | 2 · (-4) = -8 times as much as the error | the slope of $e^2$ is $2e$ |
#
# Multiply them: -8 · 2 = **-16**. So slope = 2 · error · input. It is negative, so the loss falls when w grows.
# Multiplying step by step like this is the **chain rule**. It is all that training a network needs.
#
# And the bias? When b grows, the prediction grows just as much. So its slope is 2 · error · 1.
#
# With several examples the loss is a mean, and so the slope is a mean as well. Take the line 2x from above again.
#
# | input | target | prediction | error | 2 · error · input | 2 · error |
# |---|---|---|---|---|---|
# | 1 | 2 | 2 | 0 | 0 | 0 |
# | 2 | 7 | 4 | -3 | -12 | -6 |
# | | | | **mean** | **-6** = dW | **-3** = db |

# %% [markdown]
# And with several outputs? Here is a layer with two inputs and two outputs, on two examples:
#
# | | input 0 | input 1 | error 0 | error 1 |
# |---|---|---|---|---|
# | example 0 | 1 | 2 | 1 | -1 |
# | example 1 | 3 | 0 | 0 | 2 |
#
# The loss is the mean of *four* squared errors, so every slope has a factor of 2/4. For the weight from input 0 to output 1,
# take input 0 and error 1 of each example: 1 · (-1) + 3 · 2 = 5, times 2/4 is 2.5. That is dW[0, 1].
#
# **Your turn, on paper: what are the other three entries of dW, and the two of db?**
#
# <details><summary>Answer</summary>
#
# | dW | to output 0 | to output 1 |
# |---|---|---|
# | **from input 0** | 1·1 + 3·0 = 1, half of it is **0.5** | **2.5** |
# | **from input 1** | 2·1 + 0·0 = 2, half of it is **1** | 2·(-1) + 0·2 = -2, half of it is **-1** |
#
# db adds up the errors alone: 1 + 0 = 1, half of it is **0.5**; -1 + 2 = 1, half of it is **0.5**.
# </details>

# %% [markdown] exercise="linear_gradients" kind="core" difficulty=3 minutes=25
# Now write this for a whole layer, without ReLU: several inputs, several outputs, many examples, one mean.
# An entry of W, from input i to output j, gets its share from every example: 2 · its error j · its input i.
#
# $$dW[i, j] = \frac{2}{n \cdot d_{out}} \sum_{k} \text{inputs}[k, i] \cdot \text{errors}[k, j]
# \qquad\qquad db[j] = \frac{2}{n \cdot d_{out}} \sum_{k} \text{errors}[k, j]$$
#
# No autograd here, only NumPy. In letters, dW is `"ki,kj->ij"`: you have met such a product in puzzle 3.
#
# <details><summary>Hint 1</summary>
#
# What shape must dW have? Which product of `(n, d_in)` and `(n, d_out)` has that shape, and adds up the examples?
# </details>
# <details><summary>Hint 2</summary>
#
# First the errors, predictions minus targets, of shape (n, d_out). The mean is over all of them, so both sums are
# divided by how many numbers there are in `errors`. Then dW needs a transpose and a `@`, and db a sum over one axis.
# </details>
# <details><summary>Hint 3</summary>
#
# `2 * inputs.T @ ... / errors.size` for dW, and `2 * errors.sum(axis=...) / errors.size` for db.
# </details>
#
# Docs: [numpy.transpose](https://numpy.org/doc/stable/reference/generated/numpy.transpose.html) ·
# [numpy.sum](https://numpy.org/doc/stable/reference/generated/numpy.sum.html).

# %% [markdown]
# **What you've built.** Slopes, worked out by hand. Are they right? A slope can be checked without any calculus:
# nudge one number by a millionth, see how far the loss moves, and divide.

# %%
inputs, targets = (each.astype(np.float64) for each in train_numpy)  # a millionth must count
W, b = np.zeros((1, 1)), np.zeros(1)
slope_w, slope_b = linear_gradients(W, b, (inputs, targets))
here = ((inputs @ W + b - targets) ** 2).mean()
nudged_w = ((inputs @ (W + 1e-6) + b - targets) ** 2).mean()
nudged_b = ((inputs @ W + (b + 1e-6) - targets) ** 2).mean()
print(f"dW: {slope_w.item():.5f} by hand, {(nudged_w - here) / 1e-6:.5f} by nudging")
print(f"db: {slope_b.item():.5f} by hand, {(nudged_b - here) / 1e-6:.5f} by nudging")

# %% [markdown]
# Now we train. A straight line starts flat, and takes 100 small steps against its slopes.

# %%
W, b, losses = np.zeros((1, 1)), np.zeros(1), []
for _ in range(100):
    losses.append(((inputs @ W + b - targets) ** 2).mean())
    slope_w, slope_b = linear_gradients(W, b, (inputs, targets))
    W = W - 0.1 * slope_w  # a tenth of the slope, and against it
    b = b - 0.1 * slope_b

best_slope, best_height = np.polyfit(inputs[:, 0], targets[:, 0], deg=1)
print(f"your line:              {W.item():.5f} x + {b.item():.5f}")
print(f"the best straight line: {best_slope:.5f} x + {best_height:.5f}")
display(plots.curves({"loss": losses}, title="A line learns, by hand"))
lines = {"your line": (grid(), grid().numpy() @ W + b)}
plots.fits({"training points": data.train}, lines, title="Your line")

# %% [markdown]
# **What you should see**
#
# - By hand and by nudging, the slopes agree to within 0.0001. <!-- claim: hand_and_nudge_agree -->
# - After 100 steps your line is the best straight line there is, to within 0.0001. <!-- claim: line_by_hand -->
#
# You have trained a model, and nothing in it was hidden. A network is trained in the very same way. Its hidden
# layers only make the chain longer: each slope is passed back through another W and another ReLU.
# In part 3 you will follow one slope all the way back on paper, and then PyTorch does it for you.

# %% [markdown]
# ---
# ## Time for a break
#
# You have written a network and its loss, and trained a line by hand. Save the notebook, and stretch your legs.
#
# *(When you come back, run all the cells above once, then go on here.)*
#
# ---

# %% [markdown]
# ## Part 3 · The same network in PyTorch
#
# Welcome back. Where were we? `params` is a list of pairs (W, b), `mlp_predict_numpy` turns inputs into predictions,
# and `mse_loss_numpy` says how bad they are. You worked out one layer's slopes by hand. Now for the whole network.
#
# ### From arrays to tensors
#
# A tensor is an array that can also remember how it was computed. Most names stay the same.
#
# | NumPy | PyTorch | |
# |---|---|---|
# | `np.array([1.0])` | `torch.tensor([1.0])` | float64 in NumPy, float32 in PyTorch |
# | `a @ b` | `a @ b` | |
# | `np.maximum(a, 0)` | `torch.relu(a)` | |
# | `np.mean(a)`, `a.mean()` | `torch.mean(a)`, `a.mean()` | |
# | `axis=0` | `dim=0` | |
# | `a.shape` | `a.shape` | |

# %% [markdown] exercise="mlp_predict" kind="core" difficulty=1 minutes=5
# The same network, the same shapes, the same tent: (2, 1) at x = 2, and 1·2 - 2·1 = 0. One word changes. Which one?
#
# ![Two rows of three boxes. NumPy: x @ W, then + b, then np.maximum(., 0). PyTorch: x @ W, then + b, then torch.relu(.). The last boxes are framed: they are the only ones that differ.](picture:two_dialects)
#
# <details><summary>Hint 1</summary>
#
# Which call in your NumPy version does PyTorch have another name for?
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

# %% [markdown]
# **What you've built.** Two functions that should agree. How closely? Both compute in float32, which keeps about seven digits.

# %%
many = grid(1000)  # (1000, 1)
ours = mlp_predict(start, many)
theirs = torch.from_numpy(mlp_predict_numpy(start_numpy, many.numpy()))
print("NumPy:  ", tuple(theirs.shape), theirs.dtype)
print("PyTorch:", tuple(ours.shape), ours.dtype)
print(f"largest difference: {(ours - theirs).abs().max():.1e}")

# %% [markdown]
# **What you should see**
#
# - NumPy and PyTorch differ by less than 0.00001 anywhere on the curve. <!-- claim: numpy_and_torch_agree -->
#
# The numbers are the same. What PyTorch adds is a memory of how they were made.

# %% [markdown] exercise="mse_loss" kind="core" difficulty=1 minutes=5
# The same loss in tensors. But now the result is more than a number. It remembers where it came from.
#
# ![Five boxes in a row: weights, predict, minus target, square, mean. Solid arrows lead from left to right: w = 1, prediction 2, difference -4, square 16, mean 16. Dashed arrows lead back from the mean to the weights, with the slope of the loss so far on each: 1, -8, -8, -16.](picture:loss_as_a_chain)
#
# For example: the network predicts 2·w for the input 2. With w = 1 that is 2, the target is 6, and the loss is 16.
# For the way back, the chain must stay whole. So return a tensor, not a Python number.
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

# %% [markdown]
# **What you've built.** The same number as before, but with a memory. We ask the loss how it was made, last step first.

# %%
batch = data.train  # (inputs, targets)
tracked = [(W.clone().requires_grad_(), b.clone().requires_grad_()) for W, b in start]
loss = mse_loss(tracked, batch)
print(f"NumPy says   {float(mse_loss_numpy(start_numpy, train_numpy)):.6f}")
print(f"PyTorch says {loss.item():.6f}")

node, chain = loss.grad_fn, []
while node is not None and len(chain) < 12:
    chain.append(node.name().removesuffix("Backward0"))
    node = node.next_functions[0][0] if node.next_functions else None
print("made by:", " <- ".join(chain))

# %% [markdown]
# Read it from the left: the loss comes last, and each arrow leads to the step before it. Further right are the layers:
# add b, multiply by W (`Mm`), ReLU. PyTorch can walk this chain backwards, multiply the slopes on the way as you did,
# and tell every weight its share. That walk is called **autograd**.
#
# ### Four lines of autograd
#
# Here is the single weight from part 2 again: input 2, target 6, w = 1. You found the slope -16 by hand. It is the last
# number on the way back in the picture above.

# %%
w = torch.tensor(1.0, requires_grad=True)  # "remember what happens to this one"
loss = (2 * w - 6) ** 2
loss.backward()  # walk the chain backwards
print("loss:", loss.item(), " slope:", w.grad)  # backward left it here

# %% [markdown]
# `requires_grad` says which tensors want a slope. `backward` finds it, and puts it into `.grad`, next to the tensor.
#
# **What is `w.grad` if you do the same again, with the same w?**

# %%
guess_grad = None  # a number

loss = (2 * w - 6) ** 2
loss.backward()
grad_twice = w.grad.item()
print("your guess:", guess_grad)
print("it is:     ", grad_twice)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# -32: `backward` *adds* to `.grad`, so the slope is in there twice. Nothing warns you.
# Anyone who calls `backward` in a loop must clear `.grad` in between. Forgetting it is a classic bug.
# </details>
#
# ### Through a second layer
#
# One network in miniature: the prediction is v · relu(w · x), a single hidden unit. Take x = 2, w = 1, v = 3 and the target 4.
# Forward: w·x = 2, ReLU leaves it at 2, the prediction is 6, the error 2, the loss 4. And now back, one slope at a time:
#
# | slope of the loss for | | |
# |---|---|---|
# | the prediction | 2 · error | 4 |
# | v | times what v was multiplied by, the hidden 2 | 4 · 2 = **8** |
# | the hidden number | times v | 4 · 3 = 12 |
# | before the ReLU | times 1 where the ReLU let the number through, 0 where it didn't | 12 · 1 = 12 |
# | w | times x | 12 · 2 = **24** |
#
# **Your turn, on paper: what are the two slopes if w is -1?**
#
# <details><summary>Answer</summary>
#
# Now w·x is -2 and ReLU makes it 0. The prediction is 0, the error -4, and the prediction's slope is -8. But v was multiplied
# by 0, so its slope is **0**. And the ReLU let nothing through, so the slope of w is **0** as well. The unit is *silent*
# here, and with a slope of 0 neither weight moves. <!-- claim: a_silent_unit_stands_still -->
# Remember it: silent units come back twice today.
# </details>

# %%
x, target = torch.tensor(2.0), torch.tensor(4.0)
for first in (1.0, -1.0):
    w, v = torch.tensor(first, requires_grad=True), torch.tensor(3.0, requires_grad=True)
    ((v * torch.relu(w * x) - target) ** 2).backward()
    print(f"w = {first:4}: slope of w {w.grad:.0f}, slope of v {v.grad:.0f}")

# %% [markdown]
# ### Two ways to ask
#
# You have just seen the first. The second leaves `.grad` alone and returns the slopes:
#
# | | where do the slopes go? |
# |---|---|
# | `loss.backward()` | into `.grad` of every tensor that wants one |
# | `torch.autograd.grad(loss, [w, v])` | they are returned, one for each tensor in the list |
#
# One more tool: `W.detach()` is a tensor with the same numbers and no history. `requires_grad_()`, with the underscore,
# turns on tracking for an existing tensor. So `W.detach().requires_grad_()` is a fresh start.

# %% [markdown] exercise="loss_gradients" kind="core" difficulty=3 minutes=20
# Your function asks autograd for all slopes at once, for every W and every b. The caller's tensors must stay
# as they were, and they may not require gradients at all. So work on fresh copies.
#
# For example: one layer with W = 1 and b = 0, input 2, target 6. The error is -4,
# so dW = 2 · (-4) · 2 = -16 and db = 2 · (-4) = -8. The result is one pair, `[(dW, db)]`.
#
# <details><summary>Hint 1</summary>
#
# A tensor gets a slope only if it requires one. How do you get such a tensor without touching the caller's?
# </details>
# <details><summary>Hint 2</summary>
#
# Build a list of fresh pairs, compute `mse_loss` from these, and ask for the slopes in one of the two ways.
# </details>
# <details><summary>Hint 3</summary>
#
# With `backward()`: afterwards each of your own pairs holds `W.grad` and `b.grad`.
# With `torch.autograd.grad(loss, tensors)`: hand it a flat list W, b, W, b, ... and pair the answers up again.
# </details>
#
# Docs: [torch.autograd.grad](https://pytorch.org/docs/stable/generated/torch.autograd.grad.html) ·
# [backward](https://pytorch.org/docs/stable/generated/torch.Tensor.backward.html) ·
# [detach](https://pytorch.org/docs/stable/generated/torch.Tensor.detach.html) ·
# [requires_grad_](https://pytorch.org/docs/stable/generated/torch.Tensor.requires_grad_.html).

# %% [markdown]
# **What you've built.** 1,153 slopes in one call. Are they right? First a single layer, where you know the answer by hand.

# %%
exact_batch = (batch[0].double(), batch[1].double())  # float64, so that a millionth counts
layer = (torch.full((1, 1), 0.5).double(), torch.full((1,), 0.2).double())
((auto_w, auto_b),) = loss_gradients([layer], exact_batch)
W, b, inputs, targets = (tensor.numpy() for tensor in (*layer, *exact_batch))
by_hand = linear_gradients(W, b, (inputs, targets))
print(f"one layer, by autograd: {auto_w.item():.6f} and {auto_b.item():.6f}")
print(f"one layer, by hand:     {by_hand[0].item():.6f} and {by_hand[1].item():.6f}")

# %% [markdown]
# Now three weights of the network, checked by nudging.

# %%
exact = [(W.double(), b.double()) for W, b in start]
slopes = lab.detached(loss_gradients(exact, exact_batch))
places = [(0, (0, 3)), (1, (5, 7)), (2, (5, 0))]
nudged = lab.slopes_by_nudging(lambda params: mse_loss(params, exact_batch), exact, places)
by_autograd = [slopes[layer][0][place].item() for layer, place in places]
names = [f"layer {layer}, W{list(place)}" for layer, place in places]
pd.DataFrame({"by autograd": by_autograd, "by nudging": nudged}, index=names).round(6)

# %% [markdown]
# And the other slopes? Here are all those of the middle layer.

# %%
silent = lab.silent_units(exact, exact_batch[0])
print(f"units that are 0 on all 24 points: {silent[0]} in the first hidden layer,", end=" ")
print(f"{silent[1]} in the second")
plots.heatmap(
    slopes[1][0],
    title="Slopes of the middle layer's W",
    rows="from unit",
    columns="to unit",
)

# %% [markdown]
# **What you should see**
#
# - For one layer, autograd and your formula agree to within 0.000001. <!-- claim: autograd_agrees_with_the_hand -->
# - For the network, autograd and nudging agree to within 0.0001. <!-- claim: slopes_agree -->
#
# A pale cell is a small slope. Some rows and columns are zero throughout. They belong to the silent units
# that the cell counts: ReLU makes them 0 on all 24 points. What leaves a silent unit is multiplied by 0, and what comes
# back is stopped by the ReLU, as in your example on paper.

# %% [markdown] exercise="sgd_step" kind="core" difficulty=2 minutes=10
# We know which way is down. Now we take a step: every weight moves *against* its slope.
#
# ![The same bowl. From w = 1 a step with rate 0.1 lands at w = 2.6, where the loss is 0.64. A step with rate 0.3 flies across the valley to w = 5.8, where the loss is 31.36.](picture:steps_downhill)
#
# $$W \leftarrow W - \text{learning\_rate} \cdot dW \qquad b \leftarrow b - \text{learning\_rate} \cdot db$$
#
# For example: w = 1, slope -16, rate 0.1. So w becomes 1 + 1.6 = 2.6, and the loss falls from 16 to 0.64.
# **And with rate 0.3?** The slope is the same. The picture shows what happens.
#
# SGD stands for *stochastic gradient descent*. Stochastic means that each step looks at a random part of the data.
# For now we use all 24 points in every step, the **full batch**. Random parts come in part 4.
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
# `for (W, b), (dW, db) in zip(params, gradients)`, inside `with torch.no_grad():`, so that no graph is recorded.
# </details>
#
# Docs: [torch.no_grad](https://pytorch.org/docs/stable/generated/torch.no_grad.html) ·
# [zip](https://docs.python.org/3/library/functions.html#zip).

# %% [markdown]
# **What you've built.** Everything it takes to learn. A loop of predict, measure, slopes, step is a **training loop**,
# and each round is called a **step**. Here are 2,000 of them, with your functions.

# %%
params, losses_by_hand = start, []
for _ in (bar := Progress(range(2000), desc="training")):
    losses_by_hand.append(mse_loss(params, batch).item())
    bar.show_loss(losses_by_hand[-1])
    gradients = lab.detached(loss_gradients(params, batch))  # numbers only, no chain
    params = lab.detached(sgd_step(params, gradients, 0.05))

level = {"always the mean": data.train_targets.var(unbiased=False).item()}
plots.curves({"your steps": losses_by_hand}, title="Training loss", levels=level)

# %% [markdown]
# The loss has fallen. What does the network predict now, and how good is that on the test points?

# %%
fitted = {
    "before": (grid(), mlp_predict(start, grid())),
    "after": (grid(), mlp_predict(params, grid())),
}
display(plots.fits({"training points": batch}, fitted, title="Random weights, 2,000 steps later"))
scores = baselines | {"your network": mse_loss(params, data.test).item()}
plots.bars(scores, title="Mean squared error on the test points", x_label="test loss")

# %% [markdown]
# **What you should see**
#
# - Your network's test loss is about 0.26 (give or take 0.03), less than half of the straight line's. <!-- claim: by_hand_beats_the_line -->
#
# No part of this knew about waves. It followed slopes downhill, 2,000 times.

# %% [markdown]
# ### Experiment: how long a step?
#
# We took a learning rate of 0.05.
# **Which of the rates 0.001, 0.01, 0.1 and 1 has the lowest training loss after 1,000 steps?**
# And which would you not trust with your network? Type your guess before you run the cell.

# %%
guess_rate = None  # 0.001, 0.01, 0.1 or 1

by_rate, ended_with = {}, {}
for rate in (0.001, 0.01, 0.1, 1):
    run = lab.descend(mse_loss, loss_gradients, sgd_step, start, batch, rate, steps=1000)
    ended_with[rate], by_rate[rate] = run

display(lab.rates_chart(by_rate, level))
silent = lab.silent_units(ended_with[1], batch[0])
print(f"silent units after 1,000 steps with rate 1: {silent[0]} and {silent[1]} of 32")
lab.last_losses_chart(by_rate, guess_rate)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - Rate 0.1 ends at about 0.16. <!-- claim: right_rate -->
# - Rate 0.001 goes the right way, but its steps are too short: it ends at about 0.54, three times as high. <!-- claim: small_rate -->
# - Rate 1 ends far above "always the mean"; from a different starting point it ended in NaN, "not a number". <!-- claim: large_rate -->
# - After rate 1, all 32 units of the second hidden layer are silent. <!-- claim: large_rate_silences -->
#
# At rate 1 every step overshoots the valley. Each landing is higher up than the last, so the next step is longer still.
# Then its curve goes flat. With every unit of a layer at 0, what the network predicts no longer depends on x, and no
# slope gets past that layer: those units never come back.
#
# But why does the loss stay so high, far above "always the mean"? One number still learns: the last bias, which is now
# all that the network predicts. Its slope is twice its distance from the mean of the targets, so at rate 1 a step carries
# it past the mean and just as far out on the other side. And the next step carries it back.
#
# - From step to step, the last bias jumps between two numbers, and the mean of the targets is halfway between them. <!-- claim: the_last_bias_jumps -->
#
# </details>

# %% [markdown]
# ---
# ## Time for a break
#
# You have written a network, its loss, its gradients and its training. Save the notebook, and get up for a while.
#
# *(When you come back, run all the cells above once, then go on here.)*
#
# ---

# %% [markdown]
# ## Part 4 · Does it know, or remember?
#
# Welcome back. Where were we? `mse_loss` says how bad the parameters are, `loss_gradients` says which way is down,
# and `sgd_step` goes there. The loss fell. Has your network learnt the curve, or 24 points by heart?
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
# - On the training points your network beats the true curve, 0.12 to 0.19; on the test points it loses, 0.26 to 0.18. <!-- claim: it_memorises -->
#
# Better than the truth? On 24 points, yes: it has learnt part of their noise by heart. New points have different noise.
# This is **over-fitting**. A low training loss on its own proves nothing.
#
# So when does a network know, and when does it only remember? There are two suspects: large weights, and many layers.
# You'll measure the first right away. To question them both, you have to train dozens of networks, so in between you
# let PyTorch do more of the work: it keeps the weights, and it takes the steps.

# %% [markdown] exercise="l2_penalty" kind="core" difficulty=1 minutes=5
# How large are the weights of a whole network? The usual measure is the sum of their squares. Biases don't count: a bias
# moves a bend, or the whole curve, and makes neither any steeper. The sum is called a *penalty*, since we are going to charge for it.
#
# ![The parabola of squares. Weight -2 costs 4, weight 0 costs 0, weight 1 costs 1 and weight 3 costs 9. The title says: 1 + 4 + 9 + 0 = 14.](picture:squares_of_weights)
#
# $$\text{penalty} = \sum_{\text{layers}} \sum_{i,j} W_{ij}^2$$
#
# For example: weights 1 and -2 in the first layer, 3 and 0 in the second. The penalty is 1 + 4 + 9 + 0 = 14.
#
# <details><summary>Hint 1</summary>
#
# Which half of each pair (W, b) counts?
# </details>
# <details><summary>Hint 2</summary>
#
# Square and sum each W on its own, then add up the layers. Gradients must flow, so stay with tensors.
# </details>
# <details><summary>Hint 3</summary>
#
# A list comprehension over the pairs gives one number per layer. `torch.stack(...)` makes a tensor of them.
# </details>
#
# Docs: [torch.stack](https://pytorch.org/docs/stable/generated/torch.stack.html) ·
# [Tensor.sum](https://pytorch.org/docs/stable/generated/torch.sum.html).

# %% [markdown]
# **What you've built.** A measure of how large the weights are. **By what factor did yours change in the 2,000 steps?**
# Below 1 they shrank, above 1 they grew.

# %%
guess_growth = None  # a factor, such as 0.5 or 10

before, after = float(l2_penalty(start)), float(l2_penalty(params))
print(f"your guess: {guess_growth}, it is: {after / before:.2f}")
sums = {"before training": before, "after training": after}
plots.bars(sums, title="Sum of squared weights")

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - Training makes the sum of the squared weights grow, here from 21 to 36. <!-- claim: weights_grow -->
#
# Fitting noise takes sharp bends, and sharp bends take large weights, so they remain a suspect.
# </details>
#
# At the end of this part we charge for large weights. First, a better place to keep them.

# %% [markdown]
# ### A module knows its parameters
#
# Lists of pairs get tedious. Who draws the random weights, and who hands them all to the optimiser?
# PyTorch's answer is a class, `nn.Module`. A module keeps its parameters, and lists them when asked.
# Here is the smallest one, a straight line. It inherits everything `nn.Module` can do, and adds two methods.


# %%
class Line(nn.Module):
    def __init__(self):
        super().__init__()  # sets up PyTorch's records; always comes first
        self.linear = nn.Linear(1, 1)  # a weight and a bias, drawn at random

    def forward(self, inputs):
        return self.linear(inputs)


line = Line()
print("line(inputs) calls forward:", tuple(line(torch.zeros(5, 1)).shape))
print("line has", len(list(line.parameters())), "parameters: a weight and a bias")

# %% [markdown]
# **`Forgetful` keeps two layers in a Python list. How many parameters does it report?** Guess, then run.

# %%
guess_forgetful = None  # a number


class Forgetful(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = [nn.Linear(1, 1), nn.Linear(1, 1)]


forgetful_has = len(list(Forgetful().parameters()))
print("your guess:", guess_forgetful)
print("it is:     ", forgetful_has)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# None at all. PyTorch looks inside modules, and a Python list isn't one. An optimiser would train nothing,
# and there would be no error.
# </details>
#
# There is a list that is a module too: `nn.ModuleList`.

# %% [markdown] exercise="MLP" kind="core" difficulty=3 minutes=15
# Our network as a module. You write both methods: `__init__` makes the layers, `forward` runs the inputs through them.
#
# ![A tree. At the top MLP([1, 32, 32, 1]), below it layers, an nn.ModuleList. It holds three nn.Linear layers: layers[0] with weight (32, 1) and bias (32,), layers[1] with weight (32, 32) and bias (32,), layers[2] with weight (1, 32) and bias (1,).](picture:module_tree)
#
# For example: the sizes 1, 32, 32, 1 make three layers: from 1 to 32, from 32 to 32, from 32 to 1.
# Look at the shapes in the picture. `nn.Linear` stores its weight as (out, in), the other way round from our W.
#
# <details><summary>Hint 1</summary>
#
# Which pairs of neighbours are there in [1, 32, 32, 1]? And how many layers get a ReLU?
# </details>
# <details><summary>Hint 2</summary>
#
# `pairwise([1, 32, 32, 1])` walks over (1, 32), (32, 32), (32, 1). Make one `nn.Linear` for each of them,
# and put them all into an `nn.ModuleList` called `self.layers`.
# </details>
# <details><summary>Hint 3</summary>
#
# `forward` looks like your `mlp_predict`: a loop over `self.layers[:-1]`, then the last one.
# You call a layer like a function, and it brings its own W and b.
# </details>
#
# Docs: [nn.Module](https://pytorch.org/docs/stable/generated/torch.nn.Module.html) ·
# [nn.Linear](https://pytorch.org/docs/stable/generated/torch.nn.Linear.html) ·
# [nn.ModuleList](https://pytorch.org/docs/stable/generated/torch.nn.ModuleList.html) ·
# [pairwise](https://docs.python.org/3/library/itertools.html#itertools.pairwise).

# %% [markdown]
# **What you've built.** A network that knows its own weights. We ask for the list, and then give it the weights of `start`,
# transposed, since a Linear stores them the other way round. Does it agree with your function?


# %%
def fresh_model():
    """An MLP with the weights of `start`."""
    model = MLP([1, 32, 32, 1])
    lab.copy_into(model, start)  # each W transposed: (d_in, d_out) -> (d_out, d_in)
    return model


model = fresh_model()
rows = [(name, tuple(each.shape), each.numel()) for name, each in model.named_parameters()]
display(pd.DataFrame(rows, columns=["name", "shape", "numbers"]))
print("numbers in all:", sum(count for _, _, count in rows))
apart = (model(many) - mlp_predict(start, many)).abs().max()
print(f"largest difference to mlp_predict: {apart.item():.1e}")

# %% [markdown]
# ### `.grad`, beside each parameter
#
# A module's parameters all require gradients. So `loss.backward()` leaves every slope in `.grad`, next to its
# parameter, and each parameter can take its step from there. Read this training loop slowly.
# **What would happen without the line `model.zero_grad()`?**

# %%
model = fresh_model()
losses_by_backward = []
for _ in range(200):
    error = F.mse_loss(model(data.train_inputs), data.train_targets)
    model.zero_grad()  # clear every .grad
    error.backward()  # fill every .grad
    with torch.no_grad():
        for parameter in model.parameters():
            parameter -= 0.05 * parameter.grad
    losses_by_backward.append(error.item())

print(f"loss before: {losses_by_backward[0]:.3f}")
print(f"after 200 steps: {losses_by_backward[-1]:.3f}")

# %% [markdown]
# <details><summary>Answer</summary>
#
# `backward` *adds* to `.grad`, as you saw with w. Each step would follow the sum of all slopes so far.
# That need not be downhill from here, and there is no error message.
# </details>

# %% [markdown] exercise="train" kind="core" difficulty=2 minutes=10
# Now leave the step to an **optimiser** as well. It holds the parameters, and knows how to move them.
# Every later lesson has a training loop like this one.
#
# ![Four boxes in a circle: 1 forget the old gradients, 2 predict and measure the loss, 3 loss.backward() for fresh gradients, 4 the optimiser moves the weights. In the middle: again and again.](picture:training_loop)
#
# For example: a line with w = 0 and b = 0, input 1, target 2, rate 0.25. It predicts 0, so the loss is 4.
# Both slopes are 2 · (0 - 2) · 1 = -4. Both parameters become 1, and the next prediction is 2. The loss is 0.
#
# Watch which losses you return: each one is measured *before* its step. Three steps give 4, 0, 0.
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
# Four lines inside `for _ in range(steps)`, and a fifth that appends the loss's `.item()`.
# </details>
#
# Docs: [torch.optim](https://pytorch.org/docs/stable/optim.html) ·
# [backward](https://pytorch.org/docs/stable/generated/torch.Tensor.backward.html) ·
# [item](https://pytorch.org/docs/stable/generated/torch.Tensor.item.html).

# %% [markdown]
# **What you've built.** You have now trained this network in three ways: with `sgd_step`, with `.grad`, and with an optimiser.
# All three began with the same weights and the same rate. **Will the curves differ?**
# A fourth runner joins them: the optimiser Adam, which gives every weight a step length of its own.

# %%
guess_adam = None  # after 300 steps, which has the lower training loss: "SGD" or "Adam"?

model = fresh_model()
losses_by_sgd = train(model, *batch, torch.optim.SGD(model.parameters(), lr=0.05), 300)
model = fresh_model()
losses_by_adam = train(model, *batch, torch.optim.Adam(model.parameters(), lr=0.01), 300)

gap = lab.largest_gap(losses_by_hand[:200], losses_by_backward, losses_by_sgd[:200])
print(f"largest gap between the three ways, over 200 steps: {gap:.1e}")
runs = {"sgd_step": losses_by_hand[:300], ".grad": losses_by_backward}
ours = {"SGD": losses_by_sgd, "Adam": losses_by_adam}
display(plots.curves(runs | ours, title="Training loss, three ways and Adam", levels=level))
ends = {name: losses[-1] for name, losses in ours.items()}
plots.bars(ends, title="Training loss after 300 steps", guess=guess_adam)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - Over 200 steps the three ways differ by less than 0.001. <!-- claim: three_ways_agree -->
# - After 300 steps Adam's training loss is below 0.1, and SGD's about 0.19. <!-- claim: adam_is_ahead -->
#
# The three ways do exactly the same computation. Adam does something else.
# Whether Adam's curve is better on *new* points too is another question. By now you know how to ask it.
# </details>

# %% [markdown]
# ### Steps, minibatches, epochs
#
# So far every step has looked at all the data, the full batch. With 24 points that is fine. Real data sets have millions,
# and a whole pass over them for a single step is a waste: a few dozen examples already show roughly which way is down.
#
# So the data is shuffled and cut into **minibatches**, and each minibatch gets a step of its own.
# One pass over all the data is an **epoch**.
#
# ![Twelve examples in shuffled order, cut into three minibatches of four. Below each minibatch an arrow leads to one step: step 1, step 2, step 3. All three together are one epoch.](picture:one_epoch)
#
# In code, one more loop goes around your four lines, and a generator deals out the minibatches.


# %%
def minibatches(inputs, targets, batch_size):
    """One epoch: every example once, in a new order, `batch_size` at a time."""
    order = torch.randperm(len(inputs))  # the numbers 0 to n - 1, shuffled
    for rows in order.split(batch_size):  # the last one may be shorter
        yield inputs[rows], targets[rows]


# %% [markdown]
# With 24 points and minibatches of 8, three steps make an epoch. Here are three epochs.

# %%
torch.manual_seed(0)
model = fresh_model()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for epoch in range(3):
    for some_inputs, some_targets in minibatches(*batch, batch_size=8):
        optimizer.zero_grad()
        loss = ((model(some_inputs) - some_targets) ** 2).mean()
        loss.backward()
        optimizer.step()
        print(f"epoch {epoch}, {len(some_inputs)} examples: loss {loss.item():.3f}")

# %% [markdown]
# The losses jump about, because each one is measured on different examples. Is that a problem?
# We draw 2,400 points and compare full batches with minibatches of 24. After ten epochs, both have looked at the
# same number of examples. **Which has the lower test loss: the full batch, or minibatches?**
#
# Then we let the full batch go on until it has taken as many steps as the minibatches.

# %%
guess_batch = None  # the lower test loss after ten epochs: "full batch" or "minibatches"

large = noisy_curve(seed=0, points=2400)
mini_losses, mini_steps = lab.by_epochs(fresh_model(), large, batch_size=24, epochs=10)
full_losses, full_steps = lab.by_epochs(fresh_model(), large, batch_size=2400, epochs=1000)

display(lab.epochs_chart(mini_losses, full_losses[:10], large.noise))
rows = [
    ("minibatches of 24", 10, mini_steps, 10 * 2400, mini_losses[-1]),
    ("full batch", 10, 10, 10 * 2400, full_losses[9]),
    ("full batch", 1000, full_steps, 1000 * 2400, full_losses[-1]),
]
pd.DataFrame(rows, columns=["", "epochs", "steps", "examples looked at", "test loss"]).round(3)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - After ten epochs the test loss is about 0.20 with minibatches (0.16 to 0.24), and still about 0.55 with the full batch. <!-- claim: minibatches_win_per_epoch -->
# - After the same 1,000 steps, both have the same test loss to within 0.03, but the full batch has looked at 100 times as many examples. <!-- claim: steps_count -->
#
# It is the number of *steps* that counts here, and a rough step costs a hundredth of an exact one.
# This is the *stochastic* in SGD. From lesson 3 on we train in minibatches.
# </details>

# %% [markdown]
# ### Two modes: train and eval
#
# One more thing that every training loop has. Every module has a flag, `training`. `model.train()` sets it and `model.eval()`
# clears it, in all its parts. Despite their names, neither trains or evaluates anything: they only tell the layers which
# of two ways to work. *Dropout* is a layer that looks at the flag. In one mode it sets random numbers to 0, so that the
# network can't lean on any single unit; in the other it changes nothing. **Which mode is the quiet one?**

# %%
guess_mode = None  # "train" or "eval"

torch.manual_seed(0)
dropout, ones = nn.Dropout(0.5), torch.ones(6)
print("train:", dropout.train()(ones).tolist(), dropout.train()(ones).tolist())
print("eval: ", dropout.eval()(ones).tolist(), dropout.eval()(ones).tolist())
quiet_mode = "eval" if torch.equal(dropout.eval()(ones), ones) else "train"
same = torch.equal(model.train()(many), model.eval()(many))
print("your MLP predicts the same in both modes:", "yes" if same else "no")

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# Eval mode changes nothing: for an answer you want all the units. In training mode no two calls agree. The numbers that
# survive are 2 and not 1, since half of them are gone on average, and the rest are doubled to keep the mean.
# </details>
#
# Our MLP has no part that looks at the flag, so both modes give the same. Make it a habit all the same: `model.train()`
# before the training loop, `model.eval()` before you predict. If you forget the second, and there is a layer like this
# in the model, your predictions change from call to call.

# %% [markdown]
# ### Experiment: how deep?
#
# Now you have the tools, so back to the question. More layers can bend more often. Does a deeper network know more, or only remember more? We train networks with 0, 1, 2, 4 and 8 hidden layers, 32 units each.
# **Which depth has the lowest *test* loss?** And which the lowest training loss?
#
# A single data set could mislead us by luck. So we train each depth on five data sets, and look at the mean.

# %%
guess_depth = None  # 0, 1, 2, 4 or 8

depths = [0, 1, 2, 4, 8]
by_depth = lab.by_depth(MLP, train, depths, seeds=range(5))
levels = {"noise": data.noise**2}
display(lab.both_losses_chart(by_depth, "hidden layers", levels))
lab.bars_of_test_losses(by_depth, "number of hidden layers", guess_depth)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - With no hidden layer the network is a straight line, and its test loss is the line's, to within 5%. <!-- claim: depth_zero_is_a_line -->
# - One hidden layer cuts the test loss from about 0.61 (0.56 to 0.66) to about 0.26 (0.21 to 0.31). <!-- claim: one_layer_helps -->
# - From one hidden layer to four, the training loss falls from about 0.13 to less than 0.04, and yet the test loss rises. <!-- claim: depth_memorises -->
#
# Depth isn't better or worse in itself. With 24 points, deep networks have room to learn the noise by heart.
# What if there are more points? Try 240 of them: it is the first of the things to try, at the end.
# </details>

# %% [markdown]
# ### Experiment: a price for large weights
#
# The other suspect: large weights. Now we charge for them: we minimise *error + price · l2_penalty*. What does that do to one weight w?
#
# $$\text{slope of } \text{price} \cdot w^2 = 2 \cdot \text{price} \cdot w$$
#
# So each step pulls every weight a little towards 0. For example: price 0.01 and w = 3 add 0.06 to the slope.
# PyTorch's optimisers have this built in: they add *weight_decay · w* to the slope, so `weight_decay` is twice the price.
#
# <details><summary>The small print</summary>
#
# A `weight_decay` of 0.02 does the same as a price of 0.01. <!-- claim: factor_two -->
# On its own it pulls at biases too; our helper `decayed_sgd` spares them. All this holds for SGD. In AdamW the weights
# shrink in a step of their own, and there a price and a decay are two different things: see the papers below.
#
# To get there faster, the optimiser of this experiment keeps 0.9 of its last step and adds the new one. That is
# called *momentum*.
# </details>
#
# **How much decay is best for new points?** We take a network with three hidden layers of 64 units, large
# enough to learn most of the noise in 24 points. Again we train on five data sets.

# %%
guess_decay = None  # 0, 0.003, 0.01, 0.03, 0.1 or 0.3

decays = [0, 0.003, 0.01, 0.03, 0.1, 0.3]
by_decay = lab.by_weight_decay(MLP, train, decays, seeds=range(5))
levels = {"noise": data.noise**2, "always the mean": baselines["mean"]}
display(lab.both_losses_chart(by_decay, "weight decay", levels))
lab.bars_of_test_losses(by_decay, "weight decay", guess_decay)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - With decay 0.01 the training loss rises, from about 0.03 to about 0.09, and the test loss falls, from about 0.30 to about 0.25 (each give or take 0.02). <!-- claim: decay_helps -->
# - With decay 0.3 the network does no better than "always the mean": large weights are so costly that it draws a flat line. <!-- claim: too_much_decay -->
#
# A worse training loss, and better predictions: it remembers less, and knows more. So whether a network knows or remembers,
# its training loss can't tell you. Only a test set can.
# </details>

# %% [markdown]
# ## The bug clinic
#
# Here is a loss that a colleague wrote. Read it. Is anything wrong?


# %%
def suspicious_loss(predictions, targets):
    """Mean squared error."""
    return ((predictions - targets) ** 2).mean()


# %% [markdown]
# The formula is right. The targets come from a data file as a plain row of 24 numbers, shape `(24,)`.
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
print("your guess:", guess_bug)
print("loss at the start, after 100 steps, and at the end:")
print([round(sick_losses[step], 4) for step in (0, 100, -1)])
first_losses = {"suspicious loss": sick_losses[:200]}
plots.curves(first_losses, title="The first 200 of 1,000 steps", levels=level)

# %% [markdown]
# So much for the loss. And what does the network predict?

# %%
with torch.no_grad():
    sick_curve, sick_predictions = sick_model(grid()), sick_model(data.train_inputs)
print(f"standard deviation of the predictions: {sick_predictions.std():.4f}")
print(f"standard deviation of the targets:     {flat_targets.std():.4f}")
is_flat = bool(sick_predictions.std() < 0.1 * flat_targets.std())
what_it_did = 3 if is_flat and sick_losses[-1] < sick_losses[0] else 2 if sick_losses[-1] < sick_losses[0] else 4
fitted = {"the network": (grid(), sick_curve)}
plots.fits({"training points": batch}, fitted, title="What it learnt")

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - The loss ends within 1% of "always the mean". <!-- claim: broken_loss_ends_at_the_mean -->
# - The predictions hardly differ from each other: their standard deviation is below 0.01, and the targets' is 0.85. <!-- claim: broken_predictions_are_flat -->
#
# The answer is 3: no error, a falling loss, a flat line. Think back to puzzle 1: a column met a row.
#
# ![Predictions 1 and 3 against targets 1 and 3. What we meant: two differences, both 0, mean square 0. What we got: a table of four differences, 0, -2, 2, 0, mean square 2. The two that we meant are on the diagonal.](picture:broadcast_pairs)
#
# For example: predictions 1 and 3 are perfect for targets 1 and 3. The loss should be 0. But each prediction
# is compared with *both* targets, so there are four differences, and the loss is (0 + 4 + 4 + 0) / 4 = 2.
#
# So every prediction is pulled towards all targets at once. What suits them all best is their mean.
# </details>

# %% [markdown] exercise="loss_is_sound" kind="core" difficulty=3 minutes=15
# Write the test that would have caught it. It gets a loss function, and says whether you can trust it. Choose
# predictions and targets of your own, of shape `(n,)`. With a sound loss it makes no difference whether the same
# predictions come as a column, `(n, 1)`.
#
# | predictions | targets | sound loss | suspicious loss |
# |---|---|---|---|
# | `(2,)`: 1, 3 | `(2,)`: 1, 3 | 0 | 0 |
# | `(2, 1)`: 1, 3 | `(2,)`: 1, 3 | 0, or an error | 2 |
#
# A loss that refuses a column with an error never goes wrong silently. Whatever your test says about it is fine.
#
# <details><summary>Hint 1</summary>
#
# Would n = 1 show the bug? Would predictions that are all equal? Try both on paper.
# </details>
# <details><summary>Hint 2</summary>
#
# Call the loss twice with the same targets: once with the flat predictions, once with the column. Compare the two numbers,
# and leave a little room for rounding. Some losses take logarithms, so choose numbers between 0 and 1.
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

# %% [markdown]
# **What you've built.** A doctor. Here are five patients, one of them PyTorch's own. **Which do you trust?**


# %%
def repaired_loss(predictions, targets):
    return ((predictions.reshape(targets.shape) - targets) ** 2).mean()


def strict_loss(predictions, targets):
    if predictions.shape != targets.shape:
        raise ValueError("predictions and targets need the same shape")
    return ((predictions - targets) ** 2).mean()


def absolute_loss(predictions, targets):
    return (predictions - targets).abs().mean()


losses = (suspicious_loss, repaired_loss, strict_loss, absolute_loss)
patients = {loss.__name__: loss for loss in losses} | {"F.mse_loss": F.mse_loss}
lab.examine(loss_is_sound, patients)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# Only `repaired_loss` passes for certain. PyTorch's own loss broadcasts too. It prints a warning, somewhere among
# your other output, and carries on. `strict_loss` refuses the column, so it can't go wrong silently: your test may say
# yes or no, or stop with its error.
# </details>
#
# Now the cure: the same model, the same flat targets, the repaired loss.

# %%
healthy_model = fresh_model()
healthy_losses = lab.fit_with(repaired_loss, healthy_model, data.train_inputs, flat_targets)
with torch.no_grad():
    healthy_curve = healthy_model(grid())
both_losses = {"suspicious loss": sick_losses, "repaired loss": healthy_losses}
display(plots.curves(both_losses, title="Before and after", levels=level))
fitted = {"suspicious": (grid(), sick_curve), "repaired": (grid(), healthy_curve)}
plots.fits({"training points": batch}, fitted, title="What each network learnt")

# %% [markdown]
# **What you should see**
#
# - The repaired loss ends at about 0.17, a quarter of the suspicious one. <!-- claim: the_repair_works -->
#
# From now on, be wary of a loss that settles exactly at "always the mean". It means that your network ignores its input.
# This bug is one cause; too much decay and a silent layer are others.

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
# a flat line. One possible cause is a shape bug: predictions of shape (n, 1) and targets of shape (n,) broadcast to
# n times n differences. Then every prediction is compared with every target, and the number that suits
# them all best is the mean, whatever the input. More layers can't help, because the loss itself asks for the mean.
# I would ask for the shapes of the predictions and the targets, for the shape of their difference, and for a plot of
# the predictions; then I would run the loss on (n, 1) and on (n,) and see whether the number changes.

# %% [markdown]
# ## How good were your guesses?
#
# Here are your guesses next to what happened. A wrong guess is worth more than none: it shows you where to look.

# %%
ends = {rate: losses[-1] for rate, losses in by_rate.items() if np.isfinite(losses[-1])}
same_numbers = torch.equal(viewed, transposed)
adam_wins = losses_by_adam[-1] < losses_by_sgd[-1]
best_depth = min(by_depth, key=lambda depth: by_depth[depth][1])
best_decay = min(by_decay, key=lambda decay: by_decay[decay][1])
better_batch = "minibatches" if mini_losses[-1] < full_losses[9] else "full batch"
board = [
    ("shape of column + row", guess_shape, tuple(total.shape)),
    ("view the same as transpose?", guess_same, "yes" if same_numbers else "no"),
    ("shape of values[:, index]", guess_columns, tuple(values[:, index].shape)),
    ("w.grad after two backwards", guess_grad, grad_twice),
    ("learning rate with the lowest loss", guess_rate, min(ends, key=ends.get)),
    ("growth of the squared weights", guess_growth, after / before, 0.5),
    ("parameters of Forgetful", guess_forgetful, forgetful_has),
    ("lower after 300 steps", guess_adam, "Adam" if adam_wins else "SGD"),
    ("lower after ten epochs", guess_batch, better_batch),
    ("mode in which dropout does nothing", guess_mode, quiet_mode),
    ("depth with the lowest test loss", guess_depth, best_depth),
    ("decay with the lowest test loss", guess_decay, best_decay),
    ("what the suspicious loss does", guess_bug, what_it_did),
]
guesses.board(board)

# %% [markdown]
# ## Recap
#
# Answer from memory, then check.
#
# **1.** When do two shapes broadcast, and when is that dangerous?
#
# <details><summary>Answer</summary>
#
# Lined up from the right, each pair of sizes must be equal, or one of them must be 1 or missing. It is dangerous when
# you didn't ask for it: `(n, 1)` minus `(n,)` gives `(n, n)`, and no error.
# </details>
#
# **2.** What are the four moves of a training step, and why is the first one needed?
#
# <details><summary>Answer</summary>
#
# Clear the old gradients, predict and measure the loss, go backward, step. `backward` adds to `.grad`,
# so without the first move the slopes of earlier steps would pile up.
# </details>
#
# **3.** The training loss fell by half. What must you look at before you celebrate?
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
# - Set the minibatch size in the comparison to 1. What happens to the curve, and to the time it takes?
# - Give `suspicious_loss` targets of shape `(1, 24)`. Does anything change? Think of the picture first.
# - Replace ReLU by `torch.tanh` in `mlp_predict`. What do random networks look like then?
# - Write `batched_dot` with `@` and a transpose. Time both with `%timeit`.
# - Draw the network's curve outside its data, from -4 to 4. What does it do where it has seen nothing? Why?
#
# ## Glossary
#
# | word | meaning |
# |---|---|
# | autograd | PyTorch's walk back through a computation, which finds every slope |
# | axis, dimension | one direction of a tensor; shape `(3, 4)` has two |
# | baseline | a simple rival that any model must beat |
# | batch | several examples handled at once; here also the pair (inputs, targets) |
# | broadcasting | repeating an axis of size 1, or a missing one, until two shapes fit |
# | chain rule | slopes of steps that follow one another are multiplied |
# | dropout | a layer that sets random numbers to 0 in training, and does nothing in eval mode |
# | epoch | one pass over all the training data |
# | float32, float64 | numbers with about 7 or about 16 digits |
# | full batch | all the training data in one step |
# | gradient | the slopes of the loss, one for each parameter |
# | learning rate | how far a step goes along its slope |
# | loss | one number that says how wrong the predictions are |
# | minibatch | a few examples, drawn at random, for one step |
# | MLP | multi-layer perceptron: linear layers with ReLU between them |
# | optimiser | the object that moves the parameters, such as SGD or Adam |
# | over-fitting | learning the noise of the training data by heart |
# | ReLU | replaces negative numbers by 0 |
# | step | one round of a training loop: predict, measure, slopes, move |
# | tensor | a block of numbers with a shape, which can remember how it was computed |
# | test data | examples that no training step has seen |
# | training loop | the loop that repeats the steps |
# | weight decay | pulling every weight a little towards 0 at each step |
#
# ## Papers and books
#
# - Goodfellow, Bengio, Courville, [*Deep Learning*](https://www.deeplearningbook.org), MIT Press 2016: sections 4.3 (following slopes), 5.2 (over-fitting), 6.3.1 (ReLU), 6.5 (back-propagation), 7.1.1 (the squared penalty), 8.1.3 (minibatches).
# - Rumelhart, Hinton, Williams, "Learning representations by back-propagating errors", *Nature* 323, 1986: four pages, all readable.
# - Krogh, Hertz, "A Simple Weight Decay Can Improve Generalization", NIPS 1991: why decay suppresses what the data don't ask for.
# - Srivastava and others, "Dropout: A Simple Way to Prevent Neural Networks from Overfitting", *JMLR* 15, 2014: section 4 is the model.
# - Kingma, Ba, [Adam](https://arxiv.org/abs/1412.6980), ICLR 2015: section 2 is the algorithm.
# - Loshchilov, Hutter, [Decoupled Weight Decay Regularization](https://arxiv.org/abs/1711.05101), ICLR 2019: section 2, why decay and penalty are not the same in Adam.
# - Harris and others, "Array programming with NumPy", *Nature* 585, 2020: figure 1 shows indexing, broadcasting and reduction.
# - Paszke and others, [PyTorch](https://arxiv.org/abs/1912.01703), NeurIPS 2019: section 4.3, automatic differentiation.
#
# In lesson 2 we turn text into numbers, so that there is something to attend to.
