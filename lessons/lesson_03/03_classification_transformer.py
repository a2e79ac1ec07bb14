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
# # Lesson 3 · Who looks at whom
#
# COLAB_BADGE
#
# Is 321 larger than 4? You saw it at once. But where did you look, and in which order?
#
# ![The tokens 3, 2, 1, minus, 4, two of padding, and CLS, twice. Lines run from CLS to the tokens it looks at, as thick as the weight. One head looks almost only at the minus sign. Another looks mostly at the 4, and a little at the 3: the first digits of the two numbers.](picture:what_cls_looks_at)
#
# This is where a trained network looked, before it said yes. One part of it went to the minus sign: where does the first number end?
# Another part went to the first digits. Nobody told it to. You will build that network today, and look inside.
#
# **What you will be able to do**
#
# - work attention out by hand, and write it in a few lines
# - say what attention alone can't do, and prove it
# - build a Transformer that classifies texts, part by part, with a result after each part
# - tell a learnt skill from a shortcut, and a real difference from the luck of a seed
# - look inside a model: its shapes, and what its heads attend to
# - write the test that finds a model that reads its padding
#
# **Time.** Two sittings, about 110 and 150 minutes. The place for the break is marked.
#
# **How to check.** Replace the line `raise NotImplementedError()` by your own code, and run the cell.
# Then run the `check` cell below it. It says what is right and what is not, as often as you ask.
#
# **How to submit.** Save the notebook and hand it in the way your class does.
# Nobody to hand it in to? The checks are all you need.

# %% [markdown]
# ## A two-minute test
#
# This lesson builds on [lesson 1](../01_pytorch_basics/01_pytorch_basics.ipynb) and [lesson 2](../02_tokenizer/02_tokenizer.ipynb).
# Try these three without running anything.
#
# **1.** `a` has shape `(2, 5, 8)`, and so has `b`. Which shape has `batched_dot(a, b)`, and what is its entry `[1, 0, 4]`?
#
# <details><summary>Answer</summary>
#
# `(2, 5, 5)`. The entry is the dot product of row 0 of `a` with row 4 of `b`, both of batch entry 1.
# To read up: part 1 of [lesson 1](../01_pytorch_basics/01_pytorch_basics.ipynb), "Puzzle 3".
# </details>
#
# **2.** In which order do text, padding and the CLS token stand in a row of lesson 2? Which id has padding?
#
# <details><summary>Answer</summary>
#
# First the text, then padding with id 0, and the CLS token at index -1.
# To read up: part 1 of [lesson 2](../02_tokenizer/02_tokenizer.ipynb), the exercise `prepare_example`.
# </details>
#
# **3.** In lesson 2 a network was given the *counts* of the ids. It stayed at chance. Why?
#
# <details><summary>Answer</summary>
#
# `"32-4"` and `"4-32"` have the same counts and opposite labels. Keep this one in mind.
# To read up: part 1 of [lesson 2](../02_tokenizer/02_tokenizer.ipynb), "Is an id an amount?".
# </details>
#
# Two of three? Go on. Fewer? Read the linked pages first, and come back.
#
# The next cell brings the tools. Run it first. `plots` draws, `fit` trains, and `lab` builds the experiments.
# All of it belongs to the course and can be read, in `course/plots`, `course/fitting.py` and `lessons/lesson_03/experiments/`.
# Under each figure, *In words* unfolds to the same thing as text. Where there is a GPU, training uses it.

# %% setup=true
import copy
import math

import numpy as np
import pandas as pd
import torch
import torch.nn.functional as F
from IPython.display import display
from torch import nn

from course import plots
from lessons.tables import measured
from lessons.lesson_03 import experiments as lab
from course.fitting import accuracy, fit, predict
from course.tracing import attention_maps, trace

torch.set_num_threads(1)  # one thread: on a machine that others use too, two can be ten times slower

# %% [markdown]
# ## Part 1 · A soft dictionary
#
# A Python dictionary has keys and values. You come with a **query**. If it equals a key, you get that key's value.
# If it equals none, you get an error. All or nothing.
#
# What if a query could fit *a little*? Then you would get a little of that key's value, and more of another's.
#
# ![Left, a dictionary: the query cat fits the key cat and no other, and the result is the value of cat, (10, 0). Right, attention: the query "who?" fits cat with the share 0.665, sees with 0.245 and ball with 0.090. The result is the sum of the three values, each times its share.](picture:soft_dictionary)
#
# That is attention. Every word has a query, a key and a value, and all three are vectors.
#
# | | in words | for `cat` |
# |---|---|---|
# | query | what am I looking for? | a vector |
# | key | what do I offer, so that others find me? | a vector |
# | value | what do I hand over to those who look? | a vector |
#
# ### By hand, on three words
#
# Take the words *cat sees ball*. The word *sees* wants to know who sees. Its query is (2, 1, 0, 0).
# How well does it fit a key? We take the **dot product**, as in lesson 1.
#
# | word | key | dot product with (2, 1, 0, 0) | value |
# |---|---|---|---|
# | cat | (2, 0, 1, 0) | 4 + 0 + 0 + 0 = 4 | (10, 0) |
# | sees | (1, 0, 0, 1) | 2 + 0 + 0 + 0 = 2 | (0, 10) |
# | ball | (0, 0, 2, 1) | 0 + 0 + 0 + 0 = 0 | (10, 10) |
#
# The scores are 4, 2 and 0. We halve them, for a reason that you will meet soon: 2, 1, 0.
# Shares must be positive and add up to 1. So each score goes through `exp`, and is divided by the sum. This is the **softmax**.
#
# **Which share does *cat* get, with a score of 2 against 1 and 0?** Type a guess.

# %%
guess_cat = None  # a share between 0 and 1

query = torch.tensor([2.0, 1.0, 0.0, 0.0])  # (4,): what "sees" looks for
keys = torch.tensor([[2.0, 0.0, 1.0, 0.0], [1.0, 0.0, 0.0, 1.0], [0.0, 0.0, 2.0, 1.0]])  # (3, 4)
values = torch.tensor([[10.0, 0.0], [0.0, 10.0], [10.0, 10.0]])  # (3, 2)
words = ["cat", "sees", "ball"]

scores = keys @ query / 2  # (3,)
exponentials = torch.exp(scores)
shares = exponentials / exponentials.sum()
print("your guess for cat:", guess_cat)
print("the mix of the values:", (shares @ values).tolist())
pd.DataFrame({"score": scores, "exp": exponentials, "share": shares}, index=words).round(3)

# %% [markdown]
# *Sees* takes two thirds of *cat*, a quarter of itself, and a little of *ball*: 0.665·(10, 0) + 0.245·(0, 10) + 0.090·(10, 10) = (7.55, 3.35).
# Every step is a sum, a product or an `exp`. So every step has a slope, and the vectors can be learnt.
#
# ### Exercise: `masked_softmax` · core · difficulty 2 · 15 minutes
#
# Not every word may be looked at. Some are padding. In lesson 5 some lie in the future.
# A **mask** says which: True where one may look, False where not. What is hidden must get the weight 0, and the others share the whole.
#
# ![The scores 2, 1, 0 with the mask yes, yes, no. After exp: 7.39, 2.72, and 0 for the hidden one; the sum is 10.11. Divided by the sum: 0.73, 0.27, 0. Without the mask it would have been 0.665, 0.245, 0.090.](picture:softmax_with_a_mask)
#
# $$\text{weight}_i = \frac{\text{mask}_i \, e^{s_i}}{\sum_j \text{mask}_j \, e^{s_j}}$$
#
# In numbers: with the third word hidden, 7.39 / 10.11 = 0.73, and 2.72 / 10.11 = 0.27.
#
# One corner needs thought. What if *nothing* may be looked at? The formula says 0 / 0. Your function must give finite numbers there.
#
# <details><summary>Hint 1</summary>
#
# To give a weight of 0 after softmax, which score would an entry need before it? Is there a finite number that does as well?
# </details>
# <details><summary>Hint 2</summary>
#
# Replace the hidden scores by the lowest number that the dtype has, take the softmax, then set the hidden weights to 0.
# With minus infinity instead, a row in which all is hidden becomes NaN.
# </details>
# <details><summary>Hint 3</summary>
#
# Two calls of `masked_fill` with `~mask`, one before and one after `torch.softmax(..., dim=?)`. `torch.finfo(scores.dtype).min` is the number.
# </details>
#
# Docs: [torch.softmax](https://pytorch.org/docs/stable/generated/torch.softmax.html) ·
# [masked_fill](https://pytorch.org/docs/stable/generated/torch.Tensor.masked_fill.html) ·
# [torch.finfo](https://pytorch.org/docs/stable/type_info.html).

# %% exercise="masked_softmax"

# %% [markdown]
# **What you made.** Four rows of the same scores, with more and more hidden. **What do you expect in the last row, where nothing may be looked at?**
# Below it stands what the textbook recipe with minus infinity gives.

# %%
guess_hidden = None  # "zeros", "thirds", "an error" or "NaN": your own function, in the last row

