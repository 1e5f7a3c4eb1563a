"""Learning from more samples later: the bits of learning all at once."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from learning.oracle_help import SKIP, A, B, C, bits, copies, parts, random_samples
from messages import raises_saying
from pinesy import Cascade, PinesyError, learn
from pinesy.exceptions import DataError
from pinesy.learning import LearningResult, learn_more
from strategies import BatchCase, batches


@given(batches(sizes=(2, 9, 60)), st.integers(0, 2**16), st.integers(1, 59))
def test_more_samples_are_learned_as_all(case: BatchCase, seed: int, cut: int) -> None:
    inputs, targets = random_samples(case.cascade, case.n, seed)
    old, new = parts(inputs, targets, range(case.n), [1 + cut % (case.n - 1)])
    previous = learn(case.cascade, *old)
    whole = bits(learn(case.cascade, inputs, targets))
    assert bits(learn_more(previous, [new], earlier=[old])) == whole
    assert without_earlier(previous, new) in (whole, "must be read again")


def without_earlier(previous: LearningResult, new: Any) -> Any:
    try:
        return bits(learn_more(previous, [new]))
    except DataError as error:
        return "must be read again" if "must be read again for" in str(error) else str(error)


def test_more_and_more() -> None:
    inputs, targets = random_samples(SKIP, 120, seed=9)
    each = parts(inputs, targets, range(120), range(0, 120, 13))
    result = learn(SKIP, *each[0], tolerance=0.8)
    for i in range(1, len(each)):
        result = learn_more(result, each[i : i + 1], earlier=each[:i])
    assert bits(result) == bits(learn(SKIP, inputs, targets, tolerance=0.8))


CHAIN = Cascade(copies(A, B), copies(B, C))
#: The target of `b` leaves a 0 that the input does not.
OLD: tuple[dict[str, list[Any]], dict[str, list[Any]]] = (
    {"a": [[1.0, 0.0], [0.0, 1.0]]},
    {"b": [[1.0, 0.5], [0.0, 1.0]], "c": [0, 1]},
)


def test_samples_that_add_nothing_need_no_earlier_ones() -> None:
    previous = learn(CHAIN, *OLD)
    again = learn_more(previous, [OLD])
    assert again.samples == again["c"].summary.samples == 4
    assert again.cascade == previous.cascade
    both = ({"a": [*OLD[0]["a"]] * 2}, {name: [*each] * 2 for name, each in OLD[1].items()})
    assert bits(again) == bits(learn(CHAIN, *both))


def test_fronts_that_grow_need_the_earlier_samples() -> None:
    previous = learn(CHAIN, *OLD)
    new = {"a": [[1.0, 0.0]]}, {"b": [[1.0, 0.75]], "c": [0]}
    with raises_saying(DataError, "read again for b", "their fronts grow", "earlier=..."):
        learn_more(previous, [new])
    assert learn_more(previous, [new], earlier=[OLD])["b"].distance > 0.0


def test_parameters_that_change_need_the_earlier_samples() -> None:
    """The fronts of `b` stay, but its new row is farther off: only `c` depends on that."""
    previous = learn(CHAIN, *OLD)
    new = {"a": [[1.0, 0.0]]}, {"b": [[1.0, 0.0]], "c": [0]}
    with raises_saying(DataError, "read again for c", "parameters of sets that they depend on"):
        learn_more(previous, [new])
    found = learn_more(previous, [new], earlier=[OLD])
    assert found["b"].summary.fronts.same(previous["b"].summary.fronts)
    assert found["b"].distance == 0.25


def test_a_distance_that_grows_needs_no_earlier_samples() -> None:
    """Their own rows are as far off as before, for the fronts are the same."""
    first, more = OLD[1]["b"], [[1.0, 0.0]]
    previous = learn(CHAIN["b"], OLD[0], first)
    found = learn_more(previous, [({"a": [[1.0, 0.0]]}, {"b": more})])
    whole = learn(CHAIN["b"], {"a": [*OLD[0]["a"], [1.0, 0.0]]}, [*first, *more])
    assert bits(found) == bits(whole)
    assert found["b"].distance == 0.25 > previous["b"].distance


def test_new_samples_that_are_not_reliable() -> None:
    previous = learn(CHAIN, *OLD, tolerance=0.3)
    found = learn_more(previous, [({"a": [[1.0, 0.0]]}, {"b": [1], "c": [1]})])
    assert (found["b"].n_reliable, found["b"].summary.samples) == (2, 3)
    assert found["b"].lowest.tolist() == previous["b"].lowest.tolist()


def test_the_earlier_samples_must_be_the_same() -> None:
    previous = learn(CHAIN, *OLD)
    new = {"a": [[1.0, 0.0]]}, {"b": [[1.0, 0.75]], "c": [0]}
    with raises_saying(DataError, "earlier batches hold 4 samples, but 2 were learned from"):
        learn_more(previous, [new], earlier=[OLD, OLD])
    with raises_saying(DataError, "targets for b", "for b, c"):
        learn_more(previous, [({"a": [[1.0, 0.0]]}, {"b": [0]})])
    with raises_saying(PinesyError, "c"):
        learn_more(previous, [new], earlier=[(OLD[0], {"b": OLD[1]["b"]})])
