"""The equation systems of training samples [eq:upsigma], and what the two passes take from them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from pinesy._common.caching import cached_on_owner, load_kernels
from pinesy._common.validation import FloatArray
from pinesy.engine.rule_set_kinds import independent_blocks
from pinesy.equations import Fronts
from pinesy.equations.fronts import reliable_below
from pinesy.evidence.targets import Target
from pinesy.learning.learning_result import SampleSummary
from pinesy.rules.partition import Partition

KERNELS = "pinesy.learning.system_kernels"
T = TypeVar("T")
CellNumbers = npt.NDArray[np.uint32]
#: By the name of each rule set: its tolerance, or its fronts.
SetTolerances = Mapping[str, float]
SetFronts = Mapping[str, Fronts]


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
