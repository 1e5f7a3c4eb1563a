"""The command ``pinesy infer``."""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, compress, count, islice, repeat
from typing import Annotated, Any, Literal, NamedTuple, TextIO

import numpy as np
import numpy.typing as npt
import typer

from pinesy._common.names import column_slices
from pinesy._common.validation import BoolArray, FloatArray, printable
from pinesy.calibration import CalibratedRules, PredictionSets
from pinesy.cli import options
from pinesy.cli.output import ResultRow, TableWriter, Writer, verdict_block, write_rows, writer_of
from pinesy.engine.program import Program
from pinesy.exact.exact_inference import MAX_CONFLICTS, ExactInference
from pinesy.guarantees import GroupedRules, SelectiveDecisions, SelectiveRules, consistent_sets
from pinesy.model.storage import load_rules
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.clashes import first_clashes
from pinesy.rules.attributes import Attribute
from pinesy.rules.outcomes import Outcome, rule_numbers_text, short_degree, verdict_text
from pinesy.rules.possibility import Possibility
from pinesy.rules.syntax.writer import show_value
from pinesy.samples import Batch, evidence_of, value_texts
from pinesy.samples.file_layout import json_value
from pinesy.semantics.semantics import Semantics, as_semantics
from pinesy.semantics.world_weights import WorldWeights
from pinesy.verdicts import Verdict, verdict

#: Returns the verdicts on the outputs of a sample.
VerdictsOf = Callable[[], list[Verdict]]
#: Rules with a guarantee.
Guaranteed = CalibratedRules | GroupedRules | SelectiveRules
#: Samples that one table holds; more go into further tables, so that memory stays bounded.
PAGE = 1000


InferFormat = Literal["table", "jsonl", "csv"]
SUFFIXES: dict[str, InferFormat] = {".jsonl": "jsonl", ".csv": "csv"}
FORMAT_HELP = "By default by the output file's suffix; else table on a terminal, or jsonl."
Form = Annotated[InferFormat | None, typer.Option("--format", help=FORMAT_HELP)]
Decide = Annotated[
    bool,
    typer.Option(
        "--decide",
        help="Decide the cases of which the model is certain enough to keep its promise, and hand "
        "over the others (see pinesy calibrate --error).",
    ),
]
Consistent = Annotated[
    bool,
    typer.Option(
        "--consistent",
        help="With --level, of calibrated inputs: sets of inputs too; each value is in a tuple of "
        "values of the sets that follows the rules.",
    ),
]
SemanticsName = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="possibilistic, or of probabilities: probabilistic, mpe (most probable explanation) "
        "or goedel.",
    ),
]
Exact = Annotated[
    bool,
    typer.Option(
        "--exact",
        help="Exact degrees where rules interact along several paths (by a solver: "
        "pip install 'pinesy[exact]').",
    ),
]
MaxConflicts = Annotated[
    int,
    typer.Option(
        min=0,
        metavar="N",
        help="With --exact, the conflicts of the solver in a sample, at most; then bounds.",
    ),
]


