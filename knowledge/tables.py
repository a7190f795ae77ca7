"""The tables of documents, chunks, vectors and the current index. Where the bot's migrations run they create these too."""

from typing import Final

from sqlalchemy import Column, Float, Integer, LargeBinary, MetaData, String, Table, Text

metadata: Final = MetaData()

documents: Final = Table(
    "knowledge_documents", metadata,
    Column("id", String(32), primary_key=True), Column("team", String(64), nullable=False, index=True),
    Column("kind", String(16), nullable=False), Column("source", Text, nullable=False), Column("origin", Text, nullable=False),
    Column("title", Text, nullable=False), Column("lang", String(2), nullable=False), Column("format", String(16), nullable=False),
    Column("content_hash", String(64), nullable=False), Column("size_bytes", Integer, nullable=False),
    Column("topics", Text, nullable=False), Column("added_at", Float, nullable=False),
)  # fmt: skip
chunks: Final = Table(
    "knowledge_chunks", metadata,
    Column("id", String(48), primary_key=True), Column("document_id", String(32), nullable=False, index=True),
    Column("ordinal", Integer, nullable=False), Column("text", Text, nullable=False), Column("headings", Text, nullable=False),
    Column("page", Integer), Column("paragraph_first", Integer, nullable=False), Column("paragraph_last", Integer, nullable=False),
    Column("passages", Text, nullable=False),
)  # fmt: skip
vectors: Final = Table(
    "knowledge_vectors", metadata,
    Column("model", String(128), primary_key=True), Column("text_hash", String(64), primary_key=True),
    Column("vector", LargeBinary, nullable=False),
)  # fmt: skip
current: Final = Table(
    "knowledge_index", metadata,
    Column("kind", String(16), primary_key=True), Column("version", String(64), nullable=False),
    Column("collection", String(128), nullable=False), Column("built_at", Float, nullable=False),
)  # fmt: skip
