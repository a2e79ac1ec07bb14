"""What is put right of the browser's kernel."""

from __future__ import annotations

import base64
import json
from types import SimpleNamespace
from typing import Any

from cellcheck.browser.kernel import prepare
from transformer_course import plots


def test_a_picture_arrives_as_text() -> None:
    """JupyterLite's kernel passes on what `display` is given, and a message holds no bytes."""
    shown: list[dict[str, Any]] = []

    def publish(data: dict[str, Any], metadata: Any = None, **_: Any) -> None:
        shown.append({"data": data, "metadata": metadata})

    shell = SimpleNamespace(display_pub=SimpleNamespace(publish=publish))
    prepare(shell)
    prepare(shell)  # as a learner does who runs the set-up cell again
    picture = plots.bars({"one": 1.0, "two": 2.0}, title="Two bars")
    shell.display_pub.publish({"image/png": picture.png(), "text/plain": "two"}, metadata={"image/png": {"alt": "two"}})
    (message,) = json.loads(json.dumps(shown))
    assert base64.b64decode(message["data"]["image/png"], validate=True).startswith(b"\x89PNG")
    assert message["data"]["text/plain"] == "two"
    assert message["metadata"] == {"image/png": {"alt": "two"}}
