"""A client of a Chroma server that waits no longer than an answer can: the library's own waits for ever."""

from typing import Any, Final

import httpx
from chromadb.api.client import Client
from chromadb.auth import UserIdentity
from chromadb.config import Settings

# A search takes milliseconds, a batch of 128 vectors less than a second.
TIMEOUT_S: Final = 10.0
CONNECT_S: Final = 3.0


class TimelyClient(Client):
    """The library's client with time limits on its connections."""

    def get_user_identity(self) -> UserIdentity:
        """The first request of each client, made while it is being made itself: the limits hold from here on."""
        server: Any = self._server
        server._session.timeout = httpx.Timeout(TIMEOUT_S, connect=CONNECT_S)
        return super().get_user_identity()


def client_of(host: str, port: int, *, ssl: bool) -> Client:
    """A client of the server at an address."""
    settings = Settings(
        anonymized_telemetry=False, chroma_api_impl="chromadb.api.fastapi.FastAPI", chroma_server_host=host,
        chroma_server_http_port=port, chroma_server_ssl_enabled=ssl,
    )  # fmt: skip
    return TimelyClient(settings=settings)