def infer(
    rules: options.RulesFile,
    data: options.DataFile,
    output: options.OutputFile = None,
    form: Form = None,
    outputs: options.Outputs = None,
    level: options.Level = None,
    is_selective: Decide = False,
    is_consistent: Consistent = False,
    semantics: SemanticsName = "possibilistic",
    exact: Exact = False,
    max_conflicts: MaxConflicts = MAX_CONFLICTS,
    batch: options.BatchSize = 10_000,
    everything: options.All = False,
    formulas: options.Formulas = False,
    *,
    file_options: options.DataOptions,
) -> None:
    """Infer the outputs of rules for every sample of a data file.

    [bold]Data[/bold]
    JSON Lines, one sample per line; for each input the degrees of its values
    (those left out have degree 0), a list of degrees in domain order, or one
    value that is certain:
      {"left": {"3": 1.0, "8": 0.4}, "right": 5}
    CSV; columns input=value hold degrees (those left out have degree 0), columns
    input hold values that are certain:
      left=3,left=8,right
      1.0,0.4,5
    Parquet (needs pyarrow) has the columns of CSV, or lists of degrees.
    A numeric attribute takes numbers. Where a cell is blank, or null in JSON,
    nothing is known: every value is possible.
    Degrees are possibilities, or with --transform probabilities.

    [bold]Results[/bold]
    jsonl  one object per sample; "possibility" leaves out values of degree 0
    csv    one row per sample: each output's best value, outcome, degrees
    table  for reading: answer, certainty and reason of the first 20 samples (--all:
           all); of a single sample the verdict, as pinesy explain prints it
    Columns --id, and one called id, come first in each.
    The "outcome" of a result says whether it has a best value, "verdict" says it
    in words:
      decided        one value alone is fully possible: the best one
      several        more than one value is, in "best_values"; others are not
      no_rule        every value is: no rule decides
      contradiction  no value is, here or on the way: the rules that clash are
                     named, "contradiction" is above 0, there is no certainty
    Without a best value it is null, or an empty cell. See pinesy explain, and
    pinesy check RULES DATA.

    With --level, for calibrated rules: degrees are calibrated,
    "set" has the values that are not excluded at the level, the best value is the
    only one in it, and an outcome may be
      novel          no value of some input conforms at the level
    A model of pinesy calibrate --group reads the group of each sample from the
    same column; where it is blank, the set is the largest of all groups.

    With --decide, for a model of pinesy calibrate --error: an outcome is decided, or
      handed_over    the certainty is below that from which cases are decided;
                     "best_values" has the best guess

    With --semantics the data are probabilities, and the results weights of values:
    their probabilities, or those of the most probable explanation with them, or
    degrees of truth. Rules must be certain.

    With --exact degrees are exact where pinesy check says that they may be upper
    bounds. Where the solver gives up (--max-conflicts), the outcome is
      unknown        "possibility" has upper bounds, "lower" has lower bounds

    [bold]Examples[/bold]
      pinesy infer examples/blood_glucose.rules examples/blood_glucose.jsonl
      pinesy infer sum.rules softmax.csv --transform antipignistic -o sums.csv
      pinesy infer sum.rules softmax.csv --semantics probabilistic
      pinesy infer triage.rules patients.csv --id patient --decimal ,
      cat digits.jsonl | pinesy infer sum.rules - --format jsonl --outputs total
    """
    default: InferFormat = "table" if sys.stdout.isatty() else "jsonl"
    file_format = options.format_of(form, output, SUFFIXES, default)
    options.check_output_file(output, None, [rules, data])
    cascade = load_rules(rules)
    meaning = as_semantics(semantics)
    _check_guarantees(is_selective, is_consistent, level, outputs, meaning, exact)
    selective = options.selective_rules(rules, file_options.transform) if is_selective else None
    if meaning.reads == "probabilities":
        file_options = options.invertible_options(file_options)
    calibrated = None
    if level is not None:
        calibrated = options.calibration_of(rules, file_options.transform, [level])
        file_options = options.with_group_columns(file_options, options.group_column(calibrated))
    guaranteed = selective or calibrated
    output_names = dict.fromkeys(outputs) if outputs else _guaranteed_outputs(guaranteed)
    program = cascade.compile(output_names)
    inputs = program.inputs if guaranteed is None else cascade.inputs
    results_of = [*cascade.inputs, *program.outputs] if is_consistent else program.outputs
    numbers = count(1)
    last = _last_columns(meaning, guaranteed, exact)

    def clashes(pi: Possibility, evidence: FloatArray) -> dict[int, str]:
        """Return the rules that clash, as text, for each contradictory sample."""
        output, lost = pi.attribute, np.flatnonzero(pi.contradiction)
        if not len(lost):
            return {}
        needed = cascade.needed([output.name])
        trace = cascade.compile([s.output for s in needed], trace=True)
        columns = column_slices(program.inputs)
        trace_evidence = {a.name: evidence[lost, columns[a.name]] for a in trace.inputs}
        first_clash = first_clashes(needed, trace.infer(trace_evidence))
        return {
            int(lost[i]): rule_numbers_text([cascade.rule_number(name, j) for j in indices])
            for i, (name, indices) in first_clash.items()
        }

    def rows(samples: Batch) -> Iterator[ResultRow]:
        evidence, outputs = samples.evidence, program.outputs
        if not meaning.is_compiled:
            parts = _weighted(cascade, inputs, outputs, evidence, meaning)
        elif selective is not None:
            decisions = selective.decisions(evidence)
            parts = [_decided_results(decisions, a) for a in outputs]
        elif calibrated is not None and level is not None:
            sets = _sets(calibrated, samples, level, results_of, is_consistent)
            parts = [_possibility_results(pi, {}, sets) for pi in sets.possibilities.values()]
        elif exact:
            exact_results = cascade.infer(
                evidence, [a.name for a in outputs], exact=True, max_conflicts=max_conflicts
            )
            parts = [_exact_results(exact_results, a, clashes, evidence) for a in outputs]
        else:
            inferred = program.infer(evidence)
            results = [inferred[a.name] for a in outputs]
            parts = [_possibility_results(pi, clashes(pi, evidence)) for pi in results]
        ids = map(samples.ids_of, range(len(samples)))
        verdicts = _verdicts(cascade, program, samples) if last[1] == "because" else repeat(None)
        return map(InferenceRow, zip(*parts, strict=True), numbers, ids, verdicts)

    options.check_ids(file_options.ids or (), program.outputs)
    batches = file_options.batches(data, cascade, inputs, batch)
    table = partial(_write_table, _table(len(results_of), last, everything))
    write: Writer = table if file_format == "table" else writer_of(f".{file_format}", formulas)
    write_rows(batches, rows, write, data, output)


