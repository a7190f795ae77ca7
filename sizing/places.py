"""Where a deployment may stand: on premises, rented, and in which countries."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sizing.defaults import Defaults
from sizing.prices import Rate, Trust
from sizing.spec import WorkloadSpec

# EU and EEA: the GDPR's territory. "Europe" adds Switzerland and the United Kingdom (adequacy decisions).
EEA = frozenset({
    "AT", "BE", "BG", "CY", "CZ", "DE", "DK", "EE", "ES", "FI", "FR", "GR", "HR", "HU", "IE", "IS", "IT", "LI", "LT", "LU", "LV", "MT",
    "NL", "NO", "PL", "PT", "RO", "SE", "SI", "SK",
})  # fmt: skip
_EUROPE = EEA | {"CH", "GB"}
_REGIONS = {
    "eu": EEA,
    "eea": EEA,
    "ewr": EEA,
    "european union": EEA,
    "dsgvo": EEA,
    "gdpr": EEA,
    "europe": _EUROPE,
    "europa": _EUROPE,
}
_COUNTRIES = {
    "germany": "DE", "deutschland": "DE", "austria": "AT", "österreich": "AT", "switzerland": "CH", "schweiz": "CH", "france": "FR",
    "frankreich": "FR", "finland": "FI", "finnland": "FI", "netherlands": "NL", "niederlande": "NL", "sweden": "SE", "schweden": "SE",
    "norway": "NO", "norwegen": "NO", "poland": "PL", "polen": "PL", "italy": "IT", "italien": "IT", "spain": "ES", "spanien": "ES",
    "denmark": "DK", "dänemark": "DK", "belgium": "BE", "belgien": "BE", "hungary": "HU", "ungarn": "HU",
    "ireland": "IE", "irland": "IE", "portugal": "PT", "czechia": "CZ", "tschechien": "CZ", "bulgaria": "BG", "bulgarien": "BG",
    "uk": "GB", "united kingdom": "GB", "großbritannien": "GB", "usa": "US", "united states": "US", "us": "US",
}  # fmt: skip
_NAMED = re.compile(rf"\b(?:{'|'.join(name for name in _COUNTRIES if name != 'us')})\b", re.IGNORECASE)
# Owned by a company under US law wherever the machines stand (CLOUD Act): recalled from public company records.
US_OWNED = frozenset({
    "AWS", "Azure", "GCP", "OCI", "Lambda", "RunPod", "CoreWeave", "Crusoe", "DigitalOcean", "Together AI", "Akash", "Vast.ai",
    "TensorDock", "Paperspace", "Vultr", "Massed Compute", "Denvr",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Where:
    """`buys`: owned hardware may be proposed; `rents`: rented may; `countries` None is anywhere, else where rented machines may stand.

    `trusts` leaves out marketplaces and doubtful rows unless nothing else is to be had.
    """

    buys: bool = True
    rents: bool = True
    countries: frozenset[str] | None = None
    trusts: frozenset[Trust] = frozenset({"offer", "undated"})

    def allows(self, rate: Rate) -> bool:
        """Whether that machine may be rented; one whose country is unknown only where any country will do."""
        return self.rents and rate.trust in self.trusts and (self.countries is None or rate.country in self.countries)


ANY_TRUST: frozenset[Trust] = frozenset({"offer", "undated", "marketplace", "doubtful"})
ANYWHERE = Where(trusts=ANY_TRUST)


def where(spec: WorkloadSpec, defaults: Defaults, trusts: frozenset[Trust] | None = None) -> Where:
    """What a spec and a team allow; on premises stands in whatever country was named, a budget by the hour or day is for renting."""
    constraints = spec.constraints
    cloud = constraints.cloud if constraints.cloud is not None else defaults.cloud
    if cloud is None and spec.targets.budget_period in ("hour", "day"):
        cloud = True
    return Where(cloud is not True, cloud is not False, countries(constraints.location), trusts or Where().trusts)


def named_in(text: str) -> dict[str, str]:
    """Countries that a text names: the word as written, and its code."""
    return {match.group(): _COUNTRIES[match.group().lower()] for match in _NAMED.finditer(text)}


def countries(location: str | None) -> frozenset[str] | None:
    """Two-letter codes behind a written location; None for nowhere in particular, an empty set for a place that is not known."""
    if not location:
        return None
    written = location.strip().lower()
    if written in _REGIONS:
        return _REGIONS[written]
    code = _COUNTRIES.get(written, written.upper())
    return frozenset({code}) if len(code) == 2 else frozenset()
