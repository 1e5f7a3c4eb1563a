"""One piece of an experiment: from its samples to its record."""

from typing import Any, Final

from pinesy.experiments.addition import addition_task
from pinesy.experiments.measuring import Stopwatch, environment, peak_memory
from pinesy.experiments.networks import Networks, Seen
from pinesy.experiments.pieces import Piece
from pinesy.experiments.reasoning import solve, warm_up
from pinesy.experiments.scales import Images, Scale
from pinesy.experiments.sudoku import sudoku_task
from pinesy.experiments.tasks import PARTS, Task

__all__ = ["SUPERVISION", "SYMBOLIC", "TIMED", "Bench"]

#: What all methods of the experiments learn from.
SUPERVISION: Final = "every image labelled"
#: The parts of a piece's time that are not the network's, and all of them.
SYMBOLIC: Final = ("transform", "thresholds", "learning", "inference")
TIMED: Final = ("training", "prediction", "samples", *SYMBOLIC)


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
        """Do a piece, and return its record.

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
        solved = solve(task, piece, seen.probabilities, len(self._images.labels), watch)
        return {
            **self._scale.marks,
            "supervision": SUPERVISION,
            "samples": {name: len(getattr(task, name)) for name in PARTS},
            "digit_accuracy": self._digit_accuracy(task, seen),
            **solved,
            "seconds": {part: watch.seconds.get(part, 0.0) for part in TIMED},
            "memory_mb": peak_memory(),
            "network": seen.network,
            "environment": environment(self._threads),
        }

    def _task(self, piece: Piece) -> Task:
        make = addition_task if piece.problem == "addition" else sudoku_task
        return make(piece, self._images, self._scale)

    def _digit_accuracy(self, task: Task, seen: Seen) -> float:
        rows = task.seen.searchsorted(task.judged_on)
        found = seen.probabilities[rows].argmax(axis=1)
        return float((found == self._images.labels[task.judged_on]).mean())
