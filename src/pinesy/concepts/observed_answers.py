"""Kinds of inputs, the observed combinations of their true values, and their answers.

A *kind* is a set of inputs that share a network, so that their values are remapped alike. An
*answer* is the set of fully possible values of each output, inferred from plain values.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy._common.masks import positions
from pinesy._common.names import by_name, column_slices, name_of
from pinesy._common.validation import BoolArray, as_list, check_known, listed
from pinesy.engine.program import Program
from pinesy.evidence.frames import frame_columns
from pinesy.evidence.targets import Target
from pinesy.exceptions import DataError, DomainError, ShapeError, placed
from pinesy.rules.attributes import Attribute
from pinesy.rules.syntax.writer import show_value

Indices = npt.NDArray[np.int64]
#: Labelled values by the name of a kind, or by input.
Labelled = Mapping[Any, Iterable[Hashable]]
#: Observed combinations: rows of values, columns by input, a condition; None for all of them.
Observed = Any

#: The most combinations of values that are inferred at a time.
BLOCK = 1 << 13
#: The most combinations of values whose answers are all inferred into a table.
MAX_TABLE = 1 << 16
#: The most observed combinations.
MAX_OBSERVED = 1 << 20
#: The code of a combination for which the rules contradict each other.
CONTRADICTORY = -1


@dataclass(frozen=True)
class ConceptKind:
    """Inputs that share a network.

    Attributes
    ----------
    name : the name of the kind
    inputs : the attributes; their domains are equal
    """

    name: str
    inputs: tuple[Attribute, ...]

    @property
    def domain(self) -> tuple[Hashable, ...]:
        """The values that can be read."""
        return self.inputs[0].domain

    def __post_init__(self) -> None:
        for other in self.inputs:
            if _typed_domain(other) != _typed_domain(self.inputs[0]):
                raise DomainError(
                    f"the kind {self.name!r} has {self.inputs[0]!r} and {other!r}; inputs that "
                    "share a network have equal domains"
                )


def _typed_domain(attribute: Attribute) -> tuple[tuple[type, Hashable], ...]:
    """Return the values of a domain with their types, so that True differs from 1."""
    return tuple((type(value), value) for value in attribute.domain)


def concept_kinds(
    inputs: Sequence[Attribute], kinds: Mapping[str, Iterable[Any]] | None
) -> tuple[ConceptKind, ...]:
    """Return the kinds of inputs, by default one for each distinct domain.

    With `kinds`, each other input is a kind by itself.
    """
    groups: dict[Any, list[Attribute]] = {}
    if kinds is None:
        for attribute in inputs:
            groups.setdefault(_typed_domain(attribute), []).append(attribute)
        return tuple(ConceptKind(listed([a.name for a in g]), tuple(g)) for g in groups.values())
    if not isinstance(kinds, Mapping):
        raise DomainError(
            f"kinds is {kinds!r:.60}; give a dict from the name of each kind to its inputs"
        )
    remaining = {a.name: a for a in inputs}
    named_kinds = [
        ConceptKind(name, _take_inputs(name, members, remaining, inputs))
        for name, members in kinds.items()
    ]
    return (*named_kinds, *(ConceptKind(a.name, (a,)) for a in remaining.values()))


def _take_inputs(
    kind: str, members: Iterable[Any], remaining: dict[str, Attribute], inputs: Sequence[Attribute]
) -> tuple[Attribute, ...]:
    """Remove the inputs of a kind from the remaining ones, and return them."""
    if isinstance(members, str | Attribute) or not isinstance(members, Iterable):
        raise DomainError(f"the kind {kind!r} is {members!r:.60}; give a list of inputs")
    names = [name_of(member) for member in members]
    known = dict.fromkeys(a.name for a in inputs)
    for name in names:
        check_known(name, known, f"the kind {kind!r}: there is no input {name!r}")
        if name not in remaining or names.count(name) > 1:
            raise DomainError(f"the kind {kind!r}: the input {name!r} is in a kind already")
    if not names:
        raise DomainError(f"the kind {kind!r} has no inputs; leave it out")
    return tuple(remaining.pop(name) for name in names)


def by_kind(kinds: Sequence[ConceptKind], content: Mapping[Any, Any]) -> list[tuple[Any, int, Any]]:
    """Return the name, the index of the kind, and the content of each entry of a mapping.

    Its keys are names of kinds or inputs.
    """
    kind_of = {a.name: k for k, kind in enumerate(kinds) for a in kind.inputs}
    kind_of |= {kind.name: k for k, kind in enumerate(kinds)}
    by_kind_name = by_name(content, "kind")
    for name in by_kind_name:
        check_known(name, kind_of, f"there is no kind of inputs {name!r}")
    return [(name, kind_of[name], entry) for name, entry in by_kind_name.items()]


def labelled_values(
    kinds: Sequence[ConceptKind], labelled: Labelled | None
) -> set[tuple[int, int]]:
    """Return the index of the kind and the position in its domain of each labelled value."""
    if not isinstance(labelled, Mapping | None):
        raise DataError(f"labelled is {labelled!r:.60}; give a mapping from kinds to values")
    with placed("labelled"):
        return {
            (k, kinds[k].inputs[0].position(value))
            for name, k, values in by_kind(kinds, labelled or {})
            for value in as_list(values, f"{name!r}")
        }


def observed_rows(observed: Observed, inputs: Sequence[Attribute]) -> Indices:
    """Return the distinct observed combinations (n, inputs) as positions, sorted."""
    if observed is None or isinstance(observed, str | Callable):
        rows = _matching_combinations(observed, inputs)
    else:
        by_input = _observed_columns(observed, inputs)
        with placed("observed"):
            first = len(as_list(by_input[inputs[0].name], f"{inputs[0].name!r}"))
            columns = [Target.of_values(by_input[a.name], a, first).labels for a in inputs]
        rows = np.stack(columns, axis=1).astype(np.int64)
    if not len(rows):
        raise DataError("observed holds no combination of values; there is nothing to keep right")
    return np.unique(rows, axis=0)


def _matching_combinations(condition: Any, inputs: Sequence[Attribute]) -> Indices:
    """Return the combinations that satisfy a condition; all for None."""
    sizes = [len(a.domain) for a in inputs]
    if prod(sizes) > MAX_OBSERVED:
        raise DataError(
            f"the inputs have {prod(sizes):,} combinations of values, and at most {MAX_OBSERVED:,} "
            "are looked at; give those that were observed"
        )
    rows = _combinations(sizes)
    if condition is None:
        return rows
    joint = inputs[0] if len(inputs) == 1 else Attribute.product("observed", *inputs)
    return np.asarray(rows[positions(joint.where(condition).mask)])


def _combinations(sizes: Sequence[int]) -> Indices:
    return np.asarray(np.indices(sizes).reshape(len(sizes), -1).T)


def _observed_columns(observed: Any, inputs: Sequence[Attribute]) -> Mapping[str, Any]:
    """Return the observed values of each input, by name."""
    names = [a.name for a in inputs]
    if (columns_by_name := frame_columns(observed)) is not None:
        observed = columns_by_name
    if isinstance(observed, Mapping):
        by_input = by_name(observed, "input")
        missing = [name for name in names if name not in by_input]
        if missing:
            raise DataError(
                f"observed has no values of {listed(missing)}; give those of all inputs"
            )
        return by_input
    if isinstance(observed, np.ndarray) and observed.ndim:
        widths = set(observed.shape[1:2]) if observed.ndim == 2 else {0}
        columns: list[Any] = list(observed.T)
    else:
        samples = as_list(observed, "observed")
        rows = [row if isinstance(row, tuple | list) else (row,) for row in samples]
        widths, columns = set(map(len, rows)), list(map(list, zip(*rows, strict=False)))
    if widths - {len(names)}:
        raise ShapeError(
            f"observed has rows of {min(widths - {len(names)})} values; a row has one for each of "
            f"{listed(names)}, in this order"
        )
    return dict(zip(names, columns, strict=True)) if columns else {name: [] for name in names}


class ObservedAnswers:
    """The observed combinations, their right answers, and the variables of a remapping.

    A *variable* is an observed value of a kind; a remapping assigns it the value it is read as.

    Parameters
    ----------
    program : the compiled rules
    kinds : the kinds of its inputs
    rows : the combinations, as positions (n, inputs)
    labelled : the kind and position of each value that is known to be read correctly

    Attributes
    ----------
    variables : (kind, position) of each variable
    truth : the position of each variable's value
    sizes : the number of values that each variable can be read as
    fixed : whether each variable is labelled
    variable_of : the variable (n, inputs) of each entry of the rows
    right : the code of the right answer of each row
    """

    def __init__(
        self,
        program: Program,
        kinds: Sequence[ConceptKind],
        rows: Indices,
        labelled: set[tuple[int, int]],
    ) -> None:
        self.program, self.rows = program, rows
        kind_of = {a.name: k for k, kind in enumerate(kinds) for a in kind.inputs}
        input_kinds = np.array([kind_of[a.name] for a in program.inputs])
        self._input_sizes = [len(a.domain) for a in program.inputs]
        most = max(self._input_sizes)
        different, indices = np.unique(input_kinds * most + rows, return_inverse=True)
        self.variables = [divmod(int(code), most) for code in different]
        self.truth: Indices = different % most
        self.sizes = np.array([len(kinds[k].domain) for k, _ in self.variables])
        self.fixed = np.array([variable in labelled for variable in self.variables])
        self.variable_of: Indices = indices.reshape(rows.shape)
        self._codes: dict[bytes, int] = {}
        self._starts = np.array([s.start for s in column_slices(program.inputs).values()])
        self._spans = [*column_slices(program.outputs).values()]
        self.right = self.codes(rows)
        for row in self.rows[self.right == CONTRADICTORY].tolist():
            pairs = zip(self.program.inputs, row, strict=True)
            values_text = ", ".join(f"{a.name} = {show_value(a.domain[p])}" for a, p in pairs)
            raise DataError(
                f"the rules contradict each other where {values_text}, which was observed: there "
                "is no right answer to keep; correct the rules, or leave it out"
            )

    @property
    def is_tabled(self) -> bool:
        """Whether there is a table of the answers to all combinations."""
        return prod(self._input_sizes) <= MAX_TABLE

    @cached_property
    def _table(self) -> Indices:
        return self._infer_codes(_combinations(self._input_sizes)).reshape(self._input_sizes)

    def codes(self, combinations: Indices) -> Indices:
        """Return the code of the answer to each combination (n, inputs): equal for equal answers.

        Cost: one inference for each distinct combination, or one for the table.
        """
        if self.is_tabled:
            return np.asarray(self._table[tuple(combinations.T)])
        different, which = np.unique(combinations, axis=0, return_inverse=True)
        return self._infer_codes(different)[which.ravel()]

    def _infer_codes(self, combinations: Indices) -> Indices:
        """Return the codes of inferred answers, in blocks."""
        parts = [
            self._answer_codes(self.possible(combinations[start : start + BLOCK]))
            for start in range(0, len(combinations), BLOCK)
        ]
        return np.concatenate(parts)

    def _answer_codes(self, possible: BoolArray) -> Indices:
        """Return the code of each row of answers, consistent between calls."""
        packed = np.ascontiguousarray(np.packbits(possible, axis=1))
        keys, first, which = np.unique(
            packed.view(f"V{packed.shape[1]}").ravel(), return_index=True, return_inverse=True
        )
        has_answer = [all(possible[i, span].any() for span in self._spans) for i in first]
        codes = [
            self._codes.setdefault(key.tobytes(), len(self._codes)) if is_valid else CONTRADICTORY
            for key, is_valid in zip(keys, has_answer, strict=True)
        ]
        return np.array(codes, dtype=np.int64)[which]

    def possible(self, combinations: Indices, unknown: BoolArray | None = None) -> BoolArray:
        """Return which output values are fully possible (n, values); none if rules contradict.

        All values of `unknown` inputs are possible.
        """
        degrees = np.zeros((len(combinations), sum(self._input_sizes)))
        np.put_along_axis(degrees, combinations + self._starts, 1.0, axis=1)
        if unknown is not None:
            degrees[np.repeat(unknown, self._input_sizes, axis=1)] = 1.0
        inference = self.program.infer(degrees)
        possibilities = (inference[a] for a in self.program.outputs)
        return np.hstack([(pi.degrees == 1.0) & pi.normalised[:, None] for pi in possibilities])
