"""Loops of closures: widest paths from some sources, and expansion of joins."""

# mypy: disable-error-code="no-untyped-def"
import numpy as np

from pinesy._common.jit import compiled

_I, _V = "int64", "int64[::1]"


@compiled(f"Tuple(({_V}, {_V}, {_V}, {_I}))({_V}, {_V}, {_V}, {_V}, {_I}, {_I}, {_I})")
def widest_paths(row_pointers, targets, ranks, sources, top, stop, max_atoms):
    """Return source, target and width of the paths of at least one edge, and the edges visited.

    The width of a path is its lowest rank; of each pair the greatest width is returned, if it is at
    least `stop`. Each source settles nodes by decreasing width, by buckets on its row of widths.
    The edges visited are -1 where there are more than `max_atoms` pairs.
    """
    n = row_pointers.size - 1
    capacity = 1024
    from_node = np.empty(capacity, np.int64)
    to_node = np.empty(capacity, np.int64)
    width_of = np.empty(capacity, np.int64)
    count = 0
    visited = 0
    width = np.zeros(n, np.int64)
    settled = np.zeros(n, np.uint8)
    touched = np.empty(n, np.int64)
    bucket = np.full(top + 1, -1, np.int64)
    entry_node = np.empty(1024, np.int64)
    entry_next = np.empty(1024, np.int64)
    for index in range(sources.size):
        source = sources[index]
        n_touched = 0
        n_entries = 0
        pending = 0
        level = top
        node = source
        rank = top
        while True:
            for edge in range(row_pointers[node], row_pointers[node + 1]):
                visited += 1
                target = targets[edge]
                reach = min(rank, ranks[edge])
                if reach > width[target] and reach >= stop:
                    if width[target] == 0:
                        touched[n_touched] = target
                        n_touched += 1
                    width[target] = reach
                    if n_entries == entry_node.size:
                        larger = np.empty(2 * n_entries, np.int64)
                        larger[:n_entries] = entry_node
                        entry_node = larger
                        larger = np.empty(2 * n_entries, np.int64)
                        larger[:n_entries] = entry_next
                        entry_next = larger
                    entry_node[n_entries] = target
                    entry_next[n_entries] = bucket[reach]
                    bucket[reach] = n_entries
                    n_entries += 1
                    pending += 1
            node = -1
            while pending > 0:
                entry = bucket[level]
                if entry < 0:
                    level -= 1
                    continue
                bucket[level] = entry_next[entry]
                pending -= 1
                candidate = entry_node[entry]
                if not settled[candidate] and width[candidate] == level:
                    settled[candidate] = 1
                    node = candidate
                    rank = level
                    break
            if node < 0:
                break
            if node == source:
                # Its edges were followed at the top already.
                rank = 0
        if count + n_touched > max_atoms:
            return from_node[:count].copy(), to_node[:count].copy(), width_of[:count].copy(), -1
        while count + n_touched > from_node.size:
            capacity = 2 * from_node.size
            larger = np.empty(capacity, np.int64)
            larger[:count] = from_node[:count]
            from_node = larger
            larger = np.empty(capacity, np.int64)
            larger[:count] = to_node[:count]
            to_node = larger
            larger = np.empty(capacity, np.int64)
            larger[:count] = width_of[:count]
            width_of = larger
        for index_of_target in range(n_touched):
            target = touched[index_of_target]
            from_node[count] = source
            to_node[count] = target
            width_of[count] = width[target]
            count += 1
            width[target] = 0
            settled[target] = 0
    return from_node[:count].copy(), to_node[:count].copy(), width_of[:count].copy(), visited


@compiled(f"Tuple(({_V}, {_V}))({_V}, {_V}, {_I})")
def expand_ranges(start, end, total):
    """Return, for each index of each range, the number of the range and the index."""
    rows = np.empty(total, np.int64)
    indices = np.empty(total, np.int64)
    count = 0
    for row in range(start.size):
        for index in range(start[row], end[row]):
            rows[count] = row
            indices[count] = index
            count += 1
    return rows, indices
