"""Self-contained HTML pages, and reports in them."""

import re
from base64 import b64encode
from collections.abc import Mapping
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any

import numpy as np

from pinesy._common.reports import count_text
from pinesy._version import __version__
from pinesy.calibration.coverage_report import CoverageReport, CoverageRow, share_band
from pinesy.display.cards import panel
from pinesy.display.markup import Markup, details, join_markup, tag
from pinesy.display.report_parts import (
    agreement_chart,
    card,
    chance_text,
    confusion_table,
    data_table,
    degrees_chart,
    metric,
    share_text,
    split_bar,
    surest_chart,
    suspicious_list,
)
from pinesy.display.report_rows import SuspiciousLabels
from pinesy.guarantees.selective_report import SelectiveReport
from pinesy.learning.audit import Audit
from pinesy.learning.evaluate import DecisionReport

#: The styles of a page, in their order: those of the studio, and of reports.
STYLES = ("tokens.css", "parts.css", "figures.css", "report.css")
#: The level whose coverage is shown first, or the highest below it.
LEVEL = 0.95
#: Pairs of a label and a more possible value that an audit shows.
MAX_PAIRS = 8
CHANCE = (
    "The thin bars are what chance allows; the promise is broken only where one lies below the "
    "dashed line."
)


@cache
def page_style() -> str:
    """Return the style of pages, without comments."""
    texts = [
        files("pinesy.exchange").joinpath("web", name).read_text(encoding="utf-8")
        for name in STYLES
    ]
    return re.sub(r"\s+", " ", re.sub(r"/\*.*?\*/", "", "".join(texts), flags=re.DOTALL)).strip()


def html_page(title: str, body: str, style: str = "", lead: str = "") -> str:
    """Return a page with no script and nothing to load.

    Parameters
    ----------
    title, lead : above the body
    style : CSS added to the common one
    """
    leads = tag("p", lead, class_="quiet") if lead else ""
    return (
        "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        f"{tag('title', title)}<style>{page_style()}{style}</style></head>"
        f"<body><main class='report stack'><header>{tag('h1', title)}{leads}</header>"
        f"{body}<footer>Made by pinesy {__version__}.</footer></main></body></html>\n"
    )


def report_page(
    report: DecisionReport,
    title: str,
    covered: CoverageReport | None = None,
    suspicious: SuspiciousLabels | None = None,
    selective: SelectiveReport | None = None,
) -> str:
    """Return a report on decisions as a page that stands alone.

    Parameters
    ----------
    covered : the coverage of calibrated rules
    suspicious : the suspicious labels of the same rows
    selective : the decisions with a promised error
    """
    undecided = int(report.confusion[:, -1].sum())
    contradictory = round(report.scores.contradictory * report.samples)
    right, decided = int(np.trace(report.confusion)), report.samples - undecided
    open_rows = count_text(undecided, "row")
    figures = [
        metric(
            "Right, where decided",
            share_text(right / decided) if decided else "–",
            f"{right:,} of {count_text(decided, 'answer')}",
            chance_text(share_band(right, decided)) if decided else "",
        ),
        metric(
            "Decided",
            share_text(decided / report.samples),
            f"{decided:,} of {count_text(report.samples, 'row')}",
            f"{open_rows} stay{'s' * (undecided == 1)} undecided" if undecided else "",
        ),
        *([_surest_metric(report)] if covered is None else [_coverage_metric(covered)]),
        *([] if selective is None else [_selective_metric(selective)]),
        *([] if suspicious is None else [_suspicious_metric(suspicious.count, report.samples)]),
    ]
    counts = split_bar(
        [
            ("right", right, "right"),
            ("wrong", decided - right, "wrong"),
            ("undecided", undecided - contradictory, "undecided"),
            ("contradiction", contradictory, "contradictory"),
        ]
    )
    surest = card(
        "Right among the surest rows",
        surest_chart(report.selective_accuracy, decided),
        note="The surer rows should be right more often than all of them.",
    )
    second = [card("Asked for and got", _coverage_chart(covered), note=CHANCE)] if covered else []
    second += [_calibration_card(report)] if report.classes is not None and not second else []
    confusion = card(
        "True values by answers",
        confusion_table(report.values, report.confusion),
        note="A line is a true value, a column an answer; the darker, the larger its share.",
    )
    tables = report.tables()
    del tables["True values by predicted ones"]
    rules = {
        name: tables.pop(name) for name in ("Rules that decide", "Score card") if name in tables
    }
    parts = [
        tag("div", *figures, class_="metrics"),
        tag("div", surest, *(second or [confusion]), class_="plots"),
        card("Rows", counts),
        *([confusion] if second else []),
        *([] if suspicious is None else [_suspicious_card(suspicious)]),
        *(card(name, data_table(head, lines)) for name, (head, *lines) in rules.items() if lines),
        *([] if selective is None else [_selective_card(selective)]),
        _all_figures(tables | ({} if covered is None else covered.tables())),
    ]
    verdicts = [report.verdict, *([] if covered is None else [covered.verdict])]
    return html_page(title, join_markup(parts), lead=" ".join(verdicts))


