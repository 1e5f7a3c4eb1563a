"""Networks that learn from sums and verdicts: experiments, records, tables, the command line."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("safetensors")
pytest.importorskip("mlxtend")

from typer.testing import CliRunner

from reproduction import Experiment, Store, experiments_of, scales, scheduler
from reproduction.commands import app
from reproduction.report import read_report
from reproduction.tasks import addition_task, sudoku_task
from reproduction.tests.report_tables import row, section
from reproduction.tests.synthetic import a_record, keep
from reproduction.tests.tiny import TINY, few_mnist, timeless
from reproduction.trainings import answered, answered_units, unit_places

SETTINGS = ("answers", "answers-deepsoftlog-cnn", "answers-undistorted")
EXPERIMENTS = [
    *experiments_of("addition", [1, 2], settings=SETTINGS, runs=[1]),
    *experiments_of("sudoku", [4], settings=["answers-deepsoftlog-cnn"], runs=[1]),
]


@pytest.fixture(scope="module", autouse=True)
def few_images() -> Iterator[None]:
    """Let MNIST be small."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scales, "mnist", few_mnist)
        yield


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All experiments were done here, once."""
    found = tmp_path_factory.mktemp("answers")
    assert len(reproduce(found).records) == len(EXPERIMENTS)
    return found


def reproduce(place: Path, **given: Any) -> scheduler.Outcome:
    given = {"work": place / "work", "scale": TINY, "threads": 1, **given}
    return scheduler.reproduce(EXPERIMENTS, place / "results", **given)


def test_nothing_but_answers_is_taken_from_the_samples() -> None:
    images = TINY.images()
    task = addition_task(EXPERIMENTS[0], images, TINY)
    found = answered(task, task.train, images)
    assert sorted(found.answers) == ["y_0", "y_1"]
    assert {name: tuple(x.shape) for name, x in found.inputs.items()} == {
        "a_1": (60, 1, 28, 28),
        "a_2": (60, 1, 28, 28),
    }


def test_what_the_verdict_on_a_valid_puzzle_says() -> None:
    images = TINY.images()
    task = sudoku_task(EXPERIMENTS[-1], images, TINY)
    places = unit_places(task.train)
    n_valid = int((task.train.targets["c"] == 1).sum())
    assert places.shape == (12 * n_valid, 4)
    assert all(len(set(row)) == 4 for row in images.labels[places].tolist())
    found = answered_units(task.train, images)
    assert found.answers == {"different": [True] * len(places)}


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=str)
def test_a_record_says_what_was_learned_from(place: Path, experiment: Experiment) -> None:
    found = Store(place / "results").read(experiment)
    alone = {"addition": "sum only", "sudoku": "validity only"}
    assert found["supervision"] == alone[experiment.problem]
    assert (found["thresholds"], found["distance"]) == ({}, None)
    start = found["network"]["start"]
    is_large = experiment.setting == "answers" and not start["kept"]
    assert found["network"]["architecture"] == ("PaperCNN" if is_large else "DeepSoftLogCNN")
    assert list(start["scores"]) == ["100", "101"]
    assert start["chosen"] == int(max(start["scores"], key=start["scores"].__getitem__))
    assert start["loss"] == {"addition": "both", "sudoku": "beliefs"}[experiment.problem]
    assert (start["architecture"], start["epochs"]) == ("DeepSoftLogCNN", 1)
    is_distorted = experiment.setting != "answers-undistorted"
    assert found["network"]["recipe"].get("augment", 0.0) == float(is_distorted)


def test_a_record_says_that_a_network_learned_in_mixed_precision(tmp_path: Path) -> None:
    (experiment,) = experiments_of(
        "addition", [1], settings=["answers"], transforms=["antipignistic"], runs=[1]
    )
    scale = replace(TINY, precision="bfloat16")
    scheduler.reproduce(
        [experiment], tmp_path / "results", work=tmp_path / "work", scale=scale, threads=1
    )
    record = Store(tmp_path / "results").read(experiment)
    assert record["network"]["recipe"]["precision"] == "bfloat16"


def test_both_transformations_share_a_network_and_no_two_sizes_do(place: Path) -> None:
    records = [Store(place / "results").read(experiment) for experiment in EXPERIMENTS]
    networks = {(r["problem"], r["size"], r["setting"]): r["network"] for r in records}
    assert len({n["fingerprint"] for n in networks.values()}) == len(EXPERIMENTS) // 2
    for network in networks.values():
        last = f"last-{network['start']['chosen']}-0.safetensors"
        assert (place / "work" / network["file"] / last).exists()


def test_what_was_trained_is_not_trained_again(place: Path) -> None:
    store = Store(place / "results")
    before = store.read(EXPERIMENTS[0])
    store.path(EXPERIMENTS[0]).unlink()
    said: list[str] = []
    assert reproduce(place, say=said.append).there == len(EXPERIMENTS) - 1
    assert timeless(store.read(EXPERIMENTS[0])) == timeless(before)
    assert store.read(EXPERIMENTS[0])["seconds"]["training"] == before["seconds"]["training"]
    assert any("start 100" in line for line in said)


START = {"scores": {"0": 0.5, "1": 0.95}, "chosen": 1, "corrected": 0.0125, "labels_right": 0.998}


def test_the_report_shows_a_wrong_reading_as_such(tmp_path: Path) -> None:
    network = {**a_record()["network"], "start": START}
    said: dict[str, Any] = {
        "supervision": "sum only",
        "network": network,
        "reliable": {},
        "thresholds": {},
    }
    keep(tmp_path, 20, setting="answers", reading="permuted: 0 as 5, 5 as 0", **said)
    table = section(read_report(tmp_path), "Learning from answers alone")[0]
    found = row(table, experiment="Addition-1")
    assert found["reading"] == "permuted: 0 as 5, 5 as 0"
    assert found["accuracy, %"] == "20.00"
    assert found["digit accuracy, %"] == "99.50"
    assert found["starts: right answers for validation, %"] == "50.0, 95.0"
    assert found["labels that answers corrected, %"] == "1.25"
    assert found["labels right after that, %"] == "99.80"


def test_ours_stands_beside_those_that_have_sums_only_too(tmp_path: Path) -> None:
    network = {**a_record()["network"], "start": START}
    keep(tmp_path, 20, setting="answers", reading="right", supervision="sum only", network=network)
    table = section(read_report(tmp_path), "Addition")[0]
    assert set(table.cells["supervision"]) == {"sum only"}
    names = table.cells["method"].tolist()
    assert names[0] == "Pi-NeSy-1, ours"
    assert {"DeepSoftLog", "DeepProofLog"} <= set(names)


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ("sudoku --supervision sum", "sum is for addition, not sudoku"),
        ("addition --supervision verdict", "verdict is for sudoku, not addition"),
        (
            "addition --supervision sum --setting low-data",
            "it is normal or deepsoftlog-cnn or undistorted, not low-data",
        ),
        ("addition --setting undistorted", "add --supervision sum or verdict"),
    ],
)
def test_supervision_that_does_not_fit(args: str, says: str) -> None:
    found = CliRunner().invoke(app, args.split(), env={"COLUMNS": "200"})
    assert found.exit_code == 2
    assert says in found.output
