"""Experiments so small that they take a second: a few hundred digits, one or two epochs."""

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy import problems
from pinesy.learning import candidate_tolerances
from pinesy.problems import digits as embedded
from reproduction.mnist import Mnist
from reproduction.scales import Scale

#: As the paper's experiments, for `mnist`.
TINY = Scale(
    name="",
    embedded=False,
    n_train={"normal": 120, "low-data": 40},
    n_valid=40,
    puzzles={4: (3, 2, 2), 9: (1, 1, 1)},
    low_puzzles=1,
    trainings=2,
    n_perturbed=30,
    starts=2,
    epochs=1,
)
#: As the quick ones, for the command line.
TINY_QUICK = Scale(
    name="quick",
    embedded=True,
    n_train={"normal": 60, "low-data": 40},
    n_valid=40,
    puzzles={4: (3, 2, 2), 9: (1, 1, 1)},
    low_puzzles=1,
    trainings=2,
    n_perturbed=30,
    starts=2,
    epochs=2,
)
#: Runs the command line with `TINY_QUICK` in the place of what is quick.
SCRIPT = """
from reproduction.tests.tiny import shrink
shrink()
from reproduction.commands import main
main()
"""

Bytes = npt.NDArray[np.uint8]


@cache
def few_digits() -> tuple[Bytes, Bytes]:
    """Return every 16th of the embedded digits, some 31 of each class, in some order."""
    images, labels = embedded()
    order = np.random.default_rng(3).permutation(len(labels[::16]))
    return images[::16][order], labels[::16][order]


def few_candidates(power: float) -> npt.NDArray[np.float64]:
    """Return less than 30 thresholds: poor networks need many steps up."""
    return candidate_tolerances(6, power)


def few_mnist() -> Mnist:
    """Return them as MNIST: 250 for training, 63 for test."""
    images, labels = few_digits()
    return Mnist(images[:250], labels[:250], images[250:], labels[250:])


def shrink() -> None:
    """Let this process know no other digits than few, and be quicker than quick."""
    from reproduction import bench, commands

    modules: list[Any] = [problems, commands, bench]
    modules[0].digits = few_digits
    modules[1].QUICK = TINY_QUICK
    modules[2].candidate_tolerances = few_candidates


def timeless(record: dict[str, Any]) -> dict[str, Any]:
    """Return what must be the same whenever and however often an experiment is done."""
    return {name: value for name, value in record.items() if name not in ("seconds", "memory_mb")}
