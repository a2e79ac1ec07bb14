"""Small notebooks that a lesson's grader knows."""

import json
from pathlib import Path

LESSON = "01_pytorch_basics"
SETUP = f'import cellcheck\ncheck = cellcheck.checks("{LESSON}")'


def notebook(*sources: str, setup: str = SETUP, **metadata: object) -> bytes:
    """A notebook with the set-up cell and these code cells."""
    cells = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": source} for source in (setup, *sources)]
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": metadata, "cells": cells}).encode()


def exchange(folder: Path, lesson: str, released: bytes) -> tuple[Path, str]:
    """An exchange with a released lesson: where submissions arrive, and the settings of who hands in there."""
    root = folder / "exchange"
    inbound, outbound = root / "a-course" / "inbound", root / "a-course" / "outbound" / lesson
    for place in (inbound, outbound):
        place.mkdir(parents=True)
    for place in (root, inbound):
        place.chmod(0o777)
    (outbound / f"{lesson}.ipynb").write_bytes(released)
    settings = {"CourseDirectory.course_id": "a-course", "Exchange.root": str(root)}
    settings["Exchange.cache"] = str(folder / "cache")
    return inbound, "c = get_config()\n" + "".join(f"c.{name} = {value!r}\n" for name, value in settings.items())