row = torch.tensor([2.0, 1.0, 0.0])
mask = torch.tensor([[True, True, True], [True, True, False], [False, True, False], [False, False, False]])
weights = masked_softmax(row.expand(4, 3), mask)  # (4, 3)
textbook = torch.softmax(row.masked_fill(~mask[3], float("-inf")), dim=-1)
print("your guess:", guess_hidden)
print("minus infinity everywhere gives:", textbook.tolist())
plots.heatmap(
    weights, ["all", "no ball", "only sees", "nothing"], words, title="Shares by what may be seen", low=0, high=1
)

# %% [markdown]
# One NaN in one row is enough to spoil a whole model: every gradient that meets it becomes NaN too.
#
# ### Exercise: `scaled_dot_product_attention` · core · difficulty 2 · 15 minutes
#
# Now the whole of it. Usually every word asks, so there are many queries. They stand in a matrix, one row each.
# One query or many, the moves are the same: compare, share out, mix.
#
# ![The query (2, 1, 0, 0) times the keys of cat, sees and ball gives the scores 4, 2, 0. They are halved, since the root of 4 is 2. Softmax makes the weights 0.67, 0.24 and 0.09. The weights times the values (10, 0), (0, 10), (10, 10) give the output, about (7.6, 3.3).](picture:attention_as_a_matrix)
#
# $$\text{weights} = \text{softmax}\left(\frac{Q K^\top}{\sqrt{d}}\right) \qquad \text{output} = \text{weights} \cdot V$$
#
# Here d is the length of a query, which is 4 in our example. So we divided by the root of 4, and that was the halving.
#
# | | shape |
# |---|---|
# | query | `(..., query_length, d)` |
# | key | `(..., key_length, d)` |
# | scores, weights, mask | `(..., query_length, key_length)` |
# | value | `(..., key_length, d_value)` |
# | output | `(..., query_length, d_value)` |
#
# The dots stand for any axes in front, such as a batch. Take d from the query, never from a length.
#
# <details><summary>Hint 1</summary>
#
# Two matrix products and your last function. Which axis must disappear in each product?
# </details>
# <details><summary>Hint 2</summary>
#
# `@` multiplies the last two axes and leaves those in front alone. The keys must be turned on their side first, and there may be more than three axes.
# </details>
# <details><summary>Hint 3</summary>
#
# `key.transpose(-2, -1)` turns the last two axes. Divide by `math.sqrt(query.shape[-1])`. Return two things: the mix and the weights.
# </details>
#
# Docs: [torch.matmul](https://pytorch.org/docs/stable/generated/torch.matmul.html) ·
# [transpose](https://pytorch.org/docs/stable/generated/torch.transpose.html).

# %% exercise="scaled_dot_product_attention"

# %% [markdown]
# **What you made.** A dictionary with a knob. Multiply the query by a factor, and it asks more firmly.
# At 0 it asks nothing. **From which factor on does *cat* get more than 99 %?**

# %%
guess_factor = None  # 1, 2, 3, 4, 5 or 6

factors = [0, 1, 2, 3, 4, 5, 6]
firm = torch.stack([factor * query for factor in factors])  # (7, 4): seven queries at once
output, weights = scaled_dot_product_attention(firm, keys, values)  # (7, 2) and (7, 3)
firm_enough = next(factor for factor, share in zip(factors, weights[:, 0], strict=True) if share > 0.99)
print("your guess:", guess_factor, " it is:", firm_enough)
plots.curves(
    {word: weights[:, place] for place, word in enumerate(words)},
    x=factors,
    title="From a soft dictionary to a hard one",
    x_label="the query times ...",
    y_label="share",
)

# %% [markdown]
# Left, everything gets a third. Right, it is a Python dictionary again. Attention can learn to be either.
#
# **Why the root?** Take random vectors, one query against eight keys. A dot product of length d adds d random terms.
# **How large is the largest of eight weights on average, at d = 1024, if we do not divide?** An even share would be 0.125.

# %%
guess_unscaled = None  # a share between 0.125 and 1

widths = [4, 16, 64, 256, 1024]
largest = lab.largest_weights(scaled_dot_product_attention, widths)
print(f"your guess: {guess_unscaled}, it is: {largest['not divided'][-1]:.2f}")
plots.curves(
    largest,
    x_names=[str(width) for width in widths],
    title="The largest of eight weights, on average",
    x_label="d",
    y_label="weight",
    levels={"even": 1 / 8},
)

# %% [markdown]
# **What you should see**
#
# - Not divided, the largest weight rises from below 0.6 at d = 4 to above 0.9 at d = 1024. <!-- claim: unscaled_grows -->
# - Divided by the root of d, it stays between 0.3 and 0.4 at every width. <!-- claim: scaled_stays -->
#
# The sum of d random terms spreads like the root of d. Without the division, a wide layer would start as a hard dictionary.
# There the softmax is flat: its slopes are nearly 0, and nothing is learnt.

# %% [markdown]
# ## Part 2 · One layer, and a riddle
#
# ### The task, and three ways to be tested
#
# The texts are those of lesson 2: is the first number the larger one? In lesson 2 you also met two shortcuts.
# "The longer operand wins" needs no digit at all. "The larger first digit wins" needs two.
# So one accuracy is not enough. We test three times, and each test takes a shortcut away.

# %%
sets = lab.draw_sets(seed=0)
train_set = lab.prepared(sets.train)  # tokens (20000, 8) and labels (20000,)
print("training:", tuple(train_set[0].shape), "for example", lab.symbols_of(train_set[0][0]))
learnt = {text for text, _ in sets.train}
for name, examples in sets.tests.items():
    shown = "  ".join(text for text, _ in examples[:4])
    print(f"{name + ':':17} {len(examples)} texts, {sum(text in learnt for text, _ in examples)} learnt   {shown}")
rules = lab.baselines(sets)
pd.DataFrame(rules).T.round(2)

# %% [markdown]
# **What you should see**
#
# - On all texts "the longer operand wins" is right on 80 to 90 %, and on equal lengths on 40 to 60 %. <!-- claim: longer_rule -->
# - On equal lengths "the larger first digit wins" is right on 93 to 97 %. <!-- claim: first_digit_rule -->
# - On texts with the same first digit every one of the three rules is right on 44 to 56 %. <!-- claim: nothing_left -->
#
# Read this table before every accuracy below. And note: even equal lengths leave a shortcut. Only the third column has none of the two.
#
# ### Exercise: `SelfAttention` · core · difficulty 2 · 15 minutes
#
# Where do query, key and value come from? From the word itself. Three Linear layers read the same vector and make three of it.
# In *self*-attention all words of a row ask all words of that row.
#
# ![The same x, of shape (batch, length, d_model), goes through three Linear layers: self.query makes questions, self.key labels, self.value contents. They meet in scaled dot product attention. Out come the output, (batch, length, d_model), and the weights, (batch, length, length).](picture:one_attention_layer)
#
# $$\text{output}, \text{weights} = \text{attention}(x W_Q + b_Q,\; x W_K + b_K,\; x W_V + b_V)$$
#
# In numbers: with 8 tokens of 64 numbers each, the scores are an 8 by 8 table for every text of the batch.
#
# <details><summary>Hint 1</summary>
#
# What is learnt here, and what is only computed? Only the learnt things are made in `__init__`.
# </details>
# <details><summary>Hint 2</summary>
#
# Three `nn.Linear` as attributes. In `forward`, hand the same `x` to each, and the three results to the function you just wrote.
# </details>
# <details><summary>Hint 3</summary>
#
# `self.query = nn.Linear(?, ?)`, and so on. `forward` is one line. Don't forget to pass the mask on.
# </details>
#
# Docs: [nn.Linear](https://pytorch.org/docs/stable/generated/torch.nn.Linear.html) ·
# [nn.Module](https://pytorch.org/docs/stable/generated/torch.nn.Module.html).

# %% exercise="SelfAttention"

# %% [markdown]
# **What you made.** The heart of a Transformer. Around it we put as little as possible.
# An **embedding** gives each id a vector of its own. Your layer mixes. A Linear layer reads the CLS token's vector and says yes or no.
#
# ```python
# x = self.embedding(tokens)        # (batch, 8) -> (batch, 8, 64)
# x = self.attention(x)[0]          # (batch, 8, 64)
# logits = self.head(x[:, -1])      # (batch, 64) -> (batch, 2)
# ```
#
# These are the lines of `lab.OneLayer`. Padding is not hidden yet: for now it is one more token.
# The logits are scores for "no" and "yes". The loss is the **cross-entropy**: minus the logarithm of the share that the right answer got.
#
# **Which accuracy will it reach on all texts?** The longer operand alone would give about 85 %.

# %%
guess_attention = None  # a share between 0 and 1

d_model = 64
torch.manual_seed(0)
reader = lab.OneLayer(d_model, SelfAttention(d_model))
attention_losses = fit(reader, *train_set, steps=300, learning_rate=3e-3, name="attention")
scoreboard = {"attention": lab.accuracies(reader, sets)}
print("your guess:", guess_attention, f" it is: {scoreboard['attention']['all']:.2f}")
display(
    plots.curves(
        {"attention": attention_losses}, title="Training loss", levels={"coin": math.log(2)}, y_limits=(0.3, 1.1)
    )
)
pd.DataFrame(scoreboard).T.round(3)

