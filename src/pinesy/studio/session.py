"""The state of a studio: rules, perhaps a model and data, and their files."""

import os
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from threading import Lock, RLock
from typing import Any, TypeVar

import numpy as np

from pinesy._common.files import read_text, wrap_read_errors
from pinesy._common.validation import check_integer
from pinesy.calibration import CalibratedAnswers, CalibratedInputs, CalibratedRules
from pinesy.exceptions import DataError
from pinesy.learning.model_file import LearnedRules
from pinesy.model.neurosymbolic import NeuroSymbolic
from pinesy.model.storage import load
from pinesy.rulebase.cascade import Cascade, as_cascade
from pinesy.rules.attributes import Attribute
from pinesy.rules.possibility import Possibility
from pinesy.samples import Batch, read_samples
from pinesy.studio.background_jobs import Jobs
from pinesy.studio.row_table import LabelEdits, RowTable
from pinesy.transforms import antipignistic_inverse, as_transform

T = TypeVar("T")
#: The JSON object that the page sends to an endpoint.
Payload = Mapping[str, Any]
#: Reports that are remembered.
REMEMBERED = 12
#: States that can be undone.
MOST_UNDONE = 50
#: Rows of a page, at most.
MOST_ROWS = 200


class _Entry:
    """A report, once it is made; who comes while it is being made waits."""

    def __init__(self) -> None:
        self.lock, self.content = Lock(), None


class RememberedReports:
    """The last reports, by what they are of."""

    def __init__(self) -> None:
        self._entries: dict[Hashable, Any] = {}
        self._lock = Lock()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the report of a key; make it if there is none. An error is not remembered."""
        with self._lock:
            entry = self._entries.setdefault(key, _Entry())
            for old in list(self._entries)[:-REMEMBERED]:
                del self._entries[old]
        with entry.lock:
            if entry.content is None:
                entry.content = make()
            content: T = entry.content
            return content


@dataclass(frozen=True, eq=False)
class Work:
    """What the views show and change: replaced as a whole, never altered.

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
        model = self.model
        if model is not None:  # the perception may not fit, and an error says so
            model = NeuroSymbolic(
                model.perception, rules, transform=model.transform, inputs=model.inputs
            )
        return Work(rules, str(rules) if text is None else text, model)


