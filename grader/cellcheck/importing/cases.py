"""Otter's test cases: how they are written, what each is worth, and the cell that does the same.

A case is one of two things. A doctest shows what lines print, and is compared as Python's doctest compares. A function
raises an error where something is wrong; it sees what is handed to it, and not the learner's names.
"""

import ast
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from doctest import OPTIONFLAGS_BY_NAME, DocTestParser, Example
from textwrap import dedent
from typing import Any

import yaml
from nbformat import NotebookNode

from cellcheck.importing.calls import OtterNames
from cellcheck.importing.unknown import Unknown
from cellcheck.syntax import syntax_tree

_BEGIN_CONFIG = re.compile(r"(?:.\s*=\s*)?\"\"?\"?\s*#\s*BEGIN\s*TEST\s*CONFIG", re.IGNORECASE)
_END_CONFIG = re.compile(r"\"\"?\"?;?\s*#\s*END\s*TEST\s*CONFIG", re.IGNORECASE)
_HIDDEN = re.compile(r"\s*#.*\bhidden\b", re.IGNORECASE)
_PROMPT = re.compile(r"^\s*(?:>>>|\.\.\.|In \[)", re.MULTILINE)

_DEFINITIONS = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
"""What is the same however often it is run."""

Points = float | list[float | None] | None
"""What a question says: a number for all its cases, one for each, or nothing."""


@dataclass(frozen=True)
class OtterCase:
    """One test case."""

    text: str
    """A doctest, or what is run before `function` is called."""
    function: str | None = None
    parameters: tuple[str, ...] = ()
    hidden: bool = False
    points: float | None = None
    success: str | None = None
    failure: str | None = None
    common: str = ""
    """What the functions of a file find there, and may change for the next one."""


@dataclass(frozen=True)
class QuestionTests:
    """The tests of one question."""

    name: str
    cases: Sequence[OtterCase]
    points: Points = None
    all_or_nothing: bool = False

    def worth(self, where: int | str) -> list[float]:
        """What each case is worth: what isn't said is shared out, by Otter's rules.

        Raises:
            Unknown: where Otter itself would stop, and for less than nothing.
        """
        total = None if isinstance(self.points, list) else self.points
        points = self.points if isinstance(self.points, list) else [case.points for case in self.cases]
        if len(points) != len(self.cases):
            raise Unknown.at(where, f"{self.name} has points for {len(points)} test cases, and {len(self.cases)} cases")
        if not all(are_points(number) for number in (*points, total) if number is not None):
            raise Unknown.at(where, f"{self.name} has points that aren't numbers, or are less than nothing")
        given = sum(number for number in points if number is not None)
        if total is not None and given > total:
            raise Unknown.at(where, f"the test cases of {self.name} are worth more than the question")
        rest = total - given if total is not None else 0 if given else 1
        return [rest / points.count(None) if number is None else number for number in points]


def are_points(value: Any) -> bool:
    """Whether a value is a number of points; YAML knows infinity and NaN, too."""
    return type(value) in (int, float) and 0 <= value < math.inf


def of_cell(number: int, cell: NotebookNode, doctests: bool) -> OtterCase:
    """The case in a test cell of a master notebook.

    Raises:
        Unknown: when it isn't written as Otter wants it.
    """
    lines = cell.source.split("\n")
    config: dict[str, Any] = {}
    if _BEGIN_CONFIG.match(lines[0]):
        end = next((place for place, line in enumerate(lines) if _END_CONFIG.match(line)), None)
        if end is None:
            raise Unknown.at(number, "the line # END TEST CONFIG is missing")
        config = read_yaml(number, "\n".join(lines[1:end]))
        lines = lines[end + 1 :]
    elif _HIDDEN.match(lines[0]):
        config, lines = {"hidden": True}, lines[1:]
    source = "\n".join(lines)
    body = parsed(number, source)
    if doctests:
        case = _of_doctest(number, "\n".join([*map(_example, map(_unannotated, body)), _shown(cell)]))
    elif not 1 <= len(body) <= 2 or not isinstance(body[0], ast.FunctionDef):
        raise Unknown.at(number, "a test is more than one function and a call of it")
    else:
        case = _of_function(body[0], source)
    return _configured(case, config)


def of_functions(cases: Sequence[OtterCase]) -> list[OtterCase]:
    """Cases that go into one file: of two functions of one name, Otter knows the second only, in the first's place."""
    return list({case.function: case for case in cases}.values())


