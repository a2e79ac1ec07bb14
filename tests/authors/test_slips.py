"""An author's slip is found when the lesson is built: one sentence with the file, the line, and what to do."""

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from cellcheck.audit.audit import audit_lesson
from cellcheck.building.source import source_notebook
from cellcheck.errors import GraderError
from cellcheck.repository import Repository
from cellcheck.soundness import insist_on_sound
from cellcheck.syllabus import load_lesson
from tests.authors.test_new import LESSON, edit, lesson_folder, root  # noqa: F401 (root is a fixture)

PROBE = """
def _initials(symbol, inputs):
    return {"output": symbol(inputs["name"])}


PROBES = {"initials": _initials}
"""
TRIED, ANSWERS = "initials.py", "initials.md"
CASE = 'Case.of("on two names", name='
MISTAKE = "- `.upper()` → nothing"
VARIANT = 'return ".".join([*letters, ""]).upper()'
# name of the file -> (what stands there, what the author writes instead)
Slip = Mapping[str, tuple[str, str]]


def _probe(text: str) -> Slip:
    return {"probes.py": ("", text)}


SLIPS: dict[str, tuple[Slip, str]] = {
    "less than nothing for an aspect": (
        {
            TRIED: (
                'SPACES = aspects.special("any number of spaces")',
                'SPACES = aspects.special("any number of spaces", weight=-1)',
            )
        },
        r"initials in \S+: the aspect 'any number of spaces' weighs -1\. Give it more than nothing, or 0 if it only "
        r"says something, or take it out\.",
    ),
    "points that depend on nothing": (
        {TRIED: ("(*aspects.of_function(), SINGLE, SPACES)", "(*aspects.of_function(), aspects.values(0), SPACES)")},
        r"initials in \S+: the aspect 'values' weighs nothing, and points depend on it\. Give it a weight, or let it "
        r"be neither core nor central\.",
    ),
    "a misspelt input": (
        _probe(PROBE.replace('inputs["name"]', 'inputs["nmae"]')),
        r"The course's own initials stops on two names with KeyError: 'nmae', in \S+/lesson_01/probes\.py, line 3\. "
        r"Correct the probe, or the inputs of that case\. If the docstring asks for an error, let the case name "
        r"an aspects\.refused\.",
    ),
    "a probe that returns no dict": (
        _probe(PROBE.replace('{"output": symbol(inputs["name"])}', 'symbol(inputs["name"])')),
        r"The probe of initials, in \S+probes\.py, line 2, returns an object of type str: let it "
        r"return a dict, such as "
        r'\{"output": \.\.\.\}\.',
    ),
    "a misspelt key": (
        _probe(PROBE.replace('"output"', '"ouput"')),
        r"initials: the aspect 'the right kind of result' looks at 'output', and what is seen there is 'ouput'\. "
        r"Let the probe give that, or take the aspect out\.",
    ),
    "a probe for nothing": (
        _probe(PROBE.replace('{"initials"', '{"intials"')),
        r"PROBES has 'intials', and the lesson has no such exercise: \S+probes\.py, line 6\. Did you mean 'initials'\?",
    ),
    "inputs that don't fit": (
        {TRIED: (CASE, CASE.replace("name=", "extra=3, name="))},
        r"The course's own initials stops on two names with TypeError: initials\(\) takes 1 positional argument but 2 "
        r"were given, in \S+initials\.py, line 13\. Correct the probe, or the inputs of that case\.",
    ),
    "a tag of no aspect": (
        {TRIED: ('"on three names", ', '"on three names", "thre", ')},
        r"initials: no aspect looks at the tag 'thre' of the case 'on three names', in \S+initials\.py, line 14\. "
        r"Give an aspect this tag, or the case another: there are a single name, any number of spaces, usual\.",
    ),
    "cases that stop": (
        {TRIED: ("draw.words(generator, 3)", "draw.words(generator, 3)[5]")},
        r"initials, cases: \S+initials\.py, line 14, stops with IndexError: list index out of "
        r"range\. Correct it there",
    ),
    "a broken mistake": (
        {ANSWERS: (MISTAKE, "- `name.split` → `nmae.split`")},
        r"initials: the mistake 'small_letters_kept' stops in every case with NameError: name "
        r"'nmae' is not defined, in "
        r"\S+initials\.md, line 3\. Correct it there\.",
    ),
    "a mistake that takes another number of arguments": (
        {ANSWERS: (MISTAKE, "```python\ndef initials(name, more):\n    return name\n```")},
        r"'small_letters_kept' stops in every case with TypeError: .* missing 1 required positional "
        r"argument: 'more', in "
        r"\S+initials\.md, line \d\.",
    ),
    "a mistake that asks for what isn't there": (
        {ANSWERS: (MISTAKE, "- `name.split` → `name.spilt`")},
        r"'small_letters_kept' stops in every case with AttributeError: 'str' object has no "
        r"attribute 'spilt'.*initials\.md, line 3\.",
    ),
    "a variant that is wrong": (
        {ANSWERS: (VARIANT, VARIANT.replace(".upper()", ""))},
        r"initials: the right answer 'letters joined by full stops' \(\S+initials\.md, line \d+\) gets 0 of 2 "
        r"points\. Your letters are the right ones, .*Correct it, or let the check accept it\.",
    ),
    "a canonical form that stops": (
        {TRIED: ("points=2,", "points=2,\n    canonical=lambda seen, case: {'output': seen['ouput']},")},
        r"initials, canonical: \S+initials\.py, line 23, stops with KeyError: 'ouput'\. Correct it there\.",
    ),
    "a canonical form that returns nothing": (
        {TRIED: ("points=2,", "points=2,\n    canonical=lambda seen, case: None,")},
        r"initials: its canonical form, in \S+initials\.py, line 23, returns an object of type NoneType",
    ),
    "a canonical form that drops what matters": (
        {TRIED: ("points=2,", "points=2,\n    canonical=lambda seen, case: {**seen, 'output': ''},")},
        r"initials: the mistake '\w+' \(\S+initials\.md, line \d+\) gets full marks\. Add a case",
    ),
    "a mistake that is right": (
        {ANSWERS: (MISTAKE, "- `split()` → `split(None)`")},
        r"initials: the mistake 'small_letters_kept' \(\S+initials\.md, line 3\) gets full marks\. Add a case",
    ),
    "a probe that swallows errors": (
        _probe(
            PROBE.replace(
                '    return {"output": symbol(inputs["name"])}',
                '    try:\n        initials = symbol(inputs["nmae"])\n    except Exception:\n        initials = ""\n'
                '    return {"output": initials, "arguments": []}',
            )
        ),
        r"initials: an answer that always stops with an error gets 2 of 2 points\. Let its probe, in \S+probes\.py, "
        r"line 2, call the learner's symbol and catch no errors\.",
    ),
    "points that are no number": (
        {TRIED: ("points=2", "points=float('nan')")},
        r"initials in \S+initials\.py is worth nan points: give it at least 0\.01",
    ),
    "cases that chance draws": (
        {TRIED: ("draw.words(generator, 3)", "draw.words(np.random.default_rng(), 3)")},
        r"The cases of initials in \S+initials\.py are not the same when they are drawn again from the same seed\.",
    ),
    "an input that can't travel": (
        {TRIED: (CASE, CASE.replace("name=", "count=np.int64(3), name="))},
        r"initials: the case 'on two names' \(\S+initials\.py, line 13\) has 'count', of type int64, which can't",
    ),
    "an aspect alone, without a comma": (
        {TRIED: ("(*aspects.of_function(), SINGLE, SPACES)", "(aspects.values())")},
        r"The aspects of initials, in \S+initials\.py, should be a tuple\. One alone needs a comma: \(ONE,\)",
    ),
    "an aspect that is none": (
        {TRIED: ("SINGLE, SPACES)", "SINGLE, 'spaces')")},
        r"The aspects of initials, in \S+initials\.py, should each be a cellcheck\.authoring\.Aspect, and one is of "
        r"type str",
    ),
    "a module that ends the process": (
        {TRIED: ("\nfrom cellcheck", "\nraise SystemExit(4)\nfrom cellcheck")},
        r"initials\.py, line \d+, stops with SystemExit: 4\. Correct it there\.",
    ),
    "inputs that can't be shown": (
        {TRIED: ("points=2,", "points=2,\n    shown=lambda case: {'name': case.inputs['nmae']},")},
        r"initials, shown: \S+initials\.py, line 23, stops with KeyError: 'nmae'\. Correct it there\.",
    ),
}


