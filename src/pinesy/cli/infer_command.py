"""The command ``pinesy infer``."""

import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain, count, islice, repeat
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TextIO, Union

import typer

from pinesy._common.validation import printable
from pinesy.cli import options
from pinesy.cli.batch_inference import BatchInference
from pinesy.cli.column_writers import FileInference, form_of
from pinesy.cli.output import ResultRow, TableWriter, say, verdict_block, write_rows
from pinesy.cli.partitions import data_files, infer_partitions, is_partitioned, partitions_of
from pinesy.cli.result_columns import OutputResult
from pinesy.engine.program import Program
from pinesy.exact.exact_inference import MAX_CONFLICTS
from pinesy.rulebase.cascade import Cascade
from pinesy.samples import Batch, evidence_of
from pinesy.semantics.semantics import Semantics, as_semantics

if TYPE_CHECKING:  # imported where an option, or a table, needs them
    from pinesy.calibration import CalibratedRules
    from pinesy.guarantees import GroupedRules, SelectiveRules
    from pinesy.verdicts import Verdict

#: Returns the verdicts on the outputs of a sample.
VerdictsOf = Callable[[], list["Verdict"]]
#: Rules with a guarantee.
Guaranteed = Union["CalibratedRules", "GroupedRules", "SelectiveRules"]
#: Samples that one table holds; more go into further tables, so that memory stays bounded.
PAGE = 1000


InferFormat = Literal["table", "jsonl", "csv", "parquet"]
SUFFIXES: dict[str, InferFormat] = {".jsonl": "jsonl", ".csv": "csv", ".parquet": "parquet"}
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
        "pip install 'pinesy\\[exact]').",
    ),
]
DataFiles = Annotated[
    Path,
    typer.Argument(
        metavar="DATA",
        help="A .jsonl, .ndjson, .json, .csv or .parquet file; - for JSON Lines on stdin; a "
        "directory of such files, or a pattern such as 'data/*.parquet'.",
    ),
]
ResultsFile = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        callback=lambda path: None if str(path) == "-" else path,
        help="Write to this file, once it is complete; - for standard output. Of many files, a "
        "directory.",
    ),
]
Jobs = Annotated[
    int,
    typer.Option(min=1, metavar="N", help="Processes that share the batches, or the files."),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Infer each file on a Dask cluster, whose workers see the same files "
        "(pip install 'pinesy\\[dask]').",
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
    data: DataFiles,
    output: ResultsFile = None,
    form: Form = None,
    outputs: options.Outputs = None,
    level: options.Level = None,
    is_selective: Decide = False,
    is_consistent: Consistent = False,
    semantics: SemanticsName = "possibilistic",
    exact: Exact = False,
    max_conflicts: MaxConflicts = MAX_CONFLICTS,
    batch: options.BatchSize = 10_000,
    jobs: Jobs = 1,
    scheduler: Scheduler = None,
    everything: options.All = False,
    formulas: options.Formulas = False,
    *,
    file_options: options.DataOptions,
) -> None:
    r"""Infer the outputs of rules for every sample of a data file.

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
    parquet  the columns of csv, numbers and truth values as such (needs pyarrow)
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

    [bold]Many samples[/bold]
    With pyarrow (pip install 'pinesy\[parquet]') CSV and Parquet are read by columns.
    Memory holds a --batch, or one for each process of --jobs. The order and the
    bytes of results are the same.
    Of a directory or a pattern (in quotes), each file's results go to a file of the
    same name in the directory -o; with --scheduler on a Dask cluster.

    [bold]Examples[/bold]
      pinesy infer examples/blood_glucose.rules examples/blood_glucose.jsonl
      pinesy infer sum.rules softmax.csv --transform antipignistic -o sums.csv
      pinesy infer sum.rules softmax.csv --semantics probabilistic
      pinesy infer triage.rules patients.csv --id patient --decimal ,
      pinesy infer triage.rules 'visits/*.parquet' -o results --jobs 4
      cat digits.jsonl | pinesy infer sum.rules - --format jsonl --outputs total
    """
    is_many = scheduler is not None or is_partitioned(data)
    file_format: InferFormat = form or "jsonl"
    if not is_many:
        default: InferFormat = "table" if sys.stdout.isatty() else "jsonl"
        file_format = options.format_of(form, output, SUFFIXES, default)
    why = "a cluster has its own workers: leave --jobs out"
    options.refuse_options((scheduler is not None and jobs > 1, "--jobs", why))
    _check_output(file_format, output, rules, data, is_many, jobs)
    cascade = options.read_cascade(rules)
    meaning = as_semantics(semantics)
    _check_guarantees(is_selective, is_consistent, level, outputs, meaning, exact)
    selective = _selective_rules(rules, file_options.transform) if is_selective else None
    if meaning.reads == "probabilities":
        file_options = options.invertible_options(file_options)
    calibrated = None
    if level is not None:
        from pinesy.cli.guaranteed_models import calibration_of, group_column

        calibrated = calibration_of(rules, file_options.transform, [level])
        file_options = options.with_group_columns(file_options, group_column(calibrated))
    guaranteed = selective or calibrated
    output_names = dict.fromkeys(outputs) if outputs else _guaranteed_outputs(guaranteed)
    program = cascade.compile(output_names)
    inference = BatchInference(
        cascade,
        program,
        program.inputs if guaranteed is None else cascade.inputs,
        meaning,
        selective,
        calibrated,
        level,
        is_consistent,
        max_conflicts if exact else None,
    )
    options.check_ids(file_options.ids or (), program.outputs)
    if file_format != "table":
        screen = sys.stdout if output is None else None
        reading = file_options.arguments(cascade, inference.inputs, batch)
        files = FileInference(inference, form_of(f".{file_format}", formulas, screen), reading)
        if is_many and output is not None:
            partitions = partitions_of(data_files(data), output, form, formulas)
            say(f"{infer_partitions(files, partitions, jobs, scheduler)}: results in {output}")
        else:  # a bar between results on one screen would garble them
            has_bar = output is not None or not sys.stdout.isatty()
            files.write(options.source_of(data), output, jobs, data.name if has_bar else "")
        return
    batches = file_options.batches(data, cascade, inference.inputs, batch)
    last = _last_columns(meaning, guaranteed is not None, is_selective, exact)
    table = partial(_write_table, _table(len(inference.attributes), last, everything))
    rows = partial(_rows, inference, last[1] == "because", count(1))
    write_rows(batches, rows, table, data, output)


