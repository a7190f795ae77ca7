"""Where the bot may connect to: hosts that an operator configured, and no private address unless it was meant to be one.

An audit hook of the interpreter sees every name that is looked up and every connection, whichever library makes it; what
is written in C and talks for itself (libpq for PostgreSQL, gRPC for traces) connects to the configured address only.
"""

from __future__ import annotations

import functools
import ipaddress
import os
import socket
import sys
import threading
import time
from collections.abc import Iterable, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from bot.logs import logger
from bot.settings import Settings

log = logger()

# Where a provider's client goes unless its own variables say otherwise, as LangChain names the providers.
_PROVIDERS: Final = {
    "openai": "api.openai.com", "anthropic": "api.anthropic.com", "mistralai": "api.mistral.ai", "groq": "api.groq.com",
    "google_genai": "generativelanguage.googleapis.com", "cohere": "api.cohere.com", "deepseek": "api.deepseek.com",
    "ollama": "localhost",
}  # fmt: skip
_ADDRESSES: Final = (
    "OPENAI_BASE_URL", "OPENAI_API_BASE", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_URL", "AZURE_OPENAI_ENDPOINT",
    "MISTRAL_BASE_URL", "GROQ_API_BASE", "DEEPSEEK_API_BASE", "OLLAMA_HOST", "CHROMA_URL", "HTTPS_PROXY", "HTTP_PROXY",
    "ALL_PROXY", "OTEL_EXPORTER_OTLP_ENDPOINT",
)  # fmt: skip
# Models of ours that are fetched where they are named as a repository.
_FROM_HUB: Final = ("SIZEWISE_EMBEDDINGS", "SIZEWISE_RERANKER")
_HUBS: Final = ("huggingface.co", ".hf.co")
# Slack hands out addresses under its own name: for files, answers to commands and the websocket.
_SLACK: Final = "slack.com"
# Names that only a private network knows: whoever configures one means a private address.
_KNOWN_S: Final = 60.0
_PRIVATE_NAMES: Final = (".internal", ".local", ".localhost", ".lan", ".svc", ".home.arpa")


class NotConfigured(OSError):
    """A connection to where nobody sent us. As an OSError it reads, to whatever library asked, as a host out of reach."""


class Outgoing:
    """The hosts that may be connected to; one that begins with a dot stands for all names under it."""

    def __init__(self, hosts: Iterable[str], private: Iterable[str] = ()) -> None:
        known = {host.lower().rstrip(".") for host in hosts if host}
        self.private = frozenset(host for host in known if _meant_private(host)) | {host.lower() for host in private}
        self.hosts = frozenset(known | self.private)

    def may_look_up(self, host: str) -> bool:
        """Whether a name may be resolved. Private addresses pass: what counts for them is the connection."""
        name = host.lower().rstrip(".")
        if name in self.hosts or any(known.startswith(".") and name.endswith(known) for known in self.hosts):
            return True
        address = _address(name)
        return address is not None and not address.is_global

    def may_connect(self, host: str) -> bool:
        """Whether an address may be connected to. A public one is that of a name that was looked up."""
        address = _address(host)
        if address is None or address.is_global:
            return True
        return str(address) in self._private_addresses()

    def _private_addresses(self) -> frozenset[str]:
        return frozenset(found for host in self.private for found in _resolved(host))


def _meant_private(host: str) -> bool:
    address = _address(host)
    if address is not None:
        return not address.is_global
    return "." not in host or host.endswith(_PRIVATE_NAMES)


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        found = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return None
    return getattr(found, "ipv4_mapped", None) or found


_asking = threading.local()
_found: dict[str, tuple[float, frozenset[str]]] = {}


def _resolved(host: str) -> frozenset[str]:
    """The addresses of a host that was meant to be private, looked up at most once a minute."""
    at, known = _found.get(host, (0.0, frozenset[str]()))
    if known and time.monotonic() - at < _KNOWN_S:
        return known
    _asking.on = True
    try:
        known = frozenset(str(info[4][0]) for info in socket.getaddrinfo(host, None))
    except OSError:
        return frozenset()
    finally:
        _asking.on = False
    _found[host] = (time.monotonic(), known)
    return known


def allowed(settings: Settings, environment: Mapping[str, str]) -> Outgoing:
    """The hosts that settings and environment name."""
    slack = _host(settings.slack_api_url)
    hosts = {slack, settings.host, _host(settings.database)}
    hosts |= {_SLACK, f".{_SLACK}"} if slack == _SLACK else set()
    hosts |= {_host(environment.get(name) or environment.get(name.lower()) or "") for name in _ADDRESSES}
    hosts |= _of_llm(environment) | set(_listed(settings.llm_hosts))
    if environment.get("SIZEWISE_HUB") or any("/" in environment.get(name, "") for name in _FROM_HUB):
        hosts |= {_host(environment["HF_ENDPOINT"])} if environment.get("HF_ENDPOINT") else set(_HUBS)
    return Outgoing(hosts, _listed(settings.private_hosts))


def _of_llm(environment: Mapping[str, str]) -> set[str]:
    provider, _, _ = environment.get("SIZEWISE_LLM", "").partition(":")
    return {_PROVIDERS[provider]} if provider in _PROVIDERS else set()


def _host(address: str) -> str:
    """The host of a URL, or of `host:port`."""
    return urlsplit(address if "//" in address else f"//{address}").hostname or ""


def _listed(names: str) -> list[str]:
    return [name.strip().lower() for name in names.split(",") if name.strip()]


def guard(outgoing: Outgoing) -> None:
    """Hold this process to it, from now until it ends."""
    sys.addaudithook(functools.partial(_seen, outgoing))


def guard_by_settings() -> None:
    """Hold this process to what its settings and environment name."""
    guard(allowed(Settings(), os.environ))


def _seen(outgoing: Outgoing, event: str, args: tuple[Any, ...]) -> None:
    if event not in ("socket.getaddrinfo", "socket.connect") or getattr(_asking, "on", False):
        return
    if event == "socket.getaddrinfo":
        host = args[0].decode("ascii", "replace") if isinstance(args[0], bytes) else args[0]
        refused = isinstance(host, str) and host != "" and not outgoing.may_look_up(host)
    else:
        host = args[1][0] if isinstance(args[1], tuple) else None
        refused = isinstance(host, str) and not outgoing.may_connect(host)
    if refused:
        log.error("connection refused", host=host, reason="not a configured host, or a private address")
        raise NotConfigured(f"{host} is not a configured host")
