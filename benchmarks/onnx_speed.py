"""Rules as graphs of ONNX: their size, and what onnxruntime takes for them, on one thread."""

import numpy as np
from measure import Line, best_times

from pinesy import Cascade, to_onnx
from pinesy.problems import addition, sudoku

SECTION = "onnx"


def line(case: str, rules: Cascade, n: int) -> Line:
    """Compare a batch in onnxruntime with the engine, which has one thread for so small ones."""
    import onnxruntime

    graph = to_onnx(rules)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(graph.SerializeToString(), options)
    program, rng = rules.compile(), np.random.default_rng(0)
    evidence = {a.name: rng.random((n, len(a.domain))) for a in program.inputs}
    for rows in evidence.values():
        rows[:, 0] = 1.0
    columns = np.hstack(list(evidence.values()))
    times = best_times(
        {
            "pinesy": lambda: program.run(columns),
            "onnxruntime": lambda: session.run(None, evidence),
        },
        seconds=1.0,
    )
    note = f"graph: {graph.ByteSize():,} bytes, {len(graph.graph.node):,} nodes"
    return Line(SECTION, f"{case}, batch {n}", times.pop("pinesy"), n, times, note=note)


def lines(tiny: bool = False) -> list[Line]:
    """Return the lines of the table."""
    if tiny:
        return [line("Addition-1", addition(1), 2)]
    cases = {"Addition-100": addition(100), "Sudoku 9x9": sudoku(9)}
    return [line(case, rules, n) for case, rules in cases.items() for n in (1, 100, 1000)]
