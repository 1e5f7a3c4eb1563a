"""What conflicts say is true: they blame what is to blame, and claim no more than is known."""

import numpy as np
import pytest

from pinesy import Attribute, Cascade, Iff, RuleSet, parse
from pinesy.inverse import Conflict, backpropagate
from pinesy.problems import addition, sudoku

A, B = Attribute("a", ("x", "y", "z")), Attribute("b", (0, 1, 2))
#: `a = x` infers 0 exactly, though rule 2 alone does not let x be possible then.
NARROW = RuleSet(
    [Iff(A.isin(["x"])).then(B.isin([0]), s=1), Iff(A.isin(["y"])).then(B.isin([0, 1]), s=1)]
)
ADDITION = addition(1)


def numbers(conflict: Conflict) -> list[tuple[str, int]]:
    return [(output, number) for output, number, _ in conflict.rules]


def test_inputs_are_found_outside_of_bounds_that_cannot_all_be_kept() -> None:
    x = {"a": [1.0, 0.0, 0.0]}
    assert NARROW.infer(x).to_dict() == {0: 1.0, 1: 0.0, 2: 0.0}
    for actual in (x, None):
        found = backpropagate(NARROW, actual, 0)
        assert found.reproduced
        assert found.inputs["a"].to_dict() == {"x": 1.0, "y": 0.0, "z": 0.0}
        assert not found.conflicts
    assert backpropagate(NARROW, x, 0).matches


TWO = Attribute("a", ("x", "y"))
ALWAYS = RuleSet([Iff(TWO.isin([v])).then(B.isin([0])) for v in TWO.domain])
AFTER = RuleSet([Iff(B.isin([0])).then(Attribute("c", (0, 1)).isin([0]))])


@pytest.mark.parametrize(
    ("rules", "target", "limit", "known"),
    [
        (ALWAYS, 1, 100, "and no inputs give the target"),
        (NARROW, 0, 0, "and the search for other inputs ended at its limit"),
        (Cascade(ALWAYS, AFTER), 1, 100, "and other inputs were not sought"),
    ],
)
def test_what_is_known_of_other_inputs(
    rules: RuleSet | Cascade, target: int, limit: int, known: str
) -> None:
    found = backpropagate(rules, None, target, limit=limit)
    assert not found.reproduced
    assert found.exhausted == (limit == 0)
    assert found.conflicts[0].message == (
        "the rules leave no value of 'a' possible at 1 (at most 0): their bounds (F^up) cannot all "
        f"be kept, {known}"
    )
    assert "contradict" not in str(found)


@pytest.mark.parametrize(("actual", "told"), [([1.0, 0, 0], True), ([0, 1.0, 0], False)])
def test_whether_the_actual_inputs_give_the_target(actual: list[float], told: bool) -> None:
    rules = RuleSet([Iff(A.isin(["x"])).then(B.isin([0]))])
    found = backpropagate(rules, {"a": actual}, [1.0, 0.0, 0.0])
    assert found.reproduced
    assert ("the actual inputs give the target" in repr(found)) is told
    assert "actual" not in repr(backpropagate(rules, None, 0))


def test_rules_that_say_nothing_do_not_block() -> None:
    """Degrees up to a parameter do no harm; F^up itself stays as the paper has it."""
    says = RuleSet([Iff(A.isin(["x"])).then(B.isin([0]))])
    nothing = Iff(A.isin(["x"])).then(B.isin([1, 2]), s=1, r=1)
    both = RuleSet([*says.rules, nothing])
    found = backpropagate(both, None, 0)
    assert found.reproduced
    assert (
        found.inputs["a"].degrees.tolist()
        == backpropagate(says, None, 0).inputs["a"].degrees.tolist()
    )
    assert found.premises["b"].greatest_solution.tolist() == [1.0, 0.0, 0.0, 1.0]
    conjunction = Iff(A.isin(["y"]), A.isin(["y", "z"])).then(B.isin([0]), s=1, r=1)
    again = backpropagate(RuleSet([*says.rules, conjunction]), None, 0)
    assert again.reproduced
    assert again.inputs["a"].best == "x"


