# ---
# title: Circuits
# topic: open a small Transformer and find out how it works
# group: Beyond
# picture: The moment it clicks
# sittings: [85, 90]
# builds_on: [03_classification_transformer, 05_causal_masks]
# gives:
#   - say in numbers what each head of a model looks at
#   - take heads out, and tell sound code for that from code that fools you
#   - find out what a head writes, and what it votes for
#   - show which head did it, and where, by putting its result into another run
#   - read from a model's states what it knows, with the controls that such a claim needs
# ---

# %% [markdown]
# TITLE
#
# Here is a row of random letters, and then the beginning of the same row: `k m t f a k m t`. What comes next?
#
# An f, of course: after t came f. In a moment you'll train a Transformer to see that. It has two layers of attention and
# nothing else, no feed-forward network, and only four heads. For a while it learns next to nothing. Then something
# clicks, and soon it copies most of every row.
#
# **What clicks?** A loss curve can't tell. You'll open the model and find out: what each head looks at, what is left without
# it, what it writes, and what happens when you put its result into another run. At the end you'll do the same to the adder of
# [lesson 14](../14_length_generalization/14_length_generalization.ipynb), and find its carry.
#
# ![The letters k m t f a, and then the same five letters again. In the second copy, all but the first are framed: these can be known.](picture:a_row_twice)
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
# **1.** In a matrix of attention weights, what do the rows stand for, and what does each row add up to?
#
# <details><summary>Answer</summary>
#
# A row is a position that looks, and its weights add up to 1. See `scaled_dot_product_attention` in
# [lesson 3](../03_classification_transformer/03_classification_transformer.ipynb).
# </details>
#
# **2.** Behind a causal mask, which positions can position 4 look at?
#
# <details><summary>Answer</summary>
#
# Positions 0 to 4: itself, and what came before. See `causal_mask` in
# [lesson 5](../05_causal_masks/05_causal_masks.ipynb).
# </details>
#
# **3.** A block computes `x + attention(norm(x))`. What does the `x +` do for a layer that has nothing to say?
#
# <details><summary>Answer</summary>
#
# It passes x on as it is. That is the residual. See `EncoderBlock` in
# [lesson 3](../03_classification_transformer/03_classification_transformer.ipynb).
# </details>
#
# Two out of three? Go on. Fewer? Read the linked pages first, then come back.
#
# Run the next cell first: it loads the tools.

# %% setup=true
from collections.abc import Callable, Sequence

import torch
from IPython.display import display

from transformer_course import guesses, plots
from transformer_course.circuits.model import Edit
from transformer_course.lessons.lesson_15 import experiments as lab

torch.set_num_threads(1)  # on a shared machine, two threads can be ten times slower than one

# %%
guess_needed = None  # how many of the four heads does the model need to copy well? 1, 2, 3 or 4

# %% [markdown]
# ## The moment it clicks
#
# The alphabet has 32 symbols, so that the model can read a text later: 26 letters, a space, and `.,-'?`. A training row
# has 6 to 16 random symbols, which then come a second time, with random symbols in front up to a length of 32. Each step
# brings new rows, so there is nothing to learn by heart. We test on rows of 16. With chance alone, one symbol in 32 would
# be right.
#
# Training takes about a quarter of a minute. We measure every 50 steps. **How many steps does it take from 20% right to
# 70%?**

# %%
guess_click = None  # steps, for example 400

model, diary = lab.learn_to_copy(num_layers=2)
click = diary.first("copied right", 0.7) - diary.first("copied right", 0.2)
print(f"your guess: {guess_click}, it is: {click} of {diary.steps[-1]} steps")
diary.curves("The moment it clicks", "copied right")

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - After 1,500 steps, 97 to 99% of the symbols in the second copy are right. <!-- claim: two_layers_copy -->
# - Most of it comes within 50 to 200 steps: from below 20% to above 70%. <!-- claim: it_clicks -->
#
# After that it stays at about 85% for several hundred steps, and then it rises again. So there seem to be two clicks.
# Keep that in mind.
# </details>
#
# Now for the control: the same model with a single layer of two heads. It gets twice as many steps. **What share will it
# copy?**

# %%
guess_one = None  # a share, for example 0.5

shallow, shallow_diary = lab.learn_to_copy(num_layers=1, steps=3000, every=250)
one_layer = shallow_diary.lines["copied right"][-1]
print(f"your guess: {guess_one}, it is: {one_layer:.2f}")
shallow_diary.curves("One layer", "copied right")

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - With one layer, 40% at most are right after 3,000 steps, and there is no click. <!-- claim: one_layer_does_not -->
#
# - What it gets right is at the beginning: 90% or more of the first two symbols, and 15% at most of the last five. <!-- claim: one_layer_guesses_the_distance -->
#
# So it guesses how far back the first copy is. Only the longest rows begin that early, so there the distance is known;
# later on it could be anything from 6 to 16. But whatever two layers do in a hundred steps, one can't do. Why should it
# take two? Let's look.
# </details>
#
# ## What do the heads look at?
#
# There are two heads in layer 0 and two in layer 1. We call them 0.0, 0.1, 1.0 and 1.1. Here is what they look at in a
# text that comes twice. Try a text of your own: the model has never seen anything but random letters, but it will read
# it.

# %%
text = "the quick fox. the quick fox."  # up to 32 letters
for layer, head in lab.names(model):
    display(lab.attention_on_text(model, text, layer, head))
