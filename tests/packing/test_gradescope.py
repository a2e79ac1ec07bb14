"""`cellcheck package --for gradescope`: the file, and what it does where Gradescope's harness runs it.

The harness unpacks the file into /autograder/source, runs setup.sh once as root, copies run_autograder beside it, puts
a submission into /autograder/submission and reads /autograder/results/results.json.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from typer.testing import CliRunner

from cellcheck import cli
from cellcheck.checking.judge import PARTIAL, AspectResult, Verdict
from cellcheck.demo.learners import Learner
from cellcheck.packing import package
from cellcheck.packing.gradescope import results
from cellcheck.packing.package import VERSIONS
from cellcheck.repository import Repository
from cellcheck.running.result import Result
from cellcheck.syllabus import load_lesson
from tests.nightly import later

REPOSITORY = Repository.find(Path(__file__).parent)
LESSON = "09_numpy_transformer"  # which needs no PyTorch
FIRST, *_ = EXERCISES = load_lesson(LESSON).exercises
HOST = ("/usr", "/lib", "/lib64", "/bin", "/sbin")
SECONDS = 500.0
THIS = f"{sys.version_info[0]}.{sys.version_info[1]}"


@pytest.fixture(scope="module")
def package_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file."""
    path = tmp_path_factory.mktemp("made") / "autograder.zip"
    done = CliRunner().invoke(cli.app, ["package", LESSON, "--for", "gradescope", "--out", str(path), "--seed", "7"])
    assert done.exit_code == 0, done.output
    assert "seed 7" in done.output
    return path


def unpacked(package_file: Path, root: Path) -> Path:
    """As the harness lays it out, with a learner's notebook: a wrong answer, a right one, and blanks."""
    for name in ("source", "submission/deep", "results"):
        (root / name).mkdir(parents=True)
    with zipfile.ZipFile(package_file) as archive:
        for entry in archive.infolist():
            path = Path(archive.extract(entry, root / "source"))
            path.chmod(entry.external_attr >> 16)
    shutil.copy(root / "source" / "run_autograder", root)
    released = REPOSITORY.notebook(LESSON).read_text("utf-8")
    wrong = f"def {FIRST.symbol}(*args):\n    return None"
    learner = Learner("ada", LESSON, begins=2, types={FIRST.symbol: wrong})
    (root / "submission" / "deep" / "my work (1).ipynb").write_text(learner.hand_in(released), "utf-8")
    return root


def check(report: dict[str, Any]) -> None:
    """What must have come of that notebook."""
    tests = {test["name"]: test for test in report["tests"]}
    assert list(tests) == [exercise.symbol for exercise in EXERCISES]
    wrong, right, blank = (tests[exercise.symbol] for exercise in EXERCISES[:3])
    assert (right["score"], right["status"]) == (right["max_score"], "passed")
    assert (wrong["score"], wrong["status"], wrong["extra_data"]["status"]) == (0.0, "failed", "failed")
    assert "[ ]" in wrong["output"]
    assert blank["extra_data"]["status"] == "missing"
    assert {test["visibility"] for test in tests.values()} == {"visible"}
    assert report["score"] == EXERCISES[1].points
    assert report["stdout_visibility"] == "hidden"


def test_the_file_has_what_the_harness_looks_for(package_file: Path) -> None:
    with zipfile.ZipFile(package_file) as archive:
        entries = {entry.filename: entry.external_attr >> 16 & 0o777 for entry in archive.infolist()}
        pins = archive.read("requirements.txt").decode().split()
        scripts = archive.read("setup.sh").decode() + archive.read("run_autograder").decode()
    assert entries["setup.sh"] == entries["run_autograder"] == 0o755
    assert entries["package.json"] == 0o600
    assert "course/cellcheck/api.py" in entries
    assert "course/transformer_course/lessons/lesson_09/probes.py" in entries
    assert not [
        name for name in entries if "__pycache__" in name or name.startswith(("course/notebooks", "course/tests"))
    ]
    names = [Requirement(pin).name for pin in pins]
    assert all(len(list(Requirement(pin).specifier)) == 1 and "==" in pin and "+" not in pin for pin in pins)
    assert {"numpy", "nbgrader", "safetensors", "ipython"} < set(names)
    assert not {"pytest", "ruff"} & set(names)
    assert str(REPOSITORY.root) not in scripts


def test_pytorchs_index_is_named_where_it_was_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "made.zip"
    CliRunner().invoke(
        cli.app,
        ["package", LESSON, "--for", "gradescope", "--out", str(path), "--torch-index", "https://a.example/cpu"],
    )
    with zipfile.ZipFile(path) as archive:
        script = archive.read("setup.sh").decode()
    assert re.search(r"^install --no-deps --index-url https://a\.example/cpu torch==[\d.]+$", script, re.MULTILINE)
    assert script.endswith('install --requirement "$root/source/requirements.txt"\n')


