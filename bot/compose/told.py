"""What the paragraphs on a machine speak of, with the place that the message gives it."""

from __future__ import annotations

from typing import Any

from bot.compose.draft import Draft
from bot.compose.focus import availability, older_link
from bot.reply.wording import Wording
from bot.sized import Sized
from sizing.spec import WorkloadSpec
from sizing.system.machine import System


class Told:
    """What the paragraphs speak of."""

    def __init__(self, draft: Draft, system: System, spec: WorkloadSpec, sized: Sized, question: str) -> None:
        self.draft, self.system, self.spec, self.question = draft, system, spec, question
        self.hardware = sized.hardware
        self.context: int | None = sized.figures.get("context")
        self.words: Wording = draft.words

    def text(self, key: str, **params: Any) -> str:
        return self.words.text("machine", key, **params)


def with_place(spec: WorkloadSpec, question: str) -> WorkloadSpec:
    """The spec with what the message says of link and availability."""
    link, target = older_link(question), availability(question)
    update: dict[str, Any] = {}
    if link is not None:
        update |= {"pcie_gen": link[0]} | ({"pcie_lanes": link[1]} if link[1] else {})
    if target is not None:
        update["availability"] = target
    return spec.model_copy(update={"host": spec.host.model_copy(update=update)}) if update else spec
