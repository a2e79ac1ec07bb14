# ---
# title: Text in, numbers out
# topic: vocabularies and byte pairs
# group: Foundations
# picture: merges_in_turn
# sittings: [80, 140]
# builds_on: [Python's dictionaries, 01_pytorch_basics]
# gives:
#   - build a vocabulary, and turn text into ids and back
#   - put texts of different lengths into one tensor, with padding and a CLS token
#   - say what a trivial rule scores on a data set, and whether its test data leaked
#   - learn byte pairs from a text, and cut words you have never seen
#   - give byte pairs ids, so that any text at all can be encoded and brought back
#   - test whether a tokenizer loses anything
# ---

# %% [markdown]
# TITLE
#
# A network multiplies and adds. It can't read. So how does a text get in?
# It has to be cut into pieces, called **tokens**, and each piece needs a number. Where would you cut?
#
# ![The text "the whalemen" cut in three ways. As characters: 12 tokens, from a vocabulary of a few dozen. As pieces: the, space, whale, men, 4 tokens, from a vocabulary of any size you like. As words: the, whalemen, 2 tokens, from a vocabulary of thousands.](picture:three_ways_to_cut)
#
# In this lesson you write a tokenizer. First one for characters, which prepares the data for lesson 3.
# Then one that learns its pieces from a novel, the way the tokenizers of large language models do.
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
# **1.** With `ages = {"Ann": 7, "Bob": 5}`, what is `[ages[name] for name in ("Bob", "Ann")]`, and what does `ages["Cy"]` do?
#
# <details><summary>Answer</summary>
#
# `[5, 7]`. And `ages["Cy"]` raises a KeyError, since there is no such key.
# See [dictionaries](https://docs.python.org/3/tutorial/datastructures.html#dictionaries).
# </details>
#
# **2.** What does `list("sea")` return?
#
# <details><summary>Answer</summary>
#
# `['s', 'e', 'a']`. A string is a sequence of characters, and a loop over it gives you one at a time.
# See [strings](https://docs.python.org/3/tutorial/introduction.html#text).
# </details>
#
# **3.** In lesson 1, why did we compare every loss with "always the mean"?
#
# <details><summary>Answer</summary>
#
# Because a loss alone means nothing. A simple rival, a baseline, tells you what you can get without learning.
# See part 2 of [lesson 1](../01_pytorch_basics/01_pytorch_basics.ipynb), "The data".
# </details>
#
# Two out of three? Go on. Fewer? Read the linked pages first, then come back.
#
# Run the next cell first: it loads the tools. `plots` draws, and `lab` runs the longer experiments.
# Both are part of the course, and you can read them in `transformer_course/plots` and `transformer_course/lessons/lesson_02/experiments.py`.

# %% setup=true
import math
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import torch
import torch.nn.functional as F
from IPython.display import display
from torch import nn

from transformer_course import guesses, plots
from transformer_course.byte_pairs import merge_pair
from transformer_course.data import moby_dick
from transformer_course.lessons.lesson_02 import experiments as lab
from transformer_course.libraries import try_to_import
from transformer_course.tasks.difference import (
    baseline_accuracies,
    difference_task,
    draw_with_repeats,
    shared_texts,
)

torch.set_num_threads(1)  # one thread: on a machine that others use too, two can be ten times slower

# %% [markdown]
# ## Part 1 · One number for each character
#
# ### The data
#
# Lesson 3 trains a Transformer on a small question. Its texts look like subtractions: `"321-4"`.
# **Is the first number larger than the second?** The label is 1 for yes and 0 for no. The numbers are never equal.
#
# The length of each number is drawn first: one, two or three digits, all equally likely.
# Before we train anything: **how often is the rule "the longer number wins" right?** Type in a guess.
# When the two numbers are equally long, the rule falls back on the more common label.

# %%
guess_longer = None  # a share, such as 0.6

data = difference_task(seed=0)
display(pd.DataFrame(data.train[:6], columns=["text", "label"]))
baselines = baseline_accuracies(data.train, data.test)
print("your guess:", guess_longer)
plots.bars(baselines, title="What trivial rules get right on test texts", x_label="accuracy")

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - Always giving the more common label is right on about 50% of the test texts (44 to 52%, depending on the seed). <!-- claim: more_common_label -->
# - "The longer operand wins" is right on about 84% (83 to 89%, depending on the seed). <!-- claim: longer_operand -->
#
# So an accuracy of 80% would be no success at all. Remember that in lesson 3.
# </details>
#
# What if both numbers are equally long? Then comparing lengths tells you nothing. But look at the first digits:
# **how often does the larger first digit win?**

# %%
guess_first_digit = None  # a share

equal = difference_task(seed=0, equal_lengths=True)
on_equal = baseline_accuracies(equal.train, equal.test)
print("your guess:", guess_first_digit)
plots.bars(on_equal, title="The same rules on numbers of equal length", x_label="accuracy")

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - On equal lengths, "the longer operand wins" is no better than a coin: about 50% (47 to 53%). <!-- claim: equal_lengths -->
# - But "the larger first digit wins" is right on about 95% of them (93 to 97%). <!-- claim: first_digit -->
#
# Every data set has shortcuts. The best you can do is know what they are.
# </details>
#
# ### Did the test data leak?
#
# We drew 2,500 different texts: 2,000 to train on and 500 for the test. A careless programmer draws 2,500 texts,
# repeats included, and then splits the list. **How many of the careless 500 also appear in the training data?** There
# are almost a million possible texts.

# %%
guess_leaked = None  # a number from 0 to 500

careless = draw_with_repeats(seed=0, count=2500)
leaked = shared_texts(careless[:2000], careless[2000:])
print("your guess:", guess_leaked)
plots.bars(
    {"careless split": leaked, "our split": shared_texts(data.train, data.test)},
    title="Test texts that also appear in the training data, out of 500",
)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - In the careless split, about 80 of the 500 test texts are in the training data too (70 to 86, depending on the seed). <!-- claim: careless_split -->
# - In our split there are none. <!-- claim: clean_split -->
#
# A million texts, and yet so many repeats. Where do they come from? In one draw out of nine, both numbers have a
# single digit, and there are only 90 such texts.
# </details>

