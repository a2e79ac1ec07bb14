"""NAME.md: everything that knows answers to an exercise. It never travels to a learner's process: its ending says so.

A mistake is the right answer with a slip, so that is how it is written down: what to change in the library's source,
then what to tell the learner.

    # Mistakes

    ## not_sorted, central

    - `sorted(numbers)` → `numbers`

    You take the number in the middle of the list as it stands. What has to happen to the list first?

    ## the_lower_one

    - `(ordered[half - 1] + ordered[half])` → `ordered[half - 1]`
    - ` / 2` → nothing

    Of an even number of numbers you take one. Two share the middle: what does the docstring do with them?

**Edits.** Each item changes one place; what it names must stand in the right answer exactly once. (Docstrings don't
count, so that they can be reworded.) `nothing` takes it out. Whole lines are changed by a fenced `diff`: lines with a
`-` are replaced by those with a `+`, and lines that begin with a space stay, and help to find the place. A name with
`, central` behind it is a mistake that misses what the exercise is there to teach. Where somebody made it in public, a
line `- reported in: owner/project#17` names the issue, or the pull request, on GitHub.

**In full.** What is no slip in the right answer is written out in a fenced `python` block, as a learner would write it
into the notebook's cell: it defines the symbol. The right answer is at hand there under the name `right`, and so is all
that stands in the right answer's module.

    ## mean_instead, central

    ```python
    def median(numbers):
        return sum(numbers) / len(numbers)
    ```

    Your result is the mean. If the largest number were a million, should the number in the middle change?

**Sections.** Each has entries as those of the mistakes. Advice is for mistakes; elsewhere a text is a remark.

| section | its entries are |
|---|---|
| `# Mistakes` | wrong answers that people give, and the advice for them |
| `# Other references` | right answers that do something else than the library's, where the contract leaves it open |
| `# Right answers` | the same, written differently: every check must accept them |
| `# Held back, right` | more of these, on which nothing was tuned |
| `# Held back, wrong` | wrong answers that are none of the mistakes |
| `# Equivalent mutants` | automatic mutants as right as the answer: edits of a line, and below them the reason |

Before a section's first entry there may be a text, and a `python` block with what the blocks of all sections share.

The file is read when the first of its answers is asked for, and each answer is compiled when it is first run: learners
whose answers are right never wait for it.
"""

from __future__ import annotations
import __future__

import ast
import inspect
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields
from functools import cached_property, partial
from itertools import combinations, pairwise
from operator import itemgetter
from pathlib import Path
from types import CodeType
from typing import Any, TypeVar, overload

from cellcheck.authoring.spec import Combination, Exercise, Mistake, Surprise, Trial
from cellcheck.errors import GraderError
from cellcheck.sealing import text_of
from cellcheck.syntax import syntax_tree

MISTAKES = "Mistakes"
REFERENCES = "Other references"
VARIANTS = "Right answers"
HONEST = "Held back, right"
WRONG = "Held back, wrong"
EQUIVALENTS = "Equivalent mutants"
SECTIONS = (MISTAKES, REFERENCES, VARIANTS, HONEST, WRONG, EQUIVALENTS)
DROPPED = "(dropped)"
"""What becomes of a line that a mutant leaves out."""
RIGHT = "right"
"""What the right answer is called in a block."""

_NAME = re.compile(r"(?P<name>\w[\w '+-]*)(?P<central>, central)?")
_EDIT = re.compile(r"- (`+)(?P<old>.+?)\1 (?:→|->) (?:(`+)(?P<new>.+?)\3|nothing)")
_REPORT = re.compile(r"- reported in: (?P<report>[\w.-]+/[\w.-]+#[0-9]+)")
_FENCE = re.compile(r"```(\w*)")
_END = "```"


@dataclass(frozen=True)
class Edit:
    """One change in the source of the right answer."""

    old: str
    new: str
    line: int
    """Where it stands in its NAME.md."""
    whole_lines: bool = False

    def spans(self, code: str) -> list[tuple[int, int]]:
        """Where in the code it fits, as offsets."""
        old = re.escape(self.old)
        pattern = rf"^(?={old}$)" if self.whole_lines else f"(?={old})"
        return [(fit.start(), fit.start() + len(self.old)) for fit in re.finditer(pattern, code, re.MULTILINE)]


@dataclass(frozen=True)
class Block:
    """A fenced block of Python."""

    text: str
    line: int
    """Where its fence stands."""


