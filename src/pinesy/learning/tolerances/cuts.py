"""What candidate thresholds make of the rule sets that are learned in one stage."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt

from pinesy._common.validation import FloatArray
from pinesy.learning.exact.sample_systems import Measured

Ints = npt.NDArray[np.intp]
#: For each rule set its parameters ``(s_1, r_1, s_2, ...)``.
Solutions = dict[str, FloatArray]


def counts_of(nabla: FloatArray, candidates: FloatArray) -> Ints:
    """Return how many samples are reliable for each candidate: ``nabla < tau``.

    Examples
    --------
    >>> counts_of(np.array([0.2, 0.1, 0.2]), np.array([0.1, 0.2, 0.3]))
    array([0, 1, 3])
    """
    return np.searchsorted(np.sort(nabla), candidates, side="left")


@dataclass(frozen=True, eq=False)
class Cut:
    """The sets of one group that are learned in a stage, and candidates for their threshold.

    Attributes
    ----------
    group : the place of the group
    counts : for each set, the number of its reliable samples at each candidate
    candidates : all of them
    steps : the places of the candidates that are wanted, rising
    """

    group: int
    counts: Mapping[str, Ints]
    candidates: FloatArray
    steps: Ints

    def without(self, name: str) -> "Cut":
        """Return the cut without the steps at which a set has no reliable sample."""
        return self._only(self.counts[name][self.steps] > 0)

    def failing(self, name: str) -> "Cut":
        """Return the cut with only the steps at which a set has no reliable sample."""
        return self._only(self.counts[name][self.steps] == 0)

    def _only(self, which: npt.NDArray[np.bool_]) -> "Cut":
        return Cut(self.group, self.counts, self.candidates, self.steps[which])

    @property
    def outcomes(self) -> list[Ints]:
        """The steps, those together that keep the same samples of all sets."""
        table = np.array([counts[self.steps] for counts in self.counts.values()])
        changes = (table[:, 1:] != table[:, :-1]).any(axis=0)
        return np.split(self.steps, np.flatnonzero(changes) + 1)

    def tolerances(self, step: int) -> dict[str, float]:
        """Return the tolerances of the sets at a step."""
        return dict.fromkeys(self.counts, float(self.candidates[step]))


def learn_cuts(measured: Measured, cuts: Sequence[Cut]) -> Iterator[tuple[Solutions, list[Ints]]]:
    """Learn a stage at all wanted steps of all its cuts.

    Yields
    ------
    parameters of all sets of the stage, and for each cut the steps that lead to them
    """
    for chosen in product(*_learned(measured, cuts)):
        solutions = {name: x for part, _ in chosen for name, x in part.items()}
        yield solutions, [steps for _, steps in chosen]


def _learned(measured: Measured, cuts: Sequence[Cut]) -> list[list[tuple[Solutions, Ints]]]:
    """Return for each cut the different parameters of its sets, and the steps that lead to them.

    Sets of one stage do not depend on each other: an outcome of every cut is learned at a time.
    """
    outcomes = [cut.outcomes for cut in cuts]
    learned: list[list[tuple[Solutions, Ints]]] = [[] for _ in cuts]
    for turn in range(max(map(len, outcomes))):
        chosen = [steps[min(turn, len(steps) - 1)] for steps in outcomes]
        tolerances: dict[str, float] = {}
        for cut, steps in zip(cuts, chosen, strict=True):
            tolerances |= cut.tolerances(int(steps[0]))
        found = _solutions(measured, tolerances)
        for cut, own, known in zip(cuts, outcomes, learned, strict=True):
            if turn < len(own):
                _add(known, {name: found[name] for name in cut.counts}, own[turn])
    return learned


def _add(known: list[tuple[Solutions, Ints]], solutions: Solutions, steps: Ints) -> None:
    """Add steps and the parameters they lead to, together with others that lead to the same."""
    for place, (others, before) in enumerate(known):
        if all((others[name] == x).all() for name, x in solutions.items()):
            known[place] = others, np.concatenate([before, steps])
            return
    known.append((solutions, steps))


def _solutions(measured: Measured, tolerances: Mapping[str, float]) -> Solutions:
    """Return the lowest approximate solution of each set's stacked system."""
    summaries = measured.summaries(tolerances)
    # Without fronts the solution is 0, whatever the distance.
    fronts = {name: one.fronts for name, one in summaries.items() if len(one.fronts.e)}
    distances = measured.stacked(tolerances, fronts) if fronts else {}
    return {name: one.fronts.solution(distances.get(name, 0.0)) for name, one in summaries.items()}
