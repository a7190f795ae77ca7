"""Files that come with a question, read as if what they hold had been pasted into it.

A `config.json`, the header of a GGUF file, or text such as a log or the output of nvidia-smi. Of a long text its beginning, its
end and the lines between that tell of memory, speed and faults are read. Pure: bytes in, words out.
"""

from __future__ import annotations

import codecs
import io
import json
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from bot.answer import Answer, Lang, Paragraph
from bot.model_files import MAX_CONFIG_BYTES, Shape, config_in, format_unsaid, is_gguf_file, shape_in
from bot.reply.labels import label
from bot.reply.wording import wording
from sizing.errors import UserError

Reason = Literal["kind", "large", "damaged", "second", "full", "gone", "outside", "access", "scope", "away", "many"]
Kind = Literal["config", "gguf", "text", "cut"]

# What a question may hold, pasted or not.
MAX_CHARACTERS: Final = 40_000
# Half a second of reading; what a person would paste is far below.
MOST_CHARS: Final = 24_000
_LEAST_CHARS: Final = 500
_LINE_CHARS: Final = 1_000
_LONG_LIST: Final = 300
_NAME_CHARS: Final = 80
_MOST_LAYERS: Final = 10_000
_TELLS: Final = re.compile(
    r"memory|cache|[GM]i?B\b|tok(?:en)?s?(?:/s| per)|\bt/s\b|n_ctx|context|offload|layers?\b|model|parallel|batch|throughput|"
    r"running|waiting|preempt|error|fail|fault|killed|\boom\b|out of memory|traceback",
    re.IGNORECASE,
)
_ESCAPES: Final = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_BOMS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"),
)  # fmt: skip


@dataclass(frozen=True)
class Content:
    """What was fetched of a file: all of it, or its beginning and, of a text, its end."""

    name: str
    size_bytes: int
    beginning: bytes
    end: bytes = b""

    @property
    def whole(self) -> bool:
        return len(self.beginning) >= self.size_bytes


@dataclass(frozen=True)
class Unread:
    """A file that was not read, and why."""

    name: str
    reason: Reason

    def told(self, lang: Lang) -> str:
        return label(lang, f"file_{self.reason}", name=named(self.name))


@dataclass(frozen=True)
class Part:
    """A file that was read, as text of the question."""

    name: str
    text: str
    kind: Kind
    facts: dict[str, Any] = field(default_factory=dict)

    def told(self, lang: Lang) -> str:
        words = wording(lang)
        facts = {key: words.number(value) if isinstance(value, float) else value for key, value in self.facts.items()}
        return label(lang, f"file_{self.kind}", name=named(self.name), **facts)


@dataclass(frozen=True)
class Attached:
    """The files of a question as a surface fetched them."""

    contents: tuple[Content, ...] = ()
    unread: tuple[Unread, ...] = ()


@dataclass(frozen=True)
class Enclosed:
    """A question with what its files say, and what is to be said of them."""

    text: str
    told: tuple[Part | Unread, ...] = ()

    def says(self, lang: Lang) -> str:
        return " ".join(each.told(lang) for each in self.told)

    def stands_in(self, answer: Answer) -> Answer:
        """The answer with a paragraph on what was read and what was not."""
        if not self.told:
            return answer
        said = Paragraph(kind="note", title=label(answer.lang, "files_title"), text=self.says(answer.lang))
        return answer.model_copy(update={"paragraphs": (said, *answer.paragraphs)})

    def alone(self, lang: Lang, answer_id: str) -> Answer:
        """The answer where files came without a word and none of them could be read."""
        return Answer(id=answer_id, lang=lang, intent="clarify", headline=self.says(lang))


def named(name: str) -> str:
    """A file's name on one line; what would be markup in Slack is not, nor is what turns the direction of text."""
    shown = "".join(sign if unicodedata.category(sign)[0] != "C" else " " for sign in name)
    plain = " ".join(re.sub(r"[`*~<>]", " ", shown).split()) or "file"
    return plain if len(plain) <= _NAME_CHARS else f"{plain[: _NAME_CHARS - 1]}…"


def enclosed(question: str, files: Attached) -> Enclosed:
    """The question as if the files had been pasted into it, no longer than one may be."""
    room = min(MOST_CHARS, MAX_CHARACTERS - len(question) - 1)
    parts: list[Part] = []
    unread = list(files.unread)
    has_model = config_in(question) is not None
    for content in files.contents:
        found = _read(content, question, room)
        if isinstance(found, Part) and found.kind in ("config", "gguf") and has_model:
            found = Unread(content.name, "second")
        if isinstance(found, Unread):
            unread.append(found)
            continue
        has_model = has_model or found.kind in ("config", "gguf")
        room -= len(found.text) + 1
        parts.append(found)
    text = "\n".join(part for part in (question, *(part.text for part in parts)) if part)
    return Enclosed(text, (*parts, *unread))


