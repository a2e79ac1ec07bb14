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
# # Lesson 11 · A language model, then and now
#
# COLAB_BADGE
#
# Here are six first names: *Sherili, Merrill, Kerie, Lanyon, Corabel, Amidie*. **Which of them does anybody have?**
#
# Two are in a list of 8,422 names. A model that you build in this lesson invented the other four, one letter at a time.
# Nobody told it what a name is. It has read the list, and for each letter it has guessed which one comes next. That is
# all a language model ever learns to do.
#
# ![Three rows of boxes with letters. Top: the text, a line end, then a, d, a, a line end, then b, o, b. Middle: a window of five inputs from it, a, d, a, line end, b. Bottom: the five targets, shifted by one: d, a, line end, b, o.](picture:one_place_later)
#
# In the first sitting you build a GPT, as it was in 2019, and let it read Shakespeare. In the second you exchange its
# parts for today's, measure what each of them buys, and end up with a Llama. Then comes the proof: with the same
# weights, your model and that of a library used all over the world say the same.
#
# **What you will be able to do**
#
# - train a language model on any text, and let it write
# - compare models that cut a text into different tokens
# - find out whether a model invents, or quotes
# - say what RMSNorm, SwiGLU, rotary positions and shared keys cost and buy, in numbers
# - put published weights into a model that you wrote yourself
# - teach a trained model another style with a few kilobytes
#
# **Time.** About 110 minutes before the break and 100 after it, an estimate for somebody who has done lessons 3 to 7.
# The last exercise is *stretch*. To skip one, unfold *Go on with ours* below its hints: that line puts the course's own
# code in its place.
#
# **How to check.** Replace the line `raise NotImplementedError()` with your own code, and run the cell. Then run the
# `check` cell below it. It tells you what is right and what isn't, as often as you like.
#
# **How to submit.** Save the notebook and hand it in the way your class does.
# Nobody to hand it in to? The checks are all you need.

# %% [markdown]
# ## A two-minute test
#
# This lesson builds on [lesson 3](../03_classification_transformer/03_classification_transformer.ipynb),
# [lesson 6](../06_positional_encodings/06_positional_encodings.ipynb) and
# [lesson 7](../07_autoregressive_sampling/07_autoregressive_sampling.ipynb). Try these three without running anything.
#
# **1.** In pre-norm order, where does the residual connection of a block begin: before its norm, or after it?
#
# <details><summary>Answer</summary>
#
# Before it. The norm's result goes into the layer, and the layer's result is added to the x from before the norm.
# To read up: the encoder block in [lesson 3](../03_classification_transformer/03_classification_transformer.ipynb).
# </details>
#
# **2.** Queries and keys have been rotated by angles that grow with the position. What does their dot product depend on?
#
# <details><summary>Answer</summary>
#
# On the two vectors and the distance between their positions. Where in the text they are doesn't matter.
# To read up: rotary embeddings in [lesson 6](../06_positional_encodings/06_positional_encodings.ipynb).
# </details>
#
# **3.** The probabilities are 0.5, 0.3 and 0.2, and top-p keeps the smallest set that reaches 0.7. Which tokens are kept?
#
# <details><summary>Answer</summary>
#
# The first two. 0.5 isn't enough, and the token that brings the sum to 0.7 belongs to the set.
# To read up: top-p in [lesson 7](../07_autoregressive_sampling/07_autoregressive_sampling.ipynb).
# </details>
#
# Two out of three? Go on. Fewer? Read the linked pages first, and come back.
#
# Run the next cell first: it brings the tools, and the parts that you wrote in earlier lessons. `lab` runs the
# experiments; its training loop is in `lessons/lesson_11/experiments/training.py`.

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
from course.attention import MultiHeadAttention, merge_heads, scaled_dot_product_attention, split_heads
from course.blocks import EncoderBlock, FeedForward, LayerNorm, LearnedPositionalEmbedding
from course.causal import causal_mask
from course.positions import rotary_embedding
from course.sampling import sample_with_temperature, top_p_filter
from lessons.lesson_11 import experiments as lab
from lessons.tables import measured

torch.set_num_threads(1)  # two can be ten times slower where others compute too

# %% [markdown]
# ## Part 1 · The next token
#
# A translator needs pairs of sentences, and somebody has to write them. A language model needs a text, and nothing else:
# **the text is its own answer sheet.** Whatever stands at one place is the right answer to everything before it.
#
# ### Exercise: `next_token_batches` · core · difficulty 2 · 15 minutes
#
# A text is too long to read at once, so you take random **windows** out of it. The targets are the same windows, one
# place later. A window of 32 tokens holds 32 questions: what comes after the first token, after the first two, and so
# on. The causal mask makes sure that nobody sees the answer.
#
# In numbers: a text of 10 tokens, and windows of 3. The first window starts at 0. The last one starts at 6: its inputs
# are at 6, 7 and 8, and its targets at 7, 8 and 9. That makes 7 windows.
#
# <details><summary>Hint 1</summary>
#
# How many windows does a text of n tokens have, if each needs one more token for its last target?
# </details>
# <details><summary>Hint 2</summary>
#
# Draw a start for each row. A column of starts plus a row of 0, 1, 2, ... gives a table of places.
# </details>
# <details><summary>Hint 3</summary>
#
# `places = torch.randint(?, (batch_size, 1), generator=generator) + torch.arange(length)`, then `ids[places]`.
# </details>
#
# Docs: [torch.randint](https://pytorch.org/docs/stable/generated/torch.randint.html).

# %% exercise="next_token_batches"

# %% [markdown]
# **What you made.** An endless supply of exercises. Here is a batch of four, from the list of names in random order. A
# name is a line, and the line end (shown as `|`) is a token like any other: it says that the name is over.

# %%
names = lab.names()
inputs, targets = next_token_batches(names.train, 16, 4, torch.Generator().manual_seed(0))
rows = [[names.decode(row).replace("\n", "|") for row in pair] for pair in zip(inputs, targets, strict=True)]
pd.DataFrame(rows, columns=["inputs", "targets"])

# %% [markdown]
# ### Exercise: `targets_are_next` · core · difficulty 2 · 15 minutes
#
# The most common bug in this business costs a week, because nothing crashes. Somebody forgets to shift the targets, and
# the loss falls to 0 within minutes: the model learns to copy its input. Or two people shift, one where the batch is
# made and one where the loss is computed, and the model learns to predict the token after the next. It does that
# badly, but not badly enough for anybody to notice.
#
# This is the bug clinic. Write a test that is given a function `make_batch` and a text, and says whether every target
# is the token that follows its input. In this text no token occurs twice, so you can look up what follows each of them.
#
# In numbers: in the text 5, 2, 8, 1 the token 2 follows 5, and 8 follows 2. The inputs (5, 2) with the targets (2, 8) are
# right. With (5, 2), nothing has been shifted. With (8, 1), it has been shifted twice.
#
# <details><summary>Hint 1</summary>
#
# What do you need to know about the text, before you look at a single batch?
# </details>
# <details><summary>Hint 2</summary>
#
# A dict from each token to the one that follows. Then compare every input with its target, in 100 batches. Don't compare
# a batch with itself: its last column has nobody to be compared with.
# </details>
# <details><summary>Hint 3</summary>
#
# `follows = dict(zip(ids[:-1].tolist(), ids[1:].tolist()))`, then `follows.get(?) == ?` for all pairs of a batch.
# </details>
#
# Docs: [Tensor.tolist](https://pytorch.org/docs/stable/generated/torch.Tensor.tolist.html).

