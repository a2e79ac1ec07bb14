"""The command that starts the service: `cellcheck serve`."""

import os
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

import typer
from rich.markup import escape

from cellcheck.cli.shared import app, err, out, write_text
from cellcheck.errors import GraderError

NEW = """\
# What is handed in here, and until when. docs/serving.md explains every line.
title = "My class"

[[assignments]]
lesson = "{lesson}"
# due = 2026-12-01T23:59:00+01:00
# grace_minutes = 15
# penalty_per_day = 0.1
# closes = 2026-12-08T23:59:00+01:00
counts = "best"
attempts_per_day = 20
"""


@app.command(rich_help_panel="For a class")
def serve(
    folder: Annotated[
        Path, typer.Argument(help="The class's folder, with its class.toml and its database.", file_okay=False)
    ] = Path(),
    new: Annotated[bool, typer.Option("--new", help="Write a class.toml to start from, and stop.")] = False,
    add_instructor: Annotated[
        str | None, typer.Option(help="Add an instructor, if they are new; print a sign-in link for them, and stop.")
    ] = None,
    registration_link: Annotated[
        bool, typer.Option("--registration-link", help="Print a link that registers one platform, and stop.")
    ] = False,
    address: Annotated[
        str | None,
        typer.Option(help="The https address where people reach it; without one, only this machine does, at the port."),
    ] = None,
    port: Annotated[int, typer.Option(help="The port to listen on.", min=1, max=65535)] = 8000,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    database: Annotated[
        str | None, typer.Option(help="The database's address; by default class.db in the folder (SQLite).")
    ] = None,
    workers: Annotated[int, typer.Option(help="How many submissions to grade at a time.", min=1)] = 1,
    without_sandbox: Annotated[
        bool, typer.Option("--without-sandbox", help="Grade even where a protection is missing; never for a class.")
    ] = False,
    certificate: Annotated[Path | None, typer.Option(help="A TLS certificate, if no proxy provides one.")] = None,
    certificate_key: Annotated[Path | None, typer.Option(help="Its key.")] = None,
) -> None:
    """Run a service where learners hand in notebooks and read their results."""
    from cellcheck.serving.settings import FILE, read
    from cellcheck.syllabus import lesson_names

    if new:
        if (folder / FILE).exists():
            raise GraderError(f"{folder / FILE} is there already.")
        write_text(folder / FILE, NEW.format(lesson=lesson_names()[0]))
        out.print(
            f"{escape(str(folder / FILE))} is ready for you to edit. Next: cellcheck serve {escape(str(folder))} "
            "--add-instructor YOU",
            highlight=False,
            soft_wrap=True,
        )
        return
    settings = read(folder / FILE)
    address = _address(address or f"http{'s' if certificate else ''}://127.0.0.1:{port}", host)
    place = database or os.environ.get("CELLCHECK_DATABASE") or str((folder / "class.db").absolute())
    if registration_link:
        _registration_link(folder, address)
        return
    if (certificate is None) != (certificate_key is None):
        raise GraderError("A certificate and its key go together: name both, or none.")
    try:
        from cellcheck.serving.supervise import serve as run

        if add_instructor is not None:
            _add_instructor(place, add_instructor, address)
            return
    except ModuleNotFoundError as error:
        raise GraderError(f'{error.name} is not installed: pip install "cellcheck[service]".') from error
    err.print(f"{escape(settings.title)}: {escape(address)} (Ctrl-C ends it)", highlight=False, soft_wrap=True)
    run(
        settings,
        place,
        host=host,
        port=port,
        workers=workers,
        address=address,
        require_sandbox=not without_sandbox,
        folder=folder,
        certificate=tuple(path for path in (certificate, certificate_key) if path is not None),
    )


def _address(address: str, host: str) -> str:
    """Where people reach the service: a host alone, by https beyond this machine."""
    place = urlsplit(address)
    here = {"127.0.0.1", "::1", "localhost"}
    if place.scheme != "https" and not (place.scheme == "http" and place.hostname in here and host in here):
        raise GraderError(
            "Beyond this machine people come by https: put a proxy with TLS in front (docs/serving.md), "
            "and name its --address."
        )
    if not place.hostname or place.username or place.path.strip("/") or place.query or place.fragment:
        raise GraderError("The address is a host alone, as in https://class.example: the service has it for itself.")
    return place.geturl().rstrip("/")


def _add_instructor(place: str, name: str, address: str) -> None:
    from cellcheck.serving import people
    from cellcheck.serving.store import open_store
    from cellcheck.serving.tables import INSTRUCTOR, LINK

    with open_store(place).writing() as session:
        person = people.named(session, name)
        if person is not None and person.role == INSTRUCTOR:  # who lost their link, and is alone
            people.note(session, person.name, "got a new sign-in link, on the command line")
        else:
            person = people.add(session, name, INSTRUCTOR)
            people.note(session, person.name, "was added as an instructor, on the command line")
        link = people.make_key(session, person, LINK)
    out.print("A sign-in link. It is shown only now, and works once:", highlight=False)
    out.print(f"{address}/sign-in/{link}", highlight=False, soft_wrap=True)


def _registration_link(folder: Path, address: str) -> None:
    try:
        from cellcheck.serving.lti import tool_in
    except ModuleNotFoundError as error:
        raise GraderError(f'{error.name} is not installed: pip install "cellcheck[lti]".') from error
    from cellcheck.serving.lti_pages import registration_link

    out.print("A registration link for one platform; it works once, within a day:", highlight=False)
    out.print(registration_link(tool_in(folder), address), highlight=False, soft_wrap=True)
