"""Exact degrees and most probable worlds, by SAT solvers."""
