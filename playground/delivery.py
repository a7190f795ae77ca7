"""How payloads reach the app: signed HTTP requests or Socket Mode envelopes, with Slack's retries."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import random
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final, Literal, Protocol
from urllib.parse import urlencode

import aiohttp
from starlette.websockets import WebSocket, WebSocketDisconnect

from playground import limits
from playground.workspace import Json

Kind = Literal["events_api", "slash_commands", "interactive"]
_SOCKET_GONE: Final = (WebSocketDisconnect, RuntimeError, ConnectionError)


@dataclass(frozen=True)
class Reply:
    """The app's answer to one delivery: an HTTP status (200 stands for a socket's ack) and what came with it."""

    status: int
    body: Any = None
    seconds: float = 0.0
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def acknowledged(self) -> bool:
        return 200 <= self.status < 300 and self.seconds <= limits.ACK_SECONDS

    @property
    def reason(self) -> str:
        """Slack's retry reason."""
        if self.status == 0 and self.seconds < limits.ACK_SECONDS:
            return "connection_failed"
        return "http_timeout" if self.status == 0 or self.seconds > limits.ACK_SECONDS else "http_error"


class Transport(Protocol):
    """One way to the app."""

    async def send(self, kind: Kind, payload: Json, attempt: int, reason: str) -> Reply: ...


@dataclass
class Delivery:
    """A payload on its way: every attempt with its reply."""

    kind: Kind
    payload: Json
    attempts: list[Reply] = field(default_factory=list)

    @property
    def acknowledged(self) -> bool:
        return any(reply.acknowledged for reply in self.attempts)

    @property
    def last(self) -> Reply:
        return self.attempts[-1]


def sign(secret: str, timestamp: str, body: bytes) -> str:
    """`X-Slack-Signature` of a raw body."""
    base = b"v0:" + timestamp.encode() + b":" + body
    return "v0=" + hmac.new(secret.encode(), base, hashlib.sha256).hexdigest()


class HttpTransport:
    """Signed requests to the app's request URL."""

    def __init__(self, url: str, secret: str, clock: Callable[[], float] = time.time) -> None:
        self.url, self.secret, self.clock = url, secret, clock

    async def send(self, kind: Kind, payload: Json, attempt: int, reason: str) -> Reply:
        body, content_type = self.encode(kind, payload)
        headers = {"content-type": content_type}
        if attempt:
            headers |= {"x-slack-retry-num": str(attempt), "x-slack-retry-reason": reason}
        return await self.post(body, headers)

    @staticmethod
    def encode(kind: Kind, payload: Json) -> tuple[bytes, str]:
        if kind == "events_api":
            return json.dumps(payload).encode(), "application/json"
        form = payload if kind == "slash_commands" else {"payload": json.dumps(payload)}
        return urlencode(form).encode(), "application/x-www-form-urlencoded"

    async def post(self, body: bytes, headers: dict[str, str]) -> Reply:
        """Post a body; signature and timestamp are added unless `headers` already brings them."""
        timestamp = str(int(self.clock()))
        signed = {
            "x-slack-request-timestamp": timestamp, "x-slack-signature": sign(self.secret, timestamp, body), **headers,
        }  # fmt: skip
        started = time.monotonic()
        timeout = aiohttp.ClientTimeout(total=limits.ACK_SECONDS)
        try:
            async with (
                aiohttp.ClientSession(timeout=timeout) as session,
                session.post(self.url, data=body, headers=signed) as response,
            ):
                text = await response.text()
                return Reply(
                    response.status,
                    _body(text),
                    time.monotonic() - started,
                    {name.lower(): value for name, value in response.headers.items()},
                )
        except (aiohttp.ClientError, TimeoutError, ConnectionError):
            return Reply(0, None, time.monotonic() - started)


def _body(text: str) -> Any:
    with suppress(json.JSONDecodeError):
        return json.loads(text)
    return text


