"""Matrices and vectors in text files: numbers between commas, semicolons, tabs or spaces."""

import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from pinesy._common.files import read_text
from pinesy.exceptions import DataError

_SEPARATORS = re.compile(r"[,;\t ]\s*")
#: Of bounded length: 1e-999999999 would take gigabytes as a fraction.
_FRACTION = re.compile(r"[+-]?[\d.]{1,99}(e[+-]?\d{1,3}|/\d{1,99})?", re.ASCII | re.IGNORECASE)


def read_matrix(path: Path, exact: bool) -> Any:
    """Return the numbers of a file, a row for each line; as fractions if `exact`.

    A fraction such as 1/3 may stand for a number.
    """
    rows: list[list[float | Fraction]] = []
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if line.strip():
            texts = _SEPARATORS.split(line.strip())
            rows.append([_number(path, number, i, text, exact) for i, text in enumerate(texts, 1)])
            if len(rows[-1]) != len(rows[0]):
                raise DataError(
                    f"{path}, line {number}: has {len(rows[-1])} numbers, and the lines before "
                    f"have {len(rows[0])}; fill in what is missing, and write 0.5, not 0,5"
                )
    if not rows:
        raise DataError(f"{path}: holds no number; write one row of numbers in each line")
    return np.array(rows, dtype=object if exact else np.float64)


def read_vector(path: Path, exact: bool) -> Any:
    """Return the numbers of a file with one column or one row."""
    matrix = read_matrix(path, exact)
    if 1 not in matrix.shape:
        rows, columns = matrix.shape
        raise DataError(
            f"{path}: has {rows} lines of {columns} numbers; the right-hand side is one column"
        )
    return matrix.reshape(-1)


def _number(path: Path, line: int, column: int, text: str, exact: bool) -> float | Fraction:
    try:
        if not exact and "/" not in text:
            return float(text)
        if not _FRACTION.fullmatch(text):
            raise ValueError
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise DataError(
            f"{path}, line {line}, column {column}: {text!r:.40} is not a number; write numbers "
            "such as 0.25 or 1/4, without titles"
        ) from None
