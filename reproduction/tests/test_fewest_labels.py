"""Shortcuts against few labels: tasks, labelled images, measures, records that are there stay."""

import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("safetensors")
pytest.importorskip("mlxtend")

import torch
from typer.testing import CliRunner

from messages import raises_saying
from pinesy.exceptions import DataError, DomainError
from pinesy.nets import RuleLayer, belief_loss
from reproduction import commands, figures
from reproduction.concept_tasks import ConceptSamples, concept_tasks
from reproduction.fewest_labels import (
    BalancedLoss,
    do_labelled_runs,
    labelled_images,
    labels_table,
    measured,
    read_all_runs,
    with_labels,
)
from reproduction.scales import Images
from reproduction.tests.tiny import TINY_QUICK, few_digits

TASKS = concept_tasks()
FEWEST = {"train": 4, "valid": 2, "test": 2, "ood": 1}


def images() -> Images:
    pixels, labels = few_digits()
    return Images(pixels, labels, 250)


@pytest.mark.parametrize(
    ("name", "count", "labels"),
    [
        ("half", 3, {"digit": (2,)}),
        ("evenodd", 36, {"digit": (0, 1)}),
        ("mnmath", 16, {"digit": (0, 1)}),
        ("kandinsky", 36, {"shape": ("circle", "square"), "colour": ("red", "yellow")}),
    ],
)
def test_labels_that_leave_the_true_reading(
    name: str, count: int, labels: dict[str, tuple[object, ...]]
) -> None:
    task = TASKS[name]
    found = task.shortcuts(task.make_parts(images, True)["train"])
    assert (found.count, found.exact, found.labels) == (count, True, labels)


def test_unseen_equations_have_other_combinations() -> None:
    task, digits = TASKS["mnmath"], images()
    parts = task.make_parts(lambda: digits, True)
    rows = {part: set(map(tuple, s.values["digit"].tolist())) for part, s in parts.items()}
    assert rows["train"] == rows["valid"] == rows["test"]
    assert (len(rows["train"]), len(rows["ood"])) == (16, 1000)
    assert not rows["train"] & rows["ood"]
    answers = task.answered(parts["ood"]).answers
    c1, c2, c3, c4 = parts["ood"].values["digit"][5].tolist()
    assert (answers["first"][5], answers["second"][5]) == (2 * c1 + c2, c3 + c4)


@pytest.mark.parametrize("unseen", [False, True])
def test_the_rules_of_figures_give_the_answers(unseen: bool) -> None:
    shapes, colours = figures.drawn_concepts(200, np.random.default_rng(1), unseen=unseen)
    has_unseen = [
        any(pair in figures.UNSEEN for pair in zip(*row, strict=True))
        for row in zip(shapes.tolist(), colours.tolist(), strict=True)
    ]
    assert set(has_unseen) == {unseen}
    evidence = {
        name: np.array(domain)[values[:, place]].tolist()
        for concept, domain, values in (
            ("shape", figures.SHAPES, shapes),
            ("colour", figures.COLOURS, colours),
        )
        for place, name in enumerate(figures.input_names(concept))
    }
    inferred = figures.pattern_rules().infer(evidence)["pattern"]
    expected = figures.pattern_of(shapes, colours)
    assert list(inferred.best) == expected
    assert set(expected) == {"neither", "shapes", "colours", "both"}


def test_shapes_differ_in_no_more_than_their_form() -> None:
    n, rng = 300, np.random.default_rng(0)
    blue = np.full(n, 2)
    areas = []
    for shape in range(3):
        drawn = figures.draw_figures(np.full(n, shape), blue, rng)
        is_figure = drawn[:, 2] - drawn[:, 0] > 0.25  # more blue than red
        areas.append(is_figure.mean())
    assert max(areas) < 1.1 * min(areas)


def test_labelled_images_have_named_values_in_turns() -> None:
    task = TASKS["kandinsky"]
    samples = task.make_parts(images, True)["train"]
    named = {"shape": ("circle", "square"), "colour": ("red", "yellow")}
    few = labelled_images(task, samples, named, 2, 0)
    assert few.values["shape"].ravel().tolist() == few.values["colour"].ravel().tolist() == [0, 1]
    labelled = labelled_images(task, samples, named, 8, 0)
    shapes, colours = (labelled.values[c].ravel() for c in ("shape", "colour"))
    assert np.bincount(2 * shapes + colours).tolist() == [2, 2, 2, 2]
    assert len(torch.unique(labelled.images.flatten(1), dim=0)) == 8
    pool = samples.images.flatten(0, 1)
    for image, shape, colour in zip(labelled.images[:, 0], shapes, colours, strict=True):
        (row,) = np.flatnonzero((pool == image).flatten(1).all(dim=1))
        assert samples.values["shape"].ravel()[row] == shape
        assert samples.values["colour"].ravel()[row] == colour
    with raises_saying(DomainError, "1 labelled images", "at least 2"):
        labelled_images(task, samples, named, 1, 0)
    single = ConceptSamples(samples.images[:1], {c: v[:1] for c, v in samples.values.items()})
    with raises_saying(DataError, "too few images", "fewer labels"):
        labelled_images(task, single, named, 10, 0)


