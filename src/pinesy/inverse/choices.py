"""The choice of conjuncts, and of rules, that hold output values down: depth first, for a batch.

Every sample searches by itself and names what it tries next; one run of a program evaluates that of
all samples together (docs/backpropagation.md).

A premise is as possible as its least possible conjunct, so to keep ``lambda_j`` below a bound one
of them must be below it: `choose_conjuncts`, for cascades.

Of one rule set, `RuleChoice` finds all inputs that give a target. ``O = M box X`` asks two things
of them. No cell of the output may come out
below its target: inferred degrees rise with those of the inputs, so the greater these are the
better. And each cell must have a rule that holds it at its target: a rule whose parameter is no
higher, and whose premise (or its negation, for a cell outside of the conclusion) is at most as
possible, which bounds degrees of inputs by the target's degree. The bounds ``F^up`` ask this of all
rules that could; one for each cell is enough. So rules are chosen for one cell after the other,
depth first, the rest of the inputs left as great as they can be. If no choice is left out, there is
a solution iff one is found.
"""

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
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
#: What a search tries, and what comes of it.
Attempt = TypeVar("Attempt")
Outcome = TypeVar("Outcome")


def search_all(
    searches: Sequence[Generator[Attempt, Outcome, Attempt | None]],
    evaluate: Callable[[list[int], list[Attempt]], Iterable[Outcome]],
    limit: int,
) -> tuple[list[Attempt | None], BoolArray]:
    """Run searches side by side; return what each finds, and which were ended by the limit.

    Parameters
    ----------
    searches : each yields what it tries next, gets the outcome, and returns a solution or None
    evaluate : gives the outcomes of what some searches, by number, try
    limit : how many choices each may try; the first time nothing is chosen
    """
    pending = {row: next(search) for row, search in enumerate(searches)}
    solutions: list[Attempt | None] = [None] * len(searches)
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


def rows_of(
    arrays: Arrays, rows: slice | Sequence[int] | npt.NDArray[np.intp]
) -> dict[str, FloatArray]:
    """Return the distributions of some samples."""
    return {name: array[rows] for name, array in arrays.items()}


def normalised(inputs: Arrays) -> BoolArray:
    """Return in which samples all inputs are normalised."""
    heights = [degrees.max(axis=1) for degrees in inputs.values()]
    return np.asarray(np.min(heights, axis=0) == 1.0)


# --- conjuncts -----------------------------------------------------------------------------------


class ChoiceOutcome(NamedTuple):
    """What a choice gives for one sample: a solution, or whether one is still possible."""

    solved: bool
    is_possible: bool
    exceeding: list[RuleKey]


def choose_conjuncts(
    back: Reversal, targets: Arrays, reached: Arrays, actual: Arrays | None, limit: int
) -> tuple[list[ConjunctChoice | None], BoolArray]:
    """Search choices for every sample, at most `limit` for each.

    Returns the choice of each sample (None if there is none), and whether its search was ended by
    the limit.
    """
    order = _conjunct_order(back, actual)
    n = len(next(iter(targets.values())))

    def evaluate(rows: list[int], choices: list[ConjunctChoice]) -> list[ChoiceOutcome]:
        return _outcomes(back, rows_of(targets, rows), rows_of(reached, rows), choices)

    return search_all([_lowering({}, partial(order, row)) for row in range(n)], evaluate, limit)


