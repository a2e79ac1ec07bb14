# ---
# title: Attention is all you need
# topic: the whole Transformer, and translation
# group: Make it write, make it learn
# picture: abcdefghij, backwards
# sittings: [185, 170]
# builds_on: [03_classification_transformer, 04_seq2seq_cross_attention, 05_causal_masks]
# gives:
#   - say what recurrent nets made difficult, and measure it
#   - build the Transformer as published, count its parameters, and check it against PyTorch's own
#   - find out whether a pair of masks is sound
#   - train with warm-up, label smoothing and checkpoints, and say what each of them is for
#   - climb a ladder of tasks, from ten sentences to real translation, and score what comes out
# ---

# %% [markdown]
# TITLE
#
# In this lesson you build the model of the paper, train it the way the paper does, and put it to work on real data.
#
# ![Two arrows through the same box, labelled the model you build. The letters g, a, u, n, t go in, and the sounds G, AO, N, T come out. The English sentence the witch found a key and lost it goes in, and the German sentence die Hexe hat einen Schlüssel gefunden und ihn verloren comes out.](picture:letters_and_sentences)
#
# It reads letters and says sounds, so it can say your name. It reads English and writes German. Nothing about the model
# changes in between, only the data.
#
# The paper is *Attention Is All You Need* by Vaswani and seven others, from 2017. You have met nearly all of its parts
# in lessons 3 to 7. Today you put them together section by section, with each formula next to the code that computes it.
#
# GIVES
#
# SITTINGS That is how long it takes to read everything and write everything. Six exercises are *stretch*: no later
# lesson needs them, and without them you save about an hour and a half.
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
# **1.** What is the difference between post-norm and pre-norm?
#
# <details><summary>Answer</summary>
#
# Post-norm normalises after the sum: `norm(x + layer(x))`. Pre-norm normalises what goes into the layer:
# `x + layer(norm(x))`. See the norm in
# [lesson 3](../03_classification_transformer/03_classification_transformer.ipynb).
# </details>
#
# **2.** In cross-attention, which side do the queries come from, and which side the keys and values?
#
# <details><summary>Answer</summary>
#
# Queries come from the decoder, keys and values from the encoder.
# See `CrossAttention` in [lesson 4](../04_seq2seq_cross_attention/04_seq2seq_cross_attention.ipynb).
# </details>
#
# **3.** A decoder mask has the shape `(batch, 1, length, length)`. What is the 1 for, and which two things does the mask hide?
#
# <details><summary>Answer</summary>
#
# The 1 means "the same for every head". The mask hides the future and the padding.
# See `decoder_mask` in [lesson 5](../05_causal_masks/05_causal_masks.ipynb).
# </details>
#
# Two out of three? Go on. Fewer? Read the linked pages first, then come back.
#
# Run the next cell first: it loads the tools. `plots` draws, and `lab` runs the longer experiments. You can read them in
# `transformer_course/plots` and `transformer_course/lessons/lesson_08/experiments`.

# %% setup=true
import math
import os
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
import torch.nn.functional as F
from IPython.display import display
from torch import nn

from transformer_course import guesses, plots
from transformer_course.attention import MultiHeadAttention, padding_mask
from transformer_course.blocks import EncoderBlock, LayerNorm
from transformer_course.causal import causal_mask
from transformer_course.downloads import NotAvailable
from transformer_course.paper.batches import Batches
from transformer_course.paper.checkpoints import Stateful, random_state, set_random_state
from transformer_course.paper.fitting import Parts
from transformer_course.paper.model import count_parameters
from transformer_course.paper.recipes import CPU, GPU
from transformer_course.paper.schedule import resumable
from transformer_course.paper.training import Schedule
from transformer_course.positions import SinusoidalPositionalEncoding
from transformer_course.scoring import NoSacrebleu
from transformer_course.seq2seq import CrossAttention
from transformer_course.subwords import NoTokenizers
from transformer_course.tasks.fairy_tales import fairy_tales
from transformer_course.tasks.spelling import spelling_task
from transformer_course.tasks.ten_pairs import ten_pairs
from transformer_course.lessons.lesson_08 import experiments as lab

torch.set_num_threads(1)  # one thread: on a machine that others use too, two can be ten times slower

# %% [markdown]
# ## The ladder
#
# A new model that doesn't learn translation could be broken in a hundred places. So don't begin with translation. Begin
# with something so easy that failing can only mean a bug, and climb.
#
# ![Four rungs, from bottom to top. 1: ten pairs, learnt by heart: does anything learn at all? 2: letters backwards, unseen rows: do attention and positions work? 3: spelling to sounds, real words: does it generalise? 4: English to German, real sentences: is it any good?](picture:four_rungs)
#
# ### Rung 1: ten sentences by heart
#
# Ten English sentences with their German translations. No test set, no dropout, no label smoothing: the only question is
# whether the model can **over-fit**. We start with a model that works, ours, so that you know what success looks like.
# Then your own pieces take the place of ours, one after the other, until the whole model is yours. `mine` says whose
# pieces it is made of.
#
# The model is tiny: vectors of width 32, one layer on each side, two heads. A step shows it all ten pairs, and there
# are 100 steps. **How many of the ten will be right after them?**

# %%
guess_ten = None  # a number from 0 to 10

mine = lab.Pieces()  # nothing of yours yet
english, german, examples = ten_pairs()
ten = lab.overfit_ten_pairs(mine.build)
right_of_ten = round(10 * ten.exact)
print(f"your guess: {guess_ten}, right: {right_of_ten} of 10")
display(plots.curves({"training loss": ten.run.losses}, title="Ten pairs", log_y=True))
ten.written

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - After 100 steps all ten are right, word for word. <!-- claim: ten_pairs_by_heart -->
#
# Look at the last row: "sees" is the fourth word in English, and in German the verb comes second. Has the model
# understood that? No: it has learnt ten sentences by heart, and nothing more is claimed. But gradients flow, the masks
# let the right things through, and the decoder stops when it should. A model that fails here would fail on the next
# rungs too.
# </details>

# %% [markdown]
# ## Part 1 · Why attention, and nothing else?
#
# *The paper's sections 1, 2 and 4.*
#
# ### What the title means
#
# A **recurrent net** reads a sentence as you do, one word after the other. After each word it has a **state**, a vector
# that stands for everything it has read so far. From that state and the next word it makes the next state:
#
# $$h_t = f(h_{t-1}, x_t)$$
#
# The net we compare with is the **GRU** (Cho and others 2014). Its $f$ has *gates* that decide how much of the old state
# stays. In 2014 one recurrent net learnt to read a sentence, and a second one started from its last state and wrote the
# translation (Sutskever and others 2014). Everything there was to know about the sentence had to fit into that state.
#
# In the same year, Bahdanau, Cho and Bengio let the writer look back. Before each word it compares its own state with
# *all* states of the reader, and takes their weighted mean. That is attention, three years before the paper, and soon
# nearly every neural translator had it. "The best performing models also connect the encoder and decoder through an
# attention mechanism", says the paper's abstract. Some of the best by then read with convolutions instead of recurrence.
#
# | | from the source to the target | from word to word on either side |
# |---|---|---|
# | Sutskever and others 2014 | one vector | recurrence |
# | Bahdanau and others 2014 | attention | recurrence |
# | Gehring and others 2017 | attention | convolution |
# | Vaswani and others 2017 | attention | attention |
#
# So the paper didn't bring attention to translation. It took everything else away. Attention is *all* you need.
#
# ### One word after the other
#
# ![Five words in a row, each with a box above it. In the recurrent net an arrow leads from box to box, so what the first word says reaches the last box in four steps. With self-attention an arrow leads from the first box straight to the last: one step.](picture:roads_from_word_to_word)
#
# Two things are awkward about recurrence.
#
# - **It has to wait.** State 50 needs state 49, which needs state 48. A GPU that could do fifty words at once has to do them
#   one by one.
# - **The path is long.** What the first word has to say to the fiftieth passes through 49 steps, and each of them may
#   lose some of it.
#
# In self-attention, any two words are one step apart, and all words are worked on at once.
#
# Let's measure the second point. We take fresh, untrained layers of each kind and give them rows of 21 tokens. How much
# does the last output depend on the last token, and how much on a token further back? We measure it by the size of a
# gradient, scaled so that the last token gets 1.
#
# **How much does a token 20 positions back count in the GRU?**
#
# 1. About as much as the last one.
# 2. About a tenth.
# 3. Less than a thousandth.

# %%
guess_far = None  # 1, 2 or 3

influence = lab.influence_by_distance([1, 2, 5, 10, 20], length=21)
in_gru = float(influence["recurrent (GRU)"].iloc[-1])
far = 3 if in_gru < 0.001 else 2 if in_gru < 0.5 else 1
print(f"your guess: {guess_far}, measured: {far} ({in_gru:.5f})")
lab.influence_chart(influence)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - In the GRU, a token 20 positions back has less than a thousandth of the influence of the last one (0.00003 in our run). <!-- claim: the_gru_forgets -->
# - In self-attention the distance makes no difference: at every distance it is about half (0.46 to 0.63 over two seeds). <!-- claim: attention_ignores_distance -->
#
# Why half and not all? The last token does more than the others: it also asks the question. In a longer row every
# token would get a smaller share of the attention, but a near one no more than a far one.
#
# These layers are untrained. Training can teach a GRU to remember, but the gradient that has to teach it comes by the
# same long path.
# </details>
#
# ### What a layer costs
#
# The paper's table 1 compares three kinds of layer, for n tokens that are vectors of width d, and a convolution with
# kernels of width k:
#
# | layer | multiplications | steps that must wait for each other | longest path |
# |---|---|---|---|
# | self-attention | $n^2 \cdot d$ | 1 | 1 |
# | recurrent | $n \cdot d^2$ | n | n |
# | convolution | $k \cdot n \cdot d^2$ | 1 | $n / k$, or $\log_k n$ with dilation |
#
# These are orders of magnitude, and something is missing from the first row. A self-attention layer, as you have built
# it, also makes queries, keys and values and an output. Those are four products with matrices of $d \times d$, so
# $4 n d^2$ in all, and the two products with the attention weights add $2 n^2 d$. A plain recurrent layer has two matrix
# products per token ($2 n d^2$), a GRU three times as many.
#
# Here is both, for 50 tokens and the paper's width of 512. (A convolution of width k reaches k - 1 positions further per
# layer, so our table counts that.) **By what factor does self-attention cost more than a plain recurrent layer, once everything
# is counted?**

# %%
guess_cost = None  # a factor, such as 0.5 or 3

costs = lab.complexity_table(n=50, d=512)
attention_cost, plain_cost = costs["all multiplications"][:2]
factor = attention_cost / plain_cost
print(f"your guess: {guess_cost}, counted: {factor:.1f}")
costs

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - As the paper counts, self-attention needs a tenth of the recurrent layer's multiplications: 1.3 million instead of 13.1 million. <!-- claim: attention_is_cheap_on_paper -->
# - With everything counted it needs 55.0 million: 2.1 times as many as a plain recurrent layer (26.2 million) and 0.7 times as many as a GRU (78.6 million). <!-- claim: all_products_counted -->
#
# So for sentences the cost is a draw. What's won is in the two columns on the right: one step instead of fifty, and a
# path of one.
#
# For long texts it is different. Once n is larger than 2 d, the products with the attention weights outweigh the four
# others, and they grow with the square of the length. For very long texts, the paper suggests that each token look only
# at its neighbours (section 4).
# </details>
#
# A table of multiplications isn't a clock. Here is the time that one layer takes on this machine, forwards and backwards.
# It depends on your processor, so look at the shape of the curves.

