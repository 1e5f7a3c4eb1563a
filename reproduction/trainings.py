"""Which networks the experiments need, and how each of them is trained."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from pinesy.nets import (
    BETTER_EYE,
    PAPER,
    PAPER_CODE,
    PAPER_SUDOKU4,
    DeepSoftLogCNN,
    History,
    PaperCNN,
    Recipe,
    network_fingerprint,
)
from pinesy.nets.learning_from_answers import FINISH
from reproduction.pieces import Piece
from reproduction.scales import Scale

if TYPE_CHECKING:  # pinesy.nets says it better if PyTorch is not there
    from torch import nn

__all__ = ["Trained", "Training", "training_of"]

Network = PaperCNN | DeepSoftLogCNN
#: The paper's network takes some 15 times as long as DeepSoftLog's, and needs fewer epochs.
LARGE_EPOCHS: Final = 6


@dataclass(frozen=True)
class Training:
    """Which network is trained, and how.

    Attributes
    ----------
    name : its file is called so
    architecture : the network's class
    classes : the number of classes
    recipe : how it is trained
    seed : of its first weights, the order of images, and dropout; if it learns from answers, the
        number of the run, which makes the seeds of its starts
    from_answers : whether it learns from answers; then it has a directory of its own
    """

    name: str
    architecture: type[Network]
    classes: int
    recipe: Recipe
    seed: int
    from_answers: bool = False

    @property
    def file(self) -> str:
        """The name of its checkpoint, or of its directory."""
        return self.name if self.from_answers else f"{self.name}.safetensors"

    def recipe_for(self, scale: Scale) -> Recipe:
        """Return how it is trained in experiments of some size."""
        return self.recipe.with_epochs(scale.epochs) if scale.epochs else self.recipe


@dataclass(frozen=True, eq=False)
class Trained:
    """A trained network.

    Attributes
    ----------
    training : which
    network : with its weights
    history : what happened in each epoch
    best_of : of how many it is the best
    start : if it learned from answers, what a record says about how that began
    others : the seconds of the trainings that it needed besides: its starts, or those of the
        networks that it is better than
    """

    training: Training
    network: "nn.Module"
    history: History
    best_of: int = 1
    start: Mapping[str, Any] | None = None
    others: float = 0.0

    @property
    def seconds(self) -> float:
        """The time that training took, that of `others` included."""
        return self.others + sum(self.history.seconds)

    def described(self, scale: Scale) -> dict[str, Any]:
        """Return what a record says about the network."""
        return {
            "best_of": self.best_of,
            "architecture": type(self.network).__name__,
            "recipe": json.loads(self.training.recipe_for(scale).to_json()),
            "epochs": len(self.history.losses),
            "file": self.training.file,
            "fingerprint": network_fingerprint(self.network),
            **({"start": self.start} if self.start else {}),
        }


def training_of(piece: Piece) -> Training:
    """Return the training of the network that a piece is done with: one for each run.

    It serves all `k`, both transformations and the ablation; one that learns from answers serves
    one `k` only.

    Examples
    --------
    >>> training_of(Piece("addition", 4, "ablation", "antipignistic", 3)).name
    'addition-normal-3'
    >>> training_of(Piece("addition", 4, "answers", "antipignistic", 3)).name
    'addition-4-answers-3'
    """
    if piece.is_from_answers:
        return _training_from_answers(piece)
    setting = "normal" if piece.setting == "ablation" else piece.setting
    is_addition = piece.problem == "addition"
    problem, classes = ("addition", 10) if is_addition else (f"sudoku-{piece.size}", piece.size)
    name = f"{problem}-{setting}-{piece.run}"
    return Training(name, PaperCNN, classes, _recipe(problem, setting), piece.run)


def _training_from_answers(piece: Piece) -> Training:
    classes = 10 if piece.problem == "addition" else piece.size
    name = f"{piece.problem}-{piece.size}-{piece.setting}-{piece.run}"
    architecture = PaperCNN if piece.setting == "answers" else DeepSoftLogCNN
    recipe = FINISH if architecture is DeepSoftLogCNN else FINISH.with_epochs(LARGE_EPOCHS)
    return Training(name, architecture, classes, recipe, piece.run, from_answers=True)


def _recipe(problem: str, setting: str) -> Recipe:
    if setting == "better-eye":
        return BETTER_EYE
    recipe = PAPER_SUDOKU4 if problem == "sudoku-4" else PAPER
    return replace(recipe, schedule=PAPER_CODE.schedule) if setting == "authors-code" else recipe