def _check_output(
    file_format: InferFormat, output: Path | None, rules: Path, data: Path, is_many: bool, jobs: int
) -> None:
    """Raise an error for options of results that do not go together."""
    is_table, has_jobs = file_format == "table", jobs > 1
    parquet = "Parquet is not for a screen or a pipe: give -o FILE.parquet"
    stdin = "standard input is read by one process: give a file"
    options.refuse_options(
        (is_many and output is None, "--output", "of many data files: give -o DIRECTORY"),
        (is_many and is_table, "--format", "a table is of one data file: give csv or jsonl"),
        (file_format == "parquet" and output is None, "--format", parquet),
        (has_jobs and is_table, "--jobs", "a table is printed by one process"),
        (has_jobs and str(data) == "-", "--jobs", stdin),
    )
    if not is_many:
        options.check_output_file(output, None, [rules, data])


def _rows(
    inference: BatchInference, has_verdicts: bool, numbers: Iterator[int], samples: Batch
) -> Iterator[ResultRow]:
    """Yield the results of each sample of a batch; `numbers` are theirs."""
    parts = [output.results() for output in inference(samples).outputs]
    ids = map(samples.ids_of, range(len(samples)))
    verdicts: Iterable[VerdictsOf | None] = repeat(None)
    if has_verdicts:
        verdicts = _verdicts(inference.cascade, inference.program, samples)
    return map(InferenceRow, zip(*parts, strict=True), numbers, ids, verdicts)


def _verdicts(cascade: Cascade, program: Program, samples: Batch) -> Iterator["VerdictsOf"]:
    """Yield for each sample a function that returns the verdicts on its outputs."""

    def verdicts_on(row: int) -> list["Verdict"]:
        from pinesy.verdicts import verdict

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


def _selective_rules(path: Path, transform: str) -> "SelectiveRules":
    from pinesy.cli.guaranteed_models import selective_rules

    return selective_rules(path, transform)


def _guaranteed_outputs(guaranteed: Guaranteed | None) -> Iterable[str] | None:
    """Return the outputs that were calibrated, or that are decided; None for the final ones."""
    return getattr(getattr(guaranteed, "base", guaranteed), "outputs", None)


def _last_columns(
    meaning: Semantics, is_guaranteed: bool, is_selective: bool, exact: bool
) -> tuple[str, str]:
    """Return the titles of the last two columns of a table; the second may be empty."""
    if not meaning.is_compiled:
        return "weight", ""
    if exact or is_selective:  # reasons are those of inference
        return "certain", ""
    return "certain", "set" if is_guaranteed else "because"


def _table(n_outputs: int, last: tuple[str, str], everything: bool) -> TableWriter:
    """Return the writer of a table with columns `last`."""
    columns = ["sample", *["output"] * (n_outputs > 1), "answer", *filter(None, last)]
    return TableWriter(columns, ["sample"], everything, PAGE, n_outputs > 1, last[1] == "because")


@dataclass
class InferenceRow(ResultRow):
    """The results for one sample; `number` counts the samples from 1."""

    results: tuple[OutputResult, ...]
    number: int
    ids: dict[str, Any]
    verdicts: VerdictsOf | None

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
