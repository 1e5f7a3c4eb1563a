"""Small functions, and the questions about their samples."""

from typing import Any

import numpy as np
from hypothesis import strategies as st

from explanations import attempts
from pinesy import Attribute, Cascade, Iff, RuleSet, antipignistic
from strategies import distributions

DIGITS = {"a_1": antipignistic({3: 0.8, 8: 0.2}), "a_2": antipignistic({4: 0.9, 9: 0.1})}
MOST = 400


def questions(cascades: Any) -> st.SearchStrategy[Any]:
    """A cascade, a sample and an output."""

    @st.composite
    def draw_one(draw: st.DrawFn) -> Any:
        cascade = draw(cascades)
        evidence = {a.name: draw(distributions(len(a.domain))) for a in cascade.inputs}
        output = draw(st.sampled_from([s.output for s in cascade.rule_sets]))
        return cascade, evidence, output

    return draw_one()


def listed(cascade: Cascade, evidence: Any, output: Attribute, value: Any, clear: float) -> Any:
    """The least size of all changes that make the value win, by trying all; None if none does."""
    tried = list(attempts.changes(evidence, clear))
    rows = {n: np.array([new[n] for _, new in tried]) for n in evidence}
    won = attempts.winning(cascade.infer(rows, [output])[output.name], output.position(value))
    sizes = np.array([size for size, _ in tried])[won]
    return sizes.min() if len(sizes) else None


@st.composite
def functions(draw: st.DrawFn) -> Cascade:
    """Two or three inputs and a function of them by a product, then a function of that."""
    inputs = [
        Attribute(f"x_{i}", range(draw(st.integers(2, 3)))) for i in range(draw(st.integers(2, 3)))
    ]
    pair = Attribute.product("pair", *inputs)
    parameter = st.sampled_from([0.0, 0.0, 0.2, 0.7])
    joining = [
        Iff(a.isin({d})).then(pair.where(f"{a.name} == {d}"), draw(parameter), draw(parameter))
        for a in inputs
        for d in a.domain
    ]
    made = [RuleSet(joining)]
    source: Attribute = pair
    for name in ("y", "z")[: draw(st.integers(1, 2))]:
        output = Attribute(name, range(draw(st.integers(2, 4))))
        image = [draw(st.sampled_from(output.domain)) for _ in source.domain]
        rules = []
        for value in output.domain:
            reached = [u for u, v in zip(source.domain, image, strict=True) if v == value]
            rules.append(
                Iff(source.isin(reached)).then(
                    output.isin({value}), draw(parameter), draw(parameter)
                )
            )
        made.append(RuleSet(rules))
        source = output
    return Cascade(*made)
