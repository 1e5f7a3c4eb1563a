"""The OpenAPI 3.1 document of a service, made from its model: inputs, values, titles and units."""

import json
from collections.abc import Mapping
from typing import Any

from pinesy._version import __version__
from pinesy.rules.attributes import Attribute
from pinesy.rules.outcomes import HANDED_OVER, OUTCOMES
from pinesy.samples.file_layout import json_value, value_texts
from pinesy.serve.served_model import ServedModel
from pinesy.verdicts import verdict_schema

#: Values of an attribute that the document names; of more it has the types.
MAX_VALUES = 1_000
Schema = dict[str, Any]

DEGREE: Schema = {"type": "number", "minimum": 0, "maximum": 1}
TEXT: Schema = {"type": "string"}
RULES: Schema = {
    "type": "array",
    "description": "the numbers of the rules that decide; of a contradiction, of those that clash",
    "items": {"type": "integer", "minimum": 1},
}
#: Errors by status, with what they mean.
ERRORS = {
    "400": "the body is not an object with samples",
    "401": "the token is missing or wrong",
    "403": "the request is for another machine, or from a web page of another address",
    "408": "the body took too long",
    "413": "the body has too many bytes or samples",
    "422": "a sample cannot be used; or, of /decide, the model has no threshold",
    "503": "too many requests, an answer that takes too long, or a log that cannot be written",
}


def openapi_document(model: ServedModel, max_samples: int) -> Schema:
    """Return the document that describes the endpoints for a model.

    Parameters
    ----------
    max_samples : of a request
    """
    schemas: dict[str, Schema] = {
        "Samples": _object({"samples": _list_of(_reference("Sample"), 1, max_samples)}),
        "Sample": _sample(model),
        "Model": _object({"sha256": TEXT, "file": TEXT, "pinesy": TEXT}),
        "Error": _object({"error": TEXT}),
        "Inferred": _object({a.name: _inferred(a) for a in model.outputs}),
        "Verdict": _embedded(verdict_schema(), "#/components/schemas/Verdict"),
        "Explained": _object({a.name: _reference("Verdict") for a in model.outputs}),
        "InferAnswers": _answers(model, {"outputs": _reference("Inferred")}),
        "ExplainAnswers": _answers(model, {"outputs": _reference("Explained")}),
    }
    paths = {
        "/infer": _path("Infer the outputs of samples, with reasons", "InferAnswers"),
        "/explain": _path("Explain the outputs of samples in full", "ExplainAnswers"),
        "/health": _get("The state of the service and its model"),
        "/schema": _get("This document"),
    }
    if model.selective is not None:
        schemas["Decided"] = _object({a.name: _decided(a) for a in model.decided_outputs})
        decided = {
            "answer": TEXT,
            "outcome": {"enum": ["decided", HANDED_OVER]},
            "certainty": DEGREE,
            "outputs": _reference("Decided"),
        }
        schemas["DecideAnswers"] = _answers(model, decided, {"promise": TEXT})
        paths["/decide"] = _path(model.selective.promise, "DecideAnswers")
    return {
        "openapi": "3.1.0",
        "info": {
            "title": model.path.name,
            "version": model.sha256[:12],
            "description": f"Answers of the model with SHA-256 {model.sha256}, by pinesy "
            f"{__version__}.",
        },
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{}, {"token": []}],
    }


def _sample(model: ServedModel) -> Schema:
    """Return the schema of a sample: what is known of each input."""
    kind = "possibilities" if model.transform == "none" else "probabilities"
    inputs = {a.name: _input(a, kind) for a in model.rules.inputs}
    ids = {name: {"description": "repeated in the answer"} for name in model.reader.ids}
    needed = [name for name in inputs if name not in model.reader.layout.optional]
    return _object(ids | inputs, needed)


