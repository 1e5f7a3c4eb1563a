"""Conjunctions: which conjunct of a premise that must be less possible is lowered.

A premise is as possible as its least possible conjunct, so to keep ``lambda_j`` below a bound one
of them must be below it. Choices are tried depth first (docs/backpropagation.md), for many samples
at a time: every sample names its next choice, and one run of the program evaluates them all.
"""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from pinesy._common.validation import FloatArray
from pinesy.inverse.backward_program import Arrays, BackwardProgram
from pinesy.inverse.reversal import RuleKey
from pinesy.rules.possibility import BoolArray

#: Samples that are searched at a time.
BLOCK = 64

#: For each rule whose premise is lowered, the place of the conjunct in `Reversal.conjuncts`.
ConjunctChoice = dict[RuleKey, int]
#: The order in which the conjuncts of a rule are tried, for a sample of a block.
ConjunctOrder = Callable[[int, RuleKey], Sequence[int]]


@dataclass(frozen=True)
class ChoiceOutcome:
    """What a choice gives for one sample: a solution, or whether one is still possible."""

    solved: bool
    is_possible: bool
    exceeding: list[RuleKey]


Search = Generator[ConjunctChoice, ChoiceOutcome, ConjunctChoice | None]


def choose_conjuncts(
    program: BackwardProgram, targets: Arrays, reached: Arrays, actual: Arrays | None, limit: int
) -> tuple[list[ConjunctChoice | None], BoolArray]:
    """Search choices for every sample, at most `limit` for each.

    Returns the choice of each sample (None if there is none), and whether its search was ended by
    the limit.
    """
    n = len(next(iter(targets.values())))
    choices: list[ConjunctChoice | None] = []
    exhausted: list[bool] = []
    for first in range(0, n, BLOCK):
        part = slice(first, first + BLOCK)
        order = _orders(program, None if actual is None else rows_of(actual, part))
        chosen, unfinished = _search(
            program, rows_of(targets, part), rows_of(reached, part), order, limit
        )
        choices += chosen
        exhausted += unfinished
    return choices, np.array(exhausted)


def rows_of(
    arrays: Arrays, rows: slice | Sequence[int] | npt.NDArray[np.intp]
) -> dict[str, FloatArray]:
    """Return the distributions of some samples."""
    return {name: array[rows] for name, array in arrays.items()}


def switches_of(program: BackwardProgram, choices: Sequence[ConjunctChoice]) -> FloatArray:
    """Return the switches that choices turn on, a row for each."""
    back = program.reversal
    switches = np.zeros((len(choices), len(back.switches)))
    for row, choice in enumerate(choices):
        for key, k in choice.items():
            switches[row, back.switch_columns[key][k]] = 1.0
    return switches


def _orders(program: BackwardProgram, actual: Arrays | None) -> ConjunctOrder:
    """Return the order of the conjuncts: as written, or by how possible the actual inputs are.

    The least possible comes first: lowering it changes least.
    """
    conjuncts = program.reversal.conjuncts
    if actual is None or not program.reversal.switches:
        return lambda _row, key: range(len(conjuncts[key]))
    propositions = {key: [b.proposition for b in bounds] for key, bounds in conjuncts.items()}
    names = dict.fromkeys(p.attribute.name for group in propositions.values() for p in group)
    inferred = program.reversal.cascade.compile(list(names)).infer(actual)
    ranks: dict[RuleKey, npt.NDArray[np.intp]] = {}

    def order(row: int, key: RuleKey) -> Sequence[int]:
        if key not in ranks:
            degrees = [inferred.possibility(p) for p in propositions[key]]
            ranks[key] = np.argsort(np.array(degrees), axis=0, kind="stable")
        ranked: list[int] = ranks[key][:, row].tolist()
        return ranked

    return order


def _search(
    program: BackwardProgram, targets: Arrays, reached: Arrays, order: ConjunctOrder, limit: int
) -> tuple[list[ConjunctChoice | None], list[bool]]:
    """Search choices for some samples together; tell too whether the limit ended the search."""
    n = len(next(iter(targets.values())))
    searches = [_explore({}, partial(order, row)) for row in range(n)]
    pending: dict[int, ConjunctChoice] = {row: next(s) for row, s in enumerate(searches)}
    chosen: list[ConjunctChoice | None] = [None] * n
    for _ in range(limit + 1):  # the first time nothing is chosen
        if not pending:
            break
        rows = list(pending)
        given = rows_of(targets, rows), rows_of(reached, rows), list(pending.values())
        for row, outcome in zip(rows, _evaluate(program, *given), strict=True):
            try:
                pending[row] = searches[row].send(outcome)
            except StopIteration as end:
                chosen[row] = end.value
                del pending[row]
    return chosen, [row in pending for row in range(n)]


def _evaluate(
    program: BackwardProgram, targets: Arrays, reached: Arrays, choices: Sequence[ConjunctChoice]
) -> list[ChoiceOutcome]:
    """Run the program for some samples, each with its choice."""
    back = program.reversal
    output = program.choose(targets, switches_of(program, choices))
    heights = [output[a].degrees.max(axis=1) for a in back.inputs]
    solved = np.min(heights, axis=0) == 1.0
    possible = solved.copy()
    for name, degrees in reached.items():
        cells = back.sets[name].partition.possibilities
        given, wanted = cells(output[back.inferred[name]].degrees), cells(degrees)
        solved &= (given == wanted).all(axis=1)
        possible &= (given >= wanted).all(axis=1)
    above = program.exceeding(program.upper_bounds(output), output)
    return [
        ChoiceOutcome(bool(solved[i]), bool(possible[i]), [k for k, m in above.items() if m[i]])
        for i in range(len(choices))
    ]


def _explore(choice: ConjunctChoice, order: Callable[[RuleKey], Sequence[int]]) -> Search:
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
            solution = yield from _explore({**choice, key: k}, order)
            if solution is not None:
                return solution
    return None
