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
# # Lesson 10 · Training well
#
# COLAB_BADGE
#
# Here is a run that fails. The loss stays where it is, step after step. **What is wrong with it?**
#
# ![A curve of a training loss over 200 steps, flat from the first step to the last, at a little more than 2.5. Beside it three question marks: is the learning rate too high, is the layer dead, is the gradient zero?](picture:flat_line)
#
# You can't tell, and nobody could: half a dozen faults look like this. You need a second curve, and you need to know
# what each fault looks like. In this lesson you break one small model in nine ways, learn to tell the nine apart by
# their curves, and build the tools that repair them. Then you measure what each tool costs, and what it buys.
#
# **What you will be able to do**
#
# - find out in a minute whether a new model can learn at all
# - set a learning rate that rises and falls, and tame a gradient that explodes
# - train with batches that don't fit into memory
# - tell from its curves what is wrong with a run
# - keep a model from learning its data by heart, and know when to stop
# - say what half precision, checkpointing, compiling and fused attention cost and buy, in numbers
#
# **Time.** About 110 minutes before the break and 40 after it, an estimate for somebody who has done lessons 3 to 5.
# The two exercises after the break are *stretch*. To skip one, unfold *Go on with ours* below its hints: that line puts
# the course's own code in its place.
#
# **How to check.** Replace the line `raise NotImplementedError()` with your own code, and run the cell. Then run the
# `check` cell below it. It tells you what is right and what isn't, as often as you like.
#
# **How to submit.** Save the notebook and hand it in the way your class does.
# Nobody to hand it in to? The checks are all you need.

# %% [markdown]
# ## A two-minute test
#
# This lesson builds on [lesson 1](../01_pytorch_basics/01_pytorch_basics.ipynb),
# [lesson 5](../05_causal_masks/05_causal_masks.ipynb) and
# [lesson 8](../08_attention_is_all_you_need/08_attention_is_all_you_need.ipynb). Try these three without running anything.
#
# **1.** What does `loss.backward()` do with a gradient that is already there?
#
# <details><summary>Answer</summary>
#
# It adds to it. That is why a training loop calls `zero_grad`.
# To read up: the training loop in [lesson 1](../01_pytorch_basics/01_pytorch_basics.ipynb).
# </details>
#
# **2.** Your model gets a row right with a teacher. Will it get it right when it writes on its own, greedily?
#
# <details><summary>Answer</summary>
#
# Yes, if it can't look ahead: as long as everything it has written is right, it reads what the teacher would have
# shown it. To read up: the curves that meet in [lesson 5](../05_causal_masks/05_causal_masks.ipynb).
# </details>
#
# **3.** A learning rate rises for 400 steps, and then falls. What is the first part called?
#
# <details><summary>Answer</summary>
#
# The warm-up. To read up: the paper's schedule in
# [lesson 8](../08_attention_is_all_you_need/08_attention_is_all_you_need.ipynb).
# </details>
#
# Two out of three? Go on. Fewer? Read the linked pages first, and come back.
#
# Run the next cell first: it brings the tools. `plots` draws, and `lab` runs the experiments. Its training loop is
# short, and worth reading: `lessons/lesson_10/experiments/training.py`.

# %% setup=true
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import torch
import torch.nn.functional as F
from IPython.display import display
from torch import nn
from torch.utils.checkpoint import checkpoint

from course import plots
from lessons.tables import measured
from lessons.lesson_10 import experiments as lab

torch.set_num_threads(1)  # two can be ten times slower where others compute too

# %% [markdown]
# ## The yardstick
#
# You know the task from lesson 4: a row of letters goes in, and the same letters come out backwards. The rows have 3 to
# 8 letters, 4,000 of them are for training, and 500 others for validation. The model is lesson 5's, with one block on
# either side and a width of 32. It's so small that the CPU is all it needs.
#
# First the plain run: Adam, one constant learning rate, and nothing else. We look at three scores. The **loss** is per
# token. **Token accuracy** is the share of right tokens, and **exact match** the share of rows without a single mistake.
#
# After 300 steps, token accuracy is above 0.9987: of a thousand tokens, no more than one is wrong. A row has 6.5 tokens
# on average. **What share of the rows will be entirely right?**

# %%
guess_exact = None  # a share

data = lab.letters()
plain = lab.train(lab.PLAIN, data, name="plain")
print(f"your guess: {guess_exact}, it is: {plain.last['exact match']:.3f}")
display(lab.learning_curves(plain, "The plain run"))
lab.answers(plain, data)

# %% [markdown]
# **What you should see**
#
# - After 300 steps, token accuracy is above 0.9987, and at least 99 % of the rows are entirely right. <!-- claim: the_yardstick -->
# - Not with every seed: we tried three, and one of them had 0.996 and 97 % after as many steps. <!-- claim: not_with_every_seed -->
#
# This run takes ten seconds or so, and nothing is wrong with it. Keep the three pictures in mind: from here on, you
# compare everything with them. Two shortcuts give you a feeling for the scale. A model that always says the most common
# symbol, the end mark, is right in one token out of 6.5. A model that says letters at random is right in one out of
# ten.
#
# ## Part 1 · Before you train
#
# ### Exercise: `can_overfit` · core · difficulty 2 · 15 minutes
#
# You have a new model. Before you spend a night on it, ask the cheapest question there is: **can it learn a single batch
# by heart?** A sound model can. If it can't, then something is broken, and more data won't repair it.
#
# This is the bug clinic of the lesson, and the first test of any new model. Take one batch, train on nothing else, and
# see whether the loss gets low.
#
# $$\text{300 steps on one batch} \;\Rightarrow\; \text{loss} < 0.05\ ?$$
#
# In numbers: a loss of 0.05 means that the right token gets a probability of $e^{-0.05} = 0.95$. Somebody who guesses
# among 13 symbols has a loss of $\ln 13 = 2.56$.
#
# Think of NaN as well. It isn't below 0.05, and it isn't above it either.
#
# <details><summary>Hint 1</summary>
#
# How many models do you need? Which number do you look at, and when?
# </details>
# <details><summary>Hint 2</summary>
#
# Make the model once. Then call `train_step` in a loop, and keep what it returns last.
# </details>
# <details><summary>Hint 3</summary>
#
# `for _ in range(300): loss = train_step(?, ?)`, and `return bool(loss < 0.05)`.
# </details>
#
# Docs: [math.isnan](https://docs.python.org/3/library/math.html#math.isnan) ·
# [range](https://docs.python.org/3/library/functions.html#func-range).

# %% exercise="can_overfit"

