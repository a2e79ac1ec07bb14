# ---
# title: Length generalisation
# topic: adding numbers of a hundred digits
# group: Beyond
# picture: Where the decoder looks
# sittings: [90, 70]
# builds_on: [05_causal_masks, 06_positional_encodings]
# gives:
#   - say what a model knows about lengths that it hasn't seen
#   - tell a model which digits belong together, in the text and in its positions
#   - let a short row use every position in training
#   - find out which of several tricks did it, and what each is worth alone
#   - measure how far a model sees, and tell that from what it has learnt
#   - enter an adder of your own in a leaderboard that scores it on sums nobody has seen
# ---

# %% [markdown]
# TITLE
#
# You can add two numbers of a hundred digits. Nobody ever showed you how to do it with a hundred. You learnt it with
# two or three digits, and it was the same from there on.
#
# Most of your Transformers weren't like that. But one was: the adder at the end of
# [lesson 6](../06_positional_encodings/06_positional_encodings.ipynb) had seen nothing longer than five digits, and got 98 to 99.5%
# of sums with **fifty** digits right. You had told it a lot: ones first, places instead of positions, and a window that hides
# whatever is far away. **What did it? Which of its parts can go? And how far does it get?**
#
# In this lesson, no model sees a number of more than five digits in training.
#
# GIVES
#
# SITTINGS Your own adder takes as long as you like.
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
# **1.** Why is it easier to write a sum with its ones first?
#
# <details><summary>Answer</summary>
#
# Carries run from the ones upwards. If you write the largest place first, you need every carry before you write
# anything. See the digit order in [lesson 5](../05_causal_masks/05_causal_masks.ipynb).
# </details>
#
# **2.** What does a learned position know about row 12 of its table, if training only had rows 0 to 10?
#
# <details><summary>Answer</summary>
#
# Nothing. That row still holds the random numbers that it was initialised with. See learned positions in
# [lesson 6](../06_positional_encodings/06_positional_encodings.ipynb).
# </details>
#
# **3.** Queries and keys are rotated by their positions. What do the scores depend on?
#
# <details><summary>Answer</summary>
#
# On the query, the key and the difference of their positions. See `relative_attention_scores` in
# [lesson 6](../06_positional_encodings/06_positional_encodings.ipynb).
# </details>
#
# Two out of three? Go on. Fewer? Read the linked pages first, then come back.
#
# Run the next cell first: it loads the tools.

# %% setup=true
import inspect
import math
import re
import string
from collections.abc import Callable

import numpy as np
import pandas as pd
import torch
import torch.nn.functional as F
from IPython.display import display
from torch import nn

from transformer_course import guesses, lengths, plots
from transformer_course.length_generalization.adder import Adder, Tools
from transformer_course.length_generalization.entries import write_entry
from transformer_course.length_generalization.letters import HINTS
from transformer_course.sequences import shift_right
from transformer_course.tasks import addition
from transformer_course.lessons.lesson_14 import experiments as lab
from transformer_course.lessons.tables import measured

torch.set_num_threads(1)  # on a shared machine, two threads can be ten times slower than one

# %%
guess_digits = None  # the most digits you expect any of our models to get right, 90 % of the time

# %% [markdown]
# ## Where we stand
#
# Here is the plot that has been growing since lesson 4: rows of letters to reverse, trained on lengths up to ten. Both
# lines fall: one letter longer, rotary positions still get four rows out of five right, and sinusoidal ones fewer than
# one in three. (The line of learned positions is left out for now: you are about to guess what they do.)

# %%
reversal = lengths.lines_of(measured("06_lengths"))
plots.by_length(
    {name: reversal[name] for name in ("sinusoidal", "rotary")},
    trained=lengths.TRAINED,
    x_label="letters",
    title="Reversal, writing on its own",
    legend=True,
)

