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
# # Lesson 4 · One part reads, one part writes
#
# COLAB_BADGE
#
# Your classifier of lesson 3 reads a row and names one of two classes. But many answers are rows themselves: a sum, a
# translation, a reply. How does a network answer with a row of tokens?
#
# ![The source 27+15 goes into a box, the encoder reads. An arrow leads on to a second box, the decoder writes, and from there to the target 2, 4: the sum 42 with its last digit first. From below, what the decoder has so far goes into it: start, 2, 4.](picture:problem_to_answer)
#
# With two stacks. An **encoder** reads the source. A **decoder** writes the target, token by token, and looks at the encoder while
# it does. Today you build that machine, and teach it to add and to write letters backwards.
#
# **What you will be able to do**
#
# - measure a row of predictions: loss, perplexity, tokens right, rows right, with padding counted nowhere
# - build the attention that leads from a decoder to an encoder, a decoder block, and the whole model
# - train it with teacher forcing, and follow one sample through all its masks and shapes
# - find test data that leaked into the training data, and remove it
# - catch a decoder that never looks at its encoder
#
# **Time.** Two sittings, about 75 and 110 minutes. The place for the break is marked.
#
# **How to check.** Replace the line `raise NotImplementedError()` by your own code, and run the cell.
# Then run the `check` cell below it. It says what is right and what is not, as often as you ask.
#
# **How to submit.** Save the notebook and hand it in the way your class does.
# Nobody to hand it in to? The checks are all you need.

# %% [markdown]
# ## A two-minute test
#
# This lesson builds on [lesson 1](../01_pytorch_basics/01_pytorch_basics.ipynb),
# [lesson 2](../02_tokenizer/02_tokenizer.ipynb) and [lesson 3](../03_classification_transformer/03_classification_transformer.ipynb).
# Try these three without running anything.
#
# **1.** A table of scores has shape `(3, 4)`. You want one entry from each row. Which shape has the index that `gather` takes along axis 1?
#
# <details><summary>Answer</summary>
#
# `(3, 1)`: as many axes as the table, and one entry a row. Today the table gets one axis more.
# To read up: puzzle 4 of [lesson 1](../01_pytorch_basics/01_pytorch_basics.ipynb).
# </details>
#
# **2.** Why is padding id 0, and what does it mean?
#
# <details><summary>Answer</summary>
#
# It fills a row up to a length, and means nothing. Id 0 was kept free for it, so it can't be mistaken for a symbol.
# To read up: `pad_sequences` in [lesson 2](../02_tokenizer/02_tokenizer.ipynb).
# </details>
#
# **3.** Your `MultiHeadAttention` gets 4 rows of queries, and 6 rows of keys and values. Which shape have the weights of one head?
#
# <details><summary>Answer</summary>
#
# `(4, 6)`: a row for each query, a column for each key.
# To read up: `MultiHeadAttention` in [lesson 3](../03_classification_transformer/03_classification_transformer.ipynb).
# </details>
#
# Two of three? Go on. Fewer? Read the linked pages first, and come back.
#
# The next cell brings the tools. Run it first. `plots` draws, and `lab` runs the longer experiments.
# `fit` trains a model, and you may read it: it is a short loop in `course/seq2seq_fitting.py`. All of them belong to the course.
# With a GPU everything below runs on it, without one on the CPU.

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
from course.attention import MultiHeadAttention, padding_mask
from course.blocks import EncoderBlock, FeedForward, LayerNorm, LearnedPositionalEmbedding
from lessons.lesson_04 import experiments as lab
from course.lengths import TRAINED, exact_by_length
from course.seq2seq_fitting import best_device, fit, generate, predict
from course.tasks import addition, reversal

torch.set_num_threads(1)  # one thread: on a machine that others use too, two can be ten times slower

# %% [markdown]
# ## Part 1 · How good is a row of answers?
#
# ### The data
#
# A problem is a text such as `27+15`. Its answer is the sum, written with **the last digit first**: 42 becomes `24`.
# You add on paper in that order too, from the right. Whether the order matters is a question of lesson 5.
#
# Every answer ends with a token of its own, the **end** mark `$`. So the model says itself when it is done. Behind it stands
# padding, written `_` here.

# %%
writing = addition.Writing()
some_pairs = [(27, 15), (4, 5), (999, 2)]
source, target = writing.tensors(some_pairs)
print("source ids", tuple(source.shape), source.tolist())
print("target ids", tuple(target.shape), target.tolist())
pd.DataFrame(
    {
        "problem": [writing.texts(pair)[0] for pair in some_pairs],
        "source": [addition.ALPHABET.text(row) for row in source],
        "target": [addition.ALPHABET.text(row) for row in target],
    }
)

# %% [markdown]
# The digit d has id d + 1, the plus sign 11, the start mark 12 and the end mark 13. Padding is 0. That makes 14 symbols.
#
# ### Exercise: `shift_right` · core · difficulty 1 · 10 minutes
#
# How does a decoder learn to write? It is shown what came before, and says what comes next. For the first token nothing came before, so
# a **start** mark stands there, `^`. What it is shown is the target itself, one place later.
#
# ![The targets 2, 4, end, padding above what the decoder reads: start, 2, 4, end. Arrows lead from each target to the place one further right. The last target falls out. The start mark is framed.](picture:shifted_by_one)
#
# $$\text{input}[0] = \text{start} \qquad\qquad \text{input}[i] = \text{target}[i - 1]$$
#
# In numbers: the target 3, 5, 13, 0 becomes 12, 3, 5, 13. At place 1 the decoder has seen the 3, and is to say 5.
#
# <details><summary>Hint 1</summary>
#
# The result is as long as the targets. What comes in on the left, and what must go?
# </details>
# <details><summary>Hint 2</summary>
#
# Make a column of start ids, one for each row, with the targets' dtype and device. Put it in front of all columns but the last.
# </details>
# <details><summary>Hint 3</summary>
#
# `targets[:, :-1]` leaves out the last column, `torch.full_like(targets[:, :1], start_id)` is the new one, `torch.cat` joins along axis 1.
# </details>
#
# Docs: [torch.cat](https://pytorch.org/docs/stable/generated/torch.cat.html) ·
# [torch.full_like](https://pytorch.org/docs/stable/generated/torch.full_like.html).

# %% exercise="shift_right"

# %% [markdown]
# **What you made.** Read the table column by column: what the decoder is shown, and what it must say there.

