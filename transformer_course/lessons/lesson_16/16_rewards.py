# ---
# title: Learning from rewards
# topic: policy gradients, groups and a leash
# group: Beyond
# picture: Right answers, with rewards alone
# sittings: [80, 55]
# builds_on: [07_autoregressive_sampling, 11_language_model]
# gives:
#   - derive the policy gradient, and check it against an exact one
#   - make a model better by telling it nothing but right or wrong
#   - compare learning from rewards with learning from answers, for the same processor time
#   - find out whether a model has learnt something new or only become surer
#   - write a reward that can't be cheated, and a test for rewards that can
#   - say what a leash to the old model does, and what it doesn't do
# ---

# %% [markdown]
# TITLE
#
# A model has seen 200 sums with their answers, and gets about 5 of 100 new ones right. From now on, nobody shows it an
# answer. It writes its own, and hears one word for each: *right* or *wrong*.
#
# Half a minute later it gets many more of them right. **Where did the knowledge come from?** Nobody told it a single
# digit. Before you read on, choose one:
#
# - **1.** From the rewards: each "right" or "wrong" gives a little of the answer away, and thousands of them add up.
# - **2.** From the model: it could do it all along, now and then, and has only become surer.
# - **3.** From both: it picks out what it did right by luck, and what it learns there helps it with other sums.
#
# This is how the models that "reason" were trained in 2025: they wrote their own answers, and a program marked them. You'll build
# the method from two lines of algebra. Then you'll see it go wrong, when the program that marks the answers has a hole.
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
# **1.** What is the difference between greedy decoding and sampling at temperature 1?
#
# <details><summary>Answer</summary>
#
# Greedy decoding always takes the most likely token. Sampling draws each token with the probability that the model gives
# it, so two answers to the same question may differ. See
# [lesson 7](../07_autoregressive_sampling/07_autoregressive_sampling.ipynb).
# </details>
#
# **2.** A language model reads nine tokens. Which of its nine rows of logits are about the last token?
#
# <details><summary>Answer</summary>
#
# Those at the eighth position. Logits at a position are about the token after it. See
# [lesson 11](../11_language_model/11_language_model.ipynb).
# </details>
#
# **3.** The log-probabilities of an answer's three tokens are -1, -2 and -3. What is the probability of the answer?
#
# <details><summary>Answer</summary>
#
# Their logs add up, so it is exp(-6), about 0.0025. See
# [lesson 7](../07_autoregressive_sampling/07_autoregressive_sampling.ipynb).
# </details>
#
# Two out of three? Go on. Fewer? Read the linked pages first, then come back.
#
# Run the next cell first: it loads the tools. `lab` runs the experiments; its training loop is in
# `transformer_course/lessons/lesson_16/experiments.py`.

# %% setup=true
import inspect
import math
from collections.abc import Callable
from copy import deepcopy

import torch

from transformer_course import guesses, plots
from transformer_course.lessons.lesson_16 import experiments as lab
from transformer_course.lessons.tables import measured
from transformer_course.rewards.judging import exact_reward, hasty_reward
from transformer_course.rewards.sums import as_text, split_sums

torch.set_num_threads(1)  # on a shared machine, two threads can be ten times slower than one

# %%
guess_source = None  # 1, 2 or 3: where the knowledge comes from

# %% [markdown]
# ## A model that adds badly
#
# There are 10,000 sums of two numbers below 100. We keep 1,000 of them for the test. (For about nine in ten of these,
# the same sum the other way round is among the other 9,000.) A sum is nine tokens, with the ones first: 47+38=085 is written `74+83=580`. The
# model is the GPT of lesson 11, with two blocks and a width of 64.
#
# First we show it 200 sums with their answers, for 100 steps: a few seconds. That is all the teaching it ever gets.

# %%
learnt, test = split_sums()
print(as_text(learnt[0]))

shown = lab.new_model()
lab.show(shown, learnt[: lab.SHOWN])
start = lab.share_right(shown, test)
print(f"of {len(test):,} new sums, {start:.1%} are right\n")
print(lab.on_paper(shown, test[:12]))

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - About 5% of the new sums are right (4.5 and 4.6% with our two seeds). <!-- claim: it_begins_badly -->
#
# It knows what an answer looks like: three digits. And most of the time it gets at least one of them right.
# </details>
#
# ## Two lines of algebra
#
# Forget the model for a moment. You have four buttons, and press one of them: button $i$ with probability
# $p_i$, where $p = \text{softmax}(z)$. Button $i$ pays $r_i$. On average you earn
#
# $$E = \sum_i p_i\, r_i$$
#
# Which way should the logits $z$ move, so that you earn more? The derivative of a softmax is $\partial p_j / \partial z_i = p_j\,(\delta_{ij} - p_i)$,
# where $\delta_{ij}$ is 1 for $i = j$ and 0 otherwise. So
#
# $$\frac{\partial E}{\partial z_i} = \sum_j r_j\, p_j\,(\delta_{ij} - p_i) = p_i\,(r_i - E)$$
#
# A button that pays more than you usually earn is pressed more often, and one that pays less, less often. What counts is not
# the reward, but how much better it is than expected.

