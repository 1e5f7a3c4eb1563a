"""Neuro-symbolic models: perception, transformation and rules in one object."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from pinesy._common.validation import FloatArray, suggestion
from pinesy.engine.program import Inference
from pinesy.exceptions import CascadeError, DomainError
from pinesy.learning import LearningResult, ThresholdSearch, accuracy
from pinesy.learning.tolerances.tolerance_groups import Tolerance
from pinesy.model import saved
from pinesy.model.fitting import Choice, Task
from pinesy.model.pieces import Pieces, names
from pinesy.model.views import views_of
from pinesy.rulebase.cascade import Cascade, as_cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute
from pinesy.rules.possibility import Possibility
from pinesy.transforms import antipignistic, minimum_specificity

#: Attributes that rules conclude on, or their names; None for those that no premise uses.
Outputs = Iterable[str | Attribute] | None
TRANSFORMS: dict[str, Callable[..., Any]] = {
    "antipignistic": antipignistic,
    "minimum_specificity": minimum_specificity,
}


class Predictions(dict[str, npt.NDArray[Any]]):
    """The most possible value of each output, for each sample.

    Attributes
    ----------
    ambiguous : for each output a bool array: where several values are equally possible. No
        conclusion is drawn there; the value is the first of them in the order of the domain.
    """

    def __init__(self, inference: Inference) -> None:
        super().__init__((name, found.best) for name, found in inference.items())
        self.ambiguous: dict[str, npt.NDArray[np.bool_]] = {
            name: found.ambiguous for name, found in inference.items()
        }


class NeuroSymbolic:
    """Perception of data, transformation of probabilities into possibilities, and rules.

    A sample has one piece of data, such as an image, for each input of the rules. Samples are an
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
    cascade : the rules
    transform : ``"antipignistic"`` or ``"minimum_specificity"``
    inputs : the order of the inputs in arrays of samples; by default that of `Cascade.inputs`,
        in which the rules use them

    Attributes
    ----------
    result : what was learned for the rules; None before
    search : the search for thresholds, if `fit` made one
    seconds : how long `fit` took: for ``"perception"`` (training and predictions), ``"thresholds"``
        (their search) and ``"learning"`` (once, with the thresholds)

    Examples
    --------
    >>> from pinesy import Attribute, If, RuleSet
    >>> sky, street = Attribute("sky", ["dark", "clear"]), Attribute("street", ["wet", "dry"])
    >>> rules = RuleSet([If(sky.isin({"dark"})).then(street.isin({"wet"}))])
    >>> def perception(light):
    ...     return np.stack([1 - light, light], axis=1)
    >>> model = NeuroSymbolic(perception, rules)
    >>> samples = np.array([[0.125], [0.75], [0.5]])  # one input, whose data are numbers
    >>> found = model.predict(samples)
    >>> found["street"], found.ambiguous["street"]
    (array(['wet', 'dry', 'wet'], dtype=object), array([False, False,  True]))
    >>> model.predict_necessity(samples)["street"].tolist()
    [[0.75, 0.0], [0.0, 0.5], [0.0, 0.0]]
    """

    def __init__(
        self,
        perception: Any,
        cascade: Cascade | RuleSet,
        *,
        transform: str | Callable[..., Any] = "antipignistic",
        inputs: Sequence[str | Attribute] | None = None,
    ) -> None:
        self._cascade = as_cascade(cascade)
        self.perception = perception
        self.transform = _transform_name(transform)
        self.inputs = _ordered(inputs, self._cascade.inputs)
        self._views = views_of(perception, self.inputs)
        self.result: LearningResult | None = None
        self.search: ThresholdSearch | None = None
        self.seconds: dict[str, float] = {}

    @property
    def cascade(self) -> Cascade:
        """The rules, with the parameters that were learned."""
        return self._cascade

    def __repr__(self) -> str:
        kinds = ", ".join(type(view.perception).__name__ for view in self._views[:3])
        return f"NeuroSymbolic({kinds} of {names(self.inputs)}; {self.transform}; {self.cascade!r})"

    # --- learning ------------------------------------------------------------------------------

    def fit(
        self,
        X: Any,  # noqa: N803
        concepts: Any,
        targets: Any,
        *,
        validation: tuple[Any, Any] | None = None,
        groups: Sequence[Any] | None = None,
        tolerance: Tolerance = None,
        **search: Any,
    ) -> Self:
        """Train the perception, then learn the parameters of the rules.

        What can be checked is checked before training begins. If learning fails all the same, the
        perception is trained and the rules are as they were: `fit` can be called again with
        ``concepts=None``. Training begins with the perception as it is.

        Parameters
        ----------
        X : training samples
        concepts : the values of the inputs, to train the perception with: an array ``(n, m)``, or
            a dict from inputs to ``(n,)``; the perceptions of inputs left out are not trained.
            None if all are trained already.
        targets : for outputs what should be inferred, as `learn` takes it
        validation : other samples and their targets, to choose thresholds by; see
            `search_thresholds`
        groups : with `validation`, the groups of rule sets that share a threshold
        tolerance : without `validation`, the threshold or thresholds; see `learn`
        **search : with `validation`, how to search: `metric` (of cascade, evidence and targets),
            `candidates`, `min_improvement`, `stagnation`, `method`, `progress`
        """
        choice = Choice(validation, groups, tolerance, search)
        task = Task.of(self.cascade, self.inputs, (X, concepts, targets), choice)
        for view in self._views:
            view.check(task.pieces, task.labels)
            if task.held_out is not None:
                view.check(task.held_out[0], {}, "the validation data: ")
        began = perf_counter()
        for view in self._views:
            view.fit(task.pieces, task.labels)
        evidence = self._evidence(task.pieces)
        held_out = None if task.held_out is None else self._evidence(task.held_out[0])
        perceived = perf_counter()
        result, found = task.learn(self.cascade, evidence, held_out)
        self._cascade, self.result, self.search = result.cascade, result, found
        self.seconds = {
            "perception": perceived - began,
            "thresholds": perf_counter() - perceived if found else 0.0,
            "learning": result.seconds,
        }
        return self

    # --- inference -----------------------------------------------------------------------------

    def evidence(self, X: Any) -> FloatArray:  # noqa: N803
        """Return the possibilities of all inputs side by side, in the order of `Cascade.inputs`.

        This is what `Cascade.infer`, `learn` and `audit` take.
        """
        return self._evidence(Pieces.of(X, self.inputs))

    def _evidence(self, pieces: Pieces) -> FloatArray:
        sizes = [len(a.domain) for a in self.cascade.inputs]
        ends = dict(zip(self.cascade.inputs, np.cumsum(sizes).tolist(), strict=True))
        evidence = np.empty((pieces.n, sum(sizes)))
        for view in self._views:
            found = view.possibilities(pieces, TRANSFORMS[self.transform])
            for i, attribute in enumerate(view.attributes):
                begin = ends[attribute] - len(attribute.domain)
                evidence[:, begin : ends[attribute]] = found[:, i]
        return evidence

    def predict_possibility(self, X: Any, outputs: Outputs = None) -> Inference:  # noqa: N803
        """Return the possibility distribution of each output, for each sample.

        Parameters
        ----------
        outputs : what is inferred; by default the attributes that no premise uses
        """
        return self.cascade.infer(self.evidence(X), outputs)

    def predict(self, X: Any, outputs: Outputs = None) -> Predictions:  # noqa: N803
        """Return the most possible value of each output, and where there are several.

        `outputs` are as in `predict_possibility`.
        """
        return Predictions(self.predict_possibility(X, outputs))

    def predict_necessity(
        self,
        X: Any,  # noqa: N803
        outputs: Outputs = None,
    ) -> dict[str, FloatArray]:
        """Return for each output and sample how certain each value is: ``N({u})``.

        It tells nothing where the rules contradict each other (`Possibility.normalised`).
        `outputs` are as in `predict_possibility`.

        Returns
        -------
        necessities : by the output's name, arrays ``(n, size of the domain)``
        """
        return {name: _necessities(pi) for name, pi in self.predict_possibility(X, outputs).items()}

    def score(self, X: Any, targets: Any) -> float:  # noqa: N803
        """Return the share of samples with all final outputs right and none ambiguous.

        Targets of other attributes count only if no final output has one; see `accuracy`.
        """
        return accuracy(self.cascade, self.evidence(X), targets)

    # --- files ---------------------------------------------------------------------------------

    def save(self, directory: str | os.PathLike[str]) -> None:
        """Write the model to a directory, which is replaced only once the new one is whole.

        A perception is saved if it has ``suffix``, ``save(path)`` and ``restore(path)``, as
        `pinesy.nets.NetworkPerception` has. Any other must be given again to `load`. Of a search
        for thresholds only what it found is saved.
        """
        inputs = [a.name for a in self.inputs]
        parts = saved.Saved(self.cascade, self.result, self.transform, inputs, self.seconds)
        single = not isinstance(self.perception, Mapping)
        saved.write(Path(directory), parts, self._views, single=single)

    @classmethod
    def load(cls, directory: str | os.PathLike[str], perception: Any = None) -> Self:
        """Read a model that `save` wrote.

        Parameters
        ----------
        perception : the perception, or a dict with some, for those that could not be saved. One
            that can be restored takes the weights that were saved: give a network of your own
            class as ``NetworkPerception(network)``.
        """
        parts, found = saved.read(Path(directory), perception)
        model = cls(found, parts.cascade, transform=parts.transform, inputs=parts.inputs)
        model.result, model.seconds = parts.result, parts.seconds
        return model


def _transform_name(transform: object) -> str:
    word = transform.replace("-", "_") if isinstance(transform, str) else None
    for name, function in TRANSFORMS.items():
        if transform is function or word == name:
            return name
    raise DomainError(
        f"there is no transformation {transform!r:.60}{suggestion(transform, TRANSFORMS)}"
    )


def _ordered(
    given: Sequence[str | Attribute] | None, inputs: tuple[Attribute, ...]
) -> tuple[Attribute, ...]:
    """Return the inputs in the order that is asked for."""
    if given is None:
        return inputs
    by_name = {a.name: a for a in inputs}
    keys = [] if isinstance(given, str) else [str(getattr(key, "name", key)) for key in given]
    if sorted(keys) != sorted(by_name):
        raise CascadeError(f"inputs is {given!r:.80}; it must name each of {names(inputs)} once")
    return tuple(by_name[key] for key in keys)


def _necessities(possibility: Possibility) -> FloatArray:
    """Return ``N({u}) = 1 - max {pi(v) : v != u}`` of each value and sample."""
    degrees = possibility.degrees
    if degrees.shape[1] == 1:
        return np.ones_like(degrees)
    best = degrees.argmax(axis=1)[:, None]
    second, first = np.partition(degrees, -2, axis=1)[:, -2:].T[:, :, None]
    return np.asarray(1.0 - np.where(np.arange(degrees.shape[1]) == best, second, first))
