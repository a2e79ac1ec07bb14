# ---
# title: Hide the future
# topic: causal masks
# group: Attention and the model
# picture: Your mask
# sittings: [110]
# builds_on: [03_classification_transformer, 04_seq2seq_cross_attention]
# gives:
#   - find out, before any training, what a model's outputs depend on
#   - write masks for a decoder, and read them as matrices
#   - build a model that writes as well as it predicts, and prove why the two scores must agree
#   - choose the order in which an answer is written, and test it where it is hard
# ---

# %% [markdown]
# TITLE
#
# In lesson 4 your model got every answer right. Then you let it write on its own, and out came nonsense.
# Before you read on: **what went wrong?**
#
# 1. It never learnt the task.
# 2. It learnt it, and then forgot.
# 3. It found a way to read the answer.
#
# Here is a clue. We nudge a single target token, the fourth, and watch which outputs move.
#
# ![A grid of seven outputs against seven target tokens. Token 4 is nudged, and its whole column is marked: all seven outputs move. Outputs 1 to 3 come before the nudged token. Outputs 4 to 7 may know about it.](picture:nudged_token)
#
# Look at outputs 1, 2 and 3. They moved too. But they come *before* token 4, so how can they know about it?
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
# **1.** A mask of shape `(batch, 1, 1, length)` is False at key 5. The scores have the shape `(batch, heads, length, length)`. Which queries can't see key 5?
#
# <details><summary>Answer</summary>
#
# No query in any head can see it: both axes of size 1 are broadcast. That is what you want for padding.
# See `padding_mask` in [lesson 3](../03_classification_transformer/03_classification_transformer.ipynb).
# </details>
#
# **2.** The target is `2 4 .`. What does `shift_right` give the decoder to read, and what should the decoder say at position 1?
#
# <details><summary>Answer</summary>
#
# It reads `^ 2 4`. Positions count from 0, so at position 1 it reads the 2 and should say 4.
# See `shift_right` in [lesson 4](../04_seq2seq_cross_attention/04_seq2seq_cross_attention.ipynb).
# </details>
#
# **3.** What did `encoder_influence` measure, and how?
#
# <details><summary>Answer</summary>
#
# How far the outputs move when the source changes and nothing else does. It changes one position after another and
# keeps the largest movement.
# See the bug clinic in [lesson 4](../04_seq2seq_cross_attention/04_seq2seq_cross_attention.ipynb).
# </details>
#
# Two out of three? Go on. Fewer? Read the linked pages first, then come back.
#
# Run the next cell first: it loads the tools. `plots` draws. `lab` runs the longer experiments; its code is in `transformer_course/lessons/lesson_05/experiments.py`.

# %% setup=true
import math
from collections.abc import Callable

import numpy as np
import pandas as pd
import torch
import torch.nn.functional as F
from IPython.display import display
from torch import nn

from transformer_course import guesses, plots
from transformer_course.attention import padding_mask
from transformer_course.lessons.tables import measured
from transformer_course.lessons.lesson_05 import experiments as lab
from transformer_course.lessons.lesson_04.experiments import answers_table
from transformer_course.lengths import TRAINED, exact_by_length, lines_of
from transformer_course.seq2seq import Seq2SeqTransformer
from transformer_course.seq2seq_fitting import generate, predict
from transformer_course.sequences import exact_match, shift_right
from transformer_course.tasks import addition, reversal

torch.set_num_threads(1)  # one thread: on a machine that others use too, two can be ten times slower

# %% [markdown]
# ## Part 1 · What went wrong?
#
# ### Back at the cliff
#
# Here are the letters of lesson 4 again: rows of 1 to 10 letters, to be written backwards. We train the same model, and this time
# we measure two scores while it learns: exact match with a teacher, and exact match when it writes on its own.
# (These models are so small that the CPU is all they need.)
#
# First type your answer to the question above.

# %%
guess_cause = None  # 1, 2 or 3

letters = reversal.reversal_task(seed=0)
train_letters = reversal.tensors(letters.train, 10, 11)  # (4000, 10) and (4000, 11)
test_letters = reversal.tensors(letters.test, 10, 11)  # (500, 10) and (500, 11)
START, END = reversal.START_ID, reversal.END_ID

open_model = lab.fresh_model(Seq2SeqTransformer)
open_record = lab.watched(open_model, train_letters, test_letters, steps=300)
display(open_record.curves("Lesson 4's model while it learns"))
open_record.samples(letters.test[:5], at=[50, 300])

# %% [markdown]
# <details><summary>Answer</summary>
#
# **What you should see**
#
# - With a teacher, exact match climbs above 0.99. On its own, it never gets past 0.02. <!-- claim: the_curves_part -->
#
# The lower line never rose, so the model didn't learn to write and then forget. Whatever it did learn, it can't use without a teacher.
#
# </details>
#
# ### A wrong question, a right answer
#
# Now a trick question. We show the model the source of *another* row, along with the correct target input of *this* row.
# A model that reads its source has to go wrong. **What share of the rows will still be right?**

# %%
guess_swapped = None  # a share