# %%
seconds = lab.layer_seconds([16, 32, 64, 128, 256])
plots.curves(
    {name: seconds[name] for name in seconds.columns if name != "length"},
    x=seconds["length"],
    title="One layer, forwards and backwards",
    x_label="tokens",
    y_label="milliseconds",
)

# %% [markdown]
# So much for the theory. On the second rung of the ladder you can train a GRU, a GRU with attention and your Transformer
# on the same task.
#
# ## Part 2 · The layers
#
# *The paper's section 3.*
#
# Much of section 3 is done already. The first cell has imported the course's versions of what you wrote in earlier
# lessons. In what you build below, these run in place of your own:
#
# | section | formula | in code |
# |---|---|---|
# | 3.2.1 attention | $\text{softmax}\left(QK^T / \sqrt{d_k}\right)V$ | inside `MultiHeadAttention`, lesson 3 |
# | 3.2.2 several heads | $\text{Concat}(\text{head}_1, \dots, \text{head}_h)\,W^O$ | `MultiHeadAttention(d_model, num_heads)`, lesson 3 |
# | 3.2.3 from decoder to encoder | Q from the decoder, K and V from the encoder | `CrossAttention(d_model, num_heads)`, lesson 4 |
# | 3.2.3 no look ahead | $j \le i$ | `causal_mask(length)`, lesson 5 |
# | 3.5 positions | $\sin(pos / 10000^{2i / d})$ and $\cos$ of the same | `SinusoidalPositionalEncoding(d_model, max_length)`, lesson 6 |
#
# One small difference: our projections have biases, and the paper's matrices $W^Q$, $W^K$, $W^V$ and $W^O$ are written
# without. Much of the wiring below is familiar too, so the text is brief about it. Look out for what's new: where dropout
# acts, in which order things are added and normalised, how embeddings begin, and which matrices can be one.

# %% [markdown] exercise="PositionwiseFeedForward" kind="core" difficulty=1 minutes=10
# Section 3.3. Each token goes through two Linear layers by itself. **Position-wise** means just that: the same
# network at each position, without looking at its neighbours. (The paper also calls it "two convolutions with kernel size
# 1": a window that is one token wide.)
#
# $$\text{FFN}(x) = \max(0,\ x W_1 + b_1)\, W_2 + b_2$$
#
# For example: with x = 2, $W_1 = (1, -1)$, no biases and $W_2 = (3, 5)^T$, the hidden numbers are 2 and -2. ReLU makes
# them 2 and 0, and out comes 6. In the paper, d_model is 512 and d_ff is 2048.
#
# **Dropout** is new here. In training it sets each number to 0 with probability $p$, and divides the others by $1 - p$.
# In evaluation mode it does nothing. The paper applies it "to the output of each sub-layer, before it is added to the
# sub-layer input and normalized" (section 5.4). The feed-forward network is such a sub-layer, so it ends with dropout.
#
# <details><summary>Hint 1</summary>
#
# You wrote most of this in lesson 3. What comes after the second Linear layer now?
# </details>
# <details><summary>Hint 2</summary>
#
# Make an `nn.Dropout` in `__init__` and call it in `forward`. A module knows whether it is in training mode; a bare call
# of a function doesn't.
# </details>
# <details><summary>Hint 3</summary>
#
# `self.dropout(self.linear_out(torch.relu(?)))`.
# </details>
#
# Docs: [nn.Linear](https://pytorch.org/docs/stable/generated/torch.nn.Linear.html) ·
# [nn.Dropout](https://pytorch.org/docs/stable/generated/torch.nn.Dropout.html).

# %% [markdown]
# **What you've built.** The first piece of your own. Rung 1 again, with your feed-forward network inside our model.

# %%
mine = replace(mine, feed_forward=PositionwiseFeedForward)
with_network = lab.overfit_ten_pairs(mine.build)
print(f"right: {round(10 * with_network.exact)} of 10, last loss {with_network.run.losses[-1]:.4f}")

torch.manual_seed(0)
network = PositionwiseFeedForward(8, 32, 0.1).train()  # d_model, d_ff, dropout
dropped = (network(torch.randn(20, 5, 8)) == 0).float().mean().item()
print(f"share of its outputs that dropout sets to 0 in training: {dropped:.2f}")

# %% [markdown] exercise="EncoderLayer" kind="core" difficulty=2 minutes=20
# Sections 3.1 and 5.4. In lesson 3 you chose pre-norm. The paper is **post-norm**: it adds first, and normalises the sum.
#
# ![Two columns of boxes, from bottom to top. Post-norm, as in the paper: x goes into attention, then dropout, then a plus where x comes in along a side road, then norm 1; then feed-forward, a plus with a side road, and norm 2. Pre-norm, as in lesson 3: norm 1, attention, dropout, plus; norm 2, feed-forward, plus. In pre-norm the side road runs from bottom to top without passing a norm.](picture:two_orders)
#
# | | first sub-layer | second sub-layer |
# |---|---|---|
# | post-norm | `x = norm1(x + dropout(attention(x)))` | `x = norm2(x + feed_forward(x))` |
# | pre-norm | `x = x + dropout(attention(norm1(x)))` | `x = x + feed_forward(norm2(x))` |
#
# $$\text{LayerNorm}(x + \text{Sublayer}(x))$$
#
# Your layer can do both: `norm_first=False` is the paper's order, and `norm_first=True` the other. Which is better? In
# lesson 3, post-norm failed at the highest learning rate, and pre-norm didn't. The paper's learning
# rate starts near 0, and Xiong and others (2020, section 3) show why post-norm wants that. You'll write that schedule
# after the break.
#
# For example: for x = (1, 3) and a sub-layer that returns (3, 7), post-norm adds them to (4, 10), and the norm makes that
# (-1, 1). Pre-norm adds what the sub-layer returns to x and leaves the sum as it is.
#
# <details><summary>Hint 1</summary>
#
# Where does x itself go, besides into the sub-layer? And what does your feed-forward network do already, so that you
# don't have to do it twice?
# </details>
# <details><summary>Hint 2</summary>
#
# `MultiHeadAttention` takes queries, keys, values and a mask, and returns a pair: output and weights. In self-attention
# all three are the same tensor. In pre-norm, that tensor is the normalised one.
# </details>
# <details><summary>Hint 3</summary>
#
# `x = self.norm1(x + self.dropout(self.attention(?, ?, ?, mask)[0]))`, and the same with `self.feed_forward`, which
# brings its own dropout.
# </details>
#
# Docs: [nn.Dropout](https://pytorch.org/docs/stable/generated/torch.nn.Dropout.html) ·
# [nn.Module](https://pytorch.org/docs/stable/generated/torch.nn.Module.html).

# %% [markdown]
# **What you've built.** Half of the paper's figure 1. Here six of your layers are stacked, fresh and untrained, and six blocks
# from lesson 3 beside them. We look at how large the vectors are on the way up: at the standard deviation of their numbers,
# before the first layer and after each one.

# %%
post_norm = lab.sizes_on_the_way(lambda: EncoderLayer(64, 4, 256, 0.1))
pre_norm = lab.sizes_on_the_way(lambda: EncoderBlock(64, 4, 256))  # from lesson 3
plots.curves(
    {"post-norm": post_norm, "pre-norm": pre_norm},
    title="How large the vectors are, layer by layer",
    x_label="layers passed",
    y_label="standard deviation",
)

# %% [markdown]
# **What you should see**
#
# - In post-norm, the standard deviation is 1 after every layer. <!-- claim: post_norm_keeps_the_size -->
# - In pre-norm it grows from layer to layer. <!-- claim: pre_norm_grows -->
#
# That is why a pre-norm stack needs one more norm at its end. A post-norm stack ends with a norm anyway.

# %% [markdown] exercise="DecoderLayer" kind="core" difficulty=3 minutes=20
# Section 3.1 again. A decoder layer has three sub-layers. Each has its own residual connection and its own norm:
#
# | sub-layer | queries | keys and values | mask |
# |---|---|---|---|
# | `self_attention`, `norm1` | x | x | `self_mask`: no future, no padding |
# | `cross_attention`, `norm2` | x | the encoder states | `encoder_mask`: no padding in the source |
# | `feed_forward`, `norm3` | each token by itself | | |
#
# Shapes: x is `(batch, target_length, d_model)` from beginning to end. The encoder states have a length of their own,
# `(batch, source_length, d_model)`, and the layer uses them as they are.
#
# For example: with 4 target tokens and 6 source tokens, the self-attention has weights `(batch, heads, 4, 4)`, and the
# cross-attention `(batch, heads, 4, 6)`.
#
# <details><summary>Hint 1</summary>
#
# Which of the two masks belongs to which attention? What shape must each of them have?
# </details>
# <details><summary>Hint 2</summary>
#
# It is your `EncoderLayer` with one more step in the middle. `CrossAttention` is called with x, the encoder states and a
# mask, and returns a pair as well.
# </details>
# <details><summary>Hint 3</summary>
#
# `x = self.norm2(x + self.dropout(self.cross_attention(x, ?, ?)[0]))` is the middle step, post-norm. In pre-norm the x
# inside the call is normalised, and the encoder states aren't.
# </details>
#
# Docs: [nn.Module](https://pytorch.org/docs/stable/generated/torch.nn.Module.html) ·
# [nn.Dropout](https://pytorch.org/docs/stable/generated/torch.nn.Dropout.html).

# %% [markdown]
# **What you've built.** The other half of figure 1. We nudge one target token after another, as in lesson 5, and then one
# source token after another, and note how far each of the five outputs moves.

# %%
torch.manual_seed(0)
layer = DecoderLayer(16, 2, 32, 0.1).eval()  # d_model, heads, d_ff, dropout
read, written = torch.randn(1, 6, 16), torch.randn(1, 5, 16)  # encoder states; target tokens

by_target = lab.movements(lambda changed: layer(changed, read, causal_mask(5)), written)  # (5, 5)
by_source = lab.movements(lambda changed: layer(written, changed, causal_mask(5)), read)  # (5, 6)
display(lab.movements_chart(by_target, "target"))
lab.movements_chart(by_source, "source")

# %% [markdown]
# **What you should see**
#
# - A target token moves no output before its own: every cell to the right of the diagonal is exactly 0. <!-- claim: a_decoder_layer_sees_no_future -->
# - Every source token moves every output. <!-- claim: a_decoder_layer_reads_the_source -->

# %% [markdown] exercise="create_padding_mask" kind="stretch" difficulty=1 minutes=5
# Section 3.2.3. This is `padding_mask` from lesson 3 under another name. If you remember how it went, it takes a minute.
# If you'd rather not write it again, take the line under *Use our version*.
#
# $$\text{mask}[b, 0, 0, j] = (\text{token}_{b,j} \ne \text{pad})$$
#
# For example: the row `4 7 0` gives (yes, yes, no), in the shape `(1, 1, 1, 3)`.
#
# <details><summary>Hint 1</summary>
#
# What do the two axes of size 1 stand for?
# </details>
# <details><summary>Hint 2</summary>
#
# Compare with `pad_id`, and give the result two new axes between batch and length.
# </details>
# <details><summary>Hint 3</summary>
#
# Indexing with `None` makes a new axis: `(tokens != pad_id)[:, ?, ?, :]`.
# </details>
#
# Docs: [broadcasting](https://pytorch.org/docs/stable/notes/broadcasting.html) ·
# [torch.unsqueeze](https://pytorch.org/docs/stable/generated/torch.unsqueeze.html).

