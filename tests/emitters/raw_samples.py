"""Raw values for the inputs of rules, and names that careless emitters would trip over."""

import runpy
from contextlib import redirect_stdout
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np

from pinesy import Cascade

#: Files of rules without variables.
EXAMPLES = [
    path
    for path in sorted((Path(__file__).parents[2] / "examples").glob("*.rules"))
    if "\nrelation " not in path.read_text()
]
#: Examples that train networks or induce rules: of Addition-1, a score card, rules of one line.
TRAINING = {"audit_addition", "audit_table", "digit_page", "drift_alarm", "own_network"}
#: The other scripts of examples, with the name of their rules.
SCRIPTS = {
    path.stem: "same_digit" if path.stem == "same_digit" else "rules"
    for path in sorted(EXAMPLES[0].parent.glob("*.py"))
    if path.stem not in TRAINING
}
HOSTILE = [
    'a"; DROP TABLE t; --', "select", "a'b", "x\\", "`tick`", "日本", " ", "ok", "k0", "layer_0",
    "/* c */", "%s", "a\nb", "?", "t.x", "--", "v3",
]  # fmt: skip


@cache
def script_rules(name: str) -> Cascade:
    """Return the rules of a script of the examples."""
    with redirect_stdout(StringIO()):
        names = runpy.run_path(str(EXAMPLES[0].parent / f"{name}.py"))
    rules = names[SCRIPTS[name]]
    return rules if isinstance(rules, Cascade) else Cascade(rules)


def raw_columns(cascade: Cascade, n: int, seed: int) -> dict[str, Any]:
    """Return random values for the inputs: near and at cuts, infinite, categories, and None."""
    rng = np.random.default_rng(seed)
    columns = {}
    for a in cascade.inputs:
        if a.scale is None:
            values = [a.domain[i] for i in rng.integers(len(a.domain), size=n)]
        else:
            cuts = np.array([*a.scale.cuts, 0.0])
            near = rng.choice(cuts, n) + rng.choice([0.0, 1e-9, -0.3, 0.7, 2.0, -np.inf, np.inf], n)
            values = near.tolist()
        columns[a.name] = [None if rng.random() < 0.15 else value for value in values]
    return columns


def raw_inputs(cascade: Cascade, n: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return random values as the graph takes them, and as `infer` does."""
    rng = np.random.default_rng(1)
    numbers, evidence = {}, {}
    for a in cascade.compile().inputs:
        if a.scale is None:
            column = rng.integers(len(a.domain), size=n).astype(float)
            values = [a.domain[int(i)] for i in column]
        else:
            shifts = rng.choice([0.0, 1e-9, -0.3, 0.7, np.inf, -np.inf], n)
            column = rng.choice([*a.scale.cuts, 0.0], n) + shifts
            values = column.tolist()
        blank = rng.random(n) < 0.15
        numbers[a.name] = np.where(blank, np.nan, column)
        pairs = zip(values, blank, strict=True)
        evidence[a.name] = np.array([None if b else v for v, b in pairs], dtype=object)
    return numbers, evidence
