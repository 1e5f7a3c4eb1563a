"""What a replay reports: which decisions would differ, in which groups, and by which rules."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pinesy._common.reports import count_text

#: Kinds of changes that the first sentence names; the others are counted.
MAX_CHANGES = 4


@dataclass(frozen=True)
class Difference:
    """A decision that the new model makes otherwise.

    Attributes
    ----------
    file, line : of the decision in the log
    time, request, sample : of the decision: when, in which request, and its index there
    ids : what identifies the sample
    group : the group of the sample; None without groups
    output : the attribute that is decided on
    before, after : outcome, best value and certainty, then and now
    rules_before, rules_after : the numbers of the rules that decided then, in the model of then,
        and of those that decide now, in the new model; None where they were not computed
    """

    file: str
    line: int
    time: str
    request: str
    sample: int
    ids: dict[str, Any]
    group: str | None
    output: str
    before: dict[str, Any]
    after: dict[str, Any]
    rules_before: list[int]
    rules_after: list[int] | None

    @property
    def change(self) -> str:
        """Both answers in words, such as ``approve -> review``."""
        return f"{_answer_text(self.before)} -> {_answer_text(self.after)}"

    def to_dict(self) -> dict[str, Any]:
        """Return the difference as plain data."""
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return fields if self.group is not None else fields | {"group": None}


@dataclass
class GroupCount:
    """The decisions of a group: how many, how many differ, and how many in degrees only."""

    decisions: int = 0
    differ: int = 0
    shifted: int = 0

    @property
    def share(self) -> float:
        """The share of decisions that differ."""
        return self.differ / self.decisions if self.decisions else 0.0


@dataclass
class ReplayReport:
    """The decisions of a log, compared with those of a new model.

    Attributes
    ----------
    total : the counts of all decisions
    differences : the decisions that differ
    groups : the counts of each group, by name; empty without groups
    column : what the groups are of
    rules_before, rules_after : by the texts of rules (numbers where the log has no texts), the
        number of differing decisions that they decided then, and do not now; and the reverse
    removed, added : the texts of rules that only the models of then have, and only the new one
    unexplained : differences whose rules were not computed, as there are very many
    notices : what was skipped or ignored, as texts
    """

    total: GroupCount = field(default_factory=GroupCount)
    differences: list[Difference] = field(default_factory=list)
    groups: dict[str, GroupCount] = field(default_factory=dict)
    column: str | None = None
    rules_before: Counter[str] = field(default_factory=Counter)
    rules_after: Counter[str] = field(default_factory=Counter)
    removed: set[str] = field(default_factory=set)
    added: set[str] = field(default_factory=set)
    unexplained: int = 0
    notices: list[str] = field(default_factory=list)

    @property
    def changes(self) -> Counter[str]:
        """The differences by their answers then and now, such as ``approve -> review``."""
        return Counter(difference.change for difference in self.differences)

    @property
    def verdict(self) -> str:
        """How many decisions differ, and how, as a sentence.

        Examples
        --------
        >>> ReplayReport(GroupCount(500)).verdict
        'None of 500 decisions would differ'
        """
        n, total = self.total.differ, self.total.decisions
        decisions = count_text(total, "decision")
        shifted = ""
        if self.total.shifted:
            keep = "keeps its answer" if self.total.shifted == 1 else "keep their answers"
            shifted = f"; {self.total.shifted:,}{' more' * bool(n)} {keep} with other degrees"
        if not n:
            return f"None of {decisions} would differ{shifted}"
        changes = self.changes.most_common()
        texts = [f"{count:,} {change}" for change, count in changes[:MAX_CHANGES]]
        if len(changes) > MAX_CHANGES:
            texts.append(f"{sum(count for _, count in changes[MAX_CHANGES:]):,} others")
        share = f"{100 * self.total.share:.3g} %"
        return f"{n:,} of {decisions} would differ ({share}): {', '.join(texts)}{shifted}"

    def rule_status(self, text: str) -> str:
        """Return whether a rule is new or removed, or an empty text."""
        return "removed" if text in self.removed else "new" if text in self.added else ""


def _answer_text(answer: Mapping[str, Any]) -> str:
    """Return the best value, or why there is none."""
    if answer["outcome"] == "decided":
        best = answer["best"]
        return best if isinstance(best, str) else "none" if best is None else f"{best}"
    return str(answer["outcome"]).replace("_", " ")
