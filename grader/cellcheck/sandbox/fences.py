"""What a process may still do once somebody else's code runs in it: files, system calls, and how much of everything."""

import contextlib
import ctypes
import errno
import glob
import os
import resource
import signal
import sys
from collections.abc import Sequence
from typing import Any

from cellcheck.sandbox import kernel

# No work of a lesson needs one of these.
_FORBIDDEN = """
    ptrace process_vm_readv process_vm_writev kcmp pidfd_getfd process_madvise process_mrelease mount umount umount2
    pivot_root chroot fsopen fsconfig fsmount fspick move_mount open_tree open_tree_attr mount_setattr statmount
    listmount unshare setns bpf perf_event_open userfaultfd io_uring_setup io_uring_enter io_uring_register keyctl
    add_key request_key init_module finit_module delete_module create_module query_module kexec_load kexec_file_load
    reboot swapon swapoff open_by_handle_at name_to_handle_at quotactl quotactl_fd acct settimeofday clock_settime
    clock_adjtime adjtimex sethostname setdomainname syslog personality iopl ioperm modify_ldt vm86 vm86old uselib
    sysfs _sysctl lookup_dcookie fanotify_init fanotify_mark vhangup nfsservctl setuid setgid setreuid setregid
    setresuid setresgid setgroups setfsuid setfsgid capset mknod mknodat landlock_create_ruleset
    migrate_pages move_pages lsm_set_self_attr
"""
# What tells of the others who use a file: who reads it, and which parts of it are in memory.
_FORBIDDEN_WATCHES = "inotify_init inotify_init1 inotify_add_watch cachestat"
# Memory that is in no process's count, and what outlives the process that made it.
_FORBIDDEN_STORES = """
    memfd_create memfd_secret shmget shmat shmctl msgget msgsnd msgrcv msgctl semget semop semtimedop semctl ipc
    mq_open mq_unlink
"""
# Where other processes are in sight: what reaches into them. Raising a signal in oneself is lost with it, and so is
# a socket with a name: a pair of nameless ones is all that asyncio needs.
_FORBIDDEN_AMONG_OTHERS = """
    kill tkill tgkill rt_sigqueueinfo rt_tgsigqueueinfo pidfd_send_signal setpriority ioprio_set sched_setaffinity
    sched_setscheduler sched_setparam sched_setattr socket bind connect listen accept accept4
"""
# Landlock has no say in what belongs to a file beside its content, and a learner's process may have its owner's
# account. Whoever copies or unpacks files sets these too, and would fail for it: such calls do nothing, and say that
# all is well. By descriptors as well: Python's own files can be opened.
_IDLE_AMONG_OTHERS = """
    chmod fchmod fchmodat fchmodat2 chown fchown lchown fchownat utime utimes futimesat utimensat
"""
# The same of what a file system need not have, and says so. Libraries know that case.
_UNSUPPORTED_AMONG_OTHERS = """
    setxattr lsetxattr fsetxattr setxattrat getxattr lgetxattr fgetxattr getxattrat listxattr llistxattr flistxattr
    listxattrat removexattr lremovexattr fremovexattr removexattrat file_getattr file_setattr
"""
# The kernel looks at the lower half of most arguments only, and so must we, wherever a rule names a value that it
# refuses. Where a rule names the one value that it allows, the whole of the argument is compared.
_LOWER_HALF = 0xFFFFFFFF
_FORBIDDEN_VALUES = (
    # Whoever took this back would live on when the grader is killed; whoever hides its /proc files is not counted.
    ("prctl", 0, _LOWER_HALF, kernel.PR_SET_PDEATHSIG),
    ("prctl", 0, _LOWER_HALF, kernel.PR_SET_DUMPABLE),
    ("ioctl", 1, _LOWER_HALF, 0x5412),  # TIOCSTI and TIOCLINUX: typing into the terminal that started the grader
    ("ioctl", 1, _LOWER_HALF, 0x541C),
    ("setrlimit", 0, _LOWER_HALF, resource.RLIMIT_CORE),
    ("mmap", 3, 0x40000, 0x40000),  # MAP_HUGETLB: such pages are in no process's count
    # F_SETLEASE and F_NOTIFY, which stop and tell of others who open a file; F_SET_RW_HINT and F_SET_FILE_RW_HINT,
    # which leave a note on it.
    *(("fcntl", 1, _LOWER_HALF, command) for command in (1024, 1026, 1036, 1038)),
)
_FORBIDDEN_VALUES_AMONG_OTHERS = (
    # A signal of one's choice to a process of one's choice whenever a pipe is written to: F_SETOWN, F_SETSIG,
    # F_SETOWN_EX, FIOSETOWN, SIOCSPGRP.
    ("fcntl", 1, _LOWER_HALF, 8),
    ("fcntl", 1, _LOWER_HALF, 10),
    ("fcntl", 1, _LOWER_HALF, 15),
    ("ioctl", 1, _LOWER_HALF, 0x8901),
    ("ioctl", 1, _LOWER_HALF, 0x8902),
    # Of pairs of sockets those that stay a pair (SOCK_STREAM): an end of another kind could send to somebody else.
    *(("socketpair", 1, 0xF, kind) for kind in range(16) if kind != 1),
    # Landlock lets through who opens a file neither for reading nor for writing (3), and seals, say, what comes of it.
    ("open", 1, os.O_ACCMODE, os.O_ACCMODE),
    ("openat", 2, os.O_ACCMODE, os.O_ACCMODE),
)
# Every command for file systems, by its letter: attributes, seals, encryption, snapshots.
_FILE_SYSTEM_COMMANDS = tuple(("ioctl", 1, 0xFF00, letter << 8) for letter in (*b"fXvr", 0x94, 0xBC, 0xF5))
# Landlock before version 3 does not know what it is to truncate a file.
_TRUNCATING = ("truncate",)
_TRUNCATING_VALUES = (
    ("open", 1, os.O_ACCMODE | os.O_TRUNC, os.O_TRUNC),
    ("openat", 2, os.O_ACCMODE | os.O_TRUNC, os.O_TRUNC),
)
_NAMESPACES = 0x7E020000  # every CLONE_NEW... flag
_LANDLOCK_TRUNCATES = 3  # the version that can refuse it
# What nobody here has heard of does not exist. A kernel gets some five new calls a year.
_LAST_CALL = kernel.FIRST_UNKNOWN_CALL + 130


