# ---
# title: Every gradient by hand
# topic: backpropagation in NumPy
# group: Make it write, make it learn
# picture: attention_graph
# sittings: [130, 140, 60, 80]
# builds_on: [01_pytorch_basics, 03_classification_transformer, 05_causal_masks]
# gives:
#   - derive the backward pass of every layer in a Transformer, and say where each sum comes from
#   - find a wrong gradient without knowing the right one, and say what a training curve can tell you about it
#   - train a Transformer in plain NumPy until it answers every question of a test set, and read what its heads look at
#   - write the tape that makes backward passes by itself, and say what autograd does for you and what it costs
# ---

# %% [markdown]
# TITLE
#
# Your models have called `loss.backward()` thousands of times by now. One line, and every weight of the model knows which way to move.
#
# **What happened in that line?** Here is a model of one weight. It reads 3, multiplies it by w, and should return 10. The loss is the square of the error.
#
# ![Four boxes in a row: w is 2, times 3 gives 6, minus 10 gives minus 4, squared gives 16. Below, arrows lead back from right to left: the loss changes by 1, before the square by minus 8, before the subtraction by minus 8, and at w by minus 24.](picture:one_weight)
#
# Forward, from left to right: 6, then -4, then 16. Backward, from right to left: at -4 the square has the slope -8; the subtraction passes it on;
# the multiplication by 3 triples it: -24. That is the gradient of w. If w grows by 0.01, the loss falls by about 0.24.
#
# That's all there is to it. Each step knows one thing: how to turn the gradient of its output into the gradient of its input. In this lesson you
# write that for every part of a Transformer, in NumPy, and train it, without autograd. Then you write autograd itself.
#
# GIVES
#
# SITTINGS The last sitting is *stretch*, and so is one exercise of the third.
#
# **How to check.** Replace the line `raise NotImplementedError()` with your own code, and run the cell.
# Then run the `check` cell below it, as often as you like. It tells you what is right and what isn't.
# While an exercise is being checked, the course's own versions of the earlier ones stand in for yours, so one slip never costs you two exercises. In all other cells your own code runs, unless the text says otherwise.
# One exercise should not keep you from the rest of the lesson: below its last hint is a line that lets you go on with our version.
#
# **How to submit.** Save the notebook and hand it in the way your class does.
# Working on your own? The checks are all you need.

# %% [markdown]
# ## A two-minute test
#
# BUILDS_ON Only the last sitting needs lesson 5. Try these three without running anything.
#
# **1.** In lesson 1 you worked out the gradient of a linear layer's weights by hand. Its inputs are (n, d_in), its errors (n, d_out). Which product of the two has the shape of the weights?
#
# <details><summary>Answer</summary>
#
# `inputs.T @ errors`: (d_in, n) times (n, d_out). The sum over the n rows happens inside the product.
# See `linear_gradients` in [lesson 1](../01_pytorch_basics/01_pytorch_basics.ipynb).
# </details>
#
# **2.** What does LayerNorm make of the row 1, 5, if its weight is 1 and its bias 0?
#
# <details><summary>Answer</summary>
#
# The mean is 3 and the variance 4, so it becomes -1, 1.
# See `LayerNorm` in [lesson 3](../03_classification_transformer/03_classification_transformer.ipynb).
# </details>
#
# **3.** Two queries meet three keys of size 4. What shape are the scores, and what are they divided by?
#
# <details><summary>Answer</summary>
#
# (2, 3), divided by 2, the square root of 4.
# See `scaled_dot_product_attention` in [lesson 3](../03_classification_transformer/03_classification_transformer.ipynb).
# </details>
#
# Two out of three? Go on. Fewer? Read the linked pages first, then come back.
#
# You also need to know what a class is: `__init__` makes an object, and `self.x` remembers something from one call to the next.
#
# Run the next cell first: it loads the tools. `plots` draws. `lab` and `wrong` run the longer experiments; their code is in `transformer_course/lessons/lesson_09/experiments/`.

# %% setup=true
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from IPython.display import display

from transformer_course import plots
from transformer_course.libraries import try_to_import
from transformer_course.numpy_transformer import tasks
from transformer_course.numpy_transformer.attention import merge_heads, split_heads
from transformer_course.numpy_transformer.layers import FeedForward
from transformer_course.numpy_transformer.tape import array_of, unbroadcast
from transformer_course.numpy_transformer.walking import gradients_of, load, save, weights_of
from transformer_course.lessons.lesson_09 import experiments as lab
from transformer_course.lessons.lesson_09.experiments import extensions
from transformer_course.lessons.lesson_09.experiments import wrong_gradients as wrong
from transformer_course.lessons.tables import measured

np.random.seed(0)

# %% [markdown]
# ## Part 1 · One gradient at a time
#
# ### Who checks the gradient?
#
# You are about to write a dozen gradients by hand, and a wrong one gives no error message. Can you at least see it in the training curve? At the end of Part 2 you'll find out, with your own model.
# Before the first gradient, write the test that finds it.
#
# The test needs no calculus. A gradient says: *if this entry grows a little, the value changes by so much*. So let it grow a little, and look.
#
# Take the function x² at x = 3, and move x by 0.01 both ways. The values are 9.0601 and 8.9401. Their difference is 0.12, over a distance of 0.02: the slope is 6.
# A claim of 2x, which is 6, is right. A claim of x is off by a factor of two.
#
# So far x moved by h = 0.01. How small should h be? Here is the sine at 1, whose slope we know: it is the cosine of 1. We measure it with h from 0.1 down to 0.000000000000001, in float64 (16 digits) and in float32 (7 digits).
#
# **Which h measures the slope best in float64?** Guess a power of ten.

# %%
guess_h = None  # an exponent: -3 means 0.001


def slope_error(dtype, exponent):
    at, h = dtype(1), dtype(10.0**exponent)
    slope = (np.sin(at + h) - np.sin(at - h)) / (2 * h)
    return abs(slope - np.cos(1.0)) / np.cos(1.0)


exponents = list(range(-1, -16, -1))
errors = {dtype.__name__: [slope_error(dtype, e) for e in exponents] for dtype in (np.float64, np.float32)}
best_h = exponents[int(np.argmin(errors["float64"]))]
print(f"your guess: {guess_h}, it is: {best_h}")
lab.by_exponent(errors, exponents)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - In float64 the best h lies between 10⁻⁷ and 10⁻⁵. With h = 0.1 the error is above 0.001; with h = 10⁻¹⁴ it is worse still. <!-- claim: the_best_step -->
# - In float32 no h gets below 0.000001, and at h = 10⁻⁵ the error is larger than 0.0005: more than a million times that of float64. <!-- claim: why_float64 -->
#
# </details>

# %% [markdown]
# With a large h you measure the slope too far from x. With a tiny one, the two values agree in almost all of their digits, and what is left of their difference is rounding error. Three things to know about such a test:
#
# - **It needs float64.** It subtracts two numbers that are almost equal. With h = 10⁻⁵ that costs about five digits: 11 of float64's 16 are left, but only two or three of float32's 7.
# - **It needs a slope.** Where a function has a kink, as |x| has at 0, the slope to the left differs from the slope to the right. The test measures something in between, and no claim is right.
# - **Where nothing changes, only noise is measured.** If an entry has no effect, the two values differ by rounding alone, and the measured slope is something like 0.00000000001 instead of 0. Compared with a claim of 0, even that would be an error of 100 %.

# %% [markdown] exercise="gradient_check" kind="core" difficulty=3 minutes=20
# A function `f(x)` returns its value, and the gradient that it claims. Measure each slope, and compare.
#
# $$\text{measured}_i = \frac{f(x + h e_i) - f(x - h e_i)}{2h} \qquad \text{error} = \max_i \frac{|\text{measured}_i - \text{claimed}_i|}{\max(|\text{measured}_i| + |\text{claimed}_i|,\; 0.0001)}$$
#
# For example: measured 6, claimed 3. The error is 3 / 9, about 0.33. Measured 6.000001, claimed 6: the error is about 0.0000001.
#
# Why divide by the size? A difference of 0.001 is nothing next to a slope of a million, and a lot next to a slope of 0.01.
# And why never by less than 0.0001? Because of the noise: a measured 0.00000000001 and a claimed 0 now make an error of 0.0000001. The price is that your test can't see differences below about 0.000000001.
#
# A right gradient then stays below 0.00001, as long as the values of f aren't far above 10. (Larger numbers are rounded more coarsely, so there is more noise.)
#
# The check below tries your test on right gradients and on wrong ones. Some are wrong in a single entry. Some are right and tiny, or right and 0.
#
# <details><summary>Hint 1</summary>
#
# How many entries do you move at a time? And what do you do with an entry after you've moved it?
# </details>
# <details><summary>Hint 2</summary>
#
# Copy x, move one entry of the copy up by h, and do the same with another copy, downwards. `np.ndindex` goes through all the positions of an array of any shape.
# Which h? The plot above tells you. For the denominator, `np.maximum` compares entry by entry.
# </details>
# <details><summary>Hint 3</summary>
#
# `for place in np.ndindex(x.shape)`, then two copies of x, `above` and `below`, and `above[place] += h`. At the end: the largest of the relative errors, as a float.
# </details>
#
# Docs: [np.ndindex](https://numpy.org/doc/stable/reference/generated/numpy.ndindex.html) · [np.maximum](https://numpy.org/doc/stable/reference/generated/numpy.maximum.html).

# %% [markdown]
# **What you've built.** A judge that needs no answer key.
#
# ### How a layer goes backward
#
# From here on, each layer is a class with two methods. `forward(x)` computes, and *remembers* what it will need later. `backward(gradient)` gets the gradient
# of the loss with respect to the layer's output. It does two things:
#
# 1. it **sets** the gradients of the layer's own weights, as `weight_grad` and `bias_grad`
# 2. it **returns** the gradient with respect to the layer's input, for the layer below
#
# A model then goes forward through its layers in order, and backward through the same layers in reverse.

