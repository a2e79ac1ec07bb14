"""The three lists of what must be installed say the same, and nothing that is committed knows this machine."""

import re
import subprocess
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from environment import install

ROOT = Path(__file__).parents[1]
COURSE, ENGINE = install.projects()
PROJECT = COURSE["project"]
LOCK = (ROOT / "requirements.txt").read_text("utf-8")
PINS = install.pins(LOCK)
CONDA = {"torch": "pytorch", "build": "python-build"}  # what conda-forge calls otherwise


def wanted() -> dict[str, Requirement]:
    lines = install.wanted(COURSE, ENGINE, PROJECT["optional-dependencies"])
    requirements = {canonicalize_name(requirement.name): requirement for requirement in map(Requirement, lines)}
    return {
        name: requirement for name, requirement in requirements.items() if name != "hatchling"
    }  # what builds the two


def conda() -> dict[str, Requirement]:
    content = yaml.safe_load((ROOT / "environment.yml").read_text("utf-8"))
    lines = [line for line in content["dependencies"] if isinstance(line, str)]
    (from_pip,) = [group["pip"] for group in content["dependencies"] if isinstance(group, dict)]
    requirements = [Requirement(line) for line in [*lines, *from_pip] if not line.startswith("-")]
    return {canonicalize_name(requirement.name): requirement for requirement in requirements}


def pinned() -> dict[str, str]:
    return {name: pin.lines.split()[0].partition("==")[2] for name, pin in PINS.items()}


@pytest.mark.parametrize("name", wanted())
def test_environment_yml_bounds_every_dependency_alike_and_requirements_txt_pins_it(name: str) -> None:
    assert conda()[CONDA.get(name, name)].specifier == wanted()[name].specifier
    assert Version(pinned()[name]) in wanted()[name].specifier


def test_environment_yml_has_nothing_else_and_the_same_python() -> None:
    theirs = set(conda()) - {"python", "pip"}
    assert theirs == {CONDA.get(name, name) for name in wanted()}
    assert conda()["python"].specifier == Requirement(f"python{PROJECT['requires-python']}").specifier


def test_every_line_of_requirements_txt_is_an_exact_version_of_public_packages_with_its_hashes() -> None:
    entry = r"[a-z0-9._-]+==[0-9][a-z0-9.]*( ; [^\n]+)? \\\n(    --hash=sha256:[0-9a-f]{64}( \\)?\n)+    # via .+\n"
    assert re.fullmatch(rf"# .*\n({entry})+", LOCK)  # no address, no local build such as +cpu, no option
    assert len(pinned()) == LOCK.count("    # via ")
    assert LOCK.count("--hash") > 10 * len(pinned())


def test_the_docs_name_what_is_tested_as_it_is_pinned() -> None:
    page = (ROOT / "docs" / "install.md").read_text("utf-8")
    rows = re.findall(r"^\| (3\.\d+) \| (\S+), (?:CPU|CUDA) build.*? \| (\S+) \|$", page, re.MULTILINE)
    announced = [line.rpartition(" ")[2] for line in PROJECT["classifiers"] if ":: 3." in line]
    assert [python for python, _, _ in rows] == announced
    assert ENGINE["project"]["version"] == PROJECT["version"]
    assert {torch for _, torch, _ in rows} == {pinned()["torch"]}
    assert {tensorflow for _, _, tensorflow in rows} == {pinned()["tensorflow"]}


def committed() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout")
    return [path for name in listed.stdout.split("\0") if name and (path := ROOT / name).is_file()]


HOME = re.compile(r"(?:(?:/home|/Users|/root|/tmp)/|C:\\\\Users\\\\)\w+")


def test_no_path_of_somebodys_machine_is_committed() -> None:
    assert HOME.search('"/home/' + 'ada/course"')
    offenders = {}
    for path in committed():
        text = path.read_bytes().decode("utf-8", "ignore")
        names = [match for match in HOME.findall(text) if "tests" not in path.parts]
        if names or str(ROOT) in text:
            offenders[str(path.relative_to(ROOT))] = names
    assert offenders == {}
