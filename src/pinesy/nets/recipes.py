"""Recipes of training, and random augmentation of images."""

import json
import math
from dataclasses import asdict, dataclass, replace
from typing import Self

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import affine_grid, grid_sample, interpolate

from pinesy._common.validation import FloatArray, check_integer, check_known, check_number
from pinesy.exceptions import DataError, DomainError
from pinesy.nets.networks import DEVIATION, MEAN, SIDE

OPTIMIZERS = {"adadelta": torch.optim.Adadelta, "adamw": torch.optim.AdamW}
SCHEDULES = ("constant", "cosine", "one-cycle", "step")
PRECISIONS = ("bfloat16", "float32")
#: One cycle: the share of the warm-up, and the first rate as a share of the highest.
RISE, BEGINNING = 0.2, 0.04
#: Later fields: omitted from the JSON at their defaults, so that old checkpoints stay valid.
LATER: dict[str, object] = {
    "augment": 0.0,
    "augment_until": None,
    "average_from": None,
    "precision": "float32",
}
#: Bounds of the angle (radians), the scale and the two shifts (shares of the side), at strength 1.
BOUNDS = np.array([np.deg2rad(10.0), 0.1, 0.07, 0.07])
#: Displacements are drawn at KNOTS x KNOTS points, with this standard deviation in pixels.
KNOTS, DISPLACEMENT = 5, 0.9
#: The strongest augmentation.
STRONGEST = 4.0
#: A black pixel after `preprocess`.
BLACK = -MEAN / DEVIATION


