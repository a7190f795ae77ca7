"""The chat model that SIZEWISE_LLM names, loaded; or a sentence for the operator on why it cannot be."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any, Final

from sizing.errors import SizewiseError

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

VARIABLE: Final = "SIZEWISE_LLM"
_KEY = re.compile(r"api[_ ]?key|credential|token", re.IGNORECASE)
_FORM = "write PROVIDER:MODEL, such as openai:gpt-4o-mini or ollama:qwen3:4b"


class ModelUnavailable(SizewiseError):
    """SIZEWISE_LLM names a model that cannot be loaded."""


def named() -> str:
    """What SIZEWISE_LLM says, "" where no model is wanted."""
    return os.environ.get(VARIABLE, "").strip()


def check() -> None:
    """Load the model that is named and drop it: who starts a service should learn at once that it cannot be had.

    Raises:
        ModelUnavailable: as `chat_model`.
    """
    if name := named():
        chat_model(name)


def chat_model(name: str, **options: Any) -> BaseChatModel:
    """A chat model by LangChain's name for it, at temperature 0.

    Raises:
        ModelUnavailable: the provider's package or key is missing, or the name is not understood.
    """
    from langchain.chat_models import init_chat_model

    try:
        model: BaseChatModel = init_chat_model(name, temperature=0, **options)
    # A provider's package may raise anything: it is the set-up that is wrong, not us.
    except Exception as fault:
        raise ModelUnavailable(f"{VARIABLE}={name!r}: {_reason(fault)}") from fault
    return model


def _reason(fault: Exception) -> str:
    """The first line of what was raised, behind what to do about it where that is known."""
    said = (str(fault).strip().splitlines() or [type(fault).__name__])[0]
    if isinstance(fault, ImportError):
        return said
    if _KEY.search(said):
        return f"the provider's key is missing or wrong ({said})"
    return f"{_FORM} ({said})" if isinstance(fault, ValueError) else said
