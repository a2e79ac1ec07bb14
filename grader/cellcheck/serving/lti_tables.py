"""What is kept for platforms such as Moodle: which there are, who comes from them, and what they were told."""

from __future__ import annotations

from sqlalchemy import ForeignKey, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column, relationship

from cellcheck.serving.tables import Base, Person


class Platform(Base):
    """A registration of this service at a platform."""

    __tablename__ = "platform"
    __table_args__ = (UniqueConstraint("issuer", "client"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    issuer: Mapped[str] = mapped_column(String(500))
    client: Mapped[str] = mapped_column(String(300))
    """What the platform calls us."""
    name: Mapped[str] = mapped_column(String(200))
    login_url: Mapped[str] = mapped_column(Text)
    token_url: Mapped[str] = mapped_column(Text)
    keys_url: Mapped[str] = mapped_column(Text)
    audience: Mapped[str] = mapped_column(Text, default="")
    """Whom we address when we ask for a token, where that isn't the address itself."""
    made: Mapped[float]


class PlatformCourse(Base):
    """A course of a platform that somebody came from. An instructor of this class admits it, or doesn't."""

    __tablename__ = "course"
    __table_args__ = (UniqueConstraint("platform_id", "deployment", "context"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    platform_id: Mapped[int] = mapped_column(ForeignKey("platform.id", ondelete="CASCADE"))
    deployment: Mapped[str] = mapped_column(String(300))
    context: Mapped[str] = mapped_column(String(300))
    title: Mapped[str] = mapped_column(String(200))
    admitted: Mapped[bool] = mapped_column(default=False)
    platform: Mapped[Platform] = relationship()


class Identity(Base):
    """Who somebody is at a platform: by its number for them, never by their name."""

    __tablename__ = "identity"
    __table_args__ = (UniqueConstraint("platform_id", "subject"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    platform_id: Mapped[int] = mapped_column(ForeignKey("platform.id", ondelete="CASCADE"))
    person_id: Mapped[int] = mapped_column(ForeignKey("person.id", ondelete="CASCADE"), index=True)
    subject: Mapped[str] = mapped_column(String(300))
    platform: Mapped[Platform] = relationship()
    person: Mapped[Person] = relationship()


class Destination(Base):
    """Where somebody's marks for a lesson go, and what was told there last."""

    __tablename__ = "destination"
    __table_args__ = (UniqueConstraint("identity_id", "lesson", "line_item"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    identity_id: Mapped[int] = mapped_column(ForeignKey("identity.id", ondelete="CASCADE"))
    lesson: Mapped[str] = mapped_column(String(200))
    line_item: Mapped[str] = mapped_column(String(1000))
    told: Mapped[str] = mapped_column(Text, default="")
    """As JSON, what arrived last."""
    told_at: Mapped[float | None]
    seen: Mapped[str] = mapped_column(Text, default="")
    """How the submissions stood when that was worked out."""
    tries: Mapped[int] = mapped_column(default=0)
    retry_at: Mapped[float] = mapped_column(default=0.0)
    error: Mapped[str] = mapped_column(Text, default="")
    """Why it did not arrive; empty once it has."""
    identity: Mapped[Identity] = relationship()


class Used(Base):
    """What works once and was used: a launch, or a registration link. Only its digest, until it would end anyway."""

    __tablename__ = "used"
    digest: Mapped[str] = mapped_column(String(64), primary_key=True)
    ends: Mapped[float]
