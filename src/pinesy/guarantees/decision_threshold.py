"""The threshold of certainty above which cases are decided without review: selective prediction.

Of the calibration samples, a fifth fixes a sequence of thresholds by its certainties, without
labels: the quantiles that decide a share ``s0``, ``s0 + 5 %``, ..., all. The other four fifths test
them in this order: at each threshold, with `n` decided and `k` of them wrong, go on while the upper
confidence bound of `k` of `n` is at most the promised error. The last that passed is the threshold.

The sequence does not depend on the tested samples and, given `n`, `k` is binomial: if the first
threshold whose risk is above the promise is tested, it passes with probability at most ``1 -
confidence``. So no correction for the number of thresholds is needed (fixed-sequence testing). The
sequence begins at the share that holds twice as many samples as could pass without an error (at
most half-way from these to all): one that begins at fewer would stop at once.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, log
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy._common.reports import ReportTable, TableReport
from pinesy._common.validation import BoolArray, FloatArray, check_integer, check_number
from pinesy.exceptions import DataError, DomainError, ShapeError
from pinesy.guarantees.risk_bounds import (
    check_share,
    cost_bound,
    cost_p_value,
    decisions_needed,
    error_bound,
    error_p_value,
)

#: Of the calibration samples, one in so many fixes the sequence of thresholds.
PART = 5
#: How much more each threshold of the sequence decides.
STEP = 0.05
#: The number of samples that would be needed is found up to this factor.
GROWTH = 1.1
#: Shares of errors among fewer decisions than this say little about how many samples are needed.
FEWEST = 30
#: The promised errors of a curve.
CURVE = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2)
#: More samples than this are not counted as a cure.
MOST_SAMPLES = 10_000_000


@dataclass(frozen=True)
class TestedThreshold:
    """A threshold on the tested samples.

    Attributes
    ----------
    error : the promised share of wrong decisions; with costs, the promised mean cost
    threshold : the certainty from which samples are decided; None if no threshold passed
    samples, decided : the number of samples, and of those decided
    wrong : the number of wrong decisions; with costs, the sum of their costs
    bound : the upper confidence bound of the share of wrong decisions, or of the mean cost
    """

    error: float
    threshold: float | None
    samples: int
    decided: int
    wrong: float
    bound: float

    __test__ = False  # pytest takes the name for that of a test

    @property
    def share(self) -> float:
        """The share of samples that are decided."""
        return self.decided / self.samples


@dataclass(frozen=True, eq=False, repr=False)
class DecisionThreshold(TableReport):
    """The certainty from which cases are decided, with what is promised of these decisions.

    Attributes
    ----------
    error, confidence : of the decided cases at most a share `error` is wrong, with this confidence
        over random calibration samples; with costs, `error` is the largest mean cost
    tested : the threshold that was chosen, on the samples that tested it
    curve : the thresholds for other promised errors, each of which holds by itself
    needed : if no threshold passed, about how many calibration samples would be needed; None if no
        number helps, because no certainty has fewer errors than promised
    max_cost : the largest entry of the matrix of costs; None if errors are counted

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> certainty = rng.random(4000)
    >>> wrong = rng.random(4000) < 0.2 * (1.0 - certainty) ** 2
    >>> threshold = threshold_of(certainty, wrong, error=0.02)
    >>> threshold
    DecisionThreshold(decide from certainty 0.586: 40.8% of cases, at most 2% wrong)
    >>> threshold.decides([0.3, 0.9]).tolist()
    [False, True]
    """

    SEPARATOR = "\n\n"

    error: float
    confidence: float
    tested: TestedThreshold
    curve: tuple[TestedThreshold, ...] = ()
    needed: int | None = None
    max_cost: float | None = None

    @property
    def threshold(self) -> float | None:
        """The certainty from which cases are decided; None if none is."""
        return self.tested.threshold

    @property
    def share(self) -> float:
        """The share of the tested samples that the threshold decides."""
        return self.tested.share

    def decides(self, certainty: npt.ArrayLike) -> BoolArray:
        """Return which cases are decided, by their certainties; those of certainty 0 never are."""
        return exceeds_threshold(np.asarray(certainty, dtype=np.float64), self.threshold)

    @property
    def promise(self) -> str:
        """What is promised, as sentences."""
        tested, confidence = self.tested, f"{100 * self.confidence:g} %"
        risk = f"at most {100 * self.error:g} % are wrong"
        if self.max_cost is not None:
            risk = f"the mean cost is at most {self.error:g}"
        if self.threshold is None:
            return f"No case is decided: no threshold is sure to keep the promise. {self._cure()}"
        count = f"{tested.wrong:g} wrong" if self.max_cost is None else f"cost {tested.wrong:g}"
        return (
            f"Of the cases that are decided, {risk}, with {confidence} confidence; the others are "
            f"handed over. It rests on {tested.samples:,} tested samples: {tested.decided:,} "
            f"decided ({tested.share:.1%}), {count}. New cases must be exchangeable with these, "
            "which must not have been used in training."
        )

    def _cure(self) -> str:
        samples = f"{self.tested.samples:,} samples were tested"
        if self.needed is None:
            return (
                f"{samples}; more of them would not help, because even the most certain have more "
                "errors than promised: promise less, or improve the model."
            )
        if self.needed <= self.tested.samples:
            return (
                f"{samples}, which are often enough, but here the most certain of them had too "
                "many errors: promise less, or calibrate on more samples."
            )
        return f"{samples}; about {self.needed:,} calibration samples or more would be needed."

    # --- forms -----------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Return the threshold as plain data, for JSON; `read_threshold` reads it."""
        return {
            "error": self.error,
            "confidence": self.confidence,
            "max_cost": self.max_cost,
            "needed": self.needed,
            "tested": dict(vars(self.tested)),
            "curve": self._records(),
        }

    def _heading(self) -> str:
        return self.promise

    def _tables(self) -> list[ReportTable]:
        lines = [_cells(row, self.max_cost is None) for row in self.curve]
        names = ("error", "wrong") if self.max_cost is None else ("mean cost", "cost")
        head = [f"promised {names[0]}", "threshold", "decided", "samples", names[1], "upper bound"]
        title = f"Decided at other promises, each with {100 * self.confidence:g} % confidence"
        return [ReportTable(head, lines, title)] if lines else []

    def _records(self) -> list[dict[str, Any]]:
        return [dict(vars(row)) for row in self.curve]

    def plot(self, axes: Any = None) -> Any:
        """Draw the share decided against the promised error; return the axes (of Matplotlib)."""
        from pinesy.display.guarantee_plots import plot_decided_share

        return plot_decided_share(self, axes)

    def __repr__(self) -> str:
        risk = f"{100 * self.error:g}% wrong" if self.max_cost is None else f"cost {self.error:g}"
        if self.threshold is None:
            return f"DecisionThreshold(no case is decided: at most {risk} cannot be promised)"
        return (
            f"DecisionThreshold(decide from certainty {self.threshold:.3g}: {self.share:.1%} of "
            f"cases, at most {risk})"
        )


