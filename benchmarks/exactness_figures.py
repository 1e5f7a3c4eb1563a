"""How near searches and bounds come to what is exact: ``python benchmarks/exactness_figures.py``.

On random small rule bases: targets that some inputs give and backpropagation misses, coherent rules
that are not known to be, and bounds of margins against the smallest move that was found to change a
decision. Then the change that makes a Sudoku of 81 cells right, and learning of longer chains.
"""

from collections.abc import Sequence
from itertools import pairwise, product
from math import log
from time import process_time
from typing import Any

import numpy as np

from pinesy import Attribute, Cascade, Iff, Possibility, RuleSet, learn, why_not
from pinesy._common.validation import FloatArray
from pinesy.explanations import is_coherent, margin
from pinesy.inverse import backpropagate
from pinesy.problems import sudoku
from pinesy.problems.visual_sudoku import correct_grids
from pinesy.rules.propositions import Premise, Proposition
from pinesy.rules.rule import Rule

DEGREES = [0.0, 0.2, 0.5, 0.8, 1.0]
#: How far above a size a move is tried, and how near to it a bound counts as exact.
ABOVE, NEAR = 1e-9, 1e-6


class RandomRules:
    """Small random rules, and inputs for them."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def attributes(self, names: str) -> list[Attribute]:
        """Return attributes of two or three values."""
        return [Attribute(name, range(self.rng.integers(2, 4))) for name in names]

    def cascade(self, n_sets: int, conjunctions: bool) -> Cascade:
        """Return one rule set, or two of which the second uses the first."""
        a, b, c, d = self.attributes("abcd")
        first = self.rule_set([a, b], c, conjunctions)
        return Cascade(first, *[self.rule_set([c, a], d, conjunctions)][: n_sets - 1])

    def rule_set(self, inputs: Sequence[Attribute], output: Attribute, conj: bool) -> RuleSet:
        """Return one to four rules."""
        return RuleSet(self._rule(inputs, output, conj) for _ in range(self.rng.integers(1, 5)))

    def _rule(self, inputs: Sequence[Attribute], output: Attribute, conj: bool) -> Rule:
        used = self.rng.integers(len(inputs), size=self.rng.integers(1, 3) if conj else 1)
        s, r = self.rng.choice(DEGREES, 2) if self.rng.random() < 0.5 else (0.0, 0.0)
        parts = tuple(self._proposition(inputs[i]) for i in used)
        return Rule(Premise(parts), self._proposition(output), float(s), float(r))

    def _proposition(self, attribute: Attribute) -> Proposition:
        return Proposition(attribute, int(self.rng.integers(1, 2 ** len(attribute.domain))))

    def inputs(self, cascade: Cascade) -> dict[str, Possibility]:
        """Return normalised distributions."""
        found = {}
        for a in cascade.inputs:
            degrees = self.rng.choice(DEGREES, len(a.domain))
            degrees[self.rng.integers(len(degrees))] = 1.0
            found[a.name] = Possibility(a, degrees)
        return found


def missed_targets(n: int, n_sets: int, conjunctions: bool, seed: int = 0) -> int:
    """Return how many of `n` targets that inputs gave are not reproduced."""
    rules, tried, missed = RandomRules(seed), 0, 0
    while tried < n:
        cascade = rules.cascade(n_sets, conjunctions)
        output = cascade.order[-1].output
        given = cascade.infer(rules.inputs(cascade), [output])[output.name]
        if given.normalised:
            tried += 1
            missed += not backpropagate(cascade, None, {output.name: given}).reproduced
    return missed


def unknown_coherence(n: int, seed: int = 1) -> tuple[int, int]:
    """Return how many of `n` cascades are coherent, and of how many of these it is not known."""
    rules, coherent, unknown = RandomRules(seed), 0, 0
    for _ in range(n):
        cascade = rules.cascade(2, conjunctions=True)
        output = cascade.order[-1].output
        rows = list(product(*(np.eye(len(a.domain)) for a in cascade.inputs)))
        crisp = {a.name: np.array([row[i] for row in rows]) for i, a in enumerate(cascade.inputs)}
        degrees = cascade.infer(crisp, [output])[output.name].degrees
        if (degrees.max(axis=1) == 1.0).all():
            coherent += 1
            unknown += not is_coherent(cascade, output)
    return coherent, unknown


def margin_bounds(n: int, seed: int = 3) -> FloatArray:
    """Return (k, 3): the margin, half of the gap, and the smallest move that was found to do.

    Of `n` samples on rules that are not coherent, those of which a move changes the decision.
    """
    rules, found = RandomRules(seed), list[tuple[float, float, float]]()
    for tried in range(10**6):
        cascade = rules.cascade(1 + tried % 2, conjunctions=True)
        output = cascade.order[-1].output
        inputs = rules.inputs(cascade)
        degrees = cascade.infer(inputs, [output])[output.name].degrees
        second, first = np.sort(degrees)[-2:]
        if first > second and not is_coherent(cascade, output):
            size = margin(cascade, inputs, output)
            found.append((size, (first - second) / 2, smallest_move(cascade, inputs, output)))
        if len(found) == n:
            break
    figures = np.array(found)
    return np.asarray(figures[np.isfinite(figures[:, 2])])


def smallest_move(cascade: Cascade, inputs: dict[str, Possibility], output: Attribute) -> float:
    """Return the smallest size for which moves up, down or not at all change the decision."""
    program = cascade.compile([output])
    row = np.concatenate([inputs[a.name].degrees for a in program.inputs])
    ends = np.cumsum([len(a.domain) for a in program.inputs])[:-1]
    moves = np.array(list(product([-1, 0, 1], repeat=len(row))))
    best = int(program.infer(row)[output.name].degrees.argmax())
    levels = np.array(sorted({*DEGREES, *row.tolist()}))
    gaps = np.abs(levels[:, None] - levels).ravel()
    for size in np.unique(np.round(np.concatenate([gaps, gaps / 2]), 10))[1:]:
        rows = np.clip(row + moves * (size + ABOVE), 0.0, 1.0)
        parts = np.split(rows, ends, axis=1)
        rows = rows[np.all([part.max(axis=1) == 1.0 for part in parts], axis=0)]
        degrees = program.infer(rows)[output.name].degrees
        if (np.delete(degrees, best, axis=1).max(axis=1) >= degrees[:, best]).any():
            return float(size)
    return np.inf


def blurred_sudoku(wrong: int, seed: int = 0) -> tuple[Cascade, dict[str, Any]]:
    """Return a Sudoku of 81 cells and what is seen of a right one, some cells of it wrong."""
    rng, rules = np.random.default_rng(seed), sudoku(9)
    shown = correct_grids(9, 1, rng)[0].ravel()
    shown[rng.permutation(81)[:wrong]] += 1
    sees = {}
    for a, digit in zip(rules.inputs, shown % 9, strict=True):
        degrees = rng.uniform(0.0, 0.9, 9)
        degrees[digit] = 1.0
        sees[a.name] = degrees
    return rules, sees


def chain_seconds(length: int) -> float:
    """Return the processor time of learning a chain of rule sets from 200 samples."""
    used = [Attribute(f"a_{i}", [0, 1]) for i in range(length + 1)]
    cascade = Cascade(*[RuleSet([Iff(a.isin({1})).then(b.isin({1}))]) for a, b in pairwise(used)])
    x = np.random.default_rng(0).random((200, 2))
    x /= x.max(axis=1, keepdims=True)
    targets = {a.name: x.argmax(axis=1) for a in used[1:]}
    start = process_time()
    learn(cascade, {"a_0": x}, targets)
    return process_time() - start


def show_changes() -> None:
    """Print what makes Sudokus right, and the processor time."""
    for wrong in (1, 4):
        rules, sees = blurred_sudoku(wrong)
        start = process_time()
        change = why_not(rules, sees, 1, mode="fewest").change
        seconds, many = process_time() - start, "none" if change is None else len(change.readings)
        print(f"Sudoku 9x9, {wrong} cells wrong: {many} cells are named, {seconds:.1f} s")


def main() -> None:
    """Print all figures."""
    for n_sets, conjunctions in ((1, False), (1, True), (2, False)):
        missed = missed_targets(600, n_sets, conjunctions)
        print(f"{n_sets} rule sets, conjunctions {conjunctions}: {missed} of 600 targets missed")
    coherent, unknown = unknown_coherence(400)
    print(f"{coherent} of 400 cascades are coherent; of {unknown} of these it is not known")
    bounds = np.concatenate([margin_bounds(250, seed) for seed in (3, 4)])
    for place, what in enumerate(("margin", "half of the gap")):
        exact = (bounds[:, place] >= bounds[:, 2] - NEAR).mean()
        share = (np.minimum(bounds[:, place], 1.0) / bounds[:, 2]).mean()
        print(f"{what} of {len(bounds)}: exact {exact:.0%}, on average {share:.0%} of what is")
    show_changes()
    chain_seconds(3)
    times = {length: min(chain_seconds(length) for _ in range(2)) for length in (100, 400, 1600)}
    power = log(times[1600] / times[100]) / log(16)
    print(f"learning chains: {times}, growth exponent {power:.2f}")


if __name__ == "__main__":
    main()
