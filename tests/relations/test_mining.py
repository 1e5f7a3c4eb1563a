"""Mining: counts, scores and ranks equal their definitions, and the engine says the same."""

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinesy import load
from pinesy.exceptions import DataError
from pinesy.relations import Graph, Table
from pinesy.relations.mining import MinedRules, mine
from pinesy.relations.mining.candidate_scores import target_ranks
from pinesy.relations.mining.edge_index import EdgeIndex
from pinesy.relations.mining.rule_counts import (
    LEAST_SHARE,
    count_chains,
    count_constants,
    count_single_steps,
)

Fact = tuple[str, str, str]
ENTITIES = ["a", "b", "c", "d", "e"]
FACTS = st.lists(
    st.tuples(st.sampled_from(ENTITIES), st.sampled_from("rst"), st.sampled_from(ENTITIES)),
    min_size=1,
    max_size=25,
    unique=True,
)
#: A family: grandparents follow from parents, siblings are symmetric and are no parents.
FAMILY = [(f"p{i}", "parent", f"p{i + 1}") for i in range(20)]
FAMILY += [(f"p{i}", "grandparent", f"p{i + 2}") for i in range(15)]
FAMILY += [(f"p{i}", "sibling", f"s{i}") for i in range(8)]
FAMILY += [(f"s{i}", "sibling", f"p{i}") for i in range(6)]


def holds(facts: set[Fact], names: tuple[str, ...], step: int, x: str, y: str) -> bool:
    """Return whether a step leads from x to y."""
    if step < len(names):
        return (x, names[step], y) in facts
    return (y, names[step - len(names)], x) in facts


def middles(
    facts: set[Fact], names: tuple[str, ...], steps: tuple[int, ...], x: str, y: str
) -> int:
    """Return how many tuples of different entities, none of them x or y, make a chain."""
    if len(steps) == 1:
        is_loop = x == y and steps[0] >= len(names)
        return int(holds(facts, names, steps[0], x, y) and not is_loop)
    entities = sorted({e for h, _, t in facts for e in (h, t)} - {x, y})
    paths = 0
    for inner in product(entities, repeat=len(steps) - 1):
        nodes = (x, *inner, y)
        if len({*inner}) == len(inner):
            paths += all(
                holds(facts, names, s, nodes[i], nodes[i + 1]) for i, s in enumerate(steps)
            )
    return paths


@given(FACTS)
@settings(max_examples=25, deadline=None)
def test_counts_of_chains_are_those_of_the_definition(triples: list[Fact]) -> None:
    edges, facts, levels = EdgeIndex(Graph().add_triples(triples)), {*triples}, 2
    names = edges.relations
    entities = sorted({e for h, _, t in triples for e in (h, t)})
    expected = {}
    for length in (1, 2, 3):
        for steps in product(range(edges.n_steps), repeat=length):
            if length == 3 and sum(steps) % 5:
                continue  # some of them: pure Python is slow
            found_pairs = {
                (x, y): middles(facts, names, steps, x, y) for x, y in product(entities, repeat=2)
            }
            for least in range(1, 1 + (levels if length == 2 else 1)):
                pairs = [pair for pair, count in found_pairs.items() if count >= least]
                for head, name in enumerate(names):
                    hits = sum((x, name, y) in facts for x, y in pairs)
                    is_kept = length < 3 or hits >= LEAST_SHARE * len(pairs)
                    if hits and is_kept and steps != (head,):
                        expected[head, steps, least] = len(pairs), hits
    counts = count_chains(edges, 3, levels)
    actual = {}
    for head, steps, least, body, hits in zip(*(c.tolist() for c in counts), strict=True):
        chain = tuple(s for s in steps if s >= 0)
        if len(chain) < 3 or not sum(chain) % 5:
            actual[head, chain, least] = body, hits
    assert actual == expected


@given(FACTS)
@settings(max_examples=50, deadline=None)
def test_counts_of_constants_and_single_steps(triples: list[Fact]) -> None:
    edges, facts = EdgeIndex(Graph().add_triples(triples)), {*triples}
    names, entities = edges.relations, edges.entities.names
    rows = {
        step * edges.n + d: {
            x for x in entities if holds(facts, names, step, str(entities[d]), str(x))
        }
        for step in range(edges.n_steps)
        for d in range(edges.n)
    }
    expected = {
        (body, head): (len(rows[body]), len(rows[body] & rows[head]))
        for body, head in product(rows, repeat=2)
        if body != head and len(rows[body] & rows[head]) >= 2
    }
    counts = count_constants(edges, 2)
    actual = {(b, h): (n, k) for b, h, n, k in zip(*(c.tolist() for c in counts), strict=True)}
    assert actual == expected
    bodies, hits = count_single_steps(edges)
    for step in range(edges.n_steps):
        pairs = [
            (str(x), str(y))
            for x, y in product(entities, repeat=2)
            if middles(facts, names, (step,), str(x), str(y))
        ]
        assert bodies[step] == len(pairs)
        assert hits[step].tolist() == [sum((x, n, y) in facts for x, y in pairs) for n in names]


