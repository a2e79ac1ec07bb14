"""Where nbgrader's gradebook is: in a file of SQLite's, or on a PostgreSQL server.

nbgrader makes a new gradebook's tables one by one. Here it appears whole or not at all; only one grader at a time
writes to it; and whatever goes wrong is one sentence.
"""

import contextlib
import os
import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from subprocess import SubprocessError

from nbgrader import api
from nbgrader.api import Gradebook
from sqlalchemy import URL, Connection, Engine, create_engine, func, insert, inspect, select, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import NullPool

from cellcheck.errors import GraderError
from cellcheck.gradebook.folders import alone, unwritten

_WRITING, _MAKING = 0x67726164, 0x67726165
"""PostgreSQL's advisory locks are numbers: each kind of ours is one, and the schema's name is the second."""
_NOTICED = {"tcp_keepalives_idle": 30, "tcp_keepalives_interval": 10, "tcp_keepalives_count": 3}
"""Seconds after which the server asks whether we are still there, and how often: a lock outlives a power cut by one
minute, not by hours."""


class Database:
    """The database that nbgrader's `db_url` names.

    Args:
        url: SQLAlchemy's address of it.
        course_id: nbgrader's name of the course.
        aside: a folder for a lock, where the database has none.
    """

    def __init__(self, url: str, course_id: str, aside: Path) -> None:
        self._address = url
        self._course_id = course_id
        self._aside = aside
        self._held: Connection | None = None
        self._made = False

    @cached_property
    def _url(self) -> URL:
        try:
            return make_url(self._address)
        except SQLAlchemyError as error:
            raise GraderError(
                "c.CourseDirectory.db_url in nbgrader_config.py isn't the address of a database; one looks like "
                "postgresql+psycopg://NAME:PASSWORD@HOST/DATABASE."
            ) from error

    @cached_property
    def file(self) -> Path | None:
        """The file that is the gradebook; None where it isn't one."""
        name = self._url.database or ""
        is_file = self._kind == "sqlite" and name not in ("", ":memory:") and not name.startswith("file:")
        return Path(name).absolute() if is_file else None

    @cached_property
    def _engine(self) -> Engine:
        """What connects to a server."""
        try:
            return create_engine(self._url, poolclass=NullPool)
        except ImportError as error:
            install = ""
            if self._kind == "postgresql":
                install = ': pip install "psycopg[binary]", and begin the address with postgresql+psycopg://'
            raise GraderError(
                f"The gradebook{self._where} needs the package {error.name}, which isn't installed{install}."
            ) from error

    @property
    def _kind(self) -> str:
        return self._url.get_backend_name()

    @property
    def _shown(self) -> str:
        """The address, without a password."""
        secrets = [name for name in self._url.query if "password" in name]
        return self._url.difference_update_query(secrets).render_as_string(hide_password=True)

    @property
    def _where(self) -> str:
        return "" if self._kind == "sqlite" else f" at {self._shown} (see db_url in nbgrader_config.py)"

    @contextlib.contextmanager
    def open(self) -> Iterator[Gradebook]:
        """nbgrader's gradebook, open. It is made if there is none.

        While this grader is `alone` on a server, all goes through the connection that holds the lock: a connection
        that is lost takes the lock with it, and then nothing more is written.

        Raises:
            GraderError: when it can't be read or written.
        """
        with self._in_a_sentence():
            try:
                self._make()
            except SubprocessError as error:
                raise GraderError(f"nbgrader can't make a gradebook: {error}") from error
            with Gradebook(self._address, self._course_id) as gradebook:
                if self._held is not None:
                    gradebook.db.remove()
                    gradebook.db.configure(bind=self._held)
                yield gradebook

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Keeps other graders off the gradebook: on a server those on other machines too. It ends with the process.

        Raises:
            GraderError: when another one is at work, or the database can't be reached.
        """
        if self._kind != "postgresql":
            path = self.file
            with alone(self._aside / "gradebook.lock" if path is None else path.with_name(f"{path.name}.lock")):
                yield
            return
        with contextlib.ExitStack() as held:
            with self._in_a_sentence():
                connection = held.enter_context(self._engine.connect())
                for name, value in _NOTICED.items():
                    connection.execute(text(f"SET {name} = {value}"))
                lock = func.hashtext(func.current_schema())
                if not connection.scalar(select(func.pg_try_advisory_lock(_WRITING, lock))):
                    raise GraderError(
                        f"Another grader is writing to this gradebook ({self._shown}). Run this again when it is done."
                    )
                connection.commit()
            self._held = connection
            try:
                yield
            finally:
                self._held = None
                # The server would notice some time after we are gone, and refuse whoever comes right after us.
                with contextlib.suppress(SQLAlchemyError):
                    connection.rollback()
                    connection.execute(select(func.pg_advisory_unlock_all()))

    def _make(self) -> None:
        """Makes a gradebook where there is none."""
        if self.file is not None:
            self._make_file(self.file)
        elif not self._made:
            if self._engine.name == "postgresql":
                self._make_on_server()
            self._made = True

    def _make_file(self, path: Path) -> None:
        fresh = path.with_name(f"{path.name}.new")
        try:
            fresh.unlink(missing_ok=True)  # a kill left it
            if not path.exists():
                Gradebook(f"sqlite:///{fresh}", self._course_id).close()
                os.link(fresh, path)  # fails where somebody else has made one meanwhile
        except OSError as error:
            if not path.exists():
                raise unwritten(error, path) from error
        finally:
            fresh.unlink(missing_ok=True)

    def _make_on_server(self) -> None:
        """In one transaction, so that a kill leaves nothing; two at a time wait for each other."""
        with self._engine.begin() as connection:
            connection.execute(select(func.pg_advisory_xact_lock(_MAKING, func.hashtext(func.current_schema()))))
            if not inspect(connection).has_table(api.Course.__tablename__):
                api.Base.metadata.create_all(connection)
                connection.execute(text("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)"))
                version = {"version": api.get_alembic_version()}
                connection.execute(text("INSERT INTO alembic_version (version_num) VALUES (:version)"), version)
            course = api.Course
            if connection.scalar(select(course.id).where(course.id == self._course_id)) is None:
                connection.execute(insert(course).values(id=self._course_id))

    @contextlib.contextmanager
    def _in_a_sentence(self) -> Iterator[None]:
        try:
            yield
        except SQLAlchemyError as error:
            raise GraderError(f"The gradebook{self._where} can't be used: {reason(error)}.") from error


def reason(error: SQLAlchemyError) -> str:
    """What a database says, in a line."""
    first_line = str(getattr(error, "orig", None) or error).splitlines()[0]
    return " ".join(re.sub(r"FATAL:|^connection (failed|is bad):", "", first_line).split()).rstrip(".")
