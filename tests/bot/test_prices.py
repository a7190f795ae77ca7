"""Imported prices: rows checked one by one, kept in the data directory, and used by the engine."""

from __future__ import annotations

import datetime
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from bot import prices
from bot.conversation import respond
from bot.prices_cli import main
from bot.thread import Context, ThreadState
from sizing.cost import costs
from sizing.defaults import Defaults

HEADER = "kind,accelerator,amount,currency,date,source,net,country\n"


def written(tmp_path: Path, *rows: str, header: str = HEADER) -> Path:
    path = tmp_path / "prices.csv"
    path.write_text(header + "\n".join(rows) + "\n", encoding="utf-8")
    return path


def test_good_rows_are_taken_and_bad_ones_named(tmp_path: Path) -> None:
    found = prices.read_csv(
        written(
            tmp_path,
            "buy,RTX PRO 6000 Max-Q,8990,EUR,2026-11-20,shop,net,Germany",
            "buy,RTX 9999,100,EUR,2026-11-20,shop,,",
            "buy,RTX 5090,-4,EUR,2026-11-20,shop,,",
            "buy,RTX 5090,3000,YEN,2026-11-20,shop,,",
            "buy,RTX 5090,3000,EUR,2099-01-01,shop,,",
            "lease,RTX 5090,3000,EUR,2026-01-01,shop,,",
        )
    )
    assert [(row.accelerator, row.amount, row.country) for row in found.rows] == [
        ("nvidia-rtx-pro-6000-max-q", 8990.0, "DE")
    ]
    assert [(line, reason.split(":")[0]) for line, reason in found.skipped] == [
        (3, "accelerator"), (4, "amount"), (5, "currency"), (6, "date"), (7, "kind"),
    ]  # fmt: skip
    assert "did you mean" in found.skipped[0][1]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1.234,50", 1234.5),
        ("1,234.50", 1234.5),
        ("8.990,00", 8990.0),
        ("2,40", 2.4),
        ("12,500", 12500.0),
        ("7200", 7200.0),
    ],
)
def test_numbers_as_people_write_them(tmp_path: Path, text: str, number: float) -> None:
    path = written(tmp_path, f"buy;L40S;{text};EUR;2026-11-01;shop;;", header=HEADER.replace(",", ";"))
    assert [row.amount for row in prices.read_csv(path).rows] == [number]


@pytest.mark.parametrize(
    "row",
    [
        "Angebot;RTX 4090;1.850,50;€;20.11.2026;Händler;ja;Deutschland",
        "quote;RTX 4090;1850.50;eur;2026-11-20;Händler;yes;DE",
    ],
)
def test_a_german_table_says_the_same_as_an_english_one(tmp_path: Path, row: str) -> None:
    [found] = prices.read_csv(written(tmp_path, row, header=HEADER.replace(",", ";"))).rows
    assert (found.kind, found.amount, found.currency, str(found.date), found.net, found.country) == (
        "quote", 1850.5, "EUR", "2026-11-20", True, "DE",
    )  # fmt: skip


@pytest.mark.parametrize("content", ["", "a,b\n1,2\n", "kind,accelerator\nbuy,L40S\n"])
def test_a_file_without_its_columns_is_refused_as_a_whole(tmp_path: Path, content: str) -> None:
    path = tmp_path / "prices.csv"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(prices.PriceImportError, match="lacks the columns"):
        prices.read_csv(path)


def test_a_file_that_is_not_there_or_not_text(tmp_path: Path) -> None:
    with pytest.raises(prices.PriceImportError, match="No such file"):
        prices.read_csv(tmp_path / "none.csv")
    (tmp_path / "picture.csv").write_bytes(b"\xff\xfe\x00\x80")
    with pytest.raises(prices.PriceImportError, match="save it as CSV UTF-8"):
        prices.read_csv(tmp_path / "picture.csv")


def test_kept_prices_are_what_the_engine_counts_with(tmp_path: Path) -> None:
    rows = prices.read_csv(
        written(tmp_path, "quote,L40S,7200,EUR,2026-11-25,offer,net,", "rent,L40S,0.5,EUR,2026-11-25,p,,DE")
    ).rows
    assert prices.book(tmp_path) is None
    assert prices.save(rows, tmp_path) == 2
    cost = costs("nvidia-l40s", 1, Defaults(prices=prices.book(tmp_path), today="2026-11-30"))
    assert cost["buy"]["amount"] == 7200 and cost["buy"]["basis"] == "quote" and not cost["buy"]["stale"]
    assert cost["rent_per_hour"]["amount"] == 0.5 and cost["rent_per_hour"]["basis"] == "imported"


