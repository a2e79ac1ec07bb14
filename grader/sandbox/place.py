"""The world as the learner's process sees it: a root folder of its own with Python and system libraries, read-only.

Nothing else is there: no home, no course folder, no gradebook, no submissions, no solutions. The zygote enters it once;
each child gets a fresh /tmp and a fresh /proc on top.
"""

from __future__ import annotations

import os
import site
import sys
from collections.abc import Iterable
from pathlib import Path

from grader.sandbox import kernel

NOBODY = 65534
_SYSTEM = ("/usr", "/lib", "/lib32", "/lib64", "/libx32", "/bin", "/sbin", "/opt/rocm", "/opt/intel")
_PYTHON = ("bin", "lib", "lib64", "include", "share", "etc", "ssl", "pyvenv.cfg")
_SETTINGS = ("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "fonts", "localtime", "mime.types")
_DEVICES = ("null", "zero", "full", "random", "urandom")
_FRESH = ("/tmp", "/dev/shm")  # each child gets its own
_OLD, _NEW, _KEPT = "/old", "/new", "/kept"


def enter(hidden: Iterable[Path]) -> list[str]:
    """Moves this process into the small root; the folders `hidden` are empty there, even inside what is shown.

    Needs a mount namespace of its own and the right to mount in it. Returns what `fresh_folders` would cover: paths of
    a Python that was installed below /tmp.

    Raises:
        OSError: when the kernel does not allow it.
    """
    shown = _shown()
    kernel.mount("none", "/", flags=kernel.MS_REC | kernel.MS_PRIVATE)
    base = "/tmp"  # any folder will do: what it holds stays reachable below /old
    kernel.mount("tmpfs", base, "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, "mode=755,size=1m")
    os.mkdir(base + _OLD)
    os.mkdir(base + _NEW)
    kernel.pivot_root(base, base + _OLD)
    os.chdir("/")
    for path in shown:
        _show(_OLD + path, _NEW + path)
    for folder in hidden:
        if os.path.isdir(_NEW + str(folder)):
            kernel.mount("tmpfs", _NEW + str(folder), "tmpfs", kernel.MS_RDONLY | kernel.MS_NODEV, "mode=755,size=4k")
    for name in (*_FRESH, "/proc"):
        os.makedirs(_NEW + name, exist_ok=True)
    covered = sorted({_top(path) for path in shown if _top(path)})
    for path in covered:
        _show(_NEW + path, _NEW + _KEPT + path)
    # The zygote's own view of processes, until a child covers it: the kernel gives a new /proc only beside an old one.
    kernel.mount(f"{_OLD}/proc", f"{_NEW}/proc", flags=kernel.MS_BIND | kernel.MS_REC)
    _write(f"{_NEW}/etc/passwd", f"learner:x:{os.getuid()}:{os.getgid()}::/tmp:/bin/sh\n")
    kernel.mount(_NEW, _NEW, flags=kernel.MS_BIND | kernel.MS_REC)
    os.chdir(_NEW)
    kernel.pivot_root(".", ".")
    kernel.unmount(".")
    os.chdir("/")
    kernel.make_read_only("/")
    kernel.make_writable("/proc")  # a new user namespace is told there whose it is
    return covered


def fresh_folders(size: int, covered: Iterable[str]) -> None:
    """A /tmp and /dev/shm of at most `size` bytes, and a /proc that shows this process's own namespace only.

    They are empty, but for what `enter` said that they would cover.
    """
    flags = kernel.MS_NOSUID | kernel.MS_NODEV
    for folder in _FRESH:
        kernel.mount("tmpfs", folder, "tmpfs", flags, f"mode=700,size={size},nr_inodes=10000")
    for path in covered:
        _show(_KEPT + path, path)
    kernel.mount("proc", "/proc", "proc", flags | kernel.MS_NOEXEC)


def _top(path: str) -> str:
    """Of a path in a fresh folder, that folder and the first step below it; empty for other paths."""
    folder = next((folder for folder in _FRESH if path.startswith(f"{folder}/")), None)
    return f"{folder}/{path[len(folder) + 1 :].split('/')[0]}" if folder else ""


def _shown() -> list[str]:
    """What the small root shows: each path once, and none below another."""
    # Not the whole of its folders: somebody's environment is made in the very folder that holds the gradebook.
    homes = {sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix}
    python = {f"{home}/{name}" for home in homes for name in _PYTHON}
    python.add(str(Path(sys.executable).resolve().parent))
    if site.ENABLE_USER_SITE:
        python.add(site.getusersitepackages())
    candidates = [*_SYSTEM, *(f"/etc/{name}" for name in _SETTINGS), *(f"/dev/{name}" for name in _DEVICES), *python]
    found: list[str] = []
    for path in sorted(candidates):
        inside = any(path == other or path.startswith(other + "/") for other in found if not os.path.islink(other))
        if os.path.lexists(path) and not inside:
            found.append(path)
    return found


def _show(source: str, target: str) -> None:
    os.makedirs(os.path.dirname(target), exist_ok=True)
    if os.path.islink(source):
        os.symlink(os.readlink(source), target)
    elif os.path.isdir(source):
        os.makedirs(target, exist_ok=True)
        kernel.mount(source, target, flags=kernel.MS_BIND | kernel.MS_REC)
    else:
        _write(target, "")
        kernel.mount(source, target, flags=kernel.MS_BIND)


def _write(path: str, text: str) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
