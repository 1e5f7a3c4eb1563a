"""A real browser for tests: the system's Chromium or Chrome, or the one that Playwright fetches.

The fixtures are known to all tests (tests/conftest.py imports them): `tab` is a fresh tab, and a
test that uses it fails if the page in it logs an error or throws one.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, expect, sync_playwright

from get_browser import ADVICE, find_browser

#: Where the pictures of the docs are, and whether to make them anew (``PINESY_PICTURES=1``).
PICTURES = Path(__file__).parents[1] / "docs" / "pictures"
DRAWS = os.environ.get("PINESY_PICTURES", "0") not in ("", "0")
#: Rules with words, a number, a formula and parameters, for pages to show.
SAILING = """
attribute sky in {clear, cloudy, dark}
number wind cuts {10, 30} [blur=4]
attribute street in {dry, wet}
attribute sailing in {no, yes}

iff sky in {dark} then street in {wet} [s=0.1, r=0.2]
if wind >= 30 or street in {wet} then sailing in {no}
if wind < 30 and street in {dry} then sailing in {yes} [r=0.25]
"""
#: Milliseconds that a page may take, on a machine that does other things too.
PATIENCE = 20_000
expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """One browser for the tests of a module; without any they are skipped, and it is said why.

    Not one for all tests of a process: while Playwright runs its event loop does too, and tests of
    other things (Dask's) must not find that in their thread.
    """
    path = find_browser()
    if path is None:
        pytest.skip(ADVICE)
    # A sandbox is refused to root, which tests in containers often are.
    arguments = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=arguments)
        yield browser
        browser.close()


@pytest.fixture
def tab(chromium: Browser) -> Iterator[Page]:
    """A tab that shares nothing with others; errors of the page in it are errors of the test."""
    context = chromium.new_context()
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    problems = errors_of(page)
    yield page
    context.close()
    assert not problems, problems


def errors_of(page: Page) -> list[str]:
    """Return a list to which the errors are added that a page logs or throws."""
    errors: list[str] = []

    def note(message: ConsoleMessage) -> None:
        # A refusal with its reason is an answer, though browsers log it: 422.
        if message.type == "error" and "status of 422" not in message.text:
            errors.append(f"{message.text} ({message.location.get('url')})")

    page.on("console", note)
    page.on("pageerror", lambda error: errors.append(str(error)))
    return errors


def picture(page: Page, name: str) -> None:
    """Write a picture for the docs, if pictures are wanted."""
    if DRAWS:
        page.screenshot(path=PICTURES / f"{name}.png")
