"""Posterior distributions: message passing of max and min in the factor graph of a cascade.

The variables are the attributes, the factors those of the rule sets; messages are compiled into
programs. Min is idempotent, so an attribute needs only one degree for each value, which every
message lowers, not a message for each factor. The degree is always an upper bound of the projection
of the joint; after a sweep to the roots and one back it is the projection, if there is no loop
(docs/changes.md).
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pinesy._common.caching import cached_on_owner
from pinesy._common.console import check_stop
from pinesy._common.names import column_slices, name_of
from pinesy._common.validation import (
    FloatArray,
    as_list,
    check_flag,
    check_integer,
    check_known,
)
from pinesy.engine.code import Code, ColumnCircuit, circuit_code
from pinesy.engine.program import run
from pinesy.evidence.evidence_form import Evidence, evidence_rows
from pinesy.evidence.rows import Rows
from pinesy.evidence.targets import Target, named_targets, read_targets
from pinesy.exact.exact_inference import MAX_CONFLICTS, MOST_CONFLICTS
from pinesy.exact.level_solver import LevelSolver
from pinesy.exceptions import DataError, DegreeError, UnknownAttributeError
from pinesy.rulebase.cascade import Cascade, as_cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute
from pinesy.rules.possibility import Possibility
from pinesy.semantics.factors import Factor, Values, factors_of
from pinesy.transforms import antipignistic_inverse

#: The most degrees of a block of samples, if there are loops.
CHUNK_NUMBERS = 1 << 22

Targets = Mapping[str, Target]
#: The compatibility (n,), and the degrees (n, values) of attributes by name.
Joint = tuple[FloatArray, dict[str, FloatArray]]
#: The degrees of the values of each attribute, as expressions.
Degrees = dict[str, Values]


@dataclass(frozen=True, eq=False, repr=False)
class Posterior(Mapping[str, Possibility]):
    """Distributions conditioned on targets, by attribute name or attribute.

    Attributes
    ----------
    joint : the distributions before they are rescaled: the projections of the joint distribution,
        or upper bounds of them where `exact` is False
    compatibility : how possible it is that evidence, rules and targets hold together: the largest
        degree of the joint (or an upper bound); 0 is a contradiction, which leaves no distribution:
        all degrees are 0, and `best` is None
    exact : whether the above are exact: the graph of rules has no loop, or a solver found them
    lower : lower bounds of `joint` where a solver spent its conflicts before `joint` was exact
    """

    joint: Mapping[str, Possibility]
    compatibility: Any
    exact: bool
    lower: Mapping[str, Possibility] | None = None

    def __getitem__(self, key: str | Attribute) -> Possibility:
        name = name_of(key)
        check_known(name, self.joint, f"{name!r} is not among the attributes")
        return self._rescaled[name]

    @cached_property
    def _rescaled(self) -> dict[str, Possibility]:
        top = np.asarray(self.compatibility)[..., None]
        rescaled = {}
        for name, pi in self.joint.items():
            degrees = np.divide(pi.degrees, top, out=np.zeros_like(pi.degrees), where=top > 0.0)
            rescaled[name] = Possibility(pi.attribute, degrees)
        return rescaled

    def __iter__(self) -> Iterator[str]:
        return iter(self.joint)

    def __len__(self) -> int:
        return len(self.joint)

    def probabilities(self) -> dict[str, FloatArray]:
        """Return the distributions as probabilities: soft labels for a network to learn from.

        The inverse of the antipignistic transformation [subsec:antipignistic], row by row. Samples
        that contradict have none: leave the rows with `compatibility` 0 out first.
        """
        if np.any(self.compatibility == 0.0):
            where = ""
            if np.ndim(self.compatibility):
                where = f"row {int(np.argmin(self.compatibility))}: "
            raise DegreeError(
                f"{where}evidence, rules and targets contradict each other (compatibility 0), so "
                "there are no probabilities; leave out the samples where compatibility is 0"
            )
        return {name: antipignistic_inverse(self[name].degrees) for name in self}

    def __repr__(self) -> str:
        kind = "exact" if self.exact else "upper bounds"
        names = ", ".join(list(self)[:4]) + ", ..." * (len(self) > 4)
        if np.ndim(self.compatibility):
            lost = int(np.count_nonzero(self.compatibility == 0.0))
            kind += f", {lost} of compatibility 0 (contradictions)" * (lost > 0)
            return f"Posterior({len(self.compatibility)} samples of {names}; {kind})"
        if self.compatibility == 0.0:
            return f"Posterior({names}; compatibility 0: a contradiction, no distribution is left)"
        return f"Posterior({names}; compatibility {self.compatibility:.4g}, {kind})"

    def _repr_html_(self) -> str:
        from pinesy.display.rules_html import results_html

        return results_html(self, repr(self))


def posterior(
    rules: RuleSet | Cascade,
    evidence: Evidence,
    targets: Any,
    attributes: Iterable[str | Attribute] | None = None,
    *,
    exact: bool = False,
    max_conflicts: int = MAX_CONFLICTS,
) -> Posterior:
    """Return the most possible distributions that fit the targets, given the current inputs.

    The joint distribution of all attributes is the min of three things: the input distributions,
    what each rule set infers of its output for crisp inputs, and the targets,

    ``c(x) = min(min_i pi_i(x_i), min_sets pi*(x_b | x_inputs), min_b target_b(x_b))``.

    An attribute's distribution is the projection of `c` by max, divided by the largest degree of
    `c`. Messages of max and min pass along the graph of attributes and rule sets: two sweeps give
    the exact result if it is a forest, as in Addition; where there are loops, sweeps go on until
    nothing changes, which gives an upper bound of every projection (docs/changes.md).

    Parameters
    ----------
    rules : a rule set or a cascade
    evidence : the input distributions of one sample or a batch, as `Cascade.infer` takes them
    targets : what should be inferred, for any attributes that rules use: a value or a
        distribution; for a batch one value or distribution a sample (see `Target.of`). The target
        of a single output may be given without its name.
    attributes : the attributes of the result, by default the inputs of the cascade
    exact : whether a solver makes the result exact where there are loops; needs the extra
        ``exact`` (docs/exactness.md)
    max_conflicts : the conflicts of the solver in a sample, at most; when they are spent, the
        result is not `exact`, and has `lower` bounds too

    Notes
    -----
    The messages of both sweeps are compiled into one program of min and max, once for each set of
    target names, that runs on blocks of samples as inference does.

    Examples
    --------
    >>> from pinesy import antipignistic
    >>> from pinesy.problems import addition
    >>> sees = {"a_1": antipignistic({3: 0.8, 8: 0.2}), "a_2": antipignistic({4: 0.9, 9: 0.1})}
    >>> given = posterior(addition(1), sees, {"y_0": 1, "y_1": 2})  # their sum is 12
    >>> given
    Posterior(a_1, a_2; compatibility 0.4, exact)
    >>> given["a_1"], given["a_2"]
    (Possibility(a_1, {8: 1, 3: 0.5, ...}), Possibility(a_2, {4: 1, 9: 0.5, ...}))
    """
    cascade = as_cascade(rules)
    graph, rows = factor_graph(cascade), evidence_rows(cascade, evidence)
    names = check_names(graph.attributes, cascade.inputs if attributes is None else attributes)
    only = cascade.outputs[0] if len(cascade.outputs) == 1 else None
    targets_by_name = named_targets(targets, graph.attributes, only, optional=True)
    target_distributions = read_targets(
        targets_by_name, graph.attributes, rows.n, is_batch=rows.is_batch
    )
    max_conflicts = check_integer(max_conflicts, "max_conflicts", least=0, most=MOST_CONFLICTS)
    if check_flag(exact, "exact") and not graph.is_forest:
        return _solve(cascade, rows, target_distributions, names, max_conflicts)
    project = _projections if graph.is_forest else _upper_bounds
    compatibility, joint = project(graph, rows, target_distributions, names)
    distributions = _distributions(graph, rows, joint)
    return Posterior(distributions, _sample_or_batch(compatibility, rows), graph.is_forest)


def _distributions(
    graph: "FactorGraph", rows: Rows, joint: Mapping[str, FloatArray]
) -> dict[str, Possibility]:
    return {
        n: Possibility(graph.attributes[n], _sample_or_batch(d, rows)) for n, d in joint.items()
    }


def _solve(
    cascade: Cascade, rows: Rows, targets: Targets, names: list[str], max_conflicts: int
) -> Posterior:
    """Return the posterior of a graph with loops, by a solver that starts from upper bounds."""
    graph = factor_graph(cascade)
    outputs = names or [graph.inputs[0].name]  # for the compatibility
    _, upper = _upper_bounds(graph, rows, targets, outputs)
    degrees = dict(_columns_by_name(rows.block(0, rows.n), rows.attributes))
    for name, target in targets.items():
        known = degrees.get(name)
        target_degrees = target.distributions
        degrees[name] = target_degrees if known is None else np.minimum(known, target_degrees)
    solver = _level_solver(cascade, tuple(degrees), tuple(outputs))
    bounds = solver.bounds(degrees, upper, max_conflicts)
    highest = np.min([b.upper.max(axis=1) for b in bounds.values()], axis=0)
    is_exact = all(np.array_equal(b.lower, b.upper) for b in bounds.values())
    joint = {n: np.minimum(bounds[n].upper, highest[:, None]) for n in names}
    lower = None if is_exact else {n: bounds[n].lower for n in names}
    return Posterior(
        _distributions(graph, rows, joint),
        _sample_or_batch(highest, rows),
        is_exact,
        None if lower is None else _distributions(graph, rows, lower),
    )


@cached_on_owner
def _level_solver(
    cascade: Cascade, inputs: tuple[str, ...], outputs: tuple[str, ...]
) -> LevelSolver:
    return LevelSolver([s.unit for s in cascade.order], inputs, outputs)


def check_names(
    known_attributes: Mapping[str, Attribute], attributes: Iterable[str | Attribute]
) -> list[str]:
    """Return the names of attributes; raise an error for those that no rule uses."""
    if isinstance(attributes, str | Attribute):
        raise DataError(f"attributes is {attributes!r}; give a list of attributes or names")
    names = []
    for key in as_list(attributes, "attributes"):
        name = name_of(key)
        check_known(name, known_attributes, f"attributes: no rule uses {name!r}")
        known = known_attributes[name]
        if isinstance(key, Attribute) and key != known:
            raise UnknownAttributeError(f"attributes: the rules use {known!r}, not {key!r}")
        names.append(str(name))
    return names


def _projections(graph: "FactorGraph", rows: Rows, targets: Targets, names: list[str]) -> Joint:
    """Return the exact projections of a graph without loops."""
    code = forest_program(graph, tuple(targets), tuple(names))
    arrays = [*rows.arrays, *(target.distributions for target in targets.values())]
    out = run(code, Rows(code.inputs, arrays, rows.n, rows.is_batch))
    return out[0], _columns_by_name(out[1:].T, [graph.attributes[name] for name in names])


def _upper_bounds(graph: "FactorGraph", rows: Rows, targets: Targets, names: list[str]) -> Joint:
    """Return upper bounds of the projections of a graph with loops: sweep until convergence.

    It terminates, because degrees are copies of finitely many numbers.
    """
    normalised = np.ones(rows.n, dtype=np.bool_)
    for evidence in _columns_by_name(rows.block(0, rows.n), rows.attributes).values():
        normalised &= ((evidence >= 0.0) & (evidence <= 1.0)).all(axis=1)
        normalised &= evidence.max(axis=1) == 1.0
    if not normalised.all():
        rows.refuse(int(np.argmin(normalised)))
    code = sweep_program(graph)
    compatibility = np.empty(rows.n)
    joint = {name: np.empty((rows.n, len(graph.attributes[name].domain))) for name in names}
    width = max(1, CHUNK_NUMBERS // code.n_inputs)
    for start in range(0, rows.n, width):
        part = slice(start, min(start + width, rows.n))
        degrees, lower = None, _initial_degrees(graph, rows, targets, part)
        while degrees is None or not np.array_equal(lower, degrees):
            degrees = np.ascontiguousarray(lower)
            lower = run(code, Rows(code.inputs, [degrees], len(degrees), True)).T
        split = _columns_by_name(degrees, graph.attributes.values())
        compatibility[part] = np.min([d.max(axis=1) for d in split.values()], axis=0)
        for name, out in joint.items():
            np.minimum(split[name], compatibility[part, None], out=out[part])
    return compatibility, joint


def _initial_degrees(graph: "FactorGraph", rows: Rows, targets: Targets, part: slice) -> FloatArray:
    """Return the initial degrees of all attributes: min of evidence and target, else 1."""
    slices = column_slices(graph.attributes.values())
    degrees = np.ones((part.stop - part.start, max(s.stop for s in slices.values())))
    distributions = [*_columns_by_name(rows.block(part.start, part.stop), rows.attributes).items()]
    distributions += [(name, target[part].distributions) for name, target in targets.items()]
    for name, distribution in distributions:
        np.minimum(degrees[:, slices[name]], distribution, out=degrees[:, slices[name]])
    return degrees


def _columns_by_name(columns: FloatArray, attributes: Iterable[Attribute]) -> dict[str, FloatArray]:
    """Return the columns of each attribute."""
    return {name: columns[:, span] for name, span in column_slices(attributes).items()}


def _sample_or_batch(array: FloatArray, rows: Rows) -> Any:
    """Return the array of a batch, or the row or number of a single sample."""
    content = array if rows.is_batch else array[0]
    return content if np.ndim(content) else float(content)


# --- the factor graph ---


@dataclass(frozen=True)
class GraphStep:
    """A factor, and the index of its parent attribute (the nearest to the root)."""

    factor: Factor
    parent: int

    @property
    def children(self) -> list[int]:
        """The indices of the other attributes."""
        return [i for i in range(len(self.factor.names)) if i != self.parent]


@dataclass(frozen=True, eq=False)
class FactorGraph:
    """The attributes and factors of a cascade.

    Attributes
    ----------
    attributes : the attributes that rules use, by name
    steps : the factors in breadth-first order from the roots
    is_forest : whether there is no loop: at most one path between two attributes
    inputs : the inputs of the cascade
    """

    attributes: Mapping[str, Attribute]
    steps: tuple[GraphStep, ...]
    is_forest: bool
    inputs: tuple[Attribute, ...]

    @property
    def roots(self) -> list[str]:
        """The attributes without a parent factor: one for each tree of a forest."""
        below = {step.factor.names[i] for step in self.steps for i in step.children}
        return [name for name in self.attributes if name not in below]


@cached_on_owner
def factor_graph(cascade: Cascade) -> FactorGraph:
    """Return the factor graph of a cascade, cached.

    Examples
    --------
    >>> from pinesy.problems import addition, sudoku
    >>> factor_graph(addition(3)).is_forest, factor_graph(sudoku(4)).is_forest
    (True, False)
    """
    attributes = {a.name: a for s in cascade.order for a in (*s.inputs, s.output)}
    factors: list[Factor] = []
    for rule_set in cascade.order:
        check_stop()
        factors += factors_of(rule_set.unit)
    steps, is_forest = _breadth_first(attributes, factors)
    return FactorGraph(attributes, tuple(steps), is_forest, cascade.inputs)


def _breadth_first(
    attributes: Mapping[str, Attribute], factors: list[Factor]
) -> tuple[list[GraphStep], bool]:
    """Return the factors in breadth-first order, and whether there is no loop."""
    factors_by_name: dict[str, list[Factor]] = {name: [] for name in attributes}
    for factor in factors:
        for name in factor.names:
            factors_by_name[name].append(factor)
    steps: list[GraphStep] = []
    visited: set[int] = set()
    reached: set[str] = set()
    no_loop = True
    for root in reversed(list(attributes)):  # outputs are the last
        queue = [] if root in reached else [root]
        reached.add(root)
        for name in queue:  # grows in the loop
            for factor in (f for f in factors_by_name[name] if id(f) not in visited):
                visited.add(id(factor))
                steps.append(GraphStep(factor, factor.names.index(name)))
                others = [n for n in factor.names if n != name]
                no_loop = no_loop and reached.isdisjoint(others)
                queue += [n for n in others if n not in reached]
                reached.update(others)
    return steps, no_loop


@cached_on_owner
def forest_program(graph: FactorGraph, targets: tuple[str, ...], names: tuple[str, ...]) -> Code:
    """Return the program of a graph without loops, cached.

    Its inputs are the evidence and then the targets; its outputs are the compatibility and then the
    projections of the joint on the attributes `names`.
    """
    attributes = [*graph.inputs, *(graph.attributes[name] for name in targets)]
    circuit = ColumnCircuit(sum(len(a.domain) for a in attributes))
    degrees: Degrees = {}
    first = 0
    for a in attributes:  # an input may have a target too
        columns = circuit.columns[first : first + len(a.domain)]
        known = degrees.get(a.name, columns)
        degrees[a.name] = [circuit.meet(pair) for pair in zip(known, columns, strict=True)]
        first += len(a.domain)
    for name, attribute in graph.attributes.items():
        degrees.setdefault(name, [circuit.constant(1.0)] * len(attribute.domain))
    _sweep(graph, circuit, degrees, back=False)
    compatibility = circuit.meet(circuit.join(degrees[root]) for root in graph.roots)
    _sweep(graph, circuit, degrees, back=True)
    if len(graph.roots) > 1:  # a tree that fits badly bounds the others too
        for name in names:
            degrees[name] = [circuit.meet([d, compatibility]) for d in degrees[name]]
    least = [1.0] * len(graph.inputs) + [0.0] * len(targets)
    return circuit_code(
        circuit, attributes, least, [compatibility, *(d for n in names for d in degrees[n])]
    )


@cached_on_owner
def sweep_program(graph: FactorGraph) -> Code:
    """Return the program of a sweep to the roots and one back, on the degrees of all attributes."""
    attributes = list(graph.attributes.values())
    circuit = ColumnCircuit(sum(len(a.domain) for a in attributes))
    degrees = {name: circuit.columns[span] for name, span in column_slices(attributes).items()}
    _sweep(graph, circuit, degrees, back=False)
    _sweep(graph, circuit, degrees, back=True)
    return circuit_code(
        circuit,
        attributes,
        [0.0] * len(attributes),
        [d for a in attributes for d in degrees[a.name]],
    )


def _sweep(graph: FactorGraph, circuit: ColumnCircuit, degrees: Degrees, *, back: bool) -> None:
    """Lower degrees by the messages of all factors: to parents, or to children if `back`."""
    for step in graph.steps if back else reversed(graph.steps):
        names, indices = step.factor.names, step.children if back else [step.parent]
        messages = step.factor.messages(circuit, [degrees[name] for name in names], indices)
        for index, message in zip(indices, messages, strict=True):
            lowered = degrees[names[index]]
            degrees[names[index]] = [
                circuit.meet(pair) for pair in zip(lowered, message, strict=True)
            ]