# %% [markdown] exercise="Linear" kind="core" difficulty=3 minutes=15
# Two rows, one input, one output: the weight is 3, the bias 1. The inputs are 1 and 2, so the outputs are 4 and 7.
# Suppose the loss grows by 10 for each unit of the first output, and by 1 for each unit of the second.
#
# - The weight grows by 1: the first output grows by 1, the second by 2. The loss grows by 10·1 + 1·2 = 12. **The rows add up**, because one weight serves them all.
# - The bias grows by 1: both outputs grow by 1. The loss grows by 10 + 1 = 11.
# - The first input grows by 1: its output grows by 3, the loss by 30. The second: 3.
#
# ![A graph: x and W meet in a product, b is added, and the result is y. Dashed arrows lead back: to x the gradient times W transposed, to W x transposed times the gradient, to b the sum of the gradient over the rows.](picture:linear_graph)
#
# $$y = xW + b \qquad \frac{\partial L}{\partial x} = g\,W^\top \qquad \frac{\partial L}{\partial W} = x^\top g \qquad \frac{\partial L}{\partial b} = \sum_{\text{rows}} g$$
#
# You needn't remember these, since the shapes remind you: g is (n, d_out), and the gradient of W must be (d_in, d_out). But they don't settle everything. A mean over the rows has the same shape as their sum, and if d_in = d_out = n, several products fit. That's what the check is for.
#
# In a Transformer the rows come as (batch, length, d). Each position is one more row: before you multiply, flatten all axes but the last.
#
# And where does the weight start? Take 400 inputs of size 1, and weights of size 1, drawn at random. Each output is a sum of 400 products, some positive and some negative. Such a sum is typically about √400 = 20, so a few layers later
# the numbers explode. Divide the weights by 20, the root of d_in, and the outputs have size 1 again.
#
# <details><summary>Hint 1</summary>
#
# What does backward need that only forward knows? And how many rows did one bias serve?
# </details>
# <details><summary>Hint 2</summary>
#
# `x.reshape(-1, x.shape[-1])` turns (batch, length, d) into rows. Then the product of the transposed rows with the rows of the gradient adds up everything by itself.
# </details>
# <details><summary>Hint 3</summary>
#
# `weight_grad` is `rows.T` times the rows of the gradient, `self.bias_grad` is a sum over axis 0, and `gradient @ self.weight.T` is returned.
# </details>
#
# Docs: [numpy.ndarray.reshape](https://numpy.org/doc/stable/reference/generated/numpy.ndarray.reshape.html) ·
# [np.random.standard_normal](https://numpy.org/doc/stable/reference/random/generated/numpy.random.standard_normal.html).

# %% [markdown]
# **What you've built** can be judged by your own test. We hold a gradient for the output fixed, let x change, and ask whether `backward` tells the truth.


# %%
def layer_error(layer, x):
    """Your gradient_check, applied to a layer: how wrong is what backward returns?"""
    gradient = np.cos(np.arange(layer.forward(x).size)).reshape(layer.forward(x).shape)

    def f(changed):
        output = layer.forward(changed)
        return float((output * gradient).sum()), layer.backward(gradient)

    return gradient_check(f, x)


x = np.random.standard_normal((2, 3, 4))
print(f"Linear: relative error {layer_error(Linear(4, 5), x):.1e}")

# %% [markdown]
# **What you should see**
#
# - A relative error below 0.00001. <!-- claim: linear_passes -->

# %% [markdown] exercise="SGD" kind="core" difficulty=1 minutes=5
# A layer with gradients can learn. A gradient points uphill, so subtract a small part of it from each weight.
#
# $$p \leftarrow p - \eta\, g$$
#
# For example: weight 1, gradient 10, learning rate 0.1. The new weight is 0.
#
# The layers hold the arrays, and so does the optimiser. So the arrays must change **in place**: `p = p - ...` would make a new array that no layer knows about.
#
# <details><summary>Hint 1</summary>
#
# After the step, does the layer that owns the array see the change?
# </details>
# <details><summary>Hint 2</summary>
#
# Keep the list in `self`. In `step`, go through parameters and gradients together with `zip`.
# </details>
# <details><summary>Hint 3</summary>
#
# `parameter -= ...`, with the learning rate times the gradient on the right: with `-=`, NumPy writes into the array that is there.
# </details>
#
# Docs: [zip](https://docs.python.org/3/library/functions.html#zip).

# %% [markdown]
# **Your first training run.** Somebody has a rule that turns three numbers into one, and shows you 100 examples. Your `Linear` starts with random weights, and your `SGD` takes 50 steps. The loss is the mean squared error, and its gradient is 2 · error / 100 for each example.
#
# Can you read the rule off the weights afterwards?

# %%
inputs = np.random.default_rng(0).standard_normal((100, 3))
answers = inputs @ np.array([[2.0], [-1.0], [0.5]]) + 3  # the rule: the layer isn't told
layer = Linear(3, 1)
optimiser = SGD([layer.weight, layer.bias], learning_rate=0.1)
losses = []
for _ in range(50):
    mistakes = layer.forward(inputs) - answers  # (100, 1)
    losses.append(float((mistakes**2).mean()))
    layer.backward(2 * mistakes / len(mistakes))
    optimiser.step([layer.weight_grad, layer.bias_grad])
print("weights:", layer.weight.ravel().round(2), "bias:", layer.bias.round(2))
plots.curves({"loss": losses}, title="The first thing that learns", log_y=True)

# %% [markdown]
# **What you should see**
#
# - After 50 steps the weights are 2, -1 and 0.5, and the bias is 3, to two decimal places. The loss has fallen below 0.0001. <!-- claim: a_first_training -->
#
# Forward, loss, backward, step: every training run in this lesson is that loop. All that will change is what lies between the input and the loss.

# %% [markdown] exercise="ReLU" kind="core" difficulty=1 minutes=5
# A ReLU lets positive numbers through, and replaces negative ones by 0. Inputs -2 and 3 become 0 and 3. If the loss grows by 10 for each unit of either output, what are the gradients of the two inputs?
#
# <details><summary>Answer to this question</summary>
#
# 0 and 10. The first input can move a little, and nothing changes. The second is passed on as it is, and so is its gradient.
# </details>
#
# $$\frac{\partial L}{\partial x_i} = g_i \text{ where } x_i > 0, \text{ else } 0$$
#
# Note which numbers decide: the *inputs*. A negative gradient comes through like any other.
#
# <details><summary>Hint 1</summary>
#
# Which entries were positive on the way forward? Who remembers that?
# </details>
# <details><summary>Hint 2</summary>
#
# A boolean array, kept in `self`, says where something came through.
# </details>
# <details><summary>Hint 3</summary>
#
# `self.positive = x > 0`, and then `np.where(self.positive, ..., ...)` both ways. Use `np.zeros_like` for the zeros, so the dtype stays.
# </details>
#
# Docs: [np.where](https://numpy.org/doc/stable/reference/generated/numpy.where.html).

# %% [markdown]
# A ReLU has a kink at 0. Does your gradient check mind?

# %%
print(f"away from 0: {layer_error(ReLU(), x):.1e}")
print(f"at 0:        {layer_error(ReLU(), np.array([0.0, 1.0])):.1e}")

# %% [markdown]
# **What you should see**
#
# - Away from 0 the error is tiny. At 0 it is 1, the largest there is, if your `backward` lets nothing through there, and a third if it does. <!-- claim: a_kink -->
#
# At 0 the slope is 1 to the right and 0 to the left, so the measured one is 0.5, and neither answer agrees with it. A check that fails is a question, not a verdict.

# %% [markdown] exercise="softmax" kind="core" difficulty=2 minutes=8
# Forward first. The scores 0 and ln 3 have the exponentials 1 and 3. Their sum is 4, so the weights are 0.25 and 0.75.
#
# $$w_i = \frac{e^{s_i}}{\sum_j e^{s_j}} = \frac{e^{s_i - m}}{\sum_j e^{s_j - m}}$$
#
# The second form is the same for every m. With m the largest score, no exponential is ever larger than 1. In the first form, exp(1000) is infinite, and infinite divided by infinite isn't a number.
#
# <details><summary>Hint 1</summary>
#
# Whose maximum do you subtract from each row? What happens to the axis that a maximum runs over?
# </details>
# <details><summary>Hint 2</summary>
#
# `max` and `sum` take `axis=` and `keepdims=True`. With the latter, the axis stays, with length one, and broadcasting does the rest.
# </details>
# <details><summary>Hint 3</summary>
#
# `np.exp` of x minus `x.max(...)`, with `axis=axis` and `keepdims=True`, divided by their sum along the same axis.
# </details>
#
# Docs: [np.exp](https://numpy.org/doc/stable/reference/generated/numpy.exp.html) · [np.max](https://numpy.org/doc/stable/reference/generated/numpy.max.html).

# %% [markdown]
# One score grows from -4 to 4, and two others stay at 0 and 1. Watch all three weights.

# %%
grows = np.linspace(-4, 4, 81)
weights = softmax(np.stack([grows, np.zeros(81), np.ones(81)], axis=1))
plots.curves(
    dict(zip(["its own", "score 0", "score 1"], weights.T, strict=True)),
    x=grows,
    title="One score grows, three weights change",
    x_label="the score that grows",
    y_label="weight",
)

# %% [markdown]
# The three weights always add up to 1. When one rises, **the others fall**. That is what the backward pass must not forget.

# %% [markdown] exercise="softmax_backward" kind="core" difficulty=3 minutes=15
# Back to the weights 0.25 and 0.75. Suppose the loss grows by 4 with the first weight, and not at all with the second. How does it change with the *scores*?
#
# Raise the first score a little. The first weight grows at the rate 0.25 · (1 - 0.25), and the second falls at the rate 0.25 · 0.75: both are 0.1875. So the loss grows at the rate 4 · 0.1875 = 0.75.
# Raise the second score instead, and the first weight falls at the rate 0.1875. The loss changes at the rate -0.75.
#
# ![Two scores on the left, two weights on the right, and arrows from each score to each weight. To its own weight an arrow says w times 1 minus w, to the other minus w times w.](picture:softmax_paths)
#
# Each score reaches *every* weight. The matrix of all these rates is called the **Jacobian**:
#
# $$\frac{\partial w_j}{\partial s_i} = w_j(\delta_{ij} - w_i) \qquad \frac{\partial L}{\partial s_i} = \sum_j g_j w_j (\delta_{ij} - w_i) = w_i\Big(g_i - \sum_j g_j w_j\Big)$$
#
# The right-hand side needs no matrix. The sum is the *mean* of the gradients, weighted by the softmax: here 0.25 · 4 = 1. So the answer is 0.25 · (4 - 1) = 0.75, and 0.75 · (0 - 1) = -0.75.
# A score's gradient is positive if the gradient of its weight is above the mean of the row.
#
# <details><summary>Hint 1</summary>
#
# If all gradients in a row are equal, what should come out? (The weights can't all grow.)
# </details>
# <details><summary>Hint 2</summary>
#
# First the weighted mean of each row, with its axis kept. Then one line.
# </details>
# <details><summary>Hint 3</summary>
#
# `(weights * gradient).sum(axis=-1, keepdims=True)` is that mean. Subtract it from the gradient, and multiply by the weights.
# </details>
#
# Docs: [np.sum](https://numpy.org/doc/stable/reference/generated/numpy.sum.html).

