"""How well rules predict: what tolerances are chosen by."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy.engine.evidence import Evidence
from pinesy.exceptions import DataError
from pinesy.learning.learning_arguments import Rules, TrainingBatch, batch_of
from pinesy.rulebase.cascade import Cascade, as_cascade
from pinesy.rulebase.targets import Target

#: A function of a cascade, evidence and targets; the larger its value the better.
Metric = Callable[[Cascade, Any, Any], float]
Positions = npt.NDArray[np.intp]


def accuracy(rules: Rules, evidence: Evidence, targets: Any) -> float:
    """Return the fraction of samples whose final outputs are all predicted rightly.

    A prediction is right if the most possible value is the target and no other value is as
    possible: an ambiguous result draws no conclusion, and counts as an error. The final outputs
    are those of `Cascade.outputs` that have targets; if none has, all attributes with targets.

    Parameters
    ----------
    rules : a cascade or a rule set
    evidence, targets : as `learn` takes them; targets that are distributions stand for their most
        possible value, and must have only one

    Examples
    --------
    >>> from pinesy import Attribute, If, RuleSet
    >>> rain, grass = Attribute("rain", ["yes", "no"]), Attribute("grass", ["wet", "dry"])
    >>> rules = RuleSet([If(rain.isin({"yes"})).then(grass.isin({"wet"}))])
    >>> rains = {"rain": [[1.0, 0.0], [0.2, 1.0], [1.0, 1.0]]}  # nobody knows in the third sample
    >>> accuracy(rules, rains, ["wet", "wet", "wet"]) * 3
    1.0
    """
    cascade = as_cascade(rules)
    batch, wanted = answers(cascade, evidence, targets)
    found = cascade.infer(batch.known, list(wanted))
    right = np.ones(batch.n, dtype=np.bool_)
    for name, positions in wanted.items():
        right &= (found[name].degrees.argmax(axis=1) == positions) & ~found[name].ambiguous
    return float(right.mean())


def answers(
    cascade: Cascade, evidence: Evidence, targets: Any
) -> tuple[TrainingBatch, dict[str, Positions]]:
    """Check samples; return them and the right value of each final output, by its position."""
    batch = batch_of(cascade, evidence, targets)
    final = [a.name for a in cascade.outputs if a.name in batch.targets]
    return batch, {name: _positions(batch.targets[name]) for name in final or batch.targets}


def _positions(target: Target) -> Positions:
    if not target.is_graded:
        return target.labels.astype(np.intp)
    ties = (target.degrees == 1.0).sum(axis=1) > 1
    if ties.any():
        raise DataError(
            f"the target of {target.attribute.name!r}, row {int(np.argmax(ties))}, has several "
            "most possible values, so that no prediction is the right one; give values as "
            "targets, or a metric of your own"
        )
    return np.asarray(target.degrees.argmax(axis=1))