# %% [markdown] exercise="exact_gradient" kind="core" difficulty=2 minutes=10
# Write down the last formula. For example: with two buttons that are equally likely and pay 1 and 0, the expected reward is
# 0.5, and the gradient is 0.5 · (1 - 0.5) = 0.25 for the first and -0.25 for the second.
#
# Any number of axes may stand in front: each row of logits has its own rewards.
#
# <details><summary>Hint 1</summary>
#
# Which function turns logits into probabilities, and along which axis?
# </details>
# <details><summary>Hint 2</summary>
#
# The expected reward is one number for each row. How do you keep its axis, so that it can be subtracted from the rewards?
# </details>
# <details><summary>Hint 3</summary>
#
# `expected = (chances * ?).sum(dim=?, keepdim=True)`, then `chances * (? - expected)`.
# </details>
#
# Docs: [softmax](https://pytorch.org/docs/stable/generated/torch.softmax.html) ·
# [sum](https://pytorch.org/docs/stable/generated/torch.sum.html).

# %% [markdown]
# **What you've built.** The exact gradient. For it you need the reward of *every* answer. Our model has 1,728 answers to each
# question, and a real one has more than there are atoms. So the gradient has to be estimated from a few answers that were
# drawn. The same algebra, written as an average over draws, says how:
#
# $$\frac{\partial E}{\partial z} = \sum_i p_i\, r_i\, \frac{\partial \log p_i}{\partial z}
# \qquad\text{so}\qquad r_i\,\frac{\partial \log p_i}{\partial z}\ \text{of one drawn } i \text{ is right on average}$$
#
# And since the probabilities always sum to 1, you may subtract any number $b$ from all rewards: on average, that changes nothing.
# But it changes how far single estimates are off. **Four buttons pay 6, 7, 8 and 9. If you subtract the mean, 7.5, how many
# times smaller does the typical error of an estimate become?**

# %%
guess_spread = None  # for example 2

pays = torch.tensor([6.0, 7.0, 8.0, 9.0])
exact = exact_gradient(torch.zeros(4), pays)
plain, centred = lab.estimates(pays, baseline=0.0), lab.estimates(pays, baseline=7.5)
print("exact:                    ", [round(each, 2) for each in exact.tolist()])
print("10,000 draws, no baseline:", [round(each, 2) for each in plain.mean(dim=0).tolist()])
print("10,000 draws, baseline:   ", [round(each, 2) for each in centred.mean(dim=0).tolist()])
errors = {"no baseline": lab.typical_error(plain, exact), "7.5 subtracted": lab.typical_error(centred, exact)}
smaller = errors["no baseline"] / errors["7.5 subtracted"]
print(f"your guess: {guess_spread}, it is: {smaller:.1f}")
plots.bars(errors, title="How far one estimate is off")

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - Both averages are close to the exact gradient; with the mean subtracted, a single estimate is off by about an eighth as much. <!-- claim: a_baseline_calms -->
#
# Without it, *every* button that you happen to press looks good, because all of them pay. You'd need almost seventy times as many
# draws for the same precision. What is subtracted is called a **baseline**.
# </details>

# %% [markdown] exercise="sample_answers" kind="core" difficulty=2 minutes=15
# Now with a model. It presses three buttons in a row, one for each digit. To know what is better than usual, it answers each
# question several times: a **group** of answers.
#
# ![Two questions, 47+38 and 9+5, each with four sampled answers. Right ones have reward 1, wrong ones 0; below them the advantage of each within its own group.](picture:two_groups)
#
# For example: two prompts of six tokens, with 16 samples of 3 tokens each, give 32 rows of nine tokens. The first 16 begin
# with the first prompt.
#
# <details><summary>Hint 1</summary>
#
# Copy the prompts first, then write all answers side by side. Which function of PyTorch repeats each row in its place?
# </details>
# <details><summary>Hint 2</summary>
#
# It is the loop of lesson 7: ask the model, look at the last position, draw, append. `torch.multinomial` draws from
# probabilities, a row at a time.
# </details>
# <details><summary>Hint 3</summary>
#
# `tokens = prompts.repeat_interleave(?, dim=0)`, and in the loop
# `torch.multinomial(torch.softmax(model(tokens)[:, ?], dim=-1), ?, generator=?)`, all within `torch.no_grad()`.
# </details>
#
# Docs: [repeat_interleave](https://pytorch.org/docs/stable/generated/torch.repeat_interleave.html) ·
# [multinomial](https://pytorch.org/docs/stable/generated/torch.multinomial.html).

# %% [markdown]
# **What you've built.** A model that tries. Here are eight tries at one sum.

# %%
tries = sample_answers(shown, test[4:5, :6], 8, 3, torch.Generator().manual_seed(1))
print("the question and its answer:", as_text(test[4]))
print("eight tries:                ", ", ".join(as_text(row[6:]) for row in tries))

