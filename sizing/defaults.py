"""What fills a gap where neither the user nor the engine says anything: the team's defaults, with ours behind them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sizing.prices import PriceBook
from sizing.spec import HardwareRef


@dataclass(frozen=True, slots=True)
class Defaults:
    """Values a team may set. `reserve_share` of the usable memory is kept free before "fits" becomes "tight".

    `context_tokens` None leaves the engine's own default (the model's maximum for servers); chat surfaces set it.
    `min_tokens_s_per_user` is what a proposal must reach where no target was said (fluent reading takes 5-8 tokens/s).
    `electricity_per_kwh` is in `currency` (None: the country's price as far as known); `eur_per_usd` converts prices where a sum mixes
    currencies and is shown with them. `today` (ISO date) ages prices: sizing has no clock. `prices` None is the catalogue's book.
    Owned hardware is written down over `amortisation_months` to `resale_share` of its price;
    `support_share_per_year` and `staff_per_month` come on top where a team sets them. `machine_price` is a team's own figure for the
    machine around one set of cards. `load_share` is the mean draw as a share of the cards' power, `hours_per_month` the hours it runs
    (what is rented by the hour is paid for those, what is owned draws power in those). Used parts last `used_life_share` of the time.
    """

    context_tokens: int | None = None
    concurrency: int = 1
    active_share: float = 0.1
    reserve_share: float = 0.0
    min_bits: float = 4.0
    min_tokens_s_per_user: float | None = 8.0
    currency: Literal["EUR", "USD"] = "EUR"
    electricity_per_kwh: float | None = None
    eur_per_usd: float = 0.86
    country: str = "DE"
    pue: float = 1.0
    cloud: bool | None = None
    owned: tuple[HardwareRef | str, ...] = ()
    today: str | None = None
    prices: PriceBook | None = None
    machine_price: float | None = None
    amortisation_months: int = 36
    resale_share: float = 0.0
    support_share_per_year: float = 0.0
    staff_per_month: float = 0.0
    load_share: float = 0.5
    hours_per_month: float = 730.0
    used_life_share: float = 0.5


ENGINE_DEFAULTS = Defaults()
CHAT_DEFAULTS = Defaults(context_tokens=8192, reserve_share=0.1)
