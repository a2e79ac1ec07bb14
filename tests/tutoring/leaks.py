"""Whether a reply holds an answer, found out in another way than the tutor does: by statements, not by lines."""

import ast
import inspect
import json
import textwrap
from collections.abc import Iterator
from functools import cache
from typing import Any

from cellcheck.authoring.catalogue import HONEST, MISTAKES, REFERENCES, VARIANTS, Catalogue
from cellcheck.syllabus import find_lesson, lesson_names, load_lesson

LEAST = 22
"""Letters of a statement that says something by itself."""


def leaks(reply: Any) -> list[str]:
    """The statements of answers, right and wrong ones, that stand in a reply."""
    text = _bare(reply if isinstance(reply, str) else json.dumps(reply, ensure_ascii=False).replace('\\\\"', '"'))
    beginnings = {text[place : place + LEAST] for place in range(len(text))}
    begun = _by_their_beginning().keys() & beginnings
    return sorted(statement for each in begun for statement in _by_their_beginning()[each] if statement in text)


def whole_answers(text: str) -> set[str]:
    """The exercises whose right answer, the library's, stands in a text with all its statements."""
    bare = _bare(text)
    return {name for name, statements in _right().items() if all(statement in bare for statement in statements)}


@cache
def _right() -> dict[str, list[str]]:
    answers = {
        f"{lesson} {exercise.symbol}": list(_statements(textwrap.dedent(inspect.getsource(exercise.references[0]))))
        for lesson in lesson_names()
        for exercise in load_lesson(lesson).exercises
    }
    return {name: statements for name, statements in answers.items() if statements}


@cache
def every_statement() -> frozenset[str]:
    """Those of all answers to all exercises, without those that a docstring shows."""
    every = {statement for lesson in lesson_names() for statement in _statements_of(lesson)}
    return frozenset(statement for statement in every if statement not in _docstrings())


@cache
def _by_their_beginning() -> dict[str, list[str]]:
    statements: dict[str, list[str]] = {}
    for statement in every_statement():
        statements.setdefault(statement[:LEAST], []).append(statement)
    return statements


@cache
def _docstrings() -> str:
    """What the blanks say, without their blanks: examples hold statements that an answer has as well."""
    sources = [
        textwrap.dedent(inspect.getsource(exercise.references[0]))
        for lesson in lesson_names()
        for exercise in load_lesson(lesson).exercises
    ]
    nodes = [node for source in sources for node in ast.walk(ast.parse(source))]
    written = [ast.get_docstring(node) for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    return _bare("\n".join(filter(None, written)))


def _statements_of(lesson: str) -> Iterator[str]:
    syllabus, name = find_lesson(lesson)
    for exercise in load_lesson(name).exercises:
        right = exercise.references[0]
        yield from _statements(textwrap.dedent(inspect.getsource(right)))
        catalogue = Catalogue(syllabus.place(name) / f"{exercise.symbol}.md", right)
        for section in (MISTAKES, REFERENCES, VARIANTS, HONEST):
            for entry in catalogue.entries(section):
                yield from _statements(catalogue.text_of(entry))


def _statements(code: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(code)):
        simple = isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Return | ast.Expr)
        if simple and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            bare = _bare(ast.unparse(node))
            if len(bare) >= LEAST:
                yield bare


def _bare(text: str) -> str:
    return "".join(text.split()).replace('"', "'")