def _conjunct_order(
    back: Reversal, actual: Arrays | None
) -> Callable[[int, RuleKey], Sequence[int]]:
    """Return the order of a rule's conjuncts: as written, or by how possible the actual inputs are.

    The least possible comes first: lowering it changes least.
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
    """Run the programs for some samples, each with its choice."""
    output = back.chosen_inputs(targets, choices)
    inputs = {a.name: output.degrees(a) for a in back.inputs}
    solved = normalised(inputs)
    forward = back.forward(inputs, bool(solved.all()))
    possible = solved.copy()
    for name, degrees in reached.items():
        cells = back.sets[name].partition.possibilities
        inferred, target_cells = cells(forward.degrees(name)), cells(degrees)
        solved &= (inferred == target_cells).all(axis=1)
        possible &= (inferred >= target_cells).all(axis=1)
    above = back.exceeding(back.upper_bounds(output), forward)
    return [
        ChoiceOutcome(bool(solved[i]), bool(possible[i]), [k for k, m in above.items() if m[i]])
        for i in range(len(choices))
    ]


def _lowering(
    choice: ConjunctChoice, order: Callable[[RuleKey], Sequence[int]]
) -> Generator[ConjunctChoice, ChoiceOutcome, ConjunctChoice | None]:
    """Yield choices to be evaluated; return the first that is a solution, or None.

    More choices only lower degrees, so what is not possible with some is not with more.
    """
    outcome = yield choice
    if outcome.solved:
        return choice
    if not outcome.is_possible:
        return None
    key = next((k for k in outcome.exceeding if k not in choice), None)
    if key is not None:
        for k in order(key):
            solution = yield from _lowering({**choice, key: k}, order)
            if solution is not None:
                return solution
    return None


# --- rules ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class RuleChoice:
    """The search for inputs of one rule set, which a program infers with."""

    rule_set: RuleSet
    program: Program

    @cached_property
    def slices(self) -> dict[str, slice]:
        """The columns of each input."""
        return column_slices(self.program.inputs)

    @cached_property
    def _column_groups(self) -> list[list[list[Columns]]]:
        """For each rule the columns that lower its premise, and those that lower its negation.

        A premise is lowered by any of its propositions, its negation only by all of them.
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
        """Return for each target inputs that give it, or None; and which searches hit the limit.

        Parameters
        ----------
        targets : array (n, cells), target degrees
        actual : array (n, columns): rules that they come near to are chosen first
        limit : how many choices are tried for a sample
        """
        first = np.ones(self.program.code.n_inputs)
        known = [None] * len(targets) if actual is None else actual
        searches = [self._explore(first, y, x) for y, x in zip(targets, known, strict=True)]
        return search_all(searches, lambda _rows, inputs: self._cells(np.array(inputs)), limit)

    def _cells(self, rows: FloatArray) -> FloatArray:
        output = self.program.run(rows)[self.program.code.columns[self.rule_set.output.name]]
        return self.rule_set.partition.possibilities(output.T)

    def _explore(
        self, x: FloatArray, target: FloatArray, actual: FloatArray | None
    ) -> Generator[FloatArray, FloatArray, FloatArray | None]:
        """Yield inputs to be tried; return the first that give the target, or None."""
        degrees = yield x
        if (degrees < target).any():  # and lower inputs do not give more
            return None
        above = np.flatnonzero(degrees > target)
        if not len(above):
            return x
        options = [list(self._options(cell, target[cell], actual)) for cell in above.tolist()]
        index = min(range(len(options)), key=lambda i: len(options[i]))
        for columns in options[index]:
            lower = x.copy()
            lower[columns] = np.minimum(lower[columns], target[above[index]])
            if all(lower[span].max() == 1.0 for span in self.slices.values()):
                solution = yield from self._explore(lower, target, actual)
                if solution is not None:
                    return solution
        return None

    def _options(self, cell: int, target: float, actual: FloatArray | None) -> Iterator[Columns]:
        """Yield what may be lowered for a cell, first where the actual inputs are lowest."""
        signs = self.rule_set.partition.signs[cell]
        parameters = np.where(signs, self.rule_set.s, self.rule_set.r)
        options = [
            columns
            for j in np.flatnonzero(parameters <= target).tolist()
            for columns in self._column_groups[j][0 if signs[j] else 1]
        ]
        if actual is not None:
            options.sort(key=lambda columns: float(actual[columns].max(initial=0.0)))
        yield from options