# %%
target_input = shift_right(target, addition.START_ID)
rows = []
for shown, wanted in zip(target_input, target, strict=True):
    rows.append(
        [f"{addition.ALPHABET.text([a])} → {addition.ALPHABET.text([b])}" for a, b in zip(shown, wanted, strict=True)]
    )
pd.DataFrame(rows, index=[addition.ALPHABET.text(row).rstrip("_") for row in source])

# %% [markdown]
# After `$` nothing is to be said any more. Those places are padding, and we must take care that they count nowhere.
#
# Feeding a decoder the *right* tokens, whatever it said itself, is called **teacher forcing**. All places are trained at once.
#
# ### Exercise: `sequence_cross_entropy` · core · difficulty 3 · 15 minutes
#
# At each place the model gives every symbol a chance. The loss asks only for the chance of the *right* symbol. Was it high?
# Then there is little surprise. Surprise is minus the logarithm of the chance: 0 for a chance of 1, large for a small one.
#
# ![A table of three places and four symbols: padding, 2, 4, end. At the first place the target is 2, with the framed chance 1/2: minus log is 0.69. At the second the target is 4, with the framed chance 1/4: 1.39. The third place is padding and not counted. The mean of the two is 1.04.](picture:surprise_of_tokens)
#
# $$\text{loss} = \frac{1}{\text{real tokens}} \sum_{\text{real tokens}} -\log p(\text{target})$$
#
# In numbers: (0.69 + 1.39) / 2 = 1.04. The third place is padding, so it is neither in the sum nor in the count.
# All real tokens of a batch go into *one* mean. So a token of a long row weighs as much as one of a short row.
#
# The model gives logits, not chances. `log_softmax` turns them into logarithms of chances.
#
# <details><summary>Hint 1</summary>
#
# From each place you want one number, that of its target. Which puzzle of lesson 1 was that?
# </details>
# <details><summary>Hint 2</summary>
#
# `log_softmax` over the last axis, `gather` at the targets, keep the places that are no padding, average, change the sign.
# What if nothing is left to average?
# </details>
# <details><summary>Hint 3</summary>
#
# `targets.unsqueeze(-1)` is the index for `gather(-1, ...)`, and `targets != pad_id` picks the real places.
# `nn.functional.cross_entropy` with `ignore_index` is a good way too: it wants the classes on axis 1.
# </details>
#
# Docs: [torch.log_softmax](https://pytorch.org/docs/stable/generated/torch.nn.functional.log_softmax.html) ·
# [torch.gather](https://pytorch.org/docs/stable/generated/torch.gather.html) ·
# [cross_entropy](https://pytorch.org/docs/stable/generated/torch.nn.functional.cross_entropy.html).

# %% exercise="sequence_cross_entropy"

# %% [markdown]
# **What you made.** The loss of the picture, and the proof that padding is out of it. We change what the model says over the padding, wildly.

# %%
toy, toy_targets = lab.toy_logits(), torch.tensor([[1, 2, 0]])  # (1, 3, 4) and (1, 3); the symbols are _ 2 4 $
print(f"by hand {(-math.log(1 / 2) - math.log(1 / 4)) / 2:.4f}, by you {sequence_cross_entropy(toy, toy_targets):.4f}")
wild = toy.clone()
wild[0, 2] = torch.tensor([-100.0, 0.0, 100.0, 0.0])
print(f"with nonsense over the padding {sequence_cross_entropy(wild, toy_targets):.4f}")

# %% [markdown]
# **Now a question.** A model has learnt nothing and gives all 14 symbols the same chance. What is its loss? Type a number.

# %%
guess_untrained_loss = None  # a number

even_loss = sequence_cross_entropy(torch.zeros(*target.shape, addition.VOCAB_SIZE), target).item()
print("your guess:", guess_untrained_loss, f" it is: {even_loss:.2f}, which is log 14")

# %% [markdown]
# Every training in this lesson begins near that number. A loss of 2.64 is what knowing nothing costs.
#
# ### Exercise: `perplexity` · core · difficulty 1 · 5 minutes
#
# "2.64" says little to most people. "It hesitates between 14 symbols" says more. That is **perplexity**: the loss as a number of choices.
#
# ![Three bar charts of the chances of four symbols. Sure: one bar of height 1, perplexity 1. Between two: two bars of one half, perplexity 2. Between four: four bars of one quarter, perplexity 4.](picture:hesitating)
#
# $$\text{perplexity} = e^{\text{loss}}$$
#
# In numbers: the toy's loss was 1.04, and $e^{1.04} = 2.83$. Its two real tokens had chances 1/2 and 1/4, so choices of 2 and 4.
# 2.83 lies between them: it is their geometric mean, $\sqrt{2 \cdot 4}$.
#
# <details><summary>Hint 1</summary>
#
# Which function of yours does most of the work?
# </details>
# <details><summary>Hint 2</summary>
#
# Take the loss over all real tokens first, and raise e to it once at the end. The mean of single perplexities is another number.
# </details>
# <details><summary>Hint 3</summary>
#
# One line: the loss, with `pad_id` handed on, and `.exp()`.
# </details>
#
# Docs: [torch.exp](https://pytorch.org/docs/stable/generated/torch.exp.html).

# %% exercise="perplexity"

# %% [markdown]
# **What you made.** The toy, the model that knows nothing, and one that is sure and right.

# %%
sure = lab.sure_of(target, addition.VOCAB_SIZE)
plots.bars(
    {
        "the toy": perplexity(toy, toy_targets).item(),
        "knows nothing": perplexity(torch.zeros_like(sure), target).item(),
        "sure and right": perplexity(sure, target).item(),
    },
    title="Between how many symbols does it hesitate?",
    x_label="perplexity",
)

