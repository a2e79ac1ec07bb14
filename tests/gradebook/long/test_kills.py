"""`cellcheck autograde`, killed at 30 random moments of its run, goes on with --resume as if nothing had happened."""

import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cellcheck.demo.learners import Learner
from cellcheck.gradebook.course import Course
from tests.gradebook.small_class import LESSON, OTHER, REPOSITORY, SEED, content, hand_in, pages, small_course

KILLS = 30
COMMAND = [sys.executable, "-m", "cellcheck", "autograde", LESSON, "--seed", str(SEED)]
TICK = os.sysconf("SC_CLK_TCK")
pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads processor times in /proc")


def spent(pid: int) -> float:
    """Processor seconds of a process and of its children that have ended; the load of the machine is not in it."""
    with contextlib.suppress(OSError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return sum(map(int, fields[11:15])) / TICK
    return 0.0


def run(root: Path, command: list[str], seconds: float | None = None) -> tuple[int, float, str]:
    """Runs a command, and kills it once it has used so many seconds; its exit code, its seconds, what it said."""
    with (root.parent / "said").open("w+") as output:
        process = subprocess.Popen(command, cwd=root, stdout=output, stderr=output, start_new_session=True)
        used = 0.0
        while process.poll() is None:
            used = max(used, spent(process.pid))
            if seconds is not None and used >= seconds:
                process.send_signal(signal.SIGKILL)
                process.wait()
            time.sleep(0.001)
        output.seek(0)
        return process.returncode, used, output.read()


@pytest.fixture(scope="module")
def handed_in(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """Everybody has handed in, and nothing is generated."""
    course = small_course(tmp_path_factory.mktemp("kills") / "course")
    shutil.rmtree(course.root / "solutions" / OTHER)
    shutil.copytree(REPOSITORY.solution(LESSON).parent, course.root / "solutions" / LESSON, dirs_exist_ok=True)
    released = REPOSITORY.notebook(LESSON).read_text("utf-8")
    for learner in (Learner("ada", LESSON), Learner("bea", LESSON, begins=2), Learner("cy", LESSON, begins=0)):
        hand_in(course, learner.name, learner.hand_in(released).encode())
    return course


def test_thirty_kills(handed_in: Course) -> None:
    straight = handed_in.root.with_name("straight")
    shutil.copytree(handed_in.root, straight)
    code, total, output = run(straight, COMMAND)
    assert code == 0, output
    table = [line for line in output.splitlines() if line.startswith(("ada", "bea", "cy"))]
    assert len(table) == 3
    moments = random.Random(4)
    killed = number = 0
    while killed < KILLS:
        number += 1
        assert number < 2 * KILLS, "most runs end before their moment comes"
        root = handed_in.root.with_name(f"killed {number}")
        shutil.copytree(handed_in.root, root)
        moment = moments.uniform(0, total)
        code, used, _ = run(root, COMMAND, moment)
        killed += code == -signal.SIGKILL
        # Killed before it wrote down its seed, a run has left nothing to go on with: the seed is named again.
        begun = (root / ".cellcheck" / f"{LESSON}.jsonl").exists()
        code, _, output = run(root, [*(COMMAND[:-2] if begun else COMMAND), "--resume"])
        print(
            f"{number}: killed after {used:.2f} of {total:.2f} s, {'begun' if begun else 'nothing begun'}", flush=True
        )
        assert code == 0, output
        assert [line for line in output.splitlines() if line.startswith(("ada", "bea", "cy"))] == table
        assert content(root) == content(straight)
        assert pages(root) == pages(straight)
        shutil.rmtree(root)
