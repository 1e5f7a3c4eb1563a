"""Passes over training samples, the same in memory, in batches and on a cluster.

For each stage `Samples.passes` returns an object with three passes. `BatchPasses` does them for one
batch; samples in memory are one batch (`MemorySamples`). Otherwise the results of the batches are
merged: merging is associative and commutative to the last bit. The equation systems of samples
[eq:upsigma] are in `SampleSystems`; their loops are compiled (`system_kernels`).
"""

from collections import ChainMap
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from functools import cached_property, partial
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
from pinesy.learning.learning_arguments import TrainingBatch, set_fixed
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
#: For each stage the programs up to it, and its passes.
PassCache = dict[int, tuple[Path, "BatchPasses"]]
#: What is computed of the samples ``begin .. end-1``.
Task = Callable[[int, int], Any]


class Passes(Protocol):
    """The passes over all samples of a stage."""

    def first_pass(self, tolerances: SetTolerances) -> dict[str, SampleSummary]:
        """Measure the distances of samples, select and repair them; return a summary by set."""

    def second_pass(self, tolerances: SetTolerances, fronts: SetFronts) -> dict[str, float]:
        """Return the distance of each set's stacked system."""

    def count_pass(self) -> dict[str, RuleCounts]:
        """Return how often the rules of each set hold."""

    def sample_results(self, name: str) -> tuple[FloatArray | None, FloatArray | None]:  # noqa: ARG002
        """Return the distances of a set's samples, and the greatest solution of a single sample.

        Both are None where samples do not stay in memory.
        """
        return None, None


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


class MemorySamples(Samples):
    """Samples in memory: premise degrees and distances stay from pass to pass.

    Parameters
    ----------
    batch : the samples
    cache : stores the passes of each stage for the next learning: a stage that comes after the same
        programs is not computed again
    """

    def __init__(self, batch: TrainingBatch, cache: PassCache | None = None) -> None:
        self.targeted = list(batch.targets)
        self.stored: Mapping[str, Any] = {}
        self._batch = batch
        self._cache = {} if cache is None else cache
        self._path: Path = None
        self._n_stages = 0

    def passes(self, stage: Stage) -> "BatchPasses":
        """Return the passes for a stage, from the cache if it has them."""
        path, passes = self._cache.get(self._n_stages, (None, None))
        # The programs contain all parameters learned so far; paths are compared by identity.
        if not passes or not path or path[0] is not stage.code or path[1] is not self._path:
            path = (stage.code, self._path)
            known = ChainMap({**self.stored}, self._batch.known)  # not a copy of all inputs
            passes = BatchPasses(stage, replace(self._batch, known=known))
            self._cache[self._n_stages] = path, passes
        self._path, self.stored = path, passes.inferred
        self._n_stages += 1
        return passes


