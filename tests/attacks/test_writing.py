"""Writing where nothing of the learner's belongs: the gradebook, the machine's folders, the pipe to the grader."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.attacks.attacks import SMALL, Attack, carry_out

DEEDS = {
    "gradebook": "done('write', lambda: open(COURSE + '/gradebook.db', 'a').write('x'))",
    "gradebook by sqlite": """
import sqlite3
def forge():
    with sqlite3.connect(f"file:{COURSE}/gradebook.db?mode=rw", uri=True) as book:
        book.execute("update grade set manual_score = 99")
done("forge", forge)""",
    "course folder": "done('make', lambda: open(COURSE + '/submitted/ada/note', 'w').write('x'))",
    "removing": "done('remove', lambda: os.remove(COURSE + '/gradebook.db'))",
    "renaming": "done('rename', lambda: os.rename(COURSE, COURSE + '2'))",
    "another temporary folder": """\
for path in ('/var/tmp/x', os.path.dirname(COURSE) + '/tmp/x'):
    done(path, lambda: open(path, 'w').write('x'))""",
    "site-packages": """
for folder in [sys.prefix, os.path.dirname(os.__file__), os.path.dirname(torch.__file__), *filter(None, sys.path)]:
    for name in ("sitecustomize.py", "x.pth"):
        done(folder, lambda: open(os.path.join(folder, name), "w").write("import os"))""",
    "a module that is there": "done('change', lambda: open(torch.__file__, 'a').write('x'))",
    "its rights": """\
for path in (torch.__file__, sys.executable, '/', '/usr', '/etc/passwd'):
    done(path, lambda: os.chmod(path, 0o777))""",
    "its dates": "done('touch', lambda: os.utime(torch.__file__))",
    "python itself": "done('change', lambda: open(sys.executable, 'r+b').write(b'x'))",
    "users": "done('change', lambda: open('/etc/passwd', 'a').write('root2::0:0::/:/bin/sh'))",
    "the root folder": """\
for path in ('/x', '/etc/x', '/usr/x', '/proc/x', '/dev/x', '/home/x'):
    done(path, lambda: open(path, 'w').write('x'))""",
    "kernel settings": """
for path in glob.glob("/proc/sys/*/*") + ["/proc/sysrq-trigger", "/proc/self/oom_score_adj", "/proc/self/uid_map"]:
    if os.path.isfile(path):
        done(path, lambda: open(path, "w").write("0"))""",
    "devices": """
done("make", lambda: os.mknod("device", 0o600 | 0o060000, os.makedev(8, 0)))
for path in ("/dev/sda", "/dev/vda", "/dev/mem", "/dev/kmsg", "/dev/tty", "/dev/fuse"):
    done(path, lambda: open(path, "wb"))""",
}

# What an attacker can say over the pipe, before anybody has asked or in place of an answer.
ARRAYS = "blob = __import__('safetensors.torch').torch.save({'0': torch.ones(2, 2)})\n"
FORGED = {
    "answers before the question": """
for _ in range(60):
    send(packed(b'{"$": "dict", "items": {"seen": {"$": "dict", "items": {"output": 1}}}}'))""",
    "a message of two gigabytes": "send(struct.pack('!i', 2**31 - 1) + b'x')",
    "a message of less than nothing": "send(struct.pack('!i', -7))",
    "the long form of a length": "send(struct.pack('!i', -1) + struct.pack('!Q', 2**40))",
    "a message that never ends": "send(struct.pack('!i', 1000) + b'half')\ntime.sleep(60)",
    "a message a byte at a time": """\