# %% [markdown]
# From here on the plot is about sums. All models have the same shape: one encoder layer and one decoder layer, with a width
# of 64. (What they know about positions makes the difference between 86,000 and 129,000 parameters.) They learn from the
# same 20,000 sums, for 1,500 steps unless we say otherwise. No number has more than five digits. And both numbers are written
# with the same number of digits, with zeros in front of the shorter one; the answer always has one digit more:
# `00012+34567` is answered by `034579`.
#
# We score each model twice. **Random sums** have random digits. In sums with **long carries**, one carry travels through
# three places or more, as in lesson 5. Both numbers have as many digits as the plot says. A point of a plot stands for 50
# sums unless we say otherwise, or for 100 where it is the mean of two seeds. That is not many: 90 right of 100 may well
# mean 83% or 94%.
#
# There are four ingredients in the kitchen. You'll build all of them:
#
# | ingredient | what it changes |
# |---|---|
# | reversed | numbers and answer have their ones first |
# | hints | a letter before each digit gives its place |
# | offsets | a learned vector for each place; training starts counting the places anywhere, not always at the first |
# | window | queries and keys are turned by their places, and a token sees only digits whose places are near its own |
#
# ## The first ingredient
#
# Lesson 5 taught you the first one: write the ones first, and a carry is there when it is needed.
#
# ![345 + 678 = 1023, twice. With the largest place first, arrows for the carries run to the left, while the answer is written to the right. With the ones first, both run to the right.](picture:which_way_a_carry_runs)
#
# We train an adder with reversed digits and learned positions now: 800 steps are enough for it, about a quarter of a minute.
# It will be right on five digits. **What share of sums with six digits will it get right?**

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
# - On five digits, 98% or more are right, long carries included. On six digits, none is. <!-- claim: a_cliff -->
# - It's the line that we left out of the first plot: with learned positions, every row of ten letters was reversed correctly, and none of eleven. <!-- claim: the_same_cliff_in_reversal -->
#
# A cliff. The sixth digit isn't harder than the fifth: it is the same table of digits and the same carry. But the
# row is longer, and no training row ever reached its last positions.
# </details>
#
# Let it show you one of its answers. How many digits does it write, and how many should there be?

# %%
print(lab.on_paper(alone, digits=8))

# %% [markdown] exercise="index_hints" kind="core" difficulty=2 minutes=15
# To add 345 and 78, you put the 4 above the 7. How do you know that they belong together? You count from the right.
# Counting is exactly what our model can't do on a length that it hasn't seen. So let's do it for the model. H. Zhou and
# others (2023) write a letter before each digit: *a* for the ones, *b* for the tens. They call these **index hints**.
#
# ![The sum 345+78 becomes c3b4a5+b7a8. The letter b and the digits after it, 4 and 7, are framed: these are the tens.](picture:letters_for_places)
#
# Now "find the digit that belongs here" is "find the same letter", and attention is good at finding the same.
#
# For example: `"12+34="` becomes `"b1a2+b3a4="`. A hundred digits need more than 26 letters. `HINTS` has 113 of them: after z
# come A to Z, and then letters such as à, æ and þ.
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

# %% [markdown]
# **What you've built.** A sum that says which digits belong together. The answer gets letters too, so with the ones first
# a model reads and writes the three sums below. (The models with letters were trained beforehand, so these lines use the
# course's `index_hints`; the last line is yours.)

# %%
for pair in learnt[:3]:
    source, target = lab.Recipe(reversed=True, hints=True).writing.texts(pair)
    print(f"{pair[0]} + {pair[1]}:  {source}  ->  {target}")
print("\nwith the largest place first:", index_hints("345+78=423"))

# %% [markdown]
# **Will hints take the adder with reversed digits to six digits?** Look at this first: here is how often each letter occurs
# in training, in the sums as the model reads and writes them.

# %%
writing = lab.Recipe(reversed=True, hints=True).writing
print(lab.letters_used(["".join(writing.texts(pair)) for pair in learnt]))

# %% [markdown]
# We trained all the recipes of this lesson beforehand, on two seeds. You'll see the whole table later. The lines here are
# means of both seeds.

# %%
guess_hints = None  # "yes" or "no"

recipes = measured("14_recipes")
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
# The answer to six digits has seven, and g means nothing to the model: its vector still holds the random numbers that it was
# initialised with. And the learned positions of a longer row are as unfamiliar as before.
#
# A sum with letters is also twice as long, and the model must learn to write them. With one of our two seeds, 1,500 steps
# weren't enough for that.
# </details>

# %% [markdown] exercise="random_offset_positions" kind="core" difficulty=2 minutes=10
# Training only has short sums, so only the first rows of a table of positions are ever used. Who says that a sum must begin at
# row 0 of the table? Draw a random **offset** for each sum, and let the positions begin there. Then even short sums use
# the whole table, sooner or later.
#
# ![A table of twelve vectors. Without an offset, a row of four tokens always uses the vectors 0 to 3. With random offsets it uses 6 to 9, then 1 to 4, then 8 to 11.](picture:rows_of_a_table)
#
# With an offset $o$, token $j$ of a row of length $n$ is at position
#
# $$p_j = o + j, \qquad 0 \le o \le \text{max length} - n$$
#
# For example: with a length of 4 and a table of 12, the offset is one of 0, 1, ..., 8, and the last position is 11 at most.
#
# Ruoss and others (2023) had this idea in a different form: they draw positions with gaps between them. McLeish and
# others (2024) draw a single offset, as we do.
#
# <details><summary>Hint 1</summary>
#
# How large may the offset be, if the last position has to be below `max_length`? How many offsets are there, counting 0?
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