def audit_page(audit: Audit, suspicious: SuspiciousLabels, title: str) -> str:
    """Return an audit of labels as a page that stands alone."""
    n, impossible = len(audit), int(audit.impossible.sum())
    others = n - suspicious.count
    figures = [
        _suspicious_metric(suspicious.count, n),
        metric("Impossible labels", f"{impossible:,}", f"of {suspicious.count:,} suspicious"),
        metric("Not suspicious", share_text(others / n), f"{others:,} of {count_text(n, 'row')}"),
    ]
    counts = split_bar(
        [
            ("right", others, "not suspicious"),
            ("contradiction", suspicious.count - impossible, "suspicious"),
            ("wrong", impossible, "impossible"),
        ]
    )
    chart = card(
        "How suspicious labels are",
        degrees_chart(audit.suspicion, suspicious.count),
        note="How much more possible than the label another value is.",
    )
    pairs = card("Labels, and what is more possible", _pairs_table(audit))
    parts = [
        tag("div", *figures, class_="metrics"),
        tag("div", chart, *([pairs] * (suspicious.count > 0)), class_="plots"),
        card("Rows", counts),
        *([_suspicious_card(suspicious)] * (suspicious.count > 0)),
    ]
    return html_page(title, join_markup(parts), lead=f"Labels {suspicious.basis}.")


def coverage_html(report: CoverageReport) -> str:
    """Return a report on coverage as a part of a page: metric, plot and tables."""
    style = tag("style", Markup(page_style()))
    body = [
        tag("div", _coverage_metric(report), class_="metrics"),
        card("Asked for and got", _coverage_chart(report), note=f"{report.verdict} {CHANCE}"),
        _all_figures(report.tables()),
    ]
    return panel(style, tag("div", *body, class_="report stack"))


def _selective_metric(report: SelectiveReport) -> Markup:
    row = report.rows[0]
    return metric(
        "Wrong, of those decided with a promise",
        f"{row.wrong:,}",
        f"of {count_text(row.decided, 'row')}; {row.samples - row.decided:,} are handed over",
        f"promised: {100 * report.error:g} % at most",
        alert=report.is_broken,
    )


def _selective_card(report: SelectiveReport) -> Markup:
    return card("Decided and handed over", Markup(report.html()))


def _suspicious_metric(count: int, n: int) -> Markup:
    note = f"of {count_text(n, 'label')}; the rules contradict them" if count else f"of {n:,}"
    return metric("Suspicious labels", f"{count:,}", note, alert=count > 0)


def _surest_metric(report: DecisionReport) -> Markup:
    half = max(1, round(0.5 * report.samples))
    right = int(report.ranking[:half].sum())
    return metric(
        "Right, of the surest half", share_text(right / half), f"{right:,} of {half:,} rows"
    )


