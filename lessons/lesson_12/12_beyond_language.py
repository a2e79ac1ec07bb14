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
# # Lesson 12 · Beyond language
#
# COLAB_BADGE
#
# An encoder doesn't know what a word is. It gets vectors, it mixes them, and it returns vectors. So why should they be
# words? In this lesson you take the encoder block of lesson 3, unchanged, and give it three other things to read.
#
# ![Three rows of cells, words, months and patches, become vectors: words through an Embedding, months and patches through a Linear layer each. Arrows lead from all three into one box, the encoder of lesson 3, and out of it to three answers: praise or pan, the next year, a digit.](picture:three_entrances)
#
# Each time, something plain is waiting for it: a method that needs no attention, takes seconds, and has embarrassed
# many a careless model. There are four tasks in all: film reviews, two series of monthly numbers, and handwritten
# digits. **In how many of the four will the Transformer win?** Write your guess down in the cell after the set-up. At
# the end, one table tells.
#
# **What you will be able to do**
#
# - turn reviews, series and pictures into tokens
# - name the baseline that a model has to beat, and build it first
# - measure a forecast without letting it see the future, and catch one that does
# - say where a Transformer loses, and what that says about the data
#
# **Time.** About 110 minutes before the break and 50 after it, an estimate for somebody who has done lesson 3.
#
# **How to check.** Replace the line `raise NotImplementedError()` with your own code, and run the cell. Then run the
# `check` cell below it. It tells you what is right and what isn't, as often as you like.
#
# **How to submit.** Save the notebook and hand it in the way your class does.
# Nobody to hand it in to? The checks are all you need.

# %% [markdown]
# ## A two-minute test
#
# This lesson builds on [lesson 3](../03_classification_transformer/03_classification_transformer.ipynb) and
# [lesson 6](../06_positional_encodings/06_positional_encodings.ipynb). Try these three without running anything.
#
# **1.** What shape goes into an encoder block, and what shape comes out?
#
# <details><summary>Answer</summary>
#
# (batch, length, d_model), both times. To read up: `EncoderBlock` in
# [lesson 3](../03_classification_transformer/03_classification_transformer.ipynb).
# </details>
#
# **2.** Without positions and without a mask, what does a model know about the order of its tokens?
#
# <details><summary>Answer</summary>
#
# Nothing. To read up: [lesson 6](../06_positional_encodings/06_positional_encodings.ipynb).
# </details>
#
# **3.** In a padding mask, what does True mean?
#
# <details><summary>Answer</summary>
#
# May be attended to. To read up: `padding_mask` in
# [lesson 3](../03_classification_transformer/03_classification_transformer.ipynb).
# </details>
#
# Two out of three? Go on. Fewer? Read the linked pages first, and come back.
#
# Run the next cell first: it brings the tools. The three modules at its end run the experiments, one for each domain.

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

from course import plots
from course.attention import padding_mask
from course.blocks import EncoderBlock, LayerNorm, LearnedPositionalEmbedding
from course.downloads import NotAvailable
from course.fitting import accuracy
from course.tasks.handwriting import handwriting
from lessons.lesson_12.experiments import forecasting, reading, seeing

torch.set_num_threads(1)  # two can be ten times slower where others compute too

# %%
guess_wins = None  # in how many of the four tasks the Transformer wins

# %% [markdown]
# ## Part 1 · Film reviews
#
# The first domain is still language, but a harder task than any so far: 10,662 sentences from real film reviews, half
# of them praise, half of them pans (Pang and Lee 2005). 2,000 are for the test and 1,000 for validation. The file is
# downloaded once, 0.5 MB. Without a network, the cell says what to do, and this part has no results.

# %%
try:
    corpus = reading.corpus()
except NotAvailable as problem:
    corpus = None
    print(problem)
if corpus is not None:
    known = len(corpus.vocabulary)
    print(f"{len(corpus.train[0]):,} reviews to learn from, {known:,} known words")
    share = reading.majority(corpus)
    print(f"the more common label is right in {share:.0%} of the test reviews")
    for place, text in enumerate(corpus.texts[:6]):
        print("praise:" if corpus.test[1][place] else "pan:   ", text[:80])

