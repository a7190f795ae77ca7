"""Which model is meant: a name, a bare size, or a `config.json`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import NoReturn

from sizing.architecture.from_config import architecture_from_config
from sizing.architecture.from_size import architecture_from_size
from sizing.architecture.lookup import architecture
from sizing.architecture.types import Architecture
from sizing.catalogue.names import find
from sizing.errors import UserError
from sizing.gaps import Gaps
from sizing.spec import ModelRef

# Words that make a name mean several models ("27B class"), none ("32B AWQ (unnamed)") or a part of one.
_VAGUE = re.compile(r"\bclass\b|\bunnamed\b|\(talker\)|\d\.x\b|(?<=\d)b?/\d", re.IGNORECASE)
_SIZE_TOLERANCE = 1.5


def resolve_model(ref: ModelRef | None, gaps: Gaps | None = None) -> tuple[Architecture, str | None]:
    """(architecture, number format that the written name implies).

    Raises:
        UserError: no model is named, or the name is unknown.
    """
    gaps = gaps or Gaps()
    if ref is None or (ref.id is None and ref.config is None and ref.params_b is None):
        raise UserError("model.id", None, 'name a model ("Llama 3.3 70B"), a size ("70B") or paste its config.json')
    if ref.config is not None:
        return _configured(_SameRef(ref)), None
    if ref.id is None:
        gaps.fill("model", f"{ref.params_b:g}B", "typical_shape", params_b=ref.params_b)
        return architecture_from_size(ref.params_b or 0, ref.active_params_b), None
    match = find(ref.id, "model")
    vague = _VAGUE.search(ref.id)
    if vague and match.via != "exact":
        _refuse_vague(ref.id, vague.group().strip(" ()"), match.candidates[:3] or match.suggestions)
    if match.id is not None:
        if len(match.candidates) > 1:
            gaps.fill("model", match.id, "customary_model", written=ref.id, candidates=list(match.candidates))
        return _of_that_size(architecture(match.id), ref), match.format
    size = ref.params_b or match.params_b
    if size and (ref.params_b or match.via == "size only"):
        gaps.fill("model", f"{size:g}B", "typical_shape", params_b=size, written=ref.id)
        return architecture_from_size(size, ref.active_params_b), match.format
    hint = (
        f"; did you mean {' or '.join(match.suggestions)}?"
        if match.suggestions
        else "; paste its config.json or give its size"
    )
    raise UserError("model.id", ref.id, f"unknown model {ref.id!r}{hint}", match.suggestions)


def _refuse_vague(name: str, word: str, suggestions: tuple[str, ...]) -> NoReturn:
    hint = f"name one model, such as {' or '.join(suggestions)}" if suggestions else "name one model"
    message = f"{name!r} is no single model ({word!r}); {hint}, give a size alone, or paste a config.json"
    raise UserError("model.id", name, message, suggestions)


def _of_that_size(model: Architecture, ref: ModelRef) -> Architecture:
    """The model named, unless the size beside the name is another's; people round, and count towers and drafts or leave them out."""
    if ref.params_b is None or not model.params_total:
        return model
    ratio = ref.params_b * 1e9 / model.params_total
    if 1 / _SIZE_TOLERANCE <= ratio <= _SIZE_TOLERANCE:
        return model
    has = f"{model.params_total / 1e9:.3g}"
    raise UserError(
        "model.params_b",
        ref.params_b,
        f"{model.id} has {has} billion parameters, not {ref.params_b:g}; leave model.params_b out, or name the model of that size",
        (has,),
    )


@dataclass(frozen=True, eq=False)
class _SameRef:
    """A model reference compared by identity: copies of a spec share it, and its config is parsed once for all of them."""

    ref: ModelRef

    def __hash__(self) -> int:
        return id(self.ref)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _SameRef) and other.ref is self.ref


@lru_cache(maxsize=16)
def _configured(key: _SameRef) -> Architecture:
    return architecture_from_config(key.ref.config or {}, key.ref.id or "config.json")
