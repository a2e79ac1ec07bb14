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
# # Lesson 13 · Length generalisation
#
# COLAB_BADGE
#
# You can add two numbers of a hundred digits. Nobody ever showed you how to do it with a hundred. You learnt it with
# two or three digits, and it was the same from there on.
#
# Your Transformers haven't been like that. In lessons 4 to 6 they were right on every length they had trained on, and
# wrong on the next. In this lesson, no model sees a number of more than **five** digits in training. **How many digits
# can it get to?**
#
# **What you will be able to do**
#
# - say why a model fails on the first length that it hasn't seen
# - tell a model which digits belong together, in the text and in its positions
# - let a short row meet every position in training
# - find out which of several tricks did it, and what each is worth alone
# - hand in an adder of your own to a table that scores it on sums nobody has seen
#
# **Time.** About 80 minutes before the break and 30 after it, an estimate for somebody who has done lesson 6. Your own
# adder takes as long as you like.
#
# **How to check.** Replace the line `raise NotImplementedError()` with your own code, and run the cell. Then run the
# `check` cell below it. It tells you what is right and what isn't, as often as you like.
#
# **How to submit.** Save the notebook and hand it in the way your class does.
# Nobody to hand it in to? The checks are all you need.

# %% [markdown]
# ## A two-minute test
#
# This lesson builds on [lesson 5](../05_causal_masks/05_causal_masks.ipynb) and
# [lesson 6](../06_positional_encodings/06_positional_encodings.ipynb). Try these three without running anything.
#
# **1.** Why is it easier to write a sum with its ones first?
#
# <details><summary>Answer</summary>
#
# Carries run from the ones upwards. Whoever writes the largest digit first has to know all carries before writing
# anything. To read up: the digit order in [lesson 5](../05_causal_masks/05_causal_masks.ipynb).
# </details>
#
# **2.** What does a learned position know about row 12 of its table, if training only had rows 0 to 10?
#
# <details><summary>Answer</summary>
#
# Nothing. That row still holds the random numbers that it began with. To read up: learned positions in
# [lesson 6](../06_positional_encodings/06_positional_encodings.ipynb).
# </details>
#
# **3.** Queries and keys are rotated by their positions. What do the scores depend on?
#
# <details><summary>Answer</summary>
#
# On the query, the key and the difference of their positions. To read up: `relative_attention_scores` in
# [lesson 6](../06_positional_encodings/06_positional_encodings.ipynb).
# </details>
#
# Two out of three? Go on. Fewer? Read the linked pages first, and come back.
#
# Run the next cell first: it brings the tools.

# %% setup=true
import math
import re
import string

import numpy as np
import pandas as pd
import torch
import torch.nn.functional as F
from IPython.display import display
from torch import nn

from course import lengths, plots
from course.length_generalization.adder import Tools
from course.length_generalization.entries import write_entry
from course.length_generalization.letters import HINTS
from course.tasks import addition
from lessons.lesson_13 import experiments as lab
from lessons.tables import measured

torch.set_num_threads(1)  # two can be ten times slower where others compute too

# %%
guess_digits = None  # the most digits you expect any of our models to get right, 90 % of the time

# %% [markdown]
# ## Where we stand
#
# Here is the plot that has been growing since lesson 4: rows of letters to reverse, trained on lengths up to ten. Each
# line falls, and rotary positions only put it off by a letter or two.

# %%
reversal = lengths.lines_of(measured("06_lengths"))
plots.by_length(
    {name: reversal[name] for name in ("learned", "sinusoidal", "rotary")},
    trained=lengths.TRAINED,
    x_label="letters",
    title="Reversal, writing on its own",
    legend=True,
)

