# ---
# title: One part reads, one part writes
# topic: cross-attention and the decoder
# group: Attention and the model
# picture: "4+5: who looks at what"
# sittings: [75, 145]
# builds_on: [01_pytorch_basics, 02_tokenizer, 03_classification_transformer]
# gives:
#   - score a row of predictions, by loss, perplexity, tokens right and rows right, without counting padding anywhere
#   - build the attention that leads from a decoder to an encoder, then a decoder block, then the whole model
#   - train it with teacher forcing, and follow one batch through all its masks and shapes
#   - find test data that leaked into the training data, and remove it
#   - catch a decoder that never looks at its encoder
# ---

# %% [markdown]
# TITLE
#
# Your classifier from lesson 3 reads a row of tokens and names one of two classes. But many answers are rows themselves: a sum, a
# translation, a reply. How does a network answer with a row of tokens?
#
# ![The source 27+15 goes into a box labelled encoder, which reads. An arrow leads to a second box, the decoder, which writes, and from there to the target 2, 4: the sum 42, last digit first. What the decoder has written so far goes into it from below: start, 2, 4.](picture:problem_to_answer)
#
# With two stacks. An **encoder** reads the source. A **decoder** writes the target, token by token, and looks at the encoder as
# it goes. Today you build that machine and teach it two things: to add, and to write letters backwards.
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
# **1.** A table of scores has shape `(3, 4)`, and you want one entry from each row. What shape does the index for `gather` along axis 1 have?
#
# <details><summary>Answer</summary>
#
# `(3, 1)`: as many axes as the table, and one entry per row. Today the table gets one more axis.
# See puzzle 4 of [lesson 1](../01_pytorch_basics/01_pytorch_basics.ipynb).
# </details>
#
# **2.** What is the padding id, and what does padding mean?
#
# <details><summary>Answer</summary>
#
# The padding id is 0. Padding fills a row up to a fixed length and means nothing. No symbol has id 0, so the two can't be confused.
# See `pad_sequences` in [lesson 2](../02_tokenizer/02_tokenizer.ipynb).
# </details>
#
# **3.** Your `MultiHeadAttention` gets 4 queries, and 6 keys and values. What shape are the weights of one head?
#
# <details><summary>Answer</summary>
#
# `(4, 6)`: one row per query, one column per key.
# See `MultiHeadAttention` in [lesson 3](../03_classification_transformer/03_classification_transformer.ipynb).
# </details>
#
# Two out of three? Go on. Fewer? Read the linked pages first, then come back.
#
# Run the next cell first: it loads the tools. `plots` draws, and `lab` holds the longer pieces of the experiments.
# `fit` trains a model: a short loop in `transformer_course/seq2seq_fitting.py`, worth reading. All of them come with the course.
# The models of this lesson are small, so everything runs on the CPU, and each training run takes seconds.

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
from transformer_course.attention import MultiHeadAttention, padding_mask
from transformer_course.blocks import EncoderBlock, FeedForward, LayerNorm, LearnedPositionalEmbedding
from transformer_course.lessons.lesson_04 import experiments as lab
from transformer_course.lengths import TRAINED, exact_by_length
from transformer_course.seq2seq_fitting import fit, generate, predict
from transformer_course.tasks import addition, reversal

torch.set_num_threads(1)  # one thread: on a machine that others use too, two can be ten times slower

# %% [markdown]
# ## Part 1 · How good is a row of answers?
#
# ### The data
#
# A problem is a text such as `27+15`. Its answer is the sum, written with **the last digit first**: 42 becomes `24`.
# You add in that order on paper too, from right to left. Whether the order matters is a question for lesson 5.
#
# Every answer ends with a token of its own, the **end** mark `.`, so that the model itself can say when it is done. After it comes
# padding, shown as `_`.

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
# The digit d has id d + 1, the plus sign is 11, the start mark 12 and the end mark 13. Padding is 0. That makes 14 symbols.

# %% [markdown] exercise="shift_right" kind="core" difficulty=1 minutes=10
# How does a decoder learn to write? We show it what came before, and it says what comes next. Nothing comes before the first token, so
# a **start** mark stands there, `^`. What we show it is the target itself, moved one place to the right.
#
# ![Above, the targets 2, 4, end, padding. Below them, what the decoder reads: start, 2, 4, end. An arrow leads from each target to the place one further right. The last target is dropped. The start mark is framed.](picture:shifted_by_one)
#
# $$\text{input}[0] = \text{start} \qquad\qquad \text{input}[i] = \text{target}[i - 1]$$
#
# For example: the target 3, 5, 13, 0 becomes 12, 3, 5, 13. At position 1 the decoder has seen the 3 and should say 5.
#
# <details><summary>Hint 1</summary>
#
# The result is as long as the targets. What comes in on the left, and what has to go?
# </details>
# <details><summary>Hint 2</summary>
#
# Make a column of start ids, one for each row, with the dtype and device of the targets. Put it in front of all columns but the last.
# </details>
# <details><summary>Hint 3</summary>
#
# `targets[:, :-1]` leaves out the last column, `torch.full_like(targets[:, :1], start_id)` is the new one, and `torch.cat` joins along axis 1.
# </details>
#
# Docs: [torch.cat](https://pytorch.org/docs/stable/generated/torch.cat.html) ·
# [torch.full_like](https://pytorch.org/docs/stable/generated/torch.full_like.html).

# %% [markdown]
# **What you've built.** One column per position: on the left of each arrow what the decoder is shown, on the right what it should say.

# %%
target_input = shift_right(target, addition.START_ID)
lab.shown_and_wanted(addition.ALPHABET, source, target_input, target)

# %% [markdown]
# After `.` there is nothing left to say. Those positions are padding, and we have to make sure that they are never
# counted.
#
# Showing a decoder the *right* tokens, whatever it said itself, is called **teacher forcing** (Williams and Zipser, 1989).
# Since nothing here is recurrent, it lets all positions train at once.

