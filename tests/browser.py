"""A real browser for tests: the system's Chromium or Chrome, or the one that Playwright fetches.

The fixtures are known to all tests (tests/conftest.py imports them): `tab` is a fresh tab, and a
test that uses it fails if the page in it logs an error or throws one.
"""

import os
import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Error, Page, Playwright, sync_playwright

#: What browsers that Playwright can drive are called.
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
CURE = (
    "the tests of pages need Chromium or Chrome: install it with the system's package manager, or "
    "run: playwright install chromium"
)


def launched(playwright: Playwright) -> Browser:
    """Start the system's browser; where there is none, the one that Playwright has fetched."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    # A sandbox is refused to root, which tests in containers often are.
    arguments = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    try:
        return playwright.chromium.launch(executable_path=found, args=arguments)
    except Error as error:
        pytest.fail(f"{CURE}\n{error}", pytrace=False)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """One browser for all tests of a process."""
    with sync_playwright() as playwright:
        browser = launched(playwright)
        yield browser
        browser.close()


@pytest.fixture
def tab(chromium: Browser) -> Iterator[Page]:
    """A tab that shares nothing with others; errors of the page in it are errors of the test."""
    context = chromium.new_context()
    page = context.new_page()
    problems: list[str] = []

    def note(message: ConsoleMessage) -> None:
        if message.type == "error":
            problems.append(message.text)

    page.on("console", note)
    page.on("pageerror", lambda error: problems.append(str(error)))
    yield page
    context.close()
    assert problems == []