# %% [markdown]
# **What you made.** A test for models that don't exist yet. Three colleagues, Ida, Jon and Kim, have each written a
# model and a training step for our letters. They get 16 rows. **Who has written something that can learn?**
# Here are the losses of their first three steps:
#
# | | step 1 | step 2 | step 3 |
# |---|---|---|---|
# | Ida | 2.6 to 2.8 | lower | lower |
# | Jon | 2.6 to 2.8 | the same | the same |
# | Kim | 2.6 to 2.8 | lower | lower |

# %%
guess_learners = None  # for example "Ida and Jon"

batch = lab.one_batch(data)
suspects = lab.suspects()
passed = [name for name, suspect in suspects.items() if can_overfit(*suspect, batch)]
learners = " and ".join(passed)
print(f"your guess: {guess_learners}, your test says: {learners}")

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - Only Ida's model can learn. <!-- claim: only_ida_learns -->
#
# Jon's optimiser holds the weights of another model, made a line earlier. Kim's model never gets to see the letters: its
# loss falls, because it learns how often each letter comes, and then it is stuck. Three steps wouldn't have told
# you. Three hundred do, in a few seconds.
# </details>
#
# ## Part 2 · Steps of the right size
#
# ### Exercise: `warmup_schedule` · core · difficulty 2 · 15 minutes
#
# How large should a step be? At the beginning, the weights are random and a large step may go anywhere. In the middle,
# large steps get you far. At the end, only small ones let the weights settle. So the learning rate **warms up** in a
# straight line, and then falls along half a **cosine** wave:
#
# ![A curve of the learning rate over 100 steps. It rises in a straight line from step 1 to the peak at step 20. Then it falls, slowly at first, fast in the middle and slowly again, along half a cosine wave, to 0 at step 100.](picture:up_and_down)
#
# $$\text{rate} = \text{peak} \cdot \frac{1 + \cos(\pi \cdot \text{progress})}{2}, \qquad
# \text{progress} = \frac{\text{step} - \text{warmup}}{\text{total} - \text{warmup}}$$
#
# In numbers: with a peak of 0.4, 2 steps of warm-up and 6 in all, the rates are 0.2, 0.4, 0.341, 0.2, 0.059 and 0. At
# step 4, progress is 2/4, the cosine of $\pi/2$ is 0, and the rate is half the peak.
#
# The cosine is from Loshchilov and Hutter (2017). It has one advantage over the paper's schedule in lesson 8: it
# arrives at 0 exactly when you want to stop. That is its drawback too: you must know when that is.
#
# <details><summary>Hint 1</summary>
#
# There are three parts: the way up, the way down, and what comes after. Which step belongs to which?
# </details>
# <details><summary>Hint 2</summary>
#
# On the way up, the rate is a share of the peak. Where should progress be 0, and where 1?
# </details>
# <details><summary>Hint 3</summary>
#
# `progress = (step - ?) / (? - ?)`, then `peak * (1 + math.cos(math.pi * progress)) / 2`.
# </details>
#
# Docs: [math.cos](https://docs.python.org/3/library/math.html#math.cos).

# %% exercise="warmup_schedule"

# %% [markdown]
# **What you made.** The rate of every step of a run. Here is yours next to the paper's from lesson 8.

# %%
from course.paper.schedule import noam_learning_rate

steps = range(1, 301)
plots.curves(
    {
        "yours": [warmup_schedule(step, 30, 300, 0.01) for step in steps],
        "the paper's": [noam_learning_rate(step, 333, 30) for step in steps],
    },
    x=steps,
    title="Two schedules with a warm-up of 30 steps",
    y_label="learning rate",
)

# %% [markdown]
# ### How high, and how slowly?
#
# A schedule has two numbers to choose: the peak, and the length of the warm-up. The honest way to choose is to try. A
# **sweep** trains one model for each combination. The cell below tries three peaks and three warm-ups with your
# schedule: nine runs of 120 steps each, in about half a minute on a quiet machine.
#
# Before you run it: **which peak is best, 0.005, 0.02 or 0.08? And does it need a warm-up?**

# %%
guess_peak = None  # 0.005, 0.02 or 0.08
guess_warmup = None  # 1, 20 or 60

swept = lab.sweep(parts=lab.Parts(schedule=warmup_schedule))
best_peak, best_warmup = swept.set_index(["rate", "warmup"])["loss"].idxmin()
print(f"your guess: {guess_peak} and {guess_warmup}")
print(f"the lowest validation loss: {best_peak} and {best_warmup}")
lab.sweep_map(swept, title="Exact match after 120 steps")

# %% [markdown]
# What can you conclude from nine numbers? Read along the rows and the columns first: which of the two settings matters
# more here? Then be careful. Each cell is a single run, and another seed gives other numbers, so don't make much of a
# small difference between neighbours. `lab.sweep(seed=1)` runs the sweep again: what stays? And all of it holds for 120
# steps of *this* model. With another budget, you'd have to sweep again.
#
# **Reduce on plateau** is another schedule: keep the rate until the validation loss stops falling, then multiply it by,
# say, 0.3 (`torch.optim.lr_scheduler.ReduceLROnPlateau`). It needs no plan of how long you'll train. You'll find it in
# the large table at the end of the lesson.
#
# ### Exercise: `clip_gradients` · core · difficulty 2 · 15 minutes
#
# One bad batch can undo an hour of training. All it takes is a broken row or a strange label, and the gradient is
# suddenly ten thousand times as long as usual. **Clipping** puts a limit on its length and leaves its direction alone.
#
# ![Two arrows from the same point, in the same direction. The long one has length 5 and the coordinates 3 and 4. The short one lies on top of it, ends on a circle of radius 1, and has the coordinates 0.6 and 0.8. Its direction is the same.](picture:clipped_arrow)
#
# $$\text{norm} = \sqrt{\sum_{\text{all parameters}} \sum_i g_i^2}, \qquad
# g \leftarrow g \cdot \frac{\text{max norm}}{\text{norm}} \ \text{ if the norm is larger}$$
#
# In numbers: the gradient (3, 4) has the norm 5. With a limit of 1, it becomes (0.6, 0.8).
#
# The norm is that of *all* gradients together, as if they were one long vector (Pascanu and others 2013). Clipping each
# parameter by itself would turn the arrow.
#
# <details><summary>Hint 1</summary>
#
# How often do you go through the parameters? A generator can be gone through only once: what do you keep?
# </details>
# <details><summary>Hint 2</summary>
#
# Make a list of the gradients that aren't None. Add up their squares, all of them, and take one root. `mul_` changes a
# tensor in place.
# </details>
# <details><summary>Hint 3</summary>
#
# `norm = sum(float(gradient.square().sum()) for gradient in gradients) ** 0.5`, and then, for each of them, if the norm
# is too large: `gradient.mul_(?)`.
# </details>
#
# Docs: [Tensor.mul_](https://pytorch.org/docs/stable/generated/torch.Tensor.mul_.html) ·
# [nn.utils.clip_grad_norm_](https://pytorch.org/docs/stable/generated/torch.nn.utils.clip_grad_norm_.html), which does
# the same.

