"""Tolerances from validation data: how reliable a sample must be to be learned from.

The search of the paper [subsec:thresholdsdetermination]; see docs/tolerances.md.
"""

from collections.abc import Sequence
from math import inf
from typing import Any, cast

import numpy.typing as npt

from pinesy._common.console import Bar
from pinesy._common.console import progress as progress_bar
from pinesy._common.validation import check_integer, check_number
from pinesy.evidence.evidence_form import Evidence
from pinesy.exceptions import DataError, LearningError
from pinesy.learning.comparison import accuracy
from pinesy.learning.learning_arguments import (
    Rules,
    Tolerances,
    batch_of,
    fixed_parameters,
    resolve_groups,
    with_initial,
)
from pinesy.learning.learning_result import LearningResult
from pinesy.learning.tolerance_trials import (
    Evaluation,
    Judge,
    Metric,
    SearchProblem,
    ToleranceSearch,
    checked_candidates,
    improves,
)


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
    initial: Any = None,
    fixed: Any = "implications",
    progress: bool = True,
) -> ToleranceSearch:
    """Find the tolerances to learn with, by how well what is learned predicts other data.

    The search of the paper [subsec:thresholdsdetermination] starts with the lowest candidate for
    every group. Where learning is impossible, because some set has no reliable sample, the group of
    that set goes to the next candidate. Otherwise the metric is evaluated and all groups go to the
    next candidate, until the metric has not improved by `min_improvement` over `stagnation`
    evaluations; the tolerances returned are the lowest tested ones that reach the metric at which
    it stopped improving.

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
    min_improvement, stagnation : when the search stops
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
    check_number(min_improvement, "min_improvement", error=DataError)
    check_integer(stagnation, "stagnation", 1, DataError)
    cascade = with_initial(rules, initial)
    batch = batch_of(cascade, evidence, targets)
    judge = Judge(metric, validation, cascade)
    shared = resolve_groups(groups, list(batch.targets))
    constants = fixed_parameters(fixed, cascade, list(batch.targets))
    steps = checked_candidates(candidates)
    problem = SearchProblem(cascade, batch, shared, steps, judge, constants)
    with progress_bar("searching tolerances" if progress else "") as bar:
        return _climb(problem, float(min_improvement), stagnation, bar)


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
        reliable = {name: one.n_reliable for name, one in result.sets.items()}
        evaluations.append(problem.judged(result.cascade, tolerances, reliable))
        metric = cast(float, evaluations[-1].metric)
        highest = -inf if best is None else best[1]
        improved = improves(metric, highest, min_improvement)
        stagnant = 0 if improved else stagnant + 1
        if best is None or (improved and metric > highest):
            best = tolerances, metric, result
        if stagnant >= stagnation or min(steps) == last:
            return ToleranceSearch(*best, tuple(evaluations))
        steps = [min(step + 1, last) for step in steps]
