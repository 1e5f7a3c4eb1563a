"""Prints rule bases: attributes, rules, partitions and matrices, shortened where they are long."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.syntax.writer import format_subset

T = TypeVar("T")

#: What is shown of each unless all is wanted: rows of a table, rule sets, rules of a set,
#: characters of a rule or subset, values of a subset, numbers in a row.
ROWS, SETS, RULES, TEXT, VALUES, NUMBERS = 20, 8, 12, 200, 8, 24


def degree_text(degree: float) -> str:
    """Return a degree for reading, with six digits."""
    return f"{degree:.6g}"


def shortened_note(count: int, what: str) -> Text:
    """Return the line that tells how much is left out."""
    return Text(f"... and {counted(count, what, 'more ')}; --all shows them", style="italic")


def counted(count: int, what: str, word: str = "") -> str:
    """Return a number with what it counts: ``1 rule``, ``2 more rules``."""
    return f"{count:,} {word}{what}{'s' * (count != 1)}"


def new_table(*columns: str, right: Sequence[str] = ()) -> Table:
    """Return an empty table; long cells are folded, never cut."""
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for column in columns:
        justify = "right" if column in right else "left"
        table.add_column(column, overflow="fold", justify=justify)  # type: ignore[arg-type]
    return table


@dataclass(frozen=True)
class Page:
    """Prints parts of a rule base.

    Attributes
    ----------
    console : where to
    everything : True to shorten nothing
    """

    console: Console
    everything: bool = False

    def summary(self, cascade: Cascade) -> None:
        """Print one line on the whole."""
        rules = sum(map(len, cascade.rule_sets))
        names = [self._names([a.name for a in part]) for part in (cascade.inputs, cascade.outputs)]
        sizes = f"{counted(len(cascade.rule_sets), 'rule set')}, {counted(rules, 'rule')}"
        self._line(f"{sizes}: {names[0]} -> {names[1]}")

    def attributes(self, cascade: Cascade) -> None:
        """Print the table of attributes."""
        roles = roles_of(cascade)
        table = new_table("attribute", "role", "size", "values", right=("size",))
        shown = self._cut(list(cascade.attributes.values()), ROWS)
        for a in shown:
            values = self._values(a.domain)
            table.add_row(*map(Text, (a.name, roles[a.name], f"{len(a.domain):,}", values)))
        self._title("Attributes")
        self.console.print(table)
        self._note(len(cascade.attributes) - len(shown), "attribute")

    def sets(self, rule_sets: Sequence[RuleSet], *, rules: bool, cells: bool, matrix: str) -> None:
        """Print parts of rule sets.

        Parameters
        ----------
        rules, cells : whether to print the rules, and the partition
        matrix : ``""`` for none, ``"symbols"`` or ``"numbers"``
        """
        shown = self._cut(rule_sets, SETS)
        for rule_set in shown:
            self._title(f"Rules on {rule_set.output.name}: {counted(len(rule_set), 'rule')}")
            if rules:
                self.rules(rule_set)
            if cells:
                self.partition(rule_set)
            if matrix:
                self.matrix(rule_set, matrix == "numbers")
        left = len(rule_sets) - len(shown)
        if left:
            note = f"... and {counted(left, 'rule set', 'more ')}; --set NAME or --all shows them"
            self.console.print(Text(note, style="italic"))

    def rules(self, rule_set: RuleSet) -> None:
        """Print the rules of a set, numbered."""
        shown = self._cut(rule_set.rules, RULES)
        width = len(str(len(shown)))
        for number, rule in enumerate(shown, 1):
            self._line(f"{number:>{width}}  {self._text(str(rule))}")
        self._note(len(rule_set) - len(shown), "rule")

    def partition(self, rule_set: RuleSet) -> None:
        """Print the cells that the conclusions cut the output's domain into."""
        partition = rule_set.partition
        pairs = list(zip(partition.tuples, partition.cells(rule_set.output.domain), strict=True))
        shown = self._cut(pairs, ROWS)
        table = new_table("cell", "signs", "values", right=("cell",))
        for number, (signs, values) in enumerate(shown, 1):
            listed = f"({self._names(list(map(str, signs)))})"
            table.add_row(*map(Text, (str(number), listed, self._values(values))))
        self._line(f"partition of {rule_set.output.name}: {counted(len(pairs), 'cell')}")
        self.console.print(table)
        self._note(len(pairs) - len(shown), "cell")

    def matrix(self, rule_set: RuleSet, numbers: bool) -> None:
        """Print the matrix M, with symbols or numbers."""
        relation = rule_set.relation
        rows = relation.symbolic
        if numbers:
            rows = [[degree_text(x) for x in row] for row in relation.matrix.tolist()]
        shown = self._cut(rows, ROWS)
        columns = counted(len(rows[0]), "column")
        self._line(
            f"matrix M: {counted(len(rows), 'row')} (cells), {columns} (lambda_1, rho_1, ...)"
        )
        width = max(len(entry) for row in shown for entry in row)
        for row in shown:
            self._line(f"[{self._names([f'{e:>{width}}' for e in row], ' ')}]")
        self._note(len(rows) - len(shown), "row")

    def _cut(self, items: Sequence[T], limit: int) -> Sequence[T]:
        return items if self.everything else items[:limit]

    def _note(self, count: int, what: str) -> None:
        if count:
            self.console.print(shortened_note(count, what))

    def _line(self, text: str) -> None:
        """Print text as it is: no markup, and no line breaks that it does not have."""
        self.console.print(Text(text), soft_wrap=True)

    def _title(self, text: str) -> None:
        self.console.print()
        self.console.print(Text(text, style="bold"), soft_wrap=True)

    def _names(self, names: Sequence[str], between: str = ", ") -> str:
        shown = self._cut(names, NUMBERS)
        left = len(names) - len(shown)
        return between.join([*shown, *([f"... {left:,} more (--all)"] if left else [])])

    def _text(self, text: str) -> str:
        shown = self._cut(text, TEXT)
        left = len(text) - len(shown)
        return str(shown) + (f" ... {left:,} more characters (--all)" if left else "")

    def _values(self, values: Sequence[Hashable]) -> str:
        text = format_subset(values)
        if self.everything or len(text) <= TEXT // 2 or len(values) <= VALUES:
            return self._text(text)
        left = len(values) - VALUES
        return f"{format_subset(values[:VALUES])[:-1]}, ... {left:,} more (--all)}}"


def roles_of(cascade: Cascade) -> dict[str, str]:
    """Return what each attribute is in the cascade."""
    roles = dict.fromkeys(cascade.attributes, "unused")
    used = [a for s in cascade.rule_sets for a in (*s.inputs, s.output)]
    roles |= {f.name: "factor" for a in used for f in a.factors}
    roles |= {s.output.name: "intermediate" for s in cascade.rule_sets}
    roles |= {a.name: "input" for a in cascade.inputs}
    return roles | {a.name: "output" for a in cascade.outputs}
