"""Score cards as SQL: sums of CASE on whole points, as `predict` reads a table.

A line is a conjunction of conditions on columns, and SQL's logic of three values is its own: where
a column is NULL and no other condition fails, the conjunction is NULL, and the line gives its
points for what is not known.
"""

from collections.abc import Sequence

from pinesy._common.masks import positions
from pinesy.emitters.sql_answers import IS_VALID, SqlAnswer, answer_literals
from pinesy.emitters.sql_dialects import Dialect, balanced
from pinesy.emitters.sql_inputs import literal, range_condition, read_raw_column
from pinesy.emitters.sql_layers import LayeredQuery
from pinesy.exceptions import DomainError
from pinesy.induction.score_card import ScoreCard
from pinesy.rules.propositions import Proposition


def add_score_card(query: LayeredQuery, card: ScoreCard, keys: dict[str, str]) -> SqlAnswer:
    """Append the layers of a score card to an empty query, and return its answer.

    Parameters
    ----------
    keys : columns of the table that stay, as SQL by their inner names
    """
    dialect = query.dialect
    values = _add_columns(query, card, keys)
    classes = [f"c{i}" for i in range(len(card.output.domain))]
    always = [IS_VALID, *keys]
    rules = [_truth(rule.premise.propositions, values, dialect) for rule in card.user_rules]
    truths = {f"u{i}": f"CASE WHEN {t} THEN 1 WHEN NOT {t} THEN 0 END" for i, t in enumerate(rules)}
    query.add(dict(zip(classes, _totals(card, values, dialect), strict=True)) | truths, always)
    carried = [*always, *classes, *truths]
    query.add({"top": dialect.maximum(classes)}, carried)
    degrees = [f"d{i}" for i in range(len(classes))]
    query.add(dict(zip(degrees, _possibilities(card, dialect), strict=True)), carried)
    query.add({"most": dialect.maximum(degrees)}, [*always, *classes, *degrees])
    # The class of most points among the most possible ones, the first of ties.
    pairs = list(zip(degrees, classes, strict=True))
    lowest = min(card.start.values()) - sum(abs(line.points) for line in card.lines) - 1
    among = [f"CASE WHEN {d} = most THEN {c} ELSE {lowest} END" for d, c in pairs]
    query.add({"best": dialect.maximum(among)}, [*always, *classes, *degrees, "most"])
    texts = answer_literals(card.output, dialect)
    cases = [
        f"WHEN {d} = most AND {c} = best THEN {text}"
        for (d, c), text in zip(pairs, texts, strict=True)
    ]
    decision = f"CASE WHEN {IS_VALID} = 1 THEN CASE {' '.join(cases)} END END"
    query.add({"chosen": decision}, [*always, *degrees])
    return SqlAnswer(card.output, degrees, best="chosen")


def _add_columns(query: LayeredQuery, card: ScoreCard, keys: dict[str, str]) -> dict[str, str]:
    """Append the layer that reads the table; return the inner columns of attributes by name."""
    dialect = query.dialect
    columns, conditions, names = dict(keys), [], {}
    for index, attribute in enumerate(card.inputs):
        if attribute.scale is not None and attribute.scale.blur:
            raise DomainError(
                f"attribute {attribute.name!r} has blur, and points of a card would not be whole; "
                "write the rules without their card, Cascade(rules), or leave out blur"
            )
        if None in attribute:
            raise DomainError(f"None is a value of attribute {attribute.name!r}, not a blank")
        column = f"t.{dialect.identifier(attribute.name)}"
        value, is_valid = read_raw_column(attribute, column, dialect, unseen=True)
        names[attribute.name] = f"x{index}"
        columns[f"x{index}"] = value
        conditions += [is_valid] if is_valid else []
    valid = f"CASE WHEN {balanced(conditions, 'AND')} THEN 1 ELSE 0 END" if conditions else "1"
    query.add(columns | {IS_VALID: valid})
    return names


def _truth(conditions: Sequence[Proposition], columns: dict[str, str], dialect: Dialect) -> str:
    """Return a conjunction; NULL where it is not known whether it holds."""
    tests = [_test(p, columns[p.attribute.name], dialect) for p in conditions]
    return balanced([test for test in tests if test] or ["(1 = 1)"], "AND")


def _test(condition: Proposition, column: str, dialect: Dialect) -> str:
    """Return a condition on a column; empty if it holds for all values."""
    attribute, mask = condition.attribute, condition.mask
    if mask == attribute.full:
        return ""
    if mask == 0:
        return "(1 = 0)"
    if attribute.scale is None:
        values = [literal(attribute.domain[i], dialect) for i in positions(mask)]
        return f"({column} IN ({', '.join(values)}))"
    ranges = attribute.scale.ranges(mask)
    return "(" + " OR ".join(range_condition(column, *pair, dialect) for pair in ranges) + ")"


def _totals(card: ScoreCard, columns: dict[str, str], dialect: Dialect) -> list[str]:
    """Return the points of each class."""
    terms = {value: [str(points)] for value, points in card.start.items()}
    for line in card.lines:
        truth = _truth(line.conditions, columns, dialect)
        terms[line.value].append(
            f"CASE WHEN {truth} THEN {line.points} WHEN NOT {truth} THEN 0 "
            f"ELSE {line.undetermined} END"
        )
    return [balanced(terms[value], "+") for value in card.output.domain]


def _possibilities(card: ScoreCard, dialect: Dialect) -> list[str]:
    """Return what the lead in points and the rules of the user leave to each class."""
    last = len(card.levels) - 1
    levels = [dialect.number(float(level)) for level in card.levels]
    unit, texts = dialect.number(1.0), []
    for i in range(len(card.output.domain)):
        cases = " ".join(f"WHEN {lead} THEN {levels[lead]}" for lead in range(last))
        level = f"CASE top - c{i} {cases} ELSE {levels[last]} END" if last else levels[last]
        bounds = [level]
        for k, rule in enumerate(card.user_rules):
            # max(s, possibility of the premise), or max(r, possibility of its negation)
            truth, least = (0, rule.s) if rule.conclusion.mask >> i & 1 else (1, rule.r)
            if least < 1.0:
                bound = dialect.number(float(least))
                bounds.append(f"CASE WHEN u{k} = {truth} THEN {bound} ELSE {unit} END")
        texts.append(dialect.minimum(bounds))
    return texts
