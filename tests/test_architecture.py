"""Arrows run one way: who may import whom, read from the syntax trees."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MODULES = sorted(path for room in ("course", "grader") for path in (ROOT / room).rglob("*.py"))
MAX_LINES = 400

# Each room of `grader` may import itself, and what stands here.
LIGHT = {"errors"}
EXERCISES = {"probes", "exercises"} | LIGHT
CHECKING = EXERCISES | {"checking"}
RUNNING = CHECKING | {"running", "sandbox"}
REPORTING = RUNNING | {"batch", "tables", "repository"}
MAY_IMPORT = {
    "errors": set(),
    "probes": set(),
    "exercises": EXERCISES,
    "sandbox": set(),
    "checking": CHECKING,
    "learning": LIGHT | {"running"},
    "lab": LIGHT | {"learning"},
    "running": RUNNING,
    "repository": LIGHT,
    "batch": RUNNING,
    "tables": RUNNING | {"batch"},
    "building": CHECKING | {"repository"},
    "doctor": RUNNING,
    "audit": REPORTING,
    "gradebook": REPORTING,
    "submitting": RUNNING,
    "collecting": RUNNING | {"submitting"},
    "exporting": LIGHT | {"gradebook"},
    "demo": REPORTING | {"gradebook"},
    "cli": REPORTING | {"building", "audit", "gradebook", "collecting", "exporting", "demo", "doctor", "learning"},
    "__init__": {"checking", "exercises", "learning", "submitting"},
    "__main__": {"cli"},
}


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts)


def imports(path: Path) -> set[str]:
    """All modules that a file names in an import, wherever it stands."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def rooms(path: Path) -> set[str]:
    """The rooms of `grader` that a file imports."""
    found = [name.split(".") for name in imports(path)]
    return {parts[1] if len(parts) > 1 else "__init__" for parts in found if parts[0] == "grader"}


every_module = pytest.mark.parametrize("path", MODULES, ids=[name_of(path) for path in MODULES])


@every_module
def test_imports_run_one_way(path: Path) -> None:
    package, *rest = path.relative_to(ROOT).with_suffix("").parts
    if package == "course":
        assert rooms(path) == set()
        assert not {name.split(".")[0] for name in imports(path)} & {
            "nbgrader",
            "nbformat",
            "jupytext",
            "rich",
            "typer",
        }
    else:
        assert rooms(path) <= MAY_IMPORT[rest[0]] | {rest[0], "__init__"}


@every_module
def test_no_file_is_long(path: Path) -> None:
    assert len(path.read_text("utf-8").splitlines()) <= MAX_LINES


def test_the_rule_is_about_every_room() -> None:
    names = {path.relative_to(ROOT / "grader").with_suffix("").parts[0] for path in MODULES if "grader" in path.parts}
    assert names == set(MAY_IMPORT)


# What the learner's process holds, directly or by way of others.
SECRET = (
    "grader.exercises",
    "grader.checking.judge",
    "grader.checking.compare",
    "grader.running.grade",
    "grader.gradebook",
)


def reached_from(start: str) -> set[str]:
    """All modules of `grader` that importing this one brings in."""
    known = {name_of(module).removesuffix(".__init__"): module for module in MODULES}
    reached: set[str] = set()
    waiting = [start]
    while waiting:
        name = waiting.pop()
        if name in reached or name not in known:
            continue
        reached.add(name)
        if name == "grader":  # imports the checker inside `checks`, which the child replaces before anything runs
            continue
        for found in imports(known[name]):
            waiting += [found, found.rpartition(".")[0]]
        waiting.append(name.rpartition(".")[0])
    return reached


def test_the_learners_process_imports_nothing_that_knows_answers() -> None:
    child = ROOT / "grader" / "running" / "child.py"
    reached = reached_from("grader.running.child")
    assert "grader.checking.observe" in reached
    assert not [name for name in reached if name.startswith(SECRET)]
    assert not [name for name in imports(child) if "pickle" in name]


def test_the_border_is_crossed_without_pickle() -> None:
    for path in (ROOT / "grader" / "running").glob("*.py"):
        text = path.read_text("utf-8").replace("safetensors.torch.load(", "")
        assert not {name.split(".")[0] for name in imports(path)} & {"pickle", "dill", "marshal", "shelve"}
        for call in (".recv(", ".send(", "torch.load", "np.load"):
            assert call not in text, path
