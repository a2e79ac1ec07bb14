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
# # Lesson 5 · Hide the future
#
# COLAB_BADGE
#
# Your model of lesson 4 had every answer right. Then it wrote on its own, and nothing was right.
# Before you read on: **which of these is it?**
#
# 1. It never learnt the task.
# 2. It learnt it, and can't use it.
# 3. It found a way to read the answer.
#
# Here is a clue. We nudge one target token, the fourth, and watch which outputs move.
#
# ![A grid of seven outputs against seven target tokens. Token 4 is nudged, and its whole column is marked: all seven outputs move. A line marks outputs 1 to 3: these come before the nudged token. Outputs 4 to 7 may know of it.](picture:nudged_token)
#
# Outputs 1, 2 and 3 moved as well. But they come *before* token 4. How can they know of it?
#
# **What you will be able to do**
#
# - show that a model reads ahead, and measure how much
# - write masks that hide the future and the padding, and read masks as matrices
# - build a model that writes as well as it predicts, and prove why the two scores must agree
# - choose the order in which an answer is written, and test it where it is hard
#
# **Time.** One sitting, about 110 minutes.
#
# **How to check.** Replace the line `raise NotImplementedError()` by your own code, and run the cell.
# Then run the `check` cell below it. It says what is right and what is not, as often as you ask.
#
# **How to submit.** Save the notebook and hand it in the way your class does.
# Nobody to hand it in to? The checks are all you need.

# %% [markdown]
# ## A two-minute test
#
# This lesson builds on [lesson 3](../03_classification_transformer/03_classification_transformer.ipynb) and
# [lesson 4](../04_seq2seq_cross_attention/04_seq2seq_cross_attention.ipynb). Try these three without running anything.
#
# **1.** A mask of shape `(batch, 1, 1, length)` meets scores of shape `(batch, heads, length, length)`. Which queries does it hide key 5 from?
#
# <details><summary>Answer</summary>
#
# From all of them, in all heads: the two axes of size 1 are repeated. That is right for padding.
# To read up: `padding_mask` in [lesson 3](../03_classification_transformer/03_classification_transformer.ipynb).
# </details>
#
# **2.** The target is `2 4 $`. What does `shift_right` show the decoder, and what is it to say at place 1?
#
# <details><summary>Answer</summary>
#
# It is shown `^ 2 4`. At place 1 it has the 2 under its eyes, and is to say 4.
# To read up: `shift_right` in [lesson 4](../04_seq2seq_cross_attention/04_seq2seq_cross_attention.ipynb).
# </details>
#
# **3.** What did `encoder_influence` measure, and how?
#
# <details><summary>Answer</summary>
#
# How far the answers move when the source changes and nothing else. It changes each place in turn and keeps the largest movement.
# To read up: the bug clinic of [lesson 4](../04_seq2seq_cross_attention/04_seq2seq_cross_attention.ipynb).
# </details>
#
# Two of three? Go on. Fewer? Read the linked pages first, and come back.
#
# The next cell brings the tools. Run it first. `plots` draws, and `lab` runs the longer experiments, in `lessons/lesson_05/experiments.py`.

# %% setup=true
import math
from collections.abc import Callable

import numpy as np
import pandas as pd
import torch
import torch.nn.functional as F
from IPython.display import display
from torch import nn

from course import plots
from course.attention import padding_mask
from lessons.tables import measured
from lessons.lesson_05 import experiments as lab
from lessons.lesson_04.experiments import answers_table, target_influence
from course.lengths import TRAINED, exact_by_length, lines_of
from course.seq2seq import CrossAttention, Seq2SeqTransformer, encoder_influence
from course.seq2seq_fitting import best_device, fit, generate, predict
from course.sequences import exact_match, shift_right
from course.tasks import addition, reversal

torch.set_num_threads(1)  # one thread: on a machine that others use too, two can be ten times slower

# %% [markdown]
# ## Part 1 · The leak
#
# ### Back at the cliff
#
# The letters of lesson 4 again: rows of 1 to 10 letters, to be written backwards. We train the same model. This time we watch two scores
# while it learns: exact match with a teacher, and exact match on its own.
#
# First type your answer to the question above.

# %%
guess_cause = None  # 1, 2 or 3

device = best_device()
letters = reversal.reversal_task(seed=0)
train_letters = reversal.tensors(letters.train, 10, 11)  # (4000, 10) and (4000, 11)
test_letters = reversal.tensors(letters.test, 10, 11)  # (500, 10) and (500, 11)
START, END = reversal.START_ID, reversal.END_ID