def _weighted(
    cascade: Cascade,
    inputs: Sequence[Attribute],
    outputs: Sequence[Attribute],
    evidence: FloatArray,
    meaning: Semantics,
) -> list[Iterator["OutputResult"]]:
    """Return the results of each output in another semantics."""
    by_name = {name: evidence[:, span] for name, span in column_slices(inputs).items()}
    if meaning.reads == "probabilities":
        by_name = options.input_probabilities(inputs, evidence)
    weighted = cascade.infer(by_name, outputs, semantics=meaning)
    return [_weight_results(weighted[a.name]) for a in outputs]


def _verdicts(cascade: Cascade, program: Program, samples: Batch) -> Iterator["VerdictsOf"]:
    """Yield for each sample a function that returns the verdicts on its outputs."""

    def verdicts_on(row: int) -> list[Verdict]:
        evidence = evidence_of(samples, row, program.inputs)
        return [verdict(cascade, evidence, output) for output in program.outputs]

    return (partial(verdicts_on, row) for row in range(len(samples)))


def _check_guarantees(
    is_selective: bool,
    is_consistent: bool,
    level: float | None,
    outputs: list[str] | None,
    meaning: Semantics,
    exact: bool,
) -> None:
    """Raise an error for options of guarantees that do not go together."""
    other = not meaning.is_compiled
    together = "a threshold decides on all its outputs together"
    options.refuse_options(
        (other and level is not None, "--level", "levels are of possibilities"),
        (is_consistent and level is None, "--consistent", "sets are of a level: give --level"),
        (is_selective and level is not None, "--level", "--decide has a promise of its own"),
        (is_selective and bool(outputs), "--outputs", together),
        (is_selective and other, "--semantics", "certainties are of possibilities"),
        (other and exact, "--exact", f"the {meaning.name} semantics is exact already"),
        (level is not None and exact, "--exact", "calibrated degrees are those of inference"),
        (is_selective and exact, "--exact", "thresholds are of the degrees of inference"),
    )


def _guaranteed_outputs(guaranteed: Guaranteed | None) -> Iterable[str] | None:
    """Return the outputs that were calibrated, or that are decided; None for the final ones."""
    model = guaranteed.base if isinstance(guaranteed, GroupedRules) else guaranteed
    return getattr(model, "outputs", None)


def _sets(
    calibrated: CalibratedRules | GroupedRules,
    samples: Batch,
    level: float,
    attributes: Sequence[Attribute],
    is_consistent: bool,
) -> PredictionSets:
    """Return the sets of a level of a batch, by the calibrations of its groups if it has some."""
    rules = options.calibrated_for(calibrated, samples)
    if is_consistent:
        return consistent_sets(rules, samples.evidence, level, attributes=attributes)
    return rules.predict_set(samples.evidence, level, attributes)


def _last_columns(
    meaning: Semantics, guaranteed: Guaranteed | None, exact: bool
) -> tuple[str, str]:
    """Return the titles of the last two columns of a table; the second may be empty."""
    if not meaning.is_compiled:
        return "weight", ""
    if exact or isinstance(guaranteed, SelectiveRules):  # reasons are those of inference
        return "certain", ""
    return "certain", "because" if guaranteed is None else "set"


