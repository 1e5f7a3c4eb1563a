"""Programs from targets back to the inputs and forward again, and the choice of conjuncts.

A premise is as possible as its least possible conjunct, so to keep ``lambda_j`` below a bound one
of them must be below it. Choices are tried depth first (docs/backpropagation.md), for all samples
together: every sample names its next choice, and one run of the program evaluates them all.
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from functools import cached_property, partial
from typing import NamedTuple, cast

import numpy as np
import numpy.typing as npt

from pinesy._common.caching import cached_on_owner
from pinesy._common.names import column_slices
from pinesy._common.validation import BoolArray, FloatArray
from pinesy.engine.program import Inference, Program, Trace
from pinesy.inverse.reversal import Arrays, Reversal, RuleKey
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute
from pinesy.rules.propositions import Proposition

#: For each rule whose premise is lowered, the place of the conjunct in `Reversal.conjuncts`.
ConjunctChoice = dict[RuleKey, int]
#: The order in which the conjuncts of a rule are tried, for a sample of a block.
ConjunctOrder = Callable[[int, RuleKey], Sequence[int]]


class ChoiceOutcome(NamedTuple):
    """What a choice gives for one sample: a solution, or whether one is still possible."""

    solved: bool
    is_possible: bool
    exceeding: list[RuleKey]


Search = Generator[ConjunctChoice, ChoiceOutcome, ConjunctChoice | None]


class BackwardProgram:
    """The programs for one cascade and one set of target attributes."""

    def __init__(self, cascade: Cascade, targets: Sequence[str]) -> None:
        self.reversal = back = Reversal(cascade, targets)
        self._inferred = [back.inferred[name] for name in back.targets]
        with_conjunctions = dict.fromkeys(name for name, _ in back.conjuncts)
        #: What the bounds ``lambda_up`` of conjunctions are taken from.
        self._sources = [back.sources[name] for name in with_conjunctions]
        #: The names of what is inferred by the rule sets that have conjunctions.
        self._conjunctions = [back.inferred[name].name for name in with_conjunctions]
        #: The sets whose results bounds are taken from.
        used = {a.name for a in back.sources.values()}
        self._reached_first = [s for s in back.reaching() if s.output.name in used]

    def forward(self, inputs: Arrays, normalised: bool) -> Trace:
        """Infer the targets from inputs; if some are not `normalised`, by the bare formulas."""
        return cast(Trace, self._forward(normalised).infer(inputs))

    def choose(self, targets: Arrays, switches: FloatArray, *, trace: bool = False) -> Trace:
        """Infer the greatest inputs with chosen conjuncts lowered, and what they give.

        Parameters
        ----------
        switches : array (n, conjuncts), 1 for those that are lowered
        trace : whether to return every attribute's distribution and every premise degree
        """
        degrees = np.ones((len(switches), 2 * switches.shape[1]))
        degrees[:, 0::2] -= switches  # how possible it is that a switch is off
        slices = column_slices(self.reversal.switches)
        chosen = {name: degrees[:, columns] for name, columns in slices.items()}
        program = self._traced if trace else self._choosing
        return cast(Trace, program.infer({**targets, **chosen}))

    def upper_bounds(self, output: Inference) -> dict[RuleKey, FloatArray]:
        """Return ``max(s, lambda_up)`` of each conjunction for each sample; the last rules first.

        ``lambda_up = Pi(Q)`` as in [def:coFU].
        """
        back, bounds = self.reversal, {}
        for name, number in reversed(back.conjuncts):
            rule = back.sets[name].rules[number - 1]
            conclusion = Proposition(back.sources[name], rule.conclusion.mask)
            bounds[name, number] = np.maximum(rule.s, output.possibility(conclusion))
        return bounds

    def exceeding(
        self, bounds: Mapping[RuleKey, FloatArray], output: Trace
    ) -> dict[RuleKey, BoolArray]:
        """Return for each conjunction the samples where ``lambda > max(s, lambda_up)``."""
        inferred, premises = self.reversal.inferred, output.premises
        return {
            (name, number): premises[inferred[name].name].lambdas[:, number - 1] > bound
            for (name, number), bound in bounds.items()
        }

    @cached_property
    def backward(self) -> Program:
        """The greatest inputs, with no conjunct lowered, from targets."""
        sets = [*self._reached_first, *self.reversal.backward(choosing=False)]
        return self._compiled(sets, [*self.reversal.inputs, *self._sources])

    @cached_property
    def reaching(self) -> Program:
        """``M box F^up`` of each target."""
        return self._compiled(self.reversal.reaching(), [*self.reversal.reached.values()])

    @cached_property
    def _choosing(self) -> Program:
        outputs = [*self.reversal.inputs, *self._inferred, *self._sources]
        return self._compiled(self._all_sets, outputs, self._conjunctions)

    @cached_property
    def _traced(self) -> Program:
        back = self.reversal
        outputs = [*back.inputs, *back.inferred.values(), *back.sources.values()]
        return self._compiled(self._all_sets, outputs, [a.name for a in back.inferred.values()])

    @cached_property
    def _all_sets(self) -> list[RuleSet]:
        back = self.reversal
        return [*self._reached_first, *back.backward(choosing=True), *back.forward()]

    @cached_on_owner
    def _forward(self, normalised: bool) -> Program:
        units = [s.unit for s in self.reversal.forward()]
        known = {a.name: a for a in self.reversal.inputs}
        unnormalised = [] if normalised else list(known)
        return Program(units, self._inferred, known, self._conjunctions, unnormalised=unnormalised)

    def _compiled(
        self, sets: Sequence[RuleSet], outputs: Sequence[Attribute], degrees: Sequence[str] = ()
    ) -> Program:
        back = self.reversal
        known = {a.name: a for a in (*(back.sets[n].output for n in back.targets), *back.switches)}
        distinct = list({a.name: a for a in outputs}.values())
        return Program([s.unit for s in sets], distinct, known, degrees)


@cached_on_owner
def backward_program(cascade: Cascade, targets: tuple[str, ...]) -> BackwardProgram:
    """Return the programs for some targets, stored on the cascade that they belong to."""
    return BackwardProgram(cascade, targets)


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


def choose_conjuncts(
    program: BackwardProgram, targets: Arrays, reached: Arrays, actual: Arrays | None, limit: int
) -> tuple[list[ConjunctChoice | None], BoolArray]:
    """Search choices for every sample, at most `limit` for each.

    Returns the choice of each sample (None if there is none), and whether its search was ended by
    the limit.
    """
    n = len(next(iter(targets.values())))
    order = _orders(program, actual)
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
    return chosen, np.isin(np.arange(n), list(pending))


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