def test_no_cuda_packages_where_the_cpu_build_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    class Torch:
        version = "2.13.0+cu130"
        requires = ("numpy", "nvidia-cublas", "cuda-bindings", "triton; platform_system == 'Linux'")

    known = package.distribution
    there = {"nvidia-cublas": "jinja2", "cuda-bindings": "jinja2", "triton": "jinja2"}  # any that are installed
    monkeypatch.setattr(
        package, "distribution", lambda name: Torch() if name == "torch" else known(there.get(name, name))
    )
    names = [
        [Requirement(pin).name for pin in package.pins(["cellcheck", "transformers-cell-by-cell"], cpu=cpu)]
        for cpu in (False, True)
    ]
    assert set(names[0]) - set(names[1]) == set(there)
    assert {"torch", "numpy"} < set(names[1])


# What setup.sh finds: which Pythons, whether they can make environments, what apt-get has, and whether pip can install.
PROGRAM = """#!{bash}
echo "$(basename "$0") $*" >> {log}
case "$(basename "$0") $*" in
    *"import venv, ensurepip") [[ " {whole} " == *" $(basename "$0") "* ]] ;;
    *"-m venv "*) mkdir -p "$3/bin"; cp {folder}/python "$3/bin/python" ;;
    "python -m pip "*) exit {pip} ;;
    "apt-get update"*) exit {update} ;;
    "apt-get install"*) [[ " {offered} " == *" $4 "* ]] || exit 100; cp {folder}/python "{folder}/$4" ;;
    *) exit 99 ;;
esac
"""


def set_up(
    package_file: Path,
    tmp_path: Path,
    pythons: str = "",
    whole: str = "",
    offered: str = "",
    update: int = 0,
    pip: int = 0,
    venv: bool = False,
) -> tuple[int, str, list[str]]:
    """Runs setup.sh where nothing is but these: its exit code, what it says, and what it starts."""
    root, programs, log = unpacked(package_file, tmp_path / "autograder"), tmp_path / "programs", tmp_path / "log"
    programs.mkdir()
    for name in ("bash", "chmod", "basename", "mkdir", "cp"):
        (programs / name).symlink_to(str(shutil.which(name)))
    values = {"whole": whole, "offered": offered, "update": update, "pip": pip, "log": log, "folder": programs}
    for name in ("python", "apt-get", *pythons.split()):
        (programs / name).write_text(PROGRAM.format(bash=shutil.which("bash"), **values))
        (programs / name).chmod(0o755)
    if venv:
        (root / "venv" / "bin").mkdir(parents=True)
        shutil.copy(programs / "python", root / "venv" / "bin")
    env = {"PATH": str(programs), "AUTOGRADER_ROOT": str(root)}
    done = subprocess.run([str(root / "source" / "setup.sh")], env=env, capture_output=True, text=True, timeout=SECONDS)
    assert (root / "source" / "package.json").stat().st_mode & 0o777 == 0o600
    started = log.read_text().replace(f"{root}/", "").splitlines() if log.exists() else []
    return done.returncode, done.stderr.strip(), started


INSTALL = "python -m pip install --quiet --disable-pip-version-check --requirement source/requirements.txt"
LOOK = "-c import venv, ensurepip"
HERE, OTHER, LAST = (f"python{version}" for version in sorted(VERSIONS, key=lambda v: (v != THIS, -int(v[2:]))))


def test_set_up_takes_a_python_that_can_make_environments(package_file: Path, tmp_path: Path) -> None:
    outcome = set_up(package_file, tmp_path, pythons=f"{HERE} {LAST}", whole=LAST)
    assert outcome == (0, "", [f"{HERE} {LOOK}", f"{LAST} {LOOK}", f"{LAST} -m venv venv", INSTALL])


def test_set_up_installs_one_where_there_is_none(package_file: Path, tmp_path: Path) -> None:
    code, sentence, started = set_up(package_file, tmp_path, pythons=HERE, offered=f"{OTHER} {LAST}")
    assert (code, sentence) == (0, "")
    install = [f"apt-get install -y -qq {name} {name}-venv" for name in (HERE, OTHER)]
    assert started == [f"{HERE} {LOOK}", "apt-get update -qq", *install, f"{OTHER} -m venv venv", INSTALL]


def test_set_up_keeps_an_environment_that_is_there(package_file: Path, tmp_path: Path) -> None:
    assert set_up(package_file, tmp_path, pythons=HERE, whole=HERE, venv=True) == (0, "", [INSTALL])


def test_set_up_without_a_network_is_one_sentence(package_file: Path, tmp_path: Path) -> None:
    code, sentence, started = set_up(package_file, tmp_path / "apt", update=100)
    assert (code, started) == (1, ["apt-get update -qq"])
    assert sentence == "Ubuntu's packages can't be reached: build the image again when it has a network."
    code, sentence, started = set_up(package_file, tmp_path / "pip", pythons=HERE, whole=HERE, pip=1)
    assert (code, started[-1]) == (1, INSTALL)
    assert sentence.startswith("pip can't install the versions in requirements.txt")
    assert sentence.endswith("when it has a network.")
    assert "\n" not in sentence


def test_set_up_on_an_image_that_is_too_old_is_one_sentence(package_file: Path, tmp_path: Path) -> None:
    code, sentence, _ = set_up(package_file, tmp_path)
    assert code == 1
    assert sentence.startswith("Choose an image of Ubuntu 22.04 or newer: Python")
    assert "\n" not in sentence


