# ---
# title: One token at a time
# topic: sampling, beam search and the cache
# group: Make it write, make it learn
# picture: tree_of_answers
# sittings: [160, 80, 90]
# builds_on: [04_seq2seq_cross_attention, 05_causal_masks]
# gives:
#   - let a model write on its own, and measure how many of its answers are right
#   - decode a whole batch, although its rows end at different times
#   - sample with temperature, top-k and top-p, put the three together, and see what they do to real text
#   - find more likely answers with beam search, and say why more likely isn't always better
#   - make decoding fast with a cache of keys and values, and write the step that uses it
# ---

# %% [markdown]
# TITLE
#
# Your model says which token comes next. It never says a whole answer. So how do you get a text out of it?
#
# ![Three steps. The model reads the start mark, sees the source abc and says c. In the next step it reads start, c and says b. Then it reads start, c, b and says a. A line leads from each token it says to the place where it reads it next.](picture:writes_and_reads)
#
# It writes one token, reads what it has written, and writes the next. Today you write that loop. Then you change the one
# line in it where a token is *chosen*: always the most likely one, or one sampled at random, or several answers side by
# side. At the end you make it fast.
#
# GIVES
#
# SITTINGS Everything after the first break is *stretch*: no later lesson needs it.
#
# **How to check.** Replace the line `raise NotImplementedError()` with your own code, and run the cell. Then run the
# `check` cell below it, as often as you like. It tells you what is right and what isn't. Where randomness is involved,
# the check samples thousands of tokens and compares their frequencies with the right probabilities. It rejects correct
# code less than once in a million runs.
# One exercise should not keep you from the rest of the lesson: below its last hint is a line that lets you go on with our version.
#
# **How to submit.** Save the notebook and hand it in the way your class does.
# Working on your own? The checks are all you need.

# %% [markdown]
# ## A two-minute test
#
# BUILDS_ON Try these three without running anything.
#
# **1.** A causal model gets a `target_input` of shape `(8, 5)`. Which of its logits say what comes *next*?
#
# <details><summary>Answer</summary>
#
# Those at the last position, `logits[:, -1]`, of shape `(8, vocab_size)`: they are about the token after the fifth.
# See `shift_right` in [lesson 4](../04_seq2seq_cross_attention/04_seq2seq_cross_attention.ipynb).
# </details>
#
# **2.** You append a token to `target_input`. Which of the earlier logits change, with a causal mask?
#
# <details><summary>Answer</summary>
#
# None. No earlier position may look at the new one. Remember this when we come to the cache.
# See `future_leak` in [lesson 5](../05_causal_masks/05_causal_masks.ipynb).
# </details>
#
# **3.** What is $\log(0.5 \cdot 0.25)$ in terms of log 0.5 and log 0.25?
#
# <details><summary>Answer</summary>
#
# Their sum. That is why the log-likelihood of an answer is a sum of log-probabilities, one for each token.
# See `sequence_cross_entropy` in [lesson 4](../04_seq2seq_cross_attention/04_seq2seq_cross_attention.ipynb).
# </details>
#
# Two out of three? Go on. Fewer? Read the linked pages first, then come back.
#
# Run the next cell first: it loads the tools. `plots` draws, and `lab` runs the longer experiments. Both belong to the
# course, and you can read them in `transformer_course/plots` and `transformer_course/lessons/lesson_07/experiments`.

# %% setup=true
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import torch
import torch.nn.functional as F
from IPython.display import display
from torch import nn

from transformer_course import guesses, plots
from transformer_course.attention import merge_heads, scaled_dot_product_attention, split_heads
from transformer_course.cached_model import CachedSeq2SeqTransformer
from transformer_course.causal import CausalSeq2SeqTransformer
from transformer_course.lessons.tables import measured
from transformer_course.lessons.lesson_07 import experiments as lab
from transformer_course.lengths import TRAINED, exact_by_length, lines_of
from transformer_course.seq2seq import Seq2SeqTransformer
from transformer_course.seq2seq_fitting import predict
from transformer_course.sequences import exact_match
from transformer_course.tasks import reversal

torch.set_num_threads(1)  # one thread: on a machine that others use too, two can be ten times slower

# %% [markdown]
# ## Part 1 · On its own
#
# ### The data
#
# Reversal again: rows of 1 to 10 letters go in, and the same letters come out backwards, followed by the end token. In
# this lesson the end token is shown as a full stop, and padding as `_`. A model from lesson 5, with one block on each
# side, learns the task in about 300 steps. We stop after 100, because a model that makes mistakes has more to teach
# today.
#
# The baselines are easy to state. There are ten letters, so a blind guess gets one letter in ten right. And a model
# that ends every answer immediately gets no row right.

# %%
letters = reversal.reversal_task(seed=0)
source, target = lab.tensors(letters.test[:200])  # (200, 10) and (200, 11)
hasty = lab.train_reverser(letters, 100, kind=CachedSeq2SeqTransformer, name="in haste")
shared = reversal.shared_rows(letters.train, letters.test)
print("test rows that also appear in the training data:", shared)
print("source", tuple(source.shape), " target", tuple(target.shape))
lab.side_by_side(source[:4], {"target": target[:4]})

# %% [markdown] exercise="greedy_decode" kind="core" difficulty=3 minutes=25
# The plainest way to choose a token is to take the most likely one, always. That is **greedy** decoding.
#
# The hard part is the batch. Many sources are answered at once, and their answers end at different times. A row that
# has ended must wait for the others, and nothing but padding may be written into it.
#
# ![A table of three answers over four steps. The source a gets a, end, padding, padding: it ends at step 2, and after that there is padding. The source abc gets c, b, a, end: it is the last to end. The source ab gets b, a, end, padding. After step 4 every row has ended, and the loop stops.](picture:rows_that_end)
#
# $$\text{next} = \arg\max_{v}\ \text{logits}[\text{last position}, v] \qquad \text{or } 0 \text{ where the row has ended}$$
#
# For example: after step 2 the three rows hold `a.`, `cb` and `ba`. The first has ended. In step 3 the model says
# something for all three rows, and for the first one we write 0 whatever it says. After step 4 every row has ended.
#
# In shapes: `written` starts as `(batch, 1)`, all start ids, and gains a column per step. What you return doesn't
# include the start.
#
# <details><summary>Hint 1</summary>
#
# What do you have to remember about each row from one step to the next, besides what it has written?
# </details>
# <details><summary>Hint 2</summary>
#
# A boolean `ended` of shape `(batch,)`. In each step: take the logits at the last position, argmax, 0 where `ended`,
# append, update `ended`, and stop when all rows have ended, or after `max_length` steps. No gradients are needed.
# </details>
# <details><summary>Hint 3</summary>
#
# `model(source, written)[:, ?].argmax(dim=-1)` is what each row would say next, and `.masked_fill(?, 0)` silences the
# rows that have ended. Then append `next_ids.unsqueeze(1)` as a column, and set `ended | (next_ids == end_id)`.
# </details>
#
# Docs: [torch.argmax](https://pytorch.org/docs/stable/generated/torch.argmax.html) ·
# [masked_fill](https://pytorch.org/docs/stable/generated/torch.Tensor.masked_fill_.html) ·
# [torch.no_grad](https://pytorch.org/docs/stable/generated/torch.no_grad.html).

# %% [markdown]
# **What you've built.** A writer. Here it writes six answers, step by step. Framed cells are ends, grey ones are waiting.

