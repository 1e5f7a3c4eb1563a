"""Derivations of relational rules in notebooks, and their picture."""

from pinesy.display.boxes import Box, drawing
from pinesy.display.markup import Markup, lines_of
from pinesy.relations.derivation import Derivation, Why

#: Steps that are drawn.
MAX_BOXES = 60
LEGEND = ("Orange: the weakest link, whose certainty the conclusion has.",)


def derivation_svg(why: Why) -> Markup:
    """Return the picture of a derivation: the conclusion on the left, facts on the right."""
    weakest = {*why.weakest}
    boxes: dict[int, Box] = {}
    steps = [] if why.derivation is None else [step for _, step in why.derivation.steps()]
    for step in steps[:MAX_BOXES]:
        boxes[id(step)] = _box(why, step, weakest, is_root=step is why.derivation)
    for step in steps[:MAX_BOXES]:
        children = [boxes[id(p)] for p in step.premises if id(p) in boxes]
        boxes[id(step)].children.extend(children)
        omitted = len(step.premises) - len(children)
        if omitted:
            boxes[id(step)].children.append(Box("more", f"and {omitted} more"))
    root = boxes[id(steps[0])] if steps else Box("result", why.literal, ("nothing speaks for it",))
    return drawing(root, f"Why {why.literal}", why.text(), LEGEND if steps else ())


def _box(why: Why, step: Derivation, weakest: set[str], is_root: bool) -> Box:
    source = step.note if step.rule is None else f"rule {why._numbers[step.rule]}"
    is_weakest = source in weakest or (step.rule is None and step.text in weakest)
    plain = "result" if is_root else "value" if step.rule is not None else "input"
    tooltip = str(step.rule) if step.rule is not None else step.text
    texts = (f"certain {step.certain:.6g}, {source}",)
    return Box("certain" if is_weakest else plain, step.text, texts, tooltip)  # type: ignore[arg-type]


def derivation_html(why: Why) -> Markup:
    """Return the answer in words, and the picture."""
    sentences = "\n".join([why.answer, *(f"{q}: {s}" for q, s in why.questions().items())])
    return lines_of(sentences) + (derivation_svg(why) if why.derivation else "")