# %% [markdown]
# ### Exercise: `bag_of_words` · core · difficulty 2 · 10 minutes
#
# The plainest way to read a review is to count its words and forget their order. What is left is a **bag of words**.
#
# In numbers: with the ids *a* = 1, *good* = 2, *film* = 3, the row 2 3 2 0 0 (good film good, and two padding tokens)
# becomes 0 0 2 1: no padding, no *a*, two *good*, one *film*.
#
# <details><summary>Hint 1</summary>
#
# What shape is the result? How can one token raise one of its numbers by one?
# </details>
# <details><summary>Hint 2</summary>
#
# A one-hot vector has a 1 in the column of its token. What is the sum of a row's one-hot vectors?
# </details>
# <details><summary>Hint 3</summary>
#
# `F.one_hot(tokens, ?).sum(dim=?)`, and then one column becomes 0. Or `scatter_add_`, which needs less memory.
# </details>
#
# Docs: [one_hot](https://pytorch.org/docs/stable/generated/torch.nn.functional.one_hot.html) ·
# [scatter_add_](https://pytorch.org/docs/stable/generated/torch.Tensor.scatter_add_.html).

# %% exercise="bag_of_words"

# %% [markdown]
# **What you made.** The input of the first baseline. One Linear layer on top of it learns a weight for each word. It
# can't know that *not good* isn't praise. **What share of the test reviews will it get right?**

# %%
guess_counting = None  # a share, for example 0.6

counting = None
if corpus is not None:
    counter, counting = reading.count_words(corpus, bag_of_words)
    print(f"your guess: {guess_counting}, it is: {counting.test:.3f}")
    display(reading.telling_words(counter, corpus))

# %% [markdown]
# The table shows the words with the largest weights. Nobody told the model what they mean.
#
# ### Exercise: `masked_mean` · core · difficulty 2 · 10 minutes
#
# Now let the encoder read. It returns a vector for each word, and the last layer wants one for each review. In lesson 3
# that was the vector of a CLS token. Here we take the **mean** of all words. Padding is no word, so it must not count.
#
# ![Five numbers, 2, 4, 6, 9 and 9, and below them a mask: yes, yes, yes, no, no. An arrow leads to 4, which is (2 + 4 + 6) / 3, and not to 6, the mean of all five.](picture:mean_of_three)
#
# $$\text{mean} = \frac{\sum_i m_i \, x_i}{\max\left(1, \sum_i m_i\right)}$$
#
# The 1 below is for a row in which nothing counts: 0 divided by 1 is 0, and 0 divided by 0 isn't a number.
#
# <details><summary>Hint 1</summary>
#
# What do you multiply a vector by that should not count?
# </details>
# <details><summary>Hint 2</summary>
#
# The mask needs one more axis, at the end. The count is a sum of the mask, and `clamp` keeps it above 0.
# </details>
# <details><summary>Hint 3</summary>
#
# `weights = mask.to(x.dtype).unsqueeze(?)`, then `(x * weights).sum(dim=?) / weights.sum(dim=?).clamp(min=?)`.
# </details>
#
# Docs: [unsqueeze](https://pytorch.org/docs/stable/generated/torch.unsqueeze.html) ·
# [clamp](https://pytorch.org/docs/stable/generated/torch.clamp.html).

# %% exercise="masked_mean"

# %% [markdown]
# **What you made.** The way from many vectors to one. The model below is small: one block with a width of 32, learned
# positions, and your mean. It learns from the same reviews. Unlike the counter, it can see that *not* stands before
# *good*. **Will it beat the counter?** And then: we shuffle the words of each test review. **How many points will that
# cost the Transformer?**

# %%
guess_reading = None  # "counting" or "the Transformer"
guess_shuffled = None  # points lost, for example 10

read = None
better = None
lost = None
if corpus is not None:
    reader, read = reading.read_words(corpus, masked_mean)
    mixed = accuracy(reader, reading.shuffled(corpus.test[0]), corpus.test[1])
    better = "counting" if counting.test > read.test else "the Transformer"
    lost = round(100 * (read.test - mixed), 1)
    print(f"your guess: {guess_reading}, it is: {better}")
    print(f"your guess: {guess_shuffled} points, it is: {lost}")
    scores = {
        "the more common label": ("", round(reading.majority(corpus), 3)),
        "counting words": (round(counting.train, 3), round(counting.test, 3)),
        "the Transformer": (round(read.train, 3), round(read.test, 3)),
        "the Transformer, words shuffled": ("", round(mixed, 3)),
    }
    display(pd.DataFrame(scores, index=["training", "test"]).T)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - Counting gets about 75 to 76 % of the test reviews right, the Transformer 73 to 75 %, depending on the seed. <!-- claim: counting_wins -->
