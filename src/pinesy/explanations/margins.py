"""Margins: how far the degrees of the inputs may move before a decision can change.

Min and max are non-expansive: if no input degree moves by more than `e`, no inferred degree does.
So a winner that is `g` above the second stays the winner while moves are below ``g / 2``, or more.

For coherent rules the margin is exact. Some value always has possibility 1, so another value joins
or beats the winner only if it reaches 1. Inference is monotone, so the most effective move of `e`
raises every input degree by `e`. Then another value `u` reaches 1 iff it does so with degrees of at
least ``1 - e`` rounded to 1, and all other degrees and parameters below 1 to 0. Let ``h(u)`` be the
degree that is inferred with all parameters below 1 set to 0. Then `u` reaches 1 iff
``h(u) >= 1 - e``: the margin is ``1 - max {h(u) : u not the winner}``.

Where rules may contradict each other, the margin is a bound. If no input degree moves by more than
`e`, the inferred degrees are at most those of the raised inputs, ``pi(v) + e``, and at least those
of the lowered inputs. Inputs stay normalised: if only one value of an input can be at 1 after such
a move, it is at 1. While the upper bounds of all other values are below the lower bound of the
winner, the winner stays. Both bounds may not be attained together, so this is not exact. They are
degrees of the inputs moved by `e`, or constants of the rules. So where they cross, `e` is half of a
difference of two degrees, or the difference of a degree and a constant: bisection finds which.
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

#: Iterations of the bisection, and the maximum distance of its result from the exact number.
ITERATIONS, TOLERANCE = 40, 1e-9
#: Samples of a batch.
BLOCK = 1024


def margin(
    rules: Cascade | RuleSet, evidence: Evidence, output: str | Attribute | None = None
) -> Any:
    """Return how far all input degrees may move before the decision can change.

    While every degree of every input moves by less than the margin (and inputs stay normalised)
    the same value remains the only winner. For coherent rules (see `is_coherent`) it is exact:
    moves of just the margin can make another value as possible, and it is infinite if no inputs
    can. Else it is a lower bound, at least half of the difference between the two highest degrees:
    larger moves need not change the decision. On random small rule bases it was exact in 92 % of
    cases, and 97 % of the exact margin on average (docs/changes.md). A tie has margin 0.

    Parameters
    ----------
    rules : Cascade or RuleSet
    evidence : one sample or a batch, as `Cascade.infer` takes it
    output : the attribute of the decision, by default the only output of the cascade

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
        hard = _crisp_rules(cascade).compile([plan.attribute])
        everything = np.ones((1, hard.code.n_inputs))
        margins = _distance_to_one(hard, run(hard.code, rows), hard.run(everything), degrees)
    else:
        x = rows.block(0, rows.n)
        margins = _contradiction_margins(plan, x, np.ones(x.shape, dtype=bool), degrees)
    return margins if rows.is_batch else float(margins[0])


