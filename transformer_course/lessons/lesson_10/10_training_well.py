# ---
# title: Training well
# topic: finding out why a run fails
# group: Make it write, make it learn
# picture: Exact match after 120 steps
# sittings: [60, 80, 55, 60]
# builds_on: [01_pytorch_basics, 05_causal_masks, 08_attention_is_all_you_need]
# gives:
#   - find out in a minute whether a new model can learn at all
#   - tell from its curves what is wrong with a run
#   - set a learning rate that rises and falls, and tame a gradient that explodes
#   - train with batches that don't fit into memory
#   - keep a model from over-fitting, and know when to stop
#   - say what half precision and checkpointing cost and buy, in numbers
# ---

# %% [markdown]
# TITLE
#
# Here is a run that fails. The loss stays where it is, step after step. **What is wrong with it?**
#
# ![A curve of a training loss over 200 steps, flat from the first step to the last, at a little more than 2.5. Beside it three question marks: is the learning rate too low, does the optimiser hold other weights, is the gradient zero?](picture:flat_line)
#
# You can't tell, and nobody could: quite different faults draw this very line. You need a second curve, and you need to
# know what each fault looks like. In this lesson you'll see one small model broken in nine ways, and learn to tell the
# nine apart by their curves. Then you build the tools that repair them, and measure what each tool costs and what it buys.
#
# GIVES
#
# SITTINGS The two exercises of the last sitting are *stretch*.
#
# **How to check.** Replace the line `raise NotImplementedError()` with your own code, and run the cell. Then run the
# `check` cell below it, as often as you like. It tells you what is right and what isn't.
# While an exercise is being checked, the course's own versions of the earlier ones stand in for yours, so one slip never
# costs you two exercises. In all other cells your own code runs, unless the text says otherwise.
# One exercise should not keep you from the rest of the lesson: below its last hint is a line that lets you go on with our version.
#
# **How to submit.** Save the notebook and hand it in the way your class does.
# Working on your own? The checks are all you need.

# %% [markdown]
# ## A two-minute test
#
# BUILDS_ON Try these three without running anything.
#
# **1.** What does `loss.backward()` do with a gradient that is already there?
#
# <details><summary>Answer</summary>
#
# It adds to it. That is why a training loop calls `zero_grad`.
# See the training loop in [lesson 1](../01_pytorch_basics/01_pytorch_basics.ipynb).
# </details>
#
# **2.** Your model gets a row right with a teacher. Will it get it right when it writes on its own, greedily?
#
# <details><summary>Answer</summary>
#
# Yes, if it can't look ahead: as long as everything it has written is right, it reads what the teacher would have
# shown it. See the curves that meet in [lesson 5](../05_causal_masks/05_causal_masks.ipynb).
# </details>
#
# **3.** A learning rate rises for 400 steps, and then falls. What is the first part called?
#
# <details><summary>Answer</summary>
#
# The warm-up. See the paper's schedule in
# [lesson 8](../08_attention_is_all_you_need/08_attention_is_all_you_need.ipynb).
# </details>
#
# Two out of three? Go on. Fewer? Read the linked pages first, then come back.
#
# Run the next cell first: it loads the tools. `plots` draws, and `lab` runs the experiments. Its training loop is
# short, and worth reading: `transformer_course/lessons/lesson_10/experiments/training.py`.

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

from transformer_course import guesses, plots
from transformer_course.lessons.tables import measured
from transformer_course.lessons.lesson_10 import experiments as lab

torch.set_num_threads(1)  # two can be ten times slower where others compute too

# %% [markdown]
# ## The yardstick
#
# You know the task from lesson 4: a row of letters goes in, and the same letters come out backwards. The rows have 3 to
# 8 letters; 4,000 of them are for training, and 500 others for validation. The model is lesson 5's, with one block on
# either side and a width of 32. It's so small that the CPU is all it needs.
#
# First the plain run: Adam, one constant learning rate, and nothing else. We look at three scores. The **loss** is per
# token. **Token accuracy** is the share of right tokens, and **exact match** the share of rows without a single mistake.
#
# After 300 steps, no more than one token in a thousand is wrong. A row has about 6.6 tokens on average. **What share of
# the rows will be entirely right?** A guess within 0.01 counts.

# %%
guess_exact = None  # a share

data = lab.letters()
plain = lab.train(lab.PLAIN, data, name="plain")
print(f"your guess: {guess_exact}, it is: {plain.last['exact match']:.3f}")
display(lab.learning_curves(plain, "The plain run"))
lab.answers(plain, data)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - After 300 steps, token accuracy is above 0.999, and at least 99 % of the rows are entirely right. <!-- claim: the_yardstick -->
# - Not with every seed: we tried three, and one of them had 0.996 and 97 % after the same number of steps. <!-- claim: not_with_every_seed -->
#
# </details>
#
# This run takes ten seconds or so, and nothing is wrong with it. Two baselines give you a sense of scale. A model that
# always says the most common symbol, the end mark, gets one token in 6.6 right. A model that says letters at random, and
# never the end mark, gets one in twelve. <!-- claim: rows_have_about_6_6_tokens -->
#
# ## Part 1 · Before you train
#
# You have a new model. Two tests cost next to nothing, and they come before any real training.
#
# **Look at the first loss.** A fresh model knows nothing, so it should give each of the 13 symbols about the same
# probability. That is a loss of $\ln 13 = 2.56$. A first loss of 10 means that the model is certain, and wrong. Most
# often its first weights are too large.
#
# **Let it learn a single batch.** That is your first exercise.

# %% [markdown] exercise="can_overfit" kind="core" difficulty=2 minutes=15
# Before you spend a night on a new model, ask the cheapest question there is: **can it learn a single batch?** If a sound
# model is trained on 16 rows and nothing else, it soon knows them all, and the loss is near 0. If it doesn't get there,
# more data won't help.
#
# $$\text{300 steps on one batch} \;\Rightarrow\; \text{loss} < 0.05\ ?$$
#
# For example: a loss of 0.05 means that the right token gets a probability of $e^{-0.05} = 0.95$.
#
# This is the lesson's bug clinic: your test will be tried on sound training and on broken training. Think of NaN: it
# isn't below 0.05, and it isn't above it either. And think of a run that learns the batch, and then explodes.
#
# <details><summary>Hint 1</summary>
#
# How many models do you need? Which number do you look at, and when?
# </details>
# <details><summary>Hint 2</summary>
#
# Make the model once. Then call `train_step` in a loop that ends by itself, and keep what it returns last.
# </details>
# <details><summary>Hint 3</summary>
#
# A loop over `range(300)` that keeps the last loss. A comparison with NaN is always False: which way round must yours be?
# </details>
#
# Docs: [math.isnan](https://docs.python.org/3/library/math.html#math.isnan) ·
# [range](https://docs.python.org/3/library/functions.html#func-range).

