"""The command ``pinesy backprop``."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from pinesy._common.validation import suggestion
from pinesy.cli.found import Answer, answer_writer, believed, propagated
from pinesy.cli.options import (
    All,
    BatchSize,
    DataFile,
    OutputFile,
    RulesFile,
    Transform,
    TransformName,
    check_output,
)
from pinesy.cli.output import open_output, progress
from pinesy.cli.values import by_name, find_value, source_of
from pinesy.exceptions import DataError, UnknownAttributeError
from pinesy.inverse import backpropagate, posterior
from pinesy.model.storage import load_rules
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.targets import Target
from pinesy.rules.attributes import Attribute
from pinesy.samples import Batch, read_samples


class BackpropFormat(StrEnum):
    """How target inputs are written; json and jsonl are both JSON Lines."""

    TABLE = "table"
    JSON = "json"
    JSONL = "jsonl"


Wanted = Annotated[
    list[str] | None,
    typer.Option(
        "--target",
        metavar="NAME[=VALUE]",
        help="Use this attribute's targets of the file, or this value for all samples "
        "(repeatable). By default all targets of the file.",
    ),
]
Belief = Annotated[
    bool, typer.Option("--belief", help="Condition what is believed of the inputs on the targets.")
]
FORM_HELP = "By default table on a terminal, or json (JSON Lines)."
Form = Annotated[BackpropFormat | None, typer.Option("--format", help=FORM_HELP)]


def backprop(
    rules: RulesFile,
    data: DataFile,
    target: Wanted = None,
    transform: TransformName = Transform.NONE,
    belief: Belief = False,
    form: Form = None,
    output: OutputFile = None,
    batch: BatchSize = 10_000,
    everything: All = False,
) -> None:
    """Print the target inputs of every sample."""
    screen = output is None and sys.stdout.isatty()
    form = form or (BackpropFormat.TABLE if screen else BackpropFormat.JSON)
    if output is not None:
        check_output(output, [output.suffix], [rules, data])
    asked = _Targets.of(load_rules(rules), target or ())
    source, size = source_of(data)
    bar = output is not None or form is BackpropFormat.TABLE or not sys.stdout.isatty()
    with open_output(output) as stream, progress(size, bar) as advance:
        answers = answer_writer(form == BackpropFormat.TABLE, stream, everything)
        for samples in asked.read(source, transform, batch):
            for answer in asked.answers(samples, data, belief):
                answers.add(answer)
            advance(len(samples), samples.position)
        answers.finish()


@dataclass(frozen=True)
class _Targets:
    """What should be inferred: values for all samples, or what a file gives for each."""

    cascade: Cascade
    fixed: Mapping[str, int]
    chosen: Sequence[str]

    @classmethod
    def of(cls, cascade: Cascade, texts: Sequence[str]) -> "_Targets":
        """Read ``NAME`` and ``NAME=VALUE`` as the command line gives them."""
        known = {s.output.name: s.output for s in cascade.order}
        fixed: dict[str, int] = {}
        chosen: list[str] = []
        for text in texts:
            name, value = _split(text, known)
            if name in fixed or name in chosen:
                raise typer.BadParameter(f"{name} has one already", param_hint="--target")
            if value is None:
                chosen.append(name)
            else:
                fixed[name] = known[name].position(find_value(known[name], value))
        return cls(cascade, fixed, chosen)

    def read(self, source: Any, transform: Transform, batch: int) -> Iterator[Batch]:
        """Read the samples, with those targets that count."""
        cascade = self.cascade
        outputs = [s.output for s in cascade.order]
        alone = bool(self.fixed) and not self.chosen
        wanted = [] if alone else [a for a in outputs if not self.chosen or a.name in self.chosen]
        return read_samples(
            source,
            cascade.inputs,
            targets=wanted,
            known=outputs,
            transform=transform.function,
            batch=batch,
        )

    def answers(self, samples: Batch, data: Path, belief: bool) -> Iterator[Answer]:
        """Return the answer for each sample of a batch."""
        inputs = by_name(samples.evidence, self.cascade.inputs)
        targets = self._complete(samples, data)
        if belief:
            return believed(posterior(self.cascade, inputs, targets), samples.lines)
        return propagated(backpropagate(self.cascade, inputs, targets), samples.lines)

    def _complete(self, samples: Batch, data: Path) -> dict[str, Target]:
        """Return the targets of the file and those for all samples."""
        missing = [name for name in self.chosen if name not in samples.targets]
        if missing:
            raise DataError(
                f"{data}: no targets for {missing[0]} in it, as --target asks; give one for all "
                f"samples: --target {missing[0]}=VALUE"
            )
        if not samples.targets and not self.fixed:
            name = self.cascade.outputs[0].name
            raise DataError(f"{data}: no targets in it; give some: --target {name}=VALUE")
        return samples.targets | {
            name: Target.at(np.full(len(samples), place), self.cascade[name].output)
            for name, place in self.fixed.items()
        }


def _split(text: str, known: Mapping[str, Attribute]) -> tuple[str, str | None]:
    """Return the name of an attribute and a value, if there is one; both may hold ``=``."""
    if text in known:
        return text, None
    for name in sorted(known, key=len, reverse=True):
        if text.startswith(f"{name}="):
            return name, text.removeprefix(f"{name}=")
    name = text.partition("=")[0]
    raise UnknownAttributeError(
        f"--target: no rule set concludes on {name!r}{suggestion(name, known)}"
    )