for byte in struct.pack('!i', 10**6) + bytes(10**6):
    send(bytes([byte]))
    time.sleep(0.01)""",
    "garbage": "send(os.urandom(4096))",
    "a good length and garbage": "send(struct.pack('!i', 100) + os.urandom(100))",
    "an empty message": "send(struct.pack('!i', 0))",
    "no dict": "send(packed(b'[1, 2, 3]'))",
    "nested": "send(packed(b'[' * 10**6))",
    "nested and closed": "send(packed(b'[' * 900 + b']' * 900))",
    "wide": "send(packed(b'[' + b'[],' * 10**7 + b'[]]'))",
    "wide within the limit": "send(packed(b'[' + b'[],' * 10**6 + b'[]]'))",
    "a gigantic number": 'send(packed(b\'{"$": "dict", "items": {"error": 1\' + b\'0\' * 4000 + b\'}}\'))',
    "a header of 2**60 bytes": "send(packed(b'1', struct.pack('<Q', 2**60) + b'{}'))",
    "a header that lies about shapes": """
header = b'{"0":{"dtype":"F64","shape":[1099511627776,1099511627776],"data_offsets":[0,8]}}'
send(packed(b"1", struct.pack("<Q", len(header)) + header + bytes(8)))""",
    "numbers far apart": ARRAYS
    + """
item = '{"$": "tensor", "at": "0", "stride": [1, 60000000]}'
send(packed(('[' + ', '.join([item] * 4000) + ']').encode(), blob))""",
    "a dtype without arithmetic": """
blob = __import__('safetensors.torch').torch.save({'0': torch.ones(2, 2).to(torch.float8_e4m3fn)})
item = '{"$": "tensor", "at": "0", "stride": null}'
text = ('{"$": "dict", "items": {"seen": {"$": "dict", "items": {"output": ' + item + '}}}}').encode()
for _ in range(60): send(packed(text, blob))""",
    "the channel closed": "for fd in channels(): os.close(fd)",
    "the channel filled": "data = struct.pack('!i', 60 * 2**20) + bytes(60 * 2**20)\nsend(data)",
    "the channel read by somebody else": """\
threading.Thread(target=lambda: [os.read(fd, 10**6) for fd in channels()], daemon=True).start()
time.sleep(0.1)""",
}

WRITING = [
    *(Attack(name, (source,)) for name, source in DEEDS.items()),
    Attack(
        "working folder", ("open('mine', 'w').write('x')\nos.makedirs('deep/er')", "assert open('mine').read() == 'x'")
    ),
    Attack("shared memory", ("open('/dev/shm/mine', 'w').write('x')",)),
]


@pytest.mark.parametrize("attack", WRITING, ids=str)
def test_nothing_is_written(attack: Attack, course: Path) -> None:
    result = carry_out(attack, course)
    assert not [r for r in result.repairs if "Error" in r or "longer than" in r]


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_message_earns_nothing(name: str, course: Path) -> None:
    """Said from within the answer's cell, while the grader waits for that cell to end."""
    source = f"{FORGED[name]}\ndef batched_dot(a, b):\n    return a"
    limits = replace(SMALL, sleep_seconds=6.0)  # whoever steals every message sleeps for as long as it may
    attack = Attack(name, types={"batched_dot": source}, hurts_itself=True, limits=limits)
    result = carry_out(attack, course)
    assert not [r for r in result.repairs if "SyntaxError" in r or "NameError" in r]


def test_the_next_process_finds_nothing_of_the_last(course: Path) -> None:
    """Files, shared memory, message queues, keys, settings: all of it goes with the submission, or was refused."""
    leave = """
for path in ("/tmp/left", "/dev/shm/left", "left"):
    open(path, "w").write("x")
IPC_CREAT = 0o1000
for number, arguments in ((29, (4711, 4096)), (64, (4711, 1)), (68, (4711,)), (240, (b"left", 66, 0o600, 0))):
    refused("make", number, *arguments, IPC_CREAT | 0o666)
with contextlib.suppress(OSError):
    socket.sethostname("attacked")
with contextlib.suppress(OSError):
    call(248, b"user", b"left", b"x", 1, -4)
shared = [line for line in open("/proc/self/maps") if " rw-s " in line]
if shared: tell(shared)
"""
    find = """
found = glob.glob("/tmp/left") + glob.glob("/dev/shm/*") + glob.glob("left")
if found or socket.gethostname() == "attacked": tell(found)
"""
    for source in (leave, find):
        result = carry_out(Attack("left", (source,)), course)
        assert not [r for r in result.repairs if "Error" in r]
