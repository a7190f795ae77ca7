"""Request: what a message asks, after the turns before it; the answer of `python -m bot parse`."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from bot.understand.language import Lang

Intent = Literal[
    "size", "fits", "compare", "throughput", "explain", "finetune", "cost", "power", "system", "rag", "clarify", "out_of_scope"
]  # fmt: skip
Period = Literal["hour", "day", "month", "year", "once"]
Layout = Literal["machine", "alternatives"]
ClarifyCode = Literal["contradiction", "impossible", "nothing_to_size", "ambiguous_word", "empty"]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Device(_Part):
    """A device asked about. `count` None = not said or asked for; `memory_gb` of one card, in GB, only if said."""

    accelerator: str
    count: float | None = None
    memory_gb: float | None = None


class Budget(_Part):
    """A limit on spending."""

    amount: float
    currency: str
    period: Period = "once"


class Wishes(_Part):
    """Targets: seconds to the first token, tokens per second per user or in total."""

    ttft_s: float | None = None
    tokens_s_per_user: float | None = None
    tokens_s_total: float | None = None


class Clarify(_Part):
    """What reading alone must ask: the fields concerned and the words or values that made it necessary."""

    code: ClarifyCode
    fields: tuple[str, ...] = ()
    values: tuple[str, ...] = ()


class Assumption(_Part):
    """What an open word is taken to mean, with what else it may mean."""

    field: str
    value: str
    why: str
    others: tuple[str, ...] = ()


class Overruled(_Part):
    """A reading that lost against a better one for the same words."""

    field: str
    value: str
    words: str
    rule: str
    by: str


class Change(_Part):
    """What a turn changed against the one before."""

    field: str
    before: Any = None
    after: Any = None


class Request(_Part):
    """One turn, read. Fields hold only what the message or its thread says; None and empty mean "not said".

    `said` names the fields filled by this turn itself, `changes` what differs from the turn before. `layout` says
    whether several devices are one machine or alternatives; `model_layout` the same for models.
    """

    text: str = ""
    lang: Lang = "en"
    in_scope: bool = True
    intent: Intent = "clarify"
    intents: tuple[Intent, ...] = ()
    models: tuple[str, ...] = ()
    params_b: float | None = None
    weights: str | None = None
    kv_cache: str | None = None
    context_tokens: float | None = None
    input_tokens: float | None = None
    output_tokens: float | None = None
    concurrency: float | None = None
    users: float | None = None
    active_share: float | None = None
    hardware: tuple[Device, ...] = ()
    alternatives: tuple[Device, ...] = ()
    layout: Layout = "machine"
    model_layout: Layout = "alternatives"
    method: Literal["full", "lora", "qlora"] | None = None
    engine: str | None = None
    budget: Budget | None = None
    targets: Wishes = Wishes()
    other: Mapping[str, Any] = Field(default_factory=dict)
    evidence: Mapping[str, str] = Field(default_factory=dict)
    derived: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    clarify: Clarify | None = None
    assumptions: tuple[Assumption, ...] = ()
    overruled: tuple[Overruled, ...] = ()
    unread: tuple[str, ...] = ()
    said: tuple[str, ...] = ()
    changes: tuple[Change, ...] = ()
    follow_up: str | None = None

    def answer(self, specs: list[dict[str, Any]]) -> dict[str, Any]:
        """The object that `bot parse` writes for this turn."""
        data = self.model_dump(mode="json", exclude={"text"})
        data = {name: _whole(value) for name, value in data.items()}
        return {"ok": True, **data, "specs": specs}


FIELDS = (
    "models",
    "params_b",
    "weights",
    "kv_cache",
    "context_tokens",
    "input_tokens",
    "output_tokens",
    "concurrency",
    "users",
    "active_share",
    "hardware",
    "alternatives",
    "method",
    "engine",
    "budget",
    "targets",
)


def _whole(value: Any) -> Any:
    """Counts are written without a fraction: 8192.0 as 8192."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return int(value)
    if isinstance(value, dict):
        return {name: _whole(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_whole(inner) for inner in value]
    return value
