"""Figures, dates and amounts as each language writes them."""

import pytest

from bot.reply.wording import NO_BREAK, MissingText, wording

DE, EN = wording("de"), wording("en")


@pytest.mark.parametrize(
    ("value", "de", "en"),
    [
        (116.3, "116", "116"), (39.62, "39,6", "39.6"), (4.75, "4,8", "4.8"), (0.421, "0,42", "0.42"),
        (1234567, "1.234.567", "1,234,567"), (0, "0", "0"), (-0.001, "0", "0"),
    ],
)  # fmt: skip
def test_numbers(value: float, de: str, en: str) -> None:
    assert (DE.number(value), EN.number(value)) == (de, en)


@pytest.mark.parametrize(
    ("value", "shown"), [(32768, "32k"), (20000, "20k"), (1000, "1k"), (1024, "1k"), (512, "512"), (131072, "128k")]
)
def test_lengths(value: int, shown: str) -> None:
    assert EN.tokens(value) == shown


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (DE.gib(39.6), "39,6 GiB"),
        (DE.bytes(327680), "320 KiB"),
        (EN.bytes(70), "70 bytes"),
        (DE.percent(0.7), "70 %"),
        (EN.percent(0.7), "70%"),
        (DE.percent(0.004), "0,4 %"),
        (DE.money(2.5, "EUR"), "2,50 €"),
        (EN.money(2.5, "USD"), "$2.50"),
        (DE.money(15480, "EUR"), "15.480 €"),
        (EN.money(0.0312, "USD"), "$0.0312"),
        (DE.date("2026-09-06"), "6. September 2026"),
        (EN.date("2026-10"), "October 2026"),
        (DE.month("2026-09-06"), "09/2026"),
        (EN.seconds(0.35), "350 ms"),
        (DE.seconds(5400), "90 min"),
        (DE.seconds(200_000), "2,3 Tage"),
        (EN.span({"low": 33.2, "high": 52.4}), "33–52"),
        (DE.span({"low": 2.41, "high": 5.38}), "2,4–5,4"),
        (EN.span({"low": 8, "high": 8.2}), "8–8.2"),
        (DE.span_seconds({"low": 812, "high": 1420}), "0,8–1,4 s"),
        (EN.span_seconds({"low": 80, "high": 420}), "80–420 ms"),
        (EN.watts(700), "700 W"),
        (EN.watts(11_200), "11.2 kW"),
        (EN.about(31_234), "31,200"),
        (EN.plain(True), "yes"),
        (DE.listed(["a", "b", "c"]), "a, b und c"),
        (EN.listed(["a", "b"], "or"), "a or b"),
        (DE.plural(1, "Karte|Karten"), "Karte"),
        (DE.plural(2, "Karte|Karten"), "Karten"),
    ],
)
def test_writing(text: str, wanted: str) -> None:
    assert text.replace(NO_BREAK, " ") == wanted


def test_a_missing_text_is_named() -> None:
    with pytest.raises(MissingText, match=r"de\.ui\.nothing"):
        DE.text("ui", "nothing")


@pytest.mark.parametrize(
    ("value", "shown"), [(10**28, "1e+28"), (-1.25e40, "-1,25e+40"), (1e300, "1e+300"), (999_000_000_000_000, "999.000.000.000.000")]
)  # fmt: skip
def test_a_number_too_long_to_read_is_written_in_powers_of_ten(value: float, shown: str) -> None:
    assert wording("de").number(value) == shown
