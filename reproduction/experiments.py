"""The paper's experiments [sec:exp]: runs of one problem in one setting."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from pinesy._common.validation import check_integer, suggestion
from pinesy.exceptions import DomainError

#: The problems, and the sizes that the paper has: digits of a number, cells of a line.
PROBLEMS: Final[Mapping[str, tuple[int, ...]]] = {"addition": (1, 2, 4, 15, 100), "sudoku": (4, 9)}
SETTINGS: Final = (
    "normal",
    "low-data",
    "deepsoftlog-cnn",
    "ablation",
    "better-eye",
    "authors-code",
    "distinct-images",
    "answers",
    "answers-deepsoftlog-cnn",
    "answers-undistorted",
)
#: Those in which networks learn from sums or verdicts alone, by their names on the command line.
FROM_ANSWERS: Final[Mapping[str, str]] = {
    "normal": "answers",
    "deepsoftlog-cnn": "answers-deepsoftlog-cnn",
    "undistorted": "answers-undistorted",
}
#: What networks learn from: every image labelled, or the answer of each sample and nothing else.
LABELLED: Final = "every image labelled"
ANSWERS_ONLY: Final[Mapping[str, str]] = {"addition": "sum only", "sudoku": "validity only"}
#: What makes possibilities of probabilities: Pi-NeSy-1 and Pi-NeSy-2.
TRANSFORMS: Final = ("antipignistic", "minimum-specificity")


@dataclass(frozen=True)
class Experiment:
    """One run of one problem in one setting: what is done at one go, and has one record.

    Attributes
    ----------
    problem : ``"addition"`` or ``"sudoku"``
    size : the number of digits `k`, or `dim`
    setting : one of `SETTINGS`
    transform : one of `TRANSFORMS`
    run : the number of the run, from 0; it makes the split, the network and the samples

    Examples
    --------
    >>> experiment = Experiment("addition", 4, "normal", "antipignistic", 3)
    >>> experiment.path(Path("results")).as_posix()
    'results/addition-4/normal/antipignistic/run-03.json'
    """

    problem: str
    size: int
    setting: str
    transform: str
    run: int

    def __post_init__(self) -> None:
        known_values = {"problem": PROBLEMS, "setting": SETTINGS, "transform": TRANSFORMS}
        for name, known in known_values.items():
            value = getattr(self, name)
            if value not in known:
                raise DomainError(f"no {name} {value!r:.60}{suggestion(value, known)}")
        check_integer(self.size, "size", 1)
        check_integer(self.run, "run", 0)
        if self.problem == "sudoku":
            self._check_sudoku()
        elif self.setting == "distinct-images":
            raise DomainError(
                "distinct images are of Sudoku: in Addition every image is in one sum"
            )

    def _check_sudoku(self) -> None:
        if self.size not in PROBLEMS["sudoku"]:
            raise DomainError(f"a Sudoku of size {self.size}; there are those of 4 and 9")
        if self.setting == "deepsoftlog-cnn":
            raise DomainError(
                "Sudoku is not done with DeepSoftLog's network, which is trained on images that "
                "the puzzles for test are made of; take another setting"
            )

    def path(self, root: Path) -> Path:
        """Return the file of its record."""
        directory = root / f"{self.problem}-{self.size}" / self.setting / self.transform
        return directory / f"run-{self.run:02d}.json"

    @property
    def is_from_answers(self) -> bool:
        """Whether its network learns from answers alone."""
        return self.setting in FROM_ANSWERS.values()

    @property
    def supervision(self) -> str:
        """What its network learns from."""
        return ANSWERS_ONLY[self.problem] if self.is_from_answers else LABELLED

    @property
    def is_learned(self) -> bool:
        """Whether the rules' parameters are learned.

        Learning them needs the labels of images, for the attributes between images and answers.
        """
        return self.setting != "ablation" and not self.is_from_answers

    @property
    def fields(self) -> dict[str, Any]:
        """What its record begins with."""
        return asdict(self)

    def __str__(self) -> str:
        return f"{self.problem}-{self.size} {self.setting} {self.transform} run {self.run}"


def experiments_of(
    problem: str,
    sizes: Iterable[int] | None = None,
    *,
    settings: Iterable[str] = ("normal",),
    transforms: Iterable[str] = TRANSFORMS,
    runs: Iterable[int] = range(10),
) -> list[Experiment]:
    """Return the experiments on a problem: run by run, so that each network is needed once.

    Parameters
    ----------
    sizes : by default those of the paper

    Examples
    --------
    >>> for experiment in experiments_of("sudoku", [4], runs=[0]):
    ...     print(experiment)
    sudoku-4 normal antipignistic run 0
    sudoku-4 normal minimum-specificity run 0
    """
    if problem not in PROBLEMS:
        raise DomainError(f"no problem {problem!r:.60}{suggestion(problem, PROBLEMS)}")
    all_sizes = list(PROBLEMS[problem] if sizes is None else sizes)
    all_settings, changes = list(settings), list(transforms)
    experiments = (
        Experiment(problem, size, setting, transform, run)
        for run in runs
        for setting in all_settings
        for size in all_sizes
        for transform in changes
    )
    return list(dict.fromkeys(experiments))
