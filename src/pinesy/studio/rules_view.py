"""The Rules view: the text of the rules, what to look at first, the rules at work, the picture."""

import re
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pinesy import learning
from pinesy._common.files import atomic_text
from pinesy._common.validation import as_list
from pinesy.exceptions import DataError
from pinesy.exchange.page_data import input_content
from pinesy.explanations.labels import Wording
from pinesy.induction.points_cascade import card_of
from pinesy.model.storage import save as save_rules
from pinesy.model.storage import with_card
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.check_report import Finding
from pinesy.rulebase.parse import parse
from pinesy.rules.syntax.lexer import KEYWORDS
from pinesy.studio.row_answers import answered_outputs
from pinesy.studio.rule_cards import line_counts, numbered_rules, rule_data, score_card_data
from pinesy.studio.rules_picture import rules_picture, visible_edges
from pinesy.studio.session import Payload, Session, endpoints

#: Words that begin statements, beside those that the language reserves.
STATEMENTS = ["const", "cuts", "for", "function", "include", "joint", "named", "number", "version"]
#: Rules and premises up to which a text is looked over while it is typed.
QUICK = 20_000
#: Findings of a kind that the page gets.
MAX_FINDINGS = 20
#: Rules at work that are listed, those that decide most often.
MAX_WORK = 12
#: The beginning of a rule, and what it concludes on.
RULE = re.compile(r"^\s*(?:if|iff)\b", re.MULTILINE)
CONCLUSION = re.compile(r"\bthen\s+(?:not\s+)?(?:`([^`]*)`|([^\s=<>!\[(]+))")


def text(session: Session, _payload: Payload) -> dict[str, Any]:
    """Return the text of the rules, the keywords, and whether they have a file.

    Of induced rules also their score card; then the text is what it was compiled to.
    """
    path = session.path
    return {
        "version": session.version,
        "text": session.work.text,
        "keywords": sorted([*KEYWORDS, *STATEMENTS]),
        "file": path.name if path is not None and path.suffix == ".rules" else "",
        "card": score_card_data(session.work.rules),
    }


def look(session: Session, payload: Payload) -> dict[str, Any]:
    """Parse a text without using it; return the findings of `check`, or an error with its line."""
    rules = _parsed(session, payload)
    premises = sum(len(rule.premise.propositions) for s in rules.rule_sets for rule in s.rules)
    if premises > QUICK and not payload.get("thoroughly"):
        return {"summary": repr(rules), "findings": None}
    report = rules.check()
    if score_card_data(rules) is not None:
        return {"summary": repr(rules), "findings": []}
    lines = rule_lines(payload["text"], rules)
    counts: defaultdict[str, int] = defaultdict(int)
    findings = []
    for finding in report.findings:
        counts[finding.kind] += 1
        if counts[finding.kind] <= MAX_FINDINGS:
            findings.append(finding_data(rules, finding, lines))
    hidden = {kind: n - MAX_FINDINGS for kind, n in counts.items() if n > MAX_FINDINGS}
    return {
        "summary": report.overview,
        "findings": findings,
        "hidden": [f"And {n:,} more of this kind: {kind}." for kind, n in hidden.items()],
    }


def finding_data(rules: Cascade, finding: Finding, lines: Mapping[int, int]) -> dict[str, Any]:
    """Return a finding: its sentence, the lines of its rules, and a case that shows it, if any.

    The case is a sample in the form of the page.
    """
    case = finding.case
    inputs = {a.name: a for a in rules.inputs}
    return {
        "level": finding.level,
        "kind": finding.kind,
        "text": str(finding),
        "lines": [lines[number] for number in finding.rules if number in lines],
        "case": case and {name: input_content(inputs[name], value) for name, value in case.items()},
    }


