"""A client of the tutor, over standard input and output, as somebody else's program is one."""

import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
from mcp import Client, StdioServerParameters, stdio_client

from tests.warm import PATH

Ask = Callable[..., Awaitable[dict[str, Any]]]


@asynccontextmanager
async def client(folder: Path) -> AsyncIterator[Client]:
    """A client of a server of its own, for the learner of this folder."""
    started = StdioServerParameters(
        command=sys.executable,
        args=["-m", "cellcheck", "tutor", str(folder)],
        env={**PATH, "OMP_NUM_THREADS": "1"},
    )
    async with Client(stdio_client(started)) as asking:
        yield asking


async def ask(asking: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """What a tool replies, as data."""
    result = await asking.call_tool(tool, arguments)
    if result.structured_content is not None:
        return dict(result.structured_content)
    text = "".join(getattr(part, "text", "") for part in result.content)
    return {"problem": text} if result.is_error else dict(json.loads(text))


def talk(folder: Path, conversation: Callable[[Client], Awaitable[None]]) -> None:
    """Runs a whole conversation."""

    async def run() -> None:
        async with client(folder) as asking:
            await conversation(asking)

    anyio.run(run)
