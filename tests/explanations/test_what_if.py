"""The live widget: what is moved is inferred anew, by Python's engine, and shown as text."""

import sys
from importlib import import_module
from typing import Any

import pytest

from messages import raises_saying
from pinesy import DataError, UnknownAttributeError, what_if
from pinesy.problems import addition, sudoku

pytest.importorskip("anywidget")

MODULE: Any = import_module("pinesy.explanations.what_if")
DIGITS = {"a_1": 3, "a_2": {4: 1.0, 9: 0.3}}


def moved(widget: Any, place: int, degrees: list[float]) -> None:
    widget.degrees = [degrees if i == place else d for i, d in enumerate(widget.degrees)]


def test_what_is_moved_is_inferred() -> None:
    rules = addition(1)
    live = what_if(rules, DIGITS)
    assert [one["name"] for one in live.widget.inputs] == ["a_1", "a_2"]
    assert live.widget.results[0]["possible"] == rules.infer(DIGITS)["y_1"].degrees.tolist()
    moved(live.widget, 0, [0.0] * 5 + [1.0] + [0.0] * 4)
    now = rules.infer({**DIGITS, "a_1": 5})
    assert live.widget.results[0]["possible"] == now["y_1"].degrees.tolist()
    assert max(live.widget.results[0]["certain"]) == now["y_1"].certainty
    assert live.result["y_1"].best == 9
    assert rules.infer(live.evidence)["y_1"].degrees.tolist() == now["y_1"].degrees.tolist()
    assert repr(live) == "WhatIf(Inference(y_1=9, y_0=0))"
    assert "application/vnd.jupyter.widget-view+json" in live._repr_mimebundle_()[0]


def test_without_evidence_nothing_is_known() -> None:
    live = what_if(addition(1), outputs=["y_1"])
    assert live.widget.degrees == [[1.0] * 10] * 2
    assert [one["name"] for one in live.widget.results] == ["y_1"]


@pytest.mark.parametrize(
    ("degrees", "said"),
    [
        ([0.5] * 10, "not normalised"),
        ([2.0] + [0.0] * 9, "2.0"),
        ([1.0], "cannot reshape"),
        (["x"] * 10, "could not convert"),
    ],
)
def test_what_cannot_be_inferred_is_said_and_the_last_sample_stays(
    degrees: list[Any], said: str
) -> None:
    live = what_if(addition(1), DIGITS)
    before = live.widget.results
    moved(live.widget, 0, degrees)
    assert said in live.widget.problem
    assert live.widget.results == before
    assert live.evidence["a_1"][3] == 1.0
    moved(live.widget, 0, [1.0] * 10)
    assert live.widget.problem == ""


def test_only_some_inputs_are_moved() -> None:
    live = what_if(addition(1), DIGITS, change=["a_2"])
    assert [one["name"] for one in live.widget.inputs] == ["a_2"]
    moved(live.widget, 0, [1.0] + [0.0] * 9)
    assert live.result["y_1"].best == 3
    assert len(what_if(sudoku(9)).widget.inputs) == 40


def test_bad_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    with raises_saying(DataError, "about one sample; got a batch"):
        what_if(addition(1), {"a_1": [1, 2], "a_2": [3, 4]})
    with raises_saying(DataError, "change is 'a_1'"):
        what_if(addition(1), change="a_1")
    with raises_saying(UnknownAttributeError, "'a_3' is no input"):
        what_if(addition(1), change=["a_3"])
    MODULE._widget_class.cache_clear()
    monkeypatch.setitem(sys.modules, "anywidget", None)
    with raises_saying(DataError, "pip install 'pinesy[widget]'"):
        what_if(addition(1))
