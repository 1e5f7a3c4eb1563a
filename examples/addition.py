"""Addition of two numbers of two digits, each digit known as a probability distribution."""

import numpy as np

from pinesy import antipignistic
from pinesy.problems import addition

rules = addition(2)

# 38 + 47, where the 8 might also be a 3. Digits a_1 a_2 and a_3 a_4.
evidence = {
    "a_1": antipignistic({3: 1.0}),
    "a_2": antipignistic({8: 0.6, 3: 0.4}),
    "a_3": antipignistic({4: 0.95, 9: 0.05}),
    "a_4": antipignistic({7: 1.0}),
}
result = rules.infer(evidence)
digits = [result[f"y_{i}"] for i in range(3)]
print("sum:", *(d.best for d in digits))
print("certainty of each digit:", *(round(d.certainty, 3) for d in digits))

# A batch: one array for each input, a row for each sample.
rng = np.random.default_rng(0)
batch = {a.name: antipignistic(rng.dirichlet(np.ones(10), size=1000)) for a in rules.inputs}
sums = rules.infer(batch)
print(
    "a thousand samples:",
    sums["y_2"].best[:5],
    "...,",
    int((~sums["y_2"].decided).sum()),
    "undecided",
)
