"""Reports on induced rules have the lines of the score card, not the rules of its sums."""

import numpy as np
import pandas

from pinesy import Cascade, evaluate, induce

RNG = np.random.default_rng(2)
TABLE = pandas.DataFrame({"a": RNG.normal(size=150), "b": RNG.choice(["u", "v"], 150)})
LABELS = np.where(TABLE.a + (TABLE.b == "u") + RNG.normal(0, 0.3, 150) > 0.5, "yes", "no")


def test_lines_are_counted() -> None:
    rules = induce(TABLE, LABELS, max_rules=5)
    some = TABLE.iloc[:60].copy()
    some.loc[:9, "a"] = None
    evidence = {name: some[name] for name in some}
    report = evaluate(rules, evidence, {"target": LABELS[:60]})
    assert report.has_card
    assert report.rules == tuple(line.text for line in rules.card.lines)
    for line, held, right in zip(
        rules.card.lines, report.decides, report.decides_right, strict=True
    ):
        pi = rules.infer(evidence, [line.attribute])[line.attribute].degrees
        holds = pi[:, 0] == 0.0
        assert held == holds.sum()
        assert right == (LABELS[:60][holds] == line.value).sum()
    assert "Lines of the score card" in str(report)
    assert "against" not in str(report)
    plain = evaluate(Cascade(rules), evidence, {"target": LABELS[:60]})
    assert not plain.has_card
    assert plain.scores == report.scores
