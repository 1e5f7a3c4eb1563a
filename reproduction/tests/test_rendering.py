"""The report as a page: well-formed, alone, readable for everyone, the same bytes every time."""

import re
import sys
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest

from reproduction.rendering import NO_PLOTS, page
from reproduction.report import read_report
from reproduction.tests.synthetic import keep, keep_all

VOID = {"meta", "br"}


class Reader(HTMLParser):
    """Checks that elements are closed in turn, and gathers what the tests ask about."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.wrong: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.found if name == tag]


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return a page of records of every kind."""
    pytest.importorskip("matplotlib")
    root = tmp_path_factory.mktemp("results")
    keep_all(root)
    return page(read_report(root))


def test_it_is_well_formed(text: str) -> None:
    reader = Reader(text)
    assert (reader.open, reader.wrong) == ([], [])
    assert text.startswith("<!doctype html>")
    assert reader.all("html") == [{"lang": "en"}]


def test_the_check_sees_what_is_not_well_formed() -> None:
    assert Reader("<p><b>text</p></b>").wrong
    assert Reader("<p><b>text</b>").open == ["p"]


def test_it_needs_nothing_else(text: str) -> None:
    assert re.findall(r"https?:|//[a-z]|@import|src=|\bdata:[a-z]", text) == []
    tags = {tag for tag, _ in Reader(text).found}
    assert tags.isdisjoint({"script", "link", "img", "iframe", "object", "image"})


def test_names_are_unique_and_every_reference_has_its_target(text: str) -> None:
    names = [a["id"] for _, a in Reader(text).found if "id" in a]
    assert len(set(names)) == len(names)
    referred = set(re.findall(r'href="#([^"]*)"', text)) | set(re.findall(r"url\(#([^)]*)\)", text))
    assert len(referred) > 10
    assert referred <= set(names)
    links = [str(a["href"]) for _, a in Reader(text).found if "href" in a]
    assert all(link.startswith("#") for link in links)


def test_plots_say_in_words_what_they_show(text: str) -> None:
    labels = [str(a["aria-label"]) for a in Reader(text).all("svg") if a.get("role") == "img"]
    # Addition in four settings, Sudoku in one, the networks, the times
    assert len(labels) == len(Reader(text).all("svg")) == 7
    assert len(Reader(text).all("figcaption")) == 7
    assert "Addition, setting normal" in labels[0]
    assert "Pi-NeSy-1 Addition-1 98.00 %" in labels[0]
    assert "Addition normal 99.00 to 99.20 %" in labels[5]
    assert "Addition-1 normal Pi-NeSy-1: symbolic 4 %" in labels[6]


def test_tables_have_headings(text: str) -> None:
    reader = Reader(text)
    tables = len(reader.all("table"))
    assert tables == len(reader.all("caption")) == len(reader.all("thead")) > 10
    scopes = [a.get("scope") for a in reader.all("th")]
    assert set(scopes) == {"col", "row"}
    # Every row of a body has one heading.
    assert scopes.count("row") == len(reader.all("tr")) - tables
    boxes = [a for a in reader.all("div") if a.get("role") == "region"]
    assert [b["tabindex"] for b in boxes] == ["0"] * tables


def test_it_follows_the_readers_colours(text: str) -> None:
    assert "prefers-color-scheme: dark" in text
    assert "currentColor" in text
    assert "#010203" not in text
    assert "#000000" not in text


def test_text_is_escaped(text: str) -> None:
    assert "a &lt;processor&gt; &amp; more" in text
    assert "<processor>" not in text


def test_rows_of_ours_are_marked_where_others_are(text: str) -> None:
    assert '<tr class="ours"><td class="left">normal</td>' in text
    found = [a for a in Reader(text).all("tr") if a.get("class") == "ours"]
    assert len(found) < len(Reader(text).all("tr"))


def test_the_same_bytes_every_time(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    for name, runs in (("a", (0, 1)), ("b", (1, 0))):
        for run in runs:
            keep(tmp_path / name, 98 + run, run=run)
    first, second = (page(read_report(tmp_path / name)) for name in "ab")
    assert "<svg" in first
    assert first == second


def test_without_matplotlib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keep_all(tmp_path)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    found = page(read_report(tmp_path))
    assert NO_PLOTS in unescape(found)
    assert "<svg" not in found
    assert (Reader(found).open, Reader(found).wrong) == ([], [])


def test_accuracies_of_none_and_all_are_plotted(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    keep(tmp_path, 0, size=100)
    keep(tmp_path, 100)
    assert "Pi-NeSy-1 Addition-100 0.00 %" in page(read_report(tmp_path))


def test_only_quick_runs_have_no_plots(tmp_path: Path) -> None:
    keep(tmp_path, quick=True, scale="quick")
    found = page(read_report(tmp_path))
    assert "<svg" not in found
    assert NO_PLOTS not in unescape(found)
    assert "Quick runs and trials" in found
