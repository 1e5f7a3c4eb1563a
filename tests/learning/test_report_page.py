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
from pinesy.display.pages import audit_page, report_page
from pinesy.display.report_rows import suspicious_labels
from pinesy.learning import audit, evaluate
from pinesy.samples import read_samples
from screen_checks import SCREENS, problems_of

images = pytest.importorskip("PIL.Image")
Pixels = npt.NDArray[np.float64]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the addresses of a report on ten classes, with coverage, and of an audit."""
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
    directory = tmp_path_factory.mktemp("report")
    lines = ["id,a_1,a_2,y_1", *(f"r{i},{a},{b},{y}" for i, ((a, b), y) in enumerate(
        zip(read[HALVES[1]].tolist(), second, strict=True)))]  # fmt: skip
    (directory / "rows.csv").write_text("\n".join(lines))
    [batch] = read_samples(
        directory / "rows.csv", rules.inputs, targets=[rules["y_1"].output], ids=["id"]
    )
    audited = audit(rules, new, {"y_1": second}, method="given")
    labels = suspicious_labels(audited, batch, rules.inputs)
    title = "a_rather_long_name_of_rules.rules on x"
    texts = {
        "report": report_page(found, title, covered, labels),
        "audit": audit_page(audited, labels, title),
    }
    for name, text in texts.items():
        (directory / f"{name}.html").write_text(text)
    return {name: (directory / f"{name}.html").as_uri() for name in texts}


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


@pytest.mark.parametrize(("width", "theme"), SCREENS)
@pytest.mark.parametrize("name", ["report", "audit"])
def test_reports_fit_every_screen(
    chromium: Browser, pages: dict[str, str], name: str, width: int, theme: str
) -> None:
    page = opened(chromium, pages[name], theme, width)
    page.locator("details").first.evaluate_all("parts => parts.map((part) => part.open = true)")
    assert problems_of(page) == []
    page.context.close()


def test_checks_see_what_is_wrong(chromium: Browser, pages: dict[str, str]) -> None:
    page = opened(chromium, pages["report"], "light", 390)
    page.add_style_tag(
        content=".chart{font-size:9px}.metric{min-width:900px}.note{color:#ccc!important}"
    )
    problems = " ".join(problems_of(page))
    assert "sideways" in problems
    assert "small: share of rows" in problems
    assert "contrast" in problems
    page.context.close()


def test_a_report_begins_with_figures(chromium: Browser, pages: dict[str, str]) -> None:
    page = opened(chromium, pages["report"], "light", 1400)
    labels = page.locator(".metric .label").all_text_contents()
    assert labels == [
        "Right, where decided", "Decided", "Covered, asked for 90 %", "Suspicious labels",
    ]  # fmt: skip
    tops = [
        page.locator(part).first.evaluate("part => part.getBoundingClientRect().top")
        for part in (".metrics", ".chart", ".split", ".confusion, table", ".suspects")
    ]
    assert tops == sorted(tops)
    for chart in page.locator(".chart").all():
        assert chart.locator("i.chosen").count() == 1  # the one orange mark
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
