"""What must hold of the studio and of every page, in a real browser.

Each check returns what is wrong, so that tests can see it fail on broken copies too.
"""

from collections.abc import Callable

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect

#: Texts below 12 px, also those of pictures that are scaled.
SMALL = """() => [...document.querySelectorAll('body *')]
  .filter((e) => e.checkVisibility() && e.tagName !== 'OPTION')
  .filter((e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim()))
  .filter((e) => {
    const svg = e.ownerSVGElement;
    const box = svg?.viewBox.baseVal;
    const scale = box?.width ? svg.getBoundingClientRect().width / box.width : 1;
    return parseFloat(getComputedStyle(e).fontSize) * scale < 11.9;
  }).map((e) => e.textContent.slice(0, 40))"""
#: Texts whose contrast with the nearest opaque ground is below 4.5:1.
CONTRAST = """() => {
  const channel = (v) => ((v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const colour = (text) => {  // "rgb(12, 34, 56)" or "color(srgb 0.1 0.2 0.3)"
    const scale = text.startsWith('color(') ? 255 : 1;
    return (text.match(/[\\d.]+/g) ?? []).map((v, i) => (i < 3 ? scale : 1) * Number(v));
  };
  const ground = (e) => {
    for (; e; e = e.parentElement) {
      const found = colour(getComputedStyle(e).backgroundColor);
      if (found.length === 3 || found[3] > 0.99) return found;
    }
    return [255, 255, 255];
  };
  return [...document.querySelectorAll('body *:not(script):not(option)')]
    .filter((e) => e.checkVisibility() && !e.closest(':disabled, [aria-busy="true"]'))
    .filter((e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim()))
    .map((e) => {
      const [a, b] = [light(colour(getComputedStyle(e).color)), light(ground(e))];
      return [(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), e.textContent.trim().slice(0, 40)];
    })
    .filter(([ratio]) => ratio < 4.5).map(([ratio, text]) => `${ratio.toFixed(2)} ${text}`);
}"""
#: Edges that pass behind a card, and how many edges there are.
BEHIND = """() => {
  let behind = 0;
  let edges = 0;
  for (const host of document.querySelectorAll('.layers')) {
    if (!host.checkVisibility() || !host.querySelector('svg').checkVisibility()) continue;
    const frame = host.getBoundingClientRect();
    const boxes = [...host.querySelectorAll('.node')].map((card) => card.getBoundingClientRect());
    for (const path of host.querySelectorAll('path')) {
      edges += 1;
      const length = path.getTotalLength();
      const points = Array.from({ length: 39 }, (_, i) => {
        const { x, y } = path.getPointAtLength((length * (i + 1)) / 40);
        return [x + frame.left, y + frame.top];
      });
      const hits = (b) => points.some(([x, y]) =>
        x > b.left + 2 && x < b.right - 2 && y > b.top + 2 && y < b.bottom - 2);
      if (boxes.some(hits)) behind += 1;
    }
  }
  return [behind, edges];
}"""
SIDEWAYS = "document.documentElement.scrollWidth > innerWidth"
#: Widths in px and themes that every view is looked at with.
SCREENS = [(width, theme) for width in (1400, 900, 390) for theme in ("light", "dark")]
#: Milliseconds in which what a person does is answered, on a busy machine.
ANSWERED = 5_000
START = "Draw two digits"


def problems_of(page: Page) -> list[str]:
    """Return what is wrong with what a page shows now."""
    problems = []
    if page.evaluate(SIDEWAYS):
        problems.append("it scrolls sideways")
    problems += [f"small: {text}" for text in page.evaluate(SMALL)]
    problems += [f"contrast: {text}" for text in page.evaluate(CONTRAST)]
    behind, _ = page.evaluate(BEHIND)
    if behind:
        problems.append(f"{behind} edges behind cards")
    return problems


def edges_of(page: Page) -> int:
    """Return how many edges the pictures of a page have."""
    _, edges = page.evaluate(BEHIND)
    return int(edges)


