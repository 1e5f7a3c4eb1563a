"""The search for a change is bounded in all, says how far it is, and keeps the best so far."""

from contextlib import suppress
from typing import Any

import numpy as np
import pytest

from pinesy import Cascade, antipignistic
from pinesy._common.console import Watch, watched_by
from pinesy._common.validation import FloatArray
from pinesy.engine.program import Program
from pinesy.exceptions import UnreachableError
from pinesy.explanations import smallest_change, why_not
from pinesy.explanations.smallest_change import Mode
from pinesy.problems import sudoku
from pinesy.problems.visual_sudoku import correct_grids

RULES = sudoku(4)


def blurred(rules: Cascade, wrong: int, seed: int) -> dict[str, Any]:
    """A network's view of a correct grid in which some cells are written wrong."""
    rng = np.random.default_rng(seed)
    dim = len(rules.inputs[0].domain)
    shown = correct_grids(dim, 1, rng)[0].ravel()
    shown[rng.permutation(dim * dim)[:wrong]] += 1
    found = {}
    for a, digit in zip(rules.inputs, shown % dim, strict=True):
        p = rng.dirichlet(np.full(dim, 0.1)) * 0.4
        p[digit] += 0.6
        found[a.name] = antipignistic(p / p.sum())
    return found


class Interruption(Watch):
    """Asks the work to end after so many looks."""

    def __init__(self, looks: int) -> None:
        super().__init__()
        self.looks = looks

    @property
    def stopped(self) -> bool:
        self.looks -= 1
        return self.looks < 0


@pytest.mark.parametrize("mode", ["smallest", "fewest"])
@pytest.mark.parametrize("effort", [100, 1000])
def test_the_rows_of_all_parts_are_bounded(
    mode: Mode, effort: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows, run = list[int](), Program.run

    def count(program: Program, x: FloatArray) -> FloatArray:
        rows.append(len(x))
        return run(program, x)

    monkeypatch.setattr(Program, "run", count)
    with suppress(UnreachableError):
        smallest_change(RULES, blurred(RULES, 4, seed=1), 1, mode=mode, effort=effort)
    # A step that has begun is ended: of all ways of all inputs, or of some combinations of them.
    assert sum(rows) < effort + 500


def test_progress_is_seen() -> None:
    watch = Watch()
    with watched_by(watch):
        why_not(RULES, blurred(RULES, 3, seed=0), 1, mode="smallest", effort=500)
    assert watch.label == "searching the smallest change"
    assert watch.done > 0
    assert watch.total == 500


@pytest.mark.parametrize("mode", ["smallest", "fewest"])
def test_the_best_so_far_is_kept(mode: Mode) -> None:
    sees = blurred(RULES, 3, seed=2)
    whole = why_not(RULES, sees, 1, mode=mode).change
    assert whole is not None
    found = None
    for looks in range(1, 2000, 3):
        with watched_by(Interruption(looks)):
            found = why_not(RULES, sees, 1, mode=mode).change
        if found is not None:
            break
    assert found is not None
    assert not found.exact
    assert found.size >= whole.size
    assert RULES.infer(found.new)["c"].best == 1
