"""Whether some value of an output has possibility 1 whatever the inputs are.

Inferred degrees rise with those of the inputs, and every normalised distribution is above a crisp
one (a value at 1 alone). So rules are coherent for all normalised inputs iff they are for all crisp
ones, and of these it is enough to look at one for each combination of cells that the rules tell
apart. Where there are too many, rule sets are looked at one by one: if each of them leaves a value
for all crisp inputs of its own, so do all of them together.
"""

from math import prod

import numpy as np
import numpy.typing as npt

from pinesy._common.caching import cached_on_owner
from pinesy._common.console import check_stop
from pinesy._common.names import column_slices
from pinesy._common.validation import FloatArray
from pinesy.inverse.factor_graph import factor_graph
from pinesy.rulebase.cascade import Cascade
from pinesy.rules.attributes import Attribute
from pinesy.rules.partition import partition_of

Places = npt.NDArray[np.intp]
#: Crisp inputs that are looked at, and instructions that these may take in all (a second or less).
MOST_CASES, MOST_INSTRUCTIONS = 100_000, 10**8
#: Rows that are inferred together.
BLOCK = 4096


@cached_on_owner
def is_coherent_output(cascade: Cascade, name: str) -> bool:
    """Tell whether the rules behind an output are known to leave a value at 1 for all inputs."""
    behind = [s.output.name for s in cascade.needed([name])]
    if factor_graph(cascade).coherent.issuperset(behind):
        return True
    program = cascade.compile([name])
    values = [_one_of_each_cell(cascade, name, a) for a in program.inputs]
    n = prod(len(one) for one in values)
    if n > MOST_CASES or n * len(program.code.ops) > MOST_INSTRUCTIONS:
        return False
    firsts = [span.start for span in column_slices(program.inputs).values()]
    columns = [first + one for first, one in zip(firsts, values, strict=True)]
    output = program.code.columns[name]
    for start in range(0, n, BLOCK):
        check_stop()
        at = np.unravel_index(np.arange(start, min(n, start + BLOCK)), [len(one) for one in values])
        rows: FloatArray = np.zeros((len(at[0]), program.code.n_inputs))
        for own, place in zip(columns, at, strict=True):
            rows[np.arange(len(rows)), own[place]] = 1.0
        if program.run(rows)[output].max(axis=0).min() < 1.0:
            return False
    return True


def _one_of_each_cell(cascade: Cascade, name: str, attribute: Attribute) -> Places:
    """Return a value, by its place, of each cell of an input that the rules tell apart."""
    used = (p for s in cascade.needed([name]) for r in s.rules for p in r.premise.propositions)
    masks = dict.fromkeys(p.mask for p in used if p.attribute.name == attribute.name)
    cells = partition_of(len(attribute.domain), tuple(masks))
    return np.unique(cells.cell_of, return_index=True)[1]