# %% [markdown]
# Let your judge look at it, next to a version without the sum, which is what people write first.

# %%
toward = np.random.standard_normal((3, 5))


def with_the_sum(scores):
    weights = softmax(scores)
    return float((weights * toward).sum()), softmax_backward(weights, toward)


def without_the_sum(scores):
    weights = softmax(scores)
    return float((weights * toward).sum()), weights * toward


scores = np.random.standard_normal((3, 5))
print(f"yours:           {gradient_check(with_the_sum, scores):.1e}")
print(f"without the sum: {gradient_check(without_the_sum, scores):.1e}")

# %% [markdown] exercise="cross_entropy" kind="core" difficulty=3 minutes=15
# The logits 0, 0 and ln 2 have the softmax 0.25, 0.25, 0.5. The right class is the last. The loss is -ln 0.5, about 0.693.
#
# Now the gradient. The logarithm undoes the exponential, and almost everything cancels:
#
# $$L = -\ln w_t = -s_t + \ln \sum_j e^{s_j} \qquad \frac{\partial L}{\partial s_i} = w_i - \delta_{it}$$
#
# **Probability minus target.** Here: 0.25, 0.25 and 0.5 - 1 = -0.5. The three add up to 0. The right class is pushed up as much as the others together are pushed down.
#
# Two more things. The loss is a *mean* over positions, so each position's gradient is divided by their number. And padding, id 0, isn't counted: its gradient is 0, and it isn't part of that number.
#
# <details><summary>Hint 1</summary>
#
# How many positions does the mean run over when two of five are padding?
# </details>
# <details><summary>Hint 2</summary>
#
# `np.take_along_axis` picks one entry of each row. `np.arange(vocab_size) == targets[..., None]` is the one-hot array.
# For a loss that can't overflow, use the second form above, with the maximum taken out.
# </details>
# <details><summary>Hint 3</summary>
#
# Let `counts` say where a target isn't padding, then `(softmax(logits) - one_hot) * counts[..., None] / number`. The loss is the sum of the negative log-probabilities where `counts`, divided by `number`, as a float.
# </details>
#
# Docs: [np.take_along_axis](https://numpy.org/doc/stable/reference/generated/numpy.take_along_axis.html).

# %% [markdown]
# ### The task: five questions about three digits
#
# Time to train something. A question is an operation and three digits; the answer is a digit. `first 479` is 4, `max 479` is 9.
# There are five operations and 1,000 triples, so 5,000 questions in all. They are shuffled, and split into three sets:
#
# - 3,500 *training* questions, to learn from.
# - 500 *validation* questions, which the model never learns from. You look at them as often as you like: when to stop, which learning rate, which model.
# - 1,000 *test* questions. They stay closed until the model is finished, and then you look once.
#
# Why two sets that aren't trained on? If you try ten models and keep the best on some questions, you have chosen it *for those questions*, luck included. Elsewhere its score is a little lower. So the number that you report has to come from questions that played no part in any choice.

# %%
data = tasks.questions(seed=0)
sets = [set(data.train), set(data.validation), set(data.test)]
print("training, validation, test:", [len(one) for one in sets])
print("all three together:", len(set.union(*sets)), "different questions")
ids, _ = tasks.as_arrays([("first", (4, 7, 9))])
print("first 479 as ids:", ids[0], "(padding is 0, digit d is d + 1)")
pd.DataFrame(tasks.baselines(data)).round(2)

# %% [markdown]
# **What you should see**
#
# - No question is in two of the sets. Always giving an operation's most common answer is right for about a tenth of the validation questions about positions or fewer (first, second, last: 2 to 13 % with six seeds), and for 20 to 35 % of those about the largest or smallest digit. Picking one of the three digits blindly is right about 40 % of the time (37 to 43 %). <!-- claim: baselines -->
#
# So 40 % is what a model gets for knowing that the answer is one of the digits it sees.
#
# One thing about that split. Only one question in 1,000 has 0 as its largest digit: `max 000`. If it were in the test set, no training question about `max` would ever have had the answer 0.
# So it is always in the training set, and so is `min 999`. Check such corners before you wonder why a model stops at 99.9 %.

# %% [markdown] exercise="Adam" kind="core" difficulty=2 minutes=15
# Your `SGD` gives every weight the same learning rate, whether its gradients are huge or tiny. Adam divides each gradient by its usual size.
#
# It keeps two running means for each number: m of the gradients, v of their squares. Follow one number whose gradient is always 10, with the usual betas 0.9 and 0.999.
#
# After the first step, m = 0.1 · 10 = 1 and v = 0.001 · 100 = 0.1. Both are far too small, because they started at 0. Divide by the share that has been filled in so far,
# 1 - 0.9 = 0.1 and 1 - 0.999 = 0.001, and they are 10 and 100: a gradient of 10, of the usual size 10. So the step is the learning rate times 10 / √100, which is the learning rate itself.
#
# $$\hat m = \frac{m}{1 - \beta_1^t} \qquad \hat v = \frac{v}{1 - \beta_2^t} \qquad p \leftarrow p - \eta\, \frac{\hat m}{\sqrt{\hat v} + \epsilon}$$
#
# **Without those two divisions, how large would the first step be?** Work it out before you unfold.
#
# <details><summary>Answer to this question</summary>
#
# 1 / √0.1, which is about 3.2 times the learning rate. And v is slow to catch up: after a thousand steps, a step would still be a quarter too large.
# </details>
#
# <details><summary>Hint 1</summary>
#
# What has to survive from one call of `step` to the next? There are three things.
# </details>
# <details><summary>Hint 2</summary>
#
# Two lists of arrays that start at 0, `np.zeros_like`, and one counter that grows once for each call, not once for each array.
# </details>
# <details><summary>Hint 3</summary>
#
# `m = beta1 * m + (1 - beta1) * gradient`, the same for v with `gradient**2`; then divide each by `1 - beta**t`. eps is added after the root.
# </details>
#
# Docs: [np.sqrt](https://numpy.org/doc/stable/reference/generated/numpy.sqrt.html) · [np.zeros_like](https://numpy.org/doc/stable/reference/generated/numpy.zeros_like.html).

# %% [markdown]
# **What you've built** is enough to train a network. Here is a plain one: the four tokens as zeros and ones, `Linear`, `ReLU`, `Linear`, your loss, and your two optimisers.
# No attention yet. **What share of the validation questions will it answer, with Adam, after ten epochs?** (An epoch is once through all training questions.)

# %%
guess_plain = None  # a share

records = {}
for name, optimiser, rate in [("SGD", SGD, 0.1), ("Adam", Adam, 0.005)]:
    network = lab.plain(Linear, ReLU)
    records[name] = lab.taught(
        network, data.train, data.validation, cross_entropy, optimiser, epochs=(10,), rates=(rate,)
    )
plain_right = records["Adam"].validation_right[-1]
print(f"your guess: {guess_plain}, it is: {plain_right:.2f}")
display(lab.accuracies(network, data.validation).round(2).to_frame().T)
lines = {name: record.validation_right for name, record in records.items()}
lab.by_epoch(lines, "A network without attention", "validation questions right")

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - With Adam, 98 to 99 % are right after ten epochs, depending on the seed; with SGD, 74 to 82 %, and the line is still rising. What Adam's network gets wrong is mostly about the largest and smallest digit. <!-- claim: a_plain_network -->
#
# Everything in this plot is yours: the loss, three layers forward and backward, and the steps.
#
# So the task is not hard, except where digits have to be compared. Can a Transformer get *all* of them? (It won't be a fair comparison: the Transformer has 13,936 weights, and this network 5,200.)
#
# </details>
#
# ## Time for a break
#
# You have eight pieces, and nearly every network is trained with pieces like them: a loss, layers, gradients, steps, and a test for all of them. Save the notebook. When you come back, the pieces that make it a Transformer are waiting.

# %% [markdown]
# ## Part 2 · The Transformer's own layers

# %% [markdown] exercise="Embedding" kind="core" difficulty=2 minutes=10
# An embedding is a table: id 2 is replaced by row 2. Take a table of one column with the rows 0, 10, 20, and the ids 2, 1, 2. That gives 20, 10, 20.
# Suppose the loss has the gradients 1, 2 and 3 for the three outputs. How does it change with row 2?
#
# Row 2 was used twice, and if it moves, both outputs move: 1 + 3 = 4. Row 1 was used once: 2. Row 0 not at all: 0.
#
# $$\frac{\partial L}{\partial E_r} = \sum_{\text{positions with id } r} g_{\text{position}}$$
#
# There is a trap here, and it's NumPy's: `table[ids] += gradient` adds only *once* for each row, however often its id occurs. The last one wins.
#
# <details><summary>Hint 1</summary>
#
# In `first 474`, the digit 4 comes twice. Where do its two gradients go?
# </details>
# <details><summary>Hint 2</summary>
#
# Start from zeros of the table's shape, and let NumPy add with repetition. There is a function for exactly that.
# </details>
# <details><summary>Hint 3</summary>
#
# `np.add.at(table, ids, what_to_add)`. Backward returns None, because an id can't move a little.
# </details>
#
# Docs: [np.ufunc.at](https://numpy.org/doc/stable/reference/generated/numpy.ufunc.at.html).

# %% [markdown]
# How much would that trap have cost? Here is one batch of questions, and what each way adds up to.

# %%
tokens = tasks.as_arrays(data.train[:32])[0]  # (32, 4)
table = Embedding(16, 1)
table.forward(tokens)
table.backward(np.ones((32, 4, 1)))
careless = np.zeros((16, 1))
careless[tokens] += 1.0
arrived = {"every occurrence": table.weight_grad.sum(), "table[ids] += gradient": careless.sum()}
title = "32 questions of 4 tokens, each with the gradient 1"
plots.bars(arrived, title=title, x_label="what arrives in the table")