# %% [markdown] exercise="sequence_cross_entropy" kind="core" difficulty=3 minutes=15
# At each position the model gives every symbol a probability. The loss asks for one of them only: the probability of the *right* symbol. If it was high,
# there is little surprise. Surprise is minus the logarithm of the probability: 0 for a probability of 1, and large for a small one.
#
# ![A table of three positions and four symbols: padding, 2, 4, end. At the first position the target is 2, with the framed probability 1/2: minus log is 0.69. At the second the target is 4, with the framed probability 1/4: 1.39. The third position is padding and is not counted. The mean of the two is 1.04.](picture:surprise_of_tokens)
#
# $$\text{loss} = \frac{1}{\text{real tokens}} \sum_{\text{real tokens}} -\log p(\text{target})$$
#
# For example: (0.69 + 1.39) / 2 = 1.04. The third position is padding, so it is neither in the sum nor in the count.
# All real tokens of a batch go into *one* mean, so a token in a long row weighs as much as one in a short row.
#
# The model returns logits, not probabilities. `log_softmax` turns them into log probabilities.
#
# <details><summary>Hint 1</summary>
#
# From each position you want one number, the one that belongs to its target. Which puzzle of lesson 1 was that?
# </details>
# <details><summary>Hint 2</summary>
#
# `log_softmax` over the last axis, `gather` at the targets, keep the positions that aren't padding, average, change the sign.
# And what if nothing is left to average?
# </details>
# <details><summary>Hint 3</summary>
#
# `targets.unsqueeze(-1)` is the index for `gather(-1, ...)`, and `targets != pad_id` picks the real tokens.
# `F.cross_entropy` with `ignore_index` works too: it wants the classes on axis 1.
# </details>
#
# Docs: [torch.log_softmax](https://pytorch.org/docs/stable/generated/torch.nn.functional.log_softmax.html) ·
# [torch.gather](https://pytorch.org/docs/stable/generated/torch.gather.html) ·
# [cross_entropy](https://pytorch.org/docs/stable/generated/torch.nn.functional.cross_entropy.html).

# %% [markdown]
# **What you've built.** The loss from the picture, and a look at padding, which has no effect: we scramble the logits there.

# %%
toy = lab.toy_logits()  # (1, 3, 4): the symbols are padding, 2, 4 and the end mark
toy_targets = torch.tensor([[1, 2, 0]])  # (1, 3)
print(f"by hand {(-math.log(1 / 2) - math.log(1 / 4)) / 2:.4f}")
print(f"by you {sequence_cross_entropy(toy, toy_targets):.4f}")
wild = toy.clone()
wild[0, 2] = torch.tensor([-100.0, 0.0, 100.0, 0.0])
print(f"with nonsense at the padded positions {sequence_cross_entropy(wild, toy_targets):.4f}")

# %% [markdown]
# **Now a question.** A model that has learnt nothing gives all 14 symbols the same probability. What is its loss? Type a number.

# %%
guess_untrained_loss = None  # a number

even = torch.zeros(*target.shape, addition.VOCAB_SIZE)
even_loss = sequence_cross_entropy(even, target).item()
print(f"your guess: {guess_untrained_loss}, it is: {even_loss:.2f}")

# %% [markdown]
# <details><summary>Where does that number come from?</summary>
#
# It is log 14, or minus the logarithm of 1/14. 2.64 is what knowing nothing costs. A new model starts near it, and often a little above: it knows nothing, and has opinions.
# </details>

# %% [markdown] exercise="perplexity" kind="core" difficulty=1 minutes=5
# "A loss of 2.64" says little to most people. "It hesitates between 14 symbols" says more. That is **perplexity**: the loss as a number of choices.
#
# ![Three bar charts with the probabilities of four symbols. Sure: one bar of height 1, perplexity 1. Between two: two bars of one half, perplexity 2. Between four: four bars of one quarter, perplexity 4.](picture:hesitating)
#
# $$\text{perplexity} = e^{\text{loss}}$$
#
# For example: the toy's loss was 1.04, and $e^{1.04} = 2.83$. Its two real tokens had probabilities 1/2 and 1/4: 2 and 4 choices.
# 2.83 is their geometric mean, $\sqrt{2 \cdot 4}$.
#
# <details><summary>Hint 1</summary>
#
# Which function of yours does most of the work?
# </details>
# <details><summary>Hint 2</summary>
#
# Take the loss over all real tokens first, then raise e to it, once. The mean of the single tokens' perplexities is a different number.
# </details>
# <details><summary>Hint 3</summary>
#
# One line: the loss, with `pad_id` passed on, and `.exp()`.
# </details>
#
# Docs: [torch.exp](https://pytorch.org/docs/stable/generated/torch.exp.html).

# %% [markdown]
# **What you've built.** Three perplexities: of the toy, of a model that knows nothing, and of one that is sure and right.

# %%
sure = lab.sure_of(target, addition.VOCAB_SIZE)
plots.bars(
    {
        "the toy": float(perplexity(toy, toy_targets)),
        "knows nothing": float(perplexity(even, target)),
        "sure and right": float(perplexity(sure, target)),
    },
    title="Between how many symbols does it hesitate?",
    x_label="perplexity",
)

# %% [markdown] exercise="token_accuracy" kind="core" difficulty=2 minutes=10
# Loss and perplexity ask how sure a model is. **Token accuracy** asks a plainer question: does the right symbol have the highest logit?
#
# ![Two rows of targets: 2, 4, end, padding and 7, end, padding, padding. Predictions: 2, 5, end, 8 and 7, end, padding, 3. The framed ones are right and counted: 2, end, 7 and end. The 5 is wrong; 8, padding and 3 are predicted at padded positions.](picture:padding_is_not_counted)
#
# $$\text{accuracy} = \frac{\text{real tokens that are right}}{\text{real tokens}}$$
#
# For example: four of the five real tokens are right, so the accuracy is 0.8. With padding counted it would be 5 of 8, lower this time. It can just as well be higher.
#
# <details><summary>Hint 1</summary>
#
# Which id does the model predict at each position? And which positions do you ask about?
# </details>
# <details><summary>Hint 2</summary>
#
# Take the `argmax` over the symbols, compare it with the targets, keep the real tokens, and average over all rows together.
# </details>
# <details><summary>Hint 3</summary>
#
# `right[?].to(logits.dtype).mean()`, where `right` is `(batch, length)`. And the same error as in your loss when nothing is real.
# </details>
#
# Docs: [torch.argmax](https://pytorch.org/docs/stable/generated/torch.argmax.html).

