# ---
# title: A language model
# topic: a small GPT
# group: Beyond
# picture: Who moves when one token is nudged
# sittings: [120, 30]
# builds_on: [03_classification_transformer, 05_causal_masks, 07_autoregressive_sampling]
# gives:
#   - train a language model on any text, and let it write
#   - compare models that cut a text into different tokens
#   - find out whether a model invents, or quotes
#   - say what a small model can write, what it can't, and how much of the context it uses
# ---

# %% [markdown]
# TITLE
#
# Here are six first names: *Helmina, Merrill, Kerie, Lanyon, Corabel, Timmela*. **Which two are in our list of 8,422 names?**
#
# A model that you build in this lesson invented the other four, one letter at a time.
# Nobody told it what a name is. It has read nine tenths of the list, and for each letter it has guessed which one comes
# next. That is all a language model ever learns to do.
#
# ![Three rows of boxes with letters. Top: the text, a line end, then a, d, a, a line end, then b, o, b. Middle: a window of five inputs from it, a, d, a, line end, b. Bottom: the five targets, shifted by one: d, a, line end, b, o.](picture:one_place_later)
#
# You build a GPT as it was in 2019 (only with ReLU, which you know, where GPT-2 has GELU), let it invent names, and then let
# it read Shakespeare. In [lesson 12](../12_then_and_now/12_then_and_now.ipynb) you swap its parts for today's.
#
# GIVES
#
# SITTINGS
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
# **1.** In pre-norm order, where does the residual connection of a block begin: before its norm, or after it?
#
# <details><summary>Answer</summary>
#
# Before it. The norm's result goes into the layer, and the layer's result is added to the x from before the norm.
# See the encoder block in [lesson 3](../03_classification_transformer/03_classification_transformer.ipynb).
# </details>
#
# **2.** A row has 6 tokens, and attention gets a causal mask. Which tokens does the third one see?
#
# <details><summary>Answer</summary>
#
# The first three, itself among them.
# See causal masks in [lesson 5](../05_causal_masks/05_causal_masks.ipynb).
# </details>
#
# **3.** The probabilities are 0.5, 0.3 and 0.2, and top-p keeps the smallest set that reaches 0.7. Which tokens are kept?
#
# <details><summary>Answer</summary>
#
# The first two. 0.5 isn't enough, and the token that brings the sum to 0.7 belongs to the set.
# See top-p in [lesson 7](../07_autoregressive_sampling/07_autoregressive_sampling.ipynb).
# </details>
#
# Two out of three? Go on. Fewer? Read the linked pages first, then come back.
#
# Run the next cell first: it loads the tools, and the parts that you wrote in earlier lessons. `lab` runs the
# experiments; its training loop is in `transformer_course/lessons/lesson_11/experiments/training.py`.

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
from transformer_course.attention import MultiHeadAttention
from transformer_course.blocks import EncoderBlock, FeedForward, LayerNorm, LearnedPositionalEmbedding
from transformer_course.causal import causal_mask
from transformer_course.language_model.batches import bits_per_character
from transformer_course.sampling import sample_with_temperature, top_p_filter
from transformer_course.lessons.lesson_11 import experiments as lab

torch.set_num_threads(1)  # on a shared machine, two threads can be ten times slower than one

# %% [markdown]
# ## Part 1 · The next token
#
# A translator needs pairs of sentences, and somebody has to write them. A language model needs a text, and nothing else:
# **the text is its own answer sheet.** Whatever comes next is the right answer to everything before it.

# %% [markdown] exercise="next_token_batches" kind="core" difficulty=2 minutes=15
# A text is too long to read at once, so you take random **windows** out of it. The targets are the same windows, one
# position later. A window of 32 tokens holds 32 questions: what comes after the first token, after the first two, and so
# on. The causal mask makes sure that the model never sees the answer.
#
# ![A staircase of five rows. The model reads a and should predict d; it reads a, d and should predict a; a, d, a, then the line end; and so on, down to five letters read.](picture:staircase)
#
# For example: a text of 10 tokens, and windows of 3. The first window starts at 0. The last one starts at 6: its inputs
# are at 6, 7 and 8, and its targets at 7, 8 and 9. That makes 7 windows.
#
# <details><summary>Hint 1</summary>
#
# How many windows does a text of n tokens have, if each needs one more token for its last target?
# </details>
# <details><summary>Hint 2</summary>
#
# Draw a start for each row. A column of starts plus a row of 0, 1, 2, ... gives a matrix of positions.
# </details>
# <details><summary>Hint 3</summary>
#
# `places = torch.randint(?, (batch_size, 1), generator=generator) + torch.arange(?)`, then `ids[?]`, twice.
# </details>
#
# Docs: [torch.randint](https://pytorch.org/docs/stable/generated/torch.randint.html).