# %% [markdown] exercise="build_vocabulary" kind="core" difficulty=2 minutes=10
# Now for the numbers. A **vocabulary** gives each symbol an id. We hand out ids by rank: the most frequent
# character gets id 1. Id 0 is reserved, for a purpose that you'll meet soon.
#
# ![The corpus hello and hole. The character l occurs three times; h, e and o occur twice each. So l gets id 1, h gets id 2, e gets id 3, and o gets id 4.](picture:ranked_characters)
#
# $$\text{id}(\text{symbol}) = \text{its place in the ranking, counting from } 1$$
#
# For example: in "hello" and "hole", `l` occurs three times, so it gets id 1. `h`, `e` and `o` occur twice each. `h` appears
# first, so it gets id 2, then comes `e`, then `o`.
#
# <details><summary>Hint 1</summary>
#
# What two things do you need to know about each character to rank it?
# </details>
# <details><summary>Hint 2</summary>
#
# Count the characters of all texts together. Python's `Counter` counts whatever you give it, and remembers what came first.
# </details>
# <details><summary>Hint 3</summary>
#
# `most_common()` returns (symbol, count) pairs, with ties in the order they came. `enumerate(..., start=1)` numbers them.
# </details>
#
# Docs: [Counter](https://docs.python.org/3/library/collections.html#collections.Counter) ·
# [enumerate](https://docs.python.org/3/library/functions.html#enumerate).

# %% [markdown]
# **What you've built.** Two vocabularies: one for the difference task, and one for a novel,
# the beginning of *Moby-Dick* (1851). **What is the most frequent character in an English text?**

# %%
guess_frequent = None  # one character

texts = [text for text, _ in data.train]
vocabulary = dict(build_vocabulary(texts))
novel = moby_dick()
novel_vocabulary = dict(build_vocabulary([novel]))
print("difference task:", vocabulary)
print(f"the novel: {len(novel):,} characters, {len(novel_vocabulary)} different ones")
top = sorted(novel_vocabulary, key=novel_vocabulary.get)[:10]
lab.frequency_chart(novel, top, guess_frequent)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - 76 different characters make up the whole novel. <!-- claim: few_characters -->
# - The most frequent one is the space: 17.6% of all characters. <!-- claim: spaces_lead -->
#
# </details>
#
# Now look at the ids of the digits in the first vocabulary. They follow frequency, and have nothing to do with
# the size of the digits. Will that matter to a network? You'll find out before the break.

# %% [markdown] exercise="encode" kind="core" difficulty=1 minutes=5
# Look up each character, and a text becomes ids. But what about a character that isn't in the vocabulary?
# Leaving it out would be worse than stopping: you'd have a different text, and nobody would know.
#
# ![A vocabulary in which l has id 1, h has id 2, e has id 3 and o has id 4. The text h, o, l, e is above its ids 2, 4, 1, 3.](picture:text_to_ids)
#
# $$\text{ids}[i] = \text{vocabulary}[\text{text}[i]]$$
#
# For example: "hole" becomes 2, 4, 1, 3. And "hope" raises an error, since there is no `p` in that vocabulary.
#
# <details><summary>Hint 1</summary>
#
# Which way of looking up a key in a dictionary complains if it is missing, and which one stays silent?
# </details>
# <details><summary>Hint 2</summary>
#
# Square brackets raise a KeyError by themselves. That will do. A ValueError with a clear sentence is kinder.
# </details>
# <details><summary>Hint 3</summary>
#
# One list comprehension over the characters of `text`.
# </details>
#
# Docs: [list comprehensions](https://docs.python.org/3/tutorial/datastructures.html#list-comprehensions) ·
# [raise](https://docs.python.org/3/tutorial/errors.html#raising-exceptions).

# %% [markdown]
# **What you've built.** Texts as numbers, and a clear refusal when a character is unknown.

# %%
for text in texts[:4]:
    print(text.rjust(7), "becomes", list(encode(text, vocabulary)))
try:
    encode("2+1", vocabulary)
except Exception as refusal:
    print("\n2+1 is refused:", type(refusal).__name__, refusal)

# %% [markdown] exercise="decode" kind="core" difficulty=2 minutes=10
# Now in reverse. A model's answers are ids, and we want to read them.
# This is where id 0 gets its purpose. It is **padding**: it fills up a row and means nothing, so it decodes to nothing.
#
# ![The ids 2, 4, 1, 3, 0, 0 above the text h, o, l, e. The two zeros are padding and become nothing.](picture:ids_to_text)
#
# For example: 2, 4, 1, 3, 0, 0 becomes "hole". An id that has no symbol is an error, as before.
#
# <details><summary>Hint 1</summary>
#
# The dictionary goes from symbols to ids. Which dictionary would you rather have?
# </details>
# <details><summary>Hint 2</summary>
#
# Swap keys and values: build a dictionary from ids to symbols. Skip the zeros, and join the rest.
# </details>
# <details><summary>Hint 3</summary>
#
# `.items()` gives you the pairs to swap, and `"".join(...)` turns many strings into one.
# </details>
#
# Docs: [dict.items](https://docs.python.org/3/library/stdtypes.html#dict.items) ·
# [str.join](https://docs.python.org/3/library/stdtypes.html#str.join).

# %% [markdown]
# **What you've built.** You can go both ways. Does a whole novel survive the trip?

# %%
novel_ids = list(encode(novel, novel_vocabulary))
print("the first ids:", novel_ids[:20])
print("decoded again:", repr(decode(novel_ids[:20], novel_vocabulary)))
print("the whole novel came back unchanged:", decode(novel_ids, novel_vocabulary) == novel)

# %% [markdown]
# **What you should see**
#
# - All 216,972 characters of the novel come back unchanged. <!-- claim: novel_comes_back -->
#
# ### The same with TensorFlow
#
# Libraries have tools for this. TensorFlow's is a layer, `TextVectorization`. (No TensorFlow? Guess all the same: the
# next cell then does nothing, and the answer is below it.)
#
# **With one id per character, and its default settings otherwise, what does it make of "321-4"?** Guess first.
#
# 1. Five ids.
# 2. Four ids.
# 3. One id.
# 4. An error.

# %%
guess_layer = None  # 1, 2, 3 or 4

tf = try_to_import("tensorflow")
layer_choice = None
if tf is not None:
    short, whole = lab.layer_ids(tf, texts, "321-4")
    layer_choice = {5: 1, 4: 2, 1: 3}[len(short)]
    print("your guess:", guess_layer, " it is:", layer_choice, " the ids are", short)
    print("with standardize=None:", whole)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - By default, `TextVectorization` turns "321-4" into four ids: it strips punctuation, including our minus sign. <!-- claim: layer_strips_the_minus -->
