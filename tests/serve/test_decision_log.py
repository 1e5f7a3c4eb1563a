"""The log of decisions: whole lines, rotation, what it has of inputs, processes that are killed."""

import hashlib
import hmac
import json
import os
import random
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from pinesy.exceptions import DataError
from pinesy.serve import DecisionLog, ServedModel
from pinesy.serve.decision_log import LogReader, canonical_json
from serve.conftest import SAMPLE, Start


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def ask(
    start: Start, model: ServedModel, log: DecisionLog, n: int = 1, path: str = "/infer"
) -> Any:
    return start(model, log).post(path, json={"samples": [SAMPLE] * n})


def test_a_line_has_the_decision_and_what_made_it(
    start: Start, model: ServedModel, tmp_path: Path
) -> None:
    log = DecisionLog(tmp_path / "log.jsonl")
    answer = ask(start, model, log, 2).json()
    described, *decisions = records(log.path)
    assert described["kind"] == "model"
    assert described["rules"][6] == "if risk in {high} then decision in {reject}"
    assert [line["sample"] for line in decisions] == [0, 1]
    for line in decisions:
        assert line["kind"] == "decision"
        assert line["request"] == answer["request"]
        assert (line["model"], line["pinesy"]) == (model.sha256, answer["model"]["pinesy"])
        assert line["inputs"] == SAMPLE
        given = answer["answers"][0]["outputs"]["decision"]
        logged = line["outputs"]["decision"]
        assert logged == {k: v for k, v in given.items() if k not in ("answer", "because")}
    assert log.path.stat().st_mode & 0o777 == 0o600


def test_decisions_are_logged_and_explanations_are_not(
    start: Start, sure_model: Path, model: ServedModel, tmp_path: Path
) -> None:
    log = DecisionLog(tmp_path / "log.jsonl")
    assert ask(start, model, log, 1, "/explain").status_code == 200
    assert len(records(log.path)) == 1
    sure = ServedModel.load(sure_model, "antipignistic")
    content = {"samples": [{"left": [0.5, 0.3, 0.2], "right": 1}]}
    assert start(sure, log).post("/decide", json=content).status_code == 200
    line = records(log.path)[-1]
    assert (line["endpoint"], line["outcome"], line["transform"]) == (
        "decide", "handed_over", "antipignistic",
    )  # fmt: skip


def test_a_log_that_is_moved_or_deleted_begins_anew(
    start: Start, model: ServedModel, tmp_path: Path
) -> None:
    log = DecisionLog(tmp_path / "log.jsonl")
    for remove in (log.path.unlink, lambda: log.path.rename(tmp_path / "moved.jsonl")):
        assert ask(start, model, log).status_code == 200
        remove()
        assert ask(start, model, log).status_code == 200
        assert [line["kind"] for line in records(log.path)][-1] == "decision"
        assert records(log.path)[0]["kind"] == "model"
    assert len(records(tmp_path / "moved.jsonl")) > 1


def test_inputs_are_hashed_or_omitted(start: Start, model: ServedModel, tmp_path: Path) -> None:
    text = canonical_json(SAMPLE).encode()
    assert canonical_json(dict(reversed(SAMPLE.items()))).encode() == text
    key = b"secret"
    digests = {
        "inputs_sha256": ("hashed", b"", hashlib.sha256(text).hexdigest()),
        "inputs_hmac_sha256": ("hashed", key, hmac.new(key, text, "sha256").hexdigest()),
        "": ("none", b"", ""),
    }
    for name, (inputs, log_key, digest) in digests.items():
        log = DecisionLog(tmp_path / f"log{name}.jsonl", inputs, log_key)  # type: ignore[arg-type]
        ask(start, model, log)
        line = records(log.path)[-1]
        assert [key for key in line if key.startswith("inputs")] == [name] * bool(name)
        assert line.get(name, "") == digest
        assert "52000" not in log.path.read_text().partition('"kind":"decision"')[2]
    with pytest.raises(DataError, match="a key is of hashed inputs"):
        DecisionLog(tmp_path / "other.jsonl", "full", key)