# %% exercise="clip_gradients"

# %% [markdown]
# **What you made.** A seat belt. Let's crash. In this run, every fiftieth batch holds a broken row, whose loss counts
# ten thousand times: at steps 30, 80 and 130. First without your function, then with it, and a limit of 1. **What will
# the first run look like after step 30?**
#
# 1. The loss jumps, and then it falls again as before.
# 2. The loss jumps, and never recovers.
# 3. The loss turns into NaN.

# %%
guess_crash = None  # 1, 2 or 3

crashed = lab.run("G")
clipped = lab.with_clipping(clip_gradients, max_norm=1.0)
after_crash = crashed["loss"].iloc[-1]
crash = 3 if math.isnan(after_crash) else 2 if after_crash > 1.5 else 1
print(f"your guess: {guess_crash}, it was: {crash}")
looked = crashed["step"] % 10 == 0
display(
    plots.curves(
        {"no clipping": crashed["loss"][looked], "clipped at 1": clipped["loss"][looked]},
        x=crashed["step"][looked].to_numpy(),
        title="A broken row at steps 30, 80 and 130",
        y_label="validation loss",
    )
)
plots.curves(
    {
        "without clipping": crashed["gradient norm"],
        "with clipping": clipped["gradient norm"],
    },
    x=crashed["step"],
    title="The norm before clipping",
    y_label="gradient norm",
    log_y=True,
    legend=True,
)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - Without clipping, the loss ends above 2: the model never recovers. <!-- claim: one_row_ruins_it -->
# - Clipped at 1, it learns to reverse, and its loss ends below 0.1. <!-- claim: clipping_saves_it -->
#
# Why doesn't it recover? Adam may have a hand in that. It divides each step by the root of a running mean of squared
# gradients, and one enormous square stays in that mean for hundreds of steps. We haven't tested this explanation. You
# can: "Things to try" says how.
# </details>
#
# ### Exercise: `accumulated_step` · core · difficulty 3 · 20 minutes
#
# The gradient of a large batch is less noisy than that of a small one, but a large batch needs more memory.
# **Accumulation** gets you the gradient without the memory: cut the batch into pieces, send one piece after the other
# through the model, let their gradients add up, and take a single step.
#
# ![A batch of eight rows is cut into three pieces, of four, three and one. Each goes through the model by itself, and its gradient is multiplied by its share of the rows: four eighths, three eighths, one eighth. The three are added up, and then there is one step.](picture:three_pieces)
#
# One thing goes wrong all the time. Each piece's loss is a *mean*, and pieces may differ in size:
#
# $$\frac{1}{n}\sum_{\text{all rows}} \ell \;=\; \sum_{\text{pieces}} \frac{n_{\text{piece}}}{n} \cdot \text{mean loss of the piece}$$
#
# In numbers: a piece of 3 rows with a mean loss of 1 and a piece of 1 row with a loss of 25 have a mean of
# $\frac{3}{4} \cdot 1 + \frac{1}{4} \cdot 25 = 7$. The mean of the two means would be 13.
#
# This isn't a slip of beginners: in October 2024 it turned out that widely used training libraries had been doing it
# for years, with tokens in place of rows ([Hugging Face, "Fixing Gradient
# Accumulation"](https://huggingface.co/blog/gradient_accumulation)).
#
# <details><summary>Hint 1</summary>
#
# What does `backward` do with a gradient that is already there? Where does that help you, and where does it hurt?
# </details>
# <details><summary>Hint 2</summary>
#
# Clear once, before the first piece. Multiply each piece's loss by its share of all rows, and call backward on that,
# piece by piece. Step once, at the end.
# </details>
# <details><summary>Hint 3</summary>
#
# `loss = loss_function(model(inputs), targets) * (len(inputs) / ?)`, then `loss.backward()`; the sum of these
# losses is what you return.
# </details>
#
# Docs: [Optimizer.zero_grad](https://pytorch.org/docs/stable/generated/torch.optim.Optimizer.zero_grad.html) ·
# [Tensor.backward](https://pytorch.org/docs/stable/generated/torch.Tensor.backward.html).

# %% exercise="accumulated_step"

# %% [markdown]
# **What you made.** A large batch for small machines. Here 64 rows go through the model at once, and then as four
# pieces of 28, 20, 12 and 4 rows: with your step, and with the mean of means. How far apart are the weights after one
# step? And how much is kept in memory for the backward pass?

# %%
whole = lab.one_step(data, (64,), accumulated_step)
yours = lab.one_step(data, (28, 20, 12, 4), accumulated_step)
wrong = lab.one_step(data, (28, 20, 12, 4), lab.mean_of_means)
apart = {
    "your step": (yours["weights"] - whole["weights"]).abs().max().item(),
    "the mean of means": (wrong["weights"] - whole["weights"]).abs().max().item(),
}
print({name: f"{distance:.1e}" for name, distance in apart.items()})
pieces = lab.Recipe(pieces=(28, 20, 12, 4))
kept = {
    "64 rows at once": lab.memory_of(lab.PLAIN, data)["saved"],
    "in pieces of at most 28": lab.memory_of(pieces, data)["saved"],
}
plots.bars(kept, title="Kept for the backward pass", x_label="kilobytes")

# %% [markdown]
# **What you should see**
#
# - Your step's weights are those of the large batch to within 0.00001. With the mean of means they are more than 0.001 off. <!-- claim: pieces_equal_the_whole -->
# - In pieces of at most 28 rows, less than half of the memory is needed. <!-- claim: pieces_save_memory -->
#
# How was the memory measured? PyTorch lets you look on while it saves a tensor for the backward pass
# (`torch.autograd.graph.saved_tensors_hooks`). `lab.saved_bytes` adds up their sizes, each storage once and without the
# weights.
#
# ## Part 3 · From symptom to cause
#
# Nine runs follow, A to I: the same task, the same small model, 150 steps. Each is broken in one way, and you have met
# one of them already. For each you see three pictures: training and validation loss; the validation accuracy, measured
# twice in a row; and the norm of the gradient.
#
# These are the nine causes, in no order:

