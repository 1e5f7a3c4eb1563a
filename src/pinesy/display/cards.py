"""Cards for notebooks: the verdict on a sample, rules, checks; with the tokens of the design."""

import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from pinesy._common.reports import count_text
from pinesy.display.markup import BarLine, Markup, bar, bars, cut, details, join_markup, more, tag
from pinesy.explanations.decision import Decision
from pinesy.explanations.explain import Explanation
from pinesy.explanations.labels import Wording, list_text
from pinesy.rulebase.check_report import Report
from pinesy.rules.rule import Rule
from pinesy.verdicts import Verdict, short_degree

#: Rules of a set, and values of a proposition, that cards show.
MAX_RULES, MAX_VALUES = 20, 4
#: Panels that are dark as the page is, unless the host of a notebook says that it is light.
DARK_BY_SYSTEM = (
    ':root:not([data-theme="light"]) body:not([data-jp-theme-light="true"]):not(.vscode-light) .pn'
)
STYLE = """
.pn{font:15px/1.45 system-ui,sans-serif;color:var(--pn-ink);text-align:left}
.pn .pn-card{background:var(--pn-paper);border:1px solid var(--pn-line);border-radius:12px;
padding:16px 20px;margin:8px 0;max-width:900px}
.pn .pn-quiet{color:var(--pn-quiet);font-size:13px}
.pn .pn-answer{font-size:32px;font-weight:700;line-height:1.2;overflow-wrap:anywhere}
.pn .pn-certain{color:var(--pn-certain);font-size:18px;font-weight:700;white-space:nowrap}
.pn .pn-conflict{color:var(--pn-conflict)}
.pn .pn-undecided{color:var(--pn-undecided)}
.pn .pn-lines{display:grid;grid-template-columns:minmax(90px,170px) 1fr;gap:6px 16px;
margin:12px 0 0}
.pn .pn-lines>dt{color:var(--pn-quiet);font-size:13px;padding-top:2px;font-weight:400}
.pn .pn-lines>dd{margin:0;overflow-wrap:anywhere}
.pn .pn-number{display:inline-block;min-width:1.4em;text-align:center;border-radius:4px;
background:var(--pn-ink);color:var(--pn-on-ink);font-size:13px;font-weight:700;padding:0 4px}
.pn .pn-step{border:1px solid var(--pn-edge);border-radius:8px;padding:6px 10px;margin:4px 0}
.pn .pn-decides{border:2px solid var(--pn-decides);background:var(--pn-decides-fill)}
.pn .pn-rule{display:flex;gap:10px;align-items:baseline;border-top:1px solid var(--pn-line);
padding:8px 0}
.pn .pn-rule>:last-child{margin-left:auto;color:var(--pn-certain);font-weight:700}
.pn summary{cursor:pointer;margin-top:10px}
.pn table{color:var(--pn-ink);border-collapse:collapse}
@media (max-width:600px){.pn .pn-lines{grid-template-columns:1fr;gap:2px}}
""".replace("\n", "")


@cache
def tokens() -> str:
    """Return the tokens of the design, without comments; dark by the system, too."""
    text = files("pinesy.exchange").joinpath("web", "tokens.css").read_text(encoding="utf-8")
    plain = re.sub(r"\s+", " ", re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)).strip()
    names = dict.fromkeys(re.findall(r"(--pn-[\w-]+):", plain))
    inherited = "".join(f"{name}:inherit;" for name in names)
    return f"{plain}@media (prefers-color-scheme:dark){{{DARK_BY_SYSTEM}{{{inherited}}}}}"


def panel(*content: str) -> Markup:
    """Return content with the design's tokens and the style of cards."""
    return tag("div", tag("style", Markup(tokens() + STYLE)), *content, class_="pn")


def verdict_card(verdict: Verdict) -> Markup:
    """Return a verdict: the answer, a bar, a line for each question, and every value to unfold."""
    is_decided = verdict.outcome == "decided"
    answer, certain = verdict.answer, Markup("")
    bar_parts: list[Markup] = []
    if is_decided:
        answer = verdict.wording.value(verdict.attribute, verdict.values[0])
        certain = tag("span", f" certain {short_degree(verdict.certainty)}", class_="pn-certain")
        bar_parts = [bar(1.0, verdict.certainty)]
    kind = (
        "pn-conflict" if verdict.outcome == "contradiction" else "pn-undecided" * (not is_decided)
    )
    lines = [
        part
        for question, sentence in verdict.questions().items()
        for part in (tag("dt", question), tag("dd", cut(sentence, 600)))
    ]
    return tag(
        "div",
        tag("div", cut(verdict.wording.name(verdict.attribute), 60), class_="pn-quiet"),
        tag("div", tag("span", cut(answer, 120), class_=kind), certain, class_="pn-answer"),
        *bar_parts,
        tag("dl", *lines, class_="pn-lines"),
        details("Every value", _value_list(verdict)),
        class_="pn-card",
    )


