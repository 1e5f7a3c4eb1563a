"""Perception, transformation and rules as one object do what is done by hand, step by step."""

import gc
import os
import subprocess
import sys
import weakref
from collections.abc import Callable, Mapping
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn import linear_model as linear
from sklearn.base import clone

from messages import raises_saying
from model.sums_and_weather import (
    DIGITS,
    LABELS,
    NAMES,
    SAMPLES,
    SKY,
    STREET,
    SUMS,
    TABLE,
    WEATHER,
    WEATHER_PERCEPTION,
    WIND,
    Array,
    Means,
    by_hand,
    light,
    speed,
    sums,
    table,
    weather,
)
from named_columns import frame_of
from pinesy import (
    Attribute,
    Cascade,
    CascadeError,
    DataError,
    DegreeError,
    DomainError,
    Iff,
    LearningError,
    PinesyError,
    RuleSet,
    ShapeError,
    UnknownAttributeError,
    antipignistic,
    learn,
    minimum_specificity,
    parse,
)
from pinesy.learning import accuracy, search_tolerances
from pinesy.model import NeuroSymbolic, Predictions


class Recorder:
    """A perception that can be trained, and notes what it is given."""

    def __init__(self, probabilities: Callable[[Array], Array] = table) -> None:
        self.asked: list[Array] = []
        self.taught: list[tuple[Array, Array]] = []
        self._probabilities = probabilities

    def fit(self, data: Array, labels: Array) -> None:
        self.taught.append((data, labels))

    def predict_proba(self, data: Array) -> Array:
        self.asked.append(data)
        return self._probabilities(data)


# --- evidence ----------------------------------------------------------------------------------


@pytest.mark.parametrize("transform", [antipignistic, minimum_specificity])
def test_evidence_is_what_the_steps_give(transform: Callable[[Any], Any]) -> None:
    expected = by_hand(transform)
    for chosen in (transform, transform.__name__):
        assert np.array_equal(sums(transform=chosen).evidence(SAMPLES), expected)


def test_every_form_of_samples_and_perception_gives_the_same_bits() -> None:
    expected = by_hand()
    data = {name: SAMPLES[:, i] for i, name in enumerate(NAMES)}
    columns = [NAMES.index(a.name) for a in SUMS.inputs]
    forms: list[Any] = [
        SAMPLES,
        SAMPLES.tolist(),
        data,
        {SUMS.attributes[n]: data[n] for n in NAMES},
    ]
    perceptions: list[Any] = [
        table,
        Recorder(),
        dict.fromkeys(NAMES, table),
        {name: Recorder() for name in NAMES},
        {SUMS.attributes[name]: table for name in NAMES},
    ]
    for perception in perceptions:
        for form in forms:
            assert np.array_equal(sums(perception=perception).evidence(form), expected)
        unordered = NeuroSymbolic(perception, SUMS)
        assert np.array_equal(unordered.evidence(SAMPLES[:, columns]), expected)
    assert [a.name for a in SUMS.inputs] != NAMES  # else nothing is tested of the order


def test_the_order_of_inputs_matters() -> None:
    assert not np.array_equal(NeuroSymbolic(table, SUMS).evidence(SAMPLES), by_hand())


def test_all_data_of_a_perception_come_at_once() -> None:
    alone = Recorder()
    sums(perception=alone).evidence(SAMPLES)
    assert [a.tolist() for a in alone.asked] == [SAMPLES.ravel().tolist()]
    first, second = Recorder(), Recorder()
    shared = {"a_1": first, "a_2": second, "a_3": first, "a_4": first}
    sums(perception=shared).evidence(SAMPLES)
    assert [a.tolist() for a in first.asked] == [SAMPLES[:, [0, 2, 3]].ravel().tolist()]
    assert [a.tolist() for a in second.asked] == [SAMPLES[:, 1].tolist()]
    methods = Recorder()  # each access of a method makes a new object, for one perception
    each = [(name, methods.predict_proba) for name in NAMES]
    sums(perception=dict(each)).evidence(SAMPLES)
    assert len(methods.asked) == 1


def test_data_of_any_kind_and_shape() -> None:
    data, _ = weather()
    found = NeuroSymbolic(WEATHER_PERCEPTION, WEATHER).evidence(data)
    expected = [antipignistic(light(data["sky"])), antipignistic(speed(data["wind"]))]
    assert np.array_equal(found, np.hstack(expected))
    words = {"sky": ["grim", "blue", "grim"], "wind": ["gust", "", "gust"]}
    model = NeuroSymbolic(
        {
            "sky": lambda text: np.where((text == "grim")[:, None], [0.75, 0.25], [0.0, 1.0]),
            "wind": lambda text: np.where((text == "gust")[:, None], [0, 1, 0], [1, 0, 0]),
        },
        WEATHER,
    )
    assert model.evidence(words).tolist() == [
        [1.0, 0.5, 0.0, 1.0, 0.0],
        [0.0, 1.0, 1.0, 0.0, 0.0],
        [1.0, 0.5, 0.0, 1.0, 0.0],
    ]


