"""Rows a second wherever rules run: Python, the command line, DuckDB, SQLite, C and ONNX.

A call goes from a table to all columns of the answer: best value, outcome, certainty and degrees.

* Python: from NumPy columns (Addition-4: one array) to the arrays of each `Possibility`.
* command line: from a file of CSV to one, with the start of the process.
* DuckDB, SQLite: from a table in memory to Arrow columns, or to rows; planning is included.
* C: from rows of numbers, where categories are indices, to degrees and ``rules_answer`` of each
  row; compiled before, by ``gcc -O3 -march=native``.
* ONNX: from the same numbers to degrees (and the class of a card); the session is made before.

Every engine works on one thread; DuckDB and Python also on all cores. Figures of one thread are
by processor time too, which other processes of the machine change less. Each answer of the run is
compared with that of `infer`: to the bit; degrees of cards to 1e-12.
"""

import csv
import ctypes
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
from typing import Any, NamedTuple

import numpy as np
from inference_speed import evidence_of
from measure import Line, best_times

from pinesy import Cascade, load, save, to_c, to_onnx, to_sql
from pinesy._common.validation import FloatArray
from pinesy.emitters.sql import InputForm
from pinesy.emitters.sql_inputs import degree_columns
from pinesy.induction import CardCascade
from pinesy.problems import addition

SECTION = "where rules run"
LOAN = Path(__file__).parents[1] / "examples" / "loan.rules"
OUTCOMES = np.array(["decided", "several", "no_rule", "contradiction"])
#: Engines that get fewer rows.
SLOW = ("command line", "SQLite")
#: Reads the answers of all rows.
ANSWERS = """
void answers(const double *results, size_t n, struct rules_answer *out)
{
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < RULES_OUTPUTS; k++)
            *out++ = rules_answer(results + i * RULES_RESULTS, k);
}
"""
ANSWER = np.dtype([("outcome", "i4"), ("best", "i4"), ("certainty", "f8"), ("contradiction", "f8")])


class Case(NamedTuple):
    """Rules and a table.

    Attributes
    ----------
    columns : the table as engines of SQL and files of CSV have it
    evidence : the same for `infer`
    numbers : the same for C and ONNX, by attribute: numbers, indices of values, or degrees
    inputs_as : what the table has
    """

    name: str
    rules: Cascade
    columns: dict[str, Any]
    evidence: Any
    numbers: dict[str, FloatArray]
    inputs_as: InputForm

    def first(self, n: int) -> "Case":
        """Return the case with the first rows of its table."""
        columns, numbers = ({k: c[:n] for k, c in d.items()} for d in (self.columns, self.numbers))
        is_array = isinstance(self.evidence, np.ndarray)
        evidence = self.evidence[:n] if is_array else {k: c[:n] for k, c in self.evidence.items()}
        return self._replace(columns=columns, numbers=numbers, evidence=evidence)


class Answer(NamedTuple):
    """What an engine says of an output; ONNX has degrees alone."""

    degrees: FloatArray
    best: list[str] | None = None
    outcome: list[str] | None = None


Answers = dict[str, Answer]


class Engine(NamedTuple):
    """How an engine is called, and how its result is read; only the call is timed."""

    call: Callable[[], Any]
    read: Callable[[Any], Answers]


# --- cases ---------------------------------------------------------------------------------------


def loan(n: int) -> Case:
    """Return the rules of the loan example, and applicants, one in twenty cells blank."""
    rng, rules = np.random.default_rng(0), load(LOAN)
    assert isinstance(rules, Cascade)
    drawn = {
        "income": rng.lognormal(10.5, 0.6, n).round(),
        "debt_ratio": rng.beta(2.0, 4.0, n).round(3),
        "age": rng.integers(18, 85, n).astype(float),
    }
    columns, numbers = {}, {}
    for a in rules.compile().inputs:
        is_blank = rng.random(n) < 0.05
        codes = rng.integers(len(a.domain), size=n).astype(float) if a.scale is None else None
        numbers[a.name] = np.where(is_blank, np.nan, drawn[a.name] if codes is None else codes)
        values = numbers[a.name] if codes is None else np.array(a.domain)[codes.astype(int)]
        columns[a.name] = values.astype(object)
        columns[a.name][is_blank] = None
    evidence = {k: numbers[k] if k in drawn else c for k, c in columns.items()}
    n_rules = sum(map(len, rules.rule_sets))
    return Case(f"loan, {n_rules} rules", rules, columns, evidence, numbers, "values")


def digits(n: int, k: int) -> Case:
    """Return Addition-k, and random degrees of digits."""
    rules = addition(k)
    x, columns, numbers, first = evidence_of(rules, n), dict[str, Any](), {}, 0
    for a in rules.compile().inputs:
        numbers[a.name] = np.ascontiguousarray(x[:, first : first + len(a.domain)])
        columns |= dict(zip(degree_columns(a), numbers[a.name].T, strict=True))
        first += len(a.domain)
    return Case(f"Addition-{k}, degrees", rules, columns, x, numbers, "degrees")