def fresh_model(kind, seed=0):
    """A new model for the letters, one block on each side; the same seed gives the same start."""
    torch.manual_seed(seed)
    return kind(reversal.VOCAB_SIZE, max_length=16, d_model=64, num_heads=4, d_ff=128, num_layers=1).to(device)


def train_and_watch(model, steps):
    """Train on the letters, and note both scores on the test letters every 50 steps."""
    scores = {}
    watch = lab.two_scores(model, test_letters, START, END, scores)
    fit(model, *train_letters, start_id=START, steps=steps, learning_rate=0.003, watch=watch, watch_every=50)
    return scores


open_model = fresh_model(Seq2SeqTransformer)
open_scores = train_and_watch(open_model, steps=300)
plots.curves(
    open_scores, x=range(0, 301, 50), title="Lesson 4's model learns", y_label="exact match", y_limits=(-0.04, 1.06)
)

# %% [markdown]
# **What you should see**
#
# - With a teacher the score climbs above 0.99. On its own it stays below 0.02 all the way. <!-- claim: the_curves_part -->
#
# So it did not learn and then forget. Whatever it learns, it is of no use without a teacher.
#
# ### A wrong question, a right answer
#
# Now a trick question. We show the model the problem of *another* row, and with it the right target input of *this* row.
# A model that reads its problem must go wrong. **Which share of rows is still right?**

# %%
guess_swapped = None  # a share

others = torch.randperm(len(letters.test), generator=torch.Generator().manual_seed(0))
swapped_logits = predict(open_model, test_letters[0][others], test_letters[1], start_id=START)
swapped = exact_match(swapped_logits.argmax(-1), test_letters[1]).item()
print(f"your guess: {guess_swapped}, it is: {swapped:.2f}")
answers_table(reversal.ALPHABET, test_letters[0][others], test_letters[1], swapped_logits.argmax(-1)).head(5)

# %% [markdown]
# **What you should see**
#
# - More than 75 % of the rows are still right, though the model was asked something else. <!-- claim: asked_something_else -->
#
# It says the right answer to a question that it was not asked. So the answer does not come from the source. There is only one other thing
# that it reads: the target input.
#
# ### The nudge
#
# We do the nudge of the title picture on the trained model. One row of six letters. Each target token is replaced by every other symbol
# in turn, and we note how far each output moves. Row: the output. Column: the token that changed.

# %%
row = next(place for place, text in enumerate(letters.test) if len(text) == 6)
one_source = test_letters[0][row : row + 1].to(device)
one_target = test_letters[1][row : row + 1, :7]
one_input = shift_right(one_target, START).to(device)  # (1, 7)
highest = reversal.ALPHABET.size - 1
says = [f"to say {symbol}" for symbol in reversal.ALPHABET.text(one_target[0])]
reads = list(reversal.ALPHABET.text(one_input[0]))

open_nudges = lab.nudges(open_model, one_source, one_input, highest)
answer_cells = [(place, place + 1) for place in range(6)]
display(
    plots.heatmap(
        open_nudges,
        says,
        reads,
        title="How far each output moves (framed: the token it is to say)",
        columns="target token that was nudged",
        outline=answer_cells,
    )
)
open_slopes = lab.slopes(open_model, one_source, one_input, open_model.embedding)
plots.heatmap(
    open_slopes[:6],
    says[:6],
    reads,
    title="The same question, asked of the gradient",
    columns="target token",
    outline=answer_cells,
)

# %% [markdown]
# **What you should see**
#
# - At more than 95 % of the places but the last, the token that moves the output most is the one right of it: the very token it is to say. <!-- claim: it_reads_the_answer -->
#
# The gradient asks about tiny changes instead of whole swaps, and finds the same hole. In an honest model no cell right of the diagonal would be lit, in either map.
#
# There it is. The answer was 3.
#
# ![The tokens to be read, start, 2, 4, below the tokens to be said, 2, 4, end. Solid arrows lead straight up. Dashed arrows lead from each read token to the place on its left above: a look at the answer, one place on. In training the whole row is on the table at once.](picture:all_on_the_table)
#
# The target input is the target, one place later. To say token i, one may look at place i + 1, and there it stands. Attention
# looks anywhere. Nothing stopped it. Copying is easier than reversing, so copying is what it learnt.
#
# That explains all three riddles of lesson 4. With a teacher the answer lies open. A deaf model reads it too. And alone, the token
# to the right has not been written yet: the model looks into nothing.
#
# ### Exercise: `future_leak` · core · difficulty 3 · 20 minutes
#
# Before we repair it, write the test that finds it. A later token changes: does any *earlier* output move?
#
# ![A table of four outputs against four nudged tokens. The six cells right of the diagonal are framed: 9, 0, 0, 8, 0, 7. There a later token moves an earlier output. The leak is the largest of them, 9.](picture:cells_of_a_leak)
#
# $$\text{leak} = \max_{j}\ \max_{i < j}\ \big|\ \text{logits}_i(\text{token } j \text{ changed}) - \text{logits}_i\ \big|$$
#
# In numbers: the framed cells are 9, 0, 0, 8, 0 and 7, so the leak is 9. The 4 at the end does not count: token 3 may move output 3.
#
# Mind the border. Token j is what output j *reads*. Output j may know it. Only the outputs before it may not.
#
# <details><summary>Hint 1</summary>
#
# Which logits do you look at after you changed token j? Could a change of token 0 ever be a leak?
# </details>
# <details><summary>Hint 2</summary>
#
# It is your `encoder_influence` with another input and a border. Change one column of the target input at a time, in a copy.
# Compare only the logits at the places before that column.
# </details>
# <details><summary>Hint 3</summary>
#
# `for place in range(1, target_input.shape[1])`, and then `(changed_logits - logits)[:, :place]`. Try more than one new id.
# </details>
#
# Docs: [torch.clone](https://pytorch.org/docs/stable/generated/torch.clone.html) ·
# [torch.no_grad](https://pytorch.org/docs/stable/generated/torch.no_grad.html).

