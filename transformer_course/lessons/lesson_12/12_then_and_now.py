# ---
# title: Then and now
# topic: from GPT to Llama
# group: Beyond
# picture: Scores of equal tokens
# sittings: [110, 70]
# builds_on: [06_positional_encodings, 07_autoregressive_sampling, 11_language_model]
# gives:
#   - say what RMSNorm, SwiGLU, rotary positions and shared keys cost and buy, in numbers
#   - compare two models so that you know what made the difference
#   - put published weights into a model that you wrote yourself, and let it tell a story
#   - say what shared keys save, and predict a larger model from small ones
#   - teach a trained model another style with a few kilobytes
#   - say what turns a language model into an assistant, and what stays as it was
# ---

# %% [markdown]
# TITLE
#
# In [lesson 11](../11_language_model/11_language_model.ipynb) you built a GPT, as it was in 2019. Here you swap its parts for
# today's, measure what each of them buys, and end up with a Llama. Then comes the proof: with the same weights, your model
# and the Llama of a library used all over the world give the same answers.
#
# GIVES
#
# SITTINGS The last exercise is *stretch*.
#
# **How to check.** Replace the line `raise NotImplementedError()` with your own code, and run the cell. Then run the
# `check` cell below it, as often as you like. It tells you what is right and what isn't.
# While an exercise is being checked, the course's own versions of the earlier ones stand in for yours, so one slip never
# costs you two exercises. In all other cells your own code runs, unless the text says otherwise.
# One exercise should not keep you from the rest of the lesson: below its last hint is a line that lets you go on with our version.
#
# **How to submit.** Save the notebook and hand it in the way your class does.
# Working on your own? The checks are all you need.

# %% [markdown]
# ## A two-minute test
#
# BUILDS_ON Try these three without running anything.
#
# **1.** In pre-norm order, where does the residual connection of a block begin: before its norm, or after it?
#
# <details><summary>Answer</summary>
#
# Before it. The norm's result goes into the layer, and the layer's result is added to the x from before the norm.
# See the encoder block in [lesson 3](../03_classification_transformer/03_classification_transformer.ipynb).
# </details>
#
# **2.** Queries and keys have been rotated by angles that grow with the position. What does their dot product depend on?
#
# <details><summary>Answer</summary>
#
# On the two vectors and the distance between their positions. Where in the text they are doesn't matter.
# See rotary embeddings in [lesson 6](../06_positional_encodings/06_positional_encodings.ipynb).
# </details>
#
# **3.** The probabilities are 0.5, 0.3 and 0.2, and top-p keeps the smallest set that reaches 0.7. Which tokens are kept?
#
# <details><summary>Answer</summary>
#
# The first two. 0.5 isn't enough, and the token that brings the sum to 0.7 belongs to the set.
# See top-p in [lesson 7](../07_autoregressive_sampling/07_autoregressive_sampling.ipynb).
# </details>
#
# Two out of three? Go on. Fewer? Read the linked pages first, then come back.
#
# Run the next cell first: it loads the tools, and the parts that you wrote in earlier lessons. `ModernBlock` is new, and
# comes ready-made: you'll see why. `lab` runs the experiments; its training loop is in `transformer_course/lessons/lesson_11/experiments/training.py`.

# %% setup=true
import pandas as pd
import torch
import torch.nn.functional as F
from IPython.display import display
from torch import nn

from transformer_course import guesses, plots
from transformer_course.attention import merge_heads, scaled_dot_product_attention, split_heads
from transformer_course.blocks import FeedForward, LayerNorm
from transformer_course.causal import causal_mask
from transformer_course.language_model.batches import bits_per_character, next_token_batches
from transformer_course.language_model.gpt import DecoderOnlyTransformer
from transformer_course.language_model.modern import ModernBlock
from transformer_course.language_model.writing import continue_text
from transformer_course.positions import rotary_embedding
from transformer_course.lessons.lesson_12 import experiments as lab
from transformer_course.lessons.tables import measured

torch.set_num_threads(1)  # on a shared machine, two threads can be ten times slower than one

# %% [markdown]
# ## Part 1 · What has changed since
#
# Between GPT-2 (2019) and Llama (2023), people tried hundreds of changes to the Transformer. Most came to nothing. Most
# open models of today share four that stayed. **Which of them do you think buys most on our small model?** Write your guess down
# before you build them; there is a table in Part 2.
#
# | part | then | now | said to |
# |---|---|---|---|
# | norm | LayerNorm | RMSNorm | save time |
# | feed-forward | ReLU or GELU | SwiGLU | learn more with as many weights |
# | positions | a learned table | rotary | be about distances |
# | keys and values | a pair for each head | shared by groups of heads | save memory when writing |

# %%
guess_part = None  # "RMSNorm", "SwiGLU", "rotary" or "shared keys"

# %% [markdown] exercise="RMSNorm" kind="core" difficulty=2 minutes=10
# LayerNorm does two things to a vector: it subtracts the mean, and it divides by the standard deviation. Zhang and Sennrich
# (2019) asked which of the two matters, and left the first one out. What is left divides by the **root of the mean of the
# squares**: one statistic in place of two, and no bias.
#
# $$\text{RMSNorm}(x) = \frac{x}{\sqrt{\frac1d \sum_i x_i^2 + \varepsilon}} \cdot \text{weight}$$
#
# For example: (1, 7) has the squares 1 and 49. Their mean is 25, its root 5, and the result (0.2, 1.4).
#
# <details><summary>Hint 1</summary>
#
# R, M, S: in which order are the three done?
# </details>
# <details><summary>Hint 2</summary>
#
# Square, take the mean over the last axis, add eps, take the root, divide. What keeps the mean lined up with x?
# </details>
# <details><summary>Hint 3</summary>
#
# `x / torch.sqrt(x.square().mean(dim=?, keepdim=?) + ?) * self.weight`.
# </details>
#
# Docs: [torch.rsqrt](https://pytorch.org/docs/stable/generated/torch.rsqrt.html) ·
# [nn.RMSNorm](https://pytorch.org/docs/stable/generated/torch.nn.RMSNorm.html), which does the same.

# %% [markdown]
# **What you've built.** Half a LayerNorm. Here is what each of the two does to a vector, and to the same vector plus 10. **For which
# norm does the 10 make a difference?**

