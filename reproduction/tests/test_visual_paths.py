"""Paths over boards of images: answers, the grounding, inference against a closure, the record."""

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("mlxtend")

from pinesy import Graph, shortcuts
from pinesy.exceptions import DataError
from pinesy.relations import RelationalRules
from reproduction.scales import QUICK
from reproduction.visual_paths import (
    ANSWERS,
    MEASURES,
    RULES,
    answered_pairs,
    do_paths,
    ground_rules,
    inferred_paths,
    neighbours,
    path_measures,
    path_table,
    read_path_record,
    true_paths,
)

pytestmark = pytest.mark.torch


def test_neighbours_are_right_and_below() -> None:
    pairs = neighbours(np.arange(4).reshape(1, 2, 2))
    assert sorted(map(tuple, pairs.tolist())) == [(0, 1), (0, 2), (1, 3), (2, 3)]


def test_paths_ascend_at_every_step() -> None:
    paths = true_paths(np.array([[[1, 0], [2, 3]]]))[0]
    assert sorted(map(tuple, np.argwhere(paths).tolist())) == [(0, 2), (0, 3), (1, 3), (2, 3)]


def test_the_rules_infer_the_closure_of_certain_digits() -> None:
    digits = np.random.default_rng(0).integers(0, 10, (12, 4, 4))
    boards = np.arange(digits.size).reshape(digits.shape)
    truth = true_paths(digits)
    inferred = inferred_paths(boards, np.eye(10)[digits])
    assert np.array_equal(inferred, truth)
    measures = path_measures(inferred, truth)
    assert [measures[m] for m in ("pairs", "precision", "recall", "boards")] == [1.0] * 4


def test_no_path_is_possible_between_boards() -> None:
    graph = Graph().add("next", [("a", "b"), ("c", "d")])
    graph.attach("digit", np.full((4, 10), 0.1), entities=list("abcd"))
    known = RelationalRules.parse(RULES).infer(graph)
    neighbours_atom, others = known.ask("before(a, b)"), known.ask("before(a, d)")
    assert (neighbours_atom.certain, neighbours_atom.possible) == (0.0, 1.0)
    assert (others.certain, others.possible) == (0.0, 0.0)


def test_a_shift_by_one_costs_one_answer_in_a_hundred() -> None:
    shifted = np.minimum(np.arange(10) + 1, 9)
    true_order = np.less.outer(np.arange(10), np.arange(10))
    assert (np.less.outer(shifted, shifted) != true_order).sum() == 1


def test_measures_count_pairs_that_next_joins() -> None:
    truth = true_paths(np.array([[[1, 0], [2, 3]]]))
    measures = path_measures(np.zeros_like(truth), truth)
    assert measures["pairs"] == measures["nothing_before"] == 1 / 5  # 4 of 5 pairs ascend
    assert measures["recall"] == measures["boards"] == 0.0


@pytest.mark.parametrize("answer", ANSWERS)
def test_answers_tell_the_digits(answer: str) -> None:
    rules = ground_rules(answer)
    assert {a.name for a in rules.inputs} == {"digit(a)", "digit(b)"}
    assert shortcuts(rules).count == 1


def test_answers_are_those_of_the_labels() -> None:
    images = QUICK.images()
    boards = np.arange(4).reshape(1, 2, 2)
    a, b, c, d = images.labels[:4].astype(int).tolist()
    pairs = [(a, b), (c, d), (a, c), (b, d)]
    sums = answered_pairs("sum", boards, images).answers["total(a, b)"]
    orders = answered_pairs("order", boards, images).answers["ascends(a, b)"]
    assert sums == [x + y for x, y in pairs]
    assert orders == [x < y for x, y in pairs]


def test_a_run_is_done_once(tmp_path: Path) -> None:
    lines: list[str] = []
    settings = {"boards": (4, 1, 2), "epochs": 1, "starts": 1}
    records = do_paths(["order"], [0], QUICK.images(), tmp_path, lines.append, **settings)
    assert all(0.0 <= records[0][measure] <= 1.0 for measure in MEASURES)
    assert records[0]["samples"] == {"boards": [4, 1, 2], "epochs": 1, "starts": 1}
    n_lines = len(lines)
    again = do_paths(["order"], [0], QUICK.images(), tmp_path, lines.append, **settings)
    assert again == records
    assert len(lines) == n_lines
    table = path_table([*records, *records])
    share, n_images = records[0]["digits"], 2 * 2 * 25
    error = (share * (1 - share) / n_images) ** 0.5
    assert f"| digits right | {100 * share:.1f} ± {100 * error:.1f} |" in table


def test_a_record_of_another_format_is_refused(tmp_path: Path) -> None:
    (tmp_path / "order-0.json").write_text('{"format": "other"}')
    with pytest.raises(DataError, match="delete it"):
        read_path_record(tmp_path / "order-0.json")
