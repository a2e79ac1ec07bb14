# ---
# title: Who looks at whom
# topic: attention and the encoder
# group: Attention and the model
# picture: what_cls_looks_at
# sittings: [115, 140, 70]
# builds_on: [01_pytorch_basics, 02_tokenizer]
# gives:
#   - work attention out by hand, and write it in a few lines
#   - say what attention alone can't do, and prove it
#   - "explain every line of a training loop: minibatch, loss, gradient, step"
#   - build a Transformer that classifies texts, part by part, with a result after each part
#   - tell a skill from a shortcut, and a real difference from the luck of a seed
#   - "look inside a model: its shapes, and what its heads attend to"
#   - write the test that catches a model that reads its padding
# ---

# %% [markdown]
# TITLE
#
# Is 321 larger than 4? You saw it at once. But where did you look, and in what order?
#
# ![The tokens 3, 2, 1, minus, 4, two padding tokens, and CLS, shown twice. Lines run from CLS to the tokens it looks at; the thicker the line, the larger the weight. One head looks almost only at the minus sign. Another looks mostly at the 4 and a little at the 3, the first digits of the two numbers.](picture:what_cls_looks_at)
#
# This is where a trained network looked before it said yes. One part of it looked at the minus sign: where does the first number end?
# Another part looked at the first digits. Nobody told it to. Today you will build that network and look inside it.
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
# **1.** `a` has shape `(2, 5, 8)`, and so does `b`. What shape is `batched_dot(a, b)`, and what is its entry `[1, 0, 4]`?
#
# <details><summary>Answer</summary>
#
# `(2, 5, 5)`. The entry is the dot product of row 0 of `a` with row 4 of `b`, both from batch entry 1.
# See part 1 of [lesson 1](../01_pytorch_basics/01_pytorch_basics.ipynb), "Puzzle 3".
# </details>
#
# **2.** In the rows of lesson 2, in what order do the text, the padding and the CLS token come? What is the padding id?
#
# <details><summary>Answer</summary>
#
# First the text, then the padding, with id 0, and last the CLS token, at index -1.
# See part 1 of [lesson 2](../02_tokenizer/02_tokenizer.ipynb), the exercise `prepare_example`.
# </details>
#
# **3.** In lesson 2 you gave a network the *counts* of the ids. It never got past chance. Why?
#
# <details><summary>Answer</summary>
#
# `"32-4"` and `"4-32"` have the same counts and opposite labels. Keep this one in mind.
# See part 1 of [lesson 2](../02_tokenizer/02_tokenizer.ipynb), where the ids are counted.
# </details>
#
# Two out of three? Go on. Fewer? Read the linked pages first, then come back.
#
# Run the next cell first: it loads the tools. `plots` draws, `fit` trains, and `lab` builds the experiments.
# All of it is part of the course, and you can read it in `transformer_course/plots`, `transformer_course/fitting.py` and `transformer_course/lessons/lesson_03/experiments/`.
# Under each figure, *In words* unfolds into the same thing as text. If there is a GPU, training uses it.

# %% setup=true
import copy
import math

import numpy as np
import pandas as pd
import torch
import torch.nn.functional as F
from IPython.display import display
from torch import nn

from transformer_course import guesses, plots
from transformer_course.lessons.tables import measured
from transformer_course.lessons.lesson_03 import experiments as lab
from transformer_course.fitting import accuracy, fit, predict
from transformer_course.tracing import attention_maps, trace

torch.set_num_threads(1)  # one thread: on a machine that others use too, two can be ten times slower

# %% [markdown]
# ## Part 1 · A soft dictionary
#
# A Python dictionary has keys and values. You look something up with a **query**. If it equals a key, you get that key's value.
# If it equals none of them, you get an error. All or nothing.
#
# What if a query could match *a little*? Then you would get a little of that key's value, and more of another's.
#
# ![Left, a dictionary: the query cat matches the key cat and no other, and the result is the value of cat, (10, 0). Right, attention: the query "who?" matches cat with a share of 0.7, sees with 0.2 and ball with 0.1. The result is the sum of the three values, each times its share: (8, 3).](picture:soft_dictionary)
#
# That is attention. Every word has a query, a key and a value, and all three are vectors.
#
# | | in words | for `cat` |
# |---|---|---|
# | query | what am I looking for? | a vector |
# | key | what do I offer, so that others can find me? | a vector |
# | value | what do I hand over to those who look at me? | a vector |
#
# ### By hand, on three words
#
# Take the words *cat sees ball*. The word *sees* wants to know who sees. Its query is (2, 1, 0, 0).
# How well does it match a key? We take the **dot product**, as in lesson 1.
#
# | word | key | dot product with (2, 1, 0, 0) | value |
# |---|---|---|---|
# | cat | (2, 0, 1, 0) | 4 + 0 + 0 + 0 = 4 | (10, 0) |
# | sees | (1, 0, 0, 1) | 2 + 0 + 0 + 0 = 2 | (0, 10) |
# | ball | (0, 0, 2, 1) | 0 + 0 + 0 + 0 = 0 | (10, 10) |
#
# The scores are 4, 2 and 0. We halve them, for a reason you will meet soon: 2, 1, 0.
# Shares must be positive and add up to 1. So each score goes through `exp` and is divided by the sum. This is the **softmax**.
#
# **What share does *cat* get, with a score of 2 against 1 and 0?** Type a guess.

# %%
guess_cat = None  # a share between 0 and 1

words = ["cat", "sees", "ball"]
query = torch.tensor([2.0, 1.0, 0.0, 0.0])  # (4,): what "sees" looks for
keys = torch.tensor([[2.0, 0.0, 1.0, 0.0], [1.0, 0.0, 0.0, 1.0], [0.0, 0.0, 2.0, 1.0]])  # (3, 4)
values = torch.tensor([[10.0, 0.0], [0.0, 10.0], [10.0, 10.0]])  # (3, 2)

scores = keys @ query / 2  # (3,)
exponentials = torch.exp(scores)
shares = exponentials / exponentials.sum()
print("your guess for cat:", guess_cat)
print("the mix of the values:", (shares @ values).tolist())
pd.DataFrame({"score": scores, "exp": exponentials, "share": shares}, index=words).round(3)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# *Sees* takes two thirds of *cat*, a quarter of itself, and a little of *ball*: 0.665·(10, 0) + 0.245·(0, 10) + 0.090·(10, 10) = (7.55, 3.35).
# </details>
#
# Every step is a sum, a product or an `exp`. So every step has a gradient, and the vectors can be learnt.

# %% [markdown] exercise="masked_softmax" kind="core" difficulty=2 minutes=15
# A word may not look at every other word. Some of them are padding. In lesson 5, some are in the future.
# A **mask** says which are allowed: True where a word may look, False where it may not. What is hidden must get weight 0, and the others
# share the whole between them.
#
# ![The scores 2, 1, 0 with the mask yes, yes, no. After exp: 7.39, 2.72, and 0 for the hidden one; the sum is 10.11. Divided by the sum: 0.73, 0.27, 0. Without the mask it would have been 0.665, 0.245, 0.090.](picture:softmax_with_a_mask)
#
# $$\text{weight}_i = \frac{\text{mask}_i \, e^{s_i}}{\sum_j \text{mask}_j \, e^{s_j}}$$
#
# For example: with the third word hidden, 7.39 / 10.11 = 0.73, and 2.72 / 10.11 = 0.27.
#
# Two corner cases need some thought. What if *everything* is hidden? The formula says 0 / 0, but your function must
# return finite numbers there. And what if the hidden score is 1,000 times larger than the others? It must not matter.
#
# <details><summary>Hint 1</summary>
#
# What score would an entry need before the softmax to get a weight of 0 after it? Is there a finite number that does the job?
# </details>
# <details><summary>Hint 2</summary>
#
# Replace the hidden scores with the lowest number that the dtype has, take the softmax, then set the hidden weights to 0.
# With minus infinity instead, a row with everything hidden becomes NaN.
# </details>
# <details><summary>Hint 3</summary>
#
# Call `masked_fill` with `~mask` twice, once before and once after `torch.softmax(..., dim=?)`. The number is `torch.finfo(scores.dtype).min`.
# </details>
#
# Docs: [torch.softmax](https://pytorch.org/docs/stable/generated/torch.softmax.html) ·
# [masked_fill](https://pytorch.org/docs/stable/generated/torch.Tensor.masked_fill.html) ·
# [torch.finfo](https://pytorch.org/docs/stable/type_info.html).

# %% [markdown]
# **What you've built.** Here are four rows with the same scores and more and more of them hidden. **What do you expect in the last row, where
# nothing may be looked at?** The cell also prints what the usual recipe, with minus infinity, makes of that row.

# %%
guess_hidden = None  # "zeros", "thirds", "an error" or "NaN": yours, last row

row = torch.tensor([2.0, 1.0, 0.0])
mask = torch.tensor([[1, 1, 1], [1, 1, 0], [0, 1, 0], [0, 0, 0]]).bool()  # (4, 3): 1 is True
weights = masked_softmax(row.expand(4, 3), mask)  # (4, 3)
last_row = {0.0: "zeros", 1.0: "thirds"}.get(round(float(weights[3].sum()), 2), "other numbers")
usual = torch.softmax(row.masked_fill(~mask[3], float("-inf")), dim=-1)
print("your guess:", guess_hidden, " it is:", last_row)
print("minus infinity everywhere gives:", usual.tolist())
rows = ["all", "no ball", "only sees", "nothing"]
plots.heatmap(weights, rows, words, title="Who gets a share", low=0, high=1)

