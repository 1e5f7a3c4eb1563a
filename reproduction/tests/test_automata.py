"""Words of digits: the automaton against sums, its probability, a run, the record, the table."""

from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("torch")

import torch

from messages import raises_saying
from pinesy.exceptions import DataError
from pinesy.nets import RuleLayer
from reproduction.automata import (
    LONG,
    answered_words,
    automata_table,
    automaton_record,
    automaton_rules,
    bound_of,
    do_automata,
    long_share,
    read_automaton_record,
    words_of,
)
from reproduction.scales import Images

pytestmark = pytest.mark.torch


def bar_images(n: int) -> Images:
    """Return images whose digit is the height of a bar."""
    labels = np.arange(n, dtype=np.uint8) % 10
    pixels = np.zeros((n, 28, 28), np.uint8)
    for index, digit in enumerate(labels):
        pixels[index, : 2 + 2 * digit, 4:24] = 255
    return Images(pixels, labels, n - 200)


@pytest.mark.parametrize("bound", [1, 13, 27])
def test_the_automaton_accepts_what_adds_up_to_the_bound(bound: int) -> None:
    words = np.array(list(product(range(10), repeat=3)))
    known = {f"digit_{i}": column.tolist() for i, column in enumerate(words.T)}
    inferred = automaton_rules(3, bound).infer(known)["accepted"]
    accepted = words.sum(axis=1) >= bound
    assert np.array_equal(inferred[True], np.where(accepted, 1.0, 0.0))
    assert np.array_equal(inferred[False], np.where(accepted, 0.0, 1.0))


COUNTS = st.lists(st.lists(st.integers(0, 5), min_size=10, max_size=10), min_size=3, max_size=3)


@settings(deadline=None, max_examples=20)
@given(COUNTS.filter(lambda rows: all(map(sum, rows))))
def test_the_probability_is_that_of_all_words(rows: list[list[int]]) -> None:
    exact = [[Fraction(count, sum(row)) for count in row] for row in rows]
    total = sum(
        (exact[0][a] * exact[1][b] * exact[2][c])
        for a, b, c in product(range(10), repeat=3)
        if a + b + c >= 13
    )
    layer = RuleLayer(automaton_rules(3, 13), semantics="probabilistic")
    given_digits = {
        f"digit_{i}": torch.tensor([[float(p) for p in row]], dtype=torch.float64)
        for i, row in enumerate(exact)
    }
    accepted = layer(given_digits)["accepted"][0]
    index = layer.rules.outputs[0].domain.index(True)
    assert float(accepted[index]) == pytest.approx(float(total), abs=1e-12)


def test_each_image_is_in_one_word() -> None:
    words = words_of(np.arange(50, 103), 4, np.random.default_rng(0))
    assert words.shape == (13, 4)
    assert len(np.unique(words)) == words.size
    assert words.min() >= 50
    with raises_saying(DataError, "5", "4"):
        words_of(np.arange(4), 5, np.random.default_rng(0))


def test_answers_are_those_of_the_labels() -> None:
    images = bar_images(400)
    words = words_of(images.test, 4, np.random.default_rng(0))
    accepted = answered_words(words, images).answers["accepted"]
    sums = [sum(int(images.labels[image]) for image in word) for word in words]
    assert list(accepted) == [total >= 18 for total in sums]


def test_long_words_of_certain_and_of_unknown_digits() -> None:
    labels = np.random.default_rng(0).integers(0, 10, 2 * LONG)
    rng = np.random.default_rng(1)
    assert long_share(np.eye(10)[labels], labels, rng, 5) == 1.0
    assert long_share(np.full((len(labels), 10), 0.1), labels, rng, 5) == 0.0


def test_a_network_learns_from_accept_and_reject(tmp_path: Path) -> None:
    images = bar_images(2200)
    record = automaton_record(2, 0, images, epochs=8, long_words=4)
    assert record["training_words"] == 950
    assert record["words"] > 0.9
    assert record["digits"] > 0.2, "twice what chance gives: words of two digits say little"
    records = do_automata([2], [0], images, tmp_path, lambda _: None, epochs=8, long_words=4)
    unlike = {"seconds"}
    assert {k: v for k, v in records[0].items() if k not in unlike} == {
        k: v for k, v in record.items() if k not in unlike
    }
    messages: list[str] = []
    assert do_automata([2], [0], images, tmp_path, messages.append) == records
    assert not messages, "it is there, and not done again"
    table = automata_table(records).splitlines()
    assert table[0].count("|") == table[2].count("|")
    assert table[2].startswith(f"| 2 | {bound_of(2) + 1} | 950 | 1 |")


def test_a_file_that_is_no_record(tmp_path: Path) -> None:
    path = tmp_path / "4-0.json"
    path.write_text('{"format": "pinesy.automata/1", "words": 1}')
    with raises_saying(DataError, "4-0.json", "delete it"):
        read_automaton_record(path)
