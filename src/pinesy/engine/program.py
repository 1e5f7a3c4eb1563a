"""Programs ready to run, how they run on samples, and the results they give."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy._common.caching import cached_on_owner, load_kernels, state_without_cache
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
    block_in,
    code_in,
    number_type,
    refuse_in,
)
from pinesy.engine.rule_set_kinds import RuleUnit
from pinesy.evidence.evidence_form import Evidence, EvidenceForm, Transform
from pinesy.evidence.rows import Rows
from pinesy.exceptions import DomainError, ShapeError, UnknownAttributeError
from pinesy.rules.attributes import Attribute
from pinesy.rules.possibility import Possibility
from pinesy.rules.propositions import Proposition
from pinesy.rules.syntax.writer import show_value

#: A row of scratch: the samples of a block. The scratch of most programs stays in a core's
#: second-level cache, and the rows that a rule set uses in the first.
ROW_BYTES = 512
#: Rows begin at places that caches tell apart, as they would not if 512 bytes lay between them.
PAD_BYTES = 64
#: Input rows are brought together for this many bytes at a time, whatever the batch.
CHUNK_BYTES = 2 * 1024 * 1024
#: Steps (instructions times samples) below which a second thread costs more than it gives.
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
        degrees = as_degrees(self.degrees(name))
        return Possibility(self._attributes[name], degrees, self._coherence(name))

    def degrees(self, key: str | Attribute) -> npt.NDArray[Any]:
        """Return the degrees of an attribute alone, in the type of numbers of the program.

        In uint8, 255 stands for 1; a `Possibility` has them divided by it, as floats.
        """
        name = name_of(key)
        if name not in self._code.columns:
            raise UnknownAttributeError(f"{name!r} was not inferred{suggestion(name, self)}")
        return self._columns(self._code.columns[name])

    def possibility(self, proposition: Proposition) -> Any:
        """Return ``Pi(a in A)`` of a proposition that was an output, or is on one."""
        _check_proposition(proposition)
        if proposition not in self._measures:
            return self[proposition.attribute].possibility(proposition)
        degrees = as_degrees(self._out[self._measures[proposition]])
        return degrees if self.is_batch else float(degrees[0])

    def necessity(self, proposition: Proposition) -> Any:
        """Return ``N(a in A) = 1 - Pi(a not in A)``; the complement must be there as above."""
        _check_proposition(proposition)
        return 1.0 - self.possibility(proposition.complement)

    def _columns(self, columns: slice) -> npt.NDArray[Any]:
        return self._out[columns].T if self.is_batch else self._out[columns, 0]

    def _coherence(self, name: str) -> Any:
        """Return the lowest height of the distributions behind one, and of its own."""
        if name not in self._code.coherence:
            return 1.0
        height = as_degrees(self._out[self._code.coherence[name]])
        return height if self.is_batch else float(height[0])

    def __iter__(self) -> Iterator[str]:
        return iter(self._attributes)

    def __len__(self) -> int:
        return len(self._attributes)

    def __repr__(self) -> str:
        kind = type(self).__name__
        if self.is_batch:
            return f"{kind}({self._out.shape[1]} samples of {', '.join(self)})"
        return f"{kind}({', '.join(f'{name}{_said(self[name])}' for name in self)})"

    def _repr_html_(self) -> str | None:
        from pinesy.display.rules_html import results_html

        return results_html(self) if len(self) else None


def _check_proposition(proposition: object) -> None:
    if not isinstance(proposition, Proposition):
        raise DomainError(f"{proposition!r:.60} is no proposition; give attribute.isin({{...}})")


def _said(pi: Possibility) -> str:
    """Return the best value of a result, or why there is none."""
    return f"={show_value(pi.best)}" if pi.decided else f": {pi.verdict}"


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
    """An inference that keeps every attribute that rules conclude on and every premise degree."""

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
    dtype : the type of numbers that it runs in

    Parameters
    ----------
    units : the rule sets, each after those whose outputs it uses
    outputs : the attributes whose distributions are wanted
    known : all inputs of the rules by name
    degrees : whether the degrees of premises are wanted too, of all sets or of some outputs' sets
    propositions : those whose possibilities ``Pi(a in A)`` are wanted: the distribution behind
        them need not be formed
    unnormalised : the inputs that may be not normalised
    others : the names of attributes that tables of inputs may hold besides
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
        """The type of numbers that it runs in."""
        return self.code.dtype

    def astype(self, dtype: NumberType) -> "Program":
        """Return the program in a type of numbers: float64, float32, uint16 or uint8.

        Degrees and parameters are rounded on the way in, to nearest; of unsigned integers the
        largest stands for 1. Results are the rounding of the exact results, because minimum and
        maximum only copy numbers and rounding keeps their order (docs/number-types.md).

        Examples
        --------
        >>> from pinesy import Attribute, Cascade, If, RuleSet
        >>> rain, grass = Attribute("rain", ["no", "yes"]), Attribute("grass", ["dry", "wet"])
        >>> rules = Cascade(RuleSet([If(rain.isin({"yes"})).then(grass.isin({"wet"}))]))
        >>> rules.compile(dtype="uint8")({"rain": [0.2, 1.0]}).degrees("grass")
        array([ 51, 255], dtype=uint8)
        """
        kind = number_type(dtype)
        return self if kind == self.dtype else _rounded_program(self, kind)

    def run(self, x: npt.NDArray[Any], constants: FloatArray | None = None) -> npt.NDArray[Any]:
        """Return the output columns (columns, n) for the columns of all inputs (n, columns).

        With `constants` it is run with these in the place of `code.constants`.
        """
        if not isinstance(x, np.ndarray) or x.shape[1:] != (self.code.n_inputs,):
            raise ShapeError(f"x is an array (n, {self.code.n_inputs}); got {x!r:.60}")
        code = self.code if constants is None else replace(self.code, constants=constants)
        return run(code, Rows(self.inputs, [x], len(x), True))

    @property
    def derivatives(self) -> Derivatives:
        """How the outputs depend on inputs and constants."""
        if self.dtype != FLOAT64:
            raise DomainError(f"derivatives are of float64; this program is of {self.dtype}")
        return _derivatives(self)

    @cached_property
    def _measures(self) -> dict[Proposition, int]:
        """The column of each proposition's possibility."""
        first = self.code.measures.start
        return {p: first + i for i, p in enumerate(self._propositions)}

    def __call__(self, evidence: Evidence, *, transform: Transform = None) -> Inference:
        """Infer: ``program(x)`` is ``program.infer(x)``."""
        return self.infer(evidence, transform=transform)

    def infer(self, evidence: Evidence, *, transform: Transform = None) -> Inference:
        """Infer the outputs for one sample or a batch.

        Parameters
        ----------
        evidence : for each input attribute a plain value (None: nothing is known), a dict
            ``{value: degree}`` (values left out have degree 0), a sequence of degrees, a
            `Possibility` or, for a batch, an array ``(n_samples, |domain|)`` or a list of values;
            or a table of values. The quickest form is one array with the columns of all `inputs`
            side by side, in their order. Arrays of the `dtype` of the program are taken as they
            are (in uint8, 255 stands for 1), all others hold degrees and are rounded to it.
        transform : ``"antipignistic"`` or ``"minimum_specificity"`` if the distributions in the
            evidence are of probabilities (of any float type): they are transformed block by block,
            without a second array. Plain values and each `Possibility` stay what they are.
        """
        rows = self._form.rows(evidence, transform)
        return self.result(run(self.code, rows), is_batch=rows.is_batch)

    def result(self, out: npt.NDArray[Any], *, is_batch: bool = True) -> Inference:
        """Return output columns (columns, n), as `run` gives them, as distributions."""
        return self._result(self.code, self._by_name, self._measures, out, is_batch)

    def columns(self, evidence: Evidence, transform: Transform = None) -> npt.NDArray[Any]:
        """Return the output columns (columns, n) for evidence that `infer` takes."""
        return run(self.code, self._form.rows(evidence, transform))


