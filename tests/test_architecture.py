"""Arrows run one way: who may import whom, read from the syntax trees."""

import ast
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

from cellcheck.travelling import imported

ROOT = Path(__file__).parents[1]
ENGINE = ROOT / "grader" / "cellcheck"
COURSE = ROOT / "transformer_course"
LESSONS_FOLDER = COURSE / "lessons"
ALL = sorted(path for room in ("transformer_course", "grader/cellcheck") for path in (ROOT / room).rglob("*.py"))
MODULES = [path for path in ALL if not path.stem[0].isdigit()]  # a lesson's text is no module

# Each room of `cellcheck` may import itself, and what stands here.
LIGHT = {"errors", "files", "plain", "syntax"}
LESSONS = {"authoring", "syllabus", "lesson_text"} | LIGHT
CHECKING = LESSONS | {"checking"}
RUNNING = CHECKING | {"running", "sandbox", "travelling", "variants"}
REPORTING = RUNNING | {"batch", "tables", "repository"}
MAY_IMPORT = {
    "errors": set(),
    "files": set(),
    "plain": set(),
    "syntax": set(),
    "sealing": {"errors", "files", "syntax"},
    "authoring": {"errors", "sealing", "syntax"},
    "lesson_text": {"errors"},
    "travelling": LIGHT | {"authoring"},
    "lines": LIGHT | {"travelling"},
    "syllabus": LIGHT | {"authoring", "travelling", "lines", "lesson_text"},
    "sandbox": set(),
    "checking": CHECKING,
    "learning": LESSONS | {"running", "sealing"},
    "lab": LESSONS | {"learning"},
    "running": RUNNING,
    "repository": LESSONS,
    "batch": RUNNING,
    "api": RUNNING | {"batch", "gradebook"},
    "whole_class": RUNNING | {"api", "batch", "gradebook", "cluster", "leaderboard"},
    "tables": RUNNING,
    "rehearsal": CHECKING | {"lines"},
    "soundness": LESSONS | CHECKING | {"running", "lines", "rehearsal"},
    "building": CHECKING | {"repository", "travelling", "soundness"},
    "doctor": RUNNING,
    "audit": REPORTING | {"soundness"},
    "tutoring": RUNNING | {"api", "learning", "sealing"},
    "testing": CHECKING,
    "starting": LESSONS | {"repository"},
    "gradebook": REPORTING,
    "cluster": RUNNING | {"batch", "gradebook"},
    "submitting": RUNNING | {"leaderboard", "learning"},
    "collecting": RUNNING | {"leaderboard", "submitting"},
    "importing": LIGHT | {"gradebook"},
    "exporting": LIGHT | {"collecting", "gradebook"},
    "forgetting": LIGHT | {"collecting", "gradebook"},
    "lateness": LIGHT | {"collecting", "gradebook", "running"},
    "late_days": set(),
    "variants": set(),
    "handing_back": LIGHT | {"collecting", "gradebook"},
    "reporting": LESSONS | {"checking", "running", "exporting", "gradebook", "tables"},
    "similarity": RUNNING | {"gradebook"},
    "leaderboard": RUNNING,
    "serving": RUNNING | {"api", "collecting", "gradebook"},
    "grader_service": RUNNING | {"api", "gradebook"},
    "packing": RUNNING | {"api", "gradebook"},
    "demo": REPORTING | {"api", "gradebook", "reporting"},
    "browser": CHECKING | {"building", "repository"},
    "publishing": LESSONS | {"browser", "building", "checking", "learning", "repository"},
    "cli": REPORTING
    | {"api", "building", "audit", "gradebook", "collecting", "exporting", "demo", "doctor", "learning", "starting"}
    | {"similarity", "packing", "reporting", "handing_back", "forgetting", "lateness", "leaderboard"}
    | {"whole_class", "serving", "sealing", "tutoring", "importing"},
    "__init__": {"api", "browser", "checking", "errors", "gradebook", "leaderboard", "learning", "running"}
    | {"submitting", "syllabus", "variants", "whole_class"},
    "__main__": {"cli", "running"},
}
# What the grader offers to authors. The text of a lesson, a notebook, is not asked here.
OFFERED = {"authoring"}
OFFERED_TO_DEMO = OFFERED | {"demo"}


def name_of(path: Path) -> str:
    top = ROOT / "grader" if path.is_relative_to(ENGINE) else ROOT
    return ".".join(path.relative_to(top).with_suffix("").parts)