# %% exercise="targets_are_next"

# %% [markdown]
# **What you made.** A test that takes a second, and saves the week. Here it meets your own batches, and three others.


# %%
def unshifted(ids, generator):
    inputs, _ = next_token_batches(ids, 4, 3, generator)
    return inputs, inputs


def shifted_twice(ids, generator):
    inputs, targets = next_token_batches(ids, 5, 3, generator)
    return inputs[:, :-1], targets[:, 1:]


def yours(ids, generator):
    return next_token_batches(ids, 4, 3, generator)


text_without_repetition = torch.randperm(50, generator=torch.Generator().manual_seed(0))
for make_batch in (yours, unshifted, shifted_twice):
    print(f"{make_batch.__name__}: {targets_are_next(make_batch, text_without_repetition)}")

# %% [markdown]
# ## Part 2 · A decoder on its own
#
# In lessons 4 to 8 a decoder listened to an encoder. A language model has nobody to listen to, so the cross-attention
# goes. What is left is the encoder block of lesson 3 with the causal mask of lesson 5. You have written both.
#
# ### Exercise: `DecoderOnlyBlock` · core · difficulty 2 · 15 minutes
#
# ![The residual stream x runs from left to right. Twice something branches off and is added again: first norm1 and attention with a causal mask, then norm2 and the feed-forward network.](picture:one_block)
#
# $$x \leftarrow x + \text{attention}(\text{norm}_1(x)), \qquad x \leftarrow x + \text{feed forward}(\text{norm}_2(x))$$
#
# The block makes its own mask, from the length of x. So nobody can forget it.
#
# <details><summary>Hint 1</summary>
#
# Which of the parts in the set-up cell do you need, and which of them takes a mask?
# </details>
# <details><summary>Hint 2</summary>
#
# The attention takes queries, keys and values: all three are the normalised x. It returns a pair.
# </details>
# <details><summary>Hint 3</summary>
#
# `y = self.norm1(?)`, then `x = x + self.attention(?, ?, ?, causal_mask(?))[0]`.
# </details>
#
# Docs: [nn.Module](https://pytorch.org/docs/stable/generated/torch.nn.Module.html).

# %% exercise="DecoderOnlyBlock"

# %% [markdown]
# **What you made.** A block that can't look ahead. We change one token and look at which positions move, as in lesson 5.

# %%
torch.manual_seed(0)
block, x = DecoderOnlyBlock(d_model=16, num_heads=2, d_ff=32), torch.randn(1, 8, 16)
with torch.no_grad():
    moved = []
    for place in range(8):
        nudged = x.clone()
        nudged[0, place, 0] += 3.0  # one number: a norm undoes a shift of all
        moved.append((block(nudged) - block(x))[0].norm(dim=-1))
plots.heatmap(torch.stack(moved), title="Who moves when one token is nudged?", rows="nudged", columns="position")

# %% [markdown]
# ### Exercise: `DecoderOnlyTransformer` · core · difficulty 3 · 20 minutes
#
# Now the whole model: a table of token vectors, a table of positions, some blocks, a last norm, and a logit for every
# token of the vocabulary. The last step is new. To turn a state into logits, earlier models had a layer of their own.
# A GPT uses **the same table twice**: the logit of a token is the dot product of the state with this token's vector. One
# table is **tied** to the other (Press and Wolf 2017). That saves vocab_size · d_model numbers.
#
# $$\text{logits} = \text{final norm}(x)\; E^{\top} \qquad (\text{batch}, \text{length}, d) \cdot (d, \text{vocab})$$
#
# There is a catch. PyTorch fills an embedding with numbers of size 1. As a table for the logits that's far too large: the
# dot product of two such vectors with 64 entries is about 8, and a new model would bet everything on one token. So both
# tables start with a standard deviation of 0.02.
#
# In numbers: with the states (1, 2) and two tokens whose vectors are (3, 0) and (0, 1), the logits are 3 and 2.
#
# <details><summary>Hint 1</summary>
#
# Which four parts does the docstring name, and in which order does a batch of ids run through them?
# </details>
# <details><summary>Hint 2</summary>
#
# The table of an embedding is its `weight`, (vocab_size, d_model). Which way round must it stand for `states @ ?`
# </details>
# <details><summary>Hint 3</summary>
#
# `x = self.positions(?)`, a loop over `self.blocks`, and `self.final_norm(x) @ ?`. Before all that:
# `if tokens.shape[1] > ?: raise ValueError(...)`. For the tables: `nn.init.normal_(?.weight, std=?)`.
# </details>
#
# Docs: [nn.ModuleList](https://pytorch.org/docs/stable/generated/torch.nn.ModuleList.html) ·
# [nn.init.normal_](https://pytorch.org/docs/stable/nn.init.html#torch.nn.init.normal_).

# %% exercise="DecoderOnlyTransformer"

# %% [markdown]
# **What you made.** A GPT. Before it learns anything, ask it for the loss on some names. There are 28 symbols: 26 letters,
# the hyphen and the line end. **What should the loss of a model be that has never read anything?**

# %%
guess_untrained = None  # a loss, in nats per symbol

torch.manual_seed(0)
untrained = lab.new_gpt(names, lab.NAMES, DecoderOnlyTransformer)
first_loss = lab.losses_of(untrained, names.held_out, 16).mean().item()
print(f"your guess: {guess_untrained}, it is: {first_loss:.2f}")
print(f"the logarithm of 28: {math.log(28):.2f}")

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - A new model's loss is within 0.1 of ln 28 = 3.33: it finds all symbols about equally likely. <!-- claim: guessing_costs_the_logarithm -->
#
# Make this your habit with any new model. A first loss that is much higher than the logarithm means that it is sure of
# things it can't know.
# </details>
#
# ### Exercise: `continue_text` · core · difficulty 3 · 20 minutes
#
# To write, a model predicts, you choose one token, and it reads its own choice. You know this from lesson 7. Two things
# are different here: there is no source, and a text may grow longer than the model can read. Then it reads the end.
#
# In numbers: a model with a `max_length` of 4 gets the text 7, 1, 8, 2, 5 and reads 1, 8, 2, 5. If it chooses 9, the text is
# 7, 1, 8, 2, 5, 9, and next it reads 8, 2, 5, 9.
#
# The order matters: temperature first, then top-p. At a high temperature more tokens are needed to reach p.
#
# <details><summary>Hint 1</summary>
#
# What is kept from step to step, and what does the model get to see of it?
# </details>
# <details><summary>Hint 2</summary>
#
# `getattr(model, "max_length", None)` is None for a model that has no such attribute. A slice with a negative start takes
# the end. The model wants a batch.
# </details>
# <details><summary>Hint 3</summary>
#
# `logits = model(read[None])[:, -1]`. Temperature 0 is `argmax`. Otherwise
# `sample_with_temperature(top_p_filter(logits / ?, ?), 1.0, generator)`, since the temperature is in there already.
# </details>
#
# Docs: [torch.no_grad](https://pytorch.org/docs/stable/generated/torch.no_grad.html) ·
# [torch.cat](https://pytorch.org/docs/stable/generated/torch.cat.html).

