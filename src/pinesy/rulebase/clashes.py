"""Contradictions: pairs of rules that may clash, groups that clash on samples, and outcomes.

A rule bounds the values in its conclusion by ``alpha = max(s, lambda)``, the others by
``beta = max(r, rho)`` [eq:alphabeta]; a result is not normalised iff every cell of the partition is
kept below 1 by some rule.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pinesy._common.masks import mask_of, positions
from pinesy._common.validation import BoolArray
from pinesy.engine.program import Inference, Program, Trace
from pinesy.evidence.rows import Rows
from pinesy.evidence.targets import Target
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.outcomes import OUTCOME_WORDS, Outcome
from pinesy.rules.possibility import Possibility
from pinesy.rules.rule import Rule

#: Cells times rules squared, at most, for the search of all clashing pairs; else of one group.
PAIRS_LIMIT = 50_000_000
#: Contradictory samples in a block.
CHUNK = 4096
#: The outcomes of rules without calibration.
CODES: tuple[Outcome, ...] = ("decided", "several", "no_rule", "contradiction")


def clashing_groups(low: BoolArray) -> list[tuple[int, ...]]:
    """Return groups of rules that clash, by index: single rules, else pairs, else one group.

    Parameters
    ----------
    low : array (cells, rules), whether the rule keeps the cell below 1

    Returns
    -------
    groups : all single rules that keep every cell below 1; if there are none, all such pairs; if
        there are none either, one minimal group of more rules. Empty if no rule keeps some cell
        below 1.

    Examples
    --------
    >>> clashing_groups(np.array([[True, False, False], [False, True, True]]))
    [(0, 1), (0, 2)]
    >>> clashing_groups(np.array([[True, False], [False, False]]))
    []
    """
    low = np.unique(low, axis=0)  # so that cells that differ in nothing here count once
    if not low.any(axis=1).all():
        return []
    single = np.flatnonzero(low.all(axis=0)).tolist()
    if single:
        return [(rule,) for rule in single]
    if low.shape[0] * low.shape[1] ** 2 <= PAIRS_LIMIT:
        left = (~low).astype(np.float32)
        pairs = np.argwhere(np.triu(left.T @ left == 0.0, 1)).tolist()
        if pairs:
            return [tuple(pair) for pair in pairs]
    return [_minimal_cover(low)]


def _minimal_cover(low: BoolArray) -> tuple[int, ...]:
    """Return a minimal group of rules that keep every cell low, found greedily."""
    cover: list[int] = []
    is_open = np.ones(len(low), dtype=np.bool_)
    while is_open.any():
        cover.append(int(low[is_open].sum(axis=0).argmax()))
        is_open &= ~low[:, cover[-1]]
    for rule in cover[:]:
        others = [other for other in cover if other != rule]
        if low[:, others].any(axis=1).all():
            cover = others
    return tuple(sorted(cover))


# --- pairs of rules ---


class ValueIndex:
    """An inverted index of the subsets of rules: which of them intersect a given subset.

    For each value it has the set of the rules whose subset contains it, as an integer with bit `j`
    for rule `j`. A subset takes one union (bitwise or) for each of its values.

    Parameters
    ----------
    subsets : the masks of rules, by index
    """

    def __init__(self, subsets: Mapping[int, int]) -> None:
        self.every = mask_of(subsets)
        alike: dict[int, list[int]] = {}
        for rule, mask in subsets.items():
            alike.setdefault(mask, []).append(rule)
        self._with_value: dict[int, int] = {}
        #: The number of unions so far.
        self.work = 0
        for mask, same in alike.items():
            rules = mask_of(same)
            for value in positions(mask):
                self._with_value[value] = self._with_value.get(value, 0) | rules
                self.work += 1
        self._results: dict[int, int] = {}

    def intersecting(self, mask: int) -> int:
        """Return the set of the rules whose subset intersects `mask`."""
        if mask not in self._results:
            rules = 0
            for value in positions(mask):
                rules |= self._with_value.get(value, 0)
                self.work += 1
                if rules == self.every:
                    break
            self._results[mask] = rules
        return self._results[mask]


class RulePairs:
    """Pairs of rules with compatible premises and disjoint conclusions.

    Rules that exclude nothing (``r = 1``) or never hold are ignored. Formulas in premises count as
    compatible.
    """

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._premises = [rule.premise.masks for rule in rules]
        self._usable = [
            rule.r < 1.0 and all(masks.values())
            for rule, masks in zip(rules, self._premises, strict=True)
        ]
        self._conclusions = [rule.conclusion.mask for rule in rules]
        usable = [j for j, is_usable in enumerate(self._usable) if is_usable]
        self._every = mask_of(usable)
        self._concluding = ValueIndex({j: self._conclusions[j] for j in usable})
        names = dict.fromkeys(name for masks in self._premises for name in masks)
        self._premise_index = {
            name: ValueIndex(
                {j: self._premises[j][name] for j in usable if name in self._premises[j]}
            )
            for name in names
        }

    @property
    def work(self) -> int:
        """The number of unions of sets of rules so far."""
        indices = (self._concluding, *self._premise_index.values())
        return sum(index.work for index in indices)

    def after(self, rule: int) -> int:
        """Return the set of the later rules that are in conflict with a rule."""
        if not self._usable[rule]:
            return 0
        others = self._every >> rule + 1 << rule + 1
        for name, mask in self._premises[rule].items():
            index = self._premise_index[name]
            others &= index.intersecting(mask) | ~index.every
            if not others:
                return 0
        return others & ~self._concluding.intersecting(self._conclusions[rule])

    def __iter__(self) -> Iterator[tuple[int, int]]:
        """Yield the index of each rule, and the set of rules that `after` returns."""
        for rule in range(len(self._premises)):
            yield rule, self.after(rule)


# --- on samples ---


@dataclass(frozen=True)
class OutputCounts:
    """The counts of the outcomes of an output.

    Attributes
    ----------
    decided : exactly one value has possibility 1
    several : more than one value has possibility 1, but not all
    no_rule : every value has possibility 1
    contradiction : not normalised, here or in an attribute before
    right : decided, and the target allows the value; None without targets
    """

    name: str
    samples: int
    decided: int
    several: int
    no_rule: int
    contradiction: int
    right: int | None = None

    def __str__(self) -> str:
        counts = [
            f"{OUTCOME_WORDS[code]} {count}" for code in CODES if (count := getattr(self, code))
        ]
        right = [] if self.right is None else [f"right {self.right}"]
        return f"{self.name}: {', '.join(counts + right)}"


@dataclass(frozen=True)
class FrequentClash:
    """A group of rules that clash: the number of samples, and the row of the first one."""

    name: str
    rules: tuple[int, ...]
    count: int
    row: int


@dataclass(frozen=True)
class BoundCounts:
    """How often the inferred degrees of an output exceed the exact ones.

    Attributes
    ----------
    name : the output
    samples : the number of samples that were compared, the first ones; 0 without a solver
    loose : the number of them with some degree above the exact one
    unknown : the number of them where the solver gave up before it was known
    """

    name: str
    samples: int
    loose: int
    unknown: int

    def __str__(self) -> str:
        if not self.samples:
            cure = "pip install 'pinesy[exact]' to count how often"
            return f"{self.name}: degrees may exceed the exact ones; {cure}"
        unknown = f", not known on {self.unknown}" * (self.unknown > 0)
        counts = f"{self.loose} of {self.samples} samples{unknown}"
        return f"{self.name}: degrees exceed the exact ones on {counts}"


@dataclass(frozen=True)
class DataCheck:
    """The results of rules on samples.

    Attributes
    ----------
    samples : the number of samples
    outputs : the counts of each output
    clashes : the groups of rules on attribute `name` that clash (by their numbers in the rule
        base), the most frequent first
    bounds : of outputs whose degrees may exceed the exact ones, how often they do
    """

    samples: int
    outputs: tuple[OutputCounts, ...]
    clashes: tuple[FrequentClash, ...]
    bounds: tuple[BoundCounts, ...] = ()

    def __str__(self) -> str:
        counts = (f"  {counts}" for counts in (*self.outputs, *self.bounds))
        return "\n".join([f"data: {self.samples} samples", *counts])


def check_data(
    sets: Sequence[RuleSet],
    rows: Rows,
    program: Program,
    tracer: Program,
    targets: Mapping[str, Target],
    rule_number: Callable[[str, int], int],
) -> DataCheck:
    """Return the results of rules on samples (see `Cascade.check`).

    Parameters
    ----------
    sets : the rule sets
    rows : the samples, in the columns of both programs
    program : infers the outputs
    tracer : infers all attributes, with the degrees of premises
    rule_number : `Cascade.rule_number`
    """
    inference = program.infer(rows.block(0, rows.n))
    counts = [_count_outcomes(inference[a.name], targets.get(a.name)) for a in program.outputs]
    lost = np.zeros(rows.n, dtype=np.bool_)
    for attribute in program.outputs:
        lost |= ~inference[attribute.name].normalised
    return DataCheck(
        rows.n,
        tuple(counts),
        tuple(_clashes(sets, rows, tracer, np.flatnonzero(lost), rule_number)),
    )


def _count_outcomes(pi: Possibility, target: Target | None) -> OutputCounts:
    """Return the counts of the outcomes of an output."""
    right = None
    if target is not None:
        reached = target.distributions[np.arange(len(pi)), pi.degrees.argmax(axis=1)] == 1.0
        right = int(np.count_nonzero(reached & pi.decided))
    return OutputCounts(
        pi.attribute.name,
        len(pi),
        right=right,
        **{code: int(np.count_nonzero(pi.outcome == code)) for code in CODES},
    )


def _clashes(
    sets: Sequence[RuleSet],
    rows: Rows,
    tracer: Program,
    lost: npt.NDArray[np.intp],
    rule_number: Callable[[str, int], int],
) -> list[FrequentClash]:
    """Return the groups of rules that clash on the samples `lost`, the most frequent first."""
    counts: Counter[tuple[str, tuple[int, ...]]] = Counter()
    first: dict[tuple[str, tuple[int, ...]], int] = {}
    for start in range(0, len(lost), CHUNK):
        chunk = lost[start : start + CHUNK]
        block = np.concatenate([rows.block(i, i + 1) for i in chunk.tolist()])
        for name, group, samples in clashes_by_rules(sets, tracer.infer(block)):
            counts[name, group] += len(samples)
            row = int(chunk[samples[0]])
            first[name, group] = min(row, first.get((name, group), row))
    return [
        FrequentClash(name, tuple(rule_number(name, j) for j in group), count, first[name, group])
        for (name, group), count in counts.most_common()
    ]


def clashes_by_rules(
    sets: Sequence[RuleSet], trace: Inference
) -> Iterator[tuple[str, tuple[int, ...], npt.NDArray[np.intp]]]:
    """Yield each group of rules that clash: attribute, indices of rules, rows of samples."""
    assert isinstance(trace, Trace)
    premises = trace.premises
    for rule_set in sets:
        name, degrees = rule_set.output.name, premises[rule_set.output.name]
        clashes = np.asarray(trace.degrees(rule_set.output).max(axis=1) < 1.0)
        for attribute in rule_set.inputs:  # a clash begins where all inputs are normalised
            if attribute.name in trace:
                clashes &= trace.degrees(attribute).max(axis=1) == 1.0
        lost = np.flatnonzero(clashes)
        if len(lost) == 0:
            continue
        inside = np.maximum(rule_set.s, degrees.lambdas[lost]) < 1.0
        outside = np.maximum(rule_set.r, degrees.rhos[lost]) < 1.0
        patterns, which = np.unique(np.hstack([inside, outside]), axis=0, return_inverse=True)
        signs = rule_set.partition.signs
        for index, pattern in enumerate(patterns):
            low = np.where(signs, pattern[: len(rule_set)], pattern[len(rule_set) :])
            for group in clashing_groups(low):
                yield name, group, lost[which.ravel() == index]


def first_clashes(
    sets: Sequence[RuleSet], trace: Inference
) -> dict[int, tuple[str, tuple[int, ...]]]:
    """Return the first clash of each contradictory sample: attribute and indices of rules.

    Parameters
    ----------
    sets : the rule sets that one output depends on, in an order of inference
    trace : the inference of all their outputs, with the degrees of premises
    """
    clashes: dict[int, tuple[str, tuple[int, ...]]] = {}
    for name, group, samples in clashes_by_rules(sets, trace):
        for sample in samples.tolist():
            clashes.setdefault(sample, (name, group))
    return clashes
