"""A test, sample by sample, of whether scores still come from where the first ones came from."""

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
#: Shapes of the Beta distributions whose densities are bet on: p-values that are too low (1/2, 1),
#: too high, too far from the middle (1/2, 1/2), too near to it, by little or by much.
SHAPES = (0.5, 0.75, 1.0, 1.5, 2.5)
#: Points of the path that are kept; beyond, every second one is left out, again and again.
MOST_POINTS = 4096


@dataclass(frozen=True, eq=False, repr=False)
class DriftStatus:
    """The state of a monitor after a batch of samples.

    Attributes
    ----------
    samples : how many have been seen, with this batch
    p_values : of each sample of the batch, the share of all samples up to it with scores at least
        as large, equal ones broken by lot: uniform while nothing changes
    log_martingale : the natural logarithm of the martingale after each of them
    alarm : the number of the sample, from 1 on, at which an alarm was raised; None if none was
    """

    samples: int
    p_values: FloatArray
    log_martingale: FloatArray
    alarm: int | None

    def __repr__(self) -> str:
        text = "no alarm" if self.alarm is None else f"alarm at sample {self.alarm}"
        return f"DriftStatus({self.samples} samples, {text})"


class ConformalMartingale:
    """A test of whether scores still come from where the scores of calibration came from.

    Sample `i`, counted from the first calibration sample on, has the p-value
    ``p_i = (#{j <= i : S_j > S_i} + U_i #{j <= i : S_j = S_i}) / i`` with a number `U_i` drawn by
    lot. **If all samples are exchangeable, these are independent and uniform** (Vovk, Nouretdinov
    and Gammerman, *Testing exchangeability on-line*, 2003). For that each new sample must join the
    ranks: p-values against a fixed calibration depend on each other by way of it.

    The martingale is the capital of someone who starts with 1 and bets on densities of `p` other
    than the uniform: at fair odds it grows only by luck, and **the chance that it ever reaches 1 /
    chance is at most `chance`** (Ville, 1939). Then there is an alarm.

    The bets are densities of Beta distributions (`SHAPES`), begun anew with every sample, since
    nobody knows when a change comes: what is put at stake with sample `t` is
    ``1 / (1 + log(1 + t)) - 1 / (1 + log(2 + t))``, in equal parts for all of them.

    Cost: about ``log^2 n`` for each sample; the distinct scores are kept.

    Parameters
    ----------
    counts : of the scores of calibration samples
    chance : of a false alarm, ever
    seed : of the lots

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
        self._bets = _bets()
        self._capital = np.full(len(self._bets), -inf)
        self._stride, self._times, self._values = 1, np.zeros(1, np.int64), np.zeros(1)

    @property
    def threshold(self) -> float:
        """The logarithm of ``1 / chance``: an alarm is raised where the path reaches it."""
        return -log(self.chance)

    @property
    def path(self) -> tuple[npt.NDArray[np.int64], FloatArray]:
        """Numbers of samples, and the logarithm of the martingale after them.

        Of long streams every second, fourth, eighth ... sample.
        """
        return self._times, self._values

    def update(self, scores: npt.ArrayLike) -> DriftStatus:
        """See new scores, in the order in which they came; batches may be cut anywhere."""
        values = np.asarray(scores, dtype=np.float64)
        if values.ndim != 1:
            raise ShapeError(f"scores have shape (n_samples,); got {values.shape}")
        p, out = self._p_values(values), np.empty(len(values))
        load_kernels(KERNELS).bet(p, self._bets, self.samples, self._capital, out)
        self._note(out)
        return DriftStatus(self.samples, p, out, self.alarm)

    def _p_values(self, values: FloatArray) -> FloatArray:
        """Return the p-value of each score among all that came before it; keep them."""
        batch = ScoreCounts.of(values)
        above, equal = np.empty(len(values)), np.empty(len(values))
        load_kernels(KERNELS).earlier_ranks(np.searchsorted(batch.scores, values), above, equal)
        for part in (self.counts, *self._parts):
            above_part, equal_part = part.above_and_equal(values)
            above += above_part
            equal += equal_part
        before = self.counts.total + self.samples + np.arange(len(values))
        self._keep(batch)
        return np.asarray((above + self._lots(len(values)) * (equal + 1.0)) / (before + 1.0))

    def _lots(self, n: int) -> FloatArray:
        """Return the next numbers drawn by lot: those after as many as there were samples."""
        bits = np.random.PCG64(self.seed)
        bits.advance(self.samples)
        return np.random.Generator(bits).random(n)

    def _keep(self, batch: ScoreCounts) -> None:
        """Add scores to the earlier ones, in parts: each is twice the next, or more.

        So each score is merged log n times.
        """
        self._parts += [batch] if len(batch.scores) else []
        while len(self._parts) > 1 and len(self._parts[-2].scores) < 2 * len(
            self._parts[-1].scores
        ):
            last = self._parts.pop()
            self._parts[-1] += last

    def _note(self, path: FloatArray) -> None:
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
        """The state as JSON holds it, without the counts of calibration."""
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
        """Return the test whose state this is; it goes on to the same bits."""
        test = cls(counts, chance=content["chance"], seed=content["seed"])
        test.samples = check_integer(content["samples"], "samples", error=DataError)
        test.alarm, test.highest = content["alarm"], content["highest"]
        test._keep(ScoreCounts.read(content["scores"]))
        if content["capital"] is not None:
            test._capital = np.array(content["capital"], dtype=np.float64)
        test._stride = content["stride"]
        test._values = np.array(content["path"], dtype=np.float64)
        test._times = np.arange(len(test._values)) * test._stride
        n_scores = sum(part.samples for part in test._parts)
        if n_scores != test.samples or test._capital.shape != (len(test._bets),):
            raise DataError("the state of the monitor does not fit together")
        return test


def _bets() -> FloatArray:
    """Return ``a - 1, b - 1, -log B(a, b)`` of each density."""
    shapes = [pair for pair in product(SHAPES, SHAPES) if pair != (1.0, 1.0)]
    constants = [lgamma(a + b) - lgamma(a) - lgamma(b) for a, b in shapes]
    return np.column_stack([np.array(shapes) - 1.0, constants])