def of_file(where: str, source: str, doctests: bool | None = None) -> QuestionTests:
    """The tests in a file, or in a notebook's metadata. Nothing is run: what isn't written out isn't known.

    Raises:
        Unknown: when it isn't written as Otter writes it.
    """
    body = parsed(where, source)
    settings = {
        statement.targets[0].id: _literal(where, statement.value)
        for statement in body
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name)
        if statement.targets[0].id in ("OK_FORMAT", "test", "name", "points", "all_or_nothing")
    }
    if settings.get("OK_FORMAT", doctests) is None:
        raise Unknown.at(where, "OK_FORMAT isn't set, so nobody knows how its tests are written")
    if settings.get("OK_FORMAT", doctests):
        return of_specification(where, settings.get("test"))
    if not isinstance(settings.get("name"), str):
        raise Unknown.at(where, "there is no name")
    tests, before, names = [], [], OtterNames()
    for statement in body:
        decorators = statement.decorator_list if isinstance(statement, ast.FunctionDef) else []
        config = _of_decorator(where, decorators[0], names) if len(decorators) == 1 else None
        if names.imported(where, statement):
            continue
        if isinstance(statement, ast.FunctionDef) and config is not None:
            tests.append(_configured(_of_function(statement, source), config))
        elif names.occur_in(statement):
            raise Unknown.at(where, "test_case is used for more than to mark a function")
        elif not isinstance(statement, ast.Assign) or ast.unparse(statement.targets[0]) not in settings:
            before.append(f"{ast.unparse(statement)}\n")
    cases, first = of_functions(tests), "".join(before)
    if len(cases) > 1 and not all(isinstance(statement, _DEFINITIONS) for statement in parsed(where, first)):
        cases = [replace(case, common=first) for case in cases]
    else:
        cases = [replace(case, text=first + case.text) for case in cases]
    return QuestionTests(settings["name"], cases, settings.get("points"), bool(settings.get("all_or_nothing", False)))


def of_specification(where: str, test: Any) -> QuestionTests:
    """The tests in a dictionary of OK's format.

    Raises:
        Unknown: when it isn't one that Otter takes.
    """
    try:
        (suite,) = test["suites"]
        name, cases = str(test["name"]), [dict(case) for case in suite["cases"]]
        texts = [dedent(case["code"]) for case in cases]
    except (TypeError, KeyError, ValueError, AttributeError):
        raise Unknown.at(where, "the tests aren't one suite of cases") from None
    if suite.get("type", "doctest") != "doctest" or suite.get("setup") or suite.get("teardown"):
        raise Unknown.at(where, f"the tests of {name} aren't plain doctests, without setup and teardown")
    return QuestionTests(
        name,
        [
            _configured(_of_doctest(where, text), {"hidden": True, **case})
            for case, text in zip(cases, texts, strict=True)
        ],
        test.get("points"),
        bool(test.get("all_or_nothing", False)),
    )


def cell_text(case: OtterCase, function: str) -> str:
    """The code that does in nbgrader what a case does in Otter; nothing of it stays among the learner's names.

    Args:
        case: the test case.
        function: the name of the function that it becomes.
    """
    if case.function is None:
        examples = DocTestParser().get_examples(case.text)
        flags = sorted({name for example in examples for name in _flags(example)})
        lines = [
            f"from doctest import {', '.join([*flags, 'DocTest', 'DocTestRunner', 'Example'])}",
            "",
            "examples = [",
            *(f"    {_example_text(example)}," for example in examples),
            "]",
            "wrong = []",
            f"test = DocTest(examples, names, {function!r}, None, 0, None)",
            "DocTestRunner(verbose=False).run(test, out=wrong.append, clear_globs=False)",
        ]
        why = repr(case.failure) if case.failure else None if case.hidden else "''.join(wrong)"
        lines.append("assert not wrong" + (f", {why}" if why else ""))
    else:
        handed = ", ".join(
            f"{name}=names" if name == "env" else f"{name}=names.get({name!r})" for name in case.parameters
        )
        call = f"tests[{case.function!r}]({handed})"
        lines = ["tests = {}", f"exec({_literal_of(case.text)}, tests)", call]
        if case.common:
            common = f"common of {function.rpartition('_')[0]}"
            lines[:1] = [f"tests = names.setdefault({common!r}, {{}})", "if not tests:"]
            lines.insert(2, f"    exec({_literal_of(case.common)}, tests)")
        if case.failure:
            reason = f"raise AssertionError({case.failure!r}) from error"
            lines[-1:] = ["try:", f"    {call}", "except Exception as error:", f"    {reason}"]
    if case.success:
        lines.append(f"print({case.success!r})")
    body = "\n".join(f"    {line}" if line else "" for line in lines)
    return f"def {function}(names):\n{body}\n\n\n{function}(globals())"


