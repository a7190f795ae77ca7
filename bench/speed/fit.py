"""Fit the factors of the speed model to the carried measurements and write `sizing/speed/data/calibration.json`.

    python -m bench.speed.fit            # fit, leave rows, models and sources out, write, print the errors

How far each factor may move stands in `priors.json` (`bench.speed.tune`); ranges come from residuals of fits that left rows out.
"""

from __future__ import annotations

import math
import sys
from collections import defaultdict

import numpy as np

from bench.speed.calibrate import Kind, Residuals, keep_left_out, write
from bench.speed.problem import Priors, Problem
from bench.speed.rows import rows
from bench.speed.solve import Linear, by_row, by_source, by_source_and_model, fit, groups_by, linearised, refitted


def residuals(problem: Problem, values: np.ndarray, line: Linear) -> Residuals:
    """Of the fit and of fits that left out; folds of rows and of models move the fit little, so its linear form serves them."""
    rows_, models = groups_by(problem, by_row), groups_by(problem, by_source_and_model)
    sources = groups_by(problem, by_source)
    prior = problem.prior
    return Residuals(
        inside=Kind(problem.truth - problem.predict(values), line.open_inside(prior)),
        row=Kind(line.left_out(prior, rows_), line.open_left_out(prior, rows_)),
        model=Kind(line.left_out(prior, models), line.open_left_out(prior, models)),
        source=Kind(problem.truth - refitted(problem, sources), line.open_left_out(prior, sources)),
    )


def report(problem: Problem, kinds: dict[str, np.ndarray]) -> None:
    """Median and 90 % of max(p/t, t/p) - 1 by scenario and figure, rows with stated load."""
    groups: dict[str, list[int]] = defaultdict(list)
    for n, item in enumerate(problem.items):
        if problem.rows[item.row].known:
            groups[f"{item.scenario} {item.figure}"].append(n)
    for name, members in sorted(groups.items()):
        parts = []
        for kind, logs in kinds.items():
            errors = sorted(math.exp(abs(logs[n])) - 1 for n in members)
            parts.append(f"{kind} {np.median(errors):.3f}/{errors[int(0.9 * len(errors))]:.2f}")
        print(f"{name:38s} n={len(members):4d}  {'  '.join(parts)}")


def main() -> None:
    """Fit, judge, write."""
    problem = Problem(rows(), Priors.load())
    print(len(problem.rows), "rows", len(problem.items), "figures", len(problem.params), "parameters", file=sys.stderr)
    values = fit(problem)
    line = linearised(problem, values)
    left = residuals(problem, values, line)
    report(
        problem, {"in": left.inside.logs, "row": left.row.logs, "model": left.model.logs, "source": left.source.logs}
    )
    write(problem, values, line, left)
    keep_left_out(problem, left)


if __name__ == "__main__":
    main()
