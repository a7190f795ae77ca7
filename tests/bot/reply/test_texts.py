"""The catalogues of both languages: the same keys and fields, every code of the engine worded."""

import ast
import string
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import sizing
from bot.reply.wording import catalogue
from sizing.reasons import ReasonCode

DE, EN = catalogue("de"), catalogue("en")
SOURCES = Path(sizing.__file__).parent


def _texts(found: Any) -> dict[str, str]:
    return {f"{section}.{key}": text for section, texts in found.items() for key, text in texts.items()}


def _fields(template: str) -> set[str]:
    """Fields that are shown; which of two word forms is used may hang on others in one language only."""
    return {
        name
        for _, name, form, _ in string.Formatter().parse(template)
        if name and not (form or "").startswith("plural")
    }


def _strings_passed(function: str, position: int) -> Iterator[str]:
    """Literal arguments of calls to a function or method anywhere in `sizing`."""
    for path in SOURCES.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and function in (
                getattr(node.func, "attr", ""),
                getattr(node.func, "id", ""),
            ):
                arguments = [*node.args]
                if len(arguments) > position and isinstance(arguments[position], ast.Constant):
                    yield str(arguments[position].value)


def _codes_of(*functions: str) -> set[str]:
    """Literal `code=` arguments of calls to these anywhere in `sizing`."""
    found = set()
    for path in SOURCES.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in functions:
                found |= {
                    str(k.value.value) for k in node.keywords if k.arg == "code" and isinstance(k.value, ast.Constant)
                }
    return found


def test_both_languages_have_the_same_texts() -> None:
    assert _texts(DE).keys() == _texts(EN).keys()


@pytest.mark.parametrize("key", sorted(_texts(EN)))
def test_both_languages_use_the_same_fields(key: str) -> None:
    assert _fields(_texts(DE)[key]) == _fields(_texts(EN)[key])


@pytest.mark.parametrize("code", list(ReasonCode))
def test_every_reason_is_worded(code: ReasonCode) -> None:
    assert code.value in EN["reason"]


@pytest.mark.parametrize("code", sorted({*_strings_passed("fill", 2), *_codes_of("Assumption")}))
def test_every_assumption_is_worded(code: str) -> None:
    assert code in EN["assumption"]


@pytest.mark.parametrize("code", sorted(_codes_of("Warning_")))
def test_every_warning_is_worded(code: str) -> None:
    assert code in EN["warning"]


def _lacks() -> set[str]:
    """What may keep a machine from being an option: the codes of `sizing.search.lacks` and of a trial's own."""
    found = set()
    for name in ("lacks.py", "trial.py"):
        for node in ast.walk(ast.parse((SOURCES / "search" / name).read_text("utf-8"))):
            if (
                isinstance(node, ast.Call)
                and getattr(node.func, "id", "") == "lack"
                and isinstance(node.args[0], ast.Constant)
            ):
                found.add(str(node.args[0].value))
    return found - {"target_missed"}


@pytest.mark.parametrize("code", sorted(_lacks()))
def test_every_lack_is_worded(code: str) -> None:
    assert code in EN["lack"]


@pytest.mark.parametrize("lang", [DE, EN], ids=["de", "en"])
def test_texts_end_well(lang: Any) -> None:
    for section in ("headline", "lead", "flip", "reason", "refusal", "error", "clarify"):
        for key, text in lang[section].items():
            if not key.startswith(("offer_", "load")):
                assert text[-1] in ".?!}”“", f"{section}.{key}: {text}"
                assert "  " not in text


@pytest.mark.parametrize("word", ["the", "with", "and", "is"])
def test_german_texts_hold_no_english(word: str) -> None:
    assert not [key for key, text in _texts(DE).items() if word in text.lower().split()]


@pytest.mark.parametrize("word", ["der", "und", "mit", "nicht"])
def test_english_texts_hold_no_german(word: str) -> None:
    assert not [key for key, text in _texts(EN).items() if word in text.lower().split()]
