"""A lesson that is just as it was released names the kernel that runs it here; a learner's work is left alone."""

import json
from pathlib import Path

from cellcheck.learning.offers import released
from cellcheck.learning.opened import as_opened, settle

LESSON, BEGUN = "01_pytorch_basics", "02_tokenizer"


def test_only_what_is_as_released_is_settled(tmp_path: Path) -> None:
    fresh, mine = (tmp_path / name / f"{name}.ipynb" for name in (LESSON, BEGUN))
    for path in (fresh, mine):
        path.parent.mkdir()
        path.write_bytes(released()[path.stem].read_bytes())
    mine.write_text(mine.read_text("utf-8").replace("raise NotImplementedError()", "return 1"), "utf-8")
    own = mine.read_bytes()
    settle(tmp_path)
    assert fresh.read_bytes() == as_opened(released()[LESSON].read_bytes()) != released()[LESSON].read_bytes()
    assert mine.read_bytes() == own
    settle(tmp_path)
    assert fresh.read_bytes() == as_opened(released()[LESSON].read_bytes())


def test_the_release_itself_stays_as_it_is(tmp_path: Path) -> None:
    before = released()[LESSON].read_bytes()
    (tmp_path / f"{LESSON}.ipynb").symlink_to(released()[LESSON])
    settle(tmp_path)
    assert released()[LESSON].read_bytes() == before


def test_only_the_metadata_changes() -> None:
    before = json.loads(released()[LESSON].read_bytes())
    after = json.loads(as_opened(released()[LESSON].read_bytes()))
    assert after["metadata"]["language_info"]["version"]
    assert after["metadata"]["kernelspec"]["name"] == before["metadata"]["kernelspec"]["name"]
    assert {**after, "metadata": {}} == {**before, "metadata": {}}