# %% [markdown]
# **What you've built.** A way for short rows to reach distant positions. Our model uses it for the *places* of digits: the
# ones are at place 1, the tens at place 2, and so on. In a sum of five-digit numbers, the last one is place 7: the answer has
# six digits, and then it ends. Place 0 is left to tokens without a place, such as the plus; they use no row. So a sum draws
# eight positions, and uses the last seven. The table has 113 rows. Here is how often each of them is used in 2,000 sums. **Why
# does the line with random offsets bend down at both ends?**

# %%
dice = torch.Generator().manual_seed(0)
used = {  # [1:], as the first of the eight positions is place 0
    "no offset": lab.used_in_training(lambda _: torch.arange(8)[1:], 2000, len(HINTS)),
    "random offsets": lab.used_in_training(
        lambda _: random_offset_positions(8, len(HINTS), dice)[1:], 2000, len(HINTS)
    ),
}
never = {name: counts.count(0) for name, counts in used.items()}
print("rows that are never used:", never)
plots.curves(used, title="How often each row of the table is used", x_label="row", y_label="sums", legend=True)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - Without an offset, 106 of the 113 rows are never used. With random offsets, only row 0 is never used: no digit is at place 0. <!-- claim: every_row_is_met -->
#
# Row 1 is used with one offset only, the offset 0; row 50 with seven of them. So rows near the ends are used less often.
# </details>
#
# The letters of the hints can have an offset as well: a sum that begins at *f* is as good as one that begins at *a*. Our
# model shifts the letters by a random offset in training, and shifts them back in what it writes.

# %% [markdown] exercise="digit_positions" kind="core" difficulty=3 minutes=15
# What should such a vector stand for? In the sum 345+78, the digits 4 and 7 are the second and the fifth token.
# These two positions say nothing about addition. But 4 and 7 have the same **place**: both count tens. So we give each
# digit the number of its place, and everything else a 0:
#
# | 3 | 4 | 5 | + | 7 | 8 | padding |
# |---|---|---|---|---|---|---|
# | 3 | 2 | 1 | 0 | 2 | 1 | 0 |
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

# %% [markdown]
# **What you've built.** A model's eye for columns. Where the ones come first, we flip the row, ask your function, and flip
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

# %% [markdown] exercise="PlaceEmbedding" kind="core" difficulty=2 minutes=15
# Now the part of the model that uses both: a learned vector for each place, and a table that may be entered anywhere. With
# `random_offset_positions` to draw the start, these are the *Abacus embeddings* of McLeish and others (2024).
#
# ![A table of twelve vectors. The places 3 2 1, plus and 2 1 with a start of 5 get the vectors 8, 7, 6, zeros, 7 and 6.](picture:table_entered_at_five)
#
# For example: in 345+78 the places are 3 2 1 0 2 1. With a start of 5, the digits get rows 8, 7, 6, 7 and 6 of the table. The
# plus isn't a digit. It gets zeros, whatever the start is. When the model answers, the start is 0.
#
# Source and answer of a sum share their start. So `forward` is given the start instead of drawing it.
#
# <details><summary>Hint 1</summary>
#
# `places` is (batch, length), `start` is (batch, 1). What happens when you add the two?
# </details>
# <details><summary>Hint 2</summary>
#
# An embedding gives every index a vector. How do you make some of them zero afterwards?
# </details>
# <details><summary>Hint 3</summary>
#
# `is_digit = places > 0`, and then `self.vectors(? + ?) * is_digit.unsqueeze(?)`.
# </details>
#
# Docs: [Embedding](https://pytorch.org/docs/stable/generated/torch.nn.Embedding.html).

# %% [markdown]
# **What you've built.** A part of the adder: from here on, it runs on yours. Here is where the model puts your functions to work:
# its encoder, and how its decoder writes, from the course's own file.

# %%
tools = Tools(digit_positions, random_offset_positions, place_embedding=PlaceEmbedding)
told = lab.Recipe(reversed=True, offsets=True).model(tools=tools)
print(type(told.table).__name__, "with", told.table.vectors.weight.shape[0], "rows")
print(inspect.getsource(Adder.encode))
print(inspect.getsource(Adder.decode))

# %% [markdown]
# Now train it, with reversed digits, your vectors for places and your random offsets. It takes about half a minute. **At how
# many digits does it fall below one half?** Yours is tested on 200 sums of each length. The other
# lines are means of two seeds, as before.

# %%
guess_fall = None  # 6, 7, 8, 10, 20, 50 or 100