# %% [markdown]
# **What you should see**
#
# - The loss ends within 0.01 of 0.693, the logarithm of 2: that is what a coin scores. <!-- claim: attention_loss_is_a_coin -->
# - On every test the accuracy lies between 0.42 and 0.58. <!-- claim: attention_is_chance -->
#
# Chance. Not a bit better than a coin, after 38,400 examples. More steps? More width? Try, if you like.
#
# **Why?** Before you read on, be a detective. Here is a microscope: the model's score for any text you type. A score above 0 means "yes".
# **Find two texts with exactly the same score, to all digits shown.** Add your own, and run the cell again.

# %%
my_texts = ["321-4", "4-321", "57-12", "12-57", "75-21", "900-1"]

pd.DataFrame({"text": my_texts, "score": [f"{score:+.6f}" for score in lab.scores(reader, my_texts)]})

# %% [markdown]
# Have you got a rule? Then unfold.
#
# <details><summary>What texts with the same score have in common</summary>
#
# They hold the same tokens, in another order. `57-12`, `12-57` and `75-21` are all one to this model.
# </details>
#
# ![The texts 32-4, where yes is right, and 4-32, where no is right, both become the same bag with 2, 3, 4 and the minus sign. Out of the bag comes one vector, and so one answer.](picture:bag_of_tokens)
#
# It can be proved in three steps.
#
# 1. The CLS token asks the same question in every text. Its vector comes from its id alone.
# 2. So the digit 4 gets the same score wherever it stands, and hands over the same value.
# 3. Softmax and mix are sums over the tokens. A sum does not care about the order of its terms.
#
# So `n-m` and `m-n` get one and the same answer, and it is right for one of them. On a test where every text comes with its mirror image, the
# accuracy must be exactly one half. Whatever the weights. Whatever the training.

# %%
mirror_set = lab.prepared(lab.mirrored(sets.tests["all"]))  # 2000 texts: each one, and its mirror image
print(f"with mirror images: {accuracy(reader, *mirror_set):.4f}")

# %% [markdown]
# **What you should see**
#
# - With mirror images the accuracy is 0.5, to within 0.002. <!-- claim: mirror_is_half -->
#
# (Within, since a sum in another order may be rounded otherwise, in the seventh digit.)
#
# ### Exercise: `FeedForward` · core · difficulty 1 · 5 minutes
#
# Perhaps the layer is too simple. All it does is mix. It computes nothing new *from* a token.
# The network of lesson 1 could. A Transformer has such a network after every attention layer: two Linear layers with ReLU between.
#
# ![Left: in attention, lines run from every token to every token. Right: in the feed-forward network each token goes through an MLP by itself, and it is the same MLP for all four.](picture:token_by_token)
#
# $$\text{output} = \text{ReLU}(x W_1 + b_1)\, W_2 + b_2$$
#
# In numbers: 64 numbers become 256, the negative ones become 0, and 256 become 64 again.
#
# <details><summary>Hint 1</summary>
#
# Which two sizes has each Linear layer, and which of the four is d_ff?
# </details>
# <details><summary>Hint 2</summary>
#
# `nn.Linear` works on the last axis and leaves the others alone. So "each token by itself" needs no loop.
# </details>
# <details><summary>Hint 3</summary>
#
# `self.linear_in` from d_model to d_ff, `self.linear_out` back, and `torch.relu` between them in `forward`.
# </details>
#
# Docs: [nn.Linear](https://pytorch.org/docs/stable/generated/torch.nn.Linear.html) ·
# [torch.relu](https://pytorch.org/docs/stable/generated/torch.relu.html).

# %% exercise="FeedForward"

# %% [markdown]
# **What you made.** A network for each token. We put it behind the attention layer.
# **Does the classifier get above chance now?** Guess its accuracy on all texts.

# %%
guess_feed_forward = None  # a share between 0 and 1

torch.manual_seed(0)
thinker = lab.OneLayer(d_model, SelfAttention(d_model), FeedForward(d_model, 4 * d_model))
fit(thinker, *train_set, steps=300, learning_rate=3e-3, name="with a feed-forward network")
scoreboard["+ feed-forward"] = lab.accuracies(thinker, sets)
print("your guess:", guess_feed_forward, f" it is: {scoreboard['+ feed-forward']['all']:.2f}")
print(f"with mirror images: {accuracy(thinker, *mirror_set):.4f}")
pd.DataFrame(scoreboard).T.round(3)

# %% [markdown]
# **What you should see**
#
# - With the feed-forward network, too, every test lies between 0.42 and 0.58. <!-- claim: feed_forward_is_chance -->
#
# Still a coin. **Why does a stronger network not help?** Say it to yourself in one sentence, then unfold.
#
# <details><summary>Answer</summary>
#
# It reads the vector that attention mixed, and that vector is the same for both orders. What is lost before a network can't be brought back by it.
# </details>
#
# What would help, then? The vector of a token must tell *where* it stands, before anything is mixed.
#
# ### Exercise: `LearnedPositionalEmbedding` · core · difficulty 2 · 10 minutes
#
# The simplest way: give every place a vector too, and learn it. Then add it to the token that stands there.
#
# ![The token 4 has the vector (1, 2). In front, at place 0, the place's vector (0.5, 0) is added: (1.5, 2). Behind, at place 3, (-1, 0.2) is added: (0, 2.2). One token in two places has become two vectors.](picture:positions_added)
#
# $$\text{result}[b, i] = x[b, i] + \text{table}[i]$$
#
# In numbers: a batch of 128 texts has shape `(128, 8, 64)`. The rows 0 to 7 of the table have shape `(8, 64)`. Broadcasting does the rest.
#
# A text may be shorter than the table. Then only the first rows are used.
#
# <details><summary>Hint 1</summary>
#
# Which axis of x tells how many rows you need?
# </details>
# <details><summary>Hint 2</summary>
#
# `nn.Embedding` is a table with learnable rows. It wants the numbers of the rows: 0, 1, 2, and so on.
# </details>
# <details><summary>Hint 3</summary>
#
# `torch.arange(x.shape[1], device=x.device)` are the places. Look them up in `self.embedding`, and add.
# </details>
#
# Docs: [nn.Embedding](https://pytorch.org/docs/stable/generated/torch.nn.Embedding.html) ·
# [torch.arange](https://pytorch.org/docs/stable/generated/torch.arange.html).

# %% exercise="LearnedPositionalEmbedding"

# %% [markdown]
# **What you made.** A sense of place. The same layer, the same data, three runs. They differ in nothing but their **seed**:
# the random weights they start from, and the order of the examples.
#
# **Which accuracy do you expect on all texts, at best?** And on equal lengths?

# %%
guess_positions, guess_equal = None, None  # two shares between 0 and 1

placed = {}
for seed in range(3):
    torch.manual_seed(seed)
    positions = LearnedPositionalEmbedding(lab.MAX_LENGTH, d_model)
    model = lab.OneLayer(d_model, SelfAttention(d_model), FeedForward(d_model, 4 * d_model), positions)
    fit(model, *train_set, steps=300, learning_rate=3e-3, seed=seed, name=f"with positions, seed {seed}")
    placed[f"seed {seed}"] = model
runs = {name: lab.accuracies(model, sets) for name, model in placed.items()}
best = max(runs, key=lambda name: runs[name]["all"])
scoreboard["+ positions, best run"] = runs[best]
print("your guesses:", guess_positions, guess_equal)
display(pd.DataFrame(runs).T.round(3))
plots.dots(
    {test: {name: [run[test]] for name, run in runs.items()} for test in sets.tests},
    title="One layer with positions, three seeds",
    x_label="accuracy",
    levels={"coin": 0.5, "longer wins": rules["longer operand wins"]["all"]},
    x_limits=(0.4, 1.02),
)

# %% [markdown]
# **What you should see**
#
# - It learns: the best of three runs gets more than 78 % of all texts, and none less than 60 %. <!-- claim: positions_learn -->
# - But on equal lengths at least one of the three runs is no better than 57 %. <!-- claim: a_shortcut_is_found -->
# - And no run gets more than 68 % of the texts with the same first digit. <!-- claim: first_digits_decide -->
#
# Look at the first column alone, and you would be pleased. Now look at the others. Some runs have learnt one thing: the longer operand wins.
# That rule is cheap, it is found first, and it pays. A network takes it.
#
# The three runs are far apart, though only the seed differs. Such a difference is called **seed noise**.
# If one run of model A beats one run of model B by that much, you know nothing yet.
#
# **Where does it look?** Here is the CLS token's row of weights for five texts, for the best run and for the worst.

# %%
looked_at = ["321-4", "4-321", "32-45", "57-12", "123-456"]
worst = min(runs, key=lambda name: runs[name]["all"])
rows = lab.prepared([(text, 0) for text in looked_at])[0]  # (5, 8)
for name in (best, worst):
    weights = attention_maps(placed[name], rows)["attention"][:, -1]  # (5, 8, 8) -> (5, 8): the row of CLS
    display(
        plots.heatmap(
            weights.round(decimals=2),
            looked_at,
            title=f"{name}: all {runs[name]['all']:.2f}, equal lengths {runs[name]['equal lengths']:.2f}",
            columns="place (CLS stands at 7)",
            low=0,
            high=1,
        )
    )

