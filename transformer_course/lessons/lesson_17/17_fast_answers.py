# ---
# title: Fast answers
# topic: speculative decoding, int4 weights, batching
# group: Beyond
# picture: What comes after 'met a'
# sittings: [95, 85]
# builds_on: [07_autoregressive_sampling, 12_then_and_now]
# gives:
#   - let a cheap draft write for an expensive model, and prove that nothing has changed but the speed
#   - store weights in four bits, and say what that costs
#   - serve many readers at once, with a cache that hands out memory in blocks
#   - say which of these savings carry over to large models, and when they don't
# ---

# %% [markdown]
# TITLE
#
# In [lesson 12](../12_then_and_now/12_then_and_now.ipynb) you met a Llama that tells fairy tales. For every single
# token, it computes with some 676,000 weights. Here is something much cheaper: a table that says which token has
# followed which three others, counted in 500 stories. Making it takes about a second, and looking something up costs
# next to nothing.
#
# **Can the table do most of the writing, and every story still be exactly as likely as if the Llama had written it
# alone?**
#
# Take a guess now: yes, nearly, or no. By the end of part 1 you will have proved the answer.
#
# ![Three rows. The draft proposes: met, a, bear, that. The target checks all four: yes, yes, no. What is kept: met, a, mole; the fourth is dropped.](picture:one_pass)
#
# The rest of the lesson is about three other ways to save, all of them in use for large models: fewer bits for each
# weight, many readers in one batch, and a cache that wastes little room.
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
# **1.** A model reads a text of 20 tokens in one pass. For how many positions does it say what comes next?
#
# <details><summary>Answer</summary>
#
# For all 20. The causal mask keeps each from seeing what follows, so all 20 are honest predictions. In ordinary
# decoding you throw 19 of them away. See [lesson 11](../11_language_model/11_language_model.ipynb).
# </details>
#
# **2.** What does a cache of keys and values hold for each token, and what does it save?
#
# <details><summary>Answer</summary>
#
# Its key and its value in each block of the model. The model then reads each token only once. See [lesson
# 7](../07_autoregressive_sampling/07_autoregressive_sampling.ipynb).
# </details>
#
# **3.** Two models are compared in bits per character. Why not in loss per token?
#
# <details><summary>Answer</summary>
#
# They may cut the text into different tokens, but both see the same characters. See bits per character in [lesson
# 11](../11_language_model/11_language_model.ipynb).
# </details>
#
# Two out of three? Go on. Fewer? Read the linked pages first, then come back.
#
# Run the next cell first: it loads the tools. `lab` runs the experiments.

# %% setup=true
from collections.abc import Callable, Hashable

import pandas as pd
import torch

from transformer_course import guesses, plots
from transformer_course.fast_answers.quantized import bits_per_weight, dequantize, unpack_int4
from transformer_course.lessons.lesson_17 import experiments as lab
from transformer_course.sampling import sample_with_temperature

torch.set_num_threads(1)  # on a shared machine, two threads can be ten times slower than one

# %% [markdown]
# ## Part 1 · A draft writes, the target checks
#
# The expensive model is called the **target**, the cheap one the **draft**. The draft writes a few tokens ahead. Then
# the target reads them all in a single pass, which tells you at each position what the target would have said. What it
# agrees with is kept.
#
# What does "agree" mean, if both models only say how likely each token is? That is the heart of this lesson. First, see
# how much two distributions have in common.

# %% [markdown] exercise="acceptance_rate" kind="core" difficulty=1 minutes=5
# ![Bars for four tokens. Mole: shared 0.2, and 0.3 more of the target alone. Bear: shared 0.25, and 0.25 more of the draft alone. Fox: shared 0.15, and 0.05 of the draft alone. Ant: 0.1, all shared.](picture:what_both_share)
#
# The rule, which you'll write in a moment, is to accept token x with probability min(1, target[x] / draft[x]). It is
# proposed with probability draft[x]. So it is proposed *and* accepted with probability min(draft[x], target[x]), the
# grey part of its bar.
#
# For example: with the bars above, a proposed token is accepted with probability 0.2 + 0.25 + 0.15 + 0.1 = 0.7.
#
# <details><summary>Hint 1</summary>
#
# How high is the grey part of each bar?
# </details>
# <details><summary>Hint 2</summary>
#
# Tokens exclude each other, so their chances add up. Over which axis?
# </details>
# <details><summary>Hint 3</summary>
#
# `torch.minimum(?, ?).sum(dim=?)`
# </details>
#
# Docs: [torch.minimum](https://pytorch.org/docs/stable/generated/torch.minimum.html).