# %% [markdown] exercise="LayerNorm" kind="core" difficulty=5 minutes=25
# This is the hardest gradient of the lesson, so go slowly. Forward: subtract the mean, divide by the root of the variance.
#
# The row 1, 5: its mean is 3, the variance 4, the root 2. It becomes -1, 1. **Now raise the 5 by a little, to 5.1. What happens to the row?** Guess before you unfold.
#
# <details><summary>Answer to this question</summary>
#
# It is -1, 1 again. The mean moves to 3.05 and the root to 2.05, and (5.1 - 3.05) / 2.05 = 1. As long as the second number is the larger one, the result is -1, 1. So the gradient of *any* loss is 0 here (up to eps).
# </details>
#
# So an entry acts along three paths:
#
# ![A graph of LayerNorm. Forward: x and its mean go into the subtraction; the result, centred, goes into the division both directly and through the root of the variance; then weight and bias. Dashed arrows lead back: g from the end to the division; from there path 1, g over r, straight to centred, and path 3 through the root, minus n times the mean of g n, over r. Then path 2 through the mean: minus the mean of all that arrived.](picture:norm_three_paths)
#
# Take a row of three, so that something is left over: 1, 3, 8. The mean is 4, the centred row -3, -1, 4, the variance 26/3, the root 2.94, and the normalised row n is -1.02, -0.34, 1.36.
# Let the gradient of the output be g = 1, 0, 0, with weight 1.
#
# | path | what it adds | here |
# |---|---|---|
# | direct | g | 1, 0, 0 |
# | through the mean | minus the mean of g, for every entry | -0.33, -0.33, -0.33 |
# | through the variance | minus n times the mean of g·n, which is -0.34 | -0.35, -0.12, 0.46 |
# | all three | their sum | 0.32, -0.45, 0.13 |
# | divided by the root | the gradient of x | 0.11, -0.15, 0.04 |
#
# Two checks that need no answer key. The result adds up to 0: raising all entries by the same amount changes nothing, so no gradient may point that way. And its product with the centred row is 0:
# stretching the row changes nothing either.
#
# $$\frac{\partial L}{\partial x} = \frac{1}{r}\Big(g - \overline{g} - n\,\overline{g\,n}\Big) \qquad \text{with } g = \text{gradient} \cdot \text{weight, and bars for means over the last axis}$$
#
# Step by step, from the output back:
#
# - output = n · weight + bias. So the weight gets gradient · n, the bias gets the gradient, both summed over all rows. And n gets g = gradient · weight.
# - n = c / r, with c = x - mean and r the root. So c gets g / r directly, and r gets minus the sum of g · n, divided by r.
# - r² is the mean of c² (plus eps). So each entry of c gets another c / (d · r) times what r got, which is -n · mean(g · n) / r.
# - c = x - mean. So x gets what c got, minus the mean of what c got. On the first path, that subtracts the mean of g. It changes nothing on the last one, because n has the mean 0.
#
# <details><summary>Hint 1</summary>
#
# What does backward need that forward knows? (Two arrays: one of the shape of x, one with a single number for each row.)
# </details>
# <details><summary>Hint 2</summary>
#
# Keep the normalised row and the root. All three means in backward run over the last axis, with `keepdims=True`. The sums for weight and bias run over all the *other* axes.
# </details>
# <details><summary>Hint 3</summary>
#
# First g, the gradient times the weight, then `(g - g.mean(...) - n * (g * n).mean(...)) / self.root`. For the weights: `axis=tuple(range(gradient.ndim - 1))`.
# </details>
#
# Docs: [np.mean](https://numpy.org/doc/stable/reference/generated/numpy.mean.html).

# %% [markdown]
# **What you've built**, next to what it would be without each path. Here is the gradient as the sum of its paths. A 0
# leaves a path out.

# %%
rows = np.random.standard_normal((4, 8)) * 2 + 1
norm = LayerNorm(8)
toward = np.random.standard_normal((4, 8))


def claimed(x, with_mean=1, with_variance=1):
    """The value, and the gradient from the paths that are asked for."""
    root = x.std(axis=-1, keepdims=True)
    n = (x - x.mean(axis=-1, keepdims=True)) / root
    by_mean = with_mean * toward.mean(axis=-1, keepdims=True)
    by_variance = with_variance * n * (toward * n).mean(axis=-1, keepdims=True)
    return float((norm.forward(x) * toward).sum()), (toward - by_mean - by_variance) / root


# %% [markdown]
# Your own test judges all three. And how far off are the other two?

# %%
errors = {
    "yours": layer_error(LayerNorm(8), rows),
    "without the mean": gradient_check(lambda x: claimed(x, with_mean=0), rows),
    "without the variance": gradient_check(lambda x: claimed(x, with_variance=0), rows),
}
display(pd.Series(errors, name="relative error").map("{:.1e}".format).to_frame())
exact = claimed(rows)[1]
without = {"mean": claimed(rows, with_mean=0)[1], "variance": claimed(rows, with_variance=0)[1]}
for path, gradient in without.items():
    off = np.linalg.norm(gradient - exact) / np.linalg.norm(exact)
    print(f"without the {path}, the gradient is off by {off:.0%} of its length")

# %% [markdown]
# Your judge sees both at once. How far off each of them is depends on the gradient that arrives, and neither raises an error. Would you notice in training? That is for the end of this part.

# %% [markdown]
# ### Layers in a row
#
# When one layer follows another, their backward passes follow each other too, in reverse: what one `backward` returns is what the next one gets. The feed-forward network is nothing else, so it comes with the lesson:
#
# ```python
# class FeedForward:
#     def __init__(self, d_model, d_ff):
#         self.linear_in, self.relu, self.linear_out = Linear(d_model, d_ff), ReLU(), Linear(d_ff, d_model)
#
#     def forward(self, x):
#         return self.linear_out.forward(self.relu.forward(self.linear_in.forward(x)))
#
#     def backward(self, gradient):
#         return self.linear_in.backward(self.relu.backward(self.linear_out.backward(gradient)))
# ```
#
# A small example, with one number everywhere: x = 2, `linear_in` doubles, `linear_out` triples, no biases. Forward: 2, 4, 4, 12. Backward from 1: 3, 3, 6. And if `linear_in` multiplied by -2? Then the ReLU would have cut off -4, and the gradient of x would be 0.
#
# (The `Linear` and the `ReLU` inside it are the course's. They do what yours do.)

# %%
print(f"FeedForward: relative error {layer_error(FeedForward(4, 8), x):.1e}")

# %% [markdown] exercise="attention_backward" kind="core" difficulty=4 minutes=20
# One query, two keys, two values. The query is 1, both keys are 0, so both scores are 0 and both weights 0.5. The values are 4 and 0, so the output is 0.5 · 4 + 0.5 · 0 = 2. Suppose the gradient of the output is 1.
#
# 1. **Values.** Each value went into the output with its weight. So they get 0.5 and 0.5.
# 2. **Weights.** Each weight was multiplied by its value. So they get 4 and 0.
# 3. **Scores.** Through the softmax: the mean is 2, so 0.5 · (4 - 2) = 1 and 0.5 · (0 - 2) = -1.
# 4. **Query.** It met both keys: 1 · 0 + (-1) · 0 = 0.
# 5. **Keys.** Each score is the key times the query: 1 · 1 and -1 · 1.
#
# ![A graph: query and key meet in the scores, which are divided by the root of d and go through the softmax to the weights. Weights and value meet in the output. Dashed arrows lead back, numbered 1 to 5: value, weights, scores, query, key.](picture:attention_graph)
#
# With matrices, each line turns one product of the forward pass around:
#
# $$dV = W^\top g \qquad dW = g\,V^\top \qquad dS = \text{softmax\_backward}(W, dW) \qquad dQ = \frac{dS\,K}{\sqrt d} \qquad dK = \frac{dS^\top Q}{\sqrt d}$$
#
# **And the mask?** Where a key was hidden, its weight is 0, and `softmax_backward` multiplies by the weight. So hidden scores get the gradient 0 by themselves. There is one exception, which you'll meet in the next exercise. (A mask must be applied to the gradient
# wherever it multiplied on the way forward: in the ReLU, in dropout, and in the loss for padding.)
#
# <details><summary>Hint 1</summary>
#
# In which order can you work these out? What does each one need?
# </details>
# <details><summary>Hint 2</summary>
#
# NumPy has `.mT`, which swaps the last two axes only, so everything works for any number of batch and head axes. Check each product by its shapes.
# </details>
# <details><summary>Hint 3</summary>
#
# `weights.mT @ gradient`, then `gradient @ value.mT`, then your `softmax_backward`, times `query.shape[-1] ** -0.5`. From that, `@ key` and `.mT @ query`.
# </details>
#
# Docs: [numpy.ndarray.mT](https://numpy.org/doc/stable/reference/generated/numpy.ndarray.mT.html) · [np.matmul](https://numpy.org/doc/stable/reference/generated/numpy.matmul.html).

# %% [markdown]
# Three gradients, three judgements:

# %%
parts = {name: np.random.standard_normal((2, 3, 4)) for name in ("query", "key", "value")}
toward = np.random.standard_normal((2, 3, 4))


def attention_of(name, x):
    query, key, value = ({**parts, name: x}[part] for part in ("query", "key", "value"))
    weights = softmax(query @ key.mT / 2)  # the root of 4 is 2
    found = attention_backward(query, key, value, weights, toward)
    return float((weights @ value * toward).sum()), found[list(parts).index(name)]


for name in parts:
    error = gradient_check(lambda x, name=name: attention_of(name, x), parts[name])
    print(f"{name:>5}: relative error {error:.1e}")

# %% [markdown] exercise="MultiHeadAttention" kind="core" difficulty=4 minutes=30
# Forward is lesson 3, in NumPy: three projections, split into heads, attend, merge, one more projection. `split_heads(x, num_heads)` and `merge_heads(heads)` are ready: (batch, length, d_model) to (batch, heads, length, d_head), and back.
#
# Backward is the same in reverse. Splitting and merging only move numbers around, so **each is the other's backward**:
#
# $$g \;\to\; \texttt{output.backward} \;\to\; \text{split} \;\to\; \texttt{attention\_backward} \;\to\; 3 \times \text{merge} \;\to\; \texttt{query/key/value.backward}$$
#
# A small example: d_model = 2 with two heads, so each head has one number. If the gradient behind `output.backward` is (5, 7), then head 1 gets 5 and head 2 gets 7. What the heads send back as 1 and 2 is merged into (1, 2).
#
# It returns *three* gradients, and doesn't add them up. In self-attention the three inputs are the same array, in cross-attention they aren't. Only the caller knows.
#
# Two details. Write a hidden score as -1e9 rather than minus infinity, so a row in which everything is hidden doesn't turn into NaN. But then all scores of that row are the same, and its weights are equal. That is the exception: they aren't 0 by themselves, and a gradient would pass through scores that played no part. Can you make those weights 0 after all?
#
# And take care of float32: `np.sqrt(4)` is a float64 number, and one such number turns a whole float32 array into float64. A plain Python number, `d ** -0.5`, doesn't.
#
# <details><summary>Hint 1</summary>
#
# Which four arrays does `attention_backward` ask for, besides the gradient? Where do you keep them?
# </details>
# <details><summary>Hint 2</summary>
#
# Keep q, k, v and the weights, all with heads, in `self`. `np.where(mask, scores, -1e9)` hides; a mask with fewer axes broadcasts. A boolean mask can also be a factor: True counts as 1, False as 0.
# </details>
# <details><summary>Hint 3</summary>
#
# Split what `self.output.backward` returns into heads, and hand it to `attention_backward(q, k, v, weights, ...)`. Each of the three goes through `merge_heads` and its own layer's `backward`.
# </details>
#
# Docs: [np.where](https://numpy.org/doc/stable/reference/generated/numpy.where.html) · `split_heads` and `merge_heads` in `transformer_course/numpy_transformer/attention.py`.

