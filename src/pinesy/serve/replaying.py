"""`replay`: which decisions of a log another model would make otherwise."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from pinesy._common.names import column_slices
from pinesy._common.validation import listed, suggestion
from pinesy.exceptions import DataError
from pinesy.rules.possibility import Possibility
from pinesy.samples import Batch
from pinesy.samples.conversion import unseen_notices
from pinesy.samples.file_layout import json_value, value_texts
from pinesy.serve.decision_log import LogLine, LogReader
from pinesy.serve.replay_report import Difference, GroupCount, ReplayReport
from pinesy.serve.served_model import ServedModel

#: Decisions that are inferred at a time.
BATCH = 10_000
#: Differences whose rules are computed.
MAX_EXPLAINED = 10_000
#: The group of samples that have none.
NO_GROUP = "(none)"
#: An answer as it is compared.
Result = dict[str, Any]


def replay(
    logs: Iterable[Path | str],
    model: Path | str,
    *,
    group: str | None = None,
    skip_bad_lines: bool = False,
    allow_missing: bool = False,
) -> ReplayReport:
    """Return which decisions of a log a new model would make otherwise, and by which rules.

    A decision is the outcome and the best value of one output of one sample. Degrees are compared
    bit for bit.

    Parameters
    ----------
    logs : files that the service wrote, with the inputs in full
    model : the file of the new model
    group : an input, or another name of the logged samples, by which differences are counted
    skip_bad_lines : skip lines that cannot be read; a last line that is cut off always is
    allow_missing : take inputs as unknown that the log does not have

    Raises
    ------
    DataError : with the file and line that cannot be replayed
    """
    reader = LogReader(skip_bad_lines)
    replaying = _Replay(Path(model), group, allow_missing)
    n_files = 0
    for path in logs:
        n_files += 1
        lines = reader.lines(path)
        while batch := list(islice(lines, BATCH)):
            replaying.add(batch)
    if not n_files:
        raise DataError("no log is given; give the file that pinesy serve --log wrote")
    return replaying.finish(reader.notices)


class _Replay:
    """Compares the lines of logs with the answers of a model.

    Attributes
    ----------
    report : what was counted until now
    """

    def __init__(self, path: Path, group: str | None, allow_missing: bool) -> None:
        self.path, self.group, self.allow_missing = path, group, allow_missing
        self.report = ReplayReport(column=group)
        self._models: dict[str, ServedModel] = {}
        self._rules: dict[str, list[str] | None] = {}
        self._inputs: dict[str, list[str]] = {}
        self._ignored: dict[str, None] = {}
        self._missing: dict[str, None] = {}
        self._notices: dict[str, None] = {}
        self._is_group_known = group is None
        self._names = set[str]()

    def add(self, lines: Sequence[LogLine]) -> None:
        """Compare the decisions of some lines of one file."""
        kinds: dict[tuple[str, str], list[LogLine]] = {}
        for line in lines:
            if line.record["kind"] == "model":
                self._rules[line.record["model"]] = line.record.get("rules")
                self._inputs[line.record["model"]] = line.record.get("inputs") or []
                continue
            if "inputs" not in line.record:
                raise DataError(
                    f"{line.file}, line {line.number}: the inputs are not in the log, so this "
                    "decision cannot be replayed; log them by pinesy serve --log-inputs full"
                )
            kinds.setdefault((line.record["transform"], line.record["endpoint"]), []).append(line)
        for (transform, endpoint), members in kinds.items():
            self._compare(members, self._model(transform, members[0]), endpoint)

    def finish(self, notices: Iterable[str]) -> ReplayReport:
        """Return the report of all lines."""
        report = self.report
        if not report.total.decisions:
            raise DataError("there are no decisions in the log")
        if not self._is_group_known:
            raise DataError(f"no sample of the log has {self.group!r}{self._group_hint}")
        if self._ignored:
            names = listed([*self._ignored])
            report.notices.append(f"not an input of the new model, and ignored: {names}")
        if self._missing:
            names = listed([*self._missing])
            report.notices.append(f"not in the log, and taken as unknown: {names}")
        report.notices += [*self._notices, *notices]
        report.differences.sort(key=lambda d: (d.file, d.line, d.output))
        report.groups = dict(sorted(report.groups.items(), key=lambda g: (-g[1].share, g[0])))
        texts = {text for rules in self._rules.values() for text in rules or ()}
        new = set[str]()
        for model in self._models.values():
            new |= set(model.rule_texts or ())
        if texts and new:
            report.removed, report.added = texts - new, new - texts
        return report

    def _model(self, transform: str, line: LogLine) -> ServedModel:
        """Return the new model for samples of a transformation."""
        if transform not in self._models:
            content = line.record["inputs"]
            optional: Sequence[str] = ()
            model = ServedModel.load(self.path, transform)
            missing = [a.name for a in model.rules.inputs if a.name not in content]
            if missing and not self.allow_missing:
                raise DataError(
                    f"{line.file}, line {line.number}: the new model needs {listed(missing)}, "
                    "which the log does not have; --allow-missing takes it as unknown"
                )
            if self.allow_missing:
                optional = [a.name for a in model.rules.inputs]
                self._missing |= dict.fromkeys(missing)
                model = ServedModel.load(self.path, transform, optional=optional)
            self._models[transform] = model
        return self._models[transform]

    def _compare(self, lines: Sequence[LogLine], model: ServedModel, endpoint: str) -> None:
        """Compare decisions of one endpoint, all read by one transformation."""
        known = {a.name for a in model.rules.inputs}
        contents = []
        for line in lines:
            sample = line.record["inputs"]
            self._names |= sample.keys()
            contents.append({name: sample[name] for name in sample if name in known})
            logged = self._inputs.get(line.record["model"], ())
            self._ignored |= dict.fromkeys(name for name in logged if name not in known)
        numbers, file = [line.number for line in lines], lines[0].file
        batch = model.reader.batch(contents, numbers, file, "line")
        for row, results in enumerate(self._results(model, batch, endpoint, lines[0])):
            self._add_sample(lines[row], results, model, batch, row)
        self._notices |= dict.fromkeys(unseen_notices(batch.unseen))

    def _results(
        self, model: ServedModel, batch: Batch, endpoint: str, line: LogLine
    ) -> Iterator[dict[str, Result]]:
        """Yield the answers of the new model to each sample, by output."""
        if endpoint == "decide":
            yield from self._decisions(model, batch, line)
            return
        names = [a.name for a in model.outputs]
        program = model.rules.compile(names)
        slices = column_slices(model.rules.inputs)
        inferred = program.infer(
            {a.name: batch.evidence[:, slices[a.name]] for a in program.inputs}
        )
        columns = {name: _inferred_results(inferred[name]) for name in names}
        for parts in zip(*columns.values(), strict=True):
            yield dict(zip(columns, parts, strict=True))

    def _decisions(
        self, model: ServedModel, batch: Batch, line: LogLine
    ) -> Iterator[dict[str, Result]]:
        if model.selective is None:
            raise DataError(
                f"{line.file}, line {line.number}: decided by a threshold, which {self.path} does "
                "not have; make one by pinesy calibrate --error"
            )
        decisions = model.selective.decisions(batch.evidence)
        for row in range(len(batch)):
            is_decided, certainty = bool(decisions.decided[row]), float(decisions.certainty[row])
            results = {}
            for output in model.decided_outputs:
                best = output.domain[int(decisions.answers.best[output.name][row])]
                results[output.name] = {
                    "outcome": "decided" if is_decided else "handed_over",
                    "best": json_value(best) if is_decided else None,
                    "certainty": certainty,
                }
            yield results

    def _add_sample(
        self,
        line: LogLine,
        results: Mapping[str, Result],
        model: ServedModel,
        batch: Batch,
        row: int,
    ) -> None:
        """Compare the decisions on one sample."""
        record = line.record
        group = self._group_of(record["inputs"], model)
        counts = [self.report.total]
        if group is not None:
            counts.append(self.report.groups.setdefault(group, GroupCount()))
        for name, output in record["outputs"].items():
            if name not in results:
                raise DataError(
                    f"{line.file}, line {line.number}: decides on {name!r:.80}, which the new "
                    f"model does not{suggestion(name, results)}"
                )
            before = {key: record.get(key) for key in ("outcome", "certainty")} | output
            after = results[name]
            is_other = _text(before, "outcome", "best") != _text(after, "outcome", "best")
            keys = [key for key in ("certainty", "possibility") if key in after]
            is_shifted = not is_other and _text(before, *keys) != _text(after, *keys)
            for count in counts:
                count.decisions += 1
                count.differ += is_other
                count.shifted += is_shifted
            if is_other:
                self._add_difference(line, name, group, before, after, model, batch, row)

    def _add_difference(
        self,
        line: LogLine,
        name: str,
        group: str | None,
        before: Result,
        after: Result,
        model: ServedModel,
        batch: Batch,
        row: int,
    ) -> None:
        record, rules = line.record, None
        rules_before = [n for n in before.get("rules") or () if isinstance(n, int)]
        if len(self.report.differences) < MAX_EXPLAINED:
            sample = model.reader.sample_of(batch, row, record["inputs"])
            rules = model.rule_numbers(model.verdict(sample, model.rules[name].output))
            old = set(_rule_names(rules_before, self._rules.get(record["model"])))
            new = set(_rule_names(rules, model.rule_texts))
            self.report.rules_before.update(old - new)
            self.report.rules_after.update(new - old)
        else:
            self.report.unexplained += 1
        keys = ("outcome", "best", "certainty")
        self.report.differences.append(
            Difference(
                line.file,
                line.number,
                str(record.get("time", "")),
                str(record.get("request", "")),
                record.get("sample", 0),
                self._ids_of(record, model),
                group,
                name,
                {key: before.get(key) for key in keys},
                {key: after[key] for key in keys},
                rules_before,
                rules,
            )
        )

    def _ids_of(self, record: Mapping[str, Any], model: ServedModel) -> dict[str, Any]:
        """Return what identifies a sample: the names that are no inputs of a model."""
        inputs = {*self._inputs.get(record["model"], ()), *(a.name for a in model.rules.inputs)}
        return {name: entry for name, entry in record["inputs"].items() if name not in inputs}

    def _group_of(self, content: Mapping[str, Any], model: ServedModel) -> str | None:
        """Return the group of a sample: the text of a value, or the interval of a number."""
        if self.group is None:
            return None
        entry = content.get(self.group)
        self._is_group_known = self._is_group_known or self.group in content
        if entry is None or isinstance(entry, dict | list):
            return NO_GROUP
        attribute = model.rules.attributes.get(self.group)
        if attribute is not None and attribute.scale is not None and type(entry) in (int, float):
            index = int(attribute.scale.positions(np.array([float(str(entry))]))[0])
            return value_texts(attribute)[index]
        return entry if isinstance(entry, str) else json.dumps(entry)

    @property
    def _group_hint(self) -> str:
        return suggestion(self.group, sorted(self._names))


def _inferred_results(pi: Possibility) -> Iterator[Result]:
    """Yield what is compared of an output of each sample."""
    texts = value_texts(pi.attribute)
    rows = zip(
        pi.outcome.tolist(), pi.best.tolist(), pi.certainty.tolist(), pi.degrees.tolist(),
        strict=True,
    )  # fmt: skip
    for outcome, best, certainty, degrees in rows:
        yield {
            "outcome": outcome,
            "best": json_value(best),
            "certainty": certainty if certainty == certainty else None,
            "possibility": {t: d for t, d in zip(texts, degrees, strict=True) if d > 0.0},
        }


def _text(result: Result, *keys: str) -> str:
    """Return some parts of an answer as JSON: equal texts have the same bits."""
    return json.dumps([result.get(key) for key in keys], sort_keys=True)


def _rule_names(numbers: Sequence[int], texts: Sequence[str] | None) -> list[str]:
    """Return the texts of rules by their numbers, which count from 1; else the numbers."""
    if texts is None:
        return [f"rule {number}" for number in numbers]
    return [
        texts[number - 1] if 0 < number <= len(texts) else f"rule {number}" for number in numbers
    ]