# %%
pd.Series(lab.CAUSES, name="cause")

# %% [markdown]
# Before you begin, look back at the plain run: its two losses fall from 2.7 to almost 0, side by side, and its accuracy
# rises to 1. **Which of the nine causes would leave the validation accuracy perfect? Which would make two
# measurements of the same model differ?**
#
# Here are the first three. Write down your diagnosis for each before you go on.

# %%
for letter in "ABC":
    display(lab.symptoms(letter, lab.run(letter)))

# %%
for letter in "DEF":
    display(lab.symptoms(letter, lab.run(letter)))

# %%
for letter in "GHI":
    display(lab.symptoms(letter, lab.run(letter)))

# %% [markdown]
# Now your diagnoses: the number of the cause for each run. Every cause comes up once.

# %%
diagnoses = {
    "A": None,
    "B": None,
    "C": None,
    "D": None,
    "E": None,
    "F": None,
    "G": None,
    "H": None,
    "I": None,
}
lab.diagnosed(diagnoses)

# %% [markdown]
# How did you tell them apart? Here is what each run did differently. Unfold one after another.
#
# <details><summary>Run A</summary>
#
# The training loss goes up and down like a saw. The rows stand in order of their length, so for ten steps or so all
# rows of a batch have the same length. The model gets better at that one. Then the next length comes, and the loss jumps
# up. Meanwhile the validation loss, which is about all lengths, hardly falls.
#
# `order = (targets != 0).sum(dim=1).argsort()`
# </details>
# <details><summary>Run B</summary>
#
# The validation loss is a horizontal line, and the gradient's norm is exactly 0. The loss had a weight of a millionth,
# which float32 can take. In float16, the smallest number above 0 is about 0.00000006: the gradients are rounded to 0.
# After the break, you'll see how a *scaler* saves this run.
#
# `(1e-6 * loss_in_float16).backward()`
# </details>
# <details><summary>Run C</summary>
#
# The gradient's norm grows and grows, and after a good start the loss rises again. Nobody calls `zero_grad`, so each
# step uses the gradients of all batches so far.
# </details>
# <details><summary>Run D</summary>
#
# All is well, and that's the symptom: it has only 40 rows to learn from, and the validation accuracy is perfect. The
# 40 validation rows were among its training data. On rows it has never seen, it fails, as the next cell shows.
#
# `train = torch.cat([train, validation])`
# </details>
# <details><summary>Run E</summary>
#
# The loss jumps up in the first steps, and then gets stuck at a little more than 2, while the gradient's norm looks
# like that of any other run. The learning rate was 0.2, forty times the plain one.
# </details>
# <details><summary>Run F</summary>
#
# The training loss is near 0 after 50 steps, faster than reversing can be learnt, and the validation loss is higher than
# that of guessing. The decoder reads the very token that it has to say: somebody forgot to shift the target.
#
# `model(source, target)` in place of `model(source, shift_right(target, START))`
# </details>
# <details><summary>Run G</summary>
#
# The norm has three spikes, and from the first one on, the loss stops falling. You have repaired this one yourself.
# </details>
# <details><summary>Run H</summary>
#
# The loss is almost flat, and the gradient is small, but not 0. A hidden ReLU layer was given biases of -30, so
# none of its units ever fires, and nothing gets through but the biases of the last layer.
#
# `nn.init.constant_(hidden.bias, -30.0)`
# </details>
# <details><summary>Run I</summary>
#
# The two measurements differ by a percentage point or two, though the model is the same: it has dropout, and nobody
# called `eval()`. Each measurement drops other units.
#
# `logits = model(inputs)` without `model.eval()`
# </details>

# %%
cheated = lab.leaked_and_fresh()
plots.bars(cheated, title="Run D, exact match", x_label="exact match")

# %% [markdown]
# **What you should see**
#
# - In run B, all gradients are exactly 0 from the first step to the last. <!-- claim: underflow_is_zero -->
# - In run D, at least 95 % of the leaked rows are right, and fewer than a fifth of the rows it has never seen. <!-- claim: the_leak_flatters -->
# - In run F, the training loss ends below 0.02, and the validation loss above 5. <!-- claim: unshifted_is_too_good -->
# - In run A, the training loss jumps by more than 0.5 within three steps, again and again; in run H it never does. <!-- claim: waves_of_run_a -->
# - In run I, two measurements of the same model differ; in run G, which has no dropout, they don't. <!-- claim: two_measurements -->
#
# In one table, to come back to:
#
# | what you see | what it may be | what to do |
# |---|---|---|
# | flat, gradient exactly 0 | underflow; a graph cut off by `detach` or `no_grad` | scale the loss; look for the cut |
# | flat, gradient small | dead ReLUs; a layer without gradient | plot the gradient by depth |
# | flat or jumping, gradient normal | learning rate too high | a tenth of the rate; warm-up |
# | rising, gradient growing | gradients not zeroed | `zero_grad` |
# | spikes in the norm | bad rows | clip, and find the rows |
# | waves or a saw, again in each epoch | data not shuffled | shuffle |
# | training loss too good to be true | the answer is in the input | nudge a token, as in lesson 5 |
# | validation too good to be true | a leak | count the shared rows |
# | two measurements differ | evaluation in train mode | `eval()` |
# | training falls, validation rises | over-fitting | Part 4 |
# | NaN | a division, a root or a logarithm of 0; float16 overflow | `torch.autograd.set_detect_anomaly(True)` |
#
# ### The gradient by depth
#
# When a deep model doesn't learn, ask *where* the gradient gets lost. Here are three fresh stacks of eight blocks:
# lesson 3's with pre-norm, lesson 8's with post-norm, and one with neither norms nor residual connections. We send a
# random gradient in from the top (layer 8), and look at how much of it arrives at each layer's weights. **By what
# factor is the gradient of layer 1 smaller than that of layer 8, in the stack without norms and residuals?**
#
# 1. About 10.
# 2. About 1,000.
# 3. More than a million.

# %%
guess_lost = None  # 1, 2 or 3