def _input(attribute: Attribute, kind: str) -> Schema:
    """Return the schema of what is known of an input; degrees are of a `kind`."""
    size, texts = len(attribute.domain), value_texts(attribute)
    degrees: Schema = {"type": "object", "additionalProperties": DEGREE}
    if size <= MAX_VALUES:
        degrees["propertyNames"] = {"enum": texts}
    forms = [
        *([{"type": "number"}] if attribute.scale is not None else []),
        _values(attribute, texts),
        {"type": "null", "description": "nothing is known"},
        {"description": f"{kind} by value; those left out have degree 0", **degrees},
        {"description": f"{kind} in the order of the values", **_list_of(DEGREE, size, size)},
    ]
    return _titled(attribute) | {"anyOf": forms}


def _titled(attribute: Attribute) -> Schema:
    unit = {"x-unit": attribute.unit} if attribute.unit else {}
    return {"title": attribute.title or attribute.name, **unit}


def _values(attribute: Attribute, texts: list[str]) -> Schema:
    """Return the schema of a value of an attribute, as text or as JSON has it."""
    if len(attribute.domain) > MAX_VALUES:
        return {"type": ["string", "number", "boolean", "null"]}
    entries = [*map(json_value, attribute.domain), *texts]
    distinct = {json.dumps(entry): entry for entry in entries}  # true is not 1
    return {"enum": list(distinct.values())}


def _best(attribute: Attribute) -> Schema:
    values = _values(attribute, [])
    return {"anyOf": [values, {"type": "null", "description": "no value is decided on"}]}


def _inferred(attribute: Attribute) -> Schema:
    """Return the schema of the answer on an output."""
    return _titled(attribute) | _object(
        {
            "answer": TEXT,
            "outcome": {"enum": list(OUTCOMES)},
            "best": _best(attribute),
            "best_values": _list_of(_values(attribute, [])),
            "certainty": {"anyOf": [DEGREE, {"type": "null"}]},
            "contradiction": DEGREE,
            "possibility": {"type": "object", "additionalProperties": DEGREE},
            "because": TEXT,
            "rules": RULES,
        }
    )


def _decided(attribute: Attribute) -> Schema:
    """Return the schema of the decision on an output."""
    return _titled(attribute) | _object(
        {
            "best": _best(attribute),
            "best_values": _list_of(_values(attribute, [])),
            "because": TEXT,
            "rules": RULES,
        }
    )


def _answers(
    model: ServedModel, answer: Mapping[str, Schema], parts: Mapping[str, Schema] | None = None
) -> Schema:
    """Return the schema of a response with an answer for each sample."""
    ids: dict[str, Schema] = {name: {} for name in model.reader.ids}
    content = {
        "request": TEXT,
        "model": _reference("Model"),
        **(parts or {}),
        "answers": _list_of(_object(ids | dict(answer), list(answer)), 1),
    }
    notices = {"notices": {"description": "what was taken as unknown", **_list_of(TEXT)}}
    return _object(content | notices, list(content))


def _path(summary: str, response: str) -> Schema:
    """Return an endpoint that takes samples."""
    return {
        "post": {
            "summary": summary,
            "requestBody": {"required": True, "content": _json(_reference("Samples"))},
            "responses": {
                "200": {"description": "answers", "content": _json(_reference(response))},
                **{
                    status: {"description": meaning, "content": _json(_reference("Error"))}
                    for status, meaning in ERRORS.items()
                },
            },
        }
    }


def _get(summary: str) -> Schema:
    content = _json({"type": "object"})
    return {
        "get": {
            "summary": summary,
            "responses": {"200": {"description": summary, "content": content}},
        }
    }


def _object(properties: Mapping[str, Schema], required: list[str] | None = None) -> Schema:
    """Return the schema of an object without other properties."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties) if required is None else required,
        "additionalProperties": False,
    }


def _list_of(items: Schema, least: int = 0, most: int | None = None) -> Schema:
    size = ({"minItems": least} if least else {}) | ({} if most is None else {"maxItems": most})
    return {"type": "array", "items": items, **size}


def _reference(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def _json(schema: Schema) -> Schema:
    return {"application/json": {"schema": schema}}


def _embedded(schema: Mapping[str, Any], location: str) -> Schema:
    """Return a schema whose references to its own parts hold at a location of the document."""
    text = json.dumps({key: part for key, part in schema.items() if key != "$schema"})
    embedded: Schema = json.loads(text.replace('"#/$defs/', f'"{location}/$defs/'))
    return embedded
