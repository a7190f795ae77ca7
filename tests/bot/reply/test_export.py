"""Plain text, exports and charts of a finished answer."""

import csv
import io
import json

import pytest
from rich.console import Console

from bot.answer import Alternative, Answer, AssumptionView, Chart, ChartBar, Citation, Command, Paragraph, Table
from bot.reply.chart import png
from bot.reply.export import SUFFIXES, export
from bot.reply.plain import render, text

BAR = ChartBar(
    label="RTX 4090", weights_gib=39.6, kv_cache_gib=100.0, activations_gib=1.0, overhead_gib=0.5, capacity_gib=23.5
)
ANSWER = Answer(
    id="a1",
    lang="de",
    intent="fits",
    headline="Nein: es fehlen rund 118 GiB.",
    lead="Gewichte *und* [KV-Cache] brauchen 141 GiB.",
    table=Table(
        caption="Was passt",
        columns=("Option", "Kosten"),
        rows=(("2 × H100", "ab 4,98 €/h"), ("=HYPERLINK(1)", "-3,1 GiB")),
    ),
    chart=Chart(title="Speicher", alt_text="RTX 4090: 141 GiB gebraucht", bars=(BAR,)),
    paragraphs=(
        Paragraph(kind="change", title="Geändert:", text="Format Q4_K_M → FP8."),
        Paragraph(kind="why", title="Warum:", text="71 % sind KV-Cache [1]."),
    ),
    assumptions=(
        AssumptionView(
            field="weights",
            label="Format",
            value="Q4_K_M",
            alternatives=(Alternative(label="FP8", delta={"weights": "fp8"}),),
        ),
    ),
    commands=(Command(title="Startbefehl", code="vllm serve x \\\n  --max-model-len 8192"),),
    citations=(Citation(n=1, title="KV-Cache", section="Formel", source="vLLM"),),
)


def test_plain_text_keeps_the_order_and_holds_no_markup() -> None:
    shown = text(ANSWER, width=120)
    parts = [
        "Nein:",
        "Gewichte *und* [KV-Cache]",
        "Geändert:",
        "RTX 4090",
        "Was passt",
        "Warum:",
        "Angenommen:",
        "[FP8]",
        "vllm serve",
        "Quellen:",
    ]
    places = [shown.index(part) for part in parts]
    assert places == sorted(places)
    assert "\x1b" not in shown


@pytest.mark.parametrize("width", [40, 80, 200])
def test_any_width_of_a_terminal_will_do(width: int) -> None:
    console = Console(width=width, color_system=None, file=io.StringIO())
    console.print(render(ANSWER))
    bars = [line for line in console.file.getvalue().splitlines() if "█" in line]  # type: ignore[attr-defined]
    assert bars
    assert all(len(line) <= width for line in bars[:1]) or width < 60


def test_markdown_escapes_what_is_not_ours_and_fences_commands() -> None:
    shown = export(ANSWER, "markdown")
    assert r"Gewichte \*und\* \[KV-Cache\]" in shown
    assert "```bash\nvllm serve x \\\n  --max-model-len 8192\n```" in shown
    assert "| 2 × H100 | ab 4,98 €/h |" in shown


def test_csv_runs_no_formula() -> None:
    rows = list(csv.reader(io.StringIO(export(ANSWER, "csv"))))
    assert rows == [["Option", "Kosten"], ["2 × H100", "ab 4,98 €/h"], ["'=HYPERLINK(1)", "-3,1 GiB"]]


def test_json_is_the_answer_itself() -> None:
    assert Answer.model_validate(json.loads(export(ANSWER, "json"))) == ANSWER


def test_every_format_has_a_suffix() -> None:
    assert set(SUFFIXES) == {"markdown", "csv", "json"}


def test_a_chart_is_a_png_of_fair_size() -> None:
    assert ANSWER.chart is not None
    image = png(ANSWER.chart, "de")
    assert image.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = int.from_bytes(image[16:20], "big"), int.from_bytes(image[20:24], "big")
    assert 1000 <= width <= 1400
    assert height >= 250
