"""The picture of rules: cards in layers, from the inputs over rules to the answers.

Formulas and products are inside the rules that use them. Of many attributes, equal ones share a
card; of many rules on an attribute, the first are visible.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from pinesy._common.reports import count_text
from pinesy.explanations.labels import Wording
from pinesy.rulebase.cascade import Cascade
from pinesy.rules.attributes import Attribute
from pinesy.rules.outcomes import list_text, number_text
from pinesy.studio.rule_cards import NumberedRule, numbered_rules, rule_data

#: Attributes up to which each has a card of its own.
FOLD_ABOVE = 16
#: Cards of a layer, and rules of an attribute, at most; of more rules only the first are visible.
MAX_CARDS, MAX_RULES, FIRST_RULES = 40, 10, 3
#: Levels of rules up to which rules have cards; of more, attributes count theirs.
MAX_LEVELS = 3
#: Values that the card of an attribute names.
MAX_VALUES = 4


def rules_picture(rules: Cascade, unfolded: Collection[str] = ()) -> dict[str, Any]:
    """Return layers of cards, and edges between them.

    Parameters
    ----------
    unfolded : ids of cards whose attributes are to have cards of their own

    ``layers`` have a title, a kind (``given``, ``rules``, ``between`` or ``answer``) and cards. The
    card of an attribute has a title, the number of attributes that share it and a text; that of a
    rule is `rule_data`. Cost: linear in the premises.
    """
    wording = Wording.of(None, rules.attributes)
    sources = {s.output.name: _sources(rules, s.inputs) for s in rules.stated}
    hidden = {name for name in sources if rules.attributes[name].factors}
    visible = [s.output for s in rules.stated if s.output.name not in hidden]
    inputs = [a for a in rules.inputs if a.formula is None]
    levels = {a.name: 0 for a in inputs}
    for rule_set in rules.order:
        name = rule_set.output.name
        if name in sources and name not in hidden:
            levels[name] = 1 + max((levels.get(s, 0) for s in sources[name]), default=0)
    ids = _card_ids([*inputs, *visible], levels, rules, unfolded)
    by_set: defaultdict[str, list[NumberedRule]] = defaultdict(list)
    for numbered in numbered_rules(rules):
        by_set[numbered[1].output.name].append(numbered)
    depth = max(levels.values(), default=0)
    layout = _PictureLayers(rules, wording, ids, by_set, has_rules=depth <= MAX_LEVELS)
    last = {a.name for a in rules.outputs}
    layers = [layout.attributes("Given", "given", inputs)]
    for level in range(1, depth + 1):
        members = [a for a in visible if levels[a.name] == level]
        if layout.has_rules:
            layers.append(layout.rules_layer(members))
        is_answer = level == depth or all(a.name in last for a in members)
        title, kind = ("Answer", "answer") if is_answer else ("In between", "between")
        layers.append(layout.attributes(title, kind, members))
    return {"layers": layers, "edges": [list(edge) for edge in layout.edges]}


def _sources(rules: Cascade, attributes: Sequence[Attribute]) -> list[str]:
    """Return the attributes behind some that readers see: of formulas and products their parts."""
    names: dict[str, None] = {}
    waiting = list(attributes)
    for attribute in waiting:  # grows on the way
        is_inner = attribute.formula is not None or attribute.factors
        if is_inner and attribute.name in rules.sets:
            waiting += rules.sets[attribute.name].inputs
        else:
            names[attribute.name] = None
    return list(names)


def _card_ids(
    attributes: Sequence[Attribute],
    levels: Mapping[str, int],
    rules: Cascade,
    unfolded: Collection[str],
) -> dict[str, str]:
    """Return the id of the card of each attribute; of many, those alike share one."""
    if len(attributes) <= FOLD_ABOVE:
        return {a.name: f"a {a.name}" for a in attributes}
    groups: dict[object, list[Attribute]] = {}
    for a in attributes:
        n_rules = len(rules.sets[a.name]) if a.name in rules.sets else 0
        groups.setdefault((levels[a.name], len(a.domain), n_rules), []).append(a)
    ids = {}
    for members in groups.values():
        fold = f"fold {members[0].name}"
        for a in members:
            ids[a.name] = fold if len(members) > 1 and fold not in unfolded else f"a {a.name}"
    return ids


class _PictureLayers:
    """Collects layers and edges."""

    def __init__(
        self,
        rules: Cascade,
        wording: Wording,
        ids: Mapping[str, str],
        by_set: Mapping[str, Sequence[NumberedRule]],
        has_rules: bool,
    ) -> None:
        self._rules, self._wording, self._ids, self._by_set = rules, wording, ids, by_set
        self.has_rules = has_rules
        #: The edges, without repetition.
        self.edges: dict[tuple[str, str], None] = {}

    def attributes(self, title: str, kind: str, members: Sequence[Attribute]) -> dict[str, Any]:
        """Return a layer of attributes."""
        groups: dict[str, list[Attribute]] = {}
        for a in members:
            groups.setdefault(self._ids[a.name], []).append(a)
        cards = [self._card(key, group) for key, group in groups.items()]
        if not self.has_rules:
            for a in members:
                if a.name in self._rules.sets:
                    for source in _sources(self._rules, self._rules.sets[a.name].inputs):
                        self.edges[self._ids[source], self._ids[a.name]] = None
        return {"title": title, "kind": kind, **_first(cards, "attributes")}

    def _card(self, key: str, group: Sequence[Attribute]) -> dict[str, Any]:
        [first, *_] = group
        texts = [self._values(first)]
        if not self.has_rules and first.name in self._rules.sets:
            texts.append(count_text(len(self._rules.sets[first.name]), "rule"))
        names = [self._wording.name(a) for a in group]
        return {
            "id": key,
            "title": names[0],
            "last": names[-1] if len(group) > 1 else None,
            "count": len(group),
            "text": "; ".join(texts),
        }

    def _values(self, attribute: Attribute) -> str:
        """Return the values of an attribute in words; of a number where rules cut it."""
        if attribute.scale is not None and not attribute.scale.names:
            cuts = [number_text(cut, 6) for cut in attribute.scale.cuts]
            hidden = len(cuts) - MAX_VALUES
            count = [f"{hidden} more"] if hidden > 0 else []
            return f"number, cut at {list_text([*cuts[:MAX_VALUES], *count])}" if cuts else "number"
        return self._wording.value_list(attribute, attribute.domain, MAX_VALUES, ",").replace(
            " , ", ", "
        )

    def rules_layer(self, members: Sequence[Attribute]) -> dict[str, Any]:
        """Return the layer of the rules on some attributes, with their edges."""
        cards: list[dict[str, Any]] = []
        drawn_ids: set[str] = set()
        for a in members:
            key, rules = self._ids[a.name], self._by_set[a.name]
            if key in drawn_ids:
                continue
            drawn_ids.add(key)
            first = rules if len(rules) <= MAX_RULES else rules[:FIRST_RULES]
            for numbered in first:
                card = {"id": f"r {numbered[0]}", **rule_data(numbered, self._wording)}
                cards.append(card)
                parts = [p.attribute for p in numbered[2].premise.propositions]
                self._connect(_sources(self._rules, parts), card["id"], key)
            hidden = len(rules) - len(first)
            if hidden:
                name = f"more {a.name}"
                cards.append({"id": name, "text": f"and {count_text(hidden, 'rule', 'more ')}"})
                self._connect(_sources(self._rules, self._rules.sets[a.name].inputs), name, key)
        title = "Rules"
        if len(members) == 1:
            title = f"Rules on {self._wording.name(members[0])}"
        return {"title": title, "kind": "rules", **_first(cards, "rules")}

    def _connect(self, sources: Sequence[str], rule: str, target: str) -> None:
        for source in sources:
            self.edges[self._ids[source], rule] = None
        self.edges[rule, target] = None


def _first(cards: Sequence[dict[str, Any]], noun: str) -> dict[str, Any]:
    """Return the first cards of a layer, and how many are left out."""
    hidden = len(cards) - MAX_CARDS
    count = f"and {hidden:,} more {noun}" if hidden > 0 else ""
    return {"cards": list(cards[:MAX_CARDS]), "more": count}


def visible_edges(picture: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the edges between cards that are there."""
    ids = {card["id"] for layer in picture["layers"] for card in layer["cards"]}
    for start, end in picture["edges"]:
        if start in ids and end in ids:
            yield start, end