# %%
guess_norm = None  # "LayerNorm" or "RMSNorm"

vector = torch.tensor([1.0, -2.0, 0.5, 3.0])
with torch.no_grad():
    normed = {
        f"{name}, {what}": norm(4)(v).tolist()
        for name, norm in (("LayerNorm", LayerNorm), ("RMSNorm", RMSNorm))
        for what, v in (("x", vector), ("x + 10", vector + 10))
    }
shown = pd.DataFrame(normed).T.round(2)
shifted_norm = "LayerNorm" if not shown.iloc[0].equals(shown.iloc[1]) else "RMSNorm"
print(f"your guess: {guess_norm}, it is: {shifted_norm}")
shown

# %% [markdown] exercise="SwiGLU" kind="core" difficulty=2 minutes=10
# The feed-forward network of lesson 3 widens a vector, sets what is negative to 0, and narrows it again. SwiGLU widens it
# **twice**. One copy goes through **SiLU**, z · sigmoid(z), a ReLU with a soft corner, and serves as a **gate**: the other copy
# is multiplied by it, number by number.
#
# ![Two curves over z from -4 to 4. ReLU is 0 up to z = 0 and then rises in a straight line. SiLU follows it closely, with a dip to -0.28 at z = -1.3 and no corner. Beside it a diagram: x goes into gate and into up, gate goes through SiLU, the two are multiplied, and down follows.](picture:soft_gate)
#
# $$\text{SwiGLU}(x) = W_{\text{down}}\big(\text{SiLU}(W_{\text{gate}}\,x) \odot W_{\text{up}}\,x\big)$$
#
# For example: where the gate computes 2, SiLU gives 2 · 0.88 = 1.76, and what comes from `up` passes nearly doubled. Where
# it computes -5, SiLU gives -0.03, and next to nothing passes.
#
# There are three weights in place of two. To keep the number of parameters, d_ff shrinks to two thirds: 8/3 · d_model in
# place of 4 · d_model (Shazeer 2020, section 2).
#
# <details><summary>Hint 1</summary>
#
# How many Linear layers are there, from which width to which? Which argument leaves the bias out?
# </details>
# <details><summary>Hint 2</summary>
#
# SiLU is applied to one of the two halves only. Which one is it called after?
# </details>
# <details><summary>Hint 3</summary>
#
# `self.down(F.silu(self.?(x)) * self.?(x))`.
# </details>
#
# Docs: [F.silu](https://pytorch.org/docs/stable/generated/torch.nn.functional.silu.html).

# %% [markdown]
# **What you've built.** A product of two projections: something that ReLU between two layers can only approximate. Why does
# that help? Shazeer's paper ends with an honest sentence: he offers no explanation, and attributes the success "to divine
# benevolence". Let's stay with what we can measure.