# %% exercise="future_leak"

# %% [markdown]
# **What you made.** A leak detector. It needs no training and no scores, only a model to question. Three models: fresh, trained, and one
# that says a letter's logits from the token it reads alone.


# %%
def looks_at_itself_only(source, target_input):
    return torch.nn.functional.one_hot(target_input, reversal.VOCAB_SIZE).float()


asked = test_letters[0][:50].to(device)
shown = shift_right(test_letters[1][:50], START).to(device)
open_leak = future_leak(open_model, asked, shown)
plots.bars(
    {
        "lesson 4's model, untrained": future_leak(fresh_model(Seq2SeqTransformer), asked, shown),
        "lesson 4's model, trained": open_leak,
        "looks at itself only": future_leak(looks_at_itself_only, asked, shown),
    },
    title="How far a later token moves an earlier output",
    x_label="largest change of a logit",
)

# %% [markdown]
# **What you should see**
#
# - The untrained model leaks a little, the trained one more than five times as much: training found the hole and widened it. <!-- claim: training_widens_the_hole -->
#
# So you need not train to find a leak. Test your models before you spend a night on them.
#
# ## Part 2 · The mask
#
# We hide the future with a **mask**: a grid that says who may look at whom.
#
# ![A grid of four rows and four columns, for the tokens start, 2, 4, end. Row start says yes, no, no, no. Row 2: yes, yes, no, no. Row 4: yes, yes, yes, no. Row end: yes four times. Each place sees itself and what came before.](picture:mask_as_a_matrix)
#
# Row = who looks. Column = who is looked at. Read the second row: at the token 2 the model may look at `^` and at the 2 itself.
#
# ### Exercise: `causal_mask` · core · difficulty 1 · 5 minutes
#
# A mask is boolean in this course, and True means "may look". **Causal** means that nothing depends on what comes later.
#
# $$\text{mask}[i, j] = (j \le i)$$
#
# In small numbers, length 3: the rows are (yes, no, no), (yes, yes, no), (yes, yes, yes).
#
# **Must the diagonal be yes?** Think about the first row before you decide.
#
# <details><summary>Answer</summary>
#
# Yes. The token at place i is what output i reads: the target, one place *later*. So it is the token before the one to be said, and no secret.
# Without the diagonal the first row would have nothing to look at.
# </details>
#
# <details><summary>Hint 1</summary>
#
# Which side of the diagonal stays? Does the diagonal itself?
# </details>
# <details><summary>Hint 2</summary>
#
# PyTorch can keep the lower triangle of a matrix of ones.
# </details>
# <details><summary>Hint 3</summary>
#
# The result is boolean, `(length, length)`. Look at `torch.tril`, and at its argument `diagonal` to be sure of the border.
# </details>
#
# Docs: [torch.tril](https://pytorch.org/docs/stable/generated/torch.tril.html) ·
# [torch.ones](https://pytorch.org/docs/stable/generated/torch.ones.html).

# %% exercise="causal_mask"

# %% [markdown]
# **What you made.** A triangle. Your `Seq2SeqTransformer` takes a target mask as its third argument, so we can use it at once.
# We put it on the *trained* model of above, which has never known a mask. **Which share of rows does it get right now, with a teacher?**

# %%
guess_masked = None  # a share

triangle = causal_mask(11).to(device)


def with_a_triangle(source, target_input):
    """The trained open model, with your mask laid over it."""
    return open_model(source, target_input, causal_mask(target_input.shape[1]).to(device))