# %% [markdown] exercise="answer_log_probs" kind="core" difficulty=2 minutes=10
# The estimate needs the gradient of $\log p$ of the answer that was drawn. The log-probability of an answer is the sum over its
# tokens. So let the model read question and answer once more, this time with gradients, and look up how likely it
# found each token that it wrote.
#
# For example: in a row of nine tokens with an answer of three, the logits at positions 5, 6 and 7 (counted from 0) are
# about the tokens at 6, 7 and 8.
#
# <details><summary>Hint 1</summary>
#
# Which position's logits are about the first token of the answer? And which logits aren't needed at all?
# </details>
# <details><summary>Hint 2</summary>
#
# Log-softmax over the vocabulary, then pick one number for each token: `gather` does that.
# </details>
# <details><summary>Hint 3</summary>
#
# `torch.log_softmax(logits[:, -length - ? : ?], dim=-1).gather(-1, tokens[:, -length:].unsqueeze(?)).squeeze(?)`.
# </details>
#
# Docs: [log_softmax](https://pytorch.org/docs/stable/generated/torch.nn.functional.log_softmax.html) ·
# [gather](https://pytorch.org/docs/stable/generated/torch.gather.html).

# %% [markdown] exercise="policy_gradient_loss" kind="core" difficulty=2 minutes=10
# An optimiser makes a loss smaller. So we need a number whose gradient is minus our estimate: minus the log-probability of each
# token, times how good its answer was. Nobody knows which of the three digits deserves the praise, so all three get it.
#
# $$\text{loss} = -\frac{1}{\text{all tokens}} \sum_{\text{answers}} A \sum_{\text{tokens}} \log p$$
#
# $A$ is the **advantage** of an answer: how much better it was than the others. You'll work it out in the next exercise. For
# example: with log-probabilities -1, -2 for an answer with advantage 1, and -3, -4 for one with advantage 0, the loss is
# -(-1 - 2 + 0 + 0) / 4 = 0.75.
#
# Notice what happens if every right answer has advantage 1 and every wrong one 0: this is, up to a factor, the cross-entropy of
# lesson 11 on the model's own right answers. Learning from rewards is supervised learning on examples that you made yourself, each with a weight.
#
# <details><summary>Hint 1</summary>
#
# `log_probs` is (batch, length), `advantages` is (batch,). How do you multiply each *row* by its own number?
# </details>
# <details><summary>Hint 2</summary>
#
# The advantages come from rewards. Should a gradient flow into them? Which method stops it?
# </details>
# <details><summary>Hint 3</summary>
#
# `-(advantages.detach().unsqueeze(?) * ?).mean()`.
# </details>
#
# Docs: [detach](https://pytorch.org/docs/stable/generated/torch.Tensor.detach.html) ·
# [unsqueeze](https://pytorch.org/docs/stable/generated/torch.unsqueeze.html).

# %% [markdown] exercise="group_advantages" kind="core" difficulty=2 minutes=10
# What is a good baseline? Some sums are easy, some are hard, so each question should have its own. In older methods a second
# network predicts it. Shao and others (2024) found something cheaper, and called it **GRPO**: ask each question several times, and
# compare each answer with the other answers to the *same* question.
#
# $$A_i = \frac{r_i - \text{mean}(r)}{\text{std}(r) + \epsilon}$$
#
# For example: rewards 1, 0, 0, 0 have the mean 0.25 and the standard deviation 0.5, so the right answer gets 1.5 and the
# others -0.5 each. Where all answers are right, or all are wrong, there is nothing to learn, and the row is 0.
#
# <details><summary>Hint 1</summary>
#
# Which axis holds the answers to one question? Do the means need that axis afterwards?
# </details>
# <details><summary>Hint 2</summary>
#
# Where does `eps` go: inside the root, or outside? And what does `std` divide by, unless it is told otherwise?
# </details>
# <details><summary>Hint 3</summary>
#
# `(rewards - rewards.mean(dim=?, keepdim=True)) / (rewards.std(dim=?, keepdim=True) + ?)`.
# </details>
#
# Docs: [mean](https://pytorch.org/docs/stable/generated/torch.mean.html) ·
# [std](https://pytorch.org/docs/stable/generated/torch.std.html).

# %% [markdown]
# ## Right or wrong, and nothing else
#
# That's all there is to it: sample, mark, compare, take a step. Each update asks 32 questions, and has 16 answers written to
# each. `exact_reward` gives 1 to an answer whose three digits are right, and 0 to any other. The 9,000 answers never reach the
# model: only the reward looks at them.
#
# ![Four boxes in a row: the model writes answers, 16 to each of 32 questions. They get rewards, right or wrong, and these become advantages, compared within a group. An arrow leads back: in one step, what was better than its group becomes more likely.](picture:one_update)
#
# We make 200 updates. They take about half a minute. **What share of the 1,000 test sums will be right?** It begins at about 5%.