# %% [markdown]
# From here on the plot is about sums. All models have the same size: one layer on each side, a width of 64,
# between 86,000 and 129,000 parameters. They learn from the same 20,000 sums, for the same 1,500 steps. No number has more than five
# digits. And both numbers are written with equally many digits, with zeros in front of the shorter one: `00012+34567`.
#
# We score each model twice. **Random sums** have random digits. In sums with **long carries**, one carry travels through
# three places or more, as in lesson 5. Both numbers have as many digits as the plot says.
#
# There are four ingredients in the kitchen:
#
# | ingredient | what it changes |
# |---|---|
# | reversed | numbers and answer have their ones first |
# | hints | a letter before each digit gives its place |
# | offsets | learned vectors for places, which begin anywhere in training |
# | window | rotary positions by place, and only nearby places are seen |
#
# ## None of the four, and the first
#
# Lesson 5 taught you the first one: write the ones first, and a carry is there when it is needed.
#
# ![345 + 678 = 1023, twice. With the largest place first, arrows for the carries run to the left, while the answer is written to the right. With the ones first, both run to the right.](picture:which_way_a_carry_runs)
#
# We train an adder with reversed digits and learned positions now. It takes about a quarter of a minute. It will be right on
# five digits. **What share of sums with six digits will it get right?**

# %%
guess_six = None  # a share, for example 0.5

learnt = lab.learnt_sums()
alone = lab.Recipe(reversed=True).model()
lab.train(alone, learnt, steps=800, name="reversed")
alone_right = lab.both_kinds(alone, learnt, lab.SHORT)
six = alone_right["random sums"][6]
print(f"your guess: {guess_six}, it is: {six:.2f}")
lab.by_digits(alone_right, "Ones first, learned positions")

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - On five digits, 98 % or more are right, long carries included. On six digits, none is. <!-- claim: a_cliff -->
#
# A cliff. The sixth digit isn't harder than the fifth: it is the same table of digits and the same carry. But it stands
# at positions that no training row ever reached.
# </details>
#
# Let it show you one of its answers. How many digits does it write, and how many should there be?

# %%
print(lab.on_paper(alone, digits=8))

# %% [markdown]
# ### Exercise: `index_hints` · core · difficulty 2 · 15 minutes
#
# To add 345 and 78, you put the 4 above the 7. How do you know that they belong together? You count from the right.
# Counting is just what our model can't do on a length that it hasn't seen. So let's do it for the model. Zhou and others
# (2023) write a letter before each digit: *a* for the ones, *b* for the tens. They call these **index hints**.
#
# ![The sum 345+78 becomes c3b4a5+b7a8. The letter b and the digits after it, 4 and 7, are framed: these are the tens.](picture:letters_for_places)
#
# Now "find the digit that belongs here" is "find the same letter", and attention is good at finding the same.
#
# In numbers: `"12+34="` becomes `"b1a2+b3a4="`. A hundred digits need more than 26 letters. `HINTS` has 113 of them: after z
# come A to Z, and then letters with accents.
#
# <details><summary>Hint 1</summary>
#
# A number of three digits begins with the letter c. How does its length tell you so?
# </details>
# <details><summary>Hint 2</summary>
#
# Either find each run of digits first, or read the problem from its end: there, every number begins with a.
# </details>
# <details><summary>Hint 3</summary>
#
# `re.sub("[0-9]+", hinted, problem)` calls `hinted(match)` for each number; `match.group()` is its text. Within it, the
# digit at index i has the letter `HINTS[? - i]`.
# </details>
#
# Docs: [re.sub](https://docs.python.org/3/library/re.html#re.sub) ·
# [str.join](https://docs.python.org/3/library/stdtypes.html#str.join).

# %% exercise="index_hints"

# %% [markdown]
# **What you made.** A sum that says which digits belong together. The answer gets letters too, so the model also writes
# them. With the ones first, it reads and writes this:

# %%
for pair in learnt[:3]:
    source, target = lab.Recipe(reversed=True, hints=True).writing.texts(pair)
    print(f"{pair[0]} + {pair[1]}:  {source}  ->  {target}")
print("\nwith the largest place first:", index_hints("345+78=423"))

# %% [markdown]
# **Will hints take the adder with reversed digits to six digits?** Look at this first: it's how often each letter occurs in
# training.

# %%
texts = [index_hints(f"{a}+{b}={a + b}") for a, b in learnt]
print(lab.letters_met(texts))