lab.train(told, learnt, name="reversed, offsets")
told_right = lab.examined(told, learnt, lab.SHORT, count=200)
fallen = [digits for digits, share in told_right.items() if share < 0.5]
falls_at = min(fallen, default=None)
print(f"your guess: {guess_fall}, it is: {falls_at}")
lines = {"yours: reversed, offsets": told_right} | lab.lines(
    recipes, ["reversed, offsets", "reversed", "reversed, hints, offsets"]
)
lab.by_digits(lines, "Random sums, with offsets")

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - With offsets, 72 to 90% of random sums are right at five digits, 40 to 75% at six and 25 to 40% at seven, depending on the seed. At ten, it's 4% at most. <!-- claim: offsets_soften_the_cliff -->
# - With hints as well, 1,500 steps aren't enough even for five digits: none is right. <!-- claim: hints_and_offsets_need_more -->
#
# The cliff has become a slope. But each place has a vector of its own, and the model has to learn the same thing for
# every one of them. McLeish and others train for a day on a GPU, and we for half a minute.
# </details>
#
# ## Time for a break
#
# This is a good place to stop for today. What follows is the last ingredient, the question which part did it, and your
# own adder.

# %% [markdown]
# ## The last ingredient

# %% [markdown] exercise="windowed_mask" kind="core" difficulty=2 minutes=10
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
# For example: for the places 2, 1, 0 and a window of 2, the first token sees itself and the second, the second sees all three,
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

# %% [markdown]
# **What you've built.** A mask that knows nothing about length. Here it is for the sum 345+678, with the places that your
# `digit_positions` gives: each digit sees itself, its neighbours, and those above and below them.

# %%
tokens, _ = addition.Writing().tensors([(345, 678)])
places = digit_positions(tokens)[0]
names = list("345+678")
plots.heatmap(
    windowed_mask(places, 2), names, names, title="Who sees whom, with a window of 2", rows="sees", columns="seen"
)

# %% [markdown]
# Positions by place, the ones first, rotary, and a window of 3: that is the adder of lesson 6, this time built from your own
# functions. (Lesson 6 hid what is "more than two places away", which is the same: a difference of less than 3.) No vector is
# learned for any place, so no place can be new; and with the window, no *difference* of places can be new either. We
# train it on the same sums. It takes about half a minute. **What is the longest of our lengths at which it gets at least 90%
# of random sums right?** You know that fifty is possible.

# %%
guess_longest = None  # 5, 6, 7, 8, 10, 20, 50 or 100

tools = Tools(digit_positions, random_offset_positions, windowed_mask, PlaceEmbedding)
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
# - Up to 50 digits, 93% or more are right, with random digits or long carries. At a hundred, it's 86 to 100% of random sums and 95 to 100% of those with long carries. <!-- claim: a_hundred_digits -->
#
# That is twenty times the length of anything in training.
# </details>
#
# Where does its attention go, on a sum of thirty digits? Each row is a place that it writes, and each column a place of
# the two numbers.

# %%
lab.where_it_looks(yours, digits=30)

# %% [markdown]
# A band: the same few places for each digit, and nothing about the length of the sum.
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
# - With the largest place first, 96 to 100% of random sums with ten digits are right, but at most 14% of those with long carries. With reversed digits, it's 98% or more of both. <!-- claim: carries_need_the_order -->
# - At a hundred digits, the seed decides: 30% of random sums are right with one, and all of them with the other. With long carries, none is. <!-- claim: a_hundred_depends_on_the_seed -->
#
# Had we only tested random sums, we'd have called this a success at ten digits. It's right most of the time, and a random test
# would never tell you when it isn't. So what goes wrong?
# </details>
#
# Here is a tempting answer. With the largest place first, a digit's carry has to be worked out from the places below it,
# which aren't written yet. *A window of 3 shows two of them, so a carry from further down can't be seen.* Is that so? You can
# measure it.

# %% [markdown] exercise="moved_by" kind="core" difficulty=3 minutes=20
# How far does a model see? Change one digit of a sum, run the model again, and see which of its outputs **move**. Whatever
# doesn't move can't depend on that digit.
#
# ![The sum 345+678 and its answer. In the first number, the 4 becomes a 7. Of the four outputs below, two are framed: their logits have moved. The other two are as they were.](picture:one_digit_changed)
#
# For example: a model copies the first digit and then the second. Given 34+, changing the 3 moves only the first output, and
# changing the 4 only the second. The plus isn't a digit, so its row is False.
#
# One other digit isn't enough: a model may tell a 9 from everything else, and nothing more. And a logit may rise or fall.
#
# <details><summary>Hint 1</summary>
#
# Which ids can replace a digit? Which tokens stay as they are?
# </details>
# <details><summary>Hint 2</summary>
#
# Two loops, over the source tokens and over the ten digits. Compare each time with the logits of the sum as it was, and keep
# what earlier digits have found.
# </details>
# <details><summary>Hint 3</summary>
#
# `other = source.clone()`, `other[0, ?] = digit`, and then
# `moved[?] |= ((model(other, target_input) - before).abs() > ?).any(dim=?)[0]`.
# </details>
#
# Docs: [torch.any](https://pytorch.org/docs/stable/generated/torch.any.html).