@cached_on_owner
def _derivatives(program: Program) -> Derivatives:
    return Derivatives(program.code)


@cached_on_owner
def _rounded_program(program: Program, dtype: np.dtype[Any]) -> Program:
    if program.dtype != FLOAT64:
        raise DomainError(f"a program is rounded once; this one is of {program.dtype} already")
    other = Program.__new__(Program)
    other.__dict__ |= state_without_cache(program) | {"code": code_in(program.code, dtype)}
    return other


def run(code: Code, rows: Rows) -> npt.NDArray[Any]:
    """Return the outputs of the program, of shape ``(code.n_outputs, n_samples)``.

    Memory: the result, and per thread a block of scratch and a chunk of input rows.
    """
    out = np.empty((code.n_outputs, rows.n), code.dtype)
    if rows.n == 1:
        _run_one(code, rows, out)
    else:
        _run_blocks(code, rows, out)
    out.setflags(write=False)  # results are values
    return out


def _run_one(code: Code, rows: Rows, out: npt.NDArray[Any]) -> None:
    kernels, work = _kernels(code), np.empty((code.n_slots, 1), code.dtype)
    if kernels.run_one(block_in(rows, 0, 1, code.dtype), out, *code.program, work) >= 0:
        refuse_in(rows, 0, code.dtype)


def _run_blocks(code: Code, rows: Rows, out: npt.NDArray[Any]) -> None:
    size = code.dtype.itemsize
    width = max(1, min(ROW_BYTES // size, rows.n))
    chunk = max(1, CHUNK_BYTES // (size * width * max(1, code.n_inputs))) * width
    starts = range(0, rows.n, chunk)
    kernels, columns = _kernels(code), rows.columns
    if columns is not None and columns[0].dtype != code.dtype:
        columns = None
    shape = (code.n_slots + kernels.extra_rows, (ROW_BYTES + PAD_BYTES) // size)

    def work(queue: Iterator[int]) -> int:
        """Run chunks up to one with a bad row; return that row, or -1."""
        scratch = np.empty(shape, code.dtype)
        for start in queue:
            stop = min(start + chunk, rows.n)
            if columns is not None:
                bad = kernels.run_columns(*columns, start, stop, out, *code.program, scratch, width)
            else:
                block = block_in(rows, start, stop, code.dtype)
                bad = kernels.run_blocks(block, out, start, *code.program, scratch, width)
                bad = bad if bad < 0 else start + bad
            if bad >= 0:
                return int(bad)
        return -1

    enough = len(code.ops) * rows.n * size > 8 * THREAD_STEPS
    threads = min(n_threads(), len(starts)) if enough else 1
    bad_rows = [row for row in run_on_threads(work, starts, threads) if row >= 0]
    if bad_rows:
        refuse_in(rows, min(bad_rows), code.dtype)


def _kernels(code: Code) -> Any:
    return load_kernels(KERNELS).kernels_of(code.constants.dtype)
