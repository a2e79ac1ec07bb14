"""A PostgreSQL server of the tests' own: Debian's programs, a socket in a temporary folder, an unprivileged account.

Without the programs, tests that ask for it skip; in CI that is a failure.
"""

import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import URL, create_engine, text
from sqlalchemy.pool import NullPool

NAME, PASSWORD = "grader", "open sesame"
SETTINGS = {"listen_addresses": "", "fsync": "off", "shared_buffers": "4MB", "max_connections": "30"}
SECONDS = 300


def programs() -> Path:
    """The folder of the server's programs; skips where there are none, and fails in CI."""
    newest = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    here = shutil.which("initdb")
    if not newest and here is None:
        why = "There is no PostgreSQL server here: apt-get install postgresql."
        if os.environ.get("NOTHING_SKIPPED"):
            pytest.fail(why)
        pytest.skip(why)
    return newest[-1].parent if newest else Path(str(here)).parent


@dataclass
class Server:
    """A server that is running. Whoever connects needs the password."""

    folder: Path
    _numbers: Iterator[int] = field(default_factory=count)

    def address(self, database: str, password: str = PASSWORD) -> str:
        """SQLAlchemy's address of a database."""
        url = URL.create("postgresql+psycopg", NAME, password, database=database, query={"host": str(self.folder)})
        return url.render_as_string(hide_password=False)

    def new(self) -> str:
        """The address of a new database, empty."""
        name = f"marks{next(self._numbers)}"
        self.does(f"CREATE DATABASE {name}")
        return self.address(name)

    def does(self, statement: str) -> list[Any]:
        """What a statement gives."""
        engine = create_engine(self.address("postgres"), poolclass=NullPool, isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            result = connection.execute(text(statement))
            return list(result) if result.returns_rows else []

    def others(self) -> list[Any]:
        """Who else is connected: it takes the server a moment to notice that a process was killed."""
        return self.does(
            "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
        )

    @staticmethod
    def wait_until(noticed: Callable[[], bool]) -> None:
        """Waits until it has noticed."""
        deadline = time.monotonic() + SECONDS
        while not noticed():
            assert time.monotonic() < deadline
            time.sleep(0.005)


@contextmanager
def running() -> Iterator[Server]:
    """A server, which is gone afterwards."""
    tools = programs()
    account = pwd.getpwnam("nobody") if os.geteuid() == 0 else None  # as root it would not start
    with tempfile.TemporaryDirectory(prefix="pg") as temporary:  # a socket's path must be short
        folder = Path(temporary)
        (folder / "password").write_text(PASSWORD)
        run: dict[str, Any] = {"check": True, "cwd": folder, "env": {"PATH": os.defpath, "LC_ALL": "C"}}
        if account is not None:
            for path in (folder, folder / "password"):
                os.chown(path, account.pw_uid, account.pw_gid)
            run |= {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
        ways = ["--auth=scram-sha-256", "--pwfile=password", "--no-sync", "--encoding=UTF8"]
        subprocess.run([tools / "initdb", "-D", "data", "-U", NAME, *ways], stdout=subprocess.DEVNULL, **run)
        options = " ".join(f"-c {name}='{value}'" for name, value in SETTINGS.items()) + f" -k '{folder}'"
        control = [tools / "pg_ctl", "-D", "data", "-s", "-w", "-t", str(SECONDS)]
        subprocess.run([*control, "-l", "log", "-o", options, "start"], **run)
        try:
            yield Server(folder)
        finally:
            subprocess.run([*control, "-m", "immediate", "stop"], **run)
