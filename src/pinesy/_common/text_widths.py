"""How wide texts are in pictures, and how they are broken to fit."""

import unicodedata
from bisect import bisect_right
from collections.abc import Sequence

#: Widths in parts of the font's size, no less than those of the widest common sans-serif fonts.
_WIDTHS = (
    dict.fromkeys("ijl|!'.,:;", 0.41)
    | dict.fromkeys(" ()[]frtI-/\\", 0.46)
    | dict.fromkeys("mMW@%", 1.02)
    | dict.fromkeys("w", 0.86)
)


def text_width(text: str, size: float) -> float:
    """Return a width that a text does not exceed in common sans-serif fonts.

    Examples
    --------
    >>> text_width("will", 10.0) < text_width("moon", 10.0) < text_width("MOON", 10.0)
    True
    """
    return size * sum(map(_width, text))


def _width(character: str) -> float:
    known = _WIDTHS.get(character)
    if known is not None:
        return known
    if not character.isascii():  # of any script
        return 0.0 if unicodedata.combining(character) else 1.08
    return 0.66 if character.islower() or character.isdigit() else 0.84


def shortened(text: str, width: float, size: float) -> str:
    """Return the text, or as much of its beginning as fits, with an ellipsis.

    Examples
    --------
    >>> shortened("a long day", 100.0, 10.0), shortened("a long day", 40.0, 10.0)
    ('a long day', 'a lon…')
    """
    if text_width(text, size) <= width:
        return text
    end = _fitting(text, width - text_width("…", size), size)
    return text[:end].rstrip() + "…"


def _fitting(parts: Sequence[str], width: float, size: float, between: str = "") -> int:
    """Return how many of the first parts of a text fit."""
    counts = range(1, len(parts) + 1)
    return bisect_right(counts, width, key=lambda n: text_width(between.join(parts[:n]), size))


def wrapped(text: str, width: float, size: float, lines: int) -> list[str]:
    """Break a text between words into at most so many lines; the last is cut if it must be.

    Examples
    --------
    >>> wrapped("it is a long day", 45.0, 10.0, 3), wrapped("it is a long day", 45.0, 10.0, 2)
    (['it is a', 'long', 'day'], ['it is a', 'long…'])
    """
    found: list[str] = []
    words = text.split()
    while words and len(found) < lines - 1:
        end = _fitting(words, width, size, " ")
        if end == 0:
            words[:1] = _broken(words[0], width, size)
            end = 1
        found.append(" ".join(words[:end]))
        del words[:end]
    return [*found, shortened(" ".join(words), width, size)] if words else found


def _broken(word: str, width: float, size: float) -> list[str]:
    """Break a word that is too long: after its last hyphen that fits, else where it must be."""
    end = max(1, _fitting(word, width, size))
    end = word.rfind("-", 0, end) + 1 or end
    return [word[:end], word[end:]]