# - Both get more than 90 % of the training reviews right. <!-- claim: both_learn_by_heart -->
# - With shuffled words, the Transformer is as good as before, to within a point. <!-- claim: order_is_not_used -->
#
# So the Transformer loses, by one or two points. That isn't much: on 2,000 reviews, chance alone moves a score by about
# one point. But it takes longer to train, and it makes no use of what sets it apart: its score is the same when the order
# is gone. As far as this test can tell, it counts words too. Order matters in English, but 7,662 sentences may be too
# few to learn it from.
# </details>
#
# ### What does it look at?
#
# Here is a test review. Each row is a head, and each column says how much attention that word gets, on average over all
# words of the review. (A question mark is a word that isn't in the vocabulary.) If a head looked at all words alike, each
# of twelve would get 1/12, or 0.083. **Which words get more?**

# %%
if corpus is not None:
    short = min(corpus.texts, key=lambda text: abs(len(text.split()) - 12))
    display(reading.where_it_looks(reader, corpus, short))

# %% [markdown]
# Try other reviews: `corpus.texts[7]`. Do the heads prefer the words that you would underline? And remember lesson 5: a
# map shows where a model looks, not what it uses.
#
# ## Part 2 · What comes next
#
# The second domain has no words at all. A **time series** is one number after another. We have two with a value for
# each month: airline passengers from 1949 to 1960, and carbon dioxide in the air above Hawaii from 1964 to 2001. The
# passengers are downloaded once; the carbon dioxide comes with the course.

# %%
series = forecasting.both_series()
for name, values in series.items():
    title = f"{name}, {len(values)} months"
    display(plots.curves({name: values}, title=title, x_label="month", y_label=""))

# %% [markdown]
# ### Exercise: `seasonal_naive` · core · difficulty 1 · 10 minutes
#
# Both series repeat themselves every twelve months, a little higher each time. So here is a forecast that anybody can
# make: **next July will be like last July.** It's called the seasonal naive forecast, and it is the baseline that every
# forecast of such a series has to beat.
#
# In numbers: the history is 7 1 2 3, and the period is 3. Step 0 repeats what was three steps earlier, which is 1. Then
# come 2 and 3. Step 3 begins again with 1.
#
# <details><summary>Hint 1</summary>
#
# Where in the history is the last period?
# </details>
# <details><summary>Hint 2</summary>
#
# Which operation makes the steps 0 1 2 3 4 into the places 0 1 2 0 1?
# </details>
# <details><summary>Hint 3</summary>
#
# `last = history[len(history) - ? :]`, then `last[torch.arange(?) % ?]`.
# </details>
#
# Docs: [arange](https://pytorch.org/docs/stable/generated/torch.arange.html).

# %% exercise="seasonal_naive"

# %% [markdown]
# **What you made.** A forecast. How good is it? We make four forecasts of a year each, at the beginning of each of the
# last four years. Each of them may use everything before its **cut**, and nothing after it. That is a **rolling
# origin**. The error is scaled, so that the two series can be compared:
#
# $$\text{MASE} = \frac{\text{mean absolute error of the forecasts}}
# {\text{mean absolute difference of } x_t \text{ and } x_{t-12} \text{ before the first cut}}$$
#
# Below 1 means: better than last year's value used to be (Hyndman and Koehler 2006). The second forecast in the cell
# raises last year's values by as much as the last year was above the year before. **What will the MASE of the seasonal
# naive forecast be: below 1 or above it?**

# %%
guess_naive = None  # "below 1" or "above 1"

