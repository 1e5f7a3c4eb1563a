"""The partition by conclusions: the paper's order, its cells, its prefix tree."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import oracles
from pinesy import Attribute, If, RuleSet
from pinesy.rules.partition import Partition, partition_of
from strategies import attributes, chosen, rule_sets


@st.composite
def domains_and_masks(draw: st.DrawFn, max_rules: int = 7) -> tuple[int, tuple[int, ...]]:
    size = draw(st.integers(1, 12))
    subsets = st.lists(st.integers(0, 2**size - 1), min_size=1, max_size=max_rules)
    return size, tuple(draw(subsets))


@given(domains_and_masks())
def test_order_and_cells_are_those_of_the_inductive_definition(
    case: tuple[int, tuple[int, ...]],
) -> None:
    size, masks = case
    domain = tuple(f"v{i}" for i in range(size))
    subsets = [{v for i, v in enumerate(domain) if m >> i & 1} for m in masks]
    expected = oracles.inductive_partition(domain, subsets)
    partition = partition_of(size, masks)
    assert partition.tuples == [signs for signs, _ in expected]
    assert partition.cells(domain) == [tuple(values) for _, values in expected]
    assert len(partition) == len(expected)
    assert partition.signs.tolist() == [[t > 0 for t in signs] for signs, _ in expected]
    for mu, (_, values) in enumerate(expected):
        assert all(partition.cell_of[domain.index(str(v))] == mu for v in values)


@given(domains_and_masks())
def test_tree_nodes_are_the_distinct_prefixes(case: tuple[int, tuple[int, ...]]) -> None:
    partition = partition_of(*case)
    prefixes = {signs[: i + 1] for signs in partition.tuples for i in range(len(signs))}
    assert partition.tree_nodes == len(prefixes)


@given(st.data())
def test_a_rule_set_has_the_partition_of_its_conclusions(data: st.DataObject) -> None:
    output = data.draw(attributes("out"))
    rule_set = data.draw(rule_sets([data.draw(attributes("in"))], output))
    subsets = [set(rule.conclusion.values) for rule in rule_set.rules]
    expected = oracles.inductive_partition(output.domain, subsets)
    assert rule_set.partition.tuples == [signs for signs, _ in expected]
    cells = rule_set.partition.cells(output.domain)
    assert list(map(repr, cells)) == [repr(tuple(values)) for _, values in expected]


def test_many_rules_need_no_two_to_the_n() -> None:
    a, b = Attribute("a", range(100)), Attribute("b", range(100))
    rule_set = RuleSet(If(a.isin({d})).then(b.isin({d})) for d in range(100))
    partition = rule_set.partition
    assert len(partition) == 100
    assert partition.cell_of.tolist() == list(range(99, -1, -1))
    assert partition.tree_nodes == sum(min(i + 1, 100) for i in range(1, 101))
    assert repr(partition) == "Partition(100 cells of 100 values by 100 rules)"


def test_domains_wider_than_a_machine_word() -> None:
    size = 203
    masks = (1 << 202, (1 << size) - 1, 1 | 1 << 64 | 1 << 128)
    partition: Partition = partition_of(size, masks)
    assert partition.tuples == [(-1, 2, 3), (1, 2, -3), (-1, 2, -3)]
    assert np.bincount(partition.cell_of).tolist() == [3, 1, 199]
    assert chosen(Attribute("a", range(size)), masks[2]) == [0, 64, 128]
