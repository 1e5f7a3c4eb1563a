"""What the tests of learning share: exact problems as floats, and one certificate for all solvers.

The certificate builds, for each rule set that was learned, the dense stacked system of the paper
and gives it to the general solver; it does not matter how the result was found.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

import oracles
from pinesy import Attribute, Cascade, EquationSystem, Iff, MinMaxSystem, RuleSet, Target
from pinesy.learning import LearningResult, SetResult
from pinesy.rules.partition import Partition
from strategies import LearningProblem, random_batch

FloatArray = npt.NDArray[np.float64]
Inputs = dict[str, FloatArray]
Targets = dict[str, Any]

#: Results of some subtractions and halvings of degrees lie within this of the exact ones.
CLOSE = 1e-12


# --- exact problems ----------------------------------------------------------------------------


def floats(values: Any) -> FloatArray:
    return np.array(values, dtype=np.float64)


def as_floats(problem: LearningProblem) -> tuple[Inputs, Targets]:
    """Return the samples and targets of a problem as `learn` takes them."""
    names = [a.name for a in problem.cascade.inputs]
    inputs = {name: floats([sample[name] for sample in problem.samples]) for name in names}
    targets = {
        name: [floats(t).tolist() if isinstance(t, list) else t for t in each]
        for name, each in problem.targets.items()
    }
    return inputs, {name: one_form(problem.cascade[name], t) for name, t in targets.items()}


def one_form(rule_set: RuleSet, targets: list[Any]) -> Any:
    """Return targets as values, or all as degrees if some are degrees."""
    if not any(isinstance(t, list) for t in targets):
        return targets
    domain = rule_set.output.domain
    return [t if isinstance(t, list) else [float(u == t) for u in domain] for t in targets]


def dyadic(problem: LearningProblem, steps: int = 16) -> LearningProblem:
    """Move all degrees to a grid of binary fractions, on which float64 is exact."""

    def move(degree: Fraction) -> Fraction:
        return Fraction(round(degree * steps), steps)

    def moved(target: Any) -> Any:
        return [move(d) for d in target] if isinstance(target, list) else target

    parameters = {
        s.output.name: tuple(
            [round(d * steps) / steps for d in side.tolist()] for side in (s.s, s.r)
        )
        for s in problem.cascade.rule_sets
    }
    return LearningProblem(
        problem.cascade.with_parameters(parameters),  # type: ignore[arg-type]
        [{name: [move(d) for d in pi] for name, pi in one.items()} for one in problem.samples],
        {name: [moved(t) for t in each] for name, each in problem.targets.items()},
    )


def evidence_of(problem: LearningProblem, sample: int) -> dict[str, oracles.Distribution]:
    domains = {a.name: a.domain for a in problem.cascade.inputs}
    one = problem.samples[sample]
    return {name: dict(zip(domains[name], pi, strict=True)) for name, pi in one.items()}


# --- cascades ----------------------------------------------------------------------------------


def bit(name: str) -> Attribute:
    return Attribute(name, [0, 1])


A, B, C, D, E, Z = map(bit, "abcdez")


def copies(source: Attribute, target: Attribute, s: float = 0.0, r: float = 0.0) -> RuleSet:
    """Rules that say that an attribute has the value of another."""
    return RuleSet([Iff(source.isin({v})).then(target.isin({v}), s, r) for v in (0, 1)])


def both(one: Attribute, two: Attribute, target: Attribute) -> RuleSet:
    """Rules of conjunctions, for which other parameters than 0 are found."""
    return RuleSet(
        [
            Iff(one.isin({1}), two.isin({1})).then(target.isin({1})),
            Iff(one.isin({0})).then(target.isin({0}), s=0.25, r=0.125),
        ]
    )


#: `z` is used by the sets of the first and the last stage and has no target of its own.
SKIP = Cascade(copies(A, Z, 0.25, 0.5), both(A, Z, B), both(B, Z, C), copies(C, D), both(D, Z, E))
DIAMOND = Cascade(copies(A, B), both(A, D, C), both(B, C, E))
#: Whatever `a` is, one of the rules is broken: `z` is never normalised.
BROKEN = RuleSet([Iff(A.isin({0, 1})).then(Z.isin({v})) for v in (0, 1)])
#: Four stages; `z` is inferred in the first and used in the last.
BROKEN_SKIP = Cascade(BROKEN, both(A, Z, B), copies(B, C), copies(C, D), both(D, Z, E))


def chain(depth: int) -> Cascade:
    links = [bit(f"x{i}") for i in range(depth + 1)]
    sets = [copies(links[0], links[1])]
    sets += [both(links[i], links[i // 2], links[i + 1]) for i in range(1, depth)]
    return Cascade(*sets)


# --- random samples ----------------------------------------------------------------------------


def random_targets(
    rng: np.random.Generator, rule_set: RuleSet, n: int, graded: bool, grid: int = 10
) -> Any:
    size = len(rule_set.output.domain)
    if graded:
        return random_batch(rng, n, size, grid)
    return [rule_set.output.domain[i] for i in rng.integers(0, size, n)]


def random_samples(
    cascade: Cascade, n: int, seed: int, graded: bool | None = None, grid: int = 10
) -> tuple[Inputs, Targets]:
    """Draw inputs and, for all sets, targets: values or degrees (by default some sets each)."""
    rng = np.random.default_rng(seed)
    inputs = {a.name: random_batch(rng, n, len(a.domain), grid) for a in cascade.inputs}
    targets = {}
    for number, rule_set in enumerate(cascade.rule_sets):
        kind = (number + seed) % 2 == 0 if graded is None else graded
        targets[rule_set.output.name] = random_targets(rng, rule_set, n, kind, grid)
    return inputs, targets


def part(inputs: Inputs, targets: Targets, chosen: Sequence[int]) -> tuple[Inputs, Targets]:
    """Return some of the samples."""
    rows = list(chosen)
    return (
        {name: x[rows] for name, x in inputs.items()},
        {
            name: t[rows] if isinstance(t, np.ndarray) else [t[i] for i in rows]
            for name, t in targets.items()
        },
    )


def parts(
    inputs: Inputs, targets: Targets, order: Sequence[int], cuts: Sequence[int]
) -> list[tuple[Inputs, Targets]]:
    """Cut the samples, taken in some order, into batches, none of them empty."""
    bounds = sorted({0, len(order), *cuts})
    return [part(inputs, targets, order[begin:end]) for begin, end in pairwise(bounds)]


# --- comparing results -------------------------------------------------------------------------


def bits(result: LearningResult, fronts: bool = True) -> dict[str, Any]:
    """Return all that a result holds of its sets, to the last bit; not the single samples.

    A model file holds no fronts.
    """
    return {name: (result.samples, *_bits(one, fronts)) for name, one in result.sets.items()}


def _bits(one: SetResult, with_fronts: bool) -> tuple[Any, ...]:
    fronts = one.summary.fronts
    arrays = [one.s, one.r, *((fronts.e, fronts.w, fronts.starts) if with_fronts else ())]
    numbers = [one.distance, one.summary.smallest, one.tolerance]
    counts = [one.summary.samples, one.summary.reliable]
    return (*(a.tobytes() for a in arrays), *map(float.hex, numbers), *counts)


def assert_same(one: SetResult, exact: oracles.Learnt) -> None:
    """Check every number of a set to the last bit."""
    assert one.nabla is not None
    assert one.nabla.tolist() == floats(exact.nablas).tolist()
    assert one.reliable.tolist() == exact.reliable
    assert one.n_reliable == sum(exact.reliable)
    assert one.distance == exact.distance
    assert one.s.tolist() == floats(exact.s).tolist()
    assert one.r.tolist() == floats(exact.r).tolist()


# --- the certificate ---------------------------------------------------------------------------


def assert_certified(inputs: Inputs, targets: Mapping[str, Any], result: LearningResult) -> None:
    """Check a result, however it was found, against the dense systems and the general solver."""
    premises = result.cascade.trace(inputs).premises
    assert set(result.sets) == set(targets)
    for name, one in result.sets.items():
        rule_set = result.cascade[name]
        lambdas, rhos = premises[name].lambdas, premises[name].rhos
        systems = sample_systems(rule_set, lambdas, rhos, targets[name])
        assert rule_set.s.tobytes() + rule_set.r.tobytes() == one.s.tobytes() + one.r.tobytes()
        certify_set(systems, one)


def certify_set(systems: Sequence[EquationSystem], one: SetResult) -> None:
    """Check what was learned for one set from samples with the given equation systems."""
    nabla = np.array([system.distance for system in systems])
    reliable = nabla < one.tolerance
    if one.nabla is not None:
        assert one.nabla.tobytes() == nabla.tobytes()
        assert one.reliable.tolist() == reliable.tolist()
    counts = one.summary.samples, one.summary.reliable, one.summary.smallest
    assert counts == (len(systems), reliable.sum(), nabla.min())
    general = stacked([s for s, keep in zip(systems, reliable, strict=True) if keep])
    assert one.distance == general.chebyshev_distance
    assert one.lowest.tobytes() == general.lowest_approximate_solution.tobytes()
    certificate = general.verify(one.lowest)
    assert certificate.attains
    assert certificate.solves == general.is_consistent


def stacked(systems: Sequence[EquationSystem]) -> MinMaxSystem:
    """Return the dense stacked system of repaired samples."""
    matrix = np.concatenate([system.matrix for system in systems])
    return MinMaxSystem(matrix, np.concatenate([s.lowest_approximation for s in systems]))


def sample_systems(
    rule_set: RuleSet, lambdas: FloatArray, rhos: FloatArray, targets: Any
) -> list[EquationSystem]:
    """Return the equation system of each sample."""
    target, partition = Target.of(targets, rule_set.output), rule_set.partition
    cells = [cell_degrees(partition, target.distribution(i)) for i in range(len(target))]
    rows = zip(lambdas, rhos, cells, strict=True)
    return [EquationSystem(partition, *row) for row in rows]


def cell_degrees(partition: Partition, degrees: FloatArray) -> FloatArray:
    """Return the largest degree among the values of each cell."""
    return floats([degrees[partition.cell_of == mu].max() for mu in range(len(partition))])
