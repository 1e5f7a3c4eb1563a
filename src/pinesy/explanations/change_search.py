"""The search for a change of the inputs by which another value would win, and of the least size.

Inferred degrees rise with the degrees of the inputs. So where inputs are still open, what is
inferred lies between what the highest and what the lowest degrees of their alternatives give; where
the value at its highest is not above the others at their lowest, no change that is open makes it
win. The search is branch and bound on the inputs.

It goes depth first, and an input stays as it is before it is read as anything. So no change that is
found is without need: with one taken back it would have been found before. On tree-shaped coherent
rules such as Addition it does not go back, and takes one inference for each input. Where it would
have to, it looks ahead from then on: of each input that is still open only those readings remain
with which the value may win. Inputs that may stay as they are come first, those that clash with the
fewest others before the rest; then the input that has the fewest readings. If that does not lead to
an end with half of the effort, it begins again with the input that has the fewest readings always.
"""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from pinesy._common.console import Bar
from pinesy._common.validation import BoolArray, FloatArray
from pinesy.explanations.decision import Decision
from pinesy.explanations.sample import IntArray
from pinesy.rules.attributes import Attribute

#: For each input, the place of the way chosen among its alternatives; those left out stay.
Choice = dict[int, int]
#: For each input that is not decided, the places of the ways that are open.
_Open = dict[int, IntArray]
#: Whether the value wins, the envelope of what is open, what is decided, and what is open.
_Branch = tuple[bool, FloatArray, Choice, _Open]
#: Degrees of the rows that are inferred together (16 MB).
CELLS = 1 << 21


@dataclass(frozen=True, eq=False)
class Alternatives:
    """What may become of one input: it stays as it is (the first), or changes.

    Attributes
    ----------
    attribute, columns : the input, and its columns in a row of all inputs
    degrees : array (k, |D|), the distributions
    values : what each is: a value that the input is read as, or a `Replacement`; None for the first
    costs : array (k,), rising; 0 for the first
    ties : array (k,), what decides between changes of the same cost
    """

    attribute: Attribute
    columns: slice
    degrees: FloatArray
    values: tuple[Any, ...]
    costs: FloatArray
    ties: FloatArray

    def __len__(self) -> int:
        """Return the number of ways, its staying as it is among them."""
        return len(self.costs)


class SearchEffort:
    """A number of rows that may be inferred, in all parts of a search together."""

    def __init__(self, rows: int, bar: Bar) -> None:
        self._bar = bar
        self.left = rows

    def spend(self, rows: int) -> None:
        """Count rows that are going to be inferred; who watches the search may end it here."""
        self.left -= rows
        self._bar.advance(rows)


@dataclass(frozen=True, eq=False)
class Combinations:
    """Some inputs, one way for each: arrays (n, k) of their places; -1 for a way still open."""

    inputs: IntArray
    ways: IntArray

    def __len__(self) -> int:
        return len(self.inputs)

    def where(self, chosen: BoolArray | slice) -> "Combinations":
        """Return some of the combinations."""
        return Combinations(self.inputs[chosen], self.ways[chosen])

    @classmethod
    def single(cls, ways: _Open) -> "Combinations":
        """Return each way of each input alone."""
        counts = [len(own) for own in ways.values()]
        inputs = np.repeat(np.array(list(ways), dtype=np.intp), counts)
        places = np.concatenate([np.empty(0, dtype=np.intp), *ways.values()])
        return cls(inputs[:, None], places[:, None])


#: One combination: all inputs are as they are.
NOTHING = Combinations(np.empty((1, 0), dtype=np.intp), np.empty((1, 0), dtype=np.intp))