# - The layer's ids for symbols start at 2, since 0 is padding and 1 stands for everything unknown. <!-- claim: layer_ids_begin_at_two -->
#
# `standardize=None` keeps the minus sign. And that matters: without it, `"321-4"` is the same text as `"32-14"`. Once
# information is lost from the input, no network can get it back. So look at what a tokenizer does to your own data before you train.
# </details>

# %% [markdown] exercise="pad_sequences" kind="core" difficulty=2 minutes=10
# A network works on many texts at a time: a **batch**, one text in each row of a tensor.
#
# A tensor is a rectangle, but our texts have different lengths. So each row is padded, on the right.
#
# ![The sequences 5, 6, 7 and 8 become a tensor with two rows of four: 5, 6, 7, 0 and 8, 0, 0, 0. The zeros are framed.](picture:padded_rows)
#
# For example: with `max_length` 4, the sequence of three ids gets one 0, and the sequence of one id gets three.
# A sequence of five doesn't fit. Cutting it off would change its meaning, so that is an error.
# It is an error in a batch of one, too.
#
# <details><summary>Hint 1</summary>
#
# How many zeros does a sequence of length n need? What if that number is negative?
# </details>
# <details><summary>Hint 2</summary>
#
# Check the lengths first. Then build new lists of equal length and make a tensor of them. Or make a tensor full of
# padding, and write into it.
# </details>
# <details><summary>Hint 3</summary>
#
# `raise ValueError(...)` if a sequence is too long. `sequence + [...] * n` makes a new list and leaves the old one
# alone. `dtype=torch.long` keeps the ids integers.
# </details>
#
# Docs: [torch.tensor](https://pytorch.org/docs/stable/generated/torch.tensor.html) ·
# [torch.full](https://pytorch.org/docs/stable/generated/torch.full.html).

# %% [markdown]
# **What you've built.** A batch: eight texts in one tensor. Each cell shows an id, and below it the character it stands for.
# The hatched cells are padding.

# %%
rows = [list(encode(text, vocabulary)) for text in texts[:8]]
batch = pad_sequences(rows, 7)  # (8, 7)
plots.ids(
    batch,
    texts[:8],
    symbols={vocabulary[symbol]: symbol for symbol in vocabulary},
    special={0: "padding"},
    title="Eight texts as ids",
)

# %% [markdown] exercise="prepare_example" kind="core" difficulty=2 minutes=10
# A classifier gives one answer for a whole text. Where should we read off that answer?
# We add a position for that: a token of its own, called **CLS** for *classify*. We always put it last.
#
# ![A row of seven ids: 2, 4, 1, 3 are the text, 0, 0 are padding, and 5 at index -1 is the CLS token, framed.](picture:example_layout)
#
# For example: "hole" is 2, 4, 1, 3. With `max_length` 7 and `cls_id` 5 the row is 2, 4, 1, 3, 0, 0, 5.
# The padding comes *before* the CLS token, so the answer is always at index -1.
#
# <details><summary>Hint 1</summary>
#
# How many places are left for text and padding together?
# </details>
# <details><summary>Hint 2</summary>
#
# Two of your functions do most of the work. And they already raise the errors you need.
# </details>
# <details><summary>Hint 3</summary>
#
# Pad a batch of one to `max_length - 1`, take its only row, and add the CLS token at the end with `torch.cat`.
# </details>
#
# Docs: [torch.cat](https://pytorch.org/docs/stable/generated/torch.cat.html).

# %% [markdown]
# **What you've built.** Everything a classifier needs to train on this task.

# %%
cls_id, max_length = len(vocabulary) + 1, 8  # three digits, a minus sign, three digits, CLS
vocab_size = cls_id + 1  # ids from 0, padding, to cls_id


def prepare(examples, vocabulary):
    """Tokens (n, max_length) and labels (n,)."""
    rows, labels = [], []
    for text, label in examples:
        row, label = prepare_example(text, label, vocabulary, max_length, cls_id)
        rows.append(torch.as_tensor(row))
        labels.append(int(label))
    return torch.stack(rows), torch.tensor(labels)


# %% [markdown]
# Here are all texts, prepared by your function, and the first eight rows drawn.

# %%
train_set, test_set = prepare(data.train, vocabulary), prepare(data.test, vocabulary)
for name, (tokens, labels) in [("training", train_set), ("test", test_set)]:
    print(f"{name}: tokens {tuple(tokens.shape)}, labels {tuple(labels.shape)},", end=" ")
    print(f"{(tokens == 0).float().mean():.0%} padding")
plots.ids(
    train_set[0][:8],
    [text for text, _ in data.train[:8]],
    symbols={vocabulary[symbol]: symbol for symbol in vocabulary},
    special={0: "padding", cls_id: "CLS"},
    title="With the CLS token",
)

# %% [markdown]
# ### Experiment: is an id a quantity?
#
# Can the MLP of lesson 1 learn this task? That depends on how you feed it the tokens. Here are three ways.
#
# | way | "2-1" becomes | numbers per text |
# |---|---|---|
# | ids as quantities | the 8 ids, divided by the largest | 8 |
# | one-hot | for each position, a 1 for the id that is there and 0 for all others | 8 times 13 |
# | counts of ids | how often each id occurs | 13 |
#
# **Rank them: which does best on test texts, and which does worst?** "The longer operand wins" gets about 84%.
# Each of the 400 training steps uses all 2,000 texts: a full batch.

# %%
guess_best, guess_worst = None, None  # "ids as quantities", "one-hot" or "counts of ids"

by_way, losses_by_way = lab.accuracies(train_set, test_set, vocab_size)
display(lab.losses_chart(losses_by_way))
levels = {"longer wins": baselines["longer operand wins"]}
lab.accuracies_chart(by_way, guess_best, levels)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - With one-hot tokens the network is right on about 97% (96 to 98%, depending on the seed). <!-- claim: one_hot_wins -->
# - With ids as quantities it gets 82 to 90%, hardly better than "the longer operand wins". <!-- claim: quantities_lose -->
# - With counts it is right on 43 to 55%, which is chance, though its training loss falls by more than a third. <!-- claim: counts_are_chance -->
#
# Why do the counts fail? `"32-4"` and `"4-32"` have exactly the same counts, but opposite labels. No network can tell
# them apart. All it can do is memorise the training texts. Lesson 3 begins with this problem.
# </details>
#
# And why do ids do so badly as quantities? Perhaps because ours mean nothing: they follow frequency. Let's test that.
# We hand out the ids again, in the order of the digits: 0 gets id 1, 1 gets id 2, and so on.
# **Does the same network, fed with quantities, do better now?**

