"""The speed of exact inference and of most probable worlds, against inference of the same rules."""

from functools import partial

import numpy as np
from measure import Line, best_times

from pinesy import Cascade, antipignistic, best_world, parse
from pinesy._common.validation import FloatArray
from pinesy.problems import sudoku
from pinesy.problems.visual_sudoku import correct_grids

SECTION = "exact"
SEED = 0
#: A loan of 30 rules: income, debts, history and job lead to the decision along several paths.
LOAN = """
    attribute income in {low, middle, high}
    attribute debts in {none, some, heavy}
    attribute history in {good, mixed, bad}
    attribute job in {permanent, temporary, none}
    attribute savings in {none, some, ample}
    attribute home in {owned, rented}
    attribute means in {weak, fair, strong}
    attribute burden in {light, moderate, severe}
    attribute trust in {low, medium, high}
    attribute risk in {low, medium, high}
    attribute decision in {approve, review, reject}
    if income == high and job == permanent then means == strong [certainty=0.9]
    if income == high and job in {temporary, none} then means in {fair, strong}
    if income == middle and job == permanent then means in {fair, strong} [certainty=0.8]
    if income == middle and job == none then means in {weak, fair} [certainty=0.7]
    if income == low and savings == none then means == weak [certainty=0.9]
    if income == low and savings == ample then means == fair [certainty=0.6]
    if job == none and savings == none then means == weak
    if debts == none then burden == light [certainty=0.9]
    if debts == some and income == high then burden == light [certainty=0.7]
    if debts == some and income in {low, middle} then burden in {moderate, severe}
    if debts == heavy and income in {low, middle} then burden == severe [certainty=0.9]
    if debts == heavy and income == high then burden == moderate [certainty=0.8]
    if home == rented and debts == heavy then burden == severe [certainty=0.6]
    if home == owned and debts == none then burden == light
    if history == good and job == permanent then trust == high [certainty=0.9]
    if history == good and job in {temporary, none} then trust in {medium, high}
    if history == mixed then trust in {low, medium} [certainty=0.8]
    if history == bad and debts == heavy then trust == low
    if history == bad and savings == ample then trust in {low, medium} [certainty=0.7]
    if history == bad then trust in {low, medium} [certainty=0.9]
    if means == weak and burden == severe then risk == high
    if means == strong and burden == light then risk == low [certainty=0.9]
    if means == fair and burden == moderate then risk == medium [certainty=0.8]
    if means == weak and trust == low then risk == high [certainty=0.9]
    if burden == severe and trust == low then risk == high
    if means == strong and trust == high then risk in {low, medium}
    if risk == high then decision == reject [certainty=0.9]
    if risk == low and trust in {medium, high} then decision == approve [certainty=0.9]
    if risk == medium then decision == review [certainty=0.8]
    if trust == low and income == low then decision in {review, reject}
"""


def board_readings(dim: int, n: int, share_misread: float = 0.004) -> dict[str, FloatArray]:
    """Return probabilities of the cells of valid boards, as a network reads them."""
    rng = np.random.default_rng(SEED)
    grids = correct_grids(dim, n, rng)
    is_misread = rng.random(grids.shape) < share_misread
    shown = (grids + is_misread * rng.integers(1, dim, grids.shape)) % dim
    scores = rng.normal(size=(*grids.shape, dim))
    rows = np.indices(grids.shape)
    scores[(*rows, grids)] += 6.0
    scores[(*rows, shown)] += 10.0
    p = np.exp(scores)
    p /= p.sum(axis=2, keepdims=True)
    return {f"a_{i // dim + 1}_{i % dim + 1}": p[:, i] for i in range(dim * dim)}


def loan_readings(rules: Cascade, n: int) -> dict[str, FloatArray]:
    """Return probabilities of the inputs of loans."""
    rng = np.random.default_rng(SEED)
    return {a.name: rng.dirichlet(np.full(len(a.domain), 0.5), n) for a in rules.inputs}


def exact_line(name: str, rules: Cascade, probabilities: dict[str, FloatArray]) -> Line:
    """Time exact inference of a batch, against inference; note how many bounds are loose."""
    evidence = {attribute: antipignistic(p) for attribute, p in probabilities.items()}
    [output] = rules.outputs
    exact = rules.infer(evidence, exact=True)[output].degrees
    bound = rules.infer(evidence)[output].degrees
    infer = partial(rules.infer, evidence)
    times = best_times({"exact": partial(infer, exact=True), "inference": infer})
    loose = int(np.count_nonzero((exact < bound).any(axis=1)))
    note = f"{loose} of {len(exact)} bounds are loose"
    against = {"inference": times["inference"]}
    return Line(SECTION, name, times["exact"], len(exact), against=against, note=note)


def world_line(name: str, rules: Cascade, probabilities: dict[str, FloatArray]) -> Line:
    """Time the most probable valid fillings of a batch."""
    n = len(next(iter(probabilities.values())))
    call = partial(best_world, rules, probabilities, {"c": np.ones(n, dtype=int)})
    return Line(SECTION, f"{name}: filling", best_times({"world": call})["world"], n)


def lines(tiny: bool = False) -> list[Line]:
    """Measure Sudoku and a cascade of 30 rules."""
    loan = parse(LOAN)
    cases = [("loan, 30 rules", loan, loan_readings(loan, 2 if tiny else 1000))]
    for dim, n in ((4, 2),) if tiny else ((4, 1000), (9, 100)):
        cases.append((f"Sudoku {dim}x{dim}", sudoku(dim), board_readings(dim, n)))
    return [exact_line(*case) for case in cases] + [world_line(*case) for case in cases[1:]]
