"""The projection on compatible probabilities against its definition, and the loss and its gradient.

The definition has three forms here: the conditions of Karush, Kuhn and Tucker, solved in fractions
by trying all sets of active constraints; the inequality that holds for the vertices of the set iff
a point is the nearest one; and Dykstra's algorithm, which converges to it.
"""

import math
from fractions import Fraction
from itertools import chain, combinations, pairwise, permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from messages import raises_saying
from oracles import decimal
from pinesy import Attribute, antipignistic_inverse, function, posterior
from pinesy._common.validation import FloatArray
from pinesy.exceptions import DataError, DegreeError, ShapeError
from strategies import distributions, probabilities, random_batch

torch = pytest.importorskip("torch")

from sklearn.isotonic import isotonic_regression  # noqa: E402

from nets.bar_sums import LAYER, RECIPE, drawn, reader, samples  # noqa: E402
from pinesy.nets import (  # noqa: E402
    RuleLayer,
    fit_answers,
    possibilistic_label_loss,
    predict_proba,
    project_on_possibility,
    projection_loss,
    soft_label_loss,
)

Numbers = list[Fraction]


def project(q: Any, pi: Any) -> FloatArray:
    array: FloatArray = project_on_possibility(torch.as_tensor(q, dtype=torch.float64), pi).numpy()
    return array


def divergence(p: FloatArray, q: FloatArray) -> float:
    pairs = zip(p.tolist(), q.tolist(), strict=True)
    return sum((x * math.log(x / y) for x, y in pairs if x > 0.0), 0.0)


def projected_exactly(q: Numbers, pi: Numbers) -> Numbers:
    """Return the projection in fractions, by the set of active constraints that fulfils all."""
    order = sorted((i for i in range(len(q)) if q[i] > 0), key=lambda i: -pi[i])
    size = len(order)
    tails = [sum((q[i] for i in order[start:]), Fraction(0)) for start in range(size + 1)]
    heights = [*(pi[i] for i in order), Fraction(0)]
    inner = range(1, size)
    for active in chain.from_iterable(combinations(inner, n) for n in range(size)):
        ratios: Numbers = []
        for first, last in pairwise([0, *active, size]):
            slope = (heights[first] - heights[last]) / (tails[first] - tails[last])
            ratios += [slope] * (last - first)
        p = [ratio * q[i] for ratio, i in zip(ratios, order, strict=True)]
        is_feasible = all(sum(p[i:]) <= heights[i] for i in range(size))
        if is_feasible and all(a >= b for a, b in pairwise(ratios)):  # multipliers are >= 0
            by_value = dict(zip(order, p, strict=True))
            return [by_value.get(i, Fraction(0)) for i in range(len(q))]
    raise AssertionError("there is no projection")


@given(counts=probabilities(max_size=6), data=st.data())
def test_the_projection_in_fractions(counts: list[int], data: Any) -> None:
    pi = data.draw(distributions(len(counts)))
    assume(any(c > 0 and degree == 1.0 for c, degree in zip(counts, pi, strict=True)))
    exact = [Fraction(c, sum(counts)) for c in counts]
    expected = projected_exactly(exact, [decimal(degree) for degree in pi])
    found = project([float(x) for x in exact], pi)
    assert found == pytest.approx([float(x) for x in expected], rel=1e-12, abs=0.0)


def vertices(pi: FloatArray) -> FloatArray:
    """Return all vertices of the compatible probabilities: one for each order of the values."""
    rows = []
    for order in permutations(range(len(pi))):
        p = np.zeros(len(pi))
        p[list(order)] = np.diff(np.maximum.accumulate(pi[list(order)]), prepend=0.0)
        rows.append(p)
    return np.array(rows)


@pytest.mark.parametrize("size", [2, 3, 5])
def test_the_projection_is_in_the_set_and_no_vertex_is_nearer(size: int) -> None:
    rng = np.random.default_rng(size)
    events = (np.arange(1, 2**size)[:, None] >> np.arange(size)) & 1
    pis = random_batch(rng, 40, size)
    for pi, q in zip(pis, rng.dirichlet(np.full(size, 0.5), 40), strict=True):
        p = project(q, pi)
        assert (events @ p <= (events * pi).max(axis=1) + 1e-14).all()
        assert p.sum() == pytest.approx(1.0, abs=1e-14)
        assert (p[pi == 0.0] == 0.0).all()
        is_possible = pi > 0.0
        ratios = np.log(p[is_possible] / q[is_possible])
        change = vertices(pi)[:, is_possible] - p[is_possible]
        assert (change @ ratios >= -1e-12).all()  # the variational inequality of a projection


def dykstra(q: FloatArray, pi: FloatArray, cycles: int) -> FloatArray:
    """Return the projection by Dykstra's algorithm: the tails and the sum are scaled in turn."""
    order = np.argsort(-pi, kind="stable")
    p, corrections = q.copy(), np.ones((len(q), len(q)))
    for _ in range(cycles):
        for i in range(len(q)):
            given_point = p * corrections[i]
            p = given_point.copy()
            tail = order[i:]
            total = p[tail].sum()
            if i == 0 or total > pi[order[i]]:
                p[tail] *= pi[order[i]] / total
            corrections[i] = given_point / p
    return p


