"""Model files: what was learned comes back to the last bit, or an error says why not."""

import json
import os
import platform
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pinesy
from learning.oracle_help import DIAMOND, SKIP, bits, random_samples
from messages import raises_saying
from pinesy import DataError, LearningResult, PinesyError, learn
from strategies import BatchCase, batches

EXAMPLES = settings(max_examples=30)
SOURCES = str(Path(pinesy.__file__).parents[1])


@pytest.fixture
def result() -> LearningResult:
    return learn(DIAMOND, *random_samples(DIAMOND, 40, seed=2), tolerance={"b": 0.9})


# --- round trips -------------------------------------------------------------------------------


@EXAMPLES
@given(batches(sizes=(1, 9, 140)), st.integers(0, 2**16))
def test_round_trip(tmp_path_factory: pytest.TempPathFactory, case: BatchCase, seed: int) -> None:
    path = tmp_path_factory.mktemp("models") / "model.json"
    inputs, targets = random_samples(case.cascade, case.n, seed, grid=2**40)
    result = learn(case.cascade, inputs, targets)
    pinesy.save(result, path)
    model = pinesy.load(path)
    assert bits(model.result, fronts=False) == bits(result, fronts=False)
    assert model.cascade == result.cascade
    again = path.with_name("again.json")
    pinesy.save(model.result, again, model.provenance)
    assert again.read_bytes() == path.read_bytes()


def test_sets_without_target(tmp_path: Path) -> None:
    inputs, targets = random_samples(SKIP, 20, seed=3)
    result = learn(SKIP, inputs, {"c": targets["c"]})
    pinesy.save(result, tmp_path / "m.json")
    model = pinesy.load(tmp_path / "m.json")
    assert list(model.result.sets) == ["c"]
    assert model.cascade == result.cascade
    assert (model.result["c"].nabla, model.result["c"].greatest) == (None, None)


