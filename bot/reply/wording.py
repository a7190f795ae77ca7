"""Numbers, units, dates and templates in German and English.

A template is a sentence with fields such as `{margin:gib}`; what stands after the colon names a method below, so that a
text says how a figure is written and never how it is rounded.
"""

from __future__ import annotations

import datetime
import functools
import re
import string
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from importlib import resources
from typing import Any, Final

from babel.core import Locale
from babel.dates import format_date, get_month_names
from babel.numbers import format_currency, format_decimal, get_decimal_symbol

from bot.answer import Lang
from bot.reply import names
from bot.written import filled, literal, noted
from sizing.units import GIB, KIB, MIB

_LOCALES: Final[Mapping[Lang, Locale]] = {"de": Locale("de", "DE"), "en": Locale("en", "US")}
_DAY = re.compile(r"^(\d{4})-(\d{2})-(\d{2})$")
_MONTH = re.compile(r"^(\d{4})-(\d{2})$")
NO_BREAK = "\N{NO-BREAK SPACE}"


class MissingText(LookupError):
    """A text that the catalogue of a language lacks: a fault of ours that a test finds."""


@functools.cache
def catalogue(lang: Lang) -> Mapping[str, Any]:
    """All templates of a language, by section and key; those on the machine, on planning and on single quantities stand in own files."""
    found: dict[str, dict[str, Any]] = {}
    for name in (
        f"{lang}.toml",
        f"machine.{lang}.toml",
        f"advice.{lang}.toml",
        f"asked.{lang}.toml",
        f"direct.{lang}.toml",
        f"derivation.{lang}.toml",
        f"leads.{lang}.toml",
    ):
        for section, texts in tomllib.loads(
            resources.files("bot.reply.texts").joinpath(name).read_text("utf-8")
        ).items():
            found.setdefault(section, {}).update(texts)
    return found


@functools.cache
def _formulas(lang: Lang) -> Mapping[str, str]:
    """Formulas of derivations as the engine names them, in a language; the engine's own are English."""
    if lang == "en":
        return {}
    return tomllib.loads(resources.files("bot.reply.texts").joinpath(f"formulas.{lang}.toml").read_text("utf-8"))


@functools.cache
def literals(lang: Lang) -> tuple[str, ...]:
    """What stands outside the fields of templates and holds a digit: figures that we wrote ourselves ("times 1.25")."""
    templates = (text for texts in catalogue(lang).values() for text in texts.values())
    parts = (part for text in templates for part, *_ in string.Formatter().parse(text))
    return tuple(part for part in parts if any(sign.isdigit() for sign in part))


@functools.cache
def wording(lang: Lang) -> Wording:
    """The wording of a language; one object for everybody, it holds no state."""
    return Wording(lang)


