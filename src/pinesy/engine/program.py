"""Compiled programs, how they run on samples, and their results."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy._common.caching import (
    cached_on_owner,
    kernels_pay,
    load_kernels,
    state_without_cache,
)
from pinesy._common.console import notice
from pinesy._common.names import name_of
from pinesy._common.threads import n_threads, run_on_threads
from pinesy._common.validation import FloatArray, suggestion
from pinesy.engine.code import Code
from pinesy.engine.derivatives import Derivatives
from pinesy.engine.linker import link
from pinesy.engine.number_types import (
    FLOAT64,
    KERNELS,
    NumberType,
    as_degrees,
    code_in_dtype,
    number_type,
    raise_invalid_row,
    rows_in_dtype,
)
from pinesy.engine.rule_set_kinds import RuleUnit
from pinesy.engine.walk import walk, walk_time
from pinesy.evidence.evidence_form import Evidence, EvidenceForm, Transform
from pinesy.evidence.rows import Rows
from pinesy.exceptions import DomainError, ShapeError, UnknownAttributeError
from pinesy.rules.attributes import Attribute
from pinesy.rules.possibility import Possibility
from pinesy.rules.propositions import Proposition
from pinesy.rules.syntax.writer import show_value

#: Rows of scratch, the samples of a block: long ones where the scratch of a program then fits in
#: the L2 cache beside its inputs, else short ones.
LONG_ROW_BYTES, SHORT_ROW_BYTES, SCRATCH_BYTES = 1024, 512, 512 * 1024
#: A cache line. Rows have one more: strides of 512 bytes would map them to the same lines.
LINE_BYTES = 64
#: Bytes of input rows that are copied together at a time.
CHUNK_BYTES = 2 * 1024 * 1024
#: Instructions times samples below which a second thread costs more than it saves.
THREAD_STEPS = 200_000


@dataclass(frozen=True, eq=False, repr=False)
class Inference(Mapping[str, Possibility]):
    """The inferred distributions, by attribute name or attribute.

    For a batch each is a `Possibility` of shape ``(n_samples, |domain|)``.
    """

    _code: Code
    _attributes: dict[str, Attribute]
    _measures: dict[Proposition, int]
    _out: npt.NDArray[Any]
    is_batch: bool

    def __getitem__(self, key: str | Attribute) -> Possibility:
        name = name_of(key)
        degrees, coherence = as_degrees(self.degrees(name)), self._code.coherence
        height: Any = 1.0  # the lowest of this distribution and of those it depends on
        if name in coherence:
            heights = as_degrees(self._out[coherence[name]])
            height = heights if self.is_batch else float(heights[0])
        return Possibility(self._attributes[name], degrees, height)

    def degrees(self, key: str | Attribute) -> npt.NDArray[Any]:
        """Return the degrees of an attribute in the dtype of the program.

        In uint8, 255 represents 1; a `Possibility` has float64 degrees.
        """
        name = name_of(key)
        if name not in self._code.columns:
            raise UnknownAttributeError(f"{name!r} was not inferred{suggestion(name, self)}")
        return self._columns(self._code.columns[name])

    def possibility(self, proposition: Proposition) -> Any:
        """Return ``Pi(a in A)`` of a proposition that is an output, or that is on an output."""
        _check_proposition(proposition)
        if proposition not in self._measures:
            return self[proposition.attribute].possibility(proposition)
        degrees = as_degrees(self._out[self._measures[proposition]])
        return degrees if self.is_batch else float(degrees[0])

    def necessity(self, proposition: Proposition) -> Any:
        """Return ``N(a in A) = 1 - Pi(a not in A)``; `possibility` must have the complement."""
        _check_proposition(proposition)
        return 1.0 - self.possibility(proposition.complement)

    def _columns(self, columns: slice) -> npt.NDArray[Any]:
        return self._out[columns].T if self.is_batch else self._out[columns, 0]

    def __iter__(self) -> Iterator[str]:
        return iter(self._attributes)

    def __len__(self) -> int:
        return len(self._attributes)

    def __repr__(self) -> str:
        class_name = type(self).__name__
        if self.is_batch:
            return f"{class_name}({self._out.shape[1]} samples of {', '.join(self)})"
        texts = [
            f"{name}={show_value(pi.best)}" if pi.decided else f"{name}: {pi.verdict}"
            for name, pi in self.items()
        ]
        return f"{class_name}({', '.join(texts)})"

    def _repr_html_(self) -> str | None:
        from pinesy.display.rules_html import results_html

        return results_html(self) if len(self) else None


def _check_proposition(proposition: object) -> None:
    if not isinstance(proposition, Proposition):
        raise DomainError(f"{proposition!r:.60} is no proposition; give attribute.isin({{...}})")


@dataclass(frozen=True, eq=False)
class PremiseDegrees:
    """The degrees of the premises of a rule set's rules [eq:pinegpiformulae].

    ``lambdas[..., i] = min_j pi(p_j)`` and ``rhos[..., i] = max_j pi(not p_j)`` for rule `i`, of
    shape ``(n_rules,)``, or ``(n_samples, n_rules)`` for a batch.
    """

    lambdas: FloatArray
    rhos: FloatArray


@dataclass(frozen=True, eq=False, repr=False)
class Trace(Inference):
    """An inference with every inferred attribute and every premise degree."""

    @property
    def premises(self) -> dict[str, PremiseDegrees]:
        """The premise degrees of each rule set, by the name of its output attribute."""
        spans = self._code.degrees.items()
        pairs = {name: as_degrees(self._columns(span)) for name, span in spans}
        return {n: PremiseDegrees(d[..., 0::2], d[..., 1::2]) for n, d in pairs.items()}


class Program:
    """Rule sets compiled for some outputs: compile once, run many.

    Attributes
    ----------
    inputs : the attributes that evidence is needed for, in the order of their columns
    outputs : the attributes that are inferred
    dtype : the dtype of its degrees

    Parameters
    ----------
    units : the rule sets in topological order
    outputs : the attributes to infer
    known : all inputs of the rules by name
    degrees : whether to return premise degrees too: of all rule sets, or of those of some outputs
    propositions : propositions whose possibilities ``Pi(a in A)`` to infer, without the
        distribution of `a`
    unnormalised : the inputs that may be not normalised
    others : the names of other attributes that tables of inputs may have
    """

    def __init__(
        self,
        units: Sequence[RuleUnit],
        outputs: Sequence[Attribute],
        known: Mapping[str, Attribute],
        degrees: bool | Collection[str] = False,
        propositions: Sequence[Proposition] = (),
        unnormalised: Collection[str] = (),
        others: Collection[str] = (),
    ) -> None:
        all_outputs = [u.output.name for u in units] if degrees is True else []
        traced = all_outputs if isinstance(degrees, bool) else degrees
        with notice("pinesy: compiling the rules ..."):
            self.code = link(units, outputs, known.values(), traced, unnormalised, propositions)
        self.inputs = self.code.inputs
        self.outputs = tuple(outputs)
        self._propositions = propositions
        concluded = frozenset(u.output.name for u in units)
        self._form = EvidenceForm(self.inputs, known, concluded, others)
        self._by_name = {a.name: a for a in outputs}
        self._result = Inference if degrees is False else Trace

    def __repr__(self) -> str:
        inputs, outputs = (", ".join(a.name for a in s) for s in (self.inputs, self.outputs))
        return f"Program({inputs:.60} -> {outputs:.60}: {len(self.code.ops)} instructions)"

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of its degrees."""
        return self.code.dtype

    def astype(self, dtype: NumberType) -> "Program":
        """Return the program in another dtype: float64, float32, uint16 or uint8.

        Inputs and parameters are rounded to nearest; the largest unsigned integer represents 1.
        Results are the rounding of the exact results, because minimum and maximum only copy numbers
        and rounding keeps their order (docs/speed.md).

        Examples
        --------
        >>> from pinesy import Attribute, Cascade, If, RuleSet
        >>> rain, grass = Attribute("rain", ["no", "yes"]), Attribute("grass", ["dry", "wet"])
        >>> rules = Cascade(RuleSet([If(rain.isin({"yes"})).then(grass.isin({"wet"}))]))
        >>> rules.compile(dtype="uint8")({"rain": [0.2, 1.0]}).degrees("grass")
        array([ 51, 255], dtype=uint8)
        """
        new_dtype = number_type(dtype)
        return self if new_dtype == self.dtype else _program_in_dtype(self, new_dtype)

    def run(self, x: npt.NDArray[Any], constants: FloatArray | None = None) -> npt.NDArray[Any]:
        """Return the output columns (columns, n) for the input columns (n, columns).

        `constants` replace `code.constants`.
        """
        if not isinstance(x, np.ndarray) or x.shape[1:] != (self.code.n_inputs,):
            raise ShapeError(f"x is an array (n, {self.code.n_inputs}); got {x!r:.60}")
        code = self.code if constants is None else replace(self.code, constants=constants)
        return run(code, Rows(self.inputs, [x], len(x), True))

    @property
    def derivatives(self) -> Derivatives:
        """The derivatives of the outputs by inputs and constants."""
        if self.dtype != FLOAT64:
            raise DomainError(f"derivatives are of float64; this program is of {self.dtype}")
        return _derivatives(self)

    @cached_property
    def _measures(self) -> dict[Proposition, int]:
        """The output column of the possibility of each proposition."""
        first = self.code.measures.start
        return {p: first + i for i, p in enumerate(self._propositions)}

    def __call__(self, evidence: Evidence, *, transform: Transform = None) -> Inference:
        """Infer: ``program(x)`` is ``program.infer(x)``."""
        return self.infer(evidence, transform=transform)

    def infer(self, evidence: Evidence, *, transform: Transform = None) -> Inference:
        """Infer the outputs for one sample or a batch.

        Parameters
        ----------
        evidence : for each input attribute a plain value (None: missing), a dict
            ``{value: degree}`` (0 for other values), a sequence of degrees, a `Possibility` or, for
            a batch, an array ``(n_samples, |domain|)`` or a list of values; or a table of values.
            The fastest form is one array with the concatenated columns of all `inputs`. Arrays of
            the `dtype` of the program are not rounded (in uint8, 255 represents 1); all others are.
        transform : ``"antipignistic"`` or ``"minimum_specificity"`` if the evidence has
            probabilities (of any float dtype): they are transformed block by block, without a
            copy. Plain values and each `Possibility` are not transformed.
        """
        rows = self.rows(evidence, transform)
        return self.result(run(self.code, rows), is_batch=rows.is_batch)

    def rows(self, evidence: Evidence, transform: Transform = None) -> Rows:
        """Return evidence that `infer` takes as rows of columns, without a check of degrees."""
        return self._form.rows(evidence, transform)

    def result(self, out: npt.NDArray[Any], *, is_batch: bool = True) -> Inference:
        """Return the distributions of output columns (columns, n), as returned by `run`."""
        return self._result(self.code, self._by_name, self._measures, out, is_batch)

    def columns(self, evidence: Evidence, transform: Transform = None) -> npt.NDArray[Any]:
        """Return the output columns (columns, n) for evidence that `infer` takes."""
        return run(self.code, self.rows(evidence, transform))


