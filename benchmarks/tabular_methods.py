"""The classifiers that `tabular.py` compares: each is fitted to one table and tried on another."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy.induction import TrainingTable, induce_points
from pinesy.induction.candidate_rules import n_conditions
from pinesy.transforms import antipignistic_inverse

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Fitted:
    """Chances of the classes in the rows of a test table, and the size of the model.

    Attributes
    ----------
    chances : shape ``(n_rows, n_classes)``
    certainty : how sure the prediction of each row is
    rules, conditions : how many, and how many conditions a rule on average; None if it has none
    """

    chances: Floats
    certainty: Floats
    rules: float | None = None
    conditions: float | None = None


Method = Callable[[TrainingTable, TrainingTable], Fitted]


def numbers(table: TrainingTable) -> Floats:
    """Return the columns as numbers, categories as one column each."""
    columns = []
    for column in table.columns:
        if column.domain:
            columns += [(column.values == i).astype(float) for i in range(len(column.domain))]
        else:
            columns.append(column.values)
    return np.column_stack(columns)


def all_classes(chances: Any, seen: Any, n_classes: int) -> Floats:
    """Return chances with a column for each class, also for those that training did not have."""
    found = np.zeros((len(chances), n_classes))
    found[:, np.asarray(seen, dtype=int)] = chances
    return found


def pinesy(train: TrainingTable, test: TrainingTable) -> Fitted:
    found = induce_points(train)
    degrees = found.possibility(test.columns)
    chances = antipignistic_inverse(degrees)
    certainty = 1.0 - np.sort(degrees, axis=1)[:, -2]
    # Certainty decides, and the chance where it ties: of the same order, but finer.
    sizes = [n_conditions(box) for box in found.model.boxes]
    rules, mean = len(sizes), float(np.mean(sizes)) if sizes else 0.0
    return Fitted(chances, certainty + 1e-6 * chances.max(axis=1), rules, mean)


def fitted(model: Any, train: TrainingTable, test: TrainingTable) -> Fitted:
    """Return what a classifier of scikit-learn's kind says."""
    model.fit(numbers(train), train.labels)
    seen = model.classes_ if hasattr(model, "classes_") else np.unique(train.labels)
    chances = all_classes(model.predict_proba(numbers(test)), seen, len(train.classes))
    return Fitted(chances, chances.max(axis=1))


def forest(train: TrainingTable, test: TrainingTable) -> Fitted:
    ensemble = import_module("sklearn.ensemble")
    return fitted(ensemble.RandomForestClassifier(100, random_state=0), train, test)


def logistic(train: TrainingTable, test: TrainingTable) -> Fitted:
    linear, pipeline = import_module("sklearn.linear_model"), import_module("sklearn.pipeline")
    scaler = import_module("sklearn.preprocessing").StandardScaler()
    model = linear.LogisticRegression(max_iter=1000)
    return fitted(pipeline.make_pipeline(scaler, model), train, test)


def cart(train: TrainingTable, test: TrainingTable) -> Fitted:
    """Return a tree, pruned as much as is best in five inner folds."""
    selection, trees = import_module("sklearn.model_selection"), import_module("sklearn.tree")
    whole = trees.DecisionTreeClassifier(random_state=0)
    alphas = whole.cost_complexity_pruning_path(numbers(train), train.labels).ccp_alphas
    tried = np.unique(np.quantile(np.maximum(alphas, 0.0), np.linspace(0, 0.98, 12)))
    search = selection.GridSearchCV(whole, {"ccp_alpha": tried}, cv=5)
    found = fitted(search, train, test)
    tree = search.best_estimator_
    return Fitted(found.chances, found.certainty, int(tree.get_n_leaves()), _mean_depth(tree.tree_))


def _mean_depth(tree: Any) -> float:
    depths, waiting = [], [(0, 0)]
    while waiting:
        node, depth = waiting.pop()
        if tree.children_left[node] < 0:
            depths.append(depth)
        else:
            below = (tree.children_left[node], tree.children_right[node])
            waiting += [(child, depth + 1) for child in below]
    return float(np.mean(depths))


def ripper(train: TrainingTable, test: TrainingTable) -> Fitted:
    """Return RIPPER: for two classes on the rarer one, for more on each against the others."""
    counts = np.bincount(train.labels, minlength=len(train.classes))
    two = len(counts) == 2
    goals = [int(counts.argmin())] if two else [int(c) for c in np.flatnonzero(counts)]
    chances = np.full((len(test.labels), len(counts)), 1e-9)
    rules: list[Any] = []
    for goal in goals:
        model = import_module("wittgenstein").RIPPER(random_state=0)
        model.fit(_named(train), (train.labels == goal).astype(int), pos_class=1)
        chances[:, goal] = np.asarray(model.predict_proba(_named(test)))[:, 1]
        rules += model.ruleset_.rules
    if two:
        chances[:, 1 - goals[0]] = 1.0 - chances[:, goals[0]]
    chances /= chances.sum(axis=1, keepdims=True)
    sizes = [len(rule.conds) for rule in rules]
    return Fitted(chances, chances.max(axis=1), len(rules), float(np.mean(sizes or [0])))


def _named(table: TrainingTable) -> Any:
    """Return a DataFrame with numbers as numbers and categories as text."""
    frame = {
        c.name: [str(c.domain[int(v)]) for v in c.values] if c.domain else c.values
        for c in table.columns
    }
    return import_module("pandas").DataFrame(frame)


def figs(train: TrainingTable, test: TrainingTable) -> Fitted:
    """Return greedy tree sums (imodels), with up to 20 splits."""
    model = import_module("imodels").FIGSClassifier(max_rules=20)
    found = fitted(model, train, test)
    return Fitted(found.chances, found.certainty, float(model.complexity_))


def ebm(train: TrainingTable, test: TrainingTable) -> Fitted:
    glassbox = import_module("interpret.glassbox")
    return fitted(glassbox.ExplainableBoostingClassifier(random_state=0, n_jobs=1), train, test)


METHODS: dict[str, Method] = {
    "pinesy": pinesy,
    "forest": forest,
    "cart": cart,
    "logistic": logistic,
    "ripper": ripper,
    "figs": figs,
    "ebm": ebm,
}