parts = forecasting.Parts(seasonal_naive=seasonal_naive)
plain = {
    "seasonal naive": forecasting.last_year(parts),
    "seasonal naive and growth": forecasting.last_year_and_growth(parts),
}
naive_table = forecasting.compare(series, plain)
naive_is = "above 1" if (naive_table.loc["seasonal naive"] > 1).all() else "below 1"
print(f"your guess: {guess_naive}, it is: {naive_is}")
display(naive_table.round(2))
name, values = next(iter(series.items()))
forecasting.drawn(values, plain, f"{name}: the last year, and two forecasts")

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - The seasonal naive forecast has a MASE of 1.27 for the passengers and 1.32 for carbon dioxide. <!-- claim: naive_is_behind -->
# - With growth, it is 0.73 and 0.73. <!-- claim: growth_helps -->
#
# Above 1: in the last years both series grew faster than before, so last year's value was further off than it used to
# be. One line of arithmetic repairs most of that. It will be harder to beat.
# </details>
#
# ### Exercise: `windows` · core · difficulty 3 · 15 minutes
#
# A model that learns needs examples: some values, and the values that came after them. One long series holds many such
# examples. Slide a **window** along it:
#
# ![A series of seven values: 5 6 8 7 9 11 10. Below it three windows, each one place further to the right: 5 6 8 with the target 7 9; 6 8 7 with the target 9 11; 8 7 9 with the target 11 10.](picture:sliding_windows)
#
# In numbers: 7 values, an input of 3 and a horizon of 2 make $7 - 3 - 2 + 1 = 3$ windows.
#
# <details><summary>Hint 1</summary>
#
# Where may a window begin? Where does the last one begin?
# </details>
# <details><summary>Hint 2</summary>
#
# If the starts are a column and the places within a window are a row, their sum is a table of indices.
# </details>
# <details><summary>Hint 3</summary>
#
# `starts = torch.arange(?).unsqueeze(1)`, `pieces = series[starts + torch.arange(?)]`, and then cut the pieces in two.
# </details>
#
# Docs: [indexing with a tensor](https://numpy.org/doc/stable/user/basics.indexing.html#integer-array-indexing) ·
# [Tensor.unfold](https://pytorch.org/docs/stable/generated/torch.Tensor.unfold.html).

# %% exercise="windows"

# %% [markdown]
# **What you made.** A data set out of a single series. Two years in, one year out:

# %%
inputs, targets = windows(series["carbon dioxide"], input_length=24, horizon=12)
print("inputs", tuple(inputs.shape), "and targets", tuple(targets.shape))
plots.curves(
    {
        "input 0": inputs[0],
        "input 100": inputs[100],
        "input 300": inputs[300],
    },
    title="Three windows of carbon dioxide",
    x_label="month of the window",
    y_label="parts per million",
)

# %% [markdown]
# Look at the levels. The windows have the same shape, but each lies higher than the one before. A model that learnt
# from low windows has never seen a high one. Keep that in mind.
#
# ### Exercise: `Forecaster` · core · difficulty 3 · 20 minutes
#
# Now the encoder. Each **value is a token**. A token has to be a vector, so a Linear layer turns one number into
# `d_model` numbers. The rest you know: positions, blocks, a norm, and a last layer. It reads all positions at once and
# returns the whole year in one go.
#
# In numbers: an input of 24 months and a width of 16 give the last layer $24 \cdot 16 = 384$ numbers to read.
#
# <details><summary>Hint 1</summary>
#
# `x` is (batch, input_length). Which axis is missing before a Linear layer from 1 to d_model?
# </details>
# <details><summary>Hint 2</summary>
#
# `TransformerClassifier` of lesson 3 has all the parts, in this order. What replaces its embedding, and is there
# anything to mask?
# </details>
# <details><summary>Hint 3</summary>
#
# `x = self.positions(self.embedding(x.unsqueeze(?)))`, then the blocks, then `self.head(self.final_norm(x).flatten(?))`.
# </details>
#
# Docs: [flatten](https://pytorch.org/docs/stable/generated/torch.flatten.html) ·
# [ModuleList](https://pytorch.org/docs/stable/generated/torch.nn.ModuleList.html).

# %% exercise="Forecaster"

# %% [markdown]
# **What you made.** A Transformer for numbers. It is trained anew at each cut, with the windows before it. We run it
# twice: on the series as it is (with one mean and one spread for all that is known at the cut), and with each window
# **scaled by its own** mean and spread. And there is one more rival: a single Linear layer from 24 numbers to 12. Zeng
# and others (2023) found that such a layer beats many Transformers that were made for series.
#
# The cell takes half a minute or so. **Which of the six has the lowest MASE on each series?** Type the names as they
# stand in the list.

# %%
guess_passengers = None  # for example "Transformer, windows scaled"
guess_carbon = None

parts = forecasting.Parts(windows, seasonal_naive, Forecaster)
forecasts = forecasting.pipelines(parts)
print("\n".join(forecasts))
table = forecasting.compare(series, forecasts)
best = table.idxmin().to_dict()
print(f"your guess: {guess_passengers} and {guess_carbon}")
print("the lowest:", best)
table.round(2)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - On the passengers, one Linear layer wins with 0.61 to 0.62. The better Transformer has 0.87 to 0.91 and is behind last year's values with growth, too. <!-- claim: passengers_are_lost -->
# - On carbon dioxide, the Transformer with scaled windows wins with 0.37; the best Linear layer has 0.42 to 0.43. <!-- claim: carbon_dioxide_is_won -->
# - There, scaling the windows is what makes the difference: without it, the Transformer has 0.88 to 1.02. <!-- claim: scaling_helps -->
#
# 144 months of passengers are 60 to 100 windows, most of which overlap: that is little for a model with 7,000
# weights, and the layer has 300. Carbon dioxide has 452 months, and they are smooth. And a careless Transformer,
# without scaled windows, would have been behind a forecast that needs no training at all, on both series.
# </details>

