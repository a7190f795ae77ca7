"""Workspaces that installed the app, with their sealed tokens, and the states of installations on their way."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "installations",
        sa.Column("enterprise", sa.String(64), nullable=False),
        sa.Column("team", sa.String(64), nullable=False),
        sa.Column("app", sa.String(64), nullable=False),
        sa.Column("bot_user", sa.String(64), nullable=False),
        sa.Column("bot_id", sa.String(64), nullable=False),
        sa.Column("scopes", sa.Text(), nullable=False),
        sa.Column("sealed", sa.Text(), nullable=False),
        sa.Column("installed_by", sa.String(64), nullable=False),
        sa.Column("installed_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("enterprise", "team", name="pk_installations"),
    )
    op.create_table(
        "oauth_states",
        sa.Column("state", sa.String(64), nullable=False),
        sa.Column("expires_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("state", name="pk_oauth_states"),
    )
    op.create_index("ix_turns_team_user", "turns", ["team", "user"])
    op.create_index("ix_turns_finished_at", "turns", ["finished_at"])


def downgrade() -> None:
    op.drop_index("ix_turns_finished_at", "turns")
    op.drop_index("ix_turns_team_user", "turns")
    op.drop_table("oauth_states")
    op.drop_table("installations")
