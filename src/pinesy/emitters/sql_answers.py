"""The columns of an answer: best value, outcome, certainty, contradiction, degrees."""

from dataclasses import dataclass

from pinesy.emitters.sql_dialects import Dialect, balanced
from pinesy.emitters.sql_inputs import degree_columns, literal
from pinesy.emitters.sql_layers import LayeredQuery
from pinesy.rules.attributes import Attribute
from pinesy.samples import value_texts

#: The outcome of rows that pinesy refuses; all other columns of theirs are NULL.
REFUSED = "refused"
#: The inner column that is 1 where pinesy takes a row, and 0 where it refuses it.
IS_VALID = "ok"


@dataclass(frozen=True)
class SqlAnswer:
    """An inferred attribute, as inner columns or numbers.

    Attributes
    ----------
    attribute : what is inferred
    degrees : the degree of each value
    coherence : the lowest height of the distributions before this one; empty if that is 1
    best : the best value, where it is not the only one of possibility 1
    """

    attribute: Attribute
    degrees: list[str]
    coherence: str = ""
    best: str = ""


def add_answers(
    query: LayeredQuery, answers: list[SqlAnswer], carried: list[str], with_degrees: bool
) -> dict[str, str]:
    """Append what answers need; return their columns, as SQL by the names that users see.

    Parameters
    ----------
    carried : inner columns to keep
    with_degrees : whether there is a column for the degree of each value
    """
    dialect, new, alive = query.dialect, dict[str, str](), list[str]()
    unit, zero = dialect.number(1.0), dialect.number(0.0)
    for index, answer in enumerate(answers):
        height = [*answer.degrees, answer.coherence] if answer.coherence else answer.degrees
        top = dialect.maximum(answer.degrees)
        new[f"h{index}"] = dialect.minimum([top, answer.coherence]) if answer.coherence else top
        counts = [f"CASE WHEN {degree} = {unit} THEN 1 ELSE 0 END" for degree in answer.degrees]
        new[f"n{index}"] = balanced(counts, "+")
        others = [f"CASE WHEN {d} < {unit} THEN {d} ELSE {zero} END" for d in answer.degrees]
        new[f"s{index}"] = dialect.maximum(others)
        alive += [name for name in (*height, answer.best) if name.isidentifier()]
    query.add(new, dict.fromkeys([*carried, *alive]))
    columns: dict[str, str] = {}
    for index, answer in enumerate(answers):
        columns |= _columns(answer, index, dialect, with_degrees)
    return columns


def _columns(answer: SqlAnswer, index: int, dialect: Dialect, with_degrees: bool) -> dict[str, str]:
    """Return the columns of an answer; ``h``, ``n`` and ``s`` are as in `add_answers`."""
    unit, zero, name = dialect.number(1.0), dialect.number(0.0), answer.attribute.name
    height, count, size = f"h{index}", f"n{index}", len(answer.attribute.domain)
    is_normal = f"{IS_VALID} = 1 AND {height} = {unit}"
    values = zip(answer.degrees, answer_literals(answer.attribute, dialect), strict=True)
    cases = " ".join(f"WHEN {degree} = {unit} THEN {value}" for degree, value in values)
    best = answer.best or f"CASE WHEN {is_normal} AND {count} = 1 THEN CASE {cases} END END"
    columns = {
        name: best,
        f"{name} outcome": f"CASE WHEN {IS_VALID} = 0 THEN '{REFUSED}' "
        f"WHEN {height} < {unit} THEN 'contradiction' WHEN {count} = 1 THEN 'decided' "
        f"WHEN {count} = {size} THEN 'no_rule' ELSE 'several' END",
        f"{name} certainty": f"CASE WHEN {is_normal} THEN "
        f"CASE WHEN {count} > 1 THEN {zero} ELSE {unit} - s{index} END END",
        f"{name} contradiction": f"CASE WHEN {IS_VALID} = 1 THEN {unit} - {height} END",
    }
    if with_degrees:
        titles = degree_columns(answer.attribute)
        for title, degree in zip(titles, answer.degrees, strict=True):
            columns[title] = f"CASE WHEN {IS_VALID} = 1 THEN {degree} END"
    return columns


def answer_literals(attribute: Attribute, dialect: Dialect) -> list[str]:
    """Return the values of an attribute as SQL of one type: integers, doubles, or else texts."""
    kinds = {type(value) for value in attribute.domain}
    if kinds == {int} and all(len(str(value)) < 19 for value in attribute.domain):  # of 8 bytes
        return [str(value) for value in attribute.domain]
    if kinds in ({float}, {bool}):
        return [literal(value, dialect) for value in attribute.domain]
    return [dialect.text(text) for text in value_texts(attribute)]
