# ---
# title: Beyond language
# topic: reviews, time series and images
# group: Beyond
# picture: "1: an 8, read as 2"
# sittings: [130, 65]
# builds_on: [03_classification_transformer, 06_positional_encodings]
# gives:
#   - turn reviews, series and pictures into tokens
#   - name the baseline that a model has to beat, and build it first
#   - measure a forecast without letting it see the future, and catch one that does
#   - say who wins, who loses, and when a difference is too small to tell
# ---

# %% [markdown]
# TITLE
#
# An encoder doesn't know what a word is. It gets vectors, it mixes them, and it returns vectors. So why should its
# input be words? In this lesson you take the encoder block of lesson 3, unchanged, and give it three other things to
# read.
#
# ![Three rows of cells, words, months and patches, become vectors: words through an Embedding, months and patches through a Linear layer each. Arrows lead from all three into one box, the encoder of lesson 3, and out of it to three answers: praise or pan, the next year, a digit.](picture:three_entrances)
#
# Each time, something plain is waiting for it: a method that needs no attention, takes seconds, and has embarrassed
# many a careless model. There are four tasks in all: film reviews, two series of monthly numbers, and handwritten
# digits. **In how many of the four will the Transformer win?** Some may be too close to call: don't count those. Write
# your guess down in the cell after the set-up. A table at the end has the answer.
#
# GIVES
#
# SITTINGS
#
# **How to check.** Replace the line `raise NotImplementedError()` with your own code, and run the cell. Then run the
# `check` cell below it, as often as you like. It tells you what is right and what isn't.
# One exercise should not keep you from the rest of the lesson: below its last hint is a line that lets you go on with our version.
#
# **How to submit.** Save the notebook and hand it in the way your class does.
# Working on your own? The checks are all you need.

# %% [markdown]
# ## A two-minute test
#
# BUILDS_ON Try these three without running anything.
#
# **1.** What shape goes into an encoder block, and what shape comes out?
#
# <details><summary>Answer</summary>
#
# (batch, length, d_model), both times. See `EncoderBlock` in
# [lesson 3](../03_classification_transformer/03_classification_transformer.ipynb).
# </details>
#
# **2.** Without positions and without a mask, what does a model know about the order of its tokens?
#
# <details><summary>Answer</summary>
#
# Nothing. See [lesson 6](../06_positional_encodings/06_positional_encodings.ipynb).
# </details>
#
# **3.** In a padding mask, what does True mean?
#
# <details><summary>Answer</summary>
#
# That this position may be attended to. See `padding_mask` in
# [lesson 3](../03_classification_transformer/03_classification_transformer.ipynb).
# </details>
#
# Two out of three? Go on. Fewer? Read the linked pages first, then come back.
#
# Run the next cell first: it loads the tools. The three modules at its end run the experiments, one for each domain.

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
from transformer_course.attention import padding_mask
from transformer_course.blocks import EncoderBlock, LayerNorm, LearnedPositionalEmbedding
from transformer_course.beyond.series import seasonal_naive
from transformer_course.downloads import NotAvailable
from transformer_course.fitting import accuracy
from transformer_course.tasks.handwriting import handwriting, handwriting_in_thirds
from transformer_course.lessons.lesson_13.experiments import forecasting, reading, seeing

torch.set_num_threads(1)  # on a shared machine, two threads can be ten times slower than one

# %%
guess_wins = None  # in how many of the four tasks the Transformer wins

# %% [markdown]
# ## Part 1 · Film reviews
#
# The first domain is still language, but a harder task than any so far: 10,662 sentences from real film reviews, half
# of them praise, half of them pans (Pang and Lee 2005). 2,000 are for the test, 1,000 for validation, and the rest to
# learn from. In training, one label is a little more common; always giving that one is the simplest baseline. (In the
# test, it happens to be the less common one.) The file is downloaded once, 0.5 MB. If you are offline, the cell tells you what to do; this part then shows no results.

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
    print(f"the label that is more common in training is right in {share:.0%} of the test reviews")
    for place, text in enumerate(corpus.texts[:6]):
        print("praise:" if corpus.test[1][place] else "pan:   ", text[:80])

# %% [markdown] exercise="bag_of_words" kind="core" difficulty=2 minutes=10
# The plainest way to read a review is to count its words and forget their order. What is left is a **bag of words**.
#
# For example: with the ids *a* = 1, *good* = 2, *film* = 3, the row 2 3 2 0 0 (good film good, and two padding tokens)
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