# %%
answers = greedy_decode(hasty, source[:6], lab.START, lab.END, lab.MAX_LENGTH)
plots.decoding_steps(
    [lab.letters_of(row) for row in source[:6]],
    [lab.shown(ids) for ids in answers],
    end=lab.END_MARK,
    title="Six answers, one token per step",
)

# %% [markdown]
# ### How many rows are right?
#
# On its own, a model with a causal mask gets as many *rows* right as with a teacher. Only *tokens* get lost, after a row's
# first mistake: that was the exposure bias of [lesson 5](../05_causal_masks/05_causal_masks.ipynb). So here we count rows:
# for the hasty model, and for one that has finished learning, after 300 steps.

# %%
alone = greedy_decode(hasty, source, lab.START, lab.END, lab.MAX_LENGTH)
greedy_scores = lab.scores(alone, target)
trained = lab.train_reverser(letters, 300, kind=CachedSeq2SeqTransformer, name="trained")
finished = greedy_decode(trained, source, lab.START, lab.END, lab.MAX_LENGTH)
print(f"rows that the hasty model gets right:   {greedy_scores['rows']:.3f}")
print(f"rows that the trained model gets right: {lab.scores(finished, target)['rows']:.3f}")

# %% [markdown]
# ## Part 2 · Sampling

# %% [markdown] exercise="sample_with_temperature" kind="core" difficulty=2 minutes=15
# If you always take the most likely word, you get a dull story, and the same one every time. So language models
# *sample*: each token comes up with its probability. One number says how bold they are, the
# **temperature**. The logits are divided by it before the softmax.
#
# ![The logits 2, 1, 0 at three temperatures. At 0.5, cautious: 0.87, 0.12, 0.02. At 1, unchanged: 0.67, 0.24, 0.09. At 2, bold: 0.51, 0.31, 0.19.](picture:temperatures)
#
# $$p_v = \text{softmax}\left(\frac{\text{logits}}{T}\right)_v$$
#
# For example: at temperature 0.5 the logits 2, 1, 0 become 4, 2, 0, so the first is $e^2 = 7.4$ times as likely as the
# second. At temperature 2 it is $e^{0.5} = 1.6$ times as likely. You can't divide by 0, so temperature 0 has a meaning
# of its own: take the most likely token.
#
# All randomness comes from the `generator` that is passed in. The same seed gives the same tokens.
#
# <details><summary>Hint 1</summary>
#
# Which case must not reach the division?
# </details>
# <details><summary>Hint 2</summary>
#
# `torch.multinomial` samples from probabilities, row by row. What shape does it return, and what shape do you want?
# </details>
# <details><summary>Hint 3</summary>
#
# `torch.multinomial(torch.softmax(?, dim=-1), num_samples=1, generator=generator).squeeze(1)`.
# </details>
#
# Docs: [torch.multinomial](https://pytorch.org/docs/stable/generated/torch.multinomial.html) ·
# [torch.Generator](https://pytorch.org/docs/stable/generated/torch.Generator.html).

# %% [markdown]
# **What you've built.** A bold writer, or a cautious one. We look for a place where the hasty model hesitates.

# %%
row, position, logits = lab.hesitation(hasty, source, target)  # logits (1, vocab_size)
names = lab.symbols()
so_far = lab.shown(target[row, :position])
print(f"source {lab.letters_of(source[row])}, written so far {so_far!r}: what comes next?")

# %% [markdown]
# There we sample 10,000 tokens. The frequencies should match the probabilities.


# %%
def at_temperature(temperature, seed=0):
    """Your sampler, with a generator of its own: (batch, vocab_size) -> (batch,)."""
    generator = torch.Generator().manual_seed(seed)
    return lambda scores: sample_with_temperature(scores, temperature, generator)


bars = {"probabilities, T = 1": torch.softmax(logits, dim=-1)[0]}
for temperature in (1.0, 0.5, 2.0):
    measured_now = lab.frequencies(at_temperature(temperature), logits, 10_000)
    bars[f"frequencies, T = {temperature:g}"] = measured_now
plots.chances(bars, names, title="10,000 samples per temperature")

# %% [markdown]
# **Does sampling help?** We let the hasty model write 200 answers at each temperature, one sample each.
# **Which temperature gets the most rows right?** Guess one of 0, 0.5, 1 and 1.5.

# %%
guess_temperature = None  # 0, 0.5, 1 or 1.5

by_temperature = {}
for temperature in (0, 0.5, 1, 1.5):
    ids = lab.sample_answers(at_temperature(temperature, seed=1), hasty, source)
    by_temperature[str(temperature)] = lab.scores(ids, target)["rows"]
best_temperature = max(by_temperature, key=by_temperature.get)
plots.bars(
    by_temperature,
    title="One sample each, by temperature",
    x_label="share of rows right",
    guess=str(guess_temperature),
)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - Temperature 0 gets at least 5 points more of the rows right than temperature 1, and temperature 1 more than 1.5. <!-- claim: cautious_is_right_more_often -->
#
# Where only one answer is right, randomness hurts. So why sample at all? Because a story can go on in many right
# ways. And because several samples are several attempts, as you will see after the break.
# </details>

# %% [markdown] exercise="top_k_filter" kind="core" difficulty=2 minutes=15
# A vocabulary holds thousands of unlikely tokens. Each has a tiny probability, but together they have a large one. Sooner
# or later one of them comes up, and the text goes off the rails. **Top-k** keeps the k most likely tokens and drops all
# others.
#
# ![Five tokens with probabilities 0.50, 0.25, 0.15, 0.07 and 0.03. With k = 2 the first two stay, the other three are hatched. The probabilities after that: 0.67, 0.33 and three zeros.](picture:top_k_cut)
#
# To drop a token, set its logit to $-\infty$. Softmax then gives it 0, and the others share what it had.
#
# For example: 0.50 and 0.25 stay, and are scaled up to 0.67 and 0.33. The logits 1, 4, 2, 3 with k = 2 become
# $-\infty$, 4, $-\infty$, 3.
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
# `logits.masked_fill(logits < ?, -torch.inf)` is a new tensor; the threshold has shape `(batch, 1)`.
# </details>
#
# Docs: [torch.topk](https://pytorch.org/docs/stable/generated/torch.topk.html) ·
# [masked_fill](https://pytorch.org/docs/stable/generated/torch.Tensor.masked_fill_.html).

# %% [markdown]
# **What you've built.** The place where the model hesitates, with 5, 3 and 1 tokens left.

# %%
plots.chances(
    {"all": torch.softmax(logits, dim=-1)[0]}
    | {f"top {k}": torch.softmax(top_k_filter(logits, k), dim=-1)[0] for k in (5, 3, 1)},
    names,
    title="Top-k",
)

# %% [markdown]
# Top 1 is greedy decoding. But which k is right? In one place a single token is certain, and k = 5 keeps four bad ones.
# In another, twenty tokens would be fine, and k = 5 drops fifteen of them.