# %% [markdown]
# **What you've built.** A test for models that don't exist yet. Three colleagues, Ida, Jon and Kim, have each written a
# model and a training step for our letters. They get 16 rows. **Who has written something that can learn?**
# Here are the losses of their first three steps:
#
# | | step 1 | step 2 | step 3 |
# |---|---|---|---|
# | Ida | 2.7 to 3.0 | lower | lower |
# | Jon | 2.7 to 3.0 | the same | the same |
# | Kim | 2.7 to 3.0 | lower | lower |

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
# - Kim's loss ends at 1.8 to 1.9: that of a model that knows how common each letter is at each position, and nothing else. <!-- claim: kim_knows_what_is_common -->
# - Even Ida's fails the test if her rate of 0.01 becomes 0.0001 or 0.2, or with label smoothing of 0.1. <!-- claim: the_test_has_conditions -->
#
# Jon's optimiser holds the weights of another model, made a line earlier: his loss gives him away at once. Kim's is the
# harder case. Her model never gets to see the letters. Its loss falls, because it learns how common each letter is at
# each position, and then it is stuck. Three steps wouldn't have told you; three hundred do.
#
# So the test has its conditions. With label smoothing, the lowest possible loss is far above 0.05. Switch off smoothing
# and dropout before the test, and try two or three rates before you say that a model is broken.
# </details>
#
# ## Part 2 · Nine broken runs
#
# Now the other way round: from the symptom to the cause. Nine runs follow, A to I: the same task, the same small model,
# 150 steps. Each is broken in one way. These are the nine causes, in no particular order:

# %%
pd.Series(lab.CAUSES, name="cause")

# %% [markdown]
# For each run you see four curves: the training loss, the validation loss, the validation accuracy, measured twice in a
# row (a line and crosses), and the norm of the gradient, which is the length of all gradients taken together as one
# vector. The thick grey line is a run with nothing wrong. All nine are drawn on the same axes, so you can compare them.
#
# Before you begin: **which of the nine causes would leave the validation accuracy perfect? Which would make two
# measurements of the same model differ?**
#
# Take your time. Write down the number of a cause below each run before you go on. Each cause comes up once, and you can
# change your mind later.

# %%
cause_a = None  # a number from 1 to 9

lab.show("A")

# %%
cause_b = None  # a number from 1 to 9

lab.show("B")

# %%
cause_c = None  # a number from 1 to 9

lab.show("C")

# %%
cause_d = None  # a number from 1 to 9

lab.show("D")

# %%
cause_e = None  # a number from 1 to 9

lab.show("E")

# %%
cause_f = None  # a number from 1 to 9

lab.show("F")

# %%
cause_g = None  # a number from 1 to 9

lab.show("G")

# %%
cause_h = None  # a number from 1 to 9

lab.show("H")

# %%
cause_i = None  # a number from 1 to 9

lab.show("I")

# %% [markdown]
# Now compare. Nine right out of nine is hard; five is good.

# %%
diagnoses = {
    "A": cause_a,
    "B": cause_b,
    "C": cause_c,
    "D": cause_d,
    "E": cause_e,
    "F": cause_f,
    "G": cause_g,
    "H": cause_h,
    "I": cause_i,
}
lab.diagnosed(diagnoses)

# %% [markdown]
# How can you tell them apart? Here is what each run did differently. Unfold one after another.
#
# <details><summary>Run A</summary>
#
# The training loss goes up and down like a saw. The rows are sorted by length, so for ten steps or so all rows of a
# batch have the same length. The model gets better at that one. Then the next length comes, and the loss jumps up.
# Meanwhile the validation loss, which is about all lengths, goes up and down too, and hardly gets below 2.
#
# `order = (targets != 0).sum(dim=1).argsort()`
# </details>
# <details><summary>Run B</summary>
#
# The validation loss is a horizontal line, and the gradient's norm is exactly 0. The loss had a weight of a millionth,
# which float32 can take. In float16, the smallest number above 0 is about 0.00000006: the gradients are rounded to 0.
# In the last sitting you'll try to rescue this run.
#
# `(1e-6 * loss).backward()` with a model that computes in float16
# </details>
# <details><summary>Run C</summary>
#
# The gradient's norm grows and grows, and after a good start the loss rises again. Nobody calls `zero_grad`, so each
# step uses the gradients of all batches so far.
# </details>
# <details><summary>Run D</summary>
#
# It is better than the sound run, and that's the symptom: it has only 80 rows to learn from, and half of them are the
# validation rows. On rows it has never seen, it fails, as the next cell shows.
#
# `train = torch.cat([train, validation])`
# </details>
# <details><summary>Run E</summary>
#
# The loss jumps up in the first steps, above that of guessing, and then gets stuck at about 2.3. The learning rate was
# 0.2, forty times that of the sound run. After the first steps, the norm of its gradient tells you nothing.
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
# The norm has three spikes, and from the first one on, the loss stops falling. Every fiftieth batch holds a broken row
# whose loss counts ten thousand times. You'll meet this run again.
# </details>
# <details><summary>Run H</summary>
#
# The loss is almost flat, and the gradient is small, but not 0. A hidden ReLU layer was given biases of -30, so
# none of its units ever fires, and nothing gets through but the biases of the last layer. They learn how common each
# letter is.
#
# `nn.init.constant_(hidden.bias, -30.0)`
# </details>
# <details><summary>Run I</summary>
#
# The crosses aren't all on the line: two measurements differ by up to two percentage points or so, though the model is
# the same. It has dropout, and nobody called `eval()`, so each measurement drops different units.
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
# - In run A, the training loss jumps by more than 0.5 within three steps, again and again; in the sound run it never does. <!-- claim: waves_of_run_a -->
# - In run I, two measurements of the same model differ; in run G, which has no dropout, they don't. <!-- claim: two_measurements -->
# - Runs E and H are both flat in the end, E at 2.1 to 2.4, after a jump to more than 3, and H at 2.4 to 2.5. <!-- claim: two_flat_runs -->
#
# ### From symptom to cause
#
# Here is all of it in one table. Read it from the top, and stop at the first row that fits. The lower rows name what is
# left once the upper ones are ruled out.

# %%
pd.set_option("display.max_colwidth", None)
lab.symptom_table()

