"""Explained sums: kept beside the records, and read again."""

import json
from pathlib import Path
from typing import Any

import pytest

from messages import raises_saying
from pinesy.exceptions import DataError
from reproduction.experiments import Experiment
from reproduction.store import Store
from reproduction.tests.synthetic import records_in

EXPERIMENT = Experiment("addition", 2, "normal", "antipignistic", 0)
NAMES = [f"a_{i + 1}" for i in range(4)]
CASE = {
    "summary": "The rules say 111; the sum is 110.",
    "explanation": "why",
    "why_not": "why not",
    "picture": "<svg></svg>",
    "images": dict.fromkeys(NAMES, "data:image/png;base64,AA=="),
}


def kept(tmp_path: Path) -> Store:
    store = Store(tmp_path)
    store.write_cases(
        EXPERIMENT, [{"title": f"The {word} sum", **CASE} for word in ("right", "wrong")]
    )
    return store


def test_samples_of_trials_say_so(tmp_path: Path) -> None:
    store = kept(tmp_path)
    store.write_cases(EXPERIMENT, store.cases(), "quick")
    assert [c["title"].startswith("quick addition-2 normal") for c in store.cases()] == [True] * 2


def test_what_is_kept_is_read_again(tmp_path: Path) -> None:
    right, wrong = kept(tmp_path).cases()
    assert right["title"].startswith("addition-2 normal antipignistic run 0: The right sum")
    assert {name: wrong[name] for name in CASE} == CASE
    assert list(right["images"]) == NAMES
    assert records_in(tmp_path) == []


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda c: c.update(format="other"), "its format is 'other'"),
        (lambda c: c["cases"][0].pop("images"), "'images'"),
        (lambda c: c["cases"][0]["images"].update(a_1="http://x"), "an image of it is elsewhere"),
        (lambda c: c["cases"][0].update(images=[1]), "values"),
    ],
)
def test_files_that_are_no_cases(tmp_path: Path, change: Any, says: str) -> None:
    store = kept(tmp_path)
    path = store.path(EXPERIMENT).with_name("cases-00.json")
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))
    with raises_saying(DataError, "cases-00.json", "not a file of explained samples", says):
        store.cases()
