"""One thing of each kind that has a view."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from pinesy import (
    Attribute,
    Cascade,
    If,
    Iff,
    MaxMinSystem,
    MinMaxSystem,
    Possibility,
    RuleSet,
    all_of,
    audit,
    calibrate,
    conditions,
    explain,
    learn,
    posterior,
    smallest_change,
    why_not,
)
from pinesy.calibration import coverage
from pinesy.equations import System
from pinesy.learning import compare_methods, evaluate, search_tolerances
from pinesy.problems import addition, sudoku

EVIL = """<img src=x onerror="alert('1')">&lt;</td></svg>"""
VALUES = ["<b>no", "yes\x1b[2J", f"{EVIL}3"]
SKY, RAIN, GRASS = (Attribute(f"{name}{EVIL}", VALUES) for name in ("sky", "rain", "grass"))
RULES = Cascade(
    RuleSet([Iff(SKY.isin({v})).then(RAIN.isin({v}), r=0.1) for v in VALUES]),
    RuleSet([If(all_of(RAIN.isin({v}), SKY.isin(VALUES))).then(GRASS.isin({v})) for v in VALUES]),
)
SEEN = {SKY.name: [1.0, 0.4, 0.2]}
SKIES = {SKY.name: np.eye(3)[[0, 1, 2, 0, 1, 2, 0, 1]]}
LABELS = [VALUES[i] for i in (0, 1, 2, 0, 1, 2, 2, 1)]
RAINS = {RAIN.name: LABELS}


@cache
def learned() -> Any:
    return learn(RULES, SKIES, RAINS)


@cache
def calibrated() -> Any:
    return calibrate(RULES, SKIES, RAINS)


THINGS: dict[str, Callable[[], Any]] = {
    "attribute": lambda: SKY,
    "number": lambda: Attribute.number("age", [30, 65]),
    "product": lambda: Attribute.product("both", SKY, RAIN),
    "rule": lambda: RULES[RAIN].rules[0],
    "rule set": lambda: RULES[GRASS],
    "cascade": lambda: RULES,
    "large cascade": lambda: sudoku(4),
    "possibility": lambda: RULES.infer(SEEN)[GRASS],
    "possibilities": lambda: RULES.infer(SKIES)[GRASS],
    "contradiction": lambda: Possibility(SKY, np.array([0.5, 0.2, 0.0])),
    "inference": lambda: RULES.infer(SEEN),
    "trace of a batch": lambda: RULES.trace(SKIES),
    "matrix relation": lambda: RULES[GRASS].relation,
    "wide relation": lambda: addition(1)["c_1"].relation,
    "equations": lambda: RULES[RAIN].equations(SEEN, targets=VALUES[0]),
    "inconsistent equations": lambda: RULES[RAIN].equations(SEEN, targets=VALUES[1]),
    "min-max system": lambda: MinMaxSystem([[0.25, 1.0], [1.0, 0.35]], [0.4, 1.0]),
    "max-product system": lambda: System([[1.0], [0.5]], [0.75, 0.0], "max-product"),
    "system of infimum": lambda: System([[0.5]], [0.6], "min-goedel-implication"),
    "max-min system": lambda: MaxMinSystem([[0.7, 0.0], [0.4, 0.5]], [0.6, 1.0]),
    "learning result": learned,
    "estimate": lambda: learn(RULES, SKIES, RAINS, method="counts"),
    "audit": lambda: audit(RULES, SKIES, RAINS),
    "tolerances": lambda: search_tolerances(RULES, SKIES, RAINS, (SKIES, RAINS)),
    "evaluation": lambda: evaluate(RULES, SKIES, RAINS),
    "comparison": lambda: compare_methods(RULES, SKIES, RAINS),
    "explanation": lambda: explain(RULES, SEEN),
    "conditions": lambda: conditions(RULES, GRASS.isin({VALUES[0]}), ">", 0.5),
    "why not": lambda: why_not(RULES, SEEN, VALUES[1]),
    "change": lambda: smallest_change(RULES, SEEN, VALUES[1]),
    "change of values": lambda: smallest_change(
        RULES, {SKY.name: VALUES[0]}, VALUES[1], mode="values"
    ),
    "posterior": lambda: posterior(RULES, SEEN, {GRASS.name: VALUES[1]}),
    "check": lambda: RULES.check(),
    "prediction sets": lambda: calibrated().predict_set(SKIES, level=0.6),
    "prediction set": lambda: calibrated().predict_set(SEEN, level=0.6),
    "coverage": lambda: coverage(calibrated(), SKIES, RAINS),
}
