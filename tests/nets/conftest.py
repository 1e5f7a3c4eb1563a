"""Small networks and images; one thread, so that a busy machine does not slow the tests down."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("safetensors")


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def bars(n: int, seed: int = 0) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
    """Return noisy images of a bar in one of four places, and which place."""
    rng = np.random.default_rng(seed)
    labels = (np.arange(n) % 4).astype(np.uint8)
    images = rng.integers(0, 60, (n, 28, 28), dtype=np.uint8)
    for image, label in zip(images, labels, strict=True):
        image[4 + 6 * label : 7 + 6 * label] = 255
    return images, labels