with torch.no_grad():
    all_input = shift_right(test_letters[1], START).to(device)
    masked_late = exact_match(
        with_a_triangle(test_letters[0].to(device), all_input).argmax(-1).cpu(), test_letters[1]
    ).item()
print(
    f"your guess: {guess_masked}, it is: {masked_late:.3f}; the leak is now {future_leak(with_a_triangle, asked, shown)}"
)
display(
    plots.heatmap(
        causal_mask(7).long(),
        reads,
        reads,
        title="Your mask: 1 = may look",
        rows="who looks",
        columns="who is looked at",
    )
)
plots.heatmap(
    lab.nudges(with_a_triangle, one_source, one_input, highest),
    says,
    reads,
    title="The same nudges, with your mask",
    columns="target token that was nudged",
    outline=answer_cells,
)

# %% [markdown]
# **What you should see**
#
# - With the mask the leak is exactly 0: all cells right of the diagonal are empty. <!-- claim: the_triangle_closes_it -->
# - And the trained model gets fewer than 5 % of the rows right: without the answer it knows nothing. <!-- claim: nothing_else_was_learnt -->
#
# The mask can't repair what was learnt. The model must learn *behind* the mask.
#
# ### Exercise: `decoder_mask` · core · difficulty 2 · 15 minutes
#
# Rows in a batch differ in length, so there is padding too. One mask for both: no future **and** no padding.
#
# ![Three grids for the row start, 7, padding. No padding: each row says yes, yes, no. No future: yes no no, yes yes no, yes yes yes. Both: yes no no, yes yes no, yes yes no. Below: (batch, 1, 1, length) and (length, length) give (batch, 1, length, length).](picture:two_masks_joined)
#
# $$\text{mask}[b, 0, i, j] = (j \le i) \ \text{and}\ (\text{token}_{b,j} \ne \text{pad})$$
#
# In small numbers: for the row `^ 7 _` the last line is (yes, yes, no). Without padding it would be (yes, yes, yes).
#
# The shape matters more than it seems. It is `(batch, 1, length, length)`: the 1 stands for "every head". With that axis missing,
# the batch would line up with the heads.
#
# <details><summary>Hint 1</summary>
#
# You have two functions that each do one half. Which shapes do they give?
# </details>
# <details><summary>Hint 2</summary>
#
# Boolean tensors are joined by `&`, and they broadcast. Hand on `pad_id`, and put both on the device of the targets.
# </details>
# <details><summary>Hint 3</summary>
#
# `padding_mask(...)` is `(batch, 1, 1, length)`. Joined with `(length, length)` it becomes what you want.
# </details>
#
# Docs: [broadcasting](https://pytorch.org/docs/stable/notes/broadcasting.html) ·
# [torch.logical_and](https://pytorch.org/docs/stable/generated/torch.logical_and.html).

# %% exercise="decoder_mask"

# %% [markdown]
# **What you made.** The mask of two rows, one of them with padding.
#
# And a question to test your understanding. Our padding stands on the right, behind the end mark. **If we use the triangle alone,
# without the padding half, by how much does any output at a *real* token move?**

# %%
guess_padding_half = None  # "a lot", "a little" or "not at all"

two_inputs = shift_right(reversal.tensors(["abc", "f"])[1], START)  # (2, 4)
for picture_of, text in zip(decoder_mask(two_inputs), two_inputs, strict=True):
    labels = list(reversal.ALPHABET.text(text))
    display(plots.heatmap(picture_of[0].long(), labels, labels, title="1 = may look", low=0, high=1))

probe = fresh_model(Seq2SeqTransformer)
with torch.no_grad():
    joined = probe(asked, shown, decoder_mask(shown))
    triangle_alone = probe(asked, shown, causal_mask(shown.shape[1]).to(device))
real = test_letters[1][:50].to(device) != 0
apart = (joined - triangle_alone)[real].abs().max().item()
print(f"your guess: {guess_padding_half}, the largest difference at a real token: {apart:.1e}")

