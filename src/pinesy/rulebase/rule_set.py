"""Rule sets: the rules that conclude on one attribute."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, Self, TypeVar, cast, overload

import numpy as np

from pinesy._common.budgets import RULE_SET, take_steps
from pinesy._common.caching import cached_on_owner
from pinesy._common.names import first_names
from pinesy._common.validation import FloatArray, check_flag, is_iterable
from pinesy.engine.number_types import NumberType
from pinesy.engine.program import Program, Trace
from pinesy.engine.rule_set_kinds import RuleUnit
from pinesy.evidence.evidence_form import Evidence, Transform, target_degrees
from pinesy.exact.exact_inference import MAX_CONFLICTS, infer_exact
from pinesy.exceptions import CascadeError, DegreeError, RuleSetError
from pinesy.rulebase.cascade_worlds import check_exact_options, check_options, infer_units
from pinesy.rulebase.sample_equations import EquationSystem, MatrixRelation
from pinesy.rules.attributes import Attribute
from pinesy.rules.definitions import Defined
from pinesy.rules.partition import Partition, partition_of
from pinesy.rules.possibility import Possibility
from pinesy.rules.rule import Rule
from pinesy.semantics.elimination import LARGEST
from pinesy.semantics.semantics import Other, Semantics, as_semantics
from pinesy.semantics.world_weights import WorldWeights

T = TypeVar("T", bound=Hashable)


@dataclass(frozen=True, init=False, repr=False)
class RuleSet:
    """The rules ``R^1, ..., R^n`` that conclude on one output attribute `b`.

    Examples
    --------
    >>> from pinesy import Attribute, Iff, RuleSet
    >>> rain, grass = Attribute("rain", ["yes", "no"]), Attribute("grass", ["wet", "dry"])
    >>> rules = RuleSet([Iff(rain.isin({"yes"})).then(grass.isin({"wet"}), s=0.3)])
    >>> rules.infer({"rain": {"yes": 0.2, "no": 1.0}})
    Possibility(grass, {dry: 1, wet: 0.3})
    """

    rules: tuple[Rule, ...]

    def __init__(self, rules: Iterable[Rule]) -> None:
        if isinstance(rules, Rule) or not is_iterable(rules):
            raise RuleSetError(f"a rule set takes a list of rules; got {rules!r}")
        take_steps(RULE_SET)
        object.__setattr__(self, "rules", tuple(rules))
        if not self.rules:
            raise RuleSetError("a rule set needs at least one rule")
        for number, rule in enumerate(self.rules, 1):
            if not isinstance(rule, Rule):
                raise RuleSetError(
                    f"rule {number} is {rule!r}, not a rule; write If(...).then(...)"
                )
            attribute = rule.conclusion.attribute
            if attribute is not self.output and attribute != self.output:
                raise RuleSetError(
                    f"rule {number} ('{rule}') concludes on {attribute!r} but rule 1 on "
                    f"{self.output!r}; put them in different rule sets"
                )
        if self.output.name in {a.name for a in self.inputs}:
            raise CascadeError(
                f"cycle: {self.output.name} -> {self.output.name}; a rule set cannot use its own "
                "output in a premise"
            )

    @cached_property
    def output(self) -> Attribute:
        """The attribute `b` that the rules conclude on."""
        return self.rules[0].conclusion.attribute

    @cached_property
    def inputs(self) -> tuple[Attribute, ...]:
        """The attributes of the premises, in order of appearance."""
        inputs: dict[str, Attribute] = {}
        for rule in self.rules:
            for proposition in rule.premise.propositions:
                attribute = proposition.attribute
                known = inputs.setdefault(attribute.name, attribute)
                if known is not attribute and known != attribute:
                    raise RuleSetError(
                        f"rule '{rule}': attribute {attribute.name!r} has another domain here than "
                        "in an earlier rule; use one Attribute object for both"
                    )
        return tuple(inputs.values())

    @property
    def s(self) -> FloatArray:
        """The parameters ``s_1, ..., s_n``."""
        return np.array([rule.s for rule in self.rules])

    @property
    def r(self) -> FloatArray:
        """The parameters ``r_1, ..., r_n``."""
        return np.array([rule.r for rule in self.rules])

    @property
    def partition(self) -> Partition:
        """The partition of ``D_b`` by the conclusions."""
        masks = tuple(rule.conclusion.mask for rule in self.rules)
        return partition_of(len(self.output.domain), masks)

    @property
    def relation(self) -> MatrixRelation:
        """The matrix relation ``O = M box I``."""
        return MatrixRelation(self.partition, self.s, self.r)

    @cached_property
    def unit(self) -> RuleUnit:
        """This rule set as the engine sees it."""
        return RuleUnit(self.output, self.inputs, self.rules)

    @cached_property
    def definitions(self) -> "tuple[RuleSet, ...]":
        """The rule sets of the inner attributes of formulas, in an order of inference."""
        sets: dict[Attribute, RuleSet] = {}

        def needed(attribute: Defined) -> list[Defined]:
            sets[attribute] = RuleSet(attribute.rules)
            return sets[attribute]._formulas

        return tuple(sets[attribute] for attribute in topological_order(self._formulas, needed))

    @property
    def order(self) -> "tuple[RuleSet, ...]":
        """The rule sets of formulas, and this one, in the order of inference."""
        return (*self.definitions, self)

    @property
    def _formulas(self) -> list[Defined]:
        return [a for a in self.inputs if isinstance(a, Defined)]

    @cached_on_owner
    def _compiled(self, degrees: bool) -> Program:
        sets = self.order
        known = {a.name: a for s in sets for a in s.inputs if not isinstance(a, Defined)}
        return Program([s.unit for s in sets], [self.output], known, degrees=degrees)

    def compile(self, *, dtype: NumberType = "float64") -> Program:
        """Return the program that infers the output, in a type of numbers (`Program.astype`)."""
        return self._compiled(False).astype(dtype)

    @overload
    def infer(
        self,
        evidence: Evidence,
        *,
        transform: Transform = None,
        dtype: NumberType = "float64",
        semantics: Literal["possibilistic"] = "possibilistic",
        exact: bool = False,
        max_conflicts: int = ...,
    ) -> Possibility: ...
    @overload
    def infer(
        self, evidence: Evidence, *, semantics: Other, largest: int = ...
    ) -> WorldWeights: ...
    @overload
    def infer(
        self,
        evidence: Evidence,
        *,
        transform: Transform = None,
        dtype: NumberType = "float64",
        semantics: str | Semantics,
        largest: int = ...,
        exact: bool = False,
        max_conflicts: int = ...,
    ) -> Any: ...
    def infer(
        self,
        evidence: Evidence,
        *,
        transform: Transform = None,
        dtype: NumberType = "float64",
        semantics: str | Semantics = "possibilistic",
        largest: int = LARGEST,
        exact: bool = False,
        max_conflicts: int = MAX_CONFLICTS,
    ) -> Possibility | WorldWeights:
        """Infer the output distribution ``pi*`` for one sample or a batch.

        ``pi*(u) = min_j (max(s_j, lambda_j) if u in Q_j else max(r_j, rho_j))`` [eq:pistarbxu].
        See `Program.infer` for the forms of evidence, and probabilities that it transforms, and
        `Cascade.infer` for other semantics, and for exact degrees.
        """
        semantics = as_semantics(semantics)
        if check_flag(exact, "exact"):
            check_exact_options(semantics, dtype)
            results = infer_exact(
                self, self.compile(), [self.output], evidence, transform, max_conflicts
            )
            return results[self.output.name]
        if not semantics.is_compiled:
            check_options(semantics, transform, dtype)
            units = [s.unit for s in self.order]
            return infer_units(units, self.output, evidence, semantics, transform, largest)
        program = self.compile(dtype=dtype)
        return program.infer(evidence, transform=transform)[self.output.name]

    def equations(self, evidence: Evidence, targets: object) -> EquationSystem:
        """Return the system of equations that a training sample sets for ``s_1, r_1, ..., r_n``.

        Parameters
        ----------
        evidence : the inputs of one sample
        targets : what should be inferred: a value of the output attribute, or a distribution on it
            (a dict, a sequence of degrees or a `Possibility`)

        Examples
        --------
        >>> from pinesy import Attribute, Iff, RuleSet
        >>> a, b = Attribute("a", [0, 1]), Attribute("b", [0, 1])
        >>> rules = RuleSet([Iff(a.isin({0})).then(b.isin({0}))])
        >>> rules.equations({"a": [1.0, 0.2]}, targets=0)
        EquationSystem(2 equations, 2 unknowns, distance 0.2)
        """
        trace = self._compiled(True).infer(evidence)
        if trace.is_batch:
            raise DegreeError("a system of equations is made of one sample; got a batch")
        premises = cast(Trace, trace).premises[self.output.name]
        degrees = target_degrees(targets, self.output)
        cells = self.partition.possibilities(degrees)
        return EquationSystem(self.partition, premises.lambdas, premises.rhos, cells)

    def with_parameters(
        self, s: Sequence[float] | FloatArray, r: Sequence[float] | FloatArray
    ) -> Self:
        """Return the same rules with other parameters, one `s` and one `r` for each rule."""
        for name, values in (("s", s), ("r", r)):
            nested = [v for v in values if np.iterable(v)] if isinstance(values, Sequence) else []
            is_list = isinstance(values, Sequence) and all(isinstance(v, str) for v in nested)
            is_list = is_list or (isinstance(values, np.ndarray) and values.ndim == 1)
            if not is_list or len(values) != len(self.rules):
                problem = f"{len(values)} values" if is_list else f"{values!r:.60}"
                raise RuleSetError(
                    f"the rule set on {self.output.name!r} has {len(self.rules)} rules; got "
                    f"{problem} of {name}, not one number a rule"
                )
        s, r = (z.tolist() if isinstance(z, np.ndarray) else z for z in (s, r))
        return type(self)(
            replace(rule, s=si, r=ri) for rule, si, ri in zip(self.rules, s, r, strict=True)
        )

    def __getstate__(self) -> dict[str, Any]:
        return {"rules": self.rules}  # what was computed from them is computed again

    def __len__(self) -> int:
        """Return the number of rules."""
        return len(self.rules)

    def __str__(self) -> str:
        return "\n".join(map(str, self.rules))

    def __repr__(self) -> str:
        return f"RuleSet({len(self.rules)} rules: {first_names(self.inputs)} -> {self.output.name})"

    def _repr_html_(self) -> str:
        from pinesy.display.cards import panel, rule_set_card

        name = self.output.title or self.output.name
        return panel(rule_set_card(self.rules, f"Rules on {name}"))


def topological_order(starts: Iterable[T], needed: Callable[[T], Iterable[T]]) -> list[T]:
    """Return nodes of a graph, each after those that it needs; raise `CascadeError` on a cycle.

    Examples
    --------
    >>> topological_order("ab", {"a": "cb", "b": "c", "c": ""}.get)
    ['c', 'b', 'a']
    """
    ordered: dict[T, None] = {}
    for start in starts:
        path = {} if start in ordered else {start: iter(needed(start))}
        while path:
            last = next(reversed(path))
            missing = next((node for node in path[last] if node not in ordered), None)
            if missing is None:
                ordered[last] = None
                path.popitem()
            elif missing in path:
                nodes = list(path)
                cycle = [*nodes[nodes.index(missing) :], missing]
                raise CascadeError(
                    f"cycle: {' -> '.join(map(str, reversed(cycle)))}; rules may not lead back to "
                    "an attribute that they come from"
                )
            else:
                path[missing] = iter(needed(missing))
    return list(ordered)


def declaration_order(attributes: Iterable[Attribute]) -> list[Attribute]:
    """Order attributes that a text declares, a product after its factors."""
    by_name = {a.name: a for a in attributes}  # a factor may have no title in its product
    order = topological_order(by_name.values(), lambda a: a.factors[::-1])
    return [by_name.get(a.name, a) for a in order if a.formula is None]
