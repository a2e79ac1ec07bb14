"""Arrows run one way: who may import whom, read from the syntax trees."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import cache
from pathlib import Path

from grader.travelling import imported

ROOT = Path(__file__).parents[1]
ALL = sorted(path for room in ("course", "grader", "lessons") for path in (ROOT / room).rglob("*.py"))
MODULES = [path for path in ALL if not path.stem[0].isdigit()]  # a lesson's text is no module

# Each room of `grader` may import itself, and what stands here.
LIGHT = {"errors", "files", "plain"}
LESSONS = {"authoring", "syllabus"} | LIGHT
CHECKING = LESSONS | {"checking"}
RUNNING = CHECKING | {"running", "sandbox", "travelling"}
REPORTING = RUNNING | {"batch", "tables", "repository"}
MAY_IMPORT = {
    "errors": set(),
    "files": set(),
    "plain": set(),
    "authoring": {"errors"},
    "travelling": LIGHT | {"authoring"},
    "lines": LIGHT | {"travelling"},
    "syllabus": LIGHT | {"authoring", "travelling", "lines"},
    "sandbox": set(),
    "checking": CHECKING,
    "learning": LESSONS | {"running"},
    "lab": LESSONS | {"learning"},
    "running": RUNNING,
    "repository": LESSONS,
    "batch": RUNNING,
    "api": RUNNING | {"batch", "gradebook"},
    "whole_class": RUNNING | {"api", "batch", "gradebook", "cluster", "leaderboard"},
    "tables": RUNNING,
    "rehearsal": CHECKING | {"lines"},
    "soundness": LESSONS | CHECKING | {"running", "lines", "rehearsal"},
    "building": CHECKING | {"repository", "travelling", "soundness", "learning"},
    "doctor": RUNNING,
    "audit": REPORTING | {"soundness"},
    "testing": CHECKING,
    "starting": LESSONS | {"repository"},
    "gradebook": REPORTING,
    "cluster": RUNNING | {"batch", "gradebook"},
    "submitting": RUNNING | {"leaderboard"},
    "collecting": RUNNING | {"leaderboard", "submitting"},
    "exporting": LIGHT | {"gradebook"},
    "handing_back": LIGHT | {"collecting", "gradebook"},
    "reporting": LESSONS | {"checking", "running", "exporting", "tables"},
    "similarity": RUNNING | {"gradebook"},
    "leaderboard": RUNNING,
    "packing": RUNNING | {"api", "gradebook"},
    "demo": REPORTING | {"api", "gradebook"},
    "publishing": LESSONS | {"building", "checking", "learning", "repository"},
    "cli": REPORTING
    | {"api", "building", "audit", "gradebook", "collecting", "exporting", "demo", "doctor", "learning", "starting"}
    | {"similarity", "packing", "reporting", "handing_back", "leaderboard", "whole_class"},
    "__init__": {
        "api",
        "checking",
        "errors",
        "gradebook",
        "leaderboard",
        "learning",
        "running",
        "submitting",
        "syllabus",
    }
    | {"whole_class"},
    "__main__": {"cli"},
}
# What the grader offers to authors. The text of a lesson, a notebook, is not asked here.
OFFERED = {"authoring"}
OFFERED_TO_DEMO = OFFERED | {"demo"}


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts)


@cache
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


OUTSIDE = {"nbgrader", "nbformat", "jupytext", "rich", "typer"}


def offenders(room: str, beyond: Callable[[Path], set[str]]) -> dict[str, set[str]]:
    """The modules of a room that import something beyond what they may, with what it is."""
    here = [path for path in MODULES if path.is_relative_to(ROOT / room)]
    assert len(here) > 50
    return {name_of(path): found for path in here if (found := beyond(path))}


def packages(path: Path) -> set[str]:
    return {name.split(".")[0] for name in imports(path)}


def test_the_library_knows_neither_the_grader_nor_the_lessons() -> None:
    assert offenders("course", lambda path: packages(path) & ({"grader", "lessons"} | OUTSIDE)) == {}


def test_lessons_import_only_what_is_offered_to_authors() -> None:
    def beyond(path: Path) -> set[str]:
        return rooms(path) - (OFFERED_TO_DEMO if path.stem == "demo" else OFFERED) - {"__init__"}

    assert offenders("lessons", beyond) == {}


def test_the_graders_rooms_import_one_way() -> None:
    def beyond(path: Path) -> set[str]:
        room = path.relative_to(ROOT / "grader").with_suffix("").parts[0]
        return rooms(path) - MAY_IMPORT[room] - {room, "__init__"} | packages(path) & {"lessons", "course"}

    assert offenders("grader", beyond) == {}


def test_the_rule_is_about_every_room() -> None:
    here = [path.relative_to(ROOT).with_suffix("").parts for path in MODULES]
    names = {parts[1] for parts in here if parts[0] == "grader"}
    assert names == set(MAY_IMPORT)


# What the learner's process holds, directly or by way of others.
SECRET = (
    "lessons",
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
    assert "grader.authoring.observe" in reached
    assert not [name for name in reached if name.startswith(SECRET)]
    assert not [name for name in imports(child) if "pickle" in name]


def test_the_engine_is_imported_without_torch() -> None:
    """So a lesson without tensors needs none. A function may import it, if it is called where there are tensors."""
    engine = [path for path in MODULES if path.is_relative_to(ROOT / "grader")]
    at_once = {
        name_of(path)
        for path in engine
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.Import | ast.ImportFrom)
        and any(name.split(".")[0] == "torch" for name in imported(ast.Module([node], [])))
    }
    assert at_once == {"grader.authoring.modules"}  # for authors whose exercises are modules, and nobody else
    assert not [path for path in engine if any(name.startswith("grader.authoring.modules") for name in imports(path))]


def test_the_border_is_crossed_without_pickle() -> None:
    for path in (ROOT / "grader" / "running").glob("*.py"):
        text = path.read_text("utf-8")
        assert not {name.split(".")[0] for name in imports(path)} & {"pickle", "dill", "marshal", "shelve"}
        for call in (".recv(", ".send(", "torch.load", "np.load"):
            assert call not in text, path