# %% [markdown]
# **What you've built.** A measure of how good a draft is, without a single random number. Here are tables of counts
# from the same 500 stories that look at the last 0, 1, 2, 3 or 4 tokens. The storyteller says, at each token of five
# new stories, how much of what they propose it would accept. **What will the table that looks at three tokens reach?**

# %%
guess_accepted = None  # a share between 0 and 1

drafts = lab.drafts()
rates = {name: lab.acceptance(draft, acceptance_rate) for name, draft in drafts.items()}
print(f"your guess: {guess_accepted}, it is: {rates['counts after 3']:.2f}")
plots.bars(rates, title="How much of a draft is accepted?", x_label="mean chance of acceptance")

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - Counts after three tokens are accepted 77 to 79% of the time, depending on the seed; after one token it's 33 to 35%, and the bare frequency of each token is accepted 2% of the time. <!-- claim: how_often_counts_are_accepted -->
# - A fourth token adds only 1 to 2 points: most contexts of that length never came up in 500 stories. <!-- claim: a_fourth_token_adds_little -->
# </details>
#
# Could a small neural network do better? This one is a Llama with a single block of width 32, a tenth of the
# storyteller's weights. It trains for half a minute or so, on new stories at each step. **Is it accepted more often
# than counts after three tokens?**

# %%
guess_draft = None  # "counts" or "network"

run = lab.small_teller()
rates["small Llama"] = lab.acceptance(run.model, acceptance_rate)
better = "network" if rates["small Llama"] > rates["counts after 3"] else "counts"
print(f"your guess: {guess_draft}, it is: {better} ({run.seconds:.0f} seconds of training)")
print(f"counts after three tokens: {rates['counts after 3']:.2f}, small Llama: {rates['small Llama']:.2f}")

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - After 400 steps the small Llama is accepted 61 to 64% of the time: less often than counts after two tokens, at 69 to 71%. <!-- claim: counts_beat_a_small_network -->
#
# That holds for this budget, and for these stories, whose sentences come from a few hundred lines. In real text hardly
# any four tokens repeat so faithfully, so drafts for large models are small Transformers, or extra heads of the model
# itself. But if a text quotes what came before, as code and summaries do, then looking up the last time these tokens
# came up makes a good draft there, too.
# </details>

# %% [markdown] exercise="leftover" kind="core" difficulty=2 minutes=10
# If a token is rejected, another must come in its place. Which one? Look at the picture once more. The grey part has
# been handed out already. What the target still lacks is blue: what it gives a token *beyond* what the draft gives it.
#
# $$\text{leftover} = \frac{\max(0,\ \text{target} - \text{draft})}{\sum \max(0,\ \text{target} - \text{draft})}$$
#
# For example: with the bars above, only the mole has something left over. So a rejected bear always becomes a mole.
#
# If the two rows are equal, nothing is left over. Nothing is ever rejected then, but the row is still computed, and it
# mustn't be NaN.
#
# <details><summary>Hint 1</summary>
#
# Which operation makes every negative number 0?
# </details>
# <details><summary>Hint 2</summary>
#
# Divide each row by its own sum. Keep the axis, so that the sum still fits.
# </details>
# <details><summary>Hint 3</summary>
#
# `beyond = (? - ?).clamp(min=?)`, then `torch.where(total > 0, ? / ?, ?)`.
# </details>
#
# Docs: [torch.clamp](https://pytorch.org/docs/stable/generated/torch.clamp.html) ·
# [torch.where](https://pytorch.org/docs/stable/generated/torch.where.html).

# %% [markdown]
# **What you've built.** All that is needed for the proof. A token x can come out in two ways: it is proposed and
# accepted, or something else is rejected and x takes its place.
#
# $$\underbrace{\min(p_x, q_x)}_{\text{accepted}} + \underbrace{(1 - \text{rate})}_{\text{rejected}} \cdot \frac{\max(0, p_x - q_x)}{1 - \text{rate}} = p_x$$
#
# Here p is the target and q the draft. Since the rows sum to 1, what is left over sums to exactly 1 - rate, and the two
# cancel. Whatever the draft proposes, **the result is the target's distribution, exactly**. A bad draft costs time,
# never quality. Check it with numbers:

# %%
p, q = torch.tensor([0.5, 0.25, 0.15, 0.1]), torch.tensor([0.2, 0.5, 0.2, 0.1])
print(torch.minimum(p, q) + (1 - acceptance_rate(p, q)) * leftover(p, q))

