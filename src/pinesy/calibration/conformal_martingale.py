"""An online test of whether a stream of scores is exchangeable with calibration scores."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from math import inf, lgamma, log
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy._common.caching import load_kernels
from pinesy._common.validation import FloatArray, check_integer, check_number
from pinesy.calibration.score_counts import ScoreCounts
from pinesy.exceptions import DataError, DomainError, ShapeError

KERNELS = "pinesy.calibration.martingale_kernels"
#: Parameters of the Beta distributions whose densities are bet on: p-values that are too low
#: (1/2, 1), too high, too far from the middle (1/2, 1/2) or too near to it.
SHAPES = (0.5, 0.75, 1.0, 1.5, 2.5)
#: The most points of the path that are stored; beyond, every second one is dropped, repeatedly.
MOST_POINTS = 4096


@dataclass(frozen=True, eq=False, repr=False)
class DriftStatus:
    """The state of a monitor after a batch of samples.

    Attributes
    ----------
    samples : the number of samples so far, with this batch
    p_values : for each sample of the batch, the share of all samples up to it with scores at least
        as large, with random tie-breaking: uniform while nothing changes
    log_martingale : the natural logarithm of the martingale after each sample of the batch
    alarm : the number of the sample, from 1, at which an alarm was raised; None without alarm
    """

    samples: int
    p_values: FloatArray
    log_martingale: FloatArray
    alarm: int | None

    def __repr__(self) -> str:
        text = "no alarm" if self.alarm is None else f"alarm at sample {self.alarm}"
        return f"DriftStatus({self.samples} samples, {text})"


class ConformalMartingale:
    """A test of whether new scores are exchangeable with the scores of calibration.

    Sample `i`, counted from the first calibration sample on, has the p-value
    ``p_i = (#{j <= i : S_j > S_i} + U_i #{j <= i : S_j = S_i}) / i`` with a uniform random number
    `U_i`. **If all samples are exchangeable, these are independent and uniform** (Vovk, Nouretdinov
    and Gammerman, *Testing exchangeability on-line*, 2003). For that each new sample is ranked
    among all earlier ones: p-values against a fixed calibration are not independent.

    The martingale is the capital of someone who starts with 1 and bets on densities of `p` other
    than the uniform: at fair odds it grows only by luck, and **the chance that it ever reaches 1 /
    chance is at most `chance`** (Ville, 1939). Then there is an alarm.

    The bets are densities of Beta distributions (`SHAPES`). Since nobody knows when a change comes,
    new bets begin with every sample `t`: a capital of
    ``1 / (1 + log(1 + t)) - 1 / (1 + log(2 + t))``, in equal parts for all densities.

    Cost: about ``log^2 n`` for each sample; the distinct scores are kept.

    Parameters
    ----------
    counts : the counts of the scores of calibration samples
    chance : the probability of a false alarm, ever
    seed : of the random tie-breaking

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> test = ConformalMartingale(ScoreCounts.of(rng.normal(size=500)))
    >>> test.update(rng.normal(size=2000))
    DriftStatus(2000 samples, no alarm)
    >>> test.update(rng.normal(1.0, size=100))
    DriftStatus(2100 samples, alarm at sample 2047)
    """

    def __init__(self, counts: ScoreCounts, *, chance: float = 0.01, seed: int = 0) -> None:
        if counts.is_weighted:
            raise DataError(
                "the calibration samples have weights, so new samples are expected to differ from "
                "them; monitor by a calibration without weights"
            )
        self.counts = counts
        self.chance = check_number(chance, "chance", most=1.0)
        if not self.chance:
            raise DomainError("chance is 0; an alarm that is never false is never raised")
        self.seed = check_integer(seed, "seed")
        self.samples, self.highest = 0, 0.0
        self.alarm: int | None = None
        self._parts: list[ScoreCounts] = []
        # Of each density a - 1, b - 1 and -log B(a, b).
        shapes = [pair for pair in product(SHAPES, SHAPES) if pair != (1.0, 1.0)]
        constants = [lgamma(a + b) - lgamma(a) - lgamma(b) for a, b in shapes]
        self._bets = np.column_stack([np.array(shapes) - 1.0, constants])
        self._capital = np.full(len(self._bets), -inf)
        self._stride, self._times, self._values = 1, np.zeros(1, np.int64), np.zeros(1)

    @property
    def threshold(self) -> float:
        """The logarithm of ``1 / chance``: reaching it raises an alarm."""
        return -log(self.chance)

    @property
    def path(self) -> tuple[npt.NDArray[np.int64], FloatArray]:
        """The pair of sample numbers and of the log martingale after these samples.

        Long streams have every second, fourth, eighth ... sample.
        """
        return self._times, self._values

    def update(self, scores: npt.ArrayLike) -> DriftStatus:
        """Update the test with a batch of new scores, in their order; batches may have any size."""
        values = np.asarray(scores, dtype=np.float64)
        if values.ndim != 1:
            raise ShapeError(f"scores have shape (n_samples,); got {values.shape}")
        p, out = self._p_values(values), np.empty(len(values))
        load_kernels(KERNELS).bet(p, self._bets, self.samples, self._capital, out)
        self._record(out)
        return DriftStatus(self.samples, p, out, self.alarm)

    def _p_values(self, values: FloatArray) -> FloatArray:
        """Return the p-value of each score among all earlier scores, and store the scores."""
        batch = ScoreCounts.of(values)
        above, equal = np.empty(len(values)), np.empty(len(values))
        load_kernels(KERNELS).earlier_ranks(np.searchsorted(batch.scores, values), above, equal)
        for part in (self.counts, *self._parts):
            above_part, equal_part = part.above_and_equal(values)
            above += above_part
            equal += equal_part
        before = self.counts.total + self.samples + np.arange(len(values))
        self._store(batch)
        bits = np.random.PCG64(self.seed)
        bits.advance(self.samples)  # one random number for each sample, whatever the batches
        random = np.random.Generator(bits).random(len(values))
        return np.asarray((above + random * (equal + 1.0)) / (before + 1.0))

    def _store(self, batch: ScoreCounts) -> None:
        """Add scores to the earlier ones, in parts: each is at least twice as long as the next.

        So each score is merged log n times.
        """
        self._parts += [batch] if len(batch.scores) else []
        while len(self._parts) > 1 and len(self._parts[-2].scores) < 2 * len(
            self._parts[-1].scores
        ):
            last = self._parts.pop()
            self._parts[-1] += last

    def _record(self, path: FloatArray) -> None:
        """Record the path of the martingale, and an alarm."""
        times = np.arange(self.samples + 1, self.samples + len(path) + 1)
        reached = np.flatnonzero(path >= self.threshold)
        if self.alarm is None and len(reached):
            self.alarm = int(times[reached[0]])
        self.samples += len(path)
        self.highest = max(self.highest, float(path.max(initial=0.0)))
        self._times, self._values = np.append(self._times, times), np.append(self._values, path)
        while True:
            mask = self._times % self._stride == 0
            self._times, self._values = self._times[mask], self._values[mask]
            if len(self._times) <= MOST_POINTS:
                return
            self._stride *= 2

    # --- state -----------------------------------------------------------------------------------

    @property
    def content(self) -> dict[str, Any]:
        """The state as a dict for JSON, without the counts of calibration."""
        total = ScoreCounts.of([])
        for part in self._parts:
            total += part
        return {
            "chance": self.chance,
            "seed": self.seed,
            "samples": self.samples,
            "alarm": self.alarm,
            "highest": self.highest,
            "scores": total.content,
            "capital": self._capital.tolist() if self.samples else None,
            "stride": self._stride,
            "path": self._values.tolist(),
        }

    @classmethod
    def read(cls, counts: ScoreCounts, content: Mapping[str, Any]) -> "ConformalMartingale":
        """Return the test from the `content` of its state; it continues to the same bits."""
        test = cls(counts, chance=content["chance"], seed=content["seed"])
        test.samples = check_integer(content["samples"], "samples", error=DataError)
        test.alarm, test.highest = content["alarm"], content["highest"]
        test._store(ScoreCounts.read(content["scores"]))
        if content["capital"] is not None:
            test._capital = np.array(content["capital"], dtype=np.float64)
        test._stride = content["stride"]
        test._values = np.array(content["path"], dtype=np.float64)
        test._times = np.arange(len(test._values)) * test._stride
        n_scores = sum(part.samples for part in test._parts)
        if n_scores != test.samples or test._capital.shape != (len(test._bets),):
            raise DataError("the state of the monitor does not fit together")
        return test
