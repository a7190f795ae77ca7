"""Slash commands whose acknowledgement is still on its way: what replaces their "one moment" must not overtake it.

A turn is recorded before it is acknowledged, so a worker may have an answer first. Slack shows the acknowledgement's text when
it arrives; an answer sent before it replaces nothing, and "one moment" would stand below it for good.
"""

from __future__ import annotations

import asyncio
from typing import Final

# Slack gives up on an acknowledgement after three seconds; from then on there is no text that could come late.
_LATEST_S: Final = 3.0
# `ack()` hands the text to the server, which still has to send it.
_ON_ITS_WAY_S: Final = 0.05


class Acknowledgements:
    """Of the commands that this process received."""

    def __init__(self) -> None:
        self._open: dict[str, asyncio.Event] = {}

    def expect(self, key: str) -> None:
        """The command of a turn arrived and its acknowledgement is to come."""
        self._open[key] = asyncio.Event()
        asyncio.get_running_loop().call_later(_LATEST_S, self._close, key)

    def given(self, key: str) -> None:
        """The acknowledgement was handed over."""
        asyncio.get_running_loop().call_later(_ON_ITS_WAY_S, self._close, key)

    async def past(self, key: str) -> None:
        """Wait until nothing can come late any more; at once for what another process or an earlier life received."""
        expected = self._open.get(key)
        if expected is not None:
            await expected.wait()

    def _close(self, key: str) -> None:
        expected = self._open.pop(key, None)
        if expected is not None:
            expected.set()
