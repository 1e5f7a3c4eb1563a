"""The command ``pinesy explain``: what it says of a sample, as text, as data or as a picture."""

from collections.abc import Iterable
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from pinesy import explanations
from pinesy._common.reports import count_text, wrap_lines
from pinesy._common.validation import MOST_NAMES, printable
from pinesy.cli import options
from pinesy.cli.output import WIDTH, put_text, verdict_block
from pinesy.exceptions import DataError
from pinesy.explanations.decision import only_output
from pinesy.explanations.explanation_report import LIMITS, ExplanationFormat, ExplanationReport
from pinesy.explanations.json_form import json_text
from pinesy.explanations.smallest_change import Mode
from pinesy.samples import Batch, evidence_of
from pinesy.verdicts import Guarantee, verdict

SUFFIXES: dict[str, ExplanationFormat] = {".txt": "text", ".json": "json", ".svg": "svg"}
SampleName = Annotated[
    str | None,
    typer.Option(
        metavar="ID|N",
        help="The sample: its entry in a column --id (or id), or without such a column its row, "
        "from 1. By default the first one.",
    ),
]
AttributeName = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Explain this attribute, not the only output."),
]
Value = Annotated[
    str | None, typer.Option(metavar="V", help="Explain this value, not the most possible one.")
]
OtherValue = Annotated[
    str | None,
    typer.Option(
        metavar="V", help="Explain why this value does not win, and what would make it win."
    ),
]
ChangeMode = Annotated[
    Mode | None,
    typer.Option(
        help="The change that --why-not names: of values, or of readings (the smallest, or of the "
        "fewest inputs). By default of values where every input is one or blank, else smallest.",
    ),
]
Changing = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", help="Only this input may change (repeatable)."),
]
Kept = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", help="This input may not change (repeatable)."),
]
Eta = Annotated[float, typer.Option(help="Degrees below it count as nothing.")]
Depth = Annotated[int | None, typer.Option(min=1, metavar="N", help="Rule sets to go down.")]
LIMIT_HELP = "Show so many values, rules and propositions of each; the others are counted."
Limit = Annotated[int | None, typer.Option(min=1, metavar="N", help=LIMIT_HELP)]
FULL_HELP = "Print the full justification below the verdict: rules, premises, margins."
Full = Annotated[bool, typer.Option("--full", help=FULL_HELP)]
FORMAT_HELP = "By default by the output file's suffix; else text."
Form = Annotated[ExplanationFormat | None, typer.Option("--format", help=FORMAT_HELP)]


