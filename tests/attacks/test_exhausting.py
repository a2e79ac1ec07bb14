"""Taking all there is: time, memory, processes, threads, disk, output, depth, and numbers without end."""

from dataclasses import replace
from pathlib import Path

import pytest

from cellcheck.running.session import Session
from cellcheck.running.setting import setting_of
from cellcheck.running.zygotes import borrowed
from tests.attacks.attacks import LESSON, PATIENT, POINTS, ROOMY, SMALL, Attack, answer, carry_out, setup

BOTH = {"batched_dot": POINTS["batched_dot"], "pick": POINTS["pick"]}
# Processor time ends these; the wall clock would take three times as long.
QUICK = replace(PATIENT, probe_seconds=1.0)
ANSWER = "return a @ b.transpose(1, 2)"
DOT = {"batched_dot": answer("batched_dot")}


def in_call(source: str, **more: object) -> Attack:
    """The body of an answer."""
    body = source.replace("\n", "\n    ")
    return Attack("", types={"batched_dot": f"def batched_dot(a, b):\n    {body}"}, **more)  # type: ignore[arg-type]


def in_cell(*sources: str, **more: object) -> Attack:
    """Cells in front of two honest answers."""
    return Attack("", sources, types=DOT, deserves=BOTH, **more)  # type: ignore[arg-type]


def ends(status: str, source: str, **more: object) -> Attack:
    """A call that ends with this status."""
    return in_call(source, status={"batched_dot": status}, **more)


def never_ends(source: str) -> Attack:
    """A call that is stopped when its time is over."""
    return ends("timeout", source, limits=SMALL)


def full_of(number: str) -> Attack:
    """An answer of the right shape, with the same number everywhere."""
    return ends("failed", f"return torch.full((a.shape[0], a.shape[1], b.shape[1]), {number})")


