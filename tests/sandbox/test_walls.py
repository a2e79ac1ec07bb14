"""What each wall does by itself, and what is missing without it; as root, and as an ordinary user."""

import fcntl
import json
import os
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cellcheck.sandbox import fences, kernel
from cellcheck.sandbox.walls import NAMES

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="there are walls on Linux only")
needs_seccomp = pytest.mark.skipif(bool(fences.seccomp_missing()), reason=fences.seccomp_missing() or "")
ROOT = Path(__file__).parents[2]
USERS = [
    pytest.param("root", marks=pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="not root")),
    "user",
]


def behind_walls(who: str, source: str, lacking: str = "", **environment: str) -> dict[str, Any]:
    """What a learner's process finds there."""
    environment |= {"PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"]}
    script = Path(__file__).with_name("walled.py")
    command = [sys.executable, str(script), who, lacking, TRY + source]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, cwd="/", timeout=300)
    assert run.returncode == 0, run.stderr
    report: dict[str, Any] = json.loads(run.stdout)
    assert "refused" in report or "stopped" not in report["told"], report
    return report


TRY = """
def attempt(name, do):
    try:
        told[name] = do()
    except OSError as error:
        told[name] = error.strerror
def write(path):
    with open(path, "w") as file:
        file.write("x")
    os.remove(path)
    return "written"
"""
LOOK = """
attempt("root", lambda: sorted(os.listdir("/")))
attempt("python", lambda: bool(os.listdir(os.path.dirname(os.__file__))))
attempt("hidden", lambda: os.listdir(hidden))
told["processes"] = [name for name in os.listdir("/proc") if name.isdigit()] if os.path.isdir("/proc") else []
told["pid"], told["user"], told["groups"] = os.getpid(), os.getuid(), os.getgroups()
told["folder"], told["home"], told["files"] = os.getcwd(), os.environ["HOME"], os.listdir(".")
with open("/proc/self/status") as file:
    lines = dict(line.split(":", 1) for line in file)
told["rights"] = int(lines["CapEff"], 16) | int(lines["CapPrm"], 16)
told["no new rights"], told["filtered"] = int(lines["NoNewPrivs"]), int(lines["Seccomp"])
with open("/proc/self/oom_score_adj") as file:
    told["first to go"] = int(file.read())
with open("/proc/net/dev") as file:
    told["network"] = [line.split(":")[0].strip() for line in file if ":" in line]
"""


@pytest.fixture(scope="module", params=USERS)
def whole(request: pytest.FixtureRequest) -> tuple[str, dict[str, Any]]:
    """All walls, as root and as an ordinary user, where this machine has them."""
    report = behind_walls(request.param, LOOK)
    if report["missing"]:
        pytest.skip(f"this machine lacks {report['missing']}")
    return request.param, {"account": report["account"], **report["told"]}


def test_it_is_alone(whole: tuple[str, dict[str, Any]]) -> None:
    _, told = whole
    assert told["processes"] == ["1"]
    assert told["pid"] == 1
    assert set(told["network"]) <= {"lo", "sit0", "tunl0", "ip6tnl0"}


def test_it_has_no_rights(whole: tuple[str, dict[str, Any]]) -> None:
    who, told = whole
    assert told["rights"] == 0
    assert told["no new rights"] == 1
    assert told["filtered"] == 2
    assert told["first to go"] == 1000
    assert told["user"] == (65534 if who == "root" else told["account"])
    assert told["groups"] in ([], [65534])


def test_it_sees_python_and_nothing_else(whole: tuple[str, dict[str, Any]]) -> None:
    who, told = whole
    assert {"usr", "proc", "tmp", "dev"} <= {*told["root"]}
    assert not {"home", "var", "srv", "mnt", "boot", "run", "sys", "old", "new"} & {*told["root"]}
    assert told["hidden"] == [] or (who == "user" and told["hidden"] == "No such file or directory")
    assert told["folder"] == told["home"] == "/tmp"
    # A Python that was installed below /tmp is there as well.
    assert set(told["files"]) == {Path(home).parts[2] for home in (sys.prefix, sys.base_prefix) if "/tmp/" in home}


WRITE = """
for folder in ("/tmp/", "/dev/shm/", "", "/usr/", "/", "/etc/", "/var/tmp/", os.path.dirname(os.__file__) + "/"):
    attempt(folder + "made-by-walls", lambda: write(folder + "made-by-walls"))
"""


