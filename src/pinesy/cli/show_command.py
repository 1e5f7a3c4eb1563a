"""The command ``pinesy show``."""

import textwrap
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from pinesy._common.reports import count_text
from pinesy.cli import options
from pinesy.cli.output import (
    WIDTH,
    Screen,
    Shortening,
    rich_table,
    shortened_note,
    six_digits,
)
from pinesy.display.cascade_picture import roles_of
from pinesy.display.finding_text import overview_text
from pinesy.induction.points_cascade import card_of
from pinesy.induction.score_card import HEAD, ScoreCard
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rulebase.sample_equations import show_matrix
from pinesy.rules.syntax.writer import format_subset

#: What is shown of each unless all is wanted: rows of a table, rule sets, rules of a set,
#: characters of a rule or subset, values of a subset, numbers in a row.
ROWS, SETS, RULES, TEXT, VALUES, NUMBERS = 20, 8, 12, 200, 8, 24
#: Lines of a score card.
CARD_ROWS = 40

Attributes = Annotated[bool, typer.Option("--attributes", help="Show the attributes.")]
RuleTexts = Annotated[bool, typer.Option("--rules", help="Show the rules.")]
Cells = Annotated[bool, typer.Option("--partition", help="Show the cells of the outputs' domains.")]
Matrix = Annotated[bool, typer.Option("--matrix", help="Show the matrix M.")]
Numbers = Annotated[bool, typer.Option("--numbers", help="Show the matrix M in numbers.")]
SetName = Annotated[
    str | None, typer.Option("--set", metavar="NAME", help="Only the rules on this attribute.")
]


def show(
    rules: options.RulesFile,
    attributes: Attributes = False,
    rule_texts: RuleTexts = False,
    partition: Cells = False,
    matrix: Matrix = False,
    numbers: Numbers = False,
    name: SetName = None,
    everything: options.All = False,
) -> None:
    """Show a file of rules: a summary, attributes and rules, or the parts asked for.

    Of induced rules the score card is shown: which conditions give how many
    points to which class, also where they are not known, in how many training
    rows they hold and how often they are right there. --rules shows the rules
    that it is compiled to. Long parts are shortened, with a note; --all shows all.

    [bold]Examples[/bold]
      pinesy show examples/weather.rules
      pinesy show sum.rules --partition --matrix --set total
      pinesy show sum.rules --matrix --numbers
    """
    cascade = options.read_cascade(rules)
    sets = cascade.rule_sets if name is None else (cascade[name],)
    printer = RuleBasePrinter(Screen(), everything)
    card = card_of(cascade)
    if not (name or attributes or rule_texts or partition or matrix or numbers) and card:
        printer.card(card)
        return
    if not (attributes or rule_texts or partition or matrix or numbers):
        # Of the whole a survey; of one rule set everything there is.
        attributes, rule_texts = name is None, True
        partition = matrix = name is not None
        printer.summary(cascade)
    if attributes:
        printer.attributes(cascade)
    if rule_texts or partition or matrix or numbers:
        matrix_form = "numbers" if numbers else "symbols" if matrix else ""
        printer.sets(cascade, sets, rules=rule_texts, cells=partition, matrix=matrix_form)


