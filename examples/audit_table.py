"""Find wrong labels in real tables: 5 % are flipped; who ranks them first.

Three methods; none judges a label by what was learned from it (5 folds): how much more
possible another class is by induced rules, the same by a decision tree's rules with counted
parameters, and by the probabilities of logistic regression.
Needs ``pip install '.[sklearn]'``. One draw of the smallest table; with a
number, so many draws of all tables.
"""

import sys
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from pinesy.estimators import RuleClassifier

TABLES = {"breast cancer": load_breast_cancer, "wine": load_wine, "iris": load_iris}


def flipped(y: Any, seed: int) -> tuple[Any, Any]:
    """Return labels, 5 % of them wrong, and a mask of the wrong ones."""
    rng = np.random.default_rng(seed)
    wrong = np.zeros(len(y), dtype=bool)
    wrong[rng.choice(len(y), round(0.05 * len(y)), replace=False)] = True
    classes = np.unique(y)
    others = (y + rng.integers(1, len(classes), len(y))) % len(classes)
    return np.where(wrong, others, y), wrong


def out_of_fold(degrees: Callable[[Any, Any, Any], Any], x: Any, y: Any, seed: int) -> Any:
    """Return how suspicious each label is: the lead of the best class over it, by other folds."""
    suspicion = np.empty(len(y))
    for train, test in StratifiedKFold(5, shuffle=True, random_state=seed).split(x, y):
        class_degrees = degrees(x[train], y[train], x[test])
        suspicion[test] = class_degrees.max(axis=1) - class_degrees[np.arange(len(test)), y[test]]
    return suspicion


def by_induced_rules(x: Any, y: Any, new: Any) -> Any:
    """Return what induced rules find possible."""
    return RuleClassifier().fit(x, y).predict_possibility(new)


def by_tree_rules(x: Any, y: Any, new: Any) -> Any:
    """Return what the rules of a small tree find possible, with counted parameters."""
    tree = DecisionTreeClassifier(max_depth=3, min_samples_leaf=5, random_state=0).fit(x, y)
    return RuleClassifier.from_tree(tree, method="counts").fit(x, y).predict_possibility(new)


def by_logistic_regression(x: Any, y: Any, new: Any) -> Any:
    """Return the probabilities of logistic regression."""
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    return clone(model).fit(x, y).predict_proba(new)


METHODS = {
    "induced rules": by_induced_rules,
    "a tree's rules": by_tree_rules,
    "logistic regression": by_logistic_regression,
}


def main(draws: int, tables: Iterable[str] = TABLES) -> None:
    """Print average precision, precision among as many as are wrong, recall among twice as many."""
    print(
        f"5 % of the labels flipped, mean of {draws} draws: average precision / precision / recall"
    )
    for table in tables:
        x, y = TABLES[table](return_X_y=True)
        for method, degrees in METHODS.items():
            scores = []
            for seed in range(draws):
                noisy, wrong = flipped(y, seed)
                suspicion = out_of_fold(degrees, x, noisy, seed)
                order, k = np.argsort(-suspicion, kind="stable"), int(wrong.sum())
                scores.append(
                    (
                        average_precision_score(wrong, suspicion),
                        wrong[order[:k]].mean(),
                        wrong[order[: 2 * k]].sum() / k,
                    )
                )
            numbers = " / ".join(f"{score:.2f}" for score in np.mean(scores, axis=0))
            print(f"  {table:14} {method:20} {numbers}")


if __name__ == "__main__":
    if sys.argv[1:]:
        main(int(sys.argv[1]))
    else:
        main(1, ["iris"])
