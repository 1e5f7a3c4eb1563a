"""Experiments from samples to records, and what their records say."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("safetensors")
pytest.importorskip("mlxtend")

from messages import raises_saying
from pinesy import antipignistic, minimum_specificity
from pinesy.exceptions import DataError, DomainError
from pinesy.learning import accuracy
from pinesy.nets import PAPER as PAPER_RECIPE
from pinesy.nets import (
    PAPER_SUDOKU4,
    PaperCNN,
    load_weights,
    network_fingerprint,
    predict_proba,
    train,
)
from pinesy.nets.checkpoints import read_checkpoint
from pinesy.problems import (
    addition,
    addition_labels,
    addition_samples,
    sudoku,
    sudoku_labels,
    sudoku_samples,
)
from reproduction import Experiment, Store, bench, experiments_of, scales, scheduler
from reproduction.mnist import Mnist
from reproduction.scales import PAPER, QUICK
from reproduction.splits import addition_split, sudoku_pools
from reproduction.tests.synthetic import records_in
from reproduction.tests.tiny import TINY, few_candidates, few_mnist, timeless
from reproduction.trained_networks import Networks, Seen
from reproduction.trainings import training_of

ADDITION = ("normal", "low-data", "ablation")
SUDOKU = ("normal", "low-data", "ablation")
EXPERIMENTS = [
    *experiments_of("addition", [1, 2], settings=ADDITION, runs=[0]),
    *experiments_of("addition", [1], settings=["deepsoftlog-cnn"], runs=[0]),
    *experiments_of("sudoku", [4], settings=SUDOKU, runs=[0]),
]


@pytest.fixture(scope="module", autouse=True)
def few_images() -> Iterator[None]:
    """Let MNIST be small, and thresholds be few."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scales, "mnist", few_mnist)
        patch.setattr(bench, "candidate_tolerances", few_candidates)
        yield


class Lab:
    """A place where experiments were done, and what was said."""

    def __init__(self, place: Path) -> None:
        self.results, self.work = place / "results", place / "work"
        self.said: list[str] = []

    def reproduce(self, experiments: list[Experiment], **options: Any) -> scheduler.Outcome:
        options = {"scale": TINY, "work": self.work, "threads": 1, **options}
        return scheduler.reproduce(experiments, self.results, say=self.said.append, **options)

    def trained(self) -> list[str]:
        """Return the networks that were trained."""
        return [line.split()[1][:-1] for line in self.said if line.startswith("network")]


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    """All settings were done here, once."""
    lab = Lab(tmp_path_factory.mktemp("lab"))
    outcome = lab.reproduce(EXPERIMENTS)
    assert (outcome.there, len(outcome.records)) == (0, len(EXPERIMENTS))
    return lab


def record(lab: Lab, problem: str, size: int, setting: str, transform: str) -> dict[str, Any]:
    return Store(lab.results).read(Experiment(problem, size, setting, transform, 0))


def evidence(
    images: Any, chosen: Any, names: list[str], network: Any, transform: Callable[[Any], Any]
) -> dict[str, Any]:
    """Return the inputs of samples, one sample and image at a time."""
    found: dict[str, Any] = {name: [] for name in names}
    for sample in chosen:
        for name, row in zip(names, predict_proba(network, images[sample]), strict=True):
            found[name].append(transform(row))
    return {name: np.array(rows) for name, rows in found.items()}


