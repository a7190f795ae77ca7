"""A message as it is read: folded to plain lower case, with the way back to what was written.

Folding drops Slack's mark-up (escaped characters, mentions, links, emphasis), turns typographic dashes, quotes and
spaces into plain ones and spells umlauts out, so that one pattern meets "für", "fuer" and "FÜR". Every folded
character knows which stretch of the original it came from; evidence is cut from the original, never from the fold.
"""

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

_SPELT = {
    "ä": "ae",
    "ö": "oe",
    "ü": "ue",
    "ß": "ss",
    "×": "x",
    "…": "...",
    "≤": "<=",
    "≥": ">=",
    "½": " 1/2",
    "→": " -> ",
}
_RAISED = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789", strict=True))
_DASHES = dict.fromkeys("‐‑‒–—―−", "-")
_QUOTES = {**dict.fromkeys("‘’‚‛´", "'"), **dict.fromkeys("“”„‟«»", '"')}
_PLAIN = {**_SPELT, **_DASHES, **_QUOTES}
_ENTITIES = {"&amp;": "&", "&lt;": "<", "&gt;": ">", "&nbsp;": " ", "&quot;": '"', "&#39;": "'"}
_MARKUP = re.compile(r"<[^<>\s][^<>\n]{0,600}>|&[a-z#0-9]{2,5};|https?://[^\s<>|)\]]{1,600}", re.IGNORECASE)
# A row of two cells is a label and its value; the line under a table's head is no text.
_ROW = re.compile(r"^[ \t]*\|(?P<label>[^|\n]{1,80})(?P<bar>\|)[^|\n]{1,200}\|[ \t]*$", re.MULTILINE)
_REPOSITORY = re.compile(r"https?://(?:www\.)?(?:huggingface\.co|hf\.co)/(?:models/)?", re.IGNORECASE)
_EMPHASIS = frozenset("*_~`")
_SPECIAL = re.compile(r"[^\x00-\x7f]|[*_~`|]")


@dataclass(frozen=True, slots=True)
class Text:
    """A folded message. `starts[i]` and `ends[i]` bound, in `raw`, what became the folded character i."""

    raw: str
    folded: str
    starts: tuple[int, ...]
    ends: tuple[int, ...]

    def quote(self, start: int, end: int) -> str:
        """The words of the message behind a folded span, verbatim."""
        while start < end and self.folded[start].isspace():
            start += 1
        while end > start and self.folded[end - 1].isspace():
            end -= 1
        return self.raw[self.starts[start] : self.ends[end - 1]] if end > start else ""


class _Folder:
    """Collects folded characters together with their places in the original."""

    def __init__(self, raw: str, colons: frozenset[int] = frozenset()) -> None:
        self.raw = raw
        self.colons = colons
        self.out: list[str] = []
        self.starts: list[int] = []
        self.ends: list[int] = []

    def put(self, folded: str, start: int, end: int) -> None:
        for char in folded:
            self.out.append(char)
            self.starts.append(start)
            self.ends.append(end)

    def plain(self, start: int, end: int) -> None:
        for special in _SPECIAL.finditer(self.raw, start, end):
            self._copy(start, special.start())
            self.put(self._fold(special.start()), special.start(), special.end())
            start = special.end()
        self._copy(start, end)

    def _copy(self, start: int, end: int) -> None:
        self.out.append(self.raw[start:end].lower())
        self.starts.extend(range(start, end))
        self.ends.extend(range(start + 1, end + 1))

    def _fold(self, place: int) -> str:
        char = self.raw[place]
        if char in _EMPHASIS:
            return char if self._means_something(place) else ""
        lower = char.lower()
        if char == "|":
            return ":" if place in self.colons else char
        if lower in _PLAIN:
            return _PLAIN[lower]
        if char.isspace():
            return " "
        if lower in _RAISED:
            return _RAISED[lower] if self.raw[place - 1 : place].lower() in _RAISED else f"^{_RAISED[lower]}"
        stripped = unicodedata.normalize("NFKD", lower).encode("ascii", "ignore").decode()
        return stripped or char

    def _means_something(self, place: int) -> bool:
        before = self.raw[place - 1] if place else " "
        after = self.raw[place + 1] if place + 1 < len(self.raw) else " "
        if self.raw[place] == "~":
            return after.isdigit()
        if self.raw[place] == "`":
            return False
        if self.raw[place] == "*":
            if self._is_power(place - (before == "*")):
                return True
            return (before.isalnum() or before == " ") and (after.isdigit() or (after.isalpha() and before.isdigit()))
        return before.isalnum() and after.isalnum()

    def _is_power(self, place: int) -> bool:
        """ "10**6": two stars between digits are no emphasis."""
        return (
            place > 0
            and self.raw[place - 1].isdigit()
            and self.raw[place : place + 2] == "**"
            and self.raw[place + 2 : place + 3].isdigit()
        )


