"""`learn`: rule parameters from training samples in memory, by one of three methods."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal, overload

from pinesy._common.validation import is_word
from pinesy.engine.code import Code
from pinesy.engine.evidence import Evidence
from pinesy.exceptions import DataError, DegreeError
from pinesy.learning.learning_arguments import (
    Rules,
    SetParameters,
    Tolerance,
    TrainingBatch,
    batch_of,
    fixed_parameters,
    resolve,
    with_fixed,
    with_initial,
)
from pinesy.learning.learning_result import LearningResult
from pinesy.learning.parameter_estimates import ParameterEstimate, SetEstimate
from pinesy.learning.refinement import LogLoss, refine
from pinesy.learning.sample_systems import Measured, Stage
from pinesy.learning.stages import Passes, Samples, by_stages, learn_from, timed
from pinesy.rulebase.cascade import Cascade

Method = Literal["exact", "counts", "gradient"]
#: The weight of the smoothing of counts: half a sample for, half a sample against.
SMOOTHING = 1.0
#: The programs of the stages so far: the last one, and the path before it.
Path = tuple[Code, "Path"] | None
#: For each stage the programs up to it, and what was measured then.
Past = dict[int, tuple[Path, Measured]]


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
    time; ``"gradient"`` where several rules speak of the same cases and the counted parameters,
    each estimated alone, are to be fitted together (docs/noisy-data.md).

    *exact* [meth:learningincascade]: every sample sets equations for the parameters of each rule
    set. A sample whose system has Chebyshev distance ``nabla < tau`` is *reliable*
    [def:reliabletau]; it is repaired [def:reduced-es], and the lowest approximate solution of all
    the repaired systems together [eq:lowestapproxsol] gives ``s`` and ``r``. Cost: O(omega n) a
    sample and set, and what the Pareto fronts take.

    *counts*: ``r = min(1, 2 P(not q | p))``, ``s = min(1, 2 P(q | not p))``; see `rule_counts`.

    *gradient*: from the counted parameters, steps that lower the log loss of the probabilities
    that the inferred distributions stand for; see `refine`.

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
        `s` is 1, so that *if p then q* goes on to say nothing where `p` does not hold; ``"s"``,
        ``"r"``, booleans ``(n_rules, 2)``, or a mapping from groups of sets to these; None learns
        all, as the paper does with its equivalences
    smoothing : for the other methods, the weight `m` in ``(#(p, not q) + m/2) / (#p + m)``
    weights : for the other methods, the weights of the samples

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
    cascade = with_initial(rules, initial)
    check_method(method, tolerance, weights)
    samples = InMemory(batch_of(cascade, evidence, targets, weights))
    return learn_by(method, cascade, samples, tolerance, fixed, smoothing)


def check_method(method: object, tolerance: Tolerance, weights: Any = None) -> None:
    """Refuse a method that there is not, and what it does not take."""
    methods = Method.__args__  # type: ignore[attr-defined]
    if not is_word(method, methods):
        raise DataError(f"there is no method {method!r:.60} of learning; take {', '.join(methods)}")
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


class InMemory(Samples):
    """Samples in memory: premise degrees and distances stay from pass to pass.

    Parameters
    ----------
    batch : the samples
    past : where to store what was measured, by the number of the stage, for when it is learned
        again: a stage that comes after the same programs as the last time is not measured again
    """

    def __init__(self, batch: TrainingBatch, past: Past | None = None) -> None:
        self.targeted = list(batch.targets)
        self.have: Mapping[str, Any] = {}
        self._batch = batch
        self._past = past
        self._path: Path = None
        self._number = 0

    def begin(self, stage: Stage) -> Measured:
        """Compute the premise degrees of a stage."""
        past = {} if self._past is None else self._past
        path, measured = past.get(self._number, (None, None))
        # The programs contain all parameters learned so far; paths are compared as they are stored.
        if not measured or not path or path[0] is not stage.code or path[1] is not self._path:
            path = (stage.code, self._path)
            measured = Measured(stage, self._batch.extended(self.have))
            past[self._number] = path, measured
        self._path, self.have = path, measured.inferred
        self._number += 1
        return measured


def learn_by(
    method: Method, cascade: Cascade, samples: Samples, tolerance: Any, fixed: Any, smoothing: float
) -> LearningResult | ParameterEstimate:
    """Learn by a method that was checked, from samples that are in memory or not."""
    constants = fixed_parameters(fixed, cascade, samples.targeted)
    if method == "exact":
        return learn_from(cascade, samples, resolve(tolerance, samples.targeted), constants)
    return estimate(cascade, samples, method, smoothing, constants)


def estimate(
    cascade: Cascade,
    samples: Samples,
    method: Literal["counts", "gradient"],
    smoothing: float,
    fixed: SetParameters,
) -> ParameterEstimate:
    """Estimate the parameters of the sets with targets by counts, or by gradients from there."""
    if isinstance(smoothing, bool | str) or not 0.0 <= smoothing < float("inf"):
        raise DegreeError(f"the smoothing is {smoothing!r:.60}; it must be a number >= 0")
    timings: dict[str, float] = {}

    def solve(passes: Passes) -> dict[str, SetEstimate]:
        with timed(timings, "counts"):
            counts = passes.gather(Measured.counts)
        counted = {}
        for name, one in counts.items():
            x = with_fixed(one.parameters(smoothing), fixed.get(name))
            counted[name] = SetEstimate(name, x[0::2], x[1::2], one, fixed.get(name))
        if method == "counts":
            return counted
        assert isinstance(passes, Measured)  # gradients need the samples in memory
        with timed(timings, "gradient"):
            return {name: _refined(one, passes) for name, one in counted.items()}

    learned, results = by_stages(cascade, samples, solve, timings, fixed)
    n = max((one.counts.samples for one in results.values()), default=0)
    return ParameterEstimate(learned, results, n, timings, method, smoothing)


def _refined(one: SetEstimate, measured: Measured) -> SetEstimate:
    """Return the parameters of a set after gradient steps."""
    loss = LogLoss.of(*measured.samples(one.name))
    x, losses = refine(loss, one.parameters, one.fixed)
    return replace(one, s=x[0::2], r=x[1::2], losses=losses)