by_depth = lab.gradient_by_depth()
bare = by_depth["no norm, no residual"]
lost = 3 if bare[0] < bare[-1] / 1e6 else 2 if bare[0] < bare[-1] / 100 else 1
print(f"your guess: {guess_lost}, it is: {lost} (a factor of {bare[-1] / bare[0]:,.0f})")
plots.curves(
    by_depth,
    x=range(1, 9),
    title="The gradient that reaches each layer, before training",
    x_label="layer",
    y_label="norm of the gradient",
    log_y=True,
    legend=True,
)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - Without norms and residuals, the first layer's gradient is more than a million times smaller than the last one's. <!-- claim: the_gradient_gets_lost -->
# - With residual connections, layer 1 gets about as much as layer 8, with either order of norms. <!-- claim: residuals_carry_it -->
#
# The residual connection is a road on which the gradient travels unchanged. These are fresh models: the picture
# tells you who can start to learn, not who learns best.
# </details>
#
# ## Part 4 · Too few rows
#
# So far there were plenty of rows. Now the model gets 300, and 500 steps. **Guess its exact match on the training rows
# and on the validation rows.**

# %%
guess_trained = None  # a share
guess_unseen = None  # a share

few = lab.letters(lab.FEW)
by_heart = lab.train(lab.LONG, few, name="300 rows")
trained, unseen = (by_heart.last[f"{rows}exact match"] for rows in ("training ", ""))
print(f"training: your guess is {guess_trained}, it is {trained:.2f}")
print(f"validation: your guess is {guess_unseen}, it is {unseen:.2f}")
lab.learning_curves(by_heart, "300 rows and nothing else")

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - With 300 rows, all training rows are right, but only about 40 to 65 % of the validation rows, depending on the seed. <!-- claim: three_hundred_by_heart -->
#
# That's over-fitting: the two losses part ways. And look at the picture on the right: with this seed, the validation
# *loss* rises after step 225 or so, and exact match still creeps up. The loss punishes answers that are wrong with great
# certainty; exact match doesn't.
# </details>
#
# ### Exercise: `Dropout` · core · difficulty 2 · 15 minutes
#
# [Lesson 8](../08_attention_is_all_you_need/08_attention_is_all_you_need.ipynb) used dropout, and
# [lesson 9](../09_numpy_transformer/09_numpy_transformer.ipynb) built it in NumPy. Here it becomes a PyTorch module. In
# training, set each number to 0 with probability $p$, so that no unit can rely on any one other unit (Srivastava and
# others 2014).
#
# $$y_i = \frac{x_i \cdot m_i}{1 - p}, \qquad m_i = 0 \text{ with probability } p, \text{ else } 1$$
#
# In numbers: with p = 0.5, the row (2, 4, 6, 8) may become (4, 0, 0, 16). The expected value of each number stays what
# it was: half the time 0, half the time double.
#
# That division is why nothing needs to be done in evaluation mode. A module knows its mode: `self.training`.
#
# <details><summary>Hint 1</summary>
#
# How many random numbers do you need for an x of shape `(2, 3)`? And in evaluation mode?
# </details>
# <details><summary>Hint 2</summary>
#
# `torch.rand_like(x)` is spread evenly between 0 and 1. What share of its numbers is at least p?
# </details>
# <details><summary>Hint 3</summary>
#
# `kept = torch.rand_like(x) >= ?`, then `x * kept / ?`. The error for a p outside [0, 1) belongs in `__init__`.
# </details>
#
# Docs: [torch.rand_like](https://pytorch.org/docs/stable/generated/torch.rand_like.html) ·
# [Module.train](https://pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.train).

# %% exercise="Dropout"

# %% [markdown]
# **What you made.** Noise with a purpose. Here is one row of twelve numbers, sent through your layer five times.

# %%
torch.manual_seed(0)
layer = Dropout(0.5)
row = torch.arange(1.0, 13.0)
five_times = torch.stack([layer(row) for _ in range(5)])
plots.heatmap(
    torch.cat([row[None], five_times, layer.eval()(row)[None]]),
    ["x", *(f"training, call {call}" for call in range(1, 6)), "evaluation"],
    title="One row, five calls",
)

# %% [markdown]
# ### Exercise: `EarlyStopping` · core · difficulty 3 · 20 minutes
#
# When should you stop? When the validation loss no longer improves. But it goes up and down by chance, so have some
# **patience**, and keep a copy of the weights from when it was best (Prechelt 1998).
#
# | loss | best so far | failures in a row | `step` says |
# |---|---|---|---|
# | 0.9 | 0.9, saved | 0 | False |
# | 0.5 | 0.5, saved | 0 | False |
# | 0.6 | 0.5 | 1 | False |
# | 0.5 | 0.5 | 2 | True |
#
# In this table, patience is 2. The last 0.5 is as good as the best, and that isn't better. With `min_delta=0.1`, a loss
# would have to be below 0.4 to count.
#
# Mind the copy: `model.state_dict()` holds the very tensors that training goes on to change.
#
# <details><summary>Hint 1</summary>
#
# What do you have to remember from one loss to the next? There are three things.
# </details>
# <details><summary>Hint 2</summary>
#
# The best loss so far (before the first one: infinity), the number of failures in a row, and a copy of the weights.
# </details>
# <details><summary>Hint 3</summary>
#
# `if loss < self.best - self.min_delta:` new best, count back to 0, `copy` of each tensor with `clone()`; else count up.
# Then `return self.failures >= ?`.
# </details>
#
# Docs: [Module.state_dict](https://pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.state_dict) ·
# [Tensor.clone](https://pytorch.org/docs/stable/generated/torch.clone.html).

# %% exercise="EarlyStopping"

# %% [markdown]
# **What you made.** Something that says when it's enough. Here it watches the run with 300 rows, with a look every 25
# steps and a patience of 4. **At which step does it stop, and at which was the loss best?**

# %%
guess_stop = None  # a step: 25, 50, 75, ... or 500

parts = lab.Parts(
    schedule=warmup_schedule,
    clip=clip_gradients,
    accumulate=accumulated_step,
    dropout=Dropout,
    stopping=EarlyStopping,
)
remedies = {}
remedies["early stopping"] = lab.train(lab.WITH_FEW_ROWS["early stopping"], few, parts)
stopped_at = remedies["early stopping"].stopped_at
print(f"your guess: {guess_stop}, it stopped at step {stopped_at}")
lab.stopped(remedies["early stopping"])

# %% [markdown]
# Each `False` is a look at which training goes on. After the fourth failure in a row, `step` says `True`. The last line
# is one more look after `restore`: the loss is once more what it was at its best.
#
# Early stopping is one remedy of five. **Label smoothing** is that of
# [lesson 8](../08_attention_is_all_you_need/08_attention_is_all_you_need.ipynb). **Weight decay** pulls every weight
# towards 0 a little at each step; AdamW does so apart from the gradient (Loshchilov and Hutter 2019). **Augmentation**
# makes new rows from old ones. If the letters of a row get other names, its answer is still the row written backwards:
# `abca -> acba` can become `dfgd -> dgfd`.
#
# **Which of the five gets the most validation rows right?** The cell trains your dropout and augmentation, and the next
# one has the figures for all five.