# %%
guess_in_order = None  # a share

in_order = {symbol: place for place, symbol in enumerate("0123456789-", start=1)}
sets = [prepare(examples, in_order) for examples in (data.train, data.test)]
quantities = {"ids as quantities": lab.as_quantities}
ordered, _ = lab.accuracies(*sets, vocab_size, ways=quantities)
print("your guess:", guess_in_order)
three_ways = {
    "ids by frequency, as quantities": by_way["ids as quantities"],
    "ids in the digits' order, as quantities": ordered["ids as quantities"],
    "one-hot": by_way["one-hot"],
}
lab.accuracies_chart(three_ways)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - With ids in the order of the digits, quantities are right on about 98%, as good as one-hot or better, give or take a point. <!-- claim: order_wins -->
#
# So numbers are fine if they measure something. But our ids are names: id 7 isn't "more" than id 3. And what order
# would a novel's words have? One-hot tokens need no order, and work either way. In lesson 3 an *embedding* does the
# same job: each id gets a vector of its own.
# </details>

# %% [markdown]
# ---
# ## Time for a break
#
# Your texts are tensors now, and nothing was lost on the way. Save the notebook, and stand up for a while.
#
# *(When you come back, run all the cells above once, then go on here.)*
#
# ---

# %% [markdown]
# ## Part 2 · Between letters and words
#
# Welcome back. Characters need only a tiny vocabulary, but they make very long rows. Words would make them shorter.
# What would that cost? We set aside the last fifth of the novel's words, as if we hadn't read it yet. (In this part a
# word is a run of letters from a to z, in lower case. Everything else in the text is thrown away for now.)
#
# **What share of the words in the unread part is new, never seen before?**

# %%
guess_unknown = None  # a share, such as 0.02

words = lab.words_in(novel)
known, unread = lab.split_words(words)
unknown = lab.unknown_share(known, unread)
print(f"{len(words):,} words, {len(set(words)):,} different ones")
print(f"your guess: {guess_unknown}, it is: {unknown:.3f}")
seen = set(known)
strangers = [word for word in dict.fromkeys(unread) if word not in seen]
print("some of the new words:", ", ".join(strangers[:12]))

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - 9.4% of the words in the unread part are new. <!-- claim: unknown_words -->
#
# About one word in eleven, gone.
# </details>
#
# Word-level tokenizers write `[UNK]` for each new word. To keep the vocabulary small they also drop rare words: a word has to
# reach a **minimum frequency**. Here is what that costs.

# %%
counts = Counter(known)
pd.DataFrame(
    [
        {
            "minimum frequency": minimum,
            "words in the vocabulary": sum(count >= minimum for count in counts.values()),
            "unknown in the unread part": f"{lab.unknown_share(known, unread, minimum):.1%}",
        }
        for minimum in (1, 2, 3, 5, 10)
    ]
)

# %% [markdown]
# **What you should see**
#
# - 58% of the different words in the part we read occur only once, so a minimum of 2 drops them all. <!-- claim: half_occur_once -->
# - With a minimum of 5, 22% of the unread part is unknown. <!-- claim: minimum_of_five -->
#
# Words leave us with unknowns, and characters with long rows. Is there something in between?
# `whalemen` may be new, but `whale` and `men` aren't.
#
# ### The idea: merge what often occurs together
#
# **Byte-pair encoding** starts from characters. It finds the most frequent pair of neighbours, and merges it
# into one token. Then it counts again, with the new token in place. And so on.
#
# The merging itself is given, as `merge_pair`. It goes from left to right, and uses no token twice.
# **What becomes of `a a a` if we merge `a` and `a`?** And of `a a a a`?

# %%
guess_run = None  # a list of tokens, such as ["a", "a", "a"]

print("your guess:", guess_run)
three = merge_pair(["a", "a", "a"], ("a", "a"))
print("a a a   becomes", three)
print("a a a a becomes", merge_pair(["a", "a", "a", "a"], ("a", "a")))

# %% [markdown] exercise="byte_pair_merges" kind="core" difficulty=4 minutes=40
# Your function learns which pairs to merge, and in which order. That list *is* the tokenizer.
#
# ![whale occurs 3 times, ale 2 times, who 2 times. The pairs: a l occurs 3 + 2 = 5 times, l e 5 times, w h 5 times, h a 3 times, h o 2 times. Three pairs occur 5 times, and w h is the largest of them.](picture:counted_pairs)
#
# Each of the `num_merges` rounds has three steps:
#
# 1. count every pair of neighbours in every word, as often as the word occurs
# 2. choose the most frequent pair; if there are several, the lexicographically largest: `("w", "h") > ("l", "e") > ("a", "l")`
# 3. merge it in every word
#
# For example: three pairs occur 5 times. The largest is `("w", "h")`, so it comes first. Then count again: `wh` and `a`
# are neighbours 3 times now. `a` and `l` still occur 5 times, and so do `l` and `e`. So `("l", "e")` is next.
#
# The novel repeats its words a lot. Handle each *different* word once, with its frequency, or you'll wait a long time.
#
# <details><summary>Hint 1</summary>
#
# What do you need to know about each different word from round to round? There are two things.
# </details>
# <details><summary>Hint 2</summary>
#
# Its frequency, which stays the same, and its tokens, which change: one dictionary for each. In every round, start a
# new `Counter` of pairs, and for each pair in a word add the word's frequency.
# </details>
# <details><summary>Hint 3</summary>
#
# `pairwise(tokens)` gives you the neighbours. `max(pairs, key=...)` can compare tuples: first the count, then the pair
# itself. Leave the loop if there are no pairs.
# </details>
#
# Docs: [Counter](https://docs.python.org/3/library/collections.html#collections.Counter) ·
# [pairwise](https://docs.python.org/3/library/itertools.html#itertools.pairwise) ·
# [max](https://docs.python.org/3/library/functions.html#max).

# %% [markdown]
# **What you've built.** A tokenizer that learns. We let it read four fifths of the novel. That takes a few seconds.
# **Which pair of letters will it merge first in an English text?**

# %%
guess_first = None  # two letters, such as "xy"

