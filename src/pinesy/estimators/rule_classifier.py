"""Rules as a classifier of scikit-learn."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self, cast
from warnings import catch_warnings, simplefilter

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import _safe_indexing, estimator_html_repr
from sklearn.utils.validation import check_is_fitted

from pinesy._common.validation import FloatArray, check_degree, listed, object_array
from pinesy.calibration import CalibratedRules, PredictionSets, calibrate
from pinesy.calibration.training_rows import TrainingRows
from pinesy.estimators.feature_table import (
    Columns,
    category_columns,
    feature_evidence,
    fitted_names,
    one_sample,
    read_features,
    read_labels,
    seed_of,
    weighted_classes,
)
from pinesy.estimators.label_audit import AuditTable
from pinesy.estimators.tree_rules import tree_rules
from pinesy.evidence.evidence_form import evidence_rows
from pinesy.evidence.rows import Rows
from pinesy.evidence.unseen_values import without_unseen
from pinesy.exceptions import DataError, DataWarning, TableError
from pinesy.explanations import Explanation, WhyNot, explain, margin, why_not
from pinesy.guarantees.decide import Costs, decide
from pinesy.guarantees.decisions import SelectiveDecisions
from pinesy.induction import CardCascade, CardLine, CardScores, PlainRules, ScoreCard, induce_card
from pinesy.induction.plain_rules import compare_plain_rules, list_plain_rules
from pinesy.learning import Audit, DecisionReport, audit, learn
from pinesy.learning.audit import Judged
from pinesy.learning.class_scores import class_scores
from pinesy.learning.evaluate import report_with_card
from pinesy.learning.learn import Method
from pinesy.learning.learning_arguments import batch_of
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
    selective_ : after `decide`, the rules with their threshold (`SelectiveRules`)
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
            self._fit(X, columns, labels, weights, getattr(y, "name", None))
        except DataError as error:
            raise TableError(str(error)) from error
        return self

    def _fit(
        self, x: Any, columns: Columns, labels: Any, weights: FloatArray | None, name: Hashable
    ) -> None:
        mask = np.ones(len(labels), dtype=bool) if weights is None else weights > 0.0
        columns = {name: column[mask] for name, column in columns.items()}
        for attribute in (
            "card_",
            "calibration_",
            "selective_",
            "_fitted_rows",
        ):  # of an earlier fit
            self.__dict__.pop(attribute, None)
        self.training_rows_ = TrainingRows.of(columns)
        labels, weights = labels[mask], None if weights is None else weights[mask]
        if self.rules is None:
            target = "target" if name is None or name == "" else str(name)
            while target in columns:
                target += "_"
            columns |= category_columns(x, mask)
            self._induce(columns, labels, weights, self.target or target)
        else:
            self._fit_given(as_cascade(self.rules), columns, labels, weights)

    def _induce(self, columns: Columns, labels: Any, weights: FloatArray | None, name: str) -> None:
        self.classes_ = np.unique(labels)
        if len(self.classes_) < 2:
            raise TableError(
                f"the data have one class only, {self.classes_.tolist()[0]!r} (rows of weight 0 do "
                "not count); rules tell two classes or more apart"
            )
        table = {**columns, name: labels.tolist()}
        options = {option: getattr(self, option) for option in INDUCED}
        rules, self.card_ = induce_card(
            table, name, **options, weights=weights, seed=seed_of(self.random_state)
        )
        self.rules_: Cascade = rules
        self._fitted_rows = (columns, labels, weights)
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
        """Return the possibility of each class, shape ``(n_samples, n_classes)``.

        This is the cautious reading: a blank may be any value, and nothing is guessed.
        """
        card = self._card_evidence(X)
        if card is not None:
            return card[0].cautious_possibility(card[1])
        inferred = self.rules_.infer(self._table(X), outputs=[self.target_])
        return np.asarray(inferred[self.target_].degrees)

    def _card_evidence(self, features: Any) -> tuple[ScoreCard, dict[str, Any]] | None:
        """Return the score card of induced rules, and rows as its evidence; None of other rules."""
        check_is_fitted(self)
        if not isinstance(self.rules_, CardCascade):
            return None
        card = self.rules_.card
        return card, feature_evidence(read_features(self, features, reset=False), card.inputs)

    def _scores(self, features: Any) -> CardScores | None:
        card = self._card_evidence(features)
        return None if card is None else card[0].score(card[1])

    def _table(self, features: Any) -> dict[str, Any]:
        """Return rows as evidence."""
        check_is_fitted(self)
        return feature_evidence(read_features(self, features, reset=False), self.rules_.inputs)

    def predict_proba(self, X: Any) -> FloatArray:  # noqa: N803
        """Return the probability of each class: the inverse antipignistic transformation.

        Of induced rules it is that of the score card: a line that a blank leaves open gives the
        points that are expected of it. Otherwise it is that of `predict_possibility`: a
        contradictory distribution is divided by its height first, and one that excludes every
        class is taken for one that excludes none.
        """
        scores = self._scores(X)
        return probabilities(self.predict_possibility(X)) if scores is None else scores.probability

    def predict(self, X: Any, certainty: float | None = None) -> npt.NDArray[Any]:  # noqa: N803
        """Return the most possible class of each sample; of induced rules, that of most points.

        A classifier returns a class even where the rules decide on none: of several such classes
        the first in the order of `classes_`, and where rules contradict each other the one that
        they exclude least. `outcomes` says where that is so; with a `certainty` such samples get
        None.

        Parameters
        ----------
        certainty : abstain where the best class is not ahead of every other by at least this; such
            samples get None
        """
        scores = self._scores(X)
        pi = self.predict_possibility(X) if scores is None or certainty is not None else None
        indices = scores.best if scores is not None else np.asarray(pi).argmax(axis=1)
        best = self.classes_[indices]
        if pi is None or certainty is None:
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

    def decide(
        self,
        X: Any,  # noqa: N803
        y: Any,
        *,
        error: float = 0.01,
        confidence: float = 0.95,
        costs: Costs | None = None,
    ) -> Self:
        """Choose which rows are decided, so that at most a share `error` of these is wrong.

        Sets `selective_`; `selective_.promise` says what is promised. See `pinesy.decide`.

        Parameters
        ----------
        X, y : rows that were not used in `fit`, and their true labels
        error, confidence, costs : as `pinesy.decide` takes them
        """
        check_is_fitted(self)
        columns = read_features(self, X, reset=False)
        labels, _ = read_labels(y, None, columns)
        try:
            self.training_rows_.refuse(columns)
            self.selective_ = decide(
                self.rules_,
                feature_evidence(columns, self.rules_.inputs),
                {self.target_: labels.tolist()},
                error=error,
                confidence=confidence,
                costs=costs,
                seed=seed_of(self.random_state),
            )
        except DataError as error_of_data:
            raise TableError(str(error_of_data)) from error_of_data
        return self

    def decisions(self, X: Any) -> SelectiveDecisions:  # noqa: N803
        """Return which rows are decided, and how; the others are handed over."""
        check_is_fitted(self)
        if not hasattr(self, "selective_"):
            raise TableError(
                "no threshold decides yet; call decide(X, y) with rows that were not used in fit"
            )
        return self.selective_.decisions(self._table(X))

    # --- how good it is ------------------------------------------------------------------------

    def evaluate(
        self,
        X: Any,  # noqa: N803
        y: Any,
        *,
        train: tuple[Any, Any] | None = None,
    ) -> DecisionReport:
        """Compare predictions with true labels: a verdict, then tables and plots.

        By class and in all: precision, recall, F1, AUC, Brier score, calibration of
        `predict_proba`, beside the most frequent class and a logistic regression on the same rows;
        the share that the rules decide without a guess, and how right the surest rows are; the
        score card with how often each line holds and is right.

        Parameters
        ----------
        X, y : rows that were not used in `fit`, and their true labels
        train : the rows and labels that the logistic regression is fitted on, best those of `fit`;
            by default it is fitted to each four fifths of `X`, and judged on the other fifth

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> x, y = load_iris(as_frame=True, return_X_y=True)
        >>> report = RuleClassifier(max_rules=6).fit(x[::2], y[::2]).evaluate(x[1::2], y[1::2])
        >>> report.verdict.startswith("target: ")
        True
        >>> [method.name for method in report.classes.methods]
        ['the rules', 'always 0', 'logistic regression (out of fold)']
        """
        check_is_fitted(self)
        columns, labels, codes = self._labelled(X, y)
        training = None
        if train is not None:
            train_columns, _, train_codes = self._labelled(*train)
            training = train_columns, train_codes
        evidence = feature_evidence(columns, self.rules_.inputs)
        batch = batch_of(self.rules_, evidence, {self.target_: labels.tolist()})
        report = report_with_card(self.rules_, batch, self.target_)
        output = self.rules_[self.target_].output
        predicted = np.array([output.position(value) for value in self.predict(X).tolist()])
        p = self.predict_proba(X)
        scores = class_scores(report.values, codes, predicted, p, columns, training)
        return replace(report, classes=scores)

    def _labelled(self, X: Any, y: Any) -> tuple[Columns, Any, Any]:  # noqa: N803
        """Return rows by column, their labels, and the indices of these among the classes."""
        columns = read_features(self, X, reset=False)
        labels, _ = read_labels(y, None, columns)
        output = self.rules_[self.target_].output
        unknown = [label for label in dict.fromkeys(labels.tolist()) if label not in output]
        if unknown:
            raise TableError(
                f"the classifier knows no class {unknown[0]!r}; it was fitted with "
                f"{listed([repr(value) for value in output.domain])}"
            )
        codes = np.array([output.position(label) for label in labels.tolist()], dtype=np.intp)
        return columns, labels, codes

    # --- labels --------------------------------------------------------------------------------

    def audit(
        self,
        X: Any,  # noqa: N803
        y: Any,
        sample_weight: Any = None,
        *,
        folds: int = 5,
        repeats: int = 5,
    ) -> Audit:
        """Rank rows by how suspicious their labels are, and name the rules against them.

        Each label is judged out of fold: by copies of the classifier that are fitted without its
        row, and by the mean of their probabilities over some repeats. The classifier itself need
        not be fitted, and stays as it is. With method ``"given"`` its rules judge as they are.
        Cost: ``folds * repeats + 1`` fits.

        Parameters
        ----------
        X, y, sample_weight : as for `fit`; all rows are judged, those of weight 0 too
        folds : how many parts the rows are divided into, with the same share of each class
        repeats : how often they are divided anew

        Returns
        -------
        an `Audit`, as `pinesy.audit` gives: ``order`` has the rows, the most suspicious first
        """
        model = clone(self).fit(X, y, sample_weight)
        columns = read_features(model, X, reset=False)
        labels, weights = read_labels(y, sample_weight, columns)
        name, seed = model.target_, seed_of(self.random_state)
        if self.rules is not None and self.method == "given":
            evidence = feature_evidence(columns, model.rules_.inputs)
            return audit(model.rules_, evidence, {name: labels.tolist()}, method="given")
        classes = np.unique(labels)

        def fit_fold(others: Any, rows: Any, repeat: int) -> tuple[Cascade, FloatArray]:
            part = clone(self).set_params(random_state=seed + repeat, target=name)
            part_weights = None if weights is None else weights[others]
            with catch_warnings():  # of columns that are not used, and of categories not seen
                simplefilter("ignore", DataWarning)
                part.fit(_safe_indexing(X, others), labels[others], part_weights)
                p = np.zeros((len(rows), len(classes)))
                known = np.isin(part.classes_, classes)
                columns_of_p = np.searchsorted(classes, part.classes_[known])
                p[:, columns_of_p] = part.predict_proba(_safe_indexing(X, rows))[:, known]
            return part.rules_, p

        table = AuditTable(columns, labels, classes, name)
        method = "induce" if self.rules is None else cast(Judged, self.method)
        return table.audit(model.rules_, fit_fold, method, folds, repeats)

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
        evidence = {a.name: sample.get(a.name) for a in self.rules_.inputs}
        return dict(without_unseen(evidence, self.rules_.inputs))

    def points(self, x: Any) -> list[CardLine]:
        """Return the lines of the score card that give points for one sample.

        Induced rules have a card (`card_`). Where a value is unknown, lines that may or may not
        hold are left out.
        """
        card = self._card()
        rows = evidence_rows(self.rules_, self._evidence(x))
        _, negated = card.line_measures(rows.attributes, rows.block(0, 1))
        lines = zip(card.lines, negated[:, 0].tolist(), strict=True)
        return [line for line, degree in lines if degree == 0.0]

    def _card(self) -> ScoreCard:
        check_is_fitted(self)
        if not hasattr(self, "card_"):
            raise TableError("only induced rules give points; use explain for rules of your own")
        return self.card_

    def table(self) -> Any:
        """Return the score card as a pandas DataFrame, a row for each line.

        The columns: `premise`, `class`, `points`, `undetermined` (the points where a blank leaves
        open whether it holds), `support` (training rows in which it holds), `precision` (the share
        of these with its class), `lift` (the precision over the share of the class).
        """
        return self._card().table()

    def to_rules(self, X: Any = None, y: Any = None) -> PlainRules:  # noqa: N803
        """Return rules that stand alone, in place of the score card: the surest that holds wins.

        They are lines of the card, and two such lines together, with certainties that are counted
        on the rows of `fit`. ``print`` shows them with the accuracy that they lose against the
        card; ``.rules`` is the rule set, which every function takes.

        Parameters
        ----------
        X, y : rows and labels to compare the accuracies on; by default those of `fit`
        """
        card = self._card()
        if not hasattr(self, "_fitted_rows"):
            raise TableError(
                "plain rules are counted on the rows of fit, which are not stored with a model; "
                "call to_rules before it is pickled, or fit again"
            )
        counted = self._labelled_rows(*self._fitted_rows)
        lines = list_plain_rules(card, *counted)
        if X is not None:
            columns = read_features(self, X, reset=False)
            counted = self._labelled_rows(columns, *read_labels(y, None, columns))
        return compare_plain_rules(card, lines, *counted)

    def _labelled_rows(
        self, columns: Columns, labels: Any, weights: FloatArray | None
    ) -> tuple[Rows, npt.NDArray[np.intp], FloatArray]:
        """Return rows as degrees, the indices of their classes (-1 for others), and weights."""
        rows = evidence_rows(self.rules_, feature_evidence(columns, self.rules_.inputs))
        indices = {value: i for i, value in enumerate(self.classes_.tolist())}
        known = np.array([indices.get(v, -1) for v in labels.tolist()], dtype=np.intp)
        return rows, known, np.ones(len(known)) if weights is None else weights

    def __getstate__(self) -> dict[str, Any]:
        """Return the state to be pickled: without the rows of `fit`."""
        state: dict[str, Any] = super().__getstate__()
        return {name: content for name, content in state.items() if name != "_fitted_rows"}

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
