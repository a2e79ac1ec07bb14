"""Cells, run from top to bottom in one kernel."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient


def outputs_in_a_kernel(
    cells: Mapping[str, str],
    folder: Path,
    env: Mapping[str, str] | None = None,
    on_cell_error: Callable[..., None] | None = None,
) -> dict[str, list[Any]]:
    """Each cell's outputs, by its name. An error doesn't stop the rest.

    Args:
        cells: the code of each cell, by a name for it.
        folder: the kernel's working folder.
        env: the whole of its environment; that of this process without it.
        on_cell_error: told of each error that the kernel reports.
    """
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in cells.values()])
    client = NotebookClient(
        notebook,
        timeout=600,
        startup_timeout=300,
        allow_errors=True,
        on_cell_error=on_cell_error,
        kernel_name="python3",
        resources={"metadata": {"path": str(folder)}},
    )
    client.execute(**({} if env is None else {"env": dict(env)}))
    return dict(zip(cells, (cell.outputs for cell in notebook.cells), strict=True))