# %%
wanted = ["seasonal naive and growth", "one Linear layer", "Transformer, windows scaled"]
chosen = {name: forecasts[name] for name in wanted}
name, values = next(iter(series.items()))
forecasting.drawn(values, chosen, f"{name}: the last year, and three forecasts")

# %% [markdown]
# ### Where does it look?
#
# Here is the attention of a forecaster, trained before the last year of carbon dioxide, on its last window. Each row is
# a head, each column a month before the cut. Twelve months before the cut is the same season as the first month of the
# forecast. **Do you find a rhythm?**

# %%
forecasting.where_it_looks(series["carbon dioxide"], parts)

# %% [markdown]
# ### Exercise: `looks_ahead` · core · difficulty 3 · 20 minutes
#
# A colleague reports a MASE of 0.3 on the passengers. Should you believe it? The most common fault in forecasting has
# no error message: somewhere, the **future leaks** into the forecast. The mean of the whole series is enough, or a
# window that ends one month too late, or a moving average that is centred.
#
# This is the bug clinic. You get a **pipeline**: a function from a series and a cut to the forecast made at that cut.
# You can't read its code, but you can run it as often as you like. An honest forecast depends on the past alone. So what
# happens to it when you change the future?
#
# Think about which changes. A pipeline may look at a single future value, the first or the last. It may use the largest
# value or the smallest, or only the difference between two. And it may use the *length* of the series: that is known
# anyway.
#
# <details><summary>Hint 1</summary>
#
# Which of the two forecasts is made with the series as it is? What should be the same in the other series, and what
# shouldn't?
# </details>
# <details><summary>Hint 2</summary>
#
# One change isn't enough: try values that are much larger, and values that are much smaller, and change each of them by
# another amount.
# </details>
# <details><summary>Hint 3</summary>
#
# `other = series.clone()`, `other[cut:] += ?`, and compare `pipeline(other, cut)` with `pipeline(series, cut)`, for
# several changes.
# </details>
#
# Docs: [clone](https://pytorch.org/docs/stable/generated/torch.clone.html) ·
# [allclose](https://pytorch.org/docs/stable/generated/torch.allclose.html).

# %% exercise="looks_ahead"

# %% [markdown]
# **What you made.** A test that needs no source code. Three pipelines, all from this lesson: last year's values, one
# Linear layer trained on the past, and the same layer trained on *all* windows of the series, as if somebody had split
# them at random. **What will the leak do to the MASE?**

# %%
guess_leak = None  # the MASE of the leaking layer, for example 0.5

values = series.get("passengers", series["carbon dioxide"])
cut = forecasting.origins(values)[0]
on_trial = {
    "seasonal naive": forecasting.last_year(parts),
    "one Linear layer": forecasting.linear(parts),
    "one Linear layer, trained on everything": forecasting.linear(parts, leaking=True),
    "Transformer, trained on everything": forecasting.transformer(parts, leaking=True),
}
found = {}
for name, pipeline in on_trial.items():
    ahead = looks_ahead(pipeline, values, cut)
    found[name] = {"looks ahead?": ahead, "MASE": forecasting.mase(pipeline, values)}
trial = pd.DataFrame(found).T
leak = trial["MASE"]["one Linear layer, trained on everything"]
print(f"your guess: {guess_leak}, it is: {leak:.2f}")
trial.assign(MASE=trial["MASE"].astype(float).round(2))

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - The two that were trained on everything look ahead, and the other two don't. <!-- claim: leaks_are_found -->
# - The leak takes the layer from about 0.6 to 0.44 to 0.49, and the Transformer from about 0.9 to 0.55 to 0.61. <!-- claim: leaks_flatter -->
#
# Neither has become a better forecast: both have seen the answers. And the Transformer, with twenty times as many
# weights, has made more of them than the layer. The more your model can learn by heart, the more you need such a test.
# </details>
#
# ## Time for a break
#
# This is a good place to stop for today. What follows is the third domain, and the table.
#
# ## Part 3 · Pictures
#
# 1,797 handwritten digits of 8 by 8 pixels, written by 13 people (Alpaydin and Kaynak 1998). 1,297 are for training and
# 500 for the test. The baseline is the **nearest neighbour**: compare a picture with every training picture, pixel by
# pixel, and say what the most similar one shows. It doesn't learn anything, and it needs no training.

