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
# # Lesson 7 · One token at a time
#
# COLAB_BADGE
#
# Your model says which token comes next. It never says a whole answer. So how does a text come out of it?
#
# ![Three steps. The model reads the start mark, sees the source abc and says c. In the next step it reads start, c and says b. Then it reads start, c, b and says a. A line leads from what it says to what it reads next.](picture:writes_and_reads)
#
# It writes one token, reads what it wrote, and writes the next. Today you write that loop. Then you change the one place in it where
# something is *chosen*: always the likeliest token, one drawn by lot, several answers side by side. And you make it fast.
#
# **What you will be able to do**
#
# - measure what happens to a model when nobody corrects it
# - let a whole batch write, though its rows end at different times
# - draw tokens with temperature, top-k and top-p, and see what each does to a distribution
# - find likelier answers with beam search, and say when likelier is not better
# - make decoding fast with a cache of keys and values, and prove that nothing else changed
#
# **Time.** Two sittings, about 115 minutes each. The place for the break is marked. What comes after it is marked *stretch*: it builds on
# the first sitting, and no later lesson needs it.
#
# **How to check.** Replace the line `raise NotImplementedError()` by your own code, and run the cell.
# Then run the `check` cell below it. It says what is right and what is not, as often as you ask.
# Where chance is involved, the check draws many thousand times and compares shares. It refuses right code less than once in a million runs.
#
# **How to submit.** Save the notebook and hand it in the way your class does.
# Nobody to hand it in to? The checks are all you need.

# %% [markdown]
# ## A two-minute test
#
# This lesson builds on [lesson 4](../04_seq2seq_cross_attention/04_seq2seq_cross_attention.ipynb),
# [lesson 5](../05_causal_masks/05_causal_masks.ipynb) and [lesson 6](../06_positional_encodings/06_positional_encodings.ipynb).
# Try these three without running anything.
#
# **1.** A causal model gets `target_input` of shape `(8, 5)`. Which of its logits say what comes *next*?
#
# <details><summary>Answer</summary>
#
# Those at the last place, `logits[:, -1]`, of shape `(8, vocab_size)`: they are about the token after the five.
# To read up: `shift_right` in [lesson 4](../04_seq2seq_cross_attention/04_seq2seq_cross_attention.ipynb).
# </details>
#
# **2.** You append a token to `target_input`. Which of the earlier logits change, with a causal mask?
#
# <details><summary>Answer</summary>
#
# None. No earlier position may look at the new one. Remember this when we come to the cache.
# To read up: `future_leak` in [lesson 5](../05_causal_masks/05_causal_masks.ipynb).
# </details>
#
# **3.** What is $\log(0.5 \cdot 0.25)$ in terms of log 0.5 and log 0.25?
#
# <details><summary>Answer</summary>
#
# Their sum. That is why the likelihood of an answer is a sum of log-probabilities, one for each token.
# To read up: `sequence_cross_entropy` in [lesson 4](../04_seq2seq_cross_attention/04_seq2seq_cross_attention.ipynb).
# </details>
#
# Two of three? Go on. Fewer? Read the linked pages first, and come back.
#
# The next cell brings the tools. Run it first. `plots` draws, and `lab` runs the longer experiments.
# Both belong to the course and can be read, in `course/plots` and `lessons/lesson_07/experiments.py`.
# The models are small, so all of this lesson runs on the CPU.

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
from course.cached_model import CachedSeq2SeqTransformer
from lessons.tables import measured
from lessons.lesson_07 import experiments as lab
from course.lengths import TRAINED, exact_by_length, lines_of
from course.seq2seq import Seq2SeqTransformer
from course.seq2seq_fitting import predict
from course.sequences import exact_match
from course.tasks import reversal

torch.set_num_threads(1)  # one thread: on a machine that others use too, two can be ten times slower

# %% [markdown]
# ## Part 1 · On its own
#
# ### The data
#
# Reversal again: rows of 1 to 10 letters in, the same letters backwards out, then the end mark `$`. A model of lesson 5, with one block
# on each side, learns it in about 300 steps. We stop after 100. A model that makes mistakes has more to teach today.
#
# Baselines are easy to state. There are ten letters, so a blind guess gets one letter in ten. And saying nothing but `$` gets no row right.

# %%
letters = reversal.reversal_task(seed=0)
source, target = lab.tensors(letters.test[:200])  # (200, 10) and (200, 11)
hasty = lab.train_reverser(letters, 100, kind=CachedSeq2SeqTransformer, name="in haste")
print("test rows that stand in the training data:", reversal.shared_rows(letters.train, letters.test))
print("source", tuple(source.shape), " target", tuple(target.shape))
pd.DataFrame(
    {
        "source": [reversal.ALPHABET.text(row).rstrip("_") for row in source[:4]],
        "target": [reversal.ALPHABET.text(row) for row in target[:4]],
    }
)

# %% [markdown]
# ### Exercise: `greedy_decode` · core · difficulty 3 · 25 minutes
#
# The plainest way to choose: always the likeliest token. That is **greedy** decoding.
#
# The difficulty is the batch. Many sources are answered at once, and their answers end at different times. A row that has ended must wait
# for the others, and nothing may be written into it but padding.
#
# ![A table of three answers over four steps. The source a gets a, end, padding, padding: it has ended at step 2, and there is padding from here on. The source abc gets c, b, a, end: the last to end. The source ab gets b, a, end, padding. After step 4 all have ended, and the loop stops.](picture:rows_that_end)
#
# $$\text{next} = \arg\max_{v}\ \text{logits}[\text{last place}, v] \qquad \text{or } 0 \text{ where the row has ended}$$
#
# In numbers: after step 2 the three rows hold `a$`, `cb`, `ba`. The first has ended. In step 3 the model says something for all three rows,
# and for the first one we write 0, whatever it says. After step 4 every row has ended.
#
# In shapes: `written` begins as `(batch, 1)`, all start ids, and gains a column a step. What you return has no start.
#
# <details><summary>Hint 1</summary>
#
# What must you remember about each row from one step to the next, besides what it has written?
# </details>
# <details><summary>Hint 2</summary>
#
# A boolean `ended` of shape `(batch,)`. In each step: logits at the last place, argmax, 0 where `ended`, append, update `ended`,
# stop when all are. And `max_length` steps at most. No gradients are needed.
# </details>
# <details><summary>Hint 3</summary>
#
# `model(source, written)[:, ?].argmax(dim=-1)` is what each row would say next, and `.masked_fill(?, 0)` keeps the ended ones quiet. Then append `next_ids.unsqueeze(1)` as a column,
# then `ended | (next_ids == end_id)`.
# </details>
#
# Docs: [torch.argmax](https://pytorch.org/docs/stable/generated/torch.argmax.html) ·
# [masked_fill](https://pytorch.org/docs/stable/generated/torch.Tensor.masked_fill_.html) ·
# [torch.no_grad](https://pytorch.org/docs/stable/generated/torch.no_grad.html).