others = torch.randperm(len(letters.test), generator=torch.Generator().manual_seed(0))
asked_else, wanted = test_letters[0][others], test_letters[1]
said = predict(open_model, asked_else, wanted, start_id=START).argmax(-1)
swapped = exact_match(said, wanted).item()
print(f"your guess: {guess_swapped}, it is: {swapped:.2f}")
answers_table(reversal.ALPHABET, asked_else, wanted, said).head(5)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - About nine rows in ten or more are still right, although the model was asked something else (87 to 98%, depending on the seed). <!-- claim: asked_something_else -->
#
# It gives the right answer to a question that nobody asked. So it can't get the answer from the source. The only other thing
# it reads is the target input.
#
# </details>
#
# ### The nudge
#
# Let's repeat the nudge from the top of the page with the trained model, on one row of six letters. We replace each target token with every
# other symbol in turn, and note how far each output moves. Rows are outputs; columns are the tokens that change.

# %%
one_row = lab.one_row(letters.test, test_letters, length=6)
highest = reversal.ALPHABET.size - 1
open_nudges = lab.nudges(open_model, one_row.source, one_row.target_input, highest)  # (7, 7)
display(one_row.grid(open_nudges, "How far each output moves (framed: its answer)"))

open_slopes = lab.slopes(open_model, one_row.source, one_row.target_input, open_model.embedding)
slopes = open_slopes[:6].round(decimals=3)
one_row.grid(slopes, "The same question, put to the gradient", columns="target token")

# %% [markdown]
# **What you should see**
#
# - At more than 95% of the positions (leaving out the last), the token that moves the output most is the one to its right: the very token it should say. <!-- claim: it_reads_the_answer -->
#
# The gradient looks at tiny changes instead of whole swaps. It shows the hole too, less sharply: the cell to the left of a framed one is lit as well. In an honest model,
# no cell to the right of the diagonal would be lit in either map.
#
# There it is. The answer was 3.
#
# ![Two rows of tokens. To be read: start, 2, 4. To be said: 2, 4, end. A solid arrow leads from each token that is read to the one to be said above it. Dashed arrows lead from each read token to the output on its left: a look at the answer, one position on. In training, the whole row is on the table.](picture:all_on_the_table)
#
# The target input is the target moved one position to the right. To say token i, the model only has to look at position i + 1, and there it is. Attention
# can look anywhere, and nothing stopped it. Copying is easier than reversing, we think, and that's why the model learnt to copy.
#
# All three riddles of lesson 4 fit this. With a teacher the answer lies face up on the table. Even a deaf model can read it there. And when the model writes alone,
# the token to its right doesn't exist yet: it has nothing to copy.

# %% [markdown] exercise="future_leak" kind="core" difficulty=3 minutes=20
# Before we fix the model, write the test that catches it. A later token changes. Does any *earlier* output move?
#
# ![A table of four outputs against four nudged tokens. The six cells to the right of the diagonal are framed: 9, 0, 0, 8, 0, 7. There a later token moves an earlier output. The leak is the largest of them, 9.](picture:cells_of_a_leak)
#
# $$\text{leak} = \max_{j}\ \max_{i < j}\ \big|\ \text{logits}_i(\text{token } j \text{ changed}) - \text{logits}_i\ \big|$$
#
# For example: the framed cells are 9, 0, 0, 8, 0 and 7, so the leak is 9. The 4 in the corner doesn't count: token 3 may move output 3.
#
# Watch the boundary. Token j is what output j *reads*, so output j may know it. Only the outputs before it may not.
#
# <details><summary>Hint 1</summary>
#
# Which logits do you look at after you've changed token j? Could changing token 0 ever reveal a leak?
# </details>
# <details><summary>Hint 2</summary>
#
# It is your `encoder_influence`, with a different input and a border. Work on a copy of the target input and change one column at a time.
# Compare only the logits before that column.
# </details>
# <details><summary>Hint 3</summary>
#
# `for place in range(1, target_input.shape[1])`, then `(changed_logits - logits)[:, :place]`. The new id must differ from the old one in every row.
# </details>
#
# Docs: [torch.clone](https://pytorch.org/docs/stable/generated/torch.clone.html) ·
# [torch.no_grad](https://pytorch.org/docs/stable/generated/torch.no_grad.html).

# %% [markdown]
# **What you've built.** A leak detector. It needs no training and no scores, just a model to question. Let's try three models: lesson 4's before
# training, the same one after training, and one whose output depends on nothing but the token it reads.
#
# We want to compare models, so we give the detector probabilities instead of logits. One model's logits may be ten times as large as another's
# and mean the same thing. Probabilities share a scale: none of them can move by more than 1.


# %%
def looks_at_itself_only(source, target_input):
    return F.one_hot(target_input, reversal.VOCAB_SIZE).float()


asked = test_letters[0][:50]
shown = shift_right(test_letters[1][:50], START)


def leak_of(model):
    return float(future_leak(lab.in_probabilities(model), asked, shown))


leaks = {
    "lesson 4's model, untrained": leak_of(lab.fresh_model(Seq2SeqTransformer)),
    "lesson 4's model, trained": leak_of(open_model),
    "looks only at itself": leak_of(looks_at_itself_only),
}
lab.draw_leaks(leaks)