def score_card(n: int, max_rules: int) -> Case:
    """Return the score card of a table of tumours, and its rows again and again."""
    table = import_module("sklearn.datasets").load_breast_cancer(as_frame=True)
    model = import_module("pinesy.estimators").RuleClassifier(max_rules=max_rules)
    rules = model.fit(table.data, table.target).get_rules()
    columns = {a.name: np.resize(table.data[a.name].to_numpy(), n) for a in rules.inputs}
    name = f"score card, {len(rules.card.lines)} lines"
    return Case(name, rules, columns, columns, columns, "values")


# --- engines -------------------------------------------------------------------------------------


def python(case: Case, n_threads: int) -> Engine:
    """Return `infer`, and all arrays of its results."""

    def call() -> Any:
        os.environ["PINESY_NUM_THREADS"] = str(n_threads)
        results = case.rules.infer(case.evidence)
        return {k: (pi.degrees, pi.best, pi.outcome, pi.certainty) for k, pi in results.items()}

    def read(results: Any) -> Answers:
        return {
            name: Answer(degrees, _texts(best), outcome.tolist())
            for name, (degrees, best, outcome, _) in results.items()
        }

    return Engine(call, read)


def command_line(case: Case, folder: Path) -> Engine:
    """Return ``pinesy infer`` from a file to a file."""
    rules, data, out = (folder / name for name in ("model.rules", "rows.csv", "out.csv"))
    save(case.rules, rules)
    with data.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(case.columns)
        writer.writerows(zip(*(c.tolist() for c in case.columns.values()), strict=True))
    command = [sys.executable, "-m", "pinesy", "infer", str(rules), str(data), "-o", str(out)]
    environment = os.environ | {"PINESY_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}

    def read(_: Any) -> Answers:
        with out.open(newline="") as file:
            rows = list(csv.DictReader(file))
        return _answers(case.rules, {name: [row[name] for row in rows] for name in rows[0]})

    return Engine(lambda: subprocess.run(command, env=environment, check=True), read)


@contextmanager
def duckdb(case: Case, n_threads: int) -> Iterator[Engine]:
    """Return a query of a table in memory, to Arrow columns."""
    query = to_sql(case.rules, "duckdb", inputs_as=case.inputs_as)
    arrow = import_module("pyarrow")
    arrays = {name: arrow.array(c, from_pandas=True) for name, c in case.columns.items()}
    with import_module("duckdb").connect(config={"threads": n_threads}) as connection:
        connection.register("source", arrow.table(arrays))
        connection.execute("CREATE TABLE samples AS SELECT * FROM source")
        yield Engine(
            lambda: connection.sql(query).to_arrow_table(),
            lambda table: _answers(case.rules, table.to_pydict()),
        )


@contextmanager
def sqlite(case: Case) -> Iterator[Engine]:
    """Return a query of a table in memory, to rows."""
    query = to_sql(case.rules, "sqlite", inputs_as=case.inputs_as)
    names = ", ".join(f'"{name}"' for name in case.columns)
    rows = zip(*(c.tolist() for c in case.columns.values()), strict=True)
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(f"CREATE TABLE samples ({names})")
        marks = ", ".join("?" * len(case.columns))
        connection.executemany(f"INSERT INTO samples VALUES ({marks})", rows)
        titles = [column[0] for column in connection.execute(query).description]

        def read(found: Any) -> Answers:
            columns = zip(titles, map(list, zip(*found, strict=True)), strict=True)
            return _answers(case.rules, dict(columns))

        yield Engine(lambda: connection.execute(query).fetchall(), read)


def c_library(case: Case, compiler: str, folder: Path) -> Engine:
    """Return the functions of C."""
    (folder / "rules.c").write_text(to_c(case.rules).source + ANSWERS)
    library = folder / "rules.so"
    options = ["-O3", "-march=native", "-shared", "-fPIC"]
    subprocess.run([compiler, *options, "-o", library, folder / "rules.c"], check=True)
    functions, outputs = ctypes.CDLL(str(library)), case.rules.compile().outputs
    infer = getattr(functions, f"rules_infer_{case.inputs_as}")
    infer.restype = ctypes.c_size_t
    x = np.column_stack(list(case.numbers.values()))
    n, width = len(x), sum(len(a.domain) + 1 for a in outputs)

    def call() -> Any:
        results, answers = np.empty((n, width)), np.empty((n, len(outputs)), ANSWER)
        pointers = [ctypes.c_void_p(a.ctypes.data) for a in (x, results, answers)]
        assert infer(pointers[0], ctypes.c_size_t(n), pointers[1]) == n
        functions.answers(pointers[1], ctypes.c_size_t(n), pointers[2])
        return results, answers

    def read(found: Any) -> Answers:
        results, answers = found
        read_answers, first = {}, 0
        for k, a in enumerate(outputs):
            best = np.array([*map(str, a.domain), ""])[answers["best"][:, k]]
            degrees = results[:, first : first + len(a.domain)]
            outcome = OUTCOMES[answers["outcome"][:, k]]
            read_answers[a.name] = Answer(degrees, best.tolist(), outcome.tolist())
            first += len(a.domain) + 1
        return read_answers

    return Engine(call, read)


def onnx(case: Case) -> Engine:
    """Return a session of onnxruntime."""
    runtime = import_module("onnxruntime")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = 1
    graph = to_onnx(case.rules, inputs_as=case.inputs_as)
    session = runtime.InferenceSession(graph.SerializeToString(), options)
    names, outputs = [o.name for o in session.get_outputs()], case.rules.compile().outputs

    def read(found: Any) -> Answers:
        columns = dict(zip(names, found, strict=True))
        return {a.name: Answer(columns[a.name]) for a in outputs}

    return Engine(lambda: session.run(None, case.numbers), read)


def _answers(rules: Cascade, columns: Mapping[str, list[Any]]) -> Answers:
    """Return answers from columns as ``pinesy infer`` and queries name them."""
    return {
        a.name: Answer(
            np.array([columns[name] for name in degree_columns(a)], dtype=float).T,
            _texts(columns[a.name]),
            columns[f"{a.name} outcome"],
        )
        for a in rules.compile().outputs
    }


def _texts(values: Any) -> list[str]:
    return ["" if value is None else str(value) for value in np.asarray(values).tolist()]


# --- figures -------------------------------------------------------------------------------------


def check(case: Case, found: Answers) -> None:
    """Raise an error unless answers are those of `infer`; a card always names a class."""
    is_card = isinstance(case.rules, CardCascade)
    for name, pi in case.rules.infer(case.evidence).items():
        answer, best = found[name], _texts(pi.best)
        difference = np.abs(answer.degrees - pi.degrees).max()
        assert difference <= (1e-12 if is_card else 0.0), (case.name, name, difference)
        if answer.best is not None and answer.outcome is not None:
            assert answer.outcome == pi.outcome.tolist(), (case.name, name)
            pairs = zip(answer.best, best, strict=True)
            assert all(a == b or (is_card and not b) for a, b in pairs), (case.name, name)


def processor_seconds() -> float:
    """Return the processor time of this process and of those that it has waited for."""
    usages = [getrusage(who) for who in (RUSAGE_SELF, RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def compared(case: Case, n_slow: int) -> list[Line]:
    """Return a line for each engine; SQLite and the command line get the first rows alone."""
    n, slow = len(next(iter(case.columns.values()))), case.first(n_slow)
    cores, compiler = os.cpu_count() or 1, shutil.which("gcc") or shutil.which("cc")
    several = sorted({1, cores})
    setting = os.environ.get("PINESY_NUM_THREADS")
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        engines = {f"Python, threads: {k}": python(case, k) for k in several}
        engines["command line"] = command_line(slow, folder)
        engines["SQLite"] = stack.enter_context(sqlite(slow))
        missing = []
        if find_spec("duckdb") and find_spec("pyarrow"):
            for k in several:
                engines[f"DuckDB, threads: {k}"] = stack.enter_context(duckdb(case, k))
        else:
            missing.append("DuckDB")
        if compiler:
            engines["C"] = c_library(case, compiler, folder)
        else:
            missing.append("C")
        if find_spec("onnxruntime") and find_spec("onnx"):
            engines["ONNX"] = onnx(case)
        else:
            missing.append("ONNX")
        results: dict[str, Any] = {}
        processor = dict.fromkeys(engines, float("inf"))

        def call(name: str) -> None:
            start = processor_seconds()
            results[name] = engines[name].call()
            processor[name] = min(processor[name], processor_seconds() - start)

        try:
            times = best_times({name: partial(call, name) for name in engines}, seconds=5.0)
        finally:
            os.environ.pop("PINESY_NUM_THREADS", None)
            if setting is not None:
                os.environ["PINESY_NUM_THREADS"] = setting
        for name, engine in engines.items():
            check(slow if name in SLOW else case, engine.read(results[name]))
    lines = []
    for name, seconds in times.items():
        rows = n_slow if name in SLOW else n
        note = f"{rows / seconds:,.0f} rows a second"
        if name not in (f"Python, threads: {cores}", f"DuckDB, threads: {cores}") or cores == 1:
            note += f", {rows / max(processor[name], 1e-6):,.0f} by processor time"
        lines.append(Line(SECTION, f"{case.name}: {name}", seconds, rows, note=note))
    skipped = [Line(SECTION, f"{case.name}: {name}", note="not installed") for name in missing]
    return lines + skipped


def lines(tiny: bool = False) -> list[Line]:
    """Return the lines of all cases."""
    if tiny:
        cases, n_slow = [loan(40), score_card(40, 1)], 10
    else:
        cases, n_slow = [loan(100_000), digits(50_000, 4), score_card(100_000, 10)], 10_000
    return [line for case in cases for line in compared(case, n_slow)]


if __name__ == "__main__":
    for line in lines("--tiny" in sys.argv):
        print(f"{line.case}: {line.note}")