@dataclass
class CatalogueEntry:
    """What stands below a heading: an answer as edits, or in full."""

    name: str
    line: int
    central: bool = False
    report: str = ""
    edits: list[Edit] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    prose: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Its prose as one line."""
        return " ".join(" ".join(self.prose).split())


@dataclass(frozen=True)
class WrittenMistake(Mistake):
    """A mistake of a NAME.md. It is compiled when its implementation is first asked for."""

    implementation: Any = field(init=False, repr=False, compare=False)
    entry: CatalogueEntry = field(kw_only=True, repr=False, compare=False)
    catalogue: Catalogue = field(kw_only=True, repr=False, compare=False)

    @property
    def edits(self) -> Sequence[Edit]:
        """What it changes in the right answer; nothing where it is written in full."""
        return self.entry.edits

    def __getattr__(self, name: str) -> Any:
        if name != "implementation":
            raise AttributeError(name)
        implementation = self.catalogue.implementation(self.entry)
        object.__setattr__(self, name, implementation)
        return implementation


def exercise_of(trial: Trial, path: Path) -> Exercise:
    """The exercise that a NAME.py, which stands at `path`, and the NAME.md beside it describe.

    Raises:
        GraderError: when the library has no such symbol.
    """
    symbol, right = path.stem, None
    if trial.module:
        __import__(trial.module)
        right = getattr(sys.modules[trial.module], symbol, None)
    if right is None:
        raise GraderError(
            f"{path}: there is no {symbol} in {trial.module or 'no module'}. In TRIAL, let `module` name the module of "
            "the course's library that defines it."
        )
    catalogue = Catalogue(path.with_suffix(".md"), right)
    mistakes = _Items(catalogue.mistakes)
    return Exercise(
        **{each.name: getattr(trial, each.name) for each in fields(trial)},
        symbol=symbol,
        references=_Items(lambda: catalogue.answers(REFERENCES).values(), right),
        mistakes=mistakes,
        variants=catalogue.answers(VARIANTS),
        honest=catalogue.answers(HONEST),
        wrong=catalogue.answers(WRONG),
        equivalents=_Named(catalogue.equivalents, lambda entry: entry.text),
        combinations=partial(catalogue.combinations, mistakes),
    )


class Catalogue:
    """The answers of one NAME.md, read when they are first asked for.

    Raises:
        GraderError: from then on, when something in the file is at fault: with the line, and what to do.
    """

    def __init__(self, path: Path, right: Any) -> None:
        self.path = path
        self.right = right
        self.symbol = path.stem
        self._possible: dict[str, bool] = {}
        """Combinations by name, and whether they make an answer."""

    def entries(self, section: str) -> Sequence[CatalogueEntry]:
        """What stands in a section, in order."""
        return self._read.sections[section]

    @property
    def shared(self) -> Sequence[Block]:
        """What the blocks of all sections share."""
        return self._read.shared

    def mistakes(self) -> Iterator[WrittenMistake]:
        """The mistakes, none of them compiled."""
        for entry in self.entries(MISTAKES):
            yield WrittenMistake(
                entry.name,
                advice=entry.text,
                central=entry.central,
                reported_in=entry.report,
                entry=entry,
                catalogue=self,
            )

    def answers(self, section: str) -> Mapping[str, Any]:
        """The functions or classes of a section by name, none of them compiled."""
        return _Named(lambda: {entry.name: entry for entry in self.entries(section)}, self.implementation)

    def equivalents(self) -> dict[str, CatalogueEntry]:
        """The mutants that are as right as the answer, by the names that the audit gives them."""
        return {
            f"{edit.old} -> {edit.new or DROPPED}": entry for entry in self.entries(EQUIVALENTS) for edit in entry.edits
        }

    def combinations(self, mistakes: Sequence[WrittenMistake], surprise: Surprise) -> Iterator[Iterator[Combination]]:
        """Two kinds: each mistake in the right answers that its edits fit, and each two together."""
        yield self._in_variants(mistakes, surprise)
        yield self._pairs(mistakes, surprise)

    def _in_variants(self, mistakes: Sequence[WrittenMistake], surprise: Surprise) -> Iterator[Combination]:
        edited = [mistake for mistake in mistakes if mistake.edits and surprise((mistake,)) is not None]
        for variant in self.entries(VARIANTS):
            text = self.text_of(variant)
            for mistake in edited:
                if all(len(edit.spans(text)) == 1 for edit in mistake.edits):
                    yield from self._combination(
                        (mistake,), f"{mistake.name}, in {variant.name}", partial(self._changed, text, mistake.edits)
                    )

    def _pairs(self, mistakes: Sequence[WrittenMistake], surprise: Surprise) -> Iterator[Combination]:
        """The least surprising first."""
        pairs = (pair for pair in combinations(mistakes, 2) if pair[0].edits or pair[1].edits)
        surprises = ((surprise(pair), pair) for pair in pairs)
        ranked = [(how_much, pair) for how_much, pair in surprises if how_much is not None]
        for _, (one, other) in sorted(ranked, key=itemgetter(0)):
            yield from self._combination((one, other), f"{one.name}, {other.name}", partial(self._both, one, other))

    def _both(self, one: WrittenMistake, other: WrittenMistake) -> str:
        """The source of an answer with both mistakes: one may change what the other has put there.

        Raises:
            GraderError: when neither fits into what the other makes of the right answer.
        """
        if one.edits and other.edits:
            with suppress(GraderError):
                return self.edited(*one.edits, *other.edits)
            with suppress(GraderError):
                return self._changed(self.text_of(other.entry), one.edits)
        first, second = (one, other) if other.edits else (other, one)
        return self._changed(self.text_of(first.entry), second.edits)

    def _combination(
        self, mistakes: tuple[WrittenMistake, ...], name: str, text: Callable[[], str]
    ) -> Iterator[Combination]:
        if not self._possible.get(name, True):
            return
        line = mistakes[0].entry.line
        try:
            entry = CatalogueEntry(name, line, blocks=[Block(text(), line)])
            answer = WrittenMistake(name, advice="", entry=entry, catalogue=self)
            if name not in self._possible:  # what it does may be known by now: then nobody compiles it again
                self._possible[name] = answer.implementation is not None
            if self._possible[name]:
                yield Combination(mistakes, answer)
        except GraderError:  # the two change the same place, or what they make together is no Python
            self._possible[name] = False

    @cached_property
    def code(self) -> str:
        """The source of the right answer without docstrings: what edits change."""
        source = textwrap.dedent(inspect.getsource(self.right))
        lines: list[str | None] = [*source.splitlines()]
        for node in ast.walk(syntax_tree(source)):
            if not isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef) or len(node.body) == 1:
                continue
            first = node.body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and first.lineno > node.lineno:
                lines[first.lineno - 1 : first.end_lineno] = [None] * ((first.end_lineno or 0) - first.lineno + 1)
        return "\n".join(line for line in lines if line is not None)

    def text_of(self, entry: CatalogueEntry) -> str:
        """What a learner would have in the cell to give this answer.

        Raises:
            GraderError: when an edit doesn't fit.
        """
        return "\n\n".join(block.text for block in entry.blocks) or self.edited(*entry.edits)

    def edited(self, *edits: Edit) -> str:
        """The source of the right answer with these edits made.

        Raises:
            GraderError: when one doesn't fit in exactly one place, or where another one does.
        """
        return self._changed(self.code, edits)

    def _changed(self, code: str, edits: Iterable[Edit]) -> str:
        places = sorted(((*self._span(edit, code), edit) for edit in edits), key=lambda place: place[:2])
        for (_, end, _), (start, _, edit) in pairwise(places):
            if start < end:
                raise self._fault(edit.line, "another edit of this entry changes the same place. Make one of the two.")
        for start, end, edit in reversed(places):
            code = code[:start] + edit.new + code[end:]
        return code

    def _span(self, edit: Edit, code: str) -> tuple[int, int]:
        spans = edit.spans(code)
        if len(spans) == 1:
            return spans[0]
        home = f"{self.symbol}, in {inspect.getsourcefile(self.right)}"
        quoted = "\n".join(["These lines", edit.old]) if "\n" in edit.old else f"`{edit.old}`"
        advice = (
            "Take more of the line, so that only one place fits."
            if spans
            else "Copy what is to be changed from there, letter by letter."
        )
        raise self._fault(edit.line, f"{quoted} stands {len(spans) or 'no'} times in the code of {home}. {advice}")

    def implementation(self, entry: CatalogueEntry) -> Any:
        """The function or class that an entry describes.

        Raises:
            GraderError: when an edit doesn't fit, or the code can't be run.
        """
        # It bears the name of this file: what bears the library's is taken for the library's own.
        namespace = {**vars(sys.modules[self.right.__module__]), "__name__": self.path.name}
        if entry.blocks:
            namespace[RIGHT] = self.right
            for block in (*self._read.shared, *entry.blocks):
                self._run(ast.increment_lineno(self._parsed(block.text, block.line), block.line), namespace, block.line)
        else:
            tree = self._parsed(self.edited(*entry.edits), entry.line, edited=True)
            for node in ast.walk(tree):  # a traceback should lead to the entry
                if "lineno" in node._attributes:
                    vars(node).update(lineno=entry.line, end_lineno=entry.line, col_offset=0, end_col_offset=0)
            self._run(tree, namespace, entry.line)
        return namespace[self.symbol]

    def _run(self, tree: ast.Module, namespace: dict[str, Any], line: int) -> None:
        try:
            exec(self._compiled(tree, namespace), namespace)
        except Exception as error:
            raise self._fault(line, f"this code stops with {type(error).__name__}: {error}. Correct it.") from error

    def _compiled(self, tree: ast.Module, namespace: Mapping[str, Any]) -> CodeType:
        """Compiled as the right answer's module was: with what it imports from `__future__`."""
        flags = (feature.compiler_flag for feature in namespace.values() if isinstance(feature, __future__._Feature))
        code: CodeType = compile(tree, str(self.path), "exec", flags=sum(set(flags)), dont_inherit=True)
        return code

    def _parsed(self, text: str, line: int, *, edited: bool = False) -> ast.Module:
        try:
            return syntax_tree(text)
        except SyntaxError as error:
            if edited:
                sentence = f"with these edits, {self.symbol} is not valid Python: {error.msg}. Correct them."
                raise self._fault(line, sentence) from None
            sentence = f"this is not valid Python: {error.msg}. Correct it."
            raise self._fault(line + (error.lineno or 1), sentence) from None

    def _fault(self, line: int, sentence: str) -> GraderError:
        return GraderError(f"{self.path}, line {line}: {sentence}")

    # --- reading ------------------------------------------------------------------------------------------------

    @cached_property
    def _read(self) -> _MarkdownReader:
        if not self.path.is_file():
            raise GraderError(f"{self.path} is missing: write down there what people get wrong in {self.symbol}.")
        reader = _MarkdownReader(self._fault)
        reader.read(text_of(self.path).splitlines())
        for block in reader.shared:
            self._parsed(block.text, block.line)
        for section, entries in reader.sections.items():
            for entry in entries:
                self._insist(section, entry)
        return reader

    def _insist(self, section: str, entry: CatalogueEntry) -> None:
        if section == EQUIVALENTS:
            if not entry.edits or entry.blocks or not entry.text:
                raise self._fault(entry.line, "an equivalent mutant is an edit of a line, and below it the reason.")
            return
        if bool(entry.edits) == bool(entry.blocks):
            raise self._fault(
                entry.line,
                f"{entry.name} needs edits, as in - `old` → `new`, or a block of Python that defines {self.symbol}"
                + (", and has both." if entry.edits else "."),
            )
        if section == MISTAKES and not entry.text:
            raise self._fault(entry.line, f"{entry.name} has no advice: say below what to tell somebody who makes it.")
        if entry.central and section != MISTAKES:
            raise self._fault(entry.line, "only a mistake can be central: take that out.")
        if entry.blocks and not any(self.symbol in _defined(self._parsed(b.text, b.line)) for b in entry.blocks):
            raise self._fault(
                entry.blocks[-1].line,
                f"this block doesn't define {self.symbol}, as a learner's cell does. Where it needs the right answer, "
                f"that is called {RIGHT}.",
            )


