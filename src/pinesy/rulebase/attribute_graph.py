"""The graph of rule sets: their attributes, and the order of inference."""

from collections.abc import Iterable, Mapping

from pinesy.exceptions import CascadeError
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute
from pinesy.rules.definitions import Defined


def in_order_of_inference(sets: Mapping[str, RuleSet]) -> dict[str, RuleSet]:
    """Return the rule sets so that each comes after those it uses; raise on a cycle."""
    order: dict[str, RuleSet] = {}
    for start in sets:
        path = dict.fromkeys([start])
        while path:
            name = next(reversed(path))
            used = (a.name for a in sets[name].inputs if a.name in sets)
            below = next((u for u in used if u not in order), None)
            if below is None:
                order.setdefault(name, sets[name])
                path.popitem()
            elif below in path:
                names = list(path)
                cycle = [*names[names.index(below) :], below]
                raise CascadeError(
                    f"cycle: {' -> '.join(reversed(cycle))}; rules may not lead back to an "
                    "attribute that they come from"
                )
            else:
                path[below] = None
    return order


def collected(rule_sets: Iterable[RuleSet], declared: Iterable[Attribute]) -> dict[str, Attribute]:
    """Return all attributes by name: used, factors of used ones, and declared."""
    found: dict[str, Attribute] = {}
    waiting = [a for s in rule_sets for a in (*s.inputs, s.output)] + list(declared)
    for attribute in waiting:
        if not isinstance(attribute, Attribute):
            raise CascadeError(f"{attribute!r:.60} is declared, but is no attribute")
        known = found.setdefault(attribute.name, attribute)
        if known is not attribute and known != attribute:
            raise CascadeError(
                f"two attributes have the name {attribute.name!r} but other domains: {known!r} "
                f"and {attribute!r}; rename one"
            )
        parts = attribute.mentioned if isinstance(attribute, Defined) else attribute.factors
        waiting.extend(a for a in parts if a.formula is None and found.get(a.name) is not a)
    return found


def add_set(sets: dict[str, RuleSet], rule_set: RuleSet) -> None:
    """Add a rule set by the name of its output, or raise `CascadeError` if there is another."""
    name = rule_set.output.name
    if sets.setdefault(name, rule_set) != rule_set:
        raise CascadeError(
            f"two rule sets conclude on {name!r}; put all rules on one attribute in one set"
        )