# %% [markdown]
# Here is something you can only see when you work gradients out yourself. Which of the eight weights and biases of this layer has *no* gradient, ever?

# %%
guess_idle = None  # a name such as "value.weight"

attention = MultiHeadAttention(8, 2)
sequence = np.random.standard_normal((2, 5, 8))
output, _ = attention.forward(sequence, sequence, sequence)
attention.backward(np.random.standard_normal(output.shape))
found = gradients_of(attention)
sizes = {name: float(np.abs(gradient).max()) for name, gradient in found.items()}
idle = min(sizes, key=sizes.get)
print(f"your guess: {guess_idle}, it is: {idle}")
pd.Series(sizes, name="largest gradient").map("{:.1e}".format).to_frame()

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - The gradient of the key's bias is 0, up to rounding; all the others are far from it. <!-- claim: the_keys_bias -->
#
# A bias on the keys adds the same number to all the scores of a query. A softmax ignores what all its scores share. So that bias has no effect on this layer's output, whatever the other weights are, and the layer could do without it. What your code computes for it is rounding noise, and so is the slope that a gradient check measures. Compared with each other, they could give any error at all: that is what the smallest denominator, 0.0001, is for.
#
# </details>

# %% [markdown] exercise="TransformerBlock" kind="core" difficulty=4 minutes=20
# A residual connection first: y = x + f(x). Say f triples, and x = 2: y = 2 + 6 = 8. If x grows by 1, y grows by 1 + 3 = 4. **The gradient takes both paths, and they add up.**
#
# ![A graph of the block. x splits: one path leads past, the other through norm1 and the attention, into which the normalised x goes three times. They meet in a plus sign. Then the same with norm2 and the feed-forward. Dashed arrows lead back, and at each split two or three of them meet in a sum.](picture:block_graph)
#
# $$g' = g + \texttt{norm2.backward}(\texttt{feed\_forward.backward}(g)) \qquad \frac{\partial L}{\partial x} = g' + \texttt{norm1.backward}(dQ + dK + dV)$$
#
# The second sum is the one that people forget. The normalised x goes into the attention *three times*: as queries, as keys and as values. If it moves, it moves in all three places.
#
# <details><summary>Hint 1</summary>
#
# At which points of the picture does one array go to several places? What happens there on the way back?
# </details>
# <details><summary>Hint 2</summary>
#
# Go back through the last sub-layer first, and add what came past it. Only then is it the attention's turn.
# </details>
# <details><summary>Hint 3</summary>
#
# To the gradient, add what comes back through `feed_forward` and then `norm2`. The sum goes into `self.attention.backward`, which returns three.
# </details>
#
# Docs: the formulas above, and your own docstrings.

# %% [markdown]
# ### A Transformer you can look into
#
# All the parts are there. `lab.Reader` puts *your* classes together: token and position embeddings, one block with four heads, a final norm, and a linear layer. The answer is read off at the first position, where the operation is. So only that position gets a gradient:
#
# ```python
# def backward(self, gradient):
#     first = self.final_norm.backward(self.output.backward(gradient))  # (batch, d_model)
#     gradient = np.zeros(self.shape)
#     gradient[:, 0] = first
#     for block in reversed(self.blocks):
#         gradient = block.backward(gradient)
#     self.embedding.backward(gradient)
#     self.positions.backward(gradient.sum(axis=0))  # one row of positions served the whole batch
# ```
#
# **After how many epochs will it answer more than 99 % of the validation questions?** The network without attention needed about ten to get near that.

# %%
guess_epochs = None  # a number

parts = lab.Parts(Embedding, TransformerBlock, LayerNorm, Linear)
reader = lab.fresh_reader(parts)
record = lab.taught(reader, data.train, data.validation, cross_entropy, Adam)
right = record.validation_right
over = [epoch for epoch, share in enumerate(right) if share > 0.99]
needed = over[0] if over else None
print(f"your guess: {guess_epochs}, it is: {needed}")
print(f"at the end: {right[-1]:.1%} of {len(data.validation)} validation questions")
lab.by_epoch({"validation": right, "training": record.train_right}, "Your Transformer, in NumPy")

# %% [markdown]
# The model is finished, and nothing about it will change any more. So open the test set. This is the only time: everything after it uses validation questions.

# %%
tested = lab.accuracies(reader, data.test)
display(tested.to_frame().T)
display(
    plots.bars(
        tested.to_dict(),
        title="Accuracy by operation",
        x_label="test questions right",
    )
)
lab.answered(reader, data.test[:5])

# %% [markdown]
# **What you should see**
#
# - More than 97 % of the validation questions are right after one epoch. After twelve, **all 1,000 test questions** are. That holds with each of the three seeds that we tried. <!-- claim: every_question -->
#
# So the pieces fit together, and the model is yours from the first multiplication to the last.
#
# ### A checkpoint
#
# `save` writes all the weights to a file, `load` puts them back. Both find your layers by themselves, whatever you called them: they look for everything that has a `forward` and a `weight`.

# %%
with tempfile.TemporaryDirectory() as folder:
    file = Path(folder) / "reader.npz"
    save(file, reader)
    size = file.stat().st_size
    another = lab.fresh_reader(parts, seed=1)
    load(file, another)
of_both = [lab.accuracies(model, data.validation) for model in (reader, another)]
same = of_both[0].equals(of_both[1])
count = sum(array.size for array in weights_of(reader).values())
print(f"{count:,} weights in {size / 1024:.0f} KB")
print(f"the copy gives the same answers: {same}")

# %% [markdown]
# ### What its heads look at
#
# Now look inside. For each operation: how much of its weight does each head put on the operation itself and on each of the three digits, as seen from the position where the answer is read?
#
# The last column sums the pattern up in a word. A head is *focused* if the largest weight is at least 0.7, averaged over the questions, and *spread* otherwise.
#
# **For `max`, will the heads be focused or spread?** The largest digit can be anywhere.

# %%
guess_max = None  # "focused" or "spread"

looks = lab.heads(reader, data.validation)
of_max = looks.table[looks.table["operation"] == "max"]
max_reading = of_max["reading"].mode()[0]
print(f"your guess: {guess_max}, it is: {max_reading}")
before = lab.heads(lab.fresh_reader(parts), data.validation).table["reading"]
print("before training, the readings were:", before.value_counts().to_dict())
display(lab.where_heads_look(looks.from_operation))
looks.table

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - Before training, at least 15 of the 20 readings are "spread" (four heads, five operations; 16 to 20 with fourteen seeds). Afterwards, for `first`, `second` and `last`, every head puts more than 0.8 of its weight on the digit that is asked for. (We trained fourteen such readers. In nine of them it was so; in the other five, one head of the four put between 0.4 and 0.8 there.) <!-- claim: heads_follow_the_question -->
# - For `max` and `min` the map looks spread, but that is a mean over many questions. Question by question, most heads are focused: in 69 to 99 % of them, at least three of the four are. Nine times in ten they look at the digit that is the answer, wherever it is: 0.79 to 0.94 of the weight goes there, averaged over heads and questions (fourteen seeds). <!-- claim: heads_find_the_largest -->
#
# Two ways of looking, in the same heads. For `first` they look at a *position*. For `max` they look at *content*: the largest digit wins the softmax, as if it had been written for that. And a mean map would have told you the opposite. Look at single questions before you read anything into a map.
#
# </details>
#
# Looking is not using, though. So let's silence one head after another: its rows of the output layer are set to 0, and everything else stays.

# %%
silenced = {}
for head in range(4):
    share = lab.without_head(reader, head, data.validation)
    silenced[f"without head {head + 1}"] = share
pd.DataFrame(silenced).T.round(2)

# %% [markdown]
# **What you should see**
#
# - Whichever head is silenced, about 90 % or more of the questions of each operation are still right. No head does `max` on its own. <!-- claim: without_a_head -->
# - It was so in thirteen of our fourteen readers. In the last one, head 1 mattered more: without it, 77 to 83 % of the questions about `first`, `second`, `last` and `min` were right. <!-- claim: fourteen_readers -->

# %% [markdown]
# ### Would you have noticed?
#
# Your model is right. Now break it on purpose. Here are eight backward passes, each with something missing, and in each of them the forward pass stays exactly as it is:
#
# | backward pass | what is missing |
# |---|---|
# | LayerNorm without the mean | the path through the mean, in all three norms |
# | LayerNorm without the variance | the path through the variance |
# | LayerNorm without either | both: only the direct path is left |
# | block: dQ, without dK and dV | what comes back from the attention's keys and values |
# | block: nothing past a sub-layer | the residual's path past the sub-layer |
# | Embedding: the last one wins | all occurrences of a token in the batch but one |
# | Linear: no gradient for the bias | the gradients of all biases in linear layers |
# | softmax without the sum | the other weights of the row |
#
# All nine models, yours and the eight broken ones, start from the same weights and see the same batches for five epochs. Their learning curves are the rows below, under letters and in no particular order. **Which one is yours?**
#
# And before you run the cell: **how many of the eight will end below 99 % of the validation questions?** (This cell takes up to a minute.)

# %%
guess_below = None  # a number from 0 to 8

records = wrong.all_trained(data, cross_entropy, Adam, parts)
disguise = wrong.in_disguise(records)
shares = np.array([records[name].validation_right for name in disguise.values()])
plots.heatmaps(
    {"share right, by epoch": shares.round(3)},
    list(disguise),
    [str(epoch) for epoch in range(shares.shape[1])],
    title="One of these has the right gradients",
    low=0.0,
    high=1.0,
)

# %% [markdown]
# Have you chosen a letter? Then ask your judge. It takes a smaller model of the same kind, in float64, and moves each of its weights up and down.
#
# The table shows three more things. `direction` is the cosine of the angle between the claimed gradient and the right one, on 256 training questions, before training: 1 means the same direction, 0 a right angle.
# The last two columns are the shares of validation questions that are right. And there is a control at the end: a model in which only the output layer learns, and everything below it stays as it was drawn. If that one did well too, the task would be too easy to show anything.

