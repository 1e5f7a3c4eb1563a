"""What learning keeps of samples: enough to learn from them, and mergeable."""

from dataclasses import dataclass

from pinesy.minmax import Fronts


@dataclass(frozen=True, eq=False)
class Summary:
    """What the first pass keeps of a rule set's samples.

    Merging is associative and commutative to the last bit, so that samples may come in any chunks,
    in any order, from anywhere.

    Attributes
    ----------
    samples, reliable : how many there are, and how many of them have ``nabla < tau``
    smallest : the smallest ``nabla``
    fronts : for each of ``s_1, r_1, s_2, ...`` the Pareto front of the pairs ``(e_i, w_i)`` of
        the reliable samples, after repair
    """

    samples: int
    reliable: int
    smallest: float
    fronts: Fronts

    def merge(self, *others: "Summary") -> "Summary":
        """Return the summary of the samples of all."""
        every = (self, *others)
        return Summary(
            sum(s.samples for s in every),
            sum(s.reliable for s in every),
            min(s.smallest for s in every),
            self.fronts.merge(*(s.fronts for s in others)),
        )
