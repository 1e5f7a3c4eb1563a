"""Find wrong labels: 5 % of those of real tables are flipped, and `audit` ranks the samples.

Average precision of the order of ``audit(induce(table), table, labels)``, whose rules are induced
again without each fold; of ``1 - p(label)`` by a `RuleClassifier` fitted without each of the
same folds; and of the rules as they are, in sample. By chance it is about 0.05.

    python benchmarks/label_noise.py [DRAWS]

Needs ``pip install 'pinesy[sklearn]'``; the tables come with scikit-learn.
"""

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine
from sklearn.metrics import average_precision_score

from pinesy import audit, induce
from pinesy.estimators import RuleClassifier
from pinesy.learning import Audit

FLIPPED = 0.05
TARGET = "class"
Labels = npt.NDArray[np.int64]


def tables() -> Iterator[tuple[str, npt.NDArray[np.float64], Labels]]:
    """Yield the name, the features and the classes of each table."""
    yield "iris", *load_iris(return_X_y=True)
    yield "wine", *load_wine(return_X_y=True)
    yield "breast cancer", *load_breast_cancer(return_X_y=True)
    x, y = load_digits(return_X_y=True)
    similar = np.isin(y, (3, 5, 8, 9))
    yield "digits 3, 5, 8, 9", x[similar], np.unique(y[similar], return_inverse=True)[1]
    x, y = load_diabetes(return_X_y=True)
    yield "diabetes, thirds", x, np.digitize(y, np.quantile(y, (1 / 3, 2 / 3)))


def flipped(y: Labels, seed: int) -> tuple[Labels, npt.NDArray[np.bool_]]:
    """Return labels of which 5 % are wrong, and which are."""
    rng, classes = np.random.default_rng(seed), len(np.unique(y))
    wrong = np.zeros(len(y), dtype=bool)
    wrong[rng.choice(len(y), round(FLIPPED * len(y)), replace=False)] = True
    return np.where(wrong, (y + rng.integers(1, classes, len(y))) % classes, y), wrong


def ranked(found: Audit) -> npt.NDArray[np.float64]:
    """Return a score for each sample that falls along the order of an audit."""
    scores = np.empty(len(found))
    scores[found.order] = np.arange(len(found), 0, -1)
    return scores


def improbability(
    x: npt.NDArray[np.float64], y: Labels, found: Audit, **options: Any
) -> npt.NDArray[np.float64]:
    """Return ``1 - p(label)`` by classifiers fitted without each fold of an audit."""
    scores = np.empty(len(y))
    fold = found.fold
    assert fold is not None
    for k in np.unique(fold):
        model = RuleClassifier(**options).fit(x[fold != k], y[fold != k])
        p = model.predict_proba(x[fold == k])
        scores[fold == k] = (
            1.0 - p[np.arange(len(p)), np.searchsorted(model.classes_, y[fold == k])]
        )
    return scores


def figures(x: npt.NDArray[np.float64], y: Labels, seed: int) -> tuple[float, float, float]:
    """Return the average precisions of one draw: out of fold, 1 - p(label), and in sample."""
    labels, wrong = flipped(y, seed)
    table: dict[str, Any] = {f"x{i:02}": column for i, column in enumerate(x.T)}
    rules = induce({**table, TARGET: labels.tolist()}, TARGET)
    found = audit(rules, table, {TARGET: labels.tolist()}, seed=seed)
    in_sample = audit(rules, table, {TARGET: labels.tolist()}, method="given")
    premises = [s.rules[0].premise for name, s in rules.sets.items() if name.startswith("rule ")]
    most = max(len(premise.propositions) for premise in premises)
    options = {"max_rules": len(premises), "max_conditions": most}
    scores = (ranked(found), improbability(x, labels, found, **options), ranked(in_sample))
    out, baseline, inside = (float(average_precision_score(wrong, score)) for score in scores)
    return out, baseline, inside


def main(draws: int) -> None:
    """Print the means over the draws."""
    print(f"average precision, 5 % of the labels flipped, mean of {draws} draws")
    print(f"{'table':20}{'audit':>8}{'1 - p(label)':>14}{'in sample':>11}")
    for name, x, y in tables():
        runs = [figures(x, y, seed) for seed in range(draws)]
        out, baseline, inside = np.mean(runs, axis=0)
        print(f"{name:20}{out:8.3f}{baseline:14.3f}{inside:11.3f}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else 5)
