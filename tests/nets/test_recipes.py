"""Recipes: the paper's numbers, and the learning rates that PyTorch's schedulers give."""

import json
from dataclasses import replace
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from messages import raises_saying  # noqa: E402
from pinesy.exceptions import DomainError  # noqa: E402
from pinesy.nets import (  # noqa: E402
    BETTER_EYE,
    DEEPSOFTLOG,
    PAPER,
    PAPER_SUDOKU4,
    DeepSoftLogCNN,
    Recipe,
)
from pinesy.nets.recipes import LATER  # noqa: E402


def test_the_papers_numbers() -> None:
    assert Recipe("adadelta", 1.0, "step", 64, 20, gamma=0.7) == PAPER
    assert (PAPER_SUDOKU4.batch, replace(PAPER_SUDOKU4, batch=64)) == (32, PAPER)
    constant = replace(PAPER, schedule="constant")
    assert {constant.rate(epoch) for epoch in range(20)} == {1.0}
    assert (DEEPSOFTLOG.optimizer, DEEPSOFTLOG.batch, DEEPSOFTLOG.epochs) == ("adamw", 128, 130)
    assert (DEEPSOFTLOG.learning_rate, DEEPSOFTLOG.weight_decay) == (1e-3, 1e-4)
    assert (DEEPSOFTLOG.t_max, DEEPSOFTLOG.eta_min) == (100, 1e-5)


def scheduled(recipe: Recipe, kind: str) -> list[float]:
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=recipe.learning_rate)
    schedulers = torch.optim.lr_scheduler
    scheduler = (
        schedulers.StepLR(optimizer, 1, recipe.gamma)
        if kind == "step"
        else schedulers.CosineAnnealingLR(optimizer, recipe.t_max, recipe.eta_min)
    )
    rates = []
    for _ in range(recipe.epochs):
        rates.append(scheduler.get_last_lr()[0])
        optimizer.step()
        scheduler.step()
    return rates


@pytest.mark.parametrize("recipe", [PAPER, DEEPSOFTLOG])
def test_learning_rates_are_those_of_pytorchs_schedulers(recipe: Recipe) -> None:
    rates = [recipe.rate(epoch) for epoch in range(recipe.epochs)]
    assert rates == pytest.approx(scheduled(recipe, recipe.schedule), rel=1e-9)
    assert len(set(rates)) > 10


def test_optimizers() -> None:
    made = [r.make_optimizer(DeepSoftLogCNN()) for r in (PAPER, DEEPSOFTLOG)]
    assert [type(o).__name__ for o in made] == ["Adadelta", "AdamW"]
    assert [o.defaults["weight_decay"] for o in made] == [0.0, 1e-4]


def test_recipes_are_written_and_read() -> None:
    mixed = replace(PAPER, precision="bfloat16")
    for recipe in (DEEPSOFTLOG, BETTER_EYE, replace(PAPER, average_from=0), mixed):
        assert Recipe.from_json(recipe.to_json()) == recipe


def test_old_recipes_are_written_as_ever() -> None:
    """Checkpoints and records hold these texts."""
    assert PAPER.to_json() == (
        '{"batch": 64, "epochs": 20, "eta_min": 0.0, "gamma": 0.7, "learning_rate": 1.0, '
        '"optimizer": "adadelta", "schedule": "step", "t_max": 1, "weight_decay": 0.0}'
    )
    fields = set(json.loads(PAPER.to_json()))
    assert all(set(json.loads(r.to_json())) == fields for r in (PAPER_SUDOKU4, DEEPSOFTLOG))
    assert set(json.loads(BETTER_EYE.to_json())) - fields == set(LATER) - {"precision"}


def test_one_cycle() -> None:
    recipe = Recipe("adamw", 1.0, "one-cycle", batch=8, epochs=10, t_max=10, eta_min=0.1)
    rates = [recipe.rate(epoch, part / 4) for epoch in range(12) for part in range(4)]
    assert (rates[0], rates[4], rates[8]) == pytest.approx((0.04, 0.52, 1.0))
    assert rates[8:41] == sorted(rates[8:41], reverse=True)
    assert recipe.rate(6) == pytest.approx(0.55), "half-way down the cosine"
    assert rates[40:] == pytest.approx([0.1] * 8), "it stays at the lowest"
    assert recipe.rate(3, 0.5) == replace(recipe, epochs=99).rate(3, 0.5), "so training may go on"


@pytest.mark.parametrize("recipe", [PAPER, replace(PAPER, schedule="constant"), DEEPSOFTLOG])
def test_other_schedules_do_not_change_within_an_epoch(recipe: Recipe) -> None:
    assert recipe.rate(3, 0.9) == recipe.rate(3)


def test_the_better_eye_is_one_whole_cycle() -> None:
    assert BETTER_EYE.t_max == BETTER_EYE.epochs < PAPER.epochs
    assert BETTER_EYE.average_from is not None
    assert BETTER_EYE.average_from < BETTER_EYE.epochs


def test_augmentation_may_end_before_training_does() -> None:
    recipe = replace(BETTER_EYE, epochs=6, t_max=6, augment=0.5, augment_until=4, average_from=5)
    assert [recipe.strength(epoch) for epoch in range(6)] == [0.5] * 4 + [0.0] * 2
    assert replace(recipe, augment_until=None).strength(99) == 0.5
    half = recipe.with_epochs(3)
    assert (half.augment_until, half.average_from, half.t_max) == (2, 2, 3)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"optimizer": "adamwx"}, "no optimizer 'adamwx'; did you mean 'adamw'?"),
        ({"schedule": "none"}, "no schedule 'none'"),
        ({"batch": 0}, "batch is 0"),
        ({"epochs": 1.5}, "epochs is 1.5"),
        ({"t_max": True}, "t_max is True"),
        ({"learning_rate": 0.0}, "learning_rate is 0"),
        ({"learning_rate": float("nan")}, "learning_rate is nan"),
        ({"gamma": -1.0}, "gamma is -1.0"),
        ({"weight_decay": "a"}, "weight_decay is 'a'"),
        ({"eta_min": float("inf")}, "eta_min is inf"),
        ({"augment": -1.0}, "augment is -1.0; it must be a number from 0 to 4"),
        ({"augment": "much"}, "augment is 'much'"),
        ({"average_from": -1}, "average_from, an epoch, is -1; it must"),
        ({"average_from": 2.0}, "average_from, an epoch, is 2.0"),
        ({"average_from": True}, "average_from, an epoch, is True"),
        ({"augment_until": -2}, "augment_until, an epoch, is -2; it must"),
        ({"precision": "float16"}, "no precision 'float16'; did you mean 'bfloat16'?"),
    ],
)
def test_wrong_recipes(change: dict[str, Any], said: str) -> None:
    with raises_saying(DomainError, said):
        replace(PAPER, **change)