# %% [markdown]
# Find the minus sign in each text, and see whether its place is lit. A model that knows where the minus stands knows how long the first number is.
# One layer has one softmax, and it must choose: look at the lengths, or look at the digits. It would need several looks at once.
#
# That is the second sitting.

# %% [markdown]
# ---
# ## Time for a break
#
# You have written attention, and made it learn. You also know what it learnt, which is more than an accuracy tells.
# Save the notebook, and stand up for a while.
#
# *(When you come back: run all cells above once, then go on here.)*
#
# ---

# %% [markdown]
# ## Part 3 · Several looks at once
#
# Welcome back. One softmax can look firmly at one thing. To look at a minus sign *and* at two first digits, we want several.
# Each of them is called a **head**.
#
# ![The same three words, cat sees ball, go to two heads. Head 0 has one table of weights, head 1 has another. Each gives a result of shape (3, d_head). They are put side by side, and a Linear layer mixes them to (3, d_model).](picture:heads_as_views)
#
# Heads cost nothing extra. We cut the vectors into parts, and each head works on its own part.
#
# ### Exercise: `split_heads` · core · difficulty 3 · 15 minutes
#
# Every token's vector is cut into `num_heads` parts of one size, `d_head`. Head 0 takes the first part of *every* token, head 1 the second, and so on.
#
# ![Three tokens with the vectors 1 to 4, 5 to 8 and 9 to 12. Head 0 gets the left halves: 1, 2, then 5, 6, then 9, 10. Head 1 gets the right halves: 3, 4, then 7, 8, then 11, 12.](picture:vectors_cut_into_heads)
#
# $$(\text{batch}, \text{length}, d_\text{model}) \rightarrow (\text{batch}, \text{heads}, \text{length}, d_\text{head})$$
#
# In numbers: `(128, 8, 32)` with 4 heads becomes `(128, 4, 8, 8)`. With 5 heads it can't be done, and that must be a clear error.
#
# Think of puzzle 2 of lesson 1. There is a one-liner that gives the right shape and the wrong numbers.
#
# <details><summary>Hint 1</summary>
#
# In memory a token's numbers lie side by side. Which cut leaves every token whole: the one that makes the last axis into two, or another?
# </details>
# <details><summary>Hint 2</summary>
#
# Two moves. First make `(batch, length, heads, d_head)` of it, which only cuts the last axis. Then let two axes change places.
# </details>
# <details><summary>Hint 3</summary>
#
# `x.reshape(batch, length, num_heads, d_model // num_heads)`, then `.transpose(?, ?)`. Before both: `raise ValueError` where `%` leaves a remainder.
# </details>
#
# Docs: [reshape](https://pytorch.org/docs/stable/generated/torch.reshape.html) ·
# [transpose](https://pytorch.org/docs/stable/generated/torch.transpose.html).

# %% exercise="split_heads"

# %% [markdown]
# **What you made.** Each number below is 10 times its token plus its column. So the tens tell whose number it is.
# In head 0 of yours, **which tokens should appear?** Beside it: what `reshape` alone puts there.

# %%
marked = torch.tensor([[[10 * token + column for column in range(1, 5)] for token in range(1, 4)]])  # (1, 3, 4)
yours = split_heads(marked, num_heads=2)  # (1, 2, 3, 2)
careless = marked.reshape(1, 2, 3, 2)
print("your shape:", tuple(yours.shape), " reshape alone:", tuple(careless.shape))
plots.heatmaps(
    {
        "yours, head 0": yours[0, 0],
        "yours, head 1": yours[0, 1],
        "careless 0": careless[0, 0],
        "careless 1": careless[0, 1],
    },
    title="The tens are the token",
)

# %% [markdown]
# The careless head 0 holds both halves of token 1, and nothing of token 3. The shapes agree, and no error tells you.
#
# ### Exercise: `merge_heads` · core · difficulty 2 · 5 minutes
#
# After attention each head has a result for every token. They are put side by side again.
#
# ![Head 0 and head 1 side by side give 1, 2, 3, 4, then 5, 6, 7, 8, then 9 to 12: each word is whole. Reshape alone gives 1, 2, 5, 6, then 9, 10, 3, 4: the words are mixed up.](picture:heads_merged)
#
# $$(\text{batch}, \text{heads}, \text{length}, d_\text{head}) \rightarrow (\text{batch}, \text{length}, d_\text{model})$$
#
# In numbers: token 0 has 1, 2 in head 0 and 3, 4 in head 1. Together they are 1, 2, 3, 4 again.
#
# <details><summary>Hint 1</summary>
#
# Which two moves did you make, and in which order must they be undone?
# </details>
# <details><summary>Hint 2</summary>
#
# Let the two axes change places back first. Then make one axis of the last two.
# </details>
# <details><summary>Hint 3</summary>
#
# `x.transpose(1, 2)` and then `.flatten(start_dim=?)`. After a transpose, `view` refuses; `flatten` and `reshape` copy.
# </details>
#
# Docs: [flatten](https://pytorch.org/docs/stable/generated/torch.flatten.html) ·
# [contiguous](https://pytorch.org/docs/stable/generated/torch.Tensor.contiguous.html), if you prefer `view`.

# %% exercise="merge_heads"

# %% [markdown]
# **What you made.** A way back. Cut and merged with every number of heads, the tensor must come back unchanged.

# %%
x = torch.randn(2, 5, 24)
pd.DataFrame(
    [
        {
            "heads": count,
            "cut": tuple(split_heads(x, count).shape),
            "merged": tuple(merge_heads(split_heads(x, count)).shape),
            "the same again?": "yes" if torch.equal(merge_heads(split_heads(x, count)), x) else "no",
        }
        for count in (1, 2, 3, 4, 6, 8, 12, 24)
    ]
)

# %% [markdown]
# ### Exercise: `MultiHeadAttention` · core · difficulty 3 · 20 minutes
#
# Now put it together. Three Linear layers, cut, attend, merge. And one more Linear layer at the end, `output`.
# Without it the heads would stay side by side for ever: nothing would mix what they found.
#
# The queries may come from other words than the keys and values. In lesson 4 they will: there a translation looks at its source.
# So `forward` takes three tensors. For self-attention we hand over the same one three times.
#
# $$\text{output} = \text{merge}(\text{head}_0, \ldots, \text{head}_{h-1})\, W_O + b_O$$
#
# | | shape |
# |---|---|
# | queries | `(batch, query_length, d_model)` |
# | keys, values | `(batch, key_length, d_model)` |
# | after `split_heads` | `(batch, heads, ..., d_head)` |
# | weights, mask | `(batch, heads, query_length, key_length)` |
# | output | `(batch, query_length, d_model)` |
#
# In numbers: d_model 32 and 4 heads make d_head 8. So each head's scores are divided by the root of 8, and that happens by itself. Why?
#
# <details><summary>Hint 1</summary>
#
# Your attention function takes any axes in front. What must stand in front here, so that each head attends by itself?
# </details>
# <details><summary>Hint 2</summary>
#
# Project first, then cut. The function finds d by itself, as the last axis of the query: that is d_head now.
# </details>
# <details><summary>Hint 3</summary>
#
# `query = split_heads(self.query(?), ?)`, and so for key and value. Then one call, one `merge_heads`, one `self.output`. Return the weights too.
# </details>
#
# Docs: [nn.Linear](https://pytorch.org/docs/stable/generated/torch.nn.Linear.html). PyTorch has its own, for comparison:
# [nn.MultiheadAttention](https://pytorch.org/docs/stable/generated/torch.nn.MultiheadAttention.html).

# %% exercise="MultiHeadAttention"

# %% [markdown]
# **What you made.** The same thing that PyTorch ships. We copy your weights into PyTorch's layer, and compare.
# **And how does the number of parameters change from 1 head to 8?** Guess.

# %%
guess_parameters = None  # "more", "fewer" or "the same"

torch.manual_seed(0)
counts = {heads: sum(p.numel() for p in MultiHeadAttention(32, heads).parameters()) for heads in (1, 2, 4, 8)}
print("your guess:", guess_parameters, " parameters by heads:", counts)
ours = MultiHeadAttention(32, 4)
x = torch.randn(3, 8, 32)
with torch.no_grad():
    difference = lab.difference_from_pytorch(ours, 4, x)
    _, weights = ours(x, x, x)  # (3, 4, 8, 8)
print(f"largest difference from nn.MultiheadAttention: {difference:.1e}")
plots.heatmaps(
    {f"head {head}": weights[0, head].round(decimals=2) for head in range(4)},
    title="An untrained layer: four heads, the same eight tokens",
    rows="who looks",
    columns="at whom",
)

