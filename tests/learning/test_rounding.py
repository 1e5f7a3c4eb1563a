"""Rounding in learned parameters must not flip what later sets learn."""

from pinesy import Attribute, Cascade, Iff, RuleSet, learn


def test_a_degree_that_was_rounded_is_not_below_the_target_it_equals() -> None:
    a, b, c = (Attribute(name, [0, 1]) for name in "abc")
    chain = Cascade(
        RuleSet([Iff(a.isin({0})).then(b.isin({0}))]), RuleSet([Iff(b.isin({0})).then(c.isin({0}))])
    )
    targets = {"b": [[0.09, 1.0], [0.01, 1.0]], "c": [[0.05, 1.0], [0.05, 1.0]]}
    result = learn(chain, {"a": [[0.0, 1.0], [0.0, 1.0]]}, targets)
    (s_b,) = result["b"].s
    assert s_b != 0.05  # 0.09 - 0.04, an ulp below it
    assert abs(s_b - 0.05) < 1e-15
    assert result["c"].s.tolist() == [0.0]  # as in exact arithmetic: b gives 0.05 already
