"""Arguments of scikit-learn: features by the names of their columns, labels, weights, seeds."""

from collections.abc import Hashable, Mapping, Sequence
from importlib import import_module
from typing import Any
from warnings import warn

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_feature_names,
    _check_n_features,
    _check_sample_weight,
    check_consistent_length,
    column_or_1d,
    validate_data,
)

from pinesy._common.validation import BoolArray, FloatArray, listed, object_array
from pinesy.evidence.frames import frame_columns, is_category, row_values
from pinesy.evidence.plain_values import is_missing
from pinesy.exceptions import DataWarning, TableError
from pinesy.rules.attributes import Attribute

Columns = dict[str, npt.NDArray[Any]]


def read_features(estimator: Any, features: Any, reset: bool) -> Columns:
    """Return the columns of an array or a table by name, as scikit-learn checks them.

    Columns of an array are called ``x0, x1, ...``, or as those that the estimator was fitted with.
    With `reset` the estimator learns the number and the names of its features, else they must be
    the same. Arrays of objects may hold categories, those of truth values do.
    """
    frame = frame_columns(features, TableError)
    if frame is None:
        columns = _columns_of_array(estimator, features, reset)
        names = fitted_names(estimator)
    else:
        if len(features) == 0:
            raise TableError("Found array with 0 sample(s): the table has no rows")
        _check_feature_names(estimator, features, reset=reset)
        _check_n_features(estimator, features, reset=reset)
        columns = [_column(column.to_numpy()) for column in frame.values()]
        names = list(frame)
        known = fitted_names(estimator)
        if not reset and names != known and not hasattr(estimator, "feature_names_in_"):
            names = known  # scikit-learn has warned: fitted without names
    if reset:
        estimator._column_names = names
    table = dict(zip(names, columns, strict=True))
    for name, column in table.items():
        if column.dtype.kind == "f" and np.isinf(column).any():
            raise _infinite(name, f", row {int(np.isinf(column).argmax())}")
    return table


def _infinite(name: object, where: str = "") -> TableError:
    return TableError(
        f"column {name!r}{where}: the number is infinite (inf); write NaN for what is unknown, or "
        "a finite number"
    )


def category_columns(features: Any, mask: BoolArray) -> dict[str, Any]:
    """Return the columns of a data frame that have a type of categories, some of their rows.

    They keep that type, which says that numbers are categories, and which order these have.
    """
    narwhals = import_module("narwhals")
    return {
        name: narwhals.from_native(column, series_only=True).filter(mask.tolist()).to_native()
        for name, column in (frame_columns(features, TableError) or {}).items()
        if is_category(column)
    }


def _columns_of_array(estimator: Any, features: Any, reset: bool) -> list[npt.NDArray[Any]]:
    kind = features.dtype.kind if isinstance(features, np.ndarray) else ""
    if reset:
        estimator.__dict__.pop("_column_names", None)  # of an earlier fit
    is_mixed = kind == "O" and any(isinstance(cell, str | bool) for cell in features.ravel())
    dtype = None if is_mixed or kind == "b" else "numeric"
    rows = validate_data(estimator, features, reset=reset, dtype=dtype, ensure_all_finite=False)
    if dtype is None:
        return [_column(column) for column in rows.T]
    return list(np.asarray(rows, np.float64).T)


def fitted_names(estimator: Any) -> list[Any]:
    """Return the names of the features that an estimator was fitted with."""
    names = getattr(estimator, "_column_names", getattr(estimator, "feature_names_in_", None))
    count = getattr(estimator, "n_features_in_", 0)
    return [f"x{i}" for i in range(count)] if names is None else list(names)


