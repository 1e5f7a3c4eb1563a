"""Reads pictures of explanations: their boxes, frames and texts."""

import re
from typing import Any
from xml.etree import ElementTree

from pinesy.display.boxes import Box, Font, text_width
from pinesy.display.explanation_picture import BoxMaker
from pinesy.explanations import Explanation

SVG = "{http://www.w3.org/2000/svg}"


def boxes(root: Box) -> list[Box]:
    found = [root]
    for box in found:
        found += [c for c in box.children if c not in found]
    return found


def shown(explanation: Explanation, **limits: Any) -> list[Box]:
    bounds = {"depth": explanation.depth, "limit": 3, "nodes": 60} | limits
    return boxes(BoxMaker(explanation, **bounds, images={}).root())


def texts(svg: str) -> list[str]:
    return [t.text or "" for t in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def frames(svg: str) -> list[tuple[float, float, float, float]]:
    """Return left, top, right and bottom of all boxes as the SVG has them."""
    found = []
    outer = ElementTree.fromstring(svg).find(f"{SVG}g")
    assert outer is not None
    for group in outer.findall(f"{SVG}g"):
        x, y = map(float, re.findall(r"-?[\d.]+", group.get("transform", "")))
        frame = group.find(f"{SVG}rect")
        assert frame is not None
        found.append((x, y, x + float(frame.get("width", 0)), y + float(frame.get("height", 0))))
    return found


def overflowing(svg: str) -> list[str]:
    """Return the texts, bars and images that are not whole within their box."""
    outer = ElementTree.fromstring(svg).find(f"{SVG}g")
    assert outer is not None
    found = []
    for group in outer.findall(f"{SVG}g"):
        frame = group.find(f"{SVG}rect")
        assert frame is not None
        size = float(frame.get("width", 0)), float(frame.get("height", 0))
        found += [one for part in group.findall(f"{SVG}g") for one in _outside(part, size, 0, 0)]
    return found


def _outside(part: Any, size: tuple[float, float], x: float, y: float) -> list[str]:
    left, top = map(float, re.findall(r"-?[\d.]+", part.get("transform", "translate(0 0)")))
    found = []
    for one in part:
        if one.tag == f"{SVG}g":
            found += _outside(one, size, x + left, y + top)
            continue
        right, bottom = x + left + float(one.get("x", 0)), y + top + float(one.get("y", 0))
        if one.tag == f"{SVG}text":
            right += text_width(one.text or "", font_of(one))
        else:
            right, bottom = right + float(one.get("width", 0)), bottom + float(one.get("height", 0))
        if right > size[0] or bottom > size[1]:
            found.append(f"{one.tag}: {one.text}")
    return found


def font_of(text: Any) -> Font:
    return Font(float(text.get("font-size", 0)), bold=text.get("font-weight") == "bold")


def apart(one: Any, other: Any) -> bool:
    return bool(one[2] < other[0] or other[2] < one[0] or one[3] < other[1] or other[3] < one[1])
