"""Gaps in a spec, as they are filled: every one becomes an assumption that the answer states."""

from __future__ import annotations

from dataclasses import dataclass, field

from sizing.estimate import Assumption


@dataclass
class Gaps:
    """Assumptions in the order in which they were made."""

    found: list[Assumption] = field(default_factory=list)

    def fill(self, name: str, value: object, code: str, **params: object) -> None:
        """One more: the field, what it was filled with, why, and what the words for it need."""
        self.found.append(Assumption(field=name, value=value, code=code, params=params))
