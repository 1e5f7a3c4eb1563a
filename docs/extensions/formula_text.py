"""Formulas that docstrings write as plain text, in LaTeX.

``nabla_i = min_l max((a_il - b_i)^+, h_l(b_i))`` is read in an editor as it stands; the site shows
it as a formula. What looks like code (shapes of arrays, names, text of rules) stays code.
"""

import re

GREEK = {
    *("alpha", "beta", "epsilon", "lambda", "mu", "nabla", "omega", "pi", "rho", "sigma", "tau"),
    *("Lambda", "Pi"),
}
FUNCTIONS = {"exp", "log", "max", "min"}
#: Words that stand for a sign.
SIGNS = {
    "and": r"\wedge ",
    "box": r"\square ",
    "down": r"\downarrow ",
    "eps": r"\mathbin{\epsilon}",
    "in": r"\in ",
    "not": r"\neg ",
    "o": r"\circ ",
    "or": r"\vee ",
    "sum": r"\sum ",
    "up": r"\uparrow ",
}
#: What is read between words: signs of ASCII, and those of Unicode that pages use.
MARKS = {
    "...": r"\dots ",
    "..": r"\,..\,",
    "<=": r"\le ",
    ">=": r"\ge ",
    "!=": r"\ne ",
    "==": "=",
    "->": r"\to ",
    "|=": r"\models ",
    "||": r"\Vert ",
    "#": r"\#",
    "%": r"\%",
    "{": r"\{",
    "}": r"\}",
    "\\": r"\backslash ",
    "□": r"\square ",
    "∈": r"\in ",
    "¬": r"\neg ",
    "∧": r"\wedge ",
    "≼": r"\preceq ",
    "≥": r"\ge ",
    "→": r"\to ",
    "↓": r"\downarrow ",
    "↑": r"\uparrow ",
    "∇": r"\nabla ",
    "Σ": r"\sum ",
}
_WORD = re.compile(r"[^\W\d_]+")
_TOKEN = re.compile(r"[^\W\d_]+|\d+|\.{2,3}|[<>!=]=|->|\|[|=]|\s+|.", re.DOTALL)
_INDEX = re.compile(r"([_^])(?:\{([^{}]*)\}|\(([^()]*)\)|([^\W_]+|[-+*]))")
#: Indices that are words; others of more than two letters are names of variables.
_INDEX_WORDS = {*SIGNS, *GREEK, "actual", "inputs", "sets", "target"}
_MATHEMATICAL = re.compile(
    r"[_^]\{|\^|\b(?:max|min|sum)_|\b[A-Za-z]_\w|\b(?:Pi|N|pi)\*?\(|\|D_"
    rf"|\b(?:{'|'.join(sorted(GREEK | {'box', 'eps'}))})\b"
)
_CODE = re.compile(
    r"""["`$~]|\w\.\w|\w\(\)|//|\b\w\w+\[|^(?:if|iff|for|let|when|tau <)\b|_\w+_|\w_$"""
)
_UNICODE = re.compile(r"[α-ωΓΛΠΣΥΩ∇□∈¬∧≼→↓↑𝒯]")


def is_formula(text: str) -> bool:
    """Tell whether a literal of a docstring is a formula, and not code."""
    indices = re.findall(r"(\w+?)_(\w+)", text)
    named = any(len(i) > 2 and i not in _INDEX_WORDS and not i.isdigit() for _, i in indices)
    words = any(len(w) > 1 and w not in GREEK | FUNCTIONS | {"sum"} for w, _ in indices)
    return bool(_MATHEMATICAL.search(text)) and not (_CODE.search(text) or named or words)


def is_unicode_formula(text: str) -> bool:
    """Tell whether a literal of a page is a formula: pages write Greek letters as such."""
    return bool(_UNICODE.search(text)) and "`" not in text


def to_latex(text: str) -> str:
    r"""Return a formula in LaTeX: ``pi_i = p_j`` as ``\pi _{i} = p_{j}``."""
    parts, place = [], 0
    while place < len(text):
        index = _INDEX.match(text, place) if place else None
        token = index or _TOKEN.match(text, place)
        if token is None:  # pragma: no cover - a token is any character
            break
        parts.append(_index(index) if index else _token(token[0], text, place))
        place = token.end()
    return "".join(parts)


def _index(match: re.Match[str]) -> str:
    kind, braces, brackets, plain = match.groups()
    if brackets is not None:
        return f"{kind}{{({to_latex(brackets)})}}"
    return f"{kind}{{{to_latex(braces if braces is not None else _letters(plain))}}}"


def _letters(index: str) -> str:
    """Return an index: ``il`` are the two letters, ``up`` and ``mu`` are words."""
    known = index in _INDEX_WORDS or index.isdigit()
    return index if known else " ".join(re.findall(r"\d+|.", index))


def _token(token: str, text: str, place: int) -> str:
    if token.isspace():
        return r"\ " if _beside_prose(text, place, place + len(token)) else " "
    if _WORD.fullmatch(token):
        return _word(token)
    if token == "*":
        return "^{*}" if place and text[place - 1].isalpha() else r"\cdot "
    if token == "|" and text[place - 1 : place] == " " == text[place + 1 : place + 2]:
        return r"\mid "
    return MARKS.get(token, token)


def _word(word: str) -> str:
    if word in MARKS:
        return MARKS[word]
    if word in SIGNS:
        return SIGNS[word]
    if word in GREEK or word in FUNCTIONS:
        return f"\\{word} "
    return word if len(word) == 1 else rf"\mathrm{{{word}}}"


def _beside_prose(text: str, begin: int, end: int) -> bool:
    """Tell whether a space stands beside a word that is no sign: LaTeX would drop it."""
    before = re.search(r"(?<![\w^])[^\W\d_]+$", text[:begin])
    after = _WORD.match(text, end)
    return any(
        len(m[0]) > 1 and m[0] not in {*SIGNS, *GREEK, *FUNCTIONS} for m in (before, after) if m
    )
