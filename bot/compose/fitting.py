"""What fits of a training run and what makes it fit, in words; rollouts, data loader, checkpoints."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from bot.compose.draft import Draft
from bot.explain import with_mark
from bot.reply.wording import Wording
from bot.sized import Sized
from sizing.catalogue.entries import Accelerator
from sizing.errors import UserError
from sizing.memory.training.fitting import Step, largest_batch, largest_sequence, steps_to_fit, unchecked_gib
from sizing.memory.training.rollouts import Rollouts, rollouts
from sizing.memory.training.run import Run, resolve_run
from sizing.spec import WorkloadSpec
from sizing.system.ram import shared_memory_gb, workers_per_gpu
from sizing.system.storage import write_seconds

_KEPT = 3
_RAN_OUT: Final = re.compile(
    r"\booms?\b|out of (?:cuda |gpu )?memory|speicher (?:reicht nicht|läuft voll|voll|geht aus)", re.IGNORECASE
)
_ASKS_LOADER: Final = re.compile(
    r"loader|worker|/dev/shm|shared memory|checkpoint|disk|festplatte|nvme|\bram\b|arbeitsspeicher", re.IGNORECASE
)
_ACTIVATIONS_MATTER = 0.5


def reports_out_of_memory(question: str) -> bool:
    """Whether a run that ran out of memory is told of."""
    return _RAN_OUT.search(question) is not None


def say_fitting(draft: Draft, sized: Sized) -> None:
    """Limits of the run on its hardware, the steps that make it fit, and what lies beside it."""
    spec = sized.parsed
    if spec is None or spec.task != "training" or not sized.estimate.ok:
        return
    try:
        run = resolve_run(spec)
    except UserError:
        return
    if run.devices:
        _say(draft, "fits_most", "training_memory", _limits(draft, spec, sized))
        if not sized.estimate.fits:
            _say(draft, "ways", "training_memory", _ways(draft, spec))
        elif _RAN_OUT.search(draft.sources.query) and run.checkpointing != "none":
            _say(draft, "ways", "training_memory", _ran_out(draft, spec))
    _say_rollouts(draft, run)
    if any(_lacks_bf16(device.accelerator) for device in run.devices):
        draft.material.add_names(["BF16", "FP16", "Flash Attention 2"])
        _say(draft, "warning", "old_cards", iter([draft.words.text("fitting", "bf16_missing")]))
    if _ASKS_LOADER.search(draft.sources.query):
        _say(draft, "data_loader", "host_ram", _loader(draft, sized))
    else:
        draft.detail("note", " ".join(_loader(draft, sized)), draft.title("data_loader"))


def _lacks_bf16(accelerator: Accelerator | None) -> bool:
    """NVIDIA cards before Ampere: catalogue fact number-formats."""
    return accelerator is not None and accelerator.vendor == "nvidia" and float(accelerator.compute_capability or 9) < 8


def _say(draft: Draft, title: str, topic: str, sentences: Iterator[str]) -> None:
    text = " ".join(sentences)
    if text:
        draft.say("note", with_mark(text, draft.sources.topic(topic, text)), draft.title(title))


def _limits(draft: Draft, spec: WorkloadSpec, sized: Sized) -> Iterator[str]:
    words = draft.words
    longest, batch = largest_sequence(spec), largest_batch(spec)
    if longest is None:
        yield words.text("fitting", "nothing")
    else:
        draft.material.add(longest)
        text = words.text("fitting", "sequence", tokens=longest)
        if batch is not None:
            draft.material.add(batch)
            text = f"{text}, {words.text('fitting', 'batch', batch=batch)}"
        yield f"{text}."
    device = sized.devices[0]
    share = device.activations_gib / device.total_gib if device.total_gib else 0.0
    if share >= _ACTIVATIONS_MATTER:
        draft.material.add(share, "share")
        yield words.text("fitting", "where_memory_goes", share=share)


def _ways(draft: Draft, spec: WorkloadSpec) -> Iterator[str]:
    steps = steps_to_fit(spec)
    if not steps:
        return
    for step in steps:
        draft.material.add_data(step.data())
    shown = " → ".join(_step(step, draft) for step in steps)
    yield draft.words.text("fitting", "then_fits" if steps[-1].fits else "never_fits", steps=shown)


def _ran_out(draft: Draft, spec: WorkloadSpec) -> Iterator[str]:
    need = unchecked_gib(spec)
    draft.material.add_data({"need_gib": need})
    yield draft.words.text("fitting", "ran_out", need=need)


def _step(step: Step, draft: Draft) -> str:
    words = draft.words
    if step.name == "shorter_sequence":
        draft.material.add(float(step.value))
        name = words.text("fitting", step.name, value=float(step.value))
    else:
        name = words.text("fitting", step.name)
    return words.text("fitting", "step", step=name, cost=words.text("fitting", step.cost), need=step.need_gib)


def _say_rollouts(draft: Draft, run: Run) -> None:
    found = rollouts(run)
    if found is None:
        return
    draft.material.add_data(found.data())
    _say(draft, "rollouts", "rlhf", iter(rollout_sentences(found, draft.words)))


def rollout_sentences(found: Rollouts, words: Wording) -> list[str]:
    sentences = [
        words.text(
            "fitting",
            "rollouts",
            answers=found.answers,
            tokens=found.answer_tokens,
            cache=found.cache_gib,
            copy=found.copy_gib,
        )
    ]
    if found.models:
        models = words.listed(words.text("fitting", f"model_{name}") for name in found.models)
        sentences.insert(0, words.text("fitting", "rollout_models", models=models))
    return sentences


def _loader(draft: Draft, sized: Sized) -> Iterator[str]:
    words, workers = draft.words, workers_per_gpu()
    shared = shared_memory_gb(workers * max(1, len(sized.devices)))
    draft.material.add_data({"workers": workers, "shared_gb": shared, "container_gb": 0.064})
    yield words.text("fitting", "loader", workers=workers, shm=shared)
    resumable = ((sized.estimate.training or {}).get("checkpoint_gb") or {}).get("resumable")
    if resumable:
        seconds = write_seconds(resumable)
        draft.material.add_data({"size_gb": resumable, "write_seconds": seconds, "kept": _KEPT})
        yield words.text("fitting", "checkpoint", size=resumable, time=seconds, kept=_KEPT)