def test_labelled_samples_have_labels_and_no_answer() -> None:
    task, rng = TASKS["half"], np.random.default_rng(0)
    samples = task.make_parts(images, True)["valid"]
    labelled = labelled_images(task, samples, {"digit": (2,)}, 3, 0)
    data = with_labels(task, samples, labelled, 4, rng, augmented=False)
    n = len(samples)
    assert len(data) == n + 4
    assert data.answers["total"][:n] == samples.values["digit"].sum(axis=1).tolist()
    assert data.answers["total"][n:] == [None] * 4
    assert data.answers["left"] == data.answers["right"] == [None] * n + [2] * 4
    known = {bytes(image.numpy().tobytes()) for image in labelled.images}
    assert all(image.numpy().tobytes() in known for image in data.inputs["right"][n:])
    none = labelled_images(task, samples, {"digit": (2,)}, 0, 0)
    assert len(with_labels(task, samples, none, 4, rng, augmented=True)) == n


def test_the_loss_of_concepts_with_as_many_values_is_apart() -> None:
    task = TASKS["kandinsky"]
    layer = RuleLayer(task.rules, semantics="probabilistic")
    even = torch.full((2, 3), 1 / 3)
    probabilities = {name: even for names in task.inputs.values() for name in names}
    probabilities["shape_11"] = torch.tensor([[0.9, 0.1, 0.0], [0.9, 0.1, 0.0]])
    answers = {"pattern": ["both", "neither"]}
    loss = BalancedLoss(task.inputs, 1.0)(layer, probabilities, answers)
    shape = (8 * even[0] + probabilities["shape_11"][0]) / 9
    entropy = -(shape * shape.log()).sum() + np.log(3)
    expected = belief_loss(layer, probabilities, answers) - entropy
    assert loss.item() == pytest.approx(expected.item(), abs=1e-5)


class _Reader:
    """Reads 2 as 3 and 3 as 2: images are digits."""

    training = False

    def predict_proba(self, inputs: dict[str, torch.Tensor]) -> dict[str, np.ndarray]:
        reads = np.eye(5)[[0, 1, 3, 2, 4]]
        return {name: reads[x.numpy().astype(int).ravel()] for name, x in inputs.items()}

    def __call__(self, inputs: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        return {name: torch.from_numpy(p) for name, p in self.predict_proba(inputs).items()}

    def eval(self) -> None:
        """As a network."""

    def train(self, _mode: bool) -> None:
        """As a network."""


def test_a_shortcut_is_measured() -> None:
    task = TASKS["half"]
    digits = np.array([(0, 0), (0, 1), (2, 3), (2, 4)])
    samples = ConceptSamples(torch.from_numpy(digits)[..., None], {"digit": digits})
    measures = measured(task, _Reader(), RuleLayer(task.rules), samples)  # type: ignore[arg-type]
    assert (measures["answers"], measures["accuracy"]) == (0.75, 5 / 8)
    assert measures["ece"] == pytest.approx(3 / 8)
    assert measures["f1"] == pytest.approx((1 + 1 + 0 + 0 + 1) / 5)


def test_labelled_runs_are_done_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reproduction.concept_tasks.FEW", FEWEST)
    task, said = TASKS["half"], list[str]()

    def do() -> None:
        do_labelled_runs(
            task,
            [0],
            tmp_path,
            tmp_path / "work",
            images,
            labels=4,
            quick=True,
            epochs=1,
            starts=1,
            say=said.append,
        )

    do()
    records = read_all_runs(tmp_path)
    n_lines = len(said)
    do()
    assert len(said) == n_lines  # nothing was done
    path = tmp_path / "shortcuts" / "half-4" / "00.json"
    path.unlink()
    do()
    assert read_all_runs(tmp_path) == records  # from the checkpoints, to the same record
    (record,) = records
    assert (record["labels"], record["labelled"], record["remappings"]) == (4, {"digit": [2]}, 3)
    assert "| half | 3 | 4 | 1 |" in labels_table(records)
    path.write_text(json.dumps({"format": "another"}))
    with raises_saying(DataError, "00.json", "not a record"):
        read_all_runs(tmp_path)


def test_the_command_of_shortcuts_prints_the_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commands, "QUICK", TINY_QUICK)
    few = {"train": 60, "valid": 4, "test": 4, "ood": 4}
    monkeypatch.setattr("reproduction.concept_tasks.FEW_FIGURES", few)
    monkeypatch.setattr("reproduction.fewest_labels.ENOUGH", 0.0)  # one start
    options = ["--quick", "--task", "kandinsky", "--labels", "4", "--run", "0"]
    places = ["--results", str(tmp_path), "--work", str(tmp_path / "work")]
    done = CliRunner().invoke(commands.app, ["shortcuts", *options, *places])
    assert done.exit_code == 0, done.output
    assert "| kandinsky | " in done.output
    assert (tmp_path / "quick" / "shortcuts" / "kandinsky-4" / "00.json").exists()
