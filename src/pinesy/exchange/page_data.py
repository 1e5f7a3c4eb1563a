"""Rules as the plain data that the page's JavaScript reads (`web/engine.js`).

Rule sets that differ only in names and parameters share one *shape*. A subset of a domain is a
text of hexadecimal digits, the first of them for the first four values. Numbers are written so that
they read back the same, so inference there gives the bits that it gives here.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from pinesy.exceptions import DataError
from pinesy.inverse.factor_graph import factor_graph
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute
from pinesy.rules.cut_texts import limit_number
from pinesy.rules.propositions import Proposition
from pinesy.samples import value_texts

#: Memberships that a page may hold: of values in propositions, and of cells in conclusions.
MAX_MEMBERSHIPS = 1 << 25
#: Names of values that a page may hold.
MAX_VALUES = 500_000


class NumberedTexts(dict[Any, int]):
    """Things by the order in which they were first met, each once."""

    def number(self, thing: Any) -> int:
        """Return the number of a thing, a new one if it is new."""
        return self.setdefault(thing, len(self))


def rules_data(cascade: Cascade) -> dict[str, Any]:
    """Return the rules as plain data, or raise `DataError` where they are too many for a page.

    The keys: `domains`, lists of names of values; `attributes`, the inputs first, then those that
    rules conclude on in an order of inference; `shapes` and `sets` (see `_shape` and `_set`);
    `outputs`, the places of the attributes that no premise uses.
    """
    attributes = [*cascade.inputs, *(s.output for s in cascade.order)]
    _check_size(cascade, attributes)
    place = {a.name: i for i, a in enumerate(attributes)}
    domains, shapes = NumberedTexts(), NumberedTexts()
    coherent = factor_graph(cascade).coherent
    described = [attribute_data(a, domains.number(tuple(value_texts(a)))) for a in attributes]
    sets = [
        _set(s, place, shapes.number(_shape(s)), s.output.name in coherent) for s in cascade.order
    ]
    return {
        "domains": list(domains),
        "attributes": described,
        "shapes": [dict(shape) for shape in shapes],
        "sets": sets,
        "outputs": [place[a.name] for a in cascade.outputs],
    }


def _check_size(cascade: Cascade, attributes: Iterable[Attribute]) -> None:
    values = sum(len(a.domain) for a in attributes)
    if values > MAX_VALUES:
        raise DataError(
            f"the attributes have {values:,} values; a page takes at most {MAX_VALUES:,}"
        )
    held = sum(
        len(s.output.domain) * len(s.rules)
        + sum(len(p.attribute.domain) for rule in s.rules for p in rule.premise.propositions)
        for s in cascade.order
    )
    if held > MAX_MEMBERSHIPS:
        raise DataError(
            f"the rules have {held:,} memberships (of values in propositions); a page takes at "
            f"most {MAX_MEMBERSHIPS:,}"
        )


def attribute_data(attribute: Attribute, domain: int) -> dict[str, Any]:
    """Return an attribute; of a numeric one with its cuts, and the limits that blur is from."""
    found: dict[str, Any] = {"name": attribute.name, "domain": domain}
    if attribute.formula is not None:
        found["formula"] = attribute.formula
    if attribute.scale is not None:
        cuts = attribute.scale.cuts
        found["scale"] = {
            "cuts": list(cuts),
            "limits": [float(limit_number(cut)) for cut in cuts],
            "blur": attribute.scale.blur,
        }
    return found


def _shape(rule_set: RuleSet) -> tuple[tuple[str, Any], ...]:
    """Return what sets that differ in names and parameters only have in common.

    `propositions`, the distinct ones as (input, subset); `premises`, of each rule the places of
    its own among them; `conclusions`, subsets; `sizes`, of the domains of inputs and output.
    """
    kind, numbers = rule_set.unit.kind(set()), NumberedTexts()
    premises = tuple(
        tuple(numbers.number((place, _hexadecimal(mask))) for place, mask in premise)
        for premise in kind.premises
    )
    return (
        ("propositions", tuple(numbers)),
        ("premises", premises),
        ("conclusions", tuple(map(_hexadecimal, kind.conclusions))),
        ("sizes", (*kind.sizes, kind.output_size)),
    )


def _hexadecimal(mask: int) -> str:
    """Return a subset as digits, the lowest first.

    Examples
    --------
    >>> _hexadecimal(0b1_0010)
    '21'
    """
    return f"{mask:x}"[::-1]


def _set(rule_set: RuleSet, place: dict[str, int], shape: int, coherent: bool) -> dict[str, Any]:
    """Return a rule set: its attributes, its shape, its parameters, and texts where it has some.

    `coherent` tells whether some value of the output is known to have possibility 1 always.
    """
    found: dict[str, Any] = {
        "output": place[rule_set.output.name],
        "inputs": [place[a.name] for a in rule_set.inputs],
        "shape": shape,
        "s": _shortened([rule.s for rule in rule_set.rules]),
        "r": _shortened([rule.r for rule in rule_set.rules]),
        "coherent": coherent,
    }
    distinct = {
        (p.attribute.name, p.mask): p for rule in rule_set.rules for p in rule.premise.propositions
    }
    texts = [_text(p) for p in distinct.values()]
    conclusions = [_text(rule.conclusion) for rule in rule_set.rules]
    if any(texts):
        found["texts"] = texts
    if any(conclusions):
        found["conclusions"] = conclusions
    return found


def _shortened(numbers: Sequence[float]) -> float | list[float]:
    """Return one number where all are the same."""
    return numbers[0] if len(set(numbers)) == 1 else list(numbers)


def _text(proposition: Proposition) -> str | None:
    """Return the text of a proposition where it says more than its values."""
    attribute = proposition.attribute
    special = proposition.condition or attribute.formula or attribute.scale
    return " ".join(str(proposition).split()) if special else None
