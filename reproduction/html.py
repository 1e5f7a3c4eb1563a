"""The report as one HTML page that needs nothing else: no script, no file, no network."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, Final

from pinesy.problems import sum_html
from reproduction.plots import Plot, can_plot, make_plots
from reproduction.report import Report, Section
from reproduction.result_tables import Row, Table

STYLE: Final = """
:root { color-scheme: light dark; --ink: #1b1d22; --paper: #fff; --line: #c9ccd3;
  --ours: #e8f1fa; --soft: #555b66; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e8ec; --paper: #16181d; --line: #3c414b; --ours: #1d2c3a; --soft: #a9b0bc; } }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 76rem; margin: 0 auto; padding: 1rem 1.5rem 4rem; }
p { max-width: 46rem; }
.scroll { overflow-x: auto; margin: 1rem 0 2rem; }
table { border-collapse: collapse; font-size: .87rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding-bottom: .4rem; }
th, td { padding: .25rem .7rem; border-bottom: 1px solid var(--line); text-align: right;
  vertical-align: top; }
thead th { border-bottom: 2px solid var(--line); }
tbody th { font-weight: 400; }
.left { text-align: left; }
.ours { background: var(--ours); }
.ours th { font-weight: 600; }
figure { margin: 1rem 0 2.5rem; max-width: 56rem; }
figcaption { font-weight: 600; }
svg { width: 100%; height: auto; }
nav ul { columns: 16rem; padding-left: 1.2rem; }
nav a { color: inherit; }
.note { color: var(--soft); }
.digits img { width: 4.5rem; height: 4.5rem; image-rendering: pixelated; margin-right: .4rem; }
pre { white-space: pre-wrap; max-width: 60rem; }
"""
NO_PLOTS: Final = (
    "There are no plots, because matplotlib was not installed where this page was made; "
    "pip install '.[reproduction]' brings it."
)


def page(report: Report, cases: Sequence[Mapping[str, Any]] = ()) -> str:
    """Return the report as a page; without matplotlib, one without plots that says so.

    Parameters
    ----------
    cases : single samples, explained, as `ExplainedSum.to_dict` gives them
    """
    plotted = bool(report.groups) and can_plot()
    figures = [_figure(plot) for plot in make_plots(report.groups)] if plotted else []
    if report.groups and not plotted:
        figures = [f'<p class="note">{escape(NO_PLOTS, quote=False)}</p>']
    sections = [_section(section, i) for i, section in enumerate(report.sections)]
    explained = list(map(sum_html, cases))
    parts = [_contents(report), sections[0], *figures, *explained, *sections[1:]]
    return whole_page(report.title, parts)


def whole_page(title: str, parts: Sequence[str]) -> str:
    """Return parts of HTML as a page with a title and our style."""
    head = escape(title)
    return "\n".join(
        [
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{head}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>",
            f"<h1>{head}</h1>",
            *parts,
            "</main>\n</body>\n</html>\n",
        ]
    )


def _contents(report: Report) -> str:
    links = "\n".join(
        f'<li><a href="#part{i}">{escape(section.title)}</a></li>'
        for i, section in enumerate(report.sections)
    )
    return f'<nav aria-label="Contents">\n<ul>\n{links}\n</ul>\n</nav>'


def _figure(plot: Plot) -> str:
    caption = escape(plot.title)
    return f"<figure>\n<figcaption>{caption}</figcaption>\n{plot.svg}\n</figure>"


def _section(section: Section, number: int) -> str:
    paragraphs = [f"<p>{escape(text, quote=False)}</p>" for text in section.paragraphs]
    heading = f'<h2 id="part{number}">{escape(section.title)}</h2>'
    return "\n".join(
        ["<section>", heading, *paragraphs, *map(html_table, section.tables), "</section>"]
    )


def html_table(table: Table) -> str:
    """Return a table in a box that scrolls, and that the keyboard reaches."""
    caption = escape(table.caption)
    titles = "".join(
        f'<th scope="col"{_side(table, column)}>{escape(column)}</th>' for column in table.columns
    )
    rows = "\n".join(_row(table, row) for row in table.rows)
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{caption}">\n<table>\n'
        f"<caption>{caption}</caption>\n<thead>\n<tr>{titles}</tr>\n</thead>\n"
        f"<tbody>\n{rows}\n</tbody>\n</table>\n</div>"
    )


def _row(table: Table, row: Row) -> str:
    """Return a row; the cell that names it, the method's if there is one, is its heading."""
    head = "method" if "method" in table.columns else table.columns[0]
    cells = []
    for column, cell in zip(table.columns, row.cells, strict=True):
        tag, scope = ("th", ' scope="row"') if column == head else ("td", "")
        cells.append(f"<{tag}{scope}{_side(table, column)}>{escape(cell)}</{tag}>")
    opening = '<tr class="ours">' if row.ours and table.is_mixed else "<tr>"
    return f"{opening}{''.join(cells)}</tr>"


def _side(table: Table, column: str) -> str:
    return ' class="left"' if column in table.left else ""
