"""The page around the views, and the main acts of Rules and Sample, in a real browser."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

from browser import DRAWS, SAILING, picture
from pinesy import NeuroSymbolic, parse
from pinesy.cli.studio_command import demo_session
from pinesy.display.images import png
from pinesy.problems import addition, digits
from pinesy.studio import Session
from pinesy.studio.session import Work
from pinesy.studio.web_application import VIEWS, redirect_file
from studio.ink_by_columns import by_columns
from studio.touched_files import touch

Serving = Callable[[Session], str]
VIEW_NAMES = list(VIEWS)


def go(tab: Page, address: str, view: str) -> None:
    """Open a view, by its tab if the page is there, and wait for it."""
    if tab.url.startswith("about:"):
        tab.goto(f"{address}#{view}")
    else:
        tab.locator(f"#tab-{view}").click()
    expect(tab.locator(f"#panel-{view}")).to_have_attribute("data-ready", "true")


def shown_degrees(tab: Page, name: str) -> list[float]:
    """Return the possibilities that the bars of an attribute tell."""
    rows = tab.locator(f".outputs [data-attribute={name}] .degrees").all_inner_texts()
    return [float(text.split(" / ")[0]) for text in rows]


def rounded(degrees: Any) -> list[float]:
    return [float(f"{degree:.4g}") for degree in degrees.tolist()]


def test_an_error_is_shown_at_its_place_while_one_types(
    tab: Page, serving: Serving, session: Session
) -> None:
    go(tab, serving(session), "rules")
    area = tab.get_by_label("rules", exact=True)
    area.fill(SAILING.replace("{wet}", "{wett}", 1))
    problem = tab.locator("#rules-problem")
    expect(problem).to_contain_text("line 7, column")
    expect(tab.locator(".sheet .wrong")).to_have_text("{")
    picture(tab, "studio-rules")
    tab.get_by_role("button", name="Go to line 7").click()
    tab.keyboard.press("Delete")
    expect(tab.locator("#rules-problem")).not_to_contain_text("wett'")
    area.fill(SAILING.replace("r=0.25", "r=0.5"))
    expect(problem).to_contain_text("Cascade(")
    tab.keyboard.press("Control+Enter")
    expect(tab.get_by_role("button", name="Use these rules")).to_be_disabled()
    assert session.work.rules == parse(SAILING.replace("r=0.25", "r=0.5"))
    expect(tab.locator(".graph .box")).to_have_count(5)  # with the formula "or"


def test_a_slider_moves_the_degrees_to_those_of_python(
    tab: Page, serving: Serving, session: Session
) -> None:
    go(tab, serving(session), "sample")
    first = session.work.rules.infer({"sky": "dark", "wind": 12.0})["sailing"]
    # The data is read meanwhile: the first row is taken when it is there.
    expect(tab.locator("#panel-sample")).to_have_attribute("data-shown", '{"row":0,"inputs":{}}')
    assert shown_degrees(tab, "sailing") == rounded(first.degrees)
    slider = tab.get_by_label("wind, slider")
    slider.focus()
    tab.keyboard.press("End")
    for _ in range(3):
        tab.keyboard.press("ArrowLeft")
    wind = float(slider.input_value())
    tab.get_by_role("combobox", name="sky").select_option("clear")
    sample = json.dumps({"row": 0, "inputs": {"wind": {"number": wind}, "sky": {"value": 0}}})
    expect(tab.locator("#panel-sample")).to_have_attribute("data-shown", sample.replace(" ", ""))
    found = session.work.rules.infer({"sky": "clear", "wind": wind})["sailing"]
    assert shown_degrees(tab, "sailing") == rounded(found.degrees)
    assert shown_degrees(tab, "sailing") != rounded(first.degrees)
    expect(tab.locator(".graph .box.lit").first).to_be_visible()
    tab.get_by_role("button", name="take row 2").press("Enter")
    expect(tab.locator("tr.chosen")).to_have_count(1)
    expect(tab.get_by_role("spinbutton", name="wind")).to_have_value("31.5")
    picture(tab, "studio-sample")
    tab.locator(".outputs [data-attribute=sailing][data-place='1']").click()
    expect(tab.locator("#panel-why .not h2")).to_have_text("Why not yes?")
    go(tab, "", "sample")
    tab.locator("summary", has_text="degrees").first.click()
    tab.get_by_label("possibility of sky = clear").fill("0.5")
    expect(tab.get_by_role("alert").first).to_contain_text("fully possible")


def draw(tab: Page, name: str, *points: tuple[float, float]) -> None:
    """Draw a line on the pad of an input; points are shares of its sides."""
    pad = tab.get_by_label(f"draw {name} here")
    pad.scroll_into_view_if_needed()
    box = pad.bounding_box()
    assert box is not None
    (x, y), *others = [
        (box["x"] + x * box["width"], box["y"] + y * box["width"]) for x, y in points
    ]
    tab.mouse.move(x, y)
    tab.mouse.down()
    for x, y in others:
        tab.mouse.move(x, y, steps=3)
    tab.mouse.up()
    expect(tab.get_by_alt_text(f"what is seen of {name}")).to_be_visible()


def digits_session() -> Session:
    """Return a model that reads images: for pictures of the docs that of the demo."""
    if DRAWS:
        return demo_session(lambda _line: None)
    rules = addition(1)
    return Session(Work(rules, str(rules), NeuroSymbolic(by_columns, rules)))


def test_a_digit_is_drawn_and_the_sum_is_seen(tab: Page, serving: Serving) -> None:
    session = digits_session()
    tab.set_viewport_size({"width": 1200, "height": 800})
    go(tab, serving(session), "sample")
    draw(tab, "a_1", (0.25, 0.2), (0.75, 0.2), (0.45, 0.85))
    draw(tab, "a_2", (0.5, 0.15), (0.5, 0.85))
    expect(tab.locator("#panel-sample")).to_have_attribute("data-shown", re.compile("a_2"))
    # Answers come one after the other: the sample and its degrees are read at one moment.
    sample, degrees = tab.evaluate(
        """() => [JSON.parse(document.querySelector("#panel-sample").dataset.shown),
          [...document.querySelectorAll(".outputs [data-attribute=y_1] .degrees")].map(
            (each) => parseFloat(each.textContent))]"""
    )
    model = session.work.model
    assert model is not None
    images = [[sample["inputs"][name]["image"] for name in ("a_1", "a_2")]]
    found = model.predict_possibility(np.array(images, np.uint8))
    assert degrees == rounded(found["y_1"].degrees[0])
    left, right = (tab.get_by_label(part, exact=True) for part in ("inputs", "answers"))
    beside = [box["x"] for part in (left, right) if (box := part.bounding_box())]
    assert beside[0] < 100 < 500 < beside[1]  # side by side in a wide window
    for name in ("a_1", "a_2"):  # what the network reads stands beside the drawing
        expect(tab.get_by_role("combobox", name=name, exact=True)).to_have_value("by degrees")
    picture(tab, "studio-digits")
    tab.get_by_role("button", name="clear a_1").click()
    expect(tab.locator(".outputs .verdict").last).to_contain_text("undecided: no rule decides")
    chooser = tab.get_by_label("a picture of a_1")
    paper = np.full((50, 40), 255, np.uint8)
    paper[5:45, 18:22] = 0
    chooser.set_input_files({"name": "1.png", "mimeType": "image/png", "buffer": png(paper)})
    expect(tab.get_by_alt_text("what is seen of a_1")).to_be_visible()
    chooser.set_input_files({"name": "x.png", "mimeType": "image/png", "buffer": b"no picture"})
    expect(tab.locator("#notices")).to_contain_text("x.png is no picture")


def trained_session() -> Session:
    """Return a model whose reader knows real digits: it asks the nearest ones for their votes."""
    images, labels = digits()
    known = images.reshape(len(images), -1).astype(np.float64)

    def nearest(new: Any) -> Any:
        rows = new.reshape(len(new), -1).astype(np.float64)
        distances = (known**2).sum(axis=1) - 2 * rows @ known.T
        votes = labels[np.argsort(distances, axis=1)[:, :9]]
        shares = (votes[..., None] == np.arange(10)).sum(axis=1) + 0.1
        return shares / shares.sum(axis=1, keepdims=True)

    rules = addition(1)
    return Session(Work(rules, str(rules), NeuroSymbolic(nearest, rules)))


@pytest.mark.parametrize("notice", [False, True])
def test_a_seven_that_a_person_draws_is_read_as_a_seven(
    tab: Page, serving: Serving, notice: bool
) -> None:
    tab.set_viewport_size({"width": 1200, "height": 800})
    answers: list[int] = []
    tab.on("response", lambda response: answers.append(response.status))
    go(tab, serving(trained_session()), "sample")
    pad = tab.get_by_label("draw a_1 here")
    box = pad.bounding_box()
    assert box is not None
    stroke = [(0.25 + 0.05 * i, 0.2) for i in range(11)]
    stroke += [(0.75 - 0.03 * i, 0.2 + 0.065 * i) for i in range(1, 11)]
    points = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in stroke]
    tab.mouse.move(*points[0])
    tab.mouse.down()
    tab.wait_for_timeout(200)  # a pen rests at the start of a stroke: answers come meanwhile
    for x, y in points[1:]:
        tab.mouse.move(x, y)
        tab.wait_for_timeout(20)
        if notice and (x, y) == points[10]:  # something else is told just then: the page moves
            tab.evaluate("document.querySelector('#notices').style.height = '60px'")
    tab.mouse.up()
    expect(tab.get_by_role("group", name="a_1").locator("summary")).to_have_text(
        re.compile("^degrees 7: 1[, ]")
    )
    assert pad.bounding_box() == box | {"y": box["y"] + 60 * notice}
    expect(tab.locator("#notices")).to_be_empty()
    assert set(answers) <= {200, 304}


def test_a_model_that_reads_drawings_opens_on_the_pad(
    tab: Page, serving: Serving, session: Session
) -> None:
    tab.goto(serving(digits_session()))
    expect(tab.get_by_role("tab", name="Sample")).to_have_attribute("aria-selected", "true")
    expect(tab.get_by_label("draw a_1 here")).to_be_in_viewport()
    tab.goto(serving(session))
    expect(tab.get_by_role("tab", name="Rules")).to_have_attribute("aria-selected", "true")


def test_markup_in_names_and_values_is_text(tab: Page, serving: Serving) -> None:
    evil = '<img src=x onerror="window.hit=1"><script>window.hit=1</script>'
    quoted = evil.replace('"', '\\"')
    text = (
        f'attribute `{evil}` in {{"{quoted}", b}}\nattribute `c{evil}` in {{"{quoted}", d}}\n'
        f"if `{evil}` in {{b}} then `c{evil}` in {{d}}"
    )
    session = Session(Work(parse(text), text), title=evil)
    address = serving(session)
    for view in VIEW_NAMES:
        go(tab, address, view)
        expect(tab.locator("#source")).to_have_text(evil)
        assert tab.locator("main script, main img[src=x]").count() == 0
        assert tab.evaluate("window.hit") is None
    # The browser itself refuses what the studio never does.
    other = tab.context.new_page()
    other.goto(address)
    attempt = "try { document.body.innerHTML = '<b>x</b>'; } catch (e) { return e.name; }"
    assert other.evaluate(f"(() => {{ {attempt} }})()") == "TypeError"


def test_a_phone_fits_it(tab: Page, serving: Serving, session: Session) -> None:
    tab.set_viewport_size({"width": 360, "height": 700})
    tab.emulate_media(color_scheme="dark")
    address = serving(session)
    for view in VIEW_NAMES:
        go(tab, address, view)
        assert tab.evaluate("document.documentElement.scrollWidth") <= 360
        expect(tab.locator(f"#panel-{view}")).to_have_css(
            "padding-left", "16px"
        )  # no text at edges
    picture(tab, "studio-phone")


def test_a_browser_keeps_its_access_and_another_gets_none(
    chromium: Browser, tab: Page, serving: Serving, session: Session, rules: Path
) -> None:
    address = serving(session)
    with redirect_file(address) as path:  # as a browser is started
        tab.goto(path.as_uri())
        expect(tab.locator("#panel-rules")).to_have_attribute("data-ready", "true")
    assert "code" not in tab.url
    assert tab.context.cookies() == []
    tab.reload()
    expect(tab.locator("#panel-rules")).to_have_attribute("data-ready", "true")
    second = tab.context.new_page()
    for again in (address, address.partition("?")[0]):  # the code is spent, and needed no more
        second.goto(again)
        expect(second.locator("#panel-rules")).to_have_attribute("data-ready", "true")
    # Another browser, or what another port of the machine serves, has nothing to show.
    stranger = chromium.new_context().new_page()
    stranger.goto(address)
    expect(stranger.locator("#notices")).to_contain_text("has no access to the studio")
    expect(stranger.get_by_role("tab")).to_have_count(0)
    stranger.context.close()
    other = serving(Session.open(rules))
    neighbour = tab.context.new_page()
    neighbour.goto(other.partition("?")[0])
    expect(neighbour.locator("#notices")).to_contain_text("has no access to the studio")
    assert neighbour.evaluate("localStorage.length") == 0
    neighbour.goto(other)
    expect(neighbour.locator("#panel-rules")).to_have_attribute("data-ready", "true")


def test_tabs_work_by_keyboard_and_the_code_leaves_the_address(
    tab: Page, serving: Serving, session: Session
) -> None:
    tab.goto(serving(session))
    first = tab.get_by_role("tab", name="Rules")
    expect(first).to_have_attribute("aria-selected", "true")
    assert "code" not in tab.url
    first.focus()
    tab.keyboard.press("ArrowRight")
    second = tab.get_by_role("tab", name="Sample")
    expect(second).to_be_focused()
    expect(second).to_have_attribute("aria-selected", "true")
    expect(tab.locator("#panel-sample")).to_have_attribute("data-ready", "true")
    expect(tab.locator("#panel-rules")).to_be_hidden()
    tab.reload()
    expect(second).to_have_attribute("aria-selected", "true")


def test_a_change_on_disk_is_told(
    tab: Page, serving: Serving, session: Session, rules: Path
) -> None:
    tab.goto(serving(session))
    expect(tab.locator("#source")).to_have_text("sail.rules · days.jsonl: 3 rows")
    touch(rules, rules.read_text().replace("0.25", "0.5"))
    tab.get_by_role("button", name="Load again").click()
    expect(tab.get_by_role("button", name="Undo")).to_be_visible()
    assert "0.5" in session.work.text
