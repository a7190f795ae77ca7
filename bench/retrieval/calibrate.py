"""Fits the weights of `knowledge/answerable.py` on questions with and without an answer, and cross-validates them."""

import argparse
import json
import tempfile
from dataclasses import astuple
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from knowledge.answerable import evidence
from knowledge.records import Kind
from knowledge.service import Knowledge
from knowledge.settings import Settings

FOLDS = 8
RIDGE = 1.0
STEPS = 60

Array = NDArray[np.float64]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=Path, help="measure these instead of the packaged notes")
    parser.add_argument("--questions", type=Path, nargs="+", default=[Path(__file__).with_name("questions.jsonl")])
    options = parser.parse_args()
    rows = [json.loads(line) for file in options.questions for line in file.read_text(encoding="utf-8").splitlines()]
    features, answerable = _features(options.documents, rows)
    said, german = features @ fit(features, answerable) > 0, np.array([row["lang"] == "de" for row in rows])
    weights = fit(features, answerable)
    print("bias, terms, names, words, coverage, held:", " ".join(f"{w:.2f}" for w in weights))
    print(
        f"balanced accuracy: fitted {balanced(features @ weights > 0, answerable):.3f}, {FOLDS}-fold {validated(features, answerable):.3f}"
    )

    for lang, own in (("de", german), ("en", ~german)):
        kept = said[own & (answerable > 0)].mean()
        print(f"{lang}: {balanced(said[own], answerable[own]):.3f}, of the answerable {kept:.3f} kept")


def _features(documents: Path | None, rows: list[dict[str, str]]) -> tuple[Array, Array]:
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder)
        knowledge = Knowledge(Settings(data, f"sqlite:///{data / 'knowledge.db'}", embeddings="off"))
        kind: Kind = "document" if documents else "note"
        if documents:
            list(knowledge.add([documents]))
        found = [knowledge.ranking(kind, r["query"], lang=r["lang"]) for r in rows]  # type: ignore[arg-type]
        features = [[1.0, *astuple(evidence(f))] for f in found if f]
    return np.array(features, dtype=float), np.array(
        [bool(r.get("gold_regex") or r.get("topics")) for r in rows], float
    )


def fit(features: Array, answerable: Array) -> Array:
    """Logistic regression by Newton's method; both classes weigh the same, the weights but the bias are held small."""
    share = answerable.mean()
    weight = np.where(answerable > 0, 0.5 / share, 0.5 / (1 - share))
    penalty = RIDGE * np.diag([0.0] + [1.0] * (features.shape[1] - 1))
    weights = np.zeros(features.shape[1])
    for _ in range(STEPS):
        p = 1 / (1 + np.exp(-features @ weights))
        gradient = features.T @ (weight * (p - answerable)) + penalty @ weights
        curvature = (features * (weight * p * (1 - p))[:, None]).T @ features + penalty
        weights -= np.linalg.solve(curvature, gradient)
    return weights


def validated(features: Array, answerable: Array) -> float:
    """Balanced accuracy on questions left out of the fit, in folds with both classes."""
    fold = np.empty(len(answerable), dtype=int)
    for side in (0.0, 1.0):
        own = np.random.default_rng(0).permutation(np.flatnonzero(answerable == side))
        fold[own] = np.arange(len(own)) % FOLDS
    said = np.empty(len(answerable), dtype=bool)
    for n in range(FOLDS):
        said[fold == n] = features[fold == n] @ fit(features[fold != n], answerable[fold != n]) > 0
    return balanced(said, answerable)


def balanced(said: NDArray[np.bool_], answerable: Array) -> float:
    return float((said[answerable > 0].mean() + (~said[answerable == 0]).mean()) / 2)


if __name__ == "__main__":
    main()