@dataclass
class Session:
    """The work of one studio, with the way back, and the rows of its data.

    Attributes
    ----------
    work : what is worked on now; `use` replaces it
    path : the file that it came from; None where it came from none
    title : what the page calls the work; by default the name of the file
    data_path : the data file, if there is one
    read_options : how the data file is read, as `read_samples` takes it (`transform`, `ids`, ...)
    rows : the samples of the data
    version : counts the replacements, so that views know when to load again
    lock : to be held while `work` is replaced by something made of it
    jobs : the work in the background
    labels : those that were changed by hand
    reports : what was last found of the data
    """

    work: Work
    path: Path | None = None
    data_path: Path | None = None
    read_options: Mapping[str, Any] = field(default_factory=dict)
    rows: RowTable = field(default_factory=RowTable)
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
        **read_options: Any,
    ) -> "Session":
        """Open a file of rules or a model, and perhaps one of data, by the library's readers.

        Parameters
        ----------
        path : a ``.rules``, ``.json`` or ``.zip`` file
        data : a data file; it is read in the background, and `rows` says how far
        read_options : as `read_samples` takes them
        """
        path = Path(path)
        session = cls(read_work(path), path, None if data is None else Path(data), read_options)
        session.accept_files()
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
        other_columns = data_attributes(work.rules) != data_attributes(self.work.rules)
        self.work = work
        self.version += 1
        if other_columns:
            self.read_data()

    # --- files -------------------------------------------------------------------------------

    def read_data(self) -> None:
        """Begin to read the data file, from its first row."""
        if self.data_path is None:
            return
        self.rows.stop()
        rules = self.work.rules
        batches = partial(
            read_samples,
            self.data_path,
            rules.inputs,
            targets=[s.output for s in rules.order],
            known=rules.attributes.values(),
            **self.read_options,
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
        """Take the present files for read."""
        self._seen = {file: _state(file) for file in self._files}

    # --- data --------------------------------------------------------------------------------

    @property
    def has_data(self) -> bool:
        """Whether there are rows, or some are to come."""
        return self.data_path is not None or len(self.rows) > 0 or not self.rows.finished

    def labelled(self) -> Batch:
        """Return the samples with the labels that they have, as these were edited."""
        if not self.has_data:
            raise DataError(
                "there is no data; start the studio with some: pinesy studio RULES DATA"
            )
        if not self.rows.finished:
            raise DataError(f"the data is still being read: {len(self.rows):,} rows so far")
        return self.labels.applied(self.rows.batch())

    def with_labels(self) -> Batch:
        """Return the samples, which must have labels."""
        batch = self.labelled()
        if not batch.targets:
            raise DataError("the data has no labels of what the rules conclude on")
        return batch

    def report(self, key: tuple[Any, ...], make: Callable[[], T]) -> T:
        """Return the report of the same rules, rows and labels; make it if there is none."""
        return self.reports.get((self.version, self.labels.version, *key), make)


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


def data_attributes(rules: Cascade) -> object:
    """Return the inputs and outputs that a data file is read for."""
    return rules.inputs, tuple(s.output for s in rules.order)


def _state(path: Path) -> object:
    """Return what changes when a file does; None while it is not there."""
    try:
        with wrap_read_errors(path):
            status = path.stat()
    except DataError:
        return None
    return status.st_size, status.st_mtime_ns


def calibrated_of(work: Work) -> CalibratedRules:
    """Return the calibrated rules, for evidence as `calibrated_evidence` gives it."""
    calibrated = work.calibrated
    if calibrated is None:
        raise DataError(
            "these rules are not calibrated, so nothing is guaranteed at any level: pinesy "
            "calibrate does it"
        )
    if calibrated.transform.is_weighted:
        raise DataError(
            "these rules were calibrated with weights, so new samples need theirs, which the "
            "studio does not take; use Python: predict_set(evidence, level, weights=...)"
        )
    return (
        replace(calibrated, probabilities=None)
        if isinstance(calibrated, CalibratedAnswers)
        else calibrated
    )


def calibrated_evidence(work: Work, evidence: Mapping[str, Any]) -> dict[str, Any]:
    """Return evidence, of one sample or several, as calibration saw it.

    The inputs of a model were calibrated by the probabilities of its perception, which are
    recovered from possibilities by the inverse of the antipignistic transformation.
    """
    model = work.model
    if model is None or not isinstance(work.calibrated, CalibratedInputs):
        return dict(evidence)
    if as_transform(model.transform).name != "antipignistic":
        raise DataError(
            "levels need the probabilities of the network, which cannot be recovered from degrees "
            f"of the transformation {as_transform(model.transform).name}"
        )
    inputs = {a.name: a for a in work.rules.inputs}
    return {name: _probabilities(inputs[name], content) for name, content in evidence.items()}


def _probabilities(attribute: Attribute, content: Any) -> Any:
    """Return the probabilities that possibilities were made of; of a value, that it is certain."""
    if isinstance(content, Possibility):
        content = content.degrees
    if content is None:
        return np.full(len(attribute.domain), 1.0 / len(attribute.domain))
    if isinstance(content, list | np.ndarray):
        return antipignistic_inverse(np.asarray(content, dtype=np.float64))
    return np.eye(len(attribute.domain))[attribute.position(content)]


def page_bounds(payload: Payload, count: int = 20) -> tuple[int, int]:
    """Return the first row of a page, and how many rows it has: ``start`` and ``count``."""
    start = check_integer(payload.get("start", 0), "start", error=DataError)
    return start, min(MOST_ROWS, check_integer(payload.get("count", count), "count", 1, DataError))


#: Answers a payload by plain data for JSON.
Endpoint = Callable[[Session, Payload], Any]


def endpoints(*functions: Endpoint) -> dict[str, Endpoint]:
    """Return the endpoints of a view by their names, which are those of the functions."""
    return {function.__name__: function for function in functions}
