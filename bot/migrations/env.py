"""Alembic's entry: runs on the connection that `bot.database.migrate` hands over."""

from alembic import context

from bot.schema import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata, render_as_batch=True)
context.run_migrations()