# %%
judged = wrong.judged(gradient_check, cross_entropy, records, parts)
flawed = judged.loc[list(wrong.FLAWS)]
ends_below = int((flawed["after five epochs"] < 0.99).sum())
print("yours was", next(letter for letter, name in disguise.items() if name == "right"))
print(f"your guess: {guess_below} of eight, it is: {ends_below}")
judged

# %% [markdown]
# **What you should see**
#
# - The gradient check finds all eight: their errors are 1, as large as an error can be, and that of the right model is below 0.00001. (With thirteen other seeds, the smallest error of a broken one was 0.36.) <!-- claim: the_check_finds_all_eight -->
# - The curves find none of them, or just one. After five epochs, seven of the eight answer at least 99 % of the validation questions. So does the eighth, the softmax without its sum, if it is in luck; more about that below. The control stays between 40 and 60 %, so there is something to learn. <!-- claim: the_curves_find_none -->
# - The wrong gradients still point roughly the right way: the cosines lie between 0.75 and 1. The control's is 0.3 to 0.4. <!-- claim: still_downhill -->
#
# As lines, most of the curves would lie on top of each other: that is why they were drawn as rows.
#
# The angles say why the curves can't tell you. A step in a direction that is off by a right angle would get nowhere, but these are off by about 40 degrees at most, and going downhill at an angle also gets you down. Adam hides a wrong *size* as well, since it divides by it.
#
# Is this luck, or a task that forgives everything? We trained the same ten models with five seeds, and with two on a harder task, questions inside questions (you'll meet it at the end of the lesson):

# %%
wrong.over_seeds(measured("09_wrong_gradients"))

# %% [markdown]
# **What you should see**
#
# - With three digits, seven of the eight end above 99 % with every one of five seeds, as the right one does. Only the softmax without its sum gives itself away, and only with one seed of the five: 59 %. <!-- claim: over_five_seeds -->
# - We tried eight more seeds, and with four of them the softmax gives itself away, at 66 to 87 %. The others never do. (It takes no other seed: a computer that rounds sums a little differently is enough.) <!-- claim: eight_more_seeds -->
# - On nested questions, the right model answers 98 to 99.6 %, and six of the broken ones 97 to 99.4 %. Without dK and dV it is 90 to 92 %, and without the softmax's sum 19 to 24 %. <!-- claim: on_nested_questions -->
#
# Directions aren't the whole story, then: before training, the softmax's gradient has a cosine of more than 0.9. <!-- claim: the_softmax_begins_well -->
#
# And the harder task does notice two of the eight. But what would you have made of 90 %? Probably a model that is too small, and not a missing sum.
#
# A curve that looks fine proves nothing about your gradients, and a curve that looks bad doesn't say where to look. The check takes a second for a whole model, and used on one layer at a time, it says where. Run it before you train, on a model small enough for it.

# %% [markdown]
# ## Time for a break
#
# You have trained a Transformer with nothing but NumPy, and every gradient in it has passed your own test. What is left is the question from the beginning: what happened in `loss.backward()`?
#
# ## Part 3 · What autograd does
#
# ### Who called your backwards?
#
# You wrote a `backward` for each layer. And you also wrote, again and again, the order in which they are called: in the block, in the attention, in every class. **Autograd does that second part.** It knows the backward pass of many small steps. While you calculate forward, it writes down each step. Then it reads its notes from the last line to the first.
#
# The notes are called a **tape**. Here is one for y = x · x + x at x = 3, with s for the square:
#
# | step | went in | came out | on the way back |
# |---|---|---|---|
# | 1 | x, x | s = 9 | a gradient g becomes 3g for the first x and 3g for the second |
# | 2 | s, x | y = 12 | a gradient g becomes g for s and g for x |
#
# ![A graph. x is 3. Two arrows lead from x to a product, whose result s is 9. From s and from x arrows lead to a plus, whose result y is 12. Dashed arrows lead back: 1 into y, then 1 to s and 1 directly to x, then 3 and 3 from the product to x. Below: 1 + 3 + 3 = 7.](picture:tape_graph)
#
# Begin with 1 for y. Step 2 hands 1 to s and 1 to x. Step 1 got 1 for s, so it hands 3 and 3 to x. Everything that arrived at x adds up: 1 + 3 + 3 = 7, and the slope of x² + x at 3 is 2 · 3 + 1 = 7.
#
# Why the last step first? Every step that uses s comes after the step that made it. Going backward, all of them have sent their gradients by the time that step is reached.

# %% [markdown] exercise="Tape" kind="core" difficulty=3 minutes=15
# A tape needs one list and two methods. `record` notes down what went in, what came out, and the function that goes back. `gradients` reads the list in reverse.
#
# $$\bar{y} = g \qquad \text{for each step, last one first:} \quad \bar{x} \mathrel{+}= \texttt{backward}(\bar{s})_x \;\text{ for each } x \text{ that went into it}$$
#
# (A bar stands for the gradient that has arrived so far.)
#
# How does the tape know that the x of step 1 is the x of step 2? Not by its numbers: another array may hold a 3 as well. It has to be the same *object*. Python gives each object a number, `id(x)`, which no other object gets as long as somebody, such as your list, holds on to it.
#
# A step may lead nowhere, because its output was never used for y. Then nothing arrives there, and its backward isn't called.
#
# <details><summary>Hint 1</summary>
#
# What do you do when a second gradient arrives at the same array? And what must *not* happen to the first one, which may belong to somebody else?
# </details>
# <details><summary>Hint 2</summary>
#
# `record` appends to a list. `gradients` keeps a dict from `id(array)` to the gradient so far, which begins with a single entry, the one for the output; then it goes through `reversed(...)` of the list.
# </details>
# <details><summary>Hint 3</summary>
#
# For each step whose output is in the dict: call its `backward` with that gradient, and go through inputs and results with `zip`. A new sum, `found[key] + more`, changes nobody's array; `+=` would. Arrays that nothing arrived at get `np.zeros_like`.
# </details>
#
# Docs: [id](https://docs.python.org/3/library/functions.html#id) · [reversed](https://docs.python.org/3/library/functions.html#reversed).

# %% [markdown]
# **What you've built** goes backward through anything. Let it do attention. Here are four small steps, each with its own way back.

# %%
tape = Tape()


def product(a, b):
    return tape.record([a, b], a @ b, lambda g: [g @ b.mT, a.mT @ g])


def turned(a):
    return tape.record([a], a.mT, lambda g: [g.mT])


def scaled(a, factor):
    return tape.record([a], a * factor, lambda g: [g * factor])


def softened(scores):
    weights = softmax(scores)
    return tape.record([scores], weights, lambda g: [softmax_backward(weights, g)])


# %% [markdown]
# And here is attention *forward*, in three lines. The tape doesn't use `attention_backward`: what order the steps come back in, and where gradients add up, is up to the tape.

# %%
query, key, value = np.random.standard_normal((3, 2, 5, 4))  # each (2, 5, 4)
scores = scaled(product(query, turned(key)), 0.5)  # 1 / the root of 4
weights = softened(scores)
output = product(weights, value)

toward = np.random.standard_normal(output.shape)
by_tape = tape.gradients(output, toward, [query, key, value])
by_hand = attention_backward(query, key, value, weights, toward)
print(f"the tape and your attention_backward differ by at most {lab.apart(by_tape, by_hand):.0e}")

# %% [markdown]
# PyTorch has a tape of its own. If it's installed here, it gets the same arrays:

# %%
torch = try_to_import("torch")
if torch is not None:
    tensors = [torch.from_numpy(each).requires_grad_() for each in (query, key, value)]
    result = torch.nn.functional.scaled_dot_product_attention(*tensors)
    result.backward(torch.from_numpy(toward))
    by_torch = [tensor.grad.numpy() for tensor in tensors]
    print(f"the tape and PyTorch differ by at most {lab.apart(by_tape, by_torch):.0e}")

# %% [markdown]
# **What you should see**
#
# - From five recorded steps come three gradients that agree with your own and with PyTorch's to more than 13 decimal places. <!-- claim: the_tape_agrees -->
#
# This is what `loss.backward()` does. A real library has several hundred kinds of steps instead of four, and runs them on a GPU if there is one. The loop is the one that you wrote.

# %% [markdown] exercise="Variable" kind="stretch" difficulty=4 minutes=25
# One thing is still clumsy: nobody writes `product(query, turned(key))`. In PyTorch you write `query @ key.mT`, and the tensor does the recording. Python lets a class say what `@` and `*` mean: `a @ b` calls `a.__matmul__(b)`, and `a * b` calls `a.__mul__(b)`.
#
# So a `Variable` holds an array and a tape, and each operation does three things: work out the new array, record the step, return a new `Variable`.
#
# | step | on the way back, from g |
# |---|---|
# | a · b, entry by entry | g · b, and g · a |
# | a @ b | g @ bᵀ, and aᵀ @ g |
# | aⁿ | g · n · aⁿ⁻¹ |
# | exp(a) | g · exp(a) |
# | sum over the last axis | g for each entry of the row |
# | aᵀ | gᵀ |
#
# $$\text{for example} \quad y = (xw)^2 \text{ with } x = 2,\; w = 3: \qquad y = 36, \qquad \frac{\partial y}{\partial w} = 2 \cdot 6 \cdot 2 = 24$$
#
# One trap is **broadcasting**. If b is one row of shape (3,) and a has shape (4, 3), then b served four rows, and its gradient is the sum over all four. `unbroadcast(gradient, b.shape)` does that sum. It is what you did for the bias of `Linear`.
#
# <details><summary>Hint 1</summary>
#
# Look at `__add__`, which is given. Which two lines does every operation consist of?
# </details>
# <details><summary>Hint 2</summary>
#
# `other` may be a `Variable` or a plain number; `array_of(other, self.array)` makes an array of either. Only `+`, `*` and `@` can broadcast, so only they need `unbroadcast`.
# </details>
# <details><summary>Hint 3</summary>
#
# For `*`: `self.recorded([a, b], a * b, lambda g: [unbroadcast(g * b, a.shape), unbroadcast(g * a, b.shape)])`. For the sum, `g * np.ones_like(a)` gives each entry of a row the same.
# </details>
#
# Docs: [operators of a class](https://docs.python.org/3/reference/datamodel.html#emulating-numeric-types).

# %% [markdown]
# **What you've built** is autograd. Here is attention as a formula, forward and nothing else. No `softmax_backward`, no `attention_backward`: both come out of exp, sum and division.

# %%
tape = Tape()
q, k, v = (Variable(array, tape) for array in (query, key, value))
scores = q @ k.mT * 0.5
exponentials = (scores - scores.array.max(axis=-1, keepdims=True)).exp()
weights = exponentials / exponentials.sum()
result = weights @ v