@given(FACTS, st.sampled_from([1, 2, 3]), st.booleans())
@settings(max_examples=20, deadline=None)
def test_the_rules_infer_what_rank_says(triples: list[Fact], chains: int, counting: bool) -> None:
    mined = mine(triples, chains=chains, counting=counting, smoothing=0.5, by="max")
    rules = mined.to_rules()
    known = rules.infer(Graph().add_triples(triples))
    for name in mined.relations:
        if f"predicted_{name}" not in rules.derived:
            continue
        for entity in ENTITIES[:3]:
            if all(entity not in (h, t) for h, _, t in triples):
                continue
            table = known.ask(f"predicted_{name}({entity}, Y)")
            assert isinstance(table, Table)
            answers = {row["Y"]: row["certain"] for row in as_rows(table) if row["certain"] > 0}
            for ranked in mined.rank(f"{name}({entity}, Y)", n=100):
                assert answers.get(ranked.entity, 0.0) == pytest.approx(ranked.certain, abs=1e-9)


def as_rows(table: Table) -> list[dict[str, Any]]:
    frame = table.to_pandas()
    return [dict(zip(frame.columns, row, strict=True)) for row in frame.itertuples(index=False)]


@given(FACTS, FACTS)
@settings(max_examples=25, deadline=None)
def test_both_sides_score_an_atom_alike(triples: list[Fact], other: list[Fact]) -> None:
    mined = mine(triples, chains=3, smoothing=1.0, by="max")
    for head, name, tail in other[:5]:
        seen_entities = {e for h, _, t in triples for e in (h, t)}
        if name in mined.relations and {head, tail} <= seen_entities:
            tails = {r.entity: r for r in mined.rank(f"{name}({head}, Y)", n=100)}
            heads = {r.entity: r for r in mined.rank(f"{name}(X, {tail})", n=100)}
            if (head, name, tail) not in triples:
                assert (tail in tails) == (head in heads)
                if tail in tails:
                    assert tails[tail][1:] == heads[head][1:]


@given(
    st.lists(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=4, max_size=4)),
    st.data(),
)
@settings(max_examples=50, deadline=None)
def test_ties_are_at_their_mean_rank(
    rows: list[list[tuple[int, int]]], data: st.DataObject
) -> None:
    if not rows:
        return
    targets = [data.draw(st.integers(0, 3)) for _ in rows]
    known = [[data.draw(st.booleans()) for _ in range(4)] for _ in rows]
    keys = np.array(rows, np.float64)
    ranks = target_ranks(keys, np.array(targets), np.array(known))
    for row, target, is_known, rank in zip(rows, targets, known, ranks, strict=True):
        rivals = [k for i, k in enumerate(row) if i != target and not is_known[i]]
        better = sum(k > row[target] for k in rivals)
        equal = sum(k == row[target] for k in rivals)
        # The mean of the ranks that the target has over all orders of its ties.
        assert rank == np.mean([1 + better + i for i in range(equal + 1)])


@pytest.fixture(scope="module")
def family() -> MinedRules:
    return mine(FAMILY, smoothing=1.0)


def test_the_family_rules_are_mined(family: MinedRules) -> None:
    best = family.top("grandparent", 1)[0]
    assert (best.support, best.counterexamples, best.strength) == (15, 4, 15 / 20)
    assert best.certainty == 0.5
    assert any(rule.text.startswith("if sibling(Y, X)") for rule in family.top("sibling", 3))
    assert family.rank("grandparent(p16, Y)", by="max")[0].entity == "p18"
    exclusions = [rule.text for rule in family.top("parent", negated=True)]
    assert exclusions == ["if parent(Y, X) and X != Y then not parent(X, Y)"]


def test_noisy_or_is_the_product_of_independent_causes() -> None:
    triples = [("a", "r", "b"), ("a", "s", "b"), ("c", "r", "d"), ("c", "s", "d")]
    triples += [("a", "t", "b"), ("e", "r", "f"), ("e", "s", "f")]
    mined = mine(triples, chains=1, constants=False, exclusions=False, smoothing=1.0)
    answer = mined.rank("t(c, Y)", by="noisy_or")[0]
    share = 1 / (3 + 1)
    assert answer.entity == "d"
    assert answer.strength == pytest.approx(1 - (1 - share) ** 2)
    assert answer.certain == 0.0


def test_validation_chooses_the_settings() -> None:
    held_out = [(f"p{i}", "grandparent", f"p{i + 2}") for i in range(15, 18)]
    mined = mine(FAMILY, held_out)
    assert mined.settings.chains == 2
    assert mined.validation_mrr == 1.0
    assert mined.evaluate([("p18", "grandparent", "p20")]).mrr == 1.0


def test_entities_without_facts_are_candidates(family: MinedRules) -> None:
    figures = family.evaluate([("stranger", "parent", "p1")])
    n = len({e for h, _, t in FAMILY for e in (h, t)}) + 1
    # Nothing is known of the stranger: all rivals of its question are tied.
    assert figures.ranks[0, 0] == 1 + (n - 1) / 2


def test_saved_rules_are_the_rules(family: MinedRules, tmp_path: Path) -> None:
    family.save(tmp_path / "mined.rules")
    assert load(tmp_path / "mined.rules") == family.to_rules()


def test_bad_input_is_refused(family: MinedRules) -> None:
    with pytest.raises(DataError, match="triple"):
        mine([("a", "r")])
    with pytest.raises(DataError, match="relation"):
        mine(Graph({"p": [("a",)]}))
    with pytest.raises(DataError, match="at most 3"):
        mine(FAMILY, chains=4)
    with pytest.raises(DataError, match="'noisy_or'"):
        mine(FAMILY, by="sum")
    with pytest.raises(DataError, match="cousin"):
        family.evaluate([("a", "cousin", "b")])
    with pytest.raises(DataError, match="variable"):
        family.rank("parent(p1, p2)")
    with pytest.raises(DataError, match="nobody"):
        family.rank("parent(nobody, Y)")
