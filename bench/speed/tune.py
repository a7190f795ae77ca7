"""Choose how far each kind of offset may move (`priors.json`): by what fits say of sources and models they never saw.

    python -m bench.speed.tune           # one round of the search, half a step, nested check; then `bench.speed.fit`

Every width is doubled and halved in turn and kept where the linearised fit errs less on what was left out. Since the linear form
flatters large moves, the file moves half the way (in logarithms) and the fit is made anew. The check is nested: for each fold of
sources the search sees the others only, so "tuned" there is what the choice of widths is worth for sources that had no part in it.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import replace

import numpy as np

from bench.speed.problem import Priors, Problem
from bench.speed.rows import rows
from bench.speed.solve import by_source, by_source_and_model, fit, groups_by, linearised
from sizing.speed.factors import FACTORS

_MOVES = (0.5, 2.0)
_FOLDS = 4
_PENALTY = 0.0015  # for each factor of two away from the start, so that noise moves nothing
_WORST = 2.0  # a residual beyond e^2 is no worse than one of that size


class Judge:
    """The error on what is left out: each figure in units of its own noise, each kind of figure by the root of its rows."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.line = linearised(problem, fit(problem))
        self.sources, self.models = groups_by(problem, by_source), groups_by(problem, by_source_and_model)
        kinds: dict[tuple[str, str], list[int]] = defaultdict(list)
        for n, item in enumerate(problem.items):
            kinds[item.scenario, item.figure].append(n)
        self.weight = np.zeros(len(problem.items))
        for members in kinds.values():
            self.weight[members] = 1 / (problem.noise[members] * math.sqrt(len(members)))

    def error(self, priors: Priors, held: np.ndarray, judged: np.ndarray | None = None) -> float:
        """Of the items judged (all held, if not said) under fits to the items held."""
        judged = held if judged is None else judged
        line, widths = self.line.only(held), self.problem.widths(priors)
        place = {n: k for k, n in enumerate(held)}
        total = 0.0
        for groups in (self.sources, self.models):
            inside = [np.array([place[n] for n in group if n in place], dtype=int) for group in groups]
            residuals = np.minimum(_WORST, np.abs(line.left_out(widths, [group for group in inside if len(group)])))
            total += float(np.sum(residuals[[place[n] for n in judged]] * self.weight[judged]))
        return total / float(np.sum(self.weight[judged])) / 2


def search(judge: Judge, start: Priors, held: np.ndarray) -> Priors:
    """One round over all widths."""
    best, error = start, judge.error(start, held)
    for kind, name in [*(("axis", axis) for axis in start.axis), *(("scale", factor) for factor in FACTORS)]:
        for times in _MOVES:
            tried = _widened(best, kind, name, times)
            new = judge.error(tried, held)
            if new < error - _PENALTY:
                best, error = tried, new
                break
    return best


def _widened(priors: Priors, kind: str, name: str, times: float) -> Priors:
    if kind == "axis":
        return replace(priors, axis={**priors.axis, name: priors.axis[name] * times})
    return replace(priors, scale={**priors.scale, name: priors.scale.get(name, 1.0) * times})


def halfway(start: Priors, end: Priors) -> Priors:
    """Half of the move, in logarithms."""

    def middle(one: dict[str, float], other: dict[str, float]) -> dict[str, float]:
        return {name: round(math.sqrt(one.get(name, 1.0) * value), 3) for name, value in other.items()}

    return Priors(middle(start.axis, end.axis), start.base, middle(start.scale, end.scale))


def nested(judge: Judge, start: Priors) -> tuple[float, float]:
    """(error as it stands, error tuned) on sources that the search did not see."""
    everything = np.arange(len(judge.problem.items))
    errors = []
    for fold in range(_FOLDS):
        judged = np.concatenate(judge.sources[fold::_FOLDS])
        tuned = search(judge, start, np.setdiff1d(everything, judged))
        errors.append([judge.error(start, everything, judged), judge.error(tuned, everything, judged)])
    before, after = np.mean(errors, axis=0)
    return float(before), float(after)


def main() -> None:
    """Search, check, save."""
    start = Priors.load()
    judge = Judge(Problem(rows(), start))
    before, after = nested(judge, start)
    print(f"sources the search never saw: {before:.4f} as it stands, {after:.4f} tuned")
    tuned = search(judge, start, np.arange(len(judge.problem.items)))
    halfway(start, tuned).save()


if __name__ == "__main__":
    main()
