"""Files of cascades: ``.rules`` text or versioned JSON; `pinesy.save` and `pinesy.load` use it.

JSON, version 2::

    {"format": "pinesy cascade", "version": 2,
     "attributes": [{"name": "left", "domain": [0, 1]}, ...,
                    {"name": "pair", "product": ["left", "right"]},
                    {"name": "age", "title": "age of the patient", "unit": "years",
                     "cuts": [30.0, 65.0], "blur": 2.0}],
     "rule_sets": [[{"if": [["left", [0]]], "then": ["pair", [0, 1], "left == 0"],
                     "s": 0.1, "r": 0.0}, ...], ...]}

Titles and units are optional. A proposition is ``[attribute, indices in the domain]``, followed by
the text of its condition, if any. A formula among the premises is ``{"least": 1, "most": 2, "of":
[...]}``: from 1 to 2 of its parts hold. An array among domain values is a tuple. A model file also
has, under ``"learning"``, how its parameters were learned; see `pinesy.learning.model_file`;
and under ``"card"`` the score card of induced rules.
"""

import json
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Any, TypeVar

from pinesy._common.budgets import allow_tokens, budget, value_limit
from pinesy._common.files import atomic_text, read_text
from pinesy._common.masks import mask_of, positions
from pinesy._common.validation import check_integer, check_known
from pinesy.exceptions import DataError, PinesyError, placed
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.parse import VERSION as TEXT_VERSION
from pinesy.rulebase.parse import parse_file
from pinesy.rulebase.rule_set import RuleSet, declaration_order
from pinesy.rules.attributes import Attribute
from pinesy.rules.definitions import formula_of
from pinesy.rules.propositions import Compound, Proposition, Statement
from pinesy.rules.rule import Rule
from pinesy.rules.statements import If
from pinesy.rules.syntax.lexer import MAX_DEPTH
from pinesy.rules.syntax.writer import format_value

T = TypeVar("T")

FORMAT, VERSION = "pinesy cascade", 2

# The first and the last line of a file: a file without the last one is truncated.
HEAD, END = "# written by pinesy, and whole if the last line says: end", "# end"
#: How the line of a ``.rules`` file begins that has the score card of induced rules, as JSON.
CARD = "# score card: "


def write_rules(cascade: Cascade, path: Path, comment: str = "") -> None:
    """Write a cascade with its parameters to a ``.rules`` or ``.json`` file.

    A ``.rules`` file has the comment, a line, after the rules.
    """
    if path.suffix == ".rules":
        _check_values(cascade)
        note = f"# {comment}\n" if comment else ""
        text = f"{HEAD}\nversion {TEXT_VERSION}\n\n{cascade}\n{note}{END}\n"
    elif path.suffix == ".json":
        text = json.dumps(to_content(cascade), separators=(",", ":")) + "\n"
    else:
        raise DataError(f"{path}: rules are saved as .rules or .json files, not {path.suffix!r}")
    with atomic_text(path) as file:
        file.write(text)


def read_rules(path: Path, max_values: int | None = None) -> Cascade:
    """Read a cascade from a ``.rules`` file."""
    limit = value_limit(max_values)
    text = read_text(path)
    with placed(str(path)):
        if text.startswith(HEAD) and not text.rstrip().endswith(END):
            raise DataError(f"its last line is not {END!r}: the file may be cut off")
        directory = path.parent.resolve()
        return parse_file(text, directory, directory / path.name, max_values=limit)


def _check_values(cascade: Cascade) -> None:
    """Raise `DomainError` for a value that has no written form."""
    for attribute in cascade.attributes.values():
        for value in attribute.domain:
            format_value(value)


def to_content(cascade: Cascade) -> dict[str, Any]:
    """Return a cascade as a JSON object."""
    _check_values(cascade)
    return {
        "format": FORMAT,
        "version": VERSION,
        "attributes": list(map(attribute_content, declaration_order(cascade.attributes.values()))),
        "rule_sets": [[rule_content(rule) for rule in s.rules] for s in cascade.stated],
    }


