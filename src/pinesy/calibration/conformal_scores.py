"""Scores: how badly values fit, of the true values and of the best ones."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy._common.names import column_slices
from pinesy._common.validation import FloatArray, check_degree, suggestion
from pinesy.calibration.score_counts import leads
from pinesy.exceptions import DegreeError, DomainError, ShapeError, placed
from pinesy.rules.attributes import Attribute
from pinesy.transforms import antipignistic, check_probabilities, minimum_specificity

#: The name of the only part, where degrees come as one array.
ALL = "inputs"


def cumulated(probability: FloatArray) -> FloatArray:
    """Return 1 minus the probability of all values that are more probable."""
    return np.asarray(minimum_specificity(probability, ties="equal"))


def complement(degrees: FloatArray) -> FloatArray:
    """Return degrees as they are: probabilities or possibilities."""
    good = (degrees >= 0.0) & (degrees <= 1.0)
    if not good.all():
        place = tuple(map(int, np.argwhere(~good)[0]))
        row = f"row {place[0]}: " * (degrees.ndim > 1)
        of = f" (input {place[1]})" * (degrees.ndim > 2)
        raise DegreeError(
            f"{row}the degree of value {place[-1]}{of} is {degrees[place]}; degrees lie in [0, 1]"
        )
    return degrees


def refuse_degrees(degrees: FloatArray, attributes: Sequence[Attribute], is_batch: bool) -> None:
    """Raise `DegreeError` that names the attribute, row and value of the first bad degree.

    The degrees of all attributes stand side by side, a row for each sample.
    """
    row, column = np.argwhere(~((degrees >= 0.0) & (degrees <= 1.0)))[0].tolist()
    for attribute, columns in zip(attributes, column_slices(attributes).values(), strict=True):
        if column < columns.stop:
            value = attribute.domain[column - columns.start]
            where = f"attribute {attribute.name!r}" + f", row {row}" * is_batch
            check_degree(degrees[row, column], f"{where}: the degree of {value!r}")


def refuse_sums(degrees: FloatArray, attributes: Sequence[Attribute], is_batch: bool) -> None:
    """Raise `DegreeError` for the first attribute and row whose degrees are no probabilities."""
    for attribute, columns in zip(attributes, column_slices(attributes).values(), strict=True):
        far = abs(degrees[:, columns].sum(axis=1) - 1.0)
        if len(far) and far.max() > 0.0:
            row = int(far.argmax())  # the worst: if it is near enough, all are
            with placed(f"attribute {attribute.name!r}" + f", row {row}" * is_batch):
                check_probabilities(degrees[row, columns], attribute.domain)


#: How well a value fits, by the word for the score that is 1 minus it.
FITS: dict[str, Callable[[FloatArray], FloatArray]] = {
    "complement": complement,
    "antipignistic": antipignistic,
    "cumulated": cumulated,
}


def as_parts(degrees: Any) -> dict[Any, FloatArray]:
    """Return degrees by input as arrays ``(n, ..., values)``; one array is one part."""
    given = degrees if isinstance(degrees, Mapping) else {ALL: degrees}
    parts = {key: np.asarray(content, dtype=np.float64) for key, content in given.items()}
    for key, part in parts.items():
        if part.ndim < 1 or part.shape[-1] < 1:
            raise ShapeError(f"{key!r}: degrees have shape (n, values); got {part.shape}")
    return parts


def columns_of(
    labels: Any, shape: tuple[int, ...], classes: Sequence[Hashable] | None
) -> npt.NDArray[np.int64]:
    """Return the columns of true values, for degrees of a shape, or raise an error."""
    given, size = np.asarray(labels), shape[-1]
    if given.shape != shape[:-1] or not given.ndim:
        raise ShapeError(
            f"labels has shape {given.shape}; degrees of shape {shape} have one true "
            f"value for each distribution: {shape[:-1]}"
        )
    if classes is not None:
        return _looked_up(given, classes, size)
    if given.dtype.kind not in "iu" or ((given < 0) | (given >= size)).any():
        raise DomainError(
            f"labels are the numbers of columns, 0 to {size - 1}, unless classes says which "
            "values the columns are of"
        )
    return given.astype(np.int64)


def _looked_up(
    labels: npt.NDArray[Any], classes: Sequence[Hashable], size: int
) -> npt.NDArray[np.int64]:
    """Return the columns of labels."""
    if len(classes) != size:
        raise ShapeError(f"there are {len(classes)} classes, and degrees for {size} values")
    columns = {value: column for column, value in enumerate(classes)}
    values = labels.ravel().tolist()
    unknown = [i for i, value in enumerate(values) if value not in columns]
    if unknown:
        raise DomainError(
            f"label {unknown[0]} is {values[unknown[0]]!r:.60}, which is none of the classes"
            f"{suggestion(values[unknown[0]], classes)}"
        )
    return np.array([columns[value] for value in values]).reshape(labels.shape)


def true_scores(scores: FloatArray, places: npt.NDArray[np.int64]) -> FloatArray:
    """Return the scores of the true values, a row for each sample."""
    rows = scores.reshape(-1, scores.shape[-1])
    return _rows(rows[np.arange(len(rows)), places.ravel()].reshape(places.shape))


def all_true_scores(
    scores: Mapping[Any, FloatArray], places: Mapping[Any, npt.NDArray[np.int64]]
) -> FloatArray:
    """Return the scores of the true values of all inputs, a row for each sample."""
    return np.concatenate([true_scores(scores[key], places[key]) for key in scores], axis=1)


def worst_doubt(scores: Mapping[Any, FloatArray]) -> FloatArray:
    """Return the doubt of the least sure input of each sample."""
    return np.asarray(np.concatenate([doubts(s) for s in scores.values()], axis=1).max(axis=1))


def doubts(scores: FloatArray) -> FloatArray:
    """Return 1 minus how far the best value of each distribution is ahead of the second.

    It needs no labels. A row for each sample.
    """
    if scores.shape[-1] == 1:
        return np.zeros((len(scores), 1))
    return _rows(leads(scores))


def _rows(array: FloatArray) -> FloatArray:
    """Return an array with a row for each sample, of which there may be none."""
    return np.reshape(array, (len(array), prod(array.shape[1:])))
