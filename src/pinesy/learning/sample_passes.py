"""Passes over training samples: explicit, and the same in memory, in batches and on a cluster.

For each stage `Samples.passes` gives an object with three passes. `Measured` does them for one
batch; a batch of all samples is learning in memory (`InMemory`). Elsewhere the results of the
batches are merged: merging is associative and commutative to the last bit. The equation systems of
samples [eq:upsigma] are in `SampleSystems`; their loops are compiled (`system_kernels`).
"""

from collections import ChainMap
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from pinesy._common.caching import cached_on_owner, load_kernels
from pinesy._common.threads import n_threads, run_on_threads
from pinesy._common.validation import FloatArray
from pinesy.engine.code import Code
from pinesy.engine.program import run
from pinesy.engine.rule_set_kinds import independent_blocks
from pinesy.equations import Fronts
from pinesy.equations.fronts import reliable_below
from pinesy.evidence.targets import Target
from pinesy.learning.learning_arguments import TrainingBatch, with_fixed
from pinesy.learning.learning_result import SampleSummary
from pinesy.learning.parameter_estimates import RuleCounts, rule_counts
from pinesy.learning.stages import Stage
from pinesy.rulebase.sample_equations import EquationSystem
from pinesy.rules.partition import Partition

KERNELS = "pinesy.learning.system_kernels"
#: Samples a task; it bounds the scratch of building fronts.
CHUNK = 4096
#: Cells times rules times samples below which a second thread costs more than it gives.
THREAD_STEPS = 1_000_000
CellIndices = npt.NDArray[np.uint32]
#: By the name of each rule set: its tolerance, or its fronts.
SetTolerances = Mapping[str, float]
SetFronts = Mapping[str, Fronts]
#: The programs of the stages so far: the last one, and the path before it.
Path = tuple[Code, "Path"] | None
#: For each stage the programs up to it, and its measures.
Past = dict[int, tuple[Path, "Measured"]]


class Passes(Protocol):
    """The passes over all samples of a stage."""

    def first_pass(self, tolerances: SetTolerances) -> dict[str, SampleSummary]:
        """Measure, select and repair the samples; return by set what the second pass needs."""

    def second_pass(self, tolerances: SetTolerances, fronts: SetFronts) -> dict[str, float]:
        """Return the distance of each set's stacked system."""

    def count_pass(self) -> dict[str, RuleCounts]:
        """Return how often the rules of each set hold."""

    def of_samples(self, name: str) -> tuple[FloatArray | None, FloatArray | None]:  # noqa: ARG002
        """Return the distance of each sample, and of a single sample the greatest solution."""
        return None, None  # where samples do not stay in memory


class Samples(Protocol):
    """Training samples, in memory or not, on one machine or several.

    Attributes
    ----------
    targeted : the attributes that have targets
    stored : the inferred distributions that are stored, or None if they are inferred every time
    """

    targeted: list[str]
    stored: Collection[str] | None = None

    def passes(self, stage: Stage) -> Passes:
        """Return the passes for a stage."""


class InMemory(Samples):
    """Samples in memory: premise degrees and distances stay from pass to pass.

    Parameters
    ----------
    batch : the samples
    past : where to store the measures of each stage, for when it is learned again: a stage that
        comes after the same programs as the last time is not measured again
    """

    def __init__(self, batch: TrainingBatch, past: Past | None = None) -> None:
        self.targeted = list(batch.targets)
        self.stored: Mapping[str, Any] = {}
        self._batch = batch
        self._past = {} if past is None else past
        self._path: Path = None
        self._n_stages = 0

    def passes(self, stage: Stage) -> "Measured":
        """Compute the premise degrees of a stage."""
        path, measured = self._past.get(self._n_stages, (None, None))
        # The programs contain all parameters learned so far; paths are compared as they are stored.
        if not measured or not path or path[0] is not stage.code or path[1] is not self._path:
            path = (stage.code, self._path)
            known = ChainMap({**self.stored}, self._batch.known)  # not a copy of all inputs
            measured = Measured(stage, replace(self._batch, known=known))
            self._past[self._n_stages] = path, measured
        self._path, self.stored = path, measured.inferred
        self._n_stages += 1
        return measured


