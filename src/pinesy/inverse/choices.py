"""Depth-first search of the conjuncts, and of the rules, that bound output values, for a batch.

Each sample has its own search, which yields its next candidate; one run of a program evaluates the
candidates of all samples together (docs/backpropagation.md).

A premise is as possible as its least possible conjunct, so to keep ``lambda_j`` below a bound one
of them must be below it: `choose_conjuncts`, for cascades.

For one rule set, `RuleChoice` searches all inputs that give a target. ``O = M box X`` has two
conditions. No cell of the output is below its target: inference is monotone, so greater inputs are
better. And each cell has a rule that bounds it by its target: a rule with a parameter at most the
target, and a premise (or its negation, for a cell outside of the conclusion) at most as possible,
which bounds degrees of inputs. The bounds ``F^up`` require this of all possible rules; one for each
cell is enough. So the search chooses a rule for one cell after the other and keeps all other inputs
as great as possible. If the search is complete, there is a solution iff one is found.
"""

from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from pinesy._common.masks import positions
from pinesy._common.names import column_slices
from pinesy._common.validation import BoolArray, FloatArray
from pinesy.engine.program import Program
from pinesy.inverse.reversal import Arrays, ConjunctChoice, Reversal, RuleKey
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.propositions import Proposition

#: The columns of the inputs that are lowered together.
Columns = npt.NDArray[np.intp]
#: A candidate of a search, and the result of its evaluation.
Candidate = TypeVar("Candidate")
Outcome = TypeVar("Outcome")


def search_all(
    searches: Sequence[Generator[Candidate, Outcome, Candidate | None]],
    evaluate: Callable[[list[int], list[Candidate]], Iterable[Outcome]],
    limit: int,
) -> tuple[list[Candidate | None], BoolArray]:
    """Run searches in lockstep; return the solution of each or None, and which hit the limit.

    Parameters
    ----------
    searches : each yields its next candidate, receives the outcome, and returns a solution or None
    evaluate : returns the outcomes of the candidates of some searches, given by index
    limit : the most candidates of a search after the first
    """
    pending = {row: next(search) for row, search in enumerate(searches)}
    solutions: list[Candidate | None] = [None] * len(searches)
    for _ in range(limit + 1):
        if not pending:
            break
        rows = list(pending)
        for row, outcome in zip(rows, evaluate(rows, list(pending.values())), strict=True):
            try:
                pending[row] = searches[row].send(outcome)
            except StopIteration as end:
                solutions[row] = end.value
                del pending[row]
    return solutions, np.isin(np.arange(len(searches)), list(pending))


def select_rows(
    arrays: Arrays, rows: slice | Sequence[int] | npt.NDArray[np.intp]
) -> dict[str, FloatArray]:
    """Return the distributions of a selection of samples."""
    return {name: array[rows] for name, array in arrays.items()}


def is_normalised(inputs: Arrays) -> BoolArray:
    """Return for each sample whether all inputs are normalised."""
    heights = [degrees.max(axis=1) for degrees in inputs.values()]
    return np.asarray(np.min(heights, axis=0) == 1.0)


# --- conjuncts -----------------------------------------------------------------------------------


class ChoiceOutcome(NamedTuple):
    """The outcome of a choice for one sample.

    Attributes
    ----------
    solved : whether the choice is a solution
    is_possible : whether further choices may be one
    exceeding : the rules whose premises exceed their bounds
    """

    solved: bool
    is_possible: bool
    exceeding: list[RuleKey]


def choose_conjuncts(
    back: Reversal, targets: Arrays, reached: Arrays, actual: Arrays | None, limit: int
) -> tuple[list[ConjunctChoice | None], BoolArray]:
    """Search a choice of conjuncts for every sample, with at most `limit` candidates each.

    Returns the choice of each sample (None if there is none), and whether its search hit the limit.
    """
    order = _conjunct_order(back, actual)
    n = len(next(iter(targets.values())))

    def evaluate(rows: list[int], choices: list[ConjunctChoice]) -> list[ChoiceOutcome]:
        return _outcomes(back, select_rows(targets, rows), select_rows(reached, rows), choices)

    return search_all(
        [_search_conjuncts({}, partial(order, row)) for row in range(n)], evaluate, limit
    )


def _conjunct_order(
    back: Reversal, actual: Arrays | None
) -> Callable[[int, RuleKey], Sequence[int]]:
    """Return a function of a row and a rule that orders the conjuncts of the rule.

    By their possibility for the actual inputs, if known: lowering the least possible changes least.
    """
    if actual is None or not back.switches:
        return lambda _row, key: range(len(back.conjuncts[key]))
    names = dict.fromkeys(b.proposition.attribute.name for c in back.conjuncts.values() for b in c)
    inferred = back.cascade.compile(list(names)).infer(actual)

    @cache
    def degrees(key: RuleKey) -> list[FloatArray]:
        return [inferred.possibility(bound.proposition) for bound in back.conjuncts[key]]

    def order(row: int, key: RuleKey) -> Sequence[int]:
        possibilities = [float(degree[row]) for degree in degrees(key)]
        return sorted(range(len(possibilities)), key=possibilities.__getitem__)

    return order