print(lab.guessed_text(model, text))

# %% [markdown]
# The last two lines are the text and, below each letter, what the model expected there. It has no idea of English. Yet
# where something comes a second time, it knows how to go on. How far back? In training, a symbol and its copy were never
# more than 16 positions apart.

# %%
for between in (4, 8):
    share = lab.with_others_between(model, between)
    print(f"twelve symbols, {between} others, the twelve again: {share:.2f} are right")

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - With four others in between, so 16 apart, 97% or more are right. With eight, so 20 apart, it's 55 to 75%, depending on the seed. <!-- claim: it_learnt_sixteen_back -->
#
# So don't be disappointed if your text fails: `mr. dursley and so mr. dursley` is too far apart. Length generalisation is
# another lesson, the one before this.
# </details>
#
# A picture of one text proves little. Let's turn what you see into a number for each head.

# %% [markdown] exercise="previous_token_score" kind="core" difficulty=1 minutes=5
# One of these pictures has a bright line right below its diagonal: each position looks at the one before it. How much of its
# attention does a head give to that?
#
# For example: with the rows `1 0 0`, `0.5 0.5 0` and `0.1 0.9 0`, the second position gives 0.5 to the first, and the third
# gives 0.9 to the second. The mean is 0.7. The first position has nothing before it, so it doesn't count.
#
# <details><summary>Hint 1</summary>
#
# Which entries of the matrix are [q, q - 1]? Where do they lie?
# </details>
# <details><summary>Hint 2</summary>
#
# `diagonal` takes an offset, and the two axes in which to look for the diagonal.
# </details>
# <details><summary>Hint 3</summary>
#
# `weights.diagonal(offset=?, dim1=-2, dim2=-1)` is (batch, heads, length - 1). Take its mean over two axes.
# </details>
#
# Docs: [diagonal](https://pytorch.org/docs/stable/generated/torch.diagonal.html).

# %% [markdown] exercise="follower_mask" kind="core" difficulty=3 minutes=15
# The heads of layer 1 do something stranger. They look at what *came after* the letter that is read now, when it was there
# before. Let's call these positions its **followers**.
#
# ![Left: t f a m t. When the last t is read, its follower is position 1, the f. Right: b a b b. When the last b is read, its followers are position 1, the a, and position 3, that b itself.](picture:followers)
#
# Position $k$ is a follower of position $q$ when
#
# $$k - 1 < q \quad\text{and}\quad \text{token}_{k-1} = \text{token}_q$$
#
# A token that occurred several times has several followers. The rule knows nothing about copies, so it holds for any text.
#
# <details><summary>Hint 1</summary>
#
# First find the earlier positions that hold the same token. How far is each of them from its follower?
# </details>
# <details><summary>Hint 2</summary>
#
# `tokens.unsqueeze(2) == tokens.unsqueeze(1)` compares every position with every other. Keep what lies below the
# diagonal. Then move it all one column to the right.
# </details>
# <details><summary>Hint 3</summary>
#
# `followers = torch.zeros_like(?)`, and then `followers[:, :, ?:] = (same & earlier)[:, :, :?]`.
# </details>
#
# Docs: [tril](https://pytorch.org/docs/stable/generated/torch.tril.html).

# %% [markdown] exercise="attention_on" kind="core" difficulty=2 minutes=10
# Last, how much attention does a head give to such positions? Add up what a position gives to all of its targets. Then
# take the mean over those positions that have one.
#
# For example: a position gives `0.1 0.7 0.2` to three others, and the last two are its targets. That makes 0.9. Positions
# without a target don't count, neither as a zero nor otherwise.
#
# <details><summary>Hint 1</summary>
#
# How many positions have a target at all? That is what the sum is divided by.
# </details>
# <details><summary>Hint 2</summary>
#
# The weights have an axis for heads, and the targets don't. `unsqueeze` gives them one. A product of the two keeps what
# falls on targets.
# </details>
# <details><summary>Hint 3</summary>
#
# `(weights * targets.unsqueeze(?)).sum(dim=-1)`, and divide by `targets.any(dim=-1).sum().clamp(min=?)`.
# </details>
#
# Docs: [any](https://pytorch.org/docs/stable/generated/torch.any.html) ·
# [clamp](https://pytorch.org/docs/stable/generated/torch.clamp.html).

# %% [markdown]
# **What you've built.** Three measures that name heads. Olsson and others (2022) call a head that looks at the position
# before a **previous-token head**, and one that looks at followers an **induction head**. In this table, each row is a
# head, and each column says how much of its attention goes where. "Two before" is the position before the one before.
#
# One head of layer 0 isn't a previous-token head. Look at its picture again before you run the next cell. **What does it
# look at?**

# %%
guess_other = None  # "followers", "two before" or "neither"

tools = lab.Tools(previous_token_score, follower_mask, attention_on)
table = lab.scores(model, tools)
previous = lab.previous_token_head(model, tools)
other = (0, 1 - previous[1])
seen = table.loc[lab.name_of(*other)]
looks_at = seen.idxmax() if seen.max() > 0.4 else "neither"
print(f"your guess: {guess_other}, it is: {looks_at}")
table.round(2)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - One head of layer 0 gives 93% of its attention to the position before. The other gives more than 60% to two positions before. <!-- claim: layer_0_looks_back -->
# - Both heads of layer 1 are induction heads: 88% or more of their attention goes to followers. <!-- claim: layer_1_looks_at_followers -->
#
# (With one of five seeds, the two-before head came out less clear, with 46%. Which of the two heads takes which job is up
# to chance.)
#
# When was each of them there? Below, the clicks and the heads are in one plot.
# </details>

