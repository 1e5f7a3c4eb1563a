"""Learning to read images from answers alone: nobody says what is on an image."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from pinesy._validation import FloatArray
from pinesy.cascade import Cascade
from pinesy.exceptions import DataError
from pinesy.gradients.layer import PossibilisticLayer
from pinesy.gradients.losses import answer_loss
from pinesy.gradients.transforms import antipignistic
from pinesy.nn.checkpoints import Identity
from pinesy.nn.fingerprints import data_fingerprint
from pinesy.nn.networks import preprocess
from pinesy.nn.predict import predict_proba
from pinesy.nn.recipes import Recipe
from pinesy.nn.training import History, run_training
from pinesy.targets import Target
from pinesy.transforms import antipignistic as possibilities_of

__all__ = ["Answered", "train_from_answers"]


@dataclass(frozen=True, eq=False)
class Answered:
    """Samples of images with the answers that rules should give for them.

    Attributes
    ----------
    cascade : the rules
    inputs : the attribute of each image of a sample, in their order
    images : uint8 array (n, m, 28, 28)
    answers : for attributes that rules conclude on, the right value of each sample
    """

    cascade: Cascade
    inputs: Sequence[str]
    images: npt.NDArray[np.uint8]
    answers: Mapping[str, Any]

    def __post_init__(self) -> None:
        names = sorted(a.name for a in self.cascade.inputs)
        if sorted(self.inputs) != names:
            raise DataError(
                f"inputs names {len(self.inputs)} attributes; give each of the {len(names)} inputs "
                f"of the rules once: {', '.join(names[:6])}{', ...' * (len(names) > 6)}"
            )
        if self.images.ndim != 4 or self.images.shape[1] != len(self.inputs):
            raise DataError(
                f"images has shape {self.images.shape}; it must be (n, {len(self.inputs)}, 28, 28)"
            )
        if not self.answers:
            raise DataError("there are no answers to learn from; name at least one attribute")
        for name, target in self.targets.items():
            if len(target) != len(self.images):
                raise DataError(
                    f"there are {len(self.images)} samples but {len(target)} answers for {name!r}"
                )

    @cached_property
    def targets(self) -> dict[str, Target]:
        """The answers, checked."""
        return {
            name: Target.of(values, self.cascade[name].output)
            for name, values in self.answers.items()
        }

    @cached_property
    def positions(self) -> dict[str, Tensor]:
        """The position of each answer in its domain."""
        return {n: torch.from_numpy(t.labels.astype(np.int64)) for n, t in self.targets.items()}

    @cached_property
    def layer(self) -> PossibilisticLayer:
        """The rules as a layer that infers what there are answers for."""
        return PossibilisticLayer(self.cascade, list(self.answers))

    def objective(self, network: nn.Module, pixels: Tensor, places: Tensor) -> tuple[Tensor, float]:
        """Return the `answer_loss` of a batch, and how many samples are answered right."""
        p = torch.softmax(network(pixels), dim=1)
        pi = antipignistic(p).reshape(len(places), len(self.inputs), -1).unbind(dim=1)
        outputs = self.layer(dict(zip(self.inputs, pi, strict=True)))
        wanted = {name: positions[places] for name, positions in self.positions.items()}
        right = [outputs[n].argmax(dim=1) == wanted[n].to(p.device) for n in wanted]
        return answer_loss(outputs, wanted), torch.stack(right).all(dim=0).sum().item()

    def evidence(self, probabilities: FloatArray) -> dict[str, FloatArray]:
        """Return the possibilities of the inputs, for probabilities (n * m, classes)."""
        pi = possibilities_of(probabilities).reshape(*self.images.shape[:2], -1)
        return {name: pi[:, i] for i, name in enumerate(self.inputs)}

    def score(self, network: nn.Module) -> float:
        """Return the share of samples of which every answer is right and unambiguous."""
        seen = predict_proba(network, self.images.reshape(-1, *self.images.shape[2:]))
        found = self.cascade.infer(self.evidence(seen), list(self.answers))
        right = np.ones(len(self.images), np.bool_)
        for name, target in self.targets.items():
            pi = found[name]
            right &= (pi.degrees.argmax(axis=1) == target.labels) & ~np.asarray(pi.ambiguous)
        return float(right.mean())


def train_from_answers(
    network: nn.Module,
    samples: Answered,
    recipe: Recipe,
    *,
    seed: int,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: bool = True,
) -> History:
    """Train a network in place so that the rules give the right answers.

    The network's probabilities become possibilities by the antipignistic transformation, the
    rules infer, and `answer_loss` is made small. As `pinesy.nn.train`, it is the same for the
    same seed, and goes on from a checkpoint to the same bits.

    Parameters
    ----------
    network : gives scores of the values of an input, for images (n, 1, 28, 28)
    samples : images and answers
    recipe : how; ``batch`` counts images, and a step has at least one sample
    """
    shape = samples.images.shape
    pixels = preprocess(samples.images.reshape(-1, *shape[2:])).reshape(*shape[:2], 1, *shape[2:])
    labels = [target.labels for target in samples.targets.values()]
    data = data_fingerprint(samples.images, *labels)
    identity = Identity(repr(network), recipe, seed, f"answers {data}")
    return run_training(network, pixels, samples.objective, identity, checkpoint, progress)