by_formula = tape.gradients(result.array, toward, [query, key, value])
by_hand = attention_backward(query, key, value, weights.array, toward)
print(f"the formula's three gradients and yours differ by at most {lab.apart(by_formula, by_hand):.0e}")

# %% [markdown]
# LayerNorm was the hardest gradient of this lesson: three paths, and half a page of mathematics. As a formula it is four lines.


# %%
def norm_forward(x, weight, bias):
    centred = x - x.sum() / 32
    variance = (centred * centred).sum() / 32
    normalised = centred / (variance + 1e-5) ** 0.5
    return normalised * weight + bias


tape = lab.watched(Tape)  # your tape, and it also counts
shapes = ((128, 32), (32,), (32,))
rows, weight, bias = (Variable(np.random.standard_normal(shape), tape) for shape in shapes)
y = norm_forward(rows, weight, bias)
toward = np.random.standard_normal((128, 32))
by_formula = tape.gradients(y.array, toward, [rows.array, weight.array, bias.array])

# %% [markdown]
# Your own layer from Part 2 gets the same rows, and the same weight and bias.

# %%
norm = LayerNorm(32)
norm.weight, norm.bias = weight.array, bias.array
norm.forward(rows.array)
by_hand = [norm.backward(toward), norm.weight_grad, norm.bias_grad]
print(f"the formula's three gradients and yours differ by at most {lab.apart(by_formula, by_hand):.0e}")

# %% [markdown]
# **How many arrays does the tape have to keep for that?** (Single numbers don't count.) Your own `LayerNorm` keeps two for its way back: the normalised rows, and one root for each row.

# %%
guess_kept = None  # a number

on_tape = lab.kept_by(tape)
print(f"your guess: {guess_kept}, it is: {len(on_tape)}")
print(f"the tape keeps {sum(on_tape) / 1024:.0f} KB, your layer {lab.remembered(norm) / 1024:.0f} KB")

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - The same gradients as yours, for attention and for LayerNorm, to 12 decimal places. <!-- claim: formulas_by_tape -->
# - For LayerNorm the course's `Variable` keeps 16 arrays on the tape, 200 KB. The layer from Part 2 keeps 33 KB: a sixth. <!-- claim: what_the_tape_keeps -->
#
# So here is what autograd costs. Every small step writes another array into memory, and your tape keeps them all. (PyTorch's keeps only those that some way back needs. That is still an array or two for most steps.) It is one reason why PyTorch has LayerNorm and attention as *single* steps, whose backward passes somebody worked out by hand. That somebody did what you did in Part 2.
#
# </details>

# %% [markdown]
# ### The race
#
# Now for the whole model. Here is `Reader` once more, with the *same weights*, in PyTorch's tensors. Both train for a hundred steps on the same batches: yours by hand, the other by autograd.
#
# This part needs PyTorch. Without it, the cell says so, and the lesson goes on.

# %%
if torch is None:
    print("PyTorch isn't installed here, so there is nothing to race against: read on.")
else:
    from transformer_course.lessons.lesson_09.experiments import twin

    tokens, answers = tasks.as_arrays(data.train)
    runner = lab.fresh_reader(parts, dtype=np.float64)
    both = twin.side_by_side(runner, tokens, answers, cross_entropy, Adam)
    apart = float((both["NumPy"] - both["PyTorch"]).abs().max())
    print(f"after 100 steps, the losses differ by at most {apart:.1e}")
    lines = {name: both[name] for name in both}
    display(plots.curves(lines, title="The same weights, the same batches"))

# %% [markdown]
# **What you should see**
#
# - Over a hundred steps, the two losses differ by less than 0.00000001. <!-- claim: the_same_losses -->
# - With one of the eight wrong backward passes from Part 2 they would drift apart, by more than 0.001. <!-- claim: wrong_losses_drift -->
#
# So an answer key finds wrong gradients too, if you have one. (With one exception: a wrong gradient for the key's bias would change nothing, since that bias has no effect.)
#
# And how long does a step take? **At which of three sizes will NumPy win?** (Both use float32. The step is forward and backward, without the optimiser. The course's own layers run here, and each side gets one thread: for NumPy the package `threadpoolctl` sees to that, and where it isn't installed, the cell says so.)

# %%
guess_winner = None  # a list of sizes, such as ["small", "medium"]

numpy_wins = None
if torch is None:
    print("PyTorch isn't installed here.")
else:
    clock = twin.times()
    numpy_wins = list(clock.loc[clock["NumPy / PyTorch"] < 1, "size"])
    print(f"your guess: {guess_winner}, it is: {numpy_wins}")
    display(clock)

# %% [markdown]
# On our two-core machine, busy with other programs and with one thread each, a step by hand took 0.7 to 0.9 times as long as PyTorch's at the small size, 1.2 to 1.6 times at the medium one, and 1.1 to 1.3 times at the large one. Yours will differ.
# (With as many threads as it liked, NumPy took up to 15 times as long as PyTorch there: on a busy machine, threads mostly wait for each other. A race needs equal lanes.)
#
# The small size has so little to compute that most of the time goes into calling functions, and yours are fewer: nothing has to be recorded for the way back. At the larger sizes PyTorch has the advantage of doing several
# of your steps at once, LayerNorm and attention above all, where NumPy writes every step into memory and reads it back. That is what we think is behind these numbers; we haven't taken them apart.
# And there is a cost that no clock shows: the afternoon in which you wrote the gradients.

# %% [markdown]
# ### What a step remembers
#
# Backward needs what forward saw. For each block your layers keep: the normalised rows of both norms, the inputs of the linear layers, q, k and v, the attention weights, and the ReLU's mask. For one token that makes
#
# $$8\, d_{\text{model}} + 1.25\, d_{\text{ff}} + \text{heads} \cdot \text{length}$$
#
# numbers. (A boolean takes a quarter of the space of a float32, hence the 1.25.) With d_model = 32, d_ff = 128, four heads and four positions, that is 432 numbers, so for 32 questions of four tokens 432 · 128 · 4 bytes = 216 KB. Count them:

# %%
reader.forward(tasks.as_arrays(data.train[:32])[0])
held = sum(array.nbytes for array in weights_of(reader).values())
print(f"the weights themselves:    {held / 1024:.0f} KB")
print(f"remembered by the block:   {lab.remembered(reader.blocks[0]) / 1024:.0f} KB")

# %% [markdown]
# **What you should see**
#
# - With the course's own layers, the block remembers 217 KB (the extra kilobyte is the norms' roots), four times as much as all the weights take up. <!-- claim: what_a_step_keeps -->
#
# Yours may remember a little more or less: a copy here, an array that isn't needed there. For a long text the last term takes over, because the length enters twice: each token has its row of weights, and each row has as many weights as there are tokens.

# %% [markdown]
# ## Time for a break
#
# Model, gradients, training, and the machine that makes gradients: all of it is yours. The rest is *stretch*: a decoder, so that your Transformer can write.
#
# ## Part 4 · A decoder

# %% [markdown] exercise="Dropout" kind="stretch" difficulty=2 minutes=10
# In training, each number is set to 0 with probability p, and the others are divided by 1 - p. With p = 0.5, the row 1, 2, 3, 4 may become 2, 0, 0, 8: half as many, twice as large, and the same sum *on average*.
#
# $$y = \frac{m}{1 - p}\, x \qquad \frac{\partial L}{\partial x} = \frac{m}{1 - p}\, g \qquad m_i \in \{0, 1\}$$
#
# For that row and a gradient of ones: 2, 0, 0, 2. What was dropped gets no gradient.
#
# <details><summary>Hint 1</summary>
#
# Must backward draw random numbers?
# </details>
# <details><summary>Hint 2</summary>
#
# One array of factors, 0 or 1 / (1 - p), is drawn in forward and used in both. When `training` is False, all factors are 1.
# </details>
# <details><summary>Hint 3</summary>
#
# `self.generator.random(x.shape) >= self.p` says what is kept. Watch the dtype: convert the result back to that of x.
# </details>
#
# Docs: [Generator.random](https://numpy.org/doc/stable/reference/random/generated/numpy.random.Generator.random.html).

# %%
drops = Dropout(0.5, np.random.default_rng(0))
kept = [drops.forward(np.ones(1000)).mean() for _ in range(200)]
print(f"the mean of 1,000 ones, after dropout: {np.mean(kept):.3f} on average")

# %% [markdown] exercise="DecoderBlock" kind="stretch" difficulty=4 minutes=20
# A decoder block reads twice: its own words so far, and the encoder's states. So its backward returns two gradients.
#
# A small example: if the cross-attention sends back 1 for its keys and 2 for its values, the states get 3. Its queries' share stays in the decoder. Then comes the self-attention, where all three add up, as before.
#
# ![A graph of the decoder block. From the encoder states two arrows lead into the cross-attention, as keys and as values. On the way back these two meet in a sum, which leaves the block towards the encoder.](picture:decoder_graph)
#
# $$g' = g + \texttt{norm3.backward}(\dots) \qquad dQ, dK, dV = \texttt{cross\_attention.backward}(g') \qquad \frac{\partial L}{\partial \text{states}} = dK + dV \qquad g'' = g' + \texttt{norm2.backward}(dQ)$$
#
# <details><summary>Hint 1</summary>
#
# Which of the three gradients of the cross-attention belong to the encoder?
# </details>
# <details><summary>Hint 2</summary>
#
# Three sub-layers, last one first. Each time: what came past, plus what came through.
# </details>
# <details><summary>Hint 3</summary>
#
# After the feed-forward, `self.cross_attention.backward` returns three gradients. The states get the sum of the last two; the first goes through `self.norm2.backward`.
# </details>
#
# Docs: the formulas above, and your own docstrings.

# %% [markdown] exercise="Transformer" kind="stretch" difficulty=5 minutes=30
# Forward is lesson 5: embed the source, run it through the encoder blocks and the encoder's norm; embed the target, run it through the decoder blocks, each of which reads the states; then the decoder's norm and the output layer.
#
# Backward, every place where one array served several readers becomes a sum:
#
# | what served several | on the way back |
# |---|---|
# | the encoder states, read by every decoder block | the blocks' gradients for the states add up |
# | one row of positions, for the whole batch | the sum over the batch |
# | one row of the embedding, for each of its tokens | `Embedding.backward` does it |
#
# A small example: two decoder blocks send back 1 and 2 for a state. The encoder gets 3.
#
# $$\frac{\partial L}{\partial \text{states}} = \sum_{\text{blocks}} \frac{\partial L}{\partial \text{states}}\Big|_{\text{block}}$$
#
# The order matters: the encoder's backward can only begin when the *last* decoder block has sent its share.
#
# <details><summary>Hint 1</summary>
#
# In which order do the decoder blocks go backward? When is the gradient of the states complete?
# </details>
# <details><summary>Hint 2</summary>
#
# Two masks, made in forward: `source != 0` with two axes of length one in the middle, and a lower triangle, `np.tri(length, dtype=bool)`. Gradients need no masks.
# </details>
# <details><summary>Hint 3</summary>
#
# `for block in reversed(self.decoder_blocks)`: each returns `(gradient, of_states)`. Collect the second, go on with the first. The positions' `backward` gets the sum of the gradient over the batch, axis 0.
# </details>
#
# Docs: [np.tri](https://numpy.org/doc/stable/reference/generated/numpy.tri.html).

