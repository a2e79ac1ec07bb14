"""How Alembic reaches the database: by the connection that `store.open_store` hands over."""

from alembic import context

from cellcheck.serving import lti_tables  # noqa: F401  # the platforms' tables, besides the others
from cellcheck.serving.tables import Base

context.configure(connection=context.config.attributes["connection"], target_metadata=Base.metadata)
with context.begin_transaction():
    context.run_migrations()
