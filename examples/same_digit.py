"""The paper's running example: whether two images show the same digit, 0 or 1."""

from pinesy import Attribute, Cascade, Iff, RuleSet, antipignistic

a1, a2 = Attribute("a_1", [0, 1]), Attribute("a_2", [0, 1])
b = Attribute.product("b", a1, a2)
c = Attribute("c", [0, 1])

pairing = RuleSet(
    [
        Iff(a1.isin({0})).then(b.where("a_1 == 0")),
        Iff(a1.isin({1})).then(b.where("a_1 == 1")),
        Iff(a2.isin({0})).then(b.where("a_2 == 0")),
        Iff(a2.isin({1})).then(b.where("a_2 == 1")),
    ]
)
comparing = RuleSet(
    [
        Iff(b.where("a_1 == a_2")).then(c.isin({1})),
        Iff(b.where("a_1 != a_2")).then(c.isin({0})),
    ]
)
same_digit = Cascade(pairing, comparing)

print("The partition of D_b and the matrix M of the first rule set:")
for signs, cell in zip(pairing.partition.tuples, pairing.partition.cells(b.domain), strict=True):
    print(f"  {signs} {cell}")
print(pairing.relation)

evidence = {"a_1": antipignistic([0.9, 0.1]), "a_2": antipignistic([0.2, 0.8])}
result = same_digit.infer(evidence)["c"]
print(f"Possibility that the digits are the same: {result[1]:.2f}")
print(f"Certainty that they differ: {result.necessity({0}):.2f}")
