"""What is kept. docs/serving.md says of each table what it says about a person, and how long it stays.

Times are seconds since 1970 in UTC: they compare alike in every database.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, ForeignKey, Index, LargeBinary, String, Text, UniqueConstraint
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship

LEARNER, INSTRUCTOR = "learner", "instructor"
LINK, SESSION, TOKEN = "link", "session", "token"
QUEUED, RUNNING, DONE, FAILED = "queued", "running", "done", "failed"


class Base(DeclarativeBase):
    """What all tables have in common."""


class Person(Base):
    """Somebody who may come in: a learner, or who teaches them."""

    __tablename__ = "person"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(200), unique=True)
    """What they are called in every list; it becomes the student's id in an export."""
    role: Mapped[str] = mapped_column(String(20), default=LEARNER)
    made: Mapped[float]
    keys: Mapped[list[Key]] = relationship(back_populates="person", cascade="all, delete-orphan")
    submissions: Mapped[list[Submission]] = relationship(back_populates="person", cascade="all, delete-orphan")
    extensions: Mapped[list[Extension]] = relationship(back_populates="person", cascade="all, delete-orphan")


class Key(Base):
    """Something that opens the door: of a link, a session or a token, the digest. The thing itself is kept nowhere."""

    __tablename__ = "key"
    id: Mapped[int] = mapped_column(primary_key=True)
    person_id: Mapped[int] = mapped_column(ForeignKey("person.id", ondelete="CASCADE"), index=True)
    kind: Mapped[str] = mapped_column(String(20))
    digest: Mapped[str] = mapped_column(String(64), unique=True)
    made: Mapped[float]
    ends: Mapped[float]
    used: Mapped[float | None]
    person: Mapped[Person] = relationship(back_populates="keys")


class Extension(Base):
    """A due date of somebody's own."""

    __tablename__ = "extension"
    __table_args__ = (UniqueConstraint("person_id", "lesson"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    person_id: Mapped[int] = mapped_column(ForeignKey("person.id", ondelete="CASCADE"))
    lesson: Mapped[str] = mapped_column(String(200))
    due: Mapped[float]
    person: Mapped[Person] = relationship(back_populates="extensions")


class Submission(Base):
    """A notebook that was handed in. The same bytes again are the same submission, with its first date."""

    __tablename__ = "submission"
    __table_args__ = (UniqueConstraint("person_id", "lesson", "digest"), Index("by_time", "lesson", "received"))
    id: Mapped[int] = mapped_column(primary_key=True)
    person_id: Mapped[int] = mapped_column(ForeignKey("person.id", ondelete="CASCADE"))
    lesson: Mapped[str] = mapped_column(String(200))
    digest: Mapped[str] = mapped_column(String(64))
    received: Mapped[float]
    notebook: Mapped[bytes] = mapped_column(LargeBinary, deferred=True)
    chosen: Mapped[bool] = mapped_column(default=False)
    """Whether the learner wants this one to count."""
    asked: Mapped[str] = mapped_column(Text, default="")
    """Why the learner wants somebody to look at it again."""
    answered: Mapped[str] = mapped_column(Text, default="")
    person: Mapped[Person] = relationship(back_populates="submissions")
    jobs: Mapped[list[Job]] = relationship(
        back_populates="submission", cascade="all, delete-orphan", order_by="Job.id", lazy="selectin"
    )


class Job(Base):
    """One grading of a submission, with one seed; the unique pair is what makes it happen once, in effect."""

    __tablename__ = "job"
    __table_args__ = (UniqueConstraint("submission_id", "seed"), Index("waiting", "state", "id"))
    id: Mapped[int] = mapped_column(primary_key=True)
    submission_id: Mapped[int] = mapped_column(ForeignKey("submission.id", ondelete="CASCADE"))
    seed: Mapped[int] = mapped_column(BigInteger)
    state: Mapped[str] = mapped_column(String(20), default=QUEUED)
    tries: Mapped[int] = mapped_column(default=0)
    lease: Mapped[str] = mapped_column(String(64), default="")
    """Who has it, for as long as that is."""
    leased_until: Mapped[float] = mapped_column(default=0.0)
    finished: Mapped[float | None]
    score: Mapped[float | None]
    max_score: Mapped[float | None]
    message: Mapped[str] = mapped_column(Text, default="")
    """Why it could not be graded."""
    result: Mapped[str] = mapped_column(Text, default="", deferred=True)
    """The result as `cellcheck grade --json` writes it."""
    page: Mapped[str] = mapped_column(Text, default="", deferred=True)
    submission: Mapped[Submission] = relationship(back_populates="jobs")


class Seed(Base):
    """What a lesson's hidden cases are drawn from in this class: secret, and the same for everybody."""

    __tablename__ = "seed"
    lesson: Mapped[str] = mapped_column(String(200), primary_key=True)
    seed: Mapped[int] = mapped_column(BigInteger)


class Event(Base):
    """What an instructor did: the audit log. It holds no secret."""

    __tablename__ = "event"
    id: Mapped[int] = mapped_column(primary_key=True)
    at: Mapped[float] = mapped_column(index=True)
    who: Mapped[str] = mapped_column(String(200))
    what: Mapped[str] = mapped_column(Text)
    about_id: Mapped[int | None] = mapped_column(ForeignKey("person.id", ondelete="SET NULL"))
    about: Mapped[Person | None] = relationship(lazy="joined")
    """Whom it concerned, for as long as they are here."""