Fault = Callable[[int, str], GraderError]
"""The error for what is wrong in a line: the line, and the sentence."""


class _MarkdownReader:
    """Reads the lines of a NAME.md: what is there, and whether it has the form of the module's docstring."""

    def __init__(self, fault: Fault) -> None:
        self.sections: dict[str, list[CatalogueEntry]] = {section: [] for section in SECTIONS}
        self.shared: list[Block] = []
        self._fault = fault
        self._section = ""
        self._entry: CatalogueEntry | None = None
        self._names: dict[tuple[str, str], int] = {}

    def read(self, lines: Sequence[str]) -> None:
        """Reads all of them."""
        numbered = enumerate(lines, start=1)
        for number, line in numbered:
            if line.startswith("#"):
                self._heading(line, number)
            elif fence := _FENCE.fullmatch(line.rstrip()):
                self._fenced(fence[1], number, list(_until_the_end(numbered, number, self._fault)))
            elif line.startswith("- `"):
                self._edit(line.rstrip(), number)
            elif line.startswith("- reported in"):
                self._report(line.rstrip(), number)
            elif line.strip() and not self._section:
                raise self._fault(number, f"a text before the first heading. Begin with one of: {_listed(SECTIONS)}.")
            elif self._entry is not None:
                self._entry.prose.append(line)

    def _heading(self, line: str, number: int) -> None:
        marks, _, text = line.partition(" ")
        if marks == "#":
            if text not in SECTIONS:
                raise self._fault(number, f"there is no section called {text!r}. There are: {_listed(SECTIONS)}.")
            self._section, self._entry = text, None
            return
        name = _NAME.fullmatch(text)
        if marks != "##" or name is None or not self._section:
            raise self._fault(
                number,
                f"{line!r} is no heading here. An answer's begins with ##; then come its name and, for a mistake that "
                "misses what the exercise teaches, ', central'.",
            )
        if self._section == EQUIVALENTS:
            raise self._fault(number, "a mutant has no name: write - `line` → `line`, and below it the reason.")
        first = self._names.setdefault((self._section, name["name"]), number)
        if first != number:
            raise self._fault(number, f"{name['name']} stands in line {first} already: give each a name of its own.")
        if self._section == MISTAKES and not (name["name"].isidentifier() and name["name"].islower()):
            raise self._fault(number, f"{name['name']!r} should be in small letters, with _ between words.")
        self._begin(CatalogueEntry(name["name"], number, bool(name["central"])))

    def _report(self, line: str, number: int) -> None:
        report = _REPORT.fullmatch(line)
        if report is None or self._entry is None or self._section != MISTAKES:
            raise self._fault(number, "where a mistake was reported is written so: - reported in: owner/project#17.")
        self._entry.report = report["report"]

    def _begin(self, entry: CatalogueEntry) -> CatalogueEntry:
        self._entry = entry
        self.sections[self._section].append(entry)
        return entry

    def _fenced(self, language: str, number: int, lines: list[str]) -> None:
        if language == "python" and self._section and self._section != EQUIVALENTS:
            blocks = self.shared if self._entry is None else self._entry.blocks
            blocks.append(Block("\n".join(lines) + "\n", number))
        elif language == "diff" and self._entry is not None:
            self._entry.edits.append(self._diff(number, lines))
        else:
            raise self._fault(number, "a fenced block here is `python`, or within an entry `diff`.")

    def _diff(self, number: int, lines: list[str]) -> Edit:
        if any(line[:1] not in ("-", "+", " ", "") for line in lines):
            raise self._fault(number, "each line of a diff begins with -, + or a space.")
        old, new = ([line[1:] for line in lines if line[:1] != other] for other in "+-")
        if not old or old == new:
            raise self._fault(
                number, "this diff changes nothing: it needs lines with a -, or lines with a + beside others."
            )
        return Edit("\n".join(old), "\n".join(new), number, whole_lines=True)

    def _edit(self, line: str, number: int) -> None:
        edit = _EDIT.fullmatch(line)
        if edit is None:
            reason = " Its reason goes on a line of its own, below." if self._section == EQUIVALENTS else ""
            raise self._fault(number, f"an edit is one line: - `old` → `new`, or - `old` → nothing.{reason}")
        entry = self._entry
        if self._section == EQUIVALENTS and (entry is None or entry.text):
            entry = self._begin(CatalogueEntry("", number))
        if entry is None:
            raise self._fault(number, "an edit without a heading: write ## and a name above it.")
        entry.edits.append(Edit(edit["old"], edit["new"] or "", number))


