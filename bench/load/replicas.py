"""Replicas as processes behind a proxy, in front of the Slack double: what a deployment has, without containers."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import signal
import sys
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp

from bot.slack.needs import manifest
from playground import limits
from playground.delivery import HttpTransport, Kind, Reply, sign
from playground.running import free_port, running_slack
from playground.slack import Slack
from playground.workspace import App, Json

_SCRIPT = str(Path(__file__).with_name("replica.py"))
_ROOT = str(Path(__file__).parents[2])


class Replica:
    """A bot as a process that may be killed and started again."""

    def __init__(self, environment: Mapping[str, str], log: Path) -> None:
        self.port = free_port()
        self.environment = {**environment, "SIZEWISE_PORT": str(self.port)}
        self.log = log
        self.process: asyncio.subprocess.Process | None = None

    async def spawn(self) -> None:
        with self.log.open("ab") as log:
            self.process = await asyncio.create_subprocess_exec(
                sys.executable, _SCRIPT, env=self.environment, stderr=log
            )

    async def ready(self, timeout_s: float = 120.0) -> None:
        """Wait until it listens.

        Raises:
            RuntimeError: it ended, or never listened.
        """
        deadline = time.monotonic() + timeout_s
        while time.monotonic() < deadline and self.process and self.process.returncode is None:
            with contextlib.suppress(OSError):
                _, writer = await asyncio.open_connection("127.0.0.1", self.port)
                writer.close()
                return
            await asyncio.sleep(0.02)
        raise RuntimeError(f"the replica did not start: {self.log.read_text('utf-8')[-2000:]}")

    async def start(self) -> None:
        await self.spawn()
        await self.ready()

    async def end(self, number: signal.Signals) -> int:
        """Send a signal and wait for the end; the exit code."""
        if self.process is None:
            return 0
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(number)
        return await self.process.wait()

    async def kill(self) -> None:
        await self.end(signal.SIGKILL)

    @property
    def resident_mib(self) -> float:
        """Memory in MiB of the process and of those it started, as the kernel counts it; pages they share count once a process."""
        return sum(_status_kib(pid) for pid in self._family()) / 1024

    @property
    def cpu_s(self) -> float:
        """Processor time in seconds that the process and those it started have taken."""
        return sum(_ticks(pid) for pid in self._family()) / os.sysconf("SC_CLK_TCK")

    def _family(self) -> list[int]:
        if self.process is None:
            return []
        found = [self.process.pid]
        for pid in found:
            for children in Path(f"/proc/{pid}/task").glob("*/children"):
                found += map(int, _read_proc(children).split())
        return found


def _read_proc(path: Path) -> str:
    """A file of /proc; empty where its process is gone by now."""
    with contextlib.suppress(OSError):
        return path.read_text("ascii")
    return ""


def _status_kib(pid: int) -> int:
    lines = (line.split() for line in _read_proc(Path(f"/proc/{pid}/status")).splitlines())
    return next((int(line[1]) for line in lines if line[0] == "VmRSS:"), 0)


def _ticks(pid: int) -> int:
    """User and system time of a process; the fields are counted after the name, which may hold blanks."""
    fields = _read_proc(Path(f"/proc/{pid}/stat")).rpartition(")")[2].split()
    return sum(map(int, fields[11:13]))


@dataclass
class Proxy(HttpTransport):
    """The way to several replicas: any of them, and another one where no connection comes about."""

    replicas: list[Replica]
    secret: str
    chance: random.Random = field(default_factory=lambda: random.Random(7))
    session: aiohttp.ClientSession | None = None

    async def send(self, kind: Kind, payload: Json, attempt: int, reason: str) -> Reply:
        body, content_type = self.encode(kind, payload)
        headers = {"content-type": content_type}
        if attempt:
            headers |= {"x-slack-retry-num": str(attempt), "x-slack-retry-reason": reason}
        return await self.post(body, headers)

    async def post(self, body: bytes, headers: dict[str, str]) -> Reply:
        now, started = str(int(time.time())), time.monotonic()
        signed = {"x-slack-request-timestamp": now, "x-slack-signature": sign(self.secret, now, body), **headers}
        for replica in self.chance.sample(self.replicas, len(self.replicas)):
            try:
                return await self._post(replica, body, signed, started)
            except aiohttp.ClientConnectorError:
                continue
            except (aiohttp.ClientError, TimeoutError, ConnectionError):
                break
        return Reply(0, None, time.monotonic() - started)

    async def _post(self, replica: Replica, body: bytes, signed: dict[str, str], started: float) -> Reply:
        self.session = self.session or aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=limits.ACK_SECONDS))
        async with self.session.post(
            f"http://127.0.0.1:{replica.port}/slack/events", data=body, headers=signed
        ) as response:
            text, seconds = await response.text(), time.monotonic() - started
            found = {name.lower(): value for name, value in response.headers.items()}
            return Reply(response.status, _read(text), seconds, found)

    async def close(self) -> None:
        if self.session:
            await self.session.close()


def _read(text: str) -> Any:
    with contextlib.suppress(json.JSONDecodeError):
        return json.loads(text)
    return text


@dataclass
class Deployment:
    """The double, the replicas and the way between them."""

    slack: Slack
    replicas: list[Replica]
    proxy: Proxy


@contextlib.asynccontextmanager
async def deployed(
    count: int, database: str, data: Path, *, retry_delays_s: tuple[float, ...] = (1.0, 20.0, 60.0), **options: str
) -> AsyncIterator[Deployment]:
    """So many replicas on one database. Slack repeats at once, after one and after five minutes; here sooner."""
    app = App.from_manifest(manifest("https://bot.example/slack/events"))
    proxy = Proxy([], app.signing_secret)
    async with running_slack(app, proxy, retry_delays_s=retry_delays_s) as slack:
        environment = _environment(slack, database, data) | options
        proxy.replicas = [Replica(environment, data / f"replica-{n}.log") for n in range(count)]
        try:
            for replica in proxy.replicas:
                await replica.start()
            yield Deployment(slack, proxy.replicas, proxy)
        finally:
            await asyncio.gather(*(replica.kill() for replica in proxy.replicas))
            await proxy.close()


def _environment(slack: Slack, database: str, data: Path) -> dict[str, str]:
    return {
        **os.environ,
        "PYTHONPATH": _ROOT,
        "SLACK_BOT_TOKEN": slack.app.bot_token,
        "SLACK_SIGNING_SECRET": slack.app.signing_secret,
        "SLACK_API_URL": f"{slack.base_url}/api/",
        "DATABASE_URL": database,
        "SIZEWISE_DATA_DIR": str(data),
        "SIZEWISE_TRANSPORT": "http",
        "SIZEWISE_LOG_LEVEL": "WARNING",
    }
