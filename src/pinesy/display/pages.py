"""Self-contained HTML pages, and reports in them."""

from base64 import b64encode
from collections.abc import Mapping
from functools import partial
from html import escape
from typing import Any

from pinesy._version import __version__
from pinesy.calibration.coverage_report import CoverageReport
from pinesy.display.markup import Markup, html_table, join_markup, tag
from pinesy.display.plots import html_plots
from pinesy.learning.evaluate import DecisionReport

STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem;
  overflow-wrap: break-word; }
table { border-collapse: collapse; margin: 0 0 1.5rem; }
th, td { padding: .25rem .75rem; text-align: left; border-bottom: 1px solid #8886; }
svg { max-width: 100%; height: auto; }
.scroll { overflow-x: auto; }
"""


def html_page(title: str, body: str, style: str = "") -> str:
    """Return a page with no script and nothing to load; `style` is CSS added to the common one."""
    return (
        "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        f"{tag('title', title)}<style>{STYLE}{style}</style></head><body>"
        f"{tag('h1', title)}{body}<p>Made by pinesy {__version__}.</p></body></html>\n"
    )


def report_page(report: DecisionReport, title: str, end: str = "") -> str:
    """Return a page that stands alone; `end` is HTML to put at its end."""
    calibration = [] if report.classes is None else [partial(report.plot, kind="calibration")]
    plots = html_plots([partial(report.plot, kind="coverage"), *calibration, report.plot])
    tables = _html_tables(report.tables())
    return html_page(title, f"{tag('p', report.verdict)}{plots}{tables}{end}")


def coverage_html(report: CoverageReport) -> str:
    """Return a report on coverage as a part of a page: tables, verdict and plot."""
    plots = html_plots([report.plot])
    return f"{_html_tables(report.tables())}<p>{report.verdict}</p>{plots}"


def _html_tables(tables: dict[str, list[list[str]]]) -> Markup:
    """Return tables by their titles, each with its head."""
    return join_markup(
        tag("h2", title) + tag("div", html_table(head, lines), class_="scroll", tabindex=0)
        for title, (head, *lines) in tables.items()
    )


def explained_sum_html(content: Mapping[str, Any]) -> str:
    """Return what `ExplainedSum.to_dict` gives as a section of a page."""
    images = "".join(
        f'<img src="{escape(image)}" alt="the image of {escape(name)}">'
        for name, image in content["images"].items()
    )
    lines = [
        f"<section>\n<h2>{escape(content['title'])}</h2>",
        f'<p class="digits">{images}</p>',
        f"<p>{escape(content['summary'])}</p>",
        f"<pre>{escape(content['explanation'])}</pre>",
    ]
    if content["why_not"]:
        lines.append(f"<h3>Why not the true digit</h3>\n<pre>{escape(content['why_not'])}</pre>")
    # An image may hold no script that runs, whoever wrote the file it is from.
    source = b64encode(content["picture"].encode()).decode("ascii")
    drawn = f'<img src="data:image/svg+xml;base64,{source}" alt="the explanation as a picture">'
    return "\n".join([*lines, f'<div class="scroll" tabindex="0">{drawn}</div>\n</section>'])
