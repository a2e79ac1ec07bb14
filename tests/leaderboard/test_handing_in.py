"""The whole way of an entry: `submit()`, a platform or the exchange, `cellcheck collect`, and what the table finds."""

import io
import json
import shutil
import sys
import types
import zipfile
from pathlib import Path

import pytest
import safetensors.numpy

import cellcheck
from cellcheck.collecting.collect import Collected, collect
from cellcheck.leaderboard.entries import find_entries, read_entry
from cellcheck.submitting import submit as submitting
from cellcheck.submitting.not_submitted import NotSubmitted
from tests.leaderboard.small import CONTEST, LESSON, MODEL, put
from tests.leaderboard.test_scoring import learnt
from tests.submitting import small_notebooks
from tests.submitting.small_notebooks import exchange

WEIGHTS = safetensors.numpy.save(learnt())
FILES = {f"entry/{CONTEST.code}": MODEL.encode(), f"entry/{CONTEST.weights}": WEIGHTS}


def notebook(lesson: str = LESSON) -> bytes:
    return small_notebooks.notebook("x = 1", setup=f'import cellcheck\ncheck = cellcheck.checks("{lesson}")')


@pytest.fixture
def home(klass: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A learner's folder with the notebook and an entry in it."""
    folder = tmp_path / "home" / LESSON
    put(folder / "entry", MODEL, WEIGHTS)
    (folder / f"{LESSON}.ipynb").write_bytes(notebook())
    monkeypatch.setattr(submitting, "_shell", lambda: None)
    return folder


def submit(home: Path) -> cellcheck.submitting.submit.Receipt:  # type: ignore[name-defined]
    return cellcheck.submit(path=home / f"{LESSON}.ipynb")


def downloaded(tmp_path: Path, data: bytes) -> Collected:
    """The file as a learner called Ada uploads it, and as it is collected."""
    path = tmp_path / "moodle.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"Ada_7_assignsubmission_file_/{LESSON}.submission.zip", data)
    return collect([path], tmp_path / "submitted")


def test_the_whole_way(home: Path, tmp_path: Path) -> None:
    (home / "entry" / "notes.txt").write_text("mine")  # no part of an entry
    receipt = submit(home)
    assert "Your entry to the contest goes with it: entry/adder.py, entry/weights.safetensors." in repr(receipt)
    assert receipt.path is not None
    with zipfile.ZipFile(receipt.path) as archive:
        assert set(archive.namelist()) == {f"{LESSON}.ipynb", "submission.json", *FILES}
    done = downloaded(tmp_path, receipt.path.read_bytes())
    assert done.doubts == ()
    assert [how for _, how in done.placed] == ["collected"]
    (folder,) = find_entries([tmp_path / "submitted"], CONTEST, LESSON).values()
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == {
        name.removeprefix("entry/"): data for name, data in FILES.items()
    }
    assert read_entry("Ada", folder, CONTEST).weights is not None
    # once more, and nothing changes; then with other weights, and nothing is lost
    assert [how for _, how in downloaded(tmp_path, receipt.path.read_bytes()).placed] == ["already there"]


def test_an_entry_that_changed_is_handed_in_again(home: Path) -> None:
    submit(home)
    assert "Nothing changed since" in repr(submit(home))
    (home / "entry" / CONTEST.code).write_text(MODEL + "\n")
    assert "It replaces the one of" in repr(submit(home))
    shutil.rmtree(home / "entry")
    receipt = submit(home)
    assert "It replaces the one of" in repr(receipt)
    assert "No entry to the contest goes with it: there is no entry/ beside it." in repr(receipt)


def test_a_lesson_without_a_contest_says_nothing_of_one(home: Path) -> None:
    (home / f"{LESSON}.ipynb").write_bytes(notebook(lesson="02_another"))
    receipt = submit(home)
    assert "contest" not in repr(receipt)
    assert receipt.path is not None
    with zipfile.ZipFile(receipt.path) as archive:
        assert sorted(archive.namelist()) == ["02_another.ipynb", "submission.json"]


@pytest.mark.parametrize(
    ("harm", "sentence"),
    [
        (lambda entry: (entry / CONTEST.code).unlink(), "There is no adder.py in entry/."),
        (lambda entry: (entry / CONTEST.code).write_text("#" * 5000), "at most 4,096 are accepted"),
        (lambda entry: (entry / CONTEST.weights).write_bytes(bytes(2**21)), "make it smaller"),
    ],
    ids=["no code", "long code", "large weights"],
)
def test_an_entry_that_would_be_refused_is_refused_at_once(home: Path, harm: object, sentence: str) -> None:
    harm(home / "entry")  # type: ignore[operator]
    with pytest.raises(NotSubmitted) as caught:
        submit(home)
    assert "Nothing was handed in" in str(caught.value)
    assert sentence in str(caught.value)
    assert sorted(path.name for path in home.iterdir()) == [f"{LESSON}.ipynb", "entry"]


def test_a_link_is_not_followed(home: Path, tmp_path: Path) -> None:
    (home / "entry").rename(tmp_path / "elsewhere")
    (home / "entry").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(NotSubmitted, match="is a link"):
        submit(home)


def repacked(data: bytes, **changed: bytes | None) -> bytes:
    """The same zip file with some files changed or, with None, taken out; `__` stands for a slash."""
    file = io.BytesIO()
    names = {name.replace("__", "/").replace("_py", ".py"): new for name, new in changed.items()}
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(file, "w") as archive:
        for name in old.namelist():
            new = names.pop(name, old.read(name))
            if new is not None:
                archive.writestr(name, new)
        for name, new in names.items():
            archive.writestr(name, new or b"")
    return file.getvalue()


def test_an_entry_that_was_damaged_on_the_way(home: Path, tmp_path: Path) -> None:
    data = submit(home).path.read_bytes()
    for changed in ({"entry__adder_py": b"x = 1"}, {"entry__adder_py": None}):
        done = downloaded(tmp_path, repacked(data, **changed))
        assert done.placed == ()
        assert "entry/adder.py is not what submit() packed" in done.doubts[0].why
    # What it doesn't name stays out, wherever it wants to go.
    done = downloaded(tmp_path, repacked(data, entry__more_py=b"x", evil_py=b"x", **{"..__up_py": b"x"}))
    assert len(done.placed) == 1
    there = {path.name for path in (tmp_path / "submitted").rglob("*") if path.is_file()}
    assert not there & {"more.py", "evil.py", "up.py"}


def test_a_plain_folder_will_do(home: Path, tmp_path: Path) -> None:
    """As instructors collect by hand: a folder for each learner."""
    shutil.copytree(home, tmp_path / "by hand" / "ada")
    done = collect([tmp_path / "by hand"], tmp_path / "submitted")
    assert done.doubts == ()
    (folder,) = find_entries([tmp_path / "submitted"], CONTEST, LESSON).values()
    assert (folder / CONTEST.weights).read_bytes() == WEIGHTS


def test_by_the_exchange(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """nbgrader takes the whole folder; a changed entry counts as a change."""
    inbound, settings = exchange(tmp_path, LESSON, notebook())
    (home.parent / "nbgrader_config.py").write_text(settings)
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(tmp_path / "config"))
    assert "Your entry to the contest goes with it" in repr(submit(home))
    (sent,) = inbound.iterdir()
    assert {name: (sent / name).read_bytes() for name in FILES} == FILES
    assert "nothing was sent again" in repr(submit(home))
    (home / "entry" / CONTEST.code).write_text(MODEL + "\n")
    assert repr(submit(home)).startswith("Submitted")
    assert len(list(inbound.iterdir())) == 2


def test_in_colab(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There the notebook has no file; the entry stands in the working folder all the same."""
    message, files = types.ModuleType("google.colab._message"), types.ModuleType("google.colab.files")
    vars(message)["blocking_request"] = lambda *_, **__: {"ipynb": json.loads(notebook())}
    vars(files)["download"] = lambda path: None
    for module in (types.ModuleType("google"), types.ModuleType("google.colab"), message, files):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.chdir(home)
    receipt = cellcheck.submit()
    assert receipt.path is not None
    assert "Your entry to the contest goes with it" in repr(receipt)
    with zipfile.ZipFile(receipt.path) as archive:
        assert {name: archive.read(name) for name in FILES} == FILES