# %%
diary.curves("Heads, while the model learns", "copied right", "previous token", "two back", "follower")

# %% [markdown]
# A bright picture is a hint, not a proof. A head may look somewhere and do nothing with it. So take it out, and see what
# is lost.
#
# ## Take heads out

# %% [markdown] exercise="without_heads" kind="core" difficulty=2 minutes=10
# The model lets you in at one place. Just before a layer joins the results of its heads, it calls an **edit**, if you give it
# one: `edit(layer, heads)`. Whatever the edit returns is what the layer goes on with.
#
# To take a head out, return zeros in its place. This is called **ablation**.
#
# ![Two heads of two tokens each go through an edit. Head 0 comes out as it was; all numbers of head 1 have become zero.](picture:a_head_taken_out)
#
# Your function is given the heads that should go, and returns an edit. Leave the tensor that the edit receives as it is:
# somebody else may need it.
#
# <details><summary>Hint 1</summary>
#
# A function may define another one inside, and return it. The inner one still knows `which`.
# </details>
# <details><summary>Hint 2</summary>
#
# Make a copy first. Then go through the pairs, and look whether their layer is the one that asks. What if none is?
# </details>
# <details><summary>Hint 3</summary>
#
# `edited = heads.clone()`, and for each pair of this layer `edited[:, ?] = 0`. The inner function returns `edited`, the
# outer one returns `edit`.
# </details>
#
# Docs: [clone](https://pytorch.org/docs/stable/generated/torch.clone.html).

# %% [markdown] exercise="ablation_is_sound" kind="core" difficulty=3 minutes=25
# This is the bug clinic. An ablation is four lines of code, and it is wrong more often than you'd think: nothing crashes,
# and a number comes out. So before you believe anybody's number, test their code.
#
# You get a function `run(tokens, which)`, which says what each head has written into the stream, with or without the
# heads in `which`. You can't read it, but you can run it as often as you like. What must be true if it takes out one
# head, and nothing else?
#
# - The head writes nothing, at no position of any row.
# - The other heads of its layer, and those of earlier layers, can't know that it is gone.
# - Later layers can't miss it. They read a stream in which something is missing.
# - Afterwards everything is as it was.
#
# <details><summary>Hint 1</summary>
#
# You need three runs: before, without the head, and after. Which of them should agree in what?
# </details>
# <details><summary>Hint 2</summary>
#
# Copy what the first run returns, and set the head to zero in the copy of its layer. That is what the second run should
# return there.
# </details>
# <details><summary>Hint 3</summary>
#
# `wanted = before[?].clone()`, `wanted[:, ?] = 0`. Two tensors are the same when `(one - other).abs().max() <= 1e-5`.
# Layers up to `layer` should be the same, those from `layer + 1` on shouldn't.
# </details>

# %% [markdown]
# **What you've built.** A test for other people's ablations. Here are four, A to D, all written to take heads out of your
# model. Each is asked to take out the previous-token head, and then, in a second run, head 1.0. **Which of the four are
# sound?**

# %%
guess_sound = None  # letters in order, for example "AC"

rows = lab.new_rows(3, 4)
sound = {}
for name, way in lab.ways_to_take_out(model).items():
    sound[name] = ablation_is_sound(lambda tokens, which, way=way: way(tokens, which)[1], rows, *previous)
sound_ways = "".join(name for name, passes in sound.items() if passes)
print(f"your guess: {guess_sound}, it is: {sound_ways}")
lab.verdicts(model, sound, [previous, (1, 0)])

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - Only A is sound. <!-- claim: one_of_four_is_sound -->
# - B and D say that the model copies just as well without its previous-token head. C says that it fails without head 1.0. All of that is false. <!-- claim: unsound_code_misleads -->
#
# B takes the head out at the last position and nowhere else. C sets weights to zero and never brings them back, so its
# second answer is about a model without two heads. D takes the head out of the report, while the model goes on as before.
# You'd have published "this head doesn't matter".
# </details>
#
# Now with sound code, yours. The row "layer 1" is without both of its heads, and the columns split the symbols by how
# often the symbol that is read occurs in the row of sixteen: once, or more often. **What share is right without both
# heads of layer 1, and which column suffers without the other head of layer 0?**

# %%
guess_both = None  # without both heads of layer 1: a share
guess_suffers = None  # "once" or "more"

tools = lab.Tools(previous_token_score, follower_mask, attention_on, without_heads)
left = lab.taken_out(model, tools)
without_both = float(left.loc["layer 1", "all"])
lost = left.loc["nothing"] - left.loc[lab.name_of(*other)]
suffers = lost[["once", "more"]].idxmax()
print(f"your guess: {guess_both}, it is: {without_both:.2f}")
print(f"your guess: {guess_suffers}, it is: {suffers}")
left.round(2)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - Without the previous-token head, 20% at most are right. <!-- claim: the_previous_token_head_is_needed -->
# - Without one induction head, 90% or more are still right; without both, 5% at most. <!-- claim: induction_heads_stand_in -->
# - Without the other head of layer 0, symbols that come once lose next to nothing, and the others fall from about 95% to about two thirds. <!-- claim: two_before_settles_ties -->
#
# (With the seed whose two-before head was less clear, it's about a third without the previous-token head: there, the two
# share its job.)
#
# Each of the three teaches something. The previous-token head is *needed*, though it doesn't look at what is to be copied.
# Something else has to use what it writes.
#
# One at a time, no head of layer 1 seems to matter. **A head that can be taken out isn't a head that does nothing**: the
# other one stands in for it. Had you only ever taken out one at a time, you'd have concluded that layer 1 is idle.
#
# And the other head of layer 0 settles ties. If a row has `t` twice, as in `tf...ta`, then a `t` has two followers, and
# which is right depends on what came *before* the `t`. That is two positions before the follower.
#
# That was the second click. Look at it:
# </details>

