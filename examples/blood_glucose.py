"""Rules from a text file, evidence that is not from images, and what is certain."""

from pathlib import Path

from pinesy import load

rules = load(Path(__file__).with_name("blood_glucose.rules"))
result = rules.infer(
    {
        "selected-action": {"drink-coffee": 1.0},
        "current-blood-glucose": {"low": 0.3, "medium": 1.0},
    }
)
future = result["future-blood-glucose"]
for value in future.attribute.domain:
    print(
        f"{value:>7}: possible at {future[value]:.1f}, certain at {future.necessity({value}):.1f}"
    )
print(f"The blood glucose will be {future.best}.")