def read_yaml(where: int | str, text: str) -> dict[str, Any]:
    """What a configuration says.

    Raises:
        Unknown: when it isn't one.
    """
    try:
        config = yaml.safe_load(text) or {}
    except yaml.YAMLError:
        raise Unknown.at(where, "the configuration isn't valid YAML") from None
    if not isinstance(config, dict):
        raise Unknown.at(where, "the configuration isn't a list of keys and values")
    return {str(key): value for key, value in config.items()}


def parsed(where: int | str, source: str) -> list[ast.stmt]:
    """The statements of a text.

    Raises:
        Unknown: when it isn't Python.
    """
    try:
        return syntax_tree(source).body
    except (SyntaxError, ValueError):
        raise Unknown.at(where, "the tests aren't valid Python") from None


def _shown(cell: NotebookNode) -> str:
    """What a cell showed when it was saved, which is what is expected."""
    return "".join(
        output.get("text", "") + output.get("data", {}).get("text/plain", "") for output in cell.get("outputs", ())
    )


def _unannotated(statement: ast.stmt) -> ast.stmt:
    """The statement without the types of functions: Otter takes them away, so nobody has to know their names."""
    for node in ast.walk(statement):
        if isinstance(node, ast.arg):
            node.annotation = None
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            node.returns = None
    return statement


def _example(statement: ast.stmt) -> str:
    first, *others = [line for line in ast.unparse(statement).split("\n") if line]
    return "\n".join([f">>> {first}", *(f"... {line}" for line in others)])


def _of_doctest(where: int | str, text: str) -> OtterCase:
    try:
        DocTestParser().get_examples(text)
    except ValueError as error:
        raise Unknown.at(where, f"a doctest isn't written as Python wants it ({error})") from None
    return OtterCase(text)


def _of_function(function: ast.FunctionDef, source: str) -> OtterCase:
    parameters = tuple(argument.arg for argument in (*function.args.args, *function.args.kwonlyargs))
    return OtterCase(ast.get_source_segment(source, function) or "", function.name, parameters)


def _configured(case: OtterCase, config: Mapping[str, Any]) -> OtterCase:
    """The case with what is said about it."""
    success, failure = config.get("success_message"), config.get("failure_message")
    return replace(
        case,
        hidden=bool(config.get("hidden", False)),
        points=config.get("points"),
        success=None if success is None else str(success),
        failure=None if failure is None else str(failure),
    )


def _of_decorator(where: str, decorator: ast.expr, names: OtterNames) -> dict[str, Any] | None:
    """What `@test_case(...)` says, or None where the decorator is another one."""
    if not isinstance(decorator, ast.Call) or not names.of(decorator.func).endswith(".test_case"):
        return None
    order = ("name", "points", "hidden", "success_message", "failure_message")
    arguments = [*zip(order, decorator.args, strict=False), *((word.arg, word.value) for word in decorator.keywords)]
    return {name: _literal(where, value) for name, value in arguments if name is not None}


def _literal(where: str, value: ast.expr) -> Any:
    try:
        return ast.literal_eval(value)
    except (ValueError, TypeError, SyntaxError):
        raise Unknown.at(where, f"a value is worked out and not written out ({ast.unparse(value)[:60]})") from None


def _flags(example: Example) -> dict[str, bool]:
    """What a comment `# doctest: +ELLIPSIS` asks for, by name."""
    return {name: example.options[flag] for name, flag in OPTIONFLAGS_BY_NAME.items() if flag in example.options}


def _example_text(example: Example) -> str:
    arguments = [_literal_of(example.source), _literal_of(example.want)]
    if example.exc_msg is not None:
        arguments.append(f"exc_msg={_literal_of(example.exc_msg)}")
    if flags := _flags(example):
        arguments.append(f"options={{{', '.join(f'{name}: {value}' for name, value in flags.items())}}}")
    return f"Example({', '.join(arguments)})"


def _literal_of(text: str) -> str:
    """A text as Python writes it: several lines as lines, unless IPython would take one for a prompt and change it."""
    if text.count("\n") > 1 and not _PROMPT.search(text) and text.replace("\n", "").isprintable():
        for quotes in ("'''", '"""'):
            if quotes not in text and not text.endswith((quotes[0], "\\")):
                raw = "r" if "\\" in text else ""
                return f"{raw}{quotes}{text}{quotes}"
    return repr(text)