# %% [markdown]
# **What you've built.** An endless supply of exercises. Here is a batch of four, from the list of names in random order. A
# name is a line, and the line end (shown as `|`) is a token like any other: it says that the name is over.

# %%
names = lab.names()
inputs, targets = next_token_batches(names.train, 16, 4, torch.Generator().manual_seed(0))
rows = [[names.decode(row).replace("\n", "|") for row in pair] for pair in zip(inputs, targets, strict=True)]
pd.DataFrame(rows, columns=["inputs", "targets"])

# %% [markdown] exercise="targets_are_next" kind="core" difficulty=2 minutes=15
# Two bugs can cost you a week, because nothing crashes. You forget to shift the targets, and within a hundred steps
# the loss is almost 0: the model learns to copy its input. Or two people shift, one where the batch is made and one where
# the loss is computed, and the model learns to predict the token after the next. Then the loss falls as in a sound run,
# only not as far: on these names to 2.6 nats, where a sound run reaches 2.1. If you have nothing to compare it with, you
# won't notice. <!-- claim: what_shifts_do_to_the_loss -->
#
# This is the lesson's bug clinic. Write a test that is given a function `make_batch` and a text, and says whether every
# target is the token that follows its input. In this text no token occurs twice, so you can look up what follows each
# of them.
#
# For example: in the text 5, 2, 8, 1 the token 2 follows 5, and 8 follows 2. The inputs (5, 2) with the targets (2, 8) are
# right. With (5, 2), nothing has been shifted. With (8, 1), it has been shifted twice.
#
# <details><summary>Hint 1</summary>
#
# What do you need to know about the text, before you look at a single batch?
# </details>
# <details><summary>Hint 2</summary>
#
# A dict from each token to the one that follows. Then compare every input with its target, in 100 batches. Don't compare
# a batch with itself: its last column has nothing to be compared with.
# </details>
# <details><summary>Hint 3</summary>
#
# `follows = dict(zip(ids[:-1].tolist(), ids[1:].tolist()))`, then `follows.get(?) == ?` for all pairs of a batch.
# </details>
#
# Docs: [Tensor.tolist](https://pytorch.org/docs/stable/generated/torch.Tensor.tolist.html).

# %% [markdown]
# **What you've built.** A test that takes a second, and saves the week. Here it meets your own batches, and three others.


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

# %% [markdown] exercise="DecoderOnlyBlock" kind="core" difficulty=2 minutes=15
# ![The residual stream x runs from left to right. Twice something branches off and is added again: first norm1 and attention with a causal mask, then norm2 and the feed-forward network.](picture:one_block)
#
# $$x \leftarrow x + \text{attention}(\text{norm}_1(x)), \qquad x \leftarrow x + \text{feed forward}(\text{norm}_2(x))$$
#
# The block makes its own mask, from the length of x. So you can't forget it.
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
# `y = self.norm1(?)`, then `x = x + self.attention(?, ?, ?, causal_mask(?))[0]`. (On a GPU, the mask has to be on the same
# device as x.)
# </details>
#
# Docs: [nn.Module](https://pytorch.org/docs/stable/generated/torch.nn.Module.html).

# %% [markdown]
# **What you've built.** A block that can't look ahead. We change one token and look at which positions move, as in lesson 5.

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