# %% [markdown]
# **What you've built.** A measure that padding can't flatter. Let's try.
#
# The second task of this lesson is **reversal**: `abc` in, `cba` out, for rows of 1 to 10 letters. A lazy model predicts padding
# everywhere. **If padding counted, what share of positions would it get right?** Guess.

# %%
guess_padding = None  # a share, such as 0.1

letters = reversal.reversal_task(seed=0)
letters_train = reversal.tensors(letters.train, 10, 11)  # (4000, 10) and (4000, 11)
letters_test = reversal.tensors(letters.test, 10, 11)  # (500, 10) and (500, 11)

flattered = lab.share_of_padding(letters_test[1])
lazy = lab.sure_of(torch.zeros_like(letters_test[1]), reversal.VOCAB_SIZE)
honest = float(token_accuracy(lazy, letters_test[1]))
print("your guess:", guess_padding)
lab.draw_lazy(flattered, honest, chance=1 / reversal.VOCAB_SIZE)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - If padding counts, predicting nothing is right at about a third of the positions (30 to 33%, depending on the seed). <!-- claim: padding_flatters -->
# - Your `token_accuracy` gives it 0. <!-- claim: padding_earns_nothing -->
#
# A third of the marks for an empty page. Whenever you read an accuracy, ask whether padding is in it.
#
# </details>

# %% [markdown] exercise="exact_match" kind="core" difficulty=2 minutes=10
# A sum with one wrong digit is a wrong sum. So the strictest measure asks for whole rows. It takes ids rather than logits, since some
# predictions will soon be written token by token.
#
# ![The same two rows, judged as wholes. The first has one wrong token: no. In the second all real tokens are right: yes. Exact match: 1 of 2 rows.](picture:exact_rows)
#
# $$\text{exact match} = \frac{\text{rows in which every real token is right}}{\text{rows}}$$
#
# For example: one row of two, 0.5. Predictions at padded positions don't matter. And a prediction may be narrower or wider than
# the target: missing columns count as padding, extra ones are ignored.
#
# <details><summary>Hint 1</summary>
#
# A position is fine in two cases. Which two?
# </details>
# <details><summary>Hint 2</summary>
#
# First bring the predictions to the width of the targets. A position is fine when it is right, or when the target is padding.
# A row is right when all its positions are fine.
# </details>
# <details><summary>Hint 3</summary>
#
# `F.pad(predictions, (0, missing), value=pad_id)` widens, `|` is "or", and `.all(dim=1)` asks about a whole row.
# </details>
#
# Docs: [torch.nn.functional.pad](https://pytorch.org/docs/stable/generated/torch.nn.functional.pad.html) ·
# [torch.all](https://pytorch.org/docs/stable/generated/torch.all.html).

# %% [markdown]
# **What you've built.** The measure that counts in the end. How far is it from token accuracy? Say a model gets each token right with
# probability 0.9, independently of the others. **What share of rows with 11 tokens does it get right?**

# %%
guess_rows = None  # a share

shares = {"tokens right": [], "rows right": []}
for row_length in range(1, 12):
    said, wanted = lab.right_now_and_then(0.9, rows=20_000, length=row_length)
    logits = lab.sure_of(said, vocab_size=3)
    shares["tokens right"].append(float(token_accuracy(logits, wanted)))
    shares["rows right"].append(float(exact_match(said, wanted)))
rows_at_eleven = shares["rows right"][-1]
print(f"your guess: {guess_rows}, it is: {rows_at_eleven:.2f}")
lab.draw_by_row_length(shares, title="90% of the tokens are right")

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - Of rows with 11 tokens, only 30 to 33% are right. 0.9 to the power of 11 is 0.31. <!-- claim: rows_are_stricter -->
#
# So "90% of tokens" sounds better than it is. From here on we look at both.
#
# </details>
#
# ## Time for a break
#
# You have the four measures that sequence models are judged by. After the break you build the model.
#
# Before you go, a question to take with you. In training, we show the decoder the right tokens. Who shows them to it afterwards?

# %% [markdown]
# ## Part 2 · The decoder

# %% [markdown] exercise="CrossAttention" kind="core" difficulty=2 minutes=15
# In lesson 3 every word asked the words of its own row. Now a word of the *answer* asks the words of the *question*.
# That is **cross-attention**: the queries come from the decoder, the keys and the values from the encoder.
#
# ![A table of weights with four rows and five columns. The rows are the decoder's tokens start, 2, 4, end: the queries. The columns are the encoder's tokens 2, 7, plus, 1, 5: keys and values. In the first row, .1 under the 7 and .9 under the 5 are framed. Each row sums to 1. The weights of one head have shape target_length by source_length.](picture:cross_attention_table)
#
# $$\text{CrossAttention}(D, E) = \text{MultiHeadAttention}(\text{queries} = D,\ \text{keys} = E,\ \text{values} = E)$$
#
# In small numbers: at the start mark the decoder needs the last digits, 7 and 5. With weights 0.1 and 0.9 it gets 0.1 times the value of the 7
# plus 0.9 times the value of the 5. Each row is one such mixture.
#
# The two lengths usually differ. The output has one vector per *query*, so it is as long as the target.
#
# <details><summary>Hint 1</summary>
#
# Your `MultiHeadAttention` takes queries, keys and values separately. Why did we bother?
# </details>
# <details><summary>Hint 2</summary>
#
# Keep a `MultiHeadAttention` inside, or inherit from it: both are fine. Which of the two inputs goes where? One of them goes in twice.
# </details>
# <details><summary>Hint 3</summary>
#
# With a `MultiHeadAttention` in `self.attention`: `self.attention(decoder_states, ?, ?, encoder_mask)` returns output and weights, and so do you.
# </details>
#
# Docs: [scaled_dot_product_attention](https://pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html) is
# PyTorch's own; its queries and keys may differ in length too.

# %% [markdown]
# **What you've built.** One sequence looks at another: three decoder positions query five encoder positions, the last
# two of which are padding.

# %%
torch.manual_seed(0)
looking = CrossAttention(16, 2)  # d_model, num_heads
asking, asked = torch.randn(1, 3, 16), torch.randn(1, 5, 16)
allowed = padding_mask(torch.tensor([[3, 8, 11, 0, 0]]))  # (1, 1, 1, 5)
with torch.no_grad():
    looked, weights = looking(asking, asked, allowed)
