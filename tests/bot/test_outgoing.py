"""Connections go to configured hosts alone, and to private addresses only where they were meant."""

from __future__ import annotations

import http.server
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.outgoing import Outgoing, allowed
from bot.settings import Settings

_SLACK = {"SLACK_API_URL": "https://slack.com/api/"}


def of(environment: dict[str, str], **settings: str) -> Outgoing:
    return allowed(Settings(_env_file=None, **({"slack_api_url": "https://slack.com/api/"} | settings)), environment)


@pytest.mark.parametrize(
    ("environment", "settings", "host", "may"),
    [
        ({}, {}, "slack.com", True),
        ({}, {}, "files.slack.com", True),
        ({}, {}, "wss-primary.slack.com", True),
        ({}, {}, "slack.com.example.org", False),
        ({}, {}, "notslack.com", False),
        ({}, {}, "example.org", False),
        ({}, {}, "8.8.8.8", False),
        ({}, {"slack_api_url": "http://127.0.0.1:99/api/"}, "slack.com", False),
        ({}, {}, "api.openai.com", False),
        ({"SIZEWISE_LLM": "openai:gpt-4o-mini"}, {}, "api.openai.com", True),
        ({"SIZEWISE_LLM": "openai:gpt-4o-mini"}, {}, "api.anthropic.com", False),
        ({"OPENAI_BASE_URL": "https://llm.example.com/v1"}, {}, "llm.example.com", True),
        ({}, {"llm_hosts": "models.example.com, .example.net"}, "models.example.com", True),
        ({}, {"llm_hosts": "models.example.com, .example.net"}, "eu.example.net", True),
        ({"CHROMA_URL": "http://chroma:8000"}, {}, "chroma", True),
        ({"https_proxy": "http://proxy.corp.internal:3128"}, {}, "proxy.corp.internal", True),
        ({}, {}, "huggingface.co", False),
        ({"SIZEWISE_HUB": "on"}, {}, "huggingface.co", True),
        ({"SIZEWISE_EMBEDDINGS": "intfloat/multilingual-e5-small"}, {}, "cdn-lfs.hf.co", True),
        ({"SIZEWISE_HUB": "on", "HF_ENDPOINT": "https://hub.example.com"}, {}, "huggingface.co", False),
    ],
)
def test_names_that_may_be_looked_up(
    environment: dict[str, str], settings: dict[str, str], host: str, may: bool
) -> None:  # fmt: skip
    assert of(environment, **settings).may_look_up(host) is may


@pytest.mark.parametrize(
    ("hosts", "private", "address", "may"),
    [
        (["slack.com"], [], "34.1.2.3", True),
        (["slack.com"], [], "10.0.0.5", False),
        (["slack.com"], [], "169.254.169.254", False),
        (["slack.com"], [], "127.0.0.1", False),
        (["slack.com"], [], "::1", False),
        (["slack.com"], [], "fe80::1%eth0", False),
        (["slack.com"], [], "::ffff:10.0.0.5", False),
        (["10.0.0.5"], [], "10.0.0.5", True),
        (["10.0.0.5"], [], "10.0.0.6", False),
        (["localhost"], [], "127.0.0.1", True),
        (["llm.example.com"], ["localhost"], "127.0.0.1", True),
    ],
)
def test_addresses_that_may_be_connected_to(hosts: list[str], private: list[str], address: str, may: bool) -> None:
    """A public name that leads to a private address, as after an attack on name service, is refused there."""
    assert Outgoing(hosts, private).may_connect(address) is may


@pytest.fixture
def server() -> Iterator[str]:
    found = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler)
    threading.Thread(target=found.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{found.server_address[1]}/"
    found.shutdown()
    found.server_close()


_ASKING = {
    "httpx": "import httpx; httpx.get(sys.argv[1], trust_env=False)",
    "urllib": "import urllib.request, urllib.error; urllib.request.urlopen(sys.argv[1])",
    "aiohttp": (
        "import aiohttp, asyncio\nasync def ask():\n async with aiohttp.ClientSession() as s, s.get(sys.argv[1]): pass\n"
        "asyncio.run(ask())"
    ),
}


@pytest.mark.parametrize("library", sorted(_ASKING))
@pytest.mark.parametrize("configured", [True, False])
def test_a_guarded_process_is_held_to_it_whatever_library_asks(library: str, configured: bool, server: str) -> None:
    host = "127.0.0.1" if configured else "slack.com"
    script = f"import sys\nfrom bot.outgoing import Outgoing, guard\nguard(Outgoing([{host!r}]))\n{_ASKING[library]}"
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    found = subprocess.run(
        [sys.executable, "-c", script, server], env=environment, capture_output=True, text=True, check=False
    )
    assert ("is not a configured host" in found.stderr or "NotConfigured" in found.stderr) is not configured, (
        found.stderr
    )
