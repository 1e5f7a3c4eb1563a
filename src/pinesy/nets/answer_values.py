"""Answers as users give them: values, by the names of attributes, and None where nobody knows."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from pinesy._common.names import by_name
from pinesy._common.validation import FloatArray, suggestion
from pinesy.exceptions import DataError, UnknownAttributeError, placed
from pinesy.rulebase.targets import Target
from pinesy.rules.attributes import Attribute

#: Stands for the position of a value that nobody knows.
UNKNOWN = -1

Positions = npt.NDArray[np.int64]


def named_answers(answers: object) -> dict[str, Any]:
    """Return answers by the names of attributes, or raise `DataError` if there are none."""
    if not isinstance(answers, Mapping) or not answers:
        raise DataError(
            "there are no answers to learn from; give a mapping from at least one attribute to the "
            "right values"
        )
    return by_name(answers, "answer")


def answer_positions(
    answers: object, attributes: Mapping[str, Attribute], known: Iterable[str], n: int
) -> dict[str, Positions]:
    """Return the positions (n,) of answers in their domains, `UNKNOWN` where they are None.

    Parameters
    ----------
    known : the names that answers may have
    n : the number of samples
    """
    found, names = {}, list(known)
    for name, values in named_answers(answers).items():
        if name not in names or name not in attributes:
            raise UnknownAttributeError(
                f"there is an answer for {name!r}, which is no output{suggestion(name, names)}"
            )
        with placed("answers"):
            found[name] = _positions(values, attributes[name], n)
    return found


def _positions(values: Any, attribute: Attribute, n: int) -> Positions:
    given = values.detach().cpu().numpy() if isinstance(values, Tensor) else values
    is_open = isinstance(given, Sequence) or getattr(given, "dtype", None) == np.dtype(object)
    if not is_open or None in attribute or not any(value is None for value in given):
        return Target.of_values(given, attribute, n).labels.astype(np.int64)
    missing = np.array([value is None for value in given])
    filled = [attribute.domain[0] if value is None else value for value in given]
    positions = Target.of_values(filled, attribute, n).labels.astype(np.int64)
    return np.where(missing, UNKNOWN, positions)


def one_hot(positions: Positions, size: int) -> FloatArray:
    """Return weights (n, size): 1 for the value that is known, and for all where none is."""
    weights = np.eye(size)[positions]
    weights[positions == UNKNOWN] = 1.0
    return weights


def known_labels(p: Tensor, positions: Positions) -> tuple[Tensor, Tensor, Tensor]:
    """Return probabilities that are 1 where a value is known, where that is, and its position."""
    at = torch.from_numpy(positions).to(p.device)
    is_known, at = at != UNKNOWN, at.clamp(min=0)
    sure = torch.nn.functional.one_hot(at, p.shape[1]).to(p)
    return torch.where(is_known[:, None], sure, p), is_known, at


def shown_answers(
    row: int, positions: Mapping[str, Positions], attributes: Mapping[str, Attribute]
) -> str:
    """Return what is known of a sample, for a message."""
    return ", ".join(
        f"{name} = {attributes[name].domain[at[row]]!r}"
        for name, at in positions.items()
        if at[row] != UNKNOWN
    )