# %% [markdown]
# NaN is contagious: a sum with one NaN in it is NaN, and so is the gradient of anything computed from it.
#
# Each row that may look at something adds up to 1. Keep that in mind as a test, because a softmax over the wrong axis may be hard to see in anything else.
# In a [well-known collection of models](https://github.com/labmlai/annotated_deep_learning_paper_implementations/issues/146) one ran over the wrong axis.
# When a reader corrected it and trained both, the pictures that the model drew scored no better than before.

# %% [markdown] exercise="scaled_dot_product_attention" kind="core" difficulty=2 minutes=15
# Now the whole thing. Usually every word has a question, so there are many queries. They form a matrix, one query per row.
# One query or many, the steps are the same: compare, share out, mix. The framed row is the query of *sees*, from above.
#
# ![Three queries, one per row: cat (0, 0, 2, 0), sees (2, 1, 0, 0), framed, and ball (0, 0, 0, 2). They are multiplied by the transposed keys, in which the keys of cat, sees and ball are the columns. The product is the scores: 2, 0, 4 for cat, 4, 2, 0 for sees, 0, 2, 2 for ball. They are halved, since the root of 4 is 2. Softmax turns each row into weights: .24, .09, .67, then .67, .24, .09, then .16, .42, .42. The weights times the values (10, 0), (0, 10), (10, 10) give the output: about (9.1, 7.6), (7.6, 3.3) and (5.8, 8.4).](picture:three_words_ask)
#
# $$\text{weights} = \text{softmax}\left(\frac{Q K^\top}{\sqrt{d}}\right) \qquad \text{output} = \text{weights} \cdot V$$
#
# A matrix product multiplies rows by columns. The keys are rows, so they have to be transposed first: that is the $\top$.
# d is the size of one query vector, 4 in our example. So we divided by the root of 4, and that was the halving.
#
# | | shape |
# |---|---|
# | query | `(..., query_length, d)` |
# | key | `(..., key_length, d)` |
# | scores, weights, mask | `(..., query_length, key_length)` |
# | value | `(..., key_length, d_value)` |
# | output | `(..., query_length, d_value)` |
#
# The dots stand for any axes in front, such as a batch. Don't mix up d, the size of one query, with the number of queries.
#
# <details><summary>Hint 1</summary>
#
# Two matrix products, and your last function between them. Which axis has to disappear in each product?
# </details>
# <details><summary>Hint 2</summary>
#
# `@` multiplies over the last two axes and leaves those in front alone. The keys have to be transposed first, and there may be more than three axes.
# </details>
# <details><summary>Hint 3</summary>
#
# `key.transpose(-2, -1)` swaps the last two axes. Divide by `math.sqrt(query.shape[-1])`. Return two things: the mix and the weights.
# </details>
#
# Docs: [torch.matmul](https://pytorch.org/docs/stable/generated/torch.matmul.html) ·
# [transpose](https://pytorch.org/docs/stable/generated/torch.transpose.html).

# %% [markdown]
# **What you've built.** A dictionary with a dial. Multiply the query by a factor, and it gets pickier. At 0 it doesn't
# care. **What is the smallest factor that gives *cat* more than 99%?**

# %%
guess_factor = None  # 1, 2, 3, 4, 5 or 6

factors = [0, 1, 2, 3, 4, 5, 6]
firm = torch.stack([factor * query for factor in factors])  # (7, 4): seven queries
output, weights = scaled_dot_product_attention(firm, keys, values)  # (7, 2) and (7, 3)
cats = weights[:, 0].tolist()
firm_enough = next(f for f, share in zip(factors, cats, strict=True) if share > 0.99)
print("your guess:", guess_factor, " it is:", firm_enough)
lab.factor_chart(factors, weights, words)

# %% [markdown]
# On the left, each word gets a third. On the right, it is a Python dictionary again. Attention can learn to be either.
#
# **Why the root?** Take random vectors, one query against eight keys. A dot product of length d adds up d random terms.
# **At d = 1024, how large is the largest of the eight weights on average, if we don't divide?** Equal shares would be 0.125.

# %%
guess_unscaled = None  # a share between 0.125 and 1

widths = [4, 16, 64, 256, 1024]
largest = lab.largest_weights(scaled_dot_product_attention, widths)
slopes = lab.slopes_at_queries(scaled_dot_product_attention, width=1024)
print(f"your guess: {guess_unscaled}, it is: {largest['not divided'][-1]:.2f}")
for name, reached in slopes.items():
    flat = (reached < 0.001).float().mean()
    print(f"{name}: slope {reached.mean():.2f} on average, below 0.001 for {flat:.0%} of queries")
lab.widths_chart(widths, largest)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - Without the division, the largest weight rises from about 0.53 at d = 4 to about 0.96 at d = 1024. <!-- claim: unscaled_grows -->
# - Divided by the root of d, it is about 0.35 at every width. <!-- claim: scaled_stays -->
# - At d = 1024, without the division, 55 to 68% of the queries get next to no gradient: the slope of their largest weight is below 0.001. Divided, no query does. <!-- claim: saturation_flattens -->
# - Yet without the division the *mean* slope is larger, 0.6 to 1.25 instead of 0.24: the queries that are still undecided get far too much. <!-- claim: the_mean_hides_it -->
#
# The sum of d random terms spreads like the root of d. Without the division, a wide layer starts out as a hard dictionary.
# Such a softmax is **saturated**: one weight is nearly 1, the others are nearly 0, and the slopes, w·(1 - w), vanish at both ends.
# Most queries then have next to nothing to learn from, and the rest are pushed too hard. The paper suspects that vanishing gradients are the reason
# (Vaswani and others, 2017, section 3.2.1).
# </details>

# %% [markdown]
# ## Part 2 · One layer, and a riddle
#
# ### The task, and three ways to test it
#
# The texts are those of lesson 2: is the first number the larger one? In lesson 2 you also met two shortcuts.
# "The longer operand wins" doesn't need a single digit. "The larger first digit wins" needs two.
# So one accuracy is not enough. We test three times, and each test takes a shortcut away.

# %%
sets = lab.draw_sets(seed=0)
train_set = lab.prepared(sets.train)  # tokens (20000, 8) and labels (20000,)
print("training:", tuple(train_set[0].shape), "such as", lab.symbols_of(train_set[0][0]))
learnt = {text for text, _ in sets.train}
for name, examples in sets.tests.items():
    seen = sum(text in learnt for text, _ in examples)
    some = "  ".join(text for text, _ in examples[:4])
    print(f"{name + ':':17} {len(examples)} texts, {seen} in the training set   {some}")
rules = lab.baselines(sets)
pd.DataFrame(rules).T.round(2)

# %% [markdown]
# **What you should see**
#
# - "The longer operand wins" is right on about 85% of all texts (82 to 88%, depending on the seed), and on 40 to 60% of those with equal lengths. <!-- claim: longer_rule -->
# - "The larger first digit wins" is right on about 95% of the texts with equal lengths. <!-- claim: first_digit_rule -->
# - On texts with the same first digit, all three rules are near chance, at 44 to 56%. <!-- claim: nothing_left -->
#
# Look back at this table whenever you read an accuracy below. And note that even equal lengths leave a shortcut. Only
# the third test removes both.

# %% [markdown] exercise="SelfAttention" kind="core" difficulty=2 minutes=15
# Where do query, key and value come from? From the word itself. Three Linear layers read the same vector and turn it
# into three. In *self*-attention, every word of a row looks at every word of that row.
#
# ![The same x, of shape (batch, length, d_model), goes through three Linear layers: self.query makes the queries, self.key the keys, self.value the values. They meet in scaled dot-product attention. Out come the output, (batch, length, d_model), and the weights, (batch, length, length).](picture:one_attention_layer)
#
# $$\text{output}, \text{weights} = \text{attention}(x W_Q + b_Q,\; x W_K + b_K,\; x W_V + b_V)$$
#
# For example: with 8 tokens of 64 numbers each, the scores of each text are a table of 8 by 8.
#
# <details><summary>Hint 1</summary>
#
# What is learnt here, and what is only computed? Only what is learnt is made in `__init__`.
# </details>
# <details><summary>Hint 2</summary>
#
# Three `nn.Linear` as attributes. In `forward`, give the same `x` to each of them, and pass the three results to the function you just wrote.
# </details>
# <details><summary>Hint 3</summary>
#
# `self.query = nn.Linear(?, ?)`, and so on. `forward` is one line. Don't forget to pass the mask on.
# </details>
#
# Docs: [nn.Linear](https://pytorch.org/docs/stable/generated/torch.nn.Linear.html) ·
# [nn.Module](https://pytorch.org/docs/stable/generated/torch.nn.Module.html).

