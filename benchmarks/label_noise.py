"""Find wrong labels: 5 % of those of real tables are flipped, and `audit` ranks the samples.

Average precision of the order of ``RuleClassifier().audit(table, labels)``, out of fold by the mean
of five repeats; of ``1 - p(label)`` by a random forest, out of fold; of
``audit(induce(table), table, labels)``, whose rules are induced again without each fold; and of the
rules as they are, in sample.
By chance it is about 0.05.

    python benchmarks/label_noise.py [DRAWS] [SET ...]

Needs ``pip install '.[frame,sklearn]'``; the tables come with scikit-learn, and sets that are
named from KEEL.
"""

import sys
from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt
from keel_files import read_set
from pandas import get_dummies
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import average_precision_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict

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


def forest_scores(x: npt.NDArray[np.float64], y: Labels, seed: int) -> npt.NDArray[np.float64]:
    """Return ``1 - p(label)`` by random forests of 100 trees, out of five stratified folds."""
    split = StratifiedKFold(5, shuffle=True, random_state=seed)
    forest = RandomForestClassifier(random_state=seed)
    p = cross_val_predict(forest, x, y, cv=split, method="predict_proba")
    return np.asarray(1.0 - p[np.arange(len(p)), np.searchsorted(np.unique(y), y)])


def figures(x: npt.NDArray[np.float64], y: Labels, seed: int) -> list[float]:
    """Return the average precisions of one draw: estimator, forest, `audit`, in sample."""
    labels, wrong = flipped(y, seed)
    table: dict[str, Any] = {f"x{i:02}": column for i, column in enumerate(x.T)}
    rules = induce({**table, TARGET: labels.tolist()}, TARGET)
    targets = {TARGET: labels.tolist()}
    scores = (
        ranked(RuleClassifier(random_state=seed).audit(x, labels)),
        forest_scores(x, labels, seed),
        ranked(audit(rules, table, targets, seed=seed)),
        ranked(audit(rules, table, targets, method="given")),
    )
    return [float(average_precision_score(wrong, score)) for score in scores]


def keel_table(name: str) -> tuple[str, npt.NDArray[np.float64], Labels]:
    """Return a set of KEEL with its categories one-hot."""
    content = read_set(name)
    classes = np.unique(content.iloc[:, -1].astype(str), return_inverse=True)[1]
    return name, get_dummies(content.iloc[:, :-1]).to_numpy(float), classes


def main(draws: int, sets: list[str]) -> None:
    """Print the means over the draws."""
    print(f"average precision, 5 % of the labels flipped, mean of {draws} draws")
    print(f"{'table':20}{'RuleClassifier':>16}{'forest':>8}{'audit':>8}{'in sample':>11}")
    for name, x, y in chain(tables(), map(keel_table, sets)):
        means = np.mean([figures(x, y, seed) for seed in range(draws)], axis=0)
        estimator, forest, out_of_fold, in_sample = means
        columns = f"{estimator:16.3f}{forest:8.3f}{out_of_fold:8.3f}{in_sample:11.3f}"
        print(f"{name:20}{columns}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else 5, sys.argv[2:])
