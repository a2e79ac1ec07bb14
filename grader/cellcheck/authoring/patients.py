"""What a learner's test is tried on: a loss, a model, a decoder that may be sound or broken.

Everything in the learner's process can be read by the learner's code, so a patient is never there: it stays with the
case, in the process that judges (`cellcheck.running.judging`). What the learner's code calls only passes the question
on, and gets plain data back.
"""

import builtins
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from cellcheck.authoring.arrays import is_array, size_of, without_gradients
from cellcheck.authoring.observe import describe_error, snapshot

# A patient answers within seconds, so it is asked small questions only.
MOST_NUMBERS = 2**17  # of all arrays in one question
MAX_LENGTH = 2**7  # of any axis but the batch: attention makes a matrix of it
MAX_ROWS = 2**12  # of a batch: a patient may take its rows one by one, and rows may hold no numbers
MOST_ITEMS = 2**12  # of all lists in one question: they are taken one by one, too

Ask = Callable[..., Any]
"""`ask(way, *arguments)`: what a patient answers, as plain data."""


@dataclass(frozen=True)
class Patient:
    """One patient, made anew each time that a symbol is tried on its case.

    `ways` are what can be asked of it, by name: plain data in, plain data out. `noted` says afterwards what was asked:
    it goes to what was seen, and no code of the learner's can change it.
    """

    ways: Mapping[str, Callable[..., Any]]
    noted: Callable[[], dict[str, Any]] = dict
    most_numbers: int = MOST_NUMBERS
    most_rows: int = MAX_ROWS

    def reply(self, way: Any, arguments: Any) -> dict[str, Any]:
        """`{"value"}`, or `{"raised"}` with the error's description. Both arguments may be anything."""
        try:
            if not isinstance(way, str) or not isinstance(arguments, list):
                raise TypeError("no question")
            self._fit(arguments)
            with without_gradients():
                return {"value": snapshot(self.ways[way](*arguments))}
        except Exception as error:
            return {"raised": describe_error(error)}

    def _fit(self, arguments: list[Any]) -> None:
        items = [*_items(arguments)]
        if len(items) > MOST_ITEMS:
            raise ValueError(f"more than {MOST_ITEMS} things in lists at once")
        arrays = [(tuple(item.shape), size_of(item)) for item in items if is_array(item)]
        if sum(max(size, *shape, 0) for shape, size in arrays) > self.most_numbers:
            raise ValueError(f"more than {self.most_numbers} numbers at once")
        if any(shape[0] > self.most_rows for shape, _ in arrays if len(shape) > 1):
            raise ValueError(f"a batch of more than {self.most_rows} rows")
        if any(max(shape[1:], default=0) > MAX_LENGTH for shape, _ in arrays):
            raise ValueError(f"an axis longer than {MAX_LENGTH}")


def asked_here(patient: Patient) -> Ask:
    """Asks a patient of this process, with and for what would come through a pipe."""
    return lambda way, *arguments: answer_in(patient.reply(way, snapshot(list(arguments))))


def answer_in(reply: Mapping[str, Any]) -> Any:
    """The value of a patient's reply.

    Raises:
        Exception: the built-in one that the patient stopped with; a RuntimeError for any other.
    """
    if "raised" not in reply:
        return reply["value"]
    kind = getattr(builtins, reply["raised"]["type"], RuntimeError)
    error: type[Exception] = kind if isinstance(kind, type) and issubclass(kind, Exception) else RuntimeError
    raise error(reply["raised"]["message"])


def _items(value: Any) -> Iterator[Any]:
    """What lists and dicts hold, and they themselves."""
    yield value
    if isinstance(value, list | tuple | dict):
        for item in value.values() if isinstance(value, dict) else value:
            if isinstance(item, list | tuple | dict):
                yield from _items(item)
            else:
                yield item
