"""Reads propositions of a ``.rules`` text."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from pinesy._common.validation import suggestion
from pinesy.exceptions import PinesyError, RulesTextError
from pinesy.rules.attributes import Attribute
from pinesy.rules.numbers import cuts_of, is_number
from pinesy.rules.propositions import Proposition
from pinesy.rules.syntax.conditions import read_condition
from pinesy.rules.syntax.expressions import COMPARISONS
from pinesy.rules.syntax.lexer import Token
from pinesy.rules.syntax.reader import Reader
from pinesy.rules.syntax.value_sets import read_name, read_subset, read_value

T = TypeVar("T")

#: What a comparison is when its sides change places.
TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


#: Signs that compute with attributes, which propositions do not.
ARITHMETIC = frozenset(["+", "-", "*", "//", "%"])
ONE_ATTRIBUTE = "a proposition is on one attribute: name what is of several, as in function new"


def is_truth(attribute: Attribute) -> bool:
    """Tell whether the values of an attribute are false and true."""
    return len(attribute.domain) == 2 and all(type(value) is bool for value in attribute.domain)


class PropositionReader:
    """Reads what is said of the attributes that are declared."""

    def __init__(self, text: str, attributes: Mapping[str, Attribute] | None = None) -> None:
        self.reader = Reader(text)
        self.attributes = dict(attributes or {})
        #: Products that a ``joint`` statement has paired, by the names of their factors.
        self.joints: dict[frozenset[str], Attribute] = {}
        #: Cuts that comparisons need, of numeric attributes whose intervals have no names.
        self.compared_cuts: dict[str, set[float]] = {}
        #: Whether some were missing, so that the text must be read again, with them.
        self.lacks_cuts = False

    def at(self, token: Token, make: Callable[[], T]) -> T:
        """Call `make`; blame the text at `token` for what goes wrong."""
        try:
            return make()
        except RulesTextError:
            raise
        except PinesyError as error:
            self.reader.fail(str(error), token)

    def attribute(self) -> Attribute:
        """Read the name of an attribute that is declared."""
        token = self.reader.token
        name = read_name(self.reader, "an attribute")
        if name not in self.attributes:
            hint = suggestion(name[:60], self.attributes)
            self.reader.fail(f"attribute {name!r:.60} is not declared{hint}", token)
        return self.attributes[name]

    def check_new(self, token: Token, names: Iterable[str]) -> None:
        """Fail at `token` if an attribute of one of these names is declared."""
        for name in names:
            if name in self.attributes:
                self.reader.fail(f"attribute {name!r} is declared twice", token)

    def factors(self) -> list[Attribute]:
        """Read ``left * right * ...``."""
        factors = [self.attribute()]
        while self.reader.accept("*"):
            factors.append(self.attribute())
        return factors

    def proposition(self) -> Proposition:
        """Read ``a in {...}``, ``a not in {...}``, ``a where ...``, ``a == 3``, ``3 <= a < 5``.

        The name of an attribute whose values are false and true says that it is true.
        """
        token = self.reader.token
        if self._is_number(token):
            return self._between()
        attribute = self.attribute()
        if self.reader.token.text in COMPARISONS and self.reader.token.kind == "sign":
            return self._compared(attribute)
        word = self.reader.accept("in", "where", "not")
        if word == "where":
            condition = read_condition(self.reader, attribute.condition_names)
            return self.at(token, lambda: attribute.where(condition))
        if word != "in" and not (word and self.reader.accept("in")):
            if not word and is_truth(attribute):
                return attribute.isin({True})
            found = self.reader.token.text
            cure = f"; {ONE_ATTRIBUTE} = {attribute.name} {found} ..." * (found in ARITHMETIC)
            self.reader.fail(f"expected 'in', 'where' or a comparison, found {found!r:.60}{cure}")
        subset_token = self.reader.token
        values = read_subset(self.reader)
        proposition = self.at(subset_token, lambda: attribute.isin(values))
        return proposition.complement if word == "not" else proposition

    def _compared(self, attribute: Attribute) -> Proposition:
        """Read ``== 3`` or ``< 5`` after an attribute: the subset of its values."""
        sign = self.reader.take().text
        token = self.reader.token
        value = read_value(self.reader)
        if value in self.attributes and value not in attribute.domain:
            comparison = f"{attribute.name} {sign} {value}"
            self.reader.fail(f"{value!r} is an attribute; {ONE_ATTRIBUTE} = {comparison}", token)
        return self._comparison(token, attribute, sign, value)

    def _comparison(self, token: Token, attribute: Attribute, sign: str, value: Any) -> Proposition:
        """Return the proposition of a comparison; take note of the cuts that it lacks."""
        scale = attribute.scale
        if sign in ("==", "!=") and (scale is None or not is_number(value)):
            proposition = self.at(token, lambda: attribute.isin([value]))
            return proposition if sign == "==" else proposition.complement
        if scale is not None and attribute.name in self.compared_cuts:
            needed = self.at(token, lambda: cuts_of(sign, value, f"attribute {attribute.name!r}"))
            if not needed <= set(scale.cuts):
                self.compared_cuts[attribute.name] |= needed
                self.lacks_cuts = True
                attribute = Attribute.number(attribute.name, sorted(needed))
        return self.at(token, lambda: attribute.compared(sign, value))

    def _is_number(self, token: Token) -> bool:
        """Tell whether a number comes next, or a variable that is one."""
        known, value = self.reader.variable(token)
        is_minus = token.kind == "sign" and token.text == "-"
        return token.kind == "number" or is_minus or (known and is_number(value))

    def _between(self) -> Proposition:
        """Read ``3 <= a`` or ``3 <= a < 5``."""
        reader, token, start = self.reader, self.reader.token, self.reader.position
        value = read_value(reader)
        sign = reader.accept(*COMPARISONS)
        if token.kind == "word" and reader.token.kind not in ("word", "name"):
            reader.seek(start)  # a variable where a name should be
            self.attribute()
        if not sign:
            reader.fail(f"expected a comparison, found {reader.token.text!r:.60}")
        attribute = self.attribute()
        first = self._comparison(token, attribute, TURNED.get(sign, sign), value)
        if reader.token.text not in TURNED or reader.token.kind != "sign":
            return first
        second = self._compared(attribute)
        if first.attribute != second.attribute:  # which lack cuts, so the text is read again
            return second
        return Proposition(first.attribute, first.mask & second.mask)