# %% [markdown]
# Is it any good? The table exists as code too, which reads nothing but a run's curves and those of a sound run
# (`transformer_course/lessons/lesson_10/experiments/symptoms.py`). Let's hand it the nine runs, and Ida, Jon and Kim,
# beside a second Ida with another seed. **How many of the twelve does it get right?**

# %%
guess_table = None  # 0 to 12

said = lab.by_the_table(data)
right_by_table = int((said["right?"] == "yes").sum())
print(f"your guess: {guess_table}, it is: {right_by_table}")
said

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - The table names the cause of all nine runs, says of Jon that his optimiser holds other weights, and of Kim that the input doesn't reach the output; of Ida it says nothing. <!-- claim: the_table_diagnoses -->
#
# Don't trust it too far: its bounds were chosen with these runs in view. Run H and Kim also share a row. Neither answer
# depends on the letters, and the curves don't say why: a dead layer, or letters that are never handed in? Only a look
# inside the model tells you where two different rows become the same.
# </details>
#
# ## Time for a break
#
# You can now tell what is wrong with a run. Next you build what repairs it.
#
# A question to take with you: one broken row in run G spoils one step. Why does the run never recover?

# %% [markdown]
# ## Part 3 · Steps of the right size

# %% [markdown] exercise="warmup_schedule" kind="core" difficulty=2 minutes=15
# How large should a step be? At the beginning, the weights are random and a large step may go anywhere. In the middle,
# large steps get you far. At the end, only small ones let the weights settle. So the learning rate **warms up** in a
# straight line, and then falls along half a **cosine** wave:
#
# ![A curve of the learning rate over 100 steps. It rises in a straight line from step 1 to the peak at step 20. Then it falls, slowly at first, fast in the middle and slowly again, along half a cosine wave, to 0 at step 100.](picture:up_and_down)
#
# $$\text{rate} = \text{peak} \cdot \frac{1 + \cos(\pi \cdot \text{progress})}{2}, \qquad
# \text{progress} = \frac{\text{step} - \text{warmup}}{\text{total} - \text{warmup}}$$
#
# For example: with a peak of 0.4, 2 steps of warm-up and 6 in all, the rates are 0.2, 0.4, 0.341, 0.2, 0.059 and 0. At
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
# `progress` is the share of the way down that is behind you. At which step does that way begin, and how many steps long is
# it?
# </details>
#
# Docs: [math.cos](https://docs.python.org/3/library/math.html#math.cos).

# %% [markdown]
# **What you've built.** The rate of every step of a run. Here is yours next to the paper's from lesson 8.

# %%
from transformer_course.paper.schedule import noam_learning_rate

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
# Before you run it: **which peak is best with hardly any warm-up, 0.005, 0.02 or 0.08? And which of the three gains most
# when the warm-up takes 60 steps in place of 1?**

# %%
guess_peak = None  # 0.005, 0.02 or 0.08: the best with a warm-up of one step
guess_gains = None  # 0.005, 0.02 or 0.08: the one that gains most from a warm-up of 60 steps

swept = lab.sweep(parts=lab.Parts(schedule=warmup_schedule))
exact = swept.pivot(index="rate", columns="warmup", values="exact")
best_peak = exact[1].idxmax()
gains_most = (exact[60] - exact[1]).idxmax()
print(f"your guesses: {guess_peak} and {guess_gains}, it was: {best_peak} and {gains_most}")
lab.sweep_map(swept, title="Exact match after 120 steps")

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - With a peak of 0.02, 80 to 99 % of the rows are right, whatever the warm-up. With 0.08, there are as many after a warm-up of 60 steps, and next to none after a warm-up of 1. <!-- claim: a_high_peak_needs_a_warm_up -->
#
# </details>
#
# What can you conclude from nine numbers? Read along the rows and the columns first. Then be careful. Each cell is a
# single run, and another seed gives other numbers, so don't make much of a small difference between neighbours.
# `lab.sweep(seed=1)` runs the sweep again: what stays? And all of it holds for 120 steps of *this* model. With another
# budget, you'd have to sweep again.
#
# Why warm up at all? One explanation, which we haven't tested: Adam divides each step by a running mean of squared
# gradients, and in its first steps that mean rests on a handful of batches. Post-norm models, such as the paper's in
# lesson 8, need the warm-up more than pre-norm ones: before any training, the gradient of their last layers is large (Xiong and others 2020). The model here is
# pre-norm, and at the highest peak it needs one all the same.

# %% [markdown] exercise="clip_gradients" kind="core" difficulty=2 minutes=15
# One bad batch can undo an hour of training. All it takes is a broken row or a strange label, and the gradient is
# suddenly ten thousand times as large as usual. **Clipping** puts a limit on its norm and leaves its direction alone.
#
# ![Two arrows from the same point, in the same direction. The long one has length 5 and the coordinates 3 and 4. The short one lies on top of it, ends on a circle of radius 1, and has the coordinates 0.6 and 0.8. Its direction is the same.](picture:clipped_arrow)
#
# $$\text{norm} = \sqrt{\sum_{\text{all parameters}} \sum_i g_i^2}, \qquad
# g \leftarrow g \cdot \frac{\text{max norm}}{\text{norm}} \ \text{ if the norm is larger}$$
#
# For example: the gradient (3, 4) has the norm 5. With a limit of 1, it becomes (0.6, 0.8).
#
# The norm is that of *all* gradients together, as if they were one long vector (Pascanu and others 2013). Clipping each
# parameter by itself would turn the arrow.
#
# <details><summary>Hint 1</summary>
#
# How often do you need the parameters? You can loop over a generator only once: what should you keep?
# </details>
# <details><summary>Hint 2</summary>
#
# Make a list of the gradients that aren't None. Add up their squares, all of them, and take one root. `mul_` changes a
# tensor in place.
# </details>
# <details><summary>Hint 3</summary>
#
# `norm = sum(float(?) for gradient in gradients) ** 0.5`, and then, for each of them, if the norm
# is too large: `gradient.mul_(?)`.
# </details>
#
# Docs: [Tensor.mul_](https://pytorch.org/docs/stable/generated/torch.Tensor.mul_.html) ·
# [nn.utils.clip_grad_norm_](https://pytorch.org/docs/stable/generated/torch.nn.utils.clip_grad_norm_.html), which does
# the same.

# %% [markdown]
# **What you've built.** A seat belt. Here is run G once more: a broken row at steps 30, 80 and 130, whose loss counts
# ten thousand times. This time with your function, and a limit of 1. **Will clipping save the run?**
#
# And why doesn't run G recover by itself? One suspect is Adam. It divides each step by the root of a running mean of
# squared gradients, and one enormous square may stay in that mean for a long time. To test that, a third run is not
# clipped at all: after each broken step, Adam forgets everything it remembers (`optimizer.state.clear()`). The weights
# stay as the broken step left them. And a fourth run does the opposite: the weights are put back, and Adam keeps its
# memory. **If the broken step ruined the *weights*, what will these two curves look like? And if it ruined Adam's
# *memory*?**

