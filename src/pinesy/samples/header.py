"""What the columns of a table of samples mean."""

from collections.abc import Sequence
from typing import NamedTuple

from pinesy._common.validation import suggestion
from pinesy.samples.layout import Layout, Origin


class Column(NamedTuple):
    """A column of a table: the degrees of one value, or (`position` is None) an attribute."""

    cell: int
    title: str
    name: str
    position: int | None


class Header:
    """What the columns of a table mean.

    Attributes
    ----------
    columns : the columns that are wanted, by attribute
    targets : the targets that the table has
    """

    def __init__(self, titles: Sequence[str], origin: Origin, layout: Layout) -> None:
        self.origin = origin
        self.layout = layout
        if len(titles) == 1 and self._is_several(titles[0].split(";")[1:]):
            origin.fail(f"the columns {titles[0]!r:.80} must be separated by commas, not by ';'")
        given: dict[str, dict[int | None, Column]] = {}
        for cell, title in enumerate(titles):
            column = Column(cell, title, *self._meaning(title))
            earlier = given.setdefault(column.name, {})
            whole = None in earlier or (column.position is None and earlier)
            if whole or column.position in earlier:
                origin.fail(f"column {title!r:.80}: an earlier column gives the same")
            earlier[column.position] = column
        layout.check_names(given, origin)
        self.columns = {n: list(given[n].values()) for n in layout.wanted if n in given}
        self.targets = [name for name in layout.targets if name in given]

    def _is_several(self, titles: Sequence[str]) -> bool:
        """Tell whether some of the titles name attributes."""
        return any(title.partition("=")[0] in self.layout.known for title in titles)

    def _meaning(self, title: str) -> tuple[str, int | None]:
        """Return the attribute and the value of a column."""
        if title in self.layout.known:
            return title, None
        # Names and values may themselves hold "=", so every split is tried.
        splits = [i for i, sign in enumerate(title) if sign == "="]
        found = [(title[:i], title[i + 1 :]) for i in splits if title[:i] in self.layout.known]
        for name, text in found:
            if text in self.layout.positions[name] or (name, text) == found[-1]:
                return name, self.layout.position(name, text, self.origin)
        name, noun = title.partition("=")[0], self.layout.noun
        self.origin.fail(
            f"column {title!r:.80} is neither an {noun} nor {noun}=value"
            f"{suggestion(name, self.layout.known)}; columns of other things must be left out"
        )
