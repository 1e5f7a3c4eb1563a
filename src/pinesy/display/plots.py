"""Plots on axes of Matplotlib, in the colours, lines and sizes of the design."""

import sys
from typing import Any

from pinesy._common.console import in_notebook
from pinesy.display.markup import CERTAIN, DECIDES, POSSIBLE, cut
from pinesy.exceptions import DataError, needing

#: Colours of the design's tokens, light: text, axes, grid.
INK, AXES, GRID = "#151a21", "#566070", "#dde1e7"
#: Lines of the design, in their order: each has a second sign besides its colour.
CERTAIN_LINE: dict[str, Any] = {"color": CERTAIN, "linestyle": "-", "linewidth": 2}
POSSIBLE_LINE: dict[str, Any] = {
    "color": POSSIBLE, "linestyle": "--", "marker": "o", "markerfacecolor": "white",
}  # fmt: skip
DECIDES_LINE: dict[str, Any] = {"color": DECIDES, "linestyle": "-", "linewidth": 2}
#: A line to compare with.
REFERENCE: dict[str, Any] = {"color": AXES, "linestyle": "--", "linewidth": 1}
#: The sizes of texts in points: at least 9.
TITLE_SIZE, TEXT_SIZE = 12, 9.5
#: The size of a plot.
SIZE: dict[str, Any] = {"figsize": (6.4, 4.2), "layout": "constrained"}


def axes_for(axes: Any) -> Any:
    """Return axes, checked, or new ones for None; raise if Matplotlib is not installed.

    In a notebook, and where ``pyplot`` was imported, new axes are in a figure of ``pyplot``, which
    is shown at the end of the cell or by ``pyplot.show()``; else the figure has no window.
    """
    if axes is not None:
        if not hasattr(axes, "get_figure"):
            raise DataError(f"axes is {axes!r:.60}; give axes of Matplotlib, or leave them out")
        return axes
    with needing("plot", "a plot needs"):
        from matplotlib.figure import Figure
    if in_notebook() or "matplotlib.pyplot" in sys.modules:
        from matplotlib import pyplot

        return pyplot.figure(**SIZE).subplots()
    return Figure(**SIZE).subplots()


def plot_text(text: str, max_length: int = 30) -> str:
    """Return a text, cut, that Matplotlib does not read as a formula."""
    return cut(text, max_length).replace("$", r"\$")


def finish(axes: Any, title: str, x_label: str, y_label: str, *, legend: bool = False) -> Any:
    """Give axes their title, labels, grid, colours and sizes, and return them."""
    axes.set_title(title, fontsize=TITLE_SIZE, fontweight="bold", color=INK)
    axes.set_xlabel(x_label, fontsize=TEXT_SIZE, color=AXES)
    axes.set_ylabel(y_label, fontsize=TEXT_SIZE, color=AXES)
    axes.tick_params(labelsize=TEXT_SIZE, colors=AXES, length=0)
    axes.grid(axis="y", color=GRID, linewidth=1)
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.spines["bottom"].set_color(GRID)
    if legend:
        axes.legend(frameon=False, fontsize=TEXT_SIZE, labelcolor=INK)
    return axes


def mark(axes: Any, x: float, y: float, text: str) -> None:
    """Draw the one orange mark of a plot, what to see, with its text inside of the limits."""
    axes.plot([x], [y], "o", color=DECIDES, markersize=8, zorder=5)
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    is_left, is_high = x > left + 0.7 * (right - left), y > top - 0.15 * (top - bottom)
    axes.annotate(
        text,
        (x, y),
        (-8 if is_left else 8, -6 if is_high else 6),
        textcoords="offset points",
        ha="right" if is_left else "left",
        va="top" if is_high else "bottom",
        fontsize=TEXT_SIZE,
        fontweight="bold",
        color=INK,
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1},
    )
