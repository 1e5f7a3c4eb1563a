"""The rows of a data file, read in the background, and the labels that were changed by hand."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from threading import Event, Lock, Thread
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy._common.validation import check_sample
from pinesy.evidence.targets import Target
from pinesy.exceptions import DataError, PinesyError
from pinesy.rules.attributes import Attribute
from pinesy.samples import Batch, evidence_of

Images = Mapping[str, npt.NDArray[np.uint8]]


class RowTable:
    """Samples by index, read in the background; they can be used while others are read.

    Parameters
    ----------
    batches : starts reading, and returns batches; None without data
    inputs : the attributes, in the order of the columns of the evidence
    images : for inputs, by name, the image (h, w) of each sample, where there are some

    Attributes
    ----------
    problem : the error of the first row that cannot be read; None if there is none

    Memory: the degrees of all samples.
    """

    def __init__(
        self,
        batches: Callable[[], Iterable[Batch]] | None = None,
        inputs: Sequence[Attribute] = (),
        images: Images | None = None,
    ) -> None:
        self.inputs = tuple(inputs)
        self.images = images or {}
        self.problem: str | None = None
        self._parts: list[Batch] = []
        self._ends: list[int] = []
        self._lock, self._stopped, self._finished = Lock(), Event(), Event()
        if batches is None:
            self._finished.set()
        else:
            Thread(target=self._read, args=[batches], daemon=True, name="pinesy-rows").start()

    def _read(self, batches: Callable[[], Iterable[Batch]]) -> None:
        try:
            for batch in batches():
                if self._stopped.is_set():
                    return
                with self._lock:
                    self._parts.append(batch)
                    self._ends.append(len(self) + len(batch))
        except PinesyError as error:
            self.problem = str(error)
        except Exception as error:  # nothing else catches it in a thread
            self.problem = f"the data cannot be read: {type(error).__name__}: {error}"
        finally:
            self._finished.set()

    def stop(self) -> None:
        """Stop reading."""
        self._stopped.set()

    @property
    def finished(self) -> bool:
        """Whether reading has ended."""
        return self._finished.is_set()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until all rows are read; return whether they are."""
        return self._finished.wait(seconds)

    def __len__(self) -> int:
        """Return how many rows there are so far."""
        return self._ends[-1] if self._ends else 0

    def batch(self) -> Batch:
        """Return all samples as one batch, once they are read."""
        self.wait()
        if self.problem is not None:
            raise DataError(self.problem)
        with self._lock:
            if len(self._parts) > 1:
                self._parts, self._ends = [Batch.joined(self._parts)], [len(self)]
            return self._parts[0]

    def line(self, row: int) -> int:
        """Return the line of a sample in the file."""
        part, index = self._find(row)
        return int(part.lines[index])

    def ids(self, row: int) -> dict[str, str]:
        """Return the ids of a sample, by column."""
        part, index = self._find(row)
        return {title: str(name) for title, name in part.ids_of(index).items()}

    def find(self, text: str) -> int | None:
        """Return the first sample that has an id; None if there is none so far."""
        with self._lock:
            start = 0
            for part in self._parts:
                for entries in part.ids.values():
                    for row, entry in enumerate(entries):
                        if str(entry) == text:
                            return start + row
                start += len(part)
        return None

    def sample(self, row: int) -> dict[str, Any]:
        """Return the evidence on each input of a sample."""
        part, index = self._find(row)
        return evidence_of(part, index, self.inputs)

    def targets(self, row: int) -> dict[str, int | list[float]]:
        """Return the targets of a sample: indices of values, or degrees."""
        part, index = self._find(row)
        return {name: target.array[index].tolist() for name, target in part.targets.items()}

    def _find(self, row: int) -> tuple[Batch, int]:
        """Return the batch of a sample, and the index of the sample in it."""
        with self._lock:
            if not len(self) and self.finished:
                raise DataError("there is no data to take a row of")
            if not 0 <= row < len(self):
                so_far = "" if self.finished else " so far"
                raise DataError(f"there is no row {row + 1:,}; the data has {len(self):,}{so_far}")
            part_index = bisect_right(self._ends, row)
            part = self._parts[part_index]
            return part, row - (self._ends[part_index] - len(part))


@dataclass(frozen=True)
class LabelEdit:
    """An edited label of one sample.

    Attributes
    ----------
    row, attribute : the index of the sample, and the attribute of the label
    was, now : indices in the domain
    """

    row: int
    attribute: Attribute
    was: int
    now: int


class LabelEdits:
    """The edits of the labels of some rows, in the order in which they were made.

    Attributes
    ----------
    version : counts the changes, so that what was computed with other labels is seen to be old
    """

    def __init__(self) -> None:
        self.version = 0
        self._edits: list[LabelEdit] = []
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._edits)

    def of(self, targets: Mapping[str, Target]) -> list[LabelEdit]:
        """Return the edits of present attributes: the rules may have changed since."""
        known = {target.attribute for target in targets.values()}
        return [edit for edit in list(self._edits) if edit.attribute in known]

    def add(self, batch: Batch, row: int, name: str, index: int) -> None:
        """Change a label."""
        with self._lock:
            target = values_of(self.apply(batch).targets, name)
            was = int(target.labels[check_sample(row, len(target))])
            self._edits.append(LabelEdit(row, target.attribute, was, index))
            self.version += 1

    def undo(self) -> LabelEdit:
        """Undo the last edit."""
        with self._lock:
            if not self._edits:
                raise DataError("no label was changed: there is nothing to undo")
            self.version += 1
            return self._edits.pop()

    def apply(self, batch: Batch) -> Batch:
        """Return the samples with edited labels; other arrays are shared."""
        edits, targets = self.of(batch.targets), dict(batch.targets)
        for attribute in {edit.attribute for edit in edits}:
            labels = values_of(targets, attribute.name).labels.copy()
            for edit in edits:
                if edit.attribute == attribute:
                    labels[edit.row] = edit.now
            targets[attribute.name] = Target.at(labels, attribute)
        return replace(batch, targets=targets) if edits else batch


def values_of(targets: Mapping[str, Target], name: str) -> Target:
    """Return the targets of an attribute, which must be values."""
    target = targets.get(name)
    if target is None:
        raise DataError(f"the data has no labels of {name!r:.60}")
    if target.is_graded:
        raise DataError(f"the labels of {name!r} are distributions; only values can be changed")
    return target
