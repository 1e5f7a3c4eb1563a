"""`mine`: rules from the facts of a graph, with settings chosen on validation."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from pinesy._common.validation import check_flag, check_integer, check_number
from pinesy.exceptions import DataError
from pinesy.relations.mining.edge_index import EdgeIndex
from pinesy.relations.mining.link_prediction import Questions, as_graph, rank_targets
from pinesy.relations.mining.mined_rules import MinedRules
from pinesy.relations.mining.rule_strengths import (
    CountTables,
    MiningSettings,
    count_rules,
    scoring_tables,
)

#: The greatest k of ``at least k Z``.
LEVELS: Final = 6
#: What the search on validation tries.
SMOOTHINGS: Final = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0)
LIFTS: Final = (0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
ORDERS: Final = (("max", 1), ("leximax", 2), ("leximax", 3), ("leximax", 8))
#: Rules of a smaller strength are dropped: of all chains, and where there are chains of three.
LEAST, LEAST_OF_LONG = 0.02, 0.2


def mine(
    graph: Any,
    valid: Any = None,
    chains: int = 2,
    counting: bool = True,
    constants: bool = True,
    exclusions: bool = True,
    smoothing: float | None = None,
    by: str | None = None,
) -> MinedRules:
    """Mine rules from the binary facts of a graph: chains, constants and exclusions.

    With `valid`, coordinate search chooses what is used and how it is combined: the settings with
    the greatest filtered MRR on these facts. Without it, everything that is asked for is used.

    Parameters
    ----------
    graph : a `Graph`, rows ``(head, relation, tail)``, or the path of a file of them
    valid : held-out facts, in the same forms
    chains : the most steps of a body such as ``r(X, Z) and s(Z, Y)``, 1 to 3; a step may go
        against its relation
    counting : whether bodies such as ``at least 3 Z: (r(X, Z) and s(Z, Y))`` are tried
    constants : whether rules such as ``if s(X, d) then r(X, c)`` are tried
    exclusions : whether rules such as ``if s(X, Y) then not r(X, Y)`` are tried
    smoothing : K in the strength k / (n + K) of a rule with n instances, k of them right; None for
        the choice of validation, or 5
    by : ``"max"``, ``"leximax"`` or ``"noisy_or"``; None for the choice of validation between the
        possibilistic ones, or leximax

    Examples
    --------
    >>> facts = [(f"p{i}", "parent", f"p{i + 1}") for i in range(30)]
    >>> facts += [(f"p{i}", "grandparent", f"p{i + 2}") for i in range(20)]
    >>> rules = mine(facts, smoothing=1.0)
    >>> rules.top("grandparent", 1)[0].text
    'if parent(X, Z) and parent(Z, Y) and Z != X and Z != Y then grandparent(X, Y)'
    """
    check_integer(chains, "chains", 1)
    if chains > 3:
        raise DataError(f"chains={chains}: chains have at most 3 steps")
    for name, flag in (
        ("counting", counting),
        ("constants", constants),
        ("exclusions", exclusions),
    ):
        check_flag(flag, name)
    if smoothing is not None:
        check_number(smoothing, "smoothing", 0.0)
    if by not in (None, "max", "leximax", "noisy_or"):
        raise DataError(f"unknown by={by!r:.40}; expected 'max', 'leximax' or 'noisy_or'")
    edges = EdgeIndex(as_graph(graph))
    levels = LEVELS if counting and chains > 1 else 1
    counts = count_rules(edges, chains, levels, constants)
    settings = MiningSettings(
        chains=chains,
        counting=levels,
        constants=constants,
        exclusions=LIFTS[3] if exclusions else None,
        smoothing=5.0 if smoothing is None else smoothing,
        constant_smoothing=5.0 if smoothing is None else smoothing,
        least=LEAST if chains < 3 else LEAST_OF_LONG,
        by=by or "leximax",
    )
    if valid is None:
        return MinedRules(edges, counts, settings)
    search = _Search(edges, counts, Questions.about(edges, valid), settings, smoothing, by)
    return MinedRules(edges, counts, *search.run(), known=(as_graph(valid),))


class _Search:
    """Coordinate search for the settings with the greatest MRR on validation."""

    def __init__(
        self,
        edges: EdgeIndex,
        counts: CountTables,
        questions: Questions,
        most: MiningSettings,
        smoothing: float | None,
        by: str | None,
    ) -> None:
        self.edges, self.counts, self.questions, self.most = edges, counts, questions, most
        self.smoothings = SMOOTHINGS if smoothing is None else (smoothing,)
        self.by = by
        self.mrr: dict[MiningSettings, tuple[float, MiningSettings]] = {}

    def run(self) -> tuple[MiningSettings, float]:
        """Return the best settings and their MRR; of equal ones the simpler."""
        start = replace(self.most, chains=1, counting=1, constants=False, least=LEAST)
        best = self._try(start)
        while True:
            before = best[0]
            for coordinate in (
                "smoothing",
                "constants",
                "constant_smoothing",
                "counting",
                "chains",
            ):
                for settings in self._neighbours(best[1], coordinate):
                    trial = self._try(settings)
                    if trial[0] > best[0]:
                        best = trial
            if best[0] <= before:
                return best[1], best[0]

    def _neighbours(self, settings: MiningSettings, coordinate: str) -> Iterator[MiningSettings]:
        most = self.most
        values: dict[str, tuple[Any, ...]] = {
            "smoothing": self.smoothings,
            "constants": (False, True)[: 1 + most.constants],
            "constant_smoothing": self.smoothings if settings.constants else (),
            "counting": tuple({1, most.counting}) if settings.chains > 1 else (),
            "chains": tuple(range(1, most.chains + 1)),
        }
        for value in values[coordinate]:
            changed = replace(settings, **{coordinate: value})
            yield replace(changed, least=LEAST if changed.chains < 3 else LEAST_OF_LONG)

    def _try(self, settings: MiningSettings) -> tuple[float, MiningSettings]:
        """Return the MRR of the best order and exclusion, and the settings with them."""
        key = replace(settings, by="max", depth=1, exclusions=None)
        if key not in self.mrr:
            orders = [
                replace(settings, by=by, depth=depth, exclusions=lift)
                for by, depth in (ORDERS if self.by != "noisy_or" else (("noisy_or", 1),))
                if self.by in (None, by)
                for lift in ((None, *LIFTS) if self.most.exclusions is not None else (None,))
            ]
            tables = scoring_tables(self.edges, self.counts, settings)
            figures = rank_targets(self.edges, tables, self.questions, orders)
            index = max(range(len(orders)), key=lambda i: (figures[i].mrr, -i))
            self.mrr[key] = figures[index].mrr, orders[index]
        return self.mrr[key]
