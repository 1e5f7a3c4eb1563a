"""Whether a picture of four objects shows a pattern: a red circle, and exactly two squares."""

from pinesy import parse

rules = parse("""
    attribute shape[1..4] in {circle, square, triangle}
    attribute colour[1..4] in {red, yellow, blue}
    attribute pattern in {yes, no}

    iff exists i in 1..4: (shape[i] == circle and colour[i] == red)
        and exactly 2 of (shape[i] == square for i in 1..4)
    then pattern == yes
""")
# The fourth object is a triangle or perhaps a square, of unknown colour; None is unknown.
shapes = ["circle", "square", "square", {"triangle": 1.0, "square": 0.4}]
colours = [{"red": 1.0, "yellow": 0.2}, "blue", "yellow", None]
seen: dict[str, object] = {f"shape_{i}": shape for i, shape in enumerate(shapes, 1)}
seen |= {f"colour_{i}": colour for i, colour in enumerate(colours, 1)}
pattern = rules.infer(seen)["pattern"]
print(f"Is it the pattern? {pattern.best}, certain at {pattern.certainty}.")
