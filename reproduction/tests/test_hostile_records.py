"""Records that somebody else wrote: they are refused, or shown as the text that they are."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from messages import raises_saying
from pinesy.exceptions import DataError
from reproduction import Experiment, Store
from reproduction.guarantees import FORMAT, read_splits
from reproduction.records import read_records
from reproduction.rendering import markdown, page, print_report
from reproduction.report import read_report
from reproduction.store import read_record
from reproduction.tests.synthetic import ENVIRONMENT, a_record

EXPERIMENT = Experiment("addition", 1, "normal", "antipignistic", 0)
MARKS = "**bold** | `code` <b>b</b> ![i](http://x/y.png) &lt; ~~s~~\n# title\x1b[2J"


def written(place: Path, **changes: Any) -> Path:
    path = Store(place).path(EXPERIMENT)
    path.parent.mkdir(parents=True, exist_ok=True)
    content = {"format": "pinesy.record/1", **EXPERIMENT.fields, **a_record(), **changes}
    path.write_text(json.dumps(content))
    return path


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"memory_mb": 10**400}, "a number of 401 digits"),
        ({"right": -(10**400)}, "a number of 402 digits"),
        ({"notes": "\ud800"}, "surrogates not allowed"),
        ({"environment": {"\udfff": 1}}, "surrogates not allowed"),
        ({"supervision": ["x"]}, "its 'supervision' is ['x']"),
        ({"memory_mb": float("inf")}, "its 'memory_mb' is inf"),
        ({"seconds": {"training": float("nan")}}, "its 'seconds' has nan"),
    ],
)
def test_what_no_report_can_hold(tmp_path: Path, changes: dict[str, Any], reason: str) -> None:
    path = written(tmp_path, **changes)
    with raises_saying(DataError, str(path), reason):
        read_records(tmp_path)


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "9" * 5000])
def test_deep_brackets_and_long_numbers(tmp_path: Path, text: str) -> None:
    path = written(tmp_path)
    path.write_text(text)
    with raises_saying(DataError, str(path), "not a whole record"):
        read_record(path)
    with raises_saying(DataError, str(path), "not a file of splits"):
        read_splits(path)
    path.rename(cases := path.with_name("cases-00.json"))
    with raises_saying(DataError, str(cases), "not a file of explained samples"):
        Store(tmp_path).cases()


def test_text_of_records_is_text_in_reports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reproduction.rendering.can_plot", lambda: False)
    written(tmp_path, environment={**ENVIRONMENT, "machine": MARKS}, scale=MARKS, supervision=MARKS)
    report = read_report(tmp_path)
    print_report(report, Console(file=(shown := io.StringIO()), width=400))
    for text in (markdown(report), page(report), shown.getvalue()):
        assert "\x1b" not in text
    marked = markdown(report)
    assert (
        r"\*\*bold\*\* \| \`code\` \<b>b\</b> !\[i\](http://x/y.png) &lt; \~\~s\~\~ # title"
        in marked
    )
    assert "\n# title" not in marked
    assert "<b>b" not in page(report)


CASE = dict.fromkeys(("title", "summary", "explanation", "why_not", "picture"), "text")


@pytest.mark.parametrize("name", CASE)
def test_texts_of_explained_samples_are_texts(tmp_path: Path, name: str) -> None:
    path = written(tmp_path).with_name("cases-00.json")
    cases = [{**CASE, "images": {}, name: ["no text"]}]
    path.write_text(json.dumps({"format": "pinesy.cases/1", "cases": cases}))
    with raises_saying(DataError, str(path), "a text of it is none"):
        Store(tmp_path).cases()


SPLIT: dict[str, Any] = {
    "format": FORMAT,
    "problem": "addition",
    "size": 1,
    "split": 0,
    "calibration": 9,
    "test": 9,
    "ways": {},
    "digit_accuracy": 0.9,
    "network": {"architecture": "PaperCNN", "epochs": 20},
}


@pytest.mark.parametrize(
    "changes",
    [
        {"ways": {"answers": [None]}},
        {"ways": {"answers": [{}] * 5}},
        {"ways": 3},
        {"problem": "?"},
        {"digit_accuracy": "high"},
        {"network": {"architecture": 3, "epochs": 1}},
        {"network": None},
    ],
    ids=str,
)
def test_splits_that_lack_something(tmp_path: Path, changes: dict[str, Any]) -> None:
    (path := tmp_path / "s.jsonl").write_text(json.dumps(SPLIT))
    assert read_splits(path) == [SPLIT]
    path.write_text(json.dumps({**SPLIT, **changes}))
    with raises_saying(DataError, "s.jsonl: not a file of splits"):
        read_splits(path)
