"""Labels for single images, inferred from answers: possibilistic backpropagation with belief."""

import numpy as np
import numpy.typing as npt
from torch import nn

from pinesy._validation import FloatArray
from pinesy.beliefs import condition
from pinesy.gradients.answers import UNKNOWN, Answered
from pinesy.nn.predict import predict_proba

__all__ = ["believed", "soft_labels"]

#: The share of the uniform distribution that is mixed into what a network sees: however sure it is
#: of a wrong reading, no answer may be impossible.
DOUBT = 1e-9


def soft_labels(network: nn.Module, samples: Answered) -> FloatArray:
    """Return for each image the probabilities of its values, given what the answer must be.

    The network's probabilities become possibilities, which the answer conditions
    (`pinesy.condition`): ``c(x) = min_i pi_i(x_i)`` where the rules give the answer, 0 elsewhere,
    rescaled to maximum 1 and projected to each input by max. The antipignistic inverse makes
    probabilities of them. An image that was misread alone in its sample gets the right label, if
    it is the most possible way to the answer. Labelled images keep their labels, and help the
    others of their samples.

    Returns
    -------
    array (n * m, classes), the images of a sample one after the other

    Raises
    ------
    DegreeError
        The labels of a sample contradict its answers.
    """
    images = samples.images
    seen = predict_proba(network, images.reshape(-1, *images.shape[2:]))
    labels, _ = believed(samples, seen, np.arange(len(images)))
    return labels


def believed(
    samples: Answered, probabilities: FloatArray, places: npt.NDArray[np.int64]
) -> tuple[FloatArray, FloatArray]:
    """Return the labels of the images of some samples, and how specific each of them is.

    Of the conditioned possibilities ``c`` of an image's `m` values, the specificity is
    ``1 - (sum_v c(v) - 1) / (m - 1)``: 1 if one value is left, 0 if the answer leaves all open.

    Parameters
    ----------
    probabilities : array (images, classes), what a network makes of the images
    places : which samples
    """
    n_classes = probabilities.shape[1]
    seen = (1 - DOUBT) * probabilities + DOUBT / n_classes
    if samples.labels is not None:
        known = samples.labels[places].ravel()
        seen[known != UNKNOWN] = np.eye(n_classes)[known[known != UNKNOWN]]
    answers = {name: target[places] for name, target in samples.targets.items()}
    beliefs = condition(samples.cascade, samples.evidence(seen), answers)
    found = beliefs.probabilities()  # raises if labels contradict the answers
    labels = np.stack([found[name] for name in samples.inputs], axis=1)
    sums = np.stack([beliefs[name].degrees.sum(axis=1) for name in samples.inputs], axis=1)
    specificity = 1.0 - (sums - 1.0) / (n_classes - 1)
    return labels.reshape(len(seen), n_classes), specificity.ravel()
