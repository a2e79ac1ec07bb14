"""The pages: plain HTML that works without a script; `live.js` only spares people the reloading."""

from __future__ import annotations

from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import HTMLResponse, Response

from cellcheck.checking.cards import points, worth
from cellcheck.serving.standing import in_words


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("cellcheck.serving", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["points"] = points
    environment.filters["worth"] = worth
    environment.filters["time"] = in_words
    return environment


def render(name: str, status: int = 200, **values: Any) -> Response:
    """A page. Whatever is filled in is escaped; what is missing is an error."""
    return HTMLResponse(_environment().get_template(f"{name}.html").render(**values), status)
