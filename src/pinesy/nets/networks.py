"""The networks of the paper, predictions of networks, threads, and export to ONNX."""

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from pinesy._common.validation import FloatArray, check_integer
from pinesy.exceptions import DataError, needing

#: Mean and standard deviation of the pixels of MNIST's training images, black 0 and white 1.
MEAN, DEVIATION = 0.1307, 0.3081
SIDE = 28


class _CNN(nn.Module):
    """A sequence of layers from images (n, 1, 28, 28) to scores (n, classes)."""

    def __init__(self, classes: int = 10, *, seed: int | None = None) -> None:
        super().__init__()
        self.classes = check_integer(classes, "classes", least=2)
        with torch.random.fork_rng(devices=[], enabled=seed is not None):
            if seed is not None:
                torch.manual_seed(seed)
            self.layers = nn.Sequential(*self._layers(self.classes))
        # Convolutions on a CPU are faster with the channels innermost.
        self.to(memory_format=torch.channels_last)  # type: ignore[call-overload]

    def _layers(self, classes: int) -> list[nn.Module]:
        raise NotImplementedError

    def forward(self, images: Tensor) -> Tensor:
        """Return the scores of each class; softmax makes probabilities of them."""
        scores: Tensor = self.layers(images)
        return scores


class PaperCNN(_CNN):
    """The paper's network (table `tab:NN`): 930,298 parameters with 10 classes.

    Parameters
    ----------
    classes : 10 for Addition-k, 4 and 9 for Sudoku
    seed : of the initial weights; by default PyTorch's generator draws them

    Examples
    --------
    >>> sum(p.numel() for p in PaperCNN().parameters())
    930298
    """

    def _layers(self, classes: int) -> list[nn.Module]:
        return [
            *self._block(1, 32, kernel=5),
            *self._block(32, 64, kernel=3),
            nn.Flatten(),
            *self._dense(64 * 7 * 7, 256),
            *self._dense(256, 128),
            *self._dense(128, 84),
            nn.Dropout(0.25),
            nn.Linear(84, classes),
        ]

    @staticmethod
    def _block(channels: int, width: int, kernel: int) -> list[nn.Module]:
        return [
            nn.Conv2d(channels, width, kernel, padding="same"),
            nn.BatchNorm2d(width),
            nn.ReLU(),
            nn.Conv2d(width, width, kernel, padding="same", bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Dropout(0.25),
        ]

    @staticmethod
    def _dense(inputs: int, outputs: int) -> list[nn.Module]:
        return [nn.Linear(inputs, outputs, bias=False), nn.BatchNorm1d(outputs), nn.ReLU()]


class DeepSoftLogCNN(_CNN):
    """DeepSoftLog's network (table `tab:NN_DeepSoftLog`): 44,426 parameters with 10 classes.

    It is made as `PaperCNN` is.

    Examples
    --------
    >>> sum(p.numel() for p in DeepSoftLogCNN().parameters())
    44426
    """

    def _layers(self, classes: int) -> list[nn.Module]:
        return [
            *self._block(1, 6),
            *self._block(6, 16),
            nn.Flatten(),
            nn.Linear(16 * 4 * 4, 120),
            nn.ReLU(),
            nn.Linear(120, 84),
            nn.ReLU(),
            nn.Linear(84, classes),
        ]

    @staticmethod
    def _block(channels: int, width: int) -> list[nn.Module]:
        return [nn.Conv2d(channels, width, 5), nn.MaxPool2d(2), nn.ReLU()]


def preprocess(images: npt.NDArray[Any]) -> Tensor:
    """Return standardised images, the input of networks: ``(x / 255 - 0.1307) / 0.3081``.

    Parameters
    ----------
    images : uint8 array (n, 28, 28)

    Returns
    -------
    tensor : float32, (n, 1, 28, 28)

    Examples
    --------
    >>> preprocess(np.zeros((2, 28, 28), np.uint8)).shape
    torch.Size([2, 1, 28, 28])
    """
    check_images(images)
    table = (np.arange(256) / 255 - MEAN) / DEVIATION  # one value for each shade of grey
    return torch.from_numpy(table.astype(np.float32)[images]).unsqueeze(1)


def device_of(network: nn.Module) -> torch.device:
    """Return the device of a network's parameters; the CPU if it has none."""
    return next((parameter.device for parameter in network.parameters()), torch.device("cpu"))


def scores_of(network: nn.Module, x: Tensor, name: str = "", inputs_name: str = "images") -> Tensor:
    """Return the scores (n, classes) of a network for images or other inputs.

    Raises `DataError`, with `name` for the network, if it fails or returns anything else.
    """
    name, form = name or type(network).__name__, tuple(x.shape)
    try:
        scores: object = network(x.to(device_of(network)))
    except (IndexError, RuntimeError, TypeError, ValueError) as error:
        detail = " ".join(str(error).split())
        raise DataError(
            f"{name} cannot read {inputs_name} of shape {form}: {detail:.300}"
        ) from error
    if isinstance(scores, Tensor):
        if scores.is_floating_point() and scores.ndim == 2 and len(scores) == len(x):
            return scores
        result = f"{scores.dtype} {tuple(scores.shape)}"
    else:
        result = f"a {type(scores).__name__}"
    raise DataError(
        f"{name} gives {result} for {inputs_name} of shape {form}; it must give scores, float "
        f"numbers of shape ({len(x)}, classes)"
    )


@contextmanager
def evaluation_mode(network: nn.Module, mode: Any = torch.inference_mode) -> Iterator[None]:
    """Use a network without dropout and gradients in the block; then restore its mode."""
    was_training = network.training
    network.eval()
    try:
        with mode():
            yield
    finally:
        network.train(was_training)


def count_classes(network: nn.Module, inputs: Tensor | None = None) -> int:
    """Return the number of classes that a network predicts for images or other inputs."""
    with evaluation_mode(network):
        x = torch.zeros(1, 1, SIDE, SIDE) if inputs is None else inputs
        return scores_of(network, x).shape[1]


def check_images(images: object) -> None:
    """Raise `DataError` unless `images` is a uint8 array (n, 28, 28)."""
    if not isinstance(images, np.ndarray):
        raise DataError(f"images is a {type(images).__name__}; give a uint8 array (n, 28, 28)")
    if images.dtype != np.uint8:
        raise DataError(
            f"images has type {images.dtype}; give uint8, with black 0 and white 255: they are "
            "scaled here"
        )
    if images.ndim != 3 or images.shape[1:] != (SIDE, SIDE):
        raise DataError(f"images has shape {images.shape}; it must be (n, {SIDE}, {SIDE})")


def predict_proba(network: nn.Module, images: npt.NDArray[Any], batch: int = 1000) -> FloatArray:
    """Return the probability of each class for each image: softmax of the scores, in float64.

    Parameters
    ----------
    network : used without dropout; its mode is not changed
    images : uint8 array (n, 28, 28)
    batch : the number of images of a batch

    Returns
    -------
    probabilities : array (n, classes); each row sums to 1

    Examples
    --------
    >>> predict_proba(PaperCNN(4), np.zeros((3, 28, 28), np.uint8)).shape
    (3, 4)
    """
    if not isinstance(network, nn.Module):
        raise DataError(
            f"network is a {type(network).__name__}; give a torch.nn.Module (that of a "
            "NetworkPerception is its .network)"
        )
    batch = check_integer(batch, "batch", least=1)
    check_images(images)
    if not len(images):
        raise DataError("there are no images to predict")
    with evaluation_mode(network):
        parts = [
            scores_of(network, preprocess(images[start : start + batch])).double().softmax(1)
            for start in range(0, len(images), batch)
        ]
    return torch.cat(parts).cpu().numpy()


@contextmanager
def using_threads(n: int | None = None) -> Iterator[int]:
    """Let PyTorch use `n` threads in the block; yield their number.

    Parameters
    ----------
    n : by default PyTorch's own number, one for each core

    Examples
    --------
    >>> with using_threads(1) as n:
    ...     n
    1
    """
    before = torch.get_num_threads()
    torch.set_num_threads(before if n is None else check_integer(n, "threads", least=1))
    try:
        yield torch.get_num_threads()
    finally:
        torch.set_num_threads(before)


def onnx_model(network: nn.Module, opset: int) -> Any:
    """Return a network exported to ONNX by PyTorch, for any number of images."""
    with needing("onnx", "writing a network as ONNX needs"):
        import onnxscript  # noqa: F401  (PyTorch's exporter needs it)
    images = torch.zeros(2, 1, SIDE, SIDE, device=device_of(network))
    try:
        with evaluation_mode(network, torch.no_grad), _no_warnings():
            program = torch.onnx.export(
                network,
                (images,),
                dynamo=True,
                verbose=False,
                opset_version=opset,
                dynamic_shapes=({0: torch.export.Dim("images")},),
            )
    except (torch.onnx.OnnxExporterError, RuntimeError, TypeError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise DataError(
            f"PyTorch cannot write {type(network).__name__} as ONNX: {reason:.300}; write the "
            "rules alone, to_onnx(model.rules, transform=...), and give them its probabilities"
        ) from error
    assert program is not None
    return program.model_proto


@contextmanager
def _no_warnings() -> Iterator[None]:
    """Suppress warnings and log messages of the exporter in the block."""
    level = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings(action="ignore"):
            yield
    finally:
        logging.disable(level)
