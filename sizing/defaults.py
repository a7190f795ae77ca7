"""What fills a gap where neither the user nor the engine says anything: the team's defaults, with ours behind them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Defaults:
    """Values a team may set. `reserve_share` of the usable memory is kept free before "fits" becomes "tight".

    `context_tokens` None leaves the engine's own default (the model's maximum for servers); chat surfaces set it.
    `min_tokens_s_per_user` is what a proposal must reach where no target was said (fluent reading takes 5-8 tokens/s).
    Electricity is in `currency` per kWh; `eur_per_usd` converts prices where a sum mixes currencies and is shown with them.
    """

    context_tokens: int | None = None
    concurrency: int = 1
    active_share: float = 0.1
    reserve_share: float = 0.0
    min_bits: float = 4.0
    min_tokens_s_per_user: float | None = None
    currency: Literal["EUR", "USD"] = "EUR"
    electricity_per_kwh: float = 0.372
    eur_per_usd: float = 0.86
    country: str = "DE"
    pue: float = 1.0
    cloud: bool | None = None
    owned: tuple[str, ...] = ()


ENGINE_DEFAULTS = Defaults()
CHAT_DEFAULTS = Defaults(context_tokens=8192, reserve_share=0.1, min_tokens_s_per_user=8.0)