# %% [markdown]
# ### Backwards
#
# Rows of one to eight letters go in, and should come out backwards. There are 6,000 rows to learn from, 300 others for validation, and another 500 for the test at the end. The model trains with a teacher: it always reads the right letters so far. Then it writes on its own.
#
# **After eight epochs, what share of the test rows does it write correctly from start to end?** (This cell takes about half a minute.)

# %%
guess_rows = None  # a share

letters = lab.backwards(seed=0)
writer = lab.letters_model(Transformer)
progress = lab.read_backwards(writer, letters, cross_entropy, Adam)
display(progress.round(4))  # on the validation rows
at_the_end = lab.letters_scores(writer, letters.test)
rows_right = at_the_end["rows, on its own"]
print(f"your guess: {guess_rows}, it is: {rows_right:.3f}")
display(pd.Series(at_the_end, name="test rows").to_frame().T.round(4))
lab.written(writer, ["a", "abc", "hgfedcba", "deaf", "bbbbbbbb"])

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - After eight epochs it writes more than 99.8 % of the test tokens and more than 99 % of the test rows correctly, in less than a minute. <!-- claim: letters_backwards -->
#
# With a teacher or without, the same rows come out right. Lesson 5 proved that they must.
#
# </details>

# %% [markdown]
# ## Open ends
#
# Both of these are optional, and harder. Neither is marked, but each can tell you whether you got there.
#
# A task brings questions to train on, 500 for validation and 500 for the test, all of them different. `task.verdict(model)` looks at the validation questions first. Only if your model reaches the goal there does it open the test questions.
# The cells below train for a moment only, and don't get there. That is where you come in: more epochs, a second stretch with a tenth of the learning rate, more blocks (`num_layers`), wider ones (`d_model`).
#
# **Nested questions.** `max ( first ( 2 8 1 ) 5 3 )` is 5: eleven tokens, one answer. The inner question has to be answered before the outer one can be. **Is one block enough for that?**

# %%
task = extensions.nested()
model = extensions.fresh(task, lab.Reader, num_layers=1, parts=parts)
extensions.taught(task, model, cross_entropy, Adam, epochs=(1,), rates=(3e-3,))
task.verdict(model)

# %% [markdown]
# <details><summary>How far we got</summary>
#
# With six epochs at 0.003 and two at 0.0003, one block answers 91 to 93 % of the validation questions, and two blocks 98 to 99.6 %. Most of what one block gets wrong is about `max` and `min`. <!-- claim: nested_questions_need_two_blocks -->
# </details>
#
# **Answers of several digits.** `417+058` is 475, and your `Transformer` writes it token by token: 5, 7, 4, end. The last digit comes first, for the reason that lesson 5 found. An answer counts only if all its tokens are right, written without a teacher.

# %%
task = extensions.sums()
model = extensions.fresh(task, Transformer)
extensions.taught(task, model, cross_entropy, Adam, epochs=(1,), rates=(3e-3,))
task.verdict(model)

# %% [markdown]
# <details><summary>How far we got with the sums</summary>
#
# It depends on the weights it starts with: after four epochs at 0.003 and two at 0.0003, more than 99 % are right with one seed, and fewer than 10 % with another. So try another `seed` in `extensions.fresh`, or a wider model, before you give up. <!-- claim: sums_depend_on_the_seed -->
# </details>
#
# ## Explain it
#
# A friend's NumPy Transformer trains, and reaches 99 % on a small task. On a larger one it stops at 90 %, and PyTorch, with the same weights to start from, gets 99 %. Your friend says: "My gradients must be right. They worked on the small task."
#
# Answer in four or five sentences, in your own words. Why can a model learn with wrong gradients? How would you find the layer that is wrong, without reading its code? And which mistakes would you look for first?

# %% [markdown] explain=true
# A step helps whenever it points downhill even a little, and a gradient that lacks one of its paths still does that most of the time. On an easy task that is enough, and Adam hides wrong sizes as well. So learning shows that the gradients aren't nonsense, not that they are right.
# I would take one layer at a time, hold a random gradient for its output fixed, and compare what backward returns and what it sets for the weights with slopes that are measured by moving one entry up and down, in float64. The first layer with a relative error above 0.00001 is the one, unless the input sits on a kink or the slope is 0 and only noise is measured.
# I would look first where an array serves several readers: sums over the batch, the three gradients in the block, the two paths of a residual, the mean and the variance in LayerNorm, and the sum in the softmax. Each of those is easy to forget, and none of them raises an error.

# %% [markdown]
# ## How good were your guesses?
#
# Here are your guesses next to what happened; a number counts if it is close. A wrong guess is worth more than none: it shows you where to look.

# %%
lab.board(
    [
        # question, your guess, what happened, how far off a number may be
        ("the best h, as a power of ten", guess_h, best_h, 1),
        ("questions right, without attention", guess_plain, round(plain_right, 2), 0.05),
        ("the parameter without a gradient", guess_idle, idle, None),
        ("epochs until more than 99 % are right", guess_epochs, needed, 1),
        ("how heads look for `max`", guess_max, max_reading, None),
        ("of eight broken models, below 99 %", guess_below, ends_below, 0),
        ("arrays on the tape for LayerNorm", guess_kept, len(on_tape), 4),
        ("where NumPy wins", guess_winner, numpy_wins, None),
        ("rows written backwards", guess_rows, round(rows_right, 2), 0.05),
    ]
)

# %% [markdown]
# ## Recap
#
# Answer from memory, then check.
#
# **1.** An array goes to three places on the way forward. What happens on the way back?
#
# <details><summary>Answer</summary>
#
# Its three gradients add up. That one rule gives you the sum over the batch for a weight, dQ + dK + dV in the block, dK + dV for the encoder states, both paths of a residual, and the tape.
# </details>
#
# **2.** Why isn't `weights * gradient` the gradient of a softmax?
#
# <details><summary>Answer</summary>
#
# Because the weights of a row add up to 1: when one score grows, all the other weights fall. The mean of the gradients, weighted by the softmax, has to be subtracted first.
# </details>
#
# **3.** Which three paths lead from an entry of x through LayerNorm, and how can you check them without an answer key?
#
# <details><summary>Answer</summary>
#
# Directly, through the mean, and through the variance. The gradient must add up to 0, and its product with the centred row must be 0 as well (up to eps), because shifting or stretching a row changes nothing.
# </details>
#
# **4.** Why does a gradient check use float64, and why does it never divide by less than 0.0001?
#
# <details><summary>Answer</summary>
#
# Because it subtracts two almost equal numbers. Of the 16 digits of a float64, about 11 are left; of the 7 of a float32, two or three. And where the true slope is 0, only rounding noise is measured; divided by itself, it would look like an error of 100 %.
# </details>
#
# **5.** Why does a tape go through its steps from the last to the first?
#
# <details><summary>Answer</summary>
#
# Every step that uses an array comes after the step that made it. Going backward, all of them have sent their gradients by the time that step is reached, so the sum is complete.
# </details>
#
# ## Things to try
#
# - Give the judge a harder case: divide `weight_grad` by the number of rows in your `Linear`. Do the curves show it? Does Adam care? Does SGD?
# - Leave the bias correction out of `Adam`, and look at the first ten losses.
# - Tie source and target embedding of the `Transformer` into one table. Its `backward` *sets* the gradient, and now it's called twice: what do you have to change?
# - Give `Variable` a `relu` and a `log`, and train the network without attention from Part 1 with no `backward` of your own.
# - `np.einsum` can write every product of this lesson. Rewrite `attention_backward` with it, and time both.
#
# ## Glossary
#
# | word | meaning |
# |---|---|
# | autograd | works out gradients by recording the steps of a calculation and going back through them |
# | backward pass | from the loss back to every weight, layer by layer, last one first |
# | bias correction | Adam's division by 1 - beta ** t, which makes up for means that began at 0 |
# | chain rule | slopes along a path multiply; slopes of several paths add up |
# | checkpoint | the weights at one moment, kept in order to come back to them |
# | computation graph | the steps of a calculation, and what goes into which |
# | epoch | once through all the training examples |
# | gradient | how fast a number changes with each entry of an array |
# | gradient check | compares the slopes that you measure with the gradient that a layer claims |
# | Jacobian | the matrix of the slopes of all outputs with respect to all inputs |
# | relative error | a difference, divided by the size of what is compared |
# | tape | the steps of a calculation, written down in order, each with its way back |
# | test set | examples that are looked at once, when nothing is left to choose |
# | validation set | examples that the model doesn't learn from, and by which you choose |
#
# ## Papers
#
# - Rumelhart, Hinton, Williams, [Learning representations by back-propagating errors](https://www.nature.com/articles/323533a0), *Nature* 323, 1986: the backward pass.
# - Kingma, Ba, [Adam: A Method for Stochastic Optimization](https://arxiv.org/abs/1412.6980), ICLR 2015: algorithm 1, and section 3 on the bias correction.
# - Ba, Kiros, Hinton, [Layer Normalization](https://arxiv.org/abs/1607.06450), 2016: section 3.
# - Vaswani and others, [Attention Is All You Need](https://arxiv.org/abs/1706.03762), NeurIPS 2017: sections 3.1 and 3.2.
# - Xiong and others, [On Layer Normalization in the Transformer Architecture](https://arxiv.org/abs/2002.04745), ICML 2020: section 3, why the norm comes before each sub-layer.
# - Srivastava and others, [Dropout](https://jmlr.org/papers/v15/srivastava14a.html), *JMLR* 15, 2014: section 4.
# - Baydin, Pearlmutter, Radul, Siskind, [Automatic Differentiation in Machine Learning: a Survey](https://arxiv.org/abs/1502.05767), *JMLR* 18, 2018: section 3, what autograd does, and the tape.
# - Jain, Wallace, [Attention is not Explanation](https://arxiv.org/abs/1902.10186), NAACL 2019: where a model looks, and what it uses.
