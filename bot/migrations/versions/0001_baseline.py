"""Baseline: threads, turns, answers, defaults, feedback."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    _threads()
    _turns()
    _answers()
    _team_defaults()
    _feedback()


def downgrade() -> None:
    for table in ("feedback", "team_defaults", "answers", "turns", "threads"):
        op.drop_table(table)


def _threads() -> None:
    op.create_table(
        "threads",
        sa.Column("id", sa.String(200), nullable=False),
        sa.Column("team", sa.String(64), nullable=False),
        sa.Column("channel", sa.String(64), nullable=False),
        sa.Column("root_ts", sa.String(32)),
        sa.Column("conversation", sa.Boolean(), nullable=False),
        sa.Column("state", sa.JSON()),
        sa.Column("read_until", sa.String(32)),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("updated_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_threads"),
    )
    op.create_index("ix_threads_team_channel", "threads", ["team", "channel"])


def _turns() -> None:
    op.create_table(
        "turns",
        sa.Column("key", sa.String(200), nullable=False),
        sa.Column("thread_id", sa.String(200), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("team", sa.String(64), nullable=False),
        sa.Column("channel", sa.String(64), nullable=False),
        sa.Column("root_ts", sa.String(32)),
        sa.Column("user", sa.String(64), nullable=False),
        sa.Column("ts", sa.String(32), nullable=False),
        sa.Column("body", sa.JSON(), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("owner", sa.String(100)),
        sa.Column("lease_until", sa.Double()),
        sa.Column("not_before", sa.Double(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("posting_at", sa.Double()),
        sa.Column("answer_id", sa.String(64)),
        sa.Column("error", sa.Text()),
        sa.Column("received_at", sa.Double(), nullable=False),
        sa.Column("finished_at", sa.Double()),
        sa.PrimaryKeyConstraint("key", name="pk_turns"),
        sa.ForeignKeyConstraint(["thread_id"], ["threads.id"], name="fk_turns_thread_id_threads", ondelete="CASCADE"),
    )
    op.create_index("ix_turns_state_not_before", "turns", ["state", "not_before"])
    op.create_index("ix_turns_thread_id_ts", "turns", ["thread_id", "ts"])
    op.create_index("ix_turns_thread_id_received_at", "turns", ["thread_id", "received_at"])


def _answers() -> None:
    op.create_table(
        "answers",
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("thread_id", sa.String(200), nullable=False),
        sa.Column("body", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_answers"),
        sa.ForeignKeyConstraint(["thread_id"], ["threads.id"], name="fk_answers_thread_id_threads", ondelete="CASCADE"),
    )
    op.create_index("ix_answers_thread_id", "answers", ["thread_id"])


def _team_defaults() -> None:
    op.create_table(
        "team_defaults",
        sa.Column("team", sa.String(64), nullable=False),
        sa.Column("body", sa.JSON(), nullable=False),
        sa.Column("updated_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("team", name="pk_team_defaults"),
    )


def _feedback() -> None:
    op.create_table(
        "feedback",
        sa.Column("answer_id", sa.String(64), nullable=False),
        sa.Column("user", sa.String(64), nullable=False),
        sa.Column("vote", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("answer_id", "user", name="pk_feedback"),
        sa.ForeignKeyConstraint(
            ["answer_id"], ["answers.id"], name="fk_feedback_answer_id_answers", ondelete="CASCADE"
        ),
    )