@cached_on_owner
def _derivatives(program: Program) -> Derivatives:
    return Derivatives(program.code)


@cached_on_owner
def _program_in_dtype(program: Program, dtype: np.dtype[Any]) -> Program:
    if program.dtype != FLOAT64:
        raise DomainError(f"a program is rounded once; this one is of {program.dtype} already")
    other = Program.__new__(Program)
    other.__dict__ |= state_without_cache(program) | {"code": code_in_dtype(program.code, dtype)}
    return other


def run(code: Code, rows: Rows) -> npt.NDArray[Any]:
    """Return the outputs of the program, of shape ``(code.n_outputs, n_samples)``.

    Memory: the result, and per thread a block of scratch and a chunk of input rows.
    """
    out = np.empty((code.n_outputs, rows.n), code.dtype)
    if not kernels_pay(KERNELS, walk_time(code, rows.n)):
        bad = walk(code, rows_in_dtype(rows, 0, rows.n, code.dtype), out)
        if bad >= 0:
            raise_invalid_row(rows, bad, code.dtype)
    elif rows.n == 1:
        work = np.empty((code.n_slots, 1), code.dtype)
        x = rows_in_dtype(rows, 0, 1, code.dtype)
        if _kernels(code).run_sample(x, out, *code.program, work) >= 0:
            raise_invalid_row(rows, 0, code.dtype)
    else:
        _run_blocks(code, rows, out)
    out.setflags(write=False)  # results are values
    return out


