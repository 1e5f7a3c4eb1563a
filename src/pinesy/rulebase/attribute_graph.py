"""The graph of attributes and rule sets: in which order they are inferred."""

from collections.abc import Mapping

from pinesy.exceptions import CascadeError
from pinesy.rulebase.rule_set import RuleSet


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