# %%
guess_saved = None  # does clipping save the run? "yes" or "no"
guess_culprit = None  # "weights" or "memory"

crashed = lab.run("G")
clipped = lab.with_clipping(clip_gradients, max_norm=1.0)
cleared = lab.with_memory_cleared()
put_back = lab.with_weights_put_back()
runs = {"run G": crashed, "clipped at 1": clipped, "Adam forgets": cleared, "weights put back": put_back}
last = {name: curve["loss"].iloc[-1] for name, curve in runs.items()}
saved = "yes" if last["clipped at 1"] < 0.3 else "no"
culprit = "memory" if last["Adam forgets"] < last["run G"] / 2 else "weights"
print(f"your guesses: {guess_saved} and {guess_culprit}, it was: {saved} and {culprit}")
lab.validation_losses(runs, "A broken row at steps 30, 80 and 130")

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - Run G ends with a loss above 2: it never recovers. <!-- claim: one_row_ruins_it -->
# - Clipped at 1, it learns to reverse: its loss ends below 0.2, where the sound run's ends, too. <!-- claim: clipping_saves_it -->
# - With no clipping, but a memory that is cleared after each broken step, it learns too: its loss ends at 0.1 to 0.3. <!-- claim: it_was_adams_memory -->
# - With the weights put back, and the memory kept, it fails like run G: its loss ends above 2. <!-- claim: it_was_not_the_weights -->
# - Both halves of the memory do harm. If only the mean of the gradients is put back to what it was before the broken step, the loss stays above 1.3; if only the mean of their squares is put back, it explodes to more than 100. <!-- claim: both_halves_of_the_memory -->
#
# So the weights were hardly harmed; Adam was. Its mean of gradients goes on pushing in the direction of the broken row,
# and loses a tenth of it with each step. Its mean of squares slows down everything that comes after, and loses only a
# thousandth with each step: after a hundred steps, nine tenths of that enormous square are still there.
# </details>
#
# Here are Adam's two running means by themselves. Take a single weight whose gradient is always 1, except for one
# step, number 30, where it is 10,000. Adam moves the weight by the rate times m, divided by the root of v. (The correction
# for the first steps is left out.)

# %%
m = v = 1.0
memory = {"m, the mean of gradients": [], "the root of v": []}
for step in range(200):
    gradient = 10_000.0 if step == 30 else 1.0
    m, v = 0.9 * m + 0.1 * gradient, 0.999 * v + 0.001 * gradient**2
    for kept, value in zip(memory.values(), (m, v**0.5), strict=True):
        kept.append(value)
plots.curves(memory, title="Adam's two means, and one broken step", y_label="size", log_y=True)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - A hundred steps after the broken one, m is back at 1.0, and the root of v is still 300: each step is 300 times too short. <!-- claim: v_remembers_for_long -->
#
# </details>

# %% [markdown] exercise="accumulated_step" kind="core" difficulty=3 minutes=20
# The gradient of a large batch is less noisy than that of a small one, but a large batch needs more memory.
# **Accumulation** gets you the gradient without the memory: cut the batch into pieces, send one piece after the other
# through the model, let their gradients add up, and take a single step.
#
# ![A batch of eight rows is cut into three pieces, of four, three and one. Each goes through the model by itself, and its gradient is multiplied by its share of the rows: four eighths, three eighths, one eighth. The three are added up, and then there is one step.](picture:three_pieces)
#
# Two things go wrong all the time. If all pieces go forwards before the first one goes backwards, nothing is saved: what
# they all need is in memory at once. And each piece's loss is a *mean*, while pieces may differ in size:
#
# $$\frac{1}{n}\sum_{\text{all rows}} \ell \;=\; \sum_{\text{pieces}} \frac{n_{\text{piece}}}{n} \cdot \text{mean loss of the piece}$$
#
# For example: a piece of 3 rows with a mean loss of 1 and a piece of 1 row with a loss of 25 have a mean of
# $\frac{3}{4} \cdot 1 + \frac{1}{4} \cdot 25 = 7$. The mean of the two means would be 13.
#
# This isn't just a beginner's mistake: in October 2024 it turned out that widely used training libraries had been doing it
# for years, with tokens in place of rows ([Hugging Face, "Fixing Gradient
# Accumulation"](https://huggingface.co/blog/gradient_accumulation)).
#
# <details><summary>Hint 1</summary>
#
# What does `backward` do with a gradient that is already there? Where does that help you, and where does it hurt? And when is
# a piece no longer needed?
# </details>
# <details><summary>Hint 2</summary>
#
# Clear once, before the first piece. Multiply each piece's loss by its share of all rows, and call backward on that,
# piece by piece. Step once, at the end.
# </details>
# <details><summary>Hint 3</summary>
#
# `loss = loss_function(?, targets) * (len(inputs) / ?)`, then `loss.backward()`; the sum of these
# losses is what you return.
# </details>
#
# Docs: [Optimizer.zero_grad](https://pytorch.org/docs/stable/generated/torch.optim.Optimizer.zero_grad.html) ·
# [Tensor.backward](https://pytorch.org/docs/stable/generated/torch.Tensor.backward.html).

# %% [markdown]
# **What you've built.** A large batch for small machines. Here 64 rows go through the model at once, and then as four
# pieces of 28, 20, 12 and 4 rows: with your step, and with the mean of means. How far apart are the weights after one
# step?

# %%
whole = lab.one_step(data, (64,), accumulated_step)
yours = lab.one_step(data, (28, 20, 12, 4), accumulated_step)
wrong = lab.one_step(data, (28, 20, 12, 4), lab.mean_of_means)
apart = {
    "your step": (yours["weights"] - whole["weights"]).abs().max().item(),
    "the mean of means": (wrong["weights"] - whole["weights"]).abs().max().item(),
}
print({name: f"{distance:.1e}" for name, distance in apart.items()})

# %% [markdown]
# **What you should see**
#
# - Your step's weights are those of the large batch to within 0.00001. With the mean of means they are more than 0.001 off. <!-- claim: pieces_equal_the_whole -->
#
# And how much does your step keep for the backward pass, at most?

