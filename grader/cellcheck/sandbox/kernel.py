"""The few system calls that Python has no function for. Numbers are those of x86-64 and 64-bit ARM."""

import ctypes
import os
import platform
import signal

NEW_NAMESPACE = {
    "mount": 0x00020000,
    "uts": 0x04000000,
    "ipc": 0x08000000,
    "user": 0x10000000,
    "pid": 0x20000000,
    "net": 0x40000000,
}
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC = 1, 2, 4, 8
MS_BIND, MS_REC, MS_PRIVATE = 1 << 12, 1 << 14, 1 << 18
MNT_DETACH = 2
_AT_RECURSIVE, _AT_FDCWD = 0x8000, -100
_CALLS = {
    "x86_64": {"clone": 56, "pivot_root": 155, "capset": 126, "mount_setattr": 442},
    "aarch64": {"clone": 220, "pivot_root": 41, "capset": 91, "mount_setattr": 442},
}.get(platform.machine(), {})
# Since Linux 5.1 a new call has the same number everywhere. Those that came since, in their order.
_FIRST_RECENT_CALL = 424
_RECENT = """
    pidfd_send_signal io_uring_setup io_uring_enter io_uring_register open_tree move_mount fsopen fsconfig fsmount
    fspick pidfd_open clone3 close_range openat2 pidfd_getfd faccessat2 process_madvise epoll_pwait2 mount_setattr
    quotactl_fd landlock_create_ruleset landlock_add_rule landlock_restrict_self memfd_secret process_mrelease
    futex_waitv set_mempolicy_home_node cachestat fchmodat2 map_shadow_stack futex_wake futex_wait futex_requeue
    statmount listmount lsm_get_self_attr lsm_set_self_attr lsm_list_modules mseal setxattrat getxattrat listxattrat
    removexattrat open_tree_attr file_getattr file_setattr
"""
RECENT_CALLS = {name: number for number, name in enumerate(_RECENT.split(), _FIRST_RECENT_CALL)}
"""The numbers of system calls that an installed libseccomp may be too old to know."""
FIRST_UNKNOWN_CALL = _FIRST_RECENT_CALL + len(RECENT_CALLS)
PR_SET_PDEATHSIG, PR_SET_DUMPABLE = 1, 4
_PR_SET_KEEPCAPS, _PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS = 8, 36, 38
# "May read every file", and "may do everything with every file", which Docker gives to root instead.
_MAY_READ = (1 << 2, 1 << 1)
_LANDLOCK_CREATE_RULESET, _LANDLOCK_RESTRICT_SELF = 444, 446
_SCOPED = 0b11  # abstract sockets, signals

_libc = ctypes.CDLL(None, use_errno=True)
# Keeps Python's lock during the call, as `fork` must.
_libc_holding_the_lock = ctypes.PyDLL(None, use_errno=True)


def unshare(*names: str) -> None:
    """Leaves the namespaces `names` for fresh ones.

    Raises:
        OSError: when the kernel does not allow it.
    """
    _check(_libc.unshare(sum(NEW_NAMESPACE[name] for name in names)), "unshare")


def fork_into(*names: str) -> int:
    """`os.fork`, with the child in fresh namespaces: one call, since a pid namespace begins with a process.

    Raises:
        OSError: when the kernel does not allow it.
    """
    flags = sum(NEW_NAMESPACE[name] for name in names) | signal.SIGCHLD
    ctypes.pythonapi.PyOS_BeforeFork()
    pid = _libc_holding_the_lock.syscall(ctypes.c_long(_CALLS["clone"]), ctypes.c_ulong(flags), None, None, None, None)
    error = ctypes.get_errno()
    if pid == 0:
        ctypes.pythonapi.PyOS_AfterFork_Child()
        return 0
    ctypes.pythonapi.PyOS_AfterFork_Parent()
    if pid < 0:
        raise OSError(error, os.strerror(error), "clone")
    return int(pid)


def mount(source: str, target: str, kind: str = "", flags: int = 0, options: str = "") -> None:
    """mount(2).

    Raises:
        OSError: when the kernel does not allow it.
    """
    arguments = (source.encode(), target.encode(), kind.encode() or None)
    result = _libc.mount(*arguments, ctypes.c_ulong(flags), options.encode() or None)
    _check(result, f"mount {target}")


def unmount(target: str) -> None:
    """Takes a mount away as soon as nobody uses it."""
    _check(_libc.umount2(target.encode(), MNT_DETACH), f"umount {target}")


