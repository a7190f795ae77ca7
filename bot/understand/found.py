"""Everything the readers found in one message, and the fields while they are being filled."""

from dataclasses import dataclass, field
from typing import Any

from bot.understand.device_details import DeviceMention
from bot.understand.engines import EngineMention, MethodReading
from bot.understand.figures import Figures
from bot.understand.follow_up import FollowUp
from bot.understand.formats import FormatMention
from bot.understand.hardware import Machines
from bot.understand.language import Lang
from bot.understand.model_names import ModelMention, SizeMention
from bot.understand.request import Assumption
from bot.understand.scope import Scope
from bot.understand.text import Text


@dataclass(slots=True)
class Draft:
    """The fields of one message while they are being filled."""

    values: dict[str, Any] = field(default_factory=dict)
    evidence: dict[str, str] = field(default_factory=dict)
    other: dict[str, Any] = field(default_factory=dict)
    derived: list[str] = field(default_factory=list)
    assumptions: list[Assumption] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Found:
    """Everything the readers found in one message."""

    text: Text
    lang: Lang
    models: list[ModelMention]
    sizes: list[SizeMention]
    devices: list[DeviceMention]
    formats: list[FormatMention]
    engines: list[EngineMention]
    method: MethodReading
    figures: Figures
    machines: Machines
    scope: Scope
    training: bool
    follow_up: FollowUp
    in_thread: bool