# %% [markdown] exercise="top_p_filter" kind="core" difficulty=3 minutes=20
# **Top-p**, also called nucleus sampling, lets the model's own doubt decide. It takes tokens in order of probability,
# the most likely first, until their probabilities sum to p.
#
# ![The same five tokens with p = 0.8: three stay, 0.50, 0.25 and 0.15. Beside it the running sum, most likely first: 0.50, 0.75, 0.90, 0.97, 1.00. The third one crosses the dashed line at p = 0.8.](picture:top_p_cut)
#
# $$\text{keep the smallest set } S \text{ of most likely tokens with} \sum_{v \in S} p_v \geq p$$
#
# In numbers, with p = 0.8: 0.50 isn't enough, 0.50 + 0.25 = 0.75 isn't enough, and another 0.15 makes 0.90. So three
# tokens stay. The token that *crosses* p belongs to the set. With p = 0.3 one token stays: the set is never empty.
#
# A useful way to put it: a token is dropped when the more likely tokens *before* it have already reached p.
#
# <details><summary>Hint 1</summary>
#
# In which order do you have to look at the tokens, and how do you get back to the old order at the end?
# </details>
# <details><summary>Hint 2</summary>
#
# Sort in descending order, softmax, `cumsum`. The total *before* a token is the running sum minus its own probability.
# Drop the token where that is p or more, but never the first one.
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

# %% [markdown]
# **What you've built.** A cut that follows the model's doubt. Here are two places: the one where the model hesitates, and
# the first position of an answer, where it is fairly sure. **How many of the 13 tokens stay at the hesitating place
# with p = 0.9?**

# %%
guess_kept = None  # a number from 1 to 13

with torch.no_grad():
    sure_logits = hasty(source[:1], torch.tensor([[lab.START]]))[:, -1]  # (1, vocab_size)
places = {"hesitating": logits, "sure": sure_logits}
left = {name: top_p_filter(some_logits, 0.9) for name, some_logits in places.items()}
kept = {name: int(torch.isfinite(some_logits).sum()) for name, some_logits in left.items()}
print(f"your guess: {guess_kept}; tokens that stay: {kept}")
lab.draw_cuts(places, left, cut="p = 0.9", names=names, title="Top-p")

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - With the same p, more tokens stay where the model hesitates than where it is sure. <!-- claim: top_p_follows_doubt -->
#
# </details>
#
# In JupyterLab and Colab you can move all three controls here: first the temperature is applied, then top-k, then top-p.


# %%
def show_sampler(temperature=1.0, k=13, p=1.0):
    """What is left of the distribution at the place where the model hesitates."""
    left = top_p_filter(top_k_filter(logits / temperature, k), p)
    before, after = torch.softmax(logits, dim=-1)[0], torch.softmax(left, dim=-1)[0]
    both = {"unchanged": before, "with your controls": after}
    return display(plots.chances(both, names))


show_sampler(temperature=0.7, k=8, p=0.95)
lab.sliders(show_sampler, temperature=(0.1, 3.0, 0.7), k=(1, 13, 8), p=(0.05, 1.0, 0.95))

# %% [markdown] exercise="generate" kind="core" difficulty=2 minutes=20
# Now put it all together: the loop from `greedy_decode`, and in place of argmax the three controls, in the order in
# which language models usually apply them.
#
# $$\text{logits} \;\xrightarrow{\ /\,T\ }\; \text{top-k} \;\longrightarrow\; \text{top-p} \;\longrightarrow\; \text{sample}$$
#
# The order matters. Take the probabilities 0.45, 0.27, 0.18, 0.06, 0.04 with k = 3 and p = 0.75. Top-k first: three
# tokens stay, scaled up to 0.5, 0.3 and 0.2. Of these, 0.5 + 0.3 = 0.8 is enough, so top-p leaves two. Top-p first:
# 0.45 + 0.27 = 0.72 isn't enough, so it keeps three tokens, and so does top-k.
#
# And the temperature comes before both, because top-p adds up probabilities, and those depend on the temperature.
#
# <details><summary>Hint 1</summary>
#
# Which line of `greedy_decode` has to change, and which of your functions can do the work there?
# </details>
# <details><summary>Hint 2</summary>
#
# Divide, filter, filter, sample. If you sample with `sample_with_temperature`, which temperature do you pass, now that
# you have already divided? And where does temperature 0 go?
# </details>
# <details><summary>Hint 3</summary>
#
# `top_p_filter(top_k_filter(?, k), p)` are the logits to sample from, at temperature 1. At temperature 0, take
# `logits.argmax(dim=-1)` instead.
# </details>
#
# Docs: [torch.multinomial](https://pytorch.org/docs/stable/generated/torch.multinomial.html) ·
# [torch.no_grad](https://pytorch.org/docs/stable/generated/torch.no_grad.html).

# %% [markdown]
# **What you've built.** The loop at the heart of every chatbot. Thirteen symbols don't do it justice, so let's give it a
# book.
#
# ### A book to continue
#
# The course comes with the first 22 chapters of *Moby Dick*, about 217,000 characters. `lab.read_the_book` makes a
# **character model** of them. It isn't a Transformer: it counts which character followed each run of five characters,
# and falls back on shorter runs where it has seen too little. For a book this short, counting gets
# surprisingly far, in a few seconds.
#
# Don't expect Melville. The model knows spelling and short phrases, hardly any grammar, and nothing about whales. That is
# enough to see what samplers do. And your `generate` doesn't mind: a decoder never asks where the logits come from.

# %%
reading = lab.read_the_book()
every = len(reading.model.characters)  # with k = every, top-k is off
print(f"{every} different characters")
print(f"loss on unseen text: {reading.loss:.2f} nats per character")

# %% [markdown]
# Now it writes, with your `generate`. Each setting continues the same prompt eight times. The table shows the first
# passage, how many of the eight start differently, and how many of the words in all eight occur somewhere in the book.
#
# **At temperature 1, without any filter, what share of the words will occur in the book?**

# %%
guess_words = None  # a percentage, from 0 to 100

prompt = "I looked at the captain, and "
settings = [(0, every, 1.0), (0.7, every, 1.0), (1.0, every, 1.0), (1.5, every, 1.0)]
written = lab.passages(generate, reading, prompt, settings)
words_at_1 = int(written["words in the book"][2].rstrip("%"))
print(f"your guess: {guess_words}%, measured: {words_at_1}%")
with pd.option_context("display.max_colwidth", None):
    display(written)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - At temperature 0 all eight passages are the same, and this one soon goes round in circles. <!-- claim: greedy_goes_in_circles -->
# - At temperature 1, 82 to 94% of the words occur in the book; at 1.5, it is 68 to 82%. <!-- claim: bold_words_are_invented -->
#
# By the measure of words, greedy is perfect: every word of the circle is English. So a score that likes likely text
# likes loops. At 0.7 you get variety and real words.
# </details>
#
# The same model at temperature 1, with different filters:

# %%
filters = [
    (1.0, 20, 1.0),
    (1.0, 5, 1.0),
    (1.0, every, 0.95),
    (1.0, every, 0.5),
]
with pd.option_context("display.max_colwidth", None):
    display(lab.passages(generate, reading, prompt, filters))

# %% [markdown]
# **What you should see**
#
# - With top-p 0.5, more of the words occur in the book than without a filter. <!-- claim: filters_keep_words_real -->
#
# Read the passages, not only the percentages. A filter removes the characters that almost never follow, and with them
# the slips that start a run of nonsense. A tight filter also removes the surprises.
#
# ### A Transformer's turn
#
# The counter sees five characters. What if the model sees the whole text so far? The course comes with a small
# Transformer, the storyteller: 800,000 numbers that have learnt one kind of fairy tale. It reads pieces of words, like
# those of your tokenizer in lesson 2, and in lesson 12 you'll build its model yourself. Your `generate` can use it right away:
# four passages at each temperature. The table shows the first, and how many of the words in all four occur in such tales.