print("output", tuple(looked.shape), "weights", tuple(weights.shape))
asks, is_asked = ["asks 0", "asks 1", "asks 2"], ["a", "b", "c", "pad", "pad"]
plots.heatmap(weights[0, 0], asks, is_asked, title="Head 0: padding gets weight 0", low=0, high=1)

# %% [markdown]
# **If we shuffle the encoder's positions, and the mask with them, does the output change?** Guess yes or no.

# %%
guess_shuffled = None  # "yes" or "no"

order = torch.tensor([4, 2, 0, 3, 1])
with torch.no_grad():
    shuffled, _ = looking(asking, asked[:, order], allowed[..., order])
moved = (looked - shuffled).abs().max().item()
print("your guess:", guess_shuffled, f" the output moved by {moved:.1e}")

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - Shuffling the encoder's positions moves no output by more than 0.00001, which is rounding. <!-- claim: order_is_not_seen -->
#
# Attention mixes values, and a mixture has no order. If the decoder is to know what stood *where*, the encoder states have to say so
# themselves. They do: the encoder adds positions to its tokens.
#
# </details>

# %% [markdown] exercise="DecoderBlock" kind="core" difficulty=3 minutes=20
# An encoder block has two steps: attention, then feed-forward. A decoder block has three. Between the two, it looks at the encoder.
#
# ![x runs through three boxes: norm1 and self-attention, which looks at its own row; norm2 and cross-attention, framed, which looks at the encoder; norm3 and feed-forward, which works on each token. A residual connection leads around each box and is added after it. The encoder states enter the middle box from below, unchanged.](picture:decoder_block)
#
# $$x \leftarrow x + \text{SelfAttention}(\text{norm}_1(x)) \qquad x \leftarrow x + \text{CrossAttention}(\text{norm}_2(x), E) \qquad x \leftarrow x + \text{FeedForward}(\text{norm}_3(x))$$
#
# x is the **residual stream** of lesson 3: each step reads it, and adds to it.
#
# In shapes: x is `(batch, target_length, d_model)` and stays that way. E is `(batch, source_length, d_model)`.
# The encoder normalises its states at the end, so the block uses E as it is.
#
# Two masks arrive. The self mask is about the target, the encoder mask about the source. They may differ in width.
#
# <details><summary>Hint 1</summary>
#
# Which mask belongs to which attention? And how many norms do you need, if none is used twice?
# </details>
# <details><summary>Hint 2</summary>
#
# Write it like your `EncoderBlock`, with one more step in the middle. Both attentions return a pair, and you need the first half.
# </details>
# <details><summary>Hint 3</summary>
#
# The middle step adds `self.cross_attention(self.norm2(x), ?, ?)[0]` to x. The other two have the same form.
# </details>
#
# Docs: [nn.Module](https://pytorch.org/docs/stable/generated/torch.nn.Module.html) ·
# [nn.TransformerDecoderLayer](https://pytorch.org/docs/stable/generated/torch.nn.TransformerDecoderLayer.html), PyTorch's own, for comparison.

# %% [markdown]
# **What you've built.** The place where target and source meet. What does the new step cost? We count the numbers that a block learns.

# %%
decoder_block = lab.parameters_of(DecoderBlock(64, 4, 128))  # d_model, num_heads, d_ff
encoder_block = lab.parameters_of(EncoderBlock(64, 4, 128))
cross_and_norm = lab.parameters_of(CrossAttention(64, 4)) + lab.parameters_of(LayerNorm(64))
print(f"encoder block {encoder_block:,}, decoder block {decoder_block:,}")
print(f"the difference is {decoder_block - encoder_block:,}; cross-attention and its norm: {cross_and_norm:,}")

# %% [markdown] exercise="Seq2SeqTransformer" kind="core" difficulty=4 minutes=35
# Now the whole machine. It is long, and there is nothing in it that you haven't built.
#
# ![Two stacks. On the left, the source of shape (batch, source_length) goes up through embedding and positions, encoder blocks and encoder_norm to encoder states of shape (batch, source_length, d_model). A dashed line carries them into every decoder block. On the right, the target input of shape (batch, target_length) goes up through embedding and positions, decoder blocks, decoder_norm and a Linear layer to logits of shape (batch, target_length, vocab_size).](picture:two_stacks)
#
# It has three methods, so that later lessons can read a source once and then write for as long as they like.
#
# | method | takes | returns |
# |---|---|---|
# | `encode` | source `(batch, source_length)` | states `(batch, source_length, d_model)` |
# | `decode` | target input, states, source, mask | logits `(batch, target_length, vocab_size)` |
# | `forward` | source, target input, mask | the same logits |
#
# In small numbers: two sources of 5 ids and two target inputs of 3 ids give states `(2, 5, 64)` and logits `(2, 3, 14)`.
# Why does `decode` want the source again? For its padding mask: the decoder must not look at padding either.
#
# <details><summary>Hint 1</summary>
#
# Which layers does each side need? Which of them could the two sides share?
# </details>
# <details><summary>Hint 2</summary>
#
# `encode` is your classifier of lesson 3 without its head. `decode` is the same walk with decoder blocks, and each of them gets
# the states and two masks. Use `nn.ModuleList` for the blocks: in a plain list their parameters are never found, and never trained.
# </details>
# <details><summary>Hint 3</summary>
#
# In the decoder's loop: `x = block(x, encoder_states, ?, ?)`. The first mask was passed in, the second you make from the source.
# After the loop: `decoder_norm`, then the Linear layer.
# </details>
#
# Docs: [nn.Embedding](https://pytorch.org/docs/stable/generated/torch.nn.Embedding.html) ·
# [nn.ModuleList](https://pytorch.org/docs/stable/generated/torch.nn.ModuleList.html) ·
# [nn.Linear](https://pytorch.org/docs/stable/generated/torch.nn.Linear.html).

# %% [markdown]
# **What you've built.** An encoder-decoder Transformer like the one of 2017: smaller, in pre-norm order, with learned positions and without dropout. (One part of the paper's decoder is missing on purpose. You'll soon miss it.) Let's follow a batch of two problems through it,
# `27+15` and `4+5`, and look at everything on the way.

