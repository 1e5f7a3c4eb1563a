"""Expressions of min and max over columns of degrees, each built once."""

from collections.abc import Iterable

from pinesy.engine.circuit import MAX, MIN, ONE, ZERO, Circuit, Node

#: The most terms of a min that is taken apart to be taken anew with others.
MAX_TERMS = 8


class Expressions(Circuit):
    """Min and max of columns and constants; an expression is the number of its node.

    A circuit that leaves the deeper laws of lattices alone: these would compare each term with
    many others, and messages of a whole cascade are one circuit.
    """

    def __init__(self, n_columns: int) -> None:
        super().__init__([], [])
        self.columns = [self.parameter(i) for i in range(n_columns)]
        #: The constants other than 0 and 1, by their number.
        self.constants: dict[float, int] = {}

    def constant(self, number: float) -> int:
        """Return a number as an expression."""
        if number in (0.0, 1.0):
            return ONE if number else ZERO
        if number not in self.constants:
            self.constants[number] = self.parameter(len(self.columns) + len(self.constants))
        return self.constants[number]

    def join(self, operands: Iterable[int]) -> int:
        """Return the maximum of the operands, 0 if there are none."""
        return self._combined(MAX, operands, ZERO, ONE)

    def meet(self, operands: Iterable[int]) -> int:
        """Return the minimum of the operands, 1 if there are none.

        A min of few terms is taken anew from these, so that programs need not keep the min of
        some of them from the first sweep to the second.
        """
        operands = list(operands)
        terms = {term for operand in operands for term in self._terms(operand)}
        return self._combined(MIN, terms if len(terms) <= MAX_TERMS else operands, ONE, ZERO)

    def _terms(self, number: int) -> tuple[int, ...]:
        node = self.nodes[number]
        return node.children if isinstance(node, Node) and node.op == MIN else (number,)

    def _combined(self, op: int, operands: Iterable[int], neutral: int, absorbing: int) -> int:
        terms = set(operands)
        if absorbing in terms:
            return absorbing
        terms.discard(neutral)
        if len(terms) <= 1:
            return terms.pop() if terms else neutral
        children = tuple(sorted(terms))
        return self._node(op, children, children)