# %%
diary.curves("The second click", "after symbols that come once", "after all others", "previous token", "two back")

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - At step 700, after the first click, 98% or more are right after symbols that come once, and 75% at most after the others. <!-- claim: first_the_easy_ones -->
# - The others follow as the two-before head forms. <!-- claim: then_the_ties -->
#
# So 85% wasn't "nearly there". It was a complete circuit, faced with a problem that it couldn't solve. And ties are common:
# with 32 symbols and rows of 16, more than a third of the symbols that are read occur in the row more than once.
# </details>
#
# ## Time for a break
#
# This is a good place to stop for today. You know where heads look, and which are needed. What follows is what they
# write, and the proof.

# %% [markdown]
# ## What the heads write

# %% [markdown] exercise="head_writes" kind="core" difficulty=2 minutes=10
# A layer joins its heads and sends them through one Linear layer, so it looks as if they were mixed. They aren't. Head
# $h$ comes in at its own block of columns, and a matrix product is a sum over columns:
#
# $$W\,[z_0, z_1, \dots] = W_0 z_0 + W_1 z_1 + \dots$$
#
# ![A matrix of four by four. Its first two columns belong to head 0, its last two, framed, to head 1. There is a row for each number of the stream.](picture:blocks_of_columns)
#
# So each head writes into the residual stream by itself, and what they write is added up (Elhage and others 2021). Write
# down what each of them adds.
#
# <details><summary>Hint 1</summary>
#
# Which columns of the weight belong to head 0, if d_head is 16? And to head 1?
# </details>
# <details><summary>Hint 2</summary>
#
# `weight.reshape(d_model, num_heads, d_head)` cuts the columns into blocks. A Linear layer multiplies by the transpose of its
# weight.
# </details>
# <details><summary>Hint 3</summary>
#
# `torch.einsum("bhnd,m?d->bhnm", heads, blocks)`.
# </details>
#
# Docs: [einsum](https://pytorch.org/docs/stable/generated/torch.einsum.html).

# %% [markdown]
# **What you've built.** The model's answer, taken apart. The read-out is a Linear layer too, so each logit is a sum over
# what was written: by the embedding, by each of the four heads, and by biases, which are the same whatever the text. By how much does each of them push the right symbol
# above the average one? **Which heads push?**

# %%
guess_pushing = None  # "layer 0", "layer 1" or "both"

tools = lab.Tools(previous_token_score, follower_mask, attention_on, without_heads, head_writes=head_writes)
pushes = lab.votes(model, tools)
strong = {name[0] for name, push in pushes.items() if push > 1}
pushing = {"0": "layer 0", "1": "layer 1", "01": "both"}.get("".join(sorted(strong)))
print(f"your guess: {guess_pushing}, it is: {pushing}")
plots.bars(pushes, title="Who pushes the right symbol up?", x_label="logits above the average")

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - The heads of layer 1 push the right logit up, by 4 to 8 each. Those of layer 0 and the embedding do next to nothing. <!-- claim: only_layer_1_pushes -->
#
# And yet you have seen that without the previous-token head, hardly anything is right. So it doesn't speak to the
# read-out. It must be speaking to layer 1.
# </details>

# %% [markdown] exercise="ov_circuit" kind="core" difficulty=3 minutes=15
# A head does two things that have little to do with each other. Queries and keys decide *where* it looks. Values and
# output decide *what it says* about a symbol once it looks there. The second is called its **OV circuit**, and for
# symbols it is one matrix: a row for the symbol that is attended to, a column for the symbol that is voted for.
#
# Follow a symbol: its vector is read by `value`, head $h$ takes its block, the block goes through the head's columns of
# `output`, and the result through the read-out. All of these are matrix products, and biases are left out.
#
# <details><summary>Hint 1</summary>
#
# In PyTorch, a Linear layer computes `x @ weight.T`. What shapes do you get on the way, for all symbols at once?
# </details>
# <details><summary>Hint 2</summary>
#
# What a head has read is a block of `embedded @ value.T`. What a logit makes of a block is in `readout @ output`: a row
# for each symbol, a block of columns for each head.
# </details>
# <details><summary>Hint 3</summary>
#
# Make both (vocab_size, heads, d_head) with `reshape(-1, num_heads, d_head)`. Then join them with
# `torch.einsum("shd,thd->h??", read, votes)`.
# </details>

# %% [markdown]
# **What you've built.** What a head would say about each symbol. (We pass in symbols as they come from the embedding,
# after the norm. In the model, layer 1 sees more than that, so this is an approximation.) If a head copies, a symbol
# votes for itself: the diagonal is bright. **For what share of the 32 symbols is the symbol itself the one that head 1.0
# votes for most? And in a model that wasn't trained?**