# %% [markdown] exercise="DecoderOnlyTransformer" kind="core" difficulty=3 minutes=20
# Now the whole model: a table of token vectors, a table of positions, some blocks, a last norm, and a logit for every
# token of the vocabulary. To turn a state into logits, most of our earlier models had a layer of their own; in lesson 8 it
# could share the embedding's weights. GPT-2 uses **the same matrix twice**: the logit of a token is the dot product of the
# state with this token's vector. The output is **tied** to the embedding (Press and Wolf 2017). That saves
# vocab_size · d_model numbers. Whether it also costs something, and whether 0.02 (below) is the right number for a model as
# narrow as ours, you'll measure in lesson 12.
#
# $$\text{logits} = \text{final norm}(x)\; E^{\top} \qquad (\text{batch}, \text{length}, d) \cdot (d, \text{vocab})$$
#
# There is a catch. PyTorch fills an embedding with numbers of about size 1 (a standard normal). The dot product of such a
# vector with itself is about 64, if it has 64 entries, and with any other it is something like 8 or -8. While a model is
# new, a state still looks much like the vector of the token just read. So with such a table it bets everything on seeing
# that same token again: on Shakespeare, its first loss is above 50 nats, where a model that finds all tokens equally likely
# has 6.3. That's why both tables start with a standard deviation of 0.02.
#
# Training can repair the embedding: after 650 steps, such a model needs about as many bits per character as yours will, 3.0
# to 3.1 (a measure that you'll meet in a moment). The positions don't recover in that time. If the embedding has 0.02 and
# the positions have 1, a new model's logits are small, and nothing looks wrong. But each position is fifty times as loud as
# the token at it, and the model ends at 4.0. If both have 1, so that neither drowns the other, it ends at about 3.3.
# <!-- claim: where_the_tables_begin -->
#
# (GPT-2 also divides the layers that write into the residual stream by $\sqrt{2L}$ at the start, where L is the number of
# blocks, since a sum of many results grows. With two blocks we measured no gain, so we leave it out.) <!-- claim: scaled_residuals_gain_nothing -->
#
# For example: with the states (1, 2) and two tokens whose vectors are (3, 0) and (0, 1), the logits are 3 and 2.
#
# <details><summary>Hint 1</summary>
#
# Which four parts does the docstring name, and in which order does a batch of ids run through them?
# </details>
# <details><summary>Hint 2</summary>
#
# The table of an embedding is its `weight`, (vocab_size, d_model). Which way round must it be for `states @ ?`
# </details>
# <details><summary>Hint 3</summary>
#
# `x = self.positions(?)`, a loop over `self.blocks`, and `self.final_norm(x) @ ?`. Before all that:
# `if tokens.shape[1] > ?: raise ValueError(...)`. For the tables: `nn.init.normal_(?.weight, std=?)`.
# </details>
#
# Docs: [nn.ModuleList](https://pytorch.org/docs/stable/generated/torch.nn.ModuleList.html) ·
# [nn.init.normal_](https://pytorch.org/docs/stable/nn.init.html#torch.nn.init.normal_).

# %% [markdown]
# **What you've built.** A GPT. Before it learns anything, ask it for the loss on some names. There are 28 symbols: 26 letters,
# the hyphen and the line end. **What should the loss of a model be that has never read anything?**

# %%
guess_untrained = None  # a loss, in nats per symbol

torch.manual_seed(0)
untrained = lab.new_gpt(names, lab.NAMES, DecoderOnlyTransformer)
first_loss = lab.losses_of(untrained, names.held_out, 16).mean().item()
print(f"your guess: {guess_untrained}, it is: {first_loss:.2f}")

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

# %% [markdown] exercise="continue_text" kind="core" difficulty=3 minutes=20
# To write, a model predicts, you choose one token, and it reads its own choice. You know this from lesson 7. Two things
# are different here: there is no source, and a text may grow longer than the model can read. Then it reads the end.
#
# For example: a model with a `max_length` of 4 gets the text 7, 1, 8, 2, 5 and reads 1, 8, 2, 5. If it chooses 9, the text is
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

# %% [markdown]
# **What you've built.** A pen. The model of the names has two blocks and a width of 48, and reads 16 letters at a time. It
# writes eight names before training and after 100, 300 and 1,000 steps, with your function. **How many of the last eight
# will be in the list?** It takes about half a minute.

# %%
guess_known = None  # of eight

written = {}


def write_names(step, model):
    written[f"after {step} steps"] = lab.invented(model, names, continue_text, count=8)
    return {"bits": lab.bits(model, names, 16)}


run = lab.read_names(names, DecoderOnlyTransformer, next_token_batches, look=write_names, look_at=(0, 100, 300, 1000))
inventor = run.model
known_names = sum(name in lab.known_names() for name in written["after 1000 steps"])
print(f"your guess: {guess_known}, it is: {known_names}")
pd.DataFrame({moment: [repr(name)[1:-1] for name in some] for moment, some in written.items()})

