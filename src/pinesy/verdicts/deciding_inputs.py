"""The inputs that decide: with all others unknown, the answer and its certainty stay.

Inferred degrees rise with those of the inputs, and an unknown input has all degrees at 1. So an
answer that stays with some inputs known stays with more of them known, and a set of inputs from
which none can be left out has no smaller subset that keeps the answer either.
"""

from itertools import combinations, islice

import numpy as np

from pinesy._common.validation import BoolArray, FloatArray
from pinesy.explanations.decision import Decision

#: Sets of inputs that are tried, in order of size, before a small set is taken for the smallest.
MAX_TRIED = 4096
#: Instructions that these may take in all.
MAX_INSTRUCTIONS = 2 * 10**7


def deciding_inputs(decision: Decision) -> tuple[str, ...]:
    """Return the inputs of a set from which none can be left out without changing the answer.

    Where few sets have to be tried it is one of the fewest inputs, else one without a smaller
    subset.
    """
    names = list(decision.plan.slices)
    test = AnswerTest(decision)
    known = np.flatnonzero(test.known)
    without_one = np.tile(test.known, (len(known), 1))
    without_one[np.arange(len(known)), known] = False
    is_needed = ~test.keeps(without_one)
    needed = known[is_needed].tolist()
    optional = known[~is_needed].tolist()
    inputs = [*needed, *_fewest_more(test, needed, optional)]
    return tuple(names[i] for i in sorted(inputs))


class AnswerTest:
    """Tells which inputs, known alone, give the answer of a decision."""

    def __init__(self, decision: Decision) -> None:
        self._row, self._code = decision.row, decision.program.code
        self._program = decision.program
        self._columns = self._code.columns[decision.output.name]
        self._height = self._code.coherence.get(decision.output.name)
        self._sizes = [s.stop - s.start for s in decision.plan.slices.values()]
        starts = [s.start for s in decision.plan.slices.values()]
        #: Which inputs say anything: not all of their values are fully possible.
        self.known: BoolArray = np.minimum.reduceat(self._row, starts) < 1.0
        self._answer = self._answers(self._row[None, :])
        max_rows = MAX_INSTRUCTIONS // (1 + len(self._code.ops))
        self.max_tried = max(64, min(MAX_TRIED, max_rows))

    def keeps(self, known: BoolArray) -> BoolArray:
        """Return whether the answer stays, for rows of which inputs are known."""
        if not len(known):
            return np.zeros(0, dtype=np.bool_)
        rows = np.where(np.repeat(known, self._sizes, axis=1), self._row, 1.0)
        return np.asarray((self._answers(rows) == self._answer).all(axis=1))

    def _answers(self, rows: FloatArray) -> FloatArray:
        """Return for each row the height, here and behind, and the values that remain.

        Of a contradiction the height is the answer. Else it is which values are fully possible, and
        the degree of the next.
        """
        output = self._program.run(rows)
        degrees = output[self._columns].T
        height = degrees.max(axis=1, keepdims=True)
        if self._height is not None:
            height = np.minimum(height, output[self._height][:, None])
        is_left = degrees == 1.0
        second = np.where(is_left, -1.0, degrees).max(axis=1, keepdims=True)
        remaining = np.hstack([is_left.astype(np.float64), second])
        return np.hstack([height, np.where(height < 1.0, 0.0, remaining)])


def _fewest_more(test: AnswerTest, needed: list[int], optional: list[int]) -> list[int]:
    """Return the optional inputs to add to the needed ones: the fewest where few are tried."""
    base = np.zeros(len(test.known), dtype=np.bool_)
    base[needed] = True
    remaining = test.max_tried
    for size in range(len(optional) + 1):
        sets = list(islice(combinations(optional, size), remaining + 1))
        if len(sets) > remaining:
            break
        remaining -= len(sets)
        rows = np.tile(base, (len(sets), 1))
        if size:
            rows[np.arange(len(sets))[:, None], np.array(sets)] = True
        sufficient = np.flatnonzero(test.keeps(rows))
        if len(sufficient):
            return list(sets[sufficient[0]])
    return _minimal(test, base, optional)


def _minimal(test: AnswerTest, base: BoolArray, optional: list[int]) -> list[int]:
    """Return optional inputs of which each is needed beside the others, by halving."""
    if test.keeps(base[None, :])[0]:
        return []
    if len(optional) == 1:
        return optional
    half = len(optional) // 2
    with_first = base.copy()
    with_first[optional[:half]] = True
    second = _minimal(test, with_first, optional[half:])
    with_second = base.copy()
    with_second[second] = True
    return [*_minimal(test, with_second, optional[:half]), *second]