def test_files_are_rotated_by_size(start: Start, model: ServedModel, tmp_path: Path) -> None:
    log = DecisionLog(tmp_path / "log.jsonl", max_bytes=4000, files=3)
    client = start(model, log)
    for _ in range(20):
        assert client.post("/infer", json={"samples": [SAMPLE]}).status_code == 200
    paths = sorted(tmp_path.glob("log.jsonl*"))
    assert [path.name for path in paths] == ["log.jsonl", "log.jsonl.1", "log.jsonl.2"]
    for path in paths:
        lines = records(path)
        assert lines[0]["kind"] == "model"  # each can be read without the others
        assert len(lines) > 1
        assert path.stat().st_size <= 4000


def test_a_cut_line_of_an_earlier_process_stays_the_last_of_its_file(
    start: Start, model: ServedModel, tmp_path: Path
) -> None:
    path = tmp_path / "log.jsonl"
    ask(start, model, first := DecisionLog(path))
    first.close()
    with path.open("a") as file:
        file.write('{"kind": "decision", "ti')
    ask(start, model, DecisionLog(path))
    assert [line["kind"] for line in records(path)] == ["model", "decision"]
    before = tmp_path / "log.jsonl.1"
    assert before.read_text().endswith('"ti')
    reader = LogReader()
    assert len(list(reader.lines(before))) == 2
    assert reader.notices == [f"{before}, line 3: the last line is cut off, and is skipped"]


def test_two_processes_do_not_share_a_log(tmp_path: Path) -> None:
    log = DecisionLog(tmp_path / "log.jsonl")
    with pytest.raises(DataError, match="another process writes to it"):
        DecisionLog(log.path)
    log.close()
    DecisionLog(log.path).close()


def test_an_answer_that_cannot_be_logged_is_not_given(
    start: Start, model: ServedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = DecisionLog(tmp_path / "log.jsonl")
    client = start(model, log)
    size, write = log.path.stat().st_size, os.write
    monkeypatch.setattr(os, "write", lambda file, content: write(file, content[:50]))
    response = client.post("/infer", json={"samples": [SAMPLE]})
    assert response.status_code == 503
    assert "cannot be logged" in response.json()["error"]
    assert log.path.stat().st_size == size  # the part is taken back
    monkeypatch.setattr(os, "write", write)
    assert client.post("/infer", json={"samples": [SAMPLE]}).status_code == 200
    assert len(records(log.path)) == 2


def test_no_directory_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="No such file"):
        DecisionLog(tmp_path / "gone" / "log.jsonl")


@pytest.mark.process
def test_lines_are_whole_when_a_writer_is_killed(model: ServedModel, tmp_path: Path) -> None:
    """End writers by SIGKILL at random moments; each goes on with the log of those before."""
    path, rng = tmp_path / "log.jsonl", random.Random(0)
    log = DecisionLog(path)
    log.describe(model)
    log.close()
    samples, _ = model.reader.read([SAMPLE])
    [answer] = model.infer(samples)
    sample = SAMPLE | {"id": "x" * 20_000}  # several pages, so that a write can be cut
    for number in range(12):
        process = os.fork()
        if not process:
            written = DecisionLog(path, max_bytes=3_000_000, files=40)
            while True:
                written.write([written.record(model, "infer", str(number), 0, sample, answer)] * 3)
        time.sleep(0.01 + 0.03 * rng.random())
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
    DecisionLog(path).close()
    paths = sorted(tmp_path.glob("log.jsonl*"))
    writers = set()
    for log_path in paths:
        lines = list(LogReader().lines(log_path))  # raises for a bad line before the last
        assert all(line.record["kind"] in ("model", "decision") for line in lines)
        writers |= {line.record.get("request") for line in lines}
    assert len(writers) > 6
