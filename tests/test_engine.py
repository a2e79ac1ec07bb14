"""The engine could grade any course: it mentions no lesson of this one."""

import ast
import re
from pathlib import Path

from cellcheck.syllabus import lesson_names, load_lesson, syllabi

ROOT = Path(__file__).parents[1]
FILES = sorted(
    path for path in (ROOT / "grader" / "cellcheck").rglob("*") if path.suffix in (".py", ".html", ".json", ".css")
)
LESSONS = [load_lesson(name) for name in lesson_names()]
TITLES = {syllabus.head(name).title for syllabus in syllabi() for name in syllabus.names()}
NAMES = {lesson.name for lesson in LESSONS} | TITLES
SYMBOLS = sorted({exercise.symbol for lesson in LESSONS for exercise in lesson.exercises})
# Words of Python, PyTorch and nbgrader too: `bytes.decode`, `str.encode`, `nn.Module.train`, to generate an assignment,
# the windows on a screen, pages that are served, Pillow's colours, which it quantizes, and PyTorch's optimisers.
# The engine may use them, not define exercises of that name; what a lesson asks is looked for by the other symbols.
EVERYDAY = {"Adam", "SGD", "decode", "encode", "generate", "quantize", "serve", "train", "windows"}
WORD = re.compile(r"\b\w+\b")
# A lesson may build what PyTorch has too, under the same name: this is PyTorch's.
PYTORCHS = re.compile(r"\b(?:torch|nn)(?:\.\w+)+")
NUMBER = re.compile(r"\blessons? (?:\d|one|two|three)|\blesson_0[2-9]", re.IGNORECASE)


def mentioned(text: str) -> set[str]:
    """All names, titles and symbols of lessons in a text, and lessons by their numbers."""
    text = PYTORCHS.sub("", text)
    names = {name for name in NAMES if name in text}
    names |= set(WORD.findall(text)) & set(SYMBOLS) - EVERYDAY
    return names | set(NUMBER.findall(text))


def strings(path: Path) -> set[str]:
    """All texts in a module."""
    nodes = ast.walk(ast.parse(path.read_text("utf-8"))) if path.suffix == ".py" else ()
    return {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def test_the_engine_mentions_no_lesson() -> None:
    assert len(FILES) > 100
    offenders = {path: mentioned(path.read_text("utf-8")) | strings(path) & EVERYDAY for path in FILES}
    assert {str(path.relative_to(ROOT)): words for path, words in offenders.items() if words} == {}


def test_a_mention_is_found() -> None:
    assert mentioned("As in lesson 3, `causal_mask` hides the future.") == {"lesson 3", "causal_mask"}
    assert mentioned("`nn.Linear` is PyTorch's, and Linear is a lesson's.") == {"Linear"}
    assert mentioned(f"for {LESSONS[0].name}") == {LESSONS[0].name}
    assert len(SYMBOLS) > 50