EXHAUSTING = {
    "loop in a cell": in_cell("while True: pass", limits=SMALL),
    "loop in a call": never_ends("while True: pass"),
    "loop in an answer's cell": Attack(
        "",
        types={"batched_dot": "while True: pass\ndef batched_dot(a, b): pass"},
        status={"batched_dot": "timeout"},
        limits=SMALL,
    ),
    "loop at import": in_cell("open('slow.py', 'w').write('while True: pass')\nimport slow", limits=SMALL),
    "loop in C": never_ends("return sum(range(10**12))"),
    "loop in a regular expression": never_ends("return re.match('(a+)+$', 'a' * 60 + 'b')"),
    "loop in __del__": in_cell(
        "class Slow:\n    def __del__(self):\n        while True: pass\nslow = Slow()\ndel slow", limits=SMALL
    ),
    "loop in __repr__": in_cell("class Slow:\n    def __repr__(self):\n        while True: pass\nSlow()", limits=SMALL),
    "loop in an exception's text": in_cell(
        "class Slow(Exception):\n    def __str__(self):\n        while True: pass\nraise Slow", limits=SMALL
    ),
    "loop in a result's attribute": never_ends(
        "class Slow(dict):\n    def items(self):\n        while True: pass\nreturn Slow(a=1)"
    ),
    "loop that catches everything": never_ends(
        "while True:\n    try:\n        while True: pass\n    except BaseException: pass"
    ),
    "loop that hears no signal": never_ends(
        """\
for n in range(1, 65):
    with contextlib.suppress(OSError, ValueError): signal.signal(n, signal.SIG_IGN)
while True: pass""",
    ),
    "sleep": never_ends("time.sleep(3600)"),
    "sleep in a cell": in_cell("time.sleep(3600)", limits=SMALL),
    "a read that never ends": never_ends("reader, writer = os.pipe()\nos.read(reader, 1)"),
    "a lock that is taken": never_ends("lock = threading.Lock()\nlock.acquire()\nlock.acquire()"),
    "a fifo": ends("error", "os.mkfifo('fifo')\nopen('fifo').read()"),
    "input": in_cell("input()"),
    "standard input": in_cell("sys.stdin.read()", "os.read(0, 1)"),
    "memory in a call": ends("memory", "return bytearray(2**40)"),
    "memory in small pieces": ends(
        "memory", "kept = []\nwhile True: kept.append(bytearray(2**20))", limits=replace(ROOMY, memory_bytes=2**26)
    ),
    "memory in many processes": ends(
        "memory",
        """\
for _ in range(8):
    if os.fork() == 0:
        filled = b'x' * 10**8
        time.sleep(600)
        os._exit(0)
os.wait()""",
        limits=replace(ROOMY, memory_bytes=2**28),
    ),
    "memory of programs": ends(  # they inherit nothing: what the zygote has is not theirs to subtract
        "memory",
        """\
hold = "import time; filled = b'x' * 10**8; time.sleep(60)"
started = [subprocess.Popen([sys.executable, "-S", "-c", hold]) for _ in range(6)]
started[0].wait()""",
        limits=replace(PATIENT, memory_bytes=3 * 2**27),
    ),
    "shared pages": ends(
        "memory",
        """\
import mmap
page = bytes(2**16)
for _ in range(8):
    if os.fork() == 0:
        filled = mmap.mmap(-1, 2**26)
        for _ in range(2**10): filled.write(page)
        time.sleep(60)
        os._exit(0)
os.wait()""",
        limits=replace(PATIENT, memory_bytes=2**28),
    ),
    "memory in sockets": ends(
        "memory",
        """\
for _ in range(12):
    if os.fork() == 0:
        kept = []
        with contextlib.suppress(OSError):
            while True:
                kept += socket.socketpair()
                kept[-1].setblocking(False)
                with contextlib.suppress(BlockingIOError):
                    while True: kept[-1].send(b"x" * 2**16)
        time.sleep(60)
        os._exit(0)
os.wait()""",
        limits=replace(PATIENT, memory_bytes=2**28),
    ),
    "large pages": in_cell(
        "refused('map', 9, 0, 2**21, 3, 0x40022, -1, 0)\nrefused('map', 9, 0, 2**21, 3, 0x40022 | 1 << 62, -1, 0)"
    ),
    # Both would be back before the wall clock ends them.
    "processor time of a child": ends(
        "timeout",
        f"""\
if os.fork() == 0: burn(2.0)
os.wait()
{ANSWER}""",
        limits=QUICK,
    ),
    "processor time between cells": in_cell(
        "if os.fork() == 0: burn(1.9)",
        "os.wait()",
        limits=replace(PATIENT, cpu_seconds=1.0),
        status={"pick": "timeout"},
        hurts_itself=True,
    ),
    "memory in a cell": in_cell("torch.ones(2**36)", "x = [0] * 2**33"),
    "memory that is kept": in_cell("kept = bytearray(2**28)"),
    "a huge array": ends("failed", "return torch.ones(1).expand(2**40)"),
    "a huge answer": ends("failed", "return torch.ones(6 * 2**20)"),
    "an error with much behind it": ends(  # it stands for the answer to each case
        "memory",
        """\
import cellcheck.running.wire as wire
much = {"error": {"type": "X", "message": "", "line": ""}, "behind": np.zeros(60 * 2**20, np.uint8)}
grader_object("Child").channel.send_bytes(wire.encode(much))
time.sleep(60)""",
        limits=PATIENT,
    ),
    "one array many times": in_cell(
        """\
import json
import cellcheck.running.wire as wire
blob = wire.encode({"a": np.zeros(2**22, np.float32)})[4:].partition(b"}}")[2]
many = [{"$": "tensor", "at": "0", "stride": None, "bfloat16": True}] * 2**8
text = json.dumps({"$": "dict", "items": {"ok": True, "value": many}}).encode()
grader_object("Child").channel.send_bytes(struct.pack(">I", len(text)) + text + blob)""",
        limits=PATIENT,
        hurts_itself=True,
    ),
    "many arrays": in_call("return [torch.ones(1)] * 10**6"),
    "long words": in_call("return ['x' * 2000] * 19000"),
    "a very long text": ends("failed", "return 'x' * 10**8", limits=PATIENT),
    "a structure without end": ends("failed", "endless = []\nendless.append(endless)\nreturn endless"),
    "a list that lies about its length": ends(
        "failed", "class Endless(list):\n    def __iter__(self):\n        while True: yield self\nreturn Endless()"
    ),
    "huge integers": ends("failed", "return 10**5000"),
    "a huge power": never_ends("return 9**9**9**9"),
    "not a number": full_of("float('nan')"),
    "infinity": full_of("float('inf')"),
    "minus infinity": full_of("-float('inf')"),
    "the largest number": full_of("torch.finfo(a.dtype).max"),
    "fork bomb": in_cell(
        """\
for _ in range(200):
    with contextlib.suppress(OSError):
        if os.fork() == 0:
            time.sleep(30)
            os._exit(0)"""
    ),
    "fork bomb that grows": in_cell("while True:\n    with contextlib.suppress(OSError): os.fork()", limits=SMALL),
    "processes that leave": in_cell(
        """\
for _ in range(9):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(60)
        os._exit(0)"""
    ),
    "programs in the background": in_cell("subprocess.Popen(['sleep', '60'], start_new_session=True)", "!sleep 60 &"),
    "threads": in_cell("for _ in range(500): threading.Thread(target=time.sleep, args=(60,)).start()"),
    "a thread that works on": in_cell(
        "def work():\n    while True: pass\nthreading.Thread(target=work, daemon=True).start()", limits=PATIENT
    ),
    "torch's threads": in_cell(
        "torch.set_num_threads(64)\ntorch.ones(500, 500) @ torch.ones(500, 500)", hurts_itself=True
    ),
    "disk": in_cell("with open('big', 'wb') as file:\n    while True: file.write(bytes(2**20))"),
    "disk in many files": in_cell("for n in range(10**6): open(f'file{n}', 'wb').write(bytes(2**16))"),
    "names": in_cell("for n in range(10**6): open(f'file{n}', 'w').close()", limits=PATIENT),
    # Deeper than Python's recursion, with a path longer than the kernel takes; each level costs more than the last.
    "folders": in_cell("for n in range(1100):\n    os.mkdir('deep')\n    os.chdir('deep')"),
    "shared memory": in_cell("for n in range(100): open(f'/dev/shm/{n}', 'wb').write(bytes(2**20))"),
    "a hole of a terabyte": in_cell("os.truncate(os.open('hole', os.O_CREAT | os.O_RDWR), 2**40)"),
    "handles": in_cell("kept = [os.dup(0) for _ in range(10**6)]", hurts_itself=True),
    "output": in_cell("while True: print('x' * 1000)"),
    "output around Python": in_cell("while True: os.write(1, b'x' * 10**6)", limits=SMALL),
    "warnings": in_cell("import warnings\nfor n in range(10**4): warnings.warn(str(n))"),
    "deep recursion": ends("error", "return batched_dot(a, b)"),
    "deeper recursion": in_call(
        """\
sys.setrecursionlimit(10**9)
def deep(n): return deep(n + 1) + [n].index(n)
return sorted([1, 2], key=lambda x: repr(deep(0)))""",
        limits=replace(SMALL, probe_seconds=3.0),
    ),
    "a deep structure": ends("failed", "deep = ()\nfor _ in range(10**3): deep = (deep,)\nreturn deep"),
    "a cell too deep to parse": in_cell("(" * 5000 + ")" * 5000),
    "a cell of many lines": in_cell("x = 1\n" * 10**4),
    "exit": in_cell("os._exit(0)", "sys.exit()", "exit()", "quit()", "raise SystemExit"),
    "abort": ends("crashed", "os.abort()"),
    "a wild pointer": ends("crashed", "ctypes.string_at(1)"),
    "stopping itself": never_ends("signal.pause()"),
    "an alarm": in_cell("signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)", hurts_itself=True),
    "an alarm with an exception": in_cell(
        """\
def ring(*_): raise KeyboardInterrupt
signal.signal(signal.SIGALRM, ring)
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)""",
        hurts_itself=True,
    ),
    "Ctrl-C": ends("error", "raise KeyboardInterrupt"),
    "closed handles": in_cell("os.closerange(0, 3)", "sys.stdout.close()"),
    "every handle closed": in_cell("os.closerange(0, 256)", hurts_itself=True),
    "a cell in a loop of cells": in_cell(
        "get_ipython().run_cell('get_ipython().run_cell(In[-1])')", hurts_itself=True, limits=SMALL
    ),
}