# %% [markdown]
# **What you've built.** The heart of a Transformer. We put as little as possible around it.
# An **embedding** gives each id a vector of its own, which is learnt. Your layer mixes. A Linear layer reads the CLS token's vector and says yes or no.
#
# ![The id 2 as a one-hot row, 0, 0, 1, 0, times a table of four rows with three numbers each, called embedding.weight. The result is row 2 of the table: -0.4, 0.7, 1.2.](picture:one_hot_times_table)
#
# This is lesson 2's one-hot token times a table. Nobody multiplies by all those zeros: `nn.Embedding` looks up the row.
#
# ```python
# x = self.embedding(tokens)        # (batch, 8) -> (batch, 8, 64)
# x = self.attention(x)[0]          # (batch, 8, 64)
# logits = self.head(x[:, -1])      # (batch, 64) -> (batch, 2)
# ```
#
# These are the lines of `lab.OneLayer`. Padding is not hidden yet: for now it is just one more token.
# The result is two **logits** for each text, one score for "no" and one for "yes". Before we train it, two questions. How wrong is a pair of logits?
# And how does a network learn from that?
#
# ### How wrong? The cross-entropy, by hand
#
# Softmax turns the two logits into two shares. The loss of a text is **minus the logarithm of the right answer's share**.
#
# | logits (no, yes) | exp | shares | right answer | its share | loss: minus its logarithm |
# |---|---|---|---|---|---|
# | (0, 0) | 1, 1 | 0.5, 0.5 | yes | 0.5 | 0.693 |
# | (1, 3) | 2.72, 20.09 | 0.119, 0.881 | yes | 0.881 | 0.127 |
# | (1, 3) | 2.72, 20.09 | 0.119, 0.881 | no | 0.119 | 2.127 |
#
# The first row has no opinion and loses ln 2 = 0.693. With two classes, that is the loss of **chance**, and the line
# marked *coin* in our plots. The second row is sure and right: a small loss. The third is just as sure, and wrong: that
# costs most. As the right answer's share goes to 0, the loss grows without bound. The loss of several texts is their
# mean: (0.693 + 0.127 + 2.127) / 3 = 0.982.

# %%
logits = torch.tensor([[0.0, 0.0], [1.0, 3.0], [1.0, 3.0]])  # (3 texts, 2 classes)
labels = torch.tensor([1, 1, 0])  # yes, yes, no
chances = logits.softmax(dim=-1)  # (3, 2)
by_hand = -chances[torch.arange(3), labels].log()  # (3,)
print("by hand:  ", [round(loss, 3) for loss in by_hand.tolist()])
print(f"mean:      {by_hand.mean():.3f}")
print(f"PyTorch's: {F.cross_entropy(logits, labels):.3f}, from the logits themselves")

# %% [markdown]
# `F.cross_entropy` takes the softmax itself. So a model returns raw logits, with no softmax at its end.
#
# ### How it learns: the training loop
#
# It is the loop that you wrote in lesson 1. `fit` trains every model in this lesson; without its progress bar and options,
# these are its lines:
#
# ```python
# optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate)
# model.train()
# for step in range(steps):
#     chosen = torch.randint(len(tokens), (128,))         # 1. draw a minibatch
#     logits = model(tokens[chosen])                      # 2. what does the model say?
#     loss = F.cross_entropy(logits, labels[chosen])      # 3. how wrong is it?
#     optimizer.zero_grad()                               # 4. forget the last gradients
#     loss.backward()                                     # 5. work out the new ones
#     optimizer.step()                                    # 6. move every weight a little
# ```
#
# One thing is different. In lesson 1 an epoch dealt out every example once. Here each step draws 128 of the 20,000 texts afresh,
# and may draw one that it has seen before. So after 156 steps, enough for 20,000 draws, about 37% of the texts have never
# come up. <!-- claim: some_never_come_up --> With so many texts that does no harm, and the code is shorter.
#
# `fit` puts the model into training mode, and `accuracy` into eval mode. Your models here have no dropout, so for them the mode
# changes nothing. It will matter in the bug clinic.
#
# ### The first run
#
# **What accuracy will one attention layer reach on all texts?** The longer operand alone would give about 85%.

# %%
guess_attention = None  # a share between 0 and 1

d_model = 64
torch.manual_seed(0)
reader = lab.OneLayer(d_model, SelfAttention(d_model))
short_run = {"steps": 300, "learning_rate": 3e-3}
attention_losses = fit(reader, *train_set, **short_run, name="attention")
scoreboard = {"attention": lab.accuracies(reader, sets)}
print("your guess:", guess_attention, f" it is: {scoreboard['attention']['all']:.2f}")
display(lab.losses_chart({"attention": attention_losses}, "Training loss", (0.3, 1.1)))
pd.DataFrame(scoreboard).T.round(3)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - The loss ends at 0.69, the logarithm of 2. That is what a coin scores. <!-- claim: attention_loss_is_a_coin -->
# - On every test the accuracy is about one half (42 to 58%). <!-- claim: attention_is_chance -->
#
# Chance. No better than a coin, after 38,400 examples. More steps? More width? Try it, if you like.
# </details>
#
# **Why did it score what it scored?** Before you read on, be a detective. Here is a microscope: the model's score for any text you type. A score above 0 means "yes".
# **Find two texts with exactly the same score, to every digit shown.** Add your own, and run the cell again.

# %%
my_texts = ["321-4", "4-321", "57-12", "12-57", "75-21", "900-1"]

my_scores = [f"{score:+.6f}" for score in lab.scores(reader, my_texts)]
pd.DataFrame({"text": my_texts, "score": my_scores})

# %% [markdown]
# Have you found a rule? Then unfold.
#
# <details><summary>What texts with the same score have in common</summary>
#
# They contain the same tokens, in a different order. To this model `57-12`, `12-57` and `75-21` are all the same.
#
# ![The texts 32-4, where yes is right, and 4-32, where no is right, both become the same bag with 2, 3, 4 and the minus sign. Out of the bag comes one vector, and so one answer.](picture:bag_of_tokens)
#
# This can be proved in three steps.
#
# 1. The CLS token asks the same question in every text, since its vector comes from its id alone.
# 2. So the digit 4 gets the same score wherever it is, and hands over the same value.
# 3. The softmax and the mix are sums over the tokens, and a sum doesn't depend on the order of its terms.
#
# So `n-m` and `m-n` get one and the same answer, and it is right for only one of them. On a test where every text comes with its mirror image, the
# accuracy must be exactly one half. Whatever the weights. Whatever the training.
# </details>

# %%
mirror_set = lab.prepared(lab.mirrored(sets.tests["all"]))  # 2000 texts
print(f"with mirror images: {accuracy(reader, *mirror_set):.4f}")

# %% [markdown]
# **What you should see**
#
# - With mirror images the accuracy is 0.5, give or take 0.002. <!-- claim: mirror_is_half -->
#
# (Give or take, since a sum in another order may be rounded differently in the seventh digit.)

# %% [markdown] exercise="FeedForward" kind="core" difficulty=1 minutes=5
# Perhaps the layer is too simple. All it does is mix. It doesn't compute anything new *from* a token.
# The network of lesson 1 could. In a Transformer, every attention layer is followed by such a network: two Linear layers with a ReLU between them.
#
# ![Left: in attention, lines run from every token to every token. Right: in the feed-forward network each token goes through an MLP by itself, and it is the same MLP for all four.](picture:token_by_token)
#
# $$\text{output} = \text{ReLU}(x W_1 + b_1)\, W_2 + b_2$$
#
# For example: 64 numbers become 256, the negative ones become 0, and 256 become 64 again.
#
# <details><summary>Hint 1</summary>
#
# Each Linear layer has two sizes. Which of these four is d_ff?
# </details>
# <details><summary>Hint 2</summary>
#
# `nn.Linear` works on the last axis and leaves the others alone. So "each token by itself" needs no loop.
# </details>
# <details><summary>Hint 3</summary>
#
# `self.linear_in` goes from d_model to d_ff, `self.linear_out` goes back, with `torch.relu` between them in `forward`.
# </details>
#
# Docs: [nn.Linear](https://pytorch.org/docs/stable/generated/torch.nn.Linear.html) ·
# [torch.relu](https://pytorch.org/docs/stable/generated/torch.relu.html).

# %% [markdown]
# **What you've built.** A network that works on each token. We put it behind the attention layer.
# **Guess the accuracy on all texts now.**

# %%
guess_feed_forward = None  # a share between 0 and 1

torch.manual_seed(0)
thinker = lab.OneLayer(d_model, SelfAttention(d_model), FeedForward(d_model, 4 * d_model))
fit(thinker, *train_set, **short_run, name="with a feed-forward network")
scoreboard["+ feed-forward"] = lab.accuracies(thinker, sets)
print("your guess:", guess_feed_forward)
print(f"it is: {scoreboard['+ feed-forward']['all']:.2f}")
print(f"with mirror images: {accuracy(thinker, *mirror_set):.4f}")
pd.DataFrame(scoreboard).T.round(3)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - With the feed-forward network, too, every test stays near one half. <!-- claim: feed_forward_is_chance -->
#
# Still a coin. **Why doesn't a stronger network help?** It reads the vector that attention mixed, and that vector is the same for both orders.
# Once information is lost from the input, no network can get it back.
#
# What would help, then? The vector of a token must say *where* the token is, before anything is mixed.
# </details>

# %% [markdown] exercise="LearnedPositionalEmbedding" kind="core" difficulty=2 minutes=10
# The simplest way: give every position a vector too, and learn it. Then add it to the token at that position.
#
# ![The token 4 has the vector (1, 2). In front, at position 0, that position's vector (0.5, 0) is added: (1.5, 2). At the end, at position 3, (-1, 0.2) is added: (0, 2.2). One token in two positions has become two vectors.](picture:positions_added)
#
# $$\text{result}[b, i] = x[b, i] + \text{table}[i]$$
#
# For example: a batch of 128 texts has shape `(128, 8, 64)`. Rows 0 to 7 of the table have shape `(8, 64)`. Broadcasting does the rest.
#
# A text may be shorter than the table. Then only the first rows are used.
#
# <details><summary>Hint 1</summary>
#
# Which axis of x tells you how many rows you need?
# </details>
# <details><summary>Hint 2</summary>
#
# `nn.Embedding` is a table with learnable rows. You look rows up by their numbers: 0, 1, 2, and so on.
# </details>
# <details><summary>Hint 3</summary>
#
# `torch.arange(?, device=x.device)` makes the positions. Look them up in `self.embedding`, and add.
# </details>
#
# Docs: [nn.Embedding](https://pytorch.org/docs/stable/generated/torch.nn.Embedding.html) ·
# [torch.arange](https://pytorch.org/docs/stable/generated/torch.arange.html).