def _cells(row: TestedThreshold, counts_errors: bool) -> list[str]:
    promised, bound = f"{row.error:g}", f"{row.bound:.3g}"
    if counts_errors:
        promised, bound = f"{100 * row.error:g} %", f"{row.bound:.2%}"
    if row.threshold is None:
        return [promised, "none passes", "0.0%", "0", "", ""]
    decided = [f"{row.threshold:.4g}", f"{row.share:.1%}", str(row.decided), f"{row.wrong:g}"]
    return [promised, *decided, bound]


def threshold_of(
    certainty: npt.ArrayLike,
    wrong: npt.ArrayLike,
    *,
    error: float = 0.01,
    confidence: float = 0.95,
    max_cost: float | None = None,
    seed: int = 0,
) -> DecisionThreshold:
    """Return the threshold of certainty that keeps a promise on the decided cases.

    Parameters
    ----------
    certainty : of each calibration sample, at least 0; it must be fixed before: of a model that was
        neither trained nor calibrated on these samples
    wrong : whether the answer to each sample is wrong; with `max_cost`, its cost
    error, confidence : as in `DecisionThreshold`
    max_cost : the largest possible cost, if costs are bounded in place of errors
    seed : of the choice of the samples that fix the sequence of thresholds
    """
    check_share(confidence, "confidence")
    scale = 1.0 if max_cost is None else _check_costs(error, max_cost)
    check_share(error / scale, "error")
    certainties, costs = _check_samples(certainty, wrong, scale)
    order = np.random.default_rng(seed).permutation(len(costs))
    n_fixing = len(order) // PART
    fixing, testing = certainties[order[:n_fixing]], order[n_fixing:]
    test = _SequenceTest(
        fixing, certainties[testing], costs[testing] / scale, confidence, max_cost is None
    )
    promises = sorted({scale * share for share in CURVE} | {error})
    rows = {promise: test.last_passing(promise, scale) for promise in promises}
    tested = rows[error]
    needed = None if tested.threshold is not None else test.samples_needed(error / scale)
    curve = tuple(rows.values())
    return DecisionThreshold(error, confidence, tested, curve, needed, max_cost)