# %% [markdown]
# **What you've built.** The input of the first baseline. One Linear layer on top of it learns a weight for each word. It
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

# %% [markdown] exercise="masked_mean" kind="core" difficulty=2 minutes=10
# Now let the encoder read. It returns a vector for each word, and the last layer wants one for each review. In lesson 3
# that was the vector of a CLS token. Here we take the **mean** of all words. Padding isn't a word, so it mustn't count.
#
# ![Five numbers, 2, 4, 6, 9 and 9, and below them a mask: yes, yes, yes, no, no. An arrow leads to 4, which is (2 + 4 + 6) / 3, and not to 6, the mean of all five.](picture:mean_of_three)
#
# $$\text{mean} = \frac{\sum_i m_i \, x_i}{\max\left(1, \sum_i m_i\right)}$$
#
# The 1 in the denominator is for a row in which nothing counts: 0 divided by 1 is 0, and 0 divided by 0 isn't a number.
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

# %% [markdown]
# **What you've built.** The way from many vectors to one. The model below is small: one block with a width of 32, learned
# positions, and your mean. It learns from the same reviews. Unlike the counter, it can see that *not* comes before
# *good*. **Will it beat the counter, or is it too close to call?** We call a difference too close when it is less than
# twice its **standard error**, which says how much chance alone would move it.

# %%
guess_reading = None  # "counting", "the Transformer" or "too close"

read = None
better = None
if corpus is not None:
    reader, read = reading.read_words(corpus, masked_mean)
    lead, error = reading.lead(reading.rights(reader, corpus), reading.rights(counter, corpus))
    better = "too close" if abs(lead) < 2 * error else "the Transformer" if lead > 0 else "counting"
    print(f"the Transformer is {100 * lead:.1f} points ahead, with a standard error of {100 * error:.1f}")
    print(f"your guess: {guess_reading}, it is: {better}")

# %% [markdown]
# Now we shuffle the words of each test review, and the same Transformer reads them again. **How many points will that
# cost it?**

# %%
guess_shuffled = None  # points lost, for example 10

lost = None
if corpus is not None:
    mixed = accuracy(reader, reading.shuffled(corpus.test[0]), corpus.test[1])
    lost = round(100 * (read.test - mixed), 1)
    print(f"your guess: {guess_shuffled} points, it is: {lost}")
    display(reading.scores(corpus, counting, read, mixed))

# %% [markdown]
# <details><summary>Open this once you have run the cells</summary>
#
# **What you should see**
#
# - Counting gets about 75 to 77% of the test reviews right, the Transformer 73 to 75%, depending on the seed. That is less than two standard errors apart: too close to call. <!-- claim: reviews_are_too_close -->
# - Both get more than 90% of the training reviews right. <!-- claim: both_learn_by_heart -->
# - With shuffled words, the Transformer is as good as before, to within a point. <!-- claim: order_is_not_used -->
#
# So the Transformer isn't ahead: if anything, it is a point or two behind, and it takes longer to train. And it makes no
# use of what sets it apart: its score is the same when the order is gone. As far as this test can tell, it counts words
# too. Order matters in English, but 7,662 sentences may be too few to learn it from.
# </details>
#
# ### Does it count words?
#
# Here is a test review. Leave one word out, and see how far the model moves: if it now leans less towards praise, the word
# spoke for praise. We do that for each word and both models; the strongest word of a model is 1 or -1. (A question mark is
# a word that isn't in the vocabulary.) **Will the two models agree about the words?**

# %%
guess_words = None  # "mostly" or "hardly": do they agree on the sign of the words that matter to the counter?

agreed = None
if corpus is not None:
    models = {"counting": counter, "the Transformer": reader}
    short = min(corpus.texts, key=lambda text: abs(len(text.split()) - 12))
    display(reading.word_by_word(models, corpus, short))
    agreed, together = reading.agreement(counter, reader, corpus)
    print(
        f"your guess: {guess_words}; of the words that matter, they agree on {agreed:.0%}; correlation {together:.2f}"
    )

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - Over 300 test reviews, the two agree on whether a word speaks for praise or for a pan in 84 to 89% of the words that matter most to the counter, a quarter of all. The correlation over all words is about 0.5. <!-- claim: they_weigh_the_same_words -->
#
# Much of what the Transformer has learnt, then, is a list of words with weights, like the counter's. Try other reviews:
# `corpus.texts[7]`.
# </details>
#
# ## Part 2 · What comes next
#
# The second domain has no words at all. A **time series** is one number after another. We have two with a value for
# each month: airline passengers from 1949 to 1960, and carbon dioxide in the air above Hawaii from 1964 to 2001. The
# passengers are downloaded once; the carbon dioxide comes with the course. Both repeat themselves every twelve months, a
# little higher each time.

