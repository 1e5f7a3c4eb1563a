"""How soon the studio is there, and how soon a slider's move is painted: in a real browser.

``python benchmarks/studio_latency.py`` prints, for the demo, Addition-4 and Sudoku 9x9, the time
from the command to the first paint and to the Ask view; and the p50 and p95 of the time from a
move of a slider to the paint of the answer, and to the paint of all reasons. The page measures
itself (``performance.measure``): the change of the input, the request, the answer, the paint.
Samples: readings of which each is certain to about 0.7, and nothing known at all.
"""

import argparse
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from playwright.sync_api import Browser, sync_playwright

from pinesy import Cascade, save
from pinesy.problems import addition, sudoku

ROOT = Path(__file__).parents[1]
MOVES = 30
#: The system's browsers; without one, that of Playwright is started.
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
READY = "#panel-{}[data-ready]"


def started(path: Path | None) -> tuple[subprocess.Popen[str], str, float]:
    """Start the command; return it, its address and when it was started."""
    files = [] if path is None else [str(path)]
    began = time.time()
    run = subprocess.Popen(
        [sys.executable, "-m", "pinesy", "studio", *files, "--port", "0", "--no-open"],
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


def first_paint(browser: Browser, path: Path | None) -> tuple[float, float, float]:
    """Return the seconds from the command to the first paint, and to the Ask view.

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


#: Moves a slider, waits until the reasons are painted, and moves it again.
MOVES_SCRIPT = """async ([name, moves]) => {
  const field = document.querySelector(`[data-input="${name}"]`);
  field.querySelector('.by-degrees').open = true;
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  while (!field.querySelectorAll('.sliders input').length) await frame();
  const slider = field.querySelectorAll('.sliders input')[1];
  const painted = () => performance.getEntriesByName('reasons-painted').length;
  for (let i = 0; i < moves; i++) {
    const before = painted();
    slider.value = 0.3 + i / 100;
    slider.dispatchEvent(new Event('input', { bubbles: true }));
    while (painted() === before) await frame();
  }
  const durations = (name) => performance.getEntriesByName(name).map((entry) => entry.duration);
  return [durations('answer-painted'), durations('reasons-painted')];
}"""


def readings(rules: Cascade) -> dict[str, object]:
    """Return readings of all inputs, of Sudokus those of a grid that is right."""
    rng, contents = np.random.default_rng(0), dict[str, object]()
    for attribute in rules.inputs:
        n = len(attribute.domain)
        place = int(rng.integers(n))
        if attribute.name.count("_") == 2:
            row, column = (int(text) - 1 for text in attribute.name.split("_")[1:])
            place = (3 * (row % 3) + row // 3 + column) % 9
        degrees = np.round(0.3 * rng.random(n), 2)
        degrees[place] = 1.0
        contents[attribute.name] = {"degrees": degrees.tolist()}
    return contents


def percentiles(took: list[float]) -> str:
    """Return the middle and the 95th percentile of milliseconds, without the first."""
    p50, p95 = np.percentile(took[1:], [50, 95])
    return f"p50 {p50:.0f} ms, p95 {p95:.0f} ms"


def main() -> None:
    """Print the figures."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    cases = {
        "demo": (None, ""),
        "Addition-4": (addition(4), "a_1"),
        "Sudoku 9x9": (sudoku(9), "a_1_1"),
    }
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as place:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        for title, (rules, name) in cases.items():
            file = None
            if rules is not None:
                file = Path(place, "rules.json")
                save(rules, file)
            paints = [first_paint(browser, file) for _ in range(3)]
            paint, ready, used = (min(each) for each in zip(*paints, strict=True))
            print(
                f"{title}: first paint {paint:.2f} s after the command, Ask view {ready:.2f} s "
                f"({used:.2f} s of processor time)"
            )
            if rules is None:
                continue
            for sample, inputs in (("readings", readings(rules)), ("nothing known", {})):
                run, address, _ = started(file)
                page = browser.new_page()
                page.set_default_timeout(60_000)
                page.goto(f"{address}#ask?inputs={json.dumps(inputs)}")
                page.wait_for_selector(READY.format("ask"))
                answers, reasons = page.evaluate(MOVES_SCRIPT, [name, MOVES])
                page.close()
                run.terminate()
                run.wait()
                print(
                    f"  {sample}: answer painted after {percentiles(answers)}; reasons "
                    f"{percentiles(reasons)} ({MOVES - 1} moves)"
                )
        browser.close()


if __name__ == "__main__":
    main()