def attribute_content(attribute: Attribute) -> dict[str, Any]:
    """Return an attribute as an object of JSON."""
    content: dict[str, Any] = {"name": attribute.name, **title_content(attribute)}
    if attribute.factors:
        return content | {"product": [f.name for f in attribute.factors]}
    if (scale := attribute.scale) is not None:
        names = {"names": scale.names} if scale.names else {}
        return content | {"cuts": scale.cuts, **names, "blur": scale.blur}
    return content | {"domain": attribute.domain}


def title_content(attribute: Attribute) -> dict[str, str]:
    """Return the title and the unit of an attribute, those that it has."""
    texts = {"title": attribute.title, "unit": attribute.unit}
    return {key: text for key, text in texts.items() if text is not None}


def rule_content(rule: Rule) -> dict[str, Any]:
    """Return a rule as an object of JSON."""
    premise = [_statement_content(p) for p in rule.premise.propositions]
    return {"if": premise, "then": _proposition_content(rule.conclusion), "s": rule.s, "r": rule.r}


def _statement_content(statement: Statement) -> Any:
    content = formula_of(statement)
    if isinstance(content, Compound):
        parts = [_statement_content(part) for part in content.parts]
        return {"least": content.least, "most": content.most, "of": parts}
    assert isinstance(content, Proposition)
    return _proposition_content(content)


def _proposition_content(proposition: Proposition) -> list[Any]:
    condition = [] if proposition.condition is None else [proposition.condition]
    return [proposition.attribute.name, positions(proposition.mask), *condition]


def read_content(text: str) -> dict[str, Any]:
    """Return the JSON object of a text, or raise `DataError` if it is not one of a cascade."""
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        raise DataError(
            f"not whole JSON ({error.msg} at line {error.lineno}, column {error.colno}); "
            "the file may be cut off"
        ) from None
    except (RecursionError, ValueError) as error:
        raise DataError(f"JSON that cannot be read: {error}") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise DataError(f'not a file of rules: "format" must be "{FORMAT}"')
    version = content.get("version")
    if type(version) is not int or version != VERSION:
        is_newer = type(version) is int and version > VERSION
        cure = "; update pinesy to read it" if is_newer else ""
        raise DataError(f"format version {version!r}; this pinesy reads version {VERSION}{cure}")
    return content


def from_content(content: dict[str, Any], max_values: int | None = None) -> Cascade:
    """Return the cascade of a JSON object."""
    with budget(value_limit(max_values)):
        return RulesContent(content).cascade()


