"""Alembic's entry: runs on the connection that `bot.database.migrate` hands over."""

from alembic import context

from bot.schema import metadata
from knowledge.tables import metadata as knowledge_metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=[metadata, knowledge_metadata],
    render_as_batch=True,
)
context.run_migrations()
