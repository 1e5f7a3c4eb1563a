"""Explained sums: which are chosen, what is said of them, and how they are shown."""

from base64 import b64decode
from typing import Any

import numpy as np
import pytest

from pinesy.problems import ExplainedSum, addition, addition_labels, explained_sums, sum_html

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
    right, wrong = explained_sums(addition(2), evidence, addition_labels(true), images)
    assert (right.inferred, right.true) == ("110", "110")
    assert right.why_not == ""
    assert right.margin == pytest.approx(0.4)
    assert (wrong.inferred, wrong.true) == ("045", "044")
    assert "a_4 were read as 2 rather than 3" in wrong.why_not
    assert wrong.summary.startswith("The rules say 45; the sum is 44.")
    assert "digit 3 of the sum is 5" in str(wrong.explanation)


def test_no_wrong_sum() -> None:
    true = np.array([[1, 2, 3, 4]])
    evidence, images = samples(true)
    found = explained_sums(addition(2), evidence, addition_labels(true), images)
    assert [case.title for case in found] == ["The right sum that is the least certain"]


def test_an_open_digit_is_neither_right_nor_wrong() -> None:
    true = np.array([[1, 2, 3, 4], [5, 5, 5, 5], [5, 5, 5, 5], [5, 5, 5, 5]])
    evidence, images = samples(true, 0.2)
    evidence["a_2"][1:, 6] = 1.0  # 5 or 6, as possible as each other
    evidence["a_1"][2] = evidence["a_1"][2, ::-1]  # read as 4, for which the last digit is open
    found = explained_sums(addition(2), evidence, addition_labels(true), images)
    right, wrong = found
    assert (right.inferred, right.true) == ("046", "046")
    assert (wrong.inferred, wrong.true) == ("10?", "110")
    assert wrong.summary.startswith("The rules say 10?; the sum is 110.")
    opened = {name: rows[[0, 1]] for name, rows in evidence.items()}
    (only,) = explained_sums(addition(2), opened, addition_labels(true[:2]), images)
    assert only.title == right.title


def test_no_right_sum() -> None:
    true = np.array([[1, 2, 3, 4]])
    evidence, images = samples(true + 1)
    found = explained_sums(addition(2), evidence, addition_labels(true), images)
    assert [case.title for case in found] == ["The wrong sum that is the most certain"]


def right_and_wrong() -> list[ExplainedSum]:
    true = np.array([[1, 2, 3, 4], [5, 5, 5, 5]])
    read = true.copy()
    read[1, 1] = 6
    evidence, images = samples(read)
    return explained_sums(addition(2), evidence, addition_labels(true), images)


def test_a_page_shows_all_of_it() -> None:
    right, wrong = right_and_wrong()
    assert "Why not" not in right.to_html()
    content = wrong.to_dict()
    assert list(content["images"]) == NAMES
    text = sum_html({**content, "title": "<script>"})
    assert "<script>" not in text
    assert "Why not the true digit" in text
    assert text.count("data:image/png;base64,") == 4
    drawn = text.partition("data:image/svg+xml;base64,")[2].partition('"')[0]
    assert b64decode(drawn).decode() == content["picture"]
