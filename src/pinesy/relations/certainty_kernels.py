"""The kernel of recursive rules: atoms are settled by decreasing certainty.

Buckets by rank; the atom of the highest rank is final, because a conclusion is never above the
lowest atom of its premise (Knuth's superior functions). A settled atom is joined with facts, by
sorted indices, and with atoms that were settled before, by linked lists under a hash of their bound
arguments. So each atom is settled once and each ground instance met once, when its last atom is
settled.
"""

# mypy: disable-error-code="no-untyped-def"
import numpy as np

from pinesy._common.jit import compiled, inner
from pinesy.relations.definite_clauses import (
    BIND,
    COMPARE,
    DONE,
    EQUAL,
    KEY,
    LOOKUP,
    SETTLED,
    TOO_MANY_ATOMS,
    TOO_MANY_INSTANCES,
)

_I, _V, _M = "int64", "int64[::1]", "int64[:, ::1]"


@inner
def _slot(table, keys, key):
    """Return the slot of a key in an open-addressing hash table, or the free slot for it."""
    mask = table.size - 1
    hashed = key * np.int64(-7046029254386353131)
    slot = (hashed ^ (hashed >> np.int64(29))) & mask
    while table[slot] >= 0 and keys[table[slot]] != key:
        slot = (slot + 1) & mask
    return slot


@inner
def _rehash(keys, count, size):
    """Return a larger hash table of the first `count` keys."""
    table = np.full(size, -1, np.int64)
    for index in range(count):
        table[_slot(table, keys, keys[index])] = index
    return table


@inner
def _grow(array, size):
    larger = np.empty(size, np.int64)
    larger[: array.size] = array
    return larger


@inner
def _value(term, binding):
    """Return the entity of a term: of a variable, or of a negative number."""
    return binding[term] if term >= 0 else -term - 1


@inner
def _compare(sign, left, right, number, order):
    """Return whether a comparison of two entities holds: ``== != < <= > >=`` are 0 to 5."""
    if sign == 0:
        return left == right
    if sign == 1:
        return left != right
    if number[left] != number[right]:
        return False
    a, b = order[left], order[right]
    if sign == 2:
        return a < b
    if sign == 3:
        return a <= b
    if sign == 4:
        return a > b
    return a >= b


@inner
def _search(keys, start, end, key):
    """Return the first index from `start` to `end` whose key is at least `key`."""
    while start < end:
        middle = (start + end) >> 1
        if keys[middle] < key:
            start = middle + 1
        else:
            end = middle
    return start


