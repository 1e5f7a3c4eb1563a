"""All inputs of one rule set that give a target: which rule holds each output value down.

``O = M box X`` asks two things of the inputs of a rule set. No cell of the output may come out
below its target: inferred degrees rise with those of the inputs, so the greater these are the
better. And each cell must have a rule that holds it at its target: a rule whose parameter is no
higher, and whose premise (or its negation, for a cell outside of the conclusion) is at most as
possible, which bounds degrees of inputs by the target's degree. The bounds ``F^up`` ask this of all
rules that could; one for each cell is enough. So rules are chosen for one cell after the other,
depth first, the rest of the inputs left as great as they can be. If no choice is left out, there is
a solution iff one is found.
"""

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from pinesy._common.masks import mask_table
from pinesy._common.names import column_slices
from pinesy._common.validation import BoolArray, FloatArray
from pinesy.engine.program import Program
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.propositions import Proposition

#: The columns of the inputs that are lowered together.
Columns = npt.NDArray[np.intp]
#: Yields inputs to be tried, gets the degrees of cells; returns inputs that give the target.
Search = Generator[FloatArray, FloatArray, FloatArray | None]


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
    def _ways(self) -> list[list[list[Columns]]]:
        """For each rule the ways to lower its premise, and those to lower the negation of it.

        A premise is lowered by any of its propositions, its negation only by all of them.
        """
        found = []
        for rule in self.rule_set.rules:
            parts = list(dict.fromkeys(rule.premise.propositions))
            inside = [self._columns(p) for p in parts]
            found.append([inside, [np.concatenate([self._columns(~p) for p in parts])]])
        return found

    def _columns(self, proposition: Proposition) -> Columns:
        domain = proposition.attribute.domain
        places = np.flatnonzero(mask_table(len(domain), [proposition.mask]))
        return np.asarray(self.slices[proposition.attribute.name].start + places)

    def find(
        self, wanted: FloatArray, actual: FloatArray | None, limit: int
    ) -> tuple[list[FloatArray | None], BoolArray]:
        """Return for each target inputs that give it, or None; and which searches hit the limit.

        Parameters
        ----------
        wanted : array (n, cells), target degrees
        actual : array (n, columns): rules that they come near to are chosen first
        limit : how many choices are tried for a sample
        """
        first = np.ones(sum(s.stop - s.start for s in self.slices.values()))
        known = [None] * len(wanted) if actual is None else actual
        searches = [self._explore(first, y, x) for y, x in zip(wanted, known, strict=True)]
        pending = {row: next(search) for row, search in enumerate(searches)}
        found: list[FloatArray | None] = [None] * len(wanted)
        for _ in range(limit + 1):  # the first time nothing is chosen
            if not pending:
                break
            cells = self._cells(np.array(list(pending.values())))
            for row, degrees in zip(list(pending), cells, strict=True):
                try:
                    pending[row] = searches[row].send(degrees)
                except StopIteration as end:
                    found[row] = end.value
                    del pending[row]
        return found, np.isin(np.arange(len(wanted)), list(pending))

    def _cells(self, rows: FloatArray) -> FloatArray:
        output = self.program.run(rows)[self.program.code.columns[self.rule_set.output.name]]
        return self.rule_set.partition.possibilities(output.T)

    def _explore(self, x: FloatArray, wanted: FloatArray, actual: FloatArray | None) -> Search:
        """Yield inputs to be tried; return the first that give the target, or None."""
        degrees = yield x
        if (degrees < wanted).any():  # and lower inputs do not give more
            return None
        above = np.flatnonzero(degrees > wanted)
        if not len(above):
            return x
        options = [list(self._options(cell, wanted[cell], actual)) for cell in above.tolist()]
        at = min(range(len(options)), key=lambda i: len(options[i]))
        for columns in options[at]:
            lower = x.copy()
            lower[columns] = np.minimum(lower[columns], wanted[above[at]])
            if all(lower[span].max() == 1.0 for span in self.slices.values()):
                solution = yield from self._explore(lower, wanted, actual)
                if solution is not None:
                    return solution
        return None

    def _options(self, cell: int, wanted: float, actual: FloatArray | None) -> Iterator[Columns]:
        """Yield what may be lowered for a cell, first where the actual inputs are lowest."""
        signs = self.rule_set.partition.signs[cell]
        parameters = np.where(signs, self.rule_set.s, self.rule_set.r)
        ways = [
            columns
            for j in np.flatnonzero(parameters <= wanted).tolist()
            for columns in self._ways[j][0 if signs[j] else 1]
        ]
        if actual is not None:
            ways.sort(key=lambda columns: float(actual[columns].max(initial=0.0)))
        yield from ways
