"""`cellcheck doctor`: what this machine offers for grading, and what it lacks."""

import os
import platform
import sys
import time
from importlib.metadata import PackageNotFoundError, version

from rich.table import Table

from cellcheck.running.limits import Limits
from cellcheck.running.setting import setting_of
from cellcheck.running.zygotes import borrowed
from cellcheck.sandbox.groups import NoGroups, home
from cellcheck.sandbox.walls import NAMES
from cellcheck.syllabus import usable_lessons

_PACKAGES = ("torch", "nbgrader", "ipython", "safetensors", "landlock", "pyseccomp")


def examine() -> tuple[Table, dict[str, str]]:
    """A table of what was found, and the protections that are missing.

    Raises:
        GraderError: when submissions can't be run here at all.
    """
    usable, needed = usable_lessons()
    start = time.perf_counter()
    with borrowed(setting_of(next(iter(usable)))) as zygote:
        warm = time.perf_counter() - start
        start = time.perf_counter()
        descriptor = zygote.fork(Limits())[1]
        forked = time.perf_counter() - start
        os.close(descriptor)
        zygote.end()
        missing = zygote.missing
    table = Table(box=None, pad_edge=False)
    for column in ("", "", ""):
        table.add_column(column)
    table.add_row("machine", f"{platform.system()} {platform.release()}, {os.cpu_count()} cores", "")
    table.add_row("Python", platform.python_version(), f"as {'root' if _is_root() else 'an ordinary user'}")
    table.add_row("packages", ", ".join(f"{name} {_version(name)}" for name in _PACKAGES), "")
    for package, lessons in needed.items():
        table.add_row(package, "missing", f"needed by {', '.join(lessons)}: pip install {package}")
    table.add_row(
        "speed", f"{warm:.1f} s to get warm, once a core", f"{1000 * forked:.0f} ms for each submission's process"
    )
    table.add_row("limits", *limits_kept())
    for name, gives in NAMES.items():
        table.add_row(name, "missing" if name in missing else "there", missing.get(name, gives))
    return table, missing


def limits_kept() -> tuple[str, str]:
    """How the limits on memory and processor time are kept here, and what that leaves open."""
    try:
        version = home().version
    except NoGroups as reason:
        why = str(reason)
    else:
        return (
            "held by the kernel",
            f"memory and processes of a submission, in a control group (version {version}) that also counts its "
            "processor time",
        )
    if not os.path.exists(f"/proc/self/task/{os.getpid()}/children"):
        return "each process by itself", "this system does not say what all processes of a submission use together"
    return (
        "counted by the grader",
        "four times a second, over all processes of a submission; between two looks it may take more. There are no "
        f"control groups: {why}",
    )


def _is_root() -> bool:
    return sys.platform != "win32" and os.geteuid() == 0


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "missing"