# %% [markdown]
# **What you should see**
#
# - In the untrained model, a later token moves an earlier probability by 0.015 at most. In the trained one it is more than 0.99. <!-- claim: training_widens_the_hole -->
#
# So the hole is there before the first step, and training makes use of it. You don't have to train to find a leak: test your model
# before you spend a night on it.
#
# This happens to the best. From version 5.9 on, four models of the library `transformers` could read ahead. Somebody noticed in
# [September 2026](https://github.com/huggingface/transformers/issues/48745), when one of them was trained on random tokens and its loss fell almost to zero:
# random tokens can't be guessed. The [repair](https://github.com/huggingface/transformers/pull/48760) came with a test like yours: change later tokens,
# and nothing earlier may move.
#
# ## Part 2 · The mask
#
# We hide the future with a **mask**: a grid that says who may look at whom.
#
# ![A grid of four rows and four columns, for the tokens start, 2, 4, end. Row start says yes, no, no, no. Row 2: yes, yes, no, no. Row 4: yes, yes, yes, no. Row end: yes four times. Each position sees itself and what came before.](picture:mask_as_a_matrix)
#
# Rows do the looking. Columns get looked at. Take the second row: whoever reads the 2 may look at `^` and at the 2 itself.

# %% [markdown] exercise="causal_mask" kind="core" difficulty=1 minutes=5
# In this course a mask is boolean, and True means "may look". **Causal** means that nothing depends on what comes later.
#
# $$\text{mask}[i, j] = (j \le i)$$
#
# In small numbers, length 3: the rows are (yes, no, no), (yes, yes, no) and (yes, yes, yes).
#
# **Does the diagonal have to be yes?** Think about the first row before you decide.
#
# <details><summary>Answer to this question</summary>
#
# Yes. The token at position i is what output i reads, and thanks to the shift it is the token *before* the one to be said. It's no secret.
# Without the diagonal, the first row would have nothing to look at.
# </details>
#
# <details><summary>Hint 1</summary>
#
# Which side of the diagonal do you keep? And what about the diagonal itself?
# </details>
# <details><summary>Hint 2</summary>
#
# Start from a matrix of ones. PyTorch can keep just its lower triangle.
# </details>
# <details><summary>Hint 3</summary>
#
# The result is boolean, `(length, length)`. Look at `torch.tril`, and at its argument `diagonal` to be sure where the border is.
# </details>
#
# Docs: [torch.tril](https://pytorch.org/docs/stable/generated/torch.tril.html) ·
# [torch.ones](https://pytorch.org/docs/stable/generated/torch.ones.html).

# %% [markdown]
# **What you've built.** A triangle. `Seq2SeqTransformer` takes a target mask as its third argument, so you can use yours right away.
# We put it on the model that we have just *trained without one*. **With a teacher, what share of the rows does it get right now?**

# %%
guess_masked = None  # a share


def with_a_triangle(source, target_input):
    """The trained open model with your mask on top."""
    return open_model(source, target_input, causal_mask(target_input.shape[1]))


masked_late = lab.share_right(with_a_triangle, *test_letters)
print(f"your guess: {guess_masked}, it is: {masked_late:.3f}")
print(f"the leak is now {float(future_leak(with_a_triangle, asked, shown))}")
display(one_row.who_looks(causal_mask(7), "Your mask: 1 = may look"))
late_nudges = lab.nudges(with_a_triangle, one_row.source, one_row.target_input, highest)
one_row.grid(late_nudges, "The same nudges, with your mask")

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - With the mask the leak is exactly 0: every cell to the right of the diagonal is empty. <!-- claim: the_triangle_closes_it -->
# - And the trained model gets fewer than 5% of the rows right: without the answer in sight, it can't use what it knows. <!-- claim: nothing_else_was_learnt -->
#
# A mask can't repair what the model has learnt. It has to learn *with the mask on*.
#
# </details>

# %% [markdown] exercise="decoder_mask" kind="core" difficulty=2 minutes=15
# The rows of a batch differ in length, so there is padding as well. You want one mask for both: no future **and** no padding.
#
# ![Three grids for the row start, 7, padding. No padding: each row says yes, yes, no. No future: yes no no, yes yes no, yes yes yes. Both: yes no no, yes yes no, yes yes no. Below: (batch, 1, 1, length) and (length, length) give (batch, 1, length, length).](picture:two_masks_joined)
#
# $$\text{mask}[b, 0, i, j] = (j \le i) \ \text{and}\ (\text{token}_{b,j} \ne \text{pad})$$
#
# In small numbers: for the row `^ 7 _` the last line is (yes, yes, no). If the third token were real, it would be (yes, yes, yes).
#
# The shape is `(batch, 1, length, length)`, and the 1 means "the same for every head". Without that axis, the batch would be lined up
# with the heads.
#
# <details><summary>Hint 1</summary>
#
# You have two functions that each do half of the job. What shapes do they return?
# </details>
# <details><summary>Hint 2</summary>
#
# `&` combines boolean tensors, and it broadcasts. Pass `pad_id` on. (On a GPU, both masks have to be on the same device as the targets.)
# </details>
# <details><summary>Hint 3</summary>
#
# `padding_mask(...)` is `(batch, 1, 1, length)`. Combined with `(length, length)`, it has the shape you want.
# </details>
#
# Docs: [broadcasting](https://pytorch.org/docs/stable/notes/broadcasting.html) ·
# [torch.logical_and](https://pytorch.org/docs/stable/generated/torch.logical_and.html).

