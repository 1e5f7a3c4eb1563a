"""Learning from samples in parts: read batch by batch, or added later.

The passes over the samples are those of `learn`; what they give of each part is merged, and the
result is that of all samples together, to the last bit.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import reduce
from typing import Any, Literal, TypeVar, cast

from pinesy._common.console import progress as progress_bar
from pinesy.exceptions import DataError, placed
from pinesy.learning.learn import SMOOTHING, Method, check_method, estimate, learn_by
from pinesy.learning.learning_arguments import (
    Rules,
    Tolerance,
    batch_of_pair,
    check_targeted,
    with_initial,
)
from pinesy.learning.learning_result import LearningResult
from pinesy.learning.parameter_estimates import ParameterEstimate
from pinesy.learning.sample_systems import Measured, SetFronts, SetTolerances, Stage
from pinesy.learning.stages import Samples, learn_from
from pinesy.rulebase.cascade import Cascade

#: Pairs ``(evidence, targets)`` as `learn` takes them, in something that can be iterated again.
Batches = Iterable[tuple[Any, Any]]
T = TypeVar("T")
#: What was learned: exactly, or by counts.
Learned = TypeVar("Learned", bound=LearningResult | ParameterEstimate)


def learn_batches(
    rules: Rules,
    batches: Batches,
    *,
    method: Literal["exact", "counts"] = "exact",
    tolerance: Tolerance = None,
    initial: Any = None,
    fixed: Any = "implications",
    smoothing: float = SMOOTHING,
    progress: bool = False,
) -> Any:
    """Learn from batches of samples, exactly as `learn` does from all of them together.

    For each stage of a cascade the batches are read twice by the exact method: once for the fronts
    and, unless these are empty, once for the distance of the stacked system. In between only the
    fronts are stored. Counting reads them once and stores counts. Gradients need the samples in
    memory: take `learn`.

    Parameters
    ----------
    batches : an iterable of pairs ``(evidence, targets)`` that can be iterated again and again,
        such as a list or a `SampleFile`; a generator cannot
    progress : show on a terminal how far the reading is
    rules, method, tolerance, initial, fixed, smoothing : as for `learn`

    Returns
    -------
    a `LearningResult`; a `ParameterEstimate` from counts

    Examples
    --------
    >>> from pinesy import Attribute, Iff, RuleSet
    >>> rain, grass = Attribute("rain", ["yes", "no"]), Attribute("grass", ["wet", "dry"])
    >>> rules = RuleSet([Iff(rain.isin({"yes"})).then(grass.isin({"wet"}))])
    >>> monday = {"rain": [[1.0, 0.0]]}, [[1.0, 0.25]]
    >>> tuesday = {"rain": [[0.0, 1.0]]}, [[0.5, 1.0]]
    >>> print(learn_batches(rules, [monday, tuesday]).rule_set)
    if rain in {yes} then grass in {wet} [s=0.5, r=0.25]
    """
    cascade = with_initial(rules, initial)
    samples = Streamed(cascade, batches, progress)
    return learn_parts(cascade, samples, method, tolerance, fixed, smoothing)


def learn_parts(
    cascade: Cascade,
    samples: Samples,
    method: Method,
    tolerance: Tolerance,
    fixed: Any,
    smoothing: float,
) -> LearningResult | ParameterEstimate:
    """Learn by a method that can merge what it takes from parts of the samples."""
    check_method(method, tolerance)
    if method == "gradient":
        raise DataError(
            "method 'gradient' needs all samples in memory; take learn, or method 'counts'"
        )
    return learn_by(method, cascade, samples, tolerance, fixed, smoothing)


class Streamed(Samples):
    """Samples that are read again for every pass; nothing of them is stored but summaries.

    Attributes
    ----------
    targeted : the attributes that have targets, in the order of inference
    total : the number of samples, known after the first pass
    """

    def __init__(self, cascade: Cascade, batches: Batches, progress: bool = False) -> None:
        self._cascade = cascade
        self._batches = batches
        self._progress = progress
        self.total: int | None = None
        if not isinstance(batches, Iterable) or iter(batches) is batches:
            raise DataError(
                "the batches must be something that can be iterated again, such as a list or a "
                "SampleFile; a generator or iterator is used up after one pass"
            )
        for pair in batches:
            self.targeted = list(batch_of_pair(cascade, "batch 0", pair).targets)
            return
        raise DataError("there are no batches to learn from")

    def begin(self, stage: Stage) -> "Streamed":
        """Note what the next passes are about."""
        self._stage = stage
        return self

    def gather(self, method: Callable[..., dict[str, T]], *given: Any) -> dict[str, T]:
        """Read all batches, and merge what a method of `Measured` gives of each."""
        what = {"summaries": "fronts", "stacked": "distances"}.get(method.__name__, "counts")
        return reduce(merged, (method(measured, *given) for measured in self._measured(what)))

    def _measured(self, what: str) -> Iterator[Measured]:
        """Yield the measures of each batch; the number of samples must be that of other passes."""
        label = f"{what} of {', '.join(self._stage.names[:3])}" if self._progress else ""
        n = 0
        with progress_bar(label, self.total) as bar:
            for number, pair in enumerate(self._batches):
                batch = batch_of_pair(self._cascade, f"batch {number}", pair)
                if batch.n == 0:
                    continue
                check_targeted(f"batch {number}", batch.targets, self.targeted)
                with placed(f"batch {number}"):
                    measured = Measured(self._stage, batch)
                yield measured
                n += batch.n
                bar.advance(batch.n)
        if n == 0:
            raise DataError(
                "the batches hold no samples; if they did at the first look, they must stay"
            )
        if self.total is not None and n != self.total:
            raise DataError(
                f"the batches held {self.total} samples when they were first read and {n} now; "
                "they must be the same every time"
            )
        self.total = n


def merged(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Return what two parts of the samples give together, for each rule set.

    Of the distances of stacked systems that is the larger one.
    """
    return {
        name: max(given, other[name]) if isinstance(given, float) else given.merge(other[name])
        for name, given in one.items()
    }