# %%
old, new = FeedForward(64, 4 * 64), SwiGLU(64, 8 * 64 // 3)
print({name: lab.parameters(net) for name, net in (("ReLU, 4 d", old), ("SwiGLU, 8/3 d", new))})

# %% [markdown] exercise="share_heads" kind="core" difficulty=2 minutes=10
# When a model writes, it keeps the keys and values of everything it has read: the cache of lesson 7. For large models this
# cache is larger than you'd think, and each new token has to read all of it. So let several query heads **share** a key
# head and a value head. Four query heads with two key heads need half the cache.
#
# ![Four boxes in the upper row, query heads 0 to 3. Two boxes in the lower row, key heads 0 and 1. Query heads 0 and 1 are connected with key head 0, query heads 2 and 3 with key head 1.](picture:shared_keys)
#
# Neighbours share: key head h serves query heads h · group to (h + 1) · group - 1. With one key head for all, this is
# multi-query attention; with as many as there are query heads, it's the attention of lesson 3.
#
# For example: 6 query heads and 2 key heads make groups of 3. Key head 0 serves the heads 0, 1, 2, and key head 1 the heads
# 3, 4, 5. So the key heads (a, b) become (a, a, a, b, b, b). The order (a, b, a, b, a, b) is the classic mistake: the
# shapes are right, a new model trains with it, and no published weights will ever work.
#
# <details><summary>Hint 1</summary>
#
# How many query heads does each key head serve? What if that isn't a whole number?
# </details>
# <details><summary>Hint 2</summary>
#
# PyTorch has two ways to repeat along an axis: one repeats the whole row, the other each entry by itself.
# </details>
# <details><summary>Hint 3</summary>
#
# `heads.repeat_interleave(?, dim=?)`, after a check with `%`.
# </details>
#
# Docs: [torch.repeat_interleave](https://pytorch.org/docs/stable/generated/torch.repeat_interleave.html).

# %% [markdown]
# **What you've built.** The way from few heads to many. It is used after the cache, so the cache stays small. Here are two key
# heads, handed out to six query heads.

# %%
numbers = torch.arange(2.0).reshape(1, 2, 1, 1)
pd.DataFrame({"query head": range(6), "key head": share_heads(numbers, 6).flatten().int().tolist()}).T

# %% [markdown] exercise="GroupedQueryAttention" kind="core" difficulty=3 minutes=25
# Now the layer. Compared with the attention of lesson 3, two things are new.
#
# **Fewer keys.** The layers for keys and values are narrower, and after they have been cut into heads, `share_heads` hands
# them out.
#
# **Positions.** They move in here. Queries and keys are rotated, head by head, with your `rotary_embedding`. Values
# aren't: positions decide where attention looks, not what it finds there.
#
# For example: with d_model = 16 and 4 query heads, d_head is 4. Two key heads together are 8 numbers wide, so `key` goes from
# 16 to 8. Its result is cut into two heads of 4, rotated, and handed out to four.
#
# <details><summary>Hint 1</summary>
#
# How wide are the keys of all key heads together? Into how many heads do you cut them?
# </details>
# <details><summary>Hint 2</summary>
#
# Five steps, one at a time: project, cut into heads, rotate queries and keys, share keys and values, attend. Which step has
# to come before the rotation, so that each head is rotated by itself? `split_heads` puts the length before the last axis,
# where `rotary_embedding` expects it.
# </details>
# <details><summary>Hint 3</summary>
#
# The positions are `torch.arange(x.shape[1], device=x.device)`. Then `key = rotary_embedding(split_heads(self.key(x), ?), ?)`,
# and `key = share_heads(key, ?)`. Queries need no sharing, values no rotation. The end is that of lesson 3: `merge_heads`, then
# `self.output`. (With `device=`, the layer also runs on a GPU.)
# </details>
#
# Docs: [torch.arange](https://pytorch.org/docs/stable/generated/torch.arange.html).

# %% [markdown]
# **What you've built.** Attention that works with distances and saves on keys. Take a row of twelve equal tokens, so that
# nothing but the position can matter. These are the scores of one head, before the mask and the softmax. **Along which
# lines will the numbers be equal: rows, columns or diagonals?**

# %%
guess_lines = None  # "rows", "columns" or "diagonals"

torch.manual_seed(1)
same = torch.randn(1, 1, 32).expand(1, 12, 32)
layer = GroupedQueryAttention(32, num_heads=4, num_kv_heads=2)
with torch.no_grad():
    queries = rotary_embedding(split_heads(layer.query(same), 4), torch.arange(12))
    keys = rotary_embedding(share_heads(split_heads(layer.key(same), 2), 4), torch.arange(12))
    scores = (queries @ keys.mT / 8**0.5)[0, 0]
plots.heatmap(scores, title="Scores of equal tokens", rows="query at", columns="key at")

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - Along each diagonal all scores are equal to within 0.00001, and between the diagonals they differ: only the distance counts. <!-- claim: only_distances_count -->
#
# </details>
#
# ### The block, ready-made
#
# The block has the same two steps as your `DecoderOnlyBlock` of lesson 11, so you needn't write it again. Only the parts
# are new: two RMSNorms, grouped-query attention, SwiGLU.
#
# $$x \leftarrow x + \text{attention}(\text{norm}_1(x)), \qquad x \leftarrow x + \text{feed forward}(\text{norm}_2(x))$$
#
# The course's `ModernBlock` comes with the course's parts inside. The next cell puts *yours* in their place, so that what
# follows is your model.

# %%
ModernBlock = lab.block_of(GroupedQueryAttention, SwiGLU, RMSNorm)
block = ModernBlock(64, 4, 2, 170)
print({name: lab.parameters(part) for name, part in block.named_children()})

# %% [markdown] exercise="ModernLanguageModel" kind="core" difficulty=3 minutes=15
# And the whole model. There is no table of positions any more, so there is no largest length either: the model accepts a
# text of any length. (That it *works* beyond the trained lengths is another matter, as you know from lesson 6.) The output
# gets a matrix of its own: it isn't tied to the embedding.
#
# <details><summary>Hint 1</summary>
#
# What is missing, compared with the first model, and what is new?
# </details>
# <details><summary>Hint 2</summary>
#
# Embedding, blocks, final norm, output layer: four parts, four lines. The embedding is used as it is.
# </details>
# <details><summary>Hint 3</summary>
#
# `self.blocks = nn.ModuleList(ModernBlock(?, ?, ?, ?) for _ in range(num_layers))`, and at the end
# `self.output(self.final_norm(x))`.
# </details>
#
# Docs: [nn.Linear](https://pytorch.org/docs/stable/generated/torch.nn.Linear.html).

# %% [markdown]
# ## Part 2 · You wrote Llama
#
# **What you've built.** It has the names of this course, and parts that you wrote one at a time, from lesson 3 on. Is it
# the real thing? `transformers` is the library most open models are published for. We make a small Llama with it, with
# random weights, hand these weights to *your* model, and let both read the same ids. We do the same with GPT-2 and your
# first model. (If the library isn't installed, the cell says so.)
#
# One detail about GPT-2: its feed-forward network uses GELU, a ReLU with a soft corner. The library can build it with
# ReLU too, and here it does.

# %%
for comparison in (lab.held_against_gpt2(DecoderOnlyTransformer), lab.held_against_llama(ModernLanguageModel)):
    if comparison is not None:
        display(comparison)

# %% [markdown]
# **What you should see**
#
# - With the same weights, your first model and `GPT2LMHeadModel` give the same logits to within 0.0001. <!-- claim: same_as_gpt2 -->
# - With the same weights, your second model and `LlamaForCausalLM` give the same logits to within 0.0001. <!-- claim: same_as_llama -->
#
# You wrote Llama. What is left are differences around the sixth digit, because numbers are added in another order.
#
# How did the weights get from one model into the other? Mostly by renaming: what is `attention.query` here is
# `self_attn.q_proj` there. Two things had to be rearranged. GPT-2 keeps its matrices the other way round. And the two Llamas
# pair the columns for the rotation differently. Meta's own code pairs neighbours, as you do. The port in `transformers`
# pairs column i with column i + d_head / 2, and so the weights it publishes have their rows in another order. As lesson 6
# says, the two are the same up to a permutation, and `transformer_course/language_model/published.py` undoes it. Its
# `load_llama(model, file, num_heads)` reads a published `safetensors` file into your model. Part 4 does, and lets it write.

# %% [markdown]
# ### The new parts read Shakespeare
#
# Same text, same byte pairs, same number of steps. (The new model has a sixth more weights, in its second matrix. We'll
# come back to that.) First, your GPT once more.

# %%
plays = lab.book()
pairs = lab.in_byte_pairs(plays.title, plays.to_learn, plays.to_examine)
reading = lab.read(lab.new_gpt, pairs, lab.PAIRS, DecoderOnlyTransformer, name="the GPT")
compared = {"the GPT": lab.bits(reading.model, pairs, 32, bits_per_character)}
print(f"the GPT needs {compared['the GPT']:.2f} bits per character")

# %% [markdown]
# **How many bits per character will the new model need?** The next cell trains it.

# %%
guess_bits = None  # bits per character

modern = lab.read(
    lab.new_llama, pairs, lab.PAIRS, ModernLanguageModel, batches=next_token_batches, name="today's parts"
)
new_bits = lab.bits(modern.model, pairs, 32, bits_per_character)
compared["today's parts"] = new_bits
print(f"your guess: {guess_bits}, it is: {new_bits:.2f}")
print(lab.continued(modern.model, pairs, "ROMEO:\n", continue_text, tokens=200))
plots.bars(compared, title="Held-out text", x_label="bits per character")

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - Today's parts need about 2.64 bits per character where the GPT needed 3.05, after the same number of steps. <!-- claim: new_parts_get_further -->
#
# </details>
#
# Which of the parts did it? Here each of them was put into the GPT by itself, and then all together, on three seeds. The
# width of the feed-forward networks was chosen so that all models have the same number of parameters to within half a
# percent, and all of them tie the output to the embedding. The second row is a control: the GPT without its table of
# positions. The last column is what a training step costs (the control wasn't timed). The last two rows were only timed:
# they are the GPT with the norms that come with PyTorch.

# %%
parts, times = measured("12_parts"), measured("12_times").set_index("parts")["milliseconds"]
by_part = parts.groupby("parts", sort=False)["bits"].agg(["min", "max"])
mean = parts.groupby("parts")["bits"].mean()
bought = {name: mean["GPT, all old"] - mean[name] for name in ("RMSNorm", "SwiGLU", "rotary")}
bought["shared keys"] = mean["rotary"] - mean["rotary, keys shared"]
best_part = max(bought, key=lambda name: bought[name])
print(f"your guess: {guess_part}, measured: {best_part}")
spans = {name: f"{row['min']:.2f} to {row['max']:.2f}" for name, row in by_part.iterrows()}
columns = {"bits after 500 steps": spans, "milliseconds a step": times.map("{:.1f}".format).to_dict()}
pd.DataFrame(columns, index=list(dict.fromkeys([*spans, *times.index]))).fillna("")

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - Rotary positions buy most: 0.15, 0.24 and 0.28 bits per character after the same number of steps. Together with shared keys, 0.20, 0.22 and 0.22. <!-- claim: rotary_buys_most -->
# - The table of positions that they replace buys nothing in 500 steps: without it, the GPT does as well, to within 0.02. <!-- claim: the_table_buys_nothing -->
# - Half as many keys save 0.04 bits with one seed, and cost 0.02 and 0.05 with the others: too little to tell from chance. <!-- claim: sharing_costs_little -->
# - SwiGLU saves 0.07, 0.01 and 0.05 bits. <!-- claim: the_gate_buys_a_little -->
# - RMSNorm saves no bits: it is 0.01 behind with each seed. <!-- claim: the_norm_saves_no_bits -->
# - It does save time, if you compare our two, written out by hand: a step takes 13% less. But PyTorch's LayerNorm, which runs as one piece of machine code, is quicker than either, by 21% and 9%. <!-- claim: time_is_a_matter_of_code -->
# - All together they save 0.25, 0.23 and 0.27 bits. <!-- claim: all_together -->
#
# Zhang and Sennrich report that RMSNorm saves 7 to 64% of the running time, depending on the model. You have just seen how
# that depends on what you compare with: an operation that is written out step by step makes a new tensor at each step, and
# that costs more than the arithmetic. The times are those of one run on one CPU.
# </details>
#
# ### Where is the rest?
#
# The bar chart promised 0.4 bits, and the four parts give a little more than half of that. So something else differs
# between your GPT and your Llama. Two things at the output do, and neither is famous. The Llama has **an output matrix of its
# own**, while the GPT uses its embedding twice. And this matrix **starts larger**: `nn.Linear` starts with numbers of about 0.07
# where the input is 64 wide, and the GPT's matrix with 0.02, as GPT-2's does.
#
# To tell them apart, change one thing at a time. Here is the GPT with either change, and with both. And two controls: a matrix
# of its own is also 36,000 more weights, so there is a wider GPT that has as many; and the Llama's *embedding* starts larger
# too, at 1, so there is a GPT for which this is so, and a Llama for which it isn't, all on two seeds. **Which of the two changes is worth more?**

# %%
guess_output = None  # "a matrix of its own" or "a larger start"

outputs = measured("12_outputs")
by_model = outputs.pivot_table(index=["model", "parameters"], columns="seed", values="bits", sort=False)
mean = outputs.groupby("model")["bits"].mean()
gained = {
    "a matrix of its own": mean["GPT, tied"] - mean["GPT, own output, starts at 0.02"],
    "a larger start": mean["GPT, tied"] - mean["GPT, tied, starts larger"],
}
worth_more = max(gained, key=lambda name: gained[name])
print(f"your guess: {guess_output}, measured: {worth_more}")
by_model.rename(columns=lambda seed: f"bits, seed {seed}").round(2)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - With an output matrix of its own, made by `nn.Linear`, the GPT saves 0.24 and 0.29 bits: as much as all four parts together. <!-- claim: own_output_is_worth_four_parts -->
# - But it isn't the matrix. The tied GPT saves 0.22 and 0.30 bits if its one matrix starts as large, and a matrix of its own that starts at 0.02 saves only 0.09 and 0.10. <!-- claim: it_is_the_start -->
# - Nor is it the number of weights: the wider GPT needs as many bits as the first, to within 0.03. <!-- claim: more_weights_do_not_do_it -->
# - Nor how the embedding starts: at 1 or at 0.02, either model needs the same number of bits, to within 0.03. <!-- claim: the_embedding_may_start_anywhere -->
# - With the Llama's output it is the same: tied, it needs 0.11 and 0.20 bits more than with a matrix of its own, and none of that is left if the tied matrix starts larger. <!-- claim: the_same_for_llama -->
# - Where both start as `nn.Linear` does, the four parts are worth 0.14 to 0.18 bits. <!-- claim: what_is_left_for_the_parts -->
#
# So one number in `__init__` is worth as much as the four parts with a name. Why is 0.02 too small here? `nn.Linear` starts with a standard
# deviation of 1 / √(3 · d). For GPT-2's width of 768 that is 0.021, and for our width of 64 it is 0.072. We copied a number
# that was chosen for a model twelve times as wide. These are runs of 650 steps: a long run can make up for a poor start, and we
# haven't measured how far.
#
# This is how such comparisons go wrong in papers as well. A new model differs from the old one in four ways that have a
# name and in some that don't, and one of the latter did half the work. Two or three seeds and one small size are no proof for large models either.
# </details>
#
# You needn't take our word for it: try one of the two changes yourself. Here is the GPT once more, with a single number
# changed: its embedding, which is also its output matrix, starts at 0.072. Training takes half a minute.

# %%
louder = lab.read(lab.new_gpt, pairs, lab.PAIRS, lab.LouderGPT, name="the GPT, larger start")
compared["the GPT, larger start"] = lab.bits(louder.model, pairs, 32, bits_per_character)
by_start = {name: compared[name] for name in ("the GPT", "the GPT, larger start", "today's parts")}
plots.bars(by_start, title="One number in __init__", x_label="bits per character")

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - The larger start closes 55 to 71% of the gap between the GPT and today's parts, depending on the seed. <!-- claim: the_start_closes_half_of_the_gap -->
#
# </details>

# %% [markdown]
# ## Time for a break
#
# You wrote a Llama, and you know what each of its parts is worth on this text. What's left is about what people do
# with such a model: run it cheaply, plan a larger one, and change what it says.
#
# A question to take with you: a model that has read the whole internet can continue any text. Why doesn't it answer questions?

# %% [markdown]
# ## Part 3 · Memory
#
# What do shared keys save? For each token, the cache holds a key and a value for each key head of each block:
#
# $$\text{bytes} = 2 \cdot \text{layers} \cdot \text{key heads} \cdot d_{\text{head}} \cdot \text{length} \cdot \text{bytes per number}$$
#
# For example: Llama 3 with 8 billion weights has 32 blocks, 8 key heads for 32 query heads, and a d_head of 128. In 16 bits
# that's 131 kB for each token, and 1.07 GB for 8,192 of them, for one reader. Without sharing it would be 4.3 GB.
#
# Your `KeyValueCache` of lesson 7 works with the new model as it is. `transformer_course/language_model/cached.py` calls your blocks'
# parts one by one. One detail matters: a key is rotated before it is cached, by its own position, and shared
# after it has been read back. **With one key head for all eight query heads, how many times smaller is the cache?**

# %%
guess_memory = None  # a factor

costs = lab.cache_costs(ModernLanguageModel)
saved = costs["bytes, measured"].iloc[0] / costs["bytes, measured"].iloc[-1]
print(f"your guess: {guess_memory}, it is: {saved:g}")
costs

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - The bytes in the cache are those of the formula, exactly, and the tokens are the same with the cache as without. <!-- claim: the_formula_holds -->
#
# </details>

# %% [markdown]
# ## Part 4 · A story
#
# So far your Llama has had random weights, or weights from a minute of training. Here are some that we have trained for
# longer, six minutes of processor time, in a small world: fairy tales. Their text grows from a small grammar, made for this
# course, so there are as many as you like, and the weights may be passed on. Whoever the story is about loses something, or needs it,
# meets an animal and is kind to it, and the animal helps. Who, what and which are drawn once for each story.
#
# The folder `data/storyteller/` holds what people publish when they publish a model. `config.json` has the sizes,
# `model.safetensors` the weights, and `tokenizer.json` the byte pairs. `transformers` reads this folder as it is. Here your own
# `ModernLanguageModel` takes the sizes, and `load_llama` puts the weights into it. (If they don't fit, because your parts have
# other names, the cell says so and uses our model.) The numbers have 16 bits, which makes the file half as large: 1.6 MB.
#
# Read the story that it writes, and keep an eye on four things that come up again and again: the animal, the thing that the story is about, the
# thing's colour, and the villain, where there is one. **Which of the four does it forget most often?** (By the way, no story that it has
# read has a hero of this name.)

# %%
guess_forgotten = None  # "the animal", "the thing", "the colour of the thing" or "the villain"

teller, story_words = lab.story_teller(ModernLanguageModel)
print(", ".join(f"{name} {size:,}" for name, size in lab.published_sizes().items()), end="\n\n")
stories = lab.told(teller, story_words, lab.beginnings(10))
print(stories[1])

# %% [markdown]
# To see what it forgets, take stories from the grammar itself, and look at each place where such a word comes up and the last mention is
# more than 32 tokens back. Does the model find the right one more likely than all others of its kind? The control reads only those 32 tokens.

# %%
remembered = lab.remembered(teller, story_words)
forgotten = remembered["the whole beginning"].idxmin()
print(f"your guess: {guess_forgotten}, it is: {forgotten}")
remembered.style.format("{:.0%}", subset=list(remembered.columns[:3]))

# %% [markdown]
# Is it the same model as the library's? Both read the story above.

# %%
comparison = lab.held_against_published(teller, story_words, stories[1])
if comparison is not None:
    display(comparison)

# %% [markdown]
# Now you. Write a beginning, with your own name if you like. The cache of Part 3 is at work here: each token is read once. The
# two stories have the same beginning and the same random numbers, and only the temperature differs.

# %%
my_beginning = "Once upon a time, in a village by the sea, there lived a curious girl named Ada."

for temperature in (0.5, 1.5):
    print(f"--- temperature {temperature}\n{lab.told(teller, story_words, [my_beginning], temperature)[0]}\n")

# %% [markdown]
# What does the temperature cost? Here are the shares of 20 stories in which the name, the thing with its colour, the animal and the way to call it
# are at the end what they were at the beginning.

# %%
lab.by_temperature(teller, story_words).style.format("{:.0%}")

# %% [markdown]
# And how good is it? Stories that it hasn't read cost it so many bits per character. For once, we also know the
# lowest number that anyone can reach: all that is uncertain in such a story is what the grammar drew, and we know how many ways each draw can
# go. The other two rows are models that count tokens, in 500 stories.

# %%
lab.story_bits(teller, story_words).style.format({"bits per character": "{:.3f}"}).hide(axis="index")

# %% [markdown]
# Last, a thing that it knows, and one that it doesn't. We write the first two sentences, *"... had a purple umbrella, a gift from an
# aunt."*, and look for the umbrella in the last paragraph of 20 stories.

# %%
lab.last_named(teller, story_words, ["green kettle", "purple umbrella"])

# %% [markdown]
# <details><summary>Open this once you have run the cells</summary>
#
# **What you should see**
#
# - The library's `LlamaForCausalLM`, from the same folder, gives the same logits as your model to within 0.0001. <!-- claim: same_as_published -->
# - It always remembers the animal and the thing. When it reads only the last 32 tokens, it finds 15 to 20% of the animals, where chance would find a tenth, and hardly any of the things. <!-- claim: it_remembers_the_beginning -->
# - It forgets the colour: 12 to 18% are right, and chance alone would get one in eight. Of the villains, 20 to 32% are right, where chance would get one in seven. <!-- claim: it_forgets_the_colour -->
# - At temperature 0.7, the last paragraph has the hero's name right in 65 to 82% of 40 stories with names that it has never read. With names that it has read it is hardly better, 72 to 82%: it doesn't know names by heart, it copies them. <!-- claim: it_copies_names -->
# - At temperature 0.5, the animal and the call are right in at least 95% of 20 stories. At 1.5 nearly everything falls apart: no story has all four right, and the name is right in none. <!-- claim: heat_breaks_the_story -->
# - The stories cost it 0.085 to 0.086 bits per character. Counts of what follows four tokens need 0.54 to 0.58, and counts of single tokens 2.2 to 2.3. Nobody can need less than 0.056. <!-- claim: close_to_what_was_drawn -->
# - A green kettle is still in the last paragraph of 19 or 20 stories in 20. The purple umbrella is in none: by then it has become a thing that the model knows. <!-- claim: it_has_no_word_for_an_umbrella -->
#
# So it tells a story from beginning to end, and at a low temperature you can enjoy it. But it has learnt a small world, not language.
# It has the sentences by heart. What it adds is which of them fit together, and that is where it slips: the silver mirror comes home golden, and
# the witch of the beginning is a giant at the end. Names it can copy, for it has met thousands of them. Things it can't: it has met
# eighteen. And a sentence about a robot on the moon leads straight back to a miller's son.
#
# With more training it would keep more in mind: the loss was still falling. The command is in `data/README.md`.
# </details>
#
# ## Part 5 · A line into the future
#
# How do people know that a model with ten times the weights will be worth its price, before they pay? They train small
# ones and draw a line. On log-log axes, loss against size is close to straight (Kaplan and others 2020). A straight
# line there is a **power law**: each doubling of the size multiplies the loss by the same factor.
#
# We trained models with widths of 8 to 48 on the plays, for 600 steps each, so each of them read the same 307,200 tokens.
# "Parameters" counts all but the embedding and the output matrix. The left plot is against size, and the right one against the number of steps, for the model with a width of 32.

# %%
sizes = measured("12_sizes")
small = sizes[(sizes["steps"] == lab.STEPS) & (sizes["width"] != lab.NEXT)]
slope, _ = lab.line(small)
target_size = int(sizes[sizes["width"] == lab.NEXT]["parameters"].iloc[0])
promised = lab.predicted(small, target_size)
print(f"twice the size: {1 - 2**slope:.1%} fewer bits. A width of {lab.NEXT}: {promised:.2f} bits per character?")
lab.scaling_plot(sizes)

# %% [markdown]
# The cross is a promise: no model of that width is among those that made the line. Now train it. **Will it be above the
# line, on it (to within 2%), or below?**

# %%
guess_line = None  # "above", "on it" or "below"

larger = lab.trained(pairs, lab.NEXT, kind=ModernLanguageModel)
off = larger["bits"] / promised - 1
where = "on it" if abs(off) <= 0.02 else "above" if off > 0 else "below"
print(f"your guess: {guess_line}, it is: {where}")
print(f"promised: {promised:.2f}, measured: {larger['bits']:.2f} bits per character ({off:+.1%})")

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - From 1,400 parameters to 51,000, each doubling of the size takes about 4% off the bits per character, and no model is more than 1.5% away from the line. <!-- claim: a_straight_line -->
# - The points on the right bend. From 75 steps on, three doublings in turn take off 10, 12 and 6% with one seed, and 10, 13 and 7% with the other. <!-- claim: steps_bend -->
# - The line promises 2.49 bits, and the larger model needs 2.56 to 2.58, depending on the seed: 3 to 4% above the line. <!-- claim: the_line_bends -->
# - Each model read 307,200 tokens. That is 215 for each parameter of the smallest model, and 1.5 for each of the largest. <!-- claim: tokens_for_each_weight -->
#
# So the promise was nearly kept, and not quite. A line bends where something else becomes scarce. All models had the same 600
# steps, and the right plot shows that more steps still help: the largest model is the one that has read least for its
# size. It may also be the learning rate, which was chosen for one width. We haven't taken these apart.
#
# This very question was worth a lot of money. Kaplan and others (2020) advised: with ten times the computing power, make the model 5.5
# times as large, and let it read 1.8 times as much. **Hoffmann and others (2022)** tried again, with other numbers of tokens, and
# a learning rate that falls over about as many steps as a run has. Their answer was different: size and text should grow
# *alike*, 3.2 times each, which came to about 20 tokens for each parameter. To show it, they trained Chinchilla, with 70 billion parameters on 1.4 trillion tokens. It
# beat a model four times its size, Gopher, that had cost as much to train and had read 300 billion. So when you see a scaling
# line, ask what was held fixed.
#
# And no line falls below the text's own surprise: what nobody can know about the next character.
# </details>
#
# ## Part 6 · Another style, in kilobytes

# %% [markdown] exercise="LoRALinear" kind="stretch" difficulty=3 minutes=20
# You have a model that writes plays, and want one that writes like Melville. Training all of its weights would give a second
# model, as large as the first. LoRA freezes the model and learns a **correction** to each layer, and a cheap one: in place
# of a matrix with out · in numbers, the product of a narrow one and a flat one (Hu and others 2022).
#
# ![A large square, the frozen weight W, plus a tall narrow rectangle, up, times a low wide rectangle, down. Below: 64 times 64 is 4,096 numbers; 64 times 4 and 4 times 64 are 512 together.](picture:two_thin_ones)
#
# $$y = W x + b + \frac{\alpha}{\text{rank}}\; \text{up} \cdot \text{down} \cdot x$$
#
# `up` starts as zeros, so at first nothing changes. `down` must not: if both were 0, each would multiply the other's
# gradient by 0. And when it's trained, you can **merge**: W + alpha/rank · up · down is a plain matrix, and the model is as fast as
# before.
#
# For example: with up = (2, 0), a column, down = (1, 3), a row, and alpha/rank = 2, the correction to W is ((4, 12), (0, 0)).
#
# <details><summary>Hint 1</summary>
#
# Which of the four weights and biases learn? How does a parameter say that it doesn't?
# </details>
# <details><summary>Hint 2</summary>
#
# `requires_grad_(False)` freezes a whole module. A Linear layer multiplies by its weight's transpose: so do `down` and `up`.
# </details>
# <details><summary>Hint 3</summary>
#
# `self.base(x) + self.scale * (x @ self.down.T @ self.up.T)`. For `merged`: a new `nn.Linear`, and
# `plain.weight.copy_(? + ? * self.up @ self.down)` under `torch.no_grad()`.
# </details>
#
# Docs: [nn.Parameter](https://pytorch.org/docs/stable/generated/torch.nn.parameter.Parameter.html).

# %% [markdown]
# **What you've built.** A change of style that fits into an e-mail. The model with today's parts has never seen a line of
# *Moby-Dick*. We put your layer around each Linear layer of its blocks, with rank 4, and train for 150 steps. **By how many percent will
# the bits per character on Moby-Dick fall?**

# %%
guess_lora = None  # percent

whale = lab.restyled(pairs, lab.other_style(plays))
before = lab.bits(modern.model, whale, 32, bits_per_character)
whole_kilobytes = lab.kilobytes(modern.model)
lab.adapted(modern.model, whale, LoRALinear)
after = lab.bits(modern.model, whale, 32, bits_per_character)
fell = 100 * (1 - after / before)
print(f"your guess: {guess_lora}, it is: {fell:.0f} %")
print(f"bits per character: {before:.2f} before, {after:.2f} after")
learnt_kilobytes = lab.kilobytes(modern.model, learning=True)
print(f"the model: {whole_kilobytes:.0f} kB, what was learnt: {learnt_kilobytes:.0f} kB")
print(lab.continued(modern.model, pairs, "The whale ", continue_text, tokens=120))

# %% [markdown]
# Now merge. The corrections disappear into the weights, and the logits must stay.

# %%
some = pairs.held_out[:32][None]
with torch.no_grad():
    with_corrections = modern.model(some)
    plain_model = lab.merged(modern.model)
    merged_difference = (plain_model(some) - with_corrections).abs().max().item()
print(f"largest difference of all logits: {merged_difference:.1e}")
print(f"parameters: {lab.kilobytes(plain_model):.0f} kB, as before")

# %% [markdown]
# **What you should see**
#
# - The bits per character on Moby-Dick fall from 3.1 to less than 2.8, with 37 kB of weights; the model has 646 kB. <!-- claim: a_few_kilobytes_help -->
# - Merged, the logits are the same to within 0.0001. <!-- claim: merging_changes_nothing -->
# - Shakespeare suffers: the adapted model needs about 2.86 bits per character on the plays, where it needed 2.64. <!-- claim: plays_suffer -->
# - Training all weights for the same number of steps gets further, to 2.6 bits per character, and the plays suffer a little more. <!-- claim: all_weights_get_further -->
#
# In the sample you hardly see it: at more than 2.7 bits per character, much of what the model writes is noise in either style.
# The number tells you more than a passage.
#
# On a model with billions of weights, the share is far smaller than here: for a square layer, rank 4 is an eighth of the weights
# at our width of 64, and a five-hundredth at a width of 4,096. And since the base stays as it is, one copy of it serves a
# hundred styles.
#
# ## Part 7 · From here to an assistant
#
# Your Llama continues a text. So does a large one that has just been trained, a **base model**. Ask it *"What is the capital of
# France?"*, and it may well write *"What is the capital of Spain?"*, since on the internet, questions like to come in lists.
# It isn't stubborn. It answers another question: how does this text go on? Two more rounds of training make it an assistant
# (Ouyang and others 2022, the paper behind InstructGPT, a forerunner of ChatGPT).
#
# **1. Instruction tuning.** People write what a good answer looks like: about 13,000 requests with answers in that paper. The model is
# trained further on these, with the loss that you know, cross-entropy on the next token. Often only the tokens of the answer
# count. It is what you did with Moby-Dick a moment ago: another style, and LoRA is one way to learn it. The style is that of
# someone who answers.
#
# **2. Preference learning.** It is easier to say which of two answers is better than to write a good one. So the model writes
# several answers to a request, and people rank them. A second network, the **reward model**, learns to predict the ranking: it
# turns a text into one number. Then the language model is trained to write what scores high, with a penalty for moving too
# far from where it began. Without the penalty, it finds texts that the reward model likes and nobody else does. (Later methods,
# such as DPO, do without the second network.)
#
# **What it changes.** Which of the many possible texts comes out. It answers, keeps to the format, knows when to stop, declines
# some requests. The effect is large: people preferred the answers of InstructGPT with 1.3 billion parameters to those of
# GPT-3 with 175 billion.
#
# **What it doesn't change.** The network: it's still what you wrote, with logits over a vocabulary and a token drawn from
# them, one at a time. Nearly all it knows comes from the first training, which read many thousands of times as much text. It still
# states false things with confidence. One reason is that raters judge what they can see, and a fluent mistake is hard to see. "Better" means: preferred by these raters, under
# these instructions; that isn't the same as true, or good for everyone. And it has a price: on some of the usual
# tests the model got worse, and part of that came back when ordinary text was mixed in. You saw the same above: the plays
# suffered when the model learnt Moby-Dick.
#
# ## Explain it
#
# A colleague says: "I took our GPT, put in rotary positions, RMSNorm and an output matrix of its own, and the loss fell by
# 0.3 bits. So RMSNorm works." Answer in four or five sentences. What can and what can't be concluded, which runs would
# you ask for, and what would have to be the same in all of them?

# %% [markdown] explain=true
# Only that the three together helped, in this run. Which of them did it is unknown, and by our measurements it was hardly
# RMSNorm, which saves no bits here. I'd ask for the old model with each change by itself, and for the new model without each
# of them, since changes can overlap: two that bought 0.25 bits each bought 0.4 together here. All runs should read the same text in the
# same number of steps, with as many parameters, which means a control for the weights that the output matrix adds. I'd also ask how
# the matrix starts, since that alone was worth 0.2 to 0.3 bits to us. And I'd want at least two seeds: SwiGLU bought
# 0.07 bits with one, and 0.01 with another.

# %% [markdown]
# ## How good were your guesses?
#
# Here are your guesses next to what happened. A wrong guess is worth more than none: it shows you where to look.

# %%
board = [
    ("the part that buys most", guess_part, best_part),
    ("the norm for which + 10 matters", guess_norm, shifted_norm),
    ("where equal tokens have equal scores", guess_lines, "diagonals"),
    ("bits with today's parts", guess_bits, round(new_bits, 2), 0.15),
    ("a matrix of its own, or a larger start", guess_output, worth_more),
    ("how many times smaller the cache is", guess_memory, saved),
    ("what the storyteller forgets", guess_forgotten, forgotten),
    ("the larger model and the line", guess_line, where),
    ("percent fewer bits with LoRA", guess_lora, round(fell), 3),
]
guesses.board(board)

# %% [markdown]
# ## Recap
#
# Answer from memory, then check.
#
# **1.** What does each of RMSNorm, SwiGLU and grouped queries leave out or add, compared with what you had before?
#
# <details><summary>Answer</summary>
#
# RMSNorm leaves out the mean and the bias. SwiGLU adds a second projection, and multiplies. Grouped queries share each key
# head and value head among several query heads, so the cache shrinks.
# </details>
#
# **2.** Key heads (a, b) serve six query heads. In which order are they handed out, and how would you notice the wrong one?
#
# <details><summary>Answer</summary>
#
# (a, a, a, b, b, b). In training you wouldn't notice. With published weights, the logits would be wrong.
# </details>
#
# **3.** A new model differs from the old one in five ways, and it is better. What do you do before you praise one of them?
#
# <details><summary>Answer</summary>
#
# Change one thing at a time, from the old model and from the new one, with the same steps, text and number of weights, on more
# than one seed. Here a change that nobody mentions did half the work.
# </details>
#
# **4.** What did Hoffmann and others change about Kaplan's advice, and why?
#
# <details><summary>Answer</summary>
#
# Size and text should grow alike, where Kaplan had put most into size. They fitted the learning rate's schedule to a run's length,
# and didn't hold the number of tokens fixed.
# </details>
#
# **5.** In LoRA, which of the two thin matrices starts as zeros, and why not both?
#
# <details><summary>Answer</summary>
#
# `up`, so that nothing changes at first. If `down` were 0 too, each would multiply the other's gradient by 0, and neither would
# ever move.
# </details>
#
# **6.** What does a model learn from people's preferences, and what stays as it was?
#
# <details><summary>Answer</summary>
#
# Which of its possible answers people like better. The network, the next token and nearly all that it knows stay.
# </details>
#
# ## Things to try
#
# - Real weights, on a machine with a network: the model *stories15M* (A. Karpathy, 2023; tiny stories for children) is published
#   as `safetensors` in the Llama format, by several people. It is nineteen times as large as ours, and its stories were written by a
#   large language model, not by a grammar. Its sizes are
#   `ModernLanguageModel(32000, 288, 6, 6, 768, 6)`. `load_llama` from `transformer_course.language_model.published` reads the file. For the
#   words you need its tokenizer as well.
# - What else does the storyteller have by heart, and what can it copy? Give it a beginning with a hero, a home or a thing of your own.
# - A model of width 64 that reads 64 byte pairs at a time: does context help beyond 32?
# - Your own model of lesson 11 has `std=0.02` in its `__init__`. Make it 0.072 for the embedding, and train it again there.
# - LoRA with rank 1, and with rank 16: `lab.with_lora(model, 16, 32.0, LoRALinear)`, then `lab.fit(model, whale, 150, batch_size=16)`.
# - Does the larger model get back to the line if it reads more? `lab.trained(pairs, lab.NEXT, 1200)` takes about a minute. Compare
#   it with `lab.trained(pairs, 32, 1200)`.
#
# ## Glossary
#
# | word | meaning |
# |---|---|
# | ablation | leaving one part out, or swapping it, to see what it is worth |
# | base model | a language model that has only learnt to continue texts |
# | fine-tuning | training a trained model further, on other data |
# | gate | numbers that another vector is multiplied by, so that they decide what passes |
# | grouped-query attention | attention in which groups of query heads share a key head and a value head |
# | instruction tuning | fine-tuning on requests with good answers |
# | LoRA | a correction of low rank to frozen weights |
# | power law | a straight line on log-log axes |
# | preference learning | training on which of several answers people like better |
# | rank | the width of the narrowest place in a product of matrices |
# | reward model | a network that predicts how much people will like a text |
# | RMSNorm | divides a vector by the root of the mean of its squares |
# | scaling law | a power law between a model's loss and its size, its text or its computing |
# | SiLU | z · sigmoid(z), a ReLU with a soft corner |
# | SwiGLU | a feed-forward network in which one half is a gate for the other |
# | tied | using one matrix for the embedding and for the output |
#
# ## Papers
#
# - Zhang, Sennrich, [Root Mean Square Layer Normalization](https://arxiv.org/abs/1910.07467), NeurIPS 2019: section 4.
# - Shazeer, [GLU Variants Improve Transformer](https://arxiv.org/abs/2002.05202), 2020: sections 2 to 4.
# - Ainslie and others, [GQA](https://arxiv.org/abs/2305.13245), EMNLP 2023: section 2.
# - Su and others, [RoFormer](https://arxiv.org/abs/2104.09864), 2021: section 3.
# - Touvron and others, [LLaMA](https://arxiv.org/abs/2302.13971), 2023: section 2.2, three of the four parts in one model.
# - Touvron and others, [Llama 2](https://arxiv.org/abs/2307.09288), 2023: section 2.2, shared keys in its larger models.
# - Press, Wolf, [Using the Output Embedding to Improve Language Models](https://arxiv.org/abs/1608.05859), EACL 2017: section 2, tied matrices.
# - Kaplan and others, [Scaling Laws for Neural Language Models](https://arxiv.org/abs/2001.08361), 2020: section 3.
# - Hoffmann and others, [Training Compute-Optimal Large Language Models](https://arxiv.org/abs/2203.15556), 2022: sections 1 and 3.
# - Hu and others, [LoRA](https://arxiv.org/abs/2106.09685), ICLR 2022: section 4.
# - Ouyang and others, [Training language models to follow instructions with human feedback](https://arxiv.org/abs/2203.02155), 2022: sections 1 and 3.
# - Rafailov and others, [Direct Preference Optimization](https://arxiv.org/abs/2305.18290), NeurIPS 2023: section 4.
