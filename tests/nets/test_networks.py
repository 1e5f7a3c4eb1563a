"""The networks have the layers and the parameters of the paper's tables."""

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from messages import raises_saying  # noqa: E402
from pinesy.exceptions import DataError, DomainError  # noqa: E402
from pinesy.nets import DeepSoftLogCNN, PaperCNN, preprocess, using_threads  # noqa: E402


def parameters(network: Any) -> int:
    return sum(p.numel() for p in network.parameters())


@pytest.mark.parametrize(
    ("network", "classes", "count"),
    [
        (PaperCNN, 10, 930_298),
        (PaperCNN, 9, 930_298 - 85),
        (PaperCNN, 4, 930_298 - 6 * 85),
        (DeepSoftLogCNN, 10, 44_426),
        (DeepSoftLogCNN, 4, 44_426 - 6 * 85),
    ],
)
def test_parameters_and_outputs(network: Any, classes: int, count: int) -> None:
    made = network(classes, seed=0)
    assert parameters(made) == count
    scores = made.eval()(preprocess(np.zeros((3, 28, 28), np.uint8)))
    assert scores.shape == (3, classes)


def shapes(network: Any) -> list[tuple[str, tuple[int, ...]]]:
    """Return the layers that change the shape of an image, and the shape after each."""
    found, image = [], torch.zeros(2, 1, 28, 28)
    for layer in network.eval().layers:
        before, image = image.shape, layer(image)
        if image.shape != before:
            found.append((type(layer).__name__, tuple(image.shape[1:])))
    return found


def test_the_layers_of_the_papers_network() -> None:
    assert shapes(PaperCNN()) == [
        ("Conv2d", (32, 28, 28)),
        ("MaxPool2d", (32, 14, 14)),
        ("Conv2d", (64, 14, 14)),
        ("MaxPool2d", (64, 7, 7)),
        ("Flatten", (3136,)),
        ("Linear", (256,)),
        ("Linear", (128,)),
        ("Linear", (84,)),
        ("Linear", (10,)),
    ]
    kinds = [type(layer).__name__ for layer in PaperCNN().layers]
    assert [kinds.count(k) for k in ("BatchNorm2d", "BatchNorm1d", "ReLU", "Dropout")] == [
        4,
        3,
        7,
        3,
    ]
    biased = [layer.bias is not None for layer in PaperCNN().layers if hasattr(layer, "bias")]
    convolutions = [biased[0], biased[2], biased[4], biased[6]]
    assert convolutions == [True, False, True, False]


def test_the_layers_of_deepsoftlogs_network() -> None:
    assert shapes(DeepSoftLogCNN()) == [
        ("Conv2d", (6, 24, 24)),
        ("MaxPool2d", (6, 12, 12)),
        ("Conv2d", (16, 8, 8)),
        ("MaxPool2d", (16, 4, 4)),
        ("Flatten", (256,)),
        ("Linear", (120,)),
        ("Linear", (84,)),
        ("Linear", (10,)),
    ]


def test_the_seed_makes_the_weights_and_leaves_pytorchs_generator_alone() -> None:
    before = torch.get_rng_state()
    one, two, other = (DeepSoftLogCNN(seed=s).layers[0].weight for s in (1, 1, 2))
    assert torch.equal(one, two)
    assert not torch.equal(one, other)
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("classes", [1, 0, 2.0, "10", None])
def test_classes(classes: Any) -> None:
    with raises_saying(DomainError, f"classes is {classes!r}"):
        PaperCNN(classes)


def test_preprocess() -> None:
    images = np.zeros((2, 28, 28), np.uint8)
    images[1, 5, 7] = 255
    images.flags.writeable = False
    tensor = preprocess(images)
    assert (tensor.dtype, tuple(tensor.shape)) == (torch.float32, (2, 1, 28, 28))
    assert tensor[0, 0, 0, 0].item() == pytest.approx(-0.1307 / 0.3081)
    assert tensor[1, 0, 5, 7].item() == pytest.approx((1 - 0.1307) / 0.3081)
    assert len(preprocess(np.zeros((0, 28, 28), np.uint8))) == 0


@pytest.mark.parametrize(
    ("images", "said"),
    [
        (np.zeros((2, 28, 28)), "type float64"),
        (np.zeros((2, 28, 28), np.int64), "type int64"),
        (np.zeros((2, 28, 27), np.uint8), "shape (2, 28, 27)"),
        (np.zeros((28, 28), np.uint8), "shape (28, 28)"),
        (np.zeros((2, 784), np.uint8), "shape (2, 784)"),
        ([[0]], "is a list"),
    ],
)
def test_what_is_not_images(images: Any, said: str) -> None:
    with raises_saying(DataError, "images", said):
        preprocess(images)


# --- how many threads PyTorch works with --------------------------------------------------------


def test_the_number_holds_in_the_block() -> None:
    with using_threads(3) as outer:
        with using_threads(2) as inner:
            assert (inner, torch.get_num_threads()) == (2, 2)
        assert (outer, torch.get_num_threads()) == (3, 3)


def test_it_is_what_it_was_after_an_error() -> None:
    before = torch.get_num_threads()
    with pytest.raises(KeyError), using_threads(before + 1):
        raise KeyError
    assert torch.get_num_threads() == before


def test_by_default_nothing_changes() -> None:
    before = torch.get_num_threads()
    with using_threads() as number:
        assert number == before == torch.get_num_threads()


@pytest.mark.parametrize("number", [0, -1, True, 1.5])
def test_other_numbers_are_refused(number: int) -> None:
    with raises_saying(DomainError, f"threads is {number!r}"), using_threads(number):
        pass
