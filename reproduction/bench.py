"""One piece of an experiment: from its samples to its record."""

from typing import Any, Final

import numpy as np

from pinesy._common.validation import FloatArray
from pinesy.nets import Reading, reading
from pinesy.problems import explained_sums
from pinesy.rulebase.cascade import Cascade
from reproduction.addition import addition_task
from reproduction.measuring import Stopwatch, environment, peak_memory
from reproduction.networks import Networks, Seen
from reproduction.pieces import Piece
from reproduction.reasoning import solve, warm_up
from reproduction.records import TIMED
from reproduction.scales import Images, Scale
from reproduction.sudoku import sudoku_task
from reproduction.tasks import PARTS, Task

__all__ = ["Bench"]

#: The problem, size, transformation and run of which single samples are explained.
EXPLAINED: Final = ("addition", 2, "antipignistic", 0)


class Bench:
    """Where pieces are done.

    Parameters
    ----------
    images, scale : what the experiments are made of, and how large they are
    networks : those of `scale`
    threads : that PyTorch works with
    """

    def __init__(self, images: Images, scale: Scale, networks: Networks, threads: int) -> None:
        self._images, self._scale = images, scale
        self._networks, self._threads = networks, threads
        self._is_warm = False

    def record(self, piece: Piece) -> dict[str, Any]:
        """Do a piece, and return its record, and under ``"cases"`` explained samples, if any.

        Raises
        ------
        BusyError
            Another process is at work with the network that it needs.
        """
        self._networks.check_free(piece)
        watch = Stopwatch()
        with watch("samples"):
            task = self._task(piece)
        seen = self._networks.see(piece, task)
        if not self._is_warm:
            warm_up()
            self._is_warm = True
        watch.add("training", seen.training)
        watch.add("prediction", seen.prediction)
        read = self._reading(task, seen)
        n_images = len(self._images.labels)
        solved, cascade, inputs = solve(task, piece, seen.probabilities, n_images, watch)
        return {
            "cases": self._cases(piece, task, cascade, inputs),
            **self._scale.marks,
            "supervision": piece.supervision,
            "samples": {name: len(getattr(task, name)) for name in PARTS},
            "digit_accuracy": read.accuracy,
            "reading": str(read),
            **solved,
            "seconds": {part: watch.seconds.get(part, 0.0) for part in TIMED},
            "memory_mb": peak_memory(),
            "network": seen.network,
            "environment": environment(self._threads),
        }

    def _cases(
        self, piece: Piece, task: Task, cascade: Cascade, inputs: FloatArray
    ) -> list[dict[str, Any]]:
        """Return a right and a wrong sample, explained, of the pieces that have some."""
        which = piece.problem, piece.size, piece.transform, piece.run
        if which != EXPLAINED or piece.setting == "ablation":
            return []
        parts = np.split(inputs, len(cascade.inputs), axis=1)
        evidence = {a.name: part for a, part in zip(cascade.inputs, parts, strict=True)}
        pixels = self._images.pixels[task.test.images]
        images = {name: pixels[:, column] for name, column in task.columns.items()}
        found = explained_sums(cascade, evidence, task.test.targets, images)
        return [case.to_dict() for case in found]

    def _task(self, piece: Piece) -> Task:
        make = addition_task if piece.problem == "addition" else sudoku_task
        return make(piece, self._images, self._scale)

    def _reading(self, task: Task, seen: Seen) -> Reading:
        """Return how the network reads images for test, whose digits it never learned from."""
        rows = task.seen.searchsorted(task.judged_on)
        return reading(seen.probabilities[rows], self._images.labels[task.judged_on])
