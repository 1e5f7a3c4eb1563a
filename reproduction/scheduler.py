"""Experiments one by one: what is there is skipped, the rest is done and its record written."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import sleep
from typing import Any, Final

from pinesy.exceptions import DataError
from pinesy.nets.networks import using_threads
from pinesy.problems import cache_directory
from reproduction.bench import Bench
from reproduction.environment import SYMBOLIC
from reproduction.experiments import Experiment
from reproduction.fresh_puzzles import do_fresh_puzzles
from reproduction.guarantees import guarantees
from reproduction.pairings import do_pairings
from reproduction.scales import PAPER, Images, Scale
from reproduction.store import BusyError, Store
from reproduction.trained_networks import Networks

#: Seconds between two looks at what another process is doing.
PAUSE: Final = 2.0


@dataclass
class Outcome:
    """What became of the experiments that were asked for.

    Attributes
    ----------
    there : how many were done before, or by another process
    records : of the experiments that were done now
    """

    there: int
    records: list[dict[str, Any]] = field(default_factory=list)

    @property
    def symbolic_share(self) -> float:
        """The share of the symbolic parts in the time of all experiments done now.

        Each network's training counts once, though it serves several experiments.
        """
        import pandas as pd  # not at the top: experiments need it in the end only

        from reproduction.records import whole_seconds

        symbolic, total = whole_seconds(pd.DataFrame(self.records))
        return symbolic / total if total else 0.0


def reproduce(
    experiments: Sequence[Experiment],
    results: str | os.PathLike[str],
    *,
    work: str | os.PathLike[str] | None = None,
    scale: Scale = PAPER,
    threads: int | None = None,
    say: Callable[[str], object] = lambda _: None,
) -> Outcome:
    """Do the experiments that are not done yet, and keep the record of each as soon as it is done.

    It may be stopped at any moment, and by any means: what is done is kept, networks after every
    epoch, and the next call goes on from there. Several processes may share the work: none does
    what another one has done or is doing.

    Parameters
    ----------
    experiments : such as `experiments_of` gives
    results : the directory for records (of trials, a directory in it)
    work : the directory for networks and what they make of images; by default one in the cache
    scale : how large the experiments are: `PAPER`, `QUICK` or a trial
    threads : that PyTorch and the rules work with; by default all cores
    say : is given a line for each experiment and network that is done

    Raises
    ------
    DataError
        A directory cannot be written to, or a file in it is not what its name says, or was made
        with another number of trainings to choose from.
    DomainError
        An experiment is too large for the images there are.
    """
    work_directory = Path(work) if work else cache_directory() / "experiments"
    store, networks_place = Store(scale.place(Path(results))), scale.place(work_directory)
    store.check_writable()
    Store(networks_place).check_writable()
    distinct = list(dict.fromkeys(experiments))
    missing = [experiment for experiment in distinct if not store.has(experiment)]
    for experiment in distinct:
        if experiment not in missing:
            _check_choice(store, experiment, scale)
    if not missing:  # then no images are needed
        return Outcome(len(distinct))
    images = _images_for(missing, scale)
    for experiment in missing:
        scale.check(experiment, images)  # better now than after hours
    with _threads(threads) as number:
        networks = Networks(networks_place, scale, images, say)
        loop = _Loop(store, Bench(images, scale, networks, number), say)
        records = loop.do(missing)
    return Outcome(len(distinct) - len(records), records)


def do_guarantees(
    experiments: Sequence[Experiment],
    results: str | os.PathLike[str],
    *,
    splits: int,
    work: str | os.PathLike[str] | None = None,
    scale: Scale = PAPER,
    threads: int | None = None,
    say: Callable[[str], object] = lambda _: None,
) -> None:
    """Calibrate and test on random splits, and keep the record of each; see `guarantees`.

    Parameters are those of `reproduce`; the records are in a directory ``guarantees``.
    """
    with _networks(experiments, work, scale, threads, say) as networks:
        for experiment in experiments:
            scale.check(experiment, networks.images)
            guarantees(
                *(experiment, networks, networks.images, scale),
                directory=scale.place(Path(results)) / "guarantees",
                splits=splits,
                say=say,
            )


def do_all_pairings(
    experiments: Sequence[Experiment],
    results: str | os.PathLike[str],
    *,
    samples: int,
    resamples: int,
    work: str | os.PathLike[str] | None = None,
    scale: Scale = PAPER,
    threads: int | None = None,
    say: Callable[[str], object] = lambda _: None,
) -> list[dict[str, Any]]:
    """Judge runs on many pairings of the test images, and return their records; see `pairings`.

    Parameters are those of `reproduce`; the records are in a directory ``pairings``.
    """
    with _networks(experiments, work, scale, threads, say) as networks:
        return do_pairings(
            *(experiments, networks, networks.images, scale),
            directory=scale.place(Path(results)) / "pairings",
            n=samples,
            resamples=resamples,
            say=say,
        )


def do_all_fresh_puzzles(
    experiments: Sequence[Experiment],
    results: str | os.PathLike[str],
    *,
    puzzles: int,
    work: str | os.PathLike[str] | None = None,
    scale: Scale = PAPER,
    threads: int | None = None,
    say: Callable[[str], object] = lambda _: None,
) -> list[dict[str, Any]]:
    """Judge runs on puzzles of images that they never used; see `fresh_puzzles`.

    Parameters are those of `reproduce`; the records are in a directory ``fresh-puzzles``.
    """
    with _networks(experiments, work, scale, threads, say) as networks:
        return do_fresh_puzzles(
            *(experiments, networks, networks.images, scale),
            directory=scale.place(Path(results)) / "fresh-puzzles",
            n=puzzles,
            say=say,
        )


@contextmanager
def _networks(
    experiments: Sequence[Experiment],
    work: str | os.PathLike[str] | None,
    scale: Scale,
    threads: int | None,
    say: Callable[[str], object],
) -> Iterator[Networks]:
    """Give the networks of experiments, and let PyTorch and the rules work with some threads."""
    work_directory = scale.place(Path(work) if work else cache_directory() / "experiments")
    Store(work_directory).check_writable()
    with _threads(threads):
        yield Networks(work_directory, scale, _images_for(experiments, scale), say)


def _images_for(experiments: Sequence[Experiment], scale: Scale) -> Images:
    """Return the images of a scale, with perturbed ones where a training is chosen by them."""
    images = scale.images()
    if any(experiment.setting == "deepsoftlog-cnn" for experiment in experiments):
        return images.with_perturbed(scale.n_perturbed)
    return images


def _check_choice(store: Store, experiment: Experiment, scale: Scale) -> None:
    """Raise `DataError` if a record's network was chosen from more or fewer than now."""
    if experiment.setting != "deepsoftlog-cnn":
        return
    trainings = store.read(experiment)["network"].get("best_of")
    if trainings != scale.trainings:
        raise DataError(
            f"{store.path(experiment)}: made with the best of {trainings} trainings, and now it is "
            f"{scale.trainings}; go on with --trainings {trainings}, or have another directory for "
            "the records"
        )