# %% [markdown]
# **What you should see**
#
# - Not at all: the difference is below 0.00001. <!-- claim: padding_is_in_the_future -->
#
# Padding on the right is in the future of every real token, so the triangle hides it already. Why then write both halves? Some
# day a row will be padded on the left. Then the triangle alone lets real tokens look at padding. A mask that says both is right either way.
#
# ### Exercise: `CausalSeq2SeqTransformer` · core · difficulty 2 · 15 minutes
#
# Now the mask moves into the model, where nobody can forget it. Everything else is inherited from lesson 4. One method changes.
#
# ![The target input goes into a framed box, decoder_mask. Its mask is joined by and with a target_mask, if one is handed in, shown by a dashed arrow. The result goes into lesson 4's decode.](picture:mask_inside_decode)
#
# $$\text{mask} = \text{decoder\_mask}(\text{target input}) \ \text{and}\ \text{target\_mask}$$
#
# In small numbers: a caller hands in a mask that hides place 0 from everyone. Then place 2 may look at 1 and 2: where both masks say yes.
#
# The mask must stand in `decode`, not in `forward`. Who writes token by token calls `decode` directly, and must be masked too.
#
# <details><summary>Hint 1</summary>
#
# Which method must you write anew, and which do you get for nothing?
# </details>
# <details><summary>Hint 2</summary>
#
# Make the mask, join the caller's if there is one, and let the parent class do its work with the result.
# </details>
# <details><summary>Hint 3</summary>
#
# `super().decode(target_input, encoder_states, source, ...)`, with your joined mask as the last argument.
# </details>
#
# Docs: [super](https://docs.python.org/3/library/functions.html#super) ·
# [inheritance](https://docs.python.org/3/tutorial/classes.html#inheritance).

# %% exercise="CausalSeq2SeqTransformer"

# %% [markdown]
# **What you made.** A model that can't read ahead. First the detector, then the training, with both scores.
#
# **At 200 steps, which score will be higher: with a teacher, or on its own?** Guess.

# %%
guess_higher = None  # "with a teacher", "on its own" or "the same"

causal = fresh_model(CausalSeq2SeqTransformer)
print("leak before training:", future_leak(causal, asked, shown))
causal_scores = train_and_watch(causal, steps=600)
causal_leak = future_leak(causal, asked, shown)
print("leak after training: ", causal_leak)
gap = max(abs(a - b) for a, b in zip(*causal_scores.values(), strict=True))
print(f"your guess: {guess_higher}; the largest gap between the two scores: {gap:.4f}")
display(
    plots.curves(
        {"masked, with a teacher": causal_scores["with a teacher"], "masked, on its own": causal_scores["on its own"]},
        x=range(0, 601, 50),
        title="Behind the mask the two curves meet",
        y_label="exact match",
        y_limits=(-0.04, 1.06),
    )
)
plots.curves(
    {
        "no mask, with a teacher": open_scores["with a teacher"],
        "no mask, on its own": open_scores["on its own"],
        "masked, on its own": causal_scores["on its own"][:7],
    },
    x=range(0, 301, 50),
    title="The first 300 steps, with and without",
    y_label="exact match",
    y_limits=(-0.04, 1.06),
)

# %% [markdown]
# **What you should see**
#
# - The leak is exactly 0, before training and after. <!-- claim: no_leak_is_left -->
# - The two scores differ by less than 0.005 at every measurement. <!-- claim: the_curves_meet -->
# - After 600 steps more than 97 % of the rows are right, written by the model alone. <!-- claim: it_writes -->
# - It takes longer: after 100 steps the open model has more than 99 % with a teacher, the masked one less than 80 %. <!-- claim: honest_work_takes_longer -->
#
# The curves don't just come close. They are *the same number*, and you can see why. Say the model has all tokens of a row right with a teacher.
# Alone, it says the first one right, so it then reads what the teacher would have shown. So it says the second one right, and so on to the end.
# And if it has a row wrong with a teacher, look at the first wrong token: up to there it has read the same alone, so it errs there too.
#
# | | with a teacher | alone |
# |---|---|---|
# | exact match | the same | the same |
# | token accuracy | a mistake costs one token | a mistake may spoil all that follow |
#
# That holds for a model that can't see ahead, with the most likely token at each place. A teacher-forced score is worth something *because of the mask*.
#
# ### The encoder finds its voice
#
# In lesson 4 it was strangely quiet. It had nothing to add: the answer lay open. **And now?**

# %%
voices = {
    name: (encoder_influence(model, asked, shown), target_influence(encoder_influence, model, asked, shown))
    for name, model in [("no mask", open_model), ("masked", causal)]
}
display(
    plots.bars(
        {f"{name}: the source changes": pair[0] for name, pair in voices.items()}
        | {f"{name}: the target input changes": pair[1] for name, pair in voices.items()},
        title="How far the answers move",
        x_label="largest change of a logit",
    )
)
maps = {
    name: lab.surest_map(model, CrossAttention, letters.test, test_letters, START)
    for name, model in [("no mask", open_model), ("masked", causal)]
}
for name, (share, weights) in maps.items():
    picture = weights[row][:6, :6]
    print(f"{name}: on all rows, {share:.0%} of this head's weight is on the right letter")
    display(
        plots.heatmap(picture, says[:6], list(letters.test[row]), title=f"{name}: where one head looks", low=0, high=1)
    )

