"""Digits from sums of many images: a network that learns where a sum is the only label.

A sum of many digits says little about each. But its regression on the images is as good as one on
single digits: both its signal and its noise grow with their number. So the number of sums counts,
hardly their length, and there are three steps.

1. *Start.* k-means groups the images, without labels. A sum is about the sum over the groups of
   their counts times their mean digits: a linear regression, whose unknowns are the groups' means.
2. *Posteriors.* Where images occur in several sums, message passing gives the distribution of each
   digit given all sums and what the network reads; the network learns these soft labels. Again.
3. *Likelihood.* Where they occur in one, the network is trained by the exact ``- log P(sum)``.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from pinesy._common.validation import FloatArray
from pinesy.nets import DeepSoftLogCNN, preprocess, soft_label_loss, sum_loss

Indices = npt.NDArray[np.int64]

DIGITS: Final = np.arange(10.0)
#: The variance of a digit of which nothing is known.
VARIANCE: Final = float(DIGITS.var())
#: Clusters, at most; and sums for each, at least.
CLUSTERS, SUMS_A_CLUSTER = 600, 3
#: What a cluster's variance is increased by: not all of its images have the same digit.
WITHIN: Final = 0.15
#: Principal components that images are clustered by, and steps of k-means.
COMPONENTS, STEPS = 40, 12
#: The share of the uniform distribution in what a network reads, before posteriors, at most; and
#: the share of the variance that comes from it.
DOUBT, DOUBT_SHARE = 0.01, 0.25
#: Steps of message passing, and how much of the message before is kept.
MESSAGES, DAMPING = 20, 0.3
#: The mean variance of digits, below which they count as settled.
SETTLED: Final = 1e-3
#: Images of a step of training; sums that are longer are a step each.
BATCH: Final = 128
#: An image's mean number of sums, from which on posteriors are used.
USES: Final = 4.0


@dataclass(frozen=True, eq=False)
class Sums:
    """Sums of images.

    Attributes
    ----------
    images : the images (sums, n) of each
    totals : the sums (sums,) of their digits
    """

    images: Indices
    totals: Indices

    @property
    def n(self) -> int:
        """The number of images of a sum."""
        return int(self.images.shape[1])

    def __len__(self) -> int:
        """Return the number of sums."""
        return len(self.images)

    def added(self, values: npt.NDArray[Any]) -> FloatArray:
        """Return the sums of values (images,) of the images."""
        return np.asarray(values[self.images].sum(axis=1), dtype=np.float64)

    def spread(self, values: FloatArray, n_images: int) -> FloatArray:
        """Return for each image the sum of the values (sums,) of the sums it is in."""
        weights = np.repeat(values, self.n)
        return np.asarray(np.bincount(self.images.ravel(), weights, n_images), dtype=np.float64)


@dataclass(frozen=True)
class Settings:
    """How long the steps are.

    Attributes
    ----------
    start : epochs on the labels of clusters
    rounds : of posteriors and soft labels, at most
    epochs : of a round, and of the last one, in which posteriors are settled
    likelihood : epochs of the exact likelihood
    """

    start: int = 2
    rounds: int = 16
    epochs: tuple[int, int] = (1, 6)
    likelihood: int = 8


def learn_digits(
    pixels: npt.NDArray[np.uint8],
    sums: Sums,
    seed: int,
    settings: Settings = Settings(),  # noqa: B008  (it is frozen)
    say: Callable[[str], Any] = lambda _: None,
) -> nn.Module:
    """Return DeepSoftLog's network, trained with sums of images as the only labels.

    Parameters
    ----------
    pixels : all images that occur in sums
    """
    rng = np.random.default_rng([seed, sums.n, len(sums)])
    network, x = DeepSoftLogCNN(seed=seed), preprocess(pixels)
    fit_labels(network, x, start_labels(pixels, sums, rng), settings.start, 3e-3, rng)
    say(f"start: {_fit_text(network, x, sums)}")
    if sums.images.size < USES * len(pixels):
        fit_sums(network, x, sums, settings.likelihood, 1e-3, rng)
        say(f"likelihood: {_fit_text(network, x, sums)}")
        return network
    for index in range(settings.rounds):
        labels = posteriors(_read(network, x), sums)
        is_settled = bool(_moments(labels)[1].mean() < SETTLED)
        is_last = is_settled or index == settings.rounds - 1
        fit_labels(network, x, labels, settings.epochs[is_last], 2e-3, rng)
        say(f"round {index + 1}: {_fit_text(network, x, sums)}")
        if is_last:
            break
    return network


def start_labels(pixels: npt.NDArray[np.uint8], sums: Sums, rng: np.random.Generator) -> FloatArray:
    """Return probabilities (images, 10) of digits by the clusters of images and the sums."""
    k = max(min(CLUSTERS, len(sums) // SUMS_A_CLUSTER, len(pixels) // 10), 1)
    groups = clusters(pixels, k, rng)
    means, variances = cluster_digits(groups, sums)
    logs = -((DIGITS - means[:, None]) ** 2) / (2 * (variances + WITHIN)[:, None])
    return _normal(logs)[groups]


def clusters(pixels: npt.NDArray[np.uint8], k: int, rng: np.random.Generator) -> Indices:
    """Return the cluster of each image: k-means of the principal components of coarse images."""
    side = pixels.shape[1] // 2
    coarse = pixels.reshape(len(pixels), side, 2, side, 2).mean(axis=(2, 4), dtype=np.float32)
    flat = coarse.reshape(len(pixels), -1)
    flat -= flat.mean(axis=0)
    _, axes = np.linalg.eigh(flat.T @ flat)
    points = flat @ axes[:, -COMPONENTS:]
    centres = points[rng.permutation(len(points))[:k]]
    for _ in range(STEPS):
        groups = (0.5 * (centres**2).sum(axis=1) - points @ centres.T).argmin(axis=1)
        sizes = np.bincount(groups, minlength=k)
        order = points[np.argsort(groups, kind="stable")]
        is_used = sizes > 0  # an empty cluster keeps its centre
        starts = (np.cumsum(sizes) - sizes)[is_used]
        centres[is_used] = np.add.reduceat(order, starts) / sizes[is_used, None]
    return np.asarray(groups, dtype=np.int64)


def cluster_digits(groups: Indices, sums: Sums) -> tuple[FloatArray, FloatArray]:
    """Return the mean digit of each cluster, and its variance, by Bayesian linear regression.

    The prior of a mean has the variance of a digit; that of the noise is estimated.
    """
    k = int(groups.max()) + 1
    cells = groups[sums.images] + k * np.arange(len(sums))[:, None]
    counts = np.bincount(cells.ravel(), minlength=k * len(sums)).reshape(len(sums), k).astype(float)
    mean = counts.mean(axis=0)
    counts -= mean
    excess = sums.totals - sums.totals.mean()
    noise = VARIANCE * sums.n
    for _ in range(STEPS):
        covariance = np.linalg.inv(counts.T @ counts / noise + np.eye(k) / VARIANCE)
        means = covariance @ (counts.T @ excess) / noise
        freedom = k - np.trace(covariance) / VARIANCE
        rest = excess - counts @ means
        noise = max(float(rest @ rest) / max(len(sums) - freedom, 1.0), 1e-3)
    # The mean of all digits is known, so that only what differs from it varies.
    centred = np.eye(k) - mean / sums.n
    means = sums.totals.mean() / sums.n + centred @ means
    return means, np.einsum("ij,jk,ik->i", centred, covariance, centred, optimize=True)


def posteriors(probabilities: FloatArray, sums: Sums) -> FloatArray:
    """Return the distributions (images, 10) of digits given all sums, by message passing.

    Approximate message passing (Donoho, Maleki and Montanari 2009): what all other digits leave of
    the sums is an observation of a digit with normal noise, whose variance comes out of it. The
    means of sums and digits are subtracted, since the method needs messages without a common part.
    """
    n_images = len(probabilities)
    prior = _calibrated(probabilities, sums)
    logs = np.log(prior)
    mean, variance = _moments(prior)
    uses = np.maximum(sums.spread(np.ones(len(sums)), n_images), 1e-9)
    mean_uses, rest, noise = sums.images.size / n_images, np.zeros(len(sums)), 1.0
    for step in range(MESSAGES):
        correction = n_images / len(sums) * variance.mean() / noise * rest  # Onsager's
        excess = _excess(mean, sums) + correction
        rest = DAMPING * rest + (1 - DAMPING) * excess if step else _excess(mean, sums)
        noise = max(float((rest**2).mean()) / mean_uses, 1e-3)
        observed = mean + sums.spread(rest, n_images) / uses
        precision = uses / (noise * mean_uses)
        posterior = _normal(logs - (DIGITS - observed[:, None]) ** 2 * precision[:, None] / 2)
        mean, variance = _moments(posterior)
    return posterior


def _calibrated(probabilities: FloatArray, sums: Sums) -> FloatArray:
    """Return powers of probabilities whose variances are, on average, those that the sums show."""
    goal = float((_excess(_moments(probabilities)[0], sums) ** 2).mean()) / sums.n
    doubt = min(DOUBT, DOUBT_SHARE * goal / (2 * VARIANCE))
    logs = np.log(probabilities + 1e-12)
    low, high = 0.2, 5.0
    for _ in range(STEPS):
        power = (low * high) ** 0.5
        prior = (1 - doubt) * _normal(power * logs) + doubt / len(DIGITS)
        is_wide = _moments(prior)[1].mean() > goal
        low, high = (power, high) if is_wide else (low, power)
    return prior


def _excess(mean: FloatArray, sums: Sums) -> FloatArray:
    """Return what the sums are above those of mean digits, itself of mean 0."""
    excess = sums.totals - sums.added(mean)
    return np.asarray(excess - excess.mean())


def _moments(probabilities: FloatArray) -> tuple[FloatArray, FloatArray]:
    mean = probabilities @ DIGITS
    return mean, np.maximum(probabilities @ DIGITS**2 - mean**2, 0.0)


def _normal(logs: FloatArray) -> FloatArray:
    weights = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def fit_labels(
    network: nn.Module,
    x: Tensor,
    labels: FloatArray,
    epochs: int,
    rate: float,
    rng: np.random.Generator,
) -> None:
    """Train a network on soft labels (images, 10)."""
    targets = torch.from_numpy(labels.astype(np.float32))

    def loss(batch: Tensor) -> Tensor:
        return soft_label_loss(network(x[batch]), targets[batch])

    _fit(network, loss, len(x), BATCH, epochs, rate, rng)


def fit_sums(
    network: nn.Module, x: Tensor, sums: Sums, epochs: int, rate: float, rng: np.random.Generator
) -> None:
    """Train a network by the exact probability of sums, some of them a step."""
    images, totals = torch.from_numpy(sums.images), torch.from_numpy(sums.totals)

    def loss(batch: Tensor) -> Tensor:
        scores = network(x[images[batch].flatten()])
        return sum_loss(scores.softmax(dim=1).unflatten(0, (len(batch), sums.n)), totals[batch])

    _fit(network, loss, len(sums), max(BATCH // sums.n, 1), epochs, rate, rng)


def _fit(
    network: nn.Module,
    loss: Callable[[Tensor], Tensor],
    n: int,
    batch: int,
    epochs: int,
    rate: float,
    rng: np.random.Generator,
) -> None:
    """Minimise a loss of batches of indices, along one cycle of the learning rate."""
    optimizer = torch.optim.AdamW(network.parameters(), lr=rate)
    total = epochs * -(-n // batch)
    cycle = torch.optim.lr_scheduler.OneCycleLR(optimizer, rate, total_steps=total, pct_start=0.2)
    for _ in range(epochs):
        for indices in torch.split(torch.from_numpy(rng.permutation(n)), batch):
            optimizer.zero_grad()
            loss(indices).backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
            cycle.step()


def _read(network: nn.Module, x: Tensor) -> FloatArray:
    with torch.inference_mode():
        parts = [network(part).double().softmax(dim=1) for part in torch.split(x, 1000)]
        return torch.cat(parts).numpy()


def _fit_text(network: nn.Module, x: Tensor, sums: Sums) -> str:
    """Return how far sums are from their means, a digit: what can be seen without labels."""
    mean, variance = _moments(_read(network, x))
    rest = _excess(mean, sums)
    return f"variance a digit {(rest**2).mean() / sums.n:.3f}, predicted {variance.mean():.3f}"
