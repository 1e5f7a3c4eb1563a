"""Attributes, rules, distributions and results of inference: HTML for notebooks, and plots."""

from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from pinesy._common.reports import count_text
from pinesy._common.validation import FloatArray
from pinesy.display.markup import (
    CERTAIN,
    LINES,
    POSSIBLE,
    POSSIBLE_FILL,
    BarLine,
    Markup,
    bar,
    bars,
    code,
    cut,
    first_lines,
    join_markup,
    more,
    tag,
)
from pinesy.display.plots import AXES, TEXT_SIZE, axes_for, finish, plot_text
from pinesy.rules.attributes import Attribute
from pinesy.rules.outcomes import short_degree
from pinesy.rules.possibility import Possibility
from pinesy.rules.rule import Rule
from pinesy.rules.syntax.writer import show_value

#: The maximum number of propositions of a premise.
PROPOSITIONS = 20
#: The maximum number of attributes of a result.
OUTPUTS = 8


def attribute_html(attribute: Attribute) -> Markup:
    """Return the name of an attribute and its values."""
    values = [code(cut(show_value(value), 60)) for value in attribute.domain[:LINES]]
    listing = [part for value in values for part in (Markup(", "), value)][1:]
    kind = "numeric, " * (attribute.scale is not None)
    if attribute.factors:
        kind = f"product of {cut(', '.join(f.name for f in attribute.factors))}, "
    description = f" ({kind}{count_text(len(attribute.domain), 'value')}): "
    start = tag("span", tag("b", cut(attribute.name)), description, *listing)
    return tag("div", start, more(len(attribute.domain) - LINES, "values"))


def rule_html(rule: Rule) -> Markup:
    """Return a rule, and how certain it and its converse are."""
    certain = f"certainty of the rule {1.0 - rule.r:.4g}, of its converse {1.0 - rule.s:.4g}"
    return tag("div", code(rule.line(PROPOSITIONS)), tag("div", certain))


def certainties(pi: Possibility) -> FloatArray:
    """Return ``N({u}) = 1 - max {pi(v) : v != u}`` of each value, of one distribution.

    Examples
    --------
    >>> from pinesy import Attribute, Possibility
    >>> certainties(Possibility(Attribute("a", ["x", "y", "z"]), np.array([1.0, 0.25, 0.5])))
    array([0.5, 0. , 0. ])
    """
    first, second = np.sort(np.append(pi.degrees, 0.0))[:-3:-1]
    return np.asarray(1.0 - np.where(pi.degrees == first, second, first))


def most_possible(pi: Possibility) -> list[int]:
    """Return the indices of the most possible values, in the order of the domain."""
    indices: list[int] = np.sort(np.argsort(-pi.degrees, kind="stable")[:LINES]).tolist()
    return indices


def distribution_html(pi: Possibility) -> Markup:
    """Return bars of one distribution, or a table of the samples of a batch."""
    return results_html({pi.attribute.name: pi}) if pi.is_batch else _bars(pi)


def _bars(pi: Possibility) -> Markup:
    """Return bars of the most possible values, in the order of the domain."""
    indices = most_possible(pi)
    necessities = certainties(pi) if pi.normalised else None
    lines: list[BarLine] = [
        (
            cut(show_value(pi.attribute.domain[i]), 60),
            float(pi.degrees[i]),
            None if necessities is None else float(necessities[i]),
        )
        for i in indices
    ]
    omitted = np.delete(pi.degrees, indices)
    noun = f"values, at most {short_degree(float(omitted.max()))}" if len(omitted) else ""
    answer = show_value(pi.best) if pi.decided else pi.verdict
    certain = f" certain {short_degree(float(pi.certainty))}" if pi.decided else ""
    head = tag("div", tag("b", cut(answer, 120)), certain, style="font-size:1.3em")
    name = cut(pi.attribute.title or pi.attribute.name, 60)
    return head + bars(lines, name) + more(len(omitted), noun)


def results_html(results: Mapping[str, Possibility], heading: str = "") -> Markup:
    """Return inferred distributions: bars, or a table of the samples of a batch."""
    first = [results[name] for name in list(results)[:OUTPUTS]]
    start = tag("div", heading) if heading else Markup("")
    omitted = more(len(results) - len(first), "attributes")
    if not first or not first[0].is_batch:
        return start + join_markup(map(_bars, first)) + omitted
    head = [
        "sample",
        *(
            title
            for pi in first
            for title in (cut(pi.attribute.title or pi.attribute.name, 60), "certain")
        ),
    ]
    lines = ([str(row), *_best_and_certainty(first, row)] for row in range(len(first[0])))
    return start + first_lines(head, lines, len(first[0]), "samples") + omitted


def _best_and_certainty(results: list[Possibility], row: int) -> Iterator[str]:
    """Yield two cells for each result: the best value (or why there is none), its certainty."""
    for batch in results:
        pi = batch.sample(row)
        yield show_value(pi.best) if pi.decided else cut(pi.verdict)
        certain = float(pi.certainty) if pi.decided else 0.0
        number = f" {short_degree(certain)}"
        yield tag("span", bar(1.0, certain), number) if pi.decided else Markup("")


def plot_distribution(pi: Possibility, axes: Any) -> Any:
    """Draw bars of one distribution, or the degrees of all samples of a batch as shades."""
    axes, title = axes_for(axes), plot_text(pi.attribute.title or pi.attribute.name)
    if pi.is_batch:
        from matplotlib.colors import LinearSegmentedColormap

        shades = LinearSegmentedColormap.from_list("degrees", ["white", POSSIBLE_FILL, CERTAIN])
        image = axes.imshow(pi.degrees, vmin=0.0, vmax=1.0, cmap=shades, aspect="auto")
        bar = axes.figure.colorbar(image, ax=axes)
        bar.set_label("possible", fontsize=TEXT_SIZE, color=AXES)
        bar.ax.tick_params(labelsize=TEXT_SIZE, colors=AXES)
        if len(pi.attribute.domain) <= LINES:
            axes.set_xticks(range(len(pi.attribute.domain)), _value_texts(pi.attribute.domain))
        finish(axes, "", title, "sample").grid(visible=False)
        return axes
    indices = most_possible(pi)
    y = range(len(indices))
    outline = {"color": POSSIBLE_FILL, "edgecolor": POSSIBLE}
    axes.barh(y, pi.degrees[indices], label="possible", **outline)
    if pi.normalised:
        axes.barh(y, certainties(pi)[indices], color=CERTAIN, label="certain")
    axes.set_yticks(y, _value_texts([pi.attribute.domain[i] for i in indices]))
    axes.invert_yaxis()
    axes.set_xlim(0.0, 1.0)
    finish(axes, title, "degree", "", legend=True).grid(visible=False)
    return axes


def _value_texts(values: Iterable[Hashable]) -> list[str]:
    return [plot_text(show_value(value)) for value in values]
