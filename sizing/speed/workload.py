"""What is asked of the deployment: lengths, load pattern, how many at once."""

from __future__ import annotations

from dataclasses import dataclass

from sizing.resolve import Resolved
from sizing.spec import LoadPattern

_TYPICAL_INPUT = 512
_TYPICAL_OUTPUT = 256


@dataclass(frozen=True, slots=True)
class Work:
    """One request's lengths in tokens, and the load. `shared_tokens` of the prompt are found in the prefix cache."""

    input_tokens: int
    output_tokens: int
    prior_tokens: int
    shared_tokens: int
    mean_context_tokens: float
    pattern: LoadPattern
    concurrency: int
    concurrency_stated: bool
    requests: int | None
    rate_rps: float | None
    input_assumed: bool
    output_assumed: bool

    @property
    def measured_as(self) -> LoadPattern:
        """The pattern whose measurements tell of this load. Arrivals were measured as a finite rush of requests only, mostly faster than
        they were served; a service at a steady rate has a number in flight, as a closed load has."""
        return "closed" if self.pattern == "poisson" and self.requests is None else self.pattern

    @property
    def new_tokens(self) -> int:
        """Prompt tokens that must be computed."""
        return max(0, self.input_tokens - self.shared_tokens)


def work(resolved: Resolved) -> Work:
    """The load of a resolved spec; lengths not said are taken from the context, or as those of a chat turn."""
    spec = resolved.spec
    given, produced = _lengths(resolved)
    shared = min(spec.load.shared_prefix_tokens or 0, given)
    mean = spec.load.mean_context_tokens or resolved.prior_tokens + given + produced / 2
    pattern = spec.load.pattern or ("poisson" if spec.load.rate_rps else "closed")
    if pattern == "poisson" and not spec.load.rate_rps:
        pattern = "closed"
    return Work(
        input_tokens=given,
        output_tokens=produced,
        prior_tokens=resolved.prior_tokens,
        shared_tokens=shared,
        mean_context_tokens=max(1.0, float(mean)),
        pattern=pattern,
        concurrency=resolved.concurrency,
        concurrency_stated=bool(spec.concurrency or spec.users),
        requests=spec.load.requests,
        rate_rps=spec.load.rate_rps,
        input_assumed=spec.input_tokens is None,
        output_assumed=spec.output_tokens is None,
    )


def _lengths(resolved: Resolved) -> tuple[int, int]:
    """(prompt, answer). A context without lengths counts as half full on average, with a chat-length answer."""
    given, produced = resolved.input_tokens, resolved.output_tokens
    context = resolved.spec.context_tokens
    room = None if context is None else max(0, context - resolved.prior_tokens)
    if given is not None and produced is not None:
        return given, produced
    if given is not None:
        return given, min(_TYPICAL_OUTPUT, room - given) if room is not None and room > given else _TYPICAL_OUTPUT
    if produced is not None:
        return (max(0, room - produced) if room is not None else _TYPICAL_INPUT), produced
    if room is None:
        return _TYPICAL_INPUT, _TYPICAL_OUTPUT
    answer = min(512, max(1, room // 4))
    return max(0, room // 2 - answer // 2), answer
