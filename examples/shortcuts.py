"""Does the car see pedestrians? If it saw them only at red lights, its stops do not tell."""

from pinesy import Attribute, function, shortcuts

light = Attribute("light", ["green", "red"])
walker = Attribute("walker", ["nobody", "crossing"])
rules = function(
    "car",
    [light, walker],
    lambda light, walker: "stops" if light == "red" or walker == "crossing" else "goes",
)

seen = [("green", "nobody"), ("red", "crossing")]
print(shortcuts(rules, seen))
for other in [("red", "nobody"), ("green", "crossing")]:
    seen.append(other)
    print(f"\nwith {other} too:\n{shortcuts(rules, seen)}")
