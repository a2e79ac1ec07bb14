"""The minute before a deadline: three hundred hand in, one in twenty hostile, while processes are killed."""

from __future__ import annotations

import json
import os
import random
import signal
import threading
import time
from pathlib import Path

import httpx
import pytest

from cellcheck.api import grade_notebook
from cellcheck.serving import people
from cellcheck.serving.queue import seed_of
from cellcheck.serving.store import open_store
from cellcheck.serving.tables import DONE, FAILED, TOKEN, Job, Submission
from tests.nightly import later
from tests.serving.test_service import CLASS, LESSON, RELEASED, folder, link, running, start, stop, until

__all__ = ["folder", "link", "running"]
LEARNERS, HOSTILE_EACH = 300, 20
HONEST = {name: learner.hand_in(RELEASED).encode() for name, learner in CLASS.items()}


def hostile(code: str) -> bytes:
    """An honest notebook whose last answer does something else as well."""
    notebook = json.loads(HONEST["ada"])
    cell = next(cell for cell in notebook["cells"] if cell["metadata"].get("nbgrader", {}).get("grade_id") == "decode")
    cell["source"] = f"{code}\ndef decode(ids, vocabulary):\n    return ''\n"
    return json.dumps(notebook).encode()


HOSTILE = {
    "ends Python": hostile("import os\nos._exit(0)"),
    "takes all memory": hostile("hoard = [bytearray(2**27) for _ in range(10_000)]"),
    "kills its parent": hostile("import os, signal\nos.kill(os.getppid(), signal.SIGKILL)"),
    "is no notebook": b"{" * 1000,
    "is binary": bytes(range(256)) * 100,
}


@later
def test_everybody_has_one_mark_and_it_is_the_graders(folder: Path, link: str) -> None:
    store = open_store(folder / "class.db")
    kinds = {**HONEST, **HOSTILE}
    sent: dict[str, str] = {}
    tokens: dict[str, str] = {}
    with store.writing() as session:
        for number in range(LEARNERS):
            name = f"learner {number}"
            bad = number % HOSTILE_EACH == 0
            sent[name] = random.Random(number).choice([*(HOSTILE if bad else HONEST)])
            tokens[name] = people.make_key(session, people.add(session, name), TOKEN)
        seed = seed_of(session, LESSON)
    service = [start(folder)]
    accepted: dict[str, int] = {}

    def hand_in(names: list[str]) -> None:
        for name in names:
            # Each learner's bytes are their own: the same file is the same submission only for one learner.
            while name not in accepted:
                try:
                    answer = httpx.post(
                        f"{service[0].address}/api/assignments/{LESSON}",
                        content=kinds[sent[name]],
                        headers={"Authorization": f"Bearer {tokens[name]}"},
                        timeout=60,
                    )
                except httpx.TransportError:  # the service was killed: somebody tries again
                    time.sleep(0.2)
                    continue
                assert answer.status_code in (200, 201), answer.text
                accepted[name] = answer.json()["submission"]

    names = [*sent]
    threads = [threading.Thread(target=hand_in, args=(names[n::8],)) for n in range(8)]
    begun = time.monotonic()
    for thread in threads:
        thread.start()
    for _ in range(2):
        until(lambda: len(accepted) > 30, service[0])
        if workers := service[0].workers():
            os.kill(random.choice(workers), signal.SIGKILL)
        stop(service[0], signal.SIGKILL)
        service[0] = start(folder)
    for thread in threads:
        thread.join()
    print(f"{LEARNERS} accepted in {time.monotonic() - begun:.0f} s")
    assert len(set(accepted.values())) == LEARNERS

    def waiting() -> int:
        with store.reading() as session:
            return session.query(Job).filter(Job.state.not_in((DONE, FAILED))).count()

    end = time.monotonic() + 3600
    while waiting():
        assert time.monotonic() < end
        time.sleep(1)
    print(f"all graded after {time.monotonic() - begun:.0f} s")
    stop(service[0])
    expected = {}
    for kind, data in kinds.items():
        try:
            expected[kind] = grade_notebook(data, lesson=LESSON, seed=seed).score
        except Exception:
            expected[kind] = None
    with store.reading() as session:
        for name, number in accepted.items():
            submission = session.get_one(Submission, number)
            assert submission.person.name == name
            (job,) = submission.jobs
            assert (
                job.score == pytest.approx(expected[sent[name]])
                if job.score is not None
                else expected[sent[name]] is None
            )
            assert job.page
