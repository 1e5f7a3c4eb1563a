"""What must hold of every page on every screen: checks for tests in a real browser."""

from collections.abc import Callable

from playwright.sync_api import Page

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
SCREENS = [(1400, "light"), (1400, "dark"), (900, "light"), (390, "light"), (390, "dark")]


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


def assert_fits_all_screens(page: Page, settle: Callable[[], object] = lambda: None) -> None:
    """Check a page with all widths and themes; `settle` waits for what it shows."""
    for width, theme in SCREENS:
        page.set_viewport_size({"width": width, "height": 844})
        page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
        settle()
        page.wait_for_timeout(100)  # edges are drawn anew, bars move
        assert problems_of(page) == [], f"{width} px, {theme}"
        if width > 760:
            assert edges_of(page) > 0
