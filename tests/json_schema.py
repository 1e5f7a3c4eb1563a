"""As much of JSON Schema as the schemas of explanations and of the service use, by hand."""

from collections.abc import Mapping
from typing import Any

KINDS: dict[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "null": type(None),
    "number": (int, float),
    "integer": int,
}
#: Keywords that say nothing about what is valid.
SILENT = {"$schema", "title", "description", "$defs", "properties", "x-unit"}


def problems(
    content: Any, schema: Mapping[str, Any], root: Mapping[str, Any], at: str = "$"
) -> list[str]:
    """Return what is wrong, with the place of it."""
    found = []
    for keyword, rule in schema.items():
        if keyword not in SILENT:
            found += CHECKS[keyword](content, rule, root, at, schema)
    return found


def _kind(content: Any, rule: Any, _root: Any, at: str, _: Any) -> list[str]:
    names = [rule] if isinstance(rule, str) else rule
    fits = any(
        isinstance(content, KINDS[n]) and (n == "boolean" or not isinstance(content, bool))
        for n in names
    )
    return [] if fits else [f"{at}: {content!r:.40} is not of type {rule}"]


def _reference(content: Any, rule: str, root: Any, at: str, _: Any) -> list[str]:
    schema: Any = root
    for key in rule.removeprefix("#/").split("/"):
        schema = schema[key]
    return problems(content, schema, root, at)


def _one_of(content: Any, rule: Any, root: Any, at: str, _: Any) -> list[str]:
    fitting = [s for s in rule if not problems(content, s, root, at)]
    return [] if len(fitting) == 1 else [f"{at}: fits {len(fitting)} of the alternatives"]


def _any_of(content: Any, rule: Any, root: Any, at: str, _: Any) -> list[str]:
    fits = any(not problems(content, s, root, at) for s in rule)
    return [] if fits else [f"{at}: {content!r:.40} fits none of the alternatives"]


def _required(content: Any, rule: Any, _root: Any, at: str, _: Any) -> list[str]:
    return [f"{at}: no {key}" for key in rule if isinstance(content, dict) and key not in content]


def _no_more(content: Any, rule: Any, root: Any, at: str, schema: Any) -> list[str]:
    if not isinstance(content, dict):
        return []
    properties = schema.get("properties", {})
    others = [key for key in content if key not in properties]
    if rule is False:
        found = [f"{at}: {key} is unknown" for key in others]
    else:
        found = [p for key in others for p in problems(content[key], rule, root, f"{at}.{key}")]
    for key, inner in properties.items():
        if key in content:
            found += problems(content[key], inner, root, f"{at}.{key}")
    return found


def _items(content: Any, rule: Any, root: Any, at: str, _: Any) -> list[str]:
    entries = content if isinstance(content, list) else []
    return [p for i, e in enumerate(entries) for p in problems(e, rule, root, f"{at}[{i}]")]


def _fewest(content: Any, rule: Any, _root: Any, at: str, _: Any) -> list[str]:
    short = isinstance(content, list) and len(content) < rule
    return [f"{at}: fewer than {rule}"] if short else []


def _longest(content: Any, rule: Any, _root: Any, at: str, _: Any) -> list[str]:
    long = isinstance(content, list) and len(content) > rule
    return [f"{at}: more than {rule}"] if long else []


def _names(content: Any, rule: Any, root: Any, at: str, _: Any) -> list[str]:
    names = content if isinstance(content, dict) else ()
    return [p for name in names for p in problems(name, rule, root, f"{at}.{name}")]


def _constant(content: Any, rule: Any, _root: Any, at: str, _: Any) -> list[str]:
    same = content == rule and type(content) is type(rule)
    return [] if same else [f"{at}: {content!r:.40} is not {rule!r}"]


def _choice(content: Any, rule: Any, _root: Any, at: str, _: Any) -> list[str]:
    same = any(content == entry and type(content) is type(entry) for entry in rule)
    return [] if same else [f"{at}: {content!r:.40} is none of {rule}"]


def _least(content: Any, rule: Any, _root: Any, at: str, _: Any) -> list[str]:
    return [f"{at}: {content} is below {rule}"] if _number(content) and content < rule else []


def _most(content: Any, rule: Any, _root: Any, at: str, _: Any) -> list[str]:
    return [f"{at}: {content} is above {rule}"] if _number(content) and content > rule else []


def _number(content: Any) -> bool:
    return isinstance(content, int | float)


CHECKS = {
    "type": _kind,
    "$ref": _reference,
    "oneOf": _one_of,
    "anyOf": _any_of,
    "minItems": _fewest,
    "maxItems": _longest,
    "propertyNames": _names,
    "required": _required,
    "additionalProperties": _no_more,
    "items": _items,
    "const": _constant,
    "enum": _choice,
    "minimum": _least,
    "maximum": _most,
}
