"""A table with names of columns, as those of pandas and polars have."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest


class Table:
    """A table with names of columns."""

    def __init__(self, columns: list[Any], rows: Any) -> None:
        self.columns, self.rows, self.ndim = columns, np.asarray(rows), 2

    def __array__(self, *_: Any, **__: Any) -> npt.NDArray[Any]:
        return self.rows

    def __len__(self) -> int:
        return len(self.rows)


def frame_of(columns: list[Any], rows: Any) -> Any:
    """Return a data frame of pandas, whose titles may repeat and may be numbers."""
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame(np.asarray(rows), columns=columns)


def frames(columns: dict[str, Any]) -> list[Any]:
    """Return columns as a data frame of each library that is installed."""
    libraries = [("pandas", "DataFrame"), ("polars", "DataFrame"), ("pyarrow", "table")]
    constructors = []
    for library, name in libraries:
        try:
            constructors.append(getattr(__import__(library), name))
        except ImportError:
            continue
    return [constructor(columns) for constructor in constructors]
