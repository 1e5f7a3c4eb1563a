"""Addition-k: the samples of one run."""

from functools import partial
from typing import Final

import numpy as np

from pinesy.problems import addition, addition_labels, addition_samples, addition_split
from reproduction.pieces import Piece
from reproduction.scales import Images, Scale
from reproduction.tasks import PARTS, Indices, Part, Task

__all__ = ["addition_task"]

#: Tuples of digits and carries, carries, digits of the sum.
GROUPS: Final = ("c_*", "w_*", "y_*")


def addition_task(piece: Piece, images: Images, scale: Scale) -> Task:
    """Return the samples of a piece: those of its run and `k`, whatever setting or transformation.

    Parameters
    ----------
    piece : one of the problem ``"addition"``
    images : those of `scale`
    """
    k = piece.size
    pools = (*_split(piece, images, scale), images.test)
    parts = {
        name: _part(pool, piece, images, number)
        for number, (name, pool) in enumerate(zip(PARTS, pools, strict=True))
    }
    return Task(
        partial(addition, k),
        {f"a_{i + 1}": i for i in range(2 * k)},
        GROUPS,
        **parts,
        trained_on=pools[0],
        seen=np.sort(np.concatenate(pools)),
        judged_on=images.test,
    )


def _split(piece: Piece, images: Images, scale: Scale) -> tuple[Indices, Indices]:
    """Return the images for training and those for validation.

    DeepSoftLog's network learns from all images for training; validation is on perturbed ones.
    """
    if piece.setting == "deepsoftlog-cnn":
        return np.arange(images.n_train), images.perturbed
    n_train, rng = scale.addition_images(piece.setting), np.random.default_rng(piece.run)
    return addition_split(n_train, rng, size=images.n_train, n_valid=scale.n_valid)


def _part(pool: Indices, piece: Piece, images: Images, number: int) -> Part:
    rng = np.random.default_rng([piece.run, piece.size, number])
    chosen = pool[addition_samples(images.labels[pool], piece.size, rng)]
    return Part(chosen, addition_labels(images.labels[chosen]))
