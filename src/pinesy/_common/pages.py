"""Pages of HTML that stand alone, and plots in them where Matplotlib is installed."""

import io
from collections.abc import Callable, Iterable, Sequence
from html import escape
from importlib.util import find_spec
from typing import Any

from pinesy._version import __version__
from pinesy.exceptions import DataError

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem;
       color: #222; }
table { border-collapse: collapse; margin: 0 0 1.5rem; }
th, td { padding: .25rem .75rem; text-align: left; border-bottom: 1px solid #ddd; }
svg { max-width: 100%; height: auto; }
"""
#: Colours that colour-blind readers tell apart.
BLUE, ORANGE = "#0072b2", "#d55e00"
#: Draws on the axes of Matplotlib that it is given.
Drawing = Callable[[Any], None]


def page(title: str, body: str) -> str:
    """Return a page with no script and nothing to load."""
    return (
        "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>"
        f"<title>{escape(title)}</title><style>{STYLE}</style></head><body>"
        f"<h1>{escape(title)}</h1>{body}<p>Made by pinesy {__version__}.</p></body></html>\n"
    )


def html_tables(tables: dict[str, list[list[str]]]) -> str:
    """Return tables by their titles, each with its head."""
    return "".join(f"<h2>{escape(title)}</h2>{_table(rows)}" for title, rows in tables.items())


def _table(rows: Sequence[Sequence[str]]) -> str:
    head, *lines = rows
    cells = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in line)}</tr>" for line in lines
    )
    return f"<table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table>"


def html_plots(drawings: Iterable[Drawing]) -> str:
    """Return plots, or what to install for them."""
    if find_spec("matplotlib") is None:
        return (
            "<p>There are no plots, because Matplotlib is not installed: pip install "
            "'pinesy[plot]'</p>"
        )
    return "".join(_svg(draw) for draw in drawings)


def _svg(draw: Drawing) -> str:
    """Draw; return the SVG element, the same bytes every time."""
    import matplotlib

    with matplotlib.rc_context({"svg.hashsalt": "pinesy", "svg.fonttype": "none"}):
        axes = new_axes()
        draw(axes)
        stream = io.StringIO()
        nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        axes.figure.savefig(stream, format="svg", metadata=nothing)
    text = stream.getvalue()
    return text[text.index("<svg") :]


def new_axes() -> Any:
    """Return axes of a new figure that belongs to no window, or say what to install."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise DataError(
            "a plot needs Matplotlib; install it with: pip install 'pinesy[plot]'"
        ) from None
    return Figure(figsize=(6.4, 4.2), layout="constrained").subplots()