# %%
with pd.option_context("display.max_colwidth", None):
    display(lab.tell(generate, "Once upon a time, there lived a", [0, 0.7, 1.0, 2.0]))

# %% [markdown]
# **What you should see**
#
# - At temperature 0 it doesn't go round in circles: no run of eight words comes twice, and the heroine keeps her name. <!-- claim: a_transformer_remembers -->
# - At 0.7 it tells a different tale, and at least 90% of the words still occur in such tales. At 2 it is 58 to 75%. <!-- claim: a_bold_transformer_rambles -->
#
# (The words that are missing at 0.7 are mostly names, which it makes up.) It isn't a fair race: these tales are simpler than the
# novel, and pieces of words are harder to misspell than single characters. But a better model does give the sampler more room,
# and still no model survives every temperature.
#
# ## The bug clinic
#
# Two patients today. The first is a scoring function. A colleague wrote it to measure both ways, with a teacher and
# without. Read it. Is anything wrong?


# %%
def colleagues_score(model, source, target, mode):
    """Rows right: with a teacher, or on its own."""
    if mode == "teacher" or "teacher forced":
        ids = predict(model, source, target, start_id=lab.START).argmax(dim=-1)
    else:
        ids = greedy_decode(model, source, lab.START, lab.END, lab.MAX_LENGTH)
    return exact_match(ids, target).item()


# %% [markdown]
# The colleague passes in the model of lesson 4, the one without a mask, and asks for `mode="on its own"`. You know that
# model: with a teacher it is perfect, because it reads the answer. **What does the colleague's function return?**
#
# 1. Less than 5%.
# 2. About half.
# 3. More than 95%.

# %%
guess_score = None  # 1, 2 or 3

unmasked = lab.train_reverser(letters, 300, kind=Seq2SeqTransformer, name="without a mask")
reported = colleagues_score(unmasked, source, target, mode="on its own")
ids = greedy_decode(unmasked, source, lab.START, lab.END, lab.MAX_LENGTH)
really = lab.scores(ids, target)["rows"]
what_it_says = 1 if reported < 0.05 else 3 if reported > 0.95 else 2
print(f"your guess: {guess_score}, measured: {what_it_says}")
plots.bars(
    {"what the function returns": reported, "really on its own": really},
    title="A model without a mask",
    x_label="share of rows right",
)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - The function returns about 100%; really on its own, the model gets no row right, or hardly any. <!-- claim: the_branch_is_never_reached -->
#
# `mode == "teacher" or "teacher forced"` is always true, because a string that isn't empty counts as true. So the second
# branch is never reached, and every score is one with a teacher. A quick test for such a function: pass in wrong
# targets. What the model writes on its own must not change with them.
# </details>
#
# The second patient is a decoder.


# %%
def colleagues_decode(model, sources):
    """The most likely tokens, until the answers have ended."""
    written = torch.full_like(sources[:, :1], lab.START)
    for _ in range(lab.MAX_LENGTH):
        next_ids = model(sources, written)[:, -1].argmax(dim=-1)
        written = torch.hstack([written, next_ids[:, None]])
        if (next_ids == lab.END).all():
            break
    return written[:, 1:].detach()


# %% [markdown]
# With one source it works. With many, it stops only if *all* rows happen to say their end in the same step, which hardly
# ever happens. **What will `exact_match` say about it, compared with your decoder?**
#
# 1. Its score is lower.
# 2. It is the same.
# 3. It is higher.

# %%
guess_match = None  # 1, 2 or 3

theirs = colleagues_decode(hasty, source)
their_rows, your_rows = lab.scores(theirs, target)["rows"], greedy_scores["rows"]
compared = 1 if their_rows < your_rows else 3 if their_rows > your_rows else 2
print(f"your guess: {guess_match}, measured: {compared}")
print(f"rows right: yours {your_rows:.3f}, the colleague's {their_rows:.3f}")
short = [row for row in range(200) if (source[row] != 0).sum() <= 4][:4]
lab.side_by_side(source[short], {"yours": alone[short], "the colleague's": theirs[short]})

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - `exact_match` gives both decoders the same score. <!-- claim: the_score_is_blind -->
# - In the batch, more than half of the colleague's answers go on after their end. Yours never do. <!-- claim: it_writes_after_the_end -->
#
# The score looks only at positions where the target has tokens, so it never sees what comes after the end. A reader
# would see it, and a chatbot would go on talking.
# </details>

# %% [markdown] exercise="ends_each_sequence" kind="core" difficulty=3 minutes=20
# Write the test that would have caught it. Batching is a convenience. It must not change the answer that any row gets.
#
# ![In a batch, the source a gets a, end and two paddings, next to the source abc, which gets c, b, a, end. Alone, the source a gets a, end. Are the two answers equal? Padding does not count.](picture:alone_and_together)
#
# | decoder | in a batch | alone | result |
# |---|---|---|---|
# | yours | `a.__` | `a.` | True |
# | goes on after the end | `a.ac` | `a.` | False |
# | stops at the first end | `cb` for abc | `cba.` | False |
#
# <details><summary>Hint 1</summary>
#
# How do you make a batch of one out of row i? And how do you compare two answers of different widths?
# </details>
# <details><summary>Hint 2</summary>
#
# Decode all sources together, then each one by itself. Compare the ids that aren't 0. A single difference is enough for
# False.
# </details>
# <details><summary>Hint 3</summary>
#
# `decode(model, source.unsqueeze(0))[0]` is the answer alone, and `row[row != 0].tolist()` leaves the padding out.
# </details>
#
# Docs: [torch.unsqueeze](https://pytorch.org/docs/stable/generated/torch.unsqueeze.html) ·
# [Tensor.tolist](https://pytorch.org/docs/stable/generated/torch.Tensor.tolist.html).

# %% [markdown]
# **What you've built.** A test for decoders. It gets four patients: yours, the colleague's, and these two.


# %%
def your_decode(model, sources):
    return greedy_decode(model, sources, lab.START, lab.END, lab.MAX_LENGTH)


def impatient_decode(model, sources):
    """Stops when the first row has ended."""
    ids = your_decode(model, sources)
    ends = (ids == lab.END).any(dim=0)  # (columns,)
    first = int(ends.int().argmax()) + 1 if ends.any() else ids.shape[1]
    return ids[:, :first]


bold = at_temperature(2.0)


def sampling_decode(model, sources):
    """Samples every token, with one generator for all calls."""
    return lab.sample_answers(bold, model, sources)


# %% [markdown]
# Each of them answers twelve sources. **Which of the four do you trust?** Make up your mind, then run the cell.

# %%
patients = {
    "yours": your_decode,
    "the colleague's": colleagues_decode,
    "impatient": impatient_decode,
    "sampling": sampling_decode,
}
verdicts = {}
for name, decode in patients.items():
    passes = ends_each_sequence(decode, hasty, source[:12])
    verdicts[name] = "yes" if passes else "no"
pd.DataFrame({"same answers alone?": verdicts})

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - Only your decoder passes. <!-- claim: who_ends_each_sequence -->
#
# The last one isn't sick. It samples something different each time, so this test isn't made for it. Test a sampler by
# its frequencies, as the checks of this lesson do.
# </details>
#
# ## Time for a break
#
# You can make any model write, cautiously or boldly, and you have everything that later lessons need. What follows is
# *stretch*: better answers, and faster ones.
#
# Before you go, here is a question to take with you. Greedy decoding takes the best token at each step. Is the answer at
# the end the best answer?

# %% [markdown]
# ## Part 3 · Several answers

