"""Functions of attributes of entities: one batch of the existing cascade, a row for each tuple."""

import numpy as np

from pinesy.exceptions import DataError
from pinesy.relations.columnar import ColumnarJoin
from pinesy.relations.definite_clauses import AtomTable, DefiniteClause, Goal
from pinesy.relations.evaluated_relations import EvaluatedRelations
from pinesy.relations.fact_table import IntArray, encode
from pinesy.relations.literals import atom_text, literals_of
from pinesy.relations.relational_rule import GuardedFunction
from pinesy.relations.translation import ClauseScope, ClauseWriter


def function_ranks(
    known: EvaluatedRelations, function: GuardedFunction
) -> tuple[IntArray, IntArray]:
    """Return the keys of a function's tuples, and the rank against each of its values.

    The degrees of the batch are ranks over the top one: min and max only copy them, so that the
    results are ranks again.
    """
    facts, top = known.ranked, known.ranked.top
    variables, columns = _guard_columns(known, function)
    n = len(columns[0]) if columns else 1
    cascade = known.rules.function_rules[function.name]
    batch = {}
    for argument in function.arguments:
        keys, against = known.attribute_ranks(argument.name)
        indices = [
            columns[variables.index(t)]
            if t in variables
            else np.full(n, facts.entities.find(t), np.int64)  # type: ignore[arg-type]
            for t in argument.terms
        ]
        wanted_keys = encode(indices, facts.radix)
        indices_of_keys = np.minimum(np.searchsorted(keys, wanted_keys), max(0, len(keys) - 1))
        size = against.shape[1]
        ranks = np.zeros((n, size), np.int64)
        if len(keys):
            present = keys[indices_of_keys] == wanted_keys
            ranks[present] = against[indices_of_keys[present]]
        batch[atom_text(argument.name, argument.terms)] = (top - ranks) / top
    head = [columns[variables.index(v)] for v in function.variables]
    keys = encode(head, facts.radix) if head else np.zeros(n, np.int64)
    n_values = len(cascade.attributes[function.name].domain)
    if not n:
        return keys, np.zeros((0, n_values), np.int64)
    degrees = cascade.infer(batch)[function.name].degrees
    against = top - np.rint(np.asarray(degrees) * top).astype(np.int64).reshape(n, n_values)
    # Tuples that conclude on one atom meet by min of possibilities.
    order = np.argsort(keys, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(keys[order]) != 0])
    return keys[order][starts], np.maximum.reduceat(against[order], starts, axis=0)


def _guard_columns(
    known: EvaluatedRelations, function: GuardedFunction
) -> tuple[list[object], list[IntArray]]:
    """Return the variables of the guard, and their values; raise unless the guard is crisp."""
    names = [literal.name for literal in literals_of(function.guard)]
    known.evaluate(names)
    top = known.ranked.top
    for name in names:
        atoms = known.atoms(name)
        if not (np.isin(atoms.certain, [0, top]).all() and np.isin(atoms.against, [0, top]).all()):
            raise DataError(
                f"the guard of function {function.name!r} must be certain, and {name!r} has facts "
                "that are not; use a relation whose facts have certainty 1"
            )
    writer = ClauseWriter(known)
    scope = ClauseScope(writer)
    items = [
        item
        for part in function.guard
        for item in writer.certain_items(part, scope, function, function.guard, ())
    ]
    variables = list(scope.numbers)
    goals = tuple(item for item in items if isinstance(item, Goal))
    filters = tuple(item for item in items if not isinstance(item, Goal))
    head = Goal(("guard", function.name), tuple(range(len(variables))))
    clause = DefiniteClause(head, goals, filters, top, len(variables), function)
    evaluation = known.evaluation
    join = ColumnarJoin(
        evaluation.tables, evaluation.radix, evaluation.entities, evaluation.max_instances
    )
    table = AtomTable.merge(join.run([clause]), len(variables), evaluation.radix)
    return list(variables), table.columns