class Measured:
    """The passes over samples in memory: the systems of a stage for one batch, and each ``nabla``.

    Attributes
    ----------
    systems : by the name of the set
    inferred : the inferred distributions that later stages need
    """

    def __init__(self, stage: Stage, batch: TrainingBatch) -> None:
        out = run(stage.code, batch.rows(stage.code))
        self._stage = stage
        self._batch = batch
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
        self._summaries: dict[tuple[str, int], SampleSummary] = {}

    @cached_property
    def nabla(self) -> dict[str, FloatArray]:
        """The distance of every sample, for each set; computed when it is first needed."""
        self.measure()
        return {name: system.nabla for name, system in self.systems.items()}

    def measure(self) -> None:
        """Compute the distances of all samples."""
        self._each(self.systems, lambda name, i, k: self.systems[name].distances(i, k))

    def first_pass(self, tolerances: SetTolerances) -> dict[str, SampleSummary]:
        """Measure, select and repair the samples; return by set what the second pass needs."""
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

    def second_pass(self, tolerances: SetTolerances, fronts: SetFronts) -> dict[str, float]:
        """Return the distance of each set's stacked system, over the rows of these samples."""
        largest = dict.fromkeys(fronts, 0.0)
        assert self.nabla.keys() >= fronts.keys()  # the rows' distances need those of samples

        def task(name: str, begin: int, end: int) -> float:
            distance = self.systems[name].stacked(
                begin, end, tolerances[name], fronts[name], largest[name]
            )
            largest[name] = max(largest[name], distance)  # seen late, it only costs time
            return distance

        return {name: max(distances) for name, distances in self._each(fronts, task).items()}

    def count_pass(self) -> dict[str, RuleCounts]:
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
        return system.nabla, with_fixed(equations.greatest_solution, self._stage.fixed.get(name))

    def _each(
        self, names: Sequence[str] | Mapping[str, Any], task: Callable[[str, int, int], Any]
    ) -> dict[str, list[Any]]:
        """Run a task for all chunks of some sets, on several threads if it pays."""
        n = self._batch.n
        tasks = [(name, i, min(i + CHUNK, n)) for name in names for i in range(0, n, CHUNK)]
        systems = [self.systems[name] for name in names]
        steps = n * sum(len(s.shape.cells) * max(1, len(s.degrees) // 2) for s in systems)
        threads = min(n_threads(), len(tasks)) if steps > THREAD_STEPS else 1

        def work(queue: Iterator[tuple[str, int, int]]) -> list[tuple[str, Any]]:
            return [(name, task(name, begin, end)) for name, begin, end in queue]

        results: dict[str, list[Any]] = {name: [] for name in names}
        for part in run_on_threads(work, tasks, threads):
            for name, outcome in part:
                results[name].append(outcome)
        return results


def merged(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Return the result of two parts of the samples together, for each rule set.

    Of the distances of stacked systems that is the larger one.
    """
    return {
        name: max(part, second[name]) if isinstance(part, float) else part.merge(second[name])
        for name, part in first.items()
    }


class CellShape(NamedTuple):
    """The sign table of a partition, as the product of independent blocks of rules.

    Where the rules of two blocks combine freely, ``min_j f(side)`` over all rules is the min of
    two shorter ones, worked out once for each sign pattern of a block; so the ``omega n`` terms of
    all cells become ``omega`` times the number of blocks, and the terms of the patterns.

    Attributes
    ----------
    patterns : arrays ``starts, sides, cell_of, fixed``. The sides (``2j`` inside the conclusion of
        rule `j`, ``2j + 1`` outside) of pattern `p` are ``sides[starts[p]:starts[p + 1]]``; the
        patterns of all blocks are numbered through. ``cell_of`` is the cell of each value,
        ``fixed`` the sides whose parameters are.
    cells : array (omega, blocks)
        The pattern of each cell in each block.
    """

    patterns: tuple[CellIndices, CellIndices, CellIndices, CellIndices]
    cells: CellIndices


@cached_on_owner
def cell_shape(partition: Partition) -> CellShape:
    """Return the shape of a partition's cells, computed once."""
    sides: list[npt.NDArray[np.intp]] = []
    cells = []
    for rules in independent_blocks(partition.signs):
        patterns, pattern_of = np.unique(partition.signs[:, rules], axis=0, return_inverse=True)
        cells.append(len(sides) + pattern_of.ravel())
        sides += list(2 * np.array(rules) + ~patterns)
    starts = np.cumsum([0, *map(len, sides)]).astype(np.uint32)
    side_of, cell_of = np.concatenate(sides).astype(np.uint32), partition.cell_of.astype(np.uint32)
    pattern_of_cell = np.ascontiguousarray(np.stack(cells, axis=1).astype(np.uint32))
    return CellShape((starts, side_of, cell_of, np.empty(0, dtype=np.uint32)), pattern_of_cell)


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
    labels: CellIndices
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
        """Return the systems of samples, from their premise degrees and targets.

        A fixed parameter `z` (the others are NaN) makes ``max(z, g)`` a constant: the degree is
        raised to it, and its side asks for nothing more.
        """
        shape, nabla = cell_shape(partition), np.empty(degrees.shape[1])
        if fixed is not None:
            sides = np.flatnonzero(~np.isnan(fixed)).astype(np.uint32)
            shape = CellShape((*shape.patterns[:3], sides), shape.cells)
            degrees = np.fmax(degrees, fixed[:, None])
        labels = shape.patterns[2][target.labels]
        return cls(degrees, labels, target.degrees, shape, slack, nabla)

    def _arguments(self, begin: int, end: int) -> tuple[Any, ...]:
        """Return the first arguments of all kernels."""
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
        """Return the fronts of the reliable samples among some, and how many these are."""
        sides, n = len(self.degrees), end - begin
        e, w, sizes = np.empty((sides, n)), np.empty((sides, n)), np.zeros(sides, dtype=np.int64)
        below = reliable_below(tolerance)
        arguments = (*self._arguments(begin, end), self.slack, self.nabla, below)
        reliable = load_kernels(KERNELS).fronts(*arguments, e, w, sizes)
        longest = sizes.max()
        inside = np.arange(longest) < sizes[:, None]
        starts = np.concatenate([[0], np.cumsum(sizes)])
        fronts = Fronts(e[:, :longest][inside], w[:, :longest][inside], starts)
        return SampleSummary(n, int(reliable), float(self.nabla[begin:end].min()), fronts)

    def stacked(
        self, begin: int, end: int, tolerance: float, fronts: Fronts, least: float = 0.0
    ) -> float:
        """Return the largest distance of the stacked system's rows that come of some samples.

        Distances up to `least`, known from other samples, need not be worked out.
        """
        packed = (fronts.e, fronts.w, fronts.starts)
        below = reliable_below(tolerance)
        arguments = (*self._arguments(begin, end), self.slack, self.nabla, below)
        return float(load_kernels(KERNELS).stacked_distance(*arguments, packed, least))