def test_float32_probabilities_are_as_good() -> None:
    model = sums(perception=lambda data: table(data).astype(np.float32))
    expected = antipignistic(TABLE.astype(np.float32))[SAMPLES[:, 1]]  # a_2 comes first
    assert np.array_equal(model.evidence(SAMPLES)[:, :10], expected)


# --- classes by name ---------------------------------------------------------------------------


class Named:
    """A trained classifier that says, as those of scikit-learn do, what its columns are."""

    def __init__(self, classes: list[Any], probabilities: list[float]) -> None:
        self.classes_ = np.array(classes)
        self._probabilities = probabilities

    def predict_proba(self, data: Array) -> Array:
        return np.tile(self._probabilities, (len(data), 1))


ONE_DAY = {"sky": [0], "wind": [0]}
CALM = Named(["breeze", "calm", "storm"], [0.25, 0.625, 0.125])


@pytest.mark.parametrize(
    ("values", "classes", "expected"),
    [
        (["dark", "clear"], ["clear", "dark"], [0.5, 1.0]),
        (["dark", "clear"], ["dark", "clear"], [1.0, 0.5]),
        (["dark", "clear"], [0, 1], [1.0, 0.5]),
        ([True, False], [False, True], [0.5, 1.0]),
        ([True, False], [0, 1], [1.0, 0.5]),
        ([2, 1], [1, 2], [0.5, 1.0]),
        ([2, 1], [1.0, 2.0], [0.5, 1.0]),
        ([0, 1], [0, 1], [1.0, 0.5]),
    ],
)
def test_columns_are_found_by_the_names_of_classes(
    values: list[Any], classes: list[Any], expected: list[float]
) -> None:
    sky = Attribute("sky", values)
    rules = RuleSet([Iff(sky.isin({values[0]})).then(STREET.isin({"wet"}))])
    named = Named(classes, [0.75, 0.25])
    for perception in (named, named.predict_proba):
        assert NeuroSymbolic(perception, rules).evidence([[0]]).tolist() == [expected]


def test_domains_in_several_orders_share_a_classifier() -> None:
    class Moods:
        classes_ = np.array(["bad", "fair", "good"])

        def predict_proba(self, data: Array) -> Array:
            return np.asarray(TABLE[data, :3] / TABLE[data, :3].sum(axis=1, keepdims=True))

    one = Attribute("one", ["good", "bad", "fair"])
    two = Attribute("two", ["bad", "fair", "good"])
    rules = RuleSet([Iff(one.isin({"bad"}), two.isin({"bad"})).then(STREET.isin({"wet"}))])
    data = SAMPLES[:, :2]
    first, second = (Moods().predict_proba(data[:, i]) for i in range(2))
    found = NeuroSymbolic(Moods(), rules, transform="minimum_specificity").evidence(data)
    expected = [minimum_specificity(first[:, [2, 0, 1]]), minimum_specificity(second)]
    assert np.array_equal(found, np.hstack(expected))


def test_bad_probabilities_are_named_wherever_they_are() -> None:
    assert np.array_equal(sums().evidence(SAMPLES), by_hand())
    for row, place in [(0, 0), (6, 3), (7, 1), (99, 2)]:
        samples = np.tile(SAMPLES[0], (100, 1))
        samples[row, place] = samples[-1, -1] = 1000  # the last one is wrong too
        wrong = np.vstack([TABLE, np.full((601, 10), 0.2)])
        model = sums(perception=lambda data, wrong=wrong: wrong[data])
        said = f"the perception of '{NAMES[place]}', row {row}: the probabilities sum to"
        with raises_saying(DegreeError, said):
            model.evidence(samples)


@pytest.mark.parametrize(
    ("values", "classes", "said"),
    [
        ([1, 0], [0, 1], ["'sky'", "may be values or positions", "order of the domain"]),
        (["dark", "clear"], ["dark", "grey"], ["'dark', 'grey'", "are not the values of", "clear"]),
        (["dark", "clear"], ["dark"], ["'dark'", "are not the values of", "samples of every"]),
    ],
)
def test_classes_that_are_not_the_values(
    values: list[Any], classes: list[Any], said: list[str]
) -> None:
    sky = Attribute("sky", values)
    rules = RuleSet([Iff(sky.isin({values[0]})).then(STREET.isin({"wet"}))])
    model = NeuroSymbolic(Named(classes, [0.75, 0.25][: len(classes)]), rules)
    with raises_saying(DataError, *said):
        model.evidence([[0]])