@contextmanager
def _threads(number: int | None) -> Iterator[int]:
    """Let PyTorch and the rules work with some number of threads; give that of PyTorch."""
    before = os.environ.get("PINESY_NUM_THREADS")
    with using_threads(number) as n_used:
        if number is not None:
            os.environ["PINESY_NUM_THREADS"] = str(number)
        try:
            yield n_used
        finally:
            if before is not None:
                os.environ["PINESY_NUM_THREADS"] = before
            elif number is not None:
                del os.environ["PINESY_NUM_THREADS"]


class _Loop:
    """Goes through experiments until all are done, here or elsewhere."""

    def __init__(self, store: Store, bench: Bench, say: Callable[[str], object]) -> None:
        self._store, self._bench, self._say = store, bench, say
        self._records: list[dict[str, Any]] = []

    def do(self, experiments: Sequence[Experiment]) -> list[dict[str, Any]]:
        """Do what is not done; come back to what another process is doing, in case it dies.

        Return the records of what was done here.
        """
        waiting, is_reported = list(experiments), False
        while waiting:
            later = [experiment for experiment in waiting if not self._done(experiment)]
            if len(later) == len(waiting):
                if not is_reported:
                    self._say(
                        f"another process is at work on what is left ({len(later)} experiments)"
                    )
                is_reported = True
                sleep(PAUSE)
            waiting = later
        return self._records

    def _done(self, experiment: Experiment) -> bool:
        """Do an experiment unless it is done; return whether it is done now."""
        with self._store.lock(experiment) as mine:
            if not mine:
                return False
            # Only now is it certain that nobody finishes it between this look and what follows.
            if self._store.has(experiment):
                return True
            try:
                record = self._bench.record(experiment)
            except BusyError:
                return False
            self._store.sweep(experiment)
            # First, because whoever sees the record takes the experiment for done.
            if cases := record.pop("cases"):
                self._store.write_cases(experiment, cases, record["scale"])
            self._store.write(experiment, record)
        self._records.append(record)
        self._say(_line(experiment, record))
        return True


def _line(experiment: Experiment, record: dict[str, Any]) -> str:
    seconds = sum(record["seconds"][part] for part in SYMBOLIC)
    return (
        f"{experiment}: {100 * record['accuracy']:.2f} % of {record['samples']['test']} samples "
        f"right (digits {100 * record['digit_accuracy']:.2f} %{_misread(record)}), "
        f"rules {seconds:.2f} s"
    )


def _misread(record: dict[str, Any]) -> str:
    """Return a warning if a network takes digits for others, as it may without labels."""
    return "" if record["reading"] == "right" else f", {record['reading']}"