# %% [markdown]
# At first it draws letters from a hat. After 100 steps it knows which letters are common, that vowels and consonants mostly
# take turns, and roughly how long a name is. After 1,000 steps there are some that you could give a child.
# <!-- claim: what_it_knows_after_100_steps -->
#
# Does it invent them, or has it learnt the list by heart? Here are 200 of its names.

# %%
lots = lab.invented(inventor, names, continue_text, count=200, seed=1)
judgement = lab.judged(lots)
print({what: f"{share:.0%}" for what, share in judgement.items()})
print(", ".join(name for name in lots if name not in lab.known_names())[:400])

# %% [markdown]
# <details><summary>Open this once you have run the cells</summary>
#
# **What you should see**
#
# - Of 200 names, 15 are in the list on average: 8 to 24, depending on the seed. About 90% aren't, and have 3 to 12 letters and a vowel. <!-- claim: most_names_are_new -->
# - Of the names in the list that it hits, about one in ten was held out, and so was one in ten of the whole list. (Six models, with 1,200 names each: 49 of 541.) <!-- claim: held_out_names_are_hit_too -->
#
# So these hits don't show that it quotes. If you know what names sound like, you hit a real one now and then, and the model
# hits those that it has never read about as often as the others. As for the six at the beginning: Merrill and Corabel are
# in the list. Our model's 200 names have the other four among them; on another machine yours may differ.
# </details>
#
# There is a measure that needs no hits: the loss on names that were held out. Is it higher than on those that the model has
# read? For that we need a unit.

# %% [markdown]
# ### A fair measure: bits per character
#
# The loss of a language model is measured per token. That's no good if you want to compare two models that cut a text in
# different ways: with longer tokens each is harder to guess, and there are fewer of them. What both have in common is the
# text, and it has a fixed number of **characters**. And in place of nats, people count **bits**: the number of yes-or-no
# questions that the model's surprise is worth. A bit is ln 2 = 0.693 nats.
#
# $$\text{bits per character} = \frac{\text{sum of all losses in nats}}{\ln 2 \cdot \text{characters}}$$
#
# For example: a text of 100 characters is cut into 50 tokens, whose losses sum to 138.6 nats. That's 138.6 / 0.693 = 200
# bits, and so 2 bits per character. A compressor built around this model would need 25 bytes for the text.
#
# `bits_per_character(total_loss, characters)` is that one line, and the set-up cell has loaded it. Here is the run on names
# again, and beside it what simpler models need: one that finds all symbols equally likely, and one that only knows how
# common each symbol is.

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
train_bits = lab.bits(inventor, names, 16, bits_per_character, names.train)
held_out_bits = lab.bits(inventor, names, 16, bits_per_character)
print(f"names it has read: {train_bits:.2f}, names held out: {held_out_bits:.2f} bits per character")

# %% [markdown]
# **What you should see**
#
# - After 1,000 steps, held-out names cost about 3.1 bits per character, one less than for a model that only knows how common each symbol is. <!-- claim: names_get_better -->
# - Names that it has read cost only 0.04 to 0.07 bits less, depending on the seed. (Which names happen to be held out makes a difference of 0.02.) It has learnt what names are like, and has memorised hardly any. <!-- claim: hardly_any_by_heart -->
#
# ## Time for a break
#
# You can now train a model that invents names, and say whether it invents or quotes. Next it reads a million characters.
#
# A question to take with you: with which tokens, letters or byte pairs, will it get further in the same time?

# %% [markdown]
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
# pairs, and so is the table. Each of the two runs takes half a minute or so.

# %%
spelling = lab.read(
    lab.new_gpt, letters, lab.CHARACTERS, DecoderOnlyTransformer, batches=next_token_batches, name="characters"
)
reading = lab.read(lab.new_gpt, pairs, lab.PAIRS, DecoderOnlyTransformer, batches=next_token_batches, name="byte pairs")
print(f"processor time: {spelling.seconds:.0f} and {reading.seconds:.0f} seconds")

# %% [markdown]
# Now both of them read the held-out text. **Which needs fewer bits per character?**

# %%
guess_tokens = None  # "characters" or "byte pairs"