def test_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    values = np.array(WIND.domain)[rng.integers(0, 3, 90)]
    data = np.array([np.searchsorted(sorted(map(str, WIND.domain)), values)]).T + 0.1 * rng.normal(
        size=(90, 1)
    )
    rules = RuleSet([Iff(WIND.isin({"storm"})).then(STREET.isin({"wet"}))])
    known = linear.LogisticRegression(C=100.0).fit(data, values)
    model = NeuroSymbolic(known, rules)
    best = np.array(WIND.domain)[model.evidence(data[:, None]).argmax(axis=1)]
    assert (best == values).all()
    fresh = NeuroSymbolic(linear.LogisticRegression(C=100.0), rules)
    streets = np.where(values == "storm", "wet", "dry")
    fresh.fit(data[:, None], streets, values[:, None])
    assert fresh.perception.classes_.tolist() == [0, 1, 2]  # positions in the domain
    assert fresh.score(data[:, None], streets) == 1.0


def weather_model(**options: Any) -> NeuroSymbolic:
    return NeuroSymbolic({SKY: Means(), "wind": speed}, WEATHER, **options)


def test_parameters_are_stored_as_they_are_given() -> None:
    perception = {SKY: light, WIND: speed}
    inputs: list[str | Attribute] = [WIND, "sky"]
    rules = WEATHER.rule_sets[0]
    model = NeuroSymbolic(perception, rules, transform=minimum_specificity, inputs=inputs)
    assert model.get_params() == {
        "perception": perception,
        "rules": rules,
        "transform": minimum_specificity,
        "inputs": inputs,
    }
    assert all(getattr(model, name) is value for name, value in model.get_params().items())
    assert not [name for name in vars(model) if name.endswith("_")]


def test_models_are_cloned_without_what_they_learned() -> None:
    data, targets = weather()
    model = weather_model(inputs=["wind", "sky"])
    model.fit(data, targets, {"sky": np.where(data["sky"] < 0.5, "dark", "clear")}, tolerance=0.9)
    again = clone(model)
    assert (again.inputs, again.rules) == (["wind", "sky"], WEATHER)
    assert not hasattr(again, "rules_")
    assert not hasattr(again, "result_")
    again.fit(data, targets, tolerance=0.9)
    assert again.rules_ == model.rules_
    inner = clone(NeuroSymbolic(linear.LogisticRegression(C=3.0), SUMS, inputs=NAMES))
    assert inner.get_params()["perception__C"] == inner.perception.C == 3.0


def test_parameters_are_set_by_name() -> None:
    model = sums(perception=linear.LogisticRegression())
    assert model.set_params(transform="minimum-specificity", perception__C=5.0) is model
    assert (model.transform, model.perception.C) == ("minimum-specificity", 5.0)
    assert np.array_equal(
        sums().set_params(transform=minimum_specificity).evidence(SAMPLES),
        by_hand(minimum_specificity),
    )
    with raises_saying(DomainError, "no parameter 'transfrm'", "did you mean 'transform'?"):
        model.set_params(transfrm=1)
    with raises_saying(CascadeError, "inputs is ['a_1']"):
        model.set_params(transform="antipignistic", inputs=["a_1"])
    assert (model.transform, model.inputs) == ("minimum-specificity", NAMES)


def test_rules_are_freed_with_their_model() -> None:
    rules = parse(str(WEATHER))
    data, targets = weather(5)
    model = NeuroSymbolic(WEATHER_PERCEPTION, rules).fit(data, targets)
    model.predict(data)
    dead = [weakref.ref(rules), weakref.ref(model.rules_)]
    del rules, model
    gc.collect()
    assert [ref() for ref in dead] == [None, None]


# --- learning ----------------------------------------------------------------------------------


def test_fit_learns_what_learn_does() -> None:
    model = sums()
    assert model.fit(SAMPLES, LABELS, tolerance={"c_*": 0.5}) is model
    expected = learn(SUMS, by_hand(), LABELS, tolerance={"c_*": 0.5})
    assert model.rules_ == model.result_.cascade == expected.cascade
    assert {n: x.tolist() for n, x in model.result_.nabla.items()} == {
        n: x.tolist() for n, x in expected.nabla.items()
    }
    assert model.search_ is None
    assert list(model.seconds_) == ["perception", "tolerances", "learning"]
    assert model.seconds_["tolerances"] == 0.0
    assert model.seconds_["learning"] == model.result_.seconds > 0.0


