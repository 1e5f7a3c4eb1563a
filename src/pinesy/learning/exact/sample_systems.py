"""Batches of training samples, and what one stage of learning takes from a batch."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy._common.kernel_loading import load_kernels
from pinesy._common.threads import n_threads, share
from pinesy._common.validation import FloatArray
from pinesy.engine.evidence import Rows
from pinesy.engine.program import run
from pinesy.learning.exact.shape import CellShape, shape_of
from pinesy.learning.exact.stages import Stage
from pinesy.learning.summary import Summary
from pinesy.minmax import Fronts
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rulebase.targets import Target

KERNELS = "pinesy.learning.exact.system_kernels"
#: Samples a task; it bounds the scratch of building fronts.
CHUNK = 4096
#: Cells times rules times samples below which a second thread costs more than it gives.
THREAD_STEPS = 1_000_000


@dataclass(frozen=True, eq=False)
class Batch:
    """Some training samples, checked for form.

    Attributes
    ----------
    n : the number of samples
    known : the distributions (n, |D_a|) of the inputs, and of what has been inferred and kept
    targets : by the name of the attribute
    """

    n: int
    known: Mapping[str, npt.NDArray[Any]]
    targets: Mapping[str, Target]


@dataclass(frozen=True, eq=False)
class System:
    """One rule set's equation systems for the samples of a batch.

    Attributes
    ----------
    degrees : array (2n, n_samples)
        The premise degrees ``lambda_1, rho_1, lambda_2, ...``.
    labels, graded : the targets: the cell of each sample, or degrees; one of them is empty
    shape : the sides of the cells
    slack : how far rounding may have moved the premise degrees
    """

    degrees: FloatArray
    labels: npt.NDArray[np.uint32]
    graded: FloatArray
    shape: CellShape
    slack: float = 0.0

    @classmethod
    def of(
        cls, degrees: FloatArray, target: Target, shape: CellShape, slack: float = 0.0
    ) -> "System":
        """Return the systems of samples with given premise degrees and targets."""
        return cls(degrees, shape.cell_of[target.labels], target.degrees, shape, slack)

    @property
    def n(self) -> int:
        """The number of samples."""
        return int(self.degrees.shape[1])

    @property
    def steps(self) -> int:
        """About how much work a pass over the samples is."""
        return self.n * len(self.shape.cells) * max(1, len(self.degrees) // 2)

    def chunks(self) -> Iterator[tuple[int, int]]:
        """Yield the bounds of the tasks that the samples are cut into."""
        for begin in range(0, self.n, CHUNK):
            yield begin, min(begin + CHUNK, self.n)

    def _arguments(self, begin: int, end: int) -> tuple[Any, ...]:
        return (self.degrees, begin, end, self.labels, self.graded, *self.shape.arguments)

    def distances(self, begin: int, end: int, nabla: FloatArray) -> None:
        """Set ``nabla[begin:end]`` to the samples' Chebyshev distances."""
        load_kernels(KERNELS).distances(*self._arguments(begin, end), nabla)

    def repaired(self, begin: int, end: int, nabla: FloatArray) -> FloatArray:
        """Return the repaired target of each cell, of shape ``(omega, end - begin)``."""
        out = np.empty((len(self.shape.cells), end - begin))
        load_kernels(KERNELS).repaired(*self._arguments(begin, end), self.slack, nabla, out)
        return out

    def summary(self, begin: int, end: int, nabla: FloatArray, tolerance: float) -> Summary:
        """Return what the first pass keeps of some samples."""
        sides, n = len(self.degrees), end - begin
        e, w, sizes = np.empty((sides, n)), np.empty((sides, n)), np.zeros(sides, dtype=np.int64)
        given = (*self._arguments(begin, end), self.slack, nabla, tolerance)
        reliable = load_kernels(KERNELS).fronts(*given, e, w, sizes)
        smallest = float(nabla[begin:end].min())
        return Summary(n, int(reliable), smallest, _packed(e, w, sizes))

    def stacked(
        self,
        begin: int,
        end: int,
        nabla: FloatArray,
        tolerance: float,
        fronts: Fronts,
        least: float = 0.0,
    ) -> float:
        """Return the largest distance of the stacked system's rows that come of some samples.

        What is not above `least`, known from other samples, need not be worked out.
        """
        packed = (fronts.e, fronts.w, fronts.starts)
        arguments = (*self._arguments(begin, end), self.slack, nabla, tolerance, packed, least)
        return float(load_kernels(KERNELS).stacked_distance(*arguments))