# %% [markdown]
# We trained all recipes of this lesson beforehand, on two seeds (`make claims` does it again, in half an hour). You'll see
# the whole table later. The lines here are means of both seeds.

# %%
guess_hints = None  # "yes" or "no"

recipes = measured("13_recipes")
lines = lab.lines(recipes, ["reversed", "reversed, hints"])
hints_are = "yes" if lines["reversed, hints"][6] > 0.5 else "no"
print(f"your guess: {guess_hints}, it is: {hints_are}")
lab.by_digits(lines, "Random sums, with and without hints")

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - With hints, not one sum of six digits is right. <!-- claim: hints_do_not_reach_six -->
# - At five digits, all are right with one seed, and almost none with the other. <!-- claim: hints_take_longer_to_learn -->
# - The letters a to f occur in training. g, the letter of the seventh place, never does. <!-- claim: letters_run_out -->
#
# A sum of two six-digit numbers may have seven digits, and g is a letter without a meaning: its vector still holds the
# random numbers that it began with. And the learned positions of a longer row are as new as before.
#
# A sum with letters is also twice as long, and the model must learn to write them. With one of our two seeds, 1,500 steps
# weren't enough for that.
# </details>
#
# ### Exercise: `random_offset_positions` · core · difficulty 2 · 10 minutes
#
# Training only has short rows, so only the first rows of a table of positions are ever used. Who says that a row must
# begin at the first one? Draw a random **offset**, anew for each row, and let the positions begin there. Then even short
# rows meet the whole table, sooner or later.
#
# ![A table of twelve vectors. Without an offset, a row of four tokens always uses the vectors 0 to 3. With random offsets it uses 6 to 9, then 1 to 4, then 8 to 11.](picture:rows_of_a_table)
#
# With an offset $o$, token $j$ of a row of length $n$ is at position
#
# $$p_j = o + j, \qquad 0 \le o \le \text{max length} - n$$
#
# In numbers: with a length of 4 and a table of 12, the offset is one of 0, 1, ..., 8, and the last position is 11 at most.
#
# Ruoss and others (2023) had this idea in a different form: they draw positions with gaps between them. McLeish and
# others (2024) draw a single offset, as we do.
#
# <details><summary>Hint 1</summary>
#
# How large may the offset be, if the last position has to be below `max_length`? How many offsets are there, with 0?
# </details>
# <details><summary>Hint 2</summary>
#
# `torch.randint(high, (1,))` draws from 0 to `high - 1`. It takes a generator, too.
# </details>
# <details><summary>Hint 3</summary>
#
# `torch.randint(? - ? + 1, (1,), generator=?) + torch.arange(?)`, after a check that the length fits.
# </details>
#
# Docs: [randint](https://pytorch.org/docs/stable/generated/torch.randint.html) ·
# [arange](https://pytorch.org/docs/stable/generated/torch.arange.html).

# %% exercise="random_offset_positions"

# %% [markdown]
# **What you made.** A way for short rows to meet far positions. Our table of places has 113 rows, and a sum of
# five-digit numbers needs eight of them. Here is how often each row is met in 2,000 sums.

# %%
dice = torch.Generator().manual_seed(0)
met = {
    "no offset": lab.met_in_training(lambda _: torch.arange(8), 2000, len(HINTS)),
    "random offsets": lab.met_in_training(lambda _: random_offset_positions(8, len(HINTS), dice), 2000, len(HINTS)),
}
never = {name: counts.count(0) for name, counts in met.items()}
print("rows that are never met:", never)
plots.curves(met, title="How often each row of the table is met", x_label="row", y_label="sums", legend=True)

