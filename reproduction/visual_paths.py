"""Ascending paths over boards of digit images, with a network that learns from answers alone.

Images are entities, in the cells of boards; ``next(X, Y)`` holds for the cell right of X and the
one below. Nobody labels an image. An answer is of two neighbours: whether the digit ascends
(``order``), or what both add up to (``sum``). The network learns through the grounding of the rules
for two images; over boards of other images the same rules infer ``before(X, Y)``: some path from
X to Y ascends at every step.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from pinesy import Graph
from pinesy._common.validation import FloatArray
from pinesy.nets import (
    AnsweredInputs,
    AnswerPhase,
    DeepSoftLogCNN,
    Recipe,
    RuleLayer,
    answer_score,
    fit_from_starts,
    predict_proba,
    preprocess,
    using_threads,
)
from pinesy.relations import GroundCascade, RelationalRules, Table
from reproduction.environment import environment
from reproduction.run_files import do_missing_files, read_file
from reproduction.scales import Images
from reproduction.standard_errors import share_and_error

Indices = npt.NDArray[np.int64]

FORMAT: Final = "pinesy.visual-paths/1"
#: Of images that are no neighbours `is_less` is unknown, so that `step` asks for `next` again:
#: else a path would be possible between any two images.
RULES: Final = """
closed relation next(image, image)
attribute digit(image) in 0..9
function total(X, Y) = digit(X) + digit(Y) for next(X, Y)
function is_less(X, Y) = digit(X) < digit(Y) for next(X, Y)
iff is_less(X, Y) == true then ascends(X, Y)
iff total(X, Y) > 9 then carries(X, Y)
iff next(X, Y) and ascends(X, Y) then step(X, Y)
closed relation before(image, image)
if step(X, Y) or (step(X, Z) and before(Z, Y)) then before(X, Y)
"""
#: By kind of answer: the relation that is ground, and the attribute whose value is the answer.
ANSWERS: Final = {"order": ("ascends", "ascends"), "sum": ("carries", "total")}
SIDE: Final = 5
#: The boards for training, validation and test; the 5,000 embedded digits make 200.
BOARDS: Final = (140, 20, 40)
EPOCHS: Final = 20
STARTS: Final = 3
SEEDS_A_RUN: Final = 100
MEASURES: Final = {
    "answers": "answers right",
    "digits": "digits right",
    "pairs": "pairs right",
    "nothing_before": "pairs right if none is concluded",
    "precision": "precision",
    "recall": "recall",
    "boards": "boards without an error",
}


def neighbours(boards: Indices) -> Indices:
    """Return the pairs (n, 2) of images (boards, side, side) of which `next` holds."""
    rightward = np.stack([boards[:, :, :-1], boards[:, :, 1:]], axis=-1).reshape(-1, 2)
    downward = np.stack([boards[:, :-1], boards[:, 1:]], axis=-1).reshape(-1, 2)
    return np.concatenate([rightward, downward])


def ground_rules(answer: str) -> GroundCascade:
    """Return the propositional rules of the answer for two neighbours, the images a and b."""
    graph = Graph().add("next", [("a", "b")])
    graph.attach("digit", np.full((2, 10), 0.1), entities=["a", "b"])
    return RelationalRules.parse(RULES).ground(graph, f"{ANSWERS[answer][0]}(a, b)")


def answered_pairs(answer: str, boards: Indices, images: Images) -> AnsweredInputs:
    """Return all neighbours with their answers, and nothing else that is known of them."""
    pairs = neighbours(boards)
    left, right = images.labels[pairs].astype(int).T
    values = left < right if answer == "order" else left + right
    inputs = {
        f"digit({name})": preprocess(images.pixels[column])
        for name, column in zip("ab", pairs.T, strict=True)
    }
    return AnsweredInputs(inputs, {f"{ANSWERS[answer][1]}(a, b)": values})


def true_paths(digits: Indices) -> npt.NDArray[np.bool_]:
    """Return for boards (n, side, side) which cells an ascending path joins: (n, cells, cells).

    The closure of a matrix, which shares nothing with the engines of relations.
    """
    n, side = digits.shape[:2]
    flat = digits.reshape(n, -1)
    step = np.zeros((side**2, side**2), bool)
    for first, second in neighbours(np.arange(side**2).reshape(1, side, side)):
        step[first, second] = True
    ascending = step & (flat[:, :, None] < flat[:, None, :])
    paths = ascending
    for _ in range(2 * side):
        paths = ascending | (ascending @ paths)
    return paths


def inferred_paths(boards: Indices, probabilities: FloatArray) -> npt.NDArray[np.bool_]:
    """Return which cells an ascending path joins with some certainty, as `true_paths` does.

    Parameters
    ----------
    boards : the images (n, side, side), each in one cell
    probabilities : what the network gives for them (n, side, side, 10)
    """
    cells = boards[0].size
    entities = np.arange(boards.size).reshape(boards.shape)
    graph = Graph().add("next", [tuple(pair) for pair in neighbours(entities).tolist()])
    graph.attach("digit", probabilities.reshape(-1, 10), entities=entities.ravel().tolist())
    table = RelationalRules.parse(RULES).infer(graph)["before"]
    assert isinstance(table, Table)
    columns = {name: np.array(column) for name, column in table.to_dict().items()}
    is_certain = columns["certain"] > 0.0
    first, second = columns["X"][is_certain], columns["Y"][is_certain]
    paths = np.zeros((len(boards), cells, cells), bool)
    paths[first // cells, first % cells, second % cells] = True
    return paths


def path_measures(inferred: npt.NDArray[Any], truth: npt.NDArray[Any]) -> dict[str, float]:
    """Return how right paths are, over the pairs of cells that `next` joins by some path."""
    side = int(truth.shape[1] ** 0.5)
    joined = true_paths(np.add.outer(np.arange(side), np.arange(side))[None])[0]
    both = int((inferred & truth).sum())
    return {
        "pairs": float((inferred == truth)[:, joined].mean()),
        "nothing_before": float((~truth)[:, joined].mean()),
        "precision": both / max(int(inferred.sum()), 1),
        "recall": both / max(int(truth.sum()), 1),
        "boards": float((inferred == truth).all(axis=(1, 2)).mean()),
    }


def path_record(
    answer: str,
    run: int,
    images: Images,
    *,
    boards: Sequence[int] = BOARDS,
    epochs: int = EPOCHS,
    starts: int = STARTS,
    say: Callable[[str], Any] = lambda _: None,
) -> dict[str, Any]:
    """Train from answers, infer paths over the test boards, and return the record."""
    rng = np.random.default_rng([run, SIDE])
    shuffled = rng.permutation(len(images.labels))[: sum(boards) * SIDE**2]
    ends = np.cumsum(boards)[:-1]
    train, valid, test = np.split(shuffled.reshape(-1, SIDE, SIDE), ends)
    rules = ground_rules(answer)
    outputs = [f"{ANSWERS[answer][1]}(a, b)"]
    layer = RuleLayer(rules, outputs, semantics="probabilistic")
    recipe = Recipe("adamw", 1e-3, "one-cycle", batch=32, epochs=epochs, t_max=epochs, eta_min=1e-5)
    began = perf_counter()
    with using_threads(1):
        start = fit_from_starts(
            lambda seed: DeepSoftLogCNN(10, seed=seed),
            [AnswerPhase(layer, recipe)],
            answered_pairs(answer, train, images),
            answered_pairs(answer, valid, images),
            seeds=range(SEEDS_A_RUN * run, SEEDS_A_RUN * run + starts),
            say=say,
        )
        share = answer_score(start.reader, layer, answered_pairs(answer, test, images))
        probabilities = predict_proba(start.reader.network, images.pixels[test.ravel()])
    trained = perf_counter()
    digits = images.labels[test].astype(np.int64)
    inferred = inferred_paths(test, probabilities.reshape(*test.shape, 10))
    return {
        "format": FORMAT,
        "answer": answer,
        "run": run,
        "samples": {"boards": list(boards), "epochs": epochs, "starts": len(start.scores)},
        "validation": start.score,
        "answers": share,
        "digits": float((probabilities.argmax(axis=1) == digits.ravel()).mean()),
        **path_measures(inferred, true_paths(digits)),
        "seconds": {"training": trained - began, "inference": perf_counter() - trained},
        **environment(1),
    }


def do_paths(
    answers: Iterable[str],
    runs: Iterable[int],
    images: Images,
    results: Path,
    say: Callable[[str], Any],
    **settings: Any,
) -> list[dict[str, Any]]:
    """Do the runs that have no record yet, and return the records of all."""
    directory = results / "visual-paths"
    paths = {(a, run): directory / f"{a}-{run}.json" for a in answers for run in runs}
    do_missing_files(paths, lambda key: path_record(key[0], key[1], images, say=say, **settings))
    return [read_path_record(path) for path in paths.values()]


def read_path_record(path: Path) -> dict[str, Any]:
    """Return a record, or raise `DataError`."""

    def numbers(record: dict[str, Any]) -> list[object]:
        if record["answer"] not in ANSWERS:
            raise ValueError(f"its answers are {record['answer']!r:.60}")
        return [record[measure] for measure in MEASURES]

    return read_file(path, FORMAT, numbers, "delete it")


def path_table(records: Sequence[Mapping[str, Any]]) -> str:
    """Return means and standard errors in %, as a table in Markdown.

    The pairs that a path may join are not independent: the neighbours count.
    """
    kinds = list(dict.fromkeys(record["answer"] for record in records))
    groups = [[r for r in records if r["answer"] == kind] for kind in kinds]
    heads = [f"from {kind}, {len(g)} runs" for kind, g in zip(kinds, groups, strict=True)]
    lines = [f"| test boards | {' | '.join(heads)} |", "|---" * (len(kinds) + 1) + "|"]
    for measure, label in MEASURES.items():
        cells = [
            share_and_error([r[measure] for r in group], _n_samples(group, measure))
            for group in groups
        ]
        lines.append(f"| {label} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _n_samples(group: Sequence[Mapping[str, Any]], measure: str) -> int:
    """Return of how many things all runs together give the share; of pairs, those of next cells."""
    n_boards = sum(int(record["samples"]["boards"][2]) for record in group)
    if measure == "boards":
        return n_boards
    return n_boards * (SIDE**2 if measure == "digits" else 2 * SIDE * (SIDE - 1))
