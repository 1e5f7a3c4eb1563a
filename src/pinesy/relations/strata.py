"""The order of evaluation: relations that depend on each other form a stratum."""

from collections.abc import Iterable, Mapping


def strongly_connected(graph: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """Return the strongly connected components, each after those that it leads to (Tarjan).

    Examples
    --------
    >>> strongly_connected({"a": ["b"], "b": ["c", "b"], "c": ["b"]})
    [['b', 'c'], ['a']]
    """
    order: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    on_stack: set[str] = set()
    components: list[list[str]] = []
    for root in graph:
        if root in order:
            continue
        work = [(root, iter(list(graph[root])))]
        order[root] = lowest[root] = len(order)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, successors = work[-1]
            for successor in successors:
                if successor not in graph:
                    continue
                if successor not in order:
                    order[successor] = lowest[successor] = len(order)
                    stack.append(successor)
                    on_stack.add(successor)
                    work.append((successor, iter(list(graph[successor]))))
                    break
                if successor in on_stack:
                    lowest[node] = min(lowest[node], order[successor])
            else:
                work.pop()
                if work:
                    parent = work[-1][0]
                    lowest[parent] = min(lowest[parent], lowest[node])
                if lowest[node] == order[node]:
                    component = []
                    while True:
                        member = stack.pop()
                        on_stack.discard(member)
                        component.append(member)
                        if member == node:
                            break
                    components.append(sorted(component, key=order.__getitem__))
    return components


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
