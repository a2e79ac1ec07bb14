"""A machine without namespaces, such as a Docker container: Landlock, seccomp and counting must do."""

import os
import socket
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from cellcheck.running import zygotes
from cellcheck.running.grade import grade
from cellcheck.running.zygotes import empty
from cellcheck.sandbox import fences
from tests.attacks.attacks import HONEST, MARK, PATIENT, SEED, SMALL, Attack, at_work, carry_out, wait_until
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
    "permissions of the course": """
for name in ("", "/gradebook.db", "/submitted", "/submitted/ada", "/autograded", "/feedback"):
    for number, last in ((90, 0o777), (90, 0), (268, 0o777), (452, 0)):  # chmod, fchmodat, fchmodat2
        at = () if number == 90 else (-100,)
        libc.syscall(ctypes.c_long(number), *at, (COURSE + name).encode(), last, 0)
    with contextlib.suppress(OSError): os.utime(COURSE + name, (0, 0))
    with contextlib.suppress(OSError): os.setxattr(COURSE + name, "user.mark", b"x")
    with contextlib.suppress(OSError): os.truncate(COURSE + name, 0)
    for flags in (3, 3 | os.O_TRUNC, os.O_PATH, os.O_TRUNC):
        with contextlib.suppress(OSError): os.fchmod(os.open(COURSE + name, flags), 0)""",
    "permissions of python": """
with open(os.__file__) as file, contextlib.suppress(OSError):
    os.fchmod(file.fileno(), 0)
    os.utime(file.fileno(), (0, 0))
if not os.stat(os.__file__).st_mode & 0o444 or not os.stat(os.__file__).st_mtime: tell("changed")
for path in (os.path.dirname(sys.prefix), os.path.expanduser("~root"), os.path.dirname(os.path.dirname(COURSE))):
    before = os.stat(path).st_mode
    with contextlib.suppress(OSError): os.chmod(path, before & 0o500)
    if os.stat(path).st_mode != before: tell(path)""",
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

HONEST_FILES = """
import pathlib, shutil, sqlite3, tarfile, tempfile, zipfile
pathlib.Path("a").mkdir()
pathlib.Path("a/one.txt").write_text("one")
pathlib.Path("a/one.txt").chmod(0o600)
pathlib.Path("a/one.txt").touch()
os.utime("a/one.txt", (1, 1))
os.chown("a/one.txt", os.getuid(), os.getgid())
shutil.copy("a/one.txt", "a/two.txt")
shutil.copy2("a/one.txt", "a/three.txt")
shutil.copystat(os.__file__, "a/two.txt")
shutil.copytree("a", "b")
shutil.move("b", "c")
shutil.make_archive("zipped", "zip", "a")
shutil.make_archive("tarred", "gztar", "a")
zipfile.ZipFile("zipped.zip").extractall("d")
tarfile.open("tarred.tar.gz").extractall("e")
if open("d/one.txt").read() + open("e/two.txt").read() != "oneone": tell("not unpacked")
with tempfile.TemporaryDirectory() as folder, tempfile.NamedTemporaryFile("w", dir=folder) as file:
    file.write("x")
    file.truncate(0)
os.truncate("a/one.txt", 1)
open("a/one.txt", "w").close()
database = sqlite3.connect("book.db")
database.execute("CREATE TABLE marks (mark REAL)")
database.commit()
database.close()
np.save("array.npy", np.ones(3))
np.savez_compressed("arrays.npz", a=np.ones(3))
torch.save(nn.Linear(2, 2).state_dict(), "weights.pt")
torch.load("weights.pt")
import pandas as pd
pd.DataFrame({"a": [1.0]}).to_csv("table.csv.gz")
pd.read_csv("table.csv.gz")
import matplotlib.pyplot as plt
plt.plot([1, 2])
plt.title("a font")
plt.savefig("plot.png")
plt.close()
subprocess.run(["cp", "-a", "a", "f"], check=True)
subprocess.run(["sh", "-c", "umask 77; mkdir -m 700 g; install -m 755 a/two.txt g/; touch -d 2020-01-01 g"], check=True)
for name in os.listdir("."):
    shutil.rmtree(name) if os.path.isdir(name) else os.remove(name)"""
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


def modes(course: Path) -> dict[str, tuple[object, ...]]:
    """What belongs to each file of a course beside its content."""
    stats = {str(path): path.stat() for path in (course, *course.rglob("*"))}
    return {path: (stat.st_mode, stat.st_mtime_ns, *os.listxattr(path)) for path, stat in stats.items()}


@pytest.mark.parametrize("name", ATTACKS)
def test_nothing_is_reached(name: str, course: Path) -> None:
    before = modes(course)
    result = carry_out(Attack(name, (ATTACKS[name],), limits=PATIENT), course)
    assert modes(course) == before
    assert not [repair for repair in result.repairs if "Error" in repair or "longer than" in repair]
    assert {"namespaces", "files"} == zygotes._POOL.idle[0].missing.keys()


def test_honest_code_changes_its_own_files(course: Path) -> None:
    """Permissions and dates stay as they are, and nobody fails for it."""
    result = carry_out(Attack("honest", (HONEST_FILES,), limits=PATIENT), course)
    assert not [repair for repair in result.repairs if "Error" in repair or "longer than" in repair]


@pytest.mark.parametrize("name", EXHAUSTING)
def test_no_resource_is_used_up(name: str, course: Path) -> None:
    carry_out(Attack(name, (EXHAUSTING[name],), limits=replace(SMALL, cell_seconds=2.0), hurts_itself=True), course)


def test_cleaning_up_follows_no_link(tmp_path: Path) -> None:
    """Beside the working folder, a link to anywhere can be left."""
    base, closed = tmp_path / "base", tmp_path / "closed"
    for folder in (base, base / "left", closed):
        folder.mkdir()
    (closed / "key").touch()
    (closed / "key").chmod(0)
    (base / "link").symlink_to(closed)
    (base / "file").touch()
    empty(str(base))
    assert [*base.iterdir()] == []
    assert (closed / "key").stat().st_mode & 0o777 == 0


def test_nothing_outlives_the_grader(course: Path) -> None:
    """When the grader is killed its pipe closes; children of the learner's process, which no signal reaches, go too."""
    busy = """
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        while True: time.sleep(1)
while True: time.sleep(1)
"""
    with at_work(busy, course) as zygote:
        wait_until(lambda: len([*zygote.account.everyone()]) == 4)
        everyone = [*zygote.account.everyone()]
        zygote._over = True  # or another one is started at once
        zygote._process.control.shutdown(socket.SHUT_RDWR)
        wait_until(lambda: not any(Path("/proc", str(pid)).exists() for pid in everyone))
