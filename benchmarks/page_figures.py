"""The page in one file: how large it is, how long it takes to make, to open and to answer a slider.

``python benchmarks/page_figures.py``; it needs Playwright and a Chromium or Chrome. Times are the
best of several, on one machine. A move is from the slider's event until all is laid out anew; the
margin follows once sliders rest. The last column infers everything, as a new sample does.
"""

import random
import shutil
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from playwright.sync_api import Browser, sync_playwright

from pinesy import Attribute, Cascade, If, RuleSet
from pinesy.exchange import to_page
from pinesy.problems import addition, sudoku

SAMPLES = 100
#: Moves the first slider of the first input, and returns the best times in milliseconds.
MOVE = """() => {
  const best = (action) => {
    const times = Array.from({ length: 15 }, (_, i) => {
      const start = performance.now();
      action(i);
      return performance.now() - start;
    });
    return Math.min(...times);
  };
  const [control] = page.view.rows.values();
  control.details.open = true;
  control.showSliders();
  const slider = control.sliders.querySelector("input");
  const input = new Event("input");
  const move = (i) => {
    slider.value = (i % 2) / 2 + 0.1;
    slider.dispatchEvent(input);
    return document.body.offsetHeight;
  };
  return { move: best(move), all: best(() => { page.state = null; page.view.update(); }) };
}"""


def random_rules(n: int) -> Cascade:
    """Return `n` rules of two to five propositions on twenty inputs."""
    rng = random.Random(0)
    inputs = [Attribute(f"x_{i}", [f"v{j}" for j in range(8)]) for i in range(20)]
    output = Attribute("y", [f"class {j}" for j in range(10)])
    rules = []
    for _ in range(n):
        used = rng.sample(inputs, rng.randint(2, 5))
        premise = [a.isin(rng.sample(a.domain, rng.randint(1, 4))) for a in used]
        conclusion = output.isin(rng.sample(output.domain, rng.randint(1, 6)))
        rules.append(If(*premise).then(conclusion, r=rng.randint(0, 9) / 10))
    return Cascade(RuleSet(rules))


def random_evidence(rules: Cascade) -> dict[str, Any]:
    """Return samples in which every value of every input has a degree of its own."""
    rng = np.random.default_rng(0)
    found = {}
    for a in rules.inputs:
        degrees = rng.random((SAMPLES, len(a.domain)))
        found[a.name] = degrees / degrees.max(axis=1, keepdims=True)
    return found


def figures(browser: Browser, name: str, rules: Cascade, place: Path) -> str:
    """Return one line of the table."""
    start = perf_counter()
    text = to_page(rules)
    seconds = perf_counter() - start
    large = to_page(rules, random_evidence(rules))
    place.write_text(large, encoding="utf-8")
    tab = browser.new_page()
    start = perf_counter()
    tab.goto(place.as_uri())
    opened = perf_counter() - start
    times = tab.evaluate(MOVE)
    tab.close()
    return (
        f"{name:<14}{len(text.encode()):>10,}{len(large.encode()):>13,}{seconds:>8.2f}"
        f"{opened:>8.2f}{times['move']:>9.1f}{times['all']:>9.1f}"
    )


def main() -> None:
    """Print the table."""
    cases = {
        "Addition-4": addition(4),
        "1,000 rules": random_rules(1000),
        "Addition-100": addition(100),
        "Sudoku 9x9": sudoku(9),
    }
    print(f"{'':<14}{'bytes':>10}{'100 samples':>13}{'s make':>8}{'s open':>8}", end="")
    print(f"{'ms move':>9}{'ms all':>9}")
    path = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        for name, rules in cases.items():
            print(figures(browser, name, rules, Path(folder) / "page.html"), flush=True)
        browser.close()


if __name__ == "__main__":
    main()
