"""How often a call goes from one module of pinesy to another: ``python benchmarks/crossings.py``.

Few crossings mean that a reader who follows an operation stays in one file for long. Counted are
calls whose nearest caller in pinesy is another module, on the blood glucose example: in a process
that has done everything once, and in a new one, where shapes of rule sets are compiled first.
"""

import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

from pinesy import explain, learn, parse, why_not

RULES = Path(__file__).parents[1] / "examples" / "blood_glucose.rules"
EVIDENCE: dict[str, dict[str, float]] = {
    "selected-action": {"drink-coffee": 1.0},
    "current-blood-glucose": {"low": 0.3, "medium": 1.0},
}
OUTPUT, VALUE, OTHER = "future-blood-glucose", "high", "low"


def crossings(operation: Callable[[], object]) -> int:
    """Return the number of calls between modules of pinesy while `operation` runs."""
    count = 0

    def profile(frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        module = _module(frame)
        if event == "call" and module:
            caller = frame.f_back
            while caller is not None and not _module(caller):
                caller = caller.f_back
            count += caller is not None and _module(caller) != module

    sys.setprofile(profile)
    try:
        operation()
    finally:
        sys.setprofile(None)
    return count


def _module(frame: FrameType) -> str:
    name: str = frame.f_globals.get("__name__", "")
    return name if name.split(".")[0] == "pinesy" else ""


def measure() -> dict[str, int]:
    """Return the crossings of each operation, each on rules that were just read."""
    text = RULES.read_text(encoding="utf-8")
    counts = {"parse": crossings(lambda: parse(text))}
    rules = parse(text)
    counts["compile"] = crossings(rules.compile)
    rules.infer(EVIDENCE)
    counts["infer"] = crossings(lambda: rules.infer(EVIDENCE))
    batch = {name: _batch(rules.attributes[name].domain, row) for name, row in EVIDENCE.items()}
    counts["fit"] = crossings(lambda: learn(parse(text), batch, {OUTPUT: [VALUE] * 4}))
    counts["fit"] -= counts["parse"]
    high = rules.attributes[OUTPUT].isin({VALUE})
    counts["explain"] = crossings(lambda: str(explain(rules, EVIDENCE, high)))
    explanation = explain(rules, EVIDENCE, high)
    counts["picture"] = crossings(explanation.to_svg)
    fresh = parse(text)
    fresh.infer(EVIDENCE)
    counts["why_not"] = crossings(lambda: str(why_not(fresh, EVIDENCE, OTHER)))
    return counts


def _batch(domain: tuple[Any, ...], row: Mapping[Any, float]) -> Any:
    return np.array([[row.get(value, 0.0) for value in domain]] * 4)


def main() -> None:
    """Print the counts of a new process, and those of one that is warm."""
    if "--cold" in sys.argv:
        print(measure())
        return
    cold = subprocess.run([sys.executable, __file__, "--cold"], capture_output=True, text=True)
    measure()
    print(f"  new process: {cold.stdout.strip()}\n  warm:        {measure()}")


if __name__ == "__main__":
    main()
