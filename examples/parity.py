"""The parity of 100 bits from a noisy line; the number of rules grows as that of the bits."""

from pinesy import Attribute, parity_of, smallest_change

bits = [Attribute(f"bit{i}", (0, 1)) for i in range(100)]
rules = parity_of("odd", bits)

# Every third bit is a one; two of the bits may have been changed on the way.
seen = {bit: {int(i % 3 == 0): 1.0} for i, bit in enumerate(bits)}
seen[bits[10]] = {0: 1.0, 1: 0.25}
seen[bits[33]] = {1: 1.0, 0: 0.5}

odd = rules.infer(seen)["odd"]
print(f"The number of ones is {('even', 'odd')[odd.best]}, certain at {odd.certainty}.")
print(f"But {smallest_change(rules, seen, 1 - odd.best)}.")
