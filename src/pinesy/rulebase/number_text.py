"""Numbers in ``.rules`` text: declarations of numeric attributes, and comparisons."""

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

from pinesy._common.validation import check_number
from pinesy.rules.attributes import Attribute
from pinesy.rules.numbers import cut_of, cuts_of, is_number
from pinesy.rules.propositions import Proposition
from pinesy.rules.syntax.expressions import COMPARISONS
from pinesy.rules.syntax.lexer import Token

if TYPE_CHECKING:
    from pinesy.rulebase.rule_reader import RuleReader

#: What a comparison is when its sides change places.
TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
ONE_ATTRIBUTE = "a proposition is on one attribute: name what is of several, as in function new"


def read_number(reader: "RuleReader") -> None:
    """Read ``age cuts {30, 65} [blur=2]``: names, and perhaps cuts, interval names and blur.

    Without names, the cuts of the text's comparisons are added to those that stand here.
    """
    token = reader.token
    titles = reader.names("a name")
    reader.check_new(token, titles)
    cuts = _cuts(reader) if reader.accept("cuts") else []
    names: Any = reader.subset() if reader.accept("named") else None
    blur = _blur(reader)
    for title in titles:
        declared = reader.at(token, partial(Attribute.number, title, cuts, names, blur))
        assert declared.scale is not None
        if names is None:
            compared = reader.compared_cuts.setdefault(title, set())
            every = sorted({*declared.scale.cuts, *compared})
            if len(every) > len(declared.scale.cuts):
                declared = reader.at(token, partial(Attribute.number, title, every, None, blur))
        reader.attributes[title] = declared


def _cuts(reader: "RuleReader") -> Iterable[Any]:
    """Read ``{30, <= 65}``, or any set of numbers."""
    start, source = reader.position, reader.source
    end = source.closing(start) if reader.is_sign("{") else start
    if not any(source.is_sign(i, *TURNED) for i in range(start, end)):
        return reader.subset()
    reader.expect("{")

    def cut() -> Any:
        sign, token = reader.accept(*TURNED), reader.token
        number = reader.value()
        return reader.at(token, partial(cut_of, sign, number, "cuts")) if sign else number

    return reader.listing("}", cut)


def _blur(reader: "RuleReader") -> float:
    """Read ``[blur=2]`` if it is there."""
    if not reader.accept("["):
        return 0.0
    if not reader.accept("blur"):
        reader.missing("blur=")
    reader.expect("=")
    token = reader.token
    blur = reader.at(token, partial(check_number, reader.value(), "blur"))
    reader.expect("]")
    return blur


def is_number_next(reader: "RuleReader") -> bool:
    """Tell whether a number comes next, or a variable that is one."""
    token = reader.token
    if token.text in reader.scope or token.text in reader.constants:
        return is_number(reader.variable(token)[1])
    return token.kind == "number" or token.text == "-"


def read_between(reader: "RuleReader") -> Proposition:
    """Read ``3 <= a`` or ``3 <= a < 5``."""
    token, start = reader.token, reader.position
    value = reader.value()
    sign = reader.accept(*COMPARISONS)
    if token.kind == "word" and reader.token.kind not in ("word", "name"):
        reader.seek(start)  # a variable where a name should be
        reader.attribute()
    if not sign:
        reader.missing("a comparison")
    attribute = reader.attribute()
    first = _compared(reader, token, attribute, TURNED.get(sign, sign), value)
    if not reader.is_sign(*TURNED):
        return first
    second = read_comparison(reader, attribute)
    if first.attribute != second.attribute:  # which lack cuts, so the text is read again
        return second
    return Proposition(first.attribute, first.mask & second.mask)


def read_comparison(reader: "RuleReader", attribute: Attribute) -> Proposition:
    """Read ``== 3`` or ``< 5`` after an attribute: the subset of its values."""
    sign = reader.take().text
    token = reader.token
    value = reader.value()
    if value in reader.attributes and value not in attribute.domain:
        comparison = f"{attribute.name} {sign} {value}"
        reader.fail(f"{value!r} is an attribute; {ONE_ATTRIBUTE} = {comparison}", token)
    return _compared(reader, token, attribute, sign, value)


def _compared(
    reader: "RuleReader", token: Token, attribute: Attribute, sign: str, value: Any
) -> Proposition:
    """Return the proposition of a comparison; take note of the cuts that it lacks."""
    scale = attribute.scale
    if sign in ("==", "!=") and (scale is None or not is_number(value)):
        proposition = reader.at(token, lambda: attribute.isin([value]))
        return proposition if sign == "==" else proposition.complement
    if scale is not None and attribute.name in reader.compared_cuts:
        where = f"attribute {attribute.name!r}"
        needed = reader.at(token, partial(cuts_of, sign, value, where))
        if not all(map(scale.has_cut, needed)):
            reader.compared_cuts[attribute.name] |= needed
            reader.lacks_cuts = True
            attribute = Attribute.number(attribute.name, sorted(needed))
    return reader.at(token, lambda: attribute.compared(sign, value))