@later
def test_pip_finds_wheels_of_all_that_is_pinned_and_nothing_else(package_file: Path, tmp_path: Path) -> None:
    """What the image's build would install, without installing it."""
    with zipfile.ZipFile(package_file) as archive:
        archive.extract("requirements.txt", tmp_path)
    asked = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--dry-run"]
    asked += ["--ignore-installed", "--only-binary", ":all:", "--report", "report.json"]
    done = subprocess.run(
        [*asked, "--requirement", "requirements.txt"], cwd=tmp_path, capture_output=True, text=True, timeout=SECONDS
    )
    if "NewConnectionError" in done.stderr or "Temporary failure in name resolution" in done.stderr:
        pytest.skip("There is no network here.")
    assert done.returncode == 0, done.stderr
    report = json.loads((tmp_path / "report.json").read_text("utf-8"))["install"]
    installed = {canonicalize_name(e["metadata"]["name"]): e["metadata"]["version"].split("+")[0] for e in report}
    pins = [Requirement(line) for line in (tmp_path / "requirements.txt").read_text("utf-8").splitlines()]
    pinned = {canonicalize_name(pin.name): str(pin.specifier).removeprefix("==") for pin in pins}
    # Without an index of its own, pip takes PyTorch's CUDA build, whatever build is here.
    assert {name: v for name, v in installed.items() if name in pinned or not name.startswith(package._CUDA)} == pinned


def test_what_a_learner_is_shown() -> None:
    aspects = (AspectResult("shape", True), AspectResult("values", False))
    verdict = Verdict("f", 0.5, 2.0, PARTIAL, "Divide by the number of rows.", aspects, "sum_instead_of_mean")
    shown = results(Result("x", LESSON, (verdict,), ("A copy was left out.",), 1.0))
    (test,) = shown["tests"]
    assert (test["score"], test["max_score"], test["status"]) == (0.5, 2.0, "failed")
    assert all(word in test["output"] for word in ("Right already: shape.", "Divide by the number of rows."))
    assert shown["output"] == "0.5 of 2 points.\nA copy was left out."
    assert results("There is no notebook.")["score"] == 0.0
    assert "tests" not in results("There is no notebook.")


def test_run_autograder_grades_what_was_handed_in(package_file: Path, tmp_path: Path) -> None:
    root = unpacked(package_file, tmp_path / "autograder")
    (root / "venv").symlink_to(sys.prefix)
    env = {"PATH": os.environ["PATH"], "AUTOGRADER_ROOT": str(root), "HOME": str(tmp_path)}
    done = subprocess.run([str(root / "run_autograder")], env=env, capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 0, done.stderr
    check(json.loads((root / "results" / "results.json").read_text("utf-8")))
    for path in (root / "submission").rglob("*.ipynb"):
        path.unlink()
    (root / "submission" / "report.pdf").write_bytes(b"%PDF")
    subprocess.run([str(root / "run_autograder")], env=env, check=True, timeout=SECONDS)
    report = json.loads((root / "results" / "results.json").read_text("utf-8"))
    assert (report["score"], "no notebook" in report["output"]) == (0.0, True)


@later
@pytest.mark.skipif(os.geteuid() != 0, reason="mounting needs root")
def test_in_an_empty_root_as_the_harness_does_it(package_file: Path, tmp_path: Path) -> None:
    """Nothing of this repository is there: a system, Python with the pinned packages, and what was unpacked."""
    new = tmp_path / "root"
    unpacked(package_file, new / "autograder")
    python = Path(sys.base_prefix)
    for folder in ("proc", "dev", "tmp", "etc", "root"):
        (new / folder).mkdir()
    (new / "tmp").chmod(0o1777)
    (new / "etc" / "passwd").write_text("root:x:0:0:root:/root:/bin/bash\nnobody:x:65534:65534::/:/bin/false\n")
    mounts = []
    for source, at in [*((path, path) for path in HOST), (str(python), str(python)), (sys.prefix, "/autograder/venv")]:
        if not Path(source).is_dir() or any(Path(source).is_relative_to(other) for other in HOST if other != source):
            continue
        target = new / at.lstrip("/")
        target.mkdir(parents=True, exist_ok=True)
        mounts += [f"mount --rbind {source} {target}", f"mount -o remount,bind,ro {target}"]
    script = [
        *(
            "set -e",
            "mount --make-rprivate /",
            *mounts,
            f"mount -t proc proc {new}/proc",
            f"mount --rbind /dev {new}/dev",
        ),
        f"chroot {new} /usr/bin/env -i PATH=/usr/bin:/bin HOME=/root bash -c "
        "'cd /autograder && PIP_NO_INDEX=1 bash source/setup.sh && ./run_autograder'",
    ]
    command = ["unshare", "--mount", "--pid", "--fork", "--net", "bash", "-c", "\n".join(script)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (new / "autograder" / "source" / "package.json").stat().st_mode & 0o777 == 0o600
    check(json.loads((new / "autograder" / "results" / "results.json").read_text("utf-8")))