# %%
SIZES = {"max_length": 16, "d_model": 64, "num_heads": 4, "d_ff": 128, "num_layers": 1}


def fresh_model(vocab_size, seed=0):
    """A new model with one block on each side; the same seed gives the same start."""
    torch.manual_seed(seed)
    return Seq2SeqTransformer(vocab_size, *SIZES.values())


model = fresh_model(addition.VOCAB_SIZE)
source, target = writing.tensors([(27, 15), (4, 5)])
target_input = shift_right(target, addition.START_ID)
lab.walk_through(model, addition.ALPHABET, source, target, target_input, sequence_cross_entropy)

# %% [markdown]
# The losses are not far from 2.64, and the answers are nonsense: the model has learnt nothing yet. Here is one table of its cross-attention weights, for `4+5`.

# %%
cross = lab.cross_attention_weights(model, source, target_input)  # (batch, heads, 3, 5)
if cross is not None:
    display(
        plots.heatmap(
            cross[1, 0],
            list(addition.ALPHABET.text(target_input[1])),
            list(addition.ALPHABET.text(source[1])),
            title="4+5: who looks at what (head 0)",
            low=0,
            high=1,
        )
    )

# %% [markdown]
# The two columns of padding get weight 0.
#
# One more test of the masks. The same two problems, with five more columns of padding on the source. **Do the logits move?**

# %%
wider = F.pad(source, (0, 5))
with torch.no_grad():
    moved_by_padding = model(wider, target_input) - model(source, target_input)
print(f"the logits move by at most {moved_by_padding.abs().max().item():.1e}")

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - Five more columns of source padding move no logit by more than 0.00001. <!-- claim: padding_changes_nothing -->
#
# </details>
#
# ## Part 3 · Training
#
# ### Did the test data leak?
#
# As in lesson 2, we look before we train. There are 4,000 problems to learn from and 500 for testing, with operands of
# one to three digits. That makes a million possible problems. **A careless split draws 4,500 problems and then divides them. How
# many of its 500 test problems also appear in the training data?**

# %%
guess_leaked = None  # a number from 0 to 500

careless = addition.draw_with_repeats(seed=0, count=4500)
leaked = addition.shared_pairs(careless[:4000], careless[4000:])
sums = addition.addition_task(seed=0)
print("your guess:", guess_leaked)
plots.bars(
    {
        "careless split": leaked,
        "our split": addition.shared_pairs(sums.train, sums.test),
    },
    title="Test problems that also appear in the training data, of 500",
)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - In the careless split, about 100 of the 500 test problems are training problems as well (85 to 130 in 24 draws). <!-- claim: careless_split -->
# - In our split none is, neither for sums nor for letters. <!-- claim: clean_split -->
#
# So many, out of a million? Lengths are drawn first, so one problem in nine adds two one-digit numbers, and there are only 100 such problems. We train on
# the clean split. Whatever the model gets right on the test data, it has never seen before.
#
# </details>
#
# ### Baselines
#
# Here are three shortcuts. The first reads no source: at each position it says the most common token of the training data. The second adds each
# column by itself and never carries. The third carries from each column into the next, but never passes a carry on.

# %%
sums_train = writing.tensors(sums.train, 7, 5)  # (4000, 7) and (4000, 5)
sums_test = writing.tensors(sums.test, 7, 5)  # (500, 7) and (500, 5)
commonest = lab.commonest_by_place(sums_train[1], sums_test[1])
commonest_logits = lab.sure_of(commonest, addition.VOCAB_SIZE)
commonest_tokens = float(token_accuracy(commonest_logits, sums_test[1]))
baselines = {
    "most common token at each position": float(exact_match(commonest, sums_test[1])),
    **addition.baseline_exact(sums.test),
}
print(f"tokens right with the most common token: {commonest_tokens:.0%}")
plots.bars(baselines, title="Sums that a shortcut gets right", x_label="exact match")

# %% [markdown]
# **What you should see**
#
# - The most common token is right for 29 to 33% of the tokens, but for fewer than 2% of the sums. <!-- claim: commonest_tokens -->
# - Without any carry, 35 to 44% of the sums come out right (in 24 draws). <!-- claim: no_carries -->
# - With carries that are never passed on, 91 to 95% do. <!-- claim: one_carry_is_enough -->
#
# The last one is worth remembering. Long carries are so rare in short random sums that you can do without them. Lesson 5 comes back to this.
#
# ### Teacher forcing
#
# ![Two columns of three steps. With a teacher, the decoder reads start and says 2, then reads start, 2 and says 5, which is wrong; then it reads start, 2, 4 and says end: the 5 has been corrected. On its own, it reads start, 2, 5 in the third step and says a question mark: the 5 stays.](picture:teacher_forcing)
#
# On the left is how we train. The decoder reads the right tokens, whatever it said itself, and all positions learn at once.
# On the right is how it will be used one day: then it reads what it wrote.
#
# We train for 150 steps on minibatches of 64 problems. Every ten steps a diary notes how the model does on 100 of the test problems.
# **What share of the 500 test sums will be completely right, with a teacher?** Guess.

# %%
guess_exact = None  # a share

adder = fresh_model(addition.VOCAB_SIZE)
your_parts = {"shift": shift_right, "loss_function": sequence_cross_entropy}
diary = lab.Diary(adder, addition.ALPHABET, *sums_test, **your_parts, exact_match=exact_match)
training = {"steps": 150, "learning_rate": 0.003, "watch": diary, "watch_every": 10}
losses = fit(adder, *sums_train, start_id=addition.START_ID, **training, **your_parts)
sums_logits = predict(adder, *sums_test, start_id=addition.START_ID, shift=shift_right)
sums_exact = float(exact_match(sums_logits.argmax(-1), sums_test[1]))
print(f"your guess: {guess_exact}, it is: {sums_exact:.3f}")
diary.draw_losses(losses, "Loss while it learns to add", levels={"14 equal probabilities": even_loss})

# %% [markdown]
# Numbers say how good it is. Samples say *what* it does. Here are five test problems, and what the model said to them along the way.

# %%
diary.samples("taught", steps=(0, 10, 20, 40, 150))

