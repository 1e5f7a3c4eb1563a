"""What notebooks show, in a real browser: light and dark, live, and with markup in names."""

from importlib import import_module
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect

from browser import picture
from common.test_views import EVIL as EVIL_NAME
from common.test_views import THINGS
from pinesy import Attribute, Cascade, Iff, RuleSet, explain, parse, what_if
from pinesy.problems import addition

EVIL = "<img src=x onerror=alert(1)>"
SCRIPT = Path(str(import_module("pinesy.explanations.what_if").__file__)).with_suffix(".js")
DIGITS = {"a_1": 3, "a_2": {4: 1.0, 9: 0.3}}
PAGE = (
    "<!doctype html><meta charset=utf-8><style>:root {{ color-scheme: light dark }} "
    "body {{ font: 14px sans-serif }}</style><body>{}"
)
GLUCOSE = """
attribute action in {breakfast, dinner, lunch, sport}
attribute current in {low, medium, high}
attribute future in {low, medium, high}
if action in {lunch, dinner} and current in {medium, high} then future in {high}
if action in {sport} and current in {low, medium} then future in {low} [s=0.7, r=0]
if action in {breakfast} and current in {low, medium} then future in {low, medium}
"""


def test_snippets_take_the_colours_of_a_dark_page_and_run_nothing(tab: Page) -> None:
    tab.on("dialog", lambda dialog: dialog.dismiss())
    tab.emulate_media(color_scheme="dark")
    tab.set_content(PAGE.format("".join(thing()._repr_html_() for thing in THINGS.values())))
    assert tab.locator("img, script, iframe").count() == 0
    assert tab.get_by_text(EVIL_NAME).first.inner_text()
    colours = tab.evaluate("""() => [...document.querySelectorAll("td, th, summary, pre, code")]
        .flatMap((e) => [getComputedStyle(e).color, getComputedStyle(e).backgroundColor])""")
    own = tab.evaluate("getComputedStyle(document.body).color")
    assert set(colours) == {own, "rgba(0, 0, 0, 0)"}


def test_a_picture_of_a_notebook(tab: Page) -> None:
    rules = parse(GLUCOSE)
    seen = {"action": "lunch", "current": {"low": 0.3, "medium": 1.0}}
    things: list[Any] = [rules, rules["future"], rules.infer(seen), explain(rules, seen)]
    tab.set_viewport_size({"width": 900, "height": 810})
    tab.emulate_media(color_scheme="dark")
    tab.set_content(PAGE.format("<hr>".join(one._repr_html_() for one in things)))
    widths = tab.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert widths[0] <= widths[1]  # what is wide scrolls in its own place
    picture(tab, "notebook-dark")


# --- the live widget -----------------------------------------------------------------------------

#: Shows a widget as anywidget does; what is saved goes to Python, and what that says comes back.
HOST = """async ([script, state]) => {
  const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  const { default: widget } = await import(url);
  const listeners = {};
  const model = {
    get: (name) => state[name],
    set: (name, value) => { state[name] = value; listeners[`change:${name}`]?.(); },
    on: (event, listener) => { listeners[event] = listener; },
    off: (event) => { delete listeners[event]; },
    save_changes: async () => {
      const said = await window.python(state.degrees);
      for (const [name, value] of Object.entries(said)) model.set(name, value);
    },
  };
  window.clean = widget.render({ model, el: document.body });
  window.left = () => Object.keys(listeners).length;
}"""


def shown(tab: Page, live: Any) -> None:
    """Show a widget in a tab, with Python behind it."""

    def python(degrees: list[list[float]]) -> dict[str, Any]:
        live.widget.degrees = degrees
        return {"results": live.widget.results, "problem": live.widget.problem}

    tab.expose_function("python", python)
    tab.set_viewport_size({"width": 480, "height": 340})
    tab.set_content(PAGE.format(""))
    state = {n: getattr(live.widget, n) for n in ("inputs", "degrees", "results", "problem")}
    tab.evaluate(HOST, [SCRIPT.read_text(encoding="utf-8"), state])


def sees(tab: Page, place: int, degrees: str) -> None:
    """Wait until a value of the first result has these degrees."""
    row = tab.locator(".pinesy-result").first.locator("tr").nth(place)
    expect(row.locator("td").last).to_have_text(degrees)


def test_inputs_are_chosen_and_moved_in_a_page(tab: Page) -> None:
    live = what_if(addition(1), DIGITS)
    shown(tab, live)
    sees(tab, 7, "1 / 0.7")
    tab.get_by_role("combobox", name="a_1").select_option("5")
    sees(tab, 9, "1 / 0.7")
    assert live.result["y_1"].best == 9
    tab.locator("summary").nth(1).click()
    tab.get_by_role("slider", name="a_2 = 9").focus()
    for _ in range(5):
        tab.keyboard.press("ArrowRight")
    sees(tab, 4, "0.35 / 0")
    assert live.evidence["a_2"][9] == 0.35
    picture(tab, "what-if")
    tab.get_by_role("combobox", name="a_1").select_option("unknown")
    sees(tab, 4, "1 / 0")
    assert live.evidence["a_1"][0] == 1.0
    tab.evaluate("window.clean()")
    assert tab.evaluate("window.left()") == 0


def test_problems_and_names_with_markup_are_shown_as_text(tab: Page) -> None:
    rain, grass = Attribute(f"rain{EVIL}", [EVIL, "no"]), Attribute(f"grass{EVIL}", [EVIL, "dry"])
    rules = Cascade(RuleSet([Iff(rain.isin({EVIL})).then(grass.isin({EVIL}))]))
    shown(tab, what_if(rules, {rain.name: EVIL}))
    assert tab.locator("img").count() == 0
    assert tab.locator("b").all_inner_texts() == [rain.name, grass.name]
    tab.locator("summary").click()
    slider = tab.get_by_role("slider").first
    slider.focus()
    tab.keyboard.press("ArrowLeft")
    tab.get_by_role("alert").get_by_text("not normalised").wait_for()