# %% [markdown]
# **What you should see**
#
# - Without an offset, 105 of the 113 rows are never met. With random offsets, all of them are. <!-- claim: every_row_is_met -->
#
# The rows at both ends are met less often. Do you see why? And the letters of the hints can have an offset as well: a sum
# that begins at *f* is as good as one that begins at *a*. Our model shifts the letters by a random offset in
# training, and shifts them back in what it writes.
#
# ### Exercise: `digit_positions` · core · difficulty 3 · 15 minutes
#
# What should such a vector stand for? In the sum 345+78, the digits 4 and 7 are the second and the sixth token.
# These two positions say nothing about addition. But 4 and 7 have the same **place**: both count tens. So we give each
# digit the number of its place, and everything else a 0:
#
# | 3 | 4 | 5 | + | 7 | 8 | padding |
# |---|---|---|---|---|---|---|
# | 3 | 2 | 1 | 0 | 2 | 1 | 0 |
#
# With a learned vector for each place, and a random offset, these are the *Abacus embeddings* of McLeish and others (2024).
#
# The input is a batch of ids, not text. The digits 0 to 9 have the ids 1 to 10; plus is 11; padding is 0; start and end
# are 12 and 13. There may be padding anywhere.
#
# <details><summary>Hint 1</summary>
#
# Read a row from its right end. What does a counter do at a digit, and what at any other token?
# </details>
# <details><summary>Hint 2</summary>
#
# A loop over the columns, from the last to the first, will do: keep one counter for each row of the batch. `torch.where`
# adds one to it, or sets it to 0.
# </details>
# <details><summary>Hint 3</summary>
#
# `for column in reversed(range(tokens.shape[1])):`, and in the loop
# `place = torch.where((tokens[:, column] >= ?) & (tokens[:, column] <= ?), place + ?, 0)`.
# </details>
#
# Docs: [torch.where](https://pytorch.org/docs/stable/generated/torch.where.html) ·
# [zeros_like](https://pytorch.org/docs/stable/generated/torch.zeros_like.html).

# %% exercise="digit_positions"

# %% [markdown]
# **What you made.** A model's eye for columns. Where the ones come first, we flip the row, ask your function, and flip
# the result back. Here are a few sums and their places.

# %%
some = [(345, 78), (9, 12345), (50, 60)]
tokens, _ = addition.Writing(operands_least_first=False).tensors(some, source_length=10)
plots.heatmap(
    digit_positions(tokens),
    [f"{a}+{b}" for a, b in some],
    [str(i + 1) for i in range(10)],
    title="The place of each token",
    columns="token",
)

# %% [markdown]
# And here is what learned vectors for places are worth, if they have random offsets in training. **At how many digits
# does the adder with reversed digits and offsets fall below one half?**

# %%
guess_fall = None  # 6, 7, 8, 10, 20, 50 or 100

lines = lab.lines(recipes, ["reversed", "reversed, offsets", "reversed, hints, offsets"])
fallen = [digits for digits, share in lines["reversed, offsets"].items() if share < 0.5]
falls_at = min(fallen, default=None)
print(f"your guess: {guess_fall}, it is: {falls_at}")
lab.by_digits(lines, "Random sums, with offsets")

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - With offsets, 72 to 90 % of random sums are right at five digits, 42 to 74 % at six and 30 to 36 % at seven, depending on the seed. At ten, it's 2 % at most. <!-- claim: offsets_soften_the_cliff -->
# - With hints as well, 1,500 steps aren't enough even for five digits: none is right. <!-- claim: hints_and_offsets_need_more -->
#
# The cliff has become a slope. But each place has a vector of its own, and the model has to learn the same thing for
# every one of them. McLeish and others train for a day on a GPU, and we for half a minute.
# </details>
#
# ## Time for a break
#
# This is a good place to stop for today. What follows is the last ingredient, all of them together, and your own adder.
#
# ### Exercise: `windowed_mask` · core · difficulty 2 · 10 minutes
#
# The sum of two digits and a carry: which digits do you look at to write the hundreds? Those of the hundreds, and those
# just below, for the carry. Nothing else matters, however long the numbers are. So let's hide the rest: a token sees only
# tokens whose places differ from its own by less than a **window**.
#
# ![345 + 678 by places, ones first. To write place 3 of the answer, a window of two lets the model see the places 2, 3 and 4 of both numbers, and what it has written at place 2.](picture:window_of_places)
#
# With the positions $p$ and a window of $w$, token $i$ sees token $j$ where
#
# $$|p_i - p_j| < w \qquad (n, n)$$
#
# In numbers: for the places 2, 1, 0 and a window of 2, the first token sees itself and the second, the second sees all three,
# and the third sees the second and itself.
#
# <details><summary>Hint 1</summary>
#
# What is the difference of positions i and j, for all i and j at once?
# </details>
# <details><summary>Hint 2</summary>
#
# A column minus a row is a table. A difference may be negative, a distance may not.
# </details>
# <details><summary>Hint 3</summary>
#
# `(positions.unsqueeze(?) - positions.unsqueeze(?)).abs() < ?`.
# </details>
#
# Docs: [unsqueeze](https://pytorch.org/docs/stable/generated/torch.unsqueeze.html) ·
# [abs](https://pytorch.org/docs/stable/generated/torch.abs.html).

