"""The value of a handwritten formula: digits and operators, each read with some doubt."""

from pinesy import Attribute, function

a, b, c = (Attribute(name, range(10)) for name in "abc")
left, right = (Attribute(name, ["+", "-", "*"]) for name in ("left", "right"))


def value(a: int, left: str, b: int, right: str, c: int) -> int:
    """Return the value of ``a left b right c``, multiplication first."""
    if right == "*":
        return a * b * c if left == "*" else value(a, "+", 0, left, b * c)
    first = {"+": a + b, "-": a - b, "*": a * b}[left]
    return first + c if right == "+" else first - c


rules = function("value", [a, left, b, right, c], value)

# It looks like 8 - 2 * 3, but the 8 may be a 3, and the minus what is left of a plus.
seen = {a: {8: 1.0, 3: 0.2}, left: {"-": 1.0, "+": 0.5}, b: 2, right: "*", c: 3}
result = rules.infer(seen)["value"]
print(f"The value is {result.best}, certain at {result.certainty}.")
for other, degree in result.to_dict().items():
    if 0 < degree < 1:
        print(f"It may be {other}, possible at {degree}.")