def axe_problems(page: Page) -> list[str]:
    """Return the violations that axe-core finds in what a page shows now."""
    found = Axe().run(page).response["violations"]
    return [f"axe: {rule['id']}: {node['html'][:120]}" for rule in found for node in rule["nodes"]]


def assert_fits_all_screens(
    page: Page, settle: Callable[[], object] = lambda: None, least_edges: int = 1
) -> None:
    """Check a page with all widths and themes; `settle` waits for what it shows."""
    for width, theme in SCREENS:
        page.set_viewport_size({"width": width, "height": 844})
        page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
        settle()
        page.wait_for_timeout(60)  # edges are drawn anew, bars move
        assert problems_of(page) == [], f"{width} px, {theme}"
        if width != 900:
            assert axe_problems(page) == [], f"{width} px, {theme}"
        if width > 760:
            assert edges_of(page) >= least_edges


# --- what a person does ---------------------------------------------------------------------------


def stroke(page: Page, pad: Locator, *points: tuple[float, float]) -> None:
    """Begin a line on a pad; points are shares of its sides. The pen stays down."""
    box = pad.bounding_box()
    assert box is not None
    first, *others = [
        (box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in points
    ]
    page.mouse.move(*first)
    page.mouse.down()
    for point in others:
        page.mouse.move(*point, steps=4)


def stroke_problems(page: Page, pad: Locator, patience: float = ANSWERED) -> list[str]:
    """Draw the first stroke on a fresh pad; return whether no answer comes, or the pad moves."""
    problems, before = [], pad.bounding_box()
    stroke(page, pad, (0.3, 0.2), (0.35, 0.8))
    value = page.locator(".verdict .value")
    try:
        expect(value).not_to_have_text(START, timeout=patience)  # while the pen is down
    except AssertionError:
        problems.append("the first stroke is lost")
    if pad.bounding_box() != before:
        problems.append("the pad moves while one draws")
    page.mouse.up()
    if not problems:
        expect(page.locator(".reading").first.locator(".bar")).to_have_count(3)
        if pad.bounding_box() != before:
            problems.append("the pad moves by what is read")
    return problems


def notice_problems(page: Page) -> list[str]:
    """Ask for a row that is not there; return what the notice about it moves."""

    def shape() -> object:
        height = page.evaluate("document.documentElement.scrollHeight")
        return page.locator(".verdict").bounding_box(), height

    field = page.get_by_label("row, by its id or number")
    unknown = "nobody" if field.input_value() != "nobody" else "no one"
    before = shape()
    field.fill(unknown)
    field.press("Enter")
    notice = page.locator(".notice.error")
    expect(notice).to_contain_text(f"no row has the id '{unknown}'")
    problems = [] if shape() == before else ["a notice moves the page"]
    notice.get_by_role("button", name="close").click()
    return problems


def keyboard_problems(page: Page, value: str, patience: float = ANSWERED) -> list[str]:
    """Use tabs and ask why not a value, by keys alone; return what does not follow."""
    problems = []
    page.locator("#tab-ask").focus()
    page.keyboard.press("ArrowRight")
    if page.evaluate("document.activeElement.id") != "tab-rules":
        problems.append("an arrow does not choose the next tab")
    page.locator("#tab-ask").click()
    row = page.locator(f".values button[aria-label^='{value}:']")
    row.focus()
    page.keyboard.press("Enter")
    try:
        expect(page.locator(".why h2")).to_have_text(f"Why not {value}?", timeout=patience)
    except AssertionError:
        return [*problems, "Enter does not ask why not"]
    try:
        expect(row).to_be_focused(timeout=patience)
    except AssertionError:
        problems.append("the focus is lost when the answer is written")
    page.get_by_role("button", name="Back to the answer").click()
    expect(page.locator(".why h2")).not_to_have_text(f"Why not {value}?")
    return problems
