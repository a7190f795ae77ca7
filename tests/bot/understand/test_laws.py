"""Laws of reading: what may vary in writing without changing what is meant, and how the work grows with the message."""

import itertools
import re
import re._parser as regex_parser  # type: ignore[import-not-found]
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bot.understand.text
from bot.understand.read import read
from bot.understand.request import FIELDS, Request
from bot.understand.specs import specs_of

_FEW = settings(max_examples=60, deadline=None, derandomize=True)
_PACKAGE = Path(bot.understand.text.__file__).parent


def _spec(text: str) -> dict[str, Any]:
    got = read(text)
    return {name: getattr(got, name) for name in FIELDS}


models = st.sampled_from(["Llama 3.3 70B", "qwen3-32b", "gpt-oss-120b", "Mixtral 8x7B", "DeepSeek R1", "gemma 3 27b"])
devices = st.sampled_from(["RTX 4090", "L40S", "H100", "A6000", "7900 XTX", "M3 Ultra", "RTX 6000 Ada"])
formats = st.sampled_from(["q4_k_m", "fp8", "int4", "awq", "bf16", "8bit"])
lengths = st.sampled_from([4, 8, 16, 32, 64, 128])
counts = st.integers(2, 8)
loads = st.integers(2, 400)


@given(models, formats, lengths, loads, counts, devices, st.permutations(range(5)))
@_FEW
def test_the_order_of_roles_does_not_matter(
    model: str, weights: str, length: int, load: int, count: int, device: str, order: list[int]
) -> None:
    pieces = [model, weights, f"{length}k context", f"{load} parallel requests", f"{count}x {device}"]
    assert _spec(", ".join(pieces[n] for n in order)) == _spec(", ".join(pieces))


@given(models, formats, lengths, counts, devices, st.sampled_from([str.upper, str.lower, str.title]))
@_FEW
def test_case_does_not_matter(model: str, weights: str, length: int, count: int, device: str, case: Any) -> None:
    plain = f"does {model} {weights} with {length}k context fit on {count}x {device}?"
    assert _named(read(case(plain))) == _named(read(plain))


def _named(got: Request) -> dict[str, Any]:
    """Fields with names as the catalogue has them: an open name stands in `models` as it was written."""
    specs = [{**spec, "id": None} for spec in specs_of(got)]
    return {"specs": specs, "context": got.context_tokens, "weights": got.weights, "layout": got.layout}


@given(
    lengths,
    st.sampled_from(["{n}k context", "{n}k ctx", "ctx {n}k", "context of {n}k", "{n}k Kontext", "Kontext: {n}k"]),
)
@_FEW
def test_wordings_of_a_context_agree(length: int, wording: str) -> None:
    assert read(f"qwen3-14b on an L4, {wording.format(n=length)}").context_tokens == length * 1024


@given(st.integers(1, 9), st.integers(0, 999), st.sampled_from(["en", "de"]))
@_FEW
def test_separators_of_thousands_do_not_matter(thousands: int, rest: int, lang: str) -> None:
    value = thousands * 1000 + rest
    mark, tail = (",", "requests are answered by one L4?") if lang == "en" else (".", "reicht dafür eine L4?")
    texts = [f"prompts of {form} tokens, qwen3-14b, {tail}" for form in (str(value), f"{thousands}{mark}{rest:03d}")]
    assert [read(text).input_tokens for text in texts] == [value, value]


@given(st.integers(100, 9000))
@_FEW
def test_units_of_time_do_not_matter(milliseconds: int) -> None:
    seconds = milliseconds / 1000
    texts = [f"TTFT under {milliseconds} ms, qwen3-14b, L4?", f"TTFT under {seconds:g} s, qwen3-14b, L4?"]
    assert [read(text).targets.ttft_s for text in texts] == [seconds, seconds]


@given(counts, devices, st.sampled_from(["{n}x{d}", "{n}x {d}", "{n} x {d}", "{n}* {d}", "{n} {d}"]))
@_FEW
def test_wordings_of_a_count_agree(count: int, device: str, wording: str) -> None:
    (got,) = read(f"Llama 3.3 70B on {wording.format(n=count, d=device)}?").hardware
    (plain,) = read(f"Llama 3.3 70B on {count}x {device}?").hardware
    assert got == plain
    assert got.count == count


