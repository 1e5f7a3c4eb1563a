"""Addition-k: the samples of one run."""

from functools import partial
from typing import Final

import numpy as np

from pinesy.datasets import addition_samples, addition_split
from pinesy.experiments.pieces import Piece
from pinesy.experiments.scales import Images, Scale
from pinesy.experiments.tasks import PARTS, Indices, Part, Task
from pinesy.problems import addition, addition_labels

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
    n_train = scale.addition_images(piece.setting)
    split = addition_split(
        n_train, np.random.default_rng(piece.run), size=images.n_train, n_valid=scale.n_valid
    )
    test = np.arange(images.n_train, len(images.labels))
    parts = {
        name: _part(pool, piece, images, number)
        for number, (name, pool) in enumerate(zip(PARTS, (*split, test), strict=True))
    }
    is_deepsoftlog = piece.setting == "deepsoftlog-cnn"
    return Task(
        partial(addition, k),
        {f"a_{i + 1}": i for i in range(2 * k)},
        GROUPS,
        **parts,
        trained_on=np.arange(images.n_train) if is_deepsoftlog else split[0],
        seen=np.sort(np.concatenate([*split, test])),
        judged_on=test,
    )


def _part(pool: Indices, piece: Piece, images: Images, number: int) -> Part:
    rng = np.random.default_rng([piece.run, piece.size, number])
    chosen = pool[addition_samples(images.labels[pool], piece.size, rng)]
    return Part(chosen, addition_labels(images.labels[chosen]))