compared = {
    "characters": lab.bits(spelling.model, letters, 64, bits_per_character),
    "byte pairs": lab.bits(reading.model, pairs, 32, bits_per_character),
}
tokens_won = min(compared, key=compared.get)
print(f"your guess: {guess_tokens}, it is: {tokens_won}")
plots.bars(compared, title="Held-out text", x_label="bits per character", guess=guess_tokens)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - Byte pairs need 3.0 to 3.1 bits per character, characters 3.4 to 3.5: in no more time, the model that has less spelling to learn gets further. <!-- claim: byte_pairs_get_further -->
#
# That holds for this budget. With more time, characters may catch up: they carry all that byte pairs carry. What they
# pay is length. Their windows have twice as many positions, and attention pays for each pair of positions.
# </details>
#
# What does it write? And has it just memorised passages? The **longest copy** is the longest piece of the model's
# text that appears, letter for letter, in what it has read. The number alone says little, since people repeat each other
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
# - In 500 characters that the model writes, the longest copy has 11 to 17 characters, depending on the seed. In 36 held-out passages of the same length the median is 19 characters, the shortest 15 and the longest 31. <!-- claim: it_does_not_quote -->
#
# Speakers' names and stock phrases repeat, and the model repeats them as the plays do. It has had little chance to
# memorise passages: in 650 steps it reads 333,000 byte pairs, fewer than the text has, so it meets most passages once or
# never. Much larger models do quote, and can be made to; look at this number whenever you train one.
#
# ## Part 4 · Choosing words
#
# In lesson 7 you saw samplers on small distributions. On a text you can read what they do. The model is the one that
# reads byte pairs, and two samplers are new. **Min-p** keeps every token that is at least a tenth as likely as the most
# likely one, so it keeps many where the model is unsure, and few where it is sure (Nguyen and others 2025). A
# **repetition penalty** makes less likely whatever is already in the window (Keskar and others 2019).
#
# First one and the same distribution, through six samplers. ROMEO says "My l": what may come next, and how likely is it?
# Here are the 16 most likely byte pairs. A blank is shown as `_`.

# %%
chances, best_tokens = lab.next_chances(reading.model, pairs, "ROMEO:\nMy l", shown=16)
plots.chances(chances, best_tokens, title="What comes after 'My l'?")

# %% [markdown]
# A temperature changes every chance and rules nothing out. The other three rule tokens out, and share their chances among
# those that are left. Now let nine ways write eight passages each, of sixty tokens; you'll see the first. Before you run it:
# **which will have the smallest share of words from the book?** It takes a quarter of a minute or so.

# %%
guess_sampler = None  # a name from the first column

passages = lab.choices(reading.model, pairs, plays, context=32)
fewest = passages["chosen by"][passages["words in the book"].idxmin()]
print(f"your guess: {guess_sampler}, it is: {fewest}")
shown = passages.style.hide(axis="index").format("{:.0%}", subset=["words in the book", "different words"])
shown.set_properties(**{"text-align": "left"})

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - Temperature 2 has the fewest words from the book, 46 to 48%, where temperature 1 has 56 to 58%: it breaks words into pieces. With min-p at the same temperature it is 50 to 56%: a little more, but so few words don't prove it. <!-- claim: a_high_temperature_breaks_words -->
# - The most likely token goes round in circles: of the words in a passage, only 25 to 37% are different ones. With the penalty, 80 to 83% are. <!-- claim: the_most_likely_goes_round_in_circles -->
#
# Read the passages, too. A share of words says nothing about whether they make sense.
# </details>
#
# ## Part 5 · What it can write, and what it can't
#
# It has learnt spelling, the look of a play, and which words follow each other. Does it know what anybody is talking
# about? Ask it something. Both answers are written with the same random numbers, so that only the question differs.

# %%
for question in ("ROMEO:\nWhat is your name?\n\n", "KING:\nHow many sons have you?\n\n"):
    print(lab.continued(reading.model, pairs, question, continue_text, tokens=50), end="\n\n---\n\n")

# %% [markdown]
# Compare the two. How much did it matter what you asked?
#
# You can also see it in a number: how much does the context help? We take the same held-out tokens each time, and let
# the model read only the last 1, 2, 3, ... tokens before each of them. **After how many tokens is its loss within 0.05
# bits of the lowest it gets?**

# %%
guess_context = None  # a number of tokens