# %% exercise="windowed_mask"

# %% [markdown]
# **What you made.** A mask that knows nothing of length. Here it is for the sum 345+678, with the places that your
# `digit_positions` gives: each digit sees itself, its neighbours, and those above and below them.

# %%
tokens, _ = addition.Writing().tensors([(345, 678)])
places = digit_positions(tokens)[0]
names = list("345+678")
plots.heatmap(
    windowed_mask(places, 2), names, names, title="Who sees whom, with a window of 2", rows="sees", columns="seen"
)

# %% [markdown]
# Positions by place, the ones first, rotary, and a window of 3: that is the adder of lesson 6, and now it is made of your
# own functions. No vector is learned for any place, so no place can be new. We train it on the same sums. It takes
# about half a minute. **What is the longest of our lengths at which it gets at least 90 % of random sums right?**

# %%
guess_longest = None  # 5, 6, 7, 8, 10, 20, 50 or 100

tools = Tools(digit_positions, random_offset_positions, windowed_mask)
yours = lab.Recipe(reversed=True, window=True).model(tools=tools)
lab.train(yours, learnt, name="reversed, window")
yours_right = lab.both_kinds(yours, learnt, lab.LENGTHS)
reached = [digits for digits, share in yours_right["random sums"].items() if share >= 0.9]
longest = max(reached, default=None)
print(f"your guess: {guess_longest}, it is: {longest}")
lab.by_digits(yours_right, "Your adder")

# %%
print(lab.on_paper(yours, digits=60))

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - Up to 50 digits, 94 % or more are right, with random digits or long carries. At a hundred, it's 90 to 98 % of random sums and 98 % of those with long carries. <!-- claim: a_hundred_digits -->
#
# That is twenty times the length of anything in training.
# </details>
#
# ### What if the largest place comes first?
#
# Now take one ingredient away. The same model with the same window, but with the digits in their usual order. **Which of the
# two tests will suffer more: random sums, or long carries?**

# %%
guess_suffers = None  # "random sums" or "long carries"

kinds = {"exact": "random sums", "long_carries": "long carries"}
shown = {}
for kind, name in kinds.items():
    for recipe, found in lab.lines(recipes, ["window", "reversed, window"], kind).items():
        shown[f"{recipe}: {name}"] = found
lost = {name: shown[f"reversed, window: {name}"][10] - shown[f"window: {name}"][10] for name in kinds.values()}
suffers = max(lost, key=lost.get)
print(f"your guess: {guess_suffers}, it is: {suffers}")
lab.by_digits(shown, "The window, with digits in either order")

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - With the largest place first, 96 to 100 % of random sums with ten digits are right, but at most 14 % of those with long carries. With reversed digits, it's 98 % or more of both. <!-- claim: carries_need_the_order -->
# - At a hundred digits, the seed decides: 30 % of random sums are right with one, and all of them with the other. With long carries, none is. <!-- claim: a_hundred_depends_on_the_seed -->
#
# Had we only tested random sums, we'd have called this a success at ten digits. With the largest place first, a digit's carry has to be worked out
# from the places below it, which aren't written yet. The window shows two of them. A carry that comes from further down can't be
# seen. In random sums that is rare: at each place, only one pair of digits in ten sums to 9 and passes a carry on. In
# our other test it's the rule. This is a model that has learnt to be right most of the time, and you would never
# know from a random test.
# </details>
#
# ## All of them together
#
# Four ingredients, sixteen combinations, two seeds. Each row is one recipe, and each number the mean over both seeds. The
# best are on top. **Which ingredients are in every recipe that gets more than half of the long carries of twenty digits
# right?**