# %% [markdown] exercise="accept_or_replace" kind="core" difficulty=3 minutes=20
# Now with real randomness. Each row has a token that was proposed. Accept it with probability min(1, target[x] /
# draft[x]), and otherwise sample from what is left over.
#
# For example: the target gives a token 0.25 and the draft gave it 0.5. It is accepted half of the time. If the target
# gives it 0.5 and the draft gave it 0.25, it is always accepted.
#
# <details><summary>Hint 1</summary>
#
# How do you make something happen with probability 0.7, if you have a random number between 0 and 1?
# </details>
# <details><summary>Hint 2</summary>
#
# `gather` picks one column for each row. Sample a replacement for every row, needed or not, and choose with
# `torch.where`.
# </details>
# <details><summary>Hint 3</summary>
#
# `accepted = torch.rand(?, generator=generator) * of_draft < ?`, then `replacement = torch.multinomial(leftover(?, ?),
# 1, generator=generator).squeeze(1)`.
# </details>
#
# Docs: [torch.gather](https://pytorch.org/docs/stable/generated/torch.gather.html) ·
# [torch.multinomial](https://pytorch.org/docs/stable/generated/torch.multinomial.html).

# %% [markdown]
# **What you've built.** The step that everything rests on. Does it hold for the real models? Somewhere in a story the
# hero has "met a", and nine animals may follow (only the ant needs "an"). We let the counts propose 50,000 times.

# %%
print(f"{lab.MET_A} ...")
target_says, draft_says, animals = lab.next_words(drafts["counts after 3"], lab.MET_A)
generator = torch.Generator().manual_seed(0)
proposed = torch.multinomial(draft_says, 50_000, replacement=True, generator=generator)
rows = [chances.expand(50_000, -1) for chances in (target_says, draft_says)]
tokens, accepted = accept_or_replace(*rows, proposed, generator)
shares = lab.frequencies(tokens, len(target_says))
compared = {"the target": target_says, "the draft": draft_says, "accepted or replaced": shares}
print(f"accepted: {accepted.double().mean():.2f}, expected: {acceptance_rate(target_says, draft_says):.2f}")
shown = {name: row[list(animals.values())].tolist() for name, row in compared.items()}
plots.chances(shown, list(animals), title="What comes after 'met a'?")

# %% [markdown]
# **What you should see**
#
# - What comes out is as frequent as the target says: of 50,000 tokens, no token's share is off by more than 0.008. The draft itself is off by 0.03 or more. <!-- claim: the_rule_is_exact -->

# %% [markdown] exercise="keeps_the_distribution" kind="core" difficulty=3 minutes=15
# A wrong rule is hard to notice. Its stories still read like stories, and if it accepts more than it should, they even
# come faster. This is the lesson's bug clinic: write a test that is given a sampler, and says whether its tokens are
# distributed as the target says.
#
# How close is close enough? If you count n tokens, chance moves a share p by about √(p (1 - p) / n). For p = 0.5 and
# 100 tokens that's 0.05, and for 50,000 tokens it's 0.002.
#
# For example: the target says 0.2, 0.3, 0.5. Shares of 0.203, 0.298 and 0.499 in 50,000 tokens are fine. Shares of
# 0.25, 0.3 and 0.45 aren't.
#
# <details><summary>Hint 1</summary>
#
# How many tokens do you need before a difference of 0.04 can't be chance?
# </details>
# <details><summary>Hint 2</summary>
#
# Count how often each id comes up, and divide by how many there are. Look at the largest difference, in either
# direction.
# </details>
# <details><summary>Hint 3</summary>
#
# `shares = torch.bincount(tokens, minlength=?) / ?`, then `((shares - ?).abs() < ?).all()`.
# </details>
#
# Docs: [torch.bincount](https://pytorch.org/docs/stable/generated/torch.bincount.html).

# %% [markdown]
# **What you've built.** A test that catches what no reader would. Below are your own rule and four others that look
# reasonable. Each of the four says with what probability a proposed token is accepted, and what its replacement is
# sampled from. As before, p is the target and q the draft.

# %%
rules = {
    "yours": lab.with_your_rule(accept_or_replace),
    "replaced from the target": lab.with_rule(lambda p, q: p / q, lambda p, q: p),
    "accepted where the target likes it better": lab.with_rule(lambda p, q: (p >= q).float(), leftover),
    "accepted with the target's probability": lab.with_rule(lambda p, q: p, leftover),
    "accepted if above 0.1": lab.with_rule(lambda p, q: (p > 0.1).float(), leftover),
}

# %% [markdown]
# Now your test meets all five. **How many of the four does it find?**

