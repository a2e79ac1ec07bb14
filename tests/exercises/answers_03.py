"""Lesson 03 beyond its catalogue: odd but honest answers keep their points, nameless wrong ones lose some."""

from __future__ import annotations

from typing import Any

HONEST: dict[str, list[Any]] = {}
WRONG: dict[str, list[Any]] = {}