# %% [markdown] exercise="beam_search" kind="stretch" difficulty=4 minutes=40
# Here is a model so small that we know all its answers. There are five of them.
#
# ![A tree. From the start, a has probability 0.6 and b 0.4. After a: a 0.4, b 0.3, end 0.3. After b: end 0.9, a 0.1. The five answers and their probabilities: aa, end 0.24; ab, end 0.18; a, end 0.18; b, end 0.36; ba, end 0.04. Greedy follows the dashed arrows to 0.24. The most likely answer is b, end with 0.36, along the thick arrows.](picture:tree_of_answers)
#
# Greedy takes a, since 0.6 is more than 0.4. From there on, no answer has more than 0.24. But `b.` has 0.36: **greedy
# missed it**, and nothing it does later can make up for the first step.
#
# **Beam search** keeps several prefixes. In each step it extends each of them by every token, and keeps only the
# `beam_width` best of all these extensions.
#
# | step | prefixes (width 2) | the extensions | kept |
# |---|---|---|---|
# | 1 | start | a 0.6, b 0.4 | a, b |
# | 2 | a, b | aa 0.24, ab 0.18, `a.` 0.18, `b.` 0.36, ba 0.04 | `b.` (ended), aa |
# | 3 | aa | `aa.` 0.24 | `aa.` (ended) |
#
# Two answers have ended, with 0.36 and 0.24, and the better one is taken. The table holds probabilities; a program adds
# log-probabilities, as in question 3 of the two-minute test.
#
# There is one more thing. Every token makes a sum of log-probabilities smaller, so sums favour *short* answers. A
# **length penalty** makes up for that:
#
# $$\text{score} = \frac{\sum \log p}{\text{length}^{\,\alpha}} \qquad \alpha = \text{length\_penalty}, \text{ and the length includes the end}$$
#
# In numbers, with $\alpha = 1$: `b.` scores (log 0.36) / 2 = -0.51, and `aa.` scores (log 0.24) / 3 = -0.48. Now `aa.`
# wins. With $\alpha = 0$ there is no penalty.
#
# <details><summary>Hint 1</summary>
#
# Write it for one source first, with a list of (ids, sum) for the prefixes and one for the answers that have ended. How
# do you get from one step to the next?
# </details>
# <details><summary>Hint 2</summary>
#
# Read all prefixes as one batch: they have the same length. Add their sums to the log-probabilities, `(prefixes,
# vocab_size)`, flatten, take the `beam_width` best, and find out for each one which prefix and which token it was. What
# is still unfinished at `max_length` competes too.
# </details>
# <details><summary>Hint 3</summary>
#
# `prefix, token = divmod(place, vocab_size)` takes a flat index apart. At the end, `max(finished + alive, key=...)` with
# `total / len(answer) ** length_penalty`, and `torch.nn.utils.rnn.pad_sequence` joins the rows.
# </details>
#
# Docs: [torch.topk](https://pytorch.org/docs/stable/generated/torch.topk.html) ·
# [torch.log_softmax](https://pytorch.org/docs/stable/generated/torch.nn.functional.log_softmax.html) ·
# [pad_sequence](https://pytorch.org/docs/stable/generated/torch.nn.utils.rnn.pad_sequence.html).

# %% [markdown]
# **What you've built.** The tree, searched: greedily, with two beams, and with two beams and a length penalty.

# %%
tree_source = torch.tensor([[3]])  # the tree ignores it
every_answer = lab.tree_answers()


def on_the_tree(decode, *options):
    ids = decode(lab.tree_model, tree_source, lab.TREE_START, lab.TREE_END, 4, *options)  # at most 4 tokens
    return lab.tree_text(ids[0])


found = {
    "greedy": on_the_tree(greedy_decode),
    "2 beams": on_the_tree(beam_search, 2),
    "2 beams, penalty 1": on_the_tree(beam_search, 2, 1.0),
}
print({name: f"{answer} {every_answer[answer]:.2f}" for name, answer in found.items()})
plots.bars(every_answer, title="All answers of the tree", x_label="probability")

# %% [markdown]
# **What you should see**
#
# - Greedy finds an answer with probability 0.24. Two beams find the most likely one, with 0.36. <!-- claim: greedy_is_wrong_on_the_tree -->
# - With a length penalty of 1, two beams prefer the longer answer, with 0.24. <!-- claim: the_penalty_prefers_long -->
#
# How strong should the penalty be? Wu and others (2016, section 7) needed one because their translations came out too
# short without it, and they chose its strength on held-out data. So should you.
#
# Now the hasty model, on 200 rows. Part 1 printed the share that greedy decoding gets right. **What share will four beams
# get right?**

# %%
guess_beams = None  # a share, from 0 to 1

beams = {"1 (greedy)": alone}
for beam_width in (2, 4):
    ids = beam_search(hasty, source, lab.START, lab.END, lab.MAX_LENGTH, beam_width)
    beams[str(beam_width)] = ids
beam_rows = {name: lab.scores(ids, target)["rows"] for name, ids in beams.items()}
likelihood = {}
for name, ids in beams.items():
    likelihood[name] = lab.log_likelihood(hasty, source, ids).mean().item()
print(f"your guess: {guess_beams}, measured: {beam_rows['4']:.3f}")
table = pd.DataFrame({"rows right": beam_rows, "mean log-likelihood": likelihood})
table.rename_axis("beams").round(3)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - The answers of four beams are more likely on average than the greedy ones. <!-- claim: beams_are_more_likely -->
# - A few more of them are right: 1 to 6.5 points, depending on the seed. <!-- claim: beams_help_a_little -->
#
# A search can only find what the model believes in. Where the model believes in a wrong answer, no beam helps.
# </details>

# %% [markdown] exercise="best_of_n" kind="stretch" difficulty=3 minutes=25
# There is another way to get several answers: sample n of them, and keep one. But which? If nobody knows the right
# answer, the model has to be its own judge. **Best-of-n** by likelihood keeps the answer with the highest
# log-likelihood.
#
# ![Four sampled answers to abc, with their log-likelihoods. cba, end has -2.0 and is right. cbb, end has -1.2, is wrong, and is framed: best of 4 keeps this one. cab has -3.4, ccb has -4.1, both wrong. pass@4 counts the right one: it needs somebody who can tell, while best of 4 needs only the model.](picture:best_of_many)
#
# $$\text{best} = \arg\max_{a \in \{a_1, \dots, a_n\}} \sum_t \log p(a_t \mid a_{<t}, \text{source})$$
#
# For example: of -2.0, -1.2, -3.4 and -4.1 the highest is -1.2. Here that answer is wrong: the model is more certain of a
# wrong answer than of the right one.
#
# You can sample all n answers to all sources in one batch of `batch * n` rows. Add up the log-probabilities of the
# sampled tokens, and stop adding in a row that has ended.
#
# <details><summary>Hint 1</summary>
#
# Which of your functions is almost this one? What does it have to remember in addition?
# </details>
# <details><summary>Hint 2</summary>
#
# `source.repeat_interleave(n, dim=0)`, then the loop of `greedy_decode` with `sample_with_temperature` at temperature 1,
# and a running sum for each row. At the end, look at the sums as `(batch, n)` and take the best of each row.
# </details>
# <details><summary>Hint 3</summary>
#
# `log_softmax(...).gather(1, sampled.unsqueeze(1)).squeeze(1)` is what a step adds, and 0 where the row has ended. Then
# `written.reshape(batch, n, -1)[?, best, 1:]`, which takes one answer from each row.
# </details>
#
# Docs: [repeat_interleave](https://pytorch.org/docs/stable/generated/torch.repeat_interleave.html) ·
# [torch.gather](https://pytorch.org/docs/stable/generated/torch.gather.html).

