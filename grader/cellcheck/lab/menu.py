"""JupyterLab's menu Course, which leads from a notebook back to the start page."""

import json
import os
from pathlib import Path
from urllib.parse import quote

from jupyter_core.paths import jupyter_runtime_dir

from cellcheck.files import write_whole

CONFIG_PATH = "JUPYTER_CONFIG_PATH"


def add_menu(start_page: str) -> None:
    """JupyterLab reads its settings' defaults from files alone, and the page's address is known when it starts: on a
    hub, the learner's name is in it."""
    folder = Path(jupyter_runtime_dir()) / "cellcheck" / quote(start_page, safe="")
    defaults = folder / "labconfig" / "default_setting_overrides.json"
    defaults.parent.mkdir(parents=True, exist_ok=True)
    write_whole(defaults, json.dumps({"@jupyterlab/mainmenu-extension:plugin": {"menus": [_menu(start_page)]}}))
    os.environ[CONFIG_PATH] = os.pathsep.join(filter(None, [os.environ.get(CONFIG_PATH), str(folder)]))


def _menu(start_page: str) -> dict[str, object]:
    all_lessons = {"text": "All lessons", "url": start_page, "newBrowserTab": True}
    items = [{"command": "help:open", "args": all_lessons}]
    return {"id": "jp-mainmenu-course", "label": "Course", "rank": 900, "items": items}
