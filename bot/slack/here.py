"""The workspace at hand, with what every way of speaking in it needs."""

from __future__ import annotations

import aiohttp
from slack_sdk.web.async_client import AsyncWebClient

from bot.inbox import NewTurn, Turn
from bot.offload import Offload
from bot.slack.reading import Identity
from bot.slack.workspaces import Workspaces
from bot.store import Store

Spoken = Turn | NewTurn


class Here:
    """Clients and stores; whose they are is that of the turn or request at hand."""

    def __init__(self, workspaces: Workspaces, store: Store, offload: Offload, session: aiohttp.ClientSession) -> None:
        self.workspaces = workspaces
        self.store = store
        self.offload = offload
        self.session = session

    @property
    def client(self) -> AsyncWebClient:
        return self.workspaces.here.client

    @property
    def me(self) -> Identity:
        return self.workspaces.here.me
