"""Pages of HTML that stand alone, and plots in them where Matplotlib is installed."""

import io
import re
import struct
import sys
import zlib
from base64 import b64encode
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy._common.console import in_notebook
from pinesy._common.markup import Markup, cut, first_lines, joined, table, tag
from pinesy._version import __version__
from pinesy.exceptions import DataError, needing

STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem;
  overflow-wrap: break-word; }
table { border-collapse: collapse; margin: 0 0 1.5rem; }
th, td { padding: .25rem .75rem; text-align: left; border-bottom: 1px solid #8886; }
svg { max-width: 100%; height: auto; }
.scroll { overflow-x: auto; }
"""
#: What stands for the colour of text while a plot is drawn; a page then puts its own.
INK = "#010203"
#: A plot without a ground of its own, its text and axes in `INK`.
PLOT_STYLE: dict[Any, Any] = {
    "svg.hashsalt": "pinesy",
    "svg.fonttype": "none",
    "savefig.transparent": True,
    "legend.frameon": False,
    **dict.fromkeys(
        ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color"), INK
    ),
}
#: How large a plot is.
SIZE: dict[str, Any] = {"figsize": (6.4, 4.2), "layout": "constrained"}
#: Draws on the axes of Matplotlib that it is given.
Drawing = Callable[[Any], None]
SIGNATURE = b"\x89PNG\r\n\x1a\n"


def page(title: str, body: str, style: str = "") -> str:
    """Return a page with no script and nothing to load; `style` is added to the common one."""
    return (
        "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        f"{tag('title', title)}<style>{STYLE}{style}</style></head><body>"
        f"{tag('h1', title)}{body}<p>Made by pinesy {__version__}.</p></body></html>\n"
    )


def html_tables(tables: dict[str, list[list[str]]]) -> Markup:
    """Return tables by their titles, each with its head."""
    return joined(
        tag("h2", title) + tag("div", table(head, lines), class_="scroll", tabindex=0)
        for title, (head, *lines) in tables.items()
    )


def short_tables(tables: dict[str, list[list[str]]]) -> Markup:
    """Return the first lines and columns of tables by their titles, for notebooks."""
    return joined(
        tag("b", title) + first_lines(head, lines, len(lines), "lines")
        for title, (head, *lines) in tables.items()
    )


def html_plots(drawings: Iterable[Drawing]) -> str:
    """Return plots, or what to install for them."""
    if find_spec("matplotlib") is None:
        return (
            "<p>There are no plots, because Matplotlib is not installed: pip install "
            "'pinesy[plot]'</p>"
        )
    return "".join(_svg(draw) for draw in drawings)


def _svg(draw: Drawing) -> str:
    """Draw; return the SVG element, the same bytes every time, in the colours of its page."""
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(PLOT_STYLE):
        figure = Figure(**SIZE)
        draw(figure.subplots())
        stream = io.StringIO()
        nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        figure.savefig(stream, format="svg", metadata=nothing)
    text = stream.getvalue()
    return re.sub(f"(fill|stroke): {INK}", r"\1: currentColor", text[text.index("<svg") :])


def axes_for(axes: Any) -> Any:
    """Return the axes that a user gives, or new ones if there are none, or say what to install.

    In a notebook, and where ``pyplot`` was imported, new ones are a figure of its, which is shown
    at the end of the cell or by ``pyplot.show()``; else the figure belongs to no window.
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


def plot_text(text: str, most: int = 30) -> str:
    """Return a text that Matplotlib does not read as a formula, and not too long a one."""
    return cut(text, most).replace("$", r"\$")


def png(image: npt.NDArray[np.uint8]) -> bytes:
    """Return a grey image, an array (height, width) of uint8, as the content of a PNG file.

    Examples
    --------
    >>> png(np.zeros((2, 3), np.uint8))[1:4]
    b'PNG'
    """
    if not isinstance(image, np.ndarray) or image.dtype != np.uint8 or image.ndim != 2:
        kind = getattr(image, "dtype", type(image).__name__)
        raise DataError(f"an image is a uint8 array (height, width); got {kind} {np.shape(image)}")
    if 0 in image.shape:
        raise DataError(f"an image of shape {image.shape} has no pixels")
    height, width = image.shape
    # Each line begins with the number of its filter: 0, none.
    lines = np.hstack([np.zeros((height, 1), np.uint8), image]).tobytes()
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)  # 8 bits, grey
    parts = (b"IHDR", header), (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b"")
    return SIGNATURE + b"".join(_chunk(kind, content) for kind, content in parts)


def data_uri(image: npt.NDArray[np.uint8]) -> str:
    """Return a grey image as an address that holds it whole, for ``<img>`` and ``<image>``."""
    return "data:image/png;base64," + b64encode(png(image)).decode("ascii")


def _chunk(kind: bytes, content: bytes) -> bytes:
    check = zlib.crc32(kind + content)
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", check)