@dataclass(frozen=True)
class Recipe:
    """How a network is trained; see `train`.

    Attributes
    ----------
    optimizer : ``"adadelta"`` or ``"adamw"``
    learning_rate : that of the first epoch; the highest one of one cycle
    schedule : ``"constant"``; ``"step"``, times `gamma` after each epoch; ``"cosine"``, down to
        `eta_min` in `t_max` epochs (and up again in as many); or ``"one-cycle"``, from step to
        step: up from 4 % in the first fifth of `t_max` epochs, then along a cosine down to
        `eta_min`, where it stays
    batch : the number of images of a step
    epochs : the number of passes over all images
    weight_decay : of the optimizer
    gamma, t_max, eta_min : of the schedule
    augment : the strength of random augmentation in training, from 0 (none) to 4; see
        `pinesy.nets.recipes.augment`
    augment_until : the epoch, counted from 0, from which on images are seen as they are, so that
        the network ends with images as it will read them; by default there is none
    average_from : the epoch, counted from 0, from which on the mean of the weights after each step
        is taken; it is what the network has in the end. By default there is none
    precision : ``"float32"``; or ``"bfloat16"``, mixed precision: convolutions and products of
        matrices in bfloat16, weights and their updates in float32. Where the processor computes
        in bfloat16, that takes less time. `train` only

    Examples
    --------
    >>> [round(PAPER.rate(epoch), 3) for epoch in range(4)]
    [1.0, 0.7, 0.49, 0.343]
    """

    optimizer: str
    learning_rate: float
    schedule: str
    batch: int
    epochs: int
    weight_decay: float = 0.0
    gamma: float = 1.0
    t_max: int = 1
    eta_min: float = 0.0
    augment: float = 0.0
    average_from: int | None = None
    augment_until: int | None = None
    precision: str = "float32"

    def __post_init__(self) -> None:
        for name, known in (
            ("optimizer", OPTIMIZERS),
            ("schedule", SCHEDULES),
            ("precision", PRECISIONS),
        ):
            value = getattr(self, name)
            check_known(value, known, f"no {name} {value!r:.60}", DomainError)
        for name in ("batch", "epochs", "t_max"):
            object.__setattr__(self, name, check_integer(getattr(self, name), name, least=1))
        for name in ("average_from", "augment_until"):  # epochs, counted from 0
            if (epoch := getattr(self, name)) is not None:
                object.__setattr__(self, name, check_integer(epoch, f"{name}, an epoch,"))
        for name in ("learning_rate", "gamma", "weight_decay", "eta_min"):
            check_number(getattr(self, name), name)
        for name in ("learning_rate", "gamma"):
            if getattr(self, name) == 0:
                raise DomainError(f"{name} is 0; nothing would be learned")
        check_number(self.augment, "augment", most=STRONGEST)

    def strength(self, epoch: int) -> float:
        """Return the strength of augmentation in an epoch, counted from 0."""
        is_over = self.augment_until is not None and epoch >= self.augment_until
        return 0.0 if is_over else self.augment

    def rate(self, epoch: int, progress: float = 0.0) -> float:
        """Return the learning rate in an epoch, counted from 0, after a share of its steps.

        Only ``"one-cycle"`` changes the rate within an epoch.
        """
        if self.schedule == "step":
            return self.learning_rate * self.gamma**epoch
        if self.schedule == "cosine":
            share = (1 + math.cos(math.pi * epoch / self.t_max)) / 2
            return self.eta_min + (self.learning_rate - self.eta_min) * share
        if self.schedule == "one-cycle":
            time = min((epoch + progress) / self.t_max, 1.0)
            if time < RISE:
                return self.learning_rate * (BEGINNING + (1 - BEGINNING) * time / RISE)
            share = (1 + math.cos(math.pi * (time - RISE) / (1 - RISE))) / 2
            return self.eta_min + (self.learning_rate - self.eta_min) * share
        return self.learning_rate

    def make_optimizer(self, network: nn.Module) -> torch.optim.Optimizer:
        """Return the optimizer of a network's parameters."""
        kind: type[torch.optim.Adadelta | torch.optim.AdamW] = OPTIMIZERS[self.optimizer]
        return kind(network.parameters(), lr=self.learning_rate, weight_decay=self.weight_decay)

    def with_epochs(self, epochs: int) -> Self:
        """Return the recipe with another number of epochs, over which one cycle is stretched.

        Examples
        --------
        >>> shorter = BETTER_EYE.with_epochs(BETTER_EYE.epochs // 2)
        >>> shorter.t_max == shorter.epochs
        True
        """
        if self.schedule != "one-cycle":
            return replace(self, epochs=epochs)
        start, stop = (
            None if epoch is None else epoch * epochs // self.epochs
            for epoch in (self.average_from, self.augment_until)
        )
        t_max = max(round(self.t_max * epochs / self.epochs), 1)
        return replace(self, epochs=epochs, t_max=t_max, average_from=start, augment_until=stop)

    def to_json(self) -> str:
        """Return the recipe as a JSON object."""
        fields = asdict(self)
        changed = {k: v for k, v in fields.items() if k not in LATER or v != LATER[k]}
        return json.dumps(changed, sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return the recipe that `to_json` wrote."""
        return cls(**json.loads(text))


#: The paper's network, for Addition-k and Sudoku 9x9.
PAPER = Recipe("adadelta", 1.0, "step", batch=64, epochs=20, gamma=0.7)
#: The paper's network, for Sudoku 4x4.
PAPER_SUDOKU4 = replace(PAPER, batch=32)
#: DeepSoftLog's network.
DEEPSOFTLOG = Recipe(
    "adamw", 1e-3, "cosine", batch=128, epochs=130, weight_decay=1e-4, t_max=100, eta_min=1e-5
)
#: The paper's network with a better eye, in less time than `PAPER` takes.
BETTER_EYE = Recipe(
    "adamw",
    3e-3,
    "one-cycle",
    batch=64,
    epochs=12,
    weight_decay=0.01,
    t_max=12,
    eta_min=1e-5,
    augment=1.0,
    average_from=11,
    augment_until=10,
)


def augment(pixels: Tensor, rng: np.random.Generator, strength: float = 1.0) -> Tensor:
    """Return the images with a random affine transformation and elastic deformation each.

    At strength 1 an image is rotated by up to 10 degrees, scaled by up to 10 %, moved by up to 7 %
    of its side each way, and its pixels are displaced by a smooth field: normal displacements of
    0.9 pixels on a coarse grid of 5 x 5 places, and bicubic interpolation between them. All this
    is one resampling. What comes in at the edges is black.

    Parameters
    ----------
    pixels : float32 tensor (n, 1, 28, 28), as `preprocess` makes it
    rng : the source of randomness
    strength : multiplies all bounds and displacements; 0 changes nothing

    Examples
    --------
    >>> from pinesy.nets import preprocess
    >>> pixels = preprocess(np.zeros((2, 28, 28), np.uint8))
    >>> augment(pixels, np.random.default_rng(0)).shape
    torch.Size([2, 1, 28, 28])
    """
    check_number(strength, "strength", most=STRONGEST)
    if pixels.ndim != 4 or pixels.shape[1:] != (1, SIDE, SIDE):
        raise DataError(
            f"pixels has shape {tuple(pixels.shape)}; it must be (n, 1, {SIDE}, {SIDE}), as "
            "preprocess makes it"
        )
    if strength == 0:
        return pixels
    grid = affine_grids(len(pixels), rng, strength * BOUNDS) + _displacements(
        len(pixels), rng, strength
    )
    # Outside the image grid_sample sees 0, so that black has to be 0 for it.
    moved = grid_sample(pixels - BLACK, grid.to(pixels.device), align_corners=False)
    return moved + BLACK


def affine_grids(n: int, rng: np.random.Generator, bounds: FloatArray) -> Tensor:
    """Return sampling grids (n, 28, 28, 2) of random affine transformations.

    Coordinates go from -1 to 1, to the right and down, so that the side is 2.
    """
    angle, growth, right, down = rng.uniform(-bounds[:, None], bounds[:, None], (4, n))
    cos, sin = np.cos(angle) / (1 + growth), np.sin(angle) / (1 + growth)
    x, y = 2 * right, 2 * down
    rows = [[cos, -sin, sin * y - cos * x], [sin, cos, -sin * x - cos * y]]
    maps = np.array(rows, dtype=np.float32).transpose(2, 0, 1).copy()  # from new places to old
    return affine_grid(torch.from_numpy(maps), [n, 1, SIDE, SIDE], align_corners=False)


def _displacements(n: int, rng: np.random.Generator, strength: float) -> Tensor:
    """Return smooth random displacements (n, 28, 28, 2); the side of an image is 2."""
    drawn = rng.standard_normal((n, 2, KNOTS, KNOTS), dtype=np.float32)
    knots = torch.from_numpy(drawn) * (strength * DISPLACEMENT * 2 / SIDE)
    field = interpolate(knots, size=(SIDE, SIDE), mode="bicubic", align_corners=True)
    return field.permute(0, 2, 3, 1)