# %%
print(f"tokens right {float(token_accuracy(sums_logits, sums_test[1])):.4f}")
print(f"perplexity {float(perplexity(sums_logits, sums_test[1])):.3f}")
table = lab.answers_table(addition.ALPHABET, *sums_test, sums_logits.argmax(-1))
print("right:", (table[""] == "right").sum(), " wrong:", (table[""] == "wrong").sum())
lab.wrong_ones_first(table)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - The first loss is within 0.5 of log 14, which is 2.64. <!-- claim: it_begins_at_chance -->
# - After 150 steps, more than 99% of the test sums are completely right, under teacher forcing. <!-- claim: sums_are_perfect -->
# - The perplexity is below 1.05: the model hardly hesitates. <!-- claim: hardly_hesitates -->
#
# A few seconds of training, and a perfect adder. None of these sums was in the training data.
# </details>
#
# Now the letters, with the same code.

# %%
reverser = fresh_model(reversal.VOCAB_SIZE)
training = {"steps": 300, "learning_rate": 0.003}
fit(reverser, *letters_train, start_id=reversal.START_ID, **training, **your_parts)
logits = predict(reverser, *letters_test, start_id=reversal.START_ID, shift=shift_right)
letters_said = logits.argmax(-1)
letters_exact = float(exact_match(letters_said, letters_test[1]))
print(f"tokens right {float(token_accuracy(logits, letters_test[1])):.4f}")
print(f"rows right {letters_exact:.3f}")
table = lab.answers_table(reversal.ALPHABET, *letters_test, letters_said)
lab.wrong_ones_first(table, right=6)

# %% [markdown]
# **What you should see**
#
# - More than 99.8% of the test letters are right, under teacher forcing. <!-- claim: letters_are_perfect -->
#
# ### Longer than anything it has seen
#
# All training rows had 1 to 10 letters. What about 11? The next plot will grow through lessons 4 to 7, with a new line for each new idea.
# **At which length does the line break?**

# %%
guess_break = None  # the first length with fewer than half of the rows right


def with_a_teacher(source, target):
    start_id = reversal.START_ID
    logits = predict(reverser, source, target, start_id=start_id, shift=shift_right)
    return logits.argmax(-1)


taught_line = exact_by_length(with_a_teacher, exact_match, exclude=letters.train)
lines = {"with a teacher": taught_line}
breaks = next((length for length, share in taught_line.items() if share < 0.5), None)
print("your guess:", guess_break, " it is:", breaks)
plots.by_length(lines, trained=TRAINED, x_label="letters")

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - At every length from 4 to 10, at least 97% of the rows are right. <!-- claim: inside_the_range -->
# - From 11 letters on, fewer than 5% are. <!-- claim: beyond_the_range -->
#
# A cliff between 10 and 11. The table of learned positions has rows for longer inputs, but no training step ever touched them.
# Lesson 6 asks whether other kinds of positions do better.
#
# </details>

# %% [markdown]
# ## The bug clinic
#
# A colleague wrote the same model, with a decoder block of their own. Read it. Is anything wrong?


# %%
class ColleaguesBlock(lab.BlockParts):  # two MultiHeadAttentions and the usual rest
    """Looks at its own row, then at the encoder, then works on each token."""

    def forward(self, x, encoder_states, self_mask=None, encoder_mask=None):
        h = self.norm1(x)
        x = x + self.self_attention(h, h, h, self_mask)[0]
        h = self.norm2(x)
        x = x + self.cross_attention(h, h, h)[0]
        return x + self.feed_forward(self.norm3(x))


def colleagues_model():
    return lab.with_blocks(ColleaguesBlock, addition.VOCAB_SIZE, SIZES)


# %% [markdown]
# <details><summary>What is wrong with it</summary>
#
# Look at the line with `cross_attention`. The keys and values are the decoder's own. The argument `encoder_states` comes in
# and is never used, so this model can't know which sum it is asked for.
# </details>
#
# No error is raised, since all the shapes fit. We train it the way we trained yours.
# **What share of the test sums will it get right, with a teacher?** Remember that it never sees a single problem.

# %%
guess_deaf = None  # a share

deaf = colleagues_model()
training = {"steps": 150, "learning_rate": 0.003}
fit(deaf, *sums_train, start_id=addition.START_ID, **training, **your_parts)
logits = predict(deaf, *sums_test, start_id=addition.START_ID, shift=shift_right)
deaf_exact = float(exact_match(logits.argmax(-1), sums_test[1]))
print(f"your guess: {guess_deaf}, it is: {deaf_exact:.3f}")
exacts = {"your model": sums_exact, "the colleague's": deaf_exact, "no carries": baselines["no carries"]}
plots.bars(exacts, title="Test sums completely right, with a teacher", x_label="exact match")

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - The colleague's model gets more than 99% of the test sums right too, without ever reading one. <!-- claim: deaf_is_perfect -->
#
# Read that again. It adds numbers that it hasn't seen. Something is badly wrong with our *measure*, and we will find out what.
# Keep the question in mind. For now: the score doesn't tell a model that listens from one that is deaf. So we need a test that does.
#
# </details>

# %% [markdown] exercise="encoder_influence" kind="core" difficulty=3 minutes=20
# Write the test that would have caught it. Change the source and nothing else. Do the logits move?
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
# In small numbers: at some position a model gives the logit 5 for `27+15` and 4.2 for `28+15`, and everything else is the same.
# Then the influence is at least 0.8.
#
# There are three traps. Changing one position is not enough: the model may listen to another. Trying one new id may not
# be enough: the model may treat the old and the new one alike. And permuting the rows of the batch changes nothing when
# there is only one row.
#
# <details><summary>Hint 1</summary>
#
# Which positions of the source could matter? How can you be sure that you have tried each of them?
# </details>
# <details><summary>Hint 2</summary>
#
# Go through the columns of the source. In a copy, replace the ids of one column with others, between 1 and the highest id you can see, and leave
# padding as it is. Keep the largest difference of all.
# </details>
# <details><summary>Hint 3</summary>
#
# `changed` begins as a clone of the source. Then `changed[:, place] = ...`; `% highest + 1` sends the ids round in a
# circle. The number is `(model(changed, target_input) - ?).abs().max().item()`, under `torch.no_grad()`.
# </details>
#
# Docs: [torch.clone](https://pytorch.org/docs/stable/generated/torch.clone.html) ·
# [torch.where](https://pytorch.org/docs/stable/generated/torch.where.html) ·
# [torch.no_grad](https://pytorch.org/docs/stable/generated/torch.no_grad.html).

