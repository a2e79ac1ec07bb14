"""A course with secrets in it, and zygotes that were started among them."""

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from cellcheck.running import warming, zygotes
from tests import warm_zygotes
from tests.attacks.attacks import CANARY, EXERCISES, LESSON, assert_honest_work_has_its_marks

SECRETS = (
    "gradebook.db",
    "nbgrader_config.py",
    f"submitted/ada/{LESSON}/{LESSON}.ipynb",
    f"source/{LESSON}/{LESSON}.ipynb",
    f"solutions/{LESSON}/{LESSON}.ipynb",
    f"autograded/ada/{LESSON}/{LESSON}.ipynb",
    f"feedback/ada/{LESSON}/{LESSON}.html",
)


@contextlib.contextmanager
def zygotes_of_our_own(patch: pytest.MonkeyPatch) -> Iterator[None]:
    """While this lasts, all zygotes are new, and are nobody else's."""
    pool = zygotes._Pool()
    patch.setattr(zygotes, "_POOL", pool)
    patch.setattr(warming, "start", warm_zygotes.cold)
    yield
    groups = [zygote.account.group for zygote in pool.idle]
    pool.close()
    assert not [folder for group in groups if group for folder in group._folders.values() if folder.exists()]


@pytest.fixture(scope="package")
def course(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A course folder, which is the working folder, and beside it the folder for temporary files.

    The attacks share a zygote, which is not that of the other tests: it has a secret in its surroundings. It is a twin,
    as all but one of several jobs have. The attacks that need a zygote of their own have one that did its own imports.
    """
    assert EXERCISES
    base = tmp_path_factory.mktemp("attacked")
    folder = base / "course folder"
    for name in SECRETS:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{CANARY} stands in {name}\n")
    (base / "tmp").mkdir()
    with pytest.MonkeyPatch.context() as patch, zygotes_of_our_own(patch):
        patch.chdir(folder)
        patch.setenv("SECRET_TOKEN", CANARY)
        patch.setattr(tempfile, "tempdir", str(base / "tmp"))
        zygotes.warm_up(2)
        first, twin = zygotes._POOL.warming
        assert isinstance(twin.process, warming.NoChild)
        first.kill()
        zygotes._POOL.warming.remove(first)
        yield folder
        if zygotes._POOL.idle:
            assert_honest_work_has_its_marks(folder)
