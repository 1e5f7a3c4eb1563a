"""The findings of an audit for one rule set: violated rules, and the suspicion of labels.

The suspicion of a label is ``max_u pi*(u) - pi*(label)`` (docs/audit.md): how much more possible
than the label another value is, as the rules infer with their parameters. Rules and parameters fit
the labels that they were learned from; so they are learned from other samples, fold by fold.
"""

from collections.abc import Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields
from textwrap import shorten
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from pinesy._common.caching import load_kernels
from pinesy._common.threads import n_threads
from pinesy._common.validation import BoolArray, FloatArray
from pinesy.engine.code import Code
from pinesy.engine.program import PremiseDegrees, run
from pinesy.evidence.targets import Target
from pinesy.learning.learning_arguments import TrainingBatch
from pinesy.learning.sample_passes import cell_shape
from pinesy.rulebase.attaining_rules import rule_bounds
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rulebase.sample_equations import interleave
from pinesy.rules.attributes import Attribute
from pinesy.rules.possibility import Possibility
from pinesy.rules.syntax.writer import format_subset, show_value
from pinesy.transforms import probabilities

Numbers = npt.NDArray[np.uint32]
Columns = tuple[npt.NDArray[Any], ...]
Indices = npt.NDArray[np.intp]
KERNELS = "pinesy.learning.sample_kernels"
#: The most characters of a subset, and of a rule, in a line of text.
SUBSET_WIDTH, RULE_WIDTH = 60, 120
#: Each thread computes premise degrees of at most this many bytes at a time.
CHUNK_BYTES = 1 << 20
#: The least and the largest number of samples in a chunk.
MIN_CHUNK, MAX_CHUNK = 128, 4096


@dataclass(frozen=True)
class Blame:
    """Where a sample contradicts a rule set most.

    Attributes
    ----------
    attribute : the output of the rule set
    nabla : by how much some degree of the target must change, at least
    support : the possibility that the rules, taken as certain, give to the values with target 1
    values : the values of the cell that attains `nabla`
    target : their target possibility
    rule : the number in the rule base of the rule that comes nearest to it (the first such)
    text : that rule
    side : whether the values lie in the rule's conclusion or in its complement
    degree : the possibility of its premise (in the conclusion) or of the negation (outside)
    limit, limit_text : number and text of the rule that speaks against the values with target 1:
        it keeps `support` down (the first such); None if `support` is 1
    """

    attribute: Attribute
    nabla: float
    support: float
    values: tuple[Hashable, ...]
    target: float
    rule: int
    text: str
    side: Literal["conclusion", "complement"]
    degree: float
    limit: int | None
    limit_text: str | None

    @property
    def reason(self) -> str:
        """The contradiction as text."""
        values = shorten(format_subset(self.values), SUBSET_WIDTH, placeholder=" ...}")
        start = f"{values} has target {self.target:.4g}, off by {self.nabla:.4g}"
        if self.limit_text is not None:
            return (
                f"{start}; what has target 1 is possible to {self.support:.4g} only, by rule "
                f"{self.limit}, {short(self.limit_text)}"
            )
        return f"{start}; no rule speaks against what has target 1"

    def __str__(self) -> str:
        return f"{self.attribute.name}: {self.reason}"


