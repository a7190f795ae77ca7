"""Documents, chunks, vectors and the current index of `knowledge`; a database in which it made them itself keeps them."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    present = set(sa.inspect(op.get_bind()).get_table_names())
    if "knowledge_documents" not in present:
        op.create_table(
            "knowledge_documents",
            sa.Column("id", sa.String(32), primary_key=True),
            sa.Column("team", sa.String(64), nullable=False),
            sa.Column("kind", sa.String(16), nullable=False),
            sa.Column("source", sa.Text(), nullable=False),
            sa.Column("origin", sa.Text(), nullable=False),
            sa.Column("title", sa.Text(), nullable=False),
            sa.Column("lang", sa.String(2), nullable=False),
            sa.Column("format", sa.String(16), nullable=False),
            sa.Column("content_hash", sa.String(64), nullable=False),
            sa.Column("size_bytes", sa.Integer(), nullable=False),
            sa.Column("topics", sa.Text(), nullable=False),
            sa.Column("added_at", sa.Float(), nullable=False),
        )
        op.create_index("ix_knowledge_documents_team", "knowledge_documents", ["team"])
    if "knowledge_chunks" not in present:
        op.create_table(
            "knowledge_chunks",
            sa.Column("id", sa.String(48), primary_key=True),
            sa.Column("document_id", sa.String(32), nullable=False),
            sa.Column("ordinal", sa.Integer(), nullable=False),
            sa.Column("text", sa.Text(), nullable=False),
            sa.Column("headings", sa.Text(), nullable=False),
            sa.Column("page", sa.Integer()),
            sa.Column("paragraph_first", sa.Integer(), nullable=False),
            sa.Column("paragraph_last", sa.Integer(), nullable=False),
            sa.Column("passages", sa.Text(), nullable=False),
        )
        op.create_index("ix_knowledge_chunks_document_id", "knowledge_chunks", ["document_id"])
    if "knowledge_vectors" not in present:
        op.create_table(
            "knowledge_vectors",
            sa.Column("model", sa.String(128), primary_key=True),
            sa.Column("text_hash", sa.String(64), primary_key=True),
            sa.Column("vector", sa.LargeBinary(), nullable=False),
        )
    if "knowledge_index" not in present:
        op.create_table(
            "knowledge_index",
            sa.Column("kind", sa.String(16), primary_key=True),
            sa.Column("version", sa.String(64), nullable=False),
            sa.Column("collection", sa.String(128), nullable=False),
            sa.Column("built_at", sa.Float(), nullable=False),
        )


def downgrade() -> None:
    for table in ("knowledge_index", "knowledge_vectors", "knowledge_chunks", "knowledge_documents"):
        op.drop_table(table)