# %% exercise="greedy_decode"

# %% [markdown]
# **What you made.** A writer. Here it writes six answers, step by step. The framed cells are ends, the grey ones wait.

# %%
some = [0, 1, 2, 3, 4, 5]
answers = greedy_decode(hasty, source[some], lab.START, lab.END, lab.MAX_LENGTH)
plots.decoding_steps(
    [reversal.ALPHABET.text(source[row]).rstrip("_") for row in some],
    [reversal.ALPHABET.text(ids) for ids in answers],
    title="Six answers, a token a step",
)

# %% [markdown]
# ### With a teacher, and without
#
# In training a teacher corrects every token at once. On its own the model reads its own mistakes.
#
# In lesson 5 two curves met: behind a causal mask as many *rows* are right with a teacher as without. A row that is right was never corrected, so
# on its own the model reads the very same tokens. But what about the single *tokens*?
#
# We train once more, up to 300 steps, and look every 25 steps. **How many points is the largest gap in tokens?**

# %%
guess_gap = None  # points, from 0 to 100

gap = lab.gap_while_learning(greedy_decode, letters)
largest_gap = {
    kind: max(100 * (a - b) for a, b in zip(gap[f"{kind}, teacher"], gap[f"{kind}, on its own"], strict=True))
    for kind in ("tokens", "rows")
}
print(f"your guess: {guess_gap}, it is: {largest_gap['tokens']:.0f} points; in rows: {largest_gap['rows']:.0f}")
plots.curves(
    gap,
    x=range(0, 301, 25),
    title="While it learns",
    x_label="training step",
    y_label="share right",
    y_limits=(-0.04, 1.06),
)

# %% [markdown]
# **What you should see**
#
# - The gap in tokens is above 10 points at some time, and below 3 at the end. <!-- claim: tokens_have_a_gap -->
# - The rows right agree all the time, to within 1 point: their two lines are one. <!-- claim: rows_have_none -->
#
# The gap is in the rows that are *wrong*. With a teacher, one mistake stays one mistake. On its own it is read, and more may follow.
#
# (After 100 steps this model is further than the hasty one. The learning rate falls all the way to the last step, here number 300 and there number
# 100. So this one has taken larger steps up to there.)
#
# ![Three rows of letters. Wanted: j i h g f e d c. With a teacher: one wrong letter, framed, and the rest right: one error. On its own: the same wrong letter, and two more after it: it is read.](picture:errors_travel)
#
# Here is our hasty model, place by place.

# %%
with_teacher = predict(hasty, source, target, start_id=lab.START).argmax(dim=-1)
alone = greedy_decode(hasty, source, lab.START, lab.END, lab.MAX_LENGTH)
errors = {"with a teacher": lab.errors_by_place(with_teacher, target), "on its own": lab.errors_by_place(alone, target)}
greedy_scores = lab.scores(alone, target)
print(f"rows right: {lab.scores(with_teacher, target)['rows']:.3f} and {greedy_scores['rows']:.3f}")
plots.curves(
    errors, x=range(1, 12), title="Wrong tokens by place", x_label="place in the answer", y_label="share wrong"
)

# %% [markdown]
# **What you should see**
#
# - At the first place both are equally good, to within 1 %. <!-- claim: first_place_is_equal -->
# - At places 8 to 10 the model on its own makes at least twice as many mistakes. <!-- claim: late_places_suffer -->
#
# With a teacher it gets *better* towards the end of a row: it sees how much is left. On its own it is lost by then.
#
# ## Part 2 · By lot
#
# ### Exercise: `sample_with_temperature` · core · difficulty 2 · 15 minutes
#
# Always the likeliest word makes a dull story, and the same one each time. So language models *draw*: each token with its chance.
# One number says how bold they are, the **temperature**. Divide the logits by it before the softmax.
#
# ![The logits 2, 1, 0 at three temperatures. At 0.5, careful: 0.87, 0.12, 0.02. At 1, as it is: 0.67, 0.24, 0.09. At 2, bold: 0.51, 0.31, 0.19.](picture:temperatures)
#
# $$p_v = \text{softmax}\left(\frac{\text{logits}}{T}\right)_v$$
#
# In numbers: the logits 2, 1, 0 at temperature 0.5 become 4, 2, 0, so the first is $e^2 = 7.4$ times as likely as the second. At temperature 2
# it is $e^{0.5} = 1.6$ times as likely. At temperature 0 one can't divide; there it means: take the likeliest.
#
# All chance comes from the `generator` that is handed in. With the same seed it draws the same tokens again.
#
# <details><summary>Hint 1</summary>
#
# Which case must not reach the division?
# </details>
# <details><summary>Hint 2</summary>
#
# `torch.multinomial` draws from probabilities, row by row. What shape does it return, and what shape do you want?
# </details>
# <details><summary>Hint 3</summary>
#
# `torch.multinomial(torch.softmax(?, dim=-1), num_samples=1, generator=generator).squeeze(1)`.
# </details>
#
# Docs: [torch.multinomial](https://pytorch.org/docs/stable/generated/torch.multinomial.html) ·
# [torch.Generator](https://pytorch.org/docs/stable/generated/torch.Generator.html).

# %% exercise="sample_with_temperature"

# %% [markdown]
# **What you made.** We look for a place where the hasty model hesitates, and draw 10,000 tokens there. Shares and chances must agree.


# %%
def at_temperature(temperature, seed=0):
    """Your sampler with a generator of its own: logits (batch, vocab_size) -> ids (batch,)."""
    generator = torch.Generator().manual_seed(seed)
    return lambda scores: sample_with_temperature(scores, temperature, generator)