def _marked_row(report: CoverageReport) -> CoverageRow:
    """Return the row of the level to see: `LEVEL`, else the highest below, else the lowest."""
    rows = sorted(report.of("all"), key=lambda row: row.level)
    return [rows[0], *(row for row in rows if row.level <= LEVEL)][-1]


def _coverage_metric(report: CoverageReport) -> Markup:
    row = _marked_row(report)
    return metric(
        f"Covered, asked for {100 * row.level:g} %",
        share_text(row.observed),
        f"{row.covered:,} of {count_text(row.samples, 'row')}",
        chance_text((row.low, row.high)),
        f"{share_text(row.single)} get a single answer",
    )


def _coverage_chart(report: CoverageReport) -> Markup:
    rows = sorted(report.of("all"), key=lambda row: row.level)
    points = [(row.level, row.observed, (row.low, row.high)) for row in rows]
    titles = (
        "Share of rows whose label is in the set, by level",
        "asked for",
        "got: the label is in the set",
    )
    return agreement_chart(points, rows.index(_marked_row(report)), titles)


def _calibration_card(report: DecisionReport) -> Markup:
    """Return how often a class is true against its predicted chance."""
    scores = report.classes
    assert scores is not None
    points = [
        (b.predicted, b.observed, share_band(round(b.observed * b.samples), b.samples))
        for b in scores.calibration
    ]
    farthest = max(range(len(points)), key=lambda i: abs(points[i][0] - points[i][1]))
    name = "the answer" if scores.calibrated is None else scores.calibrated
    titles = "How often a class is true, by its predicted chance", f"chance of {name}", "true"
    note = "The thin bars are what chance allows; orange is farthest from the dashed line."
    return card("Chances and truth", agreement_chart(points, farthest, titles), note=note)


def _suspicious_card(labels: SuspiciousLabels) -> Markup:
    if not labels.count:
        return card("Suspicious labels", tag("p", f"None, {labels.basis}.", class_="quiet"))
    return card("Suspicious labels", suspicious_list(labels), note=f"Labels {labels.basis}.")


def _pairs_table(audit: Audit) -> Markup:
    """Return which labels have which more possible value, and how many do."""
    pairs = audit.suspicious_pairs()
    lines = [
        [audit.cascade[name].output.title or name, label, best, f"{count:,}"]
        for name, label, best, count in pairs[:MAX_PAIRS]
    ]
    left = len(pairs) - len(lines)
    note = (
        [tag("p", f"... and {count_text(left, 'rarer pair')}", class_="small quiet")]
        if left
        else []
    )
    return data_table(["attribute", "label", "more possible", "rows"], lines) + join_markup(note)


def _all_figures(tables: Mapping[str, list[list[str]]]) -> Markup:
    """Return tables to unfold, each with its title."""
    parts = [
        tag("h3", title) + data_table(head, lines)
        for title, (head, *lines) in tables.items()
        if lines
    ]
    return tag("section", details("All figures", *parts), class_="card")


def explained_sum_html(content: Mapping[str, Any]) -> str:
    """Return what `ExplainedSum.to_dict` gives as a section of a page."""
    images = "".join(
        f'<img src="{escape(image)}" alt="the image of {escape(name)}">'
        for name, image in content["images"].items()
    )
    lines = [
        f'<section class="card">\n<h2>{escape(content["title"])}</h2>',
        f'<p class="digits">{images}</p>',
        f"<p>{escape(content['summary'])}</p>",
        details("The full justification", tag("pre", content["explanation"])),
    ]
    if content["why_not"]:
        lines.append(details("Why not the true digit", tag("pre", content["why_not"])))
    # An image may hold no script that runs, whoever wrote the file it is from.
    source = b64encode(content["picture"].encode()).decode("ascii")
    drawn = f'<img src="data:image/svg+xml;base64,{source}" alt="the explanation as a picture">'
    return "\n".join([*lines, f'<div class="scroll" tabindex="0">{drawn}</div>\n</section>'])