# %% [markdown]
# **What you've built.** A mask with one row per sentence. Here are the sources of the first rung, ten sentences of three to seven words.

# %%
english, _, examples = ten_pairs()
longest = max(len(source) for source, _ in examples)
sources = torch.tensor([ids + [0] * (longest - len(ids)) for ids, _ in examples])  # (10, 7)
plots.heatmap(
    create_padding_mask(sources)[:, 0, 0].long(),
    [" ".join(english.decode(row)) for row in sources],
    [str(place) for place in range(longest)],
    title="1 = a real token",
    columns="position",
    low=0,
    high=1,
)

# %% [markdown] exercise="create_masks" kind="core" difficulty=2 minutes=10
# A model with two inputs needs two masks, and they are used in three places:
#
# ![Three boxes. The encoder's self-attention and the decoder's cross-attention both get the source mask, (batch, 1, 1, source length): no padding. The decoder's self-attention gets the target mask, (batch, 1, target length, target length): no padding and no future.](picture:masks_in_three_places)
#
# The source mask has a 1 where the queries would be. That is why it fits in both places: in the encoder there are as
# many queries as source tokens, and in the cross-attention as many as target tokens.
#
# For example: the source `4 7 0` and the target input `1 5` give (yes, yes, no) for the source, and for the target
# (yes, no) and (yes, yes).
#
# <details><summary>Hint 1</summary>
#
# Which of the two masks has to know about the order of the tokens?
# </details>
# <details><summary>Hint 2</summary>
#
# The target mask is your `decoder_mask` from lesson 5: a padding mask and a causal mask, both of which must allow a
# position. `causal_mask` is imported.
# </details>
# <details><summary>Hint 3</summary>
#
# `create_padding_mask(target_input) & causal_mask(?).to(target_input.device)` broadcasts to
# `(batch, 1, target_length, target_length)`. (`causal_mask` makes its mask on the CPU, and the ids may be on a GPU.) The
# source comes first in the pair that you return.
# </details>
#
# Docs: [broadcasting](https://pytorch.org/docs/stable/notes/broadcasting.html) ·
# [torch.tril](https://pytorch.org/docs/stable/generated/torch.tril.html).

# %% [markdown]
# **What you've built.** Both masks for a batch of two: a target of four tokens, and one of two tokens with padding.

# %%
two_sources = torch.tensor([[5, 3, 8, 4, 9], [4, 6, 0, 0, 0]])
two_targets = torch.tensor([[1, 6, 4, 2], [1, 7, 0, 0]])
source_mask, target_mask = create_masks(two_sources, two_targets)
print("source mask", tuple(source_mask.shape), " target mask", tuple(target_mask.shape))
real_tokens = source_mask[:, 0, 0].long()
display(plots.heatmap(real_tokens, ["row 0", "row 1"], title="Source mask, 1 = may look"))
plots.heatmaps(
    {f"row {row}": target_mask[row, 0].long() for row in range(2)},
    title="Target masks, 1 = may look",
    rows="who looks",
    columns="who is looked at",
)

# %% [markdown]
# And rung 1 once more. Both layers and the masks are yours now; embeddings, positions and the output layer are still ours.

# %%
mine = replace(mine, encoder_layer=EncoderLayer, decoder_layer=DecoderLayer, create_masks=create_masks)
with_layers = lab.overfit_ten_pairs(mine.build)
print(f"right: {round(10 * with_layers.exact)} of 10, last loss {with_layers.run.losses[-1]:.4f}")

# %% [markdown]
# ## Part 3 · The model
#
# *The paper's sections 3.1, 3.4 and 3.5, and its figure 1.*
#
# ![The whole model, the paper's figure 1 in this lesson's words. On the left the encoder, from bottom to top: source ids, embedding times the root of d_model, plus sinusoids, dropout, then N encoder layers, each with self-attention and feed-forward, then the final norm, which is there only in pre-norm. On the right the decoder: the target without its last id, embedding times the root of d_model, plus sinusoids, dropout, then N decoder layers, each with self-attention, cross-attention and feed-forward, then the final norm and a Linear layer, whose logits are compared with the target without its first id. An arrow leads from the encoder's states to the cross-attention. The source mask goes to the encoder's self-attention and to the cross-attention, the target mask to the decoder's self-attention.](picture:whole_model)

# %% [markdown] exercise="Encoder" kind="core" difficulty=2 minutes=15
# The encoder turns ids into vectors, adds positions, and sends the result through a stack of layers.
#
# $$x = \text{dropout}\left(\sqrt{d_{\text{model}}}\ \text{Embedding}(\text{tokens}) + PE\right)$$
#
# Two details are easy to miss. The embeddings are **multiplied by** $\sqrt{d_{model}}$ (section 3.4). And dropout is
# applied once more, "to the sums of the embeddings and the positional encodings" (section 5.4).
#
# Why the root? The paper gives no reason, but here is one. Your embeddings start with a standard deviation of
# $1 / \sqrt{d_{model}}$. That suits the output layer, which may share their weights, as you'll see in a moment. But
# next to sinusoids, numbers that small would be drowned out.
#
# For example: with d_model = 16, an embedding of 0.25 becomes 1.
#
# `SinusoidalPositionalEncoding` from lesson 6 is imported: it adds the sinusoids to what it gets.
#
# <details><summary>Hint 1</summary>
#
# What happens in which order, from ids to the first layer? What comes after the last layer, in either order of norms?
# </details>
# <details><summary>Hint 2</summary>
#
# `nn.init.normal_` draws the first embeddings. The layers go into an `nn.ModuleList`; a plain list would hide their
# parameters. For post-norm, `final_norm` can be an `nn.Identity()`.
# </details>
# <details><summary>Hint 3</summary>
#
# `x = self.dropout(self.positions(self.embedding(tokens) * ?))`, then `for layer in self.layers: x = layer(x, mask)`.
# </details>
#
# Docs: [nn.Embedding](https://pytorch.org/docs/stable/generated/torch.nn.Embedding.html) ·
# [nn.ModuleList](https://pytorch.org/docs/stable/generated/torch.nn.ModuleList.html) ·
# [nn.init](https://pytorch.org/docs/stable/nn.init.html).

# %% [markdown]
# **What you've built.** The encoder. How large are the numbers it adds, with and without the factor?

# %%
torch.manual_seed(0)
paper_sizes = (512, 6, 8, 2048, 0.1, 64)  # d_model, layers, heads, d_ff, dropout, longest sequence
encoder = Encoder(1000, *paper_sizes)
embeddings = next(weight for weight in encoder.parameters() if weight.shape == (1000, 512))
unscaled = embeddings.detach().square().mean().sqrt().item()
sinusoids = SinusoidalPositionalEncoding(512, 64)(torch.zeros(1, 64, 512))
typical = {
    "an embedding": unscaled,
    "an embedding times the root of 512": unscaled * math.sqrt(512),
    "the sinusoids": sinusoids.square().mean().sqrt().item(),
}
plots.bars(typical, title="How large are the numbers?", x_label="root mean square")

# %% [markdown]
# **What you should see**
#
# - Without the factor, the sinusoids are 16 times as large as the embeddings; with it, the embeddings are the larger ones. <!-- claim: the_factor_makes_words_heard -->

# %% [markdown] exercise="Decoder" kind="core" difficulty=2 minutes=10
# The decoder begins like the encoder, but its layers need more: the encoder states and two masks. It returns
# **states**, not logits. The step to logits belongs to the whole model, since the output layer may share its weights
# with the embeddings.
#
# Shapes: ids `(batch, target_length)` and encoder states `(batch, source_length, d_model)` go in, states
# `(batch, target_length, d_model)` come out.
#
# For example: with 2 target tokens, 3 source tokens and d_model = 8, `(1, 2)` and `(1, 3, 8)` give `(1, 2, 8)`.
#
# <details><summary>Hint 1</summary>
#
# Which lines of your `Encoder` can stay as they are?
# </details>
# <details><summary>Hint 2</summary>
#
# Change the class of the layers, and pass on what they need. Mind the order of the two masks.
# </details>
# <details><summary>Hint 3</summary>
#
# `for layer in self.layers: x = layer(x, encoder_states, ?, ?)`.
# </details>
#
# Docs: [nn.ModuleList](https://pytorch.org/docs/stable/generated/torch.nn.ModuleList.html) ·
# [nn.Embedding](https://pytorch.org/docs/stable/generated/torch.nn.Embedding.html).

# %% [markdown]
# **What you've built.** The decoder. It is larger than the encoder, because each of its layers has one more attention. Here
# are the parameters of the paper's six layers on either side, without the embeddings.

# %%
in_millions = {}
for name, kind in (("encoder", Encoder), ("decoder", Decoder)):
    part = kind(3, *paper_sizes)
    in_millions[name] = (count_parameters(part) - 3 * 512) / 1e6
plots.bars(in_millions, title="Six layers of the paper's size", x_label="million parameters")

# %% [markdown]
# **What you should see**
#
# - The encoder's six layers have 18.9 million parameters, the decoder's 25.2 million. <!-- claim: the_decoder_is_larger -->

# %% [markdown] exercise="Transformer" kind="core" difficulty=3 minutes=20
# Now the whole of figure 1. The model has an encoder, a decoder and a Linear layer from states to logits, and it makes
# its own masks, so that nobody can forget them.
#
# While it is being checked, your model gets the course's `Encoder`, `Decoder` and `create_masks`, so that a slip in one
# of yours isn't counted twice. Their parts have the names that the docstrings give. If yours have other names, use the
# docstrings' names here.
#
# It has three methods, because reading and writing happen at different times. `encode` reads a source once.
# `decode` is then called for every token that is written. `forward` does both, for training.
#
# **Sharing weights.** With `share_embeddings=True` three matrices become one: the source embedding, the target
# embedding and the weight of the output layer (section 3.4). An embedding has the shape `(vocab_size, d_model)`, and so
# has the weight of `nn.Linear(d_model, vocab_size)`, so nothing has to be transposed. It makes sense, too: the output
# layer compares the state with one vector per token, and the token's own embedding is a good candidate (Press and Wolf
# 2017). Both sides must then share one vocabulary.
#
# $$\text{logit}_v = \text{state} \cdot \text{embedding}_v + b_v$$
#
# For example: with 37,000 tokens and d_model = 512, each of these matrices has 18,944,000 entries. Sharing saves two of
# them.
#
# <details><summary>Hint 1</summary>
#
# Which sizes do encoder and decoder share? Which masks does `decode` need, and what can it make them from?
# </details>
# <details><summary>Hint 2</summary>
#
# To share, assign the *same* parameter: the attribute `weight` of one module becomes that of another. Copying the
# numbers would make two matrices that drift apart.
# </details>
# <details><summary>Hint 3</summary>
#
# `self.output.weight = self.encoder.?.weight`. In `decode`: `source_mask, target_mask = create_masks(source,
# target_input)`, and `self.output(self.decoder(target_input, encoder_states, ?, ?))`.
# </details>
#
# Docs: [nn.Linear](https://pytorch.org/docs/stable/generated/torch.nn.Linear.html) ·
# [nn.Parameter](https://pytorch.org/docs/stable/generated/torch.nn.parameter.Parameter.html).

# %% [markdown]
# **What you've built.** The model of the paper. So let's build it at the paper's size. Table 3 says that the base model has
# about 65 million parameters. It shares its embeddings, and section 5.1 speaks of a vocabulary of about 37,000 tokens.
#
# **How many million parameters will yours have, to the nearest million?** And **how many without sharing?** You have all
# the numbers you need.