# %% [markdown]
# **What you've built.** A ruler. Here is the model with the window and the largest place first, as it is before any training: what
# it *can* see is decided by how it's built. **How many places below its own does a digit of the answer depend on?**

# %%
guess_sight = None  # 1, 2, 3, 4, 5 ...

usual = lab.Recipe(window=True).model(tools=tools)
source, target = usual.writing.tensors([(1234567891, 2345678912)])
moved = moved_by(usual.eval(), source, shift_right(target, usual.writing.alphabet.start_id))
table_of_sight = lab.by_place(usual, source, moved)
sight = lab.deepest(table_of_sight)
print(f"your guess: {guess_sight}, it is: {sight}")
lab.sight_drawn(table_of_sight)

# %% [markdown]
# So much for what it can see. Now we train it, and look at what it has *learnt* to see. In each of these sums of ten digits,
# some places in a row have digits that sum to 9, and below them there is a carry, or none. The digit above the 9s is right
# only if the model knows which. **With how many 9s in a row does it begin to fail?**

# %%
guess_nines = None  # 1, 2, 3, 4, 5 or 6

lab.train(usual, learnt, name="window")
above = lab.right_above_chains(usual, digits=10, longest=6)
fails_at = next((int(chain) for chain in above.index if above.loc[chain].min() < 0.75), None)
print(f"your guess: {guess_nines}, it is: {fails_at}")
print("training sums by the longest chain that a carry passes through:", lab.chains_in(learnt))
display(above)
lab.wrong_digits(
    usual, addition.long_carries(3, 12, 20), "Long carries: 1 is a wrong digit, 0.3 a 9 that a carry passes"
)

# %% [markdown]
# <details><summary>Open this once you have run the cells</summary>
#
# **What you should see**
#
# - A digit of the answer depends on up to four places below its own, not two: the encoder's window and the decoder's come one after the other. <!-- claim: four_places_in_sight -->
# - Above a single 9, or none, the digit is right in 87% or more of the sums. Above two it fails with two of three seeds, and above three with all of them: it is right in 5 to 50% of the sums with a carry, and in 55 to 100% of those without. <!-- claim: it_guesses_above_long_chains -->
# - Of the 20,000 training sums, 207 have a carry that passes through two places, and 15 one that passes through three or more (with two other seeds, 222 and 16, and 214 and 11). <!-- claim: long_chains_are_rare_in_training -->
# - We gave the same model 6,000 more sums of five digits, with one to three 9s in a row, half of them with a carry from below, and twice as many steps. Now the digit above up to three 9s is right in 95% or more of the sums, with a carry and without. Above four or more, it still guesses: it is right in 4 to 32% of the sums with a carry, and in 70 to 96% of those without. <!-- claim: practice_helps_as_far_as_it_sees -->
# - It takes both. Twice as many steps alone don't do it: with the usual sums, the digit above three 9s is right in 15 and 40% of the sums with a carry, on two seeds. Nor do the 6,000 sums in 1,500 steps: there it is right in 44 and 64%. <!-- claim: practice_takes_sums_and_steps -->
#
# The tempting answer was half right at best. The model sees four places, not two, so the carry below three 9s is in sight.
# Yet it fails above two or three. There it guesses, and more often than not it says "no carry", which is the better bet:
# of 20,000 sums, hardly any punish it. And it isn't length that breaks it: the same
# number of 9s breaks it in a sum of five digits, which it was trained on. Try `lab.right_above_chains(usual, digits=5, longest=3)`.
#
# So what is missing, up to three 9s, is practice. From four 9s on, the carry really is out of sight, and no training could
# help a model with one layer on each side and a window of 3. That is where the tempting answer is right, with a four in place of a two.
# With the ones first, there is no need to look that far. The carry is there when it is needed.
# </details>
#
# ## Which part did it?
#
# "Offsets" and "window" are bundles. Offsets are vectors by place *and* a random start; the window is rotary positions by
# place *and* a mask. Here they are taken apart. All models have reversed digits; "index" is the model of the first plot, with
# a learned vector for each position in the row. Drop one
# half of the window. **With which half gone does the model still get 90% of twenty-digit sums right: rotary, the mask, or neither?**

# %%
guess_part = None  # "rotary", "the mask" or "neither"