# %%
digits = handwriting()
images, labels = digits.train
for place in range(2):
    title = f"training picture {place}: a {int(labels[place])}"
    display(plots.heatmap(images[place, 0], title=title, low=0, high=1))
neighbour = seeing.neighbours(digits)
print(f"the nearest neighbour is right in {neighbour:.1%} of the test pictures")

# %% [markdown]
# ### Exercise: `patchify` · core · difficulty 4 · 20 minutes
#
# What is a token of a picture? A pixel would be possible, but a picture has many of them. Dosovitskiy and others (2021)
# cut the picture into square **patches**, and each patch is a token. The numbers of a patch, laid in a row, are its
# vector.
#
# ![A handwritten 9 of 8 by 8 pixels. Beside it the same picture, cut into 16 patches of 2 by 2 pixels, numbered row by row from 1 at the top left to 16 at the bottom right.](picture:cut_into_patches)
#
# In numbers: a picture of 4 by 4 pixels, numbered 0 to 15 row by row, has four patches of 2 by 2. The first is 0 1 4 5,
# and the second 2 3 6 7.
#
# A plain `reshape` won't do: in memory, the numbers of a patch aren't next to each other. Give the rows and columns of
# patches axes of their own, move the axes, and only then reshape.
#
# <details><summary>Hint 1</summary>
#
# The height is rows of patches times rows of pixels. Into which six axes can you split the four?
# </details>
# <details><summary>Hint 2</summary>
#
# (batch, channels, rows, patch_size, columns, patch_size). Which of them say *which patch*, and which say where *within*
# it? The first kind must come before the second.
# </details>
# <details><summary>Hint 3</summary>
#
# `images.reshape(?, ?, ?, ?, ?, ?).permute(0, 2, 4, ?, ?, ?).reshape(batch, ?, ?)`, after a check of the sizes.
# </details>
#
# Docs: [permute](https://pytorch.org/docs/stable/generated/torch.permute.html) ·
# [reshape](https://pytorch.org/docs/stable/generated/torch.reshape.html).

# %% exercise="patchify"

# %% [markdown]
# **What you made.** Pictures as sentences. Here is the first training picture, as its 16 tokens of four numbers each:

# %%
tokens = patchify(images[:1], patch_size=2)[0]
plots.heatmap(
    tokens.T,
    [f"number {i + 1}" for i in range(4)],
    [str(i + 1) for i in range(16)],
    title="The tokens of one picture",
    columns="patch",
    low=0,
    high=1,
)

# %% [markdown]
# ### Exercise: `VisionTransformer` · core · difficulty 3 · 20 minutes
#
# The last model of the lesson is the second one again, with patches in place of months: patches, a Linear layer,
# positions, blocks, a norm, the mean of all patches, and a last layer. The mean needs no mask, as no patch is padding.
#
# In numbers: an image size of 8 and a patch size of 2 make $(8 / 2)^2 = 16$ tokens. With one channel, each token has
# $1 \cdot 2^2 = 4$ numbers.
#
# <details><summary>Hint 1</summary>
#
# How many positions are there? How many numbers does the first Linear layer get?
# </details>
# <details><summary>Hint 2</summary>
#
# Take your `Forecaster`, and change how `x` becomes tokens and what the last layer reads.
# </details>
# <details><summary>Hint 3</summary>
#
# `x = self.positions(self.embedding(patchify(images, ?)))`, the blocks, and `self.head(self.final_norm(x).mean(dim=?))`.
# </details>
#
# Docs: [Linear](https://pytorch.org/docs/stable/generated/torch.nn.Linear.html).

# %% exercise="VisionTransformer"

# %% [markdown]
# **What you made.** A Vision Transformer. The smaller the patches, the more tokens, and the more attention has to do.
# With patches of 8 by 8, the whole picture is one token, and there is nobody else to look at. Three models, 500 steps
# each. **Which patch size will be best?** And then we move all test pictures one pixel to the right. **Who copes better
# with that: the nearest neighbour, or the Transformers?**

# %%
guess_patch = None  # 2, 4 or 8
guess_moved = None  # "the nearest neighbour" or "the Transformers"