@pytest.mark.parametrize("name", EXHAUSTING)
def test_no_resource_is_used_up(name: str, course: Path) -> None:
    carry_out(replace(EXHAUSTING[name], name=name), course)


@pytest.fixture
def without_groups(course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a machine that has no control groups: the grader's own count must do."""
    with borrowed(setting_of(LESSON)) as zygote:
        account = zygote.account
    if account.group is not None:
        account.group.begin(memory_bytes=2**50, processes=2**16)  # the zygote stays in it, and nothing stops it there
        monkeypatch.setattr(account, "group", None)


MEMORY = ("memory in many processes", "memory of programs", "shared pages", "memory in sockets")


@pytest.mark.parametrize("name", MEMORY)
def test_memory_is_counted_without_control_groups_too(name: str, course: Path, without_groups: None) -> None:
    carry_out(replace(EXHAUSTING[name], name=name), course)


def test_a_thousand_short_sleeps_come_to_an_end(course: Path) -> None:
    limits = replace(PATIENT, sleep_seconds=2.0)
    naps = Attack("naps", ("time.sleep(0.2)",) * 40, hurts_itself=True, limits=limits)
    result = carry_out(naps, course)
    assert any("had waited for 2 s in all without computing anything" in line for line in result.repairs)


LIVES = {
    "short lives": """
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
for _ in range(15):
    if os.fork() == 0: burn(0.04)
    with contextlib.suppress(OSError): os.wait()""",
    "orphans": """
reader, writer = os.pipe()
for _ in range(4):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0: burn(0.15)
        os._exit(0)
    os.wait()
os.close(writer)
os.read(reader, 1)""",
    "threads": """
def work():
    while time.thread_time() < 0.3: pass
for _ in range(2):
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()""",
}


@pytest.mark.parametrize("groups", [True, False], ids=["groups", "no groups"])
@pytest.mark.parametrize("name", LIVES)
def test_processor_time_of_ended_processes_is_counted(
    name: str, groups: bool, course: Path, request: pytest.FixtureRequest
) -> None:
    if not groups:
        request.getfixturevalue("without_groups")
    with Session(setting_of(LESSON), replace(PATIENT, cell_seconds=60.0)) as session:
        assert session.run(setup(course)) is None
        before = session.look_up()
        assert session.run(LIVES[name]) is None
        assert session.look_up() - before > 0.5  # of 0.6, which the kernel rounds down for each process
