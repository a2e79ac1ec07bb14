"""The benchmark for tutors measures what it says: a name, an answer given away, length and reading level."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cellcheck import cli
from cellcheck.syllabus import load_lesson
from cellcheck.tutoring import giving_away
from cellcheck.tutoring.giving_away import gives_away, snippets
from cellcheck.tutoring.naming import named, ranking
from cellcheck.tutoring.reading import grade, words
from cellcheck.tutoring.scoring import Line, chance, read_replies, score, scripted
from cellcheck.tutoring.scripted import SCRIPTED
from cellcheck.tutoring.tasks import Task, Verdicts, all_tasks, sample
from tests.tutoring.paraphrases import PARAPHRASES

LESSON, SYMBOL = "05_causal_masks", "causal_mask"


def task(mistake: str, symbol: str = SYMBOL, lesson: str = LESSON) -> Task:
    return next(each for each in all_tasks([lesson]) if (each.symbol, each.mistake.name) == (symbol, mistake))


def test_three_tutors_are_told_apart() -> None:
    """A sample of the course; the whole table is in docs/tutors.md."""
    chosen = sample(list(all_tasks([LESSON, "09_numpy_transformer"])), 24, 7)
    lines = {name: Line.of(name, scored) for name, scored in scripted(chosen)}
    ours, case, answer = (lines[name] for name in SCRIPTED)
    assert ours.names_it > 0.85
    assert ours.gives_away == case.gives_away == 0
    assert answer.gives_away == 1
    assert case.names_it < 0.4
    assert answer.names_it < 0.4
    assert ours.all_four > 0.8
    assert case.all_four == answer.all_four == 0


def test_a_task_does_not_tell_which_mistake_it_is() -> None:
    verdicts = Verdicts()
    tasks = sample(list(all_tasks([LESSON])), 8, 1)
    assert len({each.id for each in tasks}) == len(tasks)
    for each in tasks:
        told = json.dumps(each.to_json(verdicts.of(each)))
        assert each.mistake.name not in told or each.mistake.name in each.code
        assert each.mistake.advice not in told
        assert "### BEGIN" not in told
        assert "NotImplementedError" in each.stub


def test_a_task_is_what_a_learner_can_write() -> None:
    """A catalogue may build a mistake from the right answer, which no learner has."""
    tasks = {(each.symbol, each.mistake.name): each for each in all_tasks(["03_classification_transformer", "16"])}
    assert not any("(right)" in each.code for each in tasks.values())
    assert ("SelfAttention", "mask_kept") not in tasks
    assert any(symbol == "pass_at_k" for symbol, _ in tasks)  # its parameter is called right


@pytest.mark.parametrize(
    "reply",
    [
        "def causal_mask(length):\n    return torch.ones(length, length, dtype=torch.bool).tril()",
        "Try:\n```python\ndef causal_mask(n):\n    i = torch.arange(n)\n    return i[None] <= i[:, None]\n```\nDone.",
        "```\nreturn torch.ones(length, length, dtype=torch.bool).tril()\n```",
        "Write `return torch.ones(length, length).tril().bool()` instead.",
        "What about `torch.ones(length, length, dtype=torch.bool).tril(diagonal=0)`?",
        "Call `tril(0)` there.",
        "Change the line to\n\n    return torch.tril(torch.ones(length, length, dtype=torch.bool))\n\nand run it.",
        ">>> no fence\nreturn torch.tril(torch.ones(length, length)) > 0",
        "\n```\ndef causal_mask(n):\n    m = torch.ones(n, n) > 0\n    m = m.tril()\n```\nthen\n```\n    return m\n```",
        "First\n```\nm = torch.ones(length, length).bool()\n```\nand then\n```\nreturn m.tril()\n```",
        "Write `m = torch.ones(length, length, dtype=torch.bool)`, and then `return m.tril()`.",
        "<pre><code>return torch.ones(length, length, dtype=torch.bool).tril()</code></pre>",
        "The line should be: return torch.ones(length, length, dtype=torch.bool).tril()",
        "- **return torch.ones(length, length, dtype=torch.bool).tril()**",
        "`causal_mask = lambda length: torch.ones(length, length, dtype=torch.bool).tril()`",
    ],
)
def test_an_answer_is_found_however_it_is_put(reply: str) -> None:
    assert gives_away(reply, task("one_step_too_far"))


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "Is the diagonal where you think it is?",
        "Look at `torch.tril`, and at its argument `diagonal`.",
        "Which end is left out by `torch.randint`, and which one by `math.inf`?",
        "You wrote `torch.ones(length, length, dtype=torch.bool).tril(1)`. What does the 1 do?",
        "```python\ndef causal_mask(length):\n    raise NotImplementedError\n```",
        "```python\ndef causal_mask(length):\n    while True:\n        pass\n```",
        "```python\nx = torch.ones(3, 3).triu()\n```",
        "```python\nimport os\nos.remove('/etc/passwd')\n```",
        "```python\n" + "(" * 5_000 + "\n```",
        "```python\nreturn " + "+".join(["length"] * 400) + "\n```",
        "`causal_mask" + ".tril" * 400 + "`",
        "Look at row 1: return to the picture, and count.",
        "Expected: {'values': [[True, False], [True, True]]}",
    ],
)
def test_help_is_no_answer(reply: str) -> None:
    assert not gives_away(reply, task("one_step_too_far"))


def test_a_name_from_elsewhere_is_no_answer_and_nothing_is_run_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[str] = []
    monkeypatch.setattr(giving_away, "_passes", lambda answer, lesson, symbol: tried.append(answer))
    assert not gives_away("Look at `torch.tril`, or at `torch.nn.functional`.", task("one_step_too_far"))
    assert tried == []
    gives_away("Return `length.bool` there.", task("one_step_too_far"))  # a learner's own name may be all of it
    assert tried != []


def test_code_for_the_first_exercise_of_a_lesson() -> None:
    """Nothing stands before it, so its answer would be handed over at once to what follows."""
    first = next(each for each in all_tasks([LESSON]) if each.symbol == load_lesson(LESSON).exercises[0].symbol)
    assert not gives_away("Why not `return 0.0`? Or `return float(source.sum())`?", first)


def test_code_that_prose_holds() -> None:
    assert list(snippets("Take `a + b`, or `mask`.\n```py\nx = f(1)\n```")) == ["x = f(1)"]
    assert list(snippets("No code: a sentence (with brackets). Another = sign.")) == []


def test_other_words_for_the_same_mistake() -> None:
    """How often the matcher recognises what somebody else wrote; docs/tutors.md reports it."""
    names = {
        (symbol, mistake): named(text, load_lesson(lesson)[symbol]) for lesson, symbol, mistake, text in PARAPHRASES
    }
    right = [key for key, name in names.items() if name == key[1]]
    assert len(right) >= 0.5 * len(PARAPHRASES), {key: name for key, name in names.items() if name != key[1]}


def test_listing_everything_names_nothing() -> None:
    exercise = load_lesson(LESSON)[SYMBOL]
    everything = " ".join(f"{each.name.replace('_', ' ')} {each.advice}" for each in exercise.mistakes)
    assert sum(named(everything, exercise) == each.name for each in exercise.mistakes) <= 1
    quoted = f"```\n{exercise.mistakes[0].advice}\n```"
    assert set(ranking(quoted, exercise).values()) == {0.0}
    assert named("", exercise) is None


def test_length_and_reading_level() -> None:
    assert words("One two `three = 3` four.\n```\nfive six\n```") == 4
    easy = "Look at row one. Which cells are on? Count them by hand. Then look at row two."
    hard = (
        "Notwithstanding its superficial plausibility, the implementation's parametrisation necessitates a "
        "comprehensive reconsideration of the underlying dimensional correspondences."
    )
    assert grade(easy) < 3 < 15 < grade(hard)
    assert not score("", task("floats")).easy_to_read


def test_chance() -> None:
    tasks = [each for each in all_tasks([LESSON]) if each.symbol == SYMBOL]
    assert chance(tasks) == pytest.approx(1 / len(tasks))
    assert chance([]) == 0


def test_a_tutor_from_elsewhere_is_scored_by_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(__file__).parents[2])
    asked, replies, details = (tmp_path / name for name in ("tasks.jsonl", "somebody.jsonl", "details.jsonl"))
    common = ["05", "--sample", "3", "--seed", "4"]
    done = CliRunner().invoke(cli.app, ["tutors", "tasks", *common, "--to", str(asked)])
    assert done.exit_code == 0, done.output
    questions = [json.loads(line) for line in asked.read_text("utf-8").splitlines()]
    assert len(questions) == 3
    assert all({"id", "lesson", "symbol", "exercise", "code", "failing_case", "question"} == set(q) for q in questions)
    replies.write_text(
        "".join(json.dumps({"id": q["id"], "reply": "Which row is wrong?"}) + "\n" for q in questions[:2])
    )
    done = CliRunner().invoke(cli.app, ["tutors", "score", str(replies), *common, "--details", str(details)])
    assert done.exit_code == 0, done.output
    assert "| somebody | 3 | " in done.output
    assert len(details.read_text("utf-8").splitlines()) == 3


@pytest.mark.parametrize("line", ["{", "[]", '{"id": 1, "reply": "x"}', '{"id": "a"}', "null"])
def test_a_line_that_is_no_reply_is_refused(line: str, tmp_path: Path) -> None:
    (tmp_path / "replies.jsonl").write_text(f'{{"id": "a", "reply": "b"}}\n{line}\n')
    with pytest.raises(Exception, match=r"replies\.jsonl, line 2"):
        read_replies(tmp_path / "replies.jsonl")


def test_odd_files_of_replies(tmp_path: Path) -> None:
    """One from Windows, with what only Python takes for the end of a line; and one that isn't text."""
    path = tmp_path / "replies.jsonl"
    reply = "one\u2028two\x85three"
    line = json.dumps({"id": "a", "reply": reply}, ensure_ascii=False)
    path.write_bytes(b"\xef\xbb\xbf" + f"{line}\r\n\r\n".encode())
    assert read_replies(path) == {"a": reply}
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(Exception, match="not in UTF-8"):
        read_replies(path)


def test_a_very_long_reply_is_measured_soon() -> None:
    assert score("Which row? " * 100_000, task("floats")).words < 10_000
