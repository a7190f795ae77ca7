"""The architecture of a catalogue model, built once per process."""

from __future__ import annotations

from dataclasses import fields
from functools import lru_cache

from sizing.architecture.build import build
from sizing.architecture.types import Architecture
from sizing.catalogue.entries import Model
from sizing.catalogue.load import catalogue

_FIELDS = tuple(field.name for field in fields(Model))


@lru_cache(maxsize=1024)
def architecture(model_id: str) -> Architecture:
    """The architecture of a catalogue id.

    Raises:
        KeyError: no model has that id.
    """
    model = catalogue().models[model_id]
    return build({name: getattr(model, name) for name in _FIELDS}, "catalogue")
