"""Adding samples to what was learned before, exactly as if all had been learned together."""

from collections.abc import Collection, Mapping

from pinesy.exceptions import DataError
from pinesy.learning.exact.sample_systems import Stage
from pinesy.learning.exact.stages import Samples, learn_from
from pinesy.learning.exact.streaming import Batches, Streamed
from pinesy.learning.learning_result import LearningResult, SampleSummary
from pinesy.minmax import Fronts


def learn_more(
    previous: LearningResult,
    batches: Batches,
    *,
    earlier: Batches | None = None,
    progress: bool = False,
) -> LearningResult:
    """Learn from further samples: the result is that of all samples together, to the last bit.

    The fronts of the new samples are merged into those of `previous`. The earlier samples must be
    read again only

    * for the fronts of a set whose premises depend on parameters that the new samples changed;
    * for the distance of a stacked system whose fronts the new samples made grow.

    Where that happens and `earlier` is not given, the error names the sets.

    Parameters
    ----------
    previous : what was learned before, by `learn` or `learn_batches`, or loaded from a model file
    batches : pairs ``(evidence, targets)`` of the new samples, for the same attributes
    earlier : the batches that `previous` was learned from
    """
    cascade = previous.cascade
    new = Streamed(cascade, batches, progress)
    old = None if earlier is None else Streamed(cascade, earlier, progress)
    for what, given in (("new", new), ("earlier", old)):
        if given is not None and set(given.targeted) != set(previous.sets):
            raise DataError(
                f"the {what} samples have targets for {', '.join(given.targeted)}, those that were "
                f"learned from for {', '.join(previous.sets)}; all need the same"
            )
    tolerances = {name: one.tolerance for name, one in previous.sets.items()}
    return learn_from(cascade, Extended(previous, new, old), tolerances)


class Extended(Samples):
    """New samples, and the summaries of earlier ones wherever these are still valid."""

    def __init__(self, previous: LearningResult, new: Streamed, old: Streamed | None) -> None:
        self._previous = previous.sets
        self._new = new
        self._old = old
        self._changed: frozenset[str] = frozenset()
        self._samples = previous.samples

    def begin(self, stage: Stage) -> "Extended":
        """Note for which sets the earlier samples' premise degrees are still the same."""
        for samples in (self._new, self._old):
            if samples is not None:
                samples.begin(stage)
        self._changed = stage.changed
        return self

    def summaries(self, tolerances: Mapping[str, float]) -> dict[str, SampleSummary]:
        """Merge the summaries of the new samples with those of the earlier ones."""
        found = self._new.summaries(tolerances)
        stale = [name for name in found if name in self._changed]
        again: dict[str, SampleSummary] = {}
        if stale:
            why = "the parameters of sets that they depend on have changed"
            again = self._reread(stale, why).summaries(tolerances)
            self._check_number(again[stale[0]].samples)
        return {
            name: summary.merge(again[name] if name in stale else self._previous[name].summary)
            for name, summary in found.items()
        }

    def stacked(
        self, tolerances: Mapping[str, float], fronts: Mapping[str, Fronts]
    ) -> dict[str, float]:
        """Return the larger of the distances of the new samples' rows and of the earlier ones'."""
        found = self._new.stacked(tolerances, fronts)
        before = {name: self._previous[name].summary.fronts for name in fronts}
        grown = [n for n in fronts if n in self._changed or not fronts[n].same(before[n])]
        again: dict[str, float] = {}
        if grown:
            old = self._reread(grown, "the new samples have made their fronts grow")
            again = old.stacked(tolerances, {name: fronts[name] for name in grown})
            self._check_number(old.total)
        return {
            name: max(distance, again.get(name, self._previous[name].distance))
            for name, distance in found.items()
        }

    def _reread(self, names: Collection[str], why: str) -> Streamed:
        if self._old is None:
            raise DataError(
                f"the earlier samples must be read again for {', '.join(names)}, because {why}; "
                "give them as earlier=..."
            )
        return self._old

    def _check_number(self, found: int | None) -> None:
        if found != self._samples:
            raise DataError(
                f"the earlier batches hold {found} samples, but {self._samples} were learned from "
                "before; give the same ones"
            )
