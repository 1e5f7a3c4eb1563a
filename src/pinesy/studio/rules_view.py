"""The Rules view: the text of the rules, what is wrong with it, what is odd in it, its graph."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from pinesy._common.files import atomic_text
from pinesy._common.validation import as_list
from pinesy.display.cascade_picture import GraphNode, graph_of, roles_of
from pinesy.exceptions import DataError
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.parse import parse
from pinesy.rules.syntax.lexer import KEYWORDS
from pinesy.studio.session import Payload, Session, endpoints

#: Words that begin statements, beside those that the language reserves.
STATEMENTS = ["const", "cuts", "for", "function", "include", "joint", "named", "number", "version"]
#: Rules and premises up to which a text is looked over while it is typed.
QUICK = 20_000
#: Attributes up to which nothing is folded.
FOLD_ABOVE = 60
#: Boxes of a layer, at most; the others of it are folded into one.
LAYER = 60
#: Members that a folded box names.
MEMBERS = 6
#: Times that the boxes of layers are put in the order of what they are linked with.
SWEEPS = 4
Layers = Mapping[int, Sequence[str]]


def text(session: Session, _payload: Payload) -> dict[str, Any]:
    """Return the text of the rules, the keywords, and whether they have a file."""
    path = session.path
    return {
        "text": session.work.text,
        "keywords": sorted([*KEYWORDS, *STATEMENTS]),
        "file": path.name if path is not None and path.suffix == ".rules" else "",
    }


def look(session: Session, payload: Payload) -> dict[str, Any]:
    """Parse a text without using it; return the findings of `check`, or an error with its line."""
    rules = _parsed(session, payload)
    premises = sum(len(rule.premise.propositions) for s in rules.rule_sets for rule in s.rules)
    if premises > QUICK and not payload.get("thoroughly"):
        return {"summary": repr(rules), "findings": None}
    report = rules.check()
    findings = [finding.to_dict() for finding in report.findings]
    return {"summary": report.overview, "findings": findings}


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
    with atomic_text(path) as stream:
        stream.write(session.work.text)
    session.accept_files()
    return {"file": path.name}


def graph(session: Session, payload: Payload) -> dict[str, Any]:
    """Return the graph of the cascade; `unfolded` names folded boxes to unfold."""
    unfolded = {str(key) for key in as_list(payload.get("unfolded", []), "unfolded")}
    return {"version": session.version, **rule_graph(session.work.rules, unfolded)}


def _parsed(session: Session, payload: Payload) -> Cascade:
    written = payload.get("text")
    if not isinstance(written, str):
        raise DataError("there is no text of rules")
    directory: Path | None = session.path.parent if session.path is not None else None
    return parse(written, directory)


def rule_graph(rules: Cascade, unfolded: Collection[str] = ()) -> dict[str, Any]:
    """Return boxes with layers and ranks, and the links between them with their counts.

    Parameters
    ----------
    unfolded : keys of folded boxes whose members are to be shown

    Layers are counted from the inputs on, ranks within a layer. Cost: linear in
    the premises, times `SWEEPS`.
    """
    nodes = graph_of(rules, FOLD_ABOVE, [key.removeprefix("fold ") for key in unfolded])
    layers = _layers(nodes)
    boxes = _boxes(layers)
    keys = {node: key for key, members in boxes.items() for node in members}
    links: defaultdict[tuple[str, str], int] = defaultdict(int)
    for node in nodes:
        for source, count in node.used.items():
            links[keys[source], keys[node]] += count
    rows = {n: list(dict.fromkeys(keys[node] for node in layer)) for n, layer in layers.items()}
    ranks = _ranks(rows, links)
    roles = roles_of(rules)
    names = {
        key: [a.name for node in nodes for a in node.attributes] for key, nodes in boxes.items()
    }
    return {
        "boxes": [
            {
                "key": key,
                "layer": layer,
                "rank": ranks[key],
                "count": len(names[key]),
                "members": names[key][:MEMBERS],
                "role": roles[names[key][0]],
                "rules": boxes[key][0].rules,
            }
            for layer, row in rows.items()
            for key in row
        ],
        "links": [[*pair, count] for pair, count in links.items()],
        "home": {name: key for key, members in names.items() for name in members if name != key},
    }


def _layers(nodes: Sequence[GraphNode]) -> dict[int, list[GraphNode]]:
    """Return the nodes by level, but inputs just below their first use."""
    layers: defaultdict[int, list[GraphNode]] = defaultdict(list)
    first: dict[GraphNode, int] = {}
    for node in nodes:
        for source in node.used:
            first.setdefault(source, node.level)
    for node in nodes:
        layers[node.level if node.rules else first[node] - 1].append(node)
    return layers


def _boxes(layers: Mapping[int, Sequence[GraphNode]]) -> dict[str, list[GraphNode]]:
    """Return the nodes of each box: one, but those of a layer beyond `LAYER` share a box."""
    boxes: dict[str, list[GraphNode]] = {}
    for layer in layers.values():
        n_single = len(layer) if len(layer) <= LAYER else LAYER - 1
        for node in layer[:n_single]:
            name = node.attributes[0].name
            boxes[f"fold {name}" if len(node.attributes) > 1 else name] = [node]
        if layer[n_single:]:
            boxes[f"rest {layer[n_single].attributes[0].name}"] = list(layer[n_single:])
    return boxes


def _ranks(layers: Layers, links: Collection[tuple[str, str]]) -> dict[str, int]:
    """Return the rank of each box in its layer, near the middle of its neighbours."""
    ranks = {key: rank for layer in layers.values() for rank, key in enumerate(layer)}
    middles = {key: len(layer) / 2 for layer in layers.values() for key in layer}
    linked: defaultdict[str, list[str]] = defaultdict(list)
    for start, end in links:
        linked[start].append(end)
        linked[end].append(start)

    def barycentre(key: str) -> float:
        offsets = [ranks[other] - middles[other] for other in linked[key] or [key]]
        return sum(offsets) / len(offsets)

    for _ in range(SWEEPS):
        for layer in layers.values():
            for rank, key in enumerate(sorted(layer, key=barycentre)):
                ranks[key] = rank
    return ranks


ENDPOINTS = endpoints(graph, look, save, text, use)