# %% [markdown]
# **What you've built.** Another way to pick an answer. Here it picks one of 1, 2, 4, 8 and 16, for each of the 200 sources.

# %%
counts = [1, 2, 4, 8, 16]
generator = torch.Generator().manual_seed(0)
picked = {}
for n in counts:
    picked[n] = best_of_n(hasty, source, lab.START, lab.END, lab.MAX_LENGTH, n, generator)
print("the best of 16:", tuple(picked[16].shape))
lab.side_by_side(source[:4], {f"best of {n}": ids[:4] for n, ids in picked.items()})

# %% [markdown]
# We compare it with **pass@n** (Chen and others 2021, section
# 2.1): the share of sources for which *any* of n sampled answers is right. To count that, somebody has to know which
# answer is right. In practice this is usually a **verifier**: a program that checks a sum, the unit tests that a piece
# of code must pass, or another model that was trained to judge.
#
# **With n = 16, which is the highest?**
#
# 1. Best-of-16 by likelihood.
# 2. Greedy.
# 3. pass@16.

# %%
guess_many = None  # 1, 2 or 3

many = {
    "pass@n, T = 0.5": lab.pass_at(at_temperature(0.5), hasty, (source, target), counts),
    "pass@n, T = 1": lab.pass_at(at_temperature(1.0), hasty, (source, target), counts),
    "vote of n, T = 0.5": lab.vote_of(at_temperature(0.5), hasty, (source, target), counts),
    "best of n by likelihood": [lab.scores(ids, target)["rows"] for ids in picked.values()],
}
best, greedy, any_of = many["best of n by likelihood"], greedy_scores["rows"], many["pass@n, T = 0.5"]
ranking = {1: best[-1], 2: greedy, 3: any_of[-1]}
print(f"your guess: {guess_many}, measured: {max(ranking, key=ranking.get)}")
lab.draw_many(many, counts, greedy=greedy)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - pass@16 at temperature 0.5 is at least 10 points above greedy decoding. <!-- claim: any_of_many -->
# - Best-of-16 by likelihood ends up close to greedy decoding, within 8 points. <!-- claim: likelihood_is_no_verifier -->
# - Best-of-16 beats a single sample by at least 5 points. <!-- claim: best_beats_one -->
# - A vote among 16 samples at temperature 0.5, where the most frequent answer wins, ends up within 8 points of greedy decoding too. <!-- claim: a_vote_is_no_verifier -->
#
# So the right answer is often *among* the samples. Choosing by likelihood only gets you back to about what greedy finds,
# and so does a vote, although voting does help large models with word problems (Wang and others, 2023, section 3).
# To get further here you need a better judge: a program that checks the answer. When you read "pass@100", ask who does the picking.
# </details>
#
# ### Can a decoder rescue it?
#
# One question is left over from lesson 6. Our models fail on rows that are longer than those in training. Perhaps they
# only *choose* badly? We take the model that trained for 300 steps and give it every chance: three ways to write.


# %%
def greedily(source, target):
    return greedy_decode(trained, source, lab.START, lab.END, target.shape[1])


def with_beams(source, target):
    return beam_search(trained, source, lab.START, lab.END, target.shape[1], 4)


def by_luck(source, target):
    """One of eight samples that is right, if there is one."""
    return lab.luckiest(at_temperature(1.0), trained, source, target, samples=8)


# %% [markdown]
# **Which line will be above one half at 12 letters?**
#
# 1. Four beams.
# 2. pass@8.
# 3. Both.
# 4. Neither.

# %%
guess_rescue = None  # 1, 2, 3 or 4

ways = {"greedy": greedily, "4 beams": with_beams, "pass@8": by_luck}
rescue_lengths = (8, 9, 10, 11, 12)
new_rows = {"exclude": letters.train, "lengths": rescue_lengths, "count": 50}
rescue = {name: exact_by_length(way, exact_match, **new_rows) for name, way in ways.items()}
above = (rescue["4 beams"][12] > 0.5, rescue["pass@8"][12] > 0.5)
rescuer = {(True, False): 1, (False, True): 2, (True, True): 3, (False, False): 4}[above]
print(f"your guess: {guess_rescue}, measured: {rescuer}")
lesson_6 = lines_of(measured("06_lengths"))["rotary"]
so_far = {"lesson 6, rotary": {length: lesson_6[length] for length in rescue_lengths}}
plots.by_length(so_far | rescue, trained=TRAINED, x_label="letters")

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - At 12 letters, no way of decoding gets more than one row in ten right. <!-- claim: no_rescue -->
#
# These are the last lines in the plot that began in lesson 4 (the line from lesson 6 was measured beforehand). None of
# the ways of decoding changes where this model stops. Going further is a question about positions: lesson 6 ended with an
# adder that does, and lesson 14 asks what it takes.
# </details>
#
# ## Time for a break
#
# Your models write well. Now they write the same thing faster. Before you go: in step 100 your loop gives the model 100
# tokens. How many of them has it never read before?

# %% [markdown]
# ## Part 4 · Faster

# %% [markdown] exercise="KeyValueCache" kind="stretch" difficulty=2 minutes=15
# Look at your loop. In step 100 it gives the model 100 tokens. But the model already read 99 of them in the step before,
# and because of the causal mask nothing about them has changed. Their keys and values are the same as before.
#
# ![Two staircases of five steps. Without a cache, step t reads t tokens: 1 + 2 + 3 + 4 + 5 = 15 tokens read. With a cache only the last token of each step is read, the others are kept: 5 tokens read.](picture:cache_grid)
#
# So we keep them. A **cache** remembers the keys and values of each layer; people call it a *KV cache*. The new token
# brings one query, one key and one value, and its query is compared with all keys so far.
#
# $$n \text{ tokens: without a cache } 1 + 2 + \dots + n = \frac{n(n+1)}{2} \text{ tokens read, with it } n$$
#
# In shapes: a layer passes in keys and values `(batch, heads, new, d_head)`, usually with new = 1, and gets back all of
# them so far, `(batch, heads, length so far, d_head)`.
#
# <details><summary>Hint 1</summary>
#
# Several layers share one cache. What happens if they mix up their keys?
# </details>
# <details><summary>Hint 2</summary>
#
# A dictionary from the number of a layer to its pair. The first time, there is nothing to append to.
# </details>
# <details><summary>Hint 3</summary>
#
# `torch.cat([earlier_keys, keys], dim=?)`, along the axis of the tokens. The same for the values. Store both, return
# both.
# </details>
#
# Docs: [torch.cat](https://pytorch.org/docs/stable/generated/torch.cat.html) ·
# [dict](https://docs.python.org/3/library/stdtypes.html#mapping-types-dict).

# %% [markdown]
# **What you've built.** A memory. We push one token after another through the model, and look at what the cache holds.

# %%
cache = KeyValueCache()
with torch.no_grad():
    states = trained.encode(source[:2])
    whole = trained(source[:2], target[:2])  # all at once, (2, 11, 13)
    steps = [trained.decode_step(target[:2, t : t + 1], states, cache) for t in range(4)]
    nothing = torch.empty(2, 4, 0, 16)  # append nothing, and get back everything so far
    keys, values = cache.append(1, nothing, nothing)
