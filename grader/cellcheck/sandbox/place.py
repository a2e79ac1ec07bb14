"""The world as the learner's process sees it: a root folder of its own with Python and system libraries, read-only.

Nothing else is there: no home, no course folder, no gradebook, no submissions, no solutions. The zygote enters it once;
each child gets a fresh /tmp and a fresh /proc on top.
"""

import os
from collections.abc import Iterable

from cellcheck.sandbox import kernel
from cellcheck.sandbox.sight import Sight

NOBODY = 65534
FRESH = ("/tmp", "/dev/shm")  # each child gets its own
_OLD, _NEW, _KEPT = "/old", "/new", "/kept"


def enter(sight: Sight) -> list[str]:
    """Moves this process into the small root. What is hidden is empty there, even inside what is shown.

    Needs a mount namespace of its own and the right to mount in it. Returns what `fresh_folders` would cover: paths of
    a Python that was installed below /tmp.

    Raises:
        OSError: when the kernel does not allow it.
    """
    shown = sight.shown()
    kernel.mount("none", "/", flags=kernel.MS_REC | kernel.MS_PRIVATE)
    base = "/tmp"  # any folder will do: what it holds stays reachable below /old
    kernel.mount("tmpfs", base, "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, "mode=755,size=1m")
    os.mkdir(base + _OLD)
    os.mkdir(base + _NEW)
    kernel.pivot_root(base, base + _OLD)
    os.chdir("/")
    for path in shown:
        _show(_OLD + path, _NEW + path)
    for path in sight.covered():
        if os.path.isdir(_NEW + path):
            kernel.mount("tmpfs", _NEW + path, "tmpfs", kernel.MS_NODEV, "mode=755,size=64k")
            for needed in sight.shown(below=path):
                _show(_OLD + needed, _NEW + needed)
        elif os.path.exists(_NEW + path):
            kernel.mount(f"{_OLD}/dev/null", _NEW + path, flags=kernel.MS_BIND)
    for name in (*FRESH, "/proc"):
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
    for folder in FRESH:
        kernel.mount("tmpfs", folder, "tmpfs", flags, f"mode=700,size={size},nr_inodes=10000")
    for path in covered:
        _show(_KEPT + path, path)
    kernel.mount("proc", "/proc", "proc", flags | kernel.MS_NOEXEC)


def _top(path: str) -> str:
    """Of a path in a fresh folder, that folder and the first step below it; empty for other paths."""
    folder = next((folder for folder in FRESH if path.startswith(f"{folder}/")), None)
    return f"{folder}/{path[len(folder) + 1 :].split('/')[0]}" if folder else ""


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
