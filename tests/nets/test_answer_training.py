"""Training from answers for any data: networks of several kinds, data sets, resuming, bad input."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from messages import raises_saying
from pinesy import function
from pinesy.exceptions import DataError, DomainError, PinesyError, UnknownAttributeError

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch.utils.data import DataLoader  # noqa: E402

from nets.several_kinds import (  # noqa: E402
    KINDS,
    LAYER,
    NUMBER,
    RULES,
    Stream,
    reader,
    samples,
)
from pinesy.nets import (  # noqa: E402
    AnsweredInputs,
    AnswerPhase,
    InputReader,
    Recipe,
    RuleLayer,
    answer_loss,
    answer_score,
    fit_answers,
    fit_from_starts,
)
from pinesy.nets.answered_inputs import collate  # noqa: E402

RECIPE = Recipe("adamw", 0.03, "constant", batch=16, epochs=3)


def state(network: Any) -> list[Any]:
    return [tensor.clone() for tensor in network.state_dict().values()]


def test_networks_of_several_kinds_learn_from_answers() -> None:
    trained = reader()
    fit = fit_answers(trained, LAYER, samples(), samples(seed=1), RECIPE, seed=0)
    assert len(fit.losses) == 3
    assert len(fit.scores) == 4
    assert fit.score == max(fit.scores) == answer_score(trained, LAYER, samples(seed=1))
    assert fit.losses[-1] < fit.losses[0]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"augment": 1.0}, "fit_answers neither augments nor averages"),
        ({"average_from": 1}, "fit_answers neither augments nor averages"),
        ({"precision": "bfloat16"}, "fit_answers computes in float32, not in bfloat16"),
    ],
)
def test_recipes_for_labels_only(change: dict[str, Any], said: str) -> None:
    recipe = replace(RECIPE, **change)
    with raises_saying(DomainError, said):
        fit_answers(reader(), LAYER, samples(), samples(seed=1), recipe, seed=0)


def test_the_start_is_kept_if_training_makes_it_worse() -> None:
    good = fit_answers(reader(), LAYER, samples(), samples(seed=1), RECIPE, seed=0).score
    trained = reader()
    fit_answers(trained, LAYER, samples(), samples(seed=1), RECIPE, seed=0)
    before = state(trained)

    def away(layer: RuleLayer, p: Any, answers: Any) -> Any:
        return -answer_loss(layer, layer(p), answers)

    fit = fit_answers(trained, LAYER, samples(), samples(seed=1), RECIPE, seed=0, loss=away)
    assert fit.scores[-1] < good
    assert fit.best == 0
    assert all(torch.equal(x, y) for x, y in zip(before, state(trained), strict=True))


def test_a_loader_and_a_data_set_of_ones_own() -> None:
    pairs: Any = [samples()[i] for i in range(8)]
    fit = fit_answers(reader(), LAYER, DataLoader(pairs, 4), pairs, RECIPE, seed=0)
    assert len(fit.losses) == 3


def test_a_stream_of_samples(tmp_path: Path) -> None:
    file, one = tmp_path / "run.safetensors", Recipe("adamw", 0.03, "one-cycle", 16, 2, t_max=2)
    for loader in (Stream(samples()), DataLoader(Stream(samples()), 8, collate_fn=collate)):
        file.unlink(missing_ok=True)
        for epochs in (1, 2):
            recipe = Recipe(**{**vars(one), "epochs": epochs})
            halves = reader()
            fit = fit_answers(halves, LAYER, loader, samples(), recipe, seed=0, checkpoint=file)
        assert fit.resumed == 1
        whole = reader()
        expected = fit_answers(whole, LAYER, loader, samples(), one, seed=0)
        assert fit.losses == expected.losses
        assert all(torch.equal(x, y) for x, y in zip(state(whole), state(halves), strict=True))
    with raises_saying(DataError, "another training", "fingerprint"):
        fit_answers(reader(), LAYER, Stream(samples(), 32), samples(), one, seed=0, checkpoint=file)


def test_an_interrupted_training_goes_on_to_the_same_bits(tmp_path: Path) -> None:
    whole = reader()
    expected = fit_answers(whole, LAYER, samples(), samples(seed=1), RECIPE, seed=3)
    lines: list[str] = []

    def stop(line: str) -> None:
        lines.append(line)
        if len(lines) == 2:
            raise KeyboardInterrupt

    file, first = tmp_path / "run.safetensors", reader()
    with pytest.raises(KeyboardInterrupt):
        fit_answers(
            first, LAYER, samples(), samples(seed=1), RECIPE, seed=3, checkpoint=file, say=stop
        )
    again = reader(7)
    fit = fit_answers(again, LAYER, samples(), samples(seed=1), RECIPE, seed=3, checkpoint=file)
    assert fit.resumed == 1
    assert (fit.losses, fit.scores, fit.best) == (expected.losses, expected.scores, expected.best)
    assert all(torch.equal(x, y) for x, y in zip(state(whole), state(again), strict=True))
    with raises_saying(DataError, "another training: its seed is '3', not '4'"):
        fit_answers(again, LAYER, samples(), samples(seed=1), RECIPE, seed=4, checkpoint=file)
    file.write_bytes(b"nothing")
    with raises_saying(DataError, "a damaged checkpoint"):
        fit_answers(again, LAYER, samples(), samples(), RECIPE, seed=3, checkpoint=file)


def test_a_loss_that_is_no_number_stops_and_keeps_the_last_good_state() -> None:
    trained, calls = reader(), [0]

    def breaks(layer: RuleLayer, p: Any, answers: Any) -> Any:
        calls[0] += 1
        loss = answer_loss(layer, layer(p), answers)
        return loss * (float("nan") if calls[0] == 6 else 1.0)

    with raises_saying(PinesyError, "the loss of step 2 in epoch 2 is nan", "after epoch 1"):
        fit_answers(trained, LAYER, samples(), samples(), RECIPE, seed=0, loss=breaks)
    assert all(bool(torch.isfinite(x).all()) for x in state(trained))
    other = reader()
    one = Recipe("adamw", 0.03, "constant", batch=16, epochs=1)
    fit_answers(other, LAYER, samples(), samples(), one, seed=0, loss=answer_loss_of)
    assert all(torch.equal(x, y) for x, y in zip(state(trained), state(other), strict=True))


def answer_loss_of(layer: RuleLayer, p: Any, answers: Any) -> Any:
    return answer_loss(layer, layer(p), answers)


def test_data_that_yield_nothing_are_refused() -> None:
    with raises_saying(DataError, "empty"):
        fit_answers(reader(), LAYER, [], samples(), RECIPE, seed=0)
    one: Any = [samples()[0]]
    empty: Any = DataLoader(one, batch_size=4, drop_last=True)
    with raises_saying(DataError, "data yields nothing"):
        fit_answers(reader(), LAYER, empty, samples(), RECIPE, seed=0)
    with raises_saying(DataError, "as many samples"):
        AnsweredInputs({"number": torch.zeros(3, 2)}, {"answer": [1]})
    numbers: Any = [1, 2]
    with raises_saying(DataError, "pair of dicts"):
        fit_answers(reader(), LAYER, DataLoader(numbers), samples(), RECIPE, seed=0)
    with raises_saying(DataError, "give a Dataset or a DataLoader"):
        fit_answers(reader(), LAYER, 5, samples(), RECIPE, seed=0)
    with raises_saying(DataError, "data yields nothing"):
        fit_answers(reader(), LAYER, Stream(samples(), 0), samples(), RECIPE, seed=0)


def test_networks_and_answers_that_do_not_fit_are_refused() -> None:
    with raises_saying(DataError, "no network reads the input 'word', of kind 'word'"):
        InputReader(RULES, {"number": nn.Linear(2, 3)}, KINDS)
    with raises_saying(UnknownAttributeError, "no input 'wort'"):
        InputReader(RULES, {"number": nn.Linear(2, 3)}, {"wort": "number"})
    wide = InputReader(RULES, {"number": nn.Linear(2, 5), "word": nn.Embedding(4, 2)}, KINDS)
    with raises_saying(DataError, "gives 5 scores for the input 'number', which has 3 values"):
        answer_score(wide, LAYER, samples())
    flat = InputReader(RULES, {"number": nn.Flatten(0), "word": nn.Embedding(4, 2)}, KINDS)
    with raises_saying(DataError, "must give scores"):
        answer_score(flat, LAYER, samples())
    with raises_saying(DomainError, "answers"):
        answer_score(reader(), LAYER, AnsweredInputs(samples().inputs, {"answer": [9] * 64}))
    with raises_saying(UnknownAttributeError, "'wort', which is no output"):
        answer_score(reader(), LAYER, AnsweredInputs(samples().inputs, {"wort": ["plus"] * 64}))


def test_a_phase_with_rules_and_samples_of_its_own() -> None:
    one = Recipe("adamw", 0.03, "constant", batch=16, epochs=1)
    easy = function("even", [NUMBER], lambda a: a % 2 == 0)
    seen = samples().inputs["number"]
    parity = AnsweredInputs({"number": seen}, {"even": (seen[:, 1] != 0).tolist()})
    layer = RuleLayer(easy, semantics="probabilistic")
    phases = [AnswerPhase(layer, one, data=parity, validation=parity), AnswerPhase(LAYER, one)]
    chosen = fit_from_starts(reader, phases, samples(), samples(seed=1), seeds=[0])
    other = reader()
    fit_answers(other.over(easy), layer, parity, parity, one, seed=0)
    fit_answers(other, LAYER, samples(), samples(seed=1), one, seed=0)
    same = zip(state(other), state(chosen.reader), strict=True)
    assert all(torch.equal(x, y) for x, y in same)


def test_several_starts_and_phases() -> None:
    one = Recipe("adamw", 0.03, "constant", batch=16, epochs=1)
    phases = [AnswerPhase(LAYER, one), AnswerPhase(RuleLayer(RULES), one, answer_loss_of)]
    lines: list[str] = []
    chosen = fit_from_starts(
        reader, phases, samples(), samples(seed=1), seeds=[0, 1], enough=1.1, say=lines.append
    )
    assert list(chosen.scores) == [0, 1]
    assert chosen.score == max(chosen.scores.values())
    assert len(chosen.fits) == 2
    assert "may be wrong" in lines[-1]
    with raises_saying(DomainError, "no seeds"):
        fit_from_starts(reader, phases, samples(), samples(), seeds=[])
    with raises_saying(DomainError, "no phases"):
        fit_from_starts(reader, [], samples(), samples(), seeds=[0])
