"""Neuro-symbolic models: perception, transformation and rules in one object; several together."""

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from inspect import signature
from time import perf_counter
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from pinesy._common.names import column_slices
from pinesy._common.validation import FloatArray, as_list, check_known
from pinesy.calibration.training_rows import TrainingRows
from pinesy.evidence.targets import rule_set_targets
from pinesy.exceptions import CascadeError, DataError, DomainError, placed
from pinesy.learning import LearningResult, ToleranceSearch, accuracy, learn, search_tolerances
from pinesy.learning.comparison import answer_positions
from pinesy.learning.learning_arguments import Tolerance, resolve, resolve_groups
from pinesy.model.perceptions import RawSamples, labels_of, names
from pinesy.model.predictions import Outputs, PerceivedRules, Predictions
from pinesy.rulebase.cascade import Cascade, as_cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute
from pinesy.rules.possibility import Possibility
from pinesy.transforms import as_transform

#: Before the parameters of the perception among those of the model, as scikit-learn names them.
NESTED = "perception__"


class NeuroSymbolic(PerceivedRules):
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
    result_ : what was learned for the rules
    search_ : the search for tolerances; None if `fit` made none
    training_rows_ : the fingerprints of the samples of `fit`, which `calibrate` refuses
    calibration_ : after `calibrate`, the rules with their calibration (`CalibratedRules`)
    seconds_ : how long `fit` took: for ``"perception"`` (training and predictions),
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
        of, transform = names(self._ordered), as_transform(self.transform).name
        return f"NeuroSymbolic({kinds} of {of}; {transform}; {self._rules!r})"

    # --- parameters, as scikit-learn reads and sets them ----------------------------------------

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name; if `deep`, those of the perception too.

        Those are named ``perception__...``. With this and `set_params`, `sklearn.base.clone` works.
        """
        params = {name: getattr(self, name) for name in signature(type(self)).parameters}
        if deep and hasattr(self.perception, "get_params"):
            inner = self.perception.get_params(deep=True)
            params |= {f"{NESTED}{name}": value for name, value in inner.items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name, those of the perception as ``perception__...``.

        What was learned stays until `fit` is called again; a calibration is dropped.
        """
        known = self.get_params(deep=False)
        inner = {k.removeprefix(NESTED): v for k, v in params.items() if k.startswith(NESTED)}
        own = {name: value for name, value in params.items() if not name.startswith(NESTED)}
        for name in own:
            check_known(name, known, f"there is no parameter {name!r:.60}", DomainError)
        vars(self).update(vars(type(self)(**{**known, **own})))  # raises before anything changes
        vars(self).pop("calibration_", None)  # the guarantee was that of another model
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

        What can be checked is checked before training begins. If learning fails all the same, the
        perception is trained and the rules are as they were: `fit` can be called again without
        concepts. Training begins with the perception as it is.

        Parameters
        ----------
        samples : training samples
        targets : for outputs what should be inferred, as `learn` takes it
        concepts : the values of the inputs, to train the perception with: an array ``(n, m)``, or
            a dict from inputs to ``(n,)``; the perceptions of inputs left out are not trained.
            By default none is: all are trained already.
        validation : other samples and their targets, to choose tolerances by; see
            `search_tolerances`
        groups : with `validation`, the groups of rule sets that share a tolerance
        tolerance : without `validation`, the tolerance or tolerances; see `learn`
        fixed : parameters that keep their values, as in `learn`: by default the `s` of implications
        metric, candidates, min_improvement, stagnation, progress : with `validation`, how
            to search, as `search_tolerances` takes it
        """
        given: dict[str, Any] = {
            "metric": metric,
            "candidates": candidates,
            "min_improvement": min_improvement,
            "stagnation": stagnation,
            "progress": progress,
            "groups": groups,
        }
        search = {name: value for name, value in given.items() if value is not None}
        rules, inputs = as_cascade(self.rules), self._ordered
        training = RawSamples.of(samples, inputs)
        labels = {} if concepts is None else labels_of(concepts, inputs, training.n)
        wanted = rule_set_targets(rules, targets, training.n)
        _check_choice(validation, tolerance, search, list(wanted))
        others = None if validation is None else _validation(rules, inputs, validation, search)
        for view in self._views:
            view.check(training, labels)
            if others is not None:
                view.check(others[0], {}, "the validation data: ")
        began = perf_counter()
        for view in self._views:
            view.fit(training, labels)
        evidence = self._perceived(training, self._transform)
        judged = others and (self._perceived(others[0], self._transform), others[1])
        perceived = perf_counter()
        if judged is None:
            tried, result = None, learn(rules, evidence, wanted, tolerance=tolerance, fixed=fixed)
        else:
            tried = search_tolerances(rules, evidence, wanted, judged, fixed=fixed, **search)
            result = tried.result
        self.rules_, self.result_, self.search_ = result.cascade, result, tried
        used = [training] if others is None else [training, others[0]]
        self.training_rows_ = TrainingRows.of(*(part.columns for part in used))
        vars(self).pop("calibration_", None)  # the guarantee was that of the model before
        self.seconds_ = {
            "perception": perceived - began,
            "tolerances": perf_counter() - perceived if tried else 0.0,
            "learning": result.seconds,
        }
        return self


def _check_choice(
    validation: object, tolerance: Tolerance, search: Mapping[str, Any], targeted: Sequence[str]
) -> None:
    """Raise an error unless tolerances are given or there are validation data to choose them by."""
    if validation is None and search:
        raise DataError(
            f"{', '.join(search)}: for a search for tolerances, which needs validation data"
        )
    if validation is not None and tolerance is not None:
        raise DataError(
            "tolerance and validation are both given; tolerances are either given or chosen by "
            "validation data"
        )
    resolve(tolerance, targeted)
    resolve_groups(search.get("groups"), targeted)


def _validation(
    rules: Cascade, inputs: tuple[Attribute, ...], given: object, search: Mapping[str, Any]
) -> tuple[RawSamples, Any]:
    """Check validation data: their targets too, if it is known what the metric takes."""
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise DataError(f"the validation data are {given!r:.60}; give a pair (samples, targets)")
    samples = RawSamples.of(given[0], inputs, "samples of the validation data")
    if search.get("metric", accuracy) is accuracy:
        with placed("the validation data"):
            answer_positions(rules, rule_set_targets(rules, given[1], samples.n))
    return samples, given[1]


class Combined:
    """Models that fit the same answers, such as those of several starts, taken together.

    Answers alone may leave several readings of the inputs, and each model is sure of its own. Here
    a value is as possible as the model that finds it most possible says, ``pi = max_k pi_k``: of
    inputs, so that where models read differently none is certain, and of outputs, each inferred
    from one model's own reading. So an answer stays certain where all readings give it, and is
    undecided where they do not (docs/shortcuts.md).

    Parameters
    ----------
    models : models of the same inputs and outputs, such as ``NeuroSymbolic(network, rules)``

    Examples
    --------
    >>> from pinesy import Attribute, Iff, RuleSet
    >>> sky, street = Attribute("sky", ["dark", "clear"]), Attribute("street", ["wet", "dry"])
    >>> rules = RuleSet([Iff(sky.isin({"dark"})).then(street.isin({"wet"}))])
    >>> def one(light):
    ...     return np.stack([1 - light, light], axis=1)
    >>> def other(light):
    ...     return np.stack([light, 1 - light], axis=1)
    >>> both = Combined([NeuroSymbolic(one, rules), NeuroSymbolic(other, rules)])
    >>> both.concepts(np.array([[0.125]]))["sky"].degrees
    array([[1., 1.]])
    """

    def __init__(self, models: Sequence[NeuroSymbolic]) -> None:
        self.models = tuple(as_list(models, "models"))
        for model in self.models:
            if not isinstance(model, NeuroSymbolic):
                raise DataError(f"a model is {model!r:.60}; give a list of NeuroSymbolic models")
        if not self.models:
            raise DataError("there are no models to combine; give at least one")
        for model in self.models[1:]:
            if _inputs(model) != _inputs(self.models[0]):
                raise CascadeError(
                    f"models with other inputs cannot be combined: {self.models[0]!r} and {model!r}"
                )

    def __repr__(self) -> str:
        return f"Combined({len(self.models)} models, such as {self.models[0]!r})"

    def evidence(self, samples: Any) -> FloatArray:
        """Return the possibilities of all inputs side by side, as `NeuroSymbolic.evidence` does."""
        return reduce(np.maximum, (model.evidence(samples) for model in self.models))

    def concepts(self, samples: Any) -> dict[str, Possibility]:
        """Return how possible each value of each input is, by the input's name."""
        inputs, evidence = _inputs(self.models[0]), self.evidence(samples)
        spans = column_slices(inputs)
        return {a.name: Possibility(a, evidence[:, spans[a.name]]) for a in inputs}

    def predict_possibility(self, samples: Any, outputs: Outputs = None) -> dict[str, Possibility]:
        """Return the possibility distribution of each output, for each sample.

        Parameters
        ----------
        samples : as the models take them
        outputs : what is inferred; by default the attributes that no premise uses
        """
        outputs = None if outputs is None else list(outputs)
        each = [model.predict_possibility(samples, outputs) for model in self.models]
        return {name: _united([one[name] for one in each]) for name in each[0]}

    def predict(self, samples: Any, outputs: Outputs = None) -> Predictions:
        """Return the most possible value of each output, and where there are several or none."""
        return Predictions(self.predict_possibility(samples, outputs))


def _inputs(model: NeuroSymbolic) -> tuple[Attribute, ...]:
    return as_cascade(model.rules).inputs


def _united(each: Sequence[Possibility]) -> Possibility:
    """Return the pointwise maximum: a contradiction of one does not count where others agree."""
    degrees = reduce(np.maximum, (pi.degrees for pi in each))
    coherence = reduce(np.maximum, (np.asarray(pi.coherence) for pi in each))
    return Possibility(each[0].attribute, degrees, coherence)
