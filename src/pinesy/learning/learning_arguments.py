"""The arguments of learning: rules, training samples, tolerances, fixed parameters."""

from collections.abc import Collection, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from math import inf
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy._common.names import column_slices, name_of
from pinesy._common.validation import BoolArray, FloatArray, suggestion
from pinesy.engine.code import Code
from pinesy.evidence.evidence_form import Evidence, evidence_rows
from pinesy.evidence.rows import Rows
from pinesy.evidence.targets import Target, named_targets, read_targets
from pinesy.exceptions import DataError, DegreeError, UnknownAttributeError, placed
from pinesy.rulebase.cascade import Cascade, as_cascade
from pinesy.rulebase.rule_set import RuleSet

Rules = RuleSet | Cascade
#: Rule sets that do the same task and share a tolerance: the name of an output attribute, a
#: pattern such as ``"c_*"``, or a tuple of these.
SetGroup = str | tuple[str, ...]
#: The tolerance of each group.
Tolerances = Mapping[SetGroup, float]
#: One number for all sets, one for each group, or None: every sample is kept.
Tolerance = float | Mapping[Any, float | None] | None
#: The largest sample weight: sums of weights stay exact.
MAX_WEIGHT = 1e6
#: By the name of a rule set, parameters ``s_1, r_1, s_2, ...``.
SetParameters = Mapping[str, FloatArray]


@dataclass(frozen=True, eq=False)
class TrainingBatch:
    """Training samples whose form was checked.

    Attributes
    ----------
    n : the number of samples
    known : the distributions (n, |D_a|) of the inputs and of attributes inferred so far
    targets : the targets, by the name of the attribute
    weights : sample weights, for methods that count samples; None if each counts once
    """

    n: int
    known: MutableMapping[str, npt.NDArray[Any]]
    targets: Mapping[str, Target]
    weights: FloatArray | None = None

    def rows(self, code: Code, begin: int = 0, end: int | None = None) -> Rows:
        """Return the inputs of a program for samples ``begin .. end-1``.

        Errors name the row of the batch.
        """
        stop = self.n if end is None else end
        arrays = [self.known[a.name][begin:stop] for a in code.inputs]
        return Rows(code.inputs, arrays, stop - begin, True, begin)

    def single(self, sample: int) -> "TrainingBatch":
        """Return a batch of one sample."""
        return self.rows_at(np.array([sample]))

    def select(self, mask: BoolArray) -> "TrainingBatch":
        """Return the samples that a mask selects."""
        return self.rows_at(np.flatnonzero(mask))

    def rows_at(self, rows: npt.NDArray[np.intp]) -> "TrainingBatch":
        """Return the samples at the given rows."""
        return TrainingBatch(len(rows), *self.part(rows))

    def part(self, rows: npt.NDArray[np.intp]) -> tuple[dict[str, Any], dict[str, Target]]:
        """Return the evidence and the targets of the samples at the given rows, for `learn`."""
        known = {name: x[rows] for name, x in self.known.items()}
        return known, {name: target[rows] for name, target in self.targets.items()}


def initial_cascade(rules: Rules, initial: Any = None) -> Cascade:
    """Return the rules as a cascade, with the initial parameters unless they are None."""
    cascade = as_cascade(rules)
    if initial is None:
        return cascade
    if isinstance(rules, RuleSet):
        initial = {rules.output.name: initial}
    return cascade.with_parameters(initial)


def batch_of(
    cascade: Cascade, evidence: Evidence, targets: Any, weights: Any = None, least: int = 1
) -> TrainingBatch:
    """Check the form of training samples: names, shapes, values, degrees of targets, weights.

    The targets of a single rule set need no name; see `named_targets`. Raises `DataError` if there
    are fewer samples than `least`.
    """
    attributes = {name: rule_set.output for name, rule_set in cascade.sets.items()}
    only = next(iter(attributes.values())) if len(attributes) == 1 else None
    named_content = named_targets(targets, attributes, only)
    inputs = cascade.inputs
    if isinstance(evidence, Mapping):  # attributes that no target depends on may be missing
        needed = {a.name for rule_set in cascade.needed(named_content) for a in rule_set.inputs}
        inputs = tuple(a for a in inputs if a.name in needed)
    rows = evidence_rows(cascade, evidence, inputs)
    if rows.n < least:
        raise DataError("there are no samples to learn from")
    checked_targets = read_targets(named_content, attributes, rows.n, is_batch=rows.is_batch)
    if len(rows.arrays) == len(rows.attributes):
        known = {a.name: x for a, x in zip(rows.attributes, rows.arrays, strict=True)}
    else:  # one array holds the columns of all inputs
        slices = column_slices(rows.attributes).items()
        known = {name: rows.arrays[0][:, columns] for name, columns in slices}
    checked_weights = None if weights is None else _checked_weights(weights, rows.n)
    return TrainingBatch(rows.n, known, checked_targets, checked_weights)