def test_parameters_are_learned() -> None:
    data, targets = weather()
    model = NeuroSymbolic(WEATHER_PERCEPTION, WEATHER).fit(data, targets)
    evidence = np.hstack([antipignistic(light(data["sky"])), antipignistic(speed(data["wind"]))])
    expected = learn(WEATHER, evidence, {"street": targets})
    assert model.rules_ == expected.cascade != WEATHER
    again = model.fit(data, {STREET: targets})
    assert again.rules_ == expected.cascade


def test_tolerances_come_from_validation_data() -> None:
    data, targets = weather()
    targets[::7] = targets[::7, ::-1]
    others, answers = weather(40, seed=1)
    model = NeuroSymbolic(WEATHER_PERCEPTION, WEATHER)
    evidence, valid = model.evidence(data), model.evidence(others)
    validation = (others, {"street": answers})
    model.fit(data, targets, validation=validation, groups=["street"])
    expected = search_tolerances(
        WEATHER,
        evidence,
        {"street": targets},
        (valid, {"street": answers}),
        groups=["street"],
    )
    assert model.search_ is not None
    assert model.search_.tolerances == expected.tolerances
    assert [e.metric for e in model.search_.evaluations] == [e.metric for e in expected.evaluations]
    assert model.rules_ == expected.result.cascade
    assert model.result_ is model.search_.result
    assert (
        model.rules_
        == learn(WEATHER, evidence, {"street": targets}, tolerance=model.search_.tolerances).cascade
    )
    assert model.seconds_["tolerances"] > 0.0
    model.fit(data, targets)
    assert model.search_ is None


def test_a_metric_of_ones_own_gets_evidence_and_whatever_targets() -> None:
    data, targets = weather()
    seen: list[Any] = []

    def metric(cascade: Cascade, inputs: Any, answers: Any) -> float:
        seen.append((type(cascade), inputs.shape, answers))
        return 1.0

    model = NeuroSymbolic(WEATHER_PERCEPTION, WEATHER)
    model.fit(data, targets, validation=(data, "anything"), metric=metric, progress=False)
    assert seen[0] == (Cascade, (60, 5), "anything")


def test_perceptions_are_taught_positions_in_the_order_of_samples() -> None:
    pupil = Recorder()
    sums(perception=pupil).fit(SAMPLES, LABELS, DIGITS[SAMPLES])
    ((data, labels),) = pupil.taught
    assert data.tolist() == SAMPLES.ravel().tolist()
    assert labels.tolist() == DIGITS[SAMPLES].ravel().tolist()
    by_name = Recorder()
    columns = {name: SAMPLES[:, i] for i, name in enumerate(NAMES)}
    concepts = {SUMS.attributes[name]: DIGITS[columns[name]] for name in NAMES}
    sums(perception=by_name).fit(columns, LABELS, concepts)
    assert [a.tolist() for a in by_name.taught[0]] == [data.tolist(), labels.tolist()]
    sky, wind = Recorder(light), Recorder(speed)
    measured, targets = weather(3)
    model = NeuroSymbolic({"sky": sky, "wind": wind}, WEATHER)
    model.fit(measured, targets, {"wind": ["storm", "calm", "breeze"]})
    assert sky.taught == []
    ((data, labels),) = wind.taught
    assert (data.tolist(), labels.tolist()) == (measured["wind"].tolist(), [1, 0, 2])
    assert labels.dtype == np.int64


def test_training_then_learning() -> None:
    rng = np.random.default_rng(2)
    is_clear = rng.integers(0, 2, 80)
    data = is_clear + 0.1 * rng.normal(size=80)
    rules = RuleSet([Iff(SKY.isin({"dark"})).then(STREET.isin({"wet"}))])
    model = NeuroSymbolic(Means(), rules)
    skies, streets = np.array(SKY.domain)[is_clear], np.array(STREET.domain)[is_clear]
    model.fit(data[:, None], streets, skies[:, None])
    trained = Means()
    trained.fit(data, is_clear)
    evidence = antipignistic(trained.predict_proba(data))
    assert np.array_equal(model.evidence(data[:, None]), evidence)
    assert model.rules_ == learn(rules, evidence, streets).cascade
    assert model.score(data[:, None], streets) == 1.0