def test_dykstras_algorithm_converges_to_it() -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        pi = rng.integers(1, 11, 6) / 10
        pi[rng.integers(6)] = 1.0
        q = rng.dirichlet(np.ones(6))
        assert dykstra(q, pi, 400) == pytest.approx(project(q, pi), abs=1e-9)


def test_it_is_an_isotonic_regression() -> None:
    """The ratios are those of the steps of pi to the probabilities, made to decrease."""
    rng = np.random.default_rng(2)
    pi = np.sort(rng.random((50, 100)), axis=1)[:, ::-1].copy()
    pi[:, 0] = 1.0
    q = rng.dirichlet(np.full(100, 0.3), 50) + 1e-9
    q /= q.sum(axis=1, keepdims=True)
    found = project(q, pi)
    for row in range(50):
        steps = pi[row] - np.append(pi[row, 1:], 0.0)
        ratios = isotonic_regression(steps / q[row], sample_weight=q[row], increasing=False)
        assert found[row] == pytest.approx(ratios * q[row], rel=1e-9)


def test_known_projections() -> None:
    q = [0.25, 0.25, 0.5]
    assert project(q, [1.0, 1.0, 1.0]).tolist() == q  # no constraint
    assert project(q, [0.0, 1.0, 0.0]).tolist() == [0.0, 1.0, 0.0]  # a crisp label
    assert project(q, [1.0, 1.0, 0.0]).tolist() == [0.5, 0.5, 0.0]  # conditioning
    assert project(q, [1.0, 0.2, 0.2]) == pytest.approx([0.8, 0.2 / 3, 0.4 / 3])
    assert project([0.0, 0.5, 0.5], [1.0, 1.0, 0.1]) == pytest.approx([0.0, 0.9, 0.1])
    assert project([1.0], [1.0]).tolist() == [1.0]
    assert project(np.zeros((0, 3)), np.zeros((0, 3))).shape == (0, 3)


@given(counts=probabilities(max_size=6), data=st.data())
def test_compatible_probabilities_stay(counts: list[int], data: Any) -> None:
    pi = np.array(data.draw(distributions(len(counts))))
    inside = antipignistic_inverse(pi)  # is in the set
    assert project(inside, pi) == pytest.approx(inside, abs=1e-15)
    q = np.array(counts) / sum(counts)
    assert np.array_equal(project(q, np.ones(len(q))), q)


def test_batches_and_types() -> None:
    rng = np.random.default_rng(3)
    pi, q = random_batch(rng, 24, 7), rng.dirichlet(np.ones(7), 24)
    found = project(q, pi)
    for row in range(24):
        assert project(q[row], pi[row]) == pytest.approx(found[row], rel=1e-13)
    cube = project(q.reshape(2, 3, 4, 7), pi.reshape(2, 3, 4, 7))
    assert np.array_equal(cube.reshape(24, 7), found)
    single = project_on_possibility(torch.from_numpy(q).float(), torch.from_numpy(pi).float())
    assert single.dtype == torch.float32
    assert single.numpy() == pytest.approx(found, abs=1e-6)


def test_the_loss_is_the_divergence_of_the_projection() -> None:
    rng = np.random.default_rng(4)
    scores, pi = torch.from_numpy(rng.normal(size=(30, 6))), random_batch(rng, 30, 6)
    q = torch.softmax(scores, dim=1)
    each = [divergence(*pair) for pair in zip(project(q, pi), q.numpy(), strict=True)]
    assert possibilistic_label_loss(scores, pi).item() == pytest.approx(np.mean(each), rel=1e-12)
    weights = torch.from_numpy(rng.random(30))
    weighed = possibilistic_label_loss(scores, pi, weights).item()
    assert weighed == pytest.approx(np.mean(each * weights.numpy()), rel=1e-12)
    crisp = np.eye(6)[rng.integers(0, 6, 30)]
    expected = soft_label_loss(scores, torch.from_numpy(crisp)).item()
    assert possibilistic_label_loss(scores, crisp).item() == pytest.approx(expected, rel=1e-12)


def test_the_gradient_is_that_of_finite_differences() -> None:
    rng = np.random.default_rng(5)
    pi = random_batch(rng, 25, 6)
    scores = torch.from_numpy(rng.normal(size=(25, 6))).requires_grad_()
    assert torch.autograd.gradcheck(lambda x: possibilistic_label_loss(x, pi), (scores,))
    possibilistic_label_loss(scores, pi).backward()  # type: ignore[no-untyped-call]
    q = torch.softmax(scores.detach(), dim=1)
    expected = (q.numpy() - project(q, pi)) / 25
    assert scores.grad is not None
    assert scores.grad.numpy() == pytest.approx(expected, abs=1e-15)