@dataclass(frozen=True, eq=False)
class ChangeSearch:
    """The search for the cheapest change that makes the value at `place` the only winner.

    Attributes
    ----------
    decision : Decision
    place : the value's place in the domain of the output
    inputs : what may become of each input
    effort : how many rows may be inferred before it is given up
    decides : whether the value must be fully possible and no rules may contradict each other;
        else it is enough that all other values are less possible
    """

    decision: Decision
    place: int
    inputs: tuple[Alternatives, ...]
    effort: SearchEffort
    decides: bool = field(default=True, kw_only=True)

    def row(self, choice: Choice) -> FloatArray:
        """Return the inputs changed as chosen."""
        row = self.decision.row.copy()
        for i, k in choice.items():
            row[self.inputs[i].columns] = self.inputs[i].degrees[k]
        return row

    def bound(self, row: FloatArray, ways: _Open, at_least: bool = False) -> FloatArray:
        """Return the highest (or the lowest) degrees of the ways that are open."""
        bound = row.copy()
        for i, own in ways.items():
            degrees = self.inputs[i].degrees[own]
            bound[self.inputs[i].columns] = (
                degrees.min(axis=0, initial=1.0) if at_least else degrees.max(axis=0, initial=0.0)
            )
        return bound

    def degrees(
        self, base: FloatArray, tried: Combinations, at_least: bool = False
    ) -> tuple[FloatArray, FloatArray]:
        """Return what is inferred of the value, and of the highest of all others, or lower bounds.

        For each combination, put into the row `base`; of ways that are open, by their bounds. If
        the change must decide, the value counts as the lowest height behind the output at most.
        """
        # Many inputs take longer to put into a row than to infer from it.
        self.effort.spend(len(tried) * (1 + tried.inputs.shape[1] // 8))
        program = self.decision.plan.floor if at_least else self.decision.program
        columns = program.code.columns[self.decision.output.name]
        height = program.code.coherence.get(self.decision.output.name) if self.decides else None
        found = np.empty((2, len(tried)))
        size = max(1, CELLS // len(base))
        for at in range(0, len(tried), size):
            rows = self._filled(base, tried.where(slice(at, at + size)), at_least)
            out = program.run(rows)
            degrees = out[columns].copy()
            own = degrees[self.place]
            found[0, at : at + size] = own if height is None else np.minimum(own, out[height])
            degrees[self.place] = -1.0
            found[1, at : at + size] = degrees.max(axis=0)
        return found[0], found[1]

    def _filled(self, base: FloatArray, tried: Combinations, at_least: bool) -> FloatArray:
        """Return rows of inputs, each with the distributions of one combination put in."""
        rows = np.repeat(base[None, :], len(tried), axis=0)
        for inputs, ways in zip(tried.inputs.T, tried.ways.T, strict=True):
            cuts = (np.flatnonzero(np.diff(inputs)) + 1).tolist()
            for start, end in pairwise([0, *cuts, len(inputs)]):  # of one input each
                i = inputs[start]
                table = self.table(i, at_least)
                rows[start:end, self.inputs[i].columns] = table[ways[start:end]]
        return rows

    def table(self, i: int, at_least: bool) -> FloatArray:  # noqa: ARG002
        """Return the distributions of an input; the last is a bound of those of an open way."""
        return self.inputs[i].degrees

    def is_open(self, own: FloatArray) -> BoolArray:
        """Return where the value may still win: a winner of coherent rules has possibility 1."""
        return np.asarray(own == 1.0 if self.decides or self.decision.coherent else own > 0.0)

    def wins(self, own: FloatArray, others: FloatArray) -> BoolArray:
        """Return where the value is the only winner, from what `degrees` returns."""
        return np.asarray(self.is_open(own) & (own > others))

    @property
    def always_decides(self) -> bool:
        """Whether a value wins with any inputs with which no other value is fully possible."""
        return self.decision.always_normalised if self.decides else self.decision.coherent

    def may_win(self, tried: Combinations, high: FloatArray, low: FloatArray) -> BoolArray:
        """Tell where the value at its highest is above the others at their lowest."""
        own, others = self.degrees(high, tried)[0], self.degrees(low, tried, at_least=True)[1]
        return self.wins(own, others)


class ReadingSearch(ChangeSearch):
    """The search for readings, the largest cost of which is the least."""

    def run(self) -> tuple[Choice | None, bool]:
        """Return the cheapest choice (or None), and whether nothing cheaper (or nothing) can be.

        The least size that the envelope does not exclude is tried first, and most often it is the
        answer. Else any change is sought, and then, by halves, a smaller one.
        """
        # The first whose envelope does not exclude the value: all after it do not either.
        low = bisect_left(self._sizes, True, key=self._is_within)
        if low == len(self._sizes):
            return None, True
        share = 1.0 if low == len(self._sizes) - 1 else 0.125
        choice, complete = self.within(self._sizes[low], share)
        if choice is not None or low == len(self._sizes) - 1:
            return choice, complete
        choice, no_other = self.within(self._sizes[-1], 0.5)  # it has the solutions of all sizes
        if choice is None:
            return None, no_other
        return self._narrowed(choice, low + 1, complete)

    def _narrowed(self, best: Choice, low: int, exact: bool) -> tuple[Choice, bool]:
        """Seek a cheaper choice, of the sizes from `low` on; `exact` if none below them has one.

        If it is interrupted, the best so far is an answer.
        """
        try:
            while low < (high := self._sizes.index(self._cost(best))):
                if self.effort.left <= 0:
                    return best, False
                middle = (low + high) // 2
                choice, complete = self.within(self._sizes[middle], 0.5)
                if choice is None:
                    low, exact = middle + 1, exact and complete
                else:
                    best = choice
        except KeyboardInterrupt:
            return best, False
        return best, exact

    @cached_property
    def _sizes(self) -> list[float]:
        """The sizes that a change may have, rising."""
        return list(map(float, np.unique(np.concatenate([one.costs for one in self.inputs]))))

    def _cost(self, choice: Choice) -> float:
        return max(float(self.inputs[i].costs[k]) for i, k in choice.items())

    def _ways(self, size: float) -> _Open:
        """Return the ways of each input that cost at most `size`."""
        counts = [np.searchsorted(one.costs, size, side="right") for one in self.inputs]
        return {i: np.arange(count) for i, count in enumerate(counts)}

    def _is_within(self, size: float) -> bool:
        """Tell whether the envelope of the readings up to a size does not exclude the value."""
        envelope = self.bound(self.decision.row, self._ways(size))
        return bool(self.is_open(self.degrees(envelope, NOTHING)[0])[0])

    def within(self, size: float, share: float) -> tuple[Choice | None, bool]:
        """Return readings of at most a size that make the value win, and whether all were tried.

        A share of the effort that is left may be spent.
        """
        ways = self._ways(size)
        least, half = self.effort.left * (1.0 - share), self.effort.left * (1.0 - share / 2)
        free = sorted((i for i in ways if len(ways[i]) > 1), key=lambda i: len(ways[i]))
        envelope = self.bound(self.decision.row, ways)
        # The sample as it is lies in the envelope, and there the value does not win.
        start: _Branch = False, envelope, {}, {i: ways[i] for i in free}
        stack, clashes = [start], None
        while stack:
            wins, row, choice, ways = stack.pop()
            if wins:
                return {i: k for i, k in choice.items() if k > 0}, True
            if self.effort.left <= least:
                return None, False
            found = list(self._branches(row, choice, ways, clashes)) if ways else []
            stack += reversed(found)  # the cheapest last
            if not found and self.decision.coherent and clashes is None:
                stack, clashes = [start], self._clashes(envelope, free)
            elif clashes and self.effort.left <= half:  # they lead nowhere
                stack, clashes = [start], {}
        return None, True

    def _branches(
        self, row: FloatArray, choice: Choice, ways: _Open, clashes: Mapping[int, int] | None
    ) -> Iterator[_Branch]:
        """Yield what becomes of a branch if one more input is decided, the cheapest way first.

        With `clashes` it looks ahead. Inputs without a choice come first, then those that may stay,
        the least doubtful before the others, then those with the fewest ways.
        """
        i = next(iter(ways))
        if clashes is not None:
            ways = self._still_open(row, choice, ways)
            row = self.bound(row, ways)
            stays = {j: len(own) > 1 and own[0] == 0 and j in clashes for j, own in ways.items()}
            ranks = {j: (1, clashes[j]) if stays[j] else (2 * (len(own) > 1), len(own))
                     for j, own in ways.items()}  # fmt: skip
            i = min(ways, key=lambda j: ranks[j])
        own, others = self.degrees(row, Combinations.single({i: ways[i]}))
        left = {j: open_ways for j, open_ways in ways.items() if j != i}
        # It wins whatever becomes of the others: each gets the first way that is open.
        wins = self.wins(own, others) & (self.always_decides or not left)
        for at in np.flatnonzero(self.is_open(own)).tolist():
            k, won = int(ways[i][at]), bool(wins[at])
            branch = row.copy()
            branch[self.inputs[i].columns] = self.inputs[i].degrees[k]
            done = {j: int(open_ways[0]) for j, open_ways in left.items()} if won else {}
            yield won, branch, {**choice, i: k, **done}, left

    def _clashes(self, row: FloatArray, inputs: Sequence[int]) -> dict[int, int]:
        """Return for each input with how many others it cannot stay as it is at the same time."""
        pairs = np.array(list(combinations(inputs, 2)), dtype=np.intp).reshape(-1, 2)
        if len(pairs) > self.effort.left // 8:
            return dict.fromkeys(inputs, 0)
        own, _ = self.degrees(row, Combinations(pairs, np.zeros_like(pairs)))
        counts = np.bincount(pairs[~self.is_open(own)].ravel(), minlength=len(self.inputs))
        return {i: int(counts[i]) for i in inputs}

    def _still_open(self, row: FloatArray, choice: Choice, ways: _Open) -> _Open:
        """Return the ways of each input with which the value may still win."""
        decided = {i: np.array([k]) for i, k in choice.items()}
        low = self.bound(row, ways | decided, at_least=True)
        may = self.may_win(Combinations.single(ways), row, low)
        ends = np.cumsum([len(own) for own in ways.values()])[:-1]
        return {i: ways[i][own] for i, own in zip(ways, np.split(may, ends), strict=True)}
