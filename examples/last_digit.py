"""The last digit of a product of three digits, each read with some doubt."""

from pinesy import Attribute, antipignistic, function

digits = [Attribute(name, range(10)) for name in "abc"]
rules = function("last", digits, "a * b * c % 10")

# A network reads 7 * 8 * 3, but the 7 may be a 1 and the 3 an 8.
seen = {
    "a": antipignistic({7: 0.7, 1: 0.3}),
    "b": 8,
    "c": antipignistic({3: 0.9, 8: 0.1}),
}
last = rules.infer(seen)["last"]
print(f"The product ends in {last.best}, certain at {last.certainty:.2f}.")
for digit, degree in last.to_dict().items():
    if 0 < degree < 1:
        print(f"{digit} is possible at {degree:.2f}.")
