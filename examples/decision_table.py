"""A decision table: the price of a ticket. ``*`` stands for any value; the first row that fits."""

from pinesy import Attribute, function

TABLE = """
    child   *        *    0
    *       *        yes  10
    senior  weekday  *    8
    senior  *        *    12
    adult   *        *    15
"""
rows = [line.split() for line in TABLE.strip().splitlines()]


def price(*case: str) -> int:
    """Return the price in the first row that fits; a case that fits none is an error."""
    fits = (row for row in rows if all(v in ("*", c) for v, c in zip(row, case, strict=False)))
    return int(next(fits)[-1])


age = Attribute("age", ["child", "adult", "senior"])
day = Attribute("day", ["weekday", "weekend"])
card = Attribute("card", ["yes", "no"])
rules = function("price", [age, day, card], price)

for case in ["child", None, None], ["senior", None, "no"], ["adult", "weekend", None]:
    prices = rules.infer(dict(zip((age, day, card), case, strict=True)))["price"].to_dict()
    print(*(v or "?" for v in case), "->", " or ".join(str(p) for p in prices if prices[p] == 1))