# %%
guess_needed = None  # for example "reversed and hints"

display(lab.as_grid(recipes, "exact"))
display(lab.as_grid(recipes, "long_carries"))
carried = lab.lines(recipes, list(dict.fromkeys(recipes["line"])), "long_carries")
good = [name.split(", ") for name, found in carried.items() if found[20] > 0.5]
needed = [name for name in ("reversed", "hints", "offsets", "window") if all(name in recipe for recipe in good)]
print("recipes that get half of the long carries of twenty digits right:", [", ".join(recipe) for recipe in good])
print(f"your guess: {guess_needed}, it is: {' and '.join(needed)}")

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - Long carries of twenty digits need reversed digits and the window. Three recipes have both and get at least 98 % right; no other gets more than 6 %. <!-- claim: two_ingredients_are_needed -->
# - With neither offsets nor the window, no recipe gets a single sum of six digits right. <!-- claim: nothing_without_places -->
# - With hints and the window but no offsets, six digits are too many: letters run out. With all four ingredients, every sum is right up to 50 digits, and 98 to 100 % are right at a hundred. <!-- claim: hints_with_offsets -->
#
# The order of digits makes each step easy. The window makes each step the same, at any length. Hints and offsets add
# something of their own where they fit: without the window, it is offsets that get beyond five digits at all, and with hints it
# is offsets that give a meaning to all letters. That is a result about *this* model, 1,500 steps and five digits. Where
# there is no window, as in most papers, hints and offsets have more to do. See below.
# </details>

# %% [markdown]
# ### How does that compare?
#
# Others have tried this, with larger models and for longer. As they report it themselves:
#
# | who | trained on up to | gets to | with |
# |---|---|---|---|
# | Jelassi and others (2023) | 5 digits | 15 digits | an encoder with relative positions |
# | Zhou and others (2024) | 40 digits | 100 digits, more than 98 % right | reversed digits, index hints, relative positions, random positions |
# | McLeish and others (2024) | 20 digits | 100 digits, up to 99 % right | reversed digits, vectors for places with random offsets |
# | Cho and others (2024) | 30 digits | 200 digits | the same position for all digits of one place |
# | Sabbaghi and others (2024) | 5 digits | 50 digits | numbers and positions that show which digits belong together |
# | this lesson | 5 digits | 100 digits, 98 to 100 % right | all four ingredients |
#
# Five to a hundred is a factor of 20, more than in any of the papers. Is our model better? **No.** It has been told more:
#
# - We count places in Python, outside of the model. Attention never has to find out which digits belong together.
# - The window decides which digits matter. That is most of the algorithm, given away.
# - Our decoder knows which place it is about to write. A language model has to keep track of that by itself.
# - Zeros in front make both numbers equally long. The papers differ in this.
#
# Zhou and others found that their results change a lot with the seed: the title of their paper says "but not robustly". What we
# built in by hand, ours needn't find by luck. All these models, theirs and ours, have knowledge of addition built into
# how sums are written or how positions are told. The more of it you build in, the further a small model gets, and the
# less it can do anything else. A window of three places would ruin a model that reverses a row.
#
# ## Your adder
#
# Now it's your turn, and there is no right answer. **Who in your class builds the adder that gets furthest?**
#
# An entry is a folder called `entry`, next to this notebook. It holds a file `adder.py` with three things:
#
# | in `adder.py` | what it is |
# |---|---|
# | `FORMAT` | how sums are to be written: `least_first` (the answer), `operands_least_first`, `index_hints`, `width` (`None`, or `"padded"` for zeros in front) |
# | `make_model()` | returns a new `nn.Module`. It is called as `model(source, target_input)`, like every model since lesson 4, and returns logits |
# | `train(model, draw)` | trains it. `draw(20_000)` gives new sums of numbers with at most five digits, as pairs of lists of ids |
#
# `grader leaderboard 13` makes the table:
#
# - **It's trained there**, on sums that the grader draws, within a limit on processor time. In each run, the ten digits
#   have new ids, so a program that knows which id is which digit gets nowhere.
# - **It answers hidden sums**, from 5 digits to 100. A third of them have long carries. The grader writes the most likely token,
#   one at a time, as your `greedy_decode` does. The model never sees an answer.
# - **Its score** is the mean, over all lengths, of the share that it gets completely right. Ties go to the model with fewer
#   parameters.
# - **Refused** is what isn't a model (an adder written in Python gives itself away when its weights are shuffled), and what
#   goes over a limit on time, memory, parameters or code. A sentence below the table says why.
#
# You may hand in trained weights instead, in `entry/weights.safetensors`. Nobody can know what those have seen, so they get places
# of their own.
#
# The next cell writes a first entry: the adder that you have just trained, with the course's versions of your four
# functions. It is a good start, and you can do better.