# %% [markdown]
# **What you should see**
#
# - Your layer and PyTorch's differ by less than 0.00001. <!-- claim: as_pytorch -->
# - The number of parameters is the same for 1, 2, 4 and 8 heads. <!-- claim: heads_are_free -->
#
# Fresh heads look everywhere, each in its own way. Training will sharpen them.
#
# ### Exercise: `padding_mask` · core · difficulty 2 · 5 minutes
#
# So far our models looked at padding too. **How much of the attention went there?** Padding means nothing, so every bit of it is wasted or worse.
#
# ![The tokens 4, 7, 0. The mask for the keys says yes, yes, no, in shape (1, 1, 1, 3). Broadcasting lays this row over every query and every head: the column of the padding says no everywhere.](picture:mask_over_keys)
#
# $$\text{mask}[b, 0, 0, k] = (\text{tokens}[b, k] \neq \text{pad id})$$
#
# In numbers: tokens 4, 7, 0 give True, True, False. The two axes of size 1 stand for every head and every query, and broadcasting repeats them.
#
# A mask of shape `(batch, length)` would be lined up from the right. It would meet the axes query and key, and hide the wrong things without a word.
#
# <details><summary>Hint 1</summary>
#
# Which of the two must be hidden: padding as one who looks, or padding as one who is looked at?
# </details>
# <details><summary>Hint 2</summary>
#
# One comparison makes booleans of shape `(batch, length)`. The length must become the *last* axis, the one of the keys.
# </details>
# <details><summary>Hint 3</summary>
#
# Index with `[:, None, None, :]`: each `None` is a new axis of size 1.
# </details>
#
# Docs: [torch.ne](https://pytorch.org/docs/stable/generated/torch.ne.html) ·
# [unsqueeze](https://pytorch.org/docs/stable/generated/torch.unsqueeze.html).

# %% exercise="padding_mask"

# %% [markdown]
# **What you made.** Blinkers. Here an untrained layer reads "2-1" with four of padding and CLS, with and without your mask.
# **Which share of the attention goes to padding without it?**

# %%
guess_padding = None  # a share between 0 and 1

tokens = lab.prepared([("2-1", 1)])[0]  # (1, 8)
symbols = lab.symbols_of(tokens[0])
torch.manual_seed(0)
vectors, layer = nn.Embedding(lab.VOCAB_SIZE, 32)(tokens), MultiHeadAttention(32, 1)  # (1, 8, 32)
with torch.no_grad():
    open_eyes = layer(vectors, vectors, vectors)[1]  # (1, 1, 8, 8)
    blinkered = layer(vectors, vectors, vectors, padding_mask(tokens))[1]
is_padding = tokens[0] == 0
wasted = open_eyes[0, 0][:, is_padding].sum(dim=1).mean().item()
wasted_still = blinkered[0, 0][:, is_padding].sum(dim=1).mean().item()
print(f"your guess: {guess_padding}, without the mask: {wasted:.2f}, with it: {wasted_still:.2f}")
plots.heatmaps(
    {"without the mask": open_eyes[0, 0].round(decimals=2), "with it": blinkered[0, 0].round(decimals=2)},
    symbols,
    symbols,
    rows="who looks",
    columns="at whom",
    low=0,
)

# %% [markdown]
# **What you should see**
#
# - Without the mask between 25 and 75 % of the attention goes to padding, and with it none. <!-- claim: padding_is_wasted -->
#
# The rows of the padding are still there: padding may look. Nobody reads what it sees, so that is harmless.

# %% [markdown]
# ## Part 4 · From a layer to a stack
#
# Many layers, one on top of another: that makes a Transformer deep. Two more parts keep such a stack alive. First the **norm**.
#
# ### Exercise: `LayerNorm` · core · difficulty 3 · 15 minutes
#
# Vectors that pass many layers may grow or fade. A norm brings each back to one scale: mean 0, variance 1.
# Over which numbers is the mean taken? There are two answers, and two layers.
#
# ![A table of four tokens with three features each. LayerNorm frames the row of token 1, with 4, 8, 6: the mean 6 and the spread of this one token. BatchNorm frames the column of one feature, with 3, 8, 1, 4: the mean 4 and the spread of this feature over all tokens of the batch.](picture:norm_axes)
#
# **LayerNorm** looks along one token. **BatchNorm** looks along one feature, over everyone in the batch.
#
# $$\text{result} = \frac{x - \text{mean}}{\sqrt{\text{variance} + \varepsilon}} \cdot \text{weight} + \text{bias}$$
#
# In numbers: (4, 8, 6) has mean 6 and differences -2, 2, 0. The variance is (4 + 4 + 0) / 3 = 2.67, with its root 1.63. So out come -1.22, 1.22 and 0.
#
# The variance is divided by the number of features, not by one less. The tiny ε stands *inside* the root: a token whose numbers are
# all equal has variance 0. `weight` and `bias` are learnt, one number for each feature, and start at 1 and 0.
#
# <details><summary>Hint 1</summary>
#
# Which axis is "along one token"? After a mean over it, can the result still be subtracted from x?
# </details>
# <details><summary>Hint 2</summary>
#
# `keepdim=True` leaves an axis of size 1, so that broadcasting works. `var` divides by one less unless you tell it otherwise.
# </details>
# <details><summary>Hint 3</summary>
#
# `x.mean(dim=-1, keepdim=True)`, and `x.var(dim=-1, keepdim=True, correction=0)`. `nn.Parameter(torch.ones(d_model))` makes the weight.
# </details>
#
# Docs: [Tensor.var](https://pytorch.org/docs/stable/generated/torch.var.html) ·
# [nn.Parameter](https://pytorch.org/docs/stable/generated/torch.nn.parameter.Parameter.html). PyTorch's own, for comparison:
# [nn.LayerNorm](https://pytorch.org/docs/stable/generated/torch.nn.LayerNorm.html).

# %% exercise="LayerNorm"

# %% [markdown]
# **What you made.** Let it stand beside PyTorch's BatchNorm. A text of five tokens is normed alone, and then in the company of three other texts.
# **Whose result changes with the company?**

# %%
guess_company = None  # "LayerNorm", "BatchNorm", "both" or "neither"

torch.manual_seed(0)
company = 3 * torch.randn(4, 5, 6) + torch.arange(6)  # (batch 4, length 5, d_model 6)
norms = {"LayerNorm": LayerNorm(6), "BatchNorm": lab.batch_norm(6)}
table = {}
for name, norm in norms.items():
    together, alone = norm(company).detach(), norm(company[:1]).detach()
    table[name] = {
        "largest mean of a token": together.mean(dim=-1).abs().max().item(),
        "largest mean of a feature": together.mean(dim=(0, 1)).abs().max().item(),
        "change with the company": (together[:1] - alone).abs().max().item(),
    }
changed = [name for name, line in table.items() if line["change with the company"] > 1e-4]
print("your guess:", guess_company, " it is:", " and ".join(changed) or "neither")
pd.DataFrame(table).T.round(3)

# %% [markdown]
# **What you should see**
#
# - LayerNorm makes the mean of every token 0, and BatchNorm that of every feature, both to within 0.0001. <!-- claim: norms_along_axes -->
# - A text's LayerNorm stays the same whatever else is in the batch, and its BatchNorm moves by more than 0.1. <!-- claim: company_matters -->
#
# A text should get the same answer alone as in a crowd. And in a batch of texts, the padding would count as company.
# That is why Transformers use LayerNorm. (When it predicts, BatchNorm uses averages that it kept from training. So it behaves in two different ways.)
#
# ### Exercise: `EncoderBlock` · core · difficulty 3 · 15 minutes
#
# The second part is the **residual**: a road around each layer. The layer does not replace x, it adds to x.
#
# ![Two blocks from bottom to top. Pre-norm, ours: x goes through norm and attention, and is added to x; then through norm and feed-forward, and is added again. The road of x runs through from bottom to top. Post-norm, the paper of 2017: x goes through attention, is added to x, and the sum is normed; then the same with feed-forward. Every road passes two norms.](picture:pre_and_post_norm)
#
# $$x \leftarrow x + \text{attention}(\text{norm}_1(x)) \qquad x \leftarrow x + \text{feedforward}(\text{norm}_2(x))$$
#
# This order is called **pre-norm**: each sub-layer reads a normed copy. The paper of 2017 normed after the sum, which is **post-norm**. Which is better? You will measure that soon.
#
# In numbers: the shape is `(batch, length, d_model)` from bottom to top. So blocks can be stacked as high as one likes.
#
# Two norms mean two objects. Each has a weight and a bias of its own to learn.
#
# <details><summary>Hint 1</summary>
#
# In self-attention, who gives queries, keys and values? Is it x, or the normed x?
# </details>
# <details><summary>Hint 2</summary>
#
# The attention layer returns a pair. Only the first of it belongs to the sum.
# </details>
# <details><summary>Hint 3</summary>
#
# `normed = self.norm1(x)`, then `x = x + self.attention(?, ?, ?, mask)[?]`. The second half has the same form, on one line.
# </details>
#
# Docs: [nn.Module](https://pytorch.org/docs/stable/generated/torch.nn.Module.html).

# %% exercise="EncoderBlock"

# %% [markdown]
# **What you made.** A block to stack. Before any training, here is what the residual is for. We send random tokens through a stack of fresh blocks,
# and ask how *different* the tokens of one row still are. At 0 they are all the same vector.
#
# **Without residuals, after how many blocks are they all the same?** Say, less than a millionth apart.

# %%
guess_same = None  # 1, 2, 4, 6, 12, 24 or "never"