def test_provenance(result: LearningResult, tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    pinesy.save(result, path, {"data": "pairs.jsonl", "sha256": "ab", "seeds": [1, 2]})
    assert pinesy.load(path).provenance == {
        "pinesy": pinesy.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
        "data": "pairs.jsonl",
        "sha256": "ab",
        "seeds": [1, 2],
    }
    pinesy.save(result, path)
    assert set(pinesy.load(path).provenance) == {"pinesy", "numpy", "python"}


def test_provenance_that_json_cannot_hold(result: LearningResult, tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    pinesy.save(result, path)
    before = path.read_bytes()
    turning: dict[str, Any] = {}
    turning["self"] = turning
    for wrong in ({"x": object()}, {"x": {1, 2}}, turning):
        with raises_saying(DataError, "provenance cannot be written as JSON"):
            pinesy.save(result, path, wrong)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["m.json"]


# --- writing -----------------------------------------------------------------------------------


class StopError(Exception):
    """Something that happens while a file is written."""


def stop(*_: object) -> None:
    raise StopError


@pytest.mark.parametrize("step", ["os.fsync", "os.replace"])
def test_an_interrupted_write_leaves_the_old_file(
    step: str, result: LearningResult, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "m.json"
    pinesy.save(result, path, {"number": 1})
    before = path.read_bytes()
    monkeypatch.setattr(step, stop)
    with pytest.raises(StopError):
        pinesy.save(result, path, {"number": 2})
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["m.json"]


WRITER = """
import sys
from itertools import count
import pinesy
result = pinesy.load(sys.argv[1]).result
for number in count():
    pinesy.save(result, sys.argv[2], {"number": number, "filler": "x" * 300_000})
"""


def test_a_killed_writer_leaves_a_whole_file(result: LearningResult, tmp_path: Path) -> None:
    """Killed at any moment, in the middle of a write too."""
    source, path = tmp_path / "source.json", tmp_path / "m.json"
    pinesy.save(result, source)
    for pause in (0.0, 0.003, 0.011):
        path.unlink(missing_ok=True)
        command = [sys.executable, "-c", WRITER, str(source), str(path)]
        writer = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": SOURCES})
        while not path.exists():
            assert writer.poll() is None
            time.sleep(0.01)
        time.sleep(pause)
        writer.send_signal(signal.SIGKILL)
        assert writer.wait() == -signal.SIGKILL
        model = pinesy.load(path)
        assert model.provenance["number"] >= 0
        assert bits(model.result, fronts=False) == bits(result, fronts=False)


def test_where_a_model_cannot_be(result: LearningResult, tmp_path: Path) -> None:
    for name in ("m.txt", "m", "m.rules"):
        with raises_saying(DataError, name, "learned models are saved as .json files"):
            pinesy.save(result, tmp_path / name)
    for name in ("m.txt", "m"):
        with raises_saying(DataError, name, "learned models as .json and neuro-symbolic", ".zip"):
            pinesy.load(tmp_path / name)
    with raises_saying(DataError, "none.json", "cannot be read: No such file") as caught:
        pinesy.load(tmp_path / "none.json")
    assert str(caught.value).count("none.json") == 1
    with raises_saying(DataError, "m.json", "cannot be written"):
        pinesy.save(result, tmp_path / "nowhere" / "m.json")


# --- files that were changed -------------------------------------------------------------------


def changed(path: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    content = json.loads(path.read_text(encoding="utf-8"))
    change(content)
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def put(*place: Any) -> Callable[[dict[str, Any]], None]:
    """Return a change: the last of the arguments at the place that the others name."""
    *keys, last, value = place

    def change(content: Any) -> None:
        for key in keys:
            content = content[key]
        content[last] = value

    return change


SET = ("learning", "sets", "b")
CHANGES: list[tuple[tuple[Any, ...], list[str]]] = [
    (("learning", None), ['"learning", how the rules were learned, is not of version 1']),
    (("learning", "version", 2), ["not of version 1"]),
    (("version", 3), ["format version 3", "update pinesy"]),
    (("format", "rules"), ["not a file of rules"]),
    (("rule_sets", 0, 0, "s", 2), ["rule_sets[0][0]", "parameter s", "is 2"]),
    (("learning", "samples", "many"), ["learning"]),
    (("learning", "samples", -1), ["learning"]),
    (("learning", "samples", 1e999), ["learning"]),
    (("learning", "provenance", None), ["learning"]),
    (("learning", "sets", []), ["learning"]),
    (("learning", "sets", {"zz": {}}), ["no rule set concludes on 'zz'"]),
    ((*SET, None), ["learning"]),
    ((*SET, "distance", -1.0), ["the distance of 'b'", "-1.0"]),
    ((*SET, "distance", float("nan")), ["the distance of 'b'", "nan"]),
    ((*SET, "smallest", 1e300), ["the smallest distance of 'b'", "1e+300"]),
    ((*SET, "distance", None), ["the distance of 'b'", "None"]),
    ((*SET, "tolerance", "x"), []),
    ((*SET, "tolerance", -0.5), []),
    ((*SET, "samples", "x"), []),
    ((*SET, "reliable", None), []),
    ((*SET, "reliable", 10**6), []),
    ((*SET, "smallest", None), []),
]


@pytest.mark.parametrize(
    ("change", "words"), CHANGES, ids=["-".join(map(str, c[0]))[:40] for c in CHANGES]
)
def test_changed_files(
    change: tuple[Any, ...], words: list[str], result: LearningResult, tmp_path: Path
) -> None:
    pinesy.save(result, tmp_path / "m.json")
    assert result["b"].distance > 0.0
    with raises_saying(PinesyError, "m.json: ", *words):
        pinesy.load(changed(tmp_path / "m.json", put(*change)))


@pytest.mark.parametrize("cut", [0.0, 0.3, 0.999])
def test_files_that_are_cut_off(cut: float, result: LearningResult, tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    pinesy.save(result, path)
    content = path.read_bytes()
    path.write_bytes(content[: int(cut * (len(content) - 2))])
    with raises_saying(DataError, "m.json: not whole JSON", "may be cut off"):
        pinesy.load(path)


def test_files_of_something_else(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    pinesy.save(DIAMOND, path)
    assert pinesy.load(path) == DIAMOND  # rules alone
    for text in ("[]", "3", '{"format": "pinesy cascade", "version": 1}', "\x00"):
        path.write_text(text, encoding="utf-8")
        with raises_saying(DataError, "m.json: "):
            pinesy.load(path)
    path.write_bytes(b"\xff\xfe\x00")
    with raises_saying(DataError, "m.json: ", "not UTF-8"):
        pinesy.load(path)
