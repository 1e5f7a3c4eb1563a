"""Samples and values, as the command line names them."""

import sys
from collections.abc import Hashable, Iterable
from pathlib import Path
from typing import NoReturn

from pinesy._common.validation import FloatArray, suggestion
from pinesy.exceptions import CascadeError, DataError, DomainError, RulesTextError
from pinesy.rules.attributes import Attribute
from pinesy.rules.possibility import Possibility
from pinesy.rules.syntax.reader import Reader
from pinesy.rules.syntax.writer import show_value
from pinesy.samples import Batch, value_texts
from pinesy.samples.sample_file import Source


def source_of(data: Path) -> tuple[Source, int | None]:
    """Return what to read, and its size if it is a file."""
    if str(data) == "-":
        return sys.stdin.buffer, None
    return data, data.stat().st_size if data.is_file() else None


def only_output(outputs: tuple[Attribute, ...], option: str) -> str:
    """Return the name of the only output, or raise an error that names the option to choose by."""
    if len(outputs) > 1:
        names = ", ".join(a.name for a in outputs[:6]) + ", ..." * (len(outputs) > 6)
        raise CascadeError(f"the rules have {len(outputs)} outputs ({names}); say which: {option}")
    return outputs[0].name


def find_value(attribute: Attribute, text: str) -> Hashable:
    """Return the domain value that a text is the written form of.

    That is its name in data files, or anything that reads as it in ``.rules`` files.

    Examples
    --------
    >>> pair = Attribute("pair", [(0, 1), (1, 2), "long sleep"])
    >>> find_value(pair, "(1,2)"), find_value(pair, "long sleep"), find_value(pair, '"long sleep"')
    ((1, 2), 'long sleep', 'long sleep')
    """
    written = {show_value(value): value for value in attribute.domain}
    names = value_texts(attribute)
    written |= dict(zip(names, attribute.domain, strict=True))
    if text in written:
        return written[text]
    value = _parsed(text)
    if value is not None and value in attribute:
        return attribute.domain[attribute.position(value)]
    raise DomainError(
        f"attribute {attribute.name!r} has no value {text!r:.80}{suggestion(text, names)}"
    )


def _parsed(text: str) -> Hashable:
    """Return the value that a text reads as; None where it does not (`none` has its own name)."""
    try:
        reader = Reader(text)
        value = reader.value()
    except RulesTextError:
        return None
    return value if reader.token.kind == "end" else None


def find_sample(batches: Iterable[Batch], wanted: int | None, data: Path) -> tuple[int, FloatArray]:
    """Return a sample of a file: the number of its line or row, and its degrees.

    Parameters
    ----------
    wanted : the line or row, None for the first sample
    """
    last = 0
    for batch in batches:
        lines = list(batch.lines)
        if wanted is None or wanted in lines:
            row = 0 if wanted is None else lines.index(wanted)
            return lines[row], batch.evidence[row]
        if lines[-1] > (wanted or 0):
            nearest = min([*lines, *[last] * (last > 0)], key=lambda n: abs(n - (wanted or 0)))
            _refuse(data, wanted, f"the nearest one is in {nearest}")
        last = lines[-1]
    _refuse(data, wanted, f"the last one is in {last}")


def _refuse(data: Path, wanted: int | None, instead: str) -> NoReturn:
    raise DataError(f"{data}: there is no sample in line (or row) {wanted}; {instead}")


def by_name(columns: FloatArray, attributes: tuple[Attribute, ...]) -> dict[str, FloatArray]:
    """Return the degrees of each attribute, of one sample or a batch, from columns side by side."""
    found, start = {}, 0
    for attribute in attributes:
        end = start + len(attribute.domain)
        found[attribute.name] = columns[..., start:end]
        start = end
    return found


def degrees_by_name(pi: Possibility) -> dict[str, float]:
    """Return the degrees that are not 0, by the names that values have in data files."""
    texts = value_texts(pi.attribute)
    return {t: d for t, d in zip(texts, pi.degrees.tolist(), strict=True) if d > 0.0}