merges = [tuple(pair) for pair in byte_pair_merges(known, 400)]
print("your guess:", guess_first)
pd.DataFrame(
    [
        {
            "merges": f"{start + 1} to {start + 12}",
            "new tokens": "  ".join(a + b for a, b in merges[start : start + 12]),
        }
        for start in (0, 12, 24, 100, 200, 388)
    ]
)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - The first pair is t and h, and "the" is a single token after three merges. <!-- claim: the_comes_first -->
#
# </details>
#
# Endings and short words come first, and later "captain", "whale" and "queequeg". Nobody told it which pieces words are made of.

# %% [markdown] exercise="apply_merges" kind="core" difficulty=2 minutes=10
# Now use the merges on a word. Start from its characters, and merge each learnt pair in turn, in the order they were
# learnt.
#
# ![whales in four steps. At first: w, h, a, l, e, s. After a + l: w, h, al, e, s. After w + h: wh, al, e, s. After wh + al: whal, e, s.](picture:merges_in_turn)
#
# For example: six characters and three merges, each used once, leave three tokens.
#
# <details><summary>Hint 1</summary>
#
# What are the tokens before the first merge?
# </details>
# <details><summary>Hint 2</summary>
#
# Carry one list of tokens through a loop over the merges. `merge_pair` does one round.
# </details>
# <details><summary>Hint 3</summary>
#
# Three lines: a list made from the word, a loop, and in it the list is replaced by what `merge_pair` returns.
# </details>
#
# Docs: [for statements](https://docs.python.org/3/tutorial/controlflow.html#for-statements).

# %% [markdown]
# **What you've built.** A knife for words. With more merges, it cuts them into larger pieces. Two of these words are not in
# the part that was read, and one of the two is far too modern for a novel of 1851.

# %%
shown = ["whale", "harpooneer", "ishmael", "bedside", "transformers"]
display(
    pd.DataFrame(
        {
            f"{count} merges": [" ".join(apply_merges(word, merges[:count])) for word in shown]
            for count in (0, 30, 100, 400)
        },
        index=shown,
    )
)
print("never read:", ", ".join(word for word in shown if word not in counts))

# %% [markdown]
# Going back is easy. Merging never changed a letter, or the order of the letters, so `"".join(tokens)` is the word again.
# Does that hold for every word, read or unread?

# %%
pieces = {word: apply_merges(word, merges) for word in dict.fromkeys(words)}
failed = [word for word, tokens in pieces.items() if "".join(tokens) != word]
alphabet = set("".join(known))
known_tokens = alphabet | {a + b for a, b in merges}
strange = {token for word in unread for token in pieces[word]} - known_tokens
print(f"words that do not come back: {len(failed)} of {len(pieces):,}")
print(f"unknown tokens in the unread part: {len(strange)}")

# %% [markdown]
# **What you should see**
#
# - Every word of the novel comes back unchanged. <!-- claim: words_come_back -->
# - The unread part, with all its new words, contains no unknown token. <!-- claim: no_unknown_tokens -->
#
# That is the point. A new word costs a few more tokens, and nothing is lost.
#
# ### Experiment: how many merges?
#
# More merges make longer tokens, so you need fewer of them. **How many merges does it take until a word in the unread
# part needs fewer than 2 tokens on average?** It starts above 4, with one token for each letter.

# %%
guess_merges = None  # 25, 50, 100, 200 or 400

steps = [0, 25, 50, 100, 200, 400]
read_lengths = [lab.tokens_per_word(apply_merges, known, merges[:n]) for n in steps]
unread_lengths = [lab.tokens_per_word(apply_merges, unread, merges[:n]) for n in steps]
plots.curves(
    {"read": read_lengths, "unread": unread_lengths},
    x_names=[str(count) for count in steps],
    title="Tokens per word",
    x_label="merges",
    y_label="tokens",
    levels={"two": 2.0},
)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - The first 100 merges take the unread part from 4.2 tokens per word to between 2.4 and 2.5. <!-- claim: first_hundred -->
# - The next 300 take it to 1.8, and save less than half as much. <!-- claim: later_merges_save_less -->
# - Read or unread: the difference is less than 0.1 tokens per word. <!-- claim: it_generalises -->
#
# Each further merge saves less, and makes the vocabulary larger by one.
# </details>
#
# Does what was learnt carry over to *new* words? This plot can't tell you: nine in ten of the unread words are old
# acquaintances. So look at the new ones alone, next to words that were read exactly once, too rarely to be learnt.

# %%
counts = Counter(known)
groups = {
    "unread part: words read before": [word for word in unread if word in counts],
    "unread part: new words": [word for word in unread if word not in counts],
    "words that were read exactly once": [word for word, count in counts.items() if count == 1],
}
lab.by_group(apply_merges, groups, merges).round(2)

# %% [markdown]
# **What you should see**
#
# - A new word takes 3.6 to 3.8 tokens, of a little less than two letters each. That is more than twice as many as a familiar word takes. <!-- claim: new_words_cost_more -->
# - Words that were read exactly once take as many, give or take 0.2. <!-- claim: rare_is_like_new -->
#
# So the pieces do carry over, but a familiar word is cheap because it was read *often*: reading a word once teaches the
# tokenizer next to nothing about it.
#
# Real tokenizers stop at a size chosen in advance: about 37,000 tokens for the first Transformer, 50,257 for GPT-2.

# %% [markdown]
# ## Part 3 · From merges to ids
#
# Your tokenizer cuts words into tokens, but a model needs numbers. And not all text is words: there are capitals,
# spaces, an ï or even a whale, 🐋. How can a small vocabulary have an id for *everything*?
#
# A computer already stores every text as **bytes**, numbers from 0 to 255. The usual code is called UTF-8. An
# English letter takes one byte. Other characters take two to four:

# %%
for character in "tTï鯨🐋":
    print(character, list(character.encode()))

# %% [markdown] exercise="byte_pair_vocabulary" kind="core" difficulty=2 minutes=10
# So 256 ids are enough for any text, and each merge adds one more for a token that is longer. Here is how we allocate
# the ids:
#
# ![Id 0 is padding. Ids 1 to 256 are the bytes 0 to 255: byte b has id b + 1. From 257 on come the merged tokens in the order they were learnt: th has 257, in has 258, the has 259.](picture:id_ranges)
#
# $$\text{id}(\text{byte } b) = b + 1 \qquad \text{id}(\text{merged token } k) = 256 + k,\quad k = 1, 2, 3, \dots$$
#
# For example: with the merges t + h, i + n, th + e, the token `th` gets id 257, `in` gets 258, and `the` gets 259.
#
# One trap: two merges can make the same token, such as a + bc and ab + c. It keeps its first id, and the next *new*
# token gets the next id.
#
# <details><summary>Hint 1</summary>
#
# What does a merge make of its pair? And how many merged tokens have an id so far?
# </details>
# <details><summary>Hint 2</summary>
#
# Start with an empty dictionary and walk through the merges. The next free id follows from the dictionary's length.
# </details>
# <details><summary>Hint 3</summary>
#
# Join the two tokens of a pair with `+`. If the result isn't in the dictionary yet, its id is 257 plus the length so far.
# </details>
#
# Docs: [dict](https://docs.python.org/3/library/stdtypes.html#mapping-types-dict).

