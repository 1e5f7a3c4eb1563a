"""The room Rules: the text of the rules, what is wrong with it, what is odd in it, its graph."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pinesy._common.files import writing
from pinesy.exceptions import DataError
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.rules_text import parse
from pinesy.rules.syntax.lexer import KEYWORDS
from pinesy.studio.rule_graph import rule_graph
from pinesy.studio.session import Session

Asked = Mapping[str, Any]
#: Words that begin statements, beside those that the language reserves.
STATEMENTS = ["const", "cuts", "for", "function", "include", "joint", "named", "number", "version"]
#: Rules and premises up to which a text is looked over while it is typed.
QUICK = 20_000


def text(session: Session, _asked: Asked) -> dict[str, Any]:
    """Return the rules as text, the words of the language, and whether there is a file for them."""
    path = session.path
    return {
        "text": session.work.text,
        "keywords": sorted([*KEYWORDS, *STATEMENTS]),
        "file": path.name if path is not None and path.suffix == ".rules" else "",
    }


def look(session: Session, asked: Asked) -> dict[str, Any]:
    """Read a text without using it: what `check` finds in it. Errors have their place."""
    rules = _parsed(session, asked)
    premises = sum(len(rule.premise.propositions) for s in rules.rule_sets for rule in s.rules)
    if premises > QUICK and not asked.get("thoroughly"):
        return {"summary": repr(rules), "findings": None}
    report = rules.check()
    found = [{"level": f.level, "kind": f.kind, "text": str(f)} for f in report.findings]
    return {"summary": f"{rules!r}\n{report.cost}", "findings": found}


def use(session: Session, asked: Asked) -> dict[str, Any]:
    """Go on with the rules of a text, in all rooms."""
    with session.lock:
        session.use(session.work.with_rules(_parsed(session, asked), asked["text"]))
    return {"version": session.version}


def save(session: Session, asked: Asked) -> dict[str, Any]:
    """Write the text that is used to its file, unless that changed meanwhile."""
    path = session.path
    if path is None or path.suffix != ".rules":
        raise DataError("these rules come from no .rules file; download them instead")
    if str(path) in session.changed_files() and not asked.get("replace"):
        raise DataError(f"{path} changed on disk; load it again or keep what is here first")
    with writing(path) as stream:
        stream.write(session.work.text)
    session.accept_files()
    return {"file": path.name}


def graph(session: Session, asked: Asked) -> dict[str, Any]:
    """Return the cascade as a picture; `unfolded` names folded boxes to be opened."""
    unfolded = {str(key) for key in asked.get("unfolded", ())}
    return {"version": session.version, **rule_graph(session.work.rules, unfolded)}


def _parsed(session: Session, asked: Asked) -> Cascade:
    written = asked.get("text")
    if not isinstance(written, str):
        raise DataError("there is no text of rules")
    directory: Path | None = session.path.parent if session.path is not None else None
    return parse(written, directory)


ENDPOINTS = {"graph": graph, "look": look, "save": save, "text": text, "use": use}
