"""Margins: how far the degrees of the inputs may move before a decision can change.

Min and max are non-expansive: if no input degree moves by more than `e`, no inferred degree does.
So a winner that is `g` above the second stays the winner while moves are below ``g / 2``, and for
some longer.

Of coherent rules it is known exactly. There some value always has possibility 1, so the winner can
only be joined or beaten if another value reaches 1; and degrees rise with those of the inputs, so
the best try with moves of `e` raises every input degree by `e`. Another value `u` reaches 1 iff it
does so where the degrees from ``1 - e`` on are taken as 1 and all below, parameters below 1 too, as
0. With ``h(u)`` the degree that is inferred of it if the parameters below 1 are 0, that is iff
``h(u) >= 1 - e``: the margin is ``1 - max {h(u) : u not the winner}``.

Where rules may contradict each other: if no degree of an input moves by more than `e`, each
inferred degree is at most what the raised inputs give, ``pi(v) + e`` for all values, and at least
what the lowered ones give. Of an input with only one value that can be at 1 after such a move, that
value is at 1, for it stays normalised. While every other value at its highest is below the winner
at its lowest, the winner stays. What is at its highest for one value may exclude what is at its
lowest for the other, so this is a bound. Both sides are degrees of the inputs moved by `e`, or
constants of the rules. So where they cross, `e` is half of a difference of two degrees, or the
difference of a degree and a constant: bisection finds which.
"""

from typing import Any

import numpy as np

from pinesy._common.caching import cached_on_owner
from pinesy._common.validation import BoolArray, FloatArray
from pinesy.engine.program import Program, run
from pinesy.evidence.evidence_form import Evidence, evidence_rows
from pinesy.explanations.decision import Decision, is_coherent, output_of
from pinesy.explanations.sample import SamplePlan, plan_for
from pinesy.rulebase.cascade import Cascade, as_cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute

#: Steps of bisection, and how near to its result the exact number is.
STEPS, TOLERANCE = 40, 1e-9
#: Samples that are computed together.
BLOCK = 1024


def margin(
    rules: Cascade | RuleSet, evidence: Evidence, output: str | Attribute | None = None
) -> Any:
    """Return how far all input degrees may move before the decision can change.

    While every degree of every input moves by less than the margin (and inputs stay normalised)
    the same value remains the only winner. For coherent rules (see `is_coherent`) it is exact:
    moves of just the margin can make another value as possible, and it is infinite if no inputs
    can. Else it is a bound, at least half of the difference between the two highest degrees: larger
    moves may do no harm either. On random small rule bases it was exact in 92 % of cases, and 97 %
    of what is exact on average (docs/changes.md). A tie has margin 0.

    Parameters
    ----------
    rules : Cascade or RuleSet
    evidence : one sample or a batch, as `Cascade.infer` takes it
    output : the attribute that is decided on, by default the only output of the cascade

    Returns
    -------
    float, or an array (n_samples,) for a batch

    Examples
    --------
    >>> from pinesy import antipignistic
    >>> from pinesy.problems import addition
    >>> sees = {"a_1": antipignistic({3: 0.8, 8: 0.2}), "a_2": antipignistic({4: 0.9, 9: 0.1})}
    >>> margin(addition(1), sees, "y_1")
    0.6
    """
    cascade = as_cascade(rules)
    plan = plan_for(cascade, output_of(cascade, output))
    program = cascade.compile([plan.attribute])
    rows = evidence_rows(cascade, evidence, program.inputs)
    degrees = run(program.code, rows)[program.code.columns[plan.attribute.name]].T
    if is_coherent(cascade, plan.attribute):
        hard = _hardened(cascade).compile([plan.attribute])
        everything = np.ones((1, hard.code.n_inputs))
        margins = _distance_to_one(hard, run(hard.code, rows), hard.run(everything), degrees)
    else:
        x = rows.block(0, rows.n)
        margins = _safe_moves(plan, x, np.ones(x.shape, dtype=bool), degrees)
    return margins if rows.is_batch else float(margins[0])


def input_margins(
    rules: Cascade | RuleSet, evidence: Evidence, output: str | Attribute | None = None
) -> dict[str, float]:
    """Return for each input how far its degrees alone may move, the most delicate input first.

    As `margin`, for one sample, while all other inputs stay as they are: no entry is below the
    margin of the sample. Infinite where that input alone cannot change the decision.

    Examples
    --------
    >>> from pinesy import antipignistic
    >>> from pinesy.problems import addition
    >>> sees = {"a_1": antipignistic({3: 0.8, 8: 0.2}), "a_2": antipignistic({4: 0.9, 9: 0.1})}
    >>> input_margins(addition(1), sees, "y_1")
    {'a_1': 0.6, 'a_2': 0.8}
    """
    decision = Decision.of(rules, evidence, output)
    spans = decision.plan.slices
    rows = np.tile(decision.row, (len(spans), 1))
    degrees = np.tile(decision.result.degrees, (len(spans), 1))
    may_move = np.zeros(rows.shape, dtype=bool)
    for i, span in enumerate(spans.values()):
        may_move[i, span] = True
    if decision.coherent:
        # Of the others, only degrees that are 1 already help a value to reach 1.
        hard, ones = _hardened(decision.plan.cascade).compile([decision.output]), rows == 1.0
        reached, most = (hard.run(np.where(may_move, degree, ones)) for degree in (rows, 1.0))
        distances = _distance_to_one(hard, reached, most, degrees)
    else:
        distances = _safe_moves(decision.plan, rows, may_move, degrees)
    margins = dict(zip(spans, distances.tolist(), strict=True))
    return dict(sorted(margins.items(), key=lambda item: item[1]))


