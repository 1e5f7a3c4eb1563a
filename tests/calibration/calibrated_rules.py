"""Rules that are calibrated, for tests of what is stored and explained."""

from typing import Any

import numpy as np

from calibration.adders import adder, answers, evidence, samples
from pinesy import CalibratedRules, calibrate

P, TRUTH = samples(np.random.default_rng(1), 60, 2, 4)
INPUTS = {"left": TRUTH[:, 0], "right": TRUTH[:, 1]}


def made(of: str, rows: slice = slice(None), **options: Any) -> CalibratedRules:
    truth = {"inputs": INPUTS, "both": INPUTS | answers(TRUTH)}.get(of, answers(TRUTH))
    if of == "answers":
        options["transform"] = "antipignistic"
    part = {name: values[rows] for name, values in truth.items()}
    return calibrate(adder(), evidence(P[rows]), part, **options)
