"""The tables for platforms: LTI 1.3."""

import sqlalchemy as sa
from alembic import op

revision = "lti"
down_revision = "first"


def upgrade() -> None:
    """Makes them."""
    op.create_table(
        "platform",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("issuer", sa.String(length=500), nullable=False),
        sa.Column("client", sa.String(length=300), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("login_url", sa.Text(), nullable=False),
        sa.Column("token_url", sa.Text(), nullable=False),
        sa.Column("keys_url", sa.Text(), nullable=False),
        sa.Column("audience", sa.Text(), nullable=False),
        sa.Column("made", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("issuer", "client"),
    )
    op.create_table(
        "course",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("platform_id", sa.Integer(), nullable=False),
        sa.Column("deployment", sa.String(length=300), nullable=False),
        sa.Column("context", sa.String(length=300), nullable=False),
        sa.Column("title", sa.String(length=200), nullable=False),
        sa.Column("admitted", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["platform_id"], ["platform.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("platform_id", "deployment", "context"),
    )
    op.create_table(
        "identity",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("platform_id", sa.Integer(), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("subject", sa.String(length=300), nullable=False),
        sa.ForeignKeyConstraint(["platform_id"], ["platform.id"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("platform_id", "subject"),
    )
    op.create_index(op.f("ix_identity_person_id"), "identity", ["person_id"], unique=False)
    op.create_table(
        "destination",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("identity_id", sa.Integer(), nullable=False),
        sa.Column("lesson", sa.String(length=200), nullable=False),
        sa.Column("line_item", sa.String(length=1000), nullable=False),
        sa.Column("told", sa.Text(), nullable=False),
        sa.Column("told_at", sa.Double(), nullable=True),
        sa.Column("seen", sa.Text(), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("retry_at", sa.Double(), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["identity_id"], ["identity.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("identity_id", "lesson", "line_item"),
    )
    op.create_table(
        "used",
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("ends", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("digest"),
    )


def downgrade() -> None:
    """Takes them away, with what they hold."""
    for name in ("used", "destination", "identity", "course", "platform"):
        op.drop_table(name)
