"""The text behind a citation, found anew from its title and section."""

from __future__ import annotations

from functools import cache

from bot.answer import Citation, Lang
from knowledge import notes
from knowledge.sheets import sheet
from sizing.catalogue.load import generated


def cited_text(citation: Citation, lang: Lang, whole: bool = False) -> str:
    """The section that a citation names (`whole`: the note or sheet around it); empty where no source of ours has it."""
    text = _by_title(lang).get(citation.title) or next(
        (t for each in ("de", "en") if (t := _by_title(each).get(citation.title))), ""
    )
    return text if whole else section_of(text, citation.section)


def section_of(text: str, heading: str) -> str:
    """What stands under a heading, up to the next; the whole text where the heading is empty."""
    if not heading:
        return text
    parts = text.split("\n\n")
    last = heading.rpartition(" › ")[2]
    if last not in parts:
        return ""
    found = [last]
    for part in parts[parts.index(last) + 1 :]:
        if len(part) <= 90 and part[-1:] not in ".!?:;)]" and len(found) > 1:
            break
        found.append(part)
    return "\n\n".join(found)


@cache
def _by_title(lang: Lang) -> dict[str, str]:
    texts = {
        note.document.title: "\n\n".join(chunk.text for chunk in note.chunks)
        for note in notes.load()
        if note.document.lang == lang
    }
    idents = [row["id"] for section in ("accelerators", "models") for row in generated()[section]]
    return texts | {found.title: found.text for ident in idents if (found := sheet(ident, lang))}