@cache
def imports(path: Path) -> set[str]:
    """All modules that a file names in an import, wherever it stands."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def rooms(path: Path) -> set[str]:
    """The rooms of `cellcheck` that a file imports."""
    names = [name.split(".") for name in imports(path)]
    return {parts[1] if len(parts) > 1 else "__init__" for parts in names if parts[0] == "cellcheck"}


OUTSIDE = {"nbgrader", "nbformat", "jupytext", "rich", "typer"}


def offenders(room: Path, beyond: Callable[[Path], set[str]]) -> dict[str, set[str]]:
    """The modules of a room that import something beyond what they may, with what it is."""
    here = [path for path in MODULES if path.is_relative_to(room)]
    assert len(here) > 50
    return {name_of(path): needed for path in here if (needed := beyond(path))}


def packages(path: Path) -> set[str]:
    return {name.split(".")[0] for name in imports(path)}


def test_the_library_knows_neither_the_grader_nor_the_lessons() -> None:
    def beyond(path: Path) -> set[str]:
        if path.is_relative_to(LESSONS_FOLDER):
            return set()
        lessons = {name for name in imports(path) if name.startswith("transformer_course.lessons")}
        return packages(path) & ({"cellcheck"} | OUTSIDE) | lessons

    assert offenders(COURSE, beyond) == {}


def test_lessons_import_only_what_is_offered_to_authors() -> None:
    def beyond(path: Path) -> set[str]:
        return rooms(path) - (OFFERED_TO_DEMO if path.stem == "demo" else OFFERED) - {"__init__"}

    assert offenders(LESSONS_FOLDER, beyond) == {}


def test_the_graders_rooms_import_one_way() -> None:
    def beyond(path: Path) -> set[str]:
        room = path.relative_to(ENGINE).with_suffix("").parts[0]
        return rooms(path) - MAY_IMPORT[room] - {room, "__init__"} | packages(path) & {"transformer_course"}

    assert offenders(ENGINE, beyond) == {}


def test_the_rule_is_about_every_room() -> None:
    names = {path.relative_to(ENGINE).with_suffix("").parts[0] for path in MODULES if path.is_relative_to(ENGINE)}
    assert names == set(MAY_IMPORT)


# What the learner's process holds, directly or by way of others.
SECRET = (
    "transformer_course",
    "cellcheck.checking.judge",
    "cellcheck.checking.compare",
    "cellcheck.running.grade",
    "cellcheck.gradebook",
)


def reached_from(start: str) -> set[str]:
    """All modules of `cellcheck` that importing this one brings in."""
    known = {name_of(module).removesuffix(".__init__"): module for module in MODULES}
    reached: set[str] = set()
    waiting = [start]
    while waiting:
        name = waiting.pop()
        if name in reached or name not in known:
            continue
        reached.add(name)
        if name == "cellcheck":  # imports the checker inside `checks`, which the child replaces before anything runs
            continue
        for needed in imports(known[name]):
            waiting += [needed, needed.rpartition(".")[0]]
        waiting.append(name.rpartition(".")[0])
    return reached


def test_the_learners_process_imports_nothing_that_knows_answers() -> None:
    reached = reached_from("cellcheck.running.child")
    assert "cellcheck.authoring.observe" in reached
    assert not [name for name in reached if name.startswith(SECRET)]


def test_the_engine_is_imported_without_torch() -> None:
    """So a lesson without tensors needs none. A function may import it, if it is called where there are tensors."""
    engine = [path for path in MODULES if path.is_relative_to(ENGINE)]
    at_once = {
        name_of(path)
        for path in engine
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.Import | ast.ImportFrom)
        and any(name.split(".")[0] == "torch" for name in imported(ast.Module([node], [])))
    }
    for_authors = ("cellcheck.authoring.modules", "cellcheck.authoring.optim")
    assert at_once == {*for_authors}  # for those whose exercises are modules or train them, and nobody else
    assert not [path for path in engine if any(name.startswith(for_authors) for name in imports(path))]


def test_the_border_is_crossed_without_pickle() -> None:
    for path in (ENGINE / "running").glob("*.py"):
        text = path.read_text("utf-8")
        assert not {name.split(".")[0] for name in imports(path)} & {"pickle", "dill", "marshal", "shelve"}
        for call in (".recv(", ".send(", "torch.load", "np.load"):
            assert call not in text, path


# A variable's name says what it holds: it is a noun.
NO_NOUNS = {"found", "kept", "made", "said"}
# Here an exercise rests on such a name: an edit in its NAME.md holds it, or the function that learners write.
OF_EXERCISES = {
    "transformer_course.language_model.choosing",
    "transformer_course.numpy_transformer.layers",
    "transformer_course.numpy_transformer.tape",
    "transformer_course.sampling",
    "transformer_course.training_well.dropout",
}


def variables(tree: ast.AST) -> set[str]:
    """The names of variables and parameters. A class's field is none: it is read beside its object's name."""
    nodes = list(ast.walk(tree))
    of_classes = [statement for node in nodes if isinstance(node, ast.ClassDef) for statement in node.body]
    fields = {id(name) for statement in of_classes if isinstance(statement, ast.Assign) for name in statement.targets}
    fields |= {id(statement.target) for statement in of_classes if isinstance(statement, ast.AnnAssign)}
    stored = [node for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    return {node.id for node in stored if id(node) not in fields} | {n.arg for n in nodes if isinstance(n, ast.arg)}


def test_the_name_of_a_variable_is_a_noun() -> None:
    perhaps = re.compile(rf"\b(?:{'|'.join(NO_NOUNS)})\b *(?:[:=,)]|in\b)")
    texts = {name_of(path): path.read_text("utf-8") for path in (*MODULES, *(ROOT / "tests").rglob("*.py"))}
    trees = {name: ast.parse(text) for name, text in texts.items() if perhaps.search(text)}
    participles = {name: words for name, tree in trees.items() if (words := NO_NOUNS & variables(tree))}
    assert {name: words for name, words in participles.items() if name not in OF_EXERCISES} == {}
    assert participles.keys() >= OF_EXERCISES