def _outcomes(
    back: Reversal, targets: Arrays, reached: Arrays, choices: Sequence[ConjunctChoice]
) -> list[ChoiceOutcome]:
    """Return the outcome of a choice for each of some samples."""
    output = back.chosen_inputs(targets, choices)
    inputs = {a.name: output.degrees(a) for a in back.inputs}
    solved = is_normalised(inputs)
    forward = back.forward(inputs, bool(solved.all()))
    possible = solved.copy()
    for name, degrees in reached.items():
        cells = back.sets[name].partition.possibilities
        inferred, target_cells = cells(forward.degrees(name)), cells(degrees)
        solved &= (inferred == target_cells).all(axis=1)
        possible &= (inferred >= target_cells).all(axis=1)
    above = back.exceeded(back.upper_bounds(output), forward)
    return [
        ChoiceOutcome(bool(solved[i]), bool(possible[i]), [k for k, m in above.items() if m[i]])
        for i in range(len(choices))
    ]


def _search_conjuncts(
    choice: ConjunctChoice, order: Callable[[RuleKey], Sequence[int]]
) -> Generator[ConjunctChoice, ChoiceOutcome, ConjunctChoice | None]:
    """Yield choices to be evaluated; return the first solution, or None.

    More choices only lower degrees, so a choice that is not possible is not extended.
    """
    outcome = yield choice
    if outcome.solved:
        return choice
    if not outcome.is_possible:
        return None
    key = next((k for k in outcome.exceeding if k not in choice), None)
    if key is not None:
        for k in order(key):
            solution = yield from _search_conjuncts({**choice, key: k}, order)
            if solution is not None:
                return solution
    return None


# --- rules ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class RuleChoice:
    """The search for inputs of one rule set, and its compiled program."""

    rule_set: RuleSet
    program: Program

    @cached_property
    def slices(self) -> dict[str, slice]:
        """The columns of each input."""
        return column_slices(self.program.inputs)

    @cached_property
    def _column_groups(self) -> list[list[list[Columns]]]:
        """For each rule the column groups that lower its premise, and those for its negation.

        A premise is lowered by any one of its propositions, its negation only by all of them.
        """
        column_groups = []
        for rule in self.rule_set.rules:
            parts = list(dict.fromkeys(rule.premise.propositions))
            inside = [self._columns(p) for p in parts]
            column_groups.append([inside, [np.concatenate([self._columns(~p) for p in parts])]])
        return column_groups

    def _columns(self, proposition: Proposition) -> Columns:
        first = self.slices[proposition.attribute.name].start
        return np.array([first + i for i in positions(proposition.mask)], dtype=np.intp)

    def find(
        self, targets: FloatArray, actual: FloatArray | None, limit: int
    ) -> tuple[list[FloatArray | None], BoolArray]:
        """Return inputs that give each target, or None; and which searches hit the limit.

        Parameters
        ----------
        targets : array (n, cells), target degrees
        actual : array (n, columns), the actual inputs: options nearest to them are tried first
        limit : the most candidates of a sample
        """
        first = np.ones(self.program.code.n_inputs)
        known = [None] * len(targets) if actual is None else actual
        searches = [self._search_inputs(first, y, x) for y, x in zip(targets, known, strict=True)]
        columns = self.program.code.columns[self.rule_set.output.name]

        def infer_cells(_rows: list[int], inputs: list[FloatArray]) -> FloatArray:
            output = self.program.run(np.array(inputs))[columns]
            return self.rule_set.partition.possibilities(output.T)

        return search_all(searches, infer_cells, limit)

    def _search_inputs(
        self, x: FloatArray, target: FloatArray, actual: FloatArray | None
    ) -> Generator[FloatArray, FloatArray, FloatArray | None]:
        """Yield inputs to be evaluated; return the first that give the target, or None."""
        degrees = yield x
        if (degrees < target).any():  # lower inputs do not give more
            return None
        above = np.flatnonzero(degrees > target)
        if not len(above):
            return x
        options = [self._column_options(cell, target[cell], actual) for cell in above.tolist()]
        index = min(range(len(options)), key=lambda i: len(options[i]))
        for columns in options[index]:
            lower = x.copy()
            lower[columns] = np.minimum(lower[columns], target[above[index]])
            if all(lower[span].max() == 1.0 for span in self.slices.values()):
                solution = yield from self._search_inputs(lower, target, actual)
                if solution is not None:
                    return solution
        return None

    def _column_options(self, cell: int, target: float, actual: FloatArray | None) -> list[Columns]:
        """Return the column groups that may be lowered for a cell, by the actual inputs' degree."""
        signs = self.rule_set.partition.signs[cell]
        parameters = np.where(signs, self.rule_set.s, self.rule_set.r)
        options = [
            columns
            for j in np.flatnonzero(parameters <= target).tolist()
            for columns in self._column_groups[j][0 if signs[j] else 1]
        ]
        if actual is not None:
            options.sort(key=lambda columns: float(actual[columns].max(initial=0.0)))
        return options
