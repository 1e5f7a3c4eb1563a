"""What rules make of samples: how many results are contradictory, ambiguous, unknown or right."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pinesy._common.validation import BoolArray
from pinesy.engine.program import Inference, Program, Trace
from pinesy.engine.rows import Rows
from pinesy.rulebase.clashes import clashing_groups
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rulebase.targets import Target
from pinesy.rules.possibility import Possibility

#: Contradictory samples that are looked into at a time.
CHUNK = 4096


@dataclass(frozen=True)
class OutputCounts:
    """The results of an output attribute, counted; `right` is None where there are no targets.

    Attributes
    ----------
    contradictory : no value is fully possible, here or behind: the rules contradict each other
    unknown : every value is fully possible: nothing is known
    ambiguous : several values are fully possible, but not all
    right : one value alone is fully possible, and the target allows it
    """

    name: str
    samples: int
    contradictory: int
    ambiguous: int
    unknown: int
    right: int | None = None

    def __str__(self) -> str:
        words = ("contradictory", "ambiguous", "unknown", "right")
        counts = {word: getattr(self, word) for word in words}
        told = [f"{count} {word}" for word, count in counts.items() if count is not None]
        return f"{self.name}: {', '.join(told)}"


@dataclass(frozen=True)
class FrequentClash:
    """Rules that leave no value fully possible: how often they do, and the first such sample."""

    name: str
    rules: tuple[int, ...]
    count: int
    row: int


@dataclass(frozen=True)
class DataCheck:
    """What rules make of samples.

    Attributes
    ----------
    samples : how many there are
    outputs : the counts of each output
    clashes : the groups of rules (by their numbers, from 1, in the set on attribute `name`) that
        clash, those that do most often first
    """

    samples: int
    outputs: tuple[OutputCounts, ...]
    clashes: tuple[FrequentClash, ...]

    def __str__(self) -> str:
        return "\n".join([f"data: {self.samples} samples", *(f"  {one}" for one in self.outputs)])


def check_data(
    sets: Sequence[RuleSet],
    rows: Rows,
    program: Program,
    tracer: Program,
    targets: Mapping[str, Target],
) -> DataCheck:
    """Return what rules make of samples (see `Cascade.check`).

    Parameters
    ----------
    sets : the rule sets
    rows : the samples, in the columns of both programs
    program : infers the outputs that are looked at
    tracer : infers everything, with the degrees of premises
    """
    inference = program.infer(rows.block(0, rows.n))
    counts = [_counts(inference[a.name], targets.get(a.name)) for a in program.outputs]
    lost = np.zeros(rows.n, dtype=np.bool_)
    for attribute in program.outputs:
        lost |= ~inference[attribute.name].normalised
    return DataCheck(
        rows.n, tuple(counts), tuple(_clashes(sets, rows, tracer, np.flatnonzero(lost)))
    )


def _counts(pi: Possibility, target: Target | None) -> OutputCounts:
    unknown = pi.ambiguous & (pi.degrees == 1.0).all(axis=1)
    right = None
    if target is not None:
        reached = target.distributions[np.arange(len(pi)), pi.degrees.argmax(axis=1)] == 1.0
        right = int(np.count_nonzero(reached & pi.decided))
    return OutputCounts(
        pi.attribute.name,
        len(pi),
        int(np.count_nonzero(~pi.normalised)),
        int(np.count_nonzero(pi.ambiguous & ~unknown)),
        int(np.count_nonzero(unknown)),
        right,
    )


def _clashes(
    sets: Sequence[RuleSet], rows: Rows, tracer: Program, lost: npt.NDArray[np.intp]
) -> list[FrequentClash]:
    """Return the groups of rules that clash on the samples `lost`, the most frequent first."""
    seen: Counter[tuple[str, tuple[int, ...]]] = Counter()
    first: dict[tuple[str, tuple[int, ...]], int] = {}
    for start in range(0, len(lost), CHUNK):
        places = lost[start : start + CHUNK]
        block = np.concatenate([rows.block(i, i + 1) for i in places.tolist()])
        for name, group, samples in _groups(sets, tracer.infer(block)):
            seen[name, group] += len(samples)
            row = int(places[samples[0]])
            first[name, group] = min(row, first.get((name, group), row))
    return [
        FrequentClash(name, tuple(j + 1 for j in group), count, first[name, group])
        for (name, group), count in seen.most_common()
    ]


def _groups(
    sets: Sequence[RuleSet], trace: Inference
) -> Iterator[tuple[str, tuple[int, ...], npt.NDArray[np.intp]]]:
    """Yield each group of rules that clash, and the samples on which they do."""
    assert isinstance(trace, Trace)
    premises = trace.premises
    for rule_set in sets:
        name, found = rule_set.output.name, premises[rule_set.output.name]
        lost = np.flatnonzero(_begins(rule_set, trace))
        if len(lost) == 0:
            continue
        inside = np.maximum(rule_set.s, found.lambdas[lost]) < 1.0
        outside = np.maximum(rule_set.r, found.rhos[lost]) < 1.0
        patterns, which = np.unique(np.hstack([inside, outside]), axis=0, return_inverse=True)
        signs = rule_set.partition.signs
        for number, pattern in enumerate(patterns):
            low = np.where(signs, pattern[: len(rule_set)], pattern[len(rule_set) :])
            for group in clashing_groups(low):
                yield name, group, lost[which.ravel() == number]


def _begins(rule_set: RuleSet, trace: Trace) -> BoolArray:
    """Tell in which samples rules clash here: their inputs are normalised, their output is not."""
    height = trace.degrees(rule_set.output).max(axis=1)
    begins = np.asarray(height < 1.0)
    for attribute in rule_set.inputs:
        if attribute.name in trace:
            begins &= trace.degrees(attribute).max(axis=1) == 1.0
    return begins