# %% [markdown]
# **What you've built.** One mask for everything. Here it is for two rows, one of them padded.

# %%
two_inputs = shift_right(reversal.tensors(["abc", "f"])[1], START)  # (2, 4)
for mask, row in zip(decoder_mask(two_inputs), two_inputs, strict=True):  # mask: (1, 4, 4)
    labels = list(reversal.ALPHABET.text(row))
    display(plots.heatmap(mask[0].long(), labels, labels, title="1 = may look", low=0, high=1))

# %% [markdown]
# And a question: our padding is on the right, after the end mark. **If we use the triangle alone,
# and leave the padding half out, how far do the outputs at the *real* tokens move?**

# %%
guess_padding_half = None  # "a lot", "a little" or "not at all"

probe = lab.fresh_model(Seq2SeqTransformer)
with torch.no_grad():
    joined = probe(asked, shown, decoder_mask(shown))
    triangle_alone = probe(asked, shown, causal_mask(shown.shape[1]))
real = test_letters[1][:50] != 0
apart = (joined - triangle_alone)[real].abs().max().item()
print(f"your guess: {guess_padding_half}; the largest difference: {apart:.1e}")

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - Not at all: the difference is smaller than 0.00001. <!-- claim: padding_is_in_the_future -->
#
# Padding on the right lies in the future of every real token, so the triangle hides it already. Why write both halves, then? One
# day your rows will be padded on the left, and then a triangle alone lets real tokens look at padding. With both halves the mask hides it there too. (But then the first rows, those of the
# padding, have nothing left to look at. Your `masked_softmax` copes with such a row; many others return NaN.)
#
# </details>

# %% [markdown] exercise="CausalSeq2SeqTransformer" kind="core" difficulty=2 minutes=15
# Now the mask moves into the model, where nobody can forget it. The model inherits everything from lesson 4, and you change a single method.
#
# ![The target input goes into a framed box, decoder_mask. An "and" combines that mask with target_mask, if one is passed in, shown by a dashed arrow. The result goes into lesson 4's decode.](picture:mask_inside_decode)
#
# $$\text{mask} = \text{decoder\_mask}(\text{target input}) \ \text{and}\ \text{target\_mask}$$
#
# In small numbers: a caller passes in a mask that hides position 0 from everyone. Then position 2 may look at 1 and 2, where both masks say yes.
#
# The mask belongs in `decode`, not in `forward`. Code that writes token by token calls `decode` directly, and it has to be masked too.
#
# <details><summary>Hint 1</summary>
#
# Which method do you have to write, and which ones do you inherit?
# </details>
# <details><summary>Hint 2</summary>
#
# Make the mask, combine it with the caller's if there is one, and pass the result to the parent class.
# </details>
# <details><summary>Hint 3</summary>
#
# `return super().decode(target_input, encoder_states, source, ...)`, with the combined mask as the last argument.
# </details>
#
# Docs: [super](https://docs.python.org/3/library/functions.html#super) ·
# [inheritance](https://docs.python.org/3/tutorial/classes.html#inheritance).

# %% [markdown]
# **What you've built.** A model that can't read ahead. First we run the detector, then we train, and measure both scores again.
#
# **After 200 steps, which score will be higher: with a teacher, or on its own?**

# %%
guess_higher = None  # "with a teacher", "on its own" or "the same"

causal = lab.fresh_model(CausalSeq2SeqTransformer)
leak_before = float(future_leak(causal, asked, shown))
causal_record = lab.watched(causal, train_letters, test_letters, steps=600)
print("leak before training:", leak_before)
print("leak after training: ", float(future_leak(causal, asked, shown)))
gap = causal_record.largest_gap
print(f"your guess: {guess_higher}; the largest gap between the two scores: {gap:.4f}")
display(open_record.curves("No mask: worlds apart"), causal_record.curves("Masked: they meet"))
print("Written on its own, with the mask on:")
causal_record.samples(letters.test[:5], at=[50, 100, 200, 600])

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - The leak is exactly 0, before training and after. <!-- claim: no_leak_is_left -->
# - The two scores differ by less than 0.005 at every measurement. <!-- claim: the_curves_meet -->
# - After 600 steps, more than 97% of the rows that the model writes on its own are right. <!-- claim: it_writes -->
# - Honest work takes longer: after 100 steps the open model is above 99% with a teacher, the masked one below 80%. <!-- claim: honest_work_takes_longer -->
#
# The two curves don't just come close. They are *the same number*, and you can prove it. Suppose the model gets a whole row right with a teacher.
# On its own it says the first token right, so what it reads next is just what the teacher would have shown it. So it gets the second token right too, and so on to the end.
# Now suppose it gets a row wrong with a teacher. Look at the first wrong token: up to there it reads the same on its own, so it makes the same mistake there.
#
# (The proof holds for a model that can't see ahead, and that always says its most likely token. A tiny gap can come from rounding, where two tokens are almost equally likely.)
#
# So it's *because of the mask* that a score with a teacher means anything.
#
# </details>
#
# ### What the teacher hides
#
# The proof is about whole rows. It says nothing about what happens *after* the first mistake. With a teacher, the model reads the right token all the same and starts afresh.
# On its own, it has to go on from its own mistake. **Early in training, which will be higher: the share of right *tokens* with a teacher, or on its own?**

