"""Answer: the finished reply to one turn, independent of the surface it is shown on.

Every text is plain text without markup; `bot.reply` adds emphasis and escapes. Figures in texts are already formatted for `lang`.
"""

from __future__ import annotations

from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict

Lang = Literal["de", "en"]
ParagraphKind = Literal[
    "change", "flip", "why", "cheaper", "note", "warning", "measured", "clarify", "derivation", "refusal", "diagnosis"
]
# As many assumptions as a reader takes in; all of them stand in exports and in JSON.
MOST_ASSUMPTIONS: Final = 5
Action = Literal["why", "compare", "cheaper", "launch", "loadtest", "export", "undo"]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Citation(_Part):
    """A numbered source: `[n]` in a text points here."""

    n: int
    title: str
    section: str = ""
    source: str = ""
    kind: Literal["note", "sheet", "document"] = "note"


class Paragraph(_Part):
    """One paragraph; `title` is shown as its bold lead-in."""

    kind: ParagraphKind
    title: str = ""
    text: str


class Table(_Part):
    """A table whose cells are texts; rows have as many cells as there are columns and no cell is empty."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


class Alternative(_Part):
    """Another value for an assumption: choosing it re-runs the turn with `delta` merged into the spec."""

    label: str
    delta: dict[str, Any]


class AssumptionView(_Part):
    """An assumption: what was taken with the reason, and what else may be chosen in its place."""

    field: str
    label: str
    value: str
    alternatives: tuple[Alternative, ...] = ()
    reason: str = ""

    @property
    def told(self) -> str:
        """As a reply shows it: a reason only where it holds figures ("40 people, 10 % of them active"); an export has every reason."""
        holds_figures = any(sign.isdigit() for sign in self.reason)
        return self.value if holds_figures or not self.reason else self.value.removesuffix(f" ({self.reason})")


class Command(_Part):
    """A command to copy."""

    title: str
    code: str
    language: str = "bash"


class ChartBar(_Part):
    """One option's memory on its fullest device, in GiB; `capacity_gib` is what the engine may use."""

    label: str
    weights_gib: float
    kv_cache_gib: float
    activations_gib: float
    overhead_gib: float
    capacity_gib: float


class Chart(_Part):
    """The bar chart of an answer with a text that says the same."""

    title: str
    alt_text: str
    bars: tuple[ChartBar, ...]


class Answer(_Part):
    """What is said in one turn. `headline` stands alone in a notification; it begins with the verdict.

    `details` are paragraphs that only an export shows, for whoever wants more than the answer. `calculations` are sums that the answer
    makes beside its Estimates, in the form of an Estimate's derivation: a formula of + - * / over inputs that name their units.
    """

    id: str
    lang: Lang
    in_scope: bool = True
    intent: str
    headline: str
    lead: str = ""
    table: Table | None = None
    chart: Chart | None = None
    paragraphs: tuple[Paragraph, ...] = ()
    assumptions: tuple[AssumptionView, ...] = ()
    commands: tuple[Command, ...] = ()
    citations: tuple[Citation, ...] = ()
    actions: tuple[Action, ...] = ()
    specs: tuple[dict[str, Any], ...] = ()
    estimates: tuple[dict[str, Any], ...] = ()
    options: tuple[dict[str, Any], ...] = ()
    unverified_numbers: tuple[str, ...] = ()
    details: tuple[Paragraph, ...] = ()
    calculations: tuple[dict[str, Any], ...] = ()

    @property
    def told_assumptions(self) -> tuple[AssumptionView, ...]:
        """Those that a reply shows, in the places that they have in `assumptions`."""
        return self.assumptions[:MOST_ASSUMPTIONS]
