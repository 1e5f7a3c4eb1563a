"""Reads the ``.rules`` text format; ``str(cascade)`` writes it.

::

    # two digits and their sum
    attribute left in {0..9}
    attribute right in {0..9}
    attribute total in {0..18}
    product pair = left * right

    iff left in {3} then pair where left == 3
    iff pair where left + right == 7 then total in {7} [s=0.1, r=0]
"""

from collections.abc import Iterable
from pathlib import Path

from pinesy._common.budgets import Budget, allow_tokens, any_budget, budget, value_limit
from pinesy._common.files import as_path
from pinesy._common.validation import as_list
from pinesy.exceptions import DataError, PinesyError
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.rule_reader import VERSION, RuleReader
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute
from pinesy.rules.rule import Rule

#: What files of version 1 began with, which did not say so.
HEAD_1 = "# written by pinesy; the last line says: end"


def parse(
    text: str, directory: str | Path | None = None, *, max_values: int | None = None
) -> Cascade:
    """Return the cascade that a ``.rules`` text declares; ``parse(str(x)) == x``.

    Rules that conclude on one attribute form one rule set, in the order they stand.

    Parameters
    ----------
    text : declarations, rules and templates; see docs/rules-format.md
    directory : that of the files that the text includes; without it, it may include none
    max_values : how many values all attributes may have together; by default as the environment
        variable ``PINESY_MAX_VALUES`` says, else 2,000,000

    Raises
    ------
    RulesTextError : with the line, the column and the text that cannot be read

    Examples
    --------
    >>> parse('attribute a in {0, 1} attribute b in {low, high} iff a in {1} then b in {high}')
    Cascade(1 rule sets, 1 rules: a -> b)
    """
    if not isinstance(text, str):
        raise DataError(f"rules are read from text; got {type(text).__name__}")
    place = None if directory is None else as_path(directory)
    return parse_file(text, place, None, most=value_limit(max_values))


def parse_file(
    text: str, directory: Path | None, file: Path | None, version: int = VERSION, *, most: int
) -> Cascade:
    """Return the cascade of a text that was read from a file; see `parse`.

    Parameters
    ----------
    version : that of the language, if the text does not begin by saying it
    most : how many values all attributes may have together
    """
    with budget(most) as current:
        reader = _read(text, directory, file, version, {}, current)
        while reader.lacks_cuts and not current.is_spent:
            # A second time, with the cuts that comparisons need.
            current.restart()
            reader = _read(text, directory, file, version, reader.compared_cuts, current)
        if not reader.rules:
            reader.fail("there are no rules in this text")
        try:
            rule_sets = [RuleSet(rules) for rules in reader.rules.values()]
            return Cascade(*rule_sets, attributes=reader.attributes.values())
        except PinesyError as error:
            if current.is_spent:
                raise
            # Such as a cycle: no one place in the text is to blame.
            raise type(error)(f"the rules do not fit together: {error}") from None


def _read(
    text: str,
    directory: Path | None,
    file: Path | None,
    version: int,
    cuts: dict[str, set[float]],
    current: Budget,
) -> RuleReader:
    """Read a whole text, of which comparisons are known to need some cuts."""
    reader = RuleReader(text)
    reader.version, reader.compared_cuts = version, cuts
    if cuts:
        reader.is_first_reading = False
        reader.read_again(len(reader.tokens))
    else:
        allow_tokens(len(reader.tokens))
    if reader.token.text == "version" and reader.ahead().isdecimal():
        reader.version = reader.stated_version()
    older = HEAD_1 if reader.version > 1 else ""
    try:
        reader.read(directory, file, older)
    except PinesyError:
        if current.is_spent or not reader.lacks_cuts:  # else they may be the reason
            raise
    return reader


def parse_rule(text: str, attributes: Iterable[Attribute]) -> Rule:
    """Return the rule that a text such as ``iff a in {0} then b in {1} [s=0.1, r=0]`` writes.

    Examples
    --------
    >>> a, b = Attribute("a", [0, 1]), Attribute("b", [0, 1])
    >>> parse_rule("iff a in {0} then b in {1}", [a, b])
    iff a in {0} then b in {1}
    """
    if not isinstance(text, str):
        raise DataError(f"a rule is read from text; got {type(text).__name__}")
    known = as_list(attributes, "attributes")
    for attribute in known:
        if not isinstance(attribute, Attribute):
            raise DataError(f"parse_rule takes the attributes themselves; got {attribute!r}")
    reader = RuleReader(text, {a.name: a for a in known})
    word = reader.accept("if", "iff")
    if not word:
        reader.expect("if")
    with any_budget():
        rule = reader.rule(word)
    reader.expect_end()
    return rule


def parse_attribute(text: str, attributes: Iterable[Attribute] = ()) -> Attribute:
    """Return the attribute that a declaration writes; `attributes` may be its factors.

    Examples
    --------
    >>> parse_attribute("number age cuts {30, 65}").domain
    ('<30', '[30, 65)', '>=65')
    """
    known = {a.name: a for a in attributes}
    reader = RuleReader(text, known)
    if reader.token.text not in ("attribute", "number", "product"):
        reader.missing("a declaration")
    with any_budget():
        reader.statement()
    reader.expect_end()
    return next(a for name, a in reader.attributes.items() if name not in known)