@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("setting", ["normal", "low-data"])
def test_addition_is_what_its_definition_says(lab: Lab, k: int, setting: str) -> None:
    data = few_mnist()
    found = record(lab, "addition", k, setting, "antipignistic")
    network = load_weights(PaperCNN(10), lab.work / f"addition-{setting}-0.safetensors")
    chosen = addition_samples(data.test_labels, k, np.random.default_rng([0, k, 2]))
    names = [f"a_{i}" for i in range(1, 2 * k + 1)]
    inputs = evidence(data.test_images, chosen, names, network, antipignistic)
    targets = addition_labels(data.test_labels[chosen])
    assert found["accuracy"] == accuracy(addition(k), inputs, targets)
    assert found["right"] == round(found["accuracy"] * len(chosen))
    n_train = TINY.n_train[setting]
    expected = {"train": n_train // (2 * k), "valid": 40 // (2 * k), "test": 63 // (2 * k)}
    assert found["samples"] == expected
    right = predict_proba(network, data.test_images).argmax(axis=1) == data.test_labels
    assert found["digit_accuracy"] == right.mean()
    assert found["network"]["fingerprint"] == network_fingerprint(network)


@pytest.mark.parametrize("setting", ["normal", "low-data"])
def test_sudoku_is_what_its_definition_says(lab: Lab, setting: str) -> None:
    pixels, labels = few_mnist().merged()
    found = record(lab, "sudoku", 4, setting, "minimum-specificity")
    pools = sudoku_pools(labels, 4, np.random.default_rng([0, 4]), train=3, valid=2, test=2)
    puzzles = sudoku_samples(pools.test, 2, np.random.default_rng([0, 4, 2]))
    network = load_weights(PaperCNN(4), lab.work / f"sudoku-4-{setting}-0.safetensors")
    names = [f"a_{i}_{j}" for i in range(1, 5) for j in range(1, 5)]
    inputs = evidence(pixels, puzzles.images, names, network, minimum_specificity)
    targets = sudoku_labels(puzzles.digits.reshape(-1, 4, 4))
    assert targets["c"].tolist() == [1, 1, 0, 0]
    assert found["accuracy"] == accuracy(sudoku(4), inputs, targets)
    n_train = {"normal": 6, "low-data": 2}[setting]
    assert found["samples"] == {"train": n_train, "valid": 4, "test": 4}
    read = predict_proba(network, pixels[puzzles.images.ravel()]).argmax(axis=1)
    assert found["digit_accuracy"] == (read == puzzles.digits.ravel()).mean()


@pytest.mark.parametrize("experiment", [p for p in EXPERIMENTS if p.setting == "ablation"], ids=str)
def test_the_ablation_gives_what_learning_gives(lab: Lab, experiment: Experiment) -> None:
    store = Store(lab.results)
    bare, learned = store.read(experiment), store.read(replace(experiment, setting="normal"))
    same = ("accuracy", "right", "ambiguous", "digit_accuracy", "samples", "network")
    assert {name: bare[name] for name in same} == {name: learned[name] for name in same}
    assert (bare["thresholds"], bare["evaluations"], bare["reliable"]) == ({}, 0, {})
    assert (bare["largest_parameter"], bare["distance"]) == (0.0, None)
    assert learned["evaluations"] > 0


@pytest.mark.parametrize("experiment", [p for p in EXPERIMENTS if p.setting != "ablation"], ids=str)
def test_a_record_says_what_was_learned(lab: Lab, experiment: Experiment) -> None:
    found = Store(lab.results).read(experiment)
    groups = ["c_*", "w_*", "y_*"] if experiment.problem == "addition" else ["b_*", "c"]
    allowed = few_candidates(2 if experiment.setting == "low-data" else 5)
    assert list(found["thresholds"]) == groups
    assert set(found["thresholds"].values()) <= set(allowed.tolist())
    for least, mean, most in found["reliable"].values():
        assert 1 <= least <= mean <= most <= found["samples"]["train"]
    assert 0.0 <= found["largest_parameter"] <= 1.0
    assert found["distance"] >= 0.0


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=str)
def test_a_record_says_how_it_was_made(lab: Lab, experiment: Experiment) -> None:
    found = Store(lab.results).read(experiment)
    assert 0 <= found["ambiguous"] <= found["samples"]["test"] - found["right"]
    assert found["supervision"] == "every image labelled"
    assert (found["quick"], found["trial"]) == (False, False)
    seconds = found["seconds"]
    network = ["training", "prediction", "samples"]
    assert list(seconds) == [*network, "transform", "thresholds", "learning", "inference"]
    idle = {"thresholds"} if experiment.setting == "ablation" else set()
    assert {part for part, value in seconds.items() if value == 0.0} == idle
    assert found["memory_mb"] > 50
    assert found["environment"]["threads"] == 1
    kept = ["commit", "pinesy", "torch", "numpy", "python", "machine", "cores", "threads"]
    assert list(found["environment"]) == kept
    assert (found["network"]["epochs"], found["network"]["recipe"]["epochs"]) == (1, 1)


def test_one_network_serves_all_that_it_can(lab: Lab) -> None:
    runs = ["addition-normal-0", "addition-low-data-0", "sudoku-4-normal-0", "sudoku-4-low-data-0"]
    assert sorted(lab.trained()) == sorted([*runs, "deepsoftlog-0", "deepsoftlog-1"])


def test_both_transformations_see_the_same_and_judge_by_their_own(lab: Lab) -> None:
    one, two = (
        record(lab, "addition", 2, "normal", way)
        for way in ("antipignistic", "minimum-specificity")
    )
    assert one["network"] == two["network"]
    assert one["digit_accuracy"] == two["digit_accuracy"]


