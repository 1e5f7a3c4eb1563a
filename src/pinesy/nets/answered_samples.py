"""Samples of images with answers: nobody says what is on an image, but answers tell of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from torch import nn

from pinesy._common.names import name_of
from pinesy._common.validation import FloatArray, listed, suggestion
from pinesy.exceptions import DataError, UnknownAttributeError, placed
from pinesy.inverse import posterior
from pinesy.nets.answer_losses import DOUBT, named_answers
from pinesy.nets.checkpoints import data_fingerprint
from pinesy.nets.networks import check_images, predict_proba
from pinesy.rulebase.cascade import Cascade, as_cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rulebase.rules_json import to_content
from pinesy.rulebase.targets import Target
from pinesy.rules.attributes import Attribute
from pinesy.transforms import antipignistic, antipignistic_inverse

#: Stands for the position of a label that nobody knows.
UNKNOWN = -1

Indices = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Answered:
    """Samples of images with the answers that rules should give for them.

    One network reads all images, so that all inputs of the rules must have as many values.

    Attributes
    ----------
    rules : a `Cascade`; a `RuleSet` is made one
    inputs : the attribute, or its name, of each image of a sample, in their order
    images : uint8 array (n, m, 28, 28)
    answers : for attributes that rules conclude on, the right value of each sample
    labels : if some images are labelled, an array (n, m) of the values of images, with None where
        nobody knows
    """

    rules: Cascade | RuleSet
    inputs: Sequence[str | Attribute]
    images: npt.NDArray[np.uint8]
    answers: Mapping[Any, Any]
    labels: Any = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "rules", as_cascade(self.rules))
        object.__setattr__(self, "inputs", self.input_names)
        self._check_inputs()
        self._check_images()
        object.__setattr__(self, "answers", named_answers(self.answers))
        _ = self.targets, self.label_positions  # raise errors now

    def _check_inputs(self) -> None:
        names = [a.name for a in self.cascade.inputs]
        for name in self.input_names:
            if name not in names:
                raise UnknownAttributeError(
                    f"inputs: the rules have no input {name!r}{suggestion(name, names)}"
                )
        if sorted(self.input_names) != sorted(names):
            raise DataError(
                f"inputs names {len(self.inputs)} attributes; give each of the {len(names)} inputs "
                f"of the rules once: {listed(names)}"
            )
        sizes = {len(a.domain): a.name for a in self.cascade.inputs}
        if len(sizes) > 1:
            (one, first), (two, second), *_ = sizes.items()
            raise DataError(
                f"{first!r} has {one} values and {second!r} has {two}; one network reads all "
                "images, so that all inputs must have as many"
            )

    def _check_images(self) -> None:
        shape = np.shape(self.images)
        if len(shape) != 4 or shape[1] != len(self.inputs) or not shape[0]:
            raise DataError(
                f"images has shape {shape}; it must be (n, {len(self.inputs)}, 28, 28), with at "
                "least one sample"
            )
        check_images(self.flat if isinstance(self.images, np.ndarray) else self.images)

    @cached_property
    def label_positions(self) -> Indices | None:
        """The labels (n, m) as positions in the domain, or `UNKNOWN`."""
        if self.labels is None:
            return None
        labels, shape = np.asarray(self.labels, dtype=object), self.images.shape[:2]
        if labels.shape != shape:
            raise DataError(
                f"labels has shape {labels.shape}; it must be {shape}: the value of each image, or "
                "None where it is not known"
            )
        positions = np.full(shape, UNKNOWN)
        for i, name in enumerate(self.input_names):
            attribute, column = self.cascade.attributes[name], labels[:, i].tolist()
            known = np.array([value is not None for value in column])
            values = [attribute.domain[0] if value is None else value for value in column]
            with placed("labels"):
                target = Target.of(values, attribute)
            positions[known, i] = target.labels[known]
        return positions

    @property
    def cascade(self) -> Cascade:
        """The rules."""
        return as_cascade(self.rules)

    @property
    def input_names(self) -> list[str]:
        """The names of the inputs, in the order of the images of a sample."""
        return [str(name_of(key)) for key in self.inputs]

    @property
    def classes(self) -> int:
        """The number of values of each input."""
        return len(self.cascade.inputs[0].domain)

    @property
    def flat(self) -> npt.NDArray[np.uint8]:
        """The images (n * m, 28, 28), those of a sample one after the other."""
        return self.images.reshape(-1, *self.images.shape[2:])

    @property
    def fingerprint(self) -> str:
        """What differs where samples, rules, answers or labels do."""
        text = repr((to_content(self.cascade), self.inputs, list(self.answers)))
        known = [] if self.label_positions is None else [self.label_positions]
        positions = [target.labels for target in self.targets.values()]
        rules = np.frombuffer(text.encode(), np.uint8)
        return data_fingerprint(rules, self.images, *positions, *known)

    @cached_property
    def targets(self) -> dict[str, Target]:
        """The answers, checked."""
        with placed("answers"):
            return {
                name: Target.of_values(values, self.cascade[name].output, len(self.images))
                for name, values in self.answers.items()
            }

    def possibilities(self, probabilities: FloatArray) -> FloatArray:
        """Return the possibilities (n, m, classes) of the inputs of some samples.

        Parameters
        ----------
        probabilities : array (images, classes), those of a sample one after the other
        """
        self.check_classes(probabilities.shape[1])
        return antipignistic(probabilities).reshape(-1, len(self.inputs), self.classes)

    def by_input(self, pi: FloatArray) -> dict[str, FloatArray]:
        """Return possibilities (n, m, classes) by the names of the inputs."""
        return {name: pi[:, i] for i, name in enumerate(self.input_names)}

    def check_classes(self, number: int) -> None:
        """Raise `DataError` unless a network has a class for each value."""
        if number != self.classes:
            raise DataError(
                f"the network has {number} classes; the inputs of the rules have {self.classes} "
                "values"
            )

    def score(self, network: nn.Module) -> float:
        """Return the share of samples of which every answer is right and unambiguous."""
        return float(self._right(network).all(axis=0).mean())

    def answer_accuracy(self, network: nn.Module) -> float:
        """Return the share of single answers that are right and unambiguous.

        It separates a good reading from a bad one also where samples have so many answers that
        hardly any is right in all of them.
        """
        return float(self._right(network).mean())

    def _right(self, network: nn.Module) -> npt.NDArray[np.bool_]:
        """Tell which answers (answers, n) are right and unambiguous."""
        pi = self.possibilities(predict_proba(network, self.flat))
        inference = self.cascade.infer(self.by_input(pi), list(self.answers))
        return np.stack(
            [
                (inference[name].degrees.argmax(axis=1) == target.labels) & inference[name].decided
                for name, target in self.targets.items()
            ]
        )


# --- labels for single images, by possibilistic backpropagation with belief --------------------


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