@pytest.mark.parametrize("who", USERS)
def test_only_the_scratch_folders_can_be_written_to(who: str) -> None:
    report = behind_walls(who, WRITE)
    if report["missing"]:
        pytest.skip(f"this machine lacks {report['missing']}")
    assert {path for path, what in report["told"].items() if what == "written"} == {
        "/tmp/made-by-walls",
        "/dev/shm/made-by-walls",
        "made-by-walls",
    }


BELOW_TMP = """
told["files"] = [os.path.join(folder, name) for folder, _, names in os.walk(sys.exec_prefix) for name in names]
module = sys.exec_prefix + "/lib/module.py"
told["module"], told["read"] = module, open(module).read()
attempt("changed", lambda: write(module))
attempt("beside", lambda: write(sys.exec_prefix + "/lib/more.py"))
attempt("above", lambda: write(sys.exec_prefix + "/more.py"))
attempt("removed", lambda: os.rename(os.path.dirname(module), "/tmp/lib"))
"""


@pytest.mark.parametrize("who", USERS)
def test_a_python_that_was_installed_below_tmp_stays_in_sight(who: str) -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        os.chmod(folder, 0o755)
        Path(folder, "lib").mkdir()
        Path(folder, "lib", "module.py").write_text("found")
        report = behind_walls(who, BELOW_TMP, PYTHON_IS_IN=folder)
    if report["missing"]:
        pytest.skip(f"this machine lacks {report['missing']}")
    told = report["told"]
    assert told["files"] == [told["module"]]
    assert told["read"] == "found"
    assert told["changed"] == told["beside"] == told["above"] == "Read-only file system"
    assert told["removed"] in ("Read-only file system", "Invalid cross-device link")


CALLS = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
def ask(name, *arguments):
    result = getattr(libc, name)(*arguments)
    told[name] = "done" if result >= 0 else os.strerror(ctypes.get_errno())
ask("unshare", 0x10000000)
ask("ptrace", 16, 2**22 - 1, 0, 0)  # to follow a process that is not there
ask("prctl", 1, 0, 0, 0, 0)
attempt("internet", lambda: socket.socket(socket.AF_INET).close())
attempt("here", lambda: socket.socket(socket.AF_UNIX).close())
attempt("pair", lambda: [end.close() for end in socket.socketpair()] and None)
attempt("fork", lambda: os.waitpid(os.fork() or os._exit(0), 0)[1])
"""


@pytest.mark.parametrize("who", USERS)
@needs_seccomp
def test_system_calls_that_no_lesson_needs_are_refused(who: str) -> None:
    told = behind_walls(who, CALLS)["told"]
    refused = dict.fromkeys(("unshare", "ptrace", "prctl", "internet"), "Operation not permitted")
    assert told == {**refused, "here": None, "pair": None, "fork": 0}


def test_without_a_filter_they_go_through() -> None:
    """The test above is about the filter: nothing else refuses all of these."""
    report = behind_walls("user", CALLS, "namespaces, seccomp")
    assert report["missing"]["seccomp"] == "the Python package pyseccomp is missing"
    assert report["told"]["prctl"] == "done"
    assert report["told"]["ptrace"] == "No such process"
    assert report["told"]["internet"] is None


REFUSED = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
for name, number, error in CALLS:
    ctypes.set_errno(0)
    result = libc.syscall(ctypes.c_long(number), *[ctypes.c_long(-1)] * 6)
    if (result, ctypes.get_errno()) != ((-1, error) if error else (0, 0)):
        told[name] = [result, os.strerror(ctypes.get_errno())]
"""


@pytest.mark.parametrize("who", USERS)
@pytest.mark.parametrize("lacking", ["", "namespaces"])
@needs_seccomp
def test_every_system_call_on_the_list_is_refused(who: str, lacking: str) -> None:
    """With its own error each, which the kernel itself would not give: their arguments make no sense."""
    numbers = {name: fences.number_of(name) for name in fences.refused_calls(alone=not lacking)}
    calls = [(name, numbers[name], error) for name, error in fences.refused_calls(alone=not lacking).items()]
    here = [call for call in calls if call[1] is not None]
    assert len(here) > 100
    assert {"statmount", "listmount", "open_tree_attr", "inotify_init1", "io_uring_setup"} <= {
        name for name, *_ in here
    }
    report = behind_walls(who, f"CALLS = {here}\n{REFUSED}", lacking)
    assert "seccomp" not in report["missing"]
    assert report["told"] == {}


