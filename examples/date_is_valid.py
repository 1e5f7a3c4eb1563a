"""Whether a date exists: day, month and year, some of them unknown."""

from pinesy import parse

rules = parse("""
    attribute day in 1..31
    attribute month in 1..12
    attribute year in 1900..2100

    function leap = (year % 4 == 0 and year % 100 != 0) or year % 400 == 0
    function valid = day <= 28 or (day <= 29 and month == 2 and leap)
        or (day <= 30 and month != 2) or month not in {2, 4, 6, 9, 11}
""")
for day, month, year in (31, 12, None), (31, 6, None), (29, 2, 1900), (29, 2, None), (30, 2, None):
    valid = rules.infer({"day": day, "month": month, "year": year})["valid"]
    answer = {True: "yes", False: "no", None: "it depends"}[valid.best]
    print(f"{day}.{month}.{year or '?'}: {answer}")