shifted = seeing.moved(digits.test[0])
seers = {size: seeing.learn(digits, size, VisionTransformer) for size in (8, 4, 2)}
found = {"nearest neighbour": (neighbour, seeing.neighbours(digits, shifted))}
for size, seer in seers.items():
    moved = seeing.right(seer, digits, shifted)
    found[f"patches of {size}"] = (seeing.right(seer, digits), moved)
seen = pd.DataFrame(found, index=["test", "test, moved"]).T
best_patch = max(seers, key=lambda size: seen["test"][f"patches of {size}"])
steadier = seen["test, moved"].idxmax()
copes = "the nearest neighbour" if steadier == "nearest neighbour" else "the Transformers"
print(f"your guess: {guess_patch}, it is: {best_patch}")
print(f"your guess: {guess_moved}, it is: {copes}")
seen.round(3)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - The nearest neighbour names 98 to 99 % of the pictures. Patches of 4 get 95 to 97 %, and patches of 2 get 92 %. <!-- claim: neighbours_win -->
# - The larger the patches, the better: without any attention between patches, it's 97 to 99 %. <!-- claim: larger_patches_win -->
# - Moved by one pixel, everybody fails: the neighbour falls to about 63 %, the Transformers to 52 % at most. <!-- claim: nobody_copes -->
#
# A Transformer begins without knowing which patches are neighbours, or that a digit stays the same digit when it moves.
# It would have to learn both, from 1,297 pictures. The nearest neighbour compares pixels in fixed places, which is all
# it takes as long as all digits are in the middle. The paper reports the same on a larger scale (section 4.3): with
# little data, a Vision Transformer falls behind networks with convolutions, and with very much data it overtakes them.
#
# With a single patch, the Transformer is level with the neighbour. But then there is nothing left to attend to: it's a
# feed-forward network with a residual. The models with small patches may also need more steps: after 500, patches of 2
# get 96 to 98 % of their *training* pictures right. See "Things to try".
# </details>
#
# ### Where does it look?
#
# A picture, and beside it how much attention each of its patches gets from the model with patches of 2, on average over
# all heads and all patches that look.

# %%
display(seeing.where_it_looks(seers[2], digits.test[0][0]))
seeing.where_it_looks(seers[2], digits.test[0][1])

# %% [markdown]
# Does it look at the ink, or at the paper? Which digits could you tell apart by the brightest patch? Try other pictures
# of `digits.test[0]`.
#
# ## Everything in one table
#
# One row for each task: the simplest baseline, the best plain rival, and the Transformer. For reviews and digits, more
# is better; for the two series, less. The Transformer for digits is the one with patches of 4, where attention has
# something to do.

# %%
rows = []
if corpus is not None:
    rows.append(("reviews, accuracy", reading.majority(corpus), counting.test, read.test))
for name in table:
    column = table[name]
    rival = column[["one Linear layer", "one Linear layer, windows scaled"]].min()
    transformer = column["Transformer, windows scaled"]
    rows.append((f"{name}, MASE", column["seasonal naive"], rival, transformer))
rows.append(("digits, accuracy", 0.1, neighbour, seen["test"]["patches of 4"]))
columns = ["task", "baseline", "best plain rival", "Transformer"]
summary = pd.DataFrame(rows, columns=columns)
less = summary["task"].str.endswith("MASE")
ahead = (summary["Transformer"] < summary["best plain rival"]) == less
summary["the Transformer wins"] = ["yes" if yes else "no" for yes in ahead]
summary.round(3)

# %% [markdown]
# **What you should see**
#
# - The Transformer beats the simplest baseline everywhere, and the best plain rival on one task of four, carbon dioxide. <!-- claim: one_of_four -->
#
# So the encoder does work everywhere: without any change, it reads words, months and pictures, and each time it learns
# something. It just isn't the best choice for small data. The plain rivals know something that the Transformer has to
# find out: that a word counts wherever it is, that next year is like this year, that a pixel belongs to its place.
# Where there is enough data, a model can find that out for itself. Here there isn't.
#
# ## Explain it
#
# A friend has a Transformer that forecasts the sales of a shop, a year ahead, from eight years of monthly data. "The
# error on the test windows is tiny", she says. "I scaled the series, cut it into windows, shuffled them, and kept a
# fifth for the test."
#
# Answer in four or five sentences. What is wrong with the test, how would you show it to her, and which two baselines
# should she compare with?

