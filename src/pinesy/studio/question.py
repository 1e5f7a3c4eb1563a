"""A sample as the page holds it, and the attribute and value that are asked about, as objects.

The page holds ``{"row": 3, "inputs": {name: content}}``: a row of the data, or none, and what was
set since. The content of an input is that of `input_content`, or ``{"image": [[...], ...]}`` (grey
levels 0 to 255, for the perception of a model). Inputs without content are unknown.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy._common.validation import FloatArray, check_integer, check_number
from pinesy.exceptions import DataError, placed
from pinesy.model.neurosymbolic import NeuroSymbolic
from pinesy.model.perceptions import RawSamples, View, views_of
from pinesy.rulebase.cascade import Cascade
from pinesy.rules.attributes import Attribute
from pinesy.studio.session import Payload, Session
from pinesy.transforms import as_transform

Image = npt.NDArray[np.uint8]
#: Pixels of an image along a side, at most.
MOST_PIXELS = 1024


def read_sample(session: Session, sample: object) -> tuple[dict[str, Any], dict[str, Image]]:
    """Return the evidence on all inputs of a sample from the page, and images by input.

    Images were drawn, or are those of the row of the data.
    """
    inputs = {a.name: a for a in session.work.rules.inputs}
    if not isinstance(sample, Mapping):
        raise DataError("a sample is an object with row and inputs")
    row, contents = sample.get("row"), sample.get("inputs") or {}
    if row is not None and type(row) is not int:
        raise DataError(f"a row is a number from 0 on; got {row!r:.60}")
    if not isinstance(contents, Mapping):
        raise DataError("the inputs of a sample are an object")
    for name in contents:
        if name not in inputs:
            raise DataError(f"there is no input {name!r:.60}: the rules have changed")
    evidence: dict[str, Any] = dict.fromkeys(inputs)
    images: dict[str, Image] = {}
    if row is not None:
        evidence |= session.rows.sample(row)
        stored = session.rows.images.items()
        images = {name: rows[row] for name, rows in stored if name not in contents}
    drawn = {}
    for name, content in contents.items():
        with placed(name):
            if isinstance(content, Mapping) and "image" in content:
                drawn[name] = image_of(content["image"])
            else:
                evidence[name] = _input_evidence(inputs[name], content)
    return evidence | perceive(session.work.model, drawn, inputs), images | drawn


def _input_evidence(attribute: Attribute, content: object) -> Any:
    """Return the evidence on an input from the page."""
    if content in ({}, None):
        return None
    items = content.items() if isinstance(content, dict) else ()
    kind, value = next(iter(items), ("", None))
    if kind == "value" and type(value) is int and 0 <= value < len(attribute.domain):
        return attribute.domain[value]
    if kind == "number" and isinstance(value, int | float) and attribute.scale is not None:
        return float(value)
    if kind == "degrees" and isinstance(value, list):
        return value  # inference checks what is in it
    raise DataError(f"{content!r:.60} is not in its domain, nor a distribution on it")


def image_of(content: object) -> Image:
    """Return an image from the page, checked."""
    try:
        image = np.asarray(content, dtype=np.float64)
    except (OverflowError, TypeError, ValueError):
        raise DataError("an image is a list of rows of grey levels") from None
    if image.ndim != 2 or not image.size or max(image.shape) > MOST_PIXELS:
        raise DataError(f"an image has rows of grey levels; got shape {image.shape}")
    if not ((image >= 0) & (image <= 255)).all():
        raise DataError("grey levels are from 0 (paper) to 255 (ink)")
    return np.rint(image).astype(np.uint8)


def perceive(
    model: NeuroSymbolic | None, images: Mapping[str, Image], inputs: Mapping[str, Attribute]
) -> dict[str, list[float]]:
    """Return the possibilities of inputs from images, by the perceptions of a model."""
    if not images:
        return {}
    if model is None:
        raise DataError("these rules have no network that reads images")
    pictured = tuple(a for a in inputs.values() if a.name in images)
    samples = RawSamples.of({n: image[None] for n, image in images.items()}, pictured)
    transform = as_transform(model.transform)
    degrees: dict[str, FloatArray] = {}
    for view in views_of(model.perception, tuple(inputs.values())):
        attributes = tuple(a for a in view.attributes if a.name in images)
        if attributes:
            degrees |= View(view.perception, attributes).perceive(samples, transform)
    return {name: rows[0].tolist() for name, rows in degrees.items()}


def output_named(rules: Cascade, name: object) -> Attribute:
    """Return the attribute with a name, which rules conclude on; for null the first output."""
    if name is None:
        return rules.outputs[0]
    if not isinstance(name, str) or name not in rules.sets:
        raise DataError(f"the rules conclude on no attribute {name!r:.60}")
    return rules.sets[name].output


def value_index(attribute: Attribute, index: object) -> int:
    """Return the index of a value in a domain, checked."""
    checked = check_integer(index, f"a place in {attribute.name}", error=DataError)
    if checked >= len(attribute.domain):
        raise DataError(f"{attribute.name} has {len(attribute.domain)} values; got place {checked}")
    return checked


def level_of(payload: Payload) -> float:
    """Return the level in a payload, 0.95 by default."""
    return check_number(payload.get("level", 0.95), "the level", 0.0, 1.0, DataError)
