"""Rules and samples as the plain data that the page's JavaScript reads (`web/engine.js`).

Rule sets that differ only in names and parameters share one *shape*, for explanations, and those of
one structure share their compiled steps (`page_steps`), for inference. A subset of a domain is a
string of hexadecimal digits, the first digit for the first four values. Numbers are written with
all digits, so inference in the page is equal to inference here bit for bit.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np

from pinesy._common.names import column_slices, name_of
from pinesy._common.validation import FloatArray, check_distributions, check_known
from pinesy.engine.rule_set_kinds import RuleSetStructure
from pinesy.evidence.evidence_form import Evidence, evidence_rows
from pinesy.evidence.unseen_values import without_unseen
from pinesy.exceptions import DataError, placed
from pinesy.exchange.page_steps import mask_digits, structure_steps
from pinesy.explanations import is_coherent
from pinesy.induction.points_cascade import card_of
from pinesy.induction.score_card import ScoreCard
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.readable_rules import equation_of, is_inner
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rulebase.rules_json import title_content
from pinesy.rules.attributes import Attribute
from pinesy.rules.cut_texts import bound_number
from pinesy.rules.possibility import Possibility
from pinesy.rules.propositions import Proposition
from pinesy.samples import Batch, evidence_of, value_texts
from pinesy.semantics.factors import leaves_a_value

#: The maximum number of memberships: of values in propositions, and of cells in conclusions.
MAX_MEMBERSHIPS = 1 << 25
#: The maximum number of attributes between inputs and outputs that can be asked about.
MAX_QUESTIONS = 50
#: The maximum number of values of all attributes.
MAX_VALUES = 500_000


class NumberedTexts(dict[Any, int]):
    """Distinct keys, numbered in the order of their first use."""

    def number(self, key: Any) -> int:
        """Return the number of a key; a new key gets the next number."""
        return self.setdefault(key, len(self))


def rules_data(cascade: Cascade) -> dict[str, Any]:
    """Return the rules as plain data, or raise `DataError` if they are too large for a page.

    The keys: `domains`, lists of names of values; `attributes`, the inputs first, then those that
    rules conclude on in an order of inference; `shapes`, `programs` and `sets` (see `_shape`,
    `structure_steps` and `_set_data`; `first` is the number of the first rule in the rule base, of
    a formula that of the rule that it stands in); `outputs`, the indices of the attributes that no
    premise uses; `questions`, what can be asked about (see `_question`); of induced rules `card`
    (see `_card`).
    """
    attributes = [*cascade.inputs, *(cascade.attributes[name] for name in cascade.sets)]
    _check_size(cascade, attributes)
    index = {a.name: i for i, a in enumerate(attributes)}
    domains, shapes, structures = NumberedTexts(), NumberedTexts(), NumberedTexts()
    described = [attribute_data(a, domains.number(tuple(value_texts(a)))) for a in attributes]
    for attribute, content in zip(attributes, described, strict=True):
        if attribute.factors:
            content["factors"] = [
                attribute_data(factor, domains.number(tuple(value_texts(factor))))
                for factor in attribute.factors
            ]
    sets, programs = [], []
    for rule_set in cascade.order:
        structure = rule_set.unit.structure(set())
        propositions = NumberedTexts()
        premises = tuple(tuple(map(propositions.number, p)) for p in structure.premises)
        if structure not in structures:
            programs.append(structure_steps(structure, propositions, rule_set.output.name))
        sets.append(
            _set_data(rule_set, index, leaves_a_value(rule_set.unit))
            | {
                "shape": shapes.number(_shape(structure, propositions, premises)),
                "program": structures.number(structure),
                "first": cascade.rule_number(rule_set.output.name, 0),
            }
        )
    card = card_of(cascade)
    return {
        "domains": list(domains),
        "attributes": described,
        "shapes": [dict(shape) for shape in shapes],
        "programs": programs,
        "sets": sets,
        "outputs": [index[a.name] for a in cascade.outputs],
        "questions": [_question(cascade, a, index) for a in questions_of(cascade)],
        **({} if card is None else {"card": _card(card, index)}),
    }


def questions_of(cascade: Cascade) -> list[Attribute]:
    """Return the attributes to ask about: the outputs, then others that readers name."""
    outputs = list(cascade.outputs)
    if card_of(cascade) is not None:  # the others add and compare points
        return outputs
    between = [s.output for s in reversed(cascade.order) if s.output not in outputs]
    visible = (a for a in between if not is_inner(a, cascade.attributes))
    return [*outputs, *islice(visible, MAX_QUESTIONS)]


def _question(cascade: Cascade, attribute: Attribute, index: dict[str, int]) -> dict[str, Any]:
    """Return what the page needs to answer as Python does.

    `coherent` is whether rules cannot contradict each other, `instructions` the size of the
    program, by which searches are limited.
    """
    return {
        "attribute": index[attribute.name],
        "coherent": is_coherent(cascade, attribute),
        "instructions": len(cascade.compile([attribute]).code.ops),
    }


def _check_size(cascade: Cascade, attributes: Iterable[Attribute]) -> None:
    values = sum(len(a.domain) for a in attributes)
    if values > MAX_VALUES:
        raise DataError(
            f"the attributes have {values:,} values; a page takes at most {MAX_VALUES:,}"
        )
    memberships = sum(
        len(s.output.domain) * len(s.rules)
        + sum(len(p.attribute.domain) for rule in s.rules for p in rule.premise.propositions)
        for s in cascade.order
    )
    if memberships > MAX_MEMBERSHIPS:
        raise DataError(
            f"the rules have {memberships:,} memberships (of values in propositions); a page takes "
            f"at most {MAX_MEMBERSHIPS:,}"
        )


def attribute_data(attribute: Attribute, domain: int) -> dict[str, Any]:
    """Return an attribute as plain data; a numeric one with its cuts, their limits and its blur."""
    content: dict[str, Any] = {"name": attribute.name, "domain": domain, **title_content(attribute)}
    if attribute.formula is not None:
        content["formula"] = attribute.formula
    if all(type(value) is int for value in attribute.domain):
        content["integers"] = True
    if attribute.scale is not None:
        cuts = attribute.scale.cuts
        content["scale"] = {
            "cuts": list(cuts),
            "limits": [float(bound_number(cut)) for cut in cuts],
            "blur": attribute.scale.blur,
            "named": bool(attribute.scale.names),
        }
    return content


def _shape(
    structure: RuleSetStructure,
    propositions: Iterable[tuple[int, int]],
    premises: tuple[tuple[int, ...], ...],
) -> tuple[tuple[str, Any], ...]:
    """Return the part of a rule set that does not depend on names and parameters.

    `propositions`, the distinct ones as pairs (input, subset); `premises`, for each rule the
    indices of its propositions; `conclusions`, subsets; `sizes`, of the domains of inputs and
    output.
    """
    return (
        ("propositions", tuple((index, mask_digits(mask)) for index, mask in propositions)),
        ("premises", premises),
        ("conclusions", tuple(map(mask_digits, structure.conclusions))),
        ("sizes", (*structure.sizes, structure.output_size)),
    )


def _set_data(rule_set: RuleSet, index: dict[str, int], coherent: bool) -> dict[str, Any]:
    """Return a rule set as plain data: its attributes, parameters, and texts if any.

    `coherent` is whether some value of the output is known to have possibility 1 for all inputs;
    `equation` of a function has texts and attributes.
    """
    content: dict[str, Any] = {
        "output": index[rule_set.output.name],
        "inputs": [index[a.name] for a in rule_set.inputs],
        "s": _single_or_list([rule.s for rule in rule_set.rules]),
        "r": _single_or_list([rule.r for rule in rule_set.rules]),
        "coherent": coherent,
    }
    distinct = {
        (p.attribute.name, p.mask): p for rule in rule_set.rules for p in rule.premise.propositions
    }
    texts = [_special_text(p) for p in distinct.values()]
    conclusions = [_special_text(rule.conclusion) for rule in rule_set.rules]
    if any(texts):
        content["texts"] = texts
    if any(conclusions):
        content["conclusions"] = conclusions
    conditions = [p.condition for p in distinct.values()]
    if any(conditions):
        content["conditions"] = conditions
    equation = equation_of(rule_set)
    if equation is not None and all(factor.name in index for factor in equation.factors):
        factors = [index[factor.name] for factor in equation.factors]
        content["equation"] = {"parts": equation.parts, "factors": factors}
    return content


def _card(card: ScoreCard, index: dict[str, int]) -> dict[str, Any]:
    """Return a score card: its lines on `conditions`, the distinct ones as (attribute, subset).

    A line is (conditions, class, points, undetermined points, text, record), a rule of the
    user (conditions, subset of classes, s, r).
    """
    numbers = NumberedTexts()

    def conditions(propositions: Iterable[Proposition]) -> list[int]:
        keys = ((index[p.attribute.name], mask_digits(p.mask)) for p in propositions)
        return [numbers.number(key) for key in keys]

    lines = [
        [
            conditions(line.conditions),
            card.output.position(line.value),
            line.points,
            line.undetermined,
            line.premise,
            line.record,
        ]
        for line in card.lines
    ]
    user_rules = [
        [conditions(r.premise.propositions), mask_digits(r.conclusion.mask), r.s, r.r]
        for r in card.user_rules
    ]
    return {
        "output": index[card.output.name],
        "levels": list(card.levels),
        "start": [*card.start.values()],
        "conditions": list(numbers),
        "lines": lines,
        "userRules": user_rules,
    }


def _single_or_list(numbers: Sequence[float]) -> float | list[float]:
    """Return a list of numbers, or the number if all are equal."""
    return numbers[0] if len(set(numbers)) == 1 else list(numbers)


def _special_text(proposition: Proposition) -> str | None:
    """Return the text of a proposition with a condition, formula or scale; None for others.

    One that begins with a space continues the name of the attribute.
    """
    attribute = proposition.attribute
    if not (proposition.condition or attribute.formula or attribute.scale):
        return None
    text = " ".join(str(proposition).split())
    return text.removeprefix(attribute.name) if text.startswith(f"{attribute.name} ") else text


# --- samples -------------------------------------------------------------------------------------


def samples_data(
    cascade: Cascade, batch: Batch, titles: Sequence[str], images: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Return samples as plain data; for each input its `input_content`.

    Parameters
    ----------
    batch : samples with evidence on all inputs
    titles : the titles of the samples
    images : arrays (n_samples, height, width) by the names of inputs
    """
    from pinesy.display.images import data_uri

    checked = _images_by_index(cascade, images, len(batch))
    numbers = {n: np.where(np.isfinite(x), x, np.nan) for n, x in batch.numbers.items()}
    batch = replace(batch, numbers=numbers)
    samples: list[dict[str, Any]] = []
    for row, title in enumerate(titles):
        evidence = evidence_of(batch, row, cascade.inputs)
        contents = [input_content(a, evidence[a.name]) for a in cascade.inputs]
        samples.append({"title": title, "inputs": contents})
        if checked:
            with placed(f"image {row + 1}"):
                samples[-1]["images"] = {i: data_uri(rows[row]) for i, rows in checked.items()}
    return samples