# %% [markdown]
# ### Exercise: `token_accuracy` · core · difficulty 2 · 10 minutes
#
# Loss and perplexity ask how sure a model is. **Token accuracy** asks a plainer question: is the symbol with the highest logit the right one?
#
# ![Two rows of targets: 2, 4, end, padding and 7, end, padding, padding. Predictions: 2, 5, end, 8 and 7, end, padding, 3. Framed as right and counted are 2, end, 7 and end. The 5 is wrong; 8, padding and 3 stand over padding.](picture:padding_is_not_counted)
#
# $$\text{accuracy} = \frac{\text{real tokens that are right}}{\text{real tokens}}$$
#
# In numbers: five real tokens, four of them right, so 0.8. With padding counted it would be 5 of 8. It could as well go up.
#
# <details><summary>Hint 1</summary>
#
# Which id does the model say at each place? And at which places do you ask?
# </details>
# <details><summary>Hint 2</summary>
#
# Take the `argmax` over the symbols, compare with the targets, keep the real places, and average over all rows together.
# </details>
# <details><summary>Hint 3</summary>
#
# `right[real].to(logits.dtype).mean()`, with `real` as in your loss, and the same error where nothing is real.
# </details>
#
# Docs: [torch.argmax](https://pytorch.org/docs/stable/generated/torch.argmax.html).

# %% exercise="token_accuracy"

# %% [markdown]
# **What you made.** A measure that can't be flattered by padding. Let us try to flatter it.
#
# The second task of this lesson is **reversal**: `abc` in, `cba` out, for rows of 1 to 10 letters. A lazy model says padding
# everywhere. **If padding were counted, which share of places would it get right?** Guess.

# %%
guess_padding = None  # a share, such as 0.1

letters = reversal.reversal_task(seed=0)
letters_train = reversal.tensors(letters.train, 10, 11)  # (4000, 10) and (4000, 11)
letters_test = reversal.tensors(letters.test, 10, 11)  # (500, 10) and (500, 11)

flattered = lab.share_of_padding(letters_test[1])
lazy = lab.sure_of(torch.zeros_like(letters_test[1]), reversal.VOCAB_SIZE)
print("your guess:", guess_padding)
plots.bars(
    {"padding counted": flattered, "your token_accuracy": token_accuracy(lazy, letters_test[1]).item()},
    title="A model that says nothing but padding",
    x_label="share of places right",
    levels={"chance": 1 / reversal.VOCAB_SIZE},
)

# %% [markdown]
# **What you should see**
#
# - With padding counted, saying nothing is right on 28 to 36 % of the places. <!-- claim: padding_flatters -->
# - Your `token_accuracy` gives it 0. <!-- claim: padding_earns_nothing -->
#
# A third of the marks for an empty page. Published courses have reported accuracies with this mistake inside.
#
# ### Exercise: `exact_match` · core · difficulty 2 · 10 minutes
#
# A sum with one wrong digit is a wrong sum. So the strictest measure asks for whole rows. It takes ids, not logits, since some
# predictions will soon be written token by token.
#
# ![The same two rows, judged as wholes. The first has one wrong token: no. In the second all real tokens are right: yes. Exact match is 1 of 2 rows.](picture:exact_rows)
#
# $$\text{exact match} = \frac{\text{rows in which every real token is right}}{\text{rows}}$$
#
# In numbers: one row of two, 0.5. What stands over padding does not matter. And a prediction may be narrower or wider than
# the target: what is missing counts as padding, what is too much is not looked at.
#
# <details><summary>Hint 1</summary>
#
# A place is fine in two cases. Which two?
# </details>
# <details><summary>Hint 2</summary>
#
# Bring the predictions to the targets' width first. A place is fine when it is right, or when the target is padding.
# A row is right when all its places are fine.
# </details>
# <details><summary>Hint 3</summary>
#
# `nn.functional.pad(predictions, (0, missing), value=pad_id)` widens, `|` is "or", `.all(dim=1)` asks a whole row.
# </details>
#
# Docs: [torch.nn.functional.pad](https://pytorch.org/docs/stable/generated/torch.nn.functional.pad.html) ·
# [torch.all](https://pytorch.org/docs/stable/generated/torch.all.html).

# %% exercise="exact_match"

# %% [markdown]
# **What you made.** The measure that counts in the end. How far is it from token accuracy? Say a model gets each token right with
# a chance of 0.9, one independent of the other. **Which share of rows with 11 tokens does it get right?**

# %%
guess_rows = None  # a share

generator = torch.Generator().manual_seed(0)
shares = {"tokens right": [], "rows right": []}
for row_length in range(1, 12):
    wanted = torch.ones(20_000, row_length, dtype=torch.long)
    said = 1 + (torch.rand(20_000, row_length, generator=generator) > 0.9).long()  # 2 is a wrong token
    shares["tokens right"].append(token_accuracy(lab.sure_of(said, 3), wanted).item())
    shares["rows right"].append(exact_match(said, wanted).item())
rows_at_eleven = shares["rows right"][-1]
print(f"your guess: {guess_rows}, it is: {rows_at_eleven:.2f}")
plots.curves(
    shares,
    x=range(1, 12),
    title="90 % of the tokens are right",
    x_label="tokens in a row",
    y_label="share",
    y_limits=(0, 1),
)

# %% [markdown]
# **What you should see**
#
# - Of rows with 11 tokens, 30 to 33 % are right: 0.9 to the power of 11 is 0.31. <!-- claim: rows_are_stricter -->
#
# So "90 % of tokens" sounds better than it is. From here on we look at both.
#
# ## Time for a break
#
# You have the four measures that every sequence model is judged by. After the break you build the model.
#
# Before you go, one thing to carry around. In training, the decoder is shown the right tokens. Who shows them to it later?

# %% [markdown]
# ## Part 2 · The decoder
#
# ### Exercise: `CrossAttention` · core · difficulty 2 · 15 minutes
#
# In lesson 3 every word asked the words of its own row. Now a word of the *answer* asks the words of the *question*.
# That is **cross-attention**: the queries come from the decoder, the keys and the values from the encoder.
#
# ![A table of weights with four rows and six columns. The rows are the decoder's tokens start, 2, 4, end: the queries. The columns are the encoder's tokens 2, 7, plus, 1, 5 and one more: keys and values. In the first row .1 stands under the 7 and .9 under the 5, both framed. A row sums to 1. The weights of one head have shape target_length by source_length.](picture:cross_attention_table)
#
# $$\text{CrossAttention}(D, E) = \text{MultiHeadAttention}(\text{queries} = D,\ \text{keys} = E,\ \text{values} = E)$$
#
# In small numbers: at the start mark the decoder needs the last digits, 7 and 5. With weights 0.1 and 0.9 it gets 0.1 times the value of the 7
# plus 0.9 times the value of the 5. Each row is one such mixture.
#
# The two lengths differ as a rule. The output has a row for each *query*, so it is as long as the target.
#
# <details><summary>Hint 1</summary>
#
# Your `MultiHeadAttention` takes queries, keys and values apart. Why was that?
# </details>
# <details><summary>Hint 2</summary>
#
# Keep one `MultiHeadAttention` inside, or inherit from it. Which of the two inputs goes where? One of them goes in twice.
# </details>
# <details><summary>Hint 3</summary>
#
# `self.attention(decoder_states, ?, ?, encoder_mask)` returns output and weights, and so do you.
# </details>
#
# Docs: [scaled_dot_product_attention](https://pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html),
# PyTorch's own: its queries and keys may have different lengths too.