def test_compatible_scores_have_no_loss_and_no_gradient() -> None:
    scores = torch.tensor([[2.0, 0.3, -1.0], [0.1, 0.2, 0.3]], requires_grad=True)
    loss = possibilistic_label_loss(scores, [[1.0, 0.5, 0.2], [1.0, 1.0, 1.0]])
    loss.backward()  # type: ignore[no-untyped-call]
    assert loss.item() == 0.0
    assert scores.grad is not None
    assert (scores.grad == 0.0).all()


@pytest.mark.parametrize("high", [60.0, 5000.0])
def test_a_sure_error_keeps_its_gradient(high: float) -> None:
    """The right value has a probability that is lost in a sum, or even below all floats."""
    scores = torch.tensor([[0.0, high, 0.0]], requires_grad=True)
    loss = possibilistic_label_loss(scores, [[1.0, 0.25, 0.0]])
    loss.backward()  # type: ignore[no-untyped-call]
    assert loss.item() == pytest.approx(0.75 * high - 0.5623351, rel=1e-6)
    assert scores.grad is not None
    assert scores.grad[0].tolist() == pytest.approx([-0.75, 0.75, 0.0])


GOOD = torch.tensor([[0.5, 0.5], [0.25, 0.75]])


@pytest.mark.parametrize("bad", [[0.5, 0.5], [0.0, 0.0], [1.0, -0.1], [1.0, math.nan], [1.5, 1.0]])
def test_possibilities_that_are_none(bad: list[float]) -> None:
    for function_of in (project_on_possibility, possibilistic_label_loss):
        with raises_saying(DegreeError, "possibilities, row 1", str(bad[1]), "largest is 1"):
            function_of(GOOD, torch.tensor([[1.0, 0.0], bad]))


def test_probabilities_and_scores_that_are_none() -> None:
    pi = [[1.0, 0.0], [1.0, 1.0]]
    for bad in ([0.5, 0.6], [1.5, -0.5], [math.nan, 1.0]):
        with raises_saying(DegreeError, "probabilities, row 1", "sum to 1", "softmax"):
            project_on_possibility(torch.tensor([[0.5, 0.5], bad]), pi)
    with raises_saying(DegreeError, "row 0", "[0.0, 1.0]", "fully possible", "uniform"):
        project_on_possibility(torch.tensor([[0.0, 1.0], [1.0, 0.0]]), pi)
    for number in (math.nan, math.inf):
        with raises_saying(DegreeError, "scores, row 1", str(number), "finite"):
            possibilistic_label_loss(torch.tensor([[0.0, 1.0], [number, 0.0]]), pi)


def test_shapes_that_do_not_fit() -> None:
    for q, pi in ((GOOD, torch.ones(2, 3)), (GOOD, torch.ones(2)), (torch.ones(()), 1.0)):
        with raises_saying(ShapeError, str(tuple(q.shape)), "one shape"):
            project_on_possibility(q, pi)
    with raises_saying(ShapeError, "(3,)", "(2,)"):
        possibilistic_label_loss(GOOD, torch.ones(2, 2), torch.ones(3))


# --- from answers -------------------------------------------------------------------------------

A, B = Attribute("a", range(3)), Attribute("b", range(3))
SUM = function("sum", [A, B], "a + b")


def test_answers_give_possibilistic_labels() -> None:
    from pinesy import antipignistic

    rng = np.random.default_rng(6)
    seen = {name: rng.dirichlet(np.ones(3), 20) for name in "ab"}
    answers = {"sum": rng.integers(0, 5, 20)}
    beliefs = posterior(SUM, {n: antipignistic(p) for n, p in seen.items()}, answers)
    expected = 0.0
    for name, p in seen.items():
        nearest = project(p, beliefs[name].degrees)
        expected += sum(divergence(*pair) for pair in zip(nearest, p, strict=True)) / 20
    tensors: Any = {name: torch.from_numpy(p) for name, p in seen.items()}
    loss = projection_loss(RuleLayer(SUM), tensors, answers)
    assert loss.item() == pytest.approx(expected, rel=1e-6)


def test_a_label_of_an_input_is_its_cross_entropy() -> None:
    p = torch.tensor([[0.2, 0.3, 0.5]], dtype=torch.float64)
    loss = projection_loss(RuleLayer(SUM), {"a": p, "b": p}, {"sum": [3], "a": [1]})
    assert loss.item() == pytest.approx(-math.log(0.3) - math.log(0.5), rel=1e-6)


def test_answers_that_no_reading_gives() -> None:
    p = torch.full((2, 3), 1 / 3)
    with raises_saying(DataError, "sample 1", "labels contradict", "sum = 4"):
        projection_loss(RuleLayer(SUM), {"a": p, "b": p}, {"sum": [4, 4], "a": [2, 0]})


def test_a_network_learns_to_read_from_sums_alone() -> None:
    trained = reader()
    fit = fit_answers(trained, LAYER, samples(), samples(seed=1), RECIPE, seed=0, loss="projection")
    images, labels = drawn(60, 2)
    assert fit.score > 0.9
    assert (predict_proba(trained.network, images).argmax(axis=1) == labels).mean() > 0.9
