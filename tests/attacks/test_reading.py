"""Reading what is not the learner's: the gradebook, other submissions, solutions, the seed, the grader's memory."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.attacks.attacks import CANARY, PATIENT, SEED, Attack, carry_out, setup

# Each of these tells what it finds, in an exception.
SPIES = {
    "environment": "spy(dict(os.environ))",
    "environment in proc": "spy(*map(read, glob.glob('/proc/*/environ')))",
    "gradebook": "spy(read(COURSE + '/gradebook.db'))",
    "gradebook from the working folder": "spy(*(read('../' * n + COURSE[1:] + '/gradebook.db') for n in range(9)))",
    "other submissions": "spy(*map(read, glob.glob(COURSE + '/submitted/*/*/*')))",
    "solution notebooks": "spy(*map(read, glob.glob(COURSE + '/so*/*/*')))",
    "marks of others": "spy(*map(read, glob.glob(COURSE + '/[af][ue]*/*/*/*')))",
    "by another program": "spy(subprocess.run(['/bin/sh', '-c', f'cat \"{COURSE}\"/*'], capture_output=True).stdout)",
    "by a link": """
for link in (os.link, os.symlink):
    with contextlib.suppress(OSError):
        link(COURSE + "/gradebook.db", "made by " + link.__name__)
found = [read("made by " + name) for name in ("link", "symlink")]
for name in ("link", "symlink"):
    with contextlib.suppress(OSError):
        os.remove("made by " + name)
spy(*found)""",
    "around the root": """
for start in ("/proc/self/root", "/proc/1/root", "/proc/1/cwd/../../../../../../..", "/proc/self/cwd", "/old", "/new"):
    for up in ("", "/..", "/../.."):
        spy(read(start + up + COURSE + "/gradebook.db"))""",
    "open handles": """
for fd in range(256):
    with contextlib.suppress(OSError):
        spy(os.fstat(fd), os.readlink(f"/proc/self/fd/{fd}"))
        spy(*(read(f"/proc/self/fd/{fd}/" + name) for name in ("", "gradebook.db", "../gradebook.db")))
        if fd > 2 and select.select([fd], [], [], 0)[0]:
            spy(os.read(fd, 10**6))""",
    "frames": "for frame in frames(): spy(frame.f_locals, frame.f_globals)",
    "every object": """
for thing in everything():
    if isinstance(thing, (dict, list, tuple)) and len(thing) < 1000:
        for item in list(thing.values()) if isinstance(thing, dict) else list(thing):
            if isinstance(item, (str, bytes)) and len(MARK) < len(item) < 10**5:
                spy(item)""",
    "memory": """
for held in writable_memory():
    for found in re.findall(MARK.encode() + b"[0-9a-f]{32}", held):
        tell(found)""",
}

EVERYWHERE = """
python = (sys.prefix, sys.base_prefix)
known = tuple(os.path.realpath(path) for path in ("/usr", "/lib", "/bin", "/sbin", "/proc", *python))
for folder, folders, names in os.walk("/"):
    folders[:] = [name for name in folders if not os.path.realpath(os.path.join(folder, name)).startswith(known)]
    spy(folder, *folders, *names, *(read(os.path.join(folder, name)) for name in names if "/dev" not in folder))
"""

# The seed is a number that the spies know only masked: whoever has it in memory can't but know it.
SEEDS = {
    "seed among objects": """
sought = MASKED ^ MASK
for thing in everything():
    for item in gc.get_referents(thing):
        if type(item) is int and item == sought and item is not sought:
            tell(item)""",
    "seed in frames": """
for frame in frames():
    if any(type(item) is int and item == MASKED ^ MASK for item in frame.f_locals.values()):
        tell("the seed")""",
    "seed of the generators": """
if MASKED ^ MASK in (torch.initial_seed(), int(np.random.get_state()[1][0])): tell("the seed")""",
    "another process": """
for pid in range(2, 2000):
    with contextlib.suppress(OSError):
        os.kill(pid, 0)
        tell(pid)""",
    "processes in proc": """\
found = [p for p in os.listdir('/proc') if p.isdigit() and p != str(os.getpid())]
if found: tell(found)""",
    "parent's memory": """\
done('read', lambda: read(f'/proc/{os.getppid()}/mem') or 1 / 0)
if os.getppid(): tell(os.getppid())""",
    "who is at the other end": """
for fd in channels():
    pid = struct.unpack("3i", socket.socket(fileno=os.dup(fd)).getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]
    if pid: tell(pid)""",
}

# Solutions are public, and yet they are not lying about.
SOLUTIONS = {
    "file": """\