# %% exercise="CrossAttention"

# %% [markdown]
# **What you made.** A look from one row at another. Three decoder rows, five encoder rows, the last two of them padding.
#
# **If we shuffle the encoder's rows, and the mask with them, does the output change?** Guess yes or no.

# %%
guess_shuffled = None  # "yes" or "no"

torch.manual_seed(0)
looking = CrossAttention(d_model=16, num_heads=2)
asking, asked = torch.randn(1, 3, 16), torch.randn(1, 5, 16)
allowed = padding_mask(torch.tensor([[3, 8, 11, 0, 0]]))  # (1, 1, 1, 5)
with torch.no_grad():
    looked, weights = looking(asking, asked, allowed)
    order = torch.tensor([4, 2, 0, 3, 1])
    shuffled, _ = looking(asking, asked[:, order], allowed[..., order])
moved = (looked - shuffled).abs().max().item()
print("output", tuple(looked.shape), "weights", tuple(weights.shape))
print("your guess:", guess_shuffled, f" the output moved by {moved:.1e}")
plots.heatmap(
    weights[0, 0],
    ["asks 0", "asks 1", "asks 2"],
    ["a", "b", "c", "pad", "pad"],
    title="Head 0: padding gets weight 0",
    low=0,
    high=1,
)

# %% [markdown]
# **What you should see**
#
# - Shuffling the encoder's rows moves no output by more than 0.00001. <!-- claim: order_is_not_seen -->
#
# Attention mixes values, and a mixture has no order. If a decoder is to know what stood *where*, the encoder states must say so
# themselves. They do: the encoder adds positions to its tokens.
#
# ### Exercise: `DecoderBlock` · core · difficulty 3 · 20 minutes
#
# An encoder block has two steps: attention, then feed-forward. A decoder block has three. Between the two it looks at the encoder.
#
# ![x runs through three boxes: norm1 and self-attention, which looks at its own row; norm2 and cross-attention, framed, which looks at the encoder; norm3 and feed-forward, which thinks about each token. A way leads around each box and is added behind it. The encoder states come into the middle box from below, as they are.](picture:decoder_block)
#
# $$x \leftarrow x + \text{SelfAttention}(\text{norm}_1(x)) \qquad x \leftarrow x + \text{CrossAttention}(\text{norm}_2(x), E) \qquad x \leftarrow x + \text{FeedForward}(\text{norm}_3(x))$$
#
# In shapes: x is `(batch, target_length, d_model)` and stays so. E is `(batch, source_length, d_model)`.
# The encoder has its own norm at its end, so E is used as it comes.
#
# Two masks arrive. The self mask is about the target, the encoder mask about the source. They have different widths.
#
# <details><summary>Hint 1</summary>
#
# Which mask belongs to which attention? And how many norms do you need, if none serves twice?
# </details>
# <details><summary>Hint 2</summary>
#
# Write it as your `EncoderBlock`, with one step more in the middle. Both attentions return a pair: you need its first half.
# </details>
# <details><summary>Hint 3</summary>
#
# The middle step adds `self.cross_attention(self.norm2(x), ?, ?)[0]` to x. The other two have the same form.
# </details>
#
# Docs: [nn.Module](https://pytorch.org/docs/stable/generated/torch.nn.Module.html) ·
# [nn.TransformerDecoderLayer](https://pytorch.org/docs/stable/generated/torch.nn.TransformerDecoderLayer.html), PyTorch's own, for comparison.

# %% exercise="DecoderBlock"

# %% [markdown]
# **What you made.** A place where target and source meet. Which target row hears of which source row? We nudge one encoder state
# after the other, and see how far each row of the result moves.

# %%
torch.manual_seed(0)
block = DecoderBlock(d_model=16, num_heads=2, d_ff=32)
x, states = torch.randn(1, 4, 16), torch.randn(1, 6, 16)
heard = torch.zeros(4, 6)
with torch.no_grad():
    before = block(x, states)  # (1, 4, 16)
    for place in range(6):
        nudged = states.clone()
        nudged[0, place] += 1.0
        heard[:, place] = (block(x, nudged) - before)[0].abs().amax(dim=-1)
print(
    "parameters:",
    lab.parameters_of(block),
    "against",
    lab.parameters_of(EncoderBlock(16, 2, 32)),
    "of an encoder block",
)
plots.heatmap(
    heard, [f"target {i}" for i in range(4)], [f"source {j}" for j in range(6)], title="How far each target row moves"
)

# %% [markdown]
# Every cell is above 0: each target row hears of each source row. An untrained block has no favourites that mean anything.
# Training will decide which ones matter.
#
# ### Exercise: `Seq2SeqTransformer` · core · difficulty 4 · 35 minutes
#
# Now the whole machine. It is long, and there is nothing in it that you have not built.
#
# ![Two stacks. On the left, the source of shape (batch, source_length) goes up through embedding and positions, encoder blocks and encoder_norm to encoder states of shape (batch, source_length, d_model). A dashed line carries them into every decoder block. On the right, the target input of shape (batch, target_length) goes up through embedding and positions, decoder blocks, decoder_norm and a Linear layer to logits of shape (batch, target_length, vocab_size).](picture:two_stacks)
#
# Three methods, so that later lessons can read a source once and write for a long time.
#
# | method | takes | gives |
# |---|---|---|
# | `encode` | source `(batch, source_length)` | states `(batch, source_length, d_model)` |
# | `decode` | target input, states, source, mask | logits `(batch, target_length, vocab_size)` |
# | `forward` | source, target input, mask | the same logits |
#
# In small numbers: two sources of 5 ids and two target inputs of 3 ids. States `(2, 5, 64)`, logits `(2, 3, 14)`.
# Why does `decode` want the source again? For its padding mask: the decoder must not look at padding either.
#
# <details><summary>Hint 1</summary>
#
# Which layers does each side need? Which of them can both sides share, and which must know apart where a token stands?
# </details>
# <details><summary>Hint 2</summary>
#
# `encode` is your classifier of lesson 3 without its head. `decode` is the same walk with decoder blocks, each of which gets
# the states and two masks. Use `nn.ModuleList` for the blocks, or their parameters are never learnt.
# </details>
# <details><summary>Hint 3</summary>
#
# In the decoder's loop: `x = block(x, encoder_states, target_mask, padding_mask(source))`. After it: `self.head(self.decoder_norm(x))`.
# </details>
#
# Docs: [nn.Embedding](https://pytorch.org/docs/stable/generated/torch.nn.Embedding.html) ·
# [nn.ModuleList](https://pytorch.org/docs/stable/generated/torch.nn.ModuleList.html) ·
# [nn.Linear](https://pytorch.org/docs/stable/generated/torch.nn.Linear.html).

