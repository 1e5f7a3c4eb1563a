"""Labels that were changed by hand: put over those of the data file, which stays as it is."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from threading import Lock

from pinesy._common.validation import check_sample
from pinesy.exceptions import DataError
from pinesy.rulebase.targets import Target
from pinesy.rules.attributes import Attribute
from pinesy.samples import Batch


@dataclass(frozen=True)
class LabelEdit:
    """Another label of one sample.

    Attributes
    ----------
    row, attribute : whose label it is: the number of the sample, and what the label is of
    was, now : places in the domain
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
        """Return the edits of labels that there are: rules may have come to know other values."""
        known = {target.attribute for target in targets.values()}
        return [edit for edit in list(self._edits) if edit.attribute in known]

    def add(self, batch: Batch, row: int, name: str, place: int) -> None:
        """Change a label."""
        with self._lock:
            target = values_of(self.applied(batch).targets, name)
            was = int(target.labels[check_sample(row, len(target))])
            self._edits.append(LabelEdit(row, target.attribute, was, place))
            self.version += 1

    def undo(self) -> LabelEdit:
        """Take the last edit back."""
        with self._lock:
            if not self._edits:
                raise DataError("no label was changed: there is nothing to undo")
            self.version += 1
            return self._edits.pop()

    def applied(self, batch: Batch) -> Batch:
        """Return the samples with the labels as they were edited; what is not edited is shared."""
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
    found = targets.get(name)
    if found is None:
        raise DataError(f"the data has no labels of {name!r:.60}")
    if found.is_graded:
        raise DataError(f"the labels of {name!r} are distributions; only values can be changed")
    return found