row, place, logits = lab.hesitation(hasty, source, target)  # logits (1, vocab_size)
names = lab.symbols()
before, after = reversal.ALPHABET.text(source[row]).rstrip("_"), reversal.ALPHABET.text(target[row, :place])
print(f"source {before}, written so far {after!r}: what comes next?")
shares = {"its chances": torch.softmax(logits, dim=-1)[0]}
for temperature in (1.0, 0.5, 2.0):
    drawn = lab.sampled_shares(at_temperature(temperature), logits, 10_000)
    shares[f"10,000 draws, T = {temperature:g}"] = drawn
plots.chances(shares, names, title="Drawn by lot")

# %% [markdown]
# **Does it pay?** We let the hasty model write 200 answers at each temperature, one draw each.
# **Which temperature gets the most rows right?** Guess one of 0, 0.5, 1 and 1.5.

# %%
guess_temperature = None  # 0, 0.5, 1 or 1.5

by_temperature = {}
for temperature in (0, 0.5, 1, 1.5):
    ids = lab.write_by_lot(at_temperature(temperature, seed=1), hasty, source)
    by_temperature[str(temperature)] = lab.scores(ids, target)["rows"]
best_temperature = max(by_temperature, key=by_temperature.get)
plots.bars(by_temperature, title="Rows right, one draw each", x_label="temperature", guess=str(guess_temperature))

# %% [markdown]
# **What you should see**
#
# - Temperature 0 gets more rows right than temperature 1, by at least 5 points, and 1 more than 1.5. <!-- claim: careful_is_right_more_often -->
#
# Where one answer is right, chance does harm. So why draw at all? Because a story has many right answers. And
# because several draws are several chances, as you will see after the break.
#
# ### Exercise: `top_k_filter` · core · difficulty 2 · 15 minutes
#
# A vocabulary has thousands of unlikely tokens. Each has a tiny chance, and together they have a large one. Sooner or later one
# of them is drawn, and the text goes off the rails. **Top-k** keeps the k likeliest tokens, and drops all others.
#
# ![Five tokens with chances 0.50, 0.25, 0.15, 0.07 and 0.03. For k = 2 the first two stay, the other three are hatched. What is drawn from then: 0.67, 0.33 and three zeros.](picture:top_k_cut)
#
# Dropping a token means: its logit becomes $-\infty$. Then softmax gives it 0, and the rest share what it had.
#
# In numbers: 0.50 and 0.25 stay and are scaled to 0.67 and 0.33. The logits 1, 4, 2, 3 with k = 2 become $-\infty$, 4, $-\infty$, 3.
#
# <details><summary>Hint 1</summary>
#
# What is the smallest logit that stays? And what if k is larger than the vocabulary?
# </details>
# <details><summary>Hint 2</summary>
#
# `topk` gives the k largest of each row, sorted. Everything below the last of them goes.
# </details>
# <details><summary>Hint 3</summary>
#
# `logits.masked_fill(logits < ?, -torch.inf)` is a new tensor; the bound has shape `(batch, 1)`.
# </details>
#
# Docs: [torch.topk](https://pytorch.org/docs/stable/generated/torch.topk.html) ·
# [masked_fill](https://pytorch.org/docs/stable/generated/torch.Tensor.masked_fill_.html).

# %% exercise="top_k_filter"

# %% [markdown]
# **What you made.** The hesitating model, with 1, 3 and 5 tokens left.

# %%
plots.chances(
    {"all": torch.softmax(logits, dim=-1)[0]}
    | {f"top {k}": torch.softmax(top_k_filter(logits, k), dim=-1)[0] for k in (5, 3, 1)},
    names,
    title="Top-k",
)

# %% [markdown]
# Top 1 is greedy decoding. But which k is right? Sometimes one token is certain, and k = 5 keeps four bad ones. Sometimes twenty
# are fine, and k = 5 drops fifteen of them.
#
# ### Exercise: `top_p_filter` · core · difficulty 3 · 20 minutes
#
# **Top-p** lets the model's own doubt decide. It takes tokens from the likeliest on, until their chances sum to p.
#
# ![The same five tokens with p = 0.8: three stay, 0.50, 0.25 and 0.15. Beside it the running sum, likeliest first: 0.50, 0.75, 0.90, 0.97, 1.00. The third one reaches the dashed line at p = 0.8.](picture:top_p_cut)
#
# $$\text{keep the smallest set } S \text{ of likeliest tokens with} \sum_{v \in S} p_v \geq p$$
#
# In numbers, with p = 0.8: 0.50 is not enough, 0.50 + 0.25 = 0.75 is not enough, and 0.15 more make 0.90. So three tokens stay. The one that *reaches* p
# belongs to the set. With p = 0.3 one token stays, and the set is never empty.
#
# A useful way to say it: a token is dropped when the likelier ones *before* it have reached p already.
#
# <details><summary>Hint 1</summary>
#
# In which order must you look at the tokens, and how do you get back to the old order at the end?
# </details>
# <details><summary>Hint 2</summary>
#
# Sort downwards, softmax, `cumsum`. The mass *before* a token is the running sum minus its own chance. Drop where that is p or more, but never the first.
# </details>
# <details><summary>Hint 3</summary>
#
# `logits.sort(dim=-1, descending=True)` gives values and places. Fill what is dropped with -inf, and
# `torch.empty_like(logits).scatter(-1, places, ?)` puts everything back.
# </details>
#
# Docs: [torch.sort](https://pytorch.org/docs/stable/generated/torch.sort.html) ·
# [torch.cumsum](https://pytorch.org/docs/stable/generated/torch.cumsum.html) ·
# [torch.scatter](https://pytorch.org/docs/stable/generated/torch.scatter.html).

# %% exercise="top_p_filter"

# %% [markdown]
# **What you made.** A cut that moves with the doubt. Here are two places: the one where the model hesitates, and the first place of an answer,
# where it is fairly sure. **How many tokens stay at the hesitating place with p = 0.9?** There are 13.

# %%
guess_kept = None  # a number from 1 to 13

with torch.no_grad():
    sure_logits = hasty(source[:1], torch.tensor([[lab.START]]))[:, -1]  # (1, vocab_size)
