"""The state of a studio: rules, model and data, and their files."""

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
from pinesy.guarantees import GroupedRules, SelectiveRules
from pinesy.learning.model_file import LearnedRules
from pinesy.model.neurosymbolic import NeuroSymbolic
from pinesy.model.storage import load_propositional
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
#: Reports in the cache.
MAX_REPORTS = 12
#: States that can be undone.
MAX_UNDO = 50
#: Rows of a page, at most.
MAX_ROWS = 200


class _Entry:
    """A cached report, and a lock that is held while it is computed."""

    def __init__(self) -> None:
        self.lock, self.content = Lock(), None


class ReportCache:
    """A cache of the last reports."""

    def __init__(self) -> None:
        self._entries: dict[Hashable, Any] = {}
        self._lock = Lock()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the report of a key; compute it on a miss. Errors are not cached."""
        with self._lock:
            entry = self._entries.setdefault(key, _Entry())
            for old in list(self._entries)[:-MAX_REPORTS]:
                del self._entries[old]
        with entry.lock:
            if entry.content is None:
                entry.content = make()
            content: T = entry.content
            return content


@dataclass(frozen=True, eq=False)
class Work:
    """The immutable state that the views show: rules, model, learning and calibration.

    Attributes
    ----------
    rules : the current rules, with learned parameters
    text : the source text of the rules
    model : the neuro-symbolic model, if any; its rules are `rules`
    learned, calibrated : the learned and the calibrated rules of the file, if any
    selective : the rules with the threshold from which they decide, if the file has one
    """

    rules: Cascade
    text: str
    model: NeuroSymbolic | None = None
    learned: LearnedRules | None = None
    calibrated: CalibratedRules | None = None
    selective: SelectiveRules | None = None

    def with_rules(self, rules: Cascade, text: str | None = None) -> "Work":
        """Return the work with other rules, neither learned nor calibrated."""
        model = self.model
        if model is not None:  # the perception may not fit, and an error says so
            model = NeuroSymbolic(
                model.perception, rules, transform=model.transform, inputs=model.inputs
            )
        return Work(rules, str(rules) if text is None else text, model)


@dataclass
class Session:
    """The session of a studio: its work, undo history, files, data and jobs.

    Attributes
    ----------
    work : the current work; `use` replaces it
    path : the file of the rules or model, if any
    title : the title of the page; by default the name of the file
    data_path : the data file, if any
    read_options : options of `read_samples` (`transform`, `ids`, ...)
    rows : the samples of the data
    version : the number of replacements, so that views know when to load again
    lock : held while `work` is replaced
    jobs : background jobs
    labels : edited labels
    reports : cached reports on the data
    previews : pages in one file that can be opened once, by key
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
    reports: ReportCache = field(default_factory=ReportCache)
    previews: dict[str, str] = field(default_factory=dict)
    _history: list[Work] = field(default_factory=list)
    _file_states: dict[Path, object] = field(default_factory=dict)

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        data: str | os.PathLike[str] | None = None,
        **read_options: Any,
    ) -> "Session":
        """Open a file of rules or a model, and optionally a data file.

        Parameters
        ----------
        path : a ``.rules``, ``.json`` or ``.zip`` file
        data : a data file, which is read in the background
        read_options : as `read_samples` takes them
        """
        path = Path(path)
        session = cls(read_work(path), path, None if data is None else Path(data), read_options)
        session.accept_files()
        session.read_data()
        return session

    # --- replacing the work ------------------------------------------------------------------

    def use(self, work: Work) -> None:
        """Replace the work; `undo` restores it."""
        with self.lock:
            self._history = [*self._history, self.work][-MAX_UNDO:]
            self._replace_work(work)

    def undo(self) -> None:
        """Restore the previous work."""
        with self.lock:
            if not self._history:
                raise DataError("there is nothing to undo")
            self._replace_work(self._history.pop())

    @property
    def can_undo(self) -> bool:
        """Whether there is previous work."""
        return bool(self._history)

    def _replace_work(self, work: Work) -> None:
        """Replace the work, and read the data again if its columns differ."""
        other_columns = data_attributes(work.rules) != data_attributes(self.work.rules)
        self.work = work
        self.version += 1
        if other_columns:
            self.read_data()

    # --- files -------------------------------------------------------------------------------

    def read_data(self) -> None:
        """Start to read the data file in the background."""
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
        """Return the files that changed on disk since they were read."""
        return [str(file) for file, state in self._file_states.items() if _state(file) != state]

    def reload(self) -> None:
        """Read the files that changed on disk again; `undo` restores the previous rules."""
        changed = self.changed_files()
        if self.path is not None and str(self.path) in changed:
            self.use(read_work(self.path))
        if self.data_path is not None and str(self.data_path) in changed:
            self.labels = LabelEdits()
            self.read_data()
            self.version += 1
        self.accept_files()

    def accept_files(self) -> None:
        """Record the current states of the files as read."""
        files = [file for file in (self.path, self.data_path) if file is not None]
        self._file_states = {file: _state(file) for file in files}

    # --- data --------------------------------------------------------------------------------

    @property
    def has_data(self) -> bool:
        """Whether there are rows, or rows being read."""
        return self.data_path is not None or len(self.rows) > 0 or not self.rows.finished

    def labelled(self) -> Batch:
        """Return all samples, with edited labels."""
        if not self.has_data:
            raise DataError(
                "there is no data; start the studio with some: pinesy studio RULES DATA"
            )
        if not self.rows.finished:
            raise DataError(f"the data is still being read: {len(self.rows):,} rows so far")
        return self.labels.apply(self.rows.batch())

    def with_labels(self) -> Batch:
        """Return all samples with edited labels, or raise `DataError` if there are no labels."""
        batch = self.labelled()
        if not batch.targets:
            raise DataError("the data has no labels of what the rules conclude on")
        return batch

    def report(self, key: tuple[Any, ...], make: Callable[[], T]) -> T:
        """Return the cached report for the current rules and labels; compute it on a miss."""
        return self.reports.get((self.version, self.labels.version, *key), make)