# %% [markdown]
# **What you've built.** A sense of place. The same layer, the same data, three runs. They differ only in their **seed**:
# the random weights they start from, and the order of the examples.
#
# **What accuracy do you expect on all texts, at best?** And on equal lengths?

# %%
guess_positions, guess_equal = None, None  # two shares between 0 and 1

placed = {}
for seed in range(3):
    torch.manual_seed(seed)
    positions = LearnedPositionalEmbedding(lab.MAX_LENGTH, d_model)
    layers = SelfAttention(d_model), FeedForward(d_model, 4 * d_model)
    model = lab.OneLayer(d_model, *layers, positions)
    fit(model, *train_set, **short_run, seed=seed, name=f"with positions, seed {seed}")
    placed[f"seed {seed}"] = model

# %% [markdown]
# All three are trained. Here is how they do on the three tests.

# %%
runs = {name: lab.accuracies(model, sets) for name, model in placed.items()}
best = max(runs, key=lambda name: runs[name]["all"])
scoreboard["+ positions, best run"] = runs[best]
print("your guesses:", guess_positions, guess_equal)
display(pd.DataFrame(runs).T.round(3))
lab.seeds_chart(runs, longer_wins=rules["longer operand wins"]["all"])

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - It learns: the best of the three runs gets 78 to 95% of all texts, and the worst more than 60%. <!-- claim: positions_learn -->
# - But on equal lengths, at least one of the three runs is hardly better than a coin: 57% or less. <!-- claim: a_shortcut_is_found -->
# - And on texts with the same first digit, no run gets more than about two thirds. <!-- claim: first_digits_decide -->
#
# If you looked at the first column alone, you would be pleased. Now look at the others. A run that is good on all texts and no better than a coin on equal lengths
# does what "the longer operand wins" does. That rule is easy to learn, and it pays. Networks often settle for such **shortcuts** (Geirhos and others, 2020).
#
# The three runs are far apart, though only the seed differs. Such a difference is called **seed noise**.
# If one run of model A beats one run of model B by that much, you don't know anything yet.
# </details>
#
# **Where does it look?** Here is the CLS token's row of weights for five texts, for the best run and for the worst.

# %%
looked_at = ["321-4", "4-321", "32-45", "57-12", "123-456"]
worst = min(runs, key=lambda name: runs[name]["all"])
rows = lab.prepared([(text, 0) for text in looked_at])[0]  # (5, 8)
for name in (best, worst):
    weights = attention_maps(placed[name], rows)["attention"][:, -1]  # (5, 8): CLS looks
    display(lab.looks_chart(weights, looked_at, name, runs[name]))

# %% [markdown]
# Find the minus sign in each text, and see whether its position lights up. It may: if you know where the
# minus sign is, you know how long the first number is. Or it may be the padding, which tells how long the whole text
# is, or mostly digits. This table says which, for all thousand test texts.

# %%
all_texts = lab.prepared(sets.tests["all"])[0]  # (1000, 8)
looks = [attention_maps(model, all_texts)["attention"][:, None] for model in placed.values()]
clues = pd.concat([lab.focus([look], all_texts) for look in looks])
clues.set_axis(list(placed)).round(2)  # where CLS looks, on average over all test texts

# %% [markdown]
# The runs need not agree. Nobody told them which clue to use.
#
# One layer has one softmax, so it has to share one set of weights between the
# lengths and the digits. Perhaps it needs several looks at once. That is only a suspicion so far. In the next sitting you
# give it several, and part 5 puts the suspicion to the test.

# %% [markdown]
# ---
# ## Time for a break
#
# You have written attention and made it learn. You also know what it learnt, which is more than an accuracy can tell you.
# Save the notebook, and stretch your legs.
#
# *(When you come back, run all the cells above once, then go on here.)*
#
# ---

# %% [markdown]
# ## Part 3 · Several looks at once
#
# Welcome back. One softmax can look firmly at one thing. To look at a minus sign *and* at two first digits, we want several of them.
# Each is called a **head**.
#
# ![The same three words, cat sees ball, go to two heads. Head 0 has one table of weights, head 1 has another. Each gives a result of shape (3, d_head). The results are put side by side, and a Linear layer mixes them to (3, d_model).](picture:heads_as_views)
#
# We cut the vectors into parts, and each head works with its own part.

# %% [markdown] exercise="split_heads" kind="core" difficulty=3 minutes=15
# Every token's vector is cut into `num_heads` parts of equal size, `d_head`. Head 0 gets the first part of *every* token, head 1 the second, and so on.
#
# ![Three tokens with the vectors 1 to 4, 5 to 8 and 9 to 12. Head 0 gets the left halves: 1, 2, then 5, 6, then 9, 10. Head 1 gets the right halves: 3, 4, then 7, 8, then 11, 12.](picture:vectors_cut_into_heads)
#
# $$(\text{batch}, \text{length}, d_\text{model}) \rightarrow (\text{batch}, \text{heads}, \text{length}, d_\text{head})$$
#
# For example: `(128, 8, 32)` with 4 heads becomes `(128, 4, 8, 8)`. With 5 heads it can't be done, and that must be an error.
#
# Think of puzzle 2 in lesson 1. There is a one-liner that gives the right shape and the wrong numbers.
#
# <details><summary>Hint 1</summary>
#
# In memory, a token's numbers lie side by side. Which axis has to be cut in two so that no token's numbers get mixed with another's?
# </details>
# <details><summary>Hint 2</summary>
#
# Two steps. First make it `(batch, length, heads, d_head)`, which only cuts the last axis. Then swap two axes.
# </details>
# <details><summary>Hint 3</summary>
#
# `x.reshape(batch, length, num_heads, ?)`, then `.transpose(?, ?)`. Before both: `raise ValueError` if `%` leaves a remainder.
# </details>
#
# Docs: [reshape](https://pytorch.org/docs/stable/generated/torch.reshape.html) ·
# [transpose](https://pytorch.org/docs/stable/generated/torch.transpose.html).

# %% [markdown]
# **What you've built.** Each number below is 10 times its token plus its column, so the tens tell you whose number it is.
# **Which tokens should appear in your head 0?** Beside yours is what `reshape` alone puts there.

# %%
marked = 10 * torch.arange(1, 4)[:, None] + torch.arange(1, 5)  # (3, 4)
marked = marked[None]  # (1, 3, 4): a batch of one
yours = split_heads(marked, 2)  # (1, 3, 4) -> (1, 2, 3, 2)
careless = marked.reshape(1, 2, 3, 2)
print("your shape:", tuple(yours.shape), " reshape alone:", tuple(careless.shape))
lab.splits_chart(yours, careless)

# %% [markdown]
# The careless head 0 holds both halves of token 1 and nothing of token 3. The shapes agree, and no error warns you.

# %% [markdown] exercise="merge_heads" kind="core" difficulty=2 minutes=5
# After attention, each head has a result for every token. They are put side by side again.
#
# ![Head 0 and head 1 side by side give 1, 2, 3, 4, then 5, 6, 7, 8, then 9 to 12: each token is whole. Reshape alone gives 1, 2, 5, 6, then 9, 10, 3, 4: the tokens are mixed up.](picture:heads_merged)
#
# $$(\text{batch}, \text{heads}, \text{length}, d_\text{head}) \rightarrow (\text{batch}, \text{length}, d_\text{model})$$
#
# For example: token 0 has 1, 2 in head 0 and 3, 4 in head 1. Together they are 1, 2, 3, 4 again.
#
# <details><summary>Hint 1</summary>
#
# Which two steps did you take, and in which order do you have to undo them?
# </details>
# <details><summary>Hint 2</summary>
#
# Swap the two axes back first. Then turn the last two axes into one.
# </details>
# <details><summary>Hint 3</summary>
#
# `x.transpose(1, 2)` and then `.flatten(start_dim=?)`. After a transpose, `view` refuses; `flatten` and `reshape` make a copy.
# </details>
#
# Docs: [flatten](https://pytorch.org/docs/stable/generated/torch.flatten.html) ·
# [contiguous](https://pytorch.org/docs/stable/generated/torch.Tensor.contiguous.html), if you prefer `view`.

# %% [markdown]
# **What you've built.** A way back. Cut and merged again, with any number of heads, the tensor must come back unchanged.
#
# If you forget to swap the axes, nothing fails, and a model may even learn. The code of a tutorial
# [lacked that swap until March 2026](https://github.com/jsbaan/transformer-from-scratch/pull/6). It had been tested on copying, and that task was
# so easy that the model coped with mixed-up tokens.

# %%
x = torch.randn(2, 5, 24)
there_and_back = []
for count in (1, 2, 3, 4, 6, 8, 12, 24):
    parts_of_x = split_heads(x, count)
    whole = merge_heads(parts_of_x)
    line = {"heads": count, "cut": tuple(parts_of_x.shape), "merged": tuple(whole.shape)}
    line["the same again?"] = "yes" if torch.equal(whole, x) else "no"
    there_and_back.append(line)
pd.DataFrame(there_and_back)