# %%
guess_found = None  # a number from 0 to 4

p, q = torch.tensor([0.4, 0.3, 0.2, 0.1]), torch.tensor([0.1, 0.2, 0.3, 0.4])
sound = {name: keeps_the_distribution(rule, p, q) for name, rule in rules.items()}
found = sum(not passes for passes in sound.values())
print(f"your guess: {guess_found}, it is: {found}")
pd.Series(sound, name="sound")

# %% [markdown] exercise="speculative_step" kind="core" difficulty=4 minutes=25
# Put it together. The draft writes `count` tokens, one after the other. Then the target is called once.
#
# Mind the positions: the logits at position 4 say what comes *at position 5*. And mind the end: if all proposed tokens
# are accepted, the target's last logits are there for the taking, so you get one more token for free. A pass yields at
# least one token and at most `count + 1`.
#
# For example: the text has 6 tokens, and 3 are proposed. The target reads 9, and returns logits at 9 positions. The
# last 4 of them matter: three to check the proposals, and one for what comes after them. If the second proposal is
# rejected, the new text has 8 tokens: the first proposal, and a replacement for the second.
#
# <details><summary>Hint 1</summary>
#
# What do you have to remember of each proposal, besides the token?
# </details>
# <details><summary>Hint 2</summary>
#
# Keep the draft's probabilities, (1, vocab_size), in a list. After the one call of the target, go through the proposals
# with `accept_or_replace` on a batch of one, and return as soon as one isn't accepted.
# </details>
# <details><summary>Hint 3</summary>
#
# `wanted = target(proposed.unsqueeze(?))[0].softmax(dim=?)`; for the token at `place`, the target's row is `wanted[? :
# ?]`, and the proposed token is `proposed[? : ?]`.
# </details>
#
# Docs: [torch.no_grad](https://pytorch.org/docs/stable/generated/torch.no_grad.html).

# %% [markdown]
# **What you've built.** Speculative decoding, as in the papers of 2023. Here the storyteller tells a story with the
# help of the counts, five proposals at a time. Each bar `|` is where a pass of the storyteller ended.

# %%
text, passes = lab.marked(drafts["counts after 3"], 5, speculative_step)
print(text)
print(f"{passes} passes for {lab.TOKENS} tokens or a few more")

# %% [markdown]
# How many tokens should you propose? That depends on how often they are accepted.

# %% [markdown] exercise="expected_tokens" kind="core" difficulty=1 minutes=5
# If each proposal is accepted with the same probability a, the first counts with probability a, the second only if the
# first was accepted, so with a², and so on. One token is certain: the replacement, or the one at the end.
#
# $$1 + a + a^2 + \dots + a^{\text{count}}$$
#
# For example: with a = 0.5 and two proposals it is 1 + 0.5 + 0.25 = 1.75.
#
# <details><summary>Hint 1</summary>
#
# How many terms does the sum have, if 2 tokens are proposed?
# </details>
# <details><summary>Hint 2</summary>
#
# A sum over `range(?)` needs no closed form, and no special case for a = 1.
# </details>
# <details><summary>Hint 3</summary>
#
# `float(sum(rate**place for place in range(?)))`
# </details>

# %% [markdown]
# **What you've built.** A forecast. Now the measurement: eight stories of 100 tokens, for two drafts and four numbers
# of proposals. It takes a quarter of a minute or so. **How many tokens does a pass yield, with counts after three
# tokens and 4 proposals?**

# %%
guess_tokens = None  # a number between 1 and 5

some = {name: drafts[name] for name in ("counts after 1", "counts after 3")}
tokens_a_pass = lab.by_proposals(some, step=speculative_step)
print(f"your guess: {guess_tokens}, it is: {tokens_a_pass.loc['counts after 3', 4]:.2f}")
forecast = [expected_tokens(rates["counts after 3"], count) for count in (1, 2, 4, 8)]
lab.draw_yields(tokens_a_pass, {"the forecast for 3": forecast})

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - With 4 proposals, counts after three tokens yield 2.7 to 3.1 tokens for each pass, depending on the seed: a third of the passes. After one token they yield 1.4 to 1.6. <!-- claim: a_third_of_the_passes -->
# - The forecast for 4 proposals is within 20% of what is measured. For counts after three tokens it is too high, by 5 to 17%. <!-- claim: the_formula_is_close -->
#
# Real proposals don't all have the same chance: in the middle of a phrase nearly everything is accepted, and less where
# the story makes a choice.
# </details>
#
# Passes are what we count, since they don't depend on the machine. On the clock, a pass over five tokens has to cost
# about as much as one over a single token, or nothing is saved. Here is the processor time of this machine, with a
# cache for both, from which rejected tokens are taken out again:

