"""The classifiers that `tabular.py` compares: each is fitted to a table and tried on another.

All have the settings of their authors, but for CART, which is pruned by inner validation, and
GOSDT, which has none for all tables. The optional packages are in the extra ``tabular``; a method
whose package is not there is skipped. Two that belong here do not install beside current packages:

* CORELS (``corels`` 1.1.29) has no wheel for Python 3.11, and its ``setup.py`` stops with an
  `AttributeError` on ``__NUMPY_SETUP__`` under current builds; GOSDT is its successor for trees.
* ``rulelist`` 0.2.0 demands scikit-learn 0.23 and SciPy 1.5, which have no wheels for Python 3.11.
"""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import version
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy.induction import TrainingTable, read_training_table

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Fitted:
    """A fitted classifier.

    Attributes
    ----------
    chances : return the chance of each class in each row of a table
    lines : what a reader would have to read: lines of a card, rules, leaves, coefficients, or cells
        of the tables of an EBM
    conditions : of all lines together; None where lines have none
    """

    chances: Callable[[TrainingTable], Floats]
    lines: int | None = None
    conditions: int | None = None


Method = Callable[[TrainingTable], Fitted]


# --- tables as methods take them ------------------------------------------------------------------


def numbers(table: TrainingTable) -> Floats:
    """Return the columns as numbers, categories as one column each; NaN where a cell is blank."""
    columns = []
    for column in table.columns:
        if column.domain:
            is_blank = np.isnan(column.values)
            indicators = [column.values == i for i in range(len(column.domain))]
            columns += [np.where(is_blank, np.nan, indicator) for indicator in indicators]
        else:
            columns.append(column.values)
    return np.column_stack(columns)


def codes(table: TrainingTable) -> Floats:
    """Return the columns as numbers, categories as their indices; NaN where a cell is blank."""
    return np.column_stack([column.values for column in table.columns])


def frame(table: TrainingTable) -> Any:
    """Return a DataFrame with numbers as numbers and categories as text; None where blank."""
    columns = {}
    for column in table.columns:
        if column.domain:
            texts = np.array([*map(str, column.domain), None], dtype=object)
            index = np.where(np.isnan(column.values), -1, column.values).astype(int)
            columns[column.name] = texts[index]
        else:
            columns[column.name] = column.values
    return import_module("pandas").DataFrame(columns)


def all_classes(chances: Any, classes: Any, n_classes: int) -> Floats:
    """Return chances with a column for each class, also for those that training did not have."""
    complete = np.zeros((len(chances), n_classes))
    complete[:, np.asarray(classes, dtype=int)] = chances
    return complete


def fit_sklearn(
    model: Any,
    train: TrainingTable,
    form: Callable[[TrainingTable], Any] = numbers,
) -> Callable[[TrainingTable], Floats]:
    """Fit a classifier of scikit-learn's kind; return the function that gives its chances."""
    model.fit(form(train), train.labels)
    classes = model.classes_ if hasattr(model, "classes_") else np.unique(train.labels)
    return lambda test: all_classes(model.predict_proba(form(test)), classes, len(train.classes))


# --- pinesy ---------------------------------------------------------------------------------------


def fit_card(train: TrainingTable, **options: Any) -> Any:
    """Return a fitted `RuleClassifier`; all columns are used, whatever they are called."""
    classifier: Any = import_module("pinesy.estimators").RuleClassifier
    names = [column.name for column in train.columns]
    return classifier(features=names, **options).fit(frame(train), train.labels)


def pinesy(train: TrainingTable, **options: Any) -> Fitted:
    """Return the score card of `RuleClassifier`."""
    model = fit_card(train, **options)
    n = sum(line.premise.count(" and ") + 1 for line in model.card_.lines)
    return Fitted(_rule_chances(model, train), len(model.card_.lines), n)


def pinesy_small(train: TrainingTable) -> Fitted:
    """Return the score card with fewer lines."""
    return pinesy(train, small=True)


