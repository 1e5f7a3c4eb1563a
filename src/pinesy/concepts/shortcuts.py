"""Reasoning shortcuts: ways to read concepts wrongly that no observed answer tells."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from pinesy._common.validation import check_integer
from pinesy.concepts.concept_kinds import Labelled, kinds_of, labelled_positions
from pinesy.concepts.observed_answers import Observed, ObservedAnswers, observed_rows
from pinesy.concepts.remapping_count import Group, counted, groups_of, in_order, labels_of
from pinesy.concepts.remapping_solver import RemappingSolver
from pinesy.concepts.remappings import GroupRemappings, Shortcuts
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