# %% exercise="Seq2SeqTransformer"

# %% [markdown]
# **What you made.** An encoder and a decoder, put together as in the paper of 2017, in small. Let us follow one batch through it, `27+15` and `4+5`, and look at everything on the way.

# %%
device = best_device()


def fresh_model(vocab_size, seed=0):
    """A new model with one block on each side; the same seed gives the same start."""
    torch.manual_seed(seed)
    model = Seq2SeqTransformer(vocab_size, max_length=16, d_model=64, num_heads=4, d_ff=128, num_layers=1)
    return model.to(device)


model = fresh_model(addition.VOCAB_SIZE)
source, target = writing.tensors([(27, 15), (4, 5)])
target_input = shift_right(target, addition.START_ID)
with torch.no_grad():
    readable = padding_mask(source)
    states = model.encode(source.to(device)).cpu()
    logits = model.decode(target_input.to(device), states.to(device), source.to(device)).cpu()
cross = lab.attention_of(model, CrossAttention, source, target_input)[0]

show = addition.ALPHABET.text
steps = [
    ("source", source, "  ".join(show(row) for row in source)),
    (
        "padding_mask(source)",
        readable,
        "  ".join("".join("01"[int(x)] for x in row.flatten()) for row in readable),
    ),
    ("encoder states", states, "a vector for each source token"),
    ("target", target, "  ".join(show(row) for row in target)),
    ("target input", target_input, "  ".join(show(row) for row in target_input)),
    ("self mask", None, "none: all target tokens see each other"),
    ("cross-attention weights", cross, "a table for each head"),
    ("logits", logits, "a score for each symbol"),
    ("what it says", logits.argmax(-1), "  ".join(show(row) for row in logits.argmax(-1))),
    (
        "loss",
        sequence_cross_entropy(logits, target),
        f"{sequence_cross_entropy(logits, target):.2f}, and log 14 is 2.64",
    ),
]
display(
    pd.DataFrame(
        [(name, "" if tensor is None else str(tuple(tensor.shape)), words) for name, tensor, words in steps],
        columns=["", "shape", "what it holds"],
    )
)
plots.heatmap(
    cross[1, 0],
    list(show(target_input[1])),
    list(show(source[1])),
    title="4+5: who looks at what (head 0)",
    low=0,
    high=1,
)

# %% [markdown]
# The two columns of padding get weight 0. And what the model says is nonsense: it has learnt nothing yet.
#
# One more test of the masks. The same two problems, with five more columns of padding on the source. **Do the answers move?**

# %%
wider = torch.nn.functional.pad(source, (0, 5))
with torch.no_grad():
    moved_by_padding = (model(wider.to(device), target_input.to(device)).cpu() - logits).abs().max().item()
print(f"five more columns of padding move the logits by {moved_by_padding:.1e}")

# %% [markdown]
# **What you should see**
#
# - Five more columns of source padding move no logit by more than 0.00001. <!-- claim: padding_changes_nothing -->
#
# ## Part 3 · Training
#
# ### Did the test data leak?
#
# As in lesson 2 we look before we train. 4,000 problems to learn from, 500 for the test, operands of one to three digits. There are
# a million such problems. **A careless split draws 4,500 and cuts. How many of its 500 test problems stand in the training data too?**

# %%
guess_leaked = None  # a number from 0 to 500

careless = addition.draw_with_repeats(seed=0, count=4500)
leaked = addition.shared_pairs(careless[:4000], careless[4000:])
sums = addition.addition_task(seed=0)
print("your guess:", guess_leaked)
plots.bars(
    {"careless split": leaked, "our split": addition.shared_pairs(sums.train, sums.test)},
    title="Test problems that also stand in the training data, of 500",
)

# %% [markdown]
# **What you should see**
#
# - In the careless split 80 to 125 of the 500 test problems are training problems as well. <!-- claim: careless_split -->
# - In ours none is, neither for sums nor for letters. <!-- claim: clean_split -->
#
# Lengths are drawn first, so a ninth of all problems adds two one-digit numbers, and there are only 100 of those. We train on
# the clean split. Whatever the model gets right there, it has not seen.
#
# ### Baselines
#
# Three shortcuts. One reads no source: at each place it says the commonest token of the training data. The second adds each
# column by itself and never carries. The third lets a column carry into the next one, and never passes a carry on.

# %%
sums_train, sums_test = writing.tensors(sums.train, 7, 5), writing.tensors(sums.test, 7, 5)
commonest = lab.commonest_by_place(sums_train[1], sums_test[1])
commonest_tokens = token_accuracy(lab.sure_of(commonest, addition.VOCAB_SIZE), sums_test[1]).item()
baselines = {
    "commonest token at each place": exact_match(commonest, sums_test[1]).item(),
    **addition.baseline_exact(sums.test),
}
print(f"the commonest token is right at {commonest_tokens:.0%} of the places")
plots.bars(baselines, title="Sums that a shortcut gets wholly right", x_label="exact match")

