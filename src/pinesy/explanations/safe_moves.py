"""How far inputs may move before another value can win, where rules may contradict each other.

If no degree of an input moves by more than `e`, each inferred degree is at most what the raised
inputs give, ``pi(v) + e`` for all values, and at least what the lowered ones give. Of an input with
only one value that can be at 1 after such a move, that value is at 1, for it stays normalised.
While every other value at its highest is below the winner at its lowest, the winner stays. What is
at its highest for one value may exclude what is at its lowest for the other, so this is a bound.

Both sides are degrees of the inputs moved by `e`, or constants of the rules. So where they cross,
`e` is half of a difference of two degrees, or the difference of a degree and a constant: bisection
finds which.
"""

import numpy as np

from pinesy._common.validation import BoolArray, FloatArray
from pinesy.explanations.sample import SamplePlan

#: Steps of bisection, and how near to its result the number is that is meant.
STEPS, NEAR = 40, 1e-9
#: Samples that are looked at together.
BLOCK = 1024


def safe_moves(plan: SamplePlan, rows: FloatArray, free: BoolArray) -> FloatArray:
    """Return for each row of inputs how far the `free` degrees may move; inf for any way.

    Infers some 80 times. Not exact: no move below it makes another value win, but moves that are
    somewhat larger need not either (docs/changes.md says how often).
    """
    found = [
        _SafeMoves(plan, rows[i : i + BLOCK], free[i : i + BLOCK]).found()
        for i in range(0, len(rows), BLOCK)
    ]
    return np.concatenate(found) if found else np.empty(0)


class _SafeMoves:
    """The search for some rows of inputs."""

    def __init__(self, plan: SamplePlan, rows: FloatArray, free: BoolArray) -> None:
        self._plan, self._rows, self._free = plan, rows, free
        self._program = plan.cascade.compile([plan.attribute])
        self._columns = [span.start for span in plan.slices.values()]
        self._places = np.arange(len(rows))
        self._winner = self._highest(np.zeros(len(rows))).argmax(axis=1)

    def found(self) -> FloatArray:
        """Return the largest moves that are safe."""
        low, high = np.zeros(len(self._rows)), np.ones(len(self._rows))
        unlimited = self._is_safe(high)
        for _ in range(STEPS):
            middle = (low + high) / 2
            safe = self._is_safe(middle)
            low, high = np.where(safe, middle, low), np.where(safe, high, middle)
        exact = [_meant(e, row, self._constants) for e, row in zip(low, self._rows, strict=True)]
        return np.where(unlimited, np.inf, exact)

    @property
    def _constants(self) -> FloatArray:
        given = [z for s in self._plan.rule_sets.values() for z in (s.s, s.r)]
        return np.unique(np.concatenate([[0.0, 1.0], *given]))

    def _is_safe(self, e: FloatArray) -> BoolArray:
        """Tell where all others at their highest are below the winner at its lowest."""
        others = self._highest(e)
        others[self._places, self._winner] = -1.0
        least = self._lowest(e)[self._places, self._winner]
        return np.asarray(others.max(axis=1) < least)

    def _highest(self, e: FloatArray) -> FloatArray:
        raised = np.minimum(self._rows + e[:, None] * self._free, 1.0)
        output = self._program.run(raised)[self._program.code.columns[self._plan.attribute.name]]
        return output.T.copy()

    def _lowest(self, e: FloatArray) -> FloatArray:
        moves = e[:, None] * self._free
        able = self._rows + moves >= 1.0
        # How many values of the same input can be at 1.
        counts = np.add.reduceat(able, self._columns, axis=1, dtype=np.intp)
        sizes = np.diff([*self._columns, self._rows.shape[1]])
        alone = able & (np.repeat(counts, sizes, axis=1) == 1)
        lowered = np.where(alone, 1.0, np.maximum(self._rows - moves, 0.0))
        floor = self._plan.floor
        return np.asarray(floor.run(lowered)[floor.code.columns[self._plan.attribute.name]].T)


def _meant(e: float, row: FloatArray, constants: FloatArray) -> float:
    """Return the number that bisection came near to: a difference, or half of one."""
    degrees = np.unique(np.concatenate([row, [0.0, 1.0]]))
    found = np.concatenate(
        [
            (_nearest(degrees, degrees + 2 * e) - degrees) / 2,
            _nearest(constants, degrees + e) - degrees,
            degrees - _nearest(constants, degrees - e),
        ]
    )
    best = float(found[np.abs(found - e).argmin()])
    return best if abs(best - e) < NEAR else float(e)


def _nearest(known: FloatArray, wanted: FloatArray) -> FloatArray:
    """Return for each number the nearest of those that are known, which are sorted."""
    after = np.searchsorted(known, wanted).clip(1, len(known) - 1)
    low, high = known[after - 1], known[after]
    return np.asarray(np.where(wanted - low <= high - wanted, low, high))