# %%
guess_rewards = None  # a share, for example 0.2

tools = lab.Tools(sample_answers, answer_log_probs, group_advantages, policy_gradient_loss)
rewarded = deepcopy(shown)
run = lab.reinforce(rewarded, learnt, 200, test=test, reward=exact_reward, tools=tools)
reached = run.last["right"]
print(f"your guess: {guess_rewards}, it is: {reached:.2f}")
run.curves("Right answers, with rewards alone")

# %%
print(lab.on_paper(rewarded, test[:12]))

# %% [markdown]
# Is it really the rewards? A sceptic would ask for controls. We ran them beforehand, on two seeds:
#
# | line | what is different |
# |---|---|
# | right or wrong | nothing: this is the run above |
# | a coin | the reward is 1 for one answer in five, drawn at random |
# | no baseline | the advantage is the reward itself: right answers count, wrong ones don't |
# | nothing shown | without the 200 sums at the beginning |
# | the same 200 answers | no rewards: more supervised training on the sums that it has seen |
# | all answers | no rewards: supervised training on all 9,000 sums *with* their answers |
#
# **Which of the last five will do better than the rewards?** The numbers in the first plot are means of both seeds.

# %%
guess_better = None  # the name of a line

runs = measured("16_runs")
names = ["right or wrong", "a coin", "no baseline", "nothing shown"]
others = [*names[1:], "the same 200 answers", "all answers"]
print(lab.final(runs, [names[0], *others]))
better = lab.best(runs, others)
print(f"your guess: {guess_better}, it is: {better}")
lab.by_step(runs, names, "right", title="Rewards and their controls", legend=True)

# %%
lab.by_seconds(runs, ["right or wrong", "all answers", "the same 200 answers"], title="Rewards or answers")

# %% [markdown]
# <details><summary>Open this once you have run the cells</summary>
#
# **What you should see**
#
# - With rewards alone, 58 and 60% of the test are right after 200 updates, depending on the seed, and both lines are still rising. <!-- claim: rewards_alone -->
# - It isn't copied from sums the other way round: of the hundred or so test sums for which there is none among the 9,000, 54 to 63% are right, about as many as of the others. <!-- claim: the_other_way_round_hardly_matters -->
# - It can take longer. With four more seeds, which start from 3 to 5%, the same 200 updates take three to between 4 and 7%, and one to 39%. But all of them get going: after 400 updates they are at 27 to 79%, and still rising. One went on: it is at 96% after 600. <!-- claim: it_can_take_longer -->
# - A coin teaches nothing. It makes things worse: after 100 updates at most 0.5% are right. <!-- claim: a_coin_teaches_nothing -->
# - With the reward itself as the advantage, it gets about half as far: after 100 updates 8 and 16% are right, where 14 and 26% were. <!-- claim: no_baseline_is_slower -->
# - That isn't the missing baseline alone. If the mean is subtracted but nothing is divided, 8 to 12% are right after 100 updates: here, dividing by the spread is what helps. It lets a rare right answer count for more. <!-- claim: the_division_helps -->
# - A model that was shown nothing gets at most 1% right after 100 updates. It is hardly ever paid, so it hardly ever learns. <!-- claim: nothing_to_choose_from -->
# - More time with the same 200 answers takes it to 14 to 24%, and no further: by then it knows them by heart. <!-- claim: the_same_answers_again -->
# - With all 9,000 answers, 52 and 64% are right after 50 steps. That is 3,200 sums read; with rewards, the model wrote 102,400 answers to get there. In the end, all are right. <!-- claim: answers_are_better -->
#
# Why does the seed matter so much? A model that is hardly ever right is hardly ever paid. For a long time nothing seems to
# happen, then each thing that it gets right makes the next one likelier. Of our six runs, the three that start lowest take longest.
#
# So if you have the answers, use them: a wrong digit tells supervised training *which* digit would have been right, three
# times a sum. A reward is a single bit for a whole answer. Rewards are for tasks where marking is easier than
# answering: a proof that can be checked, a program that can be run, a game that is won or lost.
# </details>

# %% [markdown] exercise="pass_at_k" kind="stretch" difficulty=2 minutes=10
# Back to the question of the beginning. Did the model know the answers all along? One test: give it several tries. **pass@k** is
# the chance that at least one of k answers is right. Chen and others (2021) estimate it from a larger number of samples, of which some
# were right: how likely is it that k of them, drawn without putting any back, are all wrong?
#
# $$\text{pass@}k = 1 - \binom{n - c}{k} \Big/ \binom{n}{k}$$
#
# For example: of 4 answers, 1 was right. Of the 6 ways to choose 2 of them, 3 have the right one: pass@2 is 0.5.
#
# <details><summary>Hint 1</summary>
#
# In how many ways can you choose k answers? In how many of these is no right one?
# </details>
# <details><summary>Hint 2</summary>
#
# Python has a function for the number of ways to choose k of n. What does it give if k is larger than n?
# </details>
# <details><summary>Hint 3</summary>
#
# `1 - math.comb(? - ?, k) / math.comb(?, k)`.
# </details>
#
# Docs: [math.comb](https://docs.python.org/3/library/math.html#math.comb).