# %%
guess_tokens = None  # "with a teacher", "on its own" or "the same"

early = causal_record.at(100, "tokens")
higher = max(early, key=early.get)
print(f"your guess: {guess_tokens}, it is: {higher}")
display(causal_record.curves("The share of right tokens, with the mask on", "tokens"))
plots.bars(
    causal_record.at(100, "after a mistake"),
    title="After 100 steps: tokens after a row's first mistake",
    x_label="share that is right",
)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - Look at the tokens after a row's first mistake, after 100 steps of training: with a teacher more than 90% of them are right, on its own 38 to 59%, depending on the seed. <!-- claim: tokens_after_a_mistake -->
#
# | | with a teacher | on its own |
# |---|---|---|
# | rows right (exact match) | the same | the same |
# | tokens right | a mistake costs one token | a mistake may cost later tokens too |
#
# In training the model only ever reads correct prefixes. When it writes, it reads its own, mistakes included, and it
# has never practised that. The field calls this mismatch
# **exposure bias**: the name is from Ranzato and others (2016, section 1), and Bengio and others (2015, section 2) had described the problem the year before.
# The mask doesn't remove it. It only makes sure that the teacher-forced score isn't read off the answer.
# </details>
#
# ### The encoder finds its voice
#
# In lesson 4 the encoder was strangely quiet: the answer lay on the table, and there was nothing for it to add. **And now?** We show each model the source of another row, as in the trick question, and measure
# how much of the probability moves to other tokens.

# %%
voices = {
    name: lab.moved_by_another_source(model, *test_letters)
    for name, model in [("no mask", open_model), ("masked", causal)]
}
plots.bars(
    voices,
    title="The source of another row: how far the predictions move",
    x_label="share of the probability that moves, mean over all tokens",
)

# %% [markdown]
# **What you should see**
#
# - Without the mask, another row's source moves less than 5% of the probability. With the mask on, it moves more than half. <!-- claim: the_encoder_speaks -->
#
# Now look at where the two decoders look. For each model we draw the cross-attention head that puts most of its weight on the letter to be said.

# %%
for name, model in {"no mask": open_model, "masked": causal}.items():
    surest = lab.surest_map(model, letters.test, test_letters, START)
    if surest is None:
        print(f"{name}: no layer returns attention weights, so there is no map to draw")
        continue
    share, weights = surest  # weights: (n, target_length, source_length)
    print(f"{name}: {share:.0%} of this head's weight is on the right letters")
    display(one_row.looks(weights, f"{name}: where one head looks"))

# %% [markdown]
# **What you should see**
#
# - In both models there is a head with more than 45% of its weight on the right letter: the last letter first, the first letter last. The model without a mask has the tidier map. <!-- claim: both_look_right -->
#
# That is a warning. Both heads mostly look at the right letters, and the model with the tidier map is copying: it *looks* at the right letter, and then says what it read
# one position further on. A map shows where a model looks. It doesn't show what the model uses, and nudging does. (Jain and Wallace, 2019, make this case at length.)
#
# ### The plot that grows
#
# Right answers by length. The two lines of lesson 4 were measured in advance, on two seeds, by `make claims`. Yours is new.


# %%
def on_its_own(source, target):
    longest = target.shape[1]
    return generate(causal, source, start_id=START, end_id=END, max_length=longest)


lines = lines_of(measured("04_lengths"))
yours = exact_by_length(on_its_own, exact_match, exclude=letters.train)
lines["masked, on its own"] = yours
plots.by_length(lines, trained=TRAINED, x_label="letters")

# %% [markdown]
# **What you should see**
#
# - On its own, the masked model gets at least 90% right at every length from 4 to 10. <!-- claim: alone_inside_the_range -->
# - From 11 letters on, it gets fewer than 5% right. <!-- claim: alone_beyond_the_range -->
#
# One gap is closed. The other is as wide as ever, and lesson 6 works on it.

# %% [markdown]
# ## The bug clinic
#
# Four colleagues each wrote a mask for the decoder. All four run without an error.
# Read them with the yes/no table in mind. **Which of them let the future through?**


# %%
def mask_of_ann(targets):
    length = targets.shape[1]
    return torch.ones(length, length).triu().bool()


def mask_of_bob(targets):
    length = targets.shape[1]
    return torch.ones(length, length).tril(diagonal=1).bool()


def mask_of_cleo(targets):
    places = torch.arange(targets.shape[1])
    return places[:, None] > places


def mask_of_dan(targets):
    places = torch.arange(targets.shape[1])
    return (places <= places[:, None]) | (targets == END)[:, None, None, :]


# %%
guess_leaky = None  # a list of names, such as ["Ann", "Dan"]

masks = {"Ann": mask_of_ann, "Bob": mask_of_bob, "Cleo": mask_of_cleo, "Dan": mask_of_dan}
masks["you"] = decoder_mask
patient = lab.fresh_model(Seq2SeqTransformer)