def test_the_newer_row_of_the_same_thing_stays(tmp_path: Path) -> None:
    old, new = "buy,L40S,9000,EUR,2026-10-01,shop,,", "buy,L40S,8000,EUR,2026-11-01,shop,,"
    prices.save(prices.read_csv(written(tmp_path, new)).rows, tmp_path)
    prices.save(prices.read_csv(written(tmp_path, old)).rows, tmp_path)
    assert [row.amount for row in prices.load(tmp_path)] == [8000.0]


def test_a_damaged_line_does_not_take_the_others_with_it(tmp_path: Path) -> None:
    prices.save(prices.read_csv(written(tmp_path, "buy,L40S,9000,EUR,2026-10-01,shop,,")).rows, tmp_path)
    path = tmp_path / prices.FILE
    path.write_text("{not json\n" + path.read_text("utf-8"), encoding="utf-8")
    assert len(prices.load(tmp_path)) == 1


def test_offers_of_gpuhunt() -> None:
    def query(**asked: Any) -> list[Any]:
        assert asked == {"min_gpu_count": 1, "spot": False}
        item = {"provider": "somewhere", "instance_name": "gpu_8x", "gpu_count": 8, "price": 20.0}
        return [
            SimpleNamespace(gpu_name="H100", gpu_memory=80, **item),
            SimpleNamespace(gpu_name="Wonderchip", gpu_memory=1, **item),
        ]

    found = prices.read_gpuhunt(query)
    assert [(row.kind, row.count) for row in found.rows] == [("rent", 8)] and len(found.skipped) == 1


def test_no_network_is_said_in_a_sentence() -> None:
    def query(**_asked: Any) -> list[Any]:
        raise ConnectionError("no route")

    with pytest.raises(prices.PriceImportError, match="no price source"):
        prices.read_gpuhunt(query)


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("SIZEWISE_DATA_DIR", str(tmp_path / "data"))
    path = written(tmp_path, "buy,L40S,9000,EUR,2026-10-01,shop,,", "buy,nothing at all,1,EUR,2026-10-01,shop,,")
    assert main(["import", str(path)]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("1 prices taken, 1 left out") and err.startswith("line 3 left out: accelerator")
    assert main(["show"]) == 0
    assert '"nvidia-l40s"' in capsys.readouterr().out


QUESTION = "Was kostet Qwen3-32B FP8 auf einer RTX PRO 6000?"


def told(question: str = QUESTION) -> str:
    answer, _ = respond(question, ThreadState(), Context())
    assert answer.unverified_numbers == ()
    return " ".join((answer.headline, *(part.text for part in answer.paragraphs))).replace("\xa0", " ")


def test_imported_prices_reach_the_answer_and_lose_the_mark_of_age(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The catalogue's price is marked as old; a newer one of the team takes its place, with its own date."""
    monkeypatch.setenv("SIZEWISE_DATA_DIR", str(tmp_path / "data"))
    assert "über 90 Tage alt" in told()
    day = (datetime.date.today() - datetime.timedelta(days=5)).isoformat()
    rows = (f"buy,RTX PRO 6000,9123,EUR,{day},shop,net,DE", f"rent,RTX PRO 6000,1.11,EUR,{day},lender,,DE")
    assert main(["import", str(written(tmp_path, *rows))]) == 0
    capsys.readouterr()
    answer = told()
    assert "9.123 €" in answer and "1,11 €" in answer and "lender" in answer
    assert "über 90 Tage alt" not in answer and f"{day[5:7]}/{day[:4]}" in answer


def test_gpuhunts_offers_reach_the_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the package were installed and the network open: a rent of today is the one that is told."""
    monkeypatch.setenv("SIZEWISE_DATA_DIR", str(tmp_path / "data"))
    offer = SimpleNamespace(
        gpu_name="H200",
        gpu_memory=141,
        provider="nearby",
        instance_name="h200x1",
        gpu_count=1,
        price=1.23,
        location="de-1",
    )
    monkeypatch.setitem(sys.modules, "gpuhunt", SimpleNamespace(query=lambda **_asked: [offer]))
    assert main(["gpuhunt"]) == 0
    assert "nearby" in told("What does Llama 3.3 70B FP8 on one H200 cost to rent, in dollars? $")
