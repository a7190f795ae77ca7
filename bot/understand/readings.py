"""Readings: what a stretch of the message says about one field, and how two that claim the same words are settled."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reading:
    """One proposal. `score` weighs it against others for the same words or field; `rule` names the grammar rule."""

    field: str
    value: object
    start: int
    end: int
    score: float
    rule: str

    @property
    def number(self) -> float:
        """The value where it is a figure, else 0."""
        return float(self.value) if isinstance(self.value, (int, float)) else 0.0

    def overlaps(self, other: "Reading") -> bool:
        return self.start < other.end and other.start < self.end


def settle(readings: Iterable[Reading]) -> tuple[list[Reading], list[Reading]]:
    """Keep the best of overlapping readings, then the longer, then the earlier; return what stands and what gave way."""
    kept: list[Reading] = []
    lost: list[Reading] = []
    by_place = sorted(readings, key=lambda r: (r.start, r.end))
    for group in _clusters(by_place):
        stands: list[Reading] = []
        for reading in sorted(group, key=lambda r: (-r.score, r.start - r.end, r.start)):
            (lost if any(reading.overlaps(other) for other in stands) else stands).append(reading)
        kept += stands
    return sorted(kept, key=lambda r: (r.start, r.end)), lost


def _clusters(by_place: list[Reading]) -> Iterable[list[Reading]]:
    """Runs of readings that touch one another; only inside a run can words be claimed twice."""
    cluster: list[Reading] = []
    reach = -1
    for reading in by_place:
        if cluster and reading.start >= reach:
            yield cluster
            cluster = []
        cluster.append(reading)
        reach = max(reach, reading.end) if len(cluster) > 1 else reading.end
    if cluster:
        yield cluster