def _column(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a column as floats where it has numbers, else as objects with None for unknown."""
    if array.dtype.kind in "iuf":
        return array.astype(np.float64)
    if array.dtype.kind == "b":
        return array.astype(object)
    if array.dtype.kind == "M":
        array = array.astype("datetime64[us]")  # whose list has dates, not whole numbers
    values = [None if is_missing(v) else v for v in array.tolist()]
    known = [v for v in values if v is not None]
    if known and all(isinstance(v, int | float) and not isinstance(v, bool) for v in known):
        return np.array([np.nan if v is None else v for v in values], dtype=np.float64)
    return object_array(values)


def feature_evidence(columns: Columns, inputs: Sequence[Attribute]) -> dict[str, Any]:
    """Return the columns that rules use, as evidence; what was never seen is unknown.

    A warning says how many values of which column these are.
    """
    missing = [a.name for a in inputs if a.name not in columns]
    if missing:
        raise TableError(
            f"the rules use {listed(missing)}, and there is no such column; there are "
            f"{listed(list(columns))}"
        )
    return {a.name: _known_values(a, columns[a.name]) for a in inputs}


def _known_values(attribute: Attribute, column: npt.NDArray[Any]) -> Any:
    """Return a column with values outside the domain as unknown."""
    if attribute.scale is not None:
        if column.dtype.kind == "f":
            return column
        for value in column:
            if value is not None:
                raise TableError(f"column {attribute.name!r} must hold numbers; got {value!r:.40}")
        return np.full(len(column), np.nan)
    values = column.tolist()
    outside = [v for v in values if not is_missing(v) and v not in attribute]
    if outside:
        values_text = listed([repr(v) for v in dict.fromkeys(outside)])
        warn(
            f"column {attribute.name!r}: {len(outside)} of {len(values)} values were never seen in "
            f"fit ({values_text:.80}); they are taken as unknown",
            DataWarning,
            stacklevel=4,
        )
    return object_array([None if is_missing(v) or v not in attribute else v for v in values])


def one_sample(sample: Any, names: Sequence[str]) -> dict[str, Any]:
    """Return one sample as evidence: a dict, a row of a frame, or numbers in the order of names."""
    values = _values_of_sample(sample, names)
    for name, value in values.items():
        if isinstance(value, float | np.floating) and np.isinf(value):
            raise _infinite(name)
    return values


def _values_of_sample(sample: Any, names: Sequence[str]) -> dict[str, Any]:
    if isinstance(sample, Mapping):
        return dict(sample)
    if (frame := frame_columns(sample, TableError)) is not None:
        if len(sample) != 1:
            raise TableError(f"one sample is explained at a time; got a table of {len(sample)}")
        return {name: column.to_numpy().tolist()[0] for name, column in frame.items()}
    if (row := row_values(sample)) is not None:
        return row
    values: list[Hashable] = np.asarray(sample).ravel().tolist()
    if len(values) != len(names):
        raise TableError(f"the sample has {len(values)} values; there are {len(names)} features")
    return dict(zip(names, values, strict=True))


def read_labels(y: Any, sample_weight: Any, columns: Columns) -> tuple[Any, Any]:
    """Return labels and weights, as scikit-learn checks them."""
    if y is None:
        raise TableError("requires y to be passed, but the target y is None")
    labels = column_or_1d(np.asarray(y), warn=True)
    first = next(iter(columns.values()))
    check_consistent_length(first, labels)
    missing = [row for row, label in enumerate(labels.tolist()) if is_missing(label)]
    if missing:
        count = f" (and {len(missing) - 1} more)" if missing[1:] else ""
        raise TableError(
            f"the label of row {missing[0]} is missing{count}: NaN, None or NA; leave out rows "
            "without a label"
        )
    if labels.dtype.kind == "f" and np.isinf(labels).any():
        raise TableError(
            f"the label of row {int(np.isinf(labels).argmax())} is infinity; give each class a "
            "name or a whole number"
        )
    try:
        check_classification_targets(labels)
    except ValueError as error:
        kinds = {type(label).__name__ for label in labels.tolist()}
        mixed = f"the labels are of several types, {listed(sorted(kinds))}; make all of them text"
        single = "name classes, for instance by pandas.cut"
        raise TableError(f"{error} Cure: {mixed if len(kinds) > 1 else single}") from None
    return labels, read_weights(sample_weight, first)


def read_weights(sample_weight: Any, column: npt.NDArray[Any]) -> FloatArray | None:
    """Return the weights of the rows that a column has, as scikit-learn checks them."""
    if sample_weight is None:
        return None
    if not np.any(np.asarray(sample_weight, dtype=object)):  # versions differ in what they say
        raise TableError(
            "all weights are 0; Sample weights must contain at least one non-zero number"
        )
    try:
        weights = _check_sample_weight(sample_weight, column, ensure_non_negative=True)
    except ValueError as error:
        raise TableError(
            f"{error} Give each of the {len(column)} rows a finite weight of 0 or more"
        ) from None
    return np.asarray(weights)


def weighted_classes(class_weight: Any, labels: Any, weights: Any) -> Any:
    """Return the weights of rows times those of their classes, as scikit-learn takes them."""
    if class_weight is None:
        return weights
    try:
        of_class = compute_sample_weight(class_weight, labels)
    except (ValueError, TypeError) as error:
        raise TableError(
            f"class_weight is {class_weight!r:.60}; give None, 'balanced' or a dict from classes "
            f"to numbers ({error})"
        ) from None
    return of_class if weights is None else weights * of_class


def seed_of(random_state: Any) -> int:
    """Return a seed: a whole number as it is, or a number drawn from a RandomState."""
    if isinstance(random_state, int | np.integer) and not isinstance(random_state, bool):
        return int(random_state)
    try:
        return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
    except ValueError:
        raise TableError(
            f"random_state is {random_state!r:.60}; give a whole number, a RandomState or None"
        ) from None
