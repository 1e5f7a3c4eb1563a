"""Neuro-symbolic models: perception, transformation and rules in one object."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from inspect import signature
from time import perf_counter
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from pinesy._common.names import name_of
from pinesy._common.validation import FloatArray, check_known
from pinesy.calibration import CalibratedRules, PredictionSets, calibrate
from pinesy.calibration.conformal_transform import Unit
from pinesy.calibration.training_rows import TrainingRows
from pinesy.engine.program import Inference
from pinesy.evidence.targets import Target, rule_set_targets
from pinesy.exceptions import CascadeError, DataError, DomainError, placed
from pinesy.guarantees.consistent_sets import ConsistentSets, consistent_sets
from pinesy.guarantees.decide import Costs, SelectiveRules, decide
from pinesy.guarantees.decisions import SelectiveDecisions
from pinesy.learning import LearningResult, ToleranceSearch, accuracy, learn, search_tolerances
from pinesy.learning.evaluate import final_values
from pinesy.learning.learning_arguments import Tolerance, resolve_groups, tolerances_by_set
from pinesy.model.perceptions import (
    RawSamples,
    Transform,
    View,
    concept_labels,
    names,
    views_of,
)
from pinesy.model.predictions import Predictions
from pinesy.rulebase.cascade import Cascade, as_cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute
from pinesy.rules.possibility import Possibility
from pinesy.transforms import as_transform

#: Before the parameters of the perception among those of the model, as scikit-learn names them.
NESTED = "perception__"
#: Attributes that rules conclude on, or their names; None for those that no premise uses.
Outputs = Iterable[str | Attribute] | None


class NeuroSymbolic:
    """Perception of data, transformation of probabilities into possibilities, and rules.

    A sample has data, such as an image, for each input of the rules. Samples are an
    array ``(n, m, ...)`` with the data of the `m` inputs in their order, or a dict from inputs
    (attributes or their names) to arrays ``(n, ...)``.

    Parameters
    ----------
    perception : a perception for all inputs, or a dict from inputs to perceptions. A perception
        is a function from data ``(n, ...)`` to probabilities ``(n, classes)``, or an object with
        such a method `predict_proba`, such as a classifier of scikit-learn or
        `pinesy.nets.NetworkPerception`; to be trained here it needs ``fit(data, labels)``. Classes
        are numbered by the positions of values in the domain. A perception that has `classes_`
        may have been trained with the values themselves, and its columns are then found by them.
    rules : a `Cascade` or a `RuleSet`
    transform : ``"antipignistic"`` or ``"minimum_specificity"``, or one of these functions
    inputs : the order of the inputs in arrays of samples; by default that of `Cascade.inputs`,
        in which the rules use them

    Attributes
    ----------
    rules_ : after `fit`, the rules with the parameters that were learned; before, inference uses
        `rules` as they are
    result_ : the result of learning the rules
    search_ : the search for tolerances; None without one
    training_rows_ : the fingerprints of the samples of `fit`, which `calibrate` refuses
    calibration_ : after `calibrate`, the rules with their calibration (`CalibratedRules`)
    selective_ : after `decide`, the rules with their threshold (`SelectiveRules`)
    seconds_ : the seconds of `fit`: for ``"perception"`` (training and predictions),
        ``"tolerances"`` (their search) and ``"learning"`` (once, with them)

    Examples
    --------
    >>> from pinesy import Attribute, Iff, RuleSet
    >>> sky, street = Attribute("sky", ["dark", "clear"]), Attribute("street", ["wet", "dry"])
    >>> rules = RuleSet([Iff(sky.isin({"dark"})).then(street.isin({"wet"}))])
    >>> def perception(light):
    ...     return np.stack([1 - light, light], axis=1)
    >>> model = NeuroSymbolic(perception, rules)
    >>> samples = np.array([[0.125], [0.75], [0.5]])  # one input, whose data are numbers
    >>> predicted = model.predict(samples)
    >>> predicted["street"].tolist(), predicted.outcomes["street"].tolist()
    (['wet', 'dry', None], ['decided', 'decided', 'no_rule'])
    >>> model.predict_necessity(samples)["street"].tolist()
    [[0.75, 0.0], [0.0, 0.5], [0.0, 0.0]]
    """

    transform: Any
    calibration_: CalibratedRules
    selective_: SelectiveRules
    training_rows_: TrainingRows
    rules_: Cascade
    result_: LearningResult
    search_: ToleranceSearch | None
    seconds_: dict[str, float]

    def __init__(
        self,
        perception: Any,
        rules: Cascade | RuleSet,
        *,
        transform: str | Callable[..., Any] = "antipignistic",
        inputs: Sequence[str | Attribute] | None = None,
    ) -> None:
        self.perception, self.rules = perception, rules
        self.transform, self.inputs = transform, inputs
        _ = self._views, self._transform  # raise errors now, not with the first samples

    def __repr__(self) -> str:
        kinds = ", ".join(type(view.perception).__name__ for view in self._views[:3])
        inputs, transform = names(self._ordered), as_transform(self.transform).name
        return f"NeuroSymbolic({kinds} of {inputs}; {transform}; {self._rules!r})"

    # --- parameters, as scikit-learn reads and sets them ----------------------------------------

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name; if `deep`, those of the perception as ``perception__...``.

        With this and `set_params`, `sklearn.base.clone` works.
        """
        params = {name: getattr(self, name) for name in signature(type(self)).parameters}
        if deep and hasattr(self.perception, "get_params"):
            inner = self.perception.get_params(deep=True)
            params |= {f"{NESTED}{name}": value for name, value in inner.items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name, those of the perception as ``perception__...``.

        Learned parameters stay until `fit` is called again; a calibration is dropped.
        """
        known = self.get_params(deep=False)
        inner = {k.removeprefix(NESTED): v for k, v in params.items() if k.startswith(NESTED)}
        outer = {name: value for name, value in params.items() if not name.startswith(NESTED)}
        for name in outer:
            check_known(name, known, f"there is no parameter {name!r:.60}", DomainError)
        vars(self).update(vars(type(self)(**{**known, **outer})))  # raises before anything changes
        self._drop_guarantees()  # they were those of another model
        if inner:
            self.perception.set_params(**inner)
        return self

    # --- learning ------------------------------------------------------------------------------

    def fit(
        self,
        samples: Any,
        targets: Any,
        concepts: Any = None,
        *,
        validation: tuple[Any, Any] | None = None,
        groups: Sequence[Any] | None = None,
        tolerance: Tolerance = None,
        fixed: Any = "implications",
        metric: Callable[..., float] | None = None,
        candidates: npt.ArrayLike | None = None,
        min_improvement: float | None = None,
        stagnation: int | None = None,
        progress: bool | None = None,
    ) -> Self:
        """Train the perception, then learn the parameters of the rules.

        Arguments are checked before training begins. If learning fails nevertheless, the perception
        is trained and the rules are unchanged: call `fit` again without concepts. Training
        continues from the current state of the perception.

        Parameters
        ----------
        samples : training samples
        targets : the targets of outputs, as for `learn`
        concepts : the values of the inputs, to train the perception with: an array ``(n, m)``, or
            a dict from inputs to ``(n,)``; the perceptions of other inputs are not trained. By
            default none is trained.
        validation : other samples and their targets, to choose tolerances by; see
            `search_tolerances`
        groups : with `validation`, the groups of rule sets that share a tolerance
        tolerance : without `validation`, the tolerance or tolerances; see `learn`
        fixed : parameters that keep their values, as in `learn`: by default the `s` of implications
        metric, candidates, min_improvement, stagnation, progress : with `validation`, as for
            `search_tolerances`
        """
        options: dict[str, Any] = {
            "metric": metric,
            "candidates": candidates,
            "min_improvement": min_improvement,
            "stagnation": stagnation,
            "progress": progress,
            "groups": groups,
        }
        search = {name: option for name, option in options.items() if option is not None}
        rules, inputs = as_cascade(self.rules), self._ordered
        training = RawSamples.of(samples, inputs)
        labels = {} if concepts is None else concept_labels(concepts, inputs, training.n)
        learned_targets = rule_set_targets(rules, targets, training.n)
        _check_tolerances(validation, tolerance, search, list(learned_targets))
        others = (
            None if validation is None else _check_validation(rules, inputs, validation, search)
        )
        for view in self._views:
            view.check(training, labels)
            if others is not None:
                view.check(others[0], {}, "the validation data: ")
        began = perf_counter()
        for view in self._views:
            view.fit(training, labels)
        evidence = self._perceive(training, self._transform)
        judged = others and (self._perceive(others[0], self._transform), others[1])
        perceived = perf_counter()
        if judged is None:
            trials = None
            result = learn(rules, evidence, learned_targets, tolerance=tolerance, fixed=fixed)
        else:
            trials = search_tolerances(
                rules, evidence, learned_targets, judged, fixed=fixed, **search
            )
            result = trials.result
        self.rules_, self.result_, self.search_ = result.cascade, result, trials
        parts = [training] if others is None else [training, others[0]]
        self.training_rows_ = TrainingRows.of(*(part.columns for part in parts))
        self._drop_guarantees()  # they were those of the model before
        self.seconds_ = {
            "perception": perceived - began,
            "tolerances": perf_counter() - perceived if trials else 0.0,
            "learning": result.seconds,
        }
        return self

    # --- perception ----------------------------------------------------------------------------

    @property
    def _rules(self) -> Cascade:
        """The rules that are used: with what was learned, if something was."""
        learned: Cascade | None = getattr(self, "rules_", None)
        return as_cascade(self.rules) if learned is None else learned

    @property
    def _transform(self) -> Transform:
        return as_transform(self.transform)

    @property
    def _ordered(self) -> tuple[Attribute, ...]:
        """The inputs in the order of arrays of samples."""
        order, inputs = self.inputs, as_cascade(self.rules).inputs
        if order is None:
            return inputs
        by_name = {a.name: a for a in inputs}
        keys = [] if isinstance(order, str) else [str(name_of(key)) for key in order]
        if sorted(keys) != sorted(by_name):
            raise CascadeError(
                f"inputs is {order!r:.80}; it must name each of {names(inputs)} once"
            )
        return tuple(by_name[key] for key in keys)

    @property
    def _views(self) -> tuple[View, ...]:
        """Each perception with the inputs that it sees."""
        return views_of(self.perception, self._ordered)

    def evidence(self, samples: Any) -> FloatArray:
        """Return the possibilities of all inputs side by side, in the order of `Cascade.inputs`.

        This is what `Cascade.infer`, `learn` and `audit` take.
        """
        return self._perceive(RawSamples.of(samples, self._ordered), self._transform)

    def probabilities(self, samples: Any) -> FloatArray:
        """Return the probabilities of all inputs side by side, in the order of `Cascade.inputs`.

        This is what `calibration_` takes.
        """
        return self._perceive(RawSamples.of(samples, self._ordered))

    def _perceive(self, samples: RawSamples, transform: Transform | None = None) -> FloatArray:
        degrees: dict[str, FloatArray] = {}
        for view in self._views:
            degrees |= view.perceive(samples, transform)
        return np.hstack([degrees[a.name] for a in self._rules.inputs])

    # --- inference -----------------------------------------------------------------------------

    def predict_possibility(self, samples: Any, outputs: Outputs = None) -> Inference:
        """Return the possibility distribution of each output, for each sample.

        Parameters
        ----------
        outputs : the attributes to infer; by default those that no premise uses
        """
        return self._rules.infer(self.evidence(samples), outputs)

    def predict(self, samples: Any, outputs: Outputs = None) -> Predictions:
        """Return the decided value of each output, and the outcome where there is none.

        `outputs` are as in `predict_possibility`.
        """
        return Predictions(self.predict_possibility(samples, outputs))

    def predict_necessity(self, samples: Any, outputs: Outputs = None) -> dict[str, FloatArray]:
        """Return the necessity ``N({u})`` of each value, for each output and sample.

        It is NaN where the rules contradict each other (`Possibility.contradiction`).
        `outputs` are as in `predict_possibility`.

        Returns
        -------
        necessities : by the output's name, arrays ``(n, size of the domain)``
        """
        inference = self.predict_possibility(samples, outputs)
        return {name: _necessities(pi) for name, pi in inference.items()}

    def score(self, samples: Any, targets: Any) -> float:
        """Return the share of samples with all final outputs correct and decided.

        Targets of other attributes count only if no final output has one; see `accuracy`.
        """
        return accuracy(self._rules, self.evidence(samples), targets)

    # --- with a guarantee ----------------------------------------------------------------------

    def calibrate(
        self,
        samples: Any,
        concepts: Any = None,
        answers: Mapping[Any, Any] | None = None,
        *,
        score: str = "complement",
        unit: Unit = "sample",
        class_conditional: bool = False,
        kinds: Mapping[Any, Any] | None = None,
        weights: npt.ArrayLike | None = None,
        exceptions: float | None = None,
    ) -> Self:
        """Calibrate on samples that were not used in training; sets `calibration_`.

        With concepts the inputs are calibrated, by 1 minus the probabilities of the perception;
        with answers only, the answers are. `predict` and `predict_possibility` do not change:
        p-values have ties, because they are shares of samples.

        Parameters
        ----------
        samples : as in `predict`
        concepts : the true values of all inputs, as in `fit`
        answers : by output, the true values; with concepts, they estimate how often the rules fail
        score, unit, class_conditional, kinds, weights, exceptions : as `pinesy.calibrate` takes
            them
        """
        checked, targets = self._calibration_data(samples, concepts, answers)
        self.calibration_ = calibrate(
            self._rules,
            self._perceive(checked),
            targets,
            score=score,
            unit=unit,
            class_conditional=class_conditional,
            kinds=kinds,
            weights=weights,
            exceptions=exceptions,
            transform=self.transform if concepts is None else None,
        )
        return self

    def calibrate_more(
        self,
        samples: Any,
        concepts: Any = None,
        answers: Mapping[Any, Any] | None = None,
        *,
        weights: npt.ArrayLike | None = None,
    ) -> Self:
        """Calibrate on more samples; the result equals a calibration on all samples at once.

        Sums of weights may differ in their last bits.
        """
        before = self._calibration
        checked, targets = self._calibration_data(samples, concepts, answers)
        self.calibration_ = before.calibrate_more(self._perceive(checked), targets, weights)
        return self

    def _calibration_data(
        self, samples: Any, concepts: Any, answers: Mapping[Any, Any] | None
    ) -> tuple[RawSamples, dict[Any, Any]]:
        """Return the checked samples, and the true values by input or output."""
        if concepts is None and not answers:
            raise DataError("calibration needs concepts (true values of inputs), or answers")
        checked = RawSamples.of(samples, self._ordered)
        if hasattr(self, "training_rows_"):
            self.training_rows_.refuse(checked.columns)
        truth: dict[Any, Any] = dict(answers or {})
        if concepts is not None:
            labels = concept_labels(concepts, self._ordered, checked.n)
            for attribute in self._ordered:
                if attribute.name in labels:
                    truth[attribute.name] = Target.at(labels[attribute.name], attribute)
        return checked, truth

    @property
    def _calibration(self) -> CalibratedRules:
        if not hasattr(self, "calibration_"):
            raise DataError(
                "the model is not calibrated; call calibrate with samples that were not used in "
                "training"
            )
        return self.calibration_

    def calibration_evidence(self, samples: Any) -> FloatArray:
        """Return the evidence of samples for `calibration_`: their `probabilities`."""
        return self.probabilities(samples)

    def predict_calibrated(
        self, samples: Any, outputs: Outputs = None, *, weights: npt.ArrayLike | None = None
    ) -> Mapping[str, Possibility]:
        """Return calibrated distributions: 1 minus a degree is the level that excludes a value.

        `weights` are as `CalibratedRules.predict_set` takes them.
        """
        calibration = self._calibration
        return calibration.infer(self.probabilities(samples), outputs, weights=weights)

    def predict_set(
        self,
        samples: Any,
        level: float = 0.95,
        outputs: Outputs = None,
        *,
        weights: npt.ArrayLike | None = None,
    ) -> PredictionSets:
        """Return for each output the values that are not excluded at a level, for each sample.

        ``calibration_.guarantee`` has the guarantee; ``.outcomes`` of the result, why there is not
        exactly one value. `weights` are as `CalibratedRules.predict_set` takes them.
        """
        calibration = self._calibration
        evidence = self.probabilities(samples)
        return calibration.predict_set(evidence, level, outputs, weights=weights)

    def consistent_sets(
        self,
        samples: Any,
        level: float = 0.95,
        *,
        known: Mapping[Any, Any] | None = None,
        weights: npt.ArrayLike | None = None,
    ) -> ConsistentSets:
        """Return sets of inputs and answers; each value is in a tuple that follows the rules.

        The inputs must be calibrated. `known` answers restrict the inputs; see
        `pinesy.consistent_sets`.
        """
        evidence = self.probabilities(samples)
        return consistent_sets(self._calibration, evidence, level, known=known, weights=weights)

    def decide(
        self,
        samples: Any,
        answers: Mapping[Any, Any],
        *,
        error: float = 0.01,
        confidence: float = 0.95,
        costs: Costs | None = None,
        seed: int = 0,
    ) -> Self:
        """Choose which cases are decided, so that at most a share `error` of these is wrong.

        Sets `selective_`; `selective_.promise` says what is promised. See `pinesy.decide`.

        Parameters
        ----------
        samples : that were not used in training
        answers : by output, the true values
        error, confidence, costs, seed : as `pinesy.decide` takes them
        """
        checked, truth = self._calibration_data(samples, None, answers)
        self.selective_ = decide(
            self._rules,
            self._perceive(checked, self._transform),
            truth,
            error=error,
            confidence=confidence,
            costs=costs,
            seed=seed,
        )
        return self

    def decisions(self, samples: Any) -> SelectiveDecisions:
        """Return which samples are decided, and how; the others are handed over."""
        if not hasattr(self, "selective_"):
            raise DataError(
                "no threshold decides yet; call decide with samples that were not used in training"
            )
        return self.selective_.decisions(self.evidence(samples))

    def _drop_guarantees(self) -> None:
        for attribute in ("calibration_", "selective_"):
            vars(self).pop(attribute, None)


def _check_tolerances(
    validation: object, tolerance: Tolerance, search: Mapping[str, Any], targeted: Sequence[str]
) -> None:
    """Raise an error for tolerances together with validation data, or options without them."""
    if validation is None and search:
        raise DataError(
            f"{', '.join(search)}: for a search for tolerances, which needs validation data"
        )
    if validation is not None and tolerance is not None:
        raise DataError(
            "tolerance and validation are both given; tolerances are either given or chosen by "
            "validation data"
        )
    tolerances_by_set(tolerance, targeted)
    resolve_groups(search.get("groups"), targeted)


def _check_validation(
    rules: Cascade, inputs: tuple[Attribute, ...], pair: object, search: Mapping[str, Any]
) -> tuple[RawSamples, Any]:
    """Return the samples and targets of validation data; targets are checked for `accuracy`."""
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        raise DataError(f"the validation data are {pair!r:.60}; give a pair (samples, targets)")
    samples = RawSamples.of(pair[0], inputs, "samples of the validation data")
    if search.get("metric", accuracy) is accuracy:
        with placed("the validation data"):
            final_values(rules, rule_set_targets(rules, pair[1], samples.n))
    return samples, pair[1]


def _necessities(possibility: Possibility) -> FloatArray:
    """Return ``N({u}) = 1 - max {pi(v) : v != u}``; NaN if a distribution is not normalised."""
    degrees = possibility.degrees
    is_best = np.arange(degrees.shape[1]) == degrees.argmax(axis=1)[:, None]
    others = np.where(possibility.normalised, 1.0 - degrees.max(axis=1), np.nan)[:, None]
    return np.asarray(np.where(is_best, possibility.certainty[:, None], others))
