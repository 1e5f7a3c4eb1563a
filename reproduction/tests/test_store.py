"""Records on disk: whole or not there, and in nobody's way."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import pinesy
import reproduction
from messages import raises_saying
from pinesy.exceptions import DataError
from reproduction import Experiment, Store
from reproduction.store import locked
from reproduction.tests.synthetic import records_in

EXPERIMENT = Experiment("addition", 4, "normal", "antipignistic", 3)
OTHER = Experiment("addition", 4, "normal", "antipignistic", 4)
RECORD = {"accuracy": 0.1 + 0.2, "thresholds": {"c_*": 4.1193415637860086e-08}}
CURE = "run python -m reproduction again"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "results")


def test_what_is_written_is_read(store: Store) -> None:
    assert not store.has(EXPERIMENT)
    store.write(EXPERIMENT, RECORD)
    assert store.has(EXPERIMENT)
    assert not store.has(OTHER)
    found = store.read(EXPERIMENT)
    assert {name: found[name] for name in RECORD} == RECORD
    assert [found[name] for name in ("problem", "size", "run")] == ["addition", 4, 3]
    assert records_in(store.directory) == [found]


def test_a_record_may_be_written_again(store: Store) -> None:
    store.write(EXPERIMENT, {"accuracy": 0.5})
    store.write(EXPERIMENT, {"accuracy": 0.75})
    assert store.read(EXPERIMENT)["accuracy"] == 0.75


def test_records_of_trials_are_found_too(store: Store) -> None:
    Store(store.directory / "quick").write(EXPERIMENT, {"accuracy": 0.5, "quick": True})
    store.write(EXPERIMENT, {"accuracy": 0.75, "quick": False})
    assert sorted(r["accuracy"] for r in records_in(store.directory)) == [0.5, 0.75]


def damaged(store: Store, text: str) -> Path:
    path = store.path(EXPERIMENT)
    path.parent.mkdir(parents=True)
    path.write_text(text)
    return path


def text_of(store: Store, experiment: Experiment) -> str:
    store.write(experiment, RECORD)
    text = store.path(experiment).read_text()
    store.path(experiment).unlink()
    return text


@pytest.mark.parametrize("length", [0, 1, 40, -3])
def test_half_a_record_is_not_taken_for_one(store: Store, length: int) -> None:
    whole = text_of(store, OTHER)
    store.path(EXPERIMENT).write_text(whole[:length])
    for look in (store.has, store.read):
        with raises_saying(DataError, str(store.path(EXPERIMENT)), "not a whole record", CURE):
            look(EXPERIMENT)
    with raises_saying(DataError, str(store.path(EXPERIMENT)), "not a whole record", CURE):
        records_in(store.directory)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ([1, 2], "not a record of pinesy (pinesy.record/1)"),
        ({"accuracy": 1.0}, "not a record of pinesy"),
        ({"format": "pinesy.record/1"}, "a record of no experiment ('problem')"),
        (
            {"format": "pinesy.record/1", **EXPERIMENT.fields, "setting": "?"},
            "a record of no experiment (no setting '?'",
        ),
        (
            {"format": "pinesy.record/1", **OTHER.fields},
            "the record of another experiment (addition-4 normal antipignistic run 4)",
        ),
    ],
)
def test_a_foreign_file_is_not_taken_for_a_record(store: Store, content: Any, says: str) -> None:
    path = damaged(store, json.dumps(content))
    with raises_saying(DataError, str(path), says, CURE):
        store.has(EXPERIMENT)


def test_a_record_in_the_wrong_place_is_no_record(store: Store) -> None:
    store.write(EXPERIMENT, RECORD)
    wrong = store.path(EXPERIMENT).with_name("run-07.json")
    store.path(EXPERIMENT).rename(wrong)
    with raises_saying(DataError, str(wrong), "the record of another experiment", "run 3"):
        records_in(store.directory)


def test_other_files_are_left_alone(store: Store) -> None:
    store.write(EXPERIMENT, RECORD)
    for name in ("notes.json", ".run-03.json.ab12.tmp", ".run-03.lock"):
        (store.path(EXPERIMENT).parent / name).write_text("{")
    assert len(records_in(store.directory)) == 1
    assert store.has(EXPERIMENT)


def test_what_a_killed_process_left_is_swept_away(store: Store) -> None:
    store.write(EXPERIMENT, RECORD)
    place = store.path(EXPERIMENT).parent
    for name in (".run-03.json.ab12.tmp", ".cases-03.json.cd34.tmp", ".run-04.json.ab12.tmp"):
        (place / name).write_text("{")
    store.sweep(EXPERIMENT)
    assert sorted(p.name for p in place.iterdir()) == [".run-04.json.ab12.tmp", "run-03.json"]


def test_numbers_that_json_has_not_are_refused(store: Store) -> None:
    with pytest.raises(ValueError, match="Out of range"):
        store.write(EXPERIMENT, {"accuracy": float("nan")})
    assert not store.has(EXPERIMENT)


def test_a_place_that_cannot_be_written_to_is_told_at_once(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    store = Store(tmp_path / "file" / "results")
    with raises_saying(DataError, "cannot be locked: Not a directory; give a directory"):
        store.check_writable()
    with raises_saying(
        DataError, str(store.path(EXPERIMENT).parent), "cannot be made: Not a directory"
    ):
        store.write(EXPERIMENT, RECORD)
    with raises_saying(
        DataError, str(store.path(EXPERIMENT).parent), "cannot be made: Not a directory"
    ):
        store.write_cases(EXPERIMENT, [])


def test_looking_whether_it_can_be_written_to_leaves_nothing(store: Store) -> None:
    store.check_writable()
    assert list(store.directory.iterdir()) == []


# --- locks ---------------------------------------------------------------------------------------


def test_one_lock_one_holder(store: Store) -> None:
    with store.lock(EXPERIMENT) as first:
        with store.lock(EXPERIMENT) as second, store.lock(OTHER) as other:
            assert (first, second, other) == (True, False, True)
        with store.lock(EXPERIMENT) as third:  # who did not get it did not take it away either
            assert not third
    with store.lock(EXPERIMENT) as later:
        assert later
    assert list(store.path(EXPERIMENT).parent.iterdir()) == []


def test_a_lock_is_free_after_an_error(store: Store) -> None:
    with pytest.raises(KeyError), store.lock(EXPERIMENT):
        raise KeyError
    with store.lock(EXPERIMENT) as mine:
        assert mine


def test_a_lock_file_that_nobody_holds_is_no_lock(tmp_path: Path) -> None:
    (tmp_path / "lock").write_text("12345")
    with locked(tmp_path / "lock") as mine:
        assert mine


def test_a_lock_that_is_deleted_while_another_waits_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that was deleted between opening and locking it locks nothing."""
    path, opened = tmp_path / "lock", os.open

    def slow_open(*args: Any) -> int:
        descriptor = opened(*args)
        monkeypatch.setattr(os, "open", opened)
        path.unlink()
        return descriptor

    monkeypatch.setattr(os, "open", slow_open)
    with locked(path) as mine:
        assert mine
        with locked(path) as second:
            assert not second


HOLDER = """
import sys, time
from pathlib import Path
from reproduction.store import locked
with locked(Path(sys.argv[1])) as mine:
    print(mine, flush=True)
    time.sleep(60)
"""


def test_the_lock_of_a_killed_process_is_taken_over(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    source = [Path(module.__file__ or "").parents[1] for module in (pinesy, reproduction)]
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, source))},
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "True\n"
        with locked(path) as mine:
            assert not mine
        process.send_signal(signal.SIGKILL)
    assert path.exists()  # it could not take it away
    with locked(path) as mine:
        assert mine