# %%
parts = lab.Parts(accumulate=accumulated_step)
kept = {
    "64 rows at once": lab.memory_of(lab.PLAIN, data, parts)["saved"],
    "28 + 20 + 12 + 4 rows": lab.memory_of(lab.Recipe(pieces=(28, 20, 12, 4)), data, parts)["saved"],
}
plots.bars(kept, title="Kept for the backward pass, at most", x_label="kilobytes")

# %% [markdown]
# **What you should see**
#
# - In pieces, less than half of the memory is needed. <!-- claim: pieces_save_memory -->
#
# How was the memory measured? PyTorch lets you watch as it saves each tensor for the backward pass
# (`torch.autograd.graph.saved_tensors_hooks`), and Python tells you when it lets go of one. `lab.saved_bytes` adds up what
# is there while *your* function runs, without the weights.
#
# ### The gradient by depth
#
# When a deep model doesn't learn, ask *where* the gradient gets lost. Here are fresh stacks of eight blocks, in four
# kinds: with a norm in front of each part, with residual connections, with both, and with neither. We send a random
# gradient in at the top (layer 8), and look at how much of it arrives at each layer's weights. **By what factor is
# the gradient of layer 1 smaller than that of layer 8, in the stack with neither?**
#
# 1. About 10.
# 2. About 1,000.
# 3. More than a million.
#
# **And which would you rather add, norms or residuals?**

# %%
guess_lost = None  # 1, 2 or 3

by_depth = lab.gradient_by_depth()
factor = lab.lost(by_depth["neither"])
lost = 3 if factor > 1e6 else 2 if factor > 100 else 1
print(f"your guess: {guess_lost}, it is: {lost}")
print({name: f"{lab.lost(norms):,.1f} times smaller" for name, norms in by_depth.items()})
lab.gradient_chart(by_depth)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - With neither norms nor residuals, the first layer's gradient is 20 to 120 million times smaller than the last one's, depending on the seed. <!-- claim: the_gradient_gets_lost -->
# - Either of the two is enough: with norms alone it is 1.3 to 5 times smaller, with residuals alone about the same. <!-- claim: either_is_enough -->
# - So are larger first weights: with neither, but all weights $\sqrt 3$ times as large, it is 5 to 20 times smaller. <!-- claim: or_larger_weights -->
#
# The fifth curve shows what is behind it. PyTorch draws the weights of a linear layer so small that a signal shrinks by
# a factor of about $\sqrt 3$ on its way through, and so does the gradient on its way back. A block has four such layers
# in a row, which makes 9, and eight blocks make millions. A norm brings the signal back to size in every block. A
# residual connection hands it on as it is. Good first weights don't shrink it to begin with.
#
# These are fresh models: the picture tells you who can start to learn, not who learns best.
# </details>
#
# ## Time for a break
#
# So far there were plenty of rows. What if there are only 300?

# %% [markdown]
# ## Part 4 · Too few rows
#
# The model gets 300 rows, and 500 steps. **Guess its exact match on the training rows and on the validation rows.** A
# guess within 0.1 counts.

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
# That's over-fitting: the two losses part company. And look at the picture on the right: with this seed, the validation
# *loss* rises after step 200 or so, and exact match still creeps up. The loss punishes answers that are wrong with great
# certainty; exact match doesn't.
# </details>

# %% [markdown] exercise="Dropout" kind="core" difficulty=2 minutes=15
# [Lesson 8](../08_attention_is_all_you_need/08_attention_is_all_you_need.ipynb) used dropout, and
# [lesson 9](../09_numpy_transformer/09_numpy_transformer.ipynb) built it in NumPy. Here it becomes a PyTorch module. In
# training, set each number to 0 with probability $p$, so that no unit can rely on any one other unit (Srivastava and
# others 2014).
#
# $$y_i = \frac{x_i \cdot m_i}{1 - p}, \qquad m_i = 0 \text{ with probability } p, \text{ else } 1$$
#
# For example: with p = 0.5, the row (2, 4, 6, 8) may become (4, 0, 0, 16). The expected value of each number stays what
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

# %% [markdown]
# **What you've built.** Noise with a purpose. Here is one row of twelve numbers, sent through your layer five times.

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

# %% [markdown] exercise="EarlyStopping" kind="core" difficulty=3 minutes=20
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
# Careful with the copy: `model.state_dict()` holds the very tensors that training goes on to change.
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
# `if loss < self.best - ?:` new best, count back to 0, `copy` of each tensor with `clone()`; else count up.
# Then `return self.failures >= ?`.
# </details>
#
# Docs: [Module.state_dict](https://pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.state_dict) ·
# [Tensor.clone](https://pytorch.org/docs/stable/generated/torch.clone.html).

# %% [markdown]
# **What you've built.** Something that says when it's enough. Here it watches the run with 300 rows, with a check every 25
# steps and a patience of 4. **At which step does it stop, and at which was the loss best?** A guess within
# 50 steps counts.

# %%
guess_stop = None  # a step: 25, 50, 75, ... or 500

parts = lab.Parts(
    schedule=warmup_schedule,
    clip=clip_gradients,
    accumulate=accumulated_step,
    dropout=Dropout,
    stopping=EarlyStopping,
)
remedies = {"early stopping": lab.train(lab.WITH_FEW_ROWS["early stopping"], few, parts)}
stopped_at = remedies["early stopping"].stopped_at
print(f"your guess: {guess_stop}, it stopped at step {stopped_at}")
lab.stopped(remedies["early stopping"])

# %% [markdown]
# Each `False` is a check after which training continues. After the fourth failure in a row, `step` says `True`. The last
# line is one more check, after `restore`: the loss is once more what it was at its best.
#
# Early stopping is one remedy of five. **Label smoothing** you know from
# [lesson 8](../08_attention_is_all_you_need/08_attention_is_all_you_need.ipynb). **Weight decay** pulls every weight
# towards 0 a little at each step; AdamW does so separately from the gradient (Loshchilov and Hutter 2019).
# **Augmentation** makes new rows from old ones. If you rename the letters of a row, its answer is still the row backwards:
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
# - Dropout of 0.1 comes second, with about 80 to 93 % of the rows, depending on the seed. Weight decay and label smoothing are at least ten points behind it, and ten points or more ahead of the plain run. <!-- claim: dropout_comes_second -->
# - Early stopping gets what it watches: on all three seeds the validation *loss* is lower than the plain run's. Exact match, which it doesn't watch, is lower too, by up to six points. <!-- claim: early_stopping_gets_the_loss -->
#
# Augmentation wins because it knows something about the task: the names of the letters don't matter. That knowledge is
# worth more here than any of the general remedies.
#
# The order of the others is that of *these* strengths, one each, which nobody has tuned: dropout of 0.1, a decay of 0.1,
# smoothing of 0.1. And early stopping shows how much depends on what you watch. If you care about exact match, watch
# exact match: with the seeds we tried, that would have stopped no run before step 500. <!-- claim: watching_exact_match_stops_no_run -->
# </details>
#
# ## Time for a break
#
# You can now tell what is wrong with a run, and repair it. What's left is about memory and time: how to train more on
# the same machine.
#
# A question to take with you: a forward pass computes everything once. Why would you compute it twice?