MARK = '# %% [markdown] exercise="initials" kind="core" difficulty=1 minutes=5'
TEXT: dict[str, tuple[str, str, str]] = {
    "no head": (
        "# ---\n# title",
        "# title",
        r"line 1: begin the text with its head: # ---, then such lines as # title:",
    ),
    "no title": (
        "# title: First steps\n",
        "",
        r"line 1: the head does not say what the lesson is called: add .* # title:",
    ),
    "a title with a colon": (
        "# title: First steps",
        "# title: First: steps",
        r"line 2: the head can't be read: .* A text with a colon needs quotes\.",
    ),
    "a misspelt key": (
        "# sittings",
        "# sitings",
        r"line 3: the head of a text knows no 'sitings'\. Did you mean sittings\?",
    ),
    "two topics": (
        "# sittings",
        "# topic: [first, steps]\n# sittings",
        r"line 3: topic should be what the lesson is about, .*, as in # topic: ",
    ),
    "minutes in words": (
        "[10]",
        "[ten]",
        r"line 3: sittings should be the minutes of each sitting, as in # sittings: \[",
    ),
    "a sitting without time": ("[10]", "[0]", r"line 3: sittings should be the minutes of each sitting"),
    "one sitting, not in a list": ("[10]", "10", r"line 3: sittings should be the minutes of each sitting"),
    "nothing given": ("# gives:\n#   - turn a name into its initials", "# gives: []", r"line 4: gives should be what"),
    "a goal with a colon": (
        "- turn a name",
        "- turn: a name",
        r"line 4: gives should be .* A text with a colon needs quotes",
    ),
    "a lesson that isn't there": (
        "# gives:",
        "# builds_on: [00_nothing]\n# gives:",
        r"line 4: builds_on has 00_nothing, and no earlier lesson is called that\. There is none\.",
    ),
    "no kind": (
        MARK,
        MARK.replace(' kind="core"', ""),
        r"line \d+: the cell of initials should begin with a line such as",
    ),
    "an unknown kind": (
        MARK,
        MARK.replace("core", "cor"),
        r"Its kind is core or stretch, and its difficulty from 1 to 5\.",
    ),
    "too difficult": (MARK, MARK.replace("difficulty=1", "difficulty=6"), r"the cell of initials should begin"),
    "no minutes": (MARK, MARK.replace("minutes=5", "minutes=five"), r"the cell of initials should begin"),
    "an exercise that is no prose": (MARK, MARK.replace("[markdown] ", ""), r"the cell of initials should begin"),
    "an exercise twice": (
        MARK,
        f"{MARK}\n\n{MARK}",
        r"line \d+: the text has two cells for initials\. Take one of them out",
    ),
}


