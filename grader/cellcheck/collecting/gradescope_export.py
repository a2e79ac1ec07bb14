"""`submission_metadata.yml`: who handed in each submission of a Gradescope export, and when.

Learners choose their names, and what their tests printed is in the same file. So it is read as a stream of events,
in time that grows with its length: text stays text, an alias stands for at most one piece of text, nothing is built
from what isn't looked for, and deep nesting ends the reading.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import yaml

MAX_DEPTH = 50
_KNOWN = {":name", ":sid", ":email"}
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # of the same events, with a scanner in C


@dataclass(frozen=True)
class HandedInBy:
    """Who handed in a submission: name, student number and address, each "" where it isn't known; and when."""

    people: tuple[tuple[str, str, str], ...]
    time: datetime | None


class _TooDeep(Exception):
    """Nested as Gradescope never does it."""


def submissions(data: bytes) -> Mapping[str, HandedInBy]:
    """What the file says, per submission's folder, up to the place where it can't be read."""
    by_folder: dict[str, HandedInBy] = {}
    try:
        events = _events(data)
        for event in events:
            if isinstance(event, yaml.MappingStartEvent):
                for key in _keys(events):
                    by_folder[key] = _submission(events)
                break
            if not isinstance(event, yaml.StreamStartEvent | yaml.DocumentStartEvent):
                break
    except (yaml.YAMLError, ValueError, _TooDeep):
        pass
    return by_folder


def _events(data: bytes) -> Iterator[Any]:
    """What the parser meets, with text in the place of an alias that stands for it."""
    depth = 0
    texts: dict[str | None, Any] = {}
    for event in yaml.parse(data, Loader=_LOADER):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH:
            raise _TooDeep
        if isinstance(event, yaml.ScalarEvent) and event.anchor is not None:
            texts[event.anchor] = event
        yield texts.get(event.anchor, event) if isinstance(event, yaml.AliasEvent) else event


def _keys(events: Iterator[Any]) -> Iterator[str]:
    """The keys of a mapping that has begun; the value of each is to be taken from `events` before the next."""
    for event in events:
        if isinstance(event, yaml.MappingEndEvent):
            return
        _skip(event, events)
        yield str(event.value) if isinstance(event, yaml.ScalarEvent) else ""


def _submission(events: Iterator[Any]) -> HandedInBy:
    people: list[tuple[str, str, str]] = []
    time = None
    if isinstance(first := next(events), yaml.MappingStartEvent):
        for key in _keys(events):
            if key == ":submitters":
                people = list(_people(events))
            elif key == ":created_at":
                time = moment(_scalar(events))
            else:
                _skip(next(events), events)
    else:
        _skip(first, events)
    return HandedInBy(tuple(people), time)


def _people(events: Iterator[Any]) -> Iterator[tuple[str, str, str]]:
    first = next(events)
    if not isinstance(first, yaml.SequenceStartEvent):
        _skip(first, events)
        return
    for event in events:
        if isinstance(event, yaml.SequenceEndEvent):
            return
        if not isinstance(event, yaml.MappingStartEvent):
            _skip(event, events)
            continue
        texts = {}
        for key in _keys(events):
            if key in _KNOWN:
                texts[key] = _scalar(events)
            else:
                _skip(next(events), events)
        yield texts.get(":name", ""), texts.get(":sid", ""), texts.get(":email", "")


def _scalar(events: Iterator[Any]) -> str:
    """The next value as it is written, "" where it is none or no text."""
    event = next(events)
    if not isinstance(event, yaml.ScalarEvent):
        _skip(event, events)
        return ""
    empty = event.implicit[0] and event.value in ("~", "null")
    return "" if empty else str(event.value).strip()


def _skip(first: Any, events: Iterator[Any]) -> None:
    depth = int(isinstance(first, yaml.CollectionStartEvent))
    while depth:
        event = next(events)
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)


def moment(text: str) -> datetime | None:
    """A time as Ruby writes it, "2026-02-03 10:11:12.123456789 -08:00", in UTC; None where it isn't a time."""
    date, _, rest = text.partition(" ") if " " in text else text.partition("T")
    clock, _, zone = rest.partition(" ")
    whole, _, fraction = clock.partition(".")
    try:
        time = datetime.fromisoformat(
            f"{date}T{whole}{f'.{fraction[:6]}' if fraction else ''}{zone.strip().replace('UTC', '+00:00')}"
        )
        time = time if time.tzinfo else time.replace(tzinfo=UTC)
        return time.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