def test_a_failure_to_learn_loses_neither_rules_nor_training() -> None:
    pupil = Recorder()
    model = sums(perception=pupil).fit(SAMPLES, LABELS)
    before = model.rules_, model.result_
    wrong = {"y_2": (LABELS["y_2"] + 1) % 10}
    with pytest.raises(LearningError, match="'y_2'"):
        model.fit(SAMPLES, wrong, DIGITS[SAMPLES], tolerance=1e-9)
    assert (model.rules_, model.result_) == before
    assert len(pupil.taught) == 1


# --- prediction --------------------------------------------------------------------------------


def test_predictions_are_those_of_the_rules() -> None:
    model, inference = sums(), SUMS.infer(by_hand())
    found, pi = model.predict(SAMPLES), model.predict_possibility(SAMPLES)
    necessities = model.predict_necessity(SAMPLES)
    assert isinstance(found, Predictions)
    assert list(found) == list(pi) == list(necessities) == ["y_1", "y_2", "y_0"]
    for name, expected in inference.items():
        assert np.array_equal(found[name], expected.best)
        assert np.array_equal(found.outcomes[name], expected.outcome)
        assert np.array_equal(pi[name].degrees, expected.degrees)
        for j, value in enumerate(expected.attribute.domain):
            assert np.array_equal(necessities[name][:, j], expected.necessity({value}))


def test_other_outputs_can_be_asked_for() -> None:
    model, names = sums(), ["y_2", "w_1"]
    expected = SUMS.infer(by_hand(), names)
    assert list(model.predict(SAMPLES, names)) == list(expected) == names
    for name, pi in model.predict_possibility(SAMPLES, names).items():
        assert np.array_equal(pi.degrees, expected[name].degrees)
    assert model.predict_necessity(SAMPLES, ["w_1"])["w_1"].shape == (100, 2)


def test_either_spelling_of_a_transformation() -> None:
    expected = sums(transform="minimum_specificity").evidence(SAMPLES)
    assert np.array_equal(sums(transform="minimum-specificity").evidence(SAMPLES), expected)


def test_tables_are_matched_by_the_names_of_their_columns() -> None:
    model, digits = sums(), DIGITS[SAMPLES]
    named = NAMES
    turned = frame_of(named[::-1], SAMPLES[:, ::-1])
    assert np.array_equal(model.evidence(turned), model.evidence(SAMPLES))
    assert np.array_equal(model.evidence(frame_of([0, 1, 2, 3], SAMPLES)), model.evidence(SAMPLES))
    with raises_saying(DataError, "samples is a table with the columns a, b, c, d", "be a_1, a_2"):
        model.predict(frame_of(["a", "b", "c", "d"], SAMPLES))
    one, other = Recorder(), Recorder()
    sums(perception=one).fit(SAMPLES, LABELS, digits)
    sums(perception=other).fit(SAMPLES, LABELS, frame_of(named[::-1], digits[:, ::-1]))
    assert np.array_equal(one.taught[0][1], other.taught[0][1])


def test_necessity_where_values_tie_and_where_there_is_one_value() -> None:
    only, sky = Attribute("only", ["x"]), Attribute("sky", ["dark", "grey", "clear"])
    rules = Cascade(
        RuleSet([Iff(sky.isin({"dark"})).then(only.isin({"x"}))]),
        RuleSet([Iff(sky.isin({v})).then(STREET_OF[str(v)]) for v in sky.domain]),
    )
    model = NeuroSymbolic(lambda p: p, rules)
    data = np.array([[[0.5, 0.5, 0.0]], [[1.0, 0.0, 0.0]], [[0.2, 0.2, 0.6]]])
    found, pi = model.predict_necessity(data), model.predict_possibility(data)
    np.testing.assert_array_equal(found["only"], [[1.0], [1.0], [np.nan]])
    assert (pi["only"].necessity({"x"}) == 1.0).all()
    predicted = model.predict(data)
    assert predicted["only"].tolist() == ["x", "x", None]  # in the third sample it is excluded
    np.testing.assert_allclose(predicted.contradiction["only"], [0.0, 0.0, 0.4])
    for j, value in enumerate(STREETS.domain):
        assert found["streets"][:, j].tolist() == pi["streets"].necessity({value}).tolist()
    assert pi["streets"].decided.tolist() == [False, True, True]


STREETS = Attribute("streets", ["wet", "damp", "dry"])
STREET_OF = {
    v: STREETS.isin({w}) for v, w in zip(["dark", "grey", "clear"], STREETS.domain, strict=True)
}


