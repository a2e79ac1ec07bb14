"""The three sample entries as `cellcheck leaderboard` scores them: right in training's lengths, a bit beyond, and far.

On two seeds, which draw the sums, the names of the digits and the first weights. It takes some five minutes.
"""

import pytest

from cellcheck.leaderboard.contest_run import ContestRun, score_all
from cellcheck.leaderboard.standings import ranked
from tests.lessons.lesson_14.test_contest import CONTEST, NAME, SETTING, samples


@pytest.mark.parametrize("seed", [1, 2])
def test_the_sample_entries_have_the_places_that_they_were_made_for(seed: int) -> None:
    lines = ranked(score_all(samples(), ContestRun(NAME, CONTEST, SETTING, seed)))
    assert [line.outcome.refused for line in lines] == ["", "", ""]
    assert [line.outcome.name for line in lines] == ["rotary_window", "random_offsets", "learned_positions"]
    share = {
        line.outcome.name: {size: right / of for size, (right, of) in line.outcome.right.items()} for line in lines
    }
    print(seed, share)
    assert share["learned_positions"][5] >= 0.8
    assert max(share["learned_positions"][size] for size in CONTEST.hidden if size > 5) <= 0.1
    assert max(share["random_offsets"][size] for size in (6, 7, 8)) > 0.1
    assert share["random_offsets"][100] <= 0.1
    assert min(share["rotary_window"].values()) >= 0.7
