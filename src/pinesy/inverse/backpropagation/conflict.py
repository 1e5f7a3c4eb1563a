"""A conflict: what keeps a target from being reached, with the rules that clash."""

from dataclasses import dataclass, field, replace
from functools import cached_property

from pinesy.rules.attributes import Premise
from pinesy.rules.rule import Rule

#: Rules, and propositions of a rule, that a text shows.
SHOWN = 4


@dataclass(frozen=True)
class Clashing:
    """A rule that clashes with others: its output, its number counted from 1, and its texts.

    Texts are made once: one rule may be in hundreds of conflicts, with hundreds of propositions.
    """

    output: str
    number: int
    rule: Rule

    @cached_property
    def text(self) -> str:
        """The whole rule."""
        return str(self.rule)

    @cached_property
    def short(self) -> str:
        """The rule in one line; of a long premise its beginning, and how many more there are."""
        parts = self.rule.premise.propositions
        if len(parts) <= SHOWN:
            return " ".join(self.text.split())
        first = Rule(Premise(parts[:1]), self.rule.conclusion, self.rule.s, self.rule.r)
        rest = " ".join(str(first).split()).removeprefix(f"if {parts[0]} ")
        shown = " and ".join(map(str, parts[:SHOWN]))
        return f"if {shown} and {len(parts) - SHOWN} more propositions {rest}"


@dataclass(frozen=True)
class Conflict:
    """Something that keeps the inputs that were found from giving a target.

    Attributes
    ----------
    kind : ``"target"``: no premise degrees at all give the target; ``"height"``: the bounds of the
        rules leave no value of `attribute` at 1, though inputs outside of them may give the target;
        ``"lower"``: a premise degree must be higher than the rules let it be; ``"reach"``: the
        greatest inputs give `attribute` more than its target; ``"conjunction"``: no proposition
        that was tried lowers the premise of a rule; ``"targets"``: the targets of two attributes,
        one inferred from the other, contradict
    attribute : the name of the attribute that the conflict is on
    clashing : the rules that clash
    distance : how far it is from what was asked
    message : all of it in words
    row : the sample, for a batch
    """

    kind: str
    attribute: str
    clashing: tuple[Clashing, ...] = field(repr=False)
    distance: float
    message: str
    row: int | None = None

    @cached_property
    def rules(self) -> tuple[tuple[str, int, str], ...]:
        """The rules that clash, in words: output attribute, number counted from 1, whole text."""
        return tuple((c.output, c.number, c.text) for c in self.clashing)

    def at(self, row: int) -> "Conflict":
        """Return the conflict as one of a sample of a batch."""
        return replace(self, row=row)

    def __str__(self) -> str:
        where = "" if self.row is None else f"row {self.row}: "
        lines = [f"  rule {c.number} on {c.output}: {c.short}" for c in self.clashing[:SHOWN]]
        left = len(self.clashing) - len(lines)
        more = [f"  and {left} more rules"] * (left > 0)
        return "\n".join([f"{where}{self.message}", *lines, *more])