def test_what_is_done_is_not_done_again(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    before = {path: path.stat().st_mtime_ns for path in lab.results.rglob("*.json")}
    monkeypatch.setattr(scales, "mnist", lambda: pytest.fail("no images are needed"))
    said = len(lab.said)
    outcome = lab.reproduce([*EXPERIMENTS, EXPERIMENTS[0]])
    assert (outcome.there, outcome.records) == (len(EXPERIMENTS), [])
    assert lab.said[said:] == []
    assert {path: path.stat().st_mtime_ns for path in lab.results.rglob("*.json")} == before


def test_nothing_but_records_and_networks_is_left(lab: Lab) -> None:
    names = sorted(path.name for path in lab.results.rglob("*") if path.is_file())
    explained = [p for p in EXPERIMENTS if (p.problem, p.size) == ("addition", 2)]
    settings = {p.setting for p in explained if p.transform == "antipignistic"} - {"ablation"}
    assert len(settings) == 2
    assert names == ["cases-00.json"] * len(settings) + ["run-00.json"] * len(EXPERIMENTS)
    suffixes = {path.suffix for path in lab.work.rglob("*") if path.is_file()}
    assert suffixes == {".safetensors"}


def test_a_record_that_is_lost_is_made_again_without_training(lab: Lab) -> None:
    experiment = EXPERIMENTS[0]
    store = Store(lab.results)
    before = store.read(experiment)
    store.path(experiment).unlink()
    trained = lab.trained()
    left = lab.work / ".addition-normal-0.safetensors.0badf00d.tmp"
    left.write_text("half")
    outcome = lab.reproduce(EXPERIMENTS)
    assert outcome.there == len(EXPERIMENTS) - 1
    after = store.read(experiment)
    assert timeless(after) == timeless(before)
    for part in ("training", "prediction"):  # which were done before
        assert after["seconds"][part] == before["seconds"][part]
    assert lab.trained() == trained
    assert not left.exists()


def test_the_best_of_deepsoftlogs_networks_is_kept(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    experiments = experiments_of("addition", [1], settings=["deepsoftlog-cnn"], runs=[1, 2])
    scores = iter([0.25, 0.75])
    monkeypatch.setattr(Networks, "_score", lambda *_: next(scores))
    records = lab.reproduce(experiments).records
    assert {r["network"]["file"] for r in records} == {"deepsoftlog-1.safetensors"}
    assert {r["network"]["best_of"] for r in records} == {2}
    assert len({r["network"]["fingerprint"] for r in records}) == 1
    assert len(records) == 4
    files = (lab.work / f"deepsoftlog-{seed}.safetensors" for seed in range(2))
    spent = sum(sum(read_checkpoint(file).history["seconds"]) for file in files)
    assert [r["seconds"]["training"] for r in records] == pytest.approx([spent] * 4)
    path = Store(lab.results).path(experiments[0])
    with raises_saying(DataError, str(path), "the best of 2 trainings", "--trainings 2, or"):
        lab.reproduce(experiments, scale=TINY.with_trainings(3))


def test_the_score_is_the_share_of_images_read_rightly(lab: Lab) -> None:
    images = TINY.images().with_perturbed(30)
    network = PaperCNN(10)
    load_weights(network, lab.work / "addition-normal-0.safetensors")
    found = predict_proba(network, images.pixels[-30:]).argmax(axis=1)
    right = found == images.labels[-30:]
    assert Networks(lab.work, TINY, images, print)._score(network) == right.mean()


def test_a_network_trained_elsewhere_is_taken_for_its_own(tmp_path: Path) -> None:
    """As anyone would train it by the description: split, network and training by the run."""
    data, lab = few_mnist(), Lab(tmp_path)
    chosen, _ = addition_split(120, np.random.default_rng(5), size=250, n_valid=40)
    network = PaperCNN(10, seed=5)
    lab.work.mkdir()
    train(
        network,
        data.train_images[chosen],
        data.train_labels[chosen],
        replace(PAPER_RECIPE, epochs=1),
        seed=5,
        checkpoint=lab.work / "addition-normal-5.safetensors",
    )
    outcome = lab.reproduce(experiments_of("addition", [2], runs=[5]))
    assert lab.trained() == []
    prints = {r["network"]["fingerprint"] for r in outcome.records}
    assert prints == {network_fingerprint(network)}


def test_what_one_network_saw_is_not_what_another_saw() -> None:
    """All runs of the paper see the same images, each with its own network."""
    one, two = (
        training_of(Experiment("addition", 1, "normal", "antipignistic", n)) for n in (0, 1)
    )
    seen = Seen(one, np.arange(5), np.eye(5), {}, 0.0, 0.0)
    assert seen.is_of(one, np.arange(5))
    assert not seen.is_of(two, np.arange(5))
    assert not seen.is_of(one, np.arange(4))


def test_the_trainings_are_the_papers() -> None:
    normal = training_of(Experiment("addition", 15, "ablation", "antipignistic", 7))
    assert (normal.file, normal.recipe) == ("addition-normal-7.safetensors", PAPER_RECIPE)
    assert (normal.architecture, normal.classes, normal.seed) == (PaperCNN, 10, 7)
    small = training_of(Experiment("sudoku", 4, "low-data", "antipignistic", 2))
    assert (small.name, small.classes, small.recipe) == ("sudoku-4-low-data-2", 4, PAPER_SUDOKU4)
    large = training_of(Experiment("sudoku", 9, "normal", "antipignistic", 2))
    assert (large.name, large.classes, large.recipe) == ("sudoku-9-normal-2", 9, PAPER_RECIPE)
    code = training_of(Experiment("addition", 4, "authors-code", "antipignistic", 2))
    assert code.name == "addition-authors-code-2"
    assert code.recipe == replace(PAPER_RECIPE, schedule="constant")
    code = training_of(Experiment("sudoku", 4, "authors-code", "antipignistic", 2))
    assert code.recipe == replace(PAPER_SUDOKU4, schedule="constant")


def test_a_checkpoint_of_another_training_is_refused(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    lab.reproduce(experiments_of("addition", [1], runs=[0]))
    (lab.work / "addition-normal-0.safetensors").rename(lab.work / "addition-normal-1.safetensors")
    with raises_saying(DataError, "addition-normal-1.safetensors", "its seed is '0', not '1'"):
        lab.reproduce(experiments_of("addition", [1], runs=[1]))


def test_trials_are_marked_and_kept_apart(tmp_path: Path) -> None:
    lab, experiments = Lab(tmp_path), experiments_of("addition", [1], runs=[0])
    trial = TINY.with_epochs(2)
    assert len(lab.reproduce(experiments, scale=trial).records) == 2
    assert len(lab.reproduce(experiments).records) == 2
    records = {r["scale"]: r for r in records_in(lab.results)}
    assert {name: r["trial"] for name, r in records.items()} == {"epochs-2": True, "": False}
    assert [records[name]["network"]["epochs"] for name in ("epochs-2", "")] == [2, 1]
    assert (lab.work / "epochs-2" / "addition-normal-0.safetensors").exists()
    marks = {name: scale.marks for name, scale in [("paper", PAPER), ("quick", QUICK)]}
    assert marks["paper"] == {"quick": False, "trial": False, "scale": ""}
    assert marks["quick"] == {"quick": True, "trial": False, "scale": "quick"}


def test_the_symbolic_share_counts_each_network_once() -> None:
    def one(fingerprint: str, training: float) -> dict[str, Any]:
        parts = ("transform", "thresholds", "learning", "inference")
        seconds = {"training": training, "prediction": 1.0, "samples": 0.5}
        seconds |= dict.fromkeys(parts, 0.25)
        return {"network": {"fingerprint": fingerprint}, "seconds": seconds}

    outcome = scheduler.Outcome(0, [one("a", 60.0), one("a", 60.0), one("b", 33.0)])
    assert outcome.symbolic_share == pytest.approx(3.0 / (3.0 + 61.0 + 34.0 + 1.5))


# --- errors --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("k", "setting", "says"),
    [
        (21, "normal", ["one sample needs 42 images", "40 only", "at most 20"]),
        (40, "low-data", ["one sample needs 80 images", "k is at most 20"]),
    ],
)
def test_what_cannot_be_done_is_told_before_any_training(
    tmp_path: Path, k: int, setting: str, says: list[str]
) -> None:
    lab = Lab(tmp_path)
    experiments = [
        Experiment("addition", *which, "antipignistic", 0)
        for which in ((1, "normal"), (k, setting))
    ]
    with raises_saying(DomainError, *says):
        lab.reproduce(experiments)
    assert lab.said == []


def test_a_work_directory_that_cannot_be_written_to_is_told_at_once(tmp_path: Path) -> None:
    (tmp_path / "work").write_text("")
    lab = Lab(tmp_path)
    with raises_saying(DataError, "work", "cannot be locked"):
        lab.reproduce(experiments_of("addition", [1], runs=[0]))


def test_a_broken_record_is_no_record(tmp_path: Path) -> None:
    lab, experiments = Lab(tmp_path), experiments_of("addition", [1], runs=[0])
    path = experiments[0].path(lab.results)
    path.parent.mkdir(parents=True)
    path.write_text('{"format": "pinesy.rec')
    with raises_saying(DataError, str(path), "not a whole record", "delete it"):
        lab.reproduce(experiments)


def test_too_few_images_of_a_digit_are_told(tmp_path: Path, monkeypatch: Any) -> None:
    data = few_mnist()
    ones = data.train_labels != 3
    few = Mnist(
        data.train_images[ones], data.train_labels[ones], data.test_images, data.test_labels
    )
    monkeypatch.setattr(scales, "mnist", lambda: few)
    with raises_saying(DataError, "the pools need 28 images of the digit 3"):
        Lab(tmp_path).reproduce(experiments_of("sudoku", [4], runs=[0]))
