"""What people get wrong, for instructors: each mistake of a lesson as a small diff, with what it earns and the advice.

The code and the edits come from `cellcheck.authoring.catalogue`, the points from the course's marks table. What authors
wrote becomes text nodes, never Markdown or HTML: a learner's card shows it letter by letter too.
"""

import ast
import csv
import inspect
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from pathlib import Path

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from cellcheck.authoring.catalogue import RIGHT, WrittenMistake
from cellcheck.authoring.spec import Exercise, Lesson
from cellcheck.checking.cards import worth
from cellcheck.learning.offers import Offer
from cellcheck.publishing.exercises import ExerciseAddress
from cellcheck.repository import Repository
from cellcheck.syllabus import load_lesson
from cellcheck.syntax import syntax_tree

FOLDER = "mistakes"
CONTEXT = 2
SHORT = 12
"""An answer written in full is shown as a diff if that has no more lines."""
_MARKER = re.compile(r"\s*### (BEGIN|END) SOLUTION\s*")
_DEFINITION = re.compile(r"\s*((?:async def|def|class) \w+)")
# Neither the site's search nor a search engine should lead a learner here.
_HEAD = "---\nno-search: true\ntocdepth: 2\nmyst:\n  html_meta:\n    robots: noindex\n---"


def pages(offers: Sequence[Offer], lessons: Mapping[str, Lesson]) -> Iterator[tuple[str, str]]:
    """The name and the text of each page: one for each lesson, and one that lists them."""
    toctree = "```{toctree}\n:hidden:\n\n" + "\n".join(offer.name for offer in offers) + "\n```"
    rows = ["| lesson | exercises | mistakes |", "|---|---|---|"]
    for offer in offers:
        lesson = lessons[offer.name]
        yield f"{offer.name}.md", _page(offer, lesson)
        count = sum(len(exercise.mistakes) for exercise in lesson.exercises)
        rows.append(f"| [Lesson {offer.number} · {offer.title}]({offer.name}.md) | {len(lesson.exercises)} | {count} |")
    words = (
        "What people get wrong in each exercise, as the grader knows it: a small diff of the right answer, what it "
        "earns, and what the learner is told. These pages give away the answers, so they are for those who teach the "
        "course."
    )
    yield "index.md", "\n\n".join([_HEAD, "# Mistakes", words, "\n".join(rows), toctree, ""])


def _page(offer: Offer, lesson: Lesson) -> str:
    link = f"[lesson {offer.number}, {offer.title}](../lessons/{offer.name}.ipynb)"
    parts = [
        _HEAD,
        f"# Mistakes of lesson {offer.number}",
        f"This page gives away the answers to {link}, so it is for those who teach the course.",
    ]
    for exercise in lesson.exercises:
        place = ExerciseAddress(offer.name, exercise.symbol)
        parts += [
            f"({place.label.replace('exercise', FOLDER, 1)})=\n## `{exercise.symbol}` · {worth(exercise.points)}",
            f"{_count(len(exercise.mistakes), 'mistake')} people make in [this exercise](#{place.label}).",
            f"```{{mistakes}} {offer.name} {exercise.symbol}\n```",
        ]
    return "\n\n".join(parts) + "\n"


def _count(number: float, thing: str) -> str:
    return f"{number:g} {thing}" + ("" if number == 1 else "s")


class Mistakes(SphinxDirective):
    """`{mistakes} LESSON SYMBOL`: the mistakes of an exercise, a section for each."""

    required_arguments = 2

    def run(self) -> list[nodes.Node]:
        """Whoever edits the catalogue, the right answer or the marks changes the page."""
        lesson, symbol = self.arguments
        exercise = load_lesson(lesson)[symbol]
        mistakes = [mistake for mistake in exercise.mistakes if isinstance(mistake, WrittenMistake)]
        table = marks_table(Repository.find(Path(self.env.srcdir)), lesson)
        for catalogue in {id(mistake.catalogue): mistake.catalogue for mistake in mistakes}.values():
            for path in (catalogue.path, inspect.getsourcefile(catalogue.right), table):
                self.env.note_dependency(str(path))
        return sections(exercise, mistakes, earned(table, symbol))


def marks_table(repository: Repository, lesson: str) -> Path:
    """Where a course keeps what each mistake of a lesson earns: see `tests/lessons/marks.py`. It need not be there."""
    return repository.root / "tests" / "marks" / f"{lesson.partition('_')[0]}.csv"


def earned(table: Path, symbol: str) -> dict[str, list[float]]:
    """The points of an exercise's mistakes by name: one number, or one for each seed where they differ."""
    if not table.is_file():
        return {}
    with table.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if (row["symbol"], row["kind"]) == (symbol, "mistake")]
    return {row["name"]: [float(points) for points in row["points"].split()] for row in rows}