def make_read_only(target: str) -> None:
    """Makes a mount, and all that is mounted below it, read-only and without set-user-id programs.

    Raises:
        OSError: when the kernel does not allow it.
    """
    _set_attributes(target, MS_RDONLY | MS_NOSUID, 0, _AT_RECURSIVE)


def make_writable(target: str) -> None:
    """Takes `make_read_only` back for one mount.

    Raises:
        OSError: when the kernel does not allow it.
    """
    _set_attributes(target, 0, MS_RDONLY, 0)


def _set_attributes(target: str, on: int, off: int, flags: int) -> None:

    class Attributes(ctypes.Structure):
        _fields_ = [(name, ctypes.c_uint64) for name in ("set", "clear", "propagation", "userns_fd")]

    attributes = Attributes(on, off, 0, 0)
    result = _libc.syscall(
        ctypes.c_long(_CALLS["mount_setattr"]),
        _AT_FDCWD,
        target.encode(),
        flags,
        ctypes.byref(attributes),
        ctypes.c_size_t(ctypes.sizeof(attributes)),
    )
    _check(result, f"mount_setattr {target}")


def pivot_root(new: str, old: str) -> None:
    """Makes `new` the root, and puts the old root at `old`."""
    _check(_libc.syscall(ctypes.c_long(_CALLS["pivot_root"]), new.encode(), old.encode()), "pivot_root")


def drop_capabilities(but: int = 0) -> None:
    """Gives up every capability, also those in a user namespace of one's own, except for those in the mask `but`.

    Raises:
        OSError: when this process does not have what it wants to keep.
    """
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)  # _LINUX_CAPABILITY_VERSION_3, this process
    sets = (ctypes.c_uint32 * 6)(but, but, 0)  # effective, permitted, inheritable; then those above 32
    _check(_libc.syscall(ctypes.c_long(_CALLS["capset"]), ctypes.byref(header), ctypes.byref(sets)), "capset")


def keep_capabilities() -> None:
    """The next change of user leaves this process its capabilities."""
    _prctl(_PR_SET_KEEPCAPS, 1)


def may_read_all() -> int:
    """Gives up every capability but that to read every file; returns the mask of what was kept.

    Raises:
        OSError: when this process may not.
    """
    for mask in _MAY_READ:
        try:
            drop_capabilities(but=mask)
            return mask
        except OSError as error:
            refused = error
    raise refused


def leave_others_alone() -> None:
    """With Landlock 6: no abstract sockets and no signals of processes that are not this one or its children.

    Raises:
        OSError: when the kernel does not allow it.
    """
    attributes = (ctypes.c_uint64 * 3)(0, 0, _SCOPED)  # of files and ports nothing is asked here
    size = ctypes.c_size_t(ctypes.sizeof(attributes))
    rules = _libc.syscall(ctypes.c_long(_LANDLOCK_CREATE_RULESET), ctypes.byref(attributes), size, 0)
    _check(min(rules, 0), "landlock_create_ruleset")
    try:
        _check(_libc.syscall(ctypes.c_long(_LANDLOCK_RESTRICT_SELF), rules, 0), "landlock_restrict_self")
    finally:
        os.close(rules)


def no_new_privileges() -> None:
    """From now on no program can raise this process's rights; Landlock and seccomp ask for it."""
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)


def end_with_parent() -> None:
    """This process is killed when its parent ends, whatever it is doing."""
    _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def own_handle() -> int:
    """A pidfd of this process, which tells whoever has it when the process ends; -1 where the kernel has none."""
    try:
        return os.pidfd_open(os.getpid())
    except (AttributeError, OSError):  # not Linux; or an old one, or what only looks like one
        return -1


def adopt_orphans() -> None:
    """What a child of this process leaves behind when it ends becomes a child of this process."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def end_children() -> None:
    """Kills all children of this process, and theirs if it adopts orphans, and waits for them."""
    children = f"/proc/self/task/{os.getpid()}/children"
    while os.path.exists(children):
        with open(children, encoding="ascii") as file:
            for pid in file.read().split():
                os.kill(int(pid), signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def own_proc_files() -> None:
    """After a change of user the kernel keeps a process's files in /proc from it; this gives them back."""
    _prctl(PR_SET_DUMPABLE, 1)


def _prctl(option: int, value: int) -> None:
    _check(_libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0), "prctl")


def _check(result: int, what: str) -> None:
    if result != 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error), what)