# %%
lab.timed(drafts["counts after 3"])

# %% [markdown]
# When we ran it, a token took 1.4 to 1.6 milliseconds alone, and 0.8 to 1.0 with the draft: less is saved than the
# passes promise, because a longer pass and the draft cost something, too.
#
# So the answer to the question at the beginning is **yes**: two tokens of three are the table's, the Llama makes a
# third as many passes, and each story is exactly as likely as before. Look at the bars once more: passes are short in
# names, which no table has counted, and long in phrases.
#
# ## Time for a break
#
# The rest of the lesson is about the model itself and about memory. A question to take with you: with how few bits for
# each of its weights does the storyteller still tell a story?

# %% [markdown]
# ## Part 2 · Fewer bits
#
# With a single reader, a large model spends most of a pass on *reading its weights* from memory, and little on
# computing. Half as many bits per weight can mean nearly twice the speed, and a model that fits into a smaller machine.
# The published storyteller uses 16 bits per weight. Does it need them?

# %% [markdown] exercise="quantize" kind="core" difficulty=2 minutes=15
# With 4 bits you can tell 16 numbers apart. So replace each weight with a whole number from -7 to 7, and remember how
# much 1 stands for: the **scale**. (-8 would be possible too, but then the two sides would differ.) One scale for the
# whole matrix would be ruined by a single large weight, so each group of neighbouring weights has its own.
#
# For example: the group (0.9, -2.0) with 4 bits. The largest absolute value is 2.0, so the scale is 2.0 / 7 = 0.2857.
# The codes are 0.9 / 0.2857 = 3.15, rounded to 3, and -7. Multiplied by the scale, they give 0.857 and -2.0.
#
# <details><summary>Hint 1</summary>
#
# How can you reshape the weights so that each group has an axis to itself?
# </details>
# <details><summary>Hint 2</summary>
#
# The largest absolute value along the last axis, with the axis kept. What must not be 0, when you divide by it?
# </details>
# <details><summary>Hint 3</summary>
#
# `grouped = weights.reshape(len(weights), -1, ?)`, `scales = torch.where(largest > 0, largest / ?, 1.0)`, and
# `torch.round(? / ?).to(torch.int8)`.
# </details>
#
# Docs: [torch.round](https://pytorch.org/docs/stable/generated/torch.round.html) ·
# [torch.amax](https://pytorch.org/docs/stable/generated/torch.amax.html).

# %% [markdown]
# **What you've built.** Absmax quantization. Now round all matrices of the storyteller, and measure how many bits per
# character new stories cost it then. A scale takes 16 bits itself, so with groups of 32 weights each weight takes half
# a bit more. **With how few bits does it still need less than 0.1 bits per character?**

# %%
guess_bits = None  # 8, 6, 5, 4, 3 or 2

by_bits = lab.by_bits(quantize)
fine = by_bits[by_bits["bits per character"] < 0.1]
fewest = int(fine["bits"].min())
print(f"your guess: {guess_bits}, it is: {fewest}")
by_bits["kilobytes"] = [round(lab.storage(bits)) for bits in by_bits["bits per weight"]]
by_bits.round({"bits per character": 4, "bits per weight": 3})

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - Down to 4 bits it costs next to nothing: at most 0.004 bits per character more than the published weights. <!-- claim: four_bits_cost_little -->
# - With 3 bits, stories cost 0.12 to 0.15 bits per character with a scale for each row, and 0.09 to 0.12 with a scale for each 32 weights. <!-- claim: three_bits_cost_more -->
# - With 2 bits it is lost: above 1.5 bits per character, more than twice as many as counts after four tokens need. <!-- claim: two_bits_are_too_few -->
# - The storyteller in 4 bits is an excellent draft for itself: it is accepted 98 to 99% of the time. <!-- claim: it_is_its_own_draft -->
#
# Dettmers and Zettlemoyer found the same step for models up to 176 billion weights: for a given number of bits in all,
# 4 bits per weight is nearly always best. What doesn't carry over is how easy it was: rounded like this to 4 bits, a
# model of 175 billion weights lost a lot more, and GPTQ, which makes up for each rounding in the weights that are still
# to come, is one way out. Models of that size also have a few columns of *activations* with huge values. If you round
# those as well, you have to treat these columns separately, as LLM.int8() does. And a model in 4 bits is only faster with
# code that computes with packed numbers; ours turns them back into floats first.
# </details>

