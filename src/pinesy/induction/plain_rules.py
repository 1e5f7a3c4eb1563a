"""Plain rules from a score card: ``if premise then class [certainty]``, each of which stands alone.

The surest rule that holds wins. That is what a rule set infers: a rule of certainty `c` leaves
other classes the possibility ``1 - c``, and the class that is excluded least is that of the surest
rule.

Candidates are the lines of the card, and every two lines for one class together. They are put in
the order of their certainty, which is counted on rows,

    ``certainty = (right + share of the class) / (rows + 1)``

and selected one after the other where they are right on a row that no rule before them covers; the
list ends where rules and the most frequent class of the other rows err least (Liu, Hsu and Ma 1998,
classification based on associations).
"""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pinesy._common.names import column_slices
from pinesy._common.reports import data_frame, text_table
from pinesy._common.validation import BoolArray, FloatArray
from pinesy.evidence.rows import Rows
from pinesy.induction.score_card import ScoreCard, conjunction_text, premise_measures
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.definitions import premise_of
from pinesy.rules.propositions import Premise, Proposition
from pinesy.rules.rule import Rule
from pinesy.rules.syntax.writer import show_value

#: Candidates at most, those of most points first, and rows that they are counted on.
MAX_CANDIDATES, MAX_ROWS = 3_000, 10_000
#: Rows that a rule covers at least.
LEAST_ROWS = 3
#: How many digits certainties have.
DIGITS = 4
#: The titles of the table.
HEAD = ("if", "then", "certainty", "rows", "right")
COMBINED = "The surest rule that holds wins; the order of the rules does not matter."

Indices = npt.NDArray[np.intp]


class PlainRule(NamedTuple):
    """A rule that stands alone.

    Attributes
    ----------
    premise : the conditions; None for the rule on all rows
    value : the class
    certainty : counted on rows, less for few of them
    support, precision : rows in which it holds, by their weights, and the share with its class
    """

    premise: Premise | None
    value: Hashable
    certainty: float
    support: float
    precision: float

    @property
    def text(self) -> str:
        """The premise as text."""
        return "always" if self.premise is None else conjunction_text(self.premise.propositions)


@dataclass(frozen=True, eq=False)
class PlainRules:
    """Rules that stand alone, and what they lose against the score card that they come from.

    Attributes
    ----------
    lines : the rules, the surest first
    rules : the same as a rule set; its inference combines them
    accuracy, card_accuracy : of these rules and of the card, on the rows compared
    rows : how many these are
    """

    lines: tuple[PlainRule, ...]
    rules: RuleSet
    accuracy: float
    card_accuracy: float
    rows: int

    def get_rules(self) -> Cascade:
        """Return the rules as a cascade, as `save`, `explain` and others take it."""
        return Cascade(self.rules)

    @property
    def lost(self) -> float:
        """The accuracy that is lost against the card."""
        return self.card_accuracy - self.accuracy

    def table(self) -> Any:
        """Return the rules as a pandas DataFrame."""
        return data_frame([rule._asdict() | {"premise": rule.text} for rule in self.lines])

    def __str__(self) -> str:
        lines = [
            (
                c.text,
                show_value(c.value),
                f"{c.certainty:g}",
                f"{c.support:.6g}",
                f"{c.precision:.0%}",
            )
            for c in self.lines
        ]
        return (
            f"{text_table([HEAD, *lines])}\n{COMBINED}\n"
            f"right on {self.accuracy:.1%} of {self.rows:,} rows; the score card on "
            f"{self.card_accuracy:.1%}"
        )

    def __len__(self) -> int:
        return len(self.lines)


def list_plain_rules(
    card: ScoreCard, rows: Rows, labels: Indices, weights: FloatArray
) -> list[PlainRule]:
    """Return plain rules, the surest first; the last one is on all rows.

    Costs the measures of up to `MAX_CANDIDATES` premises on up to `MAX_ROWS` rows.
    """
    sample = np.linspace(0, rows.n - 1, min(rows.n, MAX_ROWS)).astype(np.intp)
    degrees = rows.block(0, rows.n)[sample]
    labels, weights = labels[sample], weights[sample]
    n_classes = len(card.output.domain)
    truth = np.eye(n_classes)[labels] * weights[:, None]
    shares = truth.sum(axis=0) / truth.sum()
    premises = list(_candidates(card))
    holds = np.zeros((0, len(labels)), dtype=np.bool_)
    if premises:
        holds = premise_measures(premises, rows.attributes, degrees)[1] == 0.0
    counts = holds @ truth
    classes = counts.argmax(axis=1)
    support = counts.sum(axis=1)
    right = counts[np.arange(len(premises)), classes]
    certainties = np.round((right + shares[classes]) / (support + 1.0), DIGITS)
    n_conditions = np.array([len(premise) for premise in premises], dtype=np.intp)
    order = np.lexsort((n_conditions, -support, -certainties))
    order = order[holds[order].sum(axis=1) >= LEAST_ROWS]
    selected, uncovered = _choose(order, holds, truth, classes)
    lines = [
        PlainRule(
            premise_of(*premises[i]),
            card.output.domain[classes[i]],
            float(certainties[i]),
            float(support[i]),
            float(right[i] / support[i]),
        )
        for i in selected
    ]
    return [*lines, _default(card, truth, uncovered, shares, lines)]