difference = (torch.cat(steps, 1) - whole[:, :4]).abs().max()
print("keys of the first self-attention after 4 tokens:", tuple(keys.shape))
print(f"step by step or all at once: the logits differ by {difference:.1e}")

# %% [markdown] exercise="cached_greedy_decode" kind="stretch" difficulty=3 minutes=20
# Now give your decoder a memory. The model has two methods for it: `encode(source)`, which you need once, and
# `decode_step(tokens, encoder_states, cache)`, which reads *one* new token per row and gives logits
# `(batch, 1, vocab_size)`. Everything else stays the same: argmax, padding, ends.
#
# For example: to write 100 tokens it reads 100, while `greedy_decode` reads 5,050.
#
# <details><summary>Hint 1</summary>
#
# What goes into `decode_step` in the first step, and what in the next?
# </details>
# <details><summary>Hint 2</summary>
#
# Keep `tokens` of shape `(batch, 1)`, which holds the start ids at first, and a list of what has been written. Encode
# once, before the loop.
# </details>
# <details><summary>Hint 3</summary>
#
# `model.decode_step(?, encoder_states, cache).argmax(dim=-1)` has the shape `(batch, 1)`, and so has `ended`. What comes
# out goes back in.
# </details>
#
# Docs: [torch.cat](https://pytorch.org/docs/stable/generated/torch.cat.html) ·
# [torch.no_grad](https://pytorch.org/docs/stable/generated/torch.no_grad.html).

# %% [markdown]
# **What you've built.** The same text with less work. First the proof that it *is* the same, on 200 rows and two models.

# %%
for name, model in (("hasty", hasty), ("trained", trained)):
    slow = greedy_decode(model, source, lab.START, lab.END, lab.MAX_LENGTH)
    fast = cached_greedy_decode(model, source, lab.START, lab.END, lab.MAX_LENGTH)
    print(f"{name:8} identical tokens: {lab.same_ids(slow, fast)}")

# %% [markdown]
# Now the work and the time. An untrained model writes answers of 25 to 200 tokens; what it writes doesn't matter here.
# **How many tokens does `greedy_decode` read to write 200?**

# %%
guess_reads = None  # a number

answer_lengths = [25, 50, 100, 200]
long_writer = lab.long_writer(longest=200)
decoders = {"without a cache": greedy_decode, "with a cache": cached_greedy_decode}
work = {}
for name, decode in decoders.items():
    work[name] = lab.tokens_read(decode, long_writer, answer_lengths)
slow_reads, fast_reads = (numbers[-1] for numbers in work.values())
print(f"your guess: {guess_reads}; tokens read for 200: {slow_reads:,} and {fast_reads}")
lab.draw_costs("tokens read", work, answer_lengths)

# %% [markdown]
# And the time. **How many times faster is the cache when 200 tokens are written?**

# %%
guess_faster = None  # a number

took = {}
for name, decode in decoders.items():
    took[name] = lab.seconds(decode, long_writer, answer_lengths)
faster = took["without a cache"][-1] / took["with a cache"][-1]
print(f"your guess: {guess_faster}; the cache is {faster:.1f} times faster")
lab.draw_costs("seconds", took, answer_lengths)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - Both decoders write the same tokens. <!-- claim: the_cache_changes_nothing -->
# - For 200 tokens, 20,100 are read without a cache, and 200 with one. <!-- claim: quadratic_against_linear -->
# - For 200 tokens the cache is clearly faster: more than 1.5 times as fast, and 5 to 8 times in most of our runs. <!-- claim: the_cache_is_faster -->
#
# A hundred times fewer tokens to read, but not a hundred times faster. Each step also has fixed costs that don't depend
# on the length, and the new query is still compared with *all* keys.
# </details>

# %% [markdown] exercise="decode_one_step" kind="stretch" difficulty=4 minutes=35
# So far `decode_step` came with the model. That step is where the cache is put to use, so now you write one
# yourself. It is the decoder of lesson 4, for a single new token.
#
# ![What goes in: the token at position 2, the newest of three. It gets its embedding and row 2 of the positions, and becomes x. In each block x goes through self-attention, cross-attention, which also reads the encoder states, and feed-forward. What is kept: self-attention puts the new key and value into the cache of its block, next to those of positions 0 and 1, and gets back all keys and values so far. What comes out, after the last block, the norm and the head: logits for the next token, (batch, 1, vocab_size).](picture:one_step_of_a_decoder)
#
# | part of a block | what the new token needs |
# |---|---|
# | self-attention | its own query; the keys and values of *all* tokens so far, from the cache |
# | cross-attention | its own query; the encoder states, which don't change |
# | feed-forward, norms | only itself |
#
# Only self-attention needs the past, so only there does the cache come in. And there is no causal mask: whatever is in
# the cache lies in the past, or is the newest token itself.
#
# In shapes: x is `(batch, 1, d_model)` from beginning to end. The query is `(batch, heads, 1, d_head)`, the keys and
# values are `(batch, heads, position + 1, d_head)`, so the attention weights are `(batch, heads, 1, position + 1)`.
#
# <details><summary>Hint 1</summary>
#
# `model.target_positions(...)` adds the positions 0, 1, 2, ... to a row. Which position does it give to a row of length
# 1? Where do you find the right one?
# </details>
# <details><summary>Hint 2</summary>
#
# Write the block as in lesson 4, with three residual connections. In place of the call to `block.self_attention`, use
# its parts: `query`, `key`, `value`, split the heads, append to the cache, attend, merge the heads, `output`.
# </details>
# <details><summary>Hint 3</summary>
#
# `cache.append(layer, ?, ?)` returns keys and values. Then `scaled_dot_product_attention(query, keys, values)`, which returns a
# pair. `enumerate(model.decoder)` gives you the number of each block.
# </details>
#
# Docs: [enumerate](https://docs.python.org/3/library/functions.html#enumerate) ·
# [torch.Tensor.transpose](https://pytorch.org/docs/stable/generated/torch.Tensor.transpose.html).

# %% [markdown]
# **What you've built.** The inner step of a fast decoder. Compare it with reading the whole answer at once, for the trained
# model and an answer of 9 tokens.

# %%
ten = source[(source != 0).all(dim=1)][:5]  # rows of ten letters, (5, 10)
prefix = torch.cat([torch.full_like(ten[:, :1], lab.START), ten.flip(1)[:, :8]], dim=1)
cache = KeyValueCache()
with torch.no_grad():
    states, mask = trained.encode(ten), (ten != 0)[:, None, None, :]
    steps = []
    for t in range(prefix.shape[1]):
        newest = prefix[:, t : t + 1]
        steps.append(decode_one_step(trained, newest, t, states, mask, cache))
    whole = trained(ten, prefix)
difference = (torch.cat(steps, dim=1) - whole).abs().max()
print(f"step by step or all at once: the logits differ by {difference:.1e}")

# %% [markdown]
# ### What a cache costs
#
# A cache trades memory for time. Every layer stores two tensors, and every token has a vector of `d_head` numbers per
# head in each of them:
#
# $$\text{bytes} = 2 \cdot \text{layers} \cdot \text{heads} \cdot d_{\text{head}} \cdot \text{length} \cdot \text{bytes per number}$$
#
# The smallest LLaMA has 32 layers and 32 heads of 128 numbers (Touvron and others 2023, table 2). At 2 bytes per number
# and 2,048 tokens, that makes $2 \cdot 32 \cdot 32 \cdot 128 \cdot 2048 \cdot 2 = 1{,}073{,}741{,}824$ bytes: one gibibyte *for each
# text* that is being written.
#
# There is a second cost. `torch.cat` copies everything it joins, so appending one token copies all tokens before it. If
# you know the maximal length, you can **preallocate**: make room once, write each new key into the next free place, and
# return a view of the part that is filled. `lab.PreallocatedCache` does that. We append 1,000 tokens to both.

