"""A query of layers: each computes columns from those of the layer before."""

from collections.abc import Iterable, Mapping, Sequence

from pinesy.emitters.program_steps import ProgramSteps, write_step
from pinesy.emitters.sql_dialects import Dialect
from pinesy.exceptions import DomainError

#: Characters of an expression from which on its parts become columns, and the most nested calls.
MAX_TEXT, MAX_NESTING = 2000, 20


class LayeredQuery:
    """A query ``WITH layer_0 AS (SELECT ...), layer_1 AS (SELECT ... FROM layer_0) ...``.

    Names of layers and inner columns are ours; those of users stand only in the first layer, after
    the name of the table, and in the last.

    Parameters
    ----------
    table : the parts of the name of the table
    """

    def __init__(self, dialect: Dialect, table: Sequence[str]) -> None:
        self.dialect = dialect
        self.source = f"{'.'.join(map(dialect.identifier, table))} AS t"
        self.prefix = "layer_"  # a layer would hide a table of its name
        while any(part.lower().startswith(self.prefix) for part in table):
            self.prefix += "_"
        self.layers: list[str] = []

    def add(self, columns: Mapping[str, str], carried: Iterable[str] = ()) -> None:
        """Append a layer.

        Parameters
        ----------
        columns : expressions by the names of columns
        carried : columns of the layer before that stay
        """
        query = self._select([*carried, *(f"{text} AS {name}" for name, text in columns.items())])
        name = f"{self.prefix}{len(self.layers)} {self.dialect.layer}"
        self.layers.append(f"{name} (\n  {query}{self.dialect.fence}\n)")

    def _select(self, columns: list[str]) -> str:
        limit = self.dialect.max_columns
        if limit and len(columns) > limit:
            raise DomainError(
                f"a query of these rules has {len(columns):,} columns, and {self.dialect.name} "
                f"allows {limit:,}; ask for fewer outputs, or leave out degrees"
            )
        source = f"{self.prefix}{len(self.layers) - 1}" if self.layers else self.source
        return f"SELECT {', '.join(columns)} FROM {source}"

    def text(self, columns: Mapping[str, str]) -> str:
        """Return the query; the last columns are named by users, here quoted."""
        last = self._select([f"{text} AS {name}" for name, text in columns.items()])
        return "WITH " + ",\n".join(self.layers) + f"\n{last}\n"


def add_program(
    query: LayeredQuery, steps: ProgramSteps, inputs: Mapping[int, str], carried: list[str]
) -> list[str]:
    """Append the layers of a program; return its output columns, as SQL.

    Values that are used once are written where they are used. All others are columns, which a layer
    carries as long as later ones need them.

    Parameters
    ----------
    inputs : the columns of the input degrees, by their value number
    carried : other columns to keep
    """
    texts, needs, level = _expressions(query.dialect, steps, inputs)
    columns = sorted(set(level) - set(range(steps.n_fixed)), key=lambda v: level[v])
    last = max((level[v] for v in columns), default=0)
    final = {v for v in steps.outputs.tolist() if v >= len(steps.constants)}
    last_use = dict.fromkeys(final, last + 1)
    for value in columns:
        for operand in needs[value]:
            last_use[operand] = max(last_use.get(operand, 0), level[value])
    names = {**inputs, **{value: f"v{value}" for value in columns}}
    for number in range(1, last + 1):
        values = [v for v in last_use if level.get(v, 0) < number <= last_use[v] - 1]
        alive = [names[v] for v in sorted(values)]
        new = {names[v]: texts[v] for v in columns if level[v] == number}
        query.add(new, [*carried, *alive])
    return [names[v] if v in names else texts[v] for v in steps.outputs.tolist()]


def _expressions(
    dialect: Dialect, steps: ProgramSteps, inputs: Mapping[int, str]
) -> tuple[dict[int, str], dict[int, set[int]], dict[int, int]]:
    """Return the text of each value, the columns in it, and the level of each that is a column."""
    texts = {v: dialect.number(float(number)) for v, number in enumerate(steps.constants)}
    texts |= inputs
    needs: dict[int, set[int]] = {v: set() for v in texts} | {v: {v} for v in inputs}
    level, nesting = dict.fromkeys(inputs, 0), dict.fromkeys(texts, 0)
    uses, outputs = steps.uses.tolist(), set(steps.outputs.tolist())
    operations = zip(steps.ops.tolist(), steps.operand_lists, strict=True)
    for value, (op, operands) in enumerate(operations, steps.n_fixed):
        parts = [f"v{v}" if v in level and v not in inputs else texts[v] for v in operands]
        texts[value] = write_step(op, parts, dialect.maximum, dialect.minimum)
        needs[value] = set[int]().union(*({v} if v in level else needs[v] for v in operands))
        nesting[value] = 2 + max(0 if v in level else nesting[v] for v in operands)
        is_small = len(texts[value]) < MAX_TEXT and nesting[value] < MAX_NESTING
        if uses[value] > 1 or value in outputs or not is_small:
            level[value] = 1 + max((level[v] for v in needs[value]), default=0)
    return texts, needs, level
