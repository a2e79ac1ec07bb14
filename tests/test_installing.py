"""`environment/install.py` with a real pip and small packages: only files of known hashes, PyTorch from its index."""

import hashlib
import os
import shutil
import subprocess
import tempfile
import venv
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import distribution
from pathlib import Path

import pytest

from environment import install
from tests.colab.simulated import _link, packed

PROJECT = """\
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"
[project]
name = "small-course"
version = "1.0"
dependencies = ["torch>=1", "small-engine[own]"]
[project.optional-dependencies]
grading = ["Small_Tool"]
more = ["another"]
[tool.setuptools]
py-modules = []
"""
ENGINE = """\
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"
[project]
name = "small-engine"
version = "1.0"
[project.optional-dependencies]
own = []
[tool.setuptools]
py-modules = []
"""
STRANGER = "9.9"


@dataclass(frozen=True)
class Place:
    """A project, the indexes around it, and a Python to install it into."""

    root: Path

    def wheel(self, folder: str, name: str, version: str, *needs: str) -> str:
        """Puts a package on an index; returns its hash."""
        shelf = self.root / folder / name
        shelf.mkdir(parents=True, exist_ok=True)
        file = shelf / f"{name.replace('-', '_')}-{version}-py3-none-any.whl"
        info = f"{name.replace('-', '_')}-{version}.dist-info"
        needed = "".join(f"Requires-Dist: {need}\n" for need in needs)
        with zipfile.ZipFile(file, "w") as content:
            content.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needed}")
            content.writestr(
                f"{info}/WHEEL", f"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n# {folder}\n"
            )
            content.writestr(f"{info}/RECORD", "")
        return self.listed(shelf)[file.name]

    def listed(self, shelf: Path) -> dict[str, str]:
        """Writes the index's page of a package, which announces hashes; returns them."""
        hashes = {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in shelf.glob("*.whl")}
        links = (f'<a href="{name}#sha256={digest}">{name}</a>' for name, digest in hashes.items())
        (shelf / "index.html").write_text("<!doctype html>" + "\n".join(links))
        return hashes

    def lock(self, pins: Mapping[str, tuple[list[str], str]]) -> None:
        """Writes requirements.txt."""
        entries = (
            f"{pin} \\\n" + " \\\n".join(f"    --hash=sha256:{digest}" for digest in hashes) + f"\n    # via {askers}\n"
            for pin, (hashes, askers) in pins.items()
        )
        (self.root / "requirements.txt").write_text("# pinned\n" + "".join(entries))

    def install(self, *extras: str, anew: bool = True, **settings: str) -> tuple[int, str, dict[str, str]]:
        """The exit code, what was said, and the versions of what is installed then; not `anew`: where it is already."""
        if anew:
            venv.create(self.root / "venv", with_pip=False, symlinks=True, clear=True)
        (shelf,) = (self.root / "venv").glob("lib/python*/site-packages")
        if anew:
            _link(distribution("pip"), shelf)
        pip = {"PIP_CONFIG_FILE": os.devnull, "PIP_INDEX_URL": (self.root / "index").as_uri(), "HOME": str(self.root)}
        surroundings = {
            name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "PYTHON", "TORCH"))
        }
        command = [str(self.root / "venv" / "bin" / "python"), "environment/install.py", *extras]
        done = subprocess.run(
            command, cwd=self.root, env=surroundings | pip | settings, capture_output=True, text=True, check=False
        )
        installed = dict(path.name.removesuffix(".dist-info").split("-") for path in shelf.glob("*.dist-info"))
        return done.returncode, done.stderr, {name: version for name, version in installed.items() if name != "pip"}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    place = Place(tmp_path_factory.mktemp("installing"))
    (place.root / "environment").mkdir()
    shutil.copy(install.__file__, place.root / "environment")
    (place.root / "pyproject.toml").write_text(PROJECT)
    (place.root / "grader").mkdir()
    (place.root / "grader" / "pyproject.toml").write_text(ENGINE)
    setuptools = place.root / "index" / "setuptools"
    setuptools.mkdir(parents=True)
    packed("setuptools", setuptools)
    (built,) = place.listed(setuptools).values()
    cuda = place.wheel("index", "torch", "1.0", "cuda-part", "math-part")
    tool = place.wheel("index", "small-tool", "1.0", "math-part")
    cpu = place.wheel("cpu", "torch", "1.0+cpu", "math-part")
    for index, name in (("index", "torch"), ("cpu", "small-tool"), ("cpu", "math-part")):
        place.wheel(index, name, STRANGER)
    place.lock(
        {
            "another==1.0": ([place.wheel("index", "another", "1.0")], "small-course (pyproject.toml)"),
            "cuda-part==1.0 ; sys_platform != 'none'": ([place.wheel("index", "cuda-part", "1.0")], "torch"),
            "elsewhere==1.0 ; sys_platform == 'none'": (["0" * 64], "math-part"),
            "math-part==1.0": ([place.wheel("index", "math-part", "1.0")], "small-tool, torch"),
            f"setuptools=={distribution('setuptools').version}": ([built], "-r -"),
            "small-tool==1.0": ([tool], "small-course (pyproject.toml)"),
            "torch==1.0": ([cuda, cpu], "small-course (pyproject.toml)"),
        }
    )
    return place


