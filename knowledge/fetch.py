"""Fetches a document from an address, for an operator: only hosts of the operator's list, only public addresses, with limits.

Every name is resolved here, every address it leads to is checked, and the connection goes to the checked address itself, so
that a second look-up cannot lead elsewhere. Redirects are followed by hand, each checked like the first address.
"""

import http.client
import ipaddress
import socket
import ssl
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from urllib.parse import SplitResult, unquote, urljoin, urlsplit

from knowledge.ingest import MOST_BYTES
from sizing.errors import UserError

_SECONDS = 20.0
_MOST_REDIRECTS = 4
_PORTS = {"http": 80, "https": 443}
_BLOCK_BYTES = 64 * 1024
_UNICAST = ipaddress.IPv6Network("2000::/3")
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_SUFFIX_OF_TYPE = {"application/pdf": ".pdf", "text/html": ".html", "text/markdown": ".md", "text/plain": ".txt"}


@dataclass(frozen=True)
class Fetched:
    """A document's bytes, the name a citation shows, and the type the server gave."""

    content: bytes
    name: str
    content_type: str


def fetch(address: str, hosts: Sequence[str]) -> Fetched:
    """The document at an address. Raises UserError naming the address and what is wrong with it."""
    deadline = time.monotonic() + _SECONDS
    current = address
    for _ in range(_MOST_REDIRECTS + 1):
        parts = _checked(current, hosts)
        try:
            answer, connection = _open(parts, deadline)
            with connection:
                if answer.status in (301, 302, 303, 307, 308):
                    current = urljoin(current, answer.getheader("Location") or "")
                    continue
                if answer.status != 200:
                    raise _refusal(address, f"the server answered {answer.status}")
                return _named(parts, answer, _body(answer, address, deadline))
        except (OSError, http.client.HTTPException) as error:
            raise _refusal(address, "the server cannot be reached, or did not answer in time") from error
    raise _refusal(address, f"it leads on more than {_MOST_REDIRECTS} times")


def _checked(address: str, hosts: Sequence[str]) -> SplitResult:
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError as error:
        raise _refusal(address, "it is not an address") from error
    if parts.scheme not in _PORTS or not parts.hostname or "@" in parts.netloc:
        raise _refusal(address, "only http and https addresses without credentials are fetched")
    if port not in (None, _PORTS[parts.scheme]):
        raise _refusal(address, "only the ports 80 and 443 are fetched from")
    if parts.hostname.lower().rstrip(".") not in hosts:
        allowed = ", ".join(hosts) or "none"
        raise _refusal(address, f"its host is not on the operator's list SIZEWISE_URL_HOSTS (now: {allowed})")
    return parts


def public_address(host: str, port: int) -> str:
    """The first address a name resolves to, if all of them are public. Raises OSError or UserError."""
    found = [str(info[4][0]) for info in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
    if not found or not all(_is_public(a) for a in found):
        raise _refusal(host, "it resolves to a private or reserved address")
    return found[0]


def _is_public(address: str) -> bool:
    """Global unicast only. Of the IPv6 forms that carry an IPv4 address, NAT64 counts by what it carries; the others lead back to hosts
    of this network (mapped, compatible, translated) or through a relay of somebody's (6to4, Teredo), and are none.
    """
    parsed = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(parsed, ipaddress.IPv6Address):
        if parsed in _NAT64:
            return _is_public(str(ipaddress.IPv4Address(int(parsed) & 0xFFFF_FFFF)))
        if parsed not in _UNICAST or parsed.sixtofour is not None or parsed.teredo is not None or _is_isatap(parsed):
            return False
    return parsed.is_global and not parsed.is_multicast


def _is_isatap(address: ipaddress.IPv6Address) -> bool:
    """An interface identifier that carries an IPv4 address of an intranet (RFC 5214)."""
    return int(address) >> 32 & 0xFDFF_FFFF == 0x0000_5EFE


class _Pinned(http.client.HTTPSConnection):
    """HTTPS to a given address, with the certificate checked for the name."""

    def __init__(self, name: str, address: str, timeout: float) -> None:
        super().__init__(name, timeout=timeout, context=ssl.create_default_context())
        self._address = address

    def connect(self) -> None:
        raw = socket.create_connection((self._address, self.port), self.timeout)
        self.sock = ssl.create_default_context().wrap_socket(raw, server_hostname=self.host)


class _Closing:
    """Closes a connection at the end of a `with` block."""

    def __init__(self, connection: http.client.HTTPConnection) -> None:
        self._connection = connection

    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        self._connection.close()


def _open(parts: SplitResult, deadline: float) -> tuple[http.client.HTTPResponse, _Closing]:
    host = parts.hostname or ""
    address = public_address(host, _PORTS[parts.scheme])
    left = _left(deadline)
    connection = (
        _Pinned(host, address, left) if parts.scheme == "https" else http.client.HTTPConnection(address, timeout=left)
    )
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    headers = {"Host": host, "User-Agent": "sizewise", "Accept-Encoding": "identity"}
    connection.request("GET", path, headers=headers)
    return connection.getresponse(), _Closing(connection)


def _body(answer: http.client.HTTPResponse, address: str, deadline: float) -> bytes:
    """All of it, unless it is too long or takes too long; a server that drips is cut off too."""
    blocks: list[bytes] = []
    length = 0
    while block := answer.read1(_BLOCK_BYTES):
        length += len(block)
        if length > MOST_BYTES:
            raise _refusal(address, f"it has more than {MOST_BYTES // 1024**2} MiB")
        _left(deadline)
        blocks.append(block)
    return b"".join(blocks)


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def _named(parts: SplitResult, answer: http.client.HTTPResponse, content: bytes) -> Fetched:
    content_type = answer.headers.get_content_type()
    name = PurePosixPath(unquote(parts.path)).name or parts.hostname or "page"
    suffix = _SUFFIX_OF_TYPE.get(content_type, "")
    return Fetched(content, name if PurePosixPath(name).suffix or not suffix else name + suffix, content_type)


def _refusal(address: str, why: str) -> UserError:
    return UserError("url", address, f"{address!r} was not fetched: {why}.")