kept = {
    name: int(torch.isfinite(top_p_filter(some_logits, 0.9)).sum())
    for name, some_logits in (("hesitating", logits), ("sure", sure_logits))
}
print(f"your guess: {guess_kept}; hesitating: {kept['hesitating']} of 13 tokens stay, sure: {kept['sure']}")
plots.chances(
    {
        "hesitating": torch.softmax(logits, dim=-1)[0],
        "its top-p, p = 0.9": torch.softmax(top_p_filter(logits, 0.9), dim=-1)[0],
        "sure": torch.softmax(sure_logits, dim=-1)[0],
        "its top-p, p = 0.9 ": torch.softmax(top_p_filter(sure_logits, 0.9), dim=-1)[0],
    },
    names,
    title="Top-p",
)

# %% [markdown]
# **What you should see**
#
# - With the same p more tokens stay where the model hesitates than where it is sure. <!-- claim: top_p_follows_doubt -->
#
# In JupyterLab and Colab you can move all three controls here. First the temperature is applied, then top-k, then top-p.


# %%
def show_sampler(temperature=1.0, k=13, p=1.0):
    """What is left of the hesitating distribution."""
    left = top_p_filter(top_k_filter(logits / temperature, k), p)
    return display(
        plots.chances(
            {"as it is": torch.softmax(logits, dim=-1)[0], "with your controls": torch.softmax(left, dim=-1)[0]}, names
        )
    )


show_sampler(temperature=0.7, k=8, p=0.95)
lab.sliders(show_sampler, temperature=(0.1, 3.0, 0.7), k=(1, 13, 8), p=(0.05, 1.0, 0.95))

# %% [markdown]
# ## The bug clinic
#
# Two patients today. The first is a score. A colleague wrote it, and it is meant for both ways. Read it. Is anything wrong?


# %%
def colleagues_score(model, source, target, mode):
    """Rows right: with a teacher, or on its own."""
    if mode == "teacher" or "teacher forced":
        ids = predict(model, source, target, start_id=lab.START).argmax(dim=-1)
    else:
        ids = greedy_decode(model, source, lab.START, lab.END, lab.MAX_LENGTH)
    return exact_match(ids, target).item()


# %% [markdown]
# The colleague hands it the model of lesson 4, the one without a mask, and asks for `mode="on its own"`. You know that model: with a teacher
# it is perfect, for it reads the answer. **What does the colleague's score say?**
#
# 1. Below 5 %.
# 2. About half.
# 3. Above 95 %.

# %%
guess_score = None  # 1, 2 or 3

unmasked = lab.train_reverser(letters, 300, kind=Seq2SeqTransformer, name="without a mask")
reported = colleagues_score(unmasked, source, target, mode="on its own")
really = exact_match(greedy_decode(unmasked, source, lab.START, lab.END, lab.MAX_LENGTH), target).item()
print("your guess:", guess_score)
plots.bars({"the colleague's score": reported, "really on its own": really}, title="Rows right, without a mask")

# %% [markdown]
# **What you should see**
#
# - The colleague reports more than 95 %; really on its own the model gets fewer than 5 % right. <!-- claim: the_branch_is_never_reached -->
#
# `mode == "teacher" or "teacher forced"` is always true: a text that is not empty counts as true. So the branch that
# generates is never reached, and every score is one with a teacher. Published course material has reported such scores.
# A quick test: hand the function wrong targets. What is written on its own must not change with them.
#
# The second patient is a decoder.


# %%
def colleagues_decode(model, sources):
    """The likeliest tokens, until the answers have ended."""
    written = torch.full_like(sources[:, :1], lab.START)
    for _ in range(lab.MAX_LENGTH):
        next_ids = model(sources, written)[:, -1].argmax(dim=-1)
        written = torch.hstack([written, next_ids[:, None]])
        if (next_ids == lab.END).all():
            break
    return written[:, 1:].detach()


# %% [markdown]
# With one source it is fine. With many it stops only when *all* rows say their end in the same step. That branch is hardly ever reached.
# **What will `exact_match` say about it, beside your decoder?** 1. Less. 2. The same. 3. More.

# %%
guess_match = None  # 1, 2 or 3

theirs = colleagues_decode(hasty, source)
their_rows = lab.scores(theirs, target)["rows"]
print("your guess:", guess_match, f" rows right: yours {greedy_scores['rows']:.3f}, the colleague's {their_rows:.3f}")
short = [row for row in range(200) if (source[row] != 0).sum() <= 4][:4]
pd.DataFrame(
    {
        "source": [reversal.ALPHABET.text(source[row]).rstrip("_") for row in short],
        "yours": [reversal.ALPHABET.text(alone[row]) for row in short],
        "the colleague's": [reversal.ALPHABET.text(theirs[row]) for row in short],
    }
)

# %% [markdown]
# **What you should see**
#
# - `exact_match` gives both decoders the same score. <!-- claim: the_score_is_blind -->
# - In the batch more than half of the colleague's answers go on behind their end; yours never do. <!-- claim: it_writes_behind_the_end -->
#
# The score looks only at the places where the target has tokens. What stands behind the end is nobody's business there. But a reader would see it, and
# a chatbot would go on talking.
#
# ### Exercise: `ends_each_sequence` · core · difficulty 3 · 20 minutes
#
# Write the test that would have caught it. A batch is a convenience. It must not change what any row gets.
#
# ![In a batch, the source a gets a, end and two paddings, beside the source abc that gets c, b, a, end. Alone, the source a gets a, end. Are the two answers equal? Padding does not count.](picture:alone_and_together)
#
# | decoder | in a batch | alone | answer |
# |---|---|---|---|
# | yours | `a$__` | `a$` | True |
# | goes on behind the end | `a$ac` | `a$` | False |
# | stops with the first end | `cb` for abc | `cba$` | False |
#
# <details><summary>Hint 1</summary>
#
# How do you make a batch of one from row i? And how do you compare two answers of different width?
# </details>
# <details><summary>Hint 2</summary>
#
# Decode all sources together, then each by itself. Compare the ids that are not 0. One difference is enough for False.
# </details>
# <details><summary>Hint 3</summary>
#
# `decode(model, source.unsqueeze(0))[0]` is the answer alone, and `row[row != 0].tolist()` takes the padding out.
# </details>
#
# Docs: [torch.unsqueeze](https://pytorch.org/docs/stable/generated/torch.unsqueeze.html) ·
# [Tensor.tolist](https://pytorch.org/docs/stable/generated/torch.Tensor.tolist.html).

