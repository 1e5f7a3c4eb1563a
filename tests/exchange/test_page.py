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
from pinesy.verdicts import verdict
from screen_checks import assert_fits_all_screens

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
        """name => Array.from(page.state.degrees[
          page.rules.attributes.find((a) => a.name === name).number])""",
        name,
    )
    return found


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
    page.get_by_role("radio", name="clear").check(force=True)
    found = cascade.infer({"wind": 27.5, "sky": "clear"})["sailing"]
    assert degrees(page, "sailing") == found.degrees.tolist()
    group = page.get_by_role("group", name="sky")
    group.get_by_text("not sure: set degrees").click()
    group.get_by_label("possibility of sky = dark").fill("0.37")
    found = cascade.infer({"wind": 27.5, "sky": {"clear": 1.0, "dark": 0.37}})["sailing"]
    assert degrees(page, "sailing") == found.degrees.tolist()
    said = verdict(cascade, {"wind": 27.5, "sky": {"clear": 1.0, "dark": 0.37}}, "sailing")
    expect(page.locator(".verdict .value")).to_have_text(said.answer.partition(",")[0])
    # Degrees of which none is 1 are no distribution: what was inferred stays, dimmed.
    group.get_by_label("possibility of sky = clear").fill("0.5")
    expect(group.get_by_role("alert")).to_contain_text("No value of sky is fully possible")
    expect(page.locator(".verdict")).to_have_attribute("aria-busy", "true")
    assert degrees(page, "sailing") == found.degrees.tolist()
    page.get_by_role("button", name="as it was").click()
    assert degrees(page, "street") == [0.2, 1.0]


def test_why_and_why_not(opened: Open) -> None:
    rules = parse("attribute left in 0..9 attribute right in 0..9 function sum = left + right")
    sees = {"left": {3: 1.0, 8: 0.4}, "right": {4: 1.0, 9: 0.2}}
    images = {name.replace("a_1", "left").replace("a_2", "right"): rows
              for name, rows in digit_images().items()}  # fmt: skip
    page = opened(rules, sees, images=images, title="The sum of two digits")
    said = verdict(rules, sees)
    expect(page.locator(".verdict .value")).to_have_text("3 + 4 = 7")
    expect(page.locator(".verdict .how")).to_have_text("certain 0.60")
    twelve = page.get_by_role("button", name="12: possible 0.40")
    twelve.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".why h2")).to_have_text("Why not 12?")
    expect(page.locator(".why .lines")).to_contain_text(
        said.why_not(12).because.partition(" (rule")[0]
    )
    expect(twelve).to_be_focused()
    expect(twelve).to_have_attribute("aria-pressed", "true")
    page.set_viewport_size({"width": 1400, "height": 1100})
    page.evaluate("scrollTo(0, 0)")
    picture(page, "one-file-page")
    page.reload()  # the address holds what is asked
    expect(page.locator(".why h2")).to_have_text("Why not 12?")
    page.get_by_text("The full justification").click()
    expect(page.locator(".justification")).to_contain_text("sum = 12")
    page.locator(".why").get_by_role("button", name="Try it").click()
    expect(page.locator(".verdict .value")).to_have_text("8 + 4 = 12")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".verdict .value")).to_have_text("3 + 4 = 7")


def test_every_screen(opened: Open) -> None:
    page = opened(parse(SAILING), SEEN, titles=DAYS)
    expect(page.locator(".verdict .value")).to_have_text("no")
    assert_fits_all_screens(page)
    page.set_viewport_size({"width": 1400, "height": 844})
    before = page.locator(".verdict").bounding_box()
    height = page.evaluate("document.documentElement.scrollHeight")
    page.locator(".verdict").get_by_role("button", name="Try it").click()
    page.get_by_role("button", name="Undo").click()
    page.locator(".verdict").get_by_role("button", name="Try it").click()
    page.get_by_role("button", name="as it was").click()
    expect(page.locator(".notice")).to_be_visible()  # it lies over the page
    assert page.locator(".verdict").bounding_box() == before
    assert page.evaluate("document.documentElement.scrollHeight") == height


def test_hostile_names_do_nothing(opened: Open) -> None:
    name = "<img src=x onerror=globalThis.hacked=1>"
    values = ["</script><script>globalThis.hacked=1</script>", "<!--<script>", "__proto__"]
    given, found = Attribute(name, values), Attribute("constructor", [*values, "'];alert(1)//"])
    rules = Cascade(RuleSet([If(given.isin(values[:1])).then(found.isin(values[:1]), r=0.25)]))
    page = opened(rules, title="</title><script>globalThis.hacked=1</script>")
    page.get_by_role("combobox", name=name).select_option(values[0])
    assert degrees(page, "constructor") == [1.0, 0.25, 0.25, 0.25]
    expect(page.locator(".verdict .value")).to_have_text(values[0])
    page.get_by_role("button", name="<!--<script>: possible").click()
    expect(page.locator(".why h2")).to_have_text("Why not <!--<script>?")
    assert page.evaluate("globalThis.hacked") is None
    assert page.locator("script").count() == 2
    assert page.locator("main img:not([hidden])").count() == 0
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


def test_images_are_shown(opened: Open) -> None:
    cascade = addition(1)
    page = opened(cascade, DIGITS, images={"a_1": np.full((1, 4, 6), 200, np.uint8)})
    image = page.get_by_role("img", name="what is seen of a_1")
    assert image.evaluate("(e) => e.decode().then(() => [e.naturalWidth, e.naturalHeight])") == [
        6,
        4,
    ]
    assert page.locator(".field img:not([hidden])").count() == 1


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
