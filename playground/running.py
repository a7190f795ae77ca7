"""An ASGI app served on loopback from within a running event loop."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Callable
from typing import Any

import uvicorn
from starlette.applications import Starlette

from playground.delivery import Transport
from playground.server import web_app
from playground.slack import Slack
from playground.workspace import App


def free_port() -> int:
    """A loopback port that is free right now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.asynccontextmanager
async def serving(app: Any, port: int | None = None) -> AsyncIterator[str]:
    """Serve an ASGI app on 127.0.0.1; yields its base URL."""
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port or 0))
    config = uvicorn.Config(
        app, log_level="critical", lifespan="on", ws="websockets-sansio", timeout_graceful_shutdown=1,
    )  # fmt: skip
    server = _QuietServer(config)
    task = asyncio.create_task(server.serve([listener]))
    try:
        while not server.started:
            if task.done():
                await task
            await asyncio.sleep(0.005)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        await task
        listener.close()


class _QuietServer(uvicorn.Server):
    """Leaves the process's signal handlers alone."""

    @contextlib.contextmanager
    def capture_signals(self) -> Any:
        yield


@contextlib.asynccontextmanager
async def running_slack(
    app: App,
    transport: Transport,
    *,
    web: Callable[[Slack], Starlette] = web_app,
    port: int | None = None,
    **options: Any,
) -> AsyncIterator[Slack]:
    """A double that answers Web API calls at its `base_url`; `web` may serve more than the Web API."""
    slack = Slack(app, transport, **options)
    async with serving(web(slack), port) as base_url:
        slack.base_url = base_url
        try:
            yield slack
        finally:
            await slack.close()


__all__ = ["free_port", "running_slack", "serving"]
