"""Which workspace the work at hand is for: the one that the app is set up for, or one of many that installed it.

Whoever begins a piece of work — a request that came in, a turn that was leased — enters its workspace; everything it
then does sees that workspace's identity and token and no other. A `ContextVar` carries it into the tasks it starts.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final

from slack_sdk.web.async_client import AsyncWebClient

from bot.offload import Offload
from bot.slack.installations import Installations
from bot.slack.reading import Identity
from bot.surface import Refused

# For so long a process may go on with an installation that another one has removed.
_KNOWN_S: Final = 60.0


@dataclass(frozen=True)
class Workspace:
    """Who the bot is in a workspace, and the client that speaks there. `org_wide`: installed for its whole organisation."""

    me: Identity
    client: AsyncWebClient
    token: str
    org_wide: bool = False


class Workspaces:
    """The one workspace of a token (`home`), or those of a table (`installed`)."""

    def __init__(
        self, home: Workspace | None = None, installed: Installations | None = None, offload: Offload | None = None,
        client_of: Callable[[str], AsyncWebClient] | None = None,
    ) -> None:  # fmt: skip
        self.home = home
        self.installed, self.offload, self.client_of = installed, offload, client_of
        self._here: ContextVar[Workspace] = ContextVar("workspace")
        self._known: dict[tuple[str, str | None], tuple[float, Workspace]] = {}

    @property
    def many(self) -> bool:
        return self.home is None

    @property
    def here(self) -> Workspace:
        """The workspace that was entered.

        Raises:
            Refused: none was, or it has not installed the app.
        """
        found = self._here.get(self.home)
        if found is None:
            raise Refused("the app is not installed there", None)
        return found

    async def enter(self, team: str, enterprise: str | None = None) -> Workspace:
        """Work for a workspace from here on.

        Raises:
            Refused: neither it nor its organisation has installed the app.
            UserError: none of the keys opens its token.
        """
        found = await self.find(team, enterprise)
        if found is None:
            raise Refused("the app is not installed there", None)
        self._here.set(found)
        return found

    async def find(self, team: str, enterprise: str | None = None) -> Workspace | None:
        """A workspace by its id, which is unique in all of Slack; where it has no installation, by its organisation's."""
        if self.home is not None:
            return self.home
        place = (team, enterprise)
        known = self._known.get(place)
        if known and time.monotonic() - known[0] < _KNOWN_S:
            return known[1]
        found = await self._load(team, enterprise)
        if found is None:
            self._known.pop(place, None)
        else:
            self._known[place] = (time.monotonic(), found)
        return found

    async def _load(self, team: str, enterprise: str | None) -> Workspace | None:
        if self.installed is None or self.offload is None or self.client_of is None:
            return None
        bot = await self.offload.database(self.installed.of_team, team)
        if bot is None and enterprise:
            bot = await self.offload.database(self.installed.find, enterprise, None)
        if bot is None:
            return None
        me = Identity(team, bot.bot_user_id, bot.bot_id, frozenset(bot.bot_scopes), bot.enterprise_id or enterprise)
        token = str(bot.bot_token)
        return Workspace(me, self.client_of(token), token, org_wide=not bot.team_id)

    async def forget(self, gone: Workspace) -> None:
        """A workspace, or its organisation, uninstalled the app or revoked its token: no token and no identity is kept."""
        self._known = {place: known for place, known in self._known.items() if known[1].token != gone.token}
        if self.installed is None or self.offload is None:
            return
        if gone.org_wide:
            await self.offload.database(self.installed.remove, gone.me.enterprise, None)
        else:
            await self.offload.database(self.installed.remove_team, gone.me.team)
