"""Verdicts for tests: each is checked against the JSON Schema when it is made."""

import json
from typing import Any

from json_schema import problems
from pinesy import Cascade
from pinesy.verdicts import Verdict, verdict_schema
from pinesy.verdicts import verdict as plain_verdict

SCHEMA = verdict_schema()


def verdict(rules: Cascade, evidence: Any, output: Any = None, **options: Any) -> Verdict:
    """Return a verdict whose plain data fit the schema and are JSON."""
    found = plain_verdict(rules, evidence, output, **options)
    content = found.to_dict()
    assert problems(content, SCHEMA, SCHEMA) == []
    assert json.loads(found.to_json()) == content
    for sentence in found.questions().values():
        starts_with_name = sentence.split(" ")[0] in found.decision.plan.cascade.attributes
        assert sentence.endswith(".")
        assert not sentence[0].islower() or starts_with_name
    return found