def masked_by(mask):
    """The patient, with this mask laid over it."""
    return lambda source, target_input: patient(source, target_input, mask(target_input))


leaks = {name: float(future_leak(masked_by(mask), asked, shown)) for name, mask in masks.items()}
leaky = [name for name, leak in leaks.items() if leak > 0]
print("your guess:", guess_leaky, " they leak:", leaky)
lab.leak_table(leaks)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - Ann's, Bob's and Dan's masks leak; Cleo's and yours don't. <!-- claim: three_masks_leak -->
#
# Ann kept the wrong side. Bob's diagonal is one too far, which lets exactly the answer through. Dan meant well: "everyone may see where the end is." But
# the end mark is in the future, and it gives away how long the answer will be.
#
# Cleo's mask doesn't leak, and it isn't right either.
#
# </details>
#
# Look at Cleo's mask again: it hides each token from itself. **So when we change the token at position i, will output i move?**

# %%
guess_cleo = None  # "yes" or "no"

cleo_mask = masked_by(mask_of_cleo)
cleo_nudges = lab.nudges(cleo_mask, one_row.source, one_row.target_input, highest)
moves_itself = "yes" if bool((cleo_nudges.diagonal() > 0).all()) else "no"
print("your guess:", guess_cleo, " it is:", moves_itself)
plots.heatmap(cleo_nudges, one_row.says, one_row.reads, title="Cleo's mask", columns="nudged token")

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - It does move, at every position, and nothing to the right of the diagonal does. <!-- claim: the_residual_stream_carries_it -->
#
# The mask only affects attention. Around each attention layer runs the **residual stream**: the block computes `x +
# attention(...)`, and the token's own vector is in that `x`. No mask can hide a token from its own position. That is
# also why a leak has to be looked for at the model's outputs: a mask that is right can still sit in a model that is wrong.
#
# Does Cleo's mask do any harm, then? You can find out under "Things to try".
#
# </details>

# %% [markdown]
# ## Part 3 · Which digit first?
#
# You have what lesson 6 needs. This part is for the curious: it has no exercise, and asks what the mask makes of a sum.
#
# With the mask on, a model writes one token after another, and each can build on those before it. So the *order* in which an answer is
# written matters now. Without the mask there was no order: everything lay on the table at once.
#
# ### Carries
#
# ![23456 plus 16547 is 40003. The last column makes a carry, 6 + 7 = 13. Each of the next three columns sums to 9 and passes it on. Four positions further left it arrives: 2 + 1 and the carry make 4.](picture:carry_from_afar)
#
# A column that sums to 9 passes a carry on. In any one column of a random sum that is rare: only one column in ten sums to
# 9, and a carry must come in as well. So there is a shortcut that does nearly as well as adding: let each column carry into the next
# one, and never pass a carry on.
#
# That's why we make two test sets, of 500 sums each. All numbers have five digits. One set is random. In the other, every sum has a carry that travels
# through at least three columns. We train on 8,000 other sums of numbers with one to five digits, all of them written with five: `00027+00015`.

# %%
digit_pairs = lab.digit_order_pairs(seed=0)
some = [f"{a}+{b}={a + b}" for a, b in digit_pairs["long carries"][:4]]
print("long carries:", ", ".join(some))
shortcut = {
    name: addition.baseline_exact(digit_pairs[name])["carry from the neighbour only"]
    for name in ("random sums", "long carries")
}
plots.bars(shortcut, title="A shortcut: never pass a carry on", x_label="exact match")

# %% [markdown]
# **What you should see**
#
# - The shortcut gets about four out of five random sums right (76 to 86% in twelve draws), and not one of the long carries. <!-- claim: the_shortcut_is_exposed -->
#
# So a test with random sums can't tell whether carries were learnt. Keep both tests.
#
# ### Last digit first, or first digit first?
#
# ![The answer 40003 written in two orders. Last digit first, 3 0 0 0 4 end: its first token needs only the last column. First digit first, 4 0 0 0 3 end: its first token needs all columns, and every carry.](picture:two_orders_of_digits)
#
# On paper you add from the right. In that order, each digit needs one column and one carry. In the order in which we read, the very first digit needs every column.
# **After 1,000 steps, what share of the *long carries* is right in each order?** (We measure with a teacher. With the mask on, that is the same number
# as on its own, and it takes one pass instead of one per token. The cell takes about a minute.)

# %%
guess_last_first = None  # a share
guess_first_first = None  # a share

orders = {
    "last digit first": addition.Writing(least_first=True, width=lab.DIGITS),
    "first digit first": addition.Writing(least_first=False, width=lab.DIGITS),
}
by_order = lab.by_digit_order(CausalSeq2SeqTransformer, orders, steps=1000)
last_first, first_first = (shares["long carries"][-1] for shares in by_order.values())
print(f"your guesses: {guess_last_first} and {guess_first_first}")
print(f"it is {last_first:.2f} and {first_first:.2f}")
lab.draw_orders(by_order, shortcut=shortcut["random sums"])

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - Last digit first: after 1,000 steps more than 95% are right, of the random sums and of the long carries alike. <!-- claim: last_digit_first_learns -->
# - First digit first: more than 75% of the random sums are right, and fewer than 45% of the long carries. <!-- claim: first_digit_first_does_not -->
#
# The same model, the same sums, the same number of steps. Only the order of writing differs. And look at how well the random sums do, first digit first.
# With that test alone you would say "it can nearly add".
#
# </details>
#
# ### With more time
#
# Maybe first digit first just needs more time. We gave both orders 2,000 steps: six runs, measured in advance on three seeds by `make claims`.
# **Will the long carries be learnt now, first digit first?**

