"""The equation systems of training samples, and what one stage of learning takes from them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from pinesy._common.caching import cached_on_owner, load_kernels
from pinesy._common.threads import n_threads, share
from pinesy._common.validation import FloatArray
from pinesy.engine.code import Code
from pinesy.engine.program import run
from pinesy.engine.rule_set_kinds import independent_blocks
from pinesy.learning.learning_arguments import SetParameters, TrainingBatch, with_fixed
from pinesy.learning.learning_result import SampleSummary
from pinesy.learning.parameter_estimates import RuleCounts, rule_counts
from pinesy.minmax import Fronts
from pinesy.minmax.fronts import reliable_below
from pinesy.rulebase.equations import EquationSystem
from pinesy.rulebase.targets import Target
from pinesy.rules.partition import Partition

KERNELS = "pinesy.learning.system_kernels"
T = TypeVar("T")
CellNumbers = npt.NDArray[np.uint32]
#: By the name of each rule set: its tolerance, or its fronts.
SetTolerances = Mapping[str, float]
SetFronts = Mapping[str, Fronts]
#: Samples a task; it bounds the scratch of building fronts.
CHUNK = 4096
#: Cells times rules times samples below which a second thread costs more than it gives.
THREAD_STEPS = 1_000_000


class CellShape(NamedTuple):
    """The sign table of a partition, as the product of independent blocks of rules.

    Where the rules of two blocks combine freely, ``min_j f(side)`` over all rules is the min of
    two shorter ones, worked out once for each sign pattern of a block; so the ``omega n`` terms of
    all cells become ``omega`` times the number of blocks and the patterns' own.

    Attributes
    ----------
    patterns : arrays ``starts, sides, cell_of, fixed``. The sides (``2j`` inside the conclusion of
        rule `j`, ``2j + 1`` outside) of pattern `p` are ``sides[starts[p]:starts[p + 1]]``; the
        patterns of all blocks are numbered through. ``cell_of`` is the cell of each value,
        ``fixed`` the sides whose parameters are.
    cells : array (omega, blocks)
        The pattern of each cell in each block.
    """

    patterns: tuple[CellNumbers, CellNumbers, CellNumbers, CellNumbers]
    cells: CellNumbers

    def cell_labels(self, target: Target) -> CellNumbers:
        """Return the cell of each sample's value; of none, if the target gives degrees."""
        return self.patterns[2][target.labels]


@cached_on_owner
def shape_of(partition: Partition) -> CellShape:
    """Return the shape of a partition's cells, made once."""
    sides: list[npt.NDArray[np.intp]] = []
    cells = []
    for rules in independent_blocks(partition.signs):
        patterns, pattern_of = np.unique(partition.signs[:, rules], axis=0, return_inverse=True)
        cells.append(len(sides) + pattern_of.ravel())
        sides += list(2 * np.array(rules) + ~patterns)
    starts = np.cumsum([0, *map(len, sides)]).astype(np.uint32)
    side_of, cell_of = np.concatenate(sides).astype(np.uint32), partition.cell_of.astype(np.uint32)
    numbers = np.ascontiguousarray(np.stack(cells, axis=1).astype(np.uint32))
    return CellShape((starts, side_of, cell_of, np.empty(0, dtype=np.uint32)), numbers)


