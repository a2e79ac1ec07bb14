"""A machine like Colab's: the packages that Colab ships and no others, a real pip, a real git, a real kernel.

The packages are links to the ones installed here, so that nothing is downloaded.
"""

import os
import shutil
import subprocess
import venv
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

import nbformat
import pytest
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbformat import NotebookNode
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from cellcheck.repository import Repository

# Colab has these and many more. What only belongs to us, or to an instructor, is not among them nor needed by them.
SHIPPED = (
    *("torch", "numpy", "pandas", "matplotlib", "seaborn", "tqdm"),
    *("ipywidgets", "ipykernel", "PyYAML", "pip", "setuptools"),
)
BLOCKED = (
    *("transformers-cell-by-cell", "nbgrader", "nbformat", "nbclient"),
    *("jupytext", "landlock", "pyseccomp", "typer"),
)


@dataclass(frozen=True)
class Machine:
    """A Python of its own, and what its cells find around them."""

    python: Path
    home: Path
    packages: Path
    env: Mapping[str, str]

    def installed(self) -> dict[str, Path]:
        """Everything that stands among the packages, and where it really is: what pip changes shows here."""
        return {path.name: path.resolve() for path in self.packages.iterdir() if path.name != "__pycache__"}

    def run(self, notebook: NotebookNode) -> NotebookNode:
        """Runs a notebook in a kernel of this machine, to its end or to its first error."""
        manager = AsyncKernelManager(kernel_name="python3")
        manager.kernel_spec.argv = [str(self.python), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        client = NotebookClient(
            notebook, km=manager, timeout=600, startup_timeout=300, resources={"metadata": {"path": str(self.home)}}
        )
        client.execute(env=dict(self.env))
        return notebook


def machine(folder: Path, addresses: Mapping[str, str], packages: Path | None = None) -> Machine:
    """A fresh machine.

    Args:
        folder: an empty folder for it.
        addresses: for the start of an address on the internet, where it leads to instead.
        packages: the folder that pip takes packages from, in place of the internet.
    """
    python, home = folder / "machine", folder / "content"
    home.mkdir(parents=True)
    venv.create(python, with_pip=False, symlinks=True)
    (shelf,) = python.glob("lib/python*/site-packages")
    for name in closure(SHIPPED):
        _link(distribution(name), shelf)
    settings = {
        "PATH": f"{python / 'bin'}{os.pathsep}{os.environ.get('PATH', '')}",
        "HOME": str(home),
        "OMP_NUM_THREADS": "1",
        "GIT_CONFIG_COUNT": str(len(addresses)),
        "GIT_TERMINAL_PROMPT": "0",
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(packages or folder),
        "COLAB_RELEASE_TAG": "release-colab_20260101-000000_RC00",
    }
    for number, (asked, instead) in enumerate(addresses.items()):
        settings |= {f"GIT_CONFIG_KEY_{number}": f"url.{instead}.insteadOf", f"GIT_CONFIG_VALUE_{number}": asked}
    return Machine(python / "bin" / "python", home, shelf, settings)


def published(repository: Repository, folder: Path) -> str:
    """Makes a git repository of the checkout as it is now, with the tag of its version; returns the commit."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=repository.root,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode:
        pytest.skip("not a git checkout")
    for name in listed.stdout.split("\0"):
        if name and (repository.root / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(repository.root / name, folder / name)
    for step in (("init", "-q"), ("add", "-A", "-f")):
        subprocess.run(["git", *step], cwd=folder, check=True)
    commit = committed(folder)
    subprocess.run(["git", "tag", repository.tag], cwd=folder, check=True)
    return commit


def committed(folder: Path) -> str:
    """Commits what has changed there; returns the commit."""
    who = ("-c", "user.name=nobody", "-c", "user.email=nobody@localhost")
    subprocess.run(["git", *who, "commit", "-qam", "All of it"], cwd=folder, check=True)
    answer = subprocess.run(["git", "rev-parse", "HEAD"], cwd=folder, check=True, capture_output=True, text=True)
    return answer.stdout.strip()


def packed(name: str, folder: Path) -> None:
    """Makes a wheel of a package that is installed here, since pip builds with packages it fetches."""
    package = distribution(name)
    with zipfile.ZipFile(folder / f"{name.replace('-', '_')}-{package.version}-py3-none-any.whl", "w") as wheel:
        for file in package.files or []:
            if ".." not in file.parts and file.suffix != ".pyc":
                wheel.write(Path(str(file.locate())), str(file))


def closure(names: Iterable[str]) -> set[str]:
    """The packages, and all that they need on this Python."""
    closed: set[str] = set()
    waiting = list(names)
    while waiting:
        name = canonicalize_name(waiting.pop())
        if name in closed:
            continue
        try:
            lines = distribution(name).requires or []
        except PackageNotFoundError:
            continue  # named for another kind of machine
        closed.add(name)
        wanted = map(Requirement, lines)
        waiting += [w.name for w in wanted if w.marker is None or w.marker.evaluate({"extra": ""})]
    return closed


def _link(package: Distribution, shelf: Path) -> None:
    for file in package.files or []:
        top = file.parts[0]
        if top not in ("..", "__pycache__") and not (shelf / top).is_symlink():
            (shelf / top).symlink_to(Path(str(package.locate_file(top))))


def cells(*sources: str) -> NotebookNode:
    """A notebook of these cells."""
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
