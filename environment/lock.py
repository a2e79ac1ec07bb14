"""Writes requirements.txt: one version of every package, for every system, with the hashes of all its files.

What is pinned stays, unless pyproject.toml no longer allows it: to take newer versions, delete requirements.txt first.

PyTorch has builds that the usual index doesn't: those of TORCH_INDEX, and whatever pip is set up to find on this
machine. Their hashes are added, and stay as long as the version does.
"""

import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path
from urllib.parse import unquote

from install import LOCK, TORCH, pins, projects, wanted

OLDEST = "3.11.5"  # of the Pythons of pyproject.toml, the first that all of these packages support
HEAD = "# Every version the course is tested with, and the hash of each of its files; `make lock` writes this file.\n"
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")


def main() -> None:
    """Writes the file."""
    before = LOCK.read_text("utf-8") if LOCK.is_file() else ""
    lock = resolved(before)
    torch = pins(lock)[TORCH].lines
    first = torch.split(" \\\n")[0]
    version = first.removeprefix(f"{TORCH}==")
    known = pins(before)
    hashes = {*_HASH.findall(torch), *on_the_index(version), *found_by_pip(version)}
    if TORCH in known and known[TORCH].lines.startswith(f"{first} "):
        hashes |= {*_HASH.findall(known[TORCH].lines)}
    lines = " \\\n".join([first, *(f"    --hash=sha256:{digest}" for digest in sorted(hashes))])
    LOCK.write_text(HEAD + lock.replace(torch, f"{lines}\n{torch[torch.index('    # via') :]}"), "utf-8")


def resolved(before: str) -> str:
    """One version of each package that fits all systems, as uv finds it."""
    course, engine = projects()
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder, "requirements.txt")
        pinned = (pin.lines.split(" \\\n")[0] for pin in pins(before).values())
        output.write_text("\n".join(pinned), "utf-8")  # preferred; without hashes, which uv would not ask for again
        command = [sys.executable, "-m", "uv", "pip", "compile", "--quiet", "pyproject.toml"]
        command += ["--universal", "--python-version", OLDEST, "--only-binary", ":all:", "--generate-hashes"]
        command += ["--no-header", "--annotation-style", "line", "--system-certs", "--output-file", str(output)]
        lines = wanted(course, engine, course["project"]["optional-dependencies"])
        both = f'[project]\nname = "{course["project"]["name"]}"\nversion = "0"\ndependencies = {json.dumps(lines)}\n'
        Path(folder, "pyproject.toml").write_text(both, "utf-8")
        subprocess.run(command, cwd=folder, check=True)
        return output.read_text("utf-8")


def on_the_index(version: str) -> set[str]:
    """The hashes of the builds of this version on TORCH_INDEX, where one is named."""
    index = os.environ.get("TORCH_INDEX")
    if not index:
        return set()
    with urllib.request.urlopen(f"{index.rstrip('/')}/{TORCH}/") as page:
        links = re.findall(r'href="([^"#]+)#sha256=([0-9a-f]{64})"', page.read().decode())
    wheel = re.compile(rf"(.*/)?{TORCH}-{re.escape(version)}(\+[\w.]+)?-[^/]+\.whl")
    return {digest for address, digest in links if wheel.fullmatch(unquote(address))}


def found_by_pip(version: str) -> set[str]:
    """The hash of the build that pip would install here: it may lie on this machine."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        subprocess.run([*command, "--dest", folder, f"{TORCH}=={version}"], check=True)
        return {hashlib.sha256(file.read_bytes()).hexdigest() for file in Path(folder).iterdir()}


if __name__ == "__main__":
    main()