# %% [markdown] exercise="MultiHeadAttention" kind="core" difficulty=3 minutes=20
# Now put it together. Three Linear layers, then cut, attend, merge. And one more Linear layer at the end, `output`.
# Without it the heads' results would only lie side by side: this is the first layer that mixes what they found.
#
# The queries may come from other tokens than the keys and values. In lesson 4 they will, when the answer that is being written looks at the question.
# So `forward` takes three tensors. For self-attention, we pass the same one three times.
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
# For example: d_model 32 and 4 heads make d_head 8. So each head's scores are divided by the root of 8, and you don't have to do anything for it. Why?
#
# <details><summary>Hint 1</summary>
#
# Your attention function takes any axes in front. What has to be in front here, so that each head attends by itself?
# </details>
# <details><summary>Hint 2</summary>
#
# Project first, then cut. The function takes d from the last axis of the query, and that is d_head now.
# </details>
# <details><summary>Hint 3</summary>
#
# `query = split_heads(self.query(?), ?)`, and the same for key and value. Then one call, one `merge_heads`, one `self.output`. Return the weights too.
# </details>
#
# Docs: [nn.Linear](https://pytorch.org/docs/stable/generated/torch.nn.Linear.html). PyTorch has its own, for comparison:
# [nn.MultiheadAttention](https://pytorch.org/docs/stable/generated/torch.nn.MultiheadAttention.html).

# %% [markdown]
# **What you've built.** The layer that PyTorch ships. We copy your weights into PyTorch's version and compare.
# **And what happens to the number of parameters as we go from 1 head to 8?** Guess.

# %%
guess_parameters = None  # "more", "fewer" or "the same"

torch.manual_seed(0)
many = {heads: MultiHeadAttention(32, heads) for heads in (1, 2, 4, 8)}
counts = {heads: sum(p.numel() for p in many[heads].parameters()) for heads in many}
print("your guess:", guess_parameters, " parameters by number of heads:", counts)
ours, x = many[4], torch.randn(3, 8, 32)
with torch.no_grad():
    difference = lab.difference_from_pytorch(ours, 4, x)
    _, weights = ours(x, x, x)  # (3, 4, 8, 8)
print(f"largest difference from nn.MultiheadAttention: {difference:.1e}")
title = "An untrained layer: four heads, the same eight tokens"
lab.weights_chart(lab.heads(weights[0]), title=title)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - Your layer and PyTorch's agree to at least five decimal places. <!-- claim: as_pytorch -->
# - The number of parameters is the same for 1, 2, 4 and 8 heads: the same matrices are only cut differently. <!-- claim: heads_are_free -->
#
# Untrained heads look everywhere, each in its own way. Training will sharpen them.
# </details>

# %% [markdown] exercise="padding_mask" kind="core" difficulty=2 minutes=5
# So far, our models looked at padding too. It means nothing, so whatever attention it gets is wasted at best.
#
# ![The tokens 4, 7, 0. The mask for the keys says yes, yes, no, in shape (1, 1, 1, 3). Broadcasting lays this row over every query and every head: the column of the padding says no everywhere.](picture:mask_over_keys)
#
# $$\text{mask}[b, 0, 0, k] = (\text{tokens}[b, k] \neq \text{pad id})$$
#
# For example: tokens 4, 7, 0 give True, True, False. The two axes of size 1 stand for every head and every query, and broadcasting repeats them.
# Padding may be anywhere: in our rows it is in the middle, with the CLS token after it.
#
# Broadcasting lines shapes up from the right. A mask of shape `(batch, length)` would be read as (query, key), and if the sizes happen to fit, it would
# silently hide the wrong things.
#
# <details><summary>Hint 1</summary>
#
# What must be hidden: padding that looks at others, or padding that others look at?
# </details>
# <details><summary>Hint 2</summary>
#
# One comparison gives booleans of shape `(batch, length)`. The length has to become the *last* axis, the one of the keys.
# </details>
# <details><summary>Hint 3</summary>
#
# Index with `[:, None, None, :]`: each `None` is a new axis of size 1.
# </details>
#
# Docs: [torch.ne](https://pytorch.org/docs/stable/generated/torch.ne.html) ·
# [unsqueeze](https://pytorch.org/docs/stable/generated/torch.unsqueeze.html).

# %% [markdown]
# **What you've built.** Blinkers. Here an untrained layer reads "2-1" with four padding tokens and a CLS token, without your mask and with it.
# **What share of the attention goes to padding without it?**

# %%
guess_padding = None  # a share between 0 and 1

tokens = lab.prepared([("2-1", 1)])[0]  # (1, 8)
torch.manual_seed(0)
vectors = nn.Embedding(lab.VOCAB_SIZE, 32)(tokens)  # (1, 8, 32)
layer = MultiHeadAttention(32, 1)
with torch.no_grad():
    open_eyes = layer(vectors, vectors, vectors)[1]  # (1, 1, 8, 8)
    blinkered = layer(vectors, vectors, vectors, padding_mask(tokens))[1]
maps = {"without the mask": open_eyes[0, 0], "with it": blinkered[0, 0]}
wasted, wasted_still = (lab.share_of_padding(weights, tokens[0]) for weights in maps.values())
print(f"your guess: {guess_padding}\nwithout the mask: {wasted:.2f}, with it: {wasted_still:.2f}")
lab.weights_chart(maps, lab.symbols_of(tokens[0]), low=0)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - Without the mask, about half of the attention goes to padding (40 to 60%); with it, none does. <!-- claim: padding_is_wasted -->
#
# The padding still has rows of its own: padding may look. Nobody reads what it sees, so that does no harm.
# </details>

# %% [markdown]
# ## Part 4 · From a layer to a stack
#
# Many layers, one on top of another, are what makes a Transformer deep. Two more parts keep such a stack trainable. The first is the **norm**.

# %% [markdown] exercise="LayerNorm" kind="core" difficulty=3 minutes=15
# Vectors that pass through many layers may grow or shrink. A norm brings each of them back to the same scale: mean 0, variance 1.
# Which numbers is the mean taken over? There are two answers, and two kinds of layer.
#
# ![A table of four tokens with three features each. LayerNorm frames the row of token 1, with 4, 8, 6: the mean 6 and the spread of this one token. BatchNorm frames the column of one feature, with 3, 8, 1, 4: the mean 4 and the spread of this feature over all tokens of the batch.](picture:norm_axes)
#
# **LayerNorm** looks along one token. **BatchNorm** looks along one feature, over every token in the batch.
#
# $$\text{result} = \frac{x - \text{mean}}{\sqrt{\text{variance} + \varepsilon}} \cdot \text{weight} + \text{bias}$$
#
# For example: (4, 8, 6) has mean 6 and differences -2, 2, 0. The variance is (4 + 4 + 0) / 3 = 2.67, and its root is 1.63. So out come -1.22, 1.22 and 0.
#
# The variance is divided by the number of features, not by one less. The tiny ε is *inside* the root: a token whose numbers are
# all equal has variance 0. `weight` and `bias` are learnt, one number for each feature. They start at 1 and 0.
#
# <details><summary>Hint 1</summary>
#
# Which axis is "along one token"? After taking a mean over it, does the result still fit when you subtract it from x?
# </details>
# <details><summary>Hint 2</summary>
#
# `keepdim=True` leaves an axis of size 1, so that broadcasting works. `var` divides by one less unless you tell it otherwise.
# </details>
# <details><summary>Hint 3</summary>
#
# `x.mean(dim=?, keepdim=True)`, and `x.var` in the same way, with `correction=0`. `nn.Parameter(torch.ones(d_model))` makes the weight.
# </details>
#
# Docs: [Tensor.var](https://pytorch.org/docs/stable/generated/torch.var.html) ·
# [nn.Parameter](https://pytorch.org/docs/stable/generated/torch.nn.parameter.Parameter.html). PyTorch's own, for comparison:
# [nn.LayerNorm](https://pytorch.org/docs/stable/generated/torch.nn.LayerNorm.html).

# %% [markdown]
# **What you've built.** Let's compare it with PyTorch's BatchNorm. A text of five tokens is normalised alone, and then together with three other texts.
# Look at the last column: whose numbers depend on what else is in the batch?

# %%
torch.manual_seed(0)
batch = 3 * torch.randn(4, 5, 6) + torch.arange(6)  # (batch 4, length 5, d_model 6)
norms = {"LayerNorm": LayerNorm(6), "BatchNorm": lab.batch_norm(6)}
table = {}
for name, norm in norms.items():
    together, alone = norm(batch).detach(), norm(batch[:1]).detach()
    table[name] = {
        "largest mean of a token": together.mean(dim=-1).abs().max().item(),
        "largest mean of a feature": together.mean(dim=(0, 1)).abs().max().item(),
        "change when alone": (together[:1] - alone).abs().max().item(),
    }
pd.DataFrame(table).T.round(3)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - LayerNorm gives every token the mean 0, and BatchNorm every feature, up to rounding. <!-- claim: norms_along_axes -->
# - LayerNorm gives a text the same numbers whatever else is in the batch. BatchNorm's numbers change by more than 0.1. <!-- claim: company_matters -->
#
# A text should get the same answer alone as in a crowd, and in a batch of texts even the padding would count towards BatchNorm's mean.
# LayerNorm was proposed for networks in which a batch gets in the way like this (Ba and others, 2016, section 1), and Transformers use it.
# BatchNorm also depends on the mode, as dropout does: in eval mode, it uses averages that it kept from training.
# </details>

