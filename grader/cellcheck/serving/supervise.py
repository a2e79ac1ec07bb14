"""The service on one machine: the pages in this process, and beside it workers, which are started again at need."""

from __future__ import annotations

import logging
import os
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import uvicorn
from sqlalchemy.exc import SQLAlchemyError

from cellcheck.errors import GraderError
from cellcheck.serving.app import create_app
from cellcheck.serving.class_pages import tidy
from cellcheck.serving.people import DAY
from cellcheck.serving.queue import Queue
from cellcheck.serving.settings import Settings
from cellcheck.serving.store import DATABASE, Store, open_store

log = logging.getLogger("cellcheck.serving")
TERMINATE_SECONDS = 60.0
"""A worker that is told to stop finishes what it is at."""
MOST_CONNECTIONS = 800
"""A browser holds one or two for as long as its page is open: enough for three hundred of them."""


class Workers:
    """Processes that grade. One that ends is started again, the slower the more often that happens."""

    def __init__(self, store: Store, place: str, count: int, require_sandbox: bool) -> None:
        self._store = store
        self._place = place
        self._sandbox = "sandbox" if require_sandbox else "no-sandbox"
        self._over = threading.Event()
        self._threads = [threading.Thread(target=self._mind, daemon=True) for _ in range(count)]

    def start(self) -> None:
        """Starts them."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Tells them to finish what they are at, and waits for that."""
        self._over.set()
        for thread in self._threads:
            thread.join(2 * TERMINATE_SECONDS)

    def _mind(self) -> None:
        environment = os.environ | {DATABASE: self._place}
        pause = 1.0
        while not self._over.is_set():
            begun = time.monotonic()
            name = secrets.token_hex(8)
            command = [sys.executable, "-m", "cellcheck.serving.worker", name, str(os.getpid()), self._sandbox]
            try:
                worker = subprocess.Popen(command, stdin=subprocess.DEVNULL, env=environment)
            except OSError as error:  # no memory, or no more processes: later there may be
                log.warning("a worker could not be started: %s", error.strerror)
                self._over.wait(60.0)
                continue
            while worker.poll() is None and not self._over.wait(0.2):
                pass
            if self._over.is_set():
                _end(worker)
            try:
                Queue(self._store, worker=name).free()
            except SQLAlchemyError as error:  # its leases run out by themselves
                log.warning("the database: %s", type(error).__name__)
            if self._over.is_set():
                return
            pause = 1.0 if time.monotonic() - begun > 60 else min(60.0, 2 * pause)
            log.warning("a worker ended (%s); another one starts in %.0f s", worker.returncode, pause)
            self._over.wait(pause)


class _Server(uvicorn.Server):
    """uvicorn's, which would raise the signal that ended it once more, and so leave no time to end the workers."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Ends the server at SIGTERM and SIGINT."""
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGTERM, signal.SIGINT)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def _end(worker: subprocess.Popen[bytes]) -> None:
    worker.terminate()
    try:
        worker.wait(TERMINATE_SECONDS)
    except subprocess.TimeoutExpired:  # its lease runs out, and its work is done by another
        worker.kill()
        worker.wait()


def serve(
    settings: Settings,
    place: str,
    *,
    address: str,
    host: str,
    port: int,
    workers: int,
    require_sandbox: bool,
    certificate: Sequence[Path] = (),
    folder: Path | None = None,
) -> None:
    """Runs the service until it is told to stop.

    Args:
        settings: the class.
        place: the database, a file or an address.
        address: where people reach it; by https, here or at a proxy in front.
        host: the address to listen on.
        port: the port.
        workers: how many submissions to grade at a time.
        require_sandbox: whether to refuse to grade where a protection is missing.
        certificate: the files of a certificate and its key, where there is no proxy.
        folder: where the private key for platforms is.

    Raises:
        GraderError: when the database can't be opened, or the port is taken.
    """
    store = open_store(place)
    with store.writing() as session:
        tidy(session, time.time())
    crew = Workers(store, place, workers, require_sandbox)
    files = dict(zip(("ssl_certfile", "ssl_keyfile"), map(str, certificate), strict=False))
    # No access log: addresses hold sign-in links.
    server = _Server(
        uvicorn.Config(
            create_app(store, settings, address, folder),
            host=host,
            port=port,
            access_log=False,
            log_level="warning",
            server_header=False,
            limit_concurrency=MOST_CONNECTIONS,
            timeout_keep_alive=10,
            **files,  # type: ignore[arg-type]
        )
    )
    over = threading.Event()

    def tidy_daily() -> None:
        while not over.wait(DAY):
            try:
                with store.writing() as session:
                    tidy(session, time.time())
            except SQLAlchemyError as error:  # it is done tomorrow
                log.warning("the database: %s", type(error).__name__)

    threading.Thread(target=tidy_daily, daemon=True).start()
    _tell_platforms(store, settings, address, folder, over)
    crew.start()
    try:
        server.run()
    except SystemExit as error:  # uvicorn has said why
        raise GraderError(f"The service can't listen on {host}:{port}: is something else there?") from error
    finally:
        over.set()
        crew.stop()


def _tell_platforms(store: Store, settings: Settings, address: str, folder: Path | None, over: threading.Event) -> None:
    """Marks go back to platforms in a thread of this process: where learners' code runs, no key is near."""
    try:
        from cellcheck.serving.lti import tool_in
        from cellcheck.serving.lti_marks import Teller
    except ModuleNotFoundError:  # without LTI nobody comes from a platform
        return
    if folder is not None:
        threading.Thread(
            target=Teller(store, settings, address, tool_in(folder)).run, args=(over,), daemon=True
        ).start()
