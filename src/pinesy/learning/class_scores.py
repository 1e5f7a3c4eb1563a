"""What people ask of a classifier: precision, recall, F1, AUC, Brier score, calibration, baselines.

The metrics are scikit-learn's, which is imported when it is needed. The baselines are judged on the
same samples: always the most frequent class, and a logistic regression, out of fold or fitted on
other samples.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy._common.reports import ReportTable
from pinesy._common.validation import BoolArray, FloatArray
from pinesy.evidence.plain_values import is_missing
from pinesy.exceptions import needing

Indices = npt.NDArray[np.intp]
Table = Mapping[str, npt.NDArray[Any]]
#: Bins of the calibration curve, with as many samples each as ties allow.
BINS = 10
#: Folds of the logistic regression, and the most samples that it is fitted on.
FOLDS, MAX_SAMPLES = 5, 50_000
#: The chance that a class gets at least, so that the log loss is finite.
LEAST = 1e-6


@dataclass(frozen=True)
class ClassScore:
    """How well one class is told from the others.

    Attributes
    ----------
    value : the class, as text
    samples : how many have it
    precision : the share of those predicted to have it that do; NaN if there are none
    recall : the share of those that have it that are predicted to
    f1 : the harmonic mean of precision and recall
    auc : the area under the ROC curve of its probability; NaN if all samples or none have it
    brier : the mean squared difference of its probability from 1 where it is true, 0 elsewhere
    """

    value: str
    samples: int
    precision: float
    recall: float
    f1: float
    auc: float
    brier: float


@dataclass(frozen=True, eq=False)
class MethodScore:
    """How good predictions are in all: of rules, or of a baseline.

    Attributes
    ----------
    name : of the method
    right : for each sample, whether the prediction is right
    auc : that of the rarer of two classes, the mean over more classes; 0.5 is chance
    log_loss : the mean of ``-log p(value)``
    brier : the mean squared difference, summed over classes; halved for two classes
    """

    name: str
    right: BoolArray
    auc: float
    log_loss: float
    brier: float

    @property
    def accuracy(self) -> float:
        """The share of samples whose prediction is right."""
        return float(self.right.mean())

    def against(self, other: "MethodScore") -> str:
        """Return how the accuracy compares: a difference counts from two standard errors on."""
        gain = self.right.astype(float) - other.right
        least = 2.0 * gain.std() / np.sqrt(len(gain))
        if abs(gain.mean()) <= least:
            return "about as good as"
        return "better than" if gain.mean() > 0 else "worse than"


@dataclass(frozen=True)
class CalibrationBin:
    """Samples with similar chances of a class: how many, the mean chance, how often it is true."""

    samples: int
    predicted: float
    observed: float


@dataclass(frozen=True, eq=False)
class ClassScores:
    """The scores of a classifier on samples, by class and beside baselines.

    Attributes
    ----------
    classes : by class
    methods : the rules first, then the baselines
    calibration : bins of the chance of the `calibrated` class, from the lowest
    calibrated : the rarer of two classes; with more None: the chance of the predicted class, and
        how often it is true
    note : why a baseline is missing, or an empty text
    """

    classes: tuple[ClassScore, ...]
    methods: tuple[MethodScore, ...]
    calibration: tuple[CalibrationBin, ...]
    calibrated: str | None
    note: str = ""

    @property
    def verdict(self) -> str:
        """The scores in one sentence."""
        rules, *baselines = self.methods
        compared = ", ".join(f"{rules.against(b)} {b.name} ({b.accuracy:.1%})" for b in baselines)
        text = f"{rules.accuracy:.1%} of {len(rules.right):,} samples are right: {compared}"
        rare = next((c for c in self.classes if c.value == self.calibrated), None)
        if rare is not None and rare.samples:
            share = rare.samples / len(rules.right)
            text += f"; of the {share:.0%} that are {rare.value} {rare.recall:.0%} are found"
            if not np.isnan(rare.precision):
                text += f", and {rare.precision:.0%} of those called {rare.value} are"
        return f"{text}."

    def tables(self) -> list[ReportTable]:
        """Return the tables of a report."""
        chance = f"chance of {self.calibrated}" if self.calibrated else "chance of the prediction"
        by_class = [
            [c.value, str(c.samples), *map(_number, (c.precision, c.recall, c.f1, c.auc, c.brier))]
            for c in self.classes
        ]
        methods = [
            [m.name, f"{m.accuracy:.1%}", *map(_number, (m.auc, m.log_loss, m.brier))]
            for m in self.methods
        ]
        bins = [
            [str(b.samples), f"{b.predicted:.1%}", f"{b.observed:.1%}"] for b in self.calibration
        ]
        return [
            ReportTable(["", "right", "AUC", "log loss", "Brier"], methods, "Compared"),
            ReportTable(
                ["", "samples", "precision", "recall", "F1", "AUC", "Brier"], by_class, "By class"
            ),
            ReportTable(["samples", chance, "true"], bins, "Calibration"),
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the scores as plain data, for JSON; NaN is null."""
        methods = {
            m.name: {"accuracy": m.accuracy, "auc": m.auc, "log_loss": m.log_loss, "brier": m.brier}
            for m in self.methods
        }
        content = {
            "classes": {c.value: asdict(c) for c in self.classes},
            "methods": methods,
            "calibration": {
                "class": self.calibrated,
                "bins": [asdict(b) for b in self.calibration],
            },
        }
        return dict(_plain(content))


