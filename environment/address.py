"""Puts the repository's public address wherever it stands, and checks that no other one is left.

    python environment/address.py                                  # checks
    python environment/address.py https://github.com/you/a-fork    # moves there, builds, and checks

The setting is `Repository` in the course's `pyproject.toml`. Files that carry it too are found by looking: everything
that git tracks, but the notebooks, which are built.
"""

import re
import subprocess
import sys

from install import ROOT, projects

BUILT = ("notebooks/", "solutions/")
_ADDRESS = re.compile(r"https://[\w.-]+/[\w.-]+/[\w.-]+")
_PULLED = re.compile(
    r"(?:git\+|colab/github/|colab\.research\.google\.com/github/)((?:https://[\w.-]+/)?[\w.-]+/[\w.-]+)[@/\"]"
)


def main(arguments: list[str]) -> int:
    """Moves where an address is given, then checks; returns the exit code."""
    course, _ = projects()
    before = course["project"]["urls"]["Repository"]
    address = (arguments[0].rstrip("/") if arguments else "") or before
    if not _ADDRESS.fullmatch(address):
        print(f"{address} is no repository's address: write it as https://github.com/NAME/REPOSITORY.", file=sys.stderr)
        return 2
    if address != before:
        for path in _tracked():
            if not path.startswith(BUILT) and before in (text := _read(path)):
                (ROOT / path).write_text(text.replace(before, address), "utf-8")
        subprocess.run([sys.executable, "-m", "cellcheck", "build"], cwd=ROOT, check=True)
    wrong = faults(address, before)
    print("\n".join(wrong) or f"Everything leads to {address}.", file=sys.stderr if wrong else sys.stdout)
    return 1 if wrong else 0


def faults(address: str, before: str) -> list[str]:
    """What doesn't lead to the address: badges and first cells, the engine's page, what was there before."""
    _, engine = projects()
    sentences = []
    if engine["project"]["urls"]["Repository"] != address:
        sentences.append("grader/pyproject.toml names another Repository.")
    name = re.sub(r"https://[^/]+/", "", address)
    for path in _tracked():
        text = _read(path)
        if before != address and before in text:
            sentences.append(f"{path} still names {before}.")
        if path.startswith(BUILT) and path.endswith(".ipynb"):
            places = {place.removeprefix(address.removesuffix(name)) for place in _PULLED.findall(text)}
            sentences += [
                f"{path} leads to {place}, not to {name}: run make build." for place in sorted(places - {name})
            ]
            if name not in places:
                sentences.append(f"{path} has no badge or first cell that leads to {name}: run make build.")
    return sentences


def _tracked() -> list[str]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [path for path in listed.stdout.split("\0") if path and (ROOT / path).is_file()]


def _read(path: str) -> str:
    return (ROOT / path).read_bytes().decode("utf-8", "ignore")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