def _check_costs(error: float, max_cost: float) -> float:
    check_number(error, "error")
    scale = check_number(max_cost, "max_cost")
    if not 0.0 < error < scale:
        raise DomainError(
            f"error is {error:g}; with costs it is the promised mean cost, between 0 and the "
            f"largest cost {scale:g}"
        )
    return scale


def _check_samples(
    certainty: npt.ArrayLike, wrong: npt.ArrayLike, scale: float
) -> tuple[FloatArray, FloatArray]:
    """Return certainties and costs as arrays of numbers, or raise an error."""
    certainties, costs = (np.asarray(array, dtype=np.float64) for array in (certainty, wrong))
    if certainties.ndim != 1 or certainties.shape != costs.shape:
        raise ShapeError(
            f"certainty has shape {certainties.shape} and wrong {costs.shape}; give a number of "
            "each for each sample"
        )
    if not len(costs):
        raise DataError("there are no calibration samples")
    for name, array, most in (("certainty", certainties, np.inf), ("wrong", costs, scale)):
        is_bad = ~((array >= 0.0) & (array <= most))
        if is_bad.any():
            row = int(is_bad.argmax())
            limit = "" if most == np.inf else f" and at most {most:g}"
            raise DataError(f"{name}[{row}] is {array[row]}; it must be at least 0{limit}")
    return certainties, costs


def exceeds_threshold(certainty: FloatArray, threshold: float | None) -> BoolArray:
    """Return which certainties are at least the threshold, and above 0; none if it is None."""
    if threshold is None:
        return np.zeros(certainty.shape, dtype=np.bool_)
    return np.asarray((certainty >= threshold) & (certainty > 0.0))