def rule_lines(written: str, rules: Cascade) -> dict[int, int]:
    r"""Return the line of each rule by its number; nothing where rules are not stated one by one.

    Examples
    --------
    >>> written = "attribute a in {0, 1} attribute b in {0, 1}\nif a == 1 then b == 1"
    >>> rule_lines(written, parse(written))
    {1: 2}
    """
    starts = [rule.start() for rule in RULE.finditer(written)]
    numbered = numbered_rules(rules)
    if len(starts) != len(numbered):
        return {}
    lines: defaultdict[str, list[int]] = defaultdict(list)
    for start, end in zip(starts, [*starts[1:], len(written)], strict=True):
        match = CONCLUSION.search(written, start, end)
        if match is None:
            return {}
        begin = start + len(written[start:end]) - len(written[start:end].lstrip())
        lines[match[1] or match[2]].append(written.count("\n", 0, begin) + 1)
    by_number = {}
    for number, rule_set, _ in numbered:
        name = rule_set.output.name
        if not lines[name]:
            return {}
        by_number[number] = lines[name].pop(0)
    return by_number


def use(session: Session, payload: Payload) -> dict[str, Any]:
    """Use the rules of a text in all views."""
    rules = _parsed(session, payload)
    with session.lock:
        session.use(session.work.with_rules(rules, payload["text"]))
    return {"version": session.version}


def save(session: Session, payload: Payload) -> dict[str, Any]:
    """Write the current text to its file, unless the file changed meanwhile."""
    path = session.path
    if path is None or path.suffix != ".rules":
        raise DataError("these rules come from no .rules file; download them instead")
    if str(path) in session.changed_files() and not payload.get("replace"):
        raise DataError(f"{path} changed on disk; load it again or keep what is here first")
    if card_of(session.work.rules) is not None and session.work.text == str(session.work.rules):
        save_rules(session.work.rules, path)  # with the score card
    else:
        with atomic_text(path) as stream:
            stream.write(session.work.text)
    session.accept_files()
    return {"file": path.name}


def picture(session: Session, payload: Payload) -> dict[str, Any]:
    """Return the picture of the rules (`rules_picture`), or the score card of induced ones.

    Payload: ``unfolded``, ids of cards.
    """
    unfolded = {str(key) for key in as_list(payload.get("unfolded", []), "unfolded")}
    rules = session.work.rules
    card = score_card_data(rules)
    if card is not None:
        return {"version": session.version, "card": card, "layers": [], "edges": []}
    drawn = rules_picture(rules, unfolded)
    edges = [list(edge) for edge in visible_edges(drawn)]
    return {"version": session.version, "card": None, "layers": drawn["layers"], "edges": edges}


def work(session: Session, _payload: Payload) -> dict[str, Any]:
    """Start to count how often each rule decides on the data, and how often it is right then."""
    return session.jobs.start("work", lambda: rules_at_work(session)).status()


def rules_at_work(session: Session) -> dict[str, Any]:
    """Return the rules on the answer that decide rows, the most frequent first, then idle ones.

    Of induced rules it has the lines of the score card, and in how many rows they hold.
    """
    batch, rules = session.with_labels(), session.work.rules
    [*_, name] = answered_outputs(rules, batch.targets, None)

    def make() -> dict[str, Any]:
        card, content = card_of(rules), score_card_data(rules)
        if card is None or content is None:
            report = learning.evaluate(rules, batch.evidence, batch.targets, output=name)
            wording = Wording.of(None, rules.attributes)
            numbered = [entry for entry in numbered_rules(rules) if entry[1].output.name == name]
            cards = [rule_data(entry, wording) for entry in numbered]
            decides, right = report.decides.tolist(), report.decides_right.tolist()
        else:
            cards = [
                line | {"conclusion": entry["value"]}
                for entry in content["classes"]
                for line in entry["lines"]
            ]
            cards.sort(key=lambda line: line["number"])
            decides, right = line_counts(card, rules, batch)
        rows = [
            entry | {"decides": n, "right": n_right}
            for entry, n, n_right in zip(cards, decides, right, strict=True)
        ]
        rows.sort(key=lambda row: -row["decides"])
        return {
            "samples": len(batch),
            "lines": card is not None,
            "rules": rows[:MAX_WORK],
            "total": len(rows),
        }

    return session.report(("work", name), make)


def _parsed(session: Session, payload: Payload) -> Cascade:
    written = payload.get("text")
    if not isinstance(written, str):
        raise DataError("there is no text of rules")
    directory: Path | None = session.path.parent if session.path is not None else None
    return with_card(parse(written, directory), written, "the rules")


ENDPOINTS = endpoints(look, picture, save, text, use, work)