import transformer_course
import transformer_course.lessons
folders = (transformer_course.__path__[0], transformer_course.lessons.__path__[0])
found = [read(path) for folder in folders for path in glob.glob(folder + '/**/*', recursive=True)]
if any(found): tell(found)""",
    "references": "import transformer_course.lessons.lesson_01.networks as found\ntell(found.mlp_predict)",
    "judge": "import cellcheck.checking.judge\ntell(cellcheck.checking.judge)",
    "checks": "found = cellcheck.checks('01_pytorch_basics')\nif found.__name__ != '_silent_check': tell(found)",
    "source": "import transformer_course.mlp\ntell(inspect.getsource(transformer_course.mlp.mlp_predict))",
    "lines": "from transformer_course import mlp\nfound = linecache.getlines(mlp.__file__)\nif found: tell(found)",
    "loader": "from transformer_course import mlp\ntell(mlp.__loader__.get_data(mlp.__file__))",
    "code": """\
import transformer_course.mlp
names = transformer_course.mlp.mlp_predict.__code__.co_names
if names != ('NotImplementedError',): tell(names)""",
    "without the blanker": """
import transformer_course.mlp
sys.meta_path[:] = [finder for finder in sys.meta_path if "Blank" not in type(finder).__name__]
del sys.modules["transformer_course.mlp"]
import transformer_course.mlp
tell(transformer_course.mlp.mlp_predict.__code__.co_names)""",
    "reloaded": "import transformer_course.mlp\nimportlib.reload(transformer_course.mlp)\ntell('reloaded')",
    "before the answer": "import transformer_course.tensors as c\nx = torch.ones(1, 2, 3)\ntell(c.batched_dot(x, x))",
    "other copies": """
for folder in {*sys.path, *glob.glob(sys.prefix + "/lib/python*/site-packages"), sys.prefix, sys.prefix + "/.."}:
    ours = ("*.py", "__pycache__/*", "lessons/*/*")
    for pattern in (*(f"{top}transformer_course/{own}" for top in ("", "build/lib/") for own in ours), "*/*/mlp*"):
        found = glob.glob(os.path.join(folder or ".", pattern))
        if found: tell(found)""",
    "text in memory": """
for held in writable_memory():
    if re.search(rb"torch[.]relu[(]x @ W [+] b[)]", held): tell("a solution's line")""",
}

READING = [
    *(Attack(name, (source,), limits=PATIENT) for name, source in {**SPIES, **SEEDS}.items()),
    *(Attack(f"solution: {name}", (source,), limits=PATIENT) for name, source in SOLUTIONS.items()),
    Attack("every folder", (EVERYWHERE,), limits=PATIENT),
    Attack(
        "course's symbol as an answer",
        types={
            "batched_dot": "from transformer_course.tensors import batched_dot\nbatched_dot.__module__ = '__main__'"
        },
        status={"batched_dot": "missing"},
    ),
    Attack(
        "expected arrays, while a symbol is looked at",
        types={
            "batched_dot": """
def batched_dot(a, b):
    for frame in frames():
        for name, value in {**frame.f_locals, **frame.f_globals}.items():
            if name in ("expected", "references", "judge", "seed", "mistakes"):
                tell(name)
        spy(frame.f_locals)
    for thing in everything():
        if type(thing).__name__ in ("Judge", "Case", "Exercise", "Lesson", "Session", "Zygote", "Verdict"):
            tell(thing)"""
        },
        status={"batched_dot": "failed"},
        limits=PATIENT,
    ),
    Attack(
        "other symbols' cases, in the message",
        types={
            "batched_dot": """
def batched_dot(a, b):
    for frame in frames():
        cases = frame.f_locals.get("cases", [])
        if any("values" in case for case in cases) or "seed" in repr(frame.f_locals.get("message", "")):
            tell("cases of pick")"""
        },
        status={"batched_dot": "failed"},
        limits=PATIENT,
    ),
]


@pytest.mark.parametrize("attack", READING, ids=str)
def test_nothing_is_read(attack: Attack, course: Path) -> None:
    result = carry_out(attack, course)
    # An attack that stumbles over its own feet proves nothing.
    assert not [r for r in result.repairs if "SyntaxError" in r or "NameError" in r or "longer than" in r]


def test_the_spies_do_find_things_where_there_are_no_walls(course: Path) -> None:
    """They are good spies: in an ordinary process each finds what it is after."""
    lines = setup(course).splitlines()
    known = "\n".join(
        line
        for line in lines
        if not line.startswith(("import cellcheck", "import numpy", "import torch", "from", "check"))
    )
    script = f"{known}\nopened, held = open('gradebook.db'), os.environ['SECRET_TOKEN']\nTOLD = []\n"
    for name, source in SPIES.items():
        script += f"try:\n    exec({source!r})\nexcept ValueError as error:\n    TOLD.append({name!r})\n    del error\n"
    script += "print(TOLD)"
    run = subprocess.run([sys.executable, "-"], input=script.encode(), capture_output=True, check=True)
    assert run.stdout.decode().strip() == str([*SPIES]), run.stderr
    assert CANARY not in script
    assert str(SEED) not in script
