"""Tolerances: given for groups of rule sets, or searched for with validation data."""