# %% exercise="ends_each_sequence"

# %% [markdown]
# **What you made.** A doctor for decoders. Four patients, twelve sources. **Whom do you trust?**


# %%
def your_decode(model, sources):
    return greedy_decode(model, sources, lab.START, lab.END, lab.MAX_LENGTH)


def impatient_decode(model, sources):
    """Stops when the first row has ended."""
    ids = your_decode(model, sources)
    ends = (ids == lab.END).any(dim=0)  # (columns,)
    first = int(ends.int().argmax()) + 1 if ends.any() else ids.shape[1]
    return ids[:, :first]


moods = at_temperature(2.0)


def moody_decode(model, sources):
    """Draws by lot, and its luck goes on from call to call."""
    return lab.write_by_lot(moods, model, sources)


patients = {
    "yours": your_decode,
    "the colleague's": colleagues_decode,
    "impatient": impatient_decode,
    "by lot": moody_decode,
}
verdicts = {name: ends_each_sequence(decode, hasty, source[:12]) for name, decode in patients.items()}
pd.DataFrame(
    {"the same alone as in the batch?": ["yes" if verdict else "no" for verdict in verdicts.values()]},
    index=list(verdicts),
)

# %% [markdown]
# **What you should see**
#
# - Only your decoder passes. <!-- claim: who_ends_each_sequence -->
#
# The last one is not sick. It draws other lots each time, so the test is not made for it: test a sampler by its shares, as the checks of this lesson do.
#
# ## Time for a break
#
# You can let any model write, carefully or boldly. Everything that later lessons need is done. What follows is *stretch*: better answers, and faster ones.
#
# Before you go, one thing to carry around. Greedy decoding takes the best token at each step. Is the answer at the end the best answer?

# %% [markdown]
# ## Part 3 · Several answers
#
# ### Exercise: `beam_search` · stretch · difficulty 4 · 40 minutes
#
# Here is a model so small that we know all its answers. It has five.
#
# ![A tree. From the start, a has chance .6 and b .4. After a: a .4, b .3, end .3. After b: end .9, a .1. The five answers and their chances: aa, end .24; ab, end .18; a, end .18; b, end .36; ba, end .04. Greedy goes along the dashed arrows to .24. The likeliest answer is b, end with .36, along the thick arrows.](picture:tree_of_answers)
#
# Greedy takes a, since .6 is more than .4. From there on no answer has more than .24. But b, end has .36: **greedy is wrong**, and nothing it does later
# can mend its first step.
#
# **Beam search** keeps several beginnings alive. In each step it continues each of them by every token, and keeps the `beam_width` best of all.
#
# | step | alive (width 2) | continued | kept |
# |---|---|---|---|
# | 1 | start | a .6, b .4 | a, b |
# | 2 | a, b | aa .24, ab .18, a$ .18, b$ .36, ba .04 | b$ (ended), aa |
# | 3 | aa | aa$ .24 | aa$ (ended) |
#
# Two answers have ended, .36 and .24, and the best is taken. The table has chances; a program adds log-probabilities, as in question 3 of the test.
#
# One thing more. Each token makes a sum of logarithms smaller, so sums favour *short* answers. A **length penalty** evens that out:
#
# $$\text{score} = \frac{\sum \log p}{\text{length}^{\,\alpha}} \qquad \alpha = \text{length\_penalty}, \text{ and the end counts in the length}$$
#
# In numbers, with $\alpha = 1$: b$ has (log .36) / 2 = -0.51, and aa$ has (log .24) / 3 = -0.48. Now aa$ wins. With $\alpha = 0$ nothing changes.
#
# <details><summary>Hint 1</summary>
#
# Write it for one source first, with a list of (ids, sum) that are alive and a list of those that have ended. How do you come from one step to the next?
# </details>
# <details><summary>Hint 2</summary>
#
# Read all beginnings that are alive as one batch: they have the same length. Add their sums to the log-probabilities, `(alive, vocab_size)`, flatten,
# take the `beam_width` best, and find out for each which beginning and which token it was. What is alive when `max_length` is reached competes too.
# </details>
# <details><summary>Hint 3</summary>
#
# `beginning, token = divmod(place, vocab_size)` takes a flat place apart. At the end `max(finished + alive, key=...)` with
# `total / len(answer) ** length_penalty`, and `torch.nn.utils.rnn.pad_sequence` joins the rows.
# </details>
#
# Docs: [torch.topk](https://pytorch.org/docs/stable/generated/torch.topk.html) ·
# [torch.log_softmax](https://pytorch.org/docs/stable/generated/torch.nn.functional.log_softmax.html) ·
# [pad_sequence](https://pytorch.org/docs/stable/generated/torch.nn.utils.rnn.pad_sequence.html).

# %% exercise="beam_search"

# %% [markdown]
# **What you made.** The tree, searched: greedy, then with two beams, then with a length penalty.

# %%
tree_source = torch.tensor([[3]])  # the tree does not look at it
tree_ends = {"start_id": lab.TREE_START, "end_id": lab.TREE_END, "max_length": 4}
every_answer = lab.tree_answers()
found = {
    "greedy": lab.tree_text(greedy_decode(lab.tree_model, tree_source, **tree_ends)[0]),
    "2 beams": lab.tree_text(beam_search(lab.tree_model, tree_source, **tree_ends, beam_width=2)[0]),
    "2 beams, penalty 1": lab.tree_text(
        beam_search(lab.tree_model, tree_source, **tree_ends, beam_width=2, length_penalty=1.0)[0]
    ),
}
print({name: f"{answer} {every_answer[answer]:.2f}" for name, answer in found.items()})
plots.bars(every_answer, title="All answers of the tree; the sum is 1", x_label="chance")

# %% [markdown]
# **What you should see**
#
# - Greedy finds an answer with chance 0.24; two beams find the likeliest of all, with 0.36. <!-- claim: greedy_is_wrong_on_the_tree -->
# - With a length penalty of 1 two beams prefer the longer answer of 0.24. <!-- claim: the_penalty_prefers_long -->
#
# The penalty is a matter of taste, not of truth. Translators found that sums alone gave them answers that were too short.
#
# Now the hasty model, on 200 rows. Part 1 printed which share greedy decoding gets right. **Which share will four beams get right?**