# %%
guess_copying = None  # a share, for example 0.5

tools = lab.Tools(
    previous_token_score, follower_mask, attention_on, without_heads, head_writes=head_writes, ov_circuit=ov_circuit
)
circuit = lab.circuits_of(model, 1, tools)
copying = lab.copying_share(circuit[0])
untrained = lab.copying_share(lab.circuits_of(lab.new_model(2, seed=1234), 1, tools)[0])
print(f"your guess: {guess_copying}, it is: {copying:.2f} (untrained: {untrained:.2f})")
letters = [letter.replace(" ", "_") for letter in lab.SYMBOLS]
plots.heatmap(circuit[0], letters, letters, title="Head 1.0: what it votes for", rows="attends to", columns="votes for")

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - Both heads of layer 1 vote most for the symbol that they attend to, for every one of the 32 symbols. Untrained, a head does so for about one of them, which is chance. <!-- claim: induction_heads_copy -->
#
# "Look at what came after this symbol, and say it": that is the whole of layer 1. How does it find it? At the second `t`,
# a head has to look for a position that came after a `t`. The token there is an `f`, and an `f` knows nothing of `t`.
# Unless somebody told it.
# </details>
#
# ## The proof
#
# Here is our suspicion, as a drawing. The previous-token head writes into each position which symbol came before. An
# induction head looks for that.
#
# ![The row k t f a m k t. An arrow leads from t to a note at f: "t came before me", written by layer 0. At the second t, a head of layer 1 asks who came after a t, finds the note, and predicts f.](picture:the_circuit)
#
# That explains why it takes two layers: the second uses what the first has written. And it can be tested. If the drawing
# is right, it isn't the head as a whole that matters, but what it does at *one* position.

# %% [markdown] exercise="patch_heads" kind="core" difficulty=3 minutes=15
# Take two rows. In the clean one, `t` is followed by `f`, and `s` by `a`. In the corrupted one, `t` and `s` have changed
# places, so an `a` should follow the last `t`. Run the corrupted one, but at one head and one position put in what the
# head did in the clean run. This is called **patching**. Does the `f` come back?
#
# ![The clean row x t f m s a g t, to be continued by f, and the corrupted row x s f m t a g t, to be continued by a. What a head did at the f in the clean run is put into the corrupted one.](picture:two_runs)
#
# Your function returns an edit again. This time it is told which positions to put in, too.
#
# <details><summary>Hint 1</summary>
#
# It is `without_heads` with two changes. What takes the place of the zeros, and where?
# </details>
# <details><summary>Hint 2</summary>
#
# `None` and an empty list aren't the same: one means all positions, the other none. `clean` has an entry for each layer.
# </details>
# <details><summary>Hint 3</summary>
#
# `edited[:, head, place] = clean[?][:, head, place]`, for each pair of this layer and each position.
# </details>

# %% [markdown] exercise="recovered" kind="core" difficulty=2 minutes=10
# How much has come back? The share of right answers is too coarse: half an effect may change no answer. Compare two
# logits instead, that of the right symbol and that of the wrong one. With $D$ for the mean of their difference,
#
# $$\text{recovered} = \frac{D_{\text{patched}} - D_{\text{corrupted}}}{D_{\text{clean}} - D_{\text{corrupted}}}$$
#
# For example: if $D$ is 4 in the clean run, -4 in the corrupted one, and 2 after a patch, then 6 of 8 have come back: 0.75.
#
# <details><summary>Hint 1</summary>
#
# How do you pick one logit from each row, a different one each time?
# </details>
# <details><summary>Hint 2</summary>
#
# Write a small function for $D$, and call it three times. `logits[rows, right]` picks one entry a row, if `rows` counts them.
# </details>
# <details><summary>Hint 3</summary>
#
# `(logits[rows, ?] - logits[rows, ?]).mean()`, and `.item()` at the end.
# </details>

# %% [markdown]
# **What you've built.** An experiment that points at a place. We use 128 pairs of rows. The symbol that is read last
# is at position 5 of the first copy; it has changed places with the symbol at position 11. The corrupted run says
# "what came after position 11". **At which position does the previous-token head have to be put in, to bring back most of
# the clean answer?**

# %%
guess_place = None  # a position from 0 to 21

tools = lab.Tools(
    previous_token_score, follower_mask, attention_on, without_heads, patch_heads, recovered, head_writes, ov_circuit
)
pair = lab.swapped()
back_by_place = [lab.patched(model, pair, [previous], [place], tools) for place in range(pair.clean.shape[1])]
ranked = sorted(range(len(back_by_place)), key=back_by_place.__getitem__, reverse=True)
best_place, best_two = ranked[0], sorted(ranked[:2])
print(f"your guess: {guess_place}, it is: {best_place} ({back_by_place[best_place]:.2f} come back)")
print(f"the best two, {best_two}, together: {lab.patched(model, pair, [previous], best_two, tools):.2f}")
print(f"the other head of layer 0, at all positions: {lab.patched(model, pair, [other], None, tools):.2f}")
lab.patched_everywhere(model, pair, tools)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - The previous-token head brings back 90% or more at position 6, right after the symbol that is asked about, and less than half at position 12, after the other one. Everywhere else it brings back nothing. <!-- claim: one_place_brings_it_back -->
# - At both positions together, it brings back all of it: 99 to 102%. The other head of layer 0, at all positions, brings back 2% at most. <!-- claim: two_places_bring_all_back -->
# - In layer 1, each head brings back about half, at the last position alone. <!-- claim: halves_at_the_end -->
#
# (The two don't add up to 100%. With the note at position 6 restored and that at position 12 still there, two positions
# claim to come after a `t`. Their contest is settled by softmax, which isn't a sum.)
#
# That is the drawing, and now it is more than a drawing: this head, at this position, decides which symbol is copied.
# With the seed whose two-before head was less clear, the two heads of layer 0 share the job: 54 and 39% at position 6.
# </details>

