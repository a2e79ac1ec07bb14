"""Runs a few lines of Python behind the walls, as a learner's process would; prints what it says as JSON.

    python walled.py ROOT-OR-USER LACKING SOURCE

LACKING names what this machine is to lack: "namespaces", "landlock", "seccomp", or nothing; "landlock 3", which knows
what it is to truncate a file; "names", which a library for seccomp must know; "news", the latest calls on our own list.
The lines find `told`, a dict; they run in the first child of a process that built the walls, and what is in `told`
afterwards is printed, with the `account` that built them.
"""

import glob
import importlib
import json
import os
import socket
import sys
import tempfile
from pathlib import Path

from cellcheck.sandbox import fences, kernel, place
from cellcheck.sandbox.sight import CannotHide
from cellcheck.sandbox.walls import Unsafe, Walls

UNKNOWN = ("statmount", "mseal", "unshare")
NEEDED = ("ctypes", "encodings.ascii", "encodings.idna", "landlock", "pyseccomp", "resource", "signal", "time")


def lack(what: str) -> None:
    """Makes this process believe that the machine does not offer something."""

    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted", "unshare")

    if "namespaces" in what:
        kernel.unshare = refuse  # type: ignore[assignment]
    if "forking" in what:
        kernel.fork_into = refuse  # type: ignore[assignment]
    if "landlock 3" in what:
        for module in ("landlock", "landlock.plumbing"):
            sys.modules[module].landlock_abi_version = lambda: 2  # type: ignore[attr-defined]
    elif "landlock" in what:
        fences.landlock_version = lambda: 0
    if "names" in what.split(", "):
        pyseccomp = sys.modules["pyseccomp"]
        known = pyseccomp.resolve_syscall
        pyseccomp.resolve_syscall = lambda arch, name: -1 if name in UNKNOWN else known(arch, name)  # type: ignore
    if "news" in what:
        kernel.FIRST_UNKNOWN_CALL = kernel.RECENT_CALLS["futex_wake"]
        fences._LAST_CALL = kernel.RECENT_CALLS["futex_requeue"]
    if "seccomp" in what:
        fences.seccomp_missing = lambda: "the Python package pyseccomp is missing"


def main(who: str, lacking: str, source: str) -> None:
    """Builds the walls, forks a child behind them, and says what came of it."""
    for name in NEEDED:
        importlib.import_module(name)  # now, while every file can be read
    if who == "user" and os.geteuid() == 0:
        own = 10_000 + os.getpid() % 50_000  # the kernel counts an account's processes: those of other scripts too
        if beside := os.environ.get("BESIDE"):  # a folder of this account's
            for path in (beside, *glob.glob(f"{beside}/*")):
                os.chown(path, own, own)
        os.setgroups([])
        os.setresgid(own, own, own)
        os.setresuid(own, own, own)
        kernel.own_proc_files()
    account = os.geteuid()
    scratch = tempfile.mkdtemp()
    sys.exec_prefix = os.environ.get("PYTHON_IS_IN", sys.exec_prefix)
    if who == "root" and "namespaces" in lacking:
        os.chown(scratch, place.NOBODY, place.NOBODY)
    lack(lacking)
    hidden = Path(os.__file__).parent / "json"
    try:
        walls = Walls.build([hidden, *filter(None, os.environ.get("HIDDEN", "").split(":"))], scratch)
    except (CannotHide, Unsafe) as error:
        print(json.dumps({"refused": str(error)}))
        return
    reading, writing = os.pipe()
    pid = walls.fork()
    if pid == 0:
        told: dict[str, object] = {}
        try:
            walls.shut(scratch, memory_bytes=2**28, file_bytes=2**20, cpu_seconds=5, processes=16)
            exec(source, {"told": told, "os": os, "socket": socket, "glob": glob, "sys": sys, "hidden": hidden})
        except BaseException as error:
            told["stopped"] = repr(error)
        os.write(writing, json.dumps(told).encode())
        os._exit(0)
    os.waitpid(pid, 0)
    kernel.end_children()  # or they would keep the pipe open
    os.close(writing)
    with open(reading, encoding="utf-8") as file:
        text = file.read()
    if "namespaces" in walls.missing:
        for path in Path(scratch).iterdir():
            path.unlink()
        os.rmdir(scratch)
    print(json.dumps({"account": account, "missing": walls.missing, "told": json.loads(text)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