@dataclass(frozen=True, eq=False, repr=False)
class SetAudit:
    """The findings of an audit for one rule set: each array has an entry for each sample.

    Attributes
    ----------
    rule_set : RuleSet
    nabla : the distance, the largest of the cells'
    support : the possibility that the rules, taken as certain, give to the values with target 1:
        the largest ``min_j g`` of their cells. A parameter of 1 stays: an implication says nothing
        where its premise does not hold
    degree : the premise degree that the violated rule has on its `side`
    cell : the first cell of the partition that attains `nabla`
    side : the side that comes nearest to the target in that cell (the first, in the order of the
        rules): ``2j`` the conclusion of the rule at index `j`, ``2j + 1`` its complement
    limit : the side that keeps `support` down: the first one of premise degree `support` in the
        first of the cells that have it
    best : the first cell of the highest degree in the repaired target
    unique : whether no other cell has that degree
    agrees : whether the same cells are the most possible before and after repair; for a target
        that is a value: repair leaves it the only best one (values that no rule tells apart, in
        one cell, count as one)

    Where ``nabla = 0`` every cell attains it: no rule is violated.
    """

    rule_set: RuleSet
    nabla: FloatArray
    support: FloatArray
    degree: FloatArray
    cell: Numbers
    side: Numbers
    limit: Numbers
    best: Numbers
    unique: BoolArray
    agrees: BoolArray

    @classmethod
    def empty(cls, rule_set: RuleSet, n: int) -> "SetAudit":
        """Return arrays for `n` samples, to be filled."""
        kinds = [np.float64] * 3 + [np.uint32] * 4 + [np.bool_] * 2
        columns: list[Any] = [np.zeros(n, dtype=kind) for kind in kinds]
        return cls(rule_set, *columns)

    def fill(self, samples: slice, degrees: FloatArray, target: Target) -> None:
        """Set the entries of samples from their premise degrees (2 rules, n) and targets."""
        partition = self.rule_set.partition
        shape = cell_shape(partition)
        silent = interleave(self.rule_set.s, self.rule_set.r) == 1.0
        certain = np.where(silent[:, None], 1.0, degrees) if silent.any() else degrees
        arguments = (*shape, shape.patterns[2][target.labels], target.degrees, partition.signs)
        kernel = load_kernels(KERNELS).violations
        kernel(degrees, certain, *arguments, *(column[samples] for column in self.columns))

    @classmethod
    def join(cls, rule_set: RuleSet, parts: Sequence[Columns]) -> "SetAudit":
        """Concatenate the findings for several batches of samples."""
        return cls(rule_set, *map(np.concatenate, zip(*parts, strict=True))).freeze()

    def freeze(self) -> "SetAudit":
        """Make all arrays read-only, and return the audit."""
        for column in self.columns:
            column.setflags(write=False)
        return self

    @property
    def columns(self) -> Columns:
        """The arrays, in the order in which the kernel takes them."""
        return tuple(getattr(self, field.name) for field in fields(self)[1:])

    @property
    def rule(self) -> Numbers:
        """The index of the violated rule, from 0."""
        return self.side // np.uint32(2)

    @property
    def inside(self) -> BoolArray:
        """Whether the cell lies in the conclusion of the violated rule."""
        return np.equal(self.side % 2, 0)

    def values(self, cell: int) -> tuple[Hashable, ...]:
        """Return the values of a cell."""
        domain, inside = self.rule_set.output.domain, self.rule_set.partition.cell_of == cell
        return tuple(domain[i] for i in np.flatnonzero(inside))

    def blame(self, sample: int, target: FloatArray, first: int = 1) -> Blame:
        """Return where a sample with a target distribution contradicts the rules.

        The first rule of the set has the number `first`.
        """
        cell, rule, limit = int(self.cell[sample]), int(self.rule[sample]), None
        if self.support[sample] < 1.0:
            limit = int(self.limit[sample]) // 2
        return Blame(
            attribute=self.rule_set.output,
            nabla=float(self.nabla[sample]),
            support=float(self.support[sample]),
            values=self.values(cell),
            target=float(target[self.rule_set.partition.cell_of == cell].max()),
            rule=first + rule,
            text=str(self.rule_set.rules[rule]),
            side="conclusion" if self.inside[sample] else "complement",
            degree=float(self.degree[sample]),
            limit=None if limit is None else first + limit,
            limit_text=None if limit is None else str(self.rule_set.rules[limit]),
        )

    def repaired(self, sample: int, label: str) -> str | None:
        """Return the best value after repair as text: the label's, or None if several are best."""
        if self.agrees[sample]:
            return label
        return values_text(self.values(int(self.best[sample]))) if self.unique[sample] else None

    def __repr__(self) -> str:
        contrary, name = int((self.nabla > 0.0).sum()), self.rule_set.output.name
        return f"SetAudit({name}: {contrary} of {len(self.nabla)} samples contradict the rules)"


