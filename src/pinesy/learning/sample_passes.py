"""Passes over training samples: explicit, and the same in memory, in batches and on a cluster.

For each stage `Samples.passes` gives an object with three passes. `Measured` does them for one
batch; a batch of all samples is learning in memory (`InMemory`). Elsewhere what the batches give is
merged: merging is associative and commutative to the last bit.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from pinesy._common.threads import n_threads, share
from pinesy._common.validation import FloatArray
from pinesy.engine.code import Code
from pinesy.engine.program import run
from pinesy.equations.fronts import reliable_below
from pinesy.evidence.targets import Target
from pinesy.learning.learning_arguments import TrainingBatch, with_fixed
from pinesy.learning.learning_result import SampleSummary
from pinesy.learning.parameter_estimates import RuleCounts, rule_counts
from pinesy.learning.sample_systems import SampleSystems, SetFronts, SetTolerances
from pinesy.learning.stages import Stage
from pinesy.rulebase.sample_equations import EquationSystem
from pinesy.rules.partition import Partition

#: Samples a task; it bounds the scratch of building fronts.
CHUNK = 4096
#: Cells times rules times samples below which a second thread costs more than it gives.
THREAD_STEPS = 1_000_000
#: The programs of the stages so far: the last one, and the path before it.
Path = tuple[Code, "Path"] | None
#: For each stage the programs up to it, and what was measured then.
Past = dict[int, tuple[Path, "Measured"]]


class Passes(Protocol):
    """The passes over all samples of a stage."""

    def first_pass(self, tolerances: SetTolerances) -> dict[str, SampleSummary]:
        """Measure, select and repair the samples; return by set what the second pass needs."""

    def second_pass(self, tolerances: SetTolerances, fronts: SetFronts) -> dict[str, float]:
        """Return the distance of each set's stacked system."""

    def count_pass(self) -> dict[str, RuleCounts]:
        """Return how often the rules of each set hold."""

    def of_samples(self, name: str) -> tuple[FloatArray | None, FloatArray | None]:  # noqa: ARG002
        """Return the distance of each sample, and of a single sample the greatest solution."""
        return None, None  # where samples do not stay in memory


class Samples(Protocol):
    """Training samples, in memory or not, on one machine or several.

    Attributes
    ----------
    targeted : the attributes that have targets
    stored : the inferred distributions that are stored, or None if they are inferred every time
    """

    targeted: list[str]
    stored: Collection[str] | None = None

    def passes(self, stage: Stage) -> Passes:
        """Return the passes for a stage."""


