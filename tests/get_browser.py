"""Finds a browser for the tests, or gets one; ``make test`` runs this beside the type checker.

A Chromium or Chrome of the system is taken first, then the one that Playwright downloads, then that
of the system's package manager where this process may install it. Without any, the tests that need
one are skipped, and `ADVICE` says what to do.
"""

import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

#: Programs that Playwright can drive; ``PINESY_BROWSER`` names another.
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
ADVICE = (
    "there is no Chromium or Chrome: install one (apt-get install chromium, or python -m "
    "playwright install --with-deps chromium), or name it in PINESY_BROWSER"
)
#: Seconds that getting one may take.
PATIENCE = 300


@cache
def find_browser() -> str | None:
    """Return the path of a browser that starts; None if there is none."""
    named = os.environ.get("PINESY_BROWSER")
    candidates = [named] if named else [*map(shutil.which, NAMES), *_downloaded()]
    return next((path for path in candidates if path and _starts(path)), None)


def _downloaded() -> list[str]:
    """Return what Playwright has downloaded."""
    home = os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or Path.home() / ".cache" / "ms-playwright"
    names = (
        "chromium*/*/chrome",
        "chromium*/*/headless_shell",
        "chromium*/*/chrome-headless-shell",
    )
    return [str(path) for name in names for path in sorted(Path(home).glob(name))]


def _starts(path: str) -> bool:
    """Tell whether a program runs: a download may lack libraries of the system."""
    return _run(path, "--version", seconds=60)


def get_browser() -> str | None:
    """Return a browser, getting one if there is none."""
    if (found := find_browser()) or os.environ.get("PINESY_BROWSER"):
        return found
    _run(sys.executable, "-m", "playwright", "install", "--only-shell", "chromium")
    find_browser.cache_clear()
    if (found := find_browser()) is None and hasattr(os, "geteuid") and os.geteuid() == 0:
        _run("apt-get", "update", "--quiet") and _run(
            "apt-get", "install", "--yes", "--quiet", "--no-install-recommends", "chromium"
        )
        find_browser.cache_clear()
        found = find_browser()
    return found


def _run(*command: str, seconds: float = PATIENCE) -> bool:
    """Run a program in silence; tell whether it went well."""
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=seconds
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return done.returncode == 0


if __name__ == "__main__":
    chosen = get_browser()
    sys.stdout.write(f"browser for the tests: {chosen or 'none; ' + ADVICE}\n")
