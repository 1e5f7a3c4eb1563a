"""Exact inference: the results, and which samples need a solver (docs/exactness.md)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np

from pinesy._common.caching import cached_on_owner
from pinesy._common.names import column_slices, name_of
from pinesy._common.reports import count_text
from pinesy._common.validation import BoolArray, FloatArray, check_integer, check_known
from pinesy.engine.program import Inference, Program, run
from pinesy.engine.rule_set_kinds import RuleUnit
from pinesy.evidence.evidence_form import Evidence, Transform
from pinesy.evidence.rows import Rows
from pinesy.exact.exactness import upper_bounds
from pinesy.exact.level_solver import Bounds, LevelSolver
from pinesy.exceptions import DegreeError
from pinesy.rules.attributes import Attribute
from pinesy.rules.possibility import Possibility
from pinesy.rules.propositions import Proposition
from pinesy.rules.syntax.writer import show_value
from pinesy.semantics.factors import leaves_a_value

#: The conflicts of the solver in a sample, at most, by default; it does some 30,000 a second.
MAX_CONFLICTS = 1_000_000
#: The largest limit that the solver takes.
MOST_CONFLICTS = 2**62


class OrderedRules(Protocol):
    """Protocol of rule sets and cascades."""

    @property
    def order(self) -> Sequence[Any]:
        """The rule sets, each with its `unit`, in the order of inference."""


@dataclass(frozen=True, eq=False, repr=False)
class ExactInference(Mapping[str, Possibility]):
    """Exact distributions, by attribute name or attribute.

    Where the solver spent its conflicts, only bounds are known: `known` says where, `lower` and
    `upper` have them, and the distribution itself raises `DegreeError`.

    Attributes
    ----------
    is_batch : whether there are several samples
    max_conflicts : the limit of conflicts of the solver in a sample
    """

    _attributes: Mapping[str, Attribute]
    _bounds: Mapping[str, Bounds]
    is_batch: bool
    max_conflicts: int

    def __getitem__(self, key: str | Attribute) -> Possibility:
        name = self._check_name(key)
        unknown = np.flatnonzero(~self._is_known(name))
        if len(unknown):
            n = len(self._bounds[name].upper)
            rows = f" in {len(unknown)} of {n} samples, first in row {unknown[0]}" * self.is_batch
            raise DegreeError(
                f"the exact degrees of {name!r} are not known{rows}: the solver spent "
                f"{self.max_conflicts:,} conflicts; take lower[{name!r}] and upper[{name!r}], or "
                "raise max_conflicts"
            )
        return self.upper[name]

    def _check_name(self, key: str | Attribute) -> str:
        name = name_of(key)
        check_known(name, self._bounds, f"{name!r} was not inferred")
        return str(name)

    def _is_known(self, name: str) -> BoolArray:
        lower, upper = self._bounds[name]
        return np.asarray((lower == upper).all(axis=1))

    @property
    def known(self) -> dict[str, Any]:
        """By name, whether all degrees are known exactly; for a batch an array."""
        known = {name: self._is_known(name) for name in self._bounds}
        return {n: k if self.is_batch else bool(k[0]) for n, k in known.items()}

    @property
    def lower(self) -> dict[str, Possibility]:
        """Lower bounds of the degrees; where the degrees are known, these."""
        return {name: self._possibility(name, b.lower) for name, b in self._bounds.items()}

    @property
    def upper(self) -> dict[str, Possibility]:
        """Upper bounds of the degrees; where the degrees are known, these."""
        return {name: self._possibility(name, b.upper) for name, b in self._bounds.items()}

    def _possibility(self, name: str, degrees: FloatArray) -> Possibility:
        return Possibility(self._attributes[name], degrees if self.is_batch else degrees[0])

    def possibility(self, proposition: Proposition) -> Any:
        """Return ``Pi(a in A)`` of a proposition on an output."""
        return self[proposition.attribute].possibility(proposition)

    def necessity(self, proposition: Proposition) -> Any:
        """Return ``N(a in A) = 1 - Pi(a not in A)`` of a proposition on an output."""
        return self[proposition.attribute].necessity(proposition)

    def __iter__(self) -> Iterator[str]:
        return iter(self._bounds)

    def __len__(self) -> int:
        return len(self._bounds)

    def __repr__(self) -> str:
        if self.is_batch:
            n = len(next(iter(self._bounds.values())).upper)
            lost = [(name, int(np.count_nonzero(~known))) for name, known in self.known.items()]
            texts = [
                name + f" (not known in {count_text(count, 'sample')})" * (count > 0)
                for name, count in lost
            ]
            return f"ExactInference({n} samples of {', '.join(texts)})"
        texts = []
        for name, is_known in self.known.items():
            pi = self.upper[name]
            text = f"{name}={show_value(pi.best)}" if pi.decided else f"{name}: {pi.verdict}"
            texts.append(text if is_known else f"{name}: known between bounds only")
        return f"ExactInference({', '.join(texts)})"


def infer_exact(
    rules: OrderedRules,
    program: Program,
    outputs: Sequence[Attribute],
    evidence: Evidence,
    transform: Transform = None,
    max_conflicts: int = MAX_CONFLICTS,
) -> ExactInference:
    """Return the exact distributions of some outputs; see `Cascade.infer`.

    Parameters
    ----------
    program : infers the outputs: upper bounds, and exact degrees where no rules interact
    """
    max_conflicts = check_integer(max_conflicts, "max_conflicts", least=0, most=MOST_CONFLICTS)
    rows = program.rows(evidence, transform)
    inference = program.result(run(program.code, rows), is_batch=rows.is_batch)
    by_name = {a.name: a for a in outputs}
    bounds = exact_bounds(rules, rows, inference, list(by_name), max_conflicts)
    return ExactInference(by_name, bounds, rows.is_batch, max_conflicts)


def exact_bounds(
    rules: OrderedRules, rows: Rows, inference: Inference, names: Sequence[str], max_conflicts: int
) -> dict[str, Bounds]:
    """Return bounds of the exact degrees (n, values) of attributes, by name.

    Samples are skipped where inference is known to be exact (`tight_samples`).
    """
    block, spans = rows.block(0, rows.n), column_slices(rows.attributes)
    results = {}
    for name in names:
        pi = inference[name]
        upper = np.atleast_2d(np.array(pi.degrees))
        tight = tight_samples(rules, name)
        needs_solver = (upper > 0.0).any(axis=1) & (tight != "all")
        if tight == "normalised":
            needs_solver &= ~np.atleast_1d(pi.normalised)
        bounds = Bounds(upper.copy(), upper)
        results[name] = bounds
        if not needs_solver.any():
            continue
        solver = _level_solver(rules, name)
        columns = np.concatenate([np.arange(spans[n].start, spans[n].stop) for n in solver.inputs])
        distinct, first, inverse = np.unique(
            block[needs_solver][:, columns], axis=0, return_index=True, return_inverse=True
        )
        split = np.cumsum([spans[n].stop - spans[n].start for n in solver.inputs])[:-1]
        degrees = dict(zip(solver.inputs, np.split(distinct, split, axis=1), strict=True))
        solved = solver.bounds(degrees, {name: upper[needs_solver][first]}, max_conflicts)[name]
        bounds.lower[needs_solver] = solved.lower[inverse.ravel()]
        bounds.upper[needs_solver] = solved.upper[inverse.ravel()]
    return results


@cached_on_owner
def has_upper_bounds(rules: OrderedRules, name: str) -> bool:
    """Return whether `upper_bounds` yields an attribute, or one that it depends on."""
    bounded = _bounded_names(rules)
    return any(unit.output.name in bounded for unit in _units_behind(rules, name))


@cached_on_owner
def tight_samples(rules: OrderedRules, name: str) -> Literal["all", "normalised", "unknown"]:
    """Return the samples for which the inferred degrees of an attribute are known to be exact.

    None if `upper_bounds` yields it or an attribute behind it. Else all if no rules behind it
    contradict each other in any case; else, if no attribute leads to it along several paths, those
    for which all distributions behind it are normalised.
    """
    if has_upper_bounds(rules, name):
        return "unknown"
    units = _units_behind(rules, name)
    if all(map(leaves_a_value, units)):
        return "all"
    sources: dict[str, set[str]] = {}
    for unit in units:
        ancestors = [sources.get(a.name, {a.name}) for a in unit.inputs]
        sources[unit.output.name] = {unit.output.name}.union(*ancestors)
        if len(sources[unit.output.name]) <= sum(map(len, ancestors)):
            return "unknown"
    return "normalised"


@cached_on_owner
def _bounded_names(rules: OrderedRules) -> frozenset[str]:
    units = [rule_set.unit for rule_set in rules.order]
    return frozenset(name for name, _ in upper_bounds(units, lambda _name, index: index))


@cached_on_owner
def _level_solver(rules: OrderedRules, name: str) -> LevelSolver:
    """Return the solver of an attribute: only the rule sets behind it restrict its worlds."""
    units = _units_behind(rules, name)
    concluded = {unit.output.name for unit in units}
    inputs = dict.fromkeys(a.name for unit in units for a in unit.inputs)
    return LevelSolver(units, [n for n in inputs if n not in concluded], [name])


def _units_behind(rules: OrderedRules, name: str) -> list[RuleUnit]:
    """Return the rule sets that an attribute depends on, in the order of inference."""
    names, units = {name}, []
    for rule_set in reversed(rules.order):
        if rule_set.output.name in names:
            units.append(rule_set.unit)
            names.update(a.name for a in rule_set.inputs)
    return units[::-1]
