"""A decision report as one page of HTML, with plots where Matplotlib is installed."""

from pinesy._common.markup import escaped
from pinesy._common.pages import html_plots, html_tables, page
from pinesy.learning.decision_plots import draw_confusion, draw_coverage
from pinesy.learning.decision_report import DecisionReport


def report_page(report: DecisionReport, title: str, more: str = "") -> str:
    """Return a page that stands alone; `more` is HTML to put at its end."""
    said = f"{report.scores.accuracy:.1%} of {report.samples} samples right."
    plots = html_plots(
        [lambda axes: draw_coverage(axes, report), lambda axes: draw_confusion(axes, report)]
    )
    tables = html_tables(report.tables())
    return page(title, f"<p>{escaped(report.attribute)}: {said}</p>{plots}{tables}{more}")
