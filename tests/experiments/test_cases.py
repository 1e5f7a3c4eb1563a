"""Explained samples: found, kept beside the records, shown on the page."""

import json
from base64 import b64decode
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experiments.synthetic import records_in
from messages import raises_saying
from pinesy.exceptions import DataError
from pinesy.experiments.cases import find_cases
from pinesy.experiments.html import case_html
from pinesy.experiments.pieces import Piece
from pinesy.experiments.store import Store
from pinesy.problems import addition, addition_labels

PIECE = Piece("addition", 2, "normal", "antipignistic", 0)
NAMES = [f"a_{i + 1}" for i in range(4)]


def samples(read: Any, doubt: Any = 0.0) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what a reader of digits believes, with some doubt, and images."""
    digits = np.array(read)
    degrees = np.maximum(np.eye(10)[digits], np.reshape(doubt, (-1, 1, 1)))
    evidence = {name: degrees[:, i] for i, name in enumerate(NAMES)}
    images = {name: np.full((len(digits), 28, 28), 7, np.uint8) for name in NAMES}
    return evidence, images


def test_the_least_certain_right_sum_and_the_most_certain_wrong_one() -> None:
    true = np.array([[1, 2, 3, 4], [5, 5, 5, 5], [9, 0, 0, 9], [2, 2, 2, 2]])
    read = true.copy()
    read[2, 0], read[3, 3] = 8, 3
    evidence, images = samples(read, [0.3, 0.6, 0.2, 0.1])
    right, wrong = find_cases(addition(2), evidence, images, addition_labels(true))
    assert (right.found, right.true) == ("110", "110")
    assert right.why_not == ""
    assert right.margin == pytest.approx(0.4)
    assert (wrong.found, wrong.true) == ("045", "044")
    assert "a_4 were read as 2 rather than 3" in wrong.why_not
    assert wrong.summary.startswith("The rules say 45; the sum is 44.")
    assert "digit 3 of the sum is 5" in str(wrong.explanation)


def test_no_wrong_sum() -> None:
    true = np.array([[1, 2, 3, 4]])
    evidence, images = samples(true)
    found = find_cases(addition(2), evidence, images, addition_labels(true))
    assert [case.title for case in found] == ["The right sum that is the least certain"]


def test_an_open_digit_is_neither_right_nor_wrong() -> None:
    true = np.array([[1, 2, 3, 4], [5, 5, 5, 5], [5, 5, 5, 5], [5, 5, 5, 5]])
    evidence, images = samples(true, 0.2)
    evidence["a_2"][1:, 6] = 1.0  # 5 or 6, as possible as each other
    evidence["a_1"][2] = evidence["a_1"][2, ::-1]  # read as 4, for which the last digit is open
    found = find_cases(addition(2), evidence, images, addition_labels(true))
    right, wrong = found
    assert (right.found, right.true) == ("046", "046")
    assert (wrong.found, wrong.true) == ("10?", "110")
    assert wrong.summary.startswith("The rules say 10?; the sum is 110.")
    opened = {name: rows[[0, 1]] for name, rows in evidence.items()}, images
    (only,) = find_cases(addition(2), *opened, addition_labels(true[:2]))
    assert only.title == right.title


def test_samples_of_trials_say_so(tmp_path: Path) -> None:
    store = kept(tmp_path)
    store.write_cases(PIECE, store.cases(), "quick")
    assert [c["title"].startswith("quick addition-2 normal") for c in store.cases()] == [True] * 2


def test_no_right_sum() -> None:
    true = np.array([[1, 2, 3, 4]])
    evidence, images = samples(true + 1)
    found = find_cases(addition(2), evidence, images, addition_labels(true))
    assert [case.title for case in found] == ["The wrong sum that is the most certain"]


def kept(tmp_path: Path) -> Store:
    true = np.array([[1, 2, 3, 4], [5, 5, 5, 5]])
    read = true.copy()
    read[1, 1] = 6
    evidence, images = samples(read)
    found = find_cases(addition(2), evidence, images, addition_labels(true))
    store = Store(tmp_path)
    store.write_cases(PIECE, [case.to_dict() for case in found])
    return store


def test_what_is_kept_is_read_again(tmp_path: Path) -> None:
    right, wrong = kept(tmp_path).cases()
    assert right["title"].startswith("addition-2 normal antipignistic run 0: The right sum")
    assert wrong["why_not"]
    assert wrong["picture"].startswith("<svg")
    assert list(right["images"]) == NAMES
    assert records_in(tmp_path) == []


def test_the_page_shows_all_of_it(tmp_path: Path) -> None:
    right, wrong = kept(tmp_path).cases()
    assert "Why not" not in case_html(right)
    text = case_html({**wrong, "title": "<script>"})
    assert "<script>" not in text
    assert "Why not the true digit" in text
    assert text.count("data:image/png;base64,") == 4
    drawn = text.partition("data:image/svg+xml;base64,")[2].partition('"')[0]
    assert b64decode(drawn).decode() == wrong["picture"]


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
    path = store.path(PIECE).with_name("cases-00.json")
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))
    with raises_saying(DataError, "cases-00.json", "not a file of explained samples", says):
        store.cases()
