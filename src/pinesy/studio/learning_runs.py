"""Learning and induction as the studio runs them: in parts, so that they can be watched."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, get_args

import numpy as np

from pinesy._common.console import progress
from pinesy._common.validation import FloatArray, check_integer, check_known, check_number
from pinesy.exceptions import DataError, PinesyError
from pinesy.induction import induce
from pinesy.learning import (
    LearnedRules,
    LearningResult,
    ParameterEstimate,
    accuracy,
    learn,
    learn_batches,
)
from pinesy.learning.learn import SMOOTHING, Method
from pinesy.rulebase.cascade import Cascade
from pinesy.samples import Batch, read_table
from pinesy.studio.session import Asked, Session, Work

METHODS: tuple[str, ...] = get_args(Method)
FIXED = (None, "implications", "s", "r")
#: Samples that are learned from between two looks at the wish to stop.
PART = 2000
#: Rows that are shown of a difference.
SHOWN = 20


@dataclass(frozen=True)
class LearningOptions:
    """How to learn: as `learn` takes it.

    Attributes
    ----------
    targets : the attributes whose labels count; None for all that have some
    """

    method: Any = "exact"
    tolerance: float | None = None
    fixed: Any = None
    smoothing: float = SMOOTHING
    targets: tuple[str, ...] | None = None

    @classmethod
    def of(cls, asked: Asked) -> "LearningOptions":
        """Read what the page asks for, checked."""
        method, fixed = asked.get("method", "exact"), asked.get("fixed")
        named, smoothing = asked.get("targets"), asked.get("smoothing", SMOOTHING)
        check_known(method, METHODS, f"there is no method {method!r:.60}", DataError)
        if fixed not in FIXED:
            raise DataError(f"fixed is {fixed!r:.60}; it is one of implications, s, r, or null")
        texts = isinstance(named, list) and all(isinstance(name, str) for name in named)
        if named is not None and not texts:
            raise DataError("targets is a list of names of attributes, or null")
        tolerance = asked.get("tolerance") if method == "exact" else None
        if tolerance is not None:
            tolerance = check_number(tolerance, "the tolerance", 0.0, error=DataError)
        smoothing = check_number(smoothing, "the smoothing", error=DataError)
        return cls(method, tolerance or None, fixed, smoothing, tuple(named) if named else None)

    def labels(self, batch: Batch) -> Batch:
        """Return the samples with the labels that count."""
        if self.targets is None:
            return batch
        for name in self.targets:
            if name not in batch.targets:
                raise DataError(f"the data has no labels of {name!r:.60}")
        return replace(batch, targets={name: batch.targets[name] for name in self.targets})


def learned(
    rules: Cascade, batch: Batch, options: LearningOptions
) -> LearningResult | ParameterEstimate:
    """Learn as `learn` does, to the last bit, in parts."""
    samples, exact = options.labels(batch), options.method == "exact"
    how: dict[str, Any] = {"method": options.method, "fixed": options.fixed}
    how |= {"tolerance": options.tolerance} if exact else {"smoothing": options.smoothing}
    found: LearningResult | ParameterEstimate
    if options.method == "gradient":  # needs all samples at once, and can be stopped by itself
        found = learn(rules, samples.evidence, samples.targets, **how)
    else:
        found = learn_batches(rules, list(_parts(samples)), **how, progress=True)
    return found


def _parts(batch: Batch) -> Iterator[tuple[Any, Any]]:
    for begin in range(0, len(batch), PART):
        part = slice(begin, begin + PART)
        targets = {name: target[part] for name, target in batch.targets.items()}
        yield batch.evidence[part], targets


@dataclass(frozen=True, eq=False)
class Proposal:
    """Rules that were learned or induced, and wait to be accepted.

    Attributes
    ----------
    version : of the work that they were learned from
    before : that work's rules
    result : what was learned; None for induced rules
    work : what there would be if they were accepted
    accuracies : the share of the samples that is right, before and after; None if it is not known
    note : what was done, in words
    """

    version: int
    before: Cascade
    result: LearningResult | ParameterEstimate | None
    work: Work
    accuracies: tuple[float | None, float | None]
    note: str

    @property
    def thing(self) -> Any:
        """What is saved to a file."""
        return self.work.learned if self.result is not None else self.work.rules


def propose_learning(
    work: Work, version: int, batch: Batch, options: LearningOptions, facts: Mapping[str, Any]
) -> Proposal:
    """Learn; return the rules with their parameters.

    Parameters
    ----------
    facts : about the data, for the provenance of the model
    """
    result = learned(work.rules, batch, options)
    noted = {**facts, "samples": result.samples, "method": options.method}
    after = replace(work.with_rules(result.cascade), learned=LearnedRules(result, noted))
    with progress("accuracy", 2) as bar:
        shares = []
        for rules in (work.rules, result.cascade):
            shares.append(_accuracy(rules, batch.evidence, options.labels(batch).targets))
            bar.advance()
    return Proposal(version, work.rules, result, after, (shares[0], shares[1]), repr(result))


def propose_rules(session: Session, asked: Asked) -> Proposal:
    """Induce rules from the data file as a table; return them.

    Asked: ``target``, ``max_rules``, ``max_conditions``, ``seed``.
    """
    work, version = session.work, session.version
    if session.data_path is None:
        raise DataError("there is no data to induce rules from")
    how = {"separator": None, "decimal": "."} | dict(session.how)
    table = read_table(session.data_path, how["separator"], how["decimal"])
    target = asked.get("target")
    if not isinstance(target, str) or target not in table:
        raise DataError(f"the data has no column {target!r:.60}")
    most = asked.get("max_rules")
    rules = induce(
        table,
        target,
        max_rules=None if most is None else check_integer(most, "max_rules", 1, DataError),
        max_conditions=check_integer(asked.get("max_conditions", 4), "max_conditions", 1),
        seed=check_integer(asked.get("seed", 0), "seed"),
    )
    right = _accuracy(rules, table.drop(columns=[target]), {target: table[target].tolist()})
    after = work.with_rules(rules)
    return Proposal(version, work.rules, None, after, (None, right), repr(rules))


def _accuracy(rules: Cascade, evidence: Any, targets: Any) -> float | None:
    """Return the share of samples that is right; None where labels are no values."""
    try:
        return accuracy(rules, evidence, targets)
    except PinesyError:
        return None


@dataclass(frozen=True, eq=False)
class ParameterTable:
    """The parameters of the same rules, twice.

    Attributes
    ----------
    rules : with the parameters after
    places : for each rule the name of its set, and its number there from 1 on
    before, after : arrays (rules, 2) of `s` and `r`
    """

    rules: Cascade
    places: list[tuple[str, int]]
    before: FloatArray
    after: FloatArray

    @classmethod
    def of(cls, before: Cascade, after: Cascade) -> "ParameterTable":
        """Compare rules that differ in nothing but their parameters."""
        places = [(s.output.name, i + 1) for s in after.order for i in range(len(s.rules))]
        return cls(after, places, _parameters(before), _parameters(after))

    @cached_property
    def changes(self) -> FloatArray:
        """The larger change of the two parameters of each rule."""
        return np.asarray(np.abs(self.after - self.before).max(axis=1, initial=0.0))

    @property
    def n_changed(self) -> int:
        """How many rules have other parameters."""
        return int((self.changes > 0.0).sum())

    def page(self, start: int, count: int, all_rules: bool) -> dict[str, Any]:
        """Return some rows: those that changed most first, or all in the order of the rules."""
        order = np.argsort(-self.changes, kind="stable")[: self.n_changed]
        chosen = np.arange(len(self.places)) if all_rules else order
        return {
            "total": len(chosen),
            "changed": self.n_changed,
            "rules": len(self.places),
            "start": start,
            "rows": [self._row(i) for i in chosen[start : start + count].tolist()],
        }

    def _row(self, i: int) -> dict[str, Any]:
        name, number = self.places[i]
        return {
            "set": name,
            "rule": number,
            "text": self.rules[name].rules[number - 1].line(5),
            "before": self.before[i].tolist(),
            "after": self.after[i].tolist(),
        }


def _parameters(rules: Cascade) -> FloatArray:
    pairs = [np.stack([one.s, one.r], axis=1) for one in rules.order]
    return np.concatenate(pairs)


def learned_difference(
    rules: Cascade, before: Batch, after: Batch, method: object
) -> dict[str, Any]:
    """Learn from samples with two kinds of labels; return which parameters differ."""
    options = LearningOptions.of({"method": method})
    one, other = (learned(rules, batch, options).cascade for batch in (before, after))
    return ParameterTable.of(one, other).page(0, SHOWN, all_rules=False)
