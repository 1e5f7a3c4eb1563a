"""The command ``pinesy audit``."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any

import typer

import pinesy
from pinesy.calibration import CalibratedRules
from pinesy.cli import guaranteed_models, options
from pinesy.cli.output import (
    WRITERS,
    ResultRow,
    open_output,
    plain,
    put_text,
    say,
    say_wrapped,
    shortened_note,
    writer_of,
)
from pinesy.cli.training_files import TrainingFiles
from pinesy.display.pages import audit_page
from pinesy.display.report_rows import suspicious_labels
from pinesy.learning import Audit, LearnedRules
from pinesy.learning.audit import Judged, unused_inputs
from pinesy.model.storage import load, load_rules
from pinesy.samples import Batch, columns_of
from pinesy.verdicts import short_degree

JudgedBy = Annotated[
    Judged | None,
    typer.Option(
        help="By which rules labels are judged: as they are (given), with parameters learned "
        "again, or induced again. By default again, out of fold, where RULES come from data.",
        show_default=False,
    ),
]
Folds = Annotated[int, typer.Option(min=2, help="Where rules are made again: the number of folds.")]
Limit = Annotated[int, typer.Option(min=0, help="Samples to print.")]


def audit(
    rules: options.RulesFile,
    data: options.SamplesFile,
    output: options.OutputFile = None,
    limit: Limit = 20,
    method: JudgedBy = None,
    folds: Folds = 5,
    formulas: options.Formulas = False,
    *,
    file_options: options.TrainingOptions,
) -> None:
    """Rank the samples of a file by how suspicious their labels are.

    Data is as for pinesy learn. A label is suspicious if the rules find another
    value more possible; the rule that speaks against it is named. Suspicion is
    by how much. Samples are named by their row, from 1, or by columns --id.

    Rules and parameters that come from the same labels excuse them. So induced
    rules are induced again without each fold, and parameters that pinesy learn
    took from DATA are learned again; the first line says so. For rules of your
    own on noisy data, --method counts learns their parameters, out of fold.

    The suspicious labels are printed; -o writes all samples, worst first, to a
    .csv, .json or .jsonl file, with columns --id, or a report to an .html file.

    [bold]Examples[/bold]
      pinesy audit examples/weather.rules examples/weather_train.jsonl
      pinesy audit model.json train.csv --id patient --limit 50 -o audit.csv
      pinesy audit flu.rules patients.csv --method counts
    """
    options.check_output_file(output, [*WRITERS, ".html"], [rules, data])
    cascade = load_rules(rules)
    files = TrainingFiles(cascade, file_options, unused_inputs(cascade))
    samples = files.read(data)
    model = guaranteed_models.without_threshold(load(rules)) if rules.suffix == ".json" else cascade
    learned: Any = model.learned if isinstance(model, CalibratedRules) else model
    if not isinstance(learned, LearnedRules) or not learned.may_know(
        files.fingerprint(data)["sha256"]
    ):
        learned = cascade
    result = pinesy.audit(
        learned,
        columns_of(samples, files.inputs),
        samples.targets,
        method=method,
        folds=folds,
    )
    _print(result, samples, limit)
    if output is None:
        return
    if output.suffix == ".html":
        suspicious = suspicious_labels(result, samples, cascade.inputs)
        put_text(output, audit_page(result, suspicious, f"{rules.name} on {data.name}"))
    else:
        with open_output(output) as stream:
            writer_of(output.suffix, formulas)(stream, _rows(result, samples))


def _print(result: Audit, samples: Batch, limit: int) -> None:
    """Print the suspicious labels, with the rules that speak against them."""
    say_wrapped(plain(repr(result)))
    count = int(result.suspicious.sum())
    rows = list(_rows(result, samples, min(limit, count)))
    for row in rows:
        say()
        for sentence in row.sentences():
            say_wrapped(sentence, indent=2)
    if rows and count > len(rows):
        say(shortened_note(count - len(rows), "sample", f"--limit {count}"))


def _rows(result: Audit, samples: Batch, limit: int | None = None) -> Iterator["AuditRow"]:
    for row in result.rows(limit):
        index = row["sample"]
        ids = samples.ids_of(index)
        content = {"sample": index + 1, "line": samples.lines[index]} | ids
        yield AuditRow(content | {key: row[key] for key in row if key != "sample"}, ids)


@dataclass(frozen=True)
class AuditRow(ResultRow):
    """The audit of one sample, with its row from 1, its line in the file and its ids."""

    content: dict[str, Any]
    ids: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Return all columns of the audit."""
        return self.content

    def sentences(self) -> tuple[str, str]:
        """Return the label beside the value that is more possible, and why."""
        row = self.content
        name = ", ".join(map(str, self.ids.values())) or f"sample {row['sample']:,}"
        suspicion = short_degree(row["suspicion"])
        label = f"{row['set']} is {row['label']}; {row['best']} is more possible"
        return f"{name}: {label}, by {suspicion}", f"  {row['reason']}"
