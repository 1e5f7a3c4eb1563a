"""A scanner gets dirty: sets with a guarantee, and an alarm without any true values.

Handwritten digits are read by logistic regression, and rules tell whether they are even. After half
of the stream the pictures get noisy. Needs ``pip install '.[sklearn]'``; with the name of an
``.svg`` or ``.png`` file also Matplotlib, and the path of the test is drawn into it.
"""

import sys

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

from pinesy import Attribute, function
from pinesy.calibration import DriftMonitor, calibrate, coverage

images, digits = load_digits(return_X_y=True)
order = np.random.default_rng(0).permutation(len(digits))
train, known, stream = np.split(order, [600, 1000])
classifier = LogisticRegression(max_iter=2000).fit(images[train], digits[train])

digit = Attribute("digit", range(10))
rules = function("even", digit, "digit % 2 == 0")
evidence = {"digit": classifier.predict_proba(images[known])}
sure = calibrate(rules, evidence, {"digit": digits[known]})
print(sure.guarantee)

half = len(stream) // 2
noise = np.random.default_rng(1).normal(0.0, 6.0, (len(stream) - half, images.shape[1]))
noisy = np.clip(images[stream[half:]] + noise, 0.0, 16.0)
seen = np.vstack([images[stream[:half]], noisy])
monitor = DriftMonitor(sure)
for batch in np.array_split(classifier.predict_proba(seen), 20):
    status = monitor.update({"digit": batch})
print(f"the noise begins with sample {half + 1}; {status}")

for name, part in (("clean", slice(0, half)), ("noisy", slice(half, None))):
    p, truth = {"digit": classifier.predict_proba(seen[part])}, digits[stream[part]] % 2 == 0
    row = coverage(sure, p, truth, 0.95).of("all")[0]
    print(f"{name}: {row.observed:.1%} covered at 95 %")
if len(sys.argv) > 1 and sys.argv[1].endswith((".svg", ".png")):
    monitor.plot().figure.savefig(sys.argv[1])