# %% [markdown]
# **What you've built.** A hearing test. Here are four patients: your model before training, the colleague's model before and after training, and a copy of yours
# with a frozen encoder: its decoder listens to the encoder, but the encoder's states are detached, so the encoder never learns.

# %%
asked, wanted = sums_test[0][:10], sums_test[1][:10]
shown = shift_right(wanted, addition.START_ID)
patients = {
    "yours, untrained": fresh_model(addition.VOCAB_SIZE),
    "the colleague's, untrained": colleagues_model(),
    "the colleague's, trained": deaf,
    "yours, with a frozen encoder": lab.Frozen(fresh_model(addition.VOCAB_SIZE)),
}
lab.hearing_table(patients, encoder_influence, sequence_cross_entropy, asked, shown, wanted)

# %% [markdown]
# **What you should see**
#
# - The colleague's model has an influence of exactly 0, trained or not. <!-- claim: deaf_has_no_influence -->
# - Some of its parameters get no gradient at all: those of the encoder. <!-- claim: deaf_has_no_gradient -->
#
# A gradient that is `None` is a good hint. But look at the frozen encoder: the decoder listens to it, and its parameters get no
# gradient either. Only changing the source tells the two apart.

# %% [markdown]
# ## The cliff
#
# Your adder scored 1.00. Time to use it. In real use there is no teacher: nobody knows the answer yet. So the
# model reads `^`, says a token, reads that too, says the next one, and so on until it says `.`. The course brings such a generator:
# `generate`, a short loop in `transformer_course/seq2seq_fitting.py`. You will write your own in lesson 7.
#
# **What share of the same 500 sums will be right now?** Type a guess before you run the cell.

# %%
guess_alone = None  # a share

marks = {"start_id": addition.START_ID, "end_id": addition.END_ID}
written = generate(adder, sums_test[0], **marks, max_length=5)
alone = float(exact_match(written, sums_test[1]))
marks = {"start_id": reversal.START_ID, "end_id": reversal.END_ID}
letters_written = generate(reverser, letters_test[0], **marks, max_length=11)
letters_alone = float(exact_match(letters_written, letters_test[1]))
print(f"your guess: {guess_alone}, it is: {alone:.3f}")
lab.draw_cliff(sums=(sums_exact, alone), letters=(letters_exact, letters_alone))

# %% [markdown]
# What does it write? And was it ever any better? The diary also noted what the adder wrote on its own, throughout training.

# %%
display(lab.answers_table(addition.ALPHABET, *sums_test, written).head(6))
display(lab.answers_table(reversal.ALPHABET, *letters_test, letters_written).head(4))
print("different answers to 500 sums:", len({tuple(row) for row in written.tolist()}))

# %%
display(diary.samples("alone", steps=(0, 10, 20, 40, 150)))
plots.curves(
    {"with a teacher": diary.taught, "on its own": diary.alone},
    x=diary.steps,
    title="The same model, at the same steps",
    y_label="exact match on 100 test sums",
    y_limits=(-0.04, 1.06),
)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - On its own, neither model gets even 2% of the answers right. <!-- claim: the_cliff -->
# - Throughout training, the share of sums that it writes correctly stays below 5%, while the share with a teacher climbs to more than 99%. <!-- claim: the_gap_never_closes -->
# - To 500 different sums the adder gives fewer than 20 different answers. <!-- claim: few_answers -->
#
# From perfect to nothing. And it isn't a noisy nothing: the adder says the same few things, whatever you ask. As if it didn't listen.
#
# </details>
#
# ### Is it exposure bias?
#
# Training and use differ. In training the decoder reads only correct prefixes. On its own it reads what it wrote,
# so one mistake may lead to the next. This is called **exposure bias** (Ranzato and others, 2016, section 1).
#
# Is that what happened to your adder? Exposure bias needs a mistake to begin with, and before the *first* token nothing has been written.
# With a teacher nearly all first tokens are right. **What share of them will the adder get right on its own?**

# %%
guess_first = None  # a share

first_taught = lab.first_tokens_right(sums_logits.argmax(-1), sums_test[1])
first_alone = lab.first_tokens_right(written, sums_test[1])
print(f"your guess: {guess_first}, it is: {first_alone:.3f}")
plots.bars(
    {"with a teacher": first_taught, "on its own": first_alone},
    title="The adder's first token",
    x_label="share of 500 sums",
    levels={"one digit in ten": 0.1},
)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - With a teacher, more than 99% of the first tokens are right. On its own, 5 to 16% are: no better than guessing a digit. <!-- claim: the_first_token_is_wrong -->
#
# So it isn't exposure bias, or not mainly. The very first token is wrong, and at that point it had not yet read
# anything wrong. Exposure bias is real, and we will meet it again once this mystery is solved. Something else comes
# first.
#
# </details>
#
# ### Who is it listening to?
#
# You have a hearing test. With a small trick it can test the other ear as well:
# swap the roles of source and target input, and it measures how far the logits move when the *target input* changes.

# %%
heard_source = float(encoder_influence(adder, asked, shown))
heard_target = lab.target_influence(encoder_influence, adder, asked, shown)
plots.bars(
    {
        "a change of the source": heard_source,
        "a change of the target input": heard_target,
    },
    title="How far the trained adder's logits move",
    x_label="largest change of a logit",
)

# %% [markdown]
# **What you should see**
#
# - A change of the source moves the trained adder's logits less than a third as far as a change of the target input. <!-- claim: the_encoder_is_quiet -->
#
# The encoder isn't cut off, as the colleague's was. It is strangely quiet. The answer depends on something else.
#
# Here is the growing plot with its second line. Keep it in mind; lesson 5 begins with it.


# %%
def on_its_own(source, target):
    return generate(
        reverser,
        source,
        start_id=reversal.START_ID,
        end_id=reversal.END_ID,
        max_length=target.shape[1],
    )


lines["on its own"] = exact_by_length(on_its_own, exact_match, exclude=letters.train)
plots.by_length(lines, trained=TRAINED, x_label="letters")

