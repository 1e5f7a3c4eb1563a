"""Rules as SQL: from the columns of a table to answers, where the data are."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal

from pinesy._common.names import name_of
from pinesy._common.validation import as_list, cut_repr
from pinesy._version import __version__
from pinesy.emitters.program_steps import ProgramSteps, program_steps
from pinesy.emitters.sql_answers import IS_VALID, SqlAnswer, add_answers
from pinesy.emitters.sql_card import add_score_card
from pinesy.emitters.sql_dialects import Dialect, balanced, dialect_of
from pinesy.emitters.sql_inputs import (
    ReadColumn,
    degree_columns,
    read_degrees,
    read_raw_column,
    value_degrees,
)
from pinesy.emitters.sql_layers import LayeredQuery, add_program
from pinesy.engine.program import Program
from pinesy.exceptions import DomainError
from pinesy.induction.points_cascade import card_of
from pinesy.rulebase.cascade import Cascade, HasRules, as_cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute

#: What the columns of inputs hold.
InputForm = Literal["values", "degrees"]


def to_sql(
    rules: Cascade | RuleSet | HasRules,
    dialect: str,
    table: str | Sequence[str] = "samples",
    outputs: Iterable[str | Attribute] | None = None,
    *,
    keep: Iterable[str] = (),
    inputs_as: InputForm = "values",
    degrees: bool = True,
) -> str:
    """Return a query that infers the outputs for every row of a table.

    The query has, for each output `b`, the columns of ``pinesy infer``: ``b`` (the best value, NULL
    where none is decided), ``b outcome``, ``b certainty``, ``b contradiction`` and the degree of
    each value, ``b=value``. Numbers have the bits of `infer`. Of rows that `infer` refuses, such as
    those with a category that the rules do not have, the outcome is ``refused`` and the rest NULL.

    Induced rules are written as their score card, in whole points: ``b`` is the class of `predict`,
    and NULL and categories that the card does not have are unknown, as in `predict`.

    Parameters
    ----------
    rules : rules, or a fitted `pinesy.estimators.RuleClassifier` (its degrees, not calibrated ones)
    dialect : ``"duckdb"``, ``"sqlite"``, ``"postgresql"`` or ``"spark"``
    table : the name of the table, or its parts, such as ``("schema", "table")``
    outputs : what is inferred; by default the attributes that no premise uses
    keep : columns of the table that the query returns first, such as an identifier
    inputs_as : ``"values"``: a column for each input, of numbers or categories, NULL if unknown;
        ``"degrees"``: a column ``input=value`` for each value, with its possibility
    degrees : whether the query has columns for the degrees of values

    Examples
    --------
    >>> from pinesy import parse
    >>> rules = parse("number age cuts {18} attribute b in {yes, no} if age < 18 then b in {no}")
    >>> to_sql(rules, "duckdb", "people", degrees=False).count('FROM "people" AS t')
    1
    """
    cascade, engine = as_cascade(rules), dialect_of(dialect)
    if inputs_as not in ("values", "degrees"):
        raise DomainError(f"unknown inputs_as {cut_repr(inputs_as)}; give 'values' or 'degrees'")
    parts = [table] if isinstance(table, str) else as_list(table, "table", DomainError)
    query = LayeredQuery(engine, parts)
    names = [str(name) for name in as_list(keep, "keep")]
    keys = {f"k{i}": f"t.{engine.identifier(name)}" for i, name in enumerate(names)}
    card = card_of(cascade)
    if card is not None and inputs_as == "values":
        _check_card_outputs(card.output, outputs)
        _check_distinct([a.name for a in card.inputs], engine, "columns of the table")
        answers = [add_score_card(query, card, keys)]
    else:
        answers = _add_rules(query, cascade.compile(outputs), inputs_as, keys)
    columns = add_answers(query, answers, [IS_VALID, *keys], degrees)
    titles = [*names, *columns]
    _check_distinct(titles, engine, "columns of the result")
    texts = zip(map(engine.identifier, titles), [*keys, *columns.values()], strict=True)
    return f"-- pinesy {__version__}, for {engine.name}\n{query.text(dict(texts))}"


def _check_card_outputs(output: Attribute, outputs: Iterable[str | Attribute] | None) -> None:
    if outputs is not None and [name_of(key) for key in outputs] != [output.name]:
        raise DomainError(
            f"a score card has the output {output.name!r} alone; to infer other attributes, write "
            "the rules without their card, Cascade(rules)"
        )


def _check_distinct(names: Sequence[str], dialect: Dialect, noun: str) -> None:
    """Raise `DomainError` for names that an engine takes for one."""
    fold = str if dialect.name == "postgresql" else str.lower
    name, count = Counter(map(fold, names)).most_common(1)[0]
    if count > 1:
        equal = ", ".join(cut_repr(n) for n in names if fold(n) == name)
        raise DomainError(f"{dialect.name} takes {equal} for one name of {noun}; rename one")


def _add_rules(
    query: LayeredQuery, program: Program, inputs_as: InputForm, keys: dict[str, str]
) -> list[SqlAnswer]:
    """Append the layers of a program to an empty query, and return its answers."""
    code, steps = program.code, program_steps(program.code)
    add_inputs = _add_values if inputs_as == "values" else _add_degrees
    inputs = add_inputs(query, program.inputs, steps, keys)
    columns = add_program(query, steps, inputs, [IS_VALID, *keys])
    coherence = {name: columns[index] for name, index in code.coherence.items()}
    return [
        SqlAnswer(a, columns[code.columns[a.name]], coherence.get(a.name, ""))
        for a in program.outputs
    ]


def _add_values(
    query: LayeredQuery,
    inputs: Sequence[Attribute],
    steps: ProgramSteps,
    keys: dict[str, str],
) -> dict[int, str]:
    """Append the layers from raw columns to degrees; return the degree columns by value number."""
    dialect = query.dialect
    _check_distinct([a.name for a in inputs], dialect, "columns of the table")
    parts = [read_raw_column(a, f"t.{dialect.identifier(a.name)}", dialect) for a in inputs]
    values = {f"x{i}": part.value for i, part in enumerate(parts)}
    query.add({**keys, **values, IS_VALID: _validity(parts)})
    texts = [
        text
        for value, attribute in zip(values, inputs, strict=True)
        for text in value_degrees(attribute, value, dialect)
    ]
    indices = _used_inputs(steps)
    query.add({f"d{j}": texts[j] for j in indices}, [IS_VALID, *keys])
    return {len(steps.constants) + j: f"d{j}" for j in indices}


def _add_degrees(
    query: LayeredQuery,
    inputs: Sequence[Attribute],
    steps: ProgramSteps,
    keys: dict[str, str],
) -> dict[int, str]:
    """Append the layer that reads degrees; return their columns by value number."""
    dialect = query.dialect
    names = [degree_columns(a) for a in inputs]
    flat = [name for group in names for name in group]
    _check_distinct(flat, dialect, "columns of the table")
    columns = {name: f"t.{dialect.identifier(name)}" for name in flat}
    parts = [read_degrees([columns[name] for name in group], dialect) for group in names]
    indices = _used_inputs(steps)
    # -0.0 becomes 0.0
    values = {f"d{j}": f"abs(CAST({columns[flat[j]]} AS {dialect.double}))" for j in indices}
    query.add({**keys, **values, IS_VALID: _validity(parts)})
    return {len(steps.constants) + j: f"d{j}" for j in indices}


def _used_inputs(steps: ProgramSteps) -> list[int]:
    """Return the input columns that steps or outputs use."""
    first = len(steps.constants)
    return [j for j in range(steps.n_inputs) if steps.uses[first + j]]


def _validity(parts: Sequence[ReadColumn]) -> str:
    """Return 1 where all columns are valid, else 0."""
    conditions = [part.is_valid for part in parts if part.is_valid]
    return f"CASE WHEN {balanced(conditions, 'AND')} THEN 1 ELSE 0 END" if conditions else "1"
