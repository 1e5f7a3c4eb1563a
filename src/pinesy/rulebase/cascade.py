"""Cascades: rule sets chained by their attributes."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from itertools import accumulate
from types import MappingProxyType
from typing import Any, Literal, Protocol, cast, overload, runtime_checkable

from pinesy._common.caching import cached_on_owner, state_without_cache
from pinesy._common.names import by_name, first_names, name_of
from pinesy._common.validation import as_list, check_flag, check_known, is_iterable, suggestion
from pinesy.engine.number_types import NumberType
from pinesy.engine.program import Inference, Program, Trace
from pinesy.evidence.evidence_form import Evidence, Transform, evidence_rows
from pinesy.evidence.targets import named_targets, read_targets
from pinesy.exact.exact_inference import MAX_CONFLICTS, ExactInference, infer_exact
from pinesy.exceptions import CascadeError, UnknownAttributeError
from pinesy.rulebase.cascade_worlds import check_exact_options, check_options, infer_cascade
from pinesy.rulebase.check import check
from pinesy.rulebase.check_report import Report
from pinesy.rulebase.clashes import check_data
from pinesy.rulebase.loose_bounds import count_loose_bounds
from pinesy.rulebase.renaming import expand_indices, rename_sets
from pinesy.rulebase.rule_set import RuleSet, declaration_order, topological_order
from pinesy.rules.attributes import Attribute
from pinesy.rules.definitions import Defined
from pinesy.rules.propositions import Proposition
from pinesy.semantics.elimination import LARGEST
from pinesy.semantics.semantics import Other, Semantics, as_semantics
from pinesy.semantics.world_weights import WorldInference

#: An output: an attribute, for its distribution, or a proposition, for its possibility.
Output = str | Attribute | Proposition
Outputs = Iterable[Output] | None


class Cascade:
    """An acyclic graph of rule sets: the output of one may be used in the premises of others.

    Parameters
    ----------
    *parts : RuleSet or Cascade
        In any order; the attributes' names chain them. Equal rule sets count once.
    attributes : iterable of Attribute
        Attributes that are declared though no rule uses them. Of equal attributes with other
        titles, the first title counts.

    Examples
    --------
    >>> from pinesy import Attribute, Cascade, Iff, RuleSet
    >>> rain, grass, shoes = (Attribute(n, ["dry", "wet"]) for n in ("rain", "grass", "shoes"))
    >>> rules = Cascade(
    ...     RuleSet([Iff(rain.isin({"wet"})).then(grass.isin({"wet"}))]),
    ...     RuleSet([Iff(grass.isin({"wet"})).then(shoes.isin({"wet"}), r=0.5)]),
    ... )
    >>> rules.infer({"rain": {"wet": 1.0, "dry": 0.2}})["shoes"]
    Possibility(shoes, {wet: 1, dry: 0.5})
    """

    def __init__(self, *parts: "RuleSet | Cascade", attributes: Iterable[Attribute] = ()) -> None:
        if not parts:
            raise CascadeError("a cascade needs at least one rule set: there are no rules")
        sets: dict[str, RuleSet] = {}
        declared = as_list(attributes, "attributes", CascadeError)
        for part in parts:
            declared += part.attributes.values() if isinstance(part, Cascade) else ()
            for rule_set in part.rule_sets if isinstance(part, Cascade) else (part,):
                if not isinstance(rule_set, RuleSet):
                    raise CascadeError(
                        f"a cascade is made of rule sets and cascades; got {rule_set!r}"
                    )
                for member in (*rule_set.definitions, rule_set):
                    name = member.output.name
                    if sets.setdefault(name, member) != member:
                        raise CascadeError(
                            f"two rule sets conclude on {name!r}; put all rules on one attribute "
                            "in one set"
                        )
        self._rule_sets = tuple(sets.values())
        self._attributes = _attributes_by_name(self._rule_sets, declared)
        order = topological_order(
            sets, lambda name: [a.name for a in sets[name].inputs if a.name in sets]
        )
        #: The rule sets by the names of their outputs, in the order of inference.
        self.sets: Mapping[str, RuleSet] = {name: sets[name] for name in order}

    @property
    def rule_sets(self) -> tuple[RuleSet, ...]:
        """The rule sets, in the order they were given."""
        return self._rule_sets

    @property
    def stated(self) -> tuple[RuleSet, ...]:
        """The rule sets, except those of the inner attributes of formulas."""
        return tuple(s for s in self._rule_sets if s.output.formula is None)

    @property
    def order(self) -> tuple[RuleSet, ...]:
        """The rule sets in an order of inference: each after those whose outputs it uses."""
        return tuple(self.sets.values())

    @property
    def attributes(self) -> Mapping[str, Attribute]:
        """All attributes by name: those in rules, their factors, and those only declared."""
        return MappingProxyType(self._attributes)

    def rule_number(self, output: str, index: int) -> int:
        """Return the number of a rule in the rule base: "rule 7" is the seventh of ``str(self)``.

        A rule of a formula has the number of the first rule that the formula stands in.

        Parameters
        ----------
        output : the name of the attribute that the rule concludes on
        index : of the rule in its set, from 0

        Examples
        --------
        >>> from pinesy.problems import addition
        >>> rules = addition(1)
        >>> [(s.output.name, rules.rule_number(s.output.name, 0)) for s in rules.rule_sets]
        [('c_1', 1), ('w_1', 21), ('y_1', 22), ('y_0', 32)]
        """
        first = self.first_numbers.get(output)
        return self._formula_numbers[output] if first is None else first + index

    @cached_property
    def first_numbers(self) -> Mapping[str, int]:
        """The number of the first rule of each stated rule set, by the name of its output."""
        starts = accumulate(map(len, self.stated), initial=1)
        return {s.output.name: start for s, start in zip(self.stated, starts, strict=False)}

    @cached_property
    def _formula_numbers(self) -> dict[str, int]:
        """The number of the first rule that each formula stands in, by the name of its output."""
        numbers: dict[str, int] = {}
        for rule_set in self.stated:
            for index, rule in enumerate(rule_set.rules):
                number = self.rule_number(rule_set.output.name, index)
                waiting = [p.attribute for p in rule.premise.propositions]
                for attribute in waiting:  # grows in the loop
                    if isinstance(attribute, Defined) and attribute.name not in numbers:
                        numbers[attribute.name] = number
                        premises = (r.premise.propositions for r in attribute.rules)
                        waiting += [p.attribute for premise in premises for p in premise]
        return numbers

    @cached_property
    def inputs(self) -> tuple[Attribute, ...]:
        """The attributes that premises use and no rule concludes on."""
        names = dict.fromkeys(a.name for s in self._rule_sets for a in s.inputs)
        return tuple(self._attributes[name] for name in names if name not in self.sets)

    @cached_property
    def outputs(self) -> tuple[Attribute, ...]:
        """The attributes that rules conclude on and no premise uses."""
        names = {a.name for s in self._rule_sets for a in s.inputs}
        outputs = [s.output.name for s in self._rule_sets]
        return tuple(self._attributes[name] for name in outputs if name not in names)

    def __getitem__(self, name: str | Attribute) -> RuleSet:
        """Return the rule set that concludes on an attribute."""
        key = name_of(name)
        if not isinstance(key, str) or key not in self.sets:
            raise UnknownAttributeError(
                f"no rule set concludes on {key!r}{self._suggest_output(key)}"
            )
        return self.sets[key]

    def _suggest_output(self, name: str) -> str:
        """Return a suggestion among the attributes that rules conclude on."""
        return suggestion(name, [s.output.name for s in self.stated])

    def compile(
        self, outputs: Outputs = None, *, trace: bool = False, dtype: NumberType = "float64"
    ) -> Program:
        """Return the program that infers `outputs` (by default `self.outputs`), made once.

        Of an attribute its distribution is inferred, of a proposition its possibility
        ``Pi(a in A)`` alone. The program runs in a type of numbers; see `Program.astype`.
        """
        attributes, propositions = self._check_outputs(outputs)
        names, traced = tuple(a.name for a in attributes), check_flag(trace, "trace")
        return _compile_program(self, names, propositions, traced).astype(dtype)

    def _check_outputs(
        self, outputs: Outputs
    ) -> tuple[tuple[Attribute, ...], tuple[Proposition, ...]]:
        """Return the attributes and the propositions among the outputs, checked."""
        if isinstance(outputs, Output) or not (outputs is None or is_iterable(outputs)):
            raise CascadeError(f"outputs is {outputs!r}; give a list of attributes or names")
        outputs = self.outputs if outputs is None else tuple(outputs)
        propositions = tuple(p for p in outputs if isinstance(p, Proposition))
        attributes = tuple(self._attribute(a) for a in outputs if not isinstance(a, Proposition))
        if not outputs:
            raise CascadeError("outputs is empty; name at least one output, or leave outputs out")
        for proposition in propositions:
            self._attribute(proposition.attribute)
        return attributes, propositions

    def _attribute(self, key: str | Attribute) -> Attribute:
        """Return an attribute that rules use, or raise `UnknownAttributeError`."""
        if isinstance(key, str) and key in self._attributes:
            key = self._attributes[key]
        is_used = isinstance(key, Attribute) and (key.name in self.sets or key in self.inputs)
        if not is_used or self._attributes[cast(Attribute, key).name] != key:
            name = name_of(key)
            raise UnknownAttributeError(f"no rule uses {name!r}{self._suggest_output(name)}")
        return cast(Attribute, key)

    def needed(self, outputs: Iterable[str]) -> list[RuleSet]:
        """Return the rule sets that outputs, given by name, depend on, in an order of inference."""
        names = {name_of(key) for key in as_list(outputs, "outputs")}
        needed = []
        for rule_set in reversed(self.order):
            if rule_set.output.name in names:
                needed.append(rule_set)
                names.update(a.name for a in rule_set.inputs)
        return needed[::-1]

    @overload
    def infer(
        self,
        evidence: Evidence,
        outputs: Outputs = None,
        *,
        transform: Transform = None,
        dtype: NumberType = "float64",
        semantics: Literal["possibilistic"] = "possibilistic",
        exact: Literal[False] = False,
    ) -> Inference: ...
    @overload
    def infer(
        self,
        evidence: Evidence,
        outputs: Outputs = None,
        *,
        transform: Transform = None,
        exact: Literal[True],
        max_conflicts: int = ...,
    ) -> ExactInference: ...
    @overload
    def infer(
        self, evidence: Evidence, outputs: Outputs = None, *, semantics: Other, largest: int = ...
    ) -> WorldInference: ...
    @overload
    def infer(
        self,
        evidence: Evidence,
        outputs: Outputs = None,
        *,
        transform: Transform = None,
        dtype: NumberType = "float64",
        semantics: str | Semantics = "possibilistic",
        largest: int = ...,
        exact: bool = False,
        max_conflicts: int = ...,
    ) -> Any: ...
    def infer(
        self,
        evidence: Evidence,
        outputs: Outputs = None,
        *,
        transform: Transform = None,
        dtype: NumberType = "float64",
        semantics: str | Semantics = "possibilistic",
        largest: int = LARGEST,
        exact: bool = False,
        max_conflicts: int = MAX_CONFLICTS,
    ) -> Inference | WorldInference | ExactInference:
        """Infer output distributions, by the names of attributes, for one sample or a batch.

        Parameters
        ----------
        evidence, transform : as `Program.infer` takes them; an array of all inputs has the columns
            of those that the outputs need (`Program.inputs`)
        outputs : attributes, by default those that no premise uses; also propositions, for the
            `possibility` of the result
        dtype : the type of numbers to run in; see `Program.astype`
        semantics : another than the possibilistic one (``"probabilistic"``, ``"most probable
            explanation"`` or ``"goedel"``) returns marginals, for probabilities of the inputs and
            rules without uncertainty; or one that is registered (docs/semantics.md)
        largest : the maximal number of entries of a table in variable elimination
        exact : whether to return the exact degrees where rules interact along several paths, and
            inference gives upper bounds; needs the extra ``exact`` (docs/exactness.md)
        max_conflicts : with `exact`, the conflicts of the solver in a sample, at most; when they
            are spent, the result has lower and upper bounds

        Examples
        --------
        >>> from pinesy import parse
        >>> rules = parse('''
        ...     attribute door in {front, side, back}
        ...     attribute alarm in {on, off}
        ...     if door in {front, side} then alarm in {on}
        ...     if door in {side, back} then alarm in {on}
        ... ''')
        >>> evidence = {"door": {"front": 1.0, "back": 1.0}}
        >>> rules.infer(evidence)["alarm"]
        Possibility(alarm, {on: 1, off: 1}, undecided: no rule decides)
        >>> rules.infer(evidence, exact=True)["alarm"]
        Possibility(alarm, {on: 1, off: 0})
        """
        semantics = as_semantics(semantics)
        if check_flag(exact, "exact"):
            check_exact_options(semantics, dtype)
            attributes = self.requested_attributes(outputs)
            program = self.compile(dict.fromkeys(a.name for a in attributes))
            return infer_exact(self, program, attributes, evidence, transform, max_conflicts)
        if semantics.is_compiled:
            return self.compile(outputs, dtype=dtype).infer(evidence, transform=transform)
        check_options(semantics, transform, dtype)
        return infer_cascade(
            self, evidence, self.requested_attributes(outputs), semantics, transform, largest
        )

    def requested_attributes(self, outputs: Outputs) -> tuple[Attribute, ...]:
        """Return the attributes of the outputs, including those of propositions."""
        attributes, propositions = self._check_outputs(outputs)
        return (*attributes, *(p.attribute for p in propositions))

    def trace(self, evidence: Evidence) -> Trace:
        """Infer all attributes that rules conclude on, with the degrees of all premises."""
        return cast(Trace, self.compile([s.output for s in self.order], trace=True).infer(evidence))

    def with_parameters(self, parameters: Mapping[str, tuple[Any, Any]]) -> "Cascade":
        """Return the same rules with other parameters ``(s, r)``, by output names of rule sets."""
        if not isinstance(parameters, Mapping):
            raise CascadeError(
                f"parameters are a mapping from output names to (s, r); got {parameters!r:.60}"
            )
        parameters = by_name(parameters, "rule set", CascadeError)
        for name, pair in parameters.items():
            if not isinstance(pair, tuple | list) or len(pair) != 2:
                raise CascadeError(
                    f"the parameters of {self[name].output.name!r} are a pair (s, r) of sequences; "
                    f"got {pair!r:.60}"
                )
            if self[name].output.formula is not None:  # self[name] raises for an unknown name
                raise CascadeError(f"the rules of the formula '{name}' have no parameters to set")
        changed = (
            s.with_parameters(*parameters[s.output.name]) if s.output.name in parameters else s
            for s in self._rule_sets
        )
        return Cascade(*changed, attributes=self._attributes.values())

    def __add__(self, other: "RuleSet | Cascade") -> "Cascade":
        """Return the rules of both."""
        return Cascade(self, other)

    def rename(self, names: Mapping[str, str]) -> "Cascade":
        """Return the same rules with renamed attributes.

        Examples
        --------
        >>> from pinesy import parse
        >>> rules = parse("attribute a in {0, 1} attribute b in {0, 1} if a in {1} then b in {1}")
        >>> print(rules.rename({"a": "left"}).rule_sets[0])
        if left in {1} then b in {1}
        """
        if not isinstance(names, Mapping):
            raise CascadeError(f"names are a mapping from old to new ones; got {names!r:.60}")
        for name in names:
            check_known(name, self._attributes, f"no attribute is called {name!r}")
        sets, attributes = rename_sets(self.stated, self._attributes, lambda n: names.get(n, n))
        return Cascade(*sets, attributes=attributes)

    def for_each(self, **indices: Iterable[object]) -> "Cascade":
        """Return a copy of the rules for each value of the indices, in braces in names.

        Attributes without an index in their names are shared; rules on a shared one form one set.

        Examples
        --------
        >>> from pinesy import Attribute, Cascade, If, RuleSet
        >>> light, alarm = Attribute("light_{i}", ["on", "off"]), Attribute("alarm", ["on", "off"])
        >>> rules = Cascade(RuleSet([If(light.isin({"on"})).then(alarm.isin({"on"}))]))
        >>> print(rules.for_each(i=range(1, 3)).rule_sets[0])
        if light_1 in {on} then alarm in {on}
        if light_2 in {on} then alarm in {on}
        """
        sets, attributes = expand_indices(self.stated, self._attributes, indices)
        return Cascade(*sets, attributes=attributes)

    def check(
        self, evidence: Evidence | None = None, targets: Any = None, *, lines: Any = None
    ) -> Report:
        """Report likely mistakes in the rules, the cost of inference, and results on samples.

        Parameters
        ----------
        evidence : samples, as `infer` takes them, to count the outcomes of each output, to name the
            rules that clash most often, and to count how often inferred degrees exceed the exact
            ones (in the first 1,000 samples, and if the extra ``exact`` is installed)
        targets : the true values (or distributions) of attributes that rules conclude on, to count
            correct results
        lines : the line numbers of the samples, for messages; by default their rows from 0
        """
        report = check(
            self.order,
            self.first_numbers,
            self._attributes,
            self.inputs,
            self.compile(),
            self.rule_number,
        )
        if evidence is None:
            return report
        known = {s.output.name: s.output for s in self.order}
        only = self.outputs[0] if len(self.outputs) == 1 else None
        by_output = {} if targets is None else named_targets(targets, known, only)
        program = self.compile(dict.fromkeys([*(a.name for a in self.outputs), *by_output]))
        tracer = self.compile(known, trace=True)
        rows = evidence_rows(self, evidence, program.inputs)
        checked_targets = read_targets(by_output, known, rows.n, is_batch=rows.is_batch)
        results = check_data(self.order, rows, program, tracer, checked_targets, self.rule_number)
        bounds = tuple(count_loose_bounds(self, rows, program))
        return report.on(replace(results, bounds=bounds), lines)

    def __getstate__(self) -> dict[str, Any]:
        return state_without_cache(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Cascade):
            return NotImplemented
        return (self._rule_sets, self._attributes) == (other._rule_sets, other._attributes)

    def __hash__(self) -> int:
        return hash(self._rule_sets)

    def __str__(self) -> str:
        """Return the cascade as the text of a ``.rules`` file."""
        order = declaration_order(self._attributes.values())
        declared = "\n".join(a.declaration for a in order)
        return "\n\n".join([declared, *map(str, self.stated)]) + "\n"

    def __repr__(self) -> str:
        size = f"{len(self.stated)} rule sets, {sum(map(len, self.stated))} rules"
        return f"Cascade({size}: {first_names(self.inputs)} -> {first_names(self.outputs)})"

    def to_svg(self, *, nodes: int = 40) -> str:
        """Return the graph as SVG: a box for each attribute, from the inputs to the results.

        If there are more than `nodes` attributes, similar ones (same distance from the inputs, same
        numbers of values and rules) share a box. Attributes beyond that are counted.
        """
        from pinesy.display.cascade_picture import cascade_svg

        return cascade_svg(self, nodes)

    def _repr_html_(self) -> str:
        from pinesy.display.cascade_picture import cascade_html

        return cascade_html(self)


def _attributes_by_name(
    rule_sets: Iterable[RuleSet], declared: Iterable[Attribute]
) -> dict[str, Attribute]:
    """Return all attributes by name: those in rules, their factors, and those only declared."""
    attributes: dict[str, Attribute] = {}
    titled: dict[str, Attribute] = {}
    waiting = [a for s in rule_sets for a in (*s.inputs, s.output)] + list(declared)
    for attribute in waiting:
        if not isinstance(attribute, Attribute):
            raise CascadeError(f"{attribute!r:.60} is declared, but is no attribute")
        known = attributes.setdefault(attribute.name, attribute)
        if known is not attribute and known != attribute:
            raise CascadeError(
                f"two attributes have the name {attribute.name!r} but other domains: {known!r} "
                f"and {attribute!r}; rename one"
            )
        if known is not attribute and (attribute.title or attribute.unit):
            first = titled.get(attribute.name, known)
            titled[attribute.name] = attribute.with_title(first.title, first.unit)
        waiting.extend(a for a in attribute.factors if attributes.get(a.name) is not a)
    return attributes | titled


@cached_on_owner
def _compile_program(
    cascade: Cascade, names: tuple[str, ...], propositions: tuple[Proposition, ...], trace: bool
) -> Program:
    """Return the program of some outputs, cached on the cascade."""
    units = [s.unit for s in cascade.needed((*names, *(p.attribute.name for p in propositions)))]
    outputs = [cascade.attributes[name] for name in names]
    known, others = {a.name: a for a in cascade.inputs}, frozenset(cascade.attributes)
    return Program(units, outputs, known, trace, propositions, others=others)


@cached_on_owner
def _single_cascade(rule_set: RuleSet) -> Cascade:
    """Return the cascade of one rule set."""
    return Cascade(rule_set)


@runtime_checkable
class HasRules(Protocol):
    """Protocol of objects with rules, such as a fitted `pinesy.estimators.RuleClassifier`."""

    def get_rules(self) -> Cascade:
        """Return the rules."""


def as_cascade(rules: Cascade | RuleSet | HasRules) -> Cascade:
    """Return rules as a cascade; for a rule set always the same one, which caches programs."""
    if isinstance(rules, RuleSet):
        return _single_cascade(rules)
    if isinstance(rules, Cascade):
        return rules
    if isinstance(rules, HasRules):
        return as_cascade(rules.get_rules())
    has_rules = isinstance(getattr(rules, "rules", None), Cascade | RuleSet)
    hint = f"; this {type(rules).__name__} has them as .rules" if has_rules else ""
    if hasattr(rules, "ground"):
        hint = "; rules with variables become a Cascade for one atom: rules.ground(graph, atom)"
    raise CascadeError(f"rules are a RuleSet or a Cascade; got {rules!r:.60}{hint}")
