"""Records of experiments that nobody did, with numbers that are easy to reckon with."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from reproduction.experiments import Experiment
from reproduction.store import Store, read_record

SECONDS = {
    "training": 90.0,
    "prediction": 5.0,
    "samples": 1.0,
    "transform": 0.5,
    "thresholds": 1.5,
    "learning": 1.0,
    "inference": 1.0,
}
ENVIRONMENT = {
    "commit": "abc1234",
    "pinesy": "0.1.0",
    "torch": "2.2.0",
    "numpy": "1.26.0",
    "python": "3.11.7",
    "machine": "a <processor> & more",
    "cores": 2,
    "threads": 1,
}


def a_record(right: int = 99, test: int = 100, **changes: Any) -> dict[str, Any]:
    """Return a record, with some parts changed."""
    made: dict[str, Any] = {
        "quick": False,
        "trial": False,
        "scale": "",
        "supervision": "every image labelled",
        "accuracy": right / test,
        "right": right,
        "ambiguous": 0,
        "samples": {"train": 500, "valid": 100, "test": test},
        "digit_accuracy": 0.995,
        "thresholds": {"c_*": 4.12e-8, "w_*": 4.12e-8, "y_*": 4.12e-8},
        "evaluations": 2,
        "reliable": {"c_*": [10, 20.0, 30], "w_*": [5, 6.0, 7], "y_*": [1, 2.0, 3]},
        "largest_parameter": 0.0,
        "distance": 0.0,
        "seconds": dict(SECONDS),
        "memory_mb": 800.0,
        "network": {
            "architecture": "PaperCNN",
            "recipe": {
                "optimizer": "adadelta",
                "learning_rate": 1.0,
                "schedule": "step",
                "batch": 64,
            },
            "epochs": 20,
            "file": "network.safetensors",
            "fingerprint": "f00d",
        },
        "environment": dict(ENVIRONMENT),
    }
    return {**made, **changes}


def keep(
    root: Path,
    right: int = 99,
    test: int = 100,
    *,
    problem: str = "addition",
    size: int = 1,
    setting: str = "normal",
    transform: str = "antipignistic",
    run: int = 0,
    **changes: Any,
) -> Path:
    """Write a record below a directory; return its file."""
    experiment = Experiment(problem, size, setting, transform, run)
    store = Store(root)
    store.write(experiment, a_record(right, test, **changes))
    return store.path(experiment)


def records_in(root: Path) -> list[dict[str, Any]]:
    """Return the records below a directory, those of trials too."""
    return [read_record(path) for path in sorted(root.rglob("run-*.json"))]


def keep_all(root: Path, order: Callable[[list[int]], list[int]] = list) -> None:
    """Write records of every kind there is, the runs in some order."""
    for run in order([0, 1, 2]):
        network = {**a_record()["network"], "fingerprint": f"run {run}"}
        more: dict[str, Any] = {"run": run, "network": network, "digit_accuracy": 0.99 + run / 1000}
        for setting in ("normal", "low-data", "deepsoftlog-cnn", "ablation", "better-eye"):
            nothing: dict[str, Any] = {"thresholds": {}, "reliable": {}, "distance": None}
            changes = {**more, **(nothing if setting == "ablation" else {})}
            for transform in ("antipignistic", "minimum-specificity"):
                for size in (1, 4, 100):
                    right = 99 - size // 2 - run
                    keep(root, right, size=size, setting=setting, transform=transform, **changes)
        reliable = {"b_*": [1, 2.0, 3], "c": [4, 4.0, 4]}
        thresholds = {"b_*": 1.3e-6, "c": 4.1e-8}
        keep(root, 96, problem="sudoku", size=4, thresholds=thresholds, reliable=reliable, **more)
        keep(root / "quick", 51, quick=True, scale="quick", **more)
