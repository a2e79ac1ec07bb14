"""Who somebody is. Links, sessions and tokens are random, and kept as digests: whoever reads the database has none."""

from __future__ import annotations

import hashlib
import secrets
import time
import unicodedata
from dataclasses import dataclass

from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import Session

from cellcheck.errors import GraderError
from cellcheck.plain import draws_nothing
from cellcheck.serving.tables import INSTRUCTOR, LEARNER, LINK, SESSION, TOKEN, Event, Key, Person

DAY = 24 * 60 * 60
LASTS = {LINK: 14 * DAY, TOKEN: 180 * DAY}
"""Seconds. A link works once."""
SESSION_LASTS = {LEARNER: 180 * DAY, INSTRUCTOR: 12 * 60 * 60}
IDLE = {LEARNER: 30 * DAY, INSTRUCTOR: 2 * 60 * 60}
"""A session also ends when it was not used for so long. A learner's lasts: there is no password to come back with."""
MOST_TOKENS = 5
_FRESH = 60
"""Seconds between two notes of when a session was used."""
LONGEST_NAME = 200


@dataclass(frozen=True)
class Visitor:
    """Somebody who came in by a session or a token."""

    id: int
    name: str
    role: str
    csrf: str
    """What a form of theirs must bring along; empty with a token, which no browser sends by itself."""
    noted: bool
    """Whether it was noted lately that their key is in use."""

    @property
    def teaches(self) -> bool:
        """Whether they may see the class."""
        return self.role == INSTRUCTOR


def add(session: Session, name: str, role: str = LEARNER) -> Person:
    """A new person.

    Raises:
        GraderError: when the name is taken, or can't be seen or told apart.
    """
    name = as_kept(name)
    if not name or len(name) > LONGEST_NAME or any(map(draws_nothing, name)):
        raise GraderError(f"A name has 1 to {LONGEST_NAME} characters, and each can be seen.")
    if named(session, name) is not None:
        raise GraderError(f"{name} is already in the class.")
    person = Person(name=name, role=role, made=time.time())
    session.add(person)
    session.flush()
    return person


def as_kept(name: str) -> str:
    """A name as it is kept: macOS takes accents apart, and the same name typed elsewhere would be another one."""
    return unicodedata.normalize("NFC", name.strip())


def named(session: Session, name: str) -> Person | None:
    """The person of this name."""
    return session.scalar(select(Person).filter_by(name=as_kept(name)))


def make_key(session: Session, person: Person, kind: str) -> str:
    """A new link, session or token. What is returned is kept nowhere: it is shown once.

    A new link takes the place of the old one.

    Raises:
        GraderError: when there are too many tokens.
    """
    now = time.time()
    if kind == LINK:
        session.execute(delete(Key).where(Key.person_id == person.id, Key.kind == LINK))
    session.execute(delete(Key).where(Key.person_id == person.id, Key.ends < now))
    if kind == TOKEN and len(tokens(session, person.id)) >= MOST_TOKENS:
        raise GraderError(f"You have {MOST_TOKENS} tokens. Revoke one that you no longer use, then make another.")
    secret = secrets.token_urlsafe(32)
    ends = now + (SESSION_LASTS[person.role] if kind == SESSION else LASTS[kind])
    session.add(Key(person_id=person.id, kind=kind, digest=digest(secret), made=now, ends=ends))
    return secret


def who(session: Session, secret: str, kind: str) -> Visitor | None:
    """Whose key it is; None where it is nobody's, or too old."""
    key = session.scalar(select(Key).filter_by(digest=digest(secret), kind=kind))
    now = time.time()
    if key is None:
        return None
    idle = IDLE[key.person.role] if kind == SESSION else float("inf")
    if key.ends < now or now - (key.used or key.made) > idle:
        return None
    proof = csrf(secret) if kind == SESSION else ""
    return Visitor(key.person.id, key.person.name, key.person.role, proof, now - (key.used or 0.0) <= _FRESH)


def note_use(session: Session, secret: str) -> None:
    """Writes down that a key was used just now."""
    session.execute(update(Key).where(Key.digest == digest(secret)).values(used=time.time()))


def use_link(session: Session, secret: str) -> str | None:
    """The session that a sign-in link opens; the link is used up. None where it doesn't work."""
    visitor = who(session, secret, LINK)
    if visitor is None:
        return None
    used = session.execute(delete(Key).where(Key.digest == digest(secret)))
    if not used.rowcount:  # type: ignore[attr-defined]  # somebody else was quicker
        return None
    return make_key(session, session.get_one(Person, visitor.id), SESSION)


def tokens(session: Session, person: int) -> list[Key]:
    """Somebody's tokens that still work, oldest first."""
    keys = select(Key).where(Key.person_id == person, Key.kind == TOKEN, Key.ends >= time.time()).order_by(Key.id)
    return list(session.scalars(keys))


def revoke(session: Session, person: int, key: int) -> bool:
    """Takes a token of somebody's out of force; False where it is none of theirs."""
    gone = session.execute(delete(Key).where(Key.id == key, Key.person_id == person, Key.kind == TOKEN))
    return bool(gone.rowcount)  # type: ignore[attr-defined]


def sign_out(session: Session, secret: str) -> None:
    """Ends a session."""
    session.execute(delete(Key).where(Key.digest == digest(secret), Key.kind == SESSION))


def sign_out_everywhere(session: Session, person: Person) -> None:
    """Ends all of somebody's sessions."""
    session.execute(delete(Key).where(Key.person_id == person.id, Key.kind == SESSION))


def forget_ended(session: Session, now: float) -> None:
    """Deletes the keys that no longer work: those past their end, and sessions that nobody used for too long."""
    session.execute(delete(Key).where(Key.ends < now))
    for role, idle in IDLE.items():
        theirs = Key.person_id.in_(select(Person.id).where(Person.role == role))
        unused = func.coalesce(Key.used, Key.made) < now - idle
        session.execute(delete(Key).where(Key.kind == SESSION, theirs, unused))


def take_keys(session: Session, person: Person) -> None:
    """Ends all that opens the door for somebody: sessions, links and tokens."""
    session.execute(delete(Key).where(Key.person_id == person.id))


def note(session: Session, who: str, what: str, about: Person | None = None) -> None:
    """Writes into the audit log. `what` names no learner: whom it is about goes when they go."""
    session.add(Event(at=time.time(), who=who, what=what, about_id=about.id if about is not None else None))


def digest(secret: str) -> str:
    """A key's digest. It is as random as the key is long, so that no salt or slow hash would add anything."""
    return hashlib.sha256(secret.encode()).hexdigest()


def csrf(secret: str) -> str:
    """What proves that a form was ours: only who has the session can know it."""
    return hashlib.sha256(b"csrf " + secret.encode()).hexdigest()