# %% exercise="continue_text"

# %% [markdown]
# **What you made.** A pen. The model of the names has two blocks and a width of 48, and reads 16 letters at a time. It
# writes eight names before training, after 100 steps and after 1,000, with your function. **How many of the last eight
# will be in the list?** It takes about half a minute.

# %%
guess_known = None  # of eight

written = {}


def write_names(step, model):
    written[f"after {step} steps"] = lab.invented(model, names, continue_text, count=8)
    return {"bits": lab.bits(model, names, 16)}


run = lab.read(
    lab.new_gpt,
    names,
    lab.NAMES,
    DecoderOnlyTransformer,
    batches=next_token_batches,
    name="names",
    look=write_names,
    look_at=(0, 100, 300, 1000),
)
inventor = run.model
known_names = sum(name in lab.known_names() for name in written["after 1000 steps"])
print(f"your guess: {guess_known}, it is: {known_names}")
pd.DataFrame({moment: [repr(name)[1:-1] for name in some] for moment, some in written.items()})

# %% [markdown]
# At first it draws letters from a hat. After 100 steps it knows which letters are common, that vowels and consonants take
# turns, and roughly how long a name is. After 1,000 steps there are some with
# which you could christen somebody.
#
# Does it invent them, or has it learnt the list by heart? Here are 200 of its names.

# %%
lots = lab.invented(inventor, names, continue_text, count=200, seed=1)
judgement = lab.judged(lots)
print({what: f"{share:.0%}" for what, share in judgement.items()})
print(", ".join(name for name in lots if name not in lab.known_names())[:400])

# %% [markdown]
# **What you should see**
#
# - Of 200 names, 13 to 20 are in the list, depending on the seed. 90 % aren't, and have 3 to 12 letters and a vowel. <!-- claim: most_names_are_new -->
#
# Are 20 hits a sign that it quotes? Somebody who knows what names sound like must hit a real one now and then. The measure to
# trust is the loss on names that were held out. Is it higher than on those that the model has read? You'll measure that
# next.
#
# ### Exercise: `bits_per_character` · core · difficulty 1 · 10 minutes
#
# The loss of a language model is measured per token. That's no good if you want to compare two models that cut a text in
# different ways: with longer tokens each is harder to guess, and there are fewer of them. What both have in common is the
# text, and it has a fixed number of **characters**. And in place of nats, people count **bits**: the number of yes-or-no
# questions that the model's surprise is worth.
#
# $$\text{bits per character} = \frac{\text{sum of all losses in nats}}{\ln 2 \cdot \text{characters}}$$
#
# In numbers: a text of 100 characters is cut into 50 tokens, whose losses sum to 138.6 nats. That's 138.6 / 0.693 = 200
# bits, and so 2 bits per character. A compressor built around this model would need 25 bytes for the text.
#
# <details><summary>Hint 1</summary>
#
# Which is larger, a bit or a nat? Should the number grow when you go from nats to bits?
# </details>
# <details><summary>Hint 2</summary>
#
# A bit is ln 2 = 0.693 nats, so you divide.
# </details>
# <details><summary>Hint 3</summary>
#
# `total_loss / math.log(?) / ?`.
# </details>
#
# Docs: [math.log](https://docs.python.org/3/library/math.html#math.log).

# %% exercise="bits_per_character"

# %% [markdown]
# **What you made.** A fair measure. Here is the run on names again, and beside it what simpler models need: one that finds
# all symbols equally likely, and one that only knows how common each symbol is.

# %%
counts = torch.bincount(names.train, minlength=names.vocab_size).double()
shares = (counts / counts.sum())[names.held_out[1:]]
by_frequency = bits_per_character(-shares.log().sum().item(), len(shares))
levels = {"all symbols alike": math.log2(28), "how common each is": by_frequency}
plots.curves(
    {"held-out names": run.curve["bits"]},
    x=run.curve["step"],
    levels=levels,
    title="The inventor learns",
    y_label="bits per character",
)

# %%
train_bits = lab.bits(inventor, names, 16, bits_per_character, names.train[:8000])
held_out_bits = lab.bits(inventor, names, 16, bits_per_character)
print(f"names it has read: {train_bits:.2f}, names held out: {held_out_bits:.2f} bits per character")

# %% [markdown]
# **What you should see**
#
# - After 1,000 steps, held-out names cost about 3.1 bits per character, one less than for a model that only knows how common each symbol is. <!-- claim: names_get_better -->
# - Names that it has read cost only 0.04 to 0.06 bits less: it has learnt what names are like, and hardly any by heart. <!-- claim: hardly_any_by_heart -->
#
# ## Part 3 · Shakespeare
#
# Names are a warm-up. The next text has a million characters: scenes from Shakespeare's plays. They are downloaded once
# (1.1 MB). Without a network, the cell says what to do, and the model reads the beginning of *Moby-Dick* meanwhile.
#
# In which tokens? You have two ways. **Characters:** 65 of them, and the model has to learn spelling. **Byte pairs**, as
# you wrote them in [lesson 2](../02_tokenizer/02_tokenizer.ipynb): 300 merges, learnt from the first 200,000 characters.
# The functions are yours; learning the merges takes a while.

# %%
plays = lab.book()
letters = lab.in_characters(plays.title, plays.to_learn, plays.to_examine)
pairs = lab.in_byte_pairs(plays.title, plays.to_learn, plays.to_examine)
line = plays.to_learn.split("\n")[1]
print(" · ".join(pairs.decode([i]) for i in pairs.encode(line)))
per_pair = len(plays.to_learn) / len(pairs.train)
print(f"{len(letters.train):,} characters, {len(pairs.train):,} byte pairs: {per_pair:.2f} characters each")

# %% [markdown]
# The comparison should be fair, so both models have the same blocks, read windows of about the same number of characters
# (64 characters, or 32 byte pairs), and train for about the same processor time. The vocabulary is larger with byte
# pairs, and so is the table. **Who needs fewer bits per character?** Each of the two runs takes half a minute or so.

# %%
guess_tokens = None  # "characters" or "byte pairs"

