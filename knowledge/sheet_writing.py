"""Words and numbers of the sheets: templates in two languages, figures in the way of the reader's country."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from knowledge.analyse import Language
from knowledge.packaged import packaged

_NULL = re.compile(r"\bnull\b")
_SWAPPED = str.maketrans(",.", ".,")


def number(value: float, lang: Language, digits: int | None = None) -> str:
    """`1,008.5` or `1.008,5`; without `digits` up to two places, four for figures below one, no trailing zeros."""
    places = digits if digits is not None else 4 if abs(value) < 1 else 2
    text = f"{value:,.{places}f}"
    if digits is None and "." in text:
        text = text.rstrip("0").rstrip(".")
    return text.translate(_SWAPPED) if lang == "de" else text


def remark(text: str) -> str:
    """A remark of the catalogue as a reader should see it: what the data call null is unknown to us."""
    plain = _NULL.sub("unknown", text)
    return plain if plain.endswith(".") else f"{plain}."


@dataclass
class Writer:
    """Collects the lines of one sheet; a line without words is left out."""

    lang: Language
    lines: list[str] = field(default_factory=list)

    def say(self, section: str, key: str, **params: object) -> str:
        """The template with its parameters; numbers among them are written in the language's way."""
        template: str = packaged("sheet_text.yaml")[section][key][self.lang]
        return template.format(**{name: self._shown(value) for name, value in params.items()})

    def word(self, section: str, key: str) -> str:
        """The word for a code of the catalogue; a code without a word stands for itself."""
        words = packaged("sheet_text.yaml")[section].get(key)
        return str(words[self.lang]) if words else key

    def line(self, label: str, sentences: Iterable[str]) -> None:
        """`Label: sentences`."""
        text = " ".join(sentence for sentence in sentences if sentence)
        if text:
            self.lines.append(f"{self.word('labels', label)}: {text}")

    def text(self) -> str:
        """The sheet so far."""
        return "\n".join(self.lines)

    def _shown(self, value: object) -> str:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return number(value, self.lang)
        return str(value)