def test_score_counts_what_is_all_decided_and_right() -> None:
    model = sums()
    found = model.predict(SAMPLES)
    right = np.ones(100, dtype=bool)
    for name in ("y_0", "y_1", "y_2"):
        right &= (found[name] == LABELS[name]) & (found.outcomes[name] == "decided")
    assert 0.5 < right.mean() < 1.0
    assert model.score(SAMPLES, LABELS) == right.mean()
    assert model.score(SAMPLES, LABELS) == accuracy(SUMS, by_hand(), LABELS)
    unsure = sums(perception=lambda data: np.full((len(data), 10), 0.1))
    assert unsure.score(SAMPLES, LABELS) == 0.0


def test_one_sample() -> None:
    one = sums().predict(SAMPLES[:1])
    assert {n: v.tolist() for n, v in one.items()} == {
        n: v[:1].tolist() for n, v in sums().predict(SAMPLES).items()
    }


def test_a_model_is_printed_by_its_parts() -> None:
    shown = repr(sums(perception=Recorder()))
    assert shown == (
        "NeuroSymbolic(Recorder of a_1, a_2, a_3, a_4; antipignistic; Cascade(7 rule sets, 64 "
        "rules: a_2, a_4, a_1, a_3 -> y_1, y_2, y_0))"
    )


# --- what is wrong is said before anything is done ---------------------------------------------


def wrong_rows(row: int, bad: list[float]) -> Callable[[Array], Array]:
    def perception(data: Array) -> Array:
        found = light(data)
        found[row] = bad
        found[row + 1 :: 3] = [3.0, 4.0]  # the first bad row is the one to name
        return found

    return perception


@pytest.mark.parametrize("row", [0, 1, 31, 59])
@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ([1.5, -0.5], ["the probability of 'clear' is -0.5"]),
        ([np.nan, 0.5], ["the probability of 'dark' is nan"]),
        ([2.0, 1.0], ["the probabilities sum to 3.0", "softmax"]),
    ],
)
def test_bad_probabilities_are_named(row: int, bad: list[float], said: list[str]) -> None:
    data, _ = weather()
    model = NeuroSymbolic({"sky": wrong_rows(row, bad), "wind": speed}, WEATHER)
    with raises_saying(DegreeError, f"the perception of 'sky', row {row}: ", *said):
        model.evidence(data)


@pytest.mark.parametrize(
    ("perception", "error", "said"),
    [
        (
            lambda data: np.ones((len(data), 9)) / 9,
            ShapeError,
            ["a_1, a_2, a_3, a_4 gave", "(400, 9) for 400 rows", "'a_1' has 10", "(400, 10)"],
        ),
        (lambda _: TABLE[:7], ShapeError, ["gave an array of shape (7, 10) for 400 rows"]),
        (lambda data: np.ones(len(data)), ShapeError, ["gave an array of shape (400,)"]),
        (lambda _: [["x"] * 10] * 400, DegreeError, ["must give probabilities", "<U1"]),
        (
            lambda _: antipignistic([[0.5, -1.0]]),
            DegreeError,
            ["the perception of a_1, a_2", "probability of 1 is -1.0"],
        ),
    ],
)
def test_bad_perceptions(
    perception: Callable[[Array], Any], error: type[PinesyError], said: list[str]
) -> None:
    with raises_saying(error, *said):
        sums(perception=perception).predict(SAMPLES)


def test_errors_of_others_pass_as_they_are() -> None:
    def broken(_: Array) -> Array:
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine") as caught:
        sums(perception=broken).predict(SAMPLES)
    assert str(caught.value) == "mine"
    (note,) = caught.value.__notes__
    assert note.startswith("raised by the perception of a_1, a_2, a_3, a_4, a function, which was")
    assert "400 rows of data as an array of shape (400,)" in note


class Network:
    """Something like a network of PyTorch."""

    def state_dict(self) -> None: ...

    def __call__(self, data: Array) -> Array:
        return data