spelling = lab.read(
    lab.new_gpt, letters, lab.CHARACTERS, DecoderOnlyTransformer, batches=next_token_batches, name="characters"
)
reading = lab.read(lab.new_gpt, pairs, lab.PAIRS, DecoderOnlyTransformer, batches=next_token_batches, name="byte pairs")
compared = {
    "characters": lab.bits(spelling.model, letters, 64, bits_per_character),
    "byte pairs": lab.bits(reading.model, pairs, 32, bits_per_character),
}
tokens_won = min(compared, key=compared.get)
print(f"your guess: {guess_tokens}, it is: {tokens_won}")
print(f"processor time: {spelling.seconds:.0f} and {reading.seconds:.0f} seconds")
plots.bars(compared, title="Held-out text", x_label="bits per character", guess=guess_tokens)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - Byte pairs need about 3.05 bits per character, characters 3.4 to 3.5: in the same time, the model that needn't learn to spell gets further. <!-- claim: byte_pairs_get_further -->
#
# That holds for this budget. With enough time, characters can catch up: they know everything that byte pairs know. What
# they pay is length. Their windows have twice as many positions, and attention pays for each pair of positions.
# </details>
#
# What does it write? And has it just learnt passages by heart? The **longest copy** is the longest piece of the model's
# text that stands, letter by letter, in what it has read. The number alone says little, since people repeat each other
# too. So compare it with passages of Shakespeare's own of the same length, which the model has *not* read.

# %%
said = lab.continued(reading.model, pairs, "ROMEO:\n", continue_text, tokens=300, temperature=1.0, top_p=1.0)
print(said[:400])
passages = {"the model": said[7:507]}
for start in (0, 2000, 4000):
    passages[f"held out, from {start}"] = plays.to_examine[start : start + 500]
lab.copied(passages, plays)

# %% [markdown]
# **What you should see**
#
# - In 900 characters written by the model of the second sitting, which is a better one, the longest copy has 12 or 13 characters, depending on the seed. In held-out passages of the same length it has 20 on average, and up to 31. <!-- claim: it_does_not_quote -->
#
# Speakers' names and stage formulas repeat, and the model repeats them as the plays do. It is far too small for a
# million characters to fit into it. Much larger models do quote, and can be made to; look at this number whenever
# you train one.
#
# ## Time for a break
#
# You have built a GPT and let it read. Save the notebook. After the break you exchange its parts.

# %% [markdown]
# ## Part 4 · What has changed since
#
# Between GPT-2 (2019) and Llama (2023), people tried hundreds of changes to the Transformer. Most came to nothing. The
# models of today share four that stayed. **Which of them do you think buys most on our small model?** Write your guess down
# before you build them; there is a table at the end.
#
# | part | then | now | said to |
# |---|---|---|---|
# | norm | LayerNorm | RMSNorm | save time |
# | feed-forward | ReLU or GELU | SwiGLU | learn more with as many weights |
# | positions | a learned table | rotary | be about distances |
# | keys and values | a pair for each head | shared by groups of heads | save memory when writing |

# %%
guess_part = None  # "RMSNorm", "SwiGLU", "rotary" or "rotary, keys shared"

# %% [markdown]
# ### Exercise: `RMSNorm` · core · difficulty 2 · 10 minutes
#
# LayerNorm does two things to a vector: it subtracts the mean, and it divides by the standard deviation. Zhang and Sennrich
# (2019) asked which of the two matters, and left the first one out. What is left divides by the **root of the mean of the
# squares**: one statistic in place of two, and no bias.
#
# $$\text{RMSNorm}(x) = \frac{x}{\sqrt{\frac1d \sum_i x_i^2 + \varepsilon}} \cdot \text{weight}$$
#
# In numbers: (1, 7) has the squares 1 and 49. Their mean is 25, its root 5, and the result (0.2, 1.4).
#
# <details><summary>Hint 1</summary>
#
# R, M, S: in which order are the three done?
# </details>
# <details><summary>Hint 2</summary>
#
# Square, take the mean over the last axis, add eps, take the root, divide. Which axis should the mean keep?
# </details>
# <details><summary>Hint 3</summary>
#
# `x / torch.sqrt(x.square().mean(dim=?, keepdim=?) + ?) * self.weight`.
# </details>
#
# Docs: [torch.rsqrt](https://pytorch.org/docs/stable/generated/torch.rsqrt.html) ·
# [nn.RMSNorm](https://pytorch.org/docs/stable/generated/torch.nn.RMSNorm.html), which does the same.

# %% exercise="RMSNorm"

# %% [markdown]
# **What you made.** Half a LayerNorm. Here is what either does to a vector, and to the same vector plus 10. **For which
# norm does the 10 make a difference?**

# %%
guess_norm = None  # "LayerNorm" or "RMSNorm"

vector = torch.tensor([1.0, -2.0, 0.5, 3.0])
with torch.no_grad():
    normed = {
        f"{name}, {what}": norm(4)(v).tolist()
        for name, norm in (("LayerNorm", LayerNorm), ("RMSNorm", RMSNorm))
        for what, v in (("x", vector), ("x + 10", vector + 10))
    }
shown = pd.DataFrame(normed).T.round(2)
shifted_norm = "LayerNorm" if not shown.iloc[0].equals(shown.iloc[1]) else "RMSNorm"
print(f"your guess: {guess_norm}, it is: {shifted_norm}")
shown

# %% [markdown]
# ### Exercise: `SwiGLU` · core · difficulty 2 · 10 minutes
#
# The feed-forward network of lesson 3 widens a vector, sets what is negative to 0, and narrows it again. SwiGLU widens it
# **twice**. One copy goes through **SiLU**, z · sigmoid(z), a ReLU with a soft corner, and serves as a **gate**: the other copy
# is multiplied by it, number by number.
#
# ![Two curves over z from -4 to 4. ReLU is 0 up to z = 0 and then rises in a straight line. SiLU follows it closely, with a dip to -0.28 at z = -1.3 and no corner. Beside it a diagram: x goes into gate and into up, gate goes through SiLU, the two are multiplied, and down follows.](picture:soft_gate)
#
# $$\text{SwiGLU}(x) = W_{\text{down}}\big(\text{SiLU}(W_{\text{gate}}\,x) \odot W_{\text{up}}\,x\big)$$
#
# In numbers: where the gate computes 2, SiLU gives 2 · 0.88 = 1.76, and what comes from `up` passes nearly doubled. Where
# it computes -5, SiLU gives -0.03, and next to nothing passes.
#
# There are three weights in place of two. To keep the number of parameters, d_ff shrinks to two thirds: 8/3 · d_model in
# place of 4 · d_model (Shazeer 2020, section 2).
#
# <details><summary>Hint 1</summary>
#
# How many Linear layers are there, from which width to which? Which argument leaves the bias out?
# </details>
# <details><summary>Hint 2</summary>
#
# SiLU is applied to one of the two halves only. Which one is it called after?
# </details>
# <details><summary>Hint 3</summary>
#
# `self.down(F.silu(self.?(x)) * self.?(x))`.
# </details>
#
# Docs: [F.silu](https://pytorch.org/docs/stable/generated/torch.nn.functional.silu.html).