def _checked_weights(weights: Any, n: int) -> FloatArray:
    """Return sample weights of `n` samples as an array, or raise `DataError`."""
    checked = np.asarray(weights)
    if checked.shape != (n,) or checked.dtype.kind not in "fiub":
        raise DataError(
            f"the weights are {checked.dtype} of shape {checked.shape}; give {n} numbers, one for "
            "each sample"
        )
    wrong = ~((checked >= 0) & (checked <= MAX_WEIGHT))
    if wrong.any():
        row = int(wrong.argmax())
        raise DataError(
            f"the weight of sample {row} is {checked[row].item()!r}; it must be a number from 0 to "
            f"{MAX_WEIGHT:g}"
        )
    if not checked.any():
        raise DataError("all weights are 0: there are no samples to learn from")
    return checked.astype(np.float64)


def batch_of_pair(cascade: Cascade, where: str, pair: Any, types: Any = tuple) -> TrainingBatch:
    """Check a part of the samples: a pair ``(evidence, targets)`` of one of these types.

    It may have no samples.
    """
    if not isinstance(pair, types) or len(pair) != 2:
        raise DataError(f"{where} is not a pair (evidence, targets): {pair!r:.60}")
    evidence, targets = pair
    with placed(where):
        return batch_of(cascade, evidence, targets, least=0)


def check_targeted(where: str, names: Collection[str], first: Collection[str]) -> None:
    """Raise `DataError` unless a part of the samples has the targets of the first part."""
    if list(names) != list(first):
        noun = where.split()[0]
        raise DataError(
            f"{where} has targets for {', '.join(names)}, the first {noun} for {', '.join(first)}; "
            f"every {noun} needs the same"
        )


def tolerances_by_set(tolerance: Tolerance, names: Sequence[str]) -> dict[str, float]:
    """Return the tolerance of each rule set: a sample is reliable iff ``nabla < tau``.

    [def:reliabletau]. Sets that are in no group keep every sample, as with None.

    Examples
    --------
    >>> tolerances_by_set({"c_*": 0.1}, ["c_1", "c_2", "y"])
    {'c_1': 0.1, 'c_2': 0.1, 'y': inf}
    """
    if not isinstance(tolerance, Mapping):
        by_set: dict[str, Any] = dict.fromkeys(names, (None, tolerance))
    else:
        by_set = _by_set(tolerance, names, "the tolerance")
    tolerances = dict.fromkeys(names, inf)
    for name, (group, tau) in by_set.items():
        if tau is None:
            continue
        try:
            tolerances[name] = float(tau)
        except (TypeError, ValueError):
            tolerances[name] = -1.0
        if not tolerances[name] > 0.0 or isinstance(tau, bool | str):
            of_group = "" if group is None else f" of {group!r}"
            raise DegreeError(
                f"the tolerance{of_group} is {tau!r:.60}; it must be a number > 0 (a sample is "
                "kept if its distance is below it; above 1 all are kept), or None to keep all"
            )
    return tolerances


def _by_set(groups: Mapping[Any, Any], names: Sequence[str], argument: str) -> dict[str, Any]:
    """Return for each set the pair of its group and content; raise where groups overlap."""
    by_set: dict[str, Any] = {}
    for group, content in groups.items():
        for name in matching_sets(group, names):
            if name in by_set:
                raise UnknownAttributeError(
                    f"{argument} of {name!r} is given twice: the groups {list(groups)} overlap; "
                    "give each set to one of them"
                )
            by_set[name] = group, content
    return by_set