# %% [markdown]
# **What you should see**
#
# - The commonest token at each place is right on 27 to 35 % of the tokens, and on fewer than 2 % of the sums. <!-- claim: commonest_tokens -->
# - Without any carry 30 to 45 % of the sums come out right. <!-- claim: no_carries -->
# - A carry from the neighbour alone, never passed on, is enough for more than 90 %. <!-- claim: one_carry_is_enough -->
#
# The last one is worth a note. On short random sums, long carries are so rare that one can do without. Lesson 5 comes back to it.
#
# ### Teacher forcing
#
# ![Two columns of three steps. With a teacher the decoder reads start and says 2, reads start, 2 and says 5, which is wrong; then it reads start, 2, 4 and says end: the 5 was corrected. On its own it reads start, 2, 5 in the third step, and what it says is a question mark: the 5 stays.](picture:teacher_forcing)
#
# On the left is how we train. The decoder reads the right tokens, whatever it said itself, and all places learn at once.
# On the right is how it will be used, some day: then it reads what it wrote.
#
# We train for 300 steps of 64 problems. **Which share of the 500 test sums will be wholly right, with a teacher?** Guess.

# %%
guess_exact = None  # a share

adder = fresh_model(addition.VOCAB_SIZE)
test_losses = []


def note_test_loss(step):
    test_losses.append(
        sequence_cross_entropy(predict(adder, *sums_test, start_id=addition.START_ID), sums_test[1]).item()
    )


losses = fit(
    adder,
    *sums_train,
    start_id=addition.START_ID,
    steps=300,
    learning_rate=0.003,
    shift=shift_right,
    loss_function=sequence_cross_entropy,
    watch=note_test_loss,
    watch_every=20,
)
sums_logits = predict(adder, *sums_test, start_id=addition.START_ID, shift=shift_right)
sums_exact = exact_match(sums_logits.argmax(-1), sums_test[1]).item()
print(f"your guess: {guess_exact}, it is: {sums_exact:.3f}")
print(
    f"tokens right {token_accuracy(sums_logits, sums_test[1]):.4f}, perplexity {perplexity(sums_logits, sums_test[1]):.3f}"
)
plots.curves(
    {"training": losses[::20], "test": test_losses},
    x=range(0, 301, 20),
    title="Loss while it learns to add",
    log_y=True,
    levels={"14 even chances": even_loss},
)

# %%
said = sums_logits.argmax(-1)
table = lab.answers_table(addition.ALPHABET, sums_test[0], sums_test[1], said)
print("right:", (table[""] == "right").sum(), " wrong:", (table[""] == "wrong").sum())
pd.concat([table[table[""] == "wrong"].head(4), table[table[""] == "right"].head(8)])

# %% [markdown]
# **What you should see**
#
# - The first loss is within 0.5 of log 14, which is 2.64. <!-- claim: it_begins_at_chance -->
# - After 300 steps more than 99 % of the test sums are wholly right, under teacher forcing. <!-- claim: sums_are_perfect -->
# - The perplexity is below 1.05: it hardly hesitates at all. <!-- claim: hardly_hesitates -->
#
# A few seconds of training, and a perfect adder. None of these sums was in the training data. Now the letters, with the same code.

# %%
reverser = fresh_model(reversal.VOCAB_SIZE)
letter_losses = fit(
    reverser,
    *letters_train,
    start_id=reversal.START_ID,
    steps=300,
    learning_rate=0.003,
    shift=shift_right,
    loss_function=sequence_cross_entropy,
)
letters_logits = predict(reverser, *letters_test, start_id=reversal.START_ID, shift=shift_right)
letters_exact = exact_match(letters_logits.argmax(-1), letters_test[1]).item()
print(f"tokens right {token_accuracy(letters_logits, letters_test[1]):.4f}, rows right {letters_exact:.3f}")
table = lab.answers_table(reversal.ALPHABET, *letters_test, letters_logits.argmax(-1))
pd.concat([table[table[""] == "wrong"].head(4), table[table[""] == "right"].head(6)])

# %% [markdown]
# **What you should see**
#
# - More than 99.8 % of the test letters are right, under teacher forcing. <!-- claim: letters_are_perfect -->
#
# ### Longer than anything it has seen
#
# All rows of letters had 1 to 10 letters. What about 11? The next plot will grow through lessons 4 to 7: one line for each new idea.
# **At which length does the line break?**

# %%
guess_break = None  # the first length with less than half of the rows right


def with_a_teacher(source, target):
    return predict(reverser, source, target, start_id=reversal.START_ID, shift=shift_right).argmax(-1)


lines = {"with a teacher": exact_by_length(with_a_teacher, exact_match, exclude=letters.train)}
breaks = next((length for length, share in lines["with a teacher"].items() if share < 0.5), None)
print("your guess:", guess_break, " it is:", breaks)
plots.by_length(lines, trained=TRAINED, x_label="letters")

# %% [markdown]
# **What you should see**
#
# - At every length from 4 to 10 at least 97 % of the rows are right. <!-- claim: inside_the_range -->
# - From 11 letters on, fewer than 5 % are. <!-- claim: beyond_the_range -->
#
# A cliff between 10 and 11. The positions beyond have a row in the table of learned positions, but no training step ever touched it.
# Lesson 6 asks whether other positions do better.

# %% [markdown]
# ## The bug clinic
#
# A colleague wrote a decoder block too. Read it. Is anything wrong?


# %%
class ColleaguesBlock(DecoderBlock):
    """Looks at its own row, then at the encoder, then thinks about each token."""

    def forward(self, x, encoder_states, self_mask=None, encoder_mask=None):
        row = self.norm1(x)
        x = x + self.self_attention(row, row, row, self_mask)[0]
        row = self.norm2(x)
        x = x + self.cross_attention(row, row)[0]
        return x + self.feed_forward(self.norm3(x))


def colleagues_model(seed=0):
    """Your model, with the colleague's blocks in the place of yours."""
    model = fresh_model(addition.VOCAB_SIZE, seed)
    for module in model.modules():
        if isinstance(module, DecoderBlock):
            module.__class__ = ColleaguesBlock
    return model


# %% [markdown]
# Look at the line with `cross_attention`. The keys and values are the decoder's own. The argument `encoder_states` comes in
# and is never used. So this model can't know which sum it is asked for.
#
# No error is raised, since all shapes fit. We train it as we trained yours.
# **Which share of the test sums will it get right, with a teacher?** It never sees a single problem.

# %%
guess_deaf = None  # a share

deaf = colleagues_model()
fit(
    deaf,
    *sums_train,
    start_id=addition.START_ID,
    steps=300,
    learning_rate=0.003,
    shift=shift_right,
    loss_function=sequence_cross_entropy,
)
deaf_logits = predict(deaf, *sums_test, start_id=addition.START_ID, shift=shift_right)
deaf_exact = exact_match(deaf_logits.argmax(-1), sums_test[1]).item()
print(f"your guess: {guess_deaf}")
plots.bars(
    {"your model": sums_exact, "the colleague's": deaf_exact, "no carries": baselines["no carries"]},
    title="Test sums wholly right, with a teacher",
    x_label="exact match",
)

