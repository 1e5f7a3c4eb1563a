"""The search for a change of the inputs by which another value would win.

Inference is monotone in the degrees of the inputs. So the highest and the lowest degrees of the
options of undecided inputs (their envelope) give an upper and a lower bound of inferred degrees. If
the upper bound of the value is not above the lower bounds of the other values, none of these
options makes it win.

`ReadingSearch` finds a change of minimal size. It is branch and bound on the inputs, depth first;
the first option of each input is no change. So every change of the result is necessary: without it,
the search would have ended before. On tree-shaped coherent rules such as Addition it does not
backtrack, and takes one inference for each input. Where it has to backtrack, it looks ahead from
then on: each undecided input keeps only the readings with which the value may win. Inputs that need
not change come first, in the order of the number of other inputs that they clash with; then the
input with the fewest readings. If that takes more than half of the effort, the search starts again
and always takes the input with the fewest readings.

`FewestSearch` finds a change of the fewest inputs. It tries all combinations of one, two and three
inputs, in batches, and of more while they are not too many; combinations with which the value
cannot win, whatever the options, are not expanded. Beyond that it is greedy: it changes the input
that brings the value nearest to winning, one after the other. Where no single change helps, it goes
depth first. Then the number of inputs is not proved to be minimal.
"""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations, islice, pairwise
from math import comb, inf
from typing import Any, Literal

import numpy as np

from pinesy._common.console import Bar
from pinesy._common.validation import BoolArray, FloatArray
from pinesy.explanations.decision import Decision
from pinesy.explanations.sample import IntArray
from pinesy.rules.attributes import Attribute

#: For each changed input, by its index, the index of the chosen option.
Choice = dict[int, int]
#: For each undecided input, by its index, the indices of the options that remain.
_Open = dict[int, IntArray]
#: Whether the value wins, the envelope of the open options, the choice, and the open options.
_Branch = tuple[bool, FloatArray, Choice, _Open]
#: The cost, the tie-breaker between equal costs, and the choice.
_Candidate = tuple[float, float, Choice]
#: Degrees of a batch of rows (16 MB).
BATCH_DEGREES = 1 << 21
#: Up to this number of changed inputs all combinations are tried, however many there are.
MAX_EXHAUSTIVE = 3
#: Combinations of inputs in a batch.
BATCH_COMBINATIONS = 256
#: Combinations of more inputs are tried if there are at most effort / this many of them.
EFFORT_DIVISOR = 20


@dataclass(frozen=True, eq=False)
class Alternatives:
    """The options of one input: no change (the first), and its changes.

    Attributes
    ----------
    attribute, columns : the input, and its columns in a row of all inputs
    degrees : array (k, |D|), the distribution of each option
    values : for each option the value that the input is read as, or a `Replacement`; None for the
        first
    costs : array (k,), increasing; 0 for the first
    ties : array (k,), the tie-breaker between options of equal cost
    """

    attribute: Attribute
    columns: slice
    degrees: FloatArray
    values: tuple[Any, ...]
    costs: FloatArray
    ties: FloatArray

    def __len__(self) -> int:
        """Return the number of options, including no change."""
        return len(self.costs)


class SearchEffort:
    """The budget of a search: the number of rows that may still be inferred."""

    def __init__(self, rows: int, bar: Bar) -> None:
        self._bar = bar
        self.left = rows

    def spend(self, rows: int) -> None:
        """Take rows from the budget; the progress bar may stop the search here."""
        self.left -= rows
        self._bar.advance(rows)


@dataclass(frozen=True, eq=False)
class Combinations:
    """Changes of `k` inputs each: arrays (n, k) of inputs and of options (-1: an open option)."""

    inputs: IntArray
    options: IntArray

    def __len__(self) -> int:
        return len(self.inputs)

    def where(self, rows: BoolArray | slice) -> "Combinations":
        """Return some of the combinations."""
        return Combinations(self.inputs[rows], self.options[rows])

    @classmethod
    def single(cls, options: _Open) -> "Combinations":
        """Return one combination for each option of each input."""
        counts = [len(indices) for indices in options.values()]
        inputs = np.repeat(np.array(list(options), dtype=np.intp), counts)
        indices = np.concatenate([np.empty(0, dtype=np.intp), *options.values()])
        return cls(inputs[:, None], indices[:, None])


