"""How much code an operation runs through: ``python benchmarks/crossings.py``.

*Crossings* are calls whose nearest caller in pinesy is another module: few of them mean that a
reader who follows an operation stays in one file for long. They are counted on the blood glucose
example, in a process that has done everything once and in a new one, where shapes of rule sets are
compiled first. *Flows* are the distinct modules and functions of pinesy that an operation calls in
a warm process: what a reader has to know of it. ``--list learn`` names the functions of a flow.
"""

import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

from pinesy import calibrate, explain, learn, parse, why_not
from pinesy.estimators import RuleClassifier

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


def functions_called(operation: Callable[[], object]) -> set[tuple[str, str]]:
    """Return the modules and names of the functions of pinesy that run while `operation` does.

    Comprehensions run as functions of their own; their names end in ``<listcomp>`` and the like.
    """
    functions = set()

    def profile(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call" and (module := _module(frame)):
            functions.add((module, frame.f_code.co_qualname))

    sys.setprofile(profile)
    try:
        operation()
    finally:
        sys.setprofile(None)
    return functions


def flows() -> dict[str, Callable[[], object]]:
    """Return operations on a small rule base that was just read."""
    rules = parse(RULES.read_text(encoding="utf-8"))
    rng, n = np.random.default_rng(0), 40
    evidence = {a.name: rng.random((n, len(a.domain))) for a in rules.inputs}
    for degrees in evidence.values():
        degrees[np.arange(n), rng.integers(degrees.shape[1], size=n)] = 1.0
    domains = {a.name: np.array(a.domain) for a in (*rules.inputs, *rules.outputs)}
    labels = {name: rng.choice(domain, n).tolist() for name, domain in domains.items()}
    answers = {OUTPUT: labels.pop(OUTPUT)}
    rows, classes = rng.random((60, 3)), rng.integers(2, size=60)
    high = rules.attributes[OUTPUT].isin({VALUE})
    return {
        "infer": lambda: rules.infer(EVIDENCE),
        "learn": lambda: learn(rules, evidence, answers),
        "explain": lambda: str(explain(rules, EVIDENCE, high)),
        "calibrate": lambda: calibrate(rules, evidence, labels),
        "RuleClassifier.fit": lambda: RuleClassifier().fit(rows, classes),
    }


def measure_flows() -> dict[str, set[tuple[str, str]]]:
    """Return the functions of each flow: the process is warm, the rules were just read."""
    for operation in flows().values():
        operation()
    return {name: functions_called(flows()[name]) for name in flows()}


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
    """Print the crossings in a new process and in a warm one, and the flows."""
    if "--cold" in sys.argv:
        print(measure())
        return
    called = measure_flows()
    if "--list" in sys.argv:
        print(*sorted(".".join(names) for names in called[sys.argv[-1]]), sep="\n")
        return
    cold = subprocess.run([sys.executable, __file__, "--cold"], capture_output=True, text=True)
    measure()
    print(f"  new process: {cold.stdout.strip()}\n  warm:        {measure()}")
    for name, functions in called.items():
        modules = len({module for module, _ in functions})
        named = [name for _, name in functions if not name.endswith("comp>")]
        n = len([name for name in named if not name.endswith("<genexpr>")])
        print(f"  {name}: {modules} modules, {n} functions, {len(functions)} with comprehensions")


if __name__ == "__main__":
    main()
