"""Which files a learner's process may see: Python and the system's libraries, and nothing of the course."""

import contextlib
import glob
import os
import site
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

# Not /usr as a whole: a container's course often stands in /usr/src, or in a folder of its own below /usr.
_USR = ("lib", "lib32", "lib64", "libx32", "libexec", "include", "share")
_SYSTEM = (
    *(f"/usr/{name}" for name in (*_USR, "bin", "sbin")),
    *(f"/usr/local/{name}" for name in _USR),  # not its programs: administrators' scripts know passwords
    *("/lib", "/lib32", "/lib64", "/libx32", "/bin", "/sbin", "/opt/rocm", "/opt/intel", "/nix/store", "/gnu/store"),
)
# Not all of etc: Jupyter and nbgrader look there for settings, and these know passwords.
_PYTHON = ("bin", "lib", "lib64", "include", "share", "etc/fonts", "ssl", "pyvenv.cfg")
# Of what is shared: kernels, whose environment is written down with them; and where nbgrader hands work out and in.
_PRIVATE = ("share/jupyter", "share/jupyterhub", "share/nbgrader")
_SETTINGS = ("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "fonts", "localtime", "mime.types")
_MAX_LINKS = 40  # the kernel follows no more either
DEVICES = ("null", "zero", "full", "random", "urandom")


class CannotHide(Exception):
    """What must be hidden can't be; the text is a sentence for the person who grades."""


class Sight:
    """What is shown, and what is hidden in it.

    `needed` are paths that have a link in their last step only, if at all; `hidden` have none, outer folders first.
    """

    def __init__(self, hidden: Iterable[str | Path]) -> None:
        """Finds out what this Python needs.

        Raises:
            CannotHide: when one of the folders `hidden` is one that Python needs as a whole.
        """
        self.needed = sorted({step for path in _candidates() if os.path.lexists(path) for step in _direct(path)})
        self._asked = {os.path.realpath(path) for path in hidden}
        self.hidden = sorted(self._asked | {os.path.realpath(path) for path in _private()})
        whole = {path for path in self.needed if not os.path.islink(path)}
        for path in self.hidden:
            if path in whole:
                raise CannotHide(
                    f"{path} can't be hidden from the learners' code, since Python needs it. Move what you "
                    "grade to a folder of its own, and run the grader from there."
                )

    def shown(self, below: str = "/") -> list[str]:
        """What is shown below a folder: each path once, and none below another.

        Of a hidden folder too: somebody's environment may stand beside their gradebook.
        """
        paths: list[str] = []
        for path in self.needed:
            if is_below(path, below) and not any(is_below(path, other) for other in paths):
                paths.append(path)
        return paths

    def covered(self) -> list[str]:
        """What of the hidden would be in sight if it were not hidden."""
        shown = self.shown()
        return [path for path in self.hidden if any(is_below(path, folder) for folder in shown)]

    def matters(self) -> list[str]:
        """What it makes a difference to have asked for: some of the hidden is so for everybody."""
        return [path for path in self.covered() if path in self._asked]

    def without_hidden(self) -> list[str]:
        """What may be read, for a fence that can only allow: around what is hidden, folder by folder."""
        return sorted({part for path in self.needed for part in _around(path, self.hidden)})


def _around(path: str, hidden: list[str]) -> Iterator[str]:
    inside = [other for other in hidden if other == path or is_below(other, path)]
    if os.path.islink(path):  # where it leads to is shown, or it is not
        return
    if not inside:
        yield path
    elif path not in inside:
        with contextlib.suppress(PermissionError):
            for name in os.listdir(path):
                yield from _around(os.path.join(path, name), inside)


def _candidates() -> Iterator[str]:
    yield from _SYSTEM
    yield from glob.glob("/usr/local/cuda*")
    yield from (f"/etc/{name}" for name in _SETTINGS)
    yield from (f"/dev/{name}" for name in DEVICES)
    # Not the whole of its folders: an environment may be made in the very folder that holds the gradebook.
    for home in _homes():
        yield from (f"{home}/{name}" for name in _PYTHON)
    yield from (str(Path(os.__file__).parent), *site.getsitepackages())
    yield str(Path(sys.executable).resolve().parent)
    if site.ENABLE_USER_SITE:
        yield site.getusersitepackages()


def _homes() -> set[str]:
    """Where this Python is installed."""
    return {sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix}


def _private() -> Iterator[str]:
    for home in {"/usr", "/usr/local"} | _homes():
        yield from (path for name in _PRIVATE if os.path.exists(path := f"{home}/{name}"))


def _direct(path: str) -> Iterator[str]:
    """The path with no link on the way to its last step, and each link that was on the way."""
    folder, name = os.path.split(os.path.normpath(path))
    step, ahead, followed = "/", folder.split("/"), 0
    while ahead:
        part = ahead.pop(0)
        if part == "..":
            step = os.path.dirname(step)
        elif os.path.islink(link := os.path.join(step, part)) and followed < _MAX_LINKS:
            yield link
            followed += 1
            target = os.readlink(link)
            step = "/" if os.path.isabs(target) else step
            ahead = [*target.split("/"), *ahead]
        elif part not in ("", "."):
            step = link
    yield os.path.join(step, name)


def is_below(path: str, folder: str) -> bool:
    """Whether a path is inside a folder."""
    return path.startswith(folder.rstrip("/") + "/")