# %% [markdown]
# **What you should see**
#
# - The colleague's model gets more than 99 % of the test sums right too, without ever reading one. <!-- claim: deaf_is_perfect -->
#
# Read that again. It adds numbers that it has not seen. Something is badly wrong with our *measure*, and we will find it.
# Keep the question. For now: the score does not tell a model that listens from one that is deaf. So we need a test that does.
#
# ### Exercise: `encoder_influence` · core · difficulty 3 · 20 minutes
#
# Write the test that would have caught it. Change the source and nothing else. Do the answers move?
#
# ![The source 27+15 goes through the model to logits. Below, the source 28+15, with the changed digit framed, goes through the same model, with the same target input start, 2, 4, to logits. The question: what is the largest difference?](picture:changed_source)
#
# $$\text{influence} = \max\ \big|\ \text{model}(\text{changed source}, \text{target input}) - \text{model}(\text{source}, \text{target input})\ \big|$$
#
# | model | influence |
# |---|---|
# | never reads the source | exactly 0 |
# | reads one source token, for one logit | above 0, even in a batch of one |
#
# In small numbers: a model says the logit 5 at some place for `27+15` and 4.2 for `28+15`, and all else is equal.
# Then the influence is at least 0.8.
#
# Three traps. One changed place is not enough: the model may listen to another. One new id may not be enough: the model may treat the old
# and the new alike. And a source that comes back in another order is no change where all rows are equal.
#
# <details><summary>Hint 1</summary>
#
# Which places of the source could matter? How can you be sure to have tried each of them?
# </details>
# <details><summary>Hint 2</summary>
#
# Walk over the columns of the source. In a copy, replace one column's ids by others, between 1 and the highest id you can see, and leave
# padding as it is. Keep the largest difference of all.
# </details>
# <details><summary>Hint 3</summary>
#
# `changed = source.clone()`, then `changed[:, place] = ...`; ids move on in a circle with `% highest + 1`. The number is
# `(model(changed, target_input) - logits).abs().max().item()`, under `torch.no_grad()`.
# </details>
#
# Docs: [torch.clone](https://pytorch.org/docs/stable/generated/torch.clone.html) ·
# [torch.where](https://pytorch.org/docs/stable/generated/torch.where.html) ·
# [torch.no_grad](https://pytorch.org/docs/stable/generated/torch.no_grad.html).

# %% exercise="encoder_influence"

# %% [markdown]
# **What you made.** A hearing test. Four patients: your model before training, the colleague's before and after, and a model whose encoder
# states are cut off from learning, but not from listening.


# %%
class Frozen(nn.Module):
    """Your model, with an encoder that is listened to and never trained."""

    def __init__(self):
        super().__init__()
        self.inner = fresh_model(addition.VOCAB_SIZE)

    def forward(self, source, target_input, target_mask=None):
        return self.inner.decode(target_input, self.inner.encode(source).detach(), source, target_mask)


asked = sums_test[0][:50].to(device)
shown = shift_right(sums_test[1][:50], addition.START_ID).to(device)
patients = {
    "yours, untrained": fresh_model(addition.VOCAB_SIZE),
    "the colleague's, untrained": colleagues_model(),
    "the colleague's, trained": deaf,
    "a frozen encoder": Frozen(),
}
rows = []
for name, patient in patients.items():
    patient.zero_grad()
    sequence_cross_entropy(patient(asked, shown), sums_test[1][:50].to(device)).backward()
    silent = sum(parameter.grad is None for parameter in patient.parameters())
    influence = encoder_influence(patient, asked, shown)
    rows.append((name, influence, "yes" if influence > 0 else "no", silent))
pd.DataFrame(rows, columns=["model", "encoder influence", "does it listen?", "parameters without a gradient"]).round(3)

# %% [markdown]
# **What you should see**
#
# - The colleague's model has an influence of exactly 0, trained or not. <!-- claim: deaf_has_no_influence -->
# - Some of its parameters get no gradient at all: those of the encoder. <!-- claim: deaf_has_no_gradient -->
#
# A gradient that is `None` is a good hint. But look at the frozen encoder: it is listened to, and some of its parameters get no
# gradient either. Only changing the source tells the two apart.

# %% [markdown]
# ## The cliff
#
# Your adder scored 1.00. Time to use it. There is no teacher in real use: nobody knows the answer yet. So the
# model starts with `^`, says a token, reads it, says the next, until it says `$`. The course brings such a generator:
# `generate`, a short loop in `course/seq2seq_fitting.py`. You will write your own in lesson 7.
#
# **Which share of the same 500 sums will be right now?** Type a guess before you run the cell.

# %%
guess_alone = None  # a share

written = generate(adder, sums_test[0], start_id=addition.START_ID, end_id=addition.END_ID, max_length=5)
alone = exact_match(written, sums_test[1]).item()
letters_written = generate(reverser, letters_test[0], start_id=reversal.START_ID, end_id=reversal.END_ID, max_length=11)
letters_alone = exact_match(letters_written, letters_test[1]).item()
print("your guess:", guess_alone)
display(lab.answers_table(addition.ALPHABET, sums_test[0], sums_test[1], written).head(6))
display(lab.answers_table(reversal.ALPHABET, *letters_test, letters_written).head(4))
print("different answers to 500 sums:", len({tuple(row) for row in written.tolist()}))
plots.bars(
    {
        "sums, with a teacher": sums_exact,
        "sums, on its own": alone,
        "letters, with a teacher": letters_exact,
        "letters, on its own": letters_alone,
    },
    title="The same models, the same test data",
    x_label="exact match",
)

# %% [markdown]
# **What you should see**
#
# - On its own, either model gets fewer than 2 % of the answers right. <!-- claim: the_cliff -->
# - To 500 different sums the adder gives fewer than 20 different answers. <!-- claim: few_answers -->
#
# From perfect to nothing. And not a noisy nothing: it says the same few things, whatever it is asked. As if it did not listen.
# Does it? You have a hearing test. And with a small trick it can also test the other ear:
# exchange the roles of source and target input, and it measures how far the answers move when the *target input* changes.