def matching_sets(group: object, names: Sequence[str]) -> list[str]:
    """Return the names that match a name, a pattern or a tuple of these; raise if none does.

    Examples
    --------
    >>> matching_sets(("c_*", "y"), ["c_1", "c_2", "x", "y"])
    ['c_1', 'c_2', 'y']
    """
    matching = set()
    for part in group if isinstance(group, tuple) else (group,):
        pattern = str(name_of(part))
        matches = [name for name in names if name == pattern or fnmatchcase(name, pattern)]
        if not matches:
            raise UnknownAttributeError(
                f"no rule set with a target is named {pattern!r}{suggestion(pattern, names)}"
            )
        matching.update(matches)
    return [name for name in names if name in matching]


def resolve_groups(groups: Sequence[Any] | None, names: Sequence[str]) -> dict[SetGroup, list[str]]:
    """Return the sets of each group; raise where groups overlap or are empty."""
    if groups is None:
        return {"*": list(names)}
    if not isinstance(groups, list | tuple) or not groups:
        raise DataError(
            f"groups is {groups!r:.60}; give a list of groups, such as ['c_*', ('x', 'y')]"
        )
    keys: list[SetGroup] = []
    for group in groups:
        members = group if isinstance(group, tuple) else (group,)
        parts: list[Any] = [getattr(part, "name", part) for part in members]
        if not parts or not all(isinstance(part, str) for part in parts):
            raise DataError(
                f"a group is {group!r:.60}; it must be a name, a pattern such as 'c_*', or a tuple "
                "of these"
            )
        keys.append(tuple(parts) if isinstance(group, tuple) else parts[0])
    if len(set(keys)) < len(keys):
        raise DataError(f"a group is given twice: {keys}; give each once")
    _by_set(dict.fromkeys(keys), names, "the group")  # raises where they overlap
    return {key: matching_sets(key, names) for key in keys}


def show_group(group: SetGroup) -> str:
    """Return a group as text."""
    return ", ".join(group) if isinstance(group, tuple) else group


def show_tolerances(tolerances: Tolerances) -> str:
    """Return the tolerances of up to six groups as text."""
    texts = [f"{show_group(g):.30}={t:.4g}" for g, t in list(tolerances.items())[:6]]
    return ", ".join(texts) + ", ..." * (len(tolerances) > 6)


#: Names of parameters to fix, instead of a mask.
FIXED_WORDS = ("s", "r", "implications")


def fixed_parameters(fixed: Any, cascade: Cascade, names: Sequence[str]) -> SetParameters:
    """Return the fixed parameters of each set that has some; NaN for those that are learned.

    Parameters
    ----------
    fixed : None; ``"s"`` or ``"r"``, for all rules; ``"implications"``, the `s` of all rules whose
        `s` is 1, so that they stay implications; an array of booleans ``(n_rules, 2)`` with columns
        s and r, if there is one set; or a mapping from groups of sets to these
    """
    if fixed is None:
        return {}
    by_set = dict.fromkeys(names, (None, fixed))
    if isinstance(fixed, Mapping):
        by_set = _by_set(fixed, names, "what is fixed")
    constants: dict[str, FloatArray] = {}
    for name, (_, selection) in by_set.items():
        parameters = np.stack([cascade.sets[name].s, cascade.sets[name].r], axis=1)
        if isinstance(selection, str) and selection in FIXED_WORDS:
            mask: Any = np.zeros(parameters.shape, dtype=bool)
            implications = parameters[:, 0] == 1.0
            mask[:, int(selection == "r")] = implications if selection == "implications" else True
        else:
            try:
                mask = np.asarray(selection)
            except ValueError:  # rows of different lengths
                mask = np.empty(0)
            if mask.dtype != bool or mask.shape != parameters.shape:
                raise DataError(
                    f"what is fixed of {name!r} is {selection!r:.60}; give one of "
                    f"{', '.join(FIXED_WORDS)}, or booleans of shape {parameters.shape}: a row for "
                    "each rule, columns s and r"
                )
        if mask.any():
            constants[name] = np.where(mask, parameters, np.nan).ravel()
    return constants


def set_fixed(x: FloatArray, fixed: FloatArray | None) -> FloatArray:
    """Return parameters with the fixed ones at their fixed values."""
    return x if fixed is None else np.where(np.isnan(fixed), x, fixed)