# %%
series = forecasting.both_series()
for name, values in series.items():
    display(forecasting.shown(name, values))

# %% [markdown]
# ### The forecast to beat
#
# Here is a forecast that anybody can make: **next July will be like last July.** It's called the seasonal naive forecast, and it is
# the baseline that every forecast of such a series has to beat. It is two lines long, so it comes with the course:

# %%
seasonal_naive(torch.tensor([7, 1, 2, 3]), period=3, horizon=5)  # the last three values, over and over

# %% [markdown]
# How good is it? We make four forecasts of a year each, at the beginning of each of the last four years. Each of them may
# use everything before its **cut**, and nothing after it. That is a **rolling origin**.
#
# ![Four rows of years. In each, the years up to a cut are known, and the year after it is framed: it is forecast. The framed year is 57 in the first row, then 58, 59 and 60, and each row knows a year more than the one above it.](picture:rolling_origin)
#
# An error of 20 means one thing for passengers and another for carbon dioxide. So we divide it by something that both
# series have: how far last year's value *used to be* off, before the first cut. That is the **MASE**, the mean absolute
# scaled error (Hyndman and Koehler 2006).
#
# For example, with a period of 2: the known values are 10 20 12 22 14 24. Each is 2 above the value one period earlier,
# so last period's value used to be 2 off. The forecast repeats 14 24. Then 17 and 29 come: the errors are 3 and 5, on
# average 4. The MASE is $4 / 2 = 2$: twice as far off as it used to be. Below 1 means better than last year's value used to
# be. Only values before the first cut go into the 2, so no forecast can change the scale it is measured on.
#
# The second forecast in the cell adds last year's growth to last year's values. **Will the MASE of the seasonal naive
# forecast be below 1 or above it?**

# %%
guess_naive = None  # "below 1" or "above 1"

plain = {
    "seasonal naive": forecasting.last_year(),
    "seasonal naive and growth": forecasting.last_year_and_growth(),
}
naive_table = forecasting.means(forecasting.compare(series, plain))
naive_is = "above 1" if (naive_table.loc["seasonal naive"] > 1).all() else "below 1"
print(f"your guess: {guess_naive}, it is: {naive_is}")
display(naive_table.round(2))
name, values = next(iter(series.items()))
forecasting.drawn(name, values, plain, f"{name}: the last year, and two forecasts")

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - The seasonal naive forecast has a MASE of 1.27 for the passengers and 1.32 for carbon dioxide. <!-- claim: naive_is_behind -->
# - With growth, it is 0.73 for both. <!-- claim: growth_helps -->
#
# Above 1: over the last four years both series grew faster than before, so last year's value was further off than it
# used to be. One line of arithmetic repairs most of that. It will be harder to beat.
# </details>

# %% [markdown] exercise="windows" kind="core" difficulty=3 minutes=15
# A model that learns needs examples: some values, and the values that came after them. One long series holds many such
# examples. Slide a **window** along it:
#
# ![A series of seven values: 5 6 8 7 9 11 10. Below it three windows, each one place further to the right: 5 6 8 with the target 7 9; 6 8 7 with the target 9 11; 8 7 9 with the target 11 10.](picture:sliding_windows)
#
# For example: 7 values, an input of 3 and a horizon of 2 make $7 - 3 - 2 + 1 = 3$ windows.
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

# %% [markdown]
# **What you've built.** A data set out of a single series. Two years in, one year out:

# %%
inputs, targets = windows(series["carbon dioxide"], input_length=24, horizon=12)
print("inputs", tuple(inputs.shape), "and targets", tuple(targets.shape))
plots.curves(
    {
        "input 0": inputs[0],
        "input 96": inputs[96],
        "input 300": inputs[300],
    },
    title="Three windows of carbon dioxide",
    x_label="month of the window",
    y_label="parts per million",
)

# %% [markdown]
# All three begin in a May, and each lies higher than the one before. A model that learnt from low windows has never seen
# a high one, and it can't know that the two go on in the same way.

