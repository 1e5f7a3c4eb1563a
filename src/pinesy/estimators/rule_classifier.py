"""Rules as a classifier of scikit-learn."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import check_is_fitted

from pinesy._common.validation import FloatArray, check_degree, listed, object_array
from pinesy.calibration import CalibratedRules, PredictionSets, calibrate
from pinesy.calibration.training_rows import TrainingRows
from pinesy.estimators.feature_table import (
    Columns,
    feature_evidence,
    fitted_names,
    one_sample,
    read_features,
    read_labels,
    seed_of,
    weighted_classes,
)
from pinesy.estimators.tree_rules import tree_rules
from pinesy.exceptions import DataError, TableError
from pinesy.explanations import Explanation, WhyNot, explain, margin, why_not
from pinesy.induction import CardLine, induce_card
from pinesy.learning import learn
from pinesy.learning.learn import Method
from pinesy.rulebase.cascade import Cascade, as_cascade
from pinesy.rulebase.parse import parse
from pinesy.rulebase.rule_set import RuleSet
from pinesy.transforms import probabilities

#: The parameters of induced rules.
INDUCED = ("max_rules", "max_conditions", "small", "monotone", "ordinal", "keep", "features")


class RuleClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier that is a base of rules: it explains itself, and knows when it does not know.

    Without `rules` they are induced from the data (`pinesy.induce`); given rules keep their
    conditions, and their parameters are fitted.

    Parameters
    ----------
    rules : a `Cascade`, a `RuleSet`, or None. Inputs are columns by name (``x0, x1, ...`` of
        arrays)
    target : the attribute that the rules predict; by default their only output, and for induced
        ones the name of the Series of labels, or ``"target"``
    method : how parameters of given rules are fitted: ``"counts"``, ``"gradient"``, ``"exact"``, or
        ``"given"`` to keep them
    max_rules, max_conditions, small, monotone, ordinal, keep, features : of induced rules; see
        `pinesy.induce`
    class_weight : how much rows of each class count: None, ``"balanced"``, or a dict from classes
        to numbers
    random_state : the seed of induction: a whole number, a RandomState, or None

    Attributes
    ----------
    rules_ : the `Cascade` with its parameters
    card_ : of induced rules, the score card: which conditions give how many points to which class
    classes_ : the labels
    calibration_ : after `calibrate`, the rules with their calibration (`CalibratedRules`)
    n_features_in_, feature_names_in_ : of the data in `fit`

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> x, y = load_iris(as_frame=True, return_X_y=True)
    >>> model = RuleClassifier(max_rules=6).fit(x, y)
    >>> bool(model.score(x, y) > 0.9)
    True
    """

    def __init__(
        self,
        rules: Cascade | RuleSet | None = None,
        *,
        target: str | None = None,
        method: Method | str = "counts",
        max_rules: int | None = None,
        max_conditions: int | None = None,
        small: bool = False,
        monotone: Mapping[str, int] | None = None,
        ordinal: Mapping[str, Sequence[Hashable]] | None = None,
        keep: Any = None,
        features: Sequence[str] | None = None,
        class_weight: Any = None,
        random_state: Any = 0,
    ) -> None:
        self.rules = rules
        self.target = target
        self.method = method
        self.max_rules = max_rules
        self.max_conditions = max_conditions
        self.small = small
        self.monotone = monotone
        self.ordinal = ordinal
        self.keep = keep
        self.features = features
        self.class_weight = class_weight
        self.random_state = random_state

    @classmethod
    def from_text(cls, text: str, **options: Any) -> "RuleClassifier":
        """Return a classifier with the rules of a text in the ``.rules`` format, not yet fitted."""
        return cls(parse(text), **options)

    @classmethod
    def from_tree(
        cls, tree: Any, feature_names: Sequence[str] | None = None, **options: Any
    ) -> "RuleClassifier":
        """Return a classifier with the rules of a fitted decision tree, not yet fitted itself.

        Parameters
        ----------
        tree : a fitted `sklearn.tree.DecisionTreeClassifier`
        feature_names : of its features; by default those that it was fitted with, or x0, x1, ...
        """
        names = fitted_names(tree) if feature_names is None else feature_names
        target = options.get("target") or "target"
        return cls(tree_rules(tree, [str(name) for name in names], target), **options)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:  # noqa: N803
        """Induce rules, or fit the parameters of those given.

        Parameters
        ----------
        X : an array of numbers, or a table or an array of objects with numbers and categories;
            NaN and None are unknown
        y : the labels
        sample_weight : of the rows; those of weight 0 do not count at all
        """
        columns = read_features(self, X, reset=True)
        labels, weights = read_labels(y, sample_weight, columns)
        try:
            weights = weighted_classes(self.class_weight, labels, weights)
            self._fit(columns, labels, weights, getattr(y, "name", None))
        except DataError as error:
            raise TableError(str(error)) from error
        return self

    def _fit(
        self, columns: Columns, labels: Any, weights: FloatArray | None, name: Hashable
    ) -> None:
        mask = np.ones(len(labels), dtype=bool) if weights is None else weights > 0.0
        columns = {name: column[mask] for name, column in columns.items()}
        for attribute in ("card_", "calibration_"):  # of an earlier fit
            self.__dict__.pop(attribute, None)
        self.training_rows_ = TrainingRows.of(columns)
        labels, weights = labels[mask], None if weights is None else weights[mask]
        if self.rules is None:
            target = "target" if name is None else str(name)
            while target in columns:
                target += "_"
            self._induce(columns, labels, weights, self.target or target)
        else:
            self._fit_given(as_cascade(self.rules), columns, labels, weights)

    def _induce(self, columns: Columns, labels: Any, weights: FloatArray | None, name: str) -> None:
        self.classes_ = np.unique(labels)
        if len(self.classes_) < 2:
            raise TableError(
                f"the data have one class only, {self.classes_[0]!r}; rules tell two classes or "
                "more apart"
            )
        table = {**columns, name: labels.tolist()}
        options = {option: getattr(self, option) for option in INDUCED}
        self.rules_, self.card_ = induce_card(
            table, name, **options, weights=weights, seed=seed_of(self.random_state)
        )
        self.target_ = name

    def _fit_given(
        self, cascade: Cascade, columns: Columns, labels: Any, weights: FloatArray | None
    ) -> None:
        outputs = [a.name for a in cascade.outputs]
        if self.target not in cascade.sets and (self.target is not None or len(outputs) != 1):
            raise TableError(
                f"which attribute is predicted? target is {self.target!r}; the rules conclude on "
                f"{listed(list(cascade.sets))}"
            )
        self.target_ = outputs[0] if self.target is None else self.target
        output = cascade[self.target_].output
        unknown = [v for v in dict.fromkeys(labels.tolist()) if v not in output]
        if unknown:
            raise TableError(
                f"the rules know no class {unknown[0]!r}; {output.name!r} is one of "
                f"{listed([repr(v) for v in output.domain])}"
            )
        if self.class_weight is not None and self.method not in ("counts", "gradient"):
            raise TableError(
                f"method {self.method!r} counts no rows, so it takes no class_weight; leave it "
                "out, or take method 'counts' or 'gradient'"
            )
        classes = np.asarray(output.domain)  # of their own type, where they have one in common
        is_same = classes.ndim == 1 and classes.tolist() == list(output.domain)
        self.classes_ = classes if is_same else object_array(output.domain)
        self.rules_ = cascade
        if self.method != "given":
            evidence = feature_evidence(columns, cascade.inputs)
            options: dict[str, Any] = {"method": self.method}
            options |= {} if self.method == "exact" else {"weights": weights}
            result = learn(cascade, evidence, {self.target_: labels.tolist()}, **options)
            self.rules_ = result.cascade

    # --- predictions ---------------------------------------------------------------------------

    def predict_possibility(self, X: Any) -> FloatArray:  # noqa: N803
        """Return the possibility of each class, shape ``(n_samples, n_classes)``."""
        evidence = self._table(X)
        inferred = self.rules_.infer(evidence, outputs=[self.target_])
        return np.asarray(inferred[self.target_].degrees)

    def _table(self, features: Any) -> dict[str, Any]:
        """Return rows as evidence."""
        check_is_fitted(self)
        return feature_evidence(read_features(self, features, reset=False), self.rules_.inputs)

    def predict_proba(self, X: Any) -> FloatArray:  # noqa: N803
        """Return the probability of each class: the inverse antipignistic transformation.

        A contradictory distribution is divided by its height first; one that excludes every class
        is taken for one that excludes none.
        """
        return probabilities(self.predict_possibility(X))

    def predict(self, X: Any, certainty: float | None = None) -> npt.NDArray[Any]:  # noqa: N803
        """Return the most possible class of each sample.

        A classifier returns a class even where the rules decide on none: of several most possible
        classes the first in the order of `classes_`, and where rules contradict each other the one
        that they exclude least. `outcomes` says where that is so; with a `certainty` such samples
        get None.

        Parameters
        ----------
        certainty : abstain where the best class is not ahead of every other by at least this; such
            samples get None
        """
        pi = self.predict_possibility(X)
        best = self.classes_[pi.argmax(axis=1)]
        if certainty is None:
            return np.asarray(best)
        predicted = best.astype(object)
        predicted[_class_outcomes(pi, certainty) != "decided"] = None
        return np.asarray(predicted)

    def outcomes(self, X: Any, certainty: float = 0.5) -> npt.NDArray[np.str_]:  # noqa: N803
        """Return whether ``predict(X, certainty)`` decides, or why not: a code for each sample.

        ``"decided"``: one class is ahead of every other by the certainty; ``"no_rule"``: all
        classes are fully possible, no rule speaks for or against any; ``"contradiction"``: the
        rules exclude every class to some degree, and none is far enough ahead; ``"several"``:
        several classes remain that are nearly as possible.
        """
        return _class_outcomes(self.predict_possibility(X), certainty)

    # --- guarantees ----------------------------------------------------------------------------

    def calibrate(
        self,
        X: Any,  # noqa: N803
        y: Any,
        sample_weight: Any = None,
        class_conditional: bool = False,
    ) -> Self:
        """Calibrate on rows that were not used in `fit`; sets `calibration_`.

        `predict` and the possibilities stay as they are: calibration makes ties, because p-values
        are shares of rows.

        Parameters
        ----------
        X, y : rows and their true labels
        sample_weight : how much more frequent rows like each are among those to come, if their
            features are distributed differently (the ratio of densities, up to a constant factor).
            New rows then need weights, too.
        class_conditional : count the rows of each class apart, so that the guarantee holds for
            each class by itself
        """
        check_is_fitted(self)
        columns = read_features(self, X, reset=False)
        labels, weights = read_labels(y, sample_weight, columns)
        try:
            self.training_rows_.refuse(columns)
            self.calibration_ = calibrate(
                self.rules_,
                feature_evidence(columns, self.rules_.inputs),
                {self.target_: labels.tolist()},
                weights=weights,
                class_conditional=class_conditional,
            )
        except DataError as error:
            raise TableError(str(error)) from error
        return self

    def _calibrated(self) -> CalibratedRules:
        check_is_fitted(self)
        if not hasattr(self, "calibration_"):
            raise TableError(
                "the classifier is not calibrated; call calibrate(X, y) with rows that were not "
                "used in fit"
            )
        return self.calibration_

    def calibration_evidence(self, X: Any) -> dict[str, Any]:  # noqa: N803
        """Return rows as `calibration_` takes them; categories never seen in `fit` are unknown."""
        return self._table(X)

    def predict_calibrated(self, X: Any, sample_weight: Any = None) -> FloatArray:  # noqa: N803
        """Return calibrated possibilities ``(n_samples, n_classes)``; at least one class has 1.

        A class is excluded at all levels up to 1 minus its possibility. `sample_weight` is as in
        `predict_set`.
        """
        calibration = self._calibrated()
        evidence = self._table(X)
        weights = self._new_weights(sample_weight, evidence)
        return np.asarray(calibration.infer(evidence, weights=weights)[self.target_].degrees)

    def predict_set(
        self,
        X: Any,  # noqa: N803
        level: float = 0.95,
        sample_weight: Any = None,
    ) -> PredictionSets:
        """Return the classes that are not excluded at a level, for each row.

        ``sets[model.target_]`` is a list of tuples, ``sets.outcomes[model.target_]`` says why
        there is not one class alone, and ``calibration_.guarantee`` what is guaranteed.

        Parameters
        ----------
        sample_weight : of the rows, on the scale of those of `calibrate`: needed if these have
            weights, refused if not
        """
        calibration = self._calibrated()
        evidence = self._table(X)
        weights = self._new_weights(sample_weight, evidence)
        return calibration.predict_set(evidence, level, weights=weights)

    def _new_weights(self, sample_weight: Any, evidence: Mapping[str, Any]) -> FloatArray | None:
        n = len(next(iter(evidence.values())))
        try:
            transform = self._calibrated().transform
            return transform.new_weights(sample_weight, n, "sample_weight")
        except DataError as error:
            raise TableError(str(error)) from error

    # --- explanations --------------------------------------------------------------------------

    def get_rules(self) -> Cascade:
        """Return the rules with their parameters."""
        check_is_fitted(self)
        return self.rules_

    def explain(self, x: Any, value: Hashable = None) -> Explanation:
        """Explain the prediction of one sample (a dict, a row of a table, an array of numbers).

        Parameters
        ----------
        value : the class to explain; by default the most possible one
        """
        evidence = self._evidence(x)
        output = self.rules_[self.target_].output
        return explain(self.rules_, evidence, output if value is None else output.isin({value}))

    def why_not(self, x: Any, value: Hashable, **options: Any) -> WhyNot:
        """Return which rules hold a class down for one sample, and what would have to change."""
        return why_not(self.rules_, self._evidence(x), value, self.target_, **options)

    def margin(self, x: Any) -> float:
        """Return how far all input degrees of one sample may move before the decision changes."""
        return float(margin(self.rules_, self._evidence(x), self.target_))

    def _evidence(self, x: Any) -> dict[str, Any]:
        check_is_fitted(self)
        sample = one_sample(x, fitted_names(self))
        return {a.name: sample.get(a.name) for a in self.rules_.inputs}

    def points(self, x: Any) -> list[CardLine]:
        """Return the lines of the score card that give points for one sample.

        Induced rules have a card (`card_`). Where a value is unknown, lines that may or may not
        hold are left out.
        """
        check_is_fitted(self)
        if not hasattr(self, "card_"):
            raise TableError("only induced rules give points; use explain for rules of your own")
        names = [line.attribute for line in self.card_.lines]
        if not names:
            return []
        pi = self.rules_.infer(self._evidence(x), outputs=names)
        return [line for line in self.card_.lines if pi[line.attribute].necessity({line.points})]

    def __str__(self) -> str:
        """Return the rules of a fitted classifier: the score card of induced ones."""
        if hasattr(self, "card_"):
            return str(self.card_)
        if hasattr(self, "rules_"):
            return "\n".join(map(str, self.rules_.rule_sets))
        return repr(self)

    def _html_repr(self) -> str:
        """Return scikit-learn's diagram and, once fitted, the score card or the rules."""
        html = str(estimator_html_repr(self))
        if hasattr(self, "card_"):
            return html + self.card_._repr_html_()
        return html + (self.rules_._repr_html_() if hasattr(self, "rules_") else "")

    def _repr_html_inner(self) -> str:  # of scikit-learn before 1.8
        return self._html_repr()

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags: numbers, categories and missing values are accepted."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _class_outcomes(pi: FloatArray, certainty: float) -> npt.NDArray[np.str_]:
    """Return whether a class is predicted with a certainty, or why not: a code for each row."""
    least = check_degree(certainty, "certainty")
    top = np.sort(pi, axis=1)[:, ::-1]
    is_ahead = (top[:, 0] > top[:, 1]) & (top[:, 0] - top[:, 1] >= least)
    undecided = np.where(top[:, -1] == 1.0, "no_rule", "several")
    return np.where(is_ahead, "decided", np.where(top[:, 0] < 1.0, "contradiction", undecided))