MAKING: list[tuple[Callable[[], Any], type[PinesyError], list[str]]] = [
    (lambda: sums(perception=3), DataError, ["perception of a_1, a_2", "is 3", "give a function"]),
    (lambda: sums(perception=Recorder), DataError, ["Recorder", "give a function"]),
    (lambda: sums(perception=Network()), DataError, ["a network", "NetworkPerception", "softmax"]),
    (
        lambda: sums(perception={"a_1": table}),
        DataError,
        ["perception: there is none for a_2, a_3, a_4", "every input"],
    ),
    (
        lambda: sums(perception={"a_1": table, "a1": table}),
        UnknownAttributeError,
        ["perception: there is no input 'a1'", "did you mean 'a_1'?"],
    ),
    (
        lambda: NeuroSymbolic(light, WEATHER),
        DomainError,
        ["'sky', with 2 values", "'wind', with 3", "a perception for each"],
    ),
    (lambda: sums(transform="antipignistc"), DomainError, ["did you mean 'antipignistic'?"]),
    (
        lambda: sums(transform=np.exp),
        DomainError,
        ["unknown transf", "known: antipignistic"],
    ),
    (lambda: sums(inputs=["a_1", "a_2"]), CascadeError, ["inputs is ['a_1', 'a_2']", "a_4, a_1"]),
    (lambda: sums(inputs=["a_1", "a_2", "a_3", "a_3"]), CascadeError, ["must name each", "once"]),
    (lambda: sums(inputs="a_1"), CascadeError, ["inputs is 'a_1'"]),
    (lambda: NeuroSymbolic(table, "rules"), CascadeError, ["rules"]),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("make", "error", "said"), MAKING, ids=[" ".join(p) for *_, p in MAKING])
def test_models_that_cannot_be(
    make: Callable[[], Any], error: type[PinesyError], said: list[str]
) -> None:
    with raises_saying(error, *said):
        make()


PARTS: dict[str, Any] = {name: SAMPLES[:, i] for i, name in enumerate(NAMES)}
SAMPLE_ERRORS: list[tuple[Any, type[PinesyError], list[str]]] = [
    (
        SAMPLES[:, :3],
        ShapeError,
        ["samples has shape (100, 3)", "(n, 4, ...)", "a_1, a_2, a_3"],
    ),
    (SAMPLES[0], ShapeError, ["samples has shape (4,)"]),
    (7, ShapeError, ["samples has shape ()"]),
    ([[1, 2], [3]], ShapeError, ["samples cannot be made an array"]),
    (SAMPLES[:0], DataError, ["samples has no rows"]),
    ({**PARTS, "a_9": 0}, UnknownAttributeError, ["samples: there is no input 'a_9'"]),
    ({"a_1": SAMPLES[:, 0]}, DataError, ["samples: there is none for a_2, a_3, a_4"]),
    ({**PARTS, SUMS.attributes["a_1"]: 0}, DataError, ["samples: the input 'a_1' is given twice"]),
    ({**PARTS, "a_2": PARTS["a_2"][:9]}, ShapeError, ["9 rows", "'a_2' and 100 for 'a_1'"]),
    ({**PARTS, "a_1": 4}, DataError, ["samples has no rows"]),
    (
        {**PARTS, "a_3": np.zeros((100, 2))},
        ShapeError,
        ["'a_1', with data of shape (100,)", "'a_3', with data of shape (100, 2)", "of its own"],
    ),
]


@pytest.mark.parametrize(
    ("data", "error", "said"), SAMPLE_ERRORS, ids=[" ".join(p) for *_, p in SAMPLE_ERRORS]
)
def test_bad_samples(data: Any, error: type[PinesyError], said: list[str]) -> None:
    with raises_saying(error, *said):
        sums().predict(data)


VALID = (SAMPLES, LABELS)
FIT_ERRORS: list[tuple[dict[str, Any], type[PinesyError], list[str]]] = [
    ({"samples": SAMPLES[:9]}, DataError, ["concepts: 'a_1' has 100 values", "give 9 values"]),
    (
        {"concepts": DIGITS[SAMPLES][:, :2]},
        ShapeError,
        ["concepts has shape (100, 2)", "(n, 4,"],
    ),
    (
        {"concepts": DIGITS[SAMPLES] + 1},
        DomainError,
        ["concepts:", "'a_", "row", "no value 10; known: 0, 1", "leave out samples"],
    ),
    ({"concepts": {"a_9": 1}}, UnknownAttributeError, ["concepts: there is no input 'a_9'"]),
    ({"concepts": {"a_1": DIGITS[:5]}}, DataError, ["concepts: 'a_1' has 5 values", "100"]),
    ({"concepts": {"a_1": np.eye(10)[DIGITS[:100]]}}, DataError, ["'a_1' has 100 distributions"]),
    ({"concepts": {"a_1": "nine"}}, DataError, ["concepts:", "'a_1'", "'nine'"]),
    ({"targets": {"y_7": [1]}}, UnknownAttributeError, ["'y_7'", "did you mean"]),
    ({"targets": {}}, DataError, ["no targets"]),
    ({"targets": LABELS["y_1"]}, DataError, ["give a mapping"]),
    ({"targets": {"y_1": LABELS["y_1"][:3]}}, DataError, ["100 samples", "3 of the target 'y_1'"]),
    ({"targets": {"y_1": LABELS["y_1"] + 5}}, DomainError, ["target of 'y_1', row"]),
    ({"tolerance": -1.0}, DegreeError, ["tolerance is -1.0"]),
    ({"tolerance": {"x_*": 0.1}}, UnknownAttributeError, ["'x_*'"]),
    ({"tolerance": 0.1, "validation": VALID}, DataError, ["tolerance and validation", "either"]),
    ({"groups": ["c_*"]}, DataError, ["groups: for a search", "needs validation data"]),
    ({"validation": VALID, "groups": ["z"]}, UnknownAttributeError, ["named 'z'"]),
    ({"validation": SAMPLES}, DataError, ["the validation data are", "give a pair"]),
    (
        {"validation": (SAMPLES[:, 0], LABELS)},
        ShapeError,
        ["samples of the validation data has"],
    ),
    ({"validation": (SAMPLES[:3], LABELS)}, DataError, ["the validation data: there are 3"]),
    ({"validation": (SAMPLES, {"q": 1})}, UnknownAttributeError, ["the validation data:", "'q'"]),
]