@needs_seccomp
def test_recent_numbers_are_those_of_the_library() -> None:
    """As far as the installed library knows the calls: what it is too old to know is on a list of ours."""
    import pyseccomp

    known = {name: pyseccomp.resolve_syscall(pyseccomp.Arch.NATIVE, name) for name in kernel.RECENT_CALLS}
    known = {name: number for name, number in known.items() if number >= 0}
    assert len(known) > 20
    assert known == {name: kernel.RECENT_CALLS[name] for name in known}


NEW_CALLS = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
for number in (454, 455, 456, 457):
    libc.syscall(ctypes.c_long(number), *[ctypes.c_long(-1)] * 6)
    told[str(number)] = os.strerror(ctypes.get_errno())
told["unshare"] = libc.unshare(0)
"""


@needs_seccomp
def test_a_call_that_can_not_be_refused_is_a_missing_wall() -> None:
    """One that the library is too old to know is refused by its number; one that nobody knows is named."""
    report = behind_walls("user", NEW_CALLS, "namespaces, names")
    assert report["missing"]["seccomp"] == "the installed libseccomp can't refuse unshare: update it"
    assert report["told"]["unshare"] == 0
    assert report["told"]["457"] == "Operation not permitted"  # statmount


@needs_seccomp
def test_calls_that_the_list_is_too_old_to_know_do_not_exist() -> None:
    told = behind_walls("user", NEW_CALLS, "namespaces, news")["told"]
    assert {told[str(number)] for number in (454, 455, 456)} == {"Function not implemented"}


WATCHES = """
import fcntl
with open("own", "w"), open("own") as file:
    for command, value in ((fcntl.F_SETLEASE, fcntl.F_RDLCK), (1036, b"\\2" + bytes(7)), (1038, b"\\2" + bytes(7))):
        attempt(str(command), lambda: fcntl.fcntl(file, command, value) and None)
folder = os.open(".", os.O_RDONLY)
attempt("notify", lambda: fcntl.fcntl(folder, fcntl.F_NOTIFY, fcntl.DN_CREATE))
for lock in (fcntl.flock, fcntl.lockf):  # what HDF5, SQLite and file locks need in the scratch folder
    with open("own", "w") as file:
        attempt(lock.__name__, lambda: lock(file, fcntl.LOCK_EX))
"""


@pytest.mark.parametrize("who", USERS)
@pytest.mark.parametrize("lacking", ["", "namespaces"])
@needs_seccomp
def test_nobody_watches_who_uses_a_file(who: str, lacking: str) -> None:
    refused = dict.fromkeys((str(fcntl.F_SETLEASE), "1036", "1038", "notify"), "Operation not permitted")
    assert behind_walls(who, WATCHES, lacking)["told"] == {**refused, "flock": None, "lockf": None}


TOUCH = """
import ctypes, fcntl
libc = ctypes.CDLL(None, use_errno=True)
beside = os.environ["BESIDE"]
path = beside + "/book"
def reached(number, *arguments):
    libc.syscall(ctypes.c_long(number), *arguments)
for name in (beside, path):
    attempt("chown", lambda: os.chown(name, -1, os.getgid()))
    attempt("utime", lambda: os.utime(name, (1, 1)))
    attempt("xattr", lambda: os.setxattr(name, "user.mark", b"x"))
    reached(452, -100, name.encode(), 0o777, 0)  # fchmodat2
    reached(463, -100, name.encode(), 0, b"user.mark", (ctypes.c_uint64 * 2)(0, 0), 16)  # setxattrat
    reached(469, -100, name.encode(), (ctypes.c_uint64 * 3)(0x40, 0, 0), 24, 0)  # file_setattr: no dump
    for flags in (0, 3, os.O_PATH, os.O_TRUNC, 3 | os.O_TRUNC):  # 3: neither for reading nor for writing
        try:
            descriptor = os.open(name, flags)
        except OSError:
            continue
        attempt("fchmod", lambda: os.fchmod(descriptor, 0o777))
        attempt("futimens", lambda: os.utime(descriptor, (1, 1)))
        attempt("fsetxattr", lambda: os.setxattr(descriptor, "user.mark", b"x"))
        attempt("chattr", lambda: fcntl.ioctl(descriptor, 0x40086602, (0x40).to_bytes(8, "little")) and None)
        attempt("link", lambda: os.chmod(f"/proc/self/fd/{descriptor}", 0o777))
        reached(260, descriptor, b"", -1, os.getgid(), 0x1000)  # fchownat
    attempt("truncate", lambda: os.truncate(name, 0))
    attempt("open", lambda: open(name).read())
    attempt("chmod", lambda: os.chmod(name, 0o711))