# %% [markdown] exercise="scale_windows" kind="core" difficulty=2 minutes=15
# So let every window lie on the same level: subtract its own **mean**, and divide by its own **spread**, the standard
# deviation. The model reads the scaled window and forecasts on that scale. Multiplied by the spread, plus the mean, its
# forecast is back in parts per million, or in passengers.
#
# ![Two windows, 2 4 6 and 102 104 106. The first has mean 4 and spread 2, the second mean 104 and spread 2. Minus the mean and divided by the spread, both become -1 0 1.](picture:same_shape)
#
# For example: 2 4 6 has the mean 4 and the standard deviation 2, so it becomes -1 0 1. And 102 104 106 becomes -1 0 1 as well.
#
# Is that allowed? Yes: a window's mean is known when its forecast is made. The targets must not be looked at: they are
# scaled with the mean and the spread of the *input*.
#
# <details><summary>Hint 1</summary>
#
# `windows` is (n, length). Which axis belongs to a single window, and what keeps it in the result?
# </details>
# <details><summary>Hint 2</summary>
#
# `mean` and `std` both take `dim` and `keepdim`. What do you do with a window whose spread is 0?
# </details>
# <details><summary>Hint 3</summary>
#
# `mean = windows.mean(dim=?, keepdim=?)`, `spread = windows.std(dim=?, keepdim=?)`, and `torch.where(spread > 0, spread, ?)`.
# </details>
#
# Docs: [Tensor.std](https://pytorch.org/docs/stable/generated/torch.std.html) ·
# [torch.where](https://pytorch.org/docs/stable/generated/torch.where.html).

# %% [markdown]
# **What you've built.** One scale for every year. Here are the same three windows, scaled:

# %%
scaled, mean, spread = scale_windows(inputs[[0, 96, 300]])
print("means:  ", [round(value, 1) for value in mean.flatten().tolist()])
print("spreads:", [round(value, 1) for value in spread.flatten().tolist()])
plots.curves(
    dict(zip(["input 0", "input 96", "input 300"], scaled, strict=True)),
    title="The same three windows, scaled",
    x_label="month of the window",
    y_label="spreads from the mean",
)

# %% [markdown] exercise="Forecaster" kind="core" difficulty=3 minutes=20
# Now the encoder. Each **value is a token**. A token has to be a vector, so a Linear layer turns one number into
# `d_model` numbers. The rest you know: positions, blocks, a norm, and a last layer. It reads all positions at once and
# returns the whole year in one go. Scaling isn't its job: it gets windows that have been scaled.
#
# For example: an input of 24 months and a width of 16 give the last layer $24 \cdot 16 = 384$ numbers to read.
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

# %% [markdown]
# **What you've built.** A Transformer for numbers. It's retrained at each cut, on the windows before it. Everything
# before the cut is standardised once, with its own mean and standard deviation; then we train the model twice, on windows
# as they are and on windows from your `scale_windows`. And there is one more rival: a single Linear layer from 24 numbers
# to 12. Zeng and others (2023) found that such a layer beats many Transformers that were built for time series.

# %%
parts = forecasting.Parts(windows, scale_windows, Forecaster)
forecasts = forecasting.pipelines(parts)
print("\n".join(forecasts))

# %% [markdown]
# **Which of these six has the lowest MASE on each series?** Copy a name from the list. **And what will the MASE of the Transformer
# on carbon dioxide be, with scaled windows?** The cell takes half a minute to two minutes.

# %%
guess_passengers = None  # one of the six names
guess_carbon = None
guess_scaled = None  # a MASE, for example 0.9

by_year = forecasting.compare(series, forecasts)
table = forecasting.means(by_year)
best = table.idxmin().to_dict()
carbon_scaled = float(table["carbon dioxide"]["Transformer, windows scaled"])
print(f"your guess: {guess_passengers} and {guess_carbon}")
print("the lowest:", best)
print(f"your guess: {guess_scaled}, it is: {carbon_scaled:.2f}")
table.round(2)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - On the passengers, one Linear layer wins with 0.60 to 0.64, depending on the seed. The better Transformer has 0.87 to 0.96 and is behind last year's values with growth, too. <!-- claim: passengers_are_lost -->
# - On carbon dioxide, the Transformer with scaled windows is in front with 0.37; the best Linear layer has 0.42 to 0.43. <!-- claim: carbon_dioxide -->
# - There, scaling the windows is what makes the difference: without it, the Transformer has 0.88 to 1.02. <!-- claim: scaling_helps -->
#
# 144 months of passengers are 60 to 100 windows, most of which overlap: that is very little for a model with 7,000
# weights; the layer has 300. Carbon dioxide has 452 months, and they are smooth. And a careless Transformer, without
# scaled windows, would have been behind a forecast that needs no training at all, on both series.
# </details>
#
# Is the lower mean a win? Four forecasts are few. Here is each year by itself. We call it a win when
# one of the two is ahead in **all four** years; otherwise it is too close to call.