# %% [markdown] exercise="EncoderBlock" kind="core" difficulty=3 minutes=15
# The second part is the **residual connection**. A layer doesn't replace x, it adds to x.
#
# ![Two blocks from bottom to top. Pre-norm, ours: x goes through norm and attention, and the result is added to x; then through norm and feed-forward, and is added again. The residual stream runs straight through from bottom to top. Post-norm, the paper of 2017: x goes through attention, is added to x, and the sum is normalised; then the same with feed-forward. The residual stream passes through two norms.](picture:pre_and_post_norm)
#
# $$x \leftarrow x + \text{attention}(\text{norm}_1(x)) \qquad x \leftarrow x + \text{feedforward}(\text{norm}_2(x))$$
#
# The x that runs from the bottom to the top, and that every layer reads from and adds to, is called the **residual stream** (Elhage and others, 2021).
#
# The order above is called **pre-norm**: each sub-layer reads a normalised copy of the stream. The paper of 2017 normalises after the sum, which is **post-norm**
# (Vaswani and others, section 3.1). Which is better? You will measure that soon.
#
# For example: the shape is `(batch, length, d_model)` from bottom to top. So you can stack as many blocks as you like.
#
# Two norms mean two objects. Each has a weight and a bias of its own to learn.
#
# <details><summary>Hint 1</summary>
#
# In self-attention, where do queries, keys and values come from: from x, or from the normalised x?
# </details>
# <details><summary>Hint 2</summary>
#
# The attention layer returns a pair. Only the first of the two belongs in the sum.
# </details>
# <details><summary>Hint 3</summary>
#
# `y = self.norm1(x)`, then `x = x + self.attention(?, ?, ?, mask)[?]`. The second half has the same form, in one line.
# </details>
#
# Docs: [nn.Module](https://pytorch.org/docs/stable/generated/torch.nn.Module.html).

# %% [markdown]
# **What you've built.** A block to stack. Even before any training, you can see what the residual connection does. We send random tokens through a stack of
# untrained blocks, and ask how *different* the tokens of a row still are. At 0 they are all the same vector.
#
# **Without residual connections, after how many blocks are they all the same?** Let's say, less than a millionth apart.

# %%
guess_same = None  # 1, 2, 4, 6, 12, 24 or "never"

parts = lab.Parts(MultiHeadAttention, FeedForward, LearnedPositionalEmbedding, LayerNorm, padding_mask)
depths = [0, 1, 2, 4, 6, 12, 24]
recipes = {"with residuals": lab.Recipe(), "without": lab.Recipe(residual=False)}
apart = lab.differences_by_depth(parts, recipes, depths)
same = [nth for nth, spread in enumerate(apart["without"]) if spread < 1e-6]
same_after = depths[same[0]] if same else "never"
print("your guess:", guess_same, " it is:", same_after)
lab.depth_chart(depths, apart)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - Without residual connections, the tokens are less than a millionth apart after 4 blocks. <!-- claim: tokens_collapse -->
# - With them, the tokens are still clearly different after 24. <!-- claim: residuals_keep_tokens_apart -->
#
# Each attention layer replaces every token by a mean of all tokens. A mean of means of means has forgotten who was who.
# With the residual, every token carries itself along. (Dong and others, 2021, section 2, prove how fast this goes for attention alone.)
# </details>

# %% [markdown] exercise="TransformerClassifier" kind="core" difficulty=3 minutes=20
# You have all the parts. Here is the order.
#
# ![From top to bottom: tokens (batch, length); embedding, positions, then the encoder blocks, num_layers times, and the final norm, all (batch, length, d_model); the last position, (batch, d_model); a Linear layer, (batch, num_classes). A padding mask is made from the tokens and goes to every block.](picture:classifier_stack)
#
# Pre-norm blocks never normalise the residual stream itself. So there is one **final norm** after the stack.
# The answer is read at the last position, where the CLS token is, and it comes out as raw logits.
#
# For example: 128 texts of 8 tokens, d_model 32: `(128, 8)`, `(128, 8, 32)` all the way, `(128, 32)`, `(128, 2)`.
#
# The mask is made once, from the tokens. Every block needs it. Name the parts as you like.
#
# <details><summary>Hint 1</summary>
#
# Which parts are learnt, and so belong in `__init__`? How do you keep a *list* of modules so that PyTorch can see them?
# </details>
# <details><summary>Hint 2</summary>
#
# `nn.ModuleList` holds the blocks, and a loop in `forward` goes through them. A plain list would hide their weights from the optimiser.
# </details>
# <details><summary>Hint 3</summary>
#
# Embed, add positions, loop over the blocks with the mask, then the final norm, then `[:, -1]` of the result into the last Linear layer.
# </details>
#
# Docs: [nn.Embedding](https://pytorch.org/docs/stable/generated/torch.nn.Embedding.html) ·
# [nn.ModuleList](https://pytorch.org/docs/stable/generated/torch.nn.ModuleList.html).

# %% [markdown]
# **What you've built.** A Transformer. First, look at what goes through it. `trace` sends a batch through and writes down each module's shapes.
# **Some rows list a four-axis shape that isn't a mask. What are its axes?**

# %%
torch.manual_seed(0)
model = TransformerClassifier(*lab.SIZES.values())
print(lab.SIZES)
trace(model, train_set[0][:128])

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# They belong to the weights of a `MultiHeadAttention`: 128 texts, 4 heads, 8 queries, 8 keys. `attention_maps` keeps them if you ask it to. The residual stream
# itself is `(128, 8, 32)` all the way, from the positions to the final norm.
# </details>
#
# Now train it. Every 50 steps, we pause and measure all three tests.
# **What accuracy will it reach on texts with the same first digit?** The one layer with positions was not much better than a coin there.

# %%
guess_classifier = None  # a share between 0 and 1

on_the_way = {name: [] for name in sets.tests}


def measure(step):
    for name, share in lab.accuracies(model, sets).items():
        on_the_way[name].append(share)


training = {"steps": 800, "learning_rate": 3e-3}
losses = fit(model, *train_set, **training, name="the classifier", look=measure, every=50)
lab.progress_chart(on_the_way, every=50)

# %% [markdown]
# Here it is beside all that came before it, and beside the three rules.

# %%
scoreboard["classifier"] = lab.accuracies(model, sets)
print("your guess:", guess_classifier)
print(f"it is:      {scoreboard['classifier']['same first digit']:.2f}")
by_rule = {f"rule: {name}": rules[name] for name in rules}
pd.DataFrame(scoreboard | by_rule).T.round(3)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - The classifier gets at least 98% of all texts, and at least 95% of those with equal lengths. <!-- claim: classifier_learns -->
# - On texts with the same first digit, where every rule is no better than a coin toss, it gets at least 65%. <!-- claim: classifier_beats_the_rules -->
# - After 100 steps it already has more than 90% of all texts, but less than 70% of those with the same first digit. <!-- claim: shortcuts_come_first -->
#
# Look at the curves. All texts rise first, then equal lengths, and last, slowly, the same first digit. That is the order of the shortcuts: first the lengths
# help, then the first digits, and only then does it pay to look further.
# </details>

# %% [markdown]
# ### What the heads look at
#
# The text is `372-359`. Here are the four heads of the first layer. Each row is a token that looks, each column one that is looked at.

# %%
tokens = lab.prepared([("372-359", 1)])[0]  # (1, 8)
symbols = lab.symbols_of(tokens[0])
first_layer = lab.head_maps(model, tokens)[0][0]  # (4, 8, 8): layer 0, text 0
by_head = lab.heads(first_layer)
lab.weights_chart(by_head, symbols, title="First layer, 372-359", low=0, high=1)

# %% [markdown]
# One text is an anecdote. So let's take all thousand test texts, and only the CLS token's row. What *kind* of token does each head look at, on average?
#
# **Which kind gets the most attention from CLS, averaged over all eight heads?**

# %%
guess_kind = None  # "first digits", "other digits", "minus", "padding" or "CLS"

test_tokens = lab.prepared(sets.tests["all"])[0]  # (1000, 8)
looks = lab.focus(lab.head_maps(model, test_tokens), test_tokens)
most_seen = looks.mean().idxmax()
print("your guess:", guess_kind, " it is:", most_seen)
print(f"the most that one head gives to the minus sign: {looks['minus'].max():.2f}")
lab.focus_chart(looks)  # layers and heads are counted from 0

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - There is a head that gives more than 80% of its weight to the minus sign. <!-- claim: a_head_for_the_minus -->
# - There is a head in the first layer that gives more than 60% to the first digits. <!-- claim: a_head_for_first_digits -->
# - No head gives anything to padding. <!-- claim: no_look_at_padding -->
#
# Before training, nothing tells the heads of a layer apart, so the random start decides which head does which.
# One asks where the first number ends, the other how the two numbers begin.
# The two shortcuts need just these two things. (If your classifier
# reads a mean instead of CLS, its CLS row tells you less.)
#
# A word of caution. A weight tells you where a head *takes* something from. It doesn't tell you what was done with it, nor that the answer
# depends on it (Jain and Wallace, 2019, section 4). And after the first layer, each position holds a mix of others. Look at such maps, and then test what you think you see.
# </details>
#
# ### The harder set
#
# The last column is still the weakest. Most training texts can be answered without a second digit. So let's train on texts
# whose two numbers have the same length. The tests stay as they were.
#
# **What happens to the accuracy on *all* texts?**

# %%
guess_harder = None  # "rises", "stays" or "falls"

