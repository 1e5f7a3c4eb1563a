"""A table with names of columns, as those of pandas and polars have."""

from typing import Any

import numpy as np
import numpy.typing as npt


class Table:
    """A table with names of columns."""

    def __init__(self, columns: list[Any], rows: Any) -> None:
        self.columns, self.rows, self.ndim = columns, np.asarray(rows), 2

    def __array__(self, *_: Any, **__: Any) -> npt.NDArray[Any]:
        return self.rows

    def __len__(self) -> int:
        return len(self.rows)
