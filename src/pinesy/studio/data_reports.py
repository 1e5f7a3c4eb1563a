"""What is found of the data with the rules and labels as they are: made once, then remembered."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar, get_args

import numpy as np
import numpy.typing as npt

from pinesy._common.names import column_slices
from pinesy._common.validation import check_known
from pinesy.calibration import CalibratedAnswers, coverage
from pinesy.exceptions import DataError, PinesyError
from pinesy.learning import Audit, DecisionReport, audit, evaluate
from pinesy.learning.suspicion import Judged
from pinesy.samples import Batch
from pinesy.studio.session import Session, calibrated_evidence, calibrated_of

T = TypeVar("T")
Order = npt.NDArray[np.intp]
#: Points of a curve; values of a confusion table; pairs of values that are most often confused;
#: rules that decide.
POINTS, TABLE, PAIRS, RULES = 100, 20, 50, 20
METHODS: tuple[str, ...] = get_args(Judged)
#: What rows are sorted by.
SORTS = ("worst", "row", "suspicion", "nabla", "support", "label")


def labelled(session: Session) -> Batch:
    """Return the samples with the labels that they have, as these were edited."""
    if session.rows is None:
        raise DataError("there is no data; start the studio with some: pinesy studio RULES DATA")
    if not session.rows.finished:
        raise DataError(f"the data is still being read: {len(session.rows):,} rows so far")
    return session.labels.applied(session.rows.batch())


def with_labels(session: Session) -> Batch:
    """Return the samples, which must have labels."""
    batch = labelled(session)
    if not batch.targets:
        raise DataError("the data has no labels of what the rules conclude on")
    return batch


def remembered(session: Session, what: tuple[Any, ...], make: Callable[[], T]) -> T:
    """Return what was made for the same rules, rows and labels, or make it."""
    return session.reports.get((session.version, session.labels.version, *what), make)


def decision_report(session: Session, name: str | None) -> dict[str, Any]:
    """Return accuracy, curve, confusion and rules that decide, and coverage where levels are."""

    def make() -> dict[str, Any]:
        work, batch = session.work, with_labels(session)
        found = evaluate(work.rules, batch.evidence, batch.targets, output=name)
        return shown_report(found) | {"coverage": _coverage(session, batch)}

    return remembered(session, ("evaluate", name), make)


def shown_report(report: DecisionReport) -> dict[str, Any]:
    """Return a report as the page shows it: what is long is cut to what matters most."""
    found = report.to_dict()
    small = len(report.values) <= TABLE
    deciding = sorted(found["rules"], key=lambda rule: -rule["decides"])[:RULES]
    return found | {
        "curve": _curve(report),
        "confusion": found["confusion"] if small else None,
        "confused": _confused(report),
        "rules": [rule for rule in deciding if rule["decides"]],
    }


def _curve(report: DecisionReport) -> list[list[float]]:
    """Return shares of the samples, the surest ones, and how many of these are right."""
    counts = np.unique(np.linspace(1, report.samples, POINTS).round().astype(int))
    accuracies = report.selective_accuracy[counts - 1]
    pairs = zip(counts / report.samples, accuracies, strict=True)
    return [[float(share), float(right)] for share, right in pairs]


def _confused(report: DecisionReport) -> list[dict[str, Any]]:
    """Return the pairs of a true and another predicted value that are most frequent."""
    wrong = report.confusion.copy()
    np.fill_diagonal(wrong, 0)
    names = [*report.values, "undecided"]
    order = np.argsort(-wrong, axis=None, kind="stable")[:PAIRS]
    pairs = [divmod(int(at), wrong.shape[1]) for at in order if wrong.flat[at]]
    return [
        {"true": names[u], "predicted": names[v], "samples": int(wrong[u, v])} for u, v in pairs
    ]


def _coverage(session: Session, batch: Batch) -> dict[str, Any] | None:
    """Return how often true values are in their sets, if the rules are calibrated."""
    work = session.work
    if work.calibrated is None:
        return None
    columns = column_slices(work.rules.inputs)
    given = {name: batch.evidence[:, part] for name, part in columns.items()}
    names = work.rules.sets
    if isinstance(work.calibrated, CalibratedAnswers):
        names = dict.fromkeys(work.calibrated.outputs)  # type: ignore[assignment]
    elif any(a.name in batch.targets for a in work.rules.outputs):
        names = dict.fromkeys(a.name for a in work.rules.outputs)  # type: ignore[assignment]
    targets = {name: target for name, target in batch.targets.items() if name in names}
    try:
        evidence = calibrated_evidence(work, given)
        return coverage(calibrated_of(work), evidence, targets).to_dict()
    except PinesyError as error:
        return {"error": str(error)}


def audit_of(session: Session, method: object) -> Audit:
    """Return the audit by a method, made anew where rules or labels have changed."""
    check_known(method, METHODS, f"there is no method {method!r:.60}", DataError)

    def make() -> Audit:
        batch = with_labels(session)
        judged: Any = method
        return audit(session.work.rules, batch.evidence, batch.targets, method=judged)

    return remembered(session, ("audit", method), make)


def order_of(session: Session, method: object, sort: object) -> Order:
    """Return the rows in an order: the most of what is sorted by first; rows and labels rise."""
    check_known(sort, SORTS, f"rows cannot be sorted by {sort!r:.60}", DataError)
    found = audit_of(session, method)
    keys: Mapping[str, Callable[[], Any]] = {
        "row": lambda: np.arange(len(found)),
        "suspicion": lambda: -found.suspicion,
        "nabla": lambda: -found.worst,
        "support": lambda: found.support,
        "label": lambda: _label_keys(labelled(session)),
    }

    def make() -> Order:
        if sort == "worst":
            return found.order
        return np.argsort(keys[str(sort)](), kind="stable")

    return remembered(session, ("order", method, sort), make)


def _label_keys(batch: Batch) -> Any:
    """Return the places of the labels of the last attribute that has some."""
    target = list(batch.targets.values())[-1]
    return target.distributions.argmax(axis=1) if target.is_graded else target.labels
