"""Rules over a graph against recursive queries of DuckDB, where it is installed, in one run.

Closures of random graphs from some sources, and a family program without recursion. All answers are
compared, degree by degree. DuckDB runs in one thread, as pinesy does.
"""

import resource
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
from measure import Line, best_times, exponent

from pinesy import Graph, RelationalRules

PATHS = RelationalRules.parse("""
    relation edge(node, node)
    if edge(X, Y) or path(X, Z) and edge(Z, Y) then path(X, Y)
""")
CLOSURE = """
    with recursive path(a, b, w) using key (a, b) as (
        select a, b, max(w) from edge where a < {sources} group by a, b
        union
        select path.a, edge.b, max(least(path.w, edge.w))
        from path join edge on path.b = edge.a
            left join recurring.path as old on old.a = path.a and old.b = edge.b
        where old.w is null or least(path.w, edge.w) > old.w
        group by path.a, edge.b
    ) select a, b, w from path
"""
FAMILY = RelationalRules.parse("""
    relation parent(person, person)
    if parent(X, Y) and parent(Y, Z) then grandparent(X, Z) [certainty=0.95]
    if parent(Z, X) and parent(Z, Y) and X != Y then sibling(X, Y) [certainty=0.9]
    if sibling(X, Y) and parent(Y, Z) then aunt(X, Z)
    if grandparent(X, Y) and parent(Y, Z) then great(X, Z)
    if aunt(X, Y) and parent(X, Z) then cousin(Z, Y) [certainty=0.8]
""")
RELATIONS = ("grandparent", "sibling", "aunt", "great", "cousin")
JOINS = {
    "grandparent": "select p.a, q.b, max(least(0.95, p.w, q.w)) as w from parent p "
    "join parent q on p.b = q.a group by p.a, q.b",
    "sibling": "select p.b as a, q.b as b, max(least(0.9, p.w, q.w)) as w from parent p "
    "join parent q on p.a = q.a where p.b != q.b group by p.b, q.b",
    "aunt": "select s.a, p.b, max(least(s.w, p.w)) as w from sibling s "
    "join parent p on s.b = p.a group by s.a, p.b",
    "great": "select g.a, p.b, max(least(g.w, p.w)) as w from grandparent g "
    "join parent p on g.b = p.a group by g.a, p.b",
    "cousin": "select p.b as a, t.b as b, max(least(0.8, t.w, p.w)) as w from aunt t "
    "join parent p on t.a = p.a group by p.b, t.b",
}


def random_edges(m: int) -> tuple[np.ndarray, np.ndarray]:
    """Return edges among a fifth as many nodes, and their certainties, 20 levels."""
    rng = np.random.default_rng(0)
    edges = np.unique(rng.integers(0, m // 5, (m, 2)), axis=0)
    return edges, rng.integers(1, 21, len(edges)) / 20


def parents(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the parents of people in five generations, and certainties."""
    rng = np.random.default_rng(0)
    size = n // 5
    child = np.arange(size, n)
    start = (child // size - 1) * size
    pairs = [np.stack([start + rng.integers(0, size, len(child)), child], axis=1) for _ in "ab"]
    rows = np.unique(np.concatenate(pairs), axis=0)
    return rows, rng.integers(10, 21, len(rows)) / 20


def graph_of(name: str, rows: np.ndarray, degrees: np.ndarray) -> Graph:
    """Return a graph of one relation."""
    import pandas as pd

    frame = pd.DataFrame({"a": rows[:, 0], "b": rows[:, 1], "certainty": degrees})
    return Graph().add(name, frame)


def database(name: str, rows: np.ndarray, degrees: np.ndarray) -> Any:
    """Return a DuckDB connection with one table, or None where it is not installed."""
    if find_spec("duckdb") is None:
        return None
    import duckdb
    import pandas as pd

    connection = duckdb.connect()
    connection.execute("set threads = 1")
    frame = pd.DataFrame({"a": rows[:, 0], "b": rows[:, 1], "w": degrees})
    connection.register("rows", frame)
    connection.execute(f"create table {name} as select * from rows")
    return connection


def check(ours: dict[tuple[int, int], float], theirs: Any) -> None:
    """Compare answers with those of a query."""
    columns = theirs.fetchnumpy()
    other = dict(
        zip(
            zip(columns["a"].tolist(), columns["b"].tolist(), strict=True),
            columns["w"].tolist(),
            strict=True,
        )
    )
    assert ours == other


def closure_line(m: int, n_sources: int) -> tuple[Line, float]:
    """Measure a closure from some sources."""
    rows, degrees = random_edges(m)
    graph = graph_of("edge", rows, degrees)
    known = PATHS.infer(graph)
    sources = range(n_sources)

    def ask() -> Any:
        return known.ask("path(X, Y)", among={"X": sources})

    contenders: dict[str, Callable[[], object]] = {"pinesy": ask}
    connection = database("edge", rows, degrees)
    if connection is not None:
        query = CLOSURE.format(sources=n_sources)
        check(answers(ask()), connection.execute(query))
        contenders["DuckDB"] = lambda: connection.execute(query).fetchnumpy()
    times = best_times(contenders)
    seconds = times.pop("pinesy")
    note = f"{len(ask()):,} pairs; {memory()}"
    return Line(
        "relations", f"closure, {m:,} edges, {n_sources} sources", seconds, 1, times, note=note
    ), seconds


def answers(table: Any) -> dict[tuple[int, int], float]:
    """Return the certainty of each pair of a table."""
    return dict(zip(table.rows(), table.certain.tolist(), strict=True))


def memory() -> str:
    """Return the most memory that the process took, which other contenders share."""
    return f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.1f} GB at most"


def family_line(n: int) -> tuple[Line, float]:
    """Measure the family program."""
    rows, degrees = parents(n)
    graph = graph_of("parent", rows, degrees)

    def infer() -> Any:
        known = FAMILY.infer(graph)
        known.evaluate(RELATIONS)
        return known

    contenders: dict[str, Callable[[], object]] = {"pinesy": infer}
    connection = database("parent", rows, degrees)
    if connection is not None:

        def join() -> None:
            for name, query in JOINS.items():
                connection.execute(f"create or replace table {name} as {query}")

        join()
        known = infer()
        for name in RELATIONS:
            check(answers(known[name]), connection.execute(f"select a, b, w from {name}"))
        contenders["DuckDB"] = join
    times = best_times(contenders)
    seconds = times.pop("pinesy")
    known = infer()
    conclusions = sum(len(known.atoms(name).keys) for name in RELATIONS)
    note = f"{conclusions:,} conclusions; {memory()}"
    return Line(
        "relations", f"family, {n:,} people, 5 rules", seconds, 1, times, note=note
    ), seconds


def lines(tiny: bool = False) -> list[Line]:
    """Return the lines of the table."""
    closures = (100, 1_000) if tiny else (10_000, 100_000, 1_000_000)
    families = (100,) if tiny else (10_000, 100_000)
    results = [closure_line(m, 10) for m in closures]
    growth = exponent(closures, [seconds for _, seconds in results])
    table = [line for line, _ in results]
    table.append(Line("relations", "closure, growth", note=f"time grows as edges^{growth:.2f}"))
    return table + [family_line(n)[0] for n in families]


if __name__ == "__main__":
    for line in lines():
        print(line)
