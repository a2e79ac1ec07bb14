"""Getting out: to the network, to other processes, to another user, to another root, to the kernel's odder corners."""

import os
import platform
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from cellcheck.running import zygotes
from tests.attacks.attacks import MARK, PATIENT, Attack, at_work, carry_out, family, wait_until

SERVER = socket.create_server(("127.0.0.1", 0))
TCP, ABSTRACT = SERVER.getsockname()[1], f"{MARK}socket {os.getpid()}"

ESCAPES = {
    "tcp": f"done('connect', lambda: socket.create_connection(('127.0.0.1', {TCP}), 0.2))",
    "tcp on six": f"done('connect', lambda: socket.create_connection(('::1', {TCP}), 0.2))",
    "udp": f"done('send', lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', {TCP})))",
    "raw packets": "done('open', lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW))",
    "routing tables": "done('open', lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW))",
    "the machine below": "done('open', lambda: socket.socket(40, socket.SOCK_STREAM))",
    "an abstract socket": f"done('connect', lambda: socket.socket(socket.AF_UNIX).connect('\\0{ABSTRACT}'))",
    "a socket in a folder": """
done("connect", lambda: socket.socket(socket.AF_UNIX).connect(os.path.dirname(COURSE) + "/socket"))""",
    "names": "done('ask', lambda: socket.getaddrinfo('localhost.invalid', 80) or 1 / 0)",
    "names of this machine": """
done("connect", lambda: socket.socket(socket.AF_UNIX).connect("/run/systemd/resolve/io.systemd.Resolve"))""",
    "another program's network": f"""
done("connect", lambda: subprocess.run(["bash", "-c", ": > /dev/tcp/127.0.0.1/{TCP}"], check=True, stderr=-3))""",
    "signals": """
for pid in (0, os.getppid() or -7, -1, 2, 3):
    for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGSTOP):
        with contextlib.suppress(OSError):
            os.kill(pid, number)
if os.getpid() != 1: tell(os.getpid())""",
    "signals to every number": "for pid in range(2, 5000):\n    done(pid, lambda: os.kill(pid, 9))",
    "tracing": """
child = os.fork()
if child == 0:
    time.sleep(600)
    os._exit(0)
refused("trace", 101, 16, child, 0, 0)
os.kill(child, 9)
os.waitpid(child, 0)""",
    "being traced": "refused('trace', 101, 0, 0, 0, 0)",
    "another's memory": """
buffer = ctypes.create_string_buffer(8)
vector = (ctypes.c_uint64 * 2)(ctypes.addressof(buffer), 8)
refused("read", 310, 1, vector, 1, vector, 1, 0)""",
    "mount": "refused('mount', 165, b'none', b'/tmp', b'tmpfs', 0, 0)",
    "unmount": "for path in (b'/proc', b'/tmp', b'/dev/shm', b'/'):\n    refused(path, 166, path, 2)",
    "the new mount calls": """\
for number in (428, 429, 430, 431, 432, 433, 442):
    refused(number, number, -100, b'/', 0, 0, 0)""",
    "chroot": "done('chroot', lambda: os.chroot('/tmp'))",
    "pivot_root": "refused('pivot', 155, b'/tmp', b'/tmp')",
    "namespaces": """
for flag in (0x10000000, 0x00020000, 0x20000000, 0x40000000, 0x04000000, 0x08000000, 0x02000000, 0x80):
    refused(flag, 272, flag)""",
    "namespaces by clone": """
for flag in (0x10000000, 0x10020000, 0x20000000, 0x40000000):
    pid = libc.syscall(56, flag | 17, 0, 0, 0, 0)
    if pid == 0: os._exit(0)
    if pid > 0: tell(flag)""",
    "namespaces by clone3": """
arguments = (ctypes.c_uint64 * 11)(0x10000000, 0, 0, 0, 17)
pid = libc.syscall(435, arguments, 88)
if pid == 0: os._exit(0)
if pid > 0: tell(pid)""",
    "others' namespaces": """\
for kind in os.listdir('/proc/self/ns'):
    refused(kind, 308, os.open('/proc/1/ns/' + kind, 0), 0)""",
    "root": """
for attempt in (os.setuid, os.setgid, os.seteuid, os.setegid):
    done(attempt, lambda: attempt(0))
if 0 in (os.getuid(), os.geteuid(), os.getgid(), *os.getgroups()): tell(os.getgroups())""",
    "another user": """\
for number in (1, 1000, 33):
    done(number, lambda: os.setresuid(number, number, number))
done('groups', lambda: os.setgroups([0]))""",
    "rights": """
for line in open("/proc/self/status"):
    if line.startswith("Cap") and int(line.split()[1], 16) and not line.startswith("CapBnd"): tell(line)
    if line.startswith(("NoNewPrivs:", "Seccomp:")) and line.split()[1] == "0": tell(line)""",
    "rights again": """\
header, data = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)(*[2**32 - 1] * 6)
refused('capset', 126, header, data)""",
    "programs with rights": """
for program in ("su", "sudo", "mount", "passwd", "newgrp", "pkexec", "unshare"):
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        known = {"unshare": ["-r", "id", "-u"], "su": ["-c", "id -u"], "sudo": ["-n", "id", "-u"]}
        arguments = known.get(program, ["--version"])
        run = subprocess.run([program, *arguments], capture_output=True, stdin=-3, timeout=20)
        if run.stdout.strip() == b"0": tell(program)""",
    "larger limits": """
for kind in (resource.RLIMIT_AS, resource.RLIMIT_NPROC, resource.RLIMIT_CPU, resource.RLIMIT_FSIZE):
    soft, hard = resource.getrlimit(kind)
    if hard == resource.RLIM_INFINITY: tell(kind)
    done(kind, lambda: resource.setrlimit(kind, (hard + 1, hard + 1)))""",
    "io_uring": "refused('ring', 425, 8, ctypes.create_string_buffer(120))",
    "bpf": "refused('bpf', 321, 0, ctypes.create_string_buffer(72), 72)",
    "keys": "refused('key', 248, b'user', b'a', b'b', 1, -4)\nrefused('keyring', 250, 0, -3, 1)",
    "perf": "refused('perf', 298, ctypes.create_string_buffer(112), 0, -1, -1, 0)",
    "userfaultfd": "refused('fault', 323, 0)",
    "stores that nobody counts": "for n in (29, 30, 64, 68, 240, 319, 447):\n    refused(n, n, 0, 0, 0, 0)",
    "modules": "for number in (175, 313, 176, 246, 320):\n    refused(number, number, 0, 0, 0)",
    "clock and name": "done('clock', lambda: time.clock_settime(0, 0))\ndone('name', lambda: socket.sethostname('x'))",
    "personality": "refused('personality', 135, 0x0040000)",
    "files by handle": "refused('open', 304, -100, ctypes.create_string_buffer(16), 0)",
    "typing for the grader": """\
import fcntl, termios
for fd in (0, 1, 2):
    done(fd, lambda: fcntl.ioctl(fd, 0x5412, b'x'))""",
    "the old system calls": """
import mmap
child = os.fork()
if child == 0:
    page = mmap.mmap(-1, 4096, prot=7)
    page.write(bytes.fromhex("b81a000000bb00000000cd80c3"))  # ptrace, by the door that filters overlook
    result = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()
    os._exit(7 if result >= 0 else 0)
if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7: tell("it went through")""",
    "outliving the grader": "refused('prctl', 157, 1, 0, 0, 0, 0)",
    "the upper half of an argument": """
upper = 1 << 32
for name, number, arguments in (
    ("end with parent", 157, (1 | upper, 0)), ("hide", 157, (4 | upper, 0)), ("hide", 157, (4, 0)),
    ("type", 16, (0, 0x5412 | upper, b"x")), ("type", 16, (0, 0x541c | upper, b"x")),
    ("internet", 41, (2 | upper, 1, 0)), ("unix and more", 41, (1 | upper, 2, 0)), ("pair", 53, (2 | upper, 1, 0)),
    ("core", 302, (0, 4 | upper, b"\\0" * 16, 0)), ("core", 160, (4 | upper, b"\\0" * 16)),
):
    refused(name, number, *(ctypes.c_ulong(a) if isinstance(a, int) else a for a in arguments))""",
    "the other numbers of the same system calls": """
for number in (157, 41, 101, 272, 319):  # x32: prctl, socket, ptrace, unshare, memfd_create
    pid = os.fork()
    if pid == 0:
        libc.syscall(ctypes.c_long(number | 0x40000000), ctypes.c_ulong(1), 0, 0, 0, 0)
        os._exit(0 if ctypes.get_errno() in (errno.EPERM, errno.ENOSYS) else 7)
    if os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7: tell(number)""",
    "handles sent to the grader": """
import array
for fd in channels():
    end = socket.socket(fileno=os.dup(fd))
    if end.family == socket.AF_UNIX and not end.getsockname():
        some = array.array("i", [os.open("/dev/null", 0) for _ in range(100)])
        end.sendmsg([b""], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, some)])""",
    "where the kernel puts its core dumps": """
if resource.getrlimit(resource.RLIMIT_CORE) != (1, 1): tell(resource.getrlimit(resource.RLIMIT_CORE))
done("less", lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0)))""",
}


