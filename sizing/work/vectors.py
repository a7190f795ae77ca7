"""RAM and disk of a vector index by its kind.

HNSW: vectors x length x bytes x 1.5 (Qdrant, capacity planning) covers graph, bookkeeping and rebuilding. ScyllaDB's sizing page counts
vectors x (length x bytes + 16 links x 16 bytes) x 1.2, which is used where vectors are quantized and the graph is no longer small
beside them (https://cloud.docs.scylladb.com/stable/vector-search/vector-search-sizing.html).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from sizing.units import GIB

IndexKind = Literal["flat", "hnsw", "hnsw-int8", "hnsw-binary", "ivf-pq"]

_HNSW = 1.5
_HEADROOM = 1.2
_LINK_BYTES = 16 * 16.0
_FLAT = 1.05
_PQ_BYTES = 64.0 + 8.0  # 64 sub-quantizers of one byte and an id: usual setting of IVF-PQ, planning figure
_TEXT_BYTES_PER_CHUNK = 2_000.0  # payload on disk: text of a piece with its metadata, planning figure

KINDS: tuple[IndexKind, ...] = ("flat", "hnsw", "hnsw-int8", "hnsw-binary", "ivf-pq")


@dataclass(frozen=True, slots=True)
class Index:
    """One index over all its replicas. `disk_gib` holds originals and payload; `others_gib` the RAM of the other kinds."""

    kind: IndexKind
    vectors: int
    dimensions: int
    bytes_per_value: float
    replicas: int
    ram_gib: float
    disk_gib: float
    others_gib: dict[str, float]

    def data(self) -> dict[str, Any]:
        return asdict(self)


def index_of(
    vectors: int, dimensions: int, bytes_per_value: float = 4.0, kind: IndexKind = "hnsw", replicas: int = 1
) -> Index:
    """The index of that many vectors; each replica is a whole copy."""
    originals = vectors * dimensions * bytes_per_value
    return Index(
        kind, vectors, dimensions, bytes_per_value, replicas,
        replicas * ram_bytes(kind, vectors, dimensions, bytes_per_value) / GIB,
        replicas * (originals * _HNSW + vectors * _TEXT_BYTES_PER_CHUNK) / GIB,
        {other: replicas * ram_bytes(other, vectors, dimensions, bytes_per_value) / GIB for other in KINDS if other != kind},
    )  # fmt: skip


def ram_bytes(kind: IndexKind, vectors: int, dimensions: int, bytes_per_value: float) -> float:
    """Bytes of RAM of one copy: 20 million vectors of 768 values in 16 bit need 43 GiB as HNSW."""
    if kind == "flat":
        return vectors * dimensions * bytes_per_value * _FLAT
    if kind == "hnsw":
        return vectors * dimensions * bytes_per_value * _HNSW
    if kind == "ivf-pq":
        return vectors * _PQ_BYTES * _HEADROOM
    per_value = 1.0 if kind == "hnsw-int8" else 1 / 8
    return vectors * (dimensions * per_value + _LINK_BYTES) * _HEADROOM


def after_years(amount: float, growth_per_year: float, years: float) -> float:
    """What an amount grows to at a yearly share."""
    return amount * float((1 + growth_per_year) ** years)
