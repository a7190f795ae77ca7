"""Installing the app in a workspace: Slack's OAuth flow over our table of installations."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from slack_bolt.adapter.starlette.async_handler import to_async_bolt_request, to_starlette_response
from slack_bolt.oauth.async_oauth_flow import AsyncOAuthFlow
from slack_bolt.oauth.async_oauth_settings import AsyncOAuthSettings
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bot.slack.clients import web_client
from bot.slack.installations import BoltInstallations
from bot.slack.needs import SCOPES
from bot.slack.room import Room

INSTALL = "/slack/install"
REDIRECT = "/slack/oauth_redirect"


def routes(room: Room) -> list[Route]:
    """The pages that install the app; none where it is set up for one workspace."""
    settings, installed = room.settings, room.workspaces.installed
    if installed is None or settings.slack_client_secret is None:
        return []
    kept = BoltInstallations(installed, room.offload)
    flow = AsyncOAuthFlow(
        client=web_client(settings, token=False),
        settings=AsyncOAuthSettings(
            client_id=settings.slack_client_id, client_secret=settings.slack_client_secret.get_secret_value(),
            scopes=sorted(SCOPES), user_scopes=[], installation_store=kept, state_store=kept, install_path=INSTALL,
            redirect_uri_path=REDIRECT,
        ),
    )  # fmt: skip
    return [Route(INSTALL, _page(flow.handle_installation)), Route(REDIRECT, _page(flow.handle_callback))]


def _page(
    answer: Callable[[AsyncBoltRequest], Awaitable[BoltResponse]],
) -> Callable[[Request], Awaitable[Response]]:
    async def page(request: Request) -> Response:
        found = await answer(to_async_bolt_request(request, b""))
        return to_starlette_response(found)

    return page