@given(
    counts,
    devices,
    st.sampled_from(["{d} x{n}", "{d} *{n}", "{d} ({n}x)", "{n} mal {d}", "{n} times {d}", "{n} pcs {d}"]),
)
@_FEW
def test_a_count_may_stand_behind_its_device(count: int, device: str, wording: str) -> None:
    (got,) = read(f"Llama 3.3 70B on {wording.format(n=count, d=device)}?").hardware
    (plain,) = read(f"Llama 3.3 70B on {count}x {device}?").hardware
    assert got == plain


@given(
    st.sampled_from([12, 16, 20, 24, 32, 48, 80]),
    st.sampled_from(["{n} GB", "{n}GB", "{n} gb", "{n}G", "{n} GiB", "{n}-GB", "{n} gigs"]),
    st.sampled_from(["does Qwen3-14B fit on a {m} card?", "passt Qwen3-14B auf eine Karte mit {m}?"]),
)
@_FEW
def test_units_of_memory_do_not_matter(size: int, unit: str, sentence: str) -> None:
    (card,) = read(sentence.format(m=unit.format(n=size))).hardware
    assert (card.accelerator, card.count, card.memory_gb) == ("unknown", 1, size)


@given(
    st.integers(2, 90),
    st.sampled_from(
        [
            "{n}.000 €",
            "{n} 000 €",
            "{n}k €",
            "{n}k€",
            "{n} T€",
            "{n} Tsd. Euro",
            "€{n}k",
            "{n}.000,00 EUR",
            "{n} tausend Euro",
        ]
    ),
)
@_FEW
def test_wordings_of_an_amount_agree(thousands: int, wording: str) -> None:
    got = read(f"Budget {wording.format(n=thousands)}, was brauchen wir für Qwen3-14B?")
    assert got.budget is not None
    assert (got.budget.amount, got.budget.currency, got.budget.period) == (thousands * 1000, "EUR", "once")


@given(models, formats, lengths, loads, counts, devices)
@_FEW
def test_both_languages_lead_to_the_same_spec(
    model: str, weights: str, length: int, load: int, count: int, device: str
) -> None:
    english = f"Does {model} in {weights} fit on {count} {device} with {length}k context and {load} users at once?"
    german = f"Passt {model} in {weights} auf {count} {device} mit {length}k Kontext und {load} Nutzern gleichzeitig?"
    assert _named(read(german)) == _named(read(english))
    assert read(english).concurrency == load


@given(
    st.sampled_from(["20 users", "8k context", "fp8"]),
    st.sampled_from(["{a}, {b}", "{b} und {a}", "{a} / {b}", "{a}\n{b}", "- {a}\n- {b}", "{a}; {b}", "({a}) {b}"]),
    st.sampled_from(["L40S", "2x RTX 4090", "a 4090"]),
)
@_FEW
def test_what_divides_the_parts_of_a_message_does_not_matter(part: str, wording: str, machine: str) -> None:
    got = read(f"Qwen3-14B auf {machine}: " + wording.format(a=part, b="parallel 4"))
    plain = read(f"Qwen3-14B auf {machine}: {part}, parallel 4")
    assert _spec_of(got) == _spec_of(plain)


def _spec_of(got: Request) -> dict[str, Any]:
    return {name: getattr(got, name) for name in FIELDS}


@given(
    models,
    devices,
    st.sampled_from(["-", "–", "—"]),
    st.sampled_from(["'", "’"]),
    st.sampled_from([" ", "\u00a0", "\u202f"]),
)
@_FEW
def test_typography_does_not_matter(model: str, device: str, dash: str, quote: str, space: str) -> None:
    plain = f"{model} in 4-bit on my boss's {device}, 8k context"
    fancy = plain.replace("-", dash).replace("'", quote).replace(" ", space)
    assert _named(read(fancy)) == _named(read(plain))


@given(st.text(max_size=300))
@_FEW
def test_any_text_is_read_and_quoted_verbatim(text: str) -> None:
    got = read(text)
    assert all(words in text for words in got.evidence.values())
    assert read(text) == got


# Pieces of messages that once cost more than their length: each is repeated, and numbered where it holds a `#`.
_PIECES = [
    "llama 3.1 8b 16k ", "2x4090 ", "10 users ", "context ", "q4 ", "- ", "(((", "1.2.3 ", "kein ", "vs ", "*_~`", "a",
    "10 tok/s ", "8x7b 4090 ", "epyc 9654 ", "rtx # ", "#x 4090 or ", "qwen #b ", "# € ", "#k context ", "| a | b |\n", "1^2",
    "1 H100, no wait, ", "first llama, now qwen 8b ", "someone runs a 4090 ", "gpu #: L40S ",
    "gpu | n | vram\n4090 | 2 | 24\n", "# | L40S | 4 |\n", "before that we had a 4090 ", "on -# 4090 ", "q3-8b ",
]  # fmt: skip