hard_set = lab.prepared(lab.draw_sets(seed=0, equal_lengths=True).train)
torch.manual_seed(0)
hardened = TransformerClassifier(*lab.SIZES.values())
fit(hardened, *hard_set, **training, name="on the harder set")
scoreboard["classifier, harder set"] = lab.accuracies(hardened, sets)
both = ("classifier", "classifier, harder set")
before, after = (scoreboard[name]["all"] for name in both)
change = after - before
happened = "falls" if change < -0.02 else "rises" if change > 0.02 else "stays"
print("your guess:", guess_harder, " it:", happened)
pd.DataFrame({name: scoreboard[name] for name in both}).T.round(3)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - On texts with the same first digit, the harder set brings at least 4 points. <!-- claim: harder_set_helps -->
# - On all texts, the accuracy falls below 80%. <!-- claim: harder_set_forgets -->
#
# Now it compares digits well. But nobody ever showed it two numbers of different lengths, and most of "all texts" are of that kind.
# A model learns what its data ask for. For both skills, train on both kinds of text.
# </details>

# %% [markdown]
# ---
# ## Time for a break
#
# You have built a Transformer, trained it, and looked into its heads. Save the notebook, and do something else for a while.
#
# Before you go: you put together about ten parts. Which of them could you have left out?
#
# *(When you come back, run all the cells above once, then go on here.)*
#
# ---

# %% [markdown]
# ## Part 5 · What matters?
#
# A Transformer has many parts. Which of them does this task need? The honest way to find out is to take away one part at a time and train again.
# That is called an **ablation**. One run of each tells you little, as you know by now, so here are four seeds each, with 800 steps.
# It takes several minutes, so it was measured in advance. `make claims` measures it again.
#
# **Apart from the positions, which of these costs most on texts with the same first digit?** No feed-forward network, no
# residual, no norm, post-norm, a single head?

# %%
guess_ablation = None  # "no feed-forward", "no residual", "no norm", "post-norm" or "1 head"

tests = list(sets.tests)
variants = measured("03_ablations").groupby("variant", sort=False)
candidates = ["no feed-forward", "no residual", "no norm", "post-norm", "1 head"]
hurts_most = variants["same first digit"].mean()[candidates].idxmin()
print("your guess:", guess_ablation, " it is:", hurts_most)
display(lab.ablations_chart(variants, tests))
variants[tests].agg(["mean", "min", "max"]).round(3)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - Without positions, every run is no better than a coin toss on all three tests, at 42 to 58%. <!-- claim: table_positions -->
# - One head, or one layer, costs at least 5 points on the same first digit, for every seed. <!-- claim: table_heads_and_layers -->
# - Without the feed-forward network, the residual or the norm, or with post-norm, the accuracy on all texts changes by less than 1.5 points. <!-- claim: table_rest_is_noise -->
#
# So nothing works here without positions. And several looks help, side by side (heads) or one after another (layers): the hunch at the end of the first
# sitting holds up.
#
# And the rest? Look at the ranges in the hardest column. Without the norm, the residual or the feed-forward network, with post-norm, with eight heads or twice
# the width, they overlap with those of the complete model. That is **seed noise**: from these runs nobody can say that one of these helps *on this task, with
# two layers*. Two heads and half the width are another matter:
#
# - On the same first digit, all four runs with two heads, and all four with a width of 16, are below all four runs of the complete model. <!-- claim: table_two_heads_and_half_the_width -->
#
# </details>
#
# But you have seen what happens to tokens in a deep stack without residuals. So let's go deeper.

# %% [markdown]
# ### Pre-norm or post-norm?
#
# The norm comes before the sub-layer (pre-norm), or after the sum (post-norm). With two layers, that made no difference that
# we could measure. Does it ever? Let's take **six layers** and three learning rates, up to 0.01, more than three times as
# much as before. The table also has stacks without a norm, and without residuals. There are three runs of each, with 400 steps,
# measured in advance by `make claims`.
#
# **With residuals and a learning rate of 0.01, which of the two learns?**

# %%
guess_deep = None  # "pre-norm", "post-norm", "both" or "neither"

by_rate = measured("03_six_layers").groupby(["variant", "learning rate"], sort=False)
lowest = by_rate["all"].min()  # the worst of three seeds
learners = [order for order in ("pre-norm", "post-norm") if lowest[order, 0.01] > 0.7]
verdict = {2: "both", 0: "neither"}.get(len(learners)) or learners[0]
print("your guess:", guess_deep, " it is:", verdict)
display(lab.rates_chart(by_rate))
lab.extremes(by_rate).round(3)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - With residuals, every run at the rates 0.001 and 0.003 gets more than 95% of all texts, wherever the norm is, and even without one. <!-- claim: six_with_residuals -->
# - At 0.01, pre-norm still gets more than 90% in every run, while post-norm never gets more than 60%. With no norm at all, no run gets more than 75%, and the worst one's loss ends in the billions. <!-- claim: six_at_high_rate -->
# - Without residuals, no run gets more than 60% on equal lengths, whatever the norm and the rate. <!-- claim: six_without_residuals -->
#
# So post-norm isn't wrong, but it is more demanding: at the highest rate it fails here, and at the lower ones it doesn't. The paper of 2017 raises its learning rate slowly from 0
# (section 5.3), which is called *warm-up*, and Xiong and others (2020, section 3) show why post-norm wants it: at the start, its gradients near the output are large.
# Pre-norm forgives more, so we use it.
#
# And the residual connection is no luxury in a deep stack. You saw what it does before any training: without it, four blocks make all tokens the same.
# </details>

# %% [markdown]
# ## The bug clinic
#
# A colleague doesn't want a CLS token. His classifier takes the *mean* of all tokens' vectors, which is a good idea.
# The rest is yours: embedding, positions, blocks with the padding hidden from attention, final norm. Then comes `hasty_mean`.
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
    blocks = [EncoderBlock(32, 4, 64) for _ in range(2)]
    positions = LearnedPositionalEmbedding(128, 32)
    norm = LayerNorm(32)
    return lab.MeanClassifier(blocks, positions, norm, 32, attended=attended, pool=mean)


# %% [markdown]
# It trains well. All test texts are padded to 7, just like the training texts. Then somebody pads the *same* texts to 24, to put them
# in a batch with longer ones. **What is the accuracy then?**

# %%
guess_hasty = None  # a share between 0 and 1

lengths = [7, 8, 10, 14, 20, 24]
padded = {length: lab.padded_right(sets.tests["all"], length) for length in lengths}
hasty = mean_classifier(real, hasty_mean)
briefly = {"steps": 400, "learning_rate": 3e-3}
fit(hasty, *lab.padded_right(sets.train, 7), **briefly, name="hasty")
by_length = {"hasty": [accuracy(hasty, *padded[length]) for length in lengths]}
print(f"your guess: {guess_hasty}, at 24: {by_length['hasty'][-1]:.2f}")
lab.padding_chart(lengths, by_length, "The same 1000 texts with more and more padding")

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - Padded to 7, as in training, the hasty model gets more than 95%. <!-- claim: hasty_looks_fine -->
# - Padded to 24, it loses at least ten points, and not a digit has changed. <!-- claim: hasty_reads_padding -->
#
# The attention is masked, as it should be. But the *mean* runs over all positions, padding included. The more padding there is, the more it drowns out the text.
# There was no error, and the test set gave a fine score. The fault shows only when the batch changes.
# </details>

# %% [markdown] exercise="ignores_padding" kind="core" difficulty=3 minutes=35
# Write the test that would have caught it. You get a model that is meant to pool with a masked mean, and rows that are padded on the right.
# What can you change about padding that shouldn't change any logit?
#
# ![The text 2-1 three times: as it is, with three padding tokens after it, and with padding whose content is different. From all three an arrow leads to the same logits, with a question mark.](picture:padding_changes_nothing)
#
# Two things: its *amount* and its *content*. The amount: padding can be added, and it can be taken away. The content is the vector of id 0, row 0 of `model.embedding.weight`.
#
# | model | more padding, or none | other content | answer |
# |---|---|---|---|
# | sound | same logits | same logits | True |
# | its mean counts the padding | different logits | different logits | False |
# | its attention looks at the padding | different logits | different logits | False |
# | it divides by the whole length of the row | different logits | same logits | False |
# | it adds everything up, and id 0's vector happens to be all zeros | same logits | different logits | False |
#
# The last two rows are why you need both. Compare logits, not predictions: a small leak moves the logits long before it turns a yes into a no. Leave room for rounding.
# And a doctor leaves the patient as found: the same mode (`train` or `eval`), the same weights. In training mode, dropout changes the logits from call to call. That isn't a leak.
#
# <details><summary>Hint 1</summary>
#
# How do you add columns of padding to `tokens`? How do you take a row's padding away? And how do you change an embedding without harming the model?
# </details>
# <details><summary>Hint 2</summary>
#
# Work on a copy, `copy.deepcopy(model)`, in `eval` mode. Compute the logits of the rows as they are, with more padding, of each row without its padding, and
# with row 0 of `embedding` changed. The model may have other tables, say of *positions*: leave those alone, since row 0 of theirs belongs to a real token.
# </details>
# <details><summary>Hint 3</summary>
#
# `nn.functional.pad(tokens, (0, 3))` adds three columns of 0. `row[row != 0][None]` is a batch of one row without padding. Compare with
# `torch.allclose(one, other, rtol=1e-4, atol=1e-5)`. Everything inside `with torch.no_grad():`.
# </details>
#
# Docs: [copy.deepcopy](https://docs.python.org/3/library/copy.html#copy.deepcopy) ·
# [nn.functional.pad](https://pytorch.org/docs/stable/generated/torch.nn.functional.pad.html) ·
# [torch.allclose](https://pytorch.org/docs/stable/generated/torch.allclose.html).

# %% [markdown]
# **What you've built.** A doctor. Here are four patients, all untrained: your test needs no training to find the trouble. They differ only in what
# attention may look at, and in what the mean counts. **Which of them would you trust?**


