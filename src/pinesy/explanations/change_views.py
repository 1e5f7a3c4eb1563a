"""Counterfactuals to look at in a notebook: what would have to change, and what holds a value."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from pinesy._common.markup import Markup, bar, first_lines, folded, lines_of, tag
from pinesy.explanations.labels import number_texts
from pinesy.rules.possibility import Possibility
from pinesy.rules.syntax.writer import show_value
from pinesy.rules.views import distribution_html

if TYPE_CHECKING:
    from pinesy.explanations.counterfactual import WhyNot
    from pinesy.explanations.smallest_change import Change

HEAD = ["input", "value", "possible now", "", "then", ""]


def change_html(change: "Change") -> Markup:
    """Return a change in words, the degrees that change, and what follows."""
    lines = [
        line
        for name in change.readings
        for line in _changed(name, change.old[name], change.new[name])
    ]
    then = folded("what is inferred then", distribution_html(change.result))
    return lines_of(str(change)) + first_lines(HEAD, lines, len(lines), "degrees") + then


def _changed(name: str, old: Possibility, new: Possibility) -> Iterator[list[str]]:
    """Yield a line for each value whose degree changes."""
    for i in np.flatnonzero(old.degrees != new.degrees).tolist():
        before, after = float(old.degrees[i]), float(new.degrees[i])
        one, other = number_texts(before, after)
        value = show_value(old.attribute.domain[i])
        yield [name, value, one, bar(before), other, bar(after)]


def why_not_html(found: "WhyNot") -> Markup:
    """Return what holds a value down in words, and what is inferred; the change to unfold."""
    text = lines_of(str(found)) + distribution_html(found.result)
    return text + (folded("the change", change_html(found.change)) if found.change else tag("div"))