parts = lab.Parts(MultiHeadAttention, FeedForward, LearnedPositionalEmbedding, LayerNorm, padding_mask)
depths = [0, 1, 2, 4, 6, 12, 24]
recipes = {"with residuals": lab.Recipe(), "without": lab.Recipe(residual=False)}
apart = lab.differences_by_depth(parts, recipes, depths)
same_after = next((depth for depth, spread in zip(depths, apart["without"], strict=True) if spread < 1e-6), "never")
print("your guess:", guess_same, " it is:", same_after)
plots.curves(
    apart,
    x_names=[str(depth) for depth in depths],
    title="How different the tokens of a row are",
    x_label="blocks",
    y_label="difference",
    log_y=True,
)

# %% [markdown]
# **What you should see**
#
# - Without residuals the tokens are less than a millionth apart after 4 blocks. <!-- claim: tokens_collapse -->
# - With them, they are still more than a third apart after 24. <!-- claim: residuals_keep_tokens_apart -->
#
# Each attention layer replaces every token by a mean. A mean of means of means has forgotten who was who.
# With the residual, every token carries itself along.
#
# ### Exercise: `TransformerClassifier` · core · difficulty 3 · 20 minutes
#
# You have all parts. Here is the order.
#
# ![From top to bottom: tokens (batch, length); embedding, positions, then the encoder blocks, num_layers times, and the final norm, all (batch, length, d_model); the last position, (batch, d_model); a Linear layer, (batch, num_classes). A padding mask is made from the tokens and goes to every block.](picture:classifier_stack)
#
# The road of x is never normed inside pre-norm blocks. So one **final norm** stands after the stack.
# The answer is read at the last position, where the CLS token is.
#
# In numbers: 128 texts of 8 tokens, d_model 32: `(128, 8)`, `(128, 8, 32)` all the way, `(128, 32)`, `(128, 2)`.
#
# The mask is made once, from the tokens. Every block needs it.
#
# <details><summary>Hint 1</summary>
#
# Which parts are learnt, and so belong into `__init__`? How do you keep a *list* of modules, so that PyTorch sees it?
# </details>
# <details><summary>Hint 2</summary>
#
# `nn.ModuleList` holds the blocks, and a loop in `forward` goes through them. A plain list would hide their weights from the optimiser.
# </details>
# <details><summary>Hint 3</summary>
#
# Embed, add positions, loop over `self.blocks` with the mask, then `self.final_norm(x)[:, -1]` into the last Linear layer.
# </details>
#
# Docs: [nn.Embedding](https://pytorch.org/docs/stable/generated/torch.nn.Embedding.html) ·
# [nn.ModuleList](https://pytorch.org/docs/stable/generated/torch.nn.ModuleList.html).

# %% exercise="TransformerClassifier"

# %% [markdown]
# **What you made.** A Transformer. First, look at what passes through it. `trace` sends a batch through and writes down each module's shapes.
# **One kind of row has a shape with four axes that is no mask. What are they?**

# %%
torch.manual_seed(0)
model = TransformerClassifier(**lab.SIZES)  # d_model 32, 4 heads, d_ff 64, 2 layers
trace(model, train_set[0][:128])

# %% [markdown]
# They are the weights of a `MultiHeadAttention`: 128 texts, 4 heads, 8 queries, 8 keys. `attention_maps` keeps them when you ask. Everything else
# on the road is `(128, 8, 32)`, from the positions to the final norm.
#
# Now train it. Every 50 steps we stop for a moment and measure all three tests.
# **Which accuracy will it reach on texts with the same first digit?** The one layer had about a coin's.

# %%
guess_classifier = None  # a share between 0 and 1

on_the_way = {name: [] for name in sets.tests}


def measure(step):
    for name, share in lab.accuracies(model, sets).items():
        on_the_way[name].append(share)


losses = fit(model, *train_set, steps=800, learning_rate=3e-3, name="the classifier", look=measure, every=50)
scoreboard["classifier"] = lab.accuracies(model, sets)
print("your guess:", guess_classifier, f" it is: {scoreboard['classifier']['same first digit']:.2f}")
display(
    plots.curves(
        on_the_way,
        x=range(0, 801, 50),
        title="One thing after another",
        y_label="accuracy",
        levels={"coin": 0.5},
    )
)
pd.DataFrame(scoreboard | {f"rule: {name}": shares for name, shares in rules.items()}).T.round(3)

# %% [markdown]
# **What you should see**
#
# - The classifier gets at least 98 % of all texts, and at least 95 % on equal lengths. <!-- claim: classifier_learns -->
# - On texts with the same first digit it gets at least 65 %, where every rule is a coin. <!-- claim: classifier_beats_the_rules -->
# - After 100 steps it has more than 90 % of all texts, and less than 70 % of those with the same first digit. <!-- claim: shortcuts_come_first -->
#
# Look at the curves. First it finds the lengths. Then the first digits. Last, and slowly, what lies behind them.
# A Transformer is as fond of shortcuts as the small layer was. But it does not stop there.
#
# ### What the heads look at
#
# The text is `372-359`. Here are the four heads of the first layer: each row is a token that looks, each column one that is looked at.

# %%
tokens = lab.prepared([("372-359", 1)])[0]  # (1, 8)
symbols = lab.symbols_of(tokens[0])
maps = attention_maps(model, tokens)  # {layer: (1, 4, 8, 8)}
plots.heatmaps(
    {f"head {head}": maps["blocks.0.attention"][0, head].round(decimals=2) for head in range(4)},
    symbols,
    symbols,
    title="First layer, 372-359",
    rows="who looks",
    columns="at whom",
    low=0,
    high=1,
)

# %% [markdown]
# One text is an anecdote. So let us take all thousand test texts, and only the CLS token's row. To which *kind* of token does each head look, on average?
#
# **Is there a head that looks at the minus sign nearly always?** It is neither a digit nor an answer. Guess yes or no.

# %%
guess_minus = None  # "yes" or "no"

test_tokens = lab.prepared(sets.tests["all"])[0]  # (1000, 8)
looks = lab.focus(attention_maps(model, test_tokens), test_tokens)
most_on_minus = looks["minus"].max()
print("your guess:", guess_minus, f" the most for the minus sign: {most_on_minus:.2f}")
short_names = [f"L{layer} h{head}" for layer in range(2) for head in range(4)]  # layer and head, both counted from 0
plots.heatmap(
    looks.T.round(2),
    list(looks.columns),
    short_names,
    title="Where CLS looks, on average",
    columns="head",
    low=0,
    high=1,
)

# %% [markdown]
# **What you should see**
#
# - One head gives the minus sign more than 80 % of its weight. <!-- claim: a_head_for_the_minus -->
# - One head of the first layer gives the first digits more than 60 %. <!-- claim: a_head_for_first_digits -->
# - No head gives padding anything. <!-- claim: no_look_at_padding -->
#
# Which head does which changes from seed to seed. But both roles came up in all our runs: where does the first number end, and how do the two begin?
# These are the two shortcuts, each with a head of its own.
#
# A word of care. A weight tells where a head *takes* from. It does not tell what was done with it, nor that the answer
# hangs on it. After the first layer a place holds a mix of others. Look at such maps, and then test what you think you see.
#
# ### The harder set
#
# The last column is still the weakest. Most training texts never need a second digit. So let us train on texts
# that do: both numbers of one length. The tests stay as they were.
#
# **What happens to the accuracy on *all* texts?**

# %%
guess_harder = None  # "rises", "stays" or "falls"

hard_set = lab.prepared(lab.draw_sets(seed=0, equal_lengths=True).train)
torch.manual_seed(0)
hardened = TransformerClassifier(**lab.SIZES)
fit(hardened, *hard_set, steps=800, learning_rate=3e-3, name="on the harder set")
scoreboard["classifier, harder set"] = lab.accuracies(hardened, sets)
before, after = (scoreboard[name]["all"] for name in ("classifier", "classifier, harder set"))
happened = "falls" if after < before - 0.02 else "rises" if after > before + 0.02 else "stays"
print("your guess:", guess_harder, " it:", happened)
pd.DataFrame({name: scoreboard[name] for name in ("classifier", "classifier, harder set")}).T.round(3)

# %% [markdown]
# **What you should see**
#
# - On texts with the same first digit the harder set brings at least 4 points. <!-- claim: harder_set_helps -->
# - On all texts the accuracy falls below 80 %. <!-- claim: harder_set_forgets -->
#
# It compares digits well now. But nobody showed it that a longer number is larger, so `9-100` is beyond it.
# A model learns what its data ask for, and nothing else. For both skills, train on both kinds of text.

# %% [markdown]
# ## Part 5 · What matters?
#
# A Transformer has many parts. Which ones does this task need? The honest way to find out: take away one part at a time, and train again.
# That is called an **ablation**. First a short one, 200 steps each.
#
# **Apart from the positions: which of these hurts most when it is gone?**

# %%
guess_ablation = None  # "no feed-forward", "no residual", "no norm" or "none of them"

short = ["complete", "no positions", "no feed-forward", "no residual", "no norm"]
tried = lab.compare(parts, {name: lab.VARIANTS[name] for name in short}, sets, steps=200)
lab.as_table(tried).drop(columns="seed").round(3)

