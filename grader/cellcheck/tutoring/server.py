"""`cellcheck tutor`: the desk's answers over the Model Context Protocol, on standard input and output.

It runs on the learner's machine, needs no key, and opens no connection. Whatever a client asks, a reply is data about
the learner's work and words from the lesson's text, and passes `withheld` on its way out.
"""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable
from functools import wraps
from importlib.resources import files
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
from mcp.server.mcpserver import MCPServer

from cellcheck.errors import GraderError
from cellcheck.running import zygotes
from cellcheck.tutoring.desk import Desk
from cellcheck.tutoring.withheld import withheld

TOOLS = ("where_am_i", "check", "hint", "explain", "smaller_question")


def serve(folder: Path) -> None:
    """Answers one client, until it closes the line. What it has asked for then isn't worked out any more."""
    server(folder).run("stdio")


def server(folder: Path) -> MCPServer[Any]:
    """The server for one learner's folder."""
    desk = Desk(folder)
    rules = files("cellcheck.learning").joinpath("assistants.md").read_text("utf-8")
    tutor: MCPServer[Any] = MCPServer(
        "cellcheck-tutor",
        title="A tutor that knows what is wrong",
        instructions=rules.partition("## If you can use tools")[0].rstrip(),
        log_level="ERROR",
    )

    for name in TOOLS:
        tutor.add_tool(_careful(getattr(desk, name)))
    return tutor


def _careful(tool: Callable[..., dict[str, Any]]) -> Callable[..., Awaitable[dict[str, Any]]]:
    """The tool, which never raises, whose reply holds no line of an answer, and whose work ends when it's cancelled."""

    def answer(*args: Any, **kwargs: Any) -> dict[str, Any]:
        try:
            reply = tool(*args, **kwargs)
        except GraderError as error:
            reply = {"problem": str(error)}
        except Exception as error:  # its text may quote anything
            reply = {"problem": f"The tutor could not answer that ({type(error).__name__})."}
        checked: dict[str, Any] = withheld(reply)
        return checked

    @wraps(tool)
    async def elsewhere(*args: Any, **kwargs: Any) -> dict[str, Any]:
        workers: set[int] = set()

        def work() -> dict[str, Any]:
            workers.add(threading.get_ident())
            try:
                return answer(*args, **kwargs)
            finally:
                workers.clear()

        try:
            return await anyio.to_thread.run_sync(work, abandon_on_cancel=True)
        except anyio.get_cancelled_exc_class():
            with anyio.CancelScope(shield=True):
                while workers:  # it may not have borrowed the process yet that runs the learner's code
                    zygotes.end_work_of(workers)
                    await anyio.sleep(0.1)
            raise

    return elsewhere
