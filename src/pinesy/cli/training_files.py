"""Files of training samples, for commands that read them several times."""

import hashlib
from collections.abc import Collection, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from pinesy._common.validation import FloatArray, listed
from pinesy.cli import options
from pinesy.cli.output import with_progress
from pinesy.evidence.targets import Target
from pinesy.exceptions import DataError
from pinesy.learning import LearnedRules
from pinesy.learning.batches import Batches
from pinesy.rulebase.cascade import Cascade
from pinesy.rules.attributes import Attribute
from pinesy.samples import Batch, SampleFile

#: Samples that take up to this in memory are read once and held; more are read for every pass.
HELD_BYTES = 1 << 28


class TrainingFiles:
    """Files of training samples for a rule base, read as the options say."""

    def __init__(
        self,
        cascade: Cascade,
        file_options: options.TrainingOptions,
        optional: Sequence[Attribute] = (),
    ) -> None:
        self.cascade, self.file_options = cascade, file_options
        #: What is read: the inputs, then attributes that a file need not have.
        self.inputs = (*cascade.inputs, *optional)
        self._optional = [a.name for a in optional]
        self.names = list(dict.fromkeys(file_options.target or ()))
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
                batch=self.file_options.batch,
                optional=self._optional,
                **self.file_options.reading,
            )
        return self._files[path]

    def fingerprint(self, path: Path) -> dict[str, Any]:
        """Return what identifies a file of samples, for a model's provenance."""
        return identity(path, self.file(path).fingerprint())

    def batches(self, path: Path) -> Batches:
        """Return the samples of a file for several passes: a list, if memory suffices."""
        file = self.file(path)
        batches: list[tuple[FloatArray, dict[str, Target]]] = []
        size = 0
        with closing(with_progress(file.batches(), path.name, file.n_bytes)) as batches_read:
            for batch in batches_read:
                batches.append((batch.evidence, batch.targets))
                size += batch.evidence.nbytes + sum(t.array.nbytes for t in batch.targets.values())
                if size > HELD_BYTES:
                    break
        self._check_targets(path, batches[0][1])
        return file if size > HELD_BYTES else batches

    def read(self, path: Path) -> Batch:
        """Return all samples of a file as one batch."""
        file = self.file(path)
        samples = Batch.joined(list(with_progress(file.batches(), path.name, file.n_bytes)))
        self._check_targets(path, samples.targets)
        return samples

    def pair(self, path: Path) -> tuple[FloatArray, dict[str, Target]]:
        """Return the evidence and the targets of all samples of a file."""
        samples = self.read(path)
        return samples.evidence, samples.targets

    def _check_targets(self, path: Path, targets: Collection[str]) -> None:
        missing = [name for name in self.names if name not in targets]
        if missing:
            raise DataError(f"{path}: no targets for {listed(missing)} in it, as --target asks")
        if not targets:
            names = listed([a.name for a in self.targets])
            raise DataError(f"{path}: no targets in it; it needs some, for {names}")


def identity(path: Path, digest: str) -> dict[str, Any]:
    """Return the record of a file in the provenance of a model."""
    return {"file": path.name, "bytes": path.stat().st_size, "sha256": digest}


def provenance(rules: Path, transform: str, model: LearnedRules | None) -> dict[str, Any]:
    """Return the provenance of a model without its data: the rules, or the earlier model's."""
    if model is None:
        noted = identity(rules, hashlib.sha256(rules.read_bytes()).hexdigest())
        return {"rules": noted, "transform": transform, "data": []}
    return {**model.provenance, "data": model.data}
