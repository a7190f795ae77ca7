"""Fitting again without a source: every constant that measurements gave is taken from the other sources, or, where no other source
supports it, from what one would take had nobody measured it. The errors of the source left out then show what it alone had taught."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache

from sizing.devices import has_fabric, is_unified
from sizing.measured import Case, cases
from sizing.memory.serving import constants
from sizing.memory.serving.activations import Activations, activations_of, sampler_bytes
from sizing.memory.serving.overhead import communicators, is_rocm
from sizing.memory.serving.work import Rank, Serving, work_out
from sizing.resolve import resolve
from sizing.spec import parse_spec
from sizing.units import GIB

_REPORTS = ("/issues/", "/pull/", "/discussions/")


def source_of(case: Case) -> str:
    """Who measured: a report in an issue or a pull request by itself, files of a repository together."""
    if any(part in case.source for part in _REPORTS):
        return case.source
    return "/".join(case.source.split("/")[:5])


@dataclass(frozen=True, slots=True)
class Worked:
    """A carried case with the sums of the engine for it. `rest_gib` is what its pool left for everything but weights and cache."""

    case: Case
    serving: Serving
    parts: Activations
    rest_gib: float | None

    @property
    def rank(self) -> Rank:
        """The fullest device, as logs print it."""
        return self.serving.ranks[0]

    @property
    def alone(self) -> bool:
        """One card without a communicator."""
        return self.serving.layout.ranks_per_replica == 1 and self.serving.layout.expert_degree == 1


@dataclass(frozen=True, slots=True)
class Fitted:
    """A constant that measurements gave: what a case implies for it (None: nothing), and what stands for it where no case does."""

    name: str
    unmeasured: float
    implied: Callable[[Worked], float | None]


@cache
def worked() -> tuple[Worked, ...]:
    """Every carried vLLM case."""
    return tuple(_worked(case) for case in cases() if case.engine == "vllm")


def _worked(case: Case) -> Worked:
    serving = work_out(resolve(parse_spec(case.spec)))
    parts = activations_of(serving.resolved, serving.layout, serving.settings)
    rank, measured = serving.ranks[0], case.measured
    pool, usable = measured.get("kv_cache_gib_per_gpu"), rank.budget.usable_bytes
    weights = measured.get("weights_gib_per_gpu")
    rest = usable / GIB - float(weights) - float(pool) if usable and weights and pool else None
    return Worked(case, serving, parts, rest)


_NEVER, _ALWAYS = (0, 0, 0), (99, 99, 99)


def _sampler(bytes_each: float) -> Callable[[Worked], float | None]:
    def implied(found: Worked) -> float | None:
        peak = found.case.measured.get("activation_peak_gib")
        serving, parts = found.serving, found.parts
        entries = serving.settings.sequences * serving.resolved.architecture.vocab_size
        dominates = parts.sampler_bytes >= max(parts.layer_bytes, parts.vision_bytes)
        dominates = dominates and parts.workspace_bytes < parts.sampler_bytes
        if peak is None or not dominates or sampler_bytes(serving.resolved, serving.settings) != bytes_each:
            return None
        beside = parts.sampler_bytes - entries * bytes_each + parts.workspace_bytes + constants.FLOOR_GIB * GIB
        return (float(peak) * GIB - beside) / entries

    return implied


def _non_torch(where: Callable[[Worked], bool]) -> Callable[[Worked], float | None]:
    def implied(found: Worked) -> float | None:
        printed = found.case.measured.get("non_torch_gib")
        if not where(found):
            return None
        if printed is not None:
            return float(printed)
        reserved = found.rank.graphs.reserved_bytes / GIB
        return (
            None if found.rest_gib is None else max(0.0, found.rest_gib - reserved - found.rank.activations_bytes / GIB)
        )

    return implied


def _era(found: Worked, first: tuple[int, int, int], end: tuple[int, int, int]) -> bool:
    return first <= found.serving.settings.release < end and not is_unified(found.rank.device.accelerator)


def _plain(
    found: Worked, first: tuple[int, int, int], end: tuple[int, int, int], alone: bool, rocm: bool = False
) -> bool:
    return _era(found, first, end) and found.alone == alone and is_rocm(found.serving.resolved) == rocm


def _graphs(constant: float, *, taken: bool) -> Callable[[Worked], float | None]:
    """From the printed size of the graphs, or from what a pool of 0.21 and later lacks."""

    def implied(found: Worked) -> float | None:
        graphs, printed = found.rank.graphs, found.case.measured.get("cuda_graph_gib")
        size = graphs.taken_bytes if taken else graphs.reserved_bytes
        if not size or round(_per_size(found, size, taken), 6) != round(constant, 6):
            return None
        if taken:
            return (
                None
                if printed is None or printed < constants.GRAPH_FLOOR_GIB
                else _per_size(found, float(printed) * GIB, taken)
            )
        used = (found.rank.activations_bytes + found.rank.non_torch_bytes) / GIB
        rest = found.rest_gib
        return None if rest is None else max(0.0, _per_size(found, (rest - used) * GIB, taken))

    return implied


def _per_size(found: Worked, size_bytes: float, taken: bool) -> float:
    serving = found.serving
    layers = max(1, len(serving.resolved.architecture.layers)) / serving.layout.pipeline
    degree = 1 if is_rocm(serving.resolved) else serving.layout.tensor**0.25 if taken else serving.layout.tensor
    return (size_bytes / GIB - constants.GRAPH_FLOOR_GIB) / (layers * found.rank.graphs.sizes) * degree


def _radeon(found: Worked) -> float | None:
    extra = found.rank.non_torch_bytes / GIB - constants.RADEON_EARLY_GIB
    early = _era(found, _NEVER, constants.RADEON_EARLY_UNTIL) and is_rocm(found.serving.resolved)
    if extra < 0 or not early or found.rest_gib is None:
        return None
    return found.rest_gib - found.rank.activations_bytes / GIB - extra


def _between_cards(fabric: bool) -> Callable[[Worked], float | None]:
    """Over a fabric every communicator has buffers of its own."""
    whole = _non_torch(
        lambda found: (
            _plain(found, (0, 14, 0), _ALWAYS, alone=False) and has_fabric(found.rank.device.accelerator) == fabric
        )
    )

    def implied(found: Worked) -> float | None:
        value = whole(found)
        return value if value is None or not fabric else value / communicators(found.serving.layout)

    return implied


FITTED: tuple[Fitted, ...] = (
    Fitted("SAMPLER_BYTES", 14.0, _sampler(constants.SAMPLER_BYTES)),  # counted: logits in 16 bit and fp32, probabilities, noise
    Fitted("SAMPLER_BYTES_SORTING", 39.0, _sampler(constants.SAMPLER_BYTES_SORTING)),  # and sorted copies, indices, sums, masks
    Fitted("NON_TORCH_GIB", 0.25, _non_torch(lambda f: _plain(f, _NEVER, (0, 14, 0), alone=True))),
    Fitted("NON_TORCH_FROM_014_GIB", 0.13, _non_torch(lambda f: _plain(f, (0, 14, 0), (0, 27, 0), alone=True))),
    Fitted("NON_TORCH_FROM_027_GIB", 0.25, _non_torch(lambda f: _plain(f, (0, 27, 0), _ALWAYS, alone=True))),
    Fitted("NON_TORCH_ROCM_GIB", 0.13, _non_torch(lambda f: _plain(f, (0, 12, 0), (0, 27, 0), alone=True, rocm=True))),
    Fitted("NON_TORCH_PARALLEL_GIB", 0.13, _non_torch(lambda f: _plain(f, _NEVER, (0, 14, 0), alone=False) and not f.serving.settings.v1)),
    Fitted("NON_TORCH_PARALLEL_V1_GIB", 0.55, _non_torch(lambda f: _plain(f, _NEVER, (0, 14, 0), alone=False) and f.serving.settings.v1)),
    Fitted("NON_TORCH_NVLINK_FROM_014_GIB", 0.55, _between_cards(fabric=True)),
    Fitted("NON_TORCH_PCIE_FROM_014_GIB", 0.55, _between_cards(fabric=False)),
    Fitted("NON_TORCH_UNIFIED_GIB", 0.25, _non_torch(lambda f: is_unified(f.rank.device.accelerator) and f.alone)),
    Fitted("NON_TORCH_UNIFIED_PARALLEL_GIB", 1.0, _non_torch(lambda f: is_unified(f.rank.device.accelerator) and not f.alone)),
    Fitted("RADEON_EARLY_GIB", 0.0, _radeon),
    *(
        Fitted(name, getattr(constants, other), _graphs(getattr(constants, name), taken="ESTIMATE" not in name))
        for name, other in (
            ("GRAPH_GIB_PER_LAYER_AND_SIZE", "GRAPH_GIB_PER_LAYER_AND_SIZE_EXPERTS"),
            ("GRAPH_GIB_PER_LAYER_AND_SIZE_EXPERTS", "GRAPH_GIB_PER_LAYER_AND_SIZE"),
            ("GRAPH_GIB_PER_LAYER_AND_SIZE_GPT_OSS", "GRAPH_GIB_PER_LAYER_AND_SIZE_EXPERTS"),
            ("GRAPH_GIB_PER_LAYER_AND_SIZE_ROCM", "GRAPH_GIB_PER_LAYER_AND_SIZE"),
            ("GRAPH_ESTIMATE_GIB_PER_LAYER_AND_SIZE", "GRAPH_GIB_PER_LAYER_AND_SIZE"),
            ("GRAPH_ESTIMATE_GIB_PER_LAYER_AND_SIZE_EXPERTS", "GRAPH_GIB_PER_LAYER_AND_SIZE_EXPERTS"),
            ("GRAPH_ESTIMATE_GIB_PER_LAYER_AND_SIZE_ROCM", "GRAPH_GIB_PER_LAYER_AND_SIZE_ROCM"),
        )
    ),
)  # fmt: skip


@cache
def _implied(name: str) -> tuple[tuple[str, float], ...]:
    """(source, value) of every case that says something of the constant."""
    fitted = next(entry for entry in FITTED if entry.name == name)
    values = ((source_of(found.case), fitted.implied(found)) for found in worked() if found.case.known)
    return tuple((source, value) for source, value in values if value is not None)


def constant_without(fitted: Fitted, source: str | None) -> tuple[float, int]:
    """(the constant, number of sources behind it) as the other sources give it; each source counts once, by its median."""
    by_source: dict[str, list[float]] = {}
    for where, value in _implied(fitted.name):
        if where != source:
            by_source.setdefault(where, []).append(value)
    if not by_source:
        return fitted.unmeasured, 0
    return statistics.median(statistics.median(values) for values in by_source.values()), len(by_source)


def constants_without(source: str | None) -> Mapping[str, object]:
    """All constants as they would stand had the source not been read; towers that only it measured count as unknown towers."""
    found: dict[str, object] = {entry.name: constant_without(entry, source)[0] for entry in FITTED}
    found["VISION_PROFILE_BY_FAMILY_GIB"] = tuple(_towers_without(source))
    return found


def _towers_without(source: str | None) -> Iterable[tuple[str, float, float]]:
    for row in constants.VISION_PROFILE_BY_FAMILY_GIB:
        names = [
            source_of(f.case) for f in worked() if f.serving.resolved.architecture.family.lower().startswith(row[0])
        ]
        if not names or any(name != source for name in names):
            yield row


@contextmanager
def as_without(source: str | None) -> Iterator[None]:
    """The engine with those constants in place, and its own again afterwards."""
    kept = {name: getattr(constants, name) for name in constants_without(source)}
    try:
        for name, value in constants_without(source).items():
            setattr(constants, name, value)
        yield
    finally:
        for name, value in kept.items():
            setattr(constants, name, value)


def constants_table() -> str:
    """Every fitted constant: as the engine has it, from all sources, and the widest it becomes without one of them."""
    lines = ["| constant | engine | all sources | sources | without one source |", "|---|---|---|---|---|"]
    for entry in FITTED:
        every, count = constant_without(entry, None)
        sources = {source for source, _ in _implied(entry.name)}
        apart = sorted(constant_without(entry, source)[0] for source in sources) or [entry.unmeasured]
        cells = (
            entry.name,
            f"{getattr(constants, entry.name):.4g}",
            f"{every:.4g}",
            str(count),
            f"{apart[0]:.4g} to {apart[-1]:.4g}",
        )
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)