# %% [markdown] exercise="linear_probe" kind="core" difficulty=3 minutes=15
# One sentence is left to test: "it writes which symbol came before". Can that be read? A **probe** is a small classifier
# that is fitted to the states of a model whose weights stay as they are (Alain and Bengio 2016). If a *linear* one finds
# the symbol, it is there in a form that the next layer can use.
#
# The best one in the sense of least squares needs no training loop. With a column of ones added to the states, and a
# ridge so that there is always one solution,
#
# $$W = (X^\top X + \lambda I)^{-1} X^\top Y$$
#
# <details><summary>Hint 1</summary>
#
# Y has a column for each class. Which function makes such rows of zeros and a single one?
# </details>
# <details><summary>Hint 2</summary>
#
# Nobody computes the inverse: `torch.linalg.solve(A, B)` finds the W for which A W = B.
# </details>
# <details><summary>Hint 3</summary>
#
# `x = torch.cat([states, torch.ones_like(states[:, :?])], dim=1)`, and `torch.linalg.solve(x.T @ x + ridge * eye, ?)`.
# </details>
#
# Docs: [solve](https://pytorch.org/docs/stable/generated/torch.linalg.solve.html) ·
# [one_hot](https://pytorch.org/docs/stable/generated/torch.nn.functional.one_hot.html).

# %% [markdown]
# **What you've built.** A reader of states. It is fitted to 400 rows and tried on 100 others, and has to say which symbol
# came *before* each position. A number by itself means little, so there are controls: states that can't contain it, the
# same states with a head taken out, a model that was never trained, and labels that were shuffled. **What will the probe
# get after layer 0, in the trained model and in the untrained one?**

# %%
guess_probe = None  # trained: a share
guess_untrained = None  # untrained: a share

tools = lab.Tools(previous_token_score, without_heads=without_heads, linear_probe=linear_probe)
probes = lab.probe_table(model, tools)
probe_trained, probe_untrained = probes["after layer 0"], probes["after layer 0, untrained model"]
print(f"your guess: {guess_probe}, it is: {probe_trained:.2f}")
print(f"your guess: {guess_untrained}, it is: {probe_untrained:.2f}")
plots.bars(probes, title="Which symbol came before?", x_label="share right", levels={"chance": 1 / 32})

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - Before layer 0, the probe finds the symbol before in 5% of cases at most; after it, in 96% or more. Without the previous-token head, it is back to 5%, while the other head makes no difference. <!-- claim: the_note_can_be_read -->
# - With shuffled labels, it gets 3%, which is chance. In a model that was never trained, it gets about 10%. <!-- claim: probes_need_controls -->
# - After layer 1, the symbol before can still be read in more than 90%. Hide what layer 0 wrote from the read-out, and the answers are as good as before. <!-- claim: nobody_reads_the_note_any_more -->
#
# Why 10%? Untrained heads look a little at everything, so a little of every earlier symbol leaks into each state: the
# symbol two before, or five before, can be read about as well. And after layer 1, the note is still there, though nobody
# reads it any more. **A probe finds what is there, not what is used.** So a probe alone proves nothing. Here three things agree: the probe says that it's there, the ablation that it
# is needed, and the patch that it is used at this place.
# </details>
#
# ## The adder, opened
#
# Now for a model that you haven't trained to be taken apart. The adder of lesson 14 writes sums of fifty digits, ones
# first. It has three layers of attention with four heads each: **reading** (the sum), **writing** (over the answer so
# far) and **looking back** (from the answer to the sum). Your edit works on it as it is. Training takes about half a
# minute.
#
# **In which of the three can you take out any one head, and still get more than four out of five sums of twenty digits
# right?**

# %%
guess_spare = None  # "reading", "writing" or "looking back"

adder = lab.adder()
adder_table = lab.adder_without(adder, tools=tools)
singles = adder_table.drop(columns="all four").min(axis=1)
spare = singles.idxmax()
print(f"your guess: {guess_spare}, it is: {spare}")
lab.draw_without(adder_table, title="Sums of twenty digits, without ...")

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - Of the writing heads, any one can go: 85% or more of the sums are still right. Without all four, 30% at most are. <!-- claim: writing_heads_stand_in -->
# - In looking back, each head is needed: without one of them, half at most are right, and mostly far fewer. <!-- claim: looking_back_is_needed -->
#
# (Some of the reading heads are needed: without one of those, hardly a sum is right. Another can go at little cost.
# Which ones they are depends on the seed.)
# </details>
#
# And the carry? To write a digit, the adder needs to know whether one comes into that place. A probe can ask its decoder,
# at each step, at four points on the way. It is fitted to sums of five digits, and tried on other sums of five digits,
# and on sums of thirty. **At which point does the carry appear?**

