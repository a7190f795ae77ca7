"""A Chroma server of its own on loopback: vectors live there, and a server that goes costs the vectors, never an answer."""

import gc
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import httpx
import pytest
from chromadb.api.shared_system_client import SharedSystemClient

from knowledge import chroma_client, notes
from knowledge.service import Knowledge
from knowledge.settings import Settings
from tests.knowledge.test_index import Letters

START_S = 60
# The client of Chroma keeps sockets open that nobody can close; they go with the collection at the end of each test.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@dataclass
class Server:
    """A server process that can be stopped and started again on the same port, with or without what it had stored."""

    folder: Path
    port: int
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        program = Path(sys.executable).with_name("chroma")
        command = [str(program), "run", "--path", str(self.folder), "--host", "127.0.0.1", "--port", str(self.port)]
        environment = {**os.environ, "ANONYMIZED_TELEMETRY": "False"}
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
        deadline = time.monotonic() + START_S
        while not self._answers():
            assert self.process.poll() is None and time.monotonic() < deadline, "chroma run did not start"
            time.sleep(0.2)

    def _answers(self) -> bool:
        try:
            with urlopen(f"{self.url}/api/v2/heartbeat", timeout=2) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False

    def freeze(self) -> None:
        """It accepts connections from now on and answers none: the system does that for a process that is stopped."""
        assert self.process is not None
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGCONT)

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


@pytest.fixture(autouse=True)
def connections(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Chroma's client never closes its connections: done here, or their warnings hit whichever test collects them."""
    made: list[httpx.Client] = []

    class Kept(httpx.Client):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            made.append(self)

    monkeypatch.setattr("chromadb.api.fastapi.httpx.Client", Kept)
    yield
    for client in made:
        client.close()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    running = Server(tmp_path / "chroma", port)
    running.start()
    yield running
    running.stop()
    SharedSystemClient.clear_system_cache()
    gc.collect()


@pytest.fixture
def knowledge(
    settings: Settings, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Knowledge]:
    """With vectors of a model that is always there, on the server."""
    from knowledge import embeddings

    monkeypatch.setattr(embeddings, "choose", lambda _: embeddings.Choice("letters", "", "plain"))
    monkeypatch.setattr(embeddings, "LocalEmbeddings", Letters)
    monkeypatch.setattr(notes, "load", tuple)
    (tmp_path / "zoo.txt").write_text("The zebra lives in the zoo.")
    (tmp_path / "fruit.txt").write_text("An apple and a banana.")
    made = Knowledge(replace(settings, embeddings=None, chroma_url=server.url))
    list(made.add([tmp_path / "zoo.txt", tmp_path / "fruit.txt"]))
    made.build()
    yield made
    made.close()


def found(knowledge: Knowledge) -> tuple[str, str]:
    result = knowledge.search("Where is the zebra?", lang="en", kinds=("document",))
    return result.hits[0].source, result.method


def test_vectors_live_on_the_server_and_another_process_finds_them(knowledge: Knowledge) -> None:
    assert (found(knowledge), knowledge.stale()) == (("zoo.txt", "hybrid"), [])
    other = Knowledge(knowledge.settings)
    assert found(other) == ("zoo.txt", "hybrid")
    other.close()
    assert not (knowledge.settings.data / "chroma").exists()


def test_a_server_that_goes_costs_the_vectors_and_says_so(
    knowledge: Knowledge, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert found(knowledge) == ("zoo.txt", "hybrid")
    server.stop()
    assert found(knowledge) == ("zoo.txt", "bm25")
    status = knowledge.status()
    assert (status.method, server.url in status.message) == ("bm25", True)
    assert server.url in knowledge.search("zebra", lang="en").outage
    knowledge.build()
    asked: list[str] = []
    assert knowledge._vectors is not None
    monkeypatch.setattr(knowledge._vectors, "near", lambda *_: asked.append("asked"))
    found(knowledge)
    assert asked == [], "a server that is gone is left alone for a while"
    monkeypatch.undo()
    server.start()
    knowledge._asked_again_at = 0.0
    assert found(knowledge) == ("zoo.txt", "hybrid")
    assert knowledge.status().message.startswith("hybrid")


def test_a_server_that_hangs_costs_the_vectors_and_no_more_than_a_wait(
    knowledge: Knowledge, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Knowledge(knowledge.settings)
    monkeypatch.setattr(chroma_client, "TIMEOUT_S", 0.5)
    server.freeze()
    # One that was connected before waits as long as it was told then, a new one as long as it is told now.
    assert knowledge._vectors is not None
    knowledge._vectors._client._server._session.timeout = httpx.Timeout(0.5)  # type: ignore[attr-defined]
    for asked in (knowledge, other):
        assert found(asked) == ("zoo.txt", "bm25")
        assert server.url in asked.status().message
        asked.build()
    server.thaw()
    for asked in (knowledge, other):
        asked._asked_again_at = 0.0
        assert found(asked) == ("zoo.txt", "hybrid")
    other.close()


def test_a_server_that_was_never_there_is_no_reason_to_fail(knowledge: Knowledge, server: Server) -> None:
    server.stop()
    other = Knowledge(knowledge.settings)
    other.warm()
    other.build()
    assert found(other) == ("zoo.txt", "bm25")
    other.close()


def test_a_server_that_lost_its_collections_is_filled_anew(knowledge: Knowledge, server: Server) -> None:
    server.stop()
    server.folder = server.folder.with_name("empty")
    server.start()
    knowledge._asked_again_at = 0.0
    assert found(knowledge)[0] == "zoo.txt"
    assert "document" in knowledge.stale()
    knowledge.build()
    assert (found(knowledge), knowledge.stale()) == (("zoo.txt", "hybrid"), [])