def fold(raw: str) -> Text:
    """Fold a message; the work is one pass over its characters."""
    folder = _Folder(raw, frozenset(row.start("bar") for row in _ROW.finditer(raw)) if "|" in raw else frozenset())
    done = 0
    for found in _MARKUP.finditer(raw):
        folder.plain(done, found.start())
        _markup(folder, found.group(), found.start(), found.end())
        done = found.end()
    folder.plain(done, len(raw))
    return Text(raw, "".join(folder.out), tuple(folder.starts), tuple(folder.ends))


def _markup(folder: _Folder, mark: str, start: int, end: int) -> None:
    entity = _ENTITIES.get(mark.lower())
    if entity:
        folder.put(entity, start, end)
    elif mark.startswith("http"):
        _link(folder, start, end)
    elif mark.startswith(("<@", "<!", "<#")):
        folder.put(" ", start, end)
    elif mark.startswith("<http"):
        folder.put(" ", start, start + 1)
        bar = mark.find("|")
        address = start + (bar if bar > 0 else len(mark) - 1)
        if bar > 0 and not _REPOSITORY.match(mark, 1):
            folder.plain(address + 1, end - 1)
        else:
            _link(folder, start + 1, address)
        folder.put(" ", end - 1, end)
    else:
        folder.plain(start, end)


def _link(folder: _Folder, start: int, end: int) -> None:
    """Of a model's page the repository name is read; any other address says nothing about the workload."""
    host = _REPOSITORY.match(folder.raw, start, end)
    if host is None:
        folder.put(" ", start, end)
        return
    folder.put(" ", start, host.end())
    stop, slashes = host.end(), 0
    while stop < end and folder.raw[stop] not in "?#":
        slashes += folder.raw[stop] == "/"
        if slashes == 2:
            break
        stop += 1
    folder.plain(host.end(), stop)
    folder.put(" ", end - 1, end)


class Spans:
    """Stretches of a text, joined where they meet; each question costs a search, however many there are."""

    def __init__(self, spans: Iterable[tuple[int, int]]) -> None:
        self.joined: list[tuple[int, int]] = []
        for start, end in sorted(spans):
            if self.joined and start <= self.joined[-1][1]:
                self.joined[-1] = (self.joined[-1][0], max(end, self.joined[-1][1]))
            else:
                self.joined.append((start, end))
        self._starts = [start for start, _ in self.joined]

    def hold(self, place: int) -> bool:
        """Whether a place stands in one of them."""
        before = bisect_right(self._starts, place) - 1
        return before >= 0 and place < self.joined[before][1]

    def meet(self, start: int, end: int) -> bool:
        """Whether a stretch shares a character with one of them."""
        return self.hold(start) or bisect_left(self._starts, end) > bisect_right(self._starts, start)


def word_set(words: str) -> frozenset[str]:
    """The words of a list written as one string."""
    return frozenset(words.split())


def clause(folded: str, start: int, end: int, reach: int = 60) -> tuple[str, str]:
    """What stands before and after a span within its sentence, at most `reach` characters either side."""
    left = folded[max(0, start - reach) : start]
    right = folded[end : end + reach]
    cuts = [m.end() for m in SENTENCE_END.finditer(left)]
    stop = SENTENCE_END.search(right)
    return left[cuts[-1] :] if cuts else left, right[: stop.start()] if stop else right


SENTENCE_END = re.compile(
    r"[!?;\n]|\.(?=\s|"
    r"$)(?<!\b\w\.)(?<!\bca\.)(?<!max\.)(?<!mind\.)(?<!min\.)(?<!bzw\.)(?<!inkl\.)(?<!approx\.)(?<!vs\.)(?<!avg\.)(?<!mio\.)(?<!mrd\.)(?<!tsd\.)(?<!nr\.)(?<!z\.b\.)(?<!e\.g\.)(?<!i\.e\.)(?<!evtl\.)(?<!ggf\.)(?<!incl\.)(?<!stk\.)(?<!std\.)(?<!sek\.)(?<!etc\.)|"
    r"\.{3}"
)