# %% [markdown]
# **What you've built.** An id for each of your merges. Frequent tokens have small ids, since they were learnt first.

# %%
byte_vocabulary = byte_pair_vocabulary(merges)
some = ["th", "the", "whale", "captain", "queequeg", "t", "Whale"]
found = [str(byte_vocabulary.get(token, "none")) for token in some]
pd.DataFrame({"token": some, "its id": found})

# %% [markdown] exercise="byte_pair_ids" kind="core" difficulty=3 minutes=10
# Single letters and capitals aren't in that dictionary: they are bytes. Put both together, and any text becomes ids.
#
# ![The text "the ï" becomes three tokens: the, a space, and ï. "the" is in the vocabulary: id 258. The space is byte 32: id 33. The ï is two bytes, 195 and 175: ids 196 and 176.](picture:text_to_bytes)
#
# For example: with the merges t + h and th + e, "the ï" becomes 258, 33, 196, 176. That is four ids for three tokens.
#
# Does a text have to be split into words first? No. Your merges contain only letters from a to z, so
# `apply_merges` never merges across a space or a comma.
#
# <details><summary>Hint 1</summary>
#
# Which function cuts a text into tokens? And what do you do with a token that has no id?
# </details>
# <details><summary>Hint 2</summary>
#
# Go through the tokens and collect ids in one flat list. A token in the vocabulary adds one id. Any other token adds an
# id for each of its bytes.
# </details>
# <details><summary>Hint 3</summary>
#
# A loop over `token.encode()` gives the bytes as integers. `append` adds one id to a list, `extend` adds several.
# </details>
#
# Docs: [str.encode](https://docs.python.org/3/library/stdtypes.html#str.encode) ·
# [list methods](https://docs.python.org/3/tutorial/datastructures.html#more-on-lists).

# %% [markdown]
# **What you've built.** Numbers for any text. Compare the first sentence of the novel, as characters and as byte pairs.
# **How many ids does the byte-pair tokenizer need for "Call me Ishmael."?** It has 16 characters.

# %%
guess_ids = None  # a number

sentence = "Call me Ishmael."
sentence_ids = list(byte_pair_ids(sentence, merges, byte_vocabulary))
print("your guess:", guess_ids, " it is:", len(sentence_ids))
print("tokens:  ", "|".join(apply_merges(sentence, merges)))
print("ids:     ", sentence_ids)
print("as characters:", list(encode(sentence, novel_vocabulary)))
print("unknown to the novel, 鯨:", list(byte_pair_ids("鯨", merges, byte_vocabulary)))

# %% [markdown] exercise="ids_to_text" kind="core" difficulty=3 minutes=15
# A model answers in ids, so you need the way back. Your `decode` looked up one character for each id. That
# no longer works: id 196 is only half a letter.
#
# ![The ids 258, 33, 196, 176, 0, 0. They become the bytes 116, 104, 101 for "the", then 32, 195, 175, and nothing for the two zeros. All bytes together are decoded at once: the, a space, ï.](picture:bytes_to_text)
#
# So collect the bytes of all ids first, and decode them together at the end. Padding adds nothing.
# For example: 258, 33, 196, 176, 0, 0 becomes "the ï". An id that stands for nothing is an error.
#
# <details><summary>Hint 1</summary>
#
# Which three kinds of id are there, and which bytes does each of them stand for?
# </details>
# <details><summary>Hint 2</summary>
#
# Build a dictionary from ids to bytes: one entry for padding, 256 for the bytes, and one for each merged token. Then look
# up every id, join, and decode.
# </details>
# <details><summary>Hint 3</summary>
#
# `bytes([65])` is the byte 65, `token.encode()` gives the bytes of a token, `b"".join(...)` puts bytes together,
# and `.decode()` turns them into a string.
# </details>
#
# Docs: [bytes](https://docs.python.org/3/library/stdtypes.html#bytes) ·
# [bytes.decode](https://docs.python.org/3/library/stdtypes.html#bytes.decode).

# %% [markdown]
# **What you've built.** A complete tokenizer: any text in, ids out, and the same text back. Let's try the whole novel.
# **It has 216,972 characters. How many ids will that make?**

# %%
guess_novel_ids = None  # a number

byte_ids = lab.in_parts(novel, lambda part: byte_pair_ids(part, merges, byte_vocabulary))
print(f"your guess: {guess_novel_ids}, it is: {len(byte_ids):,}")
print(f"of these, {byte_ids.count(33):,} are single spaces")
came_back = ids_to_text(byte_ids, byte_vocabulary)
print("the whole novel came back unchanged:", came_back == novel)
for text in ["naïve whale", "鯨 means whale", "🐋"]:
    there = list(byte_pair_ids(text, merges, byte_vocabulary))
    print(f"{ids_to_text(there, byte_vocabulary)!r} was", there)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - The novel's 216,972 characters make 124,323 ids, and all of them come back. <!-- claim: ids_come_back -->
# - Almost a third of these ids, 31%, are single spaces. <!-- claim: spaces_are_ids -->
#
# Spaces cost so much because we learnt our merges from words, and words contain no spaces. GPT-2 lets a
# space belong to the word that follows it, so ` whale` can be a single token.
# </details>

# %% [markdown]
# ## Part 4 · What real tokenizers do
#
# ### The same with a library
#
# The library `tokenizers` learns byte pairs too, with fast Rust code. We give it the same words.
# **How many of your 400 merges will it learn as well?** One thing is different: if two pairs are equally frequent, it
# doesn't take the larger one.

# %%
guess_overlap = None  # a number from 0 to 400

shared = None
if try_to_import("tokenizers") is not None:
    theirs = lab.library_merges(known, len(merges))
    pairs = enumerate(zip(merges, theirs, strict=False))
    differs = next((i for i, (a, b) in pairs if a != b), len(merges))
    shared = round(len(merges) * lab.overlap(merges, theirs))
    print("your guess:", guess_overlap)
    print(f"merges that both learnt: {shared} of {len(merges)}")
    print(f"the first {differs} merges are the same, in the same order")
    both = [lab.tokens_per_word(apply_merges, unread, one) for one in (merges, theirs)]
    print(f"tokens per word in the unread part: yours {both[0]:.3f}, theirs {both[1]:.3f}")

