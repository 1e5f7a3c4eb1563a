"""The exported page in a real browser: what-if, why, why not, margin, and what must not happen."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

from browser import DRAWS, SAILING, picture
from messages import raises_saying
from pinesy import Attribute, Cascade, If, RuleSet, parse
from pinesy.exceptions import DataError, DegreeError, UnknownAttributeError
from pinesy.exchange import to_page
from pinesy.problems import addition, digits

DAYS = ["monday", "tuesday", "friday"]
SEEN = {
    "sky": [[0.0, 0.0, 1.0], [1.0, 0.5, 0.0], [1.0, 0.0, 0.0]],
    "wind": [12, 31.5, np.nan],
}
DIGITS = {"a_1": {3: 1.0, 8: 0.4}, "a_2": {4: 1.0, 9: 0.2}}
Open = Callable[..., Page]


@pytest.fixture
def opened(tab: Page, tmp_path: Path) -> Open:
    """Return a function that writes a page and opens it; it may ask nothing of a network."""

    def open_page(cascade: Cascade, *arguments: Any, **options: Any) -> Page:
        path = tmp_path / "page.html"
        path.write_text(to_page(cascade, *arguments, **options), encoding="utf-8")
        asked: list[str] = []
        tab.on("request", lambda request: asked.append(request.url))
        tab.goto(path.as_uri())
        assert {url.partition(":")[0] for url in asked} <= {"file", "data"}
        assert asked[0] == path.as_uri()
        return tab

    return open_page


def digit_images() -> dict[str, Any]:
    """Images of a 3 and a 4, for the picture of the docs; else none."""
    if not DRAWS:
        return {}
    images, labels = digits()
    return {name: images[labels == digit][:1] for name, digit in (("a_1", 3), ("a_2", 4))}


def degrees(page: Page, name: str) -> list[float]:
    """Return the degrees that the page has inferred."""
    found: list[float] = page.evaluate(
        """name => Array.from(whatIf.state.degrees[
          whatIf.rules.attributes.find((a) => a.name === name).number])""",
        name,
    )
    return found


def shown(page: Page, name: str) -> list[str]:
    return page.get_by_role("region", name=name).locator(".degrees").all_inner_texts()


def test_samples_give_what_python_gives(opened: Open) -> None:
    cascade = parse(SAILING)
    page = opened(cascade, SEEN, titles=DAYS, title="sailing")
    result = cascade.infer(SEEN, ["street", "sailing"])
    picker = page.get_by_label("Sample", exact=True)
    for row, title in enumerate(DAYS):
        picker.select_option(title)
        for name in result:
            assert degrees(page, name) == result[name].degrees[row].tolist()
    expect(page.get_by_label("next sample")).to_be_disabled()
    page.get_by_label("sample before").click()
    expect(picker).to_have_value("1")
    expect(page.get_by_role("spinbutton", name="wind")).to_have_value("31.5")
    expect(page).to_have_title("sailing")


def test_what_if(opened: Open) -> None:
    cascade = parse(SAILING)
    page = opened(cascade, SEEN)
    page.get_by_role("spinbutton", name="wind").fill("27.5")
    page.get_by_role("combobox", name="sky").select_option("clear")
    found = cascade.infer({"wind": 27.5, "sky": "clear"})["sailing"]
    assert degrees(page, "sailing") == found.degrees.tolist()
    group = page.get_by_role("group", name="sky")
    group.get_by_text("degrees clear: 1").click()
    slider = group.get_by_label("possibility of sky = dark")
    slider.fill("0.37")
    found = cascade.infer({"wind": 27.5, "sky": {"clear": 1.0, "dark": 0.37}})["sailing"]
    assert degrees(page, "sailing") == found.degrees.tolist()
    assert shown(page, "sailing")[1] == f"{found['yes']:.4g} / {found.necessity({'yes'}):.4g}"
    expect(group.get_by_role("combobox", name="sky")).to_have_value("by degrees")
    # Degrees of which none is 1 are no distribution: what was inferred stays, greyed.
    group.get_by_label("possibility of sky = clear").fill("0.5")
    expect(group.get_by_role("alert")).to_contain_text("No value of sky is fully possible")
    assert degrees(page, "sailing") == found.degrees.tolist()
    page.get_by_role("button", name="as it was").click()
    assert degrees(page, "street") == [0.2, 1.0]


def test_why_and_why_not(opened: Open) -> None:
    page = opened(addition(1), DIGITS, images=digit_images(), title="The sum of two digits")
    answers = page.locator("#answers")
    expect(answers).to_contain_text("Why y_1 = 7?")
    expect(answers).to_contain_text("Rule 29, because its premise is possible")
    expect(answers).to_contain_text("Margin: 0.6. While all input degrees move by less")
    expect(answers).to_contain_text("Inputs that can change it alone: a_1 (0.6) and a_2 (0.8).")
    answers.get_by_text("c_1 = (3, 4)").first.click()
    expect(answers).to_contain_text("a_1 = 3 is possible")
    two = page.get_by_role("button", name="y_1 = 2: possible at 0.4")
    two.focus()
    page.keyboard.press("Enter")
    expect(answers).to_contain_text("Why not y_1 = 2?")
    expect(answers).to_contain_text("y_1 = 2 is possible at 0.4 at most, because of rule 3")
    expect(answers).to_contain_text("a_1 = 8 has possibility 0.4")
    expect(two).to_have_attribute("aria-pressed", "true")
    assert page.locator(".input.deciding b").all_inner_texts() == ["a_1"]
    page.set_viewport_size({"width": 1200, "height": 1280})
    page.evaluate("scrollTo(0, 0)")
    picture(page, "one-file-page")
    answers.get_by_role("button", name="Which one input would change it?").click()
    expect(answers).to_contain_text("If a_1 were read as 8, y_1 = 2 would win.")
    answers.get_by_role("button", name="try it").first.click()
    expect(page.get_by_role("region", name="y_1")).to_contain_text("2, certain at 0.1")
    expect(page.get_by_role("combobox", name="a_1")).to_be_focused()


def test_hostile_names_do_nothing(opened: Open) -> None:
    name = "<img src=x onerror=globalThis.hacked=1>"
    values = ["</script><script>globalThis.hacked=1</script>", "<!--<script>", "__proto__"]
    given, found = Attribute(name, values), Attribute("constructor", [*values, "'];alert(1)//"])
    rules = Cascade(RuleSet([If(given.isin(values[:1])).then(found.isin(values[:1]), r=0.25)]))
    page = opened(rules, title="</title><script>globalThis.hacked=1</script>")
    page.get_by_role("combobox", name=name).select_option(values[0])
    assert degrees(page, "constructor") == [1.0, 0.25, 0.25, 0.25]
    expect(page.locator("#answers b").first).to_have_text(f"constructor = {values[0]}")
    page.get_by_role("button", name="constructor = <!--<script>:").click()
    assert page.evaluate("globalThis.hacked") is None
    assert page.locator("script").count() == 2
    assert page.locator("#inputs img:not([hidden])").count() == 0
    expect(page.locator("h1")).to_have_text("</title><script>globalThis.hacked=1</script>")


def test_the_policy_lets_nothing_else_in(chromium: Browser, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(to_page(addition(1)), encoding="utf-8")
    page = chromium.new_page()
    page.goto(path.as_uri())
    refused = page.evaluate("""async () => {
      const refused = [];
      addEventListener("securitypolicyviolation", (e) => refused.push(e.effectiveDirective));
      const add = (name, content) => {
        const element = document.createElement(name);
        Object.assign(element, content);
        document.body.append(element);
      };
      add("img", { src: "https://example.org/x.png" });
      add("script", { textContent: "globalThis.hacked = 1" });
      add("style", { textContent: "body { display: none }" });
      await fetch("https://example.org").catch(() => {});
      await new Promise((done) => setTimeout(done, 50));
      return refused;
    }""")
    assert page.evaluate("globalThis.hacked") is None
    page.close()
    assert set(refused) == {"img-src", "script-src-elem", "style-src-elem", "connect-src"}


def test_phone_and_dark(opened: Open) -> None:
    cascade = parse(SAILING)
    page = opened(cascade, SEEN)
    page.set_viewport_size({"width": 360, "height": 700})
    assert page.evaluate("document.scrollingElement.scrollWidth") <= 360
    ink = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ink)
    page.emulate_media(color_scheme="dark")
    assert page.evaluate(ink) != light


def test_images_are_shown(opened: Open) -> None:
    cascade = addition(1)
    page = opened(cascade, DIGITS, images={"a_1": np.full((1, 4, 6), 200, np.uint8)})
    image = page.get_by_role("img", name="what is seen of a_1")
    assert image.evaluate("(e) => e.decode().then(() => [e.naturalWidth, e.naturalHeight])") == [
        6,
        4,
    ]
    assert page.locator("#inputs img:not([hidden])").count() == 1


def test_samples_and_images_that_do_not_fit() -> None:
    cascade = addition(1)
    with raises_saying(DataError, "2 titles for 1 samples; give one each"):
        to_page(cascade, DIGITS, titles="ab")
    with raises_saying(DegreeError, "attribute 'a_1', row 0: the distribution is not normalised"):
        to_page(cascade, DIGITS | {"a_1": {3: 0.5}})
    with raises_saying(UnknownAttributeError, "images are given of 'a_3', which is no input"):
        to_page(cascade, DIGITS, images={"a_3": np.zeros((1, 2, 2), np.uint8)})
    with raises_saying(DataError, "the images of 'a_1' are float64 (1, 2, 2)"):
        to_page(cascade, DIGITS, images={"a_1": np.zeros((1, 2, 2))})
    with raises_saying(DataError, "there are 0 images of 'a_1' for 1 samples"):
        to_page(cascade, DIGITS, images={"a_1": np.zeros((0, 2, 2), np.uint8)})


def test_pages_that_would_be_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    size = len(to_page(addition(1)).encode())
    monkeypatch.setattr("pinesy.exchange.page.MAX_BYTES", 1000)
    with raises_saying(DataError, f"would have {size:,} bytes, more than the limit of 1,000"):
        to_page(addition(1))
    monkeypatch.setattr("pinesy.exchange.page_data.MAX_MEMBERSHIPS", 2000)
    with raises_saying(DataError, "the rules have 3,406 memberships"):
        to_page(addition(1))
    monkeypatch.setattr("pinesy.exchange.page_data.MAX_VALUES", 100)
    with raises_saying(DataError, "the attributes have 134 values; a page takes at most 100"):
        to_page(addition(1))