def read_work(path: Path) -> Work:
    """Read rules or a model from a file."""
    content = load_propositional(path)
    if isinstance(content, SelectiveRules):
        return replace(_work_of(content.model, path), selective=content)
    return _work_of(content, path)


def _work_of(content: Any, path: Path) -> Work:
    """Return the work on what a file has."""
    if isinstance(content, GroupedRules):
        content = content.base
    if isinstance(content, NeuroSymbolic):
        rules = getattr(content, "rules_", None) or as_cascade(content.rules)
        work = Work(rules, str(rules), content)
        selective = getattr(content, "selective_", None)
        return replace(work, calibrated=getattr(content, "calibration_", None), selective=selective)
    if isinstance(content, CalibratedRules):
        learned = content.learned if isinstance(content.learned, LearnedRules) else None
        return Work(content.rules, str(content.rules), None, learned, content)
    if isinstance(content, LearnedRules):
        return Work(content.cascade, str(content.cascade), None, content)
    written = path.suffix == ".rules"
    return Work(content, read_text(path) if written else str(content))


def data_attributes(rules: Cascade) -> object:
    """Return the inputs and outputs that are read from a data file."""
    return rules.inputs, tuple(s.output for s in rules.order)


def _state(path: Path) -> object:
    """Return the size and modification time of a file; None if it does not exist."""
    try:
        with wrap_read_errors(path):
            status = path.stat()
    except DataError:
        return None
    return status.st_size, status.st_mtime_ns


def calibrated_of(work: Work) -> CalibratedRules:
    """Return the calibrated rules, for evidence from `calibrated_evidence`."""
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
    """Return evidence in the form that calibration used: possibilities or probabilities.

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
    """Return the probabilities of antipignistic possibilities; a value has probability 1."""
    if isinstance(content, Possibility):
        content = content.degrees
    if content is None:
        return np.full(len(attribute.domain), 1.0 / len(attribute.domain))
    if isinstance(content, list | np.ndarray):
        return antipignistic_inverse(np.asarray(content, dtype=np.float64))
    return np.eye(len(attribute.domain))[attribute.position(content)]


def page_bounds(payload: Payload, count: int = 20) -> tuple[int, int]:
    """Return the first row of a page and its number of rows: ``start`` and ``count``."""
    start = check_integer(payload.get("start", 0), "start", error=DataError)
    return start, min(MAX_ROWS, check_integer(payload.get("count", count), "count", 1, DataError))


#: A function from a payload to plain data for JSON.
Endpoint = Callable[[Session, Payload], Any]


def endpoints(*functions: Endpoint) -> dict[str, Endpoint]:
    """Return the endpoints of a view by name: the names of the functions."""
    return {function.__name__: function for function in functions}