def explain(
    rules: options.RulesFile,
    data: options.DataFile,
    sample: SampleName = None,
    attribute: AttributeName = None,
    value: Value = None,
    why_not: OtherValue = None,
    mode: ChangeMode = None,
    change: Changing = None,
    keep: Kept = None,
    full: Full = False,
    eta: Eta = 0.1,
    depth: Depth = None,
    limit: Limit = None,
    everything: options.All = False,
    level: options.Level = None,
    form: Form = None,
    output: options.OutputFile = None,
    *,
    file_options: options.DataOptions,
) -> None:
    r"""Say what is decided of one sample, why, what would change it, and how firm it is.

    --full (and --value, --depth, --limit, --all) adds the full justification: the
    rules that set the possibility, what these rest on, down to the inputs; what
    else is possible, which bounds the certainty; the margin, which is how far the
    inputs may move before the most possible value can change. Data is as for
    pinesy infer; values are written as in rules: 7, wet, "(1, 2)".
    --why-not names another value, what excludes it, and the smallest change of
    the inputs that makes it win, in the units of the data: if glucose were below
    126 (now 140). --keep and --change say which inputs may change.
    --level, for calibrated rules, adds the guarantee, which values are excluded at
    which levels, and which p-values exclude that of --why-not. Where all inputs
    are calibrated together, a sentence says what an excluded value would need: that
    of --why-not or --value, or the most possible one.

    [bold]Formats[/bold]
    text  the verdict; with --full plain English, down 4 rule sets; the first 5 of
          many values, rules or propositions, those that decide first; of induced
          rules the points that each class got and why
    json  an object: "sample" (its row, from 1), "verdict", "explanation", "margin"
          and "why_not"
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
      pinesy explain examples/blood_glucose.rules examples/blood_glucose.jsonl \
        --sample 2 --full
      pinesy explain risk.rules patients.csv --id patient --sample A200
      pinesy explain sum.rules digits.jsonl --attribute total -o total.svg
      pinesy explain risk.rules patients.csv --why-not low --keep age --keep sex
    """
    file_format = options.format_of(form, output, SUFFIXES, "text")
    has_rival, is_picture = why_not is not None, file_format == "svg"
    no_rival = "it is of a change; ask for one: --why-not V"
    options.refuse_options(
        (
            has_rival and is_picture,
            "--why-not",
            "a picture does not show it; use --format text or json",
        ),
        (mode and not has_rival, "--mode", no_rival),
        (change and not has_rival, "--change", no_rival),
        (keep and not has_rival, "--keep", no_rival),
        (level is not None and is_picture, "--level", "a picture does not show levels"),
        (everything and limit, "--limit", "--all shows all; leave one of them out"),
    )
    options.check_output_file(output, None, [rules, data])
    cascade = options.read_cascade(rules)
    concluded = cascade[attribute or only_output(cascade, "say which: --attribute NAME")].output
    proposition = (
        concluded if value is None else concluded.isin({options.find_value(concluded, value)})
    )
    rival = None if why_not is None else options.find_value(concluded, why_not)
    calibrated = None
    if level is not None:
        from pinesy.cli.guaranteed_models import calibrated_rules

        calibrated = calibrated_rules(rules, file_options.transform, [level])
    inputs = cascade.compile([concluded]).inputs if calibrated is None else cascade.inputs
    batches = file_options.batches(data, cascade, inputs, 1 if sample is None else 1000)
    batch, index, row = find_sample(batches, sample, data)
    evidence = evidence_of(batch, index, inputs)
    max_shown = None if everything else limit or LIMITS[file_format]
    explain_value: Any = partial(explanations.explain, cascade)
    answer_why_not: Any = partial(explanations.why_not, cascade)
    if calibrated is not None and level is not None:
        explain_value = partial(calibrated.explain, level=level)
        answer_why_not = partial(calibrated.why_not, level=level)
    explanation = explain_value(evidence, proposition, eta=eta, depth=depth)
    answer = (
        answer_why_not(evidence, rival, concluded, mode=mode, change=change, keep=keep)
        if has_rival
        else None
    )
    guarantee, excluded = None, None
    if calibrated is not None and level is not None:
        from pinesy.guarantees.consistent_sets import why_excluded

        other_value = rival
        if other_value is None and value is not None:
            other_value = options.find_value(concluded, value)
        excluded = why_excluded(calibrated, evidence, level, concluded, other_value)
        levels = explanation.text().partition("\n\n")[0].replace("\n", " ")
        sentence = f"{levels} {explanation.guarantee}"
        guarantee = Guarantee(level, explanation.sets[concluded], sentence)
    decided = verdict(cascade, evidence, concluded, guarantee=guarantee)
    report = ExplanationReport(cascade, row, evidence, explanation, answer, max_shown)
    if is_picture:
        text = report.write("svg")
    elif file_format == "json":
        content = {"sample": row, "verdict": decided.to_dict()}
        if calibrated is None:
            content |= report.to_dict()
        else:
            content |= explanation.to_dict(limit=max_shown)
            content |= {"why_not": answer and answer.to_dict()}
            content |= {"excluded": excluded and excluded.to_dict()}
        text = json_text(content, indent=1)
    else:
        is_full = full or everything or any(o is not None for o in (value, depth, limit))
        parts = [verdict_block(decided), *([excluded.sentence] if excluded else [])]
        if is_full:
            parts += (
                [explanation.explanation.justification(depth=depth, limit=max_shown)]
                if calibrated
                else [report.justification()]
            )
        if answer is not None:
            parts.append(str(answer) if calibrated else report.why_not_text())
        text = wrap_lines("\n\n".join(parts), WIDTH)
    put_text(output, printable(f"{text}\n"))


def find_sample(batches: Iterable[Batch], name: str | None, data: Path) -> tuple[Batch, int, int]:
    """Return a sample of a file, by default the first: its batch, its index there, its row from 1.

    It is named by its id in a column of ids, else by its row. Where such a
    column has numbers, a number is never a row.
    """
    row_number = int(name) if name is not None and name.isascii() and name.isdigit() else None
    rows, ids, by_row = 0, dict[str, None](), None
    for batch in batches:
        for index, sample_ids in enumerate(zip(*batch.ids.values(), strict=True)):
            texts = [str(sample_id) for sample_id in sample_ids]
            if name in texts:
                return batch, index, rows + index + 1
            ids.update(dict.fromkeys(texts))
        index = 0 if row_number is None else row_number - rows - 1
        if name is None or (row_number is not None and 0 <= index < len(batch)):
            by_row = batch, index, rows + index + 1
            if name is None or not batch.ids:
                return by_row
        rows += len(batch)
    if by_row is not None and not any(text.isdigit() for text in ids):
        return by_row
    start = f"{data}: there is no sample {name!r:.80}; "
    if ids:
        matches = get_close_matches(str(name), list(ids)[:MOST_NAMES], n=3, cutoff=0.0)
        nearest = ", ".join(repr(text)[:80] for text in matches)
        count = count_text(len(ids), "id")
        raise DataError(f"{start}{rows:,} rows have {count}, the nearest {nearest}")
    cure = "" if row_number is not None else "; to name it by an id, name the column: --id NAME"
    raise DataError(f"{start}the rows are 1 to {rows:,}{cure}")