class BatchPasses:
    """The passes over one batch in memory: the equation systems of a stage's sets.

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
            name: SampleSystems(
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
        self._run({name: system.measure for name, system in self.systems.items()})

    def first_pass(self, tolerances: SetTolerances) -> dict[str, SampleSummary]:
        """Measure the distances of samples, select and repair them; return a summary by set."""
        # Tolerances that keep as many samples keep the same ones.
        keys = {
            name: (name, int(np.count_nonzero(nabla < reliable_below(tolerances[name]))))
            for name, nabla in self.nabla.items()
        }
        parts = self._run(
            {
                name: partial(self.systems[name].summary, tolerance=tolerances[name])
                for name, key in keys.items()
                if key not in self._summaries
            }
        )
        for name, (first, *others) in parts.items():
            self._summaries[keys[name]] = first.merge(*others) if others else first
        return {name: self._summaries[key] for name, key in keys.items()}

    def second_pass(self, tolerances: SetTolerances, fronts: SetFronts) -> dict[str, float]:
        """Return the distance of each set's stacked system, over the rows of these samples."""
        largest = dict.fromkeys(fronts, 0.0)
        assert self.nabla.keys() >= fronts.keys()  # the rows' distances need those of samples

        def task(name: str, begin: int, end: int) -> float:
            distance = self.systems[name].stacked_distance(
                begin, end, tolerances[name], fronts[name], largest[name]
            )
            largest[name] = max(largest[name], distance)  # a thread that reads it late takes longer
            return distance

        distances = self._run({name: partial(task, name) for name in fronts})
        return {name: max(of_chunks) for name, of_chunks in distances.items()}

    def count_pass(self) -> dict[str, RuleCounts]:
        """Return how often the rules of each set hold."""
        return {name: rule_counts(*self.samples(name)) for name in self._degrees}

    def samples(self, name: str) -> tuple[FloatArray, Partition, Target, FloatArray | None]:
        """Return the premise degrees of a set, its partition, the targets and the weights."""
        batch, partition = self._batch, self._stage.partitions[name]
        return self._degrees[name], partition, batch.targets[name], batch.weights

    def sample_results(self, name: str) -> tuple[FloatArray, FloatArray | None]:
        """Return the distances of a set's samples, and the greatest solution of a single sample.

        That is ``E^up`` of the repaired system [eq:twosoldef].
        """
        system, partition = self.systems[name], self._stage.partitions[name]
        if len(system.nabla) > 1:
            return system.nabla, None
        degrees, repaired = system.degrees[:, 0], system.repaired_targets(0, 1)[:, 0]
        equations = EquationSystem(partition, degrees[0::2], degrees[1::2], repaired)
        return system.nabla, set_fixed(equations.greatest_solution, self._stage.fixed.get(name))

    def _run(self, tasks: Mapping[str, Task]) -> dict[str, list[Any]]:
        """Run the tasks of some sets for all chunks of samples, on several threads if it pays.

        Returns the results by set, in any order.
        """
        n = self._batch.n
        chunks = [(name, i, min(i + CHUNK, n)) for name in tasks for i in range(0, n, CHUNK)]
        systems = [self.systems[name] for name in tasks]
        steps = n * sum(len(s.shape.cells) * max(1, len(s.degrees) // 2) for s in systems)
        threads = min(n_threads(), len(chunks)) if steps > THREAD_STEPS else 1
        results: dict[str, list[Any]] = {name: [] for name in tasks}

        def work(queue: Iterator[tuple[str, int, int]]) -> None:
            for name, begin, end in queue:
                results[name].append(tasks[name](begin, end))  # append is atomic

        run_on_threads(work, chunks, threads)
        return results


def merge_results(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Return the results of a pass over two parts of the samples together, for each rule set.

    Summaries and counts merge; of distances the larger one is taken.
    """
    return {
        name: max(part, second[name]) if isinstance(part, float) else part.merge(second[name])
        for name, part in first.items()
    }


class CellShape(NamedTuple):
    """The sign table of a partition, as the product of independent blocks of rules.

    Where the rules of two blocks combine freely, ``min_j f(side)`` over all rules is the min of
    two shorter ones, computed once for each sign pattern of a block; so the ``omega n`` terms of
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


class SampleSystems:
    """One rule set's equation systems for the samples of a batch.

    A fixed parameter `z` makes ``max(z, g)`` a constant: the premise degree `g` is raised to it,
    and its side requires nothing more.

    Parameters
    ----------
    degrees : array (2 rules, n_samples) of the premise degrees ``lambda_1, rho_1, lambda_2, ...``
    target, partition : of the rule set
    slack : a bound of the rounding error of the premise degrees
    fixed : the parameters ``s_1, r_1, s_2, ...`` that are fixed, NaN for the others; None if all
        are learned

    Attributes
    ----------
    degrees : the premise degrees, raised to the fixed parameters
    shape : the sides of the cells
    nabla : the Chebyshev distance of each sample, once `measure` has computed it
    """

    def __init__(
        self,
        degrees: FloatArray,
        target: Target,
        partition: Partition,
        slack: float = 0.0,
        fixed: FloatArray | None = None,
    ) -> None:
        self.shape, self.degrees = cell_shape(partition), degrees
        if fixed is not None:
            sides = np.flatnonzero(~np.isnan(fixed)).astype(np.uint32)
            self.shape = CellShape((*self.shape.patterns[:3], sides), self.shape.cells)
            self.degrees = np.fmax(degrees, fixed[:, None])
        self.nabla = np.empty(degrees.shape[1])
        self._slack = slack
        #: The arguments of all kernels, after the bounds of the samples.
        labels = self.shape.patterns[2][target.labels]
        self._samples = (self.degrees, *self.shape, labels, target.degrees)

    def measure(self, begin: int, end: int) -> None:
        """Set ``nabla[begin:end]`` to the samples' Chebyshev distances."""
        load_kernels(KERNELS).sample_distances(begin, end, *self._samples, self.nabla)

    def repaired_targets(self, begin: int, end: int) -> FloatArray:
        """Return the repaired target of each cell, of shape ``(omega, end - begin)``."""
        out = np.empty((len(self.shape.cells), end - begin))
        kernel = load_kernels(KERNELS).repaired_targets
        kernel(begin, end, *self._samples, self._slack, self.nabla, out)
        return out

    def summary(self, begin: int, end: int, tolerance: float) -> SampleSummary:
        """Return the summary of the samples ``begin .. end-1``, with the reliable ones' fronts."""
        sides, n = len(self.degrees), end - begin
        e, w, sizes = np.empty((sides, n)), np.empty((sides, n)), np.zeros(sides, dtype=np.int64)
        arguments = (*self._samples, self._slack, self.nabla, reliable_below(tolerance))
        reliable = load_kernels(KERNELS).build_fronts(begin, end, *arguments, e, w, sizes)
        longest = sizes.max()
        inside = np.arange(longest) < sizes[:, None]
        starts = np.concatenate([[0], np.cumsum(sizes)])
        fronts = Fronts(e[:, :longest][inside], w[:, :longest][inside], starts)
        return SampleSummary(n, int(reliable), float(self.nabla[begin:end].min()), fronts)

    def stacked_distance(
        self, begin: int, end: int, tolerance: float, fronts: Fronts, least: float = 0.0
    ) -> float:
        """Return the largest distance of the stacked system's rows of samples ``begin .. end-1``.

        It is at least `least`, the distance of other samples: smaller ones are not computed.
        """
        arguments = (*self._samples, self._slack, self.nabla, reliable_below(tolerance))
        packed = (fronts.e, fronts.w, fronts.starts)
        kernel = load_kernels(KERNELS).stacked_distance
        return float(kernel(begin, end, *arguments, packed, least))