def _value_list(verdict: Verdict) -> Markup:
    """Return the most possible values with bars; the others are counted."""
    degrees = verdict.to_dict()["degrees"]
    lines: list[BarLine] = [
        (cut(str(entry["value"]), 60), entry["possible"], entry["certain"]) for entry in degrees
    ]
    left = len(verdict.attribute.domain) - len(lines)
    return bars(lines) + more(left, "values, which are less possible")


def chain_card(verdict: Verdict) -> Markup:
    """Return the facts, and what rules make of them, step by step; what decides is orange."""
    steps = [tag("div", "Given", class_="pn-quiet")]
    steps += [tag("div", cut(f.text, 200), class_="pn-step pn-decides") for f in verdict.facts]
    for reason in verdict.reasons:
        numbers = [tag("span", str(number), class_="pn-number") for number in reason.rules]
        text = [" ", cut(reason.text, 200), f", certain {short_degree(reason.certainty)}"]
        step = tag("div", *_spaced(numbers), *text, class_="pn-step pn-decides")
        name = verdict.wording.name(verdict.decision.plan.attributes[reason.attribute])
        steps += [tag("div", f"Rules on {name}", class_="pn-quiet"), step]
    return tag("div", *steps, class_="pn-card")


def _spaced(parts: Sequence[Markup]) -> list[str]:
    return [part for number in parts for part in (number, " ")][:-1]


def explanation_card(explanation: Explanation) -> Markup:
    """Return the verdict behind an explanation, its chain, and the justification to unfold.

    Of a score card, whose points are the reasons, there is neither a chain nor a picture.
    """
    verdict = explained_verdict(explanation)
    text = tag("pre", explanation.justification(), style="white-space:pre-wrap")
    if explanation.probability is not None:
        return panel(verdict_card(verdict), details("The full justification", text))
    picture = tag("div", Markup(explanation.to_svg()), style="overflow-x:auto")
    return panel(
        verdict_card(verdict),
        *([chain_card(verdict)] if verdict.facts or verdict.reasons else []),
        details("The full justification", text),
        details("As a picture", picture),
    )


def explained_verdict(explanation: Explanation) -> Verdict:
    """Return the verdict on the sample and the attribute of an explanation."""
    graph = explanation.graph
    program = graph.plan.cascade.compile([graph.plan.attribute])
    decision = Decision(graph.plan, graph.row, program, explanation.plain_values)
    return Verdict(decision, explanation.wording)


def rule_cards(rules: Sequence[Rule], first: int = 1) -> Markup:
    """Return rules as cards: number, premise in words, conclusion, certainty."""
    wording = Wording()
    cards = []
    for number, rule in enumerate(rules[:MAX_RULES], first):
        parts = rule.premise.propositions[:MAX_RULES]
        premise = list_text(
            [
                wording.proposition_sentence(p, MAX_VALUES, compact=len(parts) > 1)
                if p.attribute.formula is None
                else str(p)
                for p in parts
            ]
        )
        conclusion = wording.proposition_sentence(rule.conclusion, MAX_VALUES)
        text = tag("span", cut(premise), " → ", tag("b", cut(conclusion)))
        title = f"of the converse {short_degree(1.0 - rule.s)}"
        certain = tag("span", short_degree(1.0 - rule.r), title=title)
        label = tag("span", str(number), class_="pn-number")
        cards.append(tag("div", label, text, certain, class_="pn-rule"))
    return join_markup(cards) + more(len(rules) - MAX_RULES, "rules")


def rule_set_card(rules: Sequence[Rule], heading: str, first: int = 1) -> Markup:
    """Return a card with the rules of a set."""
    count = count_text(len(rules), "rule")
    head = tag("div", tag("b", cut(heading)), tag("span", f" {count}", class_="pn-quiet"))
    return tag("div", head, rule_cards(rules, first), class_="pn-card")


def check_card(report: Report) -> Markup:
    """Return the findings of a check, each with a case, what to look at first before others."""
    first, left = report.first_findings()
    parts = [tag("div", tag("b", report.overview))]
    for finding in first:
        case = report.case_text(finding)
        example = (
            tag("div", cut(f"For example: {case}."), class_="pn-quiet") if case else Markup("")
        )
        kind = "pn-conflict" * (finding.level == "warning")
        text = tag("span", cut(finding.text, 600), class_=kind)
        parts.append(tag("div", tag("div", text, example), tag("span"), class_="pn-rule"))
    parts += [tag("div", sentence, class_="pn-quiet") for sentence in left]
    parts += [tag("pre", str(report.data))] if report.data is not None else []
    return panel(tag("div", *parts, class_="pn-card"))
