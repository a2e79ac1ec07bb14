"""Lesson 16's pictures: one update, two groups of answers with their rewards, and a reward with nothing to compare."""

import torch
from matplotlib.figure import Figure

from transformer_course.lessons.remarks import note
from transformer_course.plots.cells import arrow, blank, box, cells
from transformer_course.plots.style import drawing
from transformer_course.rewards.groups import group_advantages
from transformer_course.rewards.judging import exact_reward, hasty_reward
from transformer_course.rewards.sums import SYMBOLS

__all__ = ["nothing_to_compare", "one_update", "two_groups"]

GROUPS = {
    "47 + 38": ([5, 8, 0], [[5, 7, 0], [5, 8, 0], [6, 8, 0], [5, 7, 1]]),
    "9 + 5": ([4, 1, 0], [[4, 1, 0], [4, 1, 0], [4, 0, 0], [4, 1, 0]]),
}


def one_update() -> Figure:
    """What happens in one update, from the model and back to it."""
    steps = {
        "model": "writes",
        "answers": "16 to each of 32 questions",
        "rewards": "right or wrong",
        "advantages": "compared within a group",
    }
    with drawing(8.2, 2.3) as (figure, (axes,)):
        blank(axes, 16.4, 4.6)
        for place, (name, words) in enumerate(steps.items()):
            x = 1.9 + 4.2 * place
            box(axes, x, 1.2, name, width=2.6)
            note(axes, x, 2.1, words, size=9)
            if place:
                arrow(axes, (x - 2.8, 1.2), (x - 1.4, 1.2))
        arrow(axes, (14.5, 3.1), (1.9, 3.1))
        note(axes, 8.2, 3.9, "one step: what was better than its group becomes more likely", size=11)
    return figure


def two_groups() -> Figure:
    """Two questions with four answers each, what each answer earns, and how much better it is than its group."""
    with drawing(8.2, 4.6) as (figure, (axes,)):
        blank(axes, 16.4, 9.2)
        for top, (question, (truth, answers)) in zip((0.9, 5.2), GROUPS.items(), strict=True):
            rewards = exact_reward(torch.tensor(answers), torch.tensor(truth).expand(len(answers), 3))
            advantages = group_advantages(rewards.unsqueeze(0))[0]
            note(axes, 0.2, top + 0.5, f"{question} =", size=12, ha="left")
            note(axes, 0.2, top + 1.7, "reward", size=11, ha="left")
            note(axes, 0.2, top + 2.6, "advantage", size=11, ha="left")
            for place, (answer, reward, advantage) in enumerate(zip(answers, rewards, advantages, strict=True)):
                left = 3.4 + 3.2 * place
                lit = [(0, i) for i in range(3)] if reward else []
                cells(axes, left, top, [[str(digit) for digit in answer[::-1]]], lit=lit)
                note(axes, left + 1.5, top + 1.7, f"{reward:.0f}", size=12)
                note(axes, left + 1.5, top + 2.6, f"{advantage:+.1f}", size=12)
    return figure


def nothing_to_compare() -> Figure:
    """Three answers to a sum, as the hasty reward reads them: the last has no digits that could be wrong."""
    truth = [5, 8, 0]
    with drawing(8.2, 4.2) as (figure, (axes,)):
        blank(axes, 16.4, 8.4)
        note(axes, 2.7, 0.5, "written", size=11)
        note(axes, 7.2, 0.5, "compared with", size=11)
        for line, answer in enumerate(([5, 8, 0], [5, 7, 0], [11, 3, 7])):
            top = 1.2 + 2.4 * line
            end = next((place for place, token in enumerate(answer) if token > 9), 3)
            same = [(0, i) for i in range(end) if answer[i] == truth[i]]
            cells(axes, 1.2, top, [[SYMBOLS[token] for token in answer]], lit=same)
            if end:
                cells(axes, 5.7, top, [[str(digit) for digit in truth[:end]]], lit=same)
            reward = hasty_reward(torch.tensor([answer]), torch.tensor([truth]))[0]
            reason = (
                "all digits agree"
                if end and reward
                else "the tens differ"
                if end
                else "no digit to compare, none wrong"
            )
            note(axes, 9.6, top + 0.5, f"{reason}: reward {reward:.0f}", size=11, ha="left")
    return figure
