"""Tolerances from validation data: how reliable a sample must be to be learned from."""

from collections.abc import Sequence
from math import inf, isclose
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy._common.console import Bar
from pinesy._common.console import progress as progress_bar
from pinesy._common.validation import FloatArray, check_integer, check_known, check_number
from pinesy.engine.evidence import Evidence
from pinesy.exceptions import DataError, LearningError
from pinesy.learning.evaluations import (
    Evaluation,
    Judge,
    Metric,
    SearchProblem,
    ToleranceSearch,
    accuracy,
)
from pinesy.learning.exhaustive_search import exhaust
from pinesy.learning.learning_arguments import (
    Rules,
    Tolerances,
    batch_of,
    fixed_parameters,
    resolve_groups,
    with_initial,
)
from pinesy.learning.learning_result import LearningResult

METHODS = ("paper", "exhaustive")


def candidate_tolerances(count: int = 30, power: float = 5, epsilon: float = 0.001) -> FloatArray:
    """Return candidates for a tolerance: ``t_i = (i / l)^h (1 + epsilon)``, ``i = 1 .. l``.

    [eq:setTvalidationstep]. The last is above 1 and keeps every sample. The defaults are those of
    the paper's experiments; it takes ``h = 2`` where training data are few.

    Parameters
    ----------
    count : their number `l`
    power : ``h >= 1``; the higher, the more of them are close to 0
    epsilon : ``epsilon > 0``

    Examples
    --------
    >>> candidate_tolerances(4, 2)
    array([0.0625625, 0.25025  , 0.5630625, 1.001    ])
    """
    check_integer(count, "count", 1, DataError)
    check_number(power, "power", 1.0, error=DataError)
    if not 1.0 + check_number(epsilon, "epsilon", error=DataError) > 1.0:
        raise DataError(
            f"epsilon is {epsilon!r:.60}; it must be a number > 0, and large enough that "
            "1 + epsilon is not 1, so that the last candidate keeps every sample"
        )
    found = (np.arange(1, count + 1) / count) ** power * (1.0 + epsilon)
    if not found[0] > 0.0 or (np.diff(found) <= 0.0).any():
        raise DataError(
            f"power is {power!r}: the lowest of {count} candidates are the same number, too close "
            "to 0; give a lower power"
        )
    return found


def search_tolerances(
    rules: Rules,
    evidence: Evidence,
    targets: Any,
    validation: tuple[Any, Any],
    *,
    groups: Sequence[Any] | None = None,
    metric: Metric = accuracy,
    candidates: npt.ArrayLike | None = None,
    min_improvement: float = 0.01,
    stagnation: int = 1,
    method: str = "paper",
    initial: Any = None,
    fixed: Any = None,
    progress: bool = True,
) -> ToleranceSearch:
    """Find the tolerances to learn with, by how well what is learned predicts other data.

    The search of the paper [subsec:thresholdsdetermination] starts with the lowest candidate for
    every group. Where learning is impossible, because some set has no reliable sample, the group of
    that set goes to the next candidate. Otherwise the metric is evaluated and all groups go to the
    next candidate, until the metric has not improved by `min_improvement` over `stagnation`
    evaluations; the tolerances returned are the lowest tested ones that reach the metric at which
    it stopped improving.

    The exhaustive search evaluates every combination of candidates over the groups, and returns
    the best: of those that tie the one with the fewest steps up the candidates, of all groups
    together, then the one with the lowest tolerance of the first group, and so on. A model that
    several combinations give is learned and evaluated once.

    Parameters
    ----------
    rules, evidence, targets, initial, fixed : as in `learn`
    validation : a pair of evidence and targets; what the metric takes
    groups : the groups of sets that share a tolerance: each a name, a pattern such as ``"c_*"``, or
        a tuple of these; by default one group of all sets with targets, ``"*"``. Sets in no group
        keep every sample.
    metric : a function of a cascade and of the `validation` evidence and targets; the larger its
        value the better
    candidates : tolerances to choose from, rising; by default `candidate_tolerances()`
    min_improvement, stagnation : when the search of the paper stops
    method : ``"paper"`` or ``"exhaustive"``
    progress : show on a terminal how far the search is, if it takes long

    Examples
    --------
    >>> from pinesy import Attribute, Iff, RuleSet
    >>> rain, grass = Attribute("rain", ["yes", "no"]), Attribute("grass", ["wet", "dry"])
    >>> rules = RuleSet([Iff(rain.isin({"yes"})).then(grass.isin({"wet"}))])
    >>> rains = {"rain": [[1.0, 0.1], [0.2, 1.0], [0.0, 1.0]]}
    >>> targets = ["wet", "dry", "wet"]  # the last one is wrong
    >>> search_tolerances(rules, rains, targets, (rains, targets), candidates=[0.15, 0.5, 1.1])
    ToleranceSearch(*=0.15: metric 0.666667, 2 evaluations)
    """
    check_known(method, METHODS, f"there is no method {method!r:.60}", DataError)
    check_number(min_improvement, "min_improvement", error=DataError)
    check_integer(stagnation, "stagnation", 1, DataError)
    cascade = with_initial(rules, initial)
    batch = batch_of(cascade, evidence, targets)
    judge = Judge(metric, validation, cascade)
    shared = resolve_groups(groups, list(batch.targets))
    held = fixed_parameters(fixed, cascade, list(batch.targets))
    problem = SearchProblem(cascade, batch, shared, _checked_candidates(candidates), judge, held)
    total = None if method == "paper" else problem.n_grid
    with progress_bar("searching tolerances" if progress else "", total) as bar:
        if method == "paper":
            return _climb(problem, float(min_improvement), stagnation, bar)
        return exhaust(problem, bar)