parts_table = lab.parts_of_the_story(measured("14_told"), recipes)
without = {"rotary": parts_table.loc["vectors, offset, mask", 20], "the mask": parts_table.loc["rotary", 20]}
can_go = next((half for half, left in without.items() if left >= 0.9), "neither")
print(f"your guess: {guess_part}, it is: {can_go}")
lab.shares_drawn(parts_table, "Random sums right, ones first")

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - Learned vectors for places, alone or with the mask, fall off the same cliff as positions in the row: every sum of five digits is right, and none of six. With the offset, the cliff becomes a slope. <!-- claim: the_offset_makes_the_slope -->
# - Rotary positions by place, without the mask, get 17 to 56% at six digits, depending on the seed, and next to nothing at seven. The mask without rotary (vectors, offset, mask) depends even more on the seed: 6 to 84% at six digits, 2 to 43% at ten. <!-- claim: half_a_window -->
# - Rotary and mask together get 94% or more at twenty digits. <!-- claim: both_halves -->
#
# (200 random sums a seed for "vectors", "vectors, mask", "vectors, offset, mask" and "rotary", 50 for the others.)
#
# So neither half of the window does it alone. (We didn't run the mask all by itself. You can, in the next cell.) The mask lets only small differences of places through, and training has
# had all of those. Rotary makes what is learnt at one place hold at every other, as only the difference counts. A table
# of vectors has to learn each place by itself, and without an offset it never sees the sixth digit of a number.
# </details>
#
# Would you have built it differently? Train one of your own: uncomment the last line. `Told` takes `vectors`, `offset`, `rotary` and
# `mask`. It takes about half a minute, and draws its own line.


# %%
def my_own(**parts):
    model = lab.Told(**parts).model(tools=tools)
    lab.train(model, learnt, name="mine")
    return lab.by_digits(lab.both_kinds(model, learnt, lab.SHORT), "Mine")


# my_own(vectors=True, offset=True, rotary=True)

# %% [markdown]
# ## All of them together
#
# Four ingredients, sixteen combinations, two seeds, 50 sums each. A mean over both seeds stands for 100 sums. What is such a
# number worth? With 95% confidence, the share of all such sums that these two models get right lies in the interval
# beside it:

# %%
for share in (0, 0.5, 0.9, 1):
    low, high = lab.interval(share, 100)
    print(f"{share:4.0%} right of 100 sums: {low:.0%} to {high:.0%}")

# %% [markdown]
# In the next two tables each row is one recipe, and each number such a mean. The best are on top. **Which two ingredients are
# in every recipe that gets more than half of the long carries of twenty digits right?**

# %%
guess_needed = None  # two of "reversed", "hints", "offsets" and "window": "hints and offsets", in either order

ingredients = ("reversed", "hints", "offsets", "window")
display(lab.as_grid(recipes, "exact"))
display(lab.as_grid(recipes, "long_carries"))
carried = lab.lines(recipes, list(dict.fromkeys(recipes["line"])), "long_carries")
good = [name.split(", ") for name, found in carried.items() if found[20] > 0.5]
needed = " and ".join(name for name in ingredients if all(name in recipe for recipe in good))
guess_needed = guess_needed and " and ".join(name for name in ingredients if name in guess_needed)
print("recipes that get half of the long carries of twenty digits right:", [", ".join(recipe) for recipe in good])
print(f"your guess: {guess_needed}, it is: {needed}")

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - Long carries of twenty digits need reversed digits and the window. Three of the four recipes that have both get at least 98% right; no other recipe gets more than 6%. <!-- claim: two_ingredients_are_needed -->
# - With neither offsets nor the window, no recipe gets a single sum of six digits right. <!-- claim: nothing_without_places -->
# - The fourth, with hints and the window but without offsets, fails at six digits: the letters run out. With all four ingredients, every sum is right up to 50 digits, and 98 to 100% are right at a hundred. <!-- claim: hints_with_offsets -->
#
# The order of digits makes each step easy. The window makes each step the same, at any length. Of these sixteen, those without the
# window get beyond five digits only with offsets. With hints, only offsets give every letter a meaning. That is a result about *this* model, 1,500
# steps and five digits. Where there is no window, as in most papers, hints and offsets have more to do. See below.
# </details>

