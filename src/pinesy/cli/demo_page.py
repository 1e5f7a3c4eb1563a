"""The demo as one HTML page that needs nothing else."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import Final

from pinesy.problems import ExplainedSum

COLUMNS: Final = ("problem", "samples", "right", "if all digits must be right")
TITLE: Final = "pinesy: a network reads digits, rules reason about them"
STYLE: Final = """
:root { color-scheme: light dark; }
body { max-width: 76rem; margin: 0 auto; padding: 1rem 1.5rem 4rem;
  font: 16px/1.5 system-ui, sans-serif; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; }
th, td { padding: .25rem .7rem; border-bottom: 1px solid #8888; text-align: right; }
svg, .scroll img { width: 100%; height: auto; background: #fff; }
.digits img { width: 4.5rem; height: 4.5rem; image-rendering: pixelated; margin-right: .4rem; }
pre { white-space: pre-wrap; max-width: 60rem; }
"""
PAGE: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<h1>{title}</h1>
{facts}
<div class="scroll" tabindex="0">
<table>
<caption>Images that were never seen</caption>
<thead>
<tr>{titles}</tr>
</thead>
<tbody>
{rows}
</tbody>
</table>
</div>
{sums}
</body>
</html>
"""


def demo_page(
    facts: Iterable[str], rows: Iterable[Sequence[str]], sums: Iterable[ExplainedSum]
) -> str:
    """Return the page: what was done, the table of results, and single sums explained."""
    return PAGE.format(
        title=escape(TITLE),
        style=STYLE,
        facts="\n".join(f"<p>{escape(fact)}</p>" for fact in facts),
        titles="".join(f'<th scope="col">{escape(column)}</th>' for column in COLUMNS),
        rows="\n".join(map(_row, rows)),
        sums="\n".join(one.to_html() for one in sums),
    )


def _row(cells: Sequence[str]) -> str:
    head, *others = map(escape, cells)
    return f'<tr><th scope="row">{head}</th>{"".join(f"<td>{c}</td>" for c in others)}</tr>'
