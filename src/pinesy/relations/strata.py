"""The order of evaluation: relations that depend on each other form a stratum."""

from collections.abc import Iterable, Iterator, Mapping


def strongly_connected(graph: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """Return the strongly connected components, each after those that it leads to (Tarjan).

    Examples
    --------
    >>> strongly_connected({"a": ["b"], "b": ["c", "b"], "c": ["b"]})
    [['b', 'c'], ['a']]
    """
    search = _ComponentSearch(graph)
    for root in graph:
        if root not in search.order:
            search.visit(root)
    return search.components


class _ComponentSearch:
    """The state of Tarjan's algorithm, without recursion."""

    def __init__(self, graph: Mapping[str, Iterable[str]]) -> None:
        self.graph = graph
        self.order: dict[str, int] = {}
        self.lowest: dict[str, int] = {}
        self.stack: dict[str, None] = {}
        self.components: list[list[str]] = []

    def visit(self, root: str) -> None:
        """Visit all nodes that are reached from one."""
        work = [self._enter(root)]
        while work:
            node, successors = work[-1]
            successor = next(successors, None)
            if successor is None:
                work.pop()
                if work:
                    parent = work[-1][0]
                    self.lowest[parent] = min(self.lowest[parent], self.lowest[node])
                if self.lowest[node] == self.order[node]:
                    self._close(node)
            elif successor not in self.order:
                work.append(self._enter(successor))
            elif successor in self.stack:
                self.lowest[node] = min(self.lowest[node], self.order[successor])

    def _enter(self, node: str) -> tuple[str, Iterator[str]]:
        self.order[node] = self.lowest[node] = len(self.order)
        self.stack[node] = None
        return node, (other for other in list(self.graph[node]) if other in self.graph)

    def _close(self, node: str) -> None:
        component = []
        while node in self.stack:
            member, _ = self.stack.popitem()
            component.append(member)
        self.components.append(sorted(component, key=self.order.__getitem__))


def find_cycle(graph: Mapping[str, Iterable[str]], start: str, first: str) -> list[str]:
    """Return a shortest cycle that goes from `start` to `first` and back to `start`.

    Examples
    --------
    >>> find_cycle({"a": ["b"], "b": ["c"], "c": ["a"]}, "a", "b")
    ['a', 'b', 'c', 'a']
    """
    before = {first: start}
    waiting = [first]
    for node in waiting:  # grows in the loop
        if node == start:
            break
        for successor in graph.get(node, ()):
            if successor not in before:
                before[successor] = node
                waiting.append(successor)
    cycle = [start]
    node = start
    while True:
        node = before[node]
        cycle.append(node)
        if node == start:
            return cycle[::-1]