# %% [markdown]
# **What you should see**
#
# - With the mask, a change of the source moves the answers more than twice as far as without. <!-- claim: the_encoder_speaks -->
# - In both models one head puts more than 45 % of its weight on the right letter: last letter first, first letter last. <!-- claim: both_look_right -->
#
# The second line is a warning. Both maps show the diagonal, and one of the models is a copyist: it *looks* at the right letter and then says what it read
# one place on. A map shows where a model looks. It does not show what it uses. Nudging does.
#
# ### The plot that grows
#
# Right answers by length. The two lines of lesson 4 were measured beforehand, on two seeds, by `make claims`. Yours comes new.


# %%
def on_its_own(source, target):
    return generate(causal, source, start_id=START, end_id=END, max_length=target.shape[1])


lines = lines_of(measured("04_lengths"))
lines["masked, on its own"] = exact_by_length(on_its_own, exact_match, exclude=letters.train)
plots.by_length(lines, trained=TRAINED, x_label="letters")

# %% [markdown]
# **What you should see**
#
# - On its own, the masked model has at least 90 % right at every length from 4 to 10. <!-- claim: alone_inside_the_range -->
# - From 11 letters on it has fewer than 5 %. <!-- claim: alone_beyond_the_range -->
#
# One gap is closed, and the other is as wide as before. Lesson 6 works on it.

# %% [markdown]
# ## The bug clinic
#
# Four colleagues wrote a mask for the decoder, for a batch of targets. All of them run without an error.
# Read them with your table in mind. **Which of them let the future through?**


# %%
def mask_of_ann(targets):
    length = targets.shape[1]
    return torch.ones(length, length, device=targets.device).triu().bool()


def mask_of_bob(targets):
    length = targets.shape[1]
    return torch.ones(length, length, device=targets.device).tril(diagonal=1).bool()


def mask_of_cleo(targets):
    places = torch.arange(targets.shape[1], device=targets.device)
    return places[:, None] > places


def mask_of_dan(targets):
    places = torch.arange(targets.shape[1], device=targets.device)
    return (places <= places[:, None]) | (targets == END)[:, None, None, :]


# %%
guess_leaky = None  # a list of names, such as ["Ann", "Dan"]

masks = {"Ann": mask_of_ann, "Bob": mask_of_bob, "Cleo": mask_of_cleo, "Dan": mask_of_dan, "yours": decoder_mask}
patient = fresh_model(Seq2SeqTransformer)
verdicts = {}
for name, mask in masks.items():
    verdicts[name] = future_leak(lambda source, shown, mask=mask: patient(source, shown, mask(shown)), asked, shown)
leaky = [name for name, leak in verdicts.items() if leak > 0]
print("your guess:", guess_leaky, " they leak:", leaky)
pd.DataFrame(
    {
        "leak": verdicts,
        "lets the future through?": {name: "yes" if leak > 0 else "no" for name, leak in verdicts.items()},
    }
).round(3)

# %% [markdown]
# **What you should see**
#
# - Ann's, Bob's and Dan's masks leak; Cleo's and yours don't. <!-- claim: three_masks_leak -->
#
# Ann kept the wrong side. Bob's diagonal is one too far, and lets exactly the answer through. Dan meant well: "everyone may see where the end is". But
# the end mark stands in the future, and says how long the answer will be.
#
# Cleo's mask does not leak, and is wrong all the same: it hides each token from itself, and the first row is empty. Such a model never reads the newest
# token it wrote. No leak does not mean that all is well. A test finds what it tests.

# %% [markdown]
# ## Part 3 · Which digit first?
#
# With the mask in place a model writes one token after the other, and each may build on those before. So now it matters *in which order* an answer is
# written. Without the mask the question meant nothing.
#
# ### Carries
#
# ![23456 plus 16547 is 40003. The last column makes a carry, 6 + 7 = 13. Each of the next three columns sums to 9 and passes it on. Four places further left it is felt: 2 + 1 and the carry make 4.](picture:carry_from_afar)
#
# A column that sums to 9 passes a carry on. In random sums that is rare: one column in ten, and it also needs a carry coming in.
# So a shortcut will do nearly as well: let each column carry into the next, and never pass a carry on.
#
# So we make two test sets of 500 sums. Both numbers have all their five digits. One set is random. In the other each sum has a carry that travels
# through three columns or more. We train on 8,000 other sums, of numbers with one to five digits, all written with five: `00027+00015`.

