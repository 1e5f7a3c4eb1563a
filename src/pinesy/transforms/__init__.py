"""Probability-possibility transformations.

Each function takes one distribution, as a dict ``{value: degree}`` or an array ``(m,)``, or
several, as an array ``(..., m)`` or a table of pandas or polars, and returns the same form: a table
keeps its columns and its index. The most probable value always gets exactly 1.0. Degrees are
computed in float64, whatever the type of the numbers. Cost O(m log(m)^2) a distribution, which
is less than rules need; `Program.infer` takes probabilities and transforms them as it reads them.
"""

from collections.abc import Callable, Hashable, Mapping
from typing import Any, Literal, Protocol, TypeVar, overload

import numpy as np
import numpy.typing as npt

from pinesy._common.validation import FloatArray
from pinesy.exceptions import DegreeError
from pinesy.transforms import transform_loops as loops
from pinesy.transforms.transformation import (
    SUM_TOLERANCE,
    TRANSFORMS,
    RowTransform,
    Transformation,
    as_transform,
    check_probabilities,
    register_transform,
)

__all__ = [
    "SUM_TOLERANCE",
    "TRANSFORMS",
    "RowTransform",
    "Transformation",
    "antipignistic",
    "antipignistic_inverse",
    "as_transform",
    "check_probabilities",
    "inverse",
    "minimum_specificity",
    "probabilities",
    "register_transform",
]

Value = TypeVar("Value", bound=Hashable)


class NamedColumns(Protocol):
    """A table with names of columns: a DataFrame of pandas or polars."""

    @property
    def columns(self) -> Any: ...


Columns = TypeVar("Columns", bound=NamedColumns)


@overload
def antipignistic(probability: Mapping[Value, float]) -> dict[Value, float]: ...
@overload
def antipignistic(probability: Columns) -> Columns: ...
@overload
def antipignistic(probability: npt.ArrayLike) -> FloatArray: ...
def antipignistic(
    probability: Mapping[Value, float] | Columns | npt.ArrayLike,
) -> Any:
    """Transform probabilities into possibilities by the antipignistic method.

    ``pi_i = sum_j min(p_j, p_i)``; with ``p_1 >= ... >= p_m`` this is computed from the least
    probable value up as ``pi_i = pi_{i+1} + i (p_i - p_{i+1})``, so that tied values get equal
    degrees to the last bit. One-to-one; see `antipignistic_inverse`.

    Examples
    --------
    >>> antipignistic({3: 0.8, 8: 0.2})
    {3: 1.0, 8: 0.4}
    """
    return ANTIPIGNISTIC(probability)


@overload
def antipignistic_inverse(possibility: Mapping[Value, float]) -> dict[Value, float]: ...
@overload
def antipignistic_inverse(possibility: Columns) -> Columns: ...
@overload
def antipignistic_inverse(possibility: npt.ArrayLike) -> FloatArray: ...
def antipignistic_inverse(
    possibility: Mapping[Value, float] | Columns | npt.ArrayLike,
) -> Any:
    """Transform normalised possibilities back into the probabilities they came from.

    ``p_i = sum_{j >= i} (pi_j - pi_{j+1}) / j`` with ``pi_1 >= ... >= pi_m``, ``pi_{m+1} = 0``.
    `minimum_specificity` has no inverse.

    Examples
    --------
    >>> antipignistic_inverse({3: 1.0, 8: 0.4})
    {3: 0.8, 8: 0.2}
    """
    return INVERSE(possibility)


def probabilities(pi: FloatArray) -> FloatArray:
    """Return the probabilities of inferred possibilities ``(..., values)``.

    Possibilities are divided by their height first; a row of zeros becomes uniform.
    """
    height = pi.max(axis=-1, keepdims=True)
    scaled = np.where(height > 0.0, pi / np.where(height > 0.0, height, 1.0), 1.0)
    return np.asarray(antipignistic_inverse(scaled))


@overload
def minimum_specificity(
    probability: Mapping[Value, float], ties: Literal["order", "equal"] = "order"
) -> dict[Value, float]: ...
@overload
def minimum_specificity(
    probability: Columns, ties: Literal["order", "equal"] = "order"
) -> Columns: ...
@overload
def minimum_specificity(
    probability: npt.ArrayLike, ties: Literal["order", "equal"] = "order"
) -> FloatArray: ...
def minimum_specificity(
    probability: Mapping[Value, float] | Columns | npt.ArrayLike,
    ties: Literal["order", "equal"] = "order",
) -> Any:
    """Transform probabilities into the most specific possibilities that dominate them.

    ``pi_i = sum_{j >= i} p_j`` with ``p_1 >= ... >= p_m``. Not invertible.

    Parameters
    ----------
    probability : dict, array (m,), array (..., m) or table
    ties : ``"order"`` breaks ties by domain order, as the paper's example does;
        ``"equal"`` gives tied values one degree, the sum of all ``p_j <= p_i``.

    Examples
    --------
    >>> minimum_specificity({"a": 0.5, "b": 0.25, "c": 0.25})
    {'a': 1.0, 'b': 0.5, 'c': 0.25}
    >>> minimum_specificity({"a": 0.5, "b": 0.25, "c": 0.25}, ties="equal")
    {'a': 1.0, 'b': 0.5, 'c': 0.5}
    """
    if ties not in ("order", "equal"):
        raise DegreeError(f"ties={ties!r} is unknown; choose 'order' or 'equal'")
    return (MINIMUM_SPECIFICITY if ties == "order" else EQUAL_TIES)(probability)


def inverse(transform: str | Callable[..., object]) -> Callable[..., Any]:
    """Return the inverse of a transformation, where there is one.

    Examples
    --------
    >>> inverse(antipignistic)({"a": 1.0, "b": 1.0})
    {'a': 0.5, 'b': 0.5}
    """
    transformation = as_transform(transform)
    if transformation.inverse is None:
        raise DegreeError(
            f"{transformation.name} has no inverse (different probabilities give the same "
            "possibilities); use antipignistic where probabilities are needed back"
        )
    return transformation.inverse


ANTIPIGNISTIC = register_transform(
    Transformation(
        "antipignistic",
        loop=loops.ANTIPIGNISTIC,
        torch="pinesy.nets.differentiable_transforms:antipignistic",
        onnx="pinesy.exchange.onnx_transforms:add_antipignistic",
        inverse=antipignistic_inverse,
        function=antipignistic,
    )
)
MINIMUM_SPECIFICITY = register_transform(
    Transformation(
        "minimum_specificity",
        loop=loops.MINIMUM_SPECIFICITY,
        torch="pinesy.nets.differentiable_transforms:minimum_specificity",
        onnx="pinesy.exchange.onnx_transforms:add_minimum_specificity",
        function=minimum_specificity,
    )
)
EQUAL_TIES = Transformation(
    "minimum_specificity_equal_ties",
    loop=loops.EQUAL_TIES,
    onnx="pinesy.exchange.onnx_transforms:add_equal_ties",
)
INVERSE = Transformation("antipignistic_inverse", loop=loops.INVERSE)
