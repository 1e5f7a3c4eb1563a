"""A model that answers requests: loaded from a file, checked, and identified by its bytes."""

import hashlib
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from pinesy._common.console import check_stop
from pinesy._common.files import as_path, wrap_read_errors
from pinesy._common.names import column_slices
from pinesy._version import __version__
from pinesy.engine.program import Program
from pinesy.exceptions import DataError, PinesyError, placed
from pinesy.explanations.decision import Decision
from pinesy.explanations.labels import Wording
from pinesy.explanations.sample import SamplePlan, plan_for
from pinesy.guarantees import SelectiveRules
from pinesy.guarantees.decide import cascade_of
from pinesy.model.storage import load_propositional, load_rules
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.readable_rules import equation_of, is_generated, is_inner
from pinesy.rules.attributes import Attribute
from pinesy.samples.file_layout import json_value, value_texts
from pinesy.serve.sample_reader import ReadSample, SampleReader
from pinesy.transforms import as_transform
from pinesy.verdicts import Verdict

#: Times that a file is read again that changes while it is read.
ATTEMPTS = 3
#: Rules of a model whose texts are written into the log, at most, and their characters.
MAX_RULES, MAX_TEXT = 10_000, 1_000_000
Answer = dict[str, Any]


@dataclass(frozen=True, eq=False)
class ServedModel:
    """Rules that answer requests, with the threshold from which they decide if they have one.

    Attributes
    ----------
    path : the file
    sha256 : of the bytes of the file, in hexadecimal
    rules : the rules
    selective : the rules with a threshold, of possibilities; None without a threshold
    transform : the name of the transformation of probabilities, ``"none"`` for possibilities
    reader : reads samples
    loaded : when it was loaded, in seconds since 1970
    """

    path: Path
    sha256: str
    rules: Cascade
    selective: SelectiveRules | None
    transform: str
    reader: SampleReader
    loaded: float

    @classmethod
    def load(
        cls,
        path: Path | str,
        transform: str = "none",
        ids: Iterable[str] = (),
        optional: Iterable[str] = (),
    ) -> "ServedModel":
        """Load a model from a file: rules as text or JSON, learned, induced or calibrated ones.

        Parameters
        ----------
        path : a ``.rules``, ``.json`` or ``.zip`` file; of the last one the rules answer
        transform : makes possibilities of the degrees of samples; ``"none"`` if they are some
        ids : names that samples may have beside the inputs
        optional : inputs that samples need not have; they are unknown then
        """
        path = as_path(path)
        rules, selective, digest = _load_unchanged(path)
        name = transform if transform == "none" else as_transform(transform).name
        if selective is not None:
            with placed(str(path)):
                selective = selective.for_possibilities(name.replace("_", "-"))
        change = None if name == "none" else as_transform(name)
        reader = SampleReader(rules, rules.inputs, change, ids, optional)
        return cls(path, digest, rules, selective, name, reader, time.time())

    @cached_property
    def identity(self) -> dict[str, str]:
        """What identifies the model in answers and in the log."""
        return {"sha256": self.sha256, "file": self.path.name, "pinesy": __version__}

    @property
    def outputs(self) -> tuple[Attribute, ...]:
        """The attributes that are inferred: those that no premise uses."""
        return self.rules.outputs

    @cached_property
    def decided_outputs(self) -> tuple[Attribute, ...]:
        """The attributes that the threshold decides on."""
        assert self.selective is not None
        return tuple(self.rules[name].output for name in self.selective.outputs)

    def check(self) -> None:
        """Answer a sample of which nothing is known; raise what that raises.

        It compiles all programs, so that the first request need not.
        """
        samples, _ = self.reader.read([dict.fromkeys(a.name for a in self.rules.inputs)])
        with placed(f"{self.path}: the check by a sample of which nothing is known"):
            self.infer(samples)
            if self.selective is not None:
                self.decide(samples)

    @cached_property
    def interface(self) -> dict[str, Any]:
        """What clients rely on: the inputs and outputs with their values, and a threshold."""
        names = {"input": self.rules.inputs, "output": self.outputs}
        content: dict[str, Any] = {
            f"{kind} {a.name!r}": "a number" if a.scale is not None else a.domain
            for kind, attributes in names.items()
            for a in attributes
        }
        if self.selective is not None:
            content["threshold"] = self.selective.outputs
        return content

    def changes_to(self, other: "ServedModel") -> list[str]:
        """Return what another model changes of the interface, as texts."""
        before, after = self.interface, other.interface
        gone = [f"it has no {key}" for key in before if key not in after]
        new = [f"it has the new {key}" for key in after if key not in before]
        changed = [
            f"the {key} has other values"
            for key in before
            if key in after and before[key] != after[key]
        ]
        return [*gone, *new, *changed]

    # --- answers ----------------------------------------------------------------------------------

    @cached_property
    def _wording(self) -> Wording:
        return Wording.of(None, self.rules.attributes)

    @cached_property
    def _texts(self) -> dict[str, list[str]]:
        """The names of the values of each attribute that rules conclude on, by its name."""
        return {name: value_texts(s.output) for name, s in self.rules.sets.items()}

    @cached_property
    def _plans(self) -> dict[str, tuple[SamplePlan, Program, Any, frozenset[str]]]:
        """By output: plan, program, the columns of a row (None for all), and the inputs."""
        slices = column_slices(self.rules.inputs)
        decided = () if self.selective is None else self.decided_outputs
        plans: dict[str, tuple[SamplePlan, Program, Any, frozenset[str]]] = {}
        for output in (*self.outputs, *decided):
            program = self.rules.compile([output.name])
            spans = [slices[a.name] for a in program.inputs]
            columns = np.concatenate([np.arange(span.start, span.stop) for span in spans])
            names = frozenset(a.name for a in program.inputs)
            is_all = program.inputs == self.rules.inputs
            plan = plan_for(self.rules, output)
            plans[output.name] = plan, program, None if is_all else columns, names
        return plans

    def verdict(self, sample: ReadSample, output: Attribute) -> Verdict:
        """Return the verdict on an output of a sample."""
        plan, program, columns, names = self._plans[output.name]
        row, plain_values = sample.row, sample.plain_values
        if columns is not None:
            row = row[columns]
            plain_values = {n: v for n, v in plain_values.items() if n in names}
        return Verdict(Decision(plan, row, program, plain_values), self._wording)

    @cached_property
    def _written(self) -> frozenset[str]:
        """The outputs of rule sets that somebody wrote: a function stands for the rules of others.

        Readers do not name inner attributes either.
        """
        names = self.rules.attributes
        return frozenset(
            name
            for name, rule_set in self.rules.sets.items()
            if not is_inner(rule_set.output, names)
            and not is_generated(rule_set)
            and equation_of(rule_set) is None
        )

    def rule_numbers(self, verdict: Verdict) -> list[int]:
        """Return the numbers of the rules that decide; of a contradiction, of those that clash.

        Rules that a function stands for, and the lines of score cards, have no numbers here.
        """
        if verdict.points:
            return []
        if verdict.clash is not None:
            return sorted(verdict.clash.groups[0])
        number, written = self.rules.rule_number, self._written
        return sorted(
            {
                number(step.attribute.name, index)
                for step in verdict.chain
                if step.attribute.name in written
                for index in step.rules
            }
        )

    def infer(self, samples: Sequence[ReadSample]) -> list[Answer]:
        """Return the answers to samples: what ``pinesy infer`` gives, with reasons and rules."""
        answers = []
        for sample in samples:
            check_stop()
            outputs = {a.name: self._inferred(sample, a) for a in self.outputs}
            answers.append(self.reader.ids_of(sample.content) | {"outputs": outputs})
        return answers

    def _inferred(self, sample: ReadSample, output: Attribute) -> Answer:
        verdict = self.verdict(sample, output)
        pi = verdict.distribution
        degrees = pi.degrees.tolist()
        texts, certainty = self._texts[output.name], pi.certainty
        return {
            "answer": verdict.answer,
            "outcome": verdict.outcome,
            "best": json_value(pi.best),
            "best_values": [json_value(value) for value in pi.best_values],
            "certainty": certainty if certainty == certainty else None,
            "contradiction": pi.contradiction,
            "possibility": {t: d for t, d in zip(texts, degrees, strict=True) if d > 0.0},
            "because": verdict.because,
            "rules": self.rule_numbers(verdict),
        }

    def explain(self, samples: Sequence[ReadSample]) -> list[Answer]:
        """Return the verdicts on samples: `pinesy.verdicts.verdict_schema` describes them."""
        answers = []
        for sample in samples:
            check_stop()
            outputs = {a.name: self.verdict(sample, a).to_dict() for a in self.outputs}
            answers.append(self.reader.ids_of(sample.content) | {"outputs": outputs})
        return answers

    def decide(self, samples: Sequence[ReadSample]) -> list[Answer]:
        """Return which samples are decided, and how; the others are handed over."""
        if self.selective is None:
            raise DataError(
                f"{self.path.name} has no threshold from which cases are decided; test one on "
                f"other samples: pinesy calibrate {self.path.name} DATA -o MODEL.json --error "
                "0.01, and serve MODEL.json"
            )
        decisions = self.selective.decisions(np.stack([sample.row for sample in samples]))
        answers = []
        for row, sample in enumerate(samples):
            check_stop()
            is_decided, certainty = bool(decisions.decided[row]), float(decisions.certainty[row])
            outputs = {}
            for output in self.decided_outputs:
                best = json_value(output.domain[int(decisions.answers.best[output.name][row])])
                verdict = self.verdict(sample, output)
                outputs[output.name] = {
                    "best": best if is_decided else None,
                    "best_values": [best],
                    "because": verdict.because,
                    "rules": self.rule_numbers(verdict),
                }
            answers.append(
                self.reader.ids_of(sample.content)
                | {
                    "answer": decisions.text(row),
                    "outcome": "decided" if is_decided else "handed_over",
                    "certainty": certainty,
                    "outputs": outputs,
                }
            )
        return answers

    @cached_property
    def rule_texts(self) -> list[str] | None:
        """The rules in the order of their numbers, for the log; None if they are very many."""
        if sum(map(len, self.rules.stated)) > MAX_RULES:
            return None
        texts = [rule.line() for rule_set in self.rules.stated for rule in rule_set.rules]
        return texts if sum(map(len, texts)) <= MAX_TEXT else None


def _load_unchanged(path: Path) -> tuple[Cascade, SelectiveRules | None, str]:
    """Return the rules in a file, the threshold if it has one, and the digest of what was read."""
    for _ in range(ATTEMPTS):
        before = _digest(path)
        try:
            model = _rules_of(path)
        except PinesyError:
            if _digest(path) == before:
                raise
            continue
        if _digest(path) == before:
            return *model, before
    raise DataError(f"{path}: changes while it is read; replace it by a rename, as pinesy does")


def _rules_of(path: Path) -> tuple[Cascade, SelectiveRules | None]:
    if path.suffix != ".json":
        return load_rules(path), None
    model = load_propositional(path)
    if isinstance(model, SelectiveRules):
        return model.rules, model
    return cascade_of(model), None


def _digest(path: Path) -> str:
    with wrap_read_errors(path), path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