# %%
guess_beams = None  # a share

beams = {"1 (greedy)": alone}
for beam_width in (2, 4):
    ids = beam_search(hasty, source, lab.START, lab.END, lab.MAX_LENGTH, beam_width)
    beams[str(beam_width)] = torch.nn.functional.pad(ids, (0, lab.MAX_LENGTH - ids.shape[1]))
beam_rows = {name: lab.scores(ids, target)["rows"] for name, ids in beams.items()}
beam_likelihood = {name: lab.log_likelihood(hasty, source, ids).mean().item() for name, ids in beams.items()}
print("your guess:", guess_beams, f" it is: {beam_rows['4']:.3f}")
pd.DataFrame({"rows right": beam_rows, "mean log-likelihood": beam_likelihood}).rename_axis("beams").round(3)

# %% [markdown]
# **What you should see**
#
# - Four beams find answers with a higher mean log-likelihood than greedy decoding. <!-- claim: beams_are_likelier -->
# - They get at least as many rows right, and at most 15 points more. <!-- claim: beams_help_a_little -->
#
# Likelier answers, and a few more of them right. A search can only find what the model believes in. Where it believes in the wrong answer, no beam helps.
#
# ### Exercise: `best_of_n` · stretch · difficulty 3 · 25 minutes
#
# Another way to several answers: draw n of them by lot, and keep one. Which one? If nobody knows the right answer, the model must judge itself.
# **Best-of-n** keeps the answer with the highest log-likelihood.
#
# ![Four answers to abc, drawn by lot, with log-likelihoods. cba, end has -2.0 and is right. cbb, end has -1.2, is wrong, and is framed: best of 4 keeps this one. cab has -3.4, ccb has -4.1, both wrong. top@4 counts the right one: it must know the right answer, best of 4 needs the model alone.](picture:best_of_many)
#
# $$\text{best} = \arg\max_{a \in \{a_1, \dots, a_n\}} \sum_t \log p(a_t \mid a_{<t}, \text{source})$$
#
# In numbers: of -2.0, -1.2, -3.4 and -4.1 the highest is -1.2. Here that answer is wrong. The model is surer of a wrong answer than of the right one.
#
# All n answers to all sources can be drawn in one batch of `batch * n` rows. The log-probability of each drawn token is added up, until the row has ended.
#
# <details><summary>Hint 1</summary>
#
# Which of your functions is almost this one? What must it remember in addition?
# </details>
# <details><summary>Hint 2</summary>
#
# `source.repeat_interleave(n, dim=0)`, then the loop of `greedy_decode` with `sample_with_temperature` at temperature 1, and a sum for each row.
# At the end look at the sums as `(batch, n)` and take the best of each row.
# </details>
# <details><summary>Hint 3</summary>
#
# `log_softmax(...).gather(1, drawn.unsqueeze(1)).squeeze(1)` is what a step adds, 0 where the row has ended. Then
# `written.reshape(batch, n, -1)[torch.arange(batch), best, 1:]`.
# </details>
#
# Docs: [repeat_interleave](https://pytorch.org/docs/stable/generated/torch.repeat_interleave.html) ·
# [torch.gather](https://pytorch.org/docs/stable/generated/torch.gather.html).

# %% exercise="best_of_n"

# %% [markdown]
# **What you made.** A second opinion by the same doctor. Beside it we draw **top@n**: the share of sources for which *any* of n drawn answers is right.
# For that somebody must know the right answer. Where one can check an answer, as with sums or programs that must run, that is a fair question.
#
# **With n = 16, which is higher?** 1. Best-of-16 by likelihood. 2. Greedy. 3. Top@16.

# %%
guess_many = None  # 1, 2 or 3

counts = [1, 2, 4, 8, 16]
many = {
    f"any of n, T = {temperature:g}": lab.any_right(at_temperature(temperature), hasty, (source, target), counts)
    for temperature in (0.5, 1.0)
}
generator = torch.Generator().manual_seed(0)
many["best of n by likelihood"] = [
    lab.scores(best_of_n(hasty, source, lab.START, lab.END, lab.MAX_LENGTH, n, generator), target)["rows"]
    for n in counts
]
ranking = {1: many["best of n by likelihood"][-1], 2: greedy_scores["rows"], 3: many["any of n, T = 0.5"][-1]}
print("your guess:", guess_many, " it is:", max(ranking, key=ranking.get))
plots.curves(
    many,
    x_names=[str(n) for n in counts],
    title="More answers",
    x_label="n",
    y_label="rows right",
    levels={"greedy": greedy_scores["rows"]},
    y_limits=(0, 1),
)

# %% [markdown]
# **What you should see**
#
# - Top@16 at temperature 0.5 beats greedy decoding by at least 10 points. <!-- claim: any_of_many -->
# - Best-of-16 by likelihood stays within 8 points of greedy decoding. <!-- claim: likelihood_is_no_oracle -->
# - Best-of-16 beats a single draw by at least 5 points. <!-- claim: best_beats_one -->
#
# So the right answer is often *among* the answers. Choosing it by likelihood gets back to about what greedy finds. To get further one needs a better judge than the
# model itself. When you read "pass@100", ask who picks the one.
#
# ### Can a decoder rescue it?
#
# One question is left from lesson 6. Our models fail on rows that are longer than those of the training. Perhaps they only *choose* badly?
# We train a model properly, 300 steps, and give it every chance. **Which line will be above one half at 12 letters?**
#
# 1. Four beams.
# 2. Any of eight draws.
# 3. Both.
# 4. None.

# %%
guess_rescue = None  # 1, 2, 3 or 4

