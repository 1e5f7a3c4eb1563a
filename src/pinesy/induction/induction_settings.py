"""The settings of induction: how large rules may be, and what they cost."""

from dataclasses import dataclass, replace

from pinesy._common.validation import check_integer

#: What scikit-learn takes as a seed, too.
MAX_SEED = 2**32 - 1
#: Costs of a condition with the ridge, for two classes and for more, that are compared.
COSTS = ((0.25, 12.0), (0.5, 4.0), (2.0, 16.0))
COSTS_OF_MANY = ((0.1, 2.0), (0.5, 8.0))
#: Costs of a condition when rules are pruned.
PRUNE_COST, PRUNE_COST_OF_MANY = 1.0, 0.4
#: Rows that allow for a rule more by 50 of them.
COUNTED_ROWS = 20_000


@dataclass(frozen=True)
class InductionSettings:
    """How candidates are grown, and rules chosen among them.

    Attributes
    ----------
    least_rows : where a rule must hold, and where it must not
    max_conditions : of a rule, and the depth of trees
    max_rules : the most rules
    cost : of a condition, in log-likelihood
    ridge : pulls weights to 0
    prune_cost : of a condition, for rules that are pruned after the choice; 0 if none are
    seed : of the trees
    """

    least_rows: int
    max_conditions: int
    max_rules: int
    cost: float
    ridge: float
    prune_cost: float
    seed: int

    @classmethod
    def of(
        cls,
        n_rows: int,
        n_classes: int,
        max_rules: int | None = None,
        max_conditions: int | None = None,
        seed: int = 0,
        small: bool = False,
    ) -> "InductionSettings":
        """Return the settings for a table: shorter rules for two classes.

        With `small` half as many rules more are chosen, of which those stay that matter.
        """
        two = n_classes == 2
        conditions = (4 if two else 6) if max_conditions is None else max_conditions
        rules = 15 * n_classes + min(n_rows, COUNTED_ROWS) // 50 if max_rules is None else max_rules
        check_integer(rules, "max_rules", 1)
        return cls(
            least_rows=max(1, min(5, n_rows // 10)),
            max_conditions=check_integer(conditions, "max_conditions", 1),
            max_rules=rules,
            cost=(COSTS if two else COSTS_OF_MANY)[0][0],
            ridge=(COSTS if two else COSTS_OF_MANY)[0][1],
            prune_cost=(PRUNE_COST if two else PRUNE_COST_OF_MANY) if small else 0.0,
            seed=check_integer(seed, "seed", 0, most=MAX_SEED),
        )

    def alternatives(self, n_classes: int) -> "list[InductionSettings]":
        """Return these settings with each of the costs that are compared."""
        pairs = COSTS if n_classes == 2 else COSTS_OF_MANY
        return [replace(self, cost=cost, ridge=ridge) for cost, ridge in pairs]
