"""Reads targets for one sample or a batch, and the actual inputs if there are any."""

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from pinesy._common.validation import FloatArray
from pinesy.engine.evidence import Evidence, Rows
from pinesy.exceptions import DataError, placed
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.targets import Target
from pinesy.rules.attributes import Attribute
from pinesy.rules.possibility import Possibility


def read_targets(
    cascade: Cascade, given: Mapping[str, Any], is_batch: bool | None
) -> tuple[dict[str, FloatArray], bool]:
    """Return the target distributions ``(n, |D_b|)`` by name, and whether they are a batch.

    `is_batch` is known where inputs are given with the targets.
    """
    attributes = {name: cascade[name].output for name in given}
    if is_batch is None:
        is_batch = not all(_is_one(content, attributes[name]) for name, content in given.items())
    found = {
        name: _target(content, attributes[name], is_batch=is_batch)
        for name, content in given.items()
    }
    _check_numbers(found)
    return _by_column(found), is_batch


def _by_column(targets: Mapping[str, Target]) -> dict[str, FloatArray]:
    """Return the targets column by column, as results come: so they are quickly compared."""
    sizes = [len(one.attribute.domain) for one in targets.values()]
    n = len(next(iter(targets.values())))
    whole, samples = np.zeros((sum(sizes), n)), np.arange(n)
    ends = np.cumsum(sizes).tolist()
    found = {}
    for (name, one), size, end in zip(targets.items(), sizes, ends, strict=True):
        found[name] = whole[end - size : end].T
        if one.is_graded:
            found[name][...] = one.degrees
        else:
            whole[end - size + one.labels.astype(np.intp), samples] = 1.0
    return found


def _target(content: Any, attribute: Attribute, is_batch: bool) -> Target:
    if not is_batch and np.isscalar(content):
        with placed(f"the target of {attribute.name!r}"):
            attribute.position(content)  # a lone number is a value, not a degree
    return Target.of(content, attribute, is_batch=is_batch)


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


def _check_numbers(targets: Mapping[str, Target]) -> None:
    first = next(iter(targets))
    for name, target in targets.items():
        if len(target) != len(targets[first]):
            raise DataError(
                f"the target of {name!r} has {len(target)} samples but that of {first!r} has "
                f"{len(targets[first])}; all need the same number"
            )


def read_inputs(
    cascade: Cascade, needed: tuple[Attribute, ...], inputs: Evidence
) -> tuple[dict[str, FloatArray], bool]:
    """Return the actual distributions ``(n, |D_a|)`` of the inputs, and whether they are a batch.

    Their forms are those of `Cascade.infer`.
    """
    known = {a.name: a for a in cascade.inputs}
    concluded = frozenset(s.output.name for s in cascade.order)
    sizes = [len(a.domain) for a in needed]
    rows = Rows.of(inputs, needed, known, concluded, sum(sizes))
    parts = np.split(rows.block(0, rows.n), np.cumsum(sizes)[:-1], axis=1)
    return {a.name: part for a, part in zip(needed, parts, strict=True)}, rows.is_batch