def plain_rules(train: TrainingTable) -> Fitted:
    """Return the rules ``if premise then class [certainty]`` of a score card."""
    card = fit_card(train)
    plain = card.to_rules()
    classifier: Any = import_module("pinesy.estimators").RuleClassifier
    model = classifier(plain.rules, method="given", target=card.target_)
    model.fit(frame(train), train.labels)
    premises = [line.premise for line in plain.lines]
    n = sum(len(premise.propositions) for premise in premises if premise is not None)
    return Fitted(_rule_chances(model, train), len(premises), n)


def _rule_chances(model: Any, train: TrainingTable) -> Callable[[TrainingTable], Floats]:
    n = len(train.classes)
    return lambda test: all_classes(model.predict_proba(frame(test)), model.classes_, n)


@cache
def learner_version(method: str) -> str:
    """Return a key of what pinesy learns: records of another key are computed again.

    It is a hash of the sizes and of the chances (three digits) on three small drawn tables, so that
    it stays the same as long as the learner gives the same.
    """
    random = np.random.default_rng(0)
    x = random.normal(size=(4, 240))
    blank = np.where(random.random(240) < 0.1, np.nan, x[0])
    texts = np.array(["red", "green", "blue"])[(3 * random.random(240)).astype(int)]
    noisy = x[0] + x[1] * x[2] + (texts == "red") + random.logistic(size=240) / 2
    inputs = {"a": blank, "b": x[1], "c": x[2], "d": x[3], "e": texts.tolist()}
    labels = (noisy > 0, np.digitize(noisy, [-1.0, 0.0, 1.0]), random.random(240) < 0.5)
    results = []
    for y in labels:
        table = read_training_table({**inputs, "y": y.tolist()}, "y")
        fitted = METHODS[method](table)
        chances = fitted.chances(table).round(3) + 0.0  # no -0
        results.append([fitted.lines, fitted.conditions, chances.tolist()])
    return hashlib.sha256(json.dumps(results).encode()).hexdigest()[:10]


# --- others ---------------------------------------------------------------------------------------


def forest(train: TrainingTable) -> Fitted:
    model = import_module("sklearn.ensemble").RandomForestClassifier(100, random_state=0)
    chances = fit_sklearn(model, train)
    return Fitted(chances, sum(int(tree.get_n_leaves()) for tree in model.estimators_))


def boosting(train: TrainingTable) -> Fitted:
    """Return HistGradientBoosting; categories of more levels than it takes are target-encoded."""
    ensemble = import_module("sklearn.ensemble")
    is_category = np.array([bool(c.domain) for c in train.columns])
    is_long = np.array([len(c.domain) > 255 for c in train.columns])
    options: dict[str, Any] = {"random_state": 0}
    if not is_long.any():
        model = ensemble.HistGradientBoostingClassifier(categorical_features=is_category, **options)
        chances = fit_sklearn(model, train, codes)
        return Fitted(chances, _boosting_leaves(model))
    encoder = import_module("sklearn.preprocessing").TargetEncoder(random_state=0)
    columns = import_module("sklearn.compose").ColumnTransformer(
        [("levels", encoder, is_category)], remainder="passthrough"
    )
    model = ensemble.HistGradientBoostingClassifier(**options)
    pipeline = import_module("sklearn.pipeline").make_pipeline(columns, model)
    return Fitted(fit_sklearn(pipeline, train, codes), _boosting_leaves(model))


def _boosting_leaves(model: Any) -> int:
    return sum(int(tree.get_n_leaf_nodes()) for trees in model._predictors for tree in trees)


def logistic(train: TrainingTable) -> Fitted:
    """Return logistic regression; blanks get the mean, and a column that says so."""
    linear, pipeline = import_module("sklearn.linear_model"), import_module("sklearn.pipeline")
    scaler = import_module("sklearn.preprocessing").StandardScaler()
    imputer = import_module("sklearn.impute").SimpleImputer(
        add_indicator=True, keep_empty_features=True
    )
    model = linear.LogisticRegression(max_iter=1000)
    chances = fit_sklearn(pipeline.make_pipeline(imputer, scaler, model), train)
    return Fitted(chances, int(np.count_nonzero(model.coef_)))


