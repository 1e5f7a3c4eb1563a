"""How suspicious labels are by what the rules infer with their parameters (docs/audit.md).

The suspicion of a label is ``max_u pi*(u) - pi*(label)``: how much more possible than the label
another value is. Parameters that come from the same labels excuse them; so they are learned from
other samples, fold by fold.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from pinesy._common.console import check_stop
from pinesy._common.validation import BoolArray, FloatArray, check_integer
from pinesy.exceptions import DataError
from pinesy.learning.learning_arguments import TrainingBatch
from pinesy.rulebase.cascade import Cascade

Rows = npt.NDArray[np.intp]
#: With which parameters: those that the rules have, or learned ones.
Judged = Literal["given", "exact", "counts", "gradient"]
#: Samples that are inferred at a time.
CHUNK = 8192


@dataclass(frozen=True, eq=False)
class SetSuspicion:
    """What the rules infer for the labels of one rule set: an entry for each sample.

    Attributes
    ----------
    possibility : the possibility of the label, or of the most possible value of target 1
    highest : the largest possibility of any value
    best : the position of the first value that has it
    """

    possibility: FloatArray
    highest: FloatArray
    best: Rows

    @classmethod
    def join(cls, parts: "Sequence[SetSuspicion]") -> "SetSuspicion":
        """Return what is inferred for several batches of samples, one after the other."""
        return cls(*map(np.concatenate, zip(*(vars(one).values() for one in parts), strict=True)))

    @property
    def suspicion(self) -> FloatArray:
        """How much more possible than the label another value is."""
        return self.highest - self.possibility


@dataclass(frozen=True, eq=False)
class LabelJudges:
    """The rules with the parameters that the samples are judged with.

    Attributes
    ----------
    cascades : one for each fold
    fold : the fold of each sample: the one that its judge has not learned from
    """

    cascades: Sequence[Cascade]
    fold: Rows

    @classmethod
    def of(
        cls,
        cascade: Cascade,
        n: int,
        method: Judged,
        folds: int,
        seed: int,
        learned_from: Callable[[BoolArray], Cascade],
    ) -> "LabelJudges":
        """Return the rules as given, or learned without the samples of each fold.

        `learned_from` learns, by the method, from the samples that an array of booleans keeps.
        """
        if isinstance(method, str) and method == "given":
            return cls([cascade], np.zeros(n, dtype=np.intp))
        check_integer(folds, "the number of folds", 2)
        if folds > n:
            raise DataError(f"{folds} folds of {n} samples: give at most as many folds")
        order = np.random.default_rng(check_integer(seed, "seed")).permutation(n)
        fold = np.empty(n, dtype=np.intp)
        fold[order] = np.arange(n) % folds
        learned = []
        for k in range(folds):
            check_stop()
            learned.append(learned_from(fold != k))
        return cls(learned, fold)

    def of_sample(self, sample: int) -> Cascade:
        """Return the rules that judge a sample."""
        return self.cascades[int(self.fold[sample])]

    def suspicions(self, batch: TrainingBatch) -> dict[str, SetSuspicion]:
        """Judge all labels. Memory: three numbers a sample and set, and a chunk of results."""
        found = {
            name: SetSuspicion(np.empty(batch.n), np.empty(batch.n), np.empty(batch.n, np.intp))
            for name in batch.targets
        }
        for cascade, rows in self._chunks():
            evidence, targets = batch.part(rows)
            result = cascade.infer(evidence, outputs=list(targets))
            for name, target in targets.items():
                pi, one = result.degrees(name), found[name]
                one.possibility[rows] = np.where(target.distributions == 1.0, pi, 0.0).max(axis=1)
                one.highest[rows] = pi.max(axis=1)
                one.best[rows] = pi.argmax(axis=1)
        return found

    def _chunks(self) -> Iterator[tuple[Cascade, Rows]]:
        for k, cascade in enumerate(self.cascades):
            rows = np.flatnonzero(self.fold == k)
            for begin in range(0, len(rows), CHUNK):
                check_stop()
                yield cascade, rows[begin : begin + CHUNK]
