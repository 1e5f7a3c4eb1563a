"""Programs ready to run, and the results they give."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pinesy._common.console import notice
from pinesy._common.validation import FloatArray, suggestion
from pinesy.engine.code import Code, RuleUnit
from pinesy.engine.evidence import Evidence, Rows
from pinesy.engine.program import link
from pinesy.engine.run import run
from pinesy.exceptions import UnknownAttributeError
from pinesy.rules.attributes import Attribute
from pinesy.rules.possibility import Possibility
from pinesy.rules.syntax.writer import show_value


@dataclass(frozen=True, eq=False, repr=False)
class Inference(Mapping[str, Possibility]):
    """The inferred distributions, by attribute name or attribute.

    For a batch each is a `Possibility` of shape ``(n_samples, |domain|)``.
    """

    _code: Code
    _attributes: dict[str, Attribute]
    _out: FloatArray
    is_batch: bool

    def __getitem__(self, key: str | Attribute) -> Possibility:
        name = key.name if isinstance(key, Attribute) else key
        if name not in self._code.columns:
            raise UnknownAttributeError(f"{name!r} was not inferred{suggestion(name, self)}")
        degrees = self._columns(self._code.columns[name])
        return Possibility(self._attributes[name], degrees, self._coherent(name))

    def _columns(self, columns: slice) -> FloatArray:
        return self._out[columns].T if self.is_batch else self._out[columns, 0]

    def _coherent(self, name: str) -> Any:
        if name not in self._code.coherence:
            return True
        coherent = self._out[self._code.coherence[name]] == 1.0
        return coherent if self.is_batch else bool(coherent[0])

    def __iter__(self) -> Iterator[str]:
        return iter(self._attributes)

    def __len__(self) -> int:
        return len(self._attributes)

    def __repr__(self) -> str:
        kind = type(self).__name__
        if self.is_batch:
            return f"{kind}({self._out.shape[1]} samples of {', '.join(self)})"
        best = [f"{name}={show_value(self[name].best)}" for name in self]
        return f"{kind}({', '.join(best)})"


@dataclass(frozen=True, eq=False)
class PremiseDegrees:
    """The degrees of the premises of a rule set's rules.

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
        pairs = {name: self._columns(span) for name, span in self._code.degrees.items()}
        return {n: PremiseDegrees(d[..., 0::2], d[..., 1::2]) for n, d in pairs.items()}


class Program:
    """Rule sets compiled for some outputs: compile once, run many.

    Attributes
    ----------
    inputs : the attributes that evidence is needed for, in the order of their columns
    outputs : the attributes that are inferred
    """

    def __init__(
        self,
        units: Sequence[RuleUnit],
        outputs: Sequence[Attribute],
        known: Mapping[str, Attribute],
        degrees: bool = False,
    ) -> None:
        traced = [u.output.name for u in units] if degrees else []
        with notice("pinesy: compiling the rules ..."):
            self.code = link(units, outputs, known.values(), traced)
        self.inputs = self.code.inputs
        self.outputs = tuple(outputs)
        self._known = known
        self._concluded = frozenset(u.output.name for u in units)
        self._by_name = {a.name: a for a in outputs}
        self._result = Trace if degrees else Inference

    def __repr__(self) -> str:
        inputs, outputs = (", ".join(a.name for a in s) for s in (self.inputs, self.outputs))
        return f"Program({inputs:.60} -> {outputs:.60}: {len(self.code.ops)} instructions)"

    def infer(self, evidence: Evidence) -> Inference:
        """Infer the outputs for one sample or a batch.

        Parameters
        ----------
        evidence : for each input attribute a dict ``{value: degree}`` (values left out have
            degree 0), a sequence of degrees, a `Possibility` or, for a batch, an array
            ``(n_samples, |domain|)``. The quickest form is one array with the columns of all
            `inputs` side by side, in their order.
        """
        rows = Rows.of(evidence, self.inputs, self._known, self._concluded, self.code.n_inputs)
        return self._result(self.code, self._by_name, run(self.code, rows), rows.is_batch)
