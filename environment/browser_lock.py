"""Writes browser.json: the files of Pyodide that the site serves, with the hashes that Pyodide itself publishes.

    npm pack pyodide@0.27.7 && tar xzf pyodide-0.27.7.tgz
    python environment/browser_lock.py package

Of Pyodide's list of packages it keeps those that the lessons need, with all that these need. Where the files come from
is not asked here: "carrier" stays as it is.
"""

import hashlib
import json
import re
import sys
from pathlib import Path
from typing import Any

from browser import LIST, LOCK

CORE = ("pyodide.js", "pyodide.mjs", "pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip")
WANTED = ("numpy", "pandas", "matplotlib", "ipython", "jedi", "micropip", "packaging", "sqlite3", "ssl")
"""The lessons' packages, and those that a notebook's kernel asks for."""
KEPT = ("depends", "file_name", "imports", "install_dir", "name", "package_type", "sha256", "version")


def main(package: str) -> None:
    """Writes the file."""
    there = {
        _plain(name): each for name, each in json.loads(Path(package, LIST).read_text("utf-8"))["packages"].items()
    }
    info = json.loads(Path(package, LIST).read_text("utf-8"))["info"]
    chosen: dict[str, Any] = {}
    waiting = [*WANTED]
    while waiting:
        name = _plain(waiting.pop())
        if name not in chosen:
            chosen[name] = {key: there[name][key] for key in KEPT} | {"unvendored_tests": False}
            waiting += there[name]["depends"]
    lock = json.loads(LOCK.read_text("utf-8")) if LOCK.is_file() else {}
    lock["core"] = {name: hashlib.sha256(Path(package, name).read_bytes()).hexdigest() for name in CORE}
    lock["list"] = {"info": info, "packages": chosen}
    LOCK.write_text(json.dumps(lock, indent=1, sort_keys=True) + "\n", "utf-8")


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


if __name__ == "__main__":
    main(*sys.argv[1:])