# %%
guess_shared = None  # in millions
guess_apart = None  # in millions

millions = {}
for name, share in (("one matrix for all three", True), ("three matrices", False)):
    millions[name] = count_parameters(lab.base_model(Transformer, share_embeddings=share)) / 1e6
shared_count, apart_count = (round(number, 1) for number in millions.values())
print(f"your guesses: {guess_shared} and {guess_apart}; counted: {shared_count} and {apart_count}")
plots.bars(millions, title="The base model", x_label="million parameters", levels={"paper": 65})

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - With one shared matrix, your base model has 63.1 million parameters; with three matrices, it has 101.0 million. <!-- claim: base_model_parameters -->
#
# | part | parameters |
# |---|---|
# | six encoder layers | 18,914,304 |
# | six decoder layers | 25,224,192 |
# | one matrix of 37,000 times 512 | 18,944,000 |
# | the output layer's bias | 37,000 |
# | together | 63,119,496 |
#
# The paper rounds, and doesn't break its 65 million down, so we can't say where the remaining two million are. But
# without sharing, you would be 36 million off.
# </details>
#
# ### Rung 1, all yours
#
# Now the whole model is your own. The training is still ours, until Part 4.

# %%
ten_of_yours = lab.overfit_ten_pairs(Transformer)
print(f"right: {round(10 * ten_of_yours.exact)} of 10, last loss {ten_of_yours.run.losses[-1]:.4f}")

# %% [markdown]
# ### Against PyTorch's own
#
# PyTorch has this model built in: `torch.nn.Transformer`. `lab.side_by_side` makes one and copies the weights of your
# trained model into it. If your layers do what the paper says, both must give the same logits. (If your model's parts have
# names of their own, the cell says so, and compares ours.)

# %%
ours = ten_of_yours.model.cpu()  # training may have moved it to a GPU
ours, theirs = lab.side_by_side(ours, lab.TEN, english.size, german.size)
source_batch, target_batch = next(Batches(examples, max_tokens=200).epoch(0))
target_input = target_batch[:, :-1]
with torch.no_grad():
    our_logits = ours(source_batch, target_input)
    their_logits = theirs(source_batch, target_input)
difference = (our_logits - their_logits)[target_input != 0].abs().max().item()
print(f"logits {tuple(our_logits.shape)}, largest difference {difference:.1e}")

# %% [markdown]
# **What you should see**
#
# - The logits are the same, to within 0.0001. <!-- claim: same_as_the_built_in -->
#
# Then why did you write your own? Because yours shows its weights, and you can change any line of it. The built-in one is
# made for speed: one matrix product for query, key and value instead of three, and fused kernels that never store the
# attention weights, which saves time and memory on a GPU and with long texts. It leaves the embeddings, the positions and
# the output layer to you.

# %% [markdown]
# ## The bug clinic
#
# When a Transformer learns badly, look at its masks first. A wrong mask often raises no error at all. Here are three
# colleagues' attempts. **Whose masks are sound?** A pair of masks is sound when every real token sees exactly what it
# should. What a padding token sees doesn't matter: nobody reads its output.


# %%
def masks_of_eve(source, target_input):
    """Nobody looks at padding, on either side."""
    length = target_input.shape[1]
    return padding_mask(source), padding_mask(target_input).expand(-1, 1, length, -1)


def masks_of_finn(source, target_input):
    """A square mask for each side."""
    square = padding_mask(source).expand(-1, 1, source.shape[1], -1)
    return square, padding_mask(target_input) & causal_mask(target_input.shape[1])


def masks_of_gus(source, target_input):
    """Padding is hidden in the source; in the target, only the future is."""
    return padding_mask(source), causal_mask(target_input.shape[1])[None, None]


# %% [markdown] exercise="masks_are_sound" kind="stretch" difficulty=3 minutes=25
# Write the test. It gets a function that makes masks, and says True or False.
#
# | masks | what goes wrong | sound? |
# |---|---|---|
# | yours | nothing | True |
# | upside down: True where nobody may look | everything | False |
# | the target mask lets each token see the next one | the answer can be read | False |
# | padding may look anywhere | nothing: nobody reads its output | True |
# | a source mask `(batch, source_length)` | it lines up with the wrong axes | False |
#
# The hard part is the batch that you try it on. If source and target are equally long, a mask that fits only one of them
# gets past you. If there is no padding in it, a mask that shows padding gets past you. If there is one row, a mask that
# uses the first row's padding for all rows gets past you.
#
# For example: sources of lengths 3, 1 and 5 and target inputs of lengths 4, 2 and 3 make a good batch. Its source mask
# must broadcast to `(3, heads, queries, 5)`, for 5 queries and for 4.
#
# If your test is wrong, the card tells you which kind of broken masks it lets through.
#
# <details><summary>Hint 1</summary>
#
# Which entries of the two masks do you know for certain? And which entries does nobody care about?
# </details>
# <details><summary>Hint 2</summary>
#
# Make the masks for a batch of your own. Expand them to `(batch, heads, queries, keys)`, and compare with what you
# expect, only in the rows of real tokens. A mask that can't be expanded is broken, and so is one that isn't boolean.
# </details>
# <details><summary>Hint 3</summary>
#
# `mask.broadcast_to((batch, 2, queries, keys)).transpose(1, 2)[?]` picks the rows of the real queries, if `?` is a
# boolean tensor `(batch, queries)`. Put it into `try`, and return False for a `RuntimeError`.
# </details>
#
# Docs: [torch.broadcast_to](https://pytorch.org/docs/stable/generated/torch.broadcast_to.html) ·
# [torch.equal](https://pytorch.org/docs/stable/generated/torch.equal.html) ·
# [try](https://docs.python.org/3/tutorial/errors.html#handling-exceptions).

# %% [markdown]
# **What you've built.** A test for masks. Enter your guess about the colleagues, then run your test.

# %%
guess_sound = None  # a list of names, such as ["Eve", "Finn"]

mask_makers = {
    "Eve": masks_of_eve,
    "Finn": masks_of_finn,
    "Gus": masks_of_gus,
    "you": create_masks,
}
verdicts = {name: masks_are_sound(make) for name, make in mask_makers.items()}
sound = [name for name, verdict in verdicts.items() if verdict and name != "you"]
print(f"your guess: {guess_sound}, sound: {sound}")
pd.DataFrame({"sound?": {name: "yes" if verdict else "no" for name, verdict in verdicts.items()}})

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - Of the three colleagues, only Gus has made sound masks. <!-- claim: only_gus_is_sound -->
#
# Eve's decoder can read the answer: that is lesson 5 again, and no error ever tells you. Finn's source mask fits the
# encoder, but in the cross-attention it works only if source and target happen to be equally long. Otherwise it stops
# with an error, which is the lucky case. And Gus saves himself some work: target padding is on the right, so it lies in
# the future of every real token, and the triangle hides it already.
# </details>
#
# ## Time for a break
#
# You have built the model of the paper, counted its parameters, tested its masks and compared it with PyTorch's. What's
# left is how to train it, and the three upper rungs.
#
# Before you go, a question to take with you. A model is trained to say that the right word has probability 1, and all
# others 0. Is that what you want from a translator?

# %% [markdown]
# ## Part 4 · Training
#
# *The paper's section 5.*
#
# The course's code has trained your model so far. Now you replace it, part by part. `parts` says what does the
# training: the loss, the schedule, the loop, saving and loading. At first all of them are the course's own.
#
# If you skip an exercise with *Use our version*, the course's part stays in, and the cells below run all the same.

# %%
parts = Parts()

# %% [markdown] exercise="LabelSmoothingLoss" kind="core" difficulty=3 minutes=25
# Section 5.4. Cross-entropy asks for probability 1 on the right word. No finite logits can reach that, so a model can
# always lower its loss by being a little more certain than it is. And should it be? A sentence has many good
# translations, and the data has only one of them.
#
# **Label smoothing** asks for less: 0.9 for the right word, and 0.1 to be shared by the others.
#
# ![Two rows of bars over six symbols: padding, start, end, a, b, c. The target is a. Without smoothing: a 1, all others 0. With smoothing 0.2: a 0.8; start, end, b and c 0.05 each; padding 0.](picture:softened_target)
#
# $$q_v = \begin{cases} 1 - s & \text{for the target} \\ 0 & \text{for padding} \\ s / (V - 2) & \text{for each other symbol} \end{cases}
# \qquad \text{loss} = -\sum_v q_v \log p_v$$
#
# The paper gives only the value, $s = 0.1$, and cites Szegedy and others (2016). Their formula, which is PyTorch's too,
# shares $s$ among *all* V symbols, the target and padding included. **Ours is a variant**, the one of the Annotated
# Transformer (Rush 2018). Padding gets nothing, because the model should never write it, and the target gets its
# $1 - s$ and no more. That leaves V - 2 others. And where the *target* is padding, the position doesn't count at all.
#
# For example: four symbols and s = 0.2. The target gets 0.8 and the two others 0.1 each. If the model gives exactly
# these probabilities, the loss is $-0.8 \log 0.8 - 0.2 \log 0.1 = 0.64$. So with label smoothing **a loss of 0 is out
# of reach**. With 4,000 symbols and s = 0.1 even a perfect model has 1.15.
#
# <details><summary>Hint 1</summary>
#
# Which targets should not count in the mean? And how many symbols share `smoothing`?
# </details>
# <details><summary>Hint 2</summary>
#
# Pick the real tokens with a boolean mask first: after that, logits are `(tokens, vocab_size)` in both cases. Then
# either build the softened targets, or work out two numbers per token: the log-probability of the target, and the sum
# over the others.
# </details>
# <details><summary>Hint 3</summary>
#
# `shares = torch.full_like(log_probabilities, ?)`, `shares[:, self.pad_id] = 0`, and
# `shares.scatter(1, ids.unsqueeze(1), 1 - self.smoothing)`.
# </details>
#
# Docs: [torch.log_softmax](https://pytorch.org/docs/stable/generated/torch.nn.functional.log_softmax.html) ·
# [torch.gather](https://pytorch.org/docs/stable/generated/torch.gather.html) ·
# [torch.scatter](https://pytorch.org/docs/stable/generated/torch.scatter.html).

# %% [markdown]
# **What you've built.** A loss that doesn't ask for certainty. PyTorch has one as well:
# `nn.CrossEntropyLoss(label_smoothing=...)`. Are they the same? We can read a loss's targets off its gradient, since the
# gradient of a cross-entropy with respect to the logits is $p - q$.


# %%
def shares_of(loss, target=3, vocab_size=6):
    """The targets q that a loss has in mind, read off its gradient."""
    logits = torch.zeros(1, vocab_size, requires_grad=True)
    loss(logits, torch.tensor([target])).backward()
    return (torch.softmax(logits.detach(), dim=-1) - logits.grad)[0].round(decimals=4)


# %% [markdown]
# **With six symbols and s = 0.3, what share does PyTorch's loss give to padding?**

# %%
guess_padding_share = None  # a share

yours = LabelSmoothingLoss(6, 0.3, 0)  # six symbols, s = 0.3, padding is 0
pytorchs = nn.CrossEntropyLoss(label_smoothing=0.3, ignore_index=0)
shares = {"yours": shares_of(yours), "PyTorch's": shares_of(pytorchs)}
padding_share = round(float(shares["PyTorch's"][0]), 3)
print(f"your guess: {guess_padding_share}, it is: {padding_share}")
symbol_names = ["padding", "start", "end", "a (target)", "b", "c"]
plots.chances(shares, symbol_names, title="What the two losses ask for, s = 0.3")

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - PyTorch's loss shares 0.3 among all six symbols, as Szegedy and others do: padding gets 0.05, and the target 0.75. Our variant gives padding nothing, and the target 0.7. <!-- claim: padding_gets_nothing -->
#
# `ignore_index` leaves out positions whose *target* is padding. It doesn't take padding's share away.
# </details>
#
# Only the smoothing sets the two losses apart. With s = 0 both are plain cross-entropy, as a batch of four rows shows.
# After that, your loss takes its place in `parts`.

