"""How soon the studio is there, and how soon a slider's move is seen: in a real browser.

``python benchmarks/studio_latency.py`` prints the time from the command to the first paint, and
from a move of a slider to the verdict that follows (the change of the input, the request, the
answer, the page), for Addition-4 and Sudoku 9x9; beside it the server's part.
"""

import argparse
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from pinesy import Cascade, save
from pinesy.problems import addition, sudoku
from pinesy.studio.ask_view import answer
from pinesy.studio.session import Session, Work

ROOT = Path(__file__).parents[1]
MOVES = 30
#: The system's browsers; without one, that of Playwright is started.
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
#: Sliders of one input: moved in turns; what they are called.
SLIDER = "possibility of {} = "
READY = "#panel-{}[data-ready]"


def started(path: Path) -> tuple[subprocess.Popen[str], str, float]:
    """Start the command; return it, its address and when it was started."""
    began = time.time()
    run = subprocess.Popen(
        [sys.executable, "-m", "pinesy", "studio", str(path), "--port", "0", "--no-open"],
        env=os.environ | {"PYTHONPATH": str(ROOT / "src"), "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert run.stdout is not None
    return run, run.stdout.readline().split()[-1], began


def processor_seconds(process: int) -> float:
    """Return the processor time that a process has used (on Linux), which no other work changes."""
    try:
        numbers = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return math.nan
    return (int(numbers[11]) + int(numbers[12])) / os.sysconf("SC_CLK_TCK")


def first_paint(browser: Browser, path: Path) -> tuple[float, float, float]:
    """Return the seconds from the command to the first paint, and to the rules in their view.

    The third number is the processor time of the command by then.
    """
    run, address, began = started(path)
    page = browser.new_page()
    page.goto(address)
    page.wait_for_selector(READY.format("ask"))
    ready = time.time() - began
    entry = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
    paint = page.evaluate(f"performance.timeOrigin + {entry}")
    page.close()
    used = processor_seconds(run.pid)
    run.terminate()
    run.wait()
    return paint / 1000 - began, ready, used


def moves(page: Page, name: str) -> list[float]:
    """Move a slider of an input; return the milliseconds until each move was shown."""
    group = page.get_by_role("group", name=name, exact=True)
    group.locator("summary").click()
    slider = group.get_by_label(SLIDER.format(name)).nth(1)
    for i in range(MOVES):
        slider.fill(str(0.3 + i / 100))
        page.wait_for_function(
            "n => performance.getEntriesByName('sample-shown').length > n", arg=i, polling=5
        )
    return list(
        page.evaluate("performance.getEntriesByName('sample-shown').map((e) => e.duration)")
    )


def server_part(rules: Cascade) -> float:
    """Return the milliseconds that the endpoint takes, the best of several."""
    session = Session(Work(rules, ""))
    given = {a.name: {"degrees": [1.0] + [0.25] * (len(a.domain) - 1)} for a in rules.inputs}
    took = []
    for _ in range(MOVES):
        began = time.perf_counter()
        answer(session, {"sample": {"inputs": given}})
        took.append(1000 * (time.perf_counter() - began))
    return min(took)


def main() -> None:
    """Print the figures."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    cases = {"Addition-4": (addition(4), "a_1"), "Sudoku 9x9": (sudoku(9), "a_1_1")}
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as place:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        for title, (rules, name) in cases.items():
            file = Path(place, "rules.json")
            save(rules, file)
            paints = [first_paint(browser, file) for _ in range(3)]
            paint, ready, used = (min(each) for each in zip(*paints, strict=True))
            run, address, _ = started(file)
            context = browser.new_context(bypass_csp=True)  # Playwright's waiting needs eval
            page = context.new_page()
            page.set_default_timeout(60_000)
            page.goto(f"{address}#ask")
            page.wait_for_selector(READY.format("ask"))
            took = moves(page, name)
            context.close()
            run.terminate()
            run.wait()
            print(
                f"{title}: first paint {paint:.2f} s after the command, rules shown {ready:.2f} s "
                f"({used:.2f} s of processor time of the command); a slider's move is seen after "
                f"{statistics.median(took):.1f} ms (median of {MOVES}; best {min(took):.1f}, worst "
                f"{max(took):.1f}), of which the server {server_part(rules):.2f} ms"
            )
        browser.close()


if __name__ == "__main__":
    main()
