"""The playground in a real Chromium, in a thread of its own so that Playwright's synchronous API can be used."""

from __future__ import annotations

import asyncio
import os
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bot.responder import Pipeline
from bot.slack.try_out import playing

ARGUMENTS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip
CHROMIUM = os.environ.get("SIZEWISE_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")


class Served:
    """The playground on an event loop in another thread; without the knowledge index, whose building takes minutes."""

    def __init__(self) -> None:
        self.url = ""
        self.slack: Any = None
        self._ready = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._stop: asyncio.Event | None = None
        self._thread = threading.Thread(target=self._loop.run_until_complete, args=(self._run(),), daemon=True)

    async def _run(self) -> None:
        self._stop = asyncio.Event()
        async with playing(responder=Pipeline()) as slack:
            self.slack, self.url = slack, slack.base_url
            self._ready.set()
            await self._stop.wait()

    def __enter__(self) -> Served:
        self._thread.start()
        assert self._ready.wait(90), "the playground did not start"
        return self

    def __exit__(self, *_: object) -> None:
        assert self._stop is not None
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(20)
        self._loop.close()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SIZEWISE_DATA_DIR", str(tmp_path_factory.mktemp("data")))
        with Served() as found:
            yield found


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("no chromium on this machine (Debian: apt-get install chromium), nor SIZEWISE_CHROMIUM")
    with playwright.sync_playwright() as running:
        found = running.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))
        yield found
        found.close()


@pytest.fixture
def page(browser: Any, served: Served) -> Iterator[Any]:
    """A fresh page; whatever the browser complains about fails the test."""
    found = browser.new_page(viewport={"width": 1440, "height": 960})
    complaints: list[str] = []
    found.on("pageerror", lambda error: complaints.append(str(error)))
    found.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
    found.goto(served.url)
    found.wait_for_selector("body[data-ready]")
    yield found
    found.close()
    assert complaints == []


@pytest.fixture
def picture(page: Any) -> Any:
    """Keep a screenshot where SIZEWISE_SCREENSHOTS names a folder."""
    folder = os.environ.get("SIZEWISE_SCREENSHOTS")

    def take(name: str) -> None:
        if folder:
            Path(folder).mkdir(parents=True, exist_ok=True)
            page.screenshot(path=str(Path(folder) / f"{name}.png"))

    return take
