"""The combinations of true values that were observed, and the answers that rules give for them.

An *answer* is the set of fully possible values of each output. Rules give it for plain values, and
every combination of values that is asked about is inferred once, in batches.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy._common.names import by_name, column_slices
from pinesy._common.validation import BoolArray, as_list, listed
from pinesy.concepts.concept_kinds import ConceptKind
from pinesy.engine.program import Program
from pinesy.exceptions import DataError, ShapeError, placed
from pinesy.rulebase.targets import Target
from pinesy.rules.attributes import Attribute
from pinesy.rules.syntax.writer import show_value

Positions = npt.NDArray[np.int64]
#: What was observed: rows of values, columns by input, a condition; None for all combinations.
Observed = Any

#: Combinations of values that are inferred at a time.
BLOCK = 1 << 13
#: Up to so many combinations of values that can be read, the answers of all are inferred at once.
MAX_TABLE = 1 << 16
#: Combinations that are observed; more are refused.
MAX_OBSERVED = 1 << 20
#: The code of a combination for which the rules contradict each other.
CONTRADICTORY = -1


def observed_rows(observed: Observed, inputs: Sequence[Attribute]) -> Positions:
    """Return the different combinations (n, inputs) that were observed, as positions, sorted."""
    if observed is None or isinstance(observed, str | Callable):
        rows = _where(observed, inputs)
    else:
        columns = _columns(observed, inputs)
        with placed("observed"):
            first = len(as_list(columns[inputs[0].name], f"{inputs[0].name!r}"))
            each = [Target.of_values(columns[a.name], a, first).labels for a in inputs]
        rows = np.stack(each, axis=1).astype(np.int64)
    if not len(rows):
        raise DataError("observed holds no combination of values; there is nothing to keep right")
    return np.unique(rows, axis=0)


def _where(condition: Any, inputs: Sequence[Attribute]) -> Positions:
    """Return the combinations that meet a condition; all for None."""
    sizes = [len(a.domain) for a in inputs]
    if prod(sizes) > MAX_OBSERVED:
        raise DataError(
            f"the inputs have {prod(sizes):,} combinations of values, and at most {MAX_OBSERVED:,} "
            "are looked at; give those that were observed"
        )
    rows: Positions = np.indices(sizes).reshape(len(sizes), -1).T
    if condition is None:
        return rows
    if len(inputs) == 1:
        meets = inputs[0].where(condition)
    else:
        meets = Attribute.product("observed", *inputs).where(condition)
    bits = np.frombuffer(meets.mask.to_bytes(-(-len(rows) // 8), "little"), np.uint8)
    return np.asarray(rows[np.unpackbits(bits, bitorder="little", count=len(rows)).astype(bool)])


def _columns(observed: Any, inputs: Sequence[Attribute]) -> Mapping[str, Any]:
    """Return the values of each input, by name."""
    names = [a.name for a in inputs]
    if hasattr(observed, "columns"):
        observed = {name: observed[name] for name in observed.columns}
    if isinstance(observed, Mapping):
        given = by_name(observed, "input")
        missing = [name for name in names if name not in given]
        if missing:
            raise DataError(
                f"observed has no values of {listed(missing)}; give those of all inputs"
            )
        return given
    if isinstance(observed, np.ndarray) and observed.ndim:
        widths = set(observed.shape[1:2]) if observed.ndim == 2 else {0}
        columns: list[Any] = list(observed.T)
    else:
        each = as_list(observed, "observed")
        rows = [row if isinstance(row, tuple | list) else (row,) for row in each]
        widths, columns = set(map(len, rows)), list(map(list, zip(*rows, strict=False)))
    if widths - {len(names)}:
        raise ShapeError(
            f"observed has rows of {min(widths - {len(names)})} values; a row has one for each of "
            f"{listed(names)}, in this order"
        )
    return dict(zip(names, columns, strict=True)) if columns else {name: [] for name in names}


class ObservedAnswers:
    """The observed combinations, their right answers, and the variables of a remapping.

    A *variable* is a value of a kind that was observed; a remapping says what each is read as.

    Parameters
    ----------
    program : infers the outputs
    kinds : of its inputs
    rows : the combinations, as positions (n, inputs)
    labelled : the values, by kind and position, that are known to be read rightly

    Attributes
    ----------
    variables : (kind, position) of each variable
    truth : the position of each variable's value
    sizes : for each variable, how many values it can be read as
    fixed : whether each variable is labelled
    places : the variable (n, inputs) of each entry of the rows
    right : the code of the right answer of each row
    """

    def __init__(
        self,
        program: Program,
        kinds: Sequence[ConceptKind],
        rows: Positions,
        labelled: set[tuple[int, int]],
    ) -> None:
        self.program, self.kinds, self.rows = program, tuple(kinds), rows
        kind_of = {a.name: k for k, kind in enumerate(kinds) for a in kind.inputs}
        numbers = np.array([kind_of[a.name] for a in program.inputs])
        most = max(len(a.domain) for a in program.inputs)
        different, places = np.unique(numbers * most + rows, return_inverse=True)
        self.variables = [divmod(int(code), most) for code in different]
        self.truth: Positions = different % most
        self.sizes = np.array([len(kinds[k].domain) for k, _ in self.variables])
        self.fixed = np.array([variable in labelled for variable in self.variables])
        self.places: Positions = places.reshape(rows.shape)
        self._codes: dict[bytes, int] = {}
        self._starts = np.array([s.start for s in column_slices(program.inputs).values()])
        self._spans = [*column_slices(program.outputs).values()]
        self.right = self.codes(rows)
        self._refuse_contradictions()

    def _refuse_contradictions(self) -> None:
        lost = np.flatnonzero(self.right == CONTRADICTORY)
        if len(lost):
            raise DataError(
                f"the rules contradict each other where {self.shown(int(lost[0]))}, which was "
                "observed: there is no right answer to keep; correct the rules, or leave it out"
            )

    def shown(self, row: int) -> str:
        """Return a combination as text."""
        pairs = zip(self.program.inputs, self.rows[row].tolist(), strict=True)
        return ", ".join(f"{a.name} = {show_value(a.domain[p])}" for a, p in pairs)

    @property
    def is_tabled(self) -> bool:
        """Whether the answers of all combinations that can be read are held in a table."""
        return prod(len(a.domain) for a in self.program.inputs) <= MAX_TABLE

    @cached_property
    def _table(self) -> Positions:
        sizes = [len(a.domain) for a in self.program.inputs]
        return self._inferred(np.indices(sizes).reshape(len(sizes), -1).T).reshape(sizes)

    def codes(self, combinations: Positions) -> Positions:
        """Return a number for the answer to each combination (n, inputs): equal for equal answers.

        Cost: one inference for each different combination, or for all there are, once.
        """
        if self.is_tabled:
            return np.asarray(self._table[tuple(combinations.T)])
        different, which = np.unique(combinations, axis=0, return_inverse=True)
        return self._inferred(different)[which.ravel()]

    def _inferred(self, combinations: Positions) -> Positions:
        parts = [
            self._numbered(self.possible(self.evidence(combinations[start : start + BLOCK])))
            for start in range(0, len(combinations), BLOCK)
        ]
        return np.concatenate(parts)

    def _numbered(self, possible: BoolArray) -> Positions:
        """Return the number of each row of answers, the same in all calls."""
        packed = np.ascontiguousarray(np.packbits(possible, axis=1))
        keys, first, which = np.unique(
            packed.view(f"V{packed.shape[1]}").ravel(), return_index=True, return_inverse=True
        )
        lost = [not all(possible[i, span].any() for span in self._spans) for i in first]
        numbers = [
            CONTRADICTORY if none else self._codes.setdefault(key.tobytes(), len(self._codes))
            for key, none in zip(keys, lost, strict=True)
        ]
        return np.array(numbers, dtype=np.int64)[which]

    def evidence(self, combinations: Positions, unknown: BoolArray | None = None) -> Any:
        """Return plain values as degrees (n, columns); those that are `unknown` as all possible."""
        degrees = np.zeros((len(combinations), sum(len(a.domain) for a in self.program.inputs)))
        np.put_along_axis(degrees, combinations + self._starts, 1.0, axis=1)
        if unknown is not None:
            sizes = [len(a.domain) for a in self.program.inputs]
            degrees[np.repeat(unknown, sizes, axis=1)] = 1.0
        return degrees

    def possible(self, evidence: Any) -> BoolArray:
        """Return which values of the outputs are fully possible; none where rules contradict."""
        inference = self.program.infer(evidence)
        each = (inference[a] for a in self.program.outputs)
        return np.hstack([(pi.degrees == 1.0) & pi.normalised[:, None] for pi in each])
