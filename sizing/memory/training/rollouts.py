"""GRPO and PPO: the models beside the policy, and the cache of the answers that are generated for every question.

Generation inside the training process (TRL with vLLM on the same cards) keeps a second copy of the weights unless the policy itself
generates, and a cache for all answers of a step at once (https://huggingface.co/docs/trl/grpo_trainer, vllm_mode colocate).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from sizing.memory.training.run import Run
from sizing.units import gib

# TRL's own default is eight answers a question; 256 tokens each, where reasoning runs take 1,024 and more. Planning figures.
GROUP, COMPLETION_TOKENS = 8, 1024
# Share of a step that goes into writing answers: most of it (TRL documentation on speeding up training); planning figure.
GENERATION_SHARE = 0.7


@dataclass(frozen=True, slots=True)
class Rollouts:
    """`models` that lie in memory beside the policy; `copy_gib` the generator's own weights, `cache_gib` of all answers of a step."""

    models: tuple[str, ...]
    answers: int
    answer_tokens: int
    copy_gib: float
    cache_gib: float
    generation_share: float

    def data(self) -> dict[str, Any]:
        return asdict(self)


def rollouts(run: Run, group: int = GROUP, answer_tokens: int = COMPLETION_TOKENS) -> Rollouts | None:
    """What generating adds; None for runs that generate nothing (fine-tuning, DPO)."""
    if run.objective not in ("grpo", "ppo"):
        return None
    model = run.architecture
    cached = (model.kv_elements_per_token + model.sliding_elements_per_token) * 2.0
    answers = group if run.objective == "grpo" else max(1, run.micro_batch)
    tokens = run.sequence_tokens + answer_tokens
    return Rollouts(
        models_beside(run),
        answers,
        answer_tokens,
        gib(2.0 * model.params_total),
        gib(answers * tokens * cached),
        GENERATION_SHARE,
    )


def models_beside(run: Run) -> tuple[str, ...]:
    """The frozen reference (the base itself where only an adapter is trained), and for PPO reward and value models."""
    reference = () if run.method != "full" else ("reference",)
    return (*reference, "reward", "value") if run.objective == "ppo" else reference