trained = lab.train_reverser(letters, 300, kind=CachedSeq2SeqTransformer, name="properly")
ways = {
    "greedy": lambda source, target: greedy_decode(trained, source, lab.START, lab.END, target.shape[1]),
    "4 beams": lambda source, target: beam_search(trained, source, lab.START, lab.END, target.shape[1], 4),
    "any of 8 draws": lambda source, target: lab.luckiest(at_temperature(1.0), trained, source, target, draws=8),
}
rescue_lengths = (8, 9, 10, 11, 12)
rescue = {
    name: exact_by_length(way, exact_match, exclude=letters.train, lengths=rescue_lengths, count=50)
    for name, way in ways.items()
}
lucky = (rescue["4 beams"][12] > 0.5, rescue["any of 8 draws"][12] > 0.5)
rescuer = {(True, False): 1, (False, True): 2, (True, True): 3, (False, False): 4}[lucky]
print(f"your guess: {guess_rescue}, it is: {rescuer}")
lesson_6 = lines_of(measured("06_lengths"))["rotary"]
so_far = {"lesson 6, rotary": {length: lesson_6[length] for length in rescue_lengths}}
plots.by_length(so_far | rescue, trained=TRAINED, x_label="letters")

# %% [markdown]
# **What you should see**
#
# - At 12 letters no way of decoding gets more than 10 % right. <!-- claim: no_rescue -->
#
# These are the last lines in the plot that began in lesson 4; the one from lesson 6 was measured beforehand, by `make claims`. Rotary positions went one
# letter further, and then fell too. The mask, the positions, the decoder: none of them carries a model far beyond its training. The door stays where lesson 6 left it,
# in what positions *mean*.

# %% [markdown]
# ## Part 4 · Faster
#
# ### Exercise: `KeyValueCache` · stretch · difficulty 2 · 15 minutes
#
# Look at your loop. In step 100 it hands the model 100 tokens. But 99 of them were read in the step before, and the causal mask says: nothing about them has
# changed. Their keys and values are what they were.
#
# ![Two staircases of five steps. Without a cache, step t reads t tokens: 1 + 2 + 3 + 4 + 5 = 15 tokens read. With a cache only the last token of each step is read, the others are kept: 5 tokens read.](picture:cache_grid)
#
# So we keep them. A **cache** remembers the keys and values of each layer. The new token brings one query, one key, one value. Its query meets all keys so far.
#
# $$n \text{ tokens: without a cache } 1 + 2 + \dots + n = \frac{n(n+1)}{2} \text{ tokens read, with it } n$$
#
# In shapes: a layer hands over keys and values `(batch, heads, new, d_head)`, mostly with new = 1, and gets back all so far, `(batch, heads, length so far, d_head)`.
#
# <details><summary>Hint 1</summary>
#
# Several layers share one cache. What happens if they mix up their keys?
# </details>
# <details><summary>Hint 2</summary>
#
# A dictionary from the layer's number to its pair. The first time there is nothing to join.
# </details>
# <details><summary>Hint 3</summary>
#
# `torch.cat([earlier_keys, keys], dim=?)`, along the axis of the tokens; the same for the values, remember both, return both.
# </details>
#
# Docs: [torch.cat](https://pytorch.org/docs/stable/generated/torch.cat.html) ·
# [dict](https://docs.python.org/3/library/stdtypes.html#mapping-types-dict).

# %% exercise="KeyValueCache"

# %% [markdown]
# **What you made.** A memory. We push one token after the other through the model, and look at what the cache holds.

# %%
cache = KeyValueCache()
with torch.no_grad():
    states = trained.encode(source[:2])
    whole = trained(source[:2], target[:2])  # all at once, (2, 11, 13)
    steps = [trained.decode_step(target[:2, t : t + 1], states, cache) for t in range(4)]
    keys, values = cache.append(1, torch.empty(2, 4, 0, 16), torch.empty(2, 4, 0, 16))  # nothing new: all so far
print("keys of the first self-attention after 4 tokens:", tuple(keys.shape))
print(f"step by step or all at once: the logits differ by {(torch.cat(steps, 1) - whole[:, :4]).abs().max():.1e}")

# %% [markdown]
# ### Exercise: `cached_greedy_decode` · stretch · difficulty 3 · 20 minutes
#
# Now your decoder with the memory. The model offers `encode(source)`, needed once, and `decode_step(tokens, encoder_states, cache)`, which reads *one* new token a row
# and gives logits `(batch, 1, vocab_size)`. Everything else stays: argmax, padding, ends.
#
# In numbers: to write 100 tokens it reads 100, where `greedy_decode` reads 5,050.
#
# <details><summary>Hint 1</summary>
#
# What goes into `decode_step` in the first step, and what in the next?
# </details>
# <details><summary>Hint 2</summary>
#
# Keep `tokens` of shape `(batch, 1)`, the start ids first, and a list of what was written. Encode before the loop, once.
# </details>
# <details><summary>Hint 3</summary>
#
# `model.decode_step(?, encoder_states, cache).argmax(dim=-1)` has the shape `(batch, 1)`, and so has `ended`. What comes out goes in again.
# </details>
#
# Docs: [torch.cat](https://pytorch.org/docs/stable/generated/torch.cat.html) ·
# [torch.no_grad](https://pytorch.org/docs/stable/generated/torch.no_grad.html).

# %% exercise="cached_greedy_decode"

# %% [markdown]
# **What you made.** The same text, with less work. First the proof that it *is* the same, on 200 rows of both models.

# %%
for name, model in (("hasty", hasty), ("trained", trained)):
    slow = greedy_decode(model, source, lab.START, lab.END, lab.MAX_LENGTH)
    fast = cached_greedy_decode(model, source, lab.START, lab.END, lab.MAX_LENGTH)
    print(f"{name:8} identical tokens: {torch.equal(slow, fast)}, {tuple(fast.shape)}")

# %% [markdown]
# Now the work and the time. We take an untrained model and let it write answers of 25 to 200 tokens. What it says does not matter here.
# **How many tokens does `greedy_decode` read to write 200?** And **how many times faster is the cache there?**

# %%
guess_reads = None  # a number
guess_faster = None  # a number

answer_lengths = [25, 50, 100, 200]
long_writer = lab.long_writer(longest=200)
decoders = {"without a cache": greedy_decode, "with a cache": cached_greedy_decode}
work = {name: lab.tokens_read(decode, long_writer, answer_lengths) for name, decode in decoders.items()}
took = {name: lab.seconds(decode, long_writer, answer_lengths) for name, decode in decoders.items()}
faster = took["without a cache"][-1] / took["with a cache"][-1]
print(f"your guesses: {guess_reads} and {guess_faster}")
print(
    f"for 200 tokens it reads {work['without a cache'][-1]:,} and {work['with a cache'][-1]}; {faster:.1f} times faster"
)
for name, numbers in (("tokens read", work), ("seconds", took)):
    display(
        plots.curves(
            numbers,
            x=answer_lengths,
            title=f"{name}, by length of the answer",
            x_label="tokens in the answer",
            y_label=name,
        )
    )