context = lab.by_position(reading.model, pairs, 32)
close = context["bits per token"] < context["bits per token"].min() + 0.05
enough = int(context["tokens read"][close].min())
print(f"your guess: {guess_context}, it is: {enough}")
plots.curves(
    {"the same held-out tokens": context["bits per token"]},
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
# - The second token of context saves about 0.2 bits, the third and fourth together another 0.1. <!-- claim: the_first_words_help -->
# - From 4 tokens to 16 there are only 0.02 to 0.05 bits more to be gained: little, but 4 to 10 times the standard error, so they are there. <!-- claim: the_rest_helps_a_little -->
# - From 16 to 32 nothing is gained. At the last positions of the window the loss even rises again, by 0.04 to 0.06 bits. <!-- claim: the_far_past_does_not -->
#
# It's important that the tokens to be predicted are the same throughout. If you take the average at each position of the
# window instead, each point has other targets, some harder than others, and with 334 windows the curve is mostly noise.
#
# So this model writes like someone who remembers the last few words. Ask it a question, and it will write something that
# looks like the next line of a play. It can't count, it doesn't know who is in the room, and it has no idea what is true.
#
# Large models begin in just this way: with windows of text, and the cross-entropy of the next token. They have more
# of everything, so they know more, and they use contexts of thousands of tokens. What turns one into an assistant comes
# afterwards. It is trained further on answers that people have written, and then on people's choices between two
# answers. That changes which continuations are likely. But it's still a model that says what is likely. Truth
# counts only where a rater or a test could check it.
# </details>
#
# ## Explain it
#
# A friend says: "Our new model has a loss of 3.1 per token, and the old one had 1.9. So the new one is worse. Also, 40% of
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
# Here are your guesses next to what happened. Numbers may be a little off: 0.15 nats for the loss, one name, two tokens.
# A wrong guess is worth more than none: it shows you where to look.

# %%
board = [
    ("the loss of an untrained model", guess_untrained, round(first_loss, 2), 0.15),
    ("real names among eight", guess_known, known_names, 1),
    ("characters or byte pairs", guess_tokens, tokens_won),
    ("the fewest words from the book", guess_sampler, fewest),
    ("tokens of context that are enough", guess_context, enough, 2),
]
guesses.board(board)

# %% [markdown]
# ## Recap
#
# Answer from memory, then check.
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
# ## Things to try
#
# - Your own text: `lab.in_byte_pairs("mine", text[:-5000], text[-5000:])` gives a corpus that all of `lab` can read.
# - Other names: `lab.invented(inventor, names, continue_text, count=20, temperature=0.5)`. What does a low temperature do to names?
# - Do characters catch up with byte pairs? Give both presets four times the steps: `dataclasses.replace(lab.PAIRS, steps=2600)`.
# - Untie the first model's tables, and train it again. Does it need more or fewer bits per character?
# - Why does the loss rise at the last positions of the window? Try `by_position` on a model with another kind of
#   positions, such as the one you'll build in lesson 12.
#
# ## Glossary
#
# | word | meaning |
# |---|---|
# | bit | the surprise at the toss of a fair coin; ln 2 nats |
# | causal language model | a model that predicts each token from those before it |
# | context | the tokens that a model reads before it predicts |
# | decoder-only | a Transformer without an encoder, and without cross-attention |
# | held out | kept out of training, for evaluation |
# | memorise | to have a text by heart, rather than what it has in common with others |
# | min-p | keeps the tokens at least a given share as likely as the most likely one |
# | residual stream | what the blocks read and add to, from the embedding to the last norm |
# | tied | two layers that share one matrix |
# | window | neighbouring tokens of a text, as many as a model reads at once |
#
# ## Papers
#
# - Radford and others, [Language Models are Unsupervised Multitask Learners](https://cdn.openai.com/better-language-models/language_models_are_unsupervised_multitask_learners.pdf), 2019: section 2, GPT-2.
# - Press, Wolf, [Using the Output Embedding to Improve Language Models](https://arxiv.org/abs/1608.05859), EACL 2017: tied tables.
# - Nguyen and others, [Turning Up the Heat](https://arxiv.org/abs/2407.01082), ICLR 2025: section 3, min-p.
# - Keskar and others, [CTRL](https://arxiv.org/abs/1909.05858), 2019: section 4.1, the penalty.
