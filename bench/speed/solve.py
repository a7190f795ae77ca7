"""Gauss-Newton with priors and Huber's loss, and what fits that left a group of rows out would say."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from hashlib import sha1

import numpy as np

from bench.speed.problem import Problem
from bench.speed.rows import Row

HUBER = 1.5


def fit(problem: Problem, held: np.ndarray | None = None, turns: int = 14) -> np.ndarray:
    """Gauss-Newton from what is known beforehand over the items held (all, if not said), the Jacobian anew every turn."""
    values, held = problem.mean.copy(), np.arange(len(problem.items)) if held is None else held
    for _ in range(turns):
        values, better = _turn(problem, values, held, problem.jacobian(values))
        if not better:
            break
    return values


def _turn(problem: Problem, values: np.ndarray, held: np.ndarray, slope: np.ndarray) -> tuple[np.ndarray, bool]:
    """One step with a line search; False where it gains less than half a thousandth."""
    at = problem.predict(values)
    loss = _loss(problem, values, at, held)
    move = step(problem, values, at, held, slope) - values
    for share in (1.0, 0.5, 0.25, 0.125, 0.06, 0.03):
        tried = values + share * move
        new = _loss(problem, tried, problem.predict(tried), held)
        if new < loss * 0.9995:
            return tried, True
    return values, False


def _loss(problem: Problem, values: np.ndarray, at: np.ndarray, held: np.ndarray) -> float:
    residual = np.abs(problem.truth - at)[held] / problem.noise[held]
    huber = np.where(residual < HUBER, residual**2 / 2, HUBER * (residual - HUBER / 2))
    return float(np.sum(huber) + np.sum(((values - problem.mean) / problem.prior) ** 2) / 2)


def _variance(problem: Problem, residual: np.ndarray) -> np.ndarray:
    """Of every item: outliers count linearly, so theirs grows with the residual."""
    grown: np.ndarray = problem.noise**2 * np.maximum(1.0, np.abs(residual) / problem.noise / HUBER)
    return grown


def step(problem: Problem, values: np.ndarray, at: np.ndarray, held: np.ndarray, slope: np.ndarray) -> np.ndarray:
    """One weighted ridge step in its dual form: there are fewer items than parameters."""
    residual = problem.truth - at
    mine = slope[held]
    kernel = (mine * problem.prior**2) @ mine.T + np.diag(_variance(problem, residual)[held])
    target = residual[held] + mine @ (values - problem.mean)
    moved: np.ndarray = problem.mean + problem.prior**2 * (mine.T @ np.linalg.solve(kernel, target))
    return moved


@dataclass(frozen=True)
class Linear:
    """The problem linearised at fitted values, for the residuals of rows left out in closed form.

    With K the covariance of all items and y the residuals from the prior mean, leaving out group g leaves (inv(K)_gg)^-1 (inv(K) y)_g.
    """

    slope: np.ndarray
    variance: np.ndarray
    target: np.ndarray

    def only(self, held: np.ndarray) -> Linear:
        """The same for some of the items."""
        return Linear(self.slope[held], self.variance[held], self.target[held])

    def kernel(self, prior: np.ndarray) -> np.ndarray:
        """Covariance of the items by what the priors leave open, without the scatter of each."""
        made: np.ndarray = (self.slope * prior**2) @ self.slope.T
        return made

    def open_inside(self, prior: np.ndarray) -> np.ndarray:
        """Variance that the fit to all leaves to the prediction of every item."""
        kernel = self.kernel(prior)
        known = np.linalg.solve(kernel + np.diag(self.variance), kernel)
        return np.maximum(0.0, np.diag(kernel) - np.einsum("ij,ji->i", kernel, known))

    def open_left_out(self, prior: np.ndarray, groups: Iterable[np.ndarray]) -> np.ndarray:
        """The same of fits that left out the item's group: the inverse of inv(K)_gg is the group's covariance given the others."""
        inverse, out = np.linalg.inv(self.kernel(prior) + np.diag(self.variance)), np.zeros(len(self.target))
        for group in groups:
            out[group] = np.diag(np.linalg.inv(inverse[np.ix_(group, group)])) - self.variance[group]
        return np.maximum(0.0, out)

    def left_out(self, prior: np.ndarray, groups: Iterable[np.ndarray]) -> np.ndarray:
        """log(measured / predicted) of every item in a group, predicted without that group."""
        inverse = np.linalg.inv(self.kernel(prior) + np.diag(self.variance))
        weighted, out = inverse @ self.target, np.zeros(len(self.target))
        for group in groups:
            out[group] = np.linalg.solve(inverse[np.ix_(group, group)], weighted[group])
        return out


def linearised(problem: Problem, values: np.ndarray) -> Linear:
    """The problem around those values."""
    slope = problem.jacobian(values)
    residual = problem.truth - problem.predict(values)
    return Linear(slope, _variance(problem, residual), residual + slope @ (values - problem.mean))


def refitted(problem: Problem, groups: Iterable[np.ndarray]) -> np.ndarray:
    """Logarithms of what fits say of the items of each group that they never saw, each made from the beginning."""
    out = np.zeros(len(problem.items))
    for group in groups:
        values = fit(problem, np.setdiff1d(np.arange(len(problem.items)), group))
        out[group] = problem.predict(values, sorted({problem.items[n].row for n in group}))[group]
    return out


def groups_by(problem: Problem, key: Callable[[Row], str]) -> list[np.ndarray]:
    """Numbers of the items whose rows have a key in common."""
    found: dict[str, list[int]] = defaultdict(list)
    for n, item in enumerate(problem.items):
        found[key(problem.rows[item.row])].append(n)
    return [np.array(members) for _, members in sorted(found.items())]


def by_source(row: Row) -> str:
    """Rows of one table."""
    return row.source


def by_source_and_model(row: Row) -> str:
    """Rows of one table that measure the same model."""
    return f"{row.source}/{row.data['model']}"


def by_row(row: Row) -> str:
    """Sixteen folds of rows drawn by their ids: most of a row's own table stays in sight."""
    return sha1(str(row.data["id"]).encode()).hexdigest()[0]
