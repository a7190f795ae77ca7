"""Vectors of the packaged notes under the packaged model, computed once for a release: a first index needs no minute of a model.

Each is found by the hash of the text as the model reads it. A note or a line of the glossary that has changed since is not found
and is computed, so a vector is never that of another text. `python -m knowledge.release` writes the file anew (it needs the
extra `embeddings`).
"""

import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import numpy as np

FILE = Path(__file__).with_name("zz_generated_note_vectors.npz")
_HASH_BYTES = 16


def shipped(prepared: str) -> list[float] | None:
    """The unit vector of a text as the model reads it; None where it is none of the notes' texts."""
    return _table().get(_key(prepared))


def write(prepared: Sequence[str], vectors: Sequence[Sequence[float]]) -> None:
    """Keeps these vectors in half precision, which moves a cosine by less than 0.001."""
    keys = np.frombuffer(b"".join(_key(text) for text in prepared), dtype=np.uint8).reshape(-1, _HASH_BYTES)
    np.savez(FILE, keys=keys, vectors=np.asarray(vectors, dtype=np.float16))


def _key(prepared: str) -> bytes:
    return hashlib.sha256(prepared.encode()).digest()[:_HASH_BYTES]


@cache
def _table() -> Mapping[bytes, list[float]]:
    with np.load(FILE, allow_pickle=False) as kept:
        keys, vectors = kept["keys"], kept["vectors"].astype(np.float32)
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return {key.tobytes(): vector.tolist() for key, vector in zip(keys, units, strict=True)}