# %% [markdown] explain=true
# Her test windows overlap with training windows, so the model has seen nearly all of their values: shuffling windows
# lets the future leak into training, and scaling with the mean of the whole series does too. I'd show it with a test
# like looks_ahead: make the forecast at a cut, change the sales after the cut, run everything again, and see the
# forecast change. The honest way is a rolling origin: at each cut, scale and train with what came before it, and
# forecast what comes after it. I'd compare with the seasonal naive forecast, with growth if sales grow, and with one
# Linear layer on the same windows. With 96 months, I'd expect one of those to be hard to beat.

# %% [markdown]
# ## How good were your guesses?
#
# Here are your predictions next to what happened. A wrong guess is worth more than none: it shows you where to look.

# %%
tasks_won = int((summary["the Transformer wins"] == "yes").sum())
board = [
    ("tasks that the Transformer wins", guess_wins, tasks_won),
    ("counting words: share right", guess_counting, counting and round(counting.test, 2)),
    ("who reads better", guess_reading, better),
    ("points lost by shuffling", guess_shuffled, lost),
    ("MASE of the seasonal naive forecast", guess_naive, naive_is),
    ("the best on the passengers", guess_passengers, best.get("passengers")),
    ("the best on carbon dioxide", guess_carbon, best["carbon dioxide"]),
    ("MASE of a leaking layer", guess_leak, round(leak, 2)),
    ("the best patch size", guess_patch, best_patch),
    ("who copes with moved pictures", guess_moved, copes),
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
# **1.** What changes in the encoder when it reads patches in place of words?
#
# <details><summary>Answer</summary>
#
# Nothing. Only the way into it changes (a Linear layer in place of an embedding) and what the last layer reads.
# </details>
#
# **2.** Why does a forecast use the mean of each window, and not the mean of the whole series?
#
# <details><summary>Answer</summary>
#
# The mean of the whole series knows the future. And a window's own mean brings windows of all levels to the same one.
# </details>
#
# **3.** What can `looks_ahead` prove, and what can't it prove?
#
# <details><summary>Answer</summary>
#
# A forecast that changes with the future looks ahead. A forecast that doesn't change may still look ahead in a way that
# none of your changes touched.
# </details>
#
# ## Things to try
#
# - Train patches of 2 for longer: `seeing.learn(digits, 2, VisionTransformer, steps=1500)`. Does it catch up?
# - Let the training pictures move, too: add `seeing.moved(images)` to them, with the same labels. Who gains most?
# - Shuffle the pixels of all pictures in the same way. Who doesn't notice?
# - Give the counter pairs of words as well: *not good* gets a column of its own.
# - Forecast one month ahead in place of twelve. Which of the baselines becomes hard to beat?
#
# ## Glossary
#
# | word | meaning |
# |---|---|
# | bag of words | how often each word occurs, without the order |
# | baseline | a plain method that a model has to beat |
# | cut, origin | the moment at which a forecast is made |
# | horizon | how many steps are forecast |
# | leak | a way in which the future, or the test, gets into training |
# | MASE | mean absolute scaled error: relative to last year's value in the known part |
# | nearest neighbour | the most similar training example, whose label is taken |
# | patch | a square piece of a picture; one token |
# | period | the number of steps after which a season repeats |
# | rolling origin | forecasts made at several cuts, each with what was known then |
# | seasonal naive | the forecast that each season repeats itself |
# | window | a few values in a row, with those that follow |
#
# ## Papers
#
# - Pang, Lee, [Seeing stars](https://aclanthology.org/P05-1015/), ACL 2005: section 2.2, the reviews.
# - Hyndman, Koehler, [Another look at measures of forecast accuracy](https://doi.org/10.1016/j.ijforecast.2006.03.001), International Journal of Forecasting, 2006: section 3, MASE.
# - Zeng and others, [Are Transformers Effective for Time Series Forecasting?](https://arxiv.org/abs/2205.13504), AAAI 2023: section 4, one Linear layer.
# - Dosovitskiy and others, [An Image is Worth 16x16 Words](https://arxiv.org/abs/2010.11929), ICLR 2021: section 3.1, the model; section 4.3, how much data it needs.
# - Alpaydin, Kaynak, [Optical Recognition of Handwritten Digits](https://doi.org/10.24432/C50P49), UCI Machine Learning Repository, 1998 (CC BY 4.0).
# - Keeling, Whorf, Atmospheric CO2 concentrations derived from flask air samples at sites in the SIO network, Carbon Dioxide Information Analysis Center, 2004.