# %% [markdown] exercise="pack_int4" kind="stretch" difficulty=2 minutes=10
# PyTorch's smallest whole number has 8 bits, so a code of 4 bits still takes a whole byte. Put two of them into one.
#
# For example: the codes 1 and 2 become 1 + 16 · 2 = 33. The codes -1 and 0 become 15 + 16 · 0 = 15, since -1 is stored
# as -1 + 16.
#
# <details><summary>Hint 1</summary>
#
# What is each code, once all are from 0 to 15?
# </details>
# <details><summary>Hint 2</summary>
#
# `[:, 0::2]` are the first of each pair. Moving something up by 4 bits is a multiplication.
# </details>
# <details><summary>Hint 3</summary>
#
# `halves = torch.where(codes < 0, ?, ?)` as `int`, then `(halves[:, 0::2] + ? * halves[:, 1::2]).to(torch.uint8)`.
# </details>
#
# Docs: [torch.where](https://pytorch.org/docs/stable/generated/torch.where.html).

# %% [markdown]
# **What you've built.** The form in which 4-bit models lie on disk. Here is one matrix of the storyteller, there and
# back:

# %%
weights = lab.target_and_words()[0].blocks[0].attention.query.weight.detach()
codes, scales = quantize(weights, bits=4, group=32)
packed = pack_int4(codes)
back = dequantize(unpack_int4(packed), scales)
print(f"{weights.numel() * 2:,} bytes in 16 bits, {packed.numel() + 2 * scales.numel():,} packed")
print(f"{bits_per_weight(4, 32)} bits per weight; the same codes: {torch.equal(unpack_int4(packed), codes)}")
print(
    f"largest error, in steps of the scale: {((weights - back).abs() / scales.repeat_interleave(32, dim=1)).max():.2f}"
)

# %% [markdown]
# ## Part 3 · Many readers
#
# A pass over eight texts reads the weights once for all of them, so a server answers many readers together. But readers
# don't all want the same: one leaves after a paragraph, another wants the whole story. If the batch has to end before
# the next one begins, the slot of the first stays empty until the last has finished.
#
# ![Six texts in two slots. Batch by batch it takes 13 passes, with empty slots beside the longer text. When texts join and leave it takes 10 passes, with one empty slot at the end.](picture:slots_in_turn)

# %% [markdown] exercise="serve" kind="core" difficulty=3 minutes=20
# So look at the slots before *each* pass: who has ended leaves, and the first in line joins. This is called
# **continuous batching** (Yu and others 2022, who call it iteration-level scheduling).
#
# For example: three prompts, two slots. The texts need 2, 3 and 1 tokens. The first pass has texts 1 and 2, the second
# too. Text 1 has ended then, so the third pass has texts 2 and 3. Three passes in all; batch by batch it would be four.
#
# <details><summary>Hint 1</summary>
#
# What do you have to know of each text between two passes? Which texts are waiting, which are running, what has each
# got so far?
# </details>
# <details><summary>Hint 2</summary>
#
# Keep the *numbers* of the prompts in two lists, `waiting` and `running`. A loop that goes on while either has
# something in it.
# </details>
# <details><summary>Hint 3</summary>
#
# `while waiting and len(running) < ?: running.append(waiting.pop(?))`, then `tokens = step([prompts[number] + answers[number]
# for number in running])`.
# </details>
#
# Docs: [list](https://docs.python.org/3/tutorial/datastructures.html#more-on-lists).

# %% [markdown]
# **What you've built.** The loop at the heart of every server for language models. Sixty readers come to the
# storyteller, and each leaves after some paragraph, drawn at random. There are eight slots. **What share of the passes
# do you save?**

# %%
guess_saved = None  # a share between 0 and 1

lengths = lab.lengths_asked(60)
joining, in_turn = lab.passes(lengths, 8, serve), lab.batch_by_batch(lengths, 8)
saved = 1 - joining[0] / in_turn[0]
print(f"your guess: {guess_saved}, it is: {saved:.2f}")
print(f"batch by batch: {in_turn[0]} passes, {in_turn[1]:.0%} of the slots in use")
print(f"join and leave: {joining[0]} passes, {joining[1]:.0%} of the slots in use")
alike = [200] * 60
print(f"control, 60 texts of 200 tokens: {lab.batch_by_batch(alike, 8)[0]} and {lab.passes(alike, 8, serve)[0]} passes")
in_use = {"batch by batch": lab.in_batches(lengths, 8), "join and leave": lab.occupied(lengths, 8, serve)}
lab.draw_slots(in_use, title="Sixty readers, eight slots")

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - Joining and leaving saves 34 to 49% of the passes, depending on which readers come. <!-- claim: joining_saves_passes -->
# - If you knew all lengths in advance, and put texts of similar length into the same batch, joining and leaving would save only 7 to 18%. <!-- claim: little_to_save_where_lengths_are_known -->
# - Where all texts have the same length, it saves nothing. <!-- claim: nothing_to_save_where_all_are_alike -->
#
# The more lengths differ, the more there is to save. On real servers, where one reader asks for a word and another for
# an essay, the difference can be larger.
# </details>

