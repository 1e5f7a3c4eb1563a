"""From target outputs to target inputs."""

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from pinesy._common.names import column_slices
from pinesy._common.validation import FloatArray, check_integer
from pinesy.engine.evidence import Evidence
from pinesy.exceptions import DataError, placed
from pinesy.inverse.backward_pass import ActualSample, backward_pass
from pinesy.inverse.backward_program import Arrays, backward_program
from pinesy.inverse.reversal import Reversal, output_targets
from pinesy.inverse.target_inputs import Backpropagation
from pinesy.rulebase.cascade import Cascade, as_cascade, evidence_rows
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rulebase.targets import Target, read_targets
from pinesy.rules.attributes import Attribute
from pinesy.rules.possibility import Possibility

#: Choices of conjuncts that are tried for a sample.
LIMIT = 100


def backpropagate(
    rules: RuleSet | Cascade, evidence: Evidence | None, targets: Any, *, limit: int = LIMIT
) -> Backpropagation:
    """Infer target inputs, from which the rules infer a target output [subsub:backpropagation].

    A target output sets equations ``O = M box X`` [eq:sysOmega] for the premise degrees `X`; every
    `X` from ``F^down`` to ``F^up`` solves them if any does [cor:consistOMEGA], and a rule's degree
    may rise to its parameter besides. The greatest inputs that keep all premise degrees within
    ``max(F^up, parameters)`` are inferred from the target by the rules read backwards, set by set
    down to the inputs of the cascade; what they give by inference is compared with the target.
    These bounds are sufficient, not necessary: where no inputs keep to all of them, others may
    still give the target.

    Parameters
    ----------
    rules : a rule set or a cascade
    evidence : the actual inputs, as `Cascade.infer` takes them: choices stay near to them, and the
        result tells how far they are from the targets. None where they are not known.
    targets : for each attribute that has one, by name: a value or a normalised distribution; for a
        batch one value a sample, or degrees of shape ``(n_samples, |D_b|)``. Any attributes that
        rules conclude on may have targets. Where there is only one output, its target may come
        alone. Without `evidence`, a sequence of numbers as long as the domain that are not its
        values, or are floats, is one distribution.
    limit : how many choices of conjuncts are tried for a sample where conjunctions need one

    Examples
    --------
    >>> from pinesy import Attribute, If, RuleSet
    >>> rain, grass = Attribute("rain", ["yes", "no"]), Attribute("grass", ["wet", "dry"])
    >>> rules = RuleSet([If(rain.isin({"yes"})).then(grass.isin({"wet"}), s=0.3)])
    >>> back = backpropagate(rules, None, {"wet": 0.3, "dry": 1.0})
    >>> back.inputs["rain"], back.reproduced
    (Possibility(rain, {no: 1, yes: 0.3}), True)
    >>> backpropagate(rules, None, "dry").repaired["grass"]  # wet grass cannot be below s
    Possibility(grass, {dry: 1, wet: 0.3})
    """
    limit = check_integer(limit, "limit", error=DataError)
    cascade = as_cascade(rules)
    named = output_targets(cascade, targets)
    program = backward_program(cascade, tuple(named))
    actual, is_batch = None, None
    if evidence is not None:
        actual, is_batch = _read_actual(program.reversal, evidence)
    n = None if actual is None else len(next(iter(actual.inputs.values())))
    degrees, is_batch = _read_targets(cascade, named, is_batch, n)
    return Backpropagation(backward_pass(program, degrees, actual, limit), is_batch)


def _read_actual(back: Reversal, evidence: Evidence) -> tuple[ActualSample, bool]:
    """Return the actual inputs, what they give, and whether they are a batch."""
    rows = evidence_rows(back.cascade, evidence, back.inputs)
    block = rows.block(0, rows.n)
    inputs = {name: block[:, columns] for name, columns in column_slices(back.inputs).items()}
    given = inputs if rows.is_batch else {name: array[0] for name, array in inputs.items()}
    inferred = back.cascade.infer(given, list(back.targets))  # which refuses what is not normalised
    outputs = {name: np.atleast_2d(inferred[name].degrees) for name in back.targets}
    return ActualSample(inputs, outputs), rows.is_batch


def _read_targets(
    cascade: Cascade, named: Mapping[str, Any], is_batch: bool | None, n: int | None
) -> tuple[Arrays, bool]:
    """Return the target distributions ``(n, |D_b|)`` by name, and whether they are a batch.

    `is_batch` and `n` are known where evidence is given with the targets.
    """
    attributes = {name: cascade[name].output for name in named}
    if is_batch is None:
        is_batch = not all(_is_one(content, attributes[name]) for name, content in named.items())
    for name, content in named.items():
        if not is_batch and np.isscalar(content):
            with placed(f"the target of {name!r}"):
                attributes[name].position(content)  # a lone number is a value, not a degree
    return _by_column(read_targets(named, attributes, n, is_batch=is_batch)), is_batch


def _is_one(content: object, attribute: Attribute) -> bool:
    """Tell whether a target is of one sample: a value, or one distribution."""
    if isinstance(content, Possibility):
        return not content.is_batch
    if isinstance(content, Target):
        return False
    if isinstance(content, str | bytes | Mapping):
        return True
    if isinstance(content, Hashable) and content in attribute:
        return True
    try:
        array = np.asarray(content)
    except ValueError:  # rows of several lengths: `Target.of` says so
        return False
    return array.ndim == 0 or (array.ndim == 1 and _are_degrees(array, attribute))


def _are_degrees(array: Any, attribute: Attribute) -> bool:
    """Tell degrees from values: of full length, and floats or not all values of the domain."""
    if array.dtype.kind not in "fiub" or len(array) != len(attribute.domain):
        return False
    floats = any(isinstance(v, float) for v in attribute.domain)
    values = all(v in attribute for v in array.tolist())
    return not values or (array.dtype.kind == "f" and not floats)


def _by_column(targets: Mapping[str, Target]) -> dict[str, FloatArray]:
    """Return the targets column by column, as programs give theirs: so they compare quickly."""
    slices = column_slices(one.attribute for one in targets.values())
    n = len(next(iter(targets.values())))
    whole = np.zeros((sum(len(one.attribute.domain) for one in targets.values()), n))
    samples = np.arange(n)
    columns = {name: whole[span].T for name, span in slices.items()}
    for name, one in targets.items():
        if one.is_graded:
            columns[name][...] = one.degrees
        else:  # in place: distributions of labels would be made, transposed and copied
            whole[slices[name].start + one.labels.astype(np.intp), samples] = 1.0
    return columns