def _read(content: Content, question: str, room: int) -> Part | Unread:
    if is_gguf_file(content.beginning):
        try:
            shape = shape_in(io.BytesIO(content.beginning), content.name, cut=not content.whole)
        except UserError:
            return Unread(content.name, "damaged")
        return _model(content.name, shape, question, room)
    texts = _decoded(content)
    if texts is None:
        return Unread(content.name, "kind")
    if texts[0].lstrip().startswith("{"):
        if content.name.lower().endswith(".json") and content.size_bytes > MAX_CONFIG_BYTES:
            return Unread(content.name, "large")
        try:
            return _model(content.name, shape_in(io.BytesIO(texts[0].encode()), content.name), question, room)
        except UserError:
            pass  # Some other JSON, a result for example, is text.
    return _text(content, texts, room)


def _model(name: str, shape: Shape, question: str, room: int) -> Part | Unread:
    inner = (shape.config.get(name) for name in ("text_config", "llm_config"))
    told = next((part for part in inner if part and isinstance(part, dict)), shape.config)
    layers = next((told[key] for key in ("num_hidden_layers", "n_layer") if type(told.get(key)) is int), 0)
    facts = {
        "kind": named(str(shape.config.get("model_type") or told.get("model_type") or "?")),
        "layers": layers if 0 < layers <= _MOST_LAYERS else "?",
    }
    for config in (shape.config, _without_long_lists(shape.config)):
        text = " ".join(part for part in (format_unsaid(shape, question), json.dumps(config)) if part)
        if len(text) <= room:
            return Part(name, text, "gguf" if shape.is_gguf else "config", facts)
    return Unread(name, "full")


def _without_long_lists(part: Any) -> Any:
    """Lists of one entry a layer are kept; a list of all tensors that stay unquantized takes 100 kB and sizes nothing."""
    if isinstance(part, dict):
        return {
            key: _without_long_lists(value)
            for key, value in part.items()
            if not (isinstance(value, list) and len(value) > _LONG_LIST)
        }
    return part


def _decoded(content: Content) -> tuple[str, str] | None:
    """Beginning and end as text; None where it is none."""
    beginning, end, encoding = content.beginning, content.end, ""
    for bom, name in _BOMS:
        if beginning.startswith(bom):
            encoding, beginning = name.removesuffix("-sig"), beginning[len(bom) :]
            break
    if encoding.startswith("utf-16"):
        end = end[(content.size_bytes - len(end)) % 2 :]
    elif b"\x00" in beginning:
        return None
    else:
        encoding = encoding or ("utf-8" if _is_utf8(beginning) else "cp1252")
    first, last = (part.decode(encoding, "replace") for part in (beginning, end))
    # Where the middle is missing, so is a part of the lines at its edges.
    first = first.rpartition("\n")[0] or first if not content.whole else first
    return _ESCAPES.sub("", first), _ESCAPES.sub("", last.partition("\n")[2])


def _is_utf8(content: bytes) -> bool:
    """Whether it is UTF-8, as far as it goes: it may end within a character."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(content)
    except UnicodeDecodeError:
        return False
    return True


def _text(content: Content, texts: tuple[str, str], room: int) -> Part | Unread:
    lines = [line[:_LINE_CHARS] for text in texts for line in text.splitlines()]
    text = "\n".join(lines).strip("\n")
    if not text.strip():
        return Unread(content.name, "kind")
    if len(text) <= room and content.whole:
        return Part(content.name, text, "text", {"lines": float(len(text.splitlines()))})
    if room < _LEAST_CHARS:
        return Unread(content.name, "full")
    return Part(content.name, _telling(lines, room), "cut", {"size": max(0.1, content.size_bytes / 1e6)})


def _telling(lines: Sequence[str], room: int) -> str:
    """A third for the beginning, a third for the end, the rest for telling lines between them: half of those early, half late."""
    share = room // 3 - 1
    begins = _fitting(lines, share)
    ends = len(lines) - _fitting(lines[begins:][::-1], share)
    between = [line for line in lines[begins:ends] if _TELLS.search(line)]
    early = _fitting(between, share // 2)
    late = max(early, len(between) - _fitting(between[::-1], share // 2))
    return "\n".join([*lines[:begins], *between[:early], *between[late:], *lines[ends:]])


def _fitting(lines: Sequence[str], room: int) -> int:
    """How many lines from the first on fit."""
    for count, line in enumerate(lines):
        room -= len(line) + 1
        if room < 0:
            return count
    return len(lines)
