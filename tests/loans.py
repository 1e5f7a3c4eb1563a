"""Rules on loans that tests of several packages use: numbers, a formula, two levels, a clash."""

LOAN = """
number debt_ratio
attribute history in {good, mixed, bad}
attribute job in {employed, unemployed}
attribute risk in {low, medium, high}
attribute decision in {approve, review, reject}
if debt_ratio < 0.3 and history == good then risk == low [certainty=0.9]
if debt_ratio >= 0.45 and (history == bad or job == unemployed)
then risk == high [certainty=0.8]
if debt_ratio >= 0.3 and history != bad then risk == medium
if risk == low then decision == approve
if risk == medium then decision in {review, reject}
if risk == high then decision == reject [certainty=0.9]
"""
