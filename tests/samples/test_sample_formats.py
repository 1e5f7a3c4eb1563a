"""The same samples are read from the same content, whatever the format of the file."""

import csv
import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pinesy import Attribute
from pinesy.samples import read_samples, value_texts
from strategies import distributions

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

LEFT = Attribute("left", range(4))
PALETTE = [
    LEFT,
    Attribute("drink", ["tea", "iced coffee"]),
    Attribute.product("pair", Attribute("x", [0, 1]), Attribute("y", [False, True])),
    Attribute("mixed", [3, "3", True, "true", None, 0.5]),
    Attribute("a", ["", " ", "line\nend", 'say "x"']),
    Attribute("a.b", ["é", "日本"]),
    Attribute("x=1", [-1, "b=c", "b"]),
    Attribute('one "name", long', [(0, ("x", True)), (1, ("y z", None))]),
    Attribute(" ", [0.5, 1e-9, 10**20]),
]


@dataclass(frozen=True)
class Given:
    """What a file gives for an attribute: positions of values, or distributions."""

    attribute: Attribute
    #: How Parquet holds it: "values", "categories", "natives"; "columns", "list", "fixed".
    form: str
    rows: list[Any]

    @property
    def texts(self) -> list[str]:
        return value_texts(self.attribute)

    def json(self, row: int) -> Any:
        if self.form in ("values", "categories", "natives"):
            return self.texts[self.rows[row]]
        if self.form == "columns":
            return dict(zip(self.texts, self.rows[row], strict=True))
        return self.rows[row]

    def columns(self) -> dict[str, list[Any]]:
        """Return the columns of a CSV file."""
        if isinstance(self.rows[0], int):
            return {self.attribute.name: [self.texts[p] for p in self.rows]}
        return {
            f"{self.attribute.name}={text}": list(degrees)
            for text, degrees in zip(self.texts, zip(*self.rows, strict=True), strict=True)
        }

    def parquet(self) -> dict[str, Any]:
        name, size = self.attribute.name, len(self.attribute.domain)
        if self.form == "list":
            return {name: self.rows}
        if self.form == "fixed":
            return {name: pa.array(self.rows, pa.list_(pa.float64(), size))}
        if self.form == "natives":
            return {name: [self.attribute.domain[p] for p in self.rows]}
        if self.form == "categories":
            return {name: pa.array(self.columns()[name]).dictionary_encode()}
        return self.columns()

    def array(self) -> npt.NDArray[Any]:
        return np.array(self.rows, dtype=np.uint32 if isinstance(self.rows[0], int) else np.float64)


@st.composite
def given_of(draw: st.DrawFn, attribute: Attribute, n: int) -> Given:
    size = len(attribute.domain)
    values = ["values", "categories", *["natives"] * (attribute == LEFT)]
    form = draw(st.sampled_from([*values, "columns", "list", "fixed"]))
    row: st.SearchStrategy[Any] = (
        st.integers(0, size - 1) if form in values else distributions(size)
    )
    return Given(attribute, form, draw(st.lists(row, min_size=n, max_size=n)))


@st.composite
def contents(draw: st.DrawFn) -> tuple[list[Given], list[Given]]:
    chosen = draw(st.lists(st.sampled_from(PALETTE), min_size=1, max_size=5, unique=True))
    n = draw(st.integers(1, 6))
    given = [draw(given_of(a, n)) for a in chosen]
    split = draw(st.integers(1, len(given)))
    return given[:split], given[split:]


def save_all(parts: list[Given], folder: Path) -> list[Path]:
    """Write the same samples in every format."""
    n = len(parts[0].rows)
    lines = [json.dumps({g.attribute.name: g.json(row) for g in parts}) for row in range(n)]
    (folder / "data.jsonl").write_text("\n".join(lines), encoding="utf-8")
    table = {title: cells for g in parts for title, cells in g.columns().items()}
    text = io.StringIO()
    csv.writer(text).writerows([list(table), *zip(*table.values(), strict=True)])
    (folder / "data.csv").write_bytes(text.getvalue().encode())
    content = pa.table({title: cells for g in parts for title, cells in g.parquet().items()})
    pq.write_table(content, folder / "data.parquet", row_group_size=2)
    return [folder / f"data.{suffix}" for suffix in ("jsonl", "csv", "parquet")]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=contents(), batch=st.integers(1, 7))
def test_all_formats_give_back_what_was_written(
    content: tuple[list[Given], list[Given]], batch: int, tmp_path: Path
) -> None:
    inputs, targets = content
    wanted = [
        np.eye(len(g.attribute.domain))[g.array()] if g.array().ndim == 1 else g.array()
        for g in inputs
    ]
    for path in save_all([*targets, *inputs], tmp_path):
        batches = list(
            read_samples(
                path,
                [g.attribute for g in inputs],
                targets=[g.attribute for g in targets],
                batch=batch,
            )
        )
        found = np.concatenate([b.evidence for b in batches])
        np.testing.assert_array_equal(found, np.concatenate(wanted, axis=1))
        assert list(batches[0].targets) == [g.attribute.name for g in targets]
        for g in targets:
            target = np.concatenate([b.targets[g.attribute.name].array for b in batches])
            np.testing.assert_array_equal(target, g.array(), strict=True)
