"""The work of a studio: files that change, the way back, rows that are read meanwhile."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from browser import SAILING
from pinesy import parse
from pinesy.exceptions import DataError
from pinesy.samples import Batch
from pinesy.studio import Session
from pinesy.studio.row_table import RowTable
from studio.conftest import client_of
from studio.touched_files import touch


def test_a_file_that_changes_on_disk_is_noticed(
    client: TestClient, session: Session, rules: Path
) -> None:
    assert client.post("/api/shell/state").json()["changed"] == []
    touch(rules, SAILING.replace("0.25", "0.5"))
    assert client.post("/api/shell/state").json()["changed"] == [str(rules)]
    before = session.work
    state = client.post("/api/shell/keep").json()
    assert (state["changed"], session.work) == ([], before)
    touch(rules, SAILING.replace("0.25", "0.75"))
    state = client.post("/api/shell/reload").json()
    assert (state["changed"], state["canUndo"], state["version"]) == ([], True, 1)
    assert "0.75" in session.work.text
    client.post("/api/shell/undo")
    assert session.work is before
    told = client.post("/api/shell/undo")
    assert (told.status_code, told.json()["error"]) == (422, "there is nothing to undo")


def test_a_file_that_became_bad_changes_nothing(
    client: TestClient, session: Session, rules: Path
) -> None:
    before = session.work
    touch(rules, "attribute a in {")
    told = client.post("/api/shell/reload")
    assert (told.status_code, told.json()["line"], session.work) == (422, 1, before)
    rules.unlink()
    assert client.post("/api/shell/state").json()["changed"] == [str(rules)]


def test_rows_are_samples_of_the_file(session: Session) -> None:
    rows = session.rows
    assert (len(rows), rows.finished, rows.problem) == (3, True, None)
    assert [rows.line(i) for i in range(3)] == [1, 2, 3]
    assert rows.sample(0) == {"sky": "dark", "wind": 12.0}
    assert rows.sample(1)["sky"].degrees.tolist() == [1.0, 0.5, 0.0]
    assert rows.sample(2) == {"sky": "clear", "wind": None}
    assert rows.targets(1) == {"street": 0}
    assert len(rows.batch()) == 3
    assert rows.sample(0) == {"sky": "dark", "wind": 12.0}
    with pytest.raises(DataError, match="there is no row 4; the data has 3"):
        rows.sample(3)


def test_bad_rows_are_told_and_those_before_them_stay(rules: Path, data: Path) -> None:
    data.write_text('{"sky": "dark", "wind": 1}\n' * 10_000 + '{"sky": "dark", "wind": "strong"}\n')
    session = Session.open(rules, data)
    session.rows.wait()
    assert len(session.rows) == 10_000
    assert "line 10001" in str(session.rows.problem)
    with pytest.raises(DataError, match="line 10001"):
        session.rows.batch()


def test_data_are_read_anew_for_other_attributes(session: Session) -> None:
    rows = session.rows
    session.use(session.work.with_rules(parse(SAILING.replace("0.25", "0.5"))))
    assert session.rows is rows
    session.use(session.work.with_rules(parse(SAILING.replace("{10, 30}", "{10, 20, 30}"))))
    assert session.rows is not rows
    session.rows.wait()
    assert len(session.rows.inputs[1].domain) == 4


def test_the_state_is_told_before_the_first_row_is_there(session: Session) -> None:
    begin = threading.Event()

    def batches() -> Iterator[Batch]:
        begin.wait()
        return iter([])

    session.rows = RowTable(batches, session.work.rules.inputs)
    told = client_of(session).post("/api/shell/state").json()
    assert (told["rows"], told["reading"], told["problem"]) == (0, True, None)
    begin.set()
