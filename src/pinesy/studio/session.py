"""What a studio works on: rules, perhaps a model and data, and the files that they came from."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import RLock
from typing import Any

from pinesy._common.files import read_text, reading
from pinesy.calibration.calibrated_rules import CalibratedRules
from pinesy.exceptions import DataError
from pinesy.learning.model_file import LearnedRules
from pinesy.model.neurosymbolic import NeuroSymbolic
from pinesy.model.storage import load
from pinesy.rulebase.cascade import Cascade, as_cascade
from pinesy.samples import Batch, read_samples
from pinesy.studio.background_jobs import Jobs
from pinesy.studio.label_edits import LabelEdits
from pinesy.studio.remembered_reports import RememberedReports
from pinesy.studio.row_table import RowTable

#: States that can be gone back to.
MOST_UNDONE = 50
#: Rows of a data file that are read at a time.
READ = 10_000


@dataclass(frozen=True, eq=False)
class Work:
    """What the rooms show and change: replaced as a whole, never altered.

    Attributes
    ----------
    rules : the rules that are used, with what was learned
    text : the rules as text, as they were written
    model : the neuro-symbolic model, if there is one; its rules are `rules`
    learned, calibrated : what the file says of how the rules were learned and calibrated
    """

    rules: Cascade
    text: str
    model: NeuroSymbolic | None = None
    learned: LearnedRules | None = None
    calibrated: CalibratedRules | None = None

    def with_rules(self, rules: Cascade, text: str | None = None) -> "Work":
        """Return the work with other rules: what was learned and calibrated was of the old ones."""
        model = self.model and _with_rules(self.model, rules)
        return Work(rules, str(rules) if text is None else text, model)


def _with_rules(model: NeuroSymbolic, rules: Cascade) -> NeuroSymbolic:
    """Return a model with the same perception; it raises an error where that does not fit."""
    return NeuroSymbolic(model.perception, rules, transform=model.transform, inputs=model.inputs)


@dataclass
class Session:
    """The work of one studio, with the way back, and the rows of its data.

    Attributes
    ----------
    work : what is worked on now; `use` replaces it
    path : the file that it came from; None where it came from none
    title : what the page calls the work; by default the name of the file
    data_path : the data file, if there is one
    how : how the data file is read, as `read_samples` takes it (`transform`, `ids`, ...)
    rows : the samples of the data; None where there are none
    version : counts the replacements, so that rooms see when to look again
    lock : to be held while `work` is replaced by something made of it
    jobs : the work in the background
    labels : those that were changed by hand
    reports : what was last found of the data
    """

    work: Work
    path: Path | None = None
    data_path: Path | None = None
    how: Mapping[str, Any] = field(default_factory=dict)
    rows: RowTable | None = None
    version: int = 0
    title: str = ""
    lock: RLock = field(default_factory=RLock)
    jobs: Jobs = field(default_factory=Jobs)
    labels: LabelEdits = field(default_factory=LabelEdits)
    reports: RememberedReports = field(default_factory=RememberedReports)
    _undone: list[Work] = field(default_factory=list)
    _seen: dict[Path, object] = field(default_factory=dict)

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        data: str | os.PathLike[str] | None = None,
        **how: Any,
    ) -> "Session":
        """Open a file of rules or a model, and perhaps one of data, by the library's readers.

        Parameters
        ----------
        path : a ``.rules``, ``.json`` or ``.zip`` file
        data : a data file; it is read in the background, and `rows` says how far
        how : as `read_samples` takes it
        """
        path = Path(path)
        session = cls(read_work(path), path, None if data is None else Path(data), how)
        session._seen = {file: _state(file) for file in session._files}
        session.read_data()
        return session

    @property
    def _files(self) -> list[Path]:
        return [file for file in (self.path, self.data_path) if file is not None]

    # --- replacing the work ------------------------------------------------------------------

    def use(self, work: Work) -> None:
        """Go on with other work; `undo` comes back."""
        with self.lock:
            self._undone = [*self._undone, self.work][-MOST_UNDONE:]
            self._put(work)

    def undo(self) -> None:
        """Go back to the work before."""
        with self.lock:
            if not self._undone:
                raise DataError("there is nothing to undo")
            self._put(self._undone.pop())

    @property
    def can_undo(self) -> bool:
        """Whether there is work to go back to."""
        return bool(self._undone)

    def _put(self, work: Work) -> None:
        other_columns = columns_of(work.rules) != columns_of(self.work.rules)
        self.work = work
        self.version += 1
        if other_columns and self.data_path is not None:
            self.read_data()

    # --- files -------------------------------------------------------------------------------

    def read_data(self) -> None:
        """Begin to read the data file, from its first row."""
        if self.data_path is None:
            return
        if self.rows is not None:
            self.rows.stop()
        rules, path, how = self.work.rules, self.data_path, dict(self.how)

        def batches() -> Iterator[Batch]:
            concluded = [s.output for s in rules.order]
            known = rules.attributes.values()
            return read_samples(
                path, rules.inputs, targets=concluded, known=known, batch=READ, **how
            )

        self.rows = RowTable(batches, rules.inputs)

    def changed_files(self) -> list[str]:
        """Return the files that are not what they were when they were read."""
        return [str(file) for file, state in self._seen.items() if _state(file) != state]

    def reload(self) -> None:
        """Read again the files that changed on disk; `undo` comes back to the rules before."""
        changed = self.changed_files()
        if self.path is not None and str(self.path) in changed:
            self.use(read_work(self.path))
        if self.data_path is not None and str(self.data_path) in changed:
            self.labels = LabelEdits()
            self.read_data()
            self.version += 1
        self.accept_files()

    def accept_files(self) -> None:
        """Take the files as they are now for known."""
        self._seen = {file: _state(file) for file in self._files}


def read_work(path: Path) -> Work:
    """Read rules or a model from a file."""
    content = load(path)
    if isinstance(content, NeuroSymbolic):
        rules = getattr(content, "rules_", None) or as_cascade(content.rules)
        work = Work(rules, str(rules), content)
        return replace(work, calibrated=getattr(content, "calibration_", None))
    if isinstance(content, CalibratedRules):
        learned = content.learned if isinstance(content.learned, LearnedRules) else None
        return Work(content.rules, str(content.rules), None, learned, content)
    if isinstance(content, LearnedRules):
        return Work(content.cascade, str(content.cascade), None, content)
    written = path.suffix == ".rules"
    return Work(content, read_text(path) if written else str(content))


def columns_of(rules: Cascade) -> object:
    """Return what a data file is read by."""
    return rules.inputs, tuple(s.output for s in rules.order)


def _state(path: Path) -> object:
    """Return what changes when a file does; None while it is not there."""
    try:
        with reading(path):
            status = path.stat()
    except DataError:
        return None
    return status.st_size, status.st_mtime_ns