def _candidates(card: ScoreCard) -> Iterator[tuple[Proposition, ...]]:
    """Yield the premises of lines, and of pairs of lines for one class, without repetition."""
    lines = sorted((c for c in card.lines if c.support is not None), key=lambda c: -c.points)
    premises = dict.fromkeys(line.conditions for line in lines[:MAX_CANDIDATES])
    pairs = [
        (first.points + second.points, first, second)
        for first, second in combinations(lines, 2)
        if first.value == second.value
    ]
    pairs.sort(key=lambda pair: -pair[0])
    for _, first, second in pairs[: max(0, MAX_CANDIDATES - len(premises))]:
        masks: dict[Any, int] = {}
        for p in (*first.conditions, *second.conditions):
            masks[p.attribute] = masks.get(p.attribute, p.attribute.full) & p.mask
        if all(masks.values()):
            premises[tuple(Proposition(a, mask) for a, mask in masks.items())] = None
    yield from premises


def _choose(
    order: Indices, holds: BoolArray, truth: FloatArray, classes: Indices
) -> tuple[list[int], BoolArray]:
    """Return the rules to take, the surest first, and the rows that none of them covers."""
    uncovered = np.ones(len(truth), dtype=np.bool_)
    selected: list[int] = []
    errors, best, best_length = 0.0, float("inf"), 0
    total = truth.sum(axis=1)

    def default_errors() -> float:
        return float(total[uncovered].sum() - truth[uncovered].sum(axis=0).max(initial=0.0))

    best = default_errors()
    for i in order.tolist():
        new = holds[i] & uncovered
        if not truth[new, classes[i]].any():
            continue
        selected.append(i)
        errors += float(total[new].sum() - truth[new, classes[i]].sum())
        uncovered &= ~holds[i]
        if errors + default_errors() < best:
            best, best_length = errors + default_errors(), len(selected)
        if not uncovered.any():
            break
    selected = selected[:best_length]
    return selected, np.asarray(~holds[selected].any(axis=0))


def _default(
    card: ScoreCard,
    truth: FloatArray,
    uncovered: BoolArray,
    shares: FloatArray,
    lines: list[PlainRule],
) -> PlainRule:
    """Return the rule on all rows: it counts where no other rule holds, so it is least sure."""
    counts = truth[uncovered].sum(axis=0)
    label = int(counts.argmax() if counts.any() else shares.argmax())
    support = float(counts.sum())
    certainty = float((counts[label] + shares[label]) / (support + 1.0))
    lowest = min((line.certainty for line in lines), default=1.0)
    certainty = round(max(0.0, min(certainty, lowest - 10.0**-DIGITS)), DIGITS)
    precision = float(counts[label] / support) if support else 0.0
    return PlainRule(None, card.output.domain[label], certainty, support, precision)


def _rule_set(card: ScoreCard, lines: list[PlainRule]) -> RuleSet:
    """Return plain rules as a rule set, with the rules of the user."""
    first = (*card.inputs, *card.columns)[0]
    always = premise_of(Proposition(first, first.full))
    rules = list(card.user_rules)
    for line in lines:
        premise = always if line.premise is None else line.premise
        other = round(1.0 - line.certainty, DIGITS)
        rules.append(Rule(premise, card.output.isin({line.value}), 1.0, other))
    return RuleSet(rules)


def compare_plain_rules(
    card: ScoreCard,
    lines: list[PlainRule],
    rows: Rows,
    labels: Indices,
    weights: FloatArray,
) -> PlainRules:
    """Return plain rules with their accuracy, and that of the card, on rows."""
    rule_set = _rule_set(card, lines)
    degrees, slices = rows.block(0, rows.n), column_slices(rows.attributes)
    evidence = {
        a.name: degrees[:, slices[a.name]] if a.name in slices else np.ones((rows.n, len(a.domain)))
        for a in rule_set.inputs
    }
    inferred = Cascade(rule_set).infer(evidence)[card.output.name]
    predicted = (inferred.degrees.argmax(axis=1), card.score_rows(rows).best)
    accuracy, card_accuracy = (
        float(weights[best == labels].sum() / weights.sum()) for best in predicted
    )
    return PlainRules(tuple(lines), rule_set, accuracy, card_accuracy, rows.n)