@dataclass(frozen=True, eq=False)
class SampleSystems:
    """One rule set's equation systems for the samples of a batch.

    Attributes
    ----------
    degrees : array (2n, n_samples)
        The premise degrees ``lambda_1, rho_1, lambda_2, ...``.
    labels, graded : the targets: the cell of each sample, or degrees; one of them is empty
    shape : the sides of the cells
    slack : how far rounding may have moved the premise degrees
    nabla : the Chebyshev distance of each sample, once `distances` has computed it
    """

    degrees: FloatArray
    labels: CellNumbers
    graded: FloatArray
    shape: CellShape
    slack: float
    nabla: FloatArray

    @classmethod
    def of(
        cls,
        degrees: FloatArray,
        target: Target,
        partition: Partition,
        slack: float = 0.0,
        fixed: FloatArray | None = None,
    ) -> "SampleSystems":
        """Return the systems of samples with given premise degrees and targets.

        A fixed parameter `z` (the others are NaN) makes ``max(z, g)`` a constant: the degree is
        raised to it, and its side asks for nothing more.
        """
        shape, nabla = shape_of(partition), np.empty(degrees.shape[1])
        if fixed is not None:
            sides = np.flatnonzero(~np.isnan(fixed)).astype(np.uint32)
            shape = CellShape((*shape.patterns[:3], sides), shape.cells)
            degrees = np.fmax(degrees, fixed[:, None])
        return cls(degrees, shape.cell_labels(target), target.degrees, shape, slack, nabla)

    @property
    def steps(self) -> int:
        """About how much work a pass over the samples is."""
        return len(self.nabla) * len(self.shape.cells) * max(1, len(self.degrees) // 2)

    def _arguments(self, begin: int, end: int) -> tuple[Any, ...]:
        return (self.degrees, begin, end, *self.shape, self.labels, self.graded)

    def distances(self, begin: int, end: int) -> None:
        """Set ``nabla[begin:end]`` to the samples' Chebyshev distances."""
        load_kernels(KERNELS).distances(*self._arguments(begin, end), self.nabla)

    def repaired(self, begin: int, end: int) -> FloatArray:
        """Return the repaired target of each cell, of shape ``(omega, end - begin)``."""
        out = np.empty((len(self.shape.cells), end - begin))
        load_kernels(KERNELS).repaired(*self._arguments(begin, end), self.slack, self.nabla, out)
        return out

    def summary(self, begin: int, end: int, tolerance: float) -> SampleSummary:
        """Return what the first pass keeps of some samples."""
        sides, n = len(self.degrees), end - begin
        e, w, sizes = np.empty((sides, n)), np.empty((sides, n)), np.zeros(sides, dtype=np.int64)
        given = (*self._arguments(begin, end), self.slack, self.nabla, reliable_below(tolerance))
        reliable = load_kernels(KERNELS).fronts(*given, e, w, sizes)
        longest = sizes.max()
        inside = np.arange(longest) < sizes[:, None]
        starts = np.concatenate([[0], np.cumsum(sizes)])
        fronts = Fronts(e[:, :longest][inside], w[:, :longest][inside], starts)
        return SampleSummary(n, int(reliable), float(self.nabla[begin:end].min()), fronts)

    def stacked(
        self, begin: int, end: int, tolerance: float, fronts: Fronts, least: float = 0.0
    ) -> float:
        """Return the largest distance of the stacked system's rows that come of some samples.

        What is not above `least`, known from other samples, need not be worked out.
        """
        packed = (fronts.e, fronts.w, fronts.starts)
        below = reliable_below(tolerance)
        arguments = (*self._arguments(begin, end), self.slack, self.nabla, below)
        return float(load_kernels(KERNELS).stacked_distance(*arguments, packed, least))


@dataclass(frozen=True, eq=False)
class Stage:
    """What one stage of learning runs.

    Attributes
    ----------
    names : the sets learned in it
    code : the program that gives their premise degrees, and the distributions to store
    needed : what later stages need of the distributions inferred so far
    slack : for each set, how far rounding may have moved its premise degrees: they are copies of
        inputs and of earlier sets' parameters, and learned parameters come of subtractions
    partitions : of each set
    fixed : for sets of which some parameters are fixed, these; NaN for the others
    changed : the sets whose premises depend on parameters that learning has changed
    """

    names: tuple[str, ...]
    code: Code
    needed: frozenset[str]
    slack: Mapping[str, float]
    partitions: Mapping[str, Partition]
    changed: frozenset[str]
    fixed: SetParameters


class Measured:
    """The systems of one stage for one batch, and the distance ``nabla`` of every sample.

    Attributes
    ----------
    systems : by the name of the set
    inferred : the inferred distributions that later stages need
    fixed : the parameters that are fixed, of sets that have some
    """

    def __init__(self, stage: Stage, batch: TrainingBatch) -> None:
        out = run(stage.code, batch.rows(stage.code))
        self._stage = stage
        self.fixed = stage.fixed
        self._degrees = {name: out[stage.code.degrees[name]] for name in stage.names}
        self.systems = {
            name: SampleSystems.of(
                self._degrees[name],
                batch.targets[name],
                stage.partitions[name],
                stage.slack[name],
                stage.fixed.get(name),
            )
            for name in stage.names
        }
        inferred = {name: out[span].T for name, span in stage.code.columns.items()}
        self.inferred = {n: inferred[n] if n in inferred else batch.known[n] for n in stage.needed}
        self._batch = batch
        self._summaries: dict[tuple[str, int], SampleSummary] = {}

    @cached_property
    def nabla(self) -> dict[str, FloatArray]:
        """The distance of every sample, for each set; computed when it is first needed."""
        self.measure()
        return {name: system.nabla for name, system in self.systems.items()}

    def gather(self, method: Callable[..., dict[str, T]], *given: Any) -> dict[str, T]:
        """Return what a method gives: all samples are here."""
        return method(self, *given)

    def measure(self) -> None:
        """Compute the distances of all samples."""
        self._each(self.systems, lambda name, i, k: self.systems[name].distances(i, k))

    def summaries(self, tolerances: SetTolerances) -> dict[str, SampleSummary]:
        """Return what the first pass keeps, for each set."""
        # Tolerances that keep as many samples keep the same ones.
        keys = {
            name: (name, int(np.count_nonzero(nabla < reliable_below(tolerances[name]))))
            for name, nabla in self.nabla.items()
        }
        parts = self._each(
            [name for name, key in keys.items() if key not in self._summaries],
            lambda name, i, k: self.systems[name].summary(i, k, tolerances[name]),
        )
        for name, (first, *others) in parts.items():
            self._summaries[keys[name]] = first.merge(*others) if others else first
        return {name: self._summaries[key] for name, key in keys.items()}

    def stacked(self, tolerances: SetTolerances, fronts: SetFronts) -> dict[str, float]:
        """Return the distance of each set's stacked system, as far as this batch goes."""
        best = dict.fromkeys(fronts, 0.0)
        assert self.nabla.keys() >= fronts.keys()  # the rows' distances need those of samples

        def task(name: str, begin: int, end: int) -> float:
            given = tolerances[name], fronts[name], best[name]
            distance = self.systems[name].stacked(begin, end, *given)
            best[name] = max(best[name], distance)  # a late word of another thread only costs time
            return distance

        return {name: max(distances) for name, distances in self._each(fronts, task).items()}

    def counts(self) -> dict[str, RuleCounts]:
        """Return how often the rules of each set hold."""
        return {name: rule_counts(*self.samples(name)) for name in self._degrees}

    def samples(self, name: str) -> tuple[FloatArray, Partition, Target, FloatArray | None]:
        """Return the premise degrees of a set, its partition, the targets and the weights."""
        batch, partition = self._batch, self._stage.partitions[name]
        return self._degrees[name], partition, batch.targets[name], batch.weights

    def of_samples(self, name: str) -> tuple[FloatArray, FloatArray | None]:
        """Return the distances of a set's samples, and the greatest solution for a single one.

        It is ``E^up`` of the repaired system [eq:twosoldef].
        """
        system, partition = self.systems[name], self._stage.partitions[name]
        if len(system.nabla) > 1:
            return system.nabla, None
        degrees, repaired = system.degrees[:, 0], system.repaired(0, 1)[:, 0]
        equations = EquationSystem(partition, degrees[0::2], degrees[1::2], repaired)
        return system.nabla, with_fixed(equations.greatest_solution, self.fixed.get(name))

    def _each(
        self, names: Sequence[str] | Mapping[str, Any], task: Callable[[str, int, int], Any]
    ) -> dict[str, list[Any]]:
        """Do a task for all chunks of the given sets, on several threads if it pays."""
        starts = range(0, self._batch.n, CHUNK)
        tasks = [(name, i, min(i + CHUNK, self._batch.n)) for name in names for i in starts]
        steps = sum(self.systems[name].steps for name in names)
        threads = min(n_threads(), len(tasks)) if steps > THREAD_STEPS else 1

        def work(queue: Iterator[tuple[str, int, int]]) -> list[tuple[str, Any]]:
            return [(name, task(name, begin, end)) for name, begin, end in queue]

        results: dict[str, list[Any]] = {name: [] for name in names}
        for part in share(work, tasks, threads):
            for name, outcome in part:
                results[name].append(outcome)
        return results