def _checked_candidates(given: npt.ArrayLike | None) -> FloatArray:
    if given is None:
        return candidate_tolerances()
    array = np.asarray(given)
    if array.ndim != 1 or array.size == 0 or array.dtype.kind not in "fiu":
        raise DataError(
            f"the candidates are {given!r:.60}; give a sequence of numbers, such as "
            "candidate_tolerances(30)"
        )
    found = array.astype(np.float64)
    if not (np.isfinite(found).all() and found[0] > 0.0 and (np.diff(found) > 0.0).all()):
        raise DataError(
            f"the candidates are {given!r:.60}; they must be finite, above 0 and rising"
        )
    return found


def _climb(
    problem: SearchProblem, min_improvement: float, stagnation: int, bar: Bar
) -> ToleranceSearch:
    """Raise tolerances from the lowest candidates on, until the metric stagnates.

    This is the search of the paper, [subsec:thresholdsdetermination]. Where learning is impossible,
    the tolerance of the group of the set that failed goes to the next candidate. After an
    evaluation all of them do.
    """
    evaluations: list[Evaluation] = []
    last, steps, stagnant = len(problem.candidates) - 1, [0] * len(problem.groups), 0
    best: tuple[Tolerances, float, LearningResult] | None = None
    while True:
        tolerances = problem.tolerances(steps)
        bar.advance()
        try:
            result = problem.learn(tolerances)
        except LearningError as error:
            evaluations.append(problem.impossible(tolerances, error.rule_set, error.smallest))
            group = [error.rule_set in names for names in problem.groups.values()].index(True)
            if steps[group] == last:
                raise problem.hopeless(error.rule_set, error.smallest) from None
            steps[group] += 1
            continue
        metric = problem.evaluate(result.cascade, tolerances)
        reliable = {name: one.n_reliable for name, one in result.sets.items()}
        evaluations.append(problem.evaluated(tolerances, metric, reliable))
        highest = -inf if best is None else best[1]
        improved = improves(metric, highest, min_improvement)
        stagnant = 0 if improved else stagnant + 1
        if best is None or (improved and metric > highest):
            best = tolerances, metric, result
        if stagnant >= stagnation or min(steps) == last:
            return ToleranceSearch("paper", *best, tuple(evaluations))
        steps = [min(step + 1, last) for step in steps]


def improves(metric: float, best: float, least: float) -> bool:
    """Tell whether a metric is better than the best so far by at least `least`.

    Examples
    --------
    >>> 0.57 - 0.56 >= 0.01, improves(0.57, 0.56, 0.01)  # a little less, in binary
    (False, True)
    """
    return metric - best > least or isclose(metric - best, least, rel_tol=1e-9)
