"""Formulas of conditions in one line of text."""

from pinesy.explanations.clauses import AllOf, Atom, Clause
from pinesy.rules.syntax.writer import format_name, format_subset, show_value


def threshold_text(threshold: float) -> str:
    """Write a threshold in full: rounded, it would be another condition.

    Examples
    --------
    >>> threshold_text(0.99999), threshold_text(1.0)
    ('0.99999', '1')
    """
    return repr(threshold).removesuffix(".0")


def clause_text(
    clause: Clause, limit: int | None, depth: int | None, of_probabilities: bool
) -> str:
    """Return a clause in words; what is left out is counted."""
    if isinstance(clause, Atom):
        return _probability(clause) if of_probabilities else _possibility(clause)
    word = "and" if isinstance(clause, AllOf) else "or"
    if not clause.parts:
        return "always" if word == "and" else "never"
    less = None if depth is None else depth - 1
    atoms = [part for part in clause.parts if isinstance(part, Atom) or less != 0]
    shown = [_nested(part, limit, less, of_probabilities) for part in atoms[:limit]]
    deeper, more = len(clause.parts) - len(atoms), len(atoms) - len(shown)
    shown += [f"{more} more conditions"] * (more > 0)
    shown += [f"{deeper} conditions of several parts"] * (deeper > 0)
    return f" {word} ".join(shown)


def _nested(clause: Clause, limit: int | None, depth: int | None, of_probabilities: bool) -> str:
    text = clause_text(clause, limit, depth, of_probabilities)
    return text if isinstance(clause, Atom) else f"({text})"


def _possibility(atom: Atom) -> str:
    return f"Pi({_flat(str(atom.proposition))}) {atom.comparison} {threshold_text(atom.threshold)}"


def _probability(atom: Atom) -> str:
    """``Pi(P) > t`` iff some ``v in P`` has ``sum_w min(p(v), p(w)) > t``; ``<`` iff all have."""
    name, values = format_name(atom.proposition.attribute.name), atom.proposition.values
    tail = f"{atom.comparison} {threshold_text(atom.threshold)}"
    if len(values) == 1:
        value = show_value(values[0])
        return f"sum_w min(p({name} = {value}), p({name} = w)) {tail}"
    who = "some" if atom.comparison in (">", ">=") else "every"
    body = f"sum_w min(p({name} = v), p({name} = w)) {tail}"
    return f"[{body} for {who} v in {_flat(format_subset(values))}]"


def _flat(text: str) -> str:
    return " ".join(text.split())
