"""Files that people upload with a question: fetched from Slack's own hosts with the bot's token, and from nowhere else.

What a turn keeps of a file is its id: where it lies is asked anew at each attempt, which is also what a file of a shared
channel needs. Whatever cannot be had becomes a reason that the answer tells.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import aiohttp
from yarl import URL

from bot.attached import Attached, Content, Reason, Unread
from bot.inbox import Turn
from bot.logs import logger
from bot.model_files import is_gguf_file
from bot.slack.errors import BlocksRefused, translated
from bot.slack.here import Here
from bot.surface import FileRef, Refused, TryLater

log = logger()

MOST_FILES: Final = 5
# The header of a GGUF file with a vocabulary of 260,000 takes 7 to 12 MB; what describes the model stands at its beginning.
GGUF_BYTES: Final = 12_000_000
TEXT_BYTES: Final = 2_000_000
# Of a longer text so much from its beginning and from its end.
PIECE_BYTES: Final = 500_000
_TIMEOUT: Final = aiohttp.ClientTimeout(total=20.0, connect=5.0, sock_read=10.0)
_ALL_S: Final = 45.0
_LONGEST_WAIT_S: Final = 60.0
_CHUNK_BYTES: Final = 65_536
# Slack in trouble is tried again as for a post; after so many attempts the question is answered without the file.
_ATTEMPTS: Final = 3
_MODES: Final = ("hosted", "snippet")
_NEVER_TEXT: Final = (
    "image/",
    "audio/",
    "video/",
    "font/",
    "text/html",
    "application/pdf",
    "application/zip",
    "application/gzip",
)
_GONE: Final = frozenset({"file_not_found", "file_deleted"})
_SCOPE: Final = frozenset({"missing_scope", "no_permission", "not_allowed_token_type"})


class _NotRead(Exception):
    def __init__(self, reason: Reason, name: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.name = name


@dataclass(frozen=True)
class _Piece:
    """Bytes of a file; `ranged` where the server gave the part that was asked for."""

    content: bytes
    ranged: bool


class Files:
    """Fetches what was uploaded."""

    def __init__(self, here: Here) -> None:
        self.here = here

    async def of(self, turn: Turn, files: Sequence[FileRef]) -> Attached:
        """The files of a turn: its own, or those of the talk before it.

        Raises:
            TryLater: Slack could not be asked, and it is worth asking again.
        """
        contents: list[Content] = []
        unread: list[Unread] = []
        until = asyncio.get_running_loop().time() + _ALL_S
        for n, file in enumerate(files):
            try:
                if n >= MOST_FILES:
                    raise _NotRead("many")
                contents.append(await self._one(turn, str(file["id"]), str(file.get("name") or ""), until))
            except _NotRead as error:
                log.info("file not read", turn=turn.key, file=file["id"], reason=error.reason)
                unread.append(Unread(error.name or str(file.get("name") or file["id"]), error.reason))
                # One hint to the admin says it for all of them.
                if error.reason == "scope":
                    return Attached(unread=(unread[-1],))
        return Attached(tuple(contents), tuple(unread))

    async def _one(self, turn: Turn, ident: str, name: str, until: float) -> Content:
        try:
            async with asyncio.timeout_at(until):
                about = await self._about(turn, ident)
                name = str(about.get("name") or about.get("title") or name or ident)
                _check_kind(about)
                return await self._fetched(about, name)
        except (TryLater, TimeoutError) as error:
            if turn.attempts < _ATTEMPTS:
                raise error if isinstance(error, TryLater) else TryLater("no file from Slack in time") from None
            raise _NotRead("away", name) from None
        except _NotRead as error:
            raise _NotRead(error.reason, name) from None

    async def _about(self, turn: Turn, ident: str) -> dict[str, Any]:
        """What Slack knows of a file, as long as it is one of this channel."""
        try:
            async with translated():
                found = await self.here.client.files_info(file=ident)
        except (Refused, BlocksRefused) as error:
            code = str(error)
            raise _NotRead("scope" if code in _SCOPE else "gone" if code in _GONE else "access") from None
        about: dict[str, Any] = found["file"]
        if not _shared_in(about, turn.channel) or about.get("mode") in ("tombstone", "hidden_by_limit"):
            raise _NotRead("gone")
        return about

    async def _fetched(self, about: dict[str, Any], name: str) -> Content:
        url = self._of_slack(str(about.get("url_private_download") or about.get("url_private") or ""))
        size = int(about.get("size") or 0)
        is_gguf = name.lower().endswith(".gguf")
        most = GGUF_BYTES if is_gguf else TEXT_BYTES if size <= TEXT_BYTES else PIECE_BYTES
        first = await self._piece(url, f"bytes=0-{most - 1}", most)
        size = max(size, len(first.content))
        if len(first.content) >= size or is_gguf_file(first.content):
            return Content(name, size, first.content)
        last = await self._piece(url, f"bytes=-{PIECE_BYTES}", PIECE_BYTES)
        return Content(name, size, first.content, last.content if last.ranged else b"")

    def _of_slack(self, address: str) -> URL:
        """An address under the name of the Web API that is talked to: only there may the token be sent."""
        api = URL(self.here.client.base_url)
        try:
            url = URL(address)
            port = url.port
        except ValueError:
            raise _NotRead("outside") from None
        host, own = (url.host or "").lower().rstrip("."), (api.host or "").lower()
        same_place = host == own or (own.isascii() and not own[-1:].isdigit() and host.endswith(f".{own}"))
        if url.scheme != api.scheme or port != api.port or url.user is not None or not same_place:
            log.error("file outside Slack", host=host)
            raise _NotRead("outside")
        return url

    async def _piece(self, url: URL, wanted: str, most: int) -> _Piece:
        headers = {
            "Authorization": f"Bearer {self.here.workspaces.here.token}",
            "Range": wanted,
            "Accept-Encoding": "identity",
        }
        async with translated():
            request = self.here.session.get(url, headers=headers, allow_redirects=False, timeout=_TIMEOUT)
            async with request as response:
                self._check(response)
                content = bytearray()
                async for chunk in response.content.iter_chunked(_CHUNK_BYTES):
                    content += chunk
                    if len(content) >= most:
                        break
                # What is left of a longer answer is not waited for.
                response.close()
        return _Piece(bytes(content[:most]), response.status == 206)

    def _check(self, response: aiohttp.ClientResponse) -> None:
        """Slack shows a page to sign in, or the way to one, where it refuses a token."""
        if response.status == 429 or response.status >= 500:
            raise TryLater(f"no file from Slack: {response.status}", _seconds(response.headers.get("Retry-After")))
        page = response.content_type == "text/html"
        if response.status not in (200, 206) or page or "Content-Encoding" in response.headers:
            refused = page or response.status in (301, 302, 303, 307, 308, 401, 403)
            scopes = self.here.me.scopes
            raise _NotRead("scope" if refused and scopes and "files:read" not in scopes else "access")


def _check_kind(about: dict[str, Any]) -> None:
    """Nothing is fetched that would not be read."""
    if about.get("is_external") or about.get("mode") == "external":
        raise _NotRead("outside")
    if about.get("mode", "hosted") not in _MODES or str(about.get("mimetype")).startswith(_NEVER_TEXT):
        raise _NotRead("kind")


def _shared_in(about: dict[str, Any], channel: str) -> bool:
    """Whether a file is one of a channel, as far as Slack tells: an id alone must not open what lies elsewhere."""
    places = {str(place) for name in ("channels", "groups", "ims") for place in about.get(name) or ()}
    shares = about.get("shares") or {}
    places |= {str(place) for kind in ("public", "private") for place in shares.get(kind) or ()}
    return not places or channel in places


def _seconds(written: str | None) -> float | None:
    """At most a minute: what is asked of us again is asked by people who wait."""
    return min(float(written), _LONGEST_WAIT_S) if written and written.isascii() and written.isdigit() else None
