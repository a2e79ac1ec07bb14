"""The start page in JupyterLab: a small extension of Jupyter's server, at `/course`."""

import os
from pathlib import Path
from typing import Any


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    return [{"module": "cellcheck.lab"}]


def _load_jupyter_server_extension(server: Any) -> None:
    from jupyter_server.utils import url_path_join

    from cellcheck.lab.menu import add_menu
    from cellcheck.lab.start_page import PATH, CoursePage, folder_below
    from cellcheck.learning.opened import settle

    os.environ.setdefault("PYTHONSTARTUP", str(Path(__file__).with_name("new_kernel.py")))  # for the kernels
    settle(folder_below(Path(server.root_dir).expanduser().resolve()))
    address = url_path_join(server.base_url, PATH)
    add_menu(address)
    server.web_app.add_handlers(".*$", [(address, CoursePage)])