class SocketTransport:
    """Envelopes over the app's open websockets; each goes to one of them at random, as Slack does it."""

    def __init__(self, seed: int = 0) -> None:
        self.sockets: list[WebSocket] = []
        self.opened = asyncio.Event()
        self._waiting: dict[str, asyncio.Future[Any]] = {}
        self._random = random.Random(seed)
        self._count = 0

    async def run(self, socket: WebSocket) -> None:
        """Serve one connection until it closes."""
        await socket.accept()
        if len(self.sockets) >= limits.SOCKETS_PER_APP:
            await socket.send_json({"type": "disconnect", "reason": "too_many_websockets"})
            await socket.close()
            return
        await socket.send_json({"type": "hello", "num_connections": len(self.sockets) + 1})
        self.sockets.append(socket)
        self.opened.set()
        try:
            while True:
                self._acknowledge(json.loads(await socket.receive_text()))
        except _SOCKET_GONE:
            pass
        finally:
            self._forget(socket)

    def _forget(self, socket: WebSocket) -> None:
        if socket in self.sockets:
            self.sockets.remove(socket)
        if not self.sockets:
            self.opened.clear()

    def _acknowledge(self, message: Json) -> None:
        future = self._waiting.pop(message.get("envelope_id", ""), None)
        if future and not future.done():
            future.set_result(message.get("payload"))

    async def refresh(self) -> None:
        """Ask every connection to reconnect, as Slack does every few hours."""
        for socket in list(self.sockets):
            await socket.send_json({"type": "disconnect", "reason": "refresh_requested"})

    async def send(self, kind: Kind, payload: Json, attempt: int, reason: str) -> Reply:
        started = time.monotonic()
        if not self.sockets:
            return Reply(0)
        self._count += 1
        envelope = f"envelope-{self._count}"
        message: Json = {"envelope_id": envelope, "type": kind, "payload": payload}
        message["accepts_response_payload"] = kind != "events_api"
        if kind == "events_api":
            message |= {"retry_attempt": attempt, "retry_reason": reason}
        self._waiting[envelope] = asyncio.get_running_loop().create_future()
        try:
            await self._random.choice(self.sockets).send_json(message)
            body = await asyncio.wait_for(self._waiting[envelope], limits.ACK_SECONDS)
        except (*_SOCKET_GONE, TimeoutError):
            return Reply(0, None, time.monotonic() - started)
        finally:
            self._waiting.pop(envelope, None)
        return Reply(200, body, time.monotonic() - started)


class Deliverer:
    """Sends payloads and repeats failed events; keeps every delivery for the tests to look at."""

    def __init__(self, transport: Transport, retry_delays_s: Sequence[float] = limits.RETRY_DELAYS_S) -> None:
        self.transport = transport
        self.retry_delays_s = retry_delays_s
        self.log: list[Delivery] = []
        self._tasks: set[asyncio.Task[None]] = set()

    async def deliver(self, kind: Kind, payload: Json) -> Delivery:
        """The first attempt; failed events are repeated in the background."""
        delivery = Delivery(kind, payload)
        self.log.append(delivery)
        delivery.attempts.append(await self.transport.send(kind, payload, 0, ""))
        if kind == "events_api" and not delivery.acknowledged:
            self.later(self._repeat(delivery))
        return delivery

    async def _repeat(self, delivery: Delivery) -> None:
        for attempt, delay_s in enumerate(self.retry_delays_s, start=1):
            if delivery.last.headers.get("x-slack-no-retry") == "1":
                return
            await asyncio.sleep(delay_s)
            reply = await self.transport.send(delivery.kind, delivery.payload, attempt, delivery.last.reason)
            delivery.attempts.append(reply)
            if reply.acknowledged:
                return

    def later(self, work: Any) -> asyncio.Task[None]:
        """Run a coroutine in the background, held until it ends."""
        task: asyncio.Task[None] = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    @property
    def busy(self) -> bool:
        return bool(self._tasks)

    async def close(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