# %%
rivals = ["one Linear layer", "one Linear layer, windows scaled"]
pairs = {name: (table[name][rivals].idxmin(), "Transformer, windows scaled") for name in series}
display(*(by_year[name].loc[list(pair)].round(2) for name, pair in pairs.items()))
series_won = {
    name: forecasting.ahead(*(by_year[name].loc[how].tolist() for how in reversed(pairs[name]))) for name in series
}
print("does the Transformer win?", series_won)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - On the passengers, the Linear layer is ahead in all four years. On carbon dioxide, the Transformer is ahead in two or three of four: too close to call. <!-- claim: year_by_year -->
#
# </details>

# %%
wanted = ["seasonal naive and growth", "one Linear layer", "Transformer, windows scaled"]
chosen = {name: forecasts[name] for name in wanted}
name, values = next(iter(series.items()))
forecasting.drawn(name, values, chosen, f"{name}: the last year, and three forecasts")

# %% [markdown] exercise="looks_ahead" kind="core" difficulty=3 minutes=20
# A colleague reports a MASE of 0.3 on the passengers. Should you believe it? The most common fault in forecasting gives
# no error message: somewhere, the **future leaks** into the forecast. The mean of the whole series is enough, or a
# window that ends one month too late, or a moving average that is centred.
#
# ![The past 5 6 8 7, a cut, and the future 9 11. A pipeline forecasts 9 8. Below it the same past with a different future, 95 and -40. An honest pipeline forecasts 9 8 again; one that looks ahead says 52 -16.](picture:another_future)
#
# This is the bug clinic. You get a **pipeline**: a function from a series and a cut to the forecast made at that cut.
# You can't read its code, but you can run it as often as you like. An honest forecast depends on the past alone. So what
# happens to it when you change the future?
#
# Think about which changes to try. A pipeline may look at a single future value: the first, the last, or one
# in between. It may use the largest value of the series or the smallest, and that may well be in the past. It may use only the difference between two.
# And it may use the *length* of the series: that is known anyway.
#
# Two forecasts that should be equal may differ in their last digits: a computer rounds. So don't ask for equality.
#
# <details><summary>Hint 1</summary>
#
# Which of the two forecasts is made with the series as it is? What should be the same in the other series, and what
# shouldn't?
# </details>
# <details><summary>Hint 2</summary>
#
# One change isn't enough: try values that are much larger, and values that are much smaller, and change each of them by
# a different amount. A larger value shows in a maximum, a smaller one in a minimum.
# </details>
# <details><summary>Hint 3</summary>
#
# `other = series.clone()`, `other[cut:] += ?`, and compare `pipeline(other, cut)` with `pipeline(series, cut)`, with
# `torch.allclose`, for several changes.
# </details>
#
# Docs: [clone](https://pytorch.org/docs/stable/generated/torch.clone.html) ·
# [allclose](https://pytorch.org/docs/stable/generated/torch.allclose.html).

# %% [markdown]
# **What you've built.** A test that needs no source code. Four pipelines: last year's values, one Linear layer trained on the
# past, and the same layer and the Transformer with scaled windows, both trained on *all* windows of the series, as if
# they had been split at random. Which of them look ahead?

# %%
values = series.get("passengers", series["carbon dioxide"])
on_trial = {
    "seasonal naive": forecasting.last_year(),
    "one Linear layer": forecasting.linear(parts),
    "one Linear layer, trained on everything": forecasting.linear(parts, leaking=True),
    "Transformer, trained on everything": forecasting.transformer(parts, leaking=True),
}
cut = forecasting.origins(values)[0]
ahead = {name: looks_ahead(pipeline, values, cut) for name, pipeline in on_trial.items()}
trial = pd.DataFrame({"looks ahead?": ahead})
trial

# %% [markdown]
# And what does a leak do to the score? The honest layer has a MASE of about 0.6. **How low does the leaking layer get?**

# %%
guess_leak = None  # the MASE of the leaking layer, for example 0.5

trial["MASE"] = {name: forecasting.mase(pipeline, values) for name, pipeline in on_trial.items()}
leak = float(trial["MASE"]["one Linear layer, trained on everything"])
print(f"your guess: {guess_leak}, it is: {leak:.2f}")
trial.round(2)

