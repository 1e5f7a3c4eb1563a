"""Networks as perceptions of neuro-symbolic models, and a cache of predictions."""

import json
import os
import time
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from pinesy._common.files import make_directory
from pinesy._common.validation import FloatArray, check_integer
from pinesy.exceptions import DataError, DomainError, PinesyError, ShapeError
from pinesy.nets.checkpoints import (
    damage_error,
    data_fingerprint,
    network_fingerprint,
    read_tensors,
    write_tensors,
)
from pinesy.nets.network_training import History, train
from pinesy.nets.networks import (
    DeepSoftLogCNN,
    PaperCNN,
    check_images,
    count_classes,
    predict_proba,
)
from pinesy.nets.recipes import Recipe

#: The only key of the metadata: the order of several keys in the file would vary.
FORMAT, WEIGHTS = "pinesy.perception/1", "file of weights"
FIELDS = ("network", "classes", "layers", "recipe", "seed", "batch", "torch")
WITHOUT_RECIPE = (
    "the network cannot be trained without a recipe; give NetworkPerception(network, recipe), such "
    "as PAPER, or if it is trained already fit(samples, targets)"
)
#: The tensor in a file of stored predictions, and the text beside it.
PREDICTIONS, SECONDS = "probabilities", "seconds"
#: Networks that can be made from their name and number of classes.
NETWORKS = {kind.__name__: kind for kind in (PaperCNN, DeepSoftLogCNN)}


class NetworkPerception:
    """A network that classifies images of digits, as a perception of a `NeuroSymbolic` model.

    Parameters
    ----------
    network : such as ``PaperCNN(10, seed=0)``, from images as `preprocess` makes them to scores
    recipe : how it is trained; not needed if it is trained already
    seed, checkpoint, progress : of training; see `train`
    batch : the number of images of a batch in prediction

    Attributes
    ----------
    history : the history of training; None before

    Examples
    --------
    >>> import numpy as np
    >>> perception = NetworkPerception(PaperCNN(4, seed=0))
    >>> perception.predict_proba(np.zeros((3, 28, 28), np.uint8)).shape
    (3, 4)
    """

    suffix = ".safetensors"

    def __init__(
        self,
        network: nn.Module,
        recipe: Recipe | None = None,
        seed: int = 0,
        checkpoint: str | os.PathLike[str] | None = None,
        *,
        batch: int = 1000,
        progress: bool = True,
    ) -> None:
        if not isinstance(network, nn.Module):
            raise DomainError(f"network is {network!r:.60}; give a torch.nn.Module")
        if not isinstance(recipe, Recipe | None):
            raise DomainError(f"recipe is {recipe!r:.60}; give a Recipe, such as PAPER")
        self.network, self.recipe, self.seed = network, recipe, seed
        self.checkpoint, self.batch, self.progress = checkpoint, batch, progress
        self.history: History | None = None

    def __repr__(self) -> str:
        return f"NetworkPerception({type(self.network).__name__})"

    def check_data(self, data: npt.NDArray[Any], classes: int, *, training: bool) -> None:
        """Raise an error if the network does not fit these images and classes, or has no recipe."""
        if training and self.recipe is None:
            raise DataError(WITHOUT_RECIPE)
        check_images(data)
        network_classes = count_classes(self.network)
        if network_classes != classes:
            raise ShapeError(
                f"{type(self.network).__name__} has {network_classes} classes, and there are "
                f"{classes} values; give one with {classes} classes"
            )

    def fit(self, data: npt.NDArray[Any], labels: npt.NDArray[Any]) -> Self:
        """Train the network, from its current weights, with images and their classes."""
        if self.recipe is None:
            raise DataError(WITHOUT_RECIPE)
        self.history = train(
            self.network,
            data,
            labels,
            self.recipe,
            seed=self.seed,
            checkpoint=self.checkpoint,
            progress=self.progress,
        )
        return self

    def predict_proba(self, data: npt.NDArray[Any]) -> FloatArray:
        """Return the probability of each class for each image."""
        return predict_proba(self.network, data, self.batch)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the weights and the metadata of their training to a safetensors file."""
        metadata = {
            "network": type(self.network).__name__,
            "classes": str(getattr(self.network, "classes", "")),
            "layers": repr(self.network),
            "recipe": "" if self.recipe is None else self.recipe.to_json(),
            "seed": str(self.seed),
            "batch": str(self.batch),
            "torch": torch.__version__,
        }
        write_tensors(Path(path), self.network.state_dict(), {FORMAT: json.dumps(metadata)})

    def restore(self, path: str | os.PathLike[str]) -> Self:
        """Load the weights of a file that was saved with the same network."""
        return self._load_weights(Path(path), *_read(Path(path)))

    def _load_weights(
        self, path: Path, metadata: Mapping[str, str], tensors: Mapping[str, Tensor]
    ) -> Self:
        _check_shapes(path, self.network, metadata, tensors)
        if metadata["layers"] != repr(self.network):
            warnings.warn(
                f"{path}: the weights fit, but the layers are printed in another way than when "
                f"they were saved (torch {metadata['torch']}, now {torch.__version__}); is it the "
                "same network?",
                stacklevel=2,
            )
        self.network.load_state_dict(tensors)
        self.network.eval()
        return self

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Return the perception in a file, if its network is one of pinesy's."""
        path = Path(path)
        metadata, tensors = _read(path)
        if metadata["network"] not in NETWORKS:
            raise DataError(
                f"{path}: the weights of a {metadata['network']:.60}, which is no network of "
                "pinesy; give perception=NetworkPerception(network), with such a network, and it "
                "takes these weights"
            )
        kind = NETWORKS[metadata["network"]]
        try:
            with torch.device("meta"):  # shapes without memory, however many classes are claimed
                shapes = kind(classes := int(metadata["classes"]))
            recipe = Recipe.from_json(metadata["recipe"]) if metadata["recipe"] else None
            seed, batch = (
                int(metadata["seed"]),
                check_integer(int(metadata["batch"]), "batch", least=1),
            )
        except (PinesyError, RecursionError, RuntimeError, TypeError, ValueError) as error:
            raise damage_error(path, WEIGHTS, error) from None
        _check_shapes(path, shapes, metadata, tensors)
        return cls(kind(classes, seed=0), recipe, seed, batch=batch)._load_weights(
            path, metadata, tensors
        )


