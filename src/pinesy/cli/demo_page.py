"""The demo as one HTML page that needs nothing else."""

from collections.abc import Sequence
from html import escape

from pinesy._png import data_uri
from pinesy.cli.demo_cases import Case
from pinesy.experiments.html import html_table, whole_page
from pinesy.experiments.tables import Row, Table
from pinesy.explanations import picture

__all__ = ["COLUMNS", "demo_page"]

COLUMNS = ("problem", "samples", "right", "if all digits must be right")
STYLE = """<style>
.digits img { width: 4.5rem; height: 4.5rem; image-rendering: pixelated; margin-right: .4rem; }
pre { white-space: pre-wrap; max-width: 60rem; }
</style>"""


def demo_page(facts: Sequence[str], rows: Sequence[Sequence[str]], cases: Sequence[Case]) -> str:
    """Return the page: what was done, the table of results, and single sums explained."""
    paragraphs = [f"<p>{escape(fact)}</p>" for fact in facts]
    table = Table("Images that were never seen", COLUMNS, tuple(Row(tuple(row)) for row in rows))
    parts = [STYLE, *paragraphs, html_table(table), *map(_section, cases)]
    return whole_page("pinesy: a network reads digits, rules reason about them", parts)


def _section(case: Case) -> str:
    images = "".join(
        f'<img src="{data_uri(image)}" alt="the image of {escape(name)}">'
        for name, image in case.images.items()
    )
    lines = [
        "<section>",
        f"<h2>{escape(case.title)}</h2>",
        f'<p class="digits">{images}</p>',
        f"<p>{escape(case.summary)}</p>",
        f"<pre>{escape(str(case.explanation))}</pre>",
    ]
    if case.why_not:
        lines += ["<h3>Why not the true digit</h3>", f"<pre>{escape(case.why_not)}</pre>"]
    lines += [f"<figure>{picture(case.explanation, case.images)}</figure>", "</section>"]
    return "\n".join(lines)