# %% [markdown]
# <details><summary>Open this once you have run the cells</summary>
#
# **What you should see**
#
# - The two that were trained on everything look ahead, and the other two don't. <!-- claim: leaks_are_found -->
# - The leak brings the layer from about 0.6 down to 0.44-0.49, and the Transformer from about 0.9 down to 0.55-0.61. <!-- claim: leaks_flatter -->
#
# Neither has become a better forecaster: both have seen the answers. And the Transformer, with twenty times as many
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
# 500, drawn at random, for the test. The baseline is the **nearest neighbour**: compare a picture with every training
# picture, pixel by pixel, and say what the most similar one shows. It doesn't learn anything, and it needs no training.
# Here is a test picture with its nearest neighbour. On the right, the same picture is moved by one pixel.

# %%
digits = handwriting()
neighbour = seeing.neighbours(digits)
print(f"the nearest neighbour is right in {neighbour:.1%} of the test pictures")
seeing.beside_its_neighbour(digits, 4)

# %% [markdown]
# ### A second leak
#
# You have just caught forecasts that had seen the answers. Is this test sound? The pictures were shuffled before they were
# split, so all 13 people wrote for both parts. The file doesn't name its writers. But what each of them wrote may well be in
# one piece, about 138 lines long. If a nearest neighbour is often by the same hand, it will often be close by in the file.
# **What share of nearest neighbours is at most 70 lines away?** Of all training pictures, 8% are.

# %%
guess_close = None  # a share, for example 0.1

close, anybody = seeing.close_in_the_file(digits)
print(f"your guess: {guess_close}, it is: {close:.2f}; of all training pictures, {anybody:.2f} are that close")

# %% [markdown]
# If the file has its writers one after the other, we can keep them apart. We split again: the file is cut into three
# thirds, and each third is read by a reader that has only seen the other two. Now different people wrote test and training
# (except perhaps for one at each end of a third), and each of the 1,797 pictures is in the test once. **What share will
# the nearest neighbour get right now?**

# %%
guess_strangers = None  # a share, for example 0.9

thirds = handwriting_in_thirds()
strangers = sum(seeing.neighbours(data) for data in thirds) / len(thirds)
print(f"your guess: {guess_strangers}, it is: {strangers:.3f}")
seeing.wrong_answers(thirds[2], seeing.said_by_neighbours(thirds[2]))

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - With a random split, 38 to 48% of nearest neighbours are at most 70 lines away, and the nearest neighbour is right in 98 to 99% of the test pictures. <!-- claim: writers_are_in_both_parts -->
# - With different writers, it is right in 96 to 97%. <!-- claim: strangers_are_harder -->
#
# Nearest neighbours are close in the file far more often than other pictures are, so its order is that of the writers, as
# far as we can tell. And with other writers in the test there are twice as many errors, though no model has changed. A test is
# only as good as its split: whatever stays the same in use (a person, a patient, a camera) may be in both parts, and whatever will be new must be new in the test, too.
# </details>

# %% [markdown] exercise="patchify" kind="core" difficulty=4 minutes=20
# What is a token of a picture? A pixel would be possible, but a picture has many of them. Dosovitskiy and others (2021)
# cut the picture into square **patches**, and each patch is a token. Flattened, the numbers of a patch are its vector.
#
# ![A handwritten 9 of 8 by 8 pixels. Beside it the same picture, cut into 16 patches of 2 by 2 pixels, numbered row by row from 1 at the top left to 16 at the bottom right.](picture:cut_into_patches)
#
# For example: a picture of 4 by 4 pixels, numbered 0 to 15 row by row, has four patches of 2 by 2. The first is 0 1 4 5,
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

# %% [markdown]
# **What you've built.** Pictures as sentences. Here is a training picture as four tokens of 16 numbers each. They are shown
# as the squares they were cut from; the model gets them as rows.

# %%
images, labels = thirds[0].train
tokens = patchify(images[:1], patch_size=4)[0]
plots.heatmaps(
    {f"token {i + 1}": token.reshape(4, 4) for i, token in enumerate(tokens)},
    title=f"The four tokens of a {int(labels[0])}",
    low=0,
    high=1,
)