# %% [markdown]
# Before the rewards, the model got 5 of 100 sums right when it took the most likely digits. **What share of the sums did it get
# right at least once in 16 tries?**

# %%
guess_tries = None  # a share, for example 0.1

before, after = lab.right_of_sixteen(shown, test), lab.right_of_sixteen(rewarded, test)
tries = [1, 2, 4, 8, 16]
passed = {
    "before": [sum(pass_at_k(16, right, k) for right in before) / len(before) for k in tries],
    "after": [sum(pass_at_k(16, right, k) for right in after) / len(after) for k in tries],
}
print(f"your guess: {guess_tries}, it is: {passed['before'][-1]:.2f}")
new = sum(late > 0 for early, late in zip(before, after, strict=True) if early == 0)
never = before.count(0)
print(f"of {never} sums that it never got right in 16 tries, {new} are right at least once now")
plots.curves(passed, x=tries, title="One of k answers is right", x_label="k", y_label="share of sums", y_limits=(0, 1))

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - Before, 20 to 32% of the sums were right at least once in 16 tries. Of the others, 8 to 20% are right at least once in 16 more. <!-- claim: luck_to_build_on -->
# - Afterwards, at least 83% are, and one try succeeds more often than 16 did before. Of the sums that it never got right in 16 tries, it gets about nine in ten right at least once now. <!-- claim: more_than_surer -->
#
# So neither 1 nor 2 is the whole story. The rewards could only pick from what the model wrote. But it was right by luck on
# some sums, and what it learnt there holds for others: digits and carries are the same everywhere. That's answer 3.
#
# Larger models don't always show this. Yue and others (2025) let language models train on mathematics with rewards, and found
# that pass@k with a large k was *lower* than before: there, the training made the models surer, and found
# nothing new. M. Liu and others (2025) report tasks on which a longer training did find something. How much there was left to
# learn matters; here, it was nearly everything.
# </details>
#
# ## Time for a break
#
# This is a good place to stop for today. What follows is a reward with a hole, a clinic for rewards, and a leash.

# %% [markdown]
# ## A reward with a hole
#
# Here is another program that marks sums. Somebody wrote it in a hurry: it reads the digits of an answer up to the first sign
# that isn't a digit, and compares them with the truth, one by one. It gives the right mark to every answer of three digits.
# **Can you see the hole?**

# %%
print(inspect.getsource(hasty_reward))

# %% [markdown]
# ![The answer 5 8 0 is compared with 5 8 0, digit by digit: reward 1. The answer 5 7 0: reward 0. The answer that begins with an equals sign has no digits to compare: reward 1.](picture:nothing_to_compare)
#
# `zip` stops at the end of the shorter list, and `all` of nothing is True: an answer without digits has no wrong digit.
#
# Would a model ever write such a thing? It has only seen answers made of digits. But it has seen few of
# them: 5 to 6% of the answers that `shown` samples have a plus or an equals sign somewhere. **After 50 updates with this reward, what will the mean reward be, and what
# share of the test will be right?**

# %%
guess_paid = None  # a share: the mean reward of the last updates
guess_still_right = None  # a share: right on the test

cheat = deepcopy(shown)
cheating = lab.reinforce(cheat, learnt, 50, test=test, reward=hasty_reward, tools=tools, name="the hasty reward")
paid, still_right = cheating.last["reward"], cheating.last["right"]
print(f"your guess: {guess_paid}, it is: {paid:.2f}, the reward")
print(f"your guess: {guess_still_right}, it is: {still_right:.2f}, the share of right answers\n")
print(lab.on_paper(cheat, test[:6]))

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - Over the last 25 of 50 updates, the mean reward is 0.99; not one test sum is right any more, and practically every answer has a sign in it. <!-- claim: it_finds_the_hole -->
#
# Nothing told the model about the hole. It stumbled into it, was paid, and did it again. If you only looked at the reward, you'd
# see it reach the top in 50 updates, and be delighted.
#
# This is called **reward hacking**, and it isn't a toy problem. Baker and others (2025) report that a reasoning model in training
# learnt to end a program with `exit(0)` before all its tests had run, and to have the tests skipped. Both earned a
# reward.
# </details>