# %%
torch.manual_seed(0)
some_logits, some_targets = torch.randn(4, 7, 6), torch.randint(0, 6, (4, 7))
hard_yours = LabelSmoothingLoss(6, 0.0, 0)(some_logits, some_targets)
hard_pytorchs = nn.CrossEntropyLoss(ignore_index=0)(some_logits.flatten(0, 1), some_targets.flatten())
print(f"without smoothing the two losses differ by {(hard_yours - hard_pytorchs).abs():.1e}")
parts = replace(parts, loss=LabelSmoothingLoss)

# %% [markdown]
# **What you should see**
#
# - Without smoothing, the two losses are the same, to within 0.00001. <!-- claim: without_smoothing_they_agree -->
#
# The paper says what to expect of smoothing: it "hurts perplexity, as the model learns to be more unsure, but improves
# accuracy and BLEU score" (section 5.4). So compare perplexities only between losses without smoothing. The validation
# losses on rung 4 are measured that way.

# %% [markdown] exercise="noam_learning_rate" kind="core" difficulty=1 minutes=10
# Section 5.3. The learning rate rises in a straight line, then falls with the square root of the step:
#
# $$\text{rate} = d_{\text{model}}^{-0.5} \cdot \min\left(\text{step}^{-0.5},\ \text{step} \cdot \text{warmup}^{-1.5}\right)$$
#
# People call it the **Noam schedule**, after Noam Shazeer, one of the authors. The two terms meet where step = warmup:
# there, both are $\text{warmup}^{-0.5}$. Wider models get a lower rate.
#
# For example: with d_model = 16 and 4 steps of warm-up, step 1 has the rate $\frac14 \cdot \min(1, \frac18) = 0.031$,
# and step 4 has $\frac14 \cdot \min(\frac12, \frac48) = 0.125$. From there on it falls.
#
# <details><summary>Hint 1</summary>
#
# Which of the two terms is the smaller one at the beginning? What happens at step 0?
# </details>
# <details><summary>Hint 2</summary>
#
# It is one line of plain Python. A step before the first is refused with a `ValueError`.
# </details>
# <details><summary>Hint 3</summary>
#
# `d_model**-0.5 * min(?, step * warmup_steps**-1.5)`.
# </details>
#
# Docs: [min](https://docs.python.org/3/library/functions.html#min) ·
# [the power operator](https://docs.python.org/3/reference/expressions.html#the-power-operator).

# %% [markdown]
# **What you've built.** The learning rate of the paper, and of two other settings. Note that the warm-up sets two things: when the
# rate stops rising, and how high it gets. **With a warm-up of 1,000 steps instead of 4,000, how many times as high
# is the peak?**

# %%
guess_peak = None  # a factor, such as 4

steps = range(1, 20_001, 50)
settings = {
    "the paper: d 512, warm-up 4000": (512, 4000),
    "d 512, warm-up 1000": (512, 1000),
    "d 256, warm-up 4000": (256, 4000),
}
rates = {name: [noam_learning_rate(step, *pair) for step in steps] for name, pair in settings.items()}
times_as_high = noam_learning_rate(1000, 512, 1000) / noam_learning_rate(4000, 512, 4000)
print(f"your guess: {guess_peak}, it is: {times_as_high:.3g}")
plots.curves(rates, x=steps, title="The learning rate", y_label="rate", legend=True)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - The paper's rate is highest at step 4,000, where it is 0.0007. With a quarter of the warm-up the peak is twice as high. <!-- claim: peak_of_the_schedule -->
#
# So "leave the warm-up out" can't be said in this formula: with a warm-up of one step, the first rate would be 63 times the
# paper's peak.
# </details>

# %% [markdown] exercise="NoamSchedule" kind="stretch" difficulty=2 minutes=15
# Now the formula has to reach the optimiser. A **schedule** sets the rate before each step. Its `step()` counts, and
# sets the rate of every parameter group. It does nothing else: in particular, it doesn't step the optimiser or clear the
# gradients.
#
# For example: after the first call, each group has the rate of step 1; after the fourth, that of step 4.
#
# <details><summary>Hint 1</summary>
#
# What must the schedule remember from call to call, and what number does it begin with?
# </details>
# <details><summary>Hint 2</summary>
#
# An optimiser has a list `param_groups` of dictionaries. The rate is under `"lr"`.
# </details>
# <details><summary>Hint 3</summary>
#
# Count first. Then, for each `group` of `self.optimizer.param_groups`, `group["lr"] = noam_learning_rate(?, ...)`.
# </details>
#
# Docs: [torch.optim](https://pytorch.org/docs/stable/optim.html) ·
# [LambdaLR](https://pytorch.org/docs/stable/generated/torch.optim.lr_scheduler.LambdaLR.html).

# %% [markdown]
# **What you've built.** A schedule that PyTorch's optimisers obey. It goes into `parts`. `resumable()` counts its steps, so that a
# checkpoint can hold them. PyTorch's own way is `LambdaLR`, which multiplies the optimiser's rate by a function of the
# steps *already taken*. That is why its function would have to add 1.

# %%
optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.0)
schedule = NoamSchedule(optimizer, 16, 4)  # d_model, warm-up steps
set_rates = []
for _ in range(8):
    schedule.step()
    set_rates.append(round(optimizer.param_groups[0]["lr"], 4))
print(set_rates)
parts = replace(parts, schedule=resumable(NoamSchedule))

# %% [markdown]
# The optimiser is Adam, with $\beta_1 = 0.9$, $\beta_2 = 0.98$ and $\epsilon = 10^{-9}$ (section 5.3). The course's harness
# adds **clipping**, which the paper doesn't have: gradients are scaled down to a norm of 1 when they are larger.

# %% [markdown] exercise="train_epoch" kind="stretch" difficulty=2 minutes=20
# One pass over the training data. A batch is (source, target), and a target includes its start and end tokens. So the
# same row serves twice:
#
# | | | | | |
# |---|---|---|---|---|
# | target | start | die | katze | end |
# | the decoder reads | start | die | katze | |
# | it should write | | die | katze | end |
#
# Shapes: from a target `(batch, target_length)` come two tensors `(batch, target_length - 1)`.
#
# You return the mean loss **per token**. Batches differ in size, and a batch's loss is a mean over its real tokens. So
# weight each batch by its number of tokens. For example: a batch of 10 tokens with loss 2 and one of 30 tokens with loss 4
# make $(10 \cdot 2 + 30 \cdot 4) / 40 = 3.5$.
#
# <details><summary>Hint 1</summary>
#
# In which order do clearing, backward, the schedule and the optimiser come? Which mode must the model be in?
# </details>
# <details><summary>Hint 2</summary>
#
# Keep two sums: loss times tokens, and tokens. Only tokens that should be *written* count, and no padding.
# </details>
# <details><summary>Hint 3</summary>
#
# `loss = loss_function(model(source, target[:, :?]), target[:, ?:])`, then `zero_grad`, `backward`, `schedule.step()`,
# `optimizer.step()`.
# </details>
#
# Docs: [optimizer.zero_grad](https://pytorch.org/docs/stable/generated/torch.optim.Optimizer.zero_grad.html) ·
# [Tensor.item](https://pytorch.org/docs/stable/generated/torch.Tensor.item.html).

# %% [markdown]
# **What you've built.** The engine. The ten sentences again, this time with all of your own parts.

# %%
parts = replace(parts, train_epoch=train_epoch)
ten_again = lab.overfit_ten_pairs(Transformer, parts)
print(f"right: {round(10 * ten_again.exact)} of 10, last loss {ten_again.run.losses[-1]:.4f}")
print(f"{ten_again.run.tokens:,} tokens, {ten_again.run.tokens_per_second:,.0f} a second")

# %% [markdown] exercise="save_checkpoint" kind="stretch" difficulty=2 minutes=15
# The paper's base model trained for twelve hours, the big one for three and a half days (section 5.2). In that time,
# machines break. A **checkpoint** holds everything that a run needs to go on:
#
# | key | what it holds | why |
# |---|---|---|
# | `"model"` | the weights | what has been learnt so far; not enough by itself |
# | `"optimizer"` | the optimiser's state | Adam remembers two moving averages for each weight |
# | `"schedule"` | the schedule's state | it knows which step it is |
# | `"step"` | the number of steps | so that the next batch is the right one |
# | `"random"` | the random state | dropout must go on where it stopped |
#
# `random_state()` is imported; it collects the states of all random generators.
#
# And one more thing. What if the program is killed *while* it saves? Then the file is half written, and the previous
# checkpoint is gone. So write to another name in the same folder first, and rename when the file is complete.
# `os.replace` does that in one step: under `path` there is either the old file or the new one. (Why the same folder? To
# another disk, a move is a copy, and a copy can be interrupted. And a power cut can still
# hurt, because the operating system may not have put the new file on the disk yet. Programs that must survive that call
# `os.fsync` before they rename.)
#
# <details><summary>Hint 1</summary>
#
# Which of the five things has a `state_dict()`, and which hasn't?
# </details>
# <details><summary>Hint 2</summary>
#
# Put everything into one dictionary, and save that with `torch.save`, under a name that isn't `path` yet.
# </details>
# <details><summary>Hint 3</summary>
#
# `torch.save(content, f"{path}.part")`, then `os.replace(?, path)`.
# </details>
#
# Docs: [torch.save](https://pytorch.org/docs/stable/generated/torch.save.html) ·
# [os.replace](https://docs.python.org/3/library/os.html#os.replace).

# %% [markdown]
# **What you've built.** Insurance. What is in it, and how much room does it take, for the model of rung 1?

# %%
model = lab.TEN.build(english.size, german.size, build=Transformer)
optimizer = torch.optim.Adam(model.parameters(), lr=0.0, betas=(0.9, 0.98), eps=1e-9)
schedule = parts.schedule(optimizer, lab.TEN.d_model, lab.TEN.warmup_steps)
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "checkpoint.pt"
    save_checkpoint(path, model, optimizer, schedule, step=0)
    print(f"{count_parameters(model):,} parameters, {path.stat().st_size:,} bytes")

# %% [markdown] exercise="load_checkpoint" kind="stretch" difficulty=2 minutes=15
# The way back. Everything gets the state that it had, and the number of steps is returned.
#
# A warning that isn't about Transformers: these files are pickles, and opening a pickle can run any code that somebody
# has hidden in it. With `weights_only=True`, `torch.load` reads tensors and plain data, and refuses everything else. That
# has been the default since version 2.6. Say it all the same: then nobody has to know which version you have.
#
# <details><summary>Hint 1</summary>
#
# Does it matter in which order you restore things? What if the file comes from a machine with a GPU?
# </details>
# <details><summary>Hint 2</summary>
#
# Each part has a `load_state_dict`. `set_random_state` is imported. `map_location="cpu"` reads a file from any device.
# </details>
# <details><summary>Hint 3</summary>
#
# `content = torch.load(path, map_location=?, weights_only=?)`, then four lines, one for each part, and
# `return content[?]`.
# </details>
#
# Docs: [torch.load](https://pytorch.org/docs/stable/generated/torch.load.html) ·
# [load_state_dict](https://pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.load_state_dict).

