"""Several neuro-symbolic models as one, by the maximum of their possibilities."""

from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from pinesy._common.names import column_slices
from pinesy._common.validation import FloatArray, as_list
from pinesy.exceptions import CascadeError, DataError
from pinesy.model.neurosymbolic import NeuroSymbolic, Outputs
from pinesy.model.predictions import Predictions
from pinesy.rulebase.cascade import as_cascade
from pinesy.rules.attributes import Attribute
from pinesy.rules.possibility import Possibility


class Combined:
    """Models that fit the same answers, such as those of several starts, taken together.

    Answers may be consistent with several readings of the inputs, and each model is certain of one.
    The possibility of a value is the maximum over the models, ``pi = max_k pi_k``: for inputs, so
    that no value is certain where models disagree, and for outputs, which each model infers from
    its own reading. So an answer stays certain if all readings give it, and is undecided if they do
    not (docs/shortcuts.md).

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
        """Return the possibility distribution of each input, by name."""
        inputs, evidence = _inputs(self.models[0]), self.evidence(samples)
        spans = column_slices(inputs)
        return {a.name: Possibility(a, evidence[:, spans[a.name]]) for a in inputs}

    def predict_possibility(self, samples: Any, outputs: Outputs = None) -> dict[str, Possibility]:
        """Return the possibility distribution of each output, for each sample.

        Parameters
        ----------
        samples : as for the models
        outputs : the attributes to infer; by default those that no premise uses
        """
        outputs = None if outputs is None else list(outputs)
        inferences = [model.predict_possibility(samples, outputs) for model in self.models]
        return {name: _union([pis[name] for pis in inferences]) for name in inferences[0]}

    def predict(self, samples: Any, outputs: Outputs = None) -> Predictions:
        """Return the most possible value of each output, and where there are several or none."""
        return Predictions(self.predict_possibility(samples, outputs))


def _inputs(model: NeuroSymbolic) -> tuple[Attribute, ...]:
    return as_cascade(model.rules).inputs


def _union(pis: Sequence[Possibility]) -> Possibility:
    """Return the pointwise maximum: a contradiction of one does not count where others agree."""
    degrees = reduce(np.maximum, (pi.degrees for pi in pis))
    coherence = reduce(np.maximum, (np.asarray(pi.coherence) for pi in pis))
    return Possibility(pis[0].attribute, degrees, coherence)