class RulesContent:
    """Reads the JSON form; errors name the path of what does not fit."""

    def __init__(self, content: dict[str, Any]) -> None:
        self.content = content
        self.attributes: dict[str, Attribute] = {}

    def cascade(self) -> Cascade:
        """Return the cascade."""
        self.read_attributes()
        rule_sets = [
            self._at(f"rule_sets[{i}]", RuleSet, self._rules(entries, f"rule_sets[{i}]"))
            for i, entries in enumerate(_check_list(self.content.get("rule_sets"), "rule_sets"))
        ]
        return Cascade(*rule_sets, attributes=self.attributes.values())

    def read_attributes(self) -> tuple[Attribute, ...]:
        """Return the attributes, in their order; propositions and rules are on these."""
        for i, entry in enumerate(_check_list(self.content.get("attributes"), "attributes")):
            attribute = self._at(f"attributes[{i}]", self._attribute, entry)
            if attribute.name in self.attributes:
                raise DataError(f"attributes[{i}]: {attribute.name!r} is declared twice")
            self.attributes[attribute.name] = attribute
        return tuple(self.attributes.values())

    def _rules(self, entries: object, path: str) -> list[Rule]:
        return [
            self._at(f"{path}[{j}]", self.read_rule, entry)
            for j, entry in enumerate(_check_list(entries, path))
        ]

    def _at(self, path: str, convert: Callable[[Any], T], entry: object) -> T:
        try:
            return convert(entry)
        except PinesyError as error:
            raise DataError(f"{path}: {error}") from None
        except (IndexError, KeyError, RecursionError, TypeError, ValueError) as error:
            raise DataError(f"{path}: not of the form that it must have ({error})") from None

    def _attribute(self, entry: dict[str, Any]) -> Attribute:
        optional = {"title", "unit"} & set(entry) if isinstance(entry, dict) else set()
        titles = {key: entry[key] for key in optional}
        if isinstance(entry, dict) and "cuts" in entry:
            _check_keys(entry, {"name", "cuts", "blur"} | optional | ({"names"} & set(entry)))
            names = _check_list(entry["names"], "names") if "names" in entry else None
            return Attribute.number(
                entry["name"], _check_list(entry["cuts"], "cuts"), names, entry["blur"], **titles
            )
        is_product = isinstance(entry, dict) and "product" in entry
        _check_keys(entry, {"name", "product" if is_product else "domain"} | optional)
        if is_product:
            return Attribute.product(entry["name"], *map(self._known, entry["product"]), **titles)
        domain = tuple(map(_as_value, _check_list(entry["domain"], "domain")))
        for value in domain:
            format_value(value)  # JSON knows Infinity, rules do not
        return Attribute(entry["name"], domain, **titles)

    def _known(self, name: str) -> Attribute:
        check_known(name, self.attributes, f"{name!r} is not declared", DataError)
        return self.attributes[name]

    def read_rule(self, entry: dict[str, Any]) -> Rule:
        """Return the rule of an object."""
        allow_tokens(4)
        _check_keys(entry, {"if", "then", "s", "r"})
        for key in ("s", "r"):
            if type(entry[key]) not in (int, float):
                raise DataError(f"{key} is {entry[key]!r}; it must be a number in [0, 1]")
        premise = map(self._statement, _check_list(entry["if"], "if"))
        return If(*premise).then(self.read_proposition(entry["then"]), entry["s"], entry["r"])

    def _statement(self, entry: Any) -> Proposition | Compound:
        allow_tokens(2)
        if not isinstance(entry, dict):
            return self.read_proposition(entry)
        _check_keys(entry, {"least", "most", "of"})
        parts = tuple(map(self._statement, _check_list(entry["of"], "of")))
        for key in ("least", "most"):
            check_integer(entry[key], key, error=DataError)
        return Compound(parts, entry["least"], entry["most"])

    def read_proposition(self, entry: list[Any]) -> Proposition:
        """Return the proposition of a list."""
        attribute = self._known(entry[0])
        indices = _check_list(entry[1], "positions")
        for index in indices:
            if type(index) is not int or not 0 <= index < len(attribute.domain):
                raise DataError(f"attribute {attribute.name!r} has no position {index!r}")
        mask = mask_of(indices)
        if len(entry) < 3:
            return Proposition(attribute, mask)
        stated = attribute.where(entry[2])
        if stated.mask != mask:
            raise DataError(f"the condition {entry[2]!r} does not give the positions beside it")
        return stated


def _check_keys(entry: dict[str, Any], keys: set[str]) -> None:
    if not isinstance(entry, dict) or set(entry) != keys:
        raise DataError(f"must be an object with the keys {', '.join(sorted(keys))}")


def _check_list(entries: object, path: str) -> list[Any]:
    if not isinstance(entries, list):
        raise DataError(f"{path}: missing, or not a list")
    return entries


def _as_value(value: Any, depth: int = 0) -> Hashable:
    if not isinstance(value, list):
        return value  # type: ignore[no-any-return]
    if depth > MAX_DEPTH:
        raise DataError(f"a value that nests more than {MAX_DEPTH} deep")
    return tuple(_as_value(part, depth + 1) for part in value)