# %% [markdown]
# **What you've built.** A second life. One run takes 20 steps. Another is stopped after 10, and a *new* model goes on from
# its checkpoint. Then we do it once more, with a `load` that forgets one thing: the random state. Dropout is on, so that
# matters. **At how many of the last ten steps will the losses differ, without the random state?**

# %%
guess_different = None  # a number from 0 to 10

parts = replace(parts, save=save_checkpoint, load=load_checkpoint)


def forgetful_load(path, model, optimizer, schedule):
    step = load_checkpoint(path, model, optimizer, schedule)
    torch.manual_seed(1)  # another random state
    return step


straight = lab.twenty_losses(Transformer, parts)
resumed = lab.twenty_losses(Transformer, parts, stopped_after=10)
forgetful = lab.twenty_losses(Transformer, replace(parts, load=forgetful_load), stopped_after=10)
different = int(np.not_equal(straight, forgetful).sum())
print(f"your guess: {guess_different}, without the random state: {different}")
print(f"with everything restored: {np.not_equal(straight, resumed).sum()} of 20")

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - With everything restored, no loss differs on a CPU, not even in the last bit. <!-- claim: resumed_bit_for_bit -->
# - Without the random state, all ten losses after the interruption differ. <!-- claim: without_the_random_state_they_diverge -->
#
# </details>
#
# During the longer runs below, a bar shows the loss, the tokens per second and the time left. If you press the stop
# button once, the current step ends, and the run is saved where a checkpoint was asked for.

# %% [markdown]
# ## Part 5 · Up the ladder
#
# ### Rung 2: letters backwards
#
# Rows of one to ten letters, to be written backwards, as in lessons 4 to 7: 10,000 rows for training and 500 others for
# testing, scored as the model writes them on its own, without a teacher. The model has d_model 64, one layer on each
# side and four heads. It trains for 1,000 steps, and the learning rate rises for the first 250 of them.
#
# The paper's model isn't what the last step leaves behind. It is the *mean of the weights* of several checkpoints
# (section 6.1). Single steps jump back and forth, and the mean is smoother. `lab.reverse_letters` averages the last ten
# sets of weights, 20 steps apart.
#
# **What share of whole rows will be right with the averaged weights? And with the final weights alone?**

# %%
guess_mean = None  # a share
guess_last = None  # a share

backwards = lab.reverse_letters(Transformer, parts)
mean_scores = backwards.curve.iloc[-1]
mean_rows = float(mean_scores["rows"])
last_rows = backwards.before_averaging["rows"]
print(f"your guesses: {guess_mean} and {guess_last}")
print(f"rows right: {mean_rows:.3f} with the averaged weights, {last_rows:.3f} with the final ones")
print(f"tokens right with the averaged weights: {mean_scores['tokens']:.4f}")
print(f"training took {backwards.run.seconds:.0f} seconds")
lab.reversal_chart(backwards)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - With the averaged weights, all 500 rows are right (99.6 to 100 % with three seeds). <!-- claim: reversal_by_the_average -->
# - The final weights alone get no more rows right than the average (93 to 96 %). <!-- claim: the_mean_is_no_worse -->
#
# How much averaging helps depends on where the last step happens to land.
#
# </details>
#
# Some rows that went right, and those that went wrong:

# %%
table = backwards.written.copy()
table["right?"] = np.where(table["wanted"] == table["written"], "yes", "no")
wrong = table[table["right?"] == "no"]
pd.concat([table[table["right?"] == "yes"].head(5), wrong.head(10)])

# %% [markdown]
# **Where does it look?** Here is the cross-attention while it writes one row backwards: rows are the letters that it
# writes, columns the letters that it reads. What pattern do you expect?

# %%
row = "abcdefghij"
row_maps, row_written = lab.letters_mirrored(backwards.model, row)
if row_maps:
    display(lab.looks_chart(row_maps, row_written, row, title=f"{row}, backwards"))

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - In most heads, the mirror image: the first letter written looks at the last letter read, and so on. Averaged over the heads, more than 95 % of the letters look most at their own mirror image. <!-- claim: the_map_is_a_mirror -->
#
# </details>
#
# ### The same task without the title
#
# Remember the table of Part 1? Here are its first two rows on the same task, with the same data, optimiser and number of
# steps. The plain GRU's decoder gets *one vector*, the encoder's last state. The other one has attention: after each
# step its decoder looks at all of the encoder's states (in the shorter form of Luong and others 2015). **What
# share of the rows will each of them get right?**

# %%
guess_plain = None  # a share
guess_attending = None  # a share

with_attention = lab.reverse_letters(lab.GruWithAttention, parts)
one_vector = lab.reverse_letters(lab.GruTranslator, parts)
plain_rows, attending_rows = one_vector.exact, with_attention.exact
print(f"your guesses: {guess_plain} and {guess_attending}; right: {plain_rows} and {attending_rows}")
models = {"Transformer": backwards, "GRU with attention": with_attention, "GRU": one_vector}
display(lab.rows_table(models))
lab.rows_chart(models)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - The plain GRU gets 87 % of the rows right (85 to 92 % with three seeds), the GRU with attention 99.6 to 100 %, just like the Transformer. <!-- claim: one_vector_is_the_bottleneck -->
#
# </details>
#
# Be careful with what you conclude. The recipe was chosen for the Transformer, and the models differ in size. What it
# does show: the single vector held the GRU back, and attention to the source set it free. Doing without recurrence
# gains nothing here, where rows have at most ten letters. What it saves is waiting, and that counts with long rows and on
# a GPU.
#
# ### Rung 3: how do you say it?
#
# Now real data. The CMU Pronouncing Dictionary says how more than a hundred thousand English words are pronounced.
# Letters go in, sounds come out:
#
# | word | sounds |
# |---|---|
# | though | DH OW |
# | through | TH R UW |
# | tough | T AH F |
#
# The same four letters, `ough`, and three different endings. There are 39 sounds; the dictionary's marks for stress are
# left out. We keep 2,000 words for the test, and the model never sees them.
#
# What would a shortcut score? Give each letter its most frequent sound, wherever it is. Or do a little better, and
# look at both of its neighbours too. **What share of the unseen words does that look-up get entirely right?**

# %%
guess_lookup = None  # a share

words = spelling_task(seed=0)
print(f"{len(words.train):,} words for training, {len(words.test):,} for testing")
print("words in both:", len(set(words.train) & set(words.test)))
said = lab.baselines(words)
lookups = lab.spelling_scores(said, words)
lookup_words = round(float(lookups["words"].iloc[-1]), 3)
print(f"your guess: {guess_lookup}, it is: {lookup_words}")
lookups.round(3)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - Letter by letter, 4 % of the unseen words are right, and 54 % of the sounds. <!-- claim: letters_alone -->
# - With both neighbours it is 16 % of the words and 70 % of the sounds. <!-- claim: letters_and_neighbours -->
#
# `words` counts a word only if every sound is right. A word may have several pronunciations, and the closest one
# counts. `sounds` is 1 minus the number of changes needed, divided by the number of sounds.
#
# The last two columns split the test words. No word is in both sets, but a *relative* may be: a model that knows "whale"
# half knows "whales". The words without relatives show what a model can do on its own.
# </details>
#
# Now your model: one layer on each side, with d_model 128. It takes 700 steps, and the rate rises for the first 250. That
# is about a minute, in which it sees no word twice. **What share of the unseen words will it get right?**

# %%
guess_spelling = None  # a share

speller, spelling_run = lab.train_speller(words, Transformer, parts)
said["your model"] = lab.say_all(speller, list(words.test), words.sounds)
spelling_table = lab.spelling_scores(said, words)
spelled = round(float(spelling_table["words"].iloc[-1]), 3)
print(f"your guess: {guess_spelling}, it is: {spelled}")
print(f"{spelling_run.seconds:.0f} s, {spelling_run.tokens_per_second:,.0f} tokens per second")
display(spelling_table.round(3))
lab.some_words(said["your model"], words)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - In our runs, the model gets 37 to 40 % of the unseen words right, and 80 to 82 % of the sounds. <!-- claim: the_speller_says_unseen_words -->
# - That is more than twice as many words as the look-up with both neighbours. <!-- claim: twice_the_look_up -->
# - Words without a relative are harder: it gets 36 % of them right, and 45 % of the others. <!-- claim: relatives_help -->
#
# Your numbers may be a little different, because another processor rounds differently, and in 700 steps that adds up.
#
# Look at the wrong words in the second table. How far off are they, and is it the vowels or the consonants? Would you have
# known how to say them?
# </details>
#
# **Your own name.** The model takes any word of the letters a to z. Put yours in, and read the sounds aloud.
# (AH is the u in "hut", IY the ee in "see", EY the a in "name".) A short name gives the model little to go on: is Ada
# right? If it gets your name wrong, would a stranger get it right?

# %%
my_words = ["Ada", "Vaswani", "attentively", "transformerish"]  # put your name here

spoken = lab.say_all(speller, my_words, words.sounds)
pd.DataFrame({"sounds": {word: " ".join(sounds) for word, sounds in spoken.items()}})

# %% [markdown]
# **Which letter does each sound look at?** Rows are the sounds that the model wrote, columns the letters that it read.
# The weights are those of the cross-attention, one map per head and their mean. Before you run the cell: which letters
# of "through" will no sound look at?

# %%
word = "through"
letter_maps, sounds = lab.letters_looked_at(speller, word, words.sounds)
if letter_maps:
    title = f"{word}: which letters each sound looks at"
    display(lab.looks_chart(letter_maps, sounds, word, title=title, rows="sound", columns="letter"))

# %% [markdown]
# In our run TH looks at the t and the h, R at the r, and UW at the o and the u. Only the end token looks at the g. Try more words
# with silent letters: "knight", "psalm". And remember lesson 5: a map shows where a model looks, not what it uses.
#
# ### Rung 4: English to German
#
# The top rung is real translation. **Multi30k** (Elliott and others 2016) has 29,000 English sentences about
# photographs, with German translations, and 1,000 more for the test. The paper trained on 4.5 million sentence pairs,
# so don't expect its scores.
#
# The files aren't part of the course. The next cell downloads them once, checks them and keeps them, so you need a
# network connection. You also need the libraries `tokenizers` and `sacrebleu`. If something is missing, the cell says
# what to do, and you can go straight to "The view from the top", which needs no network.

# %%
try:
    corpus = lab.corpus(vocab_size=2000)
except (NotAvailable, NoTokenizers) as problem:
    corpus = None
    print(problem)
if corpus is not None:
    some = corpus.train[:5]
    print(f"{len(corpus.train):,} pairs for training, {len(corpus.test):,} for testing")
    print(f"test pairs with a side that is a training sentence: {lab.seen_before(corpus):.1%}")
    pieces = corpus.subwords.pieces(corpus.subwords.encode(some[0][0]))
    print("as sub-words:", pieces)
    display(pd.DataFrame(some, columns=["English", "German"]))

# %% [markdown]
# The vocabulary consists of **sub-words**, learnt by merging byte pairs as you did in
# [lesson 2](../02_tokenizer/02_tokenizer.ipynb). There is one vocabulary for both languages, as in the paper (section
# 5.1).
#
# **Batches.** Sentences differ in length, and a batch is as wide as its longest sentence. The rest is padding, and
# padding is computed like everything else, then thrown away.
#
# ![Two batches of four sentences each, drawn as bars of cells. All lengths mixed: sentences of 2, 7, 3 and 5 tokens in a batch 7 wide, 11 of 28 cells are padding. Similar lengths together: sentences of 5, 5, 6 and 6 tokens in a batch 6 wide, 2 of 24 cells are padding.](picture:two_ways_to_batch)
#
# So sentences of similar length go together (section 5.1), and a batch has a budget of *tokens*, not of sentences: many
# short ones, or a few long ones. **What share of all positions is padding with mixed lengths, at 1,000 tokens a batch?**