"""


@pytest.fixture
def beside() -> Iterator[Path]:
    """A folder of the account that builds the walls, in which nobody behind them has any business."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "book").write_text("marks")
        yield Path(folder)


def looked_at(folder: Path) -> list[object]:
    """All that belongs to a folder and its file."""
    facts: list[object] = []
    for path in (folder, folder / "book"):
        stat = path.stat()
        facts += [stat.st_mode, stat.st_size, stat.st_mtime_ns, os.listxattr(path), flags(path)]
    return facts


def flags(path: Path) -> bytes:
    """What chattr has set; nothing where the file system knows nothing of it."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return fcntl.ioctl(descriptor, 0x80086601, bytes(8))
    except OSError:
        return b""
    finally:
        os.close(descriptor)


@pytest.mark.parametrize("lacking", ["", "namespaces", "namespaces, landlock 3"])
def test_files_of_the_same_account_stay_as_they_are(lacking: str, beside: Path) -> None:
    """Permissions, dates and attributes too, of which Landlock knows nothing; old versions know no truncation."""
    if fences.seccomp_missing() or not fences.landlock_version():
        pytest.skip("there is no seccomp, or no Landlock")
    before = looked_at(beside)
    told = behind_walls("user", TOUCH, lacking, BESIDE=str(beside))["told"]
    assert told["open"] in ("Permission denied", "No such file or directory")
    assert looked_at(beside) == before


@pytest.mark.parametrize("lacking", ["namespaces, seccomp", "namespaces, landlock 3, seccomp"])
def test_without_a_filter_they_do_not(lacking: str, beside: Path) -> None:
    """The test above is about the filter: Landlock alone keeps nobody from this."""
    before = looked_at(beside)
    behind_walls("user", TOUCH, lacking, BESIDE=str(beside))
    assert looked_at(beside) != before
    assert bool((beside / "book").stat().st_size) == ("landlock 3" not in lacking)


LIMITS = """
import resource
for name in ("AS", "FSIZE", "CPU", "NPROC", "NOFILE", "CORE", "MSGQUEUE", "MEMLOCK"):
    told[name] = resource.getrlimit(getattr(resource, "RLIMIT_" + name))
try:
    bytearray(2**29)
except MemoryError:
    told["memory"] = "refused"
import signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
def large():
    with open("large", "wb") as file:
        file.write(bytes(2**21))
attempt("file", large)
os.path.exists("large") and os.remove("large")
def many():
    pids = []
    waiting, end = os.pipe()
    try:
        for _ in range(40):
            pids.append(os.fork())
            if pids[-1] == 0:
                os.close(end)
                os.read(waiting, 1)
                os._exit(0)
    finally:
        os.close(end)
        for pid in pids:
            os.waitpid(pid, 0)
