"""Lesson 16's experiments do what its text says: above all, no answer reaches a model that learns from rewards."""

from copy import deepcopy

import torch
from torch import nn

from transformer_course.lessons.lesson_16 import experiments as lab
from transformer_course.rewards.judging import exact_reward
from transformer_course.rewards.sums import ANSWER, all_sums, as_text, split_sums

LEARNT, TEST = split_sums(0)


def weights(model: nn.Module) -> torch.Tensor:
    return nn.utils.parameters_to_vector(model.parameters()).detach()


def likes_ones(answers: torch.Tensor, truth: torch.Tensor) -> torch.Tensor:
    """A reward that doesn't look at the truth."""
    return (answers[:, 0] == 1).float()


def rewarded(rows: torch.Tensor, reward: lab.Reward = exact_reward, **how: float) -> nn.Module:
    model = lab.new_model(3)
    lab.reinforce(model, rows, 2, test=TEST[:20], reward=reward, seed=5, **how)  # type: ignore[arg-type]
    return model


def test_answers_reach_the_reward_and_nothing_else() -> None:
    blank = LEARNT.clone()
    blank[:, -ANSWER:] = 0
    assert torch.equal(weights(rewarded(LEARNT, likes_ones)), weights(rewarded(blank, likes_ones)))


def test_the_reward_sees_each_answer_beside_its_own_truth() -> None:
    seen = []

    def noting(answers: torch.Tensor, truth: torch.Tensor) -> torch.Tensor:
        seen.append((answers, truth))
        return exact_reward(answers, truth)

    rewarded(LEARNT, noting)
    for answers, truth in seen:
        assert answers.shape == truth.shape == (lab.QUESTIONS * lab.SAMPLES, ANSWER)
        groups = truth.view(lab.QUESTIONS, lab.SAMPLES, ANSWER)
        assert (groups == groups[:, :1]).all()


def test_the_same_seed_gives_the_same_run() -> None:
    assert torch.equal(weights(rewarded(LEARNT)), weights(rewarded(LEARNT)))


def test_a_leash_pulls_towards_the_model_of_the_beginning() -> None:
    start = weights(lab.new_model(3))
    free, tight = (rewarded(LEARNT, likes_ones, beta=beta) for beta in (0.0, 100.0))
    assert not torch.equal(weights(free), weights(tight))
    assert not torch.equal(weights(tight), start)


def test_tools_are_those_of_the_reader() -> None:
    calls = []

    def none_is_better(rewards: torch.Tensor) -> torch.Tensor:
        calls.append(rewards.shape)
        return torch.zeros_like(rewards)

    model = lab.new_model(3)
    before = deepcopy(model)
    tools = lab.Tools(group_advantages=none_is_better)
    lab.reinforce(model, LEARNT, 2, test=TEST[:20], tools=tools)
    assert calls == [(lab.QUESTIONS, lab.SAMPLES)] * 2
    decayed = weights(before) * (1 - lab.REWARD_RATE * 0.01) ** 2  # AdamW's own weight decay, and nothing else
    assert torch.allclose(weights(model), decayed, atol=1e-6)


def test_all_sums_are_there_once_and_none_is_on_both_sides() -> None:
    texts = [as_text(row) for row in torch.cat([LEARNT, TEST])]
    assert len(set(texts)) == len(texts) == len(all_sums()) == 10_000
    for text in texts[:200]:
        first, second, total = text[1::-1], text[4:2:-1], text[:5:-1]
        assert int(first) + int(second) == int(total)


def test_pass_at_k_of_all_questions_rises_with_k() -> None:
    assert lab.chances([0, 16], (1, 16)) == [0.5, 0.5]
    assert lab.chances([0, 1], (1, 8, 16)) == [1 / 32, 0.25, 0.5]
