"""The paper's example of Addition-3: 432 + 657 = 1089, with all that lies between."""

from typing import Any

from golden import PAPER
from pinesy.problems import addition

EXAMPLE: dict[str, Any] = PAPER["addition"]


def test_every_intermediate_value() -> None:
    cascade = addition(3)
    trace = cascade.trace({f"a_{i}": {digit: 1.0} for i, digit in enumerate(EXAMPLE["a"], 1)})
    assert [trace[f"y_{i}"].best for i in range(4)] == EXAMPLE["y"]
    assert {name: list(trace[name].best) for name in EXAMPLE["c"]} == EXAMPLE["c"]
    assert {name: trace[name].best for name in EXAMPLE["w"]} == EXAMPLE["w"]
    assert all(found.certainty == 1.0 for found in trace.values())