# %%
sizes = {
    "our long writer, 200 tokens": lab.cache_bytes(2, 4, 16, 200),
    "smallest LLaMA, 2,048 tokens": lab.cache_bytes(32, 32, 128, 2048, bytes_per_number=2),
}
for name, size in sizes.items():
    print(f"{name}: {size / 2**20:,.1f} MiB per text")
milliseconds = {
    "your cache": 1000 * lab.append_many(KeyValueCache, 1000),
    "preallocated": 1000 * lab.append_many(lambda: lab.PreallocatedCache(1000), 1000),
}
plots.bars(milliseconds, title="Appending 1,000 tokens one by one", x_label="milliseconds")

# %% [markdown]
# ## Explain it
#
# A friend has a chatbot that repeats itself: "I think that I think that I think that". It uses greedy decoding. "I'll use
# beam search with 50 beams," says the friend. "It finds better answers."
#
# Answer in four or five sentences, in your own words. What does beam search look for, why might that make things worse,
# and what would you try?

# %% [markdown] explain=true
# Beam search looks for an answer that is likely under the model, so it finds what the model itself believes in. A loop
# such as "I think that" can be very likely token by token: once it has been written, writing it again looks plausible.
# More beams then only find the loop more reliably, because it is what they are searching for. In a chat many answers are
# fine, so I would sample instead, with a temperature a little below 1, and with top-p to keep very unlikely tokens out.
# I would look at the distribution at the place where the loop begins, and judge by reading answers, not by their
# likelihood.

# %% [markdown]
# ## How good were your guesses?
#
# Here are your guesses next to what happened. A wrong guess is worth more than none: it shows you where to look.

# %%
board = [
    ("temperature with the most rows right", guess_temperature, float(best_temperature)),
    ("tokens that stay with p = 0.9", guess_kept, kept["hesitating"], 1),
    ("words from the book at temperature 1, in %", guess_words, words_at_1, 5),
    ("what the colleague's score returns", guess_score, what_it_says),
    ("exact_match of the colleague's decoder", guess_match, compared),
    ("rows right with four beams", guess_beams, round(beam_rows["4"], 2)),
    ("highest with n = 16", guess_many, max(ranking, key=ranking.get)),
    ("what rescues 12 letters", guess_rescue, rescuer),
    ("tokens read for 200", guess_reads, work["without a cache"][-1]),
    ("times faster at 200", guess_faster, round(faster, 1), 2),
]
guesses.board(board)

# %% [markdown]
# ## Recap
#
# Answer from memory, then check.
#
# **1.** With a teacher more tokens are right than on its own, yet just as many rows. How can that be?
#
# <details><summary>Answer</summary>
#
# The two ways differ only after a first mistake, so a row without one is right in both. In a row with a mistake, the
# teacher corrects it, while on its own the model reads it, and more tokens may go wrong. That is exposure bias.
# </details>
#
# **2.** What do temperature, top-k and top-p do to a distribution?
#
# <details><summary>Answer</summary>
#
# Temperature makes it sharper or flatter and drops nothing. Top-k keeps a fixed number of tokens. Top-p keeps as few as
# it takes to reach a total of p: few where the model is sure, many where it hesitates.
# </details>
#
# **3.** Why may keys and values be kept, and which mask makes that possible?
#
# <details><summary>Answer</summary>
#
# The causal mask. No token looks at later ones, so its key and value never change when more is written.
# </details>
#
# ## Things to try
#
# - Give `greedy_decode` a `max_length` of 3. What do the rows end with now, and what does `exact_match` say?
# - Let `generate` continue the book with your own prompt, with k = 1, 2, 3, and so on. At which k does it stop repeating
#   itself?
# - Sample with top-p 0.9 in `lab.pass_at`. Is pass@16 better than with a temperature of 0.5?
# - Search with 200 beams on the hasty model. Are more rows right, or are the answers only more likely?
# - Choose the best of n by log-likelihood *divided by the length*. Does it matter on this task? Why?
# - Cache the keys and values of the cross-attention too. How often are they computed now, and how often before?
# - Cache the model of lesson 4, which has no causal mask. What goes wrong, and from which token on?
#
# ## Glossary
#
# | word | meaning |
# |---|---|
# | autoregressive | writing each token on the basis of those written before |
# | beam | one of the prefixes that a beam search keeps |
# | best-of-n | of n sampled answers, the one that a judge likes best; here, the one with the highest log-likelihood |
# | cache, KV cache | stored keys and values, so that no token is read twice |
# | exposure bias | trained on correct prefixes only, a model doesn't know what to do after a mistake of its own |
# | greedy | always the most likely next token |
# | length penalty | the power of the length by which a sum of log-probabilities is divided |
# | likelihood | the probability that the model gives to a whole answer; its logarithm is a sum |
# | pass@n | the share of questions for which at least one of n sampled answers is right |
# | preallocate | make room for everything once, instead of growing step by step |
# | prefix | the beginning of an answer |
# | temperature | what logits are divided by before the softmax: below 1 cautious, above 1 bold |
# | top-k | sampling from the k most likely tokens |
# | top-p, nucleus sampling | sampling from the smallest set of most likely tokens whose probabilities sum to p |
# | verifier | whoever decides which answer is right: a program, a set of tests, another model |
#
# ## Papers
#
# - Ranzato and others, [Sequence Level Training with Recurrent Neural Networks](https://arxiv.org/abs/1511.06732), ICLR 2016: section 1, exposure bias.
# - Bengio and others, [Scheduled Sampling](https://arxiv.org/abs/1506.03099), NeurIPS 2015: section 2, the gap between training and writing, and one way to narrow it.
# - Holtzman and others, [The Curious Case of Neural Text Degeneration](https://arxiv.org/abs/1904.09751), ICLR 2020: section 3.1, top-p; figure 1, what beam search does to stories.
# - Fan, Lewis, Dauphin, [Hierarchical Neural Story Generation](https://arxiv.org/abs/1805.04833), ACL 2018: section 5, under "Generation", top-k.
# - Wu and others, [Google's Neural Machine Translation System](https://arxiv.org/abs/1609.08144), 2016: section 7, beam search with a length penalty.
# - Stahlberg, Byrne, [On NMT Search Errors and Model Errors](https://arxiv.org/abs/1908.10090), EMNLP 2019: for many sentences, the most likely translation is the empty one.
# - Wang and others, [Self-Consistency Improves Chain of Thought Reasoning in Language Models](https://arxiv.org/abs/2203.11171), ICLR 2023: section 3, a vote among samples.
# - Chen and others, [Evaluating Large Language Models Trained on Code](https://arxiv.org/abs/2107.03374), 2021 (the Codex paper): section 2.1, pass@k and how to estimate it without bias.
# - Shazeer, [Fast Transformer Decoding](https://arxiv.org/abs/1911.02150), 2019: section 2.4, what a step costs with cached keys and values.
# - Touvron and others, [LLaMA](https://arxiv.org/abs/2302.13971), 2023: table 2, the sizes of the models.
#
# In lesson 8 all the pieces come together: the paper of 2017, as it was published.
