"""The experiments of experiments, and what cannot be one."""

from pathlib import Path
from typing import Any

import pytest

from messages import raises_saying
from pinesy.exceptions import DomainError
from reproduction import Experiment, experiments_of

EXPERIMENT = {"problem": "addition", "size": 2, "setting": "normal", "run": 0}


def experiment(**other: Any) -> Experiment:
    return Experiment(**{**EXPERIMENT, "transform": "antipignistic", **other})


def test_a_experiment_has_a_file_of_its_own() -> None:
    found = experiments_of("addition", [1, 10], settings=["normal", "ablation"], runs=[1, 10])
    paths = [p.path(Path("here")) for p in found]
    assert len(set(paths)) == len(found) == 16
    assert Path("here/addition-10/ablation/minimum-specificity/run-01.json") in paths


def test_they_come_run_by_run() -> None:
    found = experiments_of("sudoku", runs=range(3))
    assert [p.run for p in found] == [0] * 4 + [1] * 4 + [2] * 4
    assert [p.size for p in found[:4]] == [4, 4, 9, 9]


def test_the_sizes_are_those_of_the_paper() -> None:
    assert list(dict.fromkeys(p.size for p in experiments_of("addition"))) == [1, 2, 4, 15, 100]
    assert len(experiments_of("addition")) == 5 * 2 * 10


def test_what_is_asked_for_twice_is_one() -> None:
    assert len(experiments_of("addition", [1, 1], transforms=["antipignistic"] * 2, runs=[0])) == 1


def test_generators_are_gone_through_once_for_all() -> None:
    found = experiments_of(
        "addition", (k for k in (1, 2)), settings=(s for s in ["normal"]), runs=[0]
    )
    assert len(found) == 4


@pytest.mark.parametrize(
    ("other", "says"),
    [
        ({"problem": "additon"}, "no problem 'additon'; did you mean 'addition'?"),
        ({"setting": "lowdata"}, "no setting 'lowdata'; did you mean 'low-data'?"),
        ({"transform": "both"}, "no transform 'both'; known: antipignistic, minimum-specificity"),
        ({"size": 0}, "size is 0; it must be an integer, at least 1"),
        ({"size": 1.0}, "size is 1.0; it must be an integer"),
        ({"run": -1}, "run is -1; it must be an integer, at least 0"),
        ({"run": True}, "run is True"),
        ({"problem": "sudoku", "size": 5}, "a Sudoku of size 5; there are those of 4 and 9"),
        (
            {"problem": "sudoku", "size": 4, "setting": "deepsoftlog-cnn"},
            "Sudoku is not done with DeepSoftLog's network",
        ),
    ],
)
def test_what_is_no_experiment_is_refused(other: dict[str, Any], says: str) -> None:
    with raises_saying(DomainError, says):
        experiment(**other)


def test_an_unknown_problem_has_no_experiments() -> None:
    with raises_saying(DomainError, "no problem 'chess'; known: addition, sudoku"):
        experiments_of("chess")
