"""The command ``pinesy calibrate``."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

import pinesy
from pinesy._common.validation import listed
from pinesy.calibration import CalibratedAnswers, CalibratedRules
from pinesy.cli import options
from pinesy.cli.output import say
from pinesy.cli.training_files import TrainingFiles
from pinesy.evidence.targets import Target
from pinesy.exceptions import DataError
from pinesy.learning import LearnedRules
from pinesy.model.storage import load
from pinesy.rulebase.cascade import Cascade
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
More = Annotated[bool, typer.Option("--more", help="Add samples to the calibration of MODEL.")]
Level = Annotated[
    float | None,
    typer.Option(
        metavar="LEVEL",
        help="Of rules that pinesy calibrate has seen: the values that are not excluded at this "
        "level, such as 0.95.",
    ),
]


def calibrate(
    rules: options.RulesFile,
    data: options.SamplesFile,
    output: options.ModelOutput,
    of: Of = None,
    unit: Unit = "sample",
    class_conditional: ByClass = False,
    exceptions: Exceptions = None,
    more: More = False,
    *,
    how: options.TrainingOptions,
) -> None:
    """Calibrate rules or a learned model, so that the sets of a level are guaranteed.

    The samples must be others than those of learning. Data is as for pinesy
    learn. A sample has true answers (targets), or the true values of all inputs,
    in columns called "true NAME":
      {"left": {"3": 1.0, "8": 0.4}, "right": 5, "true left": 3, "true right": 5}
    With true inputs the rules carry the guarantee to all their answers, where
    the rules hold; with answers too, it is counted how often they do not.
    With answers alone the guarantee holds for any rules.

    The model is a .json file that every command takes. pinesy infer, explain and
    evaluate have --level, and need data read with the same --transform. Of the
    samples only counts are written.

    [bold]Examples[/bold]
      pinesy calibrate model.json held-out.csv -o calibrated.json
      pinesy infer calibrated.json new.csv --level 0.95
      pinesy calibrate calibrated.json more.csv -o calibrated.json --more
    """
    options.check_output(output, [".json"], [None if more else rules, data])
    model = _model(rules)
    cascade, learned = _parts(model)
    files = TrainingFiles(cascade, how)
    named = {TRUE + a.name: a for a in cascade.inputs if TRUE + a.name not in cascade.attributes}
    files.targets = [*files.targets, *(a.renamed(name, a.factors) for name, a in named.items())]
    _check_unseen(files, data, learned)
    samples = files.whole(data)
    truth = _truth(samples.targets, named, of, data)
    if more:
        calibrated = _extended(rules, how.transform, samples.evidence, truth)
    else:
        calibrated = pinesy.calibrate(
            learned or cascade,
            samples.evidence,
            truth,
            unit=unit,
            class_conditional=class_conditional,
            exceptions=exceptions,
        )
    if isinstance(calibrated, CalibratedAnswers) and how.transform != "none":
        calibrated = replace(calibrated, probabilities=how.transform.replace("-", "_"))
    pinesy.save(calibrated, output)
    n = calibrated.transform.n
    say(f"{calibrated.guarantee}\nThe highest level is {n / (n + 1):.6g}.\nwritten to {output}")


def _model(path: Path) -> Any:
    if path.suffix == ".zip":
        raise DataError(
            f"{path}: a neuro-symbolic model is calibrated with its samples, in Python: "
            "model.calibrate(samples, concepts)"
        )
    return pinesy.load(path)


def _parts(model: Any) -> tuple[Cascade, LearnedRules | None]:
    """Return rules, and how they were learned if that is known."""
    if isinstance(model, CalibratedRules):
        return model.rules, model.learned
    return (model.cascade, model) if isinstance(model, LearnedRules) else (model, None)


def _check_unseen(files: TrainingFiles, data: Path, learned: LearnedRules | None) -> None:
    """Refuse a file that the rules were learned from."""
    known = [one for one in learned.data if isinstance(one, dict)] if learned else []
    if known and files.fingerprint(data)["sha256"] in [one.get("sha256") for one in known]:
        raise DataError(
            f"{data}: the model was learned from this file, which breaks the guarantee; calibrate "
            "on samples that were set aside before"
        )


def _truth(
    targets: dict[str, Target], named: dict[str, Attribute], of: str | None, data: Path
) -> dict[str, Target]:
    """Return the true values to calibrate by: those of inputs (and answers), or answers."""
    answers = {name: target for name, target in targets.items() if name not in named}
    missing = [name for name in named if name not in targets]
    if of == "answers" or (of is None and missing):
        if not answers:
            raise DataError(f"{data}: there are no true answers in it, and no {listed(missing)}")
        return answers
    if missing:
        raise DataError(
            f"{data}: there is no {listed(missing)} in it; inputs are calibrated by the true "
            "values of all of them; or give --of answers"
        )
    return {a.name: _of(a, targets[name]) for name, a in named.items()} | answers


def _of(attribute: Attribute, target: Target) -> Target:
    """Return true values of an input, which were read under another name."""
    if target.is_graded:
        raise DataError(f"{TRUE + attribute.name!r} has distributions; give one value a sample")
    return Target.at(target.labels, attribute)


def _extended(
    path: Path, transform: str, evidence: Any, truth: dict[str, Target]
) -> CalibratedRules:
    """Return the calibration of a file by more samples."""
    calibrated = calibrated_rules(path, transform, [])
    if isinstance(calibrated, CalibratedAnswers):
        truth = {name: target for name, target in truth.items() if name in calibrated.outputs}
    return calibrated.calibrate_more(evidence, truth)


def calibrated_rules(path: Path, transform: str, levels: list[float]) -> CalibratedRules:
    """Return calibrated rules that take evidence as it is read from files: possibilities."""
    calibrated = load(path) if path.suffix == ".json" else None
    if not isinstance(calibrated, CalibratedRules):
        raise DataError(
            f"{path}: is not calibrated, so nothing is guaranteed at any level; calibrate on other "
            f"samples first: pinesy calibrate {path} DATA -o CALIBRATED.json"
        )
    if calibrated.transform.is_weighted:
        raise DataError(
            f"{path}: was calibrated with weights, so new samples need theirs, which commands do "
            f"not take; use Python: pinesy.load({path.name!r}).predict_set(evidence, level, "
            "weights=...), or calibrate_more(..., weights)"
        )
    for level in levels:
        calibrated.transform.check_level(level)
    if isinstance(calibrated, CalibratedAnswers) and calibrated.probabilities is not None:
        wanted = calibrated.probabilities.replace("_", "-")
        if transform != wanted:
            raise DataError(f"{path}: was calibrated with --transform {wanted}; give the same")
        return replace(calibrated, probabilities=None)
    return calibrated
