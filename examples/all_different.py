"""Whether a row of a small Sudoku has no repetition, and which digits it has if so."""

from pinesy import Attribute, all_different, posterior

cells = [Attribute(f"cell{i}", range(1, 7)) for i in range(1, 7)]
rules = all_different("valid", cells)

# The row looks like 5 3 4 6 1 1, but the ones may be a 6 and a 2.
seen = dict(zip(cells, (5, 3, 4, 6, {1: 1, 6: 0.7}, {1: 1, 2: 0.4}), strict=True))
valid = rules.infer(seen)["valid"]
print(f"That no digit occurs twice is possible at {valid[True]}, that one does at {valid[False]}.")

known = posterior(rules, seen, {"valid": True})
print("If none does, the row is", *(known[cell].best for cell in cells))
