"""Files of training samples, for the commands that go through them several times."""

import hashlib
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from pinesy._common.validation import FloatArray, listed
from pinesy.cli import options
from pinesy.cli.output import watched
from pinesy.exceptions import DataError
from pinesy.learning import LearnedRules, LearningResult, ParameterEstimate, learn_more
from pinesy.learning.batches import Batches
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.targets import Target
from pinesy.rules.attributes import Attribute
from pinesy.samples import Batch, SampleFile

#: Samples that take up to this in memory are read once and held; more are read for every pass.
HELD_BYTES = 1 << 28


class TrainingFiles:
    """Files of training samples for some rules, read as options say."""

    def __init__(
        self,
        cascade: Cascade,
        how: options.TrainingOptions,
        optional: Sequence[Attribute] = (),
    ) -> None:
        self.cascade, self.how = cascade, how
        #: What is read: the inputs, then attributes that a file need not have.
        self.inputs = (*cascade.inputs, *optional)
        self._optional = [a.name for a in optional]
        self.names = list(dict.fromkeys(how.target or ()))
        outputs = [s.output for s in cascade.order]
        self.targets = [cascade[name].output for name in self.names] or outputs
        self._files: dict[Path, SampleFile] = {}

    def file(self, path: Path) -> SampleFile:
        """Return a file of samples, to be read as often as needed.

        It is always the same one: it watches that what is read last is what was read first.
        """
        if path not in self._files:
            if str(path) == "-":
                raise DataError(
                    "samples are read several times, so they cannot come from standard input; "
                    "give the name of a file"
                )
            self._files[path] = SampleFile(
                path,
                self.inputs,
                targets=self.targets,
                known=self.cascade.attributes.values(),
                batch=self.how.batch,
                optional=self._optional,
                **self.how.reading,
            )
        return self._files[path]

    def fingerprint(self, path: Path) -> dict[str, Any]:
        """Return what identifies a file of samples, for a model's provenance."""
        return identity(path, self.file(path).fingerprint())

    def batches(self, path: Path) -> Batches:
        """Return the samples of a file, to be gone through several times: held, if they are few."""
        batches = _held(self.file(path))
        self._check_targets(path, next(iter(batches))[1])
        return batches

    def whole(self, path: Path) -> Batch:
        """Return all samples of a file as one batch."""
        file = self.file(path)
        whole = Batch.joined(list(watched(file.batches(), path.name, file.n_bytes)))
        self._check_targets(path, whole.targets)
        return whole

    def pair(self, path: Path) -> tuple[FloatArray, dict[str, Target]]:
        """Return the evidence and the targets of all samples of a file."""
        whole = self.whole(path)
        return whole.evidence, whole.targets

    def _check_targets(self, path: Path, given: Collection[str]) -> None:
        missing = [name for name in self.names if name not in given]
        if missing:
            raise DataError(f"{path}: no targets for {listed(missing)} in it, as --target asks")
        if not given:
            some = listed([a.name for a in self.targets])
            raise DataError(f"{path}: no targets in it; it needs some, for {some}")

    def extended(
        self, model: LearnedRules, data: Path, earlier: Sequence[Path]
    ) -> LearningResult | ParameterEstimate:
        """Add samples to those that a model was learned from."""
        before = model.provenance.get("transform", self.how.transform)
        if before != self.how.transform:
            raise DataError(
                f"the model was learned with --transform {before}, so samples to add need the "
                f"same; got {self.how.transform}"
            )
        self._check_earlier(model, earlier)
        old = ChainedBatches([self.batches(path) for path in earlier]) if earlier else None
        try:
            return learn_more(model.result, self.batches(data), earlier=old, progress=True)
        except DataError as error:  # as the command line calls it
            error.args = (str(error).replace("earlier=...", "--earlier DATA"),)
            raise

    def _check_earlier(self, model: LearnedRules, earlier: Sequence[Path]) -> None:
        """Raise unless the files are those of the provenance, each once, if it tells."""
        noted = model.data
        known = [one for one in noted if isinstance(one, dict) and "sha256" in one]
        if not earlier or not noted or len(known) < len(noted):
            return
        given = sorted(self.fingerprint(path)["sha256"] for path in earlier)
        if given != sorted(one["sha256"] for one in known):
            files = listed([f"{one.get('file')} ({one['sha256'][:8]})" for one in known])
            raise DataError(
                f"--earlier takes what the model was learned from, unchanged and all of it: {files}"
            )


def _held(file: SampleFile) -> Batches:
    """Return the batches in a list, or the file itself if they would take too much memory."""
    held, size = [], 0
    with closing(watched(file.batches(), file.path.name, file.n_bytes)) as batches:
        for batch in batches:
            size += batch.evidence.nbytes + sum(t.array.nbytes for t in batch.targets.values())
            if size > HELD_BYTES:
                return file
            held.append((batch.evidence, batch.targets))
    return held


@dataclass(frozen=True)
class ChainedBatches:
    """Batches of several files, one file after the other, again and again."""

    parts: Sequence[Batches]

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        return chain.from_iterable(self.parts)


def identity(path: Path, digest: str) -> dict[str, Any]:
    """Return what is noted of a file."""
    return {"file": path.name, "bytes": path.stat().st_size, "sha256": digest}


def provenance(rules: Path, transform: str, model: LearnedRules | None) -> dict[str, Any]:
    """Return what is noted of a model, before its data: the rules, or all of the earlier model."""
    if model is None:
        noted = identity(rules, hashlib.sha256(rules.read_bytes()).hexdigest())
        return {"rules": noted, "transform": transform, "data": []}
    return {**model.provenance, "data": model.data}