# %%
print(write_entry("entry", yours))

# %% [markdown]
# Open `entry/adder.py` and change it. To see where you stand, run `grader leaderboard 13 entry` in a terminal. `submit()`, at
# the end of this notebook, takes the folder along.
#
# Some ideas, none of which we have tried to the end:
#
# - **Fewer parameters.** With a width of 32, or 16? How small can it be and still reach a hundred digits?
# - **Better practice.** Short numbers with zeros in front teach little. Which of the sums that `draw` gives are worth
#   learning from?
# - **The usual order.** `least_first=False` is how people write. Can a model with more layers see further than its window?
# - **No window.** What else keeps attention from wandering off? A bias that falls with distance, as in lesson 6?
# - **No zeros in front.** With `width=None`, nobody tells the model how long the answer is.
# - **Letters.** With index hints, places can be read from the text. Then your model needs no Python that counts.
#
# ## Explain it
#
# A friend trains a model to add numbers of up to ten digits, tests it on 10,000 random sums of twenty digits, and gets
# 96 % right. "So it has learnt to add," she says.
#
# Answer in four or five sentences. Which sums would you test it on, what might you find, and what would you want to
# know about how it was told the places of its digits?

# %% [markdown] explain=true
# In a random sum, a carry rarely travels through more than two or three places, so a model that looks at a few neighbouring digits
# is right most of the time. I'd test sums in which one carry runs through many places, such as 4999 + 5001, and score them
# separately: I might find that nearly all of them are wrong, as with our windowed adder that writes the largest place first. I'd
# also go on to fifty and a hundred digits, with a second seed. Then I'd ask what was built in: whether numbers are
# padded or reversed, whether the code counts places for the model, and whether a window hides all but a few. That
# doesn't make the result wrong, but it says how much of adding the model has learnt, and how much it was told.

# %% [markdown]
# ## How good were your guesses?
#
# Here are your predictions next to what happened. A wrong guess is worth more than none: it shows you where to look.

# %%
everyone = lab.lines(recipes, list(dict.fromkeys(recipes["line"])))
furthest = max(digits for found in everyone.values() for digits, share in found.items() if share >= 0.9)
board = [
    ("digits that our best model reaches", guess_digits, furthest),
    ("share right at six digits, learned positions", guess_six, round(six, 2)),
    ("do hints alone reach six digits?", guess_hints, hints_are),
    ("digits at which offsets fall below one half", guess_fall, falls_at),
    ("digits that your adder reaches", guess_longest, longest),
    ("what suffers if the largest place comes first", guess_suffers, suffers),
    ("what long carries need", guess_needed, " and ".join(needed)),
]
rows = []
for question, guess, answer in board:
    right = "yes" if guess is not None and str(guess) == str(answer) else ""
    rows.append((question, "-" if guess is None else str(guess), str(answer), right))
pd.DataFrame(rows, columns=["question", "your guess", "what happened", "right?"])