def input_content(attribute: Attribute, evidence: Any) -> dict[str, Any]:
    """Return the evidence on an input as plain data.

    That is ``{"value": i}`` (an index of the domain), ``{"number": x}`` (of a numeric attribute),
    ``{"degrees": [...]}`` (of all values) or ``{}`` (unknown).
    """
    if evidence is None and None not in attribute:
        return {}
    if isinstance(evidence, Possibility):
        return {"degrees": evidence.degrees.tolist()}
    if attribute.scale is not None and isinstance(evidence, float):
        return {"number": evidence}
    return {"value": attribute.position(evidence)}


def titles_of(batch: Batch) -> list[str]:
    """Return the titles of samples of a file: their lines, with their ids."""
    texts = (", ".join(map(str, batch.ids_of(row).values())) for row in range(len(batch)))
    return [
        f"{line}: {ids}" if ids else f"{line}" for line, ids in zip(batch.lines, texts, strict=True)
    ]


def evidence_batch(cascade: Cascade, evidence: Evidence) -> Batch:
    """Return samples that a program has at hand, checked."""
    if card_of(cascade) is not None:
        evidence = without_unseen(evidence, cascade.inputs, cascade.attributes)
    rows = evidence_rows(cascade, evidence)
    degrees: FloatArray = rows.block(0, rows.n)
    slices = column_slices(cascade.inputs)
    for a in cascade.inputs:
        check_distributions(degrees[:, slices[a.name]], a.domain, f"attribute {a.name!r}")
    numbers = _plain_numbers(cascade, evidence, rows.n)
    return Batch(degrees, range(1, rows.n + 1), 0, numbers=numbers)