def learn_more(
    previous: Learned,
    batches: Batches,
    *,
    earlier: Batches | None = None,
    progress: bool = False,
) -> Learned:
    """Learn from further samples: the result is that of all samples together, to the last bit.

    The fronts of the new samples are merged into those of `previous`. The earlier samples must be
    read again only

    * for the fronts of a set whose premises depend on parameters that the new samples changed;
    * for the distance of a stacked system whose fronts the new samples made grow.

    Where that happens and `earlier` is not given, the error names the sets. Counts are added.

    Parameters
    ----------
    previous : what was learned before, by `learn` or `learn_batches`, or loaded from a model file
    batches : pairs ``(evidence, targets)`` of the new samples, for the same attributes
    earlier : the batches that `previous` was learned from
    """
    cascade = previous.cascade
    if getattr(previous, "method", "exact") == "gradient":
        raise DataError(
            "parameters that gradients found cannot be extended; learn again from all samples"
        )
    new = Streamed(cascade, batches, progress)
    old = None if earlier is None else Streamed(cascade, earlier, progress)
    for what, given in (("new", new), ("earlier", old)):
        if given is not None and set(given.targeted) != set(previous.sets):
            raise DataError(
                f"the {what} samples have targets for {', '.join(given.targeted)}, those that were "
                f"learned from for {', '.join(previous.sets)}; all need the same"
            )
    extended = Extended(previous, new, old)
    sets: Mapping[str, Any] = previous.sets
    fixed = {name: one.fixed for name, one in sets.items() if one.fixed is not None}
    if isinstance(previous, ParameterEstimate):
        how = previous.method, previous.smoothing
        return cast(Learned, estimate(cascade, extended, *how, fixed))
    tolerances = {name: one.tolerance for name, one in sets.items()}
    return cast(Learned, learn_from(cascade, extended, tolerances, fixed))


class Extended(Samples):
    """New samples, and the summaries of earlier ones wherever these are still valid."""

    def __init__(self, previous: Any, new: Streamed, old: Streamed | None) -> None:
        self.targeted = new.targeted
        self._previous = previous
        self._new = new
        self._old = old

    def begin(self, stage: Stage) -> "Extended":
        """Note for which sets the earlier samples' premise degrees are still the same."""
        for samples in (self._new, self._old):
            if samples is not None:
                samples.begin(stage)
        self._changed = stage.changed
        return self

    def gather(self, method: Callable[..., dict[str, T]], *given: Any) -> dict[str, T]:
        """Read the new samples, and the earlier ones for sets where that is necessary."""
        new = self._new.gather(method, *given)
        if method is Measured.stacked:
            return merged(new, self._earlier_distances(*given))
        known = "counts" if method is Measured.counts else "summary"
        before = {name: getattr(one, known) for name, one in self._previous.sets.items()}
        stale = [name for name in new if name in self._changed]
        why = "the parameters of sets that they depend on have changed"
        return merged(new, before | self._reread(stale, why, method, *given))

    def _earlier_distances(self, tolerances: SetTolerances, fronts: SetFronts) -> dict[str, float]:
        """Return the distances of the earlier samples' rows, of those sets again that grew."""
        before = {name: self._previous.sets[name] for name in fronts}
        grown = {
            name: front
            for name, front in fronts.items()
            if name in self._changed or not front.same(before[name].summary.fronts)
        }
        why = "the new samples have made their fronts grow"
        again = self._reread(grown, why, Measured.stacked, tolerances, grown)
        return {name: one.distance for name, one in before.items()} | again

    def _reread(
        self, names: Collection[str], why: str, method: Callable[..., dict[str, T]], *given: Any
    ) -> dict[str, T]:
        """Do a pass over the earlier samples, if there are sets that it must be done for."""
        if not names:
            return {}
        if self._old is None:
            raise DataError(
                f"the earlier samples must be read again for {', '.join(names)}, because {why}; "
                "give them as earlier=..."
            )
        again, before = self._old.gather(method, *given), self._previous.samples
        if self._old.total != before:
            raise DataError(
                f"the earlier batches hold {self._old.total} samples, but {before} were learned "
                "from before; give the same ones"
            )
        return {name: again[name] for name in names}