# %% [markdown]
# ## Part 5 · Memory and half precision
#
# What fills a GPU's memory in training? Four things. The **weights**. Their **gradients**, as many numbers again. The
# optimiser's memory: Adam keeps two running means for each weight, so twice as many again. And whatever the forward
# pass **keeps for the backward pass**. The first three depend only on the size of the model. The fourth grows with the
# batch and the length of the rows, and you have already cut it into pieces once. Here are two more ways to make it
# smaller.

# %% [markdown] exercise="run_checkpointed" kind="stretch" difficulty=2 minutes=12
# For the backward pass, each block keeps what it computed on the way forward. In a deep model, that is most of the memory.
# **Activation checkpointing** keeps only what goes *into* each block, and computes the rest again when the gradient
# reaches the block (Chen and others 2016). One more forward pass buys a lot of memory.
#
# ![Two rows of four blocks. In the upper row, plain, every block has a stack of kept tensors above it. In the lower row, checkpointed, only the arrows between the blocks are kept, and one block, the one that the gradient has reached, has its stack again.](picture:forgetful_blocks)
#
# For example: if x takes 1 unit of memory and a block keeps 10, then eight blocks keep 80. With checkpoints they keep 8,
# and 10 more for the one block that is being computed again. If all eight were a single segment, they would be computed
# again together, and the peak would be 80 after all.
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

# %% [markdown]
# **What you've built.** A model that forgets. Here is the **peak** of the memory that one step of our model needs, with eight
# blocks on either side: the most that is there at any one moment. **What share of the plain peak will be left?** A guess
# within 0.05 counts.

# %%
guess_peak_share = None  # a share

parts = lab.Parts(run=run_checkpointed)
deep = {"plain": lab.memory_over_a_step(lab.Recipe(num_layers=8), data, parts)}
deep["checkpointed"] = lab.memory_over_a_step(lab.Recipe(num_layers=8, checkpointed=True), data, parts)
peak_share = float(deep["checkpointed"].max() / deep["plain"].max())
print(f"your guess: {guess_peak_share}, it is: {peak_share:.2f}")
plots.curves(
    deep,
    title="Memory during one step, with eight blocks on either side",
    x_label="% of the step's operations",
    y_label="kilobytes",
)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - With eight blocks on either side, the peak is about 15 % of the plain one. <!-- claim: checkpoints_save_memory -->
# - Plain, memory grows until the forward pass is over, a third of the way, and then shrinks. Checkpointed, it rises and falls again and again, once for each block that is computed a second time. <!-- claim: a_mountain_and_many_teeth -->
#
# There are sixteen blocks, and one of them at a time is in memory. The rest is what went into each of the others, and the
# gradients of the weights.
# </details>
#
# ### The bits of a float
#
# A number in a computer is a row of bits. The first is the sign. Some are for the **exponent**: they say how large the
# number is, as a power of two. The others are the **fraction** (or mantissa): they say where it is between that power of
# two and the next. Here is 0.1 in the three formats you'll meet:
#
# ![Three rows of boxes, each with a bit. float32: 1 sign bit, 8 exponent bits, 23 fraction bits. bfloat16: 1, 8 and 7; it is float32 rounded to 16 bits. float16: 1, 5 and 10. The bits are those of the number 0.1.](picture:bits)
#
# bfloat16 has as many exponent bits as float32, so it reaches as far up and down. It pays for that with its fraction.
# float16 makes the other choice: a finer grid, a narrow range.
#
# | | exponent bits | fraction bits | largest | smallest above 0 |
# |---|---|---|---|---|
# | float32 | 8 | 23 | 3.4e38 | 1e-45 |
# | bfloat16 | 8 | 7 | 3.4e38 | 9e-41 |
# | float16 | 5 | 10 | 65,504 | 6e-8 |
#
# **Which numbers next to 1 can bfloat16 hold?** Guess the next one above and the next one below, then look.

# %%
guess_above = None  # the next number above 1 in bfloat16
guess_below = None  # the next number below 1

one = torch.tensor(1.0, dtype=torch.bfloat16)
above, below = (torch.nextafter(one, towards * one).item() for towards in (2, 0))
print(f"your guesses: {guess_above} and {guess_below}, they are: {above} and {below}")
plots.heatmap(
    torch.tensor(lab.bits_of([0.1, 1.0, above, below, 1.002], torch.bfloat16)),
    ["0.1", "1", "the next above", "the next below", "1.002"],
    ["sign", *(f"e{k}" for k in range(8)), *(f"f{k}" for k in range(1, 8))],
    title="The bits of some numbers in bfloat16",
)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - In bfloat16, the numbers next to 1 are 1.0078125 and 0.99609375. So 1 + 0.002 is 1, while 1 - 0.002 is 0.99609375. <!-- claim: the_grid_around_one -->
#
# Below 1, the grid is twice as fine as above: another power of two ends there. So a weight of 1 in bfloat16 would never
# rise in steps of 0.002, however many you take, and its first step down would be twice as long as it should be. That is
# why the weights are better kept in 32 bits.
# </details>

# %% [markdown] exercise="half_precision_step" kind="stretch" difficulty=2 minutes=12
# Numbers of 16 bits take half the memory and, on hardware made for them, far less time. **Mixed precision** computes in 16
# bits and keeps the weights in 32, so that small steps aren't lost (Micikevicius and others 2018).
#
# `torch.autocast` does that for whatever is called inside it: before each matrix product, it turns the weights and the
# inputs into 16 bits, and leaves the weights themselves alone. You hand in everything as it is, ids included. It needs to
# know the type of device (`"cpu"`, `"cuda"`, ...), which your tensors can tell you.
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

# %% [markdown]
# **What you've built.** A step in half the bits. What does it do to *accuracy*? Here are 100 steps in bfloat16, next to
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
losses = {"float32": full.losses, "bfloat16": half.losses}
plots.curves(losses, title="100 steps", y_label="training loss", legend=True)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - The two training losses are never more than 0.05 apart. <!-- claim: bfloat16_follows -->
#
# </details>
#
# ### Too small for float16
#
# bfloat16 reaches as far down as float32. float16 doesn't. Here are four gradients, turned into float16 and back: as
# they are, and multiplied by $2^{16} = 65{,}536$ first and divided by it afterwards, in float32. **How many of
# the four are lost without scaling?**