def _until_the_end(numbered: Iterator[tuple[int, str]], begun: int, fault: Fault) -> Iterator[str]:
    for _, line in numbered:
        if line.rstrip() == _END:
            return
        yield line
    raise fault(begun, f"this block has no end: add a line {_END}.")


def _defined(tree: ast.Module) -> Iterator[str]:
    """The names that a module's own statements bind."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            yield node.name
        elif isinstance(node, ast.Assign):
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"# {name}" for name in names)


# --- what is read when it is asked for ---------------------------------------------------------------------------

T = TypeVar("T")


class _Items(Sequence[T]):
    """Those given at once, and the rest, which is read when it is asked for."""

    def __init__(self, rest: Callable[[], Iterable[T]], *first: T) -> None:
        self._rest, self._first = rest, first

    @cached_property
    def _all(self) -> tuple[T, ...]:
        return (*self._first, *self._rest())

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[T]: ...
    def __getitem__(self, index: int | slice) -> T | Sequence[T]:
        return self._first[0] if index == 0 and self._first else self._all[index]

    def __len__(self) -> int:
        return len(self._all)


class _Named(Mapping[str, T]):
    """What is made of entries, by name. The names are read, and each value is made, when it is asked for."""

    def __init__(
        self, entries: Callable[[], Mapping[str, CatalogueEntry]], made_of: Callable[[CatalogueEntry], T]
    ) -> None:
        self._entries, self._made_of = entries, made_of
        self._values: dict[str, T] = {}

    def __getitem__(self, name: str) -> T:
        entry = self._entries()[name]
        if name not in self._values:
            self._values[name] = self._made_of(entry)
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries())

    def __len__(self) -> int:
        return len(self._entries())