@pytest.fixture(scope="module", autouse=True)
def listeners(course: Path) -> Iterator[list[bytes]]:
    """Somebody who listens on every way out of the sandbox that there may be, and writes down who comes."""
    came: list[bytes] = []
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.bind(("127.0.0.1", TCP))
    abstract, named = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
    abstract.bind(f"\0{ABSTRACT}")
    named.bind(str(course.parent / "socket"))
    for server in (abstract, named):
        server.listen()
    everyone = (SERVER, udp, abstract, named)

    def listen(server: socket.socket) -> None:
        try:
            came.append(server.recv(10) if server is udp else repr(server.accept()).encode())
        except OSError:  # closed: the tests are over
            return

    for server in everyone:
        threading.Thread(target=listen, args=(server,), daemon=True).start()
    yield came
    for server in everyone:
        server.close()
    (course.parent / "socket").unlink()
    assert came == []


numbers = pytest.mark.skipif(platform.machine() != "x86_64", reason="system calls have other numbers elsewhere")


@numbers
@pytest.mark.parametrize("attack", [Attack(n, (s,), limits=PATIENT) for n, s in ESCAPES.items()], ids=str)
def test_nothing_gets_out(attack: Attack, course: Path) -> None:
    result = carry_out(attack, course)
    assert not [r for r in result.repairs if "Error" in r or "longer than" in r]


def test_nothing_outlives_the_grader(course: Path) -> None:
    """The zygote is killed while a child works that has shut its ears and made itself children."""
    stubborn = """
for number in range(1, 65):
    with contextlib.suppress(OSError, ValueError):
        signal.signal(number, signal.SIG_IGN)
libc.prctl(1, 0, 0, 0, 0)
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        libc.prctl(1, 0, 0, 0, 0)
        while True: time.sleep(1)
while True: time.sleep(1)
"""
    with at_work(stubborn, course) as zygote:
        wait_until(lambda: len(family(zygote._process.process.pid)) >= 4)
        everyone = family(zygote._process.process.pid)
        zygote._over = True  # or another one is started at once
        zygote._process.process.kill()
        zygote._process.process.wait()
        wait_until(lambda: not any(Path("/proc", pid, "exe").exists() for pid in everyone))
    zygotes._POOL.close()


def test_no_process_is_left_on_this_machine(course: Path) -> None:
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=False).stdout
    assert str(course) not in listed
