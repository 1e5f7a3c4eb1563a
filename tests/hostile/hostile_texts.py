"""Small texts of rules that ask for much work: each is read or refused soon, in little memory.

``python tests/hostile/hostile_texts.py`` prints the seconds and the memory of each.
"""

import resource
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from pinesy import PinesyError, parse

AB = "attribute a in {0, 1}\nattribute b in {0, 1}\n"
LARGE = "attribute a in {0..999999}\nattribute b in {0, 1}\n"
RULE = "iff a == 0 then b == 0\n"
BITS = "attribute a[1..{}] in {{0, 1}}\n"


def doubling(levels: int) -> str:
    calls = [f"define m{i}(x) {{ m{i + 1}(x) m{i + 1}(x) }}\n" for i in range(levels)]
    return f"{AB}{''.join(reversed(calls))}define m{levels}(x) {{ {RULE}}}\nm0(1)\n"


def nested(words: tuple[str, str], levels: int, size: int) -> str:
    loops = " ".join(f"{words[i % 2]} i{i} in 1..{size}:" for i in range(levels))
    return f"{AB}iff {loops} a == 1 then b == 1\n"


def lines(count: int, line: str) -> str:
    return "".join(f"{line.format(i=i)}\n" for i in range(count))


TEXTS = {
    "empty innermost range": (
        f"{AB}for a1 in 0..999999, b1 in 0..999999, z in 1..0: let q = 1\n{RULE}"
    ),
    "empty range in a set": f"{AB}let s = {{x for x in 0..999999, y in 0..999999, z in 1..0}}\n",
    "false condition": f"{AB}for x in 0..999999, y in 0..999999 where x < 0: let q = 1\n{RULE}",
    "sets for each pass": f"{AB}for x in 0..999, s in {{0..999999}}, t in 1..0: let q = 1\n",
    "300 ranges": lines(300, "let r{i} = 0..999999") + AB + RULE,
    "300 ranges in brackets": lines(300, "let r{i} = {{0..999999}}") + AB + RULE,
    "sets of sets": f"{AB}for i in 1..1000: let s = {{0..999999}}\n{RULE}",
    "30 of 60": f"{BITS.format(60)}{AB[AB.index('attribute b') :]}"
    "iff at least 30 of (a[i] == 1 for i in 1..60) then b == 1\n",
    "500 of 1,000": f"{BITS.format(1000)}attribute b in {{0, 1}}\n"
    "iff at least 500 of (a[i] == 1 for i in 1..1000) then b == 1\n",
    "exactly 30 of 60": f"{BITS.format(60)}attribute b in {{0, 1}}\n"
    "iff exactly 30 of (a[i] == 1 for i in 1..60) then b == 1\n",
    "blanks": AB + " " * 20_000 + "?",
    "more blanks": AB + " " * 400_000 + "?",
    "comment lines": AB + "#\n" * 100_000 + "?",
    "10,000 remainders": f"{LARGE}for i in 1..10000: iff a where a % i == 1 then b == 1\n",
    "10,000 memberships": (f"{LARGE}for i in 1..10000: iff a where a in {{i, 7}} then b == 1\n"),
    "10,000 tuples": "attribute a in {0..999}\nattribute c in {0..999}\nattribute b in {0, 1}\n"
    "product p = a * c\nfor i in 1..10000: "
    "iff p where (p == (i % 999, 1) or p in {(1, i % 999)} or p == (1, i)) then b == 1\n",
    "mixed values": "attribute a in {none, 0..999999}\nattribute b in {0, 1}\n"
    "for i in 1..100: iff a where a == i or a == none then b == 1\n",
    "99 parts, 100,000 times": (
        f"{AB}for i in 1..100000: when {' and '.join(['i > 0'] * 99)}: let q = 1\n{RULE}"
    ),
    "3,000 comparisons": f"{LARGE}for i in 1..3000: iff a < i then b == 1\n",
    "3,000 memberships": f"{LARGE}for i in 1..3000: iff a in {{i..999999}} then b == 1\n",
    "3,000 complements": f"{LARGE}for i in 1..3000: iff a != i then b == 1\n",
    "100,000 cuts": ("number a\nattribute b in {0, 1}\nfor i in 1..100000: if a < i then b == 1\n"),
    "30,000 cuts": "number a\nattribute b in {0, 1}\nfor i in 1..30000: if a < i then b == 1\n",
    "declared cuts": "number a cuts {0..999999}\nattribute b in {0, 1}\nif a < 3 then b == 1\n",
    "count of 20,000": f"{BITS.format(20_000)}function n = count(a[i] == 1 for i in 1..20000)\n",
    "count of 2,000": f"{BITS.format(2_000)}function n = count(a[i] == 1 for i in 1..2000)\n",
    "doubling macros": doubling(30),
    "a macro in a loop": f"{AB}define m(x) {{ when x > 0: m(x - 1) }}\nfor i in 1..10000: m(150)\n",
    "nested forall and exists": nested(("forall", "exists"), 6, 30),
    "deeper forall and exists": nested(("forall", "exists"), 40, 2),
    "exists of 10^6": f"{AB}iff exists i in 1..999999: a == 1 then b == 1\n",
    "forall of 100,000 formulas": (
        f"{AB}iff forall i in 1..100000: (a == 1 or b == 1) then b == 1\n"
    ),
    "parity of 50,000": f"{BITS.format(50_000)}function n = parity(a[i] for i in 1..50000)\n",
    "10^6 indexed attributes": f"attribute x[0..999999] in {{0, 1}}\n{AB}{RULE}",
    "10^6 attributes of one value": f"attribute x[0..999, 0..999] in {{0}}\n{AB}{RULE}",
    "long names": f'let w = "{"x" * 9_000}"\nattribute q[w, 0..99999] in {{0}}\n{AB}{RULE}',
    "long texts": f'let w = "{"x" * 9_000}"\n{AB}let s = {{w[i] for i in 0..99999}}\n{RULE}',
    "all different": (
        "attribute x[1..500] in {0..9}\nfunction d = all_different(x[i] for i in 1..500)\n"
    ),
    "a sum of 1,000": "attribute x[1..1000] in {0..9}\nfunction d = sum(x[i] for i in 1..1000)\n",
    "a function of large domains": (
        "attribute x in {0..1399}\nattribute y in {0..1399}\nfunction f = x * y % 7 == 3\n"
    ),
    "a long expression": "attribute x in {0..99999}\nfunction f = "
    + " + ".join(["x"] * 190)
    + " > 5\n",
    "a name often": "attribute x in {0..999999}\nfunction f = "
    + " or ".join(["x > 5"] * 99)
    + "\n",
    "a sum of 190": "attribute x[1..190] in {0..99}\nfunction f = ("
    + " + ".join(f"x[{i}]" for i in range(1, 191))
    + ") % 97\n",
    "products": "attribute x in {0..1399}\nattribute y in {0..1399}\nproduct p = x * y\n"
    + AB
    + RULE,
    "joint": "attribute x in {0..1399}\nattribute y in {0..1399}\njoint p = x * y\n",
    "cases": "attribute x[1..9] in {0..9}\nattribute b in {0, 1}\nfor k in 1..2000: iff "
    + " or ".join(f"(x[{i}] == k % 10 and x[{i % 9 + 1}] == 3)" for i in range(1, 10))
    + " then b == 1\n",
    "cases of a long formula": "attribute x[1..3] in {0..9}\nattribute y[1..500] in {0, 1}\n"
    "attribute b in {0, 1}\niff exists i in 1..500: ((x[i % 3 + 1] == i % 10 and y[i] == 1)"
    " or x[(i + 1) % 3 + 1] == i % 7) then b == 1\n",
    "formulas of large sets": f"{LARGE}for i in 1..50: iff a in {{i..500000}} or b == 1 then "
    "b in {0, 1}\n",
    "when nested 30,000 times": AB + "when true: " * 30_000 + RULE,
    "lets in a body": f"{AB}when true {{ {lines(10_000, 'let v{i} = 1')} }}\n{RULE}",
    "a long condition": "attribute a in {0..99}\nattribute b in {0, 1}\niff a where a in {"
    + ",\n".join(map(str, range(70_000)))
    + "} then b == 1\n",
    "comprehensions in a condition": f"{LARGE}for i in 1..999: iff a where a in "
    "{x for x in 0..999999 where x > i} then b == 1\n",
    "nested comprehensions": f"{AB}let s = {{x for x in {{y for y in {{z for z in 0..999999}}}}}}\n"
    f"for i in 1..99: let t = {{x + i for x in s}}\n{RULE}",
    "10^6 rules": f"{AB}for i in 1..999999: {RULE}",
    "many sets": f"{AB}for i in 1..200000: if a in {{0..1}} then b in {{0..1}}\n",
}


def measured(name: str) -> tuple[str, float, float]:
    """Return how the reading of a text ended, its seconds and the largest memory in MB."""
    resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
    start = time.process_time()
    try:
        end = repr(parse(TEXTS[name]))
    except PinesyError as error:
        end = str(error)
    except MemoryError:
        end = "out of memory"
    seconds = time.process_time() - start
    return end, seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main(names: list[str]) -> None:
    """Measure texts, each in a process of its own, and print a table."""
    for name in names or TEXTS:
        with ProcessPoolExecutor(1, mp_context=get_context("fork")) as pool:
            task = pool.submit(measured, name)
            end, seconds, memory = task.result()
        line = " ".join(end.split())[:100]
        sys.stdout.write(f"{name:32} {seconds:6.2f} s {memory:6.0f} MB  {line}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