def _repeated(piece: str, size: int) -> str:
    numbers = itertools.count(1000)
    out, length = [], 0
    while length < size:
        out.append(piece.replace("#", str(next(numbers))) if "#" in piece else piece)
        length += len(out[-1])
    return "".join(out)[:size]


@pytest.mark.parametrize("piece", _PIECES)
def test_the_work_grows_no_faster_than_the_message(piece: str) -> None:
    small, large = (_work(_repeated(piece, size)) for size in (4_000, 16_000))
    assert large.calls <= 4.6 * small.calls
    assert large.characters <= 4.6 * small.characters


@given(st.lists(st.sampled_from(_PIECES), min_size=1, max_size=4))
@settings(max_examples=12, deadline=None, derandomize=True)
def test_nor_does_it_for_pieces_put_together(pieces: list[str]) -> None:
    small, large = (_work(_repeated("".join(pieces), size)) for size in (3_000, 12_000))
    assert large.calls <= 4.6 * small.calls
    assert large.characters <= 4.6 * small.characters


@dataclass(frozen=True)
class _Work:
    """`calls` of functions, and `characters` offered to patterns that look through a stretch of text."""

    calls: int
    characters: int


class _Counted:
    """A pattern that counts the characters it may look through; one tried at a single place costs nothing here."""

    def __init__(self, pattern: re.Pattern[str], seen: list[int]) -> None:
        self.pattern = pattern
        self.seen = seen

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.pattern, name)
        if name not in ("search", "finditer", "findall", "sub", "split"):
            return found

        def counted(*arguments: Any) -> Any:
            text = arguments[1] if name == "sub" else arguments[0]
            bounds = arguments[1:] if name in ("search", "finditer", "findall") else ()
            start, end = (*bounds, *(0, len(text))[len(bounds) :])
            self.seen.append(min(end, len(text)) - start)
            return found(*arguments)

        return counted


def _work(text: str) -> _Work:
    return _Work(_calls(text), _characters(text))


def _characters(text: str) -> int:
    """The patterns that stand in the modules themselves; those of the rules see a clause, whose length has a bound."""
    seen: list[int] = []
    with pytest.MonkeyPatch.context() as patch:
        for path in sorted(_PACKAGE.glob("*.py")):
            module = import_module(f"bot.understand.{path.stem}")
            for name, value in vars(module).items():
                if isinstance(value, re.Pattern):
                    patch.setattr(module, name, _Counted(value, seen))
        read(text)
    return sum(seen)


def _calls(text: str) -> int:
    """How many functions run while a text is read: work that does not depend on the machine."""
    made = 0

    def count(_frame: Any, event: str, _argument: Any) -> None:
        nonlocal made
        made += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        read(text)
    finally:
        sys.setprofile(None)
    return made


def _patterns() -> Iterator[tuple[str, re.Pattern[str]]]:
    for path in sorted(_PACKAGE.glob("*.py")):
        module = import_module(f"bot.understand.{path.stem}")
        for name, value in vars(module).items():
            for pattern in _inside(value):
                yield f"{path.stem}.{name}", pattern


def _inside(value: Any) -> Iterator[re.Pattern[str]]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from _inside(item)
    elif hasattr(value, "left") and hasattr(value, "right"):
        yield from _inside((value.left, value.right))


def _repeats_inside_repeats(parsed: Any, repeated: bool = False) -> bool:
    """Whether an unbounded repeat stands in another one that may give back what it took."""
    for operation, argument in parsed:
        kind = str(operation)
        if kind in ("MAX_REPEAT", "MIN_REPEAT"):
            unbounded = argument[1] == regex_parser.MAXREPEAT
            inner = [(argument[2], repeated or unbounded)]
            if repeated and unbounded:
                return True
        else:
            branches = argument[1] if kind == "BRANCH" else [argument[3]] if kind == "SUBPATTERN" else []
            inner = [(branch, repeated) for branch in branches]
        if any(_repeats_inside_repeats(part, within) for part, within in inner):
            return True
    return False


def test_no_pattern_can_backtrack_without_bound() -> None:
    nested = {name for name, pattern in _patterns() if _repeats_inside_repeats(regex_parser.parse(pattern.pattern))}
    assert nested == set()