# %%
heard_source = encoder_influence(adder, asked, shown)
heard_target = lab.target_influence(encoder_influence, adder, asked, shown)
plots.bars(
    {"a change of the source": heard_source, "a change of the target input": heard_target},
    title="How far the trained adder's answers move",
    x_label="largest change of a logit",
)

# %% [markdown]
# **What you should see**
#
# - A change of the source moves the trained adder's answers less than a third as far as a change of the target input. <!-- claim: the_encoder_is_quiet -->
#
# The encoder is not cut off, as the colleague's was. It is strangely quiet. The answer hangs on something else.
#
# Here is the growing plot with its second line. Keep it in mind; lesson 5 begins with it.


# %%
def on_its_own(source, target):
    return generate(reverser, source, start_id=reversal.START_ID, end_id=reversal.END_ID, max_length=target.shape[1])


lines["on its own"] = exact_by_length(on_its_own, exact_match, exclude=letters.train)
plots.by_length(lines, trained=TRAINED, x_label="letters")

# %% [markdown]
# **What you should see**
#
# - On its own the model gets fewer than 5 % right at every length, trained or not. <!-- claim: alone_at_no_length -->
#
# What do you think is going on? Collect what you know before you turn the page.
#
# 1. With a teacher everything is right, on data that was never seen.
# 2. A model that never reads the problem gets everything right too.
# 3. Without a teacher nothing is right.
#
# There is one explanation for all three.

# %% [markdown]
# ## Explain it
#
# A friend shows you a translation model. "It is deaf to its source for some reason, my influence test says 0. But the loss is
# fine, so I'll ship it."
#
# Answer in four or five sentences, in your own words. What may be wrong in the decoder's code, why does no error show it, why can the loss
# be fine, and what would you look at before anyone uses the model?

# %% [markdown] explain=true
# An influence of 0 says that no change of the source changes any answer, so the decoder never uses the encoder states. Probably
# its cross-attention takes keys and values from the decoder itself. No error shows it, because decoder states have a width that fits
# as well, and the loss only compares answers with targets. The loss was measured under teacher forcing, where the decoder is handed the right
# tokens, so it says what the model can do with the answer's help. I would correct the keys and values, check that the encoder's parameters get
# gradients and that the influence is above 0, and then let the model write on its own and measure exact match.

# %% [markdown]
# ## How good were your guesses?
#
# Here are your predictions beside what happened. A wrong guess is worth more than none: it shows where to look.

# %%
board = [
    ("loss of a model that knows nothing", guess_untrained_loss, round(even_loss, 2)),
    ("share right for padding alone, padding counted", guess_padding, round(flattered, 2)),
    ("rows of 11 right, with tokens at 0.9", guess_rows, round(rows_at_eleven, 2)),
    ("does shuffling the encoder's rows matter?", guess_shuffled, "yes" if moved > 1e-4 else "no"),
    ("careless test problems that leaked", guess_leaked, leaked),
    ("test sums right, with a teacher", guess_exact, round(sums_exact, 2)),
    ("length at which the line breaks", guess_break, breaks),
    ("the deaf model's share of sums", guess_deaf, round(deaf_exact, 2)),
    ("test sums right, on its own", guess_alone, round(alone, 2)),
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
# **1.** In cross-attention, what comes from the decoder and what from the encoder, and which shape have the weights?
#
# <details><summary>Answer</summary>
#
# The queries come from the decoder, keys and values from the encoder. Each head has weights `(target_length, source_length)`.
# </details>
#
# **2.** What is the decoder shown under teacher forcing, at the place where it is to say token i?
#
# <details><summary>Answer</summary>
#
# The target shifted right by one: the start mark, then the right tokens. At the place of token i stands token i - 1.
# </details>
#
# **3.** Why must padding be left out of loss *and* accuracy?
#
# <details><summary>Answer</summary>
#
# Padding is easy to predict and means nothing. Counted, it lowers the loss and raises the accuracy of a model that says nothing:
# by a third of all places, in our letters.
# </details>
#
# ## Things to try
#
# - Give `sequence_cross_entropy` a mean for each row first, then a mean of the rows. Which tokens weigh more than before?
# - Train with `addition.Writing(least_first=False)`. Does the score with a teacher change? Do you trust it?
# - Train the adder for 1,000 steps. Does the encoder become louder or quieter?
# - Hand the trained adder the sources of *other* problems, with the right target inputs. How many answers are still right?
# - Change one letter of a reversal's source and look at `encoder_influence` for each place of the source by itself.
#
# ## Glossary
#
# | word | meaning |
# |---|---|
# | cross-attention | attention with queries from the decoder, keys and values from the encoder |
# | cross-entropy | the mean surprise at the right token: minus the logarithm of its chance |
# | decoder | the stack that writes the target |
# | encoder | the stack that reads the source |
# | end mark | the token that says: the answer is complete |
# | exact match | the share of rows without any wrong token |
# | generate | write token by token, each from what was written before |
# | influence | how far the answers move when one input changes and nothing else |
# | perplexity | e to the loss: between how many symbols the model hesitates |
# | source, target | the row that is read, the row that is to be written |
# | start mark | the token before the first one |
# | teacher forcing | showing the decoder the right tokens, whatever it said itself |
# | token accuracy | the share of real tokens that are right |
#
# ## Papers
#
# - Vaswani and others, [Attention Is All You Need](https://arxiv.org/abs/1706.03762), NeurIPS 2017: section 3.1, encoder and decoder stacks; section 3.2.3, the three uses of attention.
# - Sutskever, Vinyals, Le, [Sequence to Sequence Learning with Neural Networks](https://arxiv.org/abs/1409.3215), NeurIPS 2014: section 2, one network reads, one writes; section 3.3, why they reversed the source.
# - Bahdanau, Cho, Bengio, [Neural Machine Translation by Jointly Learning to Align and Translate](https://arxiv.org/abs/1409.0473), ICLR 2015: section 3.1, the first cross-attention; figure 3 draws its weights.
# - Williams, Zipser, "A Learning Algorithm for Continually Running Fully Recurrent Neural Networks", *Neural Computation* 1(2), 1989: where teacher forcing got its name.
# - Jelinek, Mercer, Bahl, Baker, "Perplexity: a measure of the difficulty of speech recognition tasks", *Journal of the Acoustical Society of America* 62(S1), 1977: one page.
#
# In lesson 5 you find the one explanation, and put an end to it.