@pytest.mark.parametrize(("old", "new", "sentence"), TEXT.values(), ids=TEXT)
def test_a_slip_in_what_the_text_announces_is_a_sentence(root: Path, old: str, new: str, sentence: str) -> None:  # noqa: F811
    text = lesson_folder(root) / f"{LESSON}.py"
    edit(text, old, new)
    with pytest.raises(GraderError) as caught:
        source_notebook(Repository.find(root), LESSON)
    assert re.search(rf"^{re.escape(str(text))}, .*{sentence}", message := str(caught.value)), message


def test_a_lesson_may_build_on_words(root: Path) -> None:  # noqa: F811
    edit(lesson_folder(root) / f"{LESSON}.py", "# gives:", "# builds_on: [some Python]\n# gives:")
    edit(lesson_folder(root) / f"{LESSON}.py", "# SITTINGS", "# BUILDS_ON Nothing else.\n#\n# SITTINGS It may be more.")
    opening = source_notebook(Repository.find(root), LESSON).cells[0].source
    assert "\n\nThis lesson builds on some Python. Nothing else.\n\n" in opening
    assert "\n\n**Time.** About 10 minutes, in one sitting. It may be more.\n\n" in opening


def test_a_text_with_magics_hides_no_line(root: Path) -> None:  # noqa: F811
    with (lesson_folder(root) / f"{LESSON}.py").open("a", encoding="utf-8") as text:
        text.write('\n# %%\n%time initials("ada")\n')
    edit(lesson_folder(root) / TRIED, '"on three names", ', '"on three names", "thre", ')
    assert re.search(r"no aspect looks at the tag 'thre' .*initials\.py, line 14", message := refused()), message


def library(root: Path) -> Path:  # noqa: F811
    return root / root.name.replace("-", "_") / "first_steps.py"


def refused() -> str:
    with pytest.raises(GraderError) as caught:
        insist_on_sound(load_lesson(LESSON))
    return str(caught.value)


@pytest.mark.parametrize(("slip", "sentence"), SLIPS.values(), ids=SLIPS)
def test_a_slip_is_a_sentence(root: Path, slip: Slip, sentence: str) -> None:  # noqa: F811
    for name, (old, new) in slip.items():
        path = lesson_folder(root) / name
        path.touch()
        edit(path, old, new) if old else path.write_text(new, "utf-8")
    assert re.search(sentence, message := refused()), message


