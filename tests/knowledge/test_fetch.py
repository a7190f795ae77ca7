"""Addresses: only the operator's hosts, only public addresses, also after a redirect."""

import socket
from dataclasses import dataclass, field
from typing import Any

import pytest

from knowledge import fetch
from sizing.errors import UserError

HOSTS = ("docs.example.org",)


@dataclass
class Answer:
    """What a server answers."""

    status: int = 200
    headers_: dict[str, str] = field(default_factory=dict)
    blocks: list[bytes] = field(default_factory=list)

    @property
    def headers(self) -> Any:
        class Headers:
            @staticmethod
            def get_content_type() -> str:
                return "text/html"

        return Headers

    def getheader(self, name: str) -> str | None:
        return self.headers_.get(name)

    def read1(self, _: int) -> bytes:
        return self.blocks.pop(0) if self.blocks else b""


class Open:
    """Stands for the connection."""

    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None: ...


def serve(monkeypatch: pytest.MonkeyPatch, answers: list[Answer]) -> None:
    monkeypatch.setattr(fetch, "_open", lambda _parts, _deadline: (answers.pop(0), Open()))


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("ftp://docs.example.org/a", "only http and https"),
        ("file:///etc/passwd", "only http and https"),
        ("https://user:word@docs.example.org/", "without credentials"),
        ("https://docs.example.org:8443/", "ports 80 and 443"),
        ("https://evil.example.org/", "operator's list"),
        ("https://docs.example.org.evil.org/", "operator's list"),
        ("https://[", "not an address"),
    ],
)
def test_addresses_that_are_refused(address: str, why: str) -> None:
    with pytest.raises(UserError, match=why):
        fetch.fetch(address, HOSTS)


@pytest.mark.parametrize(
    "private",
    [
        "127.0.0.1",
        "10.1.2.3",
        "192.168.0.9",
        "169.254.169.254",
        "0.0.0.0",
        "100.64.0.1",
        "::1",
        "fe80::1%eth0",
        "::ffff:127.0.0.1",
        "224.0.0.1",
    ],
)
def test_names_that_lead_to_private_addresses_are_refused(private: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = [(0, 0, 0, "", (a, 443)) for a in ("93.184.216.34", private)]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
    with pytest.raises(UserError, match="private or reserved"):
        fetch.public_address("docs.example.org", 443)


def test_a_page_is_named_by_its_path(monkeypatch: pytest.MonkeyPatch) -> None:
    serve(monkeypatch, [Answer(blocks=[b"<p>card", b"</p>"])])
    assert fetch.fetch("https://docs.example.org/guide/power%20supply", HOSTS) == fetch.Fetched(
        b"<p>card</p>", "power supply.html", "text/html"
    )


@pytest.mark.parametrize(
    ("target", "why"),
    [("http://169.254.169.254/x", "operator's list"), ("file:///etc/passwd", "only http"), ("/on", "more than")],
)
def test_redirects_are_checked_like_the_first_address(target: str, why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    serve(monkeypatch, [Answer(302, {"Location": target}) for _ in range(9)])
    with pytest.raises(UserError, match=why):
        fetch.fetch("https://docs.example.org/a", HOSTS)


def test_an_endless_answer_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch, "MOST_BYTES", 1024 * 1024)
    serve(monkeypatch, [Answer(blocks=[b"x" * 65536] * 40)])
    with pytest.raises(UserError, match="more than 1 MiB"):
        fetch.fetch("https://docs.example.org/a", HOSTS)


def test_a_server_that_answers_badly_or_not(monkeypatch: pytest.MonkeyPatch) -> None:
    serve(monkeypatch, [Answer(404)])
    with pytest.raises(UserError, match="answered 404"):
        fetch.fetch("https://docs.example.org/a", HOSTS)

    def down(*_: object) -> None:
        raise ConnectionRefusedError

    monkeypatch.setattr(fetch, "_open", down)
    with pytest.raises(UserError, match="cannot be reached"):
        fetch.fetch("https://docs.example.org/a", HOSTS)