# %% [markdown] exercise="BlockCache" kind="core" difficulty=4 minutes=25
# Each text has a cache of keys and values, and nobody knows how long it'll get. If you reserve room for the longest
# possible text, most of it stays empty. If you reserve too little, you have to move everything when a text outgrows it.
# Operating systems solved that in the sixties, with **pages**: memory is cut into blocks of equal size, and whoever
# needs more gets another, wherever it is.
#
# ![A pool of five blocks of three tokens. Text a, with five tokens, has blocks 0 and 3; text b, with four, has blocks 1 and 4. Block 2 is free.](picture:table_of_blocks)
#
# You need it for both halves of this lesson: a reader who leaves gives all blocks back, and a token that the target has
# rejected must leave the cache again. Both are `truncate`.
#
# For example: blocks of 4, a text of 5 tokens. It has 2 blocks, and the second has room for 3 more. Truncated to 4
# tokens it needs 1 block, and the other is free again.
#
# <details><summary>Hint 1</summary>
#
# What does the cache have to know of each text: which blocks, in which order, and what else?
# </details>
# <details><summary>Hint 2</summary>
#
# One tensor for everything, (num_blocks, block_size, 2, d); a list of free blocks; and two dicts, from a text to its
# blocks and to its length.
# </details>
# <details><summary>Hint 3</summary>
#
# A text needs a new block if `length == len(blocks) * self.size`. After `truncate`, it needs `-(-length // self.size)`
# blocks: that rounds up. `self.pool[blocks].flatten(0, 1)[:length]` is a copy of what it has.
# </details>
#
# Docs: [indexing](https://docs.pytorch.org/docs/stable/tensor_view.html), of which a list of numbers makes a copy.

# %% [markdown]
# **What you've built.** The cache that vLLM made famous as PagedAttention (Kwon and others 2023). How much memory is in
# use for tokens, once sixty readers have got what they wanted? We compare blocks of 16 with room for 450 tokens each,
# longer than any story.

# %%
lab.blocks_needed(lengths, 16)

# %% [markdown]
# **What you should see**
#
# - In blocks of 16, 95 to 97% of the memory holds tokens; with room for the longest, 36 to 48%. <!-- claim: blocks_waste_little -->
#
# Kwon and others measured 20 to 38% for the servers of their time, and 96% for their own. What is lost in blocks is half a block per text, on
# average.
#
# Now everything together: the storyteller with your cache and your loop, six readers in three slots. **Will the stories
# be the same as if each reader had been alone?**

# %%
guess_same = None  # True or False

together, passes, blocks = lab.told_together(6, 3, serving=serve, kind=BlockCache)
alone, passes_alone, _ = lab.told_together(6, 1, serving=serve, kind=BlockCache)
print(f"your guess: {guess_same}, it is: {together == alone}")
print(f"{passes} passes together, {passes_alone} one after the other; at most {blocks} blocks in use")
print(together[0])

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - All stories are the same, token for token, in less than half as many passes. <!-- claim: the_same_stories_together -->
#
# (Each token is the most likely one, so nothing is left to chance. On other hardware a batch may be added up in a
# different order, and where two tokens are nearly equally likely, the last digit can decide.)
# </details>
#
# ## What carries over
#
# | | here | at scale |
# |---|---|---|
# | speculative decoding | a third of the passes, with a table as the draft | the rule is the same, and just as exact. The papers report 2 to 3 times the speed, with a small Transformer as the draft. Our stories are unusually predictable |
# | but | one reader at a time | with many readers in a batch, the machine is busy computing, and checking tokens that are then dropped is no longer free |
# | 4 bits | at most 0.004 bits per character | a little loss as well, with care for outliers |
# | join and leave | a third or more of the passes | more where requests differ more |
# | blocks | 96% instead of 42% | twice as many readers and more in the same memory. Equal beginnings can share blocks |
#
# Three of the four leave the model's answers exactly as they were, and can be tested for it: the same distribution, or
# the same tokens. Only fewer bits change what it says, and you can measure by how much.
#
# ## Explain it
#
# A colleague writes: "I made speculative decoding faster. If the target's favourite token is the one that was proposed,
# I accept it; otherwise I take the target's favourite. It now accepts more, and the texts look fine. So it's a free
# improvement."
#
# Answer in four or five sentences. What does this rule sample from, when would it be right, how would you show the
# difference, and what would you tell a user of the old version?