ANSWER = {
    "an example that is wrong": (
        "    'A.L.'\n",
        "    'A.B.'\n",
        r"The docstring of initials says that initials\(\"ada lovelace\"\) gives 'A\.B\.', and it "
        r"gives 'A\.L\.': correct "
        r"it in \S+first_steps\.py, line 7\.",
    ),
    "an example that stops": (
        '>>> initials("ada lovelace")',
        ">>> initials(ada)",
        r"says that initials\(ada\) gives 'A\.L\.', and it stops with NameError: name 'ada' is not "
        r"defined: correct it in "
        r"\S+first_steps\.py, line 7\.",
    ),
    "an example that nobody can read": (
        '>>> initials("ada lovelace")',
        '>>>initials("ada lovelace")',
        r"The examples of initials can't be read: line 3 .* lacks blank after >>>.* Correct its docstring, in "
        r"\S+first_steps\.py\.",
    ),
    "an answer that changes a setting": (
        "    return",
        "    import sys\n\n    sys.setrecursionlimit(sys.getrecursionlimit() + 1)\n    return",
        r"The course's own initials leaves the recursion limit changed on two names \(\S+initials\.py, line 13\), and "
        r"an answer that does so loses points\. Put it back there, or in the probe\.",
    ),
    "an answer that stops where no aspect asks for an error": (
        "    return",
        '    if "   " in name:\n        raise ValueError("many spaces")\n    return',
        r"The course's own initials stops with many spaces between the names with ValueError: many spaces, in "
        r"\S+first_steps\.py, line 12\. .* aspects\.refused",
    ),
}


@pytest.mark.parametrize(("old", "new", "sentence"), ANSWER.values(), ids=ANSWER)
def test_a_slip_in_the_library_is_a_sentence(root: Path, old: str, new: str, sentence: str) -> None:  # noqa: F811
    edit(library(root), old, new)
    assert re.search(sentence, message := refused()), message


REFUSING = (
    'SPACES = aspects.special("any number of spaces")',
    'SPACES = aspects.refused("many spaces are refused")',
)


def test_an_answer_may_stop_where_an_aspect_asks_for_it_but_not_before_it_is_called(root: Path) -> None:  # noqa: F811
    edit(library(root), "    return", '    if "   " in name:\n        raise ValueError("many")\n    return')
    edit(lesson_folder(root) / TRIED, *REFUSING)
    answers = lesson_folder(root) / ANSWERS
    answers.write_text(answers.read_text("utf-8").partition("# Right answers")[0], "utf-8")
    insist_on_sound(load_lesson(LESSON))


def test_a_mistake_that_stops_by_itself_where_the_answer_refuses(root: Path) -> None:  # noqa: F811
    """Any error is a refusal, so nothing tells a check that was left out from one that is there."""
    check = '    if "   " in name:\n        raise ValueError("many")\n'
    edit(library(root), "    return", f'{check}    assert "   " not in name\n    return')
    edit(lesson_folder(root) / TRIED, *REFUSING)
    deleted = "".join(f"-{line}\n" for line in check.splitlines())
    answers = lesson_folder(root) / ANSWERS
    edit(answers, MISTAKE, f"```diff\n{deleted}```")
    answers.write_text(answers.read_text("utf-8").partition("# Right answers")[0], "utf-8")
    assert re.search(
        r"'small_letters_kept' \(\S+initials\.md, line 3\) gets full marks\. It stops with many spaces between the "
        r"names with AssertionError, and any error counts where one is asked for\. Add a case in which it returns "
        r"something, or take the mistake out\.",
        message := refused(),
    ), message


def test_what_stops_before_the_answer_is_called_is_no_refusal(root: Path) -> None:  # noqa: F811
    """The misspelt name in the probe stops in the very case in which an error is asked for."""
    edit(lesson_folder(root) / TRIED, *REFUSING)
    probe = PROBE.replace('inputs["name"]', 'inputs["nmae" if "   " in inputs["name"] else "name"]')
    (lesson_folder(root) / "probes.py").write_text(probe, "utf-8")
    message = refused()
    assert "stops with many spaces between the names with KeyError: 'nmae'" in message
    assert message.endswith("probes.py, line 3. Correct the probe, or the inputs of that case.")


def test_a_mistake_may_return_what_nobody_can_go_on_with(root: Path) -> None:  # noqa: F811
    """It stops in every case, and is sound: `None` has no upper()."""
    (lesson_folder(root) / "probes.py").write_text(
        PROBE.replace("symbol(inputs", "str.upper(symbol(inputs").replace('"])}', '"])), "arguments": []}'), "utf-8"
    )
    edit(lesson_folder(root) / ANSWERS, MISTAKE, "```python\ndef initials(name):\n    return None\n```")
    insist_on_sound(load_lesson(LESSON))


def test_the_audit_begins_with_the_same_look(root: Path) -> None:  # noqa: F811
    edit(lesson_folder(root) / ANSWERS, MISTAKE, "- `name.split` → `nmae.split`")
    with pytest.raises(GraderError, match="the mistake 'small_letters_kept' stops in every case"):
        audit_lesson(load_lesson(LESSON), lambda symbol: None)
