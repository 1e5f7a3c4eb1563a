"""The command ``pinesy explain``: what it says of a sample, as text, as data or as a picture."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import typer

from pinesy import explanations
from pinesy._common.names import column_slices
from pinesy._common.validation import FloatArray
from pinesy.cli import options
from pinesy.cli.calibrated_files import Level, calibrated_rules, level_text
from pinesy.cli.output import degrees_by_name, open_output
from pinesy.exceptions import DataError
from pinesy.explanations.alternatives import Mode
from pinesy.explanations.explain import only_output
from pinesy.explanations.json_form import json_text, plain_value
from pinesy.explanations.labels import listed, number_text
from pinesy.explanations.picture import LIMIT
from pinesy.explanations.picture import NODES as PICTURED
from pinesy.model.storage import load_rules
from pinesy.rulebase.cascade import Cascade
from pinesy.rules.attributes import Attribute
from pinesy.rules.possibility import Possibility
from pinesy.samples import Batch, value_texts

ExplanationFormat = Literal["text", "json", "svg"]

#: Values, triplets and propositions that are shown of each by default.
LIMITS: dict[ExplanationFormat, int] = {"text": 5, "json": 20, "svg": LIMIT}
#: Values of an explanation as data, in all.
NODES = 500
#: Inputs that are named as the most delicate.
DELICATE = 3
SUFFIXES: dict[str, ExplanationFormat] = {".txt": "text", ".json": "json", ".svg": "svg"}
Row = Annotated[
    int | None,
    typer.Option(
        "--sample",
        min=1,
        metavar="N",
        help="The line (or row) of the sample. By default the first one.",
    ),
]
AttributeName = Annotated[
    str | None,
    typer.Option(
        "--attribute", metavar="NAME", help="Explain this attribute, not the only output."
    ),
]
Value = Annotated[
    str | None, typer.Option(metavar="V", help="Explain this value, not the most possible one.")
]
OtherValue = Annotated[
    str | None,
    typer.Option(metavar="V", help="Say what holds this value down, and what would make it win."),
]
ChangeMode = Annotated[
    Mode | None,
    typer.Option(
        "--mode",
        help="The change that --why-not names: of values, or of readings (the smallest, or of the "
        "fewest inputs). By default of values where every input is one or blank, else smallest.",
    ),
]
Changing = Annotated[
    list[str] | None,
    typer.Option("--change", metavar="NAME", help="Only this input may change (repeatable)."),
]
Kept = Annotated[
    list[str] | None,
    typer.Option("--keep", metavar="NAME", help="This input may not change (repeatable)."),
]
Eta = Annotated[float, typer.Option(help="Degrees below it count as nothing.")]
Depth = Annotated[int | None, typer.Option(min=1, metavar="N", help="Rule sets to go down.")]
LIMIT_HELP = "Show so many values, rules and propositions of each; the others are counted."
Limit = Annotated[int | None, typer.Option(min=1, metavar="N", help=LIMIT_HELP)]
FORMAT_HELP = "By default by the output file's suffix; else text."
Form = Annotated[ExplanationFormat | None, typer.Option("--format", help=FORMAT_HELP)]


def explain(
    rules: options.RulesFile,
    data: options.DataFile,
    sample: Row = None,
    attribute: AttributeName = None,
    value: Value = None,
    why_not: OtherValue = None,
    mode: ChangeMode = None,
    change: Changing = None,
    keep: Kept = None,
    eta: Eta = 0.1,
    depth: Depth = None,
    limit: Limit = None,
    everything: options.All = False,
    level: Level = None,
    form: Form = None,
    output: options.OutputFile = None,
    transform: options.TransformOption = "none",
    ids: options.Ids = None,
    separator: options.Separator = None,
    decimal: options.Decimal = ".",
) -> None:
    """Explain the result of one sample: why a value is as possible and as certain.

    The rules that set its possibility, what these rest on, down to the inputs;
    then what else is possible, which bounds its certainty. The margin tells how
    far the inputs may move before the most possible value can change. Data is as
    for pinesy infer; values are written as in rules: 7, wet, "(1, 2)".
    --why-not names another value, what holds it down, and the smallest change of
    the inputs that makes it win, in the units of the data: if glucose were below
    126 (now 140). --keep and --change say which inputs may change.
    --level, of rules that pinesy calibrate has seen, tells which values are
    excluded at which levels, and which p-values exclude that of --why-not.

    [bold]Formats[/bold]
    text  plain English, down 4 rule sets; the first 5 of many values, rules or
          propositions, those that decide first; of induced rules the points that
          each class got and why (--depth N adds the rules of their sums)
    json  an object: "sample" (its line), "explanation", "margin" and "why_not"
          (null unless asked for); the first 20 of each, 500 values in all;
          "why_not" has "change", of values with "inputs": what each is now and
          has to be; "margin" has "all" (of all inputs together), "inputs" (of each alone;
          null where there is no limit) and "exact" (false: at least as much)
    svg   a picture of the tree; the first 3 of each, 60 boxes of values in all
    What is left out is counted; --limit sets how many, --all leaves out nothing.
    Where no value is fully possible, the rules contradict each other: nothing is
    certain, and the rules that clash are named with the values they exclude.

    [bold]Examples[/bold]
      pinesy explain examples/blood_glucose.rules examples/blood_glucose.jsonl
      pinesy explain sum.rules digits.jsonl --sample 7 --value 12 --why-not 13
      pinesy explain sum.rules digits.jsonl --attribute total -o total.svg
      pinesy explain risk.rules patients.csv --why-not low --keep age --keep sex
    """
    chosen = options.format_of(form, output, SUFFIXES, "text")
    if why_not is not None and chosen == "svg":
        raise typer.BadParameter(
            "a picture does not show it; use --format text or json", param_hint="--why-not"
        )
    of_change = {"--mode": mode, "--change": change, "--keep": keep}
    if why_not is None and any(of_change.values()):
        hint = next(name for name, content in of_change.items() if content)
        raise typer.BadParameter("it is of a change; ask for one: --why-not V", param_hint=hint)
    if level is not None and chosen == "svg":
        raise typer.BadParameter("a picture does not show levels", param_hint="--level")
    if everything and limit is not None:
        raise typer.BadParameter("--all shows all; leave one of them out", param_hint="--limit")
    if output is not None:
        options.check_output(output, [output.suffix], [rules, data])
    cascade = load_rules(rules)
    wanted = cascade[attribute or only_output(cascade, "say which: --attribute NAME")].output
    proposition = wanted if value is None else wanted.isin({options.find_value(wanted, value)})
    rival = None if why_not is None else options.find_value(wanted, why_not)
    sure = None if level is None else calibrated_rules(rules, transform, [level])
    inputs = cascade.compile([wanted]).inputs if sure is None else cascade.inputs
    how = options.reading(ids, separator, decimal)
    few = 1 if sample is None else 1000
    batches = options.read_data(data, cascade, inputs, transform, few, how=how)
    batch, place = _find_sample(batches, sample, data)
    evidence = _evidence(batch, place, inputs)
    shown = None if everything else limit or LIMITS[chosen]
    if sure is not None and level is not None:
        found = sure.explain(evidence, proposition, level=level, eta=eta, depth=depth)
        rivals = partial(sure.why_not, mode=mode, change=change, keep=keep, level=level)
        other = None if why_not is None else rivals(evidence, rival, wanted)
        with open_output(output) as stream:
            stream.write(level_text(found, other, chosen, shown))
        return
    rival_asked = partial(explanations.why_not, mode=mode, change=change, keep=keep)
    report = ExplanationReport(
        cascade,
        batch.lines[place],
        evidence,
        explanations.explain(cascade, evidence, proposition, eta=eta, depth=depth),
        None if why_not is None else rival_asked(cascade, evidence, rival, wanted),
        shown,
    )
    with open_output(output) as stream:
        stream.write(f"{report.write(chosen)}\n")


def _evidence(batch: Batch, place: int, inputs: Sequence[Attribute]) -> dict[str, Any]:
    """Return a sample as plain values where the file gives numbers, single values or nothing."""
    evidence: dict[str, Any] = {}
    slices = column_slices(inputs)
    for a in inputs:
        number = batch.numbers[a.name][place] if a.name in batch.numbers else math.nan
        known = batch.evidence[place, slices[a.name]]
        evidence[a.name] = float(number) if number == number else _content(a, known)
    return evidence


def _content(attribute: Attribute, degrees: FloatArray) -> Any:
    """Return what degrees say: a value, None if all are possible, else a distribution."""
    certain = np.flatnonzero(degrees)
    if len(certain) == 1:
        return attribute.domain[certain[0]]
    unknown = bool((degrees == 1.0).all()) and None not in attribute
    return None if unknown else Possibility(attribute, degrees)


def _find_sample(batches: Iterable[Batch], wanted: int | None, data: Path) -> tuple[Batch, int]:
    """Return a sample of a file, by default the first: its batch, and its place there."""
    last, instead = 0, ""
    for batch in batches:
        lines = list(batch.lines)
        if wanted is None or wanted in lines:
            row = 0 if wanted is None else lines.index(wanted)
            return batch, row
        if lines[-1] > wanted:
            nearest = min([*lines, *[last] * (last > 0)], key=lambda n: abs(n - wanted))
            instead = f"the nearest one is in {nearest}"
            break
        last = lines[-1]
    instead = instead or f"the last one is in {last}"
    raise DataError(f"{data}: there is no sample in line (or row) {wanted}; {instead}")


@dataclass(frozen=True)
class ExplanationReport:
    """The explanation, margins and counterfactual of one sample.

    Attributes
    ----------
    line, evidence : where the sample stands, and its degrees
    why_not : what holds another value down, if ``--why-not`` asks
    limit : how much of each is shown; None for everything
    """

    cascade: Cascade
    line: int
    evidence: Any
    explanation: explanations.Explanation
    why_not: explanations.WhyNot | None
    limit: int | None

    def write(self, form: ExplanationFormat) -> str:
        """Return all of it in a format."""
        if form == "text":
            return self.text()
        if form == "json":
            return json_text(self.to_dict(), indent=1)
        nodes = self.limit and PICTURED
        return explanations.picture(self.explanation, limit=self.limit, nodes=nodes)

    def text(self) -> str:
        """Return the answers in plain English."""
        # Without a limit, as deep as the rules go.
        depth = len(self.cascade.rule_sets) if self.limit is None else None
        depth = self.explanation.depth or depth
        parts = [self.explanation.text(depth=depth, limit=self.limit), self._margin_text()]
        if self.why_not:
            attribute = self.why_not.attribute
            value = value_texts(attribute)[attribute.position(self.why_not.value)]
            parts.append(f"Why not {value}?\n{self.why_not}")
        return "\n\n".join(parts)

    def _margin_text(self) -> str:
        attribute = self.explanation.attribute
        name = attribute.name
        if not self.explanation.normalised:
            return "Margin: none. The rules contradict each other: nothing is decided."
        distance = float(explanations.margin(self.cascade, self.evidence, attribute))
        if distance == 0.0:
            return f"Margin: 0. Several values of {name} are most possible: nothing is decided."
        if math.isinf(distance):
            return f"Margin: unlimited. No inputs make another value of {name} most possible."
        stays = f"While all input degrees move by less, {name} keeps its most possible value"
        if not explanations.is_coherent(self.cascade, attribute):
            return f"Margin: at least {number_text(distance)}. {stays}; it may keep it beyond that."
        moves = "moves of just as much can change it"
        return f"Margin: {number_text(distance)}. {stays}; {moves}.{self._alone_text()}"

    def _alone_text(self) -> str:
        """Return how far the most delicate inputs may move alone, where there are several."""
        attribute = self.explanation.attribute
        margins = explanations.input_margins(self.cascade, self.evidence, attribute)
        if len(margins) == 1:
            return ""
        bounded = [f"{n} ({number_text(far)})" for n, far in margins.items() if far < math.inf]
        if not bounded:
            return " No input alone can change it."
        left = len(bounded) - DELICATE
        shown = bounded[:DELICATE] + [f"{left} more"] * (left > 0)
        return f" Inputs that can change it alone: {listed(shown)}."

    def to_dict(self) -> dict[str, Any]:
        """Return the answers as plain data."""
        attribute, nodes = self.explanation.attribute, self.limit and NODES
        margins = explanations.input_margins(self.cascade, self.evidence, attribute)
        return {
            "sample": self.line,
            "explanation": self.explanation.to_dict(limit=self.limit, nodes=nodes),
            "margin": {
                "all": _finite(float(explanations.margin(self.cascade, self.evidence, attribute))),
                "exact": explanations.is_coherent(self.cascade, attribute),
                "inputs": {name: _finite(far) for name, far in margins.items()},
            },
            "why_not": self._why_not_dict(self.why_not) if self.why_not else None,
        }

    def _why_not_dict(self, answer: explanations.WhyNot) -> dict[str, Any]:
        restraints, bottlenecks = answer.restraints[: self.limit], answer.bottlenecks[: self.limit]
        change = answer.change
        return {
            "value": plain_value(answer.value),
            "possibility": answer.degree,
            "winners": [plain_value(v) for v in answer.winners],
            "restraints": [
                _degree(one) | {"rule": one.number, "text": one.rule.line(self.limit), "by": one.by}
                for one in restraints
            ],
            "restraints_omitted": len(answer.restraints) - len(restraints),
            "bottlenecks": [_degree(one) for one in bottlenecks],
            "bottlenecks_omitted": len(answer.bottlenecks) - len(bottlenecks),
            "cut": answer.cut,
            "change": change and _change_dict(change),
            "obstacle": answer.obstacle or None,
        }


def _change_dict(change: explanations.Change) -> dict[str, Any]:
    found = {
        "mode": change.mode,
        "readings": {n: plain_value(v) for n, v in change.readings.items()},
        "size": change.size,
        "exact": change.exact,
        "old": {n: degrees_by_name(change.old[n]) for n in change.readings},
        "new": {n: degrees_by_name(change.new[n]) for n in change.readings},
        "text": str(change),
    }
    if isinstance(change, explanations.ValueChange):
        found["inputs"] = {n: one.to_dict() for n, one in change.replacements.items()}
    return found


def _degree(held: explanations.Restraint | explanations.LimitingDegree) -> dict[str, Any]:
    value = plain_value(held.value)
    return {"attribute": held.attribute.name, "value": value, "possibility": held.degree}


def _finite(distance: float) -> float | None:
    """Return a distance as JSON has it: null where it is unlimited."""
    return None if math.isinf(distance) else distance