def landlock_version() -> int:
    """The version of the kernel's Landlock; 0 where there is none."""
    try:
        from landlock import landlock_abi_version

        ctypes.set_errno(0)
        return int(landlock_abi_version())
    except (ImportError, OSError):
        return 0


def file_rules(readable: Sequence[str], writable: Sequence[str], listable: str | None = None) -> Any:
    """Landlock: below `readable` files may be read and run, below `writable` all may be done, elsewhere nothing.

    Below `listable` the names of files may be read, and no more. Nothing happens until `apply_file_rules`.

    Raises:
        OSError: when the kernel does not allow it.
    """
    from landlock import Ruleset

    ctypes.set_errno(0)  # the library takes an old error for one of its own
    rules = Ruleset()
    allow(rules, readable, writable)
    if listable is not None:
        from landlock import FSAccess

        rules.allow(listable, rules=FSAccess.READ_DIR)
    return rules


def allow(rules: Any, readable: Sequence[str], writable: Sequence[str] = ()) -> None:
    """Adds to what `file_rules` made. What is not there is left out."""
    from landlock import FSAccess

    ctypes.set_errno(0)
    reading = FSAccess.EXECUTE | FSAccess.READ_FILE | FSAccess.READ_DIR
    for path in readable:
        if os.path.exists(path):
            rules.allow(path, rules=reading if os.path.isdir(path) else FSAccess.EXECUTE | FSAccess.READ_FILE)
    for path in writable:
        if os.path.exists(path):
            devices = FSAccess.MAKE_CHAR | FSAccess.MAKE_BLOCK
            rules.allow(path, rules=FSAccess.all() & ~devices if os.path.isdir(path) else FSAccess.all_file())


def apply_file_rules(rules: Any) -> None:
    """From now on this process is held to the rules.

    Raises:
        OSError: when the kernel does not allow it.
    """
    ctypes.set_errno(0)
    rules.apply()
    os.close(rules._fd)


def seccomp_missing() -> str:
    """Why system calls can't be filtered here; empty when they can."""
    try:
        import pyseccomp  # noqa: F401
    except ImportError:
        return "the Python package pyseccomp is missing"
    except (RuntimeError, OSError, AttributeError):
        return "the library libseccomp is missing"
    return ""


def refused_calls(alone: bool) -> dict[str, int]:
    """The system calls that are refused whatever their arguments, and the error that each fails with; 0 is none."""
    calls = dict.fromkeys((_FORBIDDEN + _FORBIDDEN_STORES + _FORBIDDEN_WATCHES).split(), errno.EPERM)
    # The flags of clone3 can't be seen from here; the C library falls back to clone when it is "not implemented".
    calls["clone3"] = errno.ENOSYS
    if not alone:
        calls |= dict.fromkeys(_FORBIDDEN_AMONG_OTHERS.split(), errno.EPERM)
        calls |= dict.fromkeys(_IDLE_AMONG_OTHERS.split(), 0)
        calls |= dict.fromkeys(_UNSUPPORTED_AMONG_OTHERS.split(), errno.ENOTSUP)
        calls["openat2"] = errno.ENOSYS  # nor can its flags; whoever needs it has openat
        if landlock_version() < _LANDLOCK_TRUNCATES:
            calls |= dict.fromkeys(_TRUNCATING, errno.EPERM)
    return calls