def course(torch: str, **others: str) -> dict[str, str]:
    own = dict.fromkeys(("small_course", "small_engine", "math_part"), "1.0")
    return {"torch": torch, "setuptools": distribution("setuptools").version} | own | others


def test_what_is_pinned_is_installed_and_of_the_extras_what_is_asked_for(place: Place) -> None:
    assert place.install() == (0, "", course("1.0", cuda_part="1.0"))
    more = place.install("grading", anew=False)
    assert more == (0, "", course("1.0", cuda_part="1.0", small_tool="1.0"))


def test_without_answers_the_two_are_copied_and_sealed_elsewhere(place: Place, tmp_path: Path) -> None:
    log = tmp_path / "said"
    (tmp_path / "cellcheck.py").write_text(
        f"import os, sys\nopen({str(log)!r}, 'w').write(' '.join([os.getcwd(), *sys.argv[1:]]))\n"
    )
    wanted = (0, "", course("1.0", cuda_part="1.0", small_tool="1.0"))
    assert place.install("--without-answers", "grading", PYTHONPATH=str(tmp_path)) == wanted
    assert log.read_text() == f"{tempfile.gettempdir()} seal"  # in the repository, it would find what lies there
    for note in (place.root / "venv").rglob("direct_url.json"):
        assert "editable" not in note.read_text()
    (tmp_path / "cellcheck.py").write_text("raise SystemExit(3)")
    code, told, _ = place.install("--without-answers", anew=False, PYTHONPATH=str(tmp_path))
    assert (code, told) == (3, "")


def test_torch_alone_comes_from_its_index_and_brings_what_its_build_needs(place: Place) -> None:
    """A stranger's higher version, there or here, is not looked at."""
    index = (place.root / "cpu").as_uri()
    assert place.install("grading", TORCH_INDEX=index) == (0, "", course("1.0+cpu", small_tool="1.0"))


def test_a_build_that_lies_on_this_machine_is_taken(place: Place) -> None:
    outcome = place.install(PIP_FIND_LINKS=str(place.root / "cpu" / "torch"))
    assert outcome == (0, "", course("1.0+cpu"))


@pytest.mark.parametrize("name", ["torch", "small-tool"])
def test_a_file_of_another_hash_is_refused(place: Place, name: str) -> None:
    lock, file = place.root / "requirements.txt", place.root / "index" / name
    before = lock.read_text()
    digests = place.listed(file)
    try:
        lock.write_text(before.replace(digests[f"{name.replace('-', '_')}-1.0-py3-none-any.whl"], "f" * 64))
        code, sentence, installed = place.install("grading")
    finally:
        lock.write_text(before)
    assert code == 1
    assert "THESE PACKAGES DO NOT MATCH THE HASHES" in sentence
    assert "If a hash differs, the file is not the one that\nwas tested: don't use it." in sentence
    assert not {name.replace("-", "_"), "small_course"} & installed.keys()


def test_an_unknown_extra_is_named(place: Place) -> None:
    code, sentence, installed = place.install("grading", "mor")
    assert (code, installed) == (2, {})
    assert sentence == "pyproject.toml has no extra mor. It has: grading, more.\n"


def test_every_extra_of_the_course_can_be_installed_from_requirements_txt() -> None:
    """Each package that is asked for is pinned, and all that is pinned is asked for by something."""
    lock = install.pins(install.LOCK.read_text("utf-8"))
    course, engine = install.projects()
    lines = install.wanted(course, engine, course["project"]["optional-dependencies"])
    names = [install._name(line) for line in lines]
    assert set(names) <= lock.keys()
    cuda = frozenset(name for name, pin in lock.items() if "torch" in pin.askers)
    assert install.needed(lock, names, cuda) == sorted(lock)
    without = set(install.needed(lock, names, frozenset({"sympy", "networkx", "filelock", "fsspec", "jinja2"})))
    assert not [name for name in without if name.startswith(("nvidia-", "cuda-", "triton"))]