def _check_shapes(
    path: Path, network: nn.Module, metadata: Mapping[str, str], tensors: Mapping[str, Tensor]
) -> None:
    """Raise `DataError` unless tensors are the weights of a network, by their types and shapes."""
    expected = network.state_dict()
    differ = [n for n in {**expected, **tensors} if _form(expected.get(n)) != _form(tensors.get(n))]
    if differ:
        name = differ[0]
        raise DataError(
            f"{path}: the weights of another network, {metadata['network']}: {name!r} is "
            f"{_form(tensors.get(name))} there and {_form(expected.get(name))} in this "
            f"{type(network).__name__}"
        )


def _form(tensor: Tensor | None) -> str:
    """Return the type and shape of a tensor as text."""
    if tensor is None:
        return "missing"
    return f"{str(tensor.dtype).removeprefix('torch.')} {tuple(tensor.shape)}"


def _read(path: Path) -> tuple[dict[str, str], dict[str, Tensor]]:
    """Return the metadata and the weights of a file, or raise `DataError`."""
    metadata, tensors = read_tensors(path, WEIGHTS)
    if FORMAT not in metadata:
        raise DataError(f"{path}: not the weights of a NetworkPerception ({FORMAT})")
    try:
        fields = json.loads(metadata[FORMAT])
        return {key: str(fields[key]) for key in FIELDS}, tensors
    except (KeyError, RecursionError, TypeError, ValueError) as error:
        raise damage_error(path, WEIGHTS, error) from None


class PredictionCache:
    """Predictions stored in a directory, so that a network reads the same images once.

    Parameters
    ----------
    directory : created if it does not exist

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> images = np.zeros((3, 28, 28), np.uint8)
    >>> with tempfile.TemporaryDirectory() as place:
    ...     network, cache = PaperCNN(4, seed=0), PredictionCache(place)
    ...     first, second = (cache.predict_proba(network, images) for _ in range(2))
    >>> bool((first == second).all())
    True
    """

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        self.directory = Path(directory)

    def predict_proba(
        self, network: nn.Module, images: npt.NDArray[Any], batch: int = 1000
    ) -> FloatArray:
        """Return the probabilities of `predict_proba`, from the cache if it has them.

        The file's name is a hash of the layers, the weights, the images and `batch`. A file that
        cannot be used is reported and replaced.
        """
        return self.timed(network, images, batch)[0]

    def timed(
        self, network: nn.Module, images: npt.NDArray[Any], batch: int = 1000
    ) -> tuple[FloatArray, float]:
        """Return the probabilities of `predict_proba`, and the seconds of their computation."""
        check_images(images)
        path = self.path(network, images, batch)
        if path.exists():
            try:
                return _read_predictions(path, (len(images), count_classes(network)))
            except (DataError, KeyError, ValueError) as error:
                reason = str(error).removeprefix(f"{path}: ")
                warnings.warn(f"{path}: cannot be used: {reason}; it is made anew", stacklevel=2)
        start = time.perf_counter()
        predictions = predict_proba(network, images, batch)
        seconds = time.perf_counter() - start
        try:
            tensors = {PREDICTIONS: torch.from_numpy(predictions)}
            write_tensors(make_directory(path.parent) / path.name, tensors, {SECONDS: str(seconds)})
        except DataError as error:  # they are used all the same
            warnings.warn(f"predictions are not stored: {error}", stacklevel=2)
        return predictions, seconds

    def path(self, network: nn.Module, images: npt.NDArray[Any], batch: int = 1000) -> Path:
        """Return the file of the cached predictions."""
        key = f"{network_fingerprint(network)} {data_fingerprint(images)} {batch}"
        return self.directory / f"{data_fingerprint(key)}.safetensors"


def _read_predictions(path: Path, shape: tuple[int, int]) -> tuple[FloatArray, float]:
    """Return the cached probabilities and the seconds of their computation, or raise an error."""
    metadata, tensors = read_tensors(path, "file of predictions")
    tensor = tensors[PREDICTIONS]
    if tensor.shape != shape or tensor.dtype != torch.float64:
        raise ValueError(f"its {PREDICTIONS} are {_form(tensor)}, not float64 {shape}")
    rows: FloatArray = tensor.numpy()
    if not ((rows >= 0).all() and np.allclose(rows.sum(axis=1), 1.0, rtol=0.0, atol=1e-9)):
        raise ValueError("not the probabilities of these images")
    return rows, float(metadata[SECONDS])
