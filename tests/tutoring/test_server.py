"""A client that somebody else wrote connects over standard input and output, and works through exercises."""

import contextlib
import inspect
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import psutil
from mcp import Client

from cellcheck.authoring.catalogue import WrittenMistake
from cellcheck.learning import progress
from cellcheck.learning.offers import released
from cellcheck.learning.reset import place
from cellcheck.running import zygotes
from cellcheck.syllabus import load_lesson
from cellcheck.tutoring.server import TOOLS, server
from tests.attacks.attacks import learners, wait_until
from tests.learning.learners import answer
from tests.tutoring.clients import ask, talk

LESSON = "05_causal_masks"


def test_a_client_works_through_three_exercises(tmp_path: Path) -> None:
    notebook = place(LESSON, tmp_path)
    exercises = load_lesson(LESSON).exercises[:3]

    async def conversation(asking: Client) -> None:
        tools = (await asking.list_tools()).tools
        assert {tool.name for tool in tools} == set(TOOLS)
        assert all(tool.description for tool in tools)
        assert "Ask for a guess first" in (asking.instructions or "")
        for exercise in exercises:
            symbol = exercise.symbol
            here = await ask(asking, "where_am_i")
            assert here["next"]["exercise"] == symbol
            blank = await ask(asking, "check", symbol=symbol)
            assert (blank["status"], blank["score"]) == ("missing", 0.0)
            assert (await ask(asking, "hint", symbol=symbol))["hint"] is None
            mistake = exercise.mistakes[0]
            assert isinstance(mistake, WrittenMistake)
            answer(notebook, **{symbol: mistake.catalogue.text_of(mistake.entry)})
            for _ in range(2):  # the same answer counts once
                wrong = await ask(asking, "check", symbol=symbol)
                assert wrong["diagnosis"] == mistake.name
                assert mistake.advice in wrong["message"]
                assert wrong["status"] != "passed"
            hint = await ask(asking, "hint", symbol=symbol)
            assert (hint["number"], hint["wrong_answers"]) == (1, 1)
            assert hint["hint"]
            question = await ask(asking, "smaller_question", symbol=symbol)
            assert question["question"].endswith("?") or "Work it out" in question["question"]
            source = inspect.getsource(exercise.references[0])
            answer(notebook, **{symbol: "\n".join(line for line in source.splitlines() if "### " not in line)})
            right = await ask(asking, "check", symbol=symbol)
            assert (right["status"], right["score"]) == ("passed", exercise.points)
            progress.note(tmp_path, LESSON, symbol, exercise.points, "passed")  # as the notebook's own check does
        term = await ask(asking, "explain", term="causal mask")
        assert "diagonal" in term["glossary"]

    talk(tmp_path, conversation)


ENDLESS = "def {}(*args, **kwargs):\n    while True:\n        pass\n"
"""Of three such answers, it takes the check minutes to say so."""


def endless(folder: Path) -> Path:
    notebook = place(LESSON, folder)
    answer(notebook, **{exercise.symbol: ENDLESS.format(exercise.symbol) for exercise in load_lesson(LESSON).exercises})
    return notebook


def learner_works(tutor: int) -> bool:
    """Whether a process that the tutor's own children have started is in the endless loop."""
    with contextlib.suppress(psutil.Error):  # one of them has just ended
        children = psutil.Process(tutor).children()
        return any(each.cpu_times().user > 1 for child in children for each in child.children(recursive=True))
    return False


def test_when_the_client_hangs_up_the_server_ends_whatever_it_was_doing(tmp_path: Path) -> None:
    endless(tmp_path)
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "somebody's", "version": "1"}}
    lines: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": hello},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {"name": "check", "arguments": {"symbol": "causal_mask"}}},
    ]
    command = [sys.executable, "-m", "cellcheck", "tutor", str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as tutor:
        assert tutor.stdin is not None
        assert tutor.stdout is not None
        for line in lines:
            tutor.stdin.write(json.dumps({"jsonrpc": "2.0", **line}) + "\n")
            tutor.stdin.flush()
        assert json.loads(tutor.stdout.readline())["id"] == 1
        wait_until(lambda: learner_works(tutor.pid))
        tutor.stdin.close()
        try:
            assert tutor.wait(40) == 0
        finally:
            tutor.kill()
    assert progress.record(tmp_path) == progress.Record()


def test_a_question_that_is_taken_back_costs_nothing(tmp_path: Path) -> None:
    notebook = endless(tmp_path)

    async def conversation() -> None:
        async with Client(server(tmp_path)) as asking:
            answered: list[dict[str, Any]] = []

            async def asked() -> None:
                answered.append(await ask(asking, "check", symbol="causal_mask"))

            async with anyio.create_task_group() as asked_for:
                asked_for.start_soon(asked)
                while not learners(zygotes._POOL.lent):
                    await anyio.sleep(0.05)
                await anyio.sleep(1)
                asked_for.cancel_scope.cancel()
            with anyio.fail_after(30):  # left alone, it would go on for longer than that on any machine
                while zygotes._POOL.lent:
                    await anyio.sleep(0.05)
            assert answered == []
            shutil.copy(released()[LESSON], notebook)
            with anyio.fail_after(300):
                assert (await ask(asking, "check", symbol="causal_mask"))["status"] == "missing"

    anyio.run(conversation)
    assert progress.record(tmp_path) == progress.Record()
