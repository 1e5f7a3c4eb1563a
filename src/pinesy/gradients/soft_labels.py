"""Labels for single images, inferred from answers: possibilistic backpropagation with belief."""

import numpy as np
from torch import nn

from pinesy._validation import FloatArray
from pinesy.beliefs import condition
from pinesy.gradients.answers import Answered
from pinesy.nn.predict import predict_proba

__all__ = ["soft_labels"]


def soft_labels(network: nn.Module, samples: Answered) -> FloatArray:
    """Return for each image the probabilities of its values, given what the answer must be.

    The network's probabilities become possibilities, which the answer conditions
    (`pinesy.condition`): ``c(x) = min_i pi_i(x_i)`` where the rules give the answer, 0 elsewhere,
    rescaled to maximum 1 and projected to each input by max. The antipignistic inverse makes
    probabilities of them. An image that was misread alone in its sample gets the right label, if
    it is the most possible way to the answer.

    Returns
    -------
    array (n * m, classes), the images of a sample one after the other
    """
    images = samples.images
    seen = predict_proba(network, images.reshape(-1, *images.shape[2:]))
    beliefs = condition(samples.cascade, samples.evidence(seen), samples.answers)
    found = beliefs.probabilities()
    return np.stack([found[name] for name in samples.inputs], axis=1).reshape(len(seen), -1)
