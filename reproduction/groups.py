"""Runs of one experiment taken together: means, deviations, shares, and the paper beside them."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import fmean, pstdev

from reproduction.published import PI_NESY, Figure, Result, paper_result
from reproduction.records import TIMED, Record

#: How many of the paper's deviations a mean may lie from the paper's.
WIDTH = 2.0


def figure(values: Sequence[float]) -> Figure:
    """Return mean and standard deviation, of the population (``ddof=0``) as in the paper.

    Of one value the deviation is unknown.

    Examples
    --------
    >>> figure([1.0, 3.0])
    Figure(mean=2.0, deviation=1.0, rounding=0.0)
    """
    return Figure(fmean(values), pstdev(values) if len(values) > 1 else None)


@dataclass(frozen=True)
class Verdict:
    """How a mean of ours lies to the paper's.

    Attributes
    ----------
    difference : ours minus the paper's
    deviations : the same, in standard deviations of the paper
    within : whether it is at most two of these
    rounded : whether it would be, if the paper's mean were not rounded as it is printed
    """

    difference: float
    deviations: float
    within: bool
    rounded: bool

    @classmethod
    def of(cls, ours: float, theirs: Figure) -> "Verdict":
        """Compare a mean with a published figure, which must have a deviation above 0."""
        deviation = theirs.deviation or 0.0
        difference = ours - theirs.mean
        # A little room, because 98.9 - 98.7 is not 0.2 in floats.
        room = WIDTH * deviation + 1e-9
        within = abs(difference) <= room
        rounded = abs(difference) <= room + theirs.rounding
        return cls(difference, difference / deviation, within, rounded)


@dataclass(frozen=True)
class Group:
    """The runs of one experiment.

    Attributes
    ----------
    records : one a run
    """

    records: tuple[Record, ...]

    @property
    def problem(self) -> str:
        """Addition or Sudoku."""
        return self.records[0].place[0]

    @property
    def size(self) -> int:
        """The number of digits k, or the side of the puzzle."""
        return self.records[0].place[1]

    @property
    def setting(self) -> str:
        """The setting."""
        return self.records[0].place[2]

    @property
    def transform(self) -> str:
        """The probability-possibility transformation."""
        return self.records[0].place[3]

    @property
    def method(self) -> str:
        """The paper's name of the method."""
        return PI_NESY[self.transform]

    @property
    def scale(self) -> str:
        """Empty, or what the trial is called."""
        return self.records[0].scale

    @property
    def supervision(self) -> str:
        """What was learned from."""
        return "; ".join(sorted({r.content["supervision"] for r in self.records}))

    def values(self, value: Callable[[Record], float | None]) -> list[float]:
        """Return a value of each run, without those that are unknown."""
        return [v for v in map(value, self.records) if v is not None]

    def mean(self, value: Callable[[Record], float | None]) -> Figure | None:
        """Return the figure of a value, or None unless all runs have it."""
        values = self.values(value)
        return figure(values) if len(values) == len(self.records) else None

    @property
    def accuracy(self) -> Figure:
        """The accuracy in %."""
        return figure([100.0 * r.content["accuracy"] for r in self.records])

    @property
    def digits(self) -> Figure | None:
        """The accuracy of the network on the test images, in %."""
        return self.mean(_digits)

    @property
    def learning(self) -> Figure:
        """Seconds of all learning, the network's training included, as the paper counts."""
        return figure([sum(r.seconds.values()) - r.seconds["inference"] for r in self.records])

    @property
    def inference_ms(self) -> Figure:
        """Milliseconds of inference, for one sample."""
        tests = [r.content["samples"]["test"] for r in self.records]
        seconds = [r.seconds["inference"] for r in self.records]
        return figure([1000.0 * s / n for s, n in zip(seconds, tests, strict=True)])

    @property
    def shares(self) -> dict[str, float]:
        """What part of the time each of `TIMED` took, all runs together."""
        sums = {part: sum(r.seconds[part] for r in self.records) for part in TIMED}
        whole = sum(sums.values())
        return {part: s / whole if whole else 0.0 for part, s in sums.items()}

    @property
    def paper(self) -> Result | None:
        """The paper's result in this setting, if there is one to compare with."""
        return None if self.scale else paper_result(*self.records[0].place)

    @property
    def verdict(self) -> Verdict | None:
        """How the accuracy lies to the paper's."""
        theirs = self.paper.accuracy if self.paper else None
        if theirs is None or not theirs.deviation:
            return None
        return Verdict.of(self.accuracy.mean, theirs)


def _digits(record: Record) -> float | None:
    found = record.content["digit_accuracy"]
    return None if found is None else 100.0 * float(found)


def grouped(records: Iterable[Record]) -> list[Group]:
    """Return sorted records as groups of the same experiment; trials are groups of their own."""
    by = groupby(records, key=lambda r: (r.scale, r.place))
    return [Group(tuple(runs)) for _, runs in by]


def symbolic_share(records: Sequence[Record]) -> float | None:
    """Return which part of the time was symbolic, each run with its network's training.

    None if no training time is known: then the share would be that of an experiment whose network
    came from elsewhere.
    """
    if not all(r.seconds["training"] > 0.0 for r in records):
        return None
    symbolic = sum(r.symbolic_seconds for r in records)
    return symbolic / sum(sum(r.seconds.values()) for r in records)


def whole_seconds(records: Sequence[Record]) -> tuple[float, float]:
    """Return the symbolic seconds of all records, and all seconds they took.

    One network serves many experiments: its training and prediction are counted once.
    """
    networks: dict[str, tuple[float, float]] = {}
    for r in records:
        key = str(r.content["network"].get("fingerprint") or r.content["network"].get("file"))
        before = networks.get(key, (0.0, 0.0))
        now = r.seconds["training"], r.seconds["prediction"]
        networks[key] = max(before[0], now[0]), max(before[1], now[1])
    symbolic = sum(r.symbolic_seconds for r in records)
    samples = sum(r.seconds["samples"] for r in records)
    return symbolic, symbolic + samples + sum(map(sum, networks.values()))
