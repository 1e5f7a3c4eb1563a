"""The networks of the experiments: trained once, and used by all that need them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pinesy._common.console import progress
from pinesy._common.files import delete_leftovers
from pinesy._common.validation import FloatArray
from pinesy.nets import (
    DEEPSOFTLOG,
    DeepSoftLogCNN,
    PredictionCache,
    train,
)
from reproduction.experiments import Experiment
from reproduction.scales import Images, Scale
from reproduction.store import BusyError, locked
from reproduction.tasks import Indices, Task
from reproduction.trainings import NetworkTraining, Trained, trained_from_answers, training_of

if TYPE_CHECKING:  # pinesy.nets says it better if PyTorch is not there
    from torch import nn


@dataclass(frozen=True, eq=False)
class Seen:
    """What a network makes of images.

    Attributes
    ----------
    source : the training of the network
    images : which images
    probabilities : array (len(images), classes)
    network : what a record says about the network
    training, prediction : seconds that its training took, and reading the images, whenever that
        was
    """

    source: NetworkTraining
    images: Indices
    probabilities: FloatArray
    network: dict[str, Any]
    training: float
    prediction: float

    def is_of(self, source: NetworkTraining, images: Indices) -> bool:
        """Return whether this is what a network makes of these images."""
        return self.source == source and np.array_equal(self.images, images)


class Networks:
    """Networks in a directory; several processes may share it.

    Parameters
    ----------
    directory : where the checkpoints are, and what networks make of images
    scale : how large the experiments are
    images : those of `scale`
    say : is given a line for each network that is trained
    """

    def __init__(
        self, directory: Path, scale: Scale, images: Images, say: Callable[[str], object]
    ) -> None:
        self.directory, self.scale, self.images, self.say = directory, scale, images, say
        self._cache = PredictionCache(directory / "predictions")
        self._seen: Seen | None = None
        self._candidates: dict[int, Trained] = {}
        self._best: Trained | None = None

    def see(self, experiment: Experiment, task: Task) -> Seen:
        """Return what the network of an experiment makes of its images; train it if need be.

        Raises
        ------
        BusyError
            Another process trains it, or is reading images with it.
        """
        is_chosen = experiment.setting == "deepsoftlog-cnn"
        best = self._chosen(task.trained_on) if is_chosen else None
        return self._see(best, experiment, task)

    def see_training(self, experiment: Experiment, task: Task) -> tuple[Seen, float]:
        """Return what the training of a run of DeepSoftLog's network makes of its images.

        Besides, return its share of perturbed images that are read correctly, by which one of
        several trainings is chosen.

        Raises
        ------
        BusyError
            Another process trains it, or is reading images with it.
        """
        candidate = self._candidate(experiment.run, task.trained_on)
        return self._see(candidate, experiment, task), self._score(candidate.network)

    def _see(self, best: Trained | None, experiment: Experiment, task: Task) -> Seen:
        """Return what a network makes of the images of a task: a given one, or the experiment's."""
        training = best.training if best else training_of(experiment)
        if self._seen and self._seen.is_of(training, task.seen):
            return self._seen
        # Under the lock, so that two processes do not read the same images side by side.
        with self._alone(training.name):
            if experiment.is_from_answers:
                trained = self._from_answers(training, task)
            else:
                trained = best or self._trained(training, task.trained_on)
            self._seen = self._read(trained, task.seen)
        return self._seen

    def check_free(self, experiment: Experiment) -> None:
        """Raise `BusyError` if another process is at work with the network of an experiment.

        To be asked before the samples are made, which would be in vain.
        """
        if experiment.setting != "deepsoftlog-cnn":
            with self._alone(training_of(experiment).name):
                pass

    @contextmanager
    def _alone(self, name: str) -> Iterator[None]:
        """Keep other processes away from a network in the block, or raise `BusyError`."""
        with locked(self.directory / f".{name}.lock") as mine:
            if not mine:
                raise BusyError(f"another process is at work with the network {name}")
            yield

    def _read(self, trained: Trained, images: Indices) -> Seen:
        pixels = self.images.pixels[images]
        delete_leftovers(self._cache.path(trained.network, pixels))
        with progress("reading images"):
            probabilities, seconds = self._cache.timed(trained.network, pixels)
        described = trained.described(self.scale)
        return Seen(trained.training, images, probabilities, described, trained.seconds, seconds)

    def _from_answers(self, training: NetworkTraining, task: Task) -> Trained:
        """Return a network that learned from the answers of a task."""
        say = partial(self._say_of, training)
        directory = self.directory / training.file
        delete_leftovers(directory / "*")
        return trained_from_answers(training, self.scale, task, self.images, directory, say)

    def _say_of(self, training: NetworkTraining, line: str) -> None:
        self.say(f"network {training.name}: {line}")

    def _trained(self, training: NetworkTraining, images: Indices) -> Trained:
        """Return a trained network; training goes on from its checkpoint if there is one."""
        network = training.architecture(training.classes, seed=training.seed)
        pixels, labels = self.images.pixels[images], self.images.labels[images]
        file, recipe = self.directory / training.file, training.recipe_for(self.scale)
        delete_leftovers(file)
        history = train(network, pixels, labels, recipe, seed=training.seed, checkpoint=file)
        if history.resumed < recipe.epochs:
            new = history.seconds[history.resumed :]
            progress = f"{len(new)} of {recipe.epochs} epochs"
            self._say_of(training, f"{progress} of {len(labels)} images in {sum(new):.1f} s")
        return Trained(training, network, history)

    def _chosen(self, images: Indices) -> Trained:
        """Return the best of DeepSoftLog's networks, on perturbed images for training."""
        if self._best is None:
            self._train_candidates(images)
            candidates = [self._candidates[seed] for seed in sorted(self._candidates)]
            with self._alone("deepsoftlog"):
                scores = [self._score(candidate.network) for candidate in candidates]
            best = candidates[int(np.argmax(scores))]
            others = sum(candidate.seconds for candidate in candidates) - best.seconds
            self._best = replace(best, best_of=len(candidates), others=others)
        return self._best

    def _train_candidates(self, images: Indices) -> None:
        """Train the networks to choose from; where some are busy, first the others."""
        busy = None
        for seed in range(self.scale.trainings):
            try:
                self._candidate(seed, images)
            except BusyError as error:
                busy = error
        if busy:
            raise busy

    def _candidate(self, seed: int, images: Indices) -> Trained:
        """Return one of DeepSoftLog's networks; train it if need be."""
        if seed not in self._candidates:
            training = NetworkTraining(f"deepsoftlog-{seed}", DeepSoftLogCNN, 10, DEEPSOFTLOG, seed)
            with self._alone(training.name):
                self._candidates[seed] = self._trained(training, images)
        return self._candidates[seed]

    def _score(self, network: "nn.Module") -> float:
        """Return the share of perturbed images that a network reads correctly."""
        perturbed = self.images.perturbed
        probabilities = self._cache.predict_proba(network, self.images.pixels[perturbed])
        return float((probabilities.argmax(axis=1) == self.images.labels[perturbed]).mean())