# %% [markdown]
# <details><summary>Open this once you have run the cell (with `tokenizers` installed)</summary>
#
# **What you should see**
#
# - 98% of your merges are among the library's. <!-- claim: library_overlap -->
# - Its merges and yours cut the unread part into the same number of tokens, to within 1%. <!-- claim: library_cuts_alike -->
#
# One tie that is broken differently shifts everything after it, so the *order* soon differs. What is learnt is almost
# the same.
# </details>
#
# ### A few tokens do most of the work
#
# A **token-frequency table** counts how often each token is used. It is worth a look before you train, since
# it shows what is wasted. **How many of our 426 tokens (26 letters and 400 merges) make up half of the tokens in the novel's words?**

# %%
guess_half = None  # a number

used = lab.token_counts(words, pieces)
ranked = used.most_common()
running = np.cumsum([count for _, count in ranked]) / sum(used.values())
half = int(np.argmax(running >= 0.5)) + 1
print(f"your guess: {guess_half}, it is: {half} of {len(known_tokens)}")
rarely = sorted(known_tokens, key=lambda token: used[token])[:8]
print("the rarest:", ", ".join(f"{token} ({used[token]})" for token in rarely))
rows = [(token, count, f"{count / sum(used.values()):.1%}") for token, count in ranked[:8]]
display(pd.DataFrame(rows, columns=["token", "how often", "share"]))
lab.ranks_chart([count for _, count in ranked])

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - 48 of the 426 tokens, about one in nine, make up half of all the tokens that the novel's words are cut into. <!-- claim: few_tokens_do_half -->
#
# </details>
#
# Some tokens are hardly ever used: they were steps on the way to longer ones. Each of them still takes up a row in
# a model's table of embeddings.
#
# Our tokenizer is small, but it is a real one. Here is what others do.
#
# | question | what real tokenizers do |
# |---|---|
# | unknown characters | GPT-2 merges the 256 bytes themselves; Llama merges characters and falls back to bytes, like you; BERT writes `[UNK]` |
# | capitals and accents | some convert everything to lower case, and can't bring it back; others keep everything |
# | where does a word end? | a mark: `</w>` at its end, or a space that belongs to the next word, as in `·whale` |
# | special tokens | padding, CLS (BERT puts it *first*), start, end, mask: ids that no text *should* produce. In many libraries the text `[CLS]` does, and then a user can slip instructions in |
# | rare tokens | a minimum frequency for pairs, so that accidents aren't learnt |

# %% [markdown]
# ## The bug clinic
#
# A colleague wrote a tokenizer for words. It is neat and short. Read it. Is anything wrong?


# %%
def tidy_encode(text):
    """The words of a text, as ids."""
    return [tidy_words.get(word, 0) for word in text.lower().split()]


def tidy_decode(ids):
    """Ids back to a text."""
    return " ".join(tidy_symbols[place] for place in ids if place)


different = dict.fromkeys(novel.lower().split())
tidy_words = {word: place for place, word in enumerate(different, start=1)}
tidy_symbols = {place: word for word, place in tidy_words.items()}

# %% [markdown]
# It raises no errors. **How many of these five texts come back unchanged?**

# %%
guess_survivors = None  # a number from 0 to 5

samples = [
    "call me ishmael.",
    "Call me Ishmael.",
    "some years ago,  or more",
    "a white transformer",
    "the sea\nthe sea",
]
came_back = [tidy_decode(tidy_encode(text)) for text in samples]
survivors = sum(a == b for a, b in zip(samples, came_back, strict=True))
print("your guess:", guess_survivors, " it is:", survivors)
pd.DataFrame({"text": map(repr, samples), "came back as": map(repr, came_back)})

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - One of the five texts comes back unchanged. <!-- claim: tidy_loses -->
#
# Capitals, double spaces, unknown words and line breaks are lost, and nothing complained.
# A model trained on this never sees a capital. And no loss will tell you, since the loss compares ids with ids.
# </details>

# %% [markdown] exercise="round_trips" kind="core" difficulty=2 minutes=10
# Write the test that would have caught it. It is given `encode`, `decode` and a text.
#
# ![A text goes through encode and becomes ids, then through decode and becomes a text again. The question: is it the same text, character by character?](picture:round_trip)
#
# | tokenizer | text | answer |
# |---|---|---|
# | your characters | `Call me Ishmael.` | True |
# | tidy | `call me ishmael.` | True, on this text |
# | tidy | `Call me Ishmael.` | False: lower-case letters came back |
# | one that raises an error | any | False: nothing came back |
#
# Note the last row. When a tokenizer raises an error, your test must not stop with it.
#
# <details><summary>Hint 1</summary>
#
# Which two things must be equal? Is it enough if they have the same length?
# </details>
# <details><summary>Hint 2</summary>
#
# Compare texts, not ids: a damaged text matches its own ids. And catch whatever goes wrong.
# </details>
# <details><summary>Hint 3</summary>
#
# `try:` with one call inside the other, then `except Exception:` with its own answer.
# </details>
#
# Docs: [handling exceptions](https://docs.python.org/3/tutorial/errors.html#handling-exceptions).

# %% [markdown]
# **What you've built.** A test for tokenizers. Let's try four of them on four texts. **Which ones bring back every
# text?**


# %%
patients = {
    "tidy words": (tidy_encode, tidy_decode),
    "your characters": (
        lambda text: encode(text, novel_vocabulary),
        lambda ids: decode(ids, novel_vocabulary),
    ),
    "your byte pairs": (
        lambda text: byte_pair_ids(text, merges, byte_vocabulary),
        lambda ids: ids_to_text(ids, byte_vocabulary),
    ),
    "bytes alone": (lambda text: list(text.encode()), lambda ids: bytes(ids).decode()),
}

# %% [markdown]
# Now your test tries each of them on each text.

# %%
tried = ["call me ishmael.", "Call me Ishmael.", "two  spaces", "a naïve whale"]
verdicts = {
    name: ["yes" if round_trips(one, other, text) else "no" for text in tried]
    for name, (one, other) in patients.items()
}
pd.DataFrame(verdicts, index=[repr(text) for text in tried]).T

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - Byte pairs and bytes bring back all four texts; the novel's characters stop at the letter "ï". <!-- claim: who_passes -->
#
# The character tokenizer rejects what it doesn't know, which is honest. Bytes alone lose nothing either, but they need
# an id for every single letter. Your byte pairs lose nothing, and their rows are shorter.
# </details>