def judged_sets(cascade: Cascade, code: Code, batch: TrainingBatch) -> dict[str, SetAudit]:
    """Audit the samples for each rule set with targets, given the program for premise degrees.

    Cost: O(omega n) a sample and set; memory: a few numbers a sample and set.
    """
    sets = {name: SetAudit.empty(cascade[name], batch.n) for name in batch.targets}
    chunk = max(MIN_CHUNK, min(MAX_CHUNK, CHUNK_BYTES // (8 * code.n_outputs)))

    def judge(begin: int) -> None:
        samples = slice(begin, min(begin + chunk, batch.n))
        out = run(code, batch.rows(code, samples.start, samples.stop))
        for name, set_audit in sets.items():
            set_audit.fill(samples, out[code.degrees[name]], batch.targets[name][samples])

    with ThreadPoolExecutor(n_threads()) as pool:
        list(pool.map(judge, range(0, batch.n, chunk)))  # raises the error of the first chunk
    return {name: set_audit.freeze() for name, set_audit in sets.items()}


def rule_terms(rule_set: RuleSet, degrees: PremiseDegrees, values: Indices) -> FloatArray:
    """Return ``alpha`` or ``beta`` of each rule [eq:alphabeta], by the side of values [eq:redFP].

    `values` are indices in the domain. The result has a row for each value and a column for each
    rule; premise degrees are those of one sample, or of one for each value.
    """
    signs = rule_set.partition.signs[rule_set.partition.cell_of[values]]
    return rule_bounds(signs, rule_set.s, rule_set.r, degrees.lambdas, degrees.rhos)


def short(rule: object) -> str:
    """Return the text of a rule, shortened to fit a line."""
    return shorten(str(rule), RULE_WIDTH, placeholder=" ...")


def values_text(values: Sequence[Hashable]) -> str:
    """Return the text of a single value, or of several as a subset."""
    return show_value(values[0]) if len(values) == 1 else format_subset(values)


@dataclass(frozen=True, eq=False)
class SetSuspicion:
    """How possible the labels of one rule set are: each array has an entry for each sample.

    Attributes
    ----------
    possibility : the possibility of the label, or of the most possible value of target 1
    probability : the probability of the values of target 1, by the inverse antipignistic transform
    highest : the largest possibility of any value
    best : the index of the first value of that possibility
    """

    possibility: FloatArray
    probability: FloatArray
    highest: FloatArray
    best: Indices

    @classmethod
    def empty(cls, n: int) -> "SetSuspicion":
        """Return arrays for `n` samples, to be filled."""
        return cls(np.empty(n), np.empty(n), np.empty(n), np.empty(n, np.intp))

    def fill(self, rows: Indices, possibility: Possibility, target: Target) -> None:
        """Set the entries of the samples in `rows` from their possibilities and targets."""
        pi, domain = possibility.degrees, possibility.attribute.domain
        if domain != target.attribute.domain:  # values that the rules never saw have 0
            pi = np.zeros((len(pi), len(target.attribute.domain)))
            columns = [target.attribute.position(value) for value in domain]
            pi[:, columns] = possibility.degrees
        labelled = target.distributions == 1.0
        self.possibility[rows] = np.where(labelled, pi, 0.0).max(axis=1)
        self.probability[rows] = np.where(labelled, probabilities(pi), 0.0).sum(axis=1)
        self.highest[rows] = pi.max(axis=1)
        self.best[rows] = pi.argmax(axis=1)

    @classmethod
    def join(cls, parts: "Sequence[SetSuspicion]") -> "SetSuspicion":
        """Concatenate the entries of several batches of samples."""
        return cls(*map(np.concatenate, zip(*(vars(part).values() for part in parts), strict=True)))

    @property
    def suspicion(self) -> FloatArray:
        """How much more possible than the label another value is."""
        return self.highest - self.possibility

    @property
    def suspicious(self) -> BoolArray:
        """Which labels are less possible than another value, or impossible."""
        return np.asarray((self.highest > self.possibility) | (self.possibility == 0.0))