def _run_blocks(code: Code, rows: Rows, out: npt.NDArray[Any]) -> None:
    """Fill `out` with the outputs of a batch, by chunks of blocks on several threads."""
    size = code.dtype.itemsize
    is_small = code.n_slots * LONG_ROW_BYTES <= SCRATCH_BYTES
    row_bytes = LONG_ROW_BYTES if is_small else SHORT_ROW_BYTES
    width = max(1, min(row_bytes // size, rows.n))
    chunk = max(1, CHUNK_BYTES // (size * width * max(1, code.n_inputs))) * width
    starts = range(0, rows.n, chunk)
    kernels, columns = _kernels(code), rows.columns
    if columns is not None and columns[0].dtype != code.dtype:
        columns = None
    shape = (code.n_slots + kernels.extra_rows, (row_bytes + LINE_BYTES) // size)

    def work(queue: Iterator[int]) -> int:
        """Run chunks until one has an invalid row; return that row, or -1."""
        scratch = _aligned_empty(shape, code.dtype)
        for start in queue:
            stop = min(start + chunk, rows.n)
            if columns is not None:
                bad = kernels.run_columns(*columns, start, stop, out, *code.program, scratch, width)
            else:
                block = rows_in_dtype(rows, start, stop, code.dtype)
                bad = kernels.run_blocks(block, out, start, *code.program, scratch, width)
                bad = bad if bad < 0 else start + bad
            if bad >= 0:
                return int(bad)
        return -1

    enough = len(code.ops) * rows.n * size > 8 * THREAD_STEPS
    threads = min(n_threads(), len(starts)) if enough else 1
    bad_rows = [row for row in run_on_threads(work, starts, threads) if row >= 0]
    if bad_rows:
        raise_invalid_row(rows, min(bad_rows), code.dtype)


def _aligned_empty(shape: tuple[int, int], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Return an empty array that begins a cache line: vectors across two lines load twice."""
    size = shape[0] * shape[1] * dtype.itemsize
    memory = np.empty(size + LINE_BYTES, np.uint8)
    first = -memory.ctypes.data % LINE_BYTES
    return memory[first : first + size].view(dtype).reshape(shape)


def _kernels(code: Code) -> Any:
    return load_kernels(KERNELS).kernels_of(code.constants.dtype)