def number_of(call: str) -> int | None:
    """The number of a system call here; None if it is one of another kind of processor.

    Raises:
        LookupError: when nobody knows the name.
    """
    import pyseccomp as seccomp

    number = int(seccomp.resolve_syscall(seccomp.Arch.NATIVE, call))
    if number >= 0:
        return number
    if number < -1:  # how the library names what only others have
        return None
    return kernel.RECENT_CALLS[call]  # newer than the library


def system_call_filter(alone: bool) -> tuple[Any, list[str]]:
    """A seccomp filter: no tracing, mounting, new namespaces, change of user; no sockets but local ones.

    For a process that is not `alone` in its namespace: no signals, no sockets with a name, and no change to a file but
    to its content. Nothing happens until its `load()` is called, which can't be undone.

    Returns the filter, and the system calls that should be refused, but that the installed libseccomp can't filter.
    """
    import pyseccomp as seccomp

    filters = seccomp.SyscallFilter(seccomp.ALLOW)  # calls of another architecture end the process
    missing: dict[str, None] = {}

    def answer(error: int, name: str, *arguments: Any) -> None:
        try:
            number = number_of(name)
            if number is not None:
                filters.add_rule(seccomp.ERRNO(error), number, *arguments)
        except (LookupError, OSError):
            missing[name] = None

    def refuse(name: str, *arguments: Any) -> None:
        answer(errno.EPERM, name, *arguments)

    for name, error in refused_calls(alone).items():
        answer(error, name)
    for number in range(kernel.FIRST_UNKNOWN_CALL, _LAST_CALL + 1):
        filters.add_rule(seccomp.ERRNO(errno.ENOSYS), number)
    values = _FORBIDDEN_VALUES
    if not alone:
        values += _FORBIDDEN_VALUES_AMONG_OTHERS
        if landlock_version() < _LANDLOCK_TRUNCATES:
            values += _TRUNCATING_VALUES
        for name, place, mask, value in _FILE_SYSTEM_COMMANDS:
            answer(errno.ENOTSUP, name, seccomp.Arg(place, seccomp.MASKED_EQ, mask, value))
    for name, place, mask, value in values:
        refuse(name, seccomp.Arg(place, seccomp.MASKED_EQ, mask, value))
    # Whoever ignores that its children end gets them off its account. Nobody learns of it any more by a signal, but
    # nobody minds: torch's data loaders, which ask for that signal, find out anyway.
    answer(
        0, "rt_sigaction", seccomp.Arg(0, seccomp.MASKED_EQ, _LOWER_HALF, signal.SIGCHLD), seccomp.Arg(1, seccomp.NE, 0)
    )
    # A limit of 0 bytes for a core dump would let it through to a program that collects them; see `limit`.
    refuse(
        "prlimit64", seccomp.Arg(1, seccomp.MASKED_EQ, _LOWER_HALF, resource.RLIMIT_CORE), seccomp.Arg(2, seccomp.NE, 0)
    )
    for bit in range(64):
        if _NAMESPACES & (1 << bit):
            refuse("clone", seccomp.Arg(0, seccomp.MASKED_EQ, 1 << bit, 1 << bit))
    # Sockets of the family "unix" (1) only.
    for name in ("socket", "socketpair") if alone else ("socketpair",):
        refuse(name, seccomp.Arg(0, seccomp.NE, 1))
    if not alone:  # its own limits, called 0, and nobody else's
        refuse("prlimit64", seccomp.Arg(0, seccomp.NE, 0))
    return filters, list(missing)


def limit(memory_bytes: int, file_bytes: int, cpu_seconds: float, processes: int, open_files: int = 256) -> None:
    """What this process may use from now on. Memory is counted on top of what it has already.

    The kernel counts the `processes` of the account, those of other programs included.
    """
    address_space = _address_space() + memory_bytes
    for kind, most in (
        ("AS", address_space),
        ("FSIZE", file_bytes),
        ("CPU", int(cpu_seconds) + 1),
        ("NPROC", processes),
        ("NOFILE", open_files),
        ("CORE", 1),  # not 0: with 1 only, the kernel starts no program that collects core dumps
        ("MSGQUEUE", 0),
        ("MEMLOCK", 0),
    ):
        name = getattr(resource, f"RLIMIT_{kind}", None)
        if name is None:
            continue
        hardest = resource.getrlimit(name)[1]
        most = most if hardest == resource.RLIM_INFINITY else min(most, hardest)
        with contextlib.suppress(ValueError, OSError):  # macOS refuses some
            resource.setrlimit(name, (most, most))


def processes_of_mine() -> int:
    """How many processes and threads this account has now."""
    count = 0
    for path in glob.glob("/proc/[0-9]*"):
        with contextlib.suppress(OSError):
            if os.stat(path).st_uid == os.getuid():
                count += len(os.listdir(f"{path}/task"))
    return count


def be_the_first_to_go() -> None:
    """Where all processes together eat the machine's memory, the kernel ends this one and its children first."""
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
        file.write("1000")


def _address_space() -> int:
    """Bytes of address space in use."""
    if sys.platform != "linux":
        return 0
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[0]) * resource.getpagesize()