def sections(
    exercise: Exercise, mistakes: Iterable[WrittenMistake], points: Mapping[str, Sequence[float]]
) -> list[nodes.Node]:
    """What stands below an exercise's heading: what several of its mistakes share, and each mistake."""
    described: list[nodes.Node] = []
    helpers = ""
    for mistake in mistakes:
        section = nodes.section(ids=[f"{exercise.symbol}.{mistake.name}"])
        section += nodes.title("", mistake.name.replace("_", " "))
        facts = _facts(mistake, exercise.points, points.get(mistake.name, ()))
        section += [nodes.paragraph("", facts, classes=["earns"])] if facts else []
        section += _change(mistake)
        section += nodes.paragraph("", mistake.advice, classes=["advice"])
        section += _report(mistake)
        described.append(section)
        helpers = helpers or _helpers(mistake)
    return [*(_fold("Code that some of these answers use", _code(helpers)) if helpers else []), *described]


def _facts(mistake: WrittenMistake, of: float, points: Sequence[float]) -> str:
    facts = []
    if points:
        low, high = min(points), max(points)
        span = f"{low:g}" if low == high else f"{low:g} to {high:g}"
        drawn = "" if low == high else ", depending on the cases drawn"
        facts.append(f"earns {span} of {worth(of)}{drawn}")
    facts += ["misses what the exercise teaches"] if mistake.central else []
    return "; ".join(facts).capitalize()


def _report(mistake: WrittenMistake) -> list[nodes.Node]:
    if not mistake.reported_in:
        return []
    project, _, number = mistake.reported_in.partition("#")
    address = f"https://github.com/{project}/issues/{number}"  # which leads to a pull request, if it is one
    paragraph = nodes.paragraph("", "Reported in ", classes=["reported"])
    paragraph += nodes.reference("", mistake.reported_in, refuri=address)
    return [paragraph]


def _change(mistake: WrittenMistake) -> list[nodes.Node]:
    catalogue = mistake.catalogue
    text = catalogue.text_of(mistake.entry)
    changed = diff(catalogue.code, text)
    if mistake.edits or changed.count("\n") < SHORT:
        return [nodes.literal_block(changed, changed, language="diff")]
    named = f", where {RIGHT} is the right answer" if re.search(rf"\b{RIGHT}\b", text) else ""
    return _fold(f"The answer in full{named}", _code(text))


def _helpers(mistake: WrittenMistake) -> str:
    """The code that the catalogue's blocks share, if this one, written in full, uses any of it."""
    shared = mistake.catalogue.shared
    used = {
        node.id
        for block in mistake.entry.blocks
        for node in ast.walk(syntax_tree(block.text))
        if isinstance(node, ast.Name)
    }
    defined = {getattr(node, "name", "") for block in shared for node in syntax_tree(block.text).body}
    return "\n\n".join(block.text for block in shared) if used & defined else ""


def diff(right: str, wrong: str) -> str:
    """A unified diff of two answers, without file names and line numbers.

    A hunk that doesn't begin at the top is headed by the function or class that it stands in.

    >>> print(diff("def f(x):\\n    return x + 1\\n", "def f(x):\\n    return x\\n"))
     def f(x):
    -    return x + 1
    +    return x
    """
    old, new = _lines(right), _lines(wrong)
    shown: list[str] = []
    for group in SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(CONTEXT):
        first = group[0][1]
        if first:
            above = [match[1] for line in old[:first] if (match := _DEFINITION.match(line))]
            shown.append(" ".join(["@@", *above[-1:]]))
        for kind, begin, end, other_begin, other_end in group:
            if kind == "equal":
                shown += [f" {line}".rstrip() for line in old[begin:end]]
            else:
                shown += [f"-{line}" for line in old[begin:end]]
                shown += [f"+{line}" for line in new[other_begin:other_end]]
    return "\n".join(shown)


def _lines(code: str) -> list[str]:
    """Its lines, without those that tell the build where a solution begins and ends.

    An edit that takes out all that a line says leaves its indentation, which nobody would see.
    """
    lines = code.strip("\n").splitlines()
    return [line.rstrip() for line in lines if not (line.isspace() or _MARKER.fullmatch(line))]


def _code(text: str) -> nodes.Node:
    text = text.strip("\n")
    return nodes.literal_block(text, text, language="python")


def _fold(summary: str, *within: nodes.Node) -> list[nodes.Node]:
    """Something behind a click. The summary is ours, never an author's."""
    opened = nodes.raw("", f"<details><summary>{summary}</summary>", format="html")
    return [opened, *within, nodes.raw("", "</details>", format="html")]