# %% [markdown] exercise="VisionTransformer" kind="core" difficulty=3 minutes=20
# The last model of the lesson is the second one again, with patches instead of months: patches, a Linear layer,
# positions, blocks, a norm, the mean of all patches, and a last layer. The mean needs no mask, as no patch is padding.
# (Cutting patches and a Linear layer for each: together they are a convolution whose stride is as wide as its kernel.)
#
# For example: an image size of 8 and a patch size of 2 make $(8 / 2)^2 = 16$ tokens. With one channel, each token has
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

# %% [markdown]
# **What you've built.** A Vision Transformer. The smaller the patches, the more tokens, and the more attention has to do:
# half the side gives four times the tokens, and sixteen times the scores. With patches of 8 by 8, the whole picture is
# one token, and there is nothing else to look at. Three sizes, three thirds, 500 steps each: that takes half a minute or
# so. **Which size will be worst?** And then we move all test pictures one pixel to the right. **Who gets most of those right:
# the nearest neighbour, or one of the Transformers?**

# %%
guess_patch = None  # 2, 4 or 8
guess_moved = None  # "the nearest neighbour" or "a Transformer"

right = seeing.in_thirds(thirds, VisionTransformer)
seen = seeing.scores(right)
worst_patch = min((8, 4, 2), key=lambda size: seen["as they are"][f"patches of {size}"])
steadiest = "the nearest neighbour" if seen["moved"].idxmax() == "nearest neighbour" else "a Transformer"
print(f"your guess: {guess_patch}, it is: {worst_patch}")
print(f"your guess: {guess_moved}, it is: {steadiest}")
seen.round(3)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - The nearest neighbour gets 96 to 97% of the pictures right, patches of 8 or of 4 get 93 to 95%, and patches of 2 get 86 to 90%. <!-- claim: neighbours_win -->
# - Moved by one pixel, nobody does well: the neighbour falls to about 64%, the Transformers to 55% or less. <!-- claim: nobody_copes -->
#
# A Transformer begins without knowing which patches are neighbours, or that a digit stays the same digit when it moves.
# It would have to learn both, from 1,198 pictures. The nearest neighbour compares pixels in fixed places, which is all
# it takes as long as all digits are in the middle. The paper reports the same on a larger scale (section 4.3): with
# little data, a Vision Transformer falls behind networks with convolutions, and with very much data it overtakes them.
#
# With a single patch there is nothing left to attend to: that model is a feed-forward network with a residual, and no
# Transformer with more tokens is clearly ahead of it here. The models with small patches may also need more steps. See
# "Things to try".
# </details>
#
# Here are the first pictures of the last third that the model with patches of 4 gets wrong. Would you have known?

# %%
seer = seeing.learn(thirds[2], 4, VisionTransformer)
seeing.wrong_answers(thirds[2], seeing.answers(seer, thirds[2]))

# %% [markdown]
# ## Everything in one table
#
# One row for each task: the simplest baseline, the best plain rival, and the Transformer. For reviews and digits, more
# is better; for the two series, less. The Transformer for digits is the one with patches of 4, where attention has
# something to do. A win on reviews or digits is a difference of at least two standard errors; on a series, being ahead in all
# four years.

# %%
rows = []
if corpus is not None:
    won = reading.ahead(reading.rights(reader, corpus), reading.rights(counter, corpus))
    rows.append(("reviews, accuracy", reading.majority(corpus), counting.test, read.test, won))
for name, (rival, transformer) in pairs.items():
    rows.append((f"{name}, MASE", *table.loc[["seasonal naive", rival, transformer], name], series_won[name]))
won = reading.ahead(right["patches of 4"]["as they are"], right["nearest neighbour"]["as they are"])
rows.append(("digits, accuracy", 0.1, *seen.loc[["nearest neighbour", "patches of 4"], "as they are"], won))
columns = ["task", "baseline", "best plain rival", "Transformer", "does the Transformer win?"]
summary = pd.DataFrame(rows, columns=columns)
tasks_won = int((summary["does the Transformer win?"] == "yes").sum())
summary.round(3)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - The Transformer beats the simplest baseline everywhere, and the best plain rival nowhere: it loses on passengers and digits, and reviews and carbon dioxide are too close to call. <!-- claim: none_of_four -->
#
# So the encoder does work everywhere: without any change, it reads words, months and pictures, and each time it learns
# something. It just isn't the best choice for small data. The plain rivals have less to learn: a Linear layer has 300
# weights, a bag of words has no order to be misled by, and the nearest neighbour takes it for granted that a pixel belongs
# to its place.
#
# Where there is enough data, a model can find all that out for itself. And where there isn't, it can learn somewhere else first:
# from billions of sentences, or of pictures, that nobody has labelled. That is **pretraining**, and with it, a few thousand
# reviews can be enough. We train from scratch here, so our table can't show it.
# </details>
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
# Here are your guesses next to what happened. A wrong guess is worth more than none: it shows you where to look.