# %% [markdown]
# ### How does that compare?
#
# Others have tried this, with larger models and for longer. In their own figures:
#
# | who | trained on up to | gets to | with |
# |---|---|---|---|
# | Jelassi and others (2023) | 5 digits | 15 digits | an encoder with relative positions |
# | Y. Zhou and others (2024) | 40 digits | 100 digits, more than 98% right | reversed digits, index hints, relative positions, random positions |
# | McLeish and others (2024) | 20 digits | 100 digits, up to 99% right | reversed digits, vectors for places with random offsets |
# | Cho and others (2024) | 30 digits | 200 digits | the same position for all digits of one place |
# | Sabbaghi and others (2024) | 5 digits | 50 digits | numbers and positions that show which digits belong together |
# | this lesson | 5 digits | 100 digits, 49 and 50 of 50 sums right with two seeds | all four ingredients |
#
# Five to a hundred is a factor of 20, more than in any of the papers in this table. Is our model better? **No.** It has been told more:
#
# - We count places in Python, outside of the model. Attention never has to find out which digits belong together.
# - The window decides which digits matter. That is most of the algorithm, given away.
# - Our decoder knows which place it is about to write. A language model has to keep track of that by itself.
# - Zeros in front make both numbers equally long, and the answer one longer. The papers differ in this.
#
# Y. Zhou and others found that their results change a lot with the seed: the title of their paper says "but not robustly".
# Ours doesn't have to find by luck what we built in by hand. All these models, theirs and ours, have knowledge of
# addition built into how sums are written or how positions are encoded. The more of it you build in, the further a small
# model gets, and the less it can do anything else. A window of three places would ruin a model that reverses a row.
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
# `cellcheck leaderboard 14` makes the table:
#
# - **It's trained there**, on sums that the grader draws, at most 20,000 at a time. Limits: 120 seconds of processor time for
#   training and 120 for answering, 1 GiB of memory, 500,000 parameters, 32 KiB of code. In each run, the ten digits have new
#   ids, so a program that knows which id is which digit gets nowhere.
# - **It answers hidden sums**, 30 of each length up to 20 digits, and 21 of 50 and of 100. A third of them have long
#   carries. The grader writes the most likely token, one at a time, as your `greedy_decode` does. The model never sees an
#   answer.
# - **Its score** is the mean, over all lengths, of the share that it gets completely right. With so few sums, a
#   difference of two or three points is chance. Ties go to the model with fewer parameters.
# - **Refused** is what isn't a model (an adder written in Python gives itself away when its weights are shuffled), and what
#   goes over a limit. A sentence below the table says why.
#
# You may hand in trained weights instead, in `entry/weights.safetensors`. Nobody can know what those have seen, so they are
# ranked separately.
#
# To have somebody to beat: three entries of ours are in `transformer_course/lessons/lesson_14/entries`. Here is what they scored
# in one run (`--seed 1`), in percent by number of digits:
#
# | entry | 5 | 6 | 7 | 8 | 10 | 20 | 50 | 100 | score | parameters |
# |---|---|---|---|---|---|---|---|---|---|---|
# | `rotary_window`: places by rotation, and a window | 97 | 100 | 100 | 100 | 100 | 100 | 100 | 86 | 97.8 | 85,774 |
# | `random_offsets`: vectors for places, with offsets | 100 | 13 | 0 | 53 | 7 | 0 | 0 | 0 | 21.7 | 93,006 |
# | `learned_positions`: a vector for each position | 100 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 12.5 | 114,702 |
#
# Another run draws other sums and other first weights, so its numbers differ, above all those of the second entry. The first is
# the one to beat.
#
# The next cell writes a first entry: a model like the adder that you have just trained. It has to run where your notebook
# isn't, so it imports the course's versions of your functions. It is a good start, and you can do better.

# %%
print(write_entry("entry", yours))

# %% [markdown]
# Open `entry/adder.py` and change it. To see where you stand, run `cellcheck leaderboard 14 entry` in a terminal.
# `submit()`, at the end of this notebook, includes the folder.
#
# Some ideas, none of which we have explored fully:
#
# - **Fewer parameters.** With a width of 32, or 16? How small can it be and still reach a hundred digits? (Elsewhere, people
#   compete for the smallest Transformer that adds ten digits: [AdderBoard](https://github.com/anadim/AdderBoard).)
# - **Better practice.** Short numbers with zeros in front teach little. Which of the sums that `draw` gives are worth
#   learning from?
# - **The usual order.** `least_first=False` is how people write. More layers see further. Do they learn to use it? Which sums
#   would they have to learn from?
# - **No window.** What else keeps attention from wandering off? A bias that falls with distance, as in lesson 6?
# - **No zeros in front.** With `width=None`, nobody tells the model how long the answer is.
# - **Letters.** With index hints, places can be read from the text. Then your model needs no Python that counts.
#
# ## Explain it
#
# A friend trains a model to add numbers of up to ten digits, tests it on 10,000 random sums of twenty digits, and gets
# 96% right. "So it has learnt to add," she says.
#
# Answer in four or five sentences. Which sums would you test it on, what might you find, and what would you want to
# know about how it was told the places of its digits?

