"""Results in columns are the same bytes as row by row, and Parquet has the same cells."""

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinesy import Attribute, Cascade, If, RuleSet
from pinesy._common import distinct
from pinesy._common.distinct import distinct_rows
from pinesy.cli.batch_inference import BatchInference
from pinesy.cli.column_writers import BatchForm, CsvForm, JsonLinesForm, ParquetForm
from pinesy.cli.output import ResultRow, write_csv, write_json_lines
from pinesy.cli.result_columns import OutputResult
from pinesy.exceptions import DataError
from pinesy.rulebase.clashes import first_clashes
from pinesy.rules.outcomes import rule_numbers_text, verdict_text
from pinesy.samples import Batch, value_texts
from pinesy.semantics.semantics import as_semantics
from strategies import ODD_TEXTS, BatchCase, batches

#: Texts that a careless writer of CSV or JSON would trip over.
ID_TEXTS = [*ODD_TEXTS, "=1+2", "-5", "+x", "@y", "\tz", "a,b", "a\r", "\x1b[31m", "\x9b", "'"]
ENTRIES = st.one_of(
    st.sampled_from(ID_TEXTS),
    st.text(max_size=4),
    st.integers(-(10**20), 10**20),
    st.floats(),
    st.none(),
    st.booleans(),
    st.just({"a": [1, "x"]}),
    st.just([1, None]),
)


@dataclass
class Row(ResultRow):
    """The results of one sample as they were written before there were columns."""

    results: list[OutputResult]
    ids: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        return self.ids | {result.attribute.name: result.to_dict() for result in self.results}

    def titles(self) -> list[str]:
        return [*self.ids, *(title for result in self.results for title in result.titles())]

    def cells(self) -> list[Any]:
        cells: list[Any] = ["" if entry is None else entry for entry in self.ids.values()]
        return cells + [cell for result in self.results for cell in result.cells()]


class Screen(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self) -> bool:
        return True


def inference_of(cascade: Cascade) -> BatchInference:
    program = cascade.compile()
    return BatchInference(cascade, program, program.inputs, as_semantics("possibilistic"))


def batch_of(case: BatchCase, ids: dict[str, Sequence[Any]]) -> Batch:
    inputs = case.cascade.compile().inputs
    evidence = np.hstack([case.evidence[a.name] for a in inputs])
    return Batch(evidence, range(len(evidence)), 0, ids=ids)


def clash_text(cascade: Cascade, name: str, evidence: Any) -> str:
    needed = cascade.needed([name])
    trace = cascade.compile([s.output for s in needed], trace=True)
    by_name = {a.name: evidence[a.name] for a in trace.inputs}
    for output, indices in first_clashes(needed, trace.infer(by_name)).values():
        return rule_numbers_text([cascade.rule_number(output, j) for j in indices])
    return ""


def rows_of(case: BatchCase, ids: dict[str, Sequence[Any]], n: int) -> Iterator[Row]:
    """Yield the results, each sample inferred and put into words by itself."""
    for i in range(n):
        evidence = {name: rows[i : i + 1] for name, rows in case.evidence.items()}
        program = case.cascade.compile()
        inferred = program.infer({a.name: evidence[a.name] for a in program.inputs})
        results = []
        for a in program.outputs:
            pi = inferred[a.name].sample(0)
            texts, members = value_texts(a), pi.is_best.tolist()
            certainty = None if np.isnan(pi.certainty) else pi.certainty
            facts = {"certainty": certainty, "contradiction": pi.contradiction}
            rules = clash_text(case.cascade, a.name, evidence) if pi.contradiction else ""
            verdict = verdict_text(pi.outcome, [*compress(texts, members)], **facts, rules=rules)
            results.append(
                OutputResult(
                    a, texts, pi.outcome, verdict, "best_values", members, "possibility",
                    pi.degrees.tolist(), facts,
                )
            )  # fmt: skip
        yield Row(results, {title: entries[i] for title, entries in ids.items()})


@given(batches(sizes=(1, 2, 17)), st.data(), st.booleans(), st.booleans())
def test_text_is_the_same_as_row_by_row(
    case: BatchCase, data: st.DataObject, formulas: bool, is_screen: bool
) -> None:
    n = len(next(iter(case.evidence.values())))
    titles = data.draw(st.lists(st.sampled_from(["id", "=t", 'say "x"', "a,b"]), unique=True))
    ids: dict[str, Sequence[Any]] = {
        t: data.draw(st.lists(ENTRIES, min_size=n, max_size=n)) for t in titles
    }
    results = inference_of(case.cascade)(batch_of(case, ids))
    rows = list(rows_of(case, ids, n))
    stream = Screen() if is_screen else io.StringIO()
    write_csv(stream, rows, formulas)
    form: BatchForm = CsvForm(formulas, is_screen)
    assert form.header(results) + form.body(results) == stream.getvalue()
    lines = io.StringIO()
    write_json_lines(lines, rows)
    form = JsonLinesForm()
    assert form.header(results) + form.body(results) == lines.getvalue()