# %%
def everything(tokens):
    return tokens >= 0


def not_one(tokens):
    return tokens != 1  # copied from code in which padding has id 1


patients = {
    "sound": mean_classifier(real, lab.mean_of_real),
    "hasty: the mean counts padding": mean_classifier(real, hasty_mean),
    "attention looks at padding": mean_classifier(everything, lab.mean_of_real),
    "hides another id": mean_classifier(not_one, lab.mean_of_real),
}

# %% [markdown]
# And which of them does your test trust?

# %%
some_texts = lab.padded_right(sets.tests["all"][:16], 9)[0]  # (16, 9)
trusted = {name: bool(ignores_padding(patients[name], some_texts)) for name in patients}
pd.DataFrame({"ignores padding?": trusted}).replace({True: "yes", False: "no"})

# %% [markdown]
# Now the cure, `lab.mean_of_real`: it adds up the real tokens only, and divides by their number.

# %%
sound = mean_classifier(real, lab.mean_of_real)
fit(sound, *lab.padded_right(sets.train, 7), **briefly, name="sound")
by_length["sound"] = [accuracy(sound, *padded[length]) for length in lengths]
lab.padding_chart(lengths, by_length, "Before and after")

# %% [markdown]
# **What you should see**
#
# - The test trusts the sound model and none of the other three. <!-- claim: the_doctor_is_right -->
# - The sound model's accuracy at 24 is the same as at 7, give or take 0.002. <!-- claim: the_cure_works -->
#
# Three ways to be wrong, and no error message from any of them. Your test is one call and needs no training. Run it before you train.

# %% [markdown]
# ## Explain it
#
# A friend writes: "My Transformer sorts reviews into good and bad, with 91% on the test set. I left the positions out, and it still
# gets 90%. So positions are useless. And my colleague's run with 8 heads got 92%, so I will use 8."
#
# Answer in four or five sentences, in your own words. What does the first result say about the *task*, what can a model without
# positions never tell apart, and what would you ask before you believe the second result?

# %% [markdown] explain=true
# Without positions, a Transformer that reads one position sees a bag of words: any two reviews with the same words get the same answer. For reviews
# that may be nearly enough, since single words such as "boring" say a lot. So the result says that this task hardly needs word order, not that positions are useless.
# The model can never tell "not good, but funny" from "good, but not funny". I would make a small test set of such pairs and look at the accuracy there.
# As for the heads: two single runs can differ by a point through the seed alone. I would ask for three or four seeds of each, and compare the ranges.

# %% [markdown]
# ## How good were your guesses?
#
# Here are your guesses next to what happened. A wrong guess is worth more than none: it shows you where to look.

# %%
as_many = "the same" if len(set(counts.values())) == 1 else "not the same"
final = scoreboard["classifier"]["same first digit"]
thought = scoreboard["+ feed-forward"]["all"]
board = [
    ("share of cat", guess_cat, shares[0].item()),
    ("a row with everything hidden", guess_hidden, last_row),
    ("factor that makes cat sure", guess_factor, firm_enough),
    ("largest of eight weights, not divided", guess_unscaled, largest["not divided"][-1]),
    ("attention alone", guess_attention, scoreboard["attention"]["all"]),
    ("with a feed-forward network", guess_feed_forward, thought),
    ("with positions, at best", guess_positions, runs[best]["all"]),
    ("the same on equal lengths", guess_equal, runs[best]["equal lengths"]),
    ("parameters with more heads", guess_parameters, as_many),
    ("attention that goes to padding", guess_padding, wasted),
    ("blocks until all tokens are the same", guess_same, same_after),
    ("the classifier on the same first digit", guess_classifier, final),
    ("what CLS looks at most", guess_kind, most_seen),
    ("all texts, after the harder set", guess_harder, happened),
    ("costs most on the same first digit", guess_ablation, hurts_most),
    ("six layers: who learns", guess_deep, verdict),
    ("the hasty model, padded to 24", guess_hasty, by_length["hasty"][-1]),
]
guesses.board(board)

# %% [markdown]
# ## Recap
#
# Answer from memory, then check.
#
# **1.** What are query, key and value, and what are the four steps of attention?
#
# <details><summary>Answer</summary>
#
# What a token looks for, what it offers so that others find it, and what it hands over. Compare queries with keys by dot products, divide by the root of d,
# turn the scores into shares with a softmax that leaves out what is hidden, and mix the values by these shares.
# </details>
#
# **2.** Why can't our Transformer tell `n-m` from `m-n` if we take its positions away?
#
# <details><summary>Answer</summary>
#
# Equal tokens have equal vectors wherever they are, and attention sums over them. A sum doesn't depend on the order of its terms.
# The feed-forward network treats each token alone, so it can't bring the order back.
# </details>
#
# **3.** Which numbers does LayerNorm take its mean over, and where is it in a pre-norm block?
#
# <details><summary>Answer</summary>
#
# Over the features of each token, by itself. It comes before each sub-layer, inside the residual: x + layer(norm(x)). So the residual stream itself is never
# normalised, and one final norm follows the stack.
# </details>
#
# **4.** Two classes, logits (0, 0): what is the loss? And when does a single text cost much more?
#
# <details><summary>Answer</summary>
#
# ln 2 = 0.693, whichever class is right. It costs more when the model is sure and wrong: the loss is minus the logarithm of
# the right answer's share, and that grows without bound as the share goes to 0.
# </details>
#
# ## Things to try
#
# - Train the classifier on half plain and half equal-length texts. Do all three columns become good?
# - Let `OneLayer` read the mean of all tokens instead of CLS, without positions. Is it still a coin? Why?
# - Train six layers yourself: `lab.as_table(lab.compare(parts, lab.SIX_LAYERS, sets, steps=200, rate=0.01))`. Then lower the rate: where does post-norm begin to learn?
# - Give the classifier 16 heads, so that `d_head` is 2. What happens on the same first digit?
# - Train with 2,000 texts instead of 20,000. Which of the three columns suffers most?
# - Draw the table of learned positions as dot products, `table @ table.T`. Which positions does the model treat alike?
# - Test the trained classifier on `9-100` and `100-9`. Then test the hardened one.
#
# ## Glossary
#
# | word | meaning |
# |---|---|
# | ablation | taking one part away and training again, to see what it was good for |
# | attention | taking a weighted mean of values, with weights from queries and keys |
# | BatchNorm | a norm along each feature, over the whole batch |
# | cross-entropy | minus the logarithm of the right answer's share |
# | dropout | in training, setting a random part of the numbers to 0 |
# | embedding | a table with a learnable vector for each id |
# | encoder block | attention and a feed-forward network, each with a norm and a residual connection |
# | feed-forward network | two Linear layers with a ReLU between them, for each token by itself |
# | head | one of several attentions side by side, each with its own part of the vectors |
# | key, query, value | what a token offers, looks for, hands over |
# | LayerNorm | a norm along each token's features |
# | logits | scores before a softmax |
# | mask | booleans that say who may look at whom; True = may |
# | pre-norm, post-norm | the norm before the sub-layer, or after the sum |
# | residual connection | x is added to what a layer makes of it |
# | residual stream | the x that every layer reads from and adds to, from bottom to top |
# | saturated | said of a softmax with one weight near 1: its gradients nearly vanish |
# | seed noise | differences between runs that differ only in the seed |
# | self-attention | queries, keys and values from the same tokens |
# | softmax | exp of each score, divided by the sum: positive shares that add up to 1 |
#
# ## Papers and books
#
# - Vaswani and others, [Attention Is All You Need](https://arxiv.org/abs/1706.03762), NeurIPS 2017: sections 3.1 (post-norm), 3.2.1 (the root of d, and why), 3.2.2 (heads), 3.3 (feed-forward), 5.3 (warm-up).
# - Bahdanau, Cho, Bengio, [Neural Machine Translation by Jointly Learning to Align and Translate](https://arxiv.org/abs/1409.0473), ICLR 2015: section 3.1, attention before Transformers.
# - Gehring and others, [Convolutional Sequence to Sequence Learning](https://arxiv.org/abs/1705.03122), ICML 2017: section 3.1, learned positions added to words.
# - Ba, Kiros, Hinton, [Layer Normalization](https://arxiv.org/abs/1607.06450), 2016: sections 1 and 3. Ioffe, Szegedy, [Batch Normalization](https://arxiv.org/abs/1502.03167), ICML 2015: section 3.
# - He and others, [Deep Residual Learning](https://arxiv.org/abs/1512.03385), CVPR 2016: section 3.1, why layers should add.
# - Elhage and others, [A Mathematical Framework for Transformer Circuits](https://transformer-circuits.pub/2021/framework/index.html), 2021: the residual stream.
# - Xiong and others, [On Layer Normalization in the Transformer Architecture](https://arxiv.org/abs/2002.04745), ICML 2020: section 3, pre-norm and post-norm.
# - Dong, Cordonnier, Loukas, [Attention Is Not All You Need](https://arxiv.org/abs/2103.03404), ICML 2021: section 2, attention without residuals makes all tokens equal.
# - Geirhos and others, [Shortcut Learning in Deep Neural Networks](https://arxiv.org/abs/2004.07780), Nature Machine Intelligence 2020: what you saw in the three columns, in many fields.
# - Jain, Wallace, [Attention is not Explanation](https://arxiv.org/abs/1902.10186), NAACL 2019: section 4, why heat maps must be read with care.
#
# In lesson 4, two such stacks meet: one reads a question, and the other writes the answer.
