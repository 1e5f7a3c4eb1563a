"""Plots on axes of Matplotlib, and plots as SVG in the colours of a page."""

import io
import re
import sys
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from typing import Any

from pinesy._common.console import in_notebook
from pinesy.display.markup import cut
from pinesy.exceptions import DataError, needing

#: A placeholder for the colour of text while a plot is drawn; a page replaces it by its own.
INK = "#010203"
#: A plot without a background, its text and axes in `INK`.
PLOT_STYLE: dict[Any, Any] = {
    "svg.hashsalt": "pinesy",
    "svg.fonttype": "none",
    "savefig.transparent": True,
    "legend.frameon": False,
    **dict.fromkeys(
        ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color"), INK
    ),
}
#: The size of a plot.
SIZE: dict[str, Any] = {"figsize": (6.4, 4.2), "layout": "constrained"}
#: Draws on axes of Matplotlib.
Drawing = Callable[[Any], object]


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


def html_plots(drawings: Iterable[Drawing]) -> str:
    """Return plots as SVG, or a note that Matplotlib is not installed."""
    if find_spec("matplotlib") is None:
        return (
            "<p>There are no plots, because Matplotlib is not installed: pip install "
            "'pinesy[plot]'</p>"
        )
    return "".join(map(_svg, drawings))


def _svg(draw: Drawing) -> str:
    """Return a plot as an SVG element in the colours of its page, with reproducible bytes."""
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(PLOT_STYLE):
        figure = Figure(**SIZE)
        draw(figure.subplots())
        stream = io.StringIO()
        no_metadata = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        figure.savefig(stream, format="svg", metadata=no_metadata)
    text = stream.getvalue()
    return re.sub(f"(fill|stroke): {INK}", r"\1: currentColor", text[text.index("<svg") :])
