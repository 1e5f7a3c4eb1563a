"""Which towns can be reached in at most so many steps, by roads that may be closed."""

from pinesy import parse

rules = parse("""
    let towns = 1..5
    attribute start in towns
    attribute road[towns, towns] in {open, closed}

    define within(steps) {
        attribute reached[towns, steps] in {yes, no}
        when steps == 0: for t in towns: iff start == t then reached[t, 0] == yes
        when steps > 0 {
            within(steps - 1)
            for t in towns:
                iff reached[t, steps - 1] == yes
                    or exists u in towns: (reached[u, steps - 1] == yes and road[u, t] == open)
                then reached[t, steps] == yes
        }
    }
    within(3)
""")
maybe = {"open": 1.0, "closed": 0.4}
seen: dict[str, object] = {a.name: "closed" for a in rules.inputs}
seen |= {"start": 1, "road_1_2": "open", "road_2_3": maybe, "road_3_4": None, "road_3_5": "open"}
for name, reached in rules.infer(seen).items():
    print(f"{name}: possible at {reached['yes']}, certain at {reached.necessity({'yes'})}")
