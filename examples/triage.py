"""Triage of patients by rules with thresholds; what was not measured is unknown."""

from pinesy import parse

rules = parse("""
    number age
    number temperature [blur=0.5]     # imprecise by half a degree
    number oxygen [blur=2]            # saturation in %
    attribute awake in {yes, no}
    attribute urgency in {low, medium, high}

    if awake == no or oxygen < 90 then urgency == high
    if temperature >= 39 and (age < 2 or age >= 75) then urgency == high [certainty=0.8]
    if temperature >= 38 or oxygen < 95 then urgency != low [certainty=0.9]
    if awake == yes and temperature < 38 and oxygen >= 95 then urgency == low [certainty=0.7]
""")
patients: dict[str, dict[str, object]] = {
    "Ann": {"age": 34, "temperature": 36.8, "oxygen": 98, "awake": "yes"},
    "Bob": {"age": 81, "temperature": 39.4, "oxygen": 96, "awake": "yes"},
    "Cem": {"age": None, "temperature": None, "oxygen": 90.5, "awake": "yes"},
    "Dora": {"age": 60, "temperature": 38.2, "oxygen": None, "awake": "yes"},
}
for name, patient in patients.items():
    urgency = rules.infer(patient)["urgency"]
    likely = [value for value, degree in urgency.to_dict().items() if degree == 1]
    print(f"{name}: {' or '.join(map(str, likely))}, certain at {urgency.necessity(likely):.2f}")