# %%
guess_more_time = None  # "yes" or "no"

table = measured("05_digit_order")
last_step = table[table["step"] == table["step"].max()]
first_rows = last_step[last_step["order"] == "first digit first"]
more_time = "yes" if (first_rows["long_carries"] > 0.9).all() else "no"
print("your guess:", guess_more_time, " it is:", more_time)
both_tests = ["random_sums", "long_carries"]
last_step.pivot_table(index="order", columns="seed", values=both_tests).round(2)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - Last digit first, every run ends above 97% on both tests. <!-- claim: table_last_digit_first -->
# - First digit first, the three runs end above 90% on random sums, and with a quarter to a half of the long carries. <!-- claim: table_first_digit_first -->
#
# No. With more time the random sums climb, and the carries are still not learnt.
#
# </details>
#
# ### With more sums
#
# Here is an objection you should raise: 8,000 sums, 2,000 steps of 64. Each sum is seen sixteen times. Perhaps the model memorised its sums, and never had to learn a rule.
# So here is the control. We draw **150,000 sums** instead of 8,000, and change nothing else. In 2,000 steps, no sum is seen twice: there is nothing to be gained from memorising.
# **First digit first, what will happen to the random sums, and to the long carries?** (Measured in advance, on two seeds, by `make claims`.)

# %%
guess_many_random = None  # a share
guess_many_carries = None  # a share

many = measured("05_many_sums")
many_random, many_carries = many[["random_sums", "long_carries"]].mean()
print(f"your guesses: {guess_many_random} and {guess_many_carries}")
print(f"it is {many_random:.2f} and {many_carries:.2f}")
many.set_index("seed")[["random_sums", "long_carries"]].round(2)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - With 150,000 sums, first digit first, 99% of the random sums are right on both seeds, and 35 to 36% of the long carries. <!-- claim: many_sums_do_not_help -->
#
# So memorising isn't what stops it. A model that has never met a sum twice gets nearly all random sums right, so it has learnt a rule. But the rule isn't addition.
#
# </details>
#
# ### A bet
#
# How can *any* of the long carries be right, if the carry isn't worked out? Perhaps the model bets. Say the middle columns all sum to 9. Either a carry comes in from
# below, and the answer is `40003`, or it doesn't, and the answer is `39996`. A model that can't tell could always bet on one of the two.
#
# If so, there is a way to find out. Each long carry gets a **twin**: the same columns of nines, with the lowest digits changed so that no carry comes in. `23456+16547` becomes `23456+16540`.
# A model that adds gets both right. A model that bets gets one right, and the other wrong. **In what share of the pairs are both right?** (The same two runs, with 150,000 sums.)

# %%
guess_pairs = None  # a share

both_right = many["both_right"].mean()
print(f"your guess: {guess_pairs}, it is: {both_right:.2f}")
many.set_index("seed")[["long_carries", "no_carry", "both_right"]]

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - Both are right in only 13% of the pairs with one seed, and in 6% with the other. <!-- claim: it_bets -->
#
# That is what betting looks like, and it means that the score on the long carries alone is worth little: where all of them have a carry, betting on "carry" looks like skill.
# So when you see that line jump up during training, don't celebrate. Ask for the twins.
#
# Two questions stay open here, and we have tested neither. Would a deeper model learn to work the carries out, first
# digit first? Would a much longer run? We think that depth could help, since each block can pass a carry one step
# further. Lee and others (2024) compare the two orders too: with answers written in reverse,
# their models needed far fewer examples.
# </details>

# %% [markdown]
# ## Explain it
#
# A friend trained a translation model. "The paper reports a perplexity of 4.9. Mine has 1.02 after one night! But when I let it write, it repeats a single word."
# The decoder's code says `mask = torch.ones(n, n).tril(diagonal=1)`.
#
# Answer in four or five sentences, in your own words. What does the model do? Why is the perplexity so good, and why should that have made your friend suspicious? Why can't it write?
# And which test would have saved the night?

# %% [markdown] explain=true
# The mask is shifted by one, so each position may look at the one to its right. In the shifted target input that is exactly the token to be said,
# so the model learns to copy it instead of translating. Perplexity is measured with a teacher, where that token is there to be read, so it falls almost to 1: the model is
# nearly certain of every single token. No honest translator can be that certain, because a sentence has many good translations. When the model writes, the token to the right doesn't exist yet, and it has
# learnt nothing else. A leak test would have shown this in a second, before any training: change a later target token and see whether an earlier output moves.

# %% [markdown]
# ## How good were your guesses?
#
# Here are your guesses next to what happened. A wrong guess is worth more than none: it shows you where to look.

