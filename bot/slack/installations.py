"""Workspaces that installed the app: tokens sealed at rest, states of installations on their way.

Slack's token rotation is not opted into: a bot token then lives until it is revoked, and no refresh can burn it.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable, Iterable
from typing import Final

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from slack_sdk.oauth.installation_store import Bot, Installation
from slack_sdk.oauth.installation_store.async_installation_store import AsyncInstallationStore
from slack_sdk.oauth.state_store.async_state_store import AsyncOAuthStateStore
from sqlalchemy import ColumnElement, Engine, and_, delete, select, update
from sqlalchemy.engine import Row

from bot.database import reading
from bot.offload import Offload
from bot.schema import installations, oauth_states
from bot.store import upsert
from sizing.errors import UserError

_STATE_S: Final = 600.0
_VARIABLE: Final = "SIZEWISE_ENCRYPTION_KEYS"


class Vault:
    """Seals tokens. The first key seals, all of them open: rotating is to put a new key in front and to seal anew."""

    def __init__(self, keys: Iterable[str]) -> None:
        try:
            self._fernets = MultiFernet([Fernet(key) for key in keys])
        except ValueError:
            raise UserError(
                _VARIABLE, "…", f"{_VARIABLE} takes keys made by `sizewise keys new`, the newest first"
            ) from None

    @classmethod
    def of(cls, keys: str) -> Vault:
        """From a comma-separated list of keys.

        Raises:
            UserError: there is none, or one is no Fernet key.
        """
        found = [key.strip() for key in keys.split(",") if key.strip()]
        if not found:
            raise UserError(
                _VARIABLE, None, f"set {_VARIABLE} to a key made by `sizewise keys new`: tokens are kept sealed"
            )
        return cls(found)

    def seal(self, secret: str) -> str:
        return self._fernets.encrypt(secret.encode()).decode("ascii")

    def open(self, sealed: str) -> str:
        """The secret.

        Raises:
            UserError: none of the keys opens it.
        """
        try:
            return self._fernets.decrypt(sealed).decode()
        except InvalidToken:
            raise UserError(
                _VARIABLE, "…", f"no key opens a stored token: add the key it was sealed with to {_VARIABLE}"
            ) from None

    def seal_anew(self, sealed: str) -> str:
        """The same secret under the first key."""
        return self.seal(self.open(sealed))


class Installations:
    """The table of installations. Every method is one transaction; none gives out a workspace for another's ids."""

    def __init__(self, engine: Engine, vault: Vault, clock: Callable[[], float] = time.time) -> None:
        self.engine, self.vault, self.clock = engine, vault, clock

    def save(self, found: Bot, installed_by: str) -> None:
        """Keep, or replace, the installation of a workspace."""
        row = {
            "enterprise": found.enterprise_id or "", "team": found.team_id or "", "app": found.app_id or "",
            "bot_user": found.bot_user_id, "bot_id": found.bot_id, "scopes": ",".join(found.bot_scopes or ()),
            "sealed": self.vault.seal(json.dumps({"bot_token": found.bot_token})), "installed_by": installed_by,
            "installed_at": found.installed_at,
        }  # fmt: skip
        changed = tuple(name for name in row if name not in ("enterprise", "team"))
        with self.engine.begin() as connection:
            upsert(connection, installations, row, change=changed)

    def find(self, enterprise: str | None, team: str | None) -> Bot | None:
        """The installation of exactly this workspace.

        Raises:
            UserError: its token cannot be opened.
        """
        own = _workspace(enterprise, team)
        with reading(self.engine) as connection:
            row = connection.execute(select(installations).where(own)).one_or_none()
        return self._bot(row) if row else None

    def of_team(self, team: str) -> Bot | None:
        """The newest installation of a workspace, whichever enterprise it is in: its id is unique in all of Slack.

        Raises:
            UserError: its token cannot be opened.
        """
        query = select(installations).where(installations.c.team == team).order_by(installations.c.installed_at.desc())
        with reading(self.engine) as connection:
            row = connection.execute(query).first() if team else None
        return self._bot(row) if row else None

    def remove_team(self, team: str) -> None:
        """Forget the tokens of a workspace."""
        with self.engine.begin() as connection:
            connection.execute(delete(installations).where(installations.c.team == team))

    def _bot(self, row: Row[tuple[object, ...]]) -> Bot:
        found = dict(row._mapping)
        return Bot(
            app_id=found["app"], enterprise_id=found["enterprise"] or None, team_id=found["team"] or None,
            bot_token=json.loads(self.vault.open(found["sealed"]))["bot_token"], bot_id=found["bot_id"],
            bot_user_id=found["bot_user"], bot_scopes=found["scopes"], installed_at=found["installed_at"],
        )  # fmt: skip

    def remove(self, enterprise: str | None, team: str | None) -> bool:
        """Forget a workspace's tokens. False if there were none."""
        with self.engine.begin() as connection:
            return connection.execute(delete(installations).where(_workspace(enterprise, team))).rowcount > 0

    def rotate(self) -> int:
        """Seal every token under the first key; how many there are."""
        with self.engine.begin() as connection:
            rows = connection.execute(
                select(installations.c.enterprise, installations.c.team, installations.c.sealed).with_for_update()
            )
            found = list(rows)
            for row in found:
                own = _workspace(row.enterprise, row.team)
                changed = {"sealed": self.vault.seal_anew(row.sealed)}
                connection.execute(update(installations).where(own).values(changed))
        return len(found)

    def issue_state(self) -> str:
        """A state for an installation that starts now; those too old go."""
        state, now = secrets.token_urlsafe(32), self.clock()
        with self.engine.begin() as connection:
            connection.execute(delete(oauth_states).where(oauth_states.c.expires_at < now))
            upsert(connection, oauth_states, {"state": state, "expires_at": now + _STATE_S})
        return state

    def use_state(self, state: str) -> bool:
        """Whether a state was issued, is not too old and was not used; it is used now."""
        live = and_(oauth_states.c.state == state, oauth_states.c.expires_at >= self.clock())
        with self.engine.begin() as connection:
            return connection.execute(delete(oauth_states).where(live)).rowcount > 0


def _workspace(enterprise: str | None, team: str | None) -> ColumnElement[bool]:
    return and_(installations.c.enterprise == (enterprise or ""), installations.c.team == (team or ""))


class BoltInstallations(AsyncInstallationStore, AsyncOAuthStateStore):
    """The same for Slack's OAuth flow, off the event loop."""

    def __init__(self, found: Installations, offload: Offload) -> None:
        self.found, self.offload = found, offload

    async def async_save(self, installation: Installation) -> None:
        await self.offload.database(self.found.save, installation.to_bot(), installation.user_id)

    async def async_save_bot(self, bot: Bot) -> None:
        await self.offload.database(self.found.save, bot, "")

    async def async_find_bot(
        self, *, enterprise_id: str | None, team_id: str | None, is_enterprise_install: bool | None = False
    ) -> Bot | None:
        del is_enterprise_install
        return await self.offload.database(self.found.find, enterprise_id, team_id)

    async def async_delete_bot(self, *, enterprise_id: str | None, team_id: str | None) -> None:
        await self.offload.database(self.found.remove, enterprise_id, team_id)

    async def async_issue(self, *args: object, **kwargs: object) -> str:
        del args, kwargs
        return await self.offload.database(self.found.issue_state)

    async def async_consume(self, state: str) -> bool:
        return await self.offload.database(self.found.use_state, state)
