"""Labels for single images, inferred from answers: possibilistic backpropagation with belief."""

import numpy as np
import numpy.typing as npt
from torch import nn

from pinesy._common.validation import FloatArray
from pinesy.exceptions import DataError
from pinesy.inverse import posterior
from pinesy.nets.answered_samples import UNKNOWN, Answered
from pinesy.nets.predict import predict_proba
from pinesy.transforms import antipignistic_inverse

#: The share of the uniform distribution that is mixed into what a network sees: however sure it is
#: of a wrong reading, no answer may be impossible.
DOUBT = 1e-9

Indices = npt.NDArray[np.int64]


def soft_labels(network: nn.Module, samples: Answered) -> FloatArray:
    """Return for each image the probabilities of its values, given what the answer must be.

    The network's probabilities become possibilities, which the answer conditions
    (`pinesy.posterior`): for certain rules ``c(x) = min_i pi_i(x_i)`` where they give the answer,
    0 elsewhere; for others the min with what they say of the answer. It is rescaled to maximum 1
    and projected to each input by max, and the antipignistic inverse makes probabilities of that.
    An image that was misread gets the right label, if it is the most possible way to the answer.
    Labelled images keep their labels, and help the others of their samples.

    A minimum is as low as its lowest part, so that the worst reading of a sample hides what the
    answer says about the others. Therefore each input is restricted to the values of the most
    possible ways, rescaled to maximum 1, and all is conditioned again, until every reading that
    is left agrees with the answer. Ways that are equally possible all stay.

    Returns
    -------
    array (n * m, classes), the images of a sample one after the other

    Raises
    ------
    DataError
        No reading gives the answers of a sample, or its labels contradict them.
    """
    return corrected(samples, predict_proba(network, samples.flat))


def corrected(samples: Answered, probabilities: FloatArray) -> FloatArray:
    """Return the same, for what a network makes of the images (n * m, classes)."""
    left = np.arange(len(samples.images))
    pi = _possibilities(samples, probabilities, left)
    degrees = np.empty_like(pi)
    while len(left):
        now = pi[left]
        degrees[left], compatibility = _conditioned(samples, now, left)
        pi[left] = _restricted(now, degrees[left], compatibility)
        left = left[(pi[left] != now).any(axis=(1, 2)) & (compatibility < 1.0)]
    return antipignistic_inverse(degrees.reshape(probabilities.shape))


def _restricted(pi: FloatArray, degrees: FloatArray, compatibility: FloatArray) -> FloatArray:
    """Return the inputs restricted to the most possible ways, rescaled to maximum 1.

    Where that changes nothing, several ways are equally possible: what holds them down counts as
    possible, so that it holds nothing else down.
    """
    best = degrees == 1.0
    restricted = np.where(best, pi, 0.0)
    restricted /= restricted.max(axis=-1, keepdims=True)
    same = (restricted == pi).all(axis=(1, 2))[:, None, None]
    return np.where(same & best & (pi <= compatibility[:, None, None]), 1.0, restricted)


def believed(
    samples: Answered, probabilities: FloatArray, places: Indices
) -> tuple[FloatArray, FloatArray]:
    """Return the labels of the images of some samples, and how specific each of them is.

    They are conditioned once only. Of the conditioned possibilities ``c`` of an image's `m`
    values, the specificity is ``1 - (sum_v c(v) - 1) / (m - 1)``: 1 if one value is left, 0 if the
    answer leaves all open.

    Parameters
    ----------
    probabilities : array (images, classes), what a network makes of the images
    places : which samples
    """
    pi = _possibilities(samples, probabilities, places)
    degrees = _conditioned(samples, pi, places)[0].reshape(probabilities.shape)
    specificity = 1.0 - (degrees.sum(axis=1) - 1.0) / (probabilities.shape[1] - 1)
    return antipignistic_inverse(degrees), specificity


def _possibilities(samples: Answered, probabilities: FloatArray, places: Indices) -> FloatArray:
    """Return the possibilities (n, m, classes) of the inputs of some samples."""
    n_classes = probabilities.shape[1]
    seen = (1 - DOUBT) * probabilities + DOUBT / n_classes
    if samples.label_positions is not None:
        known = samples.label_positions[places].ravel()
        seen[known != UNKNOWN] = np.eye(n_classes)[known[known != UNKNOWN]]
    return samples.possibilities(seen)


def _conditioned(
    samples: Answered, pi: FloatArray, places: Indices
) -> tuple[FloatArray, FloatArray]:
    """Return the inputs (n, m, classes) given the answers, and the compatibility (n,)."""
    answers = {name: target[places] for name, target in samples.targets.items()}
    beliefs = posterior(samples.cascade, samples.by_input(pi), answers)
    compatibility = np.asarray(beliefs.compatibility)
    if not compatibility.all():
        row = int(places[int(np.argmin(compatibility))])
        labels = samples.label_positions
        known = labels is not None and (labels[row] != UNKNOWN).any()
        wrong = "its labels contradict its answers" if known else "no reading gives its answers"
        said = ", ".join(
            f"{name} = {target.attribute.domain[target.labels[row]]!r}"
            for name, target in samples.targets.items()
        )
        raise DataError(f"sample {row}: {wrong} ({said:.80}); correct them, or leave it out")
    return np.stack([beliefs[name].degrees for name in samples.input_names], axis=1), compatibility
