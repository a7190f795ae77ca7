"""What a running bot does beside answering: old threads are deleted once an hour."""

from __future__ import annotations

import asyncio
from typing import Final

from sqlalchemy.exc import SQLAlchemyError

from bot.logs import logger
from bot.offload import Offload
from bot.operations.data import Holdings

log = logger()

_EVERY_S: Final = 3600.0


async def forget_what_is_old(holdings: Holdings, offload: Offload, days: float, every_s: float = _EVERY_S) -> None:
    """Delete threads without a turn for so many days, until cancelled; 0 keeps them."""
    while days > 0:
        try:
            count = await offload.at_leisure(holdings.forget_older, days)
            log.info("old threads deleted", count=count, days=days)
        except SQLAlchemyError as error:
            log.error("old threads not deleted", error=type(error).__name__)
        await asyncio.sleep(every_s)