def class_scores(
    values: Sequence[str],
    labels: Indices,
    predicted: Indices,
    p: FloatArray,
    columns: Table | None = None,
    train: tuple[Table, Indices] | None = None,
) -> ClassScores:
    """Score predictions by class, and beside baselines on the same samples. Needs scikit-learn.

    Parameters
    ----------
    values : the classes, as text
    labels, predicted : the indices of the true and of the predicted classes
    p : the probabilities, shape ``(n_samples, n_classes)``
    columns : the features, for the logistic regression; without them there is none
    train : features and labels to fit the logistic regression on; by default it is fitted to each
        four fifths of the samples, and judged on the other fifth
    """
    with needing("sklearn", "scores by class need"):
        metrics = import_module("sklearn.metrics")
    counts = np.bincount(labels, minlength=len(values))
    rare = int(counts.argmin()) if len(values) == 2 else None
    codes = np.arange(len(values))
    precision, recall, f1, _ = metrics.precision_recall_fscore_support(
        labels, predicted, labels=codes, zero_division=np.nan
    )
    classes = tuple(
        ClassScore(
            value,
            int(counts[k]),
            float(precision[k]),
            float(recall[k]),
            float(f1[k]),
            _auc(metrics, labels == k, p[:, k]),
            float(np.mean((p[:, k] - (labels == k)) ** 2)),
        )
        for k, value in enumerate(values)
    )
    majority = int(counts.argmax())
    always = np.broadcast_to(counts / counts.sum(), p.shape)
    methods = [
        _method(metrics, "the rules", labels, predicted, p),
        _method(metrics, f"always {values[majority]}", labels, np.full(len(p), majority), always),
    ]
    note = "" if columns is None else _missing_baseline(counts, train)
    if columns is not None and not note:
        name = "logistic regression" + (" (out of fold)" if train is None else "")
        q = logistic_probabilities(columns, labels, len(values), train)
        methods.append(_method(metrics, name, labels, q.argmax(axis=1), q))
    if rare is None:
        chance, is_true = p[np.arange(len(p)), predicted], labels == predicted
    else:
        chance, is_true = p[:, rare], labels == rare
    calibrated = None if rare is None else values[rare]
    bins = calibration_bins(chance, is_true)
    return ClassScores(classes, tuple(methods), bins, calibrated, note)


def _missing_baseline(counts: Indices, train: tuple[Table, Indices] | None) -> str:
    """Return why no logistic regression is fitted, or an empty text."""
    n = int(counts.sum()) if train is None else len(train[1])
    if n > MAX_SAMPLES:
        return f"No logistic regression: there are more than {MAX_SAMPLES:,} samples."
    if train is None and (counts > 0).sum() > 1 and counts[counts > 0].min() >= 2:
        return ""
    if train is not None and len(np.unique(train[1])) > 1:
        return ""
    return "No logistic regression: it takes two classes, each with two samples or more."


def _method(
    metrics: Any, name: str, labels: Indices, predicted: Indices, p: FloatArray
) -> MethodScore:
    n_classes = p.shape[1]
    areas = [_auc(metrics, labels == k, p[:, k]) for k in range(n_classes)]
    known = [area for area in areas if not np.isnan(area)]
    chance = np.maximum(p[np.arange(len(p)), labels], LEAST)
    truth = np.eye(n_classes)[labels]
    brier = float(((p - truth) ** 2).sum(axis=1).mean()) / (2 if n_classes == 2 else 1)
    auc = float(np.mean(known)) if known else np.nan
    return MethodScore(name, labels == predicted, auc, float(-np.log(chance).mean()), brier)