# %%
guess_lost_in_half = None  # how many of the four become 0 without scaling?

small = torch.tensor([3e-4, 5e-6, 2e-8, 1e-9])
as_they_are = small.half()
scaled = (small * 2**16).half()
scaled_back = scaled.float() / 2**16
lost_in_half = int((as_they_are == 0).sum())
print(f"your guess: {guess_lost_in_half}, it is: {lost_in_half}")
lab.scaling_table(small, as_they_are, scaled, scaled_back)

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
# If you clip before `unscale_`, you compare gradients that are 65,536 times too large with your limit, so nearly all of
# them get clipped. Once they are unscaled, their norm is 65,536 times smaller than the limit.
#
# Watch it meet an infinite gradient, and then a good one.

# %%
weight = nn.Parameter(torch.ones(1))
optimizer = torch.optim.SGD([weight], lr=1.0)
scaler = torch.amp.GradScaler("cpu")
for gradient in (math.inf, 0.25):
    scaler.scale(weight.sum() * gradient).backward()
    scaler.step(optimizer)  # divides the gradient by the factor first
    scaler.update()
    optimizer.zero_grad()
    factor = scaler.get_scale()
    print(f"gradient {gradient}: weight {weight.item()}, factor {factor:,.0f}")

# %% [markdown]
# ### Does it rescue run B?
#
# Run B had gradients of exactly 0: float16, and a loss with a weight of a millionth. With a scaler its gradients come
# back. **After 60 steps, will it be where the sound run is, which computes in float32 and has no such weight?**

# %%
guess_rescued = None  # "yes" or "no"

sixty = {
    "run B": lab.run("B")[:60],
    "run B with a scaler": lab.with_scaler(steps=60),
    "the sound run": lab.sound()[:60],
}
last_losses = {name: curve["training loss"].iloc[-1] for name, curve in sixty.items()}
rescued = "yes" if last_losses["run B with a scaler"] < last_losses["the sound run"] + 0.3 else "no"
print(f"your guess: {guess_rescued}, it is: {rescued}")
lab.training_losses(sixty, "float16, and a loss with a weight of a millionth")

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# It learns, but far too slowly. Something else is wrong. The scaler has brought back the *true* gradients, and these
# are a millionth of the sound run's, since the loss has a weight of a millionth. Shouldn't Adam be indifferent to that?
# It divides by the root of the mean square, so a millionth cancels. But the formula has a small constant:
#
# $$\text{step} = \text{rate} \cdot \frac{\hat m}{\sqrt{\hat v} + \epsilon}, \qquad \epsilon = 10^{-8}$$
#
# Our gradients' norm is about 0.0000005, spread over thousands of weights. For nearly all of them, $\sqrt{\hat v}$ is
# *smaller* than $\epsilon$, so $\epsilon$ decides, and the steps come out too short. The next cell makes it smaller.
# </details>

# %%
sixty["with a scaler and eps=1e-15"] = lab.with_scaler(steps=60, eps=1e-15)
lab.training_losses(sixty, "The same, and a smaller eps")

# %% [markdown]
# <details><summary>Open this once you have run the cells</summary>
#
# **What you should see**
#
# - Without scaling, two of the four gradients become 0; with it, all four come back to within a thousandth. <!-- claim: scaling_brings_them_back -->
# - The infinite gradient changes nothing but the factor, which is halved. <!-- claim: an_infinite_gradient_is_skipped -->
# - After 60 steps, run B with a scaler has a loss above 2, where the sound run is below 1. <!-- claim: a_scaler_is_not_enough -->
# - With the scaler, more than 95 % of the weights have a $\sqrt{\hat v}$ below $\epsilon$. <!-- claim: below_eps -->
# - With `eps=1e-15` as well, it is within 0.05 of the sound run. <!-- claim: eps_drowned_them -->
#
# Tiny gradients and Adam's `eps` meet in practice, too: the larger a language model is, the smaller its gradients, until
# the usual `eps` is too large (Wortsman and others 2023). If a run learns more slowly than it should, compare the size of
# its gradients with `eps`.
# </details>
#
# On a CPU, float16 is only a demonstration: nothing gets faster. On a GPU without bfloat16, this is how half precision is
# done.
#
# ## What it costs, and what it buys
#
# Each trick was measured in a run of its own against the plain run, with the same seed, on one thread of a shared
# CPU. Time is that of a step, relative to the plain run; the spread is over three seeds. *Compiled* is
# `torch.compile(model)`, which fuses operations so that fewer passes over memory are needed. *Fused attention* is
# `F.scaled_dot_product_attention`: the formula of lesson 3 in one call. **Which of them makes a step fastest on this
# CPU: bfloat16, compiling or fused attention?**

# %%
guess_faster = None  # "bfloat16", "compiled" or "fused attention"

enough = tricks[tricks["rows"] == lab.ENOUGH]
faster = enough.groupby("trick")["milliseconds"].mean()
fastest = faster[["bfloat16", "compiled", "fused attention"]].idxmin()
print(f"your guess: {guess_faster}, measured: {fastest}")
some = ["plain", "bfloat16", "float16 with a scaler", "checkpointed", "fused attention", "compiled"]
lab.with_spread(tricks[tricks["trick"].isin(some)], lab.ENOUGH)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - Compiling makes a step faster; bfloat16 and float16 make it slower on this CPU. <!-- claim: what_is_faster -->
# - The checkpointed run ends with exactly the plain run's scores. Fused, a run's exact match is up to five points off. <!-- claim: same_scores -->
# - Checkpointing keeps about a fifth of the memory and takes more time for it. <!-- claim: what_checkpoints_cost -->
# - With enough rows, none of the tricks we tried has a token accuracy more than 0.01 away from the plain run's. <!-- claim: nothing_to_gain_here -->
#
# The last line is the honest one. On this small task, with 4,000 rows, the plain run is nearly perfect, so there is
# little left to gain. These tricks pay off elsewhere: with a broken row, with few rows, with many layers, or with too
# little memory. You've seen each of those.
#
# Why doesn't the fused call give exactly what the plain run gives? Its gradient is the same up to rounding, and training
# makes small differences grow. <!-- claim: the_fused_gradient_is_the_same_up_to_rounding -->
#
# And on a GPU? We tried three of the tricks on an H100 (`python -m benchmarks.gpu_tricks`, in the course's repository,
# tries them on yours). This lesson's model is so small that the GPU spends its time waiting for Python, and only compiling
# helped in each of our runs: a step took 51 to 66 % of the time. With as many layers as the paper's model has, as wide as
# there, and rows of 512 tokens, a step took 63 to 68 % of the time with bfloat16, and 79 % with fused attention. With all
# three tricks together, it took 34 to 41 % of the time, and 31 % of the memory. (The first steps, in which PyTorch
# compiles, aren't counted.)
# </details>
#
# ## Explain it
#
# A friend writes: "My Transformer doesn't learn to reverse letters. The loss went from 2.7 to 2.4 in the first hundred
# steps, and since then it's flat. I've already tried dropout, label smoothing and a bigger model. Should I get more data?"
#
# Answer in four or five sentences. What would you ask for first, which curve would you want to see, and why
# won't any of the three remedies help?

