"""Whether a + b = c: digits that are read with some doubt, and what would make it right."""

from pinesy import Attribute, function, posterior

digits = [Attribute(name, range(10)) for name in ("a", "b", "tens", "units")]
rules = function("right", digits, "a + b == 10 * tens + units")

# It looks like 7 + 5 = 13. How possible each digit is; the others are impossible.
seen = {"a": {7: 1, 1: 0.3}, "b": {5: 1, 6: 0.4}, "tens": 1, "units": {3: 1, 2: 0.6}}
right = rules.infer(seen)["right"]
print(f"That 7 + 5 = 13 is right is possible at {right[True]}, that it is wrong at {right[False]}.")

# If it is known to be right, what does it say?
known = posterior(rules, seen, {"right": True})
a, b, tens, units = (known[digit].best for digit in digits)
print(f"If it is right, it says {a} + {b} = {tens}{units}.")
