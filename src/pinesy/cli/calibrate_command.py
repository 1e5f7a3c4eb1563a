"""The command ``pinesy calibrate``."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

import pinesy
from pinesy._common.reports import count_text
from pinesy._common.validation import FloatArray, listed
from pinesy.calibration import CalibratedAnswers, CalibratedRules
from pinesy.cli import guaranteed_models, options
from pinesy.cli.output import say, say_lines
from pinesy.cli.training_files import TrainingFiles
from pinesy.evidence.targets import Target
from pinesy.exceptions import DataError, placed
from pinesy.guarantees import GroupedRules, SelectiveRules, calibrate_groups, decide
from pinesy.learning import LearnedRules
from pinesy.model.storage import load_propositional
from pinesy.rules.attributes import Attribute

#: Before the name of an input, that of the column with its true values.
TRUE = "true "

Of = Annotated[
    Literal["inputs", "answers"] | None,
    typer.Option(
        help="Calibrate inputs by their true values, or answers. By default inputs if the file has "
        "the true values of all of them.",
    ),
]
Unit = Annotated[
    Literal["sample", "input"],
    typer.Option(help="Guarantee all inputs of a sample together, or each input alone."),
]
ByClass = Annotated[
    bool, typer.Option("--class-conditional", help="Guarantee each value by itself.")
]
Exceptions = Annotated[
    float | None,
    typer.Option(help="With inputs: the share of cases in which the rules do not hold."),
]
Error = Annotated[
    float | None,
    typer.Option(
        help="Also find the certainty from which cases are decided, so that at most this share of "
        "them is wrong: 0.01 is 1 %. See pinesy infer --decide.",
    ),
]
Confidence = Annotated[
    float, typer.Option(help="With --error: how sure it is that the promise is kept.")
]
Group = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Guarantee each group by itself: a column with the name of each sample's group.",
    ),
]
GroupLevel = Annotated[
    float,
    typer.Option(
        metavar="LEVEL", help="With --group: refuse a group with too few samples for this level."
    ),
]
More = Annotated[bool, typer.Option("--more", help="Add samples to the calibration of MODEL.")]


def calibrate(
    rules: options.RulesFile,
    data: options.SamplesFile,
    output: options.ModelOutput,
    of: Of = None,
    unit: Unit = "sample",
    class_conditional: ByClass = False,
    exceptions: Exceptions = None,
    error: Error = None,
    confidence: Confidence = 0.95,
    group: Group = None,
    level: GroupLevel = 0.95,
    extend: More = False,
    *,
    file_options: options.TrainingOptions,
) -> None:
    r"""Calibrate rules or a learned model, so that the sets of a level are guaranteed.

    The samples must be others than those of learning. Data is as for pinesy
    learn. A sample has true answers (targets), or the true values of all inputs,
    in columns called "true NAME":
      {"left": {"3": 1.0, "8": 0.4}, "right": 5, "true left": 3, "true right": 5}
    With true inputs the rules carry the guarantee to all their answers, where
    the rules hold; with answers too, it is counted how often they do not.
    With answers alone the guarantee holds for any rules.

    With --error, which needs true answers, the model also decides: of the cases
    that it decides at most this share is wrong, with --confidence; the others are
    handed over.

    With --group there is one calibration for each group, and pinesy infer --level
    and evaluate --level read the group of new samples from the same column. A
    sample whose group is blank has the largest set of all groups.

    The model is a .json file that every command takes. pinesy infer, explain and
    evaluate have --level, and need data read with the same --transform. Of the
    samples only counts are written.

    [bold]Examples[/bold]
      pinesy calibrate examples/weather.rules examples/weather_valid.jsonl \
        -o calibrated.json
      pinesy infer calibrated.json new.csv --level 0.95
      pinesy calibrate calibrated.json more.csv -o calibrated.json --more
      pinesy calibrate sum.rules known.csv -o sure.json --error 0.01
      pinesy infer sure.json new.csv --decide
      pinesy calibrate sum.rules known.csv -o fair.json --group camera
    """
    options.check_output_file(output, [".json"], [None if extend else rules, data])
    if rules.suffix == ".zip":
        raise DataError(
            f"{rules}: a neuro-symbolic model is calibrated with its samples, in Python: "
            "model.calibrate(samples, concepts)"
        )
    model = guaranteed_models.without_threshold(load_propositional(rules))
    learned, cascade = None, model
    if isinstance(model, CalibratedRules):
        learned, cascade = model.learned, model.rules
    elif isinstance(model, LearnedRules):
        learned, cascade = model, model.cascade
    clash = f"{group} is an attribute of the rules; give the groups in a column of another name"
    options.refuse_options(
        (extend and group, "--more", "groups are calibrated at once; leave one of them out"),
        (group in cascade.attributes, "--group", clash),
    )
    files = TrainingFiles(cascade, options.with_group_columns(file_options, group))
    true_inputs = {
        TRUE + a.name: a for a in cascade.inputs if TRUE + a.name not in cascade.attributes
    }
    files.targets += [a.renamed(name, a.factors) for name, a in true_inputs.items()]
    known = [source for source in learned.data if isinstance(source, dict)] if learned else []
    if known and files.fingerprint(data)["sha256"] in [source.get("sha256") for source in known]:
        raise DataError(
            f"{data}: the model was learned from this file, which breaks the guarantee; calibrate "
            "on samples that were set aside before"
        )
    samples = files.read(data)
    truth = _truth(samples.targets, true_inputs, of, data)
    grouped: GroupedRules | None = None
    if extend:
        calibrated = guaranteed_models.calibrated_rules(rules, file_options.transform, [])
        if isinstance(calibrated, CalibratedAnswers):
            truth = {name: target for name, target in truth.items() if name in calibrated.outputs}
        calibrated = calibrated.calibrate_more(samples.evidence, truth)
    else:
        calibrated_by: dict[str, Any] = {
            "unit": unit,
            "class_conditional": class_conditional,
            "exceptions": exceptions,
        }
        sources = learned or cascade, samples.evidence, truth
        if group is not None:
            with placed(str(data)):
                grouped = _calibrate_groups(sources, samples.ids, group, level, calibrated_by)
        calibrated = grouped.base if grouped else pinesy.calibrate(*sources, **calibrated_by)
    if isinstance(calibrated, CalibratedAnswers) and file_options.transform != "none":
        calibrated = replace(calibrated, probabilities=file_options.transform.replace("-", "_"))
    guaranteed = calibrated if grouped is None else replace(grouped, base=calibrated)
    texts = [_sizes_text(guaranteed), guaranteed.guarantee]
    saved: CalibratedRules | GroupedRules | SelectiveRules = guaranteed
    if error is not None:
        with placed(str(data)):
            selective = _decide(calibrated, samples.evidence, truth, error, confidence)
        name = None if file_options.transform == "none" else file_options.transform
        saved = replace(selective, model=guaranteed, transform=name and name.replace("-", "_"))
        texts.append(selective.promise)
    pinesy.save(saved, output)
    say_lines("\n".join(texts))
    say(f"written to {output}")


def _calibrate_groups(
    sources: tuple[Any, Any, Any],
    ids: Mapping[str, Sequence[Any]],
    column: str,
    level: float,
    calibrated_by: Mapping[str, Any],
) -> GroupedRules:
    """Calibrate for every group of a column; refuse one with too few samples for a level."""
    grouped = calibrate_groups(*sources, ids[column], **calibrated_by)
    for name, rules in grouped.groups.items():
        with placed(f"group {name!r}"):
            rules.transform.check_level(level)
    return replace(grouped, column=column)


def _sizes_text(guaranteed: CalibratedRules | GroupedRules) -> str:
    """Return the number of samples and the highest level, of each group, as a sentence."""
    if isinstance(guaranteed, CalibratedRules):
        n = guaranteed.transform.n
        return f"Calibrated on {count_text(n, 'sample')}: the highest level is {n / (n + 1):.6g}."
    sizes = {name: rules.transform.n for name, rules in guaranteed.groups.items()}
    highest = [f"{name} {n / (n + 1):.6g}" for name, n in sizes.items()]
    return (
        f"Calibrated in {count_text(len(sizes), 'group')} of {guaranteed.column}; the highest "
        f"levels are {listed(highest)}."
    )


def _decide(
    calibrated: CalibratedRules,
    evidence: FloatArray,
    truth: dict[str, Target],
    error: float,
    confidence: float,
) -> SelectiveRules:
    """Return the rules with the threshold from which they decide on possibilities."""
    answers = {name: target for name, target in truth.items() if name in calibrated.rules.sets}
    if not answers:
        raise DataError("--error needs true answers, and there are none in it")
    if isinstance(calibrated, CalibratedAnswers):
        calibrated = replace(calibrated, probabilities=None)
    return decide(calibrated, evidence, answers, error=error, confidence=confidence)


def _truth(
    targets: dict[str, Target], true_inputs: dict[str, Attribute], of: str | None, data: Path
) -> dict[str, Target]:
    """Return the true values to calibrate by: those of inputs (and answers), or answers."""
    answers = {name: target for name, target in targets.items() if name not in true_inputs}
    missing = [name for name in true_inputs if name not in targets]
    if of == "answers" or (of is None and missing):
        if not answers:
            raise DataError(f"{data}: there are no true answers in it, and no {listed(missing)}")
        return answers
    if missing:
        raise DataError(
            f"{data}: there is no {listed(missing)} in it; inputs are calibrated by the true "
            "values of all of them; or give --of answers"
        )
    truth = {}
    for name, attribute in true_inputs.items():
        if targets[name].is_graded:
            raise DataError(f"{name!r} has distributions; give one value a sample")
        truth[attribute.name] = Target.at(targets[name].labels, attribute)
    return truth | answers