# %% [markdown] explain=true
# More data won't help a model that can't even learn what it has, and dropout and label smoothing are remedies for
# over-fitting, of which there is no sign: the training loss itself is flat. I'd first ask for can_overfit, with dropout
# and smoothing switched off and two or three rates: can the model learn a single batch of 16 rows within 300 steps? If
# it can't, something is broken. A fall to 2.4 and no further is what a model does that only learns how often each symbol
# comes, so the input may never reach the output: I'd follow two different rows through the layers, and see where they
# become the same. I'd also look at the norm of the gradient over time and by depth: exactly 0 points to float16 or a graph
# that is cut, a loss that jumped up at first to a rate that is too high. A bigger model would only hide the fault.

# %% [markdown]
# ## How good were your guesses?
#
# Here are your guesses next to what happened. A wrong guess is worth more than none: it shows you where to look.

# %%
right_causes = sum(diagnoses[letter] == lab.cause_of(letter) for letter in lab.BROKEN)
guesses.board(
    [
        ("rows right in the plain run", guess_exact, plain.last["exact match"], 0.01),
        ("who can learn a single batch", guess_learners, learners),
        ("causes found, of nine", right_causes or None, 9, 0),
        ("right by the table, of twelve", guess_table, right_by_table, 0),
        ("the best peak without a warm-up", guess_peak, best_peak, 0),
        ("which peak needs the warm-up", guess_gains, gains_most, 0),
        ("does clipping save run G", guess_saved, saved),
        ("what the broken row ruined", guess_culprit, culprit),
        ("how much gradient gets lost", guess_lost, lost),
        ("300 rows: right in training", guess_trained, trained, 0.1),
        ("300 rows: right in validation", guess_unseen, unseen, 0.1),
        ("where early stopping stopped", guess_stop, stopped_at, 50),
        ("the best remedy", guess_remedy, remedy),
        ("share of the peak that is left", guess_peak_share, peak_share, 0.05),
        ("next to 1 in bfloat16, above", guess_above, above, 0.002),
        ("next to 1 in bfloat16, below", guess_below, below, 0.002),
        ("float32 and bfloat16 look the same", guess_same, same),
        ("gradients lost in float16", guess_lost_in_half, lost_in_half),
        ("run B rescued by a scaler", guess_rescued, rescued),
        ("what makes a step faster", guess_faster, fastest),
    ]
)

# %% [markdown]
# ## Recap
#
# Answer from memory, then check.
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
# The norm of the gradient. Exactly 0: underflow, or a graph that was cut. Not 0, and the loss is the same to the last
# digit: the optimiser holds other weights. Small: something dead on the way, or an input that isn't handed in. Normal: a
# rate that is too low, or too high if the loss jumped up at first.
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
# - What if SGD trains run G? `broken = lab.BROKEN["G"]()`, then
#   `broken.optimizer = torch.optim.SGD(broken.model.parameters(), lr=0.5)`, and look at `broken.run()`. SGD has no memory, but
#   its steps are as large as the gradient: this time it *is* the weights.
# - Run your own sweep: `lab.sweep(seed=7)` takes as long as the one above. Does the best cell stay the best?
# - Train with all tricks at once: `lab.train(lab.Recipe(schedule="warm-up and cosine", max_norm=1.0, p=0.1, augment=True), few)`.
# - `ReduceLROnPlateau` keeps the rate until the validation loss stops falling, so you needn't decide in advance how long to
#   train: `lab.train(lab.Recipe(schedule="plateau", steps=600), few).rates` shows when it noticed.
# - Break a run yourself: make a subclass of `lab.BROKEN["C"].__base__`, and ask `lab.read(its_curve, lab.sound())`.
#
# ## Glossary
#
# | word | meaning |
# |---|---|
# | accumulation | adding up the gradients of several batches before a step |
# | activation checkpointing | forgetting what a block computed, and computing it again for the backward pass |
# | augmentation | making new examples from old ones, without changing what is right |
# | autocast | a context in which layers compute in 16 bits |
# | clipping | scaling the gradients down when their norm is too large |
# | dead ReLU | a unit whose input is always below 0, so that it never passes anything on |
# | early stopping | stopping when the validation loss no longer gets better |
# | exponent, fraction | the bits of a float that say how large it is, and where between two powers of two |
# | mixed precision | computing in 16 bits, with weights of 32 |
# | norm | the length of a vector: the root of the sum of its squares |
# | over-fitting | learning the training data instead of what it has in common with other data |
# | patience | how many failures in a row are allowed |
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
# - Xiong and others, [On Layer Normalization in the Transformer Architecture](https://arxiv.org/abs/2002.04745), ICML 2020: section 3, why post-norm needs a warm-up.
# - Pascanu, Mikolov, Bengio, [On the difficulty of training recurrent neural networks](https://arxiv.org/abs/1211.5063), ICML 2013: section 3.2, clipping.
# - Srivastava and others, [Dropout](https://jmlr.org/papers/v15/srivastava14a.html), JMLR 2014: section 4.
# - Prechelt, Early Stopping - But When?, in *Neural Networks: Tricks of the Trade*, 1998: section 2.
# - Loshchilov, Hutter, [Decoupled Weight Decay Regularization](https://arxiv.org/abs/1711.05101), ICLR 2019: section 2, AdamW.
# - Micikevicius and others, [Mixed Precision Training](https://arxiv.org/abs/1710.03740), ICLR 2018: section 3.
# - Chen and others, [Training Deep Nets with Sublinear Memory Cost](https://arxiv.org/abs/1604.06174), 2016: sections 3 and 4.
# - Wortsman and others, [Small-scale proxies for large-scale Transformer training instabilities](https://arxiv.org/abs/2309.14322), 2023: section 3.4, gradients and Adam's eps.
# - Dao and others, [FlashAttention](https://arxiv.org/abs/2205.14135), NeurIPS 2022: section 3, attention in one fused call.