# %%
guess_padding = None  # a percentage, from 0 to 100

mixed_padding = None
if corpus is not None:
    padding = lab.padding_shares(corpus)
    mixed_padding = round(100 * padding["all lengths mixed"])
    print(f"your guess: {guess_padding} %, it is: {mixed_padding} %")
    percentages = {name: 100 * share for name, share in padding.items()}
    display(plots.bars(percentages, title="Padding", x_label="% of all positions"))

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - With all lengths mixed, 46 % of the positions hold padding; with similar lengths together, it is 2.3 %. <!-- claim: buckets_save_half -->
#
# </details>
#
# **Baselines and scores.** How good is a translation? Two scores are common:
#
# | score | what it counts |
# |---|---|
# | BLEU | of the translation's runs of one to four words, the share that the reference has too; less if the translation is too short (Papineni and others 2002) |
# | chrF | runs of one to six characters: how many of the translation's are in the reference, and how many of the reference's are in the translation, which counts twice (Popović 2015) |
#
# The deduction for short translations is the **brevity penalty**: without it, writing only the words you are sure of would
# pay off. Neither score asks where in the sentence a run is. Both go from 0 to 100, and both depend on details such as how
# words are split. So quote them with their **signature**, which the library `sacrebleu` prints (Post 2018).
#
# There are two baselines: `copy` leaves the English as it is, and `word by word` looks up each word by itself. **What BLEU
# does `copy` get?**

# %%
guess_copy = None  # from 0 to 100

copy_bleu = None
if corpus is not None:
    try:
        baselines = lab.baseline_translations(corpus, corpus.test)
        whole_test, score = lab.score_table(baselines, corpus.test)
        copy_bleu = float(whole_test["BLEU"].iloc[0])
        print(f"your guess: {guess_copy}, it is: {copy_bleu}")
        print(score.bleu_signature, score.chrf_signature, sep="\n")
        display(whole_test)
    except NoSacrebleu as problem:
        print(problem)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - On the 1,000 test sentences, copying gets BLEU 0.5 and chrF 16.3. <!-- claim: copying_is_no_translation -->
# - Word by word gets BLEU 10.9 and chrF 50.9. <!-- claim: word_by_word_gets_somewhere -->
#
# </details>
#
# **Training.** The preset `CPU` has d_model 128, two layers on each side, four heads and d_ff 256. A batch has 1,000
# tokens, the rate rises for 400 steps, and there are 1,200 steps in all.
#
# The cell below takes 300 of the 1,200 steps, which is about 80 seconds of processor time. So it stops *before the
# warm-up ends*, and what you see is a beginning. The whole preset takes between five and six minutes. A checkpoint is
# kept while the notebook is open: run the cell again with 1200, and it goes on from there.
#
# If you have a GPU, take the preset `GPU` instead, and its 3,000 steps: d_model 256, three layers on each side, and 4,000
# tokens in a batch. On an H100 or H200 that took about three minutes; without a GPU, it takes hours. If the GPU has hardware for
# **bfloat16**, 16-bit numbers, training uses them wherever that is safe.
#
# **After 300 steps of the small preset, will your model beat the word-by-word baseline in BLEU? And in chrF?**

# %%
guess_bleu = None  # "yes" or "no"
guess_chrf = None  # "yes" or "no"

preset = {"CPU": CPU, "GPU": GPU}["CPU"]
translation_steps = 300  # CPU has 1,200 in all, GPU 3,000
translator, beats = None, {"BLEU": None, "chrF": None}
if corpus is not None:
    kept = Path(tempfile.gettempdir()) / f"lesson_08_translator_{preset.d_model}_{os.getpid()}.pt"
    translator, run, curve = lab.train_translator(
        corpus, Transformer, parts, recipe=preset, steps=translation_steps, checkpoint=kept
    )
    print(f"{run.seconds:.0f} s, {run.tokens_per_second:,.0f} tokens per second")
    display(lab.translation_chart(curve))

# %% [markdown]
# Now it translates the first 200 sentences of the test set, greedily. Here are the first eight.

# %%
if translator is not None:
    scored = corpus.test[:200]
    english_200 = [one for one, _ in scored]
    translations = lab.baseline_translations(corpus, scored)
    translations["your model"] = lab.translate(translator, english_200, corpus.subwords)
    shown = [(*pair, one) for pair, one in zip(scored, translations["your model"], strict=True)]
    display(pd.DataFrame(shown[:8], columns=["English", "wanted", "written"]))

# %% [markdown]
# And the scores of all 200, with those of the two baselines on the same sentences.

# %%
if translator is not None:
    try:
        compared, score = lab.score_table(translations, scored)
        for name in beats:
            beats[name] = "yes" if compared[name].iloc[-1] > compared[name].iloc[-2] else "no"
        print(f"your guesses: {guess_bleu}, {guess_chrf}; it beats word by word: {beats}")
        print(score.bleu_signature, score.chrf_signature, sep="\n")
        display(compared)
    except NoSacrebleu as problem:
        print(problem)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - After 300 steps the validation loss is about 3.3 nats per token, and still falling. <!-- claim: translation_begins -->
# - In BLEU your model beats the word-by-word baseline (12.3 on these 200 sentences, or 10.8 with another seed, against 9.7). <!-- claim: bleu_says_yes -->
# - In chrF the baseline is far ahead (49.6, against 32.9 or 35.5 with another seed). <!-- claim: chrf_says_no -->
# - After all 1,200 steps the validation loss is 2.2. BLEU is 22.5 (21.6 with another seed), nearly twice as high, and in chrF
#   the baseline is only just ahead (49.6, against 47.9 or 47.5). <!-- claim: the_whole_preset -->
# - With all 3,000 steps of the preset `GPU`, which is larger and learns for longer, it is 1.4. BLEU is between 32 and 35, and
#   in chrF your model is ahead, too, with about 58. <!-- claim: the_preset_for_a_gpu -->
#
# The two scores disagree, and both have a point. BLEU wants runs of words that are right together, which a look-up of
# single words gets only by luck. chrF rewards every right stem, and recall counts twice: the look-up leaves nothing out,
# and your model writes sentences as short as "Eine Brücke." Both scores deduct something for that. Read a few sentences
# of each kind before you believe either score.
# </details>
#
# ### Where it goes wrong
#
# The sentences with the lowest chrF. What kind of mistake is it: a word that it doesn't know, a sentence about something
# else, a loop?

# %%
if translator is not None and beats["chrF"] is not None:
    worst = lab.hardest(translations["your model"], scored)
    with pd.option_context("display.max_colwidth", None):
        display(worst)

# %% [markdown]
# ### Head by head
#
# Here is the last cross-attention for one sentence: each written sub-word, and the English sub-words it looks at.

# %%
if translator is not None:
    shortest = min(english_200, key=len)
    heads, written_pieces, source_pieces = lab.words_looked_at(translator, shortest, corpus.subwords)
    if heads:
        display(lab.looks_chart(heads, written_pieces, source_pieces, title=shortest))

# %% [markdown]
# ## The view from the top
#
# Five minutes of training make a beginner. How good can the model that you wrote become? Here are weights that we have
# trained for longer, for a small world where few words are enough: fairy tales. The sentences and their translations
# grow from one grammar, so there are as many as you like, and each has exactly one right translation. The words are
# few, but the German is real: three genders, three cases, endings that agree, verbs at the very end, and prefixes that
# come off. Look at these two:
#
# | English | German |
# |---|---|
# | The witch found a *key* and lost *it*. | Die Hexe hat einen *Schlüssel* gefunden und *ihn* verloren. |
# | The witch found a *crown* and lost *it*. | Die Hexe hat eine *Krone* gefunden und *sie* verloren. |
#
# The same "it", and two words for it: you have to look back at what was found.
#
# (Why not Multi30k? Its terms allow research and teaching, but don't say that weights learnt from it may be passed on.
# These may, under the course's own licence, because grammar and words were made for it.)
#
# The weights fit into *your* model: d_model 128, two layers on each side, four heads, d_ff 512, and one shared matrix.
# The file is a checkpoint, and your own `load_checkpoint` reads it. If it doesn't fit, because your parts have other
# names, the cell says so and uses our model. Its numbers have 16 bits, which makes it half as large: 2 MB.
#
# **What share of 200 sentences that it has never seen will it translate without a single mistake?**

# %%
guess_tales = None  # a share

teller, tale_pieces = lab.teller(Transformer, parts.load)
unseen = fairy_tales(200, test=True)
told = lab.translate(teller, [sentence for sentence, _ in unseen], tale_pieces)
tale_table = pd.DataFrame(unseen, columns=["English", "wanted"]).assign(written=told)
flawless = tale_table["wanted"] == tale_table["written"]
tales_right = float(flawless.mean())
print(f"your guess: {guess_tales}, without a mistake: {tales_right:.3f}")
print(f"{count_parameters(teller):,} parameters")
lab.tale_scores(told, unseen)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - About 99 % of the sentences are translated without a mistake (99.0 and 99.5 % of 200, in two draws), with BLEU 99.8. The word-by-word baseline gets 1 or 2 % of them right, with BLEU 12. <!-- claim: most_tales_are_flawless -->
#
# Don't compare this with the scores on Multi30k. Here every word of the test has occurred in training, and the grammar is
# the same. It is a small world, and the model knows it well.
# </details>
#
# Some sentences that went right, and those that went wrong:

# %%
with pd.option_context("display.max_colwidth", None):
    display(tale_table[flawless][["English", "written"]].head(8))
    display(tale_table[~flawless].head(5))

# %% [markdown]
# In our run, two went wrong: in one an object is written twice, in the other it is missing.
#
# **Your own fairy tale.** Write sentences with the words that the model knows. Then try one that its grammar doesn't
# have, and a word that it has never seen.

# %%
print(", ".join(lab.tale_words()))

# %%
my_tales = [
    "The witch found a key and lost it.",
    "The witch found a crown and lost it.",
    "The giant who stole the golden egg is tired because he wanted to dance.",  # "wanted to": not in its grammar
    "The robot ate my homework.",  # three words that it has never seen
]

my_told = lab.translate(teller, my_tales, tale_pieces)
with pd.option_context("display.max_colwidth", None):
    display(pd.DataFrame({"English": my_tales, "German": my_told}))

# %% [markdown]
# The first two come out right. In the third, our run writes "Der Riese, der das goldene Ei gestohlen hat, weil er tanzt."
# That is half a sentence, and he no longer *wanted* to. The fourth is nonsense about a friendly thief. A translator like
# this never says that it doesn't know a word.
#
# **How does it know which "it"?** Two things could tell it the gender: the English noun that it reads, or the German noun
# that it has written. Let's make them disagree. The model reads "The witch found the *key* and lost it." But we put
# another beginning into its mouth: "Die Hexe hat die *Krone* gefunden und". **Will it go on with "ihn", for the key, or with
# "sie", for the crown?**

# %%
guess_it = None  # "ihn" or "sie"