@cached_on_owner
def _hardened(cascade: Cascade) -> Cascade:
    """Return the rules with parameters below 1 set to 0."""
    parameters = {
        rule_set.output.name: (np.floor(rule_set.s), np.floor(rule_set.r))
        for rule_set in cascade.rule_sets
        if rule_set.output.formula is None  # formulas have none to set
    }
    return cascade.with_parameters(parameters)


def _distance_to_one(
    hard: Program, reached: FloatArray, most: FloatArray, degrees: FloatArray
) -> FloatArray:
    """Return how far the nearest of the other values is from 1: 0 in a tie, inf if none can be.

    `reached` is what hardened rules infer, and `most` what they do where all is possible.
    """
    columns = hard.code.columns[hard.outputs[0].name]
    distance = np.where(most[columns].T == 1.0, 1.0 - reached[columns].T, np.inf)
    distance[np.arange(len(degrees)), degrees.argmax(axis=1)] = np.inf
    return np.asarray(distance.min(axis=1))


def _safe_moves(
    plan: SamplePlan, rows: FloatArray, free: BoolArray, degrees: FloatArray
) -> FloatArray:
    """Return how far `free` degrees may move where rules may contradict each other: half a gap.

    Or more, up to inf for any move. Infers some 80 times. Not exact: no move below it makes another
    value win, but moves somewhat larger need not either (docs/changes.md says how often).
    """
    blocks = [slice(i, i + BLOCK) for i in range(0, len(rows), BLOCK)]
    moves = [_SafeMoves(plan, rows[block], free[block]).largest() for block in blocks]
    return np.asarray(np.maximum(np.concatenate([np.empty(0), *moves]), _half_the_gap(degrees)))


def _half_the_gap(degrees: FloatArray) -> FloatArray:
    """Return half of the highest degree less the second; infinite where there is no second."""
    if degrees.shape[1] == 1:
        return np.full(len(degrees), np.inf)
    second, first = np.partition(degrees, -2, axis=1)[:, -2:].T
    return np.asarray((first - second) / 2)


class _SafeMoves:
    """The search for some rows of inputs."""

    def __init__(self, plan: SamplePlan, rows: FloatArray, free: BoolArray) -> None:
        self._plan, self._rows, self._free = plan, rows, free
        self._program = plan.cascade.compile([plan.attribute])
        self._columns = [span.start for span in plan.slices.values()]
        self._places = np.arange(len(rows))
        self._winner = self._highest(np.zeros(len(rows))).argmax(axis=1)

    def largest(self) -> FloatArray:
        """Return the largest moves that are safe."""
        low, high = np.zeros(len(self._rows)), np.ones(len(self._rows))
        unlimited = self._is_safe(high)
        for _ in range(STEPS):
            middle = (low + high) / 2
            safe = self._is_safe(middle)
            low, high = np.where(safe, middle, low), np.where(safe, high, middle)
        constants = self._constants
        exact = [_exact_move(e, row, constants) for e, row in zip(low, self._rows, strict=True)]
        return np.where(unlimited, np.inf, exact)

    @property
    def _constants(self) -> FloatArray:
        parameters = [z for s in self._plan.rule_sets.values() for z in (s.s, s.r)]
        return np.unique(np.concatenate([[0.0, 1.0], *parameters]))

    def _is_safe(self, e: FloatArray) -> BoolArray:
        """Return where all others at their highest are below the winner at its lowest."""
        others = self._highest(e)
        others[self._places, self._winner] = -1.0
        least = self._lowest(e)[self._places, self._winner]
        return np.asarray(others.max(axis=1) < least)

    def _highest(self, e: FloatArray) -> FloatArray:
        raised = np.minimum(self._rows + e[:, None] * self._free, 1.0)
        output = self._program.run(raised)[self._program.code.columns[self._plan.attribute.name]]
        return output.T.copy()

    def _lowest(self, e: FloatArray) -> FloatArray:
        moves = e[:, None] * self._free
        able = self._rows + moves >= 1.0
        # How many values of the same input can be at 1.
        counts = np.add.reduceat(able, self._columns, axis=1, dtype=np.intp)
        sizes = np.diff([*self._columns, self._rows.shape[1]])
        is_only = able & (np.repeat(counts, sizes, axis=1) == 1)
        lowered = np.where(is_only, 1.0, np.maximum(self._rows - moves, 0.0))
        floor = self._plan.lower_bound_program
        return np.asarray(floor.run(lowered)[floor.code.columns[self._plan.attribute.name]].T)


def _exact_move(e: float, row: FloatArray, constants: FloatArray) -> float:
    """Return the number that bisection approached: a difference of degrees, or half of one."""
    degrees = np.unique(np.concatenate([row, [0.0, 1.0]]))
    candidates = np.concatenate(
        [
            (_nearest(degrees, degrees + 2 * e) - degrees) / 2,
            _nearest(constants, degrees + e) - degrees,
            degrees - _nearest(constants, degrees - e),
        ]
    )
    best = float(candidates[np.abs(candidates - e).argmin()])
    return best if abs(best - e) < TOLERANCE else float(e)


def _nearest(known: FloatArray, numbers: FloatArray) -> FloatArray:
    """Return for each number the nearest of those that are known, which are sorted."""
    after = np.searchsorted(known, numbers).clip(1, len(known) - 1)
    low, high = known[after - 1], known[after]
    return np.asarray(np.where(numbers - low <= high - numbers, low, high))