class Measured:
    """The systems of one stage for one batch, and the distance ``nabla`` of every sample.

    Attributes
    ----------
    systems, nabla : by the name of the set
    kept : the inferred distributions that later stages need
    """

    def __init__(self, stage: Stage, batch: Batch, shapes: Mapping[str, CellShape]) -> None:
        arrays = [batch.known[a.name] for a in stage.code.inputs]
        out = run(stage.code, Rows(stage.code.inputs, arrays, batch.n, True))
        self.systems = {
            name: System.of(
                out[stage.code.degrees[name]], batch.targets[name], shapes[name], stage.slack[name]
            )
            for name in stage.names
        }
        kept = {name: out[span].T for name, span in stage.code.columns.items()}
        self.kept = {n: kept[n] if n in kept else batch.known[n] for n in stage.kept}
        self.nabla = {name: np.empty(batch.n) for name in stage.names}
        self._summaries: dict[tuple[str, int], Summary] = {}
        self.measure()

    def measure(self) -> None:
        """Compute the distances of all samples."""
        self._each(
            self.systems,
            lambda name, begin, end: self.systems[name].distances(begin, end, self.nabla[name]),
        )

    def summaries(self, tolerances: Mapping[str, float]) -> dict[str, Summary]:
        """Return what the first pass keeps, for each set."""
        # Tolerances that keep as many samples keep the same ones.
        keys = {name: (name, self._reliable(name, tolerances[name])) for name in self.systems}
        parts = self._each(
            [name for name, key in keys.items() if key not in self._summaries],
            lambda name, begin, end: self.systems[name].summary(
                begin, end, self.nabla[name], tolerances[name]
            ),
        )
        for name, found in parts.items():
            self._summaries[keys[name]] = found[0].merge(*found[1:])
        return {name: self._summaries[key] for name, key in keys.items()}

    def _reliable(self, name: str, tolerance: float) -> int:
        return int(np.count_nonzero(self.nabla[name] < tolerance))

    def stacked(
        self, tolerances: Mapping[str, float], fronts: Mapping[str, Fronts]
    ) -> dict[str, float]:
        """Return the distance of each set's stacked system, as far as this batch goes."""
        best = dict.fromkeys(fronts, 0.0)

        def task(name: str, begin: int, end: int) -> float:
            given = self.nabla[name], tolerances[name], fronts[name], best[name]
            found = self.systems[name].stacked(begin, end, *given)
            best[name] = max(best[name], found)  # a late word of another thread only costs time
            return found

        return {name: max(found) for name, found in self._each(fronts, task).items()}

    def _each(
        self, names: Sequence[str] | Mapping[str, Any], task: Callable[[str, int, int], Any]
    ) -> dict[str, list[Any]]:
        """Do a task for all chunks of the given sets, on several threads if it pays."""
        tasks = [(name, *chunk) for name in names for chunk in self.systems[name].chunks()]
        steps = sum(self.systems[name].steps for name in names)
        threads = min(n_threads(), len(tasks)) if steps > THREAD_STEPS else 1

        def work(queue: Iterator[tuple[str, int, int]]) -> list[tuple[str, Any]]:
            return [(name, task(name, begin, end)) for name, begin, end in queue]

        results: dict[str, list[Any]] = {name: [] for name in names}
        for part in share(work, tasks, threads):
            for name, found in part:
                results[name].append(found)
        return results


def shapes_of(stage: Stage, sets: Mapping[str, RuleSet]) -> dict[str, CellShape]:
    """Return the shapes of the sets that are learned in a stage."""
    return {name: shape_of(sets[name].partition) for name in stage.names}


def _packed(e: FloatArray, w: FloatArray, sizes: npt.NDArray[np.int64]) -> Fronts:
    """Return the fronts that stand in the first `sizes` places of each row."""
    if not sizes.any():
        return _empty(len(sizes))
    inside = np.arange(e.shape[1]) < sizes[:, None]
    return Fronts(e[inside], w[inside], np.concatenate([[0], np.cumsum(sizes)]))


@cache
def _empty(columns: int) -> Fronts:
    return Fronts(np.empty(0), np.empty(0), np.zeros(columns + 1, dtype=np.int64))