# %% [markdown]
# **What you should see**
#
# - On its own, the model gets fewer than 5% right at every length, trained or not. <!-- claim: alone_at_no_length -->
#
# What do you think is going on? Collect what you know before you turn the page.
#
# 1. With a teacher nearly everything is right, on data that was never seen.
# 2. A model that never reads the problem gets nearly everything right too.
# 3. Without a teacher hardly any answer is right, and nine out of ten of the adder's first tokens are wrong already.
#
# One explanation fits all three.

# %% [markdown]
# ## Explain it
#
# A friend shows you a translation model. "It seems to be deaf to its source: my influence test says 0. But the loss is
# fine, so I'll ship it."
#
# Answer in four or five sentences, in your own words. What may be wrong in the decoder's code, why is there no error, why can the loss
# be fine, and what would you look at before anyone uses the model?

# %% [markdown] explain=true
# An influence of 0 says that no change of the source changes any logit, so the decoder never uses the encoder states. Probably
# its cross-attention takes keys and values from the decoder itself. There is no error because the decoder's states have the right width
# as well, and the loss only compares predictions with targets. The loss was measured under teacher forcing, where the decoder is handed the right
# tokens, so it says what the model can do with the answer in front of it. I would fix the keys and values, check that the encoder's parameters get
# gradients and that the influence is above 0, and then let the model write on its own and measure exact match.

# %% [markdown]
# ## How good were your guesses?
#
# Here are your guesses next to what happened. A wrong guess is worth more than none: it shows you where to look.

# %%
board = [
    ("loss of a model that knows nothing", guess_untrained_loss, round(even_loss, 2)),
    ("padding alone, padding counted: share", guess_padding, round(flattered, 2)),
    ("rows of 11, tokens at 0.9: share", guess_rows, round(rows_at_eleven, 2)),
    ("does shuffling matter?", guess_shuffled, "yes" if moved > 1e-4 else "no"),
    ("careless test problems that leaked", guess_leaked, leaked, 25),
    ("test sums right, with a teacher", guess_exact, round(sums_exact, 2)),
    ("length at which the line breaks", guess_break, breaks, 0),
    ("the deaf model's share of sums", guess_deaf, round(deaf_exact, 2)),
    ("test sums right, on its own", guess_alone, round(alone, 2)),
    ("first tokens right, on its own", guess_first, round(first_alone, 2)),
]
guesses.board(board)

# %% [markdown]
# ## Recap
#
# Answer from memory, then check.
#
# **1.** In cross-attention, what comes from the decoder and what from the encoder, and what shape are the weights?
#
# <details><summary>Answer</summary>
#
# The queries come from the decoder, the keys and values from the encoder. Each head has weights of shape `(target_length, source_length)`.
# </details>
#
# **2.** Under teacher forcing, what is the decoder shown at the position where it should say token i?
#
# <details><summary>Answer</summary>
#
# The target shifted right by one: the start mark, then the right tokens. At the position of token i it is shown token i - 1.
# </details>
#
# **3.** Why must padding be left out of the loss *and* the accuracy?
#
# <details><summary>Answer</summary>
#
# Padding is easy to predict and means nothing. If it counts, it lowers the loss and raises the accuracy of a model that says nothing:
# a third of all positions in our letters are padding.
# </details>
#
# **4.** What is exposure bias, and why can't it explain a wrong first token?
#
# <details><summary>Answer</summary>
#
# In training a decoder reads only correct prefixes; on its own it reads its own mistakes, and one mistake may lead to the next.
# Before the first token it has written nothing yet, so there is no mistake to read.
# </details>
#
# ## Things to try
#
# - In `sequence_cross_entropy`, take a mean for each row first, then the mean of those. Which tokens weigh more than before?
# - Train with `addition.Writing(least_first=False)`. Does the score with a teacher change? Do you trust it?
# - Train the adder for 1,000 steps. Does the encoder become louder or quieter?
# - Hand the trained adder the sources of *other* problems, with the right target inputs. How many answers are still right?
# - Change one letter of a reversal's source and look at `encoder_influence` for each position of the source by itself.
#
# ## Glossary
#
# | word | meaning |
# |---|---|
# | cross-attention | attention with queries from the decoder, keys and values from the encoder |
# | cross-entropy | the mean surprise at the right token: minus the logarithm of its probability |
# | decoder | the stack that writes the target |
# | encoder | the stack that reads the source |
# | end mark | the token that says: the answer is complete |
# | exact match | the share of rows without a wrong token |
# | exposure bias | in training a decoder reads only right tokens; in use it reads its own output |
# | generate | write token by token, each from what was written before |
# | influence | how far the logits move when one input changes and nothing else |
# | perplexity | e to the power of the loss: between how many symbols the model hesitates |
# | source, target | the row that is read, the row that is to be written |
# | start mark | the token before the first one |
# | teacher forcing | showing the decoder the right tokens, whatever it said itself |
# | token accuracy | the share of real tokens that are right |
#
# ## Papers
#
# - Vaswani and others, [Attention Is All You Need](https://arxiv.org/abs/1706.03762), NeurIPS 2017: section 3.1, encoder and decoder stacks; section 3.2.3, the three uses of attention.
# - Sutskever, Vinyals, Le, [Sequence to Sequence Learning with Neural Networks](https://arxiv.org/abs/1409.3215), NeurIPS 2014: section 2, one network reads, one writes; section 3.3, why they reversed the source.
# - Bahdanau, Cho, Bengio, [Neural Machine Translation by Jointly Learning to Align and Translate](https://arxiv.org/abs/1409.0473), ICLR 2015: section 3.1, attention from a decoder to an encoder; figure 3 draws its weights.
# - Williams, Zipser, "A Learning Algorithm for Continually Running Fully Recurrent Neural Networks", *Neural Computation* 1(2), 1989: teacher forcing.
# - Ranzato, Chopra, Auli, Zaremba, [Sequence Level Training with Recurrent Neural Networks](https://arxiv.org/abs/1511.06732), ICLR 2016: section 1, exposure bias.
# - Jelinek, Mercer, Bahl, Baker, "Perplexity: a measure of the difficulty of speech recognition tasks", *Journal of the Acoustical Society of America* 62(S1), 1977: one page.
#
# In lesson 5 you find that explanation, and close the gap.
