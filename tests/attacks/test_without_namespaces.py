"""A machine without namespaces, such as a Docker container: Landlock, seccomp and counting must do."""

from __future__ import annotations

import os
import socket
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from grader.errors import GraderError
from grader.running import zygotes
from grader.running.grade import grade
from grader.sandbox import fences
from tests.attacks.attacks import HONEST, MARK, PATIENT, SEED, SMALL, Attack, carry_out, learners, wait_until
from tests.attacks.conftest import zygotes_of_our_own

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or fences.landlock_version() == 0 or bool(fences.seccomp_missing()),
    reason="there are neither Landlock nor seccomp",
)
ROOT = Path(__file__).parents[2]
ABSTRACT = f"{MARK}open socket {os.getpid()}"

ATTACKS = {
    "the course": "spy(*map(read, glob.glob(COURSE + '/**', recursive=True)), read(COURSE + '/gradebook.db'))",
    "the course's names": "done('list', lambda: os.listdir(COURSE))",
    "passwords": """
for path in ("/etc/shadow", "/etc/passwd", "/etc/hostname", *(f"/root/{name}" for name in (".bashrc", ".profile"))):
    done(path, lambda: open(path, "rb").read())""",
    "root": """
if 0 in (os.getuid(), os.geteuid(), os.getgid(), os.getegid(), *os.getgroups()): tell(os.getgroups())""",
    "command lines of others": """
for pid in {1, os.getppid(), *range(os.getppid() - 40, os.getppid())}:
    for name in ("cmdline", "environ", "status", "maps", "mem"):
        done(f"{pid} {name}", lambda: open(f"/proc/{pid}/{name}", "rb").read(1))
done("list", lambda: os.listdir("/proc"))""",
    "an abstract socket": f"done('connect', lambda: socket.socket(socket.AF_UNIX).connect('\\0{ABSTRACT}'))",
    "a socket in a folder": """
done("connect", lambda: socket.socket(socket.AF_UNIX).connect(os.path.dirname(COURSE) + "/open socket"))""",
    "a pair that leaves": f"""
def leave(kind):
    ours, theirs = socket.socketpair(socket.AF_UNIX, kind)
    ours.sendto(b"x", "\\0{ABSTRACT} of letters")
for kind in (socket.SOCK_DGRAM, socket.SOCK_SEQPACKET, socket.SOCK_DGRAM | 0x800, socket.SOCK_STREAM):
    done(kind, lambda: leave(kind))""",
    "the internet": "done('open', lambda: socket.socket(socket.AF_INET))",
    "signals": """
for pid in (os.getppid(), 1, -1):
    done(pid, lambda: os.kill(pid, 0))""",
    "signals by a pipe": """
import fcntl
reader, writer = os.pipe()
for what, value in ((8, os.getppid()), (8 | 1 << 32, os.getppid()), (10, 9), (15, 0)):
    ctypes.set_errno(0)
    if libc.syscall(ctypes.c_long(72), reader, ctypes.c_ulong(what), ctypes.c_long(value)) >= 0: tell(what)
    if ctypes.get_errno() != errno.EPERM: tell(ctypes.get_errno())""",
    "other scratch folders": """
open("../left", "w").write("x")  # the zygote's own; the next submission must not find it
done("list", lambda: os.listdir("../.."))
done("write", lambda: open("../../left", "w").write("x"))
done("write", lambda: open("/tmp/left", "w").write("x"))
done("share", lambda: open("/dev/shm/left", "w").write("x"))""",
    "control groups": """
for tree in ("/sys/fs/cgroup", *(f"/sys/fs/cgroup/{name}" for name in ("memory", "pids", "cpuacct", "unified"))):
    done("leave", lambda: open(tree + "/cgroup.procs", "w").write("0"))
    done("make", lambda: os.mkdir(tree + "/mine"))
    done("look", lambda: os.listdir(tree))""",
    "limits of others": "done('look', lambda: resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE))",
    "python stays in sight": """
import colorsys, turtledemo
import matplotlib.sankey, torch.utils.benchmark
open("mine", "w").write("x")
import asyncio
asyncio.new_event_loop().close()
listed = subprocess.run(["sh", "-c", "ls /usr/lib && echo hi"], capture_output=True).stdout
if not listed.endswith(b"hi\\n"): tell(listed)
threading.Thread(target=print).start()""",
}

