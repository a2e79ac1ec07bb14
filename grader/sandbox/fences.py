"""What a process may still do once somebody else's code runs in it: files, system calls, and how much of everything."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import resource
import sys
from collections.abc import Sequence
from typing import Any

from grader.sandbox import kernel

# No work of a lesson needs one of these. What is missing on a machine's kernel is left out.
_FORBIDDEN = """
    ptrace process_vm_readv process_vm_writev kcmp pidfd_getfd process_madvise mount umount umount2 pivot_root
    chroot fsopen fsconfig fsmount fspick move_mount open_tree mount_setattr unshare setns bpf perf_event_open
    userfaultfd io_uring_setup io_uring_enter io_uring_register keyctl add_key request_key init_module
    finit_module delete_module kexec_load kexec_file_load reboot swapon swapoff open_by_handle_at
    name_to_handle_at quotactl acct settimeofday clock_settime clock_adjtime adjtimex sethostname setdomainname
    syslog personality iopl ioperm modify_ldt lookup_dcookie fanotify_init vhangup nfsservctl setuid setgid
    setreuid setregid setresuid setresgid setgroups setfsuid setfsgid capset mknod mknodat landlock_create_ruleset
    memfd_secret
"""
# Where other processes are in sight: what reaches into them. Raising a signal in oneself is lost with it.
_FORBIDDEN_AMONG_OTHERS = """
    kill tkill tgkill rt_sigqueueinfo rt_tgsigqueueinfo pidfd_send_signal setpriority ioprio_set sched_setaffinity
    sched_setscheduler sched_setparam sched_setattr
"""
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C
_NAMESPACES = 0x7E020000  # every CLONE_NEW... flag


def landlock_version() -> int:
    """The version of the kernel's Landlock; 0 where there is none."""
    try:
        from landlock import landlock_abi_version

        ctypes.set_errno(0)
        return int(landlock_abi_version())
    except (ImportError, OSError):
        return 0


def restrict_files(readable: Sequence[str], writable: Sequence[str], listable: str | None = None) -> None:
    """With Landlock: below `readable` files may be read and run, below `writable` all may be done, elsewhere nothing.

    Below `listable` the names of files may be read, and no more.

    Raises:
        OSError: when the kernel does not allow it.
    """
    from landlock import FSAccess, Ruleset

    ctypes.set_errno(0)  # the library takes an old error for one of its own
    rules = Ruleset()
    reading = FSAccess.EXECUTE | FSAccess.READ_FILE | FSAccess.READ_DIR
    for path in readable:
        if os.path.exists(path):
            rules.allow(path, rules=reading if os.path.isdir(path) else FSAccess.EXECUTE | FSAccess.READ_FILE)
    if listable is not None:
        rules.allow(listable, rules=FSAccess.READ_DIR)
    for path in writable:
        if os.path.exists(path):
            devices = FSAccess.MAKE_CHAR | FSAccess.MAKE_BLOCK
            rules.allow(path, rules=FSAccess.all() & ~devices if os.path.isdir(path) else FSAccess.all_file())
    rules.apply()


def seccomp_missing() -> str:
    """Why system calls can't be filtered here; empty when they can."""
    try:
        import pyseccomp  # noqa: F401
    except ImportError:
        return "the Python package pyseccomp is missing"
    except (RuntimeError, OSError, AttributeError):
        return "the library libseccomp is missing"
    return ""


def system_call_filter(alone: bool) -> Any:
    """A seccomp filter: no tracing, mounting, new namespaces, change of user; no sockets but local ones.

    For a process that is not `alone` in its namespace: no signals either. Such calls fail with EPERM. Nothing happens
    until its `load()` is called, which can't be undone.

    Raises:
        OSError: when the library does not allow it.
    """
    import pyseccomp as seccomp

    refuse = seccomp.ERRNO(errno.EPERM)
    filters = seccomp.SyscallFilter(seccomp.ALLOW)
    forbidden = _FORBIDDEN + ("" if alone else _FORBIDDEN_AMONG_OTHERS)
    for name in forbidden.split():
        with contextlib.suppress(ValueError, OSError):  # a call that this machine's kernel does not have
            filters.add_rule(refuse, name)
    # The flags of clone3 can't be seen from here; the C library falls back to clone when it is "not implemented".
    filters.add_rule(seccomp.ERRNO(errno.ENOSYS), "clone3")
    for bit in range(64):
        if _NAMESPACES & (1 << bit):
            filters.add_rule(refuse, "clone", seccomp.Arg(0, seccomp.MASKED_EQ, 1 << bit, 1 << bit))
    # Sockets of the family "unix" (1) only.
    filters.add_rule(refuse, "socket", seccomp.Arg(0, seccomp.NE, 1))
    # Whoever took this back would live on when the grader is killed.
    filters.add_rule(refuse, "prctl", seccomp.Arg(0, seccomp.EQ, kernel.PR_SET_PDEATHSIG))
    if not alone:  # its own limits, called 0, and nobody else's
        filters.add_rule(refuse, "prlimit64", seccomp.Arg(0, seccomp.NE, 0))
    for request in (_TIOCSTI, _TIOCLINUX):  # typing into the terminal that started the grader
        filters.add_rule(refuse, "ioctl", seccomp.Arg(1, seccomp.MASKED_EQ, 0xFFFFFFFF, request))
    return filters


def limit(memory_bytes: int, file_bytes: int, cpu_seconds: float, processes: int, open_files: int = 256) -> None:
    """What this process may use from now on. Memory is counted on top of what it has already."""
    address_space = _address_space() + memory_bytes
    for kind, most in (
        ("AS", address_space),
        ("FSIZE", file_bytes),
        ("CPU", int(cpu_seconds) + 1),
        ("NPROC", processes),
        ("NOFILE", open_files),
        ("CORE", 0),
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
