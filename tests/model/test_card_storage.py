"""Score cards in files: what is saved with induced rules is loaded again, or refused."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest

from pinesy import calibrate, induce, load, save
from pinesy.exceptions import DataError, DataWarning
from pinesy.induction import CardCascade, card_of
from pinesy.model.storage import load_rules

RNG = np.random.default_rng(0)
TABLE = pandas.DataFrame(
    {"glucose": RNG.normal(120, 30, 200).round(), "smoker": RNG.choice(["yes", "no"], 200)}
)
TABLE["ill"] = np.where(TABLE.glucose + 20 * (TABLE.smoker == "yes") > 130, "yes", "no")
BLANK: dict[str, Any] = {"glucose": [None, 150.0], "smoker": ["yes", None]}


@pytest.fixture(scope="module")
def rules() -> CardCascade:
    return induce(TABLE, "ill", max_rules=6)


@pytest.mark.parametrize("suffix", ["json", "rules"])
def test_the_card_is_loaded_again(rules: CardCascade, suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"model.{suffix}"
    save(rules, path)
    for again in (load(path), load_rules(path)):
        assert isinstance(again, CardCascade)
        assert again == rules
        assert again.card == rules.card
        assert np.array_equal(again.score(BLANK).totals, rules.score(BLANK).totals)


def test_calibrated_rules_keep_the_card(rules: CardCascade, tmp_path: Path) -> None:
    evidence = {name: TABLE[name] for name in ("glucose", "smoker")}
    save(calibrate(rules, evidence, {"ill": TABLE["ill"]}), tmp_path / "model.json")
    assert card_of(load(tmp_path / "model.json").rules) == rules.card


def test_a_card_that_is_not_of_the_rules(rules: CardCascade, tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    save(rules, path)
    content = json.loads(path.read_text())
    content["card"]["lines"][0]["points"] += 1
    path.write_text(json.dumps(content))
    with pytest.raises(DataError, match=r"model\.json.*line"):
        load(path)
    cards: list[Any] = [{}, [], {"version": 1}, {**content["card"], "lines": [{}]}]
    for card in cards:
        path.write_text(json.dumps({**content, "card": card}))
        with pytest.raises(DataError):
            load(path)


def test_rules_that_were_edited_lose_the_card(rules: CardCascade, tmp_path: Path) -> None:
    path = tmp_path / "model.rules"
    save(rules, path)
    text = path.read_text()
    line = rules.card.lines[0]
    points = f"`{line.attribute}` in {{{line.points}}}"
    path.write_text(text.replace(f"then {points}", f"then `{line.attribute}` in {{0}}", 1))
    with pytest.warns(DataWarning, match="score card"):
        edited = load(path)
    assert card_of(edited) is None
    assert edited != rules
    path.write_text("\n".join(x for x in text.splitlines() if not x.startswith("# score card")))
    assert card_of(load(path)) is None
