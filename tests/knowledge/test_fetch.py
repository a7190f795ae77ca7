"""Addresses: only the operator's hosts, only public addresses, also after a redirect."""

import http.client
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
        ("https://@docs.example.org/", "without credentials"),
        ("https://docs.example.org@127.0.0.1/", "without credentials"),
        ("https://docs.example.org%40127.0.0.1/", "operator's list"),
        ("https://docs.example.org\\@127.0.0.1/", "without credentials"),
        ("https://docs.example.org#@127.0.0.1/", "cannot be reached|private"),
        ("https://docs.example.org:80:80/", "not an address"),
        ("https://docs.example.org\u3002evil.org/", "operator's list"),
        ("gopher://docs.example.org/", "only http and https"),
        ("//docs.example.org/", "only http and https"),
        ("", "only http and https"),
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
        "fec0::1",
        "fd12:3456::1",
        "::127.0.0.1",
        "::ffff:0:127.0.0.1",
        "64:ff9b::127.0.0.1",
        "64:ff9b::169.254.169.254",
        "64:ff9b:1::7f00:1",
        "2002:7f00:1::",
        "2001:0:4136:e378:8000:63bf:3fff:fdd2",
        "2001:db8::5efe:10.0.0.1",
        "2a00:1450::5efe:10.0.0.1",
        "2a00:1450::200:5efe:192.168.0.1",
        "198.18.0.1",
        "240.0.0.1",
        "::",
    ],
)
def test_names_that_lead_to_private_addresses_are_refused(private: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = [(0, 0, 0, "", (a, 443)) for a in ("93.184.216.34", private)]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
    with pytest.raises(UserError, match="private or reserved"):
        fetch.public_address("docs.example.org", 443)


@pytest.mark.parametrize("public", ["93.184.216.34", "2a00:1450:4001:80b::200e", "64:ff9b::93.184.216.34"])
def test_public_addresses_are_fetched_from(public: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [(0, 0, 0, "", (public, 443))])
    assert fetch.public_address("docs.example.org", 443) == public


@pytest.mark.parametrize(
    "host",
    ["localhost", "127.1", "2130706433", "0x7f.1", "017700000001", "[::1]", "[::ffff:127.0.0.1]", "0", "LOCALHOST."],
)
def test_spellings_of_this_machine_are_refused_even_where_an_operator_lists_them(host: str) -> None:
    listed = (host.strip("[]").lower().rstrip("."),)
    with pytest.raises(UserError, match=r"private or reserved|cannot be reached"):
        fetch.fetch(f"http://{host}/", listed)


def test_the_connection_goes_to_the_address_that_was_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter(["93.184.216.34", "127.0.0.1"])
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [(0, 0, 0, "", (next(answers), 80))])
    reached: list[str] = []

    class Connection:
        def __init__(self, host: str, timeout: float) -> None:
            reached.append(host)
            assert timeout > 0

        def request(self, *_: object, **__: object) -> None: ...

        def getresponse(self) -> Answer:
            return Answer(302, {"Location": "/again"})

        def close(self) -> None: ...

    monkeypatch.setattr(http.client, "HTTPConnection", Connection)
    with pytest.raises(UserError, match="private or reserved"):
        fetch.fetch("http://docs.example.org/a", HOSTS)
    assert reached == ["93.184.216.34"], "the second look-up led to this machine and was not followed"


def test_a_page_is_named_by_its_path(monkeypatch: pytest.MonkeyPatch) -> None:
    serve(monkeypatch, [Answer(blocks=[b"<p>card", b"</p>"])])
    assert fetch.fetch("https://docs.example.org/guide/power%20supply", HOSTS) == fetch.Fetched(
        b"<p>card</p>", "power supply.html", "text/html"
    )


@pytest.mark.parametrize(
    ("target", "why"),
    [
        ("http://169.254.169.254/x", "operator's list"),
        ("//169.254.169.254/x", "operator's list"),
        ("http://2130706433/", "operator's list"),
        ("http://[::1]/", "operator's list"),
        ("https://docs.example.org@127.0.0.1/", "without credentials"),
        ("\\\\127.0.0.1\\x", "more than|operator's list|not an address"),
        ("file:///etc/passwd", "only http"),
        ("javascript:alert(1)", "only http"),
        ("", "more than"),
        ("/on", "more than"),
    ],
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