# %% [markdown] explain=true
# The rule always ends with the target's favourite, so it is greedy decoding, whatever temperature the user asked for.
# For greedy decoding it would be right, and exact. For sampling it is wrong: less likely tokens never come up, so the
# texts lose their variety, which nobody sees in a single one. I'd sample one next token many thousand times, at a place
# where several are likely, and compare the shares with the target's probabilities; the favourite would come up every
# time. Speed must be compared between rules that have the same distribution. I'd tell the user that the old version
# samples as the model says, and that this one doesn't.

# %% [markdown]
# ## How good were your guesses?
#
# Here are your guesses next to what happened. Numbers may be a little off: 0.05 for a share, 0.3 tokens. A wrong
# guess is worth more than none: it shows you where to look.

# %%
board = [
    ("how often counts are accepted", guess_accepted, rates["counts after 3"]),
    ("counts or network", guess_draft, better),
    ("wrong rules found", guess_found, found),
    ("tokens for each pass", guess_tokens, tokens_a_pass.loc["counts after 3", 4], 0.3),
    ("bits that are enough", guess_bits, fewest),
    ("share of passes saved", guess_saved, saved),
    ("the same stories together", guess_same, together == alone),
]
guesses.board(board)

# %% [markdown]
# ## Recap
#
# Answer from memory, then check.
#
# **1.** With what probability is a proposed token accepted, and where does its replacement come from?
#
# <details><summary>Answer</summary>
#
# min(1, target / draft). From what the target gives each token beyond what the draft gives it, scaled to a sum of 1.
# </details>
#
# **2.** What happens if the draft is terrible?
#
# <details><summary>Answer</summary>
#
# Hardly anything is accepted, so each pass yields little more than one token, and the draft's work is wasted. The
# distribution of the result is the same.
# </details>
#
# **3.** Why does each group of weights have a scale of its own?
#
# <details><summary>Answer</summary>
#
# One large weight sets the scale for all that share it, and the small ones are rounded to 0.
# </details>
#
# ## Things to try
#
# - A draft that looks things up in the story itself: what followed the last time that these two tokens came up? No training, no table.
# - Another number of stories for the counts: `lab.counted(3, stories=50)`. Where does a fourth token begin to help?
# - Stop proposing early if the draft is unsure. How would you choose the threshold, and does the proof still hold?
# - Quantize only the feed-forward networks, or only the attention. Which of them minds 3 bits more?
# - Let two texts that begin alike share blocks, until one of them writes into a shared one.
#
# ## Glossary
#
# | word | meaning |
# |---|---|
# | acceptance rate | the chance that a proposed token is accepted |
# | block | a piece of a cache with room for a fixed number of tokens; vLLM's page |
# | continuous batching | texts join and leave a batch before each pass |
# | draft | the cheap model, which proposes |
# | leftover | what the target gives beyond what the draft gives; papers say residual distribution |
# | pass | one call of the model |
# | quantize | store numbers in few bits, as whole numbers and a scale |
# | scale | what a code of 1 stands for |
# | target | the model whose distribution the answers have |
#
# ## Papers
#
# - Leviathan, Kalman, Matias, [Fast Inference from Transformers via Speculative Decoding](https://arxiv.org/abs/2211.17192), ICML 2023: section 2 and algorithm 1.
# - Chen and others, [Accelerating Large Language Model Decoding with Speculative Sampling](https://arxiv.org/abs/2302.01318), 2023: theorem 1.
# - Dettmers and others, [LLM.int8()](https://arxiv.org/abs/2208.07339), NeurIPS 2022: section 2.
# - Dettmers, Zettlemoyer, [The case for 4-bit precision](https://arxiv.org/abs/2212.09720), ICML 2023.
# - Frantar and others, [GPTQ](https://arxiv.org/abs/2210.17323), ICLR 2023.
# - Yu and others, [Orca](https://www.usenix.org/conference/osdi22/presentation/yu), OSDI 2022: section 3.
# - Kwon and others, [Efficient Memory Management for Large Language Model Serving with PagedAttention](https://arxiv.org/abs/2309.06180), SOSP 2023: section 4.