class _SequenceTest:
    """Tests sequences of thresholds on the samples that do not fix them.

    Parameters
    ----------
    fixing : the certainties that fix the sequence
    certainties, costs : of the tested samples; costs are in [0, 1]
    """

    def __init__(
        self,
        fixing: FloatArray,
        certainties: FloatArray,
        costs: FloatArray,
        confidence: float,
        counts_errors: bool,
    ) -> None:
        order = np.argsort(-certainties, kind="stable")
        self.sorted, self.n = certainties[order], len(order)
        self.n_certain = int((certainties > 0.0).sum())
        self.cost = np.concatenate([[0.0], np.cumsum(costs[order])])
        self.fixing, self.confidence = np.sort(fixing)[::-1], confidence
        self.p_value = error_p_value if counts_errors else cost_p_value
        self.bound = error_bound if counts_errors else cost_bound

    def last_passing(self, error: float, scale: float) -> TestedThreshold:
        """Return the last threshold that passes before the first that fails."""
        thresholds, decided, costs = self.sequence(error / scale)
        passed = self.p_value(costs, decided, error / scale) <= 1.0 - self.confidence
        n_passed = len(passed) if passed.all() else int(passed.argmin())
        if not n_passed:
            return TestedThreshold(error, None, self.n, 0, 0.0, 1.0)
        last = n_passed - 1
        wrong = scale * float(costs[last])
        bound = scale * float(self.bound(costs[last], decided[last], self.confidence))
        threshold = float(thresholds[last])
        return TestedThreshold(error, threshold, self.n, int(decided[last]), wrong, bound)

    def sequence(self, error: float) -> tuple[FloatArray, npt.NDArray[np.intp], FloatArray]:
        """Return thresholds, and on the tested samples the numbers decided and their costs."""
        least = decisions_needed(error, self.confidence)
        first = min(1.0, min(2.0 * least, (least + self.n) / 2.0) / max(self.n, 1))
        shares = np.arange(first, 1.0, STEP) if len(self.fixing) else np.empty(0)
        ranks = np.ceil(shares * len(self.fixing)).astype(np.intp).clip(max=len(self.fixing)) - 1
        thresholds = np.append(self.fixing[ranks], 0.0)  # the last decides all but ties
        thresholds = np.unique(thresholds)[::-1]
        decided = np.searchsorted(-self.sorted, -thresholds, side="right")
        decided = np.minimum(decided, self.n_certain)
        return thresholds, decided, self.cost[decided]

    def samples_needed(self, error: float) -> int | None:
        """Return about how many calibration samples would let a threshold pass; None if none do.

        The observed share of errors at each threshold is taken for the true one.
        """
        _, decided, costs = self.sequence(error)
        _, more_decided, more_costs = self.sequence(1.0 - 1e-9)  # also stricter thresholds
        decided, costs = np.append(decided, more_decided), np.append(costs, more_costs)
        is_telling = decided >= min(FEWEST, self.n_certain)
        decided, costs = np.maximum(decided[is_telling], 1), costs[is_telling]
        shares, risks = decided / max(self.n, 1), costs / decided
        is_low = risks < error
        least = decisions_needed(error, self.confidence)
        n_steps = max(1, ceil(log(MOST_SAMPLES / least) / log(GROWTH)))
        sizes = np.ceil(least * GROWTH ** np.arange(n_steps))[:, None]
        wrong = np.ceil(risks[is_low] * sizes)
        p_values = self.p_value(wrong, np.broadcast_to(sizes, wrong.shape), error)
        passes = p_values <= 1.0 - self.confidence
        first = np.where(passes.any(axis=0), sizes[passes.argmax(axis=0), 0], np.inf)
        is_all = shares[is_low] == 1.0  # the sequence of more samples begins at 2 * least
        first = np.where(is_all, first, np.maximum(first, 2.0 * least))
        needed = (first / shares[is_low]).min(initial=np.inf) * PART / (PART - 1)
        if needed > MOST_SAMPLES and self.n_certain < least:  # too few to say that none helps
            needed = float(least * PART / (PART - 1))
        return ceil(needed) if needed <= MOST_SAMPLES else None


def read_threshold(content: Any) -> DecisionThreshold:
    """Return the threshold of `DecisionThreshold.to_dict`, or raise `DataError`, `KeyError`..."""
    error, confidence = content["error"], check_share(content["confidence"], "confidence")
    max_cost, needed = content["max_cost"], content["needed"]
    check_share(error / (1.0 if max_cost is None else max_cost), "error")
    if needed is not None:
        check_integer(needed, '"needed" of a threshold', 1, error=DataError)
    curve = tuple(_read_row(row) for row in _rows(content["curve"]))
    if error not in [row.error for row in curve]:
        raise DataError("the curve of a threshold lacks its promise; the file was changed")
    return DecisionThreshold(
        error, confidence, _read_row(content["tested"]), curve, needed, max_cost
    )


def _rows(rows: Any) -> Sequence[Any]:
    if not isinstance(rows, list):
        raise DataError('"curve" of a threshold must be a list')
    return rows


def _read_row(content: Any) -> TestedThreshold:
    row = TestedThreshold(**content)
    numbers = [row.error, row.samples, row.decided, row.wrong, row.bound]
    numbers += [] if row.threshold is None else [row.threshold]
    if not all(type(x) in (int, float) and np.isfinite(x) and x >= 0.0 for x in numbers):
        raise DataError("a threshold of decisions has numbers of at least 0; the file was changed")
    if row.decided > row.samples or row.samples == 0:
        raise DataError("a threshold decides more samples than there are; the file was changed")
    return row