@compiled(
    f"Tuple(({_V}, {_V}, {_V}, {_M}, {_I}, {_I}))"
    f"({_V}, {_V}, {_V}, {_V}, {_V}, {_V}, {_M}, {_M}, {_V}, {_V}, {_V}, {_V}, {_M}, {_M},"
    f" {_V}, {_V}, {_M}, {_V}, {_V}, {_V}, {_V}, {_V}, {_V}, {_V}, {_V}, {_M}, {_V}, {_V}, {_V},"
    f" {_V}, {_V}, {_V}, {_V})"
)
def settle_atoms(
    settings,  # radix, top, stop, max_atoms, max_instances, record, n_variables
    arity,  # of each predicate
    first_keys,  # initial atoms: key * predicates + predicate
    first_ranks,
    occurrence_start,  # of each predicate
    occurrence_clause,
    occurrence_terms,
    occurrence_modes,
    step_start,  # of each occurrence
    step_kind,
    step_table,
    step_arity,
    step_terms,
    step_modes,
    clause_rank,
    head_predicate,
    head_terms,
    fact_start,  # of each index on facts
    fact_end,
    fact_rows,  # offset of its row pointers, or -1
    fact_bound,  # the bound part of the key of each fact, ascending in its index
    fact_key,
    fact_rank,
    row_pointers,
    list_start,  # of each predicate: its indices on settled atoms
    list_modes,
    lookup_start,
    lookup_end,
    lookup_default,
    lookup_key,
    lookup_rank,
    number,  # whether an entity is a number
    order,  # the place of an entity among numbers, or among texts
):
    """Return keys, ranks (0 if not settled), clauses, bindings of atoms; instances, status."""
    radix, top, stop = settings[0], settings[1], settings[2]
    max_atoms, max_instances = settings[3], settings[4]
    record, n_variables = settings[5], settings[6]
    n_predicates = arity.size
    width = max(1, occurrence_terms.shape[1])

    capacity = max(1024, 2 * first_keys.size)
    size = 1024
    while size < 2 * capacity:
        size *= 2
    keys = np.empty(capacity, np.int64)
    ranks = np.zeros(capacity, np.int64)
    settled = np.zeros(capacity, np.int64)
    clauses = np.full(capacity, -1, np.int64)
    bindings = np.zeros((capacity if record else 1, n_variables), np.int64)
    table = np.full(size, -1, np.int64)
    n_atoms = 0

    # Buckets: linked lists of entries, one for each rank.
    bucket = np.full(top + 1, -1, np.int64)
    entry_atom = np.empty(capacity, np.int64)
    entry_next = np.empty(capacity, np.int64)
    n_entries = 0

    # Lists of settled atoms, by index and bound arguments.
    n_lists = max(1, list_modes.shape[0])
    list_keys = np.empty(1024, np.int64)
    list_head = np.empty(1024, np.int64)
    list_table = np.full(4096, -1, np.int64)
    n_list_keys = 0
    node_atom = np.empty(1024, np.int64)
    node_next = np.empty(1024, np.int64)
    n_nodes = 0

    for index in range(first_keys.size):
        key, rank = first_keys[index], first_ranks[index]
        slot = _slot(table, keys, key)
        atom = table[slot]
        if atom < 0:
            atom = n_atoms
            table[slot] = atom
            keys[atom] = key
            n_atoms += 1
        if rank > ranks[atom]:
            ranks[atom] = rank
            entry_atom[n_entries] = atom
            entry_next[n_entries] = bucket[rank]
            bucket[rank] = n_entries
            n_entries += 1

    binding = np.zeros(max(1, n_variables), np.int64)
    arguments = np.zeros(width, np.int64)
    n_steps = 1
    for index in range(step_start.size - 1):
        n_steps = max(n_steps, step_start[index + 1] - step_start[index] + 1)
    rank_at = np.zeros(n_steps + 1, np.int64)
    cursor = np.zeros(n_steps + 1, np.int64)
    limit = np.zeros(n_steps + 1, np.int64)
    instances = 0
    status = DONE
    level = top
    while level >= stop and level > 0 and status == DONE:
        entry = bucket[level]
        if entry < 0:
            level -= 1
            continue
        bucket[level] = entry_next[entry]
        atom = entry_atom[entry]
        if ranks[atom] != level or settled[atom]:
            continue
        settled[atom] = 1
        predicate = keys[atom] % n_predicates
        digits = keys[atom] // n_predicates
        for position in range(arity[predicate] - 1, -1, -1):
            arguments[position] = digits % radix
            digits //= radix

        for index in range(list_start[predicate], list_start[predicate + 1]):
            key = np.int64(0)
            for position in range(arity[predicate]):
                if list_modes[index, position] == KEY:
                    key = key * radix + arguments[position]
            key = key * n_lists + index
            slot = _slot(list_table, list_keys, key)
            group = list_table[slot]
            if group < 0:
                if n_list_keys == list_keys.size:
                    list_keys = _grow(list_keys, 2 * list_keys.size)
                    list_head = _grow(list_head, 2 * list_head.size)
                group = n_list_keys
                list_keys[group] = key
                list_head[group] = -1
                list_table[slot] = group
                n_list_keys += 1
                if 2 * n_list_keys > list_table.size:
                    list_table = _rehash(list_keys, n_list_keys, 2 * list_table.size)
            if n_nodes == node_atom.size:
                node_atom = _grow(node_atom, 2 * n_nodes)
                node_next = _grow(node_next, 2 * n_nodes)
            node_atom[n_nodes] = atom
            node_next[n_nodes] = list_head[group]
            list_head[group] = n_nodes
            n_nodes += 1

        for occurrence in range(occurrence_start[predicate], occurrence_start[predicate + 1]):
            is_match = True
            for position in range(arity[predicate]):
                term = occurrence_terms[occurrence, position]
                if occurrence_modes[occurrence, position] == BIND:
                    binding[term] = arguments[position]
                elif _value(term, binding) != arguments[position]:
                    is_match = False
                    break
            if not is_match:
                continue
            clause = occurrence_clause[occurrence]
            first, last = step_start[occurrence], step_start[occurrence + 1]
            depth = 0
            rank_at[0] = min(level, clause_rank[clause])
            if rank_at[0] < stop:
                continue
            enters = True
            while depth >= 0:
                if first + depth == last:
                    # A ground instance: its head gets the lowest rank.
                    rank = rank_at[depth]
                    head = head_predicate[clause]
                    key = np.int64(0)
                    for position in range(arity[head]):
                        key = key * radix + _value(head_terms[clause, position], binding)
                    key = key * n_predicates + head
                    slot = _slot(table, keys, key)
                    goal = table[slot]
                    if goal < 0:
                        if n_atoms == keys.size:
                            if n_atoms >= max_atoms:
                                status = TOO_MANY_ATOMS
                                break
                            capacity = 2 * n_atoms
                            keys = _grow(keys, capacity)
                            ranks = _grow(ranks, capacity)
                            ranks[n_atoms:] = 0
                            settled = _grow(settled, capacity)
                            settled[n_atoms:] = 0
                            clauses = _grow(clauses, capacity)
                            clauses[n_atoms:] = -1
                            if record:
                                larger = np.zeros((capacity, n_variables), np.int64)
                                larger[:n_atoms] = bindings
                                bindings = larger
                        goal = n_atoms
                        keys[goal] = key
                        table[slot] = goal
                        n_atoms += 1
                        if 2 * n_atoms > table.size:
                            table = _rehash(keys, n_atoms, 2 * table.size)
                    if rank > ranks[goal]:
                        ranks[goal] = rank
                        clauses[goal] = clause
                        if record:
                            for variable in range(n_variables):
                                bindings[goal, variable] = binding[variable]
                        if n_entries == entry_atom.size:
                            entry_atom = _grow(entry_atom, 2 * n_entries)
                            entry_next = _grow(entry_next, 2 * n_entries)
                        entry_atom[n_entries] = goal
                        entry_next[n_entries] = bucket[rank]
                        bucket[rank] = n_entries
                        n_entries += 1
                    depth -= 1
                    enters = False
                    continue
                step = first + depth
                kind = step_kind[step]
                if kind >= LOOKUP:  # or COMPARE
                    rank = np.int64(0)
                    if enters and kind == COMPARE:
                        left = _value(step_terms[step, 0], binding)
                        right = _value(step_terms[step, 1], binding)
                        if _compare(step_table[step], left, right, number, order):
                            rank = top
                    elif enters:
                        key = np.int64(0)
                        for position in range(step_arity[step]):
                            key = key * radix + _value(step_terms[step, position], binding)
                        lookup = step_table[step]
                        begin, end = lookup_start[lookup], lookup_end[lookup]
                        slot_index = _search(lookup_key, begin, end, key)
                        rank = lookup_default[lookup]
                        if slot_index < end and lookup_key[slot_index] == key:
                            rank = lookup_rank[slot_index]
                    rank = min(rank, rank_at[depth])
                    if rank >= stop and rank > 0:
                        depth += 1
                        rank_at[depth] = rank
                    else:
                        depth -= 1
                        enters = False
                    continue
                if enters:
                    key = np.int64(0)
                    for position in range(step_arity[step]):
                        if step_modes[step, position] == KEY:
                            key = key * radix + _value(step_terms[step, position], binding)
                    index = step_table[step]
                    if kind == SETTLED:
                        key = key * n_lists + index
                        group = list_table[_slot(list_table, list_keys, key)]
                        cursor[depth] = list_head[group] if group >= 0 else -1
                    elif fact_rows[index] >= 0:
                        row = fact_rows[index] + key
                        cursor[depth] = fact_start[index] + row_pointers[row]
                        limit[depth] = fact_start[index] + row_pointers[row + 1]
                    else:
                        begin, end = fact_start[index], fact_end[index]
                        cursor[depth] = _search(fact_bound, begin, end, key)
                        limit[depth] = _search(fact_bound, cursor[depth], end, key + 1)
                elif kind == SETTLED:
                    cursor[depth] = node_next[cursor[depth]]
                else:
                    cursor[depth] += 1
                end_of_facts = np.int64(0) if kind == SETTLED else limit[depth]
                if cursor[depth] < 0 or (kind != SETTLED and cursor[depth] >= end_of_facts):
                    depth -= 1
                    enters = False
                    continue
                instances += 1
                if kind == SETTLED:
                    other = node_atom[cursor[depth]]
                    digits = keys[other] // n_predicates
                    rank = ranks[other]
                else:
                    digits = fact_key[cursor[depth]]
                    rank = fact_rank[cursor[depth]]
                rank = min(rank, rank_at[depth])
                is_match = rank >= stop
                for position in range(step_arity[step] - 1, -1, -1):
                    value = digits % radix
                    digits //= radix
                    if step_modes[step, position] == BIND:
                        binding[step_terms[step, position]] = value
                    else:
                        arguments[position] = value
                for position in range(step_arity[step]):
                    term = step_terms[step, position]
                    is_repeated = step_modes[step, position] == EQUAL
                    if is_repeated and binding[term] != arguments[position]:
                        is_match = False
                enters = is_match
                if is_match:
                    depth += 1
                    rank_at[depth] = rank
            if status != DONE:
                break
            if instances > max_instances:
                status = TOO_MANY_INSTANCES
                break
            # The steps wrote over the arguments: read them again for the next occurrence.
            digits = keys[atom] // n_predicates
            for position in range(arity[predicate] - 1, -1, -1):
                arguments[position] = digits % radix
                digits //= radix
    for atom in range(n_atoms):
        if not settled[atom]:
            ranks[atom] = 0
    return (
        keys[:n_atoms].copy(),
        ranks[:n_atoms].copy(),
        clauses[:n_atoms].copy(),
        bindings[: n_atoms if record else 0].copy(),
        instances,
        status,
    )
