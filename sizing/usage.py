"""How a deployment is used and paid for, as the asker says it: hours, tariff, years, prices of their own; and what that makes of the
defaults that costs are computed with."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from sizing.prices import HOURS_PER_MONTH, in_currency
from sizing.values import NUMBER

if TYPE_CHECKING:  # the defaults name hardware as a spec does, and a spec holds its usage
    from sizing.defaults import Defaults

_MONTHS = 12
_HOURS_PER_DAY, _DAYS_PER_WEEK = 24.0, 7.0

Currency = Literal["EUR", "USD"]
Positive = Annotated[float, Field(gt=0, le=1e15, allow_inf_nan=False), NUMBER]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Money(_Part):
    """An amount with its currency."""

    amount: Positive
    currency: Currency


class Usage(_Part):
    """The asker's own figures; None means "not said".

    `hours_per_day` and `days_per_week` are when it runs at all, `utilisation` how much of its full rate it gives out in those hours.
    `electricity` is a kWh, `rent_per_hour` all devices together, `quote` the purchase of all devices, `api` a million tokens of a
    managed API that `tokens_per_month` would go to. `gross`: amounts are wanted, and quotes meant, with VAT. `reserved`: the rent is paid
    for every hour, used or not. `currency` is the one that the asker counts in.
    """

    hours_per_day: Annotated[float, Field(gt=0, le=24), NUMBER] | None = None
    days_per_week: Annotated[float, Field(gt=0, le=7), NUMBER] | None = None
    utilisation: Annotated[float, Field(gt=0, le=1), NUMBER] | None = None
    years: Annotated[float, Field(gt=0, le=30), NUMBER] | None = None
    pue: Annotated[float, Field(ge=1, le=5), NUMBER] | None = None
    electricity: Money | None = None
    rent_per_hour: Money | None = None
    quote: Money | None = None
    api: Money | None = None
    tokens_per_month: Positive | None = None
    gross: bool | None = None
    reserved: bool | None = None
    currency: Currency | None = None

    @property
    def hours_per_month(self) -> float | None:
        """Hours it runs in a month of 730 h; None where neither hours nor days were said."""
        if self.hours_per_day is None and self.days_per_week is None:
            return None
        day = (self.hours_per_day or _HOURS_PER_DAY) / _HOURS_PER_DAY
        return HOURS_PER_MONTH * day * (self.days_per_week or _DAYS_PER_WEEK) / _DAYS_PER_WEEK


NOTHING_SAID = Usage()


def used_as_said(defaults: Defaults, usage: Usage) -> Defaults:
    """The defaults with the asker's hours, tariff, PUE and years; years said are the years it is written down over, used parts too."""
    defaults = _counted_in(defaults, usage.currency)
    said: dict[str, object] = {}
    if usage.hours_per_month is not None:
        said["hours_per_month"] = usage.hours_per_month
    if usage.electricity is not None:
        said["electricity_per_kwh"] = in_team_currency(usage.electricity, defaults)
    if usage.pue is not None:
        said["pue"] = usage.pue
    if usage.years is not None:
        said |= {"amortisation_months": max(1, round(usage.years * _MONTHS)), "used_life_share": 1.0}
    return replace(defaults, **said) if said else defaults  # type: ignore[arg-type]


def _counted_in(defaults: Defaults, currency: Currency | None) -> Defaults:
    """The team's own amounts in another currency."""
    if currency is None or currency == defaults.currency:
        return defaults

    def changed(amount: float | None) -> float | None:
        return None if amount is None else in_currency(amount, defaults.currency, currency, defaults.eur_per_usd)

    return replace(
        defaults,
        currency=currency,
        electricity_per_kwh=changed(defaults.electricity_per_kwh),
        machine_price=changed(defaults.machine_price),
        staff_per_month=changed(defaults.staff_per_month) or 0.0,
    )


def in_team_currency(money: Money, defaults: Defaults) -> float:
    """An amount in the currency of the team."""
    return in_currency(money.amount, money.currency, defaults.currency, defaults.eur_per_usd)