EXHAUSTING = {
    "a full disk": "for n in range(10**6): open(f'file{n}', 'wb').write(bytes(2**16))",
    "a full disk without names": """
kept = []
while True:
    kept.append(open("file", "wb"))
    kept[-1].write(bytes(2**20))
    os.remove("file")""",
    "names": "for n in range(10**6): open(f'file{n}', 'w').close()",
    "depth": "for n in range(5000):\n    os.mkdir('d')\n    os.chdir('d')",
    "folders without rights": "os.makedirs('a/b/c')\nos.chmod('a/b', 0)\nos.chmod('a', 0)\nos.chmod('.', 0)",
    "links": "os.symlink(COURSE, 'link')\nos.symlink('/', 'root')\nos.makedirs('x')\nos.symlink('..', 'x/up')",
    "processes that leave": """
for _ in range(5):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            while True: time.sleep(1)
        os._exit(0)""",
}


@pytest.fixture(scope="module", autouse=True)
def without_namespaces(course: Path) -> Iterator[None]:
    """Zygotes that can't have namespaces; and somebody to talk to, who writes down who comes."""
    came: list[object] = []
    stream, letters, named = (
        socket.socket(socket.AF_UNIX, kind) for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_STREAM)
    )
    stream.bind(f"\0{ABSTRACT}")
    letters.bind(f"\0{ABSTRACT} of letters")
    named.bind(str(course.parent / "open socket"))
    for server in (stream, named):
        server.listen()
    threading.Thread(target=lambda: came.append(letters.recv(10)), daemon=True).start()
    path = os.pathsep.join([str(Path(__file__).with_name("without_namespaces")), str(ROOT)])
    with pytest.MonkeyPatch.context() as patch, zygotes_of_our_own(patch):
        patch.setenv("PYTHONPATH", path)
        grade(HONEST.notebook(course), SEED, limits=PATIENT)  # the zygote's folder is there from the beginning
        yield
    for server in (stream, letters, named):
        server.close()
    (course.parent / "open socket").unlink()
    assert came == []


@pytest.mark.parametrize("name", ATTACKS)
def test_nothing_is_reached(name: str, course: Path) -> None:
    result = carry_out(Attack(name, (ATTACKS[name],), limits=PATIENT), course)
    assert not [repair for repair in result.repairs if "Error" in repair or "longer than" in repair]
    assert {"namespaces", "files"} == zygotes._POOL.idle[0].missing.keys()


@pytest.mark.parametrize("name", EXHAUSTING)
def test_nothing_is_used_up(name: str, course: Path) -> None:
    carry_out(Attack(name, (EXHAUSTING[name],), limits=replace(SMALL, cell_seconds=2.0), hurts_itself=True), course)


def test_nothing_outlives_the_grader(course: Path) -> None:
    """When the grader is killed its pipe closes; children of the learner's process, which no signal reaches, go too."""
    busy = """
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        while True: time.sleep(1)
while True: time.sleep(1)
"""

    def grading() -> None:
        with pytest.raises(GraderError):
            grade(Attack("busy", (busy,)).notebook(course), SEED, limits=PATIENT)

    thread = threading.Thread(target=grading, daemon=True)
    thread.start()
    wait_until(lambda: bool(learners(zygotes._POOL.lent)))
    (zygote,) = learners(zygotes._POOL.lent)
    wait_until(lambda: len([*zygote.account.everyone()]) == 4)
    everyone = [*zygote.account.everyone()]
    zygote._over = True  # or another one is started at once
    zygote._process.control.shutdown(socket.SHUT_RDWR)
    wait_until(lambda: not any(Path("/proc", str(pid)).exists() for pid in everyone))
    thread.join(60)
    assert not thread.is_alive()