# %% [markdown]
# **What you should see**
#
# - Without positions all three tests lie between 0.42 and 0.58: the riddle of part 2, in a whole Transformer. <!-- claim: ablation_positions -->
# - Every other variant gets at least 90 % of all texts. <!-- claim: ablation_others -->
#
# One run each says little, as you know by now. Here is the full table: twelve variants, four seeds each, 800 steps.
# It takes several minutes, so it was measured beforehand. `make claims` measures it again.

# %%
ablations = measured("03_ablations")
tests = list(sets.tests)
dots = {name: {test: list(runs[test]) for test in tests} for name, runs in ablations.groupby("variant", sort=False)}
display(
    plots.dots(
        dots,
        title="One change at a time, four seeds each",
        x_label="accuracy",
        levels={"coin": 0.5},
        x_limits=(0.42, 1.01),
    )
)
ablations.groupby("variant", sort=False)[tests].agg(["mean", "min", "max"]).round(3)

# %% [markdown]
# **What you should see**
#
# - Without positions every run is a coin on all three tests. <!-- claim: table_positions -->
# - One head, or one layer, loses at least 5 points on the same first digit, in every seed. <!-- claim: table_heads_and_layers -->
# - Without the feed-forward network, the residual or the norm, or with post-norm, all texts change by less than 1.5 points. <!-- claim: table_rest_is_noise -->
#
# So positions are everything here. Several looks help, side by side (heads) or one after another (layers). That is the second sitting's reason.
#
# And the rest? Look at the ranges in the hardest column. They overlap with those of the complete model. That is **seed noise**: from these
# runs nobody can say that norm, residual or feed-forward network help *on this task, with two layers*. You will read otherwise in many places.
# A wider model is no better here either.
#
# But we saw what happens to tokens in a deep stack without residuals. So let us go deeper.

# %% [markdown]
# ### Pre-norm or post-norm?
#
# With two layers the order of norm and sum made no difference. So why does the course choose pre-norm? Let us go deeper: **six layers**,
# and a learning rate of 0.01, three times what we had. Both have residuals. **Which of the two learns?**

# %%
guess_deep = None  # "pre-norm", "post-norm", "both" or "neither"

deep = lab.compare(
    parts, {name: lab.SIX_LAYERS[name] for name in ("pre-norm", "post-norm")}, sets, steps=200, rate=0.01
)
learners = [run.variant for run in deep if run.accuracies["all"] > 0.7]
verdict = {2: "both", 0: "neither"}.get(len(learners)) or learners[0]
print("your guess:", guess_deep, " it is:", verdict)
display(
    plots.curves(
        {run.variant: run.losses for run in deep},
        title="Six layers, learning rate 0.01",
        levels={"coin": math.log(2)},
        y_limits=(0, 1.2),
    )
)
lab.as_table(deep).drop(columns="seed").round(3)

# %% [markdown]
# **What you should see**
#
# - Pre-norm gets at least 90 % of all texts, and post-norm stays between 40 and 60 %. <!-- claim: deep_pre_norm -->
#
# The code differs in one place: the norm stands before the sub-layer, or after the sum. Is it always so? Here is the larger
# table, measured beforehand by `make claims`: three learning rates, three seeds, 400 steps.

# %%
six = measured("03_six_layers")
display(
    plots.dots(
        {
            f"{variant}, {rate:g}": {"all": list(runs["all"])}
            for (variant, rate), runs in six.groupby(["variant", "learning rate"], sort=False)
        },
        title="Six layers: variant and learning rate, three seeds each",
        x_label="accuracy on all texts",
        levels={"coin": 0.5},
        x_limits=(0.42, 1.01),
    )
)
six.pivot_table(index="variant", columns="learning rate", values="all", aggfunc=["min", "max"], sort=False).round(3)

# %% [markdown]
# **What you should see**
#
# - With residuals, every run at the rates 0.001 and 0.003 gets more than 95 % of all texts, wherever the norm stands. <!-- claim: six_with_residuals -->
# - At 0.01 pre-norm still gets more than 90 % in every run. Post-norm never gets more than 60 %, and no norm at all never more than 75 %. <!-- claim: six_at_high_rate -->
# - Without residuals no run has more than 60 % on equal lengths, whatever the norm and the rate. <!-- claim: six_without_residuals -->
#
# So post-norm is not wrong. It is touchy: it wants small steps, at least at first. The paper of 2017 raises its learning rate slowly from 0,
# which is called *warm-up*. You will do that in lesson 8. Pre-norm forgives more, and so we use it. And a norm somewhere is worth having:
# without any, the loss of two of the three runs ends in the millions.
#
# And the residual is no luxury in a deep stack. You have seen why, before any training: without it, four blocks make all tokens the same.

# %% [markdown]
# ## The bug clinic
#
# A colleague wants no CLS token. His classifier takes the *mean* of all tokens' vectors, which is a good idea.
# The rest is yours: embedding, positions, blocks with the padding hidden from attention, final norm. Then comes this.
# Is anything wrong?


# %%
def hasty_mean(x, tokens):
    """One vector for each text: (batch, length, d_model) -> (batch, d_model)."""
    return x.mean(dim=1)


def real(tokens):
    """What attention may look at: (batch, length)."""
    return tokens != 0


def mean_classifier(attended, mean):
    torch.manual_seed(0)
    encoder_blocks = [EncoderBlock(32, 4, 64) for _ in range(2)]
    return lab.MeanClassifier(
        encoder_blocks, LearnedPositionalEmbedding(24, 32), LayerNorm(32), 32, attended=attended, pool=mean
    )


# %% [markdown]
# It trains well. All test texts are padded to 7, like the training texts. Then somebody pads the *same* texts to 24, to put them
# into a batch with longer ones. **Which accuracy then?**

# %%
guess_hasty = None  # a share between 0 and 1

lengths = [7, 8, 10, 14, 20, 24]
hasty = mean_classifier(real, hasty_mean)
fit(hasty, *lab.padded_right(sets.train, 7), steps=400, learning_rate=3e-3, name="hasty")
by_length = {"hasty": [accuracy(hasty, *lab.padded_right(sets.tests["all"], length)) for length in lengths]}
print(f"your guess: {guess_hasty}, at 7: {by_length['hasty'][0]:.2f}, at 24: {by_length['hasty'][-1]:.2f}")
plots.curves(
    by_length,
    x=lengths,
    title="The same 1000 texts with more and more padding",
    x_label="padded to",
    y_label="accuracy",
    y_limits=(0.45, 1.03),
)

# %% [markdown]
# **What you should see**
#
# - Padded to 7, as in training, the hasty model gets more than 95 %. <!-- claim: hasty_looks_fine -->
# - Padded to 24, it loses at least 5 points, with not a digit changed. <!-- claim: hasty_reads_padding -->
#
# The attention is masked, as it should be. But the *mean* runs over all places, padding included. The more padding, the more it drowns the text.
# No error, and a perfect score on the test set. It shows only when the batch changes.
#
# ### Exercise: `ignores_padding` · core · difficulty 3 · 20 minutes
#
# Write the test that would have caught it. It is handed a model that pools by a mean, and rows that are padded on the right.
# What may you change about padding, so that no answer should change?
#
# ![The text 2-1 three times: as it is, with three of padding behind it, and with padding whose content is another. From all three an arrow leads to the same logits, with a question mark.](picture:padding_changes_nothing)
#
# Two things: its *amount*, and its *content*. The content is whatever the model's embedding holds for id 0.
#
# | model | more padding | other content | answer |
# |---|---|---|---|
# | sound | same logits | same logits | True |
# | hasty: its mean counts padding | other logits | other logits | False |
# | its attention looks at padding | other logits | other logits | False |
#
# Compare logits, not answers: a small leak moves the logits long before it turns a yes into a no. Leave room for rounding.
# And a doctor leaves the patient as found: its mode (`train` or `eval`) and its weights must be the same afterwards.
#
# <details><summary>Hint 1</summary>
#
# How do you add columns of padding to `tokens`? And how do you change an embedding without harming the model?
# </details>
# <details><summary>Hint 2</summary>
#
# Work on a copy, `copy.deepcopy(model)`, in `eval` mode. Compute the logits as they are, with more padding, for each row without its padding, and with
# row 0 of every `nn.Embedding` changed. But is a table of *positions* an embedding too? Moving its first row moves real tokens. Think about which tables to touch.
# </details>
# <details><summary>Hint 3</summary>
#
# `nn.functional.pad(tokens, (0, 3))` adds three columns of 0. Compare with `torch.allclose(one, other, rtol=1e-4, atol=1e-5)`. Everything inside `with torch.no_grad():`.
# </details>
#
# Docs: [copy.deepcopy](https://docs.python.org/3/library/copy.html#copy.deepcopy) ·
# [nn.functional.pad](https://pytorch.org/docs/stable/generated/torch.nn.functional.pad.html) ·
# [torch.allclose](https://pytorch.org/docs/stable/generated/torch.allclose.html).

# %% exercise="ignores_padding"

# %% [markdown]
# **What you made.** A doctor. Four patients, all untrained: your test needs no training to find the trouble. They differ only in what
# attention may look at, and in what the mean counts. **Whom do you trust?**


# %%
def everything(tokens):
    return tokens >= 0


def not_one(tokens):
    return tokens != 1  # padding has id 0 here, but another id in the code that this was copied from


