"""Programs by levels: what can be computed at once, for tools that work on whole arrays.

The level of a value is one more than the highest level of its operands; constants and inputs are
on level 0. The values of a level do not depend on each other, so those of one operation and about
as many operands are computed together, as a table with a row a value. Time and size are linear in
the length of the program, but for operands that are repeated to make rows equally long.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy.engine.code import Code
from pinesy.engine.derivatives import operand_values
from pinesy.engine.instructions import MAXMIN, STORE

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class OperationTable:
    """Operations of one kind on one level.

    Attributes
    ----------
    op : MAX, MIN, MAXMIN or MINMAX
    sides : the operands, as levels and rows there, each (values, operands); for MAXMIN and MINMAX
        the first and the second of each pair, from the lower level and the higher one
    """

    op: int
    sides: tuple[tuple[Numbers, Numbers], ...]


#: What is computed on a level; its rows are the values of all tables, in their order.
Level = list[OperationTable]


@dataclass(frozen=True, eq=False)
class ProgramLevels:
    """A program as levels, the first of which is level 1, and the level and row of each output."""

    levels: list[Level]
    outputs: Numbers

    @classmethod
    def of(cls, code: Code) -> "ProgramLevels":
        """Return the levels of a program."""
        n_fixed = len(code.constants) + code.n_inputs
        _, values = operand_values(code)
        depth = _depths(code, values, n_fixed)
        level, row = np.zeros(len(depth), np.int64), np.arange(len(depth))
        made = np.flatnonzero(code.ops < STORE)
        levels = []
        for number in range(1, int(depth.max(initial=0)) + 1):
            here = made[depth[n_fixed + made] == number]
            groups = list(_groups(code, here))
            order = np.concatenate([group for _, group in groups])
            operands = [_operands(code, values, group, width) for width, group in groups]
            ops = [int(code.ops[group[0]]) for _, group in groups]
            levels.append([_table(o, op, level, row) for o, op in zip(operands, ops, strict=True)])
            level[n_fixed + order], row[n_fixed + order] = number, np.arange(len(order))
        stores = np.flatnonzero(code.ops == STORE)
        stored = np.zeros(code.n_outputs, np.int64)
        stored[code.targets[stores]] = values[code.starts[stores]]
        return cls(levels, np.stack([level[stored], row[stored]], axis=1))


def _depths(code: Code, values: npt.NDArray[Any], n_fixed: int) -> Numbers:
    """Return the level of each value."""
    depth = [0] * (n_fixed + len(code.ops))
    starts, operands = code.starts.tolist(), values.tolist()
    for i in np.flatnonzero(code.ops < STORE).tolist():
        depth[n_fixed + i] = 1 + max(depth[v] for v in operands[starts[i] : starts[i + 1]])
    return np.array(depth, np.int64)


def _groups(code: Code, instructions: Numbers) -> Iterator[tuple[int, Numbers]]:
    """Yield instructions of one operation and about equally many operands, with that number."""
    lengths = (code.starts[instructions + 1] - code.starts[instructions]).astype(np.int64)
    lengths //= np.where(code.ops[instructions] < MAXMIN, 1, 2)
    widths = np.array([_width(n) for n in lengths.tolist()])
    keys = widths * 4 + code.ops[instructions]
    for key in np.unique(keys).tolist():
        group = keys == key
        yield int(lengths[group].max()), instructions[group]


def _width(count: int) -> int:
    """Return the least of 1, 2, 3, 4, 6, 8, 12, 16, ... that is not below a number."""
    power = 1 << (count - 1).bit_length()
    return power * 3 // 4 if power >= 4 and count <= power * 3 // 4 else power


def _table(operands: npt.NDArray[Any], op: int, level: Numbers, row: Numbers) -> OperationTable:
    """Return operations whose operands have their level and row."""
    if op < MAXMIN:
        return OperationTable(op, ((level[operands], row[operands]),))
    order = np.argsort(level[operands], axis=-1, kind="stable")
    one, two = np.moveaxis(np.take_along_axis(operands, order, axis=-1), -1, 0)
    return OperationTable(op, ((level[one], row[one]), (level[two], row[two])))


def _operands(
    code: Code, values: npt.NDArray[Any], instructions: Numbers, width: int
) -> npt.NDArray[Any]:
    """Return the operands of instructions (n, width), of pairs (n, width, 2).

    Shorter ones repeat their last: ``max(x, x) = x``.
    """
    size = 1 if code.ops[instructions[0]] < MAXMIN else 2
    first, stop = (code.starts[instructions + k].astype(np.int64) for k in (0, 1))
    places = first[:, None] + size * np.arange(width)
    places = np.minimum(places, stop[:, None] - size)
    found: npt.NDArray[Any] = values[places[..., None] + np.arange(size)]
    return found if size > 1 else found[..., 0]