#: One combination without any change.
UNCHANGED = Combinations(np.empty((1, 0), dtype=np.intp), np.empty((1, 0), dtype=np.intp))


@dataclass(frozen=True, eq=False)
class ChangeSearch:
    """The search for the cheapest change that makes a value the only winner.

    Attributes
    ----------
    decision : Decision
    index : the index of the value in the domain of the output
    inputs : the options of each input
    effort : the budget of the search
    decides : whether the value must be fully possible, without a contradiction of rules; else all
        other values must only be less possible
    """

    decision: Decision
    index: int
    inputs: tuple[Alternatives, ...]
    effort: SearchEffort
    decides: bool = field(default=True, kw_only=True)

    def row(self, choice: Choice) -> FloatArray:
        """Return the row of inputs after a change."""
        row = self.decision.row.copy()
        for i, k in choice.items():
            row[self.inputs[i].columns] = self.inputs[i].degrees[k]
        return row

    def bound(self, row: FloatArray, options: _Open, lowest: bool = False) -> FloatArray:
        """Return a row with the highest (or the lowest) degrees of the open options."""
        bound = row.copy()
        for i, indices in options.items():
            degrees = self.inputs[i].degrees[indices]
            bound[self.inputs[i].columns] = (
                degrees.min(axis=0, initial=1.0) if lowest else degrees.max(axis=0, initial=0.0)
            )
        return bound

    def degrees(
        self, base: FloatArray, trials: Combinations, lowest: bool = False
    ) -> tuple[FloatArray, FloatArray]:
        """Return two arrays (n,): the degree of the value, and the highest of the other values.

        One for each combination, applied to the row `base`. Open options have their highest (or
        lowest) degrees. If the change must decide, the degree of the value is capped by the lowest
        height of the distributions that the output depends on.
        """
        # It takes longer to write many inputs into a row than to infer from it.
        self.effort.spend(len(trials) * (1 + trials.inputs.shape[1] // 8))
        program = self.decision.plan.lower_bound_program if lowest else self.decision.program
        columns = program.code.columns[self.decision.output.name]
        height = program.code.coherence.get(self.decision.output.name) if self.decides else None
        result = np.empty((2, len(trials)))
        size = max(1, BATCH_DEGREES // len(base))
        for start in range(0, len(trials), size):
            batch = trials.where(slice(start, start + size))
            rows = np.repeat(base[None, :], len(batch), axis=0)
            for inputs, options in zip(batch.inputs.T, batch.options.T, strict=True):
                cuts = (np.flatnonzero(np.diff(inputs)) + 1).tolist()
                for first, end in pairwise([0, *cuts, len(inputs)]):  # runs of one input
                    i = inputs[first]
                    distributions = self._tables[lowest][i]
                    rows[first:end, self.inputs[i].columns] = distributions[options[first:end]]
            out = program.run(rows)
            degrees = out[columns].copy()
            degree = degrees[self.index]
            result[0, start : start + size] = (
                degree if height is None else np.minimum(degree, out[height])
            )
            degrees[self.index] = -1.0
            result[1, start : start + size] = degrees.max(axis=0)
        return result[0], result[1]

    @cached_property
    def _tables(self) -> tuple[list[FloatArray], list[FloatArray]]:
        """For each input the degrees of its options, and last the highest (or lowest) of changes.

        A pair of lists: with the highest degrees, and with the lowest.
        """
        highest, lowest = [], []
        for options in self.inputs:
            changes = options.degrees[1:] if len(options) > 1 else options.degrees
            highest.append(np.vstack([options.degrees, changes.max(axis=0)]))
            lowest.append(np.vstack([options.degrees, changes.min(axis=0)]))
        return highest, lowest

    def is_open(self, degrees: FloatArray) -> BoolArray:
        """Return a mask: where the value may win. A winner of coherent rules has possibility 1."""
        if self.decides or self.decision.coherent:
            return np.asarray(degrees == 1.0)
        return np.asarray(degrees > 0.0)

    def wins(self, degrees: FloatArray, others: FloatArray) -> BoolArray:
        """Return a mask: where the value is the only winner, from the results of `degrees`."""
        return np.asarray(self.is_open(degrees) & (degrees > others))

    def may_win(self, trials: Combinations, high: FloatArray, low: FloatArray) -> BoolArray:
        """Return a mask: where the upper bound of the value is above the others' lower bounds."""
        return self.wins(self.degrees(high, trials)[0], self.degrees(low, trials, lowest=True)[1])


class ReadingSearch(ChangeSearch):
    """The search for readings of minimal size: the largest cost of any input."""

    def run(self) -> tuple[Choice | None, bool]:
        """Return the cheapest choice (or None), and whether it is proved that none is cheaper.

        The least size that the envelope does not exclude is tried first, and most often it is the
        answer. Else any change is searched, and then a smaller one by bisection.
        """
        sizes = np.unique(np.concatenate([options.costs for options in self.inputs])).tolist()
        # The first size whose envelope does not exclude the value; nor do larger sizes.
        low = bisect_left(sizes, True, key=self._may_win_within)
        if low == len(sizes):
            return None, True
        share = 1.0 if low == len(sizes) - 1 else 0.125
        choice, exact = self.search_within(sizes[low], share)
        if choice is not None or low == len(sizes) - 1:
            return choice, exact
        best, complete = self.search_within(sizes[-1], 0.5)  # it has the solutions of all sizes
        if best is None:
            return None, complete
        low += 1
        try:  # if it is interrupted, the best so far is an answer
            while low < (high := sizes.index(self._cost(best))):
                if self.effort.left <= 0:
                    return best, False
                middle = (low + high) // 2
                choice, complete = self.search_within(sizes[middle], 0.5)
                if choice is None:
                    low, exact = middle + 1, exact and complete
                else:
                    best = choice
        except KeyboardInterrupt:
            return best, False
        return best, exact

    def _cost(self, choice: Choice) -> float:
        return max(float(self.inputs[i].costs[k]) for i, k in choice.items())

    def _options(self, size: float) -> _Open:
        """Return the options of each input that cost at most `size`."""
        counts = [np.searchsorted(options.costs, size, side="right") for options in self.inputs]
        return {i: np.arange(count) for i, count in enumerate(counts)}

    def _may_win_within(self, size: float) -> bool:
        """Return whether the value may win by readings up to a size, by their envelope."""
        envelope = self.bound(self.decision.row, self._options(size))
        return bool(self.is_open(self.degrees(envelope, UNCHANGED)[0])[0])

    def search_within(self, size: float, share: float) -> tuple[Choice | None, bool]:
        """Return readings up to a size that make the value win, and whether all were tried.

        It spends at most a share of the remaining effort.
        """
        options = self._options(size)
        least, half = self.effort.left * (1.0 - share), self.effort.left * (1.0 - share / 2)
        free = sorted((i for i in options if len(options[i]) > 1), key=lambda i: len(options[i]))
        envelope = self.bound(self.decision.row, options)
        # The unchanged sample is in the envelope, and there the value does not win.
        root: _Branch = False, envelope, {}, {i: options[i] for i in free}
        stack, clashes = [root], None
        while stack:
            wins, row, choice, options = stack.pop()
            if wins:
                return {i: k for i, k in choice.items() if k > 0}, True
            if self.effort.left <= least:
                return None, False
            branches = list(self._branches(row, choice, options, clashes)) if options else []
            stack += reversed(branches)  # the cheapest last
            if not branches and self.decision.coherent and clashes is None:
                stack, clashes = [root], self._clashes(envelope, free)
            elif clashes and self.effort.left <= half:  # their order does not help
                stack, clashes = [root], {}
        return None, True

    def _branches(
        self, row: FloatArray, choice: Choice, options: _Open, clashes: Mapping[int, int] | None
    ) -> Iterator[_Branch]:
        """Yield the branches in which one more input is decided, the cheapest option first.

        With `clashes` it looks ahead. Inputs with a single option come first, then those that need
        not change, the fewest clashes first, then those with the fewest options.
        """
        i = next(iter(options))
        if clashes is not None:
            options = self._open_options(row, choice, options)
            row = self.bound(row, options)
            ranks = {}
            for j, indices in options.items():
                stays = len(indices) > 1 and indices[0] == 0 and j in clashes
                ranks[j] = (1, clashes[j]) if stays else (2 * (len(indices) > 1), len(indices))
            i = min(options, key=lambda j: ranks[j])
        degrees, others = self.degrees(row, Combinations.single({i: options[i]}))
        undecided = {j: indices for j, indices in options.items() if j != i}
        # If no other value is fully possible, the value wins whatever the undecided inputs are.
        decision = self.decision
        always = decision.always_normalised if self.decides else decision.coherent
        wins = self.wins(degrees, others) & (always or not undecided)
        for index in np.flatnonzero(self.is_open(degrees)).tolist():
            k, is_won = int(options[i][index]), bool(wins[index])
            branch = row.copy()
            branch[self.inputs[i].columns] = self.inputs[i].degrees[k]
            firsts = {j: int(indices[0]) for j, indices in undecided.items()} if is_won else {}
            yield is_won, branch, {**choice, i: k, **firsts}, undecided

    def _clashes(self, row: FloatArray, inputs: Sequence[int]) -> dict[int, int]:
        """Return for each input with how many others it clashes: one of the two must change."""
        pairs = np.array(list(combinations(inputs, 2)), dtype=np.intp).reshape(-1, 2)
        if len(pairs) > self.effort.left // 8:
            return dict.fromkeys(inputs, 0)
        degrees, _ = self.degrees(row, Combinations(pairs, np.zeros_like(pairs)))
        counts = np.bincount(pairs[~self.is_open(degrees)].ravel(), minlength=len(self.inputs))
        return {i: int(counts[i]) for i in inputs}

    def _open_options(self, row: FloatArray, choice: Choice, options: _Open) -> _Open:
        """Return the open options of each input with which the value may win."""
        decided = {i: np.array([k]) for i, k in choice.items()}
        low = self.bound(row, options | decided, lowest=True)
        may = self.may_win(Combinations.single(options), row, low)
        ends = np.cumsum([len(indices) for indices in options.values()])[:-1]
        parts = zip(options.items(), np.split(may, ends), strict=True)
        return {i: indices[mask] for (i, indices), mask in parts}


@dataclass(frozen=True, eq=False)
class FewestSearch(ChangeSearch):
    """The search for the change of the fewest inputs; of these changes, the cheapest.

    Attributes
    ----------
    total : whether the cost of a change is the sum, or the maximum, of the costs of its inputs
    """

    total: Literal["sum", "max"]

    def run(self) -> tuple[Choice | None, bool]:
        """Return the choice (or None), and whether it is proved that there is no better one."""
        free = [i for i, options in enumerate(self.inputs) if len(options) > 1]
        choice, complete = self._search_exhaustively(free)
        if choice is not None or complete:
            return choice, complete
        choice = self._search_greedily(free)
        if choice is not None:
            return choice, False
        choice, complete = ReadingSearch(
            self.decision, self.index, self.inputs, self.effort, decides=self.decides
        ).search_within(inf, 1.0)
        return choice, choice is None and complete

    def _search_exhaustively(self, free: list[int]) -> tuple[Choice | None, bool]:
        """Return the best combination of one input, of two and so on while there are not too many.

        Also whether all were tried.
        """
        reserve, count = self.effort.left // 4, 0
        required, most = self._required_inputs(), self.effort.left // EFFORT_DIVISOR
        for size in range(1, len(free) + 1):
            n_others = size - len(required)
            n_sets = comb(len(free) - len(required), n_others) if n_others >= 0 else 0
            if size > MAX_EXHAUSTIVE and n_sets > most:
                break
            count = size
            candidate, complete = self._cheapest_of_size(size, free, required, reserve)
            if candidate is not None:
                return candidate[2], complete
            if not complete:
                return None, False
        return None, count == len(free)

    def _required_inputs(self) -> list[int]:
        """Return the inputs that must change for the value to win, whatever the others are."""
        inputs = np.arange(len(self.inputs))[:, None]
        options = {i: np.arange(len(options)) for i, options in enumerate(self.inputs)}
        high, low = (self.bound(self.decision.row, options, lowest) for lowest in (False, True))
        may_stay = self.may_win(Combinations(inputs, np.zeros_like(inputs)), high, low)
        return np.flatnonzero(~may_stay).tolist()

    def _cheapest_of_size(
        self, size: int, free: list[int], required: list[int], reserve: int
    ) -> tuple[_Candidate | None, bool]:
        """Return the cheapest change of `size` inputs, and whether all were tried.

        An effort of `reserve` is left for other searches. If it is interrupted, the best change so
        far is returned.
        """
        others = [i for i in free if i not in required]
        n_others, row = size - len(required), self.decision.row
        input_sets = combinations(others, n_others) if n_others >= 0 else iter(())
        best: _Candidate | None = None
        try:
            while batch := [
                sorted((*required, *c)) for c in islice(input_sets, BATCH_COMBINATIONS)
            ]:
                inputs = np.array(batch, dtype=np.intp)
                trials = Combinations(inputs, np.full(inputs.shape, -1))
                for column in range(size):
                    trials = self._expand_column(
                        trials.where(self.may_win(trials, row, row)), column
                    )
                    if self.effort.left - len(trials) < reserve:
                        return best, False
                winning = trials.where(self.wins(*self.degrees(row, trials)))
                best = self._cheapest_winner(winning, best)
        except KeyboardInterrupt:
            if best is None:
                raise
            return best, False
        return best, True

    def _expand_column(self, trials: Combinations, column: int) -> Combinations:
        """Return the combinations with every change of the input in a column."""
        sizes = np.array([len(options) for options in self.inputs], dtype=np.intp)
        counts = sizes[trials.inputs[:, column]] - 1
        options = np.repeat(trials.options, counts, axis=0)
        first = np.repeat(np.cumsum(counts) - counts, counts)
        options[:, column] = np.arange(len(options)) - first + 1
        return Combinations(np.repeat(trials.inputs, counts, axis=0), options)

    def _cheapest_winner(self, winning: Combinations, best: _Candidate | None) -> _Candidate | None:
        """Return the first of the cheapest combinations, or `best` if none is cheaper."""
        if not len(winning):
            return best
        costs, ties = np.zeros((2, len(self.inputs), max(map(len, self.inputs))))
        for i, options in enumerate(self.inputs):
            costs[i, : len(options)], ties[i, : len(options)] = options.costs, options.ties
        prices = costs[winning.inputs, winning.options]
        cost = prices.sum(axis=1) if self.total == "sum" else prices.max(axis=1)
        tie = ties[winning.inputs, winning.options].sum(axis=1)
        k = int(np.lexsort((tie, cost))[0])
        if best is not None and (cost[k], tie[k]) >= best[:2]:
            return best
        pairs = zip(winning.inputs[k].tolist(), winning.options[k].tolist(), strict=True)
        return float(cost[k]), float(tie[k]), dict(pairs)

    def _search_greedily(self, free: list[int]) -> Choice | None:
        """Change, again and again, the input that brings the value nearest to winning.

        Return the choice, or None where no single change brings it nearer.
        """
        choice: Choice = {}
        degrees, others = self.degrees(self.decision.row, UNCHANGED)
        gap, is_won = float((degrees - others)[0]), False
        while not is_won:
            options = {i: np.arange(1, len(self.inputs[i])) for i in free if i not in choice}
            trials = Combinations.single(options)
            degrees, others = self.degrees(self.row(choice), trials)
            gaps = degrees - others
            if not len(gaps) or gaps.max() <= gap:
                return None
            k, gap = int(gaps.argmax()), float(gaps.max())
            is_won = bool(self.wins(degrees, others)[k])
            choice[int(trials.inputs[k, 0])] = int(trials.options[k, 0])
        for i in list(choice):  # undo changes without which it still wins
            fewer = {j: k for j, k in choice.items() if j != i}
            if self.wins(*self.degrees(self.row(fewer), UNCHANGED))[0]:
                choice = fewer
        return choice