# %% [markdown]
# ## Explain it
#
# A friend trains a model on program code, with a tokenizer made for news. It was tested on lower-cased
# news, and all the texts came back. But the model's programs are never indented, and its variable names are all in lower case.
#
# Answer in four or five sentences, in your own words. What has probably happened, why did nobody notice, which test
# would have shown it, and what kind of tokenizer would you suggest?

# %% [markdown] explain=true
# The tokenizer probably converts letters to lower case and splits at white space, so indentation and capitals are lost
# when a text is encoded. The model never saw them, so it can't write them. Nobody noticed because no step raised an error,
# the loss only compares ids with ids, and the news texts used for testing were in lower case, probably with single spaces.
# A round trip on the real data would have shown it: encode a program, decode it, and compare character by character.
# I would suggest byte pairs learnt from program code, starting from bytes, with spaces and line breaks kept as tokens, so
# that every program can be written and brought back.

# %% [markdown]
# ## How good were your guesses?
#
# Here are your guesses next to what happened. A wrong guess is worth more than none: it shows you where to look.

# %%
few = [n for n, length in zip(steps, unread_lengths, strict=True) if length < 2]
enough = min(few, default="more than 400")
board = [
    ("'the longer number wins'", guess_longer, round(baselines["longer operand wins"], 2)),
    (
        "'the larger first digit wins', equal lengths",
        guess_first_digit,
        round(on_equal["larger first digit wins"], 2),
    ),
    ("careless test texts that leaked", guess_leaked, leaked),
    ("most frequent character", guess_frequent, top[0]),
    ("TextVectorization on 321-4", guess_layer, layer_choice),
    ("best way to feed tokens", guess_best, max(by_way, key=by_way.get)),
    ("worst way", guess_worst, min(by_way, key=by_way.get)),
    ("quantities, ids in order", guess_in_order, round(ordered["ids as quantities"], 2)),
    ("share of new words", guess_unknown, round(unknown, 2)),
    ("a a a after the merge", guess_run, three),
    ("first pair", guess_first, "".join(merges[0])),
    ("merges that the library learns too", guess_overlap, shared, 20),
    ("merges for fewer than 2 tokens per word", guess_merges, enough),
    ("ids for Call me Ishmael.", guess_ids, len(sentence_ids)),
    ("ids for the novel", guess_novel_ids, len(byte_ids)),
    ("tokens that make up half of the words", guess_half, half),
    ("texts that survive the tidy tokenizer", guess_survivors, survivors),
]
guesses.board(board)

# %% [markdown]
# ## Recap
#
# Answer from memory, then check.
#
# **1.** Why is id 0 reserved, and where are padding and the CLS token in our rows?
#
# <details><summary>Answer</summary>
#
# Id 0 is padding: it fills up rows and means nothing. The text comes first, then padding, and the CLS token is last, at
# index -1, where a classifier reads its answer.
# </details>
#
# **2.** Why are there no unknown words for byte pairs?
#
# <details><summary>Answer</summary>
#
# Every word starts as characters, and merges only join them. A new word falls into smaller pieces, at worst into letters,
# and an unknown letter falls into its bytes.
# </details>
#
# **3.** A model reaches 84% on "is the first number larger?". What do you ask before you celebrate?
#
# <details><summary>Answer</summary>
#
# What trivial rules score: "the longer operand wins" gets about 84%. And whether test texts also appear in the training data.
# </details>
#
# ## Things to try
#
# - Draw the difference task with `max_digits=6`. What does "the longer operand wins" score then, and why?
# - Give the experiment with one-hot tokens only 200 training texts. Does it still beat the baseline?
# - Learn 400 merges from a list of *different* words, `list(set(known))`. Which tokens appear that weren't there before?
# - Break ties by taking the smaller pair. How many merges change? Does the number of tokens per word change?
# - Cut German or French words with merges learnt from the English novel. How many tokens do they need?
# - Learn merges from words with a space in front, such as `" whale"`. How many ids does the novel need then?
#
# ## Glossary
#
# | word | meaning |
# |---|---|
# | batch | texts that go through a network together, one in each row |
# | byte | a number from 0 to 255; UTF-8 stores each character in one to four of them |
# | byte-pair encoding, BPE | learning tokens by merging the most frequent pair of neighbours, again and again |
# | CLS | a token of its own at which a classifier reads its answer |
# | corpus | the texts from which something is learnt |
# | encode, decode | from text to ids, from ids to text |
# | id | the number of a symbol in the vocabulary; a name, not a quantity |
# | leak | test examples that also appear in the training data |
# | merge | a learnt pair of tokens to join |
# | one-hot | one number for each possible id: a single 1 among zeros |
# | padding | what fills rows up to the same length, with id 0 |
# | subword | a token between a character and a word |
# | token | a piece of text that has an id |
# | unknown, `[UNK]` | whatever isn't in a vocabulary, and the id that some tokenizers give to all of it |
# | vocabulary | which symbol has which id |
#
# ## Papers and books
#
# - Sennrich, Haddow, Birch, [Neural Machine Translation of Rare Words with Subword Units](https://arxiv.org/abs/1508.07909), ACL 2016: section 3.2 is the algorithm you wrote.
# - Gage, "A New Algorithm for Data Compression", *The C Users Journal* 12(2), 1994: byte pairs before anyone fed them to a network.
# - Vaswani and others, [Attention Is All You Need](https://arxiv.org/abs/1706.03762), NeurIPS 2017: section 5.1, byte pairs with about 37,000 tokens.
# - Devlin and others, [BERT](https://arxiv.org/abs/1810.04805), NAACL 2019: section 3, where the CLS token goes and what it is for.
# - Radford and others, "Language Models are Unsupervised Multitask Learners", 2019: section 2.2, byte pairs that start from bytes.
# - Kudo, Richardson, [SentencePiece](https://arxiv.org/abs/1808.06226), EMNLP 2018: section 3.1, decoding that loses nothing, not even spaces.
# - Xue and others, [ByT5](https://arxiv.org/abs/2105.13626), TACL 2022: what happens if you leave bytes as they are.
#
# In lesson 3 these tokens meet attention, and you'll see whether it can tell 321 from 4.
