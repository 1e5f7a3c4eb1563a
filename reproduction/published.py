"""What others published: the paper's figures, and those of the methods it is compared with.

The numbers are in two tables beside this file, as they are printed: ``published_results.csv``
(accuracy, times, memory) and ``published_learning.csv`` (thresholds, parameters and reliable
samples, from the appendices).
"""

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

from reproduction.experiments import ANSWERS_ONLY, FROM_ANSWERS, LABELLED

PAPER: Final = "Baaj and Marquis 2025"
#: The paper's name of the method with each transformation.
PI_NESY: Final = {"antipignistic": "Pi-NeSy-1", "minimum-specificity": "Pi-NeSy-2"}

#: Who published each method; the figures are those of the paper's tables, where they are cited.
_CITATIONS: Final = {
    "LTN": "Badreddine et al. 2022",
    "NeuPSL": "Pryor et al. 2023",
    "DeepProbLog": "Manhaeve et al. 2021",
    "NeurASP": "Yang et al. 2023",
    "DeepStochLog": "Winters et al. 2022",
    "Embed2Sym": "Aspis et al. 2022",
    "A-NeSI": "van Krieken et al. 2024",
    "DeepSoftLog": "Maene and De Raedt 2024",
    "CNN": "a baseline",
}
#: Methods that the paper's tables do not have.
_BY_THEIR_AUTHORS: Final = {
    "DeepProofLog": "published by its authors (arXiv:2511.08581)",
    "CTSketch": "published by its authors (post of 2025-11-04 on arXiv:2503.24123)",
}
#: The paper's settings; its ablation "obtained the same results" as the normal one.
_SETTINGS: Final = {"ablation": "normal"}


@dataclass(frozen=True)
class Figure:
    """A mean and, if it is known, the standard deviation.

    Attributes
    ----------
    mean, deviation : the numbers
    rounding : half a unit of the mean's last printed digit: by so much it may be off

    Examples
    --------
    >>> Figure.parse("98.7±0.01")
    Figure(mean=98.7, deviation=0.01, rounding=0.05)
    """

    mean: float
    deviation: float | None = None
    rounding: float = 0.0

    @classmethod
    def parse(cls, text: str) -> "Figure":
        """Return the figure that is printed so."""
        mean, _, deviation = text.partition("±")
        digits, _, power = mean.partition("e")
        n_decimals = len(digits.partition(".")[2])
        rounding = float(f"0.5e{int(power or 0) - n_decimals}")
        return cls(float(mean), float(deviation) if deviation else None, rounding)


@dataclass(frozen=True)
class Result:
    """A published result of one method on one problem.

    Attributes
    ----------
    problem, size, setting, method : what it is about
    printed : the accuracy as it is printed, such as ``"99.0±0.1"`` or ``"timeout"``
    digits : the accuracy of the network on single images, in %
    learning : seconds of all learning, the network's training included
    inference : seconds of inference, for one sample
    memory, peak : average and maximum memory, in MB
    """

    problem: str
    size: int
    setting: str
    method: str
    printed: str
    digits: Figure | None = None
    learning: Figure | None = None
    inference: Figure | None = None
    memory: Figure | None = None
    peak: Figure | None = None

    @property
    def is_paper(self) -> bool:
        """Whether it is the paper's own."""
        return self.method in PI_NESY.values()

    @property
    def accuracy(self) -> Figure | None:
        """The accuracy in %, if the method came to an end."""
        return Figure.parse(self.printed) if self.printed[0].isdigit() else None

    @property
    def supervision(self) -> str:
        """What the method learned from."""
        return LABELLED if self.is_paper else ANSWERS_ONLY[self.problem]

    @property
    def runs(self) -> int | None:
        """How many runs the mean is of: 10 in all of the paper's tables."""
        return None if self.method in _BY_THEIR_AUTHORS else 10

    @property
    def source(self) -> str:
        """Where it is published; the paper's tables cite most of it."""
        return PAPER if self.is_paper else {**_CITATIONS, **_BY_THEIR_AUTHORS}[self.method]


@dataclass(frozen=True)
class Learning:
    """What the paper's appendices say about the rule sets of one group, such as ``"c_*"``.

    Attributes
    ----------
    threshold : the threshold that was found
    s, r : the learned parameters, on average
    reliable : the number of samples that were considered reliable
    """

    threshold: Figure
    s: Figure
    r: Figure
    reliable: Figure


@cache
def _rows(name: str) -> list[dict[str, str]]:
    text = files(__package__).joinpath(name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def _result(row: dict[str, str]) -> Result:
    key = row["problem"], int(row["size"]), row["setting"], row["method"]
    names = "digits", "learning", "inference", "memory", "peak"
    figures = [Figure.parse(row[name]) if row[name] else None for name in names]
    return Result(*key, row["accuracy"], *figures)


@cache
def published_results() -> tuple[Result, ...]:
    """Return every published result.

    Examples
    --------
    >>> [r.printed for r in published_results() if r.method == "DeepProofLog"]
    ['94.0', '80.8', '37.8']
    """
    return tuple(map(_result, _rows("published_results.csv")))


def published_beside(problem: str, setting: str) -> list[Result]:
    """Return what stands beside our results in a setting, the paper's own first.

    Where ours learn from answers alone, these are the others that do so too.

    Examples
    --------
    >>> {r.supervision for r in published_beside("addition", "answers")}
    {'sum only'}
    """
    alike = setting in FROM_ANSWERS.values()
    where = problem, "normal" if alike else setting
    results = [r for r in published_results() if (r.problem, r.setting) == where]
    return sorted((r for r in results if not (alike and r.is_paper)), key=lambda r: not r.is_paper)


def paper_result(problem: str, size: int, setting: str, transform: str) -> Result | None:
    """Return the paper's own result, if it has one."""
    key = problem, size, _SETTINGS.get(setting, setting), PI_NESY[transform]
    matching = (r for r in published_results() if _place(r) == key)
    return next(matching, None)


def _place(result: Result) -> tuple[str, int, str, str]:
    return result.problem, result.size, result.setting, result.method


@cache
def paper_learning(problem: str, size: int, setting: str, transform: str) -> dict[str, Learning]:
    """Return what the paper's appendices say, by group; nothing if they say nothing."""
    key = problem, str(size), setting, PI_NESY[transform]
    names = "threshold", "s", "r", "reliable"
    return {
        row["group"]: Learning(*(Figure.parse(row[name]) for name in names))
        for row in _rows("published_learning.csv")
        if (row["problem"], row["size"], row["setting"], row["method"]) == key
    }
