"""Loops of mining: count the instances of chains, and score the candidates of a question.

A *step* is a relation or, from ``n_relations`` on, its inverse. Edges are compressed by entity and
step: ``targets[pointers[s * n + x]:pointers[s * n + x + 1]]`` are the entities that
step s leads to from x. The variables of a chain stand for different entities, except its two ends:
an instance never uses the atom that it concludes on.
"""

# mypy: disable-error-code="no-untyped-def"
import numpy as np

from pinesy._common.jit import compiled, inner

_I, _V, _W = "int64", "int64[::1]", "int64[:, ::1]"
_F, _G, _B = "float64[::1]", "float64[:, ::1]", "float64[:, :, ::1]"


@inner
def _mark_facts(x, rows, ends, first, last):
    """Set where the facts of x about each entity begin and end."""
    for fact in range(rows[x], rows[x + 1]):
        if fact == rows[x] or ends[fact] != ends[fact - 1]:
            first[ends[fact]] = fact
        last[ends[fact]] = fact + 1


@inner
def _unmark_facts(x, rows, ends, first, last):
    """Undo `_mark_facts`."""
    for fact in range(rows[x], rows[x + 1]):
        first[ends[fact]] = 0
        last[ends[fact]] = 0


@inner
def _count_ends(x, start, stop, step, n, pointers, targets, count, touched):
    """Count for each Y the Z of the edges ``start`` to ``stop`` of x with step(Z, Y).

    Return how many entities Y were touched.
    """
    n_touched = 0
    for edge in range(start, stop):
        z = targets[edge]
        if z == x:
            continue
        row = step * n + z
        for next_edge in range(pointers[row], pointers[row + 1]):
            y = targets[next_edge]
            if y != z:
                if count[y] == 0:
                    touched[n_touched] = y
                    n_touched += 1
                count[y] += 1
    return n_touched


@inner
def _reach_middle(x, start, stop, step, n, pointers, targets, origin, middle):
    """Set for each W the Z of the edges of x with step(Z, W), or -2 for several; list these W.

    Return how many there are.
    """
    n_middle = 0
    for edge in range(start, stop):
        z = targets[edge]
        if z == x:
            continue
        row = step * n + z
        for next_edge in range(pointers[row], pointers[row + 1]):
            w = targets[next_edge]
            if w != z and w != x:
                if origin[w] == -1:
                    middle[n_middle] = w
                    n_middle += 1
                    origin[w] = z
                elif origin[w] != z:
                    origin[w] = -2
    return n_middle


@compiled(f"void({_I}, {_I}, {_V}, {_V}, {_V}, {_V}, {_V}, int64[:, :, ::1], int64[:, :, :, ::1])")
def count_pairs_of_steps(n, n_steps, pointers, targets, rows, ends, heads, bodies, hits):
    """Count chains ``a(X, Z) and b(Z, Y)`` by how many Z there are, alone and with each head.

    ``bodies[a, b, c - 1]`` gets the pairs (X, Y) with exactly c entities Z (the last column those
    with more, too), ``hits[a, b, c - 1, r]`` those of them with a fact r(X, Y). Facts are sorted:
    those of X are ``ends`` and ``heads`` from ``rows[X]`` to ``rows[X + 1]``.
    """
    levels = bodies.shape[2]
    count = np.zeros(n, np.int64)
    touched = np.empty(n, np.int64)
    first = np.zeros(n, np.int64)
    last = np.zeros(n, np.int64)
    for x in range(n):
        _mark_facts(x, rows, ends, first, last)
        for a in range(n_steps):
            start = pointers[a * n + x]
            stop = pointers[a * n + x + 1]
            if start == stop:
                continue
            for b in range(n_steps):
                n_touched = _count_ends(x, start, stop, b, n, pointers, targets, count, touched)
                for index in range(n_touched):
                    y = touched[index]
                    level = min(count[y], levels) - 1
                    count[y] = 0
                    bodies[a, b, level] += 1
                    for fact in range(first[y], last[y]):
                        hits[a, b, level, heads[fact]] += 1
        _unmark_facts(x, rows, ends, first, last)


@compiled(f"void({_I}, {_I}, {_I}, {_V}, {_V}, {_V}, {_V}, {_V}, {_W}, int64[:, :, ::1])")
def count_triples_of_steps(a, n, n_steps, pointers, targets, rows, ends, heads, bodies, hits):
    """Count the chains ``a(X, Z) and b(Z, W) and c(W, Y)`` of a first step.

    ``bodies[b, c]`` gets the number of pairs (X, Y), ``hits[b, c, r]`` of those with r(X, Y). W
    keeps the Z that it was reached from, or -2 for several: then some Z differs from any Y.
    """
    origin = np.full(n, -1, np.int64)
    middle = np.empty(n, np.int64)
    stamp = np.full(n, -1, np.int64)
    first = np.zeros(n, np.int64)
    last = np.zeros(n, np.int64)
    now = 0
    for x in range(n):
        start = pointers[a * n + x]
        stop = pointers[a * n + x + 1]
        if start == stop:
            continue
        _mark_facts(x, rows, ends, first, last)
        for b in range(n_steps):
            n_middle = _reach_middle(x, start, stop, b, n, pointers, targets, origin, middle)
            for c in range(n_steps):
                now += 1
                for index in range(n_middle):
                    w = middle[index]
                    for edge in range(pointers[c * n + w], pointers[c * n + w + 1]):
                        y = targets[edge]
                        if y != w and y != origin[w] and stamp[y] != now:
                            stamp[y] = now
                            bodies[b, c] += 1
                            for fact in range(first[y], last[y]):
                                hits[b, c, heads[fact]] += 1
            for index in range(n_middle):
                origin[middle[index]] = -1
        _unmark_facts(x, rows, ends, first, last)


