"""On which side of each rule every cell of a partition is, in the form that the kernels take."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from pinesy.engine.kinds import independent_blocks
from pinesy.rules.partition import Partition

Ints = npt.NDArray[np.uint32]


@dataclass(frozen=True, eq=False)
class CellShape:
    """The sign table of a partition, as the product of independent blocks of rules.

    Where the rules of two blocks combine freely, ``min_j f(side)`` over all rules is the min of
    two shorter ones, worked out once for each sign pattern of a block; so the ``omega n`` terms of
    all cells become ``omega`` times the number of blocks and the patterns' own.

    Attributes
    ----------
    starts, sides : the sides (``2j`` inside the conclusion of rule `j`, ``2j + 1`` outside) of
        pattern `p` are ``sides[starts[p]:starts[p + 1]]``; the patterns of all blocks are numbered
        through
    cell_of : the cell of each value
    cells : array (omega, blocks)
        The pattern of each cell in each block.
    """

    starts: Ints
    sides: Ints
    cell_of: Ints
    cells: Ints

    @property
    def arguments(self) -> tuple[tuple[Ints, Ints, Ints], Ints]:
        """What the kernels take of it."""
        return (self.starts, self.sides, self.cell_of), self.cells


@lru_cache(maxsize=1024)
def shape_of(partition: Partition) -> CellShape:
    """Return the shape of a partition's cells, made once."""
    sides: list[npt.NDArray[np.intp]] = []
    cells = []
    for rules in independent_blocks(partition.signs):
        patterns, pattern_of = np.unique(partition.signs[:, rules], axis=0, return_inverse=True)
        cells.append(len(sides) + pattern_of.ravel())
        sides += list(2 * np.array(rules) + ~patterns)
    return CellShape(
        np.cumsum([0, *map(len, sides)]).astype(np.uint32),
        np.concatenate(sides).astype(np.uint32),
        partition.cell_of.astype(np.uint32),
        np.ascontiguousarray(np.stack(cells, axis=1).astype(np.uint32)),
    )
