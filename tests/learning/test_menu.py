"""JupyterLab's menu Course, as JupyterLab reads it."""

import os
from pathlib import Path
from typing import Any

import pytest
from jupyterlab_server import settings_utils

from cellcheck.lab.menu import add_menu

PLUGIN = "@jupyterlab/mainmenu-extension:plugin"


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of an administrator's settings for JupyterLab."""
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "runtime"))
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", str(tmp_path))
    (tmp_path / "labconfig").mkdir()
    return tmp_path / "labconfig"


def defaults(folder: Path) -> Any:
    """What JupyterLab takes for its settings' defaults."""
    return settings_utils._get_overrides(str(folder))[0]


@pytest.mark.parametrize("address", ["/course", "/user/ada%40example.org/course"])
def test_it_leads_to_the_start_page_wherever_that_is(config: Path, address: str) -> None:
    add_menu(address)
    add_menu(address)  # as after a restart
    (menu,) = defaults(config)[PLUGIN]["menus"]
    assert menu["items"][0]["args"]["url"] == address


def test_what_an_administrator_has_set_stays(config: Path) -> None:
    (config / "default_setting_overrides.json").write_text('{"a:plugin": {"theme": "dark"}}')
    add_menu("/course")
    assert defaults(config)["a:plugin"] == {"theme": "dark"}
    assert PLUGIN in defaults(config)
    assert os.environ["JUPYTER_CONFIG_PATH"].split(os.pathsep)[0] == str(config.parent)
