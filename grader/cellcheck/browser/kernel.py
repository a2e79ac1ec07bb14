"""What a notebook's kernel in the browser does differently, put right before the first cell shows something."""

from __future__ import annotations

import base64
import functools
import logging
import sys
import warnings
from collections.abc import Mapping
from typing import Any


def prepare(shell: Any = None) -> None:
    """Pictures are shown, a bar is a line of text without a warning, and Matplotlib doesn't speak of its fonts."""
    warnings.filterwarnings("ignore", message="IProgress not found")
    logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)
    publisher = getattr(shell or _shell(), "display_pub", None)
    if publisher is not None and not hasattr(publisher.publish, "__wrapped__"):
        publisher.publish = _with_text(publisher.publish)


def _shell() -> Any:
    return sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None


def _with_text(publish: Any) -> Any:
    """The same function; bytes in what is shown, such as a picture's, become text, as Jupyter's own kernel does it."""

    @functools.wraps(publish)
    def published(data: Mapping[str, Any], *arguments: Any, **named: Any) -> Any:
        texts = {
            kind: base64.b64encode(value).decode("ascii") if isinstance(value, bytes) else value
            for kind, value in data.items()
        }
        return publish(texts, *arguments, **named)

    return published
