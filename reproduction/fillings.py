"""Visual Sudoku with loops: the most probable filling of boards that a network reads.

A network that was trained for Addition reads the images of valid 9 x 9 boards, all from the test
images of MNIST. The digits that it finds most probable are compared with the most probable valid
filling (`pinesy.best_world`); exact inference says how valid each board is.
"""

from collections.abc import Mapping
from pathlib import Path
from time import perf_counter
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from pinesy import best_world
from pinesy._common.validation import FloatArray
from pinesy.problems import sudoku
from pinesy.problems.visual_sudoku import correct_grids
from pinesy.rulebase.cascade import Cascade
from reproduction.environment import environment
from reproduction.experiments import Experiment
from reproduction.run_files import do_missing_files, read_file
from reproduction.scales import Images
from reproduction.tasks import Indices, task_of
from reproduction.trained_networks import Networks

FORMAT: Final = "pinesy.fillings/1"
BOARDS: Final = 1000
DIM: Final = 9
#: The most boards of a call of the rules, so that memory stays bounded.
BLOCK: Final = 250


def board_images(grids: Indices, labels: npt.NDArray[Any], rng: np.random.Generator) -> Indices:
    """Return an image of the digit of each cell; a board has each image once at most."""
    images = np.empty_like(grids)
    for digit in range(DIM):
        pool = np.flatnonzero(labels == digit)
        rows, columns = np.nonzero(grids == digit)  # DIM cells of each board
        drawn = rng.permuted(np.tile(pool, (len(grids), 1)), axis=1)[:, :DIM]
        images[rows, columns] = drawn.ravel()
    return images


def cell_readings(rules: Cascade, readings: FloatArray) -> dict[str, FloatArray]:
    """Return readings (boards, cells, digits) by the names of the cells."""
    indices = (name.split("_")[1:] for name in (a.name for a in rules.inputs))
    cells = [DIM * (int(row) - 1) + int(column) - 1 for row, column in indices]
    return {a.name: readings[:, cell] for a, cell in zip(rules.inputs, cells, strict=True)}


def measure(
    probabilities: FloatArray, labels: npt.NDArray[Any], boards: int, seed: int
) -> dict[str, Any]:
    """Return the measures of boards of test images, and the boards whose filling is wrong.

    Parameters
    ----------
    probabilities : what the network makes of the test images (images, 10)
    labels : their digits
    """
    rng = np.random.default_rng(seed)
    grids = correct_grids(DIM, boards, rng)
    readings = probabilities[board_images(grids, labels, rng)][..., :DIM]
    readings /= readings.sum(axis=2, keepdims=True)
    is_read = (readings.argmax(axis=2) == grids).all(axis=1)
    rules, names = sudoku(DIM), [f"a_{i}_{j}" for i in range(1, 10) for j in range(1, 10)]
    found = np.empty_like(grids)
    filling_seconds = np.zeros(boards)
    exact_seconds, n_loose = 0.0, 0
    first_board = {name: p[0] for name, p in cell_readings(rules, readings[:1]).items()}
    rules.infer(first_board, exact=True, transform="antipignistic")  # builds the clauses
    best_world(rules, first_board, {"c": 1})
    for start in range(0, boards, BLOCK):
        block = slice(start, min(start + BLOCK, boards))
        sees = cell_readings(rules, readings[block])
        began = perf_counter()
        exact = rules.infer(sees, exact=True, transform="antipignistic")["c"]
        exact_seconds += perf_counter() - began
        bound = rules.infer(sees, transform="antipignistic")["c"]
        n_loose += int(np.count_nonzero((exact.degrees < bound.degrees).any(axis=1)))
        for row in range(block.start, block.stop):
            board = {name: p[row - start] for name, p in sees.items()}
            began = perf_counter()
            world = best_world(rules, board, {"c": 1})
            filling_seconds[row] = perf_counter() - began
            found[row] = [world[name] for name in names]
    is_right = (found == grids).all(axis=1)
    return {
        "boards": boards,
        "digits_right": float((probabilities.argmax(axis=1) == labels).mean()),
        "read_right": int(is_read.sum()),
        "filled_right": int(is_right.sum()),
        "seconds_of_exact_inference": exact_seconds / boards,
        "seconds_of_a_filling": float(filling_seconds[is_read].mean()),
        "seconds_of_a_filling_that_was_misread": float(filling_seconds[~is_read].mean()),
        "most_seconds_of_a_filling": float(filling_seconds.max()),
        "loose_bounds": n_loose,
        "wrong": [
            {
                "board": int(row),
                "digits": grids[row].tolist(),
                "read": readings[row].argmax(axis=1).tolist(),
                "filled": found[row].tolist(),
            }
            for row in np.flatnonzero(~is_right)
        ],
    }


def do_fillings(
    results: Path, networks: Networks, images: Images, *, run: int, boards: int, seed: int
) -> dict[str, Any]:
    """Return the record of a run of the network; measure it if there is none yet."""

    def make(run: int) -> dict[str, Any]:
        experiment = Experiment("addition", 1, "normal", "antipignistic", run)
        task = task_of(experiment, images, networks.scale)
        seen = networks.see(experiment, task)
        test = np.searchsorted(seen.images, images.test)
        measures = measure(seen.probabilities[test], images.labels[images.test], boards, seed)
        return {
            "format": FORMAT,
            "run": run,
            "seed": seed,
            "network": seen.network,
            **measures,
            **environment(1),
        }

    path = results / "fillings" / f"{run:02d}.json"
    do_missing_files({run: path}, make)
    shares = "digits_right", "boards", "read_right", "filled_right"
    return read_file(path, FORMAT, lambda record: [record[s] for s in shares], "move it elsewhere")


def fillings_text(record: Mapping[str, Any]) -> str:
    """Return the measures as sentences, and the boards whose filling is wrong."""
    lines = [
        f"a network that reads {100 * record['digits_right']:.2f} % of the digits",
        f"boards read correctly: {record['read_right']} of {record['boards']}",
        f"boards filled correctly: {record['filled_right']} of {record['boards']}",
        f"boards whose inferred degrees exceed the exact ones: {record['loose_bounds']}",
        f"exact inference: {1000 * record['seconds_of_exact_inference']:.1f} ms a board",
        f"a filling: {1000 * record['seconds_of_a_filling']:.1f} ms, of a misread board "
        f"{1000 * record['seconds_of_a_filling_that_was_misread']:.1f} ms",
    ]
    for wrong in record["wrong"]:
        pairs = list(enumerate(zip(wrong["digits"], wrong["read"], wrong["filled"], strict=True)))
        cells = [
            f"cell {index // DIM + 1},{index % DIM + 1} is {digit}, read {read}, filled {filled}"
            for index, (digit, read, filled) in pairs
            if digit != filled
        ]
        lines.append(f"board {wrong['board']} is wrong: {'; '.join(cells)}")
    return "\n".join(lines)