# %%
digit_pairs = lab.digit_order_pairs(seed=0)
print("long carries:", ", ".join(f"{a}+{b}={a + b}" for a, b in digit_pairs["long carries"][:4]))
shortcut = {
    name: addition.baseline_exact(digit_pairs[name])["carry from the neighbour only"]
    for name in ("random sums", "long carries")
}
plots.bars(shortcut, title="A shortcut that never passes a carry on", x_label="exact match")

# %% [markdown]
# **What you should see**
#
# - The shortcut gets 72 to 88 % of the random sums right, and not one of the long carries. <!-- claim: the_shortcut_is_exposed -->
#
# So random sums can hide that carries were never learnt. Keep both tests.
#
# ### Last digit first, or first digit first?
#
# ![The answer 40003 written in two orders. Last digit first, 3 0 0 0 4 end: its first token needs the last column alone. First digit first, 4 0 0 0 3 end: its first token needs all columns, and every carry.](picture:two_orders_of_digits)
#
# You add on paper from the right. Written in that order, each digit needs one column and one carry. Written as we read it, the very first digit needs all of them.
# **After 1,000 steps, which share of the *long carries* is right in each order?** We ask with a teacher. Behind the mask that is the same number
# as alone, and one pass through the model is enough where writing takes one for each token.

# %%
guess_last_first = None  # a share
guess_first_first = None  # a share

orders = {
    "last digit first": addition.Writing(least_first=True, width=lab.DIGITS),
    "first digit first": addition.Writing(least_first=False, width=lab.DIGITS),
}
by_order = lab.by_digit_order(CausalSeq2SeqTransformer, orders, steps=1000, device=device)
last_first, first_first = (shares["long carries"][-1] for shares in by_order.values())
print(f"your guesses: {guess_last_first} and {guess_first_first}; it is {last_first:.2f} and {first_first:.2f}")
plots.curves(
    {f"{order}, {test}": shares for order, tests in by_order.items() for test, shares in tests.items()},
    x=range(0, 1001, 100),
    title="Two orders, two tests",
    y_label="exact match",
    y_limits=(-0.04, 1.06),
    levels={"shortcut": shortcut["random sums"]},
)

# %% [markdown]
# **What you should see**
#
# - Last digit first, more than 95 % are right after 1,000 steps, of the random sums and of the long carries alike. <!-- claim: last_digit_first_learns -->
# - First digit first, more than 75 % of the random sums are right, and fewer than 45 % of the long carries. <!-- claim: first_digit_first_does_not -->
#
# The same model, the same sums, the same number of steps. Only the order of writing differs. And note where the random sums end, first digit first:
# near the shortcut's line. With that test alone you would say "it can nearly add".
#
# ### With more time
#
# Perhaps first digit first only needs more time. We gave both orders 2,000 steps: six runs, measured beforehand on three seeds by `make claims`.
# **Will the long carries be learnt, first digit first?**

# %%
guess_more_time = None  # "yes" or "no"

table = measured("05_digit_order")
last_step = table[table["step"] == table["step"].max()]
more_time = "yes" if (last_step[last_step["order"] == "first digit first"]["long_carries"] > 0.9).all() else "no"
print("your guess:", guess_more_time, " it is:", more_time)
display(last_step.pivot_table(index="order", columns="seed", values=["random_sums", "long_carries"]).round(2))
chosen = table[table["order"] == "first digit first"]
plots.curves(
    {
        f"{name}, seed {seed}": chosen[chosen["seed"] == seed][column]
        for seed in sorted(chosen["seed"].unique())
        for name, column in [("random sums", "random_sums"), ("long carries", "long_carries")]
    },
    x=sorted(chosen["step"].unique()),
    title="First digit first, with more time",
    y_label="exact match",
    y_limits=(-0.04, 1.06),
    levels={"shortcut on random sums": shortcut["random sums"]},
)

# %% [markdown]
# **What you should see**
#
# - Last digit first, every run ends above 97 % on both tests. <!-- claim: table_last_digit_first -->
# - First digit first, every run ends above 85 % on random sums, and below 60 % on long carries. <!-- claim: table_first_digit_first -->
#
# So no: with more time the random sums climb, and the carries are not learnt.
#
# **Which cells can you trust?** The rows for last digit first are the same on every seed. So is the gap between the two tests, first digit first. The exact height
# of the long carries is not: it differs from seed to seed, and jumps while a run goes on. There is a reason to look for. Where the carry can't be
# known, a model can still bet: "always" or "never". All our long carries do arrive, so "always" looks good on them. When that line jumps up, look at the random sums.

# %% [markdown]
# ## Explain it
#
# A friend trained a translation model. "0.3 perplexity points better than the paper, after one night! But when it writes, it repeats one word."
# The code of the decoder says `mask = torch.ones(n, n).tril(diagonal=1)`.
#
# Answer in four or five sentences, in your own words. What does the model do, why is the perplexity so good, why can't it write, and
# which test, of how many seconds, would have saved the night?