@inner
def _insert(best, noisy, question, y, strength):
    """Add the strength of a rule to those of a candidate; `noisy` may have no rows."""
    slot = best.shape[2] - 1
    if strength > best[question, y, slot]:
        while slot > 0 and best[question, y, slot - 1] < strength:
            best[question, y, slot] = best[question, y, slot - 1]
            slot -= 1
        best[question, y, slot] = strength
    if noisy.shape[0] > 0:
        noisy[question, y] += np.log1p(-strength)


@compiled(f"void({_V}, {_V}, {_I}, {_I}, {_V}, {_V}, {_V}, {_W}, {_G}, {_B}, {_G})")
def score_chains(
    questions, anchors, n, n_relations, pointers, targets, rule_rows, steps, strengths, best, noisy
):
    """Insert the strengths of the chains that lead from each anchor to each candidate.

    Question q asks for step ``questions[q]`` from ``anchors[q]``: of a step from `n_relations` on,
    for the first argument. ``best[q, y]`` holds the greatest strengths, descending; ``noisy[q, y]``
    the sum of log(1 - strength). The rules on relation r are `steps` (-1 after the last) and
    `strengths` by the number of Z, from ``rule_rows[r]`` to ``rule_rows[r + 1]``.
    """
    n_steps = 2 * n_relations
    levels = strengths.shape[1]
    count = np.zeros(n, np.int64)
    touched = np.empty(n, np.int64)
    origin = np.full(n, -1, np.int64)
    middle = np.empty(n, np.int64)
    path = np.empty(3, np.int64)
    for question in range(questions.size):
        x = anchors[question]
        relation = questions[question] % n_relations
        is_inverse = questions[question] >= n_relations
        for rule in range(rule_rows[relation], rule_rows[relation + 1]):
            length = 0
            while length < 3 and steps[rule, length] >= 0:
                length += 1
            for index in range(length):
                if is_inverse:
                    path[index] = (steps[rule, length - 1 - index] + n_relations) % n_steps
                else:
                    path[index] = steps[rule, index]
            start = pointers[path[0] * n + x]
            stop = pointers[path[0] * n + x + 1]
            n_touched = 0
            if length == 1:
                for edge in range(start, stop):
                    y = targets[edge]
                    if y != x or steps[rule, 0] < n_relations:
                        count[y] = 1
                        touched[n_touched] = y
                        n_touched += 1
            elif length == 2:
                n_touched = _count_ends(
                    x, start, stop, path[1], n, pointers, targets, count, touched
                )
            else:
                n_middle = _reach_middle(
                    x, start, stop, path[1], n, pointers, targets, origin, middle
                )
                for index in range(n_middle):
                    w = middle[index]
                    row = path[2] * n + w
                    for edge in range(pointers[row], pointers[row + 1]):
                        y = targets[edge]
                        if y != w and y != origin[w] and count[y] == 0:
                            count[y] = 1
                            touched[n_touched] = y
                            n_touched += 1
                    origin[w] = -1
            for index in range(n_touched):
                y = touched[index]
                strength = strengths[rule, min(count[y], levels) - 1]
                count[y] = 0
                _insert(best, noisy, question, y, strength)


@compiled(
    f"void({_V}, {_V}, {_I}, {_I}, {_V}, {_V}, {_V}, {_V}, {_F}, {_V}, {_V}, {_F}, {_B}, {_G})"
)
def score_constants(
    questions,
    anchors,
    n,
    n_relations,
    pointers,
    targets,
    body_rows,
    body_heads,
    body_strengths,
    head_rows,
    head_bodies,
    head_strengths,
    best,
    noisy,
):
    """Insert the strengths of rules with constants, such as ``if s(X, d) then r(X, c)``.

    Such a rule leads from a row of edges to a row: who is in (d, inverse of s) is in (c, inverse of
    r). Rules are compressed by body (heads ascending), and by head.
    """
    n_steps = 2 * n_relations
    for question in range(questions.size):
        x = anchors[question]
        asked_step = questions[question]
        first_head = (asked_step + n_relations) % n_steps * n
        # The anchor is X: what its rows lead to.
        for step in range(n_steps):
            inverse = (step + n_relations) % n_steps
            for edge in range(pointers[step * n + x], pointers[step * n + x + 1]):
                body = inverse * n + targets[edge]
                low = body_rows[body]
                high = body_rows[body + 1]
                while low < high:
                    half = (low + high) // 2
                    if body_heads[half] < first_head:
                        low = half + 1
                    else:
                        high = half
                while low < body_rows[body + 1] and body_heads[low] < first_head + n:
                    _insert(
                        best, noisy, question, body_heads[low] - first_head, body_strengths[low]
                    )
                    low += 1
        # The anchor is the constant: who the rows are that lead to it.
        head = asked_step * n + x
        for index in range(head_rows[head], head_rows[head + 1]):
            body = head_bodies[index]
            for edge in range(pointers[body], pointers[body + 1]):
                _insert(best, noisy, question, targets[edge], head_strengths[index])


@compiled(f"void({_V}, {_V}, {_I}, {_I}, {_V}, {_V}, {_G}, {_G})")
def score_exclusions(questions, anchors, n, n_relations, pointers, targets, lifts, possible):
    """Lower ``possible[q, y]`` to the least lift of a step that leads from the anchor to y."""
    n_steps = 2 * n_relations
    for question in range(questions.size):
        x = anchors[question]
        relation = questions[question] % n_relations
        is_inverse = questions[question] >= n_relations
        for step in range(n_steps):
            lift = lifts[(step + n_relations) % n_steps if is_inverse else step, relation]
            for edge in range(pointers[step * n + x], pointers[step * n + x + 1]):
                y = targets[edge]
                possible[question, y] = min(possible[question, y], lift)
