"""Rules from a text file, samples from a data file, and each decision explained."""

from pathlib import Path

from pinesy import load
from pinesy.explanations import Label, conditions, explain
from pinesy.samples import read_samples

rules = load(Path(__file__).with_name("blood_glucose.rules"))
LABELS: dict[str, Label | str] = {
    "selected-action": Label("the action", values={"drink-coffee": "drinking coffee"}),
    "current-blood-glucose": "the blood glucose now",
    "future-blood-glucose": "the blood glucose later",
}

samples = Path(__file__).with_name("blood_glucose.jsonl")
for batch in read_samples(samples, rules.compile().inputs):
    for number, evidence in enumerate(batch.evidence, 1):
        print(f"Sample {number}")
        print(explain(rules, evidence, eta=0.1, labels=LABELS))
        print()

print("What must be known for low later to be at most 0.2 possible?")
print(conditions(rules, "low", "<=", 0.2))