# %%
padding_half = "not at all" if apart < 1e-5 else "a little"
which_is_higher = "the same" if gap < 0.005 else "not the same"
board = [
    ("why it could not write", guess_cause, 3),
    ("rows right, asked something else", guess_swapped, round(swapped, 2)),
    ("rows right, masked after training", guess_masked, round(masked_late, 2)),
    ("what the padding half changes", guess_padding_half, padding_half),
    ("higher score with the mask on", guess_higher, which_is_higher),
    ("more right tokens, after 100 steps", guess_tokens, higher),
    ("whose mask leaks", guess_leaky, leaky),
    ("Cleo's token moves its own output", guess_cleo, moves_itself),
    ("long carries, last digit first", guess_last_first, round(last_first, 2)),
    ("long carries, first digit first", guess_first_first, round(first_first, 2)),
    ("long carries learnt with more time", guess_more_time, more_time),
    ("150,000 sums: random sums", guess_many_random, round(many_random, 2)),
    ("150,000 sums: long carries", guess_many_carries, round(many_carries, 2)),
    ("pairs of twins with both right", guess_pairs, round(both_right, 2)),
]
guesses.board(board)

# %% [markdown]
# ## Recap
#
# Answer from memory, then check.
#
# **1.** Why was lesson 4's model perfect with a teacher and useless on its own?
#
# <details><summary>Answer</summary>
#
# The target input is the target moved one position to the right, and nothing hid it. To say token i, the model copied the token at position i + 1. When it writes, there is nothing at that position yet.
# </details>
#
# **2.** In a causal mask, which entries are True, and why is the diagonal among them?
#
# <details><summary>Answer</summary>
#
# Entry [i, j] with j ≤ i. Because of the shift, the token at position i is the one *before* the token to be said. And without the diagonal, the first position
# would have nothing to look at.
# </details>
#
# **3.** Why is exact match the same with a teacher and on its own, with a causal mask? And why isn't token accuracy?
#
# <details><summary>Answer</summary>
#
# As long as every token has been right, the model reads on its own what the teacher would have shown it, so it says the same. A row is wrong in both cases from the same
# first mistake on. After that mistake the two read different things, and so the later tokens may differ.
# </details>
#
# **4.** What is exposure bias?
#
# <details><summary>Answer</summary>
#
# In training the model reads only correct prefixes. When it writes, it reads its own, mistakes included, which it has never practised.
# </details>
#
# ## Things to try
#
# - Train with Bob's mask for 300 steps. Which scores do you expect, with a teacher and on its own?
# - Train with Cleo's mask for 600 steps. How close does it come to yours?
# - Train the open model with a mask that hides the future only in every second batch. What does it learn?
# - Write the two *numbers* last digit first as well, with `operands_least_first=True`. Before you run it: can their order matter here, where each position has
#   a learnt vector of its own and the width is fixed? And if two runs differ, what else could be the reason?
# - `lab.by_digit_order` takes `num_layers=2`. Does a deeper model still bet, first digit first?
#
# ## Glossary
#
# | word | meaning |
# |---|---|
# | carry | the 1 that a column passes to the next one |
# | causal | depending on nothing that comes later |
# | causal mask | True on and below the diagonal: each position sees itself and what came before |
# | exposure bias | trained on correct prefixes only, a model has never met its own mistakes |
# | leak | a way for a model to read something that it won't have when it is used |
# | least significant digit | the last one: the ones |
# | mask | a grid of yes and no: who may look at whom |
# | nudge | a change to one input and nothing else, to see what moves |
# | residual stream | the vector x that runs through all blocks; each layer adds its result to it |
# | shortcut | a rule that is right on the test data for the wrong reason |
#
# ## Papers
#
# - Vaswani and others, [Attention Is All You Need](https://arxiv.org/abs/1706.03762), NeurIPS 2017: section 3.1 says why the decoder is masked, section 3.2.3 how.
# - Bengio, Vinyals, Jaitly, Shazeer, [Scheduled Sampling](https://arxiv.org/abs/1506.03099), NeurIPS 2015: section 2, on reading the truth in training and your own words later.
# - Ranzato, Chopra, Auli, Zaremba, [Sequence Level Training with Recurrent Neural Networks](https://arxiv.org/abs/1511.06732), ICLR 2016: section 1 names exposure bias.
# - Elhage and others, [A Mathematical Framework for Transformer Circuits](https://transformer-circuits.pub/2021/framework/index.html), 2021: the residual stream.
# - Lee and others, [Teaching Arithmetic to Small Transformers](https://arxiv.org/abs/2307.03381), ICLR 2024: answers written in reverse.
# - Nogueira, Jiang, Lin, [Investigating the Limitations of Transformers with Simple Arithmetic Tasks](https://arxiv.org/abs/2102.13019), 2021: how numbers are written decides what is learnt.
# - Geirhos and others, [Shortcut Learning in Deep Neural Networks](https://arxiv.org/abs/2004.07780), *Nature Machine Intelligence* 2, 2020: right answers for the wrong reason.
# - Jain, Wallace, [Attention is not Explanation](https://arxiv.org/abs/1902.10186), NAACL 2019: where a model looks, and what it uses.
#
# In lesson 6 we ask what a position is, and whether a model can go beyond the lengths it knows.