disagreeing = lab.torn(teller, tale_pieces)
this_pair = (disagreeing["read"] == "key") & (disagreeing["put into its mouth"] == "Krone")
wrote = disagreeing[this_pair]["writes"].iloc[0]
print(f"your guess: {guess_it}, it writes: {wrote}")
disagreeing["follows"].value_counts().rename_axis("it follows").to_frame("pairs of nouns")

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - It writes "ihn". In all 310 pairs of nouns with different genders, it follows the noun that it has read. <!-- claim: it_follows_the_english_noun -->
# - Left alone, it finds the right word for all 22 things that can be found and lost. <!-- claim: it_agrees_with_its_noun -->
#
# So the gender comes from the English side, not from what it has written.
# </details>
#
# Then something on the English side must connect "it" with its noun, and we should be able to see it. Here is the
# encoder's last self-attention. **Look at the last row: what does "it" look at?**

# %%
reading, english_pieces = lab.english_looks(teller, my_tales[0], tale_pieces)
if reading:
    looks = {"rows": "who looks", "columns": "who is looked at"}
    display(lab.looks_chart(reading, english_pieces, english_pieces, title=my_tales[0], **looks))

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - In one of the four heads, "it" looks at the noun and hardly at anything else (with a weight of more than 0.9, for each of the 22 things). <!-- claim: a_head_finds_the_noun -->
#
# In the same head, only the noun's own article looks at it as well. "The", "witch", "found", "and" and "lost" look
# elsewhere. So it isn't a head in which everybody looks at the last noun.
#
# A map shows where a model looks, not what it uses. Here the experiment came first, and the map fits it.
# </details>
#
# ## What the paper found
#
# *Sections 6 and 7.* You can't repeat these results on two cores. But now you can read them.
#
# **Translation (section 6.1, table 2).** From English to German, the base model gets BLEU 27.3 and the big one 28.4. Both
# beat everything published before, ensembles included. From English to French, the base model gets 38.1. The German model
# learnt from 4.5 million sentence pairs, and its test sentences are news, so these numbers can't be compared with
# scores on Multi30k.
#
# **Cost (section 5.2, table 2).** The base model trained for 100,000 steps on eight GPUs, which took twelve hours.
# Table 2 puts the number of floating-point operations next to each score: the base model needs fewer than the models it
# beats.
#
# **Variations (section 6.2, table 3).** The authors changed one thing at a time. On the validation set, a single head
# costs 0.9 BLEU, and 32 heads cost 0.4. Smaller keys hurt. Larger models do better, and without dropout the score drops
# by more than a point. Learned positions do about as well as sinusoids. On two cores, you can change the same things on
# rung 2: see "Things to try".
#
# **Another task (section 6.3).** With hardly any changes, the same model learns to produce the parse tree of a
# sentence. It does well even with only 40,000 sentences to learn from. You have seen the same thing on a small scale:
# one class, four tasks.
#
# ## Explain it
#
# A friend has trained a Transformer to translate. "The training loss is stuck at 1.2 and won't go down to 0, however
# long I train. I use label smoothing of 0.1 with 4,000 sub-words. Are my masks broken? And next time I'll leave out the
# warm-up: it only wastes steps."
#
# Answer in four or five sentences, in your own words. What does a loss of 1.2 mean here? How would you find out about
# the masks? And what would you say about the warm-up?

# %% [markdown] explain=true
# With label smoothing the loss can't get to 0: the target only gets 0.9, and the best possible loss for 4,000 symbols
# is about 1.15. A training loss of 1.2 is therefore almost as low as it can be, and it says little about the
# translations. No honest translator is that certain, since a sentence has many good translations, so I would suspect
# that the decoder reads the answer. To find out I'd change a later target token and see whether an earlier output
# moves, or try the masks on a batch with padding and rows of different lengths, as masks_are_sound does. Then I'd
# measure what counts: the loss without smoothing on validation sentences, and BLEU or chrF of what the model writes on
# its own. I'd keep the warm-up: post-norm wants a rate that starts near 0 and rises slowly, because its gradients near
# the output are large at the start.

# %% [markdown]
# ## How good were your guesses?
#
# Here are your guesses next to what happened. A wrong guess is worth more than none: it shows you where to look.

# %%
board = [  # question, guess, what happened, how far off a number may be
    ("sentences right, of ten", guess_ten, right_of_ten, 0),
    ("a token 20 positions back in a GRU", guess_far, far, 0),
    ("attention's cost, in plain recurrent layers", guess_cost, factor, 0.5),
    ("million parameters, shared", guess_shared, shared_count, 0.5),
    ("million parameters, not shared", guess_apart, apart_count, 1),
    ("whose masks are sound", guess_sound, sound, 0),
    ("PyTorch's share for padding", guess_padding_share, padding_share, 0.005),
    ("a peak that is so many times as high", guess_peak, times_as_high, 0.2),
    ("losses that differ, of ten", guess_different, different, 1),
    ("rows right with averaged weights", guess_mean, mean_rows, 0.05),
    ("rows right with the final weights", guess_last, last_rows, 0.05),
    ("rows right by a GRU", guess_plain, plain_rows, 0.05),
    ("rows right by a GRU with attention", guess_attending, attending_rows, 0.05),
    ("words right by look-up", guess_lookup, lookup_words, 0.05),
    ("words right by your speller", guess_spelling, spelled, 0.05),
    ("padding with mixed lengths, in %", guess_padding, mixed_padding, 5),
    ("BLEU of copying", guess_copy, copy_bleu, 1),
    ("beats word by word in BLEU", guess_bleu, beats["BLEU"], 0),
    ("beats word by word in chrF", guess_chrf, beats["chrF"], 0),
    ("fairy tales translated without a mistake", guess_tales, tales_right, 0.05),
    ("it, when the nouns disagree", guess_it, wrote, 0),
]
guesses.board(row for row in board if row[2] is not None)  # what was measured

# %% [markdown]
# ## Recap
#
# Answer from memory, then check.
#
# **1.** Where does the paper put dropout, and where does it put the norm?
#
# <details><summary>Answer</summary>
#
# Dropout acts on the output of each sub-layer before it is added to x, and on the sum of embeddings and positions. The
# norm comes after the sum: post-norm.
# </details>
#
# **2.** Why are embeddings multiplied by the root of d_model, and which three matrices can be one?
#
# <details><summary>Answer</summary>
#
# They start with a standard deviation of 1 / root of d_model, much smaller than the sinusoids; the factor brings them
# to about the same size. Source embedding, target embedding and the weight of the output layer can share one matrix, if
# both sides use one vocabulary.
# </details>
#
# **3.** What does a checkpoint need besides the weights, so that the losses go on as if nothing had happened?
#
# <details><summary>Answer</summary>
#
# The state of the optimiser, the state of the schedule, the number of steps, so that the next batch is the right one,
# and the random state, because of dropout.
# </details>
#
# ## Things to try
#
# - `lab.norm_orders(Transformer, parts=parts)` trains rung 2 with post-norm and with pre-norm. Which is ahead at which step?
# - Change one thing at a time on rung 2, as table 3 does: `lab.reverse_letters(Transformer, parts, recipe=replace(lab.REVERSAL, num_heads=1))`. Then 2 and 8 heads, another
#   `d_model`, no dropout. Use two seeds before you believe a difference.
# - Leave the warm-up out and keep the peak: give `Parts` a schedule of your own that sets the rate 0.008 from the first step on. Does rung 2 still learn, with `norm_first=False` and with `True`? (`warmup_steps=1` would be another experiment: in the paper's formula it also makes the peak 16 times as high.)
# - Train the speller without label smoothing, with `smoothing=0.0`. Is it the words or the sounds that change?
# - Use your own merges from lesson 2 for rung 4: `lab.corpus(learn=lambda sentences: MergedSubwords.learn(sentences, 3000))`, with `MergedSubwords` from `transformer_course.subwords`. How much longer does
#   it take to learn the merges?
# - Share the embeddings in the CPU preset: `recipe=replace(CPU, share_embeddings=True)`. How many parameters are saved, and what happens to the validation loss?
# - Watch a long run in TensorBoard: pass `tensorboard=Path("runs")` to `lab.train_translator`.
#
# ## Glossary
#
# | word | meaning |
# |---|---|
# | BLEU | a score for translations: shared runs of words |
# | brevity penalty | what BLEU deducts for a translation that is too short |
# | checkpoint | everything that a run needs to go on after an interruption |
# | chrF | a score for translations: shared runs of characters |
# | clipping | scaling gradients down when they are too large |
# | dropout | setting numbers, chosen at random, to 0 in training, so that no single one is relied on |
# | GRU | a recurrent layer with gates |
# | label smoothing | asking for a little less than certainty |
# | over-fit | learn the training data by heart |
# | path length | the number of steps from one token to another |
# | position-wise | applied to each token by itself |
# | post-norm, pre-norm | the norm after the sum, or before the sub-layer |
# | recurrent net | a net that reads one token after another, and keeps a state |
# | signature | the settings of a score, in one line |
# | sub-word | a piece of a word with an id of its own |
# | warm-up | the steps in which the learning rate rises |
# | weight sharing, tying | using one matrix in several places |
#
# ## Papers
#
# - Vaswani and others, [Attention Is All You Need](https://arxiv.org/abs/1706.03762), NIPS 2017: sections 3.1 (stacks), 3.2.3 (masks), 3.3 (feed-forward), 3.4 (embeddings), 3.5 (positions), 4 and table 1 (costs), 5 (training), 6 and tables 2 and 3 (results).
# - Cho and others, [Learning Phrase Representations using RNN Encoder-Decoder](https://arxiv.org/abs/1406.1078), EMNLP 2014: the GRU.
# - Sutskever, Vinyals, Le, [Sequence to Sequence Learning with Neural Networks](https://arxiv.org/abs/1409.3215), NIPS 2014: a recurrent encoder and decoder.
# - Bahdanau, Cho, Bengio, [Neural Machine Translation by Jointly Learning to Align and Translate](https://arxiv.org/abs/1409.0473), ICLR 2015: attention, before Transformers.
# - Luong, Pham, Manning, [Effective Approaches to Attention-based Neural Machine Translation](https://arxiv.org/abs/1508.04025), EMNLP 2015: section 3.1, the shorter form of it.
# - Gehring and others, [Convolutional Sequence to Sequence Learning](https://arxiv.org/abs/1705.03122), ICML 2017: attention and convolutions.
# - Press, Wolf, [Using the Output Embedding to Improve Language Models](https://arxiv.org/abs/1608.05859), EACL 2017: sharing weights.
# - Szegedy and others, [Rethinking the Inception Architecture for Computer Vision](https://arxiv.org/abs/1512.00567), CVPR 2016: section 7, label smoothing.
# - Xiong and others, [On Layer Normalization in the Transformer Architecture](https://arxiv.org/abs/2002.04745), ICML 2020: section 3, why post-norm wants warm-up.
# - Papineni and others, [BLEU: a Method for Automatic Evaluation of Machine Translation](https://aclanthology.org/P02-1040/), ACL 2002.
# - Popović, [chrF: character n-gram F-score for automatic MT evaluation](https://aclanthology.org/W15-3049/), WMT 2015.
# - Post, [A Call for Clarity in Reporting BLEU Scores](https://arxiv.org/abs/1804.08771), WMT 2018: why a signature.
# - Elliott and others, [Multi30K: Multilingual English-German Image Descriptions](https://arxiv.org/abs/1605.00459), 2016.
# - Rush, [The Annotated Transformer](https://nlp.seas.harvard.edu/annotated-transformer/), 2018: the paper with code in between.
#
# In lesson 9 you take away PyTorch, and compute every gradient of a Transformer yourself.