# %%
guess_remedy = None  # the name of one of the five

for name in ("dropout 0.1", "augmentation"):
    remedies[name] = lab.train(lab.WITH_FEW_ROWS[name], few, parts, name=name)
looks = {name: run.curve["loss"] for name, run in {"plain": by_heart, **remedies}.items()}
looks["early stopping"] = looks["early stopping"][:-1]  # without the look after restore
plots.curves(
    looks,
    x=by_heart.curve["step"],
    title="300 rows",
    y_label="validation loss",
    legend=True,
)

# %%
tricks = measured("10_tricks")
with_few = tricks[tricks["rows"] == lab.FEW].groupby("trick")["exact"].mean()
remedy = with_few.idxmax()
print(f"your guess: {guess_remedy}, measured: {remedy}")
columns = ["trick", "validation loss", "token accuracy", "exact match"]
lab.with_spread(tricks, lab.FEW)[columns]

# %% [markdown]
# <details><summary>Open this once you have run the cells</summary>
#
# **What you should see**
#
# - Augmentation solves it: more than 99 % of the validation rows are right. <!-- claim: augmentation_wins -->
# - Dropout comes second, with about 80 to 93 % of the rows, depending on the seed, and weight decay and label smoothing are at least ten points behind it. Both beat the plain run by ten points or more. <!-- claim: dropout_comes_second -->
# - Early stopping doesn't make this model any better: its share of right rows is within six points of the plain run's. All it saves is time. <!-- claim: early_stopping_saves_time -->
#
# Augmentation wins because it knows something about the task: the names of the letters don't matter. That knowledge is
# worth more than any of the general remedies. Where you have none, you can't use it.
# </details>
#
# ## Time for a break
#
# You can now tell what is wrong with a run, and repair it. What's left is about memory and time: how to train more on
# the same machine.
#
# A question to take with you: a forward pass computes everything once. Why would anybody compute it twice?

# %% [markdown]
# ## Part 5 · Memory and time
#
# ### Exercise: `run_checkpointed` · stretch · difficulty 2 · 10 minutes
#
# For its way back, each block keeps what it computed on the way forward. In a deep model, that is most of the memory.
# **Activation checkpointing** keeps only what goes *into* each block, and computes the rest again when the gradient
# arrives (Chen and others 2016). One more forward pass buys a lot of memory.
#
# ![Two rows of four blocks. In the upper row, plain, every block has a stack of kept tensors above it. In the lower row, checkpointed, only the arrows between the blocks are kept, and one block, the one that the gradient has reached, has its stack again.](picture:forgetful_blocks)
#
# In numbers: if x takes 1 unit of memory and a block keeps 10, then eight blocks keep 80. With checkpoints they keep 8,
# and 10 more for the one block that is being computed again.
#
# PyTorch has a function for one block. It comes in two implementations; the older one, *reentrant*, loses all gradients
# when x requires none.
#
# <details><summary>Hint 1</summary>
#
# What would the loop look like without checkpoints?
# </details>
# <details><summary>Hint 2</summary>
#
# `checkpoint(function, x)` calls `function(x)` and keeps only x. A block is a function.
# </details>
# <details><summary>Hint 3</summary>
#
# `x = checkpoint(block, x, use_reentrant=?)` inside the loop.
# </details>
#
# Docs: [torch.utils.checkpoint](https://pytorch.org/docs/stable/checkpoint.html).

# %% exercise="run_checkpointed"

# %% [markdown]
# **What you made.** A model that forgets. Here is the memory for one step of our model, with eight blocks on either
# side: what is kept at the end of the forward pass, and the **peak**, the most that is there at any one moment. Does
# the peak shrink as much as what is kept?

# %%
parts = lab.Parts(run=run_checkpointed)
deep = {
    name: lab.memory_of(lab.Recipe(num_layers=8, checkpointed=forgets), data, parts)
    for name, forgets in (("plain", False), ("checkpointed", True))
}
plots.bars(
    {f"{name}, {what}": deep[name][what] for name in deep for what in deep[name]},
    title="Memory of one step with eight blocks on either side",
    x_label="kilobytes",
)

# %% [markdown]
# **What you should see**
#
# - With eight blocks on either side, checkpointing keeps less than a fifth, and the peak is less than half. <!-- claim: checkpoints_save_memory -->
#
# ### Exercise: `half_precision_step` · stretch · difficulty 2 · 10 minutes
#
# A number of 32 bits can be replaced by one of 16, which takes half the memory and, on hardware made for it, far less
# time. There are two kinds:
#
# | | bits for the size | bits for the digits | largest | smallest above 0 |
# |---|---|---|---|---|
# | float32 | 8 | 23 | 3.4e38 | 1e-45 |
# | bfloat16 | 8 | 7 | 3.4e38 | 9e-41 |
# | float16 | 5 | 10 | 65,504 | 6e-8 |
#
# bfloat16 has few digits and a wide range; float16 has more digits and a narrow range, so small gradients become 0, as
# in run B. **Mixed precision** computes in 16 bits and keeps the weights in 32, so that small steps aren't lost
# (Micikevicius and others 2018). `torch.autocast` does that for whatever is called inside it.
#
# In numbers: in bfloat16, 1 + 0.002 is 1. A weight of 1 would never move in steps of 0.002.
#
# <details><summary>Hint 1</summary>
#
# Which part of a step should run in 16 bits: clearing, the forward pass, the backward pass, the optimiser?
# </details>
# <details><summary>Hint 2</summary>
#
# Only the forward pass and the loss go inside the context. The backward pass follows it by itself.
# </details>
# <details><summary>Hint 3</summary>
#
# `with torch.autocast(inputs.device.type, dtype=?):` around the line that computes the loss.
# </details>
#
# Docs: [torch.amp](https://pytorch.org/docs/stable/amp.html).

# %% exercise="half_precision_step"

# %% [markdown]
# **What you made.** A step in half the bits. What does it do to *accuracy*? Here are 100 steps in bfloat16, next to
# 100 in float32. **Will the two curves look the same?**

# %%
guess_same = None  # "yes" or "no"