# %%
guess_carry = None  # "before attention", "after looking at the answer", "after looking back at the sum"

carry_table = lab.carry_probes(adder, tools=tools)
appears = next((point for point, share in carry_table["five digits"].items() if share > 0.95), None)
print(f"your guess: {guess_carry}, it is: {appears}")
carry_table.round(3)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - Before the decoder has looked back at the sum, the probe is right about the carry in 73 to 78% of cases, with shuffled labels in about half. <!-- claim: the_carry_is_half_known -->
# - Right after it has looked back, it's 99% or more, and on sums of thirty digits too, which neither adder nor probe has ever seen. <!-- claim: the_carry_appears -->
# - In an adder that was never trained, it's 82 to 87% at this point. <!-- claim: an_untrained_adder_leaks_too -->
#
# Where do the 75% come from? From the digit that has just been written. If it is a 1, then in about 17 of 20 cases the two
# digits added up to 10 or 11: there is a carry. If it is an 8, they as often added up to 7 or 8. Over all digits, that
# makes 75%, and that is as far as one gets without the sum. Looking back brings in the two digits of the place below, and would settle
# it: an 8 under 3 and 5 means no carry, an 8 under 9 and 9 means one. Even an untrained adder mixes in a little of those
# digits, and the probe makes something of it. So the 99% count for what they are above that control, not above chance.
# (At the end, when the adder only has to name a digit, a little of it is lost again.)
# </details>
#
# Does the adder really do it like that? A probe can't say, but an experiment can. Take a place where the two digits add
# up to 9. If no carry comes in, a 9 is written there, and none goes on. If one comes in, it's a 0, and a carry goes on.
# Now **forge** the answer: where the adder would have written 9, write 0, and the other way round. What it says next
# either goes with the sum, which it can look at, or with what is written, which is false. **Which of the two does it
# believe?**

# %%
guess_belief = None  # "the sum" or "what is written"

beliefs = lab.forged(adder)
belief = max(beliefs, key=beliefs.get)
print(f"your guess: {guess_belief}, it is: {belief}")
print(beliefs)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - In 99% of the cases or more, it believes what is written. <!-- claim: it_believes_what_it_wrote -->
#
# So the adder doesn't hand a carry on, and it doesn't add from below. At each place, it compares the digit that it has
# just written with the two digits above it, and sees whether a carry must have gone on. That takes two places, whatever
# the length of the sum. It is how a model that has seen five digits gets to fifty.
# </details>
#
# ## What carries over to real models, and what doesn't
#
# | here | in a language model |
# |---|---|
# | It clicks: two layers copy, one doesn't | Olsson and others (2022) see a bump in the loss curve of every model with two layers or more, early in training, while induction heads form |
# | Taking out heads proves what they do | In models of attention alone, Olsson and others have such proof. For large models, they say themselves, theirs is mostly correlation |
# | Two heads stand in for each other | Wang and others (2022) found "backup" heads in GPT-2 that take over when others are removed. Taking out one head says too little there, too |
# | A head has one job | Many heads have several, on different texts. "Induction head" is a score, not a species |
# | Zeros as an ablation | Zeros may be unlike anything that the next layer has ever seen. A mean over other texts, or another run, is the usual choice |
# | The stream is read by attention alone | Feed-forward layers, which we left out, hold most of the weights, and are harder to read |
# | A probe with controls | Hewitt and Liang (2019) fit probes to random labels as a control. Without one, a probe's accuracy says little |
#
# This is one task, made for this circuit: random rows offer nothing but copying. It shows that a model can be understood
# when it does one thing. It doesn't show that a large one can. If you'd like to go on with models that somebody else has
# trained, [ARENA](https://github.com/callummcdougall/ARENA_3.0) has a whole chapter on it, and
# [TransformerLens](https://github.com/TransformerLensOrg/TransformerLens) opens GPT-2 as our `trace` opens ours.
#
# ## So what clicked?
#
# **How many of the four heads does the model need?** The next cell tries sets of heads, the smallest first, and shows
# those of the first size that still copy nine symbols out of ten.

# %%
smallest = lab.fewest_heads(model, tools=tools)
needed = len(smallest[0])
print(f"your guess: {guess_needed}, it is: {needed}")
print("these are enough:", [[lab.name_of(*pair) for pair in heads] for heads in smallest])

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - It takes three: both heads of layer 0, and one of layer 1. Nearly always, either will do. <!-- claim: three_heads_are_enough -->
#
# - The previous-token head alone gets 5% at most, the two induction heads alone 15 to 22%. Together, one of each gets 80 to 90%. <!-- claim: only_together -->
#
# A previous-token head, an induction head that uses what it writes, and a head that settles ties. What clicks is that the
# first two begin to work *together*: neither is worth much without the other. And you can say so, since you have looked,
# taken out, put in and read.
# </details>

# %% [markdown]
# ## Explain it
#
# A friend has found a head in her model that looks at the end of the previous sentence, with 80% of its attention. She
# takes it out, and the accuracy falls from 91 to 90%. "So the head does nothing," she says.
#
# Answer in four or five sentences. What may have happened, and what would you do next?

# %% [markdown] explain=true
# Another head may stand in for it: in our model either induction head could go alone, and without both nothing was left.
# So I'd take out several heads at once, above all those that look at the same place. I'd also test her code: does the
# head really write nothing, are other heads as they were, and do later layers change? Then I'd look at where accuracy was
# lost, since a few cases may need the head badly, as our ties did, and vanish in the mean. And I'd patch: put the head's
# result from another text in, at that position, and see whether the answer changes. That it looks there is no proof by
# itself that it uses what it sees.

