"""Finding the notebook's file: VS Code, Jupyter's sessions, the environment; a real server as well."""

import json
import os
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest
from jupyter_client import BlockingKernelClient

from cellcheck.submitting import where
from tests.submitting.small_notebooks import LESSON, notebook

KERNEL = "0f2c"


class Server(BaseHTTPRequestHandler):
    """Answers as a Jupyter server does."""

    sessions: ClassVar[list[Any]] = []
    token = "secret"

    def do_GET(self) -> None:
        allowed = self.headers["Authorization"] == f"token {self.token}"
        self.send_response(200 if allowed else 403)
        self.end_headers()
        self.wfile.write(json.dumps(self.sessions if allowed else {"message": "Forbidden"}).encode())

    def log_message(self, *_: Any) -> None:
        """Says nothing."""


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """What a running server's file says; its sessions are in `Server.sessions`."""
    running = HTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=running.serve_forever, daemon=True).start()
    info = {"url": f"http://127.0.0.1:{running.server_port}/", "token": "secret", "root_dir": str(tmp_path)}
    monkeypatch.setattr(where, "kernel_id", lambda: KERNEL)
    monkeypatch.setattr(where, "_servers", lambda: iter([{"url": "http://127.0.0.1:9/", "root_dir": "/"}, {}, info]))
    for name in ("JPY_SESSION_NAME", "JUPYTERHUB_API_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    yield info
    running.shutdown()


def session(path: str, kernel: str = KERNEL) -> dict[str, Any]:
    return {"path": path, "type": "notebook", "kernel": {"id": kernel}}


def a_file(folder: Path, name: str = "a.ipynb") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(notebook())
    return path


@pytest.mark.parametrize(
    "path", ["a.ipynb", "deep/ä: b.ipynb", "c: d.ipynb", "RTC:a.ipynb", "RTC:deep/a.ipynb", "/a.ipynb"]
)
def test_the_session_of_this_kernel(server: dict[str, Any], tmp_path: Path, path: str) -> None:
    Server.sessions = [None, {"kernel": None}, session("other.ipynb", "ffff"), session(path)]
    path = path.removeprefix("RTC:").lstrip("/")
    file = a_file(tmp_path, path)
    assert where.notebook_path({}) == file


def test_a_server_of_jupyterhub_takes_the_hubs_token(
    server: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Server.sessions = [session("a.ipynb")]
    a_file(tmp_path)
    server["token"] = ""
    assert where.notebook_path({}) is None
    monkeypatch.setenv("JUPYTERHUB_API_TOKEN", "secret")
    assert where.notebook_path({}) == tmp_path / "a.ipynb"


def test_the_session_knows_the_new_name_and_the_environment_the_old_one(
    server: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    new, old = a_file(tmp_path, "new.ipynb"), a_file(tmp_path, "old.ipynb")
    monkeypatch.setenv("JPY_SESSION_NAME", str(old))
    Server.sessions = [session("new.ipynb")]
    assert where.notebook_path({}) == new
    Server.sessions = {"message": "strange"}  # type: ignore[assignment]
    assert where.notebook_path({}) == old
    monkeypatch.setenv("JPY_SESSION_NAME", str(tmp_path / "3436-uuid"))
    assert where.notebook_path({}) is None


def test_vs_code_says_it_in_the_notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    path = a_file(tmp_path)
    assert where.notebook_path({"__vsc_ipynb_file__": str(path)}) == path
    assert where.notebook_path({"__vsc_ipynb_file__": 5}) is None
    assert where.notebook_path({"__vsc_ipynb_file__": str(tmp_path / "untitled.ipynb")}) is None


def test_in_a_real_jupyter_server(tmp_path: Path) -> None:
    """A server, a session, a kernel; the notebook is found, and found again under a new name."""
    root, runtime = tmp_path / "my work", tmp_path / "runtime"
    for folder in (root, runtime):
        folder.mkdir()
    (root / "a b.ipynb").write_bytes(notebook())
    env = os.environ | {"JUPYTER_RUNTIME_DIR": str(runtime), "JUPYTER_CONFIG_DIR": str(tmp_path / "config")}
    command = [sys.executable, "-m", "jupyter_server", "--no-browser", "--allow-root", f"--ServerApp.root_dir={root}"]
    with (tmp_path / "log").open("w") as log:
        running = subprocess.Popen([*command, "--port=0"], env=env, stdout=log, stderr=log, cwd=root)
    client = None
    try:
        server = _wait_for(runtime)

        def call(path: str, body: dict[str, Any], method: str) -> Any:
            request = urllib.request.Request(f"{server['url']}api/{path}", json.dumps(body).encode(), method=method)
            request.add_header("Authorization", f"token {server['token']}")
            opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
            return json.load(opener.open(request, timeout=300))

        body = {"path": "a b.ipynb", "name": "a b.ipynb", "type": "notebook", "kernel": {"name": "python3"}}
        session = call("sessions", body, "POST")
        client = BlockingKernelClient(connection_file=str(runtime / f"kernel-{session['kernel']['id']}.json"))
        client.load_connection_file()
        client.start_channels()
        _wait_until_ready(client)
        assert _run(client, "import cellcheck; cellcheck.submit()").startswith("Ready to hand in")
        assert (root / f"{LESSON}.submission.zip").is_file()
        (root / "a b.ipynb").rename(root / "new.ipynb")
        call(f"sessions/{session['id']}", {"path": "new.ipynb"}, "PATCH")
        _run(client, "def mse_loss(a, b):\n    return 1")
        assert "(mse_loss) is not in new.ipynb yet." in _run(client, "cellcheck.submit()")
    finally:
        if client is not None:
            client.stop_channels()
        running.terminate()
        running.wait(timeout=300)


def _wait_until_ready(client: BlockingKernelClient) -> None:
    """A client that did not start the kernel takes a late heartbeat for its death: on a busy machine it asks again."""
    for _ in range(9):
        try:
            client.wait_for_ready(timeout=300)
            return
        except RuntimeError:
            continue
    client.wait_for_ready(timeout=300)


def _wait_for(runtime: Path) -> Any:
    for _ in range(1500):
        for path in runtime.glob("jpserver-*.json"):
            try:
                server = json.loads(path.read_text())
                urllib.request.build_opener(urllib.request.ProxyHandler({})).open(f"{server['url']}api", timeout=5)
                return server
            except (OSError, ValueError):
                continue
        time.sleep(0.2)
    raise AssertionError("the server did not start")


def _run(client: BlockingKernelClient, code: str) -> str:
    texts: list[str] = []

    def listen(message: dict[str, Any]) -> None:
        content = message["content"]
        if message["msg_type"] == "execute_result":
            texts.append(content["data"]["text/plain"])
        elif message["msg_type"] == "error":
            texts.extend(content["traceback"])

    client.execute_interactive(code, output_hook=listen, timeout=300)
    return "\n".join(texts)
