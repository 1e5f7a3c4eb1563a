"""Patients for tests of classifiers."""

from typing import Any

import numpy as np
import pandas


def patients(n: int = 120) -> tuple[pandas.DataFrame, Any]:
    """A small medical table: numbers, categories, some unknown."""
    rng = np.random.default_rng(4)
    table = pandas.DataFrame(
        {
            "glucose": rng.normal(120, 25, n).round(),
            "bmi": rng.normal(28, 5, n).round(1),
            "smoker": rng.choice(["yes", "no"], n),
        }
    )
    sick = (table.glucose > 130) & (table.bmi > 27) | (rng.random(n) < 0.05)
    table.loc[rng.random(n) < 0.1, "bmi"] = np.nan
    table.loc[rng.random(n) < 0.1, "smoker"] = None
    return table, np.where(sick, "sick", "well")
