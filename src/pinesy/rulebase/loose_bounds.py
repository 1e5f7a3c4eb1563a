"""How often inferred degrees, where they are upper bounds, exceed the exact ones."""

from collections.abc import Iterator

import numpy as np

from pinesy.engine.program import Program
from pinesy.evidence.rows import Rows
from pinesy.exact.exact_inference import OrderedRules, exact_bounds, has_upper_bounds
from pinesy.exceptions import MissingPackageError
from pinesy.rulebase.clashes import BoundCounts

#: Samples that are compared, at most, and conflicts of the solver for each.
MAX_SAMPLES, MAX_CONFLICTS = 1000, 10_000


def count_loose_bounds(rules: OrderedRules, rows: Rows, program: Program) -> Iterator[BoundCounts]:
    """Yield how often the degrees of each output exceed the exact ones, if they may.

    Parameters
    ----------
    rules : the rules
    rows : the samples, in the columns of the program
    program : infers the outputs
    """
    names = [a.name for a in program.outputs if has_upper_bounds(rules, a.name)]
    if not names or not rows.n:
        return
    n = min(rows.n, MAX_SAMPLES)
    block = rows.block(0, n)
    inference = program.infer(block)
    first_rows = Rows(program.inputs, [block], n, True)
    for name in names:
        try:
            bounds = exact_bounds(rules, first_rows, inference, [name], MAX_CONFLICTS)[name]
        except MissingPackageError:
            yield BoundCounts(name, 0, 0, 0)
            continue
        loose = (bounds.upper < inference[name].degrees).any(axis=1)
        unknown = ~loose & (bounds.lower < bounds.upper).any(axis=1)
        yield BoundCounts(name, n, int(np.count_nonzero(loose)), int(np.count_nonzero(unknown)))
