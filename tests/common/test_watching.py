"""Work tells who watches it how far it is, and ends when it is told to."""

import threading
from typing import Literal

import numpy as np
import pytest

from pinesy import Attribute, Iff, RuleSet, audit, learn, why_not
from pinesy._common.console import Watch, WorkStopped, check_stop, progress, watched_by
from pinesy.explanations import is_coherent
from pinesy.problems import addition, sudoku

RAIN, GRASS = Attribute("rain", ["yes", "no"]), Attribute("grass", ["wet", "dry"])
RULES = RuleSet([Iff(RAIN.isin({"yes"})).then(GRASS.isin({"wet"}))])


def test_a_watch_sees_how_far_work_is() -> None:
    watch = Watch()
    with watched_by(watch), progress("reading", 10) as bar:
        bar.advance(4)
        assert (watch.label, watch.done, watch.total) == ("reading", 4, 10)


def test_work_that_nobody_watches_goes_on() -> None:
    check_stop()
    watch = Watch()
    watch.stop()
    with watched_by(watch), pytest.raises(WorkStopped):
        check_stop()
    check_stop()


def test_a_watch_is_that_of_one_thread() -> None:
    watch, seen = Watch(), list[str]()
    watch.stop()

    def other() -> None:
        check_stop()
        seen.append("went on")

    with watched_by(watch):
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert seen == ["went on"]


def test_time_that_is_over_ends_work() -> None:
    with watched_by(Watch(seconds=0.0)), pytest.raises(WorkStopped):
        check_stop()
    with watched_by(Watch(seconds=1000.0)):
        check_stop()


def test_gradients_stop() -> None:
    watch = Watch()
    watch.stop()
    days = {"rain": ["yes"] * 10}
    learn(RULES, days, ["wet"] * 7 + ["dry"] * 3)  # compiled, which would stop too
    with watched_by(watch), pytest.raises(WorkStopped):
        learn(RULES, days, ["wet"] * 7 + ["dry"] * 3, method="gradient")
    assert (watch.label, watch.done) == ("gradient steps", 1)


def test_a_limit_covers_compiling() -> None:
    watch = Watch()
    watch.stop()
    rules = sudoku(4)
    with watched_by(watch), pytest.raises(WorkStopped):
        rules.compile()
    rules.compile()
    with watched_by(watch), pytest.raises(WorkStopped):
        is_coherent(rules)
    assert is_coherent(rules)


@pytest.mark.parametrize("method", ["given", "counts"])
def test_an_audit_stops(method: Literal["given", "counts"]) -> None:
    watch = Watch()
    watch.stop()
    with watched_by(watch), pytest.raises(WorkStopped):
        audit(RULES, {"rain": ["yes"] * 10}, ["wet"] * 7 + ["dry"] * 3, method=method)


def test_why_not_is_answered_even_if_the_search_for_a_change_is_stopped() -> None:
    rules = addition(1)
    sees = {"a_1": np.eye(10)[3], "a_2": np.eye(10)[4]}
    whole = why_not(rules, sees, 2, "y_1")
    with watched_by(Watch(seconds=0.0)):
        cut = why_not(rules, sees, 2, "y_1")
    assert whole.change is not None
    assert cut.change is None
    assert cut.obstacle == "the search for the smallest change was stopped before it found one"
    assert [str(one) for one in cut.restraints] == [str(one) for one in whole.restraints]