patients = {
    "sound": mean_classifier(real, lab.mean_of_real),
    "hasty: the mean counts padding": mean_classifier(real, hasty_mean),
    "attention sees padding": mean_classifier(everything, lab.mean_of_real),
    "hides another id": mean_classifier(not_one, lab.mean_of_real),
}
some_texts = lab.padded_right(sets.tests["all"][:16], 9)[0]  # (16, 9)
pd.DataFrame(
    {"ignores padding?": ["yes" if ignores_padding(patient, some_texts) else "no" for patient in patients.values()]},
    index=list(patients),
)

# %% [markdown]
# Now the cure, `lab.mean_of_real`: it adds up the real tokens only, and divides by their number.

# %%
sound = mean_classifier(real, lab.mean_of_real)
fit(sound, *lab.padded_right(sets.train, 7), steps=400, learning_rate=3e-3, name="sound")
by_length["sound"] = [accuracy(sound, *lab.padded_right(sets.tests["all"], length)) for length in lengths]
plots.curves(
    by_length,
    x=lengths,
    title="Before and after",
    x_label="padded to",
    y_label="accuracy",
    y_limits=(0.45, 1.03),
)

# %% [markdown]
# **What you should see**
#
# - The test trusts the sound model, and none of the three others. <!-- claim: the_doctor_is_right -->
# - The sound model's accuracy is the same at 7 and at 24, to within 0.002. <!-- claim: the_cure_works -->
#
# Three ways to be wrong, and no error message from any of them. Your test needs one line and no training. Run it before you train.

# %% [markdown]
# ## Explain it
#
# A friend writes: "My Transformer sorts reviews into good and bad, with 91 % on the test set. I left the positions out, and it still
# gets 90 %. So positions are useless. And my colleague's run with 8 heads got 92 %, so I will use 8."
#
# Answer in four or five sentences, in your own words. What does the first result say about the *task*, what can a model without
# positions never tell apart, and what would you ask before you believe the second one?

# %% [markdown] explain=true
# Without positions a Transformer that reads one place sees a bag of words: any two reviews with the same words get the same answer. For reviews
# that is nearly enough, since words such as "boring" decide, so the result says that this task hardly needs order, not that positions are useless.
# It can never tell "not good, but funny" from "good, but not funny". I would make a small test set of such pairs and look at the accuracy there.
# As for the heads: one run against one run can differ by a point from the seed alone. I would ask for three or four seeds of each, and compare the ranges.

# %% [markdown]
# ## How good were your guesses?
#
# Here are your predictions beside what happened. A wrong guess is worth more than none: it shows where to look.

# %%
fallen = ablations.groupby("variant")["same first digit"].mean()
candidates = ["no feed-forward", "no residual", "no norm"]
short_all = {run.variant: run.accuracies["all"] for run in tried}
hurt = [name for name in candidates if short_all[name] < short_all["complete"] - 0.02]
board = [
    ("share of cat", guess_cat, 0.665),
    ("nothing may be looked at", guess_hidden, "zeros" if masked_softmax(row, mask[3]).sum() == 0 else "other numbers"),
    ("factor that makes cat sure", guess_factor, firm_enough),
    ("largest of eight weights, not divided", guess_unscaled, round(largest["not divided"][-1], 2)),
    ("attention alone", guess_attention, round(scoreboard["attention"]["all"], 2)),
    ("with a feed-forward network", guess_feed_forward, round(scoreboard["+ feed-forward"]["all"], 2)),
    ("with positions, at best", guess_positions, round(runs[best]["all"], 2)),
    ("the same on equal lengths", guess_equal, round(runs[best]["equal lengths"], 2)),
    ("parameters with more heads", guess_parameters, "the same" if len(set(counts.values())) == 1 else "not the same"),
    ("attention that goes to padding", guess_padding, round(wasted, 2)),
    ("who changes with the company", guess_company, " and ".join(changed) or "neither"),
    ("blocks until all tokens are the same", guess_same, same_after),
    (
        "the classifier on the same first digit",
        guess_classifier,
        round(scoreboard["classifier"]["same first digit"], 2),
    ),
    ("a head for the minus sign?", guess_minus, "yes" if most_on_minus > 0.8 else "no"),
    ("all texts, after the harder set", guess_harder, happened),
    ("what hurts most when it is gone", guess_ablation, min(hurt, key=short_all.get) if hurt else "none of them"),
    ("six layers: who learns", guess_deep, verdict),
    ("the hasty model, padded to 24", guess_hasty, round(by_length["hasty"][-1], 2)),
]
pd.DataFrame(
    [
        (question, "-" if guess is None else str(guess), str(answer), lab.hit(guess, answer))
        for question, guess, answer in board
    ],
    columns=["question", "your guess", "what happened", "right?"],
)

# %% [markdown]
# ## To recall
#
# Answer from memory, then unfold.
#
# **1.** What are query, key and value, and what are the four steps of attention?
#
# <details><summary>Answer</summary>
#
# What a token looks for, what it offers to be found by, and what it hands over. Compare queries with keys by dot products, divide by the root of d,
# make shares with a softmax that leaves out what is hidden, and mix the values by these shares.
# </details>
#
# **2.** Why can't a Transformer without positions tell `n-m` from `m-n`?
#
# <details><summary>Answer</summary>
#
# Equal tokens have equal vectors wherever they stand, and attention sums over them. A sum does not know the order of its terms.
# The feed-forward network treats each token alone, so it can't bring the order back.
# </details>
#
# **3.** Over which numbers does LayerNorm take its mean, and where does it stand in a pre-norm block?
#
# <details><summary>Answer</summary>
#
# Over the features of one token, by itself. It stands before each sub-layer, inside the residual: x + layer(norm(x)). So the road of x stays free, and one
# final norm follows after the stack.
# </details>
#
# ## Things to try
#
# - Train the classifier on half plain and half equal-length texts. Do all three columns become good?
# - Let `OneLayer` read the mean of all tokens instead of CLS, without positions. Is it still a coin? Why?
# - Give the classifier 16 heads, so that `d_head` is 2. What happens on the same first digit?
# - Train with 2,000 texts instead of 20,000. Which of the three columns suffers most?
# - Draw the table of learned positions as dot products, `table @ table.T`. Which places does the model treat alike?
# - Test the trained classifier on `9-100` and `100-9`. Then test the hardened one.
#
# ## Glossary
#
# | word | meaning |
# |---|---|
# | ablation | taking one part away and training again, to see what it was good for |
# | attention | taking a weighted mean of values, with weights from queries and keys |
# | BatchNorm | a norm along each feature, over the whole batch |
# | cross-entropy | minus the logarithm of the share that the right answer got |
# | embedding | a table with a learnable vector for each id |
# | encoder block | attention and a feed-forward network, each normed and with a residual |
# | feed-forward network | two Linear layers with ReLU between, for each token by itself |
# | head | one of several attentions side by side, each on its part of the vectors |
# | key, query, value | what a token offers, looks for, hands over |
# | LayerNorm | a norm along each token's features |
# | logits | scores before a softmax |
# | mask | booleans that say who may look at whom; True = may |
# | pre-norm, post-norm | the norm before the sub-layer, or after the sum |
# | residual | x added to what a layer makes of it |
# | seed noise | differences between runs that differ in nothing but the seed |
# | self-attention | queries, keys and values from the same tokens |
# | softmax | exp of each score, divided by the sum: positive shares that sum to 1 |
#
# ## Papers and books
#
# - Vaswani and others, [Attention Is All You Need](https://arxiv.org/abs/1706.03762), NeurIPS 2017: section 3.2.1 (the root of d, with a footnote on why), 3.2.2 (heads), 3.3 (feed-forward).
# - Bahdanau, Cho, Bengio, [Neural Machine Translation by Jointly Learning to Align and Translate](https://arxiv.org/abs/1409.0473), ICLR 2015: section 3.1, attention before Transformers.
# - Gehring and others, [Convolutional Sequence to Sequence Learning](https://arxiv.org/abs/1705.03122), ICML 2017: section 3.1, learned positions added to words.
# - Ba, Kiros, Hinton, [Layer Normalization](https://arxiv.org/abs/1607.06450), 2016: section 3. Ioffe, Szegedy, [Batch Normalization](https://arxiv.org/abs/1502.03167), ICML 2015: section 3.
# - He and others, [Deep Residual Learning](https://arxiv.org/abs/1512.03385), CVPR 2016: section 3.1, why layers should add.
# - Xiong and others, [On Layer Normalization in the Transformer Architecture](https://arxiv.org/abs/2002.04745), ICML 2020: section 3, pre-norm and post-norm.
# - Dong, Cordonnier, Loukas, [Attention Is Not All You Need](https://arxiv.org/abs/2103.03404), ICML 2021: section 2, attention without residuals makes all tokens equal.
# - Geirhos and others, [Shortcut Learning in Deep Neural Networks](https://arxiv.org/abs/2004.07780), 2020: what you saw in the three columns, in many fields.
# - Jain, Wallace, [Attention is not Explanation](https://arxiv.org/abs/1902.10186), NAACL 2019: section 4, why heat maps must be read with care.
#
# In lesson 4 two such stacks meet: one reads a question, and the other writes the answer.