# %% exercise="SwiGLU"

# %% [markdown]
# **What you made.** A product of two projections: something that ReLU between two layers can only approximate. Why does
# that help? Shazeer's paper ends with an honest sentence: he offers no explanation, and attributes the success "to divine
# benevolence". Let's stay with what we can measure.

# %%
old, new = FeedForward(64, 4 * 64), SwiGLU(64, 8 * 64 // 3)
print({name: lab.parameters(net) for name, net in (("ReLU, 4 d", old), ("SwiGLU, 8/3 d", new))})

# %% [markdown]
# ### Exercise: `GroupedQueryAttention` · core · difficulty 4 · 30 minutes
#
# When a model writes, it keeps the keys and values of everything it has read: the cache of lesson 7. For large models this
# cache is larger than you'd think, and each new token has to read all of it. So let several query heads **share** a key
# head and a value head. Four query heads with two key heads need half the cache.
#
# ![Four boxes in the upper row, query heads 0 to 3. Two boxes in the lower row, key heads 0 and 1. Query heads 0 and 1 are connected with key head 0, query heads 2 and 3 with key head 1.](picture:shared_keys)
#
# Neighbours share: key head h serves query heads h · group to (h + 1) · group - 1. With one key head for all, this is
# multi-query attention; with as many as there are query heads, it's the attention of lesson 3.
#
# The **positions** move in here too. Queries and keys are rotated, head by head, with your `rotary_embedding`. Values
# aren't: positions decide where attention looks, not what it finds there.
#
# In numbers: 6 query heads and 2 key heads make groups of 3. Key head 0 serves the heads 0, 1, 2, and key head 1 the heads
# 3, 4, 5. To repeat heads (a, b) in this order means (a, a, a, b, b, b). The order (a, b, a, b, a, b) is the classic mistake: the
# shapes are right, a new model trains with it, and no published weights will ever work.
#
# <details><summary>Hint 1</summary>
#
# How wide are the keys of all key heads together? Into how many heads do you cut them?
# </details>
# <details><summary>Hint 2</summary>
#
# Cut first, then rotate: `split_heads` puts the length before the last axis, where `rotary_embedding` expects it. Then
# repeat the key heads and the value heads along the axis of the heads.
# </details>
# <details><summary>Hint 3</summary>
#
# `key = rotary_embedding(split_heads(self.key(x), ?), ?)`, then `key.repeat_interleave(?, dim=?)`.
# </details>
#
# Docs: [torch.repeat_interleave](https://pytorch.org/docs/stable/generated/torch.repeat_interleave.html).

# %% exercise="GroupedQueryAttention"

# %% [markdown]
# **What you made.** Attention that knows distances and is thrifty with keys. Here are the weights of one head for a row of
# twelve equal tokens, so that nothing but the position can matter. Each row looks like the one above it, moved along by
# one: only distances count.

# %%
torch.manual_seed(1)
same = torch.randn(1, 1, 32).expand(1, 12, 32)
with torch.no_grad():
    _, weights = GroupedQueryAttention(32, num_heads=4, num_kv_heads=2)(same, causal_mask(12))
plots.heatmap(weights[0, 0], title="Equal tokens, causal mask", rows="position", columns="looks at")

# %% [markdown]
# ### Exercise: `ModernBlock` · core · difficulty 2 · 10 minutes
#
# The same two steps as in `DecoderOnlyBlock`, around your three new parts.
#
# $$x \leftarrow x + \text{attention}(\text{norm}_1(x)), \qquad x \leftarrow x + \text{feed forward}(\text{norm}_2(x))$$
#
# <details><summary>Hint 1</summary>
#
# What do you have to change in the block of the first sitting?
# </details>
# <details><summary>Hint 2</summary>
#
# This attention takes x once, since it is always self-attention, and the mask. It returns a pair, too.
# </details>
# <details><summary>Hint 3</summary>
#
# `x = x + self.attention(self.norm1(x), ?)[0]`.
# </details>
#
# Docs: [nn.Module](https://pytorch.org/docs/stable/generated/torch.nn.Module.html).

# %% exercise="ModernBlock"

# %% [markdown]
# ### Exercise: `ModernLanguageModel` · core · difficulty 3 · 15 minutes
#
# And the whole model. There is no table of positions any more, so there is no largest length either: the model accepts a
# text of any length. (That it *works* beyond the trained lengths is another matter, as you know from lesson 6.) The output
# gets a table of its own.
#
# <details><summary>Hint 1</summary>
#
# What is missing, compared with the first model, and what is new?
# </details>
# <details><summary>Hint 2</summary>
#
# Embedding, blocks, final norm, output layer: four parts, four lines. The embedding is used as it is.
# </details>
# <details><summary>Hint 3</summary>
#
# `self.blocks = nn.ModuleList(ModernBlock(?, ?, ?, ?) for _ in range(num_layers))`, and at the end
# `self.output(self.final_norm(x))`.
# </details>
#
# Docs: [nn.Linear](https://pytorch.org/docs/stable/generated/torch.nn.Linear.html).

# %% exercise="ModernLanguageModel"

# %% [markdown]
# ## Part 5 · You wrote Llama
#
# **What you made.** It has the names of this course, and parts that you wrote one at a time over eight lessons. Is it
# the real thing? `transformers` is the library with which most open models are published. We make a small Llama with
# it, with random weights, hand these weights to *your* model, and let both read the same ids. We do the same with GPT-2 and
# your first model. (If the library isn't installed, the cell says so.)
#
# One detail about GPT-2: its feed-forward network uses GELU, a ReLU with a soft corner. The library can build it with
# ReLU too, and here it does.

# %%
for comparison in (lab.held_against_gpt2(DecoderOnlyTransformer), lab.held_against_llama(ModernLanguageModel)):
    if comparison is not None:
        display(comparison)

# %% [markdown]
# **What you should see**
#
# - With the same weights, your first model and `GPT2LMHeadModel` give the same logits to within 0.0001. <!-- claim: same_as_gpt2 -->
# - With the same weights, your second model and `LlamaForCausalLM` give the same logits to within 0.0001. <!-- claim: same_as_llama -->
#
# You wrote Llama. What is left are differences in the seventh digit, because numbers are added in another order.
#
# How did the weights get from one model into the other? Mostly by renaming: what is `attention.query` here is
# `self_attn.q_proj` there. Two things had to be turned around. GPT-2 keeps its matrices the other way round. And Llama's
# authors pair the columns for the rotation differently: column i with column i + d_head / 2, where you pair neighbours.
# As lesson 6 says, the two are the same up to a permutation, and `course/language_model/published.py` applies it: all of
# it is 30 lines. Its `load_llama(model, file, num_heads)` reads a published `safetensors` file into your model. In *Things
# to try* there is a model that fits.

# %% [markdown]
# ### The new parts read Shakespeare
#
# Same text, same byte pairs, same number of steps. **How many bits per character
# will the new model need?** The old one needed what the last bar chart says.

# %%
guess_bits = None  # bits per character

modern = lab.read(
    lab.new_llama, pairs, lab.PAIRS, ModernLanguageModel, batches=next_token_batches, name="today's parts"
)
new_bits = lab.bits(modern.model, pairs, 32, bits_per_character)
compared["today's parts"] = new_bits
print(f"your guess: {guess_bits}, it is: {new_bits:.2f}")
print(lab.continued(modern.model, pairs, "ROMEO:\n", continue_text, tokens=200))
plots.bars(compared, title="Held-out text", x_label="bits per character")

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - Today's parts need about 2.64 bits per character where the GPT needed 3.05, after as many steps. <!-- claim: new_parts_get_further -->
#
# </details>
#
# Which of the parts did it? Here each of them was put into the GPT by itself, and then all together, on two seeds. The
# width of the feed-forward networks was chosen so that all models have the same number of parameters to within half a
# percent, and all of them tie their tables. On the left are the bits after the same number of steps, on the right after
# the same processor time.

# %%
parts = measured("11_parts")
order = list(dict.fromkeys(parts["parts"]))
worth = parts.pivot_table(index="parts", columns="equal", values="bits", aggfunc=["min", "max"]).loc[order]
cost = parts.groupby("parts")["milliseconds"].min().loc[order]
alone = parts[(parts["equal"] == "steps")].groupby("parts")["bits"].mean()
best_part = alone[["RMSNorm", "SwiGLU", "rotary", "rotary, keys shared"]].idxmin()
print(f"your guess: {guess_part}, measured: {best_part}")
pd.DataFrame(
    {
        "after 500 steps": [f"{a:.2f} to {b:.2f}" for a, b in worth.xs("steps", axis=1, level=1).values],
        "after equal time": [f"{a:.2f} to {b:.2f}" for a, b in worth.xs("time", axis=1, level=1).values],
        "milliseconds a step": cost.round(1).values,
    },
    index=order,
)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - Rotary positions buy most: 0.18 and 0.24 bits per character after as many steps. <!-- claim: rotary_buys_most -->
# - SwiGLU saves 0.09 bits with one seed, and nothing with the other. <!-- claim: the_gate_buys_a_little -->
# - RMSNorm saves no bits, but time: a step takes 10 to 16 % less, and so after as much time it's ahead by 0.03 and 0.07 bits. <!-- claim: the_norm_saves_time -->
# - Half as many keys cost next to nothing: 0.05 bits more with one seed, 0.03 fewer with the other. <!-- claim: sharing_costs_little -->
# - All together they save 0.22 and 0.27 bits after as many steps. <!-- claim: all_together -->
#
# Be careful with the right-hand column. The machine was shared, and times wander: for rotary positions, one seed measured 15 %
# more time for a step, and the other 21 % less.
#
# And what about the bar chart above, where the new model was ahead by more? It differs in more than these parts. Its output
# has a table of its own, its embedding starts with larger numbers, and neither holds for the models in this table. We haven't
# taken those two apart; *Things to try* has a way to begin. Two seeds and one small size are no proof for large models
# either. There, the papers say, SwiGLU is worth a little, and RMSNorm and shared keys are about time and memory.
# </details>
#
# ## Part 6 · Memory
#
# What do shared keys save? For each token, the cache holds a key and a value for each key head of each block:
#
# $$\text{bytes} = 2 \cdot \text{layers} \cdot \text{key heads} \cdot d_{\text{head}} \cdot \text{length} \cdot \text{bytes per number}$$
#
# In numbers: Llama 3 with 8 billion weights has 32 blocks, 8 key heads for 32 query heads, and a d_head of 128. In 16 bits
# that's 131 kB for each token, and 1.07 GB for 8,192 of them, for one reader. Without sharing it would be 4.3 GB.
#
# Your `KeyValueCache` of lesson 7 works with the new model as it is. `course/language_model/cached.py` calls your blocks'
# parts one by one, in twenty lines. One thing must not be missed: a key is rotated before it is cached, by its own
# position. **How many times fewer bytes with one key head for eight?**

# %%
guess_memory = None  # a factor

costs = lab.cache_costs(ModernLanguageModel)
saved = costs["bytes, measured"].iloc[0] / costs["bytes, measured"].iloc[-1]
print(f"your guess: {guess_memory}, it is: {saved:g}")
costs

# %% [markdown]
# **What you should see**
#
# - The bytes in the cache are those of the formula, exactly, and the tokens are the same with the cache as without. <!-- claim: the_formula_holds -->
#
# ## Part 7 · A line into the future
#
# How do people know that a model with ten times the weights will be worth its price, before they pay? They train small
# ones and draw a line. On paper whose two axes are both logarithmic, loss against size is close to straight (Kaplan and
# others 2020). A straight line there is a **power law**: each doubling of the size multiplies the loss by the same factor.
#
# We trained models with widths of 8 to 48 on the plays, for 600 steps each. "Parameters" counts what is in the blocks. The
# left plot is against size, and the right one against the number of steps, for the model with a width of 32.

# %%
sizes = measured("11_sizes")
small = sizes[(sizes["steps"] == lab.STEPS) & (sizes["width"] != lab.NEXT)]
slope, _ = lab.line(small)
target_size = int(sizes[sizes["width"] == lab.NEXT]["parameters"].iloc[0])
promised = lab.predicted(small, target_size)
print(f"twice the size: {1 - 2**slope:.1%} fewer bits. A width of {lab.NEXT}: {promised:.2f} bits per character?")
lab.scaling_plot(sizes)

# %% [markdown]
# The cross is a promise: no model of that width is among those that made the line. Now train it. **Will it be above the
# line, on it (to within 2 %), or below?**

# %%
guess_line = None  # "above", "on it" or "below"

larger = lab.trained(pairs, lab.NEXT, kind=ModernLanguageModel)
off = larger["bits"] / promised - 1
where = "on it" if abs(off) <= 0.02 else "above" if off > 0 else "below"
print(f"your guess: {guess_line}, it is: {where}")
print(f"promised: {promised:.2f}, measured: {larger['bits']:.2f} bits per character ({off:+.1%})")

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - From 1,400 parameters to 51,000, each doubling of the size takes about 4 % off the bits per character, and no model is more than 1.5 % away from the line. <!-- claim: a_straight_line -->
# - Each doubling of the steps takes off 10 %, from 75 to 600. <!-- claim: steps_too -->
# - The line promises 2.49 bits, and the larger model needs 2.56 to 2.58, depending on the seed: 3 to 4 % above the line. <!-- claim: the_line_bends -->
#
# So the promise was nearly kept, and not quite. A line bends where something else becomes scarce. Here that may be the 600 steps,
# or a learning rate that was chosen for one width; we haven't tried which. The famous lines took far more computing and care,
# and some of them cover seven orders of magnitude, not two. And no line falls below the text's own surprise.
# </details>
#
# ## Part 8 · Choosing words
#
# In lesson 7 you saw samplers on small distributions. On a text you can read what they do. The model is the one with
# today's parts, and two ways are new. **Min-p** keeps every token that is at least a tenth as likely as the most likely one, so
# it keeps many where the model is unsure, and few where it is sure (Nguyen and others 2025). A **repetition penalty** makes less
# likely whatever stands in the window already (Keskar and others 2019).
#
# Before you run it: **which will have the smallest share of words from the book?**

# %%
guess_sampler = None  # a name from the first column

passages = lab.choices(modern.model, pairs, plays, "ROMEO:\n", context=32)
shares = passages["words in the book"].str.rstrip("%").astype(int)
fewest = passages["chosen by"][shares.idxmin()]
print(f"your guess: {guess_sampler}, it is: {fewest}")
passages.style.hide(axis="index").set_properties(**{"text-align": "left"})

# %% [markdown]
# Read the passages more than the percentages: each is from a single passage of some twenty words. Taking the most likely
# token goes round in circles, and the penalty stops that. A high temperature breaks words in pieces, and min-p brings some of
# them back.
#
# ### What such a model can't do
#
# It has learnt spelling, the look of a play, and which words follow each other. It hasn't learnt what anybody is talking
# about. You can see it in a number: how much does the context help? Here is the loss of a token after 1, 2, 3, ... tokens of
# context. **After how many tokens does more context stop helping?**

# %%
guess_context = None  # a number of tokens

context = lab.by_position(modern.model, pairs, 32)
plots.curves(
    {"held-out text": context["bits per token"]},
    x=context["tokens read"].to_numpy(),
    x_label="tokens read",
    y_label="bits per token",
    title="What does context buy?",
)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - The second token of context saves about half a bit, and the next two save another tenth or two. <!-- claim: the_first_words_help -->
# - From 4 tokens to 16 there is nothing to be gained. <!-- claim: the_rest_does_not -->
#
# So it writes like somebody who remembers the last few words. Ask it a question, and it will write something that looks
# like the next line of a play. It can't count, it doesn't know who is in the room, and it has no idea what is true. Large
# models read the same kind of batches, with the same loss. What they have is more of everything: they know more, and
# they use contexts of thousands of tokens. That they say what is likely, and not what is true, stays.
# </details>
#
# ## Part 9 · Another style, in kilobytes
#
# ### Exercise: `LoRALinear` · stretch · difficulty 3 · 20 minutes
#
# You have a model that writes plays, and want one that writes like Melville. Training all of its weights would give a second
# model, as large as the first. LoRA freezes the model and learns a **correction** to each layer, and a cheap one: in place
# of a matrix with out · in numbers, the product of a narrow one and a flat one (Hu and others 2022).
#
# ![A large square, the frozen weight W, plus a tall narrow rectangle, up, times a low wide rectangle, down. Below: 64 times 64 is 4,096 numbers; 64 times 4 and 4 times 64 are 512 together.](picture:two_thin_ones)
#
# $$y = W x + b + \frac{\alpha}{\text{rank}}\; \text{up} \cdot \text{down} \cdot x$$
#
# `up` starts as zeros, so at first nothing changes. `down` must not: if both were 0, each would multiply the other's
# gradient by 0. And when it's trained, you can **merge**: W + alpha/rank · up · down is a plain matrix, and the model is as fast as
# before.
#
# In numbers: with up = (2, 0), a column, down = (1, 3), a row, and alpha/rank = 2, the correction to W is ((4, 12), (0, 0)).
#
# <details><summary>Hint 1</summary>
#
# Which of the four weights and biases learn? How does a parameter say that it doesn't?
# </details>
# <details><summary>Hint 2</summary>
#
# `requires_grad_(False)` freezes a whole module. A Linear layer multiplies by its weight's transpose: so do `down` and `up`.
# </details>
# <details><summary>Hint 3</summary>
#
# `self.base(x) + self.scale * (x @ self.down.T @ self.up.T)`. For `merged`: a new `nn.Linear`, and
# `plain.weight.copy_(? + ? * self.up @ self.down)` under `torch.no_grad()`.
# </details>
#
# Docs: [nn.Parameter](https://pytorch.org/docs/stable/generated/torch.nn.parameter.Parameter.html).

# %% exercise="LoRALinear"

# %% [markdown]
# **What you made.** A change of style that fits into an e-mail. The model with today's parts has never seen a line of
# *Moby-Dick*. We put your layer around each of its Linear layers, with rank 4, and train for 150 steps. **By how many percent will
# the bits per character on Moby-Dick fall?**

# %%
guess_lora = None  # percent

whale = lab.restyled(pairs, lab.other_style(plays))
before = lab.bits(modern.model, whale, 32, bits_per_character)
whole_kilobytes = lab.kilobytes(modern.model)
lab.adapted(modern.model, whale, LoRALinear)
after = lab.bits(modern.model, whale, 32, bits_per_character)
fell = 100 * (1 - after / before)
print(f"your guess: {guess_lora}, it is: {fell:.0f} %")
print(f"bits per character: {before:.2f} before, {after:.2f} after")
learnt_kilobytes = lab.kilobytes(modern.model, learning=True)
print(f"the model: {whole_kilobytes:.0f} kB, what was learnt: {learnt_kilobytes:.0f} kB")
print(lab.continued(modern.model, pairs, "The whale ", continue_text, tokens=120))

# %% [markdown]
# Now merge. The corrections disappear into the weights, and the logits must stay.

# %%
some = pairs.held_out[:32][None]
with torch.no_grad():
    with_corrections = modern.model(some)
    plain_model = lab.merged(modern.model)
    merged_difference = (plain_model(some) - with_corrections).abs().max().item()
print(f"largest difference of all logits: {merged_difference:.1e}")
print(f"parameters: {lab.kilobytes(plain_model):.0f} kB, as before")

# %% [markdown]
# **What you should see**
#
# - The bits per character on Moby-Dick fall from 3.1 to less than 2.8, with 37 kB of weights; the model has 646 kB. <!-- claim: a_few_kilobytes_help -->
# - Merged, the logits are the same to within 0.0001. <!-- claim: merging_changes_nothing -->
# - Shakespeare suffers: the adapted model needs about 2.86 bits per character on the plays, where it needed 2.64. <!-- claim: plays_suffer -->
# - Training all weights for as many steps gets further, to 2.6 bits per character. <!-- claim: all_weights_get_further -->
#
# In the sample you hardly see it: at more than 2.7 bits per character, half of what the model writes is noise in either style.
# The number tells you more than a passage.
#
# On a model with billions of weights, the share is far smaller than here: a rank of 4 is a sixteenth of our width of 64, but a
# thousandth of 4,096. And since the base stays as it is, one copy of it serves a hundred styles.
#
# ## With a GPU
#
# `lab.GPU` is a preset for a model with 6 blocks and a width of 384, which reads 256 byte pairs at a time, for 5,000 steps.
# The training loop uses a GPU if there is one: `lab.read(lab.new_llama, pairs, lab.GPU, ModernLanguageModel)`. No GPU was at hand
# when this lesson was written, so there is **no curve of ours to show, only an expectation**. A published GPT of about this size,
# on characters of the same text, reaches a validation loss of 1.47 nats, or 2.12 bits per character (the README of
# A. Karpathy's *nanoGPT*, 2023). Byte pairs and today's parts should get there sooner. If you run it,
# save the best weights with `EarlyStopping` from lesson 10: with a million characters, a model of this size learns them by
# heart.
#
# ## Explain it
#
# A friend says: "Our new model has a loss of 3.1 per token, and the old one had 1.9. So the new one is worse. Also, 40 % of
# the names it invents are real names, so it has memorised the training set."
#
# Answer in four or five sentences. What do you need to know before you can compare the two losses, what would you
# compare in their place, and what would you measure to see whether it memorises?

# %% [markdown] explain=true
# Losses per token can only be compared if both models cut the text into the same tokens. If the new one has longer tokens,
# each is harder to guess and there are fewer of them. I'd add up the loss over the same held-out text, turn it into bits, and
# divide by the number of characters: with four characters in a token, 3.1 nats are 1.12 bits per character, while 1.9 nats for
# each single character are 2.74. As to the names: a model that has learnt what names are like will often hit a real one. I'd
# compare the loss on names that it has read with the loss on names that were held out, and see how many held-out names it
# invents: if it hits those about as often as the others, in proportion, it has learnt and not memorised. For prose, I'd
# look at the longest copies, and compare them with what human text repeats.

# %% [markdown]
# ## How good were your guesses?
#
# Here are your predictions next to what happened. A wrong guess is worth more than none: it shows you where to look.

# %%
board = [
    ("the loss of an untrained model", guess_untrained, round(first_loss, 2)),
    ("real names among eight", guess_known, known_names),
    ("characters or byte pairs", guess_tokens, tokens_won),
    ("the part that buys most", guess_part, best_part),
    ("the norm for which + 10 matters", guess_norm, shifted_norm),
    ("bits with today's parts", guess_bits, round(new_bits, 2)),
    ("how many times smaller the cache is", guess_memory, saved),
    ("the larger model and the line", guess_line, where),
    ("the fewest words from the book", guess_sampler, fewest),
    ("tokens after which context stops helping", guess_context, "look at the curve"),
    ("percent fewer bits with LoRA", guess_lora, round(fell)),
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
# **1.** A window has 32 tokens. How many predictions is the model trained on, and what keeps it honest?
#
# <details><summary>Answer</summary>
#
# 32, one at each position. The causal mask: no position sees the token that it should predict.
# </details>
#
# **2.** Why can't you compare losses per token of two models with different tokenizers, and what do you compare instead?
#
# <details><summary>Answer</summary>
#
# Their tokens stand for different amounts of text. Bits per character: the text has the same number of characters for both.
# </details>
#
# **3.** What does each of RMSNorm, SwiGLU and grouped queries leave out or add, compared with what you had before?
#
# <details><summary>Answer</summary>
#
# RMSNorm leaves out the mean and the bias. SwiGLU adds a second projection, and multiplies. Grouped queries share each key
# head and value head among several query heads, so the cache shrinks.
# </details>
#
# ## Things to try
#
# - Your own text: `lab.in_byte_pairs("mine", text[:-5000], text[-5000:])` gives a corpus that all of `lab` can read.
# - Other names: `lab.invented(inventor, names, continue_text, count=20, temperature=0.5)`. What does a low temperature do to names?
# - Real weights, on a machine with a network: the model *stories15M* (A. Karpathy, 2023; tiny stories for children) is published
#   as `safetensors` in the Llama format, by several people. Its sizes are
#   `ModernLanguageModel(32000, 288, 6, 6, 768, 6)`. `load_llama` from `course.language_model.published` reads the file. For the
#   words you need its tokenizer as well.
# - Untie the first model's tables, or start them with a standard deviation of 1, and train it again. Does it need more or
#   fewer bits per character?
# - A model of width 64 that reads 64 byte pairs at a time: does context help beyond 32?
# - LoRA with rank 1, and with rank 16: `lab.with_lora(model, 16, 32.0, LoRALinear)`, then `lab.fit(model, whale, 150, batch_size=16)`.
#
# ## Glossary
#
# | word | meaning |
# |---|---|
# | ablation | leaving one part out, or exchanging it, to see what it is worth |
# | bit | the surprise at the toss of a fair coin; ln 2 nats |
# | causal language model | a model that predicts each token from those before it |
# | context | the tokens that a model reads before it predicts |
# | decoder-only | a Transformer without an encoder, and without cross-attention |
# | fine-tuning | going on to train a trained model, on other data |
# | grouped-query attention | attention in which groups of query heads share a key head and a value head |
# | held out | kept from the model in training, to examine it with |
# | LoRA | a correction of low rank to frozen weights |
# | memorise | to have a text by heart, rather than what it has in common with others |
# | min-p | keeps the tokens at least a given share as likely as the most likely one |
# | power law | a straight line on paper with two logarithmic axes |
# | rank | the width of the narrowest place in a product of matrices |
# | RMSNorm | divides a vector by the root of the mean of its squares |
# | SiLU | z · sigmoid(z), a ReLU with a soft corner |
# | SwiGLU | a feed-forward network whose one half is a gate for the other |
# | tied | two layers that share one table |
# | window | neighbouring tokens of a text, as many as a model reads at once |
#
# ## Papers
#
# - Radford and others, [Language Models are Unsupervised Multitask Learners](https://cdn.openai.com/better-language-models/language_models_are_unsupervised_multitask_learners.pdf), 2019: section 2, GPT-2.
# - Press, Wolf, [Using the Output Embedding to Improve Language Models](https://arxiv.org/abs/1608.05859), EACL 2017: section 2, tied tables.
# - Zhang, Sennrich, [Root Mean Square Layer Normalization](https://arxiv.org/abs/1910.07467), NeurIPS 2019: section 4.
# - Shazeer, [GLU Variants Improve Transformer](https://arxiv.org/abs/2002.05202), 2020: sections 2 to 4.
# - Ainslie and others, [GQA](https://arxiv.org/abs/2305.13245), EMNLP 2023: section 2.
# - Su and others, [RoFormer](https://arxiv.org/abs/2104.09864), 2021: section 3.
# - Touvron and others, [LLaMA](https://arxiv.org/abs/2302.13971), 2023: section 2.2, all of it in one model.
# - Kaplan and others, [Scaling Laws for Neural Language Models](https://arxiv.org/abs/2001.08361), 2020: section 3.
# - Nguyen and others, [Turning Up the Heat](https://arxiv.org/abs/2407.01082), ICLR 2025: section 3, min-p.
# - Keskar and others, [CTRL](https://arxiv.org/abs/1909.05858), 2019: section 4.1, the penalty.
# - Hu and others, [LoRA](https://arxiv.org/abs/2106.09685), ICLR 2022: section 4.
