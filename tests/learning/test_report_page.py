"""Pages of reports as a browser shows them: on a phone, in the light and in the dark."""

import io
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from playwright.sync_api import Browser, Locator, Page

from pinesy import problems
from pinesy.calibration import calibrate, coverage
from pinesy.cli import image_demo
from pinesy.learning import evaluate
from pinesy.learning.evaluate import report_page

images = pytest.importorskip("PIL.Image")
pytest.importorskip("matplotlib")
Pixels = npt.NDArray[np.float64]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the address of a report on ten classes, with coverage."""
    rng = np.random.default_rng(0)
    digits = rng.integers(0, 10, (300, 2))
    read = np.where(rng.random(digits.shape) < 0.1, rng.integers(0, 10, digits.shape), digits)
    rules, answers = problems.addition(1), problems.addition_labels(digits)["y_1"].tolist()
    names = ["a_1", "a_2"]
    known, new = (dict(zip(names, read[part].T.tolist(), strict=True)) for part in HALVES)
    first, second = (answers[part] for part in HALVES)
    found = evaluate(rules, new, {"y_1": second})
    calibrated = calibrate(rules, known, {"y_1": first})
    covered = coverage(calibrated, new, {"y_1": second}, [0.6, 0.8, 0.9])
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(report_page(found, "a_rather_long_name_of_rules.rules on x", covered.html()))
    return path.as_uri()


HALVES = slice(150), slice(150, None)


def opened(chromium: Browser, address: str, scheme: Any, width: int) -> Page:
    """Return a page in a window of a width, its pixels three times as fine."""
    size: Any = {"width": width, "height": 900}
    context = chromium.new_context(viewport=size, color_scheme=scheme, device_scale_factor=3)
    page = context.new_page()
    page.goto(address)
    return page


def luminances(part: Page | Locator) -> Pixels:
    """Return the relative luminance of each pixel of a screenshot, as WCAG defines it."""
    picture = images.open(io.BytesIO(part.screenshot())).convert("RGB")
    levels = np.asarray(picture, dtype=np.float64) / 255
    linear = np.where(levels <= 0.04045, levels / 12.92, ((levels + 0.055) / 1.055) ** 2.4)
    return np.asarray(linear @ [0.2126, 0.7152, 0.0722])


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_has_room_for_a_report(chromium: Browser, report: str, scheme: str) -> None:
    page = opened(chromium, report, scheme, 390)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_is_written_in_plots_can_be_read(chromium: Browser, report: str, scheme: str) -> None:
    page = opened(chromium, report, scheme, 1400)
    ground = np.median(luminances(page.locator("h1")))
    plots = page.locator("svg").all()
    assert len(plots) == 3
    for plot in plots:
        shown, frame = luminances(plot), plot.bounding_box()
        assert frame is not None
        assert np.median(shown) == pytest.approx(ground, abs=0.01)
        for text in plot.locator("text").all():
            box = text.bounding_box()
            assert box is not None
            left, top = 3 * (box["x"] - frame["x"]), 3 * (box["y"] - frame["y"])
            part = shown[
                int(top) : int(top + 3 * box["height"]), int(left) : int(left + 3 * box["width"])
            ]
            contrast = (part.max() + 0.05) / (part.min() + 0.05)
            assert contrast >= 4.5, (text.text_content(), contrast)
    page.context.close()


def test_the_pictures_of_the_demo_have_the_ground_of_the_page(
    chromium: Browser, tmp_path: Path
) -> None:
    rules, digits = problems.addition(1), np.array([[3, 4], [5, 9]])
    degrees = np.maximum(np.eye(10), 0.2)
    evidence = {f"a_{i + 1}": degrees[digits[:, i]] for i in range(2)}
    blank = {name: np.zeros((2, 28, 28), np.uint8) for name in evidence}
    sums = problems.explained_sums(rules, evidence, problems.addition_labels(digits), blank)
    path = tmp_path / "demo.html"
    path.write_text(image_demo._html(["trained"], [("Addition-1", "2", "100%", "")], sums))
    page = opened(chromium, path.as_uri(), "dark", 390)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    drawn = luminances(page.locator(".scroll img").first)
    assert drawn[5, 5] == pytest.approx(np.median(luminances(page.locator("h1"))), abs=0.01)
    page.context.close()