def _table(n_outputs: int, last: tuple[str, str], everything: bool) -> TableWriter:
    """Return the writer of a table with columns `last`."""
    columns = ["sample", *["output"] * (n_outputs > 1), "answer", *filter(None, last)]
    return TableWriter(columns, ["sample"], everything, PAGE, n_outputs > 1, last[1] == "because")


class OutputResult(NamedTuple):
    """The result for one output of one sample, in plain Python values.

    Attributes
    ----------
    texts : the names of the values
    outcome, verdict : whether there is a best value, or why not, as a code and in words
    title, members : the name of the values that remain, ``"best_values"`` or ``"set"``, and a mask
    degrees_title : ``"possibility"`` or ``"weights"``
    facts : further numbers, by name
    lower : with exact inference, the lower bounds of degrees that are not known, by text; else None
    """

    attribute: Attribute
    texts: list[str]
    outcome: Outcome | Literal["unknown", "handed_over"]
    verdict: str
    title: str
    members: list[bool]
    degrees_title: str
    degrees: list[float]
    facts: dict[str, float | None]
    lower: dict[str, float] | None = None

    @property
    def best(self) -> int | None:
        """The index of the best value; None if there is none."""
        return self.members.index(True) if self.outcome == "decided" else None

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data; degrees of 0 are left out."""
        values = [*map(json_value, compress(self.attribute.domain, self.members))]
        degrees = {t: d for t, d in zip(self.texts, self.degrees, strict=True) if d > 0.0}
        content = {
            "best": values[0] if self.outcome == "decided" else None,
            "outcome": self.outcome,
            "verdict": self.verdict,
            self.title: values,
            self.degrees_title: degrees,
        }
        bounds = {"lower": self.lower} if self.lower else {}
        return content | self.facts | bounds

    def titles(self) -> list[str]:
        """Return the titles of the columns: best value, facts, and values."""
        name = self.attribute.name
        fact_titles = [f"{name} {fact}" for fact in ("outcome", "verdict", self.title, *self.facts)]
        titles = [name, *fact_titles, *(f"{name}={text}" for text in self.texts)]
        if self.lower is not None:
            titles += [f"{name} lower={text}" for text in self.texts]
        return titles

    def cells(self) -> list[Any]:
        """Return the cells of the columns of `titles`."""
        best = "" if self.best is None else self.texts[self.best]
        left = "|".join(compress(self.texts, self.members))
        facts = ["" if fact is None else fact for fact in self.facts.values()]
        cells = [best, self.outcome, self.verdict, left, *facts, *self.degrees]
        if self.lower is not None:
            cells += [self.lower.get(t, d) for t, d in zip(self.texts, self.degrees, strict=True)]
        return cells

    def line(self) -> tuple[str, ...]:
        """Return the cells of a row of the printed table: answer, certainty or weight, and set."""
        answer, number = self.verdict, "-"
        if self.best is not None:
            certainty = self.facts.get("certainty")
            answer = show_value(self.attribute.domain[self.best])
            number = short_degree(max(self.degrees) if certainty is None else certainty)
        if self.title == "set":
            return answer, number, f"{{{', '.join(compress(self.texts, self.members))}}}"
        return answer, number


def _results(
    attribute: Attribute,
    outcomes: npt.NDArray[np.str_],
    remaining: tuple[str, BoolArray],
    numbers: tuple[str, FloatArray],
    facts: dict[str, list[Any]],
    clashes: Mapping[int, str],
) -> Iterator[OutputResult]:
    """Yield the results of each sample.

    Parameters
    ----------
    remaining : the title of the values that remain, and a mask of them
    numbers : the title of the degrees, and the degrees
    facts : by name, a number for each sample
    clashes : by row, the rules that contradict each other, where they are known
    """
    texts = value_texts(attribute)
    (title, is_left), (degrees_title, degrees) = remaining, numbers
    rows = zip(outcomes.tolist(), is_left.tolist(), degrees.tolist(), strict=True)
    for row, (outcome, members, row_degrees) in enumerate(rows):
        row_facts = {name: entries[row] for name, entries in facts.items()}
        verdict = verdict_text(
            outcome, [*compress(texts, members)], **row_facts, rules=clashes.get(row, "")
        )
        yield OutputResult(
            attribute,
            texts,
            outcome,
            verdict,
            title,
            members,
            degrees_title,
            row_degrees,
            row_facts,
        )


def _possibility_results(
    pi: Possibility, clashes: Mapping[int, str], sets: PredictionSets | None = None
) -> Iterator[OutputResult]:
    """Yield the possibilities of each sample, and its sets of values if there is a level."""
    outcomes, remaining = pi.outcome, ("best_values", pi.is_best)
    if sets is not None:
        name = pi.attribute.name
        outcomes, remaining = sets.outcomes[name], ("set", sets.members(name))
    facts = {
        "certainty": [c if c == c else None for c in pi.certainty.tolist()],
        "contradiction": pi.contradiction.tolist(),
    }
    numbers = ("possibility", pi.degrees)
    return _results(pi.attribute, outcomes, remaining, numbers, facts, clashes)


def _exact_results(
    results: ExactInference,
    attribute: Attribute,
    clashes: Callable[[Possibility, FloatArray], dict[int, str]],
    evidence: FloatArray,
) -> Iterator[OutputResult]:
    """Yield the exact possibilities of each sample; bounds where these are not known."""
    pi, lower = results.upper[attribute.name], results.lower[attribute.name].degrees.tolist()
    known = results.known[attribute.name].tolist()
    rows = _possibility_results(pi, clashes(pi, evidence))
    for result, is_known, row_lower in zip(rows, known, lower, strict=True):
        if is_known:
            yield result._replace(lower={})
        else:
            yield result._replace(
                outcome="unknown",
                verdict="not known: the solver spent its conflicts",
                members=[False] * len(result.texts),
                facts=dict.fromkeys(result.facts),
                lower=dict(zip(result.texts, row_lower, strict=True)),
            )


def _decided_results(decisions: SelectiveDecisions, output: Attribute) -> Iterator[OutputResult]:
    """Yield what is decided of an output, and the best guess where a sample is handed over."""
    best = decisions.answers.best[output.name]
    is_best = np.arange(len(output.domain)) == best[:, None]
    facts = {"certainty": decisions.certainty.tolist()}
    numbers = ("certainties", np.where(is_best, decisions.certainty[:, None], 0.0))
    return _results(output, decisions.outcomes, ("best_values", is_best), numbers, facts, {})


def _weight_results(worlds: WorldWeights) -> Iterator[OutputResult]:
    """Yield the weights of values in another semantics, for each sample."""
    remaining, numbers = ("best_values", worlds.is_best), ("weights", worlds.weights)
    return _results(worlds.attribute, worlds.outcome, remaining, numbers, {}, {})


@dataclass
class InferenceRow(ResultRow):
    """The results for one sample; `number` counts the samples from 1."""

    results: tuple[OutputResult, ...]
    number: int
    ids: dict[str, Any]
    verdicts: VerdictsOf | None

    def to_dict(self) -> dict[str, Any]:
        """Return the ids and the outputs by name."""
        return self.ids | {result.attribute.name: result.to_dict() for result in self.results}

    def titles(self) -> list[str]:
        """Return the titles of the ids, then of the outputs."""
        return [*self.ids, *(title for result in self.results for title in result.titles())]

    def cells(self) -> list[Any]:
        """Return the ids, then the cells of the outputs."""
        cells: list[Any] = ["" if entry is None else entry for entry in self.ids.values()]
        for result in self.results:
            cells += result.cells()
        return cells

    def lines(self) -> Iterator[tuple[str, ...]]:
        """Yield a line for each output."""
        verdicts = [] if self.verdicts is None else self.verdicts()
        for index, result in enumerate(self.results):
            name = [result.attribute.name] * (len(self.results) > 1)
            reason = [verdicts[index].because] if verdicts else []
            yield self.name if index == 0 else "", *name, *result.line(), *reason

    @property
    def name(self) -> str:
        """The ids of the sample, or its number."""
        return ", ".join(map(str, self.ids.values())) or f"{self.number:,}"

    def block(self) -> str:
        """Return the verdict on each output, in lines that fit the screen."""
        verdicts = [] if self.verdicts is None else self.verdicts()
        has_names = len(verdicts) > 1
        return "\n\n".join(
            f"{verdict.attribute.name}: " * has_names + verdict_block(verdict)
            for verdict in verdicts
        )


def _write_table(table: TableWriter, stream: TextIO, rows: Iterable[Any]) -> None:
    """Print one sample as its verdict, several as a table."""
    rows = iter(rows)
    first = list(islice(rows, 2))
    if len(first) == 1 and first[0].verdicts is not None:
        stream.write(f"{printable(first[0].block())}\n")
        return
    table(stream, chain(first, rows))