@dataclass(frozen=True)
class RuleBasePrinter(Shortening):
    """Prints parts of a rule base, shortened unless `everything` is set."""

    console: Console
    everything: bool = False

    def summary(self, cascade: Cascade) -> None:
        """Print a sentence on what the rules take to what, and the names."""
        n_rules = sum(map(len, cascade.rule_sets))
        outputs = cascade.outputs
        between = [s.output for s in cascade.order if s.output not in outputs]
        self._line(overview_text(n_rules, cascade.inputs, between, outputs))
        for head, part in (("inputs", cascade.inputs), ("answers", outputs)):
            self._line(f"{head:<9}{self._names([a.name for a in part])}", 9)

    def card(self, card: ScoreCard) -> None:
        """Print a score card."""
        self._line(f"{card.summary[0].upper()}{card.summary[1:]}.")
        first_rows, n_left = self.first(card.rows(), CARD_ROWS)
        self.console.print(rich_table(list(HEAD), first_rows, ["points", "if not known", "rows"]))
        self._note(n_left, "line")
        self._line(card.leads_text)

    def attributes(self, cascade: Cascade) -> None:
        """Print the table of attributes."""
        roles = roles_of(cascade)
        first_attributes, n_left = self.first(list(cascade.attributes.values()), ROWS)
        rows = [
            (a.name, roles[a.name], f"{len(a.domain):,}", self._values(a.domain))
            for a in first_attributes
        ]
        self._title("Attributes")
        self.console.print(rich_table(["attribute", "role", "size", "values"], rows, ["size"]))
        self._note(n_left, "attribute")

    def sets(
        self,
        cascade: Cascade,
        rule_sets: Sequence[RuleSet],
        *,
        rules: bool,
        cells: bool,
        matrix: str,
    ) -> None:
        """Print parts of rule sets of a cascade.

        Parameters
        ----------
        rules, cells : whether to print the rules, and the partition
        matrix : ``""`` for none, ``"symbols"`` or ``"numbers"``
        """
        first_sets, n_left = self.first(rule_sets, SETS)
        for rule_set in first_sets:
            name = rule_set.output.name
            self._title(f"Rules on {name}: {count_text(len(rule_set), 'rule')}")
            if rules:
                self.rules(rule_set, [cascade.rule_number(name, i) for i in range(len(rule_set))])
            if cells:
                self.partition(rule_set)
            if matrix:
                self.matrix(rule_set, matrix == "numbers")
        self._note(n_left, "rule set", "--set NAME or --all")

    def rules(self, rule_set: RuleSet, numbers: Sequence[int]) -> None:
        """Print the rules of a set with their numbers."""
        first_rules, n_left = self.first(rule_set.rules, RULES)
        width = len(str(max(numbers[: len(first_rules)])))
        for number, rule in zip(numbers, first_rules, strict=False):
            self._line(f"{number:>{width}}  {self.text(str(rule), TEXT)}", width + 2)
        self._note(n_left, "rule")

    def partition(self, rule_set: RuleSet) -> None:
        """Print the cells of the partition of the output's domain."""
        partition = rule_set.partition
        pairs = list(zip(partition.tuples, partition.cells(rule_set.output.domain), strict=True))
        first_cells, n_left = self.first(pairs, ROWS)
        rows = [
            (str(number), f"({self._names(list(map(str, signs)))})", self._values(values))
            for number, (signs, values) in enumerate(first_cells, 1)
        ]
        self._line(f"partition of {rule_set.output.name}: {count_text(len(pairs), 'cell')}")
        self.console.print(rich_table(["cell", "signs", "values"], rows, ["cell"]))
        self._note(n_left, "cell")

    def matrix(self, rule_set: RuleSet, numbers: bool) -> None:
        """Print the matrix M, with symbols or numbers."""
        relation = rule_set.relation
        rows = relation.symbolic
        if numbers:
            rows = [[six_digits(x) for x in row] for row in relation.matrix.tolist()]
        first_rows, n_left = self.first(rows, ROWS)
        n_columns_left = self.first(rows[0], NUMBERS)[1]
        note = f" ... {n_columns_left:,} more (--all)" if n_columns_left else ""
        columns = count_text(len(rows[0]), "column")
        self._line(
            f"matrix M: {count_text(len(rows), 'row')} (cells), {columns} (lambda_1, rho_1, ...)"
        )
        matrix_text = show_matrix([self.first(row, NUMBERS)[0] for row in first_rows], note)
        self.console.print(Text(matrix_text), soft_wrap=True)
        self._note(n_left, "row")

    def _note(self, count: int, noun: str, option: str = "--all") -> None:
        if count:
            self.console.print(shortened_note(count, noun, option))

    def _line(self, text: str, indent: int = 0) -> None:
        """Print text without markup; where it is long, with lines that are indented."""
        wrapped = textwrap.wrap(
            text,
            WIDTH,
            subsequent_indent=" " * indent,
            break_on_hyphens=False,
            break_long_words=False,
        )
        self.console.print(Text("\n".join(wrapped)), soft_wrap=True)

    def _title(self, text: str) -> None:
        self.console.print()
        self.console.print(Text(text, style="bold"), soft_wrap=True)

    def _names(self, names: Sequence[str]) -> str:
        first_names, n_left = self.first(names, NUMBERS)
        return ", ".join([*first_names, *([f"... {n_left:,} more (--all)"] if n_left else [])])

    def _values(self, values: Sequence[Hashable]) -> str:
        text = format_subset(values)
        if self.everything or len(text) <= TEXT // 2 or len(values) <= VALUES:
            return self.text(text, TEXT)
        n_left = len(values) - VALUES
        return f"{format_subset(values[:VALUES])[:-1]}, ... {n_left:,} more (--all)}}"