parts = lab.Parts(half=half_precision_step)
full = lab.train(lab.Recipe(steps=100), data, parts, name="float32")
recipe = lab.Recipe(steps=100, precision=torch.bfloat16)
half = lab.train(recipe, data, parts, name="bfloat16")
largest = max(abs(a - b) for a, b in zip(full.losses, half.losses, strict=True))
same = "yes" if largest < 0.3 else "no"
print(f"your guess: {guess_same}, it is: {same} (largest difference {largest:.2f})")
plots.curves(
    {"float32": full.losses, "bfloat16": half.losses},
    title="100 steps",
    y_label="training loss",
    legend=True,
)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - The two training losses are never more than 0.3 apart. <!-- claim: bfloat16_follows -->
#
# </details>
#
# ### Too small for float16
#
# bfloat16 reaches as far down as float32. float16 doesn't. Here are four gradients, turned into float16 and back: as
# they are, and multiplied by $2^{16} = 65{,}536$ first and divided by it afterwards, in float32. **Which of the four
# are lost, and which come back?**

# %%
guess_lost_in_half = None  # how many of the four become 0 without scaling?

small = torch.tensor([3e-4, 5e-6, 2e-8, 1e-9])
as_they_are = small.half()
scaled = (small * 2**16).half()
lost_in_half = int((as_they_are == 0).sum())
print(f"your guess: {guess_lost_in_half}, it is: {lost_in_half}")
pd.DataFrame(
    {
        "gradient": [f"{x:.0e}" for x in small.tolist()],
        "in float16": [f"{x:.3g}" for x in as_they_are.tolist()],
        "scaled, in float16": [f"{x:.3g}" for x in scaled.tolist()],
        "scaled back": [f"{x:.3g}" for x in (scaled.float() / 2**16).tolist()],
    }
)

# %% [markdown]
# That is all a **scaler** does, and it finds the factor by itself. `torch.amp.GradScaler` begins with 65,536. Where a
# gradient overflows, it skips the step and halves the factor; after 2,000 good steps, it doubles it. A step has four
# lines:
#
# ```python
# scaler.scale(loss).backward()  # the loss times the factor, so all gradients too
# scaler.unscale_(optimizer)     # divided again, in float32: now you can clip them
# scaler.step(optimizer)         # unless one is infinite or NaN
# scaler.update()                # the factor for the next step
# ```
#
# Watch it meet an infinite gradient, and then a good one. After that it gets to repair run B, whose gradients were all
# 0.

# %%
weight = nn.Parameter(torch.ones(1))
optimizer = torch.optim.SGD([weight], lr=1.0)
scaler = torch.amp.GradScaler("cpu")
for gradient in (math.inf, 0.25):
    scaler.scale(weight.sum() * gradient).backward()
    scaler.step(optimizer)  # takes the factor off first
    scaler.update()
    optimizer.zero_grad()
    factor = scaler.get_scale()
    print(f"gradient {gradient}: weight {weight.item()}, factor {factor:,.0f}")

run_b = lab.run("B")[:60]
repaired = lab.with_scaler(steps=60)
plots.curves(
    {"run B": run_b["training loss"], "run B with a scaler": repaired["training loss"]},
    x=run_b["step"],
    title="float16, and a loss with a weight of a millionth",
    y_label="training loss",
)

# %% [markdown]
# **What you should see**
#
# - Without scaling, two of the four gradients become 0; with it, all four come back to within a thousandth. <!-- claim: scaling_brings_them_back -->
# - The infinite gradient changes nothing but the factor, which is halved. <!-- claim: an_infinite_gradient_is_skipped -->
# - With a scaler, run B learns: after 60 steps its loss is at least 0.3 lower than without. <!-- claim: a_scaler_repairs_run_b -->
#
# On a CPU, float16 is for looking at, and nothing gets faster. On a GPU without bfloat16, this is how half precision is
# done.
#
# ### Compiled, and fused
#
# Two more tricks need no exercise, because they are one line each.
#
# `torch.compile(model)` turns a model into machine code of its own, which saves time between operations. Compiling takes
# time too, about half a minute here, and it needs a C++ compiler. Where there is none, the model runs as it is.
#
# `F.scaled_dot_product_attention` computes scores, softmax and sum in one call, and keeps fewer tensors. It is the
# formula of lesson 3, in one piece.
#
# ## Everything in one table
#
# Each trick was measured in a run of its own against the plain run, with the same seed, on one thread of a CPU that
# others used too. Time is that of a step, relative to the plain run; the spread is over seeds. Early stopping and
# augmentation have their figures in the table of Part 4. Before you look: **which of them makes a step fastest on this
# CPU: bfloat16, compiling or fused attention?**

# %%
guess_faster = None  # "bfloat16", "compiled" or "fused attention"

everything = lab.with_spread(tricks, lab.ENOUGH)
faster = tricks[tricks["rows"] == lab.ENOUGH].groupby("trick")["milliseconds"].mean()
fastest = faster[["bfloat16", "compiled", "fused attention"]].idxmin()
print(f"your guess: {guess_faster}, measured: {fastest}")
everything

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - Compiling makes a step faster; bfloat16 and float16 make it slower on this CPU. <!-- claim: what_is_faster -->
# - The checkpointed run ends with exactly the plain run's scores. Fused, and in four pieces, a run's exact match is up to five points off. <!-- claim: same_scores -->
# - Checkpointing keeps about a fifth of the memory and takes more time for it. <!-- claim: what_checkpoints_cost -->
# - With rows enough, none of the tricks has a token accuracy more than 0.01 away from the plain run's. <!-- claim: nothing_to_gain_here -->
#
# The last line is the honest one. On this small task, with 4,000 rows, the plain run is nearly perfect, so there is
# little left to gain. What there is depends on the seed. Two of three plain runs get every row right; on the third
# seed, which learns more slowly, label smoothing and weight decay get every row right too. Clipping at 0.5 is a
# little behind after as many steps. Fused attention keeps less memory, and saves no time at this size. These
# tricks pay off elsewhere: with a broken row, with few rows, with many layers, or with too little memory. You've seen
# each of those.
#
# Why don't four pieces, or the fused call, give exactly what the plain run gives? Their gradient is the same up to
# rounding, and training makes small differences grow.
#
# The model trained with label smoothing has a higher loss although it makes no mistakes: it was asked for less than
# certainty, as [lesson 8](../08_attention_is_all_you_need/08_attention_is_all_you_need.ipynb) says.
#
# No GPU was at hand when this table was made, so it holds no figures for one. On hardware made for 16 bits, bfloat16 and
# fused attention should do better; we haven't measured that.
# </details>
#
# ## Explain it
#
# A friend writes: "My Transformer doesn't learn. The loss went from 2.7 to 2.3 in the first hundred steps, and since
# then it's flat. I've already tried dropout, label smoothing and a bigger model. Should I get more data?"
#
# Answer in four or five sentences. What would you ask for first, which curve would you want to see, and why
# won't any of the three remedies help?

