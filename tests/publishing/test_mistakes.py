"""An instructor sees every mistake of a lesson: what it changes, what it earns, and what the learner is told."""

import re
from pathlib import Path

import lxml.html
import pytest
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from cellcheck.authoring.catalogue import WrittenMistake, exercise_of
from cellcheck.authoring.spec import Exercise, Trial
from cellcheck.learning.offers import offers
from cellcheck.publishing.mistakes import diff, earned, marks_table, pages, sections
from cellcheck.repository import Repository
from cellcheck.syllabus import lesson_names, load_lesson

LESSON = "04_seq2seq_cross_attention"  # it has mistakes as edits, and in full
REPOSITORY = Repository.find(Path(__file__).parent)


def written(exercise: Exercise) -> list[WrittenMistake]:
    return [mistake for mistake in exercise.mistakes if isinstance(mistake, WrittenMistake)]


def shown(exercise: Exercise, points: dict[str, list[float]]) -> dict[str, nodes.section]:
    parts = [node for node in sections(exercise, written(exercise), points) if isinstance(node, nodes.section)]
    return {section["ids"][0].removeprefix(f"{exercise.symbol}."): section for section in parts}


def classed(section: nodes.section, name: str) -> list[str]:
    return [node.astext() for node in section.findall(nodes.paragraph) if name in node["classes"]]


def test_every_mistake_is_there_with_its_advice_and_its_points() -> None:
    texts = dict(pages(offers(), {name: load_lesson(name) for name in lesson_names()}))
    assert texts.keys() == {"index.md", *(f"{name}.md" for name in lesson_names())}
    for exercise in load_lesson(LESSON).exercises:
        assert f"```{{mistakes}} {LESSON} {exercise.symbol}\n```" in texts[f"{LESSON}.md"]
        points = earned(marks_table(REPOSITORY, LESSON), exercise.symbol)
        by_name = shown(exercise, points)
        assert list(by_name) == [mistake.name for mistake in exercise.mistakes]
        for mistake in exercise.mistakes:
            section = by_name[mistake.name]
            assert classed(section, "advice") == [mistake.advice]
            (facts,) = classed(section, "earns")
            assert facts.startswith(f"Earns {min(points[mistake.name]):g} ")
            assert ("misses what the exercise teaches" in facts) == mistake.central
            assert len(list(section.findall(nodes.literal_block))) == 1


@pytest.mark.parametrize("name", lesson_names())
def test_a_diff_is_what_the_edits_do(name: str) -> None:
    for exercise in load_lesson(name).exercises:
        by_name = shown(exercise, {})
        for mistake in written(exercise):
            if not mistake.edits:
                continue
            (block,) = by_name[mistake.name].findall(nodes.literal_block)
            assert block["language"] == "diff"
            assert applied(block.astext(), mistake.catalogue.code) == plain(mistake.catalogue.edited(*mistake.edits))


def applied(changes: str, code: str) -> str:
    """What a reader gets who makes the changes, hunk by hunk, each at the first place below the last that fits."""
    rest, done = f"{plain(code)}\n", ""
    for hunk in re.split(r"^@@.*\n", f"{changes}\n", flags=re.MULTILINE):
        old, new = ("".join(f"{line[1:]}\n" for line in hunk.splitlines() if line[:1] != sign) for sign in "+-")
        before, fits, rest = rest.partition(old) if old else ("", "", rest)
        assert fits == old
        done += before + new
    return (done + rest).rstrip("\n")


def plain(code: str) -> str:
    """Without the marks around a solution, and without lines of nothing but spaces, which an edit may leave."""
    code = re.sub(
        r"^ *(### (BEGIN|END) SOLUTION)?\n",
        lambda match: "" if match[0] != "\n" else "\n",
        f"{code}\n",
        flags=re.MULTILINE,
    )
    return "\n".join(line.rstrip() for line in code.strip("\n").splitlines())


def test_a_hunk_is_headed_by_where_it_stands() -> None:
    body = "".join(f"        x = {number}\n" for number in range(6))
    right = f"class A:\n    def f(self, x):\n{body}        return x\n"
    lines = diff(right, right.replace("return x", "return -x")).splitlines()
    assert lines[0] == "@@ def f"
    assert lines[1:] == [" " + "        x = 4", " " + "        x = 5", "-        return x", "+        return -x"]


LIBRARY = """\
def quoted(text):
    return text
"""
HOSTILE = """\
# Mistakes

## edited
- `return text` → `return "</pre><script>edit()</script>" + text`
- reported in: owner/project#17

</p><script>advise()</script> [a](javascript:b) **&amp;**

## in_full
```python
def quoted(text):
    parts = []
    for letter in text:
        if letter == "<":
            parts.append("&lt;")
        elif letter == ">":
            parts.append("&gt;")
        elif letter == "&":
            parts.append("&amp;")
        else:
            parts.append(letter)
    return "".join(parts) + "</details><script>full()</script>"
```

</section><img src=x onerror=advise()>
"""


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_what_authors_write_stays_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Built by Sphinx itself, from an exercise of somebody's own course, which has no table of marks."""
    (tmp_path / "own_library.py").write_text(LIBRARY, "utf-8")
    (tmp_path / "quoted.md").write_text(HOSTILE, "utf-8")
    (tmp_path / "index.rst").write_text("Mistakes\n========\n\n.. hostile::\n", "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    trial = Trial(module="own_library", points=2, cases=lambda _: [], aspects=())
    exercise = exercise_of(trial, tmp_path / "quoted.py")

    class Hostile(SphinxDirective):
        def run(self) -> list[nodes.Node]:
            return sections(exercise, written(exercise), earned(tmp_path / "01.csv", "quoted"))

    out = tmp_path / "html"
    app = Sphinx(tmp_path, None, out, tmp_path / "trees", "html", {"html_theme": "basic"}, status=None)
    app.add_directive("hostile", Hostile)
    app.build()
    (article,) = lxml.html.fromstring((out / "index.html").read_bytes()).xpath("//div[@role='main']")
    assert not article.xpath(".//script | .//img | .//a[starts-with(@href, 'javascript')] | .//strong")
    assert [" ".join(p.text_content().split()) for p in article.xpath(".//p[@class='advice']")] == [
        mistake.advice for mistake in exercise.mistakes
    ]
    (report,) = article.xpath(".//p[@class='reported']/a")
    assert (report.text, report.get("href")) == ("owner/project#17", "https://github.com/owner/project/issues/17")
    edit, full = ("".join(box.itertext()) for box in article.xpath(".//pre"))
    assert '+    return "</pre><script>edit()</script>" + text' in edit
    assert '"</details><script>full()</script>"' in full
    assert [box.get("class").split()[0] for box in article.xpath(".//pre/../..")] == [
        "highlight-diff",
        "highlight-python",
    ]
    assert [fold.xpath("count(.//pre)") for fold in article.xpath(".//details")] == [1]
    assert not article.xpath(".//*[@class='earns']")
