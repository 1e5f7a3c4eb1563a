"""Cases: crisp inputs of a rule base, one value for each set of values that rules distinguish.

Inference is monotone, and every normalised distribution is above a crisp one. So what all cases
show of contradictions holds for all inputs.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, prod
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy._common.console import check_stop
from pinesy._common.masks import mask_of, mask_table
from pinesy._common.names import column_slices
from pinesy._common.validation import BoolArray, FloatArray
from pinesy.engine.program import Program, Trace
from pinesy.rulebase.clashes import clashes_by_rules
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute
from pinesy.rules.partition import partition_of
from pinesy.rules.propositions import Proposition

#: Cases that are tried, at most, and steps that they may take (a second or less).
MAX_CASES, MAX_STEPS = 100_000, 10**8
#: Cases of a block, and numbers that it may have (8 MB).
BLOCK, BLOCK_NUMBERS = 4096, 10**6
#: Groups of rules that contradict each other that are found, at most and one more.
MAX_GROUPS = 1000
#: Boxes of gaps that are found for an output, at most.
MAX_GAPS = 3

Indices = npt.NDArray[np.intp]


class CaseGrid:
    """The cases of a rule base, numbered in the order of its inputs.

    A cell is a set of values of an input that no rule distinguishes.

    Attributes
    ----------
    inputs : the attributes that have a value in a case
    shape : for each input the number of its cells
    size : the number of cases
    """

    def __init__(self, inputs: Sequence[Attribute], rule_sets: Sequence[RuleSet]) -> None:
        self.inputs = tuple(inputs)
        masks: dict[str, dict[int, None]] = {a.name: {} for a in inputs}
        for rule_set in rule_sets:
            for rule in rule_set.rules:
                for p in rule.premise.propositions:
                    if p.attribute.name in masks:
                        masks[p.attribute.name][p.mask] = None
        self._cell_of, self._first_values = [], list[Indices]()
        for attribute in inputs:
            cell_of = partition_of(len(attribute.domain), tuple(masks[attribute.name])).cell_of
            firsts, cells = np.unique(cell_of, return_index=True, return_inverse=True)[1:]
            self._first_values.append(np.sort(firsts))  # in the order of the domain
            self._cell_of.append(np.argsort(np.argsort(firsts))[cells.ravel()])
        self.shape = tuple(map(len, self._first_values))
        self.size = prod(self.shape)

    def rows(self, cells: Sequence[Indices], program: Program) -> FloatArray:
        """Return cases as the input columns of a program, given the cell of each input."""
        slices = column_slices(program.inputs)
        rows = np.zeros((len(cells[0]), program.code.n_inputs))
        for attribute, values, cell in zip(self.inputs, self._first_values, cells, strict=True):
            if attribute.name in slices:
                start = slices[attribute.name].start
                rows[np.arange(len(rows)), start + values[cell]] = 1.0
        return rows

    def blocks(self, program: Program) -> Iterator[tuple[int, list[Indices]]]:
        """Yield all cases in blocks: the number of the first, and the cell of each input."""
        size = max(1, min(BLOCK, BLOCK_NUMBERS // _columns(program)))
        for start in range(0, self.size, size):
            check_stop()
            numbers = np.arange(start, min(self.size, start + size))
            yield start, list(np.unravel_index(numbers, self.shape))

    def cells_in(self, masks: Mapping[str, int]) -> list[Indices]:
        """Return for each input the cells in its mask, all where it has none."""
        cells = []
        for attribute, values in zip(self.inputs, self._first_values, strict=True):
            mask = masks.get(attribute.name, attribute.full) & attribute.full
            cells.append(np.flatnonzero(mask_table(len(attribute.domain), [mask])[values, 0]))
        return cells

    def box(self, is_member: BoolArray, case: int) -> list[Indices]:
        """Return cells of each input, so that all cases in these cells are members.

        Parameters
        ----------
        is_member : for each case whether it is a member
        case : the number of a member, which is in the box

        The box is maximal: no cell can be added to an input.
        """
        grid = is_member.reshape(self.shape)
        box = [np.array([i]) for i in np.unravel_index(case, self.shape)]
        for axis, size in enumerate(self.shape):
            part = grid[np.ix_(*box[:axis], np.arange(size), *box[axis + 1 :])]
            others = tuple(i for i in range(len(box)) if i != axis)
            box[axis] = np.flatnonzero(part.all(axis=others))
        return box

    def propositions(self, box: Sequence[Indices]) -> tuple[Proposition, ...]:
        """Return the cells of each input as propositions, without those that are always true."""
        return tuple(
            Proposition(attribute, mask_of(np.flatnonzero(np.isin(cell_of, cells)).tolist()))
            for attribute, cell_of, cells in zip(self.inputs, self._cell_of, box, strict=True)
            if len(np.unique(cell_of)) > len(cells)
        )

    def evidence(self, case: int | Sequence[int]) -> dict[str, Any]:
        """Return a case, by its number or by the cell of each input: a plain value for each."""
        cells = np.array(np.unravel_index(case, self.shape) if isinstance(case, int) else case)
        return {
            a.name: _plain_value(a, int(values[cell]))
            for a, values, cell in zip(self.inputs, self._first_values, cells, strict=True)
        }


def max_cases(program: Program) -> int:
    """Return how many cases may be tried with a program."""
    return min(MAX_CASES, MAX_STEPS // (len(program.code.ops) + _columns(program)))


def _columns(program: Program) -> int:
    """Return how many numbers go into a program and come out of it for a case."""
    return max(1, program.code.n_inputs + program.code.n_outputs)


def _plain_value(attribute: Attribute, index: int) -> Hashable:
    """Return a value of the domain; of an interval a number that is certainly in it."""
    if attribute.scale is None:
        return attribute.domain[index]
    number = number_between(*attribute.scale.certain_numbers(index, index))
    degrees = attribute.scale.degrees(np.array([number]))[0]
    is_certain = degrees[index] == 1.0 and np.count_nonzero(degrees) == 1
    return number if is_certain else attribute.domain[index]


def number_between(low: float, high: float) -> float:
    """Return a number of the range ``[low, high)`` with few digits.

    Examples
    --------
    >>> from math import inf
    >>> number_between(-inf, 60000.0), number_between(0.3, 0.45), number_between(21.0, inf)
    (30000.0, 0.4, 30.0)
    >>> number_between(-inf, inf), number_between(0.5, 0.5000001)
    (0.0, 0.5)
    """
    if not isfinite(low) and not isfinite(high):
        return 0.0
    if not isfinite(low):
        low = 0.0 if high > 0.0 else 2.0 * high - 1.0
    if not isfinite(high):
        high = 2.0 * low + (low == 0.0) if low >= 0.0 else 1.0
    middle = (low + high) / 2
    for digits in range(1, 17):
        number = float(f"{middle:.{digits}g}")
        if low <= number < high:
            return number
    return low


@dataclass(frozen=True)
class CaseResults:
    """What all cases of a rule base show.

    Attributes
    ----------
    clashes : the numbers of the cases in which a group of rules contradict each other, by the name
        of their output and their indices; of more than `MAX_GROUPS` groups the first
    gaps : by the name of each output, for each case whether every value of it is fully possible
    idle : by the name of each output, the indices of its rules that exclude no value in any case
        without a contradiction
    """

    clashes: Mapping[tuple[str, tuple[int, ...]], Indices]
    gaps: Mapping[str, BoolArray]
    idle: Mapping[str, list[int]]


def try_all_cases(
    grid: CaseGrid, rule_sets: Sequence[RuleSet], outputs: Sequence[Attribute], tracer: Program
) -> CaseResults:
    """Return what all cases show.

    Parameters
    ----------
    rule_sets : in an order of inference
    outputs : the attributes whose gaps are wanted
    tracer : infers all attributes, with the degrees of premises
    """
    clashes: dict[tuple[str, tuple[int, ...]], list[Indices]] = {}
    gaps = {a.name: np.zeros(grid.size, dtype=np.bool_) for a in outputs}
    excludes = {s.output.name: np.zeros(len(s), dtype=np.bool_) for s in rule_sets}
    for start, trace in _traces(grid, tracer):
        groups = clashes_by_rules(rule_sets, trace) if len(clashes) <= MAX_GROUPS else ()
        for name, group, samples in groups:
            if len(clashes) > MAX_GROUPS:
                break
            clashes.setdefault((name, group), []).append(start + samples)
        for name, is_gap in gaps.items():
            is_open = trace[name].outcome == "no_rule"
            is_gap[start : start + len(is_open)] = is_open
        is_coherent = _coherent_cases(trace)
        for rule_set in rule_sets:
            degrees = trace.premises[rule_set.output.name]
            inside = np.maximum(rule_set.s, degrees.lambdas[is_coherent]) < 1.0
            outside = np.maximum(rule_set.r, degrees.rhos[is_coherent]) < 1.0
            excludes[rule_set.output.name] |= (inside | outside).any(axis=0)
    joined = {key: np.concatenate(parts) for key, parts in clashes.items()}
    idle = {name: np.flatnonzero(~is_active).tolist() for name, is_active in excludes.items()}
    return CaseResults(joined, gaps, idle)


def never_certain(
    grid: CaseGrid, tracer: Program, propositions: Sequence[Proposition]
) -> list[Proposition]:
    """Return the propositions on inferred attributes that are certain in no case."""
    inferred = {a.name for a in tracer.outputs}
    left = [p for p in propositions if p.attribute.name in inferred]
    for _, trace in _traces(grid, tracer):
        is_coherent = _coherent_cases(trace)
        left = [p for p in left if trace.necessity(p)[is_coherent].max(initial=0.0) <= 0.0]
    return left


def _coherent_cases(trace: Trace) -> BoolArray:
    """Return for each case whether no rules contradict each other."""
    heights = [trace.degrees(name).max(axis=1) for name in trace]
    return np.asarray(np.min(heights, axis=0) == 1.0)


def _traces(grid: CaseGrid, tracer: Program) -> Iterator[tuple[int, Trace]]:
    """Infer all cases in blocks; yield the number of the first case, and the results."""
    for start, cells in grid.blocks(tracer):
        trace = tracer.result(tracer.run(grid.rows(cells, tracer)))
        assert isinstance(trace, Trace)
        yield start, trace


def gap_boxes(grid: CaseGrid, is_gap: BoolArray) -> Iterator[tuple[int, list[Indices]]]:
    """Yield boxes of gaps that cover the first of them: the number of a case, and its box."""
    left = is_gap.copy()
    for _ in range(MAX_GAPS):
        if not left.any():
            return
        case = int(left.argmax())
        box = grid.box(is_gap, case)
        left.reshape(grid.shape)[np.ix_(*box)] = False
        yield case, box


def random_gap(grid: CaseGrid, output: Attribute, program: Program) -> dict[str, Any] | None:
    """Return a random case in which every value of an output is fully possible, if there is one."""
    count = min(BLOCK, max_cases(program), BLOCK_NUMBERS // _columns(program))
    cells = _random_cells(grid.shape, max(1, count))
    results = program.result(program.run(grid.rows(cells, program)))
    gaps = np.flatnonzero(results[output].outcome == "no_rule")
    return None if len(gaps) == 0 else grid.evidence([int(cell[gaps[0]]) for cell in cells])


def _random_cells(sizes: Sequence[int], count: int) -> list[Indices]:
    """Return random indices below each size, the same for the same arguments."""
    generator = np.random.default_rng(0)
    return [generator.integers(size, size=count) for size in sizes]


def case_of_rules(
    grid: CaseGrid, rule_sets: Sequence[RuleSet], rules: Sequence[int]
) -> dict[str, Any] | None:
    """Return a case in which the premises of some rules are certain, if one is found.

    Parameters
    ----------
    rule_sets : that the rules depend on, in an order of inference; they are of the last one
    rules : their indices
    """
    last = rule_sets[-1]
    masks: dict[str, int] = {}
    for index in rules:
        for name, mask in last.rules[index].premise.masks.items():
            masks[name] = masks.get(name, -1) & mask
    sources = _inputs_behind(rule_sets, masks)
    choices = [
        cells if attribute.name in sources else cells[:1]
        for attribute, cells in zip(grid.inputs, grid.cells_in(masks), strict=True)
    ]
    sizes = [len(choice) for choice in choices]
    if not all(sizes):
        return None
    known = {a.name: a for a in grid.inputs}
    program = Program([s.unit for s in rule_sets], [last.output], known, [last.output.name])
    count = max(1, min(BLOCK, max_cases(program), BLOCK_NUMBERS // _columns(program)))
    if prod(sizes) <= count:
        picked = list(np.unravel_index(np.arange(prod(sizes)), sizes))
    else:
        picked = _random_cells(sizes, count)
    cells_of = [choice[i] for choice, i in zip(choices, picked, strict=True)]
    trace = program.result(program.run(grid.rows(cells_of, program)))
    assert isinstance(trace, Trace)
    certain = (trace.premises[last.output.name].rhos[:, list(rules)] < 1.0).all(axis=1)
    shows = np.flatnonzero(certain)
    return None if len(shows) == 0 else grid.evidence([int(cell[shows[0]]) for cell in cells_of])


def _inputs_behind(rule_sets: Sequence[RuleSet], masks: Mapping[str, int]) -> set[str]:
    """Return the names of the attributes that some inferred attributes depend on."""
    names = {s.output.name for s in rule_sets if s.output.name in masks}
    for rule_set in reversed(rule_sets):
        if rule_set.output.name in names:
            names.update(a.name for a in rule_set.inputs)
    return names
