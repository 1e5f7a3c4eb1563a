"""The written form of rules: tokens, values, conditions, and how they are printed."""
