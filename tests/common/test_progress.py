"""Progress bars show up for long work on a terminal and in a notebook, and nowhere else."""

import io
import sys
import threading
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from common.html_reading import Snippet
from pinesy._common import console
from pinesy._common.console import progress


class Terminal(io.StringIO):
    """Takes what is drawn, and says when something was."""

    def __init__(self, is_terminal: bool = True) -> None:
        super().__init__()
        self._is_terminal = is_terminal
        self.drawn = threading.Event()

    def isatty(self) -> bool:
        return self._is_terminal

    def write(self, text: str) -> int:
        self.drawn.set()
        return super().write(text)


@pytest.fixture(autouse=True)
def no_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console, "BAR_AFTER", 0.0)
    monkeypatch.setenv("TERM", "xterm")


def on_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Make stderr a terminal; not a fixture, because pytest sets its own stderr after those."""
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    return terminal


def test_long_work_shows_what_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = on_terminal(monkeypatch)
    with progress("learning", 10) as bar:
        bar.advance(4)
        assert terminal.drawn.wait(30.0)
        bar.advance()
    assert "learning" in terminal.getvalue()
    assert "50%" in terminal.getvalue()


def test_without_a_total_there_is_a_bar_too(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = on_terminal(monkeypatch)
    with progress("reading") as bar:
        assert terminal.drawn.wait(30.0)
        bar.advance(1000)
    assert "reading" in terminal.getvalue()


def test_quick_work_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = on_terminal(monkeypatch)
    monkeypatch.setattr(console, "BAR_AFTER", 60.0)
    with progress("learning", 10) as bar:
        bar.advance(10)
    bar.show()  # too late: the work is over
    assert terminal.getvalue() == ""


@pytest.mark.parametrize(
    ("label", "stream"),
    [("learning", Terminal(is_terminal=False)), ("learning", None), ("", Terminal())],
)
def test_no_bar_without_a_terminal_or_a_label(
    label: str, stream: Terminal | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[threading.Timer] = []
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(threading.Timer, "start", started.append)
    with progress(label, 3) as bar:
        bar.advance()
    assert started == []  # nothing was going to show one


def test_of_nested_bars_the_first_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = on_terminal(monkeypatch)
    with progress("outer", 2):
        assert terminal.drawn.wait(30.0)
        with progress("inner", 2) as inner:
            inner.show()
            inner.advance()
    assert "outer" in terminal.getvalue()
    assert "inner" not in terminal.getvalue()


def test_a_bar_may_follow_another_even_after_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = on_terminal(monkeypatch)
    with pytest.raises(AssertionError), progress("first"):
        assert not terminal.drawn.wait(30.0)
    terminal.drawn.clear()
    with progress("second"):
        assert terminal.drawn.wait(30.0)
    assert "second" in terminal.getvalue()


def test_what_is_printed_stays_where_it_was_sent(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    terminal = on_terminal(monkeypatch)
    with progress("learning"):
        assert terminal.drawn.wait(30.0)
        sys.stdout.write("a result\n")
    assert capsys.readouterr().out == "a result\n"


# --- in a notebook -------------------------------------------------------------------------------


class Page:
    """Takes what a notebook displays, as `IPython.display.display` and its handle do."""

    def __init__(self) -> None:
        self.shown: list[dict[str, str]] = []
        self.drawn = threading.Event()

    def display(self, content: dict[str, str], *, raw: bool, display_id: bool) -> "Page":
        assert raw
        assert display_id
        self.update(content, raw=raw)
        return self

    def update(self, content: dict[str, str], *, raw: bool) -> None:
        assert raw
        self.shown.append(content)
        self.drawn.set()


def in_a_notebook(monkeypatch: pytest.MonkeyPatch, **shell: Any) -> Page:
    page = Page()
    for name in ("IPython", "IPython.display"):
        module: Any = ModuleType(name)
        module.display = page.display
        module.get_ipython = lambda: SimpleNamespace(**shell)
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(sys, "stderr", Terminal(is_terminal=False))
    monkeypatch.setattr(console, "REDRAW", 0.0)
    return page


def test_a_notebook_shows_a_bar_that_is_gone_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    page = in_a_notebook(monkeypatch, kernel=None)
    with progress("learning <b>", 10) as bar:
        assert page.drawn.wait(30.0)
        bar.advance(5)
    assert page.shown[-2]["text/plain"] == "learning <b> 50%"
    assert Snippet(page.shown[-2]["text/html"]).text == " learning <b> 50%"
    assert '<progress max="10" value="5">' in page.shown[-2]["text/html"]
    assert page.shown[-1] == {"text/plain": "", "text/html": ""}


def test_a_notebook_is_not_flooded(monkeypatch: pytest.MonkeyPatch) -> None:
    page = in_a_notebook(monkeypatch, kernel=None)
    monkeypatch.setattr(console, "REDRAW", 60.0)
    with progress("reading") as bar:
        assert page.drawn.wait(30.0)
        for _ in range(1000):
            bar.advance()
    assert [content["text/plain"] for content in page.shown] == ["reading", ""]


def test_a_shell_in_a_terminal_is_no_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    page = in_a_notebook(monkeypatch)
    with progress("learning", 10) as bar:
        bar.show()
    assert page.shown == []
