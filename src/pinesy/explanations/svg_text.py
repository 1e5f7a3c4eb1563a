"""Text in pictures: how wide it is at most, broken into lines, escaped."""

import re
import unicodedata

#: Widths in parts of the font's size, no less than those of the widest common sans-serif fonts.
_WIDTHS = (
    dict.fromkeys("ijl|!'.,:;", 0.41)
    | dict.fromkeys(" ()[]frtI-/\\", 0.46)
    | dict.fromkeys("mMW@%", 1.02)
    | dict.fromkeys("w", 0.86)
)
#: Characters that XML cannot hold, not even escaped.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


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
    room = width - text_width("…", size)
    end = 0
    while end < len(text) and text_width(text[: end + 1], size) <= room:
        end += 1
    return text[:end].rstrip() + "…"


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
        end = 1
        while end < len(words) and text_width(" ".join(words[: end + 1]), size) <= width:
            end += 1
        if text_width(words[0], size) > width:
            words[:1] = _broken(words[0], width, size)
            end = 1
        found.append(" ".join(words[:end]))
        del words[:end]
    return [*found, shortened(" ".join(words), width, size)] if words else found


def _broken(word: str, width: float, size: float) -> list[str]:
    """Break a word that is too long: after its last hyphen that fits, else where it must be."""
    end = 1
    while text_width(word[: end + 1], size) <= width:
        end += 1
    hyphen = word.rfind("-", 0, end) + 1
    return [word[: hyphen or end], word[hyphen or end :]]


def escaped(text: str) -> str:
    r"""Return a text as XML holds it.

    Examples
    --------
    >>> escaped('a < "b"\x00')
    'a &lt; &quot;b&quot;�'
    """
    text = _FORBIDDEN.sub("\ufffd", text)
    for character, entity in ("&", "amp"), ("<", "lt"), (">", "gt"), ('"', "quot"):
        text = text.replace(character, f"&{entity};")
    return text
