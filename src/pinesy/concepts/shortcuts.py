"""Reasoning shortcuts: ways to read concepts wrongly that no observed answer tells."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from typing import Any

import numpy as np

from pinesy._common.clauses import exactly_one
from pinesy._common.validation import BoolArray, check_integer
from pinesy.concepts.concept_kinds import Labelled, kinds_of, labelled_positions
from pinesy.concepts.observed_answers import Observed, ObservedAnswers, Positions, observed_rows
from pinesy.concepts.remapping_count import Group, counted, groups_of, in_order, labels_of
from pinesy.concepts.remappings import GroupRemappings, Shortcuts
from pinesy.exceptions import needing
from pinesy.rulebase.cascade import Cascade, Outputs, as_cascade
from pinesy.rulebase.rule_set import RuleSet


def shortcuts(
    rules: Cascade | RuleSet,
    observed: Observed = None,
    *,
    kinds: Mapping[str, Iterable[Any]] | None = None,
    labelled: Labelled | None = None,
    outputs: Outputs = None,
    limit: int = 100,
) -> Shortcuts:
    """Return the remappings of concepts that keep every observed answer right.

    A remapping ``alpha`` says, for each kind of inputs, what a network reads each value as. It
    fits if ``f(alpha(x)) = f(x)`` for all observed ``x``, where ``f`` are the rules: the set of
    fully possible values of each output. The true one, which reads all values as what they are,
    always fits; all others are shortcuts (docs/shortcuts.md).

    They are counted value by value, and where there are too many partial ones found by a SAT
    solver, which needs the extra ``shortcuts``.

    Parameters
    ----------
    rules : a `Cascade` or a `RuleSet`
    observed : the combinations of true values in the data. Rows of values, in the order of the
        inputs; a dict or a table of columns; a condition such as ``"left + right < 5"``, or a
        function of the values; None for all combinations
    kinds : inputs that share a network, by what they are called; those left out have one each. By
        default those with equal domains share one.
    labelled : by kinds or inputs, values that are known to be read rightly
    outputs : what the answers are; by default the attributes that no premise uses
    limit : how many are listed. It bounds the count only where the solver counts, and is said then.

    Examples
    --------
    >>> from pinesy import Attribute, function, joint, shortcuts
    >>> left, right = Attribute("left", range(5)), Attribute("right", range(5))
    >>> addition = function("total", joint("pair", left, right), "left + right")
    >>> print(shortcuts(addition, [(0, 0), (0, 1), (2, 3), (2, 4)]))
    3 remappings of concepts keep the answers to 4 combinations right
        1. all right
        2. 2 as 3, 3 as 2, 4 as 3
        3. 2 as 4, 3 as 1, 4 as 2
    1 label would leave only the true one: 2 (left, right)
    """
    limit = check_integer(limit, "limit", least=1)
    program = as_cascade(rules).compile(outputs)
    found = kinds_of(program.inputs, kinds)
    rows = observed_rows(observed, program.inputs)
    answers = ObservedAnswers(program, found, rows, labelled_positions(found, labelled))
    groups = tuple(_remapped(answers, group, limit) for group in groups_of(answers))
    return Shortcuts(found, len(rows), groups, limit, answers)


def _remapped(answers: ObservedAnswers, group: Group, limit: int) -> GroupRemappings:
    """Return the remappings of a group: counted if they are few, else by a solver."""
    truth, numbers = answers.truth[group.variables], group.variables
    maps, exact = counted(answers, group), True
    if maps is not None:
        labels = labels_of(maps, truth)
    else:
        solver = RemappingSolver(answers, group)
        maps, exact = solver.remappings(limit)
        labels = solver.labels(maps)
        maps = in_order(np.unique(np.vstack([truth, maps[:limit]]), axis=0), truth)
    return GroupRemappings(numbers, maps, exact, tuple(int(numbers[i]) for i in labels))


#: Deterministic, and takes clauses between calls.
SOLVER = "cadical153"
#: Combinations with a wrong answer that are learned from at a time.
MAX_LEARNED = 256


def _pysat() -> tuple[Any, Any]:
    cure = ", or give fewer inputs, values or combinations"
    with needing("shortcuts", "so many remappings need a solver, that of", cure):
        from pysat.examples.hitman import Hitman
        from pysat.solvers import Solver
    return Solver, Hitman


class RemappingSolver:
    """Finds remappings of a group that keep all its answers right, one by one.

    A variable of the solver says that a value is read as another. What answers forbid is told to it
    lazily: it proposes a remapping, the rules are inferred with it for all observed combinations at
    once, and each one with a wrong answer forbids what was read. Values that do not matter for the
    wrong answer are left out of that: with them unknown, the right answer is still not fully
    possible, and it would be if any reading of them allowed it, as inferred degrees rise with those
    of inputs.

    Parameters
    ----------
    answers : ObservedAnswers
    group : the variables that may be read as others
    """

    def __init__(self, answers: ObservedAnswers, group: Group) -> None:
        solver, self._hitman = _pysat()
        self._answers, self._group = answers, group
        self._truth = answers.truth[group.variables]
        sizes = answers.sizes[group.variables]
        self._first = np.concatenate([[1], 1 + np.cumsum(sizes)])
        self._column = {int(v): column for column, v in enumerate(group.variables)}
        self._solver = solver(name=SOLVER)
        # While this holds, something is read wrongly.
        self._is_wrong = int(self._first[-1])
        self._say_that_each_is_read_as_one()
        self._solver.add_clause([-self._is_wrong, *(-lit for lit in self._literals(self._truth))])

    def _say_that_each_is_read_as_one(self) -> None:
        fresh = count(self._is_wrong + 1)
        for first, stop in zip(self._first[:-1].tolist(), self._first[1:].tolist(), strict=True):
            for clause in exactly_one(range(first, stop), fresh):
                self._solver.add_clause(clause)

    def _literals(self, readings: Positions) -> list[int]:
        """Return the literals that say what each variable is read as."""
        return list(map(int, self._first[:-1] + readings))

    def remappings(self, limit: int) -> tuple[Positions, bool]:
        """Return up to `limit` remappings (n, variables), and whether these are all."""
        found: list[Positions] = []
        while (one := self._next([])) is not None:
            if len(found) == limit:
                return np.array(found), False
            found.append(one)
            self._solver.add_clause([-lit for lit in self._literals(one)])
        return np.array(found), True

    def labels(self, maps: Positions) -> tuple[int, ...]:
        """Return a smallest set of variables whose labels leave the true remapping alone.

        Some `maps` are known. A smallest set for those is tried; what is still read wrongly with
        these labels is one more, until nothing is.
        """
        wrong = [np.flatnonzero(row).tolist() for row in maps != self._truth]
        with self._hitman(bootstrap_with=[row for row in wrong if row]) as hitting:
            while True:
                chosen = sorted(hitting.get() or ())
                held = [self._literals(self._truth)[column] for column in chosen]
                one = self._next([self._is_wrong, *held])
                if one is None:
                    return tuple(chosen)
                hitting.hit(np.flatnonzero(one != self._truth).tolist())

    def _next(self, assumptions: Sequence[int]) -> Positions | None:
        """Return a remapping under which all answers are right, or None."""
        while self._solver.solve(assumptions=list(assumptions)):
            model = np.array(self._solver.get_model()[: self._first[-1] - 1])
            one: Positions = np.flatnonzero(model > 0) + 1 - self._first[:-1]
            clauses = self._forbidden(one)
            if not clauses:
                return one
            for clause in clauses:
                self._solver.add_clause(clause)
        return None

    def _forbidden(self, readings: Positions) -> list[list[int]]:
        """Return what the combinations that a remapping gives wrong answers for forbid."""
        answers, rows = self._answers, self._group.rows
        maps = answers.truth.copy()
        maps[self._group.variables] = readings
        wrong = rows[answers.codes(maps[answers.places[rows]]) != answers.right[rows]][:MAX_LEARNED]
        if not len(wrong):
            return []
        places = answers.places[wrong]
        unknown = self._without_need(wrong, maps[places])
        kept = np.where(unknown | answers.fixed[places], -1, places)
        literals = self._literals(readings)
        sets = {tuple(sorted({self._column[v] for v in row if v >= 0})) for row in kept.tolist()}
        return [[-literals[column] for column in columns] for columns in sorted(sets)]

    def _without_need(self, rows: Positions, read: Positions) -> BoolArray:
        """Return which entries of combinations do not matter for their wrong answers.

        One place after the other is taken as unknown, in all combinations at once.
        """
        answers = self._answers
        right = answers.possible(answers.evidence(answers.rows[rows]))
        unknown = np.zeros(read.shape, dtype=bool)
        for place in range(read.shape[1]):
            tried = unknown.copy()
            # all places of a value are read alike, so they are unknown together
            same = answers.places[rows] == answers.places[rows, place][:, None]
            tried |= same & ~answers.fixed[answers.places[rows]]
            reached = answers.possible(answers.evidence(read, tried))
            excluded = (right & ~reached).any(axis=1)
            unknown[excluded] = tried[excluded]
        return unknown
