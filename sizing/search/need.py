"""A workload as the search sees it: its model, how many requests at once, and what it needs at least."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from sizing.architecture.types import Architecture
from sizing.cost import standing_in
from sizing.defaults import Defaults
from sizing.errors import UserError
from sizing.memory.inference import plan_inference
from sizing.places import Where, where
from sizing.prices import Trust
from sizing.resolve import Resolved, at_first_guess, is_fed_by_arrivals, native_format, resolve, resolve_model
from sizing.search.bounds import Need, format_bytes
from sizing.search.candidates import SERVED, Setup, setups
from sizing.search.machines import Machine
from sizing.spec import EngineRef, HardwareRef, Parallel, WorkloadSpec
from sizing.speed.load import demand
from sizing.speed.workload import work
from sizing.usage import used_as_said

# Plans on these show the KV cache of everything in flight, whether it fits or not: servers on a card whose engine default batches are the
# small ones (a window's pages grow with the batch), llama.cpp on a large machine.
_PROBES = {False: ("nvidia-l40s", "vllm"), True: ("apple-m3-ultra", "llama.cpp")}
_KV_FORMATS: dict[bool, tuple[str | None, ...]] = {False: (None, "fp8"), True: (None, "q8_0")}
_TRAINED_SHARE = 0.25  # QLoRA keeps a quarter of the 16-bit weights; other methods more


@dataclass(frozen=True)
class Question:
    """A workload with what every candidate shares."""

    spec: WorkloadSpec
    defaults: Defaults
    model: Architecture
    concurrency: int
    context_tokens: int
    floor_bits: float
    place: Where
    prompt_tokens: int = 0
    output_tokens: int = 0

    @cached_property
    def planned(self) -> WorkloadSpec:
        """The spec that candidates are planned with: what arrives at a rate is held against all of them alike, as the requests in flight
        that it comes to at a fluent pace, which together must flow as fast as it arrives."""
        asked = demand(self.spec) if is_fed_by_arrivals(self.spec) else None
        if asked is None:
            return self.spec
        flow = max(self.spec.targets.tokens_s_total or 0.0, asked.rate_rps * self.output_tokens)
        return self.spec.model_copy(
            update={
                "concurrency": self.concurrency,
                "load": self.spec.load.model_copy(update={"rate_rps": None, "requests_per_day": None, "pattern": None}),
                "targets": self.spec.targets.model_copy(update={"tokens_s_total": flow}),
            }
        )

    @property
    def audience(self) -> int:
        """How many are served: requests at once or heads, whichever is more. A handful is a household or a desk, more is a service."""
        return max(self.concurrency, self.spec.users or 1)

    @cached_property
    def native_bits(self) -> float:
        """Bits a weight of the published checkpoint."""
        return native_format(self.model).bits_per_weight or 16.0


def question_of(spec: WorkloadSpec, defaults: Defaults, trusts: frozenset[Trust] | None = None) -> Question:
    """The question behind a spec.

    Raises:
        UserError: no model is named, or a name is unknown.
    """
    place = where(spec, defaults, trusts)
    defaults = used_as_said(standing_in(defaults, place.countries), spec.usage)
    floor = spec.constraints.min_bits or defaults.min_bits
    if spec.task not in SERVED:
        return Question(
            spec, defaults, resolve_model(spec.model)[0], spec.concurrency or 1, spec.context_tokens or 0, floor, place
        )
    in_flight = at_first_guess(spec, defaults) if is_fed_by_arrivals(spec) else spec.concurrency
    probe = _probe(
        spec.model_copy(update={"concurrency": in_flight}),
        defaults,
        False,
        spec.kv_cache if isinstance(spec.kv_cache, str) else None,
    )
    load = work(probe)
    return Question(
        spec, defaults, probe.architecture, probe.concurrency, probe.context_tokens, floor, place, load.new_tokens, load.output_tokens
    )  # fmt: skip


def _probe(
    spec: WorkloadSpec, defaults: Defaults, local: bool, kv_cache: str | None, layout: tuple[int, int] = (1, 1)
) -> Resolved:
    accelerator, engine = _PROBES[local]
    tensor, pipeline = layout
    return resolve(
        spec.model_copy(
            update={
                "hardware": (HardwareRef(accelerator=accelerator, count=tensor * pipeline),),
                "parallel": Parallel(tensor=tensor, pipeline=pipeline, data=1),
                "engine": spec.engine if spec.engine.name else EngineRef(name=engine),
                "kv_cache": spec.kv_cache or kv_cache,
                "task": "inference",
                "beside": (),
            }
        ),
        defaults,
    )


def need_of(question: Question) -> Need:
    """The least that any candidate must hold, read and multiply."""
    spec, model = question.planned, question.model
    if spec.task not in SERVED:
        return Need(_Shared(model, _TRAINED_SHARE), {}, 0.0, 0.0)
    speculative = spec.engine.speculative
    step = 1.0 if speculative is None else 1.0 + (getattr(speculative, "tokens", None) or 16)
    return Need(
        weights_bytes=_Shared(model, 1.0),
        kv_bytes=dict(_kv(question)),
        active_share=model.params_active / model.params_total,
        prompt_flop=2.0 * model.params_active * question.prompt_tokens,
        tokens_per_step=step,
        tokens_s_per_user=spec.targets.tokens_s_per_user or question.defaults.min_tokens_s_per_user,
        ttft_s=spec.targets.ttft_s,
        tokens_s_total=spec.targets.tokens_s_total,
        concurrency=question.concurrency,
    )


class _Shared(dict[str, float]):
    """Bytes of a model by format, computed when first asked for."""

    def __init__(self, model: Architecture, share: float) -> None:
        super().__init__()
        self._model, self._share = model, share

    def __missing__(self, name: str) -> float:
        self[name] = format_bytes(self._model, name) * self._share
        return self[name]


def _kv(question: Question) -> Iterator[tuple[tuple[bool, str | None], float]]:
    """The KV cache of everything in flight, by engine kind and format: the least that the memory rooms plan on large devices.

    Pages of hybrid caches depend on how layers are spread, so servers are asked for one device, four in tensor and four in pipeline.
    """
    heads = question.model.heads or 4
    layouts = ((1, 1), (1, 4), *(((4, 1),) if heads % 4 == 0 else ()))
    for local, formats in _KV_FORMATS.items():
        for name in formats:
            sizes = [
                size
                for layout in (layouts if not local else layouts[:1])
                for size in _kv_bytes(question, local, name, layout)
            ]
            if sizes:
                yield (local, name), min(sizes)


def _kv_bytes(question: Question, local: bool, name: str | None, layout: tuple[int, int]) -> Iterator[float]:
    try:
        plan = plan_inference(_probe(question.planned, question.defaults, local, name, layout))
    except UserError:
        return
    yield sum(device.kv_bytes for device in plan.devices)


def setups_of(question: Question, machine: Machine) -> tuple[Setup, ...]:
    """Engines and formats that run on a machine's device, the preferred first."""
    return setups(machine.accelerator, question.spec, question.model, question.floor_bits, question.audience)