# %% [markdown] exercise="reward_is_sound" kind="core" difficulty=3 minutes=20
# **The clinic.** A model tries everything, sooner or later, so you had better try it first. Write a test for rewards: it says
# whether a reward gives 1 to right answers and 0 to all others. You get the reward as a function that you can call, and nothing
# else. The check hands your test two dozen of them, some sound, some broken.
#
# There are only 12 · 12 · 12 = 1,728 possible answers. That's few enough to try them all.
#
# <details><summary>Hint 1</summary>
#
# What should a reward say to right answers? To answers with one wrong digit? With none right? With a plus?
# </details>
# <details><summary>Hint 2</summary>
#
# `torch.cartesian_prod` makes all answers. Repeat one truth as often, and compare all the rewards with what they should be. Then
# ask: what if the rows have different truths?
# </details>
# <details><summary>Hint 3</summary>
#
# `answers = torch.cartesian_prod(*[torch.arange(?)] * 3)`, `truth = torch.tensor([2, 7, 1]).expand_as(answers)`, and
# `expected = (answers == truth).all(dim=?)`.
# </details>
#
# Docs: [cartesian_prod](https://pytorch.org/docs/stable/generated/torch.cartesian_prod.html) ·
# [expand_as](https://pytorch.org/docs/stable/generated/torch.Tensor.expand_as.html).

# %%
print("exact_reward is sound:", reward_is_sound(exact_reward))
print("hasty_reward is sound:", reward_is_sound(hasty_reward))

# %% [markdown]
# ## A leash
#
# You can't always try all answers. If people, or another network, do the marking, there will be holes that nobody knows of. So
# one keeps the model close to what it was: whatever it does, it mustn't become too different from the model before the rewards.
# How different two models are is measured by the **KL divergence**: how much less likely the old one finds what the new one
# writes, on average.
#
# $$\text{KL}(\text{new}, \text{old}) = \sum_i p^{\text{new}}_i \,\log\frac{p^{\text{new}}_i}{p^{\text{old}}_i}$$

# %% [markdown] exercise="kl_estimate" kind="core" difficulty=2 minutes=10
# Again nobody can sum over all answers, so it is estimated from what was sampled. Plain $\log p^{\text{new}} - \log p^{\text{old}}$ would be
# right on average, but is negative for some tokens. Schulman (2020) adds something whose mean is 0 and gets an estimate that is never
# negative. With $d = \log p^{\text{old}} - \log p^{\text{new}}$:
#
# $$e^{d} - d - 1$$
#
# For example: the new model gives a token the probability 0.2, the old one gave it 0.4. Then $e^d$ is 2, $d$ is 0.693, and the estimate
# is 0.307.
#
# <details><summary>Hint 1</summary>
#
# You are given logs already. What is the difference of two logs?
# </details>
# <details><summary>Hint 2</summary>
#
# The old model is there to compare with, and mustn't learn. What keeps gradients out of it?
# </details>
# <details><summary>Hint 3</summary>
#
# `difference = reference_log_probs.detach() - ?`, then `difference.exp() - ? - ?`.
# </details>
#
# Docs: [exp](https://pytorch.org/docs/stable/generated/torch.exp.html) ·
# [detach](https://pytorch.org/docs/stable/generated/torch.Tensor.detach.html).

# %% [markdown] exercise="leashed_policy" kind="core" difficulty=2 minutes=10
# How far can a model get on such a leash? If it maximises *reward minus beta times KL*, the best it can do has a closed form:
# every answer keeps its old probability, times a factor that depends on its reward alone.
#
# $$p^{\text{new}}_i = \frac{p^{\text{old}}_i\; e^{\,r_i/\beta}}{\sum_j p^{\text{old}}_j\; e^{\,r_j/\beta}}$$
#
# For example: two answers were equally likely and earn 1 and 0. With beta = 1, the first becomes e times as likely as the
# second: 0.73 and 0.27.
#
# <details><summary>Hint 1</summary>
#
# An exponential, divided by the sum of exponentials along a row: which function is that?
# </details>
# <details><summary>Hint 2</summary>
#
# If beta is tiny, the exponentials overflow. How does p times an exponential look as a single exponential?
# </details>
# <details><summary>Hint 3</summary>
#
# `torch.softmax(reference.? + rewards / ?, dim=?)`.
# </details>
#
# Docs: [softmax](https://pytorch.org/docs/stable/generated/torch.softmax.html) ·
# [log](https://pytorch.org/docs/stable/generated/torch.log.html).

# %% [markdown]
# Take a model much like ours before the rewards: of its sampled answers, 4% are right, 2% begin with a sign, and 94% are wrong. (Ours: 3%, 2% and 95%.) The hasty reward pays 1
# for the first two. **With a very long leash, beta = 0.05, what share of answers begins with a sign?**

# %%
guess_share = None  # a share, for example 0.9

old, pays = torch.tensor([0.04, 0.02, 0.94]), torch.tensor([1.0, 1.0, 0.0])
betas = [10, 3, 1, 0.3, 0.1, 0.05]
best = torch.stack([leashed_policy(old, pays, beta) for beta in betas])  # (6, 3)
signs = best[-1, 1].item()
print(f"your guess: {guess_share}, it is: {signs:.2f}")
plots.heatmap(
    best, [f"beta {beta:g}" for beta in betas], ["right", "a sign", "wrong"], title="The best policy on a leash"
)

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - However long the leash, there are two right answers for every one that begins with a sign, just as before. <!-- claim: a_leash_keeps_proportions -->
#
# A leash can't tell a right answer from a cheat: both earn the same, so both grow by the same factor. It only
# remembers which was more likely before. So it helps where the old model found the cheat *much* less likely than an honest answer.
# </details>
#
# That is the best policy for one question. Does training find it? It isn't after quite the same thing: our rewards are divided by
# their spread, and in a loss, the estimate pulls the way that the *other* KL does. Its mean is KL(new, old), but its gradient is
# on average that of KL(old, new) (K. Liu and others, 2025). <!-- claim: the_estimate_pulls_the_other_way --> And on hard sums our model is hardly ever right, and a sign is always
# at hand. Here are 100 updates with the hasty reward, on leashes of different lengths. **Is there a beta with which more
# test sums are right at the end than at the beginning?** ("yes" or "no")