def cart(train: TrainingTable) -> Fitted:
    """Return a tree, pruned as much as is best in five inner folds."""
    selection, trees = import_module("sklearn.model_selection"), import_module("sklearn.tree")
    tree = trees.DecisionTreeClassifier(random_state=0)
    alphas = tree.cost_complexity_pruning_path(numbers(train), train.labels).ccp_alphas
    candidates = np.unique(np.quantile(np.maximum(alphas, 0.0), np.linspace(0, 0.98, 12)))
    search = selection.GridSearchCV(tree, {"ccp_alpha": candidates}, cv=5)
    chances = fit_sklearn(search, train)
    best = search.best_estimator_
    return Fitted(chances, int(best.get_n_leaves()), _leaf_depths(best.tree_))


def _leaf_depths(tree: Any) -> int:
    """Return the sum of the depths of all leaves."""
    total, waiting = 0, [(0, 0)]
    while waiting:
        node, depth = waiting.pop()
        if tree.children_left[node] < 0:
            total += depth
        else:
            children = (tree.children_left[node], tree.children_right[node])
            waiting += [(child, depth + 1) for child in children]
    return total


def ripper(train: TrainingTable) -> Fitted:
    """Return RIPPER: for two classes on the rarer one, for more on each against the others."""
    classifier = import_module("wittgenstein").RIPPER
    goals = _goals(train)
    models = {}
    for goal in goals:
        models[goal] = classifier(random_state=0)
        models[goal].fit(frame(train), (train.labels == goal).astype(int), pos_class=1)
    rules = [rule for model in models.values() for rule in model.ruleset_.rules]

    def chances(test: TrainingTable) -> Floats:
        table = frame(test)
        by_goal = {g: np.asarray(m.predict_proba(table))[:, 1] for g, m in models.items()}
        return _normalized(by_goal, len(test.labels), len(train.classes))

    return Fitted(chances, len(rules), sum(len(rule.conds) for rule in rules))


def _goals(train: TrainingTable) -> list[int]:
    """Return the classes to learn against the others: of two classes the rarer one."""
    counts = np.bincount(train.labels, minlength=len(train.classes))
    return [int(counts.argmin())] if len(counts) == 2 else np.flatnonzero(counts).tolist()


def _normalized(by_goal: dict[int, Floats], n_rows: int, n_classes: int) -> Floats:
    """Return chances of all classes from those of each class against the others."""
    chances = np.full((n_rows, n_classes), 1e-9)
    for goal, values in by_goal.items():
        chances[:, goal] = np.maximum(values, 1e-9)
    if n_classes == 2:
        (goal,) = by_goal
        chances[:, 1 - goal] = 1.0 - chances[:, goal]
    return np.asarray(chances / chances.sum(axis=1, keepdims=True))


def rulefit(train: TrainingTable) -> Fitted:
    """Return RuleFit (imodels), which knows two classes: for more, each against the others."""
    classifier = import_module("imodels").RuleFitClassifier
    features = numbers(train)
    models = {}
    for goal in _goals(train):
        models[goal] = classifier(random_state=0)
        models[goal].fit(features, (train.labels == goal).astype(int))
    weighted = [rule for model in models.values() for rule in model.rules_ if rule.args[0] != 0.0]
    linear = sum(_linear_terms(model) for model in models.values())

    def chances(test: TrainingTable) -> Floats:
        table = numbers(test)
        by_goal = {g: np.asarray(m.predict_proba(table))[:, 1] for g, m in models.items()}
        return _normalized(by_goal, len(test.labels), len(train.classes))

    n = sum(len(rule.agg_dict) for rule in weighted)
    return Fitted(chances, len(weighted) + linear, n + linear)


def _linear_terms(model: Any) -> int:
    return int(np.count_nonzero(np.asarray(model.coef)[: model.n_features_]))


def figs(train: TrainingTable) -> Fitted:
    """Return greedy tree sums (imodels), with up to 20 splits."""
    model = import_module("imodels").FIGSClassifier(max_rules=20)
    chances = fit_sklearn(model, train)
    return Fitted(chances, int(model.complexity_))


