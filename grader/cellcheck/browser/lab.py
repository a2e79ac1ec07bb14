"""JupyterLite with the lessons that run in the browser."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from cellcheck.browser.interpreter import FOLDER as PYTHON
from cellcheck.browser.lessons import file_name, write_notebooks
from cellcheck.browser.parts import BrowserPart
from cellcheck.errors import GraderError
from cellcheck.repository import Repository

FOLDER = "lab"
"""Where it stands on the site."""
KERNEL = "@jupyterlite/pyodide-kernel-extension"
APPS = ("lab", "notebooks", "tree")
DISABLED = ("@jupyterlab/apputils-extension:announcements",)
SETTINGS = {
    "@jupyterlab/apputils-extension:themes": {"adaptive-theme": True},
    "@jupyterlab/docmanager-extension:plugin": {"autosaveInterval": 15},
    "@jupyterlab/notebook-extension:tracker": {"windowingMode": "none"},
}


def storage(title: str) -> str:
    """What the browser calls the place where it keeps a learner's work."""
    return f"{title}: my work"


def address(repository: Repository, lesson: str) -> str:
    """Where a lesson opens, seen from the site's first page."""
    return f"{FOLDER}/notebooks/index.html?path={quote(file_name(repository, lesson))}"


def build(repository: Repository, site: Path, lessons: Mapping[str, BrowserPart | None]) -> None:
    """Puts JupyterLite into the site's folder.

    Raises:
        GraderError: when it can't be built.
    """
    kernel = Path(sys.prefix, "share", "jupyter", "labextensions", KERNEL)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_notebooks(repository, folder / "files", lessons)
        _write(
            folder / "jupyter_lite_config.json",
            {
                "LiteBuildConfig": {
                    "apps": APPS,
                    "cache_dir": str(folder / "cache"),
                    "contents": ["files"],
                    "federated_extensions": [str(kernel)],
                    "ignore_sys_prefix": ["federated_extensions", "settings"],
                    "no_sourcemaps": True,
                    "no_unused_shared_packages": True,
                    "output_dir": str(folder / "out"),
                }
            },
        )
        _write(folder / "overrides.json", SETTINGS)
        _write(
            folder / "jupyter-lite.json",
            {
                "jupyter-lite-schema-version": 0,
                "jupyter-config-data": {
                    "appName": repository.title,
                    "contentsStorageName": storage(repository.title),
                    "disabledExtensions": DISABLED,
                    "litePluginSettings": {
                        f"{KERNEL}:kernel": {
                            "disablePyPIFallback": True,  # nothing comes from elsewhere
                            "pyodideUrl": f"../../{PYTHON}/pyodide.js",
                        }
                    },
                },
            },
        )
        command = [sys.executable, "-m", "jupyterlite_core", "build", "--no-libarchive"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode:
            raise GraderError(f"JupyterLite can't be built: {(done.stdout + done.stderr).strip()[-800:]}")
        shutil.rmtree(site / FOLDER, ignore_errors=True)
        shutil.copytree(folder / "out", site / FOLDER)


def _write(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content), "utf-8")