class Wording(string.Formatter):
    """Writes figures and texts of one language."""

    def __init__(self, lang: Lang) -> None:
        super().__init__()
        self.lang: Lang = lang
        self.locale = _LOCALES[lang]

    def has(self, section: str, key: str) -> bool:
        return key in catalogue(self.lang).get(section, {})

    def text(self, section: str, key: str, /, **params: Any) -> str:
        """The template `section.key` with its fields filled.

        Raises:
            MissingText: there is no such text.
        """
        template = catalogue(self.lang).get(section, {}).get(key)
        if template is None:
            raise MissingText(f"{self.lang}.{section}.{key}")
        noted_text = filled(template, lambda name, form: self.format_field(self.get_field(name, (), params)[0], form))
        return self.vformat(template, (), params) if noted_text is None else noted_text

    def label(self, section: str, key: str) -> str:
        """A short text that falls back to its key: labels of fields that the catalogue does not name."""
        found = catalogue(self.lang).get(section, {}).get(key)
        return literal(found if isinstance(found, str) else key.replace("_", " "))

    def format_field(self, value: Any, format_spec: str) -> str:
        kind, _, argument = format_spec.partition(":")
        if not kind:
            return self.plain(value)
        writer = getattr(self, kind)
        return str(writer(value, argument) if argument else writer(value))

    @noted()
    def plain(self, value: Any) -> str:
        """A value without a unit: numbers by locale, lists joined, anything else as it is."""
        if isinstance(value, bool):
            return self.label("words", "yes" if value else "no")
        if isinstance(value, (int, float)):
            return self.number(value)
        if isinstance(value, (list, tuple)):
            return self.listed([self.plain(part) for part in value])
        return str(value)

    @noted()
    def number(self, value: float, decimals: int | None = None) -> str:
        """A number with as many decimals as its size deserves: 116, 39.6, 4.8, 0.42; trailing zeros are dropped."""
        if abs(value) >= _IN_POWERS_OF_TEN:
            return f"{value:.3g}".replace(".", str(get_decimal_symbol(self.locale)))
        places = _decimals(value) if decimals is None else int(decimals)
        rounded = round(float(value), places)
        pattern = "#,##0" + ("." + "#" * places if places else "")
        return format_decimal(rounded if rounded else 0, format=pattern, locale=self.locale)

    @noted()
    def count(self, value: float) -> str:
        return self.number(round(value), 0)

    @noted("bytes", GIB)
    def gib(self, value: float) -> str:
        """GiB as given: `39.6 GiB`."""
        return f"{self.number(value)}{NO_BREAK}GiB"

    @noted("bytes", 1e9)
    def gb(self, value: float) -> str:
        return f"{self.number(value)}{NO_BREAK}GB"

    @noted("bytes")
    def bytes(self, value: float) -> str:
        """Bytes in the binary unit that reads best: 327680 → `320 KiB`."""
        for size, unit in ((GIB, "GiB"), (MIB, "MiB"), (KIB, "KiB")):
            if abs(value) >= size:
                return f"{self.number(value / size)}{NO_BREAK}{unit}"
        return f"{self.number(value)}{NO_BREAK}{'Byte' if self.lang == 'de' else 'bytes'}"

    @noted()
    def tokens(self, value: float) -> str:
        """A length as people write it: 32768 → `32k`, 20000 → `20k`, 31200 → `31,200`."""
        whole = round(value)
        if whole >= 1024 and whole % 1024 == 0:
            return f"{self.count(whole // 1024)}k"
        return f"{self.count(whole // 1000)}k" if whole >= 1000 and whole % 1000 == 0 else self.count(whole)

    @noted()
    def about(self, value: float) -> str:
        """A count rounded to two or three figures, for what is only estimated: 31234 → `31,200`."""
        step = 10 ** max(0, len(str(int(abs(value)))) - 3)
        return self.number(round(value / step) * step)

    @noted("share")
    def percent(self, share: float) -> str:
        """A share of 1 in percent: 0.7 → `70 %`."""
        space = NO_BREAK if self.lang == "de" else ""
        places = 1 if 0 < abs(share) < 0.01 else 0
        return f"{self.number(share * 100, places)}{space}%"

    @noted("time")
    def seconds(self, value: float) -> str:
        """A time in the unit that reads best."""
        if value < 1:
            return f"{self.number(value * 1000, 0)}{NO_BREAK}ms"
        if value < 120:
            return f"{self.number(value)}{NO_BREAK}s"
        if value < 7200:
            return f"{self.number(value / 60)}{NO_BREAK}min"
        if value < 172_800:
            return f"{self.number(value / 3600)}{NO_BREAK}h"
        return f"{self.number(value / 86_400)}{NO_BREAK}{self.label('words', 'days')}"

    @noted("time", 1e-3)
    def ms(self, value: float) -> str:
        return self.seconds(value / 1000)

    @noted("power")
    def watts(self, value: float) -> str:
        return f"{self.number(value / 1000)}{NO_BREAK}kW" if value >= 10_000 else f"{self.count(value)}{NO_BREAK}W"

    @noted()
    def span(self, bounds: Any) -> str:
        """A range as `33–52`; both ends are rounded alike, and equal ends become one number."""
        low, high = _bounds(bounds)
        places = _decimals(high) if high < 10 else 0
        ends = [self.number(low, places), self.number(high, places)]
        return ends[0] if ends[0] == ends[1] else "–".join(ends)

    @noted("time", 1e-3)
    def span_seconds(self, bounds: Any) -> str:
        """A range of milliseconds in one unit for both ends: `0.8–1.4 s`."""
        low, high = _bounds(bounds)
        if high < 1000:
            return f"{self.span({'low': low, 'high': high})}{NO_BREAK}ms"
        return f"{self._fine_span(low / 1000, high / 1000)}{NO_BREAK}s"

    def _fine_span(self, low: float, high: float) -> str:
        places = 1 if high < 100 else 0
        ends = [self.number(low, places), self.number(high, places)]
        return ends[0] if ends[0] == ends[1] else "–".join(ends)

    def formula(self, formula: str) -> str:
        """A formula of a derivation with the signs of arithmetic."""
        return literal(_formulas(self.lang).get(formula, formula).replace(" x ", " × ").replace(" - ", " − "))

    @noted("money")
    def money(self, amount: float, currency: str, decimals: int | None = None) -> str:
        """An amount with its currency; cents only below 100."""
        if abs(amount) >= _IN_POWERS_OF_TEN:
            return f"{self.number(amount)}{NO_BREAK}{currency}"
        places = (2 if abs(amount) < 100 else 0) if decimals is None else decimals
        places = 4 if 0 < abs(amount) < 0.1 and decimals is None else places
        digits = "#,##0" + ("." + "0" * places if places else "")
        pattern = f"{digits}{NO_BREAK}¤" if self.lang == "de" else f"¤{digits}"
        return format_currency(amount, currency, format=pattern, locale=self.locale, currency_digits=False)

    def date(self, value: str | datetime.date) -> str:
        """A day or a month: `2026-09-06` → `6. September 2026`, `2026-10` → `Oktober 2026`."""
        if isinstance(value, datetime.date):
            return literal(format_date(value, "long", locale=self.locale))
        if match := _DAY.match(value):
            return literal(format_date(datetime.date(*map(int, match.groups())), "long", locale=self.locale))
        if match := _MONTH.match(value):
            return literal(f"{get_month_names('wide', locale=self.locale)[int(match[2])]} {match[1]}")
        return literal(value)

    def month(self, value: str) -> str:
        """A date in a table: the month is enough, `2026-09-06` → `09/2026`."""
        match = _DAY.match(value) or _MONTH.match(value)
        return literal(f"{match[2]}/{match[1]}" if match else value)

    def plural(self, amount: float, forms: str) -> str:
        """The form of a word that fits an amount: `{n:plural:Karte|Karten}`."""
        one, _, many = forms.partition("|")
        return one if amount == 1 else many

    def device(self, accelerator: str) -> str:
        return names.device(accelerator)

    def model(self, model: str) -> str:
        return names.model(model)

    def weights(self, weights: str) -> str:
        return names.weight_format(weights)

    def engine(self, engine: str) -> str:
        return names.engine(engine)

    def listed(self, parts: Iterable[str], joiner: str = "and") -> str:
        """`a, b and c`."""
        items: Sequence[str] = list(parts)
        if len(items) < 2:
            return "".join(items)
        return f"{', '.join(items[:-1])} {self.label('words', joiner)} {items[-1]}"


# Babel refuses numbers of more than 28 digits.
_IN_POWERS_OF_TEN = 1e27


def _decimals(value: float) -> int:
    size = abs(value)
    if size >= 99.95 or float(value).is_integer():
        return 0
    return 1 if size >= 0.95 else 2


def _bounds(bounds: Any) -> tuple[float, float]:
    if isinstance(bounds, Mapping):
        return float(bounds["low"]), float(bounds["high"])
    return float(bounds.low), float(bounds.high)
