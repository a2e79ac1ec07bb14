"""Notebooks as JupyterLab leaves them when it opens them: one that is so already isn't changed by being opened."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from cellcheck.errors import GraderError
from cellcheck.files import write_whole
from cellcheck.learning.offers import released
from cellcheck.learning.standing import own_notebook

KERNEL = "python3"


def as_opened(notebook: bytes) -> bytes:
    """A released notebook that names the kernel that will run it here, in the kernel's own words."""
    content = json.loads(notebook)
    content["metadata"] |= _kernel()
    return (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode()


def settle(folder: Path) -> None:
    """Makes the lessons in a learner's folder so that are just as they were released. Others stay as they are."""
    with suppress(GraderError):  # a course without lessons
        for lesson, release in released().items():
            _settle(own_notebook(folder, lesson), release)


def _settle(own: Path | None, release: Path) -> None:
    with suppress(OSError):  # then opening it marks it as changed, and that is all
        if own is not None and not own.samefile(release) and own.read_bytes() == release.read_bytes():
            write_whole(own.resolve(), as_opened(release.read_bytes()))


def _kernel() -> dict[str, Any]:
    """What JupyterLab writes into a notebook's metadata when a kernel of this Python has started."""
    try:
        from ipykernel.ipkernel import IPythonKernel
        from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel
    except ModuleNotFoundError:
        return {}
    try:
        spec = KernelSpecManager().get_kernel_spec(KERNEL)
    except NoSuchKernel:
        return {}
    return {
        "kernelspec": {"display_name": spec.display_name, "language": spec.language, "name": KERNEL},
        "language_info": dict(IPythonKernel.language_info),
    }