# %% [markdown] explain=true
# The mask is shifted by one, so each place may look at the place right of it. In the shifted target input that is exactly the token to be said,
# so the model learns to copy it instead of translating. Perplexity is measured with a teacher, where this token lies open, and so it looks
# better than honest work. When the model writes, the token to the right is not there yet, and it has learnt nothing else, so it repeats itself. A leak test
# would have shown it in a second, before any training: change a later target token and see whether an earlier output moves.

# %% [markdown]
# ## How good were your guesses?
#
# Here are your predictions beside what happened. A wrong guess is worth more than none: it shows where to look.

# %%
board = [
    ("why it could not write", guess_cause, 3),
    ("rows right, asked something else", guess_swapped, round(swapped, 2)),
    ("rows right, masked after training", guess_masked, round(masked_late, 2)),
    ("what the padding half of the mask changes", guess_padding_half, "not at all" if apart < 1e-5 else "a little"),
    ("higher score behind the mask", guess_higher, "the same" if gap < 0.005 else "not the same"),
    ("whose mask leaks", guess_leaky, leaky),
    ("long carries right, last digit first", guess_last_first, round(last_first, 2)),
    ("long carries right, first digit first", guess_first_first, round(first_first, 2)),
    ("long carries learnt with more time", guess_more_time, more_time),
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
# **1.** Why could lesson 4's model be perfect with a teacher and useless alone?
#
# <details><summary>Answer</summary>
#
# The target input is the target, one place later, and nothing hid it. To say token i it copied the token at place i + 1. Alone, that place is still empty.
# </details>
#
# **2.** In a causal mask, which entries are True, and why is the diagonal among them?
#
# <details><summary>Answer</summary>
#
# Entry [i, j] with j ≤ i. The token at place i is the one *before* the token to be said, since the input is shifted; and the first place would
# otherwise have nothing to look at.
# </details>
#
# **3.** Why is exact match the same with a teacher and alone, behind a causal mask?
#
# <details><summary>Answer</summary>
#
# As long as all tokens are right, the model alone reads what the teacher would have shown, so it says the same. A row is wrong in both cases from the same
# first mistake on.
# </details>
#
# ## Things to try
#
# - Give the open model Cleo's mask while it trains. Does it learn? How well does it write?
# - Train with Bob's mask, for 300 steps. Which score do you expect, with a teacher and alone?
# - Train the open model with a mask that hides the future only in every second batch. What does it learn?
# - Compare *token* accuracy with a teacher and alone after 100 steps. Which is higher, and by how much?
# - Write the two *numbers* last digit first, with `operands_least_first=True`. Before you run it: can their order matter here, where each place has
#   a learned vector of its own and the width is fixed? And if two runs differ, what else could it be?
# - Draw the long carries with `shortest=4`. Does last digit first still get them?
#
# ## Glossary
#
# | word | meaning |
# |---|---|
# | carry | the 1 that a column sends to the next one |
# | causal | depending on nothing that comes later |
# | causal mask | True on and below the diagonal: each place sees itself and what came before |
# | leak | a way in which a model reads what it will not have when it is used |
# | least significant digit | the last one: the ones |
# | mask | a grid of yes and no: who may look at whom |
# | nudge | change one input, and nothing else, to see what moves |
# | shortcut | a rule that is right on the test data for the wrong reason |
#
# ## Papers
#
# - Vaswani and others, [Attention Is All You Need](https://arxiv.org/abs/1706.03762), NeurIPS 2017: section 3.1 says why the decoder is masked, section 3.2.3 how.
# - Lee and others, [Teaching Arithmetic to Small Transformers](https://arxiv.org/abs/2307.03381), ICLR 2024: section 3, answers written in reverse.
# - Nogueira, Jiang, Lin, [Investigating the Limitations of Transformers with Simple Arithmetic Tasks](https://arxiv.org/abs/2102.13019), 2021: how numbers are written decides what is learnt.
# - Bengio, Vinyals, Jaitly, Shazeer, [Scheduled Sampling](https://arxiv.org/abs/1506.03099), NeurIPS 2015: section 2, on reading the truth in training and one's own words later.
# - Geirhos and others, [Shortcut Learning in Deep Neural Networks](https://arxiv.org/abs/2004.07780), *Nature Machine Intelligence* 2, 2020: right answers for the wrong reason.
# - Jain, Wallace, [Attention is not Explanation](https://arxiv.org/abs/1902.10186), NAACL 2019: where a model looks, and what it uses.
#
# In lesson 6 we ask what a position is, and whether a model can go beyond the lengths it knows.