# %% [markdown] explain=true
# More data won't help a model that can't even learn what it has, and dropout and label smoothing are remedies for
# over-fitting, of which there is no sign: the training loss itself is flat. I'd first ask for can_overfit: can the
# model learn a single batch of 16 rows by heart within 300 steps? If it can't, something is broken. A fall to 2.3 and
# no further is what a model does that only learns how often each symbol comes, so the input may never reach the output:
# I'd look at the norm of the gradient over time and by depth. If it is normal, I'd divide the learning rate by ten; if
# it is near 0 in the lower layers, I'd look for dead ReLUs, a detach or a missing residual connection; if it is exactly
# 0, for float16. A bigger model would only hide the fault.

# %% [markdown]
# ## How good were your guesses?
#
# Here are your predictions next to what happened. A wrong guess is worth more than none: it shows you where to look.

# %%
right_causes = sum(diagnoses[letter] == lab.cause_of(letter) for letter in lab.BROKEN)
board = [
    ("rows right in the plain run", guess_exact, round(plain.last["exact match"], 2)),
    ("who can learn a batch by heart", guess_learners, learners),
    ("the best peak", guess_peak, best_peak),
    ("the best warm-up", guess_warmup, int(best_warmup)),
    ("after an exploding gradient", guess_crash, crash),
    ("causes found, of nine", None if right_causes == 0 else right_causes, 9),
    ("how much gradient gets lost", guess_lost, lost),
    ("300 rows: right in training", guess_trained, round(trained, 2)),
    ("300 rows: right in validation", guess_unseen, round(unseen, 2)),
    ("where early stopping stopped", guess_stop, stopped_at),
    ("the best remedy", guess_remedy, remedy),
    ("float32 and bfloat16 look the same", guess_same, same),
    ("gradients lost in float16", guess_lost_in_half, lost_in_half),
    ("what makes a step faster", guess_faster, fastest),
]
rows = []
for question, guess, answer in board:
    right = "yes" if guess is not None and guess == answer else ""
    rows.append((question, "-" if guess is None else str(guess), str(answer), right))
pd.DataFrame(rows, columns=["question", "your guess", "what happened", "right?"])

# %% [markdown]
# ## To recall
#
# Answer from memory, then unfold.
#
# **1.** You accumulate over pieces of different sizes. What do you multiply each piece's mean loss by?
#
# <details><summary>Answer</summary>
#
# Its share of all rows, or of whatever the mean is over: tokens, if the loss is a mean per token.
# </details>
#
# **2.** The loss is flat. Which second curve tells you most, and what does it say?
#
# <details><summary>Answer</summary>
#
# The norm of the gradient. Exactly 0: underflow, or a graph that was cut. Small: something dead on the way. Normal: the
# learning rate.
# </details>
#
# **3.** What does checkpointing cost, and what does accumulation cost?
#
# <details><summary>Answer</summary>
#
# Checkpointing costs one more forward pass. Accumulation costs time, because small pieces make less use of the machine.
# Neither changes the gradient.
# </details>
#
# ## Things to try
#
# - Is it Adam's memory that ruins run G? Make `broken = lab.BROKEN["G"]()`, give it another optimiser with
#   `broken.optimizer = torch.optim.SGD(broken.model.parameters(), lr=0.5)`, and look at `broken.run()`.
# - Run your own sweep: `lab.sweep(seed=7)` takes a minute or two. Does the best cell stay the best?
# - Train with all tricks at once: `lab.train(lab.Recipe(schedule="warm-up and cosine", max_norm=1.0, p=0.1, augment=True), few)`.
# - `lab.train(lab.Recipe(schedule="plateau", steps=600), few).rates` shows when the plateau was noticed.
# - Train in float16 with a scaler, on the plain task: `lab.train(lab.Recipe(precision=torch.float16, scaled=True), data)`.
#
# ## Glossary
#
# | word | meaning |
# |---|---|
# | accumulation | adding up the gradients of several batches before a step |
# | activation checkpointing | forgetting what a block computed, and computing it again on the way back |
# | augmentation | making new examples from old ones, without changing what is right |
# | autocast | a context in which layers compute in 16 bits |
# | clipping | scaling gradients down when together they are too long |
# | dead ReLU | a unit whose input is always below 0, so that it never passes anything on |
# | early stopping | stopping when the validation loss no longer gets better |
# | mixed precision | computing in 16 bits, with weights of 32 |
# | norm | the length of a vector: the root of the sum of its squares |
# | over-fitting | learning the training data by heart |
# | patience | how many failures in a row are allowed |
# | plateau | a stretch in which the loss doesn't fall |
# | scaler | multiplies the loss, so that small gradients survive in float16, and divides the gradients again |
# | sweep | one run for each combination of settings |
# | underflow | a number so small that it is rounded to 0 |
# | warm-up | the steps in which the learning rate rises |
# | weight decay | pulling all weights towards 0 a little at each step |
#
# ## Papers
#
# - Loshchilov, Hutter, [SGDR: Stochastic Gradient Descent with Warm Restarts](https://arxiv.org/abs/1608.03983), ICLR 2017: section 3, the cosine.
# - Goyal and others, [Accurate, Large Minibatch SGD](https://arxiv.org/abs/1706.02677), 2017: section 2, warm-up and large batches.
# - Pascanu, Mikolov, Bengio, [On the difficulty of training recurrent neural networks](https://arxiv.org/abs/1211.5063), ICML 2013: section 3.2, clipping.
# - Srivastava and others, [Dropout](https://jmlr.org/papers/v15/srivastava14a.html), JMLR 2014: section 4.
# - Prechelt, Early Stopping - But When?, in *Neural Networks: Tricks of the Trade*, 1998: section 2.
# - Loshchilov, Hutter, [Decoupled Weight Decay Regularization](https://arxiv.org/abs/1711.05101), ICLR 2019: section 2, AdamW.
# - Micikevicius and others, [Mixed Precision Training](https://arxiv.org/abs/1710.03740), ICLR 2018: section 3.
# - Chen and others, [Training Deep Nets with Sublinear Memory Cost](https://arxiv.org/abs/1604.06174), 2016: sections 3 and 4.
# - Dao and others, [FlashAttention](https://arxiv.org/abs/2205.14135), NeurIPS 2022: section 3, attention in one fused call.