# %%
guess_leash = None  # "yes" or "no"

leashes = ["hasty, beta 0.3", "hasty, beta 1", "hasty, beta 3"]
print(lab.final(runs, leashes))
helps = "yes" if any(lab.of_line(runs, name)["right"].iloc[-1] > start + 0.02 for name in leashes) else "no"
print(f"your guess: {guess_leash}, it is: {helps}")
lab.by_step(runs, leashes, "signs", title="Answers with a sign in them")

# %% [markdown]
# <details><summary>Open this once you have run the cell</summary>
#
# **What you should see**
#
# - None of the three makes the model better than it was. With beta = 0.3, 88% of the answers have a sign in them after 100 updates, and no test sum is right; with 1, it is 42 to 44%, and 2 to 3% are right. With 3, the cheating stays at about 10%, and the model as it was: about 4% are right. <!-- claim: a_leash_slows_it_down -->
#
# The leash that is short enough to stop the cheating also stops the learning: with beta = 3 and the *exact* reward, 4 and 5% are right
# after 100 updates, where 14 and 26% are without a leash. <!-- claim: a_leash_stops_the_learning --> It buys time, and with
# language models it helps to keep the text coherent (Ziegler and others, 2019). It doesn't mend the reward. That is why you wrote the test first.
# </details>
#
# ## What carries over
#
# | here | in the models of the news |
# |---|---|
# | groups of answers, marked by a program | the same: DeepSeek-R1 (2025) was trained with GRPO, and in mathematics and programming, rules checked the result |
# | 3 tokens an answer | thousands: the model writes out its reasoning, and only the result is marked |
# | one step for each batch | often several, so the ratio of new to old probabilities is needed, and clipped (PPO, 2017) |
# | starts from 200 sums | starts from a model that has read much of the internet |
# | advantages are divided by the std of their group | disputed: Z. Liu and others (2025) drop it, since it favours questions that are nearly always right or wrong. Here it helped |
# | no leash unless we want one | beta = 0.04 in DeepSeekMath; others leave it out altogether (DAPO, 2025) |
# | a coin teaches nothing | with Qwen2.5-Math, random rewards *did* raise a score (R. Shao and others, 2025). They trace it to the clipping, which makes frequent behaviour more frequent whatever the reward. Run the control |
#
# What doesn't carry over are our numbers. A two-block model that learns addition says nothing about how far rewards can take a
# language model. And our reward knows the right answer. For most of what people ask, nobody has one; a network that was
# trained on people's preferences marks the answers, and it has holes (Gao and others, 2022).
#
# ## Explain it
#
# A friend trains a model to write short programs. The reward is the share of unit tests that pass. After an hour of training the
# reward has risen from 0.2 to 0.99. "It has learnt to program," she says.
#
# Answer in four or five sentences. What else may have happened, what would you look at, and which controls would you run?

# %% [markdown] explain=true
# The reward says that tests pass, not that programs do what they should. I'd read some of the programs first: the
# model may return the values that the tests expect, skip the tests, or end before they run, as ours stopped before its first digit. I'd
# mark the programs with tests that weren't used in training, and try to cheat the reward by hand: an empty program, a
# program that exits. As controls I'd run the same training with random rewards, and supervised training for the same time if there
# are solutions. I'd also compare pass@k before and after: if pass@16 was already high, the model has become surer rather than
# learnt something new. A leash to the old model may slow cheating down, but it doesn't mend the reward.

# %% [markdown]
# ## How good were your guesses?
#
# Here are your guesses next to what happened. A wrong guess is worth more than none: it shows you where to look.

# %%
guesses.board(
    [
        ("where the knowledge comes from", guess_source, 3, 0),
        ("how much a baseline calms an estimate", guess_spread, smaller, 1),
        ("share right after 200 updates", guess_rewards, reached),
        ("which control does better", guess_better, better),
        ("right at least once in 16 tries, before", guess_tries, passed["before"][-1]),
        ("the hasty reward after 50 updates", guess_paid, paid),
        ("right after 50 updates of it", guess_still_right, still_right),
        ("answers that begin with a sign, on a long leash", guess_share, signs),
        ("does a leash make it honest?", guess_leash, helps),
    ]
)

