"""Whether a graph leads back from a result that is wrong anyway: a second slip, which gradients alone don't show."""

from collections.abc import Mapping
from typing import Any

from cellcheck.authoring import aspects
from transformer_course.lessons.watching import AS_ASKED

GRAPH = aspects.spoken(
    "a graph behind the result", "graph", meaning="A graph leads from the result back to what was passed in."
)
_BROKEN_OFF = "No gradient flows back from your result. Where does its graph break off?"


def behind(observation: Mapping[str, Any], right: bool) -> str:
    """In words; of a result that is `right`, its gradients say as much. A list or a dict may hold a graph."""
    if isinstance(observation.get("output"), list | tuple | dict):
        return AS_ASKED
    flowing = observation.get("gradients")
    nothing = not any(each is not None for each in flowing) if isinstance(flowing, list) else flowing in _NOTHING
    return _BROKEN_OFF if nothing and not right else AS_ASKED


_NOTHING = ("cut off", "no tensor to follow")
