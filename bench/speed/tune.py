"""Choose how far each kind of offset may move and how much figures scatter (`priors.json`): what makes the measurements likeliest.

    python -m bench.speed.tune            # one climb; then `bench.speed.fit`, and again until nothing moves
    python -m bench.speed.tune --nested   # what a climb is worth for sources that had no part in it

With the offsets integrated out, the measured figures are normal around what the priors say, with the covariance of
`Linear.kernel` and their scatter (type-II maximum likelihood: MacKay, Bayesian interpolation, 1992). One width for each axis of each
factor and one scatter for each kind of figure, each held near where it stood: the rows say little of some.
"""

from __future__ import annotations

import sys
from collections import defaultdict

import numpy as np

from bench.speed.problem import Priors, Problem
from bench.speed.rows import rows
from bench.speed.solve import by_source, fit, groups_by, linearised

_FOLDS = 4
_TURNS = 40
_HELD = 0.3  # logarithms by which a width is expected to move in a climb: the linear form flatters large moves
_STEP, _MEMORY = 0.08, (0.8, 0.95)  # of Adam: the pace, and how long gradients and their squares are kept


class Evidence:
    """The problem around its fit, with the part of each width in the covariance."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.line = linearised(problem, fit(problem))
        members: dict[tuple[str, str], list[int]] = defaultdict(list)
        for n, (name, key) in enumerate(problem.params):
            members[name, key.split(":")[0]].append(n)
        self.widths = sorted(members)
        self.parts = np.stack([self._part(members[width]) for width in self.widths])
        kinds = np.array([f"{item.scenario}/{item.figure}" for item in problem.items])
        self.kinds = sorted(set(kinds))
        self.of_kind = np.stack([kinds == kind for kind in self.kinds])

    def _part(self, numbers: list[int]) -> np.ndarray:
        part = (self.line.slope * self.problem.prior)[:, numbers]
        made: np.ndarray = (part @ part.T).astype(np.float32)
        return made

    def covariance(self, moves: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(by what the priors leave open, scatter of each item) with every width and scatter moved so far, in logarithms."""
        at = len(self.widths)
        made = np.tensordot(np.exp(2 * moves[:at]).astype(np.float32), self.parts, 1).astype(float)
        return made, self.line.variance * (np.exp(2 * moves[at:]) @ self.of_kind)

    def slope(self, moves: np.ndarray, held: np.ndarray) -> np.ndarray:
        """Gradient of the negative logarithm of the items' likelihood, with the moves held near zero."""
        made, scatter = self.covariance(moves)
        inverse = np.linalg.inv(made[np.ix_(held, held)] + np.diag(scatter[held]))
        weighted = inverse @ self.line.target[held]
        whole = np.zeros_like(made)
        whole[np.ix_(held, held)] = inverse - np.outer(weighted, weighted)
        at = len(self.widths)
        of_widths = self.parts.reshape(at, -1) @ whole.astype(np.float32).ravel() * np.exp(2 * moves[:at])
        return np.concatenate([of_widths, self.of_kind @ (np.diag(whole) * scatter)]) + moves / _HELD**2

    def climbed(self, held: np.ndarray) -> np.ndarray:
        """The moves that make the items held likeliest."""
        moves = np.zeros(len(self.widths) + len(self.kinds))
        mean, square = np.zeros_like(moves), np.zeros_like(moves)
        for turn in range(1, _TURNS + 1):
            slope = self.slope(moves, held)
            mean = _MEMORY[0] * mean + (1 - _MEMORY[0]) * slope
            square = _MEMORY[1] * square + (1 - _MEMORY[1]) * slope**2
            pace = np.sqrt(square / (1 - _MEMORY[1] ** turn)) + 1e-8
            moves = moves - _STEP * mean / (1 - _MEMORY[0] ** turn) / pace
        return moves

    def moved(self, moves: np.ndarray) -> Priors:
        """The priors after a climb."""
        start = self.problem.priors
        widths = {name: dict(axes) for name, axes in start.widths.items()}
        for (name, axis), move in zip(self.widths, moves, strict=False):
            widths[name][axis] = round(widths[name][axis] * float(np.exp(move)), 4)
        scatter = {
            kind: round(start.scatter[kind] * float(np.exp(move)), 4)
            for kind, move in zip(self.kinds, moves[len(self.widths) :], strict=True)
        }
        return Priors(widths, scatter)

    def missed(self, moves: np.ndarray, held: np.ndarray, judged: np.ndarray) -> np.ndarray:
        """log(measured / predicted) of the items judged, from those held."""
        made, scatter = self.covariance(moves)
        known = np.linalg.solve(made[np.ix_(held, held)] + np.diag(scatter[held]), self.line.target[held])
        left: np.ndarray = self.line.target[judged] - made[np.ix_(judged, held)] @ known
        return left


def nested(evidence: Evidence) -> None:
    """Print the median error of each kind of figure on sources that neither the climb nor the fit saw, without and with the climb."""
    problem = evidence.problem
    sources, everything = groups_by(problem, by_source), np.arange(len(problem.items))
    still, before, after = np.zeros(len(evidence.widths) + len(evidence.kinds)), everything * 0.0, everything * 0.0
    for fold in range(_FOLDS):
        unseen = np.concatenate(sources[fold::_FOLDS])
        moves = evidence.climbed(np.setdiff1d(everything, unseen))
        for judged in sources[fold::_FOLDS]:
            held = np.setdiff1d(everything, judged)
            before[judged] = evidence.missed(still, held, judged)
            after[judged] = evidence.missed(moves, held, judged)
    for kind, members in zip(evidence.kinds, evidence.of_kind, strict=True):
        errors = [f"{float(np.median(np.expm1(np.abs(logs[members])))):.3f}" for logs in (before, after)]
        print(f"{kind:40s} n={int(members.sum()):4d}  as it stands {errors[0]}  after a climb {errors[1]}")


def main() -> None:
    """Climb and save, or judge what a climb is worth."""
    problem = Problem(rows(), Priors.load())
    evidence = Evidence(problem)
    if "--nested" in sys.argv[1:]:
        nested(evidence)
        return
    moves = evidence.climbed(np.arange(len(problem.items)))
    print(f"largest moves: {np.exp(moves.min()):.2f} to {np.exp(moves.max()):.2f} times")
    evidence.moved(moves).save()


if __name__ == "__main__":
    main()