def _plain_numbers(cascade: Cascade, evidence: Evidence, n: int) -> dict[str, FloatArray]:
    """Return the numbers of numeric inputs, by name, if the evidence has plain numbers of them."""
    numbers: dict[str, FloatArray] = {}
    by_name = evidence if isinstance(evidence, Mapping) else {}
    for a in cascade.inputs:
        content = np.asarray(by_name.get(a.name)) if a.scale is not None else np.empty(0)
        if content.dtype.kind in "if" and content.size == n and content.ndim < 2:
            numbers[a.name] = content.reshape(n).astype(np.float64)
    return numbers


def _images_by_index(cascade: Cascade, images: Mapping[str, Any], n: int) -> dict[int, Any]:
    """Return the images by the indices of inputs; raise `DataError` if they do not fit."""
    known = [a.name for a in cascade.inputs]
    by_index: dict[int, Any] = {}
    for key, rows in images.items():
        name = name_of(key)
        check_known(name, known, f"images are given of {name!r}, which is no input")
        if np.ndim(rows) != 3 or getattr(rows, "dtype", None) != np.uint8:
            kind = getattr(rows, "dtype", type(rows).__name__)
            raise DataError(
                f"the images of {name!r} are {kind} {np.shape(rows)}; give a uint8 array "
                "(samples, height, width)"
            )
        if len(rows) < n:
            raise DataError(
                f"there are {len(rows)} images of {name!r} for {n} samples; give one each"
            )
        by_index[known.index(name)] = rows
    return by_index
