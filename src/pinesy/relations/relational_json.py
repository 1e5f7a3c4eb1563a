"""Files of relational rules: ``.rules`` text or versioned JSON; `pinesy.save` and `pinesy.load`.

JSON, version 1::

    {"format": "pinesy relations", "version": 1,
     "declarations": [{"relation": "parent", "sorts": ["person", "person"], "closed": false},
                      {"attribute": "digit", "sorts": ["image"], "domain": [0, 1]}],
     "functions": ["function total(X, Y) = digit(X) + digit(Y) for next(X, Y)"],
     "rules": [{"then": LITERAL, "cases": [[PART, ...], ...], "s": 1.0, "r": 0.1, "iff": false}]}

A literal is ``{"relation": "parent", "terms": [{"variable": "X"}, "ann"], "not": false}``, with
``"in": [values]`` of an attribute; a comparison ``{"compare": [TERM, "!=", TERM]}``; a count
``{"least": 2, "counted": "Z", "parts": [...]}``.
"""

import json
from pathlib import Path
from typing import Any

from pinesy._common.files import atomic_text
from pinesy.exceptions import DataError, PinesyError
from pinesy.relations.literals import (
    CountPremise,
    Part,
    RelationLiteral,
    Term,
    TermComparison,
    Variable,
)
from pinesy.relations.relational_rule import EntityAttribute, Relation, RelationalRule
from pinesy.relations.relational_rules import RelationalRules
from pinesy.relations.relational_text import RelationsReader
from pinesy.rulebase.rules_json import END, HEAD

FORMAT, VERSION = "pinesy relations", 1


def write_relational_rules(rules: RelationalRules, path: Path) -> None:
    """Write relational rules to a ``.rules`` or ``.json`` file."""
    if path.suffix == ".rules":
        text = f"{HEAD}\n\n{rules}\n{END}\n"
    elif path.suffix == ".json":
        text = json.dumps(rules_content(rules), separators=(",", ":"), allow_nan=False) + "\n"
    else:
        raise DataError(f"{path}: rules are saved as .rules or .json files, not {path.suffix!r}")
    with atomic_text(path) as file:
        file.write(text)


def rules_content(rules: RelationalRules) -> dict[str, Any]:
    """Return relational rules as a JSON object."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "declarations": [
            {"relation": d.name, "sorts": d.sorts, "closed": d.closed}
            if isinstance(d, Relation)
            else {"attribute": d.name, "sorts": d.sorts, "domain": d.domain}
            for d in rules.declarations
        ],
        "functions": [str(function) for function in rules.functions],
        "rules": [
            {
                "then": _part_content(rule.head),
                "cases": [[_part_content(part) for part in case] for case in rule.cases],
                "s": rule.s,
                "r": rule.r,
                "iff": rule.is_definition,
            }
            for rule in rules.rules
        ],
    }


def _term_content(term: Term) -> Any:
    return {"variable": term.name} if isinstance(term, Variable) else term


def _part_content(part: Part) -> dict[str, Any]:
    if isinstance(part, TermComparison):
        return {"compare": [_term_content(part.left), part.sign, _term_content(part.right)]}
    if isinstance(part, CountPremise):
        parts = [_part_content(inner) for inner in part.parts]
        return {"least": part.least, "counted": part.counted.name, "parts": parts}
    content = {
        "relation": part.name,
        "terms": [_term_content(t) for t in part.terms],
        "not": part.negated,
    }
    return content if part.values is None else content | {"in": part.values}


def is_relational(text: str) -> bool:
    """Return whether a JSON text is of relational rules."""
    return (
        text.lstrip()[:200].replace(" ", "").startswith(f'{{"format":"{FORMAT}"'.replace(" ", ""))
    )


def read_relational_rules(text: str) -> RelationalRules:
    """Return the relational rules of a JSON text."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(f"not whole JSON: {error}; the file may be cut off") from None
    if content.get("version") != VERSION:
        raise DataError(f"version {content.get('version')!r}; this pinesy reads {VERSION}")
    try:
        declarations: list[Relation | EntityAttribute] = [
            Relation(_text(d["relation"]), tuple(map(_text, d["sorts"])), d["closed"])
            if "relation" in d
            else EntityAttribute(
                _text(d["attribute"]), tuple(map(_text, d["sorts"])), _values(d["domain"])
            )
            for d in content["declarations"]
        ]
        rules = [
            RelationalRule(
                _literal(rule["then"]),
                tuple(tuple(map(_part, case)) for case in rule["cases"]),
                rule["s"],
                rule["r"],
                rule["iff"],
            )
            for rule in content["rules"]
        ]
        reader = RelationsReader("\n".join(map(_text, content["functions"])))
        reader.declarations += declarations
        while reader.token.kind != "end":
            reader.statement()
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        if isinstance(error, PinesyError):
            raise
        raise DataError(f"not of the form it must have: {error!r}") from None
    return RelationalRules(declarations, rules, reader.functions)


def _text(content: Any) -> str:
    if not isinstance(content, str):
        raise DataError(f"a name is a text; got {content!r:.60}")
    return content


def _values(content: Any) -> tuple[Any, ...]:
    return tuple(_values(v) if isinstance(v, list) else v for v in content)


def _term(content: Any) -> Term:
    if isinstance(content, dict):
        return Variable(content["variable"])
    if isinstance(content, bool) or not isinstance(content, str | int | float):
        raise DataError(f"a term is a variable, a text or a number; got {content!r:.60}")
    return content


def _literal(content: Any) -> RelationLiteral:
    values = _values(content["in"]) if "in" in content else None
    terms = tuple(map(_term, content["terms"]))
    return RelationLiteral(_text(content["relation"]), terms, content["not"] is True, values)


def _part(content: Any) -> Part:
    if "compare" in content:
        left, sign, right = content["compare"]
        return TermComparison(_term(left), sign, _term(right))
    if "least" in content:
        inner = [p for p in map(_part, content["parts"]) if not isinstance(p, CountPremise)]
        return CountPremise(content["least"], Variable(content["counted"]), tuple(inner))
    return _literal(content)