def test_parameters_widen_the_bounds() -> None:
    """Rule 2 alone would not let x be possible at all, its parameter lets it up to 0.4."""
    first, second = (
        Iff(A.isin(["x"])).then(B.isin([0])),
        Iff(A.isin(["y"])).then(B.isin([0, 1]), r=0.4),
    )
    found = backpropagate(RuleSet([first, second]), None, 0)
    assert found.premises["b"].greatest_solution.tolist() == [1.0, 0.0, 1.0, 0.0]
    assert found.inputs["a"].to_dict() == {"x": 0.4, "y": 0.0, "z": 0.0}
    assert "no value of 'a' possible at 1 (at most 0.4)" in str(found)
    assert numbers(found.conflicts[0]) == [("b", 2), ("b", 1)]


def test_rules_that_say_nothing_are_not_blamed() -> None:
    idle = [Iff(A.isin([v])).then(B.isin(q), s=1, r=1) for v, q in (("z", [0]), ("x", [1, 2]))]
    clash = [Iff(A.isin(["x"])).then(B.isin([0])), Iff(A.isin(["y"])).then(B.isin([0, 1]))]
    (height,) = backpropagate(RuleSet([*idle, *clash]), None, 0).conflicts
    assert (height.kind, numbers(height)) == ("height", [("b", 4), ("b", 3)])
    low = [Iff(A.isin(["x"])).then(B.isin([0])), Iff(A.isin(["x", "y"])).then(B.isin([1]))]
    both = Iff(A.isin(["z"]), A.isin(["y", "z"])).then(B.isin([1]), s=1, r=1)
    found = backpropagate(RuleSet([*low, both]), None, [0.5, 0.25, 1.0])
    assert {c.kind for c in found.conflicts} == {"lower"}


def test_conjunctions_are_lowered_no_further_than_their_parameters() -> None:
    a, b, c, d, e = (Attribute(name, (0, 1)) for name in "abcde")
    first = Iff(a.isin([1]), b.isin([1])).then(e.isin([1]))
    second = Iff(c.isin([1]), d.isin([1]))
    found = backpropagate(RuleSet([first, second.then(e.isin([1]), s=0.25)]), None, 0)
    assert found.reproduced
    assert [found.inputs[n].degrees.tolist() for n in "ac"] == [[1.0, 0.0], [1.0, 0.25]]
    free = backpropagate(RuleSet([first, second.then(e.isin([1]), s=1)]), None, 0, limit=1)
    assert free.reproduced  # with one choice: rule 2 needs none
    assert [free.inputs[n].degrees.tolist() for n in "ac"] == [[1.0, 0.0], [1.0, 1.0]]


def test_only_what_cannot_give_its_target_is_said_not_to() -> None:
    """The carry's own equations have a solution: the pair of digits behind it is to blame."""
    actual = {"a_1": np.eye(10)[5], "a_2": np.eye(10)[7]}
    found = backpropagate(ADDITION, actual, {"y_0": 1, "y_1": 2})
    assert found.matches
    assert not found.reproduced
    assert found.premises["w_1"].distance == 0.0
    (conflict,) = found.conflicts
    assert (conflict.kind, conflict.attribute) == ("reach", "c_1")
    assert conflict.message == (
        "the greatest inputs give (3, 3) of 'c_1' possibility 1, more than its target 0; more "
        "specific inputs may give it: belief in the actual inputs chooses some, see "
        "pinesy.posterior (--posterior)"
    )
    assert numbers(conflict) == [("w_1", 21), ("c_1", 4), ("c_1", 14)]  # a_1 = 3 and a_2 = 3


def test_a_target_that_leaves_too_little_is_named() -> None:
    chain = parse(
        "attribute a in {x, y}\nattribute b in {0, 1}\nattribute d in {p, q}\n"
        "iff a in {x} then b in {0}\niff b in {0} then d in {p}"
    )
    (conflict,) = backpropagate(chain, None, {"b": 0, "d": {"p": 1.0, "q": 0.25}}).conflicts
    assert (conflict.kind, conflict.attribute, conflict.distance) == ("targets", "d", 0.25)
    assert conflict.message == (
        "rule 2 needs the negation of its premise possible at 0.25; the target of 'b' leaves 0"
    )
    assert numbers(conflict) == [("d", 2)]


