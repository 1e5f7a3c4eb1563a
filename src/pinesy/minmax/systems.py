"""Systems of fuzzy relational equations, min-max and max-min, consistent or not."""

from functools import cached_property

from pinesy._common.validation import FloatArray
from pinesy.minmax._system import System


class MinMaxSystem(System):
    """The system ``A box x = b``, that is ``min_j max(A[i, j], x[j]) = b[i]`` for all rows `i`.

    Parameters
    ----------
    a : array (N, M) of degrees
    b : array (N,) of degrees

    Examples
    --------
    >>> system = MinMaxSystem([[0.25, 1.0], [1.0, 0.35]], [0.4, 1.0])
    >>> system.lowest_solution
    array([0.4, 1. ])
    >>> system = MinMaxSystem([[0.0], [0.0]], [0.5, 0.75])  # x = 0.5 and x = 0.75
    >>> system.is_consistent, system.chebyshev_distance
    (False, 0.125)
    >>> system.verify(system.lowest_approximate_solution).attains
    True
    """

    _upside_down = False

    @cached_property
    def lowest_solution(self) -> FloatArray:
        """The solution below all others, ``x_l = max_i {b_i : A_il < b_i}``; copies of `b` and 0.

        Raises `InconsistentSystemError` if there is none.
        """
        return self._exact("lowest_approximate_solution")

    @property
    def lowest_approximate_solution(self) -> FloatArray:
        """The lowest `x` whose residual is the distance `nabla`: the lowest solution if that is 0.

        ``x_l = max_i {b_i - nabla : A_il < b_i - nabla}``, and 0 where there is none.
        """
        return self._approximate

    @property
    def lowest_approximation(self) -> FloatArray:
        """The lowest consistent second member at distance `nabla` from `b`; `b` if that is 0."""
        return self._approximation


class MaxMinSystem(System):
    """The system ``A o x = b``, that is ``max_j min(A[i, j], x[j]) = b[i]`` for all rows `i`.

    It is a min-max system upside down, and everything that is lowest there is greatest here.

    Parameters
    ----------
    a : array (N, M) of degrees
    b : array (N,) of degrees

    Examples
    --------
    >>> system = MaxMinSystem([[0.7, 0.0], [0.4, 0.5]], [0.6, 0.5])
    >>> system.greatest_solution
    array([0.6, 1. ])
    """

    _upside_down = True

    @cached_property
    def greatest_solution(self) -> FloatArray:
        """The solution above all others, ``x_l = min_i {b_i : A_il > b_i}``; copies of `b` and 1.

        Raises `InconsistentSystemError` if there is none.
        """
        return self._exact("greatest_approximate_solution")

    @property
    def greatest_approximate_solution(self) -> FloatArray:
        """The greatest `x` whose residual is the distance `nabla`.

        ``x_l = min_i {b_i + nabla : A_il > b_i + nabla}``, and 1 where there is none.
        """
        return self._approximate

    @property
    def greatest_approximation(self) -> FloatArray:
        """The greatest consistent second member at distance `nabla` from `b`; `b` if that is 0."""
        return self._approximation