def ebm(train: TrainingTable) -> Fitted:
    """Return an explainable boosting machine: a table for each column and for pairs of them."""
    glassbox = import_module("interpret.glassbox")
    kinds = ["nominal" if column.domain else "continuous" for column in train.columns]
    model = glassbox.ExplainableBoostingClassifier(feature_types=kinds, random_state=0, n_jobs=1)
    chances = fit_sklearn(model, train, frame)
    n_classes = max(len(model.classes_), 2)
    width = 1 if n_classes == 2 else n_classes
    return Fitted(chances, sum(scores.size // width for scores in model.term_scores_))


def gosdt(train: TrainingTable) -> Fitted:
    """Return an optimal sparse tree, on the cuts that stumps of a boosted model use.

    A leaf costs as much as half a per cent of errors; the depth is 5 at most. The search ends after
    a minute with the best tree so far. The leaves give the shares of the training rows in them (one
    more of each class). Version 1.0.4 cannot predict with scikit-learn 1.8 or later, so the tree is
    read from its JSON form. Its choice of cuts looks at the first of several classes only.
    """
    package = import_module("gosdt")
    if len(train.classes) > 2:
        raise ValueError("GOSDT's cuts are for two classes")
    binarizer = package.ThresholdGuessBinarizer(n_estimators=40, max_depth=1, random_state=0)
    binary = np.asarray(binarizer.fit_transform(numbers(train), train.labels), dtype=bool)
    cost = max(0.005, 1.0 / len(train.labels))
    model = package.GOSDTClassifier(
        regularization=cost, depth_budget=5, time_limit=60, similar_support=False
    )
    model.fit(binary, train.labels)
    leaves = _tree_leaves(json.loads(model.result_.model)[0])
    n_classes = len(train.classes)
    index = _leaf_index(leaves, binary)
    counts = np.ones((len(leaves), n_classes))
    np.add.at(counts, (index, train.labels), 1.0)
    shares = counts / counts.sum(axis=1, keepdims=True)

    def chances(test: TrainingTable) -> Floats:
        table = np.asarray(binarizer.transform(numbers(test)), dtype=bool)
        return np.asarray(shares[_leaf_index(leaves, table)])

    return Fitted(chances, len(leaves), sum(map(len, leaves)))


Path = tuple[tuple[int, bool], ...]


def _tree_leaves(node: dict[str, Any], path: Path = ()) -> list[Path]:
    """Return the conditions of each leaf of a tree in GOSDT's JSON form."""
    if "prediction" in node:
        return [path]
    feature = int(node["feature"])
    return [
        leaf
        for side in (True, False)
        for leaf in _tree_leaves(node["true" if side else "false"], (*path, (feature, side)))
    ]


def _leaf_index(leaves: list[Path], binary: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    """Return the index of the leaf that each row reaches."""
    index = np.zeros(len(binary), dtype=np.int64)
    for number, leaf in enumerate(leaves):
        reached = np.ones(len(binary), dtype=bool)
        for feature, side in leaf:
            reached &= binary[:, feature] == side
        index[reached] = number
    return index


METHODS: dict[str, Method] = {
    "pinesy": pinesy,
    "pinesy-small": pinesy_small,
    "pinesy-rules": plain_rules,
    "ebm": ebm,
    "boosting": boosting,
    "forest": forest,
    "logistic": logistic,
    "cart": cart,
    "rulefit": rulefit,
    "figs": figs,
    "ripper": ripper,
    "gosdt": gosdt,
}
#: Records of these have the version of what they learn.
PINESY = ("pinesy", "pinesy-small", "pinesy-rules")
#: Methods that do not take blanks.
WITHOUT_BLANKS = ("rulefit", "figs", "ripper", "gosdt")
#: The package that a method is of, if it is not scikit-learn, and the module to import.
PACKAGES = {
    "ebm": ("interpret-core", "interpret.glassbox"),
    "rulefit": ("imodels", "imodels"),
    "figs": ("imodels", "imodels"),
    "ripper": ("wittgenstein", "wittgenstein"),
    "gosdt": ("gosdt", "gosdt"),
}


def method_version(method: str) -> str:
    """Return what learns, for the records; raise an error if it is not installed.

    For pinesy it is a key of what it learns, for others their package and its version.
    """
    if method in PINESY:
        return learner_version(method)
    package, module = PACKAGES.get(method, ("scikit-learn", "sklearn"))
    import_module(module)
    return f"{package} {version(package)}"
