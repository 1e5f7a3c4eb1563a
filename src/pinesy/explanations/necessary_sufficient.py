"""Necessary and sufficient conditions on the inputs for a degree to be so high, or so low."""

from collections.abc import Hashable, Iterable

from pinesy._common.masks import contains, positions
from pinesy._common.validation import check_degree, check_limit
from pinesy.exceptions import CascadeError, DomainError
from pinesy.explanations.clause_builder import ClauseBuilder
from pinesy.explanations.formulas import Clause, Comparison, Formula, level_text, negated
from pinesy.rulebase.cascade import Cascade, as_cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute, Proposition
from pinesy.rules.rule import Rule

#: For each comparison: the one to build, and whether to negate what was built.
_BUILT: dict[str, tuple[Comparison, bool]] = {
    ">": (">", False),
    ">=": (">=", False),
    "<": (">=", True),
    "<=": (">", True),
}


def conditions(
    rules: Cascade | RuleSet,
    proposition: Proposition | Hashable,
    comparison: Comparison,
    level: float,
    *,
    max_size: int | None = 200_000,
) -> Formula:
    """Return what inputs must be like for ``Pi(P) > t`` (or ``>=``, ``<``, ``<=``) to come out.

    ``pi*(u) > t`` iff for every rule ``z > t`` or ``d > t``, with ``(z, d) = (s, lambda)`` where
    `u` is in the rule's conclusion, else ``(r, rho)``; ``lambda > t`` iff ``Pi(P_j) > t`` for all
    propositions of its premise, ``rho > t`` iff ``Pi(not P_j) > t`` for some. In a cascade the
    conditions on inferred attributes are replaced by those of their values.

    Parameters
    ----------
    rules : Cascade or RuleSet
    proposition : or a value of the only output
    comparison : ``">"``, ``">="``, ``"<"`` or ``"<="``
    level : `t`
    max_size : parts of the formula after which to give up with an error; None for no limit

    Returns
    -------
    Formula : necessary and sufficient, for normalised inputs

    Examples
    --------
    >>> from pinesy import Attribute, If, RuleSet
    >>> rain, grass = Attribute("rain", ["no", "yes"]), Attribute("grass", ["dry", "wet"])
    >>> rules = RuleSet([If(rain.isin({"yes"})).then(grass.isin({"wet"}), s=0.3)])
    >>> wet = conditions(rules, "wet", ">", 0.5)
    >>> print(wet)
    Pi(rain in {yes}) > 0.5
    >>> wet.holds({"rain": {"yes": 0.6, "no": 1.0}})
    True
    >>> print(conditions(rules, "wet", "<", 0.2))
    never
    """
    cascade = as_cascade(rules)
    if comparison not in _BUILT:
        raise DomainError(f"comparison is {comparison!r:.60}; it must be one of >, >=, <, <=")
    level = check_degree(level, "the level")
    asked = _proposition(cascade, proposition)
    built, negate = _BUILT[comparison]
    clauses = ClauseBuilder(built, level, check_limit(max_size, "max_size"))
    about = f"Pi({' '.join(str(asked).split())}) {comparison} {level_text(level)}"
    root = _build(cascade, asked, clauses, about)
    return Formula(about, negated(root) if negate else root, cascade.inputs)


def _proposition(cascade: Cascade, what: object) -> Proposition:
    if not isinstance(what, Proposition):
        if len(cascade.outputs) > 1 or not isinstance(what, Hashable):
            raise DomainError(
                f"{what!r:.60} is no proposition, and the rules have {len(cascade.outputs)} "
                "outputs; give a proposition such as attribute.isin({value})"
            )
        return cascade.outputs[0].isin([what])
    known = cascade.attributes.get(what.attribute.name)
    if known != what.attribute:
        cascade[what.attribute]  # raises where no rule concludes on this name
        raise DomainError(f"the cascade's attribute {what.attribute.name!r} has another domain")
    return what


def _build(cascade: Cascade, asked: Proposition, clauses: ClauseBuilder, about: str) -> Clause:
    """Build the clauses of all values that matter, those of rule sets that come first first."""
    if asked.attribute in cascade.inputs:
        return clauses.atom(asked.attribute, asked.mask)
    sets = cascade.needed([asked.attribute.name])
    wanted = _wanted(sets, asked, clauses)
    made: dict[str, dict[int, Clause]] = {}
    for rule_set in sets:
        name = rule_set.output.name
        if clauses.is_full:
            raise CascadeError(
                f"the conditions for {about} have more than {clauses.max_size} parts; ask for an "
                "attribute nearer to the inputs, or raise max_size"
            )
        made[name] = _values(rule_set, wanted.get(name, 0), clauses, made)
    return _subset(asked.attribute, asked.mask, clauses, made)


def _wanted(sets: Iterable[RuleSet], asked: Proposition, clauses: ClauseBuilder) -> dict[str, int]:
    """Return for each attribute the values whose clauses are needed, as a mask."""
    wanted = {asked.attribute.name: asked.mask}
    for rule_set in list(sets)[::-1]:
        mask = wanted.get(rule_set.output.name, 0)
        for rule in rule_set.rules:
            inside = bool(mask & rule.conclusion.mask) and not clauses.hits(rule.s)
            outside = bool(mask & ~rule.conclusion.mask) and not clauses.hits(rule.r)
            for p in rule.premise.propositions:
                needed = p.mask * inside | p.complement.mask * outside
                wanted[p.attribute.name] = wanted.get(p.attribute.name, 0) | needed
    return wanted


def _values(
    rule_set: RuleSet, mask: int, clauses: ClauseBuilder, made: dict[str, dict[int, Clause]]
) -> dict[int, Clause]:
    """Return the clause of each value wanted; values of one cell share it."""
    cells: dict[int, Clause] = {}
    found = {}
    sides = [_sides(rule, clauses, made) for rule in rule_set.rules] if mask else []
    for position in positions(mask):
        cell = int(rule_set.partition.cell_of[position])
        if cell not in cells:
            inside = [contains(rule.conclusion.mask, position) for rule in rule_set.rules]
            cells[cell] = clauses.all_of(
                held if is_in else failed
                for (held, failed), is_in in zip(sides, inside, strict=True)
            )
        found[position] = cells[cell]
    return found


def _sides(
    rule: Rule, clauses: ClauseBuilder, made: dict[str, dict[int, Clause]]
) -> tuple[Clause, Clause]:
    """Return ``s > t or lambda > t``, and ``r > t or rho > t``, of one rule [eq:alphabeta]."""
    parts = rule.premise.propositions
    held: Clause = clauses.true
    failed: Clause = clauses.true
    if not clauses.hits(rule.s):
        held = clauses.all_of(_subset(p.attribute, p.mask, clauses, made) for p in parts)
    if not clauses.hits(rule.r):
        outside = ((p.attribute, p.complement.mask) for p in parts)
        failed = clauses.any_of(_subset(a, mask, clauses, made) for a, mask in outside)
    return held, failed


def _subset(
    attribute: Attribute, mask: int, clauses: ClauseBuilder, made: dict[str, dict[int, Clause]]
) -> Clause:
    """Return ``Pi(a in P) > t``: an atom for an input, else that of any of its values."""
    if attribute.name not in made:
        return clauses.atom(attribute, mask)
    values = made[attribute.name]
    if not mask:
        return clauses.constant(0.0)
    # A value that was not wanted is in a side of a rule that no value wanted is on.
    return clauses.any_of(values.get(i, clauses.true) for i in positions(mask))