def _auc(metrics: Any, is_true: BoolArray, chance: FloatArray) -> float:
    if is_true.all() or not is_true.any():
        return float("nan")
    return float(metrics.roc_auc_score(is_true, chance))


def calibration_bins(chance: FloatArray, is_true: BoolArray) -> tuple[CalibrationBin, ...]:
    """Return chances in bins of about the same size, beside how often the class is true.

    Examples
    --------
    >>> calibration_bins(np.array([0.2, 0.2, 0.9]), np.array([False, True, True]))
    (CalibrationBin(samples=2, predicted=0.2, observed=0.5), \
CalibrationBin(samples=1, predicted=0.9, observed=1.0))
    """
    edges = np.quantile(chance, np.linspace(0.0, 1.0, BINS + 1)[1:-1])
    index = np.searchsorted(edges, chance)
    counts = np.bincount(index)
    predicted, observed = (np.bincount(index, weights) for weights in (chance, is_true))
    return tuple(
        CalibrationBin(int(n), float(predicted[k] / n), float(observed[k] / n))
        for k, n in enumerate(counts)
        if n
    )


# --- logistic regression ------------------------------------------------------------------------


def logistic_probabilities(
    columns: Table,
    labels: Indices,
    n_classes: int,
    train: tuple[Table, Indices] | None = None,
) -> FloatArray:
    """Return the probabilities of a logistic regression, out of fold or fitted on other samples.

    Numbers are standardised, blanks are the median with an indicator, categories are one-hot.
    """
    with needing("sklearn", "the baseline needs"):
        linear, selection = (
            import_module(f"sklearn.{m}") for m in ("linear_model", "model_selection")
        )
    model = linear.LogisticRegression(max_iter=1000)
    p = np.zeros((len(labels), n_classes))
    if train is None:
        x = design_matrix(columns)
        counts = np.bincount(labels)
        folds = min(FOLDS, int(counts[counts > 0].min()))
        split = selection.StratifiedKFold(folds, shuffle=True, random_state=0)
        parts = list(split.split(x, labels))
        fitted_on = labels
    else:
        joined = {name: np.concatenate([columns[name], c]) for name, c in train[0].items()}
        x, fitted_on = design_matrix(joined), np.concatenate([labels, train[1]])
        parts = [(np.arange(len(labels), len(x)), np.arange(len(labels)))]
    for others, rows in parts:
        model.fit(x[others], fitted_on[others])
        p[np.ix_(rows, model.classes_)] = model.predict_proba(x[rows])
    return p


def design_matrix(columns: Table) -> FloatArray:
    """Return the columns of a table as numbers: standardised, indicators of blanks, one-hot.

    Examples
    --------
    >>> sizes = np.array(["S", "L", None], dtype=object)
    >>> design_matrix({"age": np.array([1.0, np.nan, 3.0]), "size": sizes})
    array([[-1.22474487,  0.        ,  1.        ,  0.        ],
           [ 0.        ,  1.        ,  0.        ,  1.        ],
           [ 1.22474487,  0.        ,  0.        ,  0.        ]])
    """
    parts = []
    for _, column in sorted(columns.items()):
        if column.dtype.kind in "iuf":
            numbers = column.astype(np.float64)
            blank = np.isnan(numbers)
            if blank.all():
                continue
            numbers = np.where(blank, np.median(numbers[~blank]), numbers)
            spread = numbers.std()
            parts.append((numbers - numbers.mean()) / (spread if spread > 0.0 else 1.0))
            parts += [blank.astype(np.float64)] if blank.any() else []
        else:
            cells = [None if is_missing(value) else value for value in column.tolist()]
            code_of = {
                value: k for k, value in enumerate(dict.fromkeys(cells)) if value is not None
            }
            for k in code_of.values():
                parts.append(np.array([float(code_of.get(cell) == k) for cell in cells]))
    n = len(next(iter(columns.values())))
    return np.column_stack(parts) if parts else np.zeros((n, 1))


def _number(score: float) -> str:
    return "-" if np.isnan(score) else f"{score:.3f}"


def _plain(content: Any) -> Any:
    """Return scores as JSON can hold them: NaN is null."""
    if isinstance(content, dict):
        return {key: _plain(value) for key, value in content.items()}
    if isinstance(content, list):
        return [_plain(value) for value in content]
    return None if isinstance(content, float) and np.isnan(content) else content