# %% [markdown]
# **What you should see**
#
# - Both decoders write the same tokens. <!-- claim: the_cache_changes_nothing -->
# - For 200 tokens 20,100 are read without a cache, and 200 with it. <!-- claim: quadratic_against_linear -->
# - For 200 tokens the cache is at least 1.5 times as fast. <!-- claim: the_cache_is_faster -->
#
# A hundred times less to read, and not a hundred times faster. Why? Each step has a fixed price, for starting some dozens of small operations. And the new query still meets *all* keys,
# so a step gets slower with the length, only much less so. The longer the text and the larger the model, the more the cache saves. No language model in use writes without one.
#
# It has a price too: memory. Two tensors a layer, as long as the text so far.

# %% [markdown]
# ## Explain it
#
# A friend has a chatbot that repeats itself: "I think that I think that I think that". It uses greedy decoding. "I'll take beam search with 50 beams," says the friend. "It finds better answers."
#
# Answer in four or five sentences, in your own words. What does beam search look for, why may that make it worse, and what would you try?

# %% [markdown] explain=true
# Beam search looks for an answer with a high likelihood under the model, so it finds what the model itself believes in. A loop such as "I think that" can be very likely token by
# token: once it has been written, writing it again looks plausible. More beams then find the loop more surely, since it is what they are searching for. For a chat many
# answers are fine, so I would draw instead: a temperature a little below 1, and top-p, so that very unlikely tokens stay out. I would look at the distribution at the place where the loop begins, and
# judge by reading answers, not by their likelihood.

# %% [markdown]
# ## How good were your guesses?
#
# Here are your predictions beside what happened. A wrong guess is worth more than none: it shows where to look.

# %%
board = [
    ("largest gap in tokens, in points", guess_gap, round(largest_gap["tokens"])),
    ("temperature with the most rows right", guess_temperature, float(best_temperature)),
    ("tokens that stay with p = 0.9", guess_kept, kept["hesitating"]),
    ("the colleague's score without a mask", guess_score, 3 if reported > 0.95 else 2),
    ("exact_match of the decoder that runs on", guess_match, 2 if their_rows == greedy_scores["rows"] else 1),
    ("rows right with four beams", guess_beams, round(beam_rows["4"], 2)),
    ("highest with n = 16", guess_many, max(ranking, key=ranking.get)),
    ("what rescues 12 letters", guess_rescue, rescuer),
    ("tokens read for 200", guess_reads, work["without a cache"][-1]),
    ("times faster at 200", guess_faster, round(faster, 1)),
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
# **1.** With a teacher more tokens are right than on its own, and yet as many rows. How can that be?
#
# <details><summary>Answer</summary>
#
# The two ways differ only behind a first mistake, so a row without one is right in both. In a row with one, the teacher mends it, while on its own
# the model reads it, and more tokens go wrong.
# </details>
#
# **2.** What do temperature, top-k and top-p do to a distribution?
#
# <details><summary>Answer</summary>
#
# Temperature makes it sharper or flatter and drops nothing. Top-k keeps a fixed number of tokens. Top-p keeps as few as are needed for a share p: few where the model is sure, many where it hesitates.
# </details>
#
# **3.** Why may keys and values be kept, and which mask allows it?
#
# <details><summary>Answer</summary>
#
# The causal mask. No token looks at later ones, so a token's key and value never change when more is written.
# </details>
#
# ## Things to try
#
# - Give `greedy_decode` a `max_length` of 3. What do the rows end with now, and what does `exact_match` say?
# - Draw with top-p 0.9 in `lab.any_right`. Is top@16 better than with a temperature of 0.5?
# - Search with 200 beams on the hasty model. Are more rows right, or only likelier ones?
# - Choose the best of n by log-likelihood *divided by the length*. Does it matter on this task? Why?
# - Cache the model of lesson 4, which has no causal mask. What goes wrong, and at which token?
#
# ## Glossary
#
# | word | meaning |
# |---|---|
# | autoregressive | writing each token from those that were written before |
# | beam | one of the beginnings that a search keeps alive |
# | best-of-n | of n drawn answers the one with the highest log-likelihood |
# | cache | kept keys and values, so that no token is read twice |
# | greedy | always the likeliest next token |
# | length penalty | the power of the length by which a sum of log-probabilities is divided |
# | likelihood | the chance that the model gives to a whole answer; its logarithm is a sum |
# | temperature | what logits are divided by before the softmax: below 1 careful, above 1 bold |
# | top@n, pass@n | the share of questions for which any of n answers is right |
# | top-k | drawing from the k likeliest tokens |
# | top-p, nucleus | drawing from the smallest set of likeliest tokens that has the share p |
#
# ## Papers
#
# - Bengio and others, [Scheduled Sampling](https://arxiv.org/abs/1506.03099), NeurIPS 2015: section 2, the gap between training and writing, and one way to lessen it.
# - Holtzman and others, [The Curious Case of Neural Text Degeneration](https://arxiv.org/abs/1904.09751), ICLR 2020: section 3.1, top-p; figure 1, what beam search does to stories.
# - Fan, Lewis, Dauphin, [Hierarchical Neural Story Generation](https://arxiv.org/abs/1805.04833), ACL 2018: section 5.1, top-k.
# - Wu and others, [Google's Neural Machine Translation System](https://arxiv.org/abs/1609.08144), 2016: section 7, beam search with a length penalty.
# - Stahlberg, Byrne, [On NMT Search Errors and Model Errors](https://arxiv.org/abs/1908.10090), EMNLP 2019: the likeliest translation is often the empty one.
# - Chen and others, [Evaluating Large Language Models Trained on Code](https://arxiv.org/abs/2107.03374), 2021: section 2.1, pass@k and how to estimate it.
# - Shazeer, [Fast Transformer Decoding](https://arxiv.org/abs/1911.02150), 2019: section 2.4, what a step costs with kept keys and values.
#
# In lesson 8 all the pieces come together: the paper of 2017, as it was published.
