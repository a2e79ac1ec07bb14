"""The database: opened, and brought up to what this version of the service expects."""

from __future__ import annotations

from contextlib import AbstractContextManager, suppress
from importlib.resources import files
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.util import CommandError
from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session, sessionmaker

from cellcheck.errors import GraderError

DATABASE = "CELLCHECK_DATABASE"
"""The variable of the environment with the database's address."""
SQLITE_WAITS = 30.0
"""Seconds for which somebody waits until another process has written."""


class Store:
    """The database. Reading sees it as it was when it began, and waits for nobody."""

    def __init__(self, engine: Engine) -> None:
        self._write = sessionmaker(engine, expire_on_commit=False)
        self._read = sessionmaker(engine.execution_options(reads=True), expire_on_commit=False)

    def reading(self) -> Session:
        """A session that changes nothing."""
        return self._read()

    def writing(self) -> AbstractContextManager[Session]:
        """A session whose changes are there, on the disk, when its block has ended; and not at all if it fails."""
        return self._write.begin()


def address_of(place: str | Path) -> str:
    """A database's address: of a file, SQLite's."""
    text = str(place)
    return text if "://" in text else f"sqlite:///{Path(text).absolute()}"


def open_store(place: str | Path) -> Store:
    """Opens a database; a new one gets its tables, an old one what is new.

    Raises:
        GraderError: when it can't be opened, or is of a newer version.
    """
    address = address_of(place)
    if "://" not in str(place):
        with suppress(OSError):  # a folder that isn't there is said below
            Path(place).touch(mode=0o600)  # marks, notebooks and seeds: of no other account's business
    engine = _engine(address)
    configuration = Config()
    configuration.set_main_option("script_location", str(files("cellcheck.serving") / "migrations").replace("%", "%%"))
    try:
        with engine.begin() as connection:
            configuration.attributes["connection"] = connection
            command.upgrade(configuration, "head")
    except CommandError as error:
        raise GraderError(f"The database is of a newer version of this service: {error}") from error
    except SQLAlchemyError as error:
        raise GraderError(f"The database {engine.url} can't be opened: {_first_line(error)}.") from error
    return Store(engine)


def _engine(address: str) -> Engine:
    try:
        engine = create_engine(address, connect_args={"timeout": SQLITE_WAITS} if address.startswith("sqlite") else {})
    except (SQLAlchemyError, ImportError) as error:
        raise GraderError(f"That is no address of a database: {error}.") from None  # it may hold a password
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin)
    return engine


def _prepare_sqlite(connection: object, _: object) -> None:
    cursor = connection.cursor()  # type: ignore[attr-defined]
    # Readers don't wait for writers, and what was accepted is on the disk before anybody is told so.
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()
    connection.isolation_level = None  # type: ignore[attr-defined]  # SQLAlchemy begins, as below


def _begin(connection: Connection) -> None:
    """Who writes takes their turn when they begin: two that read first and then write would refuse each other."""
    reads = connection.get_execution_options().get("reads")
    connection.exec_driver_sql("BEGIN" if reads else "BEGIN IMMEDIATE")


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0]