@pytest.mark.parametrize(
    ("change", "error", "said"), FIT_ERRORS, ids=[" ".join(p) for *_, p in FIT_ERRORS]
)
def test_what_cannot_be_fitted_is_refused_before_training(
    change: Mapping[str, Any], error: type[PinesyError], said: list[str]
) -> None:
    pupil = Recorder()
    arguments = {"samples": SAMPLES, "concepts": DIGITS[SAMPLES], "targets": LABELS, **change}
    with raises_saying(error, *said):
        sums(perception=pupil).fit(**arguments)
    assert pupil.taught == pupil.asked == []


def test_a_perception_that_cannot_be_trained_is_refused() -> None:
    with raises_saying(DataError, "the perception of a_1", "without fit", "leave out concepts"):
        sums().fit(SAMPLES, LABELS, DIGITS[SAMPLES])
    data, targets = weather(4)
    pupil = Recorder(light)
    model = NeuroSymbolic({"sky": pupil, "wind": speed}, WEATHER)
    with raises_saying(DataError, "the perception of wind", "without its attributes"):
        model.fit(data, targets, {"sky": ["dark"] * 4, "wind": ["calm"] * 4})
    assert pupil.taught == []
    model.fit(data, targets, {"sky": ["dark"] * 4})
    assert len(pupil.taught) == 1


def test_torch_is_not_needed(tmp_path: Path) -> None:
    code = """
import sys
import numpy as np
from pinesy import NeuroSymbolic, load, save
assert not {"torch", "numba", "sklearn"} & set(sys.modules)
from pinesy.problems import addition, addition_labels
digits = np.random.default_rng(0).integers(0, 10, (30, 2))
model = NeuroSymbolic(lambda d: np.eye(10)[d], addition(1))
model.fit(digits, addition_labels(digits))
save(model, sys.argv[1])
print(load(sys.argv[1], model.perception).score(digits, addition_labels(digits)))
assert "torch" not in sys.modules
"""
    source = str(Path(__file__).parents[2] / "src")
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "m.zip")],
        env={**os.environ, "PYTHONPATH": source},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.stdout, done.returncode) == ("1.0\n", 0), done.stderr


def test_fit_takes_every_argument_of_the_search() -> None:
    own, search = (set(signature(f).parameters) for f in (NeuroSymbolic.fit, search_tolerances))
    assert search - own - {"inputs", "evidence"} == {"rules", "initial"}
    with pytest.raises(TypeError, match="'metrc'"):
        sums().fit(SAMPLES, LABELS, metrc=1)  # type: ignore[call-arg]


def test_implications_stay_implications() -> None:
    """Learning all parameters of natural rules would make them contradict each other."""
    rules = parse("""
        attribute heat in {low, fine, high}
        attribute state in {good, bad}
        if heat in {fine} then state in {good}
        if heat in {low} then state in {bad}
        if heat in {high} then state in {bad}
    """)
    samples = np.array([[[0.8, 0.1, 0.1]], [[0.2, 0.6, 0.2]], [[0.1, 0.2, 0.7]]])
    targets = {"state": ["bad", "good", "bad"]}

    def perception(p: Any) -> Any:
        return p

    model = NeuroSymbolic(perception, rules).fit(samples, targets)
    assert model.rules_["state"].s.tolist() == [1.0, 1.0, 1.0]
    assert model.score(samples, targets) == 1.0
    assert (
        NeuroSymbolic(perception, rules).fit(samples, targets, fixed=None).score(samples, targets)
        < 1.0
    )