def test_parquet_has_the_cells_of_csv() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    a = Attribute("a", ["x", "y"])
    texts, numbers = Attribute("b", ["=1", 2]), Attribute("c", [1, 2, 3])
    halves, truth = Attribute("d", [0.5, 1]), Attribute("e", [False, True])
    sets = [
        RuleSet(
            [
                If(a.isin(premise)).then(o.isin({value}))
                for premise, value in zip(
                    ({"x"}, {"y"}, {"y"}), (o.domain[0], o.domain[0], o.domain[1]), strict=True
                )
            ]
        )
        for o in (texts, numbers, halves, truth)
    ]  # of y they contradict each other
    evidence = np.array([[1.0, 0.0], [0.25, 1.0], [1.0, 0.25], [1.0, 1.0]])
    batch = Batch(evidence, range(4), 0, ids={"id": ["p", None, "\ud800", "r"], "n": [1, 2, 3, 4]})
    results = inference_of(Cascade(*sets))(batch)
    table = ParquetForm().body(results)
    output = results.outputs
    rows = [[o.result(i) for o in output] for i in range(4)]
    cells = [[c for result in row for c in result.cells()] for row in rows]
    titles = ["id", "n", *(title for result in rows[0] for title in result.titles())]
    assert table.schema.names == titles
    kinds = [str(table.schema.field(name).type) for name in ("id", "n", "b", "c", "d", "e")]
    assert kinds == ["string", "int64", "string", "int64", "double", "bool"]
    assert table["id"].to_pylist() == ["p", None, "\\ud800", "r"]
    for index, title in enumerate(titles[2:]):
        expected = [row[index] for row in cells]
        if title in ("c", "d"):
            expected = [float(cell) if cell else None for cell in expected]
        elif title == "e":
            expected = [{"false": False, "true": True}.get(cell) for cell in expected]
        blank = None if table[title].type != pyarrow.string() or title == "b" else ""
        assert table[title].to_pylist() == [blank if c == "" else c for c in expected], title


def test_parquet_refuses_ids_of_several_types_and_titles_that_stand_twice() -> None:
    pytest.importorskip("pyarrow")
    a, b = Attribute("a", ["x", "y"]), Attribute("b", ["u", "v"])
    other = Attribute("b outcome", ["u", "v"])
    sets = [RuleSet([If(a.isin({"x"})).then(o.isin({"u"}))]) for o in (b, other)]
    evidence = np.array([[1.0, 0.0], [0.0, 1.0]])
    mixed = Batch(evidence, range(2), 0, ids={"who": ["1", 2]})
    with pytest.raises(DataError, match="'who' are of several types"):
        ParquetForm().body(inference_of(Cascade(sets[0]))(mixed))
    with pytest.raises(DataError, match="'b outcome'"):
        ParquetForm().header(inference_of(Cascade(*sets))(Batch(evidence, range(2), 0)))


ARRAYS = st.integers(1, 30).flatmap(
    lambda n: st.tuples(
        st.lists(st.sampled_from([0.0, -0.0, 0.5, 1.0, float("nan")]), min_size=n, max_size=n),
        st.lists(st.sampled_from(["", "a", "ab", "abc"]), min_size=n, max_size=n),
        st.lists(st.lists(st.booleans(), min_size=9, max_size=9), min_size=n, max_size=n),
    )
)


@given(ARRAYS, st.sampled_from(["hashes", "collisions", "one slot"]))
def test_rows_are_distinct_iff_their_bytes_are(columns: Any, case: str) -> None:
    numbers, texts, masks = columns
    arrays = (
        np.array(numbers, np.float64),
        np.array(texts, "U3"),
        np.array(masks, np.bool_).reshape(-1, 9),
    )
    with pytest.MonkeyPatch.context() as patch:
        if case == "collisions":
            patch.setattr(distinct, "_keys", lambda c: np.zeros(c.shape[1], np.uint64))
        elif case == "one slot":
            patch.setattr(distinct, "_SLOT_BITS", 1)
        rows, contents = distinct_rows(*arrays)
    keys = [tuple(array[i].tobytes() for array in arrays) for i in range(len(numbers))]
    assert len(rows) == len(set(keys))
    assert [keys[rows[content]] for content in contents.tolist()] == keys