def test_a_target_and_other_rules_that_leave_too_little() -> None:
    a, b, c, d = (Attribute(n, (0, 1)) for n in "abcd")
    cascade = Cascade(
        RuleSet([Iff(a.isin([0])).then(b.isin([0]))]),
        RuleSet([Iff(b.isin([0]), c.isin([0])).then(d.isin([0]))]),
        RuleSet([Iff(c.isin([0])).then(Attribute("e", (0, 1)).isin([0]))]),
    )
    found = backpropagate(cascade, None, {"b": 0, "d": [1.0, 0.5], "e": 0})
    conflict = next(k for k in found.conflicts if k.attribute == "d")
    assert conflict.kind == "targets"
    assert conflict.message.endswith("the target of 'b' and other rules leave 0")
    assert numbers(conflict) == [("d", 2), ("e", 3)]


def test_nothing_is_said_of_other_rules_where_there_are_none() -> None:
    always = RuleSet([Iff(A.isin(["x", "y", "z"])).then(B.isin([0]))])
    (conflict,) = backpropagate(always, None, [1.0, 0.5, 0.5]).conflicts
    assert conflict.message == (
        "rule 1 needs the negation of its premise possible at 0.5; the target inputs leave 0"
    )


def test_the_rules_whose_parameters_exceed_the_target_are_named() -> None:
    """Rule 1 leaves 0 of b as low as the others, but its parameter does not keep it there."""
    rules = RuleSet(
        [
            Iff(A.isin(["x"])).then(B.isin([0, 1])),
            Iff(A.isin(["y"])).then(B.isin([0]), s=1.0),
            Iff(A.isin(["z"])).then(B.isin([1, 2]), r=1.0),
        ]
    )
    conflict = backpropagate(rules, None, 1).conflicts[0]
    assert (conflict.kind, conflict.distance) == ("target", 0.5)
    assert "0 cannot be below 1, the target is 0" in conflict.message
    assert numbers(conflict) == [("b", 2), ("b", 3)]


def test_where_no_parameter_is_to_blame_the_nearest_rules_are_named() -> None:
    rules = RuleSet(
        [Iff(A.isin(["x"])).then(B.isin([0, 1])), Iff(A.isin(["y"])).then(B.isin([1, 2]))]
    )
    conflict = backpropagate(rules, None, [1.0, 0.25, 1.0]).conflicts[0]
    assert (conflict.kind, conflict.attribute) == ("target", "b")
    assert numbers(conflict) == [("b", 1), ("b", 2)]


def test_conflicts_that_are_left_out_are_counted() -> None:
    rules = sudoku(4)
    grid = np.array([[0, 1, 2, 3], [2, 3, 0, 1], [1, 0, 3, 2], [3, 2, 1, 0]])
    actual = {f"a_{i + 1}_{j + 1}": np.eye(4)[grid[i, j]] for i in range(4) for j in range(4)}
    found = backpropagate(rules, actual, 1)
    assert len(found.conflicts) > 8
    assert str(found).endswith(f"\nand {len(found.conflicts) - 8} more conflicts")
    assert "more conflicts" not in str(backpropagate(rules, actual, 0, limit=0))


def test_long_premises_are_shortened_with_a_count() -> None:
    (conflict,) = backpropagate(sudoku(4), None, 0, limit=0).conflicts
    (line,) = str(conflict).splitlines()[1:]
    (_, _, whole) = conflict.rules[0]
    shown, n = (
        " ".join(whole.split()).split(" and ")[:4],
        len(conflict.conflicting[0].rule.premise.propositions),
    )
    assert (
        line == f"  rule 449: {' and '.join(shown)} and {n - 4} more propositions then c in {{1}}"
    )
    assert len(whole) > len(line)
