"""Handing in to a class's service (`cellcheck serve`), over https, with the learner's token."""

from __future__ import annotations

import json
import os
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass
from getpass import getpass

from cellcheck.submitting.not_submitted import NotSubmitted

ADDRESS, TOKEN = "CELLCHECK_SERVICE", "CELLCHECK_TOKEN"
"""Variables of the environment: where to hand in, and with which token."""
SECONDS = 60.0
_HERE = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True)
class ServiceReply:
    """What the service said."""

    page: str
    """Where it shows what comes of it."""
    new: bool
    ahead: int
    left: int
    """How many more attempts there are today."""


def by_service(lesson: str, data: bytes, address: str, token: str | None) -> ServiceReply:
    """Hands a notebook in.

    Args:
        lesson: its lesson.
        data: the notebook.
        address: the service's.
        token: the learner's; else the variable CELLCHECK_TOKEN, else they are asked for it.

    Raises:
        NotSubmitted: when it was not taken; the sentence says why.
    """
    place = urllib.parse.urlsplit(address)
    if place.scheme != "https" and not (place.scheme == "http" and place.hostname in _HERE):
        raise NotSubmitted(f"{address} is no address to hand in to: it should begin with https://.")
    token = (token or os.environ.get(TOKEN) or getpass("Your token: ")).strip()
    if not token.isascii() or not token.isprintable():
        raise NotSubmitted("That is no token: copy it again from your page there, or make a new one.")
    target = f"{address.rstrip('/')}/api/assignments/{urllib.parse.quote(lesson)}"
    try:
        request = urllib.request.Request(
            target, data, {"Authorization": f"Bearer {token}", "Content-Type": "application/x-ipynb+json"}
        )
        with _OPENER.open(request, timeout=SECONDS) as answer:
            reply = json.load(answer)
            return ServiceReply(
                str(reply["page"]), answer.status == 201, int(reply["ahead"]), int(reply["attempts_left"])
            )
    except urllib.error.HTTPError as error:
        raise NotSubmitted(f"Nothing was handed in: {_reason(error)}") from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        reason = getattr(error, "reason", error)
        raise NotSubmitted(
            f"{place.hostname} does not answer as it should ({reason}). Is the address right, and are you online? "
            "submit() without `to` writes a file that you can hand in on its page."
        ) from None


class _NoDetours(urllib.request.HTTPRedirectHandler):
    """A token goes to the address that was named, and nowhere else."""

    def redirect_request(self, *_: object) -> None:
        return None


_OPENER = urllib.request.build_opener(_NoDetours)


def _reason(error: urllib.error.HTTPError) -> str:
    if error.code == 401:
        return "your token is not known, was revoked, or has ended. Make a new one on your page there."
    try:
        return str(json.load(error)["error"])
    except (ValueError, KeyError, TypeError):
        return f"the service answered {error.code} ({error.reason})."
