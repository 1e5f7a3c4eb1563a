"""The tables of `tabular.py`: 43 real ones, six of them with blanks, and drawn ones.

A suite gives each of its tables as splits into a training and a test part.
"""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt
from keel_files import read_set, set_names

from pinesy.induction import TrainingTable, read_training_table

FOLDS, SEED = 10, 0
#: Two-class sets with five columns or more, of those that no setting was chosen on (odd index).
WITH_BLANKS = ("heart", "bupa", "wisconsin", "saheart", "pima", "german")
BLANK_PERCENTS, BLANK_COLUMNS = (10, 30), 5
#: The random numbers that a drawn table is repeated with.
DRAWS = 6


@dataclass(frozen=True)
class Split:
    """A training and a test part of a table."""

    train: TrainingTable
    test: TrainingTable


@dataclass(frozen=True)
class Suite:
    """Tables that belong together.

    Attributes
    ----------
    folder : of their records, below that of the results
    names : return the names of the tables
    splits : yield the splits of a table
    """

    folder: str
    names: Callable[[], Sequence[str]]
    splits: Callable[[str], Iterator[Split]]


def load(name: str) -> TrainingTable:
    """Return a set as it is in the package: numbers where all cells are, else categories."""
    table = read_set(name)
    columns: dict[str, list[Any]] = {}
    for i in range(table.shape[1]):
        cells = [v.strip() if isinstance(v, str) else v for v in table.iloc[:, i].tolist()]
        columns[f"x{i}"] = cells
    target = f"x{table.shape[1] - 1}"
    columns[target] = [str(v) for v in columns[target]]
    return read_training_table(columns, target)


def chosen_sets(names: Sequence[str]) -> set[str]:
    """Return the sets that settings of pinesy were chosen on: those of even index by size."""
    return {name for index, name in enumerate(names) if index % 2 == 0}


def folds(table: TrainingTable) -> Iterator[Split]:
    """Yield ten stratified folds."""
    selection = import_module("sklearn.model_selection")
    splitter = selection.StratifiedKFold(FOLDS, shuffle=True, random_state=SEED)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # classes with fewer rows than folds
        for train, test in splitter.split(np.zeros(len(table.labels)), table.labels):
            yield Split(_rows(table, train), _rows(table, test))


def _rows(table: TrainingTable, rows: npt.NDArray[np.int64]) -> TrainingTable:
    columns = tuple(replace(c, values=c.values[rows]) for c in table.columns)
    return replace(table, columns=columns, labels=table.labels[rows], rows=table.rows[rows])


# --- blanks ---------------------------------------------------------------------------------------


def with_blanks(table: TrainingTable, share: float, seed: int = SEED) -> TrainingTable:
    """Return a table with a share of the cells blank, at random, in its five best columns.

    These are the columns of most mutual information with the class: blanks in columns that say
    nothing would cost no method anything.
    """
    information = import_module("sklearn.feature_selection").mutual_info_classif(
        np.column_stack([c.values for c in table.columns]),
        table.labels,
        discrete_features=[bool(c.domain) for c in table.columns],
        random_state=seed,
    )
    best = set(np.argsort(-information, kind="stable")[:BLANK_COLUMNS].tolist())
    random = np.random.default_rng(seed)
    columns = [
        replace(c, values=np.where(random.random(len(c.values)) < share, np.nan, c.values))
        if index in best
        else c
        for index, c in enumerate(table.columns)
    ]
    return replace(table, columns=tuple(columns))


def blank_names() -> list[str]:
    """Return the names of the tables with blanks: the set, and the per cent."""
    return [f"{name}-{percent}" for percent in BLANK_PERCENTS for name in WITH_BLANKS]


def _folds_with_blanks(name: str) -> Iterator[Split]:
    set_name, _, percent = name.rpartition("-")
    return folds(with_blanks(load(set_name), int(percent) / 100))


# --- drawn tables ---------------------------------------------------------------------------------


def large() -> Iterator[Split]:
    """Yield 100,000 rows of 30 columns, 15 of which count."""
    yield _classification(100_000, 30)


def wide() -> Iterator[Split]:
    """Yield 5,000 rows of 200 columns, 15 of which count."""
    yield _classification(5_000, 200)


def _classification(n_rows: int, n_columns: int) -> Split:
    features, labels = import_module("sklearn.datasets").make_classification(
        n_rows,
        n_columns,
        n_informative=15,
        n_redundant=5,
        flip_y=0.05,
        class_sep=0.8,
        random_state=1,
    )
    return _last_fifth({f"x{i}": column for i, column in enumerate(features.T)}, labels)


def levels() -> Iterator[Split]:
    """Yield draws of 5,000 rows: a column of 300 levels, one number that counts, one that does not.

    A level has a normal effect of deviation 1.5; the noise is logistic.
    """
    for seed in range(DRAWS):
        random = np.random.default_rng(seed)
        effects = random.normal(0.0, 1.5, 300)
        level = random.integers(300, size=5_000)
        x, z = random.normal(size=(2, 5_000))
        labels = effects[level] + x + random.logistic(size=5_000) > 0
        columns = {"level": [f"level {i:03}" for i in level], "x": x, "z": z}
        yield _last_fifth(columns, labels)


def noise() -> Iterator[Split]:
    """Yield draws of ten columns and labels that have nothing to do with each other, 200 rows."""
    for seed in range(DRAWS):
        random = np.random.default_rng(seed)
        columns = {f"x{i}": column for i, column in enumerate(random.normal(size=(10, 2_200)))}
        yield _split(columns, random.random(2_200) < 0.5, 200)


def _last_fifth(columns: Mapping[str, Any], labels: Any) -> Split:
    return _split(columns, labels, len(labels) * 4 // 5)


def _split(columns: Mapping[str, Any], labels: Any, n_train: int) -> Split:
    """Return the first rows for training, the others for testing."""
    table = read_training_table({**columns, "y": labels.tolist()}, "y", features=list(columns))
    rows = np.arange(len(labels))
    return Split(_rows(table, rows[:n_train]), _rows(table, rows[n_train:]))


DRAWN: dict[str, Callable[[], Iterator[Split]]] = {
    "noise": noise,
    "levels": levels,
    "wide": wide,
    "large": large,
}
SUITES = {
    "run": Suite(".", set_names, lambda name: folds(load(name))),
    "blanks": Suite("blanks", blank_names, _folds_with_blanks),
    "synthetic": Suite("synthetic", lambda: list(DRAWN), lambda name: DRAWN[name]()),
}
