"""The tables. Times are seconds since 1970 as floats, so that both databases and every replica read them alike."""

from __future__ import annotations

from typing import Final

from sqlalchemy import JSON, Boolean, Column, Double, ForeignKey, Index, Integer, MetaData, String, Table, Text

metadata: Final = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)
_ID: Final = String(200)

threads: Final = Table(
    "threads",
    metadata,
    Column("id", _ID, primary_key=True),
    Column("team", String(64), nullable=False),
    Column("channel", String(64), nullable=False),
    Column("root_ts", String(32)),
    Column("conversation", Boolean, nullable=False),
    Column("state", JSON),
    Column("read_until", String(32)),
    Column("created_at", Double, nullable=False),
    Column("updated_at", Double, nullable=False),
    Index("ix_threads_team_channel", "team", "channel"),
)

# Inbox, history and list of dead letters in one: `state` is queued, running, done or dead.
turns: Final = Table(
    "turns",
    metadata,
    Column("key", _ID, primary_key=True),
    Column("thread_id", _ID, ForeignKey("threads.id", ondelete="CASCADE"), nullable=False),
    Column("kind", String(16), nullable=False),
    Column("team", String(64), nullable=False),
    Column("channel", String(64), nullable=False),
    Column("root_ts", String(32)),
    Column("user", String(64), nullable=False),
    Column("ts", String(32), nullable=False),
    Column("body", JSON, nullable=False),
    Column("state", String(16), nullable=False),
    Column("owner", String(100)),
    Column("lease_until", Double),
    Column("not_before", Double, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("posting_at", Double),
    Column("answer_id", String(64)),
    Column("error", Text),
    Column("received_at", Double, nullable=False),
    Column("finished_at", Double),
    Index("ix_turns_state_not_before", "state", "not_before"),
    Index("ix_turns_thread_id_ts", "thread_id", "ts"),
    Index("ix_turns_thread_id_received_at", "thread_id", "received_at"),
    Index("ix_turns_team_user", "team", "user"),
    Index("ix_turns_finished_at", "finished_at"),
)

answers: Final = Table(
    "answers",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("thread_id", _ID, ForeignKey("threads.id", ondelete="CASCADE"), nullable=False),
    Column("body", JSON, nullable=False),
    Column("created_at", Double, nullable=False),
    Index("ix_answers_thread_id", "thread_id"),
)

team_defaults: Final = Table(
    "team_defaults",
    metadata,
    Column("team", String(64), primary_key=True),
    Column("body", JSON, nullable=False),
    Column("updated_at", Double, nullable=False),
)

feedback: Final = Table(
    "feedback",
    metadata,
    Column("answer_id", String(64), ForeignKey("answers.id", ondelete="CASCADE"), primary_key=True),
    Column("user", String(64), primary_key=True),
    Column("vote", Integer, nullable=False),
    Column("created_at", Double, nullable=False),
)

# `sealed` holds the bot token encrypted; Slack's tokens have no fixed length. Without an enterprise it is empty.
installations: Final = Table(
    "installations",
    metadata,
    Column("enterprise", String(64), primary_key=True),
    Column("team", String(64), primary_key=True),
    Column("app", String(64), nullable=False),
    Column("bot_user", String(64), nullable=False),
    Column("bot_id", String(64), nullable=False),
    Column("scopes", Text, nullable=False),
    Column("sealed", Text, nullable=False),
    Column("installed_by", String(64), nullable=False),
    Column("installed_at", Double, nullable=False),
)

oauth_states: Final = Table(
    "oauth_states",
    metadata,
    Column("state", String(64), primary_key=True),
    Column("expires_at", Double, nullable=False),
)