attempt("processes", many)
"""


@pytest.mark.parametrize("lacking", ["", "namespaces", "landlock, seccomp"])
def test_limits_hold_with_and_without_the_other_walls(lacking: str) -> None:
    told = behind_walls("user", LIMITS, lacking)["told"]
    assert told["memory"] == "refused"
    assert told["file"] in ("File too large", "No space left on device")
    assert told["processes"] == "Resource temporarily unavailable"
    assert told["MSGQUEUE"] == told["MEMLOCK"] == [0, 0]
    assert told["CORE"] == [1, 1]  # with 0, a program that collects core dumps would still get them
    assert told["CPU"] == [6, 6]
    # In sight of others, the processes that the account has anyway come on top.
    soft, hard = told["NPROC"]
    assert soft == hard
    if "namespaces" not in lacking:
        assert hard == 16
    elif os.geteuid() == 0:
        assert hard == 16 + 1  # the one that forked, alone in its account
    else:
        assert hard > 16 + 1  # these tests run in the same one


@pytest.mark.parametrize("who", USERS)
@pytest.mark.parametrize("lacking", ["namespaces", "landlock", "seccomp", "namespaces, landlock, seccomp"])
def test_what_is_lacking_is_said_with_its_reason(who: str, lacking: str) -> None:
    report = behind_walls(who, LOOK if "namespaces" not in lacking else "", lacking)
    if "refused" in report:
        assert (who, lacking) == ("root", "namespaces, landlock, seccomp")
        assert "as an ordinary user" in report["refused"]
        return
    missing = report["missing"]
    expected = {*lacking.split(", ")}
    if "namespaces" in expected:
        expected |= {"files"} | ({"user"} & missing.keys() if who == "root" else set())
    if missing.keys() != expected:
        pytest.skip(f"this machine lacks {missing} by itself")
    assert missing.keys() <= NAMES.keys()
    assert all(reason and "\n" not in reason for reason in missing.values())
    if "namespaces" in expected:
        assert missing["namespaces"].startswith("unshare says: Operation not permitted")


OUTSIDE = (
    WRITE
    + """
told["folder"] = os.getcwd()
attempt("secret", lambda: open("/etc/hostname").read() and "read")
attempt("others", lambda: os.listdir(os.path.expanduser("~root")) and "read")
attempt("parent", lambda: open(f"/proc/{os.getppid()}/environ").read() and "read")
"""
)


AMONG_OTHERS = """
import resource, signal
attempt("parent", lambda: os.kill(os.getppid(), 0))
attempt("all", lambda: os.kill(-1, 0))
attempt("limits of the parent", lambda: resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE) and None)
attempt("its own limits", lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (32, 32)))
told["user"], told["groups"] = os.getuid(), os.getgroups()
"""


@pytest.mark.parametrize("who", USERS)
@needs_seccomp
def test_without_namespaces_nobody_else_can_be_reached(who: str) -> None:
    report = behind_walls(who, AMONG_OTHERS, "namespaces")
    told = report["told"]
    refused = "Operation not permitted"
    assert told["parent"] == told["all"] == told["limits of the parent"] == refused
    assert told["its own limits"] is None
    if who == "root":
        assert (told["user"], told["groups"]) == (65534, [])


def test_without_a_filter_somebody_can_be_reached() -> None:
    """The test above is about the filter: nothing else refuses all of these."""
    told = behind_walls("user", AMONG_OTHERS, "namespaces, landlock, seccomp")["told"]
    assert told["parent"] is None


def test_landlock_stands_where_there_are_no_namespaces() -> None:
    if not fences.landlock_version():
        pytest.skip("the kernel has no Landlock")
    told = behind_walls("user", OUTSIDE, "namespaces")["told"]
    assert told["folder"].startswith("/tmp/")
    assert {path for path, what in told.items() if what == "written"} == {"made-by-walls"}
    assert told["parent"] != "read"


def test_without_landlock_it_would_not() -> None:
    told = behind_walls("user", OUTSIDE, "namespaces, landlock")["told"]
    assert {"made-by-walls", "/tmp/made-by-walls"} <= {path for path, what in told.items() if what == "written"}


LEAVE = """
import time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.closerange(0, 256)  # nobody waits for a pipe of its
        time.sleep(60)
    os._exit(0)
told["left"] = True
"""


@pytest.mark.parametrize("lacking", ["", "namespaces"])
def test_nothing_is_left_behind(lacking: str) -> None:
    """The script comes back only once everything that its child started has ended."""
    mark = f"# {uuid.uuid4()}"
    assert behind_walls("user", LEAVE + mark, lacking)["told"]["left"]
    assert processes_with(mark) == set()


def processes_with(mark: str) -> set[str]:
    """The processes whose command line has these letters in it."""
    pids = set()
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (path / "cmdline").read_bytes():
                pids.add(path.name)
        except OSError:
            continue
    return pids


def test_walls_that_cannot_be_built_whole_are_not_begun() -> None:
    """Who may move but not fork into namespaces stays where it was: with its files, and with Landlock."""
    report = behind_walls("user", "told['root'] = os.listdir('/proc/self')[:1]", "forking")
    assert report["missing"].keys() >= {"namespaces", "files"}