# %% [markdown]
# ## To recall
#
# Answer from memory, then unfold.
#
# **1.** Why do learned positions fail at the first length beyond training?
#
# <details><summary>Answer</summary>
#
# The vectors of later positions were never used in training, so they hold what they began with. The same goes for the
# letters of places that never occurred.
# </details>
#
# **2.** What does a random offset change, and when?
#
# <details><summary>Answer</summary>
#
# In training, each row begins at a random position, so short rows meet the whole table. When the model answers, rows begin
# at 0 again.
# </details>
#
# **3.** Rotary positions by place need no offset. Why?
#
# <details><summary>Answer</summary>
#
# Scores depend only on differences of places. A sum that begins at place 50 looks just like one that begins at place 1.
# </details>
#
# **4.** Which sums would you never leave out of a test of addition?
#
# <details><summary>Answer</summary>
#
# Those with long carries. Random sums have few of them, so a model that drops them hardly loses anything.
# </details>
#
# ## Things to try
#
# - Look at the sums that `yours` gets wrong. Are there pairs of digits that it gets wrong more often than others?
# - Train with a window of 2, or of 6. Which is better at a hundred digits?
# - Train for 4,000 steps: `lab.train(yours, learnt, steps=4000)`. How many of 500 sums of a hundred digits are right then?
# - Give the offsets more time: `lab.Recipe(reversed=True, offsets=True)` for 6,000 steps. Where does its slope end?
# - Test your adder on a long number plus a short one. Is it as good as on two long ones?
# - Subtract! Which of the four ingredients would you need, and what else?
#
# ## Glossary
#
# | word | meaning |
# |---|---|
# | Abacus embeddings | learned vectors for the places of digits, with a random offset in training |
# | index hint | a letter before a digit that gives its place |
# | inductive bias | knowledge about the task that is built into a model by hand |
# | length generalisation | to be right on inputs longer than any in training |
# | long carry | a carry that travels through several places |
# | offset | where the positions of a row begin |
# | place | what a digit counts: ones, tens, hundreds |
# | recipe | a combination of the four ingredients |
# | window | how much two places may differ, at most, for one token to see the other |
#
# ## Papers
#
# - Ruoss and others, [Randomized Positional Encodings Boost Length Generalization of Transformers](https://arxiv.org/abs/2305.16843), ACL 2023: section 3, positions drawn with gaps.
# - Kazemnejad and others, [The Impact of Positional Encoding on Length Generalization in Transformers](https://arxiv.org/abs/2305.19466), NeurIPS 2023: sections 4 and 5, addition among other tasks, and models without positions.
# - Jelassi and others, [Length Generalization in Arithmetic Transformers](https://arxiv.org/abs/2306.15400), 2023: from 5 digits to 15.
# - Lee and others, [Teaching Arithmetic to Small Transformers](https://arxiv.org/abs/2307.03381), ICLR 2024: reversed digits.
# - Zhou and others, [What Algorithms can Transformers Learn?](https://arxiv.org/abs/2310.16028), ICLR 2024: index hints.
# - Shen and others, [Positional Description Matters for Transformers Arithmetic](https://arxiv.org/abs/2311.14737), 2023: zeros in front, reversed digits, random positions.
# - Zhou and others, [Transformers Can Achieve Length Generalization But Not Robustly](https://arxiv.org/abs/2402.09371), 2024: from 40 digits to 100, and how much the seed matters.
# - McLeish and others, [Transformers Can Do Arithmetic with the Right Embeddings](https://arxiv.org/abs/2405.17399), NeurIPS 2024: section 3, vectors for places.
# - Cho and others, [Position Coupling](https://arxiv.org/abs/2405.20671), NeurIPS 2024: from 30 digits to 200.
# - Sabbaghi and others, [Explicitly Encoding Structural Symmetry is Key to Length Generalization in Arithmetic Tasks](https://arxiv.org/abs/2406.01895), 2024: from 5 digits to 50.
# - Beltagy, Peters, Cohan, [Longformer](https://arxiv.org/abs/2004.05150), 2020: section 3.1, attention in a window, for long texts.