def input_margins(
    rules: Cascade | RuleSet, evidence: Evidence, output: str | Attribute | None = None
) -> dict[str, float]:
    """Return the margin of each input by itself, the smallest first.

    As `margin`, for one sample, while all other inputs stay as they are: no entry is below the
    margin of the sample. Infinite where that input by itself cannot change the decision.

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
        # Degrees below 1 of the other inputs do not help a value to reach 1.
        hard, ones = _crisp_rules(decision.plan.cascade).compile([decision.output]), rows == 1.0
        reached, most = (hard.run(np.where(may_move, degree, ones)) for degree in (rows, 1.0))
        distances = _distance_to_one(hard, reached, most, degrees)
    else:
        distances = _contradiction_margins(decision.plan, rows, may_move, degrees)
    margins = dict(zip(spans, distances.tolist(), strict=True))
    return dict(sorted(margins.items(), key=lambda item: item[1]))


@cached_on_owner
def _crisp_rules(cascade: Cascade) -> Cascade:
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
    """Return the distance from 1 of the nearest other value: 0 in a tie, inf if none reaches 1.

    Parameters
    ----------
    hard : the program of the rules with parameters 0 and 1 (`_crisp_rules`)
    reached, most : its outputs for the samples, and for inputs of which every value is possible
    degrees : array (n, values), the inferred degrees
    """
    columns = hard.code.columns[hard.outputs[0].name]
    distance = np.where(most[columns].T == 1.0, 1.0 - reached[columns].T, np.inf)
    distance[np.arange(len(degrees)), degrees.argmax(axis=1)] = np.inf
    return np.asarray(distance.min(axis=1))


def _contradiction_margins(
    plan: SamplePlan, rows: FloatArray, free: BoolArray, degrees: FloatArray
) -> FloatArray:
    """Return how far `free` degrees may move at least where rules may contradict each other.

    That is half of the difference between the two highest degrees or more, up to inf for any move.
    It infers some 80 times (docs/changes.md has how often it is exact).
    """
    if degrees.shape[1] == 1:
        return np.full(len(degrees), np.inf)
    second, first = np.partition(degrees, -2, axis=1)[:, -2:].T
    blocks = [slice(i, i + BLOCK) for i in range(0, len(rows), BLOCK)]
    moves = [_MoveSearch(plan, rows[block], free[block]).run() for block in blocks]
    return np.asarray(np.maximum(np.concatenate([np.empty(0), *moves]), (first - second) / 2))


class _MoveSearch:
    """The search, by bisection, for the largest moves of a batch that keep the winners."""

    def __init__(self, plan: SamplePlan, rows: FloatArray, free: BoolArray) -> None:
        self._plan, self._rows, self._free = plan, rows, free
        self._program = plan.cascade.compile([plan.attribute])
        self._columns = [span.start for span in plan.slices.values()]
        self._samples = np.arange(len(rows))
        self._winner = self._upper_bounds(np.zeros(len(rows))).argmax(axis=1)

    def run(self) -> FloatArray:
        """Return the largest move of each sample that keeps its winner."""
        low, high = np.zeros(len(self._rows)), np.ones(len(self._rows))
        unlimited = self._is_safe(high)
        for _ in range(ITERATIONS):
            middle = (low + high) / 2
            safe = self._is_safe(middle)
            low, high = np.where(safe, middle, low), np.where(safe, high, middle)
        parameters = [z for s in self._plan.rule_sets.values() for z in (s.s, s.r)]
        constants = np.unique(np.concatenate([[0.0, 1.0], *parameters]))
        exact = [_exact_move(e, row, constants) for e, row in zip(low, self._rows, strict=True)]
        return np.where(unlimited, np.inf, exact)

    def _is_safe(self, e: FloatArray) -> BoolArray:
        """Return a mask: where the upper bounds of other values are below the winner's lower."""
        others = self._upper_bounds(e)
        others[self._samples, self._winner] = -1.0
        least = self._lower_bounds(e)[self._samples, self._winner]
        return np.asarray(others.max(axis=1) < least)

    def _upper_bounds(self, e: FloatArray) -> FloatArray:
        """Return the degrees (n, values) that are inferred from inputs raised by `e`."""
        raised = np.minimum(self._rows + e[:, None] * self._free, 1.0)
        output = self._program.run(raised)[self._program.code.columns[self._plan.attribute.name]]
        return output.T.copy()

    def _lower_bounds(self, e: FloatArray) -> FloatArray:
        """Return the degrees (n, values) that are inferred from inputs lowered by `e`."""
        moves = e[:, None] * self._free
        able = self._rows + moves >= 1.0
        # The number of values of each input that can be at 1.
        counts = np.add.reduceat(able, self._columns, axis=1, dtype=np.intp)
        sizes = np.diff([*self._columns, self._rows.shape[1]])
        is_only = able & (np.repeat(counts, sizes, axis=1) == 1)
        lowered = np.where(is_only, 1.0, np.maximum(self._rows - moves, 0.0))
        floor = self._plan.lower_bound_program
        return np.asarray(floor.run(lowered)[floor.code.columns[self._plan.attribute.name]].T)


def _exact_move(e: float, row: FloatArray, constants: FloatArray) -> float:
    """Return the exact number near the result of the bisection: a difference, or half of one."""
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


def _nearest(ordered: FloatArray, numbers: FloatArray) -> FloatArray:
    """Return for each number the nearest entry of a sorted array."""
    after = np.searchsorted(ordered, numbers).clip(1, len(ordered) - 1)
    low, high = ordered[after - 1], ordered[after]
    return np.asarray(np.where(numbers - low <= high - numbers, low, high))
