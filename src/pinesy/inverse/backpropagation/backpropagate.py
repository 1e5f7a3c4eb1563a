"""From target outputs to target inputs."""

from typing import Any

import numpy as np

from pinesy.engine.evidence import Evidence
from pinesy.exceptions import DataError
from pinesy.inverse.backpropagation.found import Actual, Arrays, find
from pinesy.inverse.backpropagation.passage import Passage, passage_of
from pinesy.inverse.backpropagation.reading import read_inputs, read_targets
from pinesy.inverse.backpropagation.result import Backpropagation
from pinesy.rulebase.cascade import Cascade, as_cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rulebase.targets import named_targets

#: Choices of propositions that are tried for a sample.
LIMIT = 100


def backpropagate(
    rules: RuleSet | Cascade, target: Any, inputs: Evidence | None = None, *, limit: int = LIMIT
) -> Backpropagation:
    """Find target inputs from which the rules infer a target output.

    A target output sets equations ``O = M box X`` for the premise degrees `X`; every `X` from
    ``F^down`` to ``F^up`` solves them if any does, and a rule's degree may rise to its parameter
    besides. The greatest inputs that keep all premise degrees within ``max(F^up, parameters)`` are
    inferred from the target by the rules read backwards, set by set down to the inputs of the
    cascade; what they give by inference is compared with the target. These bounds are sufficient,
    not necessary: where no inputs keep to all of them, others may still give the target.

    Parameters
    ----------
    rules : a rule set or a cascade
    target : for each attribute that has one, by name: a value or a normalised distribution; for a
        batch one value a sample, or degrees of shape ``(n_samples, |D_b|)``. Any attributes that
        rules conclude on may have targets. Where there is only one output, its target may come
        alone. Without `inputs`, a sequence of numbers as long as the domain that are not its
        values, or are floats, is one distribution.
    inputs : the actual inputs, as `Cascade.infer` takes them: choices keep near to them, and the
        result tells how far they are from the targets
    limit : how many choices of propositions are tried for a sample where conjunctions need one

    Examples
    --------
    >>> from pinesy import Attribute, If, RuleSet
    >>> rain, grass = Attribute("rain", ["yes", "no"]), Attribute("grass", ["wet", "dry"])
    >>> rules = RuleSet([If(rain.isin({"yes"})).then(grass.isin({"wet"}), s=0.3)])
    >>> found = backpropagate(rules, {"wet": 0.3, "dry": 1.0})
    >>> found.inputs["rain"], found.reproduced
    (Possibility(rain, {no: 1, yes: 0.3}), True)
    >>> backpropagate(rules, "dry").repaired["grass"]  # wet grass cannot be below s
    Possibility(grass, {dry: 1, wet: 0.3})
    """
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 0:
        raise DataError(f"limit={limit!r}; give the number of choices to try, 0 or more")
    cascade = as_cascade(rules)
    only = cascade.outputs[0] if len(cascade.outputs) == 1 else None
    named = named_targets(target, {s.output.name: s.output for s in cascade.order}, only)
    passage = passage_of(rules, cascade, tuple(named))
    actual, is_batch = _actual(passage, inputs)
    targets, is_batch = read_targets(cascade, named, is_batch)
    if actual is not None:
        _check_numbers(targets, actual)
    return Backpropagation(find(passage, targets, actual, limit), is_batch)


def _actual(passage: Passage, inputs: Evidence | None) -> tuple[Actual | None, bool | None]:
    """Read the actual inputs, if there are any, and infer what they give."""
    if inputs is None:
        return None, None
    back = passage.reversal
    arrays, is_batch = read_inputs(back.cascade, back.inputs, inputs)
    given = arrays if is_batch else {name: array[0] for name, array in arrays.items()}
    found = back.cascade.infer(given, list(back.targets))  # which refuses what is not normalised
    outputs = {name: np.atleast_2d(found[name].degrees) for name in back.targets}
    return Actual(arrays, outputs), is_batch


def _check_numbers(targets: Arrays, actual: Actual) -> None:
    n, samples = (len(next(iter(arrays.values()))) for arrays in (targets, actual.inputs))
    if n != samples:
        raise DataError(f"there are {n} targets for {samples} samples; give one for each")