# %% [markdown] explain=true
# In a random sum, a carry rarely travels through more than two or three places, so a model that gets short chains of 9s
# right is right most of the time. I'd test sums in which one carry runs through many places, such as 4999 + 5001, and score
# them separately: I might find that nearly all of them are wrong, as with our windowed adder that writes the largest place
# first. I'd count such sums in her training data too, since a model may see far enough and still never have needed it. I'd
# also go on to fifty and a hundred digits, with a second seed. Then I'd ask what was built in: whether numbers are
# padded or reversed, whether the code counts places for the model, and whether a window hides all but a few. That
# doesn't make the result wrong, but it says how much of adding the model has learnt, and how much it was told.

# %% [markdown]
# ## How good were your guesses?
#
# Here are your guesses next to what happened. A wrong guess is worth more than none: it shows you where to look.

# %%
everyone = lab.lines(recipes, list(dict.fromkeys(recipes["line"])))
furthest = max(digits for found in everyone.values() for digits, share in found.items() if share >= 0.9)
board = [
    ("digits that our best model reaches", guess_digits, furthest),
    ("share right at six digits, learned positions", guess_six, six),
    ("do hints alone reach six digits?", guess_hints, hints_are),
    ("digits at which offsets fall below one half", guess_fall, falls_at, 0),
    ("digits that your adder reaches", guess_longest, longest),
    ("what suffers if the largest place comes first", guess_suffers, suffers),
    ("places below its own that a digit depends on", guess_sight, sight, 0),
    ("9s in a row at which it begins to fail", guess_nines, fails_at, 0),
    ("the half of the window that can go", guess_part, can_go),
    ("what long carries need", guess_needed, needed),
]
guesses.board(board)

# %% [markdown]
# ## Recap
#
# Answer from memory, then check.
#
# **1.** Why do learned positions fail at the first length beyond training?
#
# <details><summary>Answer</summary>
#
# The vectors of later positions were never used in training, so they still hold their first random numbers. The same goes for the
# letters of places that never occurred.
# </details>
#
# **2.** What does a random offset change, and when?
#
# <details><summary>Answer</summary>
#
# In training, each sum begins at a random position, so short sums use the whole table. When the model answers, they begin
# at 0 again.
# </details>
#
# **3.** Rotary positions by place, with a window, need no offset. Why? And why not without the window?
#
# <details><summary>Answer</summary>
#
# Scores depend only on differences of places, and the window lets only small ones through, all of which training has
# had. Without it,
# a long sum has differences that are new.
# </details>
#
# **4.** Which sums would you never leave out of a test of addition?
#
# <details><summary>Answer</summary>
#
# Those with long carries. Random sums have few of them, so a model that drops them hardly loses anything.
# </details>
#
# **5.** A model sees four places and fails on carries through three. What was missing?
#
# <details><summary>Answer</summary>
#
# Examples. What a model can see is decided by how it's built; what it makes of it, by what it was trained on. (Up to three
# 9s, that is. A carry through four or more is out of its sight, whatever it learns from.)
# </details>
#
# ## Things to try
#
# - Look at the sums that `yours` gets wrong. Are there pairs of digits that it gets wrong more often than others?
# - Let `usual` learn from sums with long carries as well: `lab.train(usual, learnt + addition.long_carries(1, 2000, 5))`. In
#   all of these a carry comes. Has it learnt to carry, or only changed its bet? `lab.right_above_chains` tells them apart.
# - Train with a window of 2, or of 6. Which is better at a hundred digits?
# - Train for 4,000 steps: `lab.train(yours, learnt, steps=4000)`. How many of 500 sums of a hundred digits are right then?
# - Give the offsets more time: `lab.train(told, learnt, steps=6000)`. Where does its slope end?
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
# | length generalisation | being right on inputs longer than any in training |
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
# - H. Zhou and others, [What Algorithms can Transformers Learn?](https://arxiv.org/abs/2310.16028), ICLR 2024: index hints.
# - Shen and others, [Positional Description Matters for Transformers Arithmetic](https://arxiv.org/abs/2311.14737), 2023: zeros in front, reversed digits, random positions.
# - Y. Zhou and others, [Transformers Can Achieve Length Generalization But Not Robustly](https://arxiv.org/abs/2402.09371), 2024: from 40 digits to 100, and how much the seed matters.
# - McLeish and others, [Transformers Can Do Arithmetic with the Right Embeddings](https://arxiv.org/abs/2405.17399), NeurIPS 2024: section 3, vectors for places.
# - Cho and others, [Position Coupling](https://arxiv.org/abs/2405.20671), NeurIPS 2024: from 30 digits to 200.
# - Sabbaghi and others, [Explicitly Encoding Structural Symmetry is Key to Length Generalization in Arithmetic Tasks](https://arxiv.org/abs/2406.01895), 2024: from 5 digits to 50.
# - Beltagy, Peters, Cohan, [Longformer](https://arxiv.org/abs/2004.05150), 2020: section 3.1, attention in a window, for long texts.