def merged(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Return what two parts of the samples give together, for each rule set.

    Of the distances of stacked systems that is the larger one.
    """
    return {
        name: max(part, second[name]) if isinstance(part, float) else part.merge(second[name])
        for name, part in first.items()
    }


class Measured:
    """The passes over samples in memory: the systems of a stage for one batch, and each ``nabla``.

    Attributes
    ----------
    systems : by the name of the set
    inferred : the inferred distributions that later stages need
    fixed : the parameters that are fixed, of sets that have some
    """

    def __init__(self, stage: Stage, batch: TrainingBatch) -> None:
        out = run(stage.code, batch.rows(stage.code))
        self._stage = stage
        self.fixed = stage.fixed
        self._degrees = {name: out[stage.code.degrees[name]] for name in stage.names}
        self.systems = {
            name: SampleSystems.of(
                self._degrees[name],
                batch.targets[name],
                stage.partitions[name],
                stage.slack[name],
                stage.fixed.get(name),
            )
            for name in stage.names
        }
        inferred = {name: out[span].T for name, span in stage.code.columns.items()}
        self.inferred = {n: inferred[n] if n in inferred else batch.known[n] for n in stage.needed}
        self._batch = batch
        self._summaries: dict[tuple[str, int], SampleSummary] = {}

    @cached_property
    def nabla(self) -> dict[str, FloatArray]:
        """The distance of every sample, for each set; computed when it is first needed."""
        self.measure()
        return {name: system.nabla for name, system in self.systems.items()}

    def measure(self) -> None:
        """Compute the distances of all samples."""
        self._each(self.systems, lambda name, i, k: self.systems[name].distances(i, k))

    def first_pass(self, tolerances: SetTolerances) -> dict[str, SampleSummary]:
        """Measure, select and repair the samples; return by set what the second pass needs."""
        # Tolerances that keep as many samples keep the same ones.
        keys = {
            name: (name, int(np.count_nonzero(nabla < reliable_below(tolerances[name]))))
            for name, nabla in self.nabla.items()
        }
        parts = self._each(
            [name for name, key in keys.items() if key not in self._summaries],
            lambda name, i, k: self.systems[name].summary(i, k, tolerances[name]),
        )
        for name, (first, *others) in parts.items():
            self._summaries[keys[name]] = first.merge(*others) if others else first
        return {name: self._summaries[key] for name, key in keys.items()}

    def second_pass(self, tolerances: SetTolerances, fronts: SetFronts) -> dict[str, float]:
        """Return the distance of each set's stacked system, over the rows of these samples."""
        best = dict.fromkeys(fronts, 0.0)
        assert self.nabla.keys() >= fronts.keys()  # the rows' distances need those of samples

        def task(name: str, begin: int, end: int) -> float:
            known = best[name]
            distance = self.systems[name].stacked(begin, end, tolerances[name], fronts[name], known)
            best[name] = max(best[name], distance)  # seen late, it only costs time
            return distance

        return {name: max(distances) for name, distances in self._each(fronts, task).items()}

    def count_pass(self) -> dict[str, RuleCounts]:
        """Return how often the rules of each set hold."""
        return {name: rule_counts(*self.samples(name)) for name in self._degrees}

    def samples(self, name: str) -> tuple[FloatArray, Partition, Target, FloatArray | None]:
        """Return the premise degrees of a set, its partition, the targets and the weights."""
        batch, partition = self._batch, self._stage.partitions[name]
        return self._degrees[name], partition, batch.targets[name], batch.weights

    def of_samples(self, name: str) -> tuple[FloatArray, FloatArray | None]:
        """Return the distances of a set's samples, and the greatest solution for a single one.

        It is ``E^up`` of the repaired system [eq:twosoldef].
        """
        system, partition = self.systems[name], self._stage.partitions[name]
        if len(system.nabla) > 1:
            return system.nabla, None
        degrees, repaired = system.degrees[:, 0], system.repaired(0, 1)[:, 0]
        equations = EquationSystem(partition, degrees[0::2], degrees[1::2], repaired)
        return system.nabla, with_fixed(equations.greatest_solution, self.fixed.get(name))

    def _each(
        self, names: Sequence[str] | Mapping[str, Any], task: Callable[[str, int, int], Any]
    ) -> dict[str, list[Any]]:
        """Do a task for all chunks of the given sets, on several threads if it pays."""
        starts = range(0, self._batch.n, CHUNK)
        tasks = [(name, i, min(i + CHUNK, self._batch.n)) for name in names for i in starts]
        steps = sum(self.systems[name].steps for name in names)
        threads = min(n_threads(), len(tasks)) if steps > THREAD_STEPS else 1

        def work(queue: Iterator[tuple[str, int, int]]) -> list[tuple[str, Any]]:
            return [(name, task(name, begin, end)) for name, begin, end in queue]

        results: dict[str, list[Any]] = {name: [] for name in names}
        for part in share(work, tasks, threads):
            for name, outcome in part:
                results[name].append(outcome)
        return results


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
        self.stored: Mapping[str, Any] = {}
        self._batch = batch
        self._past = {} if past is None else past
        self._path: Path = None
        self._number = 0

    def passes(self, stage: Stage) -> Measured:
        """Compute the premise degrees of a stage."""
        path, measured = self._past.get(self._number, (None, None))
        # The programs contain all parameters learned so far; paths are compared as they are stored.
        if not measured or not path or path[0] is not stage.code or path[1] is not self._path:
            path = (stage.code, self._path)
            measured = Measured(stage, self._batch.extended(self.stored))
            self._past[self._number] = path, measured
        self._path, self.stored = path, measured.inferred
        self._number += 1
        return measured
