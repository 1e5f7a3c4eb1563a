"""`learn`: rule parameters from training samples, by one of three methods.

`learn_exact` is the paper's method [meth:learningincascade], a stage at a time: premise degrees, a
first pass over the samples (distances, reliable samples, repair, fronts), a second pass (the
distance of the stacked system), its lowest solution. The passes are the same for samples in memory,
in batches and on a cluster. ``tests/oracles.py`` has the whole method in fractions, in seventy
lines.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from time import perf_counter
from typing import Any, Literal, overload

from pinesy._common.validation import FloatArray, is_word
from pinesy.evidence.evidence_form import Evidence
from pinesy.exceptions import DataError, DegreeError, LearningError
from pinesy.learning.learning_arguments import (
    Rules,
    SetParameters,
    Tolerance,
    batch_of,
    fixed_parameters,
    initial_cascade,
    set_fixed,
    tolerances_by_set,
)
from pinesy.learning.learning_result import LearningResult, SetResult
from pinesy.learning.parameter_estimates import ParameterEstimate, RuleCounts, SetEstimate
from pinesy.learning.refinement import LogLoss, refine
from pinesy.learning.sample_passes import BatchPasses, MemorySamples, Samples, SetTolerances
from pinesy.learning.stages import NO_PARAMETERS, CascadeStages
from pinesy.rulebase.cascade import Cascade

Method = Literal["exact", "counts", "gradient"]
#: Additive smoothing of counts: half a sample for a rule, half a sample against it.
SMOOTHING = 1.0


@overload
def learn(
    rules: Rules,
    evidence: Evidence,
    targets: Any,
    *,
    method: Literal["exact"] = "exact",
    tolerance: Tolerance = None,
    initial: Any = None,
    fixed: Any = "implications",
) -> LearningResult: ...
@overload
def learn(
    rules: Rules,
    evidence: Evidence,
    targets: Any,
    *,
    method: Literal["counts", "gradient"],
    initial: Any = None,
    fixed: Any = "implications",
    smoothing: float = SMOOTHING,
    weights: Any = None,
) -> ParameterEstimate: ...
def learn(
    rules: Rules,
    evidence: Evidence,
    targets: Any,
    *,
    method: Method = "exact",
    tolerance: Tolerance = None,
    initial: Any = None,
    fixed: Any = "implications",
    smoothing: float = SMOOTHING,
    weights: Any = None,
) -> Any:
    """Learn rule parameters from training samples.

    Which method? ``"exact"`` for rules that must hold and for finding the samples that break
    them; ``"counts"`` for noisy data, such as a table whose labels the rules predict most of the
    time; ``"gradient"`` where several rules apply to the same samples, so that parameters are to be
    fitted jointly, not each by its own counts (docs/noisy-data.md).

    *exact* [meth:learningincascade]: every sample sets equations for the parameters of each rule
    set. A sample whose system has Chebyshev distance ``nabla < tau`` is *reliable*
    [def:reliabletau]; it is repaired [def:reduced-es], and the lowest approximate solution of all
    the repaired systems together [eq:lowestapproxsol] gives ``s`` and ``r``. Cost: O(omega n) a
    sample and set, and the cost of the Pareto fronts.

    *counts*: ``r = min(1, 2 P(not q | p))``, ``s = min(1, 2 P(q | not p))``; see `rule_counts`.

    *gradient*: gradient descent, from the parameters of *counts*, on the log loss of the
    probabilities that the inferred distributions stand for; see `refine`.

    Sets are learned in the order of inference.

    Parameters
    ----------
    rules : a rule set or a cascade
    evidence : the distributions of the inputs, as `Cascade.infer` takes them (one array holds the
        columns of all of `Cascade.inputs`)
    targets : for a cascade a mapping from output attributes (or their names) to targets; sets
        without one keep their parameters. For a rule set, the targets of its output. Targets are
        one value a sample, or degrees of shape ``(n_samples, |D_b|)``; see `Target.of`.
    tolerance : for the exact method, ``tau``: one number; a mapping from groups of sets (a name, a
        pattern such as ``"c_*"``, or a tuple of these) to numbers; or None, which keeps every
        sample
    initial : the parameters to begin with, as `with_parameters` takes them: those of the sets that
        have no target, and those that are fixed
    fixed : parameters that keep their values: by default ``"implications"``, the `s` of rules whose
        `s` is 1, so that *if p then q* still says nothing where `p` does not hold; ``"s"``,
        ``"r"``, booleans ``(n_rules, 2)``, or a mapping from groups of sets to these; None learns
        all, as the paper does with its equivalences
    smoothing : for counts and gradients, `m` in ``(#(p, not q) + m/2) / (#p + m)``
    weights : for counts and gradients, sample weights

    Examples
    --------
    >>> from pinesy import Attribute, Iff, RuleSet, learn
    >>> rain, grass = Attribute("rain", ["yes", "no"]), Attribute("grass", ["wet", "dry"])
    >>> rules = RuleSet([Iff(rain.isin({"yes"})).then(grass.isin({"wet"}))])
    >>> rains = {"rain": [[1.0, 0.0], [0.0, 1.0]]}
    >>> result = learn(rules, rains, [[1.0, 0.25], [0.5, 1.0]])  # dry grass after rain: 0.25
    >>> print(result.rule_set)
    if rain in {yes} then grass in {wet} [s=0.5, r=0.25]

    >>> days = {"rain": ["yes"] * 10}
    >>> wet = ["wet"] * 7 + ["dry"] * 3
    >>> estimate = learn(rules, days, wet, method="counts", smoothing=0.0)
    >>> print(estimate.rule_set)
    if rain in {yes} then grass in {wet} [certainty=0.4]
    """
    cascade = initial_cascade(rules, initial)
    samples = MemorySamples(batch_of(cascade, evidence, targets, weights))
    return learn_from_samples(cascade, samples, method, tolerance, fixed, smoothing, weights)


def learn_from_samples(
    cascade: Cascade,
    samples: Samples,
    method: Method,
    tolerance: Tolerance,
    fixed: Any,
    smoothing: float,
    weights: Any = None,
) -> LearningResult | ParameterEstimate:
    """Learn from samples in memory, in batches or on a cluster; see `learn`.

    Raise `DataError` for an unknown method, and for arguments that a method does not take.
    """
    methods = Method.__args__  # type: ignore[attr-defined]
    if not is_word(method, methods):
        raise DataError(f"unknown method {method!r:.60}; expected one of {', '.join(methods)}")
    if method != "exact" and tolerance is not None:
        raise DataError(
            f"method {method!r} keeps every sample, so it takes no tolerance; leave it out, or "
            "take method 'exact'"
        )
    if method == "exact" and weights is not None:
        raise DataError(
            "method 'exact' satisfies every sample it keeps, whatever its weight; leave the "
            "weights out, or take method 'counts' or 'gradient'"
        )
    if method == "gradient" and not isinstance(samples, MemorySamples):
        raise DataError(
            "method 'gradient' needs all samples in memory; take learn, or method 'counts'"
        )
    constants = fixed_parameters(fixed, cascade, samples.targeted)
    if method == "exact":
        tolerances = tolerances_by_set(tolerance, samples.targeted)
        return learn_exact(cascade, samples, tolerances, constants)
    return estimate(cascade, samples, method, smoothing, constants)


def learn_exact(
    cascade: Cascade,
    samples: Samples,
    tolerances: SetTolerances,
    fixed: SetParameters = NO_PARAMETERS,
) -> LearningResult:
    """Learn the lowest approximate solution of each set's stacked system [eq:stackedES].

    The stacked systems are never built: Pareto fronts and the rows of one block of samples at a
    time are enough (docs/decisions/0003-learning.md).
    """
    timings: dict[str, float] = {}
    results: dict[str, SetResult] = {}
    stages = CascadeStages(cascade, samples.targeted, fixed)
    for index in stages.members:
        with timed(timings, "premises"):
            passes = samples.passes(stages.stage(index, samples.stored))
        with timed(timings, "fronts"):
            summaries = passes.first_pass(tolerances)
        for name, summary in summaries.items():
            if summary.reliable == 0:  # [def:reliabletau]
                raise LearningError(
                    f"rule set {name!r}: none of the {summary.samples} samples is reliable for the "
                    f"tolerance {tolerances[name]:g}; the smallest distance of a sample is "
                    f"{summary.smallest:.12g}, so a tolerance above that would keep some (above 1, "
                    "all)",
                    name,
                    summary.smallest,
                )
        # Where all fronts are empty the repaired targets are min_j g: the system is consistent.
        fronts = {n: summary.fronts for n, summary in summaries.items() if len(summary.fronts.e)}
        with timed(timings, "stacked"):
            distances = passes.second_pass(tolerances, fronts) if fronts else {}
        for name, summary in summaries.items():
            distance, constants = distances.get(name, 0.0), fixed.get(name)
            x = set_fixed(summary.fronts.solution(distance), constants)  # [eq:lowestapproxsol]
            stages.set_parameters(name, x[0::2], x[1::2])
            results[name] = SetResult(
                *(name, x[0::2], x[1::2], tolerances[name], summary, distance, constants),
                *passes.sample_results(name),
            )
    n = max((result.summary.samples for result in results.values()), default=0)
    by_set = {name: results[name] for name in cascade.sets if name in results}
    return LearningResult(stages.cascade(), by_set, n, timings)


def estimate(
    cascade: Cascade,
    samples: Samples,
    method: Literal["counts", "gradient"],
    smoothing: float,
    fixed: SetParameters,
) -> ParameterEstimate:
    """Estimate the parameters of the sets with targets by counts, then by gradients if wanted."""
    if isinstance(smoothing, bool | str) or not 0.0 <= smoothing < float("inf"):
        raise DegreeError(f"the smoothing is {smoothing!r:.60}; it must be a number >= 0")
    timings: dict[str, float] = {}
    results: dict[str, SetEstimate] = {}
    stages = CascadeStages(cascade, samples.targeted, fixed)
    for index in stages.members:
        with timed(timings, "premises"):
            passes = samples.passes(stages.stage(index, samples.stored))
        with timed(timings, "counts"):
            counts = passes.count_pass()
        for name, rule_counts in counts.items():
            result = set_estimate(name, rule_counts, smoothing, fixed.get(name))
            if method == "gradient":
                assert isinstance(passes, BatchPasses)  # the samples are in memory
                with timed(timings, "gradient"):
                    loss = LogLoss(*passes.samples(name))
                    x, losses = refine(loss, result.parameters, result.fixed)
                    result = replace(result, s=x[0::2], r=x[1::2], losses=losses)
            stages.set_parameters(name, result.s, result.r)
            results[name] = result
    n = max((result.counts.samples for result in results.values()), default=0)
    by_set = {name: results[name] for name in cascade.sets if name in results}
    return ParameterEstimate(stages.cascade(), by_set, n, timings, method, smoothing)


def set_estimate(
    name: str, counts: RuleCounts, smoothing: float, fixed: FloatArray | None
) -> SetEstimate:
    """Return the estimate of a set's parameters from its counts."""
    x = set_fixed(counts.parameters(smoothing), fixed)
    return SetEstimate(name, x[0::2], x[1::2], counts, fixed)


@contextmanager
def timed(timings: dict[str, float], work: str) -> Iterator[None]:
    """Time the block, and add its seconds to the timing of this work."""
    start = perf_counter()
    yield
    timings[work] = timings.get(work, 0.0) + perf_counter() - start
