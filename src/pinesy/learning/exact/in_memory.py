"""Learning from samples that are in memory, and how samples are checked."""

from collections.abc import Collection, Mapping
from operator import is_
from typing import Any

from pinesy._common.names import column_slices
from pinesy.engine.code import Code
from pinesy.engine.evidence import Evidence, Rows
from pinesy.exceptions import DataError, placed
from pinesy.learning.exact.sample_systems import Measured, Stage, TrainingBatch
from pinesy.learning.exact.stages import Samples, learn_from
from pinesy.learning.learning_result import LearningResult
from pinesy.learning.tolerances.tolerance_groups import Tolerance, resolve
from pinesy.rulebase.cascade import Cascade, as_cascade, evidence_rows
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rulebase.targets import named_targets, read_targets

Rules = RuleSet | Cascade
#: For each stage the programs that led to it, and what was measured then.
Past = dict[int, tuple[tuple[Code, ...], Measured]]


def learn(
    rules: Rules,
    evidence: Evidence,
    targets: Any,
    *,
    tolerance: Tolerance = None,
    initial: Any = None,
) -> LearningResult:
    """Learn rule parameters from training samples, exactly [meth:learningincascade].

    Every sample sets equations for the parameters of each rule set. A sample whose system has
    Chebyshev distance ``nabla < tau`` is *reliable* [def:reliabletau]; it is repaired
    [def:reduced-es], and the lowest approximate solution of all the repaired systems together
    [eq:lowestapproxsol] gives ``s`` and ``r``. Sets are learned in the order of inference. Cost:
    O(omega n) a sample and set, and what the Pareto fronts take.

    Parameters
    ----------
    rules : a rule set or a cascade
    evidence : the distributions of the inputs, as `Cascade.infer` takes them (one array holds the
        columns of all of `Cascade.inputs`)
    targets : for a cascade a mapping from output attributes (or their names) to targets; sets
        without one keep their parameters. For a rule set, the targets of its output. Targets are
        one value a sample, or degrees of shape ``(n_samples, |D_b|)``; see `Target.of`.
    tolerance : ``tau``: one number; a mapping from groups of sets (a name, a pattern such as
        ``"c_*"``, or a tuple of these) to numbers; or None, which keeps every sample
    initial : the parameters to begin with, as `with_parameters` takes them: those of the sets that
        have no target

    Examples
    --------
    >>> from pinesy import Attribute, If, RuleSet, learn
    >>> rain, grass = Attribute("rain", ["yes", "no"]), Attribute("grass", ["wet", "dry"])
    >>> rules = RuleSet([If(rain.isin({"yes"})).then(grass.isin({"wet"}))])
    >>> rains = {"rain": [[1.0, 0.0], [0.0, 1.0]]}
    >>> result = learn(rules, rains, [[1.0, 0.25], [0.5, 1.0]])  # dry grass after rain: 0.25
    >>> print(result.rule_set)
    if rain in {yes} then grass in {wet} [s=0.5, r=0.25]
    """
    cascade = with_initial(rules, initial)
    batch = batch_of(cascade, evidence, targets)
    return learn_from(cascade, InMemory(batch), resolve(tolerance, list(batch.targets)))


class InMemory(Samples):
    """Samples in memory: premise degrees and distances stay from pass to pass.

    Parameters
    ----------
    batch : the samples
    past : where to store what was measured, by the number of the stage, for when it is learned
        again: a stage that comes after the same programs as the last time is not measured again
    """

    def __init__(self, batch: TrainingBatch, past: Past | None = None) -> None:
        self.have: Mapping[str, Any] = {}
        self._batch = batch
        self._past = past
        self._path: tuple[Code, ...] = ()

    def begin(self, stage: Stage) -> Measured:
        """Compute the premise degrees and distances of a stage."""
        number, self._path = len(self._path), (*self._path, stage.code)
        past = {} if self._past is None else self._past
        # The programs hold all parameters learned so far.
        if number not in past or not all(map(is_, past[number][0], self._path)):
            past[number] = self._path, Measured(stage, self._batch.extended(self.have))
        measured = past[number][1]
        self.have = measured.inferred
        return measured


def with_initial(rules: Rules, initial: Any = None) -> Cascade:
    """Return the rules as a cascade, with their initial parameters if some are given."""
    cascade = as_cascade(rules)
    if initial is None:
        return cascade
    if isinstance(rules, RuleSet):
        initial = {rules.output.name: initial}
    return cascade.with_parameters(initial)


def batch_of(cascade: Cascade, evidence: Evidence, targets: Any) -> TrainingBatch:
    """Check the form of training samples: names, shapes, values and degrees of targets.

    The targets of a single rule set may come alone; see `named_targets`.
    """
    attributes = {name: one.output for name, one in cascade.sets.items()}
    only = next(iter(attributes.values())) if len(attributes) == 1 else None
    named = named_targets(targets, attributes, only)
    rows = _rows(cascade, evidence, named)
    if rows.n == 0:
        raise DataError("there are no samples to learn from")
    given = read_targets(named, attributes, rows.n, is_batch=rows.is_batch)
    return TrainingBatch(rows.n, _by_attribute(rows), given)


def batch_of_pair(cascade: Cascade, where: str, pair: Any, kinds: Any = tuple) -> TrainingBatch:
    """Check a pair ``(evidence, targets)``, of one of some kinds, that is a part of the samples."""
    if not isinstance(pair, kinds) or len(pair) != 2:
        raise DataError(f"{where} is not a pair (evidence, targets): {pair!r:.60}")
    with placed(where):
        return batch_of(cascade, *pair)


def check_targeted(where: str, names: Collection[str], first: Collection[str]) -> None:
    """Raise `DataError` unless a part of the samples has the targets that the first part has."""
    if list(names) != list(first):
        kind = where.split()[0]
        raise DataError(
            f"{where} has targets for {', '.join(names)}, the first {kind} for {', '.join(first)}; "
            f"every {kind} needs the same"
        )


def _rows(cascade: Cascade, evidence: Evidence, targeted: Collection[str]) -> Rows:
    if not isinstance(evidence, Mapping):
        return evidence_rows(cascade, evidence)
    used = {a.name for one in cascade.needed(targeted) for a in one.inputs}
    return evidence_rows(cascade, evidence, tuple(a for a in cascade.inputs if a.name in used))


def _by_attribute(rows: Rows) -> dict[str, Any]:
    """Return the columns of each input."""
    if len(rows.arrays) == len(rows.attributes):
        return {a.name: x for a, x in zip(rows.attributes, rows.arrays, strict=True)}
    return {n: rows.arrays[0][:, columns] for n, columns in column_slices(rows.attributes).items()}