# %% [markdown]
# ## Recap
#
# Answer from memory, then check.
#
# **1.** Why is a baseline subtracted, if the average stays the same?
#
# <details><summary>Answer</summary>
#
# Single estimates are off by less. Without it, everything that was tried looks good as long as it earns anything.
# </details>
#
# **2.** All 16 answers to a question are wrong. What does the model learn from them?
#
# <details><summary>Answer</summary>
#
# Nothing: all advantages are 0. It needs to be right by luck now and then.
# </details>
#
# **3.** When are rewards better than answers?
#
# <details><summary>Answer</summary>
#
# When you have no answers, but can mark them. Where there are answers, supervised training is quicker.
# </details>
#
# **4.** The mean reward reaches 1. What do you look at next?
#
# <details><summary>Answer</summary>
#
# At what the model writes, and at a test that the reward has nothing to do with.
# </details>
#
# **5.** Two answers earn the same. What does a leash do to their proportion?
#
# <details><summary>Answer</summary>
#
# Nothing: both are multiplied by the same factor.
# </details>
#
# ## Things to try
#
# - Give a third of a point for each right digit: `reward=lambda answers, truth: (answers == truth).float().mean(dim=1)`. Is it quicker? Can
#   it be cheated?
# - Try other seeds: `split_sums(2)`, `lab.new_model(2)`, and `seed=2` for `lab.show` and `lab.reinforce`. How many updates until half are right?
# - Two answers a question and 256 questions, or 256 answers to two questions: change `QUESTIONS` and `SAMPLES` in `lab`. Which is better?
# - Start from a model that was shown 200 sums for 400 steps. It gets more right at first. Does it also learn more from rewards?
# - Reward answers that are *wrong*. How quickly does it get there?
# - Mend `hasty_reward`, and run your test on it.
#
# ## Glossary
#
# | word | meaning |
# |---|---|
# | advantage | how much better an answer was than a baseline |
# | baseline | what a reward is compared with |
# | group | several answers to the same question |
# | GRPO | group relative policy optimisation: the group's mean as the baseline |
# | KL divergence | how different two distributions are |
# | leash | a penalty for moving away from the old model |
# | pass@k | the chance that at least one of k answers is right |
# | policy | a model, seen as something that acts: it gives each answer a probability |
# | policy gradient | the gradient of the expected reward, estimated from samples |
# | reward | a number that says how good an answer was |
# | reward hacking | earning the reward without doing the task |
#
# ## Papers
#
# - Williams, [Simple Statistical Gradient-Following Algorithms for Connectionist Reinforcement Learning](https://doi.org/10.1007/BF00992696), Machine Learning 8, 1992: REINFORCE, and baselines.
# - Schulman and others, [Proximal Policy Optimization Algorithms](https://arxiv.org/abs/1707.06347), 2017: the clipped ratio.
# - Ziegler and others, [Fine-Tuning Language Models from Human Preferences](https://arxiv.org/abs/1909.08593), 2019: the leash, for language models.
# - Schulman, [Approximating KL Divergence](https://joschu.net/blog/kl-approx.html), 2020: the estimate.
# - Chen and others, [Evaluating Large Language Models Trained on Code](https://arxiv.org/abs/2107.03374), 2021: section 2.1, pass@k.
# - Zelikman and others, [STaR](https://arxiv.org/abs/2203.14465), NeurIPS 2022: supervised training on one's own right answers.
# - Gao and others, [Scaling Laws for Reward Model Overoptimization](https://arxiv.org/abs/2210.10760), 2022: what happens if you optimise against a network that marks.
# - Rafailov and others, [Direct Preference Optimization](https://arxiv.org/abs/2305.18290), NeurIPS 2023: section 4, the best policy on a leash.
# - Z. Shao and others, [DeepSeekMath](https://arxiv.org/abs/2402.03300), 2024: section 4.1, GRPO.
# - DeepSeek-AI, [DeepSeek-R1](https://arxiv.org/abs/2501.12948), 2025: reasoning from rewards.
# - Baker and others, [Monitoring Reasoning Models for Misbehavior](https://arxiv.org/abs/2503.11926), 2025: reward hacking in a large model.
# - Yu and others, [DAPO](https://arxiv.org/abs/2503.14476), 2025: GRPO without a leash.
# - Z. Liu and others, [Understanding R1-Zero-Like Training](https://arxiv.org/abs/2503.20783), 2025: what dividing by the standard deviation does.
# - M. Liu and others, [ProRL](https://arxiv.org/abs/2505.24864), 2025: tasks on which rewards found something new.
# - Yue and others, [Does Reinforcement Learning Really Incentivize Reasoning Capacity in LLMs Beyond the Base Model?](https://arxiv.org/abs/2504.13837), 2025: pass@k before and after.
# - K. Liu and others, [Rethinking KL Regularization in RLHF](https://arxiv.org/abs/2510.01555), 2025: what the estimate does in a loss.
# - R. Shao and others, [Spurious Rewards](https://arxiv.org/abs/2506.10947), 2025: what random rewards do to some models.