# %%
board = [
    ("tasks that the Transformer wins", guess_wins, tasks_won, 0),
    ("counting words: share right", guess_counting, counting and counting.test, 0.02),
    ("who reads better", guess_reading, better),
    ("points lost by shuffling", guess_shuffled, lost, 1),
    ("do the two agree about words?", guess_words, agreed and ("mostly" if agreed > 0.75 else "hardly")),
    ("MASE of the seasonal naive forecast", guess_naive, naive_is),
    ("the best on the passengers", guess_passengers, best.get("passengers")),
    ("the best on carbon dioxide", guess_carbon, best["carbon dioxide"]),
    ("MASE of the Transformer, scaled", guess_scaled, carbon_scaled, 0.1),
    ("MASE of a leaking layer", guess_leak, leak, 0.05),
    ("neighbours that are close in the file", guess_close, close, 0.1),
    ("the neighbour on strangers' digits", guess_strangers, strangers, 0.01),
    ("the worst patch size", guess_patch, worst_patch, 0),
    ("who gets most of the moved pictures right", guess_moved, steadiest),
]
guesses.board(board)

# %% [markdown]
# ## Recap
#
# Answer from memory, then check.
#
# **1.** What changes in the encoder when it reads patches instead of words?
#
# <details><summary>Answer</summary>
#
# Nothing. Only the way into it changes (a Linear layer instead of an embedding) and what the last layer reads.
# </details>
#
# **2.** Why does a forecast scale each window by its own mean, and not all of them by one?
#
# <details><summary>Answer</summary>
#
# So that windows from every level look alike: what was learnt on low ones holds for high ones. One mean for everything
# known leaves the levels as they are. (And one mean for the *whole* series would know the future.)
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
# **4.** What must be new in a test set, and what may be in both parts?
#
# <details><summary>Answer</summary>
#
# Whatever will be new in use must be new in the test: later months, other writers. If the model will always serve the same
# people, they may be in both.
# </details>
#
# ## Things to try
#
# - Train patches of 2 for longer: `seeing.learn(thirds[2], 2, VisionTransformer, steps=1500)`. Does it catch up?
# - Let the training pictures move, too: add `seeing.moved(images)` to them, with the same labels. Who gains most?
# - Subtract the last value of each window instead of its mean. Many forecasters do that. Which of the two is better here?
# - Shuffle the pixels of all pictures in the same way. Who doesn't notice?
# - Give the counter pairs of words as well: *not good* gets a column of its own.
# - Forecast one month ahead instead of twelve. Which of the baselines becomes hard to beat?
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
# | MASE | mean absolute scaled error: relative to how far last year's value used to be off |
# | nearest neighbour | the most similar training example, whose label is taken |
# | patch | a square piece of a picture; one token |
# | period | the number of steps after which a season repeats |
# | pretraining | learning from much data without labels first, and from the few labelled examples afterwards |
# | rolling origin | forecasts made at several cuts, each with what was known then |
# | seasonal naive | the forecast that each season repeats itself |
# | standard error | how much chance alone moves a measured number |
# | window | a few values in a row, with those that follow |
#
# ## Papers
#
# - Pang, Lee, [Seeing stars](https://aclanthology.org/P05-1015/), ACL 2005: where the sentences come from.
# - Hyndman, Koehler, [Another look at measures of forecast accuracy](https://doi.org/10.1016/j.ijforecast.2006.03.001), International Journal of Forecasting, 2006: section 3, MASE.
# - Zeng and others, [Are Transformers Effective for Time Series Forecasting?](https://arxiv.org/abs/2205.13504), AAAI 2023: section 4, one Linear layer.
# - Dosovitskiy and others, [An Image is Worth 16x16 Words](https://arxiv.org/abs/2010.11929), ICLR 2021: section 3.1, the model; section 4.3, how much data it needs.
# - Alpaydin, Kaynak, [Optical Recognition of Handwritten Digits](https://doi.org/10.24432/C50P49), UCI Machine Learning Repository, 1998 (CC BY 4.0).
# - Keeling, Whorf, Atmospheric CO2 concentrations derived from flask air samples at sites in the SIO network, Carbon Dioxide Information Analysis Center, 2004.