# %% [markdown]
# ## How good were your guesses?
#
# Here are your guesses next to what happened. A wrong guess is worth more than none: it shows you where to look.

# %%
board = [
    ("heads that the model needs", guess_needed, needed, 0),
    ("steps from 20% to 70%", guess_click, click, 50),
    ("share that one layer copies", guess_one, one_layer, 0.1),
    ("what the other head of layer 0 looks at", guess_other, looks_at),
    ("the sound ablations", guess_sound, sound_ways),
    ("share right without both heads of layer 1", guess_both, without_both, 0.1),
    ("who suffers without the other head", guess_suffers, suffers),
    ("who pushes the right symbol up", guess_pushing, pushing),
    ("share of symbols that head 1.0 copies", guess_copying, copying),
    ("where the answer comes back", guess_place, best_place, 0),
    ("the probe, trained", guess_probe, probe_trained),
    ("the probe, untrained", guess_untrained, probe_untrained),
    ("the adder's spare heads", guess_spare, spare),
    ("where the carry appears", guess_carry, appears),
    ("what the adder believes", guess_belief, belief),
]
guesses.board(board)

# %% [markdown]
# ## Recap
#
# Answer from memory, then check.
#
# **1.** Why can't one layer do what two layers do here?
#
# <details><summary>Answer</summary>
#
# To find "what came after t", a position must know what came before it. One layer has to write that, and another one has
# to look for it.
# </details>
#
# **2.** A head can be taken out without loss. What does that show?
#
# <details><summary>Answer</summary>
#
# That it isn't needed alone. Another head may stand in for it: take out several at once.
# </details>
#
# **3.** What does patching show that ablation doesn't?
#
# <details><summary>Answer</summary>
#
# That what a head does at one position decides *which* answer comes out. Ablation only shows that something gets worse.
# </details>
#
# **4.** A probe reads something with 97%. Which three controls do you ask for?
#
# <details><summary>Answer</summary>
#
# Shuffled labels, a model that wasn't trained, and states that can't contain it. And an ablation or a patch, since a probe
# finds what is there, not what is used.
# </details>
#
# **5.** Why is what heads write a sum?
#
# <details><summary>Answer</summary>
#
# Each head has its own columns of the output layer, and a matrix product is a sum over columns. The residual stream adds
# it up over layers.
# </details>
#
# ## Things to try
#
# - Train with another seed: `lab.learn_to_copy(2, seed=2)`. Who shares which job there?
# - Give it four heads a layer, with `lab.new_model(2, num_heads=4)` and `lab.fit_copying`. How many previous-token heads form?
# - Patch the *values* of an induction head only, or its attention only. Which of the two decides?
# - Take the previous-token head out and train on. Which head learns its job, and how fast?
# - Replace zeros by the head's mean over other rows in `without_heads`. Do the numbers change?
# - Show the model a text with two different endings, `ab...ac...a`. Which one does it choose, and which head tips the scales?
# - Forge the answer without the adder's writing heads: `with lab.edited(adder, "writing", ...)`. Does it still believe it?
#
# ## Glossary
#
# | word | meaning |
# |---|---|
# | ablation | taking a part of a model out, to see what is lost |
# | circuit | heads that together do one thing, and how they are connected |
# | control | a measurement in which the effect can't occur, to compare with |
# | edit | here: a function that changes what heads return, in the middle of a run |
# | follower | a position right after an earlier occurrence of the token that is read |
# | induction head | a head that looks at followers |
# | logit difference | the logit of the right answer minus that of a wrong one |
# | OV circuit | what a head adds to the logits, for each symbol it may attend to |
# | patching | putting a result of one run into another run |
# | previous-token head | a head that looks at the position before |
# | probe | a small classifier fitted to a model's states |
# | residual stream | the vectors that all layers read from and add to |
#
# ## Papers
#
# - Elhage and others, [A Mathematical Framework for Transformer Circuits](https://transformer-circuits.pub/2021/framework/index.html), 2021: models of one and two layers of attention, what heads add up to, and OV circuits.
# - Olsson and others, [In-context Learning and Induction Heads](https://arxiv.org/abs/2209.11895), 2022: when induction heads form, in small models and large ones.
# - Wang and others, [Interpretability in the Wild](https://arxiv.org/abs/2211.00593), ICLR 2023: a circuit in GPT-2, patching, and backup heads.
# - Meng and others, [Locating and Editing Factual Associations in GPT](https://arxiv.org/abs/2202.05262), NeurIPS 2022: section 2, states of a clean run put into a corrupted one.
# - Heimersheim and Nanda, [How to use and interpret activation patching](https://arxiv.org/abs/2404.15255), 2024: what patching shows, and what it doesn't.
# - Alain and Bengio, [Understanding intermediate layers using linear classifier probes](https://arxiv.org/abs/1610.01644), 2016.
# - Hewitt and Liang, [Designing and Interpreting Probes with Control Tasks](https://arxiv.org/abs/1909.03368), EMNLP 2019: random labels as a control.
# - Michel, Levy, Neubig, [Are Sixteen Heads Really Better than One?](https://arxiv.org/abs/1905.10650), NeurIPS 2019: how many heads can be taken out of larger models.
